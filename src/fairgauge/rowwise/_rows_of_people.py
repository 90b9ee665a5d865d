"""People: the columns of rows made into those of people, each with their last known numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.cube.levels import identity, sorted_levels
from fairgauge.enums import Role
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import level_codes, unknown_levels
from fairgauge.resolve.people import last_decisions, only_value
from fairgauge.scan.row_access import numbers_of
from fairgauge.stats.arrays import Index, Mask
from fairgauge.values import Value


def last_numbers(
    columns: Mapping[str, Sequence[Value]], cube: Cube, spec: Spec
) -> dict[str, list[Value]]:
    """Return features and outcomes with an entry for each person, as `count_people` counts them.

    Rows without a person follow, each a person of its own.
    """
    who = columns[str(spec.person)]
    person = _codes([None if isinstance(v, str) and not v.strip() else v for v in who])
    named = np.flatnonzero(person >= 0)
    of, people = person[named], int(person.max(initial=-1)) + 1
    codes, only = {}, {}
    for axis in cube.plan.axes:
        if axis.role is Role.FEATURE:
            unknown = np.append(unknown_levels(axis, cube.levels[axis], spec), False)
            code = level_codes(axis, cube, columns[axis.column])[named]
            codes[axis.column] = np.where(unknown[code], -1, code)
            only[axis.column] = only_value(codes[axis.column], of, people)[0]
    outcomes = {}
    for axis in cube.plan.outcomes:
        numbers = numbers_of(columns[axis.column])[named]
        code = np.searchsorted(np.unique(numbers), numbers)
        outcomes[axis.column] = np.where(np.isnan(numbers), -1, code)

    def differ(column: str, last: Mask) -> Mask:
        return only_value(np.where(last, outcomes[column], -1), of, people)[1]

    order = _codes(columns[str(spec.order)])[named]
    only |= last_decisions(outcomes, cube.plan.outcomes[-1].column, differ, of, order, people).found
    found = {}
    for column, code in (codes | outcomes).items():
        values = columns[column]
        places = np.full(people, -1)
        holds = (code >= 0) & (code == only[column][of])
        places[of[holds]] = named[holds]
        known = [values[place] if place >= 0 else None for place in places.tolist()]
        found[column] = known + [values[i] for i in np.flatnonzero(person < 0).tolist()]
    return found


def _codes(values: Sequence[Value]) -> Index:
    """Return the position of every value among the different ones in order, -1 where missing."""
    position = {identity(level): i for i, level in enumerate(sorted_levels(values))}
    return np.array([-1 if v is None else position[identity(v)] for v in values], dtype=np.int64)
