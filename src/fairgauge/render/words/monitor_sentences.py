"""What a monitored comparison and a monitor came to, as sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import all_called, called, capitalised
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_number,
    metric_range,
    metric_words,
    shown,
    signed,
    unit,
    unit_name,
)
from fairgauge.render.words.question_sentences import counts_people
from fairgauge.render.words.reason_sentences import INSUFFICIENT, describe_reason
from fairgauge.results.monitor_results import (
    SMALLEST_GROUP,
    Alarm,
    Baseline,
    ChangeParts,
    Currently,
    Detector,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
    PooledPeriods,
    SparseGroup,
    Unconsidered,
    Unmatched,
)

_BOTH, _MOST_NAMED = 2, 3
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SMALL = 0.0005
_HARDLY = 0.1
_CLEAR = 2.0
_POINT_DIGITS = 3
"""The digits of a share that percentage points show."""

_MOST_EVIDENCE = 1_000_000


def describe_comparison(each: MonitoredComparison) -> str:
    """Describe what a rule came to for a group: its alarm, or how far the evidence is from one."""
    if each.alarm is not None:
        return " ".join(filter(None, _alarm(each, each.alarm)))
    subject = f"{capitalised(metric_words(each.definition))} of {sides_of(each)}"
    if each.lacks_baseline:
        return f"{subject}: {without_baseline(each)}"
    if each.state is MonitorState.INSUFFICIENT:
        few = [f"; {within_period(name)}, {describe_reason(why)}" for name, why in _few(each)]
        return f"{subject}: {INSUFFICIENT} for {tolerated_words(each)}{''.join(few[-1:])}."
    if each.state is MonitorState.WAITING:
        if all(point.waits for point in each.points):
            return f"{subject}: waiting for labels; no period has entered yet."
        if all(point.waits or point.value is None for point in each.points):
            return f"{subject}: waiting for labels; no period that has entered has a value."
        return f"{subject}: waiting for labels that are due.{_evidence_sentence(each)}"
    if each.state is MonitorState.NO_ALARM and each.was_in:
        alone, last = numbers.numbered(len(each.was_in), "periods"), each.was_in[-1]
        what = "group" if each.class_ is None else "group or the class"
        return f"{subject}: no alarm; the {what} had rows in {alone} alone, at last {last}."
    evidence = _evidence_sentence(each)
    if each.state is MonitorState.UNDEFINED:
        return f"{subject}: {_undefined(each)}.{evidence}"
    return " ".join([f"{subject}: no alarm.{evidence}", *describe_undefined(each)])


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


def describe_insufficient(report: MonitorReport) -> str:
    """Describe how many comparisons have insufficient data, and why."""
    every = report.comparisons
    insufficient = [e for e in every if e.state is MonitorState.INSUFFICIENT]
    smallest = report.spec["min_n"] or SMALLEST_GROUP
    by_reason: dict[str, list[MonitoredComparison]] = {}
    one = any(each.decision is not None for each in report.findings)
    for each in insufficient:
        by_reason.setdefault(
            _why_insufficient(each, smallest, counted_unit(report), one), []
        ).append(each)
    parts = [
        f"{_share_of(len(of), every)} {numbers.plural(len(of), 'has', 'have')} {why}: {_names(of)}"
        for why, of in by_reason.items()
    ]
    parts += _unmatched(report)
    if report.unconsidered is not None:
        return describe_unconsidered(report.unconsidered)
    return "; ".join(parts) or "no period has a group that a rule is for"


def describe_unconsidered(held: Unconsidered) -> str:
    """Describe which periods a history holds, where none is considered, and why not."""
    why = [
        *([f"before the start ({held.start})"] if held.start else []),
        *([f"after {held.at}, the last to consider (at)"] if held.at else []),
    ]
    if held.first == held.last:
        return f"the history holds {held.first} alone, which is {' or '.join(why)}"
    return f"all periods of the history, {held.first} to {held.last}, are {' or '.join(why)}"


_ON = {
    ReasonCode.IS_REFERENCE: ("names", "name", "a group that is the reference"),
    ReasonCode.FEWER_THAN_TWO_GROUPS: ("is", "are", "on a feature of one group"),
    ReasonCode.NO_GROUPS: ("is", "are", "on a feature without groups"),
    ReasonCode.NO_ESTIMATE: ("has", "have", "no estimate of what it is on"),
}
_ABSENT = ("names", "name", "a group that no period has")


def _unmatched(report: MonitorReport) -> Iterator[str]:
    """Yield how many rules compare nothing, for each reason, and of what."""
    by_reason: dict[tuple[str, str, str], list[Unmatched]] = {}
    for each in report.unmatched:
        if each.group is not None or each.reason is not None:
            on = _ABSENT if each.reason is None else _ON[each.reason.code]
            by_reason.setdefault(on, []).append(each)
    for (one, several, what), found in by_reason.items():
        rules = len({each.rule for each in found})
        of = dict.fromkeys(called(each.group or each.feature or each.rule) for each in found)
        text = f"{numbers.numbered(rules, 'rules')} {numbers.plural(rules, one, several)} {what}"
        yield f"{text}: {numbers.listing(list(of))}"


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


_EFFECTIVE = {
    ReasonCode.FEW_EFFECTIVE_ROWS: "effective rows by the weights",
    ReasonCode.FEW_CLUSTERS: "effective clusters",
}


def _why_insufficient(
    each: MonitoredComparison, smallest: int, unit: str, one_decision: bool
) -> str:
    """Return what a comparison with insufficient data has: a group may have rows without its other.

    ``smallest`` is how many rows of a side are enough, ``unit`` what these are, ``one_decision``
    whether rows of one alone have labels.
    """
    if each.lacks_baseline:
        return "no such group in the baseline"
    few = f"fewer {unit} than min_n ({smallest:,})"
    entered = [point for point in each.points if not point.waits]
    if effective := [why for _, why in _few(each)]:
        if len({point.reason and point.reason.code for point in entered}) > 1:
            return f"{INSUFFICIENT} in every period"
        why = effective[-1]
        return f"fewer than {why['minimum']:g} {_EFFECTIVE[why.code]} in every period"
    rows = sum(point.n_group for point in entered)
    others = sum(point.n_reference for point in entered) if each.reference else smallest
    if one_decision and min(rows, others) >= smallest:
        return "labels of one decision alone"
    if rows < smallest:
        return few
    where = (
        "every period" if each.detector is Detector.ASYMPTOTIC else "periods that have both sides"
    )
    return f"{few} in {where}"


def _few(each: MonitoredComparison) -> list[tuple[str, Reason]]:
    """Return the periods whose effective rows or clusters are too few, each with the reason."""
    return [
        (point.period, point.reason)
        for point in each.points
        if point.value is not None and point.reason is not None and not point.waits
    ]


def describe_waiting(report: MonitorReport) -> str:
    """Describe how many comparisons wait for labels, and of which periods."""
    waiting = [e for e in report.comparisons if e.state is MonitorState.WAITING]
    if report.overdue:
        wait = numbers.plural(len(waiting), "waits", "wait")
        due = numbers.numbered(len(report.overdue), f"{report.length}s")
        return (
            f"{_share_of(len(waiting), report.comparisons)} {wait} for labels that are due, "
            f"of {due} from {report.overdue[0]} on"
        )
    wait = numbers.plural(len(waiting), "has", "have")
    return (
        f"{_share_of(len(waiting), report.comparisons)} {wait} no period with all labels; "
        f"{numbers.numbered(len(report.waiting), 'periods')} "
        f"{numbers.plural(len(report.waiting), 'waits', 'wait')}"
    )


def name_of(each: MonitoredComparison) -> str:
    """Return the name of a comparison: its metric and whose it is."""
    return f"{metric_words(each.definition)}, {called(each.feature)}: {sides_of(each)}"


def _names(comparisons: Sequence[MonitoredComparison]) -> str:
    return "; ".join(
        [*map(name_of, comparisons[:_MOST_NAMED])]
        + [f"{len(comparisons) - _MOST_NAMED:,} more"] * (len(comparisons) > _MOST_NAMED)
    )


def describe_lacking(report: MonitorReport) -> str:
    """Describe which comparisons have no value in the last period, and why where all share it."""
    lacking = report.undefined
    have = numbers.plural(len(lacking), "comparison has", "comparisons have")
    reasons = dict.fromkeys(each.undefined[-1].reason for each in lacking)
    (why,) = reasons if len(reasons) == 1 else (None,)
    because = "" if why is None else f", because {describe_reason(why)}"
    where = in_last_period(report)
    return f"{len(lacking):,} {have} no value {where}{because}: {_names(lacking)}"


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


def _share_of(count: int, every: Sequence[MonitoredComparison]) -> str:
    return f"{count:,} of {numbers.numbered(len(every), 'comparisons')}"


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
        f"{INSUFFICIENT}, as the baseline does not have {side}; no value can raise an alarm. "
        f"Count a baseline with {side}, or name the groups of the rule (groups)."
    )


def _evidence_sentence(each: MonitoredComparison) -> str:
    """Return how far the evidence is from an alarm, after a space; nothing where there is none."""
    return (
        f" The evidence that it is {_outside(each)} is {evidence_text(each.evidence or 0.0)}; "
        f"an alarm needs {evidence_text(each.threshold)}."
    )


def describe_values(each: MonitoredComparison, length: str) -> str:
    """Describe the value of the last period, and that of all periods, with their intervals."""
    last = each.last
    assert last is not None
    what = f"The {metric_words(each.definition)} of {sides_of(each)} was"
    text = f"{what} {_with_interval(last.value, last.low, last.high, each, '95% CI ')} "
    text += within_period(last.period)
    if last.running is None:
        return f"{text}."
    so_far = _with_interval(last.running, last.running_low, last.running_high, each)
    return (
        f"{text}, and over all {length}s so far {so_far}: a 95% confidence sequence, which holds "
        f"on all {length}s together, for this comparison by itself."
    )


def _with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    each: MonitoredComparison,
    called_so: str = "",
) -> str:
    text = f"{metric_number(each.definition, value)}{unit_name(unit(each.definition))}"
    ends = metric_range(each.definition, low, high)
    return f"{text} ({called_so}{ends})" if ends else text


def explain_evidence(each: MonitoredComparison) -> str:
    """Return how near an alarm is."""
    reached = math.floor(100 * (each.evidence or 0.0) / each.threshold)
    return (
        "How near an alarm is: the evidence has reached "
        f"{f'{reached}%' if reached else 'less than 1%'} of what one needs."
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


def describe_promise(report: MonitorReport) -> str:
    """State the probability of a false alarm, and what it covers."""
    size = len(report.comparisons)
    covered = numbers.plural(size, "comparison", "comparisons")
    horizon = f"{report.horizon:,} {report.length}s" if report.horizon != 1 else "1 period"
    approximate = [e for e in report.comparisons if e.detector is Detector.ASYMPTOTIC]
    every = "both" if size == _BOTH else f"all {size:,}"
    stay = f"{every} monitored {covered} stay within their limits"
    if size == 1:
        stay = "the monitored comparison stays within its limits"
    if different := independent_periods(report):
        stay += f" and {different}"
    text = (
        f"If {stay}, at most {100 * report.alpha:g} of 100 such monitors raise an alarm within "
        f"{horizon}."
    )
    if approximate:
        names = dict.fromkeys(metric_words(each.definition) for each in approximate)
        text += (
            f" For {numbers.listing(list(names))} this is approximate, as the confidence "
            "intervals are."
        )
    return text


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


def turned_around(each: MonitoredComparison, alarm: Alarm) -> bool:
    """Return whether what is now is outside on the other side than it was in the alarm's shift."""
    now, then = None if alarm.now is None else alarm.now.value, alarm.after.value
    if alarm.currently is not Currently.OUTSIDE or now is None or then is None:
        return False
    return (now < each.low) is not (then < each.low)


