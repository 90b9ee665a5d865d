"""Checks of answers under swapped names: of scores, decisions and groups that may be none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import SQUARES, SUM, Axis
from fairgauge.enums import DiagnosticCode, Level, Role
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.swap_question import SwapQuestion
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.name_checks import doubtful_names
from fairgauge.resolve.outcome_checks import undecided_outcomes
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Mask
from fairgauge.values import is_one_of

_FAR_BELOW = -99
"""A code that no scale with other negative numbers ends at."""


def doubtful_answers(cube: Cube, question: SwapQuestion) -> Iterator[Diagnostic]:
    """Warn of names and numbers that may mean a missing value, and of decisions that may be none.

    Groups of irrelevant edits may be called as what is missing is.
    """
    for each in doubtful_names(cube, question.spec):
        edit = each.code is DiagnosticCode.MISSING_MARKER and is_one_of(
            each["value"], question.placebo
        )
        scale = each.code is DiagnosticCode.CODED_NUMBERS and (
            each["column"] == question.answer and _is_of_a_scale(cube, float(each["value"]))
        )
        if each.level is Level.WARNING and not edit and not scale:
            yield each
    yield from unclear_decisions(cube, question)


def unknown_values(cube: Cube, axis: Axis, question: SwapQuestion) -> Mask:
    """Return whether every level of an axis means that a value is unknown; last, a missing one."""
    levels = [None] * (len(axis.cuts) + 1) if axis.cuts else cube.levels[axis]
    return np.append(unknown_levels(axis, levels, question.spec, axis.role), True)


def unclear_decisions(cube: Cube, question: SwapQuestion) -> Iterator[Diagnostic]:
    """Warn of decisions that count as unfavourable, and may be favourable or none.

    Those that are stated to be unknown are none.
    """
    axis = cube.plan.axis(Role.PREDICTION)
    if axis is None:
        return
    (table,) = cube.tables
    known = ~unknown_values(cube, axis, question)[table.codes[:, table.axes.index(axis)]]
    sums = {name: values[known] for name, values in table.sums.items()}
    decided = replace(cube, tables=(CountTable(table.axes, table.codes[known], sums),))
    for each in undecided_outcomes(decided, question.spec):
        if each.level is Level.WARNING:
            line = question.spec.recoding_line(axis.column, {UNKNOWN: each["values"]})
            yield Diagnostic.warning(each.code, **dict(each.parameters) | {"line": line})


def _is_of_a_scale(cube: Cube, end: float) -> bool:
    """Return whether a negative number is one of several, or the opposite of all positive ones."""
    if end <= _FAR_BELOW or end > 0:
        return False
    (table,) = cube.tables
    scores = next(i for i, axis in enumerate(table.axes) if axis.role is Role.SCORE)
    n, total, squares = (
        np.bincount(table.codes[:, scores] + 1, table.sums[name], 3)[1:]
        for name in (cube.plan.cases, SUM, SQUARES)
    )
    # both sums are of terms of one sign, so that 0 means that each of them is
    others = squares[0] - end * total[0]
    positive = squares[1] + 2 * end * total[1] + end**2 * n[1]
    return not np.isclose(others, 0, atol=1e-6) or bool(np.isclose(positive, 0, atol=1e-6))
