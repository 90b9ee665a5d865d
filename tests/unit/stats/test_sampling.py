"""Weighted and clustered rows: their decomposition holds its level, and is that of rows alike."""

import numpy as np

from fairgauge.stats.decomposition import decompose
from fairgauge.stats.regression import adjusted_effect
from fairgauge.stats.sampling import ClusterTotals, Sampling, SquaredWeights

STRATA = 6
Z = 1.959964


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
    parts = decompose(*sums, Z, sampling=sampling)
    return parts, adjusted_effect(*sums, [np.arange(STRATA)], Z, sampling=sampling)


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
    expected = decompose(*plain, Z)
    for scale in (1.0, 7.0):
        parts, _ = found(side, stratum, outcome, scale * weight, rows[4], clustered=False)
        for name in ("composition", "within", "within_group", "not_comparable"):
            one, other = getattr(parts, name), getattr(expected, name)
            assert np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)
