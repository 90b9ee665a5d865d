"""Statistics of regressions, from sums over rows: y the label, p the prediction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts

Sums: TypeAlias = "Mapping[str, Array]"


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentStatistic(Statistic):
    """A number of the labels and predictions of one group, from their sums."""

    compute: Callable[[Sums], Array]
    written: str
    limits: tuple[float, float] = (-math.inf, math.inf)
    at_least: int = 1
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.REGRESSION})

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "prediction"})

    @property
    def formula(self) -> str:
        return self.written

    @property
    def range(self) -> tuple[float, float]:
        return self.limits

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.compute(side.moments)
        return np.where((side.moments["n"] >= self.at_least) & np.isfinite(values), values, np.nan)

    def size(self, side: ConfusionCounts) -> Array:
        return side.moments["n"]

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        if side.moments["n"][at] < self.at_least:
            return Reason.of(
                ReasonCode.FEW_ROWS, n=float(side.moments["n"][at]), minimum=self.at_least
            )
        return Reason.of(ReasonCode.NO_VARIATION, of="labels or residuals")


def mean_label(m: Sums) -> Array:
    """Return the mean of y."""
    return m["y"] / m["n"]


def mean_prediction(m: Sums) -> Array:
    """Return the mean of p."""
    return m["p"] / m["n"]


def mean_error(m: Sums) -> Array:
    """Return the mean of p - y."""
    return (m["p"] - m["y"]) / m["n"]


def mean_absolute_error(m: Sums) -> Array:
    """Return the mean of |p - y|."""
    return m["gap"] / m["n"]


def mean_squared_error(m: Sums) -> Array:
    """Return the mean of (p - y) squared."""
    return np.maximum(_squared_errors(m), 0.0) / m["n"]


def root_mean_squared_error(m: Sums) -> Array:
    """Return the root of the mean squared error."""
    root: Array = np.sqrt(mean_squared_error(m))
    return root


def r2(m: Sums) -> Array:
    """Return the share of the variance of y that p explains."""
    return 1 - _squared_errors(m) / _squares_about_mean(m["yy"], m["y"], m["n"])


def residual_spread(m: Sums) -> Array:
    """Return the standard deviation of p - y."""
    squares = _squares_about_mean(_squared_errors(m), m["p"] - m["y"], m["n"])
    root: Array = np.sqrt(squares / (m["n"] - 1))
    return root


def _squared_errors(m: Sums) -> Array:
    return m["gap2"]


def _squares_about_mean(squares: Array, total: Array, n: Array) -> Array:
    about: Array = np.maximum(squares - total**2 / n, 0.0)
    return about


MEANS = frozenset(
    {mean_label, mean_prediction, mean_error, mean_absolute_error, mean_squared_error}
)
"""What is a mean over rows, so that the mean of a whole follows from those of its parts."""
