"""Grids of text from files: CSV, TSV, XLSX, Markdown and HTML, one or more in each.

Of a report of fairgauge they are those of the document to file, and nothing else of it.
"""

from __future__ import annotations

import csv
import html
import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import groupby, product
from pathlib import Path
from typing import TypeAlias

from fairgauge.errors import NOT_UTF_8, DataError, needing, quote
from fairgauge.plugins import check_workbook, read_limited
from fairgauge_check.printed import is_like_a_row

MOST_BYTES = 20_000_000
"""The largest file that is read: published tables are small."""
MOST_CELLS, MOST_ROWS, _MOST_COLUMNS = 20_000, 1_000, 200
_MOST_UNPACKED, _MOST_TEXT = 10_000_000, 1_000_000
SUFFIXES = (".csv", ".tsv", ".md", ".html", ".htm", ".xlsx")
"""The suffixes of files that can hold published tables."""
# the suffixes of other files that are published, and may hold tables
_DOCUMENTS = re.compile(r"\.(txt|pdf|docx?|rtf|od[ts]|pages|xls[bm]?|numbers|pptx?|tab|xhtml|zip)")

_TOO_LARGE = (
    f"a published table has at most {MOST_CELLS:,} cells. For rows of data, use fairgauge audit"
)
_RULE = re.compile(r":?-{2,}:?")
_PIPE = re.compile(r"(?<!\\)\|")
# a footnote's mark in Markdown and HTML
_RAISED = re.compile(r"<sup>(?!(st|nd|rd|th)</sup>)[^<]{0,20}</sup>", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# how a workbook shows a number with decimal places
_DECIMALS = re.compile(r"(#,##)?0\.0+")
_ORDINALS = ("st", "nd", "rd", "th")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!][^<>]*>", re.IGNORECASE)
# what a page holds besides its text and tags; what is not closed reaches to its end
_NO_TEXT = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1[^>]*(?:>|\Z)|\Z)|<[!?][^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TITLE_MARKS = "#*_: "
_TITLES = ("caption", "h1", "h2", "h3", "h4", "h5", "h6")
_PARTS = ("table", "tr", "th", "td")
_Cell: TypeAlias = tuple[list[str], int, int]
"""The pieces of a cell's text, and how many rows and columns it spans."""

_FILED = re.compile(
    r"^## To file\s*$(.*?)(?=^## |\Z)|"
    r"<h2[^<>]*>\s*(?:<bdi>)?To file\b.{0,200}?</h2>(.*?)(?=<h2\b|\Z)",
    re.DOTALL | re.MULTILINE,
)
# pairs of a word and what it is, which are no table
_FACTS = re.compile(r"^\|  \|  \|\n(?:\|.*\n)+", re.MULTILINE)
# what every report begins with, or holds
_OWN = re.compile(
    r"\A.{0,80}Fairness audit: |\bmade with( \| |</dt><dd>)fairgauge \d|"
    r"^ *A disparity is a measured fact; whether|^<sub>fairgauge \d[\w.]*, \d{4}-\d\d-\d\d</sub>|"
    r"<meta name=\"generator\" content=\"fairgauge \d|"
    r"\A(metric,set,feature,group,reference,|feature,group,reference_kind,scope,)",
    re.MULTILINE,
)
# of the specification that every report ends with, and of the sentences below the tables
_EXCLUDED = re.compile(r'"exclude_groups": \[\s*[^\]\s]|Excluded groups \(')
_PROTECTED = re.compile(r"\bprotected counts, which are rounded|Counts are protected: rounded|"
                        r"Counts of [\d,]+ sites, rounded to ")  # fmt: skip
_NO_TABLES = (
    "this is a report of fairgauge {}; audit with a preset (--preset NAME), save the whole report, "
    "in English, as .md or .html, and check that; a report is held against its counts by fairgauge "
    "seal and verify"
)


class NoTable(DataError):  # noqa: N818 - named for what is missing
    """A file was read, and holds no table."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a table as text, with as many cells in every row as the header has.

    ``name`` is what stands above it, or the sheet's name; ``own``, ``excludes`` and ``preset``
    state whether it is of a report of fairgauge, of one that excludes groups, and by which preset.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    own: bool = False
    excludes: bool = False
    preset: str | None = None


def read_grids(path: Path) -> list[Grid]:
    """Read every table of a file.

    Raises ``DataError``: the file cannot be read, or is too large; ``NoTable`` where it holds no
        table.
    Raises ``MissingExtra``: an XLSX file without the library that reads it.
    """
    suffix = path.suffix.casefold()
    if suffix not in SUFFIXES:
        refused = DataError if _DOCUMENTS.fullmatch(suffix) else NoTable
        raise refused(f"{quote(path)} is no table that can be read: use {', '.join(SUFFIXES)}")
    content = read_limited(path, MOST_BYTES, "a published table (for rows: fairgauge audit)")
    if suffix == ".xlsx":
        return _sheets(content, path)
    is_utf_16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = content.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is {NOT_UTF_8}") from None
    return grids_of_text(text, suffix)


def grids_of_text(text: str, suffix: str = "") -> list[Grid]:
    r"""Return every table of a text, whose kind is found where no ``suffix`` states it.

    >>> grids_of_text("sex,n,hired\nMale,80,48\nFemale,40,12")[0].rows
    (('Male', '80', '48'), ('Female', '40', '12'))
    """
    if suffix in (".html", ".htm") or "<table" in text[:200_000].casefold():
        suffix, text = ".html", _NO_TEXT.sub("", _RAISED.sub("", text))
    if "\0" in text:
        raise DataError("the text holds a character NUL, which no text has")
    if len(text) > _MOST_TEXT:
        raise DataError(f"the text has more than {_MOST_TEXT:,} characters; {_TOO_LARGE}")
    if (found := _FILED.search(text)) is None:
        if _OWN.search(text):
            what = "without its tables to publish, and a check reads published tables"
            raise DataError(_NO_TABLES.format(what))
        return _read_text(text, suffix)
    filed = _read_text(_FACTS.sub("", found[1] or found[2]), suffix)
    text = _unescape(_TAG.sub(" ", text))
    if _PROTECTED.search(text):
        raise DataError(
            "this report of fairgauge is of protected counts, which are rounded at random: no "
            "rate, interval or verdict can be computed from them as from exact ones; those of the "
            "report itself allow for the rounding"
        )
    preset = re.findall(r'"preset": "([^"]+)"', text)
    excludes, of = bool(_EXCLUDED.search(text)), preset[-1] if preset else None
    own = (each for each in filed if each.rows)
    return [replace(each, own=True, excludes=excludes, preset=of) for each in own]


def _read_text(text: str, suffix: str) -> list[Grid]:
    lines = text.replace("\f", "").splitlines()
    if suffix == ".html":
        parser = _Tables()
        parser.feed(text[: text.rfind(">") + 1])  # it seeks the end of a tag without one each time
        parser.close()
        read = [(_joined(title), _spread_cells(rows)) for title, rows in parser.tables]
        blocks = [[[name], *rows] if name else rows for name, rows in read]
    elif suffix == ".md" or any("|" in line and _is_rule(line) for line in lines):
        blocks = _markdown_blocks(lines)
    else:
        first = next((line for line in lines if line.strip()), "")
        delimiter = "\t" if suffix == ".tsv" else max(",;\t|", key=first.count)
        try:
            rows = [*csv.reader(io.StringIO(text), delimiter=delimiter)]
        except csv.Error as error:
            raise DataError(f"the table is no CSV: {error}") from None
        parts = groupby(rows, lambda row: any(cell.strip() for cell in row))
        blocks = [[*block] for filled, block in parts if filled]
    return [grid for block in blocks for grid in _grids("", block)]


def _grids(name: str, rows: Sequence[Sequence[str]]) -> list[Grid]:
    # the tables of rows whose first is a header; none where there is no table
    filled = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    width = max(map(len, filled), default=0)
    if len(filled) * width > MOST_CELLS or len(filled) > MOST_ROWS + 1 or width > _MOST_COLUMNS:
        raise DataError(
            f"a table has {len(filled):,} rows and {len(filled) * width:,} cells, at most "
            f"{MOST_ROWS:,} rows, {_MOST_COLUMNS} columns and {MOST_CELLS:,} cells are read; for "
            "rows of data, use fairgauge audit"
        )
    padded = [row + [""] * (width - len(row)) for row in filled]
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
        last = body[at - 1] if 0 < at < len(body) else [""]
        # one text that is no sentence is the title of what stands below
        title = "" if any(last[1:]) or last[0].endswith(".") else last[0]
        if above := body[: at - 1] if title else body[:at]:
            found.append(Grid(name, tuple(header), tuple(map(tuple, above))))
        name, padded = title or name, body[at:]


def _is_rule(line: str) -> bool:
    # whether a line of Markdown is the one below a header
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_RULE.fullmatch(cell.strip()) for cell in cells)


def _markdown_blocks(lines: Sequence[str]) -> list[list[list[str]]]:
    blocks: list[list[list[str]]] = []
    name, rows = "", list[list[str]]()
    for line in [*lines, ""]:
        if "|" in line:
            if not _is_rule(line):
                plain = _BREAK.sub(" ", _RAISED.sub("", line)).strip()
                cells = _PIPE.split(plain.removeprefix("|").removesuffix("|"))
                texts = (_unescape(cell).strip() for cell in cells)
                # asterisks alone are the mark of a footnote
                rows.append([text.strip("*_") or text.strip("_") for text in texts])
            continue
        if rows or is_like_a_row(name):
            blocks.append([[name], *rows] if name else rows)
            name = ""
        title = line.strip().lstrip(_TITLE_MARKS)
        bare = title.rstrip(_TITLE_MARKS)
        bare += title[len(bare) : len(bare) + 1] if bare.endswith("\\") else ""  # which is escaped
        name = _unescape(bare) or name
        rows = []
    return blocks


def _unescape(text: str) -> str:
    # a text of Markdown without backslashes in front of marks, and entities as marks
    return html.unescape(_ESCAPED.sub(r"\1", text))


class _Tables(HTMLParser):
    """Collects the cells of every table, with its caption or heading, and how far they span."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[list[str], list[list[_Cell]]]] = []
        self._text: list[str] | None = None  # of the cell, or of the title, that is open
        self._in_cell = False
        self._heading: list[str] = []
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _PARTS:
            self._text, self._in_cell = None, False  # end tags of cells and rows are optional
        if tag == "table":
            self.tables.append((self._heading, []))
            self._heading, self._cells = [], 0
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1][1]:
            texts = (dict(attrs).get(each) or "" for each in ("rowspan", "colspan"))
            rows, columns = (min(int(n), 100) or 1 if n.isdecimal() else 1 for n in texts)
            self._text, self._in_cell = [], True
            self.tables[-1][1][-1].append((self._text, rows, columns))
            self._cells += rows * columns
            if self._cells > MOST_CELLS:
                raise DataError(f"a table has more than {MOST_CELLS:,} cells; {_TOO_LARGE}")
        elif tag in _TITLES and not self._in_cell:
            self._text = []
            if tag == "caption" and self.tables:
                self.tables[-1] = (self._text, self.tables[-1][1])
            else:
                self._heading = self._text
        elif tag in ("br", "p", "div"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in _PARTS or (tag in _TITLES and not self._in_cell):
            self._text, self._in_cell = None, False


def _spread_cells(rows: Sequence[Sequence[_Cell]]) -> list[list[str]]:
    # the texts of rows, of cells that span several in each of them
    texts: dict[tuple[int, int], str] = {}
    for i, row in enumerate(rows):
        j = 0
        for pieces, down, right in row:
            while (i, j) in texts:
                j += 1
            cells = product(range(i, i + down), range(j, j + right))
            texts |= dict.fromkeys(cells, _joined(pieces))
    width = 1 + max((j for _, j in texts), default=-1)
    if len(rows) * width > MOST_CELLS:
        raise DataError(f"a table has {len(rows):,} rows of {width:,} cells; {_TOO_LARGE}")
    return [[texts.get((i, j), "") for j in range(width)] for i, _ in enumerate(rows)]


def _joined(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def _sheets(content: bytes, path: Path) -> list[Grid]:
    with needing("xlsx", "reading an XLSX file"):
        import openpyxl
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_workbook(archive, _MOST_UNPACKED)
        book = openpyxl.load_workbook(io.BytesIO(content), data_only=True, rich_text=True)
    except Exception as error:
        raise DataError(f"cannot read {quote(path)} as XLSX: {error}") from None
    found, sheets = list[Grid](), book.worksheets
    for sheet in sheets:
        if (cells := sheet.max_row * sheet.max_column) > MOST_CELLS:
            message = f"{quote(sheet.title)} of {quote(path)} has {cells:,} cells"
            raise DataError(f"{message}; {_TOO_LARGE}")
    if sheets[0].title in ("Summary", "To publish") and sheets[-1].title == "Specification":
        raise DataError(_NO_TABLES.format("as a workbook, of which a check reads no tables"))
    for sheet in sheets:
        rows = [[_format_cell(e.value, e.number_format) for e in row] for row in sheet.rows]
        for merged in sheet.merged_cells.ranges:
            top = rows[merged.min_row - 1][merged.min_col - 1]
            for row, column in merged.cells:
                rows[row - 1][column - 1] = top
        found += _grids(sheet.title, rows)
    return found


def _format_cell(value: object, number_format: str) -> str:
    # a cell as a reader sees it: a share formatted as a percentage is one
    if value is None:
        return ""
    if isinstance(value, list):  # formatted text: parts, of which raised ones are footnotes' marks
        fonts = ((str(part), getattr(part, "font", None)) for part in value)
        parts = [(text, getattr(font, "vertAlign", "")) for text, font in fonts]
        return "".join(t for t, align in parts if align != "superscript" or t in _ORDINALS)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number_format = number_format.partition(";")[0].lstrip("+")  # of signed numbers
        places = len(number_format.rstrip("%").partition(".")[2])
        if number_format.endswith("%"):
            return f"{100 * value:.{places}f}%"
        if _DECIMALS.fullmatch(number_format):
            return f"{value:.{places}f}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
