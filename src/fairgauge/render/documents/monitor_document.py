"""The document of a monitor: the promise, alarms, and every comparison over time."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fairgauge.enums import Outcome, Uncounted
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import TONES, document_of, listed, record_blocks
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

_TONES = {
    MonitorState.ALARM: tree.Tone.BAD,
    MonitorState.NO_ALARM: tree.Tone.GOOD,
    MonitorState.INSUFFICIENT: tree.Tone.UNSURE,
    MonitorState.UNDEFINED: tree.Tone.UNSURE,
    MonitorState.WAITING: tree.Tone.UNSURE,
}
_DECIDED = (Outcome.FAIL, Outcome.PASS)
_MOST_NAMED = 10
_MOST_CHARTS = 40
METHOD = (
    "Every period yields an e-value for each comparison: a likelihood ratio whose expectation is "
    "at most 1 wherever the rates are tolerated, whatever the sizes of the groups (Turner, Ly and "
    "Grünwald 2024). The alternatives come from earlier periods alone. The Shiryaev-Roberts sum of "
    "their products over all possible beginnings of a change is the evidence; it raises an alarm "
    "where it reaches the horizon divided by the false alarm probability of the comparison (Shin, "
    "Ramdas and Rinaldo 2023). The intervals of single periods (95%) raise no alarm. "
    "The periods of a change are chosen by their values, which overstate it; what is now is "
    "estimated from the later half of the periods after the alarm, of 7 to 28 where there are so "
    "many. "
    "The intervals for all periods together are confidence sequences of the running values of all "
    "periods so far (95% for each comparison; Howard, Ramdas, McAuliffe and Sekhon 2021). "
    "Rows are taken to be independent of each other within groups."
)
_ASYMPTOTIC = (
    "Metrics that contrast no rate of independent rows have asymptotic e-values, by the confidence "
    "intervals of their periods: they take estimates to be normal around their value. These are "
    "summed, and alarm, in the same way."
)


def monitor_document(report: MonitorReport, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of a monitor."""
    asked, report = report, _in_words(report)
    alarms, comparisons = tuple(_alarms(asked)), tuple(_comparisons(report))
    earlier, method = "Values of an earlier system", tuple(_method(report))
    repeat = tuple(_repeat(report)) if full else ()
    sections = [
        listed("alarms", "Alarms", *alarms),
        listed("comparisons", "Monitored comparisons", *comparisons, short="Comparisons"),
        *_series(report),
        listed("feed", "Rows that may be wrong", *_feed(report), short="Rows"),
        listed("imported", earlier, *_imported(report), short="Earlier system"),
        listed("period-notes", "Notes", *_notes(report)),
        listed("method", "Method", *method),
        listed("provenance", "Provenance", *repeat),
    ]
    filed = (*alarms, *comparisons, tree.Heading("Method"), *method, *repeat)
    return document_of(
        asked,
        title=f"Fairness monitor: {report.model}",
        beside=_span(report),
        verdict=_verdict(asked),
        tone=_tone(report),
        sections=sections,
        exhibits=_first_drawn(asked),
        subject=numbers.listing(list(map(name_of, report.alarms)), most=_MOST_NAMED),
        file_name="monitor",
        filed=filed if full else (),
    )


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


def _repeat(report: MonitorReport) -> Iterator[tree.Block]:
    """Yield where the counts are, how to decide by them again, and room for signatures."""
    facts = {"periods": _span(report)}
    kept = "HISTORY" if report.history == IN_MEMORY else report.history
    last = ["--at", report.periods[-1]] if report.periods else []
    line = shlex.join(["fairgauge", "monitor", "status", kept, *last])
    yield from record_blocks(
        report,
        facts,
        "To repeat this (with -c where the history was last asked other rules), run",
        line,
    )


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
    why = _said(report, open_states(report), "verdict")
    if undecided and why:
        return f"{state}: {' '.join(why)}"
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


def _tone(report: MonitorReport) -> tree.Tone:
    undecided = report.state not in (MonitorState.ALARM, MonitorState.NO_ALARM)
    doubtful = undecided or report.undefined or report.concerning(report.periods[-1])
    if report.verdict is Outcome.PASS and doubtful:
        return tree.Tone.UNSURE
    return TONES.get(report.verdict, tree.Tone.UNSURE)


