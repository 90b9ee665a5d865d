"""Notes on strata: how much of a feature's first finding is composition, and where it varies.

Where no difference is shown over all rows, they state which strata have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.decomposable import has_decomposition
from fairgauge.catalogue.statistics import Rate
from fairgauge.cube.crossed_strata import cross_strata
from fairgauge.cube.cube import Cube
from fairgauge.enums import (
    DiagnosticCode,
    GapPartKind,
    ReferenceRule,
    Role,
    Task,
    WhyInconclusive,
)
from fairgauge.measure._gap_sides import gap_sides, numbers_of_sides, test_of_variation
from fairgauge.measure.slices import Slice
from fairgauge.question.features import strata_named
from fairgauge.question.specification import Spec
from fairgauge.resolve.resolution import resolve
from fairgauge.results.disparities import (
    WithinStrata,
    is_significant,
    not_shown_over_all,
)
from fairgauge.results.disparities import gap as difference
from fairgauge.results.estimates import Estimate
from fairgauge.results.finding import Finding
from fairgauge.results.report import Report
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.multiplicity import holm

if TYPE_CHECKING:
    from fairgauge.results.gap_decomposition import Gap


def composition_notes(
    findings: Sequence[Finding], cube: Cube, spec: Spec, task: Task
) -> Iterator[Diagnostic]:
    """Yield how much of the first finding of every feature is composition of the strata.

    The strata are tested for one difference in all of them and each against the others.
    """
    several = isinstance(spec.threshold, tuple) and len(spec.threshold) > 1
    exact = cube.min_cell is None and not spec.probabilities
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
            first.setdefault(finding.feature, finding)
    crossed = cross_strata(cube, spec.strata) if first else None
    for feature, finding in first.items():
        assert crossed is not None
        asked = replace(
            spec, strata=(), rules=(), features=(), population=(),
            metrics=(f"{finding.rate}.difference",),
        )  # fmt: skip
        gaps = decompose_gaps(crossed, asked, {}, only=[(feature, finding.group)])
        if not gaps:  # of two groups that are compared with each other one gap is decomposed
            every = decompose_gaps(crossed, asked, {}, regression=False)
            gaps = tuple(gap for gap in every if gap.estimate.feature == feature)
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
            yield from _note(gap)


def within_strata_notes(report: Report, cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of features without a difference over all rows in a rate that has one within strata.

    A single stratum differs, adjusted for all strata of all comparisons (Bonferroni), or the
    difference varies over strata, adjusted for all comparisons that are tested for it (Holm). A
    feature has one warning: of the largest difference in a stratum.
    """
    compared = not_shown_over_all(report.estimates) if spec.strata else []
    if not compared:
        return
    alpha = 1 - spec.confidence
    varying = _variation([each.overall for each in compared], cube, spec)
    by_feature: dict[str | None, list[tuple[WithinStrata, float]]] = {}
    for each, p in zip(compared, varying, strict=True):
        if each.differing or p < alpha:
            by_feature.setdefault(each.overall.feature, []).append((each, p))
    for feature, found in by_feature.items():
        first, p = min(found, key=lambda one: (-_furthest(one[0]), one[1]))
        lower, higher = (
            tuple(str(one.stratum) for one in first.differing if (difference(one) > 0) is above)
            for above in (False, True)
        )
        yield Diagnostic.warning(
            DiagnosticCode.WITHIN_STRATA,
            feature,
            metric=first.overall.metric,
            group=first.overall.group,
            threshold=first.overall.threshold,
            strata=strata_named(spec.to_dict()["strata"]),
            lower=lower,
            higher=higher,
            p=p if p < alpha else None,
            others=len(found) - 1,
            **{"class": first.overall.class_},
        )


def _furthest(each: WithinStrata) -> float:
    return max((abs(difference(one)) for one in each.differing), default=0.0)


def _variation(compared: Sequence[Estimate], cube: Cube, spec: Spec) -> list[float]:
    """Return p-values of the same difference in all strata; 1 where this is not tested."""
    p_values = [1.0] * len(compared)
    if cube.min_cell is not None or spec.reference is ReferenceRule.OVERALL:
        return p_values
    resolution = resolve(cube, spec)
    slices: dict[object, Slice] = {}
    for counts, outcome in product(resolution.features, resolution.outcomes):
        part = Slice(counts, outcome, spec)
        slices.setdefault((counts.feature, outcome.class_scope, None), part)
        slices[counts.feature, outcome.class_scope, outcome.threshold] = part
    for i, each in enumerate(compared):
        part_of = slices.get((each.feature, each.class_scope, each.threshold))
        metric = each.definition
        assert isinstance(metric, Contrast)
        summed = isinstance(metric.of, Rate) or resolution.task is Task.REGRESSION
        if part_of is None or not (summed and has_decomposition(metric.of)):
            continue
        sides, _ = gap_sides(part_of, *numbers_of_sides(each, part_of), metric.of)
        if sides.common.sum() > 1:
            test, arrays = test_of_variation(sides)
            p_values[i] = float(np.nan_to_num(test(*arrays)[0].p, nan=1.0))
    tested = [i for i, p in enumerate(p_values) if p < 1]
    for i, p in zip(tested, holm([p_values[i] for i in tested]).tolist(), strict=True):
        p_values[i] = p
    return p_values


def _note(gap: Gap) -> Iterator[Diagnostic]:
    composition, within = gap.part(GapPartKind.COMPOSITION), gap.part(GapPartKind.WITHIN)
    if composition.reason is not None or within.reason is not None:
        return
    if gap.reason in (WhyInconclusive.MISSING_STRATA, WhyInconclusive.STRATA_DECIDE):
        return  # what the strata account for is not known
    if composition.interval is None or within.interval is None:
        return
    test = gap.heterogeneity
    values: dict[str, Any] = {
        "gap": gap.estimate.value,
        "composition": composition.value,
        "composition_low": composition.interval.low,
        "composition_high": composition.interval.high,
        "within": within.value,
        "within_low": within.interval.low,
        "within_high": within.interval.high,
        "p": None if test is None else test.p_value,
    }
    alone = gap.part(GapPartKind.NOT_COMPARABLE)
    if alone.interval is not None and min(gap.support.share_group, gap.support.share_reference) < 1:
        values |= {
            "reference": str(gap.estimate.reference or "others"),
            "alone_group": 1 - gap.support.share_group,
            "alone_reference": 1 - gap.support.share_reference,
        } | {
            "alone": alone.value,
            "alone_low": alone.interval.low,
            "alone_high": alone.interval.high,
        }
    if gap.overall is not None and gap.overall.value != gap.estimate.value:
        values["known"] = (gap.estimate.n_group or 0) + (gap.estimate.n_reference or 0)
    outlying = [(", ".join(map(" ".join, each.stratum.items())), each.difference)
                for each in gap.strata if each.outlying_alone]  # fmt: skip
    yield Diagnostic.note(
        DiagnosticCode.COMPOSITION,
        gap.estimate.feature,
        metric=gap.estimate.metric,
        group=gap.estimate.group,
        columns=gap.columns,
        outlying=tuple(name for name, _ in outlying),
        outlying_differences=tuple(size for _, size in outlying if size is not None),
        confidence=gap.estimate.confidence,
        **values,
    )
