"""Decomposing a difference or a ratio of two rates: composition of strata, and rates within them.

Everything is a function of a few means: the rate of each side, and what it would be with the other
side's shares of the strata. Their covariance gives the interval of each part, whatever the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Mask, floats, quiet
from fairgauge.stats.intervals import t_from_z
from fairgauge.stats.sampling import Sampling, SquaredWeights, effective_values

# rows that are added to each side for the centre of an interval, spread over the strata as the rows
# are (Agresti and Caffo 2000).
_PRIOR_ROWS = 4.0
# degrees of freedom below which the variance of a side is not taken from it alone
_FEWEST_DEGREES = 10
# The rule of thumb of expected counts, after Cochran (1954), Biometrics 10, 417-451, on tests of
# 2 x 2 tables: below it normal limits of a stratum are not trusted
_FEWEST_EXPECTED = 5.0


class Part(NamedTuple):
    """A part of a gap with its confidence interval; arrays of shape (...)."""

    value: Array
    low: Array
    high: Array


class GapParts(NamedTuple):
    """The parts of a gap.

    ``not_comparable, composition, within``: they add up to the difference, or multiply to the
        ratio.
    ``within_group, within_reference``: within strata, at the composition of the group and at that
        of the reference.
    ``support_group, support_reference``: the shares of both sides in strata that both have.
    ``sparse``: whether a rate at the other side's composition has insufficient data: of its
        effective rows fewer than 5 of either outcome are expected where both sides have the same
        rates.
    """

    not_comparable: Part
    composition: Part
    within: Part
    within_group: Part
    within_reference: Part
    support_group: Array
    support_reference: Array
    sparse: Mask


@quiet
def decompose(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike, z: float, *,
    ratio: bool = False, squares: tuple[ArrayLike, ArrayLike] | None = None,
    sampling: Sampling | None = None,
) -> GapParts:  # fmt: skip
    """Decompose ``x_d/n_d - x_a/n_a``, or their ratio, over strata.

    Composition weights the difference of the sides' shares of each stratum by the mean of their
    rates in it, within the difference of the rates by the mean of the shares; a ratio is decomposed
    by the same formulas on the logarithms of the four rates at either side's composition. Strata
    with rows of one side alone are not comparable (Nopo).

    ``squares``: shape (..., S): of means in place of rates, the sums of squares of both sides;
        ``x`` are then sums.
    ``sampling``: of weighted rows, and of clusters: ``x`` and ``n`` are then sums of weights, and
        arrays of shape (S,) where there are clusters.

    >>> found = decompose([30, 20], [100, 100], [60, 5], [200, 50], 1.959964)
    >>> [round(float(part.value), 4) for part in (found.composition, found.within)]
    [-0.045, 0.035]
    """
    # Kitagawa (1955), JASA 50, 1168-1194; Nopo (2008), Review of Economics and Statistics 90,
    # 290-299.
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    common, held_d, held_a = _common_strata(n_d, n_a)
    w_d, w_a = held_d / _total_column(held_d), held_a / _total_column(held_a)
    of_counts = _Means.of(w_d, w_a, _rates_or_zero(x_d, held_d), _rates_or_zero(x_a, held_a))
    q_d, q_a = (x_d, x_a) if squares is None else floats(*squares)
    if sampling is None:
        sampling = Sampling(SquaredWeights(n_d, x_d, q_d), SquaredWeights(n_a, x_a, q_a))
        rows_d, rows_a = (x_d, n_d, q_d), (x_a, n_a, q_a)
    else:
        rows_d, rows_a = (
            effective_values(x, n, squared, rates=squares is None)
            for x, n, squared in ((x_d, n_d, sampling.group), (x_a, n_a, sampling.reference))
        )
    (y_d, e_d, s_d), (y_a, e_a, s_a) = (
        [np.where(common, each, 0.0) for each in rows] for rows in (rows_d, rows_a)
    )
    # with one row of the rate over all, so that it is 0 or 1 only where all outcomes are alike
    y, e = y_d + y_a, e_d + e_a
    of_both = (y + _total_column(y) / _total_column(e)) / (e + 1)
    if squares is None:
        prior, means, variances = _PRIOR_ROWS * (w_d + w_a) / 2, [], []
        for x, n in ((y_d, e_d), (y_a, e_a)):
            means.append(np.where(e_d > 0, (x + prior / 2) / (n + prior), 0.0))
            rate = (x + of_both + prior / 2) / (n + 1 + prior)  # never 0 or 1
            variance = rate * (1 - rate) / np.maximum(n - 0.5, 0.5)
            variances.append(np.where(e_d > 0, variance, 0.0))
        centred = _Means.of(w_d, w_a, *means)
    else:
        centred, variances = of_counts, [*mean_variances(y_d, e_d, y_a, e_a, (s_d, s_a))]
    sides = (
        _Side.of(x_d, held_d, sampling.group, variances[0]),
        _Side.of(x_a, held_a, sampling.reference, variances[1]),
    )
    covariance = centred.covariance(*sides)
    z = sampling.critical(z)

    def part(row: Array) -> Part:
        slope = row / of_counts.value if ratio else row + 0 * of_counts.value
        effect = of_counts.design_effect(slope, (x_d, held_d), (x_a, held_a), sampling)
        if ratio:  # a mean that a part does not hold may be 0
            value, centre = (
                np.where(row == 0, 0.0, row * np.log(each.value)).sum(-1)
                for each in (of_counts, centred)
            )
            row = np.where(row == 0, 0.0, row / centred.value)
        else:
            value, centre, row = of_counts.value @ row, centred.value @ row, row + 0 * centred.value
        variance = (row[..., None, :] @ (effect * covariance) @ row[..., :, None])[..., 0, 0]
        half = z * np.sqrt(np.maximum(variance, 0.0))
        low, high = np.minimum(centre - half, value), np.maximum(centre + half, value)
        if ratio:
            value, low, high = np.exp(value), np.exp(low), np.exp(high)
        return Part(np.asarray(value), np.asarray(low), np.asarray(high))

    composition, within, group, reference = (part(row) for row in _COEFFICIENTS)
    # judged by what is expected where both sides have the same rates, so that a rate of 0 or 100%
    # has enough where there are enough rows
    alike = _Means.of(w_d, w_a, of_both, of_both)
    same = (
        side._replace(of_rates=_rates_or_zero(of_both * (1 - of_both), n))
        for side, n in zip(sides, (e_d, e_a), strict=True)
    )
    expected = alike.value[..., 2:]
    variance = np.diagonal(alike.covariance(*same), axis1=-2, axis2=-1)[..., 2:]
    rows = expected * (1 - expected) / variance
    least = (rows * np.minimum(expected, 1 - expected)).min(axis=-1)
    sparse = np.asarray(~(least >= _FEWEST_EXPECTED))
    outside = _uncompared_part((x_d, n_d), (x_a, n_a), common, sampling, z, ratio=ratio)
    return GapParts(
        outside, composition, within, group, reference,
        support_group=held_d.sum(-1) / n_d.sum(-1), support_reference=held_a.sum(-1) / n_a.sum(-1),
        sparse=sparse if squares is None else np.zeros_like(sparse),
    )  # fmt: skip


class MeanDifferences(NamedTuple):
    """Differences of means with their variances and the degrees of freedom of these."""

    value: Array
    variance: Array
    degrees: Array

    def part(self, z: float) -> Part:
        """Return them with their confidence intervals, by Student's t with the tails of `z`."""
        half = t_from_z(z, self.degrees) * np.sqrt(self.variance)
        return Part(self.value, self.value - half, self.value + half)

    @property
    @quiet
    def p(self) -> Array:
        """Return the two-sided p-values of no difference, which agree with the intervals."""
        from scipy.special import stdtr

        return np.asarray(2 * stdtr(self.degrees, -np.abs(self.value) / np.sqrt(self.variance)))


