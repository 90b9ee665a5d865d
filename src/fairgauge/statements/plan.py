"""The first page of a plan."""

from __future__ import annotations

from fairgauge.results.plan import Planned
from fairgauge.results.statement import Page, fact
from fairgauge.statements.compared import page, step


def plan_page(planned: Planned) -> Page:
    """Return the first page of a plan."""
    most = max(planned.needed, key=lambda each: each.total)
    goals = (
        fact("goal", f"needed[{i}]", goal=each.goal, group=each.group, reference=each.reference,
             total=each.total)
        for i, each in enumerate(planned.needed)
    )  # fmt: skip
    statements = [
        step("rows_needed", total=most.total, goal=most.goal, n=len(planned.needed)),
        fact("planned_for", "assumed", **planned.assumed), *goals,
        fact("planned_power", "power", "confidence", power=planned.power,
             confidence=planned.confidence),
        step("as_assumed"), step("collect_and_audit"),
    ]  # fmt: skip
    return page("plan", None, statements)
