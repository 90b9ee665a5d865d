"""Sentences about verdicts: the comparison, the interval, the limit, and what would change it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.enums import ClassKind
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render.numbers import amount
from fairgauge.render.reason_sentences import describe_reason

if TYPE_CHECKING:
    from fairgauge.report.results import Interval
    from fairgauge.report.verdicts import Verdict

_MOST_ROWS = 1e6
_POWER = "80% power"


def describe_verdict(verdict: Verdict) -> str:
    """Return why a verdict is what it is, as a sentence without the rule and the group."""
    reason = verdict.reason
    text = (
        _DESCRIBED[reason.code](verdict) if reason.code in _DESCRIBED else describe_reason(reason)
    )
    where = _which(verdict)
    return f"{text} ({where})" if where else text


def _which(verdict: Verdict) -> str:
    """Return the class or the threshold that decides, where there are several."""
    if verdict.class_scope.kind is ClassKind.CLASS:
        return f"class {verdict.class_scope.name}"
    return "" if verdict.threshold is None else f"threshold {verdict.threshold:g}"


def _measured(verdict: Verdict) -> str:
    value = "" if verdict.value is None else f"{verdict.metric} {amount(verdict.value)}"
    return value


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "the confidence interval"
    ends = f"{amount(interval.low)} to {amount(interval.high)}"
    return f"the whole {100 * interval.level:.4g}% CI ({ends})"


def _clear(verdict: Verdict) -> str:
    where = {
        ReasonCode.INSIDE: "is inside the limits",
        ReasonCode.BELOW: f"is below {_limit(verdict.reason)}",
        ReasonCode.ABOVE: f"is above {_limit(verdict.reason)}",
    }[verdict.reason.code]
    return f"{_measured(verdict)}: {_interval(verdict.interval)} {where}"


def _limit(reason: Reason) -> str:
    limit = reason.get("limit")
    return "" if limit is None else f"{limit:g}"


def _point(verdict: Verdict) -> str:
    where = "inside" if verdict.reason.code is ReasonCode.POINT_INSIDE else "outside"
    return f"{_measured(verdict)} is {where} the limits; decided by the value alone"


def _crosses(verdict: Verdict) -> str:
    reason, interval = verdict.reason, verdict.interval
    assert interval is not None
    ends = f"{amount(interval.low)} to {amount(interval.high)}"
    level = f"{100 * interval.level:.4g}% CI"
    text = f"{_measured(verdict)}: the {level} ({ends}) includes {reason['limit']:g}"
    return "; ".join([text, *_needed(reason), *_detectable(reason)])


def _needed(reason: Reason) -> list[str]:
    if reason.get("on_limit"):
        return ["the value is at the limit, so that no number of rows would decide"]
    needed = reason.get("needed")
    if needed is None:
        return []
    if needed > _MOST_ROWS:
        return ["deciding would need more rows than is practical"]
    least, most = reason.get("fewest"), reason.get("most")
    text = f"about {_rounded(needed):,} such rows would decide with {_POWER}"
    if least is not None and most is not None:
        upper = f"{_rounded(most):,}" if most <= _MOST_ROWS else "any number"
        text += f", between {_rounded(least):,} and {upper} as far as the estimate tells"
    return [f"{text} ({amount(reason['rows'])} now)"]


def _detectable(reason: Reason) -> list[str]:
    gap = reason.get("detectable")
    if gap is None:
        return []
    ratio = reason.get("detectable_ratio")
    shown = "" if ratio is None else f" (a ratio of {ratio:.2f})"
    return [
        f"groups of these sizes show differences of {100 * gap:.1f} pp or more{shown} with {_POWER}"
    ]


def _rounded(rows: float) -> int:
    """Round up to two digits: more would pretend to know."""
    digits = max(0, math.floor(math.log10(max(rows, 1))) - 1)
    unit: int = 10**digits
    return math.ceil(rows / unit) * unit


def _missing_groups(verdict: Verdict) -> str:
    reason = verdict.reason
    rows = reason["rows"]
    who = "the row" if rows == 1 else f"the {rows:,} rows"
    return (
        f"{_measured(verdict)}: alone this would {reason['alone']}, but {who} without "
        f"{verdict.feature} could change it: {verdict.metric} is between "
        f"{amount(reason['low'])} and {amount(reason['high'])}, depending on their groups"
    )


def _familywise(verdict: Verdict) -> str:
    return (
        f"{_measured(verdict)}: outside the limits on its own, but not once the "
        f"{verdict.reason['comparisons']:,} comparisons are decided together (Holm)"
    )


_DESCRIBED = {
    ReasonCode.INSIDE: _clear,
    ReasonCode.BELOW: _clear,
    ReasonCode.ABOVE: _clear,
    ReasonCode.POINT_INSIDE: _point,
    ReasonCode.POINT_OUTSIDE: _point,
    ReasonCode.CROSSES: _crosses,
    ReasonCode.MISSING_GROUPS: _missing_groups,
    ReasonCode.FAMILYWISE: _familywise,
}
