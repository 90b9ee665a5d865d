"""The brief of a choice of thresholds: what it changes, at which price, and how certain."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render import render

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
    cut = effect.thresholds["F"]
    brief = made.brief()
    assert str(brief.headline) == (
        f"At the threshold {cut:g} for all the goal is met, and accuracy is kept"
    )
    one = next(each for each in effect.disparities if each.group == "F")
    assert str(brief.found[0]) == (
        f"Women were approved {one.old:.2f} times as often as men at 0.5, and {one.new:.2f} times "
        f"at {cut:g}."
    )
    stated = re.match(
        r"For 100 applicants the decision fits the outcome (\d+) times at 0.5 and (\d+) at ",
        str(brief.found[1]),
    )
    assert stated is not None
    kept = (effect.performance.old, effect.performance.new)
    assert [100 * (each or 0.0) for each in kept] == pytest.approx(
        list(map(int, stated.groups())), abs=0.51
    )
    assert "one random half chose the threshold" in str(brief.looked_at[1])
    assert f"--threshold {cut:g}" in str(brief.steps[0])


def test_where_no_threshold_is_enough_the_headline_states_that() -> None:
    brief = chosen(rows(0.5), margins={"accuracy": 0.0}).brief()
    assert str(brief.headline) == "No threshold for all meets the goal and keeps accuracy"
    assert str(brief.found[0]).startswith("At 0.5 the selection rate ratio of women is ")
    assert "no threshold is enough" in str(brief.steps[0])


def test_todays_threshold_changes_nothing() -> None:
    brief = chosen(rows(0.0)).brief()
    assert str(brief.headline) == "At today's threshold, 0.5, the goal is met"


@pytest.mark.parametrize("size", [60, 300, 1_000])
def test_nothing_is_claimed_beyond_the_outcomes(size: int) -> None:
    made = chosen(rows(0.1, size))
    effect, headline = made["sex"].common, str(made.brief().headline)
    goal = None if effect is None else effect.goal_outcome
    assert ("the goal is met" in headline and "goal is met is inconclusive" not in headline) is (
        goal == "pass"
    )
    assert ("No threshold" in headline) is (effect is None)
    assert ("whether the goal is met is inconclusive" in headline.lower()) is (
        goal == "inconclusive"
    )


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_formats_begin_with_the_brief(format_: str) -> None:
    made = chosen(rows())
    page = re.sub(r"<[^>]+>", "", re.sub(r"\s+", " ", render(made, format_)))
    places = [page.index(str(each)[:60]) for each in (made.brief().headline, made.brief().found[0])]
    assert places == sorted(places)
    assert made.to_dict()["brief"]["headline"]["text"] == str(made.brief().headline)
    assert fg.ThresholdChoice.from_dict(made.to_dict()).brief() == made.brief()
