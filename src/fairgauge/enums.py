"""The closed vocabularies: one meaning, one word, everywhere the same."""

from __future__ import annotations

from enum import StrEnum

Status = StrEnum("Status", "OK UNDEFINED TOO_FEW NOT_APPLICABLE ERROR")
"""Whether a number can be relied on, and if not, why not."""

Outcome = StrEnum("Outcome", "PASS FAIL INCONCLUSIVE NOT_EVALUATED NONE")
"""What a rule, a feature or an audit came to."""


class Profile(StrEnum):
    """Which reading of the sources is computed: as they are documented, or as smclarify computes.

    In smclarify 0/0 and inf - inf are 0; a score that equals the threshold is below it; a missing
    label, prediction or score counts as negative, and a row without a group with the reference; no
    metrics are computed where a side has no rows; distances of labels are of positive and negative
    alone, and of classes that both sides have; a stratum with one outcome leaves a conditional
    metric undefined; flips count rows that decide better than their neighbours as positive, which
    are found by features that are not scaled.
    """

    as_smclarify: bool  # an attribute, which arithmetic on counts reads without a call

    DOCUMENTED = "documented"
    CLARIFY = "clarify"


for _each in Profile:
    _each.as_smclarify = _each is Profile.CLARIFY

Missing = StrEnum("Missing", "EXCLUDE GROUP ERROR IGNORABLE")
"""What happens to a row whose sensitive feature is missing."""

ReferenceRule = StrEnum("ReferenceRule", "OTHERS OVERALL LARGEST BEST")
"""What a group is asked to be compared with, unless a value is named."""

Assume = StrEnum("Assume", "GIVEN_GROUP NOTHING")
"""Under which assumption estimates from probabilities of groups decide verdicts."""

KnownDrawn = StrEnum("KnownDrawn", "UNKNOWN RANDOM")
"""How the rows were drawn of which the group is known, where it is otherwise not recorded."""

Estimator = StrEnum("Estimator", "LIKELIHOOD BOUNDS VALIDATED REGRESSION WEIGHTED")
"""How a rate or an average of groups is estimated from their probabilities."""

Uncounted = StrEnum("Uncounted", {
    "NO_COUNT": "missing count", "NO_WEIGHT": "missing weight",
    "SAME_PERSON": "further row of the same person",
})  # fmt: skip
"""Why a row, or a person, could not be counted at all. The words are those of saved cubes."""

Observation = StrEnum(
    "Observation",
    "UNSEEN CONFLICT PLACEHOLDER SPELLINGS REPEATED NOT_MET UNDECIDED ALIKE DOUBTFUL LEFT_OUT"
    " CONDITION RECODED UNSTATED MEANS",
)
"""What rows showed next to their counts; see `fairgauge.cube.cube.Observed`."""

CountedAs = StrEnum(
    "CountedAs",
    "POSITIVE NEGATIVE UNDECIDED MISSING EXCLUDED NUMBER COUNTED OTHERS UNCOUNTED FURTHER",
)
"""What a value is counted as that is no name of a class or a group: "counted" meets a condition,
"others" is in no group of its own, "uncounted" lacks a count or a weight, and "further" is a row of
a person whose outcome another row decides."""

Person = StrEnum("Person", "ANY EACH")
"""What counts of the decisions of one person."""

Closed = StrEnum("Closed", "RIGHT LEFT")
"""Which edge of an interval belongs to it."""

Ends = StrEnum("Ends", "RIGHT LEFT BOTH NEITHER")
"""Which ends of a range belong to it."""


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
    BELOW = "<"
    UP_TO = "<="

    def decides(self, score: float, threshold: float) -> bool:
        """Return whether a score gets the favourable decision."""
        if score == threshold:
            return self is not Accepts.BELOW
        return (score > threshold) is (self is Accepts.FROM)


Threshold = StrEnum("Threshold", "MEDIAN")
"""A score threshold that the data determine."""

Decide = StrEnum("Decide", "INTERVAL POINT SIGNIFICANT")
"""What decides a rule: the whole confidence interval, the value alone, or a significant value: one
outside the limits fails where it differs statistically significantly from "no difference"."""

Insufficient = StrEnum("Insufficient", "REPORT PASS FAIL IGNORE")
"""What a rule comes to where the data are insufficient to decide it."""

