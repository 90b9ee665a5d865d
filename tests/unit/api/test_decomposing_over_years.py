"""fg.why with a column of years, and of means by regression."""

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import ColumnEffects, GapPartKind, GapVerdict, StratumWeights, WhyInconclusive
from fairgauge.render import render
from fairgauge.stats.outlying_strata import rate_variances, trend


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


def test_years_have_a_trend_and_no_test_each(tmp_path):
    found = decomposed(years([-0.02, -0.05, -0.08, -0.11]))
    (gap,) = found.gaps
    assert gap.trend.value == pytest.approx(-0.03, abs=1e-3)
    assert gap.trend.interval.high < 0
    assert (gap.trend.first, gap.trend.last) == (2019, 2022)
    assert not any(each.p_value is not None or each.outlying for each in gap.strata)
    assert (
        "From 2019 to 2022 (year) the difference (F less M) changes by −3.0 pp a year" in gap.says
    )
    assert "Outlying" not in gap.says
    assert "unlike the others" not in gap.says
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found
    text = " ".join(render(found, "text", full=True).split())
    assert "changes by −3.0 pp a year" in text
    assert "changes by" in " ".join(render(found, "html").split())


def test_an_audit_by_years_has_a_trend_and_no_test_of_single_years():
    """A year in which the difference is the other way round is named by no test of its own."""
    asked = {"label": "y", "sensitive": "sex", "count": "n", "reference": {"sex": "M"}}
    audit = fg.audit(years([0.12, -0.05, -0.1, -0.14, -0.18]), strata="year", **asked)
    brief = " ".join(render(audit, "text").split())
    assert "The difference changes by −6.9 pp a year (95% CI" in brief
    assert "in stratum" not in brief
    shown = render(audit, "text", full=True)
    chart = shown.split("Base rate difference of F by year")[1].split("adjusted for year")[0]
    assert "p = " not in chart
    assert "p < " not in chart.split("2019")[1]


def test_the_trend_is_weighted_least_squares_of_the_differences():
    """Where years scatter no more than by sampling; variances are those at one difference."""
    table = years([0.0, 0.01, 0.0, 0.012, 0.004])
    (gap,) = decomposed(table).gaps
    d = np.array([each.difference for each in sorted(gap.strata, key=lambda s: s.stratum["year"])])
    w = 1 / (2 * 0.4 * 0.6 / 2_000)
    slope = np.polyfit(np.arange(5), d, 1)[0]
    assert gap.trend.value == pytest.approx(slope, rel=0.01)
    half = 1.96 / np.sqrt(w * 10)
    assert gap.trend.interval.high - slope == pytest.approx(half, rel=0.02)
    assert gap.trend.p_value == pytest.approx(2 * stats.norm.sf(slope * np.sqrt(10 * w)), abs=0.02)
    assert "not statistically significantly" in gap.says


def test_differences_that_cancel_over_the_years_are_no_plain_pass():
    (gap,) = decomposed(years([-0.06, -0.03, 0.0, 0.03, 0.06], n=900)).gaps
    assert (gap.verdict, gap.reason) == ("inconclusive", WhyInconclusive.VARIES)
    assert "year: +3.0 pp a year" in gap.says


def test_the_trend_is_adjusted_for_other_columns_which_keep_their_tests():
    table = years([-0.01, -0.03, -0.05], branches=6)
    (gap,) = decomposed(table, ["branch", "year"]).gaps
    branch, year = gap.by_column
    assert gap.trend.value == pytest.approx(-0.02, abs=2e-3)
    assert all(level.p_value is not None for level in branch.levels)
    assert all(level.p_value is None for level in year.levels)
    assert "Adjusted for branch, from 2019 to 2021 (year)" in gap.says
    (other,) = decomposed(table, ["year", "branch"]).gaps
    assert other.trend == gap.trend
    assert "year, adjusted for branch" in render(decomposed(table, ["branch", "year"]), "html")


