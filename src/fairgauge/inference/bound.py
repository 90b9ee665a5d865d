"""Bound: a number of every group and its limits, and how those of shares and of means are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from fairgauge.enums import IntervalMethod, Method
from fairgauge.inference.interval import FEWEST_CLUSTERS
from fairgauge.stats.intervals import (
    as_critical_t,
    clopper_pearson,
    critical,
    critical_t,
    jeffreys,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairgauge.catalogue.cells import Array
    from fairgauge.inference.evidence import Count, Evidence
    from fairgauge.inference.interval import Methods
    from fairgauge.reasons import Reason
    from fairgauge.resolve.sides import Index
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.arrays import Limits

At: TypeAlias = "Callable[[Array], Limits]"
Shape: TypeAlias = "Callable[[Array], Array]"


class Ties(Protocol):
    """How numbers of sides that share clusters move together."""

    def correlation(self, other: Any, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """Limits by a formula of arrays and a critical value, of whose answer a number is a shape."""

    limits: Callable[..., Limits]
    of: tuple[Array, ...]
    shape: Shape = np.asarray

    def __call__(self, z: Array) -> Limits:
        """Return the limits at a critical value."""
        low, high = self.limits(*self.of, z)
        return self.shape(low), self.shape(high)


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Successes ``x`` of ``n`` trials, and the number that the share stands for, rising with it."""

    x: Array
    n: Array
    shape: Shape

    @property
    def plain(self) -> bool:
        """Return whether the number is the share itself."""
        return self.shape is np.asarray

    def limits(self, share: Limits) -> Limits:
        """Return limits of the number from limits of the share."""
        return self.shape(share[0]), self.shape(share[1])


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """A number of every group, and its limits at any critical value.

    Attributes
    ----------
    estimate, n : the number, and the (effective) rows that it rests on.
    at : limits at a normal critical value (at one of t where it is a mean).
    method : how.
    shares : the shares that it is made of, for the rule of expected counts.
    variance : the sample variance of the values whose mean it is; None if it is no mean.
    clusters : the clusters that it rests on; None where rows are independent.
    ties : what tells its correlation with the same number of sides that share clusters.
    reason : why some have no limits (nan), if any has none.
    """

    estimate: Array
    n: Array
    at: At
    method: Methods
    shares: tuple[Share, ...] = ()
    variance: Array | None = field(default=None)
    clusters: Array | None = None
    ties: Ties | None = None
    reason: Reason | None = None

    @property
    def clustered(self) -> bool:
        """Return whether clusters were reckoned with."""
        return self.clusters is not None

    def correlation(self, other: Bounds, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position.

        0 where rows are independent.
        """
        if self.ties is None or other.ties is None:
            return np.zeros(len(first))
        return self.ties.correlation(other.ties, first, second)

    def asked_otherwise(self, method: Method) -> bool:
        """Return whether the limits of its share are asked for by another formula."""
        return self.share is not None and method in (Method.EXACT, Method.BAYES)

    @property
    def share(self) -> Share | None:
        """Return the one share that decides the number, if it is one."""
        return self.shares[0] if len(self.shares) == 1 else None

    def limits(self, confidence: float, method: Method = Method.DEFAULT) -> tuple[Limits, Methods]:
        """Return the limits at a confidence, and how they were made."""
        if self.variance is not None:
            return self.at(critical_t(confidence, self.n - 1)), self.method
        if self.share is not None and self.asked_otherwise(method):
            exact = method is Method.EXACT
            made = clopper_pearson if exact else jeffreys
            limits = self.share.limits(made(self.share.x, self.share.n, confidence))
            return limits, (IntervalMethod.CLOPPER_PEARSON if exact else IntervalMethod.JEFFREYS,)
        return self.at(np.asarray(critical(confidence))), self.method


def of_share(
    evidence: Evidence,
    of: Count,
    among: Count,
    shape: Shape = np.asarray,
    method: IntervalMethod = IntervalMethod.WILSON,
) -> Bounds:
    """Return a number that stands for a share of rows, by Wilson's limits."""
    x, n, rate, shared = evidence.share(of, among)
    share = Share(x, n, shape)
    if shared is None:
        return Bounds(shape(rate), n, Formula(wilson, (x, n), shape), (method,), (share,))

    enough = shared.behind >= FEWEST_CLUSTERS

    def at(z: Array) -> Limits:
        low, high = wilson(x, n, as_critical_t(z, shared.found.degrees))
        return share.limits((np.where(enough, low, np.nan), np.where(enough, high, np.nan)))

    methods = (IntervalMethod.CLUSTER_ROBUST, method)
    return Bounds(shape(rate), n, at, methods, (share,), clusters=shared.behind, ties=shared)


def of_mean(mean: Array, variance: Array, n: Array) -> Bounds:
    """Return a mean; ``variance`` has the divisor n and is made unbiased here."""
    several = np.where(n > 1, n, 2.0)
    unbiased = np.where(n > 1, variance * several / (several - 1), np.inf)  # one row says nothing
    error = np.sqrt(unbiased / several)

    def at(c: Array) -> Limits:
        with np.errstate(invalid="ignore"):
            half = np.where(np.isinf(error) | np.isinf(c), np.inf, c * error)
        return mean - half, mean + half

    return Bounds(mean, n, at, (IntervalMethod.STUDENT_T,), variance=unbiased)


def joined(parts: Sequence[Bounds]) -> Bounds:
    """Return the numbers of several statistics as one, limits of one formula being made at once."""
    ends = np.cumsum([0, *(len(part.n) for part in parts)])
    places = [slice(start, end) for start, end in pairwise(ends.tolist())]
    alike: dict[Callable[..., Limits], list[int]] = {}
    for i, part in enumerate(parts):
        if isinstance(part.at, Formula):
            alike.setdefault(part.at.limits, []).append(i)
    formulas = [(_stacked([parts[i] for i in every]), every) for every in alike.values()]

    def at(z: Array) -> Limits:
        z = np.broadcast_to(z, estimate.shape)
        low, high = np.empty(estimate.shape), np.empty(estimate.shape)
        for formula, every in formulas:
            below, above = formula(np.concatenate([z[places[i]] for i in every]))
            start = 0
            for i in every:
                here = slice(start, start := start + len(parts[i].n))
                shape = cast("Formula", parts[i].at).shape
                low[places[i]], high[places[i]] = shape(below[here]), shape(above[here])
        for place, part in zip(places, parts, strict=True):
            if not isinstance(part.at, Formula):
                low[place], high[place] = part.at(z[place])
        return low, high

    estimate, rows = (
        np.concatenate([np.empty(0), *(getattr(p, k) for p in parts)]) for k in ("estimate", "n")
    )
    return Bounds(estimate, rows, at, ())


def limits_of(every: Sequence[Bounds], spec: Spec) -> Iterator[tuple[Limits, Methods]]:
    """Return the limits of several statistics and how they were made, alike ones made at once."""
    alike = [
        isinstance(each.at, Formula) and not each.asked_otherwise(spec.method) for each in every
    ]
    together = joined([each for each, at_once in zip(every, alike, strict=True) if at_once])
    low, high = together.at(np.asarray(critical(spec.confidence)))
    start = 0
    for each, at_once in zip(every, alike, strict=True):
        if at_once:
            here = slice(start, start := start + len(each.n))
            yield (low[here], high[here]), each.method
        else:
            yield each.limits(spec.confidence, spec.method)


def _stacked(parts: Sequence[Bounds]) -> Formula:
    """Return one formula for the arrays of all parts, before they take their shapes."""
    formulas = [cast("Formula", part.at) for part in parts]
    arrays = zip(*(formula.of for formula in formulas), strict=True)
    return Formula(formulas[0].limits, tuple(np.concatenate(each) for each in arrays))
