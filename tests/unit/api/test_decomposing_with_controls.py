"""Controls of a decomposition: columns for which its regression alone is adjusted."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
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
    assert gap.adjusted.value == crossed.adjusted.value
    assert (gap.columns, gap.controls) == (("branch",), ("ltv", "purpose"))
    assert "adjusted for branch" in render(found, "text", full=False)
    assert found.spec["controls"] is not None


def test_without_strata_controls_are_the_strata(loans):
    one, other = (fg.why(loans, **{name: CONTROLS}, **ASKED) for name in ("controls", "strata"))
    assert one.gaps == other.gaps


def test_regressions_of_several_gaps_are_tested_together():
    """Of seven groups without a difference two had "a difference remains" by themselves."""
    random = np.random.default_rng(3)
    rows = pl.DataFrame({
        "team": random.choice(list("ABCDEFGR"), 3_000), "site": random.choice(["x", "y"], 3_000),
        "tier": random.choice(["1", "2", "3"], 3_000),
        "passed": (random.random(3_000) < 0.4).astype(int),
    })  # fmt: skip
    found = fg.why(
        rows, label="passed", positive=1, sensitive="team", reference={"team": "R"}, strata="site",
        controls="tier",
    )  # fmt: skip
    alone = [gap for gap in found.gaps if 0 not in gap.adjusted.interval]
    assert [gap.estimate.group for gap in alone] == ["D", "G"]
    assert not any(gap.adjusted.is_shown for gap in found.gaps)
    text = render(found, "text").lower()
    assert "by regression, a difference" not in " ".join(text.split())
    (one,) = fg.why(
        rows.filter(pl.col("team").is_in(["D", "R"])), label="passed", positive=1, sensitive="team",
        reference={"team": "R"}, strata="site", controls="tier",
    ).gaps  # fmt: skip
    assert one.adjusted.p_adjusted is None


def of_cells(cells):
    """Return counts of people: race, branch, loan type, how many, and percent approved."""
    return pl.DataFrame(
        [
            (race, branch, kind, decided, each)
            for race, branch, kind, n, percent in cells
            for decided, each in ((1, n * percent // 100), (0, n - n * percent // 100))
        ],
        ["race", "branch", "kind", "approved", "n"], orient="row",
    )  # fmt: skip


def offset(race="B", less=7):
    """Return cells in which a group has fewer in each, and more over all, by fewer FHA loans."""
    return [
        (who, f"b{branch}", kind, n, percent - (who != "W") * less)
        for branch in range(4)
        for who, kind, n, percent in [
            (race, "FHA", 100, 70), (race, "other", 400, 90),
            ("W", "FHA", 900, 70), ("W", "other", 600, 90),
        ]
    ]  # fmt: skip


def composed(less=6, fha=20):
    """Return cells in which the branches account for a gap, and within loan types one remains.

    ``fha`` is the percentage of a group that has such loans, of the other 60.
    """
    return [
        (race, branch, kind, n, percent - 15 * (kind == "FHA") - less * (race == "B"))
        for branch, percent, black, white in [("low", 73, 2_500, 2_500), ("high", 93, 1_000, 6_000)]
        for race, kind, n in [
            ("B", "FHA", black * fha // 100), ("B", "other", black - black * fha // 100),
            ("W", "FHA", white * 3 // 5), ("W", "other", white * 2 // 5),
        ]
    ]  # fmt: skip


def by_branch(cells, **asked):
    return fg.why(of_cells(cells), strata="branch", controls="kind", count="n", **ASKED, **asked)


def exit_code(rows, tmp_path, *more):
    rows.write_csv(tmp_path / "rows.csv")
    command = ["why", str(tmp_path / "rows.csv"), "--prediction", "approved", "--positive", "1",
               "--sensitive", "race", "--reference", "race=W", "--strata", "branch", "--count", "n",
               "--control", "kind", "-q", *more]  # fmt: skip
    done = CliRunner().invoke(main, command)
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("cells", "margin", "verdict", "code", "shows"),
    [
        (offset(), None, "remains", 1, "A DIFFERENCE IS SHOWN ("),
        (offset(), 0.03, "remains", 1, "A DIFFERENCE IS SHOWN ("),
        (offset(), 0.15, "within margin", 0, "A DIFFERENCE IS SHOWN, WITHIN THE MARGIN ("),
        (composed(), None, "remains", 1, "A DIFFERENCE REMAINS ("),
        (composed(), 0.15, "within margin", 0, "A DIFFERENCE REMAINS, WITHIN THE MARGIN ("),
        (composed(-4, 60), None, "reverses", 1, "THE REVERSE HOLDS ("),
        (composed(0), None, "accounted for", 0, "NO STATISTICALLY SIGNIFICANT DIFFERENCE REMAINS"),
        (
            composed(1, 53), 0.02, "inconclusive", 3,
            "INCONCLUSIVE: ITS CONFIDENCE INTERVAL REACHES THE MARGIN (",
        ),
    ],
)  # fmt: skip
def test_what_a_regression_with_controls_shows_is_in_the_exit_code(
    cells, margin, verdict, code, shows, tmp_path
):
    """The page stated that a difference remains, and `--fail-on remains` exited with 0."""
    found = by_branch(cells, margins={} if margin is None else {"selection_rate": margin})
    (gap,) = found.gaps
    assert gap.regression_verdict == verdict
    asked = [] if margin is None else ["--margin", f"selection_rate={margin}"]
    assert exit_code(of_cells(cells), tmp_path, *asked)[0] == 0
    given, text = exit_code(of_cells(cells), tmp_path, "--fail-on", "remains", *asked)
    assert (given, text) == (code, text)
    assert {"remains": 1, "reverses": 1, "inconclusive": 3}.get(found.verdict, 0) == code


@pytest.mark.parametrize(("rows", "verdict"), [(10, "accounted for"), (600, "inconclusive")])
def test_rows_with_a_value_of_a_control_that_one_side_lacks_could_undo_a_pass(rows, verdict):
    """Up to half of a side was extrapolated: what White applicants would have had, nobody knows."""
    (gap,) = by_branch([*composed(0), ("B", "low", "VA", rows, 60)]).gaps
    assert gap.regression_verdict == verdict
    assert (gap.no_regression == "not comparable") is (verdict == "inconclusive")
    assert replace(gap, doubted=True).regression_verdict == "inconclusive"


@pytest.mark.parametrize("seed", range(3))
def test_what_many_branches_make_within_two_regions_does_not_remain(seed, tmp_path):
    """11 points within region are the branches': REMAINS and exit 1, by what was not asked."""
    rng = np.random.default_rng(seed)
    branch = np.repeat(np.arange(100), 40)
    sex = np.where(rng.random(4_000) < np.where(branch % 4 < 2, 0.8, 0.2), "F", "M")
    y = rng.random(4_000) < np.where(branch % 4 < 2, 0.5, 0.1)
    rows = pl.DataFrame(
        {"sex": sex, "branch": [f"b{b}" for b in branch], "region": branch % 2, "y": y * 1}
    )
    asked = {"prediction": "y", "positive": 1, "sensitive": "sex", "reference": {"sex": "M"}}
    found = fg.why(rows, **asked, strata="region", controls="branch")
    (gap,) = found.gaps
    assert (gap.verdict, gap.regression_verdict) == ("remains", "accounted for")
    assert found.verdict == "accounted for"
    rows.write_csv(path := tmp_path / "rows.csv")
    words = ["--prediction=y", "--positive=1", "--sensitive=sex", "--reference=sex=M"]
    why = [*words, "--strata=region", "--control=branch", "--fail-on=remains"]
    assert CliRunner().invoke(main, ["why", str(path), *why]).exit_code == 0
