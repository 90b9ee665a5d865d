"""Row slices: neighbours, distances and rankings of the groups of one feature, as estimates.

What their intervals resample, and what they take as given, differs by metric: a flip test takes the
reference's rows as given, a ranking its places; distances move both sides; a neighbourhood is tried
without blocks of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.cells import Array, divide
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.enums import DiagnosticCode, IntervalMethod, Profile, ReferenceRule, Status
from fairgauge.inference.compared_counts import generator, precedes
from fairgauge.inference.interval import (
    Intervals,
    Methods,
    NoInterval,
    certainty,
    insufficient_rows,
    no_intervals,
)
from fairgauge.measure.slices import Slice
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import EVERYONE, Estimate
from fairgauge.results.scopes import Diagnostic, Reference
from fairgauge.stats.arrays import Index, Mask
from fairgauge.stats.cumulative import (
    Cumulative,
    TwoSamples,
    cumulative_errors,
    cumulative_test,
)
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.neighbours import Neighbours, disagreement, jackknifed_share
from fairgauge.stats.norm_ball import ball
from fairgauge.stats.paired import paired_difference, paired_p
from fairgauge.stats.quantiles import compared_quantiles
from fairgauge.stats.rankings import (
    Ranking,
    Tops,
    exposure_interval,
    ranking_divergence_interval,
    top_p,
    top_ratio,
    top_skew,
)

NEIGHBOURS = 5
FEWEST_REFERENCE_ROWS = 10
MOST_QUERIES = 20_000
"""Neighbours of more rows than this are looked up for a seeded sample of so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows, as arrays of shape (rows,): NaN where a number is missing.

    ``selected`` is 1 for a positive prediction and 0 for a negative one.
    """

    selected: Array
    prediction: Array
    label: Array
    score: Array
    points: Array


class RowSlice:
    """One feature, row by row, under the first outcome."""

    def __init__(self, part: Slice, codes: Index, rows: Rows) -> None:
        self._part = part
        self._feature = part.counts.feature
        self._groups = part.counts.groups
        self._codes = codes
        self._rows = rows
        self._spec = part.uncertainty.spec_of_comparisons

    def estimates(self, metric: RowMetric) -> Iterator[Estimate]:
        """Return one estimate for every group, or one for the feature."""
        if metric.one_per == "feature":
            answer = self._ndkl(metric)
            yield row_estimate(metric, self._feature, None, None, answer, self._part.spec)
            return
        references = self._part.references(metric, self._numbers(metric))
        for i, group in enumerate(self._groups):
            if references.sides[i] != i:
                sides = RowSides(self._codes == i, references.rows(i, self._codes))
                answer = self._answer(metric, sides)
                if answer.interval is not None:
                    made = self._part.uncertainty.whichever_is_chosen(answer.interval)
                    answer = replace(answer, interval=made)
                reference, spec = references.each[i], self._part.spec
                yield row_estimate(metric, self._feature, group, reference, answer, spec)

    def _numbers(self, metric: RowMetric) -> Array | None:
        """Return what the best group is the best by; None of what no group has by itself.

        A ratio to all rows has the order of the groups' own numbers.
        """
        best = self._spec.reference is ReferenceRule.BEST
        if not best or (metric.q is None and metric.kind not in ("top", "skew", "exposure")):
            return None
        every = np.asarray(self._codes >= -1)
        groups = range(len(self._groups))
        answers = [self._answer(metric, RowSides(self._codes == i, every)) for i in groups]
        if metric.q is None:
            return np.array([each.value for each in answers])
        return np.array([each.rates[0] if each.rates else math.nan for each in answers])

    def notes(self, metric: RowMetric) -> Iterator[Diagnostic]:
        """Note where neighbours are looked up for a sample of the rows only."""
        largest = int(np.bincount(self._codes[self._codes >= 0], minlength=1).max())
        if metric.kind == "flip" and largest > MOST_QUERIES:
            yield Diagnostic.note(
                DiagnosticCode.SAMPLED,
                self._feature,
                metric=metric.name,
                rows=MOST_QUERIES,
                seed=self._spec.seed,
            )

    def _answer(self, metric: RowMetric, sides: RowSides) -> RowAnswer:
        if metric.kind == "flip":
            return self._flip(sides)
        if metric.kind in ("top", "skew", "exposure"):
            return self._ranked(metric, sides)
        if metric.kind == "quarter":
            return self._quarter(sides, int(metric.top or 1))
        if metric.q is not None:
            return self._quantile(metric, sides.where(~np.isnan(self._rows.label)), metric.q)
        values = self._rows.prediction
        if metric.kind.startswith("residual"):
            values = values - self._rows.label
        return self._distance(metric, sides.where(~np.isnan(values)), values)

    def _distance(self, metric: RowMetric, sides: RowSides, values: Array) -> RowAnswer:
        n, m = sides.sizes
        if not n or not m:
            return RowAnswer(math.nan, n, m)
        kind: Cumulative = "ks" if metric.kind.endswith("ks") else "wasserstein"
        value = TwoSamples.of(values[sides.group], values[sides.reference]).distance(kind)
        ours, theirs = values[sides.group], values[sides.rest]
        found = of_rows(
            lambda: distant(ours, theirs, sides.part, kind, self._spec, metric.name), self._spec
        )
        return RowAnswer(value, n, m, interval=found)

    def _quantile(self, metric: RowMetric, sides: RowSides, q: float) -> RowAnswer:
        (n, m), label, ratio = sides.sizes, self._rows.label, bool(metric.neutral)
        if not n or not m:
            return RowAnswer(math.nan, n, m)
        ours, theirs = label[sides.group], label[sides.reference]
        quantiles = float(np.quantile(ours, q)), float(np.quantile(theirs, q))
        found = of_rows(
            lambda: of_quantiles(ours, theirs, q, sides.part, self._spec, ratio=ratio), self._spec
        )
        value = quantiles[0] - quantiles[1]
        if ratio:
            value = quantiles[0] / quantiles[1] if min(quantiles) > 0 else math.nan
        reason = Reason.of(ReasonCode.RATIO_MAY_BE_ZERO)
        return RowAnswer(value, n, m, quantiles, found, reason)

    def _quarter(self, sides: RowSides, k: int) -> RowAnswer:
        """Return the group's share of a quarter, and the reference's."""
        label = self._rows.label
        known = ~np.isnan(label) & (self._codes >= -1)
        sides, total = sides.where(known), int(known.sum())
        (n, m), ends = sides.sizes, [round(total * end / 4) for end in (k - 1, k)]
        if not n or not m or ends[0] == ends[1]:
            return RowAnswer(math.nan, n, m)
        ranking, held = Ranking.of(-label[known]), np.full(len(label), np.nan)
        held[known] = ranking.within(ends[1]) - ranking.within(ends[0])
        places = ends[1] - ends[0]
        mine, theirs = sides.sum(held) / places, math.fsum(held[sides.reference]) / places
        found = of_rows(lambda: in_quarter(mine, places, min(n, m), self._spec), self._spec)
        return RowAnswer(mine, n, m, (mine, theirs), found)

    def _flip(self, sides: RowSides) -> RowAnswer:
        points, selected = self._rows.points, self._rows.selected
        sides = sides.where(~np.isnan(selected) & ~np.isnan(points).any(axis=1))
        ours, theirs = np.flatnonzero(sides.group), np.flatnonzero(sides.reference)
        if not len(ours) or not len(theirs):
            return RowAnswer(math.nan, len(ours), len(theirs))
        k = NEIGHBOURS if len(theirs) >= FEWEST_REFERENCE_ROWS else 1
        if len(ours) > MOST_QUERIES:
            # drawn by the values of the rows, not by their places, so that row order is nothing
            order = np.lexsort((*points[ours].T, selected[ours]))
            rng = np.random.default_rng(self._spec.seed)
            ours = ours[order][rng.choice(len(ours), MOST_QUERIES, replace=False)]
        votes = Neighbours.of(points[theirs]).mean(selected[theirs], points[ours], k)
        better = int(((selected[ours] == 0) & (votes > 0.5)).sum())
        worse = int(((selected[ours] == 1) & (votes < 0.5)).sum())
        favoured = self._spec.profile.rules.flips_are_favoured
        more, less = (worse, better) if favoured else (better, worse)
        n, m, apart = len(ours), len(theirs), not sides.part
        found = of_rows(lambda: flipped(more, less, n, m, self._spec, apart=apart), self._spec)
        return RowAnswer((more - less) / n, n, m, (better / n, worse / n), found)

    def _ranked(self, metric: RowMetric, sides: RowSides) -> RowAnswer:
        score, spec = self._rows.score, self._spec
        known = ~np.isnan(score) & (self._codes >= -1)
        sides = sides.where(known)
        (n, m), total = sides.sizes, int(known.sum())
        if not n or not m:
            return RowAnswer(math.nan, n, m)
        ranking = Ranking.of(score[known])
        held = np.full(len(score), np.nan)
        if metric.kind == "exposure":
            held[known] = ranking.exposure()
            means = sides.sum(held) / n, math.fsum(held[sides.reference]) / m
            value = means[0] / means[1]
            ours, theirs = held[sides.group], held[sides.rest]
            found = of_rows(lambda: exposed(ours, theirs, sides.part, spec), spec)
            return RowAnswer(value, n, m, means, found)
        top = metric.top or 0.0
        places = min(math.ceil(total * top / 100) if metric.percent else int(top), total)
        if places == total:
            return RowAnswer(math.nan, n, m, reason=Reason.of(ReasonCode.ALL_AT_TOP, rows=total))
        held[known] = ranking.within(places)
        mine = sides.sum(held)
        if metric.kind == "top":
            share, rest = mine / n, math.fsum(held[sides.reference]) / m
            value = float(divide(np.array(share), np.array(rest), Profile.DOCUMENTED))
            others, size = math.fsum(held[sides.rest]), int(sides.rest.sum())
            found = of_rows(lambda: at_top(mine, others, n, size, sides.part, spec), spec)
            reason = Reason.of(ReasonCode.NONE_AT_TOP)
            return RowAnswer(value, n, m, (share, rest), found, reason)
        with np.errstate(divide="ignore"):
            value = float(np.log(mine / places / (n / total)))
        found = of_rows(lambda: skewed(mine, places, n, total, spec), spec)
        return RowAnswer(value, n, m, (mine / places, n / total), found)

    def _ndkl(self, metric: RowMetric) -> RowAnswer:
        known = ~np.isnan(self._rows.score) & (self._codes >= 0)
        n, groups = int(known.sum()), len(self._groups)
        if not n:
            return RowAnswer(math.nan, 0, None)
        codes, ranking = _by_scores(self._codes[known], self._rows.score[known], groups)
        value = ranking.divergence(codes, groups)
        found = of_rows(
            lambda: even_tops(value, ranking, codes, groups, self._part.spec, metric.name),
            self._spec,
        )
        return RowAnswer(value, n, None, interval=found)


def _by_scores(codes: Index, scores: Array, groups: int) -> tuple[Index, Ranking]:
    """Return the ranking, and the groups numbered by what they hold: names decide no draw."""
    held = [np.sort(scores[codes == group]).tobytes() for group in range(groups)]
    number = np.argsort(sorted(range(groups), key=held.__getitem__))
    return number[codes], Ranking.of(scores)


def consistency(metric: RowMetric, rows: Rows, spec: Spec) -> Estimate:
    """Measure how alike the predictions of near rows are, whatever their groups."""
    usable = np.flatnonzero(~np.isnan(rows.selected) & ~np.isnan(rows.points).any(axis=1))
    n = len(usable)
    if not n:
        return row_estimate(metric, None, EVERYONE, None, RowAnswer(math.nan, 0, None), spec)
    rng = generator(spec, metric.name)
    away = disagreement(rows.points[usable], rows.selected[usable], NEIGHBOURS, rng)
    off = float(away[0])
    found = of_rows(lambda: consistent(away, n, spec), spec)
    answer = RowAnswer(1 - off, n, None, interval=found)
    return row_estimate(metric, None, EVERYONE, None, answer, spec)


_EMPTY_SIDE = Reason.of(ReasonCode.NO_ROWS, of="everything the metric needs")


@dataclass(frozen=True, slots=True, eq=False)
class RowSides:
    """The rows of a group and of its reference."""

    group: Mask
    reference: Mask

    def where(self, usable: Mask) -> RowSides:
        """Return the sides without the rows that cannot be used."""
        return replace(self, group=self.group & usable, reference=self.reference & usable)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how many rows both have."""
        return int(self.group.sum()), int(self.reference.sum())

    @property
    def rest(self) -> Mask:
        """Return the reference without the group's rows."""
        return self.reference & ~self.group

    @property
    def part(self) -> float:
        """Return the share of the reference that is the group: 0 where they share no row."""
        return int((self.reference & self.group).sum()) / max(self.sizes[1], 1)

    def sum(self, values: Array) -> float:
        """Return the sum over the group, whatever the order of rows."""
        return math.fsum(values[self.group])