def _alarms(report: MonitorReport) -> Iterator[tree.Block]:
    if report.alarms:
        stated = alarm_statements(report)
        yield tree.Items(tuple(_said(report, stated, "headline", "found", "certain")))


def _comparisons(report: MonitorReport) -> Iterator[tree.Block]:
    if not report.comparisons:
        yield from map(tree.Paragraph, _said(report, open_states(report), "verdict"))
        return
    yield _overview(report)
    baselines = [
        f"{name_of(each)}. {describe_baseline(each, each.baseline)}"
        for each in report.comparisons
        if each.baseline is not None
    ]
    if baselines:
        yield tree.Items(tuple(baselines))


def _overview(report: MonitorReport) -> tree.Table:
    columns = (
        tree.Column("comparison", numeric=False),
        tree.Column("state", numeric=False),
        tree.Column("tolerated", numeric=False),
        tree.Column("last period"),
        tree.Column("95% CI", joined=True),
        tree.Column("evidence"),
        tree.Column("alarm at", joined=True),
    )
    note = (
        "While a value is tolerated, the evidence that it is not is on average at most the number "
        f"of {report.length}s."
    )
    rows = tuple(map(_row, report.comparisons))
    return tree.Table("Every rule for every group", columns, rows, notes=(note,))


def _row(each: MonitoredComparison) -> tuple[tree.Cell, ...]:
    value, ends = "-", ""
    last = each.points[-1] if each.points else None
    if last is not None and last.value is not None:
        value = metric_number(each.definition, last.value)
        ends = metric_range(each.definition, last.low, last.high)
    elif last is not None:
        value = "waits for labels" if last.waits else "undefined"
    approximate = each.detector is Detector.ASYMPTOTIC
    return (
        tree.Cell(name_of(each), name=True),
        tree.Cell(
            f"{each.state}{' (approximate)' if approximate else ''}", tone=_TONES[each.state]
        ),
        tree.Cell(tolerated_words(each)),
        tree.Cell(value),
        tree.Cell(ends),
        tree.Cell(evidence_text(each.evidence)),
        tree.Cell(evidence_text(each.threshold)),
    )


def _series(report: MonitorReport) -> Iterator[tree.Section]:
    """Yield the charts of every comparison, but what the first page has of the gravest."""
    ordered = report.gravest
    parts = tuple(
        tree.Section(f"series-{i}", name_of(each), tuple(_charts(each, report))[not i:],
                folded=each.alarm is None and len(ordered) > 1)
        for i, each in enumerate(ordered[:_MOST_CHARTS])
        if each.points
    )  # fmt: skip
    if parts:
        yield listed("series", "Over time", *parts)


def _first_drawn(report: MonitorReport) -> list[tree.Block]:
    """Return the comparison that the headline is about, over time, from the same side."""
    found: list[tree.Block] = []
    for each in report.gravest[:1]:
        chart, *_ = _charts(each, report)
        assert isinstance(chart, tree.TimeChart)
        caption = _drawn_caption(report, each)
        found.append(replace(chart, caption=caption or chart.caption))
    return found


def _drawn_caption(report: MonitorReport, each: MonitoredComparison) -> str:
    """Return what a chart over time is of, in words: who is compared with whom, and what may be."""
    s = drawn(report, each)
    text = told(report).language.say("drawn", s.of.kind if s.of else "number", s)
    return f"{text}; allowed: {tolerated_words(each)}" if text else ""


