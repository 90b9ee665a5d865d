"""Comparisons that hold a stratum fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import ComparisonMetric, Scope
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.statistics import Statistic

_ABSENT = (ReasonCode.NO_POSITIVES, ReasonCode.NO_NEGATIVES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalDisparity(ComparisonMetric):
    """The group's share of the rejected minus its share of the accepted, averaged over strata."""

    of: Need
    margin: Statistic
    """The rate whose unadjusted difference it corresponds to."""
    scope: ClassVar[Scope] = "pooled"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return (self.margin,)

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
            "strata without accepted or without rejected rows are excluded and the coverage is "
            "reported; undefined when none remains"
        )

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
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

    def coverage(self, group: ConfusionCounts, reference: ConfusionCounts) -> Array:
        """Return the share of rows in strata that have both accepted and rejected rows."""
        both = group.strata[self.of] + reference.strata[self.of]
        rows = both.sum(axis=-1)
        used = np.where((both > 0).all(axis=-1), rows, 0.0).sum(axis=-1)
        return divide(used, rows.sum(axis=-1), Profile.DOCUMENTED)

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        return (
            group.strata[self.of].sum(axis=(-1, -2)),
            reference.strata[self.of].sum(axis=(-1, -2)),
        )

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        both = (group.strata[self.of] + reference.strata[self.of])[at].sum(axis=0)
        for code, count in zip(_ABSENT, both, strict=True):
            if count == 0:
                return Reason.of(code, of=self.of)
        return Reason.of(ReasonCode.ONE_CLASS_ONLY, of=f"{self.of}s of every stratum")
