"""What the counts of the periods show of the feed that brings the rows: six checks.

Gaps and dates, twins, volume, values, missing values, and scores. Each check compares a period
with what the periods of its kind before it lead to expect. The bounds are chosen so that a feed
that does not change is hardly ever suspected, also where its volume has a weekly course
(docs/monitoring.md). A suspected period is no measure of later ones, so that a lasting change
remains a finding.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

import numpy as np

from fairgauge.checks.names import compact_reading
from fairgauge.monitoring._period_rows import PARTS, CountedRows, crossed_name
from fairgauge.monitoring.periods import (
    LAGS,
    SATURDAY,
    Length,
    Period,
    at_weekend,
    gaps,
    kind_of,
    ordinal,
    slot_of,
)
from fairgauge.question.specification import Spec
from fairgauge.results.monitor_results import (
    FEWEST_PERIODS,
    HistoryFinding,
    HistoryProblem,
    is_gone,
)
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.values import is_one_of, name_of

RARE = math.log(1e-6)
"""The log of the probability below which something is no coincidence."""
SHARE = 0.05
"""The least by which a share must differ, and the most that hardly any rows are."""
_WEEK, _RECENT_PERIODS = 7, 14
_DEVIATIONS = 6.0
_SUPPOSED, _DESIGN, _ALIKE = 4, 3.3, 192
"""Until the periods show it, the variance of a share is supposed to be 3.3 times that of sampling.

That counts as four degrees of freedom. A period of more than 634 rows is supposed to vary as much
as one of 192 does by sampling, as shares vary by period however many rows there are.
"""
_VOLUME, _OF_VOLUME = math.log(4 / 3), 4.2
"""A volume is unusual from a third on, and from so many usual deviations on."""
_SUPPOSED_DEVIATION, _AS_IF_KNOWN, _MEMORY, _LAST_WEEKDAYS = 0.3, 5, 56, 4
_FEWEST_CELLS, _FEWEST_ROWS, _ROWS_OF_ONE_VALUE = 4, 5, 50
_COINCIDENCE = 1e-4
_OTHER_RANGE = 0.2
"""Shares of scores that move by days alone hardly reach, and by another scale far surpass."""
_DECIDED = ("positive", "negative")
_FEWEST_LABELLED = 20
"""Rows of a decision from which on hardly any of them having a label is no chance."""


class Suspected(NamedTuple):
    """What may be wrong with one period, by its number; the other fields are those of a finding."""

    at: int
    problem: HistoryProblem
    column: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    share: float | None = None
    expected: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The periods that are checked, and what is asked of them.

    Attributes
    ----------
    periods, counted : the periods, in order, and the rows that each of them counts.
    question : the specification of an audit of one period.
    outcomes : the columns of labels and predictions that rules need.
    later : whether labels come later than their rows.
    due : of such labels, the later periods with which they are due; None where nothing states it.
    overdue : the periods whose labels are due and missing.
    repeated : how many times every row stands, by the fingerprints of the counts of such rows.
    baselines : the files of baselines by their fingerprints.
    until : the last period that was asked for.
    """

    periods: Sequence[Period]
    counted: Sequence[CountedRows]
    question: Spec
    outcomes: Collection[str] = ()
    later: bool = False
    due: int | None = None
    overdue: Sequence[str] = ()
    repeated: Mapping[str, int] = field(default_factory=dict)
    baselines: Mapping[str, str] = field(default_factory=dict)
    until: Period | None = None

    @property
    def features(self) -> list[str]:
        """Return the columns of groups."""
        return list(dict.fromkeys(each.column for each in self.question.sensitive))

    def rows_by_value(self, column: str) -> list[Mapping[str, int]]:
        """Return the rows of every value of a column, by period."""
        return [each.values.get(column, {}) for each in self.counted]


