"""Regressions of weighted and clustered rows against statsmodels 0.15 on the rows.

Rates: `GLM(..., Binomial(), var_weights=w)` with `cov_type="HC0"`, or "cluster" and Student's t of
one less than the clusters. `why` divides residuals by 1 less the leverage (HC3), and omits each
cluster in turn (jackknife), so that its intervals are a little wider: by less than 1% in these
3,000 rows. Means: `WLS` with "HC3", and with "cluster".
"""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

T = 2.009575234489209  # of 49 degrees of freedom
Z = 1.959963984540054


@pytest.fixture(scope="module")
def rows():
    rng, n = np.random.default_rng(7), 3_000
    sex, branch = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n)
    dti = rng.normal(38 + 2 * (sex == "F"), 8, n).round(1)
    firm = rng.integers(0, 50, n)
    odds = 0.3 - 0.4 * (sex == "F") + 0.5 * (branch == "b") + rng.normal(0, 0.7, 50)[firm]
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    rng.random(n)
    w = 1 + rng.integers(0, 2, n) + y * (branch == "a")
    pay = 30 + 0.2 * dti - 1.5 * (sex == "F") + rng.gamma(2, 2, n) + rng.normal(0, 2, 50)[firm]
    pay += 0.5 * w * (branch == "b")
    return pl.DataFrame({"sex": sex, "branch": branch, "dti": dti, "firm": firm, "y": y,
                         "w": w, "pay": pay.round(2)})  # fmt: skip


def adjusted(rows, **asked):
    asked = {"positive": 1, "sensitive": "sex", "reference": {"sex": "M"}} | asked
    (gap,) = fg.why(rows, **asked).gaps
    return gap.adjusted


def half(interval):
    return (interval[1] - interval[0]) / 2


@pytest.mark.parametrize(
    ("options", "effect", "log_odds", "error", "critical"),
    [
        ({"weight": "w"}, -0.11763558427212713, -0.49444852769499176, 0.07812878801289053, Z),
        ({"cluster": "firm"}, -0.12020107235129901, -0.49192954409723083, 0.07758518574410032, T),
        (
            {"weight": "w", "cluster": "firm"},
            -0.11763558427212713,
            -0.49444852769499176,
            0.08341247535591073,
            T,
        ),
    ],
)
def test_levels(rows, options, effect, log_odds, error, critical):
    found = adjusted(rows, label="y", strata="branch", **options)
    assert found.value == pytest.approx(effect, abs=1e-9)
    assert np.log(found.odds_ratio) == pytest.approx(log_odds, abs=1e-9)
    reach = half(np.log(tuple(found.odds_ratio_interval)))
    assert 1 <= reach / (critical * error) < 1.01


@pytest.mark.parametrize(
    ("options", "effect", "error", "critical"),
    [
        ({"weight": "w"}, -0.9851501142637528, 0.14617835716910188, Z),
        ({"cluster": "firm"}, -0.9944394828868875, 0.1286135394929071, T),
        ({"weight": "w", "cluster": "firm"}, -0.9851501142637528, 0.14382987832045224, T),
    ],
)
def test_levels_of_means(rows, options, effect, error, critical):
    asked = {"label": "pay", "positive": None, "task": "regression", "strata": "branch"}
    found = adjusted(rows, **asked, **options)
    assert found.value == pytest.approx(effect, abs=1e-9)
    # clusters never make an interval narrower than that of independent rows
    assert 1 <= (found.interval.high - found.value) / (critical * error) < 1.06
