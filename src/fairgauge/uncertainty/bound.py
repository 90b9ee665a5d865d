"""Bound: a number of every group and its limits, and how those of shares and of means are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from fairgauge.stats.intervals import (
    as_critical_t,
    clopper_pearson,
    critical,
    critical_t,
    jeffreys,
    wilson,
)
from fairgauge.uncertainty.interval import CLUSTER_ROBUST, FEWEST_CLUSTERS
from fairgauge.words import Method

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairgauge.metrics.symbols import Array
    from fairgauge.sides import Index
    from fairgauge.stats.arrays import Limits
    from fairgauge.uncertainty.evidence import Count, Evidence

At: TypeAlias = "Callable[[Array], Limits]"
Shape: TypeAlias = "Callable[[Array], Array]"


class Ties(Protocol):
    """How numbers of sides that share clusters move together."""

    def correlation(self, other: Any, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""


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
    method: str
    shares: tuple[Share, ...] = ()
    variance: Array | None = field(default=None)
    clusters: Array | None = None
    ties: Ties | None = None
    reason: str = ""

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

    @property
    def share(self) -> Share | None:
        """Return the one share that decides the number, if it is one."""
        return self.shares[0] if len(self.shares) == 1 else None

    def limits(self, confidence: float, method: Method = Method.DEFAULT) -> tuple[Limits, str]:
        """Return the limits at a confidence, and how they were made."""
        if self.variance is not None:
            return self.at(critical_t(confidence, self.n - 1)), self.method
        if self.share is not None and method in (Method.EXACT, Method.BAYES):
            made = clopper_pearson if method is Method.EXACT else jeffreys
            limits = self.share.limits(made(self.share.x, self.share.n, confidence))
            return limits, made.__name__.replace("_", "-")
        return self.at(np.asarray(critical(confidence))), self.method


def of_share(
    evidence: Evidence,
    of: Count,
    among: Count,
    shape: Shape = np.asarray,
    method: str = "wilson",
) -> Bounds:
    """Return a number that stands for a share of rows, by Wilson's limits."""
    x, n, rate, shared = evidence.share(of, among)
    share = Share(x, n, shape)
    if shared is None:
        return Bounds(shape(rate), n, lambda z: share.limits(wilson(x, n, z)), method, (share,))

    enough = shared.behind >= FEWEST_CLUSTERS

    def at(z: Array) -> Limits:
        low, high = wilson(x, n, as_critical_t(z, shared.found.degrees))
        return share.limits((np.where(enough, low, np.nan), np.where(enough, high, np.nan)))

    method = f"{CLUSTER_ROBUST} {method}"
    return Bounds(shape(rate), n, at, method, (share,), clusters=shared.behind, ties=shared)


def of_mean(mean: Array, variance: Array, n: Array) -> Bounds:
    """Return a mean; ``variance`` has the divisor n and is made unbiased here."""
    several = np.where(n > 1, n, 2.0)
    unbiased = np.where(n > 1, variance * several / (several - 1), np.inf)  # one row says nothing
    error = np.sqrt(unbiased / several)

    def at(c: Array) -> Limits:
        with np.errstate(invalid="ignore"):
            half = np.where(np.isinf(error) | np.isinf(c), np.inf, c * error)
        return mean - half, mean + half

    return Bounds(mean, n, at, "student", variance=unbiased)


def joined(parts: Sequence[Bounds]) -> Bounds:
    """Return the numbers of several statistics as one, the limits of all shares made at once."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([len(part.n) for part in parts])[:-1]
    shares = [part.share if not part.clustered else None for part in parts]
    x, n = (np.concatenate([getattr(s, k) for s in shares if s] or [[]]) for k in ("x", "n"))

    def at(z: Array) -> Limits:
        pieces = np.split(np.broadcast_to(z, estimate.shape), ends)
        of_shares = [piece for piece, share in zip(pieces, shares, strict=True) if share]
        low, high = wilson(x, n, np.concatenate(of_shares or [np.empty(0)]))
        made, start = [], 0
        for part, share, piece in zip(parts, shares, pieces, strict=True):
            if share:
                here = slice(start, start + len(piece))
                made.append(share.limits((low[here], high[here])))
                start += len(piece)
            else:
                made.append(part.at(piece))
        return np.concatenate([each[0] for each in made]), np.concatenate([m[1] for m in made])

    estimate, rows = (np.concatenate([getattr(p, k) for p in parts]) for k in ("estimate", "n"))
    return Bounds(estimate, rows, at, "")