@dataclass(frozen=True, slots=True, eq=False)
class RowAnswer:
    """One number, the rows of both sides, the two rates, its interval, or why there is none."""

    value: float
    n_group: int
    n_reference: int | None
    rates: tuple[float, float] | None = None
    interval: Intervals | None = None
    reason: Reason = _EMPTY_SIDE


def row_estimate(
    metric: RowMetric,
    feature: str | None,
    group: str | None,
    reference: Reference | None,
    answer: RowAnswer,
    spec: Spec,
) -> Estimate:
    """Return the estimate of an answer, with its interval inside the range of the metric."""
    rates = answer.rates or (None, None)
    estimate = Estimate(
        metric=metric.name,
        definition=metric,
        set=metric.set,
        feature=feature,
        group=group,
        reference=reference,
        n_group=answer.n_group,
        n_reference=answer.n_reference,
        rate_group=rates[0],
        rate_reference=rates[1],
    )
    if math.isnan(answer.value) or answer.interval is None:
        return replace(estimate, status=Status.UNDEFINED, reason=answer.reason)
    intervals = answer.interval.containing(np.array([answer.value]), metric.range)
    return replace(estimate, value=answer.value, **certainty(intervals, 0, spec.confidence))


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


def in_quarter(share: float, places: int, rows: int, spec: Spec) -> Intervals:
    """Return the interval of a share of the rows in a quarter, of which there are so many."""
    limits = wilson(share * places, places, critical(spec.confidence))
    return _one(limits, np.nan, (IntervalMethod.WILSON,), rows)


