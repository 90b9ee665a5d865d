"""The rows whose score is probably a code of a missing value, such as -1 or 999."""

from __future__ import annotations

import numpy as np

from fairgauge.cube.cube import Cube, rows_of_no_weight
from fairgauge.enums import Role
from fairgauge.question.category_words import FAR_BELOW, NEARBY


def coded_scores(cube: Cube) -> dict[tuple[str, float], int]:
    """Return the rows of the ends of scores that are often codes of missing ones.

    None are of an end that is part of a scale: of negative scores, one beside others or beside its
    opposite alone; of those far from 0, one with others nearby.
    """
    axis = cube.plan.axis(Role.SCORE)
    ends = [each for each in sorted(cube.ends) if axis and axis.grid and each[0] == axis.column]
    if axis is None or axis.bounds is None or not ends:
        return {}
    table = cube.marginal([axis])
    rows = np.zeros(axis.bins + 1)
    rows[table.codes[:, 0]] = table.sums["n" if rows_of_no_weight(cube) else cube.plan.cases]
    found = {}
    for column, end in ends:
        points = np.clip([end, -end, 0.0, NEARBY * end], *axis.bounds)
        at, opposite, zero, near = axis.bins_of(points).tolist()
        others = rows[:-1] > 0
        others[at] = False
        if FAR_BELOW < end < 0:
            of_scale = others[:zero].any() or not np.delete(others, opposite).any()
        else:
            of_scale = others[min(at, near) : max(at, near) + 1].any()
        found[column, end] = 0 if of_scale else int(rows[at])
    return found
