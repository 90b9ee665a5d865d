"""The rows of every period: how many, which are excluded, and what the checks of a history need.

Here is also whether a comparison still has values. A small group is absent from some periods by
sampling variation, and the periods before still decide. A value that cannot be computed while there
are, or usually are, enough rows leaves the comparison undecided.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

import numpy as np

from fairgauge.cube.cube import HANDFUL, CountTable, Cube, cases_of_no_weight
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.monitoring._period_values import BY_DEFAULT
from fairgauge.monitoring.periods import Period
from fairgauge.question.specification import Spec
from fairgauge.resolve.excluded_rows import excluded_rows
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.monitor_results import PeriodRows, Point, is_gone, periods_without_value
from fairgauge.values import (
    MISSING_NAME,
    Value,
    is_one_of,
    meaning,
    name_of,
    spelt_nearly,
)

_CHECKED = (
    Role.FEATURE, Role.LABEL, Role.PREDICTION, Role.SCORE, Role.STRATUM, Role.CLUSTER,
)  # fmt: skip
"""The columns that are checked; one of two roles is counted in the first of them."""
_BY_GROUP = (Role.LABEL, Role.PREDICTION, Role.CLUSTER)
"""The columns of which a group alone may lack values."""
PARTS = 100
"""The parts of the range of scores in which their rows are counted."""
_MOST_VALUES = 200
_TWO = 2
_NO_AGREEMENT = (0, 0, 0.0, 0.0)


class CountedRows(NamedTuple):
    """The rows that a cube counts, and what distinguishes them from those of other periods.

    Attributes
    ----------
    digest : the fingerprint of the counts.
    rows, excluded : all rows, and by reason those that the question excludes; of a count its cases
        and of persons these, here and below.
    read : the rows that were read, whatever these stand for.
    values, missing : the rows of every value of a column, and of none.
    lacking : of every column of labels, predictions and clusters, the rows without a value by
        feature and group; nothing where no row lacks one.
    divisor, cells : the largest number that divides the rows of all cells, and how many cells; of
        rows also where these have a count.
    coincidence : the log of the probability that other rows of the same groups have these counts.
    agreement : the rows whose label and prediction differ, those in which they are equal, and how
        many would be if the two were independent, with the variance; of a score its decision, and
        none of numbers, which are hardly ever equal.
    scores : of a column of scores, the rows in every hundredth of their range that has some.
    crossed : the rows of every category of an intersection, by the columns joined with "*".
    unlabelled : the fingerprint and the coincidence of the counts of rows without their labels.
    labelled : by the decision of two, positive or negative, its rows and those that have a label.
    """

    digest: str
    rows: int
    read: int
    excluded: dict[str, int]
    values: dict[str, dict[str, int]]
    missing: dict[str, int]
    lacking: dict[str, dict[str, dict[str, int]]]
    divisor: int
    cells: int
    coincidence: float
    agreement: tuple[int, int, float, float]
    scores: Mapping[str, Mapping[str, int]] = {}
    crossed: Mapping[str, Mapping[str, int]] = {}
    unlabelled: tuple[str, float] = ("", 0.0)
    labelled: Mapping[str, tuple[int, int]] = {}


def counted_rows(cube: Cube, question: Spec) -> CountedRows:
    """Return the rows that a cube counts, and those that the question excludes, by reason."""
    complete = _complete(cube, question)
    excluded = {} if complete else excluded_rows(cube, question)
    cases = _in_cases(cube)
    return CountedRows(
        fingerprint(cube),
        cases.rows,
        cube.rows,
        {why: n for why, n in excluded.items() if n and why != Uncounted.SAME_PERSON},
        *_rows_of_values(cases, question),
        _lacking(cases, question),
        *_regularity(cube),  # type: ignore[arg-type]
        _agreement(cases, question),
        _scores(cases),
        {crossed_name(each): _crossed(cases, each, question) for each in question.intersections},
        _unlabelled(cube),
        _labelled(cases, question),
    )


def _in_cases(cube: Cube) -> Cube:
    """Return counts of which every case, person, or row without a count is a row."""
    if not cube.plan.count and not cube.asked.of_people:
        return cube
    tables = (replace(each, sums={**each.sums, "rows": each.cases}) for each in cube.tables)
    others = (n for why, n in cube.excluded.items() if why != Uncounted.SAME_PERSON)
    return replace(cube, tables=tuple(tables), rows=cube.cases + sum(others))


def rows_of_group(counted: Sequence[CountedRows], feature: str, group: str) -> list[int]:
    """Return the rows of a group in every period, whether a rate is of them or not."""
    if group == MISSING_NAME:
        return [rows.missing.get(feature, 0) for rows in counted]
    every = ({**rows.values, **rows.crossed} for rows in counted)
    return [rows.get(feature, {}).get(group, 0) for rows in every]


def lacks_class(held: CountedRows, class_: str | None, question: Spec) -> bool:
    """Return whether no row has a class of several as its label or prediction."""
    columns = (held.values.get(str(each)) for each in (question.label, question.prediction))
    known = [values for values in columns if values is not None]
    return class_ is not None and bool(known) and not any(class_ in each for each in known)


def only_waits(
    counted: Sequence[CountedRows], entered: int, feature: str, group: str, min_n: int
) -> bool:
    """Return whether only periods that wait for labels have rows of a group, enough of them."""
    rows = rows_of_group(counted, feature, group)
    return not any(rows[:entered]) and sum(rows[entered:]) >= min_n


def passing(
    names: Sequence[str], counted: Sequence[CountedRows], feature: str, group: str
) -> tuple[str, ...]:
    """Return the periods with rows of a group for which nobody waits any longer; else none.

    ``names`` are the periods that decide, the first of those that are counted.
    """
    deciding = counted[: len(names)]
    rows = rows_of_group(deciding, feature, group)
    return _passing(names, group, rows, [each.values.get(feature, {}) for each in deciding])


def passing_class(
    names: Sequence[str], counted: Sequence[CountedRows], class_: str | None, question: Spec
) -> tuple[str, ...]:
    """Return the periods with rows of a class for which nobody waits any longer; else none."""
    if class_ is None:
        return ()
    values = [Counter[str]() for _ in names]
    for each, held in zip(values, counted, strict=False):
        for column in {question.label, question.prediction}:
            each.update(held.values.get(str(column), {}))
    return _passing(names, class_, [each[class_] for each in values], values)


def _passing(
    names: Sequence[str],
    name: str,
    rows: Sequence[int],
    values: Sequence[Mapping[str, int]],
) -> tuple[str, ...]:
    """Return the periods with rows of a value for which nobody waits any longer; else none.

    For a misspelt one nobody does from the first period without it on.
    """
    had = [n > 0 for n in rows]
    if not is_gone(had, absent=1):
        return ()
    total: Counter[str] = Counter()
    for each in values:
        total.update(each)
    misspelt = any(n > total[name] and spelt_nearly(name, value) for value, n in total.items())
    gone = misspelt or is_gone(had)
    return tuple(period for period, each in zip(names, had, strict=True) if each and gone)


def crossed_name(columns: Sequence[str]) -> str:
    """Return what an intersection is called among columns."""
    return "*".join(columns)


def _crossed(cube: Cube, columns: Sequence[str], question: Spec) -> dict[str, int]:
    """Return the rows of every category of an intersection that has rows."""
    by_column = {a.column: a for a in cube.plan.axes if a.role is Role.FEATURE}
    axes = [by_column[column] for column in columns]
    if not all(_has_names(cube, axis) for axis in axes):
        return {}
    table = cube.marginal(axes)
    names = [axis.names(cube.levels[axis]) for axis in axes]
    apart = _apart(question)
    found: dict[str, int] = {}
    for codes, rows in zip(table.codes.tolist(), table.sums["rows"].tolist(), strict=True):
        if not rows or min(codes) < 0:
            continue
        category = [each[code] for each, code in zip(names, codes, strict=True)]
        if apart.isdisjoint(category):
            found[" & ".join(category)] = found.get(" & ".join(category), 0) + int(rows)
    return found


def _apart(question: Spec) -> set[str]:
    """Return the names of values that are excluded, or mean that nothing is known."""
    return {*map(name_of, question.unknown), *question.exclude_groups}


def _rows_of_values(cube: Cube, question: Spec) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Return the rows of every value of every column, and those without one.

    Those of groups and strata that are cut are the intervals, those of a score the decisions at its
    threshold. Other numbers that are cut have none, nor have columns of many. Values that are
    excluded or mean that nothing is known are none that could be new, nor are clusters; rows of
    unknown groups are missing.
    """
    values: dict[str, dict[str, int]] = {}
    missing: dict[str, int] = {}
    apart, rows = _apart(question), cube.cases_by_level
    binary = decide_task(cube, question) is Task.BINARY
    checked = (axis for role in _CHECKED for axis in cube.plan.axes if axis.role is role)
    for axis in checked:
        if axis.column in missing:
            continue
        unknown = np.append(unknown_levels(axis, cube.levels[axis], question), True)
        missing[axis.column] = int(rows[axis][unknown].sum())
        if axis.role in (Role.SCORE, Role.CLUSTER) or not _has_names(cube, axis):
            continue
        names = axis.names(cube.levels[axis])
        outcome = axis.role in (Role.LABEL, Role.PREDICTION) and not axis.bounds
        if outcome and binary:  # True counts as 1
            names = [name_of(meaning(level)) for level in cube.levels[axis]]
        held = values.setdefault(axis.column, {})
        for text, n in zip(names, rows[axis][:-1].tolist(), strict=True):
            if n and text not in apart:
                held[text] = held.get(text, 0) + int(n)
    uncounted = {cube.plan.weight: Uncounted.NO_WEIGHT, cube.plan.count: Uncounted.NO_COUNT}
    for column, why in uncounted.items():
        if column is not None:
            missing.setdefault(column, cube.excluded.get(why, 0))
    return values, missing


