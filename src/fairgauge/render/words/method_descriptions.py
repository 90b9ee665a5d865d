"""How intervals were made, what each method is and when it is used, and what no report can show."""

from __future__ import annotations

from dataclasses import dataclass

from fairgauge.enums import IntervalMethod
from fairgauge.render.words.metric_words import metric_words
from fairgauge.results.report import Report

_M = IntervalMethod
RATES_OF_GROUPS, PAIRS_OF_GROUPS = "rates of groups", "pairs of groups"
"""What an interval is of, where it is of no metric."""

_SPELT = {"mover": "MOVER", "scas": "SCAS", "auc": "AUC", "delong": "DeLong"}

# fmt: off
# ruff: noqa: E501 - a row is one line, so that the table reads as a table
DESCRIPTIONS: dict[IntervalMethod, str] = {
    _M.WILSON: "Wilson score interval of a proportion. Recommended for small groups and for proportions near 0 or 1.",
    _M.WILSON_ODDS: "Wilson interval of one count among two, transformed to their ratio. Given the sum, the count is binomial.",
    _M.WILSON_TRANSFORMED: "Wilson interval of a proportion, transformed to a statistic that is a function of it.",
    _M.CLOPPER_PEARSON: "Exact (Clopper-Pearson) interval of a proportion. Coverage is guaranteed, at the price of width (method=exact).",
    _M.JEFFREYS: "Jeffreys credible interval of a proportion: the posterior with half an observation of prior per cell (method=bayes).",
    _M.BONETT_PRICE: "Bonett-Price interval of a ratio of paired proportions, because numerator and denominator share observations.",
    _M.STUDENT_T: "Student's t interval of a mean.",
    _M.SKEWED_T: "Student's t interval of a mean with the end in the longer tail raised (as in Johnson's t), because few observations do not show the largest values.",
    _M.LINEARISED: "Variance of a weighted statistic from the influence of each observation (Horvitz-Thompson), because weights may follow the values.",
    _M.WELCH: "Welch's t interval of a difference of means, because group sizes and variances differ.",
    _M.FIELLER: "Fieller interval of a ratio of means; none where the denominator may be 0.",
    _M.NEWCOMBE: "Newcombe interval of a difference of proportions, from the Wilson intervals of both (MOVER). Recommended for small groups and rare outcomes.",
    _M.ORDER_STATISTICS: "Limits of a quantile are the values of two ranks, which are binomial whatever the distribution. Conservative in small groups.",
    _M.MOVER: "Interval of a difference or ratio from the intervals of both sides (method of variance estimates recovery), which keeps their asymmetry.",
    _M.SCAS: "Skewness-corrected asymptotic score interval (Laud) of a difference or ratio of proportions. Used for rates far apart in small groups, and with method=score.",
    _M.TANGO: "Tango's score interval of a difference of paired proportions, because each row is its own comparison.",
    _M.TANG: "Tang's score interval of a ratio of paired proportions, because each row is its own comparison.",
    _M.PAIRED_MOVER: "MOVER of the intervals under both models with their correlation, because both decide the same rows.",
    _M.ESTIMATED_CUT: "The error at a given cut of the scores joined with that of the cut (MOVER), because the cut is estimated from the same rows.",
    _M.AUC_SCORE: "Score interval of an area under the ROC curve (Newcombe): all areas that the estimate is compatible with, each with its own variance. Recommended for areas near 1.",
    _M.DELONG: "DeLong interval of an area under the ROC curve, from the ranks of the scores.",
    _M.INFLUENCE: "Variance from the influence function of each observation, because the statistic has no closed form.",
    _M.LOGIT: "Computed on the logit scale, so that the ends stay between 0 and 1.",
    _M.SANDWICH: "Robust (sandwich) variance of a fitted calibration curve, or the model-based one where that is larger.",
    _M.DELTA: "Delta method: the variance of a smooth function of sums.",
    _M.LOG_DELTA: "Delta method on the log scale, so that the ends stay positive.",
    _M.KURTOSIS_CHI_SQUARE: "Chi-square interval with degrees of freedom from the fourth moment, because squared errors have heavy tails.",
    _M.NONCENTRAL_CHI_SQUARE: "Interval from inverting the noncentral chi-square test: its lower end is above 0 only where equality is rejected.",
    _M.DIRICHLET_POSTERIOR: "Dirichlet posterior of the cell counts with half an observation of prior per cell. Fits any function of the counts.",
    _M.MULTINOMIAL_BOOTSTRAP: "Multinomial bootstrap of the cell counts, which is the bootstrap of the rows (method=bootstrap). It covers less than its level in small groups.",
    _M.CLUSTER_BOOTSTRAP: "Bayesian bootstrap of the clusters: every cluster has a random weight.",
    _M.PERCENTILE: "Percentiles of the draws.",
    _M.CALIBRATION_BALL: "The value less and plus the sampling variation of its bins, because a calibration error is positive under perfect calibration.",
    _M.NORM_BALL: "The distance less and plus the sampling variation of the distributions, because a distance is positive under no difference.",
    _M.GROUP_BALL: "The spread less and plus the sampling variation of the groups, because a spread is positive under no difference.",
    _M.ROOT_BALL: "The root of the divergence less and plus its sampling variation, because a divergence is positive under no difference.",
    _M.PERMUTATION: "Permutation of the groups over the rows: the distribution expected under no difference.",
    _M.FOLDED: "Interval of a difference folded at 0, because its size is never negative.",
    _M.STRATIFIED: "Pooled over strata with Mantel-Haenszel weights.",
    _M.STRATIFIED_SCORE: "Stratified score interval of the pooled difference or ratio (Sato, Klingenberg; Greenland and Robins). p-values invert the Cochran-Mantel-Haenszel sum, each with its own variance.",
    _M.MANTEL_HAENSZEL: "Mantel-Haenszel odds ratio of all strata with the variance of Robins, Breslow and Greenland. Valid for few large and for many sparse strata.",
    _M.CLUSTER_ROBUST: "Cluster-robust variance with t quantiles, because observations within a cluster are not independent.",
    _M.CLUSTER_JACKKNIFE: "Jackknife over blocks of clusters, because observations within a cluster are not independent.",
    _M.ROW_JACKKNIFE: "Jackknife over blocks of rows, because neighbours share rows and the statistic has no closed form.",
    _M.T_QUANTILES: "Quantiles of Student's t with one degree of freedom less than there are clusters.",
    _M.TILTED_SCORE: "Score interval of an exponential tilting model, because a few ranks hold most of the exposure.",
    _M.REFERENCE_FIXED: "The rows of the reference are taken as fixed: the rows of the group are compared with them.",
    _M.RANKS_FIXED: "The ranks are taken as fixed: the interval is of which group holds them.",
    _M.TUKEY: "Tukey's critical value, so that the intervals of all pairs hold simultaneously; of a largest gap or smallest ratio, the limit towards “no difference” alone.",
    _M.LARGEST_OF_SEVERAL: "The change of the largest of several numbers, over all that may be the largest under either model; limits are simultaneous over these (Bonferroni).",
    _M.SIMULTANEOUS_BINS: "Simultaneous over bins (Bonferroni), because the largest error is chosen from all bins.",
    _M.SIMULTANEOUS_CLASSES: "Simultaneous over classes (Bonferroni), because the worst class is chosen from all classes.",
    _M.SIMULTANEOUS_PARTS: "Simultaneous over the parts of the metric (Bonferroni).",
    _M.SIMULTANEOUS_OUTCOMES: "Simultaneous over both outcomes (Bonferroni).",
    _M.SIMULTANEOUS_GROUPS: "Simultaneous over groups (Bonferroni), because the extreme group is chosen from all groups: the limit towards the other groups.",
    _M.BRACKET: "From the lowest to the highest limit of likelihood and weighted estimate. Right if, within a group, outcome and probability are unrelated, or related in the direction in which the groups differ.",
    _M.PROFILE_LIKELIHOOD: "Profile likelihood of a mixture of groups known by probabilities alone. Right if these are right and, within a group, unrelated to the outcome. Differences of conditional rates by MOVER.",
    _M.PROBABILITY_WEIGHTED: "Each row counts in every group by its probability. Right if outcome and group are independent among people of equal probabilities, and the probabilities are right.",
    _M.SHARP_BOUNDS: "All values that agree with the outcomes and with the probabilities of the groups, widened by their sampling error. Right wherever the probabilities are.",
    _M.WITHIN_STRATA: "The likelihood is that of each stratum, so that outcome and probability need be unrelated only within a group of a stratum; its variance is linearised.",
    _M.VALIDATED_SAMPLE: "The estimate from probabilities, corrected by a random sample of people whose group is known. Right whatever the probabilities are.",
}
"""What each method is, and when it is used."""
# fmt: on