def _alarm(each: MonitoredComparison, alarm: Alarm) -> list[str]:
    """Return the sentences of an alarm: since when, who, how much, how sure, and why."""
    since = f"from about {alarm.since} on"
    if turned_around(each, alarm):
        since = f"from about {alarm.since} to {alarm.after.last}"
    what, parts = f"Alarm of {alarm.period}: {describe_outside(each)} {since}.", alarm.decomposition
    return [
        what,
        _how_much(each, alarm),
        _who(each, alarm),
        describe_parts(each, alarm),
        capitalised(look_first(parts)) if parts is not None and of_strata(each, parts) else "",
        describe_now(each, alarm),
    ]


def describe_outside(each: MonitoredComparison) -> str:
    """Return what was where it is not tolerated, as a clause."""
    return f"the {metric_words(each.definition)} of {sides_of(each)} was {_outside(each)}"


def _value(each: MonitoredComparison, held: PooledPeriods) -> str:
    return f"{metric_number(each.definition, held.value)}{unit_name(unit(each.definition))}"


def over_periods(held: PooledPeriods) -> str:
    """Return several periods, or one, as the time of something."""
    if held.last is not None and held.first == held.last:
        return within_period(held.last)
    return f"over {held.first} to {held.last}"


def _how_much(each: MonitoredComparison, alarm: Alarm) -> str:
    """Return the value of the change, without an interval: its periods are chosen by it."""
    value = _value(each, alarm.after)
    text = (
        f"{capitalised(over_periods(alarm.after))}, where the evidence is strongest, it was {value}"
    )
    if alarm.before is None:
        return f"{text}; there are no periods before to compare with."
    when = "in the baseline" if alarm.before.first is None else "before"
    return f"{text}, {when} {_value(each, alarm.before)}."


