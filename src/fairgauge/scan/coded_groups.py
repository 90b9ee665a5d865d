"""The rows that hold codes of missing values, such as -1 or 999, in columns of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.cube.levels import is_of_scale
from fairgauge.cube.plan import OUTCOMES, Axis, Plan
from fairgauge.enums import Closed, Role
from fairgauge.question.category_words import FAR_BELOW, NEARBY, may_be_no_number
from fairgauge.stats.arrays import Array

_COUNTED = (Role.FEATURE, *OUTCOMES, Role.CANDIDATE)


def with_coded(
    cubes: Mapping[str, Cube], count: Callable[[Plan], Mapping[str, Cube]]
) -> dict[str, Cube]:
    """Return cubes of one plan with the rows of codes in columns of numbers, each counted again.

    Where no number at the end of a column that is cut or averaged is often such a code, nothing is.
    """
    found = dict(cubes)
    for column, code in sorted({end for cube in cubes.values() for end in cube.ends}):
        plan = next(iter(cubes.values())).plan
        every = (axis for role in _COUNTED if (axis := plan.axis(role, column)))
        axis = next((axis for axis in every if axis.cuts and not axis.bounds), None)
        if axis is None:
            continue
        alone = replace(axis, cuts=_cuts_about(code), closed=Closed.LEFT)
        axes = tuple(alone if each == axis else each for each in plan.axes)
        for name, cube in count(replace(plan, axes=axes)).items():
            if rows := _rows_of_code(alone, cube.cases_by_level[alone][:-1], code):
                found[name] = replace(found[name], coded=(*found[name].coded, (column, code, rows)))
    return found


def _codes_like(code: float) -> list[float]:
    """Return a code and those that are often used beside it."""
    if FAR_BELOW < code < 0:
        return [-1.0, -9.0]
    digits = len(f"{abs(code):.0f}")
    every = (math.copysign(float(digit * digits), code) for digit in "1789")
    return [each for each in every if may_be_no_number(each)]


def _cuts_about(code: float) -> tuple[float, ...]:
    """Return cut points that set apart a code, and what shows whether it is part of a scale."""
    exact = {*_codes_like(code), code, -code}
    above = {math.nextafter(each, math.inf) for each in exact}
    return tuple(sorted({*exact, *above, 0.0, NEARBY * code, code / NEARBY}))


def _rows_of_code(axis: Axis, rows: Array, code: float) -> int:
    """Return the rows of a code by the rows of all intervals about it; none if it is of a scale.

    Codes do not show that others are numbers.
    """
    at, opposite, zero, *near = axis.bins_of(
        np.array([code, -code, 0.0, *sorted([NEARBY * code, code / NEARBY])])
    ).tolist()
    others = rows > 0
    others[axis.bins_of(np.array(_codes_like(code)))] = False
    return 0 if is_of_scale(code, others, opposite, zero, slice(*near)) else int(rows[at])
