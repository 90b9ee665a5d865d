"""What is favourable turns everything: the same question of the other value has the same answer."""

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_mirror_of_verbs import rows

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.question.kits import find_kit, kit_names
from fairgauge.render import render
from fairgauge.results.verdicts import is_of_both_sides
from fairgauge.values import matches, meaning

OTHER = {
    "base_rate": "negative_base_rate", "selection_rate": "rejection_share", "accuracy": "accuracy",
    "true_positive_rate": "true_negative_rate", "false_negative_rate": "false_positive_rate",
    "positive_predictive_value": "negative_predictive_value",
}  # fmt: skip
OTHER |= {other: one for one, other in OTHER.items()}
"""The rate that is the same number where the other value is the positive one."""
CODINGS = ({"positive": 1, "favourable": "positive"}, {"positive": 0, "favourable": "negative"})
REFERENCES = ["others", "overall", "best", "largest", {"g": "c"}]
ASKED = {"label": "label", "prediction": "prediction", "sensitive": "g"}


def turned(text: str) -> str:
    """Return a rule or a metric of the rate that is the same number in the other coding."""
    return re.sub(r"[a-z]+(_[a-z]+)*(?=\.|$)", lambda found: OTHER.get(found[0], found[0]), text)


def table(seed: int = 0) -> pl.DataFrame:
    """Return three groups, one of them with many more positives."""
    rng = np.random.default_rng(seed)
    g = rng.choice(["a", "b", "c"], 1_500, p=[0.5, 0.3, 0.2])
    chance = np.vectorize(dict(zip("abc", rng.permutation([0.25, 0.45, 0.7]), strict=True)).get)(g)
    label = (rng.random(1_500) < 0.5).astype(int)
    made = (rng.random(1_500) < 0.6 * chance + 0.3 * label).astype(int)
    candidate = np.where(rng.random(1_500) < 0.15, label, made)
    return pl.DataFrame(
        {"g": g, "label": label, "prediction": made, "candidate": candidate,
         "stratum": rng.choice(["s", "t"], 1_500)}
    )  # fmt: skip


def close(one: Any, other: Any) -> bool:
    if not isinstance(one, float) or not isinstance(other, float):
        return one == other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def numbers(report: fg.Report, *, negative: bool) -> dict[Any, list[Any]]:
    """Return every estimate and verdict of a report, by the name it has with the first coding."""
    found: dict[Any, list[Any]] = {}
    for each in report.estimates:
        name = turned(each.metric) if negative else each.metric
        found[name, each.group] = [each.reference, each.value, each.low, each.high, each.p_value]
    for each in report.verdicts:
        name = turned(each.rule) if negative else each.rule
        found[name, each.group] = [each.outcome, each.mirror, each.remains]
    return found


def subject(headline: object) -> str:
    """Return of whom a headline is."""
    text = str(headline).replace("other than 0", "= 1")
    return text.split(" had ")[0].split(" have ")[0].split(" were ")[0]


RULES = [
    "selection_rate.ratio >= 0.8", "selection_rate.ratio <= 1.25",
    "-0.1 <= selection_rate.difference <= 0.1", "true_positive_rate.difference >= -0.1",
    "accuracy.ratio >= 0.9",
]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("reference", REFERENCES, ids=str)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(2))
def test_the_other_coding_has_the_same_numbers_verdicts_and_headline(seed, rule, reference):
    metrics = [f"{rate}.{by}" for rate in OTHER for by in ("difference", "ratio")]
    more = {"reference": reference, "min_n": 20}
    one, other = (
        fg.audit(table(seed), **ASKED, **more, **coding, metrics=names, rules=[text])
        for coding, names, text in zip(
            CODINGS, (metrics, [*map(turned, metrics)]), (rule, turned(rule)), strict=True
        )
    )
    found, again = numbers(one, negative=False), numbers(other, negative=True)
    assert found.keys() == again.keys()
    for key, values in found.items():
        assert all(map(close, values, again[key])), key
    assert subject(one.brief().headline) == subject(other.brief().headline)


