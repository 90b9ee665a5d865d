"""Estimates: metrics of single comparisons, and the groups that are compared with their rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, SupportsFloat, TypeAlias

from fairgauge import identity
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import Estimator, GroupKind, IntervalMethod, ReferenceKind, Status, Task
from fairgauge.identity import FeatureId, GroupId
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Keys, Share
from fairgauge.results.definitions import OfRow
from fairgauge.results.describers import in_words
from fairgauge.results.scopes import (
    NO_CLASS,
    OVERALL,
    Bounds,
    ClassScope,
    Diagnostic,
    Interval,
    Reference,
    SavedFeatureId,
    SavedGroupId,
    Scope,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByEstimator:
    """One comparison by one estimator; `Estimate` is by the one that decides.

    Attributes
    ----------
    metric, feature, group, class_scope, threshold : as of the `Estimate`.
    estimator : how the rates are estimated, and so what is assumed.
    decides : whether it is the one of the `Estimate`, and of verdicts.
    value : None of an estimator that has a range alone.
    interval : its confidence interval; of bounds the range that the data leave, widened by it.
    set_low, set_high : the range that the data leave, of bounds.
    effective_people : as how many people of known group, in the side with fewer, it is as precise.
    """

    metric: str
    feature: str
    group: str
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    estimator: Estimator
    decides: bool
    value: float | None = None
    interval: Inline[Interval]
    set_low: float | None = None
    set_high: float | None = None
    effective_people: Finite | None = None


EVERYONE = str(GroupKind.EVERYONE)
"""The group of a metric of the whole table, which has no feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(OfRow[Metric]):
    """One metric of one comparison.

    Attributes
    ----------
    metric, set : catalogue name, and whose metric it is.
    feature : the sensitive feature; None for a metric of the whole table.
    feature_id, group_id : what they are; None where they are None, and in older reports.
    group : the group that is compared; "all" for a metric of the whole table, None for a metric of
        all groups of a feature that is undefined.
    reference : what it is compared with; None where nothing is compared.
    scope : all rows, one stratum, or all rows with strata pooled.
    class_scope : which classes of a multiclass audit.
    threshold : the score threshold, None without scores.
    mirror_of : the other group, where just two are compared with each other and its estimate is the
        same comparison seen from its side: tables, charts and families have that one alone.
    value : the estimate; None where undefined, +-inf where the formula gives it.
    bounds : the range of the value over all tables that agree with protected counts; None where the
        counts are exact. The value is then that of the rounded counts, and the interval the union
        of those of the range.
    interval : its confidence interval, None where there is none.
    simultaneous : the interval that holds together with those of all comparisons of the report;
        None where there is none.
    p_value, p_adjusted : of "no difference", alone and adjusted for all comparisons and tests of
        the report in a single step (Sidak): below one minus the level just where ``simultaneous``
        excludes "no difference". The second is None where nothing is decided: insufficient data,
        single strata.
    n_group, n_reference : the rows in the denominators of both sides.
    rate_group, rate_reference : the numbers that are compared.
    error : the most that the value can be off because scores were binned, None where it is exact.
    expected : the value that sampling variation alone gives under no difference, of distances.
    corrected : the value with that taken off, of divergences.
    status, reason : whether the value can be relied on, and why not, or why it has no interval.
    """

    metric: str
    set: str
    feature: str | None
    feature_id: SavedFeatureId = None
    group: str | None
    group_id: SavedGroupId = None
    reference: Inline[Reference | None]
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    mirror_of: str | None = None
    value: float | None = None
    interval: Inline[Interval | None] = None
    simultaneous: Interval | None = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    n_group: Finite | None = None
    n_reference: Finite | None = None
    rate_group: float | None = None
    rate_reference: float | None = None
    error: float | None = None
    bounds: Bounds | None = None
    expected: Finite | None = None
    corrected: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None

    @property
    def low(self) -> float | None:
        """Return the lower end of the interval, None without one."""
        return self.interval.low if self.interval else None

    @property
    def high(self) -> float | None:
        """Return the upper end of the interval, None without one."""
        return self.interval.high if self.interval else None

    @property
    def confidence(self) -> float | None:
        """Return the confidence level of the interval, None without one."""
        return self.interval.level if self.interval else None

    @property
    def stratum(self) -> str | None:
        """Return the stratum, None unless the estimate is of one stratum."""
        return self.scope.stratum

    @property
    def class_(self) -> str | None:
        """Return the class, None unless the estimate is of one class or of the worst."""
        return self.class_scope.name

    @property
    def of_separate_rates(self) -> bool:
        """Return whether it is of one rate of two groups that share no row, over all strata."""
        metric, reference = self.definition, self.reference
        methods = self.interval.methods if self.interval else ()
        # a rate of one's own is only described; its interval states that it is a share of rows
        rate = isinstance(metric, Contrast) and (
            isinstance(metric.of, Rate) or IntervalMethod.NEWCOMBE in methods
        )
        overall = reference is not None and reference.kind is ReferenceKind.OVERALL
        return rate and not overall and self.scope == OVERALL

    @property
    def key(self) -> ComparisonKey:
        """Return what distinguishes this comparison from all others of a report."""
        return (
            self.metric, self.feature, self.group, self.scope, self.class_scope, self.threshold,
        )  # fmt: skip

    @property
    def says(self) -> str:
        """Return the comparison as a sentence."""
        return in_words("estimate_sentences:describe", self)

    def __str__(self) -> str:
        return self.says or repr(self)  # which has the reason why there is no value


