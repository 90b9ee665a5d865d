"""How the confidence intervals of a report were made: what each method is, and why it was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.enums import IntervalMethod

if TYPE_CHECKING:
    from fairgauge.report.report import Report

Methods: TypeAlias = tuple[IntervalMethod, ...]

OF_GROUPS, OF_PAIRS = "rates of groups", "pairs of groups"
"""What an interval is of, where it is of no metric."""

PARTS = {
    IntervalMethod.WILSON: "Wilson's interval of a share of rows: it holds near 0 and 1 and in small groups, "
    "where the textbook interval fails",
    IntervalMethod.WILSON_ODDS: "Wilson's interval of one count among both, carried over to their ratio: given "
    "both, the one is binomial, and a count of 0 leaves the limit open",
    IntervalMethod.WILSON_TRANSFORMED: "Wilson's interval of a share of rows, carried over to a number that "
    "follows from the share",
    IntervalMethod.BONETT_PRICE: "Bonett and Price's interval of a ratio of paired proportions: both counts "
    "hold some of the same rows, and taken as independent they would look too unsure",
    IntervalMethod.ESTIMATED_CUT: "the error of the number at a given cut of the scores, joined "
    "with that of the cut (MOVER): the cut is estimated from the same rows",
    IntervalMethod.STUDENT_T: "Student's t interval of a mean over rows: sums of squares tell how much it varies",
    IntervalMethod.AUC_SCORE: "score limits of an area under the ROC curve: the areas that the value is "
    "compatible with, each with its own variance (Newcombe), which holds for areas near 1",
    IntervalMethod.DELONG: "DeLong's variance of an area under the ROC curve: from the ranks of the scores, "
    "without a model of them",
    IntervalMethod.INFLUENCE: "the variance of what every single row adds to the number: it has no "
    "closed form of its own",
    IntervalMethod.LOGIT: "made on the logit scale: so limits stay between 0 and 1",
    IntervalMethod.SANDWICH: "the robust variance of a fitted curve, or the model's where that is larger: the "
    "curve need not be the right one",
    IntervalMethod.CALIBRATION_BALL: "the value less and plus how far chance moves its bins: an error "
    "of calibration is never 0 by chance, and limits around it would miss 0 always",
    IntervalMethod.SIMULTANEOUS_BINS: "every bin at a stricter level: the largest error was picked from all bins",
    IntervalMethod.NEWCOMBE: "Newcombe's interval of a difference of two rates, the Wilson limits of both "
    "joined (MOVER): it holds in small groups and for rare outcomes, where bootstraps fail",
    IntervalMethod.MOVER: "the limits of both sides joined into those of their difference or ratio (MOVER): "
    "they keep their skew, and difference and ratio agree on “no difference”",
    IntervalMethod.WELCH: "Welch's t interval of a difference of means: groups differ in size and in spread",
    IntervalMethod.FIELLER: "Fieller's limits of a ratio, from those of both sides: none where a side may "
    "be 0, for a ratio over 0 has no limits",
    IntervalMethod.SCAS: "score limits corrected for skewness (Laud): for rates far apart in small "
    "groups, the one corner where Newcombe's cover too little, and wherever method=score asks",
    IntervalMethod.CLOPPER_PEARSON: "exact limits of a share of rows: guaranteed, hence wide, as method=exact "
    "asks for and thin bins need",
    IntervalMethod.JEFFREYS: "the posterior of a share of rows, with half a row of prior in each cell: "
    "method=bayes asks for it",
    IntervalMethod.DIRICHLET_POSTERIOR: "the number over tables drawn from the posterior of the counts, half a "
    "row of prior in each cell: it fits any formula of counts",
    IntervalMethod.MULTINOMIAL_BOOTSTRAP: "the number over tables drawn anew from the counts, which is the "
    "bootstrap of the rows: method=bootstrap asks for it, to cross-check; it covers too little",
    IntervalMethod.PERCENTILE: "limits at the quantiles of what was drawn: nothing is assumed of its shape",
    IntervalMethod.NORMAL_APPROXIMATION: "limits from the standard deviation of what was drawn: method=bootstrap-normal asks "
    "for them, as Clarify's monitoring makes them",
    IntervalMethod.BCA: "limits at quantiles moved for bias and skew (Efron): method=bootstrap-bca asks for "
    "them",
    IntervalMethod.KURTOSIS_CHI_SQUARE: "a chi-square whose degrees of freedom follow from fourth powers: "
    "squares of numbers with long tails vary more than normal ones",
    IntervalMethod.DELTA: "the spread of a number from those of the sums that it is made of: it is smooth in "
    "them",
    IntervalMethod.LOG_DELTA: "the spread of the logarithm of a number from those of the sums that it is made "
    "of: limits stay on the right side of 0",
    IntervalMethod.NONCENTRAL_CHI_SQUARE: "the lower limit of a divergence, by inverting its test: it is above "
    "0 only where equality is rejected, for a divergence is never 0 by chance",
    IntervalMethod.NORM_BALL: "the distance less and plus how far redrawn distributions move: a "
    "distance is never 0 by chance, and limits around it would miss 0 always",
    IntervalMethod.GROUP_BALL: "the spread less and plus how far chance moves the groups: "
    "noise alone raises a spread, and limits around it would miss 0 always",
    IntervalMethod.FOLDED: "limits of a difference carried over to its size: that is never below 0",
    IntervalMethod.SIMULTANEOUS_CLASSES: "every class at a stricter level (Bonferroni): the worst was picked "
    "from all of them",
    IntervalMethod.SIMULTANEOUS_PARTS: "each part at a stricter level (Bonferroni): their limits hold together",
    IntervalMethod.SIMULTANEOUS_OUTCOMES: "both outcomes at a stricter level (Bonferroni): their limits hold "
    "together",
    IntervalMethod.SIMULTANEOUS_GROUPS: "every group at a stricter level (Bonferroni): the lowest or highest was "
    "picked from all of them",
    IntervalMethod.TUKEY: "every pair of groups at Tukey's critical value: so all pairs hold at once, and the "
    "one that differs most may be picked out",
    IntervalMethod.T_QUANTILES: "quantiles of Student's t, one degree less than there are clusters: few clusters tell "
    "little of their spread",
    IntervalMethod.CLUSTER_JACKKNIFE: "the number with one block of clusters left out after the other: rows of "
    "one cluster are alike, whatever the number is made of",
    IntervalMethod.TANGO: "Tango's score limits of a paired difference: each row is its own comparison",
    IntervalMethod.REFERENCE_FIXED: "rows of the reference are taken as they are: they are the measure that "
    "rows of the group are held to",
    IntervalMethod.RANKS_FIXED: "the places of the ranking are taken as they are: the interval asks who "
    "stands on them",
    IntervalMethod.TILTED_SCORE: "the score of a model in which higher places are likelier of the group: few "
    "places hold most of the exposure, so that the spread of a mean misleads",
    IntervalMethod.ROW_JACKKNIFE: "the number with one block of rows left out after the other: neighbours "
    "share rows, and have no formula",
    IntervalMethod.ROOT_BALL: "the root of the divergence less and plus how far chance moves it: it is "
    "never 0 by chance, and limits around it would miss 0 always",
    IntervalMethod.PERMUTATION: "the groups shuffled over the rows: that shows what chance alone would give",
    IntervalMethod.CLUSTER_ROBUST: "rows count for what their clusters are worth, with quantiles of t: rows of "
    "one cluster are alike",
    IntervalMethod.STRATIFIED: "pooled over strata with the weights of Mantel and Haenszel: so the strata are "
    "held fixed",
    IntervalMethod.STRATIFIED_SCORE: "the score of the pooled difference or ratio (Sato, Klingenberg; Greenland and "
    "Robins): right for a few large strata and for many thin ones",
}
"""What each part of a method is, and after the colon why it was chosen."""


@dataclass(frozen=True, slots=True)
class Made:
    """A part of the methods of a report.

    Attributes
    ----------
    name, says : the part, what it is and why it was chosen.
    of : the metrics whose intervals it made, and ``OF_GROUPS``, ``OF_PAIRS``.
    """

    name: str
    says: str
    of: tuple[str, ...]


def methods(report: Report, *, groups: bool) -> dict[Methods, tuple[str, ...]]:
    """Return the methods of the intervals of a report, each with what it made the intervals of.

    ``groups`` adds those of the rates of single groups.
    """
    used: dict[Methods, dict[str, None]] = {}
    for each in report.estimates:
        if each.interval:
            used.setdefault(each.interval.methods, {})[each.metric] = None
    rates = (rate for group in report.groups for rate in group.rates.values() if groups)
    for rate in rates:
        if rate.interval:
            used.setdefault(rate.interval.methods, {})[OF_GROUPS] = None
    for pair in report.pairs:
        used.setdefault(pair.difference_interval.methods, {})[OF_PAIRS] = None
    return {method: tuple(of) for method, of in used.items()}


def explained(report: Report, *, groups: bool = False) -> list[Made]:
    """Return the methods of a report, each explained once."""
    used: dict[IntervalMethod, dict[str, None]] = {}
    for steps, of in methods(report, groups=groups).items():
        for step in steps:
            if step in PARTS:
                used.setdefault(step, {}).update(dict.fromkeys(of))
    return [Made(title(step), PARTS[step], tuple(of)) for step, of in used.items()]


def title(method: IntervalMethod) -> str:
    """Return the name of a method as words."""
    return str(method).replace("_", " ")
