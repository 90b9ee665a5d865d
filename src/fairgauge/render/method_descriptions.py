"""How the intervals of a report were made, in words: what each method is, and why it was chosen.

The name of a method is made of parts, ``tukey, wilson, mover difference``, and each part is told
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.report.report import Report

OF_GROUPS, OF_PAIRS = "rates of groups", "pairs of groups"
"""What an interval is of, where it is of no metric."""

PARTS = {
    "wilson": "Wilson's interval of a share of rows: it holds near 0 and 1 and in small groups, "
    "where the textbook interval fails",
    "wilson odds": "Wilson's interval of one count among both, carried over to their ratio: given "
    "both, the one is binomial, and a count of 0 leaves the limit open",
    "wilson of the share": "Wilson's interval of a share of rows, carried over to a number that "
    "follows from the share",
    "bonett-price": "Bonett and Price's interval of a ratio of paired proportions: both counts "
    "hold some of the same rows, and taken as independent they would look too unsure",
    "mover of wilson": "Wilson limits of several rates joined into those of their mean (MOVER): "
    "the rates rest on different rows, so that their errors add as squares",
    "mover with the error of the cut": "the error of the number at a given cut of the scores, "
    "joined with that of the cut (MOVER): the cut is estimated from the same rows",
    "student": "Student's t interval of a mean over rows: sums of squares tell how much it varies",
    "delong": "DeLong's interval of an area under the ROC curve: from the ranks of the scores, "
    "without a model of them",
    "influence of rows": "the variance of what every single row adds to the number: it has no "
    "closed form of its own",
    "logit": "made on the logit scale: so limits stay between 0 and 1",
    "sandwich": "the robust variance of a fitted curve, or the model's where that is larger: the "
    "curve need not be the right one",
    "ball of the bins' noise": "the value less and plus how far chance moves its bins: an error "
    "of calibration is never 0 by chance, and limits around it would miss 0 always",
    "all bins at once": "every bin at a stricter level: the largest error was picked from all bins",
    "newcombe": "Newcombe's interval of a difference of two rates, the Wilson limits of both "
    "joined (MOVER): it holds in small groups and for rare outcomes, where bootstraps fail",
    "mover-wilson ratio": "the Wilson limits of two rates joined into those of their ratio "
    "(MOVER): one equation with the difference, so that both agree on “no difference”",
    "mover": "the limits of both sides joined into those of their difference or ratio (MOVER): "
    "they keep their skew, and difference and ratio agree on “no difference”",
    "welch": "Welch's t interval of a difference of means: groups differ in size and in spread",
    "as a ratio": "Fieller's limits of a ratio, from those of both sides: none where a side may "
    "be 0, for a ratio over 0 has no limits",
    "scas score": "score limits corrected for skewness (Laud): for rates far apart in small "
    "groups, the one corner where Newcombe's cover too little, and wherever method=score asks",
    "clopper-pearson": "exact limits of a share of rows: guaranteed, hence wide, as method=exact "
    "asks for and thin bins need",
    "jeffreys": "the posterior of a share of rows, with half a row of prior in each cell: "
    "method=bayes asks for it",
    "dirichlet posterior": "the number over tables drawn from the posterior of the counts, half a "
    "row of prior in each cell: it fits any formula of counts",
    "multinomial bootstrap": "the number over tables drawn anew from the counts, which is the "
    "bootstrap of the rows: method=bootstrap asks for it, to cross-check; it covers too little",
    "percentile": "limits at the quantiles of what was drawn: nothing is assumed of its shape",
    "normal": "limits from the standard deviation of what was drawn: method=bootstrap-normal asks "
    "for them, as Clarify's monitoring makes them",
    "BCa": "limits at quantiles moved for bias and skew (Efron): method=bootstrap-bca asks for "
    "them",
    "chi-square by kurtosis": "a chi-square whose degrees of freedom follow from fourth powers: "
    "squares of numbers with long tails vary more than normal ones",
    "delta": "the spread of a number from those of the sums that it is made of: it is smooth in "
    "them",
    "log delta": "the spread of the logarithm of a number from those of the sums that it is made "
    "of: limits stay on the right side of 0",
    "noncentral chi-square": "the lower limit of a divergence, by inverting its test: it is above "
    "0 only where equality is rejected, for a divergence is never 0 by chance",
    "norm-ball bootstrap": "the distance less and plus how far redrawn distributions move: a "
    "distance is never 0 by chance, and limits around it would miss 0 always",
    "ball of the groups' noise": "the spread less and plus how far chance moves the groups: "
    "noise alone raises a spread, and limits around it would miss 0 always",
    "folded": "limits of a difference carried over to its size: that is never below 0",
    "all classes at once": "every class at a stricter level (Bonferroni): the worst was picked "
    "from all of them",
    "all parts at once": "each part at a stricter level (Bonferroni): their limits hold together",
    "both outcomes at once": "both outcomes at a stricter level (Bonferroni): their limits hold "
    "together",
    "simultaneous": "every group at a stricter level (Bonferroni): the lowest or highest was "
    "picked from all of them",
    "tukey": "every pair of groups at Tukey's critical value: so all pairs hold at once, and the "
    "one that differs most may be picked out",
    "t": "quantiles of Student's t, one degree less than there are clusters: few clusters tell "
    "little of their spread",
    "cluster jackknife": "the number with one block of clusters left out after the other: rows of "
    "one cluster are alike, whatever the number is made of",
    "norm ball": "the distance less and plus how far its noise reaches: a distance is never 0 by "
    "chance, and limits around it would miss 0 always",
    "tango score": "Tango's score limits of a paired difference: each row is its own comparison",
    "reference as given": "rows of the reference are taken as they are: they are the measure that "
    "rows of the group are held to",
    "places as given": "the places of the ranking are taken as they are: the interval asks who "
    "stands on them",
    "tilted score": "the score of a model in which higher places are likelier of the group: few "
    "places hold most of the exposure, so that the spread of a mean misleads",
    "row-block jackknife": "the number with one block of rows left out after the other: neighbours "
    "share rows, and have no formula",
    "ball on the root": "the root of the divergence less and plus how far chance moves it: it is "
    "never 0 by chance, and limits around it would miss 0 always",
    "permuted groups": "the groups shuffled over the rows: that shows what chance alone would give",
    "cluster-robust": "rows count for what their clusters are worth, with quantiles of t: rows of "
    "one cluster are alike",
    "stratified": "pooled over strata with the weights of Mantel and Haenszel: so the strata are "
    "held fixed",
    "score": "the score of the pooled difference or ratio (Sato, Klingenberg; Greenland and "
    "Robins): right for a few large strata and for many thin ones",
}
"""What each part of a method is, and after the colon why it was chosen."""

_ADJECTIVES = ("stratified", "cluster-robust")
_MOVER = ("mover difference", "mover ratio", "mover difference and ratio")


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


def parts(method: str) -> Iterator[str]:
    """Yield the parts of the name of a method.

    >>> list(parts("tukey, cluster-robust wilson odds, mover ratio"))
    ['tukey', 'cluster-robust', 'wilson odds', 'mover']
    """
    for each in method.split(", "):
        rest = each
        for adjective in _ADJECTIVES:
            if rest.startswith(f"{adjective} "):
                rest = rest.removeprefix(f"{adjective} ")
                yield adjective
        yield "mover" if rest in _MOVER else rest


def methods(report: Report, *, groups: bool) -> dict[str, tuple[str, ...]]:
    """Return the methods of the intervals of a report, each with what it made the intervals of.

    ``groups`` says whether those of the rates of single groups are shown too.
    """
    found: dict[str, dict[str, None]] = {}
    for each in report.estimates:
        if each.method and each.low is not None:
            found.setdefault(each.method, {})[each.metric] = None
    rates = (rate for group in report.groups for rate in group.rates.values() if groups)
    for method in (rate.method for rate in rates):
        if method:
            found.setdefault(method, {})[OF_GROUPS] = None
    for pair in report.pairs:
        found.setdefault(pair.method, {})[OF_PAIRS] = None
    return {method: tuple(of) for method, of in found.items()}


def explained(report: Report, *, groups: bool = False) -> list[Made]:
    """Return what the methods of a report are made of, in words."""
    found: dict[str, dict[str, None]] = {}
    for method, of in methods(report, groups=groups).items():
        for part in parts(method):
            if part in PARTS:
                found.setdefault(part, {}).update(dict.fromkeys(of))
    return [Made(name, PARTS[name], tuple(of)) for name, of in found.items()]
