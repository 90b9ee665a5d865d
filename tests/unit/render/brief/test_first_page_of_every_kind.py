"""Every kind of result begins with a first page in words, the same in every format."""

import io
from pathlib import Path

import openpyxl
import pytest
from tests.every_result import result

from fairgauge.render import render
from fairgauge.render.formats import save

KINDS = ("loans", "compared reports", "models", "alternatives", "thresholds", "find", "why",
         "alarm", "history", "check", "plan", "pairs")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_workbook_markdown_and_html_begin_with_the_first_page(kind: str, tmp_path: Path) -> None:
    shown = result(kind)
    save(shown, tmp_path / "result.xlsx")
    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "result.xlsx").read_bytes()))
    cells = {str(row[1]) for row in book.worksheets[0].iter_rows(values_only=True)}
    brief = shown.brief()
    assert str(brief.headline) in cells
    assert {str(each) for _, parts in brief.answers for each in parts} <= cells
    assert str(brief.headline).split()[0] in render(shown, "markdown").splitlines()[0]
    assert render(shown, "html").count('<header class="first">') == 1
