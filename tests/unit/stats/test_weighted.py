"""Weighted shares and means: no unit, no weights as weights of 1, influences by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.decomposition import decompose
from fairgauge.stats.intervals import (
    MeanMoments,
    PowerSums,
    critical,
    effective_share,
    mean_limits,
    mean_moments,
)
from fairgauge.stats.regression import adjusted_effect
from fairgauge.stats.sampling import ClusterTotals, Sampling, SquaredWeights

Z = critical(0.95)


def power_sums(weights, values):
    return [PowerSums(*((weights**p * values**k).sum(-1) for k in range(4))) for p in (1, 2, 3)]


def limits_of(sums, *, skewed=False):
    moments = mean_moments(*sums)
    moments = moments if skewed else moments._replace(third=0.0)
    return moments.mean, *mean_limits(moments, Z)


rows = st.lists(st.tuples(st.floats(0.1, 10), st.booleans()), min_size=2, max_size=40).map(
    lambda r: (np.array([w for w, _ in r]), np.array([y for _, y in r]))
)


def sums_of(weights, inside):
    return [
        tuple(np.where(part, weights**power, 0.0).sum() for part in (inside, ~inside))
        for power in (1, 2, 0)
    ]


@given(x=st.integers(0, 50), more=st.integers(0, 50), unit=st.sampled_from([1e-3, 1.0, 250.0]))
def test_equal_weights_are_no_weights(x, more, unit):
    if not x + more:
        return
    sums = (x * unit, more * unit), (x * unit**2, more * unit**2), (x, more)
    found = effective_share(*sums)
    assert found.n == pytest.approx(x + more, rel=1e-9)
    assert found.degrees == np.inf


@given(table=rows)
def test_the_rows_are_those_of_the_linearised_variance_or_between_it_and_kish(table):
    weights, inside = table
    if not 0 < inside.sum() < len(inside):
        return
    share = weights @ inside / weights.sum()
    variance = ((weights * (inside - share)) ** 2).sum() / weights.sum() ** 2
    linearised, kish = share * (1 - share) / variance, weights.sum() ** 2 / (weights @ weights)
    found = effective_share(*sums_of(weights, inside))
    expected = linearised if linearised < kish else np.sqrt(linearised * kish)
    assert found.n == pytest.approx(expected, rel=1e-9)
    assert found.degrees >= 1


def test_a_share_of_0_or_1_and_none_at_all():
    found = effective_share((0.0, 6.0), (0.0, 12.0), (0, 4))
    assert found.n == pytest.approx(3)
    assert found.degrees == np.inf
    assert effective_share((6.0, 0.0), (12.0, 0.0), (4, 0)).n == pytest.approx(3)
    assert effective_share((0.0, 0.0), (0.0, 0.0), (0, 0)).n == 0


def test_the_variance_is_that_of_the_influences():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=30), rng.exponential(size=30)
    mean, low, high = limits_of(power_sums(weights, values))
    moved = weights * (values - mean) / weights.sum()
    kish = weights.sum() ** 2 / (weights @ weights)
    from scipy.stats import t

    half = t.ppf(0.975, kish - 1) * np.sqrt((moved**2).sum() * kish / (kish - 1))
    np.testing.assert_allclose([low, high], [mean - half, mean + half], rtol=1e-9)
    three, scaled = (
        limits_of(sums, skewed=True)
        for sums in (power_sums(weights, values), power_sums(weights * 1e-3, values))
    )
    np.testing.assert_allclose(three, scaled, rtol=1e-6)
    assert three[1] <= low
    assert three[2] >= high


@given(
    variance=st.floats(0.01, 4), third=st.floats(-2, 2), degrees=st.floats(3, 500),
    z=st.floats(1, 3),
)  # fmt: skip
def test_the_raised_end_solves_its_equation(variance, third, degrees, z):
    """(mean - end)^2 = t^2 (variance + third / variance (end - mean)) where the tail is."""
    from scipy.stats import norm, t

    low, high = mean_limits(MeanMoments(5.0, variance, third, degrees + 1), z)
    value = t.ppf(norm.cdf(z), degrees)
    for end, towards in ((high, max(third, 0)), (low, min(third, 0))):
        away = float(end) - 5.0
        right = value**2 * (variance + towards / variance * away)
        assert away**2 == pytest.approx(right, rel=1e-6)
    mirrored = mean_limits(MeanMoments(-5.0, variance, -third, degrees + 1), z)
    np.testing.assert_allclose([-mirrored[1], -mirrored[0]], [low, high], rtol=1e-9)


# ---- weighted and clustered rows: their decomposition holds its level, and is that of rows alike
STRATA = 6
Z_SAMPLING = 1.959964


def drawn(rng, clusters, rows, spread, *, weights):
    """Return side, stratum, outcome, weight and cluster of rows whose clusters are alike.

    Clusters are of one side each; weights are larger where the outcome is favourable.
    """
    effect, place = rng.normal(0, spread, (2, clusters))
    cluster = np.repeat(np.arange(clusters), np.maximum(rng.poisson(rows, clusters), 1))
    side = (rng.random(clusters) < 0.4)[cluster]
    at = 2.5 + np.where(side, 0.5, -0.5) + place[cluster] + rng.normal(0, 1.3, len(cluster))
    stratum = np.clip(np.round(at), 0, STRATA - 1).astype(int)
    logit = -1 + 0.35 * stratum - 0.4 * side + effect[cluster]
    outcome = rng.random(len(cluster)) < 1 / (1 + np.exp(-logit))
    heavy = rng.random(len(cluster)) < np.where(outcome, 0.7, 0.3)
    return side, stratum, outcome, np.where(heavy & weights, 3.0, 1.0), cluster


def found(side, stratum, outcome, weight, cluster, *, clustered):
    """Return the parts, and the regression."""
    sums, squared = [], []
    for at in (side, ~side):
        of = [np.bincount(stratum[at], each[at], STRATA)
              for each in (weight * outcome, weight, weight**2, weight**2 * outcome)]  # fmt: skip
        sums += [of[0], of[1]]
        squared.append(SquaredWeights(of[2], of[3], of[3]))
    key, inverse = np.unique((cluster * 2 + ~side) * STRATA + stratum, return_inverse=True)
    totals = ClusterTotals(
        key // (2 * STRATA), key // STRATA % 2, key % STRATA,
        np.bincount(inverse, weight), np.bincount(inverse, weight * outcome),
    )  # fmt: skip
    sampling = Sampling(squared[0], squared[1], totals if clustered else None)
    parts = decompose(*sums, Z_SAMPLING, sampling=sampling)
    return parts, adjusted_effect(*sums, [np.arange(STRATA)], Z_SAMPLING, sampling=sampling)


def test_intervals_hold_their_level():
    """Of 60 clusters of 40 weighted rows; without regard to clusters less than half of them do."""
    rng, tables = np.random.default_rng(5), 60
    truth, of_truth = found(*drawn(rng, 60_000, 10, 0.6, weights=True), clustered=False)
    held = np.zeros(4)
    for _ in range(tables):
        parts, effect = found(*drawn(rng, 60, 40, 0.6, weights=True), clustered=True)
        pairs = [(part, getattr(truth, name).value) for name, part in parts._asdict().items()
                 if name in {"composition", "within_group", "within_reference"}]  # fmt: skip
        held += [*(part.low <= value <= part.high for part, value in pairs),
                 effect.low <= of_truth.difference <= effect.high]  # fmt: skip
    assert (held / tables >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / tables)).all()


def test_rows_alike_are_as_without_weights():
    rng = np.random.default_rng(2)
    rows = drawn(rng, 900, 1, 0.3, weights=False)
    side, stratum, outcome, weight, _ = rows
    plain = [
        np.bincount(stratum[at], each[at], STRATA).astype(float)
        for at in (side, ~side)
        for each in (outcome.astype(float), weight)
    ]
    expected = decompose(*plain, Z_SAMPLING)
    for scale in (1.0, 7.0):
        parts, _ = found(side, stratum, outcome, scale * weight, rows[4], clustered=False)
        for name in ("composition", "within", "within_group", "not_comparable"):
            one, other = getattr(parts, name), getattr(expected, name)
            assert np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)
