"""The few ways to compare a group with its reference: the kinds of metric.

A ``ComparisonMetric`` turns two `ConfusionCounts` into one number per comparison. Vendors disagree
on the sign of the same comparison, so every row carries its orientation.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from fairgauge.catalogue.cells import (
    Array,
    Cells,
    ConfusionCounts,
    Need,
    divide,
    rows_in_any,
    subtract,
)
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass, field, replace

if TYPE_CHECKING:
    from fairgauge.catalogue.statistics import Statistic

Order = Literal["group - reference", "reference - group"]
Set = Literal["clarify", "vertex", "native", "own"]

Scope = Literal["group", "pooled", "feature", "table", "rows"]

Ends: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number that compares groups."""

    name: str  # the catalogue name: `AD`, `vertex.recall_difference`, `accuracy.difference`
    set: Set  # whose metric it is
    title: str  # its name in words
    says: str  # what it measures, in a sentence
    # what a value above the neutral one means, as a clause; of a value below it where none can be
    # above, of any value where none is neutral
    positive: str
    aka: tuple[str, ...] = ()  # other names that mean exactly this, sign included
    cite: tuple[str, ...]  # where it is defined
    standard: bool = False  # whether `metrics="standard"` includes it
    heading: str = ""  # its name for the head of a column, where that is shorter than its title

    scope: ClassVar[Scope] = "group"
    """What it is one number of: a group, a group with strata pooled, a feature, all rows."""
    needs_overall: ClassVar[bool] = False
    """Whether it needs the counts of all rows beside those of both sides."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """The names of its parameters; the first is meant where none is named."""

    @property
    def tasks(self) -> frozenset[Task]:
        """Return the tasks that it can be asked in: those of all its rates."""
        return frozenset(Task).intersection(*(statistic.tasks for statistic in self.statistics))

    @property
    def needs(self) -> frozenset[Need]:
        """Return the columns that a row must have to count: those of all its rates."""
        return frozenset().union(*[statistic.needs for statistic in self.statistics])

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
    def turn(self) -> Callable[[Ends], Ends] | None:
        """Return how limits are seen from the other side; None where that is no range of values."""
        low, _ = self.range
        if self.neutral != 1:
            return (lambda ends: (-ends[1], -ends[0])) if low < 0 else lambda ends: ends
        if low < 0:
            return None
        return lambda ends: tuple(1 / end if end > 0 else math.inf for end in ends[::-1])  # type: ignore[return-value]

    @property
    def reading(self) -> str:
        """Return what a value means: ``above 0, the group has fewer rows than its reference``."""
        if math.isnan(self.neutral):
            return self.positive
        side = "above" if self.range[1] > self.neutral else "below"
        return f"{side} {self.neutral:g}, {self.positive}"

    @property
    @abstractmethod
    def edges(self) -> str:
        """Return what happens where the formula divides by zero."""

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """Return the rates of groups that it is made of."""
        return ()

    def with_parameter(self, parameter: str, value: float) -> Metric:
        """Return the same metric with another parameter, as in ``generalized_entropy(alpha=3)``."""
        if parameter not in self.parameters:
            raise LookupError(f"{self.name} has no parameter {parameter}, asked to be {value:g}")
        changed: dict[str, Any] = {"parameter": value}
        return replace(self, name=f"{self.name}({parameter}={value:g})", **changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonMetric(Metric):
    """A metric of two sides, a group and its reference."""

    symmetric: ClassVar[bool] = True
    """Whether its value with both sides exchanged is the same, its negative or its inverse."""

    @abstractmethod
    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        """Return one number per comparison, NaN where undefined; array of shape (n,)."""

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        """Return the rows that group and reference rest on; two arrays of shape (n,)."""
        return self.size(group), self.size(reference)

    def size(self, side: ConfusionCounts) -> Array:
        """Return the rows that a side rests on; array of shape (n,)."""
        return side.size

    def all_rows(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        """Return the rows of group and reference that it is of, not only the smallest part."""
        if not (under := self.denominators):
            return self.sizes(group, reference)
        counts = group.counts(self.needs), reference.counts(self.needs)
        return rows_in_any(under, counts[0]), rows_in_any(under, counts[1])

    @property
    def denominators(self) -> tuple[Cells, ...]:
        """Return the sums of cells that the compared statistics divide by, if each does."""
        of = [statistic.denominators for statistic in self.statistics]
        return tuple(cells for each in of for cells in each) if all(of) else ()

    @abstractmethod
    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        """Return why `value` is NaN at one comparison."""

    def side_values(
        self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile
    ) -> tuple[Array, Array]:
        """Return the number of each side that the comparison is made of."""
        return self.side_value(group, profile), self.side_value(reference, profile)

    def side_value(self, side: ConfusionCounts, profile: Profile) -> Array:
        """Return the number of a side that the comparison is made of; array of shape (n,)."""
        del profile
        return side.size

    def error(self, group: ConfusionCounts, reference: ConfusionCounts) -> Array | None:
        """Return the most that `value` can be off by its own making; None where it is exact."""
        del group, reference
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(ComparisonMetric):
    """A difference or a ratio of one statistic of the two sides."""

    of: Statistic
    by: Literal["difference", "ratio"]
    order: Order = "group - reference"

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return (self.of,)

    @property
    def formula(self) -> str:
        first, second = ("d", "a") if self.order == "group - reference" else ("a", "d")
        sign = "-" if self.by == "difference" else ":"
        return f"[{self.of.formula}]_{first} {sign} [{self.of.formula}]_{second}"

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.of.range
        if self.by == "difference":
            return (low - high, high - low)
        return (0.0, math.inf)

    @property
    def neutral(self) -> float:
        return 0.0 if self.by == "difference" else 1.0

    @property
    def edges(self) -> str:
        if self.by == "ratio" and self.of.range[0] < 0:
            return "undefined where a side is not above 0"
        if self.by == "ratio":
            return "x/0 is Infinity; 0/0 is undefined, as is a side whose own denominator is 0"
        if math.isinf(self.of.range[1]):
            return "x/0 on one side is a signed Infinity; 0/0 and Infinity - Infinity are undefined"
        return "undefined when the denominator of either side is 0"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        return self.compare_values(ours, theirs, profile)

    def compare_values(self, ours: Array, theirs: Array, profile: Profile) -> Array:
        """Return the contrast of the numbers of both sides, NaN where it is undefined.

        A ratio of numbers that may be negative is so where they are not both above 0: of -2 and -4
        it would be that of 2 and 4, though -2 is the larger one.
        """
        if self.order == "reference - group":
            ours, theirs = theirs, ours
        if self.by == "difference":
            return subtract(ours, theirs, profile)
        ratio = divide(ours, theirs, profile)
        if self.of.range[0] >= 0:
            return ratio
        return np.where((ours > 0) & (theirs > 0), ratio, np.nan)

    def side_value(self, side: ConfusionCounts, profile: Profile) -> Array:
        return self.of.value(side, profile)

    def error(self, group: ConfusionCounts, reference: ConfusionCounts) -> Array | None:
        ours, theirs = self.of.error(group), self.of.error(reference)
        if ours is None or theirs is None:
            return None
        if self.by == "difference":
            return ours + theirs
        over, under = self.side_values(group, reference, Profile.DOCUMENTED)
        furthest = divide(over + ours, np.maximum(under - theirs, 0.0), Profile.DOCUMENTED)
        return subtract(furthest, divide(over, under, Profile.DOCUMENTED), Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        return self.of.size(side)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        ours, theirs = self.side_values(group, reference, Profile.DOCUMENTED)
        if math.isnan(ours[at]):
            return self.of.why_undefined(group, at).on("group")
        if math.isnan(theirs[at]):
            return self.of.why_undefined(reference, at).on("reference")
        if self.by == "ratio" and self.of.range[0] < 0:
            return Reason.of(ReasonCode.RATIO_NOT_ABOVE_ZERO, rate=self.of.title)
        if self.by == "ratio":
            value = float(ours[at])
            return Reason.of(ReasonCode.BOTH_SIDES_EQUAL_RATE, rate=self.of.title, value=value)
        return Reason.of(ReasonCode.BOTH_SIDES_INFINITE, rate=self.of.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance(ComparisonMetric):
    """The difference in size of the two sides over their sum."""

    order: Order

    needs: ClassVar[frozenset[Need]] = frozenset()

    @property
    def formula(self) -> str:
        signed = "n_d - n_a" if self.order == "group - reference" else "n_a - n_d"
        return f"({signed}) / (n_a + n_d)"

    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    edges: ClassVar[str] = (
        "+1 or -1 when one side is empty; undefined when there are no rows at all"
    )

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        first, second = group.size, reference.size
        if self.order == "reference - group":
            first, second = second, first
        return divide(subtract(first, second, profile), first + second, profile)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        del group, reference, at
        return Reason.of(ReasonCode.NO_ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined(ComparisonMetric):
    """Several contrasts at once: the largest of them in size, or their mean size."""

    of: tuple[Contrast, ...]
    how: Literal["worst", "mean"]

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return tuple(each.of for each in self.of)

    @property
    def formula(self) -> str:
        word = "max" if self.how == "worst" else "mean"
        return f"{word}({', '.join(f'|{each.formula}|' for each in self.of)})"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, max(each.range[1] for each in self.of))

    edges: ClassVar[str] = "undefined when any of its parts is"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        sizes = np.abs([each.value(group, reference, profile) for each in self.of])
        return np.asarray(sizes.max(axis=0) if self.how == "worst" else sizes.mean(axis=0))

    def size(self, side: ConfusionCounts) -> Array:
        return np.asarray(np.min([each.size(side) for each in self.of], axis=0))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        undefined = next(
            each
            for each in self.of
            if math.isnan(each.value(group, reference, Profile.DOCUMENTED)[at])
        )
        return undefined.why_undefined(group, reference, at)


def is_of_all_groups(metric: Metric | Statistic) -> bool:
    """Return whether a metric is one number of all groups of a feature."""
    return isinstance(metric, Metric) and metric.scope == "feature"


Kind = Literal[
    "flip", "consistency", "top", "exposure", "quantile_difference", "quantile_ratio", "quarter"
]

BINARY = frozenset({Task.BINARY})
REGRESSION = frozenset({Task.REGRESSION})


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMetric(Metric):
    """A metric of rows."""

    kind: Kind  # what it compares
    # `field()` states that there is no default, which otherwise would be the property of the base
    formula: str = field()  # as of any metric
    range: tuple[float, float] = field()
    neutral: float = field(default=0.0)
    needs: frozenset[Need] = field()
    tasks: frozenset[Task] = field()
    one_per: Literal["group", "table"] = "group"  # of what it is one number
    by_features: bool = False  # whether it compares rows by their features
    top: float | None = None  # how many of the highest scores count, or which quarter
    q: float | None = None  # of a quantile, the share of rows at or below it
    percent: bool = False
    scope: ClassVar[Scope] = "rows"

    @property
    def is_ratio(self) -> bool:
        """Return whether it divides a number of the group by that of its reference."""
        return self.kind in ("top", "exposure", "quantile_ratio")

    @property
    def edges(self) -> str:
        empty = "undefined when a side has no row with all columns that it needs"
        ranked = self.top is not None and self.kind != "quarter"
        return f"{empty}, and where the top is the whole ranking" if ranked else empty

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        if self.q is not None:
            return ("q",)
        if self.kind == "quarter":
            return ("k",)
        return () if self.top is None else ("k", "percent")

    def with_parameter(self, parameter: str, value: float) -> Metric:
        if parameter not in self.parameters:
            return super(RowMetric, self).with_parameter(parameter, value)
        quarter = self.kind == "quarter"
        for wrong, allowed in (
            (parameter == "q" and not 0 < value < 1, "above 0 and below 1"),
            (quarter and value not in (1, 2, 3, 4), "1, 2, 3 or 4"),
            (parameter == "k" and (value <= 0 or value % 1), "a whole number above 0"),
            (parameter == "percent" and not 0 < value < 100, "above 0 and below 100"),
        ):
            if wrong:
                raise LookupError(f"{self.name}: {parameter} must be {allowed}, not {value:g}")
        if parameter == "q":
            by = self.kind.removeprefix("quantile_")
            title = f"{value:g} quantile of the label, {by}"
            return replace(self, name=f"quantile_label({value:g}).{by}", title=title, q=value)
        if quarter:
            title = f"Share of quarter {value:g} of the label"
            return replace(self, name=f"{self.name}(k={value:g})", title=title, top=value)
        name = f"{self.name}({parameter}={value:g})"
        return replace(self, name=name, top=value, percent=parameter == "percent")
