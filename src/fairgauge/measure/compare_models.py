"""Compare models: what every candidate changes against the model in use, and what that comes to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Literal

import numpy as np

from fairgauge.catalogue.catalogue import OF_ALL_CLASSES
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.directions import better_of, has_direction
from fairgauge.catalogue.lookup import find_metric
from fairgauge.catalogue.score_statistics import RocAuc, ScoreStatistic
from fairgauge.catalogue.statistics import AVERAGES, Rate, Statistic, agreement, class_average
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.cube.views import asked_of, candidate_axes, pair
from fairgauge.enums import Better, ClassKind, Method, Status, Task
from fairgauge.errors import Problem, refuse
from fairgauge.inference.contrast_intervals import is_resampled, side_interval
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.missing_values import MANY_MISSING, large_uncounted
from fairgauge.inference.paired_changes import (
    AreaChange,
    StatisticChange,
    area_change,
    statistic_change,
)
from fairgauge.inference.possible import PossiblePairs, RateLimits, furthest
from fairgauge.measure import _changes
from fairgauge.measure._changes import MeasuredCandidate, MeasuredDisparities, MeasuredMargins
from fairgauge.measure.slices import ComparedSides, Slice
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, JointCells, count_jointly, count_missing
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, one_decision
from fairgauge.resolve.references import add_others, large_groups, sides_of_unknown
from fairgauge.resolve.resolution import asked_metrics, resolve
from fairgauge.results.comparison import Among, Candidate, MarginTest, Reclassified
from fairgauge.results.estimates import EVERYONE, DisparityChange, RateChange
from fairgauge.results.scopes import NO_CLASS, ClassScope, not_counted
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Index, Mask
from fairgauge.stats.paired import ClusterCounts, PairedTable

STANDARD = ("selection_rate.difference", "true_positive_rate.difference",
            "false_positive_rate.difference")  # fmt: skip
"""The disparities that are compared where no metrics are named: demographic parity and equalized
odds."""


def rates_of_margins(spec: Spec) -> list[Statistic]:
    """Return the rates that have margins, which may need labels."""
    return [spec.catalogue.rate(name) for name, _ in _changes.rate_margins(spec)]


def compare_candidates(cube: Cube, spec: Spec) -> tuple[Candidate, ...]:
    """Return what every candidate changes against the model in use, and its verdict."""
    refused = {
        "strata": spec.strata
        and "models are compared over all rows; audit each model with strata, or compare them "
        "within a stratum (where=..., --where)",
        "method": spec.method is not Method.DEFAULT
        and f"{spec.method} has no effect: changes have paired intervals of their own (Tango's, "
        "MOVER's); leave it at its default",
        "candidate": decide_task(cube, spec) is Task.REGRESSION
        and "counts do not hold how the predictions of two regressions differ row by row; state "
        "which values are positive (fairgauge.above, --positive '>x')",
    }
    refuse([Problem(path, why) for path, why in refused.items() if isinstance(why, str)])
    measured = [PairedModels(cube, axis, spec).measured() for axis in candidate_axes(cube)]
    return _changes.judge_candidates(measured, spec)


class PairedSlice:
    """The counts of one feature under one outcome, as two models decide, and jointly.

    What is compared with what is that of the model in use.
    """

    def __init__(
        self,
        counts: tuple[GroupCounts, GroupCounts, JointCells],
        outcome: OutcomeMasks,
        spec: Spec,
        per_class: Sequence[OutcomeMasks] = (),
    ) -> None:
        current, candidate, self._joint = counts
        self.current = Slice(current, outcome, spec, per_class)
        self.candidate = Slice(candidate, outcome, spec, per_class)
        self.counts, self.class_scope = current, outcome.class_scope
        self.classes = bool(per_class)
        masks = per_class or (outcome,)
        self._outcomes = len(masks) if per_class else 2
        self._label_codes = np.append(self._codes([mask.labels for mask in masks]), self._outcomes)
        self._decision_codes = self._codes([mask.predictions for mask in masks])
        measures = self._joint.counts
        self._cases = self._states(measures["n"])
        weighted = "w" in measures
        self._weights = self._states(measures["w"]) if weighted else self._cases
        self._squares = self._states(measures["w2"]) if weighted else self._cases
        self._changes: dict[tuple[Statistic, bytes], StatisticChange] = {}
        self.area: AreaChange | None = None  # of all rows, where it has a margin

    def change(self, statistic: Statistic, which: Index) -> StatisticChange:
        """Return what becomes of a statistic of some sides; raise `NoInterval` where unknown."""
        key = statistic, which.tobytes()
        if key not in self._changes:
            if is_resampled(statistic):
                raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=statistic.title)
            if isinstance(statistic, RocAuc) and self.area is not None:
                return self.area.change
            if isinstance(statistic, ScoreStatistic):
                raise NoInterval(ReasonCode.NOT_OF_DECISIONS, of=statistic.title)
            old, new = (
                side_interval(statistic, each.side_data(which, np.zeros_like(which)))
                for each in (self.current, self.candidate)
            )
            self._changes[key] = statistic_change(statistic, self.table(which), old, new)
        return self._changes[key]

    def table(self, which: Index) -> PairedTable:
        """Return the rows of some sides, by label and both decisions."""
        cells = self._joint.clusters
        return PairedTable(
            self._weights[which],
            self._squares[which],
            self._cases[which],
            self.classes,
            None if cells is None else [self._clusters(side) for side in which.tolist()],
            0 if cells is None else int(cells.cluster.max(initial=-1)) + 1,
        )

    def _states(self, counts: Array) -> Array:
        labels, decisions = (
            np.eye(self._outcomes + of_label)[codes]
            for codes, of_label in ((self._label_codes, 1), (self._decision_codes, 0))
        )
        # one axis at a time: all at once takes the product of all levels and outcomes
        collapsed = np.einsum(
            "gslpq,la,pb,qc->gsabc", counts, labels, decisions, decisions, optimize=True
        )
        return add_others(collapsed)[:, 0]

    def _codes(self, masks: Sequence[Mask]) -> Index:
        # the outcome of every level: 0 positive and 1 negative, or the class
        if self.classes:
            return np.asarray(np.argmax(np.stack(masks), axis=0), dtype=np.int64)
        return np.asarray(np.where(masks[0], 0, 1), dtype=np.int64)

    def _clusters(self, side: int) -> ClusterCounts:
        cells, whole = self._joint.clusters, self.current.sides.whole
        assert cells is not None
        assert cells.candidate is not None
        inside = np.ones(len(cells.group), dtype=bool)  # all rows
        if side < whole:
            inside = cells.group == side
        elif side > whole:
            inside = cells.group != side - self.current.sides.others
        label = self._label_codes[cells.label[inside]]
        old, new = (
            self._decision_codes[codes[inside]] for codes in (cells.prediction, cells.candidate)
        )
        flat = (label * self._outcomes + old) * self._outcomes + new
        weights = cells.counts.get("w", cells.counts["n"])
        return ClusterCounts(cells.cluster[inside], flat, weights[inside])


class PairedModels:
    """The model in use and a candidate, and what is asked of both.

    Slices by feature (None: of all rows) are made once.
    """

    def __init__(self, cube: Cube, axis: Axis, spec: Spec) -> None:
        self.name, self.cubes = axis.column, pair(cube, axis)
        self._counted, self._axis = cube, axis
        self.spec = replace(spec, candidate=())
        if spec.metrics == ("standard",):
            label = [
                name for name in STANDARD if spec.label or "label" not in find_metric(name).needs
            ]
            self.spec = replace(self.spec, metrics=tuple(label))
        self.resolution = resolve(self.cubes.current, self.spec)
        self.other = resolve(self.cubes.candidate, asked_of(self.spec, axis))
        self.classes = self.resolution.task is Task.MULTICLASS
        asked = [
            (each.metric, each.obstacle)
            for each in asked_metrics(cube, self.spec, self.resolution.task)
            if each.obstacle or each.metric.needs & {"prediction", "score"}
        ]
        _changes.check_margins(spec, [metric.name for metric, _ in asked])
        self.asked = sorted(asked, key=lambda of: not isinstance(of[0], Contrast))
        self.contrasts = [m for m, why in asked if isinstance(m, Contrast) and why is None]
        self.tolerated = MANY_MISSING
        self.uncounted = large_uncounted(cube, self.resolution.features, self.spec)
        self._slices: dict[int | None, tuple[PairedSlice, ...]] = {}
        self._missing: dict[str, tuple[Array, Array, Array]] = {}

    def measured(self) -> MeasuredCandidate:
        """Return what the candidate changes, before it is judged."""
        disparities = tuple(self.disparities())  # first: it refuses features with too many cells
        # where all rows are decided alike; of no consequence where no disparity is of decisions
        reason = None
        if any("prediction" in metric.needs for metric, _ in self.asked):
            outcomes, task = self.other.outcomes, self.resolution.task
            reason = one_decision(self.cubes.candidate, outcomes, task)
        every, rows = (int(of.tables[0].cases.sum()) for of in (self.cubes.every, self.cubes.joint))
        candidate = Candidate(
            name=self.name,
            rows=rows,
            undecided=every - rows,
            reason=reason,
            disparities=(),
            rates=tuple(self._rates()),
            reclassified=tuple(self._count_reclassified()),
        )
        groups = tuple(self._group_tests(disparities))
        return MeasuredCandidate(candidate, disparities, tuple(self.margin_tests()), groups)

    # ---- rows that are excluded

    def _reach(
        self, sliced: PairedSlice, statistic: Statistic, ends: Callable[[bool], Array]
    ) -> Array | float:
        # How far excluded rows could move a number: by ``ends``, of all rows and of complete ones.
        # What has no worst case could go anywhere where many rows of a group lack what it needs.
        if self.uncounted:
            return np.inf
        if isinstance(statistic, RocAuc) and sliced.area is not None:
            return sliced.area.reach
        if not isinstance(statistic, Rate):
            return np.inf if self._lacks(sliced.counts, statistic.needs) else 0.0
        _, _, rows = self._cells(sliced.counts)
        labels = slice(None, -1 if rows.shape[1] > 1 else None)
        outcome = sliced.current.outcome
        decided = outcome.open_labels is None and outcome.open_predictions is None
        if decided and rows[:-1, labels, :-1, :-1].sum() == rows.sum():
            return 0.0
        furthest, observed = ends(True), ends(False)
        with np.errstate(invalid="ignore"):
            moved = np.where(furthest == observed, 0.0, furthest - observed)
        return np.asarray(np.nan_to_num(np.maximum(moved, 0.0), nan=np.inf))

    def _lacks(self, counts: GroupCounts, needs: Collection[str]) -> bool:
        _, _, rows = self._cells(counts)
        n = rows[:-1].sum(axis=(1, 2, 3))
        labels = slice(None, -1 if "label" in needs else None)
        lacking = n - rows[:-1, labels, :-1, :-1].sum(axis=(1, 2, 3))
        unknown, large = float(rows[-1].sum()), n[: len(counts.groups)]
        large = large[large_groups(counts, self.spec)]
        many = unknown > 0 and unknown >= self.tolerated * large.min(initial=np.inf)
        of_any = ((lacking >= self.tolerated * n) & (lacking > 0)).any()
        return bool(of_any or (counts.feature != "" and many))

    def lacking(self) -> Reason | None:
        """Return which rows could change what the others show, of the feature that most lack."""
        if uncounted := not_counted(self.uncounted, self.spec.unit.get("unit")):
            return uncounted
        outcome, most = self.slices(0)[0].current.outcome, (0, 0)
        open_ = outcome.open_labels, outcome.open_predictions, outcome.open_predictions
        for counts in self.resolution.features:
            _, _, rows = self._cells(counts)
            known = [
                np.append(np.ones(size - 1, dtype=bool) if of is None else ~of, False)
                for size, of in zip(rows.shape[1:], open_, strict=True)
            ]
            complete = rows[np.ix_(np.ones(len(rows), dtype=bool), *known)].sum(axis=(1, 2, 3))
            most = max(most, (round(rows.sum() - complete.sum()), round(complete[-1])), key=sum)
        incomplete, groupless = most
        if not incomplete and not groupless:
            return None
        code, of = ReasonCode.MISSING_OUTCOMES, {"rows": incomplete, "groupless": groupless or None}
        if not incomplete:
            code, of = ReasonCode.MISSING_GROUPS, {"rows": groupless}
        return Reason.of(code, **of, **self.spec.unit)

    def _cells(self, counts: GroupCounts) -> tuple[Array, Array, Array]:
        if counts.feature not in self._missing:
            self._missing[counts.feature] = count_missing(self.cubes.every, counts)
        return self._missing[counts.feature]

    def _limits(
        self, sliced: PairedSlice, rate: Statistic, which: Index, by: str, *, missing: bool
    ) -> RateLimits:
        assert isinstance(rate, Rate)
        # the ends of a rate, of ratios in logarithms: of complete rows alone, or of all
        groups, without, _ = self._cells(sliced.counts)
        sides = np.logical_or(*sides_of_unknown(sliced.counts))
        outcome = sliced.current.outcome
        pairs = PossiblePairs(groups, without, sides, outcome if missing else outcome.closed)
        limits = pairs.limits(rate, which, missing=missing)
        return limits.in_logarithms() if by == "ratio" else limits

    # ---- slices, and the changes of statistics

    def slices(self, feature: int | None) -> tuple[PairedSlice, ...]:
        if feature not in self._slices:
            of, other = (
                each.everyone if feature is None else each.features[feature]
                for each in (self.resolution, self.other)
            )
            counts = (of, other, count_jointly(self.cubes.joint, of))
            both = zip(self.resolution.outcomes, self.other.outcomes, strict=True)
            outcomes = []
            for one, two in both:  # what is open in either of the models
                masks = [e.open_predictions for e in (one, two) if e.open_predictions is not None]
                held = np.logical_or.reduce(masks) if masks else None
                outcomes.append(replace(one, open_predictions=held))
            slices = [PairedSlice(counts, outcome, self.spec) for outcome in outcomes]
            if self.classes:
                slices.append(PairedSlice(counts, outcomes[0].of_no_class, self.spec, outcomes))
            if feature is None and len(slices) == 1:
                every = slices[0].table(np.array([0]))
                slices[0].area = area_change(self._counted, self._axis, outcomes[0], every)
            self._slices[feature] = tuple(slices)
        return self._slices[feature]

    def _statistics_of_scope(
        self, sliced: PairedSlice, statistics: Sequence[Statistic]
    ) -> Iterator[tuple[Statistic, ClassScope]]:
        # What needs no decision is measured at one threshold alone. Kappa is one number of all
        # classes: no class has its own, as in an audit.
        first = sliced.current.outcome.threshold == self.resolution.outcomes[0].threshold
        whole = self.classes and sliced.class_scope == NO_CLASS
        of_all = {each.name: each for each in (agreement(), *OF_ALL_CLASSES)}
        for statistic in statistics:
            if not first and "prediction" not in statistic.needs:
                continue
            if whole and statistic.name in of_all:
                yield of_all[statistic.name], NO_CLASS
            if self.classes and statistic in OF_ALL_CLASSES:
                continue
            if not whole:
                yield statistic, sliced.class_scope
                continue
            for how in AVERAGES:
                yield (class_average(statistic, how), ClassScope(ClassKind.AVERAGE, average=how))

    # ---- rates

    def _rates(self) -> Iterator[RateChange]:
        wanted = [*(metric.of for metric in self.contrasts), *rates_of_margins(self.spec)]
        if self.spec.label:
            wanted.append(self.spec.catalogue.rate("accuracy"))
        decided = [each for each in wanted if each.needs & {"prediction", "score"}]
        statistics = list({each.name: each for each in decided}.values())
        for feature in (None, *range(len(self.resolution.features))):
            for sliced in self.slices(feature):
                groups = np.arange(len(sliced.counts.groups))
                for statistic, scope in self._statistics_of_scope(sliced, statistics):
                    yield from self.rate_changes(sliced, statistic, scope, groups)

    def rate_changes(
        self, sliced: PairedSlice, statistic: Statistic, scope: ClassScope, which: Index
    ) -> Iterator[RateChange]:
        """Yield what becomes of a rate of some groups."""
        bases = [
            RateChange(
                rate=statistic.name,
                definition=statistic,
                feature=sliced.counts.feature or None,
                group=sliced.counts.groups[g],
                class_scope=scope,
                threshold=sliced.current.outcome.threshold_of(statistic),
            )
            for g in which.tolist()
        ]
        try:
            change = sliced.change(statistic, which)
        except NoInterval as refused:
            for each in bases:
                yield replace(each, status=Status.NOT_APPLICABLE, reason=refused.reason)
            return

        def undefined(i: int, old: bool) -> Reason:
            side = sliced.current if old else sliced.candidate
            return statistic.why_undefined(side.side_data(which, np.zeros_like(which)).side, i)

        yield from _changes.rate_records(change, bases, self.spec.confidence, undefined)

    # ---- disparities

    def disparities(self) -> Iterator[MeasuredDisparities]:
        """Yield what becomes of every disparity, by feature."""
        for feature in range(len(self.resolution.features)):
            for sliced in self.slices(feature):
                for metric in self.contrasts:
                    for statistic, scope in self._statistics_of_scope(sliced, [metric.of]):
                        yield self._comparison_changes(sliced, replace(metric, of=statistic), scope)
        yield from self._disparities_without_method()

    def _disparities_without_method(self) -> Iterator[MeasuredDisparities]:
        # once for each feature, whatever the classes and thresholds
        for metric, obstacle in self.asked:
            is_contrast = isinstance(metric, Contrast)
            if is_contrast and obstacle is None:
                continue
            reason = obstacle or Reason.of(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
            features = range(len(self.resolution.features))
            for feature in (None,) if metric.scope == "table" else features:
                counts = self.slices(feature)[0].counts
                base = DisparityChange(
                    metric=metric.name, definition=metric, feature=counts.feature or None,
                    group=EVERYONE, reference=None,
                )  # fmt: skip
                groups = counts.groups if is_contrast else (EVERYONE,)
                yield _drop_numbers([replace(base, group=group) for group in groups], reason)

    def _comparison_changes(
        self, sliced: PairedSlice, metric: Contrast, scope: ClassScope
    ) -> MeasuredDisparities:
        compared = sliced.current.compared(metric)
        kept = compared.slots == 0
        if metric.symmetric:  # two groups that are each other's reference are one comparison
            kept &= compared.groups != compared.mirrored
        groups, references = compared.groups[kept], compared.references[kept]
        bases = [
            DisparityChange(
                metric=metric.name,
                definition=metric,
                feature=sliced.counts.feature or None,
                group=sliced.counts.groups[compared.groups[k]],
                reference=compared.each[k],
                class_scope=scope,
                threshold=sliced.current.outcome.threshold_of(metric),
                by=metric.by,
            )
            for k in np.flatnonzero(kept).tolist()
        ]
        both = np.concatenate([groups, references])
        inside = bool((references == sliced.current.sides.whole).any())
        try:
            change = sliced.change(metric.of, both)
        except NoInterval as refused:
            return _drop_numbers(bases, refused.reason)
        own = ComparedSides(groups, references, np.zeros_like(groups), [e.reference for e in bases])
        audited = sliced.candidate.estimates(metric, compared=own)  # whose interval is its own
        bases = [replace(b, new_interval=e.interval) for b, e in zip(bases, audited, strict=True)]
        measured = _changes.measured_disparities(metric, change, bases, self.spec, inside=inside)

        def ends(missing: bool) -> Array:
            sides = groups, references
            of, by = metric.of, metric.by
            return furthest(*(self._limits(sliced, of, w, by, missing=missing) for w in sides))

        return replace(measured, reach=self._reach(sliced, metric.of, ends))

    # ---- margins

    def margin_tests(self) -> Iterator[MeasuredMargins]:
        """Yield the tests of the rates of all rows that have a margin."""
        sliced = self.slices(None)[-1 if self.classes else None :]  # all classes at once
        for (name, margin), each in product(_changes.rate_margins(self.spec), sliced):
            of = [*self._statistics_of_scope(each, [self.spec.catalogue.rate(name)])]
            if not of:
                continue
            batch = self._held_against(each, *of[0], {EVERYONE: margin}, "difference")
            (test,) = batch.tests
            if batch.gain is not None and test.change.interval is not None:
                two_sided = batch.gain.p_value(null=-margin)[0]
                p = two_sided / 2 if batch.gain.value[0] > -margin else 1 - two_sided / 2
                batch = replace(batch, tests=(replace(test, p_value=float(p)),))
            yield batch

    def _group_tests(self, disparities: Sequence[MeasuredDisparities]) -> Iterator[MeasuredMargins]:
        # The groups are those of the feature: a reference is one of them. Where there are labels,
        # rates that do not use them are none of these: fewer selected may be fewer wrongly
        # selected.
        definitions = {metric.name: metric for metric, _ in self.asked}
        scales = {
            record.metric: record.by
            for batch in disparities
            for record in batch.records
            if record.status is not Status.NOT_APPLICABLE
        }
        asked: dict[tuple[Statistic, Literal["difference", "ratio"]], list[float]] = {}
        for name, by in scales.items():
            margin = _changes.margin_of(self.spec, name)
            for rate in definitions[name].statistics:
                of_label = "label" in rate.needs or not self.spec.label
                if margin is not None and of_label and has_direction(rate, self.spec.favourable):
                    asked.setdefault((rate, by), []).append(margin)
        for feature in range(len(self.resolution.features)):
            for sliced, ((rate, by), asked_margins) in product(self.slices(feature), asked.items()):
                margins = dict.fromkeys(sliced.counts.groups, min(asked_margins))
                for statistic, scope in self._statistics_of_scope(sliced, [rate]):
                    if scope.is_single:
                        yield self._held_against(sliced, statistic, scope, margins, by)

    def _held_against(
        self,
        sliced: PairedSlice,
        statistic: Statistic,
        scope: ClassScope,
        margins: Mapping[str, float],
        by: Literal["difference", "ratio"],
    ) -> MeasuredMargins:
        which = np.array([sliced.counts.groups.index(group) for group in margins])
        changes = self.rate_changes(sliced, statistic, scope, which)
        tests = tuple(
            MarginTest(rate=statistic.name, margin=margin, by=by, change=change)
            for margin, change in zip(margins.values(), changes, strict=True)
        )
        try:
            change = sliced.change(statistic, which)
        except NoInterval:
            return MeasuredMargins(tests)
        quantity = change.ratio if by == "ratio" else change.difference
        lower = better_of(statistic, self.spec.favourable) is Better.LOWER

        def ends(missing: bool) -> Array:
            low, high = self._limits(sliced, statistic, which, by, missing=missing).change
            return high if lower else -low

        reach = self._reach(sliced, statistic, ends)
        gain = quantity.negated() if lower else quantity
        return MeasuredMargins(tests, gain, change, lower=lower, reach=reach)

    def _count_reclassified(self) -> Iterator[Reclassified]:
        if self.resolution.task is not Task.BINARY:
            return
        labels: dict[Among, list[int]] = {"all": [0, 1, 2]}
        if self.spec.label:
            labels |= {"positive": [0], "negative": [1]}
        for feature in (None, *range(len(self.resolution.features))):
            for sliced in self.slices(feature):
                table = sliced.table(np.arange(len(sliced.counts.groups)))
                for group, rows in zip(sliced.counts.groups, table.cases, strict=True):
                    for among, at in labels.items():
                        cells = rows[at].sum(axis=0)
                        yield Reclassified(
                            feature=sliced.counts.feature or None,
                            group=group,
                            among=among,
                            threshold=sliced.current.outcome.threshold,
                            n=float(cells.sum()),
                            gained=float(cells[1, 0]),
                            lost=float(cells[0, 1]),
                        )


def _drop_numbers(bases: Sequence[DisparityChange], reason: Reason) -> MeasuredDisparities:
    status = Status.NOT_APPLICABLE
    return MeasuredDisparities(tuple(replace(base, status=status, reason=reason) for base in bases))
