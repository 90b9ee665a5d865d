"""Intervals of distances between distributions: of classes and of scores.

A distance of equal groups is above 0 in every sample, so an interval around its value would always
exclude 0. A divergence is inverted from its noncentral chi-square; a norm gets a ball. The
sampling variation of a distance of scores hardly depends on how fine the bins are, so it is drawn
over cells of equal mass; the distance itself is of the fine bins.
"""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.distributions import CrossAuc, Distance, ScoreDistance
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.compared_counts import (
    Comparisons,
    Evidence,
    canonical_pair,
    generator,
    precedes,
)
from fairgauge.inference.interval import Intervals, Methods, insufficient_rows
from fairgauge.inference.one.drawn_tables import TOO_MANY_STRATA
from fairgauge.inference.two.resampled_intervals import resampled_comparisons
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason
from fairgauge.stats.arrays import Index, quotient
from fairgauge.stats.cumulative import cumulative_errors, cumulative_test
from fairgauge.stats.divergences import (
    bias_corrected,
    divergence_interval,
    expected_distance,
    norm_interval,
)
from fairgauge.stats.intervals import critical
from fairgauge.stats.norm_ball import ball
from fairgauge.stats.scores import area_from_counts, area_score_interval, curve_errors, null_areas

_TWO = 2
_MOST_SIMULATED = 4_000_000
_METHODS: dict[str, Methods] = {
    "divergence": (IntervalMethod.CHI_SQUARE, IntervalMethod.JEFFREYS),
    "folded": (IntervalMethod.BALL, IntervalMethod.NEWCOMBE),
    "ball": (IntervalMethod.BALL, IntervalMethod.BOOTSTRAP),
}


