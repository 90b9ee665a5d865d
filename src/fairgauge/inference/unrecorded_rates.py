"""Rates of groups of which only probabilities are known, by every estimator, and their contrasts.

The critical value ``z`` is the normal one; each estimator takes the t quantile of the same tail
where its variance has few degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from fairgauge.enums import Estimator, IntervalMethod
from fairgauge.resolve.unrecorded_counts import RateCells
from fairgauge.stats import intervals
from fairgauge.stats.arrays import Array, Limits, Mask
from fairgauge.stats.contrasts import mover_difference, mover_ratio
from fairgauge.stats.group_mixture import (
    FEWEST_IN_CELL,
    GroupMixture,
    LinearRates,
    ProfileCurve,
    SharpBounds,
    StratifiedMixture,
    design_effect,
    lack_of_fit_test,
    merged_cells,
    sharp_bounds,
    validated_rates,
)
from fairgauge.stats.intervals import critical, t_from_z, wilson_trials
from fairgauge.stats.significance import chi_square_tail, invert

By = Literal["difference", "ratio", "deviations"]
Ends = tuple[float, float]

# the method by which the interval of each estimator is named
_METHODS: Mapping[Estimator, IntervalMethod] = {
    Estimator.LIKELIHOOD: IntervalMethod.PROFILE_LIKELIHOOD,
    Estimator.BOUNDS: IntervalMethod.SHARP_BOUNDS,
    Estimator.VALIDATED: IntervalMethod.VALIDATED_SAMPLE,
    Estimator.REGRESSION: IntervalMethod.PROBABILITY_REGRESSION,
    Estimator.WEIGHTED: IntervalMethod.PROBABILITY_WEIGHTS,
}
# the width of a set that is a single value
_POINT = 1e-12
# of the intervals whose width is compared, at any level that is asked for
_WIDTH_Z = critical(0.95)


class RateEstimator(Protocol):
    """Estimates a rate of every side, and contrasts of two sides."""

    def value(self, side: int) -> float:
        """Return the rate of a side; NaN where there is a range alone."""

    def limits(self, side: int, z: float) -> Ends:
        """Return the confidence limits of the rate of a side."""

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        """Return the confidence limits of a contrast of two sides."""


class PreciseEstimator(RateEstimator, Protocol):
    """Also knows how precise it is; contrasts have MOVER's limits."""

    def effective_people(self, side: int) -> float:
        """Return of how many people of known group the rate of a side is as precise."""

    def correlation(self, one: int, other: int) -> float:
        """Return the correlation of the rates of two sides."""

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        rates = self.value(one), self.value(other)
        limits = self.limits(one, z), self.limits(other, z)
        return _mover_of_rates(by, rates, limits, self.correlation(one, other))


def contrast_value(by: By, one: float, other: float) -> float:
    """Return the difference or the ratio of two rates; NaN where it is 0/0."""
    if by == "difference":
        return one - other
    if other > 0:
        return one / other
    return float("inf") if one > 0 else float("nan")


def extremes(by: By, ours: Ends, theirs: Ends) -> Ends:
    """Return the least and the greatest contrast of two rates that are each in a range."""
    if by == "difference":
        return ours[0] - theirs[1], ours[1] - theirs[0]
    low = ours[0] / theirs[1] if theirs[1] > 0 else 0.0
    return low, ours[1] / theirs[0] if theirs[0] > 0 else float("inf")


def p_value(estimator: RateEstimator, by: By, one: int, other: int) -> float:
    """Return the level at which the interval of a contrast touches no difference."""
    null = 1.0 if by == "ratio" else 0.0

    def interval(z: Array) -> Limits:
        low, high = estimator.contrast(by, one, other, float(z))
        return np.asarray(low), np.asarray(high)

    return float(invert(interval, null))


