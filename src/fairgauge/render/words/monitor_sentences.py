"""What a monitored comparison and a monitor came to, as sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.grammar import describe_reason, insufficiency
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import (
    metric_number,
    metric_range,
    metric_words,
    shown,
    signed,
    unit,
    unit_name,
)
from fairgauge.render.words.question_sentences import counts_people
from fairgauge.results.monitor_results import (
    Alarm,
    Baseline,
    Currently,
    MonitoredComparison,
    MonitorReport,
    PooledPeriods,
    SparseGroup,
    Unmatched,
)

_DAY = re.compile(r"\d{4}-\d\d-\d\d")

_MOST_EVIDENCE = 1_000_000


def describe_comparison(each: MonitoredComparison) -> str:
    """Describe what a rule came to for a group: its alarm, or how far the evidence is from one."""
    subject = f"{capitalised(metric_words(each.definition))} of {sides_of(each)}"
    if each.alarm is not None:
        return " ".join([f"{subject}: {_alarm(each, each.alarm)}", *_now(each, each.alarm)])
    if each.lacks_baseline:
        return f"{subject}: {without_baseline(each)}"
    if each.was_in:
        return f"{subject}: {each.state}; its rows were last in {each.was_in[-1]}."
    text = f"{subject}: {each.state}.{_evidence_sentence(each)}"
    return " ".join([text, *describe_undefined(each)])


def _alarm(each: MonitoredComparison, alarm: Alarm) -> str:
    """Return since when and by how much; without an interval, as the value chose its periods."""
    since, after = f"alarm of {alarm.period}, from about {alarm.since} on", alarm.after
    if alarm.currently is Currently.TOLERATED:
        since = f"alarm of {alarm.period}, from about {alarm.since} to {after.last}"
    before = "" if alarm.before is None else f", before {_value(each, alarm.before)}"
    when = f"{_over(after)}, where the evidence is strongest,"
    return f"{since}; {when} it was {_value(each, after)}{before}."


def _now(each: MonitoredComparison, alarm: Alarm) -> Iterator[str]:
    """Yield what the periods after an alarm are, which it did not choose."""
    if (now := alarm.now) is not None:
        ends = metric_range(each.definition, now.low, now.high)
        interval = f" (95% CI {ends})" if ends else ""
        when = f"{capitalised(_over(now))}, after the alarm,"
        yield f"{when} it is {_value(each, now)}{interval}."


def _over(held: PooledPeriods) -> str:
    if held.last is not None and held.first == held.last:
        return within_period(held.last)
    return f"over {held.first} to {held.last}"


def _value(each: MonitoredComparison, held: PooledPeriods) -> str:
    text = metric_number(each.definition, held.value)
    return f"{text}{unit_name(unit(each.definition))}" if held.value is not None else "undefined"


def counted_unit(report: MonitorReport) -> str:
    """Return what numbers of rows are of: people, cases of a count, or rows."""
    if counts_people(report.spec):
        return "people"
    return "cases" if report.spec.get("count") else "rows"


def counted_each_time(report: MonitorReport) -> str:
    """Return, after a number of people of several periods, that someone may be in it repeatedly."""
    if not counts_people(report.spec) or len(report.periods) == 1:
        return ""
    on = "on" if report.length == "day" else "in"
    return f" (who came {on} several {report.length}s counts {on} each)"


def independent_periods(report: MonitorReport) -> str:
    """Return the condition on people that the probability of a false alarm needs."""
    asked = report.spec.get("person") is not None
    return f"different people come each {report.length}" if asked else ""


def describe_unmatched(each: Unmatched, rule: str) -> str:
    """Describe a rule, in words, that compares nothing of a group, of a feature, or at all."""
    rule, of = capitalised(rule), f" in {called(each.feature)}" if each.feature else ""
    if each.reason is None:
        if each.group is None:
            return f"{rule} compares nothing: no period is considered."
        near = f" Did you mean {called(each.nearest)}?" if each.nearest else ""
        return f"{rule} names the group {called(each.group)}, which no period has{of}.{near}"
    if each.reason.code is ReasonCode.IS_REFERENCE:
        return (
            f"{rule} names the group {called(each.group)}, which is the reference{of}: it is "
            "compared with nothing. Name the groups that are compared with it."
        )
    if each.reason.code is ReasonCode.NO_ESTIMATE:
        return f"{rule} compares nothing: {describe_reason(each.reason)}."
    groups = (
        "one group alone" if each.reason.code is ReasonCode.FEWER_THAN_TWO_GROUPS else "no group"
    )
    return f"{rule} compares nothing{of}, of which all periods together have {groups}."


def name_of(each: MonitoredComparison) -> str:
    """Return the name of a comparison: its metric and whose it is."""
    return f"{metric_words(each.definition)}, {called(each.feature)}: {sides_of(each)}"


def in_last_period(report: MonitorReport) -> str:
    """Return the period of which comparisons have no value: the last one that does not wait.

    Only rules that need labels wait: of them it may be an earlier period than of the others.
    """
    lacking = {each.undefined[-1].period for each in report.undefined}
    if lacking == {report.periods[-1]}:
        return "in the last period"
    labelled = f"in the last period that does not wait for labels ({min(lacking)})"
    return (
        f"in the last period or, where labels are needed, {labelled}"
        if len(lacking) > 1
        else labelled
    )


def describe_sparse_group(each: SparseGroup, report: MonitorReport) -> str:
    """Describe a group with insufficient data, and what to do where it is none.

    Where a first period is set that counts (start), the group may have rows before it.
    """
    start = report.spec["monitor"].get("start")
    when = f"since the start ({start})" if start else f"so far, from {each.first}"
    return (
        f"{called(each.group)} ({called(each.feature)}) has "
        f"{numbers.numbered(each.rows, counted_unit(report))} that a rule counts {when}"
        f"{counted_each_time(report)}: "
        "too few to decide, and its comparisons keep their part of the probability of a false "
        "alarm. If it is no group, such as a repeated header, correct the file and add the period "
        "again (--replace), or leave it out (exclude_groups, or groups of the rules)."
    )


def without_baseline(each: MonitoredComparison) -> str:
    """Describe a rule whose baseline does not have the group."""
    side = called(each.group)
    return (
        f"{insufficiency()}, as the baseline does not have {side}; no value can raise an alarm. "
        f"Count a baseline with {side}, or name the groups of the rule (groups)."
    )


def _evidence_sentence(each: MonitoredComparison) -> str:
    """Return how far the evidence is from an alarm, after a space; nothing where there is none."""
    return (
        f" The evidence that it is {_outside(each)} is {evidence_text(each.evidence or 0.0)}; "
        f"an alarm needs {evidence_text(each.threshold)}."
    )


def describe_undefined(each: MonitoredComparison) -> Iterator[str]:
    """Describe since when a comparison has no value, and why it has none in the last period."""
    if each.undefined:
        yield f"It is {_undefined(each)}."


def _undefined(each: MonitoredComparison) -> str:
    first, last = each.undefined[0], each.undefined[-1]
    when, why = within_period(last.period), last.reason
    because = f", because {describe_reason(why)}" if why is not None else ""
    if len(each.undefined) == 1:
        return f"undefined {when}{because}"
    if any(point.reason != why for point in each.undefined):
        because = f"; {when}{because}"
    every = f"in the last {len(each.undefined):,} periods, {first.period} to {last.period}"
    return f"undefined {every}{because}"


def tolerated_words(each: MonitoredComparison) -> str:
    """Return the tolerated values of a comparison in words: ``0.8 or more``."""
    points = unit_name(unit(each.definition))
    if each.lacks_baseline:
        return "any value"
    if math.isinf(each.high):
        return f"{_end(each, each.low)}{points} or more"
    if math.isinf(each.low):
        return f"{_end(each, each.high)}{points} or less"
    return f"{_end(each, each.low)} to {_end(each, each.high)}{points}"


def _end(each: MonitoredComparison, value: float) -> str:
    """Return an end of the tolerated values, without "pp"."""
    kind, sign = unit(each.definition), signed(each.definition)
    if each.baseline is not None:
        return shown(value, kind, sign=sign)
    text = f"{100 * value:{'+' if sign else ''}.4g}" if kind is Unit.POINTS else f"{value:.4g}"
    return numbers.minus(f"{100 * value:g}%" if kind is Unit.PERCENT else text)


def _outside(each: MonitoredComparison) -> str:
    """Return where values are not tolerated, in words: ``below 0.8``."""
    bounded = not each.lacks_baseline
    if bounded and math.isinf(each.high) and not math.isinf(each.low):
        return f"below {_end(each, each.low)}{unit_name(unit(each.definition))}"
    none_below = each.low == 0 and unit(each.definition) in (Unit.RATIO, Unit.PERCENT)
    if bounded and (math.isinf(each.low) or none_below) and not math.isinf(each.high):
        return f"above {_end(each, each.high)}{unit_name(unit(each.definition))}"
    return f"outside {tolerated_words(each)}"


def describe_baseline(each: MonitoredComparison, baseline: Baseline) -> str:
    """Describe a baseline, and what its uncertainty makes of the tolerated values."""
    value = metric_number(each.definition, baseline.value)
    ends = metric_range(each.definition, baseline.low, baseline.high)
    sizes = f"n = {baseline.n_group:,}"
    sizes += f" and {baseline.n_reference:,}" if baseline.n_reference else ""
    return (
        f"The baseline {called(baseline.source)} has {value} "
        f"({sizes}) and is itself an estimate ({ends}); tolerated is {tolerated_words(each)}."
    )


def within_period(name: str) -> str:
    """Return a period as the time of something: on a day, in any other.

    >>> within_period("2026-11-20"), within_period("2026-11"), within_period("2026-W47")
    ('on 2026-11-20', 'in 2026-11', 'in 2026-W47')
    """
    return f"on {name}" if _DAY.fullmatch(name) else f"in {name}"


def sides_of(each: MonitoredComparison) -> str:
    """Return which group is compared with which, and of which class of several."""
    sides = called(each.group) + (f" vs {called(each.reference)}" if each.reference else "")
    return sides if each.class_ is None else f"{sides} (class {called(each.class_)})"


def evidence_text(value: float | None) -> str:
    """Return evidence in few digits, and no more than a million: an alarm needs some thousands."""
    if value is None:
        return "-"
    if value >= _MOST_EVIDENCE:
        return f"over {_MOST_EVIDENCE:,}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
