"""Who is the reference has one answer, whichever verb or page is asked (invariant 3)."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.measure.exploration import explored

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
            "g": np.array(list(sizes))[place],
            "s": score,
            "y": (rng.random(len(place)) < score).astype(int),
            "p": (score >= THRESHOLD).astype(int),
            "q": (score >= THRESHOLD + 0.1).astype(int),
        }
    )


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
