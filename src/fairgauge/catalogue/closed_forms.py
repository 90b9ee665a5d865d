"""What the closed form of a statistic's interval is made of: sums of cells, and a kind.

Intervals in Python and in the pages that compute in a browser read the same form, so that neither
knows a metric by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import combinations

from fairgauge.catalogue.cells import Cells, Need
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic


class FormKind(StrEnum):
    """How a statistic follows from its sums of cells."""

    SHARE = "share"
    """The share of the first sum in the second."""
    ODDS = "odds"
    """The odds of that share."""
    PART = "part"
    """``kA / (kA + B)`` of the share ``A / (A + B)``, such as F1."""
    PAIRED = "paired"
    """The ratio of two overlapping sums: rows in both, in the first alone, in the second alone."""
    MEAN = "mean"
    """The mean of several shares of different rows."""


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The closed form of an interval.

    Attributes
    ----------
    sums : the sums of cells, as the kind orders them; of a mean those of each share in turn.
    times : the weight k of a part.
    """

    kind: FormKind
    sums: tuple[Cells, ...]
    times: int = 1


@cache
def closed_form(statistic: Statistic) -> ClosedForm | None:
    """Return the closed form of the interval of a statistic; None where it has none.

    Examples
    --------
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
    part = _as_part(over, under)
    if part is not None:
        return part
    pairs = list(zip(over, under, strict=True))
    if any(each not in (0, 1) for pair in pairs for each in pair):
        return None
    kinds = ((1, 1), (1, 0), (0, 1))
    sums = (Cells(*(int(pair == kind) for pair in pairs)) for kind in kinds)
    return ClosedForm(FormKind.PAIRED, tuple(sums))


def _as_part(over: Cells, under: Cells) -> ClosedForm | None:
    """Read ``kA / (kA + B)``, A and B disjoint, such as F1; None where it is not of that shape."""
    above, below = over, under
    times = max(above)
    rest = [b - a for a, b in zip(above, below, strict=True)]
    if not (set(above) <= {0, times} and set(rest) <= {0, 1} and times > 0):
        return None
    of, other = Cells(*(int(a > 0) for a in above)), Cells(*rest)
    return ClosedForm(FormKind.PART, (of, of + other), times) if of.disjoint(other) else None


def quotients(statistic: Statistic) -> list[tuple[list[int], list[int]]]:
    """Return the quotients whose mean a rate is, each two lists of coefficients of eight cells.

    These are TP, FP, FN and TN; the rows without a label that are predicted positive or negative;
    and the positive or negative rows without a prediction.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> quotients(find_rate("precision"))
    [([1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0])]
    >>> quotients(find_rate("selection_rate"))
    [([1, 1, 0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0])]
    """
    parts = statistic.of if isinstance(statistic, Blend) else (statistic,)
    sums = [(part, part.sums) for part in parts if isinstance(part, (Rate, Quotient))]
    return [
        (coefficients(over, part.needs), coefficients(under, part.needs))
        for part, (over, under) in sums
    ]


def coefficients(cells: Cells, needs: frozenset[Need]) -> list[int]:
    """Return the coefficients of eight cells; rows count where all that is needed is known."""
    unlabelled = (cells.tp, cells.tn) if "label" not in needs else (0, 0)
    undecided = (cells.tp, cells.tn) if "prediction" not in needs else (0, 0)
    return [*cells, *unlabelled, *undecided]