def check_feed(feed: Feed) -> tuple[HistoryFinding, ...]:
    """Return what may be wrong with the periods of a history, in the order of the periods."""
    if not feed.periods:
        return ()
    names, late = [str(period) for period in feed.periods], {*feed.overdue}
    of_values = [*_values(feed)]
    unusual = {(each.column, each.at) for each in of_values}
    suspected = [
        *(Suspected(t, HistoryProblem.OVERDUE_LABELS) for t, n in enumerate(names) if n in late),
        *_volume(feed),
        *_same_counts(feed, names),
        *of_values,
        *_group_shares(feed, unusual),
        *_vanished_categories(feed, unusual),
        *_missing(feed),
        *_scores(feed.counted),
        *_copies(feed.counted),
    ]
    found = [*_gaps(feed), *_in_a_row(suspected, names)]
    return tuple(sorted(found, key=lambda each: (each.period, each.problem, each.column or "")))


def _in_a_row(suspected: Sequence[Suspected], names: Sequence[str]) -> Iterator[HistoryFinding]:
    """Yield findings, one for the same thing in successive periods."""
    runs: dict[tuple[object, ...], list[list[Suspected]]] = {}
    for each in sorted(suspected, key=lambda each: each.at):
        found = each.rows if each.share is None else each.share
        more = (found or 0) > (each.expected or 0)
        held = runs.setdefault((each.problem, each.column, each.value, each.other, more), [])
        if held and held[-1][-1].at == each.at - 1:
            held[-1].append(each)
        else:
            held.append([each])
    for run in itertools.chain.from_iterable(runs.values()):
        keys = _together(run)._asdict()
        yield HistoryFinding(period=names[keys.pop("at")], last=names[run[-1].at], **keys)


def _together(run: Sequence[Suspected]) -> Suspected:
    """Return what is suspected of several periods as one: the rows of all, and shares of these."""
    first, sizes = run[0], [each.rows or 0 for each in run]
    if len(run) == 1 or not any(sizes):
        return first
    found = first._replace(rows=sum(sizes))
    if first.share is not None:
        share, usual = (
            float(np.average([getattr(each, name) or 0.0 for each in run], weights=sizes))
            for name in ("share", "expected")
        )
        return found._replace(share=share, expected=usual)
    if first.problem in (HistoryProblem.VOLUME, HistoryProblem.VANISHED_VALUE):
        return found._replace(expected=sum(each.expected or 0.0 for each in run))
    return found


def _gaps(feed: Feed) -> Iterator[HistoryFinding]:
    """Yield gaps: absent periods, but those of a weekday or an hour that no period is of.

    Those after the last period are absent up to the one that was asked for.
    """
    periods, until = feed.periods, feed.until
    slots = {slot_of(each) for each in periods}
    new = len(periods) < 2 * _WEEK  # too few to know which days there are
    after = [until.following()] if until is not None and until > periods[-1] else []
    runs: list[list[Period]] = []
    for each in gaps([*periods, *after]):
        if runs and runs[-1][-1].following() == each:
            runs[-1].append(each)
        else:
            runs.append([each])
    for run in runs:
        lacking = [
            each for each in run
            if slot_of(each) in slots
            or (new and each.length is Length.DAY and each.start.weekday() < SATURDAY)
        ]  # fmt: skip
        if lacking:
            yield HistoryFinding(
                problem=HistoryProblem.GAP, period=str(lacking[0]), last=str(lacking[-1]),
                other=str(run[-1].following()), rows=len(lacking),
            )  # fmt: skip


