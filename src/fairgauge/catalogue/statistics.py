"""The few shapes that a number of one group can have.

A ``Statistic`` turns `ConfusionCounts` into one number per group. Which interval, formula and edge
rule it has follows from its shape, never from its name.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from operator import sub
from typing import ClassVar

import numpy as np

from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.cells import (
    ALL,
    Array,
    Cells,
    ConfusionCounts,
    Need,
    divide,
    needs_of,
    rows_in_any,
)
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.derived import comparison_of
from fairgauge.enums import Better, Profile, Task
from fairgauge.reasons import Reason, ReasonCode, all_of

_ACRONYMS = {"auc": "AUC", "f1": "F1", "r2": "R²", "roc": "ROC"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A number of one group.

    Attributes
    ----------
    name : the one name, in snake_case.
    says : what it is: the predicate of the sentence "<name> is ...".
    better : which direction favours the group.
    signed : whether it can be negative of its nature, so that a ratio of two means nothing.
    aka : other names in use that mean exactly this.
    cite : where it is defined.
    own : whether it is a user's, and not of the catalogue.
    plural : whether its title is a plural, as ``selection odds`` is.
    titled : its title, where that is not its name as words.
    heading : its name for the head of a column, where that is shorter than its title.
    spelled_out : what a heading stands for that its title abbreviates, too.
    verb : what a row that it counts does, where sentences have a verb for it: ``is selected``.
    criterion : the criterion of fairness that groups are compared for in it.
    reported_with : the name of the rate that one finding reports beside it, as of equalized odds.
    ambivalent : whether either direction may be the worse one for a group: a favourable decision in
        spite of the label may be an advantage (a release) or a harm (a loan that cannot be paid
        back).
    """

    name: str
    says: str
    better: Better
    aka: tuple[str, ...] = ()
    cite: tuple[str, ...]
    signed: bool = False
    own: bool = False
    plural: bool = False
    titled: str = ""
    heading: str = ""
    spelled_out: str = ""
    verb: str = ""
    criterion: str = ""
    reported_with: str = ""
    ambivalent: bool = False

    is_share: ClassVar[bool] = False
    """Whether it is a share of rows, shown in per cent."""
    takes_weights: ClassVar[bool] = True
    """Whether it is defined of weighted rows."""
    infinite: ClassVar[str] = "infinite"
    """What an infinite value is called."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """The names of its parameters; the first is meant where none is named."""
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})
    """The tasks that it is of; in a multiclass audit each class is compared with all others."""

    @property
    def title(self) -> str:
        """Return its name in words."""
        return self.titled or " ".join(_ACRONYMS.get(w, w) for w in self.name.split("_"))

    @property
    def sums(self) -> tuple[Cells, ...]:
        """Return the sums of cells that it is a function of; none where it takes more."""
        return ()

    @property
    def needs(self) -> frozenset[Need]:
        """Return the columns that a row must have to count."""
        return needs_of(self.sums)

    @property
    @abstractmethod
    def formula(self) -> str:
        """Return the formula in plain text."""

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value."""

    @property
    def edges(self) -> str:
        """Return what happens where the formula divides by zero."""
        return "undefined when the group has no row with all columns that it needs"

    @abstractmethod
    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        """Return one number per group, NaN where undefined; array of shape (n,)."""

    def error(self, side: ConfusionCounts) -> Array | None:
        """Return the most that `value` can be off by its own making; None where it is exact."""
        del side
        return None

    @property
    def denominators(self) -> tuple[Cells, ...]:
        """Return the sums of cells that it divides by; none where it divides by another number."""
        return ()

    @abstractmethod
    def size(self, side: ConfusionCounts) -> Array:
        """Return the rows each value rests on, its smallest denominator; array of shape (n,)."""

    def all_rows(self, side: ConfusionCounts) -> Array:
        """Return the rows that each value is of, those in any denominator; array of shape (n,)."""
        under = self.denominators
        return rows_in_any(under, side.counts(self.needs)) if under else self.size(side)

    @abstractmethod
    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        """Return what is missing where `value` is NaN, such as observed positives."""

    def with_parameter(self, parameter: str, value: float) -> Statistic:
        """Return the same statistic with another parameter, as in ``precision_at_k(50)``."""
        raise LookupError(f"{self.name} has no parameter {parameter}, asked to be {value:g}")

    def compared(self, by: str) -> Contrast | Spread:
        """Return what compares it: by ``difference``, ``ratio``, ``largest_gap`` ...

        Raises
        ------
        LookupError
            It is not compared in this way.
        """
        return comparison_of(self, by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Statistic):
    """A share of rows: ``of`` among ``among``, each row of ``of`` being one of ``among``."""

    of: Cells
    among: Cells
    is_share: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.of.within(self.among):
            raise ValueError(f"{self.name}: {self.of} is not a part of {self.among}")

    @property
    def sums(self) -> tuple[Cells, ...]:
        return (self.of, self.among)

    @property
    def needs(self) -> frozenset[Need]:
        return needs_of((self.of, self.among))

    @property
    def denominators(self) -> tuple[Cells, ...]:
        return (self.among,)

    @property
    def formula(self) -> str:
        return f"{_bracket(self.of)} / {_bracket(self.among)}"

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def edges(self) -> str:
        return f"undefined when {self.among} = 0"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        counts = side.counts(self.needs)
        return divide(self.of.count(counts), self.among.count(counts), profile)

    def size(self, side: ConfusionCounts) -> Array:
        return self.among.count(side.counts(self.needs))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        if self.among == ALL and side.size[at] > 0:
            return Reason.of(ReasonCode.NO_ROWS, of=" and ".join(sorted(self.needs)))
        return none_of(self.among)


