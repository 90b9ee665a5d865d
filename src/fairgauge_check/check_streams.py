"""What the document of a check of published tables has besides its fields: tables and ratios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairgauge.plugins import (
    TONES,
    Outcome,
    ReasonCode,
    Statement,
    called,
    flat,
    numbered,
    outcome_word,
    plain,
    published_range,
)
from fairgauge.plugins import document_tree as tree
from fairgauge_check.check_result import Check, CheckedGroup, CheckedTable, FaultLevel
from fairgauge_check.check_statements import fault_statement, holds_together, table_place

_FEW = 3
"""Tables that are shown whole where not everything is."""


class _Table:
    """A published table, and what is shown of it."""

    def __init__(self, check: Check, of: CheckedTable) -> None:
        self.check, self.of = check, of
        self.name = ": ".join(map(called, table_place(of, check)))
        self.counted = any(group.n is not None for group in of.groups)
        smallest = check.smallest_reference
        own = next((group.n for group in of.groups if group.name == of.reference), None)
        self.small = own is not None and not smallest.admits(own, of.people)
        held = {"all" if holds_together(each) else "one" for each in of.groups
                if each.shown_interval}  # fmt: skip
        self.held = " or ".join(sorted(plain().say("holds_for", each) or "" for each in held))

    def faults(self, level: FaultLevel) -> list[str]:
        """Return the errors or the notes, each with its row."""
        found = (each for each in self.of.faults if each.level is level)
        return [plain().say("in_place", "text", fault_statement(each)) or "" for each in found]

    def categories(self) -> Iterator[dict[str, Any]]:
        """Yield every category as it is printed, and as it is computed."""
        for each in self.of.groups:
            interval = each.shown_interval
            ends = "" if interval is None else published_range(*interval)
            possible = each.possible and " to ".join(f"{end:.3f}" for end in each.possible)
            yield {
                "name": each.name,
                "n": "" if each.n is None else f"{each.n:,}",
                "selected": "" if each.selected is None else f"{each.selected:,}",
                "rate": "" if each.rate is None else f"{100 * each.rate:.2f}%",
                "printed": each.printed,
                "ratio": "" if each.ratio is None else f"{each.ratio:.3f}",
                "interval": "; ".join(filter(None, ["reference" * each.is_reference, ends])),
                "p_value": "" if each.p_value is None else _p(each.p_value),
                "possible": possible,
            }

    def drawn(self) -> Iterator[tree.Chart]:
        rated = [group for group in self.of.groups if group.interval is not None]
        if rated:
            limit = self.check.limit
            yield tree.Chart(
                "Impact ratio: rate divided by that of the reference",
                tuple(_bar(e) for e in self.of.groups if e.is_reference or e in rated),
                tree.Unit.RATIO,
                neutral=1.0,
                allowed=None if limit is None else (limit, float("inf")),
            )


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _bar(group: CheckedGroup) -> tree.ChartRow:
    low, high = group.shown_interval or (None, None)
    verdict = group.verdict
    sparse = verdict is not None and verdict.outcome is Outcome.NOT_EVALUATED
    explained = verdict is not None and (sparse or verdict.reason.code is ReasonCode.MISSING_GROUPS)
    text = "reference" if group.is_reference else f"{group.ratio:.3f}"
    if low is not None and high is not None:
        text += f" ({published_range(low, high)})"
    return tree.ChartRow(
        called(group.name),
        tree.Mark(group.ratio, low, high, sparse=sparse),
        text,
        below=verdict.says if verdict is not None and explained else "",
        badge="" if verdict is None else outcome_word(verdict.outcome),
        tone=tree.Tone.PLAIN if verdict is None else TONES[verdict.outcome],
    )


def _tables(check: Check) -> list[_Table]:
    return [_Table(check, each) for each in check.tables]


def _facts(check: Check) -> dict[str, Any]:
    unread = sum(each.counts for each in check.unread)
    left = [f"{unread:,} not read"] if unread else []
    decided = [] if check.verdict is Outcome.NONE else [outcome_word(check.verdict)]
    if check.limit is not None and not check.verdicts:
        decided = ["no verdict without counts"]
    errors = [numbered(check.errors, "errors")] if check.errors else []
    tone = tree.Tone.BAD if check.errors else TONES.get(check.verdict, tree.Tone.UNSURE)
    return {
        "unread": left,
        "verdict": "; ".join((*errors, *decided, *left)).upper(),
        "tone": str(tone),
    }


def _frame(check: Check, *, full: bool) -> dict[str, Any]:
    names = list(dict.fromkeys(table.source for table in check.tables))
    source = Statement(code="published", facts={"sources": names})
    frame: dict[str, Any] = {
        "cover": [("source", plain().say("published", "from", source) or "")],
    }
    return frame if full or len(check.tables) > _FEW else frame | {"not_shown": ["method"]}


def _faults(check: Check) -> Iterator[dict[str, Any]]:
    for table in check.to_dict()["tables"]:
        for fault in table["faults"]:
            yield {**fault, "source": table["source"], "table": table["name"]}


def _ratios(check: Check) -> Iterator[dict[str, Any]]:
    for table in check.to_dict()["tables"]:
        for group in table["groups"]:
            low, high = group["possible"] or (None, None)
            row = {**flat(group), "source": table["source"], "table": table["name"]}
            row |= {"lowest_possible": low, "highest_possible": high}
            if (verdict := group["verdict"]) is not None:
                reason = verdict["reason"]["message"]
                row |= {"verdict": verdict["outcome"], "verdict_reason": reason}
                row |= {"deciding_low": verdict["low"], "deciding_high": verdict["high"]}
            yield row


STREAMS: Mapping[str, Callable[..., Any]] = {
    "facts": _facts,
    "frame": _frame,
    "every": _tables,
    "few": lambda check: _tables(check) if len(check.tables) <= _FEW else [],
    "all_errors": lambda check: [
        f"{each.name}. {text}"
        for each in _tables(check)
        for text in each.faults(FaultLevel.ERROR)
        if len(check.tables) > _FEW
    ],
    "errors": lambda table: table.faults(FaultLevel.ERROR),
    "notes": lambda table: table.faults(FaultLevel.NOTE),
    "drawn": _Table.drawn,
    "categories": _Table.categories,
    "not_read": lambda check: [f"{called(e.source)}: {e.reason}." for e in check.unread],
    "faults": _faults,
    "ratios": _ratios,
}
