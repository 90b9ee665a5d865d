"""Firth's regression and outlying strata against numbers that R's packages publish.

Facts only: counts, and the numbers that logistf 1.2x prints for its example, and that metafor's
own tests state for theirs.
"""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.stats.grouped_regression import Regressors, fit_counts
from fairgauge.stats.outlying_strata import heterogeneity_of_means

COLUMNS = ("age", "oc", "vic", "vicl", "vis", "dia")
CASES_AND_CONTROLS = {
    "000010": (1, 1), "001000": (14, 2), "001010": (3, 1), "001100": (10, 8), "001110": (12, 18),
    "001111": (1, 0), "010000": (44, 42), "010001": (3, 0), "010010": (0, 1), "011000": (15, 1),
    "011001": (1, 0), "011010": (2, 0), "011100": (7, 5), "011110": (3, 6), "101000": (2, 0),
    "101010": (1, 0), "101011": (1, 0), "101100": (1, 2), "101110": (0, 4), "101111": (1, 0),
    "110000": (5, 14), "110010": (0, 1), "111000": (3, 1), "111110": (0, 2),
}  # fmt: skip
"""130 cases of urinary tract infection and 109 controls (Foxman and others 1997), by pattern."""
INTERCEPT = 0.12025405
LOGISTF = dict(
    zip(
        COLUMNS,
        (-1.10598131, -0.06881673, 2.26887464, -2.11140817, -0.78831694, 3.09601166),
        strict=True,
    )
)
"""``logistf(case ~ age + oc + vic + vicl + vis + dia)``; by likelihood that of dia is infinite."""


def test_the_fit_of_firth_is_that_of_logistf():
    patterns = np.array([[1, *map(int, each)] for each in CASES_AND_CONTROLS], dtype=float)
    places = np.tile(np.arange(7), (len(patterns), 1))
    cases, controls = np.array(list(CASES_AND_CONTROLS.values()), dtype=float).T
    found = fit_counts(Regressors(places, patterns, 7), cases, cases + controls)
    assert found is not None
    beta, penalised = found
    assert penalised
    assert beta == pytest.approx([INTERCEPT, *LOGISTF.values()], abs=1e-6)


@pytest.mark.parametrize("side", ["age", "vis"])
def test_the_odds_ratio_of_a_decomposition_is_that_of_logistf(side):
    """Those of age and vis are each the group, the others the controls; most cells have both."""
    rows = pl.DataFrame(
        [
            {**dict(zip(COLUMNS, map(int, pattern), strict=True)), "case": case, "rows": n}
            for pattern, counts in CASES_AND_CONTROLS.items()
            for case, n in zip((1, 0), counts, strict=True)
        ]
    )
    (gap,) = fg.why(
        rows, label="case", positive=1, count="rows", sensitive=side, reference={side: 0},
        controls=[each for each in COLUMNS if each != side],
    ).gaps  # fmt: skip
    assert gap.adjusted[0].penalised
    assert np.log(gap.adjusted[0].odds_ratio) == pytest.approx(LOGISTF[side], abs=1e-6)


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
