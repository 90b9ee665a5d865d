"""What a monitor came to: comparisons followed over periods, and the alarms they raised.

The health of a history is what its counts show of the feed that brings the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import takewhile
from typing import ClassVar

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Outcome
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Positive, Word
from fairgauge.results.scopes import Diagnostic, HasDefinition, StatedDoubt, Worded
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics, ShownResult
from fairgauge.start.records import dataclass
from fairgauge.values import Saved

IN_MEMORY = "counts"
"""What a history is called that is no folder: counts by period."""
SMALLEST_GROUP = 20
"""Rows below which a group's data are insufficient for a monitor, unless ``min_n`` is given."""
_MANY_HIDDEN, _FAR_MORE, _COINCIDENCE = 0.05, 3, 0.05
"""Nothing passes where rows are hidden in more than this share of the periods, or lately far more
periods are absent than usual: so many times as many."""
PERIODS_NOW = (7, 28)
"""The fewest and most periods after an alarm that state what is now, where there are so many."""

Detector = StrEnum("Detector", {"E_DETECTOR": "e-detector", "ASYMPTOTIC": "asymptotic e-detector"})
"""What raises the alarm of a comparison."""

MonitorState = StrEnum("MonitorState", {
    "ALARM": "alarm", "NO_ALARM": "no alarm", "INSUFFICIENT": "insufficient data",
    "UNDEFINED": "undefined", "WAITING": "waiting for labels",
})  # fmt: skip
"""What a monitored comparison came to."""