@quiet
def mean_differences(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike,
    squares: tuple[ArrayLike, ArrayLike], weight: Array | None = None,
) -> tuple[MeanDifferences, MeanDifferences]:  # fmt: skip
    """Return the difference of means in every stratum, and pooled by Mantel and Haenszel's weights.

    >>> each, pooled = mean_differences([10, 8], [5, 4], [5, 4], [5, 4], ([25, 20], [9, 8]))
    >>> each.value.tolist(), [round(float(x), 3) for x in pooled.part(1.96)[1:3]]
    ([1.0, 1.0], [-0.078, 2.078])
    """
    # It may be pooled by another ``weight`` of each stratum. Variances are shrunk towards the one
    # of all strata, as those of `decompose`, by two rows a side, which count among the degrees of
    # freedom (Satterthwaite 1946): of a side with one row, its variance is known by little more.
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    common, held_d, held_a = _common_strata(n_d, n_a)
    v_d, v_a = mean_variances(x_d, held_d, x_a, held_a, squares)
    value, variance = _rates_or_zero(x_d, held_d) - _rates_or_zero(x_a, held_a), v_d + v_a
    spread = v_d**2 / (held_d + 1) + v_a**2 / (held_a + 1)
    if weight is None:
        weight = np.where(common, held_d * held_a / (held_d + held_a), 0.0)
    weight = weight / _total_column(weight)
    pooled = np.asarray((weight**2 * variance).sum(-1))
    degrees = pooled**2 / np.asarray((weight**4 * spread).sum(-1))
    return (
        MeanDifferences(value, variance, variance**2 / spread),
        MeanDifferences(np.asarray((weight * value).sum(-1)), pooled, degrees),
    )


