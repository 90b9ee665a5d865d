"""Controls of a decomposition: columns for which its regression alone is adjusted."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import DataError, SpecError
from fairgauge.render.formats import render

ROWS = 2_000
ASKED = {"prediction": "approved", "positive": 1, "sensitive": "race", "reference": {"race": "W"}}
CONTROLS = [fg.cut("ltv", [80, 90]), "purpose"]


@pytest.fixture(scope="module")
def loans():
    random = np.random.default_rng(7)
    race = random.choice(["B", "W"], ROWS, p=[0.3, 0.7])
    ltv = random.choice([70, 85, 95], ROWS)
    chance = 0.8 - 0.005 * (ltv - 70) - 0.1 * (race == "B")
    return pl.DataFrame({
        "race": race, "ltv": ltv, "branch": random.choice(["N", "S"], ROWS),
        "purpose": random.choice(["buy", "refinance", None], ROWS, p=[0.6, 0.3, 0.1]),
        "dti": random.normal(36, 8, ROWS).round(1),
        "approved": (random.random(ROWS) < chance).astype(int),
    })  # fmt: skip


def test_controls_move_the_regression_and_nothing_else(loans):
    known = loans.drop_nulls()
    alone = fg.why(known, strata="branch", **ASKED)
    found = fg.why(known, strata="branch", controls=CONTROLS, **ASKED)
    (plain,), (gap,) = alone.gaps, found.gaps
    assert (gap.parts, gap.strata, gap.verdict) == (plain.parts, plain.strata, plain.verdict)
    crossed = fg.why(known, strata=["branch", *CONTROLS], **ASKED).gaps[0]
    assert [each.value for each in gap.adjusted] == [each.value for each in crossed.adjusted]
    assert (gap.columns, gap.controls) == (("branch",), ("ltv", "purpose"))
    assert "adjusted for branch" in render(found, "text", full=False)
    assert "Adjusted for branch, ltv and purpose by logistic" in gap.says
    assert found.spec["controls"] is not None


@pytest.mark.parametrize(
    "counted", [{"strata": ["branch", *CONTROLS]}, {"strata": "branch", "controls": CONTROLS}]
)
def test_counts_give_what_rows_give(loans, counted):
    cube = fg.count(loans, **{k: v for k, v in ASKED.items() if k != "reference"}, **counted)
    found = fg.why(cube, controls=CONTROLS, reference={"race": "W"})
    assert found.gaps == fg.why(loans, strata="branch", controls=CONTROLS, **ASKED).gaps


def test_rows_without_a_control_are_excluded_from_the_regression_alone(loans):
    """The gap was of the rows with the control: it could be the reverse of that of all rows."""
    found = fg.why(loans, strata="branch", controls="purpose", **ASKED)
    assert (found.used, found.excluded) == (ROWS, {})
    alone = fg.why(loans, strata="branch", **ASKED).gaps[0]
    known = fg.why(loans.drop_nulls(), strata="branch", controls="purpose", **ASKED).gaps[0]
    (gap,) = found.gaps
    assert (gap.estimate, gap.parts, gap.strata, gap.verdict) == (
        alone.estimate, alone.parts, alone.strata, alone.verdict,
    )  # fmt: skip
    assert gap.adjusted == known.adjusted
    assert (gap.left_out, gap.confounded, gap.overall) == (
        loans["purpose"].null_count(), False, None,
    )  # fmt: skip
    assert f"It excludes {gap.left_out:,} rows without purpose." in flat(found)


def test_a_control_that_the_refused_of_one_group_lack_leaves_the_gap_and_no_regression(loans):
    lacking = (pl.col("race") == "B") & (pl.col("approved") == 0) & (pl.col("ltv") > 70)
    rows = loans.with_columns(dti=pl.when(~lacking).then("dti"))
    asked = {"strata": "branch", "controls": fg.cut("dti", "quantiles"), **ASKED}
    found = fg.why(rows, **asked)
    (gap,), (alone,) = found.gaps, fg.why(rows, strata="branch", **ASKED).gaps
    assert (gap.estimate, gap.strata, gap.verdict) == (alone.estimate, alone.strata, alone.verdict)
    assert (gap.confounded, gap.adjusted) == (True, ())
    text = flat(found)
    assert "with dti, by regression, inconclusive" in text
    assert (
        f"No regression is adjusted for branch and dti: {gap.left_out:,} rows without a value of "
        "dti are excluded"
    ) in text
    assert "rows with branch" not in text
    assert "complete dti, or give" in text


def flat(found):
    return " ".join(render(found, "text", full=True).split())


def test_a_number_is_cut_or_taken_as_it_is(loans):
    with pytest.raises(SpecError, match=r"different numbers: cut them \(dti:36,43\)"):
        fg.why(loans, strata="branch", controls="dti", **ASKED)
    numbers = fg.why(loans, strata="branch", controls=fg.cut("dti", "quantiles"), **ASKED).gaps[0]
    assert [str(each.effects) for each in numbers.adjusted] == ["main", "by side", "numbers"]
    assert not numbers.other_intervals  # of strata alone


def test_without_strata_controls_are_the_strata(loans):
    one, other = (fg.why(loans, **{name: CONTROLS}, **ASKED) for name in ("controls", "strata"))
    assert one.gaps == other.gaps


@pytest.mark.parametrize(
    ("controls", "message"), [("branch", "remove it from the controls"), ("race", "sensitive")]
)
def test_a_control_is_no_stratum_and_no_group(loans, controls, message):
    with pytest.raises(SpecError, match=message):
        fg.why(loans, strata="branch", controls=controls, **ASKED)


def test_the_command_takes_controls(loans, tmp_path):
    loans.write_csv(tmp_path / "loans.csv")
    controls = ["--control", "ltv:80,90", "--control", "purpose"]
    question = [
        "loans.csv", "--prediction", "approved", "--positive", "1", "--sensitive", "race",
        "--strata", "branch", *controls,
    ]  # fmt: skip
    reference = ["--reference", "race=W", "--format", "json"]

    def run(*arguments):
        command = [sys.executable, "-m", "fairgauge", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        (tmp_path / "why.json").write_text(done.stdout, encoding="utf-8")
        return fg.load(tmp_path / "why.json") if done.stdout else None

    found = run("why", *question, *reference)
    assert found.gaps[0].controls == ("ltv", "purpose")
    run("count", *question, "-o", "loans.cube.json")
    assert run("why", "loans.cube.json", *controls, *reference).gaps == found.gaps


@pytest.mark.parametrize("strata", [{"strata": "branch"}, {}])
@pytest.mark.parametrize(
    ("control", "advice"),
    [("x", "such as --control 'x:"), ("app", "choose a column of fewer values")],
)
def test_a_control_of_too_many_values_is_called_so(loans, strata, control, advice):
    rows = loans.with_row_index("i").with_columns(
        x=pl.col("i") / 7, app=pl.format("app {}", pl.col("i"))
    )
    with pytest.raises(DataError) as caught:
        fg.why(rows, controls=control, **strata, **ASKED)
    message = str(caught.value)
    assert message.startswith(f"column '{control}' (control) has more than 1,000 distinct values")
    assert advice in message
    assert "strat" not in message
