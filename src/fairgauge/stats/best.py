"""Every group against the best one, which the data themselves choose: simultaneous intervals.

The best of many equal groups looks better than it is, so that a comparison with it as with a group
chosen beforehand rejects equality far too often. Hsu's constrained intervals ("multiple comparisons
with the best") answer whether a group may be the best, but call equal groups "not the best" freely:
their upper end 0 makes no claim. Here the upper end does: both ends hold simultaneously at Tukey's
critical value, whichever group is truly the best.

Groups lie along the last axis; a group without an estimate takes no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient
from fairgauge.stats.contrasts import mover_difference, mover_ratio
from fairgauge.stats.intervals import wilson
from fairgauge.stats.many import tukey_critical, tukey_p
from fairgauge.stats.significance import invert_z

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from fairgauge.stats.power import Comparison


class WithBest(NamedTuple):
    """Every group compared with the best; arrays of shape (..., G), `best` of shape (...).

    Attributes
    ----------
    best : array of int
        Position of the group with the best estimate, the first of several; -1 without groups.
    estimate : array
        Group minus best, or group over best.
    low, high : array
        Simultaneous interval of the group minus (over) the *truly* best group, whichever that is.
        Where the highest is best, it never exceeds 0 (1).
    p : array
        Adjusted p-value, at which the interval touches 0 (1); 1 for the best itself.
    """

    best: NDArray[np.intp]
    estimate: Array
    low: Array
    high: Array
    p: Array


def rates_with_best(
    x: ArrayLike,
    n: ArrayLike,
    confidence: float,
    comparison: Comparison = "difference",
    best: Literal["highest", "lowest"] = "highest",
) -> WithBest:
    """Compare every group's rate with the best group's.

    Parameters
    ----------
    x, n : array-like of shape (..., G)
        Successes and trials; a group without trials takes no part and gets nan.
    confidence : float in (0, 1)
        Probability that all intervals cover at once.
    comparison : {"difference", "ratio"}
    best : {"highest", "lowest"}
        Which rate is the best.

    Returns
    -------
    compared : WithBest

    References
    ----------
    Hsu (1984), Annals of Statistics 12, 1136-1144; Edwards & Hsu (1983), JASA 78, 965-971 (how
    intervals of all pairs give those of comparisons with the best).

    Examples
    --------
    >>> found = rates_with_best([40, 26, 52], [100, 100, 100], 0.95)
    >>> int(found.best), found.low.round(3).tolist(), found.high.round(3).tolist()
    (2, [-0.275, -0.403, -0.044], [0.0, -0.098, 0.0])
    """
    x, n = floats(x, n)
    side = x[..., None, :], n[..., None, :]
    return with_best(quotient(x, n), lambda z: wilson(*side, z), confidence, comparison, best)


@quiet
def with_best(
    estimate: ArrayLike,
    interval: Callable[[Array], Limits],
    confidence: float,
    comparison: Comparison = "difference",
    best: Literal["highest", "lowest"] = "highest",
) -> WithBest:
    """Compare every group's statistic with the best group's, by MOVER of each pair.

    Parameters
    ----------
    estimate : array-like of shape (..., G)
        nan for a group that takes no part.
    interval : callable
        From critical values of shape (..., G, 1), one for each group that is compared, to the
        limits of every group at them, of shape (..., G, G); the groups must be independent.
    confidence : float in (0, 1)
    comparison : {"difference", "ratio"}
        A ratio is of statistics that are not negative.
    best : {"highest", "lowest"}

    Returns
    -------
    compared : WithBest

    Notes
    -----
    With all pairs covered, ``theta_i - theta_j >= low_ij`` for every j, hence for the best one, and
    ``theta_i - max theta <= theta_i - theta_j <= high_ij``: the smallest lower and the smallest
    upper limit of a group's pairs are limits of its comparison with the best.

    Examples
    --------
    >>> rates, n = np.array([0.3, 0.5]), np.array([100, 100])
    >>> found = with_best(rates, lambda z: wilson(rates * n, n, z), 0.95, "ratio")
    >>> found.estimate.tolist(), found.high.round(3).tolist()
    ([0.6, 1.0], [0.852, 1.0])
    """
    (value,) = floats(estimate)
    part = ~np.isnan(value)
    groups = np.count_nonzero(part, axis=-1)
    sign = 1.0 if best == "highest" else -1.0
    chosen = np.argmax(np.where(part, sign * value, -np.inf), axis=-1)
    pairs = part[..., :, None] & part[..., None, :] & ~np.eye(value.shape[-1], dtype=bool)
    neutral = 0.0 if comparison == "difference" else 1.0

    def ends(z: Array) -> tuple[Array, ...]:
        limits = interval(np.broadcast_to(z, value.shape)[..., None])
        low, high = _pairs(value, limits, comparison)
        if best == "highest":
            return tuple(np.where(pairs, end, np.inf).min(axis=-1) for end in (low, high))
        return tuple(np.where(pairs, end, -np.inf).max(axis=-1) for end in (low, high))

    towards = np.minimum if best == "highest" else np.maximum
    critical = tukey_critical(groups, confidence)[..., None]
    low, high = (towards(end, neutral) for end in ends(critical))
    z = invert_z(lambda z: _touching(ends(z), best), neutral)
    reference = np.take_along_axis(value, chosen[..., None], axis=-1)
    compared = value - reference if comparison == "difference" else quotient(value, reference)
    outputs = (compared, low, high, tukey_p(np.where(part, z, 0.0), groups[..., None] + 0 * z))
    return WithBest(
        np.where(groups > 0, chosen, -1), *(np.where(part, each, np.nan) for each in outputs)
    )


def _pairs(value: Array, limits: Limits, comparison: Comparison) -> Limits:
    """Return the limits of every ordered pair; arrays of shape (..., G, G)."""
    shape = (*value.shape, value.shape[-1])
    low, high = (np.broadcast_to(end, shape) for end in limits)  # of the second of the pair
    own_low, own_high = (np.diagonal(end, axis1=-2, axis2=-1)[..., None] for end in (low, high))
    contrast = mover_difference if comparison == "difference" else mover_ratio
    return contrast(value[..., None], own_low, own_high, value[..., None, :], low, high)


def _touching(ends: tuple[Array, ...], best: str) -> Limits:
    """Return the one-sided interval whose end may exclude equality."""
    if best == "highest":
        return np.full(ends[1].shape, -np.inf), ends[1]
    return ends[0], np.full(ends[0].shape, np.inf)
