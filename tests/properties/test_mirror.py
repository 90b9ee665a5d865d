"""A comparison is one answer, whichever groups are asked for and from whichever side it is read.

`test_invariants.py` holds two groups that are both asked for against each other; here one of them
is asked for alone, rows are clustered, and a rate is held against its complement.
"""

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_invariants import (
    AMONG_CLASSES,
    ENTRIES,
    METHODS,
    QUESTIONS,
    close,
    has_mirror,
    mirrored,
    real,
    table,
)

import fairgauge as fg
from fairgauge.catalogue.distributions import is_odds_ratio
from fairgauge.catalogue.lookup import BUILT_IN

CLUSTERED = {"cluster": "cluster"}
DESIGNS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in METHODS},
    "clusters": CLUSTERED,
    "clusters and weights": {**CLUSTERED, "weight": "w"},
    "weights": {"weight": "w"},
    "clusters, overall as the reference": {**CLUSTERED, "reference": "overall"},
}
FEWEST = 10
"""Intervals that a design has at least."""
FIELDS = ("value", "low", "high", "p_value", "status")
COMPLEMENTS = (
    ("true_positive_rate", "false_negative_rate"),
    ("true_negative_rate", "false_positive_rate"),
    ("positive_predictive_value", "false_discovery_rate"),
    ("negative_predictive_value", "false_omission_rate"),
    ("accuracy", "error_rate"),
)
OF_COMPLEMENTS = tuple(f"{rate}.difference" for pair in COMPLEMENTS for rate in pair)


@cache
def rows(groups: int) -> pl.DataFrame:
    """Return rows in 90 clusters, more than there are blocks, some of them of one group alone."""
    names = [f"g{i + 1}" for i in range(groups)]
    data = table(3, 360, groups=names)
    rng = np.random.default_rng(4)
    cluster = np.where(
        rng.random(360) < 0.5,
        rng.integers(0, 45, 360),
        45 + 15 * (data["group"].to_numpy() == "g1") + rng.integers(0, 15, 360),
    )
    return data.with_columns(cluster=pl.Series(cluster))


@cache
def estimates(
    kind: str, design: str, groups: int, alone: str = "", metrics: Any = "all"
) -> dict[Any, dict[str, Any]]:
    """Return the estimates of groups, by metric, group and where they are measured."""
    question = {**QUESTIONS[kind], **DESIGNS[design], "metrics": metrics, "replicates": 50}
    if kind == "binary" and "cluster" in question:
        question = {name: each for name, each in question.items() if name not in ("score",)}
    if kind == "binary":
        question.pop("features")
    if kind == "multiclass":
        question["metrics"] = AMONG_CLASSES
    sensitive = {"group": [[alone]]} if alone else "group"
    found = fg.audit(rows(groups), sensitive=sensitive, **question).to_dict()["estimates"]
    places = ("metric", "group", "scope", "stratum", "class_scope", "class", "average")
    return {tuple(row[place] for place in places): row for row in found}


def numbers(row: dict[str, Any]) -> list[Any]:
    """Return value, limits, p-value and status of an estimate; infinities as numbers."""
    values = (row[field] for field in FIELDS)
    return [real(value) if value in ("Infinity", "-Infinity") else value for value in values]


@pytest.mark.parametrize(
    ("kind", "design", "groups"),
    [("binary", "default", 2), ("multiclass", "clusters", 3), ("regression", "default", 3)],
)
def test_a_group_alone_is_as_it_is_beside_others(kind: str, design: str, groups: int) -> None:
    beside, alone = estimates(kind, design, groups), estimates(kind, design, groups, "g1")
    compared = [
        (key, numbers(row), numbers(beside[key]))
        for key, row in alone.items()
        if key[1] == "g1" and row["reference_kind"] in ("others", "overall")
    ]
    assert sum(mine[1] is not None for _, mine, _ in compared) > FEWEST
    differing = [each for each in compared if not close(each[1], each[2])]
    assert not differing, f"{len(differing)} of {len(compared)}, such as {differing[:3]}"


