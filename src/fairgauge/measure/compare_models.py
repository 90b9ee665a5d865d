"""Compare models: what every candidate changes against the model in use, and what that comes to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Literal, Protocol, TypeAlias

import numpy as np

from fairgauge.catalogue.across import Joint, Spread
from fairgauge.catalogue.averages import AVERAGES, agreement, averaged
from fairgauge.catalogue.catalogue import KAPPA
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Combined, ComparisonMetric, Contrast, Metric
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.lookup import find_metric
from fairgauge.catalogue.pooling import is_odds_ratio, pool
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube
from fairgauge.cube.pairs import PairedCubes, candidate_axes, pair
from fairgauge.cube.plan import Axis
from fairgauge.enums import (
    Better,
    ClassKind,
    Method,
    Profile,
    ReferenceKind,
    Status,
    Task,
)
from fairgauge.errors import Problem, SpecError
from fairgauge.inference.groups.paired_extremes import (
    combined_changes,
    spread_change,
)
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.missing_values import MANY_MISSING, uncounted
from fairgauge.inference.one.statistic_intervals import is_resampled, side_interval
from fairgauge.inference.possible import PossiblePairs, RateLimits, furthest
from fairgauge.inference.two.paired_changes import (
    DisparityChanges,
    ScoredRows,
    StatisticChange,
    pooled_change,
    score_change,
    statistic_change,
)
from fairgauge.inference.two.paired_tables import ClusterCounts, PairedTable
from fairgauge.measure._candidate_verdicts import (
    MeasuredCandidate,
    MeasuredMargins,
    check_margins,
    judged,
    margin_of_disparity,
    margin_of_group,
    rate_margins,
)
from fairgauge.measure._change_records import (
    MeasuredDisparities,
    contrast_change,
    disparity_records,
    rate_records,
)
from fairgauge.measure.slices import Slice
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.asked_metrics import asked_metrics
from fairgauge.resolve.constant_outcomes import one_decision, one_value
from fairgauge.resolve.group_counts import GroupCounts, JointCells, count_jointly, count_missing
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task
from fairgauge.resolve.references import large_groups
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.resolve.sides import sides_of_unknown, with_others
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.comparison import Among, Candidate, MarginTest, Reclassified
from fairgauge.results.disadvantage import better_of, has_direction
from fairgauge.results.estimates import EVERYONE
from fairgauge.results.scopes import NO_CLASS, POOLED, ClassScope, Reference
from fairgauge.stats.arrays import Index, Mask


class PairedSlice:
    """The counts of one feature under one outcome, as two models decide.

    Attributes
    ----------
    current, candidate : the counts as each model decides; what is compared with what is that of the
        model in use.
    classes : whether its outcomes are classes, not a positive and a negative.

    Its ``counts`` are of one feature, as the model in use and the candidate decide, and jointly.
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
        self._masks = tuple(per_class) or (outcome,)
        self.classes = bool(per_class)
        measures = self._joint.counts
        cases = self._states(measures["n"])
        weighted = "w" in measures
        self._cases = cases
        self._weights = self._states(measures["w"]) if weighted else cases
        self._squares = self._states(measures["w2"]) if weighted else cases

    @property
    def class_scope(self) -> ClassScope:
        """Return the class that its numbers are of."""
        return self.current.outcome.class_scope

    def change(self, statistic: Statistic, which: Index, slots: Index) -> StatisticChange:
        """Return what becomes of a statistic of some sides.

        Raises
        ------
        NoInterval
            No method gives a valid interval from what is counted.
        """
        old, new = (
            side_interval(statistic, each.evidence(which, slots))
            for each in (self.current, self.candidate)
        )
        return statistic_change(statistic, self.table(which, slots), old, new)

    def table(self, which: Index, slots: Index) -> PairedTable:
        """Return the rows of some sides, by label and both decisions."""
        clusters = None
        count = 0
        if self._joint.clusters is not None:
            clusters = [
                self._clusters(g, s) for g, s in zip(which.tolist(), slots.tolist(), strict=True)
            ]
            count = int(self._joint.clusters.cluster.max(initial=-1)) + 1
        return PairedTable(
            self._weights[which, slots],
            self._squares[which, slots],
            self._cases[which, slots],
            self.classes,
            clusters,
            count,
        )

    def _states(self, counts: Array) -> Array:
        """Collapse levels to outcomes, of all sides; shape (sides, slots, C + 1, C, C)."""
        labels, decisions = (
            np.eye(self._outcomes + of_label)[codes]
            for codes, of_label in ((self._label_codes, 1), (self._decision_codes, 0))
        )
        # one axis at a time: all at once takes the product of all levels and outcomes
        collapsed = np.einsum(
            "gslpq,la,pb,qc->gsabc", counts, labels, decisions, decisions, optimize=True
        )
        return with_others(collapsed)

    @property
    def _outcomes(self) -> int:
        return len(self._masks) if self.classes else 2

    @cached_property
    def _label_codes(self) -> Index:
        codes: Index = np.append(
            self._codes([mask.labels for mask in self._masks]), self._outcomes
        ).astype(np.int64)
        return codes

    @cached_property
    def _decision_codes(self) -> Index:
        return np.asarray(self._codes([mask.predictions for mask in self._masks]))

    def _codes(self, masks: Sequence[Mask]) -> Index:
        """Return the outcome of every level: 0 positive and 1 negative, or the class."""
        if self.classes:
            return np.asarray(np.argmax(np.stack(masks), axis=0), dtype=np.int64)
        return np.asarray(np.where(masks[0], 0, 1), dtype=np.int64)

    def _clusters(self, side: int, slot: int) -> ClusterCounts:
        cells = self._joint.clusters
        assert cells is not None
        assert cells.candidate is not None
        inside = np.ones(len(cells.group), dtype=bool)  # all rows
        if side < self.current.sides.whole:
            inside = cells.group == side
        elif side > self.current.sides.whole:
            inside = cells.group != side - self.current.sides.others
        if slot:
            inside &= cells.stratum == slot - 1
        label = self._label_codes[cells.label[inside]]
        old, new = (
            self._decision_codes[codes[inside]] for codes in (cells.prediction, cells.candidate)
        )
        outcomes = self._outcomes
        flat = (label * outcomes + old) * outcomes + new
        weights = cells.counts.get("w", cells.counts["n"])
        return ClusterCounts(cells.cluster[inside], flat, weights[inside])


