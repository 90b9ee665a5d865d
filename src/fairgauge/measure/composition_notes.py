"""What an audit adds to its estimates: notes on strata, and lines of adverse impact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import sqrt

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import has_decomposition
from fairgauge.catalogue.statistics import Blend, Rate
from fairgauge.cube.cube import Cube
from fairgauge.cube.views import cross_strata
from fairgauge.enums import (
    DiagnosticCode,
    ReferenceRule,
    Role,
    ScopeKind,
    Status,
    Task,
    WhyInconclusive,
)
from fairgauge.measure._gap_sides import gap_sides
from fairgauge.measure.measure import measure
from fairgauge.measure.slices import Slice, numbers_of_sides, slice_of
from fairgauge.question.features import strata_named
from fairgauge.question.specification import Spec
from fairgauge.resolve.resolution import resolve
from fairgauge.results.estimates import AdverseImpact, Estimate, Finding, is_significant
from fairgauge.results.estimates import gap as difference
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import replace
from fairgauge.statements.sections import not_shown_over_all
from fairgauge.stats.significance import exact_selection_test, expected_selections, holm

_UNDECIDED = WhyInconclusive.MISSING_STRATA, WhyInconclusive.STRATA_DECIDE


def offsetting_parts(estimates: Sequence[Estimate], cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of means of rates that hide significant differences of both signs in their parts."""
    means = [
        (each, definition.of)
        for each in estimates
        if each.value is not None and not each.mirror_of
        if isinstance(definition := each.definition, Contrast)
        if isinstance(definition.of, Blend)
    ]
    if not means or spec.probabilities:
        return
    names = dict.fromkeys(f"{rate.name}.difference" for _, of in means for rate in of.of)
    parts = measure(cube, replace(spec, rules=(), margins=(), metrics=(*names,))).estimates
    found = {(e.metric, *_place(e)): e for e in parts if e.status is Status.OK}
    stated: set[tuple[object, ...]] = set()
    for each, of in means:
        every = [found.get((f"{rate.name}.difference", *_place(each))) for rate in of.of]
        known = [e for e in every if e is not None and e.interval is not None]
        signs = {e.low > 0 for e in known if e.low is not None and e.high is not None
                 and (e.low > 0 or e.high < 0)}  # fmt: skip
        if len(known) == len(every) and len(signs) > 1 and (of, *_place(each)) not in stated:
            stated.add((of, *_place(each)))
            yield Diagnostic.warning(
                DiagnosticCode.PARTS_OFFSET, each.feature, mean=of.title, group=each.group,
                reference=str(each.reference), absolute=of.name == "average_odds",
                parts=tuple(rate.title for rate in of.of),
                differences=tuple(e.value or 0.0 for e in known),
            )  # fmt: skip


def _place(each: Estimate) -> tuple[object, ...]:
    return each.feature, each.group, each.reference, each.scope, each.class_scope, each.threshold


def composition_notes(
    findings: Sequence[Finding], cube: Cube, spec: Spec, task: Task
) -> Iterator[Diagnostic]:
    """Yield where the first finding of a feature varies over strata, or is not decided in them."""
    several = isinstance(spec.threshold, tuple) and len(spec.threshold) > 1
    exact = cube.min_cell is None and not spec.probabilities and spec.design is None
    one = task in (Task.BINARY, Task.REGRESSION) and not several
    columns = [
        {axis.column for axis in cube.plan.axes if axis.role is role}
        for role in (Role.STRATUM, Role.FEATURE)
    ]
    apart = columns[0].isdisjoint(columns[1])  # a column that makes groups divides none of them
    if not (spec.strata and exact and one and apart) or spec.reference is ReferenceRule.OVERALL:
        return
    from fairgauge.measure.decompose_gaps import decompose_gaps  # of strata alone

    first: dict[str | None, Finding] = {}
    for finding in findings:
        if finding.adjusted and has_decomposition(spec.catalogue.rate_row(finding.rate)):
            first.setdefault(finding.estimate.feature, finding)
    crossed = cross_strata(cube, spec.strata) if first else None
    for feature, finding in first.items():
        assert crossed is not None
        asked = replace(
            spec, strata=(), rules=(), features=(),
            metrics=(f"{finding.rate}.difference",),
        )  # fmt: skip
        # of two groups that are compared with each other one gap is decomposed
        sides = (finding.estimate.group, finding.estimate.mirror_of)
        gaps = decompose_gaps(crossed, asked, {}, only=[(feature, side) for side in sides])
        for gap in gaps[:1]:
            shown = finding.adjusted is not None and is_significant(finding.adjusted)
            if gap.reason is WhyInconclusive.TOO_FEW and not shown:
                yield Diagnostic.warning(
                    DiagnosticCode.STRATA_INSUFFICIENT,
                    feature,
                    group=gap.estimate.group,
                    reference=str(gap.estimate.reference or "others"),
                    columns=gap.columns,
                )
            outlying = [each.stratum.values() for each in gap.strata if each.outlying]
            if (gap.varies or outlying) and gap.reason not in _UNDECIDED:
                yield Diagnostic.note(
                    DiagnosticCode.STRATA_VARY,
                    feature,
                    metric=gap.estimate.metric,
                    group=gap.estimate.group,
                    columns=gap.columns,
                    varies=gap.varies,
                    outlying=tuple(map(", ".join, outlying)),
                )


