"""Distances: intervals of numbers that cannot fall below 0, and what chance alone would show.

A distance of equal groups is above 0 in every sample, so limits around its value would miss 0
always. A divergence is inverted from its noncentral chi-square; a norm gets a ball.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.inference.contrast_intervals import few
from fairgauge.inference.draws import IN_STRATA, generator, resampled
from fairgauge.inference.interval import Interval, by_chance
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

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import Side
    from fairgauge.catalogue.distributions import Distance
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.spec.specification import Spec

_TWO = 2
_MOST_SIMULATED = 4_000_000


def distance(metric: Distance, compared: Comparisons, spec: Spec) -> Interval:
    """Return the interval of a distance of two distributions over categories."""
    norm = metric.by not in ("kl", "js")
    other = compared.other if norm else compared.reference
    a, d = _seen(_categories(metric, other), _categories(metric, compared.group))
    size, kinds = len(a), a.shape[1]
    closed = norm and kinds == _TWO
    at = np.arange(size) if closed else resampled(compared, 2 * kinds, spec)
    at = at[(a.sum(axis=1) > 0)[at] & (d.sum(axis=1) > 0)[at]]
    rng = generator(spec, compared.key)
    low, high, p, floor = (np.full(size, np.nan) for _ in range(4))
    confidence, draws = spec.confidence, spec.replicates
    if metric.by == "kl" or metric.by == "js":
        low[at], high[at] = divergence_interval(a[at], d[at], metric.by, confidence, rng, draws)
        floor[at] = expected_distance(a[at], d[at], metric.by)
        method = "noncentral chi-square, dirichlet posterior"
    else:
        low[at], high[at] = norm_interval(a[at], d[at], metric.by, confidence, rng, draws)
        shown = at if len(at) * kinds * draws <= _MOST_SIMULATED else at[compared.margin[at]]
        floor[shown] = expected_distance(a[shown], d[shown], metric.by, rng, draws)
        method = "newcombe, folded" if closed else "norm-ball bootstrap"
    p[at] = _p(a[at], d[at], compared.margin[at], metric, rng, draws)
    if norm and compared.rest is not None:
        apart = 1 - quotient(
            *(_categories(metric, e).sum(1) for e in (compared.group, compared.reference))
        )
        low, high, floor = low * apart, high * apart, floor * apart
    notes = [by_chance(each) for each in floor.tolist()]
    if not norm:
        value = metric.value(compared.group.side, compared.reference.side, spec.profile)
        without = bias_corrected(value, floor).tolist()
        notes = [f"{note}{_without(each)}" for note, each in zip(notes, without, strict=True)]
    too_few = few(np.minimum(a.sum(axis=1), d.sum(axis=1)))
    return Interval(low, high, p, [method] * size, too_few, IN_STRATA, notes)


def _categories(metric: Distance, evidence: Evidence) -> Array:
    """Return rows in each category, as many as the weights are worth."""

    def rows(side: Side) -> Array:
        total: Array = side.classes[metric.of].sum(axis=1)
        return total

    return evidence.side.classes[metric.of] * evidence.worth(rows)[:, None]


def _seen(a: Array, d: Array) -> tuple[Array, Array]:
    """Drop the categories that no comparison has; two are left at least."""
    held = (a + d).sum(axis=0) > 0
    held[: max(0, _TWO - held.sum())] |= True
    return (a[:, held], d[:, held]) if held.sum() >= _TWO else (a, d)


def _p(
    a: Array,
    d: Array,
    margin: NDArray[np.bool_],
    metric: Distance,
    rng: np.random.Generator,
    draws: int,
) -> Array:
    """Test that both distributions are one: Newcombe, permutation, or a chi-square."""
    if a.shape[1] == _TWO and metric.by not in ("kl", "js"):
        return newcombe_p(a[:, 1], a.sum(axis=1), d[:, 1], d.sum(axis=1))
    table = np.stack([a, d], axis=1)
    p = np.array(homogeneity_table(table)[1])
    whole = (table == np.floor(table)).all(axis=(1, 2)) & (table.sum(axis=2) > 0).all(axis=1)
    if metric.by not in ("kl", "js"):
        for i in np.flatnonzero(margin & whole):
            p[i] = permutation_p(table[i], _gap(metric), rng, draws)
    return p


def _gap(metric: Distance) -> Callable[[Array], Array]:
    def gap(table: Array) -> Array:
        shares = quotient(table, table.sum(axis=-1, keepdims=True))
        apart = np.abs(shares[..., 0, :] - shares[..., 1, :])
        if metric.by == "ks":
            return np.asarray(apart.max(axis=-1))
        return np.asarray((apart if metric.by == "tvd" else apart**2).sum(axis=-1))

    return gap


def _without(corrected: float) -> str:
    """Say the value with what chance alone would give taken off; nothing where it is infinite."""
    return f", and about {corrected:.2g} is left without it" if np.isfinite(corrected) else ""