@dataclass(frozen=True, slots=True)
class MethodInUse:
    """A method of a report: its name, what it is, and what it was used for."""

    name: str
    text: str
    used_for: tuple[str, ...]


def method_name(method: IntervalMethod) -> str:
    """Return a method as it is called in a table.

    >>> method_name(IntervalMethod.NEWCOMBE), method_name(IntervalMethod.AUC_SCORE)
    ('Newcombe', 'AUC score')
    """
    first, *others = str(method).split("_")
    return " ".join([_SPELT.get(first, first.capitalize()), *others])


def described_methods(report: Report) -> list[MethodInUse]:
    """Return the methods that made the confidence intervals of a report, each once."""
    used: dict[IntervalMethod, dict[str, None]] = {}

    def note(methods: tuple[IntervalMethod, ...], of: str) -> None:
        for method in methods:
            used.setdefault(method, {})[of] = None

    for each in report.estimates:
        for interval in filter(None, (each.interval, each.simultaneous)):
            note(interval.methods, metric_words(each.definition))
    for group in report.groups:
        for rate in group.rates.values():
            if rate.interval:
                note(rate.interval.methods, RATES_OF_GROUPS)
    for pair in report.pairs:
        note(pair.difference_interval.methods, PAIRS_OF_GROUPS)
    return [
        MethodInUse(method_name(method), DESCRIPTIONS[method], tuple(of))
        for method, of in used.items()
        if method in DESCRIPTIONS
    ]


CAVEAT = "A disparity is a measured fact; whether it is unfair depends on its context."
"""What one screen has of the limits."""
LIMITS = (
    (
        "It does not state that a model is fair or unfair. Disparities are measured facts; "
        "whether one is acceptable depends on context, law and causes that the table does not "
        "hold."
    ),
    (
        "Demographic parity, equalized odds, predictive parity and calibration cannot in "
        "general hold together when base rates differ. Which of them matters is a value "
        "judgement, not a question of statistics."
    ),
    (
        "It compares and does not explain: a disparity can come from the model, the data, the "
        "world that the data describe, or sampling variation."
    ),
    (
        "Labels are taken as they are. Where labels are biased (arrests for crimes, past "
        "hirings for ability), error rates measured against them are biased too."
    ),
    (
        "Groups are as recorded. People who are missing, misrecorded or never asked are not "
        "seen, and groups below the minimum size carry no verdict."
    ),
    "It describes these rows. Other people, places and times need an audit of their own.",
    "A limit in a rule is a convention that somebody chose. Meeting it is no legal opinion.",
)
"""What no report can show."""
