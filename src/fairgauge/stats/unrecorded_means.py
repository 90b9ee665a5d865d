"""Averages of groups of which only probabilities are known, by every estimator.

Every estimate but the bounds is a sum over rows of a coefficient times the amount. Variances, and
covariances of groups that share people, are of what each row moves it by. With probabilities of 0
and 1 alone, all of them are the averages of recorded groups, with their intervals.

References: Chen et al. (2019), FAT* 2019, 339-348 (weighting and its bias); McCartan et al. (2025),
Estimating Racial Disparities When Race is Not Observed, JASA (the regression).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar

import numpy as np

from fairgauge.enums import Estimator
from fairgauge.start.records import dataclass
from fairgauge.stats import contrasts, group_mixture
from fairgauge.stats.arrays import Array, Index, Mask, quiet, quotient
from fairgauge.stats.intervals import MeanMoments, borrow_skewness, mean_limits, t_from_z
from fairgauge.stats.squares import central_moments, in_deviations
from fairgauge.stats.unrecorded_rates import (
    By,
    Ends,
    RateEstimator,
    SharpBounds,
    contrast_value,
    extremes,
)

_NO_LIMITS = -math.inf, math.inf
_SHARES = np.linspace(0.0, 1.0, 201)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class AmountCells:
    """The rows of an amount by cell and known group, amounts less ``centre``."""

    # array of shape (cells, groups), the mean probabilities; of rows that have none, the group that
    # they are known to be of
    p: Array
    probable: Mask  # array of shape (cells,), whether the rows have probabilities
    digits: Index  # array of shape (cells, groups), the places on the grid
    known: Index  # array of shape (cells,), the known group, or -1
    # array of shape (3, 4, cells): sums of the powers 0 to 3 of the amount, by those of the weight
    powers: Array
    fourth: float  # the sum of fourth powers of all
    weighted: bool
    centre: float
    # of every entry of a table by cluster: cluster, cell, weight, amount; None without clusters
    clusters: tuple[Index, Index, Array, Array] | None
    unplaced: Array  # number, sum and squares of the amounts of rows that may be of any group
    unplaced_rows: int
    lacking: int  # how many rows have no amount


class UnrecordedMean:
    """The average of every side: groups, then the others of each, then all rows.

    ``cells``: the rows whose group is probable or known.
    ``everyone``: all rows, if some have none and a random sample makes an estimate of all.
    """

    assumed: ClassVar[Estimator] = Estimator.REGRESSION
    beside: ClassVar[tuple[Estimator, ...]] = (
        Estimator.REGRESSION, Estimator.WEIGHTED, Estimator.BOUNDS,
    )  # fmt: skip

    def __init__(self, cells: AmountCells, everyone: AmountCells | None = None) -> None:
        self.cells, self._everyone = cells, everyone
        self.groups = cells.p.shape[1]
        one = np.eye(self.groups, dtype=bool)
        self.sides = np.concatenate([one, ~one, np.ones((1, self.groups), dtype=bool)])
        self.total = float(cells.powers[0, 0].sum())
        self.unplaced, self.lacking = cells.unplaced_rows, cells.lacking

    @property
    def alike(self) -> bool:
        return not self.spread[0] > 0

    @cached_property
    def spread(self) -> tuple[float, float, float]:
        """Return the standard deviation of all rows, their kurtosis, and how many they are."""
        return _moments_of_amounts(self.cells)

    @property
    def overall(self) -> float:
        return float(self.cells.centre + self.cells.powers[0, 1].sum() / self.total)

    @property
    def kurtosis(self) -> float:
        """Return the kurtosis of all amounts; NaN of weighted rows, or lost to rounding."""
        return math.nan if self.cells.weighted else self.spread[1]

    @cached_property
    def unidentified(self) -> Mask:
        """Return the groups whose probabilities are in a fixed proportion to those of others."""
        cells = self.cells
        weights = np.where(cells.probable, cells.powers[0, 0], 0.0)
        return group_mixture.GroupMixture(cells.p, weights[:, None]).unidentified

    @cached_property
    def _coefficients(self) -> tuple[Array, Array]:
        # of the regression on the probabilities, and the inverse of its normal matrix
        cells = self.cells
        weight, amount = cells.powers[0, :2] * cells.probable
        inverse = np.linalg.pinv((cells.p * weight[:, None]).T @ cells.p, hermitian=True)
        return inverse @ (cells.p.T @ amount), inverse

    @cached_property
    def _regression(self) -> _LinearMeans:
        # of rows with probabilities; rows of known group count beside them
        cells, (means, inverse) = self.cells, self._coefficients
        probable = cells.probable[:, None]
        sizes = cells.powers[0, 0] @ (cells.p * probable)
        made = self._linear(cells, np.where(probable, cells.p @ inverse * sizes, cells.p))
        # what a row moves an average by through its residual, and as one of its people
        fitted = (cells.p @ means)[:, None] * made.slopes
        moved = (cells.p * means) @ self.sides.T - cells.p @ self.sides.T * made.centred
        offsets = np.where(probable, quotient(moved, made.sizes) - fitted, made.offsets)
        return _LinearMeans(cells, made.slopes, offsets, made.sizes)

    @cached_property
    def weighted(self) -> _LinearMeans:
        """Return what is right if amount and group are unrelated at the same probabilities."""
        return self._linear(self.cells, self.cells.p)

    @cached_property
    def validated(self) -> _LinearMeans | None:
        """Return what a random sample of known groups makes right; None without known rows."""
        cells = self._everyone or self.cells
        weight, sampled = cells.powers[0, 0], cells.probable & (cells.known >= 0)
        if not sampled.any():
            return None
        times = weight[cells.probable].sum() / weight[sampled].sum()
        off = np.eye(self.groups)[cells.known] - cells.p
        return self._linear(cells, cells.p + times * sampled[:, None] * off)

    @quiet
    def _linear(self, cells: AmountCells, of_group: Array) -> _LinearMeans:
        # ``of_group``: shape (cells, groups), how much of every row counts in each
        of_side = of_group @ self.sides.T
        sizes = cells.powers[0, 0] @ of_side
        slopes = of_side / sizes
        return _LinearMeans(cells, slopes, -slopes * (cells.powers[0, 1] @ slopes), sizes)

    @cached_property
    def lack_of_fit(self) -> float:
        """Return the p-value of a test of whether the amount is linear in the probabilities.

        Of ``p (1 - p)`` of every group, as for rates; the variance is that of the residuals.
        """
        cells, (means, inverse) = self.cells, self._coefficients
        n, y, _, _ = cells.powers[0] * cells.probable
        weight, first, second, _ = cells.powers[1] * cells.probable
        fitted = cells.p @ means
        more = cells.p * (1 - cells.p)
        more = more - cells.p @ (inverse @ ((cells.p * n[:, None]).T @ more))
        square = second - 2 * fitted * first + fitted**2 * weight
        variance = (more * square[:, None]).T @ more
        if cells.clusters is not None:
            cluster, cell, weight, amount = cells.clusters
            moved = (weight * cells.probable[cell] * (amount - fitted[cell]))[:, None] * more[cell]
            variance = group_mixture.variance_between_clusters(cluster, moved)[0]
        return group_mixture.chi_square_of(more.T @ (y - n * fitted), variance)[2]

    @cached_property
    def bounds(self) -> SharpBounds:
        """Return what is right wherever the probabilities are."""
        return mean_bounds(self)

    def by(self, estimator: Estimator) -> RateEstimator:
        if estimator is Estimator.BOUNDS:
            return self.bounds
        return self._linear_by(estimator)

    def _linear_by(self, estimator: Estimator) -> _LinearMeans:
        if estimator is Estimator.VALIDATED and self.validated is not None:
            return self.validated
        return self._regression if estimator is Estimator.REGRESSION else self.weighted

    def contrast_value(self, by: By, one: float, other: float) -> float:
        """Return a contrast of two averages; NaN of a ratio where they are not both above 0."""
        if by != "deviations":
            defined = by == "difference" or min(one, other) > 0
            return contrast_value(by, one, other) if defined else math.nan
        return 100 * (one - other) / self.spread[0] if self.spread[0] > 0 else math.nan

    def extremes(self, by: By, ours: Ends, theirs: Ends) -> Ends:
        """Return the least and the greatest contrast of two averages that are each in a range."""
        if by == "deviations":
            return _deviation_limits(self.cells, extremes("difference", ours, theirs), 0.0)
        if by == "ratio" and min(ours[0], theirs[0]) <= 0:  # of averages that may be 0
            return _NO_LIMITS
        return extremes(by, ours, theirs)

    def size(self, side: int, estimator: Estimator) -> float:
        """Return the expected number of people of a side."""
        return float(self._linear_by(estimator).sizes[side])

    def effective_people(self, side: int, estimator: Estimator) -> float:
        """Return of how many people of known group the average of a side is as precise."""
        return float(self._linear_by(estimator).rows[side])

    def reach(self, limits: Ends, size: float, *, unplaced: bool, outcomes: bool) -> Ends:
        """Return how far limits move, whichever of the rows that may be of any group are of a side.

        Of the unplaced rows so many as move it most, with the largest mean that their spread
        allows. An amount that is missing may be any.
        """
        if outcomes and self.lacking:
            return _NO_LIMITS
        n, first, second = self.cells.unplaced
        if not unplaced or not n > 0:
            return limits
        mean = first / n
        spread = math.sqrt(max(second / n - mean**2, 0.0))
        ends = np.array(limits) - self.cells.centre
        apart = spread * np.sqrt(_SHARES * (1 - _SHARES)) * np.array([-1.0, 1.0])
        moved = (ends * size + n * (_SHARES * mean + apart)) / (size + n * _SHARES)
        moved += self.cells.centre
        return float(moved[:, 0].min()), float(moved[:, 1].max())


def _moments_of_amounts(cells: AmountCells) -> tuple[float, float, float]:
    n, first, second, third = cells.powers[0].sum(axis=1)
    made = central_moments(n, first, second, third, cells.fourth)
    return math.sqrt(made.second), float(quotient(made.fourth, made.second**2)), float(n)


def _deviation_limits(cells: AmountCells, limits: Ends, z: float) -> Ends:
    low, high = in_deviations(*limits, *_moments_of_amounts(cells), z)
    return float(low), float(high)


class _LinearMeans:
    """Averages of all sides, each a sum over rows of a slope times the amount.

    A row moves the average of a side by its slope times the amount plus its offset.

    ``slopes, offsets``: shape (cells, sides), of every unit of weight; the slopes of a side sum to
        1, and what all rows move it by to 0.
    """

    def __init__(self, cells: AmountCells, slopes: Array, offsets: Array, sizes: Array) -> None:
        self._cells, self.slopes, self.offsets, self.sizes = cells, slopes, offsets, sizes
        self.centred: Array = cells.powers[0, 1] @ slopes
        self.means: Array = cells.centre + self.centred
        self.everyone = len(sizes) - 1

    @cached_property
    @quiet
    def rows(self) -> Array:
        """Return the effective number of rows of every side (Kish)."""
        return np.asarray(1 / (self._cells.powers[1, 0] @ self.slopes**2))

    @cached_property
    @quiet
    def covariance(self) -> tuple[Array, float]:
        """Return the covariance of all sides, and its degrees of freedom: of clusters, or inf."""
        a, b = self.slopes, self.offsets
        if self._cells.clusters is not None:
            cluster, cell, weight, amount = self._cells.clusters
            moved = a[cell] * amount[:, None] + b[cell] * weight[:, None]
            return group_mixture.variance_between_clusters(cluster, moved)
        n, y, squares, _ = self._cells.powers[1][:, :, None]
        cross = (a * y).T @ b
        found = (a * squares).T @ a + cross + cross.T + (b * n).T @ b
        unbiased = np.sqrt(np.where(self.rows > 1, self.rows / (self.rows - 1), np.nan))
        return found * np.outer(unbiased, unbiased), math.inf

    @cached_property
    def _moments(self) -> MeanMoments:
        n, y, squares, cubes = self._cells.powers[2][:, :, None]
        a, b = self.slopes, self.offsets
        third = a**3 * cubes + 3 * a**2 * b * squares + 3 * a * b**2 * y + b**3 * n
        own = MeanMoments(self.means, np.diag(self.covariance[0]), third.sum(axis=0), self.rows)
        return borrow_skewness(own, MeanMoments(*(np.asarray(of)[-1] for of in own)))

    def value(self, side: int) -> float:
        return float(self.means[side])

    def limits(self, side: int, z: float) -> Ends:
        covariance, degrees = self.covariance
        if math.isfinite(degrees):
            half = float(t_from_z(z, degrees)) * math.sqrt(covariance[side, side])
            return self.value(side) - half, self.value(side) + half
        low, high = mean_limits(
            MeanMoments(*(np.asarray(moment)[side] for moment in self._moments)), z
        )
        return float(low), float(high)

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        """Return the limits of a contrast; of a part and the whole, through those of the others."""
        if by == "deviations":
            return _deviation_limits(self._cells, self.contrast("difference", one, other, z), z)
        if self.everyone not in (one, other):
            return self._contrast_apart(by, one, other, z)
        groups = self.everyone // 2
        group = other if one == self.everyone else one
        rest = groups + group
        part = self.sizes[group] / self.sizes[self.everyone]
        sides = (group, rest) if other == self.everyone else (rest, group)
        low, high = self._contrast_apart(by, *sides, z)
        if by == "ratio" and other == self.everyone:
            low, high = map(float, contrasts.ratio_to_whole(low, high, part))
            return low, high
        low, high = map(float, contrasts.difference_from_whole(low, high, part))
        return (low, high) if by == "difference" else (part + low, part + high)

    def _contrast_apart(self, by: By, one: int, other: int, z: float) -> Ends:
        covariance, degrees = self.covariance
        pair, means = [one, other], self.means[[one, other]]
        variance = np.diag(covariance)[pair]
        if self._cells.weighted and math.isinf(degrees):
            ours, theirs = (self.limits(side, z) for side in pair)
        else:
            if math.isinf(degrees):
                n1, n2 = self.rows[pair]
                degrees = float(contrasts.welch_degrees(variance[0] * n1, n1, variance[1] * n2, n2))
            half = t_from_z(z, degrees) * np.sqrt(variance)
            ours, theirs = zip(means - half, means + half, strict=True)
        scale = math.sqrt(variance[0] * variance[1])
        together = float(np.clip(covariance[one, other] / scale, -1, 1)) if scale > 0 else 0.0
        if by == "difference":
            low, high = contrasts.mover_difference(means[0], *ours, means[1], *theirs, together)
        elif ours[0] > 0 and theirs[0] > 0:
            low, high = contrasts.mover_ratio(means[0], *ours, means[1], *theirs, together)
        else:  # a ratio of averages that may be 0 has no limits
            return math.nan, math.nan
        return float(low), float(high)


@quiet
def mean_bounds(of: UnrecordedMean) -> SharpBounds:
    """Return the averages that agree with right probabilities, whatever else holds.

    So many people of a cell as have a share p of it have a mean at most ``s sqrt((1 - p) / p)``
    from that of the cell, s the standard deviation in it. The sampling error of both is added, as
    if they went together.
    """
    cells, (deviation, kurtosis, total) = of.cells, of.spread
    n = cells.powers[0, 0]
    variance = of.weighted.covariance[0][-1, -1]
    effect = max(float(variance * total / deviation**2), 1.0) if deviation > 0 else 1.0
    which = group_mixture.merged_cells(cells.digits, n, group_mixture.FEWEST_IN_CELL * effect)
    which = np.where(cells.probable, which, which.max(initial=0) + 1 + np.arange(len(n)))
    _, which = np.unique(which, return_inverse=True)
    size = int(which.max(initial=-1)) + 1
    n, y, squares = (np.bincount(which, power, size) for power in cells.powers[0, :3])
    p = np.stack([np.bincount(which, cells.powers[0, 0] * each, size) for each in cells.p.T])
    share = (p / n).T @ of.sides.T
    spread = np.sqrt(np.maximum(squares / n - (y / n) ** 2, 0.0) * n / np.maximum(n - 1, 1))
    apart = np.sqrt(np.clip(share * (1 - share), 0, None))
    heavy = math.sqrt(np.fmax(kurtosis - 1, 2.0)) / 2
    error = (spread[:, None] * np.sqrt(n * effect)[:, None] * (share + heavy * apart)) ** 2
    sizes = n @ share
    middle, half = cells.centre + y @ share / sizes, (n * spread) @ apart / sizes
    errors = np.tile(np.sqrt(error.sum(axis=0)) / sizes, (2, 1))
    ends = np.array([middle - half, middle + half])
    return SharpBounds(ends, errors, np.tile(sizes, (2, 1)), _NO_LIMITS, of.extremes)
