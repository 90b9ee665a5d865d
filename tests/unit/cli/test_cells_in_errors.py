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