STANDARD = ("selection_rate.difference", "true_positive_rate.difference",
            "false_positive_rate.difference")  # fmt: skip
"""The disparities that are compared where no metrics are named: demographic parity and equalized
odds."""
_Change: TypeAlias = "tuple[DisparityChanges, tuple[Array, Array]]"
"""What becomes of a disparity in every comparison, and it under both models."""


class PairedScores(Protocol):
    """Reads the scores of two models from the rows."""

    def sides(
        self, counts: GroupCounts, outcome: OutcomeMasks, candidate: str
    ) -> tuple[ScoredRows, ...]:
        """Return the rows of every side, numbered as counts by side are."""


def compare_candidates(
    cube: Cube,
    spec: Spec,
    scores: PairedScores | None = None,
) -> tuple[Candidate, ...]:
    """Return what every candidate changes against the model in use, and its verdict.

    ``scores`` reads the scores, for the statistics of scores; without it they have no interval.
    """
    if spec.method is not Method.DEFAULT:
        message = (
            f"{spec.method} has no effect: changes have paired intervals of their own (Tango's, "
            "MOVER's); leave it at its default"
        )
        raise SpecError(Problem("method", message))
    if decide_task(cube, spec) is Task.REGRESSION:
        message = (
            "counts do not hold how the predictions of two regressions differ row by row; state "
            "which values are positive (fairgauge.above, --positive '>x')"
        )
        raise SpecError(Problem("candidate", message))
    measured = [_candidate(_models(cube, axis, spec, scores)) for axis in candidate_axes(cube)]
    return judged(measured, spec.confidence, partial(margin_of_disparity, spec))


