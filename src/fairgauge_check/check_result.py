"""The result of checking published tables, as frozen values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, TypeAlias, cast

from fairgauge.plugins import (
    Finite,
    Form,
    Inline,
    Interval,
    Json,
    Key,
    Outcome,
    Parameter,
    Plain,
    ResultKind,
    Saved,
    Share,
    ShownResult,
    Verdict,
    Version,
    overall,
    read_parameters,
    write_parameters,
)


class FaultCode(StrEnum):
    """What is wrong; the parameters of each are named beside it."""

    NOT_WHOLE = "not_whole"  # column, printed
    NEGATIVE = "negative"  # column, printed
    SELECTED_EXCEEDS_N = "selected_exceeds_n"  # selected, n
    PARTS_EXCEED_N = "parts_exceed_n"  # selected, not_selected, n, parts
    PARTS_BELOW_N = "parts_below_n"  # selected, not_selected, n, parts
    RATE_OUT_OF_RANGE = "rate_out_of_range"  # printed
    RATE_MISMATCH = "rate_mismatch"  # printed, selected, n, share, percent, of
    # of ratios of denials: of, beside the others of these and of what is not checked
    RATIO_MISMATCH = "ratio_mismatch"  # printed, ratio, reference
    REPEATED_CATEGORY = "repeated_category"  # other
    TOTAL_MISMATCH = "total_mismatch"  # column, printed, total, most, with_unknown
    TOTAL_RATE_MISMATCH = "total_rate_mismatch"  # printed, percent, rate
    TOTAL_NOT_CHECKED = "total_not_checked"  # columns
    MARGIN_MISMATCH = "margin_mismatch"  # column, printed, total, unknown, other
    RATIOS_NOT_CHECKED = "ratios_not_checked"  # categories
    NO_COMMON_REFERENCE = "no_common_reference"  # categories
    REFERENCE_NOT_HIGHEST = "reference_not_highest"  # rate, highest, other, reference
    REFERENCE_IS_CHOSEN = "reference_is_chosen"  # reference, highest, categories
    REFERENCE_IS_SMALL = "reference_is_small"  # n, share, other
    RATIO_MISSING = "ratio_missing"  # n, share
    RATIO_OF_UNKNOWN = "ratio_of_unknown"  # printed
    NUMBERS_MISSING = "numbers_missing"  # columns
    NOT_STATED = "not_stated"  # columns, printed
    COLUMNS_IGNORED = "columns_ignored"  # columns
    UNKNOWN_NOT_STATED = "unknown_not_stated"


class FaultLevel(StrEnum):
    """Whether a fault is an error of the table, or a note on it."""

    ERROR = "error"
    NOTE = "note"


_NOTES = {
    FaultCode.PARTS_BELOW_N, FaultCode.TOTAL_NOT_CHECKED, FaultCode.REFERENCE_IS_SMALL,
    FaultCode.REFERENCE_IS_CHOSEN,
    FaultCode.RATIOS_NOT_CHECKED, FaultCode.NOT_STATED, FaultCode.COLUMNS_IGNORED,
    FaultCode.UNKNOWN_NOT_STATED,
}  # fmt: skip
"""What may have a good reason: it is noted, and is no error."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a published table, or that a reader should know of it.

    Attributes
    ----------
    code : what it is.
    row : the number and the name of the row, None where it is about the whole table.
    parameters : the names and values that the code calls for, sorted by name.
    """

    code: FaultCode
    row: tuple[int, str] | None
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @classmethod
    def of(cls, code: FaultCode, row: tuple[int, str] | None, **parameters: Parameter) -> Fault:
        """Make a fault."""
        return cls(code, row, tuple(sorted(parameters.items())))

    @property
    def level(self) -> FaultLevel:
        """Return whether it is an error of the table or a note."""
        return FaultLevel.NOTE if self.code in _NOTES else FaultLevel.ERROR

    def __getitem__(self, name: str) -> Parameter:
        return dict(self.parameters)[name]

    @property
    def message(self) -> str:
        """Return the fault as a sentence."""
        from fairgauge.plugins import stated

        return stated("fairgauge_check.check_statements:fault_statement", str(self.code), self)


def _write_fault(fault: Fault) -> Plain:
    """Return a fault as an object: its parameters stand among the keys that all faults have."""
    return {
        "code": str(fault.code),
        "level": str(fault.level),
        "row": fault.row and fault.row[0],
        "category": fault.row and fault.row[1],
        **write_parameters(fault.parameters),
    }


def _read_fault(values: Saved) -> Fault:
    parameters = {name: value for name, value in values.items() if name not in _KEYS}
    row = None if values["row"] is None else (values["row"], values["category"])
    return Fault(FaultCode(values["code"]), row, read_parameters(parameters))


_KEYS: dict[str, Json] = {
    "code": {"enum": [str(code) for code in FaultCode]},
    "level": {"enum": [str(level) for level in FaultLevel]},
    "row": {"type": ["integer", "null"]},
    "category": {"type": ["string", "null"]},
}
"""The keys that all faults have, each with its schema; the others are the parameters."""
SavedFault = Annotated[
    Fault,
    Form(_write_fault, _read_fault, {"type": "object", "properties": _KEYS, "required": [*_KEYS]}),
]

Finding: TypeAlias = "Fault | None"
"""What holding a printed number against others comes to; None where it agrees with them."""

_PLAUSIBILITY = {
    FaultCode.NOT_WHOLE, FaultCode.NEGATIVE, FaultCode.SELECTED_EXCEEDS_N,
    FaultCode.RATE_OUT_OF_RANGE, FaultCode.TOTAL_NOT_CHECKED, FaultCode.RATIOS_NOT_CHECKED,
    FaultCode.RATIO_OF_UNKNOWN,
}  # fmt: skip
"""What is seen of a number by itself, or of one that could not be held against others."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The faults of a table, and how much was checked to find them.

    Attributes
    ----------
    faults : what is wrong, or to be known.
    numbers_checked : how many printed numbers were held against others that they follow from;
        without any, that there is no error means nothing.
    """

    faults: tuple[Fault, ...]
    numbers_checked: int

    @classmethod
    def of(cls, found: Iterable[Finding], *, others: Iterable[Fault] = ()) -> Findings:
        """Collect what comparisons of printed numbers came to, and faults of other kinds."""
        compared = list(found)
        faults = [each for each in compared if each is not None]
        plausibility = sum(fault.code in _PLAUSIBILITY for fault in faults)
        return cls((*faults, *others), len(compared) - plausibility)


class Decision(StrEnum):
    """What is known of a ratio by a limit."""

    PASS = "pass"  # noqa: S105 - an outcome
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_EVALUATED = "not_evaluated"  # too few people in the category, or in the reference
    NOT_COMPUTED = "not_computed"  # no counts, or nobody is selected


@dataclass(frozen=True, slots=True)
class SmallestReference:
    """How many people a category must have to be the reference of the ratios that are computed.

    Attributes
    ----------
    share : the smallest share of the people of all categories.
    people : the smallest number of people, which is that of every audit.
    """

    share: Annotated[Share, Key("min_share")]
    people: Annotated[int, Key("min_n")]

    def admits(self, n: float, total: float) -> bool:
        """Return whether a category of ``n`` of ``total`` people may be the reference."""
        return n >= self.people and n >= self.share * total


@dataclass(frozen=True, slots=True)
class UnreadTable:
    """A file of a folder, a table in it, or a line of any text that was not read.

    Attributes
    ----------
    source : the file, or "pasted text".
    reason : why, in one sentence without a full stop.
    counts : whether the check is undecided by it; a file that was read and holds no table is only
        listed.
    """

    source: str
    reason: str
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedGroup:
    """A category of a published table, computed again from its counts.

    Attributes
    ----------
    name : the category.
    n, selected, rate : the people, those selected, and their share; None where not printed.
    printed : the printed ratio as it stands, None without one.
    is_reference : whether ratios are computed to it.
    ratio, interval : the ratio to the reference, with its confidence interval as if the reference
        had been chosen before the data were seen.
    p_value : of Fisher's exact test of equal selection rates; None of the reference.
    possible : the smallest and the largest ratio wherever the people of unknown category belong;
        None without such people.
    verdict : what the limit comes to, by an interval that allows for the choice of the reference by
        the data; None without a limit, and of the reference.
    decision : what is known of the ratio, where there is a limit; None of the reference.
    """

    name: str
    n: int | None
    selected: int | None
    rate: Finite | None
    printed: str | None
    ratio: float | None = None
    interval: Inline[Interval | None] = None
    p_value: Share | None = None
    possible: tuple[float, float] | None = None
    is_reference: bool = False
    verdict: Verdict | None = None
    decision: Decision | None = None

    @property
    def deciding(self) -> Interval | None:
        """Return the interval by which the limit is decided, None without one."""
        return None if self.verdict is None else self.verdict.interval

    @property
    def shown_interval(self) -> Interval | None:
        """Return the interval that is shown: the one that decides, where there is a limit."""
        return self.deciding or self.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTable:
    """A published table that was checked.

    Attributes
    ----------
    source, name : the file, None of pasted text, and the name of the table in it.
    columns : which header was read as what.
    reference : the category that ratios are computed to; ``printed_reference`` the one of the
        printed ratios, None where they do not show it.
    is_chosen : whether the reference is named, or the one of printed ratios to a chosen group
        (AIR), so that intervals allow for no choice by the data.
    unknown : people of unknown category, None where the table does not state it.
    groups, faults : its categories, and what is wrong with it.
    numbers_checked : how many printed numbers were held against others that they follow from.
    """

    source: str | None
    name: str
    columns: Mapping[str, str]
    reference: str | None
    printed_reference: str | None
    is_chosen: bool
    unknown: int | None
    numbers_checked: int
    groups: tuple[CheckedGroup, ...]
    faults: tuple[SavedFault, ...]

    @property
    def people(self) -> int:
        """Return the people that shares are of, as far as their number is printed."""
        return sum(group.n or 0 for group in self.groups) + (self.unknown or 0)

    @property
    def leaves_open(self) -> bool:
        """Return whether a category has no verdict, though it may have people.

        A single one has none to be compared with, unless its ratio is printed. So is a table of a
        chosen group, some of whose verdicts would be others by the highest rate.
        """
        if any(fault.code is FaultCode.REFERENCE_IS_CHOSEN for fault in self.faults):
            return True
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
    def errors(self) -> tuple[SavedFault, ...]:
        """Return the faults that are errors."""
        return tuple(fault for fault in self.faults if fault.level is FaultLevel.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(ShownResult):
    """Published tables that were checked; `print` shows them.

    Attributes
    ----------
    version, created : which fairgauge checked them, and when.
    limit : the smallest ratio allowed, None where none was asked.
    level : the confidence level of intervals and verdicts.
    smallest_reference : how many people a category must have to be the reference.
    references : the categories that were named to compare with, empty for the highest rates.
    tables : the tables, in the order in which they were read.
    unread : what could not be read: files and tables of a folder.
    """

    KIND: ClassVar = ResultKind(
        name="check",
        schema="fairgauge.check/3",
        title="Published tables checked",
        called="a check of published tables",
        page="fairgauge_check.check_statements:check_page",
        package="fairgauge_check",
    )
    DERIVED: ClassVar = (
        "errors", "verdict", "numbers_checked", "ratios_not_checked", "decisions", "_brief"
    )  # fmt: skip

    version: Version
    created: str
    limit: Finite | None
    level: Annotated[Share, Key("confidence")]
    smallest_reference: Inline[SmallestReference]
    references: tuple[str, ...]
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
        """Return how many printed ratios, and rates not read, were not held against others."""
        faults = [fault for table in self.tables for fault in table.faults]
        unchecked = [each for each in faults if each.code is FaultCode.RATIOS_NOT_CHECKED]
        return sum(len(cast("tuple[str, ...]", each["categories"])) for each in unchecked)

    @property
    def decisions(self) -> Mapping[Decision, int]:
        """Return how many ratios pass the limit, fail it, or are undecided, if there is one."""
        groups = (group for table in self.tables for group in table.groups)
        return Counter(group.decision for group in groups if group.decision is not None)

    @property
    def counted(self) -> bool:
        """Return whether a table has counts from which ratios have intervals."""
        return any(table.counted for table in self.tables)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of all categories."""
        return tuple(
            group.verdict for table in self.tables for group in table.groups if group.verdict
        )

    @property
    def verdict(self) -> Outcome:
        """Return what the limit comes to over all tables; none without a limit.

        What was not read or not checked, or has no verdict, may fail, so that nothing passes beside
        it.
        """
        if self.limit is not None and not self.verdicts:
            return Outcome.INCONCLUSIVE
        found = overall(self.verdicts)
        unread = self.ratios_not_checked or any(each.counts for each in self.unread)
        undecided = unread or any(table.leaves_open for table in self.tables)
        return Outcome.INCONCLUSIVE if undecided and found is Outcome.PASS else found

    @property
    def exit_code(self) -> int:
        """Return 1 for an error in a table or a failed limit, 3 for what is undecided, else 0.

        What cannot be read is undecided, as is a printed ratio that cannot be checked; a file of a
        folder without a table is not. Undecided is a check without a limit, too, that found no
        printed number to check, or none in a table without counts.
        """
        if self.errors or self.verdict is Outcome.FAIL:
            return 1
        unread = self.ratios_not_checked or any(each.counts for each in self.unread)
        if self.limit is None and not (
            self.numbers_checked and all(t.numbers_checked or t.counted for t in self.tables)
        ):
            return 3
        return 3 if unread or self.verdict is Outcome.INCONCLUSIVE else 0

    def __repr__(self) -> str:
        return f"<Check of {len(self.tables)} tables: {self.errors} errors; print() shows it>"
