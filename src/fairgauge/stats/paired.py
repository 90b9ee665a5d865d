"""Two classifications of the same rows: proportions, changes and their limits, in pairs.

Of two classifications only discordant rows carry information: ``better`` counts rows that only the
second one accepts, ``worse`` those that only the first one accepts. The normal approximation of
Tango's test rejects up to twice as often as stated where few rows are decided differently and
nearly all of them in one direction: its p-value and power are also enumerated.

A number of a side is known by its value, its limits at any critical value, and its influences:
the derivatives by the cells of a `PairedTable`, from which every variance and covariance follows,
of rows, of weighted rows and of clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.start.records import dataclass, replace
from fairgauge.stats._roots import bisect, falling_root, fewest_holding
from fairgauge.stats.arrays import Array, Index, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.contrasts import mover_difference, mover_shared_difference
from fairgauge.stats.intervals import exact_rate_limits, t_from_z
from fairgauge.stats.sampling import satterthwaite_degrees
from fairgauge.stats.significance import invert, two_sided


@quiet
def paired_difference(better: ArrayLike, worse: ArrayLike, n: ArrayLike, z: ArrayLike) -> Limits:
    """Return Tango's score interval of ``(better - worse) / n``, of n rows in all.

    Of positive width also without discordant rows; without rows [-1, 1].

    >>> low, high = paired_difference(1, 7, 21, 1.959964)  # Fagerland, Lydersen and Laake 2014
    >>> round(float(low), 3), round(float(high), 3)
    (-0.517, -0.026)
    """
    # Tango (1998), Statistics in Medicine 17, 891-908.
    better, worse, n, z = floats(better, worse, n, z)
    # the upper limit is the lower one of the exchanged classifications; both are solved at once
    gained, lost = np.stack([better, worse]), np.stack([worse, better])
    every, level = floats(n, z, gained)[:2]

    def rejected(gap: Array) -> Array:
        score = tango_score(gained, lost, every, gap)
        return np.where(np.isnan(score), np.inf, score) - level  # its variance is 0 at -1

    low, other = falling_root(rejected, np.full(every.shape, -1.0), (gained - lost) / every)
    return np.where(n > 0, low, -1.0), np.where(n > 0, -other, 1.0)


@quiet
def paired_score_ratio(
    both: ArrayLike, better: ArrayLike, worse: ArrayLike, n: ArrayLike, z: ArrayLike
) -> Limits:
    """Return Tang's score interval of ``(both + better) / (both + worse)``.

    An empty denominator gives ``high = inf``, an empty table [0, inf]. They exclude 1 just where
    `paired_difference` excludes 0.

    >>> low, high = paired_score_ratio(1, 1, 7, 21, 1.959964)  # Fagerland, Lydersen and Laake 2014
    >>> round(float(low), 3), round(float(high), 3)
    (0.065, 0.907)
    """
    # Tang, Tang & Chan (2003), Statistics in Medicine 22, 1217-1233; Nam & Blackwelder (2002),
    # Statistics in Medicine 21, 689-699.
    both, better, worse, n, z = floats(both, better, worse, n, z)
    gained, lost = np.stack([better, worse]), np.stack([worse, better])
    # the probability q of ``worse`` is its maximum likelihood estimate where those of ``both`` and
    # ``better`` are such that the ratio is R: the root of (1 + R) n q^2 + ((both + worse) (R^2 - 1)
    # - better - worse) q - worse (R - 1) w, with the share w of rows that either classification
    # accepts
    new, old = both + gained, both + lost
    accepted = (both + gained + lost) / n
    estimate = np.where(new > 0, new / (new + old), 0.0)

    def rejected(share: Array) -> Array:
        ratio = share / (1 - share)
        a = n * (1 + ratio)
        b = old * (ratio**2 - 1) - gained - lost
        q = (np.sqrt(b**2 + 4 * a * lost * (ratio - 1) * accepted) - b) / (2 * a)
        score = (new - ratio * old) / np.sqrt(n * ((ratio - 1) * accepted + (1 + ratio) * q))
        score = np.where(np.isnan(score), np.inf, score)  # its variance is 0 at a ratio of 0
        return np.where(share >= estimate, 0.0, score) - z

    share = falling_root(rejected, np.zeros(estimate.shape), estimate)
    low, other = share / (1 - share)
    return np.where(n > 0, low, 0.0), np.where((n > 0) & (other > 0), 1 / other, np.inf)


@quiet
def paired_p(better: ArrayLike, worse: ArrayLike) -> Array:
    """Return McNemar's p-value of no difference, which agrees with `paired_difference`.

    Without discordant rows it is 1.

    >>> round(float(paired_p(1, 7)), 4)
    0.0339
    """
    # McNemar (1947), Psychometrika 12, 153-157.
    better, worse = floats(better, worse)
    score = (better - worse) / np.sqrt(better + worse)
    return two_sided(np.where(better + worse > 0, score, 0.0))


def mcnemar_mid_p(better: int, worse: int) -> float:
    """Return McNemar's mid-p-value of no difference, of counts of discordant rows.

    >>> round(mcnemar_mid_p(1, 7), 4)  # Fagerland, Lydersen and Laake (2013)
    0.0391
    """
    from scipy.stats import binom

    fewer, discordant = min(better, worse), better + worse
    return float(2 * binom.cdf(fewer, discordant, 0.5) - binom.pmf(fewer, discordant, 0.5))


def tango_score(better: Array, worse: Array, n: Array, gap: Array) -> Array:
    """Return how many standard deviations the difference lies above ``gap``.

    The probability q of ``worse`` is its maximum likelihood estimate where that of ``better`` is
    q + gap: the root of 2 n q^2 + b q - worse gap (1 - gap), from the trinomial likelihood.
    """
    b = (2 * n - better + worse) * gap - better - worse
    q = (np.sqrt(b**2 + 8 * n * worse * gap * (1 - gap)) - b) / (4 * n)
    excess = better - worse - n * gap
    return np.where(excess == 0, 0.0, excess / np.sqrt(n * (2 * q + gap * (1 - gap))))


# standard deviations of a count that are enumerated
_REACH = 8.0
# the probability that the share of discordant rows is outside the interval that is searched.
_UNSURE = 5e-4
_SHARES = 25
_STEPS = 20


@quiet
def exact_p(better: float, worse: float, n: float, gap: float) -> float:
    """Return the one-sided p-value of a difference of ``gap`` or more.

    Of all shares of discordant rows in their 99.95% interval, the greatest probability of a score
    as low as that observed, and .0005 for the shares outside.

    ``better, worse``: discordant rows, by direction; effective numbers where rows have weights.

    >>> round(exact_p(0, 9, 200, -0.02), 4)  # normal approximation: 0.0134
    0.0259
    """
    # Berger & Boos (1994), Journal of the American Statistical Association 89, 1012-1016.
    from scipy.special import betainc
    from scipy.stats import binom

    rows = round(n)
    least, most = (
        max(float(e), abs(gap)) for e in exact_rate_limits(better + worse, n, _UNSURE / 2)
    )
    shares = np.linspace(least, most, _SHARES)[:, None]
    gained, lost = (shares + gap) / 2, (shares - gap) / 2
    # the lower tail is the upper one of the exchanged classifications
    z = -float(tango_score(*map(np.asarray, (better, worse, n, gap))))
    ends = gained[[0, -1], 0]
    spread = _REACH * np.sqrt(rows * ends * (1 - ends)) + _REACH
    first, last = max(0.0, rows * ends[0] - spread[0]), min(rows, rows * ends[1] + spread[1])
    likely = np.arange(math.floor(first), math.ceil(last) + 1, dtype=float)
    # of each, the fewest rows of the other direction that exceed it: the score rises with them
    whole, opposite = np.asarray(float(rows)), np.asarray(-gap)
    many = fewest_holding(
        lambda other: tango_score(other, likely, whole, opposite) >= z - 1e-9,
        np.full(likely.shape, -1.0), rows - likely + 1,
    )  # fmt: skip
    rest = rows - likely
    share = np.minimum(np.where(gained < 1, lost / (1 - gained), 0.0), 1.0)
    above = betainc(many, rest - many + 1, share)
    above = np.where(many > rest, 0.0, np.where(many <= 0, 1.0, above))
    p = (binom.pmf(likely, rows, gained) * above).sum(axis=-1)
    return min(1.0, float(p.max()) + _UNSURE)


def exact_upper(better: float, worse: float, n: float, low: float, alpha: float) -> float:
    """Return the greatest difference that `exact_p` does not reject at ``alpha``.

    -1 where it rejects ``low``, above which it is sought.
    """
    if exact_p(better, worse, n, low) <= alpha:
        return -1.0

    def kept(gap: Array) -> Mask:
        return np.asarray(exact_p(better, worse, n, float(gap)) > alpha)

    return float(bisect(kept, np.asarray(low), np.ones(()), _STEPS)[1])


# Rows added to every cell of differing decisions before a correlation is measured, so that models
# that happen to agree on all rows are not taken to agree on all others. Chosen by coverage: of 0,
# 0.25 and 0.5 rows the least that holds 94% throughout (docs/coverage.md).
_SMOOTHING = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCounts:
    """The rows of one side by cluster: the cluster, the flat cell and the weight of each entry."""

    cluster: Index
    cell: Index
    weights: Array

    def totals(self, influence: Array | Mask, clusters: int) -> Array:
        """Return the sum of influences, array of shape (label, current, candidate), by cluster."""
        influences = self.weights * influence.ravel()[self.cell]
        return np.bincount(self.cluster, influences, clusters).astype(np.float64)

    def variance(self, influence: Array, counted: Mask, clusters: int) -> tuple[float, float]:
        """Return the jackknife variance of a mean of counted rows, and its degrees of freedom."""
        sizes = self.totals(counted, clusters)
        moved = self.totals(influence, clusters) / (1 - sizes / sizes.sum())
        held = max(int((sizes > 0).sum()), 1)
        return float(moved @ moved) * (1 - 1 / held), float(satterthwaite_degrees(sizes))


@dataclass(frozen=True, slots=True, eq=False)
class PairedTable:
    """One side of many comparisons, by label, decision of the model in use and of the candidate.

    There are C outcomes: the positive and the negative, or classes; a label may be missing too.

    ``weights, squares, cases``: array of shape (n, C + 1, C, C): sums of weights and of squared
        weights, and rows; all the same without weights.
    ``classes``: whether the outcomes are classes.
    ``clusters``: the rows of each side by cluster; None where rows are independent.
    ``cluster_count``: how many clusters there are.
    """

    weights: Array
    squares: Array
    cases: Array
    classes: bool = False
    clusters: Sequence[ClusterCounts] | None = None
    cluster_count: int = 0

    def part(self, at: slice) -> PairedTable:
        clusters = None if self.clusters is None else self.clusters[at]
        weights, squares, cases = self.weights[at], self.squares[at], self.cases[at]
        return replace(self, weights=weights, squares=squares, cases=cases, clusters=clusters)

    @property
    def margins(self) -> tuple[Array, Array]:
        """Return the weights by label and decision, of both models; shape (n, C + 1, C)."""
        return self.weights.sum(axis=3), self.weights.sum(axis=2)

    def smoothed_squares(self) -> Array:
        """Return the squared weights, with some added to the cells in which decisions differ."""
        outcomes = self.weights.shape[-1]
        rows, weights, squares = (
            of.sum(axis=(1, 2, 3), keepdims=True) for of in (self.cases, self.weights, self.squares)
        )
        unit = np.where(rows > 0, quotient(weights, rows), 1.0)
        differing = _SMOOTHING * (1 - np.eye(outcomes))
        added = np.broadcast_to(unit * differing, self.weights.shape).copy()
        added[:, -1] = 0.0  # of missing labels
        return np.asarray(self.squares + np.nan_to_num(quotient(squares, weights)) * added)

    def covariance(
        self, one: Array, two: Array, *, smoothed: bool = False, other: PairedTable | None = None
    ) -> Array:
        """Return the covariance of two numbers from their influences, arrays of the table's shape.

        ``other`` is the table of the second number, if it is not this one; rows that are in both
        sides must then be all rows of this one, or clusters.
        """
        added = self.smoothed_squares() - self.squares if smoothed else 0.0
        if self.clusters is None:
            return np.asarray(((self.squares + added) * one * two).sum(axis=(1, 2, 3)))
        second = (other or self).clusters
        assert second is not None
        sides, size = zip(self.clusters, second, one, two, strict=True), self.cluster_count
        total = np.array([float(a.totals(x, size) @ b.totals(y, size)) for a, b, x, y in sides])
        return np.asarray(total + (added * one * two).sum(axis=(1, 2, 3)))

    @quiet
    def variance_of_mean(self, influence: Array, counted: Mask) -> tuple[Array, Array]:
        """Return the variance of a mean of counted rows, and the degrees of freedom of every side.

        These are infinite where rows are independent.
        """
        if self.clusters is None:
            return self.covariance(influence, influence), np.full(len(influence), np.inf)
        both = zip(self.clusters, influence, strict=True)
        found = [of.variance(each, counted, self.cluster_count) for of, each in both]
        variance, degrees = np.array(found, dtype=float).reshape(-1, 2).T
        return variance, degrees


def correlation(covariance: Array, one: Array, two: Array) -> Array:
    """Return a correlation from a covariance and two variances; 0 where one of them is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = covariance / np.sqrt(one * two)
    return np.clip(np.where(np.isfinite(found), found, 0.0), -1.0, 1.0)


