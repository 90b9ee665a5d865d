"""Quantiles of two samples: limits by ranks, their coverage, and p-values that invert them."""

import numpy as np
import pytest

from fairgauge.stats.row_statistics import compared_quantiles, quantile_limits

Z = 1.959963984540054


@pytest.mark.parametrize(
    ("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (25, (8, 18)), (100, (40, 61))]
)
def test_ranks_of_the_median_are_those_of_the_tables(n, ranks):
    """Conover (1999), Practical Nonparametric Statistics: binomial ranks at 95%."""
    assert quantile_limits(np.arange(1.0, n + 1), 0.5, Z) == ranks


@pytest.mark.parametrize("ratio", [False, True])
def test_p_values_invert_the_interval_and_sides_mirror(ratio):
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.1, 0.3):
        ours, theirs = rng.lognormal(shift, 0.5, 120), rng.lognormal(0, 0.5, 80)
        for level in (0.8, 0.95, 0.999):
            found = compared_quantiles(ours, theirs, 0.5, level, ratio=ratio)
            other = compared_quantiles(theirs, ours, 0.5, level, ratio=ratio)
            none = 1 if ratio else 0
            assert (found.p < 1 - level) == (not found.low <= none <= found.high)
            mirrored = (1 / other.high, 1 / other.low) if ratio else (-other.high, -other.low)
            assert (found.low, found.high) == pytest.approx(mirrored)
            assert found.p == pytest.approx(other.p)
