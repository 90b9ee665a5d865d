"""Planning an audit: the table of the documentation, and deciding what is inconclusive."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.power import (
    design_effect,
    detectable_difference,
    factor_to_decide,
    n_to_decide,
    n_to_detect,
    n_to_pass_difference,
    n_to_pass_ratio,
)

Z = critical(0.95)
RATES = np.array([0.05, 0.1, 0.3, 0.5])


def test_rows_to_pass():
    assert np.ceil(n_to_pass_ratio(RATES)).tolist() == [5990, 2838, 736, 316]
    needed = n_to_pass_difference(RATES[:, None], [0.02, 0.05, 0.10])
    table = [[2496, 400, 100], [4729, 757, 190], [11033, 1766, 442], [13135, 2102, 526]]
    np.testing.assert_allclose(np.ceil(needed), table, atol=1)


def test_rows_to_detect():
    needed = n_to_detect(RATES[:, None], RATES[:, None] + [0.02, 0.05, 0.10])
    table = [[2210, 432, 138], [3839, 683, 197], [8391, 1374, 354], [9804, 1562, 385]]
    np.testing.assert_allclose(np.ceil(needed), table, atol=3)
    assert n_to_detect(0.3, 0.3) == np.inf


def test_unequal_groups():
    assert n_to_pass_difference(0.3, 0.05, allocation=0.25) == pytest.approx(
        n_to_pass_difference(0.3, 0.05) * 1.25 / 2
    )
    n2 = n_to_detect(0.3, 0.2, allocation=0.5)
    gap = detectable_difference(0.3, n2 / 0.5, 0.2, n2)
    assert gap == pytest.approx(0.1)


def test_edges():
    assert detectable_difference(0.3, 0, 0.2, 10) == np.inf
    assert n_to_pass_difference(0.3, 0) == np.inf
    assert n_to_pass_ratio(0) == np.inf
    assert n_to_pass_ratio(0.3, 1) == np.inf
    with pytest.raises(ValueError, match=r"power must lie inside \(0, 1\); found 80"):
        n_to_detect(0.3, 0.2, power=80)


def test_design_effect():
    np.testing.assert_allclose(design_effect([1, 11], 0.3), [1, 4])


@pytest.mark.parametrize(
    ("comparison", "limits", "table", "bounds"),
    [
        ("difference", newcombe, (60, 200, 59, 200), (-0.05, 0.05)),
        ("difference", newcombe, (70, 200, 56, 200), (-0.05, 0.05)),
        ("ratio", mover_wilson_ratio, (35, 200, 50, 200), (0.8, np.inf)),
        ("ratio", mover_wilson_ratio, (48, 200, 50, 200), (0.8, 1.25)),
    ],
)
def test_rows_that_decide(comparison, limits, table, bounds):
    """One row fewer and it stays inconclusive; that many and it is decided."""
    rows = n_to_decide(*table, *bounds, comparison=comparison)
    size = table[1] + table[3]
    assert rows > size

    def decided(total):
        low, high = limits(*(np.array(table) * total / size), Z)
        lower, upper = bounds
        return (low >= lower and high <= upper) or low > upper or high < lower

    assert decided(rows)
    assert not decided(rows - 1)


def test_rows_that_decide_at_the_edges():
    rows = n_to_decide(
        [600, 700, 60, 0, 55],
        [2000, 2000, 100, 0, 100],
        [590, 500, 55, 3, 50],
        [2000, 2000, 100, 9, 100],
        -0.05,
        0.05,
    )
    assert rows[0] == 4000  # decided already
    assert rows[1] == 4000
    assert np.isnan(rows[3])
    assert rows[4] > 1e9  # the estimate on the bound, up to rounding


def test_an_estimate_on_the_bound_is_never_decided():
    assert factor_to_decide(lambda k: (0.5 - 1 / k, 0.5 + 1 / k), 0.5, 1) == np.inf
    assert np.isnan(factor_to_decide(lambda k: (np.nan * k, np.nan * k), 0, 1))
