"""The change of the largest gap between the groups of a feature, from one model to another.

Whichever two groups are furthest apart under the model in use, their gap under the candidate is at
most the largest; whichever are furthest apart under the candidate, their gap before was at most the
largest. So the change of the largest gap lies between the changes of these two pairs. Which pairs
they may be follows from simultaneous intervals of all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.inference.interval import NoInterval
from fairgauge.inference.paired_changes import distance_limits
from fairgauge.reasons import ReasonCode
from fairgauge.stats.contrasts import fold, mover_difference
from fairgauge.stats.many import tukey_critical

if TYPE_CHECKING:
    from fairgauge.inference.paired_changes import Quantity, StatisticChange
    from fairgauge.stats.arrays import Limits

_FAMILIES = 4
"""Intervals of all pairs: of the gaps under each model, of their difference and of their sum."""


@dataclass(frozen=True, slots=True)
class GapChange:
    """The change of the largest gap.

    Attributes
    ----------
    old, new : the largest gap under each model.
    first, second : the groups that are furthest apart under the candidate, the higher one first.
    low, high : the limits of the change.
    p_value : of no change, by a normal distribution with these limits.
    """

    old: float
    new: float
    first: int
    second: int
    low: float
    high: float
    p_value: float


def largest_gap_change(change: StatisticChange, confidence: float) -> GapChange | None:
    """Return the change of the largest gap between groups; None with fewer than two.

    Raises
    ------
    NoInterval
        The groups may share clusters.
    """
    if change.table is not None and change.table.clusters is not None:
        raise NoInterval(ReasonCode.SHARED_CLUSTERS, of="largest gap")
    groups = np.flatnonzero(np.isfinite(change.old) & np.isfinite(change.new))
    if len(groups) < 2:
        return None
    first, second = (groups[i] for i in np.triu_indices(len(groups), 1))
    c = float(tukey_critical(len(groups), 1 - (1 - confidence) / _FAMILIES))

    def pairs(of: Quantity) -> Limits:
        low, high = of.at(np.full(of.value.shape, c))
        return mover_difference(
            of.value[first], low[first], high[first], of.value[second], low[second], high[second]
        )

    below, above = distance_limits(pairs(change.difference), pairs(change.total))
    possible = []
    for of in change.models:
        nearest, furthest = fold(*pairs(of))
        possible.append(furthest >= nearest.max())
    old, new = (of.value[first] - of.value[second] for of in change.models)
    low, high = float(below[possible[0]].min()), float(above[possible[1]].max())
    at = int(np.argmax(np.abs(new)))
    largest = [float(np.abs(each).max()) for each in (old, new)]
    value = largest[1] - largest[0]
    ends = (int(first[at]), int(second[at]))
    higher, lower = ends if new[at] > 0 else ends[::-1]
    half = value - low if value > 0 else high - value
    z = c * abs(value) / half if half > 0 else 0.0
    return GapChange(
        largest[0], largest[1], higher, lower, low, high, math.erfc(z / math.sqrt(2)),
    )  # fmt: skip
