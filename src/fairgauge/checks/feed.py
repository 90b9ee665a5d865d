"""Every check of a monitor's feed, one row each: what counts of periods show of the rows.

Each check compares a period with what the periods before it lead to expect. The bounds are chosen
so that a feed that does not change is hardly ever suspected, also where its volume has a weekly
course (docs/monitoring.md). A suspected period is no measure of later ones, so that a lasting
change remains a finding. Of each period the checks read ordinary counts of its values, which are
pure functions of its counts and of the question.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple, TypeAlias

import numpy as np

from fairgauge.checks.names import compact_reading
from fairgauge.cube.cube import HANDFUL, CountTable, Cube, cases_of_no_weight, counts_together
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task, open_levels
from fairgauge.resolve.resolution import excluded_rows
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.arrays import Array
from fairgauge.values import Value, is_one_of, meaning, name_of

# periods from which on the next is expected to be like them
_FEWEST = 7
# the log of the probability below which something is no coincidence
_RARE = math.log(1e-6)
# the least by which a share must differ, and the most that hardly any rows are
_SHARE = 0.05
_RECENT, _DEVIATIONS = 14, 6.0
_SUPPOSED, _DESIGN, _ALIKE = 4, 3.3, 192
"""Until the periods show it, the variance of a share is supposed to be 3.3 times that of sampling.

That counts as four degrees of freedom. A period of more than 634 rows is supposed to vary as much
as one of 192 does by sampling, as shares vary by period however many rows there are.
"""
_VOLUME, _OF_VOLUME = math.log(4 / 3), 4.2
"""A volume is unusual from a third on, and from so many usual deviations on."""
_SUPPOSED_DEVIATION, _AS_IF_KNOWN, _MEMORY, _LAST_WEEKDAYS = 0.3, 5, 56, 4
_FEWEST_CELLS, _FEWEST_ROWS, _ROWS_OF_ONE_VALUE = 4, 5, 50
_COINCIDENCE = math.log(1e-4)
# shares of scores that move by days alone hardly reach, and by another scale far surpass
_OTHER_RANGE = 0.2
_UNLIKE = 25
"""A group of which no row has a value is not suspect where it may have a 25th of the usual share."""
_LEFT, _HINT = 2 / 3, 3.0
"""Rows of an outcome are lost where less than 2/3 are left, and its rate hints at it."""


# the columns that are checked; one of two roles is counted in the first of them
_CHECKED = (
    Role.FEATURE, Role.LABEL, Role.PREDICTION, Role.SCORE, Role.STRATUM, Role.CLUSTER,
)  # fmt: skip
BY_DEFAULT = (0, 1)
"""The labels where no value is named as the positive one."""
PARTS = 100
"""The parts of the range of scores in which their rows are counted."""
_MOST_VALUES = 200


# the rows of a value, and all
_Rows: TypeAlias = tuple[int, int]


class Subject(NamedTuple):
    """What is looked at: a column, of all rows or of those of one group of a feature."""

    column: str | None = None
    feature: str | None = None
    group: str | None = None


_OF_ALL = Subject()
_Values: TypeAlias = dict[Subject, dict[str, int]]


class FeedRows(NamedTuple):
    """The rows that a cube counts, and what distinguishes them from those of other periods.

    ``twins``: the fingerprint of the counts, and the log of the probability that other rows of the
        same groups have these counts; and both of the counts without labels.
    ``rows, excluded``: all rows, and by reason those that the question excludes; of a count its
        cases and of persons these, here and below.
    ``read``: the rows that were read, whatever these stand for.
    ``complete``: whether no value is missing, or may be none, and none is excluded by name.
    ``values, missing``: the rows of every value of a column, those of outcomes also of every group,
        and of none.
    ``divisor, cells``: the largest number that divides the rows of all cells, and how many cells;
        of rows also where these have a count.
    ``agreement``: of all rows and of every group those with label and prediction, those in which
        they are equal, and the share that would be if the two were independent in every group;
        of a score its decision, and nothing of numbers.
    ``scores``: the rows in every hundredth of the range of scores that has some, of all and of
        every group.
    """

    twins: Sequence[tuple[str, float]]
    rows: int
    read: int
    complete: bool
    excluded: dict[str, int]
    values: Mapping[Subject, Mapping[str, int]]
    missing: Mapping[str, int]
    divisor: int
    cells: int
    agreement: Mapping[Subject, tuple[int, int, float]]
    scores: Mapping[Subject, Mapping[str, int]]


class FeedPeriod(NamedTuple):
    """A period of a feed.

    ``name, rows``: its name and what it counts.
    ``kind, weekday``: what it is compared with: working days or weekends, and its weekday (of
        hours, of the same hour of the day).
    """

    name: str
    rows: FeedRows
    kind: int
    weekday: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The periods that are checked, and what is asked of them.

    ``periods``: in order.
    ``question``: the specification of an audit of one period.
    ``outcomes``: the columns of labels and predictions that rules need.
    ``gaps``: the absent periods in a row: the first, the last, the one after it, and how many.
    ``due``: where labels come later, the later periods with which they are due.
    ``overdue``: the periods whose labels are due and missing.
    ``baselines``: the files of baselines by their fingerprints.
    """

    periods: Sequence[FeedPeriod]
    question: Spec
    outcomes: Collection[str] = ()
    gaps: Sequence[tuple[str, str, str, int]] = ()
    due: int = 0
    overdue: Collection[str] = ()
    baselines: Mapping[str, str] = field(default_factory=dict)

    def rows_by_value(self, subject: Subject) -> list[Mapping[str, int]]:
        """Return the rows of every value, by period."""
        return [each.rows.values.get(subject, {}) for each in self.periods]


