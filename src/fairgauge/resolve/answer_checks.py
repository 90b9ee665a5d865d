"""Answers under swapped names that are unknown, or may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import Level, Role
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.swap_question import SwapQuestion
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcome_checks import undecided_outcomes
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Mask


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