@dataclass(frozen=True, slots=True, eq=False)
class _Comparisons:
    """The comparisons of a metric: sides by number, slots, and the records without numbers.

    ``inside`` is whether the references hold the groups.
    """

    groups: Index
    references: Index
    slots: Index
    bases: tuple[DisparityChange, ...]
    inside: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Models:
    """The model in use and a candidate, and what is asked of both.

    Attributes
    ----------
    name : of the candidate.
    spec : the question, as of the model in use, with the margins.
    resolution, other : what both models' counts answer it with.
    contrasts, others : the metrics that are contrasts of one rate, and the others, each with the
        reason why it cannot be computed.
    slices, changes : made once: slices by feature (None: of all rows), changes by what they are of.
    """

    name: str
    cubes: PairedCubes
    spec: Spec
    resolution: Resolution
    other: Resolution
    contrasts: tuple[tuple[Contrast, Reason | None], ...]
    others: tuple[tuple[Metric, Reason | None], ...]
    scores: PairedScores | None
    is_uncounted: bool
    slices: dict[int | None, tuple[PairedSlice, ...]] = field(default_factory=dict)
    changes: dict[tuple[int, Statistic, bytes, bytes], StatisticChange] = field(
        default_factory=dict
    )
    missing: dict[str, tuple[Array, Array, Array]] = field(default_factory=dict)

    def lacks(self, feature: str, needs: Collection[str]) -> bool:
        """Return whether many rows of a group lack what is needed, or many lack a group."""
        counts = self._counts(feature)
        _, _, rows = self.cells(counts)
        n = rows[:-1].sum(axis=(1, 2, 3))
        lacking = np.zeros_like(n)
        if "label" in needs:
            lacking += rows[:-1, -1].sum(axis=(1, 2))
        decided = rows[:-1, : -1 if "label" in needs else None, :-1, :-1].sum(axis=(1, 2, 3))
        lacking += n - lacking - decided
        if "strata" in needs:
            of_strata = counts.counts["n"]
            without = (of_strata[:, 0] - of_strata[:, 1:].sum(axis=1)).sum(axis=(1, 2))
            lacking += without
        many = bool(((lacking >= MANY_MISSING * n) & (lacking > 0)).any())
        unknown, large = float(rows[-1].sum()), n[: len(counts.groups)]
        large = large[large_groups(counts, self.spec)]
        return many or (
            "group" in needs and unknown > 0 and unknown >= MANY_MISSING * large.min(initial=np.inf)
        )

    def is_open(self, feature: str | None, needs: Collection[str], *, known: bool) -> bool:
        """Return whether rows could change a result; how far missing ones could may be known."""
        return self.is_uncounted or (not known and self.lacks(feature or "", needs))

    def is_complete(self, counts: GroupCounts) -> bool:
        """Return whether no row lacks a group, a label or a decision."""
        _, _, rows = self.cells(counts)
        labels = slice(None, -1 if rows.shape[1] > 1 else None)
        return bool(rows[:-1, labels, :-1, :-1].sum() == rows.sum())

    def cells(self, counts: GroupCounts) -> tuple[Array, Array, Array]:
        """Return all rows of a feature, those that lack something among them, counted once."""
        if counts.feature not in self.missing:
            self.missing[counts.feature] = count_missing(self.cubes.every, counts)
        return self.missing[counts.feature]

    def _counts(self, feature: str) -> GroupCounts:
        every = (*self.resolution.features, self.resolution.everyone)
        return next(each for each in every if each.feature == feature)


def _models(cube: Cube, axis: Axis, spec: Spec, scores: PairedScores | None) -> _Models:
    cubes = pair(cube, axis)
    in_use = replace(_with_disparities(spec), candidate=())
    of_candidate = (
        replace(in_use, prediction=axis.column)
        if spec.prediction
        else replace(in_use, score=axis.column)
    )
    resolution = resolve(cubes.current, in_use)
    other = resolve(cubes.candidate, of_candidate)
    asked = [
        (each.metric, each.obstacle)
        for each in asked_metrics(cube, in_use, resolution.task)
        if each.obstacle or each.metric.needs & {"prediction", "score"}
    ]
    check_margins(spec, [metric.name for metric, _ in asked])
    return _Models(
        name=axis.column,
        cubes=cubes,
        spec=in_use,
        resolution=resolution,
        other=other,
        is_uncounted=bool(uncounted(cube, resolution.features, in_use)),
        contrasts=tuple((metric, why) for metric, why in asked if isinstance(metric, Contrast)),
        others=tuple((metric, why) for metric, why in asked if not isinstance(metric, Contrast)),
        scores=scores,
    )


def _candidate(models: _Models) -> MeasuredCandidate:
    disparities = tuple(  # first: it refuses features with too many cells
        _with_reach(models, batch) for batch in _disparities(models)
    )
    return MeasuredCandidate(
        Candidate(
            name=models.name,
            rows=models.cubes.rows,
            undecided=models.cubes.undecided,
            reason=_one_decision(models),
            disparities=(),
            rates=tuple(_rates(models)),
            margins=(),
            reclassified=tuple(_reclassified(models)),
        ),
        disparities,
        tuple(_with_reach_of_rates(models, batch) for batch in _margin_tests(models)),
        tuple(_with_reach_of_rates(models, batch) for batch in _group_tests(models, disparities)),
    )


