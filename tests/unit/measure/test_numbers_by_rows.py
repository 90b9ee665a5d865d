"""Gaps adjusted for numbers of many different values: regression in scans of the rows."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.api import decomposing
from fairgauge.enums import ColumnEffects
from fairgauge.scan._duckdb_files import DuckFiles
from fairgauge.stats.grouped_regression import adjusted_effect
from fairgauge.stats.sampling import Sampling, SquaredWeights

Z = 1.959963984540054

ASKED = {"sensitive": "sex", "reference": {"sex": "M"},
         "strata": ["branch", fg.cut("dti", "quantiles"), fg.cut("ltv", "quantiles")]}  # fmt: skip


def applicants(n=6_000, seed=5):
    """Return rows of two numbers, each value of which is of one row."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M", "X"], n, p=[0.45, 0.45, 0.1])
    dti, ltv = rng.normal(38 + 2 * (sex == "F"), 8, n), rng.gamma(9, 8, n)
    branch = rng.choice(["a", "b", "c"], n)
    odds = 1.0 - 0.08 * (dti - 38) + 0.01 * ltv - 0.4 * (sex == "F") + 0.5 * (branch == "b")
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    pay = 30 + 0.2 * dti - 1.5 * (sex == "F") + rng.gamma(2, 2, n)
    return pl.DataFrame({"sex": sex, "dti": dti, "ltv": ltv, "branch": branch, "y": y, "pay": pay})


@pytest.fixture(autouse=True)
def _few_values(monkeypatch):
    """Let the numbers of these rows be more than are counted by value, as those of many rows."""
    monkeypatch.setattr(decomposing, "_FEW_VALUES", 100)


@pytest.fixture(scope="module")
def rows():
    return applicants()


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "rows.parquet"
    rows.write_parquet(path)
    return path


@pytest.fixture
def scans(monkeypatch):
    """Return what every scan of the files was for."""
    found = []
    scan_of = {name: getattr(DuckFiles, name) for name in ("count", "batches")}
    for name, scan in scan_of.items():

        def counted(*given, name=name, scan=scan):
            found.append(name)
            return scan(*given)

        monkeypatch.setattr(DuckFiles, name, counted)
    return found


def of_numbers(found, group="F"):
    gap = next(gap for gap in found.gaps if gap.estimate.group == group)
    (adjusted,) = (each for each in gap.adjusted if each.effects is ColumnEffects.NUMBERS)
    return adjusted


def test_the_fit_is_that_of_statsmodels_in_at_most_eight_scans(path, scans):
    """`Logit` 0.15 of the rows of F and M, `get_margeff(dummy=True)`, and HC3 (hat values)."""
    adjusted = of_numbers(fg.why(path, label="y", positive=1, **ASKED))
    assert len(scans) <= 8
    assert scans.count("count") == 3  # two of which see in the first rows that values are many
    assert adjusted.value == pytest.approx(-0.06824374784598668, abs=1e-8)
    log_odds, error = -0.4940941665640078, 0.07491484655214004
    assert np.log(adjusted.odds_ratio) == pytest.approx(log_odds, abs=1e-8)
    ends = np.log(tuple(adjusted.odds_ratio_interval))
    assert ends == pytest.approx(log_odds + np.array([-1, 1]) * Z * error, abs=1e-8)


def test_the_fit_of_a_mean_is_that_of_statsmodels(path, scans):
    """`OLS` 0.15 with `cov_type="HC3", use_t=True`."""
    adjusted = of_numbers(fg.why(path, label="pay", task="regression", **ASKED))
    assert len(scans) <= 8
    assert adjusted.value == pytest.approx(-1.5036677229134898, abs=1e-8)
    ends = -1.6538200904136549, -1.3535153554133248
    assert tuple(adjusted.interval) == pytest.approx(ends, abs=1e-8)


def test_scans_give_what_all_rows_at_once_give(rows):
    """The interval of the average marginal effect included."""
    two = rows.filter(pl.col("sex") != "X")
    woman, y = (two["sex"] == "F").to_numpy(), two["y"].to_numpy().astype(float)
    codes = np.unique(two["branch"], return_inverse=True)[1]
    counts = (y * woman, woman.astype(float), y * ~woman, (~woman).astype(float))
    every = adjusted_effect(*counts, [codes, two["dti"].to_numpy(), two["ltv"].to_numpy()], Z)
    found = of_numbers(fg.why(rows, label="y", positive=1, **ASKED))
    assert found.value == pytest.approx(every.difference, abs=1e-9)
    assert tuple(found.interval) == pytest.approx((every.low, every.high), abs=1e-9)
    assert found.p_value == pytest.approx(every.p, rel=1e-6)


def test_frames_files_and_the_order_of_rows_give_the_same(rows, path):
    asked = {"label": "y", "positive": 1, **ASKED}
    found = of_numbers(fg.why(path, **asked))
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=1)
    for data in (shuffled, shuffled.to_pandas(), shuffled.to_arrow()):
        assert of_numbers(fg.why(data, **asked)) == found


