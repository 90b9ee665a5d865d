"""First pages of amounts, of several classes, and of groups that nobody recorded."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.every_result import calls, of_regression, result, unrecorded

import fairgauge as fg
from fairgauge.render import render

STATED = re.compile(
    r"Average rate spread: (?:(?P<by>[\d.,]+) )?(?P<way>higher|lower) for (?P<one>.+?) "
    r"\((?P<mine>[−\d.,]+)\) than for (?P<other>.+?) \((?P<theirs>[−\d.,]+)\)"
)


def test_an_amount_is_stated_with_its_column_unit_and_direction() -> None:
    brief = result("spreads").brief()
    assert str(brief.headline) == (
        "Average rate spread is higher for Black people than for White people"
    )
    assert str(brief.found[0]) == (
        "Average rate spread: 0.30 higher for Black people (2.11) than for White "
        "people (1.81), 1.16 times as high."
    )
    assert "in the unit of rate spread" in str(brief)
    assert "mean label" not in str(brief)
    assert brief.question == "Who differs, and by how much"
    assert "--favourable higher, or lower)." in str(brief.steps[0])


def amounts(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_who_the_words_call_worse_off_has_the_worse_amount(scale: float) -> None:
    """Of two groups the one that pays more, or is paid less; what is printed adds up."""
    stated = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        race = rng.choice(["a", "b"], 800)
        spread = scale * (2 + rng.gamma(2, 0.3, 800) + rng.normal() * (race == "a"))
        data = pl.DataFrame({"race": race, "rate_spread": spread})
        for favourable in ("lower", "higher", "positive"):
            words = {"groups": {"race": {"a": "first", "b": "second"}}}
            report = fg.audit(data, label="rate_spread", sensitive="race", task="regression",
                              words=words, favourable=favourable)  # fmt: skip
            brief = report.brief()
            for sentence in brief.found:
                if (found := STATED.match(str(sentence))) is None:
                    continue
                stated += 1
                mine, theirs = amounts(found["mine"]), amounts(found["theirs"])
                assert (mine > theirs) == (found["way"] == "higher")
                if found["by"]:
                    assert abs(mine - theirs) == pytest.approx(amounts(found["by"]))
                means = {g.group: g.rates["mean_label"].value or 0.0 for g in report.groups}
                first = means["a"] > means["b"]
                assert (found["one"] == "first") == (first == (mine > theirs))
                if favourable != "positive":
                    assert found["way"] == ("higher" if favourable == "lower" else "lower")
                    assert brief.question == "Who is worse off, and by how much"
    assert stated > 10


def test_an_error_states_whether_predictions_are_too_high() -> None:
    found = " ".join(map(str, result("errors").brief().found))
    assert (
        "Compared with price, estimate is on average 8.0 too low for Black people and "
        "0.4 too high for all other people."
    ) in found


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_amounts_without_a_significant_difference_are_stated(groups: int, scale: float) -> None:
    """The largest difference of each mean, with what the data do not exclude."""
    rng = np.random.default_rng(0)
    sides, label = rng.choice(list("abc"[:groups]), 600), scale * rng.gamma(3, 4, 600)
    rows = pl.DataFrame({"g": sides, "y": label, "p": label + scale * rng.normal(-1, 5, 600)})
    report = fg.audit(rows, label="y", prediction="p", sensitive="g", task="regression")
    brief = report.brief()
    assert brief.question == "Who differs, and by how much"
    error, size, *_ = map(str, brief.found)
    assert re.match(r"Compared with y, p is on average [\d.,]+ too low for people with g", error)
    assert error.endswith("is not statistically significant.")
    assert (", the largest of 3," in error) is (groups == 3)
    assert size.startswith("Average size of errors in p: ")
    compared = [
        each
        for each in report.estimates
        if each.metric == "mean_error.difference" and each.mirror_of is None
    ]
    largest = max(compared, key=lambda each: abs(each.value or 0))
    ends = largest.simultaneous
    assert ends is not None
    stated = re.search(r"do not exclude differences of up to ([\d.,]+)\.", str(brief.certainty[0]))
    assert stated is not None
    assert amounts(stated[1]) == pytest.approx(max(abs(ends.low), abs(ends.high)), rel=0.03)
    shown = re.findall(r"[\d.,]*\d", error.split(" too high")[0])
    means = {g.group: abs(g.rates["mean_error"].value or 0) for g in report.groups}
    assert amounts(shown[0]) == pytest.approx(
        min(means.values(), key=lambda mean: abs(mean - amounts(shown[0]))), rel=0.05
    )
    assert any("confidence interval" in str(each) for each in brief.certainty)


def test_a_stated_direction_asks_for_none() -> None:
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"g": rng.choice(["a", "b"], 400), "y": rng.normal(5, 1, 400)})
    report = fg.audit(rows, label="y", sensitive="g", task="regression",
                      favourable="higher")  # fmt: skip
    brief = report.brief()
    assert brief.question == "Who is worse off, and by how much"
    assert "--favourable" not in str(brief)
    assert str(brief.found[0]).startswith("Average y: ")


@pytest.mark.parametrize(
    ("of_a", "of_b", "stated"),
    [
        (6, 2, "On average p exceeds y by 4.0 more for a than for b"),
        (2, 6, "On average p exceeds y by 4.0 more for b than for a"),
        (-6, -2, "On average p falls short of y by 4.0 more for a than for b"),
        (-2, -6, "On average p falls short of y by 4.0 more for b than for a"),
        (-3, 1, "Relative to y, p is on average 4.0 lower for a than for b"),
        (0, 4, "Relative to y, p is on average 4.0 lower for a than for b"),
    ],
)
@pytest.mark.parametrize("favourable", ["positive", "higher", "lower"])
def test_a_headline_of_errors_states_for_whom_predictions_are_further_off(
    of_a: float, of_b: float, stated: str, favourable: str
) -> None:
    label = np.tile([10.0, 20.0, 30.0, 40.0], 100)
    sides, off = np.repeat(["a", "b"], 200), np.repeat([of_a, of_b], 200) + np.tile([-1, 1], 200)
    rows = pl.DataFrame({"g": sides, "y": label, "p": label + off})
    words = {"groups": {"g": {"a": "a", "b": "b"}}}
    report = fg.audit(
        rows, label="y", prediction="p", sensitive="g", task="regression",
        metrics=["mean_error.difference"], words=words,
        favourable=favourable,
    )  # fmt: skip
    mirrored = re.sub("lower for a than for b", "higher for b than for a", stated)
    assert str(report.brief().headline).split(": ")[0] in (stated, mirrored)


def test_adjusted_amounts_are_stated_in_words() -> None:
    report = of_regression(label="rate_spread", strata="tier")
    brief = report.brief()
    assert str(brief.found[1]) == "After adjusting for tier a difference remains."
    assert re.match(
        r"Average rate spread of Black people, adjusted for tier: between [\d.]+ and [\d.]+ "
        r"higher \(95% CI\)",
        str(brief.certainty[1]),
    )


def test_classes_are_named_and_counted() -> None:
    brief = result("three classes").brief()
    assert str(brief.headline) == (
        "The predicted class is right less often for people with accent “other” than for people "
        "with accent local"
    )
    assert "(routed: billing, cancel or help) and asked, by accent" in str(brief)
    one, *_ = result("classes without accuracy").brief().found
    assert str(one) == (
        "Of 100 people with accent “other” and asked = billing, 86 had routed = billing; of 100 "
        "such people with accent local, 93. No class differs more than class billing."
    )
    rows = calls().filter(pl.col("asked") == "billing")
    for accent, k in (("other", 86), ("local", 93)):
        of = rows.filter(pl.col("accent") == accent)
        assert round(100 * (of["routed"] == "billing").mean()) == k
    # of each group and rate the class that differs most is a finding: the page counts no others
    assert "The full report lists more differences." in map(
        str, result("three classes").brief().found
    )


UNRECORDED: list[dict[str, Any]] = [
    {}, {"rules": []}, {"rules": ["selection_rate.difference >= -0.4"]}, {"known": True},
]  # fmt: skip


@pytest.mark.parametrize("options", UNRECORDED)
def test_estimated_groups_are_called_estimated_first(options: dict[str, Any]) -> None:
    report = unrecorded(**options)
    brief = report.brief()
    stated = "Race was not recorded: it is estimated from probabilities (p_black and p_white)"
    if options.get("known"):
        stated = "Race is known for 594 of 20,000 people, drawn at random: of the others it is "
        stated += "estimated from probabilities (p_black and p_white)"
    assert any(str(each).startswith(stated.removesuffix(")")) for each in brief.verdict[:2])
    assert "worth" not in str(report)
    assert "Plan how many rows" not in " ".join(str(brief).split())
    assert "an estimated" in str(brief.found[0])


def test_of_whom_the_group_is_known_is_stated_however_they_were_drawn() -> None:
    """Race "was not recorded" of 20,000 people, 594 of whom had stated it."""
    race = fg.probabilities(Black="p_black", White="p_white", known="reported")
    report = unrecorded(known=True, sensitive={"race": race}, rules=[])
    known = "known for 594 of 20,000 people, not stated to be drawn at random: in the rates it is "
    text = " ".join(render(report, "text", full=True).split())
    assert f"Race is {known}estimated from probabilities" in str(report.brief())
    assert "its groups are known for 594 of 20,000 people, not stated to be a random sample" in text
    assert "not recorded" not in text


def test_the_answers_that_would_settle_it_are_counted() -> None:
    """A sample of so many, of the rates of the table, has an interval of 5 of 100 to each side."""
    report = unrecorded(rules=[])
    step = " ".join(map(str, report.brief().steps))
    found = re.search(r": ask about ([\d,]+) randomly drawn people in all for their race", step)
    assert found is not None
    n = amounts(found[1])
    share = next(g.n for g in report.groups if g.group == "Black") / report.data.rows
    rates = [g.rates["selection_rate"].value for g in report.groups]
    spread = rates[0] * (1 - rates[0]) / (n * share) + rates[1] * (1 - rates[1]) / (n - n * share)
    assert 0.04 < 1.96 * spread**0.5 <= 0.05


@pytest.mark.parametrize("name", ["loans", "three classes", "local law 144"])
def test_dots_are_drawn_in_the_order_of_the_sentences(name: str) -> None:
    page = html.unescape(render(result(name), "html"))
    places = [page.find(f"<h3>{each}</h3>") for each in result(name).brief().found]
    drawn = [place for place in places if place >= 0]
    assert len(drawn) == 2
    assert drawn == sorted(drawn)


@pytest.mark.parametrize("shift", [0.4, 3.0])
def test_a_ratio_to_a_mean_near_0_states_why_it_is_not_evaluated(shift: float) -> None:
    """It was called insufficient data, of 800 rows, and "how certain this is" had no answer."""
    random = np.random.default_rng(0)
    sides = random.choice(["a", "b"], 800)
    means = np.where(sides == "a", random.normal(3, 5, 800), random.normal(shift, 5, 800))
    report = fg.audit(
        pl.DataFrame({"g": sides, "y": means}), label="y", sensitive="g", task="regression",
        metrics=["mean_label.ratio"], rules=["mean_label.ratio >= 0.8"],
    )  # fmt: skip
    (verdict,) = report.verdicts
    unbounded = verdict.reason.code == "ratio_may_be_zero"
    assert unbounded == (shift < 1)
    reason = "a number of the ratio may be 0 or below"
    assert any(reason in str(each) for each in report.brief().certainty) == unbounded
    text = " ".join(render(report, "text").split())
    assert ("(a number of the ratio may be 0 or below)" in text) == unbounded
    assert "insufficient data" not in text


def test_who_lacks_data_in_one_class_is_not_said_to_lack_all() -> None:
    """A group whose differences are significant in other classes is not said to lack data."""
    rng = np.random.default_rng(3)
    sizes = {"a": 900, "b": 600, "c": 200, "d": 10}
    group = np.repeat(list(sizes), list(sizes.values()))
    rare = rng.random(len(group)) < np.where(group == "c", 0.03, 0.4)
    label = np.where(rare, "high", np.where(rng.random(len(group)) < 0.5, "low", "medium"))
    other = rng.choice(["high", "low", "medium"], len(group), p=[0.1, 0.45, 0.45])
    made = np.where(rng.random(len(group)) < 0.7, label, other)
    report = fg.audit(
        pl.DataFrame({"y": label, "p": made, "g": group}), label="y", prediction="p", sensitive="g"
    )
    (text,) = (
        str(each) for each in report.brief().certainty if str(each).startswith("Insufficient data")
    )
    assert text == (
        "Insufficient data for all comparisons of people with g d, and for some comparisons of "
        "people with g c."
    )


@pytest.mark.parametrize(
    ("metric", "phrase"),
    [
        ("true_positive_rate.ratio >= 0.8", "of those with y = that class, had p = that class at"),
        ("selection_rate.ratio >= 0.8", "had p = that class at least 0.8 times as often as others"),
    ],
)
def test_a_rule_is_about_every_class_and_not_about_one_named_1(metric: str, phrase: str) -> None:
    """Of classes 0, 1 and 2 the rule was "of those with y = 1", and failed for class 0."""
    rows = []
    for group, right in (("a", (90, 90, 90)), ("b", (57, 100, 90))):
        for level, n in enumerate(right):
            rows += [(group, level, level)] * n + [(group, level, (level + 1) % 3)] * (100 - n)
    table = pl.DataFrame(rows, schema=["g", "y", "p"], orient="row")
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "task": "multiclass"}
    verdict = " ".join(map(str, fg.audit(table, **asked, rules=metric).brief().verdict))
    assert f"“For each class, {phrase}" in verdict
    assert "= 1" not in verdict


def test_comparisons_that_intervals_judge_are_not_all_that_there_are() -> None:
    """Of 7, one with insufficient data, it was "6 in all"."""
    counts = {"a": {"F": 100, "M": 100}, "b": {"F": 60, "M": 60}, "c": {"F": 5, "M": 6}}
    rows = [
        (sex, y, y if i % 5 else "abc"["bca".index(y)])
        for y, by_sex in counts.items() for sex, n in by_sex.items() for i in range(n)
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=["sex", "y", "p"], orient="row")
    rules = ["|accuracy.difference| <= 0.2", "|true_positive_rate.difference| <= 0.3"]
    asked = {"label": "y", "prediction": "p", "sensitive": "sex", "task": "multiclass"}
    verdict = " ".join(map(str, fg.audit(table, **asked, rules=rules).brief().verdict))
    assert "Of 2 verdicts 1 passes and 1 is not evaluated: each by the worst of" in verdict
    assert "(of all classes and of each class), of which confidence intervals judge 6 in" in verdict
    alone = fg.audit(table.filter(pl.col("y") != "a"), **asked, rules=rules[1])
    assert "comparisons" not in " ".join(map(str, alone.brief().verdict))


def test_what_has_no_interval_by_cluster_does_not_lack_rows() -> None:
    """It was "insufficient data", and the advice to collect more, of ten times the rows too."""
    rng = np.random.default_rng(5)
    n = 4_000
    table = pl.DataFrame({
        "g": rng.choice(["a", "b"], n), "y": rng.integers(0, 2, n), "s": rng.random(n).round(2),
        "patient": rng.integers(0, 2_000, n),
    })  # fmt: skip
    asked = {"label": "y", "score": "s", "sensitive": "g", "cluster": "patient", "positive": 1}
    report = fg.audit(table, **asked, rules="expected_calibration_error <= 0.2")
    assert {each.outcome for each in report.verdicts} == {"not_evaluated"}
    page = " ".join(render(report, "markdown").split())
    assert "no confidence interval: scores are not counted by cluster" in page
    assert "INSUFFICIENT" not in page
    assert "collect" not in page


def _of_classes(rare_right: int = 50, **asked: Any) -> fg.Report:
    """Return an audit of 3 classes, of which the rare one is found less often at S than at N."""
    counts = {
        "N": {"red": (450, 25, 25), "blue": (50, 450, 0), "rare": (10, 0, 90)},
        "S": {"red": (430, 25, 45), "blue": (50, 450, 0),
              "rare": (100 - rare_right, 0, rare_right)},
    }  # fmt: skip
    rows = [
        (site, label, guess)
        for site, by_label in counts.items()
        for label, row in by_label.items()
        for guess, n in zip(("red", "blue", "rare"), row, strict=True)
        for _ in range(n)
    ]
    table = pl.DataFrame(rows, schema=["site", "truth", "guess"], orient="row")
    asked = {"label": "truth", "prediction": "guess", "sensitive": "site", **asked}
    return fg.audit(table, task="multiclass", **asked)


@pytest.mark.parametrize(
    "rule",
    [
        "|true_positive_rate.difference| <= {}",
        "true_positive_rate.ratio >= 1 - {}",
        "|f1.difference| <= {}",
        "|balanced_accuracy.difference| <= {}",
        "|positive_predictive_value.difference| <= {}",
        "|accuracy.difference| <= {}",
    ],
)
@pytest.mark.parametrize("limit", [0.02, 0.9])
def test_a_rule_on_a_rate_is_about_its_difference_in_each_class(rule: str, limit: float) -> None:
    """The class where it fails was stated with "No rule is about this difference."."""
    asked = rule.format(limit).replace(f"1 - {limit}", f"{1 - limit:.2f}")
    report = _of_classes(metrics=asked.strip("|").partition(".")[0], rules=asked)
    assert report.verdict == ("fail" if limit < 0.5 else "pass")
    text = str(report.brief())
    assert "No rule is about" not in text
    assert "not ask about every" not in text


def test_a_rule_on_another_rate_is_not_about_the_difference_in_a_class() -> None:
    report = _of_classes(metrics="true_positive_rate", rules="|base_rate.difference| <= 0.5")
    assert "No rule is about this difference." in map(str, report.brief().found)


@pytest.mark.parametrize("metric", ["f1", "balanced_accuracy"])
def test_a_rate_that_is_no_count_states_its_class(metric: str) -> None:
    """The F1 of the class "rare" alone was "F1 of guess", beside a table with that of all."""
    report = _of_classes(metrics=metric, rules=f"|{metric}.difference| <= 0.1")
    brief = report.brief()
    name = f"{'F1' if metric == 'f1' else 'Balanced accuracy'} of guess = rare"
    assert str(brief.headline).startswith(f"{name} is lower for people with site S")
    assert str(brief.found[0]).startswith(f"{name}: 0.")
    assert str(brief.found[0]).endswith(" No class differs more than class rare.")
    assert str(brief.certainty[0]).startswith(f"{name} for people with site S: ")
    assert "for people with site S (class rare) (worse off)" in str(brief.verdict[1])


def test_a_rate_that_is_no_count_states_its_threshold_and_its_cut() -> None:
    """Two sentences on F1 contradicted each other: each is of another threshold, or cut."""
    rng = np.random.default_rng(0)
    group, label = rng.choice(["F", "M"], 2_000), rng.integers(0, 2, 2_000)
    shift = (label - 0.5) * np.where(group == "M", 0.6, 0.15)
    score = np.clip(0.5 + shift + rng.normal(0, 0.2, 2_000), 0, 1)
    asked: dict[str, Any] = {"label": "y", "sensitive": "g", "metrics": "f1"}
    rows = {"g": group, "y": label, "s": score}
    several = fg.audit(rows, score="s", threshold=[0.3, 0.7], **asked).brief()
    names = sorted(str(each).partition(": ")[0] for each in several.found)
    assert names == ["F1 of s at threshold 0.3", "F1 of s at threshold 0.7"]
    one = fg.audit(rows, score="s", threshold=0.7, **asked).brief()
    assert str(one.found[0]).startswith("F1 of s: ")
    levels = np.array(["high", "middle", "low"])
    place = rng.integers(0, 3, 2_000)
    guess = np.where(rng.random(2_000) < np.where(group == "M", 0.9, 0.4), place, 2 - place)
    rows = {"g": group, "y": levels[place], "rating": levels[guess]}
    ordered = fg.audit(rows, prediction="rating", positive=fg.ordered(*levels.tolist()), **asked)
    names = sorted(str(each).partition(": ")[0] for each in ordered.brief().found)
    assert names == ["F1 of rating = high", "F1 of rating = high or middle"]


def test_more_differences_without_a_number_are_several() -> None:
    """It read "The full report lists more difference."."""
    found = _of_classes(metrics=["true_positive_rate", "accuracy"]).brief().found
    assert "The full report lists more differences." in map(str, found)


@pytest.mark.parametrize("offset", [0.0, 5.0, -0.25])
def test_a_difference_of_zero_has_no_direction(offset: float) -> None:
    """It was "0.00 lower", "1.00 times as high", and predictions "0.00 too high" on both sides."""
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"g": rng.choice(["a", "b"], 400), "y": rng.normal(50, 5, 400).round(2)})
    rows = rows.with_columns(p=pl.col("y") + offset)
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "task": "regression"}
    brief = fg.audit(rows, **asked).brief()
    assert str(brief.headline) == (
        "No group differs from the others in any number that could be compared"
    )
    size = f"{abs(offset):.2f}"
    off = f"{size} too {'high' if offset > 0 else 'low'}" if offset else (
        "neither too high nor too low"
    )  # fmt: skip
    sides = "for people with g a as for people with g b"
    assert [str(each) for each in brief.found[:2]] == [
        f"Compared with y, p is on average {off}, {sides}.",
        f"Average size of errors in p: the same {sides} ({size}).",
    ]
    assert str(brief.certainty[0]) == (
        "Average error of p (p minus y) for people with g a: no difference (95% CI)."
    )
    assert not re.search(r"0\.00 (lower|higher)|times as high|still be one|up to 0", str(brief))


@pytest.mark.parametrize("names", [("F", "H"), ("H", "F")])
@pytest.mark.parametrize("to", [{"sexe": "H"}, {"sexe": "F"}, "others"])
def test_a_headline_states_that_mean_and_median_disagree_of_one_side(names, to) -> None:
    """ "Average pay is lower for F than for H, but their median pay is lower": it was higher."""
    rng = np.random.default_rng(4)
    low_mean, high_mean = names
    pay = {low_mean: rng.normal(2_200, 150, 300), high_mean: rng.normal(2_000, 150, 320)}
    pay[high_mean][:60] = rng.normal(7_000, 300, 60)
    table = pl.DataFrame([(sexe, each) for sexe in "FH" for each in pay[sexe]],
                         schema=["sexe", "pay"], orient="row")  # fmt: skip
    report = fg.audit(
        table, label="pay", preset="eu-pay-transparency", sensitive="sexe", reference=to
    )
    headline = str(report.brief().headline)
    lower = headline.index(f"workers with sexe {low_mean}") < headline.index(
        f"workers with sexe {high_mean}"
    )
    first, last = ("lower", "higher") if lower else ("higher", "lower")
    assert headline.startswith(f"Average pay is {first} for")
    assert headline.endswith(f"but their median pay is {last}")
