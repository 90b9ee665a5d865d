"""``fairgauge choose``: questions in the terminal or by flags, and a specification file."""

import tomllib

import pytest
from click.testing import CliRunner

from fairgauge.cli import main

ANSWERS = ["--model", "decision", "--outcomes", "all", "--error", "refused", "--parity", "no"]
COLUMNS = ["--label", "repaid", "--prediction", "approved", "--sensitive", "sex"]


def run(*arguments, typed=""):
    return CliRunner().invoke(main, ["choose", *arguments], input=typed)


def test_flags_answer_without_a_question():
    result = run(*ANSWERS, *COLUMNS, "--positive", "yes", "--sensitive", "age:40:left")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    read = tomllib.loads(result.stdout)
    assert read["label"] == "repaid"
    assert read["positive"] == ["yes"]
    assert read["sensitive"] == ["sex", {"column": "age", "cuts": [40.0], "closed": "left"}]
    assert read["rules"] == ["-0.1 <= true_positive_rate.difference <= 0.1"]


def specification(result):
    """Return what is written, without the answers, which the runner of older clicks writes too."""
    return result.stdout[result.stdout.index("# A specification") :]


def test_questions_are_asked_on_standard_error_and_take_words_or_numbers():
    result = run(*COLUMNS, "--positive", "yes", typed="decision\n1\nnonsense\n1\nno\n")
    assert result.exit_code == 0, result.stderr
    assert specification(result) == run(*ANSWERS, *COLUMNS, "--positive", "yes").stdout
    assert "Which error does the audit guard against?" in result.stderr
    assert "is not one of 'refused', 'granted', 'both'" in result.stderr


def test_without_a_terminal_the_missing_flag_is_named():
    result = run("--model", "decision")
    assert result.exit_code == 2
    assert "answer --outcomes with one of all, selected, biased, none" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "number", "--error", "both"], "is asked only where"),
        (["--model", "none", "--sensitive", "age:x"], "sensitive"),
        (["--model", "none", "-o", "audit.yaml"], "name a .toml file"),
        (["--model", "none", "-o", "nowhere/audit.toml"], "cannot write"),
    ],
)
def test_mistakes_are_explained(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_the_file_that_is_written_can_be_audited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["sex,repaid,approved"] + ["F,1,1", "F,0,0", "M,1,1", "M,0,0", "M,1,0", "F,1,0"] * 200
    (tmp_path / "loans.csv").write_text("\n".join(rows) + "\n")
    written = run(*ANSWERS, *COLUMNS, "-o", "audit.toml")
    assert written.exit_code == 0, written.stderr
    assert "fairgauge audit DATA -c audit.toml" in written.stdout
    audited = CliRunner().invoke(main, ["audit", "loans.csv", "-c", "audit.toml", "--quiet"])
    assert audited.exit_code == 0, audited.stderr  # of both, half of those who repaid are approved
