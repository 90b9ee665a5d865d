"""The rows of every period: how many, which are excluded, and what the checks of a history need."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.cube.cube import HANDFUL
from fairgauge.enums import Role
from fairgauge.monitoring._period_values import new_values
from fairgauge.resolve.excluded_rows import excluded_rows
from fairgauge.results.monitor_results import PeriodRows
from fairgauge.values import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.monitoring.periods import Period
    from fairgauge.question.specification import Spec


_CHECKED = (Role.FEATURE, Role.STRATUM, Role.LABEL, Role.PREDICTION)
_MOST_VALUES = 200


class CountedRows(NamedTuple):
    """The rows that a cube counts, and what distinguishes them from those of other periods.

    Attributes
    ----------
    digest : the fingerprint of the counts.
    rows, excluded : all rows, and by reason those that the question excludes.
    new_values : the unknown values of columns in which no row has a positive value.
    values, missing : the rows of every value of a column, and of none.
    divisor, cells : the largest number that divides the rows of all cells, and how many cells.
    coincidence : the log of the probability that other rows of the same groups have these counts.
    """

    digest: str
    rows: int
    excluded: dict[str, int]
    new_values: dict[str, tuple[str, ...]]
    values: dict[str, dict[str, int]]
    missing: dict[str, int]
    divisor: int
    cells: int
    coincidence: float


def counted_rows(cube: Cube, question: Spec, first: Cube | None) -> CountedRows:
    """Return the rows that a cube counts, and those that the question excludes, by reason.

    ``first`` holds the first period; None where that is ``cube`` itself.
    """
    complete = _complete(cube, question)
    excluded = {} if complete else excluded_rows(cube, question, cube.rows_by_level())[0]
    return CountedRows(
        fingerprint(cube),
        cube.rows,
        {why: n for why, n in excluded.items() if n},
        new_values(cube, first, question),
        *_rows_of_values(cube, question),
        *_regularity(cube),  # type: ignore[arg-type]
    )


def _rows_of_values(cube: Cube, question: Spec) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Return the rows of every value of every column, and those without one.

    Numbers that are cut have no values, nor have columns of many; values that are excluded or mean
    that nothing is known are none that could be new.
    """
    values: dict[str, dict[str, int]] = {}
    missing: dict[str, int] = {}
    apart = {*map(name_of, question.unknown), *question.exclude_groups}
    rows = cube.rows_by_level()
    for axis in cube.plan.axes:
        if axis.role not in _CHECKED:
            continue
        missing[axis.column] = int(rows[axis][-1])
        if axis.bins or axis.cuts or len(cube.levels[axis]) > _MOST_VALUES:
            continue
        named = zip(map(name_of, cube.levels[axis]), rows[axis][:-1].tolist(), strict=True)
        values[axis.column] = {text: int(n) for text, n in named if n and text not in apart}
    return values, missing


def _regularity(cube: Cube) -> tuple[int, int, float]:
    """Return the common divisor of all cells, how many there are, and how probable a twin is.

    The probability is that of multinomial counts being the same twice, within groups of given
    sizes: of more freedom, it would be smaller.
    """
    apart = [t for t in cube.tables if not any(a.role is Role.CLUSTER for a in t.axes)]
    joint = max(apart, key=lambda table: len(table.codes))
    held = joint.sums["rows"] > 0
    rows = joint.sums["rows"][held]
    if not rows.size or cube.rows <= HANDFUL:
        return 1, int(rows.size), 0.0
    divisor = int(np.gcd.reduce(rows.astype(np.int64)))
    columns = [i for i, axis in enumerate(joint.axes) if axis.role is Role.FEATURE]
    codes = joint.codes[held][:, columns]
    of_group = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    sizes, cells = np.bincount(of_group, rows), np.bincount(of_group)
    logs = np.bincount(of_group, np.log(rows))
    twins = (np.log(sizes) - logs - (cells - 1) * math.log(4 * math.pi)) / 2
    return divisor, int(rows.size), float(np.minimum(twins, 0.0).sum())


def _complete(cube: Cube, question: Spec) -> bool:
    """Return whether nothing can be excluded: no value is missing, and none is excluded by name."""
    named = question.unknown or question.exclude_groups
    return not (named or cube.excluded) and all((table.codes >= 0).all() for table in cube.tables)


def fingerprint(cube: Cube) -> str:
    """Return what distinguishes counts from others of the same plan, as their digest does."""
    excluded = {str(reason): rows for reason, rows in cube.excluded.items()}
    found = hashlib.sha256(repr((cube.rows, excluded, [*cube.levels.values()])).encode())
    for table in cube.tables:
        found.update(table.codes.tobytes())
        for sums in table.sums.values():
            found.update(sums.tobytes())
    return found.hexdigest()


def rows_of_periods(
    periods: Sequence[Period], counted: Sequence[CountedRows]
) -> Iterator[PeriodRows]:
    """Yield the rows of every period."""
    for period, held in zip(periods, counted, strict=True):
        yield PeriodRows(
            period=str(period),
            start=period.start.isoformat(),
            rows=held.rows,
            excluded=held.excluded,
        )