def flipped(better: int, worse: int, n: int, m: int, spec: Spec, *, apart: bool) -> Intervals:
    """Return the interval of the flip test: its rows against what their neighbours would be given.

    Parameters
    ----------
    better, worse : rows that their neighbours would decide better, and worse.
    n, m : rows of the group that are looked at, and of the reference.
    apart : whether the reference has none of the group's rows.
    """
    if not apart:
        raise NoInterval(ReasonCode.OWN_NEIGHBOURS)
    limits = paired_difference(better, worse, n, critical(spec.confidence))
    method = (IntervalMethod.SCORE, IntervalMethod.CONDITIONAL)
    return _one(limits, paired_p(better, worse), method, min(n, m))


def consistent(away: Array, rows: int, spec: Spec) -> Intervals:
    """Return the interval of consistency, from the disagreement of all rows and without blocks."""
    low, high = jackknifed_share(away, rows, spec.confidence)
    method = (IntervalMethod.JACKKNIFE, IntervalMethod.WILSON)
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
    tested, expected = cumulative_test(*sides, steps, kind, rng, draws)
    p, floor = np.fmax(outside, tested), (1 - part) * expected
    low = value - radius if p < 1 - spec.confidence else 0.0  # as the permuted rows have it
    limits = ((1 - part) * max(low, 0.0), (1 - part) * (value + radius))
    rows = min(len(ours), len(theirs))
    method = (IntervalMethod.BALL, IntervalMethod.BOOTSTRAP)
    return _one(limits, p, method, rows, floor=float(floor))


