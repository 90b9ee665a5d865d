"""Checks of columns: values missing more often, new, vanished or spelt otherwise, and groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from fairgauge.monitoring._period_rows import CountedRows, crossed_name
from fairgauge.monitoring.periods import LAGS, Length, Period, kind_of, ordinal, slot_of
from fairgauge.question.recoding import UNKNOWN
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.name_checks import MOST_SPELLED, compact_reading, suggested_names
from fairgauge.results.monitor_results import FEWEST_PERIODS, HistoryProblem, is_gone
from fairgauge.stats.arrays import Array
from fairgauge.values import Value, spelt_nearly

RARE = math.log(1e-6)
"""The log of the probability below which something is no coincidence."""
SHARE = 0.05
WEEK = 7
_DRIFT = 0.03
_DEVIATIONS = 6.0
_RECENT_PERIODS = 14
_SUPPOSED = 4
"""How many degrees of freedom count as showing the variation that is supposed beforehand."""
_FEW = 5
_ODD, _FAR = 4.0, 3
"""How many deviations from the others odd shares are, and how many times these far higher ones."""
_DESIGN, _ALIKE = 3.3, 192
"""Until the periods show it, the variance is supposed to be 3.3 times that of sampling.

With six deviations this is as 10 times with 3.5. A period of more than 634 rows is supposed to vary
as much as one of 192 does by sampling, as shares vary by period however many rows there are.
"""
_FEWEST_ROWS = 5
_INSTEAD = 0.75
"""The part of the rows of a new value that another must have lost to be the same one."""
FIRST = 3
"""Periods that may lack a value by mistake when monitoring begins; after more it is a new one."""
_CLUSTER = 10.0
"""Until the periods show it, rows are supposed to come in tens with the same values."""


OF_ROWS = (HistoryProblem.MISSING_WEIGHTS, HistoryProblem.MISSING_COUNTS)
"""Problems of rows that nobody knows the number of cases or persons of."""


class Suspected(NamedTuple):
    """What may be wrong with one period, by its number."""

    at: int
    problem: HistoryProblem
    column: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    share: float | None = None
    expected: float | None = None


class _SharesByPeriod(NamedTuple):
    """Shares of rows by period, and where they are not the usual ones."""

    rows: Array
    share: Array
    usual: Array
    suspect: Array


def check_missing(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    later: Mapping[str, int],
    overdue: set[str],
    problems: Mapping[str, HistoryProblem],
) -> Iterator[Suspected]:
    """Yield shares of missing values that jump, or that drift from those of the first weeks.

    Labels and predictions may be missing in one group alone: it is then named, also where it is
    too small to move the share of all rows. Periods whose values are not due yet are not looked at.
    ``problems`` states of clusters, weights, counts and groups what rows without one are.
    """
    for column in dict.fromkeys(name for each in counted for name in each.missing):
        due = max(len(counted) - later.get(column, 0), 0)
        if not due:
            continue
        held = counted[:due]
        problem = problems.get(column, HistoryProblem.MISSING_VALUES)
        sizes = [each.read if problem in OF_ROWS else each.rows for each in held]
        every = _shares(periods, [each.missing.get(column, 0) for each in held], sizes)
        named = [*_missing_in_groups(periods, held, column, every)]
        if column in later:
            problem = HistoryProblem.MISSING_LABELS
        yield from (each._replace(problem=problem) for each in named)
        apart = {each.at for each in named}
        for t in np.flatnonzero(every.suspect).tolist():
            if t in apart or (column in later and str(periods[t]) in overdue):
                continue
            yield Suspected(
                t, problem, column, rows=int(every.rows[t]),
                share=float(every.share[t]), expected=float(every.usual[t]),
            )  # fmt: skip


def _missing_in_groups(
    periods: Sequence[Period], counted: Sequence[CountedRows], column: str, every: _SharesByPeriod
) -> Iterator[Suspected]:
    """Yield the groups whose shares of missing values are not usual, where all rows' is not it."""
    for feature in dict.fromkeys(f for each in counted for f in each.lacking.get(column, {})):
        groups = [each.lacking.get(column, {}).get(feature, {}) for each in counted]
        sizes = [each.values.get(feature, {}) for each in counted]
        found: dict[str, _SharesByPeriod] = {}
        for group in dict.fromkeys(name for each in sizes for name in each):
            if not any(group in each for each in groups):
                continue
            missing, rows = ([each.get(group, 0) for each in held] for held in (groups, sizes))
            found[group] = _shares(periods, missing, rows)
        for t in range(len(counted)):
            suspect = {name: each for name, each in found.items() if each.suspect[t]}
            if every.suspect[t] and not any(_apart(each, every, t) for each in suspect.values()):
                continue
            for name, each in suspect.items():
                yield Suspected(
                    t, HistoryProblem.MISSING_VALUES, column, name, feature, int(each.rows[t]),
                    float(each.share[t]), float(each.usual[t]),
                )  # fmt: skip


