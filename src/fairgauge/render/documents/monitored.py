"""What the document of a monitor has besides its fields: comparisons over time, and notes."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairgauge.enums import Outcome, Uncounted
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import TONES, record_blocks
from fairgauge.render.grammar import Grammar
from fairgauge.render.page import told
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called
from fairgauge.render.words.metric_words import metric_number, metric_range, metric_words, unit
from fairgauge.render.words.monitor_sentences import (
    counted_each_time,
    counted_unit,
    describe_baseline,
    describe_sparse_group,
    describe_undefined,
    describe_unmatched,
    evidence_text,
    in_last_period,
    independent_periods,
    name_of,
    sides_of,
    tolerated_words,
    within_period,
    without_baseline,
)
from fairgauge.render.words.rule_words import monitored_rules
from fairgauge.resolve.excluded_rows import NO_CLUSTER, OF_NO_WEIGHT, unit_excluded
from fairgauge.results.codec import to_dict
from fairgauge.results.monitor_results import (
    IN_MEMORY,
    Detector,
    HistoryFinding,
    HistoryHealth,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
)
from fairgauge.results.statement import Statement
from fairgauge.statements.compared import side_of
from fairgauge.statements.monitor import alarm_statements, drawn, open_states

_DECIDED = (Outcome.FAIL, Outcome.PASS)
_MOST_NAMED, _MOST_CHARTS = 10, 40


def _in_words(report: MonitorReport) -> MonitorReport:
    """Return a report whose groups have the user's words, beside the values: "women (F)"."""
    language = told(report).language

    def named(feature: str, group: str) -> str:
        words = language.words.get("groups", {}).get(feature)
        word = language.name(side_of(feature, group)) if words and group != "others" else ""
        return f"{word} ({group})" if word else group

    return replace(
        report,
        comparisons=tuple(
            replace(
                each,
                group=named(each.feature, each.group),
                reference=named(each.feature, each.reference),
            )
            for each in report.comparisons
        ),
    )


def _facts(report: MonitorReport) -> dict[str, Any]:
    written = monitored_rules(report)
    alphas = sorted({each.alpha for each in report.comparisons})
    absent = {*report.waiting, *report.overdue}
    return {
        "span": _span(report),
        "verdict": _verdict(report),
        "tone": str(_tone(report)),
        "asymptotic": any(each.detector is Detector.ASYMPTOTIC for each in report.comparisons),
        "within": report.spec["monitor"].get("labels_within"),
        "entered": [each for each in report.unlabelled if each not in absent],
        "lacking": len(set(report.waiting) & set(report.unlabelled)),
        "insufficient": "" if report.comparisons else _open(report),
        "independent": independent_periods(report) or "",
        "alphas": " to ".join(dict.fromkeys(f"{a:.2g}" for a in alphas[:1] + alphas[-1:])),
        "rules": "; ".join(dict.fromkeys(written[each.rule] for each in report.comparisons)),
    }


def _span(report: MonitorReport) -> str:
    if not report.periods:
        return "no periods yet" if report.unconsidered is None else "no period considered"
    size = numbers.numbered(len(report.periods), f"{report.length}s")
    absent = f" ({len(report.absent):,} without counts)" if report.absent else ""
    return f"{size}, {report.periods[0]} to {report.periods[-1]}{absent}"


def _verdict(report: MonitorReport) -> str:
    if report.alarms:
        return f"ALARM: {numbers.numbered(len(report.alarms), 'comparisons')}"
    state = str(report.state).upper()
    undecided = report.state is not MonitorState.NO_ALARM
    if undecided and report.verdict is report.inconclusive and report.verdict in _DECIDED:
        state += f" (counted as {report.inconclusive})"
    if undecided and (why := _open(report)):
        return f"{state}: {why}"
    count = len(report.undefined)
    if report.state is MonitorState.NO_ALARM and count:
        words = numbers.plural(count, "comparison is", "comparisons are")
        return f"{state}; {count:,} {words} undefined {in_last_period(report)}"
    return f"{state}, BUT NO PASS: rows may be wrong" if report.faults else state


def _said(report: MonitorReport, stated: Sequence[Statement], *places: str) -> list[str]:
    """Return statements in the words of some places of a first page."""
    language = told(report).language
    said = (language.say(s.code, place, s) for s in stated for place in places)
    return [text for text in said if text]


def _open(report: MonitorReport) -> str:
    return " ".join(_said(report, open_states(report), "verdict"))


def _drawn_caption(report: MonitorReport, each: MonitoredComparison) -> str:
    """Return what a chart over time is of, in words: who is compared with whom, and what may be."""
    s = drawn(report, each)
    text = told(report).language.say("drawn", s.of.kind if s.of else "number", s)
    return f"{text}; allowed: {tolerated_words(each)}" if text else ""


def finding_text(finding: HistoryFinding) -> str:
    """Return what may be wrong with the rows of a period, and what to do, as a sentence."""
    return Grammar({}).say("finding", "text", f=finding) or ""


