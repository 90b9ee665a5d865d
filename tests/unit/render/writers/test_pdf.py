"""Reports as PDF: printed by a real browser where there is one, and what is reported without."""

import os
import re
import shutil
import sys

import pytest
from click.testing import CliRunner
from tests.every_result import of_loans, result
from tests.needs import missing

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
    assert printed.count(PAGE) > 1
    assert b"/StructTreeRoot" in printed  # tagged: screen readers know headings and tables


def test_a_pdf_has_the_first_page_and_what_is_filed_unless_it_is_full(browser, tmp_path):
    counts = []
    for full in (False, True):
        save(sample_reports.berkeley(), tmp_path / "report.pdf", full=full)
        counts.append((tmp_path / "report.pdf").read_bytes().count(PAGE))
    assert 1 < counts[0] < counts[1]


@pytest.mark.parametrize("more", [[], ["--full"]])
def test_a_saved_report_is_rendered_as_it_would_have_been_saved(monkeypatch, tmp_path, more):
    monkeypatch.setattr(pdf, "print_page", lambda page: page.encode() + 2 * PAGE)
    monkeypatch.chdir(tmp_path)
    report = sample_reports.berkeley()
    report.save("report.json")
    save(report, "saved.pdf", full=bool(more))
    done = CliRunner().invoke(main, ["render", "report.json", *more, "-o", "rendered.pdf"])
    assert done.exit_code == 0, done.stderr
    pages = [(tmp_path / f"{name}.pdf").read_bytes() for name in ("saved", "rendered")]
    assert pages[0].count(b"<table") == pages[1].count(b"<table")
    assert len(pages[0]) == pytest.approx(len(pages[1]), rel=0.01)


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


TARGET = "next(a for a in sys.argv if a.startswith('--print-to-pdf='))"
NOISE = "/usr/bin/chromium: 9: [: 25271115776: unexpected operator"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("print('no display', file=sys.stderr); sys.exit(7)", "exit code 7; no display"),
        (f"print('[7:ERROR] x\\n{NOISE}', file=sys.stderr); sys.exit(7)", r"7; \[7:ERROR\] x$"),
        (f"print('{NOISE}', file=sys.stderr); sys.exit(7)", "exit code 7$"),
        (f"open({TARGET}.split('=', 1)[1], 'w').write('not a PDF')", ""),
    ],
)
def test_a_browser_that_fails_or_writes_something_else(program, script, reason):
    """The reason is not the noise of a launcher."""
    program(f"import sys\n{script}")
    with pytest.raises(DataError, match=f"printed no PDF.*{reason}"):
        pdf.print_page("<p>")


def test_a_browser_that_hangs(program, monkeypatch):
    monkeypatch.setattr(pdf, "_PATIENCE", 0.5)
    program("import threading; threading.Event().wait(20)")
    with pytest.raises(DataError, match="took more than"):
        pdf.print_page("<p>")


@pytest.fixture
def page_of(monkeypatch, tmp_path):
    """Return a function that gives the words of the page that is printed."""
    monkeypatch.setattr(pdf, "print_page", lambda page: page.encode() + 2 * PAGE)

    def words(report):
        report.save(tmp_path / "audit.pdf")
        page = (tmp_path / "audit.pdf").read_text(encoding="utf-8")
        return " ".join(re.sub(r"<[^>]+>", " ", page).split())

    return words


def test_dots_are_printed_beside_two_rules_for_every_group(page_of):
    """Of fourteen groups the dots of both findings stand in one row; none is dropped for room."""
    age = {"column": "age", "cuts": [40], "closed": "left"}
    dots, _, grid = page_of(of_loans(sensitive=["sex", "race", age])).partition("Every rule, every")
    assert grid
    for size in ("826 of 2,282", "1,446 of 2,718", "701 of 1,386", "1,119 of 1,593"):
        assert size in dots


def test_a_pdf_has_every_table_to_publish_and_what_is_not_stated(page_of):
    text = page_of(result("local law 144"))
    for each in ("Groups of sex", "Groups of race", "Groups of sex*race", "does not state the"):
        assert each in text
    assert "Sign-off" in text
