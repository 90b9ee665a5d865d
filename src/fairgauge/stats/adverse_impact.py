"""Tests of selections given how many were selected: one table, or one for each requisition.

Given the numbers of applicants of both sides and of all who were selected, the selections of a
group are hypergeometric if nobody's group matters; over requisitions, a sum of such. Zelen, 1971,
and Mehta, Patel and Gray, 1985.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import floats

MOST_SELECTIONS = 200_000
"""Numbers of selections beyond which no exact test is made."""
_SLACK = 1 + 1e-7  # numbers this close to the observed one in probability count as equally likely


def expected_selections(
    n: ArrayLike, n_reference: ArrayLike, selected_of_both: ArrayLike
) -> tuple[float, float]:
    """Return the mean and the variance of a group's selections if nobody's group matters.

    Parameters
    ----------
    n, n_reference, selected_of_both : array-like of whole numbers
        Applicants of the group and of the reference, and selections of both, in each requisition.

    Examples
    --------
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

    It sums the probabilities of all numbers of selections that are at most as likely as the
    observed one: in one requisition Fisher's exact test.

    Parameters
    ----------
    n, n_reference, selected, selected_reference : array-like of whole numbers
        Applicants and selections of both sides in each requisition.

    Returns
    -------
    float or None
        None where there are more than `MOST_SELECTIONS`.

    Examples
    --------
    >>> round(exact_selection_test([10], [12], [2], [9]), 6)
    0.029973
    """
    from scipy.stats import hypergeom

    sides = floats(n, n_reference, selected, selected_reference)
    n, m, s, t = (np.atleast_1d(each).astype(int) for each in sides)
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
