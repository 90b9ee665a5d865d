"""A document as text: plain in a pipe, with ANSI colours on a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatchmethod
from itertools import takewhile, zip_longest

from fairgauge.enums import Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render._document_tree import Tone
from fairgauge.render.document import document as made_whole
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.page import stated_by_author
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import groups_called, printable, shorten, width
from fairgauge.render.words.verdict_sentences import judged_groups, verdict_word
from fairgauge.results.report import Report
from fairgauge.results.shown_result import Brief, ShownResult
from fairgauge.start.records import replace

NARROWEST, WIDEST = 80, 120
_USUAL = 100
_ROOM = {"found": 4, "certainty": 3, "steps": 2}
"""The lines that parts of the first page have before the tables, unless one sentence needs more.

Of audits every finding stands there, and how much more was found.
"""
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
_STYLES = {
    Tone.GOOD: "1;32", Tone.BAD: "1;31", Tone.UNSURE: "1;33", Tone.SOFT: "2", Tone.PLAIN: "1",
}  # fmt: skip


def wants_colour(stream: object) -> bool:
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
    """Write a document as text, plain or with ANSI colours, 80 to 120 columns wide.

    ``full`` is of a document that is the whole record, so that nothing refers to it; ``quiet`` the
    verdict alone, with a line for each rule that does not pass. With ``python`` it names functions,
    not options of the command line.
    """
    if quiet:
        subject = f" ({document.subject})" if document.subject else ""
        none = spoken().terms["no_rules" if isinstance(shown, Report) else "no_verdict"]
        title = printable(document.title)
        found = _change_found(shown)
        if not document.verdict and not hasattr(shown, "verdict"):  # a plan decides nothing
            return f"{title}: {printable(document.beside)}{found}\n"
        line = f"{document.verdict or none}{printable(subject)}  {title}{found}\n"
        return line + "".join(f"{each}\n" for each in _reasons(shown))
    columns = min(max(width, NARROWEST), WIDEST)
    writer = _Text(colour, columns, full=full, of_audit=isinstance(shown, Report))
    charts = writer.of_audit or python or full
    if isinstance(shown, ShownResult) and not charts:
        charts = any(tree.charts_of(made_whole(shown, full=True)))
    facts = {"python": python, "charts": charts}
    lines = [*writer.document(document)] if full else _one_screen(document, writer, facts)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _change_found(shown: object) -> str:
    # what changed between two reports, which may be untested beside verdicts that stay
    if isinstance(shown, Report):
        return ""
    from fairgauge.results.comparison import Change  # which no audit needs

    return f" ({shown.brief().headline})" if isinstance(shown, Change) else ""


def _reasons(shown: object) -> Iterator[str]:
    # a rule may count groups with insufficient data as failing: then it is one of these that
    # decides
    if not isinstance(shown, Report):
        return
    for each in shown.by_rule:
        if each.outcome is not Outcome.PASS:
            worst, *more = (one for one in each.verdicts if one.outcome is each.outcome)
            groups = judged_groups(shown, worst)
            of = groups_called(groups, worst.feature) if groups else ""
            if of and more:
                of = spoken().terms["more"].format(first=of, n=len(more))
            outcome = in_words(verdict_word(each.outcome)).upper() + f" ({of})" * bool(of)
            yield printable(f"  {each.rule}: {outcome}: {worst.says}")
    yield from (f"  {each}" for each in (stated_by_author(shown) if shown.by_rule else ()))


def _one_screen(document: tree.DocumentTree, writer: _Text, facts: Mapping[str, bool]) -> list[str]:
    lines, g = [*writer.document(document)], spoken()
    parts = [g.terms["cover"]] if document.cover else []
    parts += [*writer.hidden, *document.not_shown]
    # on the first page, of which text has the sentences alone
    if published := sum(isinstance(each, tree.Table) for each in document.to_publish):
        parts.append(g.say("read", "to_publish", n=published) or "")
    known = {**facts, "parts": parts}
    texts = [g.say("read", "left_out", **known)] if parts else []
    texts.append(g.say("read", "everything", file=document.file_name, **known))
    return [*lines, *writer.wrapped(" ".join(filter(None, texts)), 2, Tone.SOFT)]


class _Text:
    """Walks a document and yields lines."""

    def __init__(self, colour: bool, width: int, *, full: bool, of_audit: bool) -> None:
        self.colour, self.width, self.full, self.of_audit = colour, width, full, of_audit
        self.hidden: dict[str, None] = {}

    def paint(self, text: str, tone: Tone) -> str:
        return f"\x1b[{_STYLES[tone]}m{text}\x1b[0m" if self.colour and text else text

    def document(self, document: tree.DocumentTree) -> Iterator[str]:
        brief = document.brief
        yield from self._title(document)
        if self.full:
            yield from self._brief(brief, document)
            yield from self._warnings(document)
            yield ""
            for text in document.lead:
                yield from self.wrapped(text)
            if document.cover:
                yield from self.show(tree.Facts(document.cover))
            if document.verdict:
                yield ""
                yield self.paint(document.verdict, document.tone)
        else:
            yield from (self._shortest if self.of_audit else self._brief)(brief, document)
            yield from self._warnings(document)
        for section in document.sections:
            if section.id != "series" and (self.full or section.id != "all"):
                yield from self.section(section)
        if not self.full:
            yield from self.show(tree.Paragraph(" ".join(document.lead), Tone.SOFT))

    def _title(self, document: tree.DocumentTree) -> Iterator[str]:
        *above, title = wrap(printable(document.title), self.width)
        if width(title) + 2 + width(document.beside) > self.width:
            above, title = [*above, title], ""
        for line in above:
            yield self.paint(line, Tone.PLAIN)
        space = " " * (self.width - width(title) - width(document.beside))
        yield self.paint(title, Tone.PLAIN) + space + self.paint(document.beside, Tone.SOFT)
        if document.warned:
            text = spoken().say("read", "warned", n=document.warned) or ""
            yield from self.wrapped(text, 0, Tone.UNSURE)

    def _warnings(self, document: tree.DocumentTree) -> Iterator[str]:
        for text in document.warnings:
            yield from self.wrapped(text, 0, Tone.UNSURE)

    def _brief(self, brief: Brief, document: tree.DocumentTree) -> Iterator[str]:
        # a brief whole: its headline, its verdict, and each question with its answer
        yield from self.wrapped(str(brief.headline), 0, Tone.PLAIN)
        if document.verdict and not self.full:
            yield from self.wrapped(document.verdict, 0, document.tone)
        if brief.verdict:
            yield from self.wrapped(" ".join(map(str, brief.verdict)), 0, document.tone)
        for question, sentences in brief.answers:
            yield from self.show(tree.Heading(question))
            for each in sentences:
                yield from self._hanging(str(each))

    def _shortest(self, brief: Brief, document: tree.DocumentTree) -> Iterator[str]:
        # the brief of an audit in few lines: of each answer as much as has room
        yield from self.wrapped(str(brief.headline), 0, Tone.PLAIN)
        if document.verdict:
            yield from self.wrapped(document.verdict, 0, document.tone)
        # the first sentence of a verdict counts what the line above does
        if stated := brief.verdict[bool(document.verdict) :]:
            yield from self.wrapped(" ".join(map(str, stated)))
        for each in brief.looked_at:
            if each.sources in (("counted",), ("diagnostics", "data.rows")):
                yield from self._hanging(str(each))
        for name, most in _ROOM.items():
            lines: list[str] = []
            seen: set[tuple[str, ...]] = set()
            for each in getattr(brief, name):
                text = spoken().say("read", "next", text=each) if name == "steps" else str(each)
                more = list(self._hanging(text or ""))
                finding = name == "found" and each.sources not in seen
                seen.add(each.sources)
                overall = any(source.endswith(".overall") for source in each.sources)
                if len(lines) + len(more) <= most or finding or overall or not lines:
                    lines += more
            yield from lines

    def _hanging(self, text: str, indent: int = 4, mark: str = "") -> Iterator[str]:
        first, *others = wrap(printable(text), self.width - indent)
        yield f"  {mark}{first}"
        yield from (" " * indent + line for line in others)

    def _pair_lines(self, word: str, text: str, column: int, least: int = 0) -> Iterator[str]:
        lines = wrap(printable(text), max(self.width - column - 4, least))
        for name, line in zip_longest(wrap(printable(word), column), lines, fillvalue=""):
            yield f"  {name}{' ' * (column - width(name))}  {line}".rstrip()

    def section(self, section: tree.Section) -> Iterator[str]:
        """Yield a section, without a heading where its first table has the same one."""
        blocks = list(self._spaced(section.blocks))
        if not any(blocks):
            return
        first = section.blocks[0]
        head = first.columns[0].heading if isinstance(first, tree.Table) else ""
        implied = head.removesuffix(" ≈") == section.title or section.id in ("rules", "notes")
        if section.id == "rules":
            yield from blocks
            return
        if section.id != "notes":
            yield ""
        if not implied:
            yield from self.wrapped(section.title, 0, Tone.PLAIN)
        yield from blocks[1:] if blocks and not blocks[0] else blocks

    def _spaced(self, blocks: Iterable[tree.Block]) -> Iterator[str]:
        before: tree.Block | None = None
        for block in blocks:
            if isinstance(before, tree.Chart) and isinstance(block, (tree.Paragraph, tree.Items)):
                yield ""
            yield from self.show(block)
            before = block

    def wrapped(self, text: str, indent: int = 0, tone: Tone | None = None) -> Iterator[str]:
        for line in wrap(printable(text), self.width - indent):
            yield " " * indent + (self.paint(line, tone) if tone else line)

    @singledispatchmethod
    def show(self, block: tree.Block) -> Iterator[str]:
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
        if block.text:
            yield from self.wrapped(block.text, 2, None if block.tone is Tone.PLAIN else block.tone)

    @show.register(tree.Items)
    def _(self, block: tree.Items) -> Iterator[str]:
        for text in block.items:
            yield from self._hanging(text, 4, "- ")

    @show.register(tree.Facts)
    def _(self, block: tree.Facts) -> Iterator[str]:
        longest = max((width(printable(word)) for word, _ in block.pairs), default=0)
        for word, text in block.pairs:
            if longest > self.width * _WIDEST_WORD:
                yield from self._hanging(f"{word}: {text}", 6)
            else:
                yield from self._pair_lines(word, text, longest)

    @show.register(tree.Code)
    def _(self, block: tree.Code) -> Iterator[str]:
        for line in block.text.split("\n"):
            if line.startswith("fairgauge "):  # a shell takes a command on one line alone
                yield f"    {printable(line)}"
                continue
            indent = 4 + len(line) - len(line.lstrip())
            yield from self.wrapped(line.lstrip(), min(indent, self.width // 2))

    @show.register(tree.Table)
    def _(self, block: tree.Table) -> Iterator[str]:
        yield ""
        if block.titled:
            yield from self.wrapped(block.caption, 0, Tone.PLAIN)
        if not any(column.numeric for column in block.columns):
            said = ([c.text.removesuffix(".") for c in row[1:] if c.text] for row in block.rows)
            pairs = zip((row[0].text for row in block.rows), map("; ".join, said), strict=True)
            yield from self.show(tree.Facts(tuple(pairs)))
            return
        columns, cells = _split_block(block)
        yield from table(columns, cells[: len(block.rows)], cells[len(block.rows) :], self)
        for note in block.notes:
            yield from self.wrapped(note.replace("   ", " · "), 0, Tone.SOFT)

    @show.register(tree.Chart)
    def _(self, block: tree.Chart) -> Iterator[str]:
        yield ""
        yield from self.wrapped(block.caption, 0, Tone.PLAIN)
        labels = (wrap(printable(row.label), _CHART_NAME) for row in block.rows)
        longest = max((width(part) for parts in labels for part in parts), default=0)
        for row in block.rows:
            own = _GAP.join(filter(None, [row.text, row.below]))
            yield from self._pair_lines(row.label, own, longest, 30)
        for note in block.notes:
            yield from self.wrapped(note, 2, Tone.SOFT)

    @show.register(tree.CurveChart)
    @show.register(tree.DotArrays)
    @show.register(tree.RuleGrid)
    @show.register(tree.SignOff)
    @show.register(tree.TimeChart)
    def _(self, block: tree.Block) -> Iterator[str]:
        del block
        yield from ()


def _split_block(block: tree.Table) -> tuple[list[tree.Column], list[list[str]]]:
    # a number without what stands beside others would otherwise stand under those
    columns, every = list(block.columns), [*block.rows, *block.totals]
    cells = [[printable(f"{cell.text} {cell.below}".strip()) for cell in row] for row in every]
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
    rooms = [list(zip(row, most, strict=True)) for row in every]
    cells = [[wrap(cell, at) if at else [cell] for cell, at in row] for row in rooms]
    widths = [
        max(width(line) for lines in (heads[i], *(row[i] for row in cells)) for line in lines)
        for i in range(len(columns))
    ]
    parts = list(_parts(widths, text.width, columns))
    for part in parts if text.full else parts[:1]:
        height = max(len(heads[i]) for i in part)
        for level in range(height):
            head = [([""] * (height - len(heads[i])) + heads[i])[level] for i in part]
            yield text.paint(_line(head, part, widths, columns), Tone.PLAIN)
        for row in cells:
            for line in zip_longest(*(row[i] for i in part), fillvalue=""):
                yield _line(line, part, widths, columns)
    if not text.full:
        left = (columns[i] for part in parts[1:] for i in part if i not in parts[0])
        text.hidden |= dict.fromkeys(column.heading for column in left)


def _parts(widths: Sequence[int], most: int, columns: Sequence[tree.Column]) -> Iterator[list[int]]:
    names = [*takewhile(lambda i: not columns[i].numeric, range(1, len(widths)))]
    part, used = [0], widths[0]
    for i, room in enumerate(widths[1:], 1):
        if used + len(_GAP) + room > most and i > 1:
            yield part
            part, used = [0], widths[0]
            for name in names:  # as many as leave room for the column, and 40% of the line
                own = used + len(_GAP) + widths[name]
                if name >= i or own > most - max(room + len(_GAP), most * 2 // 5):
                    break
                part, used = [*part, name], own
        part.append(i)
        used += len(_GAP) + room
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
