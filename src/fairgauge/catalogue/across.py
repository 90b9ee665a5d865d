"""Metrics over all groups of a feature: spreads, and how a rate becomes a difference or ratio."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from fairgauge.catalogue.cells import ROUNDING, SMALLEST_GAP, Array, ConfusionCounts, Need, divide
from fairgauge.catalogue.comparisons import Combined, Contrast, Metric, Scope
from fairgauge.enums import Profile, Task
from fairgauge.errors import suggest
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.statistics import Statistic

Spreads = Literal["largest_gap", "smallest_ratio", "minimum", "maximum"]
_LEAST = ("smallest_ratio", "minimum")
_OF_ONE = ("minimum", "maximum")
_EXTREMES = (*_LEAST, "largest_gap", "maximum")
_CONCENTRATION = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class GroupSpread:
    """What lies across the groups, in every slot."""

    value: Array  # array of shape (slots,), NaN where undefined
    first: NDArray[np.int64]  # the two groups it comes from, as positions; arrays of shape (slots,)
    second: NDArray[np.int64]
    # whether the two groups differ by more than rounding; array of shape (slots,)
    apart: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Extremes:
    """The groups with the least and the greatest value in every slot; arrays of shape (slots,)."""

    least: NDArray[np.int64]
    most: NDArray[np.int64]
    apart: NDArray[np.bool_]


def extremes(values: Array, rows: Array, cells: Array) -> Extremes:
    """Find the least and the greatest value of every slot, ties decided by counts.

    The order of groups is that of their names, which must decide nothing: of groups with the same
    value the one with most rows is taken, because its interval is the narrowest and a small group
    would leave a rule without a verdict; of equally many rows, the one with the larger cells. Where
    all values are the same, the least and the greatest are the first two groups in that order.

    ``values``: array of shape (slots, groups), NaN where undefined.
    ``rows``: the rows of every group, in the same shape.
    ``cells``: array of shape (slots, groups, cells), by which groups of equally many rows differ.

    >>> import numpy as np
    >>> rows = np.array([[18, 200, 200]])
    >>> found = extremes(np.array([[0.5, 0.9, 0.5]]), rows, rows[..., None])
    >>> found.least.tolist(), found.most.tolist()
    ([2], [1])
    """
    known = ~np.isnan(values)
    low, high = (
        reduce(values, axis=1, where=known, initial=initial)
        for reduce, initial in ((np.min, np.inf), (np.max, -np.inf))
    )
    with np.errstate(invalid="ignore"):
        largest = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1, initial=0.0)
        near = largest * ROUNDING + SMALLEST_GAP
        tied = [
            known & ((np.abs(values - end[:, None]) <= near[:, None]) | (values == end[:, None]))
            for end in (low, high)
        ]
        apart = (high - low > near) & (high > low)
    if all((ends.sum(axis=1) <= 1).all() for ends in tied):
        least, most = (ends.argmax(axis=1) for ends in tied)
        return Extremes(least, most, apart)
    # the place of every group of a slot, 0 for most rows; shape (slots, groups)
    slots, groups = rows.shape
    keys = [-each.ravel() for each in (*np.moveaxis(cells, -1, 0)[::-1], rows)]
    order = np.lexsort((*keys, np.repeat(np.arange(slots), groups)))
    place = np.empty((slots, groups), dtype=np.int64)
    place.flat[order] = np.tile(np.arange(groups), slots)
    least, most = (np.where(ends, place, values.shape[1]).argmin(axis=1) for ends in tied)
    others = tied[1] & (np.arange(values.shape[1]) != least[:, None])
    next_most = np.where(others, place, values.shape[1]).argmin(axis=1)
    return Extremes(least, np.where(apart | ~others.any(axis=1), most, next_most), apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class Across(Metric):
    """A metric of all groups of a feature at once."""

    scope: ClassVar[Scope] = "feature"
    edges: ClassVar[str] = (
        "groups in which it is undefined are excluded; undefined when fewer than two remain"
    )

    @abstractmethod
    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        """Compare all groups; the side holds the groups of each slot one after another."""

    def why_undefined(self, spread: GroupSpread, slot: int) -> Reason:
        """Return why there is no value in a slot."""
        if spread.first[slot] != spread.second[slot]:  # two groups, and no ratio of theirs
            names = " or ".join(dict.fromkeys(statistic.title for statistic in self.statistics))
            return Reason.of(ReasonCode.RATIO_NOT_ABOVE_ZERO, rate=names)
        return Reason.of(ReasonCode.FEWER_THAN_TWO_GROUPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(Across):
    """How a statistic spreads over the groups of a feature."""

    of: Statistic
    by: Spreads

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return (self.of,)

    @property
    def formula(self) -> str:
        low, high = (f"{end}_g [{self.of.formula}]_g" for end in ("min", "max"))
        gap, ratio = f"{high} - {low}", f"{low} / {high}"
        return {"largest_gap": gap, "smallest_ratio": ratio, "minimum": low}.get(self.by, high)

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.of.range
        if self.by == "smallest_ratio":
            return (0.0, 1.0) if low >= 0 else (-math.inf, math.inf)
        return (0.0, high - low) if self.by == "largest_gap" else (low, high)

    @property
    def neutral(self) -> float:
        if self.by in _OF_ONE:
            return math.nan
        return 1.0 if self.by == "smallest_ratio" else 0.0

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        """Compare all groups.

        Ratios are of numbers that are not below 0: of -2 and -4 the smallest ratio would be 2. A
        ratio to 0 is undefined where one may be below.
        """
        values = self.of.value(groups, profile).reshape(slots, -1)
        known = ~np.isnan(values)
        of_one = self.by in _OF_ONE
        enough = known.sum(axis=1) >= (1 if of_one else 2)
        rows = self.of.size(groups).reshape(slots, -1)
        found = extremes(values, rows, groups.every_cell().reshape(*rows.shape, -1))
        least, most, apart = found.least, found.most, found.apart
        low, high = (np.take_along_axis(values, i[:, None], 1)[:, 0] for i in (least, most))
        with np.errstate(invalid="ignore"):
            value = {
                "largest_gap": lambda: high - low,
                "smallest_ratio": lambda: divide(low, high, Profile.DOCUMENTED),
                "minimum": lambda: low,
                "maximum": lambda: high,
            }[self.by]()
        if not of_one:  # a gap within rounding is none; 0/0 stays undefined
            value = np.where(apart | np.isnan(value), value, self.neutral)
        if self.by == "smallest_ratio" and self.of.range[0] < 0:
            value = np.where(low > 0, value, np.nan)
        first, second = (least, most) if self.by in ("minimum", "smallest_ratio") else (most, least)
        return GroupSpread(np.where(enough, value, np.nan), first, second, apart | of_one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint(Across):
    """Several spreads at once: the worst of them, or their mean."""

    of: tuple[Spread, ...]
    how: Literal["worst", "mean"]

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return tuple(each.of for each in self.of)

    @property
    def formula(self) -> str:
        word = "mean" if self.how == "mean" else "max" if self.neutral == 0 else "min"
        return f"{word}({', '.join(each.formula for each in self.of)})"

    @property
    def range(self) -> tuple[float, float]:
        return self.of[0].range

    @property
    def neutral(self) -> float:
        return self.of[0].neutral

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        every = [each.across(groups, slots, profile) for each in self.of]
        values = np.stack([found.value for found in every])
        away = np.abs(values - self.neutral)
        worst = np.where(np.isnan(away), -1.0, away).argmax(axis=0)[None]
        value, first, second, apart = (
            np.take_along_axis(np.stack([getattr(found, field) for found in every]), worst, 0)[0]
            for field in ("value", "first", "second", "apart")
        )
        return GroupSpread(
            values.mean(axis=0) if self.how == "mean" else value, first, second, apart
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialFairness(Across):
    """Epsilon of differential fairness: the largest log ratio of any outcome's share, smoothed."""

    of: Need
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    formula: ClassVar[str] = "max_g,h,y |ln(p_g(y) / p_h(y))|,  p_g(y) = (n_g(y) + 1/K) / (n_g + 1)"
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        del profile
        counts = groups.counts(frozenset({self.of}))[:, [0, 3]].reshape(slots, -1, 2)
        total = counts.sum(axis=-1, keepdims=True)
        shares = (counts + _CONCENTRATION / 2) / (total + _CONCENTRATION)
        logs = np.where(total > 0, np.log(shares), np.nan)
        cells = groups.every_cell().reshape(*counts.shape[:2], -1)
        of_outcomes = [extremes(logs[..., k], total[..., 0], cells) for k in range(2)]
        most, least, apart = (
            np.stack([getattr(found, field) for found in of_outcomes], axis=1)
            for field in ("most", "least", "apart")
        )
        highest, lowest = (np.take_along_axis(logs, i[:, None], 1)[:, 0] for i in (most, least))
        gaps = np.where(apart | np.isnan(highest), highest - lowest, 0.0)
        outcome = np.where(np.isnan(gaps), -1.0, gaps).argmax(axis=1)
        enough = (total[..., 0] > 0).sum(axis=1) > 1
        slot = np.arange(slots)
        value = np.where(enough, gaps[slot, outcome], np.nan)
        return GroupSpread(value, most[slot, outcome], least[slot, outcome], apart[slot, outcome])


