"""How unequally benefit is distributed over rows: b = 2 for FP, 1 for TP and TN, 0 for FN."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from fairgauge.catalogue.across import Across, GroupSpread, extremes
from fairgauge.catalogue.cells import BOTH, Array, ConfusionCounts, Need, divide
from fairgauge.catalogue.comparisons import ComparisonMetric, Metric, Scope
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode

Index = Literal["entropy", "variation", "atkinson"]
_PARAMETERS: dict[Index, tuple[str, ...]] = {
    "entropy": ("alpha",),
    "variation": (),
    "atkinson": ("epsilon",),
}

BENEFITS = np.array([1.0, 2.0, 0.0, 1.0])
"""The benefit of TP, FP, FN and TN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inequality(ComparisonMetric):
    """An index of inequality of the benefits of all rows.

    ``entropy`` is generalized entropy of order ``parameter`` (1 is Theil's index), ``variation``
    the coefficient of variation, ``atkinson`` Atkinson's index with aversion ``parameter``.
    """

    index: Index = "entropy"
    parameter: float = 2.0
    scope: ClassVar[Scope] = "table"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs: ClassVar[frozenset[Need]] = BOTH

    @property
    def formula(self) -> str:
        p = self.parameter
        b = "b = 2 for FP, 1 for TP and TN, 0 for FN"
        if self.index == "variation":
            return f"sd(b) / mean(b),  {b}"
        if self.index == "atkinson":
            return f"1 - mean(b^{1 - p:g})^(1/{1 - p:g}) / mean(b),  {b}"
        if p == 1:
            return f"mean(b / mean(b) ln(b / mean(b))),  {b}"
        if p == 0:
            return f"-mean(ln(b / mean(b))),  {b}"
        return f"mean((b / mean(b))^{p:g} - 1) / {p * (p - 1):g},  {b}"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.index == "atkinson" else math.inf)

    edges: ClassVar[str] = (
        "undefined when every row is a false negative, so that the mean benefit is 0; there is "
        "no p-value, because 0, the end of the range, is that of a perfect prediction alone"
    )

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        return _PARAMETERS[self.index]

    def with_parameter(self, parameter: str, value: float) -> Metric:
        if parameter not in self.parameters:
            return super(Inequality, self).with_parameter(parameter, value)
        if self.index == "atkinson" and not 0 < value < 1:
            raise LookupError(f"{self.name}: epsilon must lie between 0 and 1, not {value:g}")
        return replace(self, name=f"{self.name}({parameter}={value:g})", parameter=value)

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        del reference, profile
        return self.of_counts(group.counts(BOTH))

    def of_counts(self, counts: Array) -> Array:
        """Return the index of confusion cells of shape (..., 4); array of shape (...)."""
        return _unequal(counts, BENEFITS, self.index, self.parameter)

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        del reference
        rows = group.counts(BOTH).sum(axis=-1)
        return rows, np.full_like(rows, np.nan)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        del reference
        if group.counts(BOTH)[at].sum() == 0:
            return Reason.of(ReasonCode.NO_ROWS, of="label and prediction")
        return Reason.of(ReasonCode.NO_BENEFIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class InequalityPart(Across):
    """The part of generalized entropy that lies between the groups of a feature, or within them."""

    part: Literal["between", "within"]
    parameter: float = 2.0
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs: ClassVar[frozenset[Need]] = BOTH

    @property
    def formula(self) -> str:
        between = f"generalized entropy (order {self.parameter:g}) of each row's group mean benefit"
        return between if self.part == "between" else f"generalized entropy minus {between}"

    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def with_parameter(self, parameter: str, value: float) -> Metric:
        if parameter not in self.parameters:
            return super(InequalityPart, self).with_parameter(parameter, value)
        return replace(self, name=f"{self.name}(alpha={value:g})", parameter=value)

    def across(self, groups: ConfusionCounts, slots: int, profile: Profile) -> GroupSpread:
        del profile
        counts = groups.counts(BOTH).reshape(slots, -1, 4)
        rows, means = _mean_benefits(counts)
        enough = (rows > 0).sum(axis=1) > 1
        found = extremes(
            np.where(rows > 0, means, np.nan), rows, groups.every_cell().reshape(*rows.shape, -1)
        )
        value = self.of_counts(counts)
        if self.part == "between":  # of equal mean benefits nothing but rounding is left
            value = np.where(found.apart | np.isnan(value), value, 0.0)
        return GroupSpread(np.where(enough, value, np.nan), found.most, found.least, found.apart)

    def of_counts(self, counts: Array) -> Array:
        """Return the part of confusion cells of shape (..., groups, 4); array of shape (...)."""
        rows, means = _mean_benefits(counts)
        between = _unequal(rows, np.nan_to_num(means), "entropy", self.parameter)
        if self.part == "between":
            return between
        return _unequal(counts.sum(axis=-2), BENEFITS, "entropy", self.parameter) - between


def _mean_benefits(counts: Array) -> tuple[Array, Array]:
    """Return the rows and the mean benefit of every group."""
    rows = counts.sum(axis=-1)
    return rows, divide((counts * BENEFITS).sum(axis=-1), rows, Profile.DOCUMENTED)


def _unequal(counts: Array, benefits: Array, index: Index, parameter: float) -> Array:
    """Return an index of benefits, ``counts`` of them each; both of shape (..., K)."""
    rows = counts.sum(axis=-1)
    mean = divide((counts * benefits).sum(axis=-1), rows, Profile.DOCUMENTED)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = benefits / mean[..., None]

        def average(values: Array) -> Array:
            weighted = np.where(counts > 0, counts * values, 0.0)
            return np.asarray(weighted.sum(axis=-1) / rows)

        if index == "variation":
            result = np.sqrt(average(relative**2) - 1)
        elif index == "atkinson":
            result = 1 - average(relative ** (1 - parameter)) ** (1 / (1 - parameter))
        elif parameter == 1:
            result = average(np.where(relative == 0, 0.0, relative * np.log(relative)))
        elif parameter == 0:
            result = average(-np.log(relative))
        else:
            result = (average(relative**parameter) - 1) / (parameter * (parameter - 1))
    return np.where(mean > 0, result, np.nan)
