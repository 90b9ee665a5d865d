"""Notes on strata: how much of a feature's first finding is composition, and where it varies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.catalogue.decomposable import has_decomposition
from fairgauge.cube.crossed_strata import cross_strata
from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, GapPartKind, ReferenceRule, Role, Task, WhyInconclusive
from fairgauge.question.specification import Spec
from fairgauge.results.finding import Finding
from fairgauge.results.scopes import Diagnostic

if TYPE_CHECKING:
    from fairgauge.results.gap_decomposition import Gap


def composition_notes(
    findings: Sequence[Finding], cube: Cube, spec: Spec, task: Task
) -> Iterator[Diagnostic]:
    """Yield how much of the first finding of every feature is composition of the strata.

    The strata are tested for one difference in all of them and each against the others, years for a
    trend alone.
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
            yield from _note(gap)


def _note(gap: Gap) -> Iterator[Diagnostic]:
    composition, within = gap.part(GapPartKind.COMPOSITION), gap.part(GapPartKind.WITHIN)
    if composition.reason is not None or within.reason is not None:
        return
    if gap.reason in (WhyInconclusive.MISSING_STRATA, WhyInconclusive.STRATA_DECIDE):
        return  # what the strata account for is not known
    if composition.interval is None or within.interval is None:
        return
    test, trend = gap.heterogeneity, gap.trend
    values = {
        "gap": gap.estimate.value,
        "composition": composition.value,
        "composition_low": composition.interval.low,
        "composition_high": composition.interval.high,
        "within": within.value,
        "within_low": within.interval.low,
        "within_high": within.interval.high,
        "p": None if test is None else test.p_adjusted,
    }
    if trend is not None:
        values |= {
            "trend": trend.value,
            "trend_low": trend.interval.low,
            "trend_high": trend.interval.high,
        }
    if gap.overall is not None and gap.overall.value != gap.estimate.value:
        values["known"] = (gap.estimate.n_group or 0) + (gap.estimate.n_reference or 0)
    levels = [(f"{column.column} {each.level}", each.difference) for column in gap.by_column
              for each in column.levels if each.outlying]  # fmt: skip
    strata = [(", ".join(map(" ".join, each.stratum.items())), each.difference)
              for each in gap.strata if each.outlying]  # fmt: skip
    outlying = levels or strata
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