def distance_interval(metric: Distance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a distance of two distributions over categories."""
    norm = metric.by not in ("kl", "js")
    other = compared.other if norm else compared.reference
    a, d = _observed_categories(_categories(metric, other), _categories(metric, compared.group))
    size, kinds = len(a), a.shape[1]
    closed = norm and kinds == _TWO
    at = np.arange(size) if closed else resampled_comparisons(compared, 2 * kinds, spec)
    at = at[(a.sum(axis=1) > 0)[at] & (d.sum(axis=1) > 0)[at]]
    low, high, p, floor = (np.full(size, np.nan) for _ in range(4))
    simulated = norm and len(at) * kinds * spec.replicates > _MOST_SIMULATED
    pairs = [_DistanceInterval(metric, a[i], d[i], spec) for i in at.tolist()]
    if closed and pairs:  # nothing is drawn, so all are made at once
        low[at], high[at], p[at] = _folded(metric, pairs, spec)
    for i, alone in zip(at.tolist(), pairs, strict=True):
        if not closed:
            low[i], high[i], p[i] = alone.limits()
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
    too_few = insufficient_rows((d.sum(axis=1), a.sum(axis=1)))
    return Intervals(low, high, p, [methods] * size, too_few, TOO_MANY_STRATA, floor, corrected)


def _categories(metric: Distance, evidence: Evidence) -> Array:
    return evidence.effective(lambda side: side.classes[metric.of])


def _observed_categories(a: Array, d: Array) -> tuple[Array, Array]:
    """Drop the categories that no comparison has; two are left at least."""
    held = (a + d).sum(axis=0) > 0
    held[: max(0, _TWO - held.sum())] |= True
    return (a[:, held], d[:, held]) if held.sum() >= _TWO else (a, d)


def _folded(
    metric: Distance, pairs: list[_DistanceInterval], spec: Spec
) -> tuple[Array, Array, Array]:
    assert metric.by != "kl"
    assert metric.by != "js"
    one, two = (np.stack(sides) for sides in zip(*(pair.sides for pair in pairs), strict=True))
    return norm_interval(one, two, metric.by, spec.confidence, generator(spec, metric.name))


class _DistanceInterval:
    """One comparison of two distributions; what it draws depends on its counts alone."""

    def __init__(self, metric: Distance, a: Array, d: Array, spec: Spec) -> None:
        self._metric, self._spec = metric, spec
        self.sides = canonical_pair(a, d, symmetric=metric.by != "kl")
        self._rng = generator(spec, metric.name, *self.sides)

    def limits(self) -> tuple[float, float, float]:
        by, spec = self._metric.by, self._spec
        sides, level, draws = self._both(), spec.confidence, spec.replicates
        if by == "kl" or by == "js":
            made = divergence_interval(*sides, by, level, self._rng, draws)
        else:
            made = norm_interval(*sides, by, level, self._rng, draws)
        low, high, p = (float(each[0]) for each in made)
        return low, high, p

    def floor(self) -> float:
        """Return the distance that sampling variation alone gives under no difference."""
        by, sides = self._metric.by, self._both()
        if by == "kl" or by == "js":
            return float(expected_distance(*sides, by)[0])
        return float(expected_distance(*sides, by, self._rng, self._spec.replicates)[0])

    def _both(self) -> tuple[Array, Array]:
        return self.sides[0][None], self.sides[1][None]


_CELLS = 256
_ROUNDING = 1e-9
_MOST_CURVES = 500


def score_distance_interval(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a distance of two score distributions, or of two ROC curves."""
    made = _between_curves if metric.by == "abroca" else _between_scores
    return made(metric, compared, spec)


def _between_scores(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Intervals:
    assert metric.by != "abroca"
    rows = [_scored_rows(each) for each in (compared.other, compared.group)]
    a, d = rows
    scores = compared.group.side.scores
    assert scores is not None
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    apart = np.ones(len(a))
    if compared.rest is not None:  # the whole lies between the group and its rest
        apart -= quotient(
            *(_scored_rows(e).sum(axis=1) for e in (compared.group, compared.reference))
        )
    far, floor, p = (np.full(len(a), np.nan) for _ in range(3))
    for i in range(len(a)):
        starts = _cell_starts(a[i] + d[i])
        widths = np.diff(scores.centre[starts])
        sides = _in_cells(a[i], d[i], starts)
        rng, draws = generator(spec, metric.name, *sides), spec.replicates
        one, two = (side[None] for side in sides)
        errors = cumulative_errors(one, two, widths, metric.by, rng, draws) * apart[i]
        made = ball(errors, value[i : i + 1], spec.confidence)
        far[i] = made[0][0]
        tested, expected = cumulative_test(one, two, widths, metric.by, rng, draws)
        p[i], floor[i] = max(made[1][0], tested[0]), expected[0]
    floor = floor * apart
    too_few = insufficient_rows((d.sum(axis=1), a.sum(axis=1)))
    return _ball(metric, value, far, p, floor, too_few, spec.confidence)


def _between_curves(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Intervals:
    sides = compared.reference, compared.group
    labelled = [np.stack([side.scored(0), side.scored(1)], axis=1) for side in sides]
    a, d = labelled
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    far, floor, p = (np.full(len(value), np.nan) for _ in range(3))
    draws = min(spec.replicates, _MOST_CURVES)
    for i in np.flatnonzero(~np.isnan(value)):
        one, two = _in_cells(a[i], d[i], _cell_starts((a[i] + d[i]).sum(axis=0)))
        rng = generator(spec, metric.name, one, two)
        far[i], apart = ball(curve_errors(one, two, rng, draws), value[i], spec.confidence)
        areas = null_areas(one, two, rng, draws)
        floor[i] = np.nanmean(areas)
        p[i] = max(apart, (1 + np.count_nonzero(areas >= value[i])) / (1 + draws))
    rows = d.sum(axis=-1).min(axis=1), a.sum(axis=-1).min(axis=1)
    return _ball(metric, value, far, p, floor, insufficient_rows(rows), spec.confidence)


def _ball(
    metric: ScoreDistance,
    value: Array,
    far: Array,
    p: Array,
    floor: Array,
    too_few: list[Reason | None],
    confidence: float,
) -> Intervals:
    low, high = np.maximum(value - far, 0.0), np.minimum(value + far, metric.range[1])
    low = np.where(p < 1 - confidence, low, np.minimum(low, 0.0))  # as the permuted rows have it
    methods = (IntervalMethod.BALL, IntervalMethod.BOOTSTRAP)
    return Intervals(low, high, p, [methods] * len(value), too_few, expected=floor)


def _scored_rows(evidence: Evidence) -> Array:

    def read(side: ConfusionCounts) -> Array:
        assert side.scores is not None
        return side.scores.every

    return evidence.effective(read)


def _in_cells(a: Array, d: Array, starts: Index) -> tuple[Array, Array]:
    """Return the rows of both sides in cells, in an order that does not depend on which is which.

    Cells are those of one comparison: which other groups are asked for changes nothing.
    """
    one, two = (np.add.reduceat(side, starts, axis=-1) for side in (a, d))
    return (one, two) if precedes(one, two) else (two, one)


def _cell_starts(rows: Array) -> Index:
    after = np.cumsum(rows)
    before = np.concatenate([[0.0], after[:-1]])
    # rounding errors of sums of weights must not move a bin from one cell into the next
    cell = np.minimum(np.floor(before * _CELLS / max(after[-1], 1e-300) + _ROUNDING), _CELLS)
    return np.flatnonzero(np.diff(cell, prepend=-1.0))


def cross_auc_interval(metric: CrossAuc, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of the area between positives of one side and negatives of the other."""
    sides = (compared.group, compared.reference)
    first, second = sides if metric.positives == "group" else sides[::-1]
    area = area_from_counts(first.scored(0), second.scored(1))
    low, high = area_score_interval(*area, critical(spec.confidence))
    too_few = insufficient_rows(np.minimum(area.positives, area.negatives))
    none = np.full(len(low), np.nan)
    return Intervals(low, high, none, [(IntervalMethod.DELONG,)] * len(low), too_few)
