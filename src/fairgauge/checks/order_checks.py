"""Orders that counts show without words: places among scores, and rows that are lists of their own.

What decides is written in plain loops over numbers, so that another language can take it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.catalogue.directions import AMOUNTS
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import WHOLE
from fairgauge.enums import DiagnosticCode, Role
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import Value, is_number

_FEWEST_PLACES = 20
# Of the square root of the rows: by coincidence scores stay within it in 1 of 100,000 tables (the
# distribution of Kolmogorov's statistic at 0.3)
_NEAR = 0.3
_FEWEST_LISTS, _FEWEST_SHUFFLED = 10, 20
_UNLIKE = 3  # times as long as another list, from which on lengths are not alike
_EVEN = 0.25  # of the variance of random counts, up to which lengths are no coincidence


def are_places(
    low: Sequence[float], high: Sequence[float], rows: Sequence[int], sizes: Sequence[int] = ()
) -> bool:
    """Return whether scores are places: a permutation of 1 to n, also with ties, or most of it.

    ``low, high, rows``: of the intervals of scores that occur, in ascending order.
    ``sizes``: how many rows each list has where there are several, with places of their own.

    >>> are_places(range(1, 31), range(1, 31), [1] * 30), are_places([1, 2], [1, 2], [20, 10])
    (True, False)
    """
    total = sum(rows)
    if total < _FEWEST_PLACES:
        return False
    shift = 1 if low[0] == 0 else 0  # places that begin at 0
    near = max(_NEAR * total**0.5 - 2, 0)  # less what ties and whole numbers leave open
    before, tied, single, equal = 0, True, True, True
    for i in range(len(rows)):
        after = before + rows[i]
        tied = tied and low[i] + shift <= after + near and high[i] + shift >= before + 1 - near
        single = single and rows[i] == 1 and low[i] == high[i]
        equal = equal and rows[i] == rows[0] and low[i] == high[i] == low[0] + i
        before = after
    most_of_all = single and 2 * total >= high[-1] + shift and high[-1] - low[0] <= WHOLE
    places_of_lists = equal and low[0] + shift == 1 and len(rows) >= _FEWEST_LISTS
    return tied or most_of_all or places_of_lists or _are_places_of(sizes, high, rows, shift, near)


def _are_places_of(
    sizes: Sequence[int], high: Sequence[float], rows: Sequence[int], shift: int, near: float
) -> bool:
    if len(sizes) < 2:
        return False
    longest = max(sizes)
    ending = [0] * (longest + 1)
    for size in sizes:
        ending[size] += 1
    have, expected, held, place = len(sizes), 0, 0, 0  # lists that are as long as the place
    for i in range(len(rows)):
        held += rows[i]
        while place < high[i] + shift and place < longest:
            place += 1
            expected += have
            have -= ending[place]
        if high[i] + shift > longest or abs(held - expected) > near:
            return False
    return True


def count_lists(values: Sequence[Value], complete: bool) -> int:
    """Return how many lists of like length the values of a column make; 0 where they are none.

    ``complete``: whether these are all rows; otherwise the last list may be cut off.

    >>> count_lists([row // 5 for row in range(100)], True), count_lists(range(100), True)
    (20, 0)
    """
    lengths: dict[Value, int] = {}
    blocks, ordered, before = 0, True, None
    for value in values:
        if value is None or (isinstance(value, float) and not value.is_integer()):
            return 0
        if value != before:
            blocks += 1
            ordered = ordered and (before is None or _is_before(before, value))
            before = value
        lengths[value] = lengths.get(value, 0) + 1
    every = [*lengths.values()]
    together = blocks == len(every)
    if not complete:
        every = every[:-1] if together else []
    if len(every) < (_FEWEST_LISTS if together else _FEWEST_SHUFFLED):
        return 0
    mean, variance = sum(every) / len(every), 0.0
    for length in every:
        variance += (length - mean) ** 2 / len(every)
    if mean < 2:
        return 0
    alike = together and not ordered and max(every) <= _UNLIKE * min(every)
    return len(every) if alike or variance <= _EVEN * mean else 0


def _is_before(first: Value, second: Value) -> bool:
    if is_number(first) and is_number(second):
        return float(str(first)) < float(str(second))
    return str(first) < str(second)


def places_as_scores(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of scores that are places, of which the first is the best, unless it is stated."""
    axis = cube.plan.axis(Role.SCORE, spec.score)
    if axis is None or spec.favourable in AMOUNTS or spec.weight or spec.count:
        return
    table = cube.marginal([axis]).known([axis])
    low, high = axis.edges(table.codes[:, 0], cube.levels[axis])
    order = low.argsort(kind="stable")
    rows = table.sums["rows"][order].astype(int)
    sizes: list[int] = []
    if spec.list and (lists := cube.plan.axis(Role.CLUSTER)):
        sizes = cube.marginal([lists]).known([lists]).sums["rows"].astype(int).tolist()
    if len(rows) and are_places(low[order].tolist(), high[order].tolist(), rows.tolist(), sizes):
        yield Diagnostic.warning(
            DiagnosticCode.PLACES_AS_SCORES, column=spec.score, rows=int(rows.sum()), **spec.unit
        )