ComparisonKey: TypeAlias = tuple[str, str | None, str | None, Scope, ClassScope, float | None]
"""What distinguishes comparisons: metric, feature, group, scope, class and threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateValue:
    """A rate of one group.

    Attributes
    ----------
    value : None where undefined.
    numerator, denominator : the rows (or cases) that a share of rows counts, and those that it, or
        any other rate, is of, without weights; only shares have numerators. Rows that lack what the
        rate needs, such as a prediction, are in neither. Of protected counts they are as rounded as
        these.
    weighted_denominator : the sum of the weights of the rows of the denominator; None without
        weights.
    bounds : the range of the value over all tables that agree with protected counts; None where the
        counts are exact.
    interval : its confidence interval, None where there is none.
    error : the most that the value can be off because scores were binned, None where it is exact.
    status, reason : whether the value can be relied on, and why not, or why it has no interval.
    """

    value: float | None
    numerator: Finite | None = None
    denominator: Finite | None = None
    weighted_denominator: Finite | None = None
    interval: Inline[Interval | None] = None
    error: float | None = None
    bounds: Bounds | None = None
    status: Status = Status.OK
    reason: Reason | None = None

    @property
    def low(self) -> float | None:
        """Return the lower end of the interval, None without one."""
        return self.interval.low if self.interval else None

    @property
    def high(self) -> float | None:
        """Return the upper end of the interval, None without one."""
        return self.interval.high if self.interval else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPair(OfRow[Statistic]):
    """Two groups of a feature in one rate; the intervals of all pairs hold simultaneously.

    Attributes
    ----------
    feature, rate : of what.
    group, other : the group with the lower rate, and the one with the higher.
    class_scope, threshold : as of an `Estimate`.
    rate_group, rate_other : the two rates.
    difference, difference_interval : ``group - other``, never above 0.
    ratio : ``group / other``, never above 1; None where both rates are 0.
    ratio_low, ratio_high : its simultaneous interval, by the methods of that of the difference.
    pairs : how many pairs the simultaneous level covers.
    p_adjusted : of "no difference", adjusted for all pairs (Tukey) and all other comparisons of the
        report; below one minus the level exactly where the interval of the difference excludes 0.
    status, reason : whether the pair can be relied on, and if not, why.
    """

    feature: str
    rate: str
    group: str
    other: str
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    rate_group: Finite
    rate_other: Finite
    difference: Finite
    difference_interval: Inline[Interval]
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    pairs: int
    p_adjusted: Share
    status: Status = Status.OK
    reason: Reason | None = None

    @property
    def class_(self) -> str | None:
        """Return the class, None unless the rate is of one class."""
        return self.class_scope.name

    @property
    def ratio_interval(self) -> Interval | None:
        """Return the simultaneous interval of the ratio, None where both rates are 0."""
        if self.ratio_low is None or self.ratio_high is None:
            return None
        ends = self.difference_interval
        return Interval(self.ratio_low, self.ratio_high, ends.level, ends.methods)

    @property
    def significant(self) -> bool:
        """Return whether the groups differ statistically significantly, on enough data."""
        return self.status is Status.OK and self.difference_interval.high < 0

    @property
    def says(self) -> str:
        """Return the pair as a sentence."""
        return in_words("estimate_sentences:describe_pair", self)


Cells: TypeAlias = Annotated[Mapping[str, Finite], Keys(("tp", "fp", "fn", "tn"))]
"""The cells of a confusion matrix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The counts and rates of one group.

    Attributes
    ----------
    group, reference_kind : its name; the kind is "others" for the rows with a known value that is
        in no group of the audit, and "overall" for all rows with a known value.
    feature_id, group_id : what the feature and the group are; None in older reports.
    n, weight, share : its rows (or cases), their weight, and its share of the known rows.
    counts, weighted_counts : tp, fp, fn, tn; None without labels or predictions.
    rates : the rates that are computed.
    """

    feature: str
    feature_id: SavedFeatureId = None
    group: str
    group_id: SavedGroupId = None
    reference_kind: ReferenceKind | None = None
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    n: Finite = 0
    weight: Finite | None = None
    share: Share | None = None
    counts: Cells | None = None
    weighted_counts: Cells | None = None
    rates: Mapping[str, RateValue] = field(default_factory=dict)

    @property
    def stratum(self) -> str | None:
        """Return the stratum, None unless the counts are of one stratum."""
        return self.scope.stratum

    @property
    def class_(self) -> str | None:
        """Return the class, None unless the counts are of one class."""
        return self.class_scope.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCounts:
    """The scores of one group in bins: what ROC and calibration curves and sweeps are drawn from.

    Attributes
    ----------
    group, reference_kind : as of a `Group`.
    low, high : edges of the bins, equal where a bin is a single score.
    positive, negative, unlabelled : rows (or weights) in each bin, by label.
    total : sum of the scores of the rows with a label, in each bin.
    turned : the sum of the ends of the range where the scores are those of the negative value, so
        that a low score speaks for the positive one; None otherwise.
    """

    feature: str
    group: str
    reference_kind: ReferenceKind | None = None
    low: tuple[Finite, ...]
    high: tuple[Finite, ...]
    positive: tuple[Finite, ...]
    negative: tuple[Finite, ...]
    unlabelled: tuple[Finite, ...]
    total: tuple[Finite, ...]
    turned: Finite | None = None


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The least and the greatest value of a rate or comparison, whatever some rows do not state.

    Attributes
    ----------
    low, high : the values at the worst assignments.
    rows : how many rows have no group; or no outcome.
    outcomes : whether rows lack an outcome, which takes back a pass alone; else they lack a group.
    without_group : of outcomes, whether rows without a group, which may have one, are placed too.
    at_most : whether there may be fewer such rows, since counts are protected.
    beside : of each end, the group that would be its reference; None where that is as it is now.
    wider : of each end, how much further the limit of an interval is from the value there.
    """

    low: float
    high: float
    rows: int
    outcomes: bool = False
    without_group: bool = False
    at_most: bool = False
    beside: tuple[str | None, str | None] = (None, None)
    wider: tuple[float, float] = (1.0, 1.0)


