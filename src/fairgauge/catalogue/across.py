"""Metrics of a whole feature: how much its groups differ, and which two groups differ most."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import Metric, Scope
from fairgauge.enums import Profile, Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.statistics import Statistic

Spreads = Literal["largest_gap", "smallest_ratio", "minimum", "maximum", "variance", "gini"]
_CONCENTRATION = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class GroupSpread:
    """What lies across the groups, in every slot.

    Attributes
    ----------
    value : array of shape (slots,), NaN where undefined.
    first, second : the two groups it comes from, as positions; arrays of shape (slots,).
    """

    value: Array
    first: NDArray[np.int64]
    second: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Across(Metric):
    """A metric of all groups of a feature at once."""

    scope: ClassVar[Scope] = "feature"

    @property
    def edges(self) -> str:
        return "groups in which it is undefined are excluded; undefined when fewer than two remain"

    @abstractmethod
    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        """Compare all groups; the side holds the groups of each slot one after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(Across):
    """How a statistic spreads over the groups of a feature."""

    of: Statistic
    by: Spreads

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        return self.of.tasks

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return (self.of,)

    @property
    def needs(self) -> frozenset[Need]:
        return self.of.needs

    @property
    def formula(self) -> str:
        x = f"[{self.of.formula}]_g"
        return {
            "largest_gap": f"max_g {x} - min_g {x}",
            "smallest_ratio": f"min_g {x} / max_g {x}",
            "minimum": f"min_g {x}",
            "maximum": f"max_g {x}",
            "variance": f"mean_g ({x} - mean)^2",
            "gini": f"sum_gh |x_g - x_h| / (2 G^2 mean),  x_g = {x}",
        }[self.by]

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.of.range
        return {
            "largest_gap": (0.0, high - low),
            "smallest_ratio": (0.0, 1.0) if low >= 0 else (-math.inf, math.inf),
            "minimum": (low, high),
            "maximum": (low, high),
            "variance": (0.0, (high - low) ** 2 / 4),
            "gini": (0.0, 1.0) if low >= 0 else (-math.inf, math.inf),
        }[self.by]

    @property
    def neutral(self) -> float:
        if self.by in ("minimum", "maximum"):
            return math.nan
        return 1.0 if self.by == "smallest_ratio" else 0.0

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        values = self.of.value(groups, profile).reshape(slots, -1)
        known = ~np.isnan(values)
        enough = known.sum(axis=1) >= (1 if self.by in ("minimum", "maximum") else 2)
        least = np.where(known, values, np.inf).argmin(axis=1)
        most = np.where(known, values, -np.inf).argmax(axis=1)
        low, high = (np.take_along_axis(values, i[:, None], 1)[:, 0] for i in (least, most))
        with np.errstate(invalid="ignore"):
            value = {
                "largest_gap": lambda: high - low,
                "smallest_ratio": lambda: divide(low, high, Profile.DOCUMENTED),
                "minimum": lambda: low,
                "maximum": lambda: high,
                "variance": lambda: _variance(values, known),
                "gini": lambda: _gini(values, known),
            }[self.by]()
        first, second = (least, most) if self.by in ("minimum", "smallest_ratio") else (most, least)
        return GroupSpread(np.where(enough, value, np.nan), first, second)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint(Across):
    """Several spreads at once: the worst of them, or their mean."""

    of: tuple[Spread, ...]
    how: Literal["worst", "mean"]

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        return frozenset.intersection(*(each.tasks for each in self.of))

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return tuple(each.of for each in self.of)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset().union(*(each.needs for each in self.of))

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
        worst = np.where(np.isnan(away), -1.0, away).argmax(axis=0)

        def of_worst(arrays: list[NDArray[np.int64]]) -> NDArray[np.int64]:
            chosen: NDArray[np.int64] = np.take_along_axis(np.stack(arrays), worst[None], 0)[0]
            return chosen

        value = values.mean(axis=0) if self.how == "mean" else _at(values, worst)
        return GroupSpread(
            value, of_worst([f.first for f in every]), of_worst([f.second for f in every])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialFairness(Across):
    """Epsilon of differential fairness: the largest log ratio of any outcome's share, smoothed."""

    of: Need
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    @property
    def formula(self) -> str:
        return "max_g,h,y |ln(p_g(y) / p_h(y))|,  p_g(y) = (n_g(y) + 1/K) / (n_g + 1)"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, math.inf)

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        del profile
        counts = groups.counts(frozenset({self.of}))[:, [0, 3]].reshape(slots, -1, 2)
        total = counts.sum(axis=-1, keepdims=True)
        shares = (counts + _CONCENTRATION / 2) / (total + _CONCENTRATION)
        logs = np.where(total > 0, np.log(shares), np.nan)
        known = ~np.isnan(logs)
        most = np.where(known, logs, -np.inf).argmax(axis=1)  # (slots, 2)
        least = np.where(known, logs, np.inf).argmin(axis=1)
        gaps = np.take_along_axis(logs, most[:, None], 1) - np.take_along_axis(
            logs, least[:, None], 1
        )
        gaps = gaps[:, 0]
        outcome = np.where(np.isnan(gaps), -1.0, gaps).argmax(axis=1)
        enough = (total[..., 0] > 0).sum(axis=1) > 1
        value = np.where(enough, gaps[np.arange(slots), outcome], np.nan)
        slot = np.arange(slots)
        return GroupSpread(value, most[slot, outcome], least[slot, outcome])


def _variance(values: Array, known: NDArray[np.bool_]) -> Array:
    n = known.sum(axis=1)
    mean = divide(np.where(known, values, 0.0).sum(axis=1), n, Profile.DOCUMENTED)
    off = np.where(known, values - mean[:, None], 0.0)
    return divide((off**2).sum(axis=1), n, Profile.DOCUMENTED)


def _gini(values: Array, known: NDArray[np.bool_]) -> Array:
    n = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    pairs = np.abs(values[:, :, None] - values[:, None, :])
    both = known[:, :, None] & known[:, None, :]
    return divide(np.where(both, pairs, 0.0).sum(axis=(1, 2)), 2 * n * total, Profile.DOCUMENTED)


def _at(values: Array, which: NDArray[np.int64]) -> Array:
    chosen: Array = np.take_along_axis(values, which[None], 0)[0]
    return chosen
