"""Renaming: what groups, classes, strata and columns are called changes names and nothing else.

Invariant 1 of the architecture, through the public API: every metric set and several verbs, under
names that are our own words, that hold our separators, that read alike once they are joined, and in
any alphabetical order. Ties that names might decide are in `test_references_tied.py`.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_every_verb import differences
from test_invariants import AMONG_CLASSES
from test_invariants import table as of_invariants
from tests.needs import EVERY_CASE

import fairgauge as fg

Names = dict[tuple[str, str], str]
"""What a group is, in the words of the first table, by the names of its feature and itself."""

GROUPS, SECOND, STRATA = ("g1", "g2", "g3"), ("s1", "s2"), ("t1", "t2")
CLASSES = ("c1", "c2", "c3")
COLUMNS = ("group", "second", "third", "stratum")

VALUES = (*GROUPS, *SECOND, *STRATA, *CLASSES)
OUR_WORDS = (
    "others", "(missing)", "overall", "all", "best", "pooled", "population", "worst", "macro",
    "micro",
)  # fmt: skip
OTHER_WORDS = (
    "largest", "rest", "none", "weighted", "reference", "missing", "mean", "known", "a", "b",
)  # fmt: skip
WITH_SEPARATORS = (
    "not A", "(40, inf)", '"A, B"', "A, B", "not not A", "[x] & y", "*", "a or b", "not a", "a, b",
)  # fmt: skip
BIJECTIONS: dict[str, dict[str, str]] = {
    "that read alike when crossed": dict(
        zip((*GROUPS, *SECOND), ("A & B", "A", "B", "C", "B & C"), strict=True)
    ),
    "our words": dict(zip(VALUES, OUR_WORDS, strict=True)),
    "other words of ours": dict(zip(VALUES, OTHER_WORDS, strict=True)),
    "our separators": dict(zip(VALUES, WITH_SEPARATORS, strict=True)),
    "the other way round": {
        old: new
        for values in (GROUPS, SECOND, STRATA, CLASSES)
        for old, new in zip(values, reversed(values), strict=True)
    },
    "columns that read like an intersection": {"group": "a*b", "second": "a", "third": "b"},
    "columns of our words": {
        "group": "others", "second": "overall", "third": "label", "stratum": "all",
    },
}  # fmt: skip

NOT_COMPARED = {
    "says", "brief", "sentence", "message", "reason", "rule", "spec", "data", "created", "command",
    "fingerprint", "digest", "diagnostics", "doubts", "parameters", "source", "document", "columns",
    "statements",
}  # fmt: skip
"""Texts for people, and what was asked: names stand in them."""
OF_GROUPS = ("group", "reference", "other", "mirror_of", "mirror")
TYPED = {"feature_columns", "group_values", "reference_values"}


@cache
def table(seed: int = 0, rows: int = 160) -> pl.DataFrame:
    """Return rows of two features, a copy of one, strata, and outcomes of three kinds."""
    rng = np.random.default_rng([seed, 1])
    data = of_invariants(seed, rows, groups=GROUPS, strata=" ".join(STRATA)).drop("n", "w")
    second, label = rng.choice(SECOND, rows, p=[0.6, 0.4]), data["label"].to_numpy()
    candidate = np.where(rng.random(rows) < 0.8, label, 1 - label)
    return data.with_columns(
        second=pl.Series(second), third=pl.Series(second), candidate=pl.Series(candidate)
    )


def renamed_table(names: Mapping[str, str], seed: int = 0) -> pl.DataFrame:
    """Return the table with other values and columns."""
    data = table(seed)
    texts = [column for column in data.columns if data[column].dtype == pl.String]
    data = data.with_columns(pl.col(texts).replace(dict(names)))
    # through names that no column has: another column may have the name already
    found = {column: names[column] for column in data.columns if column in names}
    taken = {column: f"{column} of the data" for column in data.columns if column in found.values()}
    return data.rename({column: taken.get(column, column) for column in data.columns}).rename(
        {taken.get(column, column): name for column, name in found.items()}
    )


def asked(names: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """Return the question of two features and their intersections in other names."""
    moved = {names[c] for c in COLUMNS if c in names and names[c] in table().columns}

    def column(name: str) -> str:
        return names.get(name, f"{name} of the data" if name in moved else name)

    group, second, third, stratum = map(column, COLUMNS)
    crossed = [(group, second), (second, third)]
    return {
        "sensitive": [group, second],
        # classes multiply the metrics: the columns whose names collide are enough of them
        "intersections": crossed[1:] if more.get("task") == "multiclass" else crossed,
        "strata": stratum,
        "replicates": 20,
        **{key: [column(c) for c in value] if isinstance(value, list) else column(value)
           if key in ("label", "prediction", "score", "candidate") else value
           for key, value in more.items()},
    }  # fmt: skip


def what_groups_are(plain: Mapping[str, Any], back: Mapping[Any, str]) -> Names:
    """Return what the groups of a report are in the words of the first table; names are unique."""
    names: Names = {}
    for row in [*plain["groups"], *plain["totals"]]:
        values = [[back.get(v, v) for v in part] for part in row["group_values"] or ()]
        columns = [back.get(column, column) for column in row["feature_columns"]]
        what = json.dumps([columns, row["group_kind"], values])
        assert names.setdefault((row["feature"], row["group"]), what) == what
    assert len(set(names.values())) == len(names)
    return names


def columns_of(feature: str, names: Names) -> Any:
    """Return the columns of a feature in the words of the first table."""
    return next((json.loads(what)[0] for (of, _), what in names.items() if of == feature), feature)


def in_first_words(node: Any, names: Names, back: Mapping[Any, str], feature: str = "") -> Any:
    """Return a result with what groups, strata and classes are in place of their names."""
    if isinstance(node, dict):
        # a change names its mirror beside the two estimates that name the feature
        of = node["new"] if isinstance(node.get("new"), dict) else node
        feature = of.get("feature") or feature
        of_feature = {name: what for (of, name), what in names.items() if of == feature}
        words: dict[str, Any] = {}
        for key, value in node.items():
            if key in NOT_COMPARED or key in TYPED:
                continue
            if key == "counted":  # names are what it lists
                words[key] = sorted([each["role"], each["rows"], each["cases"]] for each in value)
            elif key in OF_GROUPS:
                words[key] = of_feature.get(value, value)
            elif key == "groups" and all(isinstance(each, str) for each in value):
                words[key] = sorted(of_feature.get(each, each) for each in value)
            elif key == "feature":
                words[key] = columns_of(value, names)
            elif key == "features" and all(isinstance(each, str) for each in value):
                words[key] = [columns_of(each, names) for each in value]
            elif key in ("stratum", "class", "worst_class", "adjusted_for") and value is not None:
                words[key] = back.get(value, value)
            else:
                words[key] = in_first_words(value, names, back, feature)
        return words
    if isinstance(node, list):
        parts = [in_first_words(each, names, back, feature) for each in node]
        return sorted(parts, key=subject) if all(isinstance(p, dict) for p in parts) else parts
    return node


def subject(row: Mapping[str, Any]) -> str:
    """Return what a row is of: everything but its numbers."""

    def texts(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: texts(each) for key, each in value.items()}
        if isinstance(value, list):
            return [each for each in value if isinstance(each, str)]
        return value if isinstance(value, str) or value is None else ""

    return json.dumps(texts(row), sort_keys=True)


METRICS = "all" if EVERY_CASE else [each.name for each in fg.metrics() if each.set != "rate"][::3]
QUESTIONS: dict[str, dict[str, Any]] = {
    "binary": {
        "label": "label", "prediction": "prediction", "score": "score", "positive": 1,
        "features": ["x"], "metrics": METRICS, "rules": ["selection_rate.ratio >= 0.8"],
    },
    "multiclass": {
        "label": "true", "prediction": "predicted", "task": "multiclass",
        "metrics": "all" if EVERY_CASE else AMONG_CLASSES,
        "strata": None,
    },
    "regression": {
        "label": "amount", "prediction": "estimate", "task": "regression", "metrics": "all",
    },
    "largest": {
        "label": "label", "prediction": "prediction", "positive": 1, "reference": "largest",
        "metrics": ["standard", "clarify", "vertex"], "missing": "group",
    },
}  # fmt: skip


@cache
def answers(which: str | None, question: str, verb: str) -> tuple[Any, ...]:
    names = BIJECTIONS[which] if which else {}
    back = {new: old for old, new in names.items()}
    options = asked(names, **QUESTIONS[question])
    data = renamed_table(names)
    if verb == "audit":
        report = fg.audit(data, **options).to_dict()
        known = what_groups_are(report, back)
        return in_first_words(report, known, back), known
    _, known = answers(which, question, "audit")
    if verb != "count":  # of which all metrics are compared, as of an audit
        options["metrics"] = ["standard", "clarify", "vertex"] if EVERY_CASE else ["standard"]
    if verb == "count":
        counted = {key: value for key, value in options.items() if key != "features"}
        return in_first_words(fg.audit(fg.count(data, **counted)).to_dict(), known, back), known
    if verb == "compare":
        report = fg.audit(data, **options)
        other = fg.audit(renamed_table(names, seed=1), **options)
        return in_first_words(fg.compare(report, other).to_dict(), known, back), known
    if verb == "compare_models":
        for name in ("score", "features", "strata", "rules"):
            options.pop(name, None)
        found = fg.compare_models(data, candidate="candidate", **options)
        return in_first_words(found.to_dict(), known, back), known
    for name in ("prediction", "metrics", "features", "strata", "rules"):
        options.pop(name)
    found = fg.thresholds(data, **options, threshold=0.5, rules=["selection_rate.ratio >= 0.8"])
    return in_first_words(found.to_dict(), known, back), known


def check(which: str, question: str, verb: str) -> None:
    before, groups = answers(None, question, verb)
    after, others = answers(which, question, verb)
    assert sorted(groups.values()) == sorted(others.values())
    found = differences(before, after)
    assert not found, f"{len(found)} differences: {found[:8]}"


FEWER = {
    "binary": ("that read alike when crossed", "our separators", "columns of our words"),
    "multiclass": ("columns that read like an intersection",),
    "regression": ("our words", "the other way round"),
}
"""What renames the questions with all metrics in make test; the other one has all of them."""
AUDITS = [
    (which, question)
    for question in QUESTIONS
    for which in BIJECTIONS
    if (question != "multiclass" or which.startswith("columns"))
    and (EVERY_CASE or question == "largest" or which in FEWER[question])
]
"""Of classes the first name decides which of two groups with equal rates is named."""


@pytest.mark.each_value
@pytest.mark.parametrize(("which", "question"), AUDITS)
def test_names_change_nothing_of_an_audit(which: str, question: str) -> None:
    check(which, question, "audit")


CROSSED, *_, OF_COLUMNS, _ = BIJECTIONS


@pytest.mark.each_value
@pytest.mark.parametrize("which", [CROSSED, OF_COLUMNS])
@pytest.mark.parametrize("verb", ["count", "compare", "compare_models", "thresholds"])
def test_names_change_nothing_of_other_results(which: str, verb: str) -> None:
    check(which, "binary", verb)
