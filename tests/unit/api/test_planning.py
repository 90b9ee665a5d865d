"""Planning: the printed table of rows, what a table shows, and the command."""

from __future__ import annotations

import math

import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.choosing.recommendation import Expected, recommend
from fairgauge.cli._command_group import Commands
from fairgauge.render.formats import render

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