def _charts(each: MonitoredComparison, report: MonitorReport) -> Iterator[tree.Block]:
    # periods without counts have a place, so that no line spans them
    points_by_time = {point.period: point for point in each.points}
    times = tuple(sorted({*points_by_time, *report.absent}))
    since = alarm = None
    if each.alarm is not None:
        since, alarm = times.index(each.alarm.since), times.index(each.alarm.period)
    kind = unit(each.definition)
    held = [points_by_time.get(time) for time in times]
    marks = tuple(
        tree.Mark(p.value, p.low, p.high, p.sparse) if p else tree.Mark(None) for p in held
    )
    length = report.length
    notes = [f"Dots: single {length}s, with their 95% CIs as bars. Green band: allowed."]
    if each.alarm is not None:  # what an alarm is about, and not all periods
        after = each.alarm.after
        first, last = after.first or "", after.last or ""
        running = tuple(tree.Mark(after.value if first <= time <= last else None) for time in times)
        notes.append(
            f"Line without dots: the {length}s from {first} to {last} together, after the change. "
            "The red line is the alarm; the shade begins with the change."
        )
    else:
        running = tuple(
            tree.Mark(p.running, p.running_low, p.running_high) if p else tree.Mark(None)
            for p in held
        )
        if any(mark.value is not None for mark in running):
            notes.append(
                f"Line without dots: all {length}s so far; the blue band is its 95% CI, for all "
                f"{length}s together."
            )
    points = " (pp)" if kind is tree.Unit.POINTS else ""
    yield tree.TimeChart(
        f"{metric_words(each.definition)}{points}, {sides_of(each)}, tolerated "
        f"{tolerated_words(each)}",
        times,
        marks,
        kind,
        running=running,
        allowed=(each.low, each.high),
        since=since,
        alarm=alarm,
        notes=(" ".join(notes),),
    )
    yield tree.TimeChart(
        "Evidence that it left the tolerated range (logarithmic)",
        times,
        tuple(tree.Mark(p.evidence if p else None) for p in held),
        tree.Unit.NUMBER,
        threshold=each.threshold,
        since=since,
        alarm=alarm,
        notes=(f"An alarm needs {evidence_text(each.threshold)}, the dashed line.",),
    )
    if each.alarm is None:
        yield tree.Paragraph(each.says)


def _feed(report: MonitorReport) -> Iterator[tree.Block]:
    if report.findings:
        yield tree.Items(tuple(each.says for each in report.findings))


def _imported(report: MonitorReport) -> Iterator[tree.Block]:
    if not report.imported:
        return
    names = dict.fromkeys((each.metric, each.feature, each.group) for each in report.imported)
    for metric, feature, group in list(names)[:_MOST_CHARTS]:
        held = [
            each
            for each in report.imported
            if (each.metric, each.feature, each.group) == (metric, feature, group)
        ]
        yield tree.TimeChart(
            f"{metric}, {called(feature)}: {called(group)}",
            tuple(each.period for each in held),
            tuple(tree.Mark(each.value) for each in held),
            tree.Unit.NUMBER,
            notes=("Values without counts: they are shown, and raise no alarm.",),
        )


def _notes(report: MonitorReport) -> Iterator[tree.Block]:
    rules = monitored_rules(report)
    notes = [
        describe_unmatched(each, rules[each.rule])
        for each in report.unmatched
        if each.group is not None or each.reason is not None
    ]
    notes += [
        f"{name_of(each)}: {without_baseline(each)}"
        for each in report.comparisons
        if each.lacks_baseline
    ][:_MOST_NAMED]
    notes += [describe_sparse_group(each, report) for each in report.sparse_groups][:_MOST_NAMED]
    notes += [
        f"{name_of(each)}. {text}"
        for each in report.undefined
        for text in describe_undefined(each)
        if not {point.period for point in each.undefined} <= set(report.overdue)  # see _labels
    ][:_MOST_NAMED]
    notes += _excluded(report)
    if report.absent:
        named = numbers.listing(list(report.absent), most=_MOST_NAMED)
        notes.append(f"Periods without counts: {named}.")
    notes += _labels(report)
    late = [f"{called(group)} ({called(feature)}, from {first})"
            for feature, group, first in report.late_groups]  # fmt: skip
    late += [f"class {called(name)} of {called(feature)}, from {first}"
             for feature, name, first in report.late_classes]  # fmt: skip
    if late:
        notes.append(
            f"Not in the first period: {numbers.listing(late, most=_MOST_NAMED)}. Their share of "
            "alpha comes from the fifth that is kept for later groups and classes."
        )
    if notes:
        yield tree.Items(tuple(notes))


