"""``fairgauge find``: what is printed, what is written, and with which exit code it ends."""

import json
import re

import numpy as np
import pytest

ASKED = (
    "--label", "y", "--prediction", "p", "--rate", "false_positive_rate",
    "--features", "sex,age:30,60,race",
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


def test_where_nothing_is_found_plain_sentences_state_what_would_and_what_to_do(run, write):
    page = " ".join(run("find", write(0.0), *ASKED).stdout.split())
    assert re.search(
        r"No subgroup is shown to be worse; a share higher by [\d.]+ of 100 in a subgroup of 10% "
        r"of the .+ would probably have been found",
        page,
    )
    assert "--tolerance 0.05: worse by more than 5 pp" in page
    assert page.count("Would have been found (80% power)") == 1
    assert "of the subgroups that are inconclusive" not in page
    tolerant = run("find", "rows.csv", *ASKED, "--tolerance", "0.3").stdout
    assert "--tolerance 0.05" not in tolerant


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
    of_file = run("find", data, "-c", "audit.toml", "--rate", "fpr")
    assert of_file.exit_code == 0, of_file.output
    assert "8 subgroups of up to 2 of 2 features" in of_file.stdout
    given = run("find", data, "-c", "audit.toml", "--rate", "fpr", "--features", "age:40")
    assert "2 subgroups of up to 1 of 1 feature," in given.stdout


def test_counts_are_searched(run, write):
    data = write(0.4)
    flags = ("--label", "y", "--prediction", "p", "--sensitive", "sex", "--sensitive", "race")
    run("count", data, *flags, "-o", "apart.cube.json")
    run("count", data, *flags, "--intersect", "sex*race", "-o", "joint.cube.json")
    assert run("find", "joint.cube.json", "--rate", "fpr").exit_code == 0
    assert run("find", "apart.cube.json", "--rate", "fpr").exit_code == 0  # few are held together


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--rate", "kappa"), "rate"),
        (("--rate", "fpr", "--features", "sex,age:x"), "cut points"),
        (("--rate", "fpr", "--features", "income"), "income"),
        (("--rate", "fpr", "--features", "sex", "--alpha", "2"), "alpha"),
        (("--rate", "fpr"), "--features A,B,C"),
        (("--rate", "fpr", "--features", "sex", "--cluster", "age"), "one row of each cluster"),
    ],
)
def test_mistakes_end_with_2_and_what_to_do(fails, write, flags, message):
    assert message in fails("find", write(0.0), "--label", "y", "--prediction", "p", *flags)