@pytest.mark.parametrize("name", kit_names())
def test_a_preset_turns_or_is_refused(name):
    """No preset calls a harm by its word for the favourable outcome, whatever is stated."""
    if find_kit(name).options.get("task") == "regression":
        with pytest.raises(fg.SpecError, match="lower contradicts the preset"):
            fg.audit(table(), label="label", sensitive="g", preset=name, favourable="lower")
        return
    asked = ASKED | {"preset": name}
    if find_kit(name).compared_with:
        asked |= {"reference": {"g": table()["g"][0]}}
    if "favourable" not in find_kit(name).options:
        metrics = find_kit(name).options["metrics"]
        one, other = (
            fg.audit(table(), **asked, **coding, metrics=names)
            for coding, names in zip(CODINGS, (metrics, [*map(turned, metrics)]), strict=True)
        )
        assert numbers(one, negative=False).keys() == numbers(other, negative=True).keys()
        return
    for stated in ("negative", "neither"):
        with pytest.raises(fg.SpecError, match="contradicts the preset"):
            fg.audit(table(), **asked, positive=0, favourable=stated)
    if "positive" not in find_kit(name).words:
        return
    denied = table().rename({"prediction": "denied"}).drop("label")
    words = {"positive": "refused", "negative": "granted"}
    with pytest.raises(fg.SpecError, match="calls the positive outcome"):
        fg.audit(denied, prediction="denied", sensitive="g", preset=name, positive=1, words=words,
                 reference=asked.get("reference"))  # fmt: skip


def of_why(coding: dict[str, Any], rate: str, reference: Any) -> Iterator[Any]:
    asked = {**ASKED, **coding, "reference": reference, "strata": "stratum"}
    for gap in fg.why(table(), **asked, metrics=[f"{rate}.difference"]).gaps:
        each = gap.estimate
        yield each.group, each.reference, each.value, each.low, each.high, gap.verdict


def of_models(coding: dict[str, Any], rate: str, reference: Any) -> Iterator[Any]:
    margins = {rate: 0.05, "disparity": 0.05}
    asked = {"prediction": "prediction", "sensitive": "g", "reference": reference, **coding}
    metrics = [f"{rate}.difference"]
    made = fg.compare_models(
        table(), **asked, candidate="candidate", margins=margins, metrics=metrics
    )
    (best,) = made.candidates
    yield best.verdict, best.fairness, best.performance, subject(made.brief().headline)
    for one in best.disparities:
        yield one.group, one.reference, one.old, one.new, one.direction, one.outcome


def of_reports(coding: dict[str, Any], rate: str, reference: Any) -> Iterator[Any]:
    asked = {"prediction": "prediction", "sensitive": "g", "reference": reference, **coding}
    more = {"metrics": [f"{rate}.ratio"], "rules": [f"{rate}.ratio >= 0.8"]}
    reports = [fg.audit(table(seed), **asked, **more) for seed in (0, 1)]
    made = fg.compare(*reports, same_rows=False)
    for each in made.changes:
        yield each.group, each.old, each.new, each.direction, each.worse
    yield from ((flip.new.group, flip.worse) for flip in made.flips)
    yield sorted(re.findall(r"\w+ is now (?:worse|better) off than \w+", render(made, "html")))


def of_search(coding: dict[str, Any], rate: str, reference: Any) -> Iterator[Any]:
    asked = {"prediction": "prediction", "sensitive": ["g", "stratum"], **coding}
    made = fg.find(table(), **asked, metrics=rate)
    for each in made.worse:
        yield each.name, each.n


def of_monitor(coding: dict[str, Any], rate: str, reference: Any) -> Iterator[Any]:
    asked = {"prediction": "prediction", "sensitive": "sex", "positive": coding["positive"],
             "favourable": coding["favourable"], "rules": [f"{rate}.ratio >= 0.8"]}  # fmt: skip
    counted = {k: v for k, v in asked.items() if k != "rules"}
    days = {f"2026-01-{1 + day:02}": fg.count(part, **counted) for (day,), part in
            sorted(rows().partition_by("day", as_dict=True).items())}  # fmt: skip
    made = fg.monitor(days, counted | {"monitor": {"rules": asked["rules"]}})
    for each in made.comparisons:
        yield each.group, each.reference, each.alarm is None


@pytest.mark.each_value
@pytest.mark.parametrize("reference", ["others", "best", {"g": "c"}], ids=str)
@pytest.mark.parametrize(
    "verb",
    [of_why, of_models, of_reports, of_search, of_monitor],
    ids=lambda f: f.__name__,
)
def test_every_verb_has_the_same_answer_in_the_other_coding(verb, reference):
    one, other = (
        [*verb(coding, rate, reference)]
        for coding, rate in zip(CODINGS, ("selection_rate", "rejection_share"), strict=True)
    )
    assert len(one) == len(other) > 0
    for mine, theirs in zip(one, other, strict=True):
        assert len(mine) == len(theirs) if isinstance(mine, tuple) else True
        pairs = zip(mine, theirs, strict=True) if isinstance(mine, tuple) else [(mine, theirs)]
        assert all(close(a, b) for a, b in pairs), (mine, theirs)


