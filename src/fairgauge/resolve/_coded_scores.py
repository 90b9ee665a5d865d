"""The rows whose score is probably a code of a missing value, such as -1 or 999."""

from __future__ import annotations

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.cube.levels import is_of_scale
from fairgauge.enums import Role
from fairgauge.question.category_words import NEARBY


def coded_scores(cube: Cube) -> dict[tuple[str, float], int]:
    """Return the rows of the ends of scores that are often codes of missing ones.

    None are of an end that is part of their scale.
    """
    axis = cube.plan.axis(Role.SCORE)
    ends = [each for each in sorted(cube.ends) if axis and axis.grid and each[0] == axis.column]
    if axis is None or axis.bounds is None or not ends:
        return {}
    table = cube.marginal([axis])
    rows = np.zeros(axis.bins + 1)
    rows[table.codes[:, 0]] = table.cases
    found = {}
    for column, end in ends:
        points = np.clip([end, -end, 0.0, NEARBY * end], *axis.bounds)
        at, opposite, zero, near = axis.bins_of(points).tolist()
        others = rows[:-1] > 0
        others[at] = False
        nearby = slice(min(at, near), max(at, near) + 1)
        of_scale = is_of_scale(end, others, opposite, zero, nearby)
        found[column, end] = 0 if of_scale else int(rows[at])
    return found
