"""Metrics, rates and rules in words: their names, units and signs, and how values are written."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairgauge.catalogue.across import Joint, Spread
from fairgauge.catalogue.comparisons import Combined, Contrast, Metric, RowMetric
from fairgauge.catalogue.distributions import OverallStandardisedDifference
from fairgauge.catalogue.lookup import UnknownMetric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ClassKind, Decide, IntervalMethod, Status
from fairgauge.errors import SpecError
from fairgauge.question.rules import limits_of, parse_rule, write_rules
from fairgauge.render._document_tree import Unit
from fairgauge.render.words import ASKED, numbers
from fairgauge.render.words.display_names import called
from fairgauge.results.estimates import Estimate, RateValue, is_significant
from fairgauge.results.report import Report
from fairgauge.results.scopes import Interval
from fairgauge.results.verdicts import RuleResult

if TYPE_CHECKING:
    from fairgauge.results.monitor_results import MonitorReport

_LARGEST_RATIO = 1_000
_TOGETHER = {IntervalMethod.SIMULTANEOUS_GROUPS, IntervalMethod.TUKEY}
_CODE = re.compile(r"\s*\([A-Za-z ]+\)$")
_VENDORS = {"clarify": "Clarify", "vertex": "Vertex"}
_UNITS_OF_SPREADS = {"largest_gap": Unit.POINTS, "smallest_ratio": Unit.RATIO,
    "minimum": Unit.PERCENT, "maximum": Unit.PERCENT}  # fmt: skip


def rate_heading(rate: Statistic) -> str:
    """Return a rate's name for the head of a column.

    >>> from fairgauge.catalogue.lookup import find_rate
    >>> rate_heading(find_rate("true_positive_rate")), rate_heading(find_rate("mean_score"))
    ('TPR', 'mean score')
    """
    return titled(rate.heading or rate.title)


def abbreviations(rates: Iterable[Statistic]) -> str:
    """Return what the heads of columns stand for, those that are abbreviated.

    That of a rate with a verb is its participle, a word.

    >>> from fairgauge.catalogue.lookup import find_rate
    >>> abbreviations(map(find_rate, ["selection_rate", "true_positive_rate", "accuracy"]))
    'TPR: true positive rate; acc.: accuracy'
    """
    short = (rate for rate in rates if rate.heading and not rate.verb)
    return "; ".join(f"{titled(e.heading)}: {titled(e.spelled_out or e.title)}" for e in short)


def titled(name: str) -> str:
    """Return what a rate is called, in the language that is asked for."""
    # English asks nothing: metrics are named often, and their titles are English
    return name if ASKED.get()[0] == "en" else _spoken_names().title(name)


def _spoken_names() -> Any:
    # imported late: the grammar writes metrics by this module
    return import_module("fairgauge.render.grammar").spoken()


def metric_words(metric: Metric | Statistic) -> str:
    """Return a metric's name as words, with the vendor's own name in brackets.

    >>> from fairgauge.catalogue.lookup import find_metric
    >>> metric_words(find_metric("selection_rate.ratio")), metric_words(find_metric("RD"))
    ('selection rate ratio', 'recall difference (Clarify RD)')
    >>> metric_words(find_metric("vertex.recall_difference"))
    'recall difference (Vertex)'
    """
    if isinstance(metric, (Statistic, UnknownMetric)):
        return titled(metric.title)
    if metric.set in _VENDORS:
        title = _lower(_CODE.sub("", metric.title))
        code = "" if metric.name.startswith(f"{metric.set}.") else f" {metric.name}"
        return f"{title} ({_VENDORS[metric.set]}{code})"
    if isinstance(metric, Contrast) and metric.name == f"{metric.of.name}.{metric.by}":
        if ASKED.get()[0] == "en":
            return f"{metric.of.title} {metric.by}"
        return str(_spoken_names().terms["by"][metric.by].format(rate=titled(metric.of.title)))
    return _lower(metric.title.replace(", ", " "))


def _lower(text: str) -> str:
    # a title as it stands within a sentence: lower case but for acronyms and names
    first = text.split(" ", 1)[0]
    kept = first.isupper() or "-" in first
    return text if kept else " ".join(w if w.isupper() else w.lower() for w in text.split(" "))


def rate_text(rate: Statistic, value: float | None) -> str:
    """Write a rate as it stands in a sentence: a share in per cent, any other as a number."""
    return numbers.percent(value) if rate.is_share else numbers.amount(value or 0.0)


def compared_rate(metric: Metric | Statistic) -> Statistic | None:
    """Return the rate that a metric compares, if it compares one."""
    return metric.of if isinstance(metric, Contrast) else None


def unit(row: Metric | Statistic) -> Unit:
    """Return what the values of a metric are; a vendor's stay the numbers of the vendor."""
    if isinstance(row, Statistic):
        return Unit.PERCENT if row.is_share else Unit.NUMBER
    if row.set in _VENDORS:
        return Unit.NUMBER
    if isinstance(row, Contrast):
        if row.by == "ratio":
            return Unit.RATIO
        return Unit.POINTS if row.of.is_share else Unit.NUMBER
    if isinstance(row, Combined | Joint):
        shares = row.neutral == 0 and all(part.of.is_share for part in row.of)
        return Unit.POINTS if shares else Unit.NUMBER
    if isinstance(row, OverallStandardisedDifference):
        return Unit.HUNDREDTHS
    if isinstance(row, RowMetric) and row.kind == "quantile_ratio":
        return Unit.RATIO
    if isinstance(row, Spread) and row.of.is_share:
        return _UNITS_OF_SPREADS.get(row.by, Unit.NUMBER)
    return Unit.NUMBER


