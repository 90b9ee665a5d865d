"""Tables, clipping and colours for a terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.render.display_names import shorten, width
from fairgauge.render.numbers import NO_BREAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CODES = {"bold": "1", "dim": "2", "good": "1;32", "bad": "1;31", "unsure": "1;33"}
_GAP = "  "
_WIDEST_HEAD = 11
_NARROWEST_PROSE = 24
_WORDS = re.compile(r"(?<=[_.])|\s+")


@dataclass(frozen=True, slots=True)
class Style:
    """ANSI colours, or none."""

    on: bool

    def paint(self, text: str, style: str) -> str:
        """Return a text in a style."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and style else text

    def bold(self, text: str) -> str:
        """Return a text in bold."""
        return self.paint(text, "bold")

    def dim(self, text: str) -> str:
        """Return a text that stands back."""
        return self.paint(text, "dim")


def clip(text: str, most: int) -> str:
    """Cut a text at its end."""
    while width(text) > most:
        text = f"{text[:-2]}…"
    return text


def wrap(text: str, most: int) -> list[str]:
    """Break a text between words into lines of at most ``most`` columns; at least one line."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined) <= most:
            lines[-1] = joined
        else:
            lines += [shorten(word, most)] if lines[-1] else []
            lines[-1] = shorten(word, most)
    return [line.replace(NO_BREAK, " ") for line in lines]


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int,
    style: Style,
    *,
    prose: bool = False,
    once: bool = False,
) -> Iterator[str]:
    """Yield a table: names on the left, numbers to the right, headings stacked word by word.

    Columns that do not fit beside each other follow below, with the names again; with ``once`` they
    are left out. With ``prose``, the last column is text that is wrapped.
    """
    last = len(heads) - 1 if prose else len(heads)
    stacked = [_stack(head) for head in heads]
    widths = [max([*map(width, stacked[i]), *(width(row[i]) for row in rows)]) for i in range(last)]
    for part in _parts(widths, most - len(_GAP)):
        yield from _block(stacked, rows, widths, part, style, most, prose=prose)
        if once:
            return


def _parts(widths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the columns that fit beside each other, the first among them each time."""
    part, used = [0], widths[0]
    for i, each in enumerate(widths[1:], 1):
        if used + len(_GAP) + each > most and len(part) > 1:
            yield part
            part, used = [0], widths[0]
        part.append(i)
        used += len(_GAP) + each
    yield part


def _block(
    heads: Sequence[list[str]],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    part: list[int],
    style: Style,
    most: int,
    *,
    prose: bool,
) -> Iterator[str]:
    height = max(len(heads[i]) for i in part)
    for level in range(height):
        cells = [([""] * (height - len(heads[i])) + heads[i])[level] for i in part]
        line = _GAP + _GAP.join(_pad(c, widths[i], i) for c, i in zip(cells, part, strict=True))
        yield style.dim(line.rstrip())
    for row in rows:
        line = _GAP + _GAP.join(_pad(row[i], widths[i], i) for i in part)
        if not prose:
            yield line
            continue
        indent = width(line) + len(_GAP)
        wrapped = wrap(row[-1], max(most - indent, _NARROWEST_PROSE))
        yield f"{line}{_GAP}{wrapped[0]}"
        yield from (" " * indent + more for more in wrapped[1:])


def _pad(text: str, columns: int, at: int) -> str:
    space = " " * (columns - width(text))
    return f"{text}{space}" if at == 0 else f"{space}{text}"


def _stack(head: str) -> list[str]:
    """Break a heading between words into lines of a narrow column."""
    lines: list[str] = []
    for word in filter(None, _WORDS.split(head)):
        joined = (
            f"{lines[-1]}{'' if lines[-1].endswith(('_', '.')) else ' '}{word}" if lines else word
        )
        if lines and width(joined) <= _WIDEST_HEAD:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines or [""]
