"""fg.why of means by regression."""

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import GapPartKind, GapVerdict, StratumWeights, WhyInconclusive
from fairgauge.render import render


def years(differences, *, branches=1, n=2_000, first=2019):
    """Return rates of two groups in each year, and in each of some branches, as counts."""
    rows = []
    for t, d in enumerate(differences):
        for b in range(branches):
            base = 0.4 + 0.1 * b
            for sex, rate in (("F", base + d), ("M", base)):
                x = round(n * rate)
                rows += [(sex, first + t, f"b{b}", 1, x), (sex, first + t, f"b{b}", 0, n - x)]
    return pl.DataFrame(rows, schema=["sex", "year", "branch", "y", "n"], orient="row")


def decomposed(table, strata="year", **options):
    asked = {"label": "y", "sensitive": "sex", "count": "n", "reference": {"sex": "M"}}
    return fg.why(table, strata=strata, **{**asked, **options})


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


def test_clusters_of_rows_without_a_label_take_no_part():
    table = of_firms(np.random.default_rng(7))
    asked = {"label": "pay", "task": "regression", "sensitive": "sex", "strata": "grade",
             "cluster": "firm"}  # fmt: skip
    missing = table.with_columns(pay=pl.lit(None, pl.Float64), firm=pl.col("firm") + 1_000)
    (alone,), (beside,) = (
        fg.why(each, **asked).gaps for each in (table, pl.concat([table, missing]))
    )
    for one, other in zip(alone.parts, beside.parts, strict=True):
        assert one.value == pytest.approx(other.value)
        assert one.interval.low == pytest.approx(other.interval.low)


def test_weighted_means_have_a_regression():
    table = years([0.0, 0.01, 0.0, 0.01]).with_columns(w=pl.col("n") / 100)
    (gap,) = fg.why(table, label="y", task="regression", sensitive="sex", strata="year",
                    weight="w").gaps  # fmt: skip
    plain = fg.why(table, label="y", task="regression", sensitive="sex", strata="year").gaps[0]
    assert gap.adjusted.value == pytest.approx(gap.part(GapPartKind.WITHIN).value, abs=0.01)
    assert gap.adjusted.value != plain.adjusted.value


@pytest.mark.parametrize("strata", ["s", ["s", "t"]])
@pytest.mark.parametrize("options", [{}, {"cluster": "c"}, {"weight": "w"}])
def test_means_of_single_rows_are_shown_and_saved(strata, options, tmp_path):
    """A variance that no two rows show was nan in the JSON, which could not be written."""
    table = pl.DataFrame({
        "g": ["a", "a", "b", "b"], "s": ["x", "y"] * 2, "t": ["p"] * 4, "c": [0, 1, 2, 3],
        "y": [1.0, 2.5, 3.0, 7.0], "w": [1.0, 2, 1, 3],
    })  # fmt: skip
    found = fg.why(table, label="y", task="regression", sensitive="g", strata=strata, **options)
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found
    for format_ in ("text", "html"):
        assert "nan" not in render(found, format_).split()
    (gap,) = found.gaps
    assert (gap.verdict, gap.reason) == (GapVerdict.INCONCLUSIVE, WhyInconclusive.TOO_FEW)
    ends = [each.interval for each in gap.strata]
    assert all(each is None or np.isinf(tuple(each)).all() for each in ends)