def _labels(report: MonitorReport) -> Iterator[str]:
    """Yield which periods entered without all labels, and which wait: for labels, or in turn."""
    within = report.spec["monitor"].get("labels_within")
    absent = {*report.waiting, *report.overdue}
    entered = [each for each in report.unlabelled if each not in absent]
    if entered:
        yield (
            f"Decided without all labels, which "
            f"{numbers.numbered(within, f'later {report.length}s')} did not bring: "
            f"{numbers.listing(entered, most=_MOST_NAMED)}. Their rows without one are excluded."
        )
    if report.overdue:
        named = numbers.listing(list(report.overdue), most=_MOST_NAMED)
        yield (
            f"Labels that are due and missing: of {named}. {_when_due(report)} Rules that need "
            "labels wait. Add the periods again with their labels (--replace), or find out why "
            "they are missing."
        )
    if report.waiting:
        count = len(report.waiting)
        lacking = len(set(report.waiting) & set(report.unlabelled))
        turn = count - lacking
        split = (
            f": {lacking:,} {numbers.plural(lacking, 'lacks', 'lack')} some and "
            f"{turn:,} {numbers.plural(turn, 'waits for its', 'wait for their')} turn"
        )
        until = (
            f" or {within:,} later {numbers.plural(within, 'period is', 'periods are')} there."
            if within is not None
            else "; labels_within sets after how many later periods one enters with those it has."
        )
        yield (
            f"{count:,} {numbers.plural(count, 'period waits', 'periods wait')} for labels, from "
            f"{report.waiting[0]}{split if turn else ''}. Rules that need labels enter a period, "
            f"in order, once no row lacks one{until}"
        )


def _when_due(report: MonitorReport) -> str:
    """Return when labels are due, and why then."""
    if not report.labels_due:
        return (
            "No run has seen labels come after their rows, so that they are due with them; where "
            "they come later, labels_within states when."
        )
    later = numbers.numbered(report.labels_due, f"later {report.length}s")
    due = f"They are due once {later} {numbers.plural(report.labels_due, 'is', 'are')} there"
    if report.spec["monitor"].get("labels_within") is not None:
        return f"{due} (labels_within)."
    return f"{due}: they mostly came earlier."


def _excluded(report: MonitorReport) -> Iterator[str]:
    """Yield how many rows are excluded, or in no interval, of all periods and of the last."""
    totals: Counter[str] = Counter()
    for each in report.rows:
        totals.update(each.excluded)
    unit = counted_unit(report)
    total = numbers.numbered(sum(each.rows for each in report.rows), unit)
    total += counted_each_time(report)
    for why, rows in totals.most_common():
        last = report.rows[-1]
        found, in_last = numbers.count(rows), numbers.count(last.excluded.get(why, 0))
        if unit_excluded(why, unit) == unit:
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


def _method(report: MonitorReport) -> Iterator[tree.Block]:
    detectors = {each.detector for each in report.comparisons}
    if report.comparisons:
        yield tree.Paragraph(METHOD)
    if Detector.ASYMPTOTIC in detectors:
        yield tree.Paragraph(_ASYMPTOTIC)
    if report.comparisons:
        shares = sorted({each.alpha for each in report.comparisons})
        ends = f"{shares[0]:.2g}" if len(shares) == 1 else f"{shares[0]:.2g} to {shares[-1]:.2g}"
        length = f"{report.horizon:,} {report.length}s"
        written = monitored_rules(report)
        promise = f"at most {100 * report.alpha:g}% within {length}, over all comparisons"
        if different := independent_periods(report):
            promise += f", where {different}"
        facts = {
            "probability of a false alarm": promise,
            "comparisons": f"{len(report.comparisons):,}",
            "probability for each comparison": ends,
            "rules": "; ".join(dict.fromkeys(written[e.rule] for e in report.comparisons)),
            "history": report.history,
            **{
                f"reference of {called(each.feature)}": f"{called(each.group)}, the largest group "
                f"of {each.period}, when monitoring began"
                for each in report.largest_groups
            },
        }
        yield tree.Facts(tuple(facts.items()))


def finding_text(finding: HistoryFinding) -> str:
    """Return what may be wrong with the rows of a period, and what to do, as a sentence."""
    return Grammar({}).say("finding", "text", f=finding) or ""


def history_document(health: HistoryHealth, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of the health of a history."""
    del full  # it has no summary
    count, size = len(health.findings), len(health.periods)
    span = numbers.numbered(size, "periods")
    if health.periods:
        span += f", {health.periods[0]} to {health.periods[-1]}"
    sentences = tree.Items(tuple(each.says for each in health.findings))
    return document_of(
        health,
        title=f"History of {health.model}",
        beside=span,
        verdict=numbers.numbered(count, "findings").upper()
        if count
        else "NOTHING FOUND"
        if size
        else "NO PERIODS"
        if health.unconsidered is None
        else "NO PERIOD CONSIDERED",
        tone=tree.Tone.BAD if count else tree.Tone.GOOD if size else tree.Tone.UNSURE,
        sections=[listed("feed", "Rows that may be wrong", sentences)] if count else [],
        file_name="history",
    )


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


STREAMS = {"periods": _periods}
