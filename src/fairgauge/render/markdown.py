"""The report in Markdown: for pull requests, step summaries of pipelines, and model cards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairgauge.enums import Outcome, Status
from fairgauge.render import numbers, pairwise_section, question
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.method_descriptions import explained
from fairgauge.render.metric_meanings import distance, is_signed, rate_title, title
from fairgauge.render.model_card import metadata
from fairgauge.render.outline import outline, verdicts_by_rule
from fairgauge.render.short_sentences import (
    TOO_FEW,
    central_rates,
    certainty,
    in_short,
    rate_shown,
    reading,
    tallied,
    turning,
    value,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.render.outline import Section
    from fairgauge.report.estimates import Estimate
    from fairgauge.report.report import Report

_SPECIAL = re.compile(r"([\\`*_|~$]|\[(?![-+\d∞])|\](?=[(\[:]))")
_OPENING = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]\s))")
_CALLING = re.compile(r"([#@:])(?=[\w+-])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BARE = re.compile(r"(?i)\b(https?|ftp|www|mailto|xmpp)(?=[\\.:])")
_NAME = 60
_MOST_GROUPS = 30
_MOST_ROWS = 60
_MOST_STRATA = 12
_MOST_VERDICTS = 30
_MOST_NOTES = 12
_MOST_METRICS = 8
_RATES = 6
_MARKS = {
    Outcome.PASS: "✅",
    Outcome.FAIL: "❌",
    Outcome.INCONCLUSIVE: "❔",
    Outcome.NOT_EVALUATED: "➖",
    Outcome.NONE: "➖",
}


def to_markdown(report: Report, *, card: bool = False) -> str:
    """Write the report in GitHub's Markdown; with ``card``, a model card's metadata in front."""
    lines = [*(metadata(report) if card else ()), *_lines(report)]
    return "\n".join(lines) + "\n"


def escape(text: object) -> str:
    r"""Return a text that Markdown shows as it is: no markup, no links, one line.

    >>> escape("<b>*x*</b>"), escape("www.example.org")
    ('&lt;b&gt;\\*x\\*&lt;/b&gt;', 'www&#8203;.example.org')
    """
    shown = "".join(_ENTITIES.get(character, character) for character in printable(text))
    shown = _CALLING.sub(r"\1&#8203;", _SPECIAL.sub(r"\\\1", shown))
    shown = _OPENING.sub(r"\1&#8203;\2", shown)
    return _BARE.sub(lambda found: f"{found[0]}&#8203;", shown)


def _lines(report: Report) -> Iterator[str]:
    told = outline(report)
    yield f"# Fairness audit of {_name(question.source(report))}"
    yield from _verdicts(report)
    column = question.name(report.spec.get("strata") or "the stratum")
    said = in_short(told.sections, column)
    if said:
        yield ""
        yield from (f"- {escape(each)}" for each in said)
    yield ""
    yield from _table(
        ["asked", ""], [[word, escape(text)] for word, text in question.question(report)]
    )
    excluded = question.excluded(report)
    if excluded:
        yield ""
        rows = [[escape(why), numbers.count(n)] for why, n in excluded]
        yield from _table(["excluded", "rows"], rows)
    for section in told.sections:
        yield from _section(section, column)
    if told.whole:
        yield from ["", "## All rows", ""]
        yield from _estimates(told.whole)
    yield from _methods(report)
    yield from _notes(report)
    yield ""
    yield f"<sub>fairgauge {report.version}, {escape(report.data.fingerprint[:19])}</sub>"


def _verdicts(report: Report) -> Iterator[str]:
    if not report.verdicts:
        return
    yield ""
    yield f"**Verdict: {_MARKS[report.verdict]} {report.verdict}**"
    yield ""
    rows = []
    for rule, found in verdicts_by_rule(report):
        rows.append([f"**{escape(question.name(rule))}**", "", tallied(found)])
        for each in found:
            where = f"{_name(each.feature)} " if each.feature else ""
            if each.outcome is not Outcome.PASS:
                shown = escape(shorten(printable(each.says), 400))
                mark = f"{_MARKS[each.outcome]} {each.outcome}"
                rows.append([mark, f"{where}{_name(each.group)}", shown])
    yield from _table(["rule", "of", "because"], rows[:_MOST_VERDICTS])
    yield from _more(len(rows) - _MOST_VERDICTS)


def _section(section: Section, column: str) -> Iterator[str]:
    of = f", {_name(section.of_class)}" if section.of_class else ""
    at = f", threshold {section.threshold:g}" if section.threshold is not None else ""
    yield from ["", f"## {_name(section.feature)}{of}{at}", ""]
    rates = central_rates(section.groups)[:_RATES]
    largest = sorted(section.groups, key=lambda group: -group.n)[:_MOST_GROUPS]
    rows = []
    for group in section.groups:
        if group in largest:
            values = [rate_shown(group, rate) for rate in rates]
            share = numbers.percent(group.share)
            rows.append([_name(group.group), numbers.count(group.n), share, *values])
    yield from _table(["group", "n", "share", *map(rate_title, rates)], rows, numeric=True)
    yield from _more(len(section.groups) - _MOST_GROUPS)
    if section.estimates:
        references = {each.reference for each in section.estimates}
        against = reading(references.pop()) if len(references) == 1 else "the reference"
        yield ""
        several = section.focus is None
        each_one = ", in each metric the group farthest from no difference" if several else ""
        yield f"Disparities against {escape(against)}{each_one}:"
        yield ""
        farthest = [section.farthest(metric) for metric in section.metrics]
        yield from _estimates([each for each in farthest if each], named=several)
        if len(section.compared) > 1:
            yield ""
            yield from _matrix(section)
    yield from _every_pair(section)
    if section.across:
        yield from ["", "All groups at once:", ""]
        yield from _estimates(section.across)
    yield from _strata(section, column)
    for each in section.unusable:
        few = ", ".join(map(_name, each.groups[:5])) + (" ..." if len(each.groups) > 5 else "")
        whom = f" for {few}" if each.status is not Status.NOT_APPLICABLE else ""
        names = ", ".join(map(escape, each.metrics))
        yield ""
        yield f"{names}: {str(each.status).replace('_', ' ')}{whom}: {escape(each.reason)}"


def _estimates(estimates: Sequence[Estimate], *, named: bool = False) -> Iterator[str]:
    farthest = sorted(estimates, key=distance, reverse=True)[:_MOST_ROWS]
    shown = [each for each in estimates if each in farthest]
    rows = []
    for each in shown:
        signed = is_signed(each.metric)
        called = f"**{escape(each.metric)}** {escape(title(each.metric))}".strip()
        status = "" if each.status is Status.OK else f" ({str(each.status).replace('_', ' ')})"
        rows.append(
            [
                called,
                *([_name(each.group)] if named else []),
                numbers.number(each.value, signed=signed) + status,
                numbers.interval(each.low, each.high, signed=signed),
                escape(words(each) + certainty(each, interval=False)),
            ]
        )
    heads = ["metric", *(["group"] if named else []), "value", "interval", "in words"]
    yield from _table(heads, rows)
    yield from _more(len(estimates) - _MOST_ROWS)


def _matrix(section: Section) -> Iterator[str]:
    """Yield the values of all groups, a row each."""
    ranked = sorted(section.estimates, key=distance, reverse=True)
    kept = list(dict.fromkeys(each.group for each in ranked))[:_MOST_GROUPS]
    values = {(each.group, each.metric): each for each in section.estimates}
    rows = [
        [
            _name(group),
            *(value(values.get((group, metric))) for metric in section.metrics),
        ]
        for group in section.compared
        if group in kept
    ]
    yield from _table(["group", *map(escape, section.metrics)], rows, numeric=True)
    if any(each.status is Status.TOO_FEW for each in section.estimates):
        yield ""
        yield TOO_FEW
    yield from _more(len(section.compared) - _MOST_GROUPS)


def _every_pair(section: Section) -> Iterator[str]:
    """Yield how many pairs of groups differ in each rate, and the few that do most."""
    if section.pairs:
        yield ""
        yield f"{pairwise_section.heading(section.pairs)}:"
        yield ""
        for found in pairwise_section.by_rate(section).values():
            told, lines = pairwise_section.named(found, _NAME)
            yield f"- {escape(told)}"
            yield from (f"  - {escape(each)}" for each in lines)


def _strata(section: Section, column: str) -> Iterator[str]:
    if not section.strata:
        return
    yield ""
    yield f"### {escape(column)} held fixed"
    turns = section.turns()
    if turns:
        yield ""
        yield from (f"- {escape(turning(*pair, column))}" for pair in turns)
    pooled = section.farthest_pooled()
    if pooled:
        yield ""
        yield from _estimates(pooled, named=True)
    for metric in section.stratified:
        inside = [e for e in section.estimates_in_strata if e.metric == metric]
        own = [e for e in inside if section.focus in (None, e.group)]
        ranked = sorted(own, key=distance, reverse=True)[:_MOST_STRATA]
        rows = [
            [
                _name(each.stratum),
                _name(each.group),
                numbers.number(each.value, signed=is_signed(metric)),
                numbers.interval(each.low, each.high, signed=is_signed(metric)),
                escape(words(each)),
            ]
            for each in own
            if each in ranked
        ]
        yield ""
        yield from _table([escape(column), "group", escape(metric), "interval", "in words"], rows)
        yield from _more(len(own) - _MOST_STRATA)


def _methods(report: Report) -> Iterator[str]:
    """Yield how the intervals were made, and why so."""
    found = explained(report)
    if found:
        yield ""
        yield "## How the intervals were made"
        yield ""
        for each in found:
            more = len(each.of) - _MOST_METRICS
            of = ", ".join(each.of[:_MOST_METRICS]) + (f" and {more:,} more" if more > 0 else "")
            yield f"- **{escape(each.name)}** ({escape(of)}): {escape(each.says)}"


def _notes(report: Report) -> Iterator[str]:
    notes = [each for each in report.diagnostics if each.code != "excluded"]
    if notes:
        yield ""
        yield "## Notes"
        yield ""
        for each in notes[:_MOST_NOTES]:
            where = f"{_name(each.feature)}: " if each.feature else ""
            yield f"- {each.level}: {where}{escape(shorten(printable(each.message), 400))}"
        yield from _more(len(notes) - _MOST_NOTES)


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: bool = False
) -> Iterator[str]:
    """Yield a table; with ``numeric``, all columns but the first stand to the right."""
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'|'.join('---:' if numeric else '---' for _ in heads[1:])}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _more(left: int) -> Iterator[str]:
    if left > 0:
        yield ""
        yield f"*and {left:,} more in the JSON report*"


def _name(text: object) -> str:
    return escape(shorten(printable(text), _NAME))
