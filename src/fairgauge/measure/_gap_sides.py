"""Both sides of a gap: sums by weight in every stratum, and the rows that are missing from them.

The outcomes that one side lacks beyond the share that the other lacks may all be favourable, and
all unfavourable; rows without a group that have other rates than the others may be of either side.
Were any missing row taken for any outcome and group, few gaps of ordinary data would be decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import WhyInconclusive
from fairgauge.inference.interval import CellCount, SideData
from fairgauge.inference.missing_values import differs_without_group, lacks_more
from fairgauge.measure.slices import Slice, numbers_of_sides
from fairgauge.resolve.references import side_of_others
from fairgauge.results.estimates import Estimate
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import Index, Mask, quotient
from fairgauge.stats.decomposition import MeanDifferences, mean_differences, mean_variances
from fairgauge.stats.sampling import ClusterTotals, Sampling, SquaredWeights, effective_values
from fairgauge.stats.significance import score_p
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
    sums take the place of successes, with their ``squares``, about a ``centre``. There is no
    ``sampling`` where rows are independent and alike. ``counts`` are successes and trials of
    independent rows with the same rates, which have the precision that the rows of a stratum have.
    """

    x_d: Array
    n_d: Array
    x_a: Array
    n_a: Array
    rows_d: Array
    rows_a: Array
    cases: Array
    squares: tuple[Array, Array] | None
    sampling: Sampling | None
    counts: tuple[Array, Array, Array, Array]
    centre: float = 0.0

    @property
    def common(self) -> Mask:
        return np.asarray((self.n_d > 0) & (self.n_a > 0), dtype=np.bool_)

    @cached_property
    def tested(self) -> Mask:
        """Return which strata have both sides, of clustered rows two or more clusters of each.

        Of one cluster nothing shows how alike its rows are, and hence how precise its rate is.
        """
        clusters = self.sampling.clusters if self.sampling is not None else None
        if clusters is None:
            return self.common
        strata = (clusters.stratum[clusters.side == side] for side in (0, 1))
        several = [np.bincount(each, minlength=len(self.n_d)) > 1 for each in strata]
        return np.asarray(self.common & several[0] & several[1])

    @property
    def rates(self) -> list[Array]:
        return [quotient(x, n) for x, n in ((self.x_d, self.n_d), (self.x_a, self.n_a))]

    @cached_property
    def means(self) -> tuple[MeanDifferences, MeanDifferences] | None:
        return None if self.squares is None else mean_differences(*self.counts, self.squares)

    @cached_property
    def p_values(self) -> Array:
        return score_p(*self.counts) if self.means is None else self.means[0].p

    def variation(self) -> tuple[HeterogeneityTest, Outlying]:
        """Test whether the difference is the same in all strata, and each against the others."""
        if self.squares is None or self.means is None:
            return heterogeneity(*self.counts)
        x_d, n_d, x_a, n_a = (np.where(self.common, each, 0.0) for each in self.counts)
        variances = mean_variances(x_d, n_d, x_a, n_a, self.squares)
        return heterogeneity_of_means(self.means[0].value, *variances, n_d, n_a)

    @cached_property
    def weights(self) -> Array:
        """Return the weights of Mantel and Haenszel in strata that both sides have, 0 in others."""
        weights = np.where(self.common, quotient(self.n_d * self.n_a, self.n_d + self.n_a), 0.0)
        return quotient(weights, weights.sum())


def gap_sides(
    part: Slice, group: int, reference: int, of: Statistic, *, ratio: bool = False
) -> tuple[GapSides, Index]:
    # Strata are in an order of their own, so that renaming them changes no digit. Of a difference
    # sums are about the centre of the counts, of a ratio about 0.
    centre = 0.0 if isinstance(of, Rate) else part.counts.centre
    about = centre if ratio else 0.0
    slots = np.arange(1, 1 + len(part.counts.strata))
    data = [part.side_data(np.full_like(slots, side), slots) for side in (group, reference)]
    sums = [sums_of(of, each.side, about) for each in data]
    order = np.lexsort([each for x, n, _ in sums for each in (x, n)])
    (x_d, n_d, q_d), (x_a, n_a, q_a) = ([each[order] for each in side] for side in sums)
    squares = None if isinstance(of, Rate) else (q_d, q_a)
    sampling = _sampling(part, (group, reference), of, data, order, about)
    counts = (x_d, n_d, x_a, n_a)
    if sampling is not None and isinstance(of, Rate):
        cells = CellCount(of.needs, of.of), CellCount(of.needs, of.among)
        shares = [each.share(*cells) for each in data]
        y_d, e_d, y_a, e_a = (np.nan_to_num(n)[order] for one in shares for n in (one.x, one.n))
        counts = (y_d, e_d, y_a, e_a)
    elif sampling is not None:
        y_d, e_d, q_d = _effective_sums(x_d, n_d, sampling, 0)
        y_a, e_a, q_a = _effective_sums(x_a, n_a, sampling, 1)
        counts, squares = (y_d, e_d, y_a, e_a), (q_d, q_a)
    (cases_d, rows_d, _), (cases_a, rows_a, _) = (
        [sums[order] for sums in sums_of(of, each.cases)] for each in data
    )
    cases = rows_d, rows_a, cases_d + cases_a
    return GapSides(x_d, n_d, x_a, n_a, *cases, squares, sampling, counts, centre - about), order


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


