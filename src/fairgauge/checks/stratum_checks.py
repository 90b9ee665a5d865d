"""Checks of strata: many of few rows, those of missing values, and two that may be one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from fairgauge.cube.crossed_strata import with_one_stratum
from fairgauge.cube.cube import Cube
from fairgauge.cube.levels import MANY_LEVELS, MOST_READABLE, quartiles
from fairgauge.cube.plan import Axis
from fairgauge.enums import DiagnosticCode, Role
from fairgauge.question.recoding import has_categories
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.excluded_rows import in_a_group
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Array
from fairgauge.values import Value, name_of


def axes_of(cube: Cube, columns: Collection[str]) -> list[Axis]:
    """Return the axes of columns, each of which may be counted as a stratum or as a feature."""
    either = (Role.STRATUM, Role.FEATURE)
    return [axis for axis in cube.plan.axes if axis.role in either and axis.column in columns]


def many_strata(cube: Cube, spec: Spec, crossed: Cube | None = None) -> Iterator[Diagnostic]:
    """Warn of many strata of few rows, which often lack one side of a comparison, or of numbers.

    ``crossed`` are the counts by the strata that are asked for, where the cube may hold others.
    """
    if not spec.strata:
        return
    crossed = crossed or with_one_stratum(cube)
    axis = next(a for a in crossed.plan.axes if a.role is Role.STRATUM)
    rows = _compared_rows(crossed, axis, spec)
    few = rows < FEWEST_ROWS
    listed: dict[str, str] = {}
    columns = {feature.column for feature in spec.strata}
    asked = [each for each in cube.plan.axes if each.column in columns]
    for each in asked:
        if each.role is Role.STRATUM and not each.cuts:
            levels, sizes = cube.levels[each], cube.cases_by_level[each].tolist()
            cuts = quartiles(levels, sizes[: len(levels)])
            # else as many strata as before, or codes, which have no order
            if cuts and len(levels) > len(cuts) + 1 and not _may_be_codes(each, levels, spec):
                listed[each.column] = ",".join(map(name_of, cuts))
    sparse = len(rows) >= MANY_LEVELS and rows[few].sum() > rows.sum() / 2
    if not sparse and not (listed and len(rows) > MOST_READABLE):
        return
    # those asked for without strata are the strata
    more: dict[str, Any] = {"controls": True} if any(each.control for each in asked) else {}
    if coarser := tuple(each.column for each in asked if len(each.cuts) > 1):
        more["coarser"] = coarser
    yield Diagnostic.warning(
        DiagnosticCode.MANY_STRATA,
        strata=len(rows),
        share=float(rows[few].sum() / rows.sum()),
        minimum=FEWEST_ROWS,
        columns=tuple(listed),
        cuts=tuple(listed.values()),
        **spec.unit,
        **more,
    )


def _may_be_codes(axis: Axis, levels: Collection[Value], spec: Spec) -> bool:
    """Return whether numbers may name categories, such as branches: recoded, or whole and few."""
    whole = all(isinstance(each, int) for each in levels)
    return has_categories(spec.recoding(axis.column)) or (whole and len(levels) <= MOST_READABLE)


def _compared_rows(cube: Cube, stratum: Axis, spec: Spec) -> Array:
    """Return the cases of every stratum that are in a group of a feature, 0 of none."""
    having = [table for table in cube.tables if stratum in table.axes]
    grouped = [table for table in having if any(a.role is Role.FEATURE for a in table.axes)]
    rows = np.zeros(len(cube.levels[stratum]))
    for table in grouped or having:
        codes = dict(zip(table.axes, table.codes.T, strict=True))
        held = codes[stratum] >= 0
        if grouped:
            of = [in_a_group(a, cube, spec)[codes[a]] for a in table.axes if a.role is Role.FEATURE]
            held &= np.logical_or.reduce(of)
        rows = np.maximum(rows, np.bincount(codes[stratum][held], table.cases[held], len(rows)))
    return rows[rows > 0]
