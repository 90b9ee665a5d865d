"""Contrasts: the interval of a difference or a ratio, from the limits of both sides (MOVER).

Difference and ratio come from one equation, so they agree on "no difference", and share their
p-value. Where the group is a part of its reference, it is compared with the rest of it and the
limits are carried over: of a mean, ``d - whole`` is ``(1 - s)(d - rest)``, s the group's share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import quotient
from fairgauge.stats.contrasts import (
    mover_difference,
    mover_ratio,
    score_difference,
    score_ratio,
    welch_degrees,
)
from fairgauge.stats.exact import boschloo
from fairgauge.stats.intervals import critical_t
from fairgauge.stats.significance import invert, score_p, welch_p
from fairgauge.uncertainty.bound import joined
from fairgauge.uncertainty.bounds import denominator
from fairgauge.uncertainty.interval import (
    FEWEST_EXPECTED,
    FEWEST_ROWS,
    NO_SIGN,
    UNTOLD,
    Interval,
    NoInterval,
    few_clusters,
)
from fairgauge.uncertainty.jackknife import clustered_bounds
from fairgauge.words import Method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fairgauge.metrics.comparisons import Contrast
    from fairgauge.metrics.kinds import Statistic
    from fairgauge.metrics.symbols import Array
    from fairgauge.spec import Spec
    from fairgauge.stats.arrays import Limits
    from fairgauge.uncertainty.bound import Bounds, Share
    from fairgauge.uncertainty.evidence import Comparisons

_SMALL, _FAR = 50, 0.5
"""Below so many rows, rates this far apart get score limits: there Newcombe's cover too little."""
_MOST_TABLES = 50_000
"""Tables that an exact test enumerates; of more rows the limits are exact enough."""


@dataclass(frozen=True, slots=True, eq=False)
class Versus:
    """One statistic of two sides that share no row, and what is common to all contrasts of it."""

    group: Bounds
    other: Bounds
    p: Array
    score: NDArray[np.bool_]
    too_few: list[str]
    correlation: Array

    @property
    def of_means(self) -> bool:
        """Return whether both sides are means, which Welch's test compares."""
        return self.group.variance is not None and self.other.variance is not None


def versus(
    statistics: Sequence[Statistic], compared: Comparisons, spec: Spec
) -> dict[Statistic, Versus | NoInterval]:
    """Return the bounds of both sides, the p-value of "no difference", and who has too few rows.

    The p-values of all statistics are found at once; instead of what nothing honest can be said of
    stands the reason.
    """
    found: dict[Statistic, Versus | NoInterval] = {}
    for statistic in statistics:
        try:
            found[statistic] = _sides(statistic, compared, spec)
        except NoInterval as why:
            found[statistic] = why
    made = {key: each for key, each in found.items() if isinstance(each, Versus)}
    exact = compared.margin & (spec.method is Method.EXACT)
    return found | {
        key: replace(each, p=p)
        for (key, each), p in zip(made.items(), _p(list(made.values()), exact), strict=True)
    }


def _sides(statistic: Statistic, compared: Comparisons, spec: Spec) -> Versus:
    """Return the bounds of both sides, without p-values."""
    other = compared.reference if denominator(statistic) is None else compared.other
    ours, theirs = (clustered_bounds(statistic, each) for each in (compared.group, other))
    at = np.arange(len(ours.n))
    correlation = ours.correlation(theirs, at, at)
    score = np.zeros(len(ours.n), dtype=bool)
    if ours.share is not None and theirs.share is not None and not ours.clustered:
        if spec.method is Method.SCORE:
            score |= (ours.share.n > 0) & (theirs.share.n > 0)
        elif spec.method is Method.DEFAULT:
            gap = quotient(ours.share.x, ours.share.n) - quotient(theirs.share.x, theirs.share.n)
            score = (np.minimum(ours.n, theirs.n) < _SMALL) & (np.abs(gap) > _FAR)
    return Versus(ours, theirs, np.empty(0), score, few_of(ours, theirs), correlation)


