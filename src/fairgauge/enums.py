"""The closed vocabularies: one meaning, one word, everywhere the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Whether a number can be relied on, and if not, why not."""

    OK = "ok"
    UNDEFINED = "undefined"
    TOO_FEW = "too_few"
    NOT_APPLICABLE = "not_applicable"
    ERROR = "error"


class Outcome(StrEnum):
    """What a rule, a feature or an audit came to."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_EVALUATED = "not_evaluated"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRules:
    """How a profile reads what its sources leave open; by default as they are documented.

    Attributes
    ----------
    zero_over_zero_is_zero : 0/0 and inf - inf are 0, and not undefined.
    threshold_is_exclusive : a score that equals the threshold is below it.
    missing_outcome_is_negative : a missing label, prediction or score counts as negative.
    missing_facet_is_reference : a row without a group counts with the reference.
    empty_facet_has_metrics : metrics are computed where a side has no rows.
    classes_are_collapsed : distances of labels are of positive and negative alone.
    distances_of_shared_classes : distances are of classes that both sides have.
    strata_need_both_outcomes : a stratum with one outcome leaves a conditional metric undefined.
    flips_are_favoured : flips count rows that decide better than their neighbours as positive.
    features_are_scaled : neighbours are found by scaled features of any type.
    types_are_guessed : a column's type follows from its values as in the service's code.
    """

    zero_over_zero_is_zero: bool = False
    threshold_is_exclusive: bool = False
    missing_outcome_is_negative: bool = False
    missing_facet_is_reference: bool = False
    empty_facet_has_metrics: bool = True
    classes_are_collapsed: bool = False
    distances_of_shared_classes: bool = False
    strata_need_both_outcomes: bool = False
    flips_are_favoured: bool = False
    features_are_scaled: bool = True
    types_are_guessed: bool = False


_AS_DOCUMENTED = ProfileRules()


class Profile(StrEnum):
    """Which reading of the sources is computed; its ``rules`` state what that means."""

    rules: ProfileRules

    def __new__(cls, word: str, rules: ProfileRules = _AS_DOCUMENTED) -> Profile:
        made = str.__new__(cls, word)
        made._value_ = word
        made.rules = rules
        return made

    DOCUMENTED = "documented"
    CLARIFY = (
        "clarify",
        ProfileRules(
            zero_over_zero_is_zero=True,
            threshold_is_exclusive=True,
            missing_outcome_is_negative=True,
            missing_facet_is_reference=True,
            empty_facet_has_metrics=False,
            classes_are_collapsed=True,
            distances_of_shared_classes=True,
            strata_need_both_outcomes=True,
            flips_are_favoured=True,
            features_are_scaled=False,
            types_are_guessed=True,
        ),
    )


class Missing(StrEnum):
    """What happens to a row whose sensitive feature is missing."""

    EXCLUDE = "exclude"
    GROUP = "group"
    ERROR = "error"


class ReferenceRule(StrEnum):
    """What a group is asked to be compared with, unless a value is named."""

    OTHERS = "others"
    OVERALL = "overall"
    LARGEST = "largest"
    BEST = "best"


class Assume(StrEnum):
    """Under which assumption estimates from probabilities of groups decide verdicts."""

    GIVEN_GROUP = "given_group"
    NOTHING = "nothing"


class KnownDrawn(StrEnum):
    """How the rows were drawn of which the group is known, where it is otherwise not recorded."""

    UNKNOWN = "unknown"
    RANDOM = "random"


class Estimator(StrEnum):
    """How a rate of groups is estimated from their probabilities."""

    LIKELIHOOD = "likelihood"
    BOUNDS = "bounds"
    VALIDATED = "validated"


class Uncounted(StrEnum):
    """Why a row, or a person, could not be counted at all. The words are those of saved cubes."""

    NO_COUNT = "missing count"
    NO_WEIGHT = "missing weight"
    SAME_PERSON = "further row of the same person"


class Person(StrEnum):
    """What counts of the decisions of one person."""

    ANY = "any"
    LAST = "last"
    EACH = "each"


class Closed(StrEnum):
    """Which edge of an interval belongs to it."""

    RIGHT = "right"
    LEFT = "left"


class Ends(StrEnum):
    """Which ends of a range belong to it."""

    RIGHT = "right"
    LEFT = "left"
    BOTH = "both"
    NEITHER = "neither"


class GroupKind(StrEnum):
    """Of what a group is made."""

    VALUES = "values"
    INTERVAL = "interval"
    MISSING = "missing"
    INTERSECTION = "intersection"
    OTHERS = "others"
    OVERALL = "overall"
    EVERYONE = "all"


class Accepts(StrEnum):
    """How a score that gets the favourable decision compares with its threshold."""

    FROM = ">="
    ABOVE = ">"
    BELOW = "<"
    UP_TO = "<="

    def decides(self, score: float, threshold: float) -> bool:
        """Return whether a score gets the favourable decision.

        >>> Accepts.FROM.decides(0.5, 0.5), Accepts.BELOW.decides(0.5, 0.5)
        (True, False)
        """
        match self:
            case Accepts.FROM:
                return score >= threshold
            case Accepts.ABOVE:
                return score > threshold
            case Accepts.BELOW:
                return score < threshold
            case Accepts.UP_TO:
                return score <= threshold


class Threshold(StrEnum):
    """A score threshold that the data determine."""

    MEDIAN = "median"


class Decide(StrEnum):
    """What decides a rule: the whole confidence interval, the value alone, or a significant value.

    With SIGNIFICANT a value outside the limits fails where it differs statistically significantly
    from "no difference".
    """

    INTERVAL = "interval"
    POINT = "point"
    SIGNIFICANT = "significant"


class Insufficient(StrEnum):
    """What a rule comes to where the data are insufficient to decide it."""

    REPORT = "report"
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    IGNORE = "ignore"


class Multiplicity(StrEnum):
    """Which error rate is controlled where several decisions are made."""

    PER_DECISION = "per-decision"
    FAMILYWISE = "familywise"


class Task(StrEnum):
    """What the label and the prediction are."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"


