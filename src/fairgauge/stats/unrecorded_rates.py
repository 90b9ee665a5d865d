"""Rates of groups that are not recorded: by every estimator from probabilities, and their bounds.

The critical value ``z`` is the normal one; each estimator takes the t quantile of the same tail
where its variance has few degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.enums import Estimator
from fairgauge.start.records import dataclass
from fairgauge.stats import group_mixture, intervals
from fairgauge.stats.arrays import Array, Index, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.contrasts import mover_difference, mover_ratio
from fairgauge.stats.intervals import critical, t_from_z, wilson_trials
from fairgauge.stats.significance import chi_square_tail, invert, normal_tail

By = Literal["difference", "ratio", "deviations"]
Ends = tuple[float, float]

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
    """Also knows how precise it is; contrasts have MOVER's limits.

    ``sizes``: array of shape (sides,): the people among whom every rate is a share.
    """

    sizes: Array

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
        return 0.0 if math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15) else one - other
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


@dataclass(frozen=True, slots=True, eq=False)
class RateCells:
    """The rows of one rate by cell."""

    p: Array  # array of shape (cells, groups), the mean probabilities
    n: Array  # array of shape (cells, kinds): rows, or their weight
    squares: Array | None  # the same of squared weights; None without weights
    # array of shape (kinds, groups): sums of the probabilities of the rows of each kind
    sums: Array
    # array of shape (cells, kinds, groups): those whose group is known; None where it is of none
    known: Array | None
    digits: Index  # array of shape (cells, groups), the places on the grid
    clusters: group_mixture.Clusters | None  # the rows by cluster; None without clusters
    # array of shape (2, groups + 1): rows without probabilities, by the group that they are known
    # to be of; the last of none
    beside: Array
    unplaced: int  # how many of these are of none
    # how many rows have no outcome, or may have none, and their weight
    lacking: tuple[int, float]
    strata: Index | None = None  # array of shape (cells,), the stratum of each; None without strata


class UnrecordedRate:
    """One rate of every side: groups, then the others of each, then all rows.

    ``cells``: the rows with probabilities.
    ``everyone``: all rows, if some have none and a random sample makes an estimate of all.
    """

    assumed: ClassVar[Estimator] = Estimator.LIKELIHOOD
    beside: ClassVar[tuple[Estimator, ...]] = (Estimator.BOUNDS,)

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
        return bool((self.cells.n[:, :2].sum(axis=0) == 0).any())

    @property
    def unidentified(self) -> Mask:
        """Return the groups whose probabilities do not distinguish them."""
        return self.mixture.unidentified

    @cached_property
    def mixture(self) -> group_mixture.GroupMixture | group_mixture.StratifiedMixture:
        """Return the rates by maximum likelihood, within strata if there are any."""
        cells = self.cells
        if cells.strata is None:
            return group_mixture.GroupMixture(cells.p, cells.n, cells.squares, cells.clusters)
        parts = []
        for at in (cells.strata == stratum for stratum in np.unique(cells.strata)):
            squares = None if cells.squares is None else cells.squares[at]
            parts.append(group_mixture.GroupMixture(cells.p[at], cells.n[at], squares))
        return group_mixture.StratifiedMixture(parts)

    @cached_property
    def likelihood(self) -> PreciseEstimator:
        """Return what is right if outcome and probabilities are independent given the group."""
        mixture = self.mixture
        if isinstance(mixture, group_mixture.GroupMixture):
            return LikelihoodEstimator(mixture, self.sides, direct=self.cells.n.shape[1] == 2)
        rates = np.array([mixture.rate(side) for side in self.sides])
        sizes = np.array([mixture.denominator(side) for side in self.sides])
        n, squares = self.cells.n, self.cells.squares  # Kish's number of rows less one
        degrees = math.inf if squares is None else float(n.sum() ** 2 / squares.sum()) - 1
        return LinearEstimator(rates, sizes, mixture.covariance(self.sides), degrees)

    @cached_property
    def lack_of_fit(self) -> float:
        """Return the p-value of a test of whether the outcome is linear in the probabilities."""
        mixture = self.mixture
        parts = mixture.parts if isinstance(mixture, group_mixture.StratifiedMixture) else [mixture]
        tests = [group_mixture.lack_of_fit_test(part.p, part.n, part.theta) for part in parts]
        square, degrees = (sum(test[i] for test in tests) for i in range(2))
        square = square / self._design_effect
        return float(chi_square_tail(square, degrees)) if degrees else 1.0

    @cached_property
    def theta(self) -> Array:
        """Return the probability of every kind in every group, of each cell where strata differ."""
        mixture = self.mixture
        if isinstance(mixture, group_mixture.GroupMixture):
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
        return validated_rates(
            theta, p, cells.n, cells.known, self.sides, cells.squares, cells.clusters
        )

    @cached_property
    def bounds(self) -> SharpBounds:
        """Return what is right wherever the probabilities are."""
        cells = self.cells
        effect = self._design_effect
        which = group_mixture.merged_cells(
            cells.digits, cells.n.sum(axis=1), group_mixture.FEWEST_IN_CELL * effect
        )
        size = int(which.max(initial=0)) + 1
        n, p = np.zeros((size, cells.n.shape[1])), np.zeros((size, self.groups))
        np.add.at(n, which, cells.n)
        np.add.at(p, which, cells.p * cells.n.sum(axis=1, keepdims=True))
        p = p / p.sum(axis=1, keepdims=True)
        return sharp_bounds(p, n, self.sides, effect)

    @cached_property
    def _design_effect(self) -> float:
        return group_mixture.design_effect(self.cells.n, self.cells.squares, self.cells.clusters)

    def by(self, estimator: Estimator) -> RateEstimator:
        """Return the estimator of a name, of all rows whose group is known or probable.

        A random sample makes an estimate of all rows.
        """
        if estimator is Estimator.VALIDATED and self._everyone:
            return self.validated or self.bounds
        made, beside = self._probable(estimator), self.cells.beside[:, :-1]
        if not beside.any():
            return made  # type: ignore[no-any-return]
        sizes = np.broadcast_to(made.sizes, (2, len(self.sides)))
        return _WithKnownGroups(made, sizes, beside @ self.sides.T, self._design_effect)

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
            return float(self.validated.sizes[side])
        made = self._probable(estimator)
        if isinstance(made, SharpBounds):
            return float(self.cells.sums[:2].sum(axis=0) @ self.sides[side]) + known
        return float(made.sizes[side]) + known

    def reach(self, limits: Ends, size: float, *, unplaced: bool, outcomes: bool) -> Ends:
        """Return how far limits move, wherever rows that may be of any group are.

        With ``outcomes`` whatever the rows without one had, too.
        """
        chosen, rejected = self.cells.beside[:, -1] * unplaced
        (low, high), more = limits, self._lacking_weight * outcomes
        least, most = rejected + more, chosen + more
        return low * size / (size + least), (high * size + most) / (size + most)


class LikelihoodEstimator(PreciseEstimator):
    """Rates by maximum likelihood; ``direct``: with a profile of contrasts, too."""

    def __init__(self, mixture: group_mixture.GroupMixture, sides: Mask, *, direct: bool) -> None:
        self._mixture, self._sides, self._direct = mixture, sides, direct
        self._curves: dict[tuple[object, ...], group_mixture.ProfileCurve] = {}
        self.sizes = np.array([mixture.denominator(side) for side in sides])

    def value(self, side: int) -> float:
        return self._mixture.rate(self._sides[side])

    def limits(self, side: int, z: float) -> Ends:
        if self._sides[side].all():
            variance = np.array([[self._mixture.variance(self._sides[side])]])
            rate, size = np.array([self.value(side)]), self.sizes[[side]]
            return LinearEstimator(rate, size, variance, self._mixture.degrees).limits(0, z)
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


@dataclass(frozen=True, eq=False)
class LinearEstimator(PreciseEstimator):
    """Rates with a variance, whose interval is Wilson's of as many rows as have this variance.

    ``rates, sizes``: array of shape (sides,); the sizes are those of the denominators.
    ``covariance``: array of shape (sides, sides)
    ``degrees``: of freedom of the variance.
    """

    rates: Array
    sizes: Array
    covariance: Array
    degrees: float = math.inf

    def value(self, side: int) -> float:
        return float(self.rates[side])

    def limits(self, side: int, z: float) -> Ends:
        rate, rows = min(max(self.value(side), 0.0), 1.0), self.effective_people(side)
        rows = rows if math.isfinite(rows) else float(self.sizes[side])
        low, high = intervals.wilson(rate * rows, rows, _quantile(z, self.degrees))
        return float(low), float(high)

    def correlation(self, one: int, other: int) -> float:
        scale = np.sqrt(self.covariance[one, one] * self.covariance[other, other])
        return float(np.clip(self.covariance[one, other] / scale, -1, 1)) if scale > 0 else 0.0

    def effective_people(self, side: int) -> float:
        value, variance = self.value(side), float(self.covariance[side, side])
        return value * (1 - value) / variance if variance > 0 else math.inf


@quiet
def validated_rates(
    theta: Array, p: Array, n: Array, known: Array, sides: Mask, squares: Array | None = None,
    clusters: group_mixture.Clusters | None = None,
) -> LinearEstimator:  # fmt: skip
    """Return rates that a random sample of known groups makes right whatever the probabilities.

    Every row counts in every group by its probability given its outcome, under the likelihood, and
    the known rows correct what that is off by.

    ``theta``: shape (kinds, groups)
    ``p``: shape (cells, groups)
    ``n``: shape (cells, kinds): all rows, known ones included.
    ``known``: shape (cells, kinds, groups): the known rows by their group.
    ``sides``: shape (sides, groups)
    ``squares``: shape (cells, kinds): the sum of squared weights.
    ``clusters``: as of `GroupMixture`.
    """
    joint = p[:, None, :] * theta
    total = joint.sum(axis=2, keepdims=True)
    expected = np.where(total > 0, joint / total, p[:, None, :]) @ sides.T
    of_known = known.sum(axis=2)
    times = n.sum() / of_known.sum()
    off = known @ sides.T - of_known[:, :, None] * expected
    counts = np.einsum("ck,cks->ks", n, expected) + times * off.sum(axis=0)
    rates = np.clip(counts[0] / (counts[0] + counts[1]), 0, 1)
    slope = np.zeros_like(counts)
    slope[:2] = np.stack([1 - rates, -rates]) / (counts[0] + counts[1])
    base = expected * slope
    # of a row of unknown group, and of one of each known group
    influence = [base, *(base + times * slope * (each - expected) for each in sides.T)]
    if clusters is not None:
        cluster, cell, kind, weight, group = clusters
        of_entry = np.stack(influence)[group + 1, cell, kind] * weight[:, None]
        variance = group_mixture.variance_between_clusters(cluster, of_entry)
        return LinearEstimator(rates, counts[0] + counts[1], *variance)
    # known rows are drawn at random, and so have the weights of all of their cell and kind
    weight_of_row = np.ones_like(n) if squares is None else np.where(n > 0, squares / n, 0.0)
    rows = [np.maximum(n - of_known, 0.0), *np.moveaxis(known, 2, 0)]
    of_groups = zip(rows, influence, strict=True)
    parts = [np.einsum("ck,cks,ckt->st", of * weight_of_row, e, e) for of, e in of_groups]
    covariance = np.sum(parts, axis=0)
    degrees = float("inf")
    if squares is not None:
        degrees = float(of_known.sum() ** 2 / (of_known * weight_of_row).sum()) - 1
    return LinearEstimator(rates, counts[0] + counts[1], covariance, degrees)


@dataclass(frozen=True, eq=False)
class SharpBounds:
    """The ends of the set of all numbers that agree with the data, and their standard errors.

    ``ends, errors``: array of shape (2, sides): lower and upper.
    ``sizes``: of the same shape, the rows among which each rate is a share there.
    ``range``: in which the numbers lie.
    ``extremes``: returns the least and the greatest contrast of two that are each in a range.
    """

    ends: Array
    errors: Array
    sizes: Array
    range: Ends = (0.0, 1.0)
    extremes: Callable[[By, Ends, Ends], Ends] = extremes

    def value(self, side: int) -> float:
        low, high = self.limits(side, 0.0)
        return low if high - low < _POINT else math.nan

    def limits(self, side: int, z: float) -> Ends:
        """Return the limits of a number, beyond the ends and inside its range."""
        (low, high), errors = self.ends[:, side], self.errors[:, side]
        least, most = self.range
        return max(float(low - z * errors[0]), least), min(float(high + z * errors[1]), most)

    def contrast(self, by: By, one: int, other: int, z: float) -> Ends:
        return self.extremes(by, self.limits(one, z), self.limits(other, z))


@quiet
def sharp_bounds(p: Array, n: Array, sides: Mask, design_effect: float = 1.0) -> SharpBounds:
    """Return the sharp bounds of rates, without any assumption but right probabilities.

    >>> p, n = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[300.0, 700.0], [600.0, 400.0]])
    >>> sharp_bounds(p, n, np.eye(2, dtype=bool)).ends.round(3)
    array([[0.182, 0.444],
           [0.455, 0.778]])
    """
    # The rows of a cell that are of a side and of a kind are at least as many as both shares leave
    # no choice about, and at most the smaller of the two. Of single cells, the smaller of a share
    # and a probability is too small on average; by what is expected of it, the ends are moved
    # outwards.
    rows = n.sum(axis=1, keepdims=True)
    shares = np.where(rows > 0, n / rows, 0.0)[:, :2]
    of_side = (p @ sides.T)[:, None, :]
    most = np.minimum(shares[:, :, None], of_side)
    least = np.maximum(shares[:, :, None] + of_side - 1, 0.0)
    effective = np.maximum(rows / design_effect, 1)
    noise = np.sqrt(shares * (1 - shares) / effective)[:, :, None]
    more = _expected_excess(shares[:, :, None] - of_side, noise)
    fewer = _expected_excess(shares[:, :, None] + of_side - 1, noise)
    weight = rows[:, :, None]
    high_counts = ((most + more) * weight).sum(axis=0)
    low_counts = (np.maximum(least - fewer, 0.0) * weight).sum(axis=0)
    scatter = (noise * weight) ** 2
    high_error = (scatter * (shares[:, :, None] < of_side)).sum(axis=0)
    low_error = (scatter * (shares[:, :, None] > 1 - of_side)).sum(axis=0)
    ends, errors, sizes = [], [], []
    for counted, rest, of_counted, of_rest in (
        (low_counts[0], high_counts[1], low_error[0], high_error[1]),
        (high_counts[0], low_counts[1], high_error[0], low_error[1]),
    ):
        total = counted + rest
        sizes.append(total)
        ends.append(np.where(total > 0, counted / total, 0.5))
        errors.append(np.sqrt(rest**2 * of_counted + counted**2 * of_rest) / total**2)
    return SharpBounds(np.array(ends), np.nan_to_num(np.array(errors)), np.array(sizes))


def _expected_excess(distance: Array, noise: Array) -> Array:
    scaled = np.where(noise > 0, distance / np.where(noise > 0, noise, 1.0), np.inf)
    density = np.exp(-(scaled**2) / 2) / np.sqrt(2 * np.pi)
    return np.where(
        noise > 0, noise * density - np.abs(distance) * normal_tail(np.abs(scaled)), 0.0
    )


class _WithKnownGroups:
    """Rates of people with probabilities and of others, whose group is known.

    ``made, sizes``: of those with probabilities, and how many of them each rate is of at both ends.
    ``known``: array of shape (kinds, sides), the others.
    ``effect``: by how much weights and clusters raise variances.
    """

    def __init__(
        self, made: PreciseEstimator | SharpBounds, sizes: Array, known: Array, effect: float
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
        if isinstance(self._made, SharpBounds):
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


def pair_bounds(x: float, n: float, y: float, m: float, unknown: float) -> tuple[float, float]:
    """Return bounds of the ratio of rates x / n and y / m, wherever unknown people belong.

    It is not known who of them was selected.

    >>> low, high = pair_bounds(40, 100, 60, 100, 10)
    >>> round(low, 3), round(high, 3)
    (0.606, 0.758)
    """
    low, inverse = _least_ratio(x, n, y, m, unknown), _least_ratio(y, m, x, n, unknown)
    return float(np.nan_to_num(low, nan=1.0)), float(quotient(1.0, inverse) if inverse else np.inf)


def _least_ratio(x: float, n: float, y: float, m: float, unknown: float) -> float:
    # nobody is in both: the logarithm of the ratio is convex in how many are in the first, and its
    # derivative is 0 at a root of a quadratic equation
    whole = m + unknown
    inside = whole**2 + whole * (n - y - unknown) - (y + unknown) * n
    rejected = min(max(whole - max(inside, 0.0) ** 0.5, 0.0), unknown)
    chosen = unknown - rejected
    return float(quotient(quotient(x, n + rejected), quotient(y + chosen, m + chosen)))


@quiet
def missing_bounds(
    x: ArrayLike, n: ArrayLike, unknown_x: ArrayLike, unknown_n: ArrayLike
) -> Limits:
    """Return Manski's worst-case bounds of a group's rate when some rows have no group label.

    ``x, n``: successes and rows known to be of the group.
    ``unknown_x, unknown_n``: successes and rows without a group label.

    Sharp: some assignment of the unknown rows attains each. [0, 1] where no row is known to be of
    the group.

    >>> low, high = missing_bounds(30, 100, 4, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.283, 0.3269)
    """
    # Manski (1989), Journal of Human Resources 24, 343-360.
    x, n, ux, un = floats(x, n, unknown_x, unknown_n)
    failures = n + un - ux
    low = np.where((n > 0) & (failures > 0), x / failures, 0.0)
    high = np.where(n > 0, (x + ux) / (n + ux), 1.0)
    return low, high
