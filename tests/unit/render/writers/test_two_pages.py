"""The PDF of every kind of result: two pages, the brief on the first, neither nearly empty."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

from tests.every_result import RULES, loans
from tests.needs import missing

import fairgauge as fg
from fairgauge.render.writers import pdf

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
    for size in ("826 of 2,282", "1,446 of 2,718", "701 of 1,386", "1,119 of 1,593"):
        assert size.replace(" ", "") in pages[0].replace(" ", "")
    assert "Every rule, every group" in pages[0]