AfterAlarm = StrEnum("AfterAlarm", "OUTSIDE TOLERATED BOTH")
"""Where the confidence interval of the last periods after an alarm lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The counts that a rule holds the periods against, with exact limits of their contrast."""

    source: str
    digest: str
    value: float | None
    low: float
    high: float
    n_group: int
    n_reference: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One period of a monitored comparison.

    ``running``: the contrast of the running rates so far, with a 95% confidence sequence.
    ``evidence``: the detector's evidence after this period; None where the period waits for labels.
    ``sparse``: whether a side has fewer rows than the smallest group, or too few effective ones.
    ``waits``: whether the period waits for labels, so that it decides nothing yet.
    """

    period: str
    value: float | None
    low: float | None
    high: float | None
    rate_group: float | None
    rate_reference: float | None
    n_group: int
    n_reference: int
    evidence: Finite | None
    sparse: bool
    running: float | None = None
    running_low: float | None = None
    running_high: float | None = None
    reason: Reason | None = None
    waits: bool = False


def periods_without_value(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the periods without a value after the last one with one, less those that wait."""
    decided = (point for point in reversed(points) if not point.waits)
    return tuple(takewhile(lambda point: point.value is None, decided))[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledPeriods:
    """A comparison over several periods; without an interval where an alarm chose them."""

    first: str | None
    last: str | None
    value: float | None
    rate_group: float | None
    rate_reference: float | None
    n_group: int
    n_reference: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """An alarm: when it was raised, since when, by how much, and what is now.

    ``since``: the period with which the change most likely began; ``after`` is from there on.
    ``before``: the periods before, or the baseline; None where the alarm covers all periods.
    ``now``: the later half of the periods after the alarm (7 to 28), which it did not choose.
    ``currently``: where the confidence interval of ``now`` lies; None without an interval.
    """

    period: str
    since: str
    after: PooledPeriods
    before: PooledPeriods | None
    now: PooledPeriods | None = None
    currently: AfterAlarm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoredComparison(HasDefinition[Metric | Statistic]):
    """A rule for one group: what is tolerated, what happened in every period, and the alarm.

    ``class_``: the class that is held against all others; None of two outcomes, or of all classes.
    ``alpha, threshold``: the probability of a false alarm that is spent on it, and what alarms.
    ``low, high``: the tolerated values, open ends as infinities.
    ``lacks_baseline``: whether the baseline of the rule has no such group: no value can then alarm.
    ``open``: why it is not decided though its value is tolerated: rows that lack something.
    """

    DERIVED: ClassVar = ("evidence",)

    rule: str
    metric: str
    feature: str
    group: str
    reference: str
    class_: str | None = None
    detector: Detector
    alpha: Finite
    threshold: Positive
    low: float
    high: float
    baseline: Baseline | None
    points: tuple[Point, ...]
    state: MonitorState
    alarm: Alarm | None
    lacks_baseline: bool = False
    open: Reason | None = None

    @property
    def evidence(self) -> Finite | None:
        known = (each.evidence for each in reversed(self.points) if each.evidence is not None)
        return next(known, None)

    @property
    def nearness(self) -> float:
        """Return how near it is to an alarm, the nearest least."""
        return -(self.evidence or 0.0) / self.threshold

    @property
    def last(self) -> Point | None:
        decided = [point for point in self.points if not point.waits]
        return decided[-1] if decided and decided[-1].value is not None else None

    @property
    def undefined(self) -> tuple[Point, ...]:
        return periods_without_value(self.points)

    says = Worded("documents.monitored:describe_comparison")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRows:
    """The rows of a period, and the excluded ones by reason; ``start`` is in UTC, in ISO 8601."""

    period: str
    start: str
    rows: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    """What a rule is for and no comparison holds: nothing passes by absence.

    ``nearest`` is the nearest name of a group that no period has, without ``reason``.
    """

    rule: str
    group: str | None = None
    nearest: str | None = None
    feature: str | None = None
    reason: Reason | None = None


_GRAVEST_FIRST = (MonitorState.ALARM, MonitorState.INSUFFICIENT, MonitorState.UNDEFINED,
    MonitorState.WAITING, MonitorState.NO_ALARM)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReport(ResultOfMetrics):
    """What a monitor came to; `print` shows it, and `save` writes a dashboard.

    ``model``: the title of the specification's document, or the history's name.
    ``absent``: periods between the first and the last that the history does not hold.
    ``waiting, overdue``: periods that wait for labels, and whose labels are due and missing.
    ``horizon, alpha``: the promise: at most alpha for any false alarm in so many periods.
    ``comparisons``: every rule for every group; of two groups that mirror each other, one.
    ``unmatched``: what rules are for and no comparison holds, with which there is no pass.
    ``doubts``: those of all periods together, and of the last one what few rows show.
    ``inconclusive``: the outcome that what is neither an alarm nor decided counts as.
    """

    KIND: ClassVar = ResultKind(name="monitor", schema="fairgauge.monitor_report/4",
        title="Report of a monitor", called="the report of a monitor",
        page="fairgauge.statements.monitor:monitor_page")  # fmt: skip
    DERIVED: ClassVar = ("counted", "verdict", "metrics", "_statements")

    history: str
    model: str
    spec: Saved
    horizon: int
    alpha: Finite
    length: Word
    periods: tuple[str, ...]
    absent: tuple[str, ...]
    waiting: tuple[str, ...]
    overdue: tuple[str, ...] = ()
    rows: tuple[PeriodRows, ...] = ()
    findings: tuple[HistoryFinding, ...] = ()
    doubts: tuple[StatedDoubt, ...] = ()
    inconclusive: Outcome = Outcome.INCONCLUSIVE
    comparisons: tuple[MonitoredComparison, ...]
    unmatched: tuple[Unmatched, ...] = ()

    @property
    def alarms(self) -> tuple[MonitoredComparison, ...]:
        """Return the comparisons that alarmed: shifts that have passed last, by their evidence."""
        raised = [(each.alarm, each) for each in self.comparisons if each.alarm is not None]
        raised.sort(key=lambda of: (of[0].currently is AfterAlarm.TOLERATED, of[1].nearness))
        return tuple(each for _, each in raised)

    @property
    def gravest(self) -> tuple[MonitoredComparison, ...]:
        """Return alarms, then others by how near they are to one, insufficient data last."""
        lacking = MonitorState.INSUFFICIENT
        quiet = (comparison for comparison in self.comparisons if comparison.alarm is None)
        return (*self.alarms, *sorted(quiet, key=lambda e: (e.state is lacking, e.nearness)))

    def concerning(self, period: str) -> tuple[HistoryFinding, ...]:
        """Return what may be wrong with a period, or with labels that came or were due by it."""
        with_labels: tuple[str, ...] = (period,)
        label = self.spec["label"]
        if (within := self.spec["monitor"].get("labels_within")) and self.periods[-1] == period:
            counted = self.periods[: len(self.periods) - len(self.waiting)]
            with_labels = counted[max(len(self.periods) - 1 - within, 0) :]
        return tuple(e for e in self.findings if e.concerns(period)
            or (label and (e.column == label or e.problem is HistoryProblem.COPIED_LABEL)
                and any(map(e.concerns, with_labels))))  # fmt: skip

    @property
    def undefined(self) -> tuple[MonitoredComparison, ...]:
        return tuple(each for each in self.comparisons if each.undefined)

    @property
    def state(self) -> MonitorState:
        states = {comparison.state for comparison in self.comparisons}
        if self.unmatched or not states:
            states.add(MonitorState.INSUFFICIENT)
        return min(states, key=_GRAVEST_FIRST.index)

    @property
    def faults(self) -> tuple[HistoryFinding, ...]:
        """Return why nothing passes: rows that may be wrong in the last period, or twice in any.

        Also where rows of a group were lost or wrong in many periods, even if this has passed.
        """
        always = HistoryProblem.DOUBLED_ROWS, HistoryProblem.SAME_COUNTS
        last = self.concerning(self.periods[-1]) if self.periods else ()
        hidden = Counter(e.subject for e in self.findings if e.hides_rows
            for period in self.periods if e.concerns(period))  # fmt: skip
        most, gaps = _MANY_HIDDEN * len(self.periods), self._unusual_gaps
        return tuple(e for e in self.findings if e.problem in always or e in last
            or e.period > self.periods[-1]  # a gap from there to the period that was asked for
            or (e.problem is HistoryProblem.GAP and e.value)  # which may be misdated
            or e in gaps
            or (e.hides_rows and hidden[e.subject] > most))  # fmt: skip

    @property
    def _unusual_gaps(self) -> tuple[HistoryFinding, ...]:
        # Those among the last 7 periods, where two or more are absent, and far more than before; or
        # where the first periods show that all are expected, also four gaps among the last 28.
        gaps = [each for each in self.findings if each.problem is HistoryProblem.GAP]
        week, month = (
            [each for each in gaps if each.last > self.periods[-recent:][0]]
            for recent in PERIODS_NOW
        )
        of_week, of_all = (sum(each.rows or 0 for each in of) for of in (week, gaps))
        first = sum(period < gaps[0].period for period in self.periods) if gaps else 0
        share_later = of_all / max(len(self.periods) + of_all - first, 1)
        is_new = (1 - share_later) ** first < _COINCIDENCE
        before = 0 if is_new else of_all - of_week
        if of_week > max(_FAR_MORE * before * PERIODS_NOW[0] / max(len(self.periods), 1), 1):
            return tuple(week)
        return tuple(month) if is_new and len(month) > 3 else ()

    @property
    def verdict(self) -> Outcome:
        """Return fail with an alarm, pass where all is decided, inconclusive otherwise."""
        absent = bool(self.unmatched or self.faults) or not self.comparisons
        return self.outcome(self.state, absent=absent)

    def outcome(self, state: MonitorState, *, absent: bool = False) -> Outcome:
        """Return the outcome of a state; where what a rule is for is ``absent``, it is no pass."""
        decided = {MonitorState.ALARM: Outcome.FAIL, MonitorState.NO_ALARM: Outcome.PASS}
        outcome = decided.get(state, self.inconclusive)
        return Outcome.INCONCLUSIVE if absent and outcome is Outcome.PASS else outcome


HistoryProblem = StrEnum("HistoryProblem", {
    "GAP": "gap", "OVERDUE_LABELS": "overdue labels", "DOUBLED_ROWS": "doubled rows",
    "SAME_COUNTS": "same counts", "VOLUME": "volume", "NEW_VALUE": "new value",
    "SAME_NAMES": "same names", "VANISHED_VALUE": "vanished value", "ONE_VALUE": "one value",
    "MISSING_VALUES": "missing values", "OTHER_SCORES": "other scores",
    "COPIED_LABEL": "copied label", "DOUBTED_VALUE": "doubted value",
})  # fmt: skip
"""What may be wrong with the rows of a period."""
_HIDING = (
    HistoryProblem.VANISHED_VALUE, HistoryProblem.COPIED_LABEL, HistoryProblem.OTHER_SCORES,
    HistoryProblem.DOUBTED_VALUE,
)  # fmt: skip
_HIDING_MORE = (HistoryProblem.MISSING_VALUES, HistoryProblem.NEW_VALUE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFinding:
    """Something that may be wrong with one or several periods in a row.

    ``feature, group``: whose rows it is about, if not all.
    ``other``: what it is held against: another spelling or period, a baseline, an ``accept``.
    ``value``: also, before a gap, the first of a few periods that stand apart.
    ``rows, unit``: the rows of these periods, of the value if there is one; periods of a gap.
    ``share, expected``: the share, or the number of rows, and the usual one.
    ``doubt``: what an audit of these rows states, too.
    """

    problem: HistoryProblem
    period: str
    last: str
    column: str | None = None
    feature: str | None = None
    group: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    unit: str | None = None
    share: Finite | None = None
    expected: Finite | None = None
    doubt: Diagnostic | None = None

    @property
    def subject(self) -> tuple[str | None, ...]:
        """Return the column, the group and the value that it is about."""
        return self.column, self.feature, self.group, self.value

    @property
    def hides_rows(self) -> bool:
        """Return whether nobody knows how rows of it were decided, or rightly: not of more rows."""
        more = (self.share or 0.0) > (self.expected or 0.0)
        if self.problem is HistoryProblem.VOLUME:
            return self.value is not None and not more
        return self.problem in _HIDING or (more and self.problem in _HIDING_MORE)

    def concerns(self, period: str) -> bool:
        """Return whether it is about a period; overdue labels are from theirs on."""
        if self.problem is HistoryProblem.OVERDUE_LABELS:
            return self.period <= period
        return self.period <= period <= self.last or self.other == period

    says = Worded("documents.monitored:finding_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHealth(ShownResult):
    """What `fairgauge.monitor_doctor` found in a history; `print` shows it."""

    KIND: ClassVar = ResultKind(name="history_health", schema="fairgauge.history_health/2",
        title="Health of the history of a monitor", called="the health of a history",
        page="fairgauge.statements.monitor:history_page")  # fmt: skip

    history: str
    model: str
    periods: tuple[str, ...]
    findings: tuple[HistoryFinding, ...]

    @property
    def exit_code(self) -> int:
        """Return 1 where something may be wrong, 3 without a period, else 0."""
        return 1 if self.findings else 0 if self.periods else 3