def _volume(feed: Feed) -> Iterator[Suspected]:
    """Yield jumps of the number of rows, and periods of which every row stands several times.

    A period is compared with the median of the last four of its weekday (of hours, and its hour).
    Every row stands several times by the rows themselves, by the counts of many cells, or by those
    of a few where the volume is as many times the usual one.
    """
    lag = LAGS[feed.periods[0].length][0]
    alike: dict[int, list[float]] = {}
    deviations: dict[bool, list[float]] = {False: [], True: []}
    known = doubled = 0
    for t, (period, each) in enumerate(zip(feed.periods, feed.counted, strict=True)):
        value = math.log(max(each.rows, 1))
        same = alike.setdefault(ordinal(period) % lag, [])
        compared = bool(same) and known >= FEWEST_PERIODS
        usual = median(same[-_LAST_WEEKDAYS:]) if compared else value
        times = feed.repeated.get(each.digest, 0)
        many = each.divisor > 1 and -each.cells * math.log(each.divisor) < RARE
        if not times and many and 2 * doubled <= t:  # else a row counts several times on purpose
            times = each.divisor
        single = usual if compared else _usual_of_kind(feed, t)
        as_often = round(math.exp(min(value - single, 10.0)))
        few = as_often > 1 and each.divisor % as_often == 0 and each.cells >= _FEWEST_CELLS
        if not times and few and abs(value - single - math.log(as_often)) < _VOLUME:
            times = as_often
        doubled += each.divisor > 1
        if times > 1:
            yield Suspected(t, HistoryProblem.DOUBLED_ROWS, rows=each.rows, expected=float(times))
            continue
        past = deviations[at_weekend(period)]
        sampling = math.sqrt(2 / math.exp(max(value, usual)))
        if abs(value - usual) > max(_VOLUME, _OF_VOLUME * max(_scale(past), sampling)):
            yield Suspected(t, HistoryProblem.VOLUME, rows=each.rows, expected=math.exp(usual))
            continue
        same.append(value)
        known += 1
        if compared:
            past.append(value - usual)


def _usual_of_kind(feed: Feed, t: int) -> float:
    """Return the log of the rows that other working days, or weekend days, have in the median.

    Where fewer than two show it, or two that differ, it is that of all days: in a new history, or
    after a gap, a Saturday may be the first. It is that of the period itself where neither shows
    it.
    """
    rows = [math.log(max(each.rows, 1)) for each in feed.counted]
    weekend = [at_weekend(each) for each in feed.periods]
    every = [s for s in range(len(rows)) if s != t]
    for chosen in ([s for s in every if weekend[s] == weekend[t]], every):
        others = [rows[s] for s in chosen]
        if len(others) > 2 or (len(others) == 2 and abs(others[0] - others[1]) < _VOLUME):
            return median(others)
    return rows[t]


def _scale(apart: Sequence[float]) -> float:
    """Return the size of deviations, of a fifth that may be mistakes not the largest.

    Of few it is what is supposed beforehand, as if five of these were known.
    """
    held = np.sort(np.abs(apart[-_MEMORY:]))
    if len(held) < FEWEST_PERIODS:
        squares = float(np.sum(held**2)) + _AS_IF_KNOWN * _SUPPOSED_DEVIATION**2
        return math.sqrt(squares / (len(held) + _AS_IF_KNOWN))
    kept = held[: math.ceil(0.8 * len(held))]  # the factor makes it that of a normal distribution
    return 1.5 * math.sqrt(float(np.mean(kept**2))) * (1 + 3 / len(held))


def _same_counts(feed: Feed, names: Sequence[str]) -> Iterator[Suspected]:
    """Yield periods with the counts of earlier ones by no coincidence, or of a baseline.

    Where labels come later, a copy has none yet or others than the original, so that the counts
    without them are compared, too.
    """
    before: dict[str, list[int]] = {}
    sizes: Counter[str] = Counter()
    alike = 0
    for t, each in enumerate(feed.counted):
        if source := feed.baselines.get(each.digest):
            yield Suspected(t, HistoryProblem.SAME_COUNTS, other=source, rows=each.rows)
        pairs = math.comb(sizes.total(), 2)
        of_sizes = math.log((alike + 1) / (pairs + 1)) if feed.features else 0.0
        found: list[int] = []
        twins = [(each.digest, each.coincidence), each.unlabelled][: 1 + feed.later]
        for digest, coincidence in twins:
            same = before.setdefault(digest, [])
            # a copy is most often one of the period before, which is therefore not one of many
            chosen = 1 if same == [t - 1] else math.comb(t, len(same))
            chance = math.log(chosen) + len(same) * (coincidence + of_sizes)
            if same and chance < math.log(_COINCIDENCE):
                found = same[:1] + found
            same.append(t)
        if found:
            yield Suspected(t, HistoryProblem.SAME_COUNTS, other=names[found[0]], rows=each.rows)
        else:
            size = repr([each.values.get(column) for column in feed.features])
            alike += sizes[size]
            sizes[size] += 1