ShownKey: TypeAlias = tuple[str, str | None, str | None, ClassScope, float | None]
"""A rate or metric, and of what: the feature, the group, the class and the threshold."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How much the people of known group show of probabilities.

    Attributes
    ----------
    known : how many people there are of known group.
    limits : returns the limits of an interval at a critical value if probabilities show the least
        that these people leave possible; None where that is nothing.
    random : whether they were drawn at random, and correct the estimate.
    contradiction : how they contradict what is assumed; None where they do not.
    unplaced : how many rows have neither probabilities nor a known group.
    worst : returns likewise how far the interval reaches wherever these are; None without any.
    sampled : whether the estimate is of these, too, by a random sample of all.
    """

    known: int
    limits: Callable[[float], tuple[float, float]] | None
    random: bool = False
    contradiction: Reason | None = None
    unplaced: int = 0
    worst: Callable[[float], tuple[float, float]] | None = None
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class Adequate:
    """What the data show of an extreme where they do not suffice for all of it.

    Attributes
    ----------
    estimates : of the groups and parts for which they suffice; the extreme is at least as extreme.
    reasons : why they do not for the others.
    """

    estimates: tuple[Estimate, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything computed from a cube.

    ``feature_ids`` holds what every feature is, ``group_ids`` what its groups are, by their names.
    ``shown`` holds how far the intervals of groups that nobody recorded reach if their
    probabilities show as little as people of known group leave possible. ``lacking`` and
    ``groupless`` hold the rows without an outcome or a group, which withhold a pass. ``unit`` is
    "people" where these were counted, and not rows.
    """

    task: Task
    groups: tuple[Group, ...]
    estimates: tuple[Estimate, ...]
    diagnostics: tuple[Diagnostic, ...]
    scores: tuple[ScoreCounts, ...] = ()
    pairs: tuple[GroupPair, ...] = ()
    totals: tuple[Group, ...] = ()
    worst_cases: Mapping[ComparisonKey, tuple[WorstCase, ...]] = field(default_factory=dict)
    lacking: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    groupless: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    uncounted: Mapping[str, int] = field(default_factory=dict)
    adequate: Mapping[ComparisonKey, Adequate] = field(default_factory=dict)
    group_ids: Mapping[str, Mapping[str, GroupId]] = field(default_factory=dict)
    feature_ids: Mapping[str, FeatureId] = field(default_factory=dict)
    estimators: tuple[ByEstimator, ...] = ()
    shown: Mapping[ShownKey, Shown] = field(default_factory=dict)
    unit: str | None = None

    def group_id(self, feature: str | None, group: str | None) -> GroupId | None:
        """Return what a group of a feature is, by their names; None where there is none."""
        if feature is None or group is None:
            return identity.EVERYONE if group == EVERYONE else None
        return self.group_ids.get(feature, {}).get(group)


def as_count(number: SupportsFloat) -> float | Any:
    """Return a count as an int where it is whole, None where it is unknown."""
    value = float(number)
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else value


def as_number(number: float) -> float | None:
    """Return a number, None where it is unknown."""
    return None if math.isnan(number) else float(number)