class Suspected(NamedTuple):
    """What may be wrong with one period, by its number; the other fields are those of a finding."""

    at: int
    problem: HistoryProblem
    column: str | None = None
    feature: str | None = None
    group: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    share: float | None = None
    expected: float | None = None


def check_feed(feed: Feed) -> tuple[HistoryFinding, ...]:
    """Return what may be wrong with the periods of a feed, in the order of the periods."""
    found = [
        HistoryFinding(problem=HistoryProblem.GAP, period=first, last=last, other=after, rows=n)
        for first, last, after, n in feed.gaps
    ]
    found += _merge_periods([each for check in FEED_CHECKS for each in check(feed)], feed)
    return tuple(sorted(found, key=lambda each: (each.period, each.problem, each.column or "")))


def _merge_periods(suspected: Sequence[Suspected], feed: Feed) -> Iterator[HistoryFinding]:
    # findings, one for the same thing in successive periods: the rows of all
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
        first, sizes = run[0], [each.rows or 0 for each in run]
        if sum(sizes) > sizes[0]:
            numbers = [[getattr(e, name) or 0.0 for e in run] for name in ("share", "expected")]
            share, usual = (float(np.average(each, weights=sizes)) for each in numbers)
            if first.share is not None:
                first = first._replace(share=share, expected=usual)
            elif first.problem is not HistoryProblem.DOUBLED_ROWS and first.expected is not None:
                first = first._replace(expected=sum(numbers[1]))
            first = first._replace(rows=sum(sizes))
        keys = first._asdict()
        period, last = feed.periods[keys.pop("at")].name, feed.periods[run[-1].at].name
        yield HistoryFinding(period=period, last=last, **keys)


def _overdue(feed: Feed) -> Iterator[Suspected]:
    for t, each in enumerate(feed.periods):
        if each.name in feed.overdue:
            yield Suspected(t, HistoryProblem.OVERDUE_LABELS)


def _volume(feed: Feed) -> Iterator[Suspected]:
    # A period is compared with the median of the last four of its weekday. Every row stands several
    # times by the counts of many cells, or by those of a few where the volume is as many times the
    # usual one.
    by_weekday: dict[int, list[float]] = {}
    deviations: dict[int, list[float]] = {}
    known = doubled = 0
    for t, period in enumerate(feed.periods):
        each, value = period.rows, math.log(max(period.rows.rows, 1))
        same = by_weekday.setdefault(period.weekday, [])
        compared = bool(same) and known >= _FEWEST
        usual = median(same[-_LAST_WEEKDAYS:]) if compared else value
        single = usual if compared else _usual_of_kind(feed, t)
        as_often = round(math.exp(min(value - single, 10.0)))
        alike = abs(value - single - math.log(max(as_often, 1))) < _VOLUME
        times = 1
        if each.divisor > 1 and -each.cells * math.log(each.divisor) < _RARE and 2 * doubled <= t:
            times = each.divisor  # else a row counts several times on purpose
        elif alike and each.divisor % max(as_often, 1) == 0 and each.cells >= _FEWEST_CELLS:
            times = as_often
        doubled += each.divisor > 1
        if times > 1:
            found = HistoryProblem.DOUBLED_ROWS
            yield Suspected(t, found, rows=each.rows, expected=float(times))
            continue
        past = deviations.setdefault(period.kind % 2, [])
        sampling = math.sqrt(2 / math.exp(max(value, usual)))
        if abs(value - usual) > max(_VOLUME, _OF_VOLUME * max(_scale(past), sampling)):
            yield Suspected(t, HistoryProblem.VOLUME, rows=each.rows, expected=math.exp(usual))
            continue
        same.append(value)
        known += 1
        if compared:
            past.append(value - usual)