@pytest.mark.parametrize(
    ("kind", "design", "alone"),
    [
        ("binary", "default", False),
        ("binary", "bayes", True),
        ("regression", "clusters and weights", False),
        ("multiclass", "clusters", True),
    ],
)
def test_group_and_reference_mirror_each_other(kind: str, design: str, alone: bool) -> None:
    one, other = (estimates(kind, design, 2, name if alone else "") for name in ("g1", "g2"))
    pairs = [
        (key, mirrored(row), numbers(other[key[0], "g2", *key[2:]]))
        for key, row in one.items()
        if key[1] == "g1" and has_mirror(row) and row["reference_kind"] == "others"
    ]
    assert sum(mine[1] is not None for _, mine, _ in pairs) > FEWEST
    problems = [each for each in pairs if not close(each[1], each[2])]
    assert not problems, f"{len(problems)} of {len(pairs)}, such as {problems[:3]}"


@pytest.mark.each_value
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("rate", "complement"), COMPLEMENTS)
def test_a_rate_and_its_complement_mirror_each_other(
    rate: str, complement: str, design: str
) -> None:
    found = estimates("binary", design, 3, metrics=OF_COMPLEMENTS)
    checked = 0
    for key, row in found.items():
        if key[0] != f"{rate}.difference":
            continue
        value, low, high, *others = numbers(row)
        expected = [None if x is None else -x for x in (value, high, low)]
        assert close([*expected, *others], numbers(found[f"{complement}.difference", *key[1:]]))
        checked += low is not None
    assert checked >= 3


ODDS = [name for name in ENTRIES if is_odds_ratio(BUILT_IN.metric(name))]


@pytest.mark.parametrize("design", [name for name in DESIGNS if name not in ("bayes", "bootstrap")])
@pytest.mark.parametrize("zero", [False, True])
def test_odds_ratios_of_either_outcome_mirror_each_other(design: str, zero: bool) -> None:
    """Nothing but its direction depends on which outcome is called positive."""
    data = rows(3)
    if zero:  # nobody of the last group is predicted positive
        is_last = pl.col("group") == "g3"
        data = data.with_columns(prediction=pl.when(is_last).then(0).otherwise("prediction"))
    question = {**QUESTIONS["binary"], **DESIGNS[design], "sensitive": "group", "metrics": ODDS}
    of_one, of_other = (
        fg.audit(
            data, **{**question, "score": None, "features": None, "positive": positive}
        ).to_dict()["estimates"]
        for positive in (1, 0)
    )
    checked = 0
    for one, other in zip(of_one, of_other, strict=True):
        mine, yours = numbers(one), mirrored(other)
        assert close(mine, yours), (one["metric"], one["group"], one["scope"], mine, yours)
        checked += one["low"] is not None
    assert checked > 3 * len(ODDS)


def test_counts_of_distinct_scores_have_the_intervals_of_the_rows() -> None:
    """Engines that do not read rows again, such as PostgreSQL and Spark, have the same limits."""
    rng = np.random.default_rng(8)
    data = table(5, 240).with_columns(score=pl.Series(rng.permutation(480)[:240] / 480 + 0.0003))
    asked = {
        "label": "label", "score": "score", "threshold": 0.5, "positive": 1, "sensitive": "group",
    }  # fmt: skip
    by_rows = {"top_selection_ratio", "exposure_ratio"}
    for more in ({}, {"weight": "w"}):
        question = {**asked, **more, "metrics": "all", "replicates": 50}
        of_rows, of_counts = (
            fg.audit(each, **question).to_dict() for each in (data, fg.count(data, **question))
        )
        for one, other in zip(of_rows["estimates"], of_counts["estimates"], strict=True):
            if one["metric"] not in by_rows:
                assert close(numbers(one), numbers(other)), (one["metric"], one["group"])
        for one, other in zip(of_rows["groups"], of_counts["groups"], strict=True):
            for name, rate in one["rates"].items():
                mine, yours = ([row[k] for k in FIELDS[:3]] for row in (rate, other["rates"][name]))
                assert close(mine, yours), name
