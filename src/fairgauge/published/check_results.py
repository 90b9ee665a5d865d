"""The result of checking published tables, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.enums import Level, Outcome, RateTest
from fairgauge.published.check_summary import decision_of, decisions, fault_kinds
from fairgauge.published.faults import Fault, FaultCode
from fairgauge.published.smallest_reference import SmallestReference
from fairgauge.published.sources import UnreadTable
from fairgauge.results.plain_values import (
    number,
    plain,
    plain_interval,
    plain_verdict,
    read_interval,
    read_verdict,
    reading,
)
from fairgauge.results.shown_result import ShownResult
from fairgauge.results.verdicts import overall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairgauge.published.check_summary import Decision, FaultKind
    from fairgauge.results.plain_values import Plain
    from fairgauge.results.scopes import Interval
    from fairgauge.results.verdicts import Verdict
    from fairgauge.values import Saved

SCHEMA = "fairgauge.check/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedGroup:
    """A category of a published table, computed again from its counts.

    Attributes
    ----------
    name : the category.
    n, selected, rate : the people, those selected, and their share; None where not printed.
    selected_range : the least and the greatest number of selected people that agree with the
        printed rate; None where their number is printed, or nothing is known of it. The interval,
        the p-value (the largest) and the verdict then hold for all numbers in between.
    printed : the printed ratio as it stands, None without one.
    is_reference : whether ratios are computed to it.
    ratio, interval : the ratio to the reference, with its confidence interval as if the reference
        had been chosen before the data were seen.
    p_value : of the test of equal selection rates; None of the reference.
    flips : whether one more selection here and one fewer in the reference would make this the
        higher rate; None where the ratio is 1 or more, or the counts do not decide it.
    possible : the smallest and the largest ratio to the highest rate over everything that is not
        printed: the category of unknown people, and selected people of whom only the rate is
        printed; None where the counts are known.
    verdict : what the limit comes to, by an interval that allows for the choice of the reference by
        the data; None without a limit, and of the reference.
    """

    name: str
    n: int | None
    selected: int | None
    rate: float | None
    printed: str | None
    selected_range: tuple[int, int] | None = None
    is_reference: bool = False
    ratio: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    flips: bool | None = None
    possible: tuple[float, float] | None = None
    verdict: Verdict | None = None

    @property
    def deciding(self) -> Interval | None:
        """Return the interval by which the limit is decided, None without one."""
        return None if self.verdict is None else self.verdict.interval


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeReference:
    """Another category that a rule could name as the reference.

    Attributes
    ----------
    name : the category.
    same_rate : whether its selection rate is that of the reference.
    changes : the categories whose verdict would be another one of pass, fail and inconclusive.
    not_evaluated : those that would have no verdict, because too few people are in this category.
    """

    name: str
    same_rate: bool
    changes: tuple[str, ...]
    not_evaluated: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTable:
    """A published table that was checked.

    Attributes
    ----------
    source, name : the file, None of pasted text, and the name of the table in it.
    columns : which header was read as what.
    reference : the category that ratios are computed to; ``printed_reference`` the one of the
        printed ratios, None where they do not show it.
    other_reference : another category that a rule could name as the reference.
    unknown : people of unknown category, None where the table does not state it.
    groups, faults : its categories, and what is wrong with it.
    numbers_checked : how many printed numbers were held against others that they follow from.
    """

    source: str | None
    name: str
    columns: tuple[tuple[str, str], ...]
    reference: str | None
    printed_reference: str | None
    other_reference: AlternativeReference | None
    unknown: int | None
    groups: tuple[CheckedGroup, ...]
    faults: tuple[Fault, ...]
    numbers_checked: int

    @property
    def errors(self) -> tuple[Fault, ...]:
        """Return the faults that are errors."""
        return tuple(fault for fault in self.faults if fault.level is Level.WARNING)

    @property
    def ratios(self) -> int:
        """Return how many categories are compared with the reference."""
        return sum(not group.is_reference for group in self.groups)

    @property
    def decisions(self) -> Mapping[Decision, int]:
        """Return how many of its ratios pass the limit, fail it, or are undecided, and why."""
        return decisions([self])


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
    test : the test of equal selection rates that p-values are of.
    tables : the tables, in the order in which they were read.
    unread : what could not be read in a folder.
    """

    version: str
    created: str
    limit: float | None
    level: float
    smallest_reference: SmallestReference
    references: tuple[str, ...]
    test: RateTest
    tables: tuple[CheckedTable, ...]
    unread: tuple[UnreadTable, ...] = ()

    @property
    def errors(self) -> int:
        """Return how many errors all tables have."""
        return sum(len(table.errors) for table in self.tables)

    @property
    def exit_code(self) -> int:
        """Return 1 for an error in a table or a failed limit, 3 for what is undecided, else 0.

        A file or table of a folder that cannot be read is undecided; a file without a table is not.
        Undecided is a check without a limit, too, that found no printed number to check.
        """
        if self.errors or self.verdict is Outcome.FAIL:
            return 1
        unread = any(each.counts for each in self.unread)
        if self.limit is None and not self.numbers_checked:
            return 3
        return 3 if unread or self.verdict is Outcome.INCONCLUSIVE else 0

    @property
    def numbers_checked(self) -> int:
        """Return how many printed numbers were held against others, in all tables."""
        return sum(table.numbers_checked for table in self.tables)

    @property
    def decisions(self) -> Mapping[Decision, int]:
        """Return how many ratios pass the limit, fail it, or are undecided, and why."""
        return decisions(self.tables)

    @property
    def fault_kinds(self) -> tuple[FaultKind, ...]:
        """Return the kinds of faults of all tables, errors first and the most frequent of them."""
        return fault_kinds(self.tables)

    @property
    def counted(self) -> bool:
        """Return whether a table has counts from which ratios have intervals."""
        return any(group.interval is not None for table in self.tables for group in table.groups)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of all categories."""
        return tuple(
            group.verdict for table in self.tables for group in table.groups if group.verdict
        )

    @property
    def verdict(self) -> Outcome:
        """Return what the limit comes to over all tables; none without a limit."""
        if self.limit is not None and not self.verdicts:
            return Outcome.INCONCLUSIVE
        return overall(self.verdicts)

    def to_dict(self) -> Plain:
        """Return the check as plain values, in the order and names of its JSON."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "fairgauge", "version": self.version},
            "created": self.created,
            "limit": self.limit,
            "confidence": self.level,
            "min_share": self.smallest_reference.share,
            "min_n": self.smallest_reference.people,
            "references": list(self.references),
            "test": str(self.test),
            "errors": self.errors,
            "verdict": str(self.verdict),
            "numbers_checked": self.numbers_checked,
            "summary": {
                "ratios": sum(table.ratios for table in self.tables),
                "decisions": _plain_decisions(self.decisions, self.limit),
                "faults": [
                    {
                        "code": str(kind.code),
                        "level": str(kind.level),
                        "faults": kind.faults,
                        "tables": kind.tables,
                    }
                    for kind in self.fault_kinds
                ],
            },
            "unread": [
                {"source": each.source, "reason": each.reason, "counts": each.counts}
                for each in self.unread
            ],
            "tables": [_plain_table(table, self.limit) for table in self.tables],
        }

    @classmethod
    def from_dict(cls, values: Saved) -> Check:
        """Read what `to_dict` wrote.

        Raises
        ------
        FairgaugeError
            The values are no check of published tables.
        """
        with reading("a check of published tables"):
            return cls._read(values)

    @classmethod
    def _read(cls, values: Saved) -> Check:
        return cls(
            version=values["tool"]["version"],
            created=values["created"],
            limit=values["limit"],
            level=values["confidence"],
            smallest_reference=SmallestReference(values["min_share"], values["min_n"]),
            references=tuple(values["references"]),
            test=RateTest(values["test"]),
            tables=tuple(map(_read_table, values["tables"])),
            unread=tuple(UnreadTable(**each) for each in values["unread"]),
        )

    def __repr__(self) -> str:
        return f"<Check of {len(self.tables)} tables: {self.errors} errors; print() shows it>"


