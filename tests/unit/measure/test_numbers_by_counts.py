"""Gaps adjusted for numbers as they are, against the regression of the rows."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import ColumnEffects
from fairgauge.scan._duckdb_files import DuckFiles


def applicants(n=4_000, seed=3):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M", "X"], n, p=[0.45, 0.45, 0.1])
    dti = rng.normal(38 + 2 * (sex == "F"), 8, n).round(1)
    branch = rng.choice(["a", "b", "c"], n)
    odds = 1.0 - 0.08 * (dti - 38) - 0.4 * (sex == "F") + 0.5 * (branch == "b")
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    pay = 30 + 0.2 * dti - 1.5 * (sex == "F") + rng.gamma(2, 2, n)
    return pl.DataFrame({"sex": sex, "dti": dti, "branch": branch, "y": y, "pay": pay})


ROWS = applicants()
ASKED = {"sensitive": "sex", "reference": {"sex": "M"},
         "strata": ["branch", fg.cut("dti", "quantiles")]}  # fmt: skip


def design(rows, side):
    branch, dti = rows["branch"].to_numpy(), rows["dti"].to_numpy()
    return np.column_stack([np.ones(len(rows)), side, branch == "b", branch == "c", dti - 38])


def logistic(x, y):
    beta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        beta = beta + np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (y - p))
    return beta


def of_numbers(gap):
    (found,) = (each for each in gap.adjusted if each.effects is ColumnEffects.NUMBERS)
    return found


def gap_of(found, group):
    return next(gap for gap in found.gaps if gap.estimate.group == group)


@pytest.mark.parametrize("reference", [{"sex": "M"}, "others"])
def test_the_fit_of_a_rate_is_that_of_the_rows(reference):
    found = fg.why(ROWS, label="y", positive=1, **ASKED | {"reference": reference})
    adjusted = of_numbers(gap_of(found, "F"))
    rows = ROWS if reference == "others" else ROWS.filter(pl.col("sex") != "X")
    side = (rows["sex"] == "F").to_numpy().astype(float)
    x, y = design(rows, side), rows["y"].to_numpy()
    beta = logistic(x, y)
    rates = [1 / (1 + np.exp(-design(rows, np.full(len(y), s)) @ beta)) for s in (1.0, 0.0)]
    effect = rates[0] - rates[1]
    assert adjusted.value == pytest.approx(effect.mean(), abs=1e-9)
    assert adjusted.odds_ratio == pytest.approx(np.exp(beta[1]), abs=1e-8)
    p = 1 / (1 + np.exp(-x @ beta))
    bread = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)
    slope = (design(rows, 1.0 + 0 * side) * (rates[0] * (1 - rates[0]))[:, None]
             - design(rows, 0 * side) * (rates[1] * (1 - rates[1]))[:, None]).mean(0)  # fmt: skip
    residual = (y - p) / (1 - p * (1 - p) * ((x @ bread) * x).sum(1))  # HC3
    moved = (effect - effect.mean()) / len(y) + (x @ bread @ slope) * residual
    error = np.sqrt((moved**2).sum())
    assert adjusted.interval.high - adjusted.value == pytest.approx(1.959964 * error, rel=1e-6)


def test_the_fit_of_a_mean_is_least_squares_with_hc3():
    found = fg.why(ROWS, label="pay", task="regression", **ASKED)
    adjusted = of_numbers(gap_of(found, "F"))
    rows = ROWS.filter(pl.col("sex") != "X")
    x = design(rows, (rows["sex"] == "F").to_numpy().astype(float))
    y = rows["pay"].to_numpy()
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ x.T @ y
    residual = (y - x @ beta) / (1 - ((x @ bread) * x).sum(1))
    error = np.sqrt((bread @ (x * (residual**2)[:, None]).T @ x @ bread)[1, 1])
    assert adjusted.value == pytest.approx(beta[1], abs=1e-8)
    assert adjusted.interval.high - adjusted.value == pytest.approx(1.9606 * error, rel=1e-4)
    assert (
        "With the numbers of the 10 intervals as they are (a straight line) it is"
        in gap_of(found, "F").says
    )


def test_counts_of_rows_give_what_the_rows_give():
    rows = ROWS.with_columns(pl.col("dti").round(0))
    counts = rows.group_by("sex", "dti", "branch", "y").agg(n=pl.len())
    one, other = (
        of_numbers(gap_of(fg.why(data, label="y", positive=1, count=count, **ASKED), "F"))
        for data, count in ((rows, None), (counts, "n"))
    )
    assert one.value == pytest.approx(other.value, abs=1e-10)
    assert one.interval.low == pytest.approx(other.interval.low, abs=1e-10)


def test_rows_without_a_number_take_no_part_and_other_rates_have_no_fit():
    absent = ROWS.head(500).with_columns(dti=pl.lit(None, pl.Float64))
    found = fg.why(pl.concat([ROWS, absent]), label="y", positive=1, **ASKED)
    alone = fg.why(ROWS, label="y", positive=1, **ASKED)
    assert of_numbers(found.gaps[0]) == of_numbers(alone.gaps[0])
    rates = ROWS.with_columns(p=1 - pl.col("y"))
    errors = {"label": "y", "prediction": "p", "metrics": "true_positive_rate.difference"}
    for gap in fg.why(rates, positive=1, **errors, **ASKED).gaps:
        assert not any(each.effects is ColumnEffects.NUMBERS for each in gap.adjusted)
    ratios = fg.why(ROWS, label="y", positive=1, metrics="base_rate.ratio", **ASKED).gaps
    assert [gap.adjusted for gap in ratios] == [gap.adjusted for gap in alone.gaps]


def test_a_number_takes_three_scans(tmp_path, monkeypatch):
    """One to cut it, one to count by intervals, and one to count by every value."""
    ROWS.write_parquet(tmp_path / "rows.parquet")
    scans, count = [], DuckFiles.count

    def counted(*given):
        scans.append(1)
        return count(*given)

    monkeypatch.setattr(DuckFiles, "count", counted)
    gaps = fg.why(tmp_path / "rows.parquet", label="y", positive=1, **ASKED).gaps
    assert [each.intervals for each in gaps[0].other_intervals] == [4, 20]
    assert len(scans) == 3


def test_clustered_rows_have_no_regression_on_numbers_and_the_page_states_it():
    clustered = ROWS.with_columns(of=pl.int_range(pl.len()) % 400)
    asked = {"label": "y", "positive": 1, **ASKED}
    (gap, *_) = fg.why(clustered, cluster="of", **asked).gaps
    assert gap.other_intervals
    assert {each.effects for each in gap.adjusted} == {ColumnEffects.MAIN, ColumnEffects.BY_SIDE}
    assert "as they are there is no regression: it is made of rows without clusters" in gap.says
    (plain, *_) = fg.why(ROWS, **asked).gaps
    assert "there is no regression" not in plain.says
