"""The brief of a comparison of models: who gets which decision, under which model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION
from tests.model_rows import rows as model_rows

import fairgauge as fg
from fairgauge.enums import Direction
from fairgauge.render import render
from fairgauge.render.document import document as models_document
from fairgauge.statements.models import models_page

WORDS: dict[str, Any] = {
    "noun": "applicants", "unit": "applications", "positive": "approved", "negative": "refused",
    "label_positive": "repaid", "label_negative": "did not repay",
    "groups": {"sex": {"F": "women", "M": "men"}},
}  # fmt: skip
MARGINS = {"accuracy": 0.02, "disparity": 0.05}


def rows(seed: int = 3, size: int = 4_000, now: float = 0.12, then: float = 0.04) -> pl.DataFrame:
    """Return decisions of two models, with what women's scores are lowered by under each."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], size)
    repaid = rng.random(size) < 0.6
    score = rng.random(size) * 0.6 + repaid * 0.4
    current, boosted = (score - np.where(sex == "F", by, 0) > 0.55 for by in (now, then))
    return pl.DataFrame(
        {"sex": sex, "repaid": repaid * 1, "current": current * 1, "boosted": boosted * 1}
    )


def compared(data: pl.DataFrame | None = None, **more: Any) -> fg.ModelComparison:
    asked = {"label": "repaid", "prediction": "current", "positive": 1, "sensitive": "sex"}
    asked |= {"candidate": "boosted", "words": WORDS, "margins": MARGINS}
    return fg.compare_models(rows() if data is None else data, **{**asked, **more})


def test_a_candidate_that_dominates_is_stated_as_counts_under_both_models() -> None:
    brief = compared().brief()
    assert str(brief.headline) == (
        "Women and men are closer together in how often they are approved under “boosted” than "
        "under “current”"
    )
    assert str(brief.verdict[0]).startswith(
        "boosted is better than current, and within all margins that were "
        "set: all 3 differences between groups became smaller; "
    )
    assert "“no change”" not in str(brief)
    assert str(brief.looked_at[0]).startswith(
        "The candidate “boosted” and the model in use, “current”, decide the same 4,000 "
    )
    text = str(brief)
    assert re.search(
        r"Of 100 women, \d+ were approved under “current” and \d+ under “boosted”; of 100 men, ",
        text,
    )
    assert re.search(r"Women and men: \d+ to \d+ of 100 closer together \(95% CI\)\.", text)
    assert re.search(r"The decision changes for \d+ of 4,000 applications: of ", text)
    assert "fairgauge monitor" in str(brief.steps[-1])


def test_who_loses_approval_stands_beside_a_better_model() -> None:
    """Within every margin some who repaid are refused by the candidate alone."""
    data = rows()
    flipped = np.random.default_rng(0).random(len(data)) < 0.02
    data = data.with_columns(boosted=np.where(flipped, 0, data["boosted"].to_numpy()))
    comparison = compared(data)
    verdict = " ".join(map(str, comparison.brief().verdict))
    assert "within all margins that were set" in verdict
    repaid = data.filter(pl.col("repaid") == 1)
    for sex, who in (("F", "women"), ("M", "men")):
        group = repaid.filter(pl.col("sex") == sex)
        lost = group.filter((pl.col("current") == 1) & (pl.col("boosted") == 0))
        assert len(lost) > 0
        gained = group.filter((pl.col("current") == 0) & (pl.col("boosted") == 1))
        stated = re.search(
            rf"[Oo]f {len(group):,} {who} who repaid, (\d+)\D*? and (\d+)(?: under|\.)", verdict
        )
        assert stated is not None
        assert [int(each) for each in stated.groups()] == [len(lost), len(gained)]
    assert "were approved under “current” alone and" in verdict


