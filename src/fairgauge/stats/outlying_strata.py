"""Strata that differ: whether differences vary over them, and which is unlike the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._restricted import under_difference
from fairgauge.stats.arrays import Array, Mask, floats, quiet
from fairgauge.stats.significance import chi_square_tail, two_sided

FEWEST_EXPECTED = 5.0
"""A stratum with fewer expected successes or failures on a side is never named."""
FEWEST_ROWS = 10
"""Nor is one whose mean is of fewer rows on a side."""
FEWEST_STRATA = 6
"""Of fewer strata, how far the others vary can hardly be seen, and none is named."""
_POWER = 0.8
_REMOVED, _MOST_REMOVED = 4, 500
"""One stratum in so many at most is removed from the others; of thousands fewer hide nothing."""
_MOST_STEPS = 20
_MEDIAN_OF_SQUARE = 0.4549
"""The median of chi-square with one degree of freedom."""
_NEAR, _TERMS = 0.05, 13
"""How far a spread may be from where a series begins, whose terms then reach rounding."""


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
    difference, error : of the stratum, and the standard error of its distance from the others.
    others : the mean difference of the other strata that are not outlying.
    z : the distance from it in standard errors.
    p : of no difference from the others.
    degrees : of the t distribution of z; infinite where the others do not vary, and no other
        stratum is outlying.
    """

    difference: Array
    error: Array
    others: Array
    z: Array
    p: Array
    degrees: Array


@quiet
def heterogeneity(
    x_d: ArrayLike,
    n_d: ArrayLike,
    x_a: ArrayLike,
    n_a: ArrayLike,
    alpha: float = 0.0,
) -> tuple[HeterogeneityTest, Outlying]:
    """Test whether differences vary over strata, and each stratum against all others.

    Variances are those of Farrington and Manning, restricted to the common difference (Mantel and
    Haenszel). A stratum is tested against the others with the spread of these (DerSimonian and
    Laird), so that where differences vary everywhere the largest of them is not outlying. Strata
    that are outlying are not among the others, where they would hide one another.

    Parameters
    ----------
    x_d, n_d, x_a, n_a : array-like of shape (..., S)
        Successes and trials of both sides; strata without trials on a side are excluded.
    alpha : float
        The level of the test of one stratum, at which it is outlying; 0 if none is to be.

    References
    ----------
    Farrington & Manning (1990), Statistics in Medicine 9, 1447-1454; DerSimonian & Laird (1986),
    Controlled Clinical Trials 7, 177-188; Viechtbauer & Cheung (2010), Research Synthesis Methods
    1, 112-125; Rosner (1983), Technometrics 25, 165-172.

    Examples
    --------
    >>> women = [89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341]
    >>> men = [512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373]
    >>> whole, each = heterogeneity(*women, *men)
    >>> round(float(whole.statistic), 2), round(float(each.p[0]), 6)
    (18.98, 6.4e-05)
    """
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    held = (n_d > 0) & (n_a > 0)
    d = np.where(held, x_d / n_d - x_a / n_a, 0.0)
    n = n_d + n_a
    pooling = np.where(held, n_d * n_a / n, 0.0)

    def at(difference: Array) -> tuple[Array, Mask]:
        """Return variances where strata differ by a number, and which have data enough.

        Enough is by the fewest successes or failures that a side is expected to have.
        """
        p_d, p_a = under_difference(x_d, n_d, x_a, n_a, np.clip(difference, -1, 1))
        variance = (p_d * (1 - p_d) / n_d + p_a * (1 - p_a) / n_a) * n / (n - 1)
        expected = [n_d * p_d, n_d * (1 - p_d), n_a * p_a, n_a * (1 - p_a)]
        return variance, np.minimum.reduce(expected) >= FEWEST_EXPECTED

    common = np.asarray((pooling * d).sum(-1) / pooling.sum(-1))
    variance, _ = at(common[..., None])
    weight = np.where(held & (variance > 0), 1 / variance, 0.0)
    strata = held.sum(-1).astype(np.float64)
    against = _against_others(_Strata(d, weight, held), at, np.inf, alpha)
    return _of_all(_sums(weight, d), strata), against