@quiet
def mean_variances(
    x_d: Array, n_d: Array, x_a: Array, n_a: Array, squares: tuple[ArrayLike, ArrayLike]
) -> tuple[Array, Array]:
    """Return the variances of means, as if each had two more rows of its side and stratum."""
    # Their variance is that of the other side in the stratum, since outcomes vary more where they
    # are higher, times how much more those of the side vary. A side with few rows beyond one a
    # stratum varies as the other does.
    q_d, q_a = floats(*squares)
    within = [
        np.where(n > 0, np.maximum(q - n * _rates_or_zero(x, n) ** 2, 0.0), 0.0)
        for x, n, q in ((x_d, n_d, q_d), (x_a, n_a, q_a))
    ]
    degrees = [np.maximum(n - 1, 0.0) for n in (n_d, n_a)]
    pooled = ((within[0] + within[1]).sum(-1) / (degrees[0] + degrees[1]).sum(-1))[..., None]
    found = []
    for n, side in ((n_d, 0), (n_a, 1)):
        ss, of_side, other = within[side], degrees[side], 1 - side
        of_stratum = (within[other] + 2 * pooled) / (degrees[other] + 2)
        expected = (of_side * of_stratum).sum(-1)
        ratio = np.where(expected > 0, ss.sum(-1) / expected, 1.0)
        ratio = np.where(of_side.sum(-1) < _FEWEST_DEGREES, 1.0, ratio)[..., None]
        variance = (ss + 2 * ratio * of_stratum) / (n + 1) / np.where(n > 0, n, 1.0)
        found.append(np.where(n > 0, variance, 0.0))
    return found[0], found[1]


@quiet
def stratum_parts(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike
) -> tuple[Array, Array]:
    """Return what each stratum contributes to the composition and within of a difference.

    >>> composition, within = stratum_parts([30, 20], [100, 100], [60, 5], [200, 50])
    >>> composition.round(4).tolist(), within.round(4).tolist()
    ([-0.0158, -0.0292], [0.0, 0.035])
    """
    # Composition is measured from the mean rate of all strata, so that it does not depend on where
    # rates are measured from (Oaxaca and Ransom 1999): a group that is crowded into strata with low
    # rates has negative contributions there. Strata that one side alone has contribute 0.
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    common, held_d, held_a = _common_strata(n_d, n_a)
    w_d, w_a = held_d / _total_column(held_d), held_a / _total_column(held_a)
    r_d, r_a = _rates_or_zero(x_d, held_d), _rates_or_zero(x_a, held_a)
    mean_share, mean_rate = (w_d + w_a) / 2, (r_d + r_a) / 2
    from_mean = mean_rate - np.asarray((mean_share * mean_rate).sum(-1))[..., None]
    composition = np.where(common, (w_d - w_a) * from_mean, 0.0)
    return composition, mean_share * (r_d - r_a)


def _common_strata(n_d: Array, n_a: Array) -> tuple[Mask, Array, Array]:
    common = (n_d > 0) & (n_a > 0)
    return common, np.where(common, n_d, 0.0), np.where(common, n_a, 0.0)


def _total_column(counts: Array) -> Array:
    return np.asarray(counts.sum(-1))[..., None]


def _rates_or_zero(x: Array, n: Array) -> Array:
    return np.where(n > 0, x / np.where(n > 0, n, 1.0), 0.0)


# ---- the means that every part is made of -------------------------------------------------------

# what each part is as a sum of the means (of a ratio: of their logarithms): composition, within,
# and within at the group's and at the reference's composition.
_COEFFICIENTS = np.array(
    [[0.5, -0.5, 0.5, -0.5], [0.5, -0.5, -0.5, 0.5], [1, 0, -1, 0], [0, -1, 0, 1]]
)


