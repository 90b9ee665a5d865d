"""The report for a terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fairgauge.enums import Level, Outcome, Status
from fairgauge.render import numbers, pairwise_section, question
from fairgauge.render.display_names import printable, shorten, width
from fairgauge.render.method_descriptions import explained
from fairgauge.render.metric_meanings import distance, is_signed, rate_title, title
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
from fairgauge.render.terminal_tables import Style, clip, table, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.render.outline import Section, Unusable
    from fairgauge.report.estimates import Estimate
    from fairgauge.report.report import Report
    from fairgauge.report.verdicts import Verdict

_NARROWEST, _WIDEST = 80, 120
_MOST_GROUPS = 20
_MOST_STRATA = 10
_GROUPS_IN_STRATA = 6
_MOST_VERDICTS = 20
_MOST_NOTES = 12
_LONGEST_NOTE = 400
_MOST_METRICS = 8
_NAME = 30
_RATES = 6
_OUTCOMES = {
    Outcome.PASS: "good",
    Outcome.FAIL: "bad",
    Outcome.INCONCLUSIVE: "unsure",
    Outcome.NOT_EVALUATED: "unsure",
    Outcome.NONE: "dim",
}


def wants_colour(stream: Any) -> bool:
    """Tell whether a stream is a terminal whose user did not refuse colours (NO_COLOR)."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not refused and bool(getattr(stream, "isatty", lambda: False)())


def to_text(report: Report, *, colour: bool = False, width: int = _NARROWEST) -> str:
    """Write the report for a terminal.

    Parameters
    ----------
    colour : bool
        Whether to use ANSI colours; `wants_colour` tells for a stream.
    width : int
        Columns to use, 80 to 120.
    """
    writer = _Writer(report, Style(on=colour), min(max(width, _NARROWEST), _WIDEST))
    return "\n".join(line.rstrip() for line in writer.lines()) + "\n"