def is_complement(one: object, other: object) -> bool:
    """Return whether two rates add up to 1: the rows of one are those that the other leaves out."""
    if not isinstance(one, Rate) or not isinstance(other, Rate):
        return False
    return one.among == other.among and one.of + other.of == one.among


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient(Statistic):
    """One sum of cells over another: odds (FN / FP), or two shares of the same rows (F1)."""

    over: Cells
    under: Cells
    bounded: bool = False
    """Whether ``over`` can never exceed ``under``."""

    @property
    def is_odds(self) -> bool:
        """Return whether it is of two kinds of rows, so that a ratio of two is an odds ratio."""
        return self.over.disjoint(self.under)

    @property
    def infinite(self) -> str:  # type: ignore[override]
        return f"infinite (no {self.under.described})"

    @property
    def sums(self) -> tuple[Cells, ...]:
        return (self.over, self.under)

    @property
    def needs(self) -> frozenset[Need]:
        return needs_of((self.over, self.under))

    @property
    def formula(self) -> str:
        return f"{_bracket(self.over)} / {_bracket(self.under)}"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.bounded else float("inf"))

    @property
    def edges(self) -> str:
        infinite = f"Infinity when {self.under} = 0 and {self.over} is not; "
        undefined = f"undefined when {self.over} = 0 and {self.under} = 0"
        return undefined if self.bounded else infinite + undefined

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        counts = side.counts(self.needs)
        return divide(self.over.count(counts), self.under.count(counts), profile)

    def size(self, side: ConfusionCounts) -> Array:
        return rows_in_any((self.over, self.under), side.counts(self.needs))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        return all_of((none_of(self.over), none_of(self.under)))


def tested_as(one: Statistic) -> Hashable:
    """Return which test a comparison of a statistic is: functions of the same odds are one.

    These are a rate, its complement and its odds, and F1 and the Jaccard index.
    """
    if isinstance(one, Rate):
        some, every = one.of, one.among
    elif isinstance(one, Quotient) and (one.bounded or one.is_odds):
        some, every = one.over, one.under + one.over if one.is_odds else one.under
    else:
        return one.name
    others = Cells(*map(sub, every, some))
    return frozenset((_lowest_terms(some), _lowest_terms(others)))


def _lowest_terms(cells: Cells) -> Cells:
    divisor = math.gcd(*cells) or 1
    return Cells(*[k // divisor for k in cells])


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend(Statistic):
    """The plain mean of several rates, such as balanced accuracy."""

    of: tuple[Rate, ...]

    @property
    def sums(self) -> tuple[Cells, ...]:
        return tuple(cells for rate in self.of for cells in rate.sums)

    @property
    def denominators(self) -> tuple[Cells, ...]:
        return tuple(rate.among for rate in self.of)

    @property
    def formula(self) -> str:
        return f"({' + '.join(rate.formula for rate in self.of)}) / {len(self.of)}"

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def edges(self) -> str:
        return f"undefined when {' or '.join(part.title for part in self.of)} is"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        return np.asarray(np.mean([rate.value(side, profile) for rate in self.of], axis=0))

    def size(self, side: ConfusionCounts) -> Array:
        return np.asarray(np.min([rate.size(side) for rate in self.of], axis=0))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        missing = (r for r in self.of if np.isnan(r.value(side, Profile.DOCUMENTED)[at]))
        return all_of(rate.why_undefined(side, at) for rate in missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnStatistic(Statistic):
    """A function of sums of cells whose distribution no closed form describes well.

    Its interval is that of its values over drawn tables, whatever the function.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeRate(DrawnStatistic):
    """One rate over another of the same rows, such as lift: precision over the base rate."""

    of: Rate
    to: Rate

    @property
    def sums(self) -> tuple[Cells, ...]:
        return (*self.of.sums, *self.to.sums)

    @property
    def denominators(self) -> tuple[Cells, ...]:
        return (self.of.among, self.to.among)

    @property
    def formula(self) -> str:
        return f"[{self.of.formula}] / [{self.to.formula}]"

    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    @property
    def edges(self) -> str:
        return f"undefined when {self.of.title} is, or when {self.to.of} = 0"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        over, under = (self._rate(rate, side, profile) for rate in (self.of, self.to))
        return divide(over, under, profile)

    def size(self, side: ConfusionCounts) -> Array:
        counts = side.counts(self.needs)
        return np.asarray(np.minimum(self.of.among.count(counts), self.to.among.count(counts)))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        counts = side.counts(self.needs)[at]
        empty = [rate.among for rate in (self.of, self.to) if not rate.among.count(counts)]
        return all_of(map(none_of, empty or [self.to.of]))

    def _rate(self, rate: Rate, side: ConfusionCounts, profile: Profile) -> Array:
        """Return a rate of the rows that both rates can count."""
        counts = side.counts(self.needs)
        return divide(rate.of.count(counts), rate.among.count(counts), profile)


def _bracket(cells: Cells) -> str:
    text = str(cells)
    return f"({text})" if " + " in text else text


def none_of(cells: Cells) -> Reason:
    """Return that a sum of cells is 0, as the reason why a number is undefined."""
    counts, formula = cells.described, str(cells)
    return Reason.of(ReasonCode.EMPTY_DENOMINATOR, counts=counts, formula=formula)
