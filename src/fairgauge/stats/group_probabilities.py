"""Rates of groups of which only probabilities are known, under other assumptions or none.

Sharp bounds are right wherever the probabilities are, and rates validated by a random sample in any
case.

References: Kallus, Mao & Zhou (2022), Management Science 68, 1959-1981.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairgauge.stats.arrays import Array, Index, Mask, quiet
from fairgauge.stats.group_mixture import Clusters
from fairgauge.stats.intervals import critical_t, wilson
from fairgauge.stats.significance import chi_square_tail, normal_tail

Masks = Mask

FEWEST_IN_CELL = 50
"""The rows of the cells from which sharp bounds are computed."""
STEPS = (1, 2, 4, 20, 40)
"""The widths of coarser cells, in those of the grid; the last has all probabilities."""
_SHARE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LinearRates:
    """Rates with a variance, whose interval is Wilson's of as many rows as have this variance.

    Attributes
    ----------
    rates, sizes : array of shape (sides,); the sizes are those of the denominators.
    covariance : array of shape (sides, sides)
    degrees : of freedom of the variance.
    """

    rates: Array
    sizes: Array
    covariance: Array
    degrees: float = float("inf")

    @quiet
    def limits(self, z: float) -> tuple[Array, Array]:
        """Return the limits of every rate."""
        variance = np.diag(self.covariance)
        rows = np.where(variance > 0, self.rates * (1 - self.rates) / variance, self.sizes)
        return wilson(np.clip(self.rates, 0, 1) * rows, rows, z)

    def correlation(self, one: int, other: int) -> float:
        """Return the correlation of two rates."""
        scale = np.sqrt(self.covariance[one, one] * self.covariance[other, other])
        return float(np.clip(self.covariance[one, other] / scale, -1, 1)) if scale > 0 else 0.0


@quiet
def design_effect(n: Array, squares: Array | None, clusters: Clusters | None) -> float:
    """Return by how much weights and clusters raise the variance of the rate of all rows.

    Parameters
    ----------
    n, squares, clusters : as of `validated_rates`.
    """
    counted, rest = n[:, :2].sum(axis=0)
    rate, size = counted / (counted + rest), counted + rest
    influence = np.array([1 - rate, -rate, *[0.0] * (n.shape[1] - 2)]) / size
    if clusters is None:
        variance = (n if squares is None else squares).sum(axis=0) @ influence**2
    else:
        cluster, _, kind, weight, _ = clusters
        variance = _between_clusters(cluster, (influence[kind] * weight)[:, None])[0][0, 0]
    alone = rate * (1 - rate) / size
    return max(float(variance / alone), 1.0) if alone > 0 else 1.0


def _between_clusters(cluster: Index, influence: Array) -> tuple[Array, float]:
    _, which = np.unique(cluster, return_inverse=True)
    number = int(which.max(initial=0)) + 1
    sums = np.zeros((number, influence.shape[1]))
    np.add.at(sums, which, influence)
    return sums.T @ sums * (number / max(number - 1, 1)), float(number - 1)


@quiet
def group_given_kind(theta: Array, p: Array) -> Array:
    """Return the probabilities of the groups of the rows of each cell and kind.

    Parameters
    ----------
    theta, p : as of `validated_rates`.
    """
    joint = p[:, None, :] * theta
    total = joint.sum(axis=2, keepdims=True)
    return np.asarray(np.where(total > 0, joint / total, p[:, None, :]))


@quiet
def validated_rates(
    theta: Array, p: Array, n: Array, known: Array, sides: Masks, squares: Array | None = None,
    clusters: Clusters | None = None,
) -> LinearRates:  # fmt: skip
    """Return rates that a random sample of known groups makes right whatever the probabilities.

    Every row counts in every group by its probability given its outcome, under the likelihood, and
    the known rows correct what that is off by.

    Parameters
    ----------
    theta : array of shape (kinds, groups), or (cells, kinds, groups)
    p : array of shape (cells, groups)
    n : array of shape (cells, kinds)
        All rows, known ones included.
    known : array of shape (cells, kinds, groups)
        The known rows by their group.
    sides : array of shape (sides, groups)
    squares : array of shape (cells, kinds), optional
        The sum of squared weights.
    clusters : tuple of arrays, optional
        As of `GroupMixture`.
    """
    expected = group_given_kind(theta, p) @ sides.T
    of_known = known.sum(axis=2)
    times = n.sum() / of_known.sum()
    off = known @ sides.T - of_known[:, :, None] * expected
    counts = np.einsum("ck,cks->ks", n, expected) + times * off.sum(axis=0)
    rates = np.clip(counts[0] / (counts[0] + counts[1]), 0, 1)
    slope = np.zeros_like(counts)
    slope[:2] = np.stack([1 - rates, -rates]) / (counts[0] + counts[1])
    base = expected * slope
    # of a row of unknown group, and of one of each known group
    influence = [base, *(base + times * slope * (each - expected) for each in sides.T)]
    if clusters is not None:
        cluster, cell, kind, weight, group = clusters
        of_entry = np.stack(influence)[group + 1, cell, kind] * weight[:, None]
        return LinearRates(rates, counts[0] + counts[1], *_between_clusters(cluster, of_entry))
    # known rows are drawn at random, and so have the weights of all of their cell and kind
    weight_of_row = np.ones_like(n) if squares is None else np.where(n > 0, squares / n, 0.0)
    rows = [np.maximum(n - of_known, 0.0), *np.moveaxis(known, 2, 0)]
    covariance = np.sum(
        [
            np.einsum("ck,cks,ckt->st", of_group * weight_of_row, each, each)
            for of_group, each in zip(rows, influence, strict=True)
        ],
        axis=0,
    )
    degrees = float("inf")
    if squares is not None:
        degrees = float(of_known.sum() ** 2 / (of_known * weight_of_row).sum()) - 1
    return LinearRates(rates, counts[0] + counts[1], covariance, degrees)


@dataclass(frozen=True, slots=True, eq=False)
class SharpBounds:
    """The ends of the set of all rates that agree with the data, and their standard errors.

    Attributes
    ----------
    ends, errors : array of shape (2, sides): lower and upper.
    sizes : of the same shape, the rows among which each rate is a share there.
    """

    ends: Array
    errors: Array
    sizes: Array

    def limits(self, z: float) -> tuple[Array, Array]:
        """Return the limits of every rate, beyond the ends."""
        low, high = self.ends
        return np.clip(low - z * self.errors[0], 0, 1), np.clip(high + z * self.errors[1], 0, 1)


@quiet
def sharp_bounds(p: Array, n: Array, sides: Masks, design_effect: float = 1.0) -> SharpBounds:
    """Return the sharp bounds of rates, without any assumption but right probabilities.

    The rows of a cell that are of a side and of a kind are at least as many as both shares leave no
    choice about, and at most the smaller of the two. Of single cells, the smaller of a share and a
    probability is too small on average; by what is expected of it, the ends are moved outwards.

    Examples
    --------
    >>> p, n = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[300.0, 700.0], [600.0, 400.0]])
    >>> sharp_bounds(p, n, np.eye(2, dtype=bool)).ends.round(3)
    array([[0.182, 0.444],
           [0.455, 0.778]])
    """
    rows = n.sum(axis=1, keepdims=True)
    shares = np.where(rows > 0, n / rows, 0.0)[:, :2]
    of_side = (p @ sides.T)[:, None, :]
    most = np.minimum(shares[:, :, None], of_side)
    least = np.maximum(shares[:, :, None] + of_side - 1, 0.0)
    effective = np.maximum(rows / design_effect, 1)
    noise = np.sqrt(shares * (1 - shares) / effective)[:, :, None]
    more = _expected_excess(shares[:, :, None] - of_side, noise)
    fewer = _expected_excess(shares[:, :, None] + of_side - 1, noise)
    weight = rows[:, :, None]
    high_counts = ((most + more) * weight).sum(axis=0)
    low_counts = (np.maximum(least - fewer, 0.0) * weight).sum(axis=0)
    scatter = (noise * weight) ** 2
    high_error = (scatter * (shares[:, :, None] < of_side)).sum(axis=0)
    low_error = (scatter * (shares[:, :, None] > 1 - of_side)).sum(axis=0)
    ends, errors, sizes = [], [], []
    for counted, rest, of_counted, of_rest in (
        (low_counts[0], high_counts[1], low_error[0], high_error[1]),
        (high_counts[0], low_counts[1], high_error[0], low_error[1]),
    ):
        total = counted + rest
        sizes.append(total)
        ends.append(np.where(total > 0, counted / total, 0.5))
        errors.append(np.sqrt(rest**2 * of_counted + counted**2 * of_rest) / total**2)
    return SharpBounds(np.array(ends), np.nan_to_num(np.array(errors)), np.array(sizes))


def _expected_excess(distance: Array, noise: Array) -> Array:
    scaled = np.where(noise > 0, distance / np.where(noise > 0, noise, 1.0), np.inf)
    density = np.exp(-(scaled**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(
        noise > 0, noise * density - np.abs(distance) * normal_tail(np.abs(scaled)), 0.0
    )


def merged_cells(digits: Index, rows: Array, fewest: float) -> Index:
    """Return the number of a merged cell for each cell: those of few rows go to coarser grids.

    Parameters
    ----------
    digits : array of shape (cells, groups)
        The position of every probability on the grid of 1/20, 20 for a probability of 1.
    rows : array of shape (cells,) or (cells, kinds)
    fewest : the rows, of every kind that it has, that a cell has at least, but for the last one.
    """
    rows = rows.reshape(len(digits), -1)
    merged = np.full(len(digits), -1, dtype=np.int64)
    left, number = np.arange(len(digits)), 0
    for step in STEPS:
        if not len(left):
            break
        _, which = np.unique(digits[left] // step, axis=0, return_inverse=True)
        which = which.reshape(-1)
        size = np.zeros((int(which.max()) + 1, rows.shape[1]))
        np.add.at(size, which, rows[left])
        settled = ((size >= fewest) | (size == 0)).all(axis=1) | (step == STEPS[-1])
        order = np.cumsum(settled) - 1
        kept = settled[which]
        merged[left[kept]] = number + order[which[kept]]
        number += int(settled.sum())
        left = left[~kept]
    return merged


@quiet
def calibration_test(p: Array, known: Array) -> tuple[float, int, float]:
    """Test whether the probabilities agree with the known groups: chi-square, degrees, p-value.

    Parameters
    ----------
    p : array of shape (cells, groups)
    known : array of shape (cells, groups)
        The known rows of each cell, by group.
    """
    rows = known.sum(axis=1)
    off = known - rows[:, None] * p
    statistic = np.concatenate([off.sum(axis=0), (p * off).sum(axis=0)])
    spread = np.einsum("ci,ij->cij", p, np.eye(p.shape[1])) - np.einsum("ci,cj->cij", p, p)
    parts = [
        [np.einsum("c,cij->ij", rows, spread), np.einsum("c,cij,cj->ij", rows, spread, p)],
        [
            np.einsum("c,ci,cij->ij", rows, p, spread),
            np.einsum("c,ci,cij,cj->ij", rows, p, spread, p),
        ],
    ]
    return _chi_square(statistic, np.block(parts))


@quiet
def least_slope(p: Array, known: Array, side: Masks, level: float) -> float:
    """Return the lower confidence limit of how much probabilities show of a side; at most 1.

    The slope of being of the side on its probability, among people of known group: 1 where
    probabilities are right, 0 where they show nothing.

    Parameters
    ----------
    p, known : as of `calibration_test`.
    side : array of shape (groups,)
    level : of the interval of which it is the lower limit.
    """
    rows, of_side, x = known.sum(axis=1), known[:, side].sum(axis=1), p[:, side].sum(axis=1)
    size = rows.sum()
    if size <= 2:
        return float("-inf")
    x = x - rows @ x / size
    spread = rows @ x**2
    slope = x @ of_side / spread
    residual = -of_side.sum() / size - slope * x
    squares = of_side * (1 + residual) ** 2 + (rows - of_side) * residual**2
    error = np.sqrt(x**2 @ squares * size / (size - 2)) / spread
    least = slope - critical_t(level, size - 2) * error
    return float(min(least, 1.0)) if np.isfinite(least) else float("-inf")


@quiet
def lack_of_fit_test(p: Array, n: Array, theta: Array) -> tuple[float, int, float]:
    """Test whether the outcome is linear in the probabilities: chi-square, degrees, p-value.

    A score test of ``p (1 - p)`` of every group: under independence of outcome and probabilities
    within groups, and right probabilities, it adds nothing. Probabilities that shift the outcome
    within a group in proportion to themselves cannot be found, by this test or by any other.
    """
    kinds, groups = theta.shape
    means = np.maximum(p @ theta.T, _SHARE)
    columns = np.concatenate([p, p * (1 - p)], axis=1)
    contrasts = np.linalg.svd(np.eye(kinds) - 1 / kinds)[0][:, : kinds - 1]
    score = np.einsum("ck,kj,ci->ji", n / means, contrasts, columns)
    weight = n.sum(axis=1, keepdims=True) / means
    information = np.einsum("ck,kj,kl,ca,cb->jalb", weight, contrasts, contrasts, columns, columns)
    first = np.arange(2 * groups) < groups
    fitted = np.tile(first, kinds - 1)
    size = (kinds - 1) * 2 * groups
    whole, slope = information.reshape(size, size), score.reshape(size)
    across = whole[np.ix_(~fitted, fitted)] @ np.linalg.pinv(
        whole[np.ix_(fitted, fitted)], hermitian=True
    )
    statistic = slope[~fitted] - across @ slope[fitted]
    variance = whole[np.ix_(~fitted, ~fitted)] - across @ whole[np.ix_(fitted, ~fitted)]
    return _chi_square(statistic, variance)


def tail_of_sum(tests: list[tuple[float, int, float]]) -> float:
    """Return the p-value of independent chi-square tests together.

    >>> round(tail_of_sum([(3.84, 1, 0.05), (0.0, 0, 1.0)]), 3)
    0.05
    """
    degrees = sum(each[1] for each in tests)
    return float(chi_square_tail(sum(each[0] for each in tests), degrees)) if degrees else 1.0


def _chi_square(statistic: Array, variance: Array) -> tuple[float, int, float]:
    """Return a quadratic form in the inverse of a variance, but for its null space."""
    scale = np.sqrt(np.maximum(np.diag(variance), 0.0))
    kept = scale > 1e-6 * scale.max(initial=0.0)
    if not kept.any():
        return 0.0, 0, 1.0
    statistic = statistic[kept] / scale[kept]
    values, vectors = np.linalg.eigh(
        variance[np.ix_(kept, kept)] / np.outer(scale[kept], scale[kept])
    )
    used = values > 1e-7
    square = float(((vectors[:, used].T @ statistic) ** 2 / values[used]).sum())
    degrees = int(used.sum())
    return square, degrees, float(chi_square_tail(square, degrees))