def test_counted_rows_conditions_and_missing_numbers(rows, path, tmp_path):
    asked = {"label": "y", "positive": 1, **ASKED, "reference": "others"}
    kept = rows.filter(pl.col("branch") != "c")
    where = of_numbers(fg.why(path, where="branch != c", **asked))
    absent = rows.head(300).with_columns(ltv=pl.lit(None, pl.Float64))
    more = pl.concat([kept, absent.filter(pl.col("branch") != "c")])
    more.write_parquet(tmp_path / "more.parquet")
    found = of_numbers(fg.why(tmp_path / "more.parquet", **asked))
    assert found.value == pytest.approx(where.value, abs=1e-9)
    assert tuple(found.interval) == pytest.approx(tuple(where.interval), abs=1e-9)
    twice = of_numbers(fg.why(kept.with_columns(n=pl.lit(2)), count="n", **asked))
    assert twice.value == pytest.approx(where.value, abs=1e-10)
    assert twice.interval.high < where.interval.high


def test_levels_of_one_outcome_have_the_fit_of_all_rows_at_once():
    rows, high = applicants(), pl.col("dti") > 45
    branch = pl.when(high).then("branch").otherwise(pl.lit("a"))
    y = pl.when(pl.col("branch") == "c", high).then(1).otherwise("y")
    rows = rows.with_columns(branch=branch, y=y)
    asked = {"label": "y", "positive": 1, "sensitive": "sex", "reference": {"sex": "M"},
             "strata": ["branch", fg.cut("dti", "quantiles")]}  # fmt: skip
    streamed = of_numbers(fg.why(rows, **asked))
    two = rows.filter(pl.col("sex") != "X")
    woman, y = (two["sex"] == "F").to_numpy(), two["y"].to_numpy().astype(float)
    codes = np.unique(two["branch"], return_inverse=True)[1]
    counts = (y * woman, woman.astype(float), y * ~woman, (~woman).astype(float))
    every = adjusted_effect(*counts, [codes, two["dti"].to_numpy()], Z)
    assert streamed.value == pytest.approx(every.difference, abs=1e-9)
    assert streamed.interval.low == pytest.approx(every.low, abs=1e-9)


def test_a_side_of_few_successes_has_the_interval_of_all_rows_at_once():
    """Weighted; without successes there is no line."""
    rows = applicants().filter(pl.col("sex") != "X")
    woman = (rows["sex"] == "F").to_numpy()
    weight = np.random.default_rng(1).uniform(20, 80, len(rows))
    y = np.where(woman, np.cumsum(woman) <= 3, rows["y"].to_numpy()).astype(float)
    rows = rows.with_columns(y=y.astype(int), weight=weight)
    asked = {"label": "y", "positive": 1, "weight": "weight", **ASKED}
    none = rows.with_columns(y=pl.when(pl.col("sex") == "F").then(0).otherwise("y"))
    assert not any(e.effects == "numbers" for e in fg.why(none, **asked).gaps[0].adjusted)
    streamed = of_numbers(fg.why(rows, **asked))
    codes = np.unique(rows["branch"], return_inverse=True)[1]
    sides = [weight * on for on in (woman, ~woman)]
    squared = [SquaredWeights(w * w, w * w * y, w * w * y) for w in sides]
    counts = (y * sides[0], sides[0], y * sides[1], sides[1])
    columns = [codes, rows["dti"].to_numpy(), rows["ltv"].to_numpy()]
    every = adjusted_effect(*counts, columns, Z, sampling=Sampling(*squared))
    assert streamed.value == pytest.approx(every.difference, abs=1e-9)
    assert tuple(streamed.interval) == pytest.approx((every.low, every.high), abs=1e-9)
    assert np.log(streamed.ratio) == pytest.approx(np.log(every.ratio[0]), abs=0.1)
    high = np.log(streamed.ratio_interval.high)
    assert high == pytest.approx(np.log(every.ratio[2]), abs=0.1)


def test_numbers_that_are_combinations_of_others_change_nothing(rows):
    asked = {"label": "y", "positive": 1, **ASKED}
    doubled = rows.with_columns(again=3 - 2 * pl.col("dti"))
    strata = [*ASKED["strata"], fg.cut("again", "quantiles")]
    one, other = (of_numbers(fg.why(doubled, **asked | {"strata": s}))
                  for s in (ASKED["strata"], strata))  # fmt: skip
    assert other.value == pytest.approx(one.value, abs=1e-8)
    assert other.interval.low == pytest.approx(one.interval.low, abs=1e-8)


def test_infinite_numbers_are_refused(rows):
    odd = rows.with_columns(ltv=pl.when(pl.col("ltv") > 120).then(np.inf).otherwise("ltv"))
    with pytest.raises(fg.DataError, match="'inf' is infinite: give a finite number"):
        fg.why(odd, label="y", positive=1, **ASKED)