def _values(feed: Feed) -> Iterator[Suspected]:
    """Yield values that are new, vanished or spelt otherwise, and outcomes of one value alone.

    Values that the question names are none of the first.
    """
    asked = feed.question
    named = {(each.column, name) for each in asked.recode for name in each.names}
    named |= {(e.column, name_of(v)) for e in asked.sensitive for v in itertools.chain(*e.values)}
    for column in dict.fromkeys(name for each in feed.counted for name in each.values):
        held = feed.rows_by_value(column)
        values = {value for each in held for value in each}
        rows = sum(sum(each.values()) for each in held)
        # of a score these are the sides of its threshold, none of which is the positive value
        positive = feed.question.positive_of(column) if column != feed.question.score else ()
        outcomes = {is_one_of(value, positive) if positive else value for value in values}
        if column in feed.outcomes and len(outcomes) == 1 and rows >= _ROWS_OF_ONE_VALUE:
            value = next(iter(values)) if len(values) == 1 else None
            yield from (
                Suspected(t, HistoryProblem.ONE_VALUE, column, value, rows=sum(each.values()))
                for t, each in enumerate(held)
                if each
            )
        found = [*_new_values(column, held, {value for of, value in named if of == column})]
        yield from found
        apart = {each.at for each in found}
        yield from (each for each in _vanished(column, feed.periods, held) if each.at not in apart)


def _new_values(
    column: str, held: Sequence[Mapping[str, int]], named: Collection[str]
) -> Iterator[Suspected]:
    """Yield values that read like another one of more rows, and those that no earlier period has.

    The latter where they have too many rows for a rare one, for a week from their first period on.
    """
    total = Counter[str]()
    for each in held:
        total.update(each)
    largest: dict[object, str] = {}
    for value, _ in total.most_common():
        largest.setdefault(compact_reading(value), value)
    sizes, first = [sum(each.values()) for each in held], dict[str, int]()
    for t, each in enumerate(held):
        for value, rows in each.items():
            known = largest[compact_reading(value)]
            came = first.setdefault(value, t)
            if known != value and not {value, known} <= {*named}:
                yield Suspected(t, HistoryProblem.NEW_VALUE, column, value, known, rows)
            elif known == value and value not in named and FEWEST_PERIODS <= came > t - _WEEK:
                of, every = held[came][value], sum(sizes[: came + 1])
                if of >= _FEWEST_ROWS and all_among(of, sizes[came], every) / _DESIGN < RARE:
                    yield Suspected(t, HistoryProblem.NEW_VALUE, column, value, rows=rows)


def _vanished(
    column: str, periods: Sequence[Period], held: Sequence[Mapping[str, int]]
) -> Iterator[Suspected]:
    """Yield values that the rows of successive periods would have, and that none of them has.

    They are compared with the 14 periods of their kind before, two at least. Where the share of a
    value varies by period more than sampling does, its absence is as much less unlikely. A period
    without any value, as where labels come later, lacks none; nor does any lack a value that came
    late, for a few periods, and is gone.
    """
    sizes, kinds = [sum(each.values()) for each in held], [*map(kind_of, periods)]
    for value in dict.fromkeys(value for each in held for value in each):
        rows = [each.get(value, 0) for each in held]
        missed: list[int] = []
        absent: dict[int, int] = {}
        usual: dict[int, tuple[int, int, float]] = {}
        for t in (t for t, size in enumerate(sizes) if size):
            if rows[t]:
                missed, absent, usual = [], {}, {}
                continue
            if not absent:
                begin = t
            kind = kinds[t]
            missed.append(t)
            absent[kind] = absent.get(kind, 0) + sizes[t]
            if kind not in usual:
                before = [(rows[s], sizes[s]) for s in range(begin)
                          if kinds[s] == kind and sizes[s]][-_RECENT_PERIODS:]  # fmt: skip
                of, every = sum(of for of, _ in before), sum(size for _, size in before)
                varied = _dispersion([before], _DESIGN)
                usual[kind] = (of, every, varied) if len(before) > 1 else (0, 0, 1.0)
            chance = sum(
                all_among(of, every, every + absent[k]) / varied
                for k, (of, every, varied) in usual.items()
            )
            if chance < RARE and not is_gone([n > 0 for n in rows[: t + 1]], absent=1):
                for s in missed:
                    of, every, _ = usual[kinds[s]]
                    yield Suspected(
                        s, HistoryProblem.VANISHED_VALUE, column, value,
                        rows=sizes[s], expected=sizes[s] * of / max(every, 1),
                    )  # fmt: skip
                missed = []  # those after it are named one by one


