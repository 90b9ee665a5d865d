"""Rows: intervals of the metrics of single rows, one comparison at a time.

What is resampled, and what is taken as given, differs by metric: a flip test takes the reference's
rows as given, a ranking its places; distances move both sides; a neighbourhood is tried without
blocks of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod
from fairgauge.inference.compared_counts import generator, precedes
from fairgauge.inference.interval import (
    Intervals,
    Methods,
    NoInterval,
    insufficient_rows,
    no_intervals,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.cumulative import (
    TwoSamples,
    cumulative_errors,
    cumulative_p,
    expected_cumulative_distance,
)
from fairgauge.stats.intervals import critical
from fairgauge.stats.neighbours import jackknifed_share
from fairgauge.stats.norm_ball import ball
from fairgauge.stats.paired import paired_difference, paired_p
from fairgauge.stats.rankings import (
    Ranking,
    Tops,
    exposure_interval,
    ranking_divergence_interval,
    top_p,
    top_ratio,
    top_skew,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.question.specification import Spec
    from fairgauge.stats.cumulative import Cumulative

_TWO = 2
_FEWEST_DRAWS = 500
_MOST_DRAWN = 20_000_000


def of_rows(make: Callable[[], Intervals], spec: Spec) -> Intervals:
    """Return the interval of one comparison of rows, or the reason why there is none."""
    if spec.cluster is not None:
        return no_intervals(1, Reason.of(ReasonCode.ROW_METRIC_WITH_CLUSTERS))
    try:
        return make()
    except NoInterval as why:
        return no_intervals(1, why.reason)


def flipped(better: int, worse: int, n: int, m: int, spec: Spec, *, apart: bool) -> Intervals:
    """Return the interval of the flip test: its rows against what their neighbours would be given.

    Parameters
    ----------
    better, worse : rows that their neighbours would decide better, and worse.
    n, m : rows of the group that are looked at, and of the reference.
    apart : whether the reference has none of the group's rows.

    Raises
    ------
    NoInterval
        The reference holds the group's rows.
    """
    if not apart:
        raise NoInterval(ReasonCode.OWN_NEIGHBOURS)
    limits = paired_difference(better, worse, n, critical(spec.confidence))
    method = (IntervalMethod.TANGO, IntervalMethod.REFERENCE_FIXED)
    return _one(limits, paired_p(better, worse), method, min(n, m))


def consistent(away: Array, rows: int, spec: Spec) -> Intervals:
    """Return the interval of consistency, from the disagreement of all rows and without blocks."""
    low, high = jackknifed_share(away, rows, spec.confidence)
    method = (IntervalMethod.ROW_JACKKNIFE, IntervalMethod.WILSON)
    return _one((1 - high, 1 - low), np.nan, method, rows)


def distant(
    ours: Array, theirs: Array, part: float, kind: Cumulative, spec: Spec, key: str
) -> Intervals:
    """Return the interval of a distance of two samples that share no row.

    Parameters
    ----------
    part : the group's share of its reference; the distance to the whole is 1 - part times the one
        to the other rows of it.
    key : the metric, by which random draws are seeded.

    Raises
    ------
    NoInterval
        The group is all of its reference.
    """
    if not len(theirs):
        raise NoInterval(ReasonCode.OWN_REFERENCE)
    every = TwoSamples.of(ours, theirs)
    cells = every.merged()
    sides, steps = (cells.a, cells.d), cells.widths
    if not precedes(*sides):
        sides = sides[::-1]
    rng = generator(spec, key, *sides)
    draws = _draws(spec, len(cells.values))
    value = every.distance(kind)
    errors = cumulative_errors(*sides, steps, kind, rng, draws)
    radius, outside = ball(errors, value, spec.confidence)
    p = np.fmax(outside, cumulative_p(*sides, steps, kind, rng, draws))
    floor = (1 - part) * expected_cumulative_distance(*sides, steps, kind, rng, draws)
    low = value - radius if p < 1 - spec.confidence else 0.0  # as the permuted rows have it
    limits = ((1 - part) * max(low, 0.0), (1 - part) * (value + radius))
    rows = min(len(ours), len(theirs))
    method = (IntervalMethod.NORM_BALL, IntervalMethod.MULTINOMIAL_BOOTSTRAP)
    return _one(limits, p, method, rows, floor=float(floor))


def at_top(held: float, others: float, n: int, m: int, part: float, spec: Spec) -> Intervals:
    """Return the interval of the ratio of two shares of rows that are among the top.

    ``part`` is the group's share of its reference; ``others`` and ``m`` are of its other rows.

    Raises
    ------
    NoInterval
        The group is all of its reference.
    """
    if not m:
        raise NoInterval(ReasonCode.OWN_REFERENCE)
    low, high = top_ratio(held, others, n, m, critical(spec.confidence))
    places = held + others
    return _one(
        (_of_the_whole(low, part), _of_the_whole(high, part)),
        top_p(held, places, n, n + m),
        (IntervalMethod.WILSON_ODDS, IntervalMethod.RANKS_FIXED),
        min(n, m),
        expected=places * min(n, m) / (n + m),
    )


def skewed(held: float, places: int, n: int, total: int, spec: Spec) -> Intervals:
    """Return the interval of the skew at the top of a ranking."""
    limits = top_skew(held, places, n, total, critical(spec.confidence))
    fewest = min(n, total - n)
    p = top_p(held, places, n, total)
    method = (IntervalMethod.WILSON, IntervalMethod.RANKS_FIXED)
    return _one(limits, p, method, fewest, expected=places * fewest / total)


def exposed(ours: Array, theirs: Array, part: float, spec: Spec) -> Intervals:
    """Return the interval of the ratio of mean exposures of two sides that share no row.

    ``part`` is the group's share of its reference; ``theirs`` are of the other rows of it.

    Raises
    ------
    NoInterval
        The group is all of its reference, or all scores are one.
    """
    if not len(theirs):
        raise NoInterval(ReasonCode.OWN_REFERENCE)
    low, high, p = exposure_interval(ours, theirs, critical(spec.confidence))
    if np.isnan(low):
        raise NoInterval(ReasonCode.ONE_RANK)
    limits = _of_the_whole(np.asarray(low), part), _of_the_whole(np.asarray(high), part)
    method = (IntervalMethod.TILTED_SCORE, IntervalMethod.RANKS_FIXED)
    return _one(limits, p, method, min(len(ours), len(theirs)))


def even_tops(
    value: float, ranking: Ranking, codes: NDArray[np.int64], groups: int, spec: Spec, key: str
) -> Intervals:
    """Return the interval of the divergence of the groups in every top from those in all.

    Raises
    ------
    NoInterval
        All rows are of one group, or all scores are one.
    """
    if np.count_nonzero(np.bincount(codes)) < _TWO:
        raise NoInterval(ReasonCode.ONE_GROUP_RANKED)
    if not ranking.ties[-1]:
        raise NoInterval(ReasonCode.ONE_RANK)
    tops = Tops.of(ranking, codes, groups)
    draws, rng = _draws(spec, tops.cost), generator(spec, key)
    low, high, p, floor = ranking_divergence_interval(value, tops, spec.confidence, rng, draws)
    method = (IntervalMethod.ROOT_BALL, IntervalMethod.PERMUTATION)
    return _one((low, high), p, method, len(codes), floor=floor)


def _of_the_whole(ratio: Array, part: float) -> Array:
    """Carry a ratio to the other rows over to all rows, of which the group is a part."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1 / (part + (1 - part) / ratio))


def _draws(spec: Spec, numbers: int) -> int:
    """Return how often is drawn, where one draw takes so many numbers."""
    return min(spec.replicates, max(_MOST_DRAWN // numbers, _FEWEST_DRAWS))


def _one(
    limits: tuple[ArrayLike, ArrayLike],
    p: ArrayLike,
    method: Methods,
    rows: float,
    *,
    expected: float = np.inf,
    floor: float = np.nan,
) -> Intervals:
    low, high, chance = (np.array([each], dtype=np.float64) for each in (*limits, p))
    too_few = insufficient_rows(np.array([float(rows)]), expected)
    return Intervals(low, high, chance, [method], too_few, expected=np.array([floor]))
