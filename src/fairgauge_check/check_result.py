"""The result of checking published tables, as frozen values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from fairgauge.plugins import (
    Finite,
    Inline,
    Interval,
    Key,
    Outcome,
    Parameter,
    Parameters,
    ResultKind,
    Share,
    ShownResult,
    Verdict,
    overall,
)


class FaultCode(StrEnum):
    """What is wrong; the parameters of each are named beside it."""

    IMPOSSIBLE = "impossible"  # column, printed
    RATE_MISMATCH = "rate_mismatch"  # printed, selected, n, share, per
    RATIO_MISMATCH = "ratio_mismatch"  # printed, ratio, reference
    REPEATED_CATEGORY = "repeated_category"  # other, rows
    SEVERAL_TABLES = "several_tables"  # times, other
    TOTAL_MISMATCH = "total_mismatch"  # column, printed, total, most, with_unknown
    TOTAL_NOT_CHECKED = "total_not_checked"  # columns
    MARGIN_MISMATCH = "margin_mismatch"  # column, printed, total, unknown, other
    RATIOS_NOT_CHECKED = "ratios_not_checked"  # categories
    REFERENCE_NOT_HIGHEST = "reference_not_highest"  # rate, highest, other, reference, harm
    RATIO_MISSING = "ratio_missing"  # n, share
    NUMBERS_MISSING = "numbers_missing"  # columns
    NOT_STATED = "not_stated"  # columns, printed
    COLUMNS_IGNORED = "columns_ignored"  # columns
    UNKNOWN_NOT_STATED = "unknown_not_stated"
    HARM_NOT_STATED = "harm_not_stated"  # column
    GROUPS_THAT_OVERLAP = "groups_that_overlap"  # values, parts
    RATES_WITH_COUNTS = "rates_with_counts"


ADVICE = (FaultCode.SEVERAL_TABLES, FaultCode.GROUPS_THAT_OVERLAP, FaultCode.RATES_WITH_COUNTS)
"""Of which nothing passes in a table, though nothing in it is wrong."""
# what may have a good reason: it is noted, and is no error
_NOTES = {
    FaultCode.TOTAL_NOT_CHECKED, FaultCode.RATIOS_NOT_CHECKED, FaultCode.NOT_STATED,
    FaultCode.COLUMNS_IGNORED, FaultCode.UNKNOWN_NOT_STATED, FaultCode.HARM_NOT_STATED, *ADVICE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a published table, or that a reader should know of it.

    ``row`` is the number and the name of the row, None where it is about the whole table;
    ``parameters`` are the names and values that the code calls for, sorted by name.
    """

    DERIVED: ClassVar = ("level",)

    code: FaultCode
    row: tuple[int, str] | None
    parameters: Parameters = ()

    @classmethod
    def of(cls, code: FaultCode, row: tuple[int, str] | None, **parameters: Parameter) -> Fault:
        return cls(code, row, tuple(sorted(parameters.items())))

    @property
    def level(self) -> Literal["error", "note"]:
        """Return whether it is an error of the table, or a note on it."""
        return "note" if self.code in _NOTES else "error"

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    @property
    def message(self) -> str:
        from fairgauge.plugins import stated

        return stated("fairgauge_check.check_page:fault_statement", str(self.code), self)


Finding: TypeAlias = "Fault | None"
"""What holding a printed number against others comes to: None where it agrees with them."""

# what is seen of a number by itself, or of one that could not be held against others
_ALONE = {FaultCode.IMPOSSIBLE, FaultCode.TOTAL_NOT_CHECKED, FaultCode.RATIOS_NOT_CHECKED}


def sort_findings(found: Iterable[Finding]) -> tuple[list[Fault], int]:
    """Return the faults, and how many numbers were compared."""
    every = [*found]
    faults = [each for each in every if each is not None]
    compared = every.count(None) + sum(fault.code not in _ALONE for fault in faults)
    return faults, compared


class Decision(StrEnum):
    """What is known of a ratio by a limit."""

    PASS = "pass"  # noqa: S105 - an outcome
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_EVALUATED = "not_evaluated"  # too few people in the category, or in the reference
    NOT_COMPUTED = "not_computed"  # no counts, or nobody is selected


