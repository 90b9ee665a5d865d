"""An answer of rows: who is compared, the number found, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.enums import Status
from fairgauge.inference.saying import told
from fairgauge.report.estimates import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.row_metrics import RowMetric
    from fairgauge.inference.interval import Interval
    from fairgauge.spec.specification import Spec

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The rows of a group and of its reference, and what both are called."""

    group: Mask
    reference: Mask
    name: str
    other: str

    def where(self, usable: Mask) -> Pair:
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
class Answer:
    """One number, the rows it rests on, what it says, how sure it is, or why there is none."""

    value: float
    n_group: int
    n_reference: int | None
    says: str
    interval: Interval | None = None
    reason: str = "a side has no rows with everything it needs"


def estimated(
    metric: RowMetric,
    feature: str | None,
    group: str,
    reference: str | None,
    answer: Answer,
    spec: Spec,
) -> Estimate:
    """Return the estimate of an answer, with its interval inside the range of the metric."""
    who: dict[str, Any] = {
        "metric": metric.name,
        "set": metric.set,
        "feature": feature,
        "group": group,
        "reference": reference,
    }
    sizes: dict[str, Any] = {"n_group": answer.n_group, "n_reference": answer.n_reference}
    if math.isnan(answer.value) or answer.interval is None:
        return Estimate(**who, **sizes, status=Status.UNDEFINED, reason=answer.reason)
    found = answer.interval.holding(np.array([answer.value]), metric.range)
    sure = told(metric, found, 0, answer.says, spec.confidence)
    return Estimate(**who, **sizes, value=answer.value, **sure)
