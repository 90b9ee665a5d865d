"""The cells of both random halves of the rows at every threshold of a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import Profile
from fairgauge.inference.evidence import Evidence
from fairgauge.inference.one.statistic_intervals import statistic_interval
from fairgauge.inference.two.paired_changes import statistic_change
from fairgauge.inference.two.paired_tables import PairedTable, confusion
from fairgauge.resolve.sides import with_others

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.interval import StatisticInterval
    from fairgauge.inference.two.paired_changes import StatisticChange

    Index = NDArray[np.int64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """A random half of the rows; every array has the measures first.

    The measures are the weights, their squares and the cases, all the same without weights.

    Attributes
    ----------
    accepted : array of shape (3, groups + 1, labels, cuts): accepted at each threshold.
    total : array of shape (3, groups + 1, labels).
    """

    accepted: Array
    total: Array

    @property
    def cells(self) -> Array:
        """Return TP, FP, FN and TN: (3, groups + 1, cuts, 4)."""
        rejected = self.total[..., None] - self.accepted
        positive, negative = ([of[:, :, i] for of in (self.accepted, rejected)] for i in range(2))
        return np.stack([positive[0], negative[0], positive[1], negative[1]], axis=-1)

    def cells_at(self, cuts: Index) -> Array:
        """Return the cells with some thresholds for every group: (3, groups + 1, n, 4).

        ``cuts`` is of shape (groups + 1, n).
        """
        return np.take_along_axis(self.cells, cuts[None, :, :, None], axis=2)

    def decided(self, today: int, cuts: Index) -> Array:
        """Return the rows by label and both decisions: (3, groups + 1, n, 3, 2, 2)."""
        old = self.accepted[..., [today]]
        new = np.take_along_axis(self.accepted, cuts[None, :, None], axis=-1)
        both = np.minimum(old, new)  # decisions of one score are nested
        neither = self.total[..., None] - np.maximum(old, new)
        table = np.moveaxis(np.stack([both, old - both, new - both, neither], axis=-1), 2, 3)
        missing = np.zeros((*table.shape[:3], 1, 4))
        return np.concatenate([table, missing], axis=3).reshape(*table.shape[:3], 3, 2, 2)


def by_label(counts: Array, positive: Mask) -> Array:
    """Return counts by group, label (positive, negative) and bin; rows without a label are left."""
    known = counts[:, :-1]
    return np.stack([known[:, of].sum(axis=1) for of in (positive, ~positive)], axis=1)


def with_others_of(counts: Array) -> Array:
    """Append all rows, and all others of every group, to counts with the measures first."""
    return np.stack([with_others(each) for each in counts])


def _margins(cells: Array) -> Array:
    """Return weights by label and decision, a missing label last: (n, 3, 2)."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    zero = np.zeros_like(tp)
    rows = [np.stack([tp, fn], -1), np.stack([fp, tn], -1), np.stack([zero, zero], -1)]
    return np.stack(rows, axis=1)


def value_of(statistic: Statistic, cells: Array) -> Array:
    return statistic.value(confusion(_margins(cells), classes=False), Profile.DOCUMENTED)


def interval_of(statistic: Statistic, cells: Array) -> StatisticInterval:
    return _interval_of_margins(statistic, np.stack([_margins(each) for each in cells]))


def _interval_of_margins(statistic: Statistic, margins: Array) -> StatisticInterval:
    """Return the interval of a statistic of weights, their squares and cases: (3, n, 3, 2)."""
    weights, squares, cases = (confusion(each, classes=False) for each in margins)
    weighted = bool((margins[0] != margins[2]).any())
    return statistic_interval(statistic, Evidence(weights, cases, squares if weighted else None))


def change_of(statistic: Statistic, tables: Array) -> StatisticChange:
    """Return the change of a statistic of weights, their squares and cases: (3, n, 3, 2, 2)."""
    old, new = (_interval_of_margins(statistic, tables.sum(axis=axis)) for axis in (-1, -2))
    return statistic_change(statistic, PairedTable(*tables), old, new)
