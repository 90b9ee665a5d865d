"""What became of files: of a sealed bundle that is verified, and of two that are joined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from fairgauge.errors import form_of, quote
from fairgauge.render.grammar import english
from fairgauge.render.words.display_names import called
from fairgauge.results.verification import NAME_OF_SIGNATURE, DifferentNumber, Verification
from fairgauge.scan.label_join import DisjointIdentifiers, JoinCounts

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
        different=[*_compared(found.different)],
        otherwise=[*_compared(found.texts)],
    )
    return text or ""


def _compared(different: Sequence[DifferentNumber]) -> Iterator[str]:
    for each in different[:_MOST_LISTED]:
        sealed, other = _around_difference(each.sealed, each.recomputed)
        facts: dict[str, Any] = {
            "subject": each.subject,
            "path": each.path,
            "sealed": sealed,
            "other": other,
        }
        yield english().say("verification", "different", **facts) or ""
    if (more := len(different) - _MOST_LISTED) > 0:
        yield english().say("verification", "more", n=more) or ""


def _around_difference(one: str, other: str) -> tuple[str, str]:
    if max(len(one), len(other)) <= _LONG:
        return called(one), called(other)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    start = max(0, same - _CONTEXT)
    mark = "…" if start else ""
    return f"{mark}{called(one[start:])}", f"{mark}{called(other[start:])}"


def describe_join(counts: JoinCounts) -> Iterator[str]:
    """Yield what was written, and everything that was put aside."""
    g, written = english(), counts.written
    yield g.say("join", "written", n=written, labelled=written - counts.unlabelled) or ""
    for field, text in g.table["join"]["aside"].items():
        if rows := getattr(counts, field):
            yield g.made(text).render(n=rows)


def describe_disjoint(found: DisjointIdentifiers) -> str:
    """State that two files have no identifier in common, and what to look at."""
    sides = (quote(form_of(each)) for each in (found.predictions, found.labels))
    facts: dict[str, Any] = dict(zip(("predictions", "labels"), sides, strict=True))
    return english().say("join", "disjoint", **facts) or ""
