"""Rows that two models decide, by label and by both decisions: what changes are inferred from.

A statistic of either model is a function of the counts by label and that model's decision. How much
both depend on each other follows from their *influences*: the derivatives of a statistic by these
counts. The covariance of two statistics is the sum over rows of the products of their influences
(of clusters, of the products of the clusters' totals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairgauge.catalogue.cells import BOTH, Array, ConfusionCounts, Need
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Profile
from fairgauge.resolve.sides import cells_of_states
from fairgauge.stats.arrays import Index, quotient

_STEP = 1e-6
"""Part of all rows by which a count is moved for a difference quotient."""
_SMOOTHING = 0.25
"""Rows added to every cell of differing decisions before a correlation is measured, so that models
that happen to agree on all rows are not taken to agree on all others. Chosen by coverage: of 0,
0.25 and 0.5 rows the least that holds 94% throughout (bench/paired_coverage.py)."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCounts:
    """The rows of one side by cluster: the cluster, the flat cell and the weight of each entry."""

    cluster: Index
    cell: Index
    weights: Array

    def totals(self, influence: Array, clusters: int) -> Array:
        """Return the sum of influences, array of shape (label, current, candidate), by cluster."""
        influences = self.weights * influence.ravel()[self.cell]
        return np.bincount(self.cluster, influences, clusters).astype(np.float64)