def _usual_of_kind(feed: Feed, t: int) -> float:
    # Where fewer than two show it, or two that differ, it is that of all days: in a new history, or
    # after a gap, a Saturday may be the first. It is that of the period itself where neither shows
    # it.
    rows = [math.log(max(each.rows.rows, 1)) for each in feed.periods]
    every = [s for s in range(len(rows)) if s != t]
    kind = feed.periods[t].kind
    for chosen in ([s for s in every if feed.periods[s].kind == kind], every):
        others = [rows[s] for s in chosen]
        if len(others) > 2 or (len(others) == 2 and abs(others[0] - others[1]) < _VOLUME):
            return median(others)
    return rows[t]


def _scale(apart: Sequence[float]) -> float:
    # of few it is what is supposed beforehand, as if five of these were known
    held = np.sort(np.abs(apart[-_MEMORY:]))
    if len(held) < _FEWEST:
        squares = float(np.sum(held**2)) + _AS_IF_KNOWN * _SUPPOSED_DEVIATION**2
        return math.sqrt(squares / (len(held) + _AS_IF_KNOWN))
    kept = held[: math.ceil(0.8 * len(held))]  # the factor makes it that of a normal distribution
    return 1.5 * math.sqrt(float(np.mean(kept**2))) * (1 + 3 / len(held))


def _same_counts(feed: Feed) -> Iterator[Suspected]:
    # a copy has the labels of the original or others, so that the counts without them are compared,
    # too
    before: dict[str, list[int]] = {}
    sizes: Counter[str] = Counter()
    alike, columns = 0, {each.column for each in feed.question.sensitive}
    for t, (_, each, *_) in enumerate(feed.periods):
        if source := feed.baselines.get(each.twins[0][0]):
            yield Suspected(t, HistoryProblem.SAME_COUNTS, other=source, rows=each.rows)
        # sizes of groups that were never the same in two periods are a coincidence by themselves
        of_sizes = math.log((alike + 1) / (math.comb(sizes.total(), 2) + 1)) if columns else 0.0
        found: list[int] = []
        for digest, coincidence in each.twins[: 1 + bool(feed.due)]:
            same = before.setdefault(digest, [])
            # a copy is most often one of the period before, which is therefore not one of many
            chosen = 1 if same == [t - 1] else math.comb(t, len(same))
            if same and math.log(chosen) + len(same) * (coincidence + of_sizes) < _COINCIDENCE:
                found = same[:1] + found
            same.append(t)
        if found:
            other = feed.periods[found[0]].name
            yield Suspected(t, HistoryProblem.SAME_COUNTS, other=other, rows=each.rows)
        else:
            size = repr([each.values.get(Subject(column)) for column in sorted(columns)])
            alike += sizes[size]
            sizes[size] += 1


