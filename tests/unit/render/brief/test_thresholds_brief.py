"""The brief of a choice of thresholds: what it changes, at what cost, and how certain."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import render
from fairgauge.render._document_tree import Chart, Table, Tone
from fairgauge.render.document import document as document_of

WORDS: dict[str, Any] = {
    "noun": "applicants", "positive": "approved", "negative": "refused",
    "groups": {"sex": {"F": "women", "M": "men"}},
}  # fmt: skip


def rows(lowered: float = 0.12, size: int = 4_000, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], size)
    repaid = rng.random(size) < 0.6
    score = rng.random(size) * 0.6 + repaid * 0.4 - np.where(sex == "F", lowered, 0)
    return pl.DataFrame({"sex": sex, "repaid": repaid * 1, "score": score.clip(0, 1).round(2)})


def chosen(data: pl.DataFrame, goal: str = "selection_rate.ratio >= 0.8",
           **more: Any) -> fg.ThresholdChoice:  # fmt: skip
    asked = {"label": "repaid", "score": "score", "positive": 1, "sensitive": "sex",
             "margins": {"accuracy": 0.02}, "words": WORDS}  # fmt: skip
    return fg.thresholds(data, rules=goal, **{**asked, **more})


def test_a_threshold_is_stated_with_what_it_changes_and_its_price() -> None:
    made = chosen(rows(size=8_000))
    effect = made["sex"].common
    assert effect is not None
    cut = effect.threshold
    brief = made.brief()
    assert str(brief.headline) == (
        f"At the threshold {cut:g} for all the goal is met, and accuracy is kept, but applicants "
        "with repaid other than 1 are approved more often"
    )
    one = next(each for each in effect.disparities if each.group == "F")
    assert str(brief.found[0]) == (
        "At today's threshold, 0.5, women are approved less often than men: they are worse off."
    )
    assert str(brief.found[1]) == (
        f"Women were approved {one.old:.2f} times as often as men at 0.5, and {one.new:.2f} times "
        f"at {cut:g}."
    )
    stated = re.match(
        r"The decision matches the outcome for (\d+) of 100 applicants at 0.5 and (\d+) at ",
        str(brief.found[3]),
    )
    assert stated is not None
    kept = (effect.performance.old, effect.performance.new)
    assert [100 * (each or 0.0) for each in kept] == pytest.approx(
        list(map(int, stated.groups())), abs=0.51
    )
    assert ": one random half chooses thresholds" in str(brief.looked_at[1])
    assert f"--threshold {cut:g}" in str(brief.steps[0])


def test_the_price_is_stated_beside_the_goal_and_is_not_green() -> None:
    data = rows(size=8_000)
    made = chosen(data)
    effect = made["sex"].common
    assert effect is not None
    cut = effect.threshold
    found, verdict = "\n".join(map(str, made.brief().found)), str(made.brief().verdict[1])
    refused = data.filter(pl.col("repaid") == 0)
    for lead, of, where in (
        ("Of 100 applicants, ", data, found),
        ("Of 100 applicants with repaid = 1, ", data.filter(pl.col("repaid") == 1), found),
        ("Of 100 applicants with repaid other than 1, ", refused, verdict),
    ):
        stated = re.search(rf"{lead}(\d+) were approved at 0.5 and (\d+) at {cut:g}\.", where)
        assert stated is not None, lead
        shares = [100 * (of["score"] >= at).mean() for at in (0.5, cut)]
        assert list(map(int, stated.groups())) == pytest.approx(shares, abs=30)
    document = document_of(made)
    assert (document.verdict, document.tone) == (f"PASS AT {cut:g}", Tone.UNSURE)
    assert verdict.startswith("Wrong decisions of one kind grow")


def test_small_prices_leave_a_pass_as_it_is() -> None:
    rng = np.random.default_rng(5)
    sex, repaid, doubted = rng.choice(["F", "M"], 8_000), *(rng.random((2, 8_000)) < 0.4)
    score = np.where(repaid, np.where(doubted & (sex == "F"), 0.5, 0.8), 0.2)
    data = pl.DataFrame({"sex": sex, "repaid": repaid * 1, "score": score})
    made = chosen(data, threshold=0.6)
    effect, document = made["sex"].common, document_of(made)
    assert effect is not None
    assert effect.outcome == "pass"
    assert effect.threshold != 0.6
    assert document.tone is Tone.GOOD
    assert "Wrong decisions" not in " ".join(map(str, made.brief().verdict))


def test_rates_of_groups_come_to_the_disparity() -> None:
    effect = chosen(rows(size=8_000))["sex"].common
    assert effect is not None
    of = {each.group: each for each in effect.rates if each.rate == "selection_rate"}
    one = next(each for each in effect.disparities if each.group == "F")
    assert (of["F"].new or 0) / (of["M"].new or 1) == pytest.approx(one.new)
    assert (of["F"].old or 0) / (of["M"].old or 1) == pytest.approx(one.old)


@pytest.mark.parametrize("lowered", [0.0, 0.12])
def test_the_first_table_is_of_todays_threshold_and_the_chosen_one(lowered: float) -> None:
    made = chosen(rows(lowered))
    sections = {each.id: each for each in document_of(made).sections}
    table = next(each for each in sections["frontier-0"].blocks if isinstance(each, Table))
    names = [row[0].text for row in table.rows]
    assert len(names) <= 4
    assert "0.5 today" in names
    effect = made["sex"].common
    assert effect is not None
    cuts = [float(name.split()[0]) for name in names]
    assert effect.threshold in cuts
    if effect.threshold != 0.5:
        assert (min(cuts), max(cuts)) == tuple(sorted((0.5, effect.threshold)))
    (drawn,) = document_of(made).exhibits
    assert isinstance(drawn, Chart)
    assert [row.label for row in drawn.rows] == ["Women", "Men"]


def test_where_no_threshold_is_enough_the_headline_states_that() -> None:
    made = chosen(rows(0.5), margins={"accuracy": 0.0})
    brief = made.brief()
    none = "No single threshold is shown to meet the goal and keep accuracy"
    if made["sex"].outcome == "fail":
        none = "No single threshold meets the goal and keeps accuracy"
    assert str(brief.headline) == none
    assert str(brief.verdict[0]).startswith("No single threshold is proposed: ")
    enough = "no single threshold is enough" in str(brief.steps[0])
    assert enough is (made["sex"].outcome == "fail")


@pytest.mark.parametrize("favourable", ["positive", "negative"])
def test_without_a_common_threshold_the_page_has_who_is_worse_off_and_the_certainty(
    favourable: str,
) -> None:
    made = chosen(rows(0.5, size=8_000), "|tpr.difference| <= 0.02", margins={"accuracy": 0.0},
                  words=WORDS, favourable=favourable)  # fmt: skip
    of, brief = made["sex"], made.brief()
    assert of.common is None
    women, men = "women with repaid = 1", "such men"
    if favourable == "positive":
        assert str(brief.found[0]) == (
            f"At today's threshold, 0.5, {women} were approved less often than {men}: they are "
            "worse off."
        )
    else:
        assert "worse off" not in str(brief.found[0])
    assert not document_of(made).exhibits
    point = min(of.frontier, key=lambda each: abs(each.threshold - 0.5))
    ends = point.disparity_interval
    assert ends is not None
    near, far = sorted(round(100 * abs(end)) for end in (ends.low, ends.high))
    assert f"At 0.5: between {near} and {far} fewer of 100 {women} than of 100 {men} were" in (
        str(brief.certainty[0])
    )


@pytest.mark.parametrize("goal", ["|tpr.difference| <= 0.05", "selection_rate.ratio >= 0.95"])
def test_three_groups_and_weights_have_no_counts_that_nobody_knows(goal: str) -> None:
    data = rows(0.3, size=6_000).with_columns(
        sex=pl.when(pl.int_range(6_000) % 3 == 0).then(pl.lit("X")).otherwise("sex"),
        w=pl.int_range(6_000) % 2 + 1,
    )
    made = chosen(data, goal, margins={"accuracy": 0.0}, weight="w")
    point = min(made["sex"].frontier, key=lambda each: abs(each.threshold - 0.5))
    names = {"F": "women", "M": "men", "X": "applicants with sex X"}
    first = str(made.brief().found[0])
    assert first.startswith("At today's threshold, 0.5, ")
    assert names[point.group] in first
    assert re.search("(all other|other such) applicants", first)
    if made["sex"].common is None:
        assert any("(95% CI)" in str(each) for each in made.brief().certainty)


def test_todays_threshold_changes_nothing() -> None:
    brief = chosen(rows(0.0)).brief()
    assert str(brief.headline) == "At today's threshold, 0.5, the goal is met"
    assert "a random half of the rows that had no part in the decision to keep 0.5" in str(brief)
    assert str(brief.steps[0]).startswith(
        "Analyst: judge today's threshold by all rows (fairgauge audit --"
    )
    text = "\n".join(map(str, brief.found))
    assert re.search(r"Of 100 applicants, \d+ were approved at 0\.5\.", text)
    assert re.search(r"applicants with repaid other than 1, \d+ were approved at 0\.5\.", text)


@pytest.mark.parametrize("size", [60, 300, 1_000])
def test_nothing_is_claimed_beyond_the_outcomes(size: int) -> None:
    made = chosen(rows(0.1, size))
    effect, headline = made["sex"].common, str(made.brief().headline)
    goal = None if effect is None else effect.goal_outcome
    assert ("the goal is met" in headline and "goal is met is inconclusive" not in headline) is (
        goal == "pass"
    )
    assert ("No single threshold" in headline) is (effect is None)
    assert ("whether the goal is met is inconclusive" in headline.lower()) is (
        goal == "inconclusive"
    )


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_formats_begin_with_the_brief(format_: str) -> None:
    made = chosen(rows())
    page = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"\s+", " ", render(made, format_))))
    places = [page.index(str(each)[:60]) for each in (made.brief().headline, made.brief().found[0])]
    assert places == sorted(places)
    assert made.to_dict()["brief"]["headline"]["text"] == str(made.brief().headline)
    assert fg.ThresholdChoice.from_dict(made.to_dict()).brief() == made.brief()


def test_rows_without_an_outcome_are_stated_with_what_they_leave_open() -> None:
    data = rows(size=1_000)
    lacking = data.with_columns(
        pl.when(pl.int_range(1_000) % 4 > 0).then(pl.col("repaid")).alias("repaid")
    )
    whole, open_ = (str(chosen(each).brief()) for each in (data, lacking))
    stated = (
        "No rate allows for what rows without an outcome would have shown: 250 rows "
        "(missing label)."
    )
    assert stated in open_
    assert "without an outcome" not in whole


def test_the_goal_is_stated_in_the_words_of_an_audit() -> None:
    made = chosen(rows(size=1_000), "|tpr.difference| <= 0.05")
    goal = str(made.brief().looked_at[0])
    assert goal.startswith(
        "Goal: those with repaid = 1 differ by at most 5 of 100 in how often they are approved, "
        "for every group of sex, and accuracy is worse by at most 2 percentage points."
    )
    assert "_" not in goal
    assert "Goal: |true positive rate difference| <= 5 pp." in render(made, "text", full=True)
    for opening in re.findall(r"(?m)^\*\*.*$", render(made, "markdown")):
        assert not re.match(r"\*\*\s", opening), opening  # not bold


def test_a_rate_that_is_shown_to_be_worse_is_not_called_kept() -> None:
    margins = {"accuracy": 0.9}
    made = chosen(rows(size=16_000), goal="selection_rate.ratio >= 0.9", margins=margins)
    effect = made["sex"].common
    assert effect is not None
    assert effect.kept_outcome == "pass"
    assert effect.performance.interval is not None
    assert effect.performance.interval.high < 0
    headline = str(made.brief().headline)
    assert "accuracy is worse, by less than the margin of 90 percentage points" in headline
    assert "kept" not in headline


def test_a_group_with_a_name_keeps_its_capital() -> None:
    data = rows(size=8_000).with_columns(race=pl.col("sex").replace({"F": "Black", "M": "White"}))
    text = str(chosen(data, sensitive="race", words=None).brief().found[0])
    assert text.startswith("At today's threshold, 0.5, Black people ")


def test_no_step_decides_what_is_already_shown() -> None:
    """The other half shows that the goal is missed; new rows were to "decide" it."""
    made = chosen(rows(size=1_000), "selection_rate.ratio >= 0.8")
    feature = made["sex"]
    assert feature.common is not None
    missed = replace(feature, common=replace(feature.common, goal_outcome=Outcome.FAIL))
    steps = " ".join(map(str, replace(made, features=(missed,)).brief().steps))
    assert "do not rely on" in steps
    assert "decide" not in steps


def test_new_rows_do_not_decide_what_rows_without_a_group_leave_open() -> None:
    made = chosen(rows(size=8_000))
    feature = made["sex"]
    assert feature.common is not None
    reason = Reason.of(ReasonCode.MISSING_GROUPS, rows=100, alone="pass")
    effect = replace(feature.common, goal_outcome=Outcome.INCONCLUSIVE, goal_reason=reason)
    steps = replace(made, features=(replace(feature, common=effect),)).brief().steps
    text = " ".join(map(str, steps))
    assert "complete the values that are missing" in text
    assert "with new rows" not in text


@pytest.mark.parametrize(("goal", "open_goal"), [("0.8", False), ("0.7", True)])
def test_each_step_decides_what_is_inconclusive(goal: str, open_goal: bool) -> None:
    """An audit at the new threshold was named, which never looks at the change of accuracy."""
    made = chosen(rows(size=1_000), f"selection_rate.ratio >= {goal}")
    effect = made["sex"].common
    assert effect is not None
    assert effect.kept_outcome == "inconclusive"
    assert effect.goal_outcome == ("inconclusive" if open_goal else "pass")
    steps = " ".join(map(str, made.brief().steps))
    cut = f"{effect.threshold:g}"
    assert (f"fairgauge audit --threshold {cut} --rule" in steps) is open_goal
    assert (
        f"decide whether accuracy is kept with new rows: compare the decisions at 0.5 and at {cut} "
        "(fairgauge compare-models --margin accuracy=0.02)"
    ) in steps