At: TypeAlias = "Callable[[ArrayLike], Limits]"
"""Limits at a normal critical value."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A number of every side with its limits at any critical value, and its influences.

    ``value``: array of shape (n,).
    ``at``: its limits.
    ``influence``: array of the shape of the table: derivatives by its counts; None where unknown.
    ``tested``: the p-value of 0 by a test of its own; None where the limits are inverted.
    """

    value: Array
    at: At
    influence: Array | None = None
    tested: Array | None = None

    def between_halves(self, table: PairedTable, *, inside: bool) -> Quantity:
        """Return the difference of the first half of the sides to the second.

        Both are correlated where they share clusters, or rows (``inside``).
        """
        pairs = len(self.value) // 2
        ours, theirs = self.value[:pairs], self.value[pairs:]
        r = np.zeros(pairs)
        if inside or table.clusters is not None:
            assert self.influence is not None
            one, two = table.part(slice(None, pairs)), table.part(slice(pairs, None))
            a, b = np.split(self.influence, 2)
            shared = one.covariance(a, b, other=two)
            r = correlation(shared, one.covariance(a, a), two.covariance(b, b))

        def at(z: ArrayLike) -> Limits:
            low, high = self.at(np.tile(np.broadcast_to(z, pairs), 2))
            return mover_difference(
                ours, low[:pairs], high[:pairs], theirs, low[pairs:], high[pairs:], r
            )

        with np.errstate(invalid="ignore"):
            return Quantity(ours - theirs, at)

    def p_value(self, null: float | None = None) -> Array:
        """Return the p-value of 0, or that at which the limits just touch another null."""
        if null is None and self.tested is not None:
            return self.tested
        return invert(lambda z: self.at(np.broadcast_to(z, self.value.shape)), null or 0.0)

    def negated(self) -> Quantity:
        """Return the number with the opposite sign."""

        def at(z: ArrayLike) -> Limits:
            low, high = self.at(z)
            return -high, -low

        return Quantity(-self.value, at, None if self.influence is None else -self.influence)


