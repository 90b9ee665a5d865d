"""Grids of text from files: CSV, TSV, XLSX, Markdown and HTML, one or more in each."""

from __future__ import annotations

import csv
import html
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError, iterparse

from fairgauge.errors import NOT_UTF_8, DataError, MissingExtra, quote
from fairgauge.plugins import read_limited
from fairgauge_check.own_reports import facts_of_report, sheets_to_publish, tables_to_publish
from fairgauge_check.printed_numbers import is_like_a_row, read_number

MOST_BYTES = 20_000_000
"""The largest file that is read: published tables are small."""
MOST_CELLS, MOST_COLUMNS, MOST_ROWS = 20_000, 200, 1_000
_MOST_UNPACKED, _MOST_TEXT, _LONGEST_LINE = 2 * MOST_BYTES, 1_000_000, 20_000
SUFFIXES = (".csv", ".tsv", ".md", ".html", ".htm", ".xlsx")
"""The suffixes of files that can hold published tables."""
_DOCUMENTS = re.compile(
    r"\.(txt|pdf|docx?|rtf|odt|pages|xls[bm]?|ods|numbers|pptx?|prn|tab|text|markdown|xhtml|zip)"
)
"""The suffixes of other files that are published, and may hold tables."""

_TOO_LARGE = (
    f"a published table has at most {MOST_COLUMNS:,} columns and {MOST_CELLS:,} cells. For rows of "
    "data, use fairgauge audit"
)
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")
_PIPE = re.compile(r"(?<!\\)\|")
_RAISED = re.compile(r"<sup>(?!(st|nd|rd|th)</sup>)[^<]{0,20}</sup>", re.IGNORECASE)
"""A footnote's mark in Markdown and HTML."""
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_TEXT_CELLS = ("td", "th")
_DECIMALS = re.compile(r"(#,##)?0\.0+")
"""How a workbook shows a number with decimal places."""
_ORDINALS = ("st", "nd", "rd", "th")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!][^<>]*>", re.IGNORECASE)
_MOST_SIGNS = 500
_BLANKS, _NO_WORDS = re.compile(r"\s{100,}"), re.compile(rf"\W{{{_MOST_SIGNS}}}")
_NO_TEXT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1[^>]*(?:>|\Z)|\Z)|<[!?][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""What a page holds besides its text and tags; what is not closed reaches to its end."""
_TITLE_MARKS = re.compile(r"^[#*_: ]+|(?<!\\)[#*_: ]+$")
"""Emphasis around a title of Markdown, and no escaped mark at its end."""
_TITLES = ("caption", "h1", "h2", "h3", "h4", "h5", "h6")


class NoTable(DataError):  # noqa: N818 - named for what is missing
    """A file was read, and holds no table."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a table as text.

    Attributes
    ----------
    name : what stands above it, or the sheet's name; empty where nothing does.
    header : the names of the columns.
    rows : as many cells as the header has, in every row.
    first : the number of the first row.
    own, excludes : whether it is of a report of fairgauge, and of one that excludes groups.
    preset : the preset of that report, None without one.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first: int = 1
    own: bool = False
    excludes: bool = False
    preset: str | None = None


def read_grids(path: Path) -> list[Grid]:
    """Read every table of a file.

    Raises
    ------
    DataError
        The file cannot be read, or is too large; ``NoTable`` where it holds no table.
    MissingExtra
        An XLSX file without the library that reads it.
    """
    suffix = path.suffix.casefold()
    if suffix not in SUFFIXES:
        refused = DataError if _DOCUMENTS.fullmatch(suffix) else NoTable
        raise refused(f"{quote(path)} is no table that can be read: use {', '.join(SUFFIXES)}")
    content = _content(path)
    is_book = suffix == ".xlsx"
    found = _sheets(content, path) if is_book else grids_of_text(_decoded(content, path), suffix)
    if not found:
        raise NoTable(f"{quote(path)} {NO_TABLE}")
    return found


def grids_of_text(text: str, suffix: str = "") -> list[Grid]:
    r"""Return every table of a text, whose kind is found where no ``suffix`` states it.

    Examples
    --------
    >>> grids_of_text("sex,n,hired\nMale,80,48\nFemale,40,12")[0].rows
    (('Male', '80', '48'), ('Female', '40', '12'))
    """
    html = _kind(text[:MOST_BYTES], [], suffix) == ".html"
    text = _BLANKS.sub(" ", _NO_TEXT.sub("", _RAISED.sub("", text))) if html else text
    _check_width(text, html=html)
    published = tables_to_publish(text)
    if published is None:
        return _grids(text, suffix)
    facts = facts_of_report(_unescaped(_TAG.sub(" ", text)))
    return [replace(grid, **facts) for grid in _grids(published, suffix)]


def _check_width(text: str, *, html: bool) -> None:
    """Refuse what is larger than a published table, before anything is looked for."""
    if "\0" in text:
        raise DataError("the text holds a character NUL, which no text has")
    if html and _NO_WORDS.search(text):
        raise DataError(f"the page has {_MOST_SIGNS:,} signs without a letter or digit between")
    if len(text) > _MOST_TEXT:
        raise DataError(f"the text has more than {_MOST_TEXT:,} characters; {_TOO_LARGE}")
    if html:
        longest = max(map(len, re.split("[<>]", text)))
        if longest > _LONGEST_LINE:
            raise DataError(f"a text between tags has {longest:,} characters; {_TOO_LARGE}")
        return
    for number, line in enumerate(text.splitlines(), 1):
        columns = max(map(line.count, ",;|\t")) + 1 if len(line) > MOST_COLUMNS else 1
        if columns > MOST_COLUMNS:
            raise DataError(f"line {number:,} has {columns:,} columns; {_TOO_LARGE}")
        if len(line) > _LONGEST_LINE:
            raise DataError(f"line {number:,} has {len(line):,} characters; {_TOO_LARGE}")


def _kind(text: str, lines: Sequence[str], suffix: str) -> str:
    if suffix in (".html", ".htm") or "<table" in text[:200_000].casefold():
        return ".html"
    if suffix == ".md" or any(_RULE.match(line) and "|" in line for line in lines):
        return ".md"
    return ".csv"


def _grids(text: str, suffix: str) -> list[Grid]:
    lines = text.replace("\f", "").splitlines()
    match _kind(text, lines, suffix):
        case ".html":
            return _of_html(text)
        case ".md":
            return _of_markdown(lines)
    return _of_csv(text, _delimiter(lines, suffix))


NO_TABLE = "holds no table of at least two columns and two rows"


def _content(path: Path) -> bytes:
    return read_limited(path, MOST_BYTES, "a published table (for rows: fairgauge audit)")


def _decoded(content: bytes, path: Path) -> str:
    for encoding in ("utf-8-sig", "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else None):
        if encoding:
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                continue
    raise DataError(f"{quote(path)} is {NOT_UTF_8}")


def _whole(blocks: Iterable[Sequence[list[str]]]) -> Iterator[Grid]:
    """Yield the grids of blocks; one that begins with a row of numbers goes on with that above."""
    found: list[list[list[str]]] = []
    for block in blocks:
        rows = [row for row in block if len(row) > 1 or is_like_a_row("".join(row))]
        above = next((each for each in reversed(found) if len(each[-1]) > 1), None)
        numbered = rows and any(read_number(cell.strip()) is not None for cell in rows[0][1:])
        if above and numbered and len(rows[0]) == len(above[-1]):
            above += rows  # without "continued on the next page"
        else:
            found.append([*block])
    for block in found:
        yield from _grid("", block)


def _grid(name: str, rows: Sequence[Sequence[str]]) -> list[Grid]:
    """Return a grid of rows whose first is the header; none where there is no table."""
    filled = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    width = max(map(len, filled), default=0)
    padded = [row + [""] * (width - len(row)) for row in filled]
    if len(padded) * width > MOST_CELLS:
        raise DataError(f"a table has {len(padded) * width:,} cells; {_TOO_LARGE}")
    if len(padded) > MOST_ROWS + 1:
        raise DataError(f"a table has {len(padded):,} rows, at most {MOST_ROWS:,} are read; "
                        "for rows of data, use fairgauge audit")  # fmt: skip
    found: list[Grid] = []
    while True:
        while padded and sum(1 for cell in padded[0] if cell) < min(2, width):
            title = next(filter(None, padded[0]), "")  # above the header
            if is_like_a_row(title):
                found.append(Grid("", (title,), ()))
            name, padded = name or title, padded[1:]
        if len(padded) < 2 or width < 2:
            lone = (" ".join(row) for row in padded)
            return found + [Grid(name, (row,), ()) for row in lone if is_like_a_row(row)]
        header, *body = padded
        again = (i for i, row in enumerate(body) if row[1:] == header[1:])
        at = next(again, len(body))  # a header that stands again begins another table
        title = body[at - 1][0] if 0 < at < len(body) and _is_title(body[at - 1]) else ""
        if above := body[: at - 1] if title else body[:at]:
            found.append(Grid(name, tuple(header), tuple(map(tuple, above))))
        name, padded = title or name, body[at:]


def _is_title(row: Sequence[str]) -> bool:
    """Return whether a row is one text that is no sentence: the title of what stands below."""
    return bool(row[0]) and not any(row[1:]) and not row[0].endswith(".")


def _delimiter(lines: Sequence[str], suffix: str) -> str:
    first = next((line for line in lines if line.strip()), "")
    return "\t" if suffix == ".tsv" else max(",;\t|", key=first.count)


def _of_csv(text: str, delimiter: str) -> list[Grid]:
    try:
        rows = [*csv.reader(io.StringIO(text), delimiter=delimiter)]
    except csv.Error as error:
        raise DataError(f"the table is no CSV: {error}") from None
    blocks = groupby(rows, lambda row: any(cell.strip() for cell in row))
    return [*_whole([*block] for filled, block in blocks if filled)]


def _of_markdown(lines: Sequence[str]) -> list[Grid]:
    blocks: list[list[list[str]]] = []
    name, rows = "", list[list[str]]()
    for line in [*lines, ""]:
        if "|" in line:
            if not _RULE.match(line):
                rows.append(_pipe_cells(line))
        else:
            if rows or is_like_a_row(name):
                blocks.append([[name], *rows] if name else rows)
            name = _unescaped(_TITLE_MARKS.sub("", line.strip())) or (
                "" if rows or is_like_a_row(name) else name
            )
            rows = []
    return [*_whole(blocks)]


def _pipe_cells(line: str) -> list[str]:
    cells = _PIPE.split(
        _BREAK.sub(" ", _RAISED.sub("", line)).strip().removeprefix("|").removesuffix("|")
    )
    plain = (_unescaped(cell).strip() for cell in cells)
    # asterisks alone are the mark of a footnote
    return [cell.strip("*_") or cell.strip("_") for cell in plain]


def _unescaped(text: str) -> str:
    """Return a text of Markdown without backslashes in front of marks, and entities as marks."""
    return html.unescape(_ESCAPED.sub(r"\1", text))


class _Tables(HTMLParser):
    """Collects the cells of every table, cells that span several repeated, with captions."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[tuple[str, list[list[str]]]] = []
        self._text: list[str] | None = None
        self._span, self._cells = (1, 1), 0
        self._pending: dict[tuple[int, int], str] = {}
        self._heading, self._in_cell = "", False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in (*_TEXT_CELLS, "tr"):
            self._end_cell()  # end tags of cells and rows are optional
        if tag == "table":
            self.tables.append((self._heading, []))
            self._pending, self._heading, self._cells = {}, "", 0
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
            self._fill()
        elif tag in _TEXT_CELLS and self.tables and self.tables[-1][1]:
            found = dict(attrs)
            self._text, self._in_cell = [], True
            self._span = (_span(found.get("rowspan")), _span(found.get("colspan")))
            self._cells += self._span[0] * self._span[1]
            if self._cells > MOST_CELLS:
                raise DataError(f"a table has more than {MOST_CELLS:,} cells; {_TOO_LARGE}")
        elif tag in _TITLES and not self._in_cell:
            self._text = []
        elif tag in ("br", "p", "div"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in (*_TEXT_CELLS, "tr", "table"):
            self._end_cell()
        elif tag in _TITLES and self._text is not None and not self._in_cell:
            if tag == "caption" and self.tables:
                self.tables[-1] = (self._taken(), self.tables[-1][1])
            else:
                self._heading = self._taken()

    def _taken(self) -> str:
        text = " ".join("".join(self._text or ()).split())
        self._text = None
        return text

    def _end_cell(self) -> None:
        if not self._in_cell:
            return
        self._in_cell = False
        text, rows = self._taken(), self.tables[-1][1]
        for _ in range(self._span[1]):
            row, column = len(rows) - 1, len(rows[-1])
            for below in range(1, self._span[0]):
                self._pending[row + below, column] = text
            rows[-1].append(text)
        self._fill()

    def _fill(self) -> None:
        """Put in the cells that span down into the present row."""
        rows = self.tables[-1][1]
        while (at := (len(rows) - 1, len(rows[-1]))) in self._pending:
            rows[-1].append(self._pending.pop(at))


def _span(text: str | None) -> int:
    return min(int(text), 100) if text and text.isdigit() and int(text) else 1


def _tables_of_html(text: str) -> list[tuple[str, list[list[str]]]]:
    parser = _Tables()
    parser.feed(text[: text.rfind(">") + 1])  # of a tag without end, the parser seeks it each time
    parser.close()
    return parser.tables


def _of_html(text: str) -> list[Grid]:
    return [*_whole([[name], *rows] if name else rows for name, rows in _tables_of_html(text))]


def _sheets(content: bytes, path: Path) -> list[Grid]:
    found: list[Grid] = []
    sheets = _workbook(content, path).worksheets
    for sheet in sheets:
        _check_cells(sheet.max_row * sheet.max_column, sheet.title, path)
    own = sheets_to_publish(sheets)
    every = (cell.value for sheet in sheets for row in sheet.rows for cell in row)
    facts = facts_of_report(" ".join(map(str, every))) if own else {}
    for sheet in own or sheets:
        rows = [[_cell(cell.value, cell.number_format) for cell in row] for row in sheet.rows]
        for merged in sheet.merged_cells.ranges:
            top = rows[merged.min_row - 1][merged.min_col - 1]
            for row, column in merged.cells:
                rows[row - 1][column - 1] = top
        grids = _grid("" if own else sheet.title, rows)
        found += [replace(grid, **facts) for grid in grids]
    return found


def _workbook(content: bytes, path: Path) -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("reading an XLSX file", "xlsx", error) from None
    if (unpacked := _unpacked(content, path)) > _MOST_UNPACKED:
        raise DataError(
            f"{quote(path)} unpacks to {unpacked:,} bytes; no published table is that large"
        )
    for name, cells in _cells_of_sheets(content, path):
        _check_cells(cells, name, path)
    try:
        return openpyxl.load_workbook(io.BytesIO(content), data_only=True, rich_text=True)
    except Exception as error:
        raise DataError(f"cannot read {quote(path)} as XLSX: {error}") from None


def _check_cells(cells: int, sheet: str, path: Path) -> None:
    if cells > MOST_CELLS:
        raise DataError(f"{quote(sheet)} of {quote(path)} has {cells:,} cells; {_TOO_LARGE}")


def _cells_of_sheets(content: bytes, path: Path) -> Iterator[tuple[str, int]]:
    """Yield every part of a workbook with its cells, those of merged ranges among them."""
    from openpyxl.utils import range_boundaries

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            cells = 0
            try:
                for _, each in iterparse(archive.open(name)):  # noqa: S314 - openpyxl does, too
                    if each.tag.endswith("}c"):
                        cells += 1
                    elif each.tag.endswith("}mergeCell"):
                        left, top, right, bottom = range_boundaries(each.get("ref", ""))
                        cells += (right - left + 1) * (bottom - top + 1)
                    each.clear()
            except (ParseError, TypeError, ValueError):
                pass  # no XML, or not as openpyxl reads it
            except Exception as error:  # whatever a damaged archive leads to
                raise DataError(f"cannot read {quote(path)} as XLSX: {error}") from None
            yield name, cells


def _unpacked(content: bytes, path: Path) -> int:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(each.file_size for each in archive.infolist())
    except zipfile.BadZipFile as error:
        raise DataError(f"cannot read {quote(path)} as XLSX: {error}") from None


def _is_raised(part: object) -> bool:
    font = getattr(part, "font", None)
    return getattr(font, "vertAlign", None) == "superscript" and str(part) not in _ORDINALS


def _cell(value: object, number_format: str) -> str:
    """Return a cell as a reader sees it: a share formatted as a percentage is one."""
    if value is None:
        return ""
    if isinstance(value, list):  # formatted text: parts, of which raised ones are footnotes' marks
        return "".join(str(part) for part in value if not _is_raised(part))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        places = len(number_format.rstrip("%").partition(".")[2])
        if number_format.endswith("%"):
            return f"{100 * value:.{places}f}%"
        if _DECIMALS.fullmatch(number_format):
            return f"{value:.{places}f}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
