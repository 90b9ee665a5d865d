"""Checks of a history: what the counts of its periods show of the feed that brings the rows.

Each check compares a period with what the periods before it lead to expect. The bounds are chosen
so that a feed that does not change is hardly ever suspected, also where its volume has a weekly
course: how often it is was measured (docs/monitoring.md).
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from fairgauge.monitoring._period_rows import PARTS, CountedRows
from fairgauge.monitoring.periods import MONTHS, Length, Period, gaps
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem
from fairgauge.stats.arrays import Array
from fairgauge.values import spelling

_RARE = math.log(1e-6)
"""The log of the probability below which something is no coincidence."""
_UNLIKELY = math.log(1e-3)
_FEWEST_PERIODS = 7
_RECENT_PERIODS = 14
_FEWEST_ROWS = 5
_ROWS_OF_ONE_VALUE = 50
_COINCIDENCE = 1e-4
_LAGS = {
    Length.HOUR: tuple(168 * k for k in (1, 2, 3, 4)),
    Length.DAY: (7, 14, 21, 28),
    Length.WEEK: (1, 2, 3, 4),
    **dict.fromkeys(MONTHS, (1, 2, 3, 4)),
}
"""The periods before one whose median is what it is expected to be: those of the same weekday."""
_FEWEST_ALIKE = 5
_MEMORY = 56
"""Deviations from what was expected, by which the next one is judged."""
_DEVIATIONS = 6.0
_OF_VOLUME = 4.2
_VOLUME = math.log(4 / 3)
_SHARE, _DRIFT = 0.05, 0.03
_OTHER_RANGE = 0.2
"""Shares of scores that move by days alone hardly reach, and by another scale far surpass."""
_WEEK = 7
_FEWEST_CELLS = 4
_OF_SHARES = (
    HistoryProblem.MISSING_VALUES, HistoryProblem.MISSING_LABELS, HistoryProblem.OTHER_SCORES,
)  # fmt: skip
_SATURDAY = 5


class _Suspected(NamedTuple):
    """What may be wrong with one period, by its number."""

    at: int
    problem: HistoryProblem
    column: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    share: float | None = None
    expected: float | None = None


class _MissingShares(NamedTuple):
    """Shares of missing values by period, and where they are not the usual ones."""

    rows: Array
    share: Array
    usual: Array
    suspect: Array


def check_history(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    *,
    overdue: Sequence[str] = (),
    repeated: Mapping[str, int] | None = None,
    baselines: Mapping[str, str] | None = None,
    later: Mapping[str, int] | None = None,
    outcomes: Sequence[str] = (),
) -> tuple[HistoryFinding, ...]:
    """Return what may be wrong with the periods of a history.

    Parameters
    ----------
    periods, counted : the periods, in order, and the rows that each of them counts.
    overdue : the periods whose labels are due and missing.
    repeated : how many times every row stands, by the fingerprints of the counts of such rows.
    baselines : the files of baselines by their fingerprints.
    later : the columns whose values come later, each with how many periods later they are due.
    outcomes : the columns of labels and predictions that rules need.
    """
    if not periods:
        return ()
    names = [str(period) for period in periods]
    late = set(overdue)
    suspected = [
        *(_Suspected(t, HistoryProblem.OVERDUE_LABELS) for t, n in enumerate(names) if n in late),
        *_of_volume(periods, counted, repeated or {}),
        *_same_counts(names, counted, baselines or {}),
        *_values(periods, counted),
        *_outcomes(counted, outcomes),
        *_scores(counted),
        *_missing(periods, counted, later or {}, late),
    ]
    found = [*_gaps(periods), *_in_a_row(suspected, names)]
    return tuple(sorted(found, key=lambda each: (each.period, each.problem, each.column or "")))


def _in_a_row(suspected: Sequence[_Suspected], names: Sequence[str]) -> Iterator[HistoryFinding]:
    """Yield findings, one for the same thing in successive periods."""
    runs: dict[tuple[object, ...], list[list[_Suspected]]] = {}
    for each in sorted(suspected, key=lambda each: each.at):
        sign: float | None = None
        if each.problem in _OF_SHARES:
            sign = (each.share or 0) > (each.expected or 0)
        if each.problem is HistoryProblem.VOLUME:
            sign = (each.rows or 0) > (each.expected or 0)
        if each.problem is HistoryProblem.DOUBLED_ROWS:
            sign = each.expected
        held = runs.setdefault((each.problem, each.column, each.value, each.other, sign), [])
        if held and held[-1][-1].at == each.at - 1:
            held[-1].append(each)
        else:
            held.append([each])
    for held in runs.values():
        for run in held:
            found = _together(run)._asdict()
            yield HistoryFinding(period=names[found.pop("at")], last=names[run[-1].at], **found)


def _together(run: Sequence[_Suspected]) -> _Suspected:
    """Return what is suspected of several periods as one: the rows of all, and shares of these."""
    first, sizes = run[0], np.array([each.rows or 0 for each in run], dtype=np.float64)
    if len(run) == 1 or first.rows is None:
        return first
    found = first._replace(rows=int(sizes.sum()))
    expected = np.array([each.expected or 0.0 for each in run])
    if first.share is not None:
        shares = np.array([each.share or 0.0 for each in run])
        usual = float(np.average(expected, weights=sizes))
        return found._replace(share=float(np.average(shares, weights=sizes)), expected=usual)
    if first.problem in (HistoryProblem.VOLUME, HistoryProblem.VANISHED_VALUE):
        return found._replace(expected=float(expected.sum()))
    return found


def _gaps(periods: Sequence[Period]) -> Iterator[HistoryFinding]:
    """Yield gaps: absent periods, but those of a weekday or an hour that no period is of."""
    slots = {_slot(each) for each in periods}
    new = len(periods) < 2 * _WEEK  # too few to know which days there are

    def expected(each: Period) -> bool:
        weekday = each.length is Length.DAY and each.start.weekday() < _SATURDAY
        return _slot(each) in slots or (new and weekday)

    run: list[Period] = []
    absent = gaps(list(periods))
    for i, each in enumerate(absent):
        if expected(each):
            run.append(each)
        after = each.following()
        if run and (i + 1 == len(absent) or absent[i + 1] != after):
            yield HistoryFinding(
                problem=HistoryProblem.GAP, period=str(run[0]), last=str(run[-1]),
                other=str(after), rows=len(run),
            )  # fmt: skip
        if i + 1 < len(absent) and absent[i + 1] != after:
            run = []


def _at_weekend(period: Period) -> bool:
    days = period.length in (Length.HOUR, Length.DAY)
    return days and period.start.weekday() >= _SATURDAY


def _slot(period: Period) -> int:
    if period.length is Length.DAY:
        return period.start.weekday()
    return period.start.hour if period.length is Length.HOUR else 0


def _of_volume(
    periods: Sequence[Period], counted: Sequence[CountedRows], known: Mapping[str, int]
) -> Iterator[_Suspected]:
    """Yield jumps of the number of rows, and periods of which every row stands several times.

    Of some periods that is ``known`` from their rows.
    """
    rows = np.maximum([each.rows for each in counted], 1).astype(np.float64)
    times = np.array([known.get(each.digest, 0) for each in counted], dtype=np.float64)
    of_cells = _divisors(counted)
    divisors, repeated = np.where(times, times, of_cells), (times > 0) | _repeated(counted)
    usually = [int((of_cells[:t] > 1).sum()) * 2 > t for t in range(len(counted))]
    cells = np.array([each.cells for each in counted])
    for _ in range(2):  # the second time no period is expected to be as large as a doubled one
        single = np.log(np.where(repeated, rows / divisors, rows))
        usual, wide = _expected(periods, single)
        apart = np.log(rows) - usual
        sampling = np.sqrt(2 / np.maximum(rows, np.exp(usual)))
        jumped = np.abs(apart) > np.maximum(_VOLUME, _OF_VOLUME * np.maximum(wide, sampling))
        for t in np.flatnonzero((np.abs(apart) > _VOLUME) & ~jumped).tolist():
            usual_day = _usual_day(periods, single, t, math.log(rows[t]))
            if usual_day is not None:
                jumped[t], usual[t] = True, usual_day
        apart = np.log(rows) - usual
        alike = jumped & (np.abs(apart - np.log(divisors)) < math.log(4 / 3))
        few = (divisors > 1) & alike & (cells >= _FEWEST_CELLS) & ~np.array(usually)
        repeated |= few
    for t, each in enumerate(counted):
        if repeated[t]:
            expected = float(divisors[t])
            yield _Suspected(t, HistoryProblem.DOUBLED_ROWS, rows=each.rows, expected=expected)
        elif jumped[t]:
            expected = float(np.exp(usual[t]))
            yield _Suspected(t, HistoryProblem.VOLUME, rows=each.rows, expected=expected)


def _usual_day(periods: Sequence[Period], values: Array, t: int, value: float) -> float | None:
    """Return the median of the days of four weeks, where a day is far from it by any weekday.

    A weekend has few days in a month, so that a jump is hardly seen among these alone. The
    distance is therefore also held against all days, less the largest by which the median of any
    weekday differs from theirs: only where weekdays are alike is this the stricter comparison.
    """
    if periods[t].length is not Length.DAY:
        return None
    past = [
        s for s in range(max(t - 28, 0), t) if _ordinal(periods[s]) >= _ordinal(periods[t]) - 28
    ]
    if len(past) < 2 * _WEEK:
        return None
    held, days = values[past], np.array([periods[s].start.weekday() for s in past])
    usual = float(np.median(held))
    course = max(abs(float(np.median(held[days == day])) - usual) for day in set(days.tolist()))
    apart = np.abs(held - usual)
    alike = apart[(days >= _SATURDAY) == _at_weekend(periods[t])]
    sampling = math.sqrt(2 / math.exp(max(value, usual)))
    far = max(_VOLUME, _OF_VOLUME * max(_scale(apart), _scale(alike), sampling))
    return usual if abs(value - usual) - course > far else None


def _repeated(counted: Sequence[CountedRows]) -> list[bool]:
    """Return in which periods every row stands several times, by the counts of many cells alone.

    Where most periods before are such, a row is counted several times on purpose.
    """
    times = _divisors(counted)
    unlikely = [-e.cells * math.log(e.divisor) < _RARE for e in counted]
    return [
        bool(n > 1 and unlikely[t] and (times[:t] > 1).sum() * 2 <= t) for t, n in enumerate(times)
    ]


def _divisors(counted: Sequence[CountedRows]) -> Array:
    return np.array([each.divisor for each in counted], dtype=np.float64)


def _same_counts(
    names: Sequence[str], counted: Sequence[CountedRows], baselines: Mapping[str, str]
) -> Iterator[_Suspected]:
    """Yield periods with the counts of earlier ones, where that is no coincidence."""
    before: dict[str, list[int]] = {}
    for t, each in enumerate(counted):
        if each.digest in baselines:
            source = baselines[each.digest]
            yield _Suspected(t, HistoryProblem.SAME_AS_BASELINE, other=source, rows=each.rows)
        same = before.setdefault(each.digest, [])
        if same and _by_coincidence(t, len(same), each.coincidence) < _COINCIDENCE:
            yield _Suspected(t, HistoryProblem.SAME_COUNTS, other=names[same[0]], rows=each.rows)
        same.append(t)


def _by_coincidence(periods: int, same: int, log_chance: float) -> float:
    """Return about how probable it is that so many earlier periods have the same counts."""
    return math.exp(min(math.log(math.comb(periods, same)) + same * log_chance, 0.0))


def _values(periods: Sequence[Period], counted: Sequence[CountedRows]) -> Iterator[_Suspected]:
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
                yield _Suspected(t, HistoryProblem.NO_POSITIVE, column, value)


def _spellings(column: str, held: Sequence[Mapping[str, int]]) -> Iterator[_Suspected]:
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
                yield _Suspected(t, HistoryProblem.SPELLING, column, value, known, rows)


def _reads(value: str) -> str | Decimal:
    """Return what two spellings of a value share: the number, or the text but for case, spaces.

    Digits with leading zeros are codes: "01" may be another one than "1".
    """
    text = spelling(value)
    return Decimal(text) if re.fullmatch(r"[+-]?(0|[1-9][0-9]*)([.][0-9]+)?", text) else text


class _Before(NamedTuple):
    """The rows of a value and of all, in the periods before it was absent."""

    rows: int
    every: int
    dispersion: float

    def log_chance(self, absent: int) -> float:
        """Return how probable it is that so many more rows do not have the value either."""
        if not self.rows < self.every:
            return 0.0
        return _all_among(self.rows, self.every, self.every + absent) / self.dispersion


def _vanished(
    column: str,
    periods: Sequence[Period],
    held: Sequence[Mapping[str, int]],
    sizes: Sequence[int],
) -> Iterator[_Suspected]:
    """Yield values that the rows of successive periods would have, and that none of them has.

    They are held against the two weeks before, working days and weekends apart. Where the share of
    a value varies by period more than sampling does, its absence is as much less unlikely.
    """
    weekend = [_at_weekend(each) for each in periods]

    def before(value: str, begin: int, like: bool) -> _Before:
        window = (s for s in range(begin - 1, -1, -1) if weekend[s] is like)
        alike = [*itertools.islice(window, _RECENT_PERIODS)]
        of_value, of_all = [held[s].get(value, 0) for s in alike], [sizes[s] for s in alike]
        if len(alike) < 2:
            return _Before(0, 0, 1.0)
        return _Before(sum(of_value), sum(of_all), _dispersion(of_value, of_all))

    absent: dict[str, list[int]] = {}
    usual: dict[str, dict[bool, _Before]] = {}
    rows: dict[str, dict[bool, int]] = {}
    for t, values in enumerate(held):
        for value in values:
            absent.pop(value, None)
        for value in (v for v in (held[t - 1] if t else ()) if v not in values):
            absent[value], rows[value] = [], {True: 0, False: 0}
            usual[value] = {like: before(value, t, like) for like in (True, False)}
        for value, missed in absent.items():
            missed.append(t)
            known = _log_chance(usual[value], rows[value]) < _RARE
            rows[value][weekend[t]] += sizes[t]
            if _log_chance(usual[value], rows[value]) < _RARE:
                for s in missed[-1:] if known else missed:
                    share = usual[value][weekend[s]]
                    yield _Suspected(
                        s, HistoryProblem.VANISHED_VALUE, column, value,
                        rows=sizes[s], expected=sizes[s] * share.rows / max(share.every, 1),
                    )  # fmt: skip


def _log_chance(usual: Mapping[bool, _Before], absent: Mapping[bool, int]) -> float:
    return sum(before.log_chance(absent[like]) for like, before in usual.items())


def _all_among(rows: float, some: float, every: float) -> float:
    """Return the log of the probability that so many of all rows are all among some of them."""
    if rows > some:
        return -math.inf
    logs = [math.lgamma(n + 1) - math.lgamma(n - rows + 1) for n in (some, every)]
    return logs[0] - logs[1]


def _dispersion(rows: Sequence[float], sizes: Sequence[float]) -> float:
    """Return by how much the share of some rows varies more by period than by sampling; 1 if not.

    It is Pearson's statistic by its degrees of freedom, of which few count for more.
    """
    of, every = np.array(rows, dtype=np.float64), np.array(sizes, dtype=np.float64)
    share = float(of.sum() / every.sum()) if every.sum() else 0.0
    held = every > 0
    if not 0 < share < 1 or held.sum() < 2:
        return 1.0
    apart = (of - every * share)[held] ** 2 / (every * share * (1 - share))[held]
    freedom = int(held.sum()) - 1
    return max(1.0, float(apart.sum()) / freedom * (1 + 3 / freedom))


def _new_values(
    column: str, held: Sequence[Mapping[str, int]], sizes: Sequence[int]
) -> Iterator[_Suspected]:
    """Yield values that come for the first time, with too many rows for a rare one."""
    known: set[str] = set(held[0])
    before = sizes[0]
    spelt = {_reads(value) for value in known}
    for t in range(1, len(held)):
        for value, rows in held[t].items():
            if value in known or t < _FEWEST_PERIODS or rows < _FEWEST_ROWS:
                continue
            if _reads(value) in spelt:
                continue  # another spelling
            if _all_among(rows, sizes[t], before + sizes[t]) < _RARE:
                yield from _since_new(column, value, t, held, sizes)
        known.update(held[t])
        spelt.update(_reads(value) for value in held[t])
        before += sizes[t]


def _since_new(
    column: str,
    new: str,
    at: int,
    held: Sequence[Mapping[str, int]],
    sizes: Sequence[int],
) -> Iterator[_Suspected]:
    """Yield a new value as long as another has fewer rows than before, as of two spellings.

    The last seven periods with the new value are held against the two weeks before it.
    """
    before = range(max(at - _RECENT_PERIODS, 0), at)
    of_all = sum(sizes[s] for s in before)
    usual = {v: sum(held[s].get(v, 0) for s in before) / of_all for v in held[at - 1]}
    last, instead = at, None
    for t in range(at, len(held)):
        recent = range(max(at, t - _WEEK + 1), t + 1)
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
        if less[value] > max(_DRIFT, _DEVIATIONS * sampling):
            last, instead = t, value
    for t in range(at, last + 1):
        rows = held[t].get(new, 0)
        if not rows:
            continue
        if instead is None:
            yield _Suspected(t, HistoryProblem.NEW_VALUE, column, new, rows=rows)
        else:
            since = range(at, last + 1)
            share = sum(held[s].get(instead, 0) for s in since) / sum(sizes[s] for s in since)
            yield _Suspected(
                t, HistoryProblem.NEW_VALUE, column, new, instead, rows, share, usual[instead]
            )


def _outcomes(counted: Sequence[CountedRows], columns: Sequence[str]) -> Iterator[_Suspected]:
    """Yield outcomes of one value in all periods, and predictions that mirror the label."""
    constant = False
    for column in columns:
        held = [each.values.get(column, {}) for each in counted]
        values = {value for each in held for value in each}
        rows = [sum(each.values()) for each in held]
        if len(values) == 1 and sum(rows) >= _ROWS_OF_ONE_VALUE:
            constant = True
            for t in np.flatnonzero(rows).tolist():
                value = next(iter(values))
                yield _Suspected(t, HistoryProblem.ONE_VALUE, column, value, rows=rows[t])
    if not constant:  # the two columns would be found again
        apart, same = zip(*(each.agreement for each in counted), strict=True)
        yield from _never(apart, same, HistoryProblem.EQUALS_LABEL)
        yield from _never(same, apart, HistoryProblem.OPPOSITE_OF_LABEL)


def _scores(counted: Sequence[CountedRows]) -> Iterator[_Suspected]:
    """Yield periods of one score, and those of scores in another range than in those before.

    Such periods are not among those that later ones are held against.
    """
    for column in dict.fromkeys(name for each in counted for name in each.scores):
        usual, known = np.zeros(PARTS), 0
        for t, each in enumerate(counted):
            parts, held = np.zeros(PARTS), each.scores.get(column, {})
            parts[[*map(int, held)]] = [*held.values()]
            rows = int(parts.sum())
            if each.one_score is not None and rows >= _ROWS_OF_ONE_VALUE:
                yield _Suspected(t, HistoryProblem.ONE_VALUE, column, each.one_score, rows=rows)
                continue
            shares = _other_range(parts, usual) if known >= _FEWEST_PERIODS and rows else None
            if shares is None:
                usual, known = usual + parts, known + (rows > 0)
                continue
            yield _Suspected(
                t, HistoryProblem.OTHER_SCORES, column, None, None, rows, shares[0], shares[1]
            )


def _other_range(parts: Array, usual: Array) -> tuple[float, float] | None:
    """Return the share of rows outside the usual range of scores, or of usual rows inside theirs.

    None where these may be a coincidence: that the first so many of all rows by score are new ones,
    or that all of these are between two that have so few of the others between them.
    """
    rows, every = float(parts.sum()), float(usual.sum())
    low, high = np.flatnonzero(usual)[[0, -1]]
    outside = int(parts[:low].sum() + parts[high + 1 :].sum())
    chance = math.log1p(outside) + _all_among(outside, rows, rows + every)
    if outside > _OTHER_RANGE * rows and chance < _RARE:
        return outside / rows, 0.0
    first, last = np.flatnonzero(parts)[[0, -1]]
    inside = float(usual[first : last + 1].sum())
    chance = 2 * math.log(rows) + (rows - 2) * math.log((inside + 1) / (every + 1))
    return (0.0, inside / every) if inside < _SHARE * every and chance < _RARE else None


def _never(
    absent: Sequence[int], present: Sequence[int], problem: HistoryProblem
) -> Iterator[_Suspected]:
    """Yield the periods without rows of a kind, where that is no coincidence.

    Successive periods count together. The probability is that of all such rows being in the other
    periods, if every row were as likely to be one.
    """
    held = [t for t in range(len(absent)) if absent[t] or present[t]]
    every, of_kind = sum(absent) + sum(present), sum(absent)
    for some, run in itertools.groupby(held, key=lambda t: absent[t] > 0):
        periods = list(run)
        rows = sum(present[t] for t in periods)
        if some or (not of_kind and rows < _ROWS_OF_ONE_VALUE):
            continue
        if not of_kind or _all_among(of_kind, every - rows, every) < _RARE:
            for t in periods:
                share = of_kind / (every - rows) if of_kind else None
                yield _Suspected(t, problem, rows=present[t], share=0.0, expected=share)


def _missing(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    later: Mapping[str, int],
    overdue: set[str],
) -> Iterator[_Suspected]:
    """Yield shares of missing values that jump, or that drift from those of the first weeks.

    Labels and predictions may be missing in one group alone: it is then named, also where it is
    too small to move the share of all rows. Periods whose values are not due yet are not looked at.
    """
    for column in dict.fromkeys(name for each in counted for name in each.missing):
        due = max(len(counted) - later.get(column, 0), 0)
        if not due:
            continue
        held = counted[:due]
        every = _shares(
            periods, [each.missing.get(column, 0) for each in held], [e.rows for e in held]
        )
        named = [*_missing_in_groups(periods, held, column, every)]
        problem = HistoryProblem.MISSING_VALUES
        if column in later:
            problem = HistoryProblem.MISSING_LABELS
        yield from (each._replace(problem=problem) for each in named)
        apart = {each.at for each in named}
        for t in np.flatnonzero(every.suspect).tolist():
            if t in apart or (column in later and str(periods[t]) in overdue):
                continue
            yield _Suspected(
                t, problem, column, rows=int(every.rows[t]),
                share=float(every.share[t]), expected=float(every.usual[t]),
            )  # fmt: skip


def _missing_in_groups(
    periods: Sequence[Period], counted: Sequence[CountedRows], column: str, every: _MissingShares
) -> Iterator[_Suspected]:
    """Yield the groups whose shares of missing values are not usual, where all rows' is not it."""
    for feature in dict.fromkeys(f for each in counted for f in each.lacking.get(column, {})):
        groups = [each.lacking.get(column, {}).get(feature, {}) for each in counted]
        sizes = [each.values.get(feature, {}) for each in counted]
        found: dict[str, _MissingShares] = {}
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
                yield _Suspected(
                    t, HistoryProblem.MISSING_VALUES, column, name, feature, int(each.rows[t]),
                    float(each.share[t]), float(each.usual[t]),
                )  # fmt: skip


