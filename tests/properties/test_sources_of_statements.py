"""Every number that a statement states stands in the result where its sources say."""

import math
import re
from collections.abc import Iterator
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