class Method(StrEnum):
    """How intervals are made."""

    DEFAULT = "default"
    EXACT = "exact"
    BOOTSTRAP = "bootstrap"
    BAYES = "bayes"


class Level(StrEnum):
    """How much a diagnostic matters."""

    NOTE = "note"
    WARNING = "warning"


class Better(StrEnum):
    """Which direction of a rate favours a group."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Favourable(StrEnum):
    """Which decision, or which direction of an amount, is better for the person it is about."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Role(StrEnum):
    """What an axis of a cube stands for."""

    FEATURE = "feature"
    STRATUM = "stratum"
    LABEL = "label"
    PREDICTION = "prediction"
    CANDIDATE = "candidate"
    SCORE = "score"
    CLUSTER = "cluster"
    ITEM = "item"
    FAMILY = "family"
    VARIANT = "variant"
    MODEL = "model"
    CONDITION = "condition"
    PROXY = "proxy"  # the cell of the probabilities of groups that are not recorded
    KNOWN = "known group"  # of those who reported it, where it is otherwise not recorded


class ScopeKind(StrEnum):
    """Which rows an estimate is of."""

    OVERALL = "overall"
    STRATUM = "stratum"
    POOLED = "pooled"


class ClassKind(StrEnum):
    """Which classes of a multiclass audit, or which cut of ordered levels, an estimate is of."""

    NONE = "none"
    CLASS = "class"
    SELECTION = "selection"
    AVERAGE = "average"
    WORST = "worst"


class Average(StrEnum):
    """How a statistic of each class is averaged over the classes."""

    MACRO = "macro"
    MICRO = "micro"
    WEIGHTED = "weighted"


class ReferenceKind(StrEnum):
    """What a group is compared with."""

    OTHERS = "others"
    OVERALL = "overall"
    GROUP = "group"
    BEST = "best"
    LARGEST = "largest"
    POPULATION = "population"


class IntervalMethod(StrEnum):
    """A step in making a confidence interval, as `method_descriptions` under `render` explains."""

    WILSON = "wilson"
    CLOPPER_PEARSON = "clopper_pearson"
    JEFFREYS = "jeffreys"
    NEWCOMBE = "newcombe"
    MOVER = "mover"
    SCORE = "score"
    STUDENT_T = "student_t"
    INFLUENCE = "influence"
    DELONG = "delong"
    CHI_SQUARE = "chi_square"
    BOOTSTRAP = "bootstrap"
    ORDER_STATISTICS = "order_statistics"
    BALL = "ball"
    CONDITIONAL = "conditional"
    STRATIFIED = "stratified"
    MANTEL_HAENSZEL = "mantel_haenszel"
    CLUSTER_ROBUST = "cluster_robust"
    JACKKNIFE = "jackknife"
    TUKEY = "tukey"
    SIMULTANEOUS_GROUPS = "simultaneous_groups"
    SIMULTANEOUS = "simultaneous"
    PROFILE_LIKELIHOOD = "profile_likelihood"
    SHARP_BOUNDS = "sharp_bounds"
    VALIDATED_SAMPLE = "validated_sample"


