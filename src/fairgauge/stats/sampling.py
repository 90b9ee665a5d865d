"""Rows of unequal weight, and clustered rows, of two sides in many strata: what their sums vary by.

A row of a side and stratum with the value y moves a statistic by ``weight (level + slope y)``, its
influence; the variance of the statistic is the sum of the squares of what rows, or clusters of
rows, move it by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, Index, floats, quiet
from fairgauge.stats.cluster_robust import satterthwaite_degrees
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.weighted import effective_share


class SquaredWeights(NamedTuple):
    """Sums over the rows of a side in every stratum of squared weights, and of their products.

    Without weights they are the rows, the successes and the successes.

    Attributes
    ----------
    rows, values, squares : arrays of shape (..., S): times 1, the value and the squared value.
    """

    rows: Array
    values: Array
    squares: Array

    def variance(self, level: Array, slope: Array) -> Array:
        """Return the sum of the squared influences of independent rows, over the strata."""
        return np.asarray(
            (level**2 * self.rows + 2 * level * slope * self.values + slope**2 * self.squares)
            .sum(-1)
        )  # fmt: skip

    def about(self, mean: Array) -> SquaredWeights:
        """Return the same of the values less a mean in every stratum."""
        values = self.values - mean * self.rows
        squares = self.squares - 2 * mean * self.values + mean**2 * self.rows
        return SquaredWeights(self.rows, values, np.maximum(squares, 0.0))


class ClusterTotals(NamedTuple):
    """The totals of every cluster on both sides of every stratum where it has rows.

    Attributes
    ----------
    cluster, side, stratum : arrays of int, shape (C,): 0 is the group's side, 1 the reference's.
    rows, values : arrays of shape (C,): sums of weights, and of weights times values.
    """

    cluster: Index
    side: Index
    stratum: Index
    rows: Array
    values: Array

    @property
    def shares(self) -> Array:
        """Return the share of every entry's cluster in its side."""
        clusters = 1 + int(self.cluster.max(initial=0))
        key = self.side * clusters + self.cluster
        of_cluster = np.bincount(key, self.rows, 2 * clusters)
        of_side = np.bincount(self.side, self.rows, 2)
        return np.asarray(of_cluster[key] / of_side[self.side])

    @property
    def degrees(self) -> float:
        """Return the degrees of freedom of variances between clusters."""
        of_side = np.bincount(self.side, self.rows, 2)
        sizes = np.bincount(self.cluster, self.rows / of_side[self.side])
        return float(satterthwaite_degrees(sizes))


class Sampling(NamedTuple):
    """How the rows of both sides were sampled: their squared weights, and clusters if any."""

    group: SquaredWeights
    reference: SquaredWeights
    clusters: ClusterTotals | None = None

    def critical(self, z: float) -> float:
        """Return the critical value, of Student's t where there are clusters."""
        return z if self.clusters is None else float(as_critical_t(z, self.clusters.degrees))

    @quiet
    def design_effect(self, level: Sequence[Array], slope: Sequence[Array]) -> float:
        """Return by how much clusters raise the variance of a statistic, at least 1.

        A cluster's influence is raised by what omitting it would add (jackknife).

        Parameters
        ----------
        level, slope : the influences of rows of the group, and of the reference, in every stratum.
        """
        found = self.clusters
        if found is None:
            return 1.0
        at = found.side, found.stratum
        first, by_value = (np.stack(floats(*each))[at] for each in (level, slope))
        moved = (first * found.rows + by_value * found.values) / (1 - found.shares)
        totals = np.bincount(found.cluster, moved)
        clusters = len(np.unique(found.cluster))
        if not clusters:
            return float("inf")
        between = (clusters - 1) / clusters * float((totals**2).sum())
        sides = zip((self.group, self.reference), level, slope, strict=True)
        independent = sum(float(side.variance(*each)) for side, *each in sides)
        if not np.isfinite(between):
            return float("inf")
        return max(between / independent, 1.0) if independent > 0 else 1.0


@quiet
def effective(
    x: Array, n: Array, squared: SquaredWeights, *, rates: bool
) -> tuple[Array, Array, Array]:
    """Return values, rows and squares of as many independent rows as the means vary like.

    Of rates the rows are those of `fairgauge.stats.weighted.effective_share`, of other means
    Kish's, and the squares have the spread of the weighted values.

    Examples
    --------
    >>> x, n = np.array([60.0]), np.array([200.0])  # 30 of 100 rows of weight 2
    >>> _, rows, _ = effective(x, n, SquaredWeights(2 * n, 2 * x, 2 * x), rates=True)
    >>> rows.round(6)
    array([100.])
    """
    mean = np.where(n > 0, x / n, 0.0)
    if rates:
        outside = np.maximum(squared.rows - squared.values, 0.0)
        rows = effective_share((x, n - x), (squared.values, outside), (n, n)).n
        return mean * rows, rows, mean * rows
    rows = np.where(n > 0, n**2 / squared.rows, 0.0)
    spread = np.where(n > 0, squared.about(mean).squares / squared.rows, 0.0)
    return mean * rows, rows, rows * (spread + mean**2)
