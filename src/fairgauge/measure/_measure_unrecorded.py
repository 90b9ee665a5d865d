"""Measuring groups that nobody recorded, from their probabilities.

One estimator decides: by default the likelihood. Bounds, which are right without its assumption,
stand next to it, and next to averages the other estimators of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Metric
from fairgauge.catalogue.distributions import OverallStandardisedMean
from fairgauge.catalogue.score_statistics import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import (
    Assume,
    DiagnosticCode,
    Estimator,
    GroupKind,
    IntervalMethod,
    KnownDrawn,
    ReferenceKind,
    ReferenceRule,
    Status,
)
from fairgauge.errors import Problem, SpecError, listing, quote, suggest
from fairgauge.identity import FeatureId, GroupId, ValueSet, name_of_values
from fairgauge.inference.interval import (
    FEWEST_IN_STRATUM,
    MOST_THIN,
    RATIO_MAY_BE_ZERO,
    THIN_STRATA,
)
from fairgauge.measure.measured import Shown, UnrecordedMeasured
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS, Reason, ReasonCode
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.resolution import Resolution
from fairgauge.resolve.unrecorded_counts import UnrecordedGroups
from fairgauge.results.estimates import ByEstimator, Estimate, Group, RateValue, as_count, as_number
from fairgauge.results.scopes import OVERALL, Diagnostic, Interval, Reference
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Limits
from fairgauge.stats.group_mixture import StratifiedMixture, calibration_test
from fairgauge.stats.intervals import critical
from fairgauge.stats.unrecorded_means import UnrecordedMean
from fairgauge.stats.unrecorded_rates import By, UnrecordedRate, p_value

_CALIBRATION_LEVEL = 0.05
_WRONG_PROBABILITIES = 0.001
"""The level of the test of people of known group, strict because chi-square rejects too often
where few are known."""
_FIT_LEVEL = 0.01
# the method by which the interval of each estimator is named
_METHODS = {
    Estimator.LIKELIHOOD: IntervalMethod.PROFILE_LIKELIHOOD,
    Estimator.BOUNDS: IntervalMethod.SHARP_BOUNDS,
    Estimator.VALIDATED: IntervalMethod.VALIDATED_SAMPLE,
    Estimator.REGRESSION: IntervalMethod.PROBABILITY_REGRESSION,
    Estimator.WEIGHTED: IntervalMethod.PROBABILITY_WEIGHTS,
}
Estimated: TypeAlias = Rate | Mean
Estimates: TypeAlias = UnrecordedRate | UnrecordedMean


class EstimatedGroups(UnrecordedGroups):
    """The counts of a feature, with the rates that were estimated from them.

    Rules are decided at several confidence levels, for which nothing is estimated again.
    """

    @cached_property
    def _estimated(self) -> dict[tuple[Estimated, bytes, bytes], Estimates]:
        return {}

    def rate(self, row: Estimated, outcome: OutcomeMasks) -> Estimates:
        key = row, outcome.labels.tobytes(), outcome.predictions.tobytes()
        if key not in self._estimated:
            of_all = self.people[1] and self.sampled
            if isinstance(row, Mean):
                amounts = self.amounts(row, outcome, everyone=True) if of_all else None
                self._estimated[key] = UnrecordedMean(self.amounts(row, outcome), amounts)
            else:
                everyone = self.cells(row, outcome, everyone=True) if of_all else None
                self._estimated[key] = UnrecordedRate(self.cells(row, outcome), everyone)
        return self._estimated[key]


def is_estimated(of: object) -> TypeGuard[Estimated]:
    """Return whether a number of groups is estimated from their probabilities.

    These are shares of rows, and the averages of labels and of predictions.
    """
    terms = RegressionTerm.LABEL, RegressionTerm.PREDICTION
    return isinstance(of, Rate) or (isinstance(of, Mean) and of.of in terms)


def measure_unrecorded(
    features: Sequence[EstimatedGroups], resolution: Resolution, rates: Iterable[Statistic]
) -> UnrecordedMeasured:
    """Estimate every rate and comparison of the features of which only probabilities are known."""
    measured = UnrecordedMeasured()
    estimated = [*filter(is_estimated, rates)]
    for feature in features:
        _Feature(feature, resolution, measured).measure(estimated)
    return measured


def compared_sides(counts: UnrecordedGroups, spec: Spec) -> list[tuple[int, int, Reference]]:
    """Return the groups that are compared: group, side of the reference, and the reference."""
    size, rule = len(counts.groups), spec.reference
    if isinstance(rule, tuple):
        named = dict(rule).get(counts.feature)
        if named is not None:
            text = name_of_values(named)
            if text not in counts.groups:
                message = (
                    f"{quote(text)} is none of its groups.{suggest(text, counts.groups)} "
                    f"Groups: {listing(counts.groups)}"
                )
                raise SpecError(Problem(f"reference.{counts.feature}", message))
            at = counts.groups.index(text)
            reference = Reference(ReferenceKind.GROUP, text, GroupId.of(ValueSet((text,))))
            return [(g, at, reference) for g in range(size) if g != at]
    if rule is ReferenceRule.OVERALL:
        return [(g, 2 * size, Reference(ReferenceKind.OVERALL)) for g in range(size)]
    return [(g, size + g, Reference(ReferenceKind.OTHERS)) for g in range(size)]


def _kind_of_contrast(metric: Metric) -> By:
    return metric.by if isinstance(metric, Contrast) else "deviations"


def _limits_at(
    contrast: Callable[..., tuple[float, float]], by: By, one: int, other: int, confidence: float
) -> Limits:
    low, high = contrast(by, one, other, critical(confidence))
    return np.array([low]), np.array([high])


def _methods_of(rate: Estimates, estimator: Estimator) -> tuple[IntervalMethod, ...]:
    mixture = rate.mixture if isinstance(rate, UnrecordedRate) else None
    stratified = estimator is Estimator.LIKELIHOOD and isinstance(mixture, StratifiedMixture)
    return (_METHODS[estimator], *([IntervalMethod.STRATIFIED] if stratified else []))


class _Feature:
    def __init__(
        self, counts: EstimatedGroups, resolution: Resolution, measured: UnrecordedMeasured
    ) -> None:
        self._counts, self._resolution, self._measured = counts, resolution, measured
        self._spec = resolution.spec
        self._names = counts.groups
        self._feature_id = FeatureId((counts.feature,))
        self._ids = [GroupId.of(ValueSet((name,))) for name in self._names]
        self._references = compared_sides(counts, self._spec)
        self._known = known if (known := counts.known_cells())[1].any() else None
        self._known_people = round(float(counts.answers.sum()))
        self._random = counts.asked.known_drawn is KnownDrawn.RANDOM
        self._unfit: dict[tuple[str, object, float | None], float] = {}
        self._has_answers_alone = False

    def measure(self, rates: Sequence[Estimated]) -> None:
        measured, ruled = self._measured, {rule.metric for rule in self._spec.rules}
        for at, outcome in enumerate(self._resolution.outcomes):
            measured.groups.extend(self._groups(rates, outcome))
            measured.totals.append(self._everyone(rates, outcome))
            for asked in self._resolution.metrics:
                metric, of = asked.metric, getattr(asked.metric, "of", None)
                if metric.scope in ("table", "rows"):
                    continue
                if (
                    isinstance(metric, Contrast | OverallStandardisedMean)
                    and is_estimated(of)
                    and not asked.obstacle
                ):
                    measured.estimates.extend(self._compare(metric, of, outcome))
                elif at == 0 and metric.name in ruled:
                    reason = asked.obstacle or Reason.of(ReasonCode.GROUP_NOT_RECORDED)
                    refused = {"status": Status.NOT_APPLICABLE, "reason": reason}
                    measured.estimates.append(self._unmeasured_estimate(metric, **refused))
        measured.diagnostics.extend(self._notes())

    def _deciding(self, rate: Estimates, name: str, outcome: OutcomeMasks) -> Estimator:
        if self._random and rate.validated is not None:
            # a sample decides, and not its correction of what probabilities do not distinguish
            self._has_answers_alone |= bool(rate.unidentified.any())
            return Estimator.VALIDATED
        if self._counts.asked.assume is Assume.NOTHING:
            return Estimator.BOUNDS
        if not rate.unidentified.any():
            p = rate.lack_of_fit
            if p < _FIT_LEVEL:
                self._unfit[name, outcome.class_scope, outcome.threshold] = p
                return Estimator.BOUNDS
        return rate.assumed

    def _insufficient(
        self, rate: Estimates, sides: Sequence[int], estimator: Estimator
    ) -> tuple[Status, Reason | None]:
        if not rate.total > 0:
            return Status.UNDEFINED, Reason.of(ReasonCode.NO_ROWS)
        unidentified = rate.unidentified
        names = [n for n, off in zip(self._names, unidentified, strict=True) if off]
        needed = estimator is rate.assumed
        if needed and unidentified.any() and not rate.sides[list(sides)].all():
            return Status.UNDEFINED, Reason.of(ReasonCode.NOT_IDENTIFIED, groups=tuple(names))
        mixture = getattr(rate, "mixture", None)
        if isinstance(mixture, StratifiedMixture) and estimator is not Estimator.BOUNDS:
            thin = [mixture.in_thin_strata(rate.sides[s], FEWEST_IN_STRATUM) for s in sides]
            if max(thin) > MOST_THIN:
                return Status.TOO_FEW, THIN_STRATA
        for i, side in enumerate(sides):
            of_side = ("group", "reference")[i] if len(sides) > 1 else None
            known = float(self._counts.answers[:, rate.sides[side]].sum())
            few: tuple[ReasonCode, float] | None = None
            more: dict[str, int] = {}
            if estimator is Estimator.VALIDATED and known < FEWEST_ROWS:
                few = ReasonCode.FEW_KNOWN_PEOPLE, round(known)
            else:
                people = rate.size(side, estimator)
                if estimator is not Estimator.BOUNDS:
                    people = min(rate.effective_people(side, estimator), people)
                if not round(people, 1) >= FEWEST_ROWS:
                    few = ReasonCode.FEW_EFFECTIVE_PEOPLE, round(people, 1)
                    if people > 0:  # so many rows like these are as precise as the minimum
                        rows = self._counts.every_case * FEWEST_ROWS / people
                        more["rows"] = math.ceil(rows)
            if few is not None:
                code, number = few
                reason = Reason.of(code, people=number, minimum=FEWEST_ROWS, side=of_side, **more)
                return Status.TOO_FEW, reason
            if isinstance(rate, UnrecordedMean) and estimator is not Estimator.BOUNDS:
                # so many rows make up the variance of amounts of a few large ones
                rows = rate.effective_people(side, estimator) / (rate.kurtosis or math.nan)
                if len(sides) > 1 and not math.isnan(rows) and rows < FEWEST_EXPECTED:
                    tail = Reason.of(ReasonCode.FEW_IN_TAIL, rows=rows, minimum=FEWEST_EXPECTED)
                    return Status.TOO_FEW, tail.on(of_side) if of_side else tail
        return Status.OK, None

    def _groups(self, rates: Sequence[Estimated], outcome: OutcomeMasks) -> Iterator[Group]:
        for g, name in enumerate(self._names):
            yield Group(
                feature=self._counts.feature,
                feature_id=self._feature_id,
                group=name,
                group_id=self._ids[g],
                class_scope=outcome.class_scope,
                threshold=outcome.threshold,
                n=float(self._counts.cases[g]),
                share=float(self._counts.cases[g] / self._counts.every_case),
                rates={r.name: self._rate_value(r, g, outcome) for r in rates},
            )

    def _everyone(self, rates: Sequence[Estimated], outcome: OutcomeMasks) -> Group:
        values = {}
        for rate in rates:
            of_all = self._counts.rate(rate, outcome)
            if isinstance(of_all, UnrecordedMean):
                values[rate.name] = RateValue(
                    value=of_all.overall, denominator=as_count(of_all.total)
                )
                continue
            cells = of_all.cells
            beside = cells.beside if self._counts.sampled else cells.beside[:, :-1]
            n = cells.n[:, :2].sum(axis=0) + beside.sum(axis=1)
            total = float(n.sum())
            values[rate.name] = RateValue(
                value=float(n[0] / total) if total else None,
                numerator=as_count(n[0]),
                denominator=as_count(total),
            )
        return Group(
            feature=self._counts.feature,
            feature_id=self._feature_id,
            group=str(ReferenceKind.OVERALL),
            group_id=GroupId(GroupKind.OVERALL),
            reference_kind=ReferenceKind.OVERALL,
            class_scope=outcome.class_scope,
            threshold=outcome.threshold,
            n=self._counts.every_case,
            share=1.0,
            rates=values,
        )

    def _rate_value(self, row: Estimated, side: int, outcome: OutcomeMasks) -> RateValue:
        rate = self._counts.rate(row, outcome)
        estimator = self._deciding(rate, row.name, outcome)
        status, reason = self._insufficient(rate, [side], estimator)
        if status is Status.UNDEFINED:
            return RateValue(value=None, status=status, reason=reason)
        estimates = rate.by(estimator)
        level = self._spec.confidence
        low, high = estimates.limits(side, critical(level))
        key = (
            row.name, self._counts.feature, self._names[side], OVERALL, outcome.class_scope,
            outcome.threshold_of(row),
        )  # fmt: skip
        self._measured.shown[key] = self._what_is_shown(rate, estimator, side)
        interval = Interval(low, high, level, _methods_of(rate, estimator))
        value = as_number(estimates.value(side))
        size = round(rate.size(side, estimator), 1)
        return RateValue(
            value=value, denominator=size, interval=interval, status=status, reason=reason
        )

    def _unmeasured_estimate(self, metric: Metric, **known: Any) -> Estimate:
        known = {"group": None, "reference": None, **known}
        return Estimate(
            metric=metric.name,
            definition=metric,
            set=metric.set,
            feature=self._counts.feature,
            feature_id=self._feature_id,
            **known,
        )

    def _compare(
        self, metric: ComparisonMetric, row: Estimated, outcome: OutcomeMasks
    ) -> Iterator[Estimate]:
        rate = self._counts.rate(row, outcome)
        estimator = self._deciding(rate, row.name, outcome)
        mirrors = len(self._names) == 2 and self._references[0][2].kind is ReferenceKind.OTHERS
        smaller = int(np.argmin(self._counts.cases))
        order, by = getattr(metric, "order", None), _kind_of_contrast(metric)
        for g, side, reference in self._references:
            one, other = (side, g) if order == "reference - group" else (g, side)
            estimate = self._unmeasured_estimate(
                metric,
                group=self._names[g],
                group_id=self._ids[g],
                reference=reference,
                class_scope=outcome.class_scope,
                threshold=outcome.threshold,
                mirror_of=self._names[smaller]
                if mirrors and metric.symmetric and g != smaller
                else None,
            )
            status, reason = self._insufficient(rate, [g, side], estimator)
            if status is Status.UNDEFINED:
                yield replace(estimate, status=status, reason=reason)
                continue
            estimates, level = rate.by(estimator), self._spec.confidence
            value = rate.contrast_value(by, estimates.value(one), estimates.value(other))
            if estimator is not Estimator.BOUNDS and math.isnan(value):
                undefined = Reason.of(ReasonCode.BOTH_SIDES_ZERO)
                if by == "deviations":
                    undefined = Reason.of(ReasonCode.NO_VARIATION, of="labels")
                elif isinstance(row, Mean):
                    undefined = Reason.of(ReasonCode.RATIO_NOT_ABOVE_ZERO, rate=row.title)
                yield replace(estimate, status=Status.UNDEFINED, reason=undefined)
                continue
            low, high = estimates.contrast(by, one, other, critical(level))
            if math.isnan(low):
                yield replace(estimate, value=as_number(value), reason=RATIO_MAY_BE_ZERO)
                continue
            estimate = replace(
                estimate,
                value=as_number(value),
                interval=Interval(low, high, level, _methods_of(rate, estimator)),
                p_value=p_value(estimates, by, one, other),
                rate_group=as_number(estimates.value(g)),
                rate_reference=as_number(estimates.value(side)),
                n_group=round(rate.size(g, estimator), 1),
                n_reference=round(rate.size(side, estimator), 1),
                status=status,
                reason=reason,
            )
            yield estimate
            shown = self._what_is_shown(rate, estimator, one, other, by)
            self._measured.shown[estimate.key] = shown
            if estimate.mirror_of is None:
                together = partial(_limits_at, estimates.contrast, by, one, other)
                self._measured.together[estimate.key] = together, 0
            self._measured.estimators.extend(
                self._estimates_by_estimator(
                    estimate, metric, rate, estimator, (one, other, g, side)
                )
            )

    def _what_is_shown(
        self, rate: Estimates, estimator: Estimator, one: int, other: int | None = None,
        by: By = "difference",
    ) -> Shown:  # fmt: skip
        # The same data arise where probabilities are right and groups fare alike, and where they
        # show nothing and groups fare as differently as may be: only people of known group
        # distinguish the two. What a random sample corrects is right whatever the probabilities
        # are.
        sampled = estimator is Estimator.VALIDATED and self._counts.sampled

        def worst(z: float, *, outcomes: bool) -> tuple[float, float]:
            ends = [
                rate.reach(
                    rate.by(estimator).limits(side, z), rate.size(side, estimator),
                    unplaced=not sampled, outcomes=outcomes,
                )
                for side in ((one,) if other is None else (one, other))
            ]  # fmt: skip
            return ends[0] if other is None else rate.extremes(by, *ends)

        shown = partial(
            Shown, self._known_people, unplaced=0 if sampled else rate.unplaced,
            lacking=rate.lacking, worst=worst,
        )  # fmt: skip
        if estimator is Estimator.VALIDATED or (rate.alike and estimator is Estimator.BOUNDS):
            return shown(random=True)
        contradiction = None
        if estimator is not Estimator.BOUNDS and self._calibration is not None:
            _, degrees, p = self._calibration
            if degrees and p < _WRONG_PROBABILITIES:
                contradiction = Reason.of(
                    ReasonCode.ANSWERS_CONTRADICT, known=self._known_people, p=p
                )
        return shown(contradiction=contradiction)

    @cached_property
    def _calibration(self) -> tuple[float, int, float] | None:
        # the test of the probabilities against the known groups; None without any
        return None if self._known is None else calibration_test(*self._known)

    def _estimates_by_estimator(
        self, estimate: Estimate, metric: Metric, rate: Estimates,
        deciding: Estimator,
        sides: tuple[int, int, int, int],
    ) -> Iterator[ByEstimator]:  # fmt: skip
        one, other, group, reference = sides
        by, level = _kind_of_contrast(metric), self._spec.confidence
        for each in dict.fromkeys((deciding, *rate.beside)):
            if each is not Estimator.BOUNDS:
                status, _ = self._insufficient(rate, [group, reference], each)
                if status is Status.UNDEFINED:
                    continue
            estimates = rate.by(each)
            low, high = estimates.contrast(by, one, other, critical(level))
            if math.isnan(low):  # of averages that may be 0
                continue
            value = rate.contrast_value(by, estimates.value(one), estimates.value(other))
            row = ByEstimator(
                metric=estimate.metric,
                feature=self._counts.feature,
                group=self._names[group],
                class_scope=estimate.class_scope,
                threshold=estimate.threshold,
                estimator=each,
                decides=each is deciding,
                value=as_number(value),
                interval=Interval(low, high, level, _methods_of(rate, each)),
            )
            if each is Estimator.BOUNDS:
                least, most = estimates.contrast(by, one, other, 0.0)
                row = replace(row, set_low=least, set_high=most)
            if each is not Estimator.BOUNDS:
                people = min(rate.effective_people(side, each) for side in (group, reference))
                row = replace(row, effective_people=round(people) if people < 1e15 else None)
            yield row

    def _notes(self) -> Iterator[Diagnostic]:
        counts, asked = self._counts, self._counts.asked
        yield Diagnostic.warning(
            DiagnosticCode.GROUP_NOT_RECORDED,
            counts.feature,
            columns=tuple(column for _, column in asked.columns),
            people=round(counts.every_case),
            known=self._known_people,
            random=self._random,
            assume=str(asked.assume),
            without=round(counts.people[1]),
            unplaced=counts.unplaced,
            sampled=counts.sampled,
            **({"alone": True} if self._has_answers_alone else {}),
        )
        if asked.on is not None and not self._spec.strata:
            yield Diagnostic.warning(DiagnosticCode.PLACE_PROXY, counts.feature, on=asked.on)
        if counts.rounded:
            yield Diagnostic.note(
                DiagnosticCode.ROUNDED_PROBABILITIES, counts.feature, rows=counts.rounded
            )
        _, degrees, p = self._calibration or (0.0, 0, 1.0)
        if degrees:
            rejected = p < _CALIBRATION_LEVEL
            make = Diagnostic.warning if rejected else Diagnostic.note
            yield make(
                DiagnosticCode.CALIBRATION,
                counts.feature,
                known=self._known_people,
                p=p,
                level=_CALIBRATION_LEVEL,
                rejected=rejected,
                contradicts=p < _WRONG_PROBABILITIES,
            )
        for (name, _, _), p in self._unfit.items():
            yield Diagnostic.warning(DiagnosticCode.LACK_OF_FIT, counts.feature, rate=name, p=p)
