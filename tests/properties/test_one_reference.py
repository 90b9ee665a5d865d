"""Who is the reference has one answer, whichever verb or page is asked (invariant 3)."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.measure.exploration import explored
from fairgauge.question.kits import find_kit, kit_names

RULES = ["others", "overall", "largest", "best", {"g": "B"}]
SIZES = {
    "two groups": {"A": 400, "B": 200},
    "three groups": {"A": 400, "B": 200, "C": 100},
    "a group of 12 rows": {"A": 400, "B": 200, "C": 12},
    "people of unknown category": {"A": 400, "B": 200, "Decline to answer": 500},
}
METRIC = "selection_rate.ratio"
THRESHOLD = 0.5


def rows(sizes: dict[str, int]) -> pl.DataFrame:
    """Return scores that are highest in the last group, which is the smallest."""
    rng = np.random.default_rng(11)
    place = np.repeat(np.arange(len(sizes)), list(sizes.values()))
    score = np.clip(rng.normal(0.4 + 0.1 * place, 0.2), 0, 1).round(2)
    return pl.DataFrame(
        {
            "g": np.array(list(sizes))[place], "s": score,
            "y": (rng.random(len(place)) < score).astype(int),
            "p": (score >= THRESHOLD).astype(int), "q": (score >= THRESHOLD + 0.1).astype(int),
        }
    )  # fmt: skip


def of_audit(data: pl.DataFrame, rule: Any) -> dict[str, str]:
    report = fg.audit(
        data, label="y", prediction="p", sensitive="g", positive=1, reference=rule, metrics=METRIC
    )
    return {e.group: str(e.reference) for e in report.estimates}


def of_scores(data: pl.DataFrame, rule: Any) -> fg.Report:
    return fg.audit(
        data, label="y", score="s", threshold=THRESHOLD, sensitive="g", positive=1,
        reference=rule, metrics=METRIC,
    )  # fmt: skip


def of_counts(data: pl.DataFrame, rule: Any) -> dict[str, str]:
    counts = fg.count(data, label="y", prediction="p", sensitive="g", positive=1)
    report = fg.audit(counts, reference=rule, metrics=METRIC)
    return {e.group: str(e.reference) for e in report.estimates}


def of_thresholds(data: pl.DataFrame, rule: Any) -> dict[str, str]:
    choice = fg.thresholds(
        data, label="y", score="s", threshold=THRESHOLD, sensitive="g", positive=1,
        reference=rule, rules=f"{METRIC} >= 0.0001", margins={"accuracy": 0.5},
    )  # fmt: skip
    effect = choice["g"].common
    assert effect.threshold == THRESHOLD
    return {each.group: str(each.reference) for each in effect.disparities}


def of_models(data: pl.DataFrame, rule: Any) -> dict[str, str]:
    compared = fg.compare_models(
        data, label="y", prediction="p", candidate="q", sensitive="g", positive=1,
        reference=rule, metrics=METRIC,
    )  # fmt: skip
    return {e.group: str(e.reference) for e in compared.candidates[0].disparities}


def of_monitor(data: pl.DataFrame, rule: Any) -> dict[str, str]:
    options = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1}
    question = {**options, "reference": rule, "monitor": {"rules": [f"{METRIC} >= 0.5"]}}
    days = {"2026-11-01": fg.count(data, **options)}
    report = fg.monitor(days, question)
    return {each.group: each.reference for each in report.comparisons}


def of_explore(data: pl.DataFrame, rule: Any) -> dict[str, str]:
    """Return the references that the page of explore has at the threshold."""
    cube = fg.count(
        data, label="y", score="s", threshold=THRESHOLD, sensitive="g", positive=1,
        reference=rule, metrics=METRIC,
    )  # fmt: skip
    page = explored(cube, cube.asked, exact=True)
    (column,), start = page["columns"], page["reference"]
    names = column["groups"]
    if start in ("others", "overall"):
        return dict.fromkeys(names, start)
    return {name: names[start[0]] for name in names if name != names[start[0]]}


VERBS = {
    "counts": of_counts,
    "scores": lambda data, rule: {
        e.group: str(e.reference) for e in of_scores(data, rule).estimates
    },
    "thresholds": of_thresholds,
    "compare_models": of_models,
    "monitor": of_monitor,
    "explore": of_explore,
}


@pytest.mark.each_value
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_the_reference_of_an_audit(verb: str, rule: Any, name: str) -> None:
    data = rows(SIZES[name])
    if verb == "monitor" and rule == "best":
        with pytest.raises(fg.SpecError, match="reference"):  # it would be chosen anew every day
            of_monitor(data, rule)
        return
    expected = of_audit(data, rule)
    if name == "a group of 12 rows" and rule == "best":
        assert set(expected.values()) == {"B"}  # C fares best, and is too small to be chosen
    found = VERBS[verb](data, rule)
    if verb in ("compare_models", "thresholds") and name == "two groups":
        # of two groups that mirror each other one may be enough
        assert found
        assert found.items() <= expected.items()
    elif verb == "monitor" and name == "two groups" and rule == "others":
        ((group, reference),) = found.items()  # one stands for both, and names the other one
        assert {group, reference} == set(expected)
    else:
        assert found == expected


# ---- a preset is its options: the same table has one reference, value and verdict
def stated_by_hand(name: str) -> dict[str, Any]:
    """Return what a preset of our own states of metrics, rules and the reference."""
    kept = ("metrics", "rules", "reference", "favourable", "min_share", "min_n", "task")
    options = {key: of for key, of in find_kit(name).options.items() if key in kept}
    return options | ({"reference": {"g": "B"}} if find_kit(name).compared_with else {})


def answered(report: fg.Report) -> tuple[Any, ...]:
    return [
        (e.metric, e.group, str(e.reference), e.value, e.low, e.high) for e in report.estimates
    ], [(str(v.rule), v.group, v.value, v.outcome) for v in report.verdicts]


@pytest.mark.each_value
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("preset", kit_names())
def test_a_preset_has_the_reference_ratio_and_verdict_of_its_options(
    preset: str, name: str
) -> None:
    data, options = rows(SIZES[name]).drop("q"), stated_by_hand(preset)
    asked: dict[str, Any] = {"label": "y", "prediction": "p", "positive": 1}
    if options.get("task") == "regression":
        asked = {"label": "s"}
    named = {key: of for key, of in options.items() if key == "reference" and type(of) is dict}
    by_hand = answered(fg.audit(data, **asked, sensitive="g", **options))
    assert by_hand[0]
    of_counts = fg.count(data, **asked, sensitive="g", preset=preset, **named)
    assert answered(fg.audit(data, **asked, sensitive="g", preset=preset, **named)) == by_hand
    held, judged = answered(fg.audit(of_counts))
    known = [each for each in held if each[3] is not None]  # medians need rows
    assert known == [each for each in by_hand[0] if each[0] in {of[0] for of in known}]
    assert judged == by_hand[1]


# ---- what is said of a metric is the same alone and beside others, in any order (invariant 3)
REFERENCES = ["best", "others", "overall", "largest", {"g": "C"}]
DESIGNS: dict[str, dict[str, Any]] = {
    "rows": {}, "strata": {"strata": "h"}, "clusters": {"cluster": "c"}, "weights": {"weight": "w"},
    "bootstrap": {"method": "bootstrap"},
}  # fmt: skip
OUTCOMES: dict[str, dict[str, Any]] = {
    "binary": {
        "label": "y", "score": "s", "threshold": 0.5, "positive": 1, "favourable": "negative",
        "metrics": [
            "standard", "average_absolute_odds", "worst_odds", "average_odds", "clarify", "vertex",
            "top_selection_ratio", "exposure_ratio",
        ],
    },
    "classes": {
        "label": "k", "prediction": "m", "metrics": ["standard", "average_absolute_odds"],
    },
    "amounts": {
        "label": "a", "prediction": "b", "task": "regression", "favourable": "lower",
        "metrics": ["standard", "median_label.difference", "quantile_label(0.9).ratio"],
    },
}  # fmt: skip
ROWS = 600


def table(seed: int) -> pl.DataFrame:
    """Return four groups that have the best rates, scores, medians and means each by chance."""
    rng = np.random.default_rng(seed)
    group = rng.choice(4, ROWS, p=[0.4, 0.3, 0.2, 0.1])
    base, gain, start, middle = (rng.uniform(*ends, 4)[group] for ends in
                                 ((0.2, 0.8), (0.3, 0.6), (0, 0.3), (10, 20)))  # fmt: skip
    y = (rng.random(ROWS) < base).astype(int)
    score = np.clip(gain * y + start + rng.normal(0, 0.2, ROWS), 0, 1).round(3)
    amount = np.round(middle + rng.exponential(rng.uniform(1, 9, 4)[group]), 1)
    classes = rng.integers(0, 3, ROWS)
    return pl.DataFrame(
        {
            "g": np.array(list("ABCD"))[group], "y": y, "s": score, "a": amount,
            "b": np.round(amount + rng.normal(start, 2), 1),
            "k": np.array(list("xyz"))[classes],
            "m": np.array(list("xyz"))[np.where(rng.random(ROWS) < base, classes, 0)],
            "h": rng.choice(["u", "v"], ROWS), "c": rng.integers(0, 80, ROWS),
            "w": rng.choice([1.0, 2.0, 3.0], ROWS),
        }
    )  # fmt: skip


def said(report: fg.Report, metric: str) -> tuple[Any, ...]:
    return sorted(
        str((
            e.feature, e.group, e.scope, e.class_scope, str(e.reference), e.value, e.low, e.high,
            e.p_value, e.status, e.rate_group, e.rate_reference, e.reason,
        ))
        for e in report.estimates if e.metric == metric
    ), [v.outcome for v in report.verdicts]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("reference", REFERENCES, ids=str)
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_metric_is_the_same_alone_and_beside_others(
    outcome: str, design: str, reference: Any
) -> None:
    seed = 100 * list(OUTCOMES).index(outcome) + 10 * list(DESIGNS).index(design)
    rng = np.random.default_rng(seed + REFERENCES.index(reference))
    options = OUTCOMES[outcome] | DESIGNS[design] | {"sensitive": "g", "replicates": 50}
    data = table(seed)
    every = fg.audit(data, **options, reference=reference)
    names = list(dict.fromkeys(e.metric for e in every.estimates))
    measured = {e.metric: abs(e.value) for e in every.estimates if e.value is not None}
    composite = ["average_absolute_odds"] if "average_absolute_odds" in measured else []
    for metric in [*composite, *rng.choice(list(measured), 1).tolist()]:
        rule = f"{metric} <= {measured[metric]:.4f}"
        asked = options | {"reference": reference, "rules": rule}
        alone = said(fg.audit(data, **asked | {"metrics": metric}), metric)
        assert alone[0]
        shuffled = [metric, *rng.permutation(names).tolist()]
        for beside in (shuffled, shuffled[::-1]):
            assert said(fg.audit(data, **asked | {"metrics": beside}), metric) == alone, metric
