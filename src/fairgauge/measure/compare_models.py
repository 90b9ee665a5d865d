"""Compare models: what every candidate changes against the model in use, and what that comes to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.averages import AVERAGES, agreement, averaged
from fairgauge.catalogue.catalogue import KAPPA
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.comparison.model_comparison import (
    Candidate,
    DisparityChange,
    MarginTest,
    RateChange,
    Reclassified,
)
from fairgauge.cube.pairs import candidate_axes, pair
from fairgauge.enums import (
    Better,
    ClassKind,
    Direction,
    IntervalMethod,
    Performance,
    ReferenceKind,
    Status,
    Task,
)
from fairgauge.errors import Problem, SpecError
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.paired_changes import (
    disparity_changes,
    distance,
    distance_limits,
)
from fairgauge.measure.candidate_verdicts import judged
from fairgauge.measure.paired_slices import PairedSlice, paired_counts
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.report.estimates import as_count, as_number
from fairgauge.report.results import NO_CLASS, ClassScope, Interval
from fairgauge.resolve.references import FEWEST_ROWS
from fairgauge.resolve.resolution import resolve
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.significance import invert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.comparison.model_comparison import Among
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis
    from fairgauge.inference.paired_changes import DisparityChanges, Quantity, StatisticChange
    from fairgauge.measure.slices import Compared, Slice
    from fairgauge.resolve.sides import Index
    from fairgauge.spec.specification import Spec

STANDARD = ("selection_rate.difference", "true_positive_rate.difference",
            "false_positive_rate.difference")  # fmt: skip
"""The disparities that are compared where no metrics are named: demographic parity and equalized
odds."""
_PAIR = 2
_ROUNDING = 1e-12


def compare_candidates(cube: Cube, spec: Spec) -> tuple[Candidate, ...]:
    """Return what every candidate changes against the model in use, and its verdict.

    Raises
    ------
    SpecError
        What is asked for cannot be compared, or the data do not have it.
    """
    measured = [_Measured(cube, axis, spec) for axis in candidate_axes(cube)]
    return judged([each.candidate() for each in measured], spec)


@dataclass(frozen=True, slots=True, eq=False)
class _Sliced:
    """A paired slice with the classes of its numbers, and how a statistic is read there."""

    of: PairedSlice
    class_scope: ClassScope


class _Measured:
    """A candidate against the model in use."""

    def __init__(self, cube: Cube, axis: Axis, spec: Spec) -> None:
        self.name = axis.column
        self.cubes = pair(cube, axis)
        asked = _with_disparities(spec)
        in_use = replace(asked, candidate=(), margins=())
        of_candidate = (
            replace(in_use, prediction=axis.column)
            if spec.prediction
            else replace(in_use, score=axis.column)
        )
        self.spec = in_use
        self.margins = spec.margins
        self.resolution = resolve(self.cubes.current, in_use)
        self.other = resolve(self.cubes.candidate, of_candidate)
        if self.resolution.task is Task.REGRESSION:
            message = (
                "the predictions of a regression cannot be compared in pairs from counts; state "
                "which values are positive (fairgauge.above, --positive '>x')"
            )
            raise SpecError(Problem("candidate", message))

    def candidate(self) -> Candidate:
        """Return the candidate's numbers, without a verdict."""
        return Candidate(
            name=self.name,
            rows=self.cubes.rows,
            undecided=self.cubes.undecided,
            disparities=tuple(self._disparities()),
            rates=tuple(self._rates()),
            margins=tuple(self._margin_tests()),
            reclassified=tuple(self._reclassified()),
        )

    def _slices(self, feature: int | None) -> Iterator[_Sliced]:
        """Yield the slices of a feature (None: of all rows): for thresholds or classes, and all."""
        of, other = (
            each.everyone if feature is None else each.features[feature]
            for each in (self.resolution, self.other)
        )
        counts = paired_counts(self.cubes, of, other)
        outcomes = self.resolution.outcomes
        for outcome in outcomes:
            made = PairedSlice(counts, outcome, self.spec)
            yield _Sliced(made, outcome.class_scope)
        if self.resolution.task is Task.MULTICLASS:
            nothing = replace(
                outcomes[0],
                labels=np.zeros_like(outcomes[0].labels),
                predictions=np.zeros_like(outcomes[0].predictions),
                class_scope=NO_CLASS,
            )
            yield _Sliced(PairedSlice(counts, nothing, self.spec, outcomes), NO_CLASS)

    @property
    def _contrasts(self) -> list[tuple[Contrast, Reason | None]]:
        asked = self.resolution.metrics
        return [(each.metric, each.obstacle) for each in asked
                if isinstance(each.metric, Contrast)
                and (each.obstacle or "prediction" in each.metric.needs)]  # fmt: skip

    @property
    def _statistics(self) -> list[Statistic]:
        """Return the rates to show: those of the disparities, of the margins, and accuracy."""
        catalogue = self.spec.catalogue
        wanted = [metric.of for metric, obstacle in self._contrasts if obstacle is None]
        wanted += [catalogue.rate(name) for name, _ in self.margins]
        if self.spec.label:
            wanted.append(catalogue.rate("accuracy"))
        return list({each.name: each for each in wanted if each.needs & {"prediction"}}.values())

    def _rates(self) -> Iterator[RateChange]:
        """Yield the rates of all rows, and of the groups of every feature."""
        for feature in (None, *range(len(self.resolution.features))):
            for sliced in self._slices(feature):
                slice_ = sliced.of.current
                groups = np.arange(len(slice_.counts.groups))
                slots = np.arange(len(slice_.counts.scopes))
                which, at = np.tile(groups, len(slots)), np.repeat(slots, len(groups))
                for statistic, scope in self._of_scope(sliced, self._statistics):
                    yield from self._rate_changes(sliced, statistic, scope, which, at)

    def _of_scope(
        self, sliced: _Sliced, statistics: Sequence[Statistic]
    ) -> Iterator[tuple[Statistic, ClassScope]]:
        """Yield the statistics of a slice: of all classes, their averages, accuracy and kappa."""
        whole = self.resolution.task is Task.MULTICLASS and sliced.class_scope == NO_CLASS
        for statistic in statistics:
            if not whole:
                yield statistic, sliced.class_scope
                continue
            of_all = {"accuracy": agreement(), KAPPA.name: KAPPA}
            if statistic.name in of_all:
                yield of_all[statistic.name], NO_CLASS
            for how in AVERAGES:
                yield averaged(statistic, how), ClassScope(ClassKind.AVERAGE, average=how)

    def _rate_changes(
        self, sliced: _Sliced, statistic: Statistic, scope: ClassScope, which: Index, slots: Index
    ) -> Iterator[RateChange]:
        slice_ = sliced.of.current
        counts = slice_.counts
        feature = counts.feature or None
        bases = [
            RateChange(
                rate=statistic.name,
                feature=feature,
                group=counts.groups[g],
                scope=counts.scopes[s],
                class_scope=scope,
                threshold=slice_.outcome.threshold,
            )
            for g, s in zip(which.tolist(), slots.tolist(), strict=True)
        ]
        try:
            change = sliced.of.change(statistic, which, slots)
        except NoInterval as why:
            yield from (replace(each, status=Status.NOT_APPLICABLE, reason=why.reason)
                        for each in bases)  # fmt: skip
            return
        level = self.spec.confidence
        z = critical(level)
        low, high = change.difference.at(z)
        ratio_low, ratio_high = change.ratio.at(z)
        p = invert(lambda at: change.difference.at(np.broadcast_to(at, low.shape)))
        sides = [each.evidence(which, slots).side for each in (slice_, sliced.of.candidate)]
        for i, base in enumerate(bases):
            old, new, value = (as_number(v[i]) for v in
                               (change.old, change.new, change.difference.value))  # fmt: skip
            if old is None or new is None:
                side = sides[0] if old is None else sides[1]
                yield replace(base, old=old, new=new, status=Status.UNDEFINED,
                              reason=statistic.why_undefined(side, i))  # fmt: skip
                continue
            n = float(change.rows[i])
            sparse = n < FEWEST_ROWS
            reason = Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=FEWEST_ROWS) if sparse else None
            signed = statistic.signed
            yield replace(
                base,
                old=old,
                new=new,
                change=value,
                interval=_interval(low[i], high[i], level, change.methods),
                ratio=None if signed else as_number(np.exp(change.ratio.value[i])),
                ratio_interval=None if signed else _interval(
                    np.exp(ratio_low[i]), np.exp(ratio_high[i]), level, change.ratio_methods
                ),
                p_value=as_number(p[i]),
                n=as_count(n),
                status=Status.TOO_FEW if sparse else Status.OK,
                reason=reason,
            )  # fmt: skip

    def _disparities(self) -> Iterator[DisparityChange]:
        """Yield the contrasts of every feature, overall and in every stratum."""
        for feature in range(len(self.resolution.features)):
            for sliced in self._slices(feature):
                for metric, obstacle in self._contrasts:
                    if obstacle is not None:
                        yield from self._not_applicable(sliced, metric, obstacle)
                        continue
                    for statistic, scope in self._of_scope(sliced, [metric.of]):
                        of = replace(metric, of=statistic)
                        yield from self._disparity_changes(sliced, of, scope)

    def _not_applicable(
        self, sliced: _Sliced, metric: Contrast, obstacle: Reason
    ) -> Iterator[DisparityChange]:
        counts = sliced.of.current.counts
        for group in counts.groups:
            yield DisparityChange(
                metric=metric.name, feature=counts.feature, group=group, reference=None,
                class_scope=sliced.class_scope, status=Status.NOT_APPLICABLE, reason=obstacle,
            )  # fmt: skip

    def _disparity_changes(
        self, sliced: _Sliced, metric: Contrast, scope: ClassScope
    ) -> Iterator[DisparityChange]:
        slice_ = sliced.of.current
        counts = slice_.counts
        compared = slice_.compared(metric)
        kept = _unmirrored(compared, slice_)
        which, references, slots = (
            each[kept] for each in (compared.groups, compared.references, compared.slots)
        )
        bases = [
            DisparityChange(
                metric=metric.name,
                feature=counts.feature,
                group=counts.groups[g],
                reference=compared.each[k],
                scope=counts.scopes[s],
                class_scope=scope,
                threshold=slice_.outcome.threshold,
                by=metric.by,
            )
            for g, s, k in zip(which.tolist(), slots.tolist(), kept.tolist(), strict=True)
        ]
        profile = self.spec.profile
        old, new = (
            metric.value(
                each.evidence(which, slots).side, each.evidence(references, slots).side, profile
            )
            for each in (slice_, sliced.of.candidate)
        )
        try:
            ours, theirs = (sliced.of.change(metric.of, side, slots)
                            for side in (which, references))  # fmt: skip
        except NoInterval as why:
            for i, base in enumerate(bases):
                yield replace(base, old=as_number(old[i]), new=as_number(new[i]),
                              status=Status.NOT_APPLICABLE, reason=why.reason)  # fmt: skip
            return
        inside = bool((references == slice_.sides.whole).all())
        made = disparity_changes(metric, ours, theirs, inside=inside)
        yield from self._completed(bases, metric, made, (old, new), (ours, theirs))

    def _completed(
        self,
        bases: Sequence[DisparityChange],
        metric: Contrast,
        made: DisparityChanges,
        values: tuple[Array, Array],
        sides: tuple[StatisticChange, StatisticChange],
    ) -> Iterator[DisparityChange]:
        """Yield the changes of a metric with their intervals and p-values."""
        level = self.spec.confidence
        z = critical(level)
        shift, above = made.shift.at(z), made.level.at(z)
        away = distance(made.shift.value, made.level.value)
        away_low, away_high = distance_limits(shift, above)
        p = np.maximum(*(_p_value(each) for each in (made.shift, made.level)))
        by_ratio = metric.by == "ratio"
        scaled = np.exp if by_ratio else np.asarray
        for i, base in enumerate(bases):
            old, new = (as_number(each[i]) for each in values)
            change = as_number(made.shift.value[i])
            base = replace(base, old=old, new=new)
            if old is None or new is None or change is None:
                reason = Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED,
                                   report="old" if old is None else "new")  # fmt: skip
                if old is not None and new is not None:
                    reason = Reason.of(ReasonCode.BOTH_UNBOUNDED)
                yield replace(base, status=Status.UNDEFINED, reason=reason)
                continue
            rows = [float(each[i]) for each in made.rows]
            sparse = min(rows) < FEWEST_ROWS
            far = as_number(away[i])
            yield replace(
                base,
                change=float(scaled(change)),
                interval=_interval(
                    float(scaled(shift[0][i])), float(scaled(shift[1][i])), level, made.methods
                ),
                distance=far,
                distance_interval=_interval(away_low[i], away_high[i], level, made.methods),
                direction=None if far is None else _direction(far),
                crossed=(old - metric.neutral) * (new - metric.neutral) < 0,
                p_value=as_number(p[i]),
                n_group=as_count(rows[0]),
                n_reference=as_count(rows[1]),
                status=Status.TOO_FEW if sparse else Status.OK,
                reason=Reason.of(ReasonCode.FEW_ROWS, n=min(rows), minimum=FEWEST_ROWS)
                if sparse
                else None,
            )

    def _margin_tests(self) -> Iterator[MarginTest]:
        """Yield the tests of the margins, on all rows."""
        if not self.margins:
            return
        sliced = list(self._slices(None))
        of = sliced[-1] if self.resolution.task is Task.MULTICLASS else sliced[0]
        zero = np.zeros(1, dtype=np.int64)
        for name, margin in self.margins:
            statistic = self.spec.catalogue.rate(name)
            chosen = next(self._of_scope(of, [statistic]))
            for each in sliced if self.resolution.task is not Task.MULTICLASS else (of,):
                (change,) = self._rate_changes(each, *chosen, zero, zero)
                yield self._margin_test(each, chosen[0], margin, change)

    def _margin_test(
        self, sliced: _Sliced, statistic: Statistic, margin: float, change: RateChange
    ) -> MarginTest:
        """Test non-inferiority: the whole interval of the change is within the margin."""
        outcome, better, p = Performance.CANNOT_TELL, False, None
        if change.interval is not None:
            low, high = change.interval
            sign = -1.0 if statistic.better is Better.LOWER else 1.0
            worst, best = sorted((sign * low, sign * high))
            if worst > -margin:
                outcome = Performance.NON_INFERIOR
            elif best < -margin:
                outcome = Performance.INFERIOR
            better = worst > 0
            zero = np.zeros(1, dtype=np.int64)
            made = sliced.of.change(statistic, zero, zero).difference
            made = made if sign > 0 else made.negated()
            two_sided = invert(lambda at: made.at(np.broadcast_to(at, (1,))), null=-margin)[0]
            p = float(two_sided / 2 if made.value[0] > -margin else 1 - two_sided / 2)
        return MarginTest(
            rate=statistic.name,
            margin=margin,
            change=change,
            outcome=outcome,
            better=better,
            p_value=p,
        )

    def _reclassified(self) -> Iterator[Reclassified]:
        """Yield who is decided differently, in all rows and in the groups of every feature."""
        if self.resolution.task is not Task.BINARY:
            return
        labels: list[tuple[Among, Sequence[int]]] = [("all", (0, 1, 2))]
        if self.spec.label:
            labels += [("positive", (0,)), ("negative", (1,))]
        for feature in (None, *range(len(self.resolution.features))):
            for sliced in self._slices(feature):
                counts = sliced.of.current.counts
                groups = np.arange(len(counts.groups))
                table = sliced.of.table(groups, np.zeros_like(groups))
                for i, (among, rows) in product(groups.tolist(), labels):
                    cells = table.cases[i][list(rows)].sum(axis=0)
                    n, gained, lost = float(cells.sum()), float(cells[1, 0]), float(cells[0, 1])
                    yield Reclassified(
                        feature=counts.feature or None,
                        group=counts.groups[i],
                        among=among,
                        threshold=sliced.of.current.outcome.threshold,
                        n=n,
                        gained=gained,
                        lost=lost,
                        gained_interval=self._share(gained, n),
                        lost_interval=self._share(lost, n),
                    )

    def _share(self, x: float, n: float) -> Interval | None:
        """Return the interval of a share of rows; none of weighted or clustered rows."""
        if not n or self.spec.weight or self.spec.cluster:
            return None
        low, high = wilson(x, n, critical(self.spec.confidence))
        return Interval(float(low), float(high), self.spec.confidence, (IntervalMethod.WILSON,))


