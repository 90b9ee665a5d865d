"""What an audit warns of in the columns of a service's job, beside the numbers of the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fairgauge.api.audit import audit
from fairgauge.checks.names import doubtful_names
from fairgauge.compat._coded_column import CodedColumn, Kind, as_float
from fairgauge.compat._column_reading import DataType
from fairgauge.compat._facet_counts import BinaryOutcome, Blocks, FacetQuestion, count_question
from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, Level, Profile
from fairgauge.question.category_words import may_be_no_number
from fairgauge.results.scopes import Diagnostic
from fairgauge.rowwise.first_rows import FEWEST_ROWS
from fairgauge.values import canonical, name_of

MOST_SPELLED = 200
"""Values of a column up to which each is a group: names of places or people are not."""
_OF_OTHER_QUESTIONS = (
    DiagnosticCode.NUMERIC_GROUPS,
    DiagnosticCode.SINGLE_ROW_GROUPS,
    DiagnosticCode.PREDICTION_NOT_A_LABEL,
)
"""Warnings of a group for each value, and of a prediction by its name: the job has neither."""


def each_value(column: CodedColumn) -> Blocks | None:
    """Return a facet with a block for each of its values, as an audit has a group for each.

    None where there are too many values for names: those of places or people are not compared. An
    empty text is a missing value, as in an audit.
    """
    if not 0 < len(column.levels) <= MOST_SPELLED:
        return None
    # 1 and "1" are one value
    named = column.relabel([name_of(canonical(v)) for v in column.levels], Kind.TEXT)
    codes = np.array([i if name else -2 for i, name in enumerate(named.levels)] + [-2])[named.codes]
    return Blocks(column.name, tuple(map(str, named.levels)), codes, DataType.CATEGORICAL)


def warnings_of_names(
    facets: Sequence[Blocks], numbers: Sequence[CodedColumn]
) -> Iterator[Diagnostic]:
    """Warn of values of facets that may be one group or none, and of codes in columns of numbers.

    Blocks alone do not show them: all other values are one group, and numbers are cut.
    """
    cube = _counted(FacetQuestion(tuple(facets)), numbers)
    yield from doubtful_names(cube, cube.asked)


def _counted(asked: FacetQuestion, numbers: Iterable[CodedColumn]) -> Cube:
    """Count rows, and name the ends of columns of numbers that may be codes."""
    held = ((column.name, sorted(map(as_float, column.used))) for column in numbers)
    ends = {(name, end) for name, values in held for end in (values[0], values[-1])}
    codes = frozenset(each for each in ends if may_be_no_number(each[1]))
    return replace(count_question(asked, Profile.DOCUMENTED), ends=codes)


def data_warnings(
    facets: Sequence[Blocks],
    label: BinaryOutcome,
    prediction: BinaryOutcome | None,
    numbers: Iterable[CodedColumn],
    columns: Callable[[], Iterable[CodedColumn]],
) -> list[Diagnostic]:
    """Return what an audit of all rows warns of, and which rows it counts as excluded."""
    asked = FacetQuestion(tuple(facets), label, prediction)
    metrics = ["base_rate.difference" if prediction is None else "accuracy.difference"]
    cube = _counted(asked, numbers)
    found = audit(cube, metrics=metrics).diagnostics
    found = (*found, *doubled_rows(found, cube, columns))
    kept = (
        each
        for each in found
        if each.code not in _OF_OTHER_QUESTIONS
        and (each.level is Level.WARNING or each.code is DiagnosticCode.EXCLUDED)
    )
    return without_options(kept)


def doubled_rows(
    notes: Iterable[Diagnostic], cube: Cube, columns: Callable[[], Iterable[CodedColumn]]
) -> Iterator[Diagnostic]:
    """Warn where every row stands several times and the counts are too few for an audit to.

    All columns are read only where the counts have a common divisor.
    """
    doubled = int(np.gcd.reduce(cube.tables[0].sums["rows"].astype(np.int64))) > 1
    if not doubled or any(each.code is DiagnosticCode.DOUBLED_ROWS for each in notes):
        return
    codes = np.stack([column.codes for column in columns()])
    counts = np.unique(codes, axis=1, return_counts=True)[1]
    times, different = int(np.gcd.reduce(counts)), len(counts)
    if times > 1 and different >= FEWEST_ROWS:
        yield Diagnostic.warning(
            DiagnosticCode.DOUBLED_ROWS, None, times=times, different=different
        )


def without_options(notes: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return notes that advise to correct the table: the command lacks the options of an audit."""
    return [
        replace(each, parameters=tuple(sorted({**dict(each.parameters), "options": False}.items())))
        for each in notes
    ]
