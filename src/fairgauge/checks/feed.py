"""Every check of a monitor's feed, one row each: what counts of periods show of the rows.

Each check compares a period with what the periods before it lead to expect. The bounds are chosen
so that a feed that does not change is hardly ever suspected, also where its volume has a weekly
course (docs/reference/monitoring.md). A suspected period is no measure of later ones, so a lasting
change remains a finding. Of each period the checks read ordinary counts of its values, which are
pure functions of its counts and of the question.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple, TypeAlias

import numpy as np

from fairgauge.question.category_words import means_missing
from fairgauge.question.specification import Spec
from fairgauge.results.monitor_results import HistoryProblem
from fairgauge.start.records import dataclass, field
from fairgauge.stats import departures
from fairgauge.stats.arrays import Array
from fairgauge.stats.departures import COINCIDENCE, FEWEST, OF_VOLUME, RARE, SHARE, VOLUME, Change
from fairgauge.values import Value, compact_reading, name_of

_DEVIATIONS = 6.0
_OF_ONE, _NEARLY_TWICE = 2.5, math.log(1.8)
"""How many deviations a period counts for at most in the average of several."""
_LAST_WEEKDAYS, _FEWEST_STEPS, _STEEPEST = 4, 21, 0.1
"""What is usual of a volume follows its growth, as the median of three weeks shows it, up to 10% a
week: 1% a day, or seasons that move it by 15%, are no findings."""
_FEWEST_FREE, _FEWEST_UNLIKE, _ROWS_OF_ONE_VALUE = 2, 5, 50
_FEWER_ERRORS = 1 / 3
"""No model loses two thirds of its errors from one period to the next."""
_LESS_AGREED = 0.7
"""Of what label and prediction agree beyond chance, 64% is left where 40% of labels are filled."""

PARTS = 100
"""The parts of the range of scores in which their rows are counted."""
Numbers: TypeAlias = tuple[int, float, float, int]
Combination: TypeAlias = tuple[Value | None, ...]
"""Values of several columns in the same rows, None where one is missing."""


class Subject(NamedTuple):
    """What is looked at: a column, of all rows or of those of one group of a feature."""

    column: str | None = None
    feature: str | None = None
    group: str | None = None


OF_ALL = Subject()
"""All rows, whatever the column."""


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
    ``by_group``: the rows of every combination of outcomes and strata, of each of groups.
    ``divisor, free``: the largest number that divides the rows of all cells, and the variances of
        those that the sizes of groups, strata and all outcomes but the last leave free.
    ``copied``: whether rows were copies of others when they were counted.
    ``agreement``: of all rows and of every group those with label and prediction, those in which
        they are equal, and the share that would be if the two were independent in every group;
        of a score its decision; of numbers, the most that may be equal, and a share of 0.
    ``scores``: the rows in every hundredth of the range of scores that has some, of all and of
        every group.
    ``numbers``: of columns that are averaged, of all and of groups: the rows, the mean, the root of
        the mean square, and how many rows or more are not of any one value, 0 where all are.
    """

    twins: Sequence[tuple[str, float]]
    rows: int
    read: int
    complete: bool
    excluded: dict[str, int]
    values: Mapping[Subject, Mapping[str, int]]
    missing: Mapping[str, int]
    by_group: Mapping[Combination, Mapping[Combination, int]]
    divisor: int
    free: Array
    copied: bool
    agreement: Mapping[Subject, tuple[int, int, float]]
    scores: Mapping[Subject, Mapping[str, int]]
    numbers: Mapping[Subject, Numbers]


class FeedPeriod(NamedTuple):
    """A period of a feed.

    ``name, rows``: its name and what it counts.
    ``kind, weekday``: working days or weekends (of hours, of the same hour), and its weekday.
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
    ``due``: where labels come later, the later periods with which they are due.
    ``overdue``: the periods whose labels are due and missing.
    ``baselines``: by the number of a period, the file of the baseline that is of its rows.
    """

    periods: Sequence[FeedPeriod]
    question: Spec
    due: int = 0
    overdue: Collection[str] = ()
    baselines: Mapping[int, str] = field(default_factory=dict)

    @property
    def kinds(self) -> list[int]:
        """Return what each period is compared with."""
        return [each.kind for each in self.periods]

    def rows_by_value(self, subject: Subject) -> list[Mapping[str, int]]:
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