@pytest.mark.parametrize("then", [0.0, 0.04])
def test_what_remains_under_a_better_model_stands_beside_its_margins(then: float) -> None:
    """Within a margin of 5 of 100 women remained 6 of 100 behind, which the page did not state."""
    made = compared(rows(now=0.16, then=then), metrics=["selection_rate.difference"])
    (one,) = made.candidates[0].disparities
    assert one.new_interval is not None
    verdict = " ".join(map(str, made.brief().verdict))
    remains = 0 not in one.new_interval
    assert remains == (then > 0)
    if not remains:
        assert (
            "No difference between groups is statistically significant under “boosted”" in verdict
        )
        return
    assert (
        "Under “boosted” the one difference between groups is statistically significant: "
        in verdict
    )
    (remaining,) = (s for s in models_page(made).statements if s.code == "remaining")
    (first,) = remaining.parts
    assert abs(first.who.rate - first.than.rate) == pytest.approx(abs(one.new))
    assert sorted((abs(first.interval.low), abs(first.interval.high))) == pytest.approx(
        sorted(map(abs, one.new_interval))
    )


@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")])
def test_the_largest_change_is_the_headline_whatever_groups_are_called(names: Any) -> None:
    rng = np.random.default_rng(5)
    place = rng.integers(0, 3, 9_000)
    current, boosted = (
        (rng.random(9_000) < np.array(rates)[place]) * 1
        for rates in ([0.62, 0.55, 0.30], [0.58, 0.55, 0.48])
    )
    data = pl.DataFrame({"g": np.array(names)[place], "current": current, "boosted": boosted})
    found = fg.compare_models(
        data, prediction="current", positive=1, sensitive="g", candidate="boosted"
    )
    assert f"between people with g {names[2]} and " in str(found.brief().headline)


def test_without_a_margin_the_next_step_is_to_state_one() -> None:
    brief = compared(margins=None).brief()
    assert "such as 1 and 5 of 100: --margin accuracy=0.01" in str(brief.steps[0])


def test_every_disparity_is_named_and_a_change_has_one_interval() -> None:
    """Those of which nothing is stated in numbers are named with what became of them."""
    made = compared()
    found = "\n".join(map(str, made.brief().found))
    assert "3 differences between groups became statistically significantly smaller" in found
    assert len(made["boosted"].disparities) == 3
    page = " ".join(render(made, "text", full=True).split())
    for sentence in re.findall(r"difference, F vs others.*?adjusted p", page):
        assert sentence.count(" CI ") == 1


def test_of_several_candidates_the_headline_names_those_that_dominate() -> None:
    worse = rows(now=0.12, then=0.25)["boosted"].alias("other")
    brief = compared(rows().with_columns(worse), candidate=["other", "boosted"]).brief()
    assert str(brief.headline) == (
        "boosted is better than current, and within all margins that were set"
    )
    assert [str(each).split()[0] for each in brief.verdict].count("other") == 1
    assert [str(each).split()[0] for each in brief.verdict].count("boosted") == 1
    assert "other: in the report." in str(brief.found[-1])
    none = compared(rows().with_columns(worse), candidate=["other", "current2"][:1]).brief()
    assert "better" not in str(none.headline)


def test_a_verdict_names_the_rates_that_its_margin_is_about() -> None:
    (stated,) = (s for s in models_page(compared()).statements if s.code == "not_judged")
    assert [each[:2] for each in stated.facts["margins"]] == [("accuracy", 0.02)]
    assert stated.facts["apart"] == [0.05]
    held = {test.change.definition.title for test in compared()["boosted"].groups}
    assert held.isdisjoint({part.of.name for part in stated.parts})
    assert "false positive rate" in {part.of.name for part in stated.parts}


def test_every_stated_difference_has_an_interval_and_one_direction() -> None:
    """Of the false positive rate the first page had none, and page 2 turned the signs of others."""
    made = compared()
    (best,) = made.candidates
    brief = made.brief()
    for people in ("", " who repaid"):
        stated = [
            str(e)
            for e in (*brief.found, *brief.certainty)
            if re.match(rf"(Wom|M)en and (wo)?men{people}: ", str(e))
        ]
        assert len(stated) == 1
        assert re.search(r"\d+ to \d+ of 100 closer together \(95% CI\)", stated[0])
    (explained,) = (str(e) for e in brief.certainty if "CI (confidence interval)" in str(e))
    assert "those of 3 changes are tested together." in explained
    (chart,) = models_document(made).exhibits
    shown = {
        (round(row.before.value, 9), round(row.mark.value, 9)) for row in chart.rows if row.before
    }
    assert shown == {(round(one.old, 9), round(one.new, 9)) for one in best.disparities}
    first = "Women" if best.disparities[0].group == "F" else "Men"
    assert all(row.label.startswith(f"{first} and ") for row in chart.rows)
    assert "Each is the share of the first group less that of the second" in chart.notes[0]


