"""Tables: the cells that a statistic or a metric is made of, to be drawn anew.

Cells that a formula treats alike are one cell: a rate has two, however many it sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.averages import Agreement, Averaged, Kappa
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells
from fairgauge.catalogue.confusion_counts import ConfusionCounts
from fairgauge.inference.draws import Table
from fairgauge.resolve.sides import BOTH, LABEL, PREDICTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.resolve.outcomes import OutcomeMasks


_MARGINS = {LABEL: (TP + FN, FP + TN), PREDICTION: (TP + FP, FN + TN)}
"""What is positive and negative of rows that are counted by label and prediction."""


def table_of(statistic: Statistic, outcome_masks: Sequence[OutcomeMasks]) -> Table | None:
    """Return the cells of a statistic of counts; None where it is not one of counts."""
    if isinstance(statistic, (Averaged, Agreement)) or (
        isinstance(statistic, Kappa) and outcome_masks
    ):
        return _classes(outcome_masks)
    return cells_table(_alike(statistic.sums), statistic.needs) if statistic.sums else None


def shared_table(table: Table, needs: frozenset[Need], sides: Sequence[ConfusionCounts]) -> Table:
    """Return a table of the same metric whose resampled cells other metrics share.

    It is of all four cells: resampled rows fall into each of them as they would into several that
    are one. Where no row misses its label or its prediction, all metrics share one table.
    """
    if any(needs not in side.cells for side in sides):
        return table
    whole = all(
        BOTH in side.cells
        and np.array_equal(ALL.count(side.counts(needs)), ALL.count(side.counts(BOTH)))
        for side in sides
    )
    every = BOTH if whole else needs
    yes, no = _MARGINS.get(needs, (TP, TN)) if whole else (TP, TN)

    def write(drawn: Array) -> ConfusionCounts:
        counts = drawn
        if every != needs:
            counts = np.zeros_like(drawn)
            counts[:, 0], counts[:, 3] = yes.count(drawn), no.count(drawn)
        return ConfusionCounts(size=ALL.count(counts), cells={needs: counts})

    return Table(lambda side: side.counts(every), write, " and ".join(sorted(every)))


def cells_table(parts: Sequence[Cells], needs: frozenset[Need]) -> Table:
    """Return confusion cells, those of one part together."""
    first = [next(i for i, k in enumerate(part.coefficients) if k) for part in parts]

    def read(side: ConfusionCounts) -> Array:
        return np.stack([part.count(side.counts(needs)) for part in parts], axis=-1)

    def write(drawn: Array) -> ConfusionCounts:
        counts = np.zeros((len(drawn), 4))
        for i, cell in enumerate(first):
            counts[:, cell] = drawn[:, i]
        return ConfusionCounts(size=ALL.count(counts), cells={needs: counts})

    return Table(read, write)


def strata_table(of: Need) -> Table:
    """Return the positive and negative rows of every stratum."""

    def write(drawn: Array) -> ConfusionCounts:
        return ConfusionCounts(size=drawn.sum(axis=(1, 2)), strata={of: drawn})

    return Table(lambda side: side.strata[of], write)


def _classes(outcome_masks: Sequence[OutcomeMasks]) -> Table:
    """Return rows by label and prediction, and each class against the rest made of them."""

    def read(side: ConfusionCounts) -> Array:
        assert side.joint is not None
        return side.joint

    def write(drawn: Array) -> ConfusionCounts:
        every = tuple(_against_the_rest(drawn, r.labels, r.predictions) for r in outcome_masks)
        return ConfusionCounts(size=drawn.sum(axis=(1, 2)), cells=every[0].cells, per_class=every)

    return Table(read, write)


def _against_the_rest(
    joint: Array, labels: NDArray[np.bool_], predictions: NDArray[np.bool_]
) -> ConfusionCounts:
    by_label = np.stack([joint[:, labels].sum(axis=1), joint[:, ~labels].sum(axis=1)], axis=1)
    states = [by_label[:, :, mask].sum(axis=2) for mask in (predictions, ~predictions)]
    (tp, fp), (fn, tn) = ((each[:, 0], each[:, 1]) for each in states)
    zero = np.zeros_like(tp)
    cells = {
        BOTH: np.stack([tp, fp, fn, tn], axis=-1),
        LABEL: np.stack([tp + fn, zero, zero, fp + tn], axis=-1),
        PREDICTION: np.stack([tp + fp, zero, zero, fn + tn], axis=-1),
    }
    return ConfusionCounts(size=joint.sum(axis=(1, 2)), cells=cells)


def _alike(sums: Sequence[Cells]) -> list[Cells]:
    """Join the cells that have the same coefficient in every sum; drop those in none."""
    found: dict[tuple[int, ...], Cells] = {}
    for i, cell in enumerate((TP, FP, FN, TN)):
        pattern = tuple(each.coefficients[i] for each in sums)
        if any(pattern):
            found[pattern] = found.get(pattern, Cells()) + cell
    return list(found.values())
