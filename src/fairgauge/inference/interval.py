"""Confidence intervals and p-values of many comparisons, and what stands behind each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np

from fairgauge.enums import IntervalMethod, Status
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.report.results import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.catalogue.cells import Array

Methods: TypeAlias = tuple[IntervalMethod, ...]

FEWEST_ROWS = 20
FEWEST_EXPECTED = 5
ENOUGH_CLUSTERS = 20
FEWEST_CLUSTERS = 10
"""With fewer clusters on a side, the variance between them is not known well enough."""

JACKKNIFE: Methods = (IntervalMethod.CLUSTER_JACKKNIFE, IntervalMethod.T_QUANTILES)
JACKKNIFE_UNDEFINED = Reason.of(ReasonCode.JACKKNIFE_UNDEFINED)
CLUSTERS_TOO_FEW = Reason.of(ReasonCode.CLUSTERS_TOO_FEW_OR_UNDEFINED, minimum=FEWEST_CLUSTERS)
RATIO_MAY_BE_ZERO = Reason.of(ReasonCode.RATIO_MAY_BE_ZERO)
_ROUNDING = 1e-9


class NoInterval(Exception):  # noqa: N818 - an answer, not an error
    """There is no confidence interval; ``reason`` is why."""

    def __init__(self, code: ReasonCode | Reason, **parameters: str | float) -> None:
        self.reason = code if isinstance(code, Reason) else Reason.of(code, **parameters)
        super().__init__(str(self.reason.code))


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Confidence intervals of many comparisons.

    Attributes
    ----------
    low, high, p : array of shape (n,), NaN where there are none.
    methods : how each was made.
    too_few : why each has insufficient data; None where there is enough.
    reason : why there is no interval, where there is none.
    expected : what sampling variation alone gives under no difference; NaN where unknown.
    corrected : the values less that, where it can be taken off; NaN elsewhere.
    """

    low: Array
    high: Array
    p: Array
    methods: Sequence[Methods]
    too_few: Sequence[Reason | None]
    reason: Reason | None = None
    expected: Array | None = None
    corrected: Array | None = None

    def holding(self, value: Array, limits: tuple[float, float]) -> Intervals:
        """Return the intervals cut to the range of the metric, where they hold the value.

        A profile may change a value (0/0 is 0); the interval of the undefined one would mislead.
        """
        low, high = (
            np.minimum(np.maximum(each, limits[0]), limits[1]) for each in (self.low, self.high)
        )
        slack = _ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(value), value, 1.0)))
        with np.errstate(invalid="ignore"):
            held = (low - slack <= value) & (value <= high + slack)
        low, high = np.minimum(low, value), np.maximum(high, value)  # not off by rounding
        low, high, p = (np.where(held, each, np.nan) for each in (low, high, self.p))
        reason = self.reason or Reason.of(ReasonCode.VALUE_OUTSIDE_INTERVAL)
        return replace(self, low=low, high=high, p=p, reason=reason)


def few_clusters(behind: Array) -> list[Reason | None]:
    """Return why clusters do not suffice: fewer than 20 decide nothing, fewer than 10 no interval.

    ``behind`` holds the smaller number of clusters of both sides; array of shape (n,).
    """
    return [
        Reason.of(
            ReasonCode.FEW_CLUSTERS,
            clusters=int(clusters),
            minimum=FEWEST_CLUSTERS if clusters < FEWEST_CLUSTERS else ENOUGH_CLUSTERS,
        )
        if clusters < ENOUGH_CLUSTERS
        else None
        for clusters in behind.tolist()
    ]


def no_intervals(n: int, reason: Reason) -> Intervals:
    """Return no interval for any comparison, with the reason."""
    none = np.full(n, np.nan)
    return Intervals(none, none, none, [()] * n, [None] * n, reason)


class Certainty(TypedDict, total=False):
    """The fields of an estimate that state how sure it is."""

    status: Status
    reason: Reason | None
    interval: Interval | None
    p_value: float | None
    expected: float | None
    corrected: float | None


def certainty(intervals: Intervals, at: int, level: float) -> Certainty:
    """Return the fields of one estimate that state how sure it is."""
    low, high, p = (float(each[at]) for each in (intervals.low, intervals.high, intervals.p))
    too_few = intervals.too_few[at]
    known = not (math.isnan(low) or math.isnan(high))
    fields: Certainty = {
        "status": Status.TOO_FEW if too_few else Status.OK,
        "reason": too_few or (None if known else intervals.reason),
        "expected": _at(intervals.expected, at),
        "corrected": _at(intervals.corrected, at),
    }
    if known:
        fields["interval"] = Interval(low, high, level, tuple(intervals.methods[at]))
        fields["p_value"] = None if math.isnan(p) else p
    return fields


def _at(values: Array | None, at: int) -> float | None:
    """Return one of several numbers, None where it is unknown or infinite."""
    value = math.nan if values is None else float(values[at])
    return value if math.isfinite(value) else None