def _vanished_categories(feed: Feed, unusual: set[tuple[str | None, int]]) -> Iterator[Suspected]:
    """Yield categories of intersections that vanish, where no column of these is unusual itself."""
    for columns in feed.question.intersections:
        name = crossed_name(columns)
        held = [each.crossed.get(name, {}) for each in feed.counted]
        for each in _vanished(name, feed.periods, held):
            if unusual.isdisjoint((column, each.at) for column in columns):
                yield each


class _PeriodShares(NamedTuple):
    """Shares of rows by period, and the usual ones where they are not usual: nan elsewhere."""

    rows: Array
    share: Array
    usual: Array

    @property
    def suspect(self) -> Mask:
        return ~np.isnan(self.usual)

    def suspected(self, t: int, problem: HistoryProblem, *of: str | None) -> Suspected:
        """Return what is suspected of a period."""
        column, value, other = (*of, None, None)[:3]
        share, usual = float(self.share[t]), float(self.usual[t])
        return Suspected(t, problem, column, value, other, int(self.rows[t]), share, usual)


def _group_shares(feed: Feed, unusual: set[tuple[str | None, int]]) -> Iterator[Suspected]:
    """Yield groups whose shares of the rows fall from the usual ones, or rise where none falls.

    Not in periods with an ``unusual`` value of the column, which changes the shares of others: no
    period is compared with these either.
    """
    for column in feed.features:
        held = [
            {} if (column, t) in unusual else each
            for t, each in enumerate(feed.rows_by_value(column))
        ]
        sizes = [sum(each.values()) for each in held]
        found = {
            group: _shares(feed.periods, [each.get(group, 0) for each in held], sizes, fewer=True)
            for group in dict.fromkeys(name for each in held for name in each)
        }
        for t in range(len(held)):
            suspect = {group: each for group, each in found.items() if each.suspect[t]}
            fallen = {g: each for g, each in suspect.items() if each.share[t] < each.usual[t]}
            for group, each in (fallen or suspect).items():
                yield each.suspected(t, HistoryProblem.VOLUME, column, group)


def _missing(feed: Feed) -> Iterator[Suspected]:
    """Yield shares of missing values that jump, of all rows or of one group alone.

    Labels that are not due yet, or that are overdue as a whole, are not looked at.
    """
    asked = feed.question
    for column in dict.fromkeys(name for each in feed.counted for name in each.missing):
        later = feed.later and column == asked.label
        known = len(feed.counted) - (len(feed.counted) if feed.due is None else feed.due) * later
        held, periods = feed.counted[: max(known, 0)], feed.periods[: max(known, 0)]
        # of rows without a weight or a count nobody knows how many cases or people they are
        of_rows = column in (asked.weight, asked.count)
        sizes = [each.read if of_rows else each.rows for each in held]
        every = _shares(periods, [each.missing.get(column, 0) for each in held], sizes)
        named = [*_missing_in_groups(periods, held, column, every)]
        yield from named
        apart = {each.at for each in named}
        for t in np.flatnonzero(every.suspect).tolist():
            if t not in apart and not (later and str(periods[t]) in feed.overdue):
                yield every.suspected(t, HistoryProblem.MISSING_VALUES, column)