def _plain_decisions(counted: Mapping[Decision, int], limit: float | None) -> Plain | None:
    if limit is None:
        return None
    return {str(decision): number for decision, number in counted.items()}


def _plain_table(table: CheckedTable, limit: float | None) -> Plain:
    other = table.other_reference
    return {
        "source": table.source,
        "name": table.name,
        "columns": dict(table.columns),
        "reference": table.reference,
        "printed_reference": table.printed_reference,
        "other_reference": None if other is None else _plain_other(other),
        "unknown": table.unknown,
        "numbers_checked": table.numbers_checked,
        "ratios": table.ratios,
        "decisions": _plain_decisions(table.decisions, limit),
        "groups": [_plain_group(group, limit) for group in table.groups],
        "faults": [_plain_fault(fault) for fault in table.faults],
    }


def _plain_other(other: AlternativeReference) -> Plain:
    return {
        "category": other.name,
        "same_rate": other.same_rate,
        "changes": list(other.changes),
        "not_evaluated": list(other.not_evaluated),
    }


def _plain_group(group: CheckedGroup, limit: float | None) -> Plain:
    own = ("name", "n", "selected", "rate", "printed", "ratio")
    return {
        **{name: plain(getattr(group, name)) for name in own},
        "selected_range": None if group.selected_range is None else list(group.selected_range),
        **plain_interval(group.interval),
        "p_value": group.p_value,
        "flips": group.flips,
        "possible": plain(group.possible),
        "is_reference": group.is_reference,
        "decision": plain(decision_of(group)) if limit is not None else None,
        "verdict": None if group.verdict is None else plain_verdict(group.verdict),
    }


