"""A choice of thresholds: what it changes, at what cost, how certain, and against whom."""

import re
import shlex
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.every_result import LOAN_WORDS

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render._document_tree import Table, Tone
from fairgauge.render.document import document as document_of

WORDS: dict[str, Any] = LOAN_WORDS | {"groups": {"sex": {"F": "women", "M": "men"}}}


def rows(lowered: float = 0.12, size: int = 4_000, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], size)
    repaid = rng.random(size) < 0.6
    score = rng.random(size) * 0.6 + repaid * 0.4 - np.where(sex == "F", lowered, 0)
    return pl.DataFrame({"sex": sex, "repaid": repaid * 1, "score": score.clip(0, 1).round(2)})


def chosen(data: pl.DataFrame, goal: str = "selection_rate.ratio >= 0.8",
           **more: Any) -> fg.ThresholdChoice:  # fmt: skip
    asked = {"label": "repaid", "score": "score", "threshold": 0.5, "positive": 1,
             "sensitive": "sex", "margins": {"accuracy": 0.02}, "words": WORDS}  # fmt: skip
    return fg.thresholds(data, rules=goal, **{**asked, **more})


def test_a_threshold_is_stated_with_what_it_changes_and_its_price() -> None:
    made = chosen(rows(size=16_000))
    effect = made["sex"].common
    cut = effect.threshold
    brief = made.brief()
    assert str(brief.headline) == (
        f"The threshold {cut:g} for all meets the goal, and accuracy is kept, but applicants "
        "who did not repay are approved more often"
    )
    assert str(brief.found[0]) == (
        "At today's threshold, 0.5, women are approved less often than men: they are worse off."
    )
    stated = re.match(
        r"The decision matches the outcome for (\d+) of 1,000 applicants at 0.5 and (\d+) at ",
        str(brief.found[2]),
    )
    kept = (effect.performance.old, effect.performance.new)
    assert [1000 * (each or 0.0) for each in kept] == pytest.approx(
        list(map(int, stated.groups())), abs=0.51
    )
    assert "Today’s threshold is judged first" in str(brief.looked_at[1])
    assert "at most 2.5 name one" in " ".join(str(brief).split())
    assert f"--threshold {cut:g}" in str(brief.steps[0])


def test_the_price_is_stated_beside_the_goal_and_is_not_green() -> None:
    data = rows(size=16_000)
    made = chosen(data)
    effect = made["sex"].common
    cut = effect.threshold
    found, verdict = "\n".join(map(str, made.brief().found)), str(made.brief().verdict[1])
    refused = data.filter(pl.col("repaid") == 0)
    for many, whom, of, where in (
        (100, "applicants", data, found),
        (1000, "applicants who repaid", data.filter(pl.col("repaid") == 1), found),
        (100, "applicants who did not repay", refused, verdict),
    ):
        lead = f"Of {many:,} {whom}, "
        stated = re.search(rf"{lead}(\d+) were approved at 0.5 and (\d+) at {cut:g}\.", where)
        assert stated is not None, lead
        shares = [many * (of["score"] >= at).mean() for at in (0.5, cut)]
        assert list(map(int, stated.groups())) == pytest.approx(shares, abs=3)
    document = document_of(made)
    assert (document.verdict, document.tone) == (f"PASS AT {cut:g}", Tone.UNSURE)
    assert verdict.startswith("Wrong decisions of one kind grow")


def test_where_no_threshold_is_enough_the_headline_states_that() -> None:
    made = chosen(rows(0.5), margins={"accuracy": 0.0})
    brief = made.brief()
    none = "No threshold considered is shown to meet the goal and keep accuracy"
    if made["sex"].outcome == "fail":
        none = "No threshold considered meets the goal and keeps accuracy"
    assert str(brief.headline) == none
    assert str(brief.verdict[0]).startswith("No threshold is proposed: ")
    enough = "no threshold considered is enough" in str(brief.steps[0])
    assert enough is (made["sex"].outcome == "fail")


def test_advice_names_the_feature_for_which_no_threshold_is_enough() -> None:
    data = rows(0.5).with_columns(age=pl.Series(["old", "young"] * 2_000))
    made = chosen(data, margins={"accuracy": 0.0}, sensitive=["sex", "age"])
    # one threshold decides for both, and there is one answer, though today's is enough for age
    assert (made["sex"].outcome, made["age"].outcome) == ("fail", "fail")
    assert made["age"].frontier[12].outcome == "pass"
    assert "\nFAIL: NO COMMON THRESHOLD IS PROPOSED\n" in str(made)
    assert str(made.brief().steps[0]).endswith("no threshold considered is enough for sex.")


