"""The few ways to compare a group with its reference: the kinds of metric.

A ``Metric`` turns two `Side` values into one number per comparison. Vendors disagree on the sign
of the same comparison, so every row carries its orientation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from fairgauge.metrics.arithmetic import divide, subtract
from fairgauge.metrics.distances import DISTANCES, Distances
from fairgauge.words import Profile

if TYPE_CHECKING:
    from fairgauge.metrics.kinds import Statistic
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array, Need

Order = Literal["group - reference", "reference - group"]
Set = Literal["clarify", "vertex", "native"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric(ABC):
    """A number that compares a group with its reference.

    Attributes
    ----------
    name : the catalogue name: ``AD``, ``vertex.recall_difference``, ``accuracy.difference``.
    set : whose metric it is.
    title : its name in words.
    says : what it measures, in a sentence.
    positive : how a positive value (or a value above the neutral one) reads.
    aka : other names that mean exactly this, sign included.
    cite : where it is defined.
    standard : whether ``metrics="standard"`` includes it.
    """

    name: str
    set: Set
    title: str
    says: str
    positive: str
    aka: tuple[str, ...] = ()
    cite: tuple[str, ...]
    standard: bool = False

    whole_table: ClassVar[bool] = False
    """Whether it is one number for all rows, not one per group."""
    needs_strata: ClassVar[bool] = False
    """Whether it holds a stratum fixed."""

    @property
    @abstractmethod
    def needs(self) -> frozenset[Need]:
        """Return the columns that a row must have to count."""

    @property
    @abstractmethod
    def formula(self) -> str:
        """Return the formula in plain text, d for the group and a for the reference."""

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """Return the smallest and the largest possible value."""

    @property
    def neutral(self) -> float:
        """Return the value that means "no difference"."""
        return 0.0

    @property
    @abstractmethod
    def edges(self) -> str:
        """Say what happens where the formula divides by zero."""

    @abstractmethod
    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        """Return one number per comparison, NaN where undefined; array of shape (n,)."""

    @abstractmethod
    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        """Return the rows that group and reference rest on; two arrays of shape (n,)."""

    @abstractmethod
    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        """Say why `value` is NaN at one comparison."""

    @abstractmethod
    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        """Say a value in words; ``sides`` are what `side_values` gave for it."""

    def side_values(self, group: Side, reference: Side, profile: Profile) -> tuple[Array, Array]:
        """Return the number of each side that the comparison is made of."""
        del profile
        return group.size, reference.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(Metric):
    """A difference or a ratio of one statistic of the two sides."""

    of: Statistic
    by: Literal["difference", "ratio"]
    order: Order = "group - reference"

    @property
    def needs(self) -> frozenset[Need]:
        return self.of.needs

    @property
    def formula(self) -> str:
        first, second = ("d", "a") if self.order == "group - reference" else ("a", "d")
        sign = "-" if self.by == "difference" else ":"
        return f"[{self.of.formula}]_{first} {sign} [{self.of.formula}]_{second}"

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.of.range
        return (low - high, high - low) if self.by == "difference" else (0.0, math.inf)

    @property
    def neutral(self) -> float:
        return 0.0 if self.by == "difference" else 1.0

    @property
    def edges(self) -> str:
        if self.by == "ratio":
            return "x/0 is Infinity; 0/0, or a side without rows to rest on, is undefined"
        if math.isinf(self.of.range[1]):
            return "x/0 on one side is a signed Infinity; 0/0 and Infinity - Infinity are undefined"
        return "undefined when either side has no rows to rest on"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        if self.order == "reference - group":
            ours, theirs = theirs, ours
        if self.by == "difference":
            return subtract(ours, theirs, profile)
        return divide(ours, theirs, profile)

    def side_values(self, group: Side, reference: Side, profile: Profile) -> tuple[Array, Array]:
        return self.of.value(group, profile), self.of.value(reference, profile)

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        return self.of.size(group), self.of.size(reference)

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        ours, theirs = self.side_values(group, reference, Profile.DOCUMENTED)
        if math.isnan(ours[at]):
            return f"the group has {self.of.why_undefined(group, at)}"
        if math.isnan(theirs[at]):
            return f"the reference has {self.of.why_undefined(reference, at)}"
        if self.by == "ratio":
            return f"both sides have {self.of.title} {ours[at]:g}"
        return f"{self.of.title} is infinite on both sides"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        ours, theirs = sides
        shown = f"{group}: {self.of.title} {self._show(ours)}"
        against = f"{reference} ({self._show(theirs)})"
        if ours == theirs:
            return f"{shown}, the same as {against}"
        if self.by == "ratio":
            return f"{shown}, {_times(value)} that of {against}"
        gap = abs(ours - theirs)
        size = f"{gap * 100:.1f} points" if self.of.is_share else f"{gap:.3g}"
        return f"{shown}, {size} {'higher' if ours > theirs else 'lower'} than {against}"

    def _show(self, number: float) -> str:
        return f"{number:.1%}" if self.of.is_share else f"{number:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance(Metric):
    """The difference in size of the two sides over their sum."""

    order: Order

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset()

    @property
    def formula(self) -> str:
        signed = "n_d - n_a" if self.order == "group - reference" else "n_a - n_d"
        return f"({signed}) / (n_a + n_d)"

    @property
    def range(self) -> tuple[float, float]:
        return (-1.0, 1.0)

    @property
    def edges(self) -> str:
        return "+1 or -1 when one side is empty; undefined when there are no rows at all"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        gap = group.size - reference.size
        if self.order == "reference - group":
            gap = -gap
        return divide(gap, group.size + reference.size, profile)

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        return group.size, reference.size

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        del group, reference, at
        return "there are no rows on either side"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        del value
        ours, theirs = sides
        share = ours / (ours + theirs)
        return (
            f"{group}: {ours:,.10g} rows against {theirs:,.10g} of {reference}, {share:.1%} of both"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance(Metric):
    """How far apart the label (or prediction) distributions of the two sides are."""

    of: Need
    by: Distances

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    @property
    def formula(self) -> str:
        return DISTANCES[self.by].formula

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, DISTANCES[self.by].most)

    @property
    def edges(self) -> str:
        unseen = "Infinity if a category of the reference is unseen in the group; "
        return f"{unseen if self.by == 'kl' else ''}undefined when a side has no rows"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        if profile is Profile.CLARIFY:  # smclarify collapses to positive and negative first
            ours, theirs = (_collapsed(side, self.of) for side in (group, reference))
        else:
            ours, theirs = group.classes[self.of], reference.classes[self.of]
        return DISTANCES[self.by].between(theirs, ours, profile)

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        return group.classes[self.of].sum(axis=-1), reference.classes[self.of].sum(axis=-1)

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        ours, _ = self.sizes(group, reference)
        return f"the {'group' if ours[at] == 0 else 'reference'} has no rows with a {self.of}"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        del sides
        return f"{group}: {self.of}s lie {value:.3g} from those of {reference} ({self.title})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalDisparity(Metric):
    """The group's share of the rejected less its share of the accepted, averaged over strata."""

    of: Need
    needs_strata: ClassVar[bool] = True

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    @property
    def formula(self) -> str:
        return "sum_i n_i (n_d,i(0) / n_i(0) - n_d,i(1) / n_i(1)) / sum_i n_i"

    @property
    def range(self) -> tuple[float, float]:
        return (-1.0, 1.0)

    @property
    def edges(self) -> str:
        return (
            "a stratum without accepted or without rejected rows is left out and the coverage said; "
            "undefined when none is left"
        )

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        ours = group.strata[self.of]
        both = ours + reference.strata[self.of]
        share = divide(ours, both, profile)  # (n, S, 2): of the positive, of the negative
        disparity = share[..., 1] - share[..., 0]
        rows = both.sum(axis=-1)
        weight = np.where(np.isnan(disparity), 0.0, rows)
        total = weight.sum(axis=-1)
        if profile is Profile.CLARIFY:
            total = np.where((both.sum(axis=-2) > 0).all(axis=-1), total, np.nan)
        with np.errstate(invalid="ignore"):
            result: Array = (weight * np.nan_to_num(disparity)).sum(axis=-1) / total
        return result

    def coverage(self, group: Side, reference: Side) -> Array:
        """Return the share of rows in strata that have both accepted and rejected rows."""
        both = group.strata[self.of] + reference.strata[self.of]
        rows = both.sum(axis=-1)
        used = np.where((both > 0).all(axis=-1), rows, 0.0).sum(axis=-1)
        return divide(used, rows.sum(axis=-1), Profile.DOCUMENTED)

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        return (
            group.strata[self.of].sum(axis=(-1, -2)),
            reference.strata[self.of].sum(axis=(-1, -2)),
        )

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        both = (group.strata[self.of] + reference.strata[self.of])[at].sum(axis=0)
        for name, count in zip(("positive", "negative"), both, strict=True):
            if count == 0:
                return f"there are no {name} {self.of}s"
        return f"no stratum has both positive and negative {self.of}s"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        del reference, sides
        word = "rejected" if value > 0 else "accepted"
        other = "accepted" if value > 0 else "rejected"
        if value == 0:
            return f"{group}: the same share of the rejected as of the accepted, within strata"
        return (
            f"{group}: {abs(value) * 100:.1f} points more of the {word} than of the {other}, "
            "averaged over strata"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inequality(Metric):
    """Generalized entropy of the benefits b = prediction - label + 1 over all rows."""

    alpha: int = 2
    whole_table: ClassVar[bool] = True

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "prediction"})

    @property
    def formula(self) -> str:
        return "mean((b / mean(b))^2 - 1) / 2,  b = 2 for FP, 1 for TP and TN, 0 for FN"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, math.inf)

    @property
    def edges(self) -> str:
        return "at most (n - 1) / 2; undefined when every row is a false negative"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        del reference, profile
        counts = group.counts(self.needs)
        rows = counts.sum(axis=-1)
        total = 2 * counts[..., 1] + counts[..., 0] + counts[..., 3]
        squares = 4 * counts[..., 1] + counts[..., 0] + counts[..., 3]
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Array = (rows * squares / total**2 - 1) / 2
        return result

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        del reference
        rows = group.counts(self.needs).sum(axis=-1)
        return rows, np.full_like(rows, np.nan)

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        del reference
        if group.counts(self.needs)[at].sum() == 0:
            return "there are no rows with a label and a prediction"
        return "every row is a false negative, so the mean benefit is 0"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        del reference, sides
        return f"{group}: benefits are spread with a generalized entropy of {value:.3g} (0 is even)"


def _collapsed(side: Side, of: Need) -> Array:
    counts = side.counts(frozenset({of}))
    return np.stack([counts[..., 0], counts[..., 3]], axis=-1)


def _times(value: float) -> str:
    return "infinitely many times" if math.isinf(value) else f"{value:.3g} times"
