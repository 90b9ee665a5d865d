"""Areas under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats.intervals import critical
from fairgauge.stats.scores import auc, auc_from_counts, auc_interval

Z = critical(0.95)


def brute(pos, neg):
    """Structural components, pair by pair."""
    pos, neg = np.asarray(pos, float), np.asarray(neg, float)
    kernel = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
    var = kernel.mean(1).var(ddof=1) / len(pos) + kernel.mean(0).var(ddof=1) / len(neg)
    return kernel.mean(), var


def test_delong_pair_by_pair():
    rng = np.random.default_rng(0)
    pos, neg = rng.integers(0, 12, 40) + 3, rng.integers(0, 12, 60)  # with ties
    found = auc(pos, neg)
    assert (found.auc, found.var) == (
        pytest.approx(brute(pos, neg)[0]),
        pytest.approx(brute(pos, neg)[1]),
    )
    assert (found.positives, found.negatives) == (40, 60)


def test_bins_are_ties():
    pos_hist, neg_hist = np.array([[1, 4, 9], [2, 2, 2]]), np.array([[8, 3, 1], [2, 2, 2]])
    found = auc_from_counts(pos_hist, neg_hist)
    for k in range(2):
        scores = np.repeat([1, 2, 3], pos_hist[k]), np.repeat([1, 2, 3], neg_hist[k])
        assert (found.auc[k], found.var[k]) == (
            pytest.approx(brute(*scores)[0]),
            pytest.approx(brute(*scores)[1]),
        )
    assert found.auc[1] == 0.5


def test_logit_limits():
    pos = [1.13, 0.87, 1.64, 1.1, 0.46, 1.36, 2.3, 1.95, 0.3, -0.27, 0.38, 1.04]
    neg = [-2.33, -0.22, -1.25, -0.73, -0.54, -0.32, 0.41, 1.04, -0.13, 1.37, -0.67, 0.35]
    neg += [0.9, 0.09, -0.74]
    np.testing.assert_allclose(auc_interval(auc(pos, neg), Z), (0.64187, 0.94493), atol=1e-5)


def test_perfect_separation_is_still_uncertain():
    upper, lower = np.arange(40) + 100, np.arange(20)
    low, high = auc_interval(auc(upper, lower), Z)
    assert 0.5 < low < 0.99
    assert high == 1
    mirrored = auc_interval(auc(lower, upper), Z)
    np.testing.assert_allclose(mirrored, (0, 1 - low), atol=1e-12)


def test_a_score_that_says_nothing():
    low, high = auc_interval(auc([1] * 10, [1] * 20), Z)
    assert low == pytest.approx(1 - high)
    assert low < 0.35


def test_empty_and_tiny_classes():
    empty = auc([], [1, 2])
    assert np.isnan(empty.auc)
    assert auc_interval(empty, Z) == (0, 1)
    single = auc([1.5], [1, 2, 3])
    assert single.auc == pytest.approx(1 / 3)
    assert np.isnan(single.var)
    low, high = auc_interval(single, Z)
    assert 0 < low < 1 / 3 < high < 1


def test_the_limits_close_at_zero():
    area = auc([2, 3, 4, 5], [0, 1])
    assert auc_interval(area, 0) == (1, 1)
