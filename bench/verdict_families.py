"""Verdicts by one-sided p-values at the limits of rules, adjusted by Holm: a check of the audit's.

The audit measures again at Holm's levels instead (`fairgauge.measure.decide`), which needs no
p-value at a limit and holds for every metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats
from fairgauge.stats.intervals import tail_of
from fairgauge.stats.multiplicity import holm
from fairgauge.stats.significance import invert_z

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from fairgauge.stats.arrays import Limits


class VerdictP(NamedTuple):
    """One-sided p-values of a verdict.

    Attributes
    ----------
    fails : array
        Of the value inside the limits or on one: below half of 1 - confidence, the rule fails.
    passes : array
        Of the value outside the limits or on one: below the same, the rule passes.
    """

    fails: Array
    passes: Array


class FamilyVerdicts(NamedTuple):
    """Verdicts of one family; what neither passes nor fails is inconclusive."""

    fails: NDArray[np.bool_]
    passes: NDArray[np.bool_]


def verdict_p(
    interval: Callable[[Array], Limits], estimate: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> VerdictP:
    """Return the one-sided p-values at which an interval reaches the limits of a rule.

    So p-values and verdicts agree: with one rule and one group, the rule fails exactly where the
    interval lies outside its limits, and passes where it lies inside.

    Parameters
    ----------
    interval : callable
        From a critical value z to (low, high), as for `significance.invert_z`.
    estimate : array-like
        nan gives nan.
    lower, upper : array-like
        The rule's limits; an infinite one is never reached.

    Returns
    -------
    p : VerdictP

    Examples
    --------
    >>> from fairgauge.stats.contrasts import newcombe
    >>> p = verdict_p(lambda z: newcombe(56, 70, 48, 80, z), 0.2, -0.1, 0.1)
    >>> round(float(p.fails), 3), float(p.passes)
    (0.09, 1.0)
    """
    value, lower, upper = floats(estimate, lower, upper)
    below = _beyond(interval, value, lower)  # how surely the value is above the lower limit
    above = _beyond(interval, value, upper)
    inside = (value >= lower) & (value <= upper)
    p_below, p_above = (_tail(np.abs(z)) for z in (below, above))
    fails = np.where(inside, 1.0, np.where(value < lower, p_below, p_above))
    passes = np.where(inside, np.maximum(p_below, p_above), 1.0)
    undefined = np.isnan(value)
    return VerdictP(np.where(undefined, np.nan, fails), np.where(undefined, np.nan, passes))


def family_verdicts(p: VerdictP, confidence: float) -> FamilyVerdicts:
    """Return the verdicts of one family of rules, groups and classes, adjusted by Holm.

    Each of both directions has the family-wise error of a single verdict, half of 1 - confidence.
    That *all* pass needs no adjustment (an intersection-union test): compare the largest unadjusted
    p-value of passing.

    Parameters
    ----------
    p : VerdictP
        p-values along the last axis; nan takes no part.
    confidence : float in (0, 1)

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70; Berger (1982), Technometrics 24,
    295-300 (intersection-union).

    Examples
    --------
    >>> found = family_verdicts(VerdictP([0.02, 0.3, 1.0], [1.0, 1.0, 0.001]), 0.95)
    >>> found.fails.tolist(), found.passes.tolist()
    ([False, False, False], [False, False, True])
    """
    tail = tail_of(confidence)
    return FamilyVerdicts(holm(p.fails) < tail, holm(p.passes) < tail)


def _beyond(interval: Callable[[Array], Limits], value: Array, limit: Array) -> Array:
    """Return the critical value at which the interval reaches a limit; inf where that is."""
    finite = np.isfinite(limit)
    at = np.where(finite, limit, value)
    return np.where(finite, invert_z(interval, at), np.inf)


def _tail(z: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(-z))
