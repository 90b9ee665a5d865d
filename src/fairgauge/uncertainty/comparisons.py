"""Uncertainty: the interval of any comparison and of any rate, under one specification."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.metrics.comparisons import Contrast, Metric
from fairgauge.uncertainty.bounds import bounds
from fairgauge.uncertainty.contrasts import Versus, contrast, versus
from fairgauge.uncertainty.interval import Interval, NoInterval, nothing

if TYPE_CHECKING:
    from fairgauge.metrics.kinds import Statistic
    from fairgauge.metrics.symbols import Array
    from fairgauge.spec import Spec
    from fairgauge.stats.arrays import Limits
    from fairgauge.uncertainty.evidence import Comparisons, Evidence


class Uncertainty:
    """Intervals under one specification.

    What a difference and a ratio of one statistic have in common is computed once.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._versus: dict[Statistic, Versus] = {}

    def of_rate(self, statistic: Statistic, evidence: Evidence) -> tuple[Limits, str]:
        """Return the limits of a statistic of every group, NaN without, and why there are none."""
        try:
            found = bounds(statistic, evidence)
            (low, high), _ = found.limits(self.spec.confidence, self.spec.method)
        except NoInterval as why:
            none = np.full(len(evidence.side.size), np.nan)
            return (none, none), str(why)
        low, high = (np.clip(each, *statistic.range) for each in (low, high))
        return (np.minimum(low, found.estimate), np.maximum(high, found.estimate)), ""

    def of_metric(self, metric: Metric, compared: Comparisons, value: Array) -> Interval:
        """Return the interval of a metric for every comparison."""
        try:
            found = interval(metric, compared, self)
        except NoInterval as why:
            return nothing(len(value), str(why))
        return found.holding(value, metric.range)

    def versus(self, statistic: Statistic, compared: Comparisons) -> Versus:
        """Return what all contrasts of a statistic have in common."""
        if statistic not in self._versus:
            self._versus[statistic] = versus(statistic, compared, self.spec)
        return self._versus[statistic]


@singledispatch
def interval(metric: Metric, compared: Comparisons, how: Uncertainty) -> Interval:
    """Return the interval of a metric by its kind.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    del compared, how
    raise NoInterval(f"no interval is known for {metric.title}")


@interval.register(Contrast)
def _(metric: Contrast, compared: Comparisons, how: Uncertainty) -> Interval:
    return contrast(metric, how.versus(metric.of, compared), compared, how.spec)