def test_no_significant_change_has_its_interval() -> None:
    rng = np.random.default_rng(8)
    flipped = rng.random(4_000) < 0.1
    data = rows(now=0.1, then=0.1).with_columns(
        boosted=pl.when(pl.Series(flipped)).then(1 - pl.col("current")).otherwise("current")
    )
    found = [
        str(each) for each in compared(data).brief().found if "no change is shown" in str(each)
    ]
    assert found
    assert all(
        re.search(
            r"shown \([\d.]+ of 100 closer together to [\d.]+ of 100 further apart, 95% CI\)",
            each,
        )
        for each in found
    )


SENTENCE = re.compile(
    r"Of ([\d,]+) (women|men)( who repaid)?, ([\d,]+) were approved under “current” and ([\d,]+) "
    r"under “boosted”; of [\d,]+ (women|men)(?: who repaid)?, ([\d,]+) and ([\d,]+)\."
)


@pytest.mark.parametrize("favourable", ["positive", "negative"])
def test_who_is_worse_off_is_who_the_numbers_show(favourable: str) -> None:
    checked = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        now, then = rng.uniform(-0.3, 0.3, 2)
        made = compared(rows(seed, 2_000, now, then), words=WORDS, favourable=favourable)
        rates = {(r.rate, r.group): r for r in made["boosted"].rates if r.feature is not None}
        for sentence in made.brief().found:
            if (match := SENTENCE.fullmatch(str(sentence))) is None:
                continue
            rate = "true_positive_rate" if match[3] else "selection_rate"
            mine, theirs = (rates[rate, {"women": "F", "men": "M"}[match[i]]] for i in (2, 6))
            before, after, before_other, after_other = (
                int(match[i].replace(",", "")) for i in (4, 5, 7, 8)
            )
            assert mine.new is not None
            assert theirs.new is not None
            if favourable == "positive" or not match[3]:
                assert (mine.new < theirs.new) is (favourable == "positive")
                assert (after < after_other) is (favourable == "positive")
            place = int(re.findall(r"\d+", sentence.sources[0])[1])
            change = made["boosted"].disparities[place]
            gaps = abs(before - before_other), abs(after - after_other)
            if change.significant:
                assert (gaps[1] > gaps[0]) is (change.direction is Direction.FURTHER)
            checked += 1
    assert checked >= 8


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_formats_begin_with_the_brief(format_: str) -> None:
    made = compared()
    page = re.sub(r"<[^>]+>", "", re.sub(r"\s+", " ", render(made, format_)))
    places = [page.index(str(each)[:60]) for each in (made.brief().headline, made.brief().found[0])]
    assert places == sorted(places)
    assert made.to_dict()["brief"]["headline"]["text"] == str(made.brief().headline)


RACES = ("Asian", "Black", "Hispanic", "Native", "Other", "White")


def of_races(seed: int, most: str = "White") -> pl.DataFrame:
    """Return decisions of two models about six groups; of one of them most decisions change."""
    rng = np.random.default_rng(seed)
    race = rng.choice(RACES, 4_000, p=[0.12, 0.3, 0.1, 0.003, 0.077, 0.4])
    repaid = rng.integers(0, 2, 4_000)
    score = 0.7 * rng.random(4_000) + 0.3 * repaid
    noise = rng.normal(0, np.where(race == most, 0.5, 0.02))
    current = score - 0.15 * (race == "Black") > 0.5
    return pl.DataFrame(
        {"race": race, "repaid": repaid, "current": current * 1,
         "boosted": (score + noise > 0.5) * 1}
    )  # fmt: skip


def compared_races(seed: int, most: str = "White", **more: Any) -> fg.ModelComparison:
    asked = {"sensitive": "race", "words": {}, "margins": {"accuracy": 0.3}}
    return compared(of_races(seed, most), **{**asked, **more})