def _missing_in_groups(
    periods: Sequence[Period], counted: Sequence[CountedRows], column: str, every: _PeriodShares
) -> Iterator[Suspected]:
    """Yield the groups whose shares of missing values are not usual, where all rows' is not it."""
    for feature in dict.fromkeys(f for each in counted for f in each.lacking.get(column, {})):
        groups = [each.lacking.get(column, {}).get(feature, {}) for each in counted]
        sizes = [each.values.get(feature, {}) for each in counted]
        found = {
            group: _shares(
                periods, [e.get(group, 0) for e in groups], [e.get(group, 0) for e in sizes]
            )
            for group in dict.fromkeys(name for each in groups for name in each)
        }
        for t in range(len(counted)):
            suspect = {name: each for name, each in found.items() if each.suspect[t]}
            if every.suspect[t] and not any(_apart(each, every, t) for each in suspect.values()):
                continue
            for name, each in suspect.items():
                yield each.suspected(t, HistoryProblem.MISSING_VALUES, column, name, feature)


def _apart(group: _PeriodShares, every: _PeriodShares, t: int) -> bool:
    """Return whether a group lacks values in another share of its rows than all rows do."""
    variance = every.share[t] * (1 - every.share[t]) / group.rows[t]
    far = max(SHARE, _DEVIATIONS * math.sqrt(variance))
    return bool(abs(group.share[t] - every.share[t]) > far)


def _shares(
    periods: Sequence[Period], counted: Sequence[int], sizes: Sequence[int], *, fewer: bool = False
) -> _PeriodShares:
    """Return shares of rows: what is usual, and which are suspect.

    Each period is compared with the last 14 of its kind before it that are not suspect, and with
    those of its weekday among them. Below seven such periods only more are suspect, but with
    ``fewer``.
    """
    rows = np.maximum(sizes, 1).astype(np.float64)
    share, usual = np.array(counted) / rows, np.full(len(rows), np.nan)
    counts = [*zip(counted, sizes, strict=True)]
    at = {ordinal(each): t for t, each in enumerate(periods)}
    alike: dict[int, list[int]] = {}
    for t in (t for t, size in enumerate(sizes) if size):
        pool = alike.setdefault(kind_of(periods[t]), [])
        others = pool[-_RECENT_PERIODS:]
        by_weekday: dict[int, list[tuple[int, int]]] = {}
        if len(others) == _RECENT_PERIODS:  # fewer do not show how much weekdays vary
            for s in others:
                by_weekday.setdefault(slot_of(periods[s]), []).append(counts[s])
        every, same = [counts[s] for s in others], by_weekday.get(slot_of(periods[t]), [])
        looked = not _returns(periods, usual, at, t)
        # what follows a suspect period need be half as far: its change may well go on
        far = _DEVIATIONS / 2 if t and not np.isnan(usual[t - 1]) else _DEVIATIONS
        for held, series in ((same, by_weekday.values()), (every, [every])):
            if looked and _differ(counts[t], held, series, far):
                ours = sum(of for of, _ in held) / sum(size for _, size in held)
                if share[t] > ours or fewer or len(others) >= FEWEST_PERIODS:
                    usual[t] = ours
        if np.isnan(usual[t]):
            pool.append(t)
    return _PeriodShares(rows, share, usual)


def _returns(periods: Sequence[Period], usual: Array, at: Mapping[int, int], t: int) -> bool:
    """Return whether what was suspected a week before a period may be of its weekday.

    It is if most periods of its kind since then were usual, which are nan. ``at`` has the number of
    a period by its ordinal.
    """
    before = at.get(ordinal(periods[t]) - LAGS[periods[t].length][0], t)
    if np.isnan(usual[before]):
        return False
    since = [s for s in range(before, t) if kind_of(periods[s]) == kind_of(periods[t])]
    return bool(2 * np.isnan(usual[since]).sum() >= len(since) > 0)


