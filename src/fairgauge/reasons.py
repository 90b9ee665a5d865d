"""Reasons: why a number is undefined, has no confidence interval, or decides nothing.

A reason is a code with parameters. The sentence that a person reads is made from them in
`fairgauge.render.grammar`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from fairgauge.values import Json, Saved

FEWEST_ROWS, FEWEST_EXPECTED = 20, 5
"""The data of a rate are insufficient with fewer rows, or where a cell without a difference expects
fewer: no rule is evaluated, and no such group is chosen as a reference."""


class ReasonCode(StrEnum):
    """What stands in the way; the parameters of each are named beside it."""

    ALL_OF = "all_of"  # reasons

    # the value is undefined
    NO_ROWS = "no_rows"  # of
    NO_POSITIVES = "no_positives"  # of: label, prediction
    NO_NEGATIVES = "no_negatives"  # of: label, prediction
    EMPTY_DENOMINATOR = "empty_denominator"  # counts, formula; weighted
    LACKING_VALUES = "lacking_values"  # column, lacking, rows, counts
    BOTH_SIDES_EQUAL_RATE = "both_sides_equal_rate"  # rate, value
    RATIO_NOT_ABOVE_ZERO = "ratio_not_above_zero"  # rate
    BOTH_SIDES_INFINITE = "both_sides_infinite"  # rate
    BOTH_SIDES_ZERO = "both_sides_zero"
    ONE_CLASS_ONLY = "one_class_only"  # of
    NO_ROW_OF_CLASS = "no_row_of_class"
    NO_CLASS_DEFINED = "no_class_defined"  # reasons
    NO_VARIATION = "no_variation"  # of
    NO_BENEFIT = "no_benefit"
    NOT_CONVERGED = "not_converged"  # of
    FEWER_THAN_TWO_GROUPS = "fewer_than_two_groups"
    NO_GROUPS = "no_groups"
    NO_COMMON_STRATUM = "no_common_stratum"
    STRATA_DECIDE = "strata_decide"  # of
    NONE_AT_TOP = "none_at_top"
    ALL_AT_TOP = "all_at_top"  # rows
    EMPTY_FACET = "empty_facet"
    FAILED = "failed"  # detail

    # the metric does not apply
    WRONG_TASK = "wrong_task"  # task
    NEEDS_COLUMNS = "needs_columns"  # columns
    NEEDS_PROBABILITIES = "needs_probabilities"
    NEEDS_POPULATION = "needs_population"
    NEEDS_STRATA = "needs_strata"
    NEEDS_FEATURES = "needs_features"
    NEEDS_ROWS = "needs_rows"
    NO_WEIGHTS = "no_weights"
    PROTECTED = "protected"
    PROTECTED_REFERENCE = "protected_reference"  # reference, column
    PROTECTED_EMPTY = "protected_empty"
    PROTECTED_UNDEFINED = "protected_undefined"

    GROUP_NOT_RECORDED = "group_not_recorded"
    NOT_IDENTIFIED = "not_identified"  # groups

    # there is too little data
    FEW_ROWS = "few_rows"  # n, minimum, side, at_least; of a part: rows, counts, column, values
    FEW_EXPECTED = "few_expected"  # expected, minimum
    SPARSE_CLASS = "sparse_class"  # rows, minimum
    FEW_IN_MINORITY = "few_in_minority"  # rows, minimum
    FEW_EFFECTIVE_ROWS = "few_effective_rows"  # rows, minimum, side
    FEW_ERRORS = "few_errors"  # rows, minimum
    FEW_ERRORS_TOGETHER = "few_errors_together"  # rows, minimum
    CONSTANT_SCORE = "constant_score"
    FEW_IN_TAIL = "few_in_tail"  # rows, minimum
    SUMS_NOT_COUNTED = "sums_not_counted"
    FEW_CLUSTERS = "few_clusters"  # clusters, minimum
    THIN_STRATA = "thin_strata"  # minimum, share, of
    FEW_EFFECTIVE_PEOPLE = "few_effective_people"  # people, minimum, side
    FEW_KNOWN_PEOPLE = "few_known_people"  # people, minimum, side
    UNSHOWN_PROBABILITIES = "unshown_probabilities"  # known, low, high
    ANSWERS_CONTRADICT = "answers_contradict"  # known, p; group, share: of whom the rate, if one's
    SMALL_GROUP = "small_group"  # n, minimum, side; share, known where a share sets the minimum
    INADEQUATE = "inadequate"  # detail

    # there is no confidence interval
    NO_METHOD = "no_method"  # of
    NO_CLUSTER_METHOD = "no_cluster_method"
    ROW_METRIC_WITH_CLUSTERS = "row_metric_with_clusters"
    SCORES_NOT_BY_CLUSTER = "scores_not_by_cluster"
    DISTANCE_WITH_CLUSTERS = "distance_with_clusters"
    JACKKNIFE_UNDEFINED = "jackknife_undefined"
    CLUSTERS_TOO_FEW_OR_UNDEFINED = "clusters_too_few_or_undefined"  # minimum
    SHARED_CLUSTERS = "shared_clusters"  # of
    SHARED_ROWS = "shared_rows"  # of
    RATIO_MAY_BE_ZERO = "ratio_may_be_zero"
    VALUE_OUTSIDE_INTERVAL = "value_outside_interval"
    UNBOUNDED = "unbounded"
    TOO_MANY_STRATA = "too_many_strata"
    TOO_MANY_GROUPS = "too_many_groups"
    RESAMPLED_NOT_POOLED = "resampled_not_pooled"
    POOLED_WITH_WHOLE = "pooled_with_whole"
    ROUNDING = "rounding"
    OWN_REFERENCE = "own_reference"
    OWN_NEIGHBOURS = "own_neighbours"
    ONE_RANK = "one_rank"
    ONE_GROUP_RANKED = "one_group_ranked"
    POINT_MASS = "point_mass"  # of
    NOT_OF_DECISIONS = "not_of_decisions"  # of
    NO_PAIRED_METHOD = "no_paired_method"  # of

    # groups cannot differ
    ONE_DECISION = "one_decision"  # positive, or value: what all are; threshold, or cut: where
    ONE_VALUE = "one_value"  # of: label, prediction or score; positive or value; threshold

    # it is of other rows than the one that it adjusts
    STRATA_MISSING = "strata_missing"  # rows, total, unit
    FEW_COMPARED = "few_compared"
    OUTCOMES_MISSING = "outcomes_missing"  # more often on one side, and could leave none shown
    GROUPS_MISSING = "groups_missing"  # of rows that have other rates than the others

    # a verdict
    INSIDE = "inside"  # volunteers: on whom a pass rests of groups known by probabilities
    BELOW = "below"  # limit, sufficient: of groups with sufficient data, where others lack them;
    # missing, unit, low, high: rows without an outcome that could change a fail, and how far;
    # what: a weight or a count, which they lack instead, then without low and high;
    # together: why a fail does not remain, where rows without a group alone keep it from that
    ABOVE = "above"  # likewise
    CROSSES = "crosses"
    # limit, second, needed, power, on_limit, rows, of_group (of these, those of
    # the group), detectable, detectable_ratio
    POINT_INSIDE = "point_inside"  # volunteers; decide: "significant" if a fail has to be so
    POINT_OUTSIDE = "point_outside"  # missing, what: as above
    SIGNIFICANT_OUTSIDE = "significant_outside"  # likewise
    NOT_SIGNIFICANT = "not_significant"
    ALTERNATIVES = "alternatives"
    BOUNDS_CROSS = "bounds_cross"  # low, high
    MISSING_GROUPS = (
        "missing_groups"  # rows, at_most, unit, low, high, alone, by_value, without_group, what
    )
    MISSING_OUTCOMES = "missing_outcomes"  # likewise
    NOT_COUNTED = "not_counted"  # what, rows, alone
    UNCLEAR_VALUES = "unclear_values"  # likewise
    FAVOURABLE_UNSTATED = "favourable_unstated"  # likewise
    REFERENCE_NOT_SHOWN = "reference_not_shown"  # chosen, other; to_chosen, to_other: likewise
    NO_ESTIMATE = "no_estimate"  # what, name, nearest; held: the names that there are
    NO_VALUE = "no_value"
    NO_INTERVAL = "no_interval"
    FAMILYWISE = "familywise"  # comparisons, together: as above
    COUNTED_AS = "counted_as"  # undecided, outcome, reasons, by_rule

    # a change between two reports
    OLD_OR_NEW_UNDEFINED = "old_or_new_undefined"  # report, reasons; when, of no report
    OLD_OR_NEW_WITHOUT_INTERVAL = "old_or_new_without_interval"  # report
    DIFFERENT_REFERENCES = "different_references"
    DIFFERENT_LEVELS = "different_levels"
    SAME_ROWS = "same_rows"  # evidence: stated, fingerprint, sizes
    ASKED_DIFFERENTLY = "asked_differently"  # keys
    BOTH_UNBOUNDED = "both_unbounded"

    # a verdict of one report alone
    ABSENT = "absent"  # what, report
    IS_REFERENCE = "is_reference"  # name, report
    NOT_JUDGED = "not_judged"  # report

    TEXT = "text"  # text: a reason of a report saved by version 1


NOT_EVALUABLE = frozenset({
    ReasonCode.NO_ESTIMATE, ReasonCode.NO_GROUPS, ReasonCode.IS_REFERENCE, ReasonCode.WRONG_TASK,
    ReasonCode.NEEDS_COLUMNS, ReasonCode.NEEDS_PROBABILITIES, ReasonCode.NEEDS_POPULATION,
    ReasonCode.NEEDS_STRATA, ReasonCode.NEEDS_FEATURES, ReasonCode.NEEDS_ROWS,
    ReasonCode.NO_WEIGHTS, ReasonCode.GROUP_NOT_RECORDED, ReasonCode.NOT_IDENTIFIED,
    ReasonCode.FAILED, ReasonCode.FEWER_THAN_TWO_GROUPS, ReasonCode.FEW_EFFECTIVE_PEOPLE,
    ReasonCode.FEW_KNOWN_PEOPLE,
})  # fmt: skip
"""Why a rule has nothing to be held against, whatever the data: it is never a pass."""
WITHOUT_METHOD = frozenset({
    ReasonCode.NO_METHOD, ReasonCode.NO_CLUSTER_METHOD, ReasonCode.ROW_METRIC_WITH_CLUSTERS,
    ReasonCode.SCORES_NOT_BY_CLUSTER, ReasonCode.DISTANCE_WITH_CLUSTERS,
    ReasonCode.SHARED_CLUSTERS, ReasonCode.SHARED_ROWS, ReasonCode.TOO_MANY_STRATA,
    ReasonCode.TOO_MANY_GROUPS, ReasonCode.RESAMPLED_NOT_POOLED, ReasonCode.POOLED_WITH_WHOLE,
    ReasonCode.OWN_REFERENCE, ReasonCode.OWN_NEIGHBOURS, ReasonCode.NOT_OF_DECISIONS,
})  # fmt: skip
"""Why there is no confidence interval, however many rows there are."""


Parameter: TypeAlias = (
    "str | int | float | bool | tuple[str, ...] | tuple[float, ...] | tuple[Reason, ...] | None"
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not as asked.

    Attributes
    ----------
    code : what stands in the way.
    side : "group" or "reference" where one side alone is concerned.
    parameters : the names and values that the code calls for, sorted by name.

    Examples
    --------
    >>> few = Reason.of(ReasonCode.FEW_ROWS, n=12, minimum=20).on("reference")
    >>> few.code, few.side, few["n"]
    (<ReasonCode.FEW_ROWS: 'few_rows'>, 'reference', 12)
    """

    code: ReasonCode
    side: str | None = None
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @classmethod
    def of(cls, code: ReasonCode, **parameters: Parameter) -> Reason:
        """Make a reason of a code and its parameters; those that are None are omitted."""
        known = ((name, value) for name, value in parameters.items() if value is not None)
        return cls(code, None, tuple(sorted(known)))

    def on(self, side: str) -> Reason:
        """Return the same reason, of one side of a comparison."""
        return Reason(self.code, side, self.parameters)

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    def get(self, name: str) -> Any:
        """Return a parameter, None where it is absent."""
        return dict(self.parameters).get(name)

    def to_dict(self) -> dict[str, Json]:
        """Return the reason as plain values, without its sentence."""
        plain: dict[str, Json] = {name: _plain(value) for name, value in self.parameters}
        return {"code": str(self.code), "side": self.side, "parameters": plain}

    @classmethod
    def from_dict(cls, plain: Saved) -> Reason:
        """Read what `to_dict` wrote."""
        parameters = ((name, _typed(value)) for name, value in plain["parameters"].items())
        return cls(ReasonCode(plain["code"]), plain.get("side"), tuple(sorted(parameters)))


def all_of(reasons: Iterable[Reason]) -> Reason:
    """Join several reasons that hold together; a single one stands for itself."""
    several = tuple(reasons)
    return several[0] if len(several) == 1 else Reason.of(ReasonCode.ALL_OF, reasons=several)


def _plain(value: Parameter) -> Json:
    if isinstance(value, tuple):
        return [each.to_dict() if isinstance(each, Reason) else each for each in value]
    return value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(Reason.from_dict(each) if isinstance(each, dict) else each for each in value)
    return value