def is_extreme(metric: Metric) -> bool:
    """Return whether a metric is the largest or the smallest of several numbers."""
    if isinstance(metric, (Joint, Combined)):
        return metric.how == "worst"
    spread = isinstance(metric, Spread) and metric.by in _EXTREMES
    return spread or isinstance(metric, DifferentialFairness)


def is_of_one_group(metric: Metric | Statistic) -> bool:
    """Return whether a metric of all groups is the rate of one of them: the lowest or highest."""
    return isinstance(metric, Spread) and metric.by in _OF_ONE


def is_smallest(metric: Metric) -> bool:
    """Return whether an extreme is the smallest of its parts; a gap is the largest."""
    return metric.neutral == 1 or (isinstance(metric, Spread) and metric.by in _LEAST)


Contrasts = Literal["difference", "ratio"]

CONTRASTS: tuple[Contrasts, ...] = ("difference", "ratio")
_DIFFER = "the groups differ"
_OF_WORST = "it is the value of the worst group where {} values are better"
SPREAD_WORDS: dict[Spreads, tuple[str, str]] = {
    "largest_gap": (
        "the difference between the highest and the lowest group's",
        "the groups differ",
    ),
    "smallest_ratio": ("the lowest group's, divided by the highest group's", _DIFFER),
    "minimum": ("the lowest group's", _OF_WORST.format("higher")),
    "maximum": ("the highest group's", _OF_WORST.format("lower")),
}
"""What a spread is, before the title of its rate, and what a value of it means."""
# what means something only of numbers that cannot be negative
_OF_RATIO_SCALE = ("ratio", "smallest_ratio")


