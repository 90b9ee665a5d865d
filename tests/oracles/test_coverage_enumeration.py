"""Exact properties of the default intervals: every table enumerated, nothing simulated.

The grid and its numbers are those of the coverage page of the documentation: 48 scenarios,
n_d in 20, 50, 200, 2000; n_a = n_d or 4 n_d; p_a in .02, .1, .5; p_d = p_a or 0.6 p_a.
"""

from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import newcombe_p

Z = critical(0.95)
GRID = [
    (n_d, n_d * k, p_a, p_a * share)
    for n_d, k, p_a, share in product((20, 50, 200, 2000), (1, 4), (0.02, 0.1, 0.5), (1, 0.6))
]


@lru_cache(maxsize=256)
def support(n, p):
    """Outcomes and their probabilities; what is left out weighs less than 1e-11."""
    from scipy.stats import binom

    x = np.arange(n + 1)
    chance = binom.pmf(x, n, p)
    kept = chance > 1e-14
    return x[kept], chance[kept]


def tables(n1, p1, n2, p2):
    (x1, chance1), (x2, chance2) = support(n1, p1), support(n2, p2)
    return x1[:, None], x2, chance1[:, None] * chance2


def misses(limits, truth, n_d, n_a, p_a, p_d):
    """Probability that the limits lie wholly below, and wholly above, the true value."""
    x_d, x_a, chance = tables(n_d, p_d, n_a, p_a)
    low, high = limits(x_d, n_d, x_a, n_a, Z)
    return chance[high < truth - 1e-12].sum(), chance[low > truth + 1e-12].sum()


@lru_cache(maxsize=2)
def measured(kind):
    rows = []
    for n_d, n_a, p_a, p_d in GRID:
        limits, truth = {
            "difference": (newcombe, p_d - p_a),
            "ratio": (mover_wilson_ratio, p_d / p_a),
        }[kind]
        below, above = misses(limits, truth, n_d, n_a, p_a, p_d)
        expected = min(n * q for n, p in ((n_d, p_d), (n_a, p_a)) for q in (p, 1 - p))
        rows.append((100 * (1 - below - above), 100 * max(below, above), expected >= 5 - 1e-9))
    coverage, tail, enough = (np.array(column) for column in zip(*rows, strict=True))
    return coverage, tail, enough.astype(bool)


@pytest.mark.parametrize(
    ("kind", "mean", "lowest", "highest", "band", "tail"),
    [("difference", 96.0, 94.3, 99.9, 75, 3.9), ("ratio", 95.9, 94.3, 99.9, 79, 5.7)],
)
def test_published_grid(kind, mean, lowest, highest, band, tail):
    coverage, worst_tail, enough = measured(kind)
    inside = (coverage >= 93.5) & (coverage <= 96.5)
    assert len(coverage) == 48
    assert coverage.mean() == pytest.approx(mean, abs=0.06)
    assert coverage.min() == pytest.approx(lowest, abs=0.06)
    assert coverage.max() == pytest.approx(highest, abs=0.1)
    assert (coverage >= 93.5).all()
    assert 100 * inside.mean() == pytest.approx(band, abs=0.5)
    assert worst_tail.max() == pytest.approx(tail, abs=0.06)
    assert enough.sum() == 30
    assert inside[enough].all()


def size(n1, n2, p):
    x1, x2, chance = tables(n1, p, n2, p)
    return 100 * chance[newcombe_p(x1, n1, x2, n2) < 0.05].sum()


@pytest.mark.parametrize(
    ("n1", "n2", "largest", "mean"),
    [(20, 20, 5.3, 3.7), (50, 50, 5.7, 4.4), (80, 20, 5.1, 4.4), (200, 50, 5.4, 4.8)],
)
def test_size_of_the_default_test(n1, n2, largest, mean):
    sizes = [size(n1, n2, p) for p in np.arange(0.01, 0.505, 0.01)]
    assert max(sizes) == pytest.approx(largest, abs=0.06)
    assert np.mean(sizes) == pytest.approx(mean, abs=0.06)


def test_power_of_the_default_test():
    x1, x2, chance = tables(50, 0.5, 50, 0.3)
    assert chance[newcombe_p(x1, 50, x2, 50) < 0.05].sum() == pytest.approx(0.55, abs=0.006)


def verdicts(limits, lower, upper, n, p1, p2):
    x1, x2, chance = tables(n, p1, n, p2)
    low, high = limits(x1, n, x2, n, Z)
    passed = (low >= lower) & (high <= upper)
    failed = (low > upper) | (high < lower)
    return 100 * chance[passed].sum(), 100 * chance[failed].sum()


def test_verdict_at_the_margin_of_a_difference():
    """The truth on the bound: neither verdict may come up more often than the level promises."""
    found = np.array(
        [
            verdicts(newcombe, -tau, tau, n, p + tau, p)
            for tau, n, p in product((0.05, 0.1), (50, 200, 1000, 2000), (0.05, 0.1, 0.3, 0.5))
        ]
    )
    assert found[:, 0].max() <= 3.15  # false pass
    assert found[:, 1].max() <= 2.95  # false fail


def test_verdict_at_the_four_fifths_margin():
    found = np.array(
        [
            verdicts(mover_wilson_ratio, 0.8, np.inf, n, 0.8 * p, p)
            for n, p in product((50, 200, 1000, 2000), (0.1, 0.3, 0.5))
        ]
    )
    assert found[:, 0].max() <= 3.45
    assert found[:, 1].max() <= 2.55


@pytest.mark.parametrize(("n", "p", "flagged"), [(50, 0.1, 34), (200, 0.1, 23), (200, 0.3, 7)])
def test_a_bare_four_fifths_rule_flags_equal_groups(n, p, flagged):
    """Why a verdict needs an interval: the point rule's false alarms.

    Compared as whole numbers: 4 of 50 against 5 of 50 is exactly four fifths and not below, where
    the division of two floats would flag it (and show 38 % instead of 34 %).
    """
    x1, x2, chance = tables(n, p, n, p)
    assert 100 * chance[5 * x1 < 4 * x2].sum() == pytest.approx(flagged, abs=0.6)