def _apart(group: _SharesByPeriod, every: _SharesByPeriod, t: int) -> bool:
    """Return whether a group lacks values in another share of its rows than all rows do."""
    variance = every.share[t] * (1 - every.share[t]) / group.rows[t]
    far = max(SHARE, _DEVIATIONS * math.sqrt(variance))
    return bool(abs(group.share[t] - every.share[t]) > far)


def check_group_shares(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    features: Sequence[str],
    unusual: Collection[tuple[str | None, int]],
) -> Iterator[Suspected]:
    """Yield groups whose shares of the rows fall from the usual ones, or rise where none falls.

    Not in periods with an ``unusual`` value of the column, which changes the shares of others: no
    period is compared with these either.
    """
    for column in features:
        held = [
            {} if (column, t) in unusual else each.values.get(column, {})
            for t, each in enumerate(counted)
        ]
        sizes = [sum(each.values()) for each in held]
        found = {
            group: _shares(
                periods, [each.get(group, 0) for each in held], sizes, fewer=True, backward=False
            )
            for group in dict.fromkeys(name for each in held for name in each)
        }
        for t in range(len(held)):
            suspect = {group: each for group, each in found.items() if each.suspect[t]}
            fallen = {g: each for g, each in suspect.items() if each.share[t] < each.usual[t]}
            for group, each in (fallen or suspect).items():
                yield Suspected(
                    t, HistoryProblem.GROUP_SHARE, column, group, rows=sizes[t],
                    share=float(each.share[t]), expected=float(each.usual[t]),
                )  # fmt: skip


def check_crossed(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    columns: Sequence[str],
    unusual: set[tuple[str | None, int]],
) -> Iterator[Suspected]:
    """Yield categories of an intersection that vanish, or whose shares are not the usual ones.

    Not in periods in which a column of it is ``unusual``, which changes its categories, too.
    """
    name = crossed_name(columns)
    held = [{**each.crossed.get(name, {})} for each in counted]
    crossed = [e._replace(values={name: own}) for e, own in zip(counted, held, strict=True)]
    of_columns = {t for column, t in unusual if column in columns}
    vanished = [*_vanished(name, _ColumnRows(periods, held, of_columns))]
    apart = {(name, each.at) for each in vanished}
    for each in (*vanished, *check_group_shares(periods, crossed, [name], apart)):
        if unusual.isdisjoint((column, each.at) for column in columns):
            yield each