def _with_disparities(spec: Spec) -> Spec:
    """Return the question with the disparities that are compared where none are named."""
    if spec.metrics != ("standard",):
        return spec
    names = [name for name in STANDARD if spec.label or name.startswith("selection_rate")]
    return replace(spec, metrics=tuple(names))


def _unmirrored(compared: Compared, slice_: Slice) -> Index:
    """Return which comparisons to make: of two groups that mirror each other, the smaller one's."""
    counts = slice_.counts
    kinds = {each.kind for each in compared.each if each is not None}
    mirrored = len(counts.groups) == _PAIR and not counts.has_others
    every = np.arange(len(compared.groups))
    if not mirrored or kinds != {ReferenceKind.OTHERS}:
        return every
    return every[compared.groups == int(np.argmin(counts.cases))]


def _p_value(each: Quantity) -> Array:
    """Return the p-value at which the limits of a number just touch 0."""
    return invert(lambda z: each.at(np.broadcast_to(z, each.value.shape)))


def _interval(
    low: float, high: float, level: float, methods: tuple[IntervalMethod, ...]
) -> Interval | None:
    """Return an interval; None where it is unknown or unbounded."""
    if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
        return None
    return Interval(float(low), float(high), level, methods)


def _direction(distance: float) -> Direction:
    if abs(distance) <= _ROUNDING:
        return Direction.AS_FAR
    return Direction.FURTHER if distance > 0 else Direction.CLOSER
