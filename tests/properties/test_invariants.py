"""The invariants of the architecture, over every metric of the catalogue.

Written against the public API alone (`fg.audit`, `fg.count`, `report.to_dict`, the command line),
so that they hold whatever the internals look like. Every audit of the properties below asks for
all metrics, but those of several classes: for every third one, unless every case is tried.
"""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.cases import one_of_each
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.cli import main

METRICS = tuple(entry.name for entry in fg.metrics() if entry.set != "rate")
ENTRIES = {entry.name: entry for entry in fg.metrics() if entry.set != "rate"}

ASKED = tuple(n for n in METRICS if BUILT_IN.metric(n).needs <= {"label", "prediction"})
"""The metrics that may be named where there are labels and predictions alone."""
AMONG_CLASSES = ASKED if EVERY_CASE else ASKED[::3]

SENTENCES = ("says", "reason", "sentence", "rule")
"""Fields that are text for people: names stand in them, so they are not compared."""

PROPERTY = settings(
    deadline=None, max_examples=2, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


# the tables and the questions


def table(
    seed: int, rows: int, *, groups: Iterable[str] = ("g1", "g2", "g3"), strata: str = "s1 s2"
) -> pl.DataFrame:
    """Return rows with groups, strata, two and three classes, scores, amounts and weights."""
    rng = np.random.default_rng(seed)
    names = list(groups)
    group = np.append(names, rng.choice(names, rows - len(names)))  # no group is empty
    label = rng.integers(0, 2, rows)
    classes = np.array(["c1", "c2", "c3"])
    true = rng.integers(0, 3, rows)
    right = rng.random(rows) < 0.65
    return pl.DataFrame(
        {
            "group": group, "stratum": rng.choice(strata.split(), rows), "label": label,
            "prediction": np.where(right, label, 1 - label),
            "score": np.round(np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1), 2),
            "true": classes[true],
            "predicted": classes[np.where(right, true, rng.integers(0, 3, rows))],
            "amount": np.round(rng.normal(10, 3, rows), 1),
            "estimate": np.round(rng.normal(10, 3, rows), 1),
            "x": np.round(rng.normal(0, 1, rows), 1), "n": rng.integers(1, 4, rows),
            "w": rng.integers(1, 9, rows) / 4.0,
        }
    )  # fmt: skip


COMMON: dict[str, Any] = {"sensitive": "group", "metrics": "all", "replicates": 50}
QUESTIONS: dict[str, dict[str, Any]] = {
    "binary": {
        "label": "label", "prediction": "prediction", "score": "score", "positive": 1,
        "strata": "stratum", "features": ["x"],
    },
    "multiclass": {
        "label": "true", "prediction": "predicted", "task": "multiclass",
        "metrics": "all" if EVERY_CASE else list(AMONG_CLASSES),
    },
    "regression": {"label": "amount", "prediction": "estimate", "task": "regression"},
}  # fmt: skip
KINDS = pytest.mark.parametrize("kind", QUESTIONS)


def ask(kind: str, data: Any, **more: Any) -> fg.Report:
    return fg.audit(data, **{**COMMON, **QUESTIONS[kind], **more})


@cache
def answer(kind: str, groups: int = 3, method: str = "default", random: int = 0) -> dict[str, Any]:
    """Return the audit of the first table as plain values; made once for all properties."""
    names = [f"g{i + 1}" for i in range(groups)]
    return ask(kind, table(0, 90, groups=names), method=method, seed=random).to_dict()


# how two answers are compared


def code_of(reason: Any) -> Any:
    """Return the code of a reason, which names nobody; a sentence counts as being there."""
    return reason.get("code") if isinstance(reason, dict) else bool(reason)


def facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without its sentences."""
    kept = {key: value for key, value in row.items() if key not in SENTENCES}
    return {**kept, "reason": code_of(row.get("reason"))}


def numbers(answer: Mapping[str, Any], *parts: str) -> list[dict[str, Any]]:
    """Return the rows of an answer without sentences; a rate of a group is a row of its own."""
    parts = parts or ("groups", "estimates", "pairs", "verdicts")
    rows = []
    for part in parts:
        for row in answer.get(part, []):
            rates = row.get("rates", {})
            own = {key: value for key, value in facts(row).items() if key != "rates"}
            rows.append(own | {"part": part})
            names = {key: own.get(key) for key in (*IDENTITY, "group") if key in own}
            rows += [
                names | facts(rate) | {"part": "rate", "rate": name} for name, rate in rates.items()
            ]
    return rows


def close(one: Any, other: Any) -> bool:
    """Tell whether two plain values are the same, numbers up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-8, abs_tol=1e-9)
    return one == other


IDENTITY = (
    "part", "metric", "rate", "feature", "group", "reference", "other", "stratum", "scope",
    "class", "class_scope", "average", "reference_kind", "threshold",
)  # fmt: skip


def identity(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a row is of: everything that is no number."""
    return tuple(row.get(field) for field in IDENTITY)


def by_identity(rows: Iterable[Any]) -> dict[tuple[Any, ...], list[Any]]:
    found: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        found.setdefault(identity(row), []).append(row)
    return found


def differences(one: Iterable[Any], other: Iterable[Any]) -> list[str]:
    """Return where two answers differ; the order of their rows does not matter."""
    mine, yours = by_identity(one), by_identity(other)
    found = [f"only in one: {key}" for key in mine.keys() ^ yours.keys()]
    for key in mine.keys() & yours.keys():
        here, there = mine[key], yours[key]
        if len(here) > 1:
            here, there = (sorted(rows, key=str) for rows in (here, there))
        if not close(here, there):
            found.append(f"{key}: {changes(here[0], there[0])}")
    return found


def changes(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {k: (one[k], other.get(k)) for k in one if not close(one[k], other.get(k))}


def same(one: Iterable[Any], other: Iterable[Any]) -> None:
    found = differences(one, other)
    assert not found, f"{len(found)} differ, such as {found[:3]}"


def real(value: Any) -> float:
    """Return a number of the JSON, whose infinities are strings."""
    return float(value)


# (a) names


ONCE = settings(PROPERTY, max_examples=1)


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("kind", "column", "words"),
    [
        ("binary", "group", ("others", "overall", "rest")),
        ("binary", "group", ("group", "largest", "stratum")),
        ("binary", "stratum", ("overall", "pooled")),
        ("multiclass", "class", ("macro", "weighted", "worst")),
        ("multiclass", "class", ("micro", "none", "worst")),
    ],
)
def test_every_estimate_can_be_told_from_every_other(
    kind: str, column: str, words: tuple[str, ...]
) -> None:
    """No two estimates are of the same thing, and none compares a group with itself."""
    columns = ["true", "predicted"] if column == "class" else [column]
    names = dict(zip(sorted(table(0, 90)[columns[0]].unique()), words, strict=False))
    data = table(0, 90).with_columns(pl.col(*columns).replace_strict(names))
    estimates = ask(kind, data).to_dict()["estimates"]
    repeated = [key for key, times in Counter(map(identity, estimates)).items() if times > 1]
    assert not repeated, repeated[:3]
    itself = [
        row
        for row in estimates
        if row["group"] == row["reference"] in words and "reference_kind" not in row
    ]
    assert not itself, itself[:1]


# (b) mirror


METHODS = ("default", "exact", "bayes", "bootstrap")


def turned(entry: Any, value: Any) -> Any:
    """Return a number as it is from the other side: minus it, or one over it, or itself."""
    if value is None:
        return None
    number = real(value)
    if entry.neutral == 1:
        return math.inf if number == 0 else 1 / number
    return number if real(entry.range[0]) == 0 else -number


def mirrored(row: Mapping[str, Any]) -> list[Any]:
    """Return value, interval and p-value as the other group should have them."""
    entry = ENTRIES[row["metric"]]
    ends = [turned(entry, row["high"]), turned(entry, row["low"])]
    if entry.neutral == 0 and real(entry.range[0]) == 0:
        ends.reverse()  # a distance is the same from both sides
    return [turned(entry, row["value"]), *ends, row["p_value"], row["status"]]


ONE_SIDED = ("FT", "KL", "kl")
"""By definition not the same, nor the opposite, from the other side."""


def has_mirror(row: Mapping[str, Any]) -> bool:
    """Tell whether a metric compares two groups symmetrically, on counts."""
    entry = ENTRIES[row["metric"]]
    return (
        entry.neutral in (0, 1)
        and row["feature"] is not None
        and row["group"] in ("g1", "g2")
        and row["metric"].split(".")[-1].split("(")[0] not in ONE_SIDED
    )


# (c) one answer


OUTCOME = re.compile(r"\b(PASS|FAIL|INCONCLUSIVE)\W{1,20}\d+ of \d+ rule")
CODES = {"pass": 0, "none": 0, "fail": 1, "inconclusive": 3}


def loan_like(recall: float, seed: int = 0, rows: int = 400) -> pl.DataFrame:
    """Return a table in which group g2 is selected at a rate of its own."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["g1", "g2"], rows // 2)
    selected = rng.random(rows) < np.where(group == "g1", 0.6, 0.6 * recall)
    return pl.DataFrame(
        {"group": group, "label": rng.integers(0, 2, rows), "prediction": selected.astype(int)}
    )


RULES = {
    "pass": ["selection_rate.ratio >= 0.1"],
    "fail": ["selection_rate.ratio >= 0.9", "selection_rate.difference >= -0.9"],
    "inconclusive": ["selection_rate.ratio >= 0.5"],
    "none": [],
}


def plain(text: str) -> str:
    """Return text without markup."""
    return re.sub(r"<style.*?</style>|<script.*?</script>|<[^>]+>", " ", text, flags=re.DOTALL)


@pytest.mark.parametrize("outcome", RULES)
def test_all_formats_and_the_exit_code_agree(outcome: str, tmp_path: Path) -> None:
    loan_like(0.5).write_csv(tmp_path / "rows.csv")
    names = ("report.json", "report.html", "report.md", "report.xml", "report.csv", "report.txt")
    args = [
        "audit", str(tmp_path / "rows.csv"), "--label", "label", "--prediction", "prediction",
        "--sensitive", "group", "--metrics", "standard",
        *(part for rule in RULES[outcome] for part in ("--rule", rule)),
        *(part for name in names for part in ("-o", str(tmp_path / name))),
    ]  # fmt: skip
    done = CliRunner().invoke(main, args)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verdict"] == outcome
    assert done.exit_code == CODES[outcome]
    outcomes = Counter(verdict["outcome"].replace("_", " ") for verdict in report["verdicts"])

    for name in ("report.txt", "report.html", "report.md"):
        shown = OUTCOME.search(plain((tmp_path / name).read_text()))
        if outcome == "none":
            assert shown is None or shown[1].lower() == "none", name
        else:
            assert shown, name
            assert shown[1].lower() == outcome, name

    (suite,) = ET.fromstring((tmp_path / "report.xml").read_text()).iter("testsuite")
    assert int(suite.get("tests", "")) == outcomes.total() == len(list(suite.iter("testcase")))
    assert int(suite.get("failures", "")) == outcomes["fail"] == len(list(suite.iter("failure")))
    skipped = outcomes.total() - outcomes["fail"] - outcomes["pass"]
    assert int(suite.get("skipped", "")) == skipped == len(list(suite.iter("skipped")))

    shown_rows = list(csv.DictReader(io.StringIO((tmp_path / "report.csv").read_text())))
    assert len(shown_rows) == len(report["estimates"])
    for shown_row, row in zip(shown_rows, report["estimates"], strict=True):
        assert shown_row["metric"] == row["metric"]
        assert shown_row["value"] == ("" if row["value"] is None else str(row["value"]))
        assert shown_row["status"] == row["status"]


@pytest.mark.parametrize("mapped", ["pass", "fail"])
def test_what_inconclusive_is_mapped_to_is_one_answer(mapped: str, tmp_path: Path) -> None:
    """``--inconclusive fail``: JUnit, JSON and the exit code all fail."""
    loan_like(0.5).write_csv(tmp_path / "rows.csv")
    args = [
        "audit", str(tmp_path / "rows.csv"), "--label", "label", "--prediction", "prediction",
        "--sensitive", "group", "--rule", RULES["inconclusive"][0], "--inconclusive", mapped,
        "-o", str(tmp_path / "report.json"), "-o", str(tmp_path / "report.xml"),
    ]  # fmt: skip
    done = CliRunner().invoke(main, args)
    assert done.exit_code == CODES[mapped]
    (suite,) = ET.fromstring((tmp_path / "report.xml").read_text()).iter("testsuite")
    assert (int(suite.get("failures", "")) > 0) == (mapped == "fail")
    report = fg.load(tmp_path / "report.json")
    assert (report.verdict, report.exit_code) == (mapped, done.exit_code)


OF_ROWS = (
    "FT", "consistency", "exposure_ratio", "label_quarter", "median_label.difference",
    "median_label.ratio", "top_selection_ratio",
)  # fmt: skip
"""Metrics that compare or rank single rows: no counts hold them."""


def from_counts(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what counts can answer too."""
    return [row for row in numbers(answer) if row.get("metric") not in OF_ROWS]


@KINDS
def test_counts_answer_the_question_that_they_were_made_for(kind: str, tmp_path: Path) -> None:
    """The question is kept with the counts: metrics, rules, level, method and seed."""
    asked: dict[str, Any] = {
        **COMMON, **QUESTIONS[kind], "score": None, "confidence": 0.9, "seed": 3,
        "metrics": ["standard", "CI", "vertex.difference_in_population_size"],
        "rules": [fg.rule("CI", at_most=0.9)],
    }  # fmt: skip
    data = table(2, 90)
    fg.count(data, **asked).save(tmp_path / "table.cube.json")
    cube = fg.load(tmp_path / "table.cube.json")
    rows, counts = fg.audit(data, **asked).to_dict(), fg.audit(cube).to_dict()
    same(from_counts(rows), from_counts(counts))
    assert rows["verdict"] == counts["verdict"] != "none"
    assert rows["data"]["fingerprint"] == counts["data"]["fingerprint"]


@KINDS
def test_counts_and_rows_have_one_answer(kind: str) -> None:
    """Every metric that counts hold, asked again by name."""
    asked = {**COMMON, **QUESTIONS[kind], "score": None}
    data = table(2, 90)
    cube = fg.count(data, **asked)
    same(
        from_counts(fg.audit(data, **asked).to_dict()),
        from_counts(fg.audit(cube, **unasked(kind)).to_dict()),
    )


# (d) nothing passes by absence


def check_no_pass_by_absence(report: fg.Report, rules: list[Any]) -> None:
    """A pass rests on a defined estimate of that metric; a rule without any is not forgotten."""
    found = report.to_dict()
    usable = {
        (row["metric"], row["feature"], row["group"])
        for row in found["estimates"]
        if row["status"] == "ok" and row["value"] is not None
    }
    for verdict in found["verdicts"]:
        if verdict["outcome"] == "pass":
            assert (verdict["metric"], verdict["feature"], verdict["group"]) in usable, verdict
    if rules:
        assert found["verdict"] != "none"
    judged = {verdict["metric"] for verdict in found["verdicts"]}
    if not {rule.metric for rule in rules} <= judged:
        missing = sorted({rule.metric for rule in rules} - judged)
        assert found["verdict"] not in ("pass", "none"), f"no verdict for {missing[:5]}"
    if found["verdict"] == "pass":
        assert all(verdict["outcome"] == "pass" for verdict in found["verdicts"])


def whole_range(metric: str) -> tuple[float, float]:
    """Return limits that all values but the lowest meet; a rule that all meet is refused."""
    low, high = np.clip(BUILT_IN.metric(metric).range, -1e300, 1e300).tolist()
    return float(np.nextafter(low, high)), high


@pytest.mark.each_value
@KINDS
@pytest.mark.parametrize("decide", ["interval", "point"])
@ONCE
@given(seed=st.integers(0, 9), groups=st.sampled_from([["g1"], ["g1", "g2", "g3"]]))
def test_no_metric_passes_without_an_estimate(
    kind: str, decide: str, seed: int, groups: list[str]
) -> None:
    """A table of few rows, or of one group, in which much is undefined.

    Nearly every number meets these rules: only what is absent can keep them from passing.
    """
    applies = {
        row["metric"] for row in answer(kind)["estimates"] if row["status"] != "not_applicable"
    }
    rules = [
        fg.rule(name, between=whole_range(name), decide=decide)
        for name in METRICS
        if name in applies
    ]
    few = table(seed, len(groups) + 5, groups=groups)
    check_no_pass_by_absence(ask(kind, few, rules=rules), rules)


def kind_of_metric(name: str) -> tuple[Any, ...]:
    metric = BUILT_IN.metric(name)
    return type(metric), metric.set, getattr(metric, "by", None)


@pytest.mark.parametrize("metric", one_of_each(kind_of_metric, METRICS))
def test_each_rule_alone_does_not_pass_by_absence(metric: str) -> None:
    """One group alone: a rule about a comparison of groups has nothing to be judged by."""
    rules = [fg.rule(metric, between=whole_range(metric))]
    try:
        report = fg.audit(ONE_GROUP, metrics=[metric], rules=rules, replicates=50)
    except fg.SpecError:
        return  # exit code 2, which is no pass
    check_no_pass_by_absence(report, rules)


ONE_GROUP = fg.confusion("group", {"g1": {"tp": 30, "fp": 20, "fn": 25, "tn": 25}})


def outcome_of(rule: Any, **more: Any) -> str | None:
    """Return the verdict of an audit with one rule, None where the question is refused."""
    try:
        report = fg.audit(
            table(0, 90),
            **{**COMMON, **QUESTIONS["binary"], "metrics": ["DPPL"], "rules": [rule], **more},
        )
    except fg.FairgaugeError:
        return None  # exit code 2
    return str(report.to_dict()["verdict"])


@pytest.mark.parametrize("decide", ["interval", "point"])
@pytest.mark.parametrize(
    ("metric", "limits", "more"),
    [
        ("DPPL", {"groups": ["g9"]}, {}),
        ("DPPL", {"features": ["stratum"]}, {}),
        ("DPPL", {"features": ["nowhere"]}, {}),
        ("RD", {}, {"label": None, "score": None}),
        ("roc_auc.difference", {}, {"score": None}),
        ("FT", {}, {"features": None}),
        ("CDDPL", {}, {"strata": None}),
        ("DPPL", {}, {"sensitive": "one"}),
    ],
)
def test_a_rule_that_matches_nothing_is_no_pass(
    metric: str, limits: dict[str, Any], more: dict[str, Any], decide: str
) -> None:
    rule = fg.rule(metric, between=whole_range(metric), decide=decide, **limits)
    assert outcome_of(rule, **more) in (None, "inconclusive", "not_evaluated", "fail")


def unasked(kind: str) -> dict[str, Any]:
    """Return what is asked of counts, which hold the rest."""
    names = ("metrics", "replicates")
    return {name: {**COMMON, **QUESTIONS[kind]}[name] for name in names}


# (f) undefined is a status with a reason


@KINDS
def test_every_metric_is_answered(kind: str) -> None:
    """Asked for all metrics, a report has an estimate of each, with a value or a reason."""
    asked = {"metrics": "all", "replicates": 5}
    found = ask(kind, table(0, 90), **asked).to_dict()
    assert {row["metric"] for row in found["estimates"]} == set(METRICS)