def of_quantiles(
    ours: Array, theirs: Array, q: float, part: float, spec: Spec, *, ratio: bool
) -> Intervals:
    """Return the interval of the difference or ratio of a quantile of two samples."""
    if part:
        whole = part == 1
        raise NoInterval(
            Reason.of(ReasonCode.OWN_REFERENCE)
            if whole
            else Reason.of(ReasonCode.SHARED_ROWS, of="group and reference")
        )
    found = compared_quantiles(ours, theirs, q, spec.confidence, ratio=ratio)
    if not math.isfinite(found.low) or not math.isfinite(found.high) or (ratio and not found.low):
        raise NoInterval(ReasonCode.UNBOUNDED)
    method = (IntervalMethod.ORDER_STATISTICS, IntervalMethod.MOVER)
    return _one((found.low, found.high), found.p, method, min(len(ours), len(theirs)))


def at_top(held: float, others: float, n: int, m: int, part: float, spec: Spec) -> Intervals:
    """Return the interval of the ratio of two shares of rows that are among the top.

    ``part`` is the group's share of its reference; ``others`` and ``m`` are of its other rows.
    """
    if not m:
        raise NoInterval(ReasonCode.OWN_REFERENCE)
    low, high = top_ratio(held, others, n, m, critical(spec.confidence))
    places = held + others
    return _one(
        (_of_the_whole(low, part), _of_the_whole(high, part)),
        top_p(held, places, n, n + m),
        (IntervalMethod.WILSON, IntervalMethod.CONDITIONAL),
        min(n, m),
        expected=places * min(n, m) / (n + m),
    )