def describe_now(
    each: MonitoredComparison, alarm: Alarm, *, named: bool = False, stated: str | None = None
) -> str:
    """Return what the last periods after the alarm are: still outside, passed, or undecided.

    ``named`` states of what, where no sentence before it does; ``stated`` is their interval in
    words, where it has some.
    """
    now = alarm.now
    if now is None:
        return (
            "What is now is known from the next period on: the periods of an alarm are chosen by "
            "their values and overstate it, so that they have no confidence interval."
        )
    what = f"the {metric_words(each.definition)} of {sides_of(each)}" if named else "it"
    when = f"{capitalised(over_periods(now))}, after the alarm, {what} is"
    if now.low is None or now.high is None:
        return f"{when} {'undefined' if now.value is None else _value(each, now)}."
    ends = f"95% CI {metric_range(each.definition, now.low, now.high)}"
    text, outside = f"{when} {_value(each, now)} ({ends})", _outside(each)
    if stated is not None:
        text = f"{capitalised(over_periods(now))}, after the alarm, {stated} (95% CI)"
        outside = "beyond the limit"
    if alarm.currently is Currently.OUTSIDE:
        return f"{text}: the whole CI is {outside}."
    if alarm.currently is Currently.BOTH:
        return f"{text}: the CI includes tolerated values and others."
    passed = f"The shift has passed; it ended about {alarm.after.last}"
    return f"{passed}. {text}: the whole CI is tolerated."


