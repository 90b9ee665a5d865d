"""Weighted rows: their decomposition holds its level, and is that of rows alike."""

import numpy as np

from fairgauge.stats.decomposition import decompose
from fairgauge.stats.regression import adjusted_effect
from fairgauge.stats.sampling import SquaredWeights

STRATA = 6
Z = 1.959964


def drawn(rng, rows, *, weights):
    """Return side, stratum, outcome and weight; weights are larger of favourable outcomes."""
    side = rng.random(rows) < 0.4
    at = 2.5 + np.where(side, 0.5, -0.5) + rng.normal(0, 1.3, rows)
    stratum = np.clip(np.round(at), 0, STRATA - 1).astype(int)
    outcome = rng.random(rows) < 1 / (1 + np.exp(1 - 0.35 * stratum + 0.4 * side))
    heavy = rng.random(rows) < np.where(outcome, 0.7, 0.3)
    return side, stratum, outcome, np.where(heavy & weights, 3.0, 1.0)


def found(side, stratum, outcome, weight):
    """Return the parts, and the regression."""
    sums, squared = [], []
    for at in (side, ~side):
        of = [np.bincount(stratum[at], each[at], STRATA)
              for each in (weight * outcome, weight, weight**2, weight**2 * outcome)]  # fmt: skip
        sums += [of[0], of[1]]
        squared.append(SquaredWeights(of[2], of[3], of[3]))
    parts = decompose(*sums, Z, weighted=tuple(squared))
    return parts, adjusted_effect(*sums, [np.arange(STRATA)], Z, weighted=tuple(squared))


def test_intervals_hold_their_level():
    rng, tables = np.random.default_rng(5), 60
    truth, of_truth = found(*drawn(rng, 600_000, weights=True))
    held = np.zeros(4)
    for _ in range(tables):
        parts, effect = found(*drawn(rng, 1_000, weights=True))
        pairs = [(part, getattr(truth, name).value) for name, part in parts._asdict().items()
                 if name in {"composition", "within_group", "within_reference"}]  # fmt: skip
        held += [*(part.low <= value <= part.high for part, value in pairs),
                 effect.low <= of_truth.difference <= effect.high]  # fmt: skip
    assert (held / tables >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / tables)).all()


def test_rows_alike_are_as_without_weights():
    side, stratum, outcome, weight = drawn(np.random.default_rng(2), 900, weights=False)
    plain = [
        np.bincount(stratum[at], each[at], STRATA).astype(float)
        for at in (side, ~side)
        for each in (outcome.astype(float), weight)
    ]
    expected = decompose(*plain, Z)
    for scale in (1.0, 7.0):
        parts, _ = found(side, stratum, outcome, scale * weight)
        for name in ("composition", "within", "within_group", "not_comparable"):
            one, other = getattr(parts, name), getattr(expected, name)
            assert np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)