def skewed(held: float, places: int, n: int, total: int, spec: Spec) -> Intervals:
    """Return the interval of the skew at the top of a ranking."""
    limits = top_skew(held, places, n, total, critical(spec.confidence))
    fewest = min(n, total - n)
    p = top_p(held, places, n, total)
    method = (IntervalMethod.WILSON, IntervalMethod.CONDITIONAL)
    return _one(limits, p, method, fewest, expected=places * fewest / total)


def exposed(ours: Array, theirs: Array, part: float, spec: Spec) -> Intervals:
    """Return the interval of the ratio of mean exposures of two sides that share no row.

    ``part`` is the group's share of its reference; ``theirs`` are of the other rows of it.
    """
    if not len(theirs):
        raise NoInterval(ReasonCode.OWN_REFERENCE)
    low, high, p = exposure_interval(ours, theirs, critical(spec.confidence))
    if np.isnan(low):
        raise NoInterval(ReasonCode.ONE_RANK)
    limits = _of_the_whole(np.asarray(low), part), _of_the_whole(np.asarray(high), part)
    method = (IntervalMethod.SCORE, IntervalMethod.CONDITIONAL)
    return _one(limits, p, method, min(len(ours), len(theirs)))


def even_tops(
    value: float, ranking: Ranking, codes: Index, groups: int, spec: Spec, key: str
) -> Intervals:
    """Return the interval of the divergence of the groups in every top from those in all."""
    if np.count_nonzero(np.bincount(codes)) < _TWO:
        raise NoInterval(ReasonCode.ONE_GROUP_RANKED)
    if not ranking.ties[-1]:
        raise NoInterval(ReasonCode.ONE_RANK)
    tops = Tops.of(ranking, codes, groups)
    draws, rng = _draws(spec, tops.cost), generator(spec, key)
    low, high, p, floor = ranking_divergence_interval(value, tops, spec.confidence, rng, draws)
    method = (IntervalMethod.BALL, IntervalMethod.CONDITIONAL)
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
