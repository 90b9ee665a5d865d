"""Distances of scores and of ROC curves: a ball, and what chance alone would show.

How far chance moves them hardly depends on how fine the bins are, so it is drawn over cells of
equal mass; the distance itself is of the fine bins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import Profile
from fairgauge.inference.contrast_intervals import few
from fairgauge.inference.draws import generator
from fairgauge.inference.interval import Interval, by_chance
from fairgauge.stats.arrays import quotient
from fairgauge.stats.cumulative import cumulative_p, cumulative_radius, expected_cumulative_distance
from fairgauge.stats.roc import area_radius, null_areas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import Side
    from fairgauge.catalogue.distributions import ScoreDistance
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.spec.specification import Spec

_CELLS = 256
_MOST_CURVES = 500


def score_distance(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Interval:
    """Return the interval of a distance of two score distributions, or of two ROC curves."""
    made = _between_curves if metric.by == "abroca" else _between_scores
    return made(metric, compared, spec)


def _between_scores(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Interval:
    assert metric.by != "abroca"
    rows = [_scored(each) for each in (compared.other, compared.group)]
    starts = _starts(rows[0] + rows[1])
    a, d = (np.add.reduceat(each, starts, axis=-1) for each in rows)
    scores = compared.group.side.scores
    assert scores is not None
    widths = np.diff(((scores.low + scores.high) / 2)[starts])
    rng, draws = generator(spec, compared.key), spec.replicates
    far = cumulative_radius(a, d, widths, metric.by, spec.confidence, rng, draws)
    floor = expected_cumulative_distance(a, d, widths, metric.by, rng, draws)
    p = cumulative_p(a, d, widths, metric.by, rng, draws)
    if compared.rest is not None:  # the whole lies between the group and its rest
        apart = 1 - quotient(
            *(_scored(e).sum(axis=1) for e in (compared.group, compared.reference))
        )
        far, floor = far * apart, floor * apart
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    return _ball(metric, value, far, p, floor, few(np.minimum(a.sum(axis=1), d.sum(axis=1))))


def _between_curves(metric: ScoreDistance, compared: Comparisons, spec: Spec) -> Interval:
    sides = compared.reference, compared.group
    labelled = [np.stack([each.scored(0), each.scored(1)], axis=1) for each in sides]
    starts = _starts((labelled[0] + labelled[1]).sum(axis=1))
    a, d = (np.add.reduceat(each, starts, axis=-1) for each in labelled)
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    far, floor, p = (np.full(len(value), np.nan) for _ in range(3))
    rng, draws = generator(spec, compared.key), min(spec.replicates, _MOST_CURVES)
    for i in np.flatnonzero(~np.isnan(value)):
        far[i] = area_radius(a[i], d[i], spec.confidence, rng, draws)
        areas = null_areas(a[i], d[i], rng, draws)
        floor[i] = np.nanmean(areas)
        p[i] = (1 + np.count_nonzero(areas >= value[i])) / (1 + draws)
    rows = np.minimum(a.sum(axis=-1).min(axis=1), d.sum(axis=-1).min(axis=1))
    return _ball(metric, value, far, p, floor, few(rows))


def _ball(
    metric: ScoreDistance, value: Array, far: Array, p: Array, floor: Array, too_few: list[str]
) -> Interval:
    low, high = np.maximum(value - far, 0.0), np.minimum(value + far, metric.range[1])
    method = ["norm-ball bootstrap"] * len(value)
    return Interval(
        low, high, p, method, too_few, notes=[by_chance(each) for each in floor.tolist()]
    )


def _scored(evidence: Evidence) -> Array:
    """Return all rows in bins of the score, as many as the weights are worth."""

    def rows(side: Side) -> Array:
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
