"""Every number that a statement states stands in the result where its sources say."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.every_result import RESULTS, result

import fairgauge as fg
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.directions import disparity
from fairgauge.statements.audit import audit_page


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


AUDITS = [
    name for name in RESULTS
    if isinstance(result(name), fg.Report) and result(name).task == "binary"
]  # fmt: skip


@pytest.mark.parametrize("name", AUDITS)
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
    every = plain["candidates"][0]["disparities"]
    moved = [each["direction"] for each in every if each["significant"]]
    return [moved.count("closer"), moved.count("further"), len(every)]


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


def test_no_statement_contradicts_a_table_or_another_statement() -> None:
    """Counts are those of the tables; a side has one number of people and one that is worse off."""
    counted = set()
    for name in RESULTS:
        plain = result(name).to_dict()
        stated: dict[str, set[object]] = {}
        for s in within(plain["statements"]):
            if (count := COUNTS.get(s["code"])) is not None:
                counted.add(s["code"])
                assert (
                    len({json.dumps(each, sort_keys=True) for each in count(s["facts"], plain)})
                    == 1
                ), s
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
        assert {key: of for key, of in stated.items() if len(of) > 1} == {}, name
    assert counted == COUNTS.keys()