def joined_clusters(sides: Sequence[ClusterCounts], cells: int) -> ClusterCounts:
    """Return the rows of several sides as those of one, the cells of each after the former's."""
    return ClusterCounts(
        np.concatenate([side.cluster for side in sides]),
        np.concatenate([i * cells + each.cell for i, each in enumerate(sides)]),
        np.concatenate([side.weights for side in sides]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PairedTable:
    """One side of many comparisons, by label, decision of the model in use and of the candidate.

    There are C outcomes: the positive and the negative, or classes; a label may be missing too.

    Attributes
    ----------
    weights, squares, cases : array of shape (n, C + 1, C, C)
        Sums of weights and of squared weights, and rows; all the same without weights.
    classes : whether the outcomes are classes.
    clusters : the rows of each side by cluster; None where rows are independent.
    cluster_count : how many clusters there are.
    strata : how many strata of a side are held one after another, as further labels.
    """

    weights: Array
    squares: Array
    cases: Array
    classes: bool = False
    clusters: Sequence[ClusterCounts] | None = None
    cluster_count: int = 0
    strata: int = 1

    def joined(self, strata: int) -> PairedTable:
        """Return the strata of every side one after another as one, with further labels."""
        if strata == 1:
            return self
        cells = self.weights[0].size
        clusters = None
        if self.clusters is not None:
            clusters = [
                joined_clusters(self.clusters[i : i + strata], cells)
                for i in range(0, len(self.clusters), strata)
            ]
        decisions = self.weights.shape[2:]
        weights, squares, cases = (
            of.reshape(-1, strata * of.shape[1], *decisions)
            for of in (self.weights, self.squares, self.cases)
        )
        return PairedTable(
            weights, squares, cases, self.classes, clusters, self.cluster_count, strata
        )

    def part(self, at: slice) -> PairedTable:
        """Return some of the sides."""
        clusters = None if self.clusters is None else self.clusters[at]
        return replace(
            self,
            weights=self.weights[at],
            squares=self.squares[at],
            cases=self.cases[at],
            clusters=clusters,
        )

    @property
    def margins(self) -> tuple[Array, Array]:
        """Return the weights by label and decision, of both models; shape (n, C + 1, C)."""
        return self.weights.sum(axis=3), self.weights.sum(axis=2)

    def smoothed_squares(self) -> Array:
        """Return the squared weights, with some added to the cells in which decisions differ."""
        outcomes = self.weights.shape[-1]
        rows, weights, squares = (
            of.sum(axis=(1, 2, 3), keepdims=True) for of in (self.cases, self.weights, self.squares)
        )
        unit = np.where(rows > 0, quotient(weights, rows), 1.0)
        differing = _SMOOTHING / self.strata * (1 - np.eye(outcomes))
        added = np.broadcast_to(unit * differing, self.weights.shape).copy()
        labels = outcomes + 1
        added[:, labels - 1 :: labels] = 0.0  # of missing labels
        return np.asarray(self.squares + np.nan_to_num(quotient(squares, weights)) * added)

    def covariance(
        self, one: Array, two: Array, *, smoothed: bool = False, other: PairedTable | None = None
    ) -> Array:
        """Return the covariance of two numbers from their influences, arrays of the table's shape.

        ``other`` is the table of the second number, if it is not this one; rows that are in both
        sides must then be all rows of this one, or clusters.
        """
        added = self.smoothed_squares() - self.squares if smoothed else 0.0
        if self.clusters is None:
            return np.asarray(((self.squares + added) * one * two).sum(axis=(1, 2, 3)))
        second = (other or self).clusters
        assert second is not None
        pairs = (
            (
                self.clusters[i].totals(one[i], self.cluster_count),
                second[i].totals(two[i], self.cluster_count),
            )
            for i in range(len(self.weights))
        )
        total = np.array([float(a @ b) for a, b in pairs])
        return np.asarray(total + (added * one * two).sum(axis=(1, 2, 3)))

    def covariances(self, influences: Array, sides: Index, *, inside: bool) -> Array:
        """Return the covariances of many numbers of some sides, one number after another.

        Parameters
        ----------
        influences : array of shape (numbers, sides, C + 1, C, C)
        inside : whether there are two sides, of which the second holds the first.
        """
        numbers, size = influences.shape[:2]
        flat = influences.reshape(numbers, size, -1)
        found = np.zeros((numbers, size, numbers, size))
        if self.clusters is None:
            squares = self.smoothed_squares()[sides].reshape(size, -1)
            for i in range(size):
                found[:, i, :, i] = (flat[:, i] * squares[i]) @ flat[:, i].T
            if inside:
                found[:, 0, :, 1] = (flat[:, 0] * squares[0]) @ flat[:, 1].T
                found[:, 1, :, 0] = found[:, 0, :, 1].T
            return found.reshape(numbers * size, -1)
        entries = []
        for i, side in enumerate(sides.tolist()):
            held = self.clusters[side]
            moved = held.weights * flat[:, i, held.cell] * np.sqrt(self.correction[side])
            entries.append((held.cluster, moved))
        for i, (clusters, moved) in enumerate(entries):
            totals = np.array([np.bincount(clusters, of, self.cluster_count) for of in moved])
            for j, (others, of_others) in enumerate(entries):
                found[:, i, :, j] = totals[:, others] @ of_others.T
        return found.reshape(numbers * size, -1)

    @property
    def degrees(self) -> Array:
        """Return the degrees of freedom of every side: infinite where rows are independent."""
        if self.clusters is None:
            return np.full(len(self.weights), np.inf)
        return self.clusters_held() - 1

    @property
    def correction(self) -> Array:
        """Return what corrects the variances of every side for few clusters."""
        if self.clusters is None:
            return np.ones(len(self.weights))
        clusters = self.clusters_held()
        return quotient(clusters, clusters - 1)

    def clusters_held(self) -> Array:
        """Return how many clusters every side has rows in."""
        assert self.clusters is not None
        return np.array([float(len(np.unique(each.cluster))) for each in self.clusters])


def confusion(margin: Array, *, classes: bool) -> ConfusionCounts:
    """Return what statistics are computed from, of weights by label and decision: (n, C + 1, C).

    >>> counts = np.array([[[5.0, 2.0], [1.0, 4.0], [0.0, 3.0]]])  # positive, negative, missing
    >>> confusion(counts, classes=False).counts(BOTH).tolist()
    [[5.0, 1.0, 2.0, 4.0]]
    """
    known = margin[:, :-1]
    of_classes: dict[Need, Array] = {"label": known.sum(axis=2), "prediction": margin.sum(axis=1)}
    if not classes:
        return ConfusionCounts(margin.sum(axis=(1, 2)), cells_of_states(margin), of_classes)
    each = []
    for c in range(margin.shape[2]):
        rest = np.arange(margin.shape[2]) != c
        labels = np.stack([margin[:, c], known[:, rest].sum(axis=1), margin[:, -1]], axis=1)
        two = np.stack([labels[:, :, c], labels[:, :, rest].sum(axis=2)], axis=2)
        each.append(ConfusionCounts(two.sum(axis=(1, 2)), cells_of_states(two)))
    of_no_class = np.zeros((len(margin), 4))
    of_no_class[:, -1] = known.sum(axis=(1, 2))
    cells = {BOTH: of_no_class}
    return ConfusionCounts(
        margin.sum(axis=(1, 2)), cells, of_classes, per_class=tuple(each), joint=known
    )


def influences(statistic: Statistic, margin: Array, *, classes: bool) -> Array:
    """Return the derivative of a statistic by each count, shape (n, C + 1, C); 0 where undefined.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> counts = np.array([[[6.0, 2.0], [1.0, 4.0], [0.0, 3.0]]])
    >>> influences(find_rate("true_positive_rate"), counts, classes=False).round(5)[0, 0].tolist()
    [0.03125, -0.09375]
    """
    step = _STEP * np.maximum(margin.sum(axis=(1, 2)), 1.0)

    def value(at: Array) -> Array:
        return statistic.value(confusion(at, classes=classes), Profile.DOCUMENTED)

    base = value(margin)
    decisions = margin.shape[2]
    moves = np.eye(decisions)[:, None, :]  # a row more in the cell of each decision
    found = np.zeros_like(margin)
    for label in range(margin.shape[1]):
        moved = np.repeat(margin[None], decisions, axis=0)
        moved[:, :, label] += step[:, None] * moves
        with np.errstate(invalid="ignore"):
            slopes = (
                value(moved.reshape(-1, *margin.shape[1:])).reshape(decisions, -1) - base
            ) / step
        found[:, label] = np.where(np.isfinite(slopes), slopes, 0.0).T
    return found


def of_both(old: Array, new: Array) -> tuple[Array, Array]:
    """Return influences of both models as arrays over the cells of a table."""
    shape = (*old.shape, old.shape[-1])
    return (
        np.broadcast_to(old[:, :, :, None], shape),
        np.broadcast_to(new[:, :, None, :], shape),
    )


def correlation(covariance: Array, one: Array, two: Array) -> Array:
    """Return a correlation from a covariance and two variances; 0 where one of them is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = covariance / np.sqrt(one * two)
    return np.clip(np.where(np.isfinite(found), found, 0.0), -1.0, 1.0)
