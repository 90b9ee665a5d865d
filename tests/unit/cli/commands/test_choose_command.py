"""``fairgauge choose``: questions in the terminal or by flags, and a specification file."""

from __future__ import annotations

import shlex
import tomllib

import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main

ANSWERS = ["--model", "decision", "--outcomes", "all", "--error", "refused", "--parity", "no"]
COLUMNS = ["--label", "repaid", "--prediction", "approved", "--sensitive", "sex"]

SCORED = ["--model", "score", "--outcomes", "all", "--error", "both", "--parity", "no"]
SCORED += ["--label", "repaid", "--score", "score"]


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
    assert "choose one of refused, granted, both" in result.stderr


def test_columns_are_asked_after_questions():
    result = run(typed="none\nrepaid\nyes\nsex age:40:left\n")
    assert result.exit_code == 0, result.stderr
    read = tomllib.loads(specification(result))
    assert (read["label"], read["positive"]) == ("repaid", ["yes"])
    assert read["sensitive"] == ["sex", {"column": "age", "cuts": [40.0], "closed": "left"}]
    assert "Column of the observed outcome" in result.stderr


def test_a_favourable_value_is_not_asked_for_amounts():
    result = run(typed="number\nprice\nestimate\narea\n")
    assert result.exit_code == 0, result.stderr
    assert "positive" not in tomllib.loads(specification(result))
    assert tomllib.loads(specification(result))["sensitive"] == ["area"]


def test_a_score_may_be_the_probability_of_the_unfavourable_outcome():
    answers = "score\nall\nboth\nyes\nyes\n"
    result = run(typed=f"{answers}two_year_recid\nscore\n0\n1\nrace\n")
    assert result.exit_code == 0, result.stderr
    read = tomllib.loads(specification(result))
    assert (read["positive"], read["score_of"]) == (["0"], "1")
    assert read["sensitive"] == ["race"]
    assert "Label value whose probability the score gives" in result.stderr


def test_the_score_is_of_the_favourable_outcome_unless_another_is_named():
    columns = [*SCORED, "--positive", "yes", "--sensitive", "sex"]
    read = tomllib.loads(specification(run(*columns, typed="no\n\n")))
    assert (read["positive"], read["score_of"]) == (["yes"], "yes")
    several = [*SCORED, "--positive", "yes,maybe", "--sensitive", "sex"]
    assert "score_of" not in tomllib.loads(specification(run(*several, typed="no\n\n")))


def test_whose_probability_a_score_is_can_be_a_flag():
    flags = ["--positive", "yes", "--score-of", "no", "--sensitive", "sex"]
    result = run(*SCORED, *flags, typed="no\n")
    assert "Label value whose probability" not in result.stderr
    assert tomllib.loads(specification(result))["score_of"] == "no"


def test_only_what_is_open_is_asked():
    result = run("--model", "decision", "--outcomes", "all", typed="both\nno\n")
    assert result.exit_code == 0, result.stderr
    assert "What does the model give" not in result.stderr


def test_without_a_terminal_the_missing_flag_is_named():
    result = run("--model", "decision")
    assert result.exit_code == 2
    assert "answer --outcomes with one of all, selected, biased, none" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "number", "--error", "both"], "is asked only where"),
        (["--model", "none", "--share", "2"], "share: must be a number between 0 and 1"),
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


def test_the_columns_of_a_program_for_probabilities_become_a_feature():
    names = ["pred.whi", "pred.bla", "pred.his", "pred.asi", "pred.oth"]
    result = run("--model", "none", "--label", "repaid", "--sensitive", "sex", *(
        part for name in names for part in ("--sensitive", name)
    ))  # fmt: skip
    assert result.exit_code == 0, result.stderr
    sex, race = tomllib.loads(result.stdout)["sensitive"]
    assert sex == "sex"
    assert race["name"] == "race"
    assert list(race["probabilities"].values()) == names


def test_probabilities_are_a_flag():
    result = run("--model", "none", "--label", "repaid", "--probabilities", "race: A=p_a, B=p_b")
    read = tomllib.loads(result.stdout)
    assert read["probabilities"] == [{"name": "race", "probabilities": {"A": "p_a", "B": "p_b"}}]
    assert "sensitive" not in read
    assert "Rows needed for each rule to pass" not in result.stdout
    assert "No number of rows makes a rule pass" in result.stdout


EXPORT = "".join(
    f"{sex},{race},{decision},{qualified}\n"
    for sex in ("Male", "M", "male ", "Female", "F", "Prefer not to say", "?")
    for race in ("White", "Black", "N/A", "Asian")
    for decision in ("Advance", "Not selected", "Withdrawn")
    for qualified in ("yes", "no")
    for _ in range(4)
)


def test_values_are_read_before_anything_is_counted(tmp_path, monkeypatch):
    """An export was warned of one line at a time, after each audit."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export.csv").write_text("Gender,Race,Decision,Qualified\n" + EXPORT)
    columns = ["--label", "Qualified", "--prediction", "Decision", "--sensitive", "Gender",
               "--sensitive", "Race", "--positive", "Decision=Advance,Qualified=yes"]  # fmt: skip
    result = run("export.csv", *ANSWERS, *columns, "-o", "audit.toml")
    assert result.exit_code == 0, result.output
    recode = {
        "Decision": {"unknown": ["Withdrawn"]},
        "Gender": {"Male": ["Male", "male "], "unknown": ["?", "Prefer not to say"]},
        "Race": {"unknown": ["N/A"]},
    }  # fmt: skip
    assert tomllib.loads((tmp_path / "audit.toml").read_text())["recode"] == recode
    report = fg.audit("export.csv", config="audit.toml")
    genders = {each.group for each in report.groups if each.feature == "Gender"}
    assert genders == {"F", "Female", "M", "Male"}
    codes = {each.code for each in report.diagnostics}
    assert not codes & {"same_names", "missing_marker", "undecided_outcomes"}
    after = CliRunner().invoke(main, ["audit", "export.csv", *columns])
    _, line = " ".join(after.output.split()).split("recode them all: ")
    flags = shlex.split(line.split("}'.")[0] + "}'")
    recoded = CliRunner().invoke(main, ["audit", "export.csv", *columns, *flags])
    assert recoded.exit_code == 0
    assert "recode them" not in recoded.output


def test_values_of_clean_data_propose_nothing():
    rows = "sex,approved,repaid\n" + "F,1,1\nM,0,1\nF,0,0\nM,1,0\n" * 30
    result = CliRunner().invoke(
        main, ["choose", "-", *ANSWERS, *COLUMNS, "--positive", "1"], input=rows
    )
    assert result.exit_code == 0, result.output
    assert "recode" not in tomllib.loads(specification(result))
    refused = CliRunner().invoke(main, ["choose", "-", *ANSWERS, *COLUMNS[:4]], input=rows)
    assert refused.exit_code == 2
