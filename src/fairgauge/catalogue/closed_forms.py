"""What the closed form of a statistic's interval is made of: sums of cells, and a kind.

Intervals in Python and in the pages that compute in a browser read the same form, so that neither
knows a metric by its name. What else follows from the shape alone: decompositions, thresholds.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from itertools import combinations
from typing import TypeGuard

from fairgauge.catalogue.cells import Cells, Need
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.score_statistics import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic
from fairgauge.start.records import dataclass


class FormKind(StrEnum):
    """How a statistic follows from its sums of cells."""

    SHARE = "share"  # of the first sum in the second
    ODDS = "odds"  # of that share
    PART = "part"  # kA / (kA + B) of the share A / (A + B), such as F1
    PAIRED = "paired"  # two overlapping sums: rows in both, in the first alone, in the second alone
    MEAN = "mean"  # of several shares of different rows


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The closed form of an interval."""

    kind: FormKind
    sums: tuple[Cells, ...]  # as the kind orders them; of a mean those of each share in turn
    times: int = 1  # the weight k of a part


@cache
def closed_form(statistic: Statistic) -> ClosedForm | None:
    """Return the closed form of the interval of a statistic; None where it has none.

    >>> from fairgauge.catalogue.lookup import find_rate
    >>> form = closed_form(find_rate("f1"))
    >>> str(form.kind), [str(each) for each in form.sums], form.times
    ('part', ['TP', 'TP + FP + FN'], 2)
    """
    if isinstance(statistic, Rate):
        return ClosedForm(FormKind.SHARE, statistic.sums)
    if isinstance(statistic, Blend):
        disjoint = all(a.among.disjoint(b.among) for a, b in combinations(statistic.of, 2))
        return ClosedForm(FormKind.MEAN, statistic.sums) if disjoint else None
    if isinstance(statistic, Quotient):
        return _form_of_quotient(statistic.over, statistic.under)
    return None


def _form_of_quotient(over: Cells, under: Cells) -> ClosedForm | None:
    if over.disjoint(under):
        return ClosedForm(FormKind.ODDS, (over, over + under))
    times = max(over)
    rest = [b - a for a, b in zip(over, under, strict=True)]
    if set(over) <= {0, times} and set(rest) <= {0, 1} and times > 0:
        # kA / (kA + B), such as F1
        of, other = Cells(*(int(a > 0) for a in over)), Cells(*rest)
        if of.disjoint(other):
            return ClosedForm(FormKind.PART, (of, of + other), times)
    pairs = list(zip(over, under, strict=True))
    if any(each not in (0, 1) for pair in pairs for each in pair):
        return None
    kinds = ((1, 1), (1, 0), (0, 1))
    sums = (Cells(*(int(pair == kind) for pair in pairs)) for kind in kinds)
    return ClosedForm(FormKind.PAIRED, tuple(sums))


def coefficients(cells: Cells, needs: frozenset[Need]) -> list[int]:
    """Return the coefficients of eight cells; rows count where all that is needed is known.

    These are TP, FP, FN and TN; the rows without a label that are predicted positive or negative;
    and the positive or negative rows without a prediction.
    """
    unlabelled = (cells.tp, cells.tn) if "label" not in needs else (0, 0)
    undecided = (cells.tp, cells.tn) if "prediction" not in needs else (0, 0)
    return [*cells, *unlabelled, *undecided]


_ONE_COLUMN = (RegressionTerm.LABEL, RegressionTerm.PREDICTION)


def has_decomposition(of: Statistic | None) -> bool:
    """Return whether a statistic is a rate, or the mean of one column, which sums over strata."""
    return isinstance(of, Rate) or (isinstance(of, Mean) and of.of in _ONE_COLUMN)


def usual_rate(*, decided: bool, labelled: bool, regression: bool) -> str:
    """Return the rate or mean that is decomposed by default: of the decision where there is one."""
    if regression:
        return "mean_label" if labelled else "mean_prediction"
    return "selection_rate" if decided else "base_rate"


def is_of_decisions(metric: object) -> TypeGuard[Contrast]:
    """Return whether a metric is a difference or a ratio of a rate of decisions."""
    return (
        isinstance(metric, Contrast)
        and isinstance(metric.of, Rate)
        and "prediction" in metric.needs
    )
