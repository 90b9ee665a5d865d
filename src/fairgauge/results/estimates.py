"""Estimates: metrics of comparisons, groups with their rates, and what becomes of both.

Functions of estimates state how far one is from "no difference", whether significantly, and what
becomes of it when adjusted: they compute nothing new, so that every format may ask them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, SupportsFloat, TypeAlias

from fairgauge import enums
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.directions import is_ratio, is_reference_first
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import (
    AfterAdjusting,
    Direction,
    Favourable,
    Performance,
    ReferenceKind,
    Status,
)
from fairgauge.identity import FeatureId, GroupId
from fairgauge.question.rules import log_of
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results import scopes
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.scopes import NO_CLASS, OVERALL, ClassScope, HasDefinition, Interval, Scope
from fairgauge.start.records import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ByEstimator:
    """One comparison by one estimator; `Estimate` is by the one that decides.

    ``decides``: whether it is the one of the `Estimate`, and of verdicts.
    ``interval``: its confidence interval; of bounds the range that the data leave, widened by it.
    ``set_low, set_high``: the range that the data leave, of bounds.
    ``effective_people``: it is as precise as so many people of known group in the smaller side.
    """

    metric: str
    feature: str
    group: str
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    estimator: enums.Estimator
    decides: bool
    value: float | None = None
    interval: Inline[Interval]
    set_low: float | None = None
    set_high: float | None = None
    effective_people: Finite | None = None


LITTLE = 0.1
"""The change-in-estimate criterion: adjusting by less than a tenth changes an estimate little."""
_LACKING = {
    ReasonCode.OUTCOMES_MISSING: AfterAdjusting.LACKS_OUTCOMES,
    ReasonCode.GROUPS_MISSING: AfterAdjusting.LACKS_GROUPS,
}
NOTHING_CONCLUDED = (AfterAdjusting.LEAVES_OUT, AfterAdjusting.NOT_COMPARABLE, *_LACKING.values())
_OF_OTHER_ROWS = (ReasonCode.STRATA_MISSING, ReasonCode.FEW_COMPARED, *_LACKING)
"""Why nothing is concluded from an adjusted comparison, however small its p-value is."""
LEAST_COMMON = 0.5
"""The share of a side in strata that both have below which nothing is decided, nor extrapolated."""
EVERYONE = str(enums.GroupKind.EVERYONE)
"""The group of a metric of the whole table, which has no feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(HasDefinition[Metric]):
    """One metric of one comparison.

    ``set``: whose metric it is. ``feature, group``: None and "all" of one of the whole table.
    ``mirror_of``: the other of just two groups, with the same comparison seen from its side.
    ``value``: None where undefined, +-inf where the formula gives it.
    ``bounds``: its range over all tables that agree with protected counts; of the sum of several
    limits for the rows themselves that hold with a probability of .999; None of exact counts.
    ``simultaneous``: the interval that holds together with those of all comparisons of the report.
    ``p_value``: of "no difference". ``p_adjusted``: for all tests of the report (Sidak); None where
    nothing is decided: insufficient data, single strata.
    ``error``: the most that the value can be off because scores were binned.
    ``expected, corrected``: of distances, what sampling alone gives, and the value less that.
    ``status, reason``: whether the value can be relied on, and why not, or has no interval.
    """

    metric: str
    set: str
    feature: str | None
    feature_id: Inline[FeatureId | None] = None
    group: str | None
    group_id: Inline[GroupId | None] = None
    reference: Inline[scopes.Reference | None]
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
    bounds: scopes.Bounds | None = None
    expected: Finite | None = None
    corrected: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None

    @property
    def low(self) -> float | None:
        return self.interval.low if self.interval else None

    @property
    def high(self) -> float | None:
        return self.interval.high if self.interval else None

    @property
    def confidence(self) -> float | None:
        return self.interval.level if self.interval else None

    @property
    def stratum(self) -> str | None:
        return self.scope.stratum

    @property
    def class_(self) -> str | None:
        return self.class_scope.name

    @property
    def of_separate_rates(self) -> bool:
        """Return whether it is of one rate of two groups that share no row, over all strata."""
        metric, reference = self.definition, self.reference
        methods = self.interval.methods if self.interval else ()
        # a rate of one's own is only described; its interval states that it is a share of rows
        of_rates = isinstance(metric, Contrast) and (
            isinstance(metric.of, Rate) or enums.IntervalMethod.NEWCOMBE in methods)  # fmt: skip
        overall = reference is not None and reference.kind is ReferenceKind.OVERALL
        return of_rates and not overall and self.scope == OVERALL

    @property
    def key(self) -> ComparisonKey:
        return (self.metric, self.feature, self.group, self.scope, self.class_scope, self.threshold)

    says = scopes.Worded("words.verdict_sentences:describe")

    def __str__(self) -> str:
        return self.says or repr(self)  # which has the reason why there is no value