def _shares(
    periods: Sequence[Period],
    counted: Sequence[int],
    sizes: Sequence[int],
    *,
    fewer: bool = False,
    backward: bool = True,
) -> _SharesByPeriod:
    """Return shares of rows: what is usual, and which are suspect.

    Each period is compared with those of its kind before it that are not suspect, and ``backward``
    the first ones with those after them, too, where only more may be. With ``fewer`` they may also
    be fewer from the beginning on; otherwise two odd periods hide no far higher share. What does
    not jump may drift.
    """
    rows = np.maximum(sizes, 1).astype(np.float64)
    share, usual = np.array(counted) / rows, np.full(len(rows), np.nan)
    order, counts = [t for t in range(len(sizes)) if sizes[t]], [*zip(counted, sizes, strict=False)]
    at = {ordinal(each): t for t, each in enumerate(periods)}
    known = np.zeros(len(rows), dtype=int)
    for forward, times in ((True, order), (False, order[::-1] if backward else [])):
        alike: dict[int, list[int]] = {}
        for t in times:
            pool = alike.setdefault(kind_of(periods[t]), [])
            others = pool[-_RECENT_PERIODS:]
            known[t] = len(others) if forward else known[t]
            if not np.isnan(usual[t]):
                continue
            looked = (forward or known[t] < _FEW) and not returns(periods, usual, at, t)
            by_weekday: dict[int, list[tuple[int, int]]] = {}
            # of fewer periods the variation within weekdays is not known
            if looked and len(others) == _RECENT_PERIODS:
                for s in others:
                    by_weekday.setdefault(slot_of(periods[s]), []).append(counts[s])
            every, same = [counts[s] for s in others], by_weekday.get(slot_of(periods[t]), [])
            enough = not fewer and len(every) >= FEWEST_PERIODS
            calm = _without_odd(every, counts[t]) if enough else []
            for held, series in ((same, by_weekday.values()), (every, [every]), (calm, [calm])):
                if looked and _differ([counts[t]], held, SHARE, series):
                    ours = sum(of for of, _ in held) / sum(size for _, size in held)
                    if share[t] > ours or fewer or (forward and len(others) >= FEWEST_PERIODS):
                        usual[t] = ours
            if np.isnan(usual[t]):
                pool.append(t)
    _drifts(periods, order, counts, usual)
    return _SharesByPeriod(rows, share, usual, ~np.isnan(usual))


def _without_odd(others: Sequence[tuple[int, int]], one: tuple[int, int]) -> list[tuple[int, int]]:
    """Return other periods without the two highest shares, if these are odd and one is far higher.

    The variation between the odd ones and the others would hide it.
    """
    *calm, _, highest = sorted(others, key=lambda each: each[0] / each[1])
    far = one[0] * highest[1] > _FAR * highest[0] * one[1]
    return calm if far and _differ([highest], calm, 0.0, [calm], _ODD) else []


def returns(periods: Sequence[Period], usual: Array, at: Mapping[int, int], t: int) -> bool:
    """Return whether what was suspected a week before a period may be of its weekday.

    It is if most periods of its kind since then were usual, which are nan. ``at`` has the number of
    a period by its ordinal.
    """
    before = at.get(ordinal(periods[t]) - LAGS[periods[t].length][0], t)
    if np.isnan(usual[before]):
        return False
    since = [s for s in range(before, t) if kind_of(periods[s]) == kind_of(periods[t])]
    return bool(2 * np.isnan(usual[since]).sum() >= len(since) > 0)


def _drifts(
    periods: Sequence[Period],
    order: Sequence[int],
    counts: Sequence[tuple[int, int]],
    usual: Array,
) -> None:
    """Compare seven periods together with the first 14, of hours the same, none of them suspect.

    As long as they differ, no more periods become the first ones. The last of the seven is suspect
    if it differs by itself as they do: when a change has ended, six of them may be of before.
    """
    lines: dict[int, list[int]] = {}
    begin: dict[int, list[tuple[int, int]]] = {}
    for t in [t for t in order if np.isnan(usual[t])]:
        hour = slot_of(periods[t]) if periods[t].length is Length.HOUR else 0
        line = lines.setdefault(hour, [])
        if not line or np.isnan(usual[line[-1]]):
            begin[hour] = [counts[s] for s in line[: min(2 * WEEK, len(line) + 1 - WEEK)]]
        line.append(t)
        first = begin[hour]
        recent = [counts[s] for s in line[-WEEK:]]
        if len(first) >= FEWEST_PERIODS and _differ(recent, first, _DRIFT, [first]):
            ours, drifted = (sum(o for o, _ in e) / sum(n for _, n in e) for e in (first, recent))
            apart = (counts[t][0] / counts[t][1] - ours) * (1 if drifted > ours else -1)
            if apart > _DRIFT / 2:
                usual[t] = ours


