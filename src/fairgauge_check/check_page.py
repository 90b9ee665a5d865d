"""What is shown of a check of published tables: its first page, its tables, rows of CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairgauge.plugins import (
    IntervalMethod,
    Outcome,
    Page,
    Range,
    ReasonCode,
    Side,
    Statement,
    called,
    describe_reason,
    english,
    flat,
    page,
    published_range,
    step,
)
from fairgauge_check.check_result import ADVICE, Check, CheckedGroup, CheckedTable, Fault, FaultCode

_MOST_ERRORS = 3


def check_page(check: Check) -> Page:
    """Return the first page of a check of published tables."""
    return page("check", None, _statements(check))


def fault_statement(fault: Fault) -> Statement:
    """Return a fault with its numbers in the form in which its table prints them."""
    p = dict(fault.parameters)
    numbers: dict[str, Any] = {k: v for k, v in p.items() if isinstance(v, (int, float))}
    facts = {
        "fault": str(fault.code),
        "row": fault.row,
        "in_unit": {name: _format_share(value, p) for name, value in numbers.items()},
        "counts": {name: f"{value:,.10g}" for name, value in numbers.items()},
    }
    return Statement(code="fault", facts=facts | p)


def _format_share(share: float, p: dict[str, Any]) -> str:
    # a share in the unit of the printed rate: as a percentage, with its sign, or not; with more
    # places where these would not show which way it is rounded
    if (per := p.get("per", 1)) > 1:
        digits = 3 if round(100 * per * share) % 10 == 5 else 2
        return f"{round(per * share, digits):.10g}{'%' if '%' in str(p['printed']) else ''}"
    text = f"{share:.4f}"
    return (f"{share:.6f}" if text.endswith("5") else text).rstrip("0").rstrip(".")


def _table_place(table: CheckedTable, check: Check) -> tuple[str, ...]:
    several = len({each.source for each in check.tables}) > 1
    return (table.source or "", table.name) if several else (table.name,)


def _holds_together(group: CheckedGroup) -> bool:
    return group.interval is not None and IntervalMethod.TUKEY in group.interval.methods


def _statements(check: Check) -> Iterator[Statement]:
    tables, unread = check.tables, sum(each.counts for each in check.unread)
    faults = [(i, fault) for i, table in enumerate(tables) for fault in table.faults]
    errors = [(i, fault) for i, fault in faults if fault.level == "error"]
    facts: dict[str, object] = {
        "tables": len(tables),
        "affected": sum(bool(table.errors) for table in tables),
        "errors": len(errors),
        "checked": check.numbers_checked,
        "not_checked": check.ratios_not_checked,
        "unread": unread,
        "without": sum(not table.numbers_checked for table in tables),
    }
    yield Statement(code="printed_numbers", sources=("errors",), facts=facts)
    if check.limit is not None:
        decisions = {str(d): count for d, count in check.decisions.items() if count}
        facts = {"decisions": decisions, "share": check.min_share}
        yield Statement(code="decided_ratios", facts=facts, sources=("decisions",))
    categories = sum(len(table.groups) for table in tables)
    facts = {"tables": len(tables), "categories": categories, "sources": _sources(check)}
    facts["ignored"] = any(fault.code is FaultCode.COLUMNS_IGNORED for _, fault in faults)
    yield Statement(code="published", sources=("tables",), facts=facts)
    advised = [(i, fault) for i, fault in faults if fault.code in ADVICE]
    for number, (i, fault) in enumerate([*errors[:_MOST_ERRORS], *advised[:_MOST_ERRORS]], 1):
        title = _table_place(tables[i], check) if len(tables) > 1 else ()
        facts = {"number": number, "title": title}
        facts["errors"] = len(errors) if fault.level == "error" else 0
        parts, sources = (fault_statement(fault),), (f"tables[{i}].faults",)
        yield Statement(code="error", parts=parts, facts=facts, sources=sources)
    if len(errors) > _MOST_ERRORS:
        yield step("more_errors", n=len(errors) - _MOST_ERRORS)
    headers = dict.fromkeys(f["column"] for _, f in faults if f.code is FaultCode.HARM_NOT_STATED)
    yield from (step("harm_not_stated", column=header) for header in headers)
    yield from _lowest(check)
    if check.limit is not None and any(table.counted for table in tables):
        chosen = not all(table.is_chosen for table in tables)
        facts = {"limit": check.limit, "harm": check.harm, "level": check.level, "chosen": chosen}
        yield Statement(code="ratio_limit", facts=facts, sources=("limit",))
    open_ = [v.reason for v in check.verdicts if v.outcome is Outcome.INCONCLUSIVE]
    of_unknown = [reason.code is ReasonCode.MISSING_GROUPS or reason.get("open_rows") is not None
                  for reason in open_]  # fmt: skip
    groups = [group for table in tables for group in table.groups]
    steps = {
        "right_people": True,
        "meets_law": True,
        "send_errors": errors,
        "check_unread": unread,
        "ask_for_people": any(group.n is None for group in groups),
        "state_ratio": not check.limit and any(group.ratio for group in groups),
        "plan_people": not all(of_unknown),
        "ask_for_categories": any(of_unknown),
        "audit_decisions": True,
    }
    yield from (step(code, harm=check.harm) for code, stated in steps.items() if stated)


def _lowest(check: Check) -> Iterator[Statement]:
    smallest, sign = check.min_share, -1 if check.harm else 1
    shown = [
        (bool(group.n and group.n < smallest * table.people), sign * group.ratio, i, j)
        for i, table in enumerate(check.tables)
        for j, group in enumerate(table.groups)
        if not group.is_reference and group.ratio is not None and group.interval is not None
    ]
    if not shown:
        return
    _, least, i, j = min(shown)
    table, group = check.tables[i], check.tables[i].groups[j]
    yield Statement(
        code="lowest_ratio",
        who=Side("group", values=(("", group.name),), n=group.n),
        than=Side("group", values=(("", table.reference or ""),)),
        by="ratio",
        value=group.ratio,
        interval=Range.of(group.interval, joint=_holds_together(group)),
        facts={
            "one": group.name,
            "of": table.reference or "",
            "limits": [100.0] + ([] if check.limit is None else [100 * check.limit]),
            "lower": any(other < least for _, other, *_ in shown),
            "harm": check.harm,
            "header": table.columns.get("selected") or (check.harm and table.columns["rate"]),
            "share": smallest,
            "title": _table_place(table, check) if len(check.tables) > 1 else (),
        },
        sources=(f"tables[{i}].groups[{j}]",),
    )


def _sources(check: Check) -> list[str | None]:
    # where no table can be checked, what was read is named by what was left
    of = check.tables or check.unread
    return list(dict.fromkeys(each.source for each in of)) or [None]


# ---- the document


def _tables(check: Check) -> Iterator[dict[str, Any]]:
    for of in check.tables:
        own = next((group.n for group in of.groups if group.name == of.reference), None)
        held = {"all" if _holds_together(e) else "one" for e in of.groups if e.interval}
        said = [(f.level, english().say("in_place", "text", fault_statement(f))) for f in of.faults]
        yield {
            "of": of,
            "name": ": ".join(map(called, _table_place(of, check))),
            "counted": any(group.n is not None for group in of.groups),
            "small": own is not None and (own < check.min_n or own < check.min_share * of.people),
            "held": " or ".join(sorted(english().say("holds_for", each) or "" for each in held)),
            "errors": [text for level, text in said if level == "error"],
            "notes": [text for level, text in said if level == "note"],
            "categories": [_category(each) for each in of.groups],
        }


def _category(group: CheckedGroup) -> Mapping[str, object]:
    ends = "" if group.interval is None else published_range(*group.interval)
    rate = "" if group.rate is None else f"{100 * group.rate:.2f}%"
    interval = "; ".join(filter(None, ["reference" * group.is_reference, ends]))
    says = english().say("decision", str(group.decision), n=1) or ""
    why = describe_reason(group.verdict.reason if group.verdict else None)
    words = {"rate": rate, "interval": interval, "decided": ": ".join(filter(None, [says, why]))}
    return {**flat(group), **words}


def _faults(check: Check) -> Iterator[dict[str, object]]:
    for table in check.tables:
        for fault in table.faults:
            row, category = fault.row or (None, None)
            yield {"source": table.source, "table": table.name, "level": fault.level,
                   "code": str(fault.code), "row": row, "category": category,
                   "message": fault.message}  # fmt: skip


def _ratio_rows(check: Check) -> Iterator[Mapping[str, object]]:
    for table in check.tables:
        for group in table.groups:
            judged, of = group.verdict, {"source": table.source, "table": table.name}
            words = {"verdict": judged and str(judged.outcome)}
            yield flat(group) | of | words | {"verdict_reason": judged and judged.says}


def _frame(check: Check, **_: bool) -> dict[str, object]:
    source = Statement(code="published", facts={"sources": _sources(check)})
    return {"cover": [("source", english().say("published", "from", source) or "")]}


STREAMS: Mapping[str, Callable[..., object]] = {
    "frame": _frame,
    "every": _tables,
    "all_errors": lambda check: [
        f"{each['name']}. {text}" for each in _tables(check) for text in each["errors"]
    ],
    "not_read": lambda check: [f"{called(e.source)}: {e.reason}." for e in check.unread],
    "faults": _faults,
    "ratios": _ratio_rows,
}
