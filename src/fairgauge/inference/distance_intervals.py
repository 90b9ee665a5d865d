"""Intervals of distances, which cannot be below 0, and what to expect of them under equality.

A distance of equal groups is above 0 in every sample, so limits around its value would miss 0
always. A divergence is inverted from its noncentral chi-square; a norm gets a ball.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod
from fairgauge.inference.contrast_intervals import few
from fairgauge.inference.draws import IN_STRATA, canonical_pair, generator, resampled
from fairgauge.inference.interval import Intervals, Methods
from fairgauge.stats.arrays import quotient
from fairgauge.stats.divergences import (
    bias_corrected,
    divergence_interval,
    expected_distance,
    norm_interval,
)
from fairgauge.stats.significance import homogeneity_table, newcombe_p, permutation_p

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.distributions import Distance
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.spec.specification import Spec

_TWO = 2
_MOST_SIMULATED = 4_000_000
_METHODS: dict[str, Methods] = {
    "divergence": (IntervalMethod.NONCENTRAL_CHI_SQUARE, IntervalMethod.DIRICHLET_POSTERIOR),
    "folded": (IntervalMethod.FOLDED, IntervalMethod.NEWCOMBE),
    "ball": (IntervalMethod.NORM_BALL, IntervalMethod.MULTINOMIAL_BOOTSTRAP),
}


def distance(metric: Distance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a distance of two distributions over categories."""
    norm = metric.by not in ("kl", "js")
    other = compared.other if norm else compared.reference
    a, d = _seen(_categories(metric, other), _categories(metric, compared.group))
    size, kinds = len(a), a.shape[1]
    closed = norm and kinds == _TWO
    at = np.arange(size) if closed else resampled(compared, 2 * kinds, spec)
    at = at[(a.sum(axis=1) > 0)[at] & (d.sum(axis=1) > 0)[at]]
    low, high, p, floor = (np.full(size, np.nan) for _ in range(4))
    simulated = norm and len(at) * kinds * spec.replicates > _MOST_SIMULATED
    for i in at.tolist():
        alone = _Alone(metric, a[i], d[i], spec)
        low[i], high[i] = alone.limits()
        p[i] = alone.p(exact=bool(compared.margin[i]))
        if compared.margin[i] or not simulated:
            floor[i] = alone.floor()
    methods = _METHODS["divergence" if not norm else "folded" if closed else "ball"]
    if norm and compared.rest is not None:
        apart = 1 - quotient(
            *(_categories(metric, e).sum(1) for e in (compared.group, compared.reference))
        )
        low, high, floor = low * apart, high * apart, floor * apart
    corrected = None
    if not norm:
        value = metric.value(compared.group.side, compared.reference.side, spec.profile)
        corrected = bias_corrected(value, floor)
    too_few = few(np.minimum(a.sum(axis=1), d.sum(axis=1)))
    return Intervals(low, high, p, [methods] * size, too_few, IN_STRATA, floor, corrected)


def _categories(metric: Distance, evidence: Evidence) -> Array:
    """Return rows in each category, as many as the weights are worth."""

    def rows(side: ConfusionCounts) -> Array:
        total: Array = side.classes[metric.of].sum(axis=1)
        return total

    return evidence.side.classes[metric.of] * evidence.worth(rows)[:, None]


def _seen(a: Array, d: Array) -> tuple[Array, Array]:
    """Drop the categories that no comparison has; two are left at least."""
    held = (a + d).sum(axis=0) > 0
    held[: max(0, _TWO - held.sum())] |= True
    return (a[:, held], d[:, held]) if held.sum() >= _TWO else (a, d)


class _Alone:
    """One comparison of two distributions; what it draws depends on its counts alone."""

    def __init__(self, metric: Distance, a: Array, d: Array, spec: Spec) -> None:
        self._metric, self._spec = metric, spec
        self._a, self._d = canonical_pair(a, d, symmetric=metric.by != "kl")
        self._rng = generator(spec, metric.name, self._a, self._d)

    def limits(self) -> tuple[float, float]:
        """Return the ends of the interval."""
        by, spec = self._metric.by, self._spec
        sides, level, draws = (self._a[None], self._d[None]), spec.confidence, spec.replicates
        if by == "kl" or by == "js":
            low, high = divergence_interval(*sides, by, level, self._rng, draws)
        else:
            low, high = norm_interval(*sides, by, level, self._rng, draws)
        return float(low[0]), float(high[0])

    def p(self, *, exact: bool) -> float:
        """Return the p-value of one distribution: Newcombe, permutation, or a chi-square."""
        a, d, norm = self._a, self._d, self._metric.by not in ("kl", "js")
        if len(a) == _TWO and norm:
            return float(newcombe_p(a[1], a.sum(), d[1], d.sum()))
        table = np.stack([a, d])
        if norm and exact and (table == np.floor(table)).all() and table.sum(axis=1).all():
            gap = _gap(self._metric)
            return float(permutation_p(table, gap, self._rng, self._spec.replicates))
        return float(homogeneity_table(table[None])[1][0])

    def floor(self) -> float:
        """Return the distance that sampling variation alone gives under no difference."""
        by, sides = self._metric.by, (self._a[None], self._d[None])
        if by == "kl" or by == "js":
            return float(expected_distance(*sides, by)[0])
        return float(expected_distance(*sides, by, self._rng, self._spec.replicates)[0])


def _gap(metric: Distance) -> Callable[[Array], Array]:
    def gap(table: Array) -> Array:
        shares = quotient(table, table.sum(axis=-1, keepdims=True))
        apart = np.abs(shares[..., 0, :] - shares[..., 1, :])
        if metric.by == "ks":
            return np.asarray(apart.max(axis=-1))
        return np.asarray((apart if metric.by == "tvd" else apart**2).sum(axis=-1))

    return gap
