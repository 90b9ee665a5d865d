"""Contrasts: the interval of a difference or a ratio, from the limits of both sides (MOVER).

Difference and ratio come from one equation, so they agree on "no difference", and share their
p-value. Where the group is a part of its reference, it is compared with the rest of it and the
limits are carried over: of a mean, ``d - whole`` is ``(1 - s)(d - rest)``, s the group's share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod, Method
from fairgauge.inference.bound import joined
from fairgauge.inference.bounds import denominator
from fairgauge.inference.cluster_jackknife import clustered_bounds
from fairgauge.inference.interval import (
    FEWEST_EXPECTED,
    FEWEST_ROWS,
    JACKKNIFE_UNDEFINED,
    RATIO_MAY_BE_ZERO,
    Intervals,
    NoInterval,
    few_clusters,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.contrasts import (
    mover_difference,
    mover_ratio,
    score_difference,
    score_ratio,
    welch_degrees,
)
from fairgauge.stats.exact import boschloo
from fairgauge.stats.intervals import critical, critical_t
from fairgauge.stats.significance import invert, score_p, welch_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.bound import Bounds, Share
    from fairgauge.inference.evidence import Comparisons
    from fairgauge.inference.interval import Methods
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.arrays import Limits

_SMALL, _FAR = 50, 0.5
"""Below so many rows, rates this far apart get score limits: there Newcombe's cover too little."""
_MOST_TABLES = 50_000
"""Tables that an exact test enumerates; of more rows the limits are exact enough."""


@dataclass(frozen=True, slots=True, eq=False)
class Versus:
    """One statistic of two sides that share no row, and what is common to all contrasts of it.

    Attributes
    ----------
    ends : the limits of both sides at the confidence, where they are made beforehand.
    p : of "no difference".
    score : which comparisons get score limits.
    too_few : why each has insufficient data; None where there is enough.
    correlation : of the two sides.
    """

    group: Bounds
    other: Bounds
    p: Array
    score: NDArray[np.bool_]
    too_few: list[Reason | None]
    correlation: Array
    ends: tuple[Limits, Limits] | None = None

    @property
    def of_means(self) -> bool:
        """Return whether both sides are means, which Welch's test compares."""
        return self.group.variance is not None and self.other.variance is not None


def versus(
    statistics: Sequence[Statistic], compared: Comparisons, spec: Spec
) -> dict[Statistic, Versus | Reason]:
    """Return what is common to all contrasts of each statistic, made for all of them at once.

    In place of a statistic that has no interval stands the reason.
    """
    found: dict[Statistic, Versus | Reason] = {}
    for statistic in statistics:
        try:
            found[statistic] = _sides(statistic, compared, spec)
        except NoInterval as why:
            found[statistic] = why.reason
    means = {k: v for k, v in found.items() if isinstance(v, Versus) and v.of_means}
    others = {k: v for k, v in found.items() if isinstance(v, Versus) and not v.of_means}
    exact = compared.margin & (spec.method is Method.EXACT)
    inverted = _inverted(list(others.values()), spec, exact) if others else []
    found |= {key: replace(each, p=_welch(each)) for key, each in means.items()}
    return found | dict(zip(others, inverted, strict=True))


def _sides(statistic: Statistic, compared: Comparisons, spec: Spec) -> Versus:
    """Return the bounds of both sides, without p-values."""
    other = compared.reference if denominator(statistic) is None else compared.other
    ours, theirs = (clustered_bounds(statistic, each) for each in (compared.group, other))
    at = np.arange(len(ours.n))
    correlation = ours.correlation(theirs, at, at)
    score = np.zeros(len(ours.n), dtype=bool)
    one, two = ours.share, theirs.share
    if one and two and one.plain and two.plain and not ours.clustered:  # else not of the number
        if spec.method is Method.SCORE:
            score |= (one.n > 0) & (two.n > 0)
        elif spec.method is Method.DEFAULT:
            gap = quotient(one.x, one.n) - quotient(two.x, two.n)
            score = (np.minimum(ours.n, theirs.n) < _SMALL) & (np.abs(gap) > _FAR)
    return Versus(ours, theirs, np.empty(0), score, few_of(ours, theirs), correlation)