def note_hidden_differences(report: Report, cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of features without a difference over all rows in a rate that has one within strata.

    A single stratum differs, adjusted for all strata of all comparisons (Bonferroni), or the
    difference varies over strata, adjusted for all comparisons that are tested for it (Holm). A
    feature has one warning: of the largest difference in a stratum.
    """
    exact = spec.strata and spec.design is None
    compared = not_shown_over_all(report.estimates) if exact else []
    if not compared:
        return
    alpha = 1 - spec.confidence
    varying = _variation([overall for overall, _ in compared], cube, spec)
    by_feature: dict[str | None, list[tuple[Estimate, list[Estimate], float]]] = {}
    for (overall, differing), p in zip(compared, varying, strict=True):
        if differing or p < alpha:
            by_feature.setdefault(overall.feature, []).append((overall, differing, p))
    for feature, differences in by_feature.items():
        first, differing, p = min(
            differences,
            key=lambda one: (-max((abs(difference(e)) for e in one[1]), default=0.0), one[2]),
        )
        lower, higher = (
            tuple(str(one.stratum) for one in differing if (difference(one) > 0) is above)
            for above in (False, True)
        )
        yield Diagnostic.warning(
            DiagnosticCode.WITHIN_STRATA,
            feature,
            metric=first.metric,
            group=first.group,
            threshold=first.threshold,
            strata=strata_named(spec.strata),
            lower=lower,
            higher=higher,
            p=p if p < alpha else None,
            others=len(differences) - 1,
            **{"class": first.class_},
        )


def _variation(compared: Sequence[Estimate], cube: Cube, spec: Spec) -> list[float]:
    # P-values of the same difference in all strata; 1 where this is not tested
    p = np.full(len(compared), np.nan)
    if cube.min_cell is not None or spec.design or spec.reference is ReferenceRule.OVERALL:
        return [1.0] * len(compared)
    resolution = resolve(cube, spec)
    slices = [Slice(*of, spec) for of in product(resolution.features, resolution.outcomes)]
    for i, each in enumerate(compared):
        part_of, metric = slice_of(each, slices), each.definition
        assert isinstance(metric, Contrast)
        summed = isinstance(metric.of, Rate) or resolution.task is Task.REGRESSION
        if part_of is None or not (summed and has_decomposition(metric.of)):
            continue
        sides, _ = gap_sides(part_of, *numbers_of_sides(each, part_of), metric.of)
        if sides.common.sum() > 1:
            p[i] = sides.variation()[0].p
    return list(np.nan_to_num(holm(np.where(p < 1, p, np.nan)), nan=1.0).tolist())


_RATE = "selection_rate"


def adverse_impact(report: Report, spec: Spec) -> tuple[AdverseImpact, ...]:
    """Return a line for every group that is compared, where a preset asks for it.

    Of weighted, sampled or rounded counts and of estimated groups there is none, nor of several
    thresholds or classes: these tests are of people who were counted once.
    """
    counted = not (spec.weight or spec.cluster or spec.design)
    if spec.preset is None or not spec.preset.adverse_impact or not counted:
        return ()
    rounded = any(each.code is DiagnosticCode.PROTECTED for each in report.diagnostics)
    several = len({(each.class_, each.threshold) for each in report.groups}) > 1
    return () if rounded or several else tuple(_impact_lines(report, spec))


def _impact_lines(report: Report, spec: Spec) -> Iterator[AdverseImpact]:
    estimated = {each.name for each in spec.probabilities}
    sides: dict[tuple[str, str, str | None], tuple[int, int]] = {}  # applicants, and selected
    for each in report.groups:
        rate = each.rates.get(_RATE)
        if rate is not None and rate.denominator and rate.numerator is not None:
            side = int(rate.denominator), int(rate.numerator)
            sides[each.feature, each.group, each.stratum] = side
    strata = {stratum for *_, stratum in sides} - {None} or {None}
    compared = [
        (of.feature, of.group, str(of.reference.group))
        for of in report.estimates
        if of.scope.kind is ScopeKind.OVERALL and of.metric.startswith(_RATE)
        if of.feature and of.group and of.reference is not None and of.feature not in estimated
    ]
    for feature, group, reference in dict.fromkeys(compared):
        tables = [
            (*sides[feature, group, stratum], *sides[feature, reference, stratum])
            for stratum in sorted(strata, key=str)
            if (feature, group, stratum) in sides and (feature, reference, stratum) in sides
        ]
        if not tables:
            continue
        limits = [
            (rule.low, rule.high)
            for rule in spec.rules
            if rule.metric == f"{_RATE}.ratio"
            and (not rule.features or feature in rule.features)
            and (not rule.groups or group in rule.groups)
        ]
        n, selected, n_reference, others = ([*each] for each in zip(*tables, strict=True))
        both = [s + t for s, t in zip(selected, others, strict=True)]
        expected, variance = expected_selections(n, n_reference, both)
        n_a, x_a, n_b, x_b = map(sum, (n, selected, n_reference, others))
        shortfall = expected - x_a
        one_other = (x_a + 1) / n_a * n_b / (x_b - 1) if x_b > 1 and x_a < n_a else None
        ratio = x_a / n_a * n_b / x_b if x_b and n_a else None
        turned = None
        if limits and ratio is not None and one_other is not None:
            turned = any((a <= ratio <= b) != (a <= one_other <= b) for a, b in limits)
        yield AdverseImpact(
            feature=feature,
            group=group,
            reference=reference,
            tables=len(tables),
            n=n_a,
            n_reference=n_b,
            selected=x_a,
            selected_reference=x_b,
            expected=expected,
            shortfall=shortfall,
            standard_deviations=shortfall / sqrt(variance) if variance else None,
            p=exact_selection_test(n, n_reference, selected, others),
            ratio=ratio,
            ratio_of_one_other=one_other,
            turned=turned,
        )
