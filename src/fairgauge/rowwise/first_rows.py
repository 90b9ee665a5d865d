"""First rows: what the head of the data shows, and the median of the scores of all rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, Task
from fairgauge.errors import DataError, cells, quote
from fairgauge.question.recoding import not_numbers
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.scan.row_access import numbers_of, read_rows
from fairgauge.scan.source import Source, at_hand
from fairgauge.values import Value, is_number, name_of

_FIRST_ROWS = 1_000
_PEOPLE = re.compile(
    r"user|customer|client|patient|person|subject|session|applicant|candidate|employee|borrower",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    rf"(.*[_\s])?(id|uuid|guid|{_PEOPLE.pattern})([_\s]?(id|no|nr|number|ref|key)\.?)?",
    re.IGNORECASE,
)
_MOST_IDENTIFIERS = 3
_FEW_AMOUNTS = 20
"""Different numbers of a label up to which they may be codes of classes."""
_MOST_COMPARED = 1_000_000
FEWEST_ROWS = 30
"""Different rows, all of them of an even number by coincidence in one table of a billion."""
_FEWEST_DIFFERENT = 0.1
"""A column with fewer distinct values than this share of its rows is no identifier, unless..."""
_FEW_PEOPLE = 10
"""...it has the name of people or sessions, and more values than this."""


def with_task(source: Source, spec: Spec) -> Spec:
    """Treat labels or predictions with fractions as a regression, unless a task is stated.

    What is counted depends on the task, so the first rows are read before the scan. This is done
    only where it costs nothing: not behind a query engine or in a database.
    """
    if spec.task or spec.positive or spec.score or not (spec.label and spec.prediction):
        return spec
    if not at_hand(source):
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
    """Refuse predictions that are no numbers beside labels that only a regression can have."""
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
    so that rows of one person that are far apart are missed. What is advised depends on the verb,
    and on whether all that is counted is alike in them, as where a part of a file stands twice.
    """
    if spec.cluster or spec.person or spec.count or not at_hand(source):
        return
    used = {column for _, column in spec.columns()}
    named = [c for c in source.columns if c not in used and _IDENTIFIER.fullmatch(c)]
    named = named[:_MOST_IDENTIFIERS]
    for column, values in (read_rows(source, named, _FIRST_ROWS) if named else {}).items():
        known = [value for value in values if value is not None]
        different, few = len(set(known)), _FEWEST_DIFFERENT * len(known)
        if _PEOPLE.search(column):
            few = min(few, _FEW_PEOPLE)
        if few < different < len(known):
            asked = verb or ("score" if spec.score else None)  # people have no single score
            found: dict[str, str | bool] = {"verb": asked} if asked else {}
            counted = read_rows(source, [c for c in source.columns if c in used], _FIRST_ROWS)
            rows = {r for r in zip(values, *counted.values(), strict=True) if r[0] is not None}
            found |= {"alike": True} if len(rows) == different else {}
            yield Diagnostic.warning(
                DiagnosticCode.REPEATED_ID, column, distinct=different, rows=len(known), **found
            )


def doubled_rows(source: Source | None, cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where every row of a table stands several times, as in a file that was appended twice.

    The cells of such counts have a common divisor. Counts of other rows hardly ever have one, so
    that rows are read only then. Rows of few different values may be even by coincidence. Of people
    only those without an identifier count several times, and a cell may be odd.
    """
    if spec.count or cube.min_cell is not None or cube.rows == 0:
        return
    cells = cube.tables[0].sums["rows"]
    times, different = int(np.gcd.reduce(cells.astype(np.int64))), int((cells > 0).sum())
    unnamed = dict(cube.conflicts).get(spec.person or "", 0) if spec.of_people else 0
    if spec.of_people:
        several = unnamed and cube.rows - unnamed >= 2 * (cube.cases - unnamed)
        times, different = int(np.gcd(unnamed, cube.rows)) if several else 1, 0
    of_cells = True
    if times > 1 and source is not None and at_hand(source) and cube.rows <= _MOST_COMPARED:
        columns = read_rows(source, source.columns)
        held = Counter(map(str, zip(*columns.values(), strict=True)))
        times, different, of_cells = int(np.gcd.reduce([*held.values()])), len(held), False
    if times > 1 and different >= FEWEST_ROWS:
        number = {"times": times, "different": different}
        number |= {"unnamed": unnamed} if unnamed else {}
        number |= {"cells": True} if of_cells else {}
        yield Diagnostic.warning(DiagnosticCode.DOUBLED_ROWS, None, **number)


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
