"""Whether rows that lack an outcome could undo what a headline states."""

from __future__ import annotations

from dataclasses import replace

from fairgauge.catalogue.cells import ALL
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import DiagnosticCode, ReferenceKind
from fairgauge.results.disparities import distance, singled_out
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report

_MANY_MISSING, _HARDLY_CHANCE, _BOTH = 0.01, 1e-3, 2


def could_undo(report: Report, contrast: Estimate, row: Statistic) -> bool:
    """Return whether rows that lack an outcome could leave a difference not shown, or turn it.

    A rate of all rows turns if all of these have one outcome; it is not shown if those beyond the
    share that the other side lacks move it by more than its interval is from none. Of what is no
    share of all rows, that one side lacks more is enough.
    """
    needs = {*row.needs, *(["score"] if "prediction" in row.needs else [])}
    uneven = any(
        each.code is DiagnosticCode.MISSING_OUTCOMES
        and each.feature == contrast.feature
        and each["what"] in needs
        and each["groups"] > 1
        and each["p"] < _HARDLY_CHANCE
        for each in report.diagnostics
    )
    rows = _sizes(report, contrast)
    sides = [
        (rate, 1 - n / of)
        for rate, n, of in zip(
            (contrast.rate_group, contrast.rate_reference),
            (contrast.n_group, contrast.n_reference),
            rows,
            strict=True,
        )
        if rate is not None and n and of
    ]
    if not isinstance(row, Rate) or row.among != ALL or len(sides) < _BOTH:
        return uneven
    (low, of_low), (high, of_high) = sorted(sides)
    if low * (1 - of_low) + of_low > high * (1 - of_high):
        return True
    (rate, more), (other, fewer) = sorted(sides, key=lambda side: -side[1])
    interval = singled_out(contrast).interval
    if not uneven or interval is None or contrast.definition.neutral in interval:
        return uneven
    share = (more - fewer) / (1 - fewer)
    if more - fewer < _MANY_MISSING or rate == other:
        return False
    moved = share * ((rate < other) - rate) / (other - rate)  # of the way to no difference
    nearest = min(distance(replace(contrast, value=end)) for end in interval)
    return moved * distance(contrast) >= nearest


def _sizes(report: Report, contrast: Estimate) -> tuple[float, float]:
    """Return the rows of both sides of a comparison, those without an outcome included."""

    def size(name: str | None, kind: ReferenceKind | None = None) -> float:
        return next(
            (
                each.n
                for each in (report.groups if kind is None else report.totals)
                if (each.feature, each.scope) == (contrast.feature, contrast.scope)
                and each.class_scope == contrast.class_scope.of_class
                and each.threshold == contrast.threshold
                and (each.group == name if kind is None else each.reference_kind is kind)
            ),
            0.0,
        )

    group, reference = size(contrast.group), contrast.reference
    every = size(None, ReferenceKind.OVERALL)
    if reference is None or not (group and every):
        return 0, 0
    if reference.group is not None:
        return group, size(reference.group)
    return group, every - group * (reference.kind is ReferenceKind.OTHERS)
