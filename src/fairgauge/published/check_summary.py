"""What a check of many tables comes to: how many ratios are decided, and the faults by kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from fairgauge.enums import Level, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairgauge.published.check_results import CheckedGroup, CheckedTable
    from fairgauge.published.faults import FaultCode


class Decision(StrEnum):
    """What is known of a ratio; every ratio has one."""

    PASS = "pass"  # noqa: S105 - an outcome
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    BELOW_SHARE = "below_share"  # a category of a smaller share than the smallest reference
    FEW_PEOPLE = "few_people"  # too few for a verdict
    SMALL_REFERENCE = "small_reference"  # too few people in the reference for a verdict
    NOT_COMPUTED = "not_computed"  # no counts, or nobody is selected


@dataclass(frozen=True, slots=True)
class FaultKind:
    """How often a kind of fault was found.

    Attributes
    ----------
    code, level : the kind, and whether it is an error or a note.
    faults, tables : how many there are, and in how many tables.
    """

    code: FaultCode
    level: Level
    faults: int
    tables: int


def decision_of(group: CheckedGroup) -> Decision | None:
    """Return what a limit comes to for the ratio of a category; None of a reference."""
    if group.is_reference:
        return None
    if group.verdict is None:
        return Decision.NOT_COMPUTED
    match group.verdict.outcome:
        case Outcome.PASS:
            return Decision.PASS
        case Outcome.FAIL:
            return Decision.FAIL
        case Outcome.INCONCLUSIVE:
            return Decision.INCONCLUSIVE
    reason = group.verdict.reason
    if reason is not None and reason.side == "reference":
        return Decision.SMALL_REFERENCE
    by_share = reason is not None and reason.get("share") is not None
    return Decision.BELOW_SHARE if by_share else Decision.FEW_PEOPLE


def decisions(tables: Iterable[CheckedTable]) -> Mapping[Decision, int]:
    """Return how many ratios of some tables have each decision; all decisions are listed."""
    counted = Counter(
        decision
        for table in tables
        for group in table.groups
        if (decision := decision_of(group)) is not None
    )
    return {decision: counted[decision] for decision in Decision}


def fault_kinds(tables: Iterable[CheckedTable]) -> tuple[FaultKind, ...]:
    """Return the kinds of faults of some tables, errors first and the most frequent of them."""
    codes = [[fault.code for fault in table.faults] for table in tables]
    faults = Counter(code for each in codes for code in each)
    affected = Counter(code for each in codes for code in set(each))
    levels = {fault.code: fault.level for table in tables for fault in table.faults}
    kinds = [FaultKind(code, levels[code], faults[code], affected[code]) for code in faults]
    return tuple(sorted(kinds, key=lambda kind: (kind.level is Level.NOTE, -kind.faults)))
