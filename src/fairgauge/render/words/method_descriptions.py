"""How intervals were made, what each method is and when it is used, and what no report can show."""

from __future__ import annotations

from dataclasses import dataclass

from fairgauge.enums import IntervalMethod
from fairgauge.render.words.metric_words import metric_words
from fairgauge.results.report import Report

_M = IntervalMethod
RATES_OF_GROUPS, PAIRS_OF_GROUPS = "rates of groups", "pairs of groups"
"""What an interval is of, where it is of no metric."""

_SPELT = {"mover": "MOVER", "delong": "DeLong"}

# fmt: off
# ruff: noqa: E501 - a row is one line, so that the table reads as a table
DESCRIPTIONS: dict[IntervalMethod, str] = {
    _M.WILSON: "Wilson score interval of a proportion, carried over to a statistic that is a function of it. Recommended for small groups and for proportions near 0 or 1.",
    _M.CLOPPER_PEARSON: "Exact (Clopper-Pearson) interval of a proportion. Coverage is guaranteed, at the price of width (method=exact).",
    _M.JEFFREYS: "Jeffreys (Dirichlet) posterior of the cell counts with half an observation of prior per cell. Fits any function of the counts.",
    _M.NEWCOMBE: "Newcombe interval of a difference of proportions, from the Wilson intervals of both (MOVER). Recommended for small groups and rare outcomes.",
    _M.MOVER: "Interval of a difference or ratio from the intervals of both sides and their correlation (method of variance estimates recovery), which keeps their asymmetry.",
    _M.SCORE: "Score interval: all values that a test does not reject (Laud, with a skewness correction; Tango and Tang for paired rows; Sato and Klingenberg over strata).",
    _M.STUDENT_T: "Student's t interval of a mean, with the end in the longer tail raised; Welch's of a difference of means; Fieller's of a ratio, none where the denominator may be 0.",
    _M.INFLUENCE: "Variance from the influence of each observation (delta method, sandwich), on the log or logit scale where the statistic has ends.",
    _M.DELONG: "Area under the ROC curve: DeLong's variance as a function of the true area (Newcombe), so that the interval is right for areas near 1.",
    _M.CHI_SQUARE: "Interval from inverting a chi-square test: noncentral of a divergence; of squared errors with degrees of freedom from the fourth moment.",
    _M.BOOTSTRAP: "Bootstrap of the cell counts, which is that of the rows (method=bootstrap). It covers less than its level in small groups.",
    _M.ORDER_STATISTICS: "Limits of a quantile are the values of two ranks, which are binomial whatever the distribution. Conservative in small groups.",
    _M.BALL: "The distance or spread less and plus its sampling variation, because it is positive under no difference; of two outcomes, the difference folded at 0.",
    _M.CONDITIONAL: "The ranks, or the rows of the reference, are taken as fixed: the interval is of which group holds them.",
    _M.STRATIFIED: "Pooled over strata.",
    _M.MANTEL_HAENSZEL: "Mantel-Haenszel odds ratio of all strata with the variance of Robins, Breslow and Greenland. Valid for few large and for many sparse strata.",
    _M.CLUSTER_ROBUST: "Cluster-robust variance with t quantiles, because observations within a cluster are not independent.",
    _M.JACKKNIFE: "Jackknife over blocks of clusters, or of rows that share neighbours, because observations are not independent.",
    _M.TUKEY: "Tukey's critical value, so that the intervals of all pairs hold simultaneously; of a largest gap or smallest ratio, the limit towards “no difference” alone.",
    _M.SIMULTANEOUS_GROUPS: "Simultaneous over groups (Bonferroni), because the extreme group is chosen from all groups: the limit towards the other groups.",
    _M.SIMULTANEOUS: "Simultaneous over the numbers that the statistic is chosen from: classes, bins or parts (Bonferroni).",
    _M.PROFILE_LIKELIHOOD: "Profile likelihood of a mixture of groups known by probabilities alone. Right if these are right and, within a group, unrelated to the outcome. Differences of conditional rates by MOVER.",
    _M.SHARP_BOUNDS: "All values that agree with the outcomes and with the probabilities of the groups, widened by their sampling error. Right wherever the probabilities are.",
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

    >>> method_name(IntervalMethod.NEWCOMBE), method_name(IntervalMethod.STUDENT_T)
    ('Newcombe', 'Student t')
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
