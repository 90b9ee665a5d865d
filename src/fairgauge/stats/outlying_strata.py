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
    others : the mean difference of the other strata.
    z : the distance from it in standard errors.
    p : of no difference from the others.
    degrees : of the t distribution of z; infinite where the others do not vary.
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
    against = _against_others(_Strata(d, weight, held), at, np.inf)
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
) -> tuple[HeterogeneityTest, Outlying]:
    """Test whether differences of means vary over strata, and each stratum against all others.

    Variances of few rows are uncertain, so that the small ones among them would let differences
    seem to vary; the statistic allows for it, and has the distribution F of Welch.

    Parameters
    ----------
    difference : array-like of shape (S,)
    v_d, v_a, n_d, n_a : array-like of shape (S,)
        Variances and rows of both sides; strata whose variances are 0 are excluded.

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
    each = _against_others(strata_of, lambda _: (variance, named), degrees)
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


_Tested = Callable[[Array], tuple[Array, Mask]]
"""Returns the variances of strata that do not differ from a mean, and which have data enough."""


def _against_others(strata: _Strata, at: _Tested, degrees: ArrayLike) -> Outlying:
    """Return each stratum against all others, weighed with the spread of these.

    Where these do not vary the distance is normal, else Student's. ``degrees`` are those of freedom
    of the variances.
    """
    d, weight, held = strata
    own = (weight, weight * d, weight * d**2, weight**2)
    rest = [total[..., None] - mine for total, mine in zip(_sums(weight, d), own, strict=True)]
    others = held.sum(-1)[..., None] - held.astype(np.float64)
    _, spread = _spread(rest, others)
    total, moment = _leave_one_out(weight, d, spread)
    mean = moment / total
    variance, enough = at(mean)
    tested = held & enough & (others >= FEWEST_STRATA - 1)
    error = np.sqrt(variance + spread + 1 / total)
    z = np.where(tested, (d - mean) / error, np.nan)
    degrees = np.where(spread > 0, np.minimum(degrees, np.maximum(others - 1, 1.0)), degrees)
    p = np.where(np.isinf(degrees), two_sided(np.minimum(np.abs(z), 37.0)), _t_tail(z, degrees))
    return Outlying(
        np.where(held, d, np.nan),
        error,
        np.where(held & (others > 0), mean, np.nan),
        z,
        np.where(tested, p, np.nan),
        degrees,
    )


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