Multiplicity = StrEnum("Multiplicity", {"PER_DECISION": "per-decision", "FAMILYWISE": "familywise"})
"""Which error rate is controlled where several decisions are made."""

Task = StrEnum("Task", "BINARY MULTICLASS REGRESSION")
"""What the label and the prediction are."""

Method = StrEnum("Method", "DEFAULT EXACT BOOTSTRAP BAYES")
"""How intervals are made."""

Level = StrEnum("Level", "NOTE WARNING")
"""How much a diagnostic matters."""

Better = StrEnum("Better", "HIGHER LOWER NEITHER")
"""Which direction of a rate favours a group."""

Favourable = StrEnum("Favourable", "POSITIVE NEGATIVE HIGHER LOWER NEITHER")
"""Which decision, or which direction of an amount, is better for the person it is about."""


class Role(StrEnum):
    """What an axis of a cube stands for."""

    FEATURE = "feature"
    STRATUM = "stratum"
    LABEL = "label"
    PREDICTION = "prediction"
    CANDIDATE = "candidate"
    SCORE = "score"
    CLUSTER = "cluster"
    SAMPLE_STRATUM = "stratum of the sample"
    ITEM = "item"
    FAMILY = "family"
    VARIANT = "variant"
    MODEL = "model"
    CONDITION = "condition"
    PROXY = "proxy"  # the cell of the probabilities of groups that are not recorded
    CODES = "codes"  # of missing values, in a column that is cut
    KNOWN = "known group"  # of those who reported it, where it is otherwise not recorded


Lonely = StrEnum("Lonely", "REFUSE ADJUST")
"""What becomes of a stratum of the sample with a single primary sampling unit."""

ScopeKind = StrEnum("ScopeKind", "OVERALL STRATUM POOLED")
"""Which rows an estimate is of."""

ClassKind = StrEnum("ClassKind", "NONE CLASS AVERAGE WORST")
"""Which classes of a multiclass audit an estimate is of."""

Average = StrEnum("Average", "MACRO MICRO WEIGHTED")
"""How a statistic of each class is averaged over the classes."""

ReferenceKind = StrEnum("ReferenceKind", "OTHERS OVERALL GROUP BEST LARGEST")
"""What a group is compared with."""

IntervalMethod = StrEnum(
    "IntervalMethod",
    "WILSON CLOPPER_PEARSON JEFFREYS NEWCOMBE MOVER SCORE STUDENT_T INFLUENCE DELONG "
    "BOOTSTRAP ORDER_STATISTICS BALL ROUNDING STRATIFIED MANTEL_HAENSZEL JACKKNIFE "
    "SURVEY_DESIGN TUKEY SIMULTANEOUS_GROUPS SIMULTANEOUS PROFILE_LIKELIHOOD SHARP_BOUNDS "
    "VALIDATED_SAMPLE PROBABILITY_REGRESSION PROBABILITY_WEIGHTS",
)
"""A step in making a confidence interval, as `method_descriptions` under `render` explains."""


OF_PROBABILITIES = frozenset({
    IntervalMethod.PROFILE_LIKELIHOOD, IntervalMethod.SHARP_BOUNDS, IntervalMethod.VALIDATED_SAMPLE,
    IntervalMethod.PROBABILITY_REGRESSION, IntervalMethod.PROBABILITY_WEIGHTS,
})  # fmt: skip
"""The methods of groups of which only probabilities are known."""

