"""What became of a sealed bundle that is verified."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from fairgauge.render.grammar import english
from fairgauge.render.words.display_names import called
from fairgauge.results.report import NAME_OF_SIGNATURE, DifferentNumber, Verification

_MOST_LISTED = 20
_LONG, _CONTEXT = 120, 40
"""Characters: texts that are shown in part, and how much before the place where they differ."""


def describe_verification(found: Verification) -> str:
    """Return what a verification comes to, in a few lines."""
    far = found.largest_deviation
    text = english().say(
        "verification",
        "text",
        v=found,
        finding=str(found.finding),
        name=called(found.name),
        digits=math.floor(-math.log10(far)) if far else None,
        unsigned=NAME_OF_SIGNATURE in found.changed,
        different=[*_number_lines(found.different)],
        otherwise=[*_number_lines(found.texts)],
    )
    return text or ""


def _number_lines(different: Sequence[DifferentNumber]) -> Iterator[str]:
    for each in different[:_MOST_LISTED]:
        sealed, other = _quote_difference(each.sealed, each.recomputed)
        facts: dict[str, Any] = {
            "subject": each.subject,
            "path": each.path,
            "sealed": sealed,
            "other": other,
        }
        yield english().say("verification", "different", **facts) or ""
    if (more := len(different) - _MOST_LISTED) > 0:
        yield english().say("verification", "more", n=more) or ""


def _quote_difference(one: str, other: str) -> tuple[str, str]:
    if max(len(one), len(other)) <= _LONG:
        return called(one), called(other)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    start = max(0, same - _CONTEXT)
    mark = "…" if start else ""
    return f"{mark}{called(one[start:])}", f"{mark}{called(other[start:])}"