def signed(metric: Metric | Statistic) -> bool:
    """Return whether a metric can be negative, so that its sign is shown; a ratio has none."""
    return metric.range[0] < 0 and unit(metric) is not Unit.RATIO


def shown(
    value: float | None, kind: Unit, *, sign: bool = False, limits: Collection[float] = ()
) -> str:
    """Write a value in its unit, without the unit's name.

    It has more decimals than usual where it would otherwise be rounded onto one of the ``limits``
    of a rule, or beyond it.

    >>> shown(-0.17, Unit.POINTS, sign=True), shown(0.676, Unit.RATIO), shown(None, Unit.NUMBER)
    ('−17.0', '0.68', '-')
    >>> shown(0.03163, Unit.NUMBER, sign=True), shown(12_610.4, Unit.NUMBER)
    ('+0.032', '12,610')
    >>> shown(0.009, Unit.RATIO), shown(1e-18, Unit.RATIO), shown(1e18, Unit.RATIO)
    ('0.009', '<0.001', '>1,000')
    >>> shown(0.7992, Unit.RATIO, limits=[0.8]), shown(-0.0502, Unit.POINTS, limits=[-0.05])
    ('0.799', '−5.02')
    >>> shown(-12.04, Unit.HUNDREDTHS, sign=True), shown(0.826, Unit.HUNDREDTHS, sign=True)
    ('−12.0', '+0.8')
    """
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if limits and (text := _value_next_to_limit(value, kind, limits, sign=sign)):
        return text
    if kind is Unit.PERCENT:
        return numbers.percent(value)
    if kind is Unit.POINTS:
        return numbers.points(value) if sign else numbers.minus(f"{100 * value:.1f}")
    if kind is Unit.HUNDREDTHS:
        value = round(value, 1) or 0.0  # no minus zero
        return numbers.minus(f"{value:{'+' if sign and value else ''}.1f}")
    if kind is Unit.RATIO and value > _LARGEST_RATIO:
        return f">{_LARGEST_RATIO:,}"
    if kind is Unit.RATIO:
        return f"{value:.2f}" if value >= 0.1 or value == 0 else numbers.small_ratio(value)
    if abs(value) < 1 and f"{abs(value):.3f}" != "0.000":
        return numbers.minus(f"{value:+.3f}" if sign else f"{value:.3f}")
    return numbers.amount(value, signed=sign)


def _value_next_to_limit(value: float, kind: Unit, limits: Collection[float], *, sign: bool) -> str:
    # write a value that usual rounding puts on a limit, or beyond it; nothing of others
    scale = 100 if kind in (Unit.PERCENT, Unit.POINTS) else 1
    usual = _usual_decimals(value, kind)
    scaled = scale * value  # as it is formatted; limits are without the error of scaling
    decimals = numbers.decimals_beside(scaled, [round(scale * x, 12) for x in limits], usual)
    if decimals == usual:
        return ""
    percent = "%" if kind is Unit.PERCENT else ""
    return numbers.minus(f"{scaled:{'+' if sign else ''}.{decimals}f}{percent}")


