"""Distances of scores and of ROC curves: a ball, and what chance alone would show.

How far chance moves them hardly depends on how fine the bins are, so it is drawn over cells of
equal mass; the distance itself is of the fine bins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.contrast_intervals import few
from fairgauge.inference.draws import generator, precedes
from fairgauge.inference.interval import Intervals
from fairgauge.stats.arrays import quotient
from fairgauge.stats.cumulative import cumulative_p, cumulative_radius, expected_cumulative_distance
from fairgauge.stats.roc import area_radius, null_areas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.distributions import ScoreDistance
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.reasons import Reason
    from fairgauge.spec.specification import Spec

_CELLS = 256
_MOST_CURVES = 500


def score_distance(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a distance of two score distributions, or of two ROC curves."""
    made = _between_curves if metric.by == "abroca" else _between_scores
    return made(metric, compared, spec)


def _between_scores(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Intervals:
    assert metric.by != "abroca"
    rows = [_scored(each) for each in (compared.other, compared.group)]
    starts = _starts(rows[0] + rows[1])
    a, d = (np.add.reduceat(each, starts, axis=-1) for each in rows)
    scores = compared.group.side.scores
    assert scores is not None
    widths = np.diff(((scores.low + scores.high) / 2)[starts])
    far, floor, p = (np.full(len(a), np.nan) for _ in range(3))
    for i in range(len(a)):
        sides = (a[i], d[i]) if precedes(a[i], d[i]) else (d[i], a[i])
        rng, draws = generator(spec, metric.name, *sides), spec.replicates
        one, two = (each[None] for each in sides)
        far[i] = cumulative_radius(one, two, widths, metric.by, spec.confidence, rng, draws)[0]
        floor[i] = expected_cumulative_distance(one, two, widths, metric.by, rng, draws)[0]
        p[i] = cumulative_p(one, two, widths, metric.by, rng, draws)[0]
    if compared.rest is not None:  # the whole lies between the group and its rest
        apart = 1 - quotient(
            *(_scored(e).sum(axis=1) for e in (compared.group, compared.reference))
        )
        far, floor = far * apart, floor * apart
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    return _ball(metric, value, far, p, floor, few(np.minimum(a.sum(axis=1), d.sum(axis=1))))


def _between_curves(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Intervals:
    sides = compared.reference, compared.group
    labelled = [np.stack([each.scored(0), each.scored(1)], axis=1) for each in sides]
    starts = _starts((labelled[0] + labelled[1]).sum(axis=1))
    a, d = (np.add.reduceat(each, starts, axis=-1) for each in labelled)
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    far, floor, p = (np.full(len(value), np.nan) for _ in range(3))
    draws = min(spec.replicates, _MOST_CURVES)
    for i in np.flatnonzero(~np.isnan(value)):
        one, two = (a[i], d[i]) if precedes(a[i], d[i]) else (d[i], a[i])
        rng = generator(spec, metric.name, one, two)
        far[i] = area_radius(one, two, spec.confidence, rng, draws)
        areas = null_areas(one, two, rng, draws)
        floor[i] = np.nanmean(areas)
        p[i] = (1 + np.count_nonzero(areas >= value[i])) / (1 + draws)
    rows = np.minimum(a.sum(axis=-1).min(axis=1), d.sum(axis=-1).min(axis=1))
    return _ball(metric, value, far, p, floor, few(rows))


def _ball(
    metric: ScoreDistance,
    value: Array,
    far: Array,
    p: Array,
    floor: Array,
    too_few: list[Reason | None],
) -> Intervals:
    low, high = np.maximum(value - far, 0.0), np.minimum(value + far, metric.range[1])
    methods = (IntervalMethod.NORM_BALL, IntervalMethod.MULTINOMIAL_BOOTSTRAP)
    return Intervals(low, high, p, [methods] * len(value), too_few, expected=floor)


def _scored(evidence: Evidence) -> Array:
    """Return all rows in bins of the score, as many as the weights are worth."""

    def rows(side: ConfusionCounts) -> Array:
        assert side.scores is not None
        total: Array = side.scores.every.sum(axis=-1)
        return total

    assert evidence.side.scores is not None
    return evidence.side.scores.every * evidence.worth(rows)[:, None]


def _starts(rows: Array) -> NDArray[np.int64]:
    """Return the first bins of cells that hold about as many of all rows each."""
    after = np.cumsum(rows.sum(axis=0))
    before = np.concatenate([[0.0], after[:-1]])
    cell = np.minimum(before * _CELLS // max(after[-1], 1e-300), _CELLS)
    return np.flatnonzero(np.diff(cell, prepend=-1.0))