def _unusual_values(feed: Feed) -> Iterator[Suspected]:
    # Values that the question names are none of the first. What is unusual of all rows is not
    # stated of groups, nor shares of groups beside a value that is new or has vanished.
    asked = feed.question
    named = {(each.column, name) for each in asked.recode for name in each.names}
    named |= {(e.column, name_of(v)) for e in asked.sensitive for v in itertools.chain(*e.values)}
    features = {each.column for each in asked.sensitive}
    unusual = defaultdict[str | None, set[int]](set)
    for subject in dict.fromkeys(each for period in feed.periods for each in period.rows.values):
        column = subject.column
        held = feed.rows_by_value(subject)
        found = [*_one_value(feed, subject, held)]
        if subject.feature is None:
            found += _new_values(subject, held, {value for of, value in named if of == column})
        apart = {each.at for each in found} | unusual[column]
        sizes = [0 if t in apart else sum(each.values()) for t, each in enumerate(held)]
        shares: dict[int, list[Suspected]] = {}
        for value in dict.fromkeys(v for each in held for v in each):
            counted = [each.get(value, 0) for each in held]
            first = next(t for t, rows in enumerate(counted) if rows)  # it is not missed before
            own = [size * (t >= first) for t, size in enumerate(sizes)]
            least = _SHARE if column in features else 1.0
            of_all = None if subject.feature is None else _rows_by_period(feed, subject)
            departures = _departures(feed, counted, own, of_all, least=least)
            for t, (size, share, usual) in departures.items():
                numbers = (size, None, size * usual) if not share else (size, share, usual)
                problem = HistoryProblem.VOLUME if share else HistoryProblem.VANISHED_VALUE
                if share and of_all:
                    numbers = counted[t], None, (size - counted[t]) * usual / (1 - usual)
                each = Suspected(t, problem, *subject, value, None, *numbers)
                (shares.setdefault(t, []) if share else found).append(each)
        apart |= {each.at for each in found}
        for t, suspects in shares.items():
            fallen = [each for each in suspects if (each.share or 0) < (each.expected or 0)]
            found += [] if t in apart else fallen or suspects
        if subject.feature is None:
            unusual[column] |= {each.at for each in found}
        yield from found


def _rows_by_period(feed: Feed, subject: Subject) -> list[int]:
    # of all groups of a feature, those with a value of a column
    return [
        sum(sum(held.values()) for of, held in each.rows.values.items() if of[:2] == subject[:2])
        for each in feed.periods
    ]


def _one_value(
    feed: Feed, subject: Subject, held: Sequence[Mapping[str, int]]
) -> Iterator[Suspected]:
    # The periods of a column of outcomes in which no period has another one; of a group, where the
    # others have so many that a hundred-and-fiftieth... that even a small part of their share
    # would be seen.
    column = subject.column
    # of a score these are the sides of its threshold, none of which is the positive value
    positive = feed.question.positive_of(column) if column != feed.question.score else ()

    def outcome(value: str) -> str | bool:
        return is_one_of(value, positive) if positive else value

    outcomes = {outcome(value) for each in held for value in each}
    if column not in feed.outcomes or len(outcomes) != 1:
        return
    rows = sum(sum(each.values()) for each in held)
    if subject.feature is not None:
        every = Counter[bool]()
        for each in feed.rows_by_value(Subject(column)):
            for value, n in each.items():
                every[outcome(value) in outcomes] += n
        enough = _is_none_too_few(rows, every[False], every.total() - rows)
    else:
        enough = rows >= _ROWS_OF_ONE_VALUE
    values = {value for each in held for value in each}
    for t, each in enumerate(held if enough else ()):
        if each:
            value = next(iter(values)) if len(values) == 1 else None
            n = sum(each.values())
            yield Suspected(t, HistoryProblem.ONE_VALUE, *subject, value, rows=n)


def _is_none_too_few(rows: int, some: int, every: int) -> bool:
    # whether none of the rows of a group is no coincidence even if its share is much smaller than
    # that of the others
    return rows * some > -_RARE * _UNLIKE * every


def _new_values(
    subject: Subject, held: Sequence[Mapping[str, int]], named: Collection[str]
) -> Iterator[Suspected]:
    # the latter where they have too many rows for a rare one, for a week from their first period on
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
            new = t, HistoryProblem.NEW_VALUE, *subject, value
            if known != value and not {value, known} <= {*named}:
                yield Suspected(*new, known, rows)
            elif known == value and value not in named and _FEWEST <= came > t - _FEWEST:
                of, every = held[came][value], sum(sizes[: came + 1])
                if of >= _FEWEST_ROWS and _log_chance(of, sizes[came], every) / _DESIGN < _RARE:
                    yield Suspected(*new, None, rows)


def _unusual_missing_shares(feed: Feed) -> Iterator[Suspected]:
    # labels that are not due yet, or that are overdue as a whole, are not looked at
    asked = feed.question
    for column in dict.fromkeys(name for each in feed.periods for name in each.rows.missing):
        later = bool(feed.due) and column == asked.label
        held = [e.rows for e in feed.periods[: max(len(feed.periods) - feed.due * later, 0)]]
        # of rows without a weight or a count nobody knows how many cases or people they are
        of_rows = column in (asked.weight, asked.count)
        sizes = [e.read if of_rows else e.rows for e in held]
        counted = [e.missing.get(column, 0) for e in held]
        for t, (size, share, usual) in _departures(feed, counted, sizes, fewer=False).items():
            if not (later and feed.periods[t].name in feed.overdue):
                yield Suspected(t, HistoryProblem.MISSING_VALUES, column,
                                rows=size, share=share, expected=usual)  # fmt: skip