def _one_decision(models: _Models) -> Reason | None:
    """Return that the candidate decides all rows alike, at a threshold or a cut of several.

    Or that its scores are all the same. None where no disparity is of decisions, or of scores.
    """
    needs = {need for metric, _ in (*models.contrasts, *models.others) for need in metric.needs}
    reason = None
    if "prediction" in needs:
        reason = one_decision(models.cubes.candidate, models.other.outcomes, models.resolution.task)
    if reason is not None or "score" not in needs or models.scores is None:
        return reason
    whole = _slices(models, None)[0].current
    turned = whole.outcome.turned
    scores = models.scores.sides(whole.counts, whole.outcome, models.name)[whole.sides.whole].new
    if not len(scores) or np.ptp(scores):
        return None
    return one_value("score", scores[0] if turned is None else turned - scores[0])


def _with_reach(models: _Models, batch: MeasuredDisparities) -> MeasuredDisparities:
    """Return disparities with how far rows that are excluded could move them.

    What has no worst case could go anywhere where many rows of a group lack what it needs.
    """
    reach = np.zeros(len(batch.records)) if batch.reach is None else batch.reach.copy()
    for i, one in enumerate(batch.records):
        needs = one.definition.needs | ({"group"} if one.feature else set())
        needs |= {"strata"} if one.scope == POOLED else set()
        if models.is_open(one.feature, needs, known=batch.reach is not None):
            reach[i] = np.inf
    return replace(batch, reach=reach)


def _with_reach_of_rates(models: _Models, batch: MeasuredMargins) -> MeasuredMargins:
    reach = np.zeros(len(batch.tests)) if batch.reach is None else batch.reach.copy()
    for i, test in enumerate(batch.tests):
        one = test.change
        needs = one.definition.needs | ({"group"} if one.feature else set())
        if models.is_open(one.feature, needs, known=batch.reach is not None):
            reach[i] = np.inf
    return replace(batch, reach=reach)


def _slices(models: _Models, feature: int | None) -> tuple[PairedSlice, ...]:
    """Return the slices of a feature (None: of all rows), made once."""
    if feature not in models.slices:
        models.slices[feature] = tuple(_sliced(models, feature))
    return models.slices[feature]


def _sliced(models: _Models, feature: int | None) -> Iterator[PairedSlice]:
    of, other = (
        each.everyone if feature is None else each.features[feature]
        for each in (models.resolution, models.other)
    )
    counts = (of, other, count_jointly(models.cubes.joint, of))
    outcomes = models.resolution.outcomes
    for outcome in outcomes:
        yield PairedSlice(counts, outcome, models.spec)
    if models.resolution.task is Task.MULTICLASS:
        yield PairedSlice(counts, outcomes[0].of_no_class, models.spec, outcomes)


def _rates(models: _Models) -> Iterator[RateChange]:
    for feature in (None, *range(len(models.resolution.features))):
        for sliced in _slices(models, feature):
            slice_ = sliced.current
            groups = np.arange(len(slice_.counts.groups))
            slots = np.arange(1 + len(slice_.counts.strata))
            which, at = np.tile(groups, len(slots)), np.repeat(slots, len(groups))
            catalogue = models.spec.catalogue
            wanted = [metric.of for metric, obstacle in models.contrasts if obstacle is None]
            wanted += [catalogue.rate(name) for name, _ in rate_margins(models.spec)]
            if models.spec.label:
                wanted.append(catalogue.rate("accuracy"))
            decided = (each for each in wanted if each.needs & {"prediction", "score"})
            for statistic, scope in _of_scope(
                models.resolution, sliced, list({each.name: each for each in decided}.values())
            ):
                if not _measured_at(models.resolution, sliced, statistic):
                    continue
                kept = at == 0 if "score" in statistic.needs else np.ones(len(at), dtype=bool)
                yield from _rate_changes(models, sliced, statistic, scope, which[kept], at[kept])


def _measured_at(resolution: Resolution, sliced: PairedSlice, of: Statistic | Metric) -> bool:
    """Return whether to measure something here: without decisions at one threshold alone."""
    first = sliced.current.outcome.threshold == resolution.outcomes[0].threshold
    return first or "prediction" in of.needs


def _change(
    models: _Models, sliced: PairedSlice, statistic: Statistic, which: Index, slots: Index
) -> StatisticChange:
    key = (id(sliced), statistic, which.tobytes(), slots.tobytes())
    if key not in models.changes:
        models.changes[key] = _changed(models, sliced, statistic, which, slots)
    return models.changes[key]


def _changed(
    models: _Models, sliced: PairedSlice, statistic: Statistic, which: Index, slots: Index
) -> StatisticChange:
    if is_resampled(statistic):
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=statistic.title)
    if not isinstance(statistic, ScoreStatistic):
        return sliced.change(statistic, which, slots)
    if models.scores is None:
        raise NoInterval(ReasonCode.NOT_OF_DECISIONS, of=statistic.title)
    slice_ = sliced.current
    sides = models.scores.sides(slice_.counts, slice_.outcome, models.name)
    return score_change(statistic, [sides[i] for i in which.tolist()])


