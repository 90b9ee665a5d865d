"""Charts of one row per group: disparities beside the neutral line, rates, and group sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.enums import Status
from fairgauge.render import numbers
from fairgauge.render.axis_geometry import Mark, Scale, Tick, scale, ticks
from fairgauge.render.glossary import anchor
from fairgauge.render.metric_meanings import (
    distance,
    is_share,
    is_signed,
    metric_row,
    neutral,
    rate_row,
    rate_title,
    title,
)
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.render.short_sentences import central_rates, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairgauge.render.outline import Section
    from fairgauge.report.estimates import Estimate, Group, RateValue

MOST_ROWS = 16
_SHARE = (-1.0, 1.0)
_WORTH_SHOWING = 0.01


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a chart, and its numbers; ``pulled`` is where the shrunken value stands."""

    name: str
    mark: Mark
    value: str
    interval: str
    beside: str = ""
    says: str = ""
    whole: bool = False
    pulled: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart with its numbers.

    Attributes
    ----------
    key, link, code, heading, says : what it shows, and its place in the glossary.
    ticks, neutral, allowed : the axis, "no difference" on it, and the part that the rules allow.
    rule : the rule in words.
    rows, more : its rows, and how many are left out.
    """

    key: str
    link: str
    code: str
    heading: str
    says: str
    ticks: Sequence[Tick]
    neutral: float | None
    allowed: tuple[float, float] | None
    rule: str
    rows: Sequence[Row]
    more: int


def disparity_panels(
    section: Section, rules: Iterable[Mapping[str, Any]], most: int
) -> list[Panel]:
    """Return a chart for each of the first metrics, differences of shares on one axis.

    Parameters
    ----------
    rules : iterable of mapping
        The rules of the specification; their limits are shaded.
    most : int
        How many charts to make; metrics that a rule holds come first.
    """
    limits = {str(rule["metric"]): rule for rule in rules if _holds(rule, section.feature)}
    held = [metric for metric in section.metrics if metric in limits]
    kept = {*held[:most], *section.metrics[: max(0, most - len(held))]}
    metrics = [metric for metric in section.metrics if metric in kept]
    shares = [e for metric in metrics if _of_shares(metric) for e in section.of(metric)]
    common = _axis(shares, 0.0, [0.1, -0.1]) if shares else None
    return [_disparity(section, metric, limits.get(metric), common) for metric in metrics]


def estimate_row(each: Estimate, axis: Scale, name: str) -> Row:
    """Return an estimate as a row of a chart."""
    signed = is_signed(each.metric)
    beside = []
    if each.p_adjusted is not None:
        beside.append(numbers.probability(each.p_adjusted, "adj. p"))
    elif each.p_value is not None:
        beside.append(numbers.probability(each.p_value))
    if each.status is not Status.OK:
        beside.append(str(each.status).replace("_", " "))
    return Row(
        name,
        mark(each.value, each.low, each.high, axis, faint=each.status is not Status.OK),
        numbers.number(each.value, signed=signed),
        numbers.interval(each.low, each.high, signed=signed),
        ", ".join(beside),
        words(each),
    )


def mark(
    value: float | None,
    low: float | None,
    high: float | None,
    axis: Scale,
    *,
    faint: bool = False,
    shape: int | None = None,
    size: float = 5.0,
) -> Mark:
    """Return where a value and its interval stand on an axis."""
    at = axis.at(value) if value is not None and abs(value) != float("inf") else None
    if low is None or high is None:
        return Mark(at, faint=faint, shape=shape, size=size)
    return Mark(at, axis.at(low), axis.at(high), faint, shape, size)


def rate_panels(section: Section, most: int) -> list[Panel]:
    """Return a chart for each of the first ``most`` central rates of the groups of a section."""
    return [_rates(section, rate) for rate in central_rates(section.groups)[:most]]


def size_panel(section: Section) -> Panel:
    """Return the sizes of the groups, as shares of the known rows."""
    axis = Scale(0.0, max([0.01, *(group.share or 0.0 for group in section.groups)]))
    rows = [
        Row(
            group.group,
            Mark(axis.at(group.share) if group.share is not None else None),
            numbers.count(group.n),
            numbers.percent(group.share),
        )
        for group in _largest(section.groups)
    ]
    more = len(section.groups) - len(rows)
    says = "the rows of each group, and their share of all rows whose group is known"
    return Panel("size", "", "", "group sizes", says, [], axis.at(0.0), None, "", rows, more)


def limits_on(axis: Scale, rule: Mapping[str, Any]) -> tuple[float, float]:
    """Return the part of an axis that a rule allows."""
    low, high = rule.get("at_least"), rule.get("at_most")
    return (
        0.0 if low is None else axis.at(low),
        100.0 if high is None else axis.at(high),
    )


def rule_words(rule: Mapping[str, Any]) -> str:
    """Return the limits of a rule in words."""
    low, high = rule.get("at_least"), rule.get("at_most")
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    return f"at least {low:g}" if high is None else f"at most {high:g}"


def _disparity(
    section: Section, metric: str, rule: Mapping[str, Any] | None, common: Scale | None
) -> Panel:
    found = section.of(metric)
    middle = neutral(metric)
    if common is not None and _of_shares(metric):
        axis = common
    else:
        bounds = [b for b in (rule or {}).values() if isinstance(b, (int, float))]
        axis = _axis(found, middle, bounds)
    shown = found
    if len(found) > MOST_ROWS:
        far = {id(each) for each in sorted(found, key=distance, reverse=True)[:MOST_ROWS]}
        shown = [each for each in found if id(each) in far]
    row = metric_row(metric)
    return Panel(
        key=metric,
        link=anchor("metric", metric),
        code=metric,
        heading=title(metric),
        says=row.says if row else "",
        ticks=ticks(axis),
        neutral=axis.at(middle) if axis.holds(middle) else None,
        allowed=limits_on(axis, rule) if rule else None,
        rule=rule_words(rule) if rule else "",
        rows=[estimate_row(each, axis, str(each.group)) for each in shown],
        more=len(found) - len(shown),
    )


def _axis(estimates: Iterable[Estimate], middle: float, include: Sequence[float]) -> Scale:
    values = [v for e in estimates for v in (e.value, e.low, e.high)]
    return scale(values, [middle, *include], log=middle == 1)


def _rates(section: Section, rate: str) -> Panel:
    shown = _largest(section.groups)
    found = {group.group: group.rates.get(rate) for group in shown}
    values = [v for r in found.values() if r for v in (r.value, r.low, r.high)]
    axis = scale(values, [0.0])
    share = is_share(rate)
    row = rate_row(rate)
    return Panel(
        key=rate,
        link=anchor("rate", rate),
        code="",
        heading=rate_title(rate),
        says=row.says if row else "",
        ticks=ticks(axis, percent=share),
        neutral=None,
        allowed=None,
        rule="",
        rows=[_rate(name, value, axis, share=share) for name, value in found.items()],
        more=len(section.groups) - len(shown),
    )


def _rate(name: str, found: RateValue | None, axis: Scale, *, share: bool) -> Row:
    if found is None or found.value is None:
        reason = describe_reason(found.reason) if found and found.reason else "undefined"
        return Row(name, Mark(None), "-", "", reason)
    value = numbers.percent(found.value) if share else numbers.number(found.value)
    show = numbers.percents if share else numbers.interval
    pulled = found.partially_pooled
    if pulled is not None and abs(pulled - found.value) < _WORTH_SHOWING:
        pulled = None
    return Row(
        name,
        mark(found.value, found.low, found.high, axis, faint=found.status is not Status.OK),
        value,
        show(found.low, found.high),
        "" if pulled is None else f"pulled: {numbers.percent(pulled)}",
        pulled=None if pulled is None else axis.at(pulled),
    )


def _largest(groups: Sequence[Group]) -> list[Group]:
    kept = {id(group) for group in sorted(groups, key=lambda each: -each.n)[:MOST_ROWS]}
    return [group for group in groups if id(group) in kept]


def _of_shares(metric: str) -> bool:
    """Tell whether a metric is a difference of shares, so that it can stand on a common axis."""
    row = metric_row(metric)
    return row is not None and row.range == _SHARE and bool(getattr(row, "of", None))


def _holds(rule: Mapping[str, Any], feature: str) -> bool:
    return not rule.get("features") or feature in rule["features"]
