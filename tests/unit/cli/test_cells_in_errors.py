"""What an error prints of the cells: at most three, and of an identifier only the form."""

import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.errors import cells

ASKED = ("--label", "y", "--prediction", "p", "--sensitive", "g")
OUTCOMES = ("--sensitive", "g", "--label")


@pytest.fixture(params=["mail", "case", "street"])
def column(request, tmp_path, monkeypatch):
    """Go to a folder of rows with an identifier, by mistake in the place of other columns."""
    monkeypatch.chdir(tmp_path)
    few = 12 if request.param == "street" else 100
    kinds = {"mail": "SECRET{}@mail.example", "case": "SECRET-{:05d}", "street": "{} Secret Street"}
    value = kinds[request.param].format
    rows = [f"{i % 2},{i // 3 % 2},{'ab'[i % 2]},{value(i % few)},{i}" for i in range(200)]
    (tmp_path / "a.csv").write_text(f"y,p,g,{request.param},n\n" + "\n".join(rows))
    return request.param


@pytest.mark.parametrize(
    "command",
    [
        ("audit", *ASKED, "--score", "{}"),
        ("audit", *ASKED, "--weight", "{}"),
        ("audit", *ASKED, "--count", "{}"),
        ("audit", *OUTCOMES, "y", "--prediction", "{}"),
        ("audit", *OUTCOMES, "{}", "--prediction", "p"),
        ("audit", *OUTCOMES, "{}", "--prediction", "p", "--positive", "x"),
        ("audit", "--label", "y", "--prediction", "p", "--sensitive", "{}:1,2"),
        ("audit", *ASKED, "--where", "{} > 3"),
        ("audit", *ASKED, "--where", "{} = x"),
        ("audit", *ASKED, "--where", "{} >= 2026-01-01"),
        ("audit", *ASKED, "--where", "{} >= 2026-01-01T00:00Z"),
        ("audit", "--label", "y", "--prediction", "p", "--sensitive", "{}", "--reference", "x"),
        ("compare-models", *ASKED, "--candidate", "{}"),
        ("thresholds", "--label", "y", "--score", "{}", "--threshold", "1", "--sensitive", "g"),
    ],
)
def test_an_identifier_in_the_place_of_another_column(run, column, command):
    name, *flags = (each.format(column) for each in command)
    done = run(name, "a.csv", *flags)
    assert "ecret" not in done.stderr.lower().replace("aaaaaa", "")
    if column != "street":  # of so few values that they may be classes
        assert done.exit_code == 2 or done.stderr


def test_a_frame_says_no_more_than_a_file(column):
    rows = pd.read_csv("a.csv")
    with pytest.raises(fg.DataError) as caught:
        fg.audit(rows, label="y", score=column, sensitive="g")
    assert "ecret" not in str(caught.value).lower()


def test_at_most_three_categories_are_shown():
    assert cells("abcdefgh") == "'a', 'b', 'c' and 5 more"
    assert cells(map(str, range(21))) == "values of the form '0'"


# ---- warnings of an audit are seen wherever its result is read, or counted, before the verdict
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


@pytest.mark.parametrize(
    ("flag", "key", "noted"),
    [
        ("--cluster", "0123456789abcdef", "40 values of 'applicant' as hashes under your key"),
        (
            "--cluster",
            "",
            "40 values of 'applicant' as numbers. 0 of these have cells like no other",
        ),
        ("--person", "", ""),
    ],
)
def test_counts_and_bundles_hold_no_identifier(run, tmp_path, monkeypatch, flag, key, noted):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", key)
    rows = "".join(f"A-{i // 2},{'FM'[i % 4 // 2]},{i % 2}\n" for i in range(80))
    (tmp_path / "t.csv").write_text(f"applicant,sex,hired\n{rows}")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", flag, "applicant"]
    counted = run("count", "t.csv", *asked, "-o", "t.cube.json")
    audited = run("audit", "t.cube.json", "-o", "t.json")
    sealed = run("seal", "t.json", "t.cube.json", "-o", "t.fairgauge")
    assert [each.exit_code for each in (counted, audited, sealed)] == [0, 0, 0]
    for each in (counted, sealed):
        assert noted in each.stderr
        assert ("the counts hold" in each.stderr) == bool(noted)
    assert "A-1" not in (tmp_path / "t.cube.json").read_text()
    assert run("verify", "t.fairgauge").exit_code == 0


# ---- identifiers in counts: hashes under a key are noted; nothing else holds any
def test_clusters_that_can_be_recognised_by_their_rows_are_counted(run, tmp_path):
    """A number hides who somebody is, and not how many rows of which kind they have."""
    decisions = {"a": [0, 1], "b": [1, 0], "c": [0, 0, 1], "d": [1], "e": [1, 1], "f": [1]}
    rows = "".join(f"{who},F,{y}\n" for who, ys in decisions.items() for y in ys)
    path = tmp_path / "t.csv"
    path.write_text(f"who,sex,hired\n{rows}g,M,1\n")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", "--cluster", "who"]
    result = run("count", str(path), *asked, "-o", str(tmp_path / "t.cube.json"))
    # c, e and g alone hold what they hold
    assert "7 values of 'who' as numbers. 3 of these have cells like no other" in result.stderr
    refused = run("protect", str(tmp_path / "t.cube.json"), "--min-cell", "5")
    assert refused.exit_code == 2
    assert "they hold single clusters ('who'); count without clusters" in refused.stderr


def test_a_key_that_can_be_guessed_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "secret")
    (tmp_path / "t.csv").write_text("who,sex,hired\na,F,1\nb,M,0\n")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", "--cluster", "who"]
    refused = run("count", str(tmp_path / "t.csv"), *asked)
    assert refused.exit_code == 2
    assert "FAIRGAUGE_CLUSTER_KEY has 6 characters" in refused.stderr
