"""The terminal report: what stands where, and what is left out aloud."""

from __future__ import annotations

import io
import re

import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.terminal import wants_colour


def test_it_says_what_was_asked():
    text = render(sample_reports.berkeley(), "text")
    for line in (
        "label         Admit, favourable: Admitted",
        "sensitive     Gender",
        "held fixed    Dept",
        "counts        Freq",
    ):
        assert line in text
    assert "24 rows standing for 4,526 cases, all used" in text


def test_berkeley_turns_around():
    text = " ".join(render(sample_reports.berkeley(), "text").split())
    assert "Female: the direction turns around. Over all rows base rate 30.4%" in text
    assert re.search(r"CDDL Conditional Demographic Disparity in Labels -0\.019", text)
    assert re.search(r"A 108 -0\.203 .*base rate 82\.4%, 20\.3 points higher", text)


def test_verdicts_come_first():
    text = render(sample_reports.several(), "text")
    assert text.index("Verdict:") < text.index("data          ") < text.index("race ─")
    assert "DI >= 0.8" in text


def test_what_is_undefined_is_folded_with_its_reason():
    text = " ".join(render(sample_reports.several(), "text").split())
    assert re.search(r"undefined for Other: the group has no predicted positives", text)


def test_excluded_rows_are_counted_by_reason():
    rows = pl.DataFrame({"y": [1, 0, None, 1], "p": [1, 1, 0, 0], "g": ["a", "b", "a", None]})
    text = render(fg.audit(rows, label="y", prediction="p", sensitive="g"), "text")
    found = [line for line in text.splitlines() if line.lstrip().startswith("excluded")]
    assert len(found) == 1
    assert re.search(r"\b1 row with a missing", found[0])


def test_two_thousand_strata_are_not_printed():
    n = 8_000
    rows = pl.DataFrame(
        {
            "y": [(i * i) % 3 == 0 for i in range(n)],
            "g": ["a" if i % 3 else "b" for i in range(n)],
            "s": [f"s{(i * 7) % 2_000:04}" for i in range(n)],
        }
    )
    report = fg.audit(rows, label="y", sensitive="g", strata="s", max_groups=5_000)
    text = render(report, "text")
    assert len(text.splitlines()) < 100
    assert "s held fixed (2,000 strata)" in text
    assert "the 10 strata farthest from no difference; 1,990 more in json" in text
    assert len(render(report, "html")) < 1_000_000


def test_many_groups_are_cut_aloud():
    counts = {f"g{i:03}": {"tp": i + 1, "fn": 5, "fp": 3, "tn": 9} for i in range(50)}
    text = render(fg.audit(fg.confusion("group", counts)), "text")
    assert "the 20 largest groups; 30 more with --format json" in text


def test_intervals_and_p_values_are_shown_where_they_are():
    plain = render(sample_reports.small(), "text")
    assert "adjusted p" in render(sample_reports.sure(sample_reports.small()), "text")
    assert ("adjusted p" in plain) == any(
        each.p_adjusted is not None for each in sample_reports.small().estimates
    )


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_no_line_is_wider_than_asked(columns):
    for sample in ("small", "several", "berkeley", "crossed"):
        report = sample_reports.sure(getattr(sample_reports, sample)())
        lines = render(report, "text", width=columns).splitlines()
        assert max(map(len, lines)) <= columns


def test_colours_only_where_asked():
    report = sample_reports.small()
    plain, painted = render(report, "text"), render(report, "text", colour=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_a_terminal_wants_colour_unless_its_user_does_not(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())
