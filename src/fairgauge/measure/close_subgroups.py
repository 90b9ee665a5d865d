"""What a list of subgroups discloses: the few people by whom one differs from one that holds it.

People who know both counts know how many these are, and what became of them.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

from fairgauge.results.subgroup_search import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from _typeshed import DataclassInstance

    from fairgauge.results.subgroup_search import Subgroup

    Shown = TypeVar("Shown", bound=DataclassInstance)

_COUNTS = ("rows", "n", "events")
_NEAREST = ("rate", "reference_rate", "difference", "p_adjusted")
_DOWN, _UP = ("low", "by_at_least"), ("high", "by_at_most", "by_at_most_of_large")


def with_few_disclosed(found: dict[str, Any], min_cell: int | None) -> dict[str, Any]:
    """Return the fields of a search as they are listed, and how many subgroups are close.

    Of ``close`` subgroups one differs from a listed one that holds it, or from all rows, by fewer
    than ``min_cell`` people, or than the usual number. Where ``min_cell`` is stated these are not
    listed; counts are then rounded to its multiples, rates to whole percentages, and the evidence
    and the rows that are needed, which follow from them, too.
    """
    overall = found["overall"]
    every = {each.name: each for each in (*found["worse"], *found["undecided"])}
    by_conditions: dict[frozenset[tuple[str, str]], Subgroup] = {}
    close: dict[str, str | None] = {}
    for each in sorted(every.values(), key=lambda each: len(each.conditions)):
        for holding in (overall, *_holding(each, by_conditions)):
            apart = holding.rows - each.rows, holding.n - each.n
            if any(0 < people < (min_cell or FEW) for people in apart):
                close[each.name] = None if holding is overall else holding.name
                break
        if min_cell is None or each.name not in close:
            by_conditions[frozenset(each.conditions.items())] = each
    if min_cell is None:
        return found | {"close": len(close)}
    kept = {name: each for name, each in every.items() if name not in close}
    lists = {
        kind: tuple(
            _rounded(_explained(each, close, kept), min_cell)
            for each in found[kind]
            if each.name in kept
        )
        for kind in ("worse", "undecided")
    }
    largest, funnel = found["largest"], found["funnel"]
    if largest.guaranteed in close:
        largest = replace(largest, guaranteed=next((each.name for each in lists["worse"]), None))
    return found | lists | {
        "close": len(close),
        "overall": _rounded(overall, min_cell),
        "largest": _rounded(largest, min_cell),
        "detectable": tuple(_rounded(each, min_cell) for each in found["detectable"]),
        "funnel": replace(
            funnel,
            marks=tuple(_rounded(each, min_cell) for each in funnel.marks),
            edge=tuple(_rounded(each, min_cell) for each in funnel.edge),
        ),
    }  # fmt: skip


def _holding(
    each: Subgroup, listed: Mapping[frozenset[tuple[str, str]], Subgroup]
) -> Iterator[Subgroup]:
    """Yield the listed subgroups that some of the conditions of one make."""
    for k in range(1, len(each.conditions)):
        for some in combinations(each.conditions.items(), k):
            if (holding := listed.get(frozenset(some))) is not None:
                yield holding


def _explained(
    each: Subgroup, close: Mapping[str, str | None], kept: Mapping[str, Subgroup]
) -> Subgroup:
    """Return a subgroup that is explained by one that is listed: in place of one close to it."""
    by = each.explained_by
    if by is None or by in kept:
        return each
    instead = close.get(by)
    if instead is None or instead == each.name:
        return replace(each, explained_by=None)
    member = kept[instead].explained_by if instead in kept else None
    return replace(each, explained_by=member if member in kept else instead)


def rounded_count(number: float, base: int) -> int:
    """Return the nearest multiple of a base.

    >>> rounded_count(594, 10), rounded_count(3, 10)
    (590, 0)
    """
    return round(number / base) * base


def _rounded(shown: Shown, base: int) -> Shown:
    """Return rounded numbers; what is guaranteed stays so."""
    how: dict[str, Callable[[float], float]] = {
        **dict.fromkeys(_COUNTS, lambda count: rounded_count(count, base)),
        **dict.fromkeys(_NEAREST, lambda share: round(share, 2)),
        **dict.fromkeys(_DOWN, lambda share: math.floor(100 * share) / 100),
        **dict.fromkeys(_UP, lambda share: math.ceil(100 * share) / 100),
        "evidence": lambda root: round(root, 1),
        "rows_needed": lambda rows: int(float(f"{rows:.2g}")),
    }
    held = {each.name: getattr(shown, each.name) for each in fields(shown)}
    changed: dict[str, Any] = {
        name: how[name](value) for name, value in held.items() if name in how and value is not None
    }
    return replace(shown, **changed)
