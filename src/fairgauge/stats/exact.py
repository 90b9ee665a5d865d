"""Boschloo's exact test of two rates, and exact limits of a rate, a difference and a ratio.

Intervals made for estimates (Newcombe's, MOVER's) are right on average over sample sizes and rates.
A promise that must hold at every one of them, such as the false alarm rate of a monitor whose
baseline is itself an estimate, needs limits whose coverage is never below the level.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, floats, quiet, whole_counts
from fairgauge.stats.intervals import exact_rate_limits

if TYPE_CHECKING:
    from fairgauge.stats.sequential import Contrasted


def boschloo(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return Boschloo's exact unconditional p-value: twice the smaller one-sided one, at most 1.

    NaN where a group is empty.

    Raises ``ValueError``: when a count is not whole (exact tests need counts, not effective sample
        sizes), or when there are more successes than trials.

    >>> round(float(boschloo(7, 25, 2, 25)), 4)
    0.0786
    """
    # Its size never exceeds the level, and it is uniformly more powerful than Fisher's test.
    # Boschloo (1970), Statistica Neerlandica 24(1).
    from scipy.stats import boschloo_exact

    tables = np.stack(whole_counts("Boschloo's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    if np.any((tables[..., 0] > tables[..., 1]) | (tables[..., 2] > tables[..., 3])):
        raise ValueError("Boschloo's test needs no more successes than trials")
    distinct, index = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    p = [
        min(boschloo_exact([[a, b], [n - a, m - b]], n=64).pvalue, 1.0) if n and m else np.nan
        for a, n, b, m in distinct.tolist()
    ]
    return np.asarray(p, dtype=np.float64)[index.reshape(tables.shape[:-1])]


# steps in which an error is divided between two rates; more would narrow limits by under 1 %.
_STEPS = 240


@quiet
def exact_limits(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike, alpha: ArrayLike,
    comparison: Contrasted = "difference",
) -> Limits:  # fmt: skip
    """Return confidence limits of d - a, d / a or d whose coverage is at least 1 - alpha.

    A group may be empty; the upper limit of a ratio is infinite where the denominator may be 0.

    >>> low, high = exact_limits(30, 100, 120, 400, 0.05)
    >>> round(float(low), 3), round(float(high), 3)
    (-0.113, 0.127)
    """
    # For one rate they are those of Clopper and Pearson. For two, let p_d and p_a be the p-values
    # of the one-sided binomial tests of the two rates towards the limit. They are independent and
    # stochastically no smaller than uniform, so that P(p_d p_a <= k) <= k (1 - ln k) (Fisher's
    # combination). With k such that this is alpha / 2, the rates with p_d p_a > k are a confidence
    # region, and the limit is the contrast's extreme value over it. The region is searched in cells
    # of p_d, in each of which both rates take their extremes, so that no value is missed.
    # Clopper & Pearson (1934), Biometrika 26, 404-413; Fisher (1932), Statistical Methods for
    # Research Workers, section 21.1; Buehler (1957), JASA 52, 482-493.
    x_d, n_d, x_a, n_a, alpha = floats(x_d, n_d, x_a, n_a, alpha)
    if comparison == "rate":
        return exact_rate_limits(x_d, n_d, alpha / 2)
    from scipy.special import lambertw  # when needed

    # k with P(p q <= k) = k (1 - ln k) = alpha / 2 for two independent uniform p-values
    product = np.exp(1 + np.real(lambertw(-alpha / 2 / np.e, k=-1)))
    tails = np.exp(np.linspace(1.0, 0.0, _STEPS + 1).reshape(-1, *(1,) * alpha.ndim)
                   * np.log(product))  # fmt: skip
    of_d, of_a = tails[:-1], np.minimum(product / tails[1:], 1.0)
    furthest = np.subtract if comparison == "difference" else np.divide
    low_d, high_d = exact_rate_limits(x_d, n_d, of_d)
    low_a, high_a = exact_rate_limits(x_a, n_a, of_a)
    return furthest(low_d, high_a).min(axis=0), furthest(high_d, low_a).max(axis=0)


MOST_SELECTIONS = 200_000
"""Numbers of selections beyond which no exact test is made."""
_SLACK = 1 + 1e-7  # numbers this close to the observed one in probability count as equally likely


def expected_selections(
    n: ArrayLike, n_reference: ArrayLike, selected_of_both: ArrayLike
) -> tuple[float, float]:
    """Return the mean and the variance of a group's selections if nobody's group matters.

    Of the applicants of the group and of the reference, and the selections of both, in each
    requisition.

    >>> mean, variance = expected_selections([100], [100], [100])
    >>> mean, round(variance, 4)
    (50.0, 12.5628)
    """
    n, m, s = floats(n, n_reference, selected_of_both)
    people = np.maximum(n + m, 1.0)
    variance = n * m * s * (people - s) / (people**2 * np.maximum(people - 1, 1.0))
    return float((n * s / people).sum()), float(variance.sum())


def exact_selection_test(
    n: ArrayLike, n_reference: ArrayLike, selected: ArrayLike, selected_reference: ArrayLike
) -> float | None:
    """Return the two-sided exact p-value of the selections of a group, given those of both sides.

    Of whole numbers in each requisition; None where there are more than `MOST_SELECTIONS`.

    >>> round(exact_selection_test([10], [12], [2], [9]), 6)
    0.029973
    """
    # It sums the probabilities of all numbers of selections that are at most as likely as the
    # observed one: in one requisition Fisher's exact test.
    from scipy.stats import hypergeom

    sides = floats(n, n_reference, selected, selected_reference)
    n, m, s, t = (np.atleast_1d(side).astype(int) for side in sides)
    low, high = np.maximum(0, s + t - m), np.minimum(n, s + t)
    if (high - low).sum() > MOST_SELECTIONS:
        return None
    each = (
        hypergeom(n_ + m_, n_, both).pmf(np.arange(low_, high_ + 1))
        for n_, m_, both, low_, high_ in zip(n, m, s + t, low, high, strict=True)
    )
    likely = reduce(np.convolve, each, np.ones(1))
    observed = likely[int((s - low).sum())]
    return float(min(1.0, likely[likely <= observed * _SLACK].sum()))