@pytest.mark.parametrize(
    ("table", "tested"),
    [(years([-0.02, 0.0, -0.05]), False), (years([0.0, 0.1, 0.0, 0.0, 0.0, 0.0], first=19), True)],
)
def test_three_years_have_none_and_numbers_that_are_no_years_are_tested(table, tested):
    found = decomposed(table)
    (gap,) = found.gaps
    assert gap.trend is None
    assert "a year" not in gap.says
    why = "No trend over year is tested: too few years for a line."
    assert (why in gap.says) is (why in render(found, "text")) is not tested
    order = [each.stratum["year"] for each in gap.strata]
    assert (order == sorted(order)) is not tested
    assert any(each.p_value is not None for each in gap.strata) == tested


@pytest.mark.parametrize(("strata", "tests"), [(["branch", "year"], 4), ("year", 2)])
def test_the_screen_shows_a_trend_once_with_the_tests_that_it_is_adjusted_for(strata, tests):
    found = decomposed(years([-0.01, -0.03, -0.05, -0.07], branches=4), strata)
    text = " ".join(render(found, "text").replace("\u00a0", " ").split())
    assert text.count("a year (95% CI") == 1
    assert f", adjusted for {tests} tests). Years are not tested one by one." in text


def test_the_interval_of_a_trend_covers_it():
    """With years that scatter about the line, and without."""
    rng = np.random.default_rng(4)
    for spread in (0.0, 0.02):
        covered = 0
        for _ in range(400):
            d = 0.01 * np.arange(5) + rng.normal(0, spread, 5)
            base, n = np.full(5, 0.3), np.full(5, 2_000.0)
            counts = rng.binomial(2_000, base + d).astype(float), rng.binomial(2_000, base) * 1.0
            differences = rate_variances(counts[0], n, counts[1], n)
            found = trend(*differences, np.arange(5.0), np.zeros(5, int), 1.96)
            covered += found.low <= 0.01 <= found.high
        assert 368 <= covered <= 396


def test_years_that_scatter_have_a_wider_interval_of_student():
    (gap,) = decomposed(years([0.0, 0.2, -0.1, 0.25, -0.05, 0.15])).gaps
    d = [0.0, 0.2, -0.1, 0.25, -0.05, 0.15]
    usual = stats.linregress(range(6), d)
    half = (gap.trend.interval.high - gap.trend.interval.low) / 2
    assert half == pytest.approx(stats.t.isf(0.025, 4) * usual.stderr, rel=0.05)


def test_means_are_adjusted_by_linear_regression(tmp_path):
    rng = np.random.default_rng(3)
    n = 600
    grade, sex = rng.integers(0, 3, n), rng.choice(["F", "M"], n)
    pay = 30 + 8 * grade - 1.5 * (sex == "F") + rng.normal(0, 3, n)
    table = pl.DataFrame({"grade": grade, "sex": sex, "pay": pay})
    found = fg.why(table, label="pay", task="regression", sensitive="sex", strata="grade",
                   reference={"sex": "M"})  # fmt: skip
    (gap,) = found.gaps
    main, own = gap.adjusted
    assert (main.effects, own.effects) == (ColumnEffects.MAIN, ColumnEffects.BY_SIDE)
    design = np.column_stack([np.ones(n), sex == "F", grade == 1, grade == 2]).astype(float)
    assert main.value == pytest.approx(np.linalg.lstsq(design, pay)[0][1])
    assert main.interval.low < -1.5 < main.interval.high
    assert "Adjusted for grade by linear regression, the means differ by −1." in gap.says
    assert "odds ratio" not in gap.says
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
            adjusted += cluster is not None and -1 in gap.adjusted[0].interval
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
    assert gap.trend is not None
    plain = fg.why(table, label="y", task="regression", sensitive="sex", strata="year").gaps[0]
    main, unweighted = gap.adjusted[0], plain.adjusted[0]
    assert main.value == pytest.approx(gap.part(GapPartKind.WITHIN).value, abs=0.01)
    assert "by linear regression" in gap.says
    assert (main.value, unweighted.interaction_p) != (unweighted.value, None)
    assert gap.adjusted[1].interaction_p is None


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