def contrast(metric: Contrast, found: Versus, compared: Comparisons, spec: Spec) -> Interval:
    """Return the interval of a difference or ratio of what `versus` found."""
    sides = (found.group, found.other)
    first, second = sides if metric.order == "group - reference" else sides[::-1]
    low, high = _limits(metric, first, second, found.correlation, spec)
    method = [_name(metric, first, spec.method)] * len(low)
    at = np.flatnonzero(found.score)
    if len(at) and first.share is not None and second.share is not None:
        low[at], high[at] = _score(metric, first.share, second.share, at, spec.confidence)
        for i in at:
            method[i] = "scas score"
    if compared.rest is not None:
        low, high = _of_the_whole(metric, compared, low, high)
    unknown = np.isnan(low) | np.isnan(high)
    p = np.where(unknown, np.nan, found.p)
    reason = found.group.reason or found.other.reason or NO_SIGN
    if found.group.clustered:
        reason = UNTOLD
    return Interval(low, high, p, method, found.too_few, reason)


def _limits(
    metric: Contrast, first: Bounds, second: Bounds, correlation: Array, spec: Spec
) -> Limits:
    if first.variance is not None and second.variance is not None:  # means
        degrees = welch_degrees(first.variance, first.n, second.variance, second.n)
        c = critical_t(spec.confidence, degrees)
        (low1, high1), (low2, high2) = first.at(c), second.at(c)
    else:
        (low1, high1), _ = first.limits(spec.confidence, spec.method)
        (low2, high2), _ = second.limits(spec.confidence, spec.method)
    e1, e2 = first.estimate, second.estimate
    if metric.by == "difference":
        low, high = mover_difference(e1, low1, high1, e2, low2, high2, correlation)
        return np.array(low), np.array(high)
    if metric.of.range[0] >= 0:
        low1, low2 = np.maximum(low1, 0.0), np.maximum(low2, 0.0)
        low, high = mover_ratio(e1, low1, high1, e2, low2, high2, correlation)
        return np.array(low), np.array(high)
    above = (low1 > 0) & (low2 > 0)
    below = (high1 < 0) & (high2 < 0)
    with np.errstate(invalid="ignore"):
        low, high = mover_ratio(
            np.abs(e1),
            np.where(below, -high1, low1),
            np.where(below, -low1, high1),
            np.abs(e2),
            np.where(below, -high2, low2),
            np.where(below, -low2, high2),
            correlation,
        )
    sure = above | below  # a ratio of numbers that may be 0 has no limits
    return np.where(sure, low, np.nan), np.where(sure, high, np.nan)


def _p(every: Sequence[Versus], exact: NDArray[np.bool_]) -> list[Array]:
    """Return the p-values at which the intervals just touch "no difference"."""
    found: list[Array] = [each.p for each in every]
    inverted = [i for i, each in enumerate(every) if not each.of_means]
    if inverted:
        ours, theirs = (
            joined([getattr(every[i], side) for i in inverted]) for side in ("group", "other")
        )
        correlation = np.concatenate([every[i].correlation for i in inverted])

        def interval(z: Array) -> Limits:
            (low1, high1), (low2, high2) = ours.at(z), theirs.at(z)
            e1, e2 = ours.estimate, theirs.estimate
            return mover_difference(e1, low1, high1, e2, low2, high2, correlation)

        p = np.split(invert(interval), np.cumsum([len(every[i].score) for i in inverted])[:-1])
        for i, here in zip(inverted, p, strict=True):
            found[i] = _of_shares(every[i], np.array(here), exact)
    for i, each in enumerate(every):
        one, two = each.group, each.other
        if one.variance is not None and two.variance is not None:
            found[i] = welch_p(one.estimate, one.variance, one.n, two.estimate, two.variance, two.n)
    return found


