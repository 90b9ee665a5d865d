"""Outlying strata against numbers that R's packages publish.

Facts only: counts, and the numbers that metafor's own tests state for them.
"""

import numpy as np
import pytest

from fairgauge.stats.stratified import heterogeneity_of_means

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