def _volume(feed: Feed) -> Iterator[Suspected]:
    by_weekday, by_kind, deviations = (defaultdict[int, list[float]](list) for _ in range(3))
    change, recent = Change(), list[float]()
    held = [each.rows for each in feed.periods]
    multiples = departures.find_multiples(
        [e.divisor for e in held], [e.free for e in held], of_counts=feed.question.count is not None
    )
    steps = list[float]()  # from one of a weekday to the next
    volumes = [math.log(max(each.rows, 1)) for each in held]
    for t, period in enumerate(feed.periods):
        each, value = period.rows, volumes[t]
        of_weekday, alike = by_weekday[period.weekday], by_kind[period.kind]
        last = steps[-max(3 * len(by_weekday), _FEWEST_STEPS) :]
        step = float(np.clip(median(last), -_STEEPEST, _STEEPEST)) if len(last) >= FEWEST else 0.0
        same = [n + step * k for k, n in enumerate(of_weekday[: -1 - _LAST_WEEKDAYS : -1], 1)]
        compared = bool(same) and sum(map(len, by_kind.values())) >= FEWEST
        sampling = 2 / math.sqrt(math.exp(value) + math.exp(median(same) if compared else value))
        of_usual = math.sqrt(1 + 1 / max(len(same), 1))  # which varies, too
        past, working = deviations[period.kind % 2], by_kind[period.kind - period.kind % 2]
        spread = max(of_usual * departures.estimate_deviation(past, working, sampling), sampling)
        far = max(VOLUME, OF_VOLUME * spread)
        usual = departures.usual_volume(value, same, alike, far) if compared else value
        apart = value - (usual if compared else departures.usual_of_kind(volumes, feed.kinds, t))
        times = multiples.get(t) or _find_times(each, apart, spread if compared else None)
        if times > 1 or each.copied:
            expected = float(times) if times > 1 else None
            yield Suspected(t, HistoryProblem.DOUBLED_ROWS, rows=each.rows, expected=expected)
            if "doubled_rows" not in feed.question.accept:
                continue
            if apart > math.log(times) / 2:  # they are as many times the usual ones
                value -= math.log(times)
        apart = value - usual if compared else 0.0
        recent = [*recent[1 - FEWEST :], max(min(apart / spread, _OF_ONE), -_OF_ONE)]
        found = abs(apart) > far
        if not found and (together := departures.average_of_recent(recent, VOLUME / spread)):
            found, apart = True, together * spread
        if change.lasts(apart, found=found):
            yield Suspected(t, HistoryProblem.VOLUME, rows=each.rows, expected=math.exp(usual))
            recent = []
            continue
        if compared:
            past.append((value - median(same)) / of_usual)
        steps += [value - before for before in of_weekday[-1:]]
        of_weekday.append(value)
        alike.append(value)


def _find_times(each: FeedRows, apart: float, spread: float | None) -> int:
    # How many times every row stands where the volume is about as many times the usual one, and
    # all cells are multiples of it. Of first periods nobody knows how much they vary.
    times = max(round(math.exp(min(apart, 10.0))), 1)
    if each.divisor % times or len(each.free) < _FEWEST_FREE:
        return 1
    if spread is None:
        return times if apart > _NEARLY_TWICE else 1
    chance = departures.log_multiple(times, each.free) - (apart / spread) ** 2 / 2
    return times if chance < RARE else 1


def _shared_rows(feed: Feed) -> Iterator[Suspected]:
    # periods that hold rows of those before, too, as files that are cumulative, or of seven days
    found, before = departures.find_shared([each.rows.by_group for each in feed.periods]), 0
    for t in sorted(found):
        before = before if t - 1 in found else t - 1
        other, each = feed.periods[before].name, feed.periods[t].rows
        yield Suspected(t, HistoryProblem.DOUBLED_ROWS, other=other, rows=each.rows)