def contrast(metric: Contrast, found: Versus, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a difference or ratio of what `versus` found."""
    sides = (found.group, found.other)
    first, second = sides if metric.order == "group - reference" else sides[::-1]
    low, high = _limits(metric, found, spec)
    method = [_name(metric, first, spec.method)] * len(low)
    at = np.flatnonzero(found.score)
    if len(at) and first.share is not None and second.share is not None:
        low[at], high[at] = _score(metric, first.share, second.share, at, spec.confidence)
        for i in at:
            method[i] = (IntervalMethod.SCAS,)
    if compared.rest is not None:
        low, high = _of_the_whole(metric, compared, low, high)
    unknown = np.isnan(low) | np.isnan(high)
    p = np.where(unknown, np.nan, found.p)
    reason = found.group.reason or found.other.reason or RATIO_MAY_BE_ZERO
    if found.group.clustered:
        reason = JACKKNIFE_UNDEFINED
    return Intervals(low, high, p, method, found.too_few, reason)


def _limits(metric: Contrast, found: Versus, spec: Spec) -> Limits:
    sides = _both_ends(found, spec)
    bounds, correlation = (found.group, found.other), found.correlation
    turned = metric.order == "reference - group"
    (low1, high1), (low2, high2) = sides[::-1] if turned else sides
    first, second = bounds[::-1] if turned else bounds
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


def _both_ends(found: Versus, spec: Spec) -> tuple[Limits, Limits]:
    """Return the limits of both sides."""
    one, two = found.group, found.other
    if one.variance is not None and two.variance is not None:
        c = critical_t(spec.confidence, welch_degrees(one.variance, one.n, two.variance, two.n))
        return one.at(c), two.at(c)
    if found.ends is None or one.asked_otherwise(spec.method):
        ours, theirs = (each.limits(spec.confidence, spec.method)[0] for each in (one, two))
        return ours, theirs
    return found.ends


def _welch(tested: Versus) -> Array:
    one, two = tested.group, tested.other
    assert one.variance is not None
    assert two.variance is not None
    return welch_p(one.estimate, one.variance, one.n, two.estimate, two.variance, two.n)


def _inverted(every: list[Versus], spec: Spec, exact: NDArray[np.bool_]) -> list[Versus]:
    """Add the p-values at which intervals just touch "no difference", and limits of both sides."""
    both = joined([each.group for each in every] + [each.other for each in every])
    size = len(both.n) // 2
    correlation = np.concatenate([each.correlation for each in every])

    def sides(z: Array) -> tuple[Limits, Limits]:
        low, high = both.at(np.concatenate([z, z]))
        return (low[:size], high[:size]), (low[size:], high[size:])

    def interval(z: Array) -> Limits:
        ours, theirs = sides(np.broadcast_to(z, (size,)))
        e1, e2 = both.estimate[:size], both.estimate[size:]
        return mover_difference(e1, *ours, e2, *theirs, correlation)

    p, made, start = invert(interval), [], 0
    ours, theirs = sides(np.full(size, critical(spec.confidence)))
    for each in every:
        here = slice(start, start := start + len(each.score))
        ends = tuple((low[here], high[here]) for low, high in (ours, theirs))
        shares = _of_shares(each, np.array(p[here]), exact)
        made.append(replace(each, p=shares, ends=(ends[0], ends[1])))
    return made


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


def few_of(ours: Bounds, theirs: Bounds) -> list[Reason | None]:
    """Return where a denominator is below 20, or an expected count below 5."""
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
    rows = few(fewest, expected, effective=bool(ours.shares))
    return [a or b for a, b in zip(clusters, rows, strict=True)]


def few(
    rows: Array, expected: ArrayLike = np.inf, *, effective: bool = False
) -> list[Reason | None]:
    """Return where rows are below 20, or an expected count below 5; None where they suffice.

    ``rows`` are of the smaller side, ``effective`` says that they are effective sample sizes.
    """
    counts = np.broadcast_to(expected, rows.shape).tolist()
    return [
        _insufficient(n, count, effective=effective)
        for n, count in zip(rows.tolist(), counts, strict=True)
    ]


def _insufficient(n: float, expected: float, *, effective: bool) -> Reason | None:
    if n < FEWEST_ROWS:
        return Reason.of(
            ReasonCode.FEW_ROWS, n=n, minimum=FEWEST_ROWS, effective=True if effective else None
        )
    if expected < FEWEST_EXPECTED:
        return Reason.of(ReasonCode.FEW_EXPECTED, expected=expected, minimum=FEWEST_EXPECTED)
    return None


def _name(metric: Contrast, side: Bounds, method: Method) -> Methods:
    ratio = metric.by == "ratio"
    if side.variance is not None:
        return (IntervalMethod.WELCH, IntervalMethod.FIELLER) if ratio else (IntervalMethod.WELCH,)
    how = side.method
    if side.share is not None and method in (Method.EXACT, Method.BAYES):
        exact = method is Method.EXACT
        how = (IntervalMethod.CLOPPER_PEARSON if exact else IntervalMethod.JEFFREYS,)
    if how == (IntervalMethod.WILSON,) and not ratio:
        return (IntervalMethod.NEWCOMBE,)
    return (IntervalMethod.MOVER, *how)
