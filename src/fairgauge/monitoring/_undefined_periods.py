"""Whether a comparison still has values: for how many periods it had none, and of how many rows.

A small group is absent from some periods by sampling variation, and the periods before still
decide. A value that cannot be computed while there are, or usually are, enough rows leaves the
comparison undecided.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from fairgauge.results.monitor_results import periods_without_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.results.monitor_results import Point


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
