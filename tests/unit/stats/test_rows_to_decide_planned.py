"""Planning an audit: what a table can show, and what clusters cost."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats.rows_to_decide import detectable_difference


def test_the_smallest_difference_is_that_of_the_normal_formula():
    gap = (1.959964 + 0.841621) * np.sqrt(0.3 * 0.7 / 290.41 + 0.2 * 0.8 / 290.41)
    assert detectable_difference(0.3, 290.41, 0.2, 290.41) == pytest.approx(gap, rel=1e-6)


def test_edges():
    assert detectable_difference(0.3, 0, 0.2, 10) == np.inf
    with pytest.raises(ValueError, match=r"power must lie inside \(0, 1\); found 80"):
        detectable_difference(0.3, 100, 0.2, 100, power=80)
