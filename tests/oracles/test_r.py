"""Weights, clusters and strata against R: survey, metafor and `mantelhaen.test`.

`STATED` is what R states, and checked on every run; `make thorough` runs the script again where R
has these packages (on Debian r-base-core, r-cran-survey and r-cran-metafor).
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE, missing, need

import fairgauge as fg
from fairgauge.stats.intervals import effective_share
from fairgauge.stats.stratified import heterogeneity_of_means, mantel_haenszel_odds_ratio

Z = 1.959963984540054
WOMEN = np.array([[89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341]], dtype=float)
MEN = np.array([[512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373]], dtype=float)
SCRIPT = Path(__file__).with_name("stated_by_r.R")
STATED = {
    "odds_ratio": 0.904696828258623, "odds_ratio_low": 0.77190736175935,
    "odds_ratio_high": 1.06032976443666, "risk_difference": 0.0184251961908525,
    "heterogeneity": 18.0958928661074, "spread": 0.168795955642585,
    "residual_1": 3.92655875284823, "residual_2": 0.0663640743896638,
    "residual_3": -0.938930971247665, "residual_4": -0.0331961255484479,
    "residual_5": -1.06973273544597, "residual_6": 0.352572316762964,
    "weighted_a": 0.514680483592401, "weighted_a_error": 0.0354368891224709,
    "clustered_a": 0.514680483592401, "clustered_a_error": 0.0552976806697992,
    "f1": 0.636515912897823, "f1_error": 0.0710591226588787,
    "log_odds": -0.192139276001181, "log_odds_error": 0.264336912472297,
}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    """Return 600 weighted rows in 30 clusters, made without random numbers."""
    at = np.arange(600)
    c = at % 30
    y = ((at * 37 + c * 11) % 17 < 3 + c // 3).astype(int)
    return pl.DataFrame({
        "g": np.where(c % 5 < 2, "a", "b"), "s": (at * 7 // 3) % 4, "y": y,
        "p": ((at * 53 + 5 * y) % 13 < 5 + 3 * y).astype(int),
        "w": 1 + y + (at * 29) % 5 / 2, "c": c,
    })  # fmt: skip


@pytest.mark.skipif(not EVERY_CASE, reason="make thorough runs R")
def test_r_states_these_numbers(rows, tmp_path):
    if shutil.which("Rscript") is None:
        missing("R with survey and metafor")
    rows.write_csv(tmp_path / "rows.csv")
    said = subprocess.run(
        ["Rscript", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = dict(line.split() for line in said.stdout.splitlines())
    assert {name: float(value) for name, value in found.items()} == pytest.approx(STATED, rel=1e-12)


def test_the_common_odds_ratio_of_berkeley_is_that_of_mantelhaen_test():
    low, high, _ = mantel_haenszel_odds_ratio(*MEN, *WOMEN, Z)
    assert (float(low), float(high)) == pytest.approx(
        (STATED["odds_ratio_low"], STATED["odds_ratio_high"]), rel=1e-11
    )
    assert float(np.sqrt(low * high)) == pytest.approx(STATED["odds_ratio"], rel=1e-11)


def test_the_pooled_difference_of_berkeley_is_that_of_metafor():
    frame = pl.DataFrame({
        "sex": np.repeat(["F", "M"], 12), "dept": list("ABCDEF") * 4,
        "y": np.tile(np.repeat([1, 0], 6), 2),
        "n": [*WOMEN[0], *(WOMEN[1] - WOMEN[0]), *MEN[0], *(MEN[1] - MEN[0])],
    })  # fmt: skip
    (gap,) = fg.why(
        frame, label="y", sensitive="sex", reference={"sex": "M"}, strata="dept", count="n"
    ).gaps
    pooled = gap.part("within", "mantel_haenszel")
    assert pooled.value == pytest.approx(STATED["risk_difference"], rel=1e-11)


def test_strata_vary_as_metafor_states_of_log_risk_ratios():
    (a, n), (c, m) = WOMEN, MEN
    ratios = np.log(a / n) - np.log(c / m)
    whole, each = heterogeneity_of_means(ratios, 1 / a - 1 / n, 1 / c - 1 / m, n, m)
    assert float(whole.statistic) == pytest.approx(STATED["heterogeneity"], rel=1e-11)
    assert float(whole.spread) == pytest.approx(STATED["spread"], rel=1e-11)
    assert each.z == pytest.approx([STATED[f"residual_{k}"] for k in range(1, 7)], rel=1e-10)


def test_weighted_shares_have_the_variance_of_svymean(rows):
    of = rows.filter(pl.col("g") == "a")
    y, w = of["y"].to_numpy() == 1, of["w"].to_numpy()
    sums = [[(w[at] ** k).sum() for at in (y, ~y)] for k in (1, 2, 0)]
    share = sums[0][0] / w.sum()
    assert share == pytest.approx(STATED["weighted_a"], rel=1e-11)
    (n, _), kish = effective_share(*map(tuple, sums)), w.sum() ** 2 / (w**2).sum()
    linearised = n if n <= kish else n**2 / kish  # above Kish's it is their geometric mean
    of_all = len(rows) / (len(rows) - 1)  # which survey divides by
    error = np.sqrt(share * (1 - share) / linearised * of_all)
    assert float(error) == pytest.approx(STATED["weighted_a_error"], rel=1e-11)


def test_clustered_shares_and_f1_have_the_jackknife_variance_of_survey(rows):
    from fairgauge.stats.sampling import deviations

    report = fg.audit(
        rows, label="y", prediction="p", sensitive="g", cluster="c", weight="w",
        metrics=["base_rate.difference", "f1.difference"],
    )  # fmt: skip
    rates = next(of.rates for of in report.groups if of.group == "a")
    assert rates["base_rate"].value == pytest.approx(STATED["clustered_a"], rel=1e-11)
    assert rates["f1"].value == pytest.approx(STATED["f1"], rel=1e-11)
    a = rows.filter(pl.col("g") == "a")
    y, p, w, c = (a[name].to_numpy() for name in "ypwc")

    def f1(weight):
        return 2 * weight @ (y * p) / (weight @ y + weight @ p)

    def share(weight):
        return weight @ y / weight.sum()

    for name, statistic in (("clustered_a", share), ("f1", f1)):
        values = np.array([statistic(w), *(statistic(w * (c != k)) for k in range(30))])
        error = np.sqrt((deviations(values) ** 2).sum())
        assert error == pytest.approx(STATED[f"{name}_error"], rel=1e-11)


def test_clustered_regressions_are_those_of_svyglm_with_the_jackknife(rows):
    """The odds ratio; its error is that of omitting clusters, a little larger than svyglm's."""
    need("statsmodels")
    (gap,) = fg.why(
        rows.with_columns(pl.col("s").cast(pl.String)), label="y", positive=1, sensitive="g",
        reference={"g": "b"}, strata="s", cluster="c", weight="w",
    ).gaps  # fmt: skip
    assert np.log(gap.adjusted.odds_ratio) == pytest.approx(STATED["log_odds"], rel=1e-7)
    low, high = np.log(tuple(gap.adjusted.odds_ratio_interval))
    error = (high - low) / 2 / 2.045229642132703  # of t with 29 degrees of freedom
    assert 1 <= error / STATED["log_odds_error"] < 1.1