@pytest.mark.parametrize("seed", range(4))
def test_a_verdict_names_its_margins_and_counts_what_is_not_within_them(seed: int) -> None:
    margins = {"accuracy": 0.3, "true_positive_rate": 0.3, "disparity": 0.04}
    made = compared_races(seed, margins=margins)
    brief, (best,) = made.brief(), made.candidates
    verdict = str(brief.verdict[0]).replace("\N{NO-BREAK SPACE}", " ")
    assert "accuracy is " in verdict
    assert "not worse by more than 30 of 100" in verdict
    closer, further = (
        sum(one.significant and one.direction is way for one in best.disparities)
        for way in (Direction.CLOSER, Direction.FURTHER)
    )
    if closer:
        assert f"{closer} of 18 differences between groups became smaller" in verdict
        assert (f"{further} larger" if further else "none is shown to be larger") in verdict
    stated = list(map(str, brief.verdict))
    undecided = sum(one.outcome == "cannot tell" for one in best.disparities)
    assert undecided
    (sentence,) = (each for each in stated if each.startswith("Possibly worse by more"))
    assert sentence.startswith(
        "Possibly worse by more than the margin (4 of 100): "
        f"{undecided} of 18 differences between groups"
    )
    worse = sum(one.outcome == "inferior" for one in (*best.disparities, *best.groups))
    assert any(
        each.startswith("Worse by more than the margin (4 of 100): ") for each in stated
    ) is (bool(worse))


def test_disparities_without_a_margin_are_stated_not_to_be_tested() -> None:
    brief = compared(margins={"accuracy": 0.02}).brief()
    assert not any("Possibly worse" in str(each) for each in brief.verdict)  # all became smaller


def test_nothing_is_headed_a_verdict_that_has_none() -> None:
    page = render(compared(margins=None), "text")
    assert "Verdict" not in page
    assert "\nChanges\n" in page


@pytest.mark.parametrize(
    ("more", "stated"),
    [
        ({"positive": 0}, "the favourable outcome, repaid = 0"),
        ({"positive": 1, "words": WORDS, "favourable": "negative"},
         "the unfavourable outcome, repaid = 1"),
        ({"positive": None}, "the favourable outcome, repaid = 1 or true (assumed, not stated)"),
    ],
)  # fmt: skip
def test_what_positive_stands_for_is_stated_once(more: dict[str, Any], stated: str) -> None:
    made = compared(**({"words": {}} | more))
    sentence = f"A positive decision (“selected”, “accepted”) predicts {stated}."
    assert list(map(str, made.brief().looked_at)).count(sentence) == 1


@pytest.mark.parametrize(
    ("group", "why", "more"),
    [("X", "group of sex that is excluded", {"exclude_groups": ["X"]}), (None, "missing sex", {})],
)
def test_rows_in_no_group_are_stated_to_be_in_the_overall_numbers(
    group: str | None, why: str, more: dict[str, Any]
) -> None:
    first = pl.int_range(pl.len())
    data = rows(size=1_000).with_columns(
        sex=pl.when(first < 40).then(pl.lit(group)).otherwise("sex"),
        repaid=pl.when(first >= 990).then(None).otherwise("repaid"),
    )
    made = compared(data, words={}, **more)
    assert made.candidates[0].rows == 1_000
    looked = str(made.brief().looked_at[0])
    assert "Not in every number: " in looked
    assert "10 rows (missing label)" in looked
    assert f"40 rows ({why})" in looked


@pytest.mark.parametrize(("decision", "which"), [(1, "positive"), (0, "negative")])
@pytest.mark.parametrize("of", ["current", "boosted"])
def test_a_model_that_decides_alike_about_all_rows_is_warned_of(
    of: str, decision: int, which: str
) -> None:
    made = compared(rows().with_columns(pl.lit(decision).alias(of)), margins=None)
    text = " ".join(str(made).split())
    assert f"Warning: every prediction by '{of}' is {which}: groups cannot differ in it" in text
    assert "every prediction" not in str(compared())