@pytest.mark.parametrize("reference", ["others", "best", "largest", {"g": "c"}], ids=str)
def test_lower_amounts_that_are_better_are_higher_ones_that_are_with_the_other_sign(reference):
    data = table().with_columns(amount=pl.col("prediction") + pl.col("label") * 0.5)
    negated = data.with_columns(amount=-pl.col("amount"))
    asked = {"label": "amount", "sensitive": "g", "task": "regression", "reference": reference}
    metrics = ["mean_label.difference", "median_label.difference"]
    one = fg.audit(data, **asked, favourable="lower", metrics=metrics)
    other = fg.audit(negated, **asked, favourable="higher", metrics=metrics)
    for mine, theirs in zip(one.estimates, other.estimates, strict=True):
        assert mine.reference == theirs.reference
        assert close(mine.value, -theirs.value)
    asked_of = [each.brief().headline for each in (one, other)]
    assert str(asked_of[0]).split(" for ")[1:] == str(asked_of[1]).split(" for ")[1:]


@pytest.mark.each_value
@pytest.mark.parametrize("favourable", ["positive", "negative", "neither"])
@pytest.mark.parametrize("reference", ["others", {"g": "a"}, "largest"], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_a_sentence_about_a_failing_rule_names_those_whose_verdict_is_fail(
    seed, reference, favourable
):
    """Of two groups that a rule limits alike, a fail is of both."""
    rng = np.random.default_rng(seed)
    groups = ["a", "b"] if seed % 2 else ["a", "b", "c", "d"]
    g = rng.choice(groups, 2_000)
    chance = np.vectorize(dict(zip(groups, rng.uniform(0.1, 0.9, len(groups)), strict=True)).get)(g)
    data = pl.DataFrame({"g": g, "p": (rng.random(2_000) < chance).astype(int)})
    names = {"a": "ants", "b": "bees", "c": "cats", "d": "dogs"}
    rate, by = (
        rng.choice(["selection_rate", "rejection_share"]),
        rng.choice(["difference", "ratio"]),
    )
    low, high = (0.8, 1.25) if by == "ratio" else (-0.1, 0.1)
    for rule in (f">= {low}", f"<= {high}"):
        report = fg.audit(
            data, prediction="p", positive=1, sensitive="g", favourable=favourable,
            reference=reference, words={"groups": {"g": names}}, rules=[f"{rate}.{by} {rule}"],
        )  # fmt: skip
        failing = [each for each in report.verdicts if each.outcome is Outcome.FAIL]
        failing_groups = {each.group for each in failing}
        failing_groups |= {each.mirror for each in failing if is_of_both_sides(each)}
        for sentence in map(str, report.brief().verdict):
            if " fails for " not in sentence:
                continue
            named = sentence.split(" fails for ", 1)[1].split(". Of ")[0]
            assert {each for each, name in names.items() if name in named} <= failing_groups
        for sentence in map(str, report.brief().found):
            if " fail as the better-off side" in sentence and not sentence.startswith("They"):
                whose = sentence.split(" fail as")[0].casefold()
                assert {each for each, name in names.items() if name in whose} <= failing_groups


# ---- the same question has one fingerprint, however the positive value is written
ASKED_SPELLINGS = {"label": "y", "prediction": "p", "sensitive": "sex"}
ROWS = pd.DataFrame({"sex": list("FMMF") * 9, "y": [1, 0, 0, 1] * 9, "p": [1, 1, 0, 0] * 9})
numbers_spellings = st.integers(-3, 3) | st.floats(-2, 2) | st.booleans()
texts = st.sampled_from(
    ["1", "1.0", "01", "1e0", "true", "True", "TRUE", "false", "0", "-0", "yes", "", " 1", "1 "]
)
values = numbers_spellings | texts | numbers_spellings.map(str)


@given(values, values)
def test_values_of_one_meaning_match_the_same_levels(asked, level):
    assert matches(asked, level) == matches(meaning(asked), level)
    assert meaning(meaning(asked)) == meaning(asked)


@given(values, values, values)
def test_values_of_several_meanings_are_kept_apart(one, other, level):
    if meaning(one) == meaning(other):
        assert matches(one, level) == matches(other, level)


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "str"])
@pytest.mark.parametrize("written", [1, True, 1.0, "1", "1.0", "true", ["1"], [1, "true"]])
def test_counts_of_one_question_are_equal_and_add_up(dtype, written):
    rows = ROWS.astype({"y": dtype, "p": dtype})
    one = fg.count(rows, **ASKED_SPELLINGS, positive=1)
    other = fg.count(rows.head(20), **ASKED_SPELLINGS, positive=written)
    assert other == fg.count(rows.head(20), **ASKED_SPELLINGS, positive=1)
    both = one.add(other)
    assert both.asked.positive == (1,)
    assert (
        both.digest
        == fg.count(pd.concat([rows, rows.head(20)]), **ASKED_SPELLINGS, positive=1).digest
    )