DiagnosticCode = StrEnum(
    "DiagnosticCode",
    "TASK EXCLUDED PROTECTED LISTED_ONCE ROWS_THAT_REPEAT_PEOPLE "
    "STRATUM_IS_OUTCOME STRATUM_IS_GROUP STRATUM_OF_TOTAL STRATUM_OF_ONE_SIDE "
    "MISSING_STRATA UNEQUALLY_MISSING MISSING_GROUPS "
    "IGNORABLE_MISSING MISSING_OUTCOMES UNCOUNTED_ROWS CLUSTERS_SPAN_GROUPS COVERAGE ADJUSTED_P "
    "HOMOGENEITY PAIRS_LIMITED "
    "REVERSED_SCORES REVERSED_PREDICTIONS ONE_DECISION ONE_LABEL GROUP_OF_ONE_OUTCOME SIMPSON "
    "STRATA_INSUFFICIENT STRATA_VARY USED_AT_LEAST NOT_CROSSED NO_PAIRS_CROSSED WITHIN_STRATA "
    "DISAPPEARS NOT_SIGNIFICANT_ADJUSTED BINNED_SCORES FEATURE_DISTANCE SAMPLED OVERRIDES "
    "COUNTED_AS ASSUMED_POSITIVE UNFAVOURABLE_POSITIVE FEW_PUBLISHED "
    "EXCLUDED_GROUP PREDICTION_NOT_A_LABEL UNDECIDED_OUTCOMES "
    "APPROVED_AS_REFUSED PREDICTION_IS_LABEL SENSITIVE_IS_OUTCOME SINGLE_ROW_GROUPS "
    "NUMERIC_GROUPS MANY_STRATA MISSING_MARKER CODED_NUMBERS SAME_NAMES UNMATCHED MISSPELT "
    "ONE_GROUP WEIGHTLESS_GROUPS UNLIKE_AMOUNTS PEOPLE NEVER_REPEATS ALIKE_IDENTIFIERS "
    "PLACEHOLDER_IDENTIFIER PEOPLE_UNCLEAR ROWS_LEFT_OUT GROUPS_LEFT_OUT "
    "ALIKE_CONDITION DOUBLED_ROWS COPIED_FILES GROUPS_THAT_OVERLAP "
    "PLACES_AS_SCORES ROWS_OF_LISTS "
    "SKIPPED_FILES LINES_ABOVE DECLARED_MISSING UNITS_WITHOUT_ROWS COLUMN_LABEL "
    "UNUSED_WEIGHTS "
    "LIMITS_THE_BETTER_OFF LIMITS_OUTSIDE_RANGE FAILS_TOGETHER REFERENCE_DECIDES REFERENCE_TIED "
    "RATES_WITH_COUNTS EXPOSURE_AS_WEIGHT PARTS_OFFSET "
    "REFERENCE_ASSUMED "
    "GROUP_NOT_RECORDED CALIBRATION LACK_OF_FIT ROUNDED_PROBABILITIES PLACE_PROXY TEXT",
)
"""What a note or warning of a report is about; its text names the parameters that it takes."""


DOUBTS_OF_A_COLUMN = frozenset({
    DiagnosticCode.PREDICTION_IS_LABEL, DiagnosticCode.ONE_LABEL, DiagnosticCode.ONE_DECISION,
    DiagnosticCode.GROUP_OF_ONE_OUTCOME,
    DiagnosticCode.REVERSED_PREDICTIONS, DiagnosticCode.REVERSED_SCORES,
})  # fmt: skip
"""Doubts that are accepted of a named column alone: nothing measured of it may hold."""
DOUBTS = DOUBTS_OF_A_COLUMN | {
    DiagnosticCode.MISSING_MARKER, DiagnosticCode.SAME_NAMES, DiagnosticCode.CODED_NUMBERS,
    DiagnosticCode.STRATUM_OF_TOTAL, DiagnosticCode.STRATUM_OF_ONE_SIDE,
    DiagnosticCode.STRATUM_IS_OUTCOME, DiagnosticCode.MISSING_STRATA,
    DiagnosticCode.UNDECIDED_OUTCOMES, DiagnosticCode.APPROVED_AS_REFUSED,
    DiagnosticCode.PREDICTION_NOT_A_LABEL,
    DiagnosticCode.UNFAVOURABLE_POSITIVE,
    DiagnosticCode.ALIKE_IDENTIFIERS, DiagnosticCode.NEVER_REPEATS,
    DiagnosticCode.PLACEHOLDER_IDENTIFIER,
    DiagnosticCode.GROUPS_LEFT_OUT, DiagnosticCode.ALIKE_CONDITION, DiagnosticCode.DOUBLED_ROWS,
    DiagnosticCode.LIMITS_THE_BETTER_OFF, DiagnosticCode.REFERENCE_DECIDES,
    DiagnosticCode.PLACES_AS_SCORES, DiagnosticCode.ROWS_OF_LISTS,
    DiagnosticCode.UNLIKE_AMOUNTS, DiagnosticCode.MISSPELT, DiagnosticCode.GROUPS_THAT_OVERLAP,
    DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE,
    DiagnosticCode.RATES_WITH_COUNTS, DiagnosticCode.EXPOSURE_AS_WEIGHT,
}  # fmt: skip
"""What withholds a pass until it is corrected or accepted."""
DOUBTS_OF_A_PERIOD = frozenset({"gap", "same_counts"})
"""Doubts that are accepted of a period, where others are of a column."""
FEED_DOUBTS = DOUBTS_OF_A_PERIOD | {
    "doubled_rows", "volume", "new_value", "vanished_value", "one_value", "missing_values",
    "other_scores", "copied_label",
}  # fmt: skip
"""What may be wrong with the periods of a monitor, and be accepted."""


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

    NO_COUNTERPART = "no counterpart"  # of a rule or a verdict, in the other report
    UNTESTED = "untested"  # a difference or a verdict changed, and no test shows by what
    NOTHING_COMPARED = "nothing compared"
    MORE_LACK = "more lack"  # an outcome or a group
    DOUBTED = "doubted"  # what is compared stands on a doubt that a report leaves open
    OTHER_ROWS = "other rows"  # of only one report do conditions leave out by some column
    GROUP_GONE = "group gone"  # or has insufficient data now
    SAME_COUNTS = "same counts"  # to the last one, as of the same report twice