def _usual_decimals(value: float, kind: Unit) -> int:
    if kind in (Unit.PERCENT, Unit.POINTS, Unit.HUNDREDTHS) or value == 0:
        return 1
    first = math.floor(math.log10(abs(value)))
    if kind is Unit.RATIO:
        return 2 if value >= 0.1 else 1 - first
    return 3 if 0.0005 <= abs(value) < 1 else max(0, 2 - first)


def published_ratio(value: float | None, limits: Collection[float] = ()) -> str:
    """Write a ratio with three decimals, as ratios are published; more beside ``limits``.

    >>> published_ratio(0.7992), published_ratio(None), published_ratio(0.99987, [1.0])
    ('0.799', '-', '0.9999')
    """
    if value is None or not math.isfinite(value):
        return shown(value, Unit.RATIO)
    return f"{value:.{numbers.decimals_beside(value, limits, 3)}f}"


def published_value(each: Estimate) -> str:
    """Write the value of an estimate; ratios with three decimals."""
    if unit(each.definition) is not Unit.RATIO:
        return estimate_value(each)
    return published_ratio(each.value, excluded(each.low, each.high, Unit.RATIO))


def published_range(low: float, high: float, limits: Collection[float] = ()) -> str:
    """Write a confidence interval of a ratio as ratios are published.

    >>> published_range(0.8, 0.99987)
    '0.800 to 0.9999'
    """
    beside = (*limits, *excluded(low, high, Unit.RATIO))
    return " to ".join(published_ratio(end, beside) for end in (low, high))


def excluded(low: float | None, high: float | None, kind: Unit) -> tuple[float, ...]:
    """Return "no difference" where an interval excludes it: then no end is rounded onto it."""
    none = 1.0 if kind is Unit.RATIO else 0.0
    if low is None or high is None or kind is Unit.PERCENT or low <= none <= high:
        return ()
    return (none,)


def shown_range(
    low: float | None,
    high: float | None,
    kind: Unit,
    *,
    sign: bool = False,
    limits: Collection[float] = (),
) -> str:
    """Write a confidence interval in the unit of its value; nothing where there is none.

    One that excludes "no difference" is written so that it does, and no end as the other one.

    >>> shown_range(0.8, 0.9987, Unit.RATIO), shown_range(0.8, 1.0013, Unit.RATIO)
    ('0.80 to 0.999', '0.80 to 1.00')
    >>> shown_range(-0.0003, 0.0003, Unit.POINTS, sign=True)
    '−0.03 to +0.03'
    """
    if low is None or high is None:
        return ""
    beside = (*limits, *excluded(low, high, kind))
    ends = [shown(end, kind, sign=sign, limits=beside) for end in (low, high)]
    if low < high and ends[0] == ends[1]:
        beside = (*beside, (low + high) / 2)
        ends = [shown(end, kind, sign=sign, limits=beside) for end in (low, high)]
    return " to ".join(ends)


def estimate_value(each: Estimate) -> str:
    """Write the value of an estimate; with an interval without "no difference" it is another.

    Of what has a range alone it is this range.
    """
    if each.value is None and each.interval is not None:
        return metric_range(each.definition, each.low, each.high)
    kind = unit(each.definition)
    beside = excluded(each.low, each.high, kind)
    return shown(each.value, kind, sign=signed(each.definition), limits=beside)


def unit_name(kind: Unit) -> str:
    """Return the name of a unit that stands behind its numbers."""
    return " pp" if kind is Unit.POINTS else ""


def with_unit(
    value: float | None, kind: Unit, *, sign: bool = False, limits: Collection[float] = ()
) -> str:
    """Write a value in its unit, with the unit's name where it has a value.

    >>> with_unit(-0.17, Unit.POINTS, sign=True), with_unit(None, Unit.POINTS)
    ('−17.0 pp', '-')
    """
    text = shown(value, kind, sign=sign, limits=limits)
    return text + ("" if value is None else unit_name(kind))


def metric_value(
    metric: Metric | Statistic, value: float | None, limits: Collection[float] = ()
) -> str:
    """Write a value of a metric with its unit, and its sign where it has one: ``−17.2 pp``."""
    return with_unit(value, unit(metric), sign=signed(metric), limits=limits)


def metric_range(
    metric: Metric | Statistic,
    low: float | None,
    high: float | None,
    limits: Collection[float] = (),
) -> str:
    """Write a confidence interval of a metric without its unit: ``−19.6 to −14.3``."""
    return shown_range(low, high, unit(metric), sign=signed(metric), limits=limits)


