"""Warnings of an audit are seen wherever its result is read, or counted, before the verdict."""

import pytest

SCORES = ["--label", "y", "--score", "s", "--threshold", "0.5",
    "--positive", "0", "--sensitive", "g"]  # fmt: skip
REVERSED = "Warning: 's' ranks positives below negatives"


@pytest.fixture
def risks(tmp_path):
    """Return a table of risks: the score is the probability of the unfavourable outcome 1."""
    rows = ["g,y,s", *["a,0,0.1", "b,1,0.9", "a,1,0.7", "b,0,0.3", "b,0,0.6", "a,1,0.4"] * 20]
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


def test_without_a_warning_there_is_none(run, risks):
    stated = [*SCORES, "--score-of", "1"]
    result = run("audit", risks, *stated)
    assert "Warning" not in result.stdout + result.stderr
    assert run("audit", risks, *stated, "-q").stderr == ""
