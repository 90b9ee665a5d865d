"""Planning an audit: the table of the documentation, and deciding what is inconclusive."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats.power import (
    design_effect,
    detectable_difference,
    n_to_detect,
    n_to_pass_difference,
    n_to_pass_ratio,
)

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
