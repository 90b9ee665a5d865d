"""The rows that codes of missing values, such as -1 or 999, put into groups of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Plan
from fairgauge.enums import Closed, Role


def with_coded(
    cubes: Mapping[str, Cube], count: Callable[[Plan], Mapping[str, Cube]]
) -> dict[str, Cube]:
    """Return cubes of one plan with the rows of codes in groups of numbers, each counted again.

    Where no number at the end of a column that is cut is often such a code, nothing is.
    """
    found = dict(cubes)
    for column, code in sorted({end for cube in cubes.values() for end in cube.ends}):
        plan = next(iter(cubes.values())).plan
        axis = plan.axis(Role.FEATURE, column)
        if axis is None or not axis.cuts:
            continue
        alone = replace(axis, cuts=(code, math.nextafter(code, math.inf)), closed=Closed.LEFT)
        axes = tuple(alone if each == axis else each for each in plan.axes)
        for name, cube in count(replace(plan, axes=axes)).items():
            rows = dict(zip(cube.levels[alone], cube.cases_by_level[alone].tolist(), strict=False))
            if rows.get(1):
                coded = (*found[name].coded, (column, code, int(rows[1])))
                found[name] = replace(found[name], coded=coded)
    return found