def _sampling(
    part: Slice,
    sides: tuple[int, int],
    of: Statistic,
    data: list[SideData],
    order: Index,
    centre: float,
) -> Sampling | None:
    # how rows were sampled; None where they are independent and alike
    if part.squares is None and part.clusters is None:
        return None
    squared = []
    for each in data:
        of_squares = sums_of(of, each.squares or each.side, centre)
        values, rows, squares = (of_stratum[order] for of_stratum in of_squares)
        squared.append(SquaredWeights(rows, values, squares))
    clusters = None
    if part.clusters is not None:
        group, cluster, stratum, x, m = _cluster_sums(part, of)
        others = side_of_others(len(part.counts.groups))
        on = [group != at - others if at >= others else group == at for at in sides]
        place = np.full(1 + len(part.counts.strata), -1)
        place[order] = np.arange(len(order))
        kept = (on[0] | on[1]) & (m > 0) & (stratum < len(order))
        keys = np.stack([np.where(on[0], 0, 1), place[stratum], cluster])[:, kept]
        (side, stratum, cluster), entry = np.unique(keys, axis=1, return_inverse=True)
        each_row, entry = (m[kept], (x + centre * m)[kept]), entry.ravel()
        sums = [np.bincount(entry, of_row).astype(np.float64) for of_row in each_row]
        codes = np.unique(cluster, return_inverse=True)[1].ravel()
        clusters = ClusterTotals(codes, side, stratum, *sums)
    return Sampling(squared[0], squared[1], clusters)


def _cluster_sums(part: Slice, of: Statistic) -> tuple[Index, Index, Index, Array, Array]:
    assert part.clusters is not None
    assert part.counts.clusters is not None
    if isinstance(of, Rate):
        group, cluster, stratum, cell, rows = part.clusters.cells(of.needs)
        x, m = (
            np.append(np.array(cells, dtype=float), 0.0)[cell] * rows for cells in (of.of, of.among)
        )
        return group, cluster, stratum, x, m
    cells, of_label = part.counts.clusters, of.needs == {"label"}
    axis, codes = (2, cells.label) if of_label else (3, cells.prediction)
    known = codes < part.counts.counts["rows"].shape[axis] - 1
    rows = np.where(known, cells.counts.get("w", cells.counts["n"]), 0.0)
    return cells.group, cells.cluster, cells.stratum, cells.counts["y" if of_label else "p"], rows


def _effective_sums(x: Array, n: Array, sampling: Sampling, side: int) -> tuple[Array, ...]:
    # of means of clusters as of so many independent rows; where one cluster is alone they are one,
    # as nothing shows how alike clusters are
    squared, totals = (sampling.group, sampling.reference)[side], sampling.clusters
    effective = effective_values(x, n, squared, rates=False)
    if totals is None:
        return effective
    on = totals.side == side
    stratum, rows, values = totals.stratum[on], totals.rows[on], totals.values[on]
    mean = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    clusters = np.bincount(stratum, minlength=len(n))
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (values - mean[stratum] * rows) / (1 - rows / n[stratum])
        between = np.bincount(stratum, moved**2, len(n)) * (clusters - 1) / clusters
        ratio = between / squared.about(mean).squares
    ratio = np.where((clusters > 1) & np.isfinite(ratio), np.maximum(ratio, 1.0), np.inf)
    raised = np.where(n > 0, np.minimum(ratio, np.maximum(n, 1.0)), 1.0)
    return tuple(each / raised for each in effective)


def unlike_rows(
    estimate: Estimate, part: Slice, columns: Iterable[Index]
) -> Iterator[WhyInconclusive]:
    """Yield what the rows lack that are missing from a gap, if they may be unlike the others.

    ``columns`` state the level of every stratum.
    """
    counted, metric, spec = part.counts, estimate.definition, part.spec
    assert isinstance(metric, Contrast)
    if lacks_more(counted, metric.needs, *numbers_of_sides(estimate, part), spec).any():
        yield WhyInconclusive.MISSING_OUTCOMES
    if differs_without_group(counted, part.outcome, metric.of, spec, columns):
        yield WhyInconclusive.MISSING_GROUPS
