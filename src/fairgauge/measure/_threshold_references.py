"""What groups are compared with at every threshold of a score.

`resolve.references` decides; here are only the rates by which it chooses, from the histogram of the
scores. A choice of thresholds and the threshold explorer of a page receive the answer from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Accepts, ReferenceRule, Threshold
from fairgauge.inference.two.paired_tables import confusion
from fairgauge.question.specification import Spec
from fairgauge.resolve.asked_metrics import AskedMetric
from fairgauge.resolve.group_counts import GroupCounts, Histogram
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import References, references_at
from fairgauge.results.curves import edges
from fairgauge.results.estimates import ThresholdReferences


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


def margins_by_threshold(
    counts: GroupCounts, outcome: OutcomeMasks, spec: Spec, cuts: Array
) -> Array:
    """Return the rows of every group by label (positive, negative, missing) and decision.

    The shape is (groups, cuts, 3, 2). They are those of an audit at each threshold, rows without a
    label included, so that the reference at a threshold is that of the audit.
    """
    histogram = counts.histogram
    assert histogram is not None
    bins = histogram.counts["w" if counts.unequally_weighted else "n"][:-1]
    of_labels = [bins[:, :-1][:, mask].sum(axis=1) for mask in (outcome.labels, ~outcome.labels)]
    by_label = np.stack([*of_labels, bins[:, -1]], axis=1)
    yes = accepted(by_label, histogram, cuts, accepts(outcome, spec))
    rows = np.stack([yes, by_label.sum(axis=-1, keepdims=True) - yes], axis=-1)
    rows = rows.transpose(0, 2, 1, 3)
    if spec.profile.rules.missing_outcome_is_negative:
        rows[:, :, 1] += rows[:, :, 2]
        rows[:, :, 2] = 0.0
    return np.asarray(rows)


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


def threshold_references(
    counts: GroupCounts,
    outcome: OutcomeMasks,
    spec: Spec,
    metrics: Sequence[AskedMetric],
) -> Iterator[ThresholdReferences]:
    """Yield the references of every contrast of decisions, where they move with the threshold.

    That is with the best group as the reference; every other rule has the same at any threshold.
    """
    best = spec.reference is ReferenceRule.BEST
    if not best or counts.histogram is None or counts.protected or not counts.groups:
        return
    contrasts = {
        asked.metric.of: asked.metric
        for asked in metrics
        if isinstance(asked.metric, Contrast) and asked.metric.needs <= {"label", "prediction"}
        if "prediction" in asked.metric.needs and asked.obstacle is None
    }
    if not contrasts:
        return
    cuts = np.array(edges(*spec.score_range))
    margins = margins_by_threshold(counts, outcome, spec, cuts)
    for rate, metric in contrasts.items():
        at = references_of_margins(counts, metric, spec, margins)
        names = [str(references.each[0]) for references in at]
        starts = [0, *(i + 1 for i, (one, other) in enumerate(pairwise(names)) if one != other)]
        yield ThresholdReferences(
            feature=counts.feature,
            rate=rate.name,
            thresholds=tuple(cuts[starts].tolist()),
            references=tuple(names[i] for i in starts),
        )
