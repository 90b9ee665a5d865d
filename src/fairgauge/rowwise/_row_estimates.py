"""Row estimates: the rows that are compared, the number computed, and its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import Status
from fairgauge.inference.interval import certainty
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.row_metrics import RowMetric
    from fairgauge.inference.interval import Intervals
    from fairgauge.question.specification import Spec
    from fairgauge.results.scopes import Reference

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]


_EMPTY_SIDE = Reason.of(ReasonCode.NO_ROWS, of="everything the metric needs")


@dataclass(frozen=True, slots=True, eq=False)
class RowSides:
    """The rows of a group and of its reference."""

    group: Mask
    reference: Mask

    def where(self, usable: Mask) -> RowSides:
        """Return the sides without the rows that cannot be used."""
        return replace(self, group=self.group & usable, reference=self.reference & usable)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how many rows both have."""
        return int(self.group.sum()), int(self.reference.sum())

    @property
    def rest(self) -> Mask:
        """Return the reference without the group's rows."""
        return self.reference & ~self.group

    @property
    def part(self) -> float:
        """Return the share of the reference that is the group: 0 where they share no row."""
        return int((self.reference & self.group).sum()) / max(self.sizes[1], 1)

    def sum(self, values: Array) -> float:
        """Return the sum over the group, whatever the order of rows."""
        return math.fsum(values[self.group])


@dataclass(frozen=True, slots=True, eq=False)
class RowAnswer:
    """One number, the rows of both sides, the two rates, its interval, or why there is none."""

    value: float
    n_group: int
    n_reference: int | None
    rates: tuple[float, float] | None = None
    interval: Intervals | None = None
    reason: Reason = _EMPTY_SIDE


def row_estimate(
    metric: RowMetric,
    feature: str | None,
    group: str | None,
    reference: Reference | None,
    answer: RowAnswer,
    spec: Spec,
) -> Estimate:
    """Return the estimate of an answer, with its interval inside the range of the metric."""
    rates = answer.rates or (None, None)
    estimate = Estimate(
        metric=metric.name,
        definition=metric,
        set=metric.set,
        feature=feature,
        group=group,
        reference=reference,
        n_group=answer.n_group,
        n_reference=answer.n_reference,
        rate_group=rates[0],
        rate_reference=rates[1],
    )
    if math.isnan(answer.value) or answer.interval is None:
        return replace(estimate, status=Status.UNDEFINED, reason=answer.reason)
    intervals = answer.interval.containing(np.array([answer.value]), metric.range)
    return replace(estimate, value=answer.value, **certainty(intervals, 0, spec.confidence))
