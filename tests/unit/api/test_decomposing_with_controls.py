"""Controls of a decomposition: columns for which its regression alone is adjusted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import GapVerdict
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
    assert gap.adjusted.value == crossed.adjusted.value
    assert (gap.columns, gap.controls) == (("branch",), ("ltv", "purpose"))
    assert "adjusted for branch" in render(found, "text", full=False)
    assert found.spec["controls"] is not None


@pytest.mark.parametrize("sampled", [{}, {"weight": "weight"}, {"cluster": "household"}])
@pytest.mark.parametrize("of_100", [0, 1])
def test_few_successes_beside_a_low_rate_are_no_difference_that_remains(sampled, of_100):
    """0 of 100 beside 2% and 1 of 100 beside 4%: exact tests have p-values of .27 and .19."""
    random = np.random.default_rng(1)
    others = random.permutation(5_000) < (200 if of_100 else 100)
    rows = pl.DataFrame({
        "race": np.repeat(["B", "W"], [100, 5_000]),
        "approved": [*(np.arange(100) < of_100).astype(int), *others.astype(int)],
        "branch": random.choice(["N", "S"], 5_100), "purpose": random.choice(["x", "y"], 5_100),
        "weight": random.uniform(0.5, 2, 5_100), "household": np.arange(5_100) // 5,
    })  # fmt: skip
    (gap,) = fg.why(rows, strata="branch", controls="purpose", **sampled, **ASKED).gaps
    assert gap.regression_verdict is GapVerdict.NO_GAP
    assert 0 in gap.adjusted.interval
    assert 1 in gap.adjusted.ratio_interval


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


def test_a_control_that_the_refused_of_one_group_lack_leaves_the_gap_and_no_regression(loans):
    lacking = (pl.col("race") == "B") & (pl.col("approved") == 0) & (pl.col("ltv") > 70)
    rows = loans.with_columns(dti=pl.when(~lacking).then("dti"))
    asked = {"strata": "branch", "controls": fg.cut("dti", "quantiles"), **ASKED}
    found = fg.why(rows, **asked)
    (gap,), (alone,) = found.gaps, fg.why(rows, strata="branch", **ASKED).gaps
    assert (gap.estimate, gap.strata, gap.verdict) == (alone.estimate, alone.strata, alone.verdict)
    assert (gap.confounded, gap.adjusted) == (True, None)
    text = flat(found)
    assert "with dti, by regression, inconclusive" in text
    assert "rows with branch" not in text
    assert "complete dti, and ask again" in text


def flat(found):
    return " ".join(render(found, "text", full=True).split())


def test_a_number_that_is_a_control_is_cut(loans):
    with pytest.raises(SpecError, match=r"different numbers: cut them \(dti:36,43\)"):
        fg.why(loans, strata="branch", controls="dti", **ASKED)
    (gap,) = fg.why(loans, strata="branch", controls=fg.cut("dti", "quantiles"), **ASKED).gaps
    assert gap.adjusted.cells == 40


def test_without_strata_controls_are_the_strata(loans):
    one, other = (fg.why(loans, **{name: CONTROLS}, **ASKED) for name in ("controls", "strata"))
    assert one.gaps == other.gaps


@pytest.mark.parametrize(
    ("controls", "message"), [("branch", "remove it from the controls"), ("race", "sensitive")]
)
def test_a_control_is_no_stratum_and_no_group(loans, controls, message):
    with pytest.raises(SpecError, match=message):
        fg.why(loans, strata="branch", controls=controls, **ASKED)


def test_a_stratum_in_intervals_that_is_a_control_is_told_to_be_copied(loans):
    """Within an interval it is not the same, as the message said; under another name it works."""
    cut, number = fg.cut("ltv", [80]), fg.cut("ltv", "quantiles")
    with pytest.raises(SpecError, match="copy it to a column of another name"):
        fg.why(loans, strata=cut, controls=number, **ASKED)
    copied = loans.with_columns(exact_ltv="ltv")
    found = fg.why(copied, strata=cut, controls=fg.cut("exact_ltv", "quantiles"), **ASKED)
    assert found.gaps[0].adjusted


def test_the_command_takes_controls(loans, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans.write_csv(tmp_path / "loans.csv")
    controls = ["--control", "ltv:80,90", "--control", "purpose"]
    question = [
        "loans.csv", "--prediction", "approved", "--positive", "1", "--sensitive", "race",
        "--strata", "branch", *controls,
    ]  # fmt: skip
    reference = ["--reference", "race=W", "--format", "json"]

    def run(*arguments):
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        (tmp_path / "why.json").write_text(done.stdout, encoding="utf-8")
        return fg.load(tmp_path / "why.json") if done.stdout else None

    found = run("why", *question, *reference)
    assert found.gaps[0].controls == ("ltv", "purpose")
    run("count", *question, "-o", "loans.cube.json")
    assert run("why", "loans.cube.json", *controls, *reference).gaps == found.gaps


@pytest.mark.parametrize("strata", [{"strata": "branch"}, {}])
@pytest.mark.parametrize(
    ("control", "advice"),
    [("x", "such as --control x:"), ("app", "choose a column of fewer values")],
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


# ---- why there is no regression, and what it excludes -----------------------------------------


def on_first_page(found):
    return " ".join(render(found, "markdown").replace("&#8203;", "").split())


def of_column(loans, values):
    """Return the gap by branch with a control of these values, and the first page."""
    rows = loans.with_columns(control=values)
    found = fg.why(rows, strata="branch", controls="control", **ASKED)
    return found.gaps[0], on_first_page(found)


def test_collinear_columns_are_named_and_change_no_difference(loans):
    """A region that the branch determines was excluded, and nothing stated it."""
    region = pl.col("branch").replace({"N": "north", "S": "south"})
    gap, _ = of_column(loans, region)
    found = fg.why(loans, strata="branch", **ASKED)
    alone = found.gaps[0]
    rows = loans.with_columns(control=region)
    table = fg.why(rows, strata="branch", controls="control", **ASKED).to_pandas("adjusted")
    assert table["collinear"].tolist() == ["control"]
    assert found.to_pandas("adjusted")["collinear"].isna().all()
    assert gap.adjusted.collinear == {"control": 1}
    assert alone.adjusted.collinear == {}
    assert gap.adjusted.value == pytest.approx(alone.adjusted.value, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "reason", "words"),
    [
        (pl.col("approved"), "columns decide", "determine the outcome almost wholly"),
        (pl.when(pl.col("race") == "W").then(1), "too few", "the data are insufficient"),
        (pl.int_range(ROWS) % 400, "too many levels", "too many values together"),
        (
            pl.when(pl.col("race") == "B").then(pl.int_range(ROWS) % 5).otherwise(9),
            "not comparable", "values that the other side does not have",
        ),
    ],
)  # fmt: skip
def test_the_first_page_states_why_there_is_no_regression(loans, values, reason, words):
    gap, page = of_column(loans, values.cast(pl.String))
    assert (gap.adjusted, gap.no_regression) == (None, reason)
    assert "No regression is adjusted for branch and control: " in page
    assert "there is no regression" not in page
    assert "by regression, inconclusive" in page
    found = fg.why(loans.with_columns(control=values.cast(pl.String)), strata="branch",
                   controls="control", **ASKED)  # fmt: skip
    screen = " ".join(render(found, "text").split())  # without --full it named no cause
    assert words in screen


def test_combinations_of_one_side_alone_leave_a_regression_and_levels_of_one_side_none():
    """Most combinations of many controls have one side alone; the levels have both."""
    random = np.random.default_rng(3)
    race = random.choice(["B", "W"], ROWS, p=[0.3, 0.7])
    many = {f"c{k}": random.integers(0, 8, ROWS).astype(str) for k in range(4)}
    chance = 0.6 - 0.1 * (race == "B")
    loans = pl.DataFrame({"race": race, **many, "branch": random.choice(["N", "S"], ROWS)})
    loans = loans.with_columns(approved=pl.Series((random.random(ROWS) < chance).astype(int)))
    gap = fg.why(loans, strata="branch", controls=list(many), **ASKED).gaps[0]
    assert gap.adjusted.extrapolated_group > 0.5
    assert gap.adjusted.interval.low < -0.1 < gap.adjusted.interval.high


# ---- numbers that are cut by hand --------------------------------------------------------------


@pytest.mark.parametrize("how", ["strata", "controls"])
def test_a_number_in_fewer_than_five_intervals_has_a_note(loans, how):
    asked = {**ASKED, "strata": "branch"} if how == "controls" else ASKED
    few = fg.why(loans, **asked, **{how: fg.cut("dti", [30, 40])})
    page = " ".join(render(few, "text", full=True).split())
    assert "'dti' is cut into 3 intervals" in page
    assert "about 17% of its part in rates and 21% in means" in page
    assert few.diagnostics[0]["intervals"] == 3
    limits = " ".join(str(each) for each in few.brief().limits)
    assert "A part of what dti confounds remains within fewer than five intervals." in limits
    for enough in (fg.cut("dti", [25, 30, 40, 45]), fg.cut("dti", "quantiles")):
        assert not fg.why(loans, **asked, **{how: enough}).diagnostics


def test_what_few_intervals_leave_is_what_the_note_states():
    """Of a normal number, in large samples: Cochran (1968), Biometrics 24, table of 2 to 4."""
    from fairgauge.render.words.diagnostic_sentences import _LEFT_WITHIN

    x = np.linspace(-8, 8, 200_001)
    sides = [np.exp(-((x + shift) ** 2) / 2) for shift in (0.25, -0.25)]
    sides = [each / each.sum() for each in sides]
    below = np.cumsum(sides[0] + sides[1]) / 2
    for intervals, stated in _LEFT_WITHIN.items():
        at = np.minimum((below * intervals).astype(int), intervals - 1)
        shares = [np.bincount(at, each) for each in sides]
        for outcome, percent in zip((1 / (1 + np.exp(-x)), x), stated, strict=True):
            rates = [
                np.bincount(at, each * outcome) / share
                for each, share in zip(sides, shares, strict=True)
            ]
            within = ((shares[0] + shares[1]) / 2 * (rates[0] - rates[1])).sum()
            gap = (sides[0] * outcome).sum() - (sides[1] * outcome).sum()
            assert abs(100 * within / gap - percent) < 1


# ---- mean scores, and intervals of all strata together -----------------------------------------


def test_a_mean_score_is_decomposed_as_the_number_that_it_is(loans):
    random = np.random.default_rng(1)
    rows = loans.with_columns(risk=pl.Series(random.uniform(0, 1, ROWS)) * 0.5)
    found = fg.why(
        rows, prediction="risk", task="regression", metrics=["mean_prediction.difference"],
        sensitive="race", reference={"race": "W"}, strata="branch",
        margins={"mean_prediction": 0.2},
    )  # fmt: skip
    black, risk = rows["race"].to_numpy() == "B", rows["risk"].to_numpy()
    assert found.gaps[0].margin == 0.2
    assert found.gaps[0].estimate.value == pytest.approx(risk[black].mean() - risk[~black].mean())
    assert "average risk" in on_first_page(found).lower()


def test_intervals_of_all_strata_together_agree_with_their_tests(loans):
    from fairgauge.stats.contrasts import score_difference
    from fairgauge.stats.intervals import critical

    (gap,) = fg.why(loans, strata=fg.cut("dti", [28, 32, 36, 40, 44]), **ASKED).gaps
    assert len(gap.strata) == 6
    for each in gap.strata:
        x = (each.rate_group * each.n_group, each.rate_reference * each.n_reference)
        low, high = score_difference(
            x[0], each.n_group, x[1], each.n_reference, critical(1 - 0.05 / len(gap.strata))
        )
        assert (each.simultaneous_low, each.simultaneous_high) == pytest.approx(
            (float(low), float(high))
        )
        assert each.simultaneous_low < each.interval.low < each.interval.high
        excluded = not each.simultaneous_low <= 0 <= each.simultaneous_high
        assert excluded == (each.difference_p_adjusted < 0.05)


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


def test_a_ratio_beside_its_difference_has_its_controls_in_any_order_of_metrics():
    """Asked first it failed where rows are read in batches, and its page quoted no regression."""
    random = np.random.default_rng(0)
    race, dti = random.choice(["B", "W"], 12_000), random.normal(36, 8, 12_000)
    chance = 0.6 - 0.1 * (race == "B") - 0.005 * (dti - 36)
    rows = pl.DataFrame({
        "race": race, "dti": dti, "branch": random.choice(["N", "S"], 12_000),
        "approved": (random.random(12_000) < chance).astype(int),
    })  # fmt: skip
    asked = {**ASKED, "strata": "branch", "controls": fg.cut("dti", "quantiles")}
    metrics = ["selection_rate.ratio", "selection_rate.difference"]
    one, other = (fg.why(rows, **asked, metrics=m) for m in (metrics, metrics[::-1]))
    assert set(map(repr, one.gaps)) == set(map(repr, other.gaps))
    assert [gap.adjusted is None for gap in one.gaps] == [True, False]
    for gap in one.gaps:
        assert gap.controls == ("dti",)
    page = " ".join(render(one, "text", full=True).split())
    assert "“within branch” is the ratio to quote" not in page
    assert "the one adjusted for branch and dti is the ratio to quote" in page


# ---- what the regression shows is in every answer ----------------------------------------------


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


def test_a_regression_with_controls_that_there_is_not_is_inconclusive(tmp_path):
    rows = of_cells(offset()).with_columns(kind=pl.format("was {}", "approved"))
    found = fg.why(rows, strata="branch", controls="kind", count="n", **ASKED)
    assert (found.gaps[0].verdict, found.verdict) == ("no gap shown", "inconclusive")
    assert exit_code(rows, tmp_path, "--fail-on", "remains")[0] == 3


def test_of_several_gaps_the_one_that_remains_by_regression_comes_first():
    alike = [("A", *each[1:]) for each in offset() if each[0] == "W"]
    found = by_branch([*alike, *offset()])
    assert [gap.verdict for gap in found.gaps] == ["no gap shown"] * 2
    assert [gap.regression_verdict for gap in found.gaps] == ["no gap shown", "remains"]
    brief = found.brief()
    assert "people with race B" in str(brief.headline)
    assert "a difference is shown" in str(brief.headline)
    assert not any("too small to matter" in str(each) for each in brief.steps)
    screen = " ".join(render(found, "text").split())
    assert "no gap shown; with the controls: no gap shown" in screen
    assert fg.why(of_cells([*alike, *offset()]), strata="branch", count="n", **ASKED).verdict == (
        "no gap shown"
    )


def test_a_control_that_no_column_is_is_named_where_it_stands():
    """It stood below strata in the error."""
    data = pl.DataFrame({"g": ["a", "b"] * 50, "p": [0, 1] * 50, "s": ["x", "y"] * 50})
    with pytest.raises(fg.SpecError) as caught:
        fg.why(data, prediction="p", sensitive="g", strata="s", controls=["t", "u"])
    assert [each.path for each in caught.value.problems] == ["controls[0]", "controls[1]"]


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
