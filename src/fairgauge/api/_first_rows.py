"""First rows: what the head of the data shows, and the median of the scores of all rows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Plan
from fairgauge.enums import DiagnosticCode, Role, Task, Uncounted
from fairgauge.errors import DataError, cells, quote
from fairgauge.question.recoding import not_numbers
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.scan.input_files import opened_files
from fairgauge.scan.row_codes import numbers_of, read_rows
from fairgauge.scan.source import Readable, Source, can_look_at_rows
from fairgauge.stats.arrays import Index
from fairgauge.values import Value, is_number, name_of

_Shown: TypeAlias = dict[str, int | str]
Copies: TypeAlias = tuple[tuple[str, int | str], ...]
"""What shows that rows are copies, by name."""

_FIRST_ROWS = 1_000
_PEOPLE = re.compile(
    r"user|customer|client|patient|person|subject|session|applicant|candidate|employee|borrower"
    r"|member|student|claimant|card[_\s]?holder|bewerber|kunde|antragsteller|ssn|mrn"
    r"|(?<![a-z])(pat|cust|policy|mitarbeiter)[_\s]?(id|no|nr|num(mer)?|number|key)",
    re.IGNORECASE,
)
_IDENTIFIER = (
    rf"(?i)(.*[_\s])?(id|uuid|guid|{_PEOPLE.pattern})((e?n|in)?[_\s]?(id|no|nb?r|number|nummer|ref|key"
    r"|hash|e-?mail([_\s]?address)?)\.?)?|e-?mail([_\s]?address)?"
)
_MOST_IDENTIFIERS = 3
# different numbers of a label up to which they may be codes of classes
_FEW_AMOUNTS = 20
_MOST_COMPARED = 1_000_000
FEWEST_ROWS = 30
"""Different rows, all of them of an even number by coincidence in one table of a billion."""
_LIKELY_ROUNDED = 5
"""What numbers of a few combinations are rounded to, rather than copies."""
# values up to which rows are compared though not every one can be a copy
_MOST_READ = 200_000
# of rows that repeat an identifier, how many other decisions would differ from the first, at least,
# and which part of these may
_WOULD_DIFFER, _HARDLY_DIFFER = 10, 0.1
_IN_ORDER, _OTHERWISE, _SURELY = 0.8, 0.02, 20.0
"""Of copies, which part is in order and may stand otherwise; how many coincidences are lacking."""
_FEW_COPIES = 3
_FEWEST_COUNTS = 4
_FEWEST_COMPARED, _UNSORTED, _FEWEST_IN_PLACE = 100, 1.1, 3
"""Runs of equal rows, beside different rows too, of an unsorted table, and their mean length."""
# of different rows with a value of their own, the share from which those that stand again are many.
_COPIED = 0.01
# of different rows, the share that differs in a number that is measured, as a score is; of copies,
# the part that may differ in one other column alone
_CONTINUOUS, _OF_ONE = 0.5, 0.25
# a column with fewer distinct values than this share of its rows is no identifier, unless its name
# is one of people or sessions, and it has more values than the next.
_FEWEST_DIFFERENT = 0.1
# distinct values, above which a column that is named for people or sessions is an identifier.
_FEW_PEOPLE = 10


def infer_regression(source: Source, spec: Spec) -> Spec:
    """Treat labels or predictions with fractions as a regression, unless a task is stated.

    What is counted depends on the task, so the first rows are read before the scan. This is done
    only where it costs nothing: not behind a query engine or in a database.
    """
    if spec.task or spec.positive or spec.score or not (spec.label and spec.prediction):
        return spec
    if not can_look_at_rows(source):
        return spec
    first = read_rows(source, (spec.label, spec.prediction), _FIRST_ROWS, spec.recode)
    kinds = {kind for each in first.values() for kind in map(type, each)} - {type(None)}
    numbers = all(issubclass(kind, (int, float)) for kind in kinds)
    fractions = any(issubclass(kind, float) for kind in kinds)
    decisions = {*first[spec.label]} <= {0, 1, None}
    _refuse_no_number(first[spec.label], first[spec.prediction], spec)
    regression = numbers and fractions and not decisions
    return replace(spec, task=Task.REGRESSION) if regression else spec


def _refuse_no_number(labels: Sequence[Value], predictions: Sequence[Value], spec: Spec) -> None:
    of_label = {*labels} - {None}
    if len(of_label) <= _FEW_AMOUNTS or not all(map(is_number, of_label)):
        return
    odd = next((v for v in predictions if isinstance(v, str) or v in (np.inf, -np.inf)), None)
    if any(isinstance(v, float) for v in of_label) and odd is not None:
        raise DataError(
            f"column {quote(spec.prediction or '')} (prediction) holds {cells([odd])}, which is "
            f"no number that can be averaged, while the label {quote(spec.label or '')} holds "
            "amounts: write each prediction as a number, or leave it empty; of decisions beside "
            "amounts, cut the label (positive='>x', --positive '>x')"
        )


def repeated_ids(source: Source, spec: Spec, verb: str | None = None) -> Iterator[Diagnostic]:
    """Warn where a column that names people or sessions repeats and no cluster is declared.

    Columns are recognised by their names (``user_id``, ``patient``). Only the first rows are read,
    so that rows of one person that are far apart are missed. What is advised depends on the verb.
    """
    named = _unasked_identifiers(source, spec)
    read = read_rows(source, named, _FIRST_ROWS) if named else {}
    for column, values in read.items():
        known = [value for value in values if value is not None]
        different, few = len(set(known)), _FEWEST_DIFFERENT * len(known)
        if _PEOPLE.search(column):
            few = min(few, _FEW_PEOPLE)
        if few < different < len(known):
            asked = verb or ("score" if spec.score else None)  # people have no single score
            found = {"verb": asked} if asked else {}
            yield Diagnostic.warning(
                DiagnosticCode.REPEATED_ID, column, distinct=different, rows=len(known), **found
            )


def _unasked_identifiers(source: Source, spec: Spec) -> list[str]:
    if spec.cluster or spec.design or spec.count or not can_look_at_rows(source):
        return []
    used = {column for _, column in spec.columns()}
    named = [c for c in source.columns if c not in used and re.fullmatch(_IDENTIFIER, c)]
    return named[:_MOST_IDENTIFIERS]


def read_ahead(source: Source, plan: Plan, spec: Spec) -> None:
    """Read the first rows of all columns that are looked at by one query, if it takes queries."""
    if getattr(source, "looks", False) and isinstance(source, Readable):
        axes = [axis.column for axis in plan.axes if axis.limited]
        source.fetch([*dict.fromkeys([*axes, *_unasked_identifiers(source, spec)])], _FIRST_ROWS)


def other_people(source: Source, cube: Cube, spec: Spec) -> tuple[tuple[str, int, int], ...]:
    """Return the columns of people that repeat, where that of persons may be of decisions."""
    stated = spec.person or ""
    if not stated or _PEOPLE.search(stated) or cube.excluded.get(Uncounted.SAME_PERSON):
        return ()
    found = ((str(e.feature), e["distinct"], e["rows"])
             for e in repeated_ids(source, replace(spec, cluster=None)))  # fmt: skip
    # an employee may be the one who decides
    return tuple(e for e in found if _PEOPLE.search(e[0]) and "employee" not in e[0].casefold())


def copied_rows(source: Source | None, cube: Cube, spec: Spec) -> Copies:
    """Return what shows that rows are copies, as in a file that was appended twice; by name."""
    # Where every row stands several times, the cells of the counts have a common divisor. Counts of
    # other rows hardly ever have one, so that rows are read only then, or where they are few. Of
    # people only those without an identifier count several times, and a cell may be odd.
    if spec.cluster or cube.min_cell is not None or cube.rows == 0:
        return ()  # rows of one cluster may be alike: intervals are of clusters
    if spec.count:
        few = source is not None and not _is_lazy(source) and cube.rows <= _MOST_COMPARED
        columns = _values_of_columns(source) if source and few else {}
        return _pasted_counts(_drop_row_numbers(columns), spec.count)
    first, unnamed = cube.tables[0], 0
    times_of = first.sums["rows"][first.sums["rows"] > 0].astype(np.int64)
    divisor = int(np.gcd.reduce(times_of))
    if spec.of_people:
        unnamed = dict(cube.conflicts).get(spec.person or "", 0)
        several = unnamed and cube.rows - unnamed >= 2 * (cube.cases - unnamed)
        divisor = int(np.gcd(unnamed, cube.rows)) if several else 1
    if source is not None and not _is_lazy(source):
        most = 0 if spec.of_people else _MOST_READ // max(1, len(source.columns))
        features = (axis for axis in cube.plan.axes if axis.role is Role.FEATURE)
        alike = any(len({*cube.cases_by_level[axis][:-1].tolist()}) == 1 for axis in features)
        most = _MOST_COMPARED if divisor > 1 or alike else most
        found: _Shown = {}
        if cube.rows <= most and (columns := _values_of_columns(source)):
            plain = _drop_row_numbers(columns)
            found = _copies([*plain.values()], numbered=len(plain) < len(columns))
            found = found or _rows_of_every_group(plain, spec)
            found = found or _repeated_decisions(columns, spec)
            if unnamed and found and "copied" not in found:
                found["unnamed"] = unnamed
            return tuple(found.items())
    combinations = math.prod(max(1, len(cube.levels[axis])) for axis in first.axes)
    if spec.of_people or not _are_multiples(times_of, combinations, again=False):
        return ()
    return ("times", divisor), ("different", len(times_of)), ("cells", 1)


def _repeated_decisions(columns: Mapping[str, Sequence[object]], spec: Spec) -> _Shown:
    # rows with a value of a column that another has, too, and nearly always the same of all that is
    # counted: decisions of one person would differ as those of a group do, if less
    asked = {column for _, column in spec.columns()} & {*columns}
    features = asked & {column for each in spec.recorded.values() for column in each.columns}
    outcomes = asked & {spec.label, spec.prediction, spec.score, *spec.candidate}
    for key, values in columns.items():
        different, known = {*values} - {None}, len(values) - values.count(None)
        most = (1 - _FEWEST_DIFFERENT) * known
        if not max(FEWEST_ROWS, _COPIED * known) <= known - len(different) < most:
            continue
        if any(map(_is_fraction, different)) and not _repeat_evenly(values):
            continue  # numbers of people, of which some have several rows
        rest: Any = [None] * len(values)  # where no other column is asked for
        rows, groups, decisions = (
            _positions(zip(rest, *(columns[name] for name in names - {key}), strict=True))
            for names in (asked, features, features | outcomes)
        )
        of = _positions(values)
        first = np.unique(of, return_index=True)[1][of]
        again = (first < np.arange(len(of))) & [value is not None for value in values]
        differ = int((rows != rows[first])[again].sum())
        shares = np.bincount(decisions)[decisions] / np.bincount(groups)[groups]
        expected = float((1 - shares)[again].sum())
        if expected >= _WOULD_DIFFER and differ <= _HARDLY_DIFFER * expected:
            return {"column": key, "repeated": int(again.sum()), "differ": differ,
                    "expected": round(expected)}  # fmt: skip
    return {}


def _positions(values: Iterable[object]) -> Index:
    # of each value among the different ones, as they come
    held: dict[object, int] = {}
    return np.array([held.setdefault(value, len(held)) for value in values])


def _pasted_counts(columns: Mapping[str, Sequence[object]], count: str) -> Copies:
    # a table that stands several times, or a part of it: those of other people have other counts
    counts = columns.get(count, ())
    lines, share_of = Counter(zip(*columns.values(), strict=True)), Counter(counts)
    times = next(iter(lines.values()), 1)
    if times > 1 and {*lines.values()} == {times} and len(share_of) >= _FEWEST_COUNTS:
        return ("times", times), ("different", len(lines))
    others = [of for name, of in columns.items() if name != count]
    if not (counts and others):
        return ()
    first: dict[object, object] = {}
    names = zip(*others, strict=True)
    differ = [first.setdefault(name, n) != n for name, n in zip(names, counts, strict=True)]
    unlike = 1 - sum((n / len(counts)) ** 2 for n in share_of.values())
    expected = (len(counts) - len(first)) * unlike
    if expected < _WOULD_DIFFER or sum(differ) > _HARDLY_DIFFER * expected:
        return ()
    again = [(*line, n) for line, n in lines.items() if n > 1]
    place = [*columns].index(count)
    cases = np.nansum(numbers_of([line[place] for line in again]) * [line[-1] for line in again])
    return ("copied", int(cases)), ("different", len(again)), ("unit", "cases")


def _rows_of_every_group(columns: Mapping[str, Sequence[object]], spec: Spec) -> _Shown:
    # where each row stands once under every value of a feature, as after a join by something else
    features = {column for each in spec.recorded.values() for column in each.columns}
    for feature in features & {*columns} if len(columns) > 1 else ():
        groups = len({*columns[feature]})
        others = zip(*(columns[name] for name in columns if name != feature), strict=True)
        held: dict[object, set[object]] = {}
        for row, group in zip(others, columns[feature], strict=True):
            held.setdefault(row, set()).add(group)
        every = {len(each) for each in held.values()} == {groups} and groups > 1
        if every and FEWEST_ROWS <= len(held) == len(columns[feature]) / groups:
            return {"times": groups, "by_group": 1, "different": len(held)}
    return {}


def _copies(columns: Sequence[Sequence[object]], *, numbered: bool) -> _Shown:
    # rows that are ``numbered`` may be alike, unless they stand in the same order again, or a
    # measurement, which no two people share, is alike too
    if not columns:
        return {}
    rows = _positions(zip(*columns, strict=True))
    times_of = np.bincount(rows)
    times, repeated = int(np.gcd.reduce(times_of)), len(rows) - len(times_of)
    different = [len({*c}) for c in columns] if repeated else [1]
    combinations, part = math.prod(different), len(rows) // times
    in_place = _stand_in_place(rows)
    again = in_place or (times > 1 and np.array_equal(rows[part:], rows[:-part]))
    found: _Shown = {"times": times, "different": len(times_of)}
    if _are_multiples(times_of, combinations, again=again) or _repeat_whole(rows, times):
        return found
    named = len(times_of) in different and repeated >= max(FEWEST_ROWS, _COPIED * len(times_of))
    copied = _stand_in_order(rows) or (
        _are_of_two_times(times_of, named=named)
        and (not numbered or _are_measured(columns, len(times_of)))
    )
    if in_place or (copied and combinations > len(rows)):
        several = times_of[times_of > 1]
        return found | {"copied": int(several.sum()), "different": len(several)}
    return {}


def _are_measured(columns: Sequence[Sequence[Any]], rows: int) -> bool:
    # that a number nearly distinguishes the different rows, and that hardly any two of them differ
    # in one other column alone, as those of one person do
    numbers = [{v for v in each if _is_fraction(v)} for each in columns]
    plain = [i for i, each in enumerate(numbers) if len(each) < _CONTINUOUS * rows]
    others = ((column for j, column in enumerate(columns) if j != i) for i in plain)
    fewest = min((len({*zip(*each, strict=True)}) for each in others), default=rows)
    return len(plain) < len(columns) and rows - fewest <= _OF_ONE * (len(columns[0]) - rows)


def _is_fraction(value: object) -> bool:
    if isinstance(value, str):  # of a file without types
        return re.fullmatch(r"-?[0-9]*\.[0-9]*[1-9]0*", value) is not None
    return isinstance(value, float) and value % 1 != 0


def _are_multiples(times_of: Index, combinations: int, *, again: bool) -> bool:
    # Where combinations of values are few, all are repeated, and their numbers may be rounded or
    # balanced ones, unless the rows stand in the same order ``again``.
    times = int(np.gcd.reduce(times_of))
    if times <= 1 or len(times_of) < FEWEST_ROWS:
        return False
    rounded = times % _LIKELY_ROUNDED == 0 and not again
    few = combinations * times <= times_of.sum()
    return not (few and (np.ptp(times_of) == 0 or rounded))


def _is_lazy(source: Source) -> bool:
    # to read a lazy frame again is to compute it again, however few its rows are
    while (within := getattr(source, "source", None)) is not None:
        source = within
    return type(getattr(source, "frame", None)).__name__ == "LazyFrame"


def _values_of_columns(source: Source) -> dict[str, Sequence[object]]:
    # the values of all columns; none where one of them, asked for or not, is unreadable
    if not isinstance(source, Readable) or not can_look_at_rows(source):
        return {}
    try:
        columns = source.fetch([*source.columns], None)[0]
        return dict(zip(source.columns, map(_comparable, columns), strict=True))
    except DataError:
        return {}


def _drop_row_numbers(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    return {name: of for name, of in columns.items() if not _numbers_rows(of)} or {**columns}


def _numbers_rows(values: Sequence[Any]) -> bool:
    # whether a column counts the rows, in whichever order, as 17 and JA-17 do
    if len({*values}) < len(values) or not all(isinstance(each, int | str) for each in values):
        return False
    if values and all(isinstance(each, str) for each in values):
        start = re.sub(r"-?\d{1,15}$", "", values[0])
        numbered = re.compile(rf"{re.escape(start)}(-?[0-9]{{1,15}})")
        values = [int(found[1]) if (found := numbered.fullmatch(e)) else e for e in values]
    numbers = numbers_of(values)
    whole = np.isfinite(numbers).all() and (numbers % 1 == 0).all()
    return bool(whole and np.ptp(numbers) == len(numbers) - 1 > 0)


def _comparable(values: Sequence[object]) -> list[object]:
    # NaN is not even equal to itself, and means that a value is missing
    try:
        found = [None if value != value else value for value in values]
        set(found)
    except (TypeError, ValueError):  # lists and the like
        return [*map(str, values)]
    return found


def _stand_in_place(rows: Index) -> bool:
    # that equal rows follow each other, about as often each time, though the table is not sorted
    runs = np.diff(np.flatnonzero(np.diff(rows, prepend=-1, append=-1)))
    few = len(runs) < max(_FEWEST_COMPARED, _UNSORTED * (rows.max() + 1))
    return not few and bool(runs.mean() >= _FEWEST_IN_PLACE and runs.var() < runs.mean())


def _stand_in_order(rows: Index) -> bool:
    # that nearly all rows that stand again follow each other as before
    again = np.diff(np.maximum.accumulate(rows), prepend=-1) == 0
    steps = np.count_nonzero((np.diff(rows) == 1) & again[1:] & again[:-1])
    return bool(steps >= max(FEWEST_ROWS, _IN_ORDER * again.sum()))


def _repeat_whole(rows: Index, times: int) -> bool:
    # that a table of few combinations stands two or three times, row by row: numbers of rows may be
    # balanced, but their order is not, unless rows follow a pattern, which repeats further
    if np.count_nonzero(np.diff(rows[: len(rows) // 2])) < _FEWEST_COMPARED:
        return False
    parts = [len(rows) // n for n in range(2, times + 1) if times % n == 0]
    least = min((part for part in parts if np.array_equal(rows[part:], rows[:-part])), default=0)
    return least * _FEW_COPIES >= len(rows)


def _repeat_evenly(values: Sequence[object]) -> bool:
    # nearly all as often, or once and as often
    times = np.array([*Counter(values).values()])
    numbers = np.bincount(times)
    evenly = numbers.argmax() > 1 and numbers.max() >= (1 - _OTHERWISE) * len(times)
    return bool(evenly or _are_of_two_times(times, named=False))


def _are_of_two_times(times: Index, *, named: bool) -> bool:
    # Nearly all rows stand once, say, and the others four times. Of coincidences more would stand
    # five times: their numbers are of Poisson distributions, whose shares times k! are log-convex.
    # Rows that are ``named``, each by a value of its own in a column, are no coincidences.
    numbers = np.bincount(times)
    few, many = np.sort(np.argsort(numbers)[-2:]).tolist()
    least = min(numbers[few], numbers[many])
    if not least or len(times) - numbers[few] - numbers[many] > _OTHERWISE * least:
        return False
    rising = math.log(numbers[many] / numbers[few]) + math.lgamma(many + 1) - math.lgamma(few + 1)
    expected = numbers[many] / (many + 1) * math.exp(rising / (many - few))
    return bool(named or expected >= _SURELY)


def median_score(source: Source, spec: Spec) -> float:
    """Return the median of the scores of the rows that are counted, not weighted.

    Rows with a count stand for so many scores; those without a weight above 0 are excluded.
    """
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


def notes_of_files(data: object, columns: Sequence[str] = ()) -> list[Diagnostic]:
    """Warn of copied files, and note how many are skipped, and what ``columns`` are called."""
    paths, skipped = opened_files(data)
    copies = copied_files(data)
    notes = [Diagnostic.warning(DiagnosticCode.COPIED_FILES, files=files) for files in copies]
    if skipped:
        files, code = len(skipped), DiagnosticCode.SKIPPED_FILES
        notes.append(Diagnostic.note(code, files=files, example=str(skipped[0])))
    for path, record in paths.items():
        if lines := record.lines_above:
            notes.append(Diagnostic.note(DiagnosticCode.LINES_ABOVE, lines=lines, file=str(path)))
        for column, reasons in record.declared_missing.items():
            named, rows = tuple(reasons), tuple(map(float, reasons.values()))
            code = DiagnosticCode.DECLARED_MISSING
            notes.append(Diagnostic.note(code, column=column, reasons=named, rows_of=rows))
        if columns and path == next(iter(paths)):
            for column in dict.fromkeys(columns):
                label, codes = record.labels.get(column, ""), record.named_values.get(column, {})
                if label or codes:
                    values = tuple(f"{code} {name}" for code, name in codes.items())
                    code = DiagnosticCode.COLUMN_LABEL
                    notes.append(Diagnostic.note(code, column, label=label, values=values))
            if record.weights and not {*record.weights} & {*columns}:
                unused = tuple(record.weights)
                notes.append(Diagnostic.note(DiagnosticCode.UNUSED_WEIGHTS, values=unused))
    return notes


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
