"""`fairgauge compare-models` and `fairgauge thresholds`: exit codes and every format."""

import polars as pl
import pytest
from click.testing import CliRunner
from tests.model_rows import rows

from fairgauge.cli import main

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
