"""How an interval reads in a sentence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.arithmetic import amount
from fairgauge.catalogue.comparisons import Combined, Contrast, Metric
from fairgauge.enums import Status

if TYPE_CHECKING:
    from fairgauge.inference.interval import Interval

_IN_POINTS = ("largest_gap",)
_IN_PER_CENT = ("minimum", "maximum")


def told(metric: Metric, found: Interval, at: int, says: str, confidence: float) -> dict[str, Any]:
    """Return the fields of an estimate that tell how sure it is, and what it says with them."""
    low, high, p = (float(each[at]) for each in (found.low, found.high, found.p))
    few = found.too_few[at]
    note = found.notes[at] if found.notes else ""
    known = not (math.isnan(low) or math.isnan(high))
    reason = few or ("" if known else found.reason)
    unsure = "" if known or not reason else f"; no interval: {reason}"
    fields: dict[str, Any] = {
        "says": says + note + unsure,
        "status": Status.TOO_FEW if few else Status.OK,
        "reason": reason or None,
    }
    if not known:
        return fields
    return fields | {
        "low": low,
        "high": high,
        "confidence": confidence,
        "method": found.method[at],
        "p_value": None if math.isnan(p) else p,
        "says": says + said(metric, low, high, confidence) + note,
    }


def said(metric: Metric, low: float, high: float, confidence: float) -> str:
    """Return the interval as the end of a sentence, in the direction group - reference.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_metric
    >>> said(find_metric("DI"), 0.64, 0.79, 0.95)
    '; 95% interval 0.64 to 0.79'
    >>> said(find_metric("DPPL"), 0.0312, 0.1, 0.95)
    '; 95% interval -10.0 to -3.1 points'
    """
    show, unit = _number, ""
    if isinstance(metric, Contrast) and metric.by == "difference":
        if metric.order == "reference - group":
            low, high = 0.0 - high, 0.0 - low
        show, unit = (_signed_points, " points") if metric.of.is_share else (_signed, "")
    elif isinstance(metric, Combined) or (isinstance(metric, Spread) and metric.by in _IN_POINTS):
        parts = metric.of if isinstance(metric, Combined) else (metric,)
        if all(part.of.is_share for part in parts):
            show, unit = _points, " points"
    elif isinstance(metric, Spread) and metric.by in _IN_PER_CENT and metric.of.is_share:
        show, unit = _points, "%"
    return f"; {100 * confidence:.4g}% interval {show(low)} to {show(high)}{unit}"


def _signed(number: float) -> str:
    if math.isinf(number):
        return "+infinity" if number > 0 else "-infinity"
    return amount(number, sign="+")


def _signed_points(number: float) -> str:
    return f"{100 * number:+.1f}"


def _points(number: float) -> str:
    return f"{100 * number:.1f}"


def _number(number: float) -> str:
    if math.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    return amount(number)
