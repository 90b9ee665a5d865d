"""A document as text: plain in a pipe, with ANSI colours on a terminal."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from itertools import zip_longest
from typing import Any

from fairgauge.enums import Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render._document_tree import Tone
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import groups_called, printable, shorten, width
from fairgauge.render.words.verdict_sentences import judged_groups, verdict_word
from fairgauge.results.brief import Brief
from fairgauge.results.report import Report

NARROWEST, WIDEST = 80, 120
ONE_SCREEN = 42
"""The lines that a report has by default, if its tables leave room for them."""
_USUAL = 100
_MOST_TABLES = 2
_BEFORE_TABLES = 14
"""The most lines before the first table, beside the line of rules."""
_ROOMS = ((4, 3, 2), (4, 2, 1), (3, 1, 1), (1, 1, 1), (0, 1, 0), (0, 0, 0))
"""The lines that what was found, how certain it is and what is next have, until all have room.

What was found stands whole, and how much more was found: only details of it need room.
"""
_ASKED = 3
"""When columns and intervals are omitted where one screen has no room: first, see `Paragraph`."""
_GAP = "  "
_NAME, _CHART_NAME = 32, 40
_WIDEST_HEAD = 8
_WIDEST_WORD = 0.35
_UNBROKEN = re.compile(
    r"(?<=\d) (?=pp\b)|(?<=\bn) (?== \d)|(?<=\bn =) (?=\d)|(?<=\d%) (?=CI\b)"
    r"|(?<=\s[*?]) (?=\w)"
)
"""Spaces inside of what belongs together, such as a footnote's mark and its first word."""
_WORDS = re.compile(r"(?<=[_.])|\s+")
_NOT_SHOWN = frozenset({"all", "glossary", "series"})
_STYLES = {
    Tone.GOOD: "1;32", Tone.BAD: "1;31", Tone.UNSURE: "1;33", Tone.SOFT: "2", Tone.PLAIN: "1",
}  # fmt: skip