def _plain_fault(fault: Fault) -> Plain:
    return {
        "code": str(fault.code),
        "level": str(fault.level),
        "row": fault.row and fault.row[0],
        "category": fault.row and fault.row[1],
        **{name: plain(value) for name, value in fault.parameters},
        "message": fault.message,
    }


_OF_EVERY_FAULT = {"code", "level", "row", "category", "message"}
"""The keys of a fault beside its parameters."""


def _read_table(values: Saved) -> CheckedTable:
    other = values["other_reference"]
    return CheckedTable(
        source=values["source"],
        name=values["name"],
        columns=tuple(values["columns"].items()),
        reference=values["reference"],
        printed_reference=values["printed_reference"],
        other_reference=None if other is None else _read_other(other),
        unknown=values["unknown"],
        numbers_checked=values["numbers_checked"],
        groups=tuple(map(_read_group, values["groups"])),
        faults=tuple(_read_fault(each, values["name"]) for each in values["faults"]),
    )


def _read_other(values: Saved) -> AlternativeReference:
    return AlternativeReference(
        name=values["category"],
        same_rate=values["same_rate"],
        changes=tuple(values["changes"]),
        not_evaluated=tuple(values["not_evaluated"]),
    )


def _read_group(values: Saved) -> CheckedGroup:
    possible, verdict, selected = values["possible"], values["verdict"], values["selected_range"]
    own = ("name", "n", "selected", "rate", "printed", "p_value", "flips", "is_reference")
    return CheckedGroup(
        interval=read_interval(values),
        selected_range=None if selected is None else (selected[0], selected[1]),
        possible=None if possible is None else (number(possible[0]), number(possible[1])),
        verdict=None if verdict is None else read_verdict(verdict),
        ratio=number(values["ratio"]),
        **{name: values[name] for name in own},
    )


def _read_fault(values: Saved, table: str) -> Fault:
    parameters = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name not in _OF_EVERY_FAULT
    }
    row = None if values["row"] is None else (values["row"], values["category"])
    return Fault.of(FaultCode(values["code"]), table, row, **parameters)