def comparisons_of(of: Statistic) -> tuple[str, ...]:
    """Return the names of what compares a rate: ``difference``, ``largest_gap`` ..."""
    every = (*CONTRASTS, *SPREAD_WORDS)
    return tuple(by for by in every if not (of.signed and by in _OF_RATIO_SCALE))


def comparison_of(of: Statistic, by: str) -> Contrast | Spread:
    """Return what compares a rate in one way."""
    if by not in comparisons_of(of):
        why = "it can be negative" if by in _OF_RATIO_SCALE else "there is no such comparison"
        allowed = ", ".join(comparisons_of(of))
        hint = suggest(by, comparisons_of(of))
        raise LookupError(f"{of.name} has no {by}: {why}.{hint} Allowed: {allowed}")
    return spread_of(of, by) if by in SPREAD_WORDS else contrast_of(of, cast("Contrasts", by))


def comparison_words(by: Contrasts | Spreads, title: str) -> str:
    """Return what a comparison of a rate with this title is, in words."""
    if by == "difference":
        return f"the group's {title} minus its reference's"
    if by == "ratio":
        return f"the group's {title} divided by its reference's"
    return f"{SPREAD_WORDS[by][0]} {title}"


def contrast_of(of: Statistic, by: Contrasts, **more: Any) -> Contrast:
    """Return the difference (group - reference) or the ratio (group / reference) of a rate.

    ``more``: further fields of the contrast.
    """
    higher = f"the group's {of.title} {'are' if of.plural else 'is'} higher than its reference's"
    return Contrast(**_fields_of_comparison(of, by), positive=higher, cite=of.cite, **more)


def spread_of(of: Statistic, by: Spreads, aka: tuple[str, ...] = ()) -> Spread:
    """Return how a rate spreads over all groups of a feature; ``aka`` are its other names."""
    cite = ("fairlearn:MetricFrame", *of.cite)
    return Spread(**_fields_of_comparison(of, by), positive=SPREAD_WORDS[by][1], aka=aka, cite=cite)


def _fields_of_comparison(of: Statistic, by: Contrasts | Spreads) -> dict[str, Any]:
    title = of.title
    named = f"{title[:1].upper()}{title[1:]}, {by.replace('_', ' ')}"
    whose, says = "own" if of.own else "native", comparison_words(by, title)
    return {
        "name": f"{of.name}.{by}",
        "set": whose,
        "title": named,
        "of": of,
        "by": by,
        "says": says,
    }