def _differ(
    one: tuple[int, int],
    others: Sequence[tuple[int, int]],
    series: Collection[Sequence[tuple[int, int]]],
    deviations: float,
) -> bool:
    """Return whether the share of rows in a period is not that of others, two or more.

    It differs by more than 5 pp and by so many deviations: the log of the likelihood ratio of two
    shares to one is half the square of their number where the share varies by sampling alone, and
    as many times that as it varies more within the ``series``. Each period is the number of such
    rows, and of all.
    """
    if len(others) < 2:
        return False
    sums = [one, tuple(map(sum, zip(*others, strict=True)))]
    shares = [of / every for of, every in sums]
    if abs(shares[0] - shares[1]) <= SHARE:
        return False
    both = sum(of for of, _ in sums) / sum(every for _, every in sums)
    ratio = sum(
        every * sum(a * math.log(a / b) for a, b in ((p, both), (1 - p, 1 - both)) if a > 0)
        for (_, every), p in zip(sums, shares, strict=True)
    )
    typical = max(every for _, every in (one, *others))
    varied = _dispersion(series, max(_DESIGN, typical / _ALIKE))
    return bool(2 * ratio > deviations**2 * varied)


def _dispersion(series: Collection[Sequence[tuple[int, int]]], supposed: float) -> float:
    """Return by how much shares of rows vary more by period than by sampling; 1 if not.

    It is Pearson's statistic by its degrees of freedom, with four more of what is ``supposed``,
    which decides where the periods are few, or hardly any row is of one of the two kinds. Each of
    the ``series`` is the rows of a value and all rows, by period.
    """
    squares, freedom = 0.0, 0.0
    for counts in series:
        of, every = np.array(counts, dtype=np.float64).reshape(-1, 2).T
        share = float(of.sum() / every.sum()) if len(every) > 1 else 0.0
        if 0 < share < 1:
            found = float(((of - every * share) ** 2 / (every * share * (1 - share))).sum())
            known = min(len(every) - 1, float(min(of.sum(), (every - of).sum())) / supposed)
            squares += found * known / (len(every) - 1)
            freedom += known
    return max(1.0, (squares + _SUPPOSED * supposed) / (freedom + _SUPPOSED))


def all_among(rows: float, some: float, every: float) -> float:
    """Return the log of the probability that so many of all rows are all among some of them."""
    if rows > some:
        return -math.inf
    logs = [math.lgamma(n + 1) - math.lgamma(n - rows + 1) for n in (some, every)]
    return logs[0] - logs[1]


def _scores(counted: Sequence[CountedRows]) -> Iterator[Suspected]:
    """Yield periods of scores in another range than in those before."""
    for column in dict.fromkeys(name for each in counted for name in each.scores):
        usual, known = np.zeros(PARTS), 0
        for t, each in enumerate(counted):
            parts, held = np.zeros(PARTS), each.scores.get(column, {})
            parts[[*map(int, held)]] = [*held.values()]
            rows = int(parts.sum())
            shares = _other_range(parts, usual) if known >= FEWEST_PERIODS and rows else None
            if shares is None:
                usual, known = usual + parts, known + (rows > 0)
            else:
                yield Suspected(t, HistoryProblem.OTHER_SCORES, column, None, None, rows, *shares)


def _other_range(parts: Array, usual: Array) -> tuple[float, float] | None:
    """Return the share of rows outside the usual range of scores, or of usual rows inside theirs.

    None where these may be a coincidence: that the first so many of all rows by score are new ones,
    or that all of these are between two that have so few of the others between them.
    """
    rows, every = float(parts.sum()), float(usual.sum())
    low, high = np.flatnonzero(usual)[[0, -1]]
    outside = int(parts[:low].sum() + parts[high + 1 :].sum())
    chance = math.log1p(outside) + all_among(outside, rows, rows + every)
    if outside > _OTHER_RANGE * rows and chance < RARE:
        return outside / rows, 0.0
    first, last = np.flatnonzero(parts)[[0, -1]]
    inside = float(usual[first : last + 1].sum())
    chance = 2 * math.log(rows) + (rows - 2) * math.log((inside + 1) / (every + 1))
    return (0.0, inside / every) if inside < SHARE * every and chance < RARE else None