def _departures(
    feed: Feed,
    counted: Sequence[int],
    sizes: Sequence[int],
    of_all: Sequence[int] | None = None,
    *,
    least: float = _SHARE,
    fewer: bool = True,
) -> dict[int, tuple[int, float, float]]:
    # The rows, the share and the usual one of the periods in which it departs from its history: the
    # last 14 periods of its kind before it that do not. It does so by ``least``, or as there are
    # none, in this period and those before it; or, of the rows of a group among those ``of_all``,
    # as many are lost. With ``fewer``, it may be less than usual in the first week, too.
    found: dict[int, tuple[int, float, float]] = {}
    pools: dict[int, tuple[list[int], list[int]]] = {}
    for t, (rows, size) in enumerate(zip(counted, sizes, strict=False)):
        if not size:
            continue
        pool, without = pools.setdefault(feed.periods[t].kind, ([], []))
        if rows:
            pool += [s for s in without if s not in found]
            without.clear()
        else:
            without.append(t)
        usual = pool[-_RECENT:]
        others = [(counted[s], sizes[s]) for s in usual]
        of, every = _add_up(others)
        share = rows / size
        one = rows, sum(sizes[s] for s in without) if of and not rows else size
        suspect = False
        if len(usual) > 1:
            apart = abs(share - of / every) > least or (fewer and not rows and of)
            suspect = bool(apart) and _evidence(one, others) > -_RARE
            suspect &= rows * every > of * size or fewer or len(usual) >= _FEWEST
            if of_all and rows and not suspect:
                groups = [(sizes[s], of_all[s]) for s in usual]
                suspect = _has_lost(one, others, (size, of_all[t]), groups)
        if suspect:
            for s in without or [t]:
                found.setdefault(s, (sizes[s], share, of / every))
        elif rows:
            pool.append(t)
    return found


def _has_lost(one: _Rows, others: Sequence[_Rows], group: _Rows, groups: Sequence[_Rows]) -> bool:
    # Whether rows of one outcome of a group are lost: there are fewer of them by a third or more,
    # and fewer of the group, by about as many. Where its rate is another one, its rows are as many.
    (rows, size), (of, every) = one, _add_up(others)
    expected = (size - rows) * of / max(every - of, 1)
    own, total = _add_up(groups)
    lost = (group[1] - size) * own / max(total - own, 1) - size
    if rows >= _LEFT * expected or lost < (expected - rows) / 2:
        return False
    of_rate = _evidence(one, others)
    return of_rate > _HINT and of_rate + _evidence(group, groups) > -_COINCIDENCE


def _add_up(counts: Sequence[_Rows]) -> _Rows:
    return sum(of for of, _ in counts), sum(every for _, every in counts)


def _evidence(one: _Rows, others: Sequence[_Rows]) -> float:
    # The log of the likelihood ratio of two shares to one, which is half the square of the
    # deviations between them where the share varies by sampling alone, and as many times that as it
    # varies more. Each period is the number of such rows, and of all.
    sums = [one, _add_up(others)]
    both = sum(of for of, _ in sums) / sum(every for _, every in sums)
    ratio = sum(
        a * math.log(a / every / b)
        for of, every in sums
        for a, b in ((of, both), (every - of, 1 - both))
        if a > 0
    )
    typical = max(every for _, every in others) if one[0] else 0.0
    return ratio / _dispersion(others, max(_DESIGN, typical / _ALIKE))


def _dispersion(counts: Sequence[_Rows], supposed: float) -> float:
    # it is Pearson's statistic by its degrees of freedom, with four more of what is ``supposed``,
    # which decides where the periods are few, or hardly any row is of one of the two kinds
    of, every = _add_up(counts)
    share, last = of / every, len(counts) - 1
    if not 0 < share < 1:
        return supposed
    found = sum((n - m * share) ** 2 / (m * share * (1 - share)) for n, m in counts)
    freedom = min(last, min(of, every - of) / supposed)
    return max(1.0, (found * freedom / last + _SUPPOSED * supposed) / (freedom + _SUPPOSED))