def _same_counts(feed: Feed) -> Iterator[Suspected]:
    # a copy has the original's labels, or others: counts without labels are compared, too
    before: dict[str, list[int]] = {}
    sizes, of_weekday = Counter[str](), dict[int, int]()
    alike, columns = 0, {each.column for each in feed.question.sensitive}
    for t, (_, each, _, weekday) in enumerate(feed.periods):
        if source := feed.baselines.get(t):
            yield Suspected(t, HistoryProblem.SAME_COUNTS, other=source, rows=each.rows)
        # sizes of groups that were never the same in two periods are a coincidence by themselves
        of_sizes = math.log((alike + 1) / (math.comb(sizes.total(), 2) + 1)) if columns else 0.0
        found: list[int] = []
        for digest, coincidence in each.twins[: 1 + bool(feed.due)]:
            same = before.setdefault(digest, [])
            # most often, a copy is one of the period before, or of the last of its weekday, and
            # these are therefore not one of many
            likely = len(same) == 1 and same[0] in (t - 1, of_weekday.get(weekday))
            of_all = 0.0 if likely else math.log(math.comb(t, len(same)))
            if same and of_all + len(same) * (coincidence + of_sizes) < COINCIDENCE:
                found = same[:1] + found
            same.append(t)
        of_weekday[weekday] = t
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
    totals = defaultdict[tuple[object, ...], list[int]](lambda: [0] * len(feed.periods))
    for t, period in enumerate(feed.periods):
        for subject, held in period.rows.values.items():
            totals[subject[:2]][t] += sum(held.values())
    unusual = defaultdict[str | None, set[int]](set)
    subjects = dict.fromkeys([each for period in feed.periods for each in period.rows.values])
    for subject in subjects:
        column, of_group = subject.column, subject.feature is not None
        by_period = feed.rows_by_value(subject)
        found = list[Suspected]()
        if not of_group:
            parts = [feed.rows_by_value(each) for each in subjects if each.column == column]
            found += _new_values(subject, parts, {v for of, v in named if of == column})
        apart = {each.at for each in found} | unusual[column]
        shares = defaultdict[int, list[Suspected]](list)
        for value in dict.fromkeys([v for held in by_period for v in held]):
            counted = [held.get(value, 0) for held in by_period]
            first = [*map(bool, counted)].index(True)  # it is not missed before
            sizes = [sum(held.values()) * (t >= first) for t, held in enumerate(by_period)]
            of_all, lost = totals[subject[:2]] if of_group else None, column in features
            departed = departures.find_departures(
                feed.kinds, counted, sizes, of_all, least=SHARE if lost else 1.0, lost=lost
            )
            for t in departed.keys() - apart:
                n, share, usual = departed[t]
                of = *subject, value, None, n
                if lost and share < usual and means_missing(value):
                    continue  # nobody misses a group that may be none
                if not share:
                    found.append(Suspected(t, HistoryProblem.VANISHED_VALUE, *of, None, n * usual))
                else:
                    shares[t].append(Suspected(t, HistoryProblem.VOLUME, *of, share, usual))
        apart |= {each.at for each in found}
        for t in shares.keys() - apart:
            found += [e for e in shares[t] if (e.share or 0) < (e.expected or 0)] or shares[t]
        if not of_group:
            unusual[column] |= {each.at for each in found}
        yield from found


def _filled_labels(feed: Feed) -> Iterator[Suspected]:
    # A value of the label has lost rows, and the others agree less with the predictions, beyond
    # chance: in another population, predictions would change, too. Labels that are due alone.
    label, held = feed.question.label, feed.periods[: max(len(feed.periods) - feed.due, 0)]
    of_everybody = set[int]()
    for of in dict.fromkeys([OF_ALL, *(each for one in held for each in one.rows.agreement)]):
        known = [each.rows.agreement.get(of, (0, 0, 0.0)) for each in held]
        agreed = [(same / max(n, 1) - by) / max(1 - by, 0.01) for n, same, by in known]
        subject = of._replace(column=label)
        by_value = feed.rows_by_value(subject)[: len(held)]
        sizes = [sum(each.values()) for each in by_value]
        for value in dict.fromkeys(itertools.chain(*by_value)):
            counted = [each.get(value, 0) for each in by_value]
            departed = departures.find_departures(
                feed.kinds, counted, sizes, least=1.0, fewer=False, lost=True
            )
            usual = median([*(e for t, e in enumerate(agreed) if t not in departed), 0.0])
            found = {t for t in departed if counted[t] and agreed[t] < _LESS_AGREED * usual}
            found -= of_everybody
            for t in found:
                n, *shares = departed[t]
                filled = max(by_value[t], key=lambda name: by_value[t][name])
                yield Suspected(t, HistoryProblem.VOLUME, *subject, value, filled, n, *shares)
            of_everybody |= found if of == OF_ALL else set()