BCG = np.array([
    [4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619],
    [33, 5036, 47, 5761], [180, 1361, 372, 1079], [8, 2537, 10, 619], [505, 87886, 499, 87892],
    [29, 7470, 45, 7232], [17, 1699, 65, 1600], [186, 50448, 141, 27197], [5, 2493, 3, 2338],
    [27, 16886, 29, 17825],
], dtype=float)  # fmt: skip
"""Cases of tuberculosis and others, vaccinated and not, in 13 trials (Colditz and others 1994)."""


def of_trials(trials):
    """Return both tests of log risk ratios with the variances of the delta method."""
    a, b, c, d = BCG[:trials].T
    rows = a + b, c + d
    ratio = np.log(a / rows[0]) - np.log(c / rows[1])
    return heterogeneity_of_means(ratio, 1 / a - 1 / rows[0], 1 / c - 1 / rows[1], *rows)


def test_the_statistic_and_the_spread_of_trials_are_those_of_metafor():
    """``rma(measure="RR", method="DL")`` of dat.bcg: QE and tau^2."""
    whole, _ = of_trials(13)
    assert float(whole.statistic) == pytest.approx(152.2330, abs=5e-5)
    assert float(whole.spread) ** 2 == pytest.approx(0.3088, abs=5e-5)


def test_a_trial_against_the_others_is_the_studentized_residual_of_metafor():
    """``rstudent(rma(yi, vi, method="DL"))$z`` of the first six trials, as its tests state them."""
    _, each = of_trials(6)
    expected = [0.1394, -1.0279, -0.4796, -1.4694, 1.8682, 0.3783]
    assert each.z == pytest.approx(expected, abs=5e-5)