def _log_chance(rows: float, some: float, every: float) -> float:
    if rows > some:
        return -math.inf
    logs = [math.lgamma(n + 1) - math.lgamma(n - rows + 1) for n in (some, every)]
    return logs[0] - logs[1]


def _unusual_scores(feed: Feed) -> Iterator[Suspected]:
    whole = set[int]()
    for subject in dict.fromkeys(each for period in feed.periods for each in period.rows.scores):
        usual, known = np.zeros(PARTS), 0
        for t, each in enumerate(feed.periods):
            parts, held = np.zeros(PARTS), each.rows.scores.get(subject, {})
            parts[[*map(int, held)]] = [*held.values()]
            rows = int(parts.sum())
            shares = _share_outside_usual_range(parts, usual) if known >= _FEWEST and rows else None
            if shares is None:
                usual, known = usual + parts, known + (rows > 0)
            elif t not in whole:
                whole |= {t} if subject.feature is None else set()
                yield Suspected(t, HistoryProblem.OTHER_SCORES, *subject, None, None, rows, *shares)


def _share_outside_usual_range(parts: Array, usual: Array) -> tuple[float, float] | None:
    # none where these may be a coincidence: that the first so many of all rows by score are new
    # ones, or that all of these are between two that have so few of the others between them
    rows, every = float(parts.sum()), float(usual.sum())
    low, high = np.flatnonzero(usual)[[0, -1]]
    outside = int(parts[:low].sum() + parts[high + 1 :].sum())
    chance = math.log1p(outside) + _log_chance(outside, rows, rows + every)
    if outside > _OTHER_RANGE * rows and chance < _RARE:
        return outside / rows, 0.0
    first, last = np.flatnonzero(parts)[[0, -1]]
    inside = float(usual[first : last + 1].sum())
    chance = 2 * math.log(rows) + (rows - 2) * math.log((inside + 1) / (every + 1))
    return (0.0, inside / every) if inside < _SHARE * every and chance < _RARE else None


def _copies(feed: Feed) -> Iterator[Suspected]:
    # The first is no coincidence where the rows that differ could not all be in other periods, or,
    # where there are none, of other groups; the second from six deviations on.
    held = [each.rows.agreement for each in feed.periods]
    whole = [sum(each.get(_OF_ALL, (0, 0))[i] for each in held) for i in (0, 1)]
    of_everybody = set[int]()  # those of all rows come first
    for subject in dict.fromkeys([_OF_ALL, *itertools.chain.from_iterable(held)]):
        own = [each.get(subject, (0, 0, 0.0)) for each in held]
        every, equal = (sum(each[i] for each in own) for i in (0, 1))
        differ = every - equal
        never = every >= _ROWS_OF_ONE_VALUE
        if subject != _OF_ALL:
            never = _is_none_too_few(every, whole[0] - whole[1], whole[0] - every)
        for t, (n, same, chance) in enumerate(own):
            if t in of_everybody or not n:
                continue
            no_chance = _log_chance(differ, every - n, every) < _RARE if differ else never
            deviation = math.sqrt(n * chance * (1 - chance))
            if same == n and chance < 1 and no_chance:
                share, expected = 1.0, 1.0
            elif n * chance - same > _DEVIATIONS * deviation > 0:
                share, expected = same / n, chance
            else:
                continue
            if subject == _OF_ALL:
                of_everybody.add(t)
            found = HistoryProblem.COPIED_LABEL
            yield Suspected(t, found, *subject, rows=n, share=share, expected=expected)


FEED_CHECKS: tuple[Callable[[Feed], Iterator[Suspected]], ...] = (
    _overdue, _volume, _same_counts, _unusual_values, _unusual_missing_shares, _unusual_scores,
    _copies,
)  # fmt: skip
"""The checks, in the order of their findings."""


# ---- what is read of a period


def feed_rows(cube: Cube, question: Spec) -> FeedRows:
    """Return the rows that a cube counts, and those that the question excludes, by reason."""
    named = question.unknown or question.exclude_groups
    complete = (
        not (named or cube.excluded or cases_of_no_weight(cube))
        and all((table.codes >= 0).all() for table in cube.tables)
        and all(open_levels(cube, axis, question) is None for axis in cube.plan.outcomes)
    )
    excluded = {} if complete else excluded_rows(cube, question)
    cases = _counts_by_case(cube)
    joint = _joint(cube)
    rows = joint.sums["rows"][joint.sums["rows"] > 0]
    known = rows.size > 0 and cube.rows > HANDFUL
    return FeedRows(
        [(fingerprint(cube), _coincidence(joint) if known else 0.0),
         _fingerprint_without_labels(cube, joint)],
        cases.rows,
        cube.rows,
        complete,
        {why: n for why, n in excluded.items() if n and why != Uncounted.SAME_PERSON},
        *_rows_of_values(cases, question),
        int(np.gcd.reduce(rows.astype(np.int64))) if known else 1,
        int(rows.size),
        _agreement(cases, question),
        _score_histograms(cases),
    )  # fmt: skip


