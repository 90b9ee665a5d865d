"""First rows: what the head of the data shows, and the median of the scores of all rows.

They show which columns may repeat people: whose every value is in one group, with outcomes alike.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import compress
from pathlib import Path

import numpy as np

from fairgauge.cube.cube import CountTable, Cube, Observed
from fairgauge.cube.plan import OUTCOMES, Axis, Plan, plan
from fairgauge.enums import DiagnosticCode, Observation, Role, Task, Threshold, Uncounted
from fairgauge.errors import DataError, quote
from fairgauge.question.recoding import not_numbers
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.scan.input_files import opened_files
from fairgauge.scan.row_codes import numbers_of, read_rows
from fairgauge.scan.source import Readable, Source, can_look_at_rows, innermost
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Index
from fairgauge.values import Value, name_of

_FIRST_ROWS = 1_000
# cases of a row from which on a label of many fractions is their mean
_SEVERAL = 5


def plan_rows(source: Source, spec: Spec) -> tuple[Spec, Plan]:
    """Return what is asked, of the task that the first rows show, and what is counted for it."""
    spec = _infer_regression(source, spec)
    by_median = spec.threshold is Threshold.MEDIAN
    return spec, plan(spec, _median_score(source, spec) if by_median else None)


def _infer_regression(source: Source, spec: Spec) -> Spec:
    # Labels or predictions with fractions are of a regression, unless a task is stated. What is
    # counted depends on the task, so the first rows are read before the scan. This is done only
    # where it costs nothing: not behind a query engine or in a database.
    if spec.task or spec.positive or spec.score or not (spec.label and spec.prediction):
        return spec
    if not can_look_at_rows(source):
        return spec
    first = read_rows(source, (spec.label, spec.prediction), _FIRST_ROWS, spec.recode)
    kinds = {kind for each in first.values() for kind in map(type, each)} - {type(None)}
    numbers = all(issubclass(kind, (int, float)) for kind in kinds)
    fractions = any(issubclass(kind, float) for kind in kinds)
    decisions = {*first[spec.label]} <= {0, 1, None}
    regression = numbers and fractions and not decisions
    return replace(spec, task=Task.REGRESSION) if regression else spec


def means_of_cases(source: Source, spec: Spec) -> tuple[Observed, ...]:
    """Return the label as one of means: of several cases each, with fractions, or of one place.

    Whole numbers are the values of all cases of a row, unless each row has a name of its own, or
    is the only one of its group.
    """
    column = spec.label or spec.prediction
    if not (spec.count and column and spec.task is Task.REGRESSION and can_look_at_rows(source)):
        return ()
    used = {name for _, name in spec.columns()}
    others = [name for name in source.columns if name not in used]
    grouped = [name for role, name in spec.columns() if role.startswith("sensitive")]
    asked = dict.fromkeys((column, spec.count, *grouped, *others))
    first = read_rows(source, [*asked], _FIRST_ROWS, spec.recode)
    x, n = (numbers_of(first[name]) for name in (column, spec.count))
    x, n = x[known := np.isfinite(x) & (n > 0)], n[known]
    if not len(x) or np.median(n) < _SEVERAL:
        return ()
    fractions = np.count_nonzero(x % 1) * 2 > len(x) and 2 * len(np.unique(x)) > len(x)
    texts = [of for of in map(first.__getitem__, others) if all(isinstance(v, str) for v in of)]
    named = len(x) >= _FEWEST_PEOPLE and any(len({*compress(of, known)}) == len(x) for of in texts)
    groups = [*zip(*(first[name] for name in grouped), strict=True)]
    named |= 1 < len({*groups}) == len(groups)
    return (Observed(Observation.MEANS, column),) if fractions or named else ()


def read_ahead(source: Source, asked: Plan, spec: Spec) -> None:
    """Read the first rows of all columns that are looked at by one query, if it takes queries."""
    if getattr(source, "looks", False) and isinstance(source, Readable):
        axes = [axis.column for axis in asked.axes if axis.limited]
        source.fetch([*dict.fromkeys([*axes, *unasked_columns(source, spec)])], _FIRST_ROWS)


def _median_score(source: Source, spec: Spec) -> float:
    # of the rows that are counted, not weighted: rows with a count stand for so many scores; those
    # without a weight above 0 are excluded
    assert spec.score is not None
    names = [each for each in (spec.score, spec.count, spec.weight) if each]
    columns = read_rows(source, names, recode=spec.recode)
    scores = numbers_of(columns[spec.score])
    times = np.ones(len(scores), dtype=np.int64)
    if spec.count:
        times = np.nan_to_num(numbers_of(columns[spec.count])).astype(np.int64).clip(min=0)
    if spec.weight:
        times *= numbers_of(columns[spec.weight]) > 0
    if times.any():  # otherwise no row is counted, which is stated where they are
        scores = np.repeat(scores, times)
    known = scores[np.isfinite(scores)]
    if not len(known):
        held = {name_of(value) for value in columns[spec.score] if value is not None}
        if not held:
            raise DataError(f"column {quote(spec.score)} (score) holds no number in any row")
        recoding = spec.recoding(spec.score)
        raise DataError(not_numbers(spec.score, held, recoding.unknown if recoding else ()))
    return float(np.median(known))


def notes_of_files(data: object, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of copied files; note how many are skipped, and what columns that are asked for mean."""
    paths, skipped = opened_files(data)
    columns = [column for _, column in spec.columns()]
    for files in copied_files(data):
        yield Diagnostic.warning(DiagnosticCode.COPIED_FILES, files=files)
    if skipped:
        example = str(skipped[0])
        yield Diagnostic.note(DiagnosticCode.SKIPPED_FILES, files=len(skipped), example=example)
    for path, record in paths.items():
        if lines := record.lines_above:
            yield Diagnostic.note(DiagnosticCode.LINES_ABOVE, lines=lines, file=str(path))
        for column, reasons in record.declared_missing.items():
            named, rows = tuple(reasons), tuple(map(float, reasons.values()))
            code = DiagnosticCode.DECLARED_MISSING
            yield Diagnostic.note(code, column=column, reasons=named, rows_of=rows)
        if columns and path == next(iter(paths)):
            for column in dict.fromkeys(columns):
                label, codes = record.labels.get(column, ""), record.named_values.get(column, {})
                values = tuple(f"{code} {name}" for code, name in codes.items())
                if label or codes:
                    code = DiagnosticCode.COLUMN_LABEL
                    yield Diagnostic.note(code, column, label=label, values=values)
            if record.weights and not {*record.weights} & {*columns}:
                unused = tuple(record.weights)
                yield Diagnostic.note(DiagnosticCode.UNUSED_WEIGHTS, values=unused)


