"""A document in GitHub's Markdown: for pull requests and step summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

from fairgauge.render import _document_tree as tree
from fairgauge.render._document_tree import Tone
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.verdict_sentences import verdict_word

_SPECIAL = re.compile(r"([\\`*_|~$]|\[(?![-+\d∞])|\](?=[(\[:]))")
_OPENING = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]\s))")
_CALLING = re.compile(r"([#@:])(?=[\w+-])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BARE = re.compile(r"(?i)\b(https?|ftp|www|mailto|xmpp)(?=[\\.:])")
_MARKS = {Tone.GOOD: "✅", Tone.BAD: "❌", Tone.UNSURE: "❔", Tone.SOFT: "➖", Tone.PLAIN: ""}


def _mark(tone: Tone, text: str) -> str:
    # a text in bold after its mark; after a blank, asterisks would stay what they are
    return f"**{f'{_MARKS[tone]} {text}'.strip()}**"


def write(document: tree.DocumentTree, shown: object = None, *, full: bool = False) -> str:
    """Write a document in Markdown."""
    del shown
    return "\n".join(_document(document, full=full)) + "\n"


def escape(text: object, *, cell: bool = False) -> str:
    r"""Return a text that Markdown shows as it is: no markup, no links, one line.

    In a ``cell`` of a table a sign or a number opens no list.

    >>> escape("<b>*x*</b>"), escape("www.example.org")
    ('&lt;b&gt;\\*x\\*&lt;/b&gt;', 'www&#8203;.example.org')
    """
    shown = "".join(_ENTITIES.get(character, character) for character in printable(text))
    shown = _CALLING.sub(r"\1&#8203;", _SPECIAL.sub(r"\\\1", shown))
    shown = shown if cell else _OPENING.sub(r"\1&#8203;\2", shown)
    return _BARE.sub(lambda match: f"{match[0]}&#8203;", shown)


def _document(document: tree.DocumentTree, *, full: bool) -> Iterator[str]:
    # the sentences of a first page, with the grid of rules; the headline is the heading
    brief = document.brief
    yield f"# {escape(brief.headline)}"
    if brief.verdict:
        opening, *others = map(escape, brief.verdict)
        yield from ["", " ".join([_mark(document.tone, opening), *others])]
    for question, sentences in brief.answers:
        beside = document.warnings if sentences is brief.looked_at else ()
        yield from ["", f"**{escape(question)}**", ""]
        yield from (f"- {escape(each)}" for each in (*sentences, *beside))
    for each in document.exhibits:
        yield from _block(each)
    yield from ["", f"## {escape(document.title)}", ""]
    yield " ".join([f"{escape(document.beside)}.", *map(escape, document.lead)])
    if document.cover:
        yield from _block(tree.Facts(document.cover))
    if document.verdict:
        yield ""
        yield _mark(document.tone, escape(document.verdict))
    for section in document.sections:
        if section.id != "series" and (full or section.id != "all"):
            yield from _section(section, 2)
    if document.not_shown:
        text = spoken().say("read", "left_out", parts=document.not_shown, python=True)
        yield from ["", f"<sub>{escape(text)}</sub>"]
    yield ""
    yield f"<sub>fairgauge {document.version}, {escape(document.created[:10])}</sub>"


def _section(section: tree.Section, level: int) -> Iterator[str]:
    lines: list[str] = []
    for block in section.blocks:
        inner = _section(block, level + 1) if isinstance(block, tree.Section) else _block(block)
        lines += inner
    if any(lines):
        yield ""
        yield f"{'#' * level} {escape(section.title)}"
        yield from lines


@singledispatch
def _block(block: tree.Block) -> Iterator[str]:
    raise TypeError(f"no Markdown for {type(block).__name__}")


@_block.register(tree.Heading)
def _(block: tree.Heading) -> Iterator[str]:
    yield from ["", f"### {escape(block.text)}"]


@_block.register(tree.Paragraph)
def _(block: tree.Paragraph) -> Iterator[str]:
    if block.text:
        yield from ["", escape(block.text)]


@_block.register(tree.Items)
def _(block: tree.Items) -> Iterator[str]:
    yield from ["", *(f"- {escape(text)}" for text in block.items)]


@_block.register(tree.Facts)
def _(block: tree.Facts) -> Iterator[str]:
    yield from _rows(["", ""], block.pairs)


@_block.register(tree.Code)
def _(block: tree.Code) -> Iterator[str]:
    fence = "`" * max(3, max(map(len, re.findall("`+", block.text)), default=0) + 1)
    yield from ["", fence, block.text, fence]


@_block.register(tree.Table)
def _(block: tree.Table) -> Iterator[str]:
    if block.titled:
        yield from ["", f"**{escape(block.caption)}**"]
    heads = [column.heading for column in block.columns]
    every = [*block.rows, *block.totals]
    rows = [[f"{cell.text} {cell.below}".strip() for cell in row] for row in every]
    # a number without what stands beside others is under the numbers, not under those
    parted = [any(row[i].below for row in every) for i in range(len(heads))]
    numeric = [c.numeric and not two for c, two in zip(block.columns, parted, strict=True)]
    yield from _rows(heads, rows, numeric)
    yield from _notes(block.notes)


@_block.register(tree.RuleGrid)
def _(block: tree.RuleGrid) -> Iterator[str]:
    heads = ["", *(each.words + (each.text and f" ({each.text})") for each in block.rules)]
    lines = [line for _, part in block.parts for line in part]
    names = [name.text + (name.below and f" ({name.below})") for name, _ in lines]
    rows = [[name, *map(_verdict_cell, of)] for name, (_, of) in zip(names, lines, strict=True)]
    yield from ["", f"**{escape(block.caption)}**"]
    yield from _rows(heads, rows)
    yield from _notes(block.notes)


def _verdict_cell(cell: tree.GridCell | None) -> str:
    if cell is None:
        return "–"
    alone = "".join(f" ({letter})" for letter in cell.notes)
    return f"{in_words(verdict_word(cell.outcome))}{alone}, {cell.counts}"


@_block.register(tree.Chart)
def _(block: tree.Chart) -> Iterator[str]:
    beside = any(row.below for row in block.rows)
    rows = [[row.label, row.text, *([row.below] if beside else [])] for row in block.rows]
    words = spoken().terms["chart"]
    heads = [block.caption, words["value"]]
    if beside:
        measured = any(row.mark.low is not None for row in block.rows)
        heads.append(words["interval" if measured else "numbers"])
    yield from _rows(heads, rows)
    yield from _notes(block.notes)


@_block.register(tree.CurveChart)
@_block.register(tree.DotArrays)  # its sentence states it
@_block.register(tree.TimeChart)
def _(block: tree.Block) -> Iterator[str]:
    del block
    yield from ()


@_block.register(tree.SignOff)
def _(block: tree.SignOff) -> Iterator[str]:
    del block
    terms = spoken().terms
    title, *heads = terms["frame"]["signoff"]
    yield from ["", f"**{title}**"]
    rows = [[role, *[""] * len(heads)] for role in terms["record"]["roles"]]
    yield from _rows(["", *heads], rows)


def _notes(notes: Iterable[str]) -> Iterator[str]:
    for note in notes:
        yield from ["", f"<sub>{escape(note.replace('   ', '; '))}</sub>"]


def _rows(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Iterable[bool] = ()
) -> Iterator[str]:
    every = ([escape(text, cell=True) for text in row] for row in (heads, *rows))
    first, *others = (f"| {' | '.join(row)} |" for row in every)
    right = list(numeric) or [False] * len(heads)
    yield from ["", first, f"|{'|'.join('---:' if each else '---' for each in right)}|", *others]
