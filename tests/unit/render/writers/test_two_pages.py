"""The PDF of every kind of result: two pages, the brief on the first, neither nearly empty."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np
import polars as pl
import pytest
from tests.cases import thorough_after
from tests.every_result import RESULTS, RULES, loans, result
from tests.needs import missing

import fairgauge as fg
from fairgauge.render.formats import render, save
from fairgauge.render.writers import pdf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FEWEST_WORDS = 40
_OBJECT = re.compile(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj", re.S)
_OPERATOR = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>|(ET)")


class PrintedPages:
    """The texts of the pages of a PDF as Chromium writes it."""

    def __init__(self, printed: bytes) -> None:
        self.objects = {int(number): body for number, body in _OBJECT.findall(printed)}

    def texts(self) -> Iterator[str]:
        """Yield the words of each page, in the order in which they are drawn."""
        for body in list(self.objects.values()):
            if b"/Type /Page\n" in body:
                yield normalize("NFKC", " ".join("".join(self._drawn(body)).split()))

    def _stream(self, number: int) -> bytes:
        head, _, data = self.objects[number].partition(b"stream\n")
        data = data[: data.rindex(b"endstream")]
        return zlib.decompress(data) if b"FlateDecode" in head else data

    def _letters(self, font: int) -> dict[int, str]:
        """Return the text of each glyph of a font."""
        named = re.search(rb"/ToUnicode (\d+) 0 R", self.objects[font])
        if named is None:
            return {}
        table = self._stream(int(named[1])).decode()
        letters = {}
        for block in re.findall(r"beginbfchar(.*?)endbfchar", table, re.S):
            for glyph, text in re.findall(r"<(\w+)> <(\w+)>", block):
                letters[int(glyph, 16)] = bytes.fromhex(text).decode("utf-16-be")
        for block in re.findall(r"beginbfrange(.*?)endbfrange", table, re.S):
            for first, last, text in re.findall(r"<(\w+)> <(\w+)> <(\w+)>", block):
                for i, glyph in enumerate(range(int(first, 16), int(last, 16) + 1)):
                    letters[glyph] = chr(int(text, 16) + i)
        return letters

    def _drawn(self, page: bytes) -> Iterator[str]:
        fonts = {
            name: self._letters(int(number))
            for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", page)
        }
        contents = re.search(rb"/Contents (\d+) 0 R", page)
        assert contents is not None
        letters: dict[int, str] = {}
        for found in _OPERATOR.finditer(self._stream(int(contents[1]))):
            if found[1]:
                letters = fonts[found[1]]
            elif found[2]:
                glyphs = found[2].decode()
                codes = (glyphs[i : i + 4] for i in range(0, len(glyphs), 4))
                yield "".join(letters.get(int(code, 16), "") for code in codes)
            else:
                yield " "


@pytest.mark.parametrize("name", thorough_after(3, sorted(RESULTS, reverse=True)))
def test_every_kind_of_result_has_two_full_pages(name: str, tmp_path: Path) -> None:
    if pdf.find_browser() is None:
        missing("Chromium")
    shown = result(name)
    save(shown, tmp_path / "result.pdf")
    pages = list(PrintedPages((tmp_path / "result.pdf").read_bytes()).texts())
    assert 1 <= len(pages) <= 2
    assert all(len(page.split()) >= FEWEST_WORDS for page in pages), pages[-1]
    brief = shown.brief()
    first = pages[0].replace(" ", "")
    sentences = [brief.headline, *brief.verdict]
    sentences += [each for _, answer in brief.answers for each in answer]
    for each in sentences:
        assert re.sub(r"\s", "", normalize("NFKC", str(each))) in first, str(each)
    for page in pages[1:]:  # a heading, or where to sign, is not alone on a page
        assert re.match(r"(For the record|From the report) \S", page)


def test_all_pages_have_the_same_side_margins() -> None:
    """A section that is split between pages is laid out in the width of the first, and cut off."""
    page = render(result("loans"), "html")
    margins = [each.split() for each in re.findall(r"@page[^{]*{[^}]*margin: ([^;}]+)", page)]
    assert len(margins) > 1
    assert len({each[1] if each[1:] else each[0] for each in margins}) == 1


def test_dots_are_printed_beside_two_rules_for_every_group(tmp_path: Path) -> None:
    """Of fourteen groups the dots of both findings stand in one row; none is dropped for room."""
    if pdf.find_browser() is None:
        missing("Chromium")
    age = {"column": "age", "cuts": [40], "closed": "left"}
    names = {
        "sex": {"Female": "women", "Male": "men"}, "race": "{value} applicants",
        "age": {"[-inf, 40)": "applicants under 40", "[40, inf)": "applicants of 40 or more"},
        "sex*race": "{race} {sex}",
    }  # fmt: skip
    words = {
        "unit": "applications", "noun": "applicants", "positive": "approved",
        "negative": "refused", "label_positive": "repaid", "label_negative": "did not repay",
        "groups": names,
    }  # fmt: skip
    report = fg.audit(
        loans(), label="repaid", prediction="approved", positive="yes", words=words,
        sensitive=["sex", "race", age], intersections=["sex*race"], rules=RULES,
    )  # fmt: skip
    report.save(tmp_path / "audit.pdf")
    pages = list(PrintedPages((tmp_path / "audit.pdf").read_bytes()).texts())
    assert len(pages) == 2
    for size in ("826 of 2,282", "1,446 of 2,718", "701 of 1,386", "1,119 of 1,593"):
        assert size.replace(" ", "") in pages[0].replace(" ", "")
    assert "Every rule, every group" in pages[0]


def test_tables_to_publish_are_in_the_pdf_however_many_charts_have_no_room(tmp_path: Path) -> None:
    if pdf.find_browser() is None:
        missing("Chromium")
    rng = np.random.default_rng(4)
    sex = rng.choice(["Female", "Male"], 1_800)
    race = rng.choice(["Asian", "Black or African American", "Hispanic or Latino", "White"], 1_800)
    rate = 0.32 - 0.06 * (sex == "Female") - 0.08 * (race == "Black or African American")
    rows = pl.DataFrame({"Sex": sex, "Race": race, "Selected": rng.random(1_800) < rate})
    report = fg.audit(rows, preset="nyc-ll144", prediction="Selected", positive=True,
                      sensitive=["Sex", "Race"])  # fmt: skip
    report.save(tmp_path / "filing.pdf")
    pages = list(PrintedPages((tmp_path / "filing.pdf").read_bytes()).texts())
    assert len(pages) == 2
    ratios = [e.value for e in report.estimates if e.metric == "selection_rate.ratio"]
    assert len(ratios) > 8
    text = "".join(pages[0].split())
    assert [f"{ratio:.3f}" for ratio in ratios if f"{ratio:.3f}" not in text] == []


def test_tables_to_publish_that_need_most_of_a_page_leave_none_empty(tmp_path: Path) -> None:
    """With notes and people of unknown groups the first page held its headline and the verdict."""
    if pdf.find_browser() is None:
        missing("Chromium")
    rng = np.random.default_rng(5)
    races = ["Asian", "Black", "Hispanic", "Native American", "White", "Unknown"]
    sex = rng.choice(["Female", "Male", "Unknown"], 3_000, p=[0.46, 0.48, 0.06])
    race = rng.choice(races, 3_000, p=[0.16, 0.2, 0.14, 0.01, 0.44, 0.05])
    rate = 0.32 - 0.08 * (sex == "Female") - 0.1 * (race == "Black")
    rows = pl.DataFrame({"sex": sex, "race": race, "decision": rng.random(3_000) < rate})
    report = fg.audit(rows, preset="nyc-ll144", prediction="decision", positive=True,
                      sensitive=["sex", "race"], unknown="Unknown")  # fmt: skip
    report.save(tmp_path / "audit.pdf")
    pages = list(PrintedPages((tmp_path / "audit.pdf").read_bytes()).texts())
    assert len(pages) == 2
    assert "Who is worse off" in pages[0]
    assert "Groups of sex" in pages[0]
    assert all(len(page.split()) >= 2 * FEWEST_WORDS for page in pages)
