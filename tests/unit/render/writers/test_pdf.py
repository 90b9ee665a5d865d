"""Reports as PDF: printed by a real browser where there is one, and what is reported without."""

from __future__ import annotations

import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest
from click.testing import CliRunner
from tests.every_result import RULES, loans
from tests.needs import missing

import fairgauge as fg
import sample_reports
from fairgauge.cli import main
from fairgauge.errors import DataError
from fairgauge.render import render
from fairgauge.render.formats import save
from fairgauge.render.writers import pdf


@pytest.fixture(scope="module")
def browser():
    if pdf.find_browser() is None:
        missing("Chromium")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return a function that puts a program in the place of the browser."""
    if os.name != "posix":
        pytest.skip("a script is a program by its first line on POSIX alone")

    def make(script):
        path = tmp_path / "browser"
        path.write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setenv("CHROME_PATH", str(path))

    return make


PAGE = b"/Type /Page\n"


def test_a_report_is_printed(browser):
    page = render(sample_reports.hostile(), "html")
    printed = pdf.print_page(page)
    assert printed.startswith(b"%PDF-")
    assert b"%%EOF" in printed[-20:]
    assert printed.count(b"/Type /Page\n") > 1
    assert b"/StructTreeRoot" in printed  # tagged: screen readers know headings and tables


@pytest.mark.parametrize("name", ["several", "berkeley", "hostile"])
def test_a_pdf_has_the_first_page_and_what_is_filed_unless_it_is_full(browser, tmp_path, name):
    path = tmp_path / "report.pdf"
    report = getattr(sample_reports, name)()
    report.save(path)
    whole = save_whole(report, tmp_path / "whole.pdf")
    assert 1 < path.read_bytes().count(PAGE) < whole.count(PAGE)


@pytest.mark.parametrize("more", [[], ["--full"]])
def test_a_saved_report_is_rendered_as_it_would_have_been_saved(monkeypatch, tmp_path, more):
    monkeypatch.setattr(pdf, "print_page", lambda page: page.encode() + 2 * b"/Type /Page\n")
    monkeypatch.chdir(tmp_path)
    report = sample_reports.berkeley()
    report.save("report.json")
    save(report, "saved.pdf", full=bool(more))
    done = CliRunner().invoke(main, ["render", "report.json", *more, "-o", "rendered.pdf"])
    assert done.exit_code == 0, done.stderr
    pages = [(tmp_path / f"{name}.pdf").read_bytes() for name in ("saved", "rendered")]
    assert pages[0].count(b"<table") == pages[1].count(b"<table")
    assert len(pages[0]) == pytest.approx(len(pages[1]), rel=0.01)


def save_whole(report, path):
    save(report, path, full=True)
    return path.read_bytes()


def test_without_a_browser_the_error_has_a_way_out(monkeypatch):
    monkeypatch.delenv("CHROME_PATH", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert pdf.find_browser() is None
    with pytest.raises(DataError, match=r"install one, or .*CHROME_PATH; or .*html"):
        pdf.print_page("<p>")


def test_the_environment_names_the_browser(monkeypatch):
    monkeypatch.setenv("CHROME_PATH", sys.executable)
    assert pdf.find_browser() == sys.executable
    monkeypatch.setenv("CHROME_PATH", "/no/such/program")
    with pytest.raises(DataError, match="CHROME_PATH names '/no/such/program'"):
        pdf.find_browser()


def test_a_browser_that_fails(program):
    program("import sys; print('no display', file=sys.stderr); sys.exit(7)")
    with pytest.raises(DataError, match="printed no PDF: exit code 7; no display"):
        pdf.print_page("<p>")


def test_the_reason_is_not_the_noise_of_a_launcher(program):
    program(
        "import sys; print('[7:7:ERROR:headless.cc] no display\\n"
        "/usr/bin/chromium: 9: [: 25271115776: unexpected operator', file=sys.stderr); sys.exit(7)"
    )
    with pytest.raises(DataError, match=r"PDF: exit code 7; \[7:7:ERROR:headless.cc\] no display$"):
        pdf.print_page("<p>")
    program("import sys; print('/usr/bin/chromium: 9: [: 1: x', file=sys.stderr); sys.exit(7)")
    with pytest.raises(DataError, match=r"printed no PDF: exit code 7$"):
        pdf.print_page("<p>")


def test_a_browser_that_writes_something_else(program):
    program(
        "import sys, pathlib\n"
        "target = next(a for a in sys.argv if a.startswith('--print-to-pdf='))\n"
        "pathlib.Path(target.split('=', 1)[1]).write_text('not a PDF')"
    )
    with pytest.raises(DataError, match="printed no PDF"):
        pdf.print_page("<p>")


def test_a_browser_that_hangs(program, monkeypatch):
    monkeypatch.setattr(pdf, "_PATIENCE", 0.5)
    program("import threading; threading.Event().wait(20)")
    with pytest.raises(DataError, match="took more than"):
        pdf.print_page("<p>")


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