def fingerprint(cube: Cube) -> str:
    """Return what distinguishes counts from others of the same plan, as their digest does."""
    excluded = {str(reason): rows for reason, rows in cube.excluded.items()}
    found = hashlib.sha256(repr((cube.rows, excluded, [*cube.levels.values()])).encode())
    for table in cube.tables:
        found.update(table.codes.tobytes())
        for sums in table.sums.values():
            found.update(sums.tobytes())
    return found.hexdigest()


def _counts_by_case(cube: Cube) -> Cube:
    # counts of which every case, person, or row without a count is a row
    if not cube.plan.count and not cube.asked.of_people:
        return cube
    tables = (replace(each, sums={**each.sums, "rows": each.cases}) for each in cube.tables)
    others = (n for why, n in cube.excluded.items() if why != Uncounted.SAME_PERSON)
    return replace(cube, tables=tuple(tables), rows=cube.cases + sum(others))


def _rows_of_values(cube: Cube, question: Spec) -> tuple[_Values, dict[str, int]]:
    # Those of groups and strata that are cut are the intervals, those of a score the decisions at
    # its threshold. Other numbers that are cut have none, nor have columns of many. Values that are
    # excluded or mean that nothing is known are none that could be new, nor are clusters; rows of
    # unknown groups are missing.
    values: _Values = {}
    missing: dict[str, int] = {}
    apart = {*map(name_of, question.unknown), *question.exclude_groups}
    binary = decide_task(cube, question) is Task.BINARY
    for axis in (axis for role in _CHECKED for axis in cube.plan.axes if axis.role is role):
        if axis.column in missing:
            continue
        unknown = np.append(unknown_levels(axis, cube.levels[axis], question), True)
        missing[axis.column] = int(cube.cases_by_level[axis][unknown].sum())
        if axis.role in (Role.SCORE, Role.CLUSTER) or not _has_names(cube, axis):
            continue
        names, outcome = axis.names(cube.levels[axis]), axis.role in (Role.LABEL, Role.PREDICTION)
        if outcome and not axis.bounds and binary:
            names = [name_of(meaning(level)) for level in cube.levels[axis]]  # True counts as 1
        numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
        places = {axis: np.array([numbers[name] for name in names], dtype=np.intp)}
        for (feature, group), counts in _by_subject(cube, places, of_groups=outcome):
            if group not in apart:
                held = dict(zip(numbers, map(int, counts), strict=True))
                values[Subject(axis.column, feature, group)] = {
                    name: n for name, n in held.items() if n and name not in apart
                }
    uncounted = {cube.plan.weight: Uncounted.NO_WEIGHT, cube.plan.count: Uncounted.NO_COUNT}
    for column, why in uncounted.items():
        if column is not None:
            missing.setdefault(column, cube.excluded.get(why, 0))
    return values, missing


def _has_names(cube: Cube, axis: Axis) -> bool:
    # whether the values of an axis have names: they are few, or intervals of groups
    if axis.cuts:
        return bool(axis.bounds) or axis.role in (Role.FEATURE, Role.STRATUM)
    return not axis.grid and len(cube.levels[axis]) <= _MOST_VALUES


def _by_subject(
    cube: Cube, places: Mapping[Axis, Array], *, of_groups: bool = True
) -> Iterator[tuple[tuple[str | None, str | None], Array]]:
    # the rows by the places of levels, of all and of every group that is counted together with them
    shape = [int(place.max(initial=-1)) + 1 for place in places.values()]
    features = [
        axis for axis in cube.plan.axes
        if of_groups and axis.role is Role.FEATURE and counts_together(cube, axis, *places)
        and _has_names(cube, axis)
    ]  # fmt: skip
    for feature in (None, *features):
        table = cube.marginal([*([feature] if feature else []), *places])
        known = (table.codes >= 0).all(axis=1)
        codes = table.codes[known].T
        names = feature.names(cube.levels[feature]) if feature else [None]
        at = [place[of] for place, of in zip(places.values(), codes[-len(places) :], strict=True)]
        counts = np.zeros((len(names), *shape))
        group = codes[0] if feature else np.zeros_like(codes[0])
        np.add.at(counts, (group, *at), table.sums["rows"][known])
        yield from (
            ((feature.column if feature else None, name), of)
            for name, of in zip(names, counts, strict=True)
        )


