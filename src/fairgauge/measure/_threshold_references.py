"""What groups are compared with at every threshold of a score.

`resolve.references` decides; here are only the rates by which it chooses, from the histogram of the
scores.
"""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Accepts, Threshold
from fairgauge.inference.two.paired_tables import confusion
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, Histogram
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import References, references_at
from fairgauge.resolve.sides import Measure


def accepts(outcome: OutcomeMasks, spec: Spec) -> Accepts:
    """Return which side of a threshold has the favourable decision, as in an audit."""
    strictly = spec.profile.rules.threshold_is_exclusive or spec.threshold is Threshold.MEDIAN
    if outcome.turned is None:
        return Accepts.ABOVE if strictly else Accepts.FROM
    return Accepts.UP_TO if strictly else Accepts.BELOW


def accepted(counts: Array, histogram: Histogram, cuts: Array, decision: Accepts) -> Array:
    """Return the rows that each threshold accepts: bins, the last axis, become thresholds."""
    if decision in (Accepts.FROM, Accepts.BELOW):  # a score at the threshold is on its upper side
        first = np.searchsorted(histogram.low, cuts, side="left")
    else:
        first = np.searchsorted(histogram.high, cuts, side="right")
    nothing = np.zeros((*counts.shape[:-1], 1))
    if decision in (Accepts.BELOW, Accepts.UP_TO):
        sums = np.concatenate([nothing, np.cumsum(counts, axis=-1)], axis=-1)
    else:
        sums = np.concatenate([np.cumsum(counts[..., ::-1], -1)[..., ::-1], nothing], axis=-1)
    return np.asarray(sums[..., first])


def states_by_threshold(
    counts: GroupCounts, outcome: OutcomeMasks, spec: Spec, cuts: Array, measure: Measure
) -> tuple[Array, Array]:
    """Return the rows of every group, and those without one, by label and decision at thresholds.

    The shapes are (groups + 1, cuts, 3, 3) and (kinds, cuts, 3, 3): positive, negative or missing.
    """
    histogram = counts.histogram
    assert histogram is not None
    decision = accepts(outcome, spec)

    def by_label(of: Array) -> Array:
        known = (np.compress(mask, of[..., :-1, :], axis=-2).sum(axis=-2)
                 for mask in (outcome.labels, ~outcome.labels))  # fmt: skip
        return np.stack([*known, of[..., -1, :]], axis=-2)

    def states(bins: Array, cells: Array) -> Array:
        scored, without = by_label(bins), by_label(cells)[..., [-1]]
        yes = accepted(scored, histogram, cuts, decision)
        no = scored.sum(axis=-1, keepdims=True) - yes
        found = np.stack([yes, no, without + np.zeros_like(yes)], axis=-1)
        found = np.moveaxis(found, -2, -3)
        if spec.profile.rules.missing_outcome_is_negative:
            for axis in (-2, -1):
                each = np.moveaxis(found, axis, -1)  # a view
                each[..., 1] += each[..., 2]
                each[..., 2] = 0.0
        return found

    return (
        states(histogram.counts[measure], counts.counts[measure][:, 0]),
        states(histogram.unknown[measure], counts.unknown[measure][:, 0]),
    )


def margins_by_threshold(
    counts: GroupCounts, outcome: OutcomeMasks, spec: Spec, cuts: Array
) -> Array:
    """Return the rows of every group by label (positive, negative, missing) and decision.

    The shape is (groups, cuts, 3, 2). They are those of an audit at each threshold, rows without a
    label included, so that the reference at a threshold is that of the audit.
    """
    measure: Measure = "w" if counts.unequally_weighted else "n"
    known, _ = states_by_threshold(counts, outcome, spec, cuts, measure)
    return known[:-1, ..., :2]


def references_of_margins(
    counts: GroupCounts, metric: Metric, spec: Spec, margins: Array
) -> tuple[References, ...]:
    """Return the references at each of several thresholds, from the margins of every group there.

    ``margins`` are of shape (groups, places, 3, 2).
    """
    groups, places = margins.shape[:2]

    def values_of(statistic: Statistic) -> Array:
        flat = confusion(margins.reshape(-1, *margins.shape[2:]), classes=False)
        return statistic.value(flat, spec.profile).reshape(groups, places)

    return references_at(counts, metric, spec, values_of, places)