@pytest.mark.parametrize(
    ("margin", "stated"),
    [
        (0.3, "1 larger, 1 of them by less than the margin"),
        (0.01, "1 larger; "),
    ],
)
def test_what_became_larger_within_its_margin_is_stated_to_be(margin: float, stated: str) -> None:
    data = model_rows(12_000)
    kept_out = (pl.col("sex") == "F") & (pl.col("repaid") == 0) & (pl.int_range(pl.len()) % 10 != 0)
    as_now = (pl.col("sex") == "F") & (pl.col("repaid") == 1) & (pl.int_range(pl.len()) % 10 < 8)
    better = pl.when(kept_out).then(0).when(as_now).then(pl.col("current"))
    better = better.otherwise(pl.col("fairer")).alias("better")
    found = fg.compare_models(
        data.with_columns(better),
        candidate="better",
        margins={"accuracy": 0.02, "disparity": margin},
        metrics=["selection_rate.difference", "true_positive_rate.difference"],
        **QUESTION,
    )
    text = " ".join(str(found).split())
    assert f"1 of 2 differences between groups became smaller, {stated}" in text
    within = margin == 0.3
    assert ("BETTER, WITHIN ALL MARGINS" in text) is within
    first = str(found.brief().headline)
    assert ("closer together" in first) is within, first  # though what worsens is graver


@pytest.mark.parametrize("margins", [{}, MARGINS])
def test_a_candidate_that_decides_alike_is_stated_and_needs_no_rows(margins) -> None:
    """It was inconclusive, and more rows were to be collected."""
    data = rows()
    brief = compared(data.with_columns(boosted="current"), margins=margins).brief()
    assert str(brief.headline) == "boosted decides all 4,000 applications as current does"
    assert "so that nothing in them distinguishes the two" in str(brief.verdict[0])
    (step,) = map(str, brief.steps)
    assert "check whether boosted holds the decisions of another model" in step
    one = data.with_row_index().with_columns(
        boosted=pl.when(pl.col("index") == 0).then(1 - pl.col("current")).otherwise("current")
    )
    assert "decides all" not in str(compared(one, margins=margins).brief())


def of_classes(**asked: Any) -> fg.ModelComparison:
    """Return a comparison of models of three classes, of which men are classed worse by the new."""
    rng = np.random.default_rng(3)
    man, y = rng.random(6_000) < 0.5, rng.choice(["hog", "mellan", "lag"], 6_000)
    other = np.where(y == "hog", "mellan", np.where(y == "mellan", "lag", "hog"))
    old = np.where(rng.random(6_000) < np.where(man, 0.9, 0.75), y, other)
    new = np.where(man & (y == "lag") & (rng.random(6_000) < 0.25), "hog", old)
    new = np.where(~man & (rng.random(6_000) < 0.3), y, new)
    rows = pl.DataFrame({"sex": np.where(man, "Man", "Kvinna"), "y": y, "old": old, "new": new})
    return fg.compare_models(
        rows, label="y", prediction="old", candidate="new", sensitive="sex",
        margins={"accuracy": 0.05, "disparity": 0.2}, **asked,
    )  # fmt: skip


def test_a_change_of_how_often_a_class_is_decided_names_the_class() -> None:
    """Of two classes it was the same sentence: "3 to 5 of 100 further apart"."""
    made = of_classes(metrics="false_positive_rate.difference")
    every = map(str, (*made.brief().found, *made.brief().certainty))
    spans = [each for each in every if re.search(" of 100 (further apart|closer together)", each)]
    assert spans
    assert all(re.search("decision = (hog|lag|mellan)", each) for each in spans), spans


def test_what_has_no_value_of_a_class_names_the_class() -> None:
    """No label is "none": it was stated of the metric that an old report has no value."""
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b", "c"], 900)
    new = np.where(rng.random(900) < 0.2, "none", y)
    rows = pl.DataFrame({"sex": rng.choice(["f", "m"], 900), "y": y, "new": new,
                         "old": rng.permuted(y)})  # fmt: skip
    made = fg.compare_models(rows, label="y", prediction="old", candidate="new", sensitive="sex",
                             metrics="true_positive_rate.difference")  # fmt: skip
    text = render(made, "html")
    assert "true positive rate difference, m (sex), class none: there is no value" in text
    assert "old report" not in text