ComparisonKey: TypeAlias = tuple[str, str | None, str | None, Scope, ClassScope, float | None]
"""What distinguishes comparisons: metric, feature, group, scope, class and threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateValue:
    """A rate of one group.

    ``numerator, denominator``: the rows that a share counts, and that any rate is of, unweighted.
    ``weighted_denominator``: the sum of the weights of the rows of the denominator.
    ``bounds``: its range over all tables that agree with protected counts; of the sum of several
    limits for the rows themselves that hold with a probability of .999; None of exact counts.
    ``error``: the most that the value can be off because scores were binned.
    """

    value: float | None
    numerator: Finite | None = None
    denominator: Finite | None = None
    weighted_denominator: Finite | None = None
    interval: Inline[Interval | None] = None
    error: float | None = None
    bounds: scopes.Bounds | None = None
    status: Status = Status.OK
    reason: Reason | None = None

    @property
    def low(self) -> float | None:
        return self.interval.low if self.interval else None

    @property
    def high(self) -> float | None:
        return self.interval.high if self.interval else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPair(HasDefinition[Statistic]):
    """Two groups of a feature in one rate; the intervals of all its pairs hold simultaneously.

    ``group, other``: the group with the lower rate, and the one with the higher.
    ``pairs``: how many pairs the simultaneous level covers.
    ``p_adjusted``: for all pairs (Tukey) and all other comparisons of the report.
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
        return self.class_scope.name

    @property
    def significant(self) -> bool:
        return self.status is Status.OK and self.p_adjusted < 1 - self.difference_interval.level


Cells: TypeAlias = Annotated[Mapping[str, Finite], ("tp", "fp", "fn", "tn")]
"""The cells of a confusion matrix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The counts and rates of one group; of "others" and of all together by ``reference_kind``."""

    feature: str
    feature_id: Inline[FeatureId | None] = None
    group: str
    group_id: Inline[GroupId | None] = None
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
        return self.scope.stratum

    @property
    def class_(self) -> str | None:
        return self.class_scope.name


def as_count(number: SupportsFloat) -> float | Any:
    """Return a count as an int where it is whole, None where it is unknown."""
    value = float(number)
    return None if math.isnan(value) else int(value) if value == int(value) else value


