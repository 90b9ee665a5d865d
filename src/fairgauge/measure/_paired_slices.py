"""A paired slice: the counts of one feature as two models decide, under one outcome."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.statistics import Statistic
from fairgauge.inference.one.statistic_intervals import side_interval
from fairgauge.inference.two.paired_changes import StatisticChange, statistic_change
from fairgauge.inference.two.paired_tables import ClusterCounts, PairedTable
from fairgauge.measure.slices import Slice
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, JointCells
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.sides import Index, with_others


class PairedSlice:
    """The counts of one feature under one outcome, as two models decide.

    Attributes
    ----------
    current, candidate : the counts as each model decides; what is compared with what is that of the
        model in use.
    classes : whether its outcomes are classes, not a positive and a negative.

    Its ``counts`` are of one feature, as the model in use and the candidate decide, and jointly.
    """

    def __init__(
        self,
        counts: tuple[GroupCounts, GroupCounts, JointCells],
        outcome: OutcomeMasks,
        spec: Spec,
        per_class: Sequence[OutcomeMasks] = (),
    ) -> None:
        current, candidate, self._joint = counts
        self.current = Slice(current, outcome, spec, per_class)
        self.candidate = Slice(candidate, outcome, spec, per_class)
        self._masks = tuple(per_class) or (outcome,)
        self.classes = bool(per_class)
        measures = self._joint.counts
        cases = self._states(measures["n"])
        weighted = "w" in measures
        self._cases = cases
        self._weights = self._states(measures["w"]) if weighted else cases
        self._squares = self._states(measures["w2"]) if weighted else cases

    def change(self, statistic: Statistic, which: Index, slots: Index) -> StatisticChange:
        """Return what becomes of a statistic of some sides.

        Raises
        ------
        NoInterval
            No method gives a valid interval from what is counted.
        """
        old, new = (
            side_interval(statistic, each.evidence(which, slots))
            for each in (self.current, self.candidate)
        )
        return statistic_change(statistic, self.table(which, slots), old, new)

    def table(self, which: Index, slots: Index) -> PairedTable:
        """Return the rows of some sides, by label and both decisions."""
        clusters = None
        count = 0
        if self._joint.clusters is not None:
            clusters = [
                self._clusters(g, s) for g, s in zip(which.tolist(), slots.tolist(), strict=True)
            ]
            count = int(self._joint.clusters.cluster.max(initial=-1)) + 1
        return PairedTable(
            self._weights[which, slots],
            self._squares[which, slots],
            self._cases[which, slots],
            self.classes,
            clusters,
            count,
        )

    def _states(self, counts: Array) -> Array:
        """Collapse levels to outcomes, of all sides; shape (sides, slots, C + 1, C, C)."""
        labels, decisions = (
            np.eye(self._outcomes + of_label)[codes]
            for codes, of_label in ((self._label_codes, 1), (self._decision_codes, 0))
        )
        # one axis at a time: all at once takes the product of all levels and outcomes
        collapsed = np.einsum(
            "gslpq,la,pb,qc->gsabc", counts, labels, decisions, decisions, optimize=True
        )
        return with_others(collapsed)

    @property
    def _outcomes(self) -> int:
        return len(self._masks) if self.classes else 2

    @cached_property
    def _label_codes(self) -> Index:
        """Return the outcome of every label, a missing one last."""
        codes: Index = np.append(
            self._codes([mask.labels for mask in self._masks]), self._outcomes
        ).astype(np.int64)
        return codes

    @cached_property
    def _decision_codes(self) -> Index:
        codes: Index = self._codes([mask.predictions for mask in self._masks])
        return codes

    def _codes(self, masks: Sequence[NDArray[np.bool_]]) -> Index:
        """Return the outcome of every level: 0 positive and 1 negative, or the class."""
        if self.classes:
            return np.asarray(np.argmax(np.stack(masks), axis=0), dtype=np.int64)
        return np.asarray(np.where(masks[0], 0, 1), dtype=np.int64)

    def _clusters(self, side: int, slot: int) -> ClusterCounts:
        """Return the rows of one side by cluster."""
        cells = self._joint.clusters
        assert cells is not None
        inside = np.ones(len(cells.group), dtype=bool)  # all rows
        if side < self.current.sides.whole:
            inside = cells.group == side
        elif side > self.current.sides.whole:
            inside = cells.group != side - self.current.sides.others
        if slot:
            inside &= cells.stratum == slot - 1
        label = self._label_codes[cells.label[inside]]
        old, new = (
            self._decision_codes[codes[inside]] for codes in (cells.current, cells.candidate)
        )
        outcomes = self._outcomes
        flat = (label * outcomes + old) * outcomes + new
        weights = cells.counts.get("w", cells.counts["n"])
        return ClusterCounts(cells.cluster[inside], flat, weights[inside])
