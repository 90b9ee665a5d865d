"""Checks of a history: what the counts of its periods show of the feed that brings the rows.

Each check compares a period with what the periods before it lead to expect. The bounds are chosen
so that a feed that does not change is hardly ever suspected, also where its volume has a weekly
course: how often it is was measured (docs/monitoring.md).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from fairgauge.monitoring._column_checks import (
    FIRST,
    RARE,
    SHARE,
    WEEK,
    Suspected,
    all_among,
    came_later,
    check_crossed,
    check_group_shares,
    check_missing,
    check_values_of_columns,
    returns,
)
from fairgauge.monitoring._period_rows import PARTS, CountedRows
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
from fairgauge.question.category_words import may_be_value, means_missing, no_outcomes
from fairgauge.question.hmda_actions import no_decisions
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcome_checks import unlike_refusals
from fairgauge.results.monitor_results import FEWEST_PERIODS, HistoryFinding, HistoryProblem
from fairgauge.stats.arrays import Array
from fairgauge.values import Value, is_one_of

_COINCIDENCE = 1e-4
_ROWS_OF_ONE_VALUE = 50
_MEMORY = 56
"""Deviations from what was expected, by which the next one is judged."""
_OF_VOLUME = 4.2
_SUPPOSED, _FEW = 0.3, 5
"""What deviations of the log of rows are supposed to be, as if so many of them were known."""
_VOLUME = math.log(4 / 3)
_LAST_WEEKDAYS = 4
"""Periods of the same weekday that one is compared with."""
_OTHER_RANGE = 0.2
"""Shares of scores that move by days alone hardly reach, and by another scale far surpass."""
_FEWEST_CELLS = 4
_OF_VALUES = (HistoryProblem.NEW_VALUE, HistoryProblem.VANISHED_VALUE)
_OF_UNKNOWN = (HistoryProblem.NO_OUTCOME, HistoryProblem.UNKNOWN_GROUP)
_TWO_CODES = ({"0", "1"}, {"1", "2"})
_DEVIATIONS = 6.0
_WITH_SIGN = (
    HistoryProblem.MISSING_VALUES, HistoryProblem.MISSING_LABELS, HistoryProblem.OTHER_SCORES,
    HistoryProblem.VOLUME, HistoryProblem.GROUP_SHARE, HistoryProblem.MISSING_CLUSTERS,
    HistoryProblem.MISSING_WEIGHTS, HistoryProblem.MISSING_COUNTS, HistoryProblem.MISSING_GROUPS,
)  # fmt: skip


def check_history(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    *,
    overdue: Sequence[str] = (),
    repeated: Mapping[str, int] | None = None,
    baselines: Mapping[str, str] | None = None,
    later: Mapping[str, int] | None = None,
    outcomes: Mapping[str, str | None] | None = None,
    positive: Sequence[Value] = (),
    features: Sequence[str] = (),
    intersections: Sequence[Sequence[str]] = (),
    named: Collection[tuple[str, str]] = (),
    cluster: str | None = None,
    weight: str | None = None,
    count: str | None = None,
    groups_missing: bool = False,
    until: Period | None = None,
) -> tuple[HistoryFinding, ...]:
    """Return what may be wrong with the periods of a history.

    Parameters
    ----------
    periods, counted : the periods, in order, and the rows that each of them counts.
    overdue : the periods whose labels are due and missing.
    repeated : how many times every row stands, by the fingerprints of the counts of such rows.
    baselines : the files of baselines by their fingerprints.
    later : the columns whose values come later, each with how many periods later they are due.
    outcomes : the columns of labels and predictions that rules need, of predictions with the label.
    positive : the values of these that are positive by the question.
    features, intersections : the columns of groups, and those that are crossed.
    named : the columns and values that the question names, which are groups whatever their name is.
    cluster, weight, count : the columns of clusters, of weights and of numbers of cases.
    groups_missing : whether rows without a group are a group of their own.
    until : the last period that was asked for.
    """
    if not periods:
        return ()
    names = [str(period) for period in periods]
    late = set(overdue)
    of_columns = {
        cluster: HistoryProblem.MISSING_CLUSTERS,
        weight: HistoryProblem.MISSING_WEIGHTS,
        count: HistoryProblem.MISSING_COUNTS,
    }
    problems = {of: each for of, each in of_columns.items() if of and of not in features}
    problems |= dict.fromkeys(features if groups_missing else (), HistoryProblem.MISSING_GROUPS)
    outcomes, judged = outcomes or {}, outcomes if outcomes and positive else ()
    constant = [*_outcomes(periods, counted, [*outcomes])]
    of_one_value = {(each.column, each.at) for each in constant if each.column}
    unusual = [*check_values_of_columns(periods, counted, features, judged, named)]
    at = {(each.column, each.at) for each in unusual}
    unknown = [
        *_no_outcomes(periods, counted, outcomes, positive, unusual),
        *_unknown_groups(counted, features, unusual, named),
    ]
    spelt = (each for each in unusual if each.problem is HistoryProblem.SPELLING)
    of_unknown = {(each.column, each.value) for each in (*unknown, *spelt)}
    unusual = [  # but for what is found for a better reason
        e
        for e in unusual
        if (e.problem is not HistoryProblem.VANISHED_VALUE or (e.column, e.at) not in of_one_value)
        and (e.problem not in _OF_VALUES or (e.column, e.value) not in of_unknown)
    ]
    shares = [*check_group_shares(periods, counted, features, at)]
    at |= {(each.column, each.at) for each in shares}
    suspected = [
        *(Suspected(t, HistoryProblem.OVERDUE_LABELS) for t, n in enumerate(names) if n in late),
        *_of_volume(periods, counted, repeated or {}),
        *_same_counts(names, counted, baselines or {}, features, later=bool(later)),
        *unusual,
        *constant,
        *unknown,
        *_scores(counted),
        *_coded_weights(counted, [each for each in (weight, count) if each]),
        *check_missing(periods, counted, later or {}, late, problems),
        *shares,
        *(
            each
            for columns in intersections
            for each in check_crossed(periods, counted, columns, at)
        ),
    ]
    found = [*_gaps(periods, until), *_in_a_row(suspected, names)]
    return tuple(sorted(found, key=lambda each: (each.period, each.problem, each.column or "")))


def with_recodings(found: Sequence[HistoryFinding], question: Spec) -> tuple[HistoryFinding, ...]:
    """Add to findings of values the one recoding of their column, which corrects all of them."""
    recoded = (*_OF_UNKNOWN, HistoryProblem.SPELLING)  # those that are unknown first
    suggested: dict[str, dict[str, dict[Value, None]]] = {}
    for each in sorted(found, key=lambda each: each.problem is HistoryProblem.SPELLING):
        if each.problem in recoded:
            value, known = str(each.value), str(each.other)
            of_column = suggested.setdefault(str(each.column), {})
            unknown = each.problem in _OF_UNKNOWN or known in of_column.get(UNKNOWN, ())
            category = UNKNOWN if unknown else known
            held = of_column.setdefault(category, {} if unknown else {known: None})
            held[value] = None
    lines = {column: question.recoding_line(column, of) for column, of in suggested.items()}
    return tuple(
        replace(each, recoding=lines[str(each.column)]) if each.problem in recoded else each
        for each in found
    )


def _in_a_row(suspected: Sequence[Suspected], names: Sequence[str]) -> Iterator[HistoryFinding]:
    """Yield findings, one for the same thing in successive periods."""
    runs: dict[tuple[object, ...], list[list[Suspected]]] = {}
    for each in sorted(suspected, key=lambda each: each.at):
        sign = each.expected if each.problem is HistoryProblem.DOUBLED_ROWS else None
        if each.problem in _WITH_SIGN:
            value = each.rows if each.share is None else each.share
            sign = (value or 0) > (each.expected or 0)
        held = runs.setdefault((each.problem, each.column, each.value, each.other, sign), [])
        if held and held[-1][-1].at == each.at - 1:
            held[-1].append(each)
        else:
            held.append([each])
    for held in runs.values():
        for run in held:
            found = _together(run)._asdict()
            yield HistoryFinding(period=names[found.pop("at")], last=names[run[-1].at], **found)


def _together(run: Sequence[Suspected]) -> Suspected:
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


def _gaps(periods: Sequence[Period], until: Period | None) -> Iterator[HistoryFinding]:
    """Yield gaps: absent periods, but those of a weekday or an hour that no period is of.

    Those after the last period are absent up to the one that was asked for.
    """
    slots = {slot_of(each) for each in periods}
    new = len(periods) < 2 * WEEK  # too few to know which days there are

    def expected(each: Period) -> bool:
        weekday = each.length is Length.DAY and each.start.weekday() < SATURDAY
        return slot_of(each) in slots or (new and weekday)

    runs: list[list[Period]] = []
    last = periods[-1]
    after = [until.following()] if until is not None and until > last else []
    for each in gaps([*periods, *after]):
        if runs and runs[-1][-1].following() == each:
            runs[-1].append(each)
        else:
            runs.append([each])
    for run in runs:
        if lacking := [each for each in run if expected(each)]:
            yield HistoryFinding(
                problem=HistoryProblem.GAP, period=str(lacking[0]), last=str(lacking[-1]),
                other=str(run[-1].following()), rows=len(lacking),
            )  # fmt: skip


def _of_volume(
    periods: Sequence[Period], counted: Sequence[CountedRows], known: Mapping[str, int]
) -> Iterator[Suspected]:
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
        usual = _jumps(periods, single)
        # one that is hardly known to be far is held against all of its kind
        size = np.where(np.isnan(usual), _of_its_kind(periods, single), usual)
        as_often = np.where(repeated, divisors, np.fmax(1.0, np.rint(rows / np.exp(size))))
        near = np.abs(np.log(rows / as_often) - size) < _VOLUME
        few = (as_often > 1) & (of_cells % as_often == 0) & near & (cells >= _FEWEST_CELLS)
        divisors, repeated = as_often, repeated | (few & ~np.array(usually))
    for t, each in enumerate(counted):
        if repeated[t]:
            expected = float(divisors[t])
            yield Suspected(t, HistoryProblem.DOUBLED_ROWS, rows=each.rows, expected=expected)
        elif not np.isnan(usual[t]):
            expected = float(np.exp(usual[t]))
            yield Suspected(t, HistoryProblem.VOLUME, rows=each.rows, expected=expected)


def _of_its_kind(periods: Sequence[Period], values: Array) -> Array:
    """Return the median of the other working days, or weekend days, of each; nan of too few.

    Two are enough where they are alike.
    """
    weekend = np.array([at_weekend(each) for each in periods])
    others = [values[(weekend == weekend[t]) & (np.arange(len(values)) != t)]
              for t in range(len(values))]  # fmt: skip
    enough = [len(of) > 2 or (len(of) == 2 and np.ptp(of) < _VOLUME) for of in others]
    return np.array([median(of) if enough[t] else np.nan for t, of in enumerate(others)])


def _usual_day(
    periods: Sequence[Period], values: Array, known: Sequence[int], t: int
) -> float | None:
    """Return the median of the days of four weeks, where a day is far from it by any weekday.

    A weekend has few days in a month, so that a jump is hardly seen among these alone. The
    distance is therefore also held against all days, less the largest by which the median of any
    weekday differs from theirs: only where weekdays are alike is this the stricter comparison.
    """
    if periods[t].length is not Length.DAY:
        return None
    past = [s for s in known[-28:] if ordinal(periods[s]) >= ordinal(periods[t]) - 28]
    if len(past) < 2 * WEEK:
        return None
    held, days = values[past], np.array([periods[s].start.weekday() for s in past])
    usual = float(np.median(held))
    course = max(abs(float(np.median(held[days == day])) - usual) for day in set(days.tolist()))
    apart = np.abs(held - usual)
    alike = apart[(days >= SATURDAY) == at_weekend(periods[t])]
    sampling = math.sqrt(2 / math.exp(max(values[t], usual)))
    far = max(_VOLUME, _OF_VOLUME * max(_scale(apart), _scale(alike), sampling))
    return usual if abs(values[t] - usual) - course > far else None


def _repeated(counted: Sequence[CountedRows]) -> list[bool]:
    """Return in which periods every row stands several times, by the counts of many cells alone.

    Where most periods before are such, a row is counted several times on purpose.
    """
    times = _divisors(counted)
    unlikely = [-e.cells * math.log(e.divisor) < RARE for e in counted]
    return [
        bool(n > 1 and unlikely[t] and (times[:t] > 1).sum() * 2 <= t) for t, n in enumerate(times)
    ]


def _divisors(counted: Sequence[CountedRows]) -> Array:
    return np.array([each.divisor for each in counted], dtype=np.float64)


def _same_counts(
    names: Sequence[str],
    counted: Sequence[CountedRows],
    baselines: Mapping[str, str],
    features: Sequence[str],
    *,
    later: bool,
) -> Iterator[Suspected]:
    """Yield periods with the counts of earlier ones, where that is no coincidence.

    Where labels come ``later``, a copy has none yet or others than the original, so that the counts
    without them are compared, too.
    """
    before: dict[str, list[int]] = {}
    sizes: Counter[str] = Counter()
    alike = 0
    for t, each in enumerate(counted):
        if each.digest in baselines:
            source = baselines[each.digest]
            yield Suspected(t, HistoryProblem.SAME_AS_BASELINE, other=source, rows=each.rows)
        pairs = math.comb(sizes.total(), 2)
        of_sizes = math.log((alike + 1) / (pairs + 1)) if features else 0.0
        found: list[int] = []
        for digest, coincidence in [(each.digest, each.coincidence), each.unlabelled][: 1 + later]:
            same = before.setdefault(digest, [])
            if same and _by_coincidence(t, same, coincidence + of_sizes) < _COINCIDENCE:
                found = same[:1] + found
            same.append(t)
        if found:
            yield Suspected(t, HistoryProblem.SAME_COUNTS, other=names[found[0]], rows=each.rows)
        else:
            size = repr([each.values.get(column) for column in features])
            alike += sizes[size]
            sizes[size] += 1


def _by_coincidence(t: int, same: Sequence[int], log_chance: float) -> float:
    """Return about how probable it is that so many earlier periods have the same counts.

    A copy is most often one of the period before, which is therefore not one of many.
    """
    chosen = 1 if [*same] == [t - 1] else math.comb(t, len(same))
    return math.exp(min(math.log(chosen) + len(same) * log_chance, 0.0))


def _outcomes(
    periods: Sequence[Period], counted: Sequence[CountedRows], columns: Sequence[str]
) -> Iterator[Suspected]:
    """Yield outcomes of one value, and predictions that equal the label, or are its opposite.

    That is of one value in all periods, or in the first ones, three at most, where those of their
    kind after them have others and this is no coincidence.
    """
    constant = False
    for column in columns:
        held = [each.values.get(column, {}) for each in counted]
        some = [t for t, values in enumerate(held) if values]
        value = next(iter(held[some[0]]), "") if some else ""
        other = (i for i, t in enumerate(some) if [*held[t]] != [value])
        first = some[: next(other, len(some))]
        rows = sum(held[t][value] for t in first)
        kinds = {kind_of(periods[t]) for t in first}
        alike = [held[t] for t in some if kind_of(periods[t]) in kinds]
        every = sum(sum(each.values()) for each in alike)
        others = every - sum(each.get(value, 0) for each in alike)
        if rows < _ROWS_OF_ONE_VALUE or FIRST < len(first) < len(some):
            continue
        constant |= len(first) == len(some)
        if not others or all_among(others, every - rows, every) < RARE:
            for t in first:
                yield Suspected(t, HistoryProblem.ONE_VALUE, column, value, rows=held[t][value])
    if not constant:  # the two columns would be found again
        apart, same, *_ = zip(*(each.agreement for each in counted), strict=True)
        yield from _never(apart, same, HistoryProblem.EQUALS_LABEL)
    yield from _opposed(counted)


def _no_outcomes(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    columns: Mapping[str, str | None],
    positive: Sequence[Value],
    unusual: Sequence[Suspected],
) -> Iterator[Suspected]:
    """Yield outcomes that may mean that nothing is known, and count as unfavourable ones.

    And codes of missing values among numbers, each with what it counts as. A third number beside
    two codes is such a one if it came later; from the beginning on they are a scale. Others are
    unclear as they are in an audit of one period, unless ``unusual``. What is spelt otherwise is
    what its spelling is.
    """
    known = {(e.column, name, e.at) for e in unusual if e.problem not in _OF_VALUES
             for name in (e.value, e.other)}  # fmt: skip
    spelt = {(e.column, e.value) for e in unusual if e.problem is HistoryProblem.SPELLING}
    for column, label in columns.items():
        held = [each.values.get(column, {}) for each in counted]
        every = {value for each in held for value in each if (column, value) not in spelt}
        values = {value for value in every if not is_one_of(value, positive)}
        none = values.intersection(no_outcomes([*values, *positive]))
        if len(values) == 1:
            none = {value for value in none if not may_be_value(value)}
        none |= values.intersection(no_decisions(column, every, positive))
        came = {v for v in sorted(values - none) if came_later(v, periods, held)}
        if every - none - came in _TWO_CODES:
            none |= came
        labels = [*{v for each in counted for v in each.values.get(label or "", ())}]
        unlike = unlike_refusals(every, positive, labels) - none if positive else set()
        for t, each in enumerate(held):
            for value in sorted(none & each.keys()):
                yield Suspected(t, HistoryProblem.NO_OUTCOME, column, value, rows=each[value])
            for value in sorted(v for v in unlike & each.keys() if (column, v, t) not in known):
                yield Suspected(t, HistoryProblem.UNCLEAR_OUTCOME, column, value, rows=each[value])
            for code, (counts, rows) in counted[t].coded.get(column, {}).items():
                yield Suspected(t, HistoryProblem.NO_OUTCOME, column, code, counts, rows)


def _unknown_groups(
    counted: Sequence[CountedRows],
    features: Sequence[str],
    unusual: Sequence[Suspected],
    named: Collection[tuple[str, str]],
) -> Iterator[Suspected]:
    """Yield groups whose names mean that nothing is known, but for ``named`` or misspelt ones.

    And codes of missing values in columns that are cut, each with the group that it is put into.
    """
    new = HistoryProblem.NEW_VALUE
    found = {*named, *((each.column, each.value) for each in unusual if each.problem is not new)}
    for column in features:
        for t, each in enumerate(counted):
            for value, rows in each.values.get(column, {}).items():
                if means_missing(value) and (column, value) not in found:
                    yield Suspected(t, HistoryProblem.UNKNOWN_GROUP, column, value, rows=rows)
            for code, (group, rows) in each.coded.get(column, {}).items():
                yield Suspected(t, HistoryProblem.UNKNOWN_GROUP, column, code, group, rows)


def _coded_weights(counted: Sequence[CountedRows], columns: Sequence[str]) -> Iterator[Suspected]:
    """Yield codes of missing values among weights or counts."""
    for t, each in enumerate(counted):
        for column in columns:
            for code in each.coded.get(column, ()):
                yield Suspected(t, HistoryProblem.CODED_NUMBERS, column, code)


def _scores(counted: Sequence[CountedRows]) -> Iterator[Suspected]:
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
                yield Suspected(t, HistoryProblem.ONE_VALUE, column, each.one_score, rows=rows)
                continue
            shares = _other_range(parts, usual) if known >= FEWEST_PERIODS and rows else None
            if shares is None:
                usual, known = usual + parts, known + (rows > 0)
                continue
            yield Suspected(
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
    chance = math.log1p(outside) + all_among(outside, rows, rows + every)
    if outside > _OTHER_RANGE * rows and chance < RARE:
        return outside / rows, 0.0
    first, last = np.flatnonzero(parts)[[0, -1]]
    inside = float(usual[first : last + 1].sum())
    chance = 2 * math.log(rows) + (rows - 2) * math.log((inside + 1) / (every + 1))
    return (0.0, inside / every) if inside < SHARE * every and chance < RARE else None


def _opposed(counted: Sequence[CountedRows]) -> Iterator[Suspected]:
    """Yield periods in which predictions equal the label less often than if independent.

    Of two outcomes, the true positive rate is then below the false positive rate. Successive
    periods count together, each by what is chance in itself; six deviations are no coincidence.
    """
    held = [t for t, each in enumerate(counted) if each.agreement[3] > 0]
    for below, run in itertools.groupby(held, lambda t: operator.lt(*counted[t].agreement[1:3])):
        periods = list(run)
        _, same, chance, variance = np.sum([counted[t].agreement for t in periods], axis=0).tolist()
        if below and same - chance < -_DEVIATIONS * math.sqrt(variance):
            for t in periods:
                apart, same, chance, _ = counted[t].agreement
                yield Suspected(
                    t, HistoryProblem.OPPOSITE_OF_LABEL, rows=apart + same,
                    share=same / (apart + same), expected=chance / (apart + same),
                )  # fmt: skip


def _never(
    absent: Sequence[int], present: Sequence[int], problem: HistoryProblem
) -> Iterator[Suspected]:
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
        if not of_kind or all_among(of_kind, every - rows, every) < RARE:
            for t in periods:
                share = of_kind / (every - rows) if of_kind else None
                yield Suspected(t, problem, rows=present[t], share=0.0, expected=share)


def _jumps(periods: Sequence[Period], values: Array) -> Array:
    """Return the usual logs of rows of the periods that are far from them, nan of the others.

    The first 14 are compared with three of their weekday after them. Where a few are far they are
    no measure of later ones; of more, what is usual is what came first. A change that lasts is no
    measure of those before it.
    """
    deviations: dict[bool, list[float]] = {False: [], True: []}
    usual = _far(periods, values, deviations)
    apart = np.isfinite(usual)
    lasting = apart & (np.append(apart[1:], False) | np.insert(apart[:-1], 0, False))
    held = np.flatnonzero(~lasting[: (_LAST_WEEKDAYS + 1) * WEEK])[::-1]
    early = np.full(len(values), np.nan)
    early[held] = _far([periods[t] for t in held], values[held], deviations, least=3)
    early[2 * WEEK :] = np.nan
    if 0 < 2 * np.isfinite(early).sum() < WEEK:
        others = np.flatnonzero(np.isnan(early)).tolist()
        usual = early
        usual[others] = _far([periods[t] for t in others], values[others])
    return usual


def _far(
    periods: Sequence[Period],
    values: Array,
    deviations: dict[bool, list[float]] | None = None,
    least: int = 1,
) -> Array:
    """Return what the periods are far from that is usual, nan of the others.

    Each is compared with the median of the last four of its weekday (of hours, and its hour) that
    are not far themselves, so that a change remains one as long as it lasts. Up to seven successive
    periods that are all higher or all lower may be far together.
    """
    usual, apart, varied = np.full((3, len(values)), np.nan)
    sampling = np.sqrt(2 / np.exp(values))
    at = {ordinal(each): t for t, each in enumerate(periods)}
    alike: dict[int, list[float]] = {}
    known: list[int] = []
    kinds: dict[bool, list[float]] = {False: [], True: []}
    deviations = {False: [], True: []} if deviations is None else deviations
    run: list[int] = []

    def learn(learned: Sequence[int]) -> None:
        for s in learned:
            if np.isnan(usual[s]):
                known.append(s)
                kinds[at_weekend(periods[s])].append(values[s])
                alike.setdefault(ordinal(periods[s]) % lag, []).append(values[s])
                if not np.isnan(varied[s]):
                    deviations[at_weekend(periods[s])].append(varied[s])

    lag = LAGS[periods[0].length][0]
    for t, each in enumerate(periods):
        if len(run) == WEEK:
            learn([run.pop(0)])
        same = alike.get(ordinal(each) % lag, [])[-_LAST_WEEKDAYS:]
        if len(same) >= least and len(known) >= FEWEST_PERIODS:
            varied[t], apart[t] = (
                values[t] - median(same),
                values[t] - _usual_of(same, values[t], kinds[at_weekend(each)]),
            )
            sampling[t] = math.sqrt(2 / math.exp(max(values[t], values[t] - apart[t])))
        off = abs(apart[t]) > _VOLUME and not returns(periods, usual, at, t)
        if run and not (off and apart[t] * apart[run[-1]] > 0):
            learn(run)
            run = []
        if not off:
            learn([t])
            continue
        run.append(t)
        spread = apart[run] - np.mean(apart[run])
        wide = {w: _wide(deviations[w], deviations[not w], spread) for w in (False, True)}
        far = _OF_VOLUME * np.maximum([wide[at_weekend(periods[s])] for s in run], sampling[run])
        ratios = np.minimum(np.abs(apart[run]) / far, 1)[::-1]
        # each of several may be nearer: by sampling alone they hardly keep one sign for days
        together = np.flatnonzero(np.cumsum(ratios) >= np.arange(1, len(run) + 1) ** (2 / 3))
        if len(together):
            changed = run[-1 - int(together[-1]) :]
            new = [s for s in changed if np.isnan(usual[s])]
            usual[new] = values[new] - apart[new]
        elif (usual_day := _usual_day(periods, values, known, t)) is not None:
            usual[t] = usual_day
    return usual


def _usual_of(same: Sequence[float], value: float, kind: Sequence[float]) -> float:
    """Return the median of the same weekday, of two that differ the nearer one.

    One alone that is far from the value is no measure, nan, where it is also farther from the
    median of its kind.
    """
    usual = median(same)
    if len(same) == 2 and abs(same[0] - same[1]) > _VOLUME:
        return min(same, key=lambda each: abs(each - value))
    if len(same) == 1 and abs(value - usual) > _VOLUME:
        middle = median(kind)
        return math.nan if abs(value - middle) < abs(usual - middle) else usual
    return usual


def _wide(alike: Sequence[float], others: Sequence[float], spread: Array) -> float:
    """Return how far periods lie from what is usual, by the deviations of those before.

    It is that of working days or of weekends alone, as one may vary far more than the other. As
    long as few of these are known, it is supposed, or less if all periods show so.
    """
    held = np.array(alike[-_MEMORY:])
    if len(held) >= FEWEST_PERIODS:
        return _scale(held)
    squares = float(np.sum(held**2) + np.sum(spread**2)) + _FEW * _SUPPOSED**2
    supposed = math.sqrt(squares / (len(held) + max(len(spread) - 1, 0) + _FEW))
    every = np.concatenate([held, others[-_MEMORY:]])
    if len(every) < FEWEST_PERIODS:
        return supposed
    return min(supposed, (1 if len(held) >= _FEW else 2) * max(_scale(every), _scale(held)))


def _scale(apart: Array) -> float:
    """Return the size of deviations, of a fifth that may be mistakes not the largest.

    Few deviations are known imprecisely and count for more. The factor makes it the standard
    deviation of normal ones.
    """
    if not len(apart):
        return 0.0
    kept = np.sort(np.abs(apart))[: math.ceil(0.8 * len(apart))]
    return 1.5 * math.sqrt(float(np.mean(kept**2))) * (1 + 3 / max(len(apart), FEWEST_PERIODS))
