"""The columns of probabilities that common programs write."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main


@pytest.mark.parametrize(("digits", "tolerance"), [(8, None), (4, 1e-3), (3, 5e-3)])
def test_probabilities_as_programs_print_them_are_counted(digits, tolerance, tmp_path):
    """The CFPB prints eight decimals, whose sums are .99999998 to 1.00000002; others print fewer.

    The estimates are those of exact probabilities, as far as rounding goes.
    """
    by_group = {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hispanic",
        "Asian or Pacific Islander": "pr_api", "American Indian or Alaska Native": "pr_aian",
        "several or other": "pr_mult_other",
    }  # fmt: skip
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.6, 0.2, 0.3, 0.1, 0.05, 0.05], 3_000)
    exact = pl.DataFrame(dict(zip(by_group.values(), p.T, strict=True)))
    exact = exact.with_columns(chosen=pl.Series(rng.integers(0, 2, 3_000)))
    printed = tmp_path / "printed.csv"
    exact.with_columns(pl.col(list(by_group.values())).round(digits)).write_csv(printed)
    asked = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}
    if tolerance:
        with pytest.raises(fg.SpecError, match="rounded in print set tolerance"):
            fg.audit(printed, sensitive={"race": fg.probabilities(by_group)}, **asked)
    more = {"tolerance": tolerance} if tolerance else {}
    race = fg.probabilities(by_group, **more)
    report = fg.audit(printed, sensitive={"race": race}, **asked)
    (note,) = [each for each in report.diagnostics if each.code == "rounded_probabilities"]
    assert 0 < note["rows"] < 3_000
    of_exact = fg.audit(exact, sensitive={"race": race}, **asked)
    values = [
        [e.value for e in each.estimates if e.value is not None] for each in (report, of_exact)
    ]
    assert values[0] == pytest.approx(values[1], abs=20 * 10.0**-digits)


def answered(answer):
    """Return a table in which two people gave an answer that is no group."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet([0.3, 0.7], 400)
    said = ["Black", "White", answer, None] * 100
    chosen = rng.integers(0, 2, 400)
    return pl.DataFrame({"chosen": chosen, "b": p[:, 0], "w": p[:, 1], "said": said})


def test_answers_that_state_an_unknown_group_are_of_none():
    race = fg.probabilities(Black="b", White="w", known="said")
    asked = {"prediction": "chosen", "positive": 1, "sensitive": {"race": race}}
    with pytest.raises(fg.SpecError, match="which is no group"):
        fg.audit(answered("Prefer not to say"), **asked)
    report = fg.audit(answered("Prefer not to say"), unknown=["Prefer not to say"], **asked)
    assert report.estimates == fg.audit(answered(None), **asked).estimates


def test_validate_refuses_answers_that_an_audit_refuses(tmp_path):
    answered("black").write_csv(tmp_path / "said.csv")
    of = [str(tmp_path / "said.csv"), "--prediction", "chosen", "--positive", "1"]
    flag = ["--probabilities", "race: Black=b, White=w; known=said"]
    for verb in ("audit", "validate"):
        made = CliRunner().invoke(main, [verb, *of, *flag])
        assert made.exit_code == 2, verb
        assert "holds 'black', which is no group. Did you mean 'Black'?" in made.stderr


def test_text_among_probabilities_is_reported_of_the_column_that_holds_it(tmp_path):
    data = answered(None).with_columns(pl.col("b").cast(pl.String))
    data = data.with_columns(
        b=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("n/a?")).otherwise("b")
    )
    data.write_csv(tmp_path / "said.csv")
    race = {"race": fg.probabilities(Black="b", White="w")}
    with pytest.raises(fg.DataError, match="column 'b' must hold numbers, but has 'n/a\\?'"):
        fg.audit(tmp_path / "said.csv", prediction="chosen", positive=1, sensitive=race)


@pytest.mark.filterwarnings("error")
def test_a_group_that_nobody_may_be_of_is_no_warning():
    data = answered("White").with_columns(none=pl.lit(0.0))
    race = fg.probabilities(Black="b", White="w", other="none", known="said")
    for assume in ("given_group", "nothing"):
        report = fg.audit(
            data, prediction="chosen", positive=1,
            sensitive={"race": dataclasses.replace(race, assume=assume)},
            rules=["selection_rate.difference >= -0.1"],
        )  # fmt: skip
        assert "pass" not in {str(each.outcome) for each in report.verdicts}