class UnrecordedRate:
    """One rate of every side: groups, then the others of each, then all rows.

    ``cells``: the rows with probabilities.
    ``everyone``: all rows, if some have none and a random sample makes an estimate of all.
    """

    assumed: ClassVar[Estimator] = Estimator.LIKELIHOOD
    alternatives: ClassVar[tuple[Estimator, ...]] = (
        Estimator.VALIDATED, Estimator.LIKELIHOOD, Estimator.BOUNDS,
    )  # fmt: skip

    def __init__(self, cells: RateCells, everyone: RateCells | None = None) -> None:
        self.cells, self._everyone = cells, everyone
        self.groups = cells.p.shape[1]
        one = np.eye(self.groups, dtype=bool)
        self.sides = np.concatenate([one, ~one, np.ones((1, self.groups), dtype=bool)])
        self.total = float(cells.n[:, :2].sum())
        self.unplaced, (self.lacking, self._lacking_weight) = cells.unplaced, cells.lacking

    contrast_value = staticmethod(contrast_value)
    extremes = staticmethod(extremes)

    @property
    def alike(self) -> bool:
        """Return whether all rows have one outcome."""
        return bool((self.cells.n[:, :2].sum(axis=0) == 0).any())

    @property
    def unidentified(self) -> Mask:
        """Return the groups whose probabilities do not distinguish them."""
        return self.mixture.unidentified

    @cached_property
    def mixture(self) -> GroupMixture | StratifiedMixture:
        """Return the rates by maximum likelihood, within strata if there are any."""
        cells = self.cells
        if cells.strata is None:
            return GroupMixture(cells.p, cells.n, cells.squares, cells.clusters)
        parts = (cells.strata == stratum for stratum in np.unique(cells.strata))
        return StratifiedMixture(
            [
                GroupMixture(
                    cells.p[at], cells.n[at], None if cells.squares is None else cells.squares[at]
                )
                for at in parts
            ]
        )

    @cached_property
    def likelihood(self) -> PreciseEstimator:
        """Return what is right if outcome and probabilities are independent given the group."""
        mixture = self.mixture
        if isinstance(mixture, GroupMixture):
            return _Likelihood(mixture, self.sides, direct=self.cells.n.shape[1] == 2)
        rates = np.array([mixture.rate(side) for side in self.sides])
        sizes = np.array([mixture.denominator(side) for side in self.sides])
        n, squares = self.cells.n, self.cells.squares  # Kish's number of rows less one
        degrees = math.inf if squares is None else float(n.sum() ** 2 / squares.sum()) - 1
        return LinearEstimator(LinearRates(rates, sizes, mixture.covariance(self.sides), degrees))

    @cached_property
    def lack_of_fit(self) -> float:
        """Return the p-value of a test of whether the outcome is linear in the probabilities."""
        mixture = self.mixture
        parts = mixture.parts if isinstance(mixture, StratifiedMixture) else [mixture]
        tests = [lack_of_fit_test(part.p, part.n, part.theta) for part in parts]
        square, degrees = (sum(each[i] for each in tests) for i in range(2))
        return float(chi_square_tail(square, degrees)) if degrees else 1.0

    @cached_property
    def theta(self) -> Array:
        """Return the probability of every kind in every group, of each cell where strata differ."""
        mixture = self.mixture
        if isinstance(mixture, GroupMixture):
            return mixture.theta
        assert self.cells.strata is not None
        _, which = np.unique(self.cells.strata, return_inverse=True)
        return np.asarray(np.stack([part.theta for part in mixture.parts])[which.reshape(-1)])

    @cached_property
    def validated(self) -> LinearEstimator | None:
        """Return what a random sample of known groups makes right; None without known rows.

        By these rows alone where the probabilities do not distinguish all groups.
        """
        return self._validated_estimator(self._everyone or self.cells)

    def _validated_estimator(self, cells: RateCells) -> LinearEstimator | None:
        if cells.known is None or not cells.known.any():
            return None
        theta, p = np.ones((*cells.n.shape, self.groups)), cells.p  # even, of the last alone
        theta[: len(self.cells.p), : self.cells.n.shape[1]] = self.theta
        if self.mixture.unidentified.any():
            theta, p = np.zeros_like(theta), np.zeros_like(p)
        made = validated_rates(
            theta, p, cells.n, cells.known, self.sides, cells.squares, cells.clusters
        )
        return LinearEstimator(made)

    @cached_property
    def bounds(self) -> _Bounds:
        """Return what is right wherever the probabilities are."""
        cells = self.cells
        effect = self._design_effect
        which = merged_cells(cells.digits, cells.n.sum(axis=1), FEWEST_IN_CELL * effect)
        size = int(which.max(initial=0)) + 1
        n, p = np.zeros((size, cells.n.shape[1])), np.zeros((size, self.groups))
        np.add.at(n, which, cells.n)
        np.add.at(p, which, cells.p * cells.n.sum(axis=1, keepdims=True))
        p = p / p.sum(axis=1, keepdims=True)
        return _Bounds(sharp_bounds(p, n, self.sides, effect))

    @cached_property
    def _design_effect(self) -> float:
        return design_effect(self.cells.n, self.cells.squares, self.cells.clusters)

    def by(self, estimator: Estimator) -> RateEstimator:
        """Return the estimator of a name, of all rows whose group is known or probable.

        A random sample makes an estimate of all rows.
        """
        if estimator is Estimator.VALIDATED and self._everyone:
            return self.validated or self.bounds
        made, beside = self._probable(estimator), self.cells.beside[:, :-1]
        if not beside.any():
            return made  # type: ignore[no-any-return]
        return _Beside(made, self._sizes(made), beside @ self.sides.T, self._design_effect)

    def _probable(self, estimator: Estimator) -> Any:
        if estimator is Estimator.VALIDATED:  # a sample without these rows shows nothing of them
            return self._validated_estimator(self.cells) or self.bounds
        return self.bounds if estimator is Estimator.BOUNDS else self.likelihood

    def effective_people(self, side: int, estimator: Estimator) -> float:
        """Return of how many people of known group the rate of a side is as precise."""
        made = self.validated if estimator is Estimator.VALIDATED else self.likelihood
        assert made is not None
        return made.effective_people(side)

    def size(self, side: int, estimator: Estimator) -> float:
        """Return the expected number of people of a side among whom the rate is a share."""
        known = float(self.cells.beside[:, :-1].sum(axis=0) @ self.sides[side])
        if estimator is Estimator.VALIDATED and self._everyone and self.validated:
            return float(self.validated.rates.sizes[side])
        made = self._probable(estimator)
        if isinstance(made, _Bounds):
            return float(self.cells.sums[:2].sum(axis=0) @ self.sides[side]) + known
        return float(self._sizes(made)[0, side]) + known

    def reach(self, limits: Ends, size: float, *, unplaced: bool, outcomes: bool) -> Ends:
        """Return how far limits move, wherever rows that may be of any group are.

        With ``outcomes`` whatever the rows without one had, too.
        """
        chosen, rejected = self.cells.beside[:, -1] * unplaced
        (low, high), more = limits, self._lacking_weight * outcomes
        least, most = rejected + more, chosen + more
        return low * size / (size + least), (high * size + most) / (size + most)

    def _sizes(self, made: PreciseEstimator | _Bounds) -> Array:
        if isinstance(made, _Bounds):
            return made.sizes
        if isinstance(made, LinearEstimator):
            return np.tile(made.rates.sizes, (2, 1))
        return np.tile([self.mixture.denominator(side) for side in self.sides], (2, 1))


