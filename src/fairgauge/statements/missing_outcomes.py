"""Whether rows that lack an outcome could change what a comparison shows."""

from __future__ import annotations

import math
from dataclasses import replace

from fairgauge.catalogue.cells import ALL
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import DiagnosticCode, ReferenceKind
from fairgauge.results.disparities import distance, singled_out
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.report import Report
from fairgauge.results.statement import Statement

_MANY_MISSING, _HARDLY_CHANCE, _BOTH = 0.01, 1e-3, 2


def could_reverse(report: Report, contrast: Estimate, row: Rate, s: Statement) -> bool:
    """Return whether rows that lack an outcome could turn the direction around.

    Such rows count towards rates of all rows alone.
    """
    if row.among != ALL or s.who is None or s.than is None:
        return False
    ends = [
        (side.rate, side.hits / rows, 1 - (side.n - side.hits) / rows)
        for side, rows in zip((s.who, s.than), sizes(report, contrast), strict=True)
        if side.rate is not None and side.hits is not None and side.n and rows
    ]
    if len(ends) < _BOTH:
        return False
    (_, _, most), (_, least, _) = sorted(ends)
    return most > least


def could_leave_none(report: Report, contrast: Estimate, row: Statistic) -> bool:
    """Return whether outcomes that one side lacks more often could leave no difference shown.

    They are those beyond the share that the other side lacks. A difference is shown while it has as
    many standard errors as half of its interval. Of what is no share of all rows they could.
    """
    needs = {*row.needs, *(["score"] if "prediction" in row.needs else [])}
    uneven = (
        each.code is DiagnosticCode.MISSING_OUTCOMES
        and each.feature == contrast.feature
        and each["what"] in needs
        and each["groups"] > 1
        and each["p"] < _HARDLY_CHANCE
        for each in report.diagnostics
    )
    if not any(uneven):
        return False
    interval = singled_out(contrast).interval
    sides = [
        (rate, n, 1 - n / rows)
        for rate, n, rows in zip(
            (contrast.rate_group, contrast.rate_reference),
            (contrast.n_group, contrast.n_reference),
            sizes(report, contrast),
            strict=True,
        )
        if rate is not None and n and rows
    ]
    of_all = isinstance(row, Rate) and row.among == ALL and len(sides) == _BOTH
    if not of_all or interval is None or contrast.definition.neutral in interval:
        return True
    (rate, n, more), (other, m, fewer) = sorted(sides, key=lambda side: -side[2])
    if more - fewer < _MANY_MISSING:
        return False
    share = (more - fewer) / (1 - fewer)
    filled = rate * (1 - share) + share * (rate < other)
    if (filled - other) * (rate - other) <= 0:
        return True
    nearest = min(distance(replace(contrast, value=end)) for end in interval)
    widths = distance(contrast) / (distance(contrast) - nearest)  # by which it is shown: above 1
    before = _in_errors((rate, n), (other, m))
    return widths * _in_errors((filled, n / (1 - share)), (other, m)) <= before


def _in_errors(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return how far two shares of so many rows are apart, in standard errors."""
    variance = sum(rate * (1 - rate) / n for rate, n in (one, other))
    return abs(one[0] - other[0]) / math.sqrt(variance) if variance else math.inf


def sizes(report: Report, contrast: Estimate) -> tuple[float, float]:
    """Return the rows of both sides of a comparison, those without an outcome included."""
    group, every = _group(report, contrast, contrast.group), _total(report, contrast)
    reference = contrast.reference
    if reference is None or group is None or every is None:
        return 0, 0
    others = every.n - group.n if reference.kind is ReferenceKind.OTHERS else every.n
    if reference.group is not None:
        others = getattr(_group(report, contrast, reference.group), "n", 0)
    return group.n, others


def _group(report: Report, contrast: Estimate, name: str | None) -> Group | None:
    return next((g for g in report.groups if g.group == name and _same_place(g, contrast)), None)


def _total(report: Report, contrast: Estimate) -> Group | None:
    return next(
        (
            g
            for g in report.totals
            if g.reference_kind is ReferenceKind.OVERALL and _same_place(g, contrast)
        ),
        None,
    )


def _same_place(group: Group, contrast: Estimate) -> bool:
    return (
        group.feature == contrast.feature
        and group.scope == contrast.scope
        and group.class_scope == contrast.class_scope.of_class
        and group.threshold == contrast.threshold
    )
