"""Metrics of single rows: neighbours, distances and rankings of the groups of one feature.

They are computed for all rows, not within strata, and do not take weights. What their intervals
resample, and what they take as given, differs by metric: a flip test takes the reference's rows as
given, a ranking its places; distances move both sides; a neighbourhood is tried without blocks of
rows. Scores are read exactly, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.cells import divide
from fairgauge.catalogue.comparisons import RowMetric
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import WEIGHTS, Axis
from fairgauge.enums import DiagnosticCode, IntervalMethod, Profile, ReferenceRule, Role, Status
from fairgauge.errors import DataError, quote
from fairgauge.inference.interval import (
    Intervals,
    Methods,
    certainty,
    first_reasons,
    generator,
    insufficient_clusters,
    insufficient_expected,
    insufficient_rows,
    no_intervals,
)
from fairgauge.measure.slices import Slice
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Parameter, Reason, ReasonCode
from fairgauge.resolve.group_counts import EXCLUDED, GroupCounts, Histogram, level_codes
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.resolution import Resolution
from fairgauge.results.estimates import EVERYONE, Estimate
from fairgauge.results.scopes import Diagnostic, Reference
from fairgauge.scan.row_codes import Streamed, coded_rows, numbers_of, read_rows
from fairgauge.scan.source import LEAST_LOG, Source, can_look_at_rows
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats import row_statistics
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.paired import paired_difference, paired_p
from fairgauge.stats.patterns import count_lists
from fairgauge.values import Value

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
    label: Array
    score: Array
    points: Array
    lists: Index  # the list of each row, of which it is ranked among the rows


class RowSlice:
    """One feature, row by row, under the first outcome."""

    def __init__(self, part: Slice, codes: Index, rows: Rows) -> None:
        self._part = part
        self._feature = part.counts.feature
        self._groups = part.counts.groups
        self._codes = codes
        self._rows = rows
        self._spec = part.uncertainty.spec_of_comparisons
        self._ranked: dict[str, Array] = {}

    def estimates(self, metric: RowMetric) -> Iterator[Estimate]:
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
        # a ratio to all rows has the order of the groups' own numbers
        best = self._spec.reference is ReferenceRule.BEST
        if not best or (metric.q is None and metric.kind not in ("top", "exposure")):
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
            yield Diagnostic.note(DiagnosticCode.SAMPLED, self._feature, metric=metric.name,
                rows=MOST_QUERIES, seed=self._spec.seed)  # fmt: skip

    def _answer(self, metric: RowMetric, sides: RowSides) -> RowAnswer:
        if metric.kind == "flip":
            return self._flip(sides)
        if metric.kind in ("top", "exposure"):
            return self._ranking_answer(metric, sides)
        if metric.kind == "quarter":
            return self._quarter(sides, int(metric.top or 1))
        assert metric.q is not None
        return self._quantile(metric, sides.where(~np.isnan(self._rows.label)), metric.q)

    def _quantile(self, metric: RowMetric, sides: RowSides, q: float) -> RowAnswer:
        (n, m), label, ratio = sides.sizes, self._rows.label, bool(metric.neutral)
        if not n or not m:
            return RowAnswer(math.nan, n, m)
        ours, theirs = label[sides.group], label[sides.reference]
        quantiles = float(np.quantile(ours, q)), float(np.quantile(theirs, q))
        found = _quantile_interval(ours, theirs, q, sides.part, self._spec, ratio=ratio)
        value = quantiles[0] - quantiles[1]
        if ratio:
            value = quantiles[0] / quantiles[1] if min(quantiles) > 0 else math.nan
        reason = Reason.of(ReasonCode.RATIO_MAY_BE_ZERO)
        if ratio and math.isnan(value):
            amount = metric.title.removesuffix(" ratio").lower()
            reason = Reason.of(ReasonCode.RATIO_NOT_ABOVE_ZERO, rate=amount)
        return RowAnswer(value, n, m, quantiles, found, reason)

    def _quarter(self, sides: RowSides, k: int) -> RowAnswer:
        label = self._rows.label
        known = ~np.isnan(label) & (self._codes >= -1)
        sides, total = sides.where(known), int(known.sum())
        (n, m), ends = sides.sizes, [round(total * end / 4) for end in (k - 1, k)]
        if not n or not m or ends[0] == ends[1]:
            return RowAnswer(math.nan, n, m)
        ranking, held = row_statistics.Ranking.of(-label[known]), np.full(len(label), np.nan)
        held[known] = ranking.within(ends[1]) - ranking.within(ends[0])
        places = ends[1] - ends[0]
        mine, theirs = sides.sum(held) / places, math.fsum(held[sides.reference]) / places
        limits = wilson(mine * places, places, critical(self._spec.confidence))
        found = _single_interval(limits, np.nan, (IntervalMethod.WILSON,), min(n, m))
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
        votes = row_statistics.Neighbours.of(points[theirs]).mean(selected[theirs], points[ours], k)
        better = int(((selected[ours] == 0) & (votes > 0.5)).sum())
        worse = int(((selected[ours] == 1) & (votes < 0.5)).sum())
        favoured = self._spec.profile.as_smclarify
        more, less = (worse, better) if favoured else (better, worse)
        n, m = len(ours), len(theirs)
        limits = paired_difference(more, less, n, critical(self._spec.confidence))
        p = paired_p(more, less)  # the rows of the reference are taken as fixed
        found = _single_interval(limits, p, (IntervalMethod.SCORE,), min(n, m))
        if sides.part:
            found = no_intervals(1, Reason.of(ReasonCode.OWN_NEIGHBOURS))
        return RowAnswer((more - less) / n, n, m, (better / n, worse / n), found)

    def _ranking_answer(self, metric: RowMetric, sides: RowSides) -> RowAnswer:
        known, spec = ~np.isnan(self._rows.score) & (self._codes >= -1), self._spec
        sides = sides.where(known)
        (n, m), total = sides.sizes, int(known.sum())
        if not n or not m:
            return RowAnswer(math.nan, n, m)
        held = self._values_of_places(metric, known)
        if metric.kind == "top" and (held[known] == 1).all():
            return RowAnswer(math.nan, n, m, reason=Reason.of(ReasonCode.ALL_AT_TOP, rows=total))
        mine = sides.sum(held)
        means = mine / n, math.fsum(held[sides.reference]) / m
        value = float(divide(np.array(means[0]), np.array(means[1]), Profile.DOCUMENTED))
        if spec.list is not None:
            found = _interval_over_lists(held, self._rows.lists, sides, spec)
        elif metric.kind == "exposure":
            found = _exposure_ratio_interval(held[sides.group], held[sides.rest], sides.part, spec)
        else:
            others, size = math.fsum(held[sides.rest]), int(sides.rest.sum())
            found = _top_interval(mine, others, n, size, sides.part, spec)
        return RowAnswer(value, n, m, means, found, Reason.of(ReasonCode.NONE_AT_TOP))

    def _values_of_places(self, metric: RowMetric, known: Mask) -> Array:
        # of each row in its own list: its exposure, or how much of it is in the top
        if metric.name not in self._ranked:
            held = self._ranked[metric.name] = np.full(len(known), np.nan)
            rows = np.flatnonzero(known)
            rows = rows[np.argsort(self._rows.lists[rows], kind="stable")]
            ends = np.flatnonzero(np.diff(self._rows.lists[rows])) + 1
            top = metric.top or 0.0
            for each in np.split(rows, ends):
                ranking = row_statistics.Ranking.of(self._rows.score[each])
                places = math.ceil(len(each) * top / 100) if metric.percent else int(top)
                exposure = metric.kind == "exposure"
                held[each] = ranking.exposure() if exposure else ranking.within(places)
        return self._ranked[metric.name]


def consistency(metric: RowMetric, rows: Rows, spec: Spec) -> Estimate:
    """Measure how alike the predictions of near rows are, whatever their groups."""
    usable = np.flatnonzero(~np.isnan(rows.selected) & ~np.isnan(rows.points).any(axis=1))
    n = len(usable)
    if not n:
        return row_estimate(metric, None, EVERYONE, None, RowAnswer(math.nan, 0, None), spec)
    rng = generator(spec, metric.name)
    away = row_statistics.disagreement(rows.points[usable], rows.selected[usable], NEIGHBOURS, rng)
    low, high = row_statistics.jackknifed_share(away, n, spec.confidence)
    method = (IntervalMethod.JACKKNIFE, IntervalMethod.WILSON)
    found = _single_interval((1 - high, 1 - low), np.nan, method, n)
    answer = RowAnswer(1 - float(away[0]), n, None, interval=found)
    return row_estimate(metric, None, EVERYONE, None, answer, spec)


def copies_of_decisions(
    columns: Mapping[str, Sequence[Value]], rows: Rows, spec: Spec
) -> Iterator[Diagnostic]:
    """Warn of features of two values, one for each decision, which near rows share with it."""
    for name in spec.features:
        every = zip(columns[name], rows.selected.tolist(), strict=True)
        known = [each for each in every if each[0] is not None and not math.isnan(each[1])]
        both = {*known} if len(known) >= FEWEST_ROWS else set()
        if len(both) == len(dict(both)) == len({chosen for _, chosen in both}) == 2:
            facts: dict[str, Parameter] = {"column": name, "outcome": spec.prediction or spec.score}
            yield Diagnostic.warning(
                DiagnosticCode.STRATUM_IS_OUTCOME, share=1.0, compared=True, **facts
            )


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
        metric=metric.name, definition=metric, set=metric.set,
        feature=feature, group=group, reference=reference,
        n_group=answer.n_group, n_reference=answer.n_reference,
        rate_group=rates[0], rate_reference=rates[1],
    )  # fmt: skip
    if math.isnan(answer.value) or answer.interval is None:
        return replace(estimate, status=Status.UNDEFINED, reason=answer.reason)
    intervals = answer.interval.containing(np.array([answer.value]), metric.range)
    ranked = metric.kind in ("top", "exposure") and spec.list is not None
    if (spec.cluster is not None and not ranked) or spec.design is not None:
        intervals = no_intervals(1, Reason.of(ReasonCode.NO_CLUSTER_METHOD))
    return replace(estimate, value=answer.value, **certainty(intervals, 0, spec.confidence))


def _quantile_interval(
    ours: Array, theirs: Array, q: float, part: float, spec: Spec, *, ratio: bool
) -> Intervals:
    if part:
        shared = Reason.of(ReasonCode.SHARED_ROWS, of="group and reference")
        return no_intervals(1, Reason.of(ReasonCode.OWN_REFERENCE) if part == 1 else shared)
    found = row_statistics.compared_quantiles(ours, theirs, q, spec.confidence, ratio=ratio)
    if not math.isfinite(found.low) or not math.isfinite(found.high) or (ratio and not found.low):
        return no_intervals(1, Reason.of(ReasonCode.UNBOUNDED))
    method = (IntervalMethod.ORDER_STATISTICS, IntervalMethod.MOVER)
    return _single_interval((found.low, found.high), found.p, method, min(len(ours), len(theirs)))


def _top_interval(held: float, others: float, n: int, m: int, part: float, spec: Spec) -> Intervals:
    # ``part`` is the group's share of its reference; ``others`` and ``m`` are of its other rows
    if not m:
        return no_intervals(1, Reason.of(ReasonCode.OWN_REFERENCE))
    low, high = row_statistics.top_ratio(held, others, n, m, critical(spec.confidence))
    places = held + others
    return _single_interval(
        (_ratio_to_all_rows(low, part), _ratio_to_all_rows(high, part)),
        row_statistics.top_p(held, places, n, n + m),
        (IntervalMethod.WILSON,),
        min(n, m),
        expected=places * min(n, m) / (n + m),
    )


def _exposure_ratio_interval(ours: Array, theirs: Array, part: float, spec: Spec) -> Intervals:
    # ``part`` is the group's share of its reference; ``theirs`` are of the other rows of it
    if not len(theirs):
        return no_intervals(1, Reason.of(ReasonCode.OWN_REFERENCE))
    low, high, p = row_statistics.exposure_interval(ours, theirs, critical(spec.confidence))
    if np.isnan(low):
        return no_intervals(1, Reason.of(ReasonCode.ONE_RANK))
    limits = _ratio_to_all_rows(np.asarray(low), part), _ratio_to_all_rows(np.asarray(high), part)
    method = (IntervalMethod.MOVER, IntervalMethod.STUDENT_T)
    return _single_interval(limits, p, method, min(len(ours), len(theirs)))


def _interval_over_lists(values: Array, lists: Index, sides: RowSides, spec: Spec) -> Intervals:
    if not sides.rest.any():
        return no_intervals(1, Reason.of(ReasonCode.OWN_REFERENCE))
    group, rest = (np.flatnonzero(side) for side in (sides.group, sides.rest))
    low, high, p, number = row_statistics.ratio_over_lists(
        values[group], lists[group], values[rest], lists[rest], spec.confidence
    )
    if math.isnan(low):
        return no_intervals(1, Reason.of(ReasonCode.RATIO_MAY_BE_ZERO))
    ends = (_ratio_to_all_rows(np.asarray(end), sides.part) for end in (low, high))
    found = _single_interval(
        (next(ends), next(ends)), p, (IntervalMethod.INFLUENCE, IntervalMethod.STUDENT_T),
        min(len(group), len(rest)), expected=min(values[side].sum() for side in (group, rest)),
    )  # fmt: skip
    few = first_reasons(insufficient_clusters(np.array([float(number)])), found.too_few)
    return replace(found, too_few=few)


def _ratio_to_all_rows(ratio: Array, part: float) -> Array:
    # carry a ratio to the other rows over to all rows, of which the group is a part
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1 / (part + (1 - part) / ratio))


def _single_interval(
    limits: tuple[ArrayLike, ArrayLike],
    p: ArrayLike,
    method: Methods,
    rows: float,
    *,
    expected: float = np.inf,
) -> Intervals:
    low, high, chance = (np.array([each], dtype=np.float64) for each in (*limits, p))
    few = insufficient_rows(np.array([float(rows)]))
    too_few = first_reasons(few, insufficient_expected(np.array([expected])))
    return Intervals(low, high, chance, [method], too_few, expected=np.array([np.nan]))


def repeat_by_count(columns: Mapping[str, Sequence[Value]], count: str) -> dict[str, list[Value]]:
    """Repeat every row as often as its count; rows without a count are excluded."""
    times = np.nan_to_num(numbers_of(columns[count])).astype(int)
    return {
        name: [value for value, n in zip(values, times.tolist(), strict=True) for _ in range(n)]
        for name, values in columns.items()
    }


def convert_to_arrays(
    columns: Mapping[str, Sequence[Value]], cube: Cube, spec: Spec, outcome: OutcomeMasks
) -> tuple[Rows, tuple[str, ...]]:
    """Turn columns into arrays; with how each feature that rows are compared by is scaled."""
    count = len(next(iter(columns.values())))
    prediction = cube.plan.axis(Role.PREDICTION)
    selected = np.full(count, np.nan)
    if prediction is not None and (prediction.bounds or not prediction.bins):
        codes = level_codes(prediction, cube, columns[prediction.column])
        selected = np.append(outcome.predictions, np.nan)[codes]  # code -1 is missing
    points, scalings = [np.zeros((count, 0))], []
    for name in spec.features:
        point, how = _points(columns[name], scaled=not spec.profile.as_smclarify)
        points.append(point)
        scalings.append(f"{name} {how}")
    score = _numbers_or_nan(columns, spec.score, count)
    rows = Rows(
        selected=selected,
        label=_numbers_or_nan(columns, spec.label, count),
        score=score if outcome.turned is None else outcome.turned - score,
        points=np.concatenate(points, axis=1),
        lists=_lists_of_rows(columns, spec.list, count),
    )
    return rows, tuple(scalings)


def _lists_of_rows(columns: Mapping[str, Sequence[Value]], name: str | None, count: int) -> Index:
    if name is None:
        return np.zeros(count, dtype=np.int64)
    if missing := sum(value is None for value in columns[name]):
        raise DataError(
            f"column {quote(name)} (list) is empty in {missing:,} of {count:,} rows, which are in "
            "no list to be ranked in; fill it in, or exclude them (where)"
        )
    codes: dict[Value, int] = {}
    return np.array([codes.setdefault(value, len(codes)) for value in columns[name]])


def _points(values: Sequence[Value], *, scaled: bool) -> tuple[Array, str]:
    # a column as coordinates, NaN where missing, and what was done with it: numbers are divided by
    # their standard deviation; rows of different categories lie 1 apart
    if all(value is None or isinstance(value, (bool, int, float)) for value in values):
        numbers = np.array([np.nan if value is None else float(value) for value in values])
        spread = float(np.nanstd(numbers)) if scaled and np.isfinite(numbers).any() else 1.0
        how = "divided by its standard deviation" if scaled else "as it is"
        return (numbers / (spread or 1.0))[:, None], how
    texts = np.array(["" if value is None else str(value) for value in values])
    missing = np.array([value is None for value in values])
    categories = np.unique(texts[~missing])
    marks = (texts[:, None] == categories) / np.sqrt(2.0)
    marks[missing] = np.nan
    return marks, f"{len(categories)} categories, different ones 1 apart"


def _numbers_or_nan(columns: Mapping[str, Sequence[Value]], name: str | None, count: int) -> Array:
    return np.full(count, np.nan) if name is None else numbers_of(columns[name])


_MOST_LOOKED_AT = 20_000
"""Rows in which lists are looked for."""
MOST_ROWS = 1_000_000
"""Rows that are read for their scores; of more, scores are counted in fine bins."""
MOST_CELLS = 3_000_000
"""Groups times labels times distinct scores that are held; beyond, scores stay in fine bins."""


def exact_histograms(
    source: Source, cube: Cube, spec: Spec, features: Sequence[GroupCounts]
) -> tuple[GroupCounts, ...] | None:
    """Return the counts with every distinct score counted as it is; None beyond `MOST_CELLS`."""
    assert spec.score is not None
    label, labels = cube.plan.axis(Role.LABEL), 0
    axes = [axis for axis in cube.plan.axes if axis.role is Role.FEATURE or axis == label]
    numeric = [c for c in (spec.score, spec.count, spec.weight) if c]
    codes, numbers = _read_coded(source, cube, spec, axes, numeric)
    scores = numbers[spec.score]
    values, place = np.unique(scores, return_inverse=True)
    values = values[~np.isnan(values)]
    most_groups = max((len(each.groups) for each in features), default=0) + 1
    mean_weight = features[0].mean_weight if features else 1.0
    factors = _cases_and_weights(numbers, spec, len(scores), mean_weight)
    label_of = np.full(len(scores), -1)
    if label is not None:
        labels, label_of = len(cube.levels[label]), codes[label]
    if most_groups * (labels + 1) * len(values) > MOST_CELLS:
        return None
    exact = []
    for each in features:
        levels = np.stack([codes[part.axis] for part in each.crossing.parts], axis=-1)
        known, group_of = len(each.groups) + 1, each.crossing.groups_of(levels)
        kept = ~np.isnan(scores) & (group_of > EXCLUDED) & (factors["n"] > 0)
        at = np.where(group_of < -1, known + each.crossing.kinds_of(levels), group_of)[kept]
        at[at < 0] = known - 1
        at = at * (labels + 1) + np.where(label_of[kept] < 0, labels, label_of[kept])
        at = at * len(values) + place[kept]
        shape = (known + len(each.crossing.unknown), labels + 1, len(values))
        cells = int(np.prod(shape))
        counts: dict[str, Array] = {
            name: np.bincount(at, factor[kept], cells).astype(np.float64).reshape(shape)
            for name, factor in factors.items()
        }
        weights = counts.get("w", counts["n"])
        counts |= {
            "s": weights * values,
            "s2": weights * values**2,
            "ln_s": weights * np.log(np.maximum(values, LEAST_LOG)),
            "ln_1s": weights * np.log(np.maximum(1 - values, LEAST_LOG)),
        }
        of_groups, unknown = (
            {name: sums[part] for name, sums in counts.items()}
            for part in (slice(known), slice(known, None))
        )
        exact.append(replace(each, histogram=Histogram(values, values, of_groups, unknown)))
    return tuple(exact)


def _read_coded(
    source: Source, cube: Cube, spec: Spec, axes: Sequence[Axis], numeric: Sequence[str]
) -> tuple[dict[Axis, Index], dict[str, Array]]:
    # the positions of all rows in the levels of some axes, and the numbers of some columns
    if isinstance(source, Streamed) and source.streams:
        parts = [(each.codes, each.numbers) for each in coded_rows(source, cube, axes)]
        codes = {a: np.concatenate([of[a] for of, _ in parts]).astype(np.int64) for a in axes}
        return codes, {c: np.concatenate([of[c] for _, of in parts]) for c in numeric}
    columns = read_rows(source, [*(axis.column for axis in axes), *numeric], recode=spec.recode)
    codes = {axis: level_codes(axis, cube, columns[axis.column]) for axis in axes}
    return codes, {column: numbers_of(columns[column]) for column in numeric}


def _cases_and_weights(
    numbers: Mapping[str, Array], spec: Spec, rows: int, mean_weight: float
) -> dict[str, Array]:
    # the cases and the weight of every row, 0 where it cannot be counted
    cases = np.ones(rows) if spec.count is None else numbers[spec.count]
    weight = np.ones(rows)
    if spec.weight is not None:
        weight = numbers[spec.weight] / mean_weight
    usable = np.isfinite(cases) & np.isfinite(weight)
    factors = {"rows": usable * 1.0, "n": np.where(usable & (weight > 0), cases, 0.0)}
    for power, name in enumerate(WEIGHTS if spec.weight else (), 1):
        factors[name] = np.where(usable, cases * weight**power, 0.0)
    return factors


@dataclass(frozen=True, slots=True, eq=False)
class RowReader:
    """Computes from the rows of a source what counts cannot give."""

    source: Source
    cube: Cube
    _columns: dict[tuple[str, ...], dict[str, list[Value]]] = field(default_factory=dict)
    _exact: list[tuple[GroupCounts, ...] | None] = field(default_factory=list)

    def metrics(
        self, asked: Sequence[RowMetric], resolution: Resolution
    ) -> tuple[list[Estimate], list[Diagnostic]]:
        """Compute metrics of rows for every sensitive feature and intersection."""
        spec, cube, outcome = resolution.spec, self.cube, resolution.outcomes[0]
        wanted = [axis.column for axis in cube.plan.axes if axis.role is Role.FEATURE]
        outcomes = (spec.label, spec.prediction, spec.score)
        wanted += [c for c in (*outcomes, spec.list, *spec.features) if c]
        columns = self._read_columns(wanted, spec.count)
        rows, scalings = convert_to_arrays(columns, cube, spec, outcome)
        notes = []
        if scalings:
            notes.append(Diagnostic.note(DiagnosticCode.FEATURE_DISTANCE, scalings=scalings))
        estimates: list[Estimate] = []
        for counts in resolution.features:
            part = RowSlice(Slice(counts, outcome, spec), counts.codes_of_rows(cube, columns), rows)
            for metric in asked:
                if metric.one_per != "table":
                    estimates += part.estimates(metric)
                    notes += part.notes(metric)
        for metric in asked:
            if metric.one_per == "table":
                estimates.append(consistency(metric, rows, spec))
        if any(metric.by_features for metric in asked):
            notes += copies_of_decisions(columns, rows, spec)
        if any(metric.kind in ("top", "exposure") for metric in asked):
            notes += self._rows_of_lists(spec)
        return estimates, notes

    def _rows_of_lists(self, spec: Spec) -> Iterator[Diagnostic]:
        # whether a column that nobody asks for makes lists of the rows that are ranked as one
        used = {c for path, c in spec.columns() if not path.startswith("accept")}
        others = [column for column in self.source.columns if column not in used]
        if spec.cluster or spec.count or not others or not can_look_at_rows(self.source):
            return
        for column, values in read_rows(self.source, others, _MOST_LOOKED_AT).items():
            if lists := count_lists(values, complete=len(values) < _MOST_LOOKED_AT):
                yield Diagnostic.warning(
                    DiagnosticCode.ROWS_OF_LISTS, column=column, lists=lists, total=self.cube.rows
                )
                return

    def exact_scores(self, resolution: Resolution) -> tuple[GroupCounts, ...] | None:
        """Return the counts of every feature with exact scores; None where there are too many."""
        if self.cube.rows > MOST_ROWS:
            return None
        if not self._exact:  # what is counted does not depend on the level of confidence
            features = resolution.features
            self._exact.append(exact_histograms(self.source, self.cube, resolution.spec, features))
        return self._exact[0]

    def _read_columns(self, names: Sequence[str], count: str | None) -> dict[str, list[Value]]:
        # some columns of all rows, each row as often as it counts; read once
        key = (*names, *((count,) if count else ()))
        if key not in self._columns:
            columns = read_rows(self.source, key, recode=self.cube.asked.recode)
            self._columns[key] = columns if count is None else repeat_by_count(columns, count)
        return self._columns[key]
