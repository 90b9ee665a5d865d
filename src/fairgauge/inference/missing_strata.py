"""Rows without a stratum: whether leaving them out changes a comparison by itself.

What is adjusted for strata is of the other rows alone. Where their rates are not those of all rows,
a difference may change because it is adjusted, or because rows are missing, and the data do not
show which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.confusion_counts import ConfusionCounts
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.sides import CountsBySide, Index, Measure
from fairgauge.results.disparities import LITTLE
from fairgauge.stats.arrays import quotient
from fairgauge.stats.cluster_robust import largest_design_effect
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import homogeneity_table

_LEVEL = 1e-3
"""Far below usual levels: with many comparisons a chance finding would withhold verdicts."""


class RowsWithoutStratum:
    """The rows of one feature that have no stratum, beside those that have one.

    Attributes
    ----------
    rows, total : how many there are, and how many rows with them, without weights.
    """

    def __init__(
        self,
        counted: GroupCounts,
        outcome: OutcomeMasks,
        spec: Spec,
        per_class: Sequence[OutcomeMasks] = (),
    ) -> None:
        cases = counted.counts["n"]
        self.total = int(cases[:, 0].sum())
        self.rows = self.total - int(cases[:, 1:].sum())
        if not self.rows:
            return
        every = {name: sums[:, :1] for name, sums in counted.counts.items()}
        kept = {
            name: sums[:, 1:].sum(axis=1, keepdims=True) for name, sums in counted.counts.items()
        }
        left = {name: sums - kept[name] for name, sums in every.items()}
        plain = replace(counted, strata=(), histogram=None, clusters=None)

        def sides(counts: dict[str, Array], measure: Measure) -> CountsBySide:
            of = replace(plain, counts=counts)
            return CountsBySide(of, outcome, spec.profile, per_class, measure)

        weights: Measure = "w" if counted.unequally_weighted else "n"
        self._profile = spec.profile
        self._every, self._kept = (sides(counts, weights) for counts in (every, kept))
        self._cases = sides(left, "n"), sides(kept, "n")
        self._alike = 1.0
        if counted.clusters is not None:
            rows = np.bincount(counted.clusters.cluster, counted.clusters.counts["n"])
            self._alike = largest_design_effect(rows.astype(np.float64))

    def change(self, of: Statistic, groups: Index, references: Index) -> NDArray[np.bool_]:
        """Return for which comparisons leaving them out changes a side by itself.

        It does where their rates differ statistically significantly from those of the other rows,
        and the rate of a side moves by more than a tenth of the difference between both sides.
        """
        changed = np.zeros(len(groups), dtype=np.bool_)
        if not self.rows:
            return changed
        margin = np.zeros_like(groups)
        every, kept = (
            [of.value(sides.pick(which, margin), self._profile) for which in (groups, references)]
            for sides in (self._every, self._kept)
        )
        for side, which in enumerate((groups, references)):
            left_cases, kept_cases = (cases.pick(which, margin) for cases in self._cases)
            with np.errstate(invalid="ignore"):
                moved = np.abs(kept[side] - every[side])
                changed |= (moved > LITTLE * np.abs(every[0] - every[1])) & self._differ(
                    of, left_cases, kept_cases
                )
        return changed

    def _differ(
        self, of: Statistic, left: ConfusionCounts, kept: ConfusionCounts
    ) -> NDArray[np.bool_]:
        """Return where the rows without a stratum differ from the others in what a rate is of."""
        if "yy" in left.moments or "pp" in left.moments:
            found = [_means_differ(column, left, kept, self._alike) for column in _columns(of)]
            return np.asarray(np.any(found, axis=0))
        counts = [side.counts(of.needs) for side in (left, kept)]
        if isinstance(of, Rate):
            counts = [
                np.stack([of.of.count(each), of.among.count(each) - of.of.count(each)], axis=-1)
                for each in counts
            ]
        p = homogeneity_table(np.stack(counts, axis=-2) / self._alike)[1]
        return np.asarray(p < _LEVEL)


def _columns(of: Statistic) -> list[str]:
    return [name for need, name in (("label", "y"), ("prediction", "p")) if need in of.needs]


def _means_differ(
    column: str, left: ConfusionCounts, kept: ConfusionCounts, alike: float
) -> NDArray[np.bool_]:
    sums, rows, squares = (
        [side.moments[name] for side in (left, kept)] for name in (column, "n", 2 * column)
    )
    means = [quotient(x, n) for x, n in zip(sums, rows, strict=True)]
    n = rows[0] + rows[1]
    variance = quotient(squares[0] + squares[1], n) - quotient(sums[0] + sums[1], n) ** 2
    error = alike * variance * (quotient(1.0, rows[0]) + quotient(1.0, rows[1]))
    with np.errstate(invalid="ignore"):
        return np.asarray((means[0] - means[1]) ** 2 > critical(1 - _LEVEL) ** 2 * error)
