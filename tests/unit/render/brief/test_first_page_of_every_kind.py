"""Every kind of result begins with a first page in words, the same in every format."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.every_result import of_pairs
from tests.properties.test_every_verb import QUESTION, VERBS, table

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render.formats import save
from fairgauge.results.monitor_results import HistoryFinding, HistoryHealth, HistoryProblem


def of_decomposition(data: Any) -> Any:
    asked = {key: value for key, value in QUESTION.items() if key != "intersections"}
    return fg.why(data, **asked | {"sensitive": "group"}, prediction="prediction", strata="second")


def of_history(data: Any) -> Any:
    del data
    gaps = [
        HistoryFinding(
            problem=HistoryProblem.GAP, period=f"2026-01-{day:02d}", last=f"2026-01-{day:02d}",
            other=f"2026-01-{day + 1:02d}", rows=1,
        )
        for day in range(2, 20, 2)
    ]  # fmt: skip
    return HistoryHealth(
        version="0", created="2026-02-01T00:00:00+00:00", history="history", model="loans",
        periods=tuple(f"2026-01-{day:02d}" for day in range(1, 21, 2)), findings=tuple(gaps),
    )  # fmt: skip


def of_check(data: Any) -> Any:
    del data
    return fg.check("| group | n | selected | selection rate |\n|-|-|-|-|\n| A | 100 | 50 | 0.6 |\n"
                    "| B | 80 | 20 | 0.25 |\n")  # fmt: skip


EXPLORE = "explore"
"""A page of its own, which is no result."""
KINDS: dict[str, Callable[[Any], Any]] = {
    **{verb: made for verb, made in VERBS.items() if verb != EXPLORE},
    "why": of_decomposition, "doctor": of_history, "check": of_check,
    "pairs": lambda data: of_pairs(),
}  # fmt: skip
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@cache
def result(kind: str) -> Any:
    return KINDS[kind](table())


@EVERY_KIND
def test_a_workbook_begins_with_the_first_page(kind: str, tmp_path: Path) -> None:
    shown = result(kind)
    save(shown, tmp_path / "result.xlsx")
    book = openpyxl.load_workbook(io.BytesIO((tmp_path / "result.xlsx").read_bytes()))
    cells = {str(row[1]) for row in book.worksheets[0].iter_rows(values_only=True)}
    brief = shown.brief()
    assert str(brief.headline) in cells
    assert {str(each) for _, parts in brief.answers for each in parts} <= cells


@EVERY_KIND
def test_markdown_and_html_begin_with_the_headline(kind: str) -> None:
    shown = result(kind)
    first = str(shown.brief().headline).split()[0]
    assert first in render(shown, "markdown").splitlines()[0]
    assert render(shown, "html").count('<header class="first">') == 1
