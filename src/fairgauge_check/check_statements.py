"""The first page of a check of published tables, as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fairgauge.plugins import (
    IntervalMethod,
    Outcome,
    Page,
    Range,
    ReasonCode,
    Side,
    Statement,
    page,
    step,
)
from fairgauge_check.check_result import (
    Check,
    CheckedGroup,
    CheckedTable,
    Decision,
    Fault,
    FaultCode,
)

_MOST_ERRORS = 3
_SCORED = re.compile(r"scor|\babove\b|median", re.IGNORECASE)


def check_page(check: Check) -> Page:
    """Return the first page of a check of published tables."""
    return page("check", {}, _statements(check))


def fault_statement(fault: Fault) -> Statement:
    """Return a fault with its numbers in the form in which its table prints them."""
    p = dict(fault.parameters)
    numbers: dict[str, Any] = {k: v for k, v in p.items() if isinstance(v, (int, float))}
    facts = {
        "fault": str(fault.code),
        "of": None,
        "row": fault.row,
        "in_unit": {name: _in_unit(value, p) for name, value in numbers.items()},
        "short": {name: _short(value) for name, value in numbers.items()},
        "counts": {name: f"{value:,.10g}" for name, value in numbers.items()},
    }
    return Statement(code="fault", facts=facts | p)


def _in_unit(share: float, p: dict[str, Any]) -> str:
    """Return a share in the unit of the printed rate: as a percentage, with its sign, or not."""
    if not p.get("percent"):
        return _short(share)
    digits = 3 if round(1e4 * share) % 10 == 5 else 2  # which way the second is rounded
    return f"{round(100 * share, digits):.10g}{'%' if '%' in str(p['printed']) else ''}"


def _short(value: float) -> str:
    text = f"{value:.4f}"
    text = f"{value:.6f}" if text.endswith("5") else text  # which way it is rounded must show
    return text.rstrip("0").rstrip(".")


def table_place(table: CheckedTable, check: Check) -> tuple[str, ...]:
    """Return the name of a table, after its file where there are several."""
    several = len({each.source for each in check.tables}) > 1
    return (table.source or "", table.name) if several else (table.name,)


def holds_together(group: CheckedGroup) -> bool:
    """Return whether the shown interval holds for all pairs of its table together."""
    interval = group.shown_interval
    return interval is not None and IntervalMethod.TUKEY in interval.methods


def _statements(check: Check) -> Iterator[Statement]:
    tables = check.tables
    several = len(tables) > 1
    sources = list(dict.fromkeys(table.source for table in tables))
    faults = [(i, fault) for i, table in enumerate(tables) for fault in table.faults]
    unchecked = [f for _, f in faults if f.code is FaultCode.RATIOS_NOT_CHECKED]
    yield Statement(
        code="printed_numbers",
        sources=("errors",),
        facts={
            "tables": len(tables),
            "affected": sum(bool(table.errors) for table in tables),
            "errors": check.errors,
            "checked": check.numbers_checked,
            "not_checked": check.ratios_not_checked,
            "kinds": {dict(f.parameters).get("of", "impact ratio") for f in unchecked},
            "without": sum(not table.numbers_checked for table in tables),
        },
    )
    if check.limit is not None:
        decisions = {str(d): check.decisions[d] for d in Decision if d in check.decisions}
        facts = {"decisions": decisions, "share": check.smallest_reference.share}
        yield Statement(code="decided_ratios", facts=facts, sources=("decisions",))
    yield Statement(
        code="published",
        sources=("tables",),
        facts={
            "tables": len(tables),
            "categories": sum(len(table.groups) for table in tables),
            "sources": sources,
            "ignored": any(f.code is FaultCode.COLUMNS_IGNORED for _, f in faults),
            "unread": sum(each.counts for each in check.unread),
        },
    )
    errors = [(i, fault) for i, table in enumerate(tables) for fault in table.errors]
    for number, (i, fault) in enumerate(errors[:_MOST_ERRORS], 1):
        yield Statement(
            code="error",
            parts=(fault_statement(fault),),
            facts={
                "number": number,
                "errors": len(errors),
                "title": table_place(tables[i], check) if several else (),
            },
            sources=(f"tables[{i}].faults",),
        )
    if len(errors) > _MOST_ERRORS:
        yield step("more_errors", n=len(errors) - _MOST_ERRORS)
    yield from _lowest(check)
    if check.limit is not None:
        chosen = not all(table.is_chosen for table in tables)
        facts = {"why": None if check.counted else _why_no_interval(check), "limit": check.limit}
        facts |= {"level": check.level, "chosen": chosen}
        yield Statement(code="ratio_limit", facts=facts, sources=("limit",))
    yield from (step("right_people"), step("meets_law"))
    yield from _steps(check)


def _lowest(check: Check) -> Iterator[Statement]:
    shown = [
        (_is_small(check, table, group), group.ratio, i, j)
        for i, table in enumerate(check.tables)
        for j, group in enumerate(table.groups)
        if not group.is_reference and group.ratio is not None and group.shown_interval is not None
    ]
    if not shown:
        return
    _, ratio, i, j = min(shown)
    table, group = check.tables[i], check.tables[i].groups[j]
    interval = group.shown_interval
    assert interval is not None
    yield Statement(
        code="lowest_ratio",
        who=Side("group", values=(("", group.name),), n=group.n),
        than=Side("group", values=(("", table.reference or ""),)),
        by="ratio",
        value=ratio,
        interval=Range(interval.low, interval.high, interval.level, holds_together(group)),
        facts={
            "limits": [100.0] + ([] if check.limit is None else [100 * check.limit]),
            "lower": any(other < ratio for _, other, *_ in shown),
            "share": check.smallest_reference.share,
            "title": table_place(table, check) if len(check.tables) > 1 else (),
            "scored": bool(
                _SCORED.search(
                    " ".join(table.columns.get(role, "") for role in ("rate", "selected"))
                )
            ),
            "possible": group.possible,
        },
        sources=(f"tables[{i}].groups[{j}]",),
    )


def _is_small(check: Check, table: CheckedTable, group: CheckedGroup) -> bool:
    return group.n is not None and group.n < check.smallest_reference.share * table.people


def _why_no_interval(check: Check) -> str:
    groups = [group for table in check.tables for group in table.groups]
    if all(group.n is None for group in groups):
        return "no_people"
    if all(group.rate is None for group in groups):
        return "no_rate"
    if all(group.selected is None for group in groups):
        return "no_selected"
    return "few_categories" if any(group.rate for group in groups) else "rates_0"


def _steps(check: Check) -> Iterator[Statement]:
    if check.errors:
        yield step("send_errors")
    if any(each.counts for each in check.unread):
        yield step("check_unread")
    if any(group.n is None for table in check.tables for group in table.groups):
        yield step("ask_for_people")
    if check.limit is None:
        yield step("state_ratio")
    undecided = [v.reason for v in check.verdicts if v.outcome is Outcome.INCONCLUSIVE]
    of_unknown = [
        reason
        for reason in undecided
        if reason.code is ReasonCode.MISSING_GROUPS or reason.get("open_rows") is not None
    ]
    if len(of_unknown) < len(undecided):
        yield step("plan_people")
    if of_unknown:
        yield step("ask_for_categories")
    yield step("audit_decisions")