def _new_values(
    subject: Subject, parts: Sequence[Sequence[Mapping[str, int]]], named: Collection[str]
) -> Iterator[Suspected]:
    # those that read like another one, and new ones; the parts are all rows, and those of groups
    total = Counter[str]()
    for each in parts[0]:
        total.update(each)
    largest: dict[object, str] = {}
    sizes = [[sum(each.values()) for each in part] for part in parts]
    for value, _ in total.most_common():
        known = largest.setdefault(compact_reading(value), value)
        counted = [[each.get(value, 0) for each in part] for part in parts]
        if known != value and not {value, known} <= {*named}:
            same = HistoryProblem.SAME_NAMES, *subject, value, known
            yield from (Suspected(t, *same, n) for t, n in enumerate(counted[0]) if n)
        elif known == value and value not in named:
            for t, share in departures.find_new([*zip(counted, sizes, strict=True)]).items():
                new = HistoryProblem.NEW_VALUE, *subject, value, None
                yield Suspected(t, *new, counted[0][t], share, share and 0.0)


def _unusual_missing_shares(feed: Feed) -> Iterator[Suspected]:
    # labels that are not due yet, or that are overdue as a whole, are not looked at
    asked = feed.question
    for column in dict.fromkeys([name for each in feed.periods for name in each.rows.missing]):
        later = bool(feed.due) and column == asked.label
        held = [e.rows for e in feed.periods[: max(len(feed.periods) - feed.due * later, 0)]]
        # of rows without a weight or a count nobody knows how many cases or people they are
        of_rows = column in (asked.weight, asked.count)
        sizes = [e.read if of_rows else e.rows for e in held]
        for t, (size, share, usual) in departures.find_departures(
            feed.kinds, [e.missing.get(column, 0) for e in held], sizes, fewer=False
        ).items():
            if not (later and feed.periods[t].name in feed.overdue):
                yield Suspected(t, HistoryProblem.MISSING_VALUES, column,
                                rows=size, share=share, expected=usual)  # fmt: skip


def _unusual_scores(feed: Feed) -> Iterator[Suspected]:
    # another scale, of all rows or else of groups, states more than that a median moved, and that
    # more than that scores are filled in
    low, high = feed.question.score_range
    ranges, whole, less = set[int](), set[int](), dict[int, Suspected]()
    problem = HistoryProblem.OTHER_SCORES
    for subject in dict.fromkeys([each for period in feed.periods for each in period.rows.scores]):
        histograms = np.zeros((len(feed.periods), PARTS))
        for parts, period in zip(histograms, feed.periods, strict=True):
            held = period.rows.scores.get(subject, {})
            parts[[*map(int, held)]] = [*held.values()]
        sizes = histograms.sum(axis=1).astype(int).tolist()
        found = departures.find_other_ranges(histograms)
        for t in found.keys() - whole:
            yield Suspected(t, problem, *subject, None, None, sizes[t], *found[t])
        ranges |= found.keys()
        if subject.feature is None:
            whole = {*found}
            for t, shares in departures.find_other_sides(histograms, feed.kinds).items():
                less[t] = Suspected(t, problem, *subject, None, None, sizes[t], *shares)
        for t, (part, shares) in departures.find_filled(histograms, feed.kinds).items():
            value = f"{low + part * (high - low) / PARTS:g}"
            less.setdefault(t, Suspected(t, problem, *subject, value, None, sizes[t], *shares))
    yield from (less[t] for t in less.keys() - ranges)


