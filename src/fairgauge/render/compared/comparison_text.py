"""A comparison of two reports for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Turn
from fairgauge.render import numbers
from fairgauge.render.compared import phrases
from fairgauge.render.compared.phrases import ARROW
from fairgauge.render.display_names import printable, shorten, width
from fairgauge.render.question import name
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.render.terminal_tables import Style, clip, table, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Comparison, VerdictChange

_NARROWEST, _WIDEST = 80, 120
_INDENT = 16
_MOST_SURE = 12
_MOST_MOVED = 12
_MOST_FLIPS = 20
_MOST_ALONE = 12
_MOST_GROUPS = 20
_MOST_DIFFERENCES = 20
_MOST_REASONS = 6
_TURNS = {Turn.WORSE: "bad", Turn.BETTER: "good", Turn.OTHER: "unsure"}


def to_text(comparison: Comparison, *, colour: bool = False, width: int = _NARROWEST) -> str:
    """Write a comparison for a terminal.

    Parameters
    ----------
    colour : bool
        Whether to use ANSI colours.
    width : int
        Columns to use, 80 to 120.
    """
    writer = _Writer(comparison, Style(on=colour), min(max(width, _NARROWEST), _WIDEST))
    return "\n".join(line.rstrip() for line in writer.lines()) + "\n"


class _Writer:
    def __init__(self, comparison: Comparison, style: Style, width: int) -> None:
        self._comparison = comparison
        self._told = phrases.tell(comparison)
        self._style = style
        self._width = width

    def lines(self) -> Iterator[str]:
        """Yield the comparison: what was asked differently, verdicts, disparities, data, method."""
        old, new = self._comparison.old, self._comparison.new
        yield self._style.bold("Two fairness audits compared")
        yield from self._pair("old", f"{phrases.called(old)}: {phrases.facts(old)}")
        yield from self._pair("new", f"{phrases.called(new)}: {phrases.facts(new)}")
        yield from self._differences()
        yield from self._verdicts()
        yield from self._disparities()
        yield from self._alone()
        yield from self._data()
        yield ""
        if not self._comparison.refused:
            yield from self._wrapped(phrases.METHOD, 0, "dim")
        yield self._style.dim(
            "More: --format json or csv for every number, -o diff.html for charts."
        )

    def _heading(self, text: str) -> Iterator[str]:
        shown = clip(text, self._width - 4)
        yield ""
        yield self._style.bold(f"{shown} {'─' * (self._width - width(shown) - 1)}")

    def _wrapped(self, text: str, indent: int, style: str = "") -> Iterator[str]:
        for line in wrap(text, self._width - indent):
            yield " " * indent + self._style.paint(line, style)

    def _pair(self, word: str, text: str, style: str = "dim") -> Iterator[str]:
        lines = wrap(text, self._width - _INDENT)
        yield f"  {self._style.paint(f'{word:<{_INDENT - 3}}', style)} {lines[0]}"
        yield from (" " * _INDENT + line for line in lines[1:])

    def _more(self, left: int, what: str) -> Iterator[str]:
        if left > 0:
            yield self._style.dim(f"  and {left:,} more {what}: --format json")

    def _differences(self) -> Iterator[str]:
        found = self._comparison.differences
        if not found:
            return
        yield from self._heading("Asked differently")
        for each in found[:_MOST_DIFFERENCES]:
            shown = f"{phrases.setting(each.old)} {ARROW} {phrases.setting(each.new)}"
            says = f" ({each.says})" if each.says else ""
            loud = "! " if says else ""
            style = "unsure" if says else "dim"
            yield from self._pair(f"{loud}{name(each.key)}", shown + says, style)
        yield from self._more(len(found) - _MOST_DIFFERENCES, "settings")

    def _verdicts(self) -> Iterator[str]:
        comparison = self._comparison
        if not phrases.judged(comparison):
            return
        yield from self._heading("Verdicts")
        style = _TURNS[comparison.turn] if comparison.turn else "bold"
        yield f"  {self._style.paint(phrases.verdict(comparison, str.upper), style)}"
        summary = phrases.verdict_summary(comparison)
        yield from self._wrapped(summary, 2) if summary else ()
        for each in comparison.flips[:_MOST_FLIPS]:
            yield from self._flip(each)
        yield from self._more(len(comparison.flips) - _MOST_FLIPS, "that changed")

    def _flip(self, each: VerdictChange) -> Iterator[str]:
        yield ""
        word = self._style.paint(f"{each.turn:<7}", _TURNS[each.turn])
        room = self._width - 11
        said = f"{name(each.new.rule)}  {phrases.whom(each)}"
        lines = wrap(f"{said}: {each.old.outcome} {ARROW} {each.new.outcome}", room)
        yield f"  {word}  {lines[0]}"
        yield from (f"           {line}" for line in lines[1:])
        reason = shorten(printable(each.new.says), phrases.LONGEST_REASON)
        yield from self._wrapped(reason, 11, "dim")

    def _disparities(self) -> Iterator[str]:
        comparison, told = self._comparison, self._told
        yield from self._heading("Disparities")
        yield from self._wrapped(phrases.summary(comparison, told), 2)
        if comparison.refused and told.moved:
            yield from self._wrapped(
                f"No change has a confidence interval: {describe_reason(comparison.refused)}.", 2
            )
        if told.mirrored:
            names = ", ".join(told.mirrored[:3])
            yield from self._wrapped(f"Left out, being the mirror image of the other: {names}.", 2)
        yield from self._sure(
            "Further from no difference, statistically significantly", told.further, "bad"
        )
        yield from self._sure(
            "Closer to no difference, statistically significantly", told.closer, "good"
        )
        beside = (
            "Not statistically significantly" if told.further or told.closer else "What moved most"
        )
        yield from self._moved("What moved most" if comparison.refused else beside, told.moved)
        yield from self._undefined(told.undefined)

    def _sure(self, heading: str, found: Sequence[Change], style: str) -> Iterator[str]:
        if not found:
            return
        yield ""
        yield f"  {self._style.paint(heading, style)}"
        for each in found[:_MOST_SURE]:
            yield from self._change(each)
        yield from self._more(len(found) - _MOST_SURE, "statistically significantly")

    def _change(self, each: Change) -> Iterator[str]:
        """Yield a change on one line, with its rates below; beneath a long name, on two."""
        numbered = (
            f"{phrases.seen(each, each.old)} {ARROW} {phrases.seen(each, each.new)}   "
            f"{phrases.shift(each)} {phrases.limits(each)}"
        ).rstrip()
        subject = phrases.subject(each, several=self._told.several)
        said = f"{each.metric}  {subject}"
        room = self._width - 4 - width(numbered)
        metric = self._style.bold(each.metric)
        if width(said) <= room:
            yield f"  {metric}  {subject}{' ' * (room - width(said))}  {numbered}"
        else:
            first, *rest = wrap(f"{printable(each.metric)}  {subject}", self._width - 2)
            yield f"  {first.replace(each.metric, metric, 1)}"
            yield from (f"      {line}" for line in rest)
            yield f"{' ' * (self._width - width(numbered))}{numbered}"
        beside = phrases.evidence(each)
        beside += ", on the other side of no difference" if each.crossed else ""
        yield from self._wrapped(beside, 6, "dim") if beside else ()

    def _moved(self, heading: str, found: Sequence[Change]) -> Iterator[str]:
        if not found:
            return
        rows = [
            [
                f"{each.metric} {phrases.subject(each, several=self._told.several, most=16)}",
                phrases.seen(each, each.old),
                phrases.seen(each, each.new),
                f"{phrases.shift(each)} {phrases.limits(each)}".strip(),
                str(each.direction or "-"),
            ]
            for each in found[:_MOST_MOVED]
        ]
        beside = [max(width(row[i]) for row in rows) + 2 for i in range(1, len(rows[0]))]
        room = self._width - 2 - sum(beside)
        rows = [[shorten(row[0], max(room, 12)), *row[1:]] for row in rows]
        yield ""
        yield f"  {self._style.bold(heading)}"
        heads = ["disparity", "old", "new", "change", ""]
        yield from table(heads, rows, self._width, self._style)
        yield from self._more(len(found) - _MOST_MOVED, "that moved less")

    def _undefined(self, found: Sequence[Change]) -> Iterator[str]:
        if not found:
            return
        yield ""
        yield f"  {self._style.bold('With a value in one report only')}"
        for each in found[:_MOST_REASONS]:
            said = f"{each.metric}  {phrases.subject(each)}: {phrases.because(each)}"
            yield from self._wrapped(said, 2)
        yield from self._more(len(found) - _MOST_REASONS, "of these")

    def _alone(self) -> Iterator[str]:
        found = self._comparison.alone
        if not found:
            return
        yield from self._heading("In one report only")
        for each in found[:_MOST_ALONE]:
            yield from self._pair(each.report, "{} ({})".format(*phrases.lacking(each)))
        yield from self._more(len(found) - _MOST_ALONE, "in one report only")

    def _data(self) -> Iterator[str]:
        comparison = self._comparison
        yield from self._heading("Data")
        rows = [
            [word, numbers.count(before), numbers.count(after)]
            for word, before, after in phrases.sizes(comparison)
        ]
        yield from table(["", "old", "new"], rows, self._width, self._style)
        shown = comparison.groups[:_MOST_GROUPS]
        groups = [
            [
                f"{shorten(printable(each.feature), 20)} {shorten(printable(each.group), 20)}",
                numbers.count(each.old_n),
                numbers.count(each.new_n),
                numbers.percent(each.old_share),
                numbers.percent(each.new_share),
            ]
            for each in shown
        ]
        if groups:
            yield ""
            heads = ["group", "old n", "new n", "old share", "new share"]
            yield from table(heads, groups, self._width, self._style)
            yield from self._more(len(comparison.groups) - len(shown), "groups")