def smallest_outlying(found: Outlying, alpha: float, most: float = 1.0) -> Array:
    """Return the distance from the others that each stratum would be named from, with 80% power.

    It is nan where they cannot differ by so much: a stratum among few that vary is never named.

    Parameters
    ----------
    found : Outlying
    alpha : float
        The level of all tests together.
    most : float
        By how much strata can differ: rates by 1, means by any number.
    """
    from scipy.special import ndtri, stdtrit

    tests = np.maximum(np.isfinite(found.z).sum(-1), 1)[..., None]
    every, at = np.unique(found.degrees, return_inverse=True)  # of rates two, of which t is slow
    normal, tail = np.isinf(every), 1 - alpha / tests / 2
    degrees = np.where(normal, 1.0, every)
    reach = np.where(
        normal, ndtri(tail) + ndtri(_POWER), stdtrit(degrees, tail) + stdtrit(degrees, _POWER)
    )
    reach = np.take_along_axis(reach, at.reshape(found.degrees.shape), -1)
    smallest = reach * found.error
    return np.where(np.isfinite(found.z) & (smallest <= most), smallest, np.nan)


@quiet
def heterogeneity_of_means(
    difference: ArrayLike,
    v_d: ArrayLike,
    v_a: ArrayLike,
    n_d: ArrayLike,
    n_a: ArrayLike,
    alpha: float = 0.0,
) -> tuple[HeterogeneityTest, Outlying]:
    """Test whether differences of means vary over strata, and each stratum against all others.

    Variances of few rows are uncertain, so that the small ones among them would let differences
    seem to vary; the statistic allows for it, and has the distribution F of Welch.

    Parameters
    ----------
    difference : array-like of shape (S,)
    v_d, v_a, n_d, n_a : array-like of shape (S,)
        Variances and rows of both sides; strata whose variances are 0 are excluded.
    alpha : float
        The level of the test of one stratum, at which it is outlying; 0 if none is to be.

    References
    ----------
    Welch (1951), Biometrika 38, 330-336.

    Examples
    --------
    >>> rows, variances = [50, 50, 50, 0], [0.5, 0.5, 0.5, 0]
    >>> whole, each = heterogeneity_of_means([0, 0, 4, 9], variances, variances, rows, rows)
    >>> round(float(whole.statistic), 2), round(float(whole.p), 4)
    (10.67, 0.0056)
    """
    from scipy.special import fdtrc

    d, v_d, v_a, n_d, n_a = floats(difference, v_d, v_a, n_d, n_a)
    held = np.isfinite(d) & (v_d + v_a > 0)
    variance = np.where(held, v_d + v_a, 0.0)
    weight = np.where(held, 1 / variance, 0.0)
    strata, d = held.sum(-1).astype(np.float64), np.where(held, d, 0.0)
    sums = _sums(weight, d)
    found = _of_all(sums, strata)
    # of freedom (Satterthwaite), which two rows of the prior add to
    degrees = variance**2 / (v_d**2 / (n_d + 1) + v_a**2 / (n_a + 1))
    share = weight / weight.sum(-1)[..., None]
    uncertain = np.where(held, (1 - share) ** 2 / degrees, 0.0).sum(-1) / (strata**2 - 1)
    ratio = found.statistic / (strata - 1) / (1 + 2 * (strata - 2) * uncertain)
    p = fdtrc(strata - 1, 1 / (3 * uncertain), ratio)
    named = held & (np.minimum(n_d, n_a) >= FEWEST_ROWS)
    strata_of = _Strata(d, weight, held)
    each = _against_others(strata_of, lambda _: (variance, named), degrees, alpha)
    return found._replace(p=np.where(strata > 1, p, np.nan)), each


def _sums(weight: Array, d: Array) -> list[Array]:
    return [np.asarray((weight**k * d**j).sum(-1)) for k, j in ((1, 0), (1, 1), (1, 2), (2, 0))]


def _of_all(sums: Sequence[Array], strata: Array) -> HeterogeneityTest:
    statistic, spread = _spread(sums, strata)
    return HeterogeneityTest(
        np.where(strata > 1, statistic, np.nan),
        strata - 1,
        np.where(strata > 1, chi_square_tail(statistic, np.maximum(strata - 1, 1.0)), np.nan),
        np.where(strata > 1, np.sqrt(spread), np.nan),
    )


