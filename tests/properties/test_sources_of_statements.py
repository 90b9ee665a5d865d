"""Every number that a statement states stands in the result where its sources say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.every_result import RESULTS, result


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