def _apart(group: _MissingShares, every: _MissingShares, t: int) -> bool:
    """Return whether a group lacks values in another share of its rows than all rows do."""
    variance = every.share[t] * (1 - every.share[t]) / group.rows[t]
    far = max(_SHARE, _DEVIATIONS * math.sqrt(variance))
    return bool(abs(group.share[t] - every.share[t]) > far)


def _shares(
    periods: Sequence[Period], missing: Sequence[int], sizes: Sequence[int]
) -> _MissingShares:
    """Return shares of missing values: what is usual, and which jump or drift."""
    rows = np.maximum(sizes, 1).astype(np.float64)
    share = np.array(missing) / rows
    suspect, of_others = np.zeros(len(rows), dtype=bool), np.full(len(rows), np.nan)
    for again in range(3):  # a day of mistakes widens what is usual for the days after it: without
        usual, wide = _expected(periods[: len(rows)], np.where(suspect, np.nan, share))
        known = np.isfinite(wide) & ~np.isnan(usual)
        variances = [each * (1 - each) / rows for each in (share, usual)]
        sampling = np.sqrt(np.fmax(np.fmax(*variances), 1 / rows**2))
        far = _DEVIATIONS * np.maximum(wide, sampling)
        if again:
            suspect = suspect | (known & (np.abs(share - usual) > np.maximum(_SHARE, far)))
        _more_than_others(periods, missing, sizes, known, suspect, of_others)
    usual = np.where(np.isnan(of_others), usual, of_others)
    for t in range(2 * _WEEK, len(share)):
        begin = share[: min(2 * _WEEK, t + 1 - _WEEK)]
        begin = begin[~suspect[: len(begin)]]
        if len(begin) < 2:
            continue
        # medians: a single day with missing values is no drift in the week after it
        first, recent = map(np.median, (begin, share[t - _WEEK + 1 : t + 1]))
        both = (first + recent) / 2
        of_day = max(float(begin.var(ddof=1)), both * (1 - both) * float((1 / rows).mean()))
        drifted = abs(recent - first) > max(_DRIFT, _DEVIATIONS * math.sqrt(of_day / _WEEK))
        over = abs(share[t] - first) < abs(recent - first) / 4  # of an outage in the week before
        if drifted and not over and not suspect[t]:
            suspect[t], usual[t] = True, first
    return _MissingShares(rows, share, usual, suspect)