class WhyInconclusive(StrEnum):
    """Why it is not decided what becomes of a gap within strata."""

    DEPENDS_ON_WEIGHTS = "depends on weights"
    IMPRECISE = "imprecise"
    BEYOND_MARGIN = "beyond margin"
    VARIES = "varies"  # over strata, so that an average hides what remains in some
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


GapPartKind = StrEnum("GapPartKind", {
    "NOT_COMPARABLE": "not comparable", "COMPOSITION": "composition", "WITHIN": "within",
})  # fmt: skip
"""A part of a gap: strata of one side alone, shares of strata, or rates within strata."""

StratumWeights = StrEnum("StratumWeights", "AVERAGE GROUP REFERENCE MANTEL_HAENSZEL")
"""By which shares of strata the differences within them are averaged."""


class FindingReason(StrEnum):
    """Why a disparity is a finding: the criterion that chose it, and what else holds of it."""

    SIGNIFICANT = "statistically_significant"  # adjusted for its family
    LARGEST = "largest"  # of several groups that differ significantly in the rate
    RULE_FAILED = "rule_failed"  # a rule on the rate fails for the group
    REVERSES = "reverses_after_adjusting"  # for the strata: Simpson's paradox
    DISAPPEARS = "disappears_after_adjusting"


Direction = StrEnum("Direction", {"CLOSER": "closer", "FURTHER": "further", "AS_FAR": "as far"})
"""Where a disparity went between two reports, seen from "no difference"."""

Undecided = StrEnum("Undecided", "PASS FAIL")
"""What an undecided verdict counts as, where it may not stay undecided."""

CandidateVerdict = StrEnum("CandidateVerdict", {
    "DOMINATES": "dominates", "BETTER_WHERE_TESTED": "better in what could be tested",
    "TRADE_OFF": "trade-off", "WORSE": "worse", "CANNOT_TELL": "cannot tell", "NONE": "none",
})  # fmt: skip
"""What a candidate model is against the model in use."""

Fairness = StrEnum("Fairness", {
    "FAIRER": "fairer", "LESS_FAIR": "less fair", "MIXED": "mixed", "CANNOT_TELL": "cannot tell",
})  # fmt: skip
"""What became of the disparities of the model in use under a candidate."""

Performance = StrEnum("Performance", {
    "NON_INFERIOR": "non-inferior", "INFERIOR": "inferior", "CANNOT_TELL": "cannot tell",
    "NO_MARGIN": "no margin",
})  # fmt: skip
"""Whether a candidate is as good as the model in use, within a stated margin."""

AlternativesVerdict = StrEnum("AlternativesVerdict", {
    "SHOWN": "shown", "NONE_SHOWN": "none shown", "NOT_JUDGED": "not judged",
})  # fmt: skip
"""Whether any candidate is shown to be as good and less discriminatory."""

Worse = StrEnum("Worse", "HIGHER LOWER")
"""Which side of what a subgroup is compared with is the worse one."""

SubgroupStatus = StrEnum("SubgroupStatus", "WORSE UNDECIDED NOT_WORSE TOO_FEW")
"""What a search has shown of a subgroup."""

SearchedValues = StrEnum("SearchedValues", "VALUES CUTS QUINTILES MOST_FREQUENT")
"""How the values of a searched feature were made."""