def as_number(number: float) -> float | None:
    """Return a number, None where it is unknown."""
    return None if math.isnan(number) else float(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyOfTests:
    """The tests that a report judges together: adjusted p-values and wider intervals are for these.

    A difference and the ratio beside it are one comparison, as are two mirrored groups.
    """

    DERIVED: ClassVar = ("tests",)

    comparisons: int
    homogeneity: int = 0
    all_pairs: int = 0

    @property
    def tests(self) -> int:
        return self.comparisons + self.homogeneity + self.all_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A disparity that a report leads with: the group of a feature that fares worst in a rate.

    ``why``: the criterion that chose it first.
    ``interval``: its own, as in ``estimate``.
    ``beside``: the group's significant contrast in the rate that is reported with this one.
    ``others, others_beside``: those of other groups in these two rates, the largest first.
    """

    rate: str
    why: tuple[enums.FindingReason, ...]
    interval: Inline[Interval | None]
    p_adjusted: Share | None
    family: FamilyOfTests | None = None
    estimate: Estimate
    adjusted: Estimate | None = None
    beside: Estimate | None = None
    adjusted_for: str | None = None
    others: tuple[Estimate, ...] = ()
    others_beside: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdverseImpact:
    """The selections of a group beside those to expect if group and reference had equal rates.

    ``tables``: how many were tested together: one, or one for each stratum with both sides.
    ``expected, shortfall``: the selections to expect, and how many fewer there are.
    ``standard_deviations``: the shortfall in these (Mantel-Haenszel); None of one possible number.
    ``p``: exact, two-sided, given the selections of both sides; None where too many are possible.
    ``ratio_of_one_other``: if one of the group had been selected in place of one of the reference.
    ``turned``: whether that takes the ratio across a rule's limit; None without such a rule.
    """

    feature: str
    group: str
    reference: str
    tables: int
    n: int
    n_reference: int
    selected: int
    selected_reference: int
    expected: Finite
    shortfall: Finite
    standard_deviations: Finite | None
    p: Share | None
    ratio: Finite | None
    ratio_of_one_other: Finite | None
    turned: bool | None


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """The rows of a group whose scores are in one tenth of 0 to 1: (0, 0.1], ... (0.9, 1]."""

    up_to: Finite
    n: Finite
    mean_score: Finite
    observed: Share  # the share of positive labels
    low: float | None  # its interval (Wilson); none where rows are weighted or not independent
    high: float | None


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """What is drawn of the scores of a group: calibration, of probabilities, and ROC curve."""

    feature: str
    group: str
    bins: tuple[ScoreBin, ...]
    false_positive_rates: tuple[Share, ...]
    true_positive_rates: tuple[Share, ...]


Became = Literal["further", "closer", "changed", "moved", "untested", "undefined", "stayed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange(HasDefinition[Statistic]):
    """A rate of one group under both models, on the same rows.

    ``feature, group``: None and "all" of all rows.
    ``change, interval``: new less old, with its paired interval.
    """

    rate: str
    feature: str | None
    group: str
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    old: float | None = None
    new: float | None = None
    change: float | None = None
    interval: Interval | None = None
    p_value: Share | None = None
    n: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityChange(HasDefinition[Metric]):
    """A disparity before and after: under two models on the same rows, or in two reports.

    ``feature, group, reference``: no feature of an index of all rows; of reports as in the new one.
    ``by, change``: whether it changes by a difference (new - old) or by a ratio (new / old).
    ``distance``: the change of the distance from "no difference", of ratios of its logarithm.
    ``distance_adjusted``: its interval at the level at which it is tested among all disparities.
    ``direction``: closer to "no difference" or further from it; None where it cannot be known.
    ``crossed, other_side``: whether it is beyond "no difference" now, and significantly (Holm).
    ``changed``: whether the change itself is statistically significant, wherever it leads.
    ``change_p_value, change_p_adjusted, p_value, p_adjusted``: of no change, of "as far as before".
    ``significant``: whether the direction is statistically significant.
    ``margin, margin_interval``: by how much further it may be, and the interval held against it.
    ``outcome``: whether that whole interval is within it; None where it is no part of the verdict.
    ``overturned``: whether excluded rows could overturn that it is closer, or within its margin.
    ``mirror``: the other of just two groups, whose change is the mirror image of this one.
    ``before, after``: the estimates of two reports; None of models.
    """

    metric: str
    feature: str | None
    group: str | None
    reference: Inline[scopes.Reference | None]
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    old: float | None = None
    new: float | None = None
    old_interval: Interval | None = None
    new_interval: Interval | None = None
    by: Literal["difference", "ratio"] = "difference"
    change: float | None = None
    interval: Interval | None = None
    distance: float | None = None
    distance_interval: Interval | None = None
    direction: Direction | None = None
    crossed: bool = False
    other_side: bool = False
    changed: bool = False
    change_p_value: Share | None = None
    change_p_adjusted: Share | None = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    distance_adjusted: Interval | None = None
    significant: bool = False
    margin: Finite | None = None
    margin_interval: Interval | None = None
    outcome: Performance | None = None
    overturned: bool = False
    n_group: Finite | None = None
    n_reference: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None
    mirror: str | None = None
    before: Estimate | None = None
    after: Estimate | None = None

    def withheld(self, why: scopes.WhyWithheld) -> DisparityChange:
        """Return it overturned where it stands on something doubted: not closer, nor as good."""
        is_as_good = self.outcome is Performance.NON_INFERIOR
        is_closer = self.significant and self.direction is Direction.CLOSER
        if not (is_as_good or is_closer) or why(self.definition.needs, self.feature) is None:
            return self
        outcome = Performance.CANNOT_TELL if is_as_good else self.outcome
        return replace(self, outcome=outcome, overturned=True)

    @property
    def worse(self) -> bool:
        """Return whether it is significantly further, or on the other side and not closer."""
        return self.direction is Direction.FURTHER if self.significant else self.other_side

    @property
    def moved(self) -> bool:
        if self.old is None or self.new is None:
            return self.old is not self.new
        return not math.isclose(self.old, self.new, abs_tol=1e-9)

    @property
    def size(self) -> float:
        change = self.change or 0.0
        return abs(change) if self.by != "ratio" else abs(math.log(change)) if change else math.inf

    @property
    def apart(self) -> bool:
        old, new = self.old_interval, self.new_interval
        return old is not None and new is not None and (old.high < new.low or new.high < old.low)

    @property
    def untested(self) -> bool:
        return self.moved and self.change is not None and self.change_p_adjusted is None

    @property
    def became(self) -> Became:
        """Return what became of it: where it went if a test shows it, or whether it moved."""
        if self.change is None or not self.moved:
            return "undefined" if self.moved else "stayed"
        if self.significant and self.direction is not None:
            return "further" if self.direction is Direction.FURTHER else "closer"
        return "changed" if self.changed else "untested" if self.untested else "moved"


def gap(each: Estimate) -> float:
    """Return the rate of a group less that of its reference, whichever way a metric contrasts them.

    Of a ratio without rates it is how far it is from 1; of what has a range alone, of its middle.
    """
    value, row = each.value or 0.0, each.definition
    if each.value is None and each.interval is not None:
        value = (each.interval.low + each.interval.high) / 2
    if not is_ratio(row):
        return -value if is_reference_first(row) else value
    if each.rate_group is None or each.rate_reference is None:
        return value - 1.0
    return each.rate_group - each.rate_reference


def distance(each: Estimate) -> float:
    """Return how far an estimate is from "no difference"; a ratio as far as its inverse.

    An infinite value means that a count is 0, not how a group fares: it stands last.
    """
    value, middle = each.value or 0.0, each.definition.neutral
    if math.isinf(value):
        return -1.0
    if middle == 1:
        return abs(math.log(value)) if value > 0 else math.inf
    return abs(value if math.isnan(middle) else value - middle)


def is_significant(each: Estimate) -> bool:
    """Return whether an estimate differs significantly from none, judged with all others.

    What is in no family does not, nor an adjusted comparison of too few, or other, rows.
    """
    if each.p_adjusted is None or each.confidence is None or is_of_other_rows(each):
        return False
    if each.simultaneous is not None:
        return each.definition.neutral not in each.simultaneous
    return each.p_adjusted <= 1 - each.confidence


def is_of_other_rows(each: Estimate) -> bool:
    """Return whether nothing is concluded from an adjusted comparison, for the rows that it has."""
    return each.reason is not None and each.reason.code in _OF_OTHER_ROWS


def after_adjusting(overall: Estimate, adjusted: Estimate) -> AfterAdjusting | None:
    """Return what becomes of a significant difference, None where it is not significant overall.

    One that is no longer significant has disappeared only where the adjusted interval excludes the
    value of all rows: otherwise the strata may merely have cost precision. Nothing is concluded
    where rows that lack something could change what is shown, or over half of a side is alone.
    """
    if overall.value is None or adjusted.value is None:
        return None
    if adjusted.reason is not None and adjusted.reason.code is ReasonCode.STRATA_MISSING:
        return AfterAdjusting.LEAVES_OUT
    if min(shares_compared(overall, adjusted)) < LEAST_COMMON:
        return AfterAdjusting.NOT_COMPARABLE
    if adjusted.reason is not None and adjusted.reason.code in _LACKING:
        return _LACKING[adjusted.reason.code]
    if not is_significant(overall):
        return None
    neutral = overall.definition.neutral
    if is_significant(adjusted):
        opposite = (overall.value - neutral) * (adjusted.value - neutral) < 0
        return AfterAdjusting.REVERSES if opposite else AfterAdjusting.REMAINS
    interval = adjusted.simultaneous or adjusted.interval
    if interval is not None and overall.value not in interval:
        return AfterAdjusting.DISAPPEARS
    before, after = overall.value - neutral, adjusted.value - neutral
    if is_ratio(overall.definition):
        before, after = log_of(overall.value / neutral), log_of(adjusted.value / neutral)
    little = math.isfinite(before) and abs(after - before) <= LITTLE * abs(before)
    return AfterAdjusting.CHANGES_LITTLE if little else AfterAdjusting.NOT_SIGNIFICANT


def shares_compared(overall: Estimate, adjusted: Estimate) -> tuple[float, float]:
    """Return the shares of a group and of its reference that are in strata with both."""
    sizes = (adjusted.n_group, overall.n_group), (adjusted.n_reference, overall.n_reference)
    group, reference = (n / of if n is not None and of else 1.0 for n, of in sizes)
    return group, reference


def favourable_in(favourable: Favourable, scope: ClassScope) -> Favourable:
    """Return what is better in one class: which of several classes is better nobody stated."""
    return favourable if scope.name is None else Favourable.NEITHER


def other_group(
    groups: Iterable[tuple[str, str]], contrast: Estimate | DisparityChange
) -> str | None:
    """Return the one group that a group is compared with: of two groups all others are one.

    None where it is compared with several together. ``groups`` are features with their groups.
    """
    reference = contrast.reference
    if reference is None or reference.kind is not ReferenceKind.OTHERS:
        return None if reference is None else reference.group
    others = (g for feature, g in groups if feature == contrast.feature and g != contrast.group)
    only = next(others, None)
    return only if all(each == only for each in others) else None