def _more_than_others(
    periods: Sequence[Period],
    missing: Sequence[int],
    sizes: Sequence[int],
    known: Array,
    suspect: Array,
    usual: Array,
) -> None:
    """Suspect the periods with more missing values than others, where no weekly course is known.

    They are held against the periods before them that are not suspect, and then against those
    after them, so that what is missing at the beginning alone is found once it is over.
    """
    lag = _LAGS[periods[0].length][0]
    at = {_ordinal(each): t for t, each in enumerate(periods)}
    order = [t for t in range(len(sizes)) if sizes[t]]
    for times in (order, order[::-1]):
        pool: list[int] = []
        for t in times:
            others = pool
            s = at.get(_ordinal(periods[t]) - lag)
            if s is not None and suspect[s] and not suspect[s + 1 : t].all():
                others = [s]
            if not suspect[t] and not known[t] and _more_missing(t, others, missing, sizes):
                suspect[t] = True
                usual[t] = sum(missing[s] for s in others) / sum(sizes[s] for s in others)
            if not suspect[t]:
                pool.append(t)


def _more_missing(
    t: int, others: Sequence[int], missing: Sequence[int], sizes: Sequence[int]
) -> bool:
    """Return whether a period has a larger share of missing values than two others and more.

    It is larger by 5 pp, by half of the smaller of what is usually missing and present, and by no
    coincidence: not of sampling, nor of periods that vary as these others do. Both probabilities
    are bounded by likelihood ratios of one share for all, and another for the period.
    """
    if len(others) < 2:
        return False
    rows, every = sizes[t], sum(sizes[s] for s in others)
    share, usual = missing[t] / rows, sum(missing[s] for s in others) / every
    if share - usual <= max(_SHARE, min(usual, 1 - usual) / 2):
        return False
    both = (share * rows + usual * every) / (rows + every)

    def divergence(p: float) -> float:
        return sum(a * math.log(a / b) for a, b in ((p, both), (1 - p, 1 - both)) if a > 0)

    if rows * divergence(share) + every * divergence(usual) < -_RARE:
        return False
    shares = [missing[s] / sizes[s] for s in others]
    k, mean = len(shares), float(np.mean(shares))
    squares = float(((np.array(shares) - mean) ** 2).sum())
    apart = (share - mean) ** 2 * k / (k + 1)
    return squares == 0 or -k / 2 * math.log1p(apart / squares) < _UNLIKELY


