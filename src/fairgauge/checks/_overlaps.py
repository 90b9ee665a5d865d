"""Groups that contain one another, as a subtotal does its parts: their people count twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import add, gt, le, sub

import numpy as np

from fairgauge.cube.cube import Cube, counts_together
from fairgauge.enums import DiagnosticCode
from fairgauge.identity import GroupId, group_names
from fairgauge.question import category_words as words
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import group_columns
from fairgauge.results.scopes import Diagnostic

# how many such sums are expected by coincidence, at most, and how many are tried
_COINCIDENCES, _MOST_TRIED = 0.04, 20_000
# what published counts are rounded to, at least: 5 or 10
_ROUNDED_TO = 5
# what part of its size a group may be larger or smaller by, at least: a standard deviation
_SPREAD = 0.25
# how near sums of amounts are that differ by rounding alone, and the coincidences among them
_ROUNDED, _OF_AMOUNTS = 1e-9, 1e-6


def groups_that_overlap(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of groups whose every count is the sum of those of others, whatever they are called."""
    for grouping in group_columns(cube, spec).values():
        axis, outcomes = grouping.axis, cube.plan.outcomes
        if len(grouping.groups) < 3 or not counts_together(cube, axis, *outcomes):
            continue
        table = cube.marginal([axis, *outcomes])
        table = table.where(grouping.group_of[table.codes[:, 0]] >= 0)
        of_group, several = grouping.group_of[table.codes[:, 0]], len(grouping.groups)
        cell = np.unique(table.codes[:, 1:], axis=0, return_inverse=True)[1].ravel()
        cells = np.zeros((several, int(cell.max(initial=-1)) + 1), dtype=np.int64)
        np.add.at(cells, (of_group, cell), table.cases.astype(np.int64))
        amounts = [np.bincount(of_group, table.sums[each], several).tolist()
                   for each in ("y", "p") if each in table.sums]  # fmt: skip
        for at, parts in sums_of_others(cells.tolist(), amounts):
            names = group_names([GroupId.of(each) for each in grouping.groups])
            if not words.is_total(names[at], names):  # of which another check warns
                yield Diagnostic.warning(
                    DiagnosticCode.GROUPS_THAT_OVERLAP, axis.column, value=names[at],
                    parts=tuple(names[each] for each in sorted(parts)),
                    rows=int(cells[at].sum()), **spec.unit,
                )  # fmt: skip


def sums_of_others(
    cells: Sequence[Sequence[int]], amounts: Sequence[Sequence[float]] = ()
) -> list[tuple[int, list[int]]]:
    """Return the groups whose every cell is the sum of those of others, with the numbers of these.

    What coincidence makes so is not returned: few or rounded counts, and groups of nearly one size.

    >>> sums_of_others([[8_011, 91_989], [5_402, 24_598], [4_203, 25_797], [9_605, 50_395]])
    [(3, [1, 2])]
    >>> sums_of_others([[20_060, 48_430], [28_420, 60_440], [39_500, 91_960], [67_930, 152_390]])
    [(3, [1, 2])]
    >>> sums_of_others([[80, 920], [50, 250], [40, 260], [90, 510]])
    []
    """
    sizes = [sum(of) for of in cells]
    unit, *units = [math.gcd(*of) or 1 for of in (sizes, *zip(*cells, strict=True))]
    held = sorted((at for at, n in enumerate(sizes) if n), key=lambda at: -sizes[at])
    found = []
    for at in held:
        n, others = sizes[at], [each for each in held if each != at]
        smaller = [each for each in others if sizes[each] <= n]
        rounded = [each * (each >= _ROUNDED_TO) for each in units]
        parts, inexact = _parts_of(cells, at, smaller, [0] * len(units)), False
        if not parts and any(rounded):
            parts, inexact = _parts_of(cells, at, smaller, rounded), True
        if len(parts) < 2:
            continue
        several = len(parts)
        odds = float(several + 2) ** len(units) if inexact else 1.0  # as many sums are near enough
        if several < len(held) - 1:  # else it may be half of all by design
            odds *= len(held) * math.comb(len(smaller), several)
            odds /= max(1.0, 2.5 * _SPREAD * n * math.sqrt(several) / unit)
        for cell in range(len(cells[at]) - 1):  # the last follows from the others
            share = cells[at][cell] / n
            apart = n * _deviation(
                [cells[each][cell] / sizes[each] for each in others], [sizes[e] for e in others]
            )
            spread = math.sqrt(n * share * (1 - share) + apart**2 / several)
            odds /= max(1.0, 2.5 * spread / units[cell])
        for of in amounts:
            largest = max(abs(of[each]) for each in [at, *parts])
            if abs(of[at] - sum(of[each] for each in parts)) > _ROUNDED * largest:
                odds = 1.0
            elif largest:
                odds *= _OF_AMOUNTS
        if odds < _COINCIDENCES:
            found.append((at, sorted(parts)))
    return found


def _deviation(numbers: Sequence[float], weights: Sequence[float]) -> float:
    every = list(zip(numbers, weights, strict=True))
    mean = sum(x * w for x, w in every) / sum(weights)
    return math.sqrt(sum(w * (x - mean) ** 2 for x, w in every) / sum(weights))


def _parts_of(
    cells: Sequence[Sequence[int]], at: int, others: Sequence[int], rounded: Sequence[int]
) -> list[int]:
    # the first groups found, the largest tried first, whose cells add up to those of one, but for
    # what they are ``rounded`` to
    rest = [[0] * len(cells[at])]  # what all groups from each on have together
    for each in reversed(others):
        rest.insert(0, [*map(add, cells[each], rest[0])])
    most = [each * (len(others) + 1) / 2 for each in rounded]  # that later ones may make up for
    open_: list[tuple[int, list[int], list[int]]] = [(0, list(cells[at]), [])]
    for _ in range(_MOST_TRIED // (len(others) + 1)):
        if not open_:
            return []
        start, left, parts = open_.pop()
        near = [each * (len(parts) + 1) / 2 for each in rounded]
        if len(parts) > 1 and all(map(le, map(abs, left), near)):
            return parts
        if start == len(others) or any(map(gt, left, map(add, rest[start], most))):
            continue
        open_.append((start + 1, left, parts))
        this = cells[others[start]]
        if all(map(le, this, map(add, left, most))):
            open_.append((start + 1, [*map(sub, left, this)], [*parts, others[start]]))
    return []