OF_PROBABILITIES = frozenset({
    IntervalMethod.PROFILE_LIKELIHOOD, IntervalMethod.SHARP_BOUNDS, IntervalMethod.VALIDATED_SAMPLE,
})  # fmt: skip
"""The methods of groups of which only probabilities are known."""


class DiagnosticCode(StrEnum):
    """What a note or warning of a report is about; the parameters are named beside it."""

    TASK = "task"  # task; roles, unless label and prediction
    EXCLUDED = "excluded"  # rows, reason
    PROTECTED = "protected"  # min_cell
    REPEATED_ID = "repeated_id"  # column, distinct, rows, verb, alike
    STRATUM_IS_OUTCOME = "stratum_is_outcome"  # column, outcome, share; control
    STRATUM_IS_GROUP = "stratum_is_group"  # column of a control
    STRATUM_OF_MISSING = "stratum_of_missing"  # column, values, line: their recoding
    MISSING_STRATA = "missing_strata"  # column, rows, total, unit; as the next, group_ too
    UNEQUALLY_MISSING = "unequally_missing"  # outcome, most, most_share, least, least_share, p
    MISSING_GROUPS = "missing_groups"
    # rows, total, ruled, by_value, known, columns; cases, total_cases
    MISSING_OUTCOMES = "missing_outcomes"
    # what, rows, total, groups, of_groups, differs, ruled;
    # of the groups that are large enough: most, most_share, least, least_share
    # complete: all rates are of the rows that have it
    MISSING_COUNTED = "missing_counted"  # column, rows; facet: in facet a, not as negative
    UNCOUNTED_ROWS = "uncounted_rows"  # what, rows, total, ruled; column of weights of 0; counted
    CLUSTERS_SPAN_GROUPS = "clusters_span_groups"  # clusters, total, column, people
    COVERAGE = "coverage"  # metric, share, of
    ADJUSTED_P = "adjusted_p"  # comparisons, homogeneity
    HOMOGENEITY = "homogeneity"
    # rate, groups, p, significant; of the large groups: range, between_sd;
    # sparse, of few expected in an outcome: their names; p_without them, significant_without
    PAIRS_LIMITED = "pairs_limited"  # pairs, groups, listed
    REVERSED_SCORES = "reversed_scores"  # auc, column
    REVERSED_PREDICTIONS = "reversed_predictions"
    # column, label, of_positives, of_negatives; group where it is of one alone
    ONE_DECISION = "one_decision"
    # threshold, share or constant; of an audit: column, positive, or the value of classes
    ONE_LABEL = "one_label"  # column, positive, or the value of classes; numbers: of a regression
    GROUP_OF_ONE_OUTCOME = "group_of_one_outcome"
    # column, role, values, group, rows; share: of the others
    OFFSETTING_PARTS = "offsetting_parts"  # metric, group, rates, differences; threshold, class
    SIMPSON = "simpson"  # group, metric, overall, adjusted
    COMPOSITION = "composition"
    # metric, group, columns, gap and its parts, p, outlying, trend, known: n of a gap of fewer rows
    # where strata have one side alone: reference, alone_group, alone_reference: shares in them
    STRATA_INSUFFICIENT = "strata_insufficient"
    # group, reference, columns: of a feature's first finding
    USED_AT_LEAST = "used_at_least"  # rows
    NOT_CROSSED = "not_crossed"  # preset; features; estimated: those known by probabilities alone
    NO_PAIRS_CROSSED = "no_pairs_crossed"  # preset; features: those of the one table of all
    WITHIN_STRATA = "within_strata"
    # metric, group, class, threshold; strata: columns; lower, higher: in which it differs; p where
    # it varies; others: comparisons of the feature that do so, too
    DISAPPEARS = "disappears"  # group, metric, overall, adjusted, p
    NOT_SIGNIFICANT_ADJUSTED = "not_significant_adjusted"  # group, metric, overall, adjusted, p
    BINNED_SCORES = "binned_scores"  # bins
    FEATURE_DISTANCE = "feature_distance"  # columns, scalings
    SAMPLED = "sampled"  # metric, rows, seed
    OVERRIDES = "overrides"  # options
    COUNTED_AS = "counted_as"  # verdicts, outcome
    ASSUMED_POSITIVE = "assumed_positive"  # column, value, others
    UNFAVOURABLE_POSITIVE = "unfavourable_positive"  # column, values, others, negative, preset
    CODE_AS_FAVOURABLE = "code_as_favourable"  # column, values, rows, preset: its word
    FEW_PUBLISHED = "few_published"  # groups, features, fewer, strata of pay: tables to publish
    EXCLUDED_GROUP = "excluded_group"
    # group, rows, value, selected or weighted, below a share, threshold of several
    PREDICTION_NOT_A_LABEL = "prediction_not_a_label"
    # column, label, values, rows; in_use; classes; unclear: rows that may be something else
    UNDECIDED_OUTCOMES = "undecided_outcomes"
    # column, values, rows, line: their recoding; of HMDA actions: their codes, and the condition
    NOT_FAVOURABLE = "not_favourable"  # column, values, rows of each
    CLASSES_OF_MISSING = "classes_of_missing"  # column, values, rows, line: their recoding
    APPROVED_AS_REFUSED = "approved_as_refused"  # column, values, rows, actions, positive: of HMDA
    PREDICTION_IS_LABEL = "prediction_is_label"
    # column, label, rows; score; decisions: its decisions alone are known to be equal
    SENSITIVE_IS_OUTCOME = "sensitive_is_outcome"  # column, role; outcome, rows of a copy
    SINGLE_ROW_GROUPS = "single_row_groups"  # groups, single
    NUMERIC_GROUPS = "numeric_groups"  # groups, small, minimum, cuts
    MANY_STRATA = "many_strata"
    # strata, share, minimum, controls; columns, cuts: of each that can be cut; coarser: cut columns
    MISSING_MARKER = "missing_marker"  # value, rows, excluded, condition; unsure: as often a value
    CODED_NUMBERS = "coded_numbers"
    # column, value, rows, line: the recoding that makes it missing
    SAME_NAMES = "same_names"
    # values, rows, columns, others: all but the largest, line: a recoding; classes or strata
    UNMATCHED = "unmatched"
    # path, name; nearest, held: the names that there are; reference: it is what others are held to
    ONE_GROUP = "one_group"  # group; itself: others are there, and it is the reference
    WEIGHTLESS_GROUPS = "weightless_groups"  # groups, rows
    UNLIKE_AMOUNTS = "unlike_amounts"  # column, times; most, least: groups, or other: a column
    PEOPLE = "people"  # column, counted; rows, people, unnamed rows where known
    NEVER_REPEATS = "never_repeats"  # column, role: person or cluster
    ALIKE_IDENTIFIERS = "alike_identifiers"  # column, role, identifiers
    PLACEHOLDER_IDENTIFIER = "placeholder_identifier"
    # column, role, rows, line: its recoding; value, unless it may be a person
    LABELS_LATER = "labels_later"  # column, rules that wait; nearest column, if it is absent
    PEOPLE_UNCLEAR = "people_unclear"  # column, people: of several values in their rows; order
    NOT_RECODED = "not_recoded"  # values, rows; alike: those spelt nearly as a recoded value
    DOUBLED_ROWS = "doubled_rows"  # times, different: rows, or cells; unnamed
    COPIED_FILES = "copied_files"  # files: that hold the same lines
    SKIPPED_FILES = "skipped_files"  # files: how many; example
    LINES_ABOVE = "lines_above"  # lines: above the header; file
    DECLARED_MISSING = "declared_missing"  # column; reasons; rows_of: of each reason
    LIMITS_THE_BETTER_OFF = "limits_the_better_off"  # rule, higher: which is worse; instead
    LIMITS_OUTSIDE_RANGE = "limits_outside_range"  # path, metric, low, high
    FAILS_TOGETHER = "fails_together"
    # comparisons, confidence, fails, remaining, familywise; open_by_groups: fails that do not
    # remain because of rows without a group alone
    REFERENCE_DECIDES = "reference_decides"  # rule, group; references, or others: that pass
    REFERENCE_TIED = "reference_tied"  # chosen, others, rate, value, by_rows
    GROUP_NOT_RECORDED = "group_not_recorded"
    # columns, people, known, random, assume; alone: answers without probabilities decide; group,
    # effective: of the least information;
    # best_known, most_effective: of the most; answers, shown: how many show the gap of which group
    CALIBRATION = "calibration"  # known, chi_square, degrees, p, rejected, contradicts
    KNOWN_RATES = "known_rates"  # rate, group, known, share, low, high, p
    LACK_OF_FIT = "lack_of_fit"  # rate, p
    ROUNDED_PROBABILITIES = "rounded_probabilities"  # rows
    PLACE_PROXY = "place_proxy"  # on: the column that probabilities are joined by
    TEXT = "text"  # text: of a report saved by version 1


