"""What is missing within strata is as low and as high as in a table that states it."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.derived import contrast_of
from fairgauge.enums import WhyInconclusive
from fairgauge.inference.possible import Shown, _Strata, could_undo
from fairgauge.resolve.resolution import resolve

ASKED = {"label": "y", "prediction": "d", "positive": 1, "sensitive": "g", "strata": "s"}


def rows(n: int = 3_000) -> pl.DataFrame:
    """Return rows of two groups, of which group a lacks something in a tenth of the rows."""
    rng = np.random.default_rng(5)
    group, label = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    return pl.DataFrame({
        "g": group, "y": label, "d": np.where(rng.random(n) < 0.8, label, 1 - label),
        "s": rng.choice(["n", "m"], n), "w": rng.integers(1, 4, n),
        "lacking": (group == "a") & (rng.random(n) < 0.1),
    })  # fmt: skip


def strata(column, value, rate, weight, among="lacking"):
    """Return both sides in every stratum, of rows that state a value where some lack one."""
    data = rows().with_columns(pl.when(among).then(value).otherwise(column).alias(column))
    cube = fg.count(data, **ASKED, weight=weight)
    resolved = resolve(cube, cube.asked)
    metric = contrast_of(cube.asked.catalogue.rate_row(rate), "difference")
    counted, masks = resolved.features[0], resolved.outcomes[0]
    return _Strata(counted, masks, metric, (0, 1), cube.asked.profile)


def both(of):
    return [of._counted(side) for side in of._sides]


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    ("rate", "column", "low", "high"),
    [
        ("selection_rate", "d", pl.lit(0), pl.lit(1)),
        ("base_rate", "y", pl.lit(0), pl.lit(1)),
        ("accuracy", "d", 1 - pl.col("y"), pl.col("y")),
    ],
)
def test_outcomes_are_as_low_and_as_high_as_they_can_be(rate, column, low, high, weight):
    made = strata(column, None, rate, weight).with_outcomes(np.array([1.0, 0.0]))
    for case, value in zip(made, (low, high), strict=True):
        np.testing.assert_allclose(case, both(strata(column, value, rate, weight)))


@pytest.mark.parametrize("weight", [None, "w"])
def test_rows_without_a_group_are_of_either_side_or_apart(weight):
    made = strata("g", None, "selection_rate", weight).with_groups(apart=True)
    selected = pl.col("d") == 1
    values = [pl.lit("a"), pl.lit("b"), *(
        pl.when(selected).then(pl.lit(one)).otherwise(pl.lit(other)) for one, other in ("ab", "ba")
    )]  # fmt: skip
    for case, value in zip(made, values, strict=True):
        np.testing.assert_allclose(case, both(strata("g", value, "selection_rate", weight)))


@pytest.mark.parametrize(("limits", "undone"), [((0.01, 0.05), True), ((0.2, 0.3), False)])
def test_what_is_shown_is_undone_where_its_limits_move_across_none(limits, undone):
    data = rows().with_columns(d=pl.when(~pl.col("lacking")).then("d"))
    cube = fg.count(data, **ASKED)
    resolved = resolve(cube, cube.asked)
    metric = contrast_of(cube.asked.catalogue.rate_row("selection_rate"), "difference")
    asked = resolved.features[0], resolved.outcomes[0], metric, (0, 1), cube.asked
    found = could_undo(*asked, [Shown(limits)])
    assert found is (WhyInconclusive.MISSING_OUTCOMES if undone else None)