class _Strata(NamedTuple):
    """Differences of strata, and their weights, 0 where a side has no rows; shape (..., S)."""

    difference: Array
    weight: Array
    held: Mask


class _Others(NamedTuple):
    """What each stratum is compared with: other strata, and the spread that they are weighed with.

    Attributes
    ----------
    strata, mean, error2, spread : how many these are, their mean, its variance, and the variance of
        their true differences; arrays of shape (..., S).
    removed : how many more extreme strata are not among them.
    """

    strata: Array
    mean: Array
    error2: Array
    spread: Array
    removed: Array


_Tested = Callable[[Array], tuple[Array, Mask]]
"""Returns the variances of strata that do not differ from a mean, and which have data enough."""


def _against_others(strata: _Strata, at: _Tested, degrees: ArrayLike, alpha: float) -> Outlying:
    """Return each stratum against the others, of which none differs at the level ``alpha``.

    Those that differ are found from the most extreme ones down, then tested again until none is
    among the others of another. ``degrees`` are those of freedom of the variances.
    """
    named = np.zeros_like(strata.held)
    found = _compared(strata, _all_but(strata, named), at, degrees)
    if alpha == 0:
        return found
    differ = _extreme(strata, found.p, at, degrees, alpha)
    for _ in range(_MOST_STEPS):
        if (differ == named).all():
            break
        named = differ
        found = _compared(strata, _all_but(strata, named), at, degrees)
        differ = found.p < alpha
    return found


def _compared(strata: _Strata, others: _Others, at: _Tested, degrees: ArrayLike) -> Outlying:
    """Return each stratum against its others.

    Where these do not vary the distance is normal; of others without more extreme strata, which
    would make them seem not to, it is Student's.
    """
    d, _, held = strata
    variance, enough = at(others.mean)
    tested = held & enough & (others.strata + others.removed >= FEWEST_STRATA - 1)
    error = np.sqrt(variance + others.spread + others.error2)
    z = np.where(tested, (d - others.mean) / error, np.nan)
    estimated = (others.spread > 0) | (others.removed > 0)
    of_others = np.maximum(others.strata - 1, 1.0)
    degrees = np.where(estimated, np.minimum(degrees, of_others), degrees)
    p = np.where(np.isinf(degrees), two_sided(np.minimum(np.abs(z), 37.0)), _t_tail(z, degrees))
    return Outlying(
        np.where(held, d, np.nan),
        error,
        np.where(held & (others.strata > 0), others.mean, np.nan),
        z,
        np.where(tested, p, np.nan),
        degrees,
    )


def _all_but(strata: _Strata, named: Mask) -> _Others:
    """Return all other strata of each, without those that are named."""
    d, weight, held = strata
    weight, kept = np.where(named, 0.0, weight), held & ~named
    own = (weight, weight * d, weight * d**2, weight**2)
    rest = [total[..., None] - mine for total, mine in zip(_sums(weight, d), own, strict=True)]
    others = kept.sum(-1)[..., None] - kept.astype(np.float64)
    removed = named.sum(-1)[..., None] - named.astype(np.float64)
    _, spread = _spread(rest, others)
    spread = spread / _variance_of_central(removed, others + removed)
    total, moment = _leave_one_out(weight, d, spread)  # weighed with their spread
    return _Others(others, moment / total, 1 / total, spread, removed)