def _tone(report: MonitorReport) -> tree.Tone:
    undecided = report.state not in (MonitorState.ALARM, MonitorState.NO_ALARM)
    doubtful = undecided or report.undefined or report.concerning(report.periods[-1])
    if report.verdict is Outcome.PASS and doubtful:
        return tree.Tone.UNSURE
    return TONES.get(report.verdict, tree.Tone.UNSURE)


def _frame(report: MonitorReport, **_: bool) -> dict[str, Any]:
    """Return the frame, with the comparison that the headline is about, from the same side."""
    drawn = [
        replace(chart, caption=_drawn_caption(report, each) or chart.caption)
        for each in report.gravest[:1]
        for chart in [_chart(each, _in_words(report))]
    ]
    named = [*map(name_of, _in_words(report).alarms)]
    return {"exhibits": drawn, "subject": numbers.listing(named, most=_MOST_NAMED)}


def _compared(report: MonitorReport) -> Iterator[dict[str, Any]]:
    for each in report.comparisons:
        value, ends = "-", ""
        last = each.points[-1] if each.points else None
        if last is not None and last.value is not None:
            value = metric_number(each.definition, last.value)
            ends = metric_range(each.definition, last.low, last.high)
        elif last is not None:
            value = "waits for labels" if last.waits else "undefined"
        yield {
            "name": name_of(each),
            "state": f"{each.state}{' (approximate)' * (each.detector is Detector.ASYMPTOTIC)}",
            "tolerated": tolerated_words(each),
            "value": value,
            "interval": ends,
            "evidence": evidence_text(each.evidence),
            "threshold": evidence_text(each.threshold),
        }


class _Series:
    """A comparison over time; what the first page has of the gravest is not repeated."""

    def __init__(self, report: MonitorReport, place: int, of: MonitoredComparison) -> None:
        self.report, self.place, self.of = report, place, of
        self.name = name_of(of)
        self.folded = of.alarm is None and len(report.comparisons) > 1

    def drawn(self) -> Iterator[tree.Block | str]:
        if self.place:
            yield _chart(self.of, self.report)
        yield _evidence(self.of, self.report)
        if self.of.alarm is None:
            yield self.of.says


def _times(each: MonitoredComparison, report: MonitorReport) -> tuple[str, ...]:
    """Return its periods, with those without counts, so that no line spans them."""
    return tuple(sorted({*(point.period for point in each.points), *report.absent}))


def _chart(each: MonitoredComparison, report: MonitorReport) -> tree.TimeChart:
    points, times = {point.period: point for point in each.points}, _times(each, report)
    held, length = [points.get(time) for time in times], report.length
    notes = [f"Dots: single {length}s, with their 95% CIs as bars. Green band: allowed."]
    if each.alarm is not None:  # what an alarm is about, and not all periods
        after = each.alarm.after
        first, last = after.first or "", after.last or ""
        running = [tree.Mark(after.value if first <= time <= last else None) for time in times]
        notes.append(
            f"Line without dots: the {length}s from {first} to {last} together, after the change. "
            "The red line is the alarm; the shade begins with the change."
        )
    else:
        running = [
            tree.Mark(p.running, p.running_low, p.running_high) if p else tree.Mark(None)
            for p in held
        ]
        if any(mark.value is not None for mark in running):
            notes.append(
                f"Line without dots: all {length}s so far; the blue band is its 95% CI, for all "
                f"{length}s together."
            )
    kind = unit(each.definition)
    points_words = " (pp)" if kind is tree.Unit.POINTS else ""
    return tree.TimeChart(
        f"{metric_words(each.definition)}{points_words}, {sides_of(each)}, tolerated "
        f"{tolerated_words(each)}",
        times,
        tuple(tree.Mark(p.value, p.low, p.high, p.sparse) if p else tree.Mark(None) for p in held),
        kind,
        running=tuple(running),
        allowed=(each.low, each.high),
        since=None if each.alarm is None else times.index(each.alarm.since),
        alarm=None if each.alarm is None else times.index(each.alarm.period),
        notes=(" ".join(notes),),
    )


def _evidence(each: MonitoredComparison, report: MonitorReport) -> tree.TimeChart:
    points, times = {point.period: point for point in each.points}, _times(each, report)
    return tree.TimeChart(
        "Evidence that it left the tolerated range (logarithmic)",
        times,
        tuple(tree.Mark(points[time].evidence if time in points else None) for time in times),
        tree.Unit.NUMBER,
        threshold=each.threshold,
        since=None if each.alarm is None else times.index(each.alarm.since),
        alarm=None if each.alarm is None else times.index(each.alarm.period),
        notes=(f"An alarm needs {evidence_text(each.threshold)}, the dashed line.",),
    )