def combined(before: Quantity, after: Quantity, r: Array, sign: int) -> Quantity:
    """Return after plus or less before, of correlation r; errors of both are partly the same.

    A sum is the difference to the negative of the number before.
    """
    assert before.influence is not None
    assert after.influence is not None

    def at(z: ArrayLike) -> Limits:
        low, high = before.at(z)
        if sign > 0:
            low, high = -high, -low
        less = -sign * before.value, low, high, -sign * r
        return mover_shared_difference(after.value, *after.at(z), *less)

    with np.errstate(invalid="ignore"):
        value = after.value + sign * before.value
        return Quantity(value, at, after.influence + sign * before.influence)


@quiet
def logarithm(of: Quantity) -> Quantity:
    """Return the logarithm of a number; its influences are 0 where it is infinite."""
    assert of.influence is not None
    by_value = quotient(of.influence, of.value[:, None, None, None])
    influence = np.nan_to_num(by_value, posinf=0.0, neginf=0.0)
    return Quantity(np.log(of.value), lambda z: logs_of(of.at(z)), influence)


@dataclass(frozen=True, slots=True, eq=False)
class Discordant:
    """Rows of a rate, by the effective sample size: in it under both models, or under one of both.

    ``both, gained, lost``: rows in the rate under both, under the candidate alone, under the model
        in use alone.
    ``n``: all rows of its denominator.
    ``degrees``: of Student's t; inf where rows are independent.
    """

    both: Array
    gained: Array
    lost: Array
    n: Array
    degrees: Array

    def difference(self, z: ArrayLike) -> Limits:
        """Return Tango's limits."""
        return paired_difference(self.gained, self.lost, self.n, self._critical(z))

    def p_value(self) -> Array | None:
        """Return McNemar's p-value of no difference; None where rows are clustered."""
        return paired_p(self.gained, self.lost) if np.isinf(self.degrees).all() else None

    def log_ratio(self, z: ArrayLike) -> Limits:
        """Return the logarithms of Tang's limits."""
        counts = self.both, self.gained, self.lost, self.n
        return logs_of(paired_score_ratio(*counts, self._critical(z)))

    def _critical(self, z: ArrayLike) -> Array:
        return t_from_z(np.broadcast_to(z, self.n.shape), self.degrees)


