"""Funnels: dots and edges inside the drawing, the larger the size the further to the right."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairgauge.render._document_tree import FunnelChart, FunnelDot
from fairgauge.render.charts.charts import placed_funnel

DOTS = st.builds(
    FunnelDot, st.floats(1, 1e8), st.floats(-1, 1), st.integers(1, 10_000),
    end=st.none() | st.floats(-1, 1),
)  # fmt: skip


@given(
    st.lists(DOTS, min_size=1, max_size=30),
    st.lists(st.tuples(st.floats(1, 1e8), st.floats(-1, 1))),
)
def test_everything_stands_inside_the_drawing_in_order(dots, edge):
    placed = placed_funnel(FunnelChart("", "", tuple(dots), tuple(edge)))
    for dot in placed.dots:
        assert 0 <= dot.x <= 100
        assert 0 <= dot.y <= 100
        assert dot.end is None or 0 <= dot.end <= 100
        assert 0 < dot.radius <= 7
    assert 0 <= placed.none <= 100
    assert all(0 <= tick.at <= 100 for tick in (*placed.ticks, *placed.sizes))
    for one in placed.dots:
        for other in placed.dots:
            if one.dot.n < other.dot.n:
                assert one.x <= other.x
            if one.dot.difference < other.dot.difference:
                assert one.y >= other.y