def _expected(periods: Sequence[Period], values: Array) -> tuple[Array, Array]:
    """Return what every period is expected to be, and by how much it may differ.

    The expected value is the median of the same weekdays of four weeks, nan where there is none;
    how far values lie from it is the size of the last 56 deviations, infinite of too few: of
    working days or of weekends alone, as one may vary far more than the other.
    """
    length = periods[0].length
    place = np.array([_ordinal(each) for each in periods])
    place -= place[0]
    lags = _LAGS[length]
    line = np.full(place[-1] + 1 + lags[-1], np.nan)
    line[place + lags[-1]] = values
    earlier = np.stack([line[place + lags[-1] - lag] for lag in lags])
    known = ~np.isnan(earlier).all(axis=0)
    usual = np.full(len(values), np.nan)
    usual[known] = np.nanmedian(earlier[:, known], axis=0)
    apart = np.abs(values - usual)
    wide = np.full(len(values), np.inf)
    weekends = np.array([_at_weekend(each) for each in periods])
    for t in range(len(values)):
        past = np.flatnonzero(~np.isnan(apart[:t]))
        alike = apart[past[weekends[past] == weekends[t]][-_MEMORY:]]
        past = past[-_MEMORY:]
        if len(alike) >= _FEWEST_PERIODS:
            wide[t] = _scale(alike)
        elif len(past) >= _FEWEST_PERIODS:
            twice = 1 if len(alike) >= _FEWEST_ALIKE else 2
            wide[t] = twice * max(_scale(apart[past]), _scale(alike))
    return usual, wide


def _scale(apart: Array) -> float:
    """Return the size of deviations, of a fifth that may be mistakes not the largest.

    Few deviations are known imprecisely and count for more. The factor makes it the standard
    deviation of normal ones.
    """
    if not len(apart):
        return 0.0
    kept = np.sort(apart)[: math.ceil(0.8 * len(apart))]
    return 1.5 * math.sqrt(float(np.mean(kept**2))) * (1 + 3 / max(len(apart), _FEWEST_PERIODS))


def _ordinal(period: Period) -> int:
    """Return the number of a period among all of its length."""
    start = period.start
    if period.length in MONTHS:
        return (start.year * 12 + start.month - 1) // MONTHS[period.length]
    hours = int((start - dt.datetime(1970, 1, 5, tzinfo=dt.UTC)).total_seconds()) // 3_600
    return hours // {Length.HOUR: 1, Length.DAY: 24, Length.WEEK: 168}[period.length]