DOUBTS_OF_A_COLUMN = frozenset({
    DiagnosticCode.PREDICTION_IS_LABEL, DiagnosticCode.ONE_LABEL, DiagnosticCode.ONE_DECISION,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME,
    DiagnosticCode.REVERSED_PREDICTIONS, DiagnosticCode.REVERSED_SCORES,
})  # fmt: skip
"""Doubts that are accepted of a named column alone: nothing measured of it may hold."""
DOUBTS = DOUBTS_OF_A_COLUMN | {
    DiagnosticCode.MISSING_MARKER, DiagnosticCode.SAME_NAMES, DiagnosticCode.CODED_NUMBERS,
    DiagnosticCode.UNDECIDED_OUTCOMES, DiagnosticCode.APPROVED_AS_REFUSED,
    DiagnosticCode.CLASSES_OF_MISSING, DiagnosticCode.PREDICTION_NOT_A_LABEL,
    DiagnosticCode.UNFAVOURABLE_POSITIVE, DiagnosticCode.CODE_AS_FAVOURABLE,
    DiagnosticCode.ALIKE_IDENTIFIERS,
    DiagnosticCode.PLACEHOLDER_IDENTIFIER,
}  # fmt: skip
"""What withholds a pass until it is corrected or accepted."""


class AfterAdjusting(StrEnum):
    """What becomes of a significant difference when it is adjusted for strata."""

    REVERSES = "reverses"
    REMAINS = "remains"
    DISAPPEARS = "disappears"
    NOT_SIGNIFICANT = "not significant"
    CHANGES_LITTLE = "not significant, changes little"
    LEAVES_OUT = "leaves out"  # rows without a stratum, which alone changes it
    NOT_COMPARABLE = "not comparable"  # most of a side is in no stratum that both sides have
    LACKS_OUTCOMES = "lacks outcomes"  # more often on one side, which could leave none shown
    LACKS_GROUPS = "lacks groups"  # of rows that have other rates than the others