def _noted(report: MonitorReport) -> Iterator[str]:
    """Yield what rules and comparisons lack: what they match, a baseline, data, a value."""
    rules = monitored_rules(report)
    for each in report.unmatched:
        if each.group is not None or each.reason is not None:
            yield describe_unmatched(each, rules[each.rule])
    lacking = [each for each in report.comparisons if each.lacks_baseline]
    yield from (f"{name_of(each)}: {without_baseline(each)}" for each in lacking[:_MOST_NAMED])
    for few in report.sparse_groups[:_MOST_NAMED]:
        yield describe_sparse_group(few, report)
    undefined = [
        f"{name_of(each)}. {text}"
        for each in report.undefined
        for text in describe_undefined(each)
        if not {point.period for point in each.undefined} <= set(report.overdue)
    ]
    yield from undefined[:_MOST_NAMED]
    yield from _excluded(report)


def _excluded(report: MonitorReport) -> Iterator[str]:
    """Yield how many rows are excluded, or in no interval, of all periods and of the last."""
    totals: Counter[str] = Counter()
    for each in report.rows:
        totals.update(each.excluded)
    unit_ = counted_unit(report)
    total = numbers.numbered(sum(each.rows for each in report.rows), unit_)
    total += counted_each_time(report)
    for why, rows in totals.most_common():
        last = report.rows[-1]
        found, in_last = numbers.count(rows), numbers.count(last.excluded.get(why, 0))
        if unit_excluded(why, unit_) == unit_:
            found, in_last = f"{found} of {total}", f"{in_last} of {numbers.count(last.rows)}"
        else:  # nobody knows of how many cases or people
            found = numbers.numbered(rows)
        found, in_last = f"{found} ({called(why)})", f"{in_last} {within_period(last.period)}"
        if why == NO_CLUSTER:
            yield f"{found} are in every value and in no confidence interval, {in_last}."
        else:
            whole = why in {*Uncounted, OF_NO_WEIGHT}
            of = "every rate" if whole else "the rates that need the value"
            yield f"Excluded from {of}: {found}, {in_last}."


def _repeat(report: MonitorReport) -> Iterator[tree.Block]:
    """Yield where the counts are, how to decide by them again, and room for signatures."""
    kept = "HISTORY" if report.history == IN_MEMORY else report.history
    last = ["--at", report.periods[-1]] if report.periods else []
    line = shlex.join(["fairgauge", "monitor", "status", kept, *last])
    how = "To repeat this (with -c where the history was last asked other rules), run"
    yield from record_blocks(report, {"periods": _span(report)}, how, line)


def _periods(report: MonitorReport) -> Iterator[dict[str, Any]]:
    """Yield every period of every comparison; ``alarm`` is true from the alarm on.

    Of two groups that mirror each other there is one comparison. A tolerated range without a lower
    or upper limit has none in its column.
    """
    for each in report.comparisons:
        own = {
            "model": report.model,
            "threshold": each.threshold,
            "reference": each.reference or None,
            "class": each.class_,
            "tolerated_low": each.low if math.isfinite(each.low) else None,
            "tolerated_high": each.high if math.isfinite(each.high) else None,
        }
        own |= {name: getattr(each, name) for name in ("rule", "metric", "feature", "group")}
        raised = False
        for point in each.points:
            raised = raised or (each.alarm is not None and point.period == each.alarm.period)
            yield to_dict(point) | own | {"alarm": raised}


def _history_facts(health: HistoryHealth) -> dict[str, Any]:
    count, size = len(health.findings), len(health.periods)
    empty = "NO PERIODS" if health.unconsidered is None else "NO PERIOD CONSIDERED"
    found = numbers.numbered(count, "findings").upper()
    tone = tree.Tone.BAD if count else tree.Tone.GOOD if size else tree.Tone.UNSURE
    return {
        "verdict": found if count else "NOTHING FOUND" if size else empty,
        "tone": str(tone),
    }


_WORDED: Mapping[str, Callable[[MonitorReport], Any]] = {
    "alarms": lambda report: _said(
        report, alarm_statements(report), "headline", "found", "certain"
    ),
    "compared": _compared,
    "baselines": lambda report: [
        f"{name_of(each)}. {describe_baseline(each, each.baseline)}"
        for each in report.comparisons
        if each.baseline is not None
    ],
    "series": lambda report: [
        _Series(report, place, each)
        for place, each in enumerate(report.gravest[:_MOST_CHARTS])
        if each.points
    ],
    "noted": _noted,
}
"""Streams of a report whose groups have the user's words."""
STREAMS: Mapping[str, Callable[..., Any]] = {
    **{name: lambda r, made=made: made(_in_words(r)) for name, made in _WORDED.items()},
    "facts": _facts,
    "frame": _frame,
    "charts": _Series.drawn,
    "feed": lambda report: [each.says for each in report.findings],
    "provenance": _repeat,
    "periods": _periods,
}
HISTORY: Mapping[str, Callable[..., Any]] = {
    "facts": _history_facts,
    "feed": lambda health: [each.says for each in health.findings],
}
