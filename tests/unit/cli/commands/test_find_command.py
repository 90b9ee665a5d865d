"""``fairgauge find``: what is printed, what is written, and with which exit code it ends."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.model_rows import rows

from fairgauge.cli import main

ASKED = (
    "--label", "y", "--prediction", "p", "--metrics", "false_positive_rate",
    "--sensitive", "sex,age:30,60,race",
)  # fmt: skip


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def table(worse, rows=2_000):
        rng = np.random.default_rng(7)
        sex, race = rng.choice(["F", "M"], rows), rng.choice(["A", "B"], rows)
        age, y = rng.integers(18, 90, rows), rng.integers(0, 2, rows)
        p = rng.random(rows) < 0.2 + worse * ((sex == "F") & (age > 60))
        lines = zip(sex, race, age, y, p.astype(int), strict=True)
        text = "\n".join(["sex,race,age,y,p", *(",".join(map(str, line)) for line in lines), ""])
        (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
        return "rows.csv"

    return table


def test_the_planted_subgroup_is_found_and_fails_a_pipeline(run, write):
    result = run("find", write(0.4), *ASKED, "--fail-on", "worse", "-o", "find.json")
    assert result.exit_code == 1, result.output
    assert "Where is the false positive rate higher?" in result.stdout
    assert "sex = F & age = (60, inf)" in result.stdout
    with open("find.json", encoding="utf-8") as file:  # noqa: PTH123
        written = json.load(file)
    assert written["summary"] == ["sex = F & age = (60, inf)"]
    assert run("render", "find.json").stdout == run("find", "rows.csv", *ASKED).stdout
    assert run("find", "rows.csv", *ASKED).exit_code == 0
    quiet = run("find", "rows.csv", *ASKED, "-q").stdout
    assert quiet.endswith("are worse  Where is the false positive rate higher?\n")
    assert quiet.count("\n") == 1


def test_where_nothing_can_be_examined_a_pipeline_gets_3(run, write):
    data = write(0.4, rows=40)
    assert run("find", data, *ASKED, "--fail-on", "worse").exit_code == 3
    assert run("find", data, *ASKED).exit_code == 0


def test_features_are_those_of_a_file_unless_given(run, write):
    data = write(0.4)
    with open("audit.toml", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(
            'label = "y"\nprediction = "p"\nsensitive = ["sex", "race"]\nrules = ["DI >= 0.8"]\n'
        )
    of_file = run("find", data, "-c", "audit.toml", "--metrics", "fpr")
    assert of_file.exit_code == 0, of_file.output
    assert "8 subgroups of up to 2 of 2 features" in of_file.stdout
    given = run("find", data, "-c", "audit.toml", "--metrics", "fpr", "--sensitive", "age:40")
    assert "2 subgroups of up to 1 of 1 feature," in given.stdout


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--metrics", "fpr", "--sensitive", "sex,age:x"), "cut points"),
        (("--metrics", "fpr"), "--sensitive A,B,C"),
    ],
)
def test_mistakes_end_with_2_and_what_to_do(fails, write, flags, message):
    assert message in fails("find", write(0.0), "--label", "y", "--prediction", "p", *flags)


# ---- `fairgauge compare-models` and `fairgauge thresholds`: exit codes and every format
PEOPLE = rows(2_000)
FLAGS = ("--label", "repaid", "--prediction", "current", "--sensitive", "sex")
MARGINS = ("--margin", "accuracy=0.05", "--margin", "disparity=0.1")


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.with_columns(score=0.2 + pl.col("fairer") * 0.6).write_parquet("people.parquet")
    return "people.parquet"


def run(*args):
    return CliRunner().invoke(main, args)


@pytest.mark.parametrize(
    ("candidates", "margin", "code"),
    [
        (["fairer"], MARGINS, 0),
        (["fairer"], ("--margin", "accuracy=0.05"), 3),
        (["fairer", "unfair"], MARGINS, 0),
        (["unfair"], ("--margin", "accuracy=0.05"), 1),
        (["random"], ("--margin", "accuracy=0.05"), 3),
        (["random"], (), 0),
    ],
)
def test_the_best_candidate_decides_the_exit_code(people, candidates, margin, code):
    named = [flag for name in candidates for flag in ("--candidate", name)]
    result = run("compare-models", people, *FLAGS, *named, *margin)
    assert result.exit_code == code, result.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--candidate", "absent"), "no column 'absent'"),
        (("--candidate", "fairer", "--margin", "accuracy"), "write RATE=MARGIN"),
        ((), "name the columns of the candidates' decisions"),
        (("--candidate", "fairer", "--same-rows"), "No such option '--same-rows'"),
    ],
)
def test_wrong_flags_end_with_two(people, args, message):
    result = run("compare-models", people, *FLAGS, *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("key", ["chosen_on", "data", "config", "looks"])
def test_a_specification_names_no_data(people, tmp_path, key):
    """What else the function takes was read, addresses too, before it was refused."""
    (tmp_path / "asked.toml").write_text(f'{key} = "http://127.0.0.1:9/chosen.csv"\n')
    flags = (*FLAGS, "--candidate", "fairer", "-c", tmp_path / "asked.toml")
    result = run("alternatives", people, *flags)
    assert (result.exit_code, f"{key}: unknown option" in result.stderr) == (2, True)


def test_thresholds_end_with_what_the_goal_comes_to(people):
    flags = ["--label", "repaid", "--score", "score", "--threshold", "0.5", "--sensitive", "sex"]
    easy = run("thresholds", people, *flags, "--rule", "selection_rate.ratio >= 0.5")
    assert easy.exit_code == 0, easy.output
    assert "One threshold for all" in easy.stdout
    wrong = run("thresholds", people, *flags, "--rule", "accuracy")
    assert wrong.exit_code == 2
    assert "Traceback" not in wrong.stderr