def _differ(
    some: Sequence[tuple[int, int]],
    others: Sequence[tuple[int, int]],
    least: float,
    series: Collection[Sequence[tuple[int, int]]],
    deviations: float = _DEVIATIONS,
) -> bool:
    """Return whether the share of rows in some periods is not that of others, two or more.

    It differs by more than ``least`` and by so many ``deviations``: the log of the likelihood ratio
    of two shares to one is half the square of their number where the share varies by sampling
    alone, and as many times that as it varies more within the ``series``. Each period is the number
    of such rows, and of all.
    """
    if len(others) < 2:
        return False
    sums = [[sum(each) for each in zip(*periods, strict=True)] for periods in (some, others)]
    shares = [of / every for of, every in sums]
    if abs(shares[0] - shares[1]) <= least:
        return False
    both = sum(of for of, _ in sums) / sum(every for _, every in sums)
    ratio = sum(
        every * sum(a * math.log(a / b) for a, b in ((p, both), (1 - p, 1 - both)) if a > 0)
        for (_, every), p in zip(sums, shares, strict=True)
    )
    typical = max(every for _, every in (*some, *others))
    varied = _dispersion(series, max(_DESIGN, typical / _ALIKE))
    return bool(2 * ratio > deviations**2 * varied)


def check_values_of_columns(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    features: Collection[str],
    outcomes: Collection[str],
    named: Collection[tuple[str, str]],
) -> Iterator[Suspected]:
    """Yield values that are new, vanished or spelt in another way; ``named`` ones are not."""
    for column in dict.fromkeys(name for each in counted for name in each.values):
        held = [each.values.get(column, {}) for each in counted]
        own = {v for of, v in named if of == column}
        spelt = [*_spellings(column, held, features)]
        yield from (each for each in spelt if not {each.value, each.other} <= own)
        rows = _ColumnRows(periods, held, {each.at for each in spelt})
        yield from _vanished(column, rows)
        yield from _new_values(column, rows, column in outcomes)
    for t, each in enumerate(counted):
        for column, values in each.new_values.items():
            for value in values:
                yield Suspected(t, HistoryProblem.NO_POSITIVE, column, value)


def _spellings(
    column: str, held: Sequence[Mapping[str, int]], features: Collection[str]
) -> Iterator[Suspected]:
    """Yield values that read like one of more rows, each in all periods like the same one.

    Texts of groups also read alike where an audit suggests to recode them as one, or where one has
    a slip, such as a letter too few, and periods are without it that would else have many rows.
    """
    total = Counter[str]()
    for values in held:
        total.update(values)
    reads = {value: compact_reading(value) for value, _ in total.most_common()}
    texts = {
        v: total[v] for v, read in reads.items() if column in features and isinstance(read, str)
    }
    for best, alike in suggested_names(texts).items():
        reads |= dict.fromkeys(alike, best) if best != UNKNOWN else {}
    for value in texts if len(texts) <= MOST_SPELLED else ():
        nearly = [v for v in texts if total[v] > total[value] and spelt_nearly(value, v)]
        if nearly and _comes_and_goes(value, held):
            reads[value] = reads[nearly[0]]
    largest: dict[Value, str] = {}
    for value, read in reads.items():
        largest.setdefault(read, value)
    for t, values in enumerate(held):
        for value, rows in values.items():
            if (known := largest[reads[value]]) != value:
                yield Suspected(t, HistoryProblem.SPELLING, column, value, known, rows)