def _unusual_numbers(feed: Feed) -> Iterator[Suspected]:
    # Numbers that are all the same where chance hardly makes them so in so many of the periods, or
    # that are far larger or smaller than usual. What is found of all rows is not stated of groups,
    # nor is a column of one number, which an audit finds.
    held, whole = [each.rows.numbers for each in feed.periods], set[tuple[int, str | None]]()
    subjects = dict.fromkeys(itertools.chain(*held))
    for subject in sorted(subjects, key=lambda each: each.feature is not None):
        own = {t: each[subject] for t, each in enumerate(held) if subject in each}
        every, unlike = departures.add_up([(rows, unlike) for rows, *_, unlike in own.values()])
        alike = [rows for rows, *_, unlike in own.values() if not unlike]
        chance = departures.log_chance(unlike, every - sum(alike), every)
        chance += math.log(math.comb(len(own), len(alike)))
        constant = chance < RARE if unlike else every >= _ROWS_OF_ONE_VALUE
        if not unlike and subject.feature is None:
            whole |= {(t, subject.column) for t in own}
        usual = list[tuple[float, float]]()
        for t, (rows, mean, root, differ) in own.items():
            problem, value = HistoryProblem.ONE_VALUE, f"{mean:.6g}"
            shares = tuple[float, ...]()
            if differ or not constant:
                if differ < _FEWEST_UNLIKE or not departures.is_in_other_unit((mean, root), usual):
                    usual = [*usual[1 - 2 * FEWEST :], (mean, root)]
                    continue
                shares = root / median([each for _, each in usual]), 1.0
                problem, value = HistoryProblem.OTHER_SCORES, ""
            if (t, subject.column) not in whole:
                yield Suspected(t, problem, *subject, value or None, None, rows, *shares)
            if subject.feature is None:
                whole.add((t, subject.column))


def _copies(feed: Feed) -> Iterator[Suspected]:
    # The first is no coincidence where the rows that differ could not all be in other periods; the
    # second from six deviations on. An audit of all periods finds copies in all of them.
    held = [each.rows.agreement for each in feed.periods]
    column = feed.question.prediction or feed.question.score
    of_everybody = set[int]()  # those of all rows come first
    for subject in dict.fromkeys([OF_ALL, *itertools.chain.from_iterable(held)]):
        own = [each.get(subject, (0, 0, 0.0)) for each in held]
        every, equal = departures.add_up([each[:2] for each in own])
        differ = every - equal
        errors = [n - same for n, same, _ in own[: len(own) - feed.due]]
        fewer = departures.find_departures(feed.kinds, errors, [n for n, *_ in own], fewer=False)
        for t, (n, same, chance) in enumerate(own):
            if t in of_everybody or not n:
                continue
            _, wrong, usual = fewer.get(t, (0, 1.0, 1.0))
            no_chance = departures.log_chance(differ, every - n, every) < RARE
            deviation = math.sqrt(n * chance * (1 - chance))
            if same == n and chance < 1 and no_chance:
                share, expected = 1.0, 1.0
            elif n * chance - same > _DEVIATIONS * deviation > 0:
                share, expected = same / n, chance
            elif chance > 0 and wrong < _FEWER_ERRORS * usual:
                share, expected = 1 - wrong, 1 - usual
            else:
                continue
            if subject == OF_ALL:
                of_everybody.add(t)
            of = subject._replace(column=column)
            yield Suspected(t, HistoryProblem.COPIED_LABEL, *of, None, None, n, share, expected)


FEED_CHECKS: tuple[Callable[[Feed], Iterator[Suspected]], ...] = (
    lambda feed: (Suspected(t, HistoryProblem.OVERDUE_LABELS)
                  for t, each in enumerate(feed.periods) if each.name in feed.overdue),
    _volume, _shared_rows, _same_counts, _unusual_values, _filled_labels,
    _unusual_missing_shares, _unusual_scores, _unusual_numbers, _copies,
)  # fmt: skip
"""The checks, in the order of their findings."""