def _of_scope(
    resolution: Resolution, sliced: PairedSlice, statistics: Sequence[Statistic]
) -> Iterator[tuple[Statistic, ClassScope]]:
    """Yield the statistics of a slice: of all classes, their averages, accuracy and kappa.

    Kappa is one number of all classes: no class has its own, as in an audit.
    """
    classes = resolution.task is Task.MULTICLASS
    whole = classes and sliced.class_scope == NO_CLASS
    of_all = {each.name: each for each in (agreement(), KAPPA)}
    for statistic in statistics:
        if whole and statistic.name in of_all:
            yield of_all[statistic.name], NO_CLASS
        if classes and statistic is KAPPA:
            continue
        if not whole:
            yield statistic, sliced.class_scope
            continue
        for how in AVERAGES:
            yield averaged(statistic, how), ClassScope(ClassKind.AVERAGE, average=how)


def _rate_changes(
    models: _Models,
    sliced: PairedSlice,
    statistic: Statistic,
    scope: ClassScope,
    which: Index,
    slots: Index,
) -> Iterator[RateChange]:
    slice_ = sliced.current
    counts = slice_.counts
    feature = counts.feature or None
    bases = [
        RateChange(
            rate=statistic.name,
            definition=statistic,
            feature=feature,
            group=counts.groups[g],
            scope=counts.scope(s),
            class_scope=scope,
            threshold=slice_.outcome.threshold if "prediction" in statistic.needs else None,
        )
        for g, s in zip(which.tolist(), slots.tolist(), strict=True)
    ]
    try:
        change = _change(models, sliced, statistic, which, slots)
    except NoInterval as refused:
        for each in bases:
            yield replace(each, status=Status.NOT_APPLICABLE, reason=refused.reason)
        return

    def undefined(i: int, old: bool) -> Reason:
        if isinstance(statistic, ScoreStatistic):
            return Reason.of(ReasonCode.ONE_CLASS_ONLY, of="labels")
        side = sliced.current if old else sliced.candidate
        return statistic.why_undefined(side.evidence(which, slots).side, i)

    yield from rate_records(change, bases, models.spec.confidence, undefined)


def _disparities(models: _Models) -> Iterator[MeasuredDisparities]:
    for feature in range(len(models.resolution.features)):
        for sliced in _slices(models, feature):
            yield from _other_changes(models, sliced)
            for metric, obstacle in models.contrasts:
                if not _measured_at(models.resolution, sliced, metric.of):
                    continue
                if obstacle is not None:
                    counts = sliced.current.counts
                    bases = [
                        DisparityChange(
                            metric=metric.name,
                            definition=metric,
                            feature=counts.feature,
                            group=group,
                            reference=None,
                            class_scope=sliced.class_scope,
                        )
                        for group in counts.groups
                    ]
                    yield _without_numbers(bases, obstacle)
                    continue
                for statistic, scope in _of_scope(models.resolution, sliced, [metric.of]):
                    of = replace(metric, of=statistic)
                    yield _disparity_changes(models, sliced, of, scope)
                    yield from _pooled_changes(models, sliced, of, scope)
    if any(metric.scope == "table" for metric, _ in models.others):
        for sliced in _slices(models, None):
            yield from _other_changes(models, sliced)