class GapVerdict(StrEnum):
    """What becomes of a gap between two groups within strata."""

    NO_GAP = "no gap shown"
    REMAINS = "remains"
    REVERSES = "reverses"
    WITHIN_MARGIN = "within margin"  # what remains within strata is smaller than what is tolerated
    ACCOUNTED_FOR = "accounted for"
    INCONCLUSIVE = "inconclusive"

    @property
    def is_pass(self) -> bool:
        """Whether nothing is shown to be left of it, or less than what is tolerated."""
        return self in (GapVerdict.NO_GAP, GapVerdict.ACCOUNTED_FOR, GapVerdict.WITHIN_MARGIN)


class WhyIncomplete(StrEnum):
    """Why something may have got worse between two reports that could not be compared."""

    RULE_GONE = "rule gone"
    NO_COUNTERPART = "no counterpart"  # of a verdict, in the other report
    ASKED_OTHERWISE = "asked otherwise"  # a difference moved that was measured otherwise before
    UNTESTED_VERDICT = "untested verdict"  # it got worse, or changed to one that decides nothing
    NOTHING_COMPARED = "nothing compared"
    NOTHING_TESTED = "nothing tested"  # and differences moved
    MORE_LACK = "more lack"  # an outcome or a group, or are unclear
    GROUP_GONE = "group gone"  # or has insufficient data now


class WhyInconclusive(StrEnum):
    """Why it is not decided what becomes of a gap within strata."""

    DEPENDS_ON_WEIGHTS = "depends on weights"
    IMPRECISE = "imprecise"
    BEYOND_MARGIN = "beyond margin"
    VARIES = "varies"  # over strata, so that an average hides what remains in some
    MAY_VARY = "may vary"  # over strata by itself, and not when all gaps are judged together
    IN_A_STRATUM = "in a stratum"  # a difference is shown in the direction of the gap
    NOT_TESTED = "not tested"  # whether it varies over strata, most of which lack clusters
    OFFSET = "offset"  # no gap over all strata: composition offsets a difference within them
    SEVERAL_GAPS = "several gaps"  # decided by itself, and not when all gaps are judged together
    MISSING_STRATA = "missing strata"  # rows without one have other rates than those with one
    MISSING_OUTCOMES = "missing outcomes"  # more often on one side
    MISSING_GROUPS = "missing groups"  # rows without one have other rates than those with one
    NOT_COUNTED = "not counted"  # many rows have no weight, count or value of a condition
    UNCLEAR_VALUES = "unclear values"  # many count as unfavourable that may be another one
    STRATA_DECIDE = "strata decide"  # the strata are the outcome under another name
    NOT_COMPARABLE = "not comparable"
    ONE_SIDED = "one-sided"  # of the gap most is in strata of one side alone
    TOO_FEW = "too few"
    UNDEFINED = "undefined"  # of a ratio whose numbers are not above 0


