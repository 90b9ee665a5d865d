"""Rules on shares in words: what each allows."""

from __future__ import annotations

import math

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.words.numbers import minus
from fairgauge.results.disparities import is_ratio

_PER_HUNDRED = 100
_COMPARED_WITH = "those they are compared with"


def share_rule_in_words(
    rate: RateWords,
    metric: Metric | Statistic,
    limits: tuple[float, float],
    whom: str = _COMPARED_WITH,
) -> str:
    """Return what a rule on a share allows: "were approved at least 0.8 times as often"."""
    event, condition = rate.event, rate.condition
    if not rate.known or getattr(metric, "neutral", None) not in (0, 1):
        return ""
    people = f"of those {condition}, " if condition else ""
    happened = rate.clause if event is None else event.happened
    if is_ratio(metric):
        return f"{people}{happened} {_between(limits)} times as often as {whom}"
    if metric.range != (-1, 1):
        return ""
    if event is None:
        sides = _from_none(limits, "less often", "more often", "more or less often")
        if sides is None:
            return ""
        size = f"{_PER_HUNDRED * sides[0]:g}"
        points = "percentage point" if size == "1" else "percentage points"
        return f"{happened} at most {size} {points} {sides[1]} than for {whom}"
    if (allowed := _from_none(limits, "fewer", "more", "")) is None:
        return ""
    most, side = allowed
    if not side:
        who = f"those {condition}" if condition else "groups"
        return f"{who} differ by at most {_PER_HUNDRED * most:g} of 100 in {rate.how_often}"
    return f"{people}at most {_PER_HUNDRED * most:g} {side} of 100 {happened} than of {whom}"


def _from_none(
    limits: tuple[float, float], lower: str, higher: str, both: str
) -> tuple[float, str] | None:
    """Return how far from none a difference may be, and on which side; None of other limits."""
    low, high = limits
    if low == -high:
        return high, both
    if low < 0 and math.isinf(high):
        return -low, lower
    if high > 0 and math.isinf(low):
        return high, higher
    return None


def _between(limits: tuple[float, float]) -> str:
    low, high = limits
    if math.isinf(low) or math.isinf(high):
        return minus(f"at least {low:g}" if math.isinf(high) else f"at most {high:g}")
    return minus(f"between {low:g} and {high:g}")
