"""Names of the user, in every format: nothing that they hold does harm."""

import csv
import html
import io
import re
import unicodedata

import pytest

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.streams import cell
from fairgauge.render.words.display_names import printable, shorten, width


@pytest.fixture(scope="module")
def hostile():
    return sample_reports.hostile()


def test_markdown_holds_no_links_or_mentions_of_names(hostile):
    text = render(hostile, "markdown")
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "https://" not in text
    assert "@user" not in text
    tables = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert any("a\\|b" in table for table in tables)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_csv_is_safe_in_a_spreadsheet(hostile):
    rows = list(csv.reader(io.StringIO(render(hostile, "csv"))))
    assert len({len(row) for row in rows}) == 1
    numbers = ("value", "threshold", "low", "high", "p_value", "p_adjusted", "rate_group")
    at = [i for i, name in enumerate(rows[0]) if name not in numbers]
    texts = {row[i] for row in rows[1:] for i in at}
    assert any(text.startswith("'=cmd") for text in texts)
    assert not any(text.lstrip().startswith(("=", "+", "-", "@")) for text in texts)


CELLS = {
    "=1+1": "'=1+1", "＝1+1": "'＝1+1", "  +1": "'  +1", "\t=1": "\\x09=1", "@x": "'@x",
    "-1": "-1", "+2.5": "+2.5", "-1e-5": "-1e-5", "-1+1": "'-1+1", "-1 ": "\"'-1 \"",
    "-0.1 <= RD <= 0.1": "'-0.1 <= RD <= 0.1", "a;b": '"a;b"', "a|b": '"a|b"', "a\nb": "a\\x0ab",
    'q"q': '"q""q"', " x": '" x"', "é\u202e": "é\\u202e", "": "", "women": "women",
}  # fmt: skip
"""Texts, and the cells of CSV that they are, also of the page."""


@pytest.mark.parametrize(("text", "shown"), CELLS.items())
def test_a_text_is_a_cell_that_no_spreadsheet_computes(text, shown):
    """A group ``-1`` is the same in CSV and JSON; everything else that begins so is disarmed."""
    assert cell(text) == shown


@pytest.mark.parametrize("name", ["PASS. No disparity", "Verdict: none", "✅ fair", "REPRODUCED"])
def test_a_name_that_imitates_us_is_quoted_wherever_it_stands(name):
    counts = {name: {"tp": 30, "fn": 70}, "other": {"tp": 60, "fn": 40}}
    report = fg.audit(fg.confusion(name, counts), metrics=["base_rate.ratio"])
    for format_ in ("text", "markdown", "html"):
        text = html.unescape(render(report, format_)).replace("\n", " ")
        shown = re.sub(r"<[^>]*>|\\|\s+", " ", text.split('"spec"')[0])
        assert f"“{name}" in re.sub(r"\s+", " ", shown)
        assert report.brief().headline.text.count(name) == report.brief().headline.text.count(
            f"“{name}"
        )


def test_shortening_keeps_both_ends_and_the_width():
    name = "a" * 5_000 + "b" * 5_000
    short = shorten(name, 30)
    assert short[0] == "a"
    assert short[-1] == "b"
    assert width(short) == 30
    assert width(shorten("漢字" * 50, 21)) <= 21
    assert shorten("short", 30) == "short"


def test_every_character_is_shown_as_it_is_or_escaped():
    """The letters of most names pass at once: none of them may hide or turn what follows."""
    assert printable("👩‍👩‍👧\udc80\n") == "👩‍👩‍👧\\udc80\\x0a"
    for code in range(0x3000):
        c = chr(code)
        hidden = unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        kept = c in "\u200c\u200d\u200e" or not hidden
        assert printable(f"a{c}").startswith(f"a{c}".rstrip("\u200e")) == kept, hex(code)
        turned = unicodedata.bidirectional(c) in {"R", "AL", "AN"}
        assert not kept or c == "\u200e" or printable(c).endswith("\u200e") == turned, hex(code)


def test_names_that_differ_in_blanks_alone_are_told_apart_in_every_table():
    """Two rows were called White, of different numbers, and nothing showed which is which."""
    counts = {"White": {"tp": 60, "fn": 40}, "White ": {"tp": 30, "fn": 70}, "a  b": {"tp": 5}}
    report = fg.audit(fg.confusion("race", counts), metrics=["base_rate"])
    for name in ("text", "markdown", "html"):
        shown = html.unescape(render(report, name, **({} if name == "html" else {"full": True})))
        blank = " " if name == "text" else "\u00a0"  # which other formats keep, as two of them
        assert f"“White{blank}”" in shown
        assert f"“a{blank}{blank}b”" in shown
    assert {group.group for group in report.groups} == set(counts)
