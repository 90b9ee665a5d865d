"""Conditional demographic disparity: a score interval that thin strata do not spoil.

A stratum's disparity is a difference of two rates, the group's share of the rejected less its share
of the accepted, so that their weighted sum is a pooled difference of rates over strata, for which
`stratified.stratified_difference` is right with few large strata and with many thin ones. There is
no prior that could outweigh the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import floats, quotient
from fairgauge.stats.stratified import Stratified, stratified_difference

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def conditional_disparity(group: ArrayLike, others: ArrayLike, z: ArrayLike) -> Stratified:
    """Limits of the group's share of the rejected less its share of the accepted, over strata.

    Parameters
    ----------
    group, others : array-like of shape (..., S, 2)
        Accepted and rejected rows of the group, and of all others, in every stratum. A stratum
        without accepted or without rejected rows takes no part, as in the statistic.
    z : array-like of shape (...), >= 0

    Returns
    -------
    limits : Stratified
        Arrays of shape (...); nan where no stratum takes part. The p-value is that of no disparity
        in any stratum.

    References
    ----------
    Wachter, Mittelstadt & Russell (2021), Computer Law & Security Review 41, 105567 (the
    statistic); Sato (1989), Biometrics 45, 1323-1324; Klingenberg (2014), Statistics in Medicine
    33, 2968-2983 (the interval).

    Examples
    --------
    >>> low, high, p = conditional_disparity([[20, 30], [10, 40]], [[40, 30], [60, 60]], 1.959964)
    >>> round(float(low), 4), round(float(high), 4), round(float(p), 4)
    (0.1123, 0.3199, 0.0001)
    """
    ours, theirs = floats(group, others)
    both = ours + theirs
    part = (both > 0).all(axis=-1)
    rows = np.where(part, both.sum(-1), 0.0)
    weights = quotient(rows, rows.sum(-1, keepdims=True))
    limits = stratified_difference(
        ours[..., 1], both[..., 1], ours[..., 0], both[..., 0], weights, z
    )
    known = part.any(axis=-1)
    return Stratified(*(np.where(known, each, np.nan) for each in limits))