def _comes_and_goes(value: str, held: Sequence[Mapping[str, int]]) -> bool:
    """Return whether a value that has many rows in a period has none in another."""
    rows = [values.get(value, 0) for values in held]
    return min(rows) == 0 and max(rows) >= FEWEST_ROWS


class _Usual(NamedTuple):
    """The rows of a value and of all, in periods of a kind in which it is not absent."""

    rows: int
    every: int
    dispersion: float


class _ColumnRows:
    """The rows of every value of a column by period, and the periods that are unusual themselves.

    Attributes
    ----------
    periods, held, sizes : the periods, and of each the rows by value and of all values.
    found : the periods in which a value was found to be new, vanished or spelt otherwise.
    """

    def __init__(
        self, periods: Sequence[Period], held: Sequence[Mapping[str, int]], found: set[int]
    ) -> None:
        self.periods, self.held, self.found = periods, held, found
        self.sizes = [sum(each.values()) for each in held]

    @cached_property
    def _of_other_shares(self) -> set[int]:
        """The periods in which some value has another share than in those of their kind.

        Only a value whose share varies by more than the least that counts can have one.
        """
        found = set[int]()
        for value in dict.fromkeys(value for each in self.held for value in each):
            rows = [each.get(value, 0) for each in self.held]
            shares = [of / size for of, size in zip(rows, self.sizes, strict=True) if size]
            if max(shares) - min(shares) > min(SHARE, _DRIFT):
                suspect = _shares(self.periods, rows, self.sizes, fewer=True).suspect
                found.update(np.flatnonzero(suspect).tolist())
        return found

    def settled(self, some: Sequence[int]) -> Sequence[int]:
        """Return those of some periods that were not found; all where fewer than two are left."""
        settled = [t for t in some if t not in self.found]
        return settled if len(settled) > 1 else some

    def usual(self, some: Sequence[int]) -> Sequence[int]:
        """Return those that are not unusual at all; the settled where fewer than two are left."""
        usual = [t for t in self.settled(some) if t not in self._of_other_shares]
        return usual if len(usual) > 1 else self.settled(some)

    def changed(self, at: int) -> bool:
        """Return whether shares changed for good: half of the 14 periods before have others."""
        recent = range(max(at - _RECENT_PERIODS, 0), at)
        return len(self._of_other_shares.intersection(recent)) >= WEEK

    def dispersion(self, some: Sequence[int]) -> float:
        """Return by how much the shares of values vary more than by sampling in some periods."""
        values = dict.fromkeys(value for t in some for value in self.held[t])
        series = ([(self.held[t].get(value, 0), self.sizes[t]) for t in some] for value in values)
        return _dispersion(series, _CLUSTER)


