"""Both sides of a gap: sums by weight in every stratum, and the rows that are missing from them.

The outcomes that one side lacks beyond the share that the other lacks may all be favourable, and
all unfavourable; rows without a group that have other rates than the others may be of either side.
Were any missing row taken for any outcome and group, few gaps of ordinary data would be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import WhyInconclusive
from fairgauge.inference.interval import CellCount, SideData
from fairgauge.inference.missing_values import differs_without_group, lacks_more
from fairgauge.measure.slices import Slice
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import Index, Mask, quiet
from fairgauge.stats.decomposition import mean_differences, mean_variances
from fairgauge.stats.sampling import SquaredWeights, effective_values
from fairgauge.stats.stratified import (
    HeterogeneityTest,
    Outlying,
    heterogeneity,
    heterogeneity_of_means,
)


@dataclass(frozen=True, eq=False)
class GapSides:
    """Both sides of a gap in every stratum.

    Successes ``x`` and rows ``n`` are by weight, ``cases`` of both and ``rows`` without; of means
    sums take the place of successes, with their ``squares``, about a ``centre``. ``weighted`` are
    the squared weights of both sides; None of independent rows without weights. ``counts`` are
    successes and trials of independent rows with the same rates, which have the precision that the
    rows of a stratum have, in clusters too: tests of strata allow for these, parts do not.
    """

    x_d: Array
    n_d: Array
    x_a: Array
    n_a: Array
    rows_d: Array
    rows_a: Array
    cases: Array
    squares: tuple[Array, Array] | None
    weighted: tuple[SquaredWeights, SquaredWeights] | None
    counts: tuple[Array, Array, Array, Array]
    centre: float = 0.0

    @property
    def common(self) -> Mask:
        """Return which strata have both sides."""
        return np.asarray((self.n_d > 0) & (self.n_a > 0))

    @cached_property
    def weights(self) -> Array:
        """Return the weights of Mantel and Haenszel in strata that both sides have, 0 in others."""
        common, total = self.common, self.n_d + self.n_a
        weights = np.where(common, self.n_d * self.n_a, 0.0) / np.where(common, total, 1.0)
        return np.asarray(weights / weights.sum() if common.any() else weights)


def gap_sides(
    part: Slice, group: int, reference: int, of: Statistic, *, ratio: bool = False
) -> tuple[GapSides, Index]:
    """Return both sides by number, and the order of their strata."""
    # Strata are in an order of their own, so that renaming them changes no digit. Of a difference
    # sums are about the centre of the counts, of a ratio about 0.
    centre = 0.0 if isinstance(of, Rate) else part.counts.centre
    about = centre if ratio else 0.0
    slots = np.arange(1, 1 + len(part.counts.strata))
    data = [part.side_data(np.full_like(slots, side), slots) for side in (group, reference)]
    (x_d, n_d, q_d), (x_a, n_a, q_a) = (sums_of(of, each.side, about) for each in data)
    order = np.lexsort([x_d, n_d, x_a, n_a])
    x_d, n_d, q_d, x_a, n_a, q_a = (each[order] for each in (x_d, n_d, q_d, x_a, n_a, q_a))
    weighted = None
    if part.squares is not None or part.clusters is not None:
        weighted = _squares(of, data[0], order, about), _squares(of, data[1], order, about)
    squared = weighted or (None, None)
    y_d, e_d, s_d = _independent_sums(of, data[0], order, (x_d, n_d, q_d), squared[0])
    y_a, e_a, s_a = _independent_sums(of, data[1], order, (x_a, n_a, q_a), squared[1])
    squares = None if isinstance(of, Rate) else (s_d, s_a)
    (cases_d, rows_d, _), (cases_a, rows_a, _) = (
        [sums[order] for sums in sums_of(of, each.cases)] for each in data
    )
    cases = rows_d, rows_a, cases_d + cases_a
    counts = y_d, e_d, y_a, e_a
    sides = GapSides(x_d, n_d, x_a, n_a, *cases, squares, weighted, counts, centre - about)
    return sides, order


def test_of_variation(
    sides: GapSides,
) -> tuple[Callable[..., tuple[HeterogeneityTest, Outlying]], Sequence[Array]]:
    """Return the test that a difference is the same in all strata, and what it takes."""
    if sides.squares is None:
        return heterogeneity, sides.counts
    of_means, _ = mean_differences(*sides.counts, sides.squares)
    x_d, n_d, x_a, n_a = (np.where(sides.common, each, 0.0) for each in sides.counts)
    variances = mean_variances(x_d, n_d, x_a, n_a, sides.squares)
    return heterogeneity_of_means, (of_means.value, *variances, n_d, n_a)


def sums_of(
    of: Statistic, side: ConfusionCounts, centre: float = 0.0
) -> tuple[Array, Array, Array]:
    """Return successes and rows of one side in every stratum; of means sums, rows and squares.

    ``centre`` is added to every number.
    """
    if isinstance(of, Rate):
        counts = side.counts(of.needs)
        return of.of.count(counts), of.among.count(counts), of.of.count(counts)
    column = "y" if of.needs == {"label"} else "p"
    sums = side.moments_of(of.needs)
    x, n, squares = sums[column], sums["n"], sums[2 * column]
    return x + centre * n, n, squares + 2 * centre * x + centre**2 * n


def _squares(of: Statistic, side: SideData, order: Index, centre: float) -> SquaredWeights:
    every = sums_of(of, side.squares or side.side, centre)
    values, rows, squares = (sums[order] for sums in every)
    return SquaredWeights(rows, values, squares)


@quiet
def _independent_sums(
    of: Statistic,
    side: SideData,
    order: Index,
    sums: tuple[Array, Array, Array],
    squared: SquaredWeights | None,
) -> tuple[Array, Array, Array]:
    # sums of as many independent rows as vary like those of a side in every stratum
    if isinstance(of, Rate):
        share = side.share(CellCount(of.needs, of.of), CellCount(of.needs, of.among))
        x, n = (np.nan_to_num(each)[order] for each in (share.x, share.n))
        return x, n, x
    x, n, q = sums if squared is None else effective_values(*sums[:2], squared, rates=False)
    if side.clusters is None:
        return x, n, q
    between = side.clusters.variation(of, n).moved.variance[order]
    ratio = between / ((q / n - (x / n) ** 2) / n)
    # the rows of a cluster that is alone there are one: nothing shows how alike clusters are
    ratio = np.where(np.isfinite(ratio), np.maximum(ratio, 1.0), np.inf)
    raised = np.where(n > 0, np.minimum(ratio, np.maximum(n, 1.0)), 1.0)
    return x / raised, n / raised, q / raised


def unlike_rows(
    part: Slice, metric: Contrast, group: int, reference: int, columns: Iterable[Index]
) -> Iterator[WhyInconclusive]:
    """Yield what the rows lack that are missing from a gap, if they may be unlike the others.

    ``columns`` state the level of every stratum.
    """
    counted, of, spec = part.counts, metric.of, part.spec
    if lacks_more(counted, metric.needs, group, reference, spec).any():
        yield WhyInconclusive.MISSING_OUTCOMES
    if differs_without_group(counted, part.outcome, of, spec, columns):
        yield WhyInconclusive.MISSING_GROUPS
