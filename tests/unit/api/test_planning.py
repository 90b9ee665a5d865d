"""Planning: the printed table of rows, what a table shows, and the command."""

import json

import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli._command_group import Commands
from fairgauge.render.formats import render


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
    assert found.group == pytest.approx(to_pass, rel=0.04)
    assert found.reference == pytest.approx(found.group, abs=1)
    found = needed(f"to find a difference of {tolerance:g}", rate=rate, tolerance=tolerance)
    assert found.group == pytest.approx(to_detect, rel=0.04)


def test_an_unequal_split_a_denominator_and_clusters_cost_rows():
    goal = "to pass equal rates as at least 0.8 times"
    even = needed(goal, rate=0.3)
    uneven = needed(goal, rate=0.3, share=0.1)
    assert uneven.total > even.total
    assert uneven.reference == pytest.approx(9 * uneven.group, rel=0.01)
    assert needed(goal, rate=0.3, among=0.5).group == pytest.approx(2 * even.group, rel=0.02)
    clustered = needed(goal, rate=0.3, cluster_size=21, icc=0.1)
    assert clustered.group == pytest.approx(3 * even.group, abs=2)


def run(*arguments):
    return CliRunner().invoke(Commands("fairgauge"), ["plan", *arguments])


def test_the_command_plans():
    result = run("--rate", "0.3", "--tolerance", "0.05")
    assert result.exit_code == 0
    assert result.output == render(fg.plan(rate=0.3, tolerance=0.05), "text")


def test_a_specification_gives_the_limits_of_its_strictest_rules(tmp_path):
    rules = ["selection_rate.ratio >= 0.9", "selection_rate.ratio <= 1.25", "-0.07 <= RD <= 0.2"]
    (tmp_path / "a.toml").write_text(f"label = 'y'\nconfidence = 0.9\nrules = {rules}\n")
    found = run("--rate", "0.3", "-c", str(tmp_path / "a.toml"), "--format", "json").output
    wanted = fg.plan(rate=0.3, tolerance=0.07, ratio=0.9, confidence=0.9)
    assert fg.plan(rate=0.3, config={"rules": rules, "confidence": 0.9}).needed == wanted.needed
    assert [each["goal"] for each in json.loads(found)["needed"]] == [e.goal for e in wanted.needed]
    with pytest.raises(fg.SpecError, match="no metric"):
        fg.plan(rate=0.3, config={"rules": ["nonsense >= 0.9"]})