def metric_ci(metric: Metric | Statistic, interval: Interval | None) -> str:
    """Write the confidence interval of a metric with its level; nothing where there is none."""
    return shown_ci(interval, unit(metric), sign=signed(metric))


def shown_ci(interval: Interval | None, kind: Unit, *, sign: bool) -> str:
    """Write an interval with its level: ``95% CI −19.6 to −14.3``; nothing where there is none."""
    if interval is None:
        return ""
    ends = shown_range(interval.low, interval.high, kind, sign=sign)
    return f"{100 * interval.level:.4g}% CI {ends}"


def rate_value(rate: Statistic, found: RateValue | None) -> str:
    """Write a rate of a group: shares in per cent, without the sign."""
    if found is None:
        return "-"
    if found.value is None:  # a range alone
        ends = [RateValue(value=each) for each in found.interval or ()]
        return " to ".join(rate_value(rate, each) for each in ends) or "-"
    if math.isinf(found.value):
        return "∞"
    if rate.is_share:
        return f"{100 * found.value:.1f}"
    return shown(found.value, Unit.NUMBER)


def marked(text: str, each: Estimate | None) -> str:
    """Mark a number: ``*`` where it is statistically significant, ``?`` on insufficient data."""
    if each is None or (each.value is None and each.interval is None):
        return text
    if each.status is Status.TOO_FEW:
        return f"{text}?"
    return f"{text}*" if is_significant(each) else text


def holds_with_others(each: Estimate) -> bool:
    """Return whether the interval of an estimate holds together with those of other groups."""
    return each.interval is not None and not _TOGETHER.isdisjoint(each.interval.methods)


def is_simultaneous(each: Estimate) -> bool:
    """Return whether the interval of an estimate holds together with others: groups or classes."""
    of_class = each.class_scope.kind is ClassKind.WORST and each.interval
    by_class = of_class and IntervalMethod.SIMULTANEOUS in of_class.methods
    return holds_with_others(each) or bool(by_class)


def rule_in_words(report: Report, rule: RuleResult) -> str:
    """Return a rule in words; where the interval alone does not decide, what does in brackets."""
    asked = [k for k in report.spec.get("rules", ()) if write_rules([k]) == [rule.rule]]
    significant = {str(keys.get("decide")) for keys in asked} == {Decide.SIGNIFICANT}
    decided = f" ({_spoken_names().terms['decided']})" * significant
    return written_rule_words(rule.rule, rule.worst.definition) + decided


def written_rule_words(text: str, metric: Metric | Statistic | None = None) -> str:
    """Return the text form of a rule in words, ``selection rate ratio >= 0.8``.

    The metric may be a user's own, which none finds.
    """
    try:
        metric = metric or parse_rule(text).row
        low, high = limits_of(text)
    except SpecError:
        return called(text)
    words, first, last = metric_words(metric), limit_text(low, metric), limit_text(high, metric)
    if low == -high and math.isfinite(high):
        return f"|{words}| <= {last}"
    if math.isinf(high):
        return f"{words} >= {first}"
    return f"{words} <= {last}" if math.isinf(low) else f"{first} <= {words} <= {last}"


def monitored_rules(report: MonitorReport) -> dict[str, str]:
    """Return the rules of a monitor in words by their text: limits, or how near a baseline."""
    metrics = {each.rule: each.definition for each in report.comparisons}
    words: dict[str, str] = {}
    for keys in report.spec["monitor"]["rules"]:
        if source := keys.get("source"):
            near = keys["within"]
            for text, row in metrics.items():
                if text == f"{row.name} within {near:g} of {source}":
                    limit = limit_text(near, row)
                    words[text] = f"{metric_words(row)} within {limit} of {called(source)}"
    others = [*metrics, *(each.rule for each in report.unmatched)]
    return {text: words.get(text) or written_rule_words(text, metrics.get(text)) for text in others}


def limit_text(value: float, metric: Metric | Statistic) -> str:
    """Return a limit of a rule as it was written, in the unit of the metric: ``10 pp``."""
    if unit(metric) is Unit.POINTS:
        return numbers.minus(f"{100 * value:g} pp")
    if unit(metric) is Unit.PERCENT:
        return f"{100 * value:g}%"
    return numbers.minus(f"{value:g}")