def _of_shares(each: Versus, p: Array, exact: NDArray[np.bool_]) -> Array:
    """Return p-values, those of shares by an exact test or the score where these are due."""
    if each.group.share is None or each.other.share is None:
        return p
    one, two = each.group.share, each.other.share
    x1, n1, x2, n2 = one.x, one.n, two.x, two.n
    if exact.any():
        whole = np.all([each == np.floor(each) for each in (x1, n1, x2, n2)], axis=0)
        at = np.flatnonzero(exact & whole & ((n1 + 1) * (n2 + 1) <= _MOST_TABLES))
        p[at] = boschloo(x1[at], n1[at], x2[at], n2[at])
    at = np.flatnonzero(each.score)
    p[at] = score_p(x1[at], n1[at], x2[at], n2[at])
    return p


def _score(metric: Contrast, one: Share, two: Share, at: NDArray[np.int64], c: float) -> Limits:
    """Return the skewness-corrected score limits of some comparisons of two shares."""
    sides = one.x[at], one.n[at], two.x[at], two.n[at]
    return (score_difference if metric.by == "difference" else score_ratio)(*sides, c)


def _of_the_whole(metric: Contrast, compared: Comparisons, low: Array, high: Array) -> Limits:
    """Carry limits against the rest over to limits against the whole, the group with it."""
    count = denominator(metric.of)
    if count is None:
        return low, high
    part = quotient(count(compared.group.side), count(compared.reference.side))

    def scaled(limit: Array) -> Array:  # a group that is the whole has no rest
        rest: Array = np.multiply(1 - part, limit, out=np.zeros_like(part), where=~(part >= 1))
        return rest

    if metric.by == "difference":
        return scaled(low), scaled(high)
    if metric.order == "reference - group":
        return part + scaled(low), part + scaled(high)
    low, high = (quotient(1.0, part + scaled(quotient(1.0, limit))) for limit in (low, high))
    return low, high


def few_of(ours: Bounds, theirs: Bounds) -> list[str]:
    """Say where a denominator is below 20, or an expected count below 5."""
    fewest = np.minimum(ours.n, theirs.n)
    expected = np.full(len(fewest), np.inf)
    for one, two in zip(ours.shares, theirs.shares, strict=True):
        with np.errstate(invalid="ignore"):
            pooled = quotient(one.x + two.x, one.n + two.n)
            rarer = np.minimum(pooled, 1 - pooled)
            expected = np.fmin(expected, np.minimum(one.n, two.n) * rarer)
    if ours.clusters is None or theirs.clusters is None:
        return few(fewest, expected)
    clusters = few_clusters(np.minimum(ours.clusters, theirs.clusters))
    rows = few(fewest, expected, "clusters worth " if ours.shares else "")
    return [a or b for a, b in zip(clusters, rows, strict=True)]


def few(rows: Array, expected: ArrayLike = np.inf, of: str = "") -> list[str]:
    """Say where rows are below 20, or an expected count below 5; empty where they suffice."""
    said = []
    for n, count in zip(rows.tolist(), np.broadcast_to(expected, rows.shape).tolist(), strict=True):
        if n < FEWEST_ROWS:
            said.append(f"rests on {of}{n:,.10g} rows on one side, fewer than {FEWEST_ROWS}")
        elif count < FEWEST_EXPECTED:
            said.append(
                f"{count:.2g} rows would be expected in its rarest cell if there were no "
                f"difference, fewer than {FEWEST_EXPECTED}"
            )
        else:
            said.append("")
    return said


def _name(metric: Contrast, side: Bounds, method: Method) -> str:
    if side.variance is not None:
        return "welch" if metric.by == "difference" else "welch, as a ratio"
    how = side.method
    if side.share is not None and method in (Method.EXACT, Method.BAYES):
        how = "clopper-pearson" if method is Method.EXACT else "jeffreys"
    if how == "wilson":
        return "newcombe" if metric.by == "difference" else "mover-wilson ratio"
    return f"{how}, mover {metric.by}"