def wants_colour(stream: Any) -> bool:
    """Return whether a stream is a terminal whose user did not refuse colours (NO_COLOR)."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not refused and bool(getattr(stream, "isatty", lambda: False)())


def write(
    document: tree.DocumentTree,
    shown: object = None,
    *,
    colour: bool = False,
    width: int = _USUAL,
    full: bool = False,
    quiet: bool = False,
    python: bool = False,
) -> str:
    """Write a document as text.

    Parameters
    ----------
    colour : bool
        Whether to use ANSI colours; `wants_colour` decides for a stream.
    width : int
        Columns to use, 80 to 120.
    full : bool
        Whether the document is the whole record, so that nothing refers to it.
    quiet : bool
        Whether to write the verdict alone, on one line, and a line for each rule that does not
        pass.
    python : bool
        Whether what refers to more of it names functions, not options of the command line.
    """
    if quiet:
        subject = f" ({document.subject})" if document.subject else ""
        none = "No rules" if isinstance(shown, Report) else "No verdict"
        title = printable(document.title)
        found = _change_found(shown)
        if not document.verdict and not hasattr(shown, "verdict"):  # a plan decides nothing
            return f"{title}: {printable(document.beside)}{found}\n"
        line = f"{document.verdict or none}{printable(subject)}  {title}{found}\n"
        return line + "".join(f"{each}\n" for each in _reasons(shown))
    columns = min(max(width, NARROWEST), WIDEST)
    writer = _Text(
        colour,
        columns,
        full=full,
        of_audit=isinstance(shown, Report),
        counted=_has_tests(shown),
    )
    lines = [*writer.document(document)] if full else _one_screen(document, writer, python=python)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _change_found(shown: object) -> str:
    """Return what changed between two reports, which may be untested beside verdicts that stay."""
    if isinstance(shown, Report):
        return ""
    from fairgauge.results.comparison import Comparison  # which no audit needs

    return f" ({shown.brief().headline})" if isinstance(shown, Comparison) else ""


def _has_tests(shown: object) -> bool:
    if isinstance(shown, Report):
        return bool(shown.verdicts)
    from fairgauge.results.subgroup_search import SubgroupSearch  # which no audit needs

    return isinstance(shown, SubgroupSearch) and bool(shown.worse)


def _reasons(shown: object) -> Iterator[str]:
    """Yield each rule of a report that does not pass, with what its gravest verdict rests on.

    A rule may count groups with insufficient data as failing: then it is one of these that decides.
    """
    if not isinstance(shown, Report):
        return
    for each in shown.by_rule:
        if each.outcome is not Outcome.PASS:
            worst = next(one for one in each.verdicts if one.outcome is each.outcome)
            groups = judged_groups(shown, worst)
            of = f" ({groups_called(groups, worst.feature)})" if groups else ""
            outcome = verdict_word(each.outcome).upper()
            yield printable(f"  {each.rule}: {outcome}{of}: {worst.says}")


def _more(document: tree.DocumentTree, parts: Sequence[str], *, python: bool) -> str:
    """Return what is not shown, and where it is, with charts and data, which no text has."""
    file = document.file_name
    if python:
        listed = f"Not shown: {', '.join(parts)}. " if parts else ""
        return f'{listed}Everything: .save("{file}.html"), or "{file}.txt". Data: .to_json().'
    listed = f"Not shown (--full): {', '.join(parts)}." if parts else "Everything: --full."
    return f"{listed} Charts: -o {file}.html. Data: -o {file}.json."


def _one_screen(document: tree.DocumentTree, writer: _Text, *, python: bool) -> list[str]:
    """Return the lines of a document that fit one screen, without what can be spared.

    The tables of more features than two do not fit whatever is omitted, so that nothing is.
    """
    spares = {b.spare for s in document.sections for b in s.blocks if isinstance(b, tree.Paragraph)}
    spares.add(_ASKED)
    tables = sum(isinstance(b, tree.Table) for s in document.sections for b in s.blocks)
    levels = sorted(spares | {0}, reverse=True)
    published = len(document.to_publish)  # on the first page, of which text has the sentences alone
    to_publish = [f"{numbers.numbered(published, 'tables')} to publish"] if published else []
    lines: list[str] = []
    for most in levels if tables <= _MOST_TABLES else levels[:1]:
        writer.most_spare, writer.omitted = most, {}
        lines = [*writer.document(document)]
        if writer.hidden:  # what one table has no room for, none shows
            writer.omitted = {}
            lines = [*writer.document(document)]
        parts = [
            *(["cover"] if document.cover else []),
            *writer.hidden,
            *document.not_shown,
            *to_publish,
            *writer.omitted,
        ]
        lines += writer.wrapped(_more(document, parts, python=python), 2, Tone.SOFT)
        if len(lines) <= ONE_SCREEN:
            break
    return lines


class _Text:
    """Walks a document and yields lines."""

    def __init__(
        self, colour: bool, width: int, *, full: bool, of_audit: bool, counted: bool
    ) -> None:
        self.colour = colour
        self.width = width
        self.full = full
        self.of_audit = of_audit
        self.counted = counted
        """Whether the first sentence of its verdict counts what the line above does."""
        self.shown: set[str] = set()
        """The sentences of the brief that stand before the tables."""
        self.hidden: dict[str, None] = {}
        self.most_spare: float = math.inf
        self.omitted: dict[str, None] = {}

    def paint(self, text: str, tone: Tone) -> str:
        """Return a text in the style of a tone."""
        return f"\x1b[{_STYLES[tone]}m{text}\x1b[0m" if self.colour and text else text

    def document(self, document: tree.DocumentTree) -> Iterator[str]:
        """Yield the whole document."""
        before, warnings = list(self._title(document)), list(self._warnings(document))
        brief = document.brief
        yield from before
        if self.full:
            yield from self._brief(brief, document)
            yield from warnings
            yield ""
            for text in document.lead:
                yield from self.wrapped(text)
            if document.cover:
                yield from self.show(tree.Facts(document.cover))
            if document.verdict:
                yield ""
                yield self.paint(document.verdict, document.tone)
        else:
            rooms = _ROOMS if self.most_spare else _ROOMS[2:]
            fitting = (list(self._shortest(brief, document, room)) for room in rooms)
            some = _BEFORE_TABLES - len(before) - len(warnings)
            lines: list[str] = []
            for lines in fitting:
                if len(lines) <= some:
                    break
            yield from lines
            yield from warnings
        for section in document.sections:
            if section.id not in _NOT_SHOWN:
                yield from self.section(section)
        if not self.full:
            yield from self._below(brief, document)

    def _title(self, document: tree.DocumentTree) -> Iterator[str]:
        """Yield the title, and how many warnings stand below the summary."""
        *above, title = wrap(printable(document.title), self.width)
        if width(title) + 2 + width(document.beside) > self.width:
            above, title = [*above, title], ""
        for line in above:
            yield self.paint(line, Tone.PLAIN)
        space = " " * (self.width - width(title) - width(document.beside))
        yield self.paint(title, Tone.PLAIN) + space + self.paint(document.beside, Tone.SOFT)
        if document.warned:
            noun = numbers.plural(document.warned, "warning", "warnings")
            text = f"{document.warned:,} {noun} below the summary may change what it means."
            yield from self.wrapped(text, 0, Tone.UNSURE)

    def _warnings(self, document: tree.DocumentTree) -> Iterator[str]:
        for text in document.warnings:
            yield from self.wrapped(text, 0, Tone.UNSURE)

    def _brief(self, brief: Brief, document: tree.DocumentTree) -> Iterator[str]:
        """Yield a brief whole: its headline, its verdict, and each question with its answer."""
        yield from self.wrapped(str(brief.headline), 0, Tone.PLAIN)
        if brief.verdict:
            yield from self.wrapped(" ".join(map(str, brief.verdict)), 0, document.tone)
        for question, sentences in brief.answers:
            yield from self.show(tree.Heading(question))
            for each in sentences:
                yield from self._hanging(str(each))

    def _shortest(
        self, brief: Brief, document: tree.DocumentTree, room: Sequence[int]
    ) -> Iterator[str]:
        """Yield a brief in few lines: whole sentences, as many of each answer as have room."""
        self.shown = set()
        yield from self.wrapped(str(brief.headline), 0, Tone.PLAIN)
        if document.verdict:
            yield from self.wrapped(document.verdict, 0, document.tone)
        if stated := brief.verdict[self.counted :]:
            yield from self.wrapped(" ".join(map(str, stated)))
        for name, most in zip(("found", "certainty", "steps"), room, strict=True):
            lines: list[str] = []
            seen: set[tuple[str, ...]] = set()
            full = False  # but of audits what has no room stands below the tables, in order
            for each in getattr(brief, name):
                more = list(self._hanging(f"{'Next: ' if name == 'steps' else ''}{each}"))
                fits = len(lines) + len(more) <= most and not full
                full = not (fits or self.of_audit)
                finding = self.of_audit and name == "found" and each.sources not in seen
                seen.add(each.sources)
                overall = any(source.endswith(".overall") for source in each.sources)
                if fits or finding or overall or (most and not lines):
                    lines += more
                    self.shown.add(str(each))
            yield from lines

    def _below(self, brief: Brief, document: tree.DocumentTree) -> Iterator[str]:
        """Yield what was asked and, but of audits, the sentences without room before the tables."""
        asked = " ".join(document.lead)
        if self.of_audit:
            yield from self.show(tree.Paragraph(asked, Tone.SOFT, _ASKED, "what was asked"))
            return
        yield from self.wrapped(asked, 2, Tone.SOFT)
        blocks = [block for section in document.sections for block in section.blocks]
        shown = [b.text for b in blocks if isinstance(b, tree.Paragraph) and not b.spare]
        for question, answer in brief.answers:
            rest = [
                text
                for text in map(str, answer)
                if text not in self.shown and not any(text in other for other in (asked, *shown))
            ]
            if rest:
                continued = " (continued)" if any(str(t) in self.shown for t in answer) else ""
                yield from self.wrapped(f"{question}{continued}: {' '.join(rest)}", 2, Tone.SOFT)

    def _hanging(self, text: str) -> Iterator[str]:
        """Yield a sentence, its further lines indented."""
        first, *others = wrap(printable(text), self.width - 4)
        yield f"  {first}"
        yield from (f"    {line}" for line in others)

    def section(self, section: tree.Section) -> Iterator[str]:
        """Yield a section, without a heading where its first table has the same one."""
        blocks = list(self._spaced(section.blocks))
        if not any(blocks):
            return
        first = section.blocks[0]
        own = (
            isinstance(first, tree.Table)
            and first.columns[0].heading.removesuffix(" ≈") == section.title
        )
        implied = own or section.id in ("rules", "notes")
        if section.id == "rules":
            yield from blocks
            return
        if section.id != "notes":
            yield ""
        if not implied:
            yield from self.wrapped(section.title, 0, Tone.PLAIN)
        yield from blocks[1:] if blocks and not blocks[0] else blocks

    def _spaced(self, blocks: Iterable[tree.Block]) -> Iterator[str]:
        """Yield the lines of blocks, a sentence apart from a chart above it."""
        before: tree.Block | None = None
        for block in blocks:
            if isinstance(before, tree.Chart) and isinstance(block, (tree.Paragraph, tree.Items)):
                yield ""
            yield from self.show(block)
            before = block

    def wrapped(self, text: str, indent: int = 0, tone: Tone | None = None) -> Iterator[str]:
        """Yield a paragraph."""
        for line in wrap(printable(text), self.width - indent):
            yield " " * indent + (self.paint(line, tone) if tone else line)

    def _command(self, text: str) -> Iterator[str]:
        """Yield a command that a shell takes as it is printed: no word is broken or shortened."""
        parts: list[str] = []
        for word in map(shlex.quote, shlex.split(printable(text))):
            if parts and re.fullmatch(r"--?[\w-]+", parts[-1]) and not word.startswith("-"):
                parts[-1] += f" {word}"  # a flag and its value
            else:
                parts.append(word)
        line = "   "
        for part in parts:
            if line.strip() and width(f"{line} {part} \\") > self.width:
                yield f"{line} \\"
                line = "     "
            line += f" {part}"
        yield line

    @singledispatchmethod
    def show(self, block: tree.Block) -> Iterator[str]:
        """Yield the lines of a block."""
        raise TypeError(f"no text for {type(block).__name__}")

    @show.register(tree.Section)
    def _(self, block: tree.Section) -> Iterator[str]:
        yield from self.section(block)

    @show.register(tree.Heading)
    def _(self, block: tree.Heading) -> Iterator[str]:
        yield ""
        yield from self.wrapped(block.text, 0, Tone.PLAIN)

    @show.register(tree.Paragraph)
    def _(self, block: tree.Paragraph) -> Iterator[str]:
        if block.spare > self.most_spare:
            self.omitted[block.about] = None
        elif block.text:
            tone = None if block.tone is Tone.PLAIN else block.tone
            yield from self.wrapped(block.text, 2, tone)

    @show.register(tree.Items)
    def _(self, block: tree.Items) -> Iterator[str]:
        for i, text in enumerate(block.items, 1):
            mark = f"{i}. " if block.numbered else "- "
            lines = wrap(printable(text), self.width - 2 - len(mark))
            yield f"  {mark}{lines[0]}"
            yield from (" " * (2 + len(mark)) + line for line in lines[1:])

    @show.register(tree.Facts)
    def _(self, block: tree.Facts) -> Iterator[str]:
        longest = max((width(printable(word)) for word, _ in block.pairs), default=0)
        if longest > self.width * _WIDEST_WORD:
            for word, text in block.pairs:
                first, *others = wrap(printable(f"{word}: {text}"), self.width - 6)
                yield f"  {first}"
                yield from (f"      {line}" for line in others)
            return
        column = longest
        for word, text in block.pairs:
            names = wrap(printable(word), column)
            lines = wrap(printable(text), self.width - column - 4)
            for name, line in zip_longest(names, lines, fillvalue=""):
                yield f"  {name}{' ' * (column - width(name))}  {line}".rstrip()

    @show.register(tree.Code)
    def _(self, block: tree.Code) -> Iterator[str]:
        for line in block.text.split("\n"):
            if line.startswith("fairgauge "):
                yield from self._command(line)
                continue
            indent = 4 + len(line) - len(line.lstrip())
            yield from self.wrapped(line.lstrip(), min(indent, self.width // 2))

    @show.register(tree.Table)
    def _(self, block: tree.Table) -> Iterator[str]:
        yield ""
        if block.titled:
            yield from self.wrapped(block.caption, 0, Tone.PLAIN)
        if not any(column.numeric for column in block.columns):
            pairs = ((r[0].text, "; ".join(c.text for c in r[1:] if c.text)) for r in block.rows)
            yield from self.show(tree.Facts(tuple(pairs)))
            return
        columns, cells = _parted(block)
        yield from table(columns, cells[: len(block.rows)], cells[len(block.rows) :], self)
        for note in block.notes:
            yield from self.wrapped(note.replace("   ", " · "), 0, Tone.SOFT)

    @show.register(tree.Chart)
    def _(self, block: tree.Chart) -> Iterator[str]:
        yield ""
        yield from self.wrapped(block.caption, 0, Tone.PLAIN)
        labels = [wrap(printable(row.label), _CHART_NAME) for row in block.rows]
        longest = max((width(part) for parts in labels for part in parts), default=0)
        badges = max((len(row.badge) for row in block.rows), default=0)
        for label, row in zip(labels, block.rows, strict=True):
            badge = self.paint(f"{row.badge:<{badges}}", row.tone) + _GAP if badges else ""
            own = _GAP.join(filter(None, [row.text, row.below]))
            indent = 2 + longest + 2 + (badges + 2 if badges else 0)
            lines = wrap(printable(own), max(self.width - indent, 30))
            yield f"  {label[0]}{' ' * (longest - width(label[0]))}  {badge}{lines[0]}"
            for name, line in zip_longest(label[1:], lines[1:], fillvalue=""):
                yield f"  {name}{' ' * (indent - 2 - width(name))}{line}".rstrip()
        for note in block.notes:
            yield from self.wrapped(note, 2, Tone.SOFT)

    @show.register(tree.DotArrays)
    @show.register(tree.Glossary)
    @show.register(tree.RuleGrid)
    @show.register(tree.SignOff)
    @show.register(tree.TimeChart)
    def _(self, block: tree.Block) -> Iterator[str]:
        del block
        yield from ()

    @show.register(tree.ScoreCharts)
    def _(self, _: tree.ScoreCharts) -> Iterator[str]:
        yield "  Curves and the threshold explorer are in the HTML report."


def _cell(cell: tree.Cell) -> str:
    return printable(f"{cell.text} {cell.below}".strip())


def _parted(block: tree.Table) -> tuple[list[tree.Column], list[list[str]]]:
    """Return the columns and cells of a table, numbers of two parts each under its own.

    A number without what stands beside others would otherwise stand under those.
    """
    columns, every = list(block.columns), [*block.rows, *block.totals]
    cells = [[_cell(cell) for cell in row] for row in every]
    for i, column in enumerate(columns):
        if column.numeric and any(row[i].below for row in every):
            columns[i] = replace(column, numeric=False)
            first = max(width(printable(row[i].text)) for row in every)
            second = max(width(printable(row[i].below)) for row in every)
            for row, shown in zip(every, cells, strict=True):
                text, below = printable(row[i].text), printable(row[i].below)
                left = numbers.NO_BREAK * (first - width(text))
                right = numbers.NO_BREAK * (second - width(below))
                shown[i] = f"{left}{text}{numbers.NO_BREAK}{right}{below}"
    return columns, cells


def wrap(text: str, most: int) -> list[str]:
    """Break a text between words into lines of at most ``most`` columns; at least one line."""
    lines = [""]
    for word in _UNBROKEN.sub(numbers.NO_BREAK, text).split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined) <= most:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        lines[-1] = shorten(word, most)
    return [line.replace(numbers.NO_BREAK, " ") for line in lines]


def table(
    columns: Sequence[tree.Column],
    rows: Sequence[Sequence[str]],
    totals: Sequence[Sequence[str]],
    text: _Text,
) -> Iterator[str]:
    """Yield a table: names on the left, numbers to the right, headings stacked word by word.

    Columns that do not fit beside each other follow below, with the names again; where the document
    is to fit one screen, they are noted in ``hidden`` instead.
    """
    every = [*rows, *totals]
    heads = [_stack(printable(column.heading), first=i == 0) for i, column in enumerate(columns)]
    most = [_NAME, *(0 if c.numeric else text.width // 2 for c in columns[1:])]
    cells = [
        [wrap(cell, at) if at else [cell] for cell, at in zip(row, most, strict=True)]
        for row in every
    ]
    widths = [
        max(width(line) for lines in (heads[i], *(row[i] for row in cells)) for line in lines)
        for i in range(len(columns))
    ]
    parts = list(_parts(widths, columns, text.width, text.hidden))
    for part in parts if text.full else parts[:1]:
        height = max(len(heads[i]) for i in part)
        for level in range(height):
            head = [([""] * (height - len(heads[i])) + heads[i])[level] for i in part]
            yield text.paint(_line(head, part, widths, columns), Tone.PLAIN)
        for row in cells:
            for line in zip_longest(*(row[i] for i in part), fillvalue=""):
                yield _line(line, part, widths, columns)
    if not text.full:
        left = (columns[i] for part in parts[1:] for i in part[1:] if not columns[i].joined)
        text.hidden |= dict.fromkeys(column.heading for column in left)


def _parts(
    widths: Sequence[int], columns: Sequence[tree.Column], most: int, hidden: Container[str]
) -> Iterator[list[int]]:
    """Yield the columns that fit beside each other, the first among them each time.

    A column that is joined to the one before is never parted from it; those ``hidden`` come last.
    """
    units: list[list[int]] = []
    for i in range(1, len(columns)):
        if columns[i].joined and units:
            units[-1].append(i)
        else:
            units.append([i])
    units.sort(key=lambda unit: columns[unit[0]].heading in hidden)
    part, used = [0], widths[0]
    for unit in units:
        room = sum(len(_GAP) + widths[i] for i in unit)
        out = columns[unit[0]].heading in hidden
        if (used + room > most or out) and len(part) > 1:
            yield part
            part, used = [0], widths[0]
        part += unit
        used += room
    yield part


def _line(
    cells: Iterable[str], part: Sequence[int], widths: Sequence[int], columns: Sequence[tree.Column]
) -> str:
    padded = []
    for text, i in zip(cells, part, strict=True):
        space = " " * (widths[i] - width(text))
        padded.append(f"{space}{text}" if columns[i].numeric else f"{text}{space}")
    return _GAP.join(padded).rstrip()


def _stack(head: str, *, first: bool) -> list[str]:
    """Break a heading between words into lines of a narrow column."""
    if first:
        return wrap(head, _NAME)
    lines: list[str] = []
    for word in filter(None, _WORDS.split(head)):
        close = lines and lines[-1].endswith(("_", "."))
        joined = f"{lines[-1]}{'' if close else ' '}{word}" if lines else word
        if lines and width(joined) <= _WIDEST_HEAD:
            lines[-1] = joined
        else:
            lines.append(shorten(word, _NAME))
    return lines or [""]
