"""What is shown of a check of published tables: its first page, its tables, rows of CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairgauge.plugins import (
    TONES,
    IntervalMethod,
    Outcome,
    Page,
    Range,
    ReasonCode,
    Side,
    Statement,
    called,
    english,
    flat,
    numbered,
    outcome_word,
    page,
    published_range,
    step,
)
from fairgauge.plugins import document_tree as tree
from fairgauge_check.check_result import (
    Check,
    CheckedGroup,
    CheckedTable,
    Decision,
    Fault,
    FaultCode,
)

_MOST_ERRORS = 3


def check_page(check: Check) -> Page:
    """Return the first page of a check of published tables."""
    return page("check", {}, _statements(check))


def fault_statement(fault: Fault) -> Statement:
    """Return a fault with its numbers in the form in which its table prints them."""
    p = dict(fault.parameters)
    numbers: dict[str, Any] = {k: v for k, v in p.items() if isinstance(v, (int, float))}
    facts = {
        "fault": str(fault.code),
        "row": fault.row,
        "in_unit": {name: _format_share(value, p) for name, value in numbers.items()},
        "short": {name: _short_number(value) for name, value in numbers.items()},
        "counts": {name: f"{value:,.10g}" for name, value in numbers.items()},
    }
    return Statement(code="fault", facts=facts | p)


def _format_share(share: float, p: dict[str, Any]) -> str:
    # a share in the unit of the printed rate: as a percentage, with its sign, or not
    if not p.get("percent"):
        return _short_number(share)
    digits = 3 if round(1e4 * share) % 10 == 5 else 2  # which way the second is rounded
    return f"{round(100 * share, digits):.10g}{'%' if '%' in str(p['printed']) else ''}"


def _short_number(value: float) -> str:
    text = f"{value:.4f}"
    text = f"{value:.6f}" if text.endswith("5") else text  # which way it is rounded must show
    return text.rstrip("0").rstrip(".")


def _table_place(table: CheckedTable, check: Check) -> tuple[str, ...]:
    several = len({each.source for each in check.tables}) > 1
    return (table.source or "", table.name) if several else (table.name,)


def _holds_together(group: CheckedGroup) -> bool:
    interval = group.interval
    return interval is not None and IntervalMethod.TUKEY in interval.methods


def _statements(check: Check) -> Iterator[Statement]:
    tables = check.tables
    several = len(tables) > 1
    sources = _sources(check)
    faults = [(i, fault) for i, table in enumerate(tables) for fault in table.faults]
    yield Statement(
        code="printed_numbers",
        sources=("errors",),
        facts={
            "tables": len(tables),
            "affected": sum(bool(table.errors) for table in tables),
            "errors": check.errors,
            "checked": check.numbers_checked,
            "not_checked": check.ratios_not_checked,
            "unread": sum(each.counts for each in check.unread),
            "without": sum(not table.numbers_checked for table in tables),
        },
    )
    if check.limit is not None:
        decisions = {str(d): count for d, count in check.decisions.items() if count}
        facts = {"decisions": decisions, "share": check.min_share}
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
                "title": _table_place(tables[i], check) if several else (),
            },
            sources=(f"tables[{i}].faults",),
        )
    if len(errors) > _MOST_ERRORS:
        yield step("more_errors", n=len(errors) - _MOST_ERRORS)
    yield from _lowest(check)
    if check.limit is not None:
        chosen = not all(table.is_chosen for table in tables)
        facts = {"counted": check.counted, "limit": check.limit}
        facts |= {"level": check.level, "chosen": chosen}
        yield Statement(code="ratio_limit", facts=facts, sources=("limit",))
    yield from (step("right_people"), step("meets_law"))
    yield from _steps(check)


def _lowest(check: Check) -> Iterator[Statement]:
    smallest = check.min_share
    shown = [
        (bool(group.n and group.n < smallest * table.people), group.ratio, i, j)
        for i, table in enumerate(check.tables)
        for j, group in enumerate(table.groups)
        if not group.is_reference and group.ratio is not None and group.interval is not None
    ]
    if not shown:
        return
    _, ratio, i, j = min(shown)
    table, group = check.tables[i], check.tables[i].groups[j]
    interval = group.interval
    assert interval is not None
    yield Statement(
        code="lowest_ratio",
        who=Side("group", values=(("", group.name),), n=group.n),
        than=Side("group", values=(("", table.reference or ""),)),
        by="ratio",
        value=ratio,
        interval=Range(interval.low, interval.high, interval.level, _holds_together(group)),
        facts={
            "limits": [100.0] + ([] if check.limit is None else [100 * check.limit]),
            "lower": any(other < ratio for _, other, *_ in shown),
            "share": check.min_share,
            "title": _table_place(table, check) if len(check.tables) > 1 else (),
        },
        sources=(f"tables[{i}].groups[{j}]",),
    )


def _steps(check: Check) -> Iterator[Statement]:
    if check.errors:
        yield step("send_errors")
    if any(each.counts for each in check.unread):
        yield step("check_unread")
    if any(group.n is None for table in check.tables for group in table.groups):
        yield step("ask_for_people")
    if check.limit is None and any(g.ratio for table in check.tables for g in table.groups):
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


# ---- the document


class _Table:
    """A published table, and what is shown of it."""

    def __init__(self, check: Check, of: CheckedTable) -> None:
        self.check, self.of = check, of
        self.name = ": ".join(map(called, _table_place(of, check)))
        self.counted = any(group.n is not None for group in of.groups)
        own = next((group.n for group in of.groups if group.name == of.reference), None)
        self.small = own is not None and (own < check.min_n or own < check.min_share * of.people)
        held = {"all" if _holds_together(each) else "one" for each in of.groups
                if each.interval}  # fmt: skip
        self.held = " or ".join(sorted(english().say("holds_for", each) or "" for each in held))

    def faults(self, level: str) -> list[str]:
        """Return the errors or the notes, each with its row."""
        found = (each for each in self.of.faults if each.level == level)
        return [english().say("in_place", "text", fault_statement(each)) or "" for each in found]

    def categories(self) -> Iterator[dict[str, Any]]:
        """Yield every category as it is printed, and as it is computed."""
        for each in self.of.groups:
            interval = each.interval
            ends = "" if interval is None else published_range(*interval)
            yield {
                "name": each.name,
                "n": "" if each.n is None else f"{each.n:,}",
                "selected": "" if each.selected is None else f"{each.selected:,}",
                "rate": "" if each.rate is None else f"{100 * each.rate:.2f}%",
                "printed": each.printed,
                "ratio": "" if each.ratio is None else f"{each.ratio:.3f}",
                "interval": "; ".join(filter(None, ["reference" * each.is_reference, ends])),
                "p_value": each.p_value,
            }


def _page_tables(check: Check) -> list[_Table]:
    return [_Table(check, each) for each in check.tables]


def _summary_facts(check: Check) -> dict[str, Any]:
    unread = sum(each.counts for each in check.unread)
    left = [f"{unread:,} not checked"] if unread else []
    decided = [] if check.verdict is Outcome.NONE else [outcome_word(check.verdict)]
    if check.limit is not None and not (check.verdicts or check.decisions[Decision.INCONCLUSIVE]):
        decided = ["no verdict without counts"]
    errors = [numbered(check.errors, "errors")] if check.errors else []
    tone = tree.Tone.BAD if check.errors else TONES.get(check.verdict, tree.Tone.UNSURE)
    return {
        "unread": left,
        "summary": "; ".join((*errors, *decided, *left)).upper(),
        "tone": str(tone),
    }


def _sources(check: Check) -> list[str | None]:
    # where no table can be checked, what was read is named by what was left
    of = check.tables or check.unread
    return list(dict.fromkeys(each.source for each in of)) or [None]


def _frame(check: Check, *, full: bool) -> dict[str, Any]:
    del full
    source = Statement(code="published", facts={"sources": _sources(check)})
    return {"cover": [("source", english().say("published", "from", source) or "")]}


def _faults(check: Check) -> Iterator[dict[str, Any]]:
    for table in check.tables:
        for fault in table.faults:
            row, category = fault.row or (None, None)
            yield {"source": table.source, "table": table.name, "level": fault.level,
                   "code": str(fault.code), "row": row, "category": category,
                   "message": fault.message}  # fmt: skip


def _ratio_rows(check: Check) -> Iterator[dict[str, Any]]:
    for table, of in zip(check.to_dict()["tables"], check.tables, strict=True):
        for group, checked in zip(table["groups"], of.groups, strict=True):
            row = {**flat(group), "source": table["source"], "table": table["name"]}
            if (verdict := checked.verdict) is not None:
                row |= {"verdict": str(verdict.outcome), "verdict_reason": verdict.says}
            yield row


STREAMS: Mapping[str, Callable[..., Any]] = {
    "facts": _summary_facts,
    "frame": _frame,
    "every": _page_tables,
    "all_errors": lambda check: [
        f"{each.name}. {text}" for each in _page_tables(check) for text in each.faults("error")
    ],
    "errors": lambda table: table.faults("error"),
    "notes": lambda table: table.faults("note"),
    "categories": _Table.categories,
    "not_read": lambda check: [f"{called(e.source)}: {e.reason}." for e in check.unread],
    "faults": _faults,
    "ratios": _ratio_rows,
}
