"""Warnings of an audit are seen wherever its result is read, or counted, before the verdict."""

from __future__ import annotations

import html

import pytest

import fairgauge as fg

SCORES = ["--label", "y", "--score", "s", "--positive", "0", "--sensitive", "g"]
REVERSED = "Warning: 's' ranks positives below negatives"
SAME = "Warning: label and prediction are the same column, 'y'"


@pytest.fixture
def risks(tmp_path):
    """Return a table of risks: the score is the probability of the unfavourable outcome 1."""
    rows = ["g,y,s", *["a,0,0.1", "b,1,0.9", "a,1,0.7", "b,0,0.3", "b,0,0.6", "a,1,0.6"] * 20]
    path = tmp_path / "risks.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_the_first_screen_counts_it_before_the_verdict_and_has_it_before_the_tables(run, risks):
    result = run("audit", risks, *SCORES, "--rule", "accuracy >= 0.9")
    lines = result.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(REVERSED))
    verdict = next(i for i, line in enumerate(lines) if line.startswith("FAIL"))
    assert lines[0].startswith("Fairness audit")
    assert lines[1] == "1 warning below the summary may change what it means."
    assert 1 < verdict < at < lines.index("")
    assert result.stderr == ""
    full = run("audit", risks, *SCORES, "--full").stdout
    assert full.index(lines[1]) < full.index("What was looked at") < full.index(REVERSED)


@pytest.mark.parametrize(
    "flags", [["-q"], ["--format", "json"], ["--format", "csv"], ["--table", "groups"]]
)
def test_a_result_without_room_for_it_has_it_on_standard_error(run, risks, flags):
    result = run("audit", risks, *SCORES, *flags)
    assert result.stderr.startswith(REVERSED)
    assert REVERSED not in result.stdout


@pytest.mark.parametrize("format_", ["html", "markdown"])
def test_a_page_has_it_under_its_title(run, risks, format_):
    result = run("audit", risks, *SCORES, "--format", format_, "--rule", "accuracy >= 0.9")
    page = html.unescape(result.stdout)
    assert page.index(REVERSED) < page.index("FAIL: 1 of 1 rule")
    assert result.stderr == ""


def test_without_a_warning_there_is_none(run, risks):
    stated = [*SCORES, "--score-of", "1"]
    result = run("audit", risks, *stated)
    assert "Warning" not in result.stdout + result.stderr
    assert run("audit", risks, *stated, "-q").stderr == ""


def test_three_are_listed_the_gravest_first_and_the_others_counted(tmp_path, run):
    twice = [f"{row},{y}" for row in ("a,?,A", "b,u,a", "?,v,b") for y in (0, 1)]
    rows = ["g,h,k,y", *twice * 10]
    path = tmp_path / "same.csv"
    path.write_text("\n".join(rows) + "\n")
    asked = ["--label", "y", "--prediction", "y", "--sensitive", "g", "--sensitive", "h"]
    result = run("audit", str(path), *asked, "--sensitive", "k", "-q")
    lines = result.stderr.splitlines()
    assert lines[0].startswith(SAME)
    assert lines[1].startswith("Warning: the favourable outcome is assumed")
    assert lines[2].startswith("Warning: k: the groups 'A' (20 rows) and 'a' (20 rows)")
    report = fg.audit(str(path), label="y", prediction="y", sensitive=["g", "h", "k"])
    warnings = sum(each.level == "warning" for each in report.diagnostics)
    assert lines[3] == f"{warnings - 3} more warnings in the notes."
    assert lines[3] in str(report)


def test_protected_counts_are_stated_once_on_the_screen_and_on_standard_error(run, risks, tmp_path):
    counts = str(tmp_path / "risks.cube.json")
    run("count", risks, "--label", "y", "--positive", "0", "--sensitive", "g", "--min-cell", "5",
        "-o", counts)  # fmt: skip
    assert run("audit", counts).stdout.casefold().count("counts are protected") == 1
    assert "the counts are protected" in run("audit", counts, "-q").stderr