def methods_of(rate: Any, estimator: Estimator) -> tuple[IntervalMethod, ...]:
    """Return the methods by which the interval of an estimator is named."""
    stratified = estimator is Estimator.LIKELIHOOD and rate.cells.strata is not None
    return (_METHODS[estimator], *([IntervalMethod.STRATIFIED] if stratified else []))


class _Likelihood(PreciseEstimator):
    def __init__(self, mixture: GroupMixture, sides: Mask, *, direct: bool) -> None:
        self._mixture, self._sides, self._direct = mixture, sides, direct
        self._curves: dict[tuple[object, ...], ProfileCurve] = {}

    def value(self, side: int) -> float:
        return self._mixture.rate(self._sides[side])

    def limits(self, side: int, z: float) -> Ends:
        if self._sides[side].all():
            size = self._mixture.denominator(self._sides[side])
            variance = self._mixture.variance(self._sides[side])
            rate, people, spread = map(np.array, ([self.value(side)], [size], [[variance]]))
            whole = LinearRates(rate, people, spread, self._mixture.degrees)
            return LinearEstimator(whole).limits(0, z)
        if (side,) not in self._curves:
            self._curves[side,] = self._mixture.rate_curve(self._sides[side])
        return self._curves[side,].limits(self._t(z))

    def correlation(self, one: int, other: int) -> float:
        return self._mixture.correlation(self._sides[one], self._sides[other])

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        if not self._direct:
            return super().contrast(by, one, other, z)
        if (by, one, other) not in self._curves:
            mixture = self._mixture
            curve = mixture.difference_curve if by == "difference" else mixture.angle_curve
            self._curves[by, one, other] = curve(self._sides[one], self._sides[other])
        low, high = self._curves[by, one, other].limits(self._t(z))
        return (low, high) if by == "difference" else (_tangent(low), _tangent(high))

    def effective_people(self, side: int) -> float:
        """Return of how many people of known group the rate of a side is as precise."""
        # Of as many as have an interval of this width. The variance at the estimate is no measure
        # of it: it is unlimited where the data hardly distinguish a group from one with a rate of 0
        # or 1, of which the profile never leaves the range.
        low, high = self.limits(side, _WIDTH_Z)
        return float(wilson_trials(self.value(side), high - low, _WIDTH_Z))

    def _t(self, z: float) -> float:
        return _quantile(z, self._mixture.degrees)


