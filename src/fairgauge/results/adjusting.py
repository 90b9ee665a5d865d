"""What becomes of a difference when it is adjusted for strata."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.enums import AfterAdjusting, Status

if TYPE_CHECKING:
    from fairgauge.results.estimates import Estimate

_LITTLE = 0.1
"""The change-in-estimate criterion: adjusting by less than a tenth changes an estimate little."""


def is_significant(each: Estimate, neutral: float) -> bool:
    """Return whether an estimate on enough data differs significantly from "no difference".

    The adjusted p-value decides where there is one, then the p-value, then the interval.
    """
    if each.status is not Status.OK or each.value is None:
        return False
    p_value = each.p_adjusted if each.p_adjusted is not None else each.p_value
    if p_value is not None and each.confidence is not None:
        return p_value <= 1 - each.confidence
    return each.interval is not None and neutral not in each.interval


def after_adjusting(
    overall: Estimate, adjusted: Estimate, neutral: float, *, log: bool = False
) -> AfterAdjusting | None:
    """Return what becomes of a significant difference, None where it is not significant overall.

    A difference that is no longer significant has disappeared only where the adjusted confidence
    interval excludes the unadjusted value: otherwise the strata may merely have cost precision.

    Parameters
    ----------
    overall, adjusted : the comparison of all rows, and the same adjusted for the strata.
    neutral : the value of the metric that means "no difference".
    log : whether distances from ``neutral`` are those of logarithms, as of ratios.
    """
    if overall.value is None or adjusted.value is None or not is_significant(overall, neutral):
        return None
    if is_significant(adjusted, neutral):
        opposite = (overall.value - neutral) * (adjusted.value - neutral) < 0
        return AfterAdjusting.REVERSES if opposite else AfterAdjusting.REMAINS
    interval = adjusted.simultaneous or adjusted.interval
    if interval is not None and overall.value not in interval:
        return AfterAdjusting.DISAPPEARS
    before, after = (_distance(value, neutral, log) for value in (overall.value, adjusted.value))
    little = math.isfinite(before) and abs(after - before) <= _LITTLE * abs(before)
    return AfterAdjusting.CHANGES_LITTLE if little else AfterAdjusting.NOT_SIGNIFICANT


def _distance(value: float, neutral: float, log: bool) -> float:
    """Return how far a value is from "no difference"; a ratio of 0 is infinitely far."""
    if not log:
        return value - neutral
    return math.log(value / neutral) if value > 0 else -math.inf
