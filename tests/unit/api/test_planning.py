"""Planning: the printed table of rows, what a table shows, and the command."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.choosing.recommendation import Expected, recommend
from fairgauge.cli._command_group import Commands
from fairgauge.render.formats import render
from fairgauge.results.planned import Needed

FOUR = {"female": {"tp": 20, "fn": 80}, "male": {"tp": 300, "fn": 700}}


def needed(goal, **options):
    found = {each.goal: each for each in fg.plan(**options).needed}
    return found[goal]


@pytest.mark.parametrize(
    ("rate", "tolerance", "to_pass", "to_detect"),
    [(0.1, 0.05, 757, 683), (0.3, 0.05, 1766, 1374), (0.5, 0.1, 526, 385)],
)
def test_rows_are_close_to_the_normal_formulas_where_those_are_right(
    rate, tolerance, to_pass, to_detect
):
    found = needed(f"to pass equal rates as within {tolerance:g}", rate=rate, tolerance=tolerance)
    assert found.group == found.reference == pytest.approx(to_pass, rel=0.04)
    found = needed(f"to find a difference of {tolerance:g}", rate=rate, tolerance=tolerance)
    assert found.group == pytest.approx(to_detect, rel=0.04)


@pytest.mark.parametrize(("rate", "rows"), [(0.1, 2838), (0.3, 736), (0.5, 316)])
def test_rows_for_the_four_fifths_rule(rate, rows):
    found = needed("to pass equal rates as at least 0.8 times", rate=rate).group
    assert found == pytest.approx(rows, rel=0.03)


def test_a_plan_and_a_recommendation_need_the_same_rows():
    answers = {"model": "decision", "outcomes": "none"}
    for share in (0.1, 0.17, 0.3):
        recommended = recommend(answers, Expected(share=share)).rows
        passing = fg.plan(rate=0.5, share=share).needed[2]
        assert (passing.total, passing.group) == (recommended, math.ceil(share * recommended))


def test_an_unequal_split_a_denominator_and_clusters_cost_rows():
    goal = "to pass equal rates as at least 0.8 times"
    even = needed(goal, rate=0.3)
    uneven = needed(goal, rate=0.3, share=0.1)
    assert uneven.total > even.total
    assert uneven.reference == pytest.approx(9 * uneven.group, rel=0.01)
    assert needed(goal, rate=0.3, among=0.5).group == pytest.approx(2 * even.group, rel=0.02)
    clustered = needed(goal, rate=0.3, cluster_size=21, icc=0.1)
    assert clustered.group == pytest.approx(3 * even.group, abs=2)


def test_a_difference_that_no_rate_can_have_is_not_planned_for():
    goals = [each.goal for each in fg.plan(rate=0.5, tolerance=0.6).needed]
    assert "to find a difference of 0.6" not in goals


def test_what_no_number_of_rows_gives_is_stated():
    planned = replace(fg.plan(rate=0.3), needed=(Needed("to pass", math.inf, math.inf),))
    assert "No number of rows is enough to pass" in str(planned)
    assert planned.to_dict()["needed"][0]["group"] == "Infinity"


def test_a_table_says_the_smallest_disparity_that_it_shows():
    planned = fg.plan(fg.confusion("sex", FOUR), metrics="DI")
    female = planned.smallest[0]
    assert (female.group, female.n_group, female.n_reference) == ("female", 100, 1000)
    sd = math.sqrt(0.3 * 0.7 * (1 / 100 + 1 / 1000))
    assert female.difference == pytest.approx((1.959964 + 0.841621) * sd, rel=1e-5)
    assert female.ratio == pytest.approx(1 - female.difference / 0.3)
    rows = [line.split() for line in str(planned).splitlines()]
    for group, difference, *others in (
        ("female", "13.5", "pp", "0.55", "100", "1,000", "30.0%"),
        ("male", "11.8", "pp", "0.41", "1,000", "100", "20.0%"),
    ):
        assert [group, "(sex)", "selection", "rate", difference, *others] in rows


def test_a_frame_takes_the_options_of_an_audit():
    frame = pl.DataFrame({"y": [1, 0] * 50, "g": ["a"] * 50 + ["b"] * 50})
    planned = fg.plan(frame, label="y", sensitive="g", confidence=0.9, power=0.9, metrics="DPL")
    assert (planned.confidence, planned.power) == (0.9, 0.9)
    assert planned.smallest[0].difference == pytest.approx((1.644854 + 1.281552) * 0.1, rel=1e-5)


def test_counts_are_planned_for_at_the_confidence_that_they_were_asked_at():
    rows = pl.DataFrame({"g": ["a", "b"] * 60, "y": [1, 0, 0, 1, 1, 1] * 20})
    asked = {"label": "y", "positive": 1, "sensitive": "g"}
    planned = fg.plan(fg.count(rows, **asked, confidence=0.8))
    assert (planned.confidence, planned.smallest) == (
        0.8, fg.plan(rows, **asked, confidence=0.8).smallest
    )  # fmt: skip
    assert fg.plan(fg.count(rows, **asked, confidence=0.8), confidence=0.9).confidence == 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "rate: name the rate to plan for, or give data"),
        ({"rate": 1.5}, "rate: must be a number between 0 and 1, not 1.5"),
        ({"rate": 0.3, "ratio": 1}, "ratio: must be a number between 0 and 1, not 1"),
        ({"rate": 0.3, "icc": 2}, "icc: must be a number from 0 to 1, not 2"),
        ({"rate": 0.3, "cluster_size": 0}, "cluster_size: must be a number of at least 1, not 0"),
        ({"rate": 0.3, "among": 0}, "among: must be a number above 0, at most 1, not 0"),
        ({"rate": "x"}, "rate: must be a number between 0 and 1, not 'x'"),
        ({"rate": 0.3, "sensitive": "g"}, "sensitive: needs data to audit"),
        ({"data": [], "rate": 0.3}, "rate: is read off the data; leave out one of both"),
    ],
)
def test_mistakes_are_told(options, message):
    with pytest.raises(fg.SpecError) as error:
        fg.plan(**options)
    assert str(error.value) == message


def run(*arguments):
    return CliRunner().invoke(Commands("fairgauge"), ["plan", *arguments])


def test_the_command_plans():
    result = run("--rate", "0.3", "--tolerance", "0.05")
    assert result.exit_code == 0
    assert result.output == render(fg.plan(rate=0.3, tolerance=0.05), "text")


def test_the_command_reads_a_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,g\n" + "1,a\n0,a\n" * 30 + "1,b\n0,b\n" * 30)
    result = run(str(path), "--label", "y", "--sensitive", "g", "--metrics", "DPL")
    assert result.exit_code == 0
    assert "a (g)  base rate     25.6 pp" in result.output


def test_the_command_needs_a_rate_or_a_table():
    result = run()
    assert result.exit_code == 2
    assert "name the rate to plan for, or give data" in result.output


def of_sizes(**sizes):
    """Return a table with so many rows, and so many selected, of each group."""
    rows = [(g, i < x) for g, (n, x) in sizes.items() for i in range(n)]
    return pl.DataFrame(rows, schema=["race", "ok"], orient="row")


def test_a_group_that_is_not_evaluated_is_planned_to_lack_rows():
    """A plan promised a difference of 122.9 of 100 for one row, which no audit evaluates."""
    table = of_sizes(White=(31, 26), Asian=(6, 0), Joint=(1, 0))
    planned = fg.plan(table, prediction="ok", sensitive="race", reference={"race": "White"})
    found = {each.group: each for each in planned.smallest}
    assert found["Joint"].difference is None
    assert (found["Asian"].reason["n"], found["Asian"].reason["minimum"]) == (6, 20)
    text = str(planned)
    assert "122.9" not in text
    assert "No comparison of the table would be evaluated" in text
    found = " ".join(map(str, planned.brief().found))
    assert "14 more rows are needed" in found
    assert "(1 row, compared with 31)" in found
    assert type(planned).from_dict(planned.to_dict()) == planned


def test_a_group_above_the_minimum_is_planned_beside_one_that_is_not_evaluated():
    table = of_sizes(White=(300, 150), Asian=(200, 100), Joint=(3, 1))
    planned = fg.plan(table, prediction="ok", sensitive="race", reference={"race": "White"})
    headline = str(planned.brief().headline)
    assert headline.startswith("In 1 of 2 comparisons a difference of ")


def of_users(users, visits, seed=0, less=0.0):
    """Return visits of users, each of whom has a rate; that of women is so much less on average."""
    rng = np.random.default_rng(seed)
    sex = np.repeat(np.where(np.arange(users) % 2, "F", "M"), visits)
    rate = np.repeat(rng.beta(4, 4, users), visits) * np.where(sex == "F", 1 - less / 0.5, 1)
    user = np.repeat(np.arange(users), visits)
    return pl.DataFrame({"user": user, "sex": sex, "ok": rng.random(users * visits) < rate})


OF_USERS = {"prediction": "ok", "positive": True, "sensitive": "sex", "reference": {"sex": "M"}}


def test_clusters_raise_the_smallest_difference_by_their_design_effect():
    """A plan stated that the table held no comparison."""
    table, options = of_users(400, 10), OF_USERS | {"metrics": "selection_rate.difference"}
    (rows,) = fg.plan(table, **options).smallest
    (clustered,) = fg.plan(table, cluster="user", **options).smallest
    design = 1 + 9 / (4 + 4 + 1)  # of 10 rows each, the intra-cluster correlation of the beta
    assert clustered.difference / rows.difference == pytest.approx(math.sqrt(design), rel=0.1)
    found = 0
    for seed in range(60):
        drawn = of_users(400, 10, seed, clustered.difference)
        each = fg.audit(drawn, cluster="user", **options)["selection_rate.difference", "sex", "F"]
        found += each.high < 0
    assert found / 60 == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 60))


@pytest.mark.parametrize(("users", "effective"), [(3, "1 effective cluster"), (8, "4 effective")])
def test_too_few_clusters_are_planned_to_be_not_evaluated(users, effective):
    text = " ".join(str(fg.plan(of_users(users, 30), cluster="user", **OF_USERS)).split())
    assert "No comparison of the table would be evaluated" in text
    assert f"not evaluated, because {effective}" in text
    assert "collect rows of more clusters" in text


def test_a_difference_larger_than_rates_can_differ_is_never_found():
    table = of_sizes(White=(20, 10), Asian=(20, 10))
    options = {"prediction": "ok", "sensitive": "race", "reference": {"race": "White"}}
    [planned] = fg.plan(table, **options, confidence=0.999, power=0.99).smallest
    assert (planned.difference, planned.ratio, planned.reason) == (None, None, None)
    text = str(fg.plan(table, **options, confidence=0.999, power=0.99))
    assert "In no comparison of the table would a difference probably be found" in text