def _scores(cube: Cube) -> dict[str, dict[str, int]]:
    """Return the rows in every part of the range of scores."""
    axis = cube.plan.axis(Role.SCORE)
    if axis is None or not axis.grid or cube.min_cell is not None:
        return {}
    table = cube.marginal([axis])
    held = (table.codes[:, 0] >= 0) & (table.sums["rows"] > 0)
    parts = np.minimum(table.codes[held, 0] // 2 * PARTS // axis.grid, PARTS - 1)
    rows = np.bincount(parts, table.sums["rows"][held], PARTS).astype(int)
    return {axis.column: {str(part): int(rows[part]) for part in np.flatnonzero(rows).tolist()}}


def _has_names(cube: Cube, axis: Axis) -> bool:
    """Return whether the values of an axis have names: they are few, or intervals of groups."""
    if axis.cuts:
        return bool(axis.bounds) or axis.role in (Role.FEATURE, Role.STRATUM)
    return not axis.grid and len(cube.levels[axis]) <= _MOST_VALUES


def _lacking(cube: Cube, question: Spec) -> dict[str, dict[str, dict[str, int]]]:
    """Return of labels, predictions and clusters the rows of every group that have none."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    apart = _apart(question)
    features = [a for a in cube.plan.axes if a.role is Role.FEATURE and _has_names(cube, a)]
    for outcome in filter(None, map(cube.plan.axis, _BY_GROUP)):
        for axis in features:
            table = cube.marginal((axis, outcome))
            without = (table.codes[:, 1] < 0) & (table.codes[:, 0] >= 0)
            rows = zip(table.codes[without, 0], table.sums["rows"][without], strict=True)
            names = axis.names(cube.levels[axis])
            named = {names[code]: int(n) for code, n in rows if n and names[code] not in apart}
            if named:
                found.setdefault(outcome.column, {})[axis.column] = named
    return found


def _agreement(cube: Cube, question: Spec) -> tuple[int, int, float, float]:
    """Return the rows whose label and prediction differ, and those in which they are equal.

    Also how many would be equal if the two were independent, and the variance of that number:
    that of all permutations of one of the columns. All positive values are one.
    """
    label, prediction = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or prediction is None:
        return _NO_AGREEMENT
    named = all(_has_names(cube, axis) for axis in (label, prediction))
    if not named or decide_task(cube, question) is Task.REGRESSION:
        return _NO_AGREEMENT
    unknown = {*map(name_of, question.unknown)}
    words = question.words_of_predictions is not None and not prediction.bounds

    def outcome(axis: Axis, value: Value) -> str | bool | None:
        if axis.bounds:
            return _is_positive(axis, value, question)
        if name_of(value) in unknown:
            return None
        return _is_positive(axis, value, question) or (words and name_of(meaning(value)))

    table = cube.marginal([label, prediction])
    outcomes = [[outcome(axis, v) for v in cube.levels[axis]] for axis in (label, prediction)]
    labels, predictions = Counter[str | bool](), Counter[str | bool]()
    same = 0
    for codes, rows in zip(table.codes.tolist(), table.sums["rows"].tolist(), strict=True):
        if min(codes) < 0:
            continue
        one, two = (each[code] for each, code in zip(outcomes, codes, strict=True))
        if one is not None and two is not None:
            labels[one] += int(rows)
            predictions[two] += int(rows)
            same += int(rows) * (one == two)
    n = labels.total()
    if n < _TWO:
        return _NO_AGREEMENT
    pairs = [(labels[each], predictions[each]) for each in labels]
    equal = sum(a * b for a, b in pairs) / n
    centred = n * equal - sum(a * b * (a + b) for a, b in pairs) / n + equal**2
    return n - same, same, equal, max(centred, 0.0) / (n - 1)


def _is_positive(axis: Axis, value: Value, question: Spec) -> bool:
    """Return whether an outcome is positive: of a score, the decision at its threshold."""
    if not axis.bounds:
        wanted = question.positive_of(axis.column)
        return is_one_of(value, wanted if question.positive else BY_DEFAULT[1:])
    wanted = question.positive_of(question.label) or BY_DEFAULT[1:]
    return bool(value) == (question.score_of is None or is_one_of(question.score_of, wanted))


def _labelled(cube: Cube, question: Spec) -> dict[str, tuple[int, int]]:
    """Return how many rows have either of two decisions, and how many of these have a label."""
    label, decision = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or decision is None or decide_task(cube, question) is not Task.BINARY:
        return {}
    table = cube.marginal([decision, label])
    favourable = [_is_positive(decision, value, question) for value in cube.levels[decision]]
    found = {"positive": [0, 0], "negative": [0, 0]}
    for (of, has), rows in zip(table.codes.tolist(), table.sums["rows"].tolist(), strict=True):
        if of >= 0:
            held = found["positive" if favourable[of] else "negative"]
            held[0] += int(rows)
            held[1] += int(rows) * (has >= 0)
    return {side: (rows, labels) for side, (rows, labels) in found.items()}


def _regularity(cube: Cube) -> tuple[int, int, float]:
    """Return the common divisor of all cells, how many there are, and how probable a twin is."""
    joint = _joint(cube)
    rows = joint.sums["rows"][joint.sums["rows"] > 0]
    if not rows.size or cube.rows <= HANDFUL:
        return 1, int(rows.size), 0.0
    return int(np.gcd.reduce(rows.astype(np.int64))), int(rows.size), _coincidence(joint)


def _unlabelled(cube: Cube) -> tuple[str, float]:
    """Return the fingerprint of the counts without labels, and how probable a twin is.

    It is the same before and after the labels have come.
    """
    axes = [axis for axis in _joint(cube).axes if axis.role is not Role.LABEL]
    table = cube.marginal(axes)
    found = hashlib.sha256(repr([cube.levels[axis] for axis in axes]).encode())
    found.update(table.codes.tobytes())
    found.update(table.sums["rows"].tobytes())
    return found.hexdigest(), 0.0 if cube.rows <= HANDFUL else _coincidence(table)


def _joint(cube: Cube) -> CountTable:
    """Return the largest table of counts, without clusters."""
    apart = [t for t in cube.tables if not any(a.role is Role.CLUSTER for a in t.axes)]
    return max(apart, key=lambda table: len(table.codes))


def _coincidence(table: CountTable) -> float:
    """Return the log of the probability that other rows of the same groups have these counts.

    It is that of multinomial counts being the same twice, within groups of given sizes: of more
    freedom, it would be smaller.
    """
    held = table.sums["rows"] > 0
    rows = table.sums["rows"][held]
    columns = [i for i, axis in enumerate(table.axes) if axis.role is Role.FEATURE]
    codes = table.codes[held][:, columns]
    of_group = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    sizes, cells = np.bincount(of_group, rows), np.bincount(of_group)
    logs = np.bincount(of_group, np.log(rows))
    twins = (np.log(sizes) - logs - (cells - 1) * math.log(4 * math.pi)) / 2
    return float(np.minimum(twins, 0.0).sum())


def _complete(cube: Cube, question: Spec) -> bool:
    """Return whether nothing can be excluded: no value is missing, and none is excluded by name."""
    named = question.unknown or question.exclude_groups
    nothing = not (named or cube.excluded or cases_of_no_weight(cube))
    return nothing and all((table.codes >= 0).all() for table in cube.tables)


def fingerprint(cube: Cube) -> str:
    """Return what distinguishes counts from others of the same plan, as their digest does."""
    excluded = {str(reason): rows for reason, rows in cube.excluded.items()}
    found = hashlib.sha256(repr((cube.rows, excluded, [*cube.levels.values()])).encode())
    for table in cube.tables:
        found.update(table.codes.tobytes())
        for sums in table.sums.values():
            found.update(sums.tobytes())
    return found.hexdigest()


def rows_of_periods(
    periods: Sequence[Period], counted: Sequence[CountedRows]
) -> Iterator[PeriodRows]:
    """Yield the rows of every period."""
    for period, held in zip(periods, counted, strict=True):
        yield PeriodRows(
            period=str(period),
            start=period.start.isoformat(),
            rows=held.rows,
            excluded=held.excluded,
        )


def lacks_values(points: Sequence[Point], min_n: int, *, two_sided: bool) -> bool:
    """Return whether the last periods have no value, and at least ``min_n`` rows would.

    A period counts with its rows, or with those that the periods before have on average where
    these are more.

    Parameters
    ----------
    points : sequence of Point
        All periods of a comparison; those that wait for labels decide nothing.
    min_n : int
        Rows below which data are insufficient.
    two_sided : bool
        Whether two groups are compared, so that the smaller one counts.
    """
    lacking = periods_without_value(points)
    if not lacking:
        return False
    decided = [point for point in points if not point.waits]
    before = [_rows(point, min_n, two_sided) for point in decided[: -len(lacking)]]
    usual = fmean(before) if before else 0.0
    rows = sum(max(_rows(point, min_n, two_sided), usual) for point in lacking)
    return rows >= min_n


def _rows(point: Point, min_n: int, two_sided: bool) -> int:
    """Return the rows of a period, of the smaller side; ``min_n`` for a value without sizes."""
    if point.value is not None and not point.n_group and not point.n_reference:
        return min_n
    return min(point.n_group, point.n_reference) if two_sided else point.n_group