def _copies(counted: Sequence[CountedRows]) -> Iterator[Suspected]:
    """Yield periods in which predictions always equal the label, or less often than if independent.

    Successive periods count together. The first is no coincidence where the rows that differ could
    not all be in other periods; the second from six deviations on: of two outcomes, the true
    positive rate is then below the false positive rate.
    """
    held = [t for t, each in enumerate(counted) if each.agreement[0] or each.agreement[1]]
    of_all = np.array([each.agreement for each in counted], dtype=np.float64).reshape(-1, 4)
    differ, every = float(of_all[:, 0].sum()), float(of_all[:, :2].sum())
    for equal, run in itertools.groupby(held, lambda t: counted[t].agreement[0] == 0):
        periods = [*run]
        rows = float(of_all[periods, 1].sum())
        no_chance = all_among(differ, every - rows, every) < RARE
        if equal and (no_chance if differ else rows >= _ROWS_OF_ONE_VALUE):
            for t in periods:
                yield Suspected(
                    t, HistoryProblem.COPIED_LABEL, rows=int(of_all[t, 1]), share=1.0, expected=1.0
                )
    known = [t for t in held if counted[t].agreement[3] > 0]
    for below, run in itertools.groupby(known, lambda t: operator.lt(*counted[t].agreement[1:3])):
        periods = [*run]
        _, same, chance, variance = of_all[periods].sum(axis=0).tolist()
        if below and same - chance < -_DEVIATIONS * math.sqrt(variance):
            for t in periods:
                apart, same, chance, _ = counted[t].agreement
                yield Suspected(
                    t, HistoryProblem.COPIED_LABEL, rows=apart + same,
                    share=same / (apart + same), expected=chance / (apart + same),
                )  # fmt: skip


def labels_of_one_decision(feed: Feed, entered: int) -> HistoryFinding | None:
    """Return that hardly a row of one decision has a label, where most of the other have one.

    That is so from some period on, to the last of those that ``entered``, as where only approved
    loans can be repaid. Of the other decision nothing is known then: of such rows the true positive
    rate of every group is 100%, whatever the model does. Where nothing states when labels are due,
    seven periods show it.
    """
    shown = [
        (str(period), each.labelled)
        for period, each in zip(feed.periods[:entered], feed.counted, strict=False)
        if any(labels for _, labels in each.labelled.values())
    ]
    if not shown or feed.question.label not in feed.outcomes:
        return None
    sums = np.array([[of[side] for side in _DECIDED] for _, of in shown])
    since = sums[::-1].cumsum(axis=0)[::-1]
    alone = _lacks_labels(sums)
    alone[0] = True  # few labels of a first period may be chance
    begins = _lacks_labels(since) & (since[..., 0] >= _FEWEST_LABELLED) & alone
    fewest = FEWEST_PERIODS if feed.later and feed.due is None else 1
    begins[len(shown) + 1 - fewest :] = False
    if not begins.any():
        return None
    t, side = np.argwhere(begins)[0].tolist()
    (rows, labels), (others, of_others) = since[t, side].tolist(), since[t, 1 - side].tolist()
    return HistoryFinding(
        problem=HistoryProblem.MISSING_VALUES,
        period=shown[t][0],
        last=shown[-1][0],
        column=feed.question.label,
        decision=_DECIDED[side],
        other=feed.question.prediction or feed.question.score,
        rows=rows,
        share=1 - labels / rows,
        expected=1 - of_others / others,
    )


def _lacks_labels(sums: Index) -> Mask:
    """Return whether hardly a row of each decision has a label, and most of the other have one."""
    rows, labels = sums[..., 0], sums[..., 1]
    return np.asarray((labels <= SHARE * rows) & (2 * labels >= rows)[..., ::-1])
