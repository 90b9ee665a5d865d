"""A result as a workbook: its first page in words, its tables, and what was asked.

Texts are stored as texts, so that no name of a user is ever a formula or a link.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

from fairgauge.errors import needing
from fairgauge.render import _document_tree as tree
from fairgauge.render.grammar import spoken
from fairgauge.render.streams import FlatTable, table_of, tables_of
from fairgauge.render.words.display_names import printable, shorten, width
from fairgauge.results.codec import to_plain
from fairgauge.results.shown_result import ShownResult

TO_PUBLISH = "To publish"
_MINUS = "\u2212"
_NUMBER = re.compile(rf"([+{_MINUS}])?(\d[\d,]*)(\.\d+)?(%)?")
_LONGEST_TEXT = 32_000
_NARROWEST, _WIDEST = 8, 60
_LOOKED_AT = 200
_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}


def write(document: tree.DocumentTree, shown: ShownResult) -> bytes:
    """Write a workbook: the document to file, summary, all tables, and the specification."""
    with needing("xlsx", "a workbook (.xlsx)"):
        library = import_module("xlsxwriter")
    stream = io.BytesIO()
    with library.Workbook(stream, _OPTIONS) as book:
        made = datetime.fromisoformat(document.created).replace(tzinfo=None)
        book.set_properties({"title": printable(document.title), "created": made})
        writer = _Workbook(book)
        if document.to_publish:
            writer.to_publish(document.to_publish)
        writer.summary(document)
        for name in tables_of(shown):
            table = table_of(shown, name)
            if table.rows:
                writer.table(name, table)
        asked = getattr(shown, "spec", None)
        if asked is not None:
            writer.specification(asked)
    return stream.getvalue()


class _Workbook:
    """Writes the sheets of a workbook, one after another."""

    def __init__(self, book: Any) -> None:
        self.book = book
        self.title = book.add_format({"bold": True, "font_size": 16})
        self.heading = book.add_format({"bold": True, "top": 1})
        self.head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        self.words = book.add_format({"text_wrap": True, "valign": "top"})
        self.line = book.add_format({"bottom": 1})
        self.formats: dict[str, object] = {}

    def summary(self, document: tree.DocumentTree) -> None:
        sheet = self.book.add_worksheet("Summary")
        sheet.hide_gridlines(2)
        sheet.set_column(0, 0, 34)
        sheet.set_column(1, 1, 100)
        sheet.write_string(0, 0, _text(document.title), self.title)
        row = 2
        for word, text in self._facts(document):
            style = self.heading if not text else self.words
            sheet.write_string(row, 0, _text(word), style)
            if text:
                sheet.write_string(row, 1, _text(text), self.words)
            row += 1
        self._sign_off(sheet, row + 1)

    def _sign_off(self, sheet: Any, row: int) -> int:
        roles = spoken().terms["record"]["roles"]
        sheet.write_string(row, 0, spoken().terms["sheet"]["sign"], self.heading)
        for i, role in enumerate(roles, row + 1):
            sheet.write_string(i, 0, role)
            sheet.write_blank(i, 1, None, self.line)
        return row + len(roles) + 1

    @staticmethod
    def _facts(document: tree.DocumentTree) -> Iterator[tuple[str, str]]:
        brief, words = document.brief, spoken().terms["sheet"]
        yield words["headline"], str(brief.headline)
        if brief.verdict:
            yield words["verdict"], " ".join(map(str, brief.verdict))
        for question, sentences in brief.answers:
            yield question, ""
            for each in sentences:
                yield "-", str(each)
        yield words["record"], ""
        yield words["data"], document.beside
        yield from document.cover
        if document.lead:
            yield words["question"], " ".join(document.lead)
        for text in document.warnings:
            yield spoken().terms["warning"], text
        if document.verdict:
            yield words["outcome"], document.verdict
        yield words["made"], f"{document.created}, fairgauge {document.version}"

    def to_publish(self, blocks: Sequence[tree.Block]) -> None:
        sheet = self.book.add_worksheet(TO_PUBLISH)
        sheet.hide_gridlines(2)
        tables = [each for each in blocks if isinstance(each, tree.Table)]
        sheet.set_column(0, 0, 30)
        sheet.set_column(1, max((2 * len(table.columns) for table in tables), default=1), 16)
        row = 0
        for block in blocks:
            if isinstance(block, tree.Table):
                row = self._table_to_publish(sheet, block, row) + 1
                continue
            if isinstance(block, tree.SignOff):
                row = self._sign_off(sheet, row) + 1
                continue
            lines: list[str] = []
            match block:
                case tree.Facts():
                    lines = [f"{word}: {text}" if text else word for word, text in block.pairs]
                case tree.Items():
                    lines = [f"- {each}" for each in block.items]
                case tree.Heading() | tree.Paragraph():
                    lines = [block.text]
            style = self.title if isinstance(block, tree.Heading) else None
            for line in lines:
                sheet.write_string(row, 0, _text(line), style)
                row += 1
            row += bool(lines)

    def _table_to_publish(self, sheet: Any, table: tree.Table, row: int) -> int:
        beside = spoken().terms["sheet"]["below"]
        below = [any(cells[i].below for cells in table.rows) for i in range(len(table.columns))]
        sheet.write_string(row, 0, _text(table.caption), self.heading)
        heads = [tree.Cell(column.heading, below=beside) for column in table.columns]
        for cells in (heads, *table.rows):
            row += 1
            column = 0
            style = self.head if cells is heads else None
            for cell, has_below in zip(cells, below, strict=True):
                self._printed(sheet, row, column, cell, style)
                if has_below:
                    sheet.write_string(row, column + 1, _text(cell.below), style or self.words)
                column += 1 + has_below
        for note in table.notes:
            row += 1
            sheet.write_string(row, 0, _text(note))
        return row + 1

    def _printed(self, sheet: Any, row: int, column: int, cell: tree.Cell, style: object) -> None:
        # write what is printed: a number as the number that is printed, with its format
        number = None if cell.name or style else _NUMBER.fullmatch(cell.text)
        if number is None:
            sheet.write_string(row, column, _text(cell.text), style or self.words)
            return
        sign, digits, decimals, percent = (each or "" for each in number.groups())
        value = float(f"{sign.replace(_MINUS, '-')}{digits.replace(',', '')}{decimals}")
        plain = f"#,##0{re.sub('[0-9]', '0', decimals)}{percent}"
        signed = f"+{plain};{_MINUS}{plain};{plain}" if sign else plain
        format_ = self.formats.setdefault(signed, self.book.add_format({"num_format": signed}))
        sheet.write_number(row, column, round(value / 100, 12) if percent else value, format_)

    def table(self, name: str, table: FlatTable) -> None:
        """Write a table with its header, which stays in view and filters the rows."""
        sheet = self.book.add_worksheet(name.capitalize())
        for i, column in enumerate(table.columns):
            sheet.write_string(0, i, column, self.head)
            shown = [column, *(str(row[i]) for row in table.rows[:_LOOKED_AT] if row[i])]
            sheet.set_column(i, i, min(max(map(width, shown), default=0) + 1, _WIDEST))
        for r, cells in enumerate(table.rows, 1):
            for i, value in enumerate(cells):
                if isinstance(value, str):
                    sheet.write_string(r, i, _text(value))
                elif value is not None and math.isfinite(value):
                    sheet.write_number(r, i, value)
                elif value is not None:
                    sheet.write_string(r, i, "Infinity" if value > 0 else "-Infinity")
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, len(table.rows), len(table.columns) - 1)

    def specification(self, asked: object) -> None:
        sheet = self.book.add_worksheet("Specification")
        sheet.set_column(0, 0, 100)
        text = json.dumps(to_plain(asked), indent=2, ensure_ascii=False)
        for i, line in enumerate(text.split("\n")):
            sheet.write_string(i, 0, _text(line))


def _text(text: str) -> str:
    return shorten(printable(text), _LONGEST_TEXT)
