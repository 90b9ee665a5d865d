"""Gaps adjusted for numbers as they are, of weighted rows: by counts, and in scans of the rows."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.api import decomposing
from fairgauge.enums import ColumnEffects

ASKED = {"label": "y", "positive": 1, "sensitive": "sex", "reference": {"sex": "M"},
         "strata": ["branch", fg.cut("dti", "quantiles")]}  # fmt: skip


def applicants(n=3_000, seed=7):
    """Return rows with weights of 1 to 3 that depend on the outcome, so that they matter."""
    rng = np.random.default_rng(seed)
    sex, branch = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n)
    dti = rng.normal(38 + 2 * (sex == "F"), 8, n).round(1)
    odds = 1.0 - 0.08 * (dti - 38) - 0.4 * (sex == "F") + 0.5 * (branch == "b")
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    w = 1 + rng.integers(0, 2, n) + y * (branch == "a")
    return pl.DataFrame({"sex": sex, "dti": dti, "branch": branch, "y": y, "w": w})


ROWS = applicants()


@pytest.fixture(params=["counted", "scanned"])
def way(request, monkeypatch):
    """Count the numbers by value, or read the rows some at a time, as where values are many."""
    if request.param == "scanned":
        monkeypatch.setattr(decomposing, "_FEW_VALUES", 1)
    return request.param


def of(gap, effects):
    (found,) = (each for each in gap.adjusted if each.effects is effects)
    return found


def of_numbers(rows, **options):
    gap = next(g for g in fg.why(rows, **ASKED | options).gaps if g.estimate.group == "F")
    return of(gap, ColumnEffects.NUMBERS)


def test_the_fit_and_its_interval_are_those_of_weighted_rows(way):
    """Weighted scores are solved, and the squared influences of rows are added up (HC3)."""
    branch, dti, y, w = (ROWS[name].to_numpy() for name in ("branch", "dti", "y", "w"))
    woman = (ROWS["sex"] == "F").to_numpy()

    def design(side):
        side = np.broadcast_to(side, len(y))
        return np.column_stack([np.ones(len(y)), side, branch == "b", branch == "c", dti - 38.0])

    x, beta = design(woman), np.zeros(5)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        bread = np.linalg.inv((x * (w * p * (1 - p))[:, None]).T @ x)
        beta = beta + bread @ x.T @ (w * (y - p))
    on, off = design(1.0), design(0.0)
    ours, theirs = (1 / (1 + np.exp(-each @ beta)) for each in (on, off))
    effect = np.average(ours - theirs, weights=w)
    found = of_numbers(ROWS, weight="w")
    assert found.value == pytest.approx(effect, abs=1e-8)
    assert np.log(found.odds_ratio) == pytest.approx(beta[1], abs=1e-7)
    share = w / w.sum()
    slope = share @ (on * (ours * (1 - ours))[:, None] - off * (theirs * (1 - theirs))[:, None])
    residual = w * (y - p) / (1 - w * p * (1 - p) * ((x @ bread) * x).sum(1))
    error = np.sqrt(
        ((share * (ours - theirs - effect) + residual * (x @ bread @ slope)) ** 2).sum()
    )
    # counted, the rows of a cell share the mean of their leverages
    near = 1e-7 if way == "scanned" else 1e-4
    assert (found.interval.high - found.value) / 1.959963985 == pytest.approx(error, rel=near)
    of_side = np.sqrt(((residual * (x @ bread)[:, 1]) ** 2).sum())
    ends = np.log(tuple(found.odds_ratio_interval))
    assert (ends[1] - ends[0]) / 2 / 1.959963985 == pytest.approx(of_side, rel=near)


def test_rows_of_weight_0_decide_no_quantile(way):
    """They are in no number, but the cuts were at the quantiles of all rows."""
    others = ROWS.with_columns(dti=pl.col("dti") + 60, w=pl.lit(0, ROWS.schema["w"]))
    both, alone = (fg.why(rows, weight="w", **ASKED) for rows in (pl.concat([ROWS, others]), ROWS))
    assert both.spec["strata"] == alone.spec["strata"]


def test_a_number_of_two_values_is_a_column_of_two_levels(way):
    """Weights that are equal in a cell give its rows one leverage, as the regression of counts."""
    two = ROWS.with_columns(
        dti=pl.when(pl.col("dti") > 40).then(38.0).otherwise(36.0),
        w=1.0 + 0.5 * (pl.col("branch") == "b") + (pl.col("dti") > 40),
    )
    (gap,) = fg.why(two, weight="w", **ASKED).gaps
    levels, numbers = of(gap, ColumnEffects.MAIN), of(gap, ColumnEffects.NUMBERS)
    assert numbers.value == pytest.approx(levels.value, abs=1e-8)
    assert tuple(numbers.interval) == pytest.approx(tuple(levels.interval), abs=1e-7)
    ends = numbers.odds_ratio, *numbers.odds_ratio_interval, numbers.ratio, *numbers.ratio_interval
    same = levels.odds_ratio, *levels.odds_ratio_interval, levels.ratio, *levels.ratio_interval
    assert ends == pytest.approx(same, abs=1e-6)


def test_whole_weights_give_the_estimates_of_repeated_rows(way):
    weighted, repeated = of_numbers(ROWS, weight="w"), of_numbers(ROWS, count="w")
    assert weighted.value == pytest.approx(repeated.value, abs=1e-8)
    assert weighted.odds_ratio == pytest.approx(repeated.odds_ratio, abs=1e-7)
    assert weighted.interval.high > repeated.interval.high  # no more rows than there are


def test_the_scale_of_weights_and_rows_without_one_change_nothing(way):
    found = of_numbers(ROWS, weight="w")
    absent = ROWS.head(700).with_columns(w=pl.lit(None, pl.Float64), y=1 - pl.col("y"))
    none = ROWS.head(500).with_columns(w=pl.lit(0.0), y=1 - pl.col("y"))
    scaled = ROWS.with_columns(w=pl.col("w") * 0.37)
    # cut points are of all rows, the straight line is not
    other = of_numbers(pl.concat([scaled, absent, none]), weight="w")
    assert other.value == pytest.approx(found.value, abs=1e-8)
    assert other.interval.low == pytest.approx(found.interval.low, abs=1e-8)


def test_a_mean_of_weighted_rows_is_that_of_repeated_rows(way):
    asked = {"label": "pay", "task": "regression", "positive": None}
    pay = 20 + 0.1 * pl.col("dti") - (pl.col("sex") == "F") + pl.col("y") * pl.col("w")
    rows = ROWS.with_columns(pay=pay)
    found, repeated = (of_numbers(rows, **asked, **{how: "w"}) for how in ("weight", "count"))
    assert found.value == pytest.approx(repeated.value, abs=1e-8)
    assert found.ratio == pytest.approx(repeated.ratio, abs=1e-8)
    assert found.interval.high > repeated.interval.high  # no more rows than there are
    other = of_numbers(rows.with_columns(w=pl.col("w") * 0.37), **asked, weight="w")
    assert tuple(other.interval) == pytest.approx(tuple(found.interval), abs=1e-8)
