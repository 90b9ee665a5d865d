"""The first page of a plan, as statements."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.reasons import ReasonCode
from fairgauge.results.planned import Planned, Smallest
from fairgauge.results.statement import Page, Statement
from fairgauge.statements.compared import page, side_of, step

_MOST_GOALS, _MOST_GROUPS = 4, 3
_ROUNDING = 1e-9


def plan_page(planned: Planned) -> Page:
    """Return the first page of a plan."""
    return page("plan", {}, _statements(planned))


def per_hundred(difference: float) -> float:
    """Return a difference in percentage points, rounded up to one decimal: never as less."""
    return math.ceil(1000 * difference - _ROUNDING) / 10


def smallest_statement(each: Smallest, source: str = "") -> Statement:
    """Return the smallest difference that would be found, or why none would."""
    definition = each.definition.of if isinstance(each.definition, Contrast) else each.definition
    reason = each.reason
    lacking = None if reason is None else reason.get("n")
    return Statement(
        code="smallest",
        who=side_of(each.feature, each.group) if each.feature else None,
        value=None if each.difference is None else per_hundred(each.difference),
        facts={
            "group": each.group,
            "rate": definition.title,
            "average": each.class_scope.average,
            "class_": None if each.class_scope.average else each.class_scope.name,
            "at": each.threshold,
            "n": each.n_group,
            "n_reference": each.n_reference,
            "reason": reason,
            "lacking": reason and lacking and math.ceil(reason["minimum"] - lacking),
        },
        sources=(source,),
    )


def _statements(planned: Planned) -> Iterator[Statement]:
    smallest = sorted(
        (smallest_statement(each, f"smallest[{i}]") for i, each in enumerate(planned.smallest)),
        key=lambda s: (
            s.value is not None,
            s.facts["reason"] is None,
            s.facts["n"] if s.value is None else -s.value,
        ),
    )
    shown = [s for s in smallest if s.value is not None]
    level = {"power": planned.power, "confidence": planned.confidence}
    yield from _head(planned, smallest)
    yield from smallest[:_MOST_GROUPS]
    others = [s for s in smallest[_MOST_GROUPS:] if s.value is not None]
    if none := len(smallest[_MOST_GROUPS:]) - len(others):
        yield step("no_difference_found", n=none)
    if others:
        named = any(s.value is not None for s in smallest[:_MOST_GROUPS])
        yield step("smaller_found", n=len(others), most=None if named else others[0].value)
    if shown or planned.needed:
        of = "difference" if shown else "goal"
        yield Statement(
            code="planned_power", facts={**level, "of": of}, sources=("power", "confidence")
        )
    if planned.needed:
        yield step("as_assumed")
    if smallest:
        yield step("only_planned")
    yield from _steps(planned)


def _head(planned: Planned, smallest: list[Statement]) -> Iterator[Statement]:
    """Yield the headline, what was looked at, and goals."""
    shown = [s for s in smallest if s.value is not None]
    if planned.needed:
        most = max(each.total for each in planned.needed)
        goal = next(each.goal for each in planned.needed if each.total == most)
        yield step("rows_needed", total=most, goal=goal, n=len(planned.needed))
    elif smallest:
        yield Statement(
            code="differences_found",
            value=shown[0].value if shown else None,
            facts={
                "shown": len(shown),
                "every": len(smallest),
                "evaluated": any(each.reason is None for each in planned.smallest),
            },
            sources=(*(shown[0].sources if shown else ()), "smallest"),
        )
    else:
        yield Statement(code="nothing_planned", sources=("smallest",))
    if smallest:
        yield step("comparisons_planned", n=len(smallest))
    for i, needed in enumerate(planned.needed[:_MOST_GOALS]):
        facts = {"goal": needed.goal, "group": needed.group, "reference": needed.reference}
        yield Statement(
            code="goal", facts=facts | {"total": needed.total}, sources=(f"needed[{i}]",)
        )


def _steps(planned: Planned) -> Iterator[Statement]:
    if planned.needed:
        yield step("collect_and_audit")
    if planned.smallest:
        codes = [each.reason.code for each in planned.smallest if each.reason is not None]
        yield step("state_limits", clusters=ReasonCode.FEW_CLUSTERS in codes)
    elif not planned.needed:
        yield step("audit_by_rules")