def _quantile(z: float, degrees: float) -> float:
    return z if math.isinf(degrees) else float(t_from_z(z, degrees))


def _tangent(angle: float) -> float:
    return float("inf") if angle >= np.pi / 2 else float(np.tan(angle))


class LinearEstimator(PreciseEstimator):
    """Rates whose variance is known, and intervals of as many rows as have it."""

    def __init__(self, rates: LinearRates) -> None:
        self.rates = rates

    def value(self, side: int) -> float:
        return float(self.rates.rates[side])

    def limits(self, side: int, z: float) -> Ends:
        low, high = self.rates.limits(_quantile(z, self.rates.degrees))
        return float(low[side]), float(high[side])

    def correlation(self, one: int, other: int) -> float:
        return self.rates.correlation(one, other)

    def effective_people(self, side: int) -> float:
        """Return of how many people of known group the rate of a side is as precise."""
        value, variance = self.value(side), float(self.rates.covariance[side, side])
        return value * (1 - value) / variance if variance > 0 else float("inf")


class _Bounds:
    def __init__(self, bounds: SharpBounds) -> None:
        self._bounds, self.sizes = bounds, bounds.sizes

    def value(self, side: int) -> float:
        low, high = self.limits(side, 0.0)
        return low if high - low < _POINT else float("nan")

    def limits(self, side: int, z: float) -> Ends:
        low, high = self._bounds.limits(z)
        return float(low[side]), float(high[side])

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        return extremes(by, self.limits(one, z), self.limits(other, z))


class _Beside:
    """Rates of people with probabilities and of others, whose group is known.

    ``made, sizes``: of those with probabilities, and how many of them each rate is of at both ends.
    ``known``: array of shape (kinds, sides), the others.
    ``effect``: by how much weights and clusters raise variances.
    """

    def __init__(
        self, made: PreciseEstimator | _Bounds, sizes: Array, known: Array, effect: float
    ) -> None:
        self._made, self._sizes, self._known, self._effect = made, sizes, known, effect

    def value(self, side: int) -> float:
        n, (x, others) = self._sizes[0, side], self._known[:, side]
        return float((n * self._made.value(side) + x) / (n + x + others))

    def limits(self, side: int, z: float) -> Ends:
        return self._end(side, z, 0)[1], self._end(side, z, 1)[1]

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        ours, theirs = ([self._end(side, z, at) for at in (0, 1)] for side in (one, other))
        limits = (ours[0][1], ours[1][1]), (theirs[0][1], theirs[1][1])
        if isinstance(self._made, _Bounds):
            return extremes(by, *limits)
        together = self._made.correlation(one, other)
        low, high = (
            _mover_of_rates(by, (mine[0], its[0]), limits, together * mine[2] * its[2])
            for mine, its in zip(ours, theirs[::-1], strict=True)
        )
        return low[0], high[1]

    def _end(self, side: int, z: float, at: int) -> tuple[float, float, float]:
        # an end of a rate, its limit, and which part of its error is of probabilities
        n, (x, others) = self._sizes[at, side], self._known[:, side]
        known, total = x + others, n + x + others
        if not total > 0:
            return float(at), float(at), 0.0
        probable, of_probable, of_known = 0.0, 0.0, 0.0
        if n > 0:
            probable = self._made.limits(side, 0.0)[at]
            of_probable = n * (self._made.limits(side, z)[at] - probable)
        if known > 0:
            effective = known / self._effect
            reached = intervals.wilson(x / self._effect, effective, z)[at]
            of_known = known * float(reached) - x
        middle = float((n * probable + x) / total)
        error = math.hypot(of_probable, of_known)
        limit = middle + float((error if at else -error) / total)
        return middle, min(max(limit, 0.0), 1.0), abs(of_probable) / error if error else 0.0


def _mover_of_rates(by: By, rates: Ends, limits: tuple[Ends, Ends], correlation: float) -> Ends:
    (e1, e2), ((low1, high1), (low2, high2)) = rates, limits
    contrast = mover_difference if by == "difference" else mover_ratio
    low, high = contrast(e1, low1, high1, e2, low2, high2, correlation)
    return float(low), float(high)
