"""Axes of charts: fitted to what is known well, so that a few people do not hide the others."""

from itertools import pairwise

import pytest

from fairgauge.enums import Outcome
from fairgauge.render._document_tree import (
    Chart,
    ChartRow,
    GridCell,
    GridRule,
    Mark,
    RuleGrid,
    TimeChart,
    Unit,
)
from fairgauge.render.chart_axes import (
    chart_axis,
    grid_axes,
    placed_on,
    placed_times,
)
from fairgauge.render.writers import markdown

SOLID = [Mark(0.9, 0.85, 0.95), Mark(0.8, 0.7, 0.9)]


def chart_of(*marks, unit=Unit.RATIO):
    rows = tuple(ChartRow("group", mark, "", "") for mark in marks)
    axis = chart_axis(Chart("chart", rows, unit, neutral=1.0 if unit is Unit.RATIO else 0.0))
    return axis.ticks, [placed_on(mark, axis.scale) for mark in marks]


def test_a_few_people_stretch_no_axis_of_differences():
    solid = [Mark(-0.02, -0.05, 0.01), Mark(0.03, 0.0, 0.06)]
    ticks, (*_, mark) = chart_of(*solid, Mark(-0.5, -0.9, 0.4, sparse=True), unit=Unit.POINTS)
    assert (ticks, mark.low) == (chart_of(*solid, unit=Unit.POINTS)[0], 0.0)


@pytest.mark.parametrize(
    "sparse", [Mark(0.01, 0.0001, 1.4, sparse=True), Mark(0.0, 0.0, 3.0, sparse=True)]
)
def test_a_few_people_do_not_stretch_the_axis(sparse):
    ticks, (*_, mark) = chart_of(*SOLID, sparse)
    assert ticks == chart_of(*SOLID)[0]
    assert (mark.at, mark.low) == (None, 0.0)


@pytest.mark.parametrize(("rules", "least"), [(1, 7), (2, 22), (3, 33)])
def test_labels_of_axes_that_share_a_page_do_not_touch(rules, least):
    for low, high in [(-0.11, 0.24), (-0.4, 0.1), (-0.02, 0.03), (-0.5, 0.5)]:
        rule = GridRule("a rule", "", Unit.POINTS, 0.0, (-0.1, 0.1))
        cell = GridCell("36 v 53", Mark((low + high) / 2, low, high), "", Outcome.FAIL)
        grid = RuleGrid("rules", (rule,) * rules, (("part", (("group", (cell,) * rules),)),))
        for axis in grid_axes(grid):
            places = [tick.at for tick in axis.ticks]
            assert min(b - a for a, b in pairwise(places)) >= least if len(places) > 1 else places
            assert "0" in [tick.label for tick in axis.ticks]


def test_a_value_nearby_has_its_place_and_where_all_is_sparse_all_is_shown():
    _, (*_, second, mark) = chart_of(*SOLID, Mark(0.55, 0.02, 0.99, sparse=True))
    assert mark.low == 0.0 < mark.at < mark.high < 100.0
    assert second.low > mark.at
    _, marks = chart_of(Mark(0.2, 0.05, 1.5, sparse=True), Mark(0.5, 0.1, 2.0, sparse=True))
    assert all(0 < mark.low < mark.at < mark.high < 100 for mark in marks)


@pytest.mark.parametrize("allowed", [(-0.05, 0.05), (-0.3, 0.3), (-1.0, 0.02)])
def test_a_limit_of_a_chart_over_time_is_not_the_edge_of_its_drawing(allowed):
    marks = (Mark(0.01, -0.02, 0.04), Mark(0.02, -0.01, 0.05))
    chart = TimeChart("a rate", ("one", "two"), marks, Unit.POINTS, allowed=allowed)
    above, below = placed_times(chart).allowed
    assert 8 < above < below < 92


def test_a_chart_in_markdown_states_its_intervals_in_cells_of_their_own():
    rows = (ChartRow("a", Mark(1.0, 0.5, 2.0), "1.0", "95% CI 0.5 to 2.0"),)
    text = "\n".join(markdown._block(Chart("Sizes", rows, Unit.NUMBER, None)))
    assert "| Sizes | value | confidence interval |" in text
    assert "| a | 1.0 | 95% CI 0.5 to 2.0 |" in text
