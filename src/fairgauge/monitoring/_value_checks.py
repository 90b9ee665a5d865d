"""Checks of values: which are new, vanished, or spelt in another way than before."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.monitoring._suspected import (
    DEVIATIONS,
    DRIFT,
    FEWEST_PERIODS,
    RARE,
    RECENT_PERIODS,
    WEEK,
    Suspected,
    all_among,
    dispersion,
    kind_of,
)
from fairgauge.monitoring.periods import Period
from fairgauge.results.monitor_results import HistoryProblem
from fairgauge.values import spelling

_FEWEST_ROWS = 5
_CLUSTER = 10.0
"""Until the periods show it, rows are supposed to come in tens with the same values."""


def check_values_of_columns(
    periods: Sequence[Period], counted: Sequence[CountedRows]
) -> Iterator[Suspected]:
    """Yield values that are new, vanished or spelt in another way than before."""
    for column in dict.fromkeys(name for each in counted for name in each.values):
        held = [each.values.get(column, {}) for each in counted]
        sizes = [sum(each.values()) for each in held]
        yield from _spellings(column, held)
        yield from _vanished(column, periods, held, sizes)
        yield from _new_values(column, held, sizes)
    for t, each in enumerate(counted):
        for column, values in each.new_values.items():
            for value in values:
                yield Suspected(t, HistoryProblem.NO_POSITIVE, column, value)


def _spellings(column: str, held: Sequence[Mapping[str, int]]) -> Iterator[Suspected]:
    """Yield values that read like one of more rows, each in all periods like the same one."""
    total: dict[str, int] = {}
    for values in held:
        for value, rows in values.items():
            total[value] = total.get(value, 0) + rows
    largest: dict[str | Decimal, str] = {}
    for value in sorted(total, key=lambda each: -total[each]):
        largest.setdefault(_reads(value), value)
    for t, values in enumerate(held):
        for value, rows in values.items():
            if (known := largest[_reads(value)]) != value:
                yield Suspected(t, HistoryProblem.SPELLING, column, value, known, rows)


def _reads(value: str) -> str | Decimal:
    """Return what two spellings of a value share: the number, or the text but for case, spaces.

    Digits with leading zeros are codes: "01" may be another one than "1".
    """
    text = spelling(value)
    return Decimal(text) if re.fullmatch(r"[+-]?(0|[1-9][0-9]*)([.][0-9]+)?", text) else text


class _Before(NamedTuple):
    """The rows of a value and of all, in periods of a kind before it was absent, and since."""

    rows: int
    every: int
    dispersion: float

    def log_chance(self, absent: int) -> float:
        """Return how probable it is that so many more rows do not have the value either."""
        if not self.rows < self.every:
            return 0.0
        return all_among(self.rows, self.every, self.every + absent) / self.dispersion


def _vanished(
    column: str,
    periods: Sequence[Period],
    held: Sequence[Mapping[str, int]],
    sizes: Sequence[int],
) -> Iterator[Suspected]:
    """Yield values that the rows of successive periods would have, and that none of them has.

    They are compared with the 14 periods of their kind before. Where the share of a value varies
    by period more than sampling does, its absence is as much less unlikely.
    """
    kinds = [kind_of(each) for each in periods]

    varied: dict[tuple[int, int], float] = {}

    def before(value: str, begin: int, kind: int) -> _Before:
        window = (s for s in range(begin - 1, -1, -1) if kinds[s] == kind)
        alike = [*itertools.islice(window, RECENT_PERIODS)]
        if len(alike) < 2:
            return _Before(0, 0, 1.0)
        if (begin, kind) not in varied:
            varied[begin, kind] = _of_column(held, sizes, alike)
        counts = [(held[s].get(value, 0), sizes[s]) for s in alike]
        of, every = (sum(each) for each in zip(*counts, strict=True))
        return _Before(of, every, dispersion([counts], varied[begin, kind]))

    absent: dict[str, list[int]] = {}
    usual: dict[str, dict[int, _Before]] = {}
    for t, values in enumerate(held):
        for value in values:
            absent.pop(value, None)
        for value in (v for v in (held[t - 1] if t else ()) if v not in values):
            absent[value], usual[value] = [], {}
        for value, missed in absent.items():
            share = usual[value]
            if kinds[t] not in share:
                share[kinds[t]] = before(value, (missed or [t])[0], kinds[t])
            known = _unlikely(share, kinds, sizes, missed)
            missed.append(t)
            if _unlikely(share, kinds, sizes, missed):
                for s in missed[-1:] if known else missed:
                    like = share[kinds[s]]
                    yield Suspected(
                        s, HistoryProblem.VANISHED_VALUE, column, value,
                        rows=sizes[s], expected=sizes[s] * like.rows / max(like.every, 1),
                    )  # fmt: skip


def _unlikely(
    usual: Mapping[int, _Before], kinds: Sequence[int], sizes: Sequence[int], absent: Sequence[int]
) -> bool:
    """Return whether the absence of a value from some periods is no coincidence."""
    rows = dict.fromkeys(usual, 0)
    for s in absent:
        rows[kinds[s]] += sizes[s]
    return sum(each.log_chance(rows[kind]) for kind, each in usual.items()) < RARE


def _of_column(
    held: Sequence[Mapping[str, int]], sizes: Sequence[int], periods: Sequence[int]
) -> float:
    """Return by how much the shares of the values of a column vary more than by sampling."""
    values = dict.fromkeys(value for s in periods for value in held[s])
    series = ([(held[s].get(value, 0), sizes[s]) for s in periods] for value in values)
    return dispersion(series, _CLUSTER)


def _new_values(
    column: str, held: Sequence[Mapping[str, int]], sizes: Sequence[int]
) -> Iterator[Suspected]:
    """Yield values that come for the first time, with too many rows for a rare one.

    As the shares of the values before vary more than sampling does, so may that of a rare one.
    """
    known: set[str] = set(held[0])
    spelt = {_reads(value) for value in known}
    for t in range(1, len(held)):
        new = [v for v, rows in held[t].items() if v not in known and rows >= _FEWEST_ROWS]
        new = [v for v in new if t >= FEWEST_PERIODS and _reads(v) not in spelt]
        if new:
            varied = _of_column(held, sizes, range(max(t - 2 * RECENT_PERIODS, 0), t))
            for value in new:
                chance = all_among(held[t][value], sizes[t], sum(sizes[: t + 1]))
                if chance / varied < RARE:
                    yield from _since_new(column, value, t, held, sizes)
        known.update(held[t])
        spelt.update(_reads(value) for value in held[t])


def _since_new(
    column: str,
    new: str,
    at: int,
    held: Sequence[Mapping[str, int]],
    sizes: Sequence[int],
) -> Iterator[Suspected]:
    """Yield a new value as long as another has fewer rows than before, as of two spellings.

    The last seven periods with the new value are held against the two weeks before it.
    """
    before = range(max(at - RECENT_PERIODS, 0), at)
    of_all = sum(sizes[s] for s in before)
    usual = {v: sum(held[s].get(v, 0) for s in before) / of_all for v in held[at - 1]}
    last, instead = at, None
    for t in range(at, len(held)):
        recent = range(max(at, t - WEEK + 1), t + 1)
        rows = sum(sizes[s] for s in recent)
        if not held[t].get(new) or not rows:
            continue
        less = {
            value: share - sum(held[s].get(value, 0) for s in recent) / rows
            for value, share in usual.items()
        }
        value = max(less, key=lambda each: less[each])
        share = usual[value]
        sampling = math.sqrt(share * (1 - share) * (1 / rows + 1 / of_all))
        if less[value] > max(DRIFT, DEVIATIONS * sampling):
            last, instead = t, value
    for t in range(at, last + 1):
        rows = held[t].get(new, 0)
        if not rows:
            continue
        if instead is None:
            yield Suspected(t, HistoryProblem.NEW_VALUE, column, new, rows=rows)
        else:
            since = range(at, last + 1)
            share = sum(held[s].get(instead, 0) for s in since) / sum(sizes[s] for s in since)
            yield Suspected(
                t, HistoryProblem.NEW_VALUE, column, new, instead, rows, share, usual[instead]
            )
