"""Cuts of numbers at their quantiles: found from counts of the values, and made fewer afterwards.

The values are counted by the engine that holds them, so that the rows need not fit into memory.
Cuts at the quantiles of 20 intervals hold those of 10 and of 4, whose counts are sums.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.cube.cube import Cube, aggregate
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.cube.plan import Axis
    from fairgauge.question.features import Feature

MOST_INTERVALS = 20


def quantile_cuts(cube: Cube, axis: Axis, intervals: int) -> tuple[float, ...]:
    """Return the cut points of a column into intervals of equally many cases, where values allow.

    Raises
    ------
    DataError
        A value is no number, or all are one.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({"y": [1, 0] * 50, "dti": range(100)})
    >>> cube = fg.count(rows, label="y", sensitive="dti")
    >>> quantile_cuts(cube, cube.plan.axes[0], 4)
    (24.0, 49.0, 74.0)
    """
    levels = cube.levels[axis]
    other = next((each for each in levels if isinstance(each, (str, bool))), None)
    if other is not None:
        raise DataError(
            f"column {quote(axis.column)} must hold numbers to be cut at their quantiles, but has "
            f"{quote(other)}; use its values as strata"
        )
    table = cube.marginal([axis])
    known = table.codes[:, 0] >= 0
    values = np.array([float(levels[code] or 0) for code in table.codes[known, 0].tolist()])
    order = np.argsort(values)
    values = values[order]
    reached = np.cumsum(table.sums.get("n", table.sums["rows"])[known][order])
    wanted = [k * reached[-1] / intervals for k in range(1, intervals)] if len(values) else []
    points = {float(values[np.searchsorted(reached, each)]) for each in wanted}
    found = tuple(sorted(points - {float(values[-1])} if len(values) else ()))
    if not found:
        raise DataError(f"column {quote(axis.column)} has too few different numbers to be cut")
    return found


def with_fewer_cuts(cube: Cube, features: Sequence[Feature]) -> Cube:
    """Return counts with some of the cuts of some columns alone; intervals are summed."""
    cuts = {each.column: each.cuts for each in features}
    tables, axes, levels = list(cube.tables), list(cube.plan.axes), dict(cube.levels)
    for i, axis in enumerate(axes):
        kept = cuts.get(axis.column, axis.cuts)
        if not axis.cuts or kept == axis.cuts:
            continue
        axes[i] = fewer = replace(axis, cuts=kept)
        levels[fewer] = tuple(range(fewer.bins))
        # an interval is in the one that holds its upper end
        place = np.append(np.searchsorted(np.array(kept), np.array([*axis.cuts, np.inf])), -1)
        for j, table in enumerate(tables):
            if axis in table.axes:
                at = table.axes.index(axis)
                codes = table.codes.copy()
                codes[:, at] = place[codes[:, at]]
                named = tuple(fewer if each == axis else each for each in table.axes)
                tables[j] = aggregate(named, codes, table.sums)
    plan = replace(cube.plan, axes=tuple(axes))
    return replace(cube, plan=plan, levels=levels, tables=tuple(tables))