def _vanished(column: str, counts: _ColumnRows) -> Iterator[Suspected]:
    """Yield values that the rows of successive periods would have, and that none of them has.

    They are compared with the usual ones of the 14 periods of their kind before, or after, where
    there are fewer than two before; so are those that the first periods lack, three at most. Where
    the share of a value varies by period more than sampling does, its absence is as much less
    unlikely. Once a value is found, later periods are, too, as soon as their own rows show it; one
    without any row that has a value, as where labels come later, lacks none. Nor does any lack a
    value that came for a few periods and is gone.
    """
    held, sizes = counts.held, counts.sizes
    kinds = [kind_of(each) for each in counts.periods]
    varied: dict[tuple[int, ...], float] = {}

    def usually(value: str, begin: int, kind: int) -> _Usual:
        again = next((s for s in range(begin, len(held)) if value in held[s]), len(held))
        sides = (range(begin - 1, -1, -1), range(again, len(held)))
        of_kind = ([s for s in side if kinds[s] == kind] for side in sides)
        alike = next((tuple(e[:_RECENT_PERIODS]) for e in of_kind if len(e) > 1), ())
        if not alike:
            return _Usual(0, 0, 1.0)
        alike = tuple((counts.settled if counts.changed(begin) else counts.usual)(alike))
        if alike not in varied:
            varied[alike] = counts.dispersion(alike)
        rows = [(held[s].get(value, 0), sizes[s]) for s in alike]
        of, every = (sum(each) for each in zip(*rows, strict=True))
        return _Usual(of, every, _dispersion([rows], varied[alike]))

    @cache
    def came_for_few(value: str, begin: int) -> bool:
        return is_gone([*(value in each for each in held[:begin]), False], absent=1)

    late = dict.fromkeys(v for each in held[1 : FIRST + 1] for v in each if v not in held[0])
    absent: dict[str, list[int]] = {value: [] for value in late}
    usual: dict[str, dict[int, _Usual]] = {value: {} for value in late}
    begins = dict.fromkeys(late, 0)
    last: Mapping[str, int] = {}
    for t, values in enumerate(held):
        if not sizes[t]:  # no row could have the value
            continue
        for value in values:
            absent.pop(value, None)
        for value in (v for v in last if v not in values):
            absent[value], usual[value], begins[value] = [], {}, t
        last = values
        for value, missed in absent.items():
            share = usual[value]
            if kinds[t] not in share:
                share[kinds[t]] = usually(value, begins[value], kinds[t])
            missed.append(t)
            if t - begins[value] >= FEWEST_PERIODS - 1 and came_for_few(value, begins[value]):
                continue
            if _unlikely(share, kinds, sizes, missed):
                counts.found.update(missed)
                for s in missed:
                    like = share[kinds[s]]
                    yield Suspected(
                        s, HistoryProblem.VANISHED_VALUE, column, value,
                        rows=sizes[s], expected=sizes[s] * like.rows / max(like.every, 1),
                    )  # fmt: skip
                missed.clear()


def _unlikely(
    usual: Mapping[int, _Usual], kinds: Sequence[int], sizes: Sequence[int], absent: Sequence[int]
) -> bool:
    """Return whether the absence of a value from some periods is no coincidence."""
    rows = dict.fromkeys(usual, 0)
    for s in absent:
        rows[kinds[s]] += sizes[s]
    chances = (
        all_among(before.rows, before.every, before.every + rows[kind]) / before.dispersion
        for kind, before in usual.items()
        if before.rows < before.every
    )
    return sum(chances) < RARE


def _new_values(column: str, counts: _ColumnRows, outcome: bool) -> Iterator[Suspected]:
    """Yield values that come for the first time, with too many rows for a rare one.

    As the shares of the values before vary more than sampling does, so may that of a rare one. How
    much they vary is seen in periods that are not unusual themselves.
    """
    held, sizes = counts.held, counts.sizes
    known: set[str] = set(held[0])
    spelt = {compact_reading(value) for value in known}
    for t in range(1, len(held)):
        new = [v for v, rows in held[t].items() if v not in known and rows >= _FEWEST_ROWS]
        new = [v for v in new if t >= FEWEST_PERIODS and compact_reading(v) not in spelt]
        if new:
            varied = counts.dispersion(counts.usual(range(t))[-2 * _RECENT_PERIODS :])
            for value in new:
                chance = all_among(held[t][value], sizes[t], sum(sizes[: t + 1]))
                if chance / varied < RARE:
                    found = [*_since_new(column, value, t, held, sizes, outcome)]
                    counts.found.update(each.at for each in found)
                    yield from found
        known.update(held[t])
        spelt.update(compact_reading(value) for value in held[t])


