"""First rows: what the head of the data shows, and the median of the scores of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fairgauge.api._repeated_people import unasked_columns
from fairgauge.cube.cube import Observed
from fairgauge.cube.plan import Plan, plan
from fairgauge.enums import DiagnosticCode, Observation, Task, Threshold
from fairgauge.errors import DataError, quote
from fairgauge.question.recoding import not_numbers
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.scan.input_files import opened_files
from fairgauge.scan.row_codes import numbers_of, read_rows
from fairgauge.scan.source import Readable, Source, can_look_at_rows
from fairgauge.start.records import replace
from fairgauge.values import name_of

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
    """Return the label as one of means: of fractions, most of one row, of several cases each."""
    column = spec.label or spec.prediction
    if not (spec.count and column and spec.task is Task.REGRESSION and can_look_at_rows(source)):
        return ()
    first = read_rows(source, (column, spec.count), _FIRST_ROWS, spec.recode)
    x, n = map(numbers_of, first.values())
    x, n = x[known := np.isfinite(x) & (n > 0)], n[known]
    is_mean = len(x) and 2 * len(np.unique(x)) > len(x) and np.median(n) >= _SEVERAL
    found = is_mean and np.count_nonzero(x % 1) * 2 > len(x)
    return (Observed(Observation.MEANS, column),) if found else ()


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
        for column, rows_below in record.merged.items():
            yield Diagnostic.note(DiagnosticCode.MERGED_CELLS, column=column, rows=rows_below)
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