@quiet
def discordant_rows(of: Mask, among: Mask, table: PairedTable) -> Discordant:
    """Return the rows of a rate that are decided differently.

    ``of, among``: shapes (C + 1, C) and (C + 1,): the cells that the rate counts, and the labels
        among whose rows it counts them.
    """
    old, new = of[:, :, None], of[:, None, :]
    counted = np.broadcast_to(among[:, None, None], table.weights.shape[1:])

    def weight(cells: Mask) -> Array:
        return np.asarray((table.weights * (cells & counted)).sum(axis=(1, 2, 3)))

    n = weight(np.broadcast_to(True, counted.shape))
    of_each = 1.0 / n
    both, gained, lost = (of_each * weight(of) for of in (old & new, new & ~old, old & ~new))
    mean = np.nan_to_num((weight(new & ~old) - weight(old & ~new)) / n)
    # the influence of a row on the change: its own change, less the mean
    own = new.astype(float) - old.astype(float) - mean.reshape(-1, 1, 1, 1)
    of_rows = np.where(counted, of_each.reshape(-1, 1, 1, 1), 0.0)
    # effective rows have the variance of the change where one row has ``spread``: Kish's number
    # where no row changes, and at most the geometric mean of both, because few discordant rows show
    # too little of the spread of their weights
    spread = (gained + lost - (gained - lost) ** 2) * (gained + lost > 0)
    kish = quotient(1.0, (table.squares * of_rows**2).sum(axis=(1, 2, 3)))
    moved = of_rows * np.broadcast_to(own, table.weights.shape)
    variance, degrees = table.variance_of_mean(moved, counted)
    rows = quotient(spread, variance)
    rows = np.where(rows > kish, np.sqrt(rows * kish), rows)
    rows = np.where((spread > 0) & np.isfinite(rows), rows, kish)
    effective = np.where(np.isfinite(rows), rows, 0.0)
    if table.clusters is None and (table.squares == table.weights).all():
        effective = n
    both, gained, lost = (np.nan_to_num(part * effective) for part in (both, gained, lost))
    return Discordant(both, gained, lost, effective, degrees)