def test_a_feature_of_one_group_is_not_judged_and_the_others_are() -> None:
    data = rows(0.0).with_columns(age=pl.Series(["old"] * 4_000))
    made = chosen(data, "selection_rate.ratio >= 0.7", sensitive=["sex", "age"])
    assert (made["sex"].outcome, made["age"].outcome) == ("pass", "not_evaluated")
    assert made.exit_code == 3
    brief = made.brief()
    assert str(brief.headline) == "Today's threshold, 0.5, meets the goal for sex"
    assert "age is not judged: age has one group" in " ".join(map(str, brief.verdict))


def test_one_threshold_is_chosen_for_the_groups_of_every_feature() -> None:
    """Closest to today's of those that are enough for all; each feature alone has a closer one."""
    rng = np.random.default_rng(2)
    score = rng.random(6_000)
    sex = np.where(rng.random(6_000) < 0.5 - 0.4 * (score > 0.5), "F", "M")
    data = pl.DataFrame({
        "sex": sex, "age": rng.choice(["old", "young"], 6_000), "score": score,
        "repaid": (rng.random(6_000) < 0.5).astype(int),
    })  # fmt: skip
    for margin in (0.0, 0.2):
        made = chosen(data, sensitive=["sex", "age"], margins={"accuracy": margin})
        cuts = {each.common and each.common.threshold for each in made.features}
        assert len(cuts) == 1
        (cut,) = cuts
        if cut is not None:
            at = [next(e for e in f.frontier if e.threshold == cut) for f in made.features]
            assert {e.outcome for e in at} == {"pass"}


def test_the_headline_names_every_feature_that_comes_to_the_same() -> None:
    data = rows(0.0).with_columns(age=pl.Series(["old", "young"] * 2_000))
    brief = chosen(data, "selection_rate.ratio >= 0.7", sensitive=["sex", "age"]).brief()
    assert str(brief.headline) == "Today's threshold, 0.5, meets the goal for sex and age"


@pytest.mark.parametrize("size", [60, 300, 1_000])
def test_nothing_is_claimed_beyond_the_outcomes(size: int) -> None:
    made = chosen(rows(0.1, size))
    effect, headline = made["sex"].common, str(made.brief().headline)
    goal = None if effect is None else effect.goal_outcome
    open_ = headline.startswith("Whether") and "meets the goal" in headline
    assert ("meets the goal" in headline and not open_ and effect is not None) is (goal == "pass")
    assert ("No threshold considered" in headline) is (effect is None)
    assert open_ is (goal == "inconclusive")


@pytest.mark.parametrize("reference", ["best", "largest", "others", "overall"])
def test_every_comparison_names_its_reference(reference: str) -> None:
    """Of three groups, the best of which is another one with thresholds by group."""
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], 3_000, p=[0.5, 0.3, 0.2])
    label = (rng.random(3_000) < 0.4 + 0.1 * (group == "b")).astype(int)
    shift = 0.1 * (group == "c") - 0.1 * (group == "a")
    score = np.clip(0.3 * label + 0.5 * rng.random(3_000) + shift, 0, 1).round(3)
    choice = fg.thresholds(
        pl.DataFrame({"g": group, "y": label, "s": score}), label="y", score="s", threshold=0.5,
        sensitive="g", rules="DI >= 0.7", reference=reference, margins={"accuracy": 0.3},
    )  # fmt: skip
    text = " ".join(str(choice).split())
    (of,) = choice.features
    compared = [(one.group, one.reference.group or reference) for one in of.common.disparities]
    items = re.findall(r"- Disparate impact \(Clarify DI\), (\w+) vs (\w+):", text)
    assert items == compared
    (frontier,) = (each for each in document_of(choice).sections if each.id == "frontier-0")
    (table,) = (block for block in frontier.blocks if isinstance(block, Table))
    decided = {
        f"{point.threshold:g}": f"{point.group} vs {point.reference.group or reference}"
        for point in of.frontier
    }
    for name, *_, group, _ in table.rows:
        assert group.text == decided[name.text.split()[0]]


@pytest.mark.parametrize("more", [{"reference": "best"}, {"reference": {"sex": "M"}}, {}])
def test_the_command_that_is_advised_asks_the_same_and_agrees(more, tmp_path) -> None:
    """It kept the reference alone: no label, no positive value and no column of groups."""
    data = rows(size=16_000)
    data.write_csv(tmp_path / "rows.csv")
    made = chosen(data, **more)
    step = re.search(r"\((fairgauge audit DATA .*)\)\.", str(made.brief().steps[0]))
    assert made["sex"].outcome == "pass"
    words = [tmp_path / "rows.csv" if w == "DATA" else w for w in shlex.split(step[1])[1:]]
    found = CliRunner().invoke(main, [*map(str, words), "--quiet", "-o", str(tmp_path / "a.json")])
    assert found.exit_code == 0, found.output
    report = fg.load(tmp_path / "a.json")
    effect = made["sex"].common
    values = {each.group: each.new for each in effect.disparities}
    assert report.verdicts
    for each in report.verdicts:  # of two groups one may stand for both
        assert each.value == pytest.approx(values[each.group])
