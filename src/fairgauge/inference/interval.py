"""Interval: the limits and p-values of many comparisons, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.arithmetic import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.catalogue.cells import Array

FEWEST_ROWS = 20
FEWEST_EXPECTED = 5
CLUSTER_ROBUST = "cluster-robust"
JACKKNIFE = "cluster jackknife, t"
ENOUGH_CLUSTERS = 20
FEWEST_CLUSTERS = 10
"""With fewer clusters on a side, how they differ is not known well enough for any limits."""
UNTOLD = (
    "clusters do not tell how far it may move: it lies on an end of its range, leaving some out "
    "leaves it undefined or as it was, or there are too many strata to leave them out of each"
)
FEW_OR_UNTOLD = f"it rests on fewer than {FEWEST_CLUSTERS} clusters, or {UNTOLD}"
NO_SIGN = "a ratio of numbers that may be 0, or of either sign, has no limits"
_NOT_HELD = "no limits that hold it are known: it rests on too little, or a profile made it of 0/0"
_ROUNDING = 1e-9


class NoInterval(Exception):  # noqa: N818 - an answer, not an error
    """There is no honest interval; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Limits of many comparisons.

    Attributes
    ----------
    low, high, p : array of shape (n,), NaN where there are none.
    method : how each was made.
    too_few : why too few rows stand behind each; empty where they suffice.
    reason : why there are no limits, where there are none.
    notes : what the end of each sentence says beside the limits.
    """

    low: Array
    high: Array
    p: Array
    method: Sequence[str]
    too_few: Sequence[str]
    reason: str = ""
    notes: Sequence[str] = ()

    def holding(self, value: Array, limits: tuple[float, float]) -> Interval:
        """Return the limits inside the range of the metric, where they hold the value.

        A profile may change a value (0/0 is 0); then limits of the right one would mislead.
        """
        low, high = (
            np.minimum(np.maximum(each, limits[0]), limits[1]) for each in (self.low, self.high)
        )
        slack = _ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(value), value, 1.0)))
        with np.errstate(invalid="ignore"):
            held = (low - slack <= value) & (value <= high + slack)
        low, high = np.minimum(low, value), np.maximum(high, value)  # not off by rounding
        low, high, p = (np.where(held, each, np.nan) for each in (low, high, self.p))
        return replace(self, low=low, high=high, p=p, reason=self.reason or _NOT_HELD)


def few_clusters(behind: Array) -> list[str]:
    """Say where clusters are below 20; empty where they suffice."""
    said = []
    for clusters in behind.tolist():
        if clusters >= ENOUGH_CLUSTERS:
            said.append("")
            continue
        rests = f"rests on {clusters:,.10g} cluster{'' if clusters == 1 else 's'} on one side"
        if clusters < FEWEST_CLUSTERS:
            said.append(f"{rests}; fewer than {FEWEST_CLUSTERS} give no interval")
        else:
            said.append(f"{rests}, fewer than {ENOUGH_CLUSTERS}")
    return said


def nothing(n: int, reason: str) -> Interval:
    """Return no limits for any comparison, with the reason."""
    none = np.full(n, np.nan)
    return Interval(none, none, none, [""] * n, [""] * n, reason)


def by_chance(floor: float) -> str:
    """Return the end of a sentence that says what chance alone would give; empty where unknown."""
    return "" if np.isnan(floor) else f"; chance alone would give about {amount(floor, 2)}"