def distance_limits(shift: Limits, level: Limits) -> Limits:
    """Return the limits of the change of a distance from 0: ``|new| - |old|``.

    With the shift x = new - old and the level y = new + old, it is sign(x y) min(|x|, |y|). Over
    limits of x and of y that is greatest and least at their corners. That a candidate is closer to
    0 is so accepted only where x and y both differ from 0, with opposite signs: an
    intersection-union test.

    >>> shift, level = (np.array(0.02), np.array(0.06)), (np.array(-0.4), np.array(-0.2))
    >>> low, high = distance_limits(shift, level)
    >>> float(low), float(high)
    (-0.06, -0.02)
    """
    # Berger & Hsu (1996), Statistical Science 11, 283-319.
    corners = np.stack([distance(x, y) for x in shift for y in level])
    return np.asarray(corners.min(axis=0)), np.asarray(corners.max(axis=0))


def distance(shift: Array, level: Array) -> Array:
    """Return ``|new| - |old|`` from their difference and sum."""
    with np.errstate(invalid="ignore"):
        nearer = np.minimum(np.abs(shift), np.abs(level))
        return np.asarray(np.sign(shift) * np.sign(level) * nearer)


@quiet
def logs_of(limits: Limits) -> Limits:
    """Return the logarithms of limits of a number that is not negative."""
    low, high = limits
    return np.log(np.maximum(low, 0.0)), np.log(np.maximum(high, 0.0))
