"""Correlated sides, the jackknife over blocks, and the assignment of clusters to blocks."""

import numpy as np
import pytest

from fairgauge.stats import contrasts, sampling

# correlated sides


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    e = rng.uniform(0.05, 0.95, (2, 2_000))
    low, high = e * rng.uniform(0.1, 0.99, e.shape), e + (1 - e) * rng.uniform(0.01, 0.9, e.shape)
    return e[0], low[0], high[0], e[1], low[1], high[1]


@pytest.mark.parametrize("r", [-1.0, -0.6, 0.0, 0.3, 0.95, 1.0])
def test_limits_of_a_difference_are_those_of_zou(sides, r):
    e1, low1, high1, e2, low2, high2 = sides
    low, high = contrasts.mover_difference(*sides, **({"correlation": r} if r else {}))
    a, b = e1 - low1, high2 - e2
    assert low == pytest.approx(e1 - e2 - np.sqrt(np.maximum(a**2 + b**2 - 2 * r * a * b, 0)))
    a, b = high1 - e1, e2 - low2
    assert high == pytest.approx(e1 - e2 + np.sqrt(np.maximum(a**2 + b**2 - 2 * r * a * b, 0)))


@pytest.mark.parametrize("r", [-1.0, -0.6, 0.3, 0.95])
def test_a_ratio_is_where_the_limit_of_the_difference_is_0(sides, r):
    """The limits of ``e1 - R e2``, at the limit of the ratio put for R, touch 0."""
    e1, low1, high1, e2, low2, high2 = sides
    for at, which in zip(contrasts.mover_ratio(*sides, correlation=r), (0, 1), strict=True):
        scaled = contrasts.mover_difference(
            e1, low1, high1, at * e2, at * low2, at * high2, correlation=r
        )
        assert scaled[which] == pytest.approx(0, abs=1e-7 * (1 + at.max()))
    low, high = contrasts.mover_ratio(*sides, correlation=r)
    assert (low <= e1 / e2 + 1e-9).all()
    assert (e1 / e2 <= high + 1e-9).all()


# jackknife


def test_the_variance_of_a_mean_is_the_usual_one():
    rows = np.random.default_rng(1).normal(size=25)
    means = np.array([rows.mean(), *((rows.sum() - rows) / 24)])
    assert (sampling.deviations(means) ** 2).sum() == pytest.approx(rows.var(ddof=1) / 25)
