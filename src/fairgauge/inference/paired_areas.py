"""Changes of the area under the ROC curve between two scores of the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import IntervalMethod, Role
from fairgauge.errors import CubeError
from fairgauge.inference.paired_changes import StatisticChange
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import Array, Index, Limits, Mask, quiet
from fairgauge.stats.intervals import t_from_z
from fairgauge.stats.paired import PairedTable, Quantity, combined, correlation, logarithm
from fairgauge.stats.sampling import satterthwaite_degrees


@dataclass(frozen=True, slots=True, eq=False)
class AreaChange:
    """What becomes of the area, and by how much it may be less, whatever is not counted.

    ``reach`` is of rows without an outcome or a score, and of what the bins of scores hide.
    """

    change: StatisticChange
    reach: float


def area_change(
    cube: Cube, candidate: Axis, outcome: OutcomeMasks, table: PairedTable
) -> AreaChange | None:
    """Return what becomes of the area of all rows; None where it was not counted.

    Its interval is that of DeLong, from the influences of every row: of the sums of clusters where
    rows are clustered, with Student's t of their number.
    """
    label, score = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.SCORE)
    other = cube.plan.axis(Role.SCORE, candidate.column)
    cluster = cube.plan.axis(Role.CLUSTER)
    if label is None or score is None or other is None:
        return None
    try:
        counted = cube.marginal([label, score, other, *([cluster] if cluster else [])])
    except CubeError:
        return None
    every = counted.sums.get("w", counted.cases)
    codes = counted.codes_of([label, score, other])
    known = (codes >= 0).all(axis=1)
    if outcome.open_labels is not None:
        known &= ~np.append(outcome.open_labels, True)[codes[:, 0]]
    unknown, counted = float(every[~known].sum()), counted.where(known)
    labels, *scores = counted.codes_of([label, score, other]).T
    positive, weights = outcome.labels[labels], every[known]
    squares = counted.sums.get("w2", weights)
    if outcome.turned is not None:
        scores = [axis.bins - codes for axis, codes in zip((score, other), scores, strict=True)]
    units = counted.codes_of([cluster])[:, 0] if cluster else None
    return changed_area(scores, positive, weights, squares, units, table, unknown)


@quiet
def changed_area(
    scores: Sequence[Index],
    positive: Mask,
    weights: Array,
    squares: Array,
    units: Index | None,
    table: PairedTable,
    unknown: float = 0.0,
) -> AreaChange:
    """Return what becomes of the area of cells with both scores, beside ``unknown`` rows without.

    ``scores``: the codes of both; ``units``: the cluster of each cell.
    """
    areas, slopes, hidden = zip(*(_area(each, positive, weights) for each in scores), strict=True)
    degrees = np.inf
    if units is not None:  # as of any clustered mean: see `ClusterCounts.variance`
        units = np.unique(units, return_inverse=True)[1]
        sizes = np.stack([np.bincount(units, weights * of) for of in (~positive, positive)])
        share = (sizes / sizes.sum(axis=1, keepdims=True))[positive.astype(int), units]
        slopes = tuple(each / (1 - share) for each in slopes)
        degrees = float(satterthwaite_degrees(sizes).min())
    a, b, both = (
        _covariance(x, y, positive, weights, squares, units)
        for x, y in ((slopes[0],) * 2, (slopes[1],) * 2, slopes)
    )
    m, n = (float(weights[of].sum()) for of in (positive, ~positive))
    rows = [float(weights[of].sum() ** 2 / squares[of].sum()) for of in (positive, ~positive)]
    # identical ranks are no certainty: as if a quarter of a row of each class were misranked
    least = 0.25 * sum(row**-2 for row in rows)
    error = np.sqrt(np.array([a, b, max(a + b - 2 * both, least)]))

    def quantity(value: float, error: float) -> Quantity:
        def at(z: ArrayLike) -> Limits:
            far = t_from_z(np.broadcast_to(z, 1), degrees) * error
            return value - far, value + far

        return Quantity(np.array([value]), at, np.zeros_like(table.weights))

    old, new = quantity(areas[0], error[0]), quantity(areas[1], error[1])
    r = correlation(np.array([both]), np.array([a]), np.array([b]))
    log_old, log_new = logarithm(old), logarithm(new)
    difference = quantity(areas[1] - areas[0], error[2])
    change = StatisticChange(
        table, np.array([min(rows)]), difference, combined(log_old, log_new, r, -1),
        combined(old, new, r, 1), combined(log_old, log_new, r, 1), (IntervalMethod.DELONG,),
        (old, new),
    )  # fmt: skip
    # every pair with an unknown row may be in the wrong order under the candidate alone
    most = min(max((n + unknown - m) / 2, 0.0), unknown)  # of them, the positives at worst
    kept = m * n / ((m + most) * (n + unknown - most)) if m * n else 0.0
    return AreaChange(change, (1 - kept) * (1 + areas[1] - areas[0]) + sum(hidden))


@quiet
def _area(bins: Index, positive: Mask, weights: Array) -> tuple[float, Array, float]:
    # the area, its derivative by the weight of every cell, and by how much it may be wrong as
    # scores of one interval, whose codes are even, are taken to be equal
    size = int(bins.max(initial=0)) + 1
    pos, neg = (np.bincount(bins, weights * of, size) for of in (positive, ~positive))
    below = (np.cumsum(neg) - neg / 2) / neg.sum()
    above = 1 - (np.cumsum(pos) - pos / 2) / pos.sum()
    area = float(pos @ below / pos.sum())
    slopes = np.where(positive, (below[bins] - area) / pos.sum(), (above[bins] - area) / neg.sum())
    return area, slopes, float((pos * neg)[::2].sum() / (2 * pos.sum() * neg.sum()))


@quiet
def _covariance(
    one: Array, two: Array, positive: Mask, weights: Array, squares: Array, units: Index | None
) -> float:
    # DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845
    if units is not None:
        a, b = (np.bincount(units, weights * each) for each in (one, two))
        return float(a @ b * (1 - 1 / len(a)))
    parts = (
        (squares * one * two)[of].sum() / (1 - squares[of].sum() / weights[of].sum() ** 2)
        for of in (positive, ~positive)
    )
    return float(sum(parts))