def _score_histograms(cube: Cube) -> dict[Subject, dict[str, int]]:
    axis = cube.plan.axis(Role.SCORE)
    if axis is None or not axis.grid:
        return {}
    parts = np.arange(2 * axis.grid + 2) // 2 * PARTS // axis.grid
    counts = _by_subject(cube, {axis: np.minimum(parts, PARTS - 1)})
    return {
        Subject(axis.column, *of): {str(i): int(held[i]) for i in np.flatnonzero(held).tolist()}
        for of, held in counts
    }


def _agreement(cube: Cube, question: Spec) -> dict[Subject, tuple[int, int, float]]:
    # of all rows, and of those of every group; all positive values are one
    label, prediction = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or prediction is None or decide_task(cube, question) is Task.REGRESSION:
        return {}
    if not all(_has_names(cube, axis) for axis in (label, prediction)):
        return {}
    words = question.words_of_predictions is not None and not prediction.bounds

    def outcome(axis: Axis, value: Value) -> str | bool:
        named = words and not axis.bounds
        return _is_positive(axis, value, question) or (named and name_of(meaning(value)))

    numbers: dict[str | bool, int] = {}
    places = {
        axis: np.array([numbers.setdefault(outcome(axis, v), len(numbers))
                        for v in cube.levels[axis]], dtype=np.intp)
        for axis in (label, prediction)
    }  # fmt: skip
    found, equal = {}, Counter[str | None]()
    for of, counts in _by_subject(cube, places):
        n, both = counts.sum(), min(counts.shape)
        chance = float(counts.sum(axis=1)[:both] @ counts.sum(axis=0)[:both]) / max(n, 1) ** 2
        found[Subject(None, *of)] = int(n), int(np.trace(counts)), chance
        equal[of[0]] += chance * n
    n, same, _ = found[_OF_ALL]  # whose groups may have unlike shares of both
    return found | {_OF_ALL: (n, same, min(equal.values()) / max(n, 1))}


def _is_positive(axis: Axis, value: Value, question: Spec) -> bool:
    # whether an outcome is positive: of a score, the decision at its threshold
    if not axis.bounds:
        wanted = question.positive_of(axis.column)
        return is_one_of(value, wanted if question.positive else BY_DEFAULT[1:])
    wanted = question.positive_of(question.label) or BY_DEFAULT[1:]
    return bool(value) == (question.score_of is None or is_one_of(question.score_of, wanted))


def _fingerprint_without_labels(cube: Cube, joint: CountTable) -> tuple[str, float]:
    # it is the same before and after the labels have come
    axes = [axis for axis in joint.axes if axis.role is not Role.LABEL]
    table = cube.marginal(axes)
    found = hashlib.sha256(repr([cube.levels[axis] for axis in axes]).encode())
    found.update(table.codes.tobytes())
    found.update(table.sums["rows"].tobytes())
    return found.hexdigest(), 0.0 if cube.rows <= HANDFUL else _coincidence(table)


def _joint(cube: Cube) -> CountTable:
    others = (Role.CLUSTER, Role.CODES)
    apart = [t for t in cube.tables if not any(a.role in others for a in t.axes)]
    return max(apart, key=lambda table: len(table.codes))


def _coincidence(table: CountTable) -> float:
    # it is that of multinomial counts being the same twice, within groups of given sizes: of more
    # freedom, it would be smaller
    held = table.sums["rows"] > 0
    rows = table.sums["rows"][held]
    columns = [i for i, axis in enumerate(table.axes) if axis.role is Role.FEATURE]
    of_group = np.unique(table.codes[held][:, columns], axis=0, return_inverse=True)[1].ravel()
    sizes, cells = np.bincount(of_group, rows), np.bincount(of_group)
    logs = np.bincount(of_group, np.log(rows))
    twins = (np.log(sizes) - logs - (cells - 1) * math.log(4 * math.pi)) / 2
    return float(np.minimum(twins, 0.0).sum())