class _Means(NamedTuple):
    """Means and their derivatives by the shares and the rates of both sides in every stratum.

    The means are the rate of the group, that of the reference, the reference's rates at the group's
    composition and the group's at the reference's.

    ``value``: array of shape (..., 4).
    ``by_share_d, by_share_a, by_rate_d, by_rate_a``: arrays of shape (..., 4, S).
    """

    value: Array
    by_share_d: Array
    by_share_a: Array
    by_rate_d: Array
    by_rate_a: Array

    @classmethod
    def of(cls, w_d: Array, w_a: Array, r_d: Array, r_a: Array) -> _Means:
        zero = np.zeros_like(w_d)
        rows = [
            ((w_d * r_d).sum(-1), r_d, zero, w_d, zero),
            ((w_a * r_a).sum(-1), zero, r_a, zero, w_a),
            ((w_d * r_a).sum(-1), r_a, zero, zero, w_d),
            ((w_a * r_d).sum(-1), zero, r_d, w_a, zero),
        ]
        value, *derivatives = zip(*rows, strict=True)
        return cls(
            np.stack(value, axis=-1), *(np.stack(derivative, axis=-2) for derivative in derivatives)
        )

    def covariance(self, group: _Side, reference: _Side) -> Array:
        """Return the covariance of the means; shares are multinomial, rates binomial."""
        found: Array = np.zeros((*self.value.shape, self.value.shape[-1]))
        for share, rate, side in (
            (self.by_share_d, self.by_rate_d, group),
            (self.by_share_a, self.by_rate_a, reference),
        ):
            share = share - (share * side.share[..., None, :]).sum(-1)[..., None]
            both = _products(share, side.of_shares) + _products(rate, side.of_rates)
            across = (share * side.across[..., None, :]) @ np.swapaxes(rate, -1, -2)
            found = found + both + across + np.swapaxes(across, -1, -2)
        return found

    def design_effect(
        self, row: Array, group: tuple[Array, Array], reference: tuple[Array, Array],
        sampling: Sampling,
    ) -> float:  # fmt: skip
        if sampling.clusters is None:
            return 1.0
        levels, slopes = [], []
        for share, rate, (x, n) in (
            (self.by_share_d, self.by_rate_d, group),
            (self.by_share_a, self.by_rate_a, reference),
        ):
            by_share, by_rate = row @ share, row @ rate
            total = n.sum()
            slope = _rates_or_zero(by_rate, n)
            level = (by_share - (by_share * n).sum() / total) / total - slope * _rates_or_zero(x, n)
            levels.append(np.where(n > 0, level, 0.0))
            slopes.append(slope)
        return sampling.design_effect(levels, slopes)


class _Side(NamedTuple):
    """What the shares and the rates of a side vary by, in every stratum; arrays of shape (..., S).

    ``share``: of the rows of the side.
    ``of_shares, of_rates``: the variances of sums of shares and of rates, weighted.
    ``across``: their covariance, which only weights that depend on the outcome make.
    """

    share: Array
    of_shares: Array
    of_rates: Array
    across: Array

    @classmethod
    def of(cls, x: Array, n: Array, squared: SquaredWeights, variance: Array) -> _Side:
        total, rate = _total_column(n), _rates_or_zero(x, n)
        held = np.where(n > 0, squared.rows, 0.0)
        across = _rates_or_zero(np.where(n > 0, squared.about(rate).values, 0.0), n)
        return cls(n / total, held / total**2, variance, across / total)


def _products(rows: Array, weights: Array) -> Array:
    return np.asarray((rows * weights[..., None, :]) @ np.swapaxes(rows, -1, -2))


def _uncompared_part(
    group: Sequence[Array], reference: Sequence[Array], common: Mask, sampling: Sampling, z: float,
    *, ratio: bool,
) -> Part:  # fmt: skip
    # what strata that one side alone has add to the gap, by the influence of rows
    value: Array = np.zeros(common.shape[:-1])
    variance: Array = np.zeros(common.shape[:-1])
    levels, slopes = [], []
    for sign, (x, n), squared in ((1, group, sampling.group), (-1, reference, sampling.reference)):
        held, total = np.where(common, n, 0.0).sum(-1), n.sum(-1)
        rate, kept = x.sum(-1) / total, np.where(common, x, 0.0).sum(-1) / held
        scale_all, scale_kept = (1 / rate, 1 / kept) if ratio else (1.0, 1.0)
        value = value + sign * (np.log(rate / kept) if ratio else rate - kept)
        # a row's influence is slope * y + level
        of_all = np.asarray(scale_all / total)[..., None]
        of_kept = common * np.asarray(scale_kept / held)[..., None]
        slope = of_all - of_kept
        level = of_kept * np.asarray(kept)[..., None] - of_all * np.asarray(rate)[..., None]
        variance = variance + squared.variance(level, slope)
        levels.append(sign * level)
        slopes.append(sign * slope)
    if sampling.clusters is not None:
        variance = variance * sampling.design_effect(levels, slopes)
    half = z * np.sqrt(np.maximum(variance, 0.0))
    whole = ~((group[1] > 0) ^ (reference[1] > 0)).any(axis=-1)
    value, half = np.where(whole, 0.0, value), np.where(whole, 0.0, half)
    if ratio:
        return Part(np.exp(value), np.exp(value - half), np.exp(value + half))
    return Part(value, value - half, value + half)
