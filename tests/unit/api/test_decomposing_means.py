"""fg.why of means by regression."""

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import GapPartKind, StratumWeights


def test_means_are_adjusted_by_linear_regression(tmp_path):
    rng = np.random.default_rng(3)
    n = 600
    grade, sex = rng.integers(0, 3, n), rng.choice(["F", "M"], n)
    pay = 30 + 8 * grade - 1.5 * (sex == "F") + rng.normal(0, 3, n)
    table = pl.DataFrame({"grade": grade, "sex": sex, "pay": pay})
    found = fg.why(table, label="pay", task="regression", sensitive="sex", strata="grade",
                   reference={"sex": "M"})  # fmt: skip
    (gap,) = found.gaps
    main = gap.adjusted
    design = np.column_stack([np.ones(n), sex == "F", grade == 1, grade == 2]).astype(float)
    assert main.value == pytest.approx(np.linalg.lstsq(design, pay)[0][1])
    assert main.interval.low < -1.5 < main.interval.high
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found


def of_firms(rng, firms=40, rows=25):
    """Return pay of people in firms that pay unlike, each of one sex; women earn 1 less."""
    firm, sex = np.repeat(np.arange(firms), rows), np.repeat(rng.choice(["F", "M"], firms), rows)
    grade = rng.integers(0, 3, firms * rows)
    pay = 30 + 3 * grade - (sex == "F") + rng.normal(0, 1.5, firms)[firm]
    pay = pay + rng.normal(0, 3, firms * rows)
    return pl.DataFrame({"firm": firm, "sex": sex, "grade": grade, "pay": pay})


def test_means_of_clustered_rows_are_covered():
    rng = np.random.default_rng(6)
    asked = {"label": "pay", "task": "regression", "sensitive": "sex", "strata": "grade",
             "reference": {"sex": "M"}}  # fmt: skip
    covered, naive, adjusted = 0, 0, 0
    tables = 80 if EVERY_CASE else 32
    for _ in range(tables):
        table = of_firms(rng)
        for cluster in ("firm", None):
            (gap,) = fg.why(table, cluster=cluster, **asked).gaps
            end = gap.part(GapPartKind.WITHIN).interval
            covered += cluster is not None and end.low <= -1 <= end.high
            adjusted += cluster is not None and -1 in gap.adjusted.interval
            naive += cluster is None and end.low <= -1 <= end.high
    assert covered >= 0.875 * tables
    assert adjusted >= 0.875 * tables
    assert naive < 0.75 * tables


@pytest.mark.parametrize("task", ["regression", None])
def test_clustered_rows_have_no_average_by_mantel_haenszel(task):
    """Its interval would regard the rows of a cluster in several strata as independent."""
    table = of_firms(np.random.default_rng(8)).with_columns(pay=(pl.col("pay") > 33).cast(int))
    asked = {"label": "pay", "task": task, "sensitive": "sex", "strata": "grade"}
    for cluster in ("firm", None):
        (gap,) = fg.why(table, cluster=cluster, **asked).gaps
        weights = {part.weights for part in gap.parts}
        assert (StratumWeights.MANTEL_HAENSZEL in weights) == (cluster is None)