class _Writer:
    def __init__(self, report: Report, style: Style, width: int) -> None:
        self._report = report
        self._style = style
        self._width = width

    def lines(self) -> Iterator[str]:
        """Yield the report: verdict, question, exclusions, features, notes, and how to go on."""
        report, told = self._report, outline(self._report)
        source = question.name(question.source(report))
        yield self._style.bold(f"Fairness audit of {source}")
        yield ""
        yield from self._verdicts()
        yield from self._short(told.sections)
        yield from self._pairs(question.question(report))
        yield from self._excluded()
        for section in told.sections:
            yield from self._section(section)
        if told.whole:
            yield from self._heading("All rows")
            for each in told.whole:
                yield from self._estimate(each)
        yield from self._methods()
        yield from self._notes()
        yield ""
        yield self._style.dim("More: --format json or csv for every number, -o report.html for")
        yield self._style.dim("charts and definitions, `fairgauge metrics NAME` for a meaning.")

    def _heading(self, text: str) -> Iterator[str]:
        shown = clip(text, self._width - 4)
        yield ""
        yield self._style.bold(f"{shown} {'─' * (self._width - width(shown) - 1)}")

    def _wrapped(self, text: str, indent: int, style: str = "") -> Iterator[str]:
        space = " " * indent
        for line in wrap(text, self._width - indent):
            yield space + self._style.paint(line, style)

    def _pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
        for word, text in pairs:
            lines = wrap(text, self._width - 16)
            yield f"  {self._style.dim(f'{word:<13}')} {lines[0]}"
            yield from (" " * 16 + line for line in lines[1:])

    def _verdicts(self) -> Iterator[str]:
        report = self._report
        if not report.verdicts:
            return
        outcome = self._style.paint(str(report.verdict).upper(), _OUTCOMES[report.verdict])
        yield f"Verdict: {outcome}"
        room = _MOST_VERDICTS
        for rule, found in verdicts_by_rule(report):
            yield f"  {self._style.bold(question.name(rule))}  {tallied(found)}"
            open_ones = [each for each in found if each.outcome is not Outcome.PASS]
            for each in open_ones[: max(room, 0)]:
                yield from self._verdict(each)
            if len(open_ones) > room:
                yield f"    and {len(open_ones) - max(room, 0):,} more that do not pass"
            room -= len(open_ones)
        yield ""

    def _verdict(self, each: Verdict) -> Iterator[str]:
        mark = self._style.paint(str(each.outcome), _OUTCOMES[each.outcome])
        where = f"{question.name(each.feature)} " if each.feature else ""
        said = f"{where}{question.name(each.group)}: {shorten(printable(each.says), _LONGEST_NOTE)}"
        lines = wrap(said, self._width - 6 - len(each.outcome))
        yield f"    {mark}  {lines[0]}"
        yield from (f"      {line}" for line in lines[1:])

    def _short(self, sections: Sequence[Section]) -> Iterator[str]:
        """Yield the few sentences that matter."""
        said = in_short(sections, self._column)
        for each in said:
            yield from self._bulleted(each)
        if said:
            yield ""

    def _bulleted(self, text: str) -> Iterator[str]:
        lines = wrap(text, self._width - 4)
        yield f"  - {lines[0]}"
        yield from (f"    {line}" for line in lines[1:])

    @property
    def _column(self) -> str:
        return question.name(self._report.spec.get("strata") or "the stratum")

    def _excluded(self) -> Iterator[str]:
        found = question.excluded(self._report)
        shown = [
            f"{numbers.count(rows)} {'row' if rows == 1 else 'rows'} with a {shorten(why, 60)}"
            for why, rows in found
        ]
        if shown:
            yield from self._pairs([("excluded", "; ".join(shown))])

    def _section(self, section: Section) -> Iterator[str]:
        at = f", threshold {section.threshold:g}" if self._several("threshold", section) else ""
        of = f", {question.name(section.of_class)}" if section.of_class else ""
        yield from self._heading(f"{shorten(printable(section.feature), 50)}{of}{at}")
        yield from self._groups(section)
        yield from self._disparities(section)
        yield from self._every_pair(section)
        yield from self._across(section)
        yield from self._strata(section)
        yield from (line for each in section.unusable for line in self._unusable(each))

    def _several(self, what: str, section: Section) -> bool:
        found = {getattr(g, what) for g in self._report.groups if g.feature == section.feature}
        return len(found) > 1

    def _groups(self, section: Section) -> Iterator[str]:
        if not section.groups:
            return
        rates = central_rates(section.groups)[:_RATES]
        largest = sorted(section.groups, key=lambda group: -group.n)[:_MOST_GROUPS]
        shown = [group for group in section.groups if group in largest]
        rows = [
            [
                self._name(group.group),
                numbers.count(group.n),
                numbers.percent(group.share),
                *(rate_shown(group, rate) for rate in rates),
            ]
            for group in shown
        ]
        heads = ["group", "n", "share", *map(rate_title, rates)]
        yield from table(heads, rows, self._width, self._style, once=True)
        if len(section.groups) > len(shown):
            more = len(section.groups) - len(shown)
            yield f"  the {len(shown)} largest groups; {more:,} more with --format json"

    def _disparities(self, section: Section) -> Iterator[str]:
        if not section.estimates:
            return
        yield ""
        several = section.focus is None
        yield from self._wrapped(_heading_of(section), 2)
        for metric in section.metrics:
            found = section.farthest(metric)
            if found is not None:
                yield from self._estimate(found, named=several)
        if len(section.compared) > 1:
            yield ""
            yield from self._matrix(section)

    def _estimate(self, each: Estimate, *, named: bool = False) -> Iterator[str]:
        """Yield a metric and its numbers on one line, and what they say below it."""
        signed = is_signed(each.metric)
        value = numbers.number(each.value, signed=signed)
        numbered = f"{value:>8}"
        if each.low is not None:
            numbered += f" {numbers.interval(each.low, each.high, signed=signed):<18}"
        if each.status is not Status.OK:
            numbered += f" {str(each.status).replace('_', ' ')}"
        called = f"{each.metric}  {title(each.metric)}".rstrip()
        room = self._width - 4 - len(numbered)
        shown = clip(called, room)
        padding = " " * (room - width(shown))
        name, _, rest = shown.partition("  ")
        yield f"  {self._style.bold(name)}{'  ' if rest else ''}{rest}{padding}  {numbered}"
        said = words(each) or str(each.status)
        subject = f"{self._name(str(each.group))}: " if named else ""
        p_value = certainty(each, interval=False)
        yield from self._wrapped(f"{subject}{said}{p_value}", 6, "dim")

    def _matrix(self, section: Section) -> Iterator[str]:
        """Yield the values of all groups, a row each, for as many metrics as fit beside."""
        groups = list(section.compared)
        if len(groups) > _MOST_GROUPS:
            ranked = sorted(section.estimates, key=distance, reverse=True)
            kept = list(dict.fromkeys(each.group for each in ranked))[:_MOST_GROUPS]
            groups = [group for group in groups if group in kept]
        values = {(e.group, e.metric): e for e in section.estimates if e.group in groups}
        rows = [
            [self._name(g), *(value(values.get((g, metric))) for metric in section.metrics)]
            for g in groups
        ]
        yield from table(["group", *section.metrics], rows, self._width, self._style)
        if any(each.status is Status.TOO_FEW for each in values.values()):
            yield self._style.dim(f"  {TOO_FEW}")
        more = len(section.compared) - len(groups)
        if more:
            yield f"  the {len(groups)} groups farthest from no difference; {more:,} more in json"

    def _every_pair(self, section: Section) -> Iterator[str]:
        """Yield how many pairs of groups differ in each rate, and the few that do most."""
        if not section.pairs:
            return
        yield ""
        yield from self._wrapped(pairwise_section.heading(section.pairs), 2)
        for found in pairwise_section.by_rate(section).values():
            told, lines = pairwise_section.named(found, _NAME)
            yield from self._bulleted(told)
            for each in lines:
                yield from self._wrapped(each, 6, "dim")

    def _across(self, section: Section) -> Iterator[str]:
        if section.across:
            yield ""
            yield from self._wrapped("All groups at once", 2)
            for each in section.across:
                yield from self._estimate(each)

    def _strata(self, section: Section) -> Iterator[str]:
        if not section.strata:
            return
        column = self._column
        yield ""
        yield from self._wrapped(f"{column} held fixed ({len(section.strata):,} strata)", 2, "bold")
        if not section.focus:
            for margin, pooled in section.turns():
                yield from self._bulleted(turning(margin, pooled, column))
        for each in section.farthest_pooled():
            yield from self._estimate(each, named=section.focus is None)
        for metric in section.stratified:
            yield ""
            yield from self._in_strata(section, metric, column)

    def _in_strata(self, section: Section, metric: str, column: str) -> Iterator[str]:
        inside = [e for e in section.estimates_in_strata if e.metric == metric]
        groups = [section.focus] if section.focus else list(section.compared)[:_GROUPS_IN_STRATA]
        ranked = sorted((e for e in inside if e.group in groups), key=distance, reverse=True)
        extreme = list(dict.fromkeys(str(e.stratum) for e in ranked))[:_MOST_STRATA]
        shown = [stratum for stratum in section.strata if stratum in extreme]
        values = {(str(e.stratum), str(e.group)): e for e in inside}
        if section.focus:
            yield from self._focus_in_strata(section, section.focus, metric, column, shown, values)
        else:
            yield f"  {self._style.bold(metric)} in each {column}"
            rows = [
                [self._name(stratum), *(value(values.get((stratum, g))) for g in groups)]
                for stratum in shown
            ]
            heads = [column, *(self._name(group) for group in groups)]
            yield from table(heads, rows, self._width, self._style)
        more = len(section.strata) - len(shown)
        if more:
            yield f"  the {len(shown)} strata farthest from no difference; {more:,} more in json"

    def _focus_in_strata(
        self,
        section: Section,
        group: str,
        metric: str,
        column: str,
        shown: Sequence[str],
        values: Mapping[tuple[str, str], Estimate],
    ) -> Iterator[str]:
        sizes = {g.stratum: g.n for g in section.groups_in_strata if g.group == group}
        rows = [
            [
                self._name(stratum),
                numbers.count(sizes.get(stratum)),
                value(each := values.get((stratum, group)), interval=True),
                words(each) if each else "no comparison",
            ]
            for stratum in shown
        ]
        heads = [column, f"n {self._name(group)}", metric, ""]
        yield from table(heads, rows, self._width, self._style, prose=True)

    def _unusable(self, each: Unusable) -> Iterator[str]:
        shown = _some(each.metrics)
        whom = ""
        if each.status is not Status.NOT_APPLICABLE:
            few = ", ".join(self._name(group) for group in each.groups[:4])
            more = f" and {len(each.groups) - 4} more" if len(each.groups) > 4 else ""
            whom = f" for {few}{more}"
        status = str(each.status).replace("_", " ")
        yield ""
        yield from self._wrapped(f"{shown}: {status}{whom}: {printable(each.reason)}", 2, "dim")

    def _methods(self) -> Iterator[str]:
        """Yield how the intervals were made, and why so."""
        found = explained(self._report)
        if not found:
            return
        yield from self._heading("How the intervals were made")
        for each in found:
            yield from self._bulleted(f"{each.name} ({_some(each.of)}): {each.says}")

    def _notes(self) -> Iterator[str]:
        notes = [d for d in self._report.diagnostics if d.code != "excluded"]
        notes.sort(key=lambda each: each.level != Level.WARNING)
        if not notes:
            return
        yield from self._heading("Notes")
        for each in notes[:_MOST_NOTES]:
            where = f"{question.name(each.feature)}: " if each.feature else ""
            warning = "warning: " if each.level is Level.WARNING else ""
            yield from self._bulleted(
                f"{warning}{where}{shorten(printable(each.message), _LONGEST_NOTE)}"
            )
        if len(notes) > _MOST_NOTES:
            yield f"  and {len(notes) - _MOST_NOTES:,} more with --format json"

    def _name(self, text: str) -> str:
        return shorten(printable(text), _NAME)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_METRICS
    return ", ".join(names[:_MOST_METRICS]) + (f" and {more:,} more" if more > 0 else "")


def _heading_of(section: Section) -> str:
    """Say whose disparities follow, and against whom."""
    references = {each.reference for each in section.estimates}
    against = reading(references.pop()) if len(references) == 1 else "its reference"
    if section.focus is None:
        return (
            f"Disparities against {against}: in each metric, of {len(section.compared):,} groups "
            "the one farthest from no difference"
        )
    return f"Disparities of {shorten(printable(section.focus), _NAME)} against {against}"
