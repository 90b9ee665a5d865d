"""Decomposing gaps: the parts of each, its strata, and the verdict on what remains within them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, TypeAlias

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.cube.views import CrossedStrata
from fairgauge.enums import (
    DiagnosticCode,
    GapPartKind,
    GapVerdict,
    IntervalMethod,
    ReferenceKind,
    ReferenceRule,
    ScopeKind,
    Status,
    StratumWeights,
    WhyInconclusive,
    WhyNoRegression,
)
from fairgauge.errors import MissingExtra
from fairgauge.inference.missing_values import MANY_MISSING, RowsWithoutStratum, large_uncounted
from fairgauge.inference.possible import could_undo, uncompared_limits
from fairgauge.measure._gap_sides import GapSides, gap_sides, unlike_rows
from fairgauge.measure.measure import measure
from fairgauge.measure.slices import ComparedSides, Slice, numbers_of_sides
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcomes import ALMOST_ALL, share_determined
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.estimates import LEAST_COMMON, Estimate, as_number
from fairgauge.results.gap_decomposition import (
    AdjustedGap,
    Gap,
    GapPart,
    Heterogeneity,
    StratumGap,
    Support,
    tested,
    verdict_by,
)
from fairgauge.results.scopes import Interval
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.decomposition import GapParts, Part, decompose, stratum_parts
from fairgauge.stats.intervals import critical
from fairgauge.stats.regression import adjusted_effect
from fairgauge.stats.significance import holm
from fairgauge.stats.stratified import stratified_difference, stratified_ratio

_Test: TypeAlias = tuple[str | None, str | None, str]
"""A feature, a group and a rate."""
_LARGEST_LOG = 700.0
_DECIDE = DiagnosticCode.STRATUM_IS_OUTCOME
_DIGITS = 12
"""To which differences of strata are rounded where strata are ordered by them."""


def decompose_gaps(
    crossed: CrossedStrata,
    spec: Spec,
    margins: Mapping[str, float],
    *,
    controls: CrossedStrata | None = None,
    only: Collection[tuple[str | None, str | None]] | None = None,
) -> tuple[Gap, ...]:
    """Decompose the gap of every group in every metric of the specification.

    Two groups that are each other's reference are one gap. Verdicts, and the strata that are named,
    hold for all gaps together: intervals and tests of variation are of each gap by itself.

    ``crossed``: the counts by the strata; gaps are of the rows that have a value in every column.
    ``margins``: by how much rates may differ within strata.
    ``controls``: the counts by strata and controls, for which the regression is adjusted.
    ``only``: features and groups of the gaps that are asked for, each by itself, without
        regression.
    """
    every, crossed = crossed, crossed.known
    if only is not None:
        return _withhold_incomplete(_measure_gaps(crossed, spec, margins, only), every, spec)
    fitted = controls.known if controls else crossed
    gaps = _measure_gaps(crossed, spec, margins, fitted=fitted)
    if controls is not None:
        gaps = tuple(
            replace(gap, left_out=rows, confounded=changed, **(_UNFITTED if changed else {}))
            for gap, (rows, changed) in zip(gaps, _left_out(gaps, controls, spec), strict=True)
        )
    fits = {gap.test: gap.adjusted.p_value for gap in gaps if gap.adjusted}
    alone = {test: p for test, p in fits.items() if p is not None}
    together = _adjusted_together(alone, spec) if len(alone) > 1 else {}
    gaps = tuple(
        replace(gap, adjusted=replace(gap.adjusted, p_adjusted=together.get(gap.test)))
        if gap.adjusted
        else gap
        for gap in gaps
    )

    def at(confidence: float) -> tuple[Gap, ...]:
        return _measure_gaps(crossed, replace(spec, confidence=confidence), margins, listed=False)

    judged = _withhold_incomplete(_judged_together(gaps, spec, at), every, spec)
    return _withhold_uneven(judged, every, spec, fitted)


def _withhold_uneven(
    gaps: tuple[Gap, ...], every: CrossedStrata, spec: Spec, fitted: CrossedStrata
) -> tuple[Gap, ...]:
    # gaps, of which none passes where rows are missing that may be unlike the others
    slices, controlled = (_slices(resolve(of.cube, spec)) for of in (every, fitted))
    features = [part.counts for part in slices.values()]
    left_out = [WhyInconclusive.NOT_COUNTED] * bool(large_uncounted(every.without, features, spec))
    judged = []
    for gap in gaps:
        estimate, feature = gap.estimate, gap.estimate.feature
        unlike = [*unlike_rows(estimate, slices[feature], every.codes), *left_out]
        if gap.verdict.is_pass and unlike:
            gap = replace(gap, verdict=GapVerdict.INCONCLUSIVE, reason=unlike[0])
        if gap.controls and gap.adjusted:
            unlike += unlike_rows(estimate, controlled[feature], fitted.codes)
            if unlike and gap.regression_verdict not in _FAILS:
                gap = replace(gap, adjusted=None, no_regression=WhyNoRegression.MISSING_ROWS)
            elif _may_differ_beyond(gap, *_sides_in(estimate, controlled[feature], fitted)):
                gap = replace(gap, adjusted=None, no_regression=WhyNoRegression.NOT_COMPARABLE)
        judged.append(gap)
    return tuple(judged)


_FAILS = (GapVerdict.REMAINS, GapVerdict.REVERSES)


def _may_differ_beyond(gap: Gap, sides: GapSides, crossed: CrossedStrata) -> bool:
    # whether a pass by regression could be none if rows in levels of one side alone, whose effects
    # are extrapolated, had any rate on the other side; of means it may be any number
    fit, verdict = gap.adjusted, gap.regression_verdict
    if fit is None or verdict is None or not verdict.is_pass:
        return False
    alone = np.any([_uncompared_levels(sides, codes) for codes in crossed.codes], axis=0)
    every = sides.n_d + sides.n_a
    if sides.squares is not None:
        return bool(every[alone].sum() >= MANY_MISSING * every.sum())
    own, kept = (sides.x_d - sides.x_a)[alone].sum(), every[~alone].sum()
    extremes = own - sides.n_d[alone].sum(), own + sides.n_a[alone].sum()
    for end in extremes:
        moved_ends = (np.array([fit.value, *fit.interval]) * kept + end) / every.sum()
        value, low, high = moved_ends.tolist()
        ends = Interval(low, high, fit.interval.level)
        moved = replace(fit, value=value, interval=ends, p_adjusted=None)
        if verdict_by(moved, gap) is not verdict:
            return True
    return False


def _uncompared_levels(sides: GapSides, codes: Index) -> Mask:
    n_d, n_a = (np.bincount(codes, n)[codes] for n in (sides.n_d, sides.n_a))
    return np.asarray((n_d == 0) | (n_a == 0))


def _withhold_incomplete(
    gaps: tuple[Gap, ...], every: CrossedStrata, spec: Spec
) -> tuple[Gap, ...]:
    # the gap over all rows is beside those of the rows with a stratum
    if not every.cases_without:
        return gaps
    slices = _slices(resolve(every.without, spec))
    of_rows = {
        (each.feature, each.group, each.metric, each.reference): each
        for each in measure(every.without, spec).estimates
        if each.scope.kind is ScopeKind.OVERALL
    }

    def over_all(each: Estimate) -> Estimate:
        """Return a gap from the reference that it has: the best of all rows may be another one."""
        part, key = slices[each.feature], (each.feature, each.group, each.metric)
        measured = of_rows.get((*key, each.reference))
        return _compare_again(each, part) if measured is None else _single_interval(measured, part)

    whole = tuple(replace(gap, estimate=over_all(gap.estimate)) for gap in gaps)
    whole = _adjust_gaps(whole, spec)
    return tuple(
        replace(
            gap,
            overall=replace(of_all.estimate, p_adjusted=of_all.p_adjusted),
            **(_UNDECIDED if changed and gap.reason not in _UNSEEN else {}),
        )
        for gap, of_all, (_, changed) in zip(gaps, whole, _left_out(gaps, every, spec), strict=True)
    )


_UNFITTED: dict[str, Any] = {"adjusted": None, "no_regression": WhyNoRegression.MISSING_VALUES}
_UNDECIDED: dict[str, Any] = _UNFITTED | {
    "verdict": GapVerdict.INCONCLUSIVE, "reason": WhyInconclusive.MISSING_STRATA,
}  # fmt: skip


def _left_out(
    gaps: tuple[Gap, ...], every: CrossedStrata, spec: Spec
) -> Iterator[tuple[int, bool]]:
    slices = _slices(resolve(every.cube, spec))
    for gap in gaps:
        part, metric = slices[gap.estimate.feature], _contrast(gap.estimate)
        sides = numbers_of_sides(gap.estimate, part)
        left_out = RowsWithoutStratum(part.counts, part.outcome, part.spec)
        changed = left_out.change(metric.of, *(np.array([at]) for at in sides))
        yield left_out.rows, bool(changed[0])


def _slices(resolution: Resolution) -> dict[str | None, Slice]:
    # their intervals are of each gap by itself, even where the data chose its reference
    outcome, spec = resolution.outcomes[0], resolution.spec
    if spec.reference is ReferenceRule.BEST:  # which is known by then
        spec = replace(spec, reference=ReferenceRule.OTHERS)
    return {each.feature: Slice(each, outcome, spec) for each in resolution.features}


def _measure_gaps(
    crossed: CrossedStrata,
    spec: Spec,
    margins: Mapping[str, float],
    only: Collection[tuple[str | None, str | None]] | None = None,
    fitted: CrossedStrata | None = None,
    *,
    listed: bool = True,
) -> tuple[Gap, ...]:
    # the gaps with verdicts of each by itself; ``listed`` is whether they list strata
    every = [
        each
        for each in measure(crossed.without, spec).estimates
        if each.reference is not None and each.reference.group != each.group
        if each.mirror_of is None and each.scope.kind is ScopeKind.OVERALL
    ]
    compared = {tested(each) for each in every if each.status is Status.OK}
    tests = 1 if only else max(len(compared) + _count_pairs(compared, spec), 1)
    slices = _slices(resolve(crossed.cube, spec))
    beside = slices if fitted is None or fitted is crossed else _slices(resolve(fitted.cube, spec))
    estimates = [
        _single_interval(each, slices[feature])
        for feature in slices
        for each in every
        if each.feature == feature and each.value is not None and math.isfinite(each.value)
        if only is None or (feature, each.group) in only
    ]
    # beside the difference of a rate its ratio has no regression of its own
    differences = {tested(each) for each in estimates if _contrast(each).by == "difference"}
    gaps = []
    for estimate in estimates:
        within = _WithinStrata(estimate, slices[estimate.feature], crossed, margins)
        gap = within.gap(tests, listed=listed)
        if fitted is not None:
            gap = replace(gap, controls=tuple(c for c in fitted.columns if c not in gap.columns))
            if gap.scale != "ratio" or gap.test not in differences:
                cells = within.sides, within.crossed
                if fitted is not crossed:
                    cells = _sides_in(estimate, beside[estimate.feature], fitted)
                gap = _add_regression(gap, *cells, spec)
        gaps.append(gap)
    return tuple(gaps)


def _single_interval(estimate: Estimate, part: Slice) -> Estimate:
    if estimate.interval is None or IntervalMethod.TUKEY not in estimate.interval.methods:
        return estimate
    own = _compare_again(estimate, part)
    return replace(estimate, interval=own.interval, p_value=own.p_value)


def _compare_again(estimate: Estimate, part: Slice) -> Estimate:
    # the same comparison of the rows of a slice, whose interval is of no other ones
    group, reference, margin = (np.array([at]) for at in (*numbers_of_sides(estimate, part), 0))
    compared = ComparedSides(group, reference, margin, [estimate.reference])
    alone = Slice(part.counts, part.outcome, part.spec)
    return next(alone.estimates(_contrast(estimate), compared=compared))


def _count_pairs(tests: Iterable[_Test], spec: Spec) -> int:
    # the data choose the best group, so that what is claimed holds for all pairs together
    if spec.reference is not ReferenceRule.BEST:
        return 0
    of_rates = Counter((feature, rate) for feature, _, rate in set(tests))
    return sum(math.comb(gaps, 2) for gaps in of_rates.values())


def _judged_together(
    gaps: tuple[Gap, ...], spec: Spec, at: Callable[[float], tuple[Gap, ...]]
) -> tuple[Gap, ...]:
    # The difference and the ratio of a rate are one test. What is decided alone, and not at the
    # level of its step, is inconclusive. Gaps with insufficient data are in no family.
    alpha, undecided = 1 - spec.confidence, {g.test for g in gaps if g.reason not in _UNSEEN}
    others = _count_pairs(undecided, spec)
    gaps, settled = _adjust_gaps(gaps, spec), set[int]()
    missing = WhyInconclusive.MISSING_OUTCOMES, WhyInconclusive.MISSING_GROUPS
    while True:
        claims = [i for i, gap in enumerate(gaps) if gap.verdict in _CLAIMS and i not in settled]
        if not claims:
            return gaps
        family = len(undecided) + others
        stricter = at(1 - alpha / family) if family > 1 else gaps
        kept = {i for i in claims if stricter[i].verdict is gaps[i].verdict}
        settled |= kept
        decided = undecided & {gaps[i].test for i in kept}
        if not decided:
            break
        undecided -= decided
    judged = list(gaps)
    for i in {*claims} - settled:
        why = stricter[i].reason
        why = why if why in missing else WhyInconclusive.SEVERAL_GAPS
        judged[i] = replace(gaps[i], verdict=GapVerdict.INCONCLUSIVE, reason=why)
    return tuple(judged)


def _adjust_gaps(gaps: tuple[Gap, ...], spec: Spec) -> tuple[Gap, ...]:
    # those of gaps with insufficient data are adjusted for all gaps, and take no part in the others
    tests = [(gap.test, gap.estimate.p_value) for gap in gaps]
    alone = {test: p for test, p in reversed(tests) if p is not None}
    if len(alone) < 2:  # alone it is decided by its interval
        return gaps
    seen = {gap.test for gap in gaps if gap.reason not in _UNSEEN}
    together = _adjusted_together(alone, spec)
    together |= _adjusted_together({test: p for test, p in alone.items() if test in seen}, spec)
    return tuple(replace(gap, p_adjusted=together.get(gap.test)) for gap in gaps)


def _adjusted_together(p_values: Mapping[_Test, float], spec: Spec) -> dict[_Test, float]:
    pairs = [1.0] * _count_pairs(p_values, spec)
    adjusted = holm([*p_values.values(), *pairs]).tolist() if p_values else []
    return dict(zip(p_values, adjusted, strict=False))  # without the pairs


_UNSEEN = (WhyInconclusive.TOO_FEW, WhyInconclusive.NOT_COMPARABLE, WhyInconclusive.UNDEFINED)
"""Why nothing is tested."""
_CLAIMS = (*_FAILS, GapVerdict.WITHIN_MARGIN, GapVerdict.ACCOUNTED_FOR)


def _contrast(estimate: Estimate) -> Contrast:
    assert isinstance(estimate.definition, Contrast)
    return estimate.definition


def _sides_in(
    estimate: Estimate, part: Slice, crossed: CrossedStrata
) -> tuple[GapSides, CrossedStrata]:
    metric = _contrast(estimate)
    numbers = numbers_of_sides(estimate, part)
    sides, order = gap_sides(part, *numbers, metric.of, ratio=metric.by == "ratio")
    named = tuple(crossed.named[s] for s in order.tolist())
    return sides, replace(crossed, named=named, codes=crossed.codes[:, order])


class _WithinStrata:
    """A gap, both of whose sides are known in every stratum."""

    def __init__(
        self, estimate: Estimate, part: Slice, crossed: CrossedStrata, margins: Mapping[str, float]
    ) -> None:
        self.estimate, self.part, self.codes = estimate, part, crossed.codes
        self.metric, self.level = _contrast(estimate), part.spec.confidence
        self.ratio, self.z = self.metric.by == "ratio", critical(self.level)
        self.margin = None if self.ratio else margins.get(self.metric.of.name)
        self.sides, self.crossed = sides, _ = _sides_in(estimate, part, crossed)
        self.size = self.distance(estimate.value or 0.0)
        self.parts = decompose(
            sides.x_d, sides.n_d, sides.x_a, sides.n_a, self.z,
            ratio=self.ratio, squares=sides.squares, sampling=sides.sampling,
        )  # fmt: skip
        self.whole, self.against = sides.variation()
        self.p_of_strata = max(int(np.isfinite(self.against.p).sum()), 1) * self.against.p
        alpha = 1 - self.level
        self.varies = bool(self.whole.p < alpha or (self.p_of_strata < alpha).any())

    def distance(self, value: float) -> float:
        neutral = self.metric.neutral
        return math.log(value) if neutral and value > 0 else value - neutral

    def gap(self, gaps: int, *, listed: bool) -> Gap:
        estimate, parts, sides, whole = self.estimate, self.parts, self.sides, self.whole
        listed_parts = tuple(self.listed_parts())
        verdict, reason = self.verdict(
            [e.interval for e in listed_parts if e.part is GapPartKind.WITHIN and e.interval]
        )
        others = [group for group in self.part.counts.groups if group != estimate.group]
        of_others = estimate.reference and estimate.reference.kind is ReferenceKind.OTHERS
        tested = float(whole.statistic), int(whole.degrees), float(whole.p), float(whole.spread)
        return Gap(
            estimate=estimate,
            other_group=others[0] if of_others and len(others) == 1 else None,
            columns=self.crossed.columns,
            verdict=verdict,
            reason=reason,
            margin=self.margin,
            parts=listed_parts,
            support=Support(
                share_group=float(parts.support_group),
                share_reference=float(parts.support_reference),
                strata_used=int(sides.common.sum()),
                strata=int((sides.rows_d + sides.rows_a > 0).sum()),
                strata_untested=int(sides.common.sum() - sides.tested.sum()),
            ),
            heterogeneity=None if math.isnan(whole.p) else Heterogeneity(*tested),
            strata=tuple(self.strata(gaps)) if listed else (),
        )

    def verdict(self, averages: list[Interval]) -> tuple[GapVerdict, WhyInconclusive | None]:
        sides, parts, estimate = self.sides, self.parts, self.estimate
        verdict, reason = self.verdict_by(parts, averages)
        if verdict.is_pass and _varies_untested(sides):
            verdict, reason = GapVerdict.INCONCLUSIVE, WhyInconclusive.NOT_TESTED
        elif verdict is GapVerdict.ACCOUNTED_FOR and self.is_shown_in_a_stratum():
            verdict, reason = GapVerdict.INCONCLUSIVE, WhyInconclusive.IN_A_STRATUM
        stands = verdict in (GapVerdict.NO_GAP, GapVerdict.REMAINS) or reason in _UNSEEN
        stands |= self.part.spec.accepts(_DECIDE, *self.crossed.columns)
        if not stands and _decided_by_strata(sides, self.crossed):
            return GapVerdict.INCONCLUSIVE, WhyInconclusive.STRATA_DECIDE
        if verdict.is_pass and self.may_differ_alone(verdict, averages):
            return GapVerdict.INCONCLUSIVE, WhyInconclusive.ONE_SIDED
        if verdict in _FAILS:
            within = parts.within_group[1:], parts.within_reference[1:]
            shown = [tuple(estimate.interval or ()), *(tuple(map(float, ends)) for ends in within)]
            at, part = numbers_of_sides(estimate, self.part), self.part
            missing = could_undo(
                part.counts, part.outcome, estimate, at, part.spec, shown, self.codes
            )
            return (verdict, None) if missing is None else (GapVerdict.INCONCLUSIVE, missing)
        return verdict, reason

    def is_shown_in_a_stratum(self) -> bool:
        towards = (np.less if self.size < 0 else np.greater)(*self.sides.rates)
        shown = self.sides.tested.sum() * self.sides.p_values < 1 - self.level
        return bool((self.sides.tested & towards & shown).any())

    def may_differ_alone(self, verdict: GapVerdict, averages: list[Interval]) -> bool:
        # whether rows in strata of one side alone, which are in no comparison, could undo a pass
        sides, parts = self.sides, self.parts
        if sides.common[(sides.n_d > 0) | (sides.n_a > 0)].all():
            return False
        alone, moved = parts.not_comparable, parts.composition
        wider, ends = parts, [Interval(float(alone.low), float(alone.high), self.level)]
        if verdict is not GapVerdict.NO_GAP:
            wider, ends = self.widened()
        sizes = [abs(self.distance(float(each.value))) for each in (alone, moved)]
        if verdict is GapVerdict.ACCOUNTED_FOR and sizes[0] > sizes[1]:
            return True
        return self.verdict_by(wider, [*averages, *ends])[0] is not verdict

    def widened(self) -> tuple[GapParts, list[Interval]]:
        # parts within strata, and their intervals, where the other side may have any rate in strata
        # of one side alone; of means it may be any number
        sides, common, intervals = self.sides, self.sides.common, []
        wider: list[Part] = []
        for part, x, n in (
            (self.parts.within_group, sides.x_d, sides.n_d),
            (self.parts.within_reference, sides.x_a, sides.n_a),
        ):
            kept, alone = ((x[of].sum(), n[of].sum()) for of in (common, ~common))
            ends: Sequence[Limits] = [(part.low, part.high)] * 2
            if sides.squares is None:
                ends = uncompared_limits(
                    ends[0], kept, alone, ratio=self.ratio, of_reference=bool(wider)
                )
            elif alone[1] >= MANY_MISSING * n.sum():
                any_number = np.asarray(np.inf)
                ends = (-any_number, part.high), (part.low, any_number)
            wider.append(Part(part.value, ends[0][0], ends[1][1]))
            intervals += [Interval(float(low), float(high), self.level) for low, high in ends]
        return self.parts._replace(within_group=wider[0], within_reference=wider[1]), intervals

    def verdict_by(
        self, parts: GapParts, averages: Iterable[Interval]
    ) -> tuple[GapVerdict, WhyInconclusive | None]:
        # Where the difference varies over strata, differences may cancel in their average: it is
        # then not accounted for, nor within a margin. Nor does a gap pass where any of the averages
        # shows a difference that is not within the margin. Where no gap is shown, composition may
        # offset what is in the strata.
        inconclusive, estimate, margin = GapVerdict.INCONCLUSIVE, self.estimate, self.margin
        if estimate.interval is None or estimate.status is not Status.OK:
            return inconclusive, WhyInconclusive.TOO_FEW
        no_gap = self.metric.neutral in estimate.interval
        if no_gap and self.varies:
            return inconclusive, WhyInconclusive.VARIES
        if min(float(parts.support_group), float(parts.support_reference)) < LEAST_COMMON:
            return inconclusive, WhyInconclusive.NOT_COMPARABLE
        both = parts.within_group, parts.within_reference
        if parts.sparse or np.isnan(both).any():
            unseen = WhyInconclusive.TOO_FEW if parts.sparse else WhyInconclusive.UNDEFINED
            return inconclusive, unseen

        def towards(low: float, high: float) -> tuple[float, float]:
            """Return an interval as distances from no difference in the direction of the gap."""
            low, high = self.distance(low), self.distance(high)
            return (-high, -low) if self.size < 0 else (low, high)

        def is_kept(low: float, high: float) -> bool:
            return margin is not None and -margin < low and high < margin

        within = [towards(float(part.low), float(part.high)) for part in both]
        shown = [(low, high) for low, high in starmap(towards, averages) if not low <= 0 <= high]
        beyond, kept = [each for each in shown if not is_kept(*each)], all(starmap(is_kept, within))
        remains, reverses = all(low > 0 for low, _ in within), all(high < 0 for _, high in within)
        furthest, gap = max(high for _, high in within), abs(self.size)
        why_not = WhyInconclusive.DEPENDS_ON_WEIGHTS
        if (remains or reverses) and not kept:
            if no_gap:
                return inconclusive, WhyInconclusive.OFFSET
            return (GapVerdict.REMAINS if remains else GapVerdict.REVERSES), None
        if no_gap:
            passing = GapVerdict.NO_GAP
        elif kept and (shown or furthest >= gap):
            passing, why_not = GapVerdict.WITHIN_MARGIN, WhyInconclusive.BEYOND_MARGIN
        elif any(low > 0 for low, _ in beyond):
            return inconclusive, why_not
        elif furthest >= gap:
            return inconclusive, WhyInconclusive.IMPRECISE
        elif margin is not None and furthest >= margin:
            return inconclusive, WhyInconclusive.BEYOND_MARGIN
        else:
            passing = GapVerdict.ACCOUNTED_FOR
        if self.varies:
            return inconclusive, WhyInconclusive.VARIES
        return (inconclusive, why_not) if beyond else (passing, None)

    def listed_parts(self) -> Iterator[GapPart]:
        found, sides, within, weights = self.parts, self.sides, GapPartKind.WITHIN, StratumWeights
        rows = [
            (GapPartKind.NOT_COMPARABLE, weights.AVERAGE, found.not_comparable),
            (GapPartKind.COMPOSITION, weights.AVERAGE, found.composition),
            (within, weights.AVERAGE, found.within),
            (within, weights.GROUP, found.within_group),
            (within, weights.REFERENCE, found.within_reference),
        ]
        # of clusters that are in several strata intervals of these would be too narrow
        clustered = sides.sampling is not None and sides.sampling.clusters is not None
        if sides.means is None and not clustered:
            rows.append((within, weights.MANTEL_HAENSZEL, self.mantel_haenszel()))
        elif sides.means is not None and not (clustered or self.ratio):
            rows.append((within, weights.MANTEL_HAENSZEL, sides.means[1].part(self.z)))
        few = WhyInconclusive.TOO_FEW if sides.common.any() else WhyInconclusive.NOT_COMPARABLE
        for kind, by, part in rows:
            score = by is weights.MANTEL_HAENSZEL and sides.means is None
            method = IntervalMethod.SCORE if score else IntervalMethod.INFLUENCE
            value, low, high = map(float, part)
            of_share = sides.means is None and not self.ratio
            if of_share and kind is not GapPartKind.NOT_COMPARABLE:
                low, high = max(low, -1.0), min(high, 1.0)  # NaN stays
            defined = math.isfinite(value)
            known = defined and math.isfinite(low) and math.isfinite(high)
            enough = known and not found.sparse
            yield GapPart(
                part=kind,
                weights=by,
                value=value if defined else None,
                interval=Interval(low, high, self.level, (method,)) if known else None,
                status=(Status.OK if enough else Status.TOO_FEW if defined else Status.UNDEFINED),
                reason=None if enough else few,
            )

    def mantel_haenszel(self) -> Part:
        sides, of = self.sides, stratified_ratio if self.ratio else stratified_difference
        low, high, _ = of(*sides.counts, sides.weights, self.z)
        over, under = (np.where(sides.common, sides.weights * r, 0.0).sum() for r in sides.rates)
        value = quotient(over, under) if self.ratio else over - under
        return Part(value if sides.common.any() else np.asarray(math.nan), low, high)

    def strata(self, gaps: int) -> Iterator[StratumGap]:
        # these, and differences, are tested for all strata of so many gaps together (Bonferroni)
        sides, rates, against = self.sides, self.sides.rates, self.against
        tests, p_adjusted = (
            max(int(sides.common.sum()) * gaps, 1),
            np.minimum(gaps * self.p_of_strata, 1),
        )
        if sides.means is None:
            method, (low, high) = IntervalMethod.NEWCOMBE, newcombe(*sides.counts, self.z)
        else:
            method, (_, low, high) = IntervalMethod.INFLUENCE, sides.means[0].part(self.z)
        contributed = stratum_parts(sides.x_d, sides.n_d, sides.x_a, sides.n_a)
        parts = np.where(sides.common & (not self.ratio), contributed, np.nan)
        columns = {
            "n_group": sides.rows_d,
            "n_reference": sides.rows_a,
            "share_group": sides.n_d / sides.n_d.sum(),
            "share_reference": sides.n_a / sides.n_a.sum(),
            "rate_group": rates[0] + sides.centre,
            "rate_reference": rates[1] + sides.centre,
            "difference": rates[0] - rates[1],
            "composition": parts[0],
            "within": parts[1],
            "difference_p_adjusted": np.minimum(
                tests * np.where(sides.common, sides.p_values, np.nan), 1.0
            ),
            "others": against.others,
            "p_value": against.p,
            "p_adjusted": p_adjusted,
            "outlying": p_adjusted < 1 - self.level,
        }
        # outlying ones first, then by the difference towards the gap; without a test last
        towards = np.round(np.nan_to_num(columns["difference"]), _DIGITS)
        undefined = np.isnan(columns["difference"]), np.isnan(against.p), ~columns["outlying"]
        order = np.lexsort((towards * (1 if self.size < 0 else -1), *undefined))
        order = order[((sides.n_d > 0) | (sides.n_a > 0))[order]]
        both = sides.common & ~np.isnan(low) & ~np.isnan(high)
        listed = {
            name: [None if value != value else value for value in values[order].tolist()]
            for name, values in columns.items()
        }
        for i, s in enumerate(order.tolist()):
            ends = (
                Interval(float(low[s]), float(high[s]), self.level, (method,)) if both[s] else None
            )
            of_stratum: dict[str, Any] = {name: values[i] for name, values in listed.items()}
            yield StratumGap(stratum=self.crossed.named[s], interval=ends, **of_stratum)


def _varies_untested(sides: GapSides) -> bool:
    of_both, tested = int(sides.common.sum()), sides.tested
    if of_both < 2 or tested.sum() == of_both:
        return False
    shares = [n[tested].sum() / n[sides.common].sum() for n in (sides.n_d, sides.n_a)]
    return bool(tested.sum() < 2 or min(shares) < LEAST_COMMON)


def _decided_by_strata(sides: GapSides, crossed: CrossedStrata) -> bool:
    # such strata account for every gap, whatever is decided by; the mistakes of a copy can reverse
    # one
    if sides.squares is not None:
        return False
    both = sides.cases, sides.rows_d + sides.rows_a
    for codes in (np.arange(len(both[0])), *crossed.codes):
        positive, rows = (np.bincount(codes, each).astype(np.float64) for each in both)
        if share_determined(positive, rows) >= ALMOST_ALL:
            return True
    return False


def _add_regression(gap: Gap, sides: GapSides, crossed: CrossedStrata, spec: Spec) -> Gap:
    if min(gap.support.share_group, gap.support.share_reference) < LEAST_COMMON:
        return replace(gap, no_regression=WhyNoRegression.NOT_COMPARABLE)
    if not (sides.n_d.any() and sides.n_a.any()):  # a side has no value of a control
        return replace(gap, no_regression=WhyNoRegression.TOO_FEW)
    if _decided_by_strata(sides, crossed):
        return replace(gap, no_regression=WhyNoRegression.COLUMNS_DECIDE)
    for codes in crossed.codes:
        # of levels that the other side lacks effects are extrapolated; that combinations have one
        # side alone is usual where there are many, and leaves the difference identified
        alone = _uncompared_levels(sides, codes)
        if max(n[alone].sum() / n.sum() for n in (sides.n_d, sides.n_a)) > 1 - LEAST_COMMON:
            return replace(gap, no_regression=WhyNoRegression.NOT_COMPARABLE)
    counts, z = (sides.x_d, sides.n_d, sides.x_a, sides.n_a), critical(spec.confidence)
    try:
        effect = adjusted_effect(
            *counts, list(crossed.codes), z,
            squares=sides.squares, sampling=sides.sampling, centre=sides.centre,
        )  # fmt: skip
    except MissingExtra:
        if gap.controls:  # were asked for; else the verdict does not depend on the regression
            raise
        return replace(gap, no_regression=WhyNoRegression.NOT_INSTALLED)
    if isinstance(effect, WhyNoRegression):
        return replace(gap, no_regression=effect)
    beyond = [max(1 - float(n[sides.common].sum() / n.sum()), 0.0) for n in (sides.n_d, sides.n_a)]
    reach = effect.log_odds_error * (z if sides.sampling is None else sides.sampling.critical(z))
    odds = [math.nan] * 3
    if abs(effect.log_odds) + reach < _LARGEST_LOG:
        odds = [math.exp(effect.log_odds + each) for each in (0.0, -reach, reach)]

    def found(value: float, low: float, high: float) -> tuple[float | None, Interval | None]:
        if not all(map(math.isfinite, (value, low, high))):
            return None, None
        return value, Interval(low, high, spec.confidence, (IntervalMethod.INFLUENCE,))

    (ratio, of_ratio), (odds_ratio, of_odds) = found(*effect.ratio), found(*odds)
    adjusted = AdjustedGap(
        value=effect.difference,
        interval=Interval(effect.low, effect.high, spec.confidence, (IntervalMethod.INFLUENCE,)),
        p_value=as_number(effect.p),
        ratio=ratio,
        ratio_interval=of_ratio,
        odds_ratio=odds_ratio,
        odds_ratio_interval=of_odds,
        cells=effect.cells,
        extrapolated_group=beyond[0],
        extrapolated_reference=beyond[1],
        collinear={name: n for name, n in zip(crossed.columns, effect.collinear, strict=True) if n},
    )
    return replace(gap, adjusted=adjusted)
