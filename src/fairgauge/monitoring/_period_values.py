"""The values of label and prediction in a period: those of the other periods, or another coding.

A rate counts the positive values. Where a period writes them in another way, its rates would be 0.
Here is also whether a comparison still has values. A small group is absent from some periods by
sampling variation, and the periods before still decide. A value that cannot be computed while there
are, or usually are, enough rows leaves the comparison undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from fairgauge.cube.cube import HANDFUL
from fairgauge.enums import Role, Task
from fairgauge.errors import DataError, listing, quote
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.monitor_results import periods_without_value
from fairgauge.values import matches, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis
    from fairgauge.monitoring.periods import Period
    from fairgauge.question.specification import Spec
    from fairgauge.results.monitor_results import Point
    from fairgauge.values import Value

_MOST_SHOWN = 5
_BY_DEFAULT = (0, 1)
"""The labels where no value is named as the positive one."""


@dataclass(frozen=True, slots=True)
class _Coding:
    """The values of a column in a period.

    Attributes
    ----------
    column : its name.
    held : the values that rows of the period have.
    elsewhere : those that the label, or another period, has.
    positive : the positive values; none of several classes.
    """

    column: str
    held: tuple[Value, ...]
    elsewhere: tuple[Value, ...]
    positive: tuple[Value, ...]

    @property
    def unknown(self) -> tuple[Value, ...]:
        """Return the values that are neither positive nor held elsewhere."""
        known = (*self.elsewhere, *self.positive)
        return tuple(v for v in self.held if not any(matches(v, each) for each in known))

    @property
    def without_positive(self) -> bool:
        """Return whether no row has a positive value."""
        return not any(matches(v, each) for v in self.positive for each in self.held)


def check_values(
    period: Period, cube: Cube, other_period: Period, other: Cube, question: Spec
) -> None:
    """Refuse a period whose labels or predictions have no value in common with another period.

    A handful of rows may well have other values by coincidence.
    """
    if min(cube.rows, other.rows) <= HANDFUL:
        return
    for coding in _codings(cube, other, question):
        if coding.elsewhere and coding.held and coding.unknown == coding.held:
            raise DataError(
                f"the period {period}: column {quote(coding.column)} holds {_some(coding.held)}, "
                f"and none of these is known from {other_period} ({_some(coding.elsewhere)}); "
                "use the same values in all periods; remove a stored one and count it again"
            )


def new_values(cube: Cube, first: Cube | None, question: Spec) -> dict[str, tuple[str, ...]]:
    """Return the unknown values of the columns in which no row has a positive value.

    ``first`` holds the first period; None where that is ``cube`` itself.
    """
    return {
        coding.column: tuple(map(name_of, coding.unknown))
        for coding in _codings(cube, first, question)
        if coding.elsewhere and coding.unknown and coding.without_positive and coding.positive
    }


def _codings(cube: Cube, other: Cube | None, question: Spec) -> Iterator[_Coding]:
    """Yield the values of label and prediction, those that are not numbers that were cut."""
    task = decide_task(cube if other is None else other, question)
    if task is Task.REGRESSION or cube.min_cell is not None:
        return
    positive = question.positive if isinstance(question.positive, tuple) else ()
    label = cube.plan.axis(Role.LABEL)
    labels = _held(cube, label)
    for axis in (label, cube.plan.axis(Role.PREDICTION)):
        if axis is None or axis.bins:
            continue
        elsewhere = () if other is None else _held(other, axis)
        if task is Task.BINARY and not positive:
            elsewhere += _BY_DEFAULT
        if axis is not label:
            elsewhere += labels
        wanted = (positive or _BY_DEFAULT[1:]) if task is Task.BINARY else ()
        yield _Coding(axis.column, _held(cube, axis), tuple(dict.fromkeys(elsewhere)), wanted)


def _held(cube: Cube, axis: Axis | None) -> tuple[Value, ...]:
    """Return the values of a column that rows have, without missing ones."""
    if axis is None or axis.bins:
        return ()
    counted = cube.marginal((axis,))
    codes = counted.codes[counted.sums["rows"] > 0, 0]
    return tuple(cube.levels[axis][code] for code in sorted(codes.tolist()) if code >= 0)


def _some(values: Sequence[Value]) -> str:
    return listing([name_of(value) for value in values], _MOST_SHOWN)


def lacks_values(points: Sequence[Point], min_n: int, *, two_sided: bool) -> bool:
    """Return whether the last periods have no value, and at least ``min_n`` rows would.

    A period counts with its rows, or with those that the periods before have on average where
    these are more.

    Parameters
    ----------
    points : sequence of Point
        All periods of a comparison; those that wait for labels decide nothing.
    min_n : int
        Rows below which data are insufficient.
    two_sided : bool
        Whether two groups are compared, so that the smaller one counts.
    """
    lacking = periods_without_value(points)
    if not lacking:
        return False
    decided = [point for point in points if not point.waits]
    before = [_rows(point, min_n, two_sided) for point in decided[: -len(lacking)]]
    usual = fmean(before) if before else 0.0
    rows = sum(max(_rows(point, min_n, two_sided), usual) for point in lacking)
    return rows >= min_n


def _rows(point: Point, min_n: int, two_sided: bool) -> int:
    """Return the rows of a period, of the smaller side; ``min_n`` for a value without sizes."""
    if point.value is not None and not point.n_group and not point.n_reference:
        return min_n
    return min(point.n_group, point.n_reference) if two_sided else point.n_group
