"""The few shapes that a number of one group can have.

A ``Statistic`` turns `ConfusionCounts` into one number per group. Which interval, formula and edge
rule it has follows from its shape, never from its name.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from operator import sub
from typing import ClassVar

import numpy as np

from fairgauge.catalogue.across import Spread, comparison_of
from fairgauge.catalogue.cells import (
    ALL,
    BOTH,
    FN,
    LABEL,
    TP,
    Array,
    Cells,
    ConfusionCounts,
    Need,
    divide,
    needs_of,
    rows_in_any,
)
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import Average, Better, Profile, Task
from fairgauge.reasons import Reason, ReasonCode, join_reasons
from fairgauge.start.records import dataclass
from fairgauge.stats.multinomial import WeightedKappa

_ACRONYMS = {"auc": "AUC", "f1": "F1", "r2": "R²", "roc": "ROC"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A number of one group."""

    name: str  # the one name, in snake_case
    says: str  # what it is: the predicate of the sentence "<name> is ..."
    better: Better  # which direction favours the group
    aka: tuple[str, ...] = ()  # other names in use that mean exactly this
    cite: tuple[str, ...]  # where it is defined
    signed: bool = False  # whether it can be negative, so that a ratio means nothing
    own: bool = False  # whether it is a user's, and not of the catalogue
    plural: bool = False  # whether its title is a plural, as `selection odds` is
    titled: str = ""  # its title, where that is not its name as words
    heading: str = ""  # its name for the head of a column, where that is shorter than its title
    spelled_out: str = ""  # what a heading stands for that its title abbreviates, too
    verb: str = ""  # what a row that it counts does in sentences: `is selected`
    reported_with: str = ""  # the rate that one finding reports beside it
    # whether either direction may be the worse one for a group: a favourable decision in spite of
    # the label may be an advantage (a release) or a harm (a loan that cannot be paid back)
    ambivalent: bool = False

    is_share: ClassVar[bool] = False
    """Whether it is a share of rows, shown in per cent."""
    infinite: ClassVar[str] = "infinite"
    """What an infinite value is called."""
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})
    """The tasks that it is of; in a multiclass audit each class is compared with all others."""

    @property
    def title(self) -> str:
        """Return its name in words."""
        return self.titled or " ".join([_ACRONYMS.get(w, w) for w in self.name.split("_")])

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

    def size(self, side: ConfusionCounts) -> Array:
        """Return the rows each value rests on, its smallest denominator; array of shape (n,)."""
        return ALL.count(side.counts(self.needs))

    def all_rows(self, side: ConfusionCounts) -> Array:
        """Return the rows that each value is of, those in any denominator; array of shape (n,)."""
        under = self.denominators
        return rows_in_any(under, side.cells[self.needs]) if under else self.size(side)

    @abstractmethod
    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        """Return what is missing where `value` is NaN, such as observed positives."""

    def compared(self, by: str) -> Contrast | Spread:
        """Return what compares it: by ``difference``, ``ratio``, ``largest_gap`` ...

        Raises LookupError (it is not compared in this way).
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
        counts = side.cells[self.needs]
        return divide(self.of.count(counts), self.among.count(counts), profile)

    def size(self, side: ConfusionCounts) -> Array:
        return self.among.count(side.cells[self.needs])

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        if self.among == ALL and side.size[at] > 0:
            return Reason.of(ReasonCode.NO_ROWS, of=" and ".join(sorted(self.needs)))
        return none_of(self.among)


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
        counts = side.cells[self.needs]
        return divide(self.over.count(counts), self.under.count(counts), profile)

    def size(self, side: ConfusionCounts) -> Array:
        return rows_in_any((self.over, self.under), side.cells[self.needs])

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        return join_reasons((none_of(self.over), none_of(self.under)))


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
    return frozenset((_lowest_terms(some), _lowest_terms(Cells(*map(sub, every, some)))))


def share_of(of: Statistic) -> Rate | None:
    """Return the share that a statistic rises with: itself, or that of odds among both kinds."""
    if isinstance(of, Quotient) and of.is_odds:
        among = of.over + of.under
        return Rate(
            name=of.name, says=of.says, better=of.better, cite=of.cite, of=of.over, among=among
        )
    return of if isinstance(of, Rate) else None


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
        return join_reasons(rate.why_undefined(side, at) for rate in missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnStatistic(Statistic):
    """A function of sums of cells whose distribution no closed form describes well.

    Its interval is that of its values over drawn tables, whatever the function.
    """


def _bracket(cells: Cells) -> str:
    text = str(cells)
    return f"({text})" if " + " in text else text


def none_of(cells: Cells) -> Reason:
    """Return that a sum of cells is 0, as the reason why a number is undefined."""
    counts, formula = cells.described, str(cells)
    return Reason.of(ReasonCode.EMPTY_DENOMINATOR, counts=counts, formula=formula)


AVERAGES: tuple[Average, ...] = tuple(Average)


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged(Statistic):
    """A statistic averaged over classes.

    ``macro`` is the plain mean over the classes in which it is defined, ``micro`` is taken of the
    summed cells, ``weighted`` weighs classes by their labels. All are of the rows that have a label
    and a prediction, unless one of the two columns is given alone.
    """

    of: Statistic
    how: Average
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.MULTICLASS})

    @property
    def is_share(self) -> bool:  # type: ignore[override]
        return self.of.is_share

    @property
    def title(self) -> str:
        return f"{self.how} {self.of.title}"

    @property
    def needs(self) -> frozenset[Need]:
        return self.of.needs

    @property
    def formula(self) -> str:
        return f"{self.how} average of {self.of.formula} over classes"

    @property
    def range(self) -> tuple[float, float]:
        return self.of.range

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        classes = [_counts_with_both_outcomes(each) for each in side.per_class]
        if self.how is Average.MICRO:
            summed = {
                needs: np.sum([each.counts(needs) for each in classes], axis=0)
                for needs in classes[0].cells
            }
            return self.of.value(ConfusionCounts(size=side.size, cells=summed), profile)
        values = np.stack([self.of.value(each, profile) for each in classes])
        known = ~np.isnan(values)
        weights = np.ones_like(values)
        if self.how is Average.WEIGHTED:
            weights = np.stack([(TP + FN).count(each.counts(LABEL)) for each in classes])
        weights = np.where(known, weights, 0.0)
        total = (weights * np.where(weights > 0, values, 0.0)).sum(axis=0)  # 0 of an infinity is 0
        return divide(total, weights.sum(axis=0), Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        return ALL.count(_counts_with_both_outcomes(side).counts(self.needs))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        return Reason.of(ReasonCode.NO_CLASS_DEFINED, reasons=(self.of.why_undefined(side, at),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Statistic):
    """Overall multiclass accuracy: the share of rows whose prediction is their label."""

    is_share: ClassVar[bool] = True
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.MULTICLASS})
    needs: ClassVar[frozenset[Need]] = BOTH
    formula: ClassVar[str] = "sum of TP over classes / n"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        return divide(self.agreed(side), self.size(side), profile)

    def agreed(self, side: ConfusionCounts) -> Array:
        return np.asarray(np.sum([TP.count(each.counts(BOTH)) for each in side.per_class], axis=0))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        return Reason.of(ReasonCode.NO_ROWS, of="label and prediction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa(Statistic):
    """Cohen's kappa: agreement of predictions and labels beyond that of independent ones.

    Over all classes where there are several, else over the positive and the negative.
    ``power``: that of how many places two ordered classes are apart, by which they disagree.
    """

    power: int = 0
    needs: ClassVar[frozenset[Need]] = BOTH
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    edges: ClassVar[str] = "undefined for a group whose labels and predictions are all of one class"

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        return frozenset({Task.MULTICLASS} if self.power else {Task.BINARY, Task.MULTICLASS})

    @property
    def formula(self) -> str:
        weight = "(y - p)^2, of places of classes" if self.power else "1 where y is not p"
        return f"1 - sum w n(y, p) / (sum w n(y) n(p) / n),  w = {weight}"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        _, _, observed, expected = WeightedKappa(self.power).disagreements(side.table)
        return divide(expected - observed, expected, profile)

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        if self.size(side)[at] == 0:
            return Reason.of(ReasonCode.NO_ROWS, of="label and prediction")
        return Reason.of(ReasonCode.NO_VARIATION, of="labels and predictions")


def class_average(of: Statistic, how: Average) -> Averaged:
    """Average a statistic over classes."""
    says = f"the {how} average over classes of {of.says}"
    return Averaged(name=of.name, of=of, how=how, better=of.better, says=says, cite=of.cite)


def agreement() -> Agreement:
    """Return overall accuracy."""
    says = "the share of rows whose predicted class is their label"
    return Agreement(name="accuracy", better=Better.HIGHER, says=says, cite=("clarify:AD",))


def _counts_with_both_outcomes(side: ConfusionCounts) -> ConfusionCounts:
    # the counts of rows with label and prediction; of all where no row has both
    both = side.counts(BOTH)
    if not both.any():
        return side
    return ConfusionCounts(size=side.size, cells=dict.fromkeys(side.cells, both))