def _other_changes(models: _Models, sliced: PairedSlice) -> Iterator[MeasuredDisparities]:
    for metric, obstacle in models.others:
        if not _measured_at(models.resolution, sliced, metric) or not _of_these_classes(
            models.resolution, sliced, metric
        ):
            continue
        if obstacle is not None:
            base = _base(sliced, metric, sliced.class_scope)
            yield _without_numbers([base], obstacle)
        elif isinstance(metric, (Spread, Joint)):
            yield from _spread_changes(models, sliced, metric)
        elif isinstance(metric, Combined):
            yield _combined_changes(models, sliced, metric)
        else:
            reason = Reason.of(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
            yield _without_numbers([_base(sliced, metric, sliced.class_scope)], reason)


def _of_these_classes(resolution: Resolution, sliced: PairedSlice, metric: Metric) -> bool:
    """Return whether a metric is measured of a class, or of all classes at once, here.

    Indices of all rows are measured of all rows, all others by feature.
    """
    if (metric.scope == "table") != (not sliced.current.counts.feature):
        return False
    if resolution.task is not Task.MULTICLASS:
        return True
    whole = sliced.class_scope == NO_CLASS
    return isinstance(metric, Spread) or whole == isinstance(metric, Distance)


def _base(sliced: PairedSlice, metric: Metric, scope: ClassScope) -> DisparityChange:
    return DisparityChange(
        metric=metric.name,
        definition=metric,
        feature=sliced.current.counts.feature or None,
        group=EVERYONE,
        reference=None,
        class_scope=scope,
        threshold=sliced.current.outcome.threshold if "prediction" in metric.needs else None,
        by="ratio" if _is_smallest_ratio(metric) else "difference",
    )


def _spread_changes(
    models: _Models, sliced: PairedSlice, metric: Spread | Joint
) -> Iterator[MeasuredDisparities]:
    """Yield what becomes of the extremes over groups: of a class, and of averages."""
    every = np.arange(len(sliced.current.counts.groups))
    zero = np.zeros_like(every)
    spreads = (metric,) if isinstance(metric, Spread) else metric.of
    by_statistic = [list(_of_scope(models.resolution, sliced, [each.of])) for each in spreads]
    for scoped in zip(*by_statistic, strict=True):
        base = _base(sliced, metric, scoped[0][1])
        try:
            changes = [_change(models, sliced, statistic, every, zero) for statistic, _ in scoped]
            found = spread_change(metric, changes)
        except NoInterval as refused:
            yield _without_numbers([base], refused.reason)
            continue
        if found is None:
            reason = Reason.of(ReasonCode.FEWER_THAN_TWO_GROUPS)
            yield _without_numbers([base], reason, Status.UNDEFINED)
            continue
        groups = sliced.current.counts.groups
        if found.apart:
            base = replace(base, group=groups[found.first])
        if found.apart and found.first != found.second:
            reference = Reference(ReferenceKind.GROUP, groups[found.second])
            base = replace(base, reference=reference)
        yield disparity_records(metric, found.made, found.values, [base], models.spec)


def _combined_changes(
    models: _Models, sliced: PairedSlice, metric: Combined
) -> MeasuredDisparities:
    compared = _compared(sliced, metric, sliced.class_scope, overall=True)

    def change() -> _Change:
        both = np.concatenate([compared.groups, compared.references])
        slots = np.tile(compared.slots, 2)
        sides = [_change(models, sliced, each.of, both, slots) for each in metric.of]
        return combined_changes(metric, sides, inside=compared.inside)

    return _recorded(models.spec, metric, compared.bases, change)


def _recorded(
    spec: Spec, metric: Metric, bases: Sequence[DisparityChange], change: Callable[[], _Change]
) -> MeasuredDisparities:
    try:
        made, values = change()
    except NoInterval as refused:
        return _without_numbers(bases, refused.reason)
    return disparity_records(metric, made, values, bases, spec)


def _disparity_changes(
    models: _Models, sliced: PairedSlice, metric: Contrast, scope: ClassScope
) -> MeasuredDisparities:
    compared = _compared(sliced, metric, scope)

    def change() -> _Change:
        which = np.concatenate([compared.groups, compared.references])
        sides = _change(models, sliced, metric.of, which, np.tile(compared.slots, 2))
        return contrast_change(metric, sides, inside=compared.inside)

    made = _recorded(models.spec, metric, compared.bases, change)
    if not isinstance(metric.of, Rate):
        return made
    if models.is_complete(sliced.current.counts):
        return replace(made, reach=np.zeros(len(made.records)))
    which = np.split(np.concatenate([compared.groups, compared.references]), 2)
    ends = [  # over all rows, and of complete ones alone
        furthest(*(_missing_limits(models, sliced, metric.of, w, metric.by, known) for w in which))
        for known in (False, True)
    ]
    return replace(made, reach=_moved(*ends))


def _missing_limits(
    models: _Models,
    sliced: PairedSlice,
    rate: Rate,
    which: Index,
    by: str,
    complete: bool,
) -> RateLimits:
    """Return the ends of a rate, of ratios in logarithms: over all rows, or ``complete`` ones."""
    counts = sliced.current.counts
    groups, without, _ = models.cells(counts)
    sides = np.logical_or(*sides_of_unknown(counts))
    pairs = PossiblePairs(groups, without, sides, sliced.current.outcome)
    limits = pairs.limits(rate, which, missing=not complete)
    return limits.in_logarithms() if by == "ratio" else limits


def _moved(furthest: Array, observed: Array) -> Array:
    """Return how far a number may move from what is observed: anywhere where that is unknown."""
    with np.errstate(invalid="ignore"):
        moved = np.where(furthest == observed, 0.0, furthest - observed)
    return np.asarray(np.nan_to_num(np.maximum(moved, 0.0), nan=np.inf))


def _pooled_changes(
    models: _Models, sliced: PairedSlice, metric: Contrast, scope: ClassScope
) -> Iterator[MeasuredDisparities]:
    strata = len(sliced.current.counts.strata)
    if not strata or "score" in metric.needs:
        return
    compared = _compared(sliced, metric, scope, overall=True)
    bases = tuple(replace(base, scope=POOLED) for base in compared.bases)
    made = partial(_pooled_means, models, sliced, metric, compared, strata)
    yield _recorded(models.spec, metric, bases, made)


def _pooled_means(
    models: _Models, sliced: PairedSlice, metric: Contrast, compared: _Comparisons, strata: int
) -> _Change:
    if is_odds_ratio(metric):  # which is no ratio of two numbers of the sides
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
    if is_resampled(metric.of):
        raise NoInterval(ReasonCode.RESAMPLED_NOT_POOLED)
    slots = np.tile(np.arange(strata) + 1, len(compared.groups))
    halves = [np.repeat(of, strata) for of in (compared.groups, compared.references)]
    weights = []
    for slice_ in (sliced.current, sliced.candidate):
        group, reference = (slice_.evidence(half, slots).side for half in halves)
        of = pool(metric, group, reference, strata, Profile.DOCUMENTED)
        weights.append(np.tile(of.weights, (2, 1)))
    which, slots = np.concatenate(halves), np.tile(slots, 2)
    by_stratum = _change(models, sliced, metric.of, which, slots)
    sides = pooled_change(metric.of, by_stratum, (weights[0], weights[1]))
    return contrast_change(metric, sides, inside=compared.inside)


def _compared(
    sliced: PairedSlice,
    metric: ComparisonMetric,
    scope: ClassScope,
    *,
    overall: bool = False,
) -> _Comparisons:
    """Return what a metric compares here, by the model in use; ``overall``: over all rows."""
    slice_ = sliced.current
    counts, compared = slice_.counts, slice_.compared(metric)
    kept = np.arange(len(compared.groups))
    if metric.symmetric:  # two groups that are each other's reference are one comparison
        kept = np.flatnonzero(compared.groups != compared.mirrored)
    kept = kept[compared.slots[kept] == 0] if overall else kept
    groups, references, slots = (
        of[kept] for of in (compared.groups, compared.references, compared.slots)
    )
    bases = tuple(
        DisparityChange(
            metric=metric.name,
            definition=metric,
            feature=counts.feature,
            group=counts.groups[g],
            reference=compared.each[k],
            scope=counts.scope(s),
            class_scope=scope,
            threshold=slice_.outcome.threshold if "prediction" in metric.needs else None,
            by=metric.by if isinstance(metric, Contrast) else "difference",
        )
        for g, s, k in zip(groups.tolist(), slots.tolist(), kept.tolist(), strict=True)
    )
    inside = bool((references == slice_.sides.whole).any())
    return _Comparisons(groups, references, slots, bases, inside)


def _margin_tests(models: _Models) -> Iterator[MeasuredMargins]:
    margins = rate_margins(models.spec)
    if not margins:
        return
    sliced = _slices(models, None)
    if models.resolution.task is Task.MULTICLASS:
        sliced = sliced[-1:]  # all classes at once
    for (name, margin), each in product(margins, sliced):
        statistic, scope = next(
            _of_scope(models.resolution, each, [models.spec.catalogue.rate(name)])
        )
        if _measured_at(models.resolution, each, statistic):
            batch = _held_against(models, each, statistic, scope, {EVERYONE: margin}, "difference")
            yield _with_p_value(batch, margin)


def _with_p_value(batch: MeasuredMargins, margin: float) -> MeasuredMargins:
    (test,) = batch.tests
    if batch.gain is None or test.change.interval is None:
        return batch
    two_sided = batch.gain.p_value(null=-margin)[0]
    p = float(two_sided / 2 if batch.gain.value[0] > -margin else 1 - two_sided / 2)
    return replace(batch, tests=(replace(test, p_value=p),))


def _group_tests(
    models: _Models, disparities: Sequence[MeasuredDisparities]
) -> Iterator[MeasuredMargins]:
    """Yield the tests of the groups' own rates that disparities with a margin are made of.

    The groups are those of the feature: a reference is one of them. Where there are labels, rates
    that do not use them are none of these: fewer selected may be fewer wrongly selected.
    """
    definitions = {metric.name: metric for metric, _ in (*models.contrasts, *models.others)}
    metrics = {  # as they are asked for, not of an average over classes
        record.metric: replace(record, definition=definitions[record.metric])
        for batch in disparities
        for record in batch.records
        if record.status is not Status.NOT_APPLICABLE
    }
    asked = {
        (rate.name, record.by): rate
        for record in metrics.values()
        for rate in record.definition.statistics
        if has_direction(rate, models.spec.favourable)
        and ("label" in rate.needs or not models.spec.label)
    }
    for feature in range(len(models.resolution.features)):
        for sliced in _slices(models, feature):
            counts = sliced.current.counts
            for (_, by), rate in asked.items():
                margins: dict[str, float] = {}
                for group, one in product(counts.groups, metrics.values()):
                    of_group = replace(one, feature=counts.feature, group=group)
                    margin = margin_of_group(models.spec, of_group)
                    if margin is not None and one.by == by and rate in one.definition.statistics:
                        margins[group] = min(margin, margins.get(group, margin))
                if not margins or not _measured_at(models.resolution, sliced, rate):
                    continue
                for statistic, scope in _of_scope(models.resolution, sliced, [rate]):
                    if scope.is_single:
                        yield _held_against(models, sliced, statistic, scope, margins, by)


def _held_against(
    models: _Models,
    sliced: PairedSlice,
    statistic: Statistic,
    scope: ClassScope,
    margins: Mapping[str, float],
    by: Literal["difference", "ratio"],
) -> MeasuredMargins:
    groups = sliced.current.counts.groups
    which = np.array([groups.index(group) for group in margins])
    slots = np.zeros_like(which)
    changes = _rate_changes(models, sliced, statistic, scope, which, slots)
    tests = tuple(
        MarginTest(rate=statistic.name, margin=margin, by=by, change=change)
        for margin, change in zip(margins.values(), changes, strict=True)
    )
    try:
        change = _change(models, sliced, statistic, which, slots)
    except NoInterval:
        return MeasuredMargins(tests)
    made = change.ratio if by == "ratio" else change.difference
    lower = better_of(statistic, models.spec.favourable) is Better.LOWER
    reach = None
    if isinstance(statistic, Rate) and not models.is_complete(sliced.current.counts):
        least, observed = (
            _missing_limits(models, sliced, statistic, which, by, known).change
            for known in (False, True)
        )
        reach = _moved(least[1], observed[1]) if lower else _moved(-least[0], -observed[0])
    gain = made.negated() if lower else made
    return MeasuredMargins(tests, gain, change, lower=lower, reach=reach)


def _reclassified(models: _Models) -> Iterator[Reclassified]:
    if models.resolution.task is not Task.BINARY:
        return
    labels: list[tuple[Among, Sequence[int]]] = [("all", (0, 1, 2))]
    if models.spec.label:
        labels += [("positive", (0,)), ("negative", (1,))]
    for feature in (None, *range(len(models.resolution.features))):
        for sliced in _slices(models, feature):
            counts = sliced.current.counts
            groups = np.arange(len(counts.groups))
            table = sliced.table(groups, np.zeros_like(groups))
            for i, (among, rows) in product(groups.tolist(), labels):
                cells = table.cases[i][list(rows)].sum(axis=0)
                n, gained, lost = float(cells.sum()), float(cells[1, 0]), float(cells[0, 1])
                weights = counts.in_given_weights(table.weights[i][list(rows)].sum(axis=0))
                yield Reclassified(
                    feature=counts.feature or None,
                    group=counts.groups[i],
                    among=among,
                    threshold=sliced.current.outcome.threshold,
                    n=n,
                    gained=gained,
                    lost=lost,
                    weighted_n=float(weights.sum()) if counts.weighted else None,
                    weighted_gained=float(weights[1, 0]) if counts.weighted else None,
                    weighted_lost=float(weights[0, 1]) if counts.weighted else None,
                )


def _is_smallest_ratio(metric: Metric) -> bool:
    spreads = metric.of if isinstance(metric, Joint) else (metric,)
    return all(isinstance(each, Spread) and each.by == "smallest_ratio" for each in spreads)


def _without_numbers(
    bases: Sequence[DisparityChange], reason: Reason, status: Status = Status.NOT_APPLICABLE
) -> MeasuredDisparities:
    return MeasuredDisparities(tuple(replace(base, status=status, reason=reason) for base in bases))


def _with_disparities(spec: Spec) -> Spec:
    if spec.metrics != ("standard",):
        return spec
    names = [name for name in STANDARD if spec.label or "label" not in find_metric(name).needs]
    return replace(spec, metrics=tuple(names))
