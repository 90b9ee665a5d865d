"""Rates of every group: the value, its confidence interval, the partially pooled estimate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Status
from fairgauge.report.estimates import RateValue, as_number
from fairgauge.report.results import Interval
from fairgauge.stats.many import shrunken_rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.enums import Profile
    from fairgauge.inference.bound import Share
    from fairgauge.inference.comparison_intervals import Uncertainty
    from fairgauge.inference.evidence import Evidence
    from fairgauge.inference.interval import Intervals

FEWEST_GROUPS = 3
"""Of two groups, the comparison of both says all."""


def rate_values(
    statistics: Sequence[Statistic],
    evidence: Evidence,
    margin: NDArray[np.bool_],
    how: Uncertainty,
    profile: Profile,
) -> dict[str, list[RateValue | None]]:
    """Return numbers of every group by name; None within strata where of all rows alone.

    Parameters
    ----------
    margin : array of bool, shape (n,)
        Which groups are of all rows, not within a stratum.
    """
    made = how.of_rates(statistics, evidence, margin)
    found = {}
    for statistic, (sure, share) in zip(statistics, made, strict=True):
        pooled = _partially_pooled(share if isinstance(statistic, Rate) else None, margin)
        found[statistic.name] = _values(
            statistic, evidence.side, margin, how, profile, sure, pooled
        )
    return found


def _values(
    statistic: Statistic,
    side: ConfusionCounts,
    margin: NDArray[np.bool_],
    how: Uncertainty,
    profile: Profile,
    sure: Intervals,
    pooled: Array,
) -> list[RateValue | None]:
    values = statistic.value(side, profile).tolist()
    error = statistic.error(side)
    margin_only = "score" in statistic.needs
    level = how.spec.confidence
    found: list[RateValue | None] = []
    for i, value in enumerate(values):
        if margin_only and not margin[i]:
            found.append(None)
        elif math.isnan(value):
            reason = statistic.why_undefined(side, i)
            found.append(RateValue(value=None, status=Status.UNDEFINED, reason=reason))
        else:
            low, high = float(sure.low[i]), float(sure.high[i])
            known = low <= high
            each = RateValue(
                value=value,
                interval=Interval(low, high, level, tuple(sure.methods[i])) if known else None,
                reason=None if known else sure.reason,
                partially_pooled=as_number(pooled[i]),
                error=None if error is None else as_number(error[i]) or None,
            )
            found.append(each)
    return found


def _partially_pooled(share: Share | None, margin: NDArray[np.bool_]) -> Array:
    """Return empirical Bayes estimates of shares, NaN where there are none."""
    found = np.full(len(margin), np.nan)
    at = np.flatnonzero(margin)
    if len(at) < FEWEST_GROUPS or share is None:
        return found
    at = at[share.n[at] > 0]
    if len(at) >= FEWEST_GROUPS:
        found[at] = shrunken_rates(share.x[at], share.n[at])
    return found