def _extreme(strata: _Strata, p: Array, at: _Tested, degrees: ArrayLike, alpha: float) -> Mask:
    """Return the most extreme strata, down to the last that differs from all less extreme ones.

    Several that differ raise the spread, so that each seems usual beside the others. Up to a
    quarter of the strata are removed one after another, and tested from the largest set down
    (Rosner), in the order of their distance from the median.
    """
    d, weight, held = strata
    tested = np.isfinite(p)
    variance = np.where(weight > 0, 1 / weight, np.inf)
    order = np.argsort(-_from_median(d, variance, tested), axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1).astype(np.float64)
    of_all = held.sum(-1)[..., None].astype(np.float64)
    most = np.minimum(tested.sum(-1)[..., None] // _REMOVED, of_all - FEWEST_STRATA + 1)
    most = np.minimum(most, _MOST_REMOVED)
    mean, error2, spreads = np.zeros((3, *d.shape))
    others = _Others(of_all - rank - 1, mean, error2, spreads, rank)
    for removed in range(int(most.max(initial=0))):
        place = order[..., removed : removed + 1]
        weight = np.where(rank <= removed, 0.0, weight)
        left = of_all - removed - 1
        _, spread = _spread([each[..., None] for each in _sums(weight, d)], left)
        spread = spread / _variance_of_central(np.asarray(float(removed)), of_all - 1)
        random = np.where(weight > 0, 1 / (variance + spread), 0.0)
        total, moment = (each.sum(-1, keepdims=True) for each in (random, random * d))
        values = moment / total, 1 / total, spread
        for every, value in zip((mean, error2, spreads), values, strict=True):
            np.put_along_axis(every, place, value, -1)
    differs = (rank < most) & (_compared(strata, others, at, degrees).p < alpha)
    return np.asarray(rank <= np.where(differs, rank, -1).max(-1, keepdims=True))


def _from_median(d: Array, variance: Array, tested: Mask) -> Array:
    """Return how far strata are from the median in standard deviations, -1 of those not tested.

    The spread is that of which half of all distances are smaller, so that few move neither.
    """

    def median(values: Array) -> Array:
        ordered = np.sort(np.where(tested, values, np.inf), axis=-1)
        middle = np.maximum(tested.sum(-1, keepdims=True) - 1, 0) // 2
        return np.take_along_axis(ordered, middle, -1)

    distance = np.abs(d - median(d))
    spread = np.maximum(median(distance**2 / _MEDIAN_OF_SQUARE - variance), 0.0)
    return np.where(tested, distance / np.sqrt(variance + spread), -1.0)


def _variance_of_central(removed: Array, of: Array) -> Array:
    """Return the variance of standard normal numbers without so many of the most extreme.

    >>> _variance_of_central(np.array([0.0, 5.0]), np.array([100.0, 100.0])).round(3)
    array([1.   , 0.759])
    """
    from scipy.special import ndtri

    share = np.where(removed > 0, removed / np.maximum(of, 1.0), 0.5)
    end = ndtri(1 - share / 2)
    density = np.exp(-(end**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(removed > 0, 1 - 2 * end * density / (1 - share), 1.0)


def _leave_one_out(weight: Array, d: Array, tau2: Array) -> tuple[Array, Array]:
    """Return sums over the others of their weights with a spread, and of these times d.

    The spread differs with the stratum that is omitted, of many strata little: the sums are then
    Taylor series about its median, exact to rounding. Other strata are worked off one by one.
    """
    variance = np.where(weight > 0, 1 / weight, np.inf)
    middle = np.median(tau2, axis=-1, keepdims=True)
    about = 1 / (variance + middle)
    most = about.max(-1, keepdims=True)
    step = (middle - tau2) * most
    total, moment = np.zeros_like(step), np.zeros_like(step)
    for k in reversed(range(_TERMS)):  # Horner's scheme
        power = about * (about / most) ** k
        total = total * step + power.sum(-1, keepdims=True)
        moment = moment * step + (power * d).sum(-1, keepdims=True)
    own = 1 / (variance + tau2)
    total, moment = total - own, moment - own * d
    far = ~(np.abs(step) < _NEAR)
    for s in np.flatnonzero(far.reshape(-1, weight.shape[-1]).any(0)):
        with_spread = 1 / (variance + tau2[..., s : s + 1])
        with_spread[..., s] = 0.0
        total[..., s] = with_spread.sum(-1)
        moment[..., s] = (with_spread * d).sum(-1)
    return total, moment


def _spread(sums: Sequence[Array], strata: Array) -> tuple[Array, Array]:
    w, wd, wdd, ww = sums
    statistic = np.maximum(wdd - wd**2 / w, 0.0)
    excess = (statistic - (strata - 1)) / (w - ww / w)
    return statistic, np.where(strata > 1, np.maximum(np.nan_to_num(excess), 0.0), 0.0)


def _t_tail(z: Array, degrees: Array) -> Array:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(np.maximum(degrees, 1.0), -np.abs(z)))
