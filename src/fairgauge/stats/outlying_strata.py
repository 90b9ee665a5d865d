"""Strata that differ: whether differences vary over strata, and which is unlike all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats._restricted import under_difference
from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.multiplicity import holm
from fairgauge.stats.significance import two_sided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

FEWEST_EXPECTED = 5.0
"""A stratum with fewer expected successes or failures on a side is never named."""
_FEWEST_STRATA = 3


class HeterogeneityTest(NamedTuple):
    """The test that the difference is the same in all strata; arrays of shape (...).

    Attributes
    ----------
    statistic, degrees, p : chi-square; nan with fewer than two strata.
    spread : the standard deviation of the true differences beyond sampling variation.
    """

    statistic: Array
    degrees: Array
    p: Array
    spread: Array


class Outlying(NamedTuple):
    """Each stratum against all others; arrays of shape (..., S), nan where it is not tested.

    Attributes
    ----------
    others : the mean difference of the other strata.
    z : the distance from it in standard errors.
    p, p_adjusted : of no difference from the others, alone and adjusted for all strata (Holm).
    """

    others: Array
    z: Array
    p: Array
    p_adjusted: Array


@quiet
def heterogeneity(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike
) -> tuple[HeterogeneityTest, Outlying]:
    """Test whether differences vary over strata, and each stratum against all others.

    Variances are those of Farrington and Manning, restricted to the common difference (Mantel and
    Haenszel). A stratum is tested against the others with the spread of these (DerSimonian and
    Laird), so that where differences vary everywhere the largest of them is not outlying.

    Parameters
    ----------
    x_d, n_d, x_a, n_a : array-like of shape (..., S)
        Successes and trials of both sides; strata without trials on a side are excluded.

    References
    ----------
    Farrington & Manning (1990), Statistics in Medicine 9, 1447-1454; DerSimonian & Laird (1986),
    Controlled Clinical Trials 7, 177-188; Viechtbauer & Cheung (2010), Research Synthesis Methods
    1, 112-125.

    Examples
    --------
    >>> whole, each = heterogeneity([89, 17, 202], [108, 25, 593], [512, 353, 120], [825, 560, 325])
    >>> round(float(whole.statistic), 2), round(float(each.p_adjusted[0]), 6)
    (16.09, 0.000372)
    """
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    held = (n_d > 0) & (n_a > 0)
    strata = held.sum(-1).astype(np.float64)
    d = np.where(held, x_d / n_d - x_a / n_a, 0.0)
    pooling = np.where(held, n_d * n_a / (n_d + n_a), 0.0)
    common = np.asarray((pooling * d).sum(-1) / pooling.sum(-1))
    _, _, variance = _restricted(x_d, n_d, x_a, n_a, common[..., None])
    weight = np.where(held & (variance > 0), 1 / variance, 0.0)
    sums = _sums(weight, d)
    whole = _of_all(sums, strata)
    return whole, _against_others(x_d, n_d, x_a, n_a, d, weight, sums, held)


@quiet
def heterogeneity_of_means(difference: ArrayLike, variance: ArrayLike) -> HeterogeneityTest:
    """Test whether differences of means vary over strata; those of variance 0 are excluded.

    Examples
    --------
    >>> found = heterogeneity_of_means([0.0, 0.0, 4.0, 9.0], [1.0, 1.0, 1.0, 0.0])
    >>> round(float(found.statistic), 2), round(float(found.p), 4)
    (10.67, 0.0048)
    """
    d, variance = floats(difference, variance)
    held = np.isfinite(d) & (variance > 0)
    weight = np.where(held, 1 / variance, 0.0)
    return _of_all(_sums(weight, np.where(held, d, 0.0)), held.sum(-1).astype(np.float64))


def _sums(weight: Array, d: Array) -> list[Array]:
    return [np.asarray((weight**k * d**j).sum(-1)) for k, j in ((1, 0), (1, 1), (1, 2), (2, 0))]


def _of_all(sums: Sequence[Array], strata: Array) -> HeterogeneityTest:
    statistic, spread = _spread(sums, strata)
    return HeterogeneityTest(
        np.where(strata > 1, statistic, np.nan),
        strata - 1,
        np.where(strata > 1, _chi_square_tail(statistic, strata - 1), np.nan),
        np.where(strata > 1, np.sqrt(spread), np.nan),
    )


def _against_others(
    x_d: Array, n_d: Array, x_a: Array, n_a: Array, d: Array, weight: Array, sums: list[Array],
    held: NDArray[np.bool_],
) -> Outlying:  # fmt: skip
    others = held.sum(-1).astype(np.float64)[..., None] - 1
    own = (weight, weight * d, weight * d**2, weight**2)
    rest = [every[..., None] - mine for every, mine in zip(sums, own, strict=True)]
    _, tau2 = _spread(rest, others)
    # the others are weighed with their spread
    random = _leave_one_out(weight, d, tau2)
    mean, error2 = random[1] / random[0], 1 / random[0]
    p_d, p_a, variance = _restricted(x_d, n_d, x_a, n_a, mean)
    expected = np.minimum(n_d * np.minimum(p_d, 1 - p_d), n_a * np.minimum(p_a, 1 - p_a))
    tested = held & (expected >= FEWEST_EXPECTED) & (others >= _FEWEST_STRATA - 1)
    z = np.where(tested, (d - mean) / np.sqrt(variance + tau2 + error2), np.nan)
    p = np.where(tau2 > 0, _t_tail(z, others - 1), two_sided(np.minimum(np.abs(z), 37.0)))
    p = np.where(tested, p, np.nan)
    return Outlying(np.where(held & (others > 0), mean, np.nan), z, p, holm(p))


def _leave_one_out(weight: Array, d: Array, tau2: Array) -> tuple[Array, Array]:
    """Return sums over the others of their weights with a spread, and of these times d.

    The spread differs with the stratum that is omitted; strata are worked off one by one.
    """
    total, moment = np.empty_like(weight), np.empty_like(weight)
    variance = np.where(weight > 0, 1 / weight, np.inf)
    for s in range(weight.shape[-1]):
        with_spread = 1 / (variance + tau2[..., s : s + 1])
        with_spread[..., s] = 0.0
        total[..., s] = with_spread.sum(-1)
        moment[..., s] = (with_spread * d).sum(-1)
    return total, moment


def _restricted(
    x_d: Array, n_d: Array, x_a: Array, n_a: Array, difference: Array
) -> tuple[Array, Array, Array]:
    """Return the rates of both sides that differ by a number, and the variance of d at them."""
    p_d, p_a = under_difference(x_d, n_d, x_a, n_a, np.clip(difference, -1, 1))
    n = n_d + n_a
    variance = (p_d * (1 - p_d) / n_d + p_a * (1 - p_a) / n_a) * n / (n - 1)
    return p_d, p_a, variance


def _spread(sums: Sequence[Array], strata: Array) -> tuple[Array, Array]:
    """Return Cochran's statistic, and the variance of true differences that it implies."""
    w, wd, wdd, ww = sums
    statistic = np.maximum(wdd - wd**2 / w, 0.0)
    excess = (statistic - (strata - 1)) / (w - ww / w)
    return statistic, np.where(strata > 1, np.maximum(np.nan_to_num(excess), 0.0), 0.0)


def _chi_square_tail(statistic: Array, degrees: Array) -> Array:
    from scipy.special import chdtrc

    return np.asarray(chdtrc(np.maximum(degrees, 1.0), statistic))


def _t_tail(z: Array, degrees: Array) -> Array:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(np.maximum(degrees, 1.0), -np.abs(z)))