@dataclass(frozen=True, slots=True)
class UnreadTable:
    """A file, or a table, line or column in it, that was not read, or not checked, and why.

    ``counts`` is whether the check is undecided by it; a file without a table is only listed.
    """

    source: str
    reason: str
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedGroup:
    """A category of a published table, computed again from its counts.

    ``printed`` is the printed ratio as it stands, ``ratio`` that to the reference, ``p_value`` of
    Fisher's exact test of equal rates. With a limit, ``interval`` allows for the choice of the
    reference by the data, and there are a ``verdict`` and a ``decision``, but of the reference.
    """

    name: str
    n: int | None
    selected: int | None
    rate: Finite | None
    printed: str | None
    ratio: float | None = None
    interval: Inline[Interval | None] = None
    p_value: Share | None = None
    is_reference: bool = False
    verdict: Verdict | None = None
    decision: Decision | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTable:
    """A published table that was checked.

    ``columns`` states which header was read as what; ``printed_reference`` is the category that
    printed ratios compare with, None where they do not show it; ``is_chosen`` whether the reference
    is named; ``unknown`` the people of unknown category, None where that is not stated;
    ``numbers_checked`` how many printed numbers were held against others that they follow from.
    """

    source: str | None
    name: str
    columns: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    printed_reference: str | None = None
    is_chosen: bool = False
    unknown: int | None = None
    numbers_checked: int
    groups: tuple[CheckedGroup, ...] = ()
    faults: tuple[Fault, ...]

    @property
    def people(self) -> int:
        """Return the people that shares are of, as far as their number is printed."""
        return sum(group.n or 0 for group in self.groups) + (self.unknown or 0)

    @property
    def leaves_open(self) -> bool:
        """Return whether a category has no verdict, though it may have people.

        A single one has none to be compared with, unless its ratio is printed.
        """
        if len(self.groups) == 1 and self.printed_reference is None:
            return self.groups[0].printed is not None
        return any(
            group.decision is Decision.NOT_COMPUTED and (group.n != 0 or group.rate)
            for group in self.groups
        )

    @property
    def counted(self) -> bool:
        """Return whether a ratio has an interval, which takes counts."""
        return any(group.interval is not None for group in self.groups)

    @property
    def errors(self) -> tuple[Fault, ...]:
        return tuple(fault for fault in self.faults if fault.level == "error")

    @property
    def withholds(self) -> bool:
        """Return whether nothing passes in it: of an error, a harm, or several tables in one."""
        doubts = (FaultCode.HARM_NOT_STATED, *ADVICE)
        return bool(self.errors) or any(fault.code in doubts for fault in self.faults)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check(ShownResult):
    """Published tables that were checked; `print` shows them.

    ``min_share`` and ``min_n`` are the smallest share and number of people of a reference,
    ``references`` the categories that were named, ``unread`` what was not read or not checked.
    ``limit`` is the least ratio, or the largest one where ``harm`` states that those selected are
    harmed.
    """

    KIND: ClassVar = ResultKind(
        name="check",
        schema="fairgauge.check/3",
        title="Published tables checked",
        called="a check of published tables",
        page="fairgauge_check.check_page:check_page",
        package="fairgauge_check",
    )
    DERIVED: ClassVar = (
        "errors", "verdict", "numbers_checked", "ratios_not_checked", "decisions", "_statements"
    )  # fmt: skip

    limit: Finite | None
    level: Annotated[Share, Key("confidence")]
    min_share: Share
    min_n: int
    references: tuple[str, ...]
    harm: bool | None
    unread: tuple[UnreadTable, ...] = ()
    tables: tuple[CheckedTable, ...]

    @property
    def errors(self) -> int:
        """Return how many errors all tables have."""
        return sum(len(table.errors) for table in self.tables)

    @property
    def numbers_checked(self) -> int:
        """Return how many printed numbers were held against others, in all tables."""
        return sum(table.numbers_checked for table in self.tables)

    @property
    def ratios_not_checked(self) -> int:
        """Return how many printed ratios were not held against others."""
        faults = (fault for table in self.tables for fault in table.faults)
        return sum(len(each["categories"]) for each in faults
                   if each.code is FaultCode.RATIOS_NOT_CHECKED)  # fmt: skip

    @property
    def decisions(self) -> Mapping[Decision, int]:
        """Return how many ratios pass the limit, fail it, or are undecided, if there is one."""
        found = Counter(group.decision for table in self.tables for group in table.groups)
        return {decision: found[decision] for decision in Decision}

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        groups = (group for table in self.tables for group in table.groups)
        return tuple(group.verdict for group in groups if group.verdict)

    @property
    def not_checked(self) -> int:
        """Return how much leaves the check undecided: ratios, and what was not read or checked."""
        return self.ratios_not_checked + sum(each.counts for each in self.unread)

    @property
    def verdict(self) -> Outcome:
        """Return what the limit comes to over all tables; none without a limit."""
        # what was not read or not checked, is wrong, or has no verdict may fail: nothing passes
        if self.limit is not None and not self.verdicts:
            return Outcome.INCONCLUSIVE
        found = overall(self.verdicts)
        undecided = self.not_checked or any(t.withholds or t.leaves_open for t in self.tables)
        return Outcome.INCONCLUSIVE if undecided and found is Outcome.PASS else found

    @property
    def exit_code(self) -> int:
        """Return 1 for an error in a table or a failed limit, 3 for what is undecided, else 0.

        Undecided is what was not read or checked, and without a limit also a check that found no
        printed number to check, or none in a table without counts.
        """
        if self.errors or self.verdict is Outcome.FAIL:
            return 1
        checked = self.numbers_checked and all(t.numbers_checked or t.counted for t in self.tables)
        unknown = self.not_checked or self.verdict is Outcome.INCONCLUSIVE
        return 3 if unknown or (self.limit is None and not checked) else 0
