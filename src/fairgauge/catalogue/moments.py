"""Statistics of regressions, from sums over rows: y the label, p the prediction."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

import numpy as np

from fairgauge.catalogue.cells import BOTH, LABEL, PREDICTION, Array, ConfusionCounts, Need
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode

Sums: TypeAlias = "Mapping[str, Array]"


class RegressionTerm(StrEnum):
    """A number of a row's label y and prediction p, of which a statistic is the mean."""

    LABEL = "y"
    PREDICTION = "p"
    ERROR = "p - y"
    ABSOLUTE_ERROR = "|p - y|"
    SQUARED_ERROR = "(p - y)^2"


_SUMS = {
    RegressionTerm.LABEL: "y",
    RegressionTerm.PREDICTION: "p",
    RegressionTerm.ABSOLUTE_ERROR: "gap",
}

_NEEDS: Mapping[RegressionTerm, frozenset[Need]] = {
    RegressionTerm.LABEL: LABEL,
    RegressionTerm.PREDICTION: PREDICTION,
}


def needs_of(term: RegressionTerm) -> frozenset[Need]:
    """Return which columns a row must have: of an error both."""
    return _NEEDS.get(term, BOTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentStatistic(Statistic):
    """A number of the labels and predictions of one group, from their sums."""

    fewest_rows: ClassVar[int] = 1
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.REGRESSION})

    @abstractmethod
    def of_sums(self, sums: Sums) -> Array:
        """Return one number per group; it need not be right where rows are missing."""

    def centre(self, side: ConfusionCounts) -> float:
        """Return what the numbers that it is the mean of are summed less."""
        del side
        return 0.0

    @property
    def needs(self) -> frozenset[Need]:
        return BOTH

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, math.inf)

    @property
    def edges(self) -> str:
        return (
            "undefined for a group without rows"
            if self.fewest_rows == 1
            else f"undefined for a group of fewer than {self.fewest_rows} rows"
        )

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.of_sums(side.moments_of(self.needs)) + self.centre(side)
        enough = self.size(side) >= self.fewest_rows
        return np.where(enough & np.isfinite(values), values, np.nan)

    def size(self, side: ConfusionCounts) -> Array:
        return side.moments_of(self.needs)["n"]

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        n = float(self.size(side)[at])
        if n < self.fewest_rows:
            return Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=self.fewest_rows)
        return Reason.of(ReasonCode.NO_VARIATION, of="labels or residuals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(MomentStatistic):
    """The mean over rows of a number of their label and prediction."""

    of: RegressionTerm

    @property
    def needs(self) -> frozenset[Need]:
        return needs_of(self.of)

    @property
    def formula(self) -> str:
        return f"mean({self.of})"

    @property
    def range(self) -> tuple[float, float]:
        errors = self.of in (RegressionTerm.ABSOLUTE_ERROR, RegressionTerm.SQUARED_ERROR)
        return (0.0 if errors else -math.inf, math.inf)

    def centre(self, side: ConfusionCounts) -> float:
        return side.centre if self.of in _NEEDS else 0.0

    def of_sums(self, sums: Sums) -> Array:
        if self.of is RegressionTerm.ERROR:
            return (sums["p"] - sums["y"]) / sums["n"]
        if self.of is RegressionTerm.SQUARED_ERROR:
            return np.maximum(sums["gap2"], 0.0) / sums["n"]
        return sums[_SUMS[self.of]] / sums["n"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RootMeanSquaredError(MomentStatistic):
    """The root of the mean squared error."""

    formula: ClassVar[str] = "sqrt(mean((p - y)^2))"

    def of_sums(self, sums: Sums) -> Array:
        return np.asarray(np.sqrt(np.maximum(sums["gap2"], 0.0) / sums["n"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedVariance(MomentStatistic):
    """R²: the share of the variance of y that p explains."""

    fewest_rows: ClassVar[int] = 2
    formula: ClassVar[str] = "1 - sum((p - y)^2) / sum((y - mean(y))^2)"
    range: ClassVar[tuple[float, float]] = (-math.inf, 1.0)
    edges: ClassVar[str] = "undefined for a group of fewer than 2 rows, or whose labels do not vary"

    def of_sums(self, sums: Sums) -> Array:
        return 1 - sums["gap2"] / _squares_about_mean(sums["yy"], sums["y"], sums["n"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualSpread(MomentStatistic):
    """The standard deviation of p - y."""

    fewest_rows: ClassVar[int] = 2
    formula: ClassVar[str] = "sd(p - y)"

    def of_sums(self, sums: Sums) -> Array:
        squares = _squares_about_mean(sums["gap2"], sums["p"] - sums["y"], sums["n"])
        return np.asarray(np.sqrt(squares / (sums["n"] - 1)))


def _squares_about_mean(squares: Array, total: Array, n: Array) -> Array:
    return np.asarray(np.maximum(squares - total**2 / n, 0.0))
