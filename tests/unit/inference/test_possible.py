"""What is shown is undone by what is missing only where that could move it so far."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import WhyInconclusive
from fairgauge.inference.possible import could_undo, uncompared_limits
from fairgauge.resolve.resolution import resolve

ASKED = {"label": "y", "prediction": "d", "positive": 1, "sensitive": "g", "strata": "s"}


def rows(n: int = 3_000) -> pl.DataFrame:
    """Return rows of two groups, of which group a lacks something in a tenth of the rows."""
    rng = np.random.default_rng(5)
    group, label = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    return pl.DataFrame({
        "g": group, "y": label, "d": np.where(rng.random(n) < 0.8, label, 1 - label),
        "s": rng.choice(["n", "m"], n), "lacking": (group == "a") & (rng.random(n) < 0.1),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "limits", "undone"),
    [
        ("selection_rate.difference", (0.01, 0.05), True),
        ("selection_rate.difference", (0.2, 0.3), False),
        ("selection_rate.difference", (-0.3, -0.2), False),
        ("selection_rate.ratio", (1.02, 1.1), True),
        ("selection_rate.ratio", (1.6, 1.9), False),
    ],
)
def test_what_is_shown_is_undone_where_its_limits_move_across_none(metric, limits, undone):
    data = rows().with_columns(d=pl.when(~pl.col("lacking")).then("d"))
    cube = fg.count(data, **ASKED)
    resolved = resolve(cube, cube.asked)
    estimate = fg.audit(cube, metrics=metric)[metric, "g", "a"]
    asked = resolved.features[0], resolved.outcomes[0], estimate, (0, 1), cube.asked
    found = could_undo(*asked, [limits])
    assert found is (WhyInconclusive.MISSING_OUTCOMES if undone else None)


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("of_reference", [False, True])
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.integers(0, 500), st.floats(0, 1))
def test_rows_of_one_side_alone_may_differ_by_any_rate(ratio, of_reference, own, other, m, share):
    n, x, y = 1_000, 1_000 * own, m * share

    def contrast(mine, theirs):
        first, second = (theirs, mine) if of_reference else (mine, theirs)
        return first / second if ratio else first - second

    within = (contrast(own, other),) * 2
    ends = uncompared_limits(within, (x, n), (y, m), ratio=ratio, of_reference=of_reference)
    rates = ((n * other + m * rate) / (n + m) for rate in (0, 1))
    expected = sorted(contrast((x + y) / (n + m), each) for each in rates)
    assert np.ravel(ends) == pytest.approx(np.repeat(expected, 2))
