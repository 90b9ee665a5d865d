"""The health of a history: what its counts show of the feed that brings the rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from fairgauge.results.codec import Finite, Version
from fairgauge.results.describers import in_words
from fairgauge.results.shown_result import ResultKind, ShownResult


class HistoryProblem(StrEnum):
    """What may be wrong with the rows of a period."""

    GAP = "gap"
    OVERDUE_LABELS = "overdue labels"
    DOUBLED_ROWS = "doubled rows"
    SAME_COUNTS = "same counts"
    SAME_AS_BASELINE = "same counts as the baseline"
    VOLUME = "volume"
    SPELLING = "spelling"
    NEW_VALUE = "new value"
    VANISHED_VALUE = "vanished value"
    NO_POSITIVE = "no positive value"
    MISSING_VALUES = "missing values"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFinding:
    """Something that may be wrong with one or several periods in a row.

    Attributes
    ----------
    problem : what.
    period, last : the first and the last of the periods.
    column, value : the column and its value that are meant, if there are such.
    other : what it is held against: another spelling, another period, the file of a baseline; of a
        gap, the period after it.
    rows : rows of all these periods, of the value where there is one; of a gap, absent periods.
    share, expected : of missing values, the share of the rows and the usual one. Of the volume and
        of a vanished value, ``expected`` is the usual number of rows; of doubled rows, how often
        each stands.
    """

    DERIVED: ClassVar = ("says",)

    problem: HistoryProblem
    period: str
    last: str
    column: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    share: Finite | None = None
    expected: Finite | None = None

    def concerns(self, period: str) -> bool:
        """Return whether it is about a period, which may be the other one of two.

        Labels that are due are missing in every period from theirs on.
        """
        if self.problem is HistoryProblem.OVERDUE_LABELS:
            return self.period <= period
        return self.period <= period <= self.last or self.other == period

    @property
    def says(self) -> str:
        """Return it as a sentence, with what to do."""
        return in_words("history_sentences:describe_history_finding", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHealth(ShownResult):
    """What `fairgauge.monitor_doctor` found in a history; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that made it, and when.
    history, model : where the counts are kept, and what is monitored.
    periods : the periods, in order.
    findings : what may be wrong, in the order of the periods.
    """

    KIND: ClassVar = ResultKind(
        name="history_health",
        schema="fairgauge.history_health/1",
        title="Health of the history of a monitor",
        called="the health of a history",
        document="fairgauge.render.documents.history_document:history_document",
        brief="fairgauge.render.brief.history_brief:history_brief",
        tables={"findings": "fairgauge.render.documents.history_document:findings_of"},
    )
    DERIVED: ClassVar = ("_brief",)

    version: Version
    created: str
    history: str
    model: str
    periods: tuple[str, ...]
    findings: tuple[HistoryFinding, ...]

    @property
    def exit_code(self) -> int:
        """Return 1 where something may be wrong, 3 without a period, else 0."""
        if self.findings:
            return 1
        return 0 if self.periods else 3

    def __repr__(self) -> str:
        return (
            f"<HistoryHealth of {len(self.periods):,} periods: {len(self.findings):,} findings; "
            "print() shows it>"
        )
