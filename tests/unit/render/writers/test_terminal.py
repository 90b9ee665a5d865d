"""The report on a terminal: one screen, plain in pipes, never wider than asked."""

from __future__ import annotations

import io
import re

import numpy as np
import polars as pl
import pytest
from tests.cases import thorough_after

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.words.display_names import width as columns_of
from fairgauge.render.writers.terminal import ONE_SCREEN, wants_colour, wrap

COMPAS = {
    "data": "compas_pred.csv", "label": "two_year_recid", "prediction": "prediction",
    "positive": 0, "sensitive": ["race", "sex"],
    "rules": [
        fg.rule("selection_rate.ratio", at_least=0.8),
        fg.rule("true_positive_rate.difference", between=(-0.1, 0.1)),
    ],
}  # fmt: skip
ADULT = {
    "data": "adult_pred.csv.gz", "label": "income", "prediction": "prediction",
    "positive": ">50K", "sensitive": ["sex", "race"],
    "rules": [fg.rule("selection_rate.ratio", at_least=0.8), fg.rule("accuracy", at_least=0.8)],
}  # fmt: skip
TWO_FEATURES = {
    "compas": COMPAS | {"document": {"title": "Pre-trial decisions", "author": "A. Auditor"}},
    "adult": ADULT,
    "clustered": ADULT | {"cluster": "occupation", "min_n": 300},
    "scored": {
        "data": "hmda_pred.csv", "label": "deny", "score": "score", "score_of": "no",
        "positive": "no", "threshold": 0.8, "sensitive": ["afam", "single"],
        "rules": [fg.rule("selection_rate.ratio", at_least=0.8)],
    },
    "regression": {
        "data": "insurance_pred.csv", "label": "charges", "prediction": "prediction",
        "task": "regression", "sensitive": ["sex", "region"],
        "rules": [fg.rule("mean_error.difference", between=(-500, 500))],
    },
    "multiclass": {
        "data": "compas_multiclass_pred.csv", "label": "score_text", "prediction": "prediction",
        "task": "multiclass", "sensitive": ["sex", "race"],
        "rules": [fg.rule("accuracy", at_least=0.6)],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TWO_FEATURES)
def test_two_features_fit_one_screen(shared, name):
    asked = dict(TWO_FEATURES[name])
    report = fg.audit(shared.data(asked.pop("data")), **asked)
    for columns in (100, 120):
        lines = render(report, "text", width=columns).splitlines()
        assert len(lines) <= ONE_SCREEN + 2
        assert max(map(columns_of, lines)) <= columns
    narrow = render(report, "text", width=80).splitlines()
    assert len(narrow) <= ONE_SCREEN + 6


def test_what_one_screen_has_no_room_for_is_counted(shared):
    asked = dict(COMPAS)
    report = fg.audit(shared.data(asked.pop("data")), **asked)
    text = render(report, "text", width=100)
    words = " ".join(text.split())
    spared = "what is not significant, what was asked"
    assert re.search(rf"Not shown \(--full\): .*, {spared}\.", words)
    assert "No statistically significant difference" not in text


def test_full_prints_the_whole_record():
    report = sample_reports.several()
    brief, full = render(report, "text"), render(report, "text", full=True)
    assert len(full.splitlines()) > 2 * len(brief.splitlines())
    for heading in ("Methods", "Provenance", "Confusion matrices"):
        assert heading in full
        assert heading not in brief
    assert "--full" in brief
    assert "--full" not in full


def test_quiet_prints_the_verdict_and_the_reason_of_each_rule_that_does_not_pass():
    first, reason = render(sample_reports.several(), "text", quiet=True).splitlines()
    assert first == "INCONCLUSIVE: 1 of 1 rule  Fairness audit: counts"
    assert re.match(r"  DI >= 0.8: INCONCLUSIVE \(\w+ \(race\)\): .*0\.8", reason)
    cells = {"F": {"fp": 20, "tn": 10}, "M": {"fp": 30, "tn": 10}}
    rules = ["true_positive_rate.ratio >= 0.8", "selection_rate.ratio >= 0.1"]
    report = fg.audit(fg.confusion("sex", cells), rules=rules)
    _, *reasons = render(report, "text", quiet=True).splitlines()
    (reason,) = reasons
    assert reason.startswith(
        "  true_positive_rate.ratio >= 0.8: NOT EVALUATED (F (sex)): the group"
    )
    assert reason.endswith("has no observed positives (TP + FN = 0)")


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


def test_quiet_without_rules_is_one_line():
    assert render(sample_reports.berkeley(), "text", quiet=True).startswith("No rules")


def test_columns_that_do_not_fit_are_named():
    text = render(sample_reports.small(), "text", width=80)
    assert re.search(r"Not shown \(--full\): .*base rate", text)
    assert "base" in render(sample_reports.small(), "text", width=80, full=True)


def test_a_title_that_leaves_no_space_for_the_rows_beside_it_is_printed_whole():
    """It was cut within a word: "Where is the fals…e higher?"."""
    table = {"sex": ["F", "M"] * 200, "y": [0, 0, 0, 1] * 100}
    long = "Loans of the branches in the north, of the first quarter, all of them"
    report = fg.audit(table, label="y", sensitive="sex", document={"title": long})
    title, beside, *_ = render(report, "text", width=80).splitlines()
    assert title == long
    assert beside == "400 rows, all used".rjust(80)


def test_a_rate_and_its_difference_stay_together():
    text = render(sample_reports.several(), "text", width=80, full=True)
    table = text.split("Details")[1].split("Differences")[0]
    for line in table.splitlines():
        if line.startswith("race"):
            heads = line.split()
            assert heads[1] not in ("others", "ratio")


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("columns", [80, 100, 120])
def test_no_line_is_wider_than_asked(columns, full):
    for sample in ("small", "several", "berkeley", "crossed", "hostile"):
        report = sample_reports.sure(getattr(sample_reports, sample)())
        lines = render(report, "text", width=columns, full=full).splitlines()
        assert max(map(columns_of, lines)) <= columns, sample


def test_colours_only_where_asked():
    report = sample_reports.small()
    plain, painted = render(report, "text"), render(report, "text", colour=True)
    assert "\x1b" not in plain
    assert "\x1b" in painted
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


def test_two_thousand_strata_and_many_groups_stay_on_a_few_screens():
    n = 8_000
    rows = pl.DataFrame(
        {
            "y": [(i * i) % 3 == 0 for i in range(n)],
            "g": ["a" if i % 3 else "b" for i in range(n)],
            "s": [f"s{(i * 7) % 2_000:04}" for i in range(n)],
        }
    )
    report = fg.audit(rows, label="y", sensitive="g", strata="s", max_groups=5_000)
    assert len(render(report, "text").splitlines()) < 40
    assert "1,800 more in the JSON report." in render(report, "text", full=True)
    assert len(render(report, "html")) < 1_000_000
    counts = {f"g{i:03}": {"tp": i + 1, "fn": 5, "fp": 3, "tn": 9} for i in range(50)}
    text = " ".join(render(fg.audit(fg.confusion("group", counts)), "text").split())
    assert (
        "12 of 50 groups, those that fail a rule or differ statistically significantly first"
        in text
    )


@pytest.mark.parametrize("most", range(24, 60))
def test_the_mark_of_a_footnote_stays_with_its_words(most):
    lines = wrap("Differences in points · * significant · ? insufficient data", most)
    assert not any(line.endswith(("*", "?")) for line in lines)


def significant_differences(report):
    """Return how many significant differences the findings are of: the gravest, others, beside."""
    return len({
        contrast.key
        for each in report.findings
        for contrast in (each.estimate, each.beside, *each.others, *each.others_beside)
        if contrast is not None
    })  # fmt: skip


@pytest.mark.parametrize("seed", thorough_after(8, range(24)))
def test_every_finding_is_shown_or_counted(seed):
    """Of audits of any size, names of any length, with or without rules, at any width."""
    rng = np.random.default_rng(seed)
    groups, long = 2 + seed % 4, seed % 3 == 0
    names = [f"{'a name that is long and ' * 3 if long else ''}{'ABCDE'[g]}" for g in range(groups)]
    cells = {
        name: dict(zip(("tp", "fp", "fn", "tn"), rng.integers(20, 400, 4).tolist(), strict=True))
        for name in names
    }
    rules = [[], ["selection_rate.ratio >= 0.8"], ["-0.1 <= accuracy.difference <= 0.1"]][seed % 3]
    report = fg.audit(fg.confusion("group", cells), rules=rules)
    brief = report.brief()
    texts = [str(each) for each in brief.found]
    tally = r"The full report lists ([\d,]+) more differences?\."
    counts = [re.match(tally, text) for text in texts]
    stated = [
        t for t in texts if re.match(r"Of [\d,]+ |The decision matches the outcome for [\d,]+ ", t)
    ]
    more = [int(found[1].replace(",", "")) for found in counts if found]
    if report.findings:
        differences = significant_differences(report)
        assert more == ([differences - len(stated)] if differences > len(stated) else [])
    for columns in (80, 100, 120):
        lines = render(report, "text", width=columns).splitlines()
        shown = " ".join(" ".join(lines).split())
        for text in [*stated, *(t for t, found in zip(texts, counts, strict=True) if found)]:
            assert " ".join(text.split()) in shown
