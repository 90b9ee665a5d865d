"""Comparisons that hold a stratum fixed: contrasts pooled over strata, conditional disparity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts, Need, divide
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Scope
from fairgauge.catalogue.statistics import Quotient, Statistic
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode


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
    mean, other = (
        divide((weights * np.where(known, each, 0.0)).sum(axis=1), total, Profile.DOCUMENTED)
        for each in (ours, theirs)
    )
    return Pooled(metric.of_values(mean, other, profile), mean, other, weights)


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


_ABSENT = (ReasonCode.NO_POSITIVES, ReasonCode.NO_NEGATIVES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalDisparity(ComparisonMetric):
    """The group's share of the rejected minus its share of the accepted, averaged over strata."""

    of: Need
    margin: Statistic
    """The rate whose unadjusted difference it corresponds to."""
    scope: ClassVar[Scope] = "pooled"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return (self.margin,)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    formula: ClassVar[str] = "sum_i n_i (n_d,i(0) / n_i(0) - n_d,i(1) / n_i(1)) / sum_i n_i"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    edges: ClassVar[str] = (
        "strata without accepted or without rejected rows are excluded and the coverage is "
        "reported; undefined when none remains"
    )

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours = group.strata[self.of]
        both = ours + reference.strata[self.of]
        share = divide(ours, both, profile)  # (n, S, 2): of the positive, of the negative
        disparity = share[..., 1] - share[..., 0]
        rows = both.sum(axis=-1)
        weight = np.where(np.isnan(disparity), 0.0, rows)
        total = weight.sum(axis=-1)
        if profile.rules.strata_need_both_outcomes:
            total = np.where((both.sum(axis=-2) > 0).all(axis=-1), total, np.nan)
        with np.errstate(invalid="ignore"):
            result: Array = (weight * np.nan_to_num(disparity)).sum(axis=-1) / total
        return result

    def coverage(self, group: ConfusionCounts, reference: ConfusionCounts) -> Array:
        """Return the share of rows in strata that have both accepted and rejected rows."""
        both = group.strata[self.of] + reference.strata[self.of]
        rows = both.sum(axis=-1)
        used = np.where((both > 0).all(axis=-1), rows, 0.0).sum(axis=-1)
        return divide(used, rows.sum(axis=-1), Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        return np.asarray(side.strata[self.of].sum(axis=(-1, -2)))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        both = (group.strata[self.of] + reference.strata[self.of])[at].sum(axis=0)
        for code, count in zip(_ABSENT, both, strict=True):
            if count == 0:
                return Reason.of(code, of=self.of)
        return Reason.of(ReasonCode.ONE_CLASS_ONLY, of=f"{self.of}s of every stratum")