def _who(each: MonitoredComparison, alarm: Alarm) -> str:
    """Return which rates moved, from what to what."""
    before, after = alarm.before, alarm.after
    if before is None or before.rate_group is None or after.rate_group is None:
        return ""
    rate = (compared_rate(each.definition) or each.definition).title
    subject = f"The {rate} of {called(each.group)}"
    own = (before.rate_group, after.rate_group)
    if before.rate_reference is None or after.rate_reference is None:
        return f"{_move(subject, *own)}."
    theirs = (before.rate_reference, after.rate_reference)
    return (
        f"{_move(subject, *own, theirs[1] - theirs[0])}; "
        f"{_move(f'that of {called(each.reference)}', *theirs, own[1] - own[0])}."
    )


def _move(subject: str, before: float, after: float, other: float = 0.0) -> str:
    """Return how a rate moved; one that moved far less than the other rate hardly changed."""
    change = after - before
    ends = f"{numbers.percent(before)} to {numbers.percent(after)}"
    if abs(change) < max(_SMALL, _HARDLY * abs(other)):
        return f"{subject} hardly changed ({ends})"
    return f"{subject} {'rose' if change > 0 else 'fell'} from {ends}"


def describe_parts(each: MonitoredComparison, alarm: Alarm) -> str:
    """Return how much of the change is composition and how much treatment."""
    parts = alarm.decomposition
    if parts is None or alarm.change is None:
        return ""
    what = "rate" if not each.reference else "difference of the rates"
    text = f"The {what} changed by {numbers.points(alarm.change)} pp"
    # the shown terms add up to the shown change
    composition = round(parts.composition, _POINT_DIGITS)
    treatment = round(alarm.change, _POINT_DIGITS) - composition
    if not of_strata(each, parts):
        rate = compared_rate(each.definition) or each.definition
        within = "predictions or labels" if "label" in rate.needs else "decisions"
        rest = "it"
        if parts.by:
            rest = "what remains"
            text += f", {numbers.points(composition)} pp by the mix of groups in the reference"
        return (
            f"{text}. Without strata it is not known how much of {rest} is who applies, and how "
            f"much the {within}: count all periods again with strata, in a new history."
        )
    by = all_called(parts.by)
    return (
        f"{text}: {numbers.points(composition)} pp from composition (the mix of {by}) and "
        f"{numbers.points(treatment)} pp from treatment (rates at a given {by})."
    )


def of_strata(each: MonitoredComparison, parts: ChangeParts) -> bool:
    """Return whether the parts of a change are of strata, not of the mix of other groups alone."""
    return any(column != each.feature for column in parts.by)


def look_first(parts: ChangeParts) -> str:
    """Return which part of a change, of strata, to look at first."""
    by = all_called(parts.by)
    mix, within = abs(parts.composition), abs(parts.treatment)
    if mix > _CLEAR * within:
        return f"look first at who applies: the mix of {by}."
    if within > _CLEAR * mix:
        return f"look first at decisions within {by}: the model, its inputs, its threshold."
    return f"look at both: the mix of {by} and the decisions within."


def evidence_text(value: float | None) -> str:
    """Return evidence in few digits, and no more than a million: an alarm needs some thousands."""
    if value is None:
        return "-"
    if value >= _MOST_EVIDENCE:
        return f"over {_MOST_EVIDENCE:,}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
