"""Contrasts of groups pooled over strata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.statistics import Quotient
from fairgauge.enums import Profile

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.catalogue.confusion_counts import ConfusionCounts


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """A contrast of every group over all strata: its value, the mean of both sides, the weights.

    An odds ratio has no means: it is not the ratio of two numbers of the sides.
    """

    value: Array
    group: Array
    reference: Array
    weights: Array


def pool(
    metric: Contrast,
    group: ConfusionCounts,
    reference: ConfusionCounts,
    strata: int,
    profile: Profile,
) -> Pooled:
    """Pool a contrast over strata; the sides hold the strata of each group one after another."""
    if is_odds_ratio(metric):
        return _pooled_odds(metric, group, reference, strata, profile)
    ours, theirs = (
        each.reshape(-1, strata) for each in metric.side_values(group, reference, profile)
    )
    n, m = (each.reshape(-1, strata) for each in metric.sizes(group, reference))
    known = np.isfinite(ours) & np.isfinite(theirs)
    weights = np.where(known, divide(n * m, n + m, Profile.CLARIFY), 0.0)
    total = weights.sum(axis=1)
    means = [
        divide((weights * np.where(known, each, 0.0)).sum(axis=1), total, Profile.DOCUMENTED)
        for each in (ours, theirs)
    ]
    first, second = means if metric.order == "group - reference" else means[::-1]
    value = first - second if metric.by == "difference" else divide(first, second, profile)
    return Pooled(value, means[0], means[1], weights)


def is_odds_ratio(metric: Contrast) -> bool:
    """Return whether a contrast is an odds ratio, which Mantel and Haenszel's estimator pools."""
    return metric.by == "ratio" and isinstance(metric.of, Quotient) and metric.of.is_odds


def _pooled_odds(
    metric: Contrast,
    group: ConfusionCounts,
    reference: ConfusionCounts,
    strata: int,
    profile: Profile,
) -> Pooled:
    """Return Mantel and Haenszel's odds ratio, in which strata with empty cells count."""
    assert isinstance(metric.of, Quotient)
    sides = (group, reference) if metric.order == "group - reference" else (reference, group)
    counts = [side.counts(metric.of.needs) for side in sides]
    (a, c), (b, d) = (
        [of.count(each).reshape(-1, strata) for each in counts]
        for of in (metric.of.over, metric.of.under)
    )
    n, m = a + b, c + d
    weights = divide(n * m, n + m, Profile.CLARIFY)
    over, under = (
        divide(product, n + m, Profile.CLARIFY).sum(axis=1) for product in (a * d, b * c)
    )
    none = np.full(len(weights), np.nan)
    return Pooled(divide(over, under, profile), none, none, weights)
