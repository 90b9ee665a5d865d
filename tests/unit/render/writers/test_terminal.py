"""The report on a terminal: one screen, plain in pipes, never wider than asked."""

import io
import re

import numpy as np
import pytest
from tests.cases import thorough_after

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.words.display_names import width as columns_of
from fairgauge.render.writers.terminal import wants_colour


def test_full_prints_the_whole_record():
    report = sample_reports.several()
    brief, full = render(report, "text"), render(report, "text", full=True)
    assert len(full.splitlines()) > 2 * len(brief.splitlines())
    for heading in ("Methods", "Provenance", "Confusion matrices"):
        assert heading in full
        assert heading not in brief
    assert "for Other: no value, because the group has no predicted positives" in " ".join(
        full.split()
    )
    assert "Only with --full: " in brief
    assert "--full" not in full


def test_quiet_prints_the_verdict_and_the_reason_of_each_rule_that_does_not_pass():
    first, reason, *asked = render(sample_reports.several(), "text", quiet=True).splitlines()
    assert asked == [
        "  Decision (prediction = 1) and outcome (label = 1), by race.",
        "  “prediction = 1” is the better outcome (stated).",
    ]
    assert first == "INCONCLUSIVE: 1 of 1 rule  Fairness audit: counts"
    assert re.match(r"  DI >= 0.8: INCONCLUSIVE \(\w+ \(race\)\): .*0\.8", reason)
    cells = {"F": {"fp": 20, "tn": 10}, "M": {"fp": 30, "tn": 10}}
    rules = ["true_positive_rate.ratio >= 0.8", "selection_rate.ratio >= 0.1"]
    report = fg.audit(fg.confusion("sex", cells), rules=rules)
    _, *reasons = render(report, "text", quiet=True).splitlines()
    reason = reasons[0]
    assert reason.startswith(
        "  true_positive_rate.ratio >= 0.8: NOT EVALUATED (F (sex)): the group"
    )
    assert reason.endswith("has no observed positives (TP + FN = 0)")
    three = fg.confusion("race", {name: {"fp": 9, "tn": 21} for name in "ABC"})
    several = render(fg.audit(three, rules="DI >= 0.8"), "text", quiet=True)
    assert "INCONCLUSIVE (A (race) and 2 more): " in several


def test_in_python_nothing_refers_to_options_of_the_command_line():
    for shown in (sample_reports.several(), sample_reports.berkeley(), sample_reports.small()):
        for text in (str(shown), shown._repr_html_(), str(shown.brief())):
            words = re.sub(r"<style>.*?</style>|<[^>]*>", "", text, flags=re.S)
            assert "--" not in re.sub(
                r"\(fairgauge\s+(why|audit),?(\s+with\s+the\s+same)?(\s+--metrics\s+\S+)?\s+--[^)]+\)",
                "",
                words,
            )
        assert '.save("report.html")' in str(shown)
    assert "-o report.html" in render(sample_reports.several(), "text")


def test_columns_that_do_not_fit_and_groups_beyond_twelve_are_named():
    text = render(sample_reports.small(), "text", width=80)
    assert re.search(r"Only with --full: .*base rate", text)
    assert "base" in render(sample_reports.small(), "text", width=80, full=True)
    towns = {f"t{i:02}": {"tp": 9 * i, "fn": 11 * i} for i in range(1, 21)}
    report = fg.audit(fg.confusion("town", towns), metrics=["true_positive_rate", "TVD"])
    first, second = render(report, "text").split("12 of 20 groups")[:2]
    for table in (first, second):
        assert sorted(set(re.findall(r"^t\d\d", table, re.M))) == [*towns][8:]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("columns", [80, 100, 120])
def test_no_line_is_wider_than_asked(columns, full):
    for sample in ("small", "several", "berkeley", "crossed", "hostile"):
        report = sample_reports.sure(getattr(sample_reports, sample)())
        text = render(report, "text", width=columns, full=full)
        lines = [line for line in text.splitlines() if not line.startswith("    fairgauge ")]
        assert max(map(columns_of, lines)) <= columns, sample


def test_colours_only_where_asked():
    report = sample_reports.small()
    plain, painted = render(report, "text"), render(report, "text", colour=True)
    assert "\x1b" not in plain
    assert "\x1b" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
     ({"TERM": "dumb"}, False)],
)  # fmt: skip
def test_a_terminal_wants_colour_unless_its_user_does_not(monkeypatch, environment, wanted):
    terminal, pipe = io.StringIO(), io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(terminal) is wanted
    assert not wants_colour(pipe)


@pytest.mark.parametrize("seed", thorough_after(8, range(24)))
def test_every_finding_is_shown_or_counted(seed):
    """Of audits of any size, names of any length, with or without rules, at any width."""
    rng = np.random.default_rng(seed)
    long = "a name that is long and " * 3 * (seed % 3 == 0)
    cells = {
        f"{long}{name}": dict(zip(("tp", "fp", "fn", "tn"), rng.integers(20, 400, 4), strict=True))
        for name in "ABCDE"[: 2 + seed % 4]
    }
    rules = [[], ["selection_rate.ratio >= 0.8"], ["-0.1 <= accuracy.difference <= 0.1"]][seed % 3]
    report = fg.audit(fg.confusion("group", cells), rules=rules)
    texts = [str(each) for each in report.brief().found]
    tally = r"([\d,]+) more differences? (?:is|are) statistically significant"
    counts = {text: int(found[1]) for text in texts if (found := re.match(tally, text))}
    begins = r"Of [\d,]+ |The decision matches the outcome for [\d,]+ "
    stated = [text for text in texts if re.match(begins, text)]
    if report.findings:
        significant = {
            contrast.key
            for each in report.findings
            for contrast in (each.estimate, each.beside, *each.others, *each.others_beside)
            if contrast is not None
        }
        more = len(significant) - len(stated)
        assert [*counts.values()] == ([more] if more > 0 else [])
    for columns in (80, 100, 120):
        shown = " ".join(render(report, "text", width=columns).split())
        for text in [*stated, *counts]:
            assert " ".join(text.split()) in shown