def came_later(value: str, periods: Sequence[Period], held: Sequence[Mapping[str, int]]) -> bool:
    """Return whether the first period lacks a value, or only three at most of seven have it.

    That is by no coincidence: the probability is that all of its rows are in any so many periods of
    their kind, if every row were as likely to be one.
    """
    sizes = [sum(each.values()) for each in held]
    having = [t for t, each in enumerate(held) if value in each]
    lacking = [t for t, size in enumerate(sizes) if size and value not in held[t]]
    if not lacking or (having[0] < lacking[0] and not len(having) <= FIRST < len(lacking)):
        return False
    rest = [{v: n for v, n in each.items() if v != value} for each in held]
    varied = _ColumnRows(periods, rest, set()).dispersion(range(len(rest)))
    chance = 0.0
    for kind in {kind_of(periods[t]) for t in having}:
        some, others = ([t for t in every if kind_of(periods[t]) == kind]
                        for every in (having, lacking))  # fmt: skip
        rows, of = sum(held[t][value] for t in some), sum(sizes[t] for t in some)
        chance += math.log(math.comb(len(some) + len(others), len(some)))
        chance += all_among(rows, of, of + sum(sizes[t] for t in others)) / varied
    return chance < RARE


def _since_new(
    column: str,
    new: str,
    at: int,
    held: Sequence[Mapping[str, int]],
    sizes: Sequence[int],
    outcome: bool,
) -> Iterator[Suspected]:
    """Yield a new value while it has more than a small share of the rows; an ``outcome`` always.

    It may be another one, spelt otherwise, that has lost about as many rows as are new since the
    two weeks before. Of several that have lost as many or more it is the one that has lost as many,
    or no one knows which.
    """
    having = [t for t in range(at, len(held)) if held[t].get(new)]

    def share(value: str, within: Iterable[int]) -> tuple[float, int]:
        every = sum(sizes[s] for s in within)
        return sum(held[s].get(value, 0) for s in within) / every, every

    last = max(
        t for t in having
        if t == at or outcome or share(new, range(max(at, t - WEEK + 1), t + 1))[0] > _DRIFT
    )  # fmt: skip
    since, before = range(at, last + 1), range(max(at - _RECENT_PERIODS, 0), at)
    (came, rows), instead = share(new, since), None
    usual = {value: share(value, before) for value in held[at - 1]}
    apart = {}
    for value, (part, of_all) in usual.items():
        less = part - share(value, since)[0]
        sampling = _DEVIATIONS * math.sqrt(part * (1 - part) * (1 / rows + 1 / of_all))
        if less > max(_DRIFT, sampling, _INSTEAD * came):
            apart[value] = abs(less - came), sampling
    if apart:
        nearest, *others = sorted(apart, key=lambda value: apart[value])
        if not any(apart[value][0] - apart[nearest][0] <= apart[value][1] for value in others):
            instead = nearest
    for t in (t for t in having if t <= last):
        found = Suspected(t, HistoryProblem.NEW_VALUE, column, new, rows=held[t][new])
        if instead is not None:
            now, then = share(instead, since)[0], usual[instead][0]
            found = found._replace(other=instead, share=now, expected=then)
        yield found


def all_among(rows: float, some: float, every: float) -> float:
    """Return the log of the probability that so many of all rows are all among some of them."""
    if rows > some:
        return -math.inf
    logs = [math.lgamma(n + 1) - math.lgamma(n - rows + 1) for n in (some, every)]
    return logs[0] - logs[1]


def _dispersion(series: Iterable[Sequence[tuple[int, int]]], supposed: float) -> float:
    """Return by how much shares of rows vary more by period than by sampling; 1 if not.

    It is Pearson's statistic by its degrees of freedom, with four more of what is ``supposed``,
    which decides where the periods are few, or hardly any row is of one of the two kinds. Each of
    the ``series`` is the rows of a value and all rows, by period.
    """
    squares, freedom = 0.0, 0.0
    for counts in series:
        of, every = np.array(counts, dtype=np.float64).reshape(-1, 2).T
        of, every = of[every > 0], every[every > 0]
        share = float(of.sum() / every.sum()) if len(every) > 1 else 0.0
        if 0 < share < 1:
            found = float(((of - every * share) ** 2 / (every * share * (1 - share))).sum())
            known = min(len(every) - 1, float(min(of.sum(), (every - of).sum())) / supposed)
            squares += found * known / (len(every) - 1)
            freedom += known
    return max(1.0, (squares + _SUPPOSED * supposed) / (freedom + _SUPPOSED))