class WhyNoRegression(StrEnum):
    """Why a gap is not adjusted by regression."""

    NOT_COMPARABLE = "not comparable"  # of strata, or of the levels of a control
    MISSING_VALUES = "missing values"  # rows without a value have other rates than those with one
    COLUMNS_DECIDE = "columns decide"  # a column is the outcome under another name
    COLLINEAR = "collinear"  # columns state who is on which side
    TOO_MANY_LEVELS = "too many levels"
    TOO_FEW = "too few"  # as few rows as levels
    ONE_OUTCOME = "one outcome"
    SEPARATED = "separated"  # columns, or the side, separate the outcomes
    TOO_FEW_EVENTS = "too few events"  # of either outcome on a side
    NOT_INSTALLED = "not installed"
    MISSING_ROWS = "missing rows"  # without an outcome, a group or a weight could change it


class GapPartKind(StrEnum):
    """A part of a gap: strata of one side alone, shares of strata, or rates within strata."""

    NOT_COMPARABLE = "not comparable"
    COMPOSITION = "composition"
    WITHIN = "within"


class StratumWeights(StrEnum):
    """By which shares of strata the differences within them are averaged."""

    AVERAGE = "average"
    GROUP = "group"
    REFERENCE = "reference"
    MANTEL_HAENSZEL = "mantel_haenszel"


class FindingReason(StrEnum):
    """Why a disparity is a finding: the criterion that chose it, and what else holds of it."""

    SIGNIFICANT = "statistically_significant"  # adjusted for its family
    LARGEST = "largest"  # of several groups that differ significantly in the rate
    RULE_FAILED = "rule_failed"  # a rule on the rate fails for the group
    REVERSES = "reverses_after_adjusting"  # for the strata: Simpson's paradox
    DISAPPEARS = "disappears_after_adjusting"


class Direction(StrEnum):
    """Where a disparity went between two reports, seen from "no difference"."""

    CLOSER = "closer"
    FURTHER = "further"
    AS_FAR = "as far"


class Undecided(StrEnum):
    """What an undecided verdict counts as, where it may not stay undecided."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"


class CandidateVerdict(StrEnum):
    """What a candidate model is against the model in use."""

    DOMINATES = "dominates"
    BETTER_WHERE_TESTED = "better in what could be tested"
    TRADE_OFF = "trade-off"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    NONE = "none"


class Fairness(StrEnum):
    """What became of the disparities of the model in use under a candidate."""

    FAIRER = "fairer"
    LESS_FAIR = "less fair"
    MIXED = "mixed"
    CANNOT_TELL = "cannot tell"


class Performance(StrEnum):
    """Whether a candidate is as good as the model in use, within a stated margin."""

    NON_INFERIOR = "non-inferior"
    INFERIOR = "inferior"
    CANNOT_TELL = "cannot tell"
    NO_MARGIN = "no margin"


class ChosenBy(StrEnum):
    """What met the goal and kept the rate in the half of the rows that chose a threshold."""

    MARGIN = "margin"
    INTERVAL = "interval"
    VALUE = "value"


class Turn(StrEnum):
    """What became of a verdict between two reports."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"


class Worse(StrEnum):
    """Which side of what a subgroup is compared with is the worse one."""

    HIGHER = "higher"
    LOWER = "lower"


class SubgroupStatus(StrEnum):
    """What a search has shown of a subgroup."""

    WORSE = "worse"
    UNDECIDED = "undecided"
    NOT_WORSE = "not_worse"
    TOO_FEW = "too_few"


class SearchedValues(StrEnum):
    """How the values of a searched feature were made."""

    VALUES = "values"
    CUTS = "cuts"
    QUINTILES = "quintiles"
    MOST_FREQUENT = "most_frequent"
