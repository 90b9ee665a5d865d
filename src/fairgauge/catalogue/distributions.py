"""Distances of distributions, inequality of benefits, and comparisons within strata, pooled.

The benefit of a row is 2 for FP, 1 for TP and TN, 0 for FN. A difference of selection rates may be
in units of the spread of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np

from fairgauge.catalogue.across import Across, GroupSpread, extremes
from fairgauge.catalogue.cells import (
    BOTH,
    LABEL,
    PREDICTION,
    Array,
    ConfusionCounts,
    Need,
    divide,
    subtract,
)
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Scope
from fairgauge.catalogue.score_statistics import Mean
from fairgauge.catalogue.statistics import Quotient, Statistic, share_of
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import quotient
from fairgauge.stats.distances import Norm, js, kl, norm
from fairgauge.stats.squares import central_moments


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance(ComparisonMetric):
    """How far apart the label (or prediction) distributions of the two sides are."""

    of: Need
    by: Distances
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.by != "kl"

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    @property
    def formula(self) -> str:
        return DISTANCES[self.by].formula

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, DISTANCES[self.by].most)

    @property
    def edges(self) -> str:
        unseen = "Infinity if a category of the reference is unseen in the group; "
        return f"{unseen if self.by == 'kl' else ''}undefined when a side has no rows"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        if profile.as_smclarify:
            ours, theirs = (side.counts(self.needs)[..., [0, 3]] for side in (group, reference))
        else:
            ours, theirs = group.classes[self.of], reference.classes[self.of]
        return DISTANCES[self.by].between(theirs, ours, profile)

    def size(self, side: ConfusionCounts) -> Array:
        return np.asarray(side.classes[self.of].sum(axis=-1))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        del reference
        side = "group" if self.size(group)[at] == 0 else "reference"
        return Reason.of(ReasonCode.NO_ROWS, of=self.of).on(side)


Distances = Literal["kl", "js", "lp", "tvd", "ks"]


@dataclass(frozen=True, slots=True)
class DistanceKind:
    """A distance between distributions P_a (reference) and P_d (group)."""

    formula: str
    most: float
    of_shares: Callable[[Array, Array], Array]

    def between(self, reference: Array, group: Array, profile: Profile) -> Array:
        """Compare counts of shape (n, K); a category that one side lacks has probability 0.

        In profile ``clarify`` categories that either side lacks are removed without renormalising,
        as smclarify does (values can then be negative or too small).
        """
        p = divide(reference, reference.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)
        q = divide(group, group.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)
        q = np.where(subtract(p, q, Profile.DOCUMENTED) == 0, p, q)  # alike within rounding
        if not profile.as_smclarify:
            return self.of_shares(p, q)
        shared = (p > 0) & (q > 0)
        p, q = (np.where(shared | np.isnan(side), side, 0.0) for side in (p, q))
        return np.where(shared.any(axis=-1), self.of_shares(p, q), np.nan)


def _compare_gaps(formula: str, most: float, kind: Norm) -> DistanceKind:
    return DistanceKind(formula, most, lambda p, q: norm(p - q, kind))


DISTANCES: dict[Distances, DistanceKind] = {
    "kl": DistanceKind("sum_y P_a(y) ln(P_a(y) / P_d(y))", math.inf, kl),
    "js": DistanceKind("KL(P_a, M) / 2 + KL(P_d, M) / 2,  M = (P_a + P_d) / 2", math.log(2), js),
    "lp": _compare_gaps("(sum_y (P_a(y) - P_d(y))^2)^(1/2)", math.sqrt(2), "lp"),
    "tvd": _compare_gaps("sum_y |P_a(y) - P_d(y)| / 2", 1.0, "tvd"),
    "ks": _compare_gaps("max_y |P_a(y) - P_d(y)|", 1.0, "ks"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallStandardisedDifference(ComparisonMetric):
    """100 times the difference of two selection rates over the standard deviation of all rows."""

    mean: str = "selection rate"
    varying: ClassVar[str] = "predictions"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs_overall: ClassVar[bool] = True
    needs: ClassVar[frozenset[Need]] = PREDICTION
    formula: ClassVar[str] = (
        "100 (p_d - p_a) / sqrt(p (1 - p)), p_d, p_a, p: selection rates of d, a, all rows"
    )
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    edges: ClassVar[str] = (
        "undefined with no rows on a side, or when all rows have the same prediction"
    )

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 100 * subtract(ours, theirs, profile) / self.deviation(group)
        return np.where(np.isfinite(value), value, np.nan)

    def deviation(self, group: ConfusionCounts) -> Array:
        assert group.overall is not None
        overall = self.side_value(group.overall, Profile.DOCUMENTED)
        return np.asarray(np.sqrt(overall * (1 - overall)))

    def side_value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        return divide(self.selected(side), self.size(side), Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        """Return the rows of a side whose prediction is known."""
        return np.asarray(side.counts(PREDICTION).sum(axis=-1))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        for side, name in ((group, "group"), (reference, "reference")):
            if not self.size(side)[at]:
                return Reason.of(ReasonCode.NO_ROWS).on(name)
        return Reason.of(ReasonCode.NO_VARIATION, of=self.varying)

    def selected(self, side: ConfusionCounts) -> Array:
        return side.counts(PREDICTION)[..., 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallStandardisedMean(OverallStandardisedDifference):
    """100 times the difference of two averages of labels over the standard deviation of all."""

    of: Mean
    varying: ClassVar[str] = "labels"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.REGRESSION})
    needs: ClassVar[frozenset[Need]] = LABEL
    formula: ClassVar[str] = "100 (mean(y_d) - mean(y_a)) / sd(y), y_d, y_a, y: of d, a, all rows"
    edges: ClassVar[str] = "undefined with no rows on a side, or when all rows have the same label"

    @property
    def difference(self) -> Contrast:
        made = self.of.compared("difference")
        assert isinstance(made, Contrast)
        return made

    def deviation(self, group: ConfusionCounts) -> Array:
        return self.moments_of_all(group)[0]

    def moments_of_all(self, group: ConfusionCounts) -> tuple[Array, Array, Array]:
        """Return the standard deviation of all rows, their kurtosis, and how many they are."""
        assert group.overall is not None
        sums = group.overall.moments_of(LABEL)
        made = central_moments(*(sums[name] for name in ("n", "y", "yy", "y3", "y4")))
        return np.sqrt(made.second), quotient(made.fourth, made.second**2), sums["n"]

    def side_value(self, side: ConfusionCounts, profile: Profile) -> Array:
        return self.of.value(side, profile)

    def size(self, side: ConfusionCounts) -> Array:
        return self.of.size(side)


Index = Literal["entropy", "variation"]

BENEFITS = np.array([1.0, 2.0, 0.0, 1.0])
"""The benefit of TP, FP, FN and TN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inequality(ComparisonMetric):
    """An index of inequality of the benefits of all rows.

    ``entropy`` is generalized entropy of order ``parameter`` (1 is Theil's index), ``variation``
    the coefficient of variation.
    """

    index: Index = "entropy"
    parameter: float = 2.0
    scope: ClassVar[Scope] = "table"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs: ClassVar[frozenset[Need]] = BOTH

    @property
    def formula(self) -> str:
        p = self.parameter
        b = "b = 2 for FP, 1 for TP and TN, 0 for FN"
        if self.index == "variation":
            return f"sd(b) / mean(b),  {b}"
        if p == 1:
            return f"mean(b / mean(b) ln(b / mean(b))),  {b}"
        if p == 0:
            return f"-mean(ln(b / mean(b))),  {b}"
        return f"mean((b / mean(b))^{p:g} - 1) / {p * (p - 1):g},  {b}"

    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    edges: ClassVar[str] = (
        "undefined when every row is a false negative, so that the mean benefit is 0; there is "
        "no p-value, because 0, the end of the range, is that of a perfect prediction alone"
    )

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("alpha",) if self.index == "entropy" else ()

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        del reference, profile
        return self.from_cells(group.counts(BOTH))

    def from_cells(self, counts: Array) -> Array:
        """Return the index of confusion cells of shape (..., 4); array of shape (...)."""
        return _inequality_index(counts, BENEFITS, self.index, self.parameter)

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        del reference
        rows = group.counts(BOTH).sum(axis=-1)
        return rows, np.full_like(rows, np.nan)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        del reference
        if group.counts(BOTH)[at].sum() == 0:
            return Reason.of(ReasonCode.NO_ROWS, of="label and prediction")
        return Reason.of(ReasonCode.NO_BENEFIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class InequalityPart(Across):
    """The part of generalized entropy that lies between the groups of a feature."""

    parameter: float = 2.0
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs: ClassVar[frozenset[Need]] = BOTH

    @property
    def formula(self) -> str:
        return f"generalized entropy (order {self.parameter:g}) of each row's group mean benefit"

    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        del profile
        counts = groups.counts(BOTH).reshape(slots, -1, 4)
        rows, means = _mean_benefits(counts)
        enough = (rows > 0).sum(axis=1) > 1
        found = extremes(
            np.where(rows > 0, means, np.nan), rows, groups.every_cell().reshape(*rows.shape, -1)
        )
        value = self.from_cells(counts)
        # of equal mean benefits nothing but rounding is left
        value = np.where(found.apart | np.isnan(value), value, 0.0)
        return GroupSpread(np.where(enough, value, np.nan), found.most, found.least, found.apart)

    def from_cells(self, counts: Array) -> Array:
        """Return the part of confusion cells of shape (..., groups, 4); array of shape (...)."""
        rows, means = _mean_benefits(counts)
        return _inequality_index(rows, np.nan_to_num(means), "entropy", self.parameter)


def _mean_benefits(counts: Array) -> tuple[Array, Array]:
    rows = counts.sum(axis=-1)
    return rows, divide((counts * BENEFITS).sum(axis=-1), rows, Profile.DOCUMENTED)


def _inequality_index(counts: Array, benefits: Array, index: Index, parameter: float) -> Array:
    # an index of benefits, ``counts`` of them each; both of shape (..., K)
    rows = counts.sum(axis=-1)
    mean = divide((counts * benefits).sum(axis=-1), rows, Profile.DOCUMENTED)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = benefits / mean[..., None]

        def average(values: Array) -> Array:
            return np.asarray(np.where(counts > 0, counts * values, 0.0).sum(axis=-1) / rows)

        if index == "variation":
            result = np.sqrt(average(relative**2) - 1)
        elif parameter == 1:
            result = average(np.where(relative == 0, 0.0, relative * np.log(relative)))
        elif parameter == 0:
            result = average(-np.log(relative))
        else:
            result = average(relative**parameter - 1) / (parameter * (parameter - 1))
    return np.where(mean > 0, result, np.nan)


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
    metric: Contrast, group: ConfusionCounts, reference: ConfusionCounts, strata: int,
    profile: Profile,
) -> Pooled:  # fmt: skip
    """Pool a contrast over strata; the sides hold the strata of each group one after another."""
    if is_odds_ratio(metric):
        # Mantel and Haenszel's odds ratio, in which strata with empty cells count
        assert isinstance(metric.of, Quotient)
        sides = (group, reference) if metric.order == "group - reference" else (reference, group)
        counts = [side.counts(metric.of.needs) for side in sides]
        (a, c), (b, d) = (
            [of.count(count).reshape(-1, strata) for count in counts]
            for of in (metric.of.over, metric.of.under)
        )
        n, m = a + b, c + d
        weights = divide(n * m, n + m, Profile.CLARIFY)
        over, under = (
            divide(product, n + m, Profile.CLARIFY).sum(axis=1) for product in (a * d, b * c)
        )
        none = np.full(len(weights), np.nan)
        return Pooled(divide(over, under, profile), none, none, weights)
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
    return Pooled(metric.compare_values(mean, other, profile), mean, other, weights)


def is_odds_ratio(metric: object) -> bool:
    """Return whether a metric is an odds ratio, which Mantel and Haenszel's estimator pools."""
    if not isinstance(metric, Contrast) or metric.by != "ratio":
        return False
    return isinstance(metric.of, Quotient) and metric.of.is_odds


def tested_statistic(metric: Contrast) -> Statistic:
    """Return the statistic whose "no difference" a contrast tests: of an odds ratio the share."""
    odds = metric.by == "ratio" and is_odds_ratio(metric)
    return (share_of(metric.of) if odds else None) or metric.of


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
        weight = np.where(np.isnan(disparity), 0.0, both.sum(axis=-1))
        total = weight.sum(axis=-1)
        if profile.as_smclarify:
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
        return Reason.of(ReasonCode.NO_VARIATION, of=f"{self.of}s of every stratum")