def copied_files(data: object) -> list[tuple[str, ...]]:
    """Return the local files that hold the same lines in any order; those of one size are read.

    Parts of partitions may be: the names of their folders are values of theirs.
    """
    paths, _ = opened_files(data)
    local = [path for path in paths if isinstance(path, Path) and path.is_file()]
    sizes = [(p.stat().st_size, *(part for part in p.parts if "=" in part)) for p in local]
    alike: dict[tuple[object, ...], list[str]] = {}
    for path, size in zip(local, sizes, strict=True):
        if sizes.count(size) > 1:
            with path.open("rb") as handle:
                lines = sum(hash(line.rstrip(b"\r\n")) for line in handle)
            alike.setdefault((*size, lines), []).append(str(path))
    return [tuple(files) for files in alike.values() if len(files) > 1]


def totals_of_rows(source: Source | None, cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of a value that nobody asks for, as of all years, with what all others have together."""
    few = spec.count and not spec.where and cube.rows < _ROWS_BEFORE
    rows = innermost(source) if source and few else None
    if rows is None or not can_look_at_rows(rows):
        return
    read, used = read_rows(rows, rows.columns), {column for _, column in spec.columns()}
    sizes = [np.nan_to_num(numbers_of(read[c])) for c in (spec.count, spec.successes) if c]
    by = [read[c] for c in rows.columns if c in used - {spec.count, spec.successes}]
    cell = np.unique([*map(repr, zip(*by, strict=True))], return_inverse=True)[1]
    for column in (c for c in rows.columns if c not in used and sizes[0].any()):
        names = dict.fromkeys(map(name_of, read[column]))
        for name in names if 3 <= len(names) <= min(_MOST_LOOKED_AT, len(cell) / 2) else ():
            signs = np.array([1 if name_of(each) == name else -1 for each in read[column]])
            if not any(np.bincount(cell, signs * of).any() for of in sizes):
                code, half = DiagnosticCode.GROUPS_THAT_OVERLAP, int(sizes[0].sum()) // 2
                facts = {"values": (name,), "parts": tuple(e for e in names if e != name)}
                yield Diagnostic.warning(code, column=column, role=column, rows=half, **facts)


# rows that are looked at first, and more of a column that hardly repeats in them; how many columns
_FEW_ROWS, _ROWS_BEFORE = ((200, 10), (800, 10)), 4_000
_MORE_ROWS, _DOUBLED_ROWS, _SHOWN_BY_FIRST = 20_000, 1_000_000, 1_200_000
_MOST_LOOKED_AT, _MOST_COUNTED = 40, 3
# people, by their number and by how many there would be if each had as many rows
_FEWEST_PEOPLE = 10
# of rows that repeat a value, the part whose group is that of others with it, and of which fewer
# may be so by coincidence
_IN_ONE_GROUP, _COINCIDENCE, _FEWEST_AGAIN = 0.98, 1e-3, 10
# of values, and of first rows that repeat one, the part that may be in another group
_ELSEWHERE = 0.1
# the design effect of outcomes from which on they are alike, and by how many standard errors
_ALIKE, _SURELY = 1.1, 3.0
# the variance of the rows of a person, as a part of their mean, that it is by coincidence
_EVENLY = 0.5
# the part of the rows from which on a group is of several people
_LARGE = 0.05
_DATE = re.compile(r"\d{4}-\d\d")


def columns_that_repeat_people(source: Source, cube: Cube, spec: Spec) -> tuple[Observed, ...]:
    """Return the columns that repeat people, each with how many it has, and the rows of these.

    The first rows show which columns may; of these the whole data are counted. Names do not matter.
    """
    if cube.min_cell is not None or cube.excluded.get(Uncounted.SAME_PERSON):
        return ()
    features = [axis for axis in cube.plan.axes if axis.role is Role.FEATURE]
    found = []
    evenly = np.gcd.reduce(cube.tables[0].sums["rows"].astype(np.int64)) > 1  # as of all rows twice
    most = _DOUBLED_ROWS if evenly else _MORE_ROWS
    # to find the rows that meet conditions costs more than to look at all
    for column in _promising(innermost(source), spec, features, cube.rows, most):
        scores = [a for a in cube.plan.axes if a.role is Role.SCORE]
        axes = (*features, *(cube.plan.outcomes or scores), Axis(Role.CLUSTER, column))
        moments = tuple(m for m in cube.plan.moments if m.name in ("y", "yy", "p", "pp"))
        of_all = Plan(axes, (tuple(range(len(axes))),), cube.plan.asked, moments)
        counted = source.count(of_all, spec.max_groups)
        if people := people_in_rows(counted):
            found.append(Observed(Observation.REPEATED, column, None, *people))
    return tuple(found)


def unasked_columns(source: Source, spec: Spec) -> list[str]:
    """Return the columns of which the first rows are looked at, whether these repeat people."""
    of_counts = spec.count and not spec.successes
    if spec.cluster or spec.design or of_counts or not can_look_at_rows(source):
        return []
    used = {column for path, column in spec.columns() if not path.startswith("accept")}
    used |= getattr(getattr(source, "written", None), "fractions", frozenset())
    return [column for column in source.columns if column not in used][:_MOST_LOOKED_AT]


def _promising(
    source: Source, spec: Spec, features: Sequence[Axis], rows: int, most: int
) -> list[str]:
    # the columns of whose values each has one group in the first rows
    unasked, groups = unasked_columns(source, spec), [axis.column for axis in features]
    if not (unasked and groups and isinstance(source, Readable)):
        return []
    found: dict[str, tuple[int, int]] = dict.fromkeys(unasked, (1, 0))

    def look(columns: Sequence[str], most: int, spare: int = 0) -> int:
        of_groups, first = len(groups), source.fetch([*groups, *columns], most)[0]
        for column, values in zip(columns, first[of_groups:], strict=True):
            found[column] = _values_of_one_group(values, first[:of_groups], spare)
        return len(first[0])

    for few, spare in (*_FEW_ROWS, (_ROWS_BEFORE, 0)):
        looked = look([c for c in unasked if found[c][0]], few, spare)
    fewest = _FEWEST_PEOPLE if looked < _ROWS_BEFORE else 2
    # what few rows show by coincidence, more show, unless two rows of each in all would show, too
    rare = [c for c, (different, again) in found.items() if different and again < _FEWEST_AGAIN
           and (rows <= most or (again and rows > _SHOWN_BY_FIRST))]  # fmt: skip
    if rare and looked < min(rows, most):
        look(rare, most)
    enough = [c for c, of in found.items() if of[0] >= fewest and of[1] >= _FEWEST_AGAIN]
    return sorted(enough, key=lambda column: -found[column][0])[:_MOST_COUNTED]


def _values_of_one_group(
    values: Sequence[object], groups: Sequence[Sequence[object]], spare: int
) -> tuple[int, int]:
    # how many values there are and how many rows repeat one, if nearly every value has one group
    # of a feature, but for some to spare; numbers with fractions are amounts, and dates are no one
    try:
        times = Counter(values)
    except TypeError:  # of lists
        return 0, 0
    again = len(values) - times.pop(None, 0) - len(times)
    kinds = {*map(type, times)}
    of_numbers = any(issubclass(kind, float) for kind in kinds)
    if any(issubclass(kind, (bool, date)) for kind in kinds) or (
        of_numbers and any(isinstance(v, float) and v % 1 for v in times)
    ):
        return 0, 0
    several = {value for value, n in times.items() if n > 1}
    rows = [*map(several.__contains__, values)]
    pairs = (len({*compress(zip(values, of, strict=True), rows)}) for of in groups)
    most = _ELSEWHERE * min(len(times), again) + spare
    return (0, 0) if again and min(pairs) - len(several) > most else (len(times), again)


def people_in_rows(counted: Cube) -> tuple[int, int] | None:
    """Return how many people rows are of, and how many rows, where clusters are people.

    Then nearly all rows of one are in one group, though several have each group, whose people are
    no interval of numbers or dates; and outcomes of one are alike, or all have about as many rows.
    """
    (axis,) = (each for each in counted.plan.axes if each.role is Role.CLUSTER)
    for feature in (each for each in counted.plan.axes if each.role is Role.FEATURE):
        table = counted.tables[0].known([feature, axis])
        (group, person), rows = table.codes_of([feature, axis]).T, table.sums["rows"]
        several = int(group.max(initial=0)) + 1
        pairs, at = np.unique(person * several + group, return_inverse=True)
        (who, which), of_pair = np.divmod(pairs, several), np.bincount(at, rows)
        order = np.argsort(of_pair, kind="stable")
        n, own = np.bincount(who, of_pair), np.zeros(int(who.max(initial=-1)) + 1, dtype=np.int64)
        own[who[order]] = which[order]  # the last one written is the largest
        inside = np.bincount(who[which == own[who]], of_pair[which == own[who]], len(n))
        held, total = np.flatnonzero(n), float(n.sum())
        of_group, of_people = np.bincount(own, n, several), np.bincount(own[held], None, several)
        by_chance = float(((of_group / max(total, 1.0)) ** 2).sum())  # two rows are of one group
        if (
            len(held) < _FEWEST_PEOPLE
            or total**2 < _FEWEST_PEOPLE * float((n**2).sum())
            or inside[n > 1].sum() < _IN_ONE_GROUP * n[n > 1].sum()
            or (total - len(held)) * math.log(by_chance) > math.log(_COINCIDENCE)
            or (of_people[of_group >= _LARGE * total] < 2).any()
            or _are_intervals([counted.levels[axis][i] for i in held.tolist()], own[held])
        ):
            continue
        evenly = n[held].var() <= _EVENLY * n[held].mean()
        outcomes = (a for a in counted.plan.axes if a.role in (*OUTCOMES, Role.SCORE))
        if evenly or any(_are_alike(table, each, person, own) for each in outcomes):
            return len(held), int(total)
    return None


def _are_intervals(values: Sequence[Value], group: Index) -> bool:
    # whether groups are those of numbers or dates between others, as bands of ages are
    if all(isinstance(value, str) and _DATE.match(value) for value in values):
        order = np.argsort(np.array(values))
    elif np.isnan(numbers := numbers_of(values)).any():
        return False
    else:
        order = np.argsort(numbers)
    return int(np.count_nonzero(np.diff(group[order]))) < len(np.unique(group))


def _are_alike(table: CountTable, axis: Axis, person: Index, own: Index) -> bool:
    # whether outcomes of a person vary less than those of its group, by the analysis of variance
    name = {Role.LABEL: "y", Role.PREDICTION: "p"}.get(axis.role, "")  # of its sum, if averaged
    code, rows = table.codes_of([axis])[:, 0], table.cases * 1.0
    if name in table.sums:
        sums, squares = table.sums[name], table.sums[name * 2]
    else:  # of a score its place; of others whether it is the most frequent one
        rows = rows * (code >= 0)
        x = code if axis.grid else code == np.bincount(code[code >= 0], rows[code >= 0]).argmax()
        sums, squares = rows * x, rows * x**2
    n, s = np.bincount(person, rows), np.bincount(person, sums)
    held = n > 0
    of_person = float((s[held] ** 2 / n[held]).sum())
    every, together = np.bincount(own, n), np.bincount(own, s)
    groups = every > 0
    of_group = float((together[groups] ** 2 / every[groups]).sum())
    people, total = np.count_nonzero(held) - np.count_nonzero(groups), float(n.sum())
    variance = (float(squares.sum()) - of_group) / max(total - np.count_nonzero(groups), 1.0)
    if people < 1 or variance <= 0:
        return False
    effect = (of_person - of_group) / people / variance
    return bool(effect >= _ALIKE and (effect - 1) * math.sqrt(people / 2) >= _SURELY)
