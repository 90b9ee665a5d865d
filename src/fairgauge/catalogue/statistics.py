"""The few shapes that a number of one group can have.

A ``Statistic`` turns a `ConfusionCounts` into one number per group. Which interval, formula and edge
rule it has follows from its shape, never from its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.enums import Better, Profile, Task
from fairgauge.reasons import Reason, ReasonCode, all_of

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Cells, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts


_ACRONYMS = {"auc": "AUC", "f1": "F1", "r2": "R²", "roc": "ROC"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(ABC):
    """A number of one group.

    Attributes
    ----------
    name : the one name, in snake_case.
    says : what it is, as the rest of the sentence "<name> is ...".
    better : which direction favours the group.
    signed : whether it can be negative of its nature, so that a ratio of two means nothing.
    aka : other names in use that mean exactly this.
    cite : where it is defined.
    """

    name: str
    says: str
    better: Better
    aka: tuple[str, ...] = ()
    cite: tuple[str, ...]
    signed: bool = False

    is_share: ClassVar[bool] = False
    """Whether it is a share of rows, shown in per cent."""
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})
    """The tasks that it is of; in a multiclass audit each class stands against the rest."""

    @property
    def title(self) -> str:
        """Return the name as words."""
        words = (_ACRONYMS.get(word, word) for word in self.name.split("_"))
        return " ".join(words)

    @property
    def infinite(self) -> str:
        """Say an infinite value in words."""
        return "infinite"

    @property
    @abstractmethod
    def needs(self) -> frozenset[Need]:
        """Return the columns that a row must have to count."""

    @property
    @abstractmethod
    def formula(self) -> str:
        """Return the formula in plain text."""

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value."""

    @abstractmethod
    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        """Return one number per group, NaN where undefined; array of shape (n,)."""

    def error(self, side: ConfusionCounts) -> Array | None:
        """Return the most that `value` can be off by its own making; None where it is exact."""
        del side
        return None

    @abstractmethod
    def size(self, side: ConfusionCounts) -> Array:
        """Return the number of rows each value rests on, its denominator; array of shape (n,)."""

    @abstractmethod
    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        """Return what is missing where `value` is NaN, such as observed positives."""


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
    def needs(self) -> frozenset[Need]:
        return self.of.needs | self.among.needs

    @property
    def formula(self) -> str:
        return f"{_bracket(self.of)} / {_bracket(self.among)}"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        counts = side.counts(self.needs)
        return divide(self.of.count(counts), self.among.count(counts), profile)

    def size(self, side: ConfusionCounts) -> Array:
        return self.among.count(side.counts(self.needs))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        return _none_of(self.among)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient(Statistic):
    """One sum of cells over another: odds (FN / FP), or two shares of the same rows (F1)."""

    over: Cells
    under: Cells
    bounded: bool = False
    """Whether ``over`` can never exceed ``under``."""

    @property
    def infinite(self) -> str:
        return f"infinite (no {self.under.described})"

    @property
    def needs(self) -> frozenset[Need]:
        return self.over.needs | self.under.needs

    @property
    def formula(self) -> str:
        return f"{_bracket(self.over)} / {_bracket(self.under)}"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.bounded else float("inf"))

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        counts = side.counts(self.needs)
        return divide(self.over.count(counts), self.under.count(counts), profile)

    def size(self, side: ConfusionCounts) -> Array:
        return _rows_in_either(self.over, self.under, side.counts(self.needs))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        return all_of((_none_of(self.over), _none_of(self.under)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend(Statistic):
    """The plain mean of several rates, such as balanced accuracy."""

    of: tuple[Rate, ...]

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset().union(*(rate.needs for rate in self.of))

    @property
    def formula(self) -> str:
        return f"({' + '.join(rate.formula for rate in self.of)}) / {len(self.of)}"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        values: Array = np.mean([rate.value(side, profile) for rate in self.of], axis=0)
        return values

    def size(self, side: ConfusionCounts) -> Array:
        sizes: Array = np.min([rate.size(side) for rate in self.of], axis=0)
        return sizes

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        missing = (r for r in self.of if np.isnan(r.value(side, Profile.DOCUMENTED)[at]))
        return all_of(rate.why_undefined(side, at) for rate in missing)


def _rows_in_either(over: Cells, under: Cells, counts: Array) -> Array:
    """Count each row once that stands in either sum."""
    inside = [a + b > 0 for a, b in zip(over.coefficients, under.coefficients, strict=True)]
    total: Array = counts[..., inside].sum(axis=-1)
    return total


def _bracket(cells: Cells) -> str:
    text = str(cells)
    return f"({text})" if " + " in text else text


def _none_of(cells: Cells) -> Reason:
    counts, formula = cells.described, str(cells)
    return Reason.of(ReasonCode.EMPTY_DENOMINATOR, counts=counts, formula=formula)
