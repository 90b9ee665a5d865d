"""Sentences: a result describes itself, alone and in every format, before and after it is saved.

An estimate, a pair, a verdict and a diagnostic hold the rows of their metrics. What they say cannot
then depend on where they are asked: not for a metric of one's own, and not where selection rates
are scoring rates.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_invariants import AMONG_CLASSES, table
from test_invariants import PROPERTY as OF_INVARIANTS
from tests.every_result import RESULTS, result

import fairgauge as fg
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.directions import disparity
from fairgauge.render import render
from fairgauge.statements.audit import audit_page

PROPERTY = settings(OF_INVARIANTS, max_examples=6)
ROWS = table(3, 400)
ALL = fg.TP + fg.FP + fg.FN + fg.TN
CELLS = (fg.TP, fg.FP, fg.FN, fg.TN)
COMPARED = ("difference", "ratio", "largest_gap", "smallest_ratio", "minimum")


def own_metrics() -> list[Any]:
    missed = fg.rate("miss_share", of=fg.FN, among=ALL, better="lower", says="the share missed")
    odds = fg.quotient("error_odds", over=fg.FP + fg.FN, under=fg.TP + fg.TN)
    share = fg.statistic(
        lambda tp, fp, fn, tn: (fn + tn) / (tp + fp + fn + tn),
        name="negative_share", nonzero=ALL, range=(0, 1), share=True,
    )  # fmt: skip
    compared = [missed.compared(by) for by in COMPARED]
    return [*compared, odds.compared("ratio"), share.compared("difference")]


AUDITS: dict[str, dict[str, Any]] = {
    "all metrics": {
        "label": "label", "prediction": "prediction", "score": "score", "strata": "stratum",
        "metrics": "all",
        "rules": ["DI >= 0.8", "accuracy >= 0.9", "true_positive_rate.largest_gap <= 0.1"],
    },
    "own metrics": {
        "label": "label", "prediction": "prediction", "metrics": own_metrics(),
        "rules": [fg.rule(own_metrics()[0], between=(-0.05, 0.05)),
                  fg.rule(own_metrics()[0].of, at_most=0.1), "accuracy.ratio >= 0.9"],
    },
    "median": {
        "score": "score", "threshold": "median", "reference": "best",
        "metrics": ["selection_rate", "DI", "DPPL", "selection_rate.largest_gap", "vertex.dpppl",
                    "selection_smd_overall"],
        "rules": ["selection_rate.ratio >= 0.8", "selection_rate >= 0.6", "DI >= 0.9"],
    },
    "classes": {
        "label": "true", "prediction": "predicted", "metrics": AMONG_CLASSES,
        "rules": ["true_positive_rate.difference >= -0.1"],
    },
    "numbers": {"label": "amount", "prediction": "estimate", "metrics": "all"},
}  # fmt: skip


@cache
def audit(name: str) -> fg.Report:
    return fg.audit(ROWS, sensitive="group", **AUDITS[name])


def sentences(report: fg.Report) -> dict[str, list[str]]:
    """Return every sentence of a report, as its results say it."""
    return {
        "estimates": [each.says for each in report.estimates],
        "verdicts": [each.says for each in report.verdicts],
        "diagnostics": [each.message for each in report.diagnostics],
    }


def check_sentences(report: fg.Report, folder: Path) -> None:
    told = sentences(report)
    report.save(folder / "report.json")
    loaded = fg.load(folder / "report.json")
    assert isinstance(loaded, fg.Report)
    assert sentences(loaded) == told
    assert loaded.to_dict() == report.to_dict()
    for kind in ("text", "markdown", "html", "junit", "csv"):
        assert render(loaded, kind) == render(report, kind)
    table = list(csv.DictReader(io.StringIO(render(report, "csv"))))
    assert [each["says"] for each in table] == told["estimates"]


@pytest.mark.parametrize("name", AUDITS)
def test_a_result_says_the_same_alone_in_every_format_and_when_it_is_read(name, tmp_path):
    check_sentences(audit(name), tmp_path)


def sum_of(cells: set[Any]) -> Any:
    return reduce(add, sorted(cells, key=CELLS.index))


@PROPERTY
@given(
    of=st.sets(st.sampled_from(CELLS), min_size=1, max_size=3),
    bys=st.sets(st.sampled_from(COMPARED), min_size=1),
    kind=st.sampled_from(["rate", "quotient"]),
    limit=st.floats(0.05, 0.95),
)
def test_any_metric_of_ones_own_says_the_same_everywhere(of, bys, kind, limit, tmp_path_factory):
    cells = sum_of(of)
    if kind == "rate":
        own = fg.rate("our_share", of=cells, among=ALL)
    else:
        own = fg.quotient("our_odds", over=cells, under=sum_of(set(CELLS) - of))
    metrics = [own.compared(by) for by in sorted(bys)]
    report = fg.audit(
        ROWS, label="label", prediction="prediction", sensitive="group", metrics=metrics,
        rules=[fg.rule(metrics[0], at_least=limit), fg.rule(own, at_least=limit)],
    )  # fmt: skip
    check_sentences(report, tmp_path_factory.mktemp("own"))
    title = own.name.replace("_", " ")
    stated = [each.says for each in report.estimates if each.value is not None]
    assert stated
    assert all(title in text.lower() and own.name not in text for text in stated)


# ---- every number that a statement states stands in the result where its sources say
def numbers_in(held: Any) -> Iterator[float]:
    if isinstance(held, dict):
        held = list(held.values())
    if isinstance(held, list):
        for each in held:
            yield from numbers_in(each)
    elif isinstance(held, (int, float)) and not isinstance(held, bool):
        yield held
    elif held in ("Infinity", "-Infinity"):
        yield float(held)


def at(plain: Any, source: str) -> Any:
    for key in re.findall(r"[^.\[\]]+", source):
        plain = plain[int(key) if isinstance(plain, list) else key]
    return plain


def stated_numbers(statement: dict[str, Any]) -> Iterator[float]:
    ends = statement.get("interval", {})
    ends = [] if ends.get("low") == ends.get("high") else [ends["low"], ends["high"]]
    sides = (statement.get(side) or {} for side in ("who", "than"))
    rates = [side["rate"] for side in sides if side.get("rate") is not None]
    yield from numbers_in([*ends, *rates, statement.get("value")])


def stands_in(number: float, known: list[float]) -> bool:
    # as it is, or of the other side: negated, inverted, or the share without the outcome
    of_other = (1 / number if number else math.inf, -number, 1 - number)
    return any(math.isclose(a, b, abs_tol=1e-9) for a in (number, *of_other) for b in known)


def without_source(plain: Any, statement: dict[str, Any], above: list[str]) -> Iterator[Any]:
    sources = statement.get("sources") or above
    known = [*numbers_in([at(plain, source) for source in sources])]
    for number in stated_numbers(statement):
        if not stands_in(number, known):
            yield statement["code"], number, sources
    for part in statement.get("statements", ()):
        yield from without_source(plain, part, sources)


@pytest.mark.parametrize("name", RESULTS)
def test_numbers_of_statements_stand_at_their_sources(name: str) -> None:
    """Those of `adjusted`, `judged` and `why_headline` did not."""
    plain = result(name).to_dict()
    assert sum("headline" in each["part"] for each in plain["statements"]) == 1
    for statement in plain["statements"]:
        assert [*without_source(plain, statement, [])] == []


def starred(report: fg.Report) -> set[tuple[Any, ...]]:
    """Return the differences, or ratios alone, of groups that have a star in a table."""
    found: dict[tuple[Any, ...], dict[str, bool]] = {}
    for each in report.estimates:
        row = each.definition
        native = isinstance(row, Contrast) and each.set in ("native", "own")
        if native and each.scope.kind == "overall" and each.mirror_of is None:
            ends, neutral = each.simultaneous or (0, 0), row.neutral
            star = each.status == "ok" and not min(ends) <= neutral <= max(ends)
            key = each.feature, each.threshold, each.group, disparity(row.of)
            found.setdefault(key, {})[row.by] = star
    return {key for key, by in found.items() if by.get("difference", by.get("ratio"))}


AUDITS_SOURCES = [
    name for name in RESULTS
    if isinstance(result(name), fg.Report) and result(name).task == "binary"
]  # fmt: skip


@pytest.mark.parametrize("name", AUDITS_SOURCES)
def test_statements_of_a_first_page_agree_with_its_tables(name: str) -> None:
    """Counts of differences, who is worse off, and what is called shown."""
    report = result(name)
    page = [s for s in audit_page(report).statements if s.code in ("headline", "differs", "more")]
    counted = next((s.facts["n"] for s in page if s.code == "more"), 0)
    stated = [s for s in page if s.code == "differs" and s.shown]
    if report.findings:
        assert counted + len(stated) == len(starred(report)), name
    for s in stated:
        (place,) = (re.fullmatch(r"estimates\[(\d+)\]", source) for source in s.sources)
        estimate = report.estimates[int(place[1])]
        ends = estimate.simultaneous
        assert ends is None or not min(ends) <= estimate.definition.neutral <= max(ends)
        assert s.harm is None or s.who.rate != s.than.rate


def of_verdicts(plain: dict[str, Any], key: str = "verdicts", name: str = "outcome") -> Counter:
    return Counter(str(each[name]) for each in plain[key])


def of_changes(plain: dict[str, Any]) -> list[object]:
    # a gap that is seen as a ratio and as a difference is one, and so is that of two groups
    went: dict[object, set[str]] = {}
    for each in plain["candidates"][0]["disparities"]:
        pair = frozenset({each["group"], each.get("mirror") or each["reference"]})
        gap = each["metric"].split(".")[0], each["feature"], pair
        went.setdefault(gap, set()).add(each["direction"] if each["significant"] else "")
    ways = [next((way for way in ("further", "closer") if way in of), "") for of in went.values()]
    return [ways.count("closer"), ways.count("further"), len(ways)]


COUNTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], tuple[object, object]]] = {
    "counted": lambda f, plain: (Counter(f["outcomes"]), of_verdicts(plain)),
    "rules": lambda f, plain: (f["n"], len({each["rule"] for each in plain["verdicts"]})),
    "rows": lambda f, plain: (f["n"], plain["data"].get("cases", plain["data"]["rows"])),
    "counted_changes": lambda f, plain: (
        [f["closer"], f["further"], sum(v for v in f.values() if type(v) is int)],
        of_changes(plain),
    ),
    "candidate": lambda f, plain: ([f["closer"], f["further"]], of_changes(plain)[:2]),
    "both_verdicts": lambda f, plain: (
        (f["stayed"], sum(n for *_, n in f["moves"])), (len(plain["stayed"]), len(plain["flips"]))
    ),
    "monitored": lambda f, plain: (
        (f["n"], f["alarms"]),
        (len(plain["comparisons"]), sum(e["alarm"] is not None for e in plain["comparisons"])),
    ),
    "printed_numbers": lambda f, plain: (
        (f["tables"], f["errors"]), (len(plain["tables"]), plain["errors"])
    ),
    "examined": lambda f, plain: (
        (f["examined"], f["undecided"]),
        (len(plain["worse"]) + plain["undecided_count"] + plain["not_worse_count"],
         len(plain["undecided"])),
    ),
    "swaps_counted": lambda f, plain: (
        {name: f[name.replace(" ", "_")] for name in of_verdicts(plain, "differences", "verdict")},
        of_verdicts(plain, "differences", "verdict"),
    ),
    "alternatives_headline": lambda f, plain: (
        (f["n"], f["shown"]),
        (len(plain["candidates"]), [e["name"] for e in plain["candidates"] if e["shown_for"]]),
    ),
    "history": lambda f, plain: (f["n"], len(plain["findings"])),
    "rows_needed": lambda f, plain: (f["n"], len(plain["needed"])),
}  # fmt: skip
"""What a statement counts, and the same of the tables, by its code."""


def within(statements: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in statements:
        yield each
        yield from within(each.get("statements", []))


def contradictions(plain: dict[str, Any]) -> list[object]:
    """Return what of the statements a table or another statement contradicts."""
    found: list[object] = []
    stated: dict[str, set[object]] = {}
    for s in within(plain["statements"]):
        if (count := COUNTS.get(s["code"])) is not None:
            both = {json.dumps(each, sort_keys=True) for each in count(s["facts"], plain)}
            found += [s] * (len(both) > 1)
        of, at, sides = s.get("of") or {}, s.get("facts") or {}, [s.get("who"), s.get("than")]
        at = [s.get("adjusted_for"), *(at.get(key) for key in ("stratum", "new", "at"))]
        values = [json.dumps(side and [side["kind"], side.get("values")]) for side in sides]
        rate = json.dumps([of.get(key) for key in ("event", "among", "name", "class_")])
        for side, key in zip(sides, (values[:1], values), strict=True):
            if side and "hits" in side:
                shares = stated.setdefault(f"{key} {rate} {at[1:]}", set())
                shares.add((side["hits"], side["n"]))
        if s.get("harm") and s["code"] != "stratum":
            stated.setdefault(f"{values} {rate} {at}", set()).add(s["harm"])
    return found + [(key, of) for key, of in stated.items() if len(of) > 1]


@pytest.mark.parametrize("name", RESULTS)
def test_no_statement_contradicts_a_table_or_another_statement(name: str) -> None:
    """Counts are those of the tables; a side has one number of people and one that is worse off."""
    assert contradictions(result(name).to_dict()) == []


def test_every_count_of_a_statement_is_of_some_result() -> None:
    stated = {s["code"] for name in RESULTS for s in within(result(name).to_dict()["statements"])}
    assert COUNTS.keys() <= stated


def more(statement: dict[str, Any]) -> None:
    key = next(key for key, n in statement["facts"].items() if type(n) is int)
    statement["facts"][key] += 1


def more_people(statement: dict[str, Any]) -> None:
    statement["who"]["hits"] += 1


def the_other_worse_off(statement: dict[str, Any]) -> None:
    statement["harm"] = {"worse": "better", "better": "worse"}[statement["harm"]]


def another_value(statement: dict[str, Any]) -> None:
    statement["value"] += 0.01


def wider(statement: dict[str, Any]) -> None:
    statement["interval"]["high"] += 0.01


PLANTED: dict[str, tuple[Callable[[dict[str, Any]], None], str, str]] = {
    "a count of rules": (more, "loans", "rules"),
    "a count of differences": (more, "models", "counted_changes"),
    "a count of changes of reports": (more, "compared reports", "counted_changes"),
    "a count of comparisons": (more, "alarm", "monitored"),
    "how many were selected": (more_people, "loans", "headline"),
    "who is worse off": (the_other_worse_off, "loans", "headline"),
    "a value": (another_value, "loans", "differs"),
    "an interval": (wider, "loans", "differs"),
}
"""A change of a statement, of a result, of the first statement of a code."""


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_contradiction_is_found(kind: str) -> None:
    change, name, code = PLANTED[kind]
    plain = result(name).to_dict()
    change(next(s for s in plain["statements"] if s["code"] == code))
    unfounded = (each for s in plain["statements"] for each in without_source(plain, s, []))
    assert [*contradictions(plain), *unfounded]
