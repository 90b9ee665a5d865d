"""The score interval of an area under the ROC curve, and sparse distances."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairgauge.stats.intervals import critical
from fairgauge.stats.scores import area_from_counts, area_score_interval, area_variance

Z = critical(0.95)
bins = arrays(np.int64, (2, 6), elements=st.integers(0, 12))


def test_the_variance_as_published():
    """Hanley & McNeil (1982): an area of .893 of 51 and 58 cases has a standard error of .032."""
    assert np.sqrt(area_variance(0.893, 51, 58)) == pytest.approx(0.032, abs=1e-3)
    assert area_variance(1.0, 20, 50) == 0
    assert area_variance(0.0, 20, 50) == pytest.approx(0)


@given(table=bins)
def test_area_and_variance_are_those_of_the_ranks(table):
    pos, neg = table
    if min(pos.sum(), neg.sum()) < 2:
        return
    found = area_from_counts(pos, neg)
    upper, lower = (np.repeat(np.arange(6.0), side) for side in (pos, neg))
    kernel = (upper[:, None] > lower) + 0.5 * (upper[:, None] == lower)
    variance = kernel.mean(1).var(ddof=1) / len(upper) + kernel.mean(0).var(ddof=1) / len(lower)
    assert found.area == pytest.approx(kernel.mean())
    assert sum(found.variances) == pytest.approx(variance, abs=1e-12)


def test_an_area_and_its_variance_as_published():
    """The area of scikit-learn, and DeLong's variance pair by pair, of scores without ties."""
    pos = [1.13, 0.87, 1.64, 1.1, 0.46, 1.36, 2.3, 1.95, 0.3, -0.27, 0.38, 1.04]
    neg = [-2.33, -0.22, -1.25, -0.73, -0.54, -0.32, 0.41, 1.04, -0.13, 1.37, -0.67, 0.35]
    neg += [0.9, 0.09, -0.74]
    _, at = np.unique([*pos, *neg], return_inverse=True)
    found = area_from_counts(*(np.bincount(part, minlength=27) for part in np.split(at, [12])))
    assert found.area == pytest.approx(0.8472222222222222)
    assert sum(found.variances) == pytest.approx(0.005563772647105981)


@example(table=np.array([[1, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]))  # one negative
@given(table=bins)
def test_an_interval_holds_its_area_and_mirrors(table):
    pos, neg = table
    if not pos.sum() or not neg.sum():
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        found = area_from_counts(pos, neg)
        low, high = area_score_interval(*found, Z)
        mirrored = area_score_interval(*area_from_counts(pos[::-1], neg[::-1]), Z)
    assert -1e-12 <= low <= found.area + 1e-9
    assert found.area - 1e-9 <= high <= 1
    np.testing.assert_allclose(mirrored, [1 - high, 1 - low], atol=1e-6)
