"""What the document of a monitor has besides its fields: comparisons over time, and notes."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from fairgauge.enums import Outcome
from fairgauge.reasons import ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render._document_tree import Unit
from fairgauge.render.documents.report_notes import TONES, record_blocks
from fairgauge.render.grammar import Grammar, describe_reason, in_words, spoken
from fairgauge.render.page import first_page, said
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.results import monitor_results
from fairgauge.results.codec import to_dict
from fairgauge.results.monitor_results import MonitoredComparison, MonitorReport, MonitorState
from fairgauge.start.records import replace
from fairgauge.statements.monitor import alarm_statements, chart_statement, open_states

_DECIDED = (Outcome.FAIL, Outcome.PASS)
_MOST_NAMED, _MOST_CHARTS = 10, 40


def _facts(report: MonitorReport) -> dict[str, object]:
    written = metrics.monitored_rules(report)
    alphas = sorted({each.alpha for each in report.comparisons})
    detectors = {each.detector for each in report.comparisons}
    undecided = report.state is not MonitorState.NO_ALARM and report.verdict is report.inconclusive
    facts: dict[str, object] = {
        "n": len(report.alarms),
        "state": str(report.state),
        "counted": str(report.inconclusive) if undecided and report.verdict in _DECIDED else None,
        "undefined": len(report.undefined),
        "faults": bool(report.faults),
        "why": _open_sentences(report) if report.state is not MonitorState.NO_ALARM else "",
    }
    return {
        "verdict": spoken().say("monitored_text", "verdict", **facts) or "",
        "tone": str(_tone(report)),
        "asymptotic": monitor_results.Detector.ASYMPTOTIC in detectors,
        "within": report.spec["monitor"].get("labels_within"),
        "insufficient": "" if report.comparisons else _open_sentences(report),
        "alphas": " to ".join(dict.fromkeys(f"{a:.2g}" for a in alphas[:1] + alphas[-1:])),
        "rules": "; ".join(dict.fromkeys(written[each.rule] for each in report.comparisons)),
    }


def _open_sentences(report: MonitorReport) -> str:
    return " ".join(said(report, open_states(report), "verdict"))


def finding_text(finding: monitor_results.HistoryFinding) -> str:
    """Return what may be wrong with the rows of a period, and what to do, as a sentence."""
    return Grammar({}).say("finding", "text", f=finding) or ""


def _tone(report: MonitorReport) -> tree.Tone:
    undecided = report.state not in (MonitorState.ALARM, MonitorState.NO_ALARM)
    doubtful = undecided or report.undefined or report.concerning(report.periods[-1])
    if report.verdict is Outcome.PASS and doubtful:
        return tree.Tone.UNSURE
    return TONES.get(report.verdict, tree.Tone.UNSURE)


def _frame(report: MonitorReport, **_: bool) -> dict[str, object]:
    drawn = [_chart(each, report) for each in report.gravest[:1]]
    for each in report.gravest[:1]:  # in words: who is compared with whom, and what may be
        s = chart_statement(report, each)
        for text in said(report, [s], s.of.kind if s.of else "number"):
            drawn = [replace(drawn[0], caption=f"{text}; {_tolerated(each)}")]
    named = [*map(name_of, report.alarms)]
    return {"exhibits": drawn, "subject": numbers.listing(named, most=_MOST_NAMED)}


def _comparison_rows(report: MonitorReport) -> Iterator[dict[str, object]]:
    words, asymptotic = spoken().terms["monitored"], monitor_results.Detector.ASYMPTOTIC
    for each in report.comparisons:
        value, ends = "-", ""
        last = each.points[-1] if each.points else None
        if last is not None and last.value is not None:
            value = metrics.metric_value(each.definition, last.value)
            ends = metrics.metric_range(each.definition, last.low, last.high)
        elif last is not None:
            value = words["waits" if last.waits else "undefined"]
        approximate = f" ({words['approximate']})" * (each.detector is asymptotic)
        yield {
            "name": name_of(each),
            "state": in_words(str(each.state)) + approximate,
            "tolerated": tolerated_words(each),
            "value": value,
            "interval": ends,
            "evidence": evidence_text(each.evidence),
            "threshold": evidence_text(each.threshold),
        }


def _chart(each: MonitoredComparison, report: MonitorReport) -> tree.TimeChart:
    points = {point.period: point for point in each.points}
    times = tuple(sorted({*points, *report.absent}))  # no line spans periods without counts
    held, kind = [points.get(time) for time in times], metrics.unit(each.definition)
    note = spoken().say("drawn", "note", alarm=each.alarm, length=report.length) or ""
    named = metrics.metric_words(each.definition) + metrics.unit_name(kind)
    marks = (tree.Mark(p.value, p.low, p.high, p.sparse) if p else tree.Mark(None) for p in held)
    caption = f"{named}, {sides_of(each)}, {_tolerated(each)}"
    drawn = tree.TimeChart(caption, times, tuple(marks), kind, (each.low, each.high), notes=(note,))
    if each.alarm is None:
        return drawn
    return replace(drawn, since=times.index(each.alarm.since), alarm=times.index(each.alarm.period))


def _small_multiples(report: MonitorReport) -> Iterator[tree.Block | str]:
    # the first page has the chart of the gravest; one note is of all charts
    drawn = [_chart(each, report) for each in report.gravest[1:_MOST_CHARTS] if each.points]
    yield from (replace(each, notes=()) for each in drawn)
    yield from dict.fromkeys(note for each in drawn for note in each.notes)


def _tolerated(each: MonitoredComparison) -> str:
    return spoken().say("drawn", "tolerated", text=tolerated_words(each)) or ""


def _note_rows(report: MonitorReport) -> Iterator[str]:
    # what rules and comparisons lack: what they match, a baseline, data, a value
    rules = metrics.monitored_rules(report)
    for each in report.unmatched:
        if each.group is not None or each.reason is not None:
            yield describe_unmatched(each, rules[each.rule])
    lacking = [e for e in report.comparisons if e.lacks_baseline or e in report.undefined]
    yield from (each.says for each in lacking[:_MOST_NAMED])


def _excluded_rows(report: MonitorReport) -> Iterator[dict[str, object]]:
    totals: Counter[str] = Counter()
    for each in report.rows:
        totals.update(each.excluded)
    for why, rows in totals.most_common():
        yield {"reason": why, "rows": rows, "last": report.rows[-1].excluded.get(why, 0)}


def _repeat(report: MonitorReport) -> Iterator[tree.Block]:
    kept = "HISTORY" if report.history == monitor_results.IN_MEMORY else report.history
    last = ["--at", report.periods[-1]] if report.periods else []
    line = shlex.join(["fairgauge", "monitor", "status", kept, *last])
    yield from record_blocks(report, {}, line, other_rules=True)


def _periods(report: MonitorReport) -> Iterator[dict[str, object]]:
    # a tolerated range without a lower or upper limit has none in its column
    for each in report.comparisons:
        own: dict[str, object] = {"model": report.model, "class": each.class_}
        own["reference"] = each.reference or None
        for name, end in (("tolerated_low", each.low), ("tolerated_high", each.high)):
            own[name] = end if math.isfinite(end) else None
        names = ("rule", "metric", "feature", "group", "threshold")
        own |= {name: getattr(each, name) for name in names}
        raised = False
        for point in each.points:
            raised = raised or (each.alarm is not None and point.period == each.alarm.period)
            yield to_dict(point) | own | {"alarm": raised}


STREAMS: Mapping[str, Callable[..., object]] = {
    "facts": _facts,
    "frame": _frame,
    "alarms": lambda report: said(report, alarm_statements(report), "headline", "found", "certain"),
    "compared": _comparison_rows,
    "baselines": lambda report: [
        f"{name_of(each)}. {describe_baseline(each, each.baseline)}"
        for each in report.comparisons
        if each.baseline is not None
    ],
    "series": _small_multiples,
    "noted": _note_rows,
    "excluded_rows": _excluded_rows,
    "feed": lambda report: [each.says for each in report.findings],
    "provenance": _repeat,
    "periods": _periods,
}
HISTORY: Mapping[str, Callable[..., object]] = {
    "facts": lambda health: {
        "verdict": first_page(health).headline,
        "tone": "bad" if health.findings else "good" if health.periods else "unsure",
    },
    "feed": lambda health: [each.says for each in health.findings],
}


_MOST_EVIDENCE = 1_000_000


def _word_place(place: str, **facts: object) -> str:
    return spoken().say("monitored_text", place, **facts) or ""


def describe_comparison(each: MonitoredComparison) -> str:
    """Describe what a rule came to for a group: its alarm, or how far the evidence is from one."""
    alarm, undefined = each.alarm, each.undefined
    reason = each.open or (undefined[-1].reason if undefined else None)
    facts: dict[str, object] = {
        "value": alarm and metrics.metric_value(each.definition, alarm.after.value),
        "lacking": each.group if each.lacks_baseline else None,
        "because": describe_reason(reason) or None, "evidence": evidence_text(each.evidence or 0.0),
        "threshold": evidence_text(each.threshold), "state": str(each.state),
    }  # fmt: skip
    text = _word_place("comparison", alarm=alarm, undefined=undefined, **facts)
    return f"{capitalised(metrics.metric_words(each.definition))}, {sides_of(each)}: {text}"


def describe_unmatched(each: monitor_results.Unmatched, rule: str) -> str:
    """Describe a rule, in words, that compares nothing of a group, of a feature, or at all."""
    facts: dict[str, object] = {"u": each, "why": describe_reason(each.reason)}
    facts["reference"] = getattr(each.reason, "code", None) is ReasonCode.IS_REFERENCE
    return f"{capitalised(rule)} {_word_place('unmatched', **facts)}"


def name_of(each: MonitoredComparison) -> str:
    """Return the name of a comparison: its metric and whose it is."""
    return f"{metrics.metric_words(each.definition)}, {called(each.feature)}: {sides_of(each)}"


def tolerated_words(each: MonitoredComparison) -> str:
    """Return the tolerated values of a comparison in words: ``0.8 or more``."""
    ends = [None if math.isinf(end) else _end(each, end) for end in (each.low, each.high)]
    pp = metrics.unit_name(metrics.unit(each.definition))
    return _word_place("tolerated", ends=ends, pp=pp, any=each.lacks_baseline)


def _end(each: MonitoredComparison, value: float) -> str:
    kind, plus = metrics.unit(each.definition), "+" if metrics.signed(each.definition) else ""
    text = f"{100 * value:{plus}.4g}" if kind is Unit.POINTS else f"{value:.4g}"
    return numbers.minus(f"{100 * value:g}%" if kind is Unit.PERCENT else text)


def describe_baseline(each: MonitoredComparison, baseline: monitor_results.Baseline) -> str:
    """Describe a baseline, and what its uncertainty makes of the tolerated values."""
    value = metrics.metric_value(each.definition, baseline.value)
    ends = metrics.metric_range(each.definition, baseline.low, baseline.high)
    facts = {"value": value, "ends": ends, "tolerated": tolerated_words(each)}
    return _word_place("baseline", b=baseline, **facts)


def sides_of(each: MonitoredComparison) -> str:
    """Return which group is compared with which, and of which class of several."""
    sides = called(each.group) + (f" vs {called(each.reference)}" if each.reference else "")
    return sides if each.class_ is None else f"{sides} ({called(each.class_)})"


def evidence_text(value: float | None) -> str:
    """Return evidence in few digits, and no more than a million: an alarm needs some thousands."""
    if value is None:
        return "-"
    if value >= _MOST_EVIDENCE:
        return f">{_MOST_EVIDENCE:,}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
