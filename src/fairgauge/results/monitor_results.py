"""What a monitor came to: comparisons followed over periods, and the alarms they raised.

The health of a history is what its counts show of the feed that brings the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any, ClassVar

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Outcome
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Version
from fairgauge.results.definitions import OfRow
from fairgauge.results.describers import function_at, in_words
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics, ShownResult
from fairgauge.results.verdicts import exit_code
from fairgauge.values import Saved

IN_MEMORY = "counts"
"""What a history is called that is no folder: counts by period."""

SMALLEST_GROUP = 20
"""Rows below which a group's data are insufficient for a monitor, unless ``min_n`` is given."""


PERIODS_NOW = (7, 28)
"""The fewest and most periods after an alarm that state what is now, where there are so many."""


class Detector(StrEnum):
    """What raises the alarm of a comparison."""

    E_DETECTOR = "e-detector"
    ASYMPTOTIC = "asymptotic e-detector"


class MonitorState(StrEnum):
    """What a monitored comparison came to."""

    ALARM = "alarm"
    NO_ALARM = "no alarm"
    INSUFFICIENT = "insufficient data"
    UNDEFINED = "undefined"
    WAITING = "waiting for labels"


class Currently(StrEnum):
    """Where the confidence interval of the last periods after an alarm lies."""

    OUTSIDE = "outside"
    TOLERATED = "tolerated"
    BOTH = "both"

    @classmethod
    def of(cls, now: PooledPeriods, tolerated: tuple[float, float]) -> Currently | None:
        """Return where an interval lies: whole outside, whole inside, or neither; None of none."""
        (least, most), low, high = tolerated, now.low, now.high
        if low is None or high is None:
            return None
        if high < least or low > most:
            return cls.OUTSIDE
        return cls.TOLERATED if least <= low and high <= most else cls.BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The counts that a rule holds the periods against, as they are for one comparison.

    Attributes
    ----------
    source, digest : the file that it was read from, and the fingerprint of its counts.
    value : the contrast in the baseline; None where it is undefined.
    low, high : its confidence limits, with an error of half the comparison's alpha.
    n_group, n_reference : the denominators.
    """

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

    Attributes
    ----------
    period : its name.
    value, low, high : the estimate with its 95% confidence interval, of this period alone.
    rate_group, rate_reference : the rates that are compared; None of metrics of other kinds.
    n_group, n_reference : the denominators of the rates.
    running, running_low, running_high : the contrast of the running rates of all periods so far,
        with its 95% confidence sequence: all of them contain their values together with a
        probability of 95%. None where the detector has no evidence.
    evidence : the detector's evidence after this period; None where the period waits for labels.
    sparse : whether a side has fewer rows than the smallest group, or too few effective rows or
        clusters.
    reason : why there is no value, or that effective rows or clusters are too few; else None.
    waits : whether the period waits for labels, so that it decides nothing yet.
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
    decided = [point for point in points if not point.waits]
    lacking = takewhile(lambda point: point.value is None, reversed(decided))
    return tuple(reversed(list(lacking)))


def lately_outside(each: MonitoredComparison) -> int:
    """Return how many of the last periods with a value have one that is not tolerated."""
    values = [point.value for point in each.points if not point.waits and point.value is not None]
    return sum(1 for _ in takewhile(lambda value: not each.low <= value <= each.high, values[::-1]))


FEWEST_PERIODS = 7
"""Periods from which on a group is expected in the next, and after which it is no longer."""


def is_gone(had: Sequence[bool], absent: int = FEWEST_PERIODS) -> bool:
    """Return whether a group that some periods had came late, was there for a few, and is gone.

    It is mostly a value that was misspelt, or written by mistake: nobody waits for it. Until it is
    ``absent`` from the last periods, it is a group like any other.
    """
    few = 0 < sum(had) < FEWEST_PERIODS
    return few and not had[0] and not any(had[-absent:])


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledPeriods:
    """A monitored comparison over several periods together.

    Attributes
    ----------
    first, last : the periods; those of the baseline have no name.
    value : the contrast.
    rate_group, rate_reference, n_group, n_reference : the rates and their denominators.
    low, high : its 95% confidence interval; None of periods that an alarm chose by their values,
        which overstate the change.
    """

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
class ChangeParts:
    """The change of the difference of two rates, in two terms that add up to it.

    Attributes
    ----------
    change : the difference of the rates since the change, less that before.
    composition : the part due to a different mix of strata (or of the groups of the reference).
    treatment : the part due to different rates within them.
    by : the columns whose mix is meant; empty where the counts hold none, so that everything is
        treatment as far as the counts show.
    """

    change: Finite
    composition: Finite
    treatment: Finite
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """An alarm: when it was raised, since when, by how much, why, and what is now.

    Attributes
    ----------
    period : the period whose counts raised it.
    since : the period with which the change most likely began.
    after : the periods from then to the one with which it most likely ended so far, together.
    before : the periods before, or the baseline; None where the alarm covers all periods.
    change : after less before, of the difference of the rates; None without a before.
    decomposition : composition and treatment; None without a before.
    now : the later half of the periods after the alarm, 7 to 28 of them where there are so many,
        which it did not choose; None where there is none yet.
    currently : where the confidence interval of ``now`` lies; None without an interval.
    """

    period: str
    since: str
    after: PooledPeriods
    before: PooledPeriods | None
    change: Finite | None = None
    decomposition: ChangeParts | None = None
    now: PooledPeriods | None = None
    currently: Currently | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoredComparison(OfRow[Metric | Statistic]):
    """A rule for one group: what is tolerated, what happened in every period, and the alarm.

    Attributes
    ----------
    rule : the rule as it is written.
    metric, feature, group, reference : what is compared.
    class_ : the class of several that is held against all others; None of two outcomes, and where
        all classes count together.
    detector : what raises the alarm; that of estimates is asymptotic, as their intervals are.
    alpha : the probability of a false alarm within the horizon that is spent on it.
    threshold : the evidence that raises the alarm.
    low, high : the tolerated values, open ends as infinities.
    baseline : the baseline that they are around, if they are.
    points : the periods.
    state, alarm : what it came to.
    lacks_baseline : whether the rule has a baseline without such a group: no value can then alarm.
    was_in : the periods with rows of a group, or of a class, that came late, for a few periods, and
        is gone, so that nobody waits for it; empty of all others.
    """

    DERIVED: ClassVar = ("evidence", "says")

    rule: str
    metric: str
    feature: str
    group: str
    reference: str
    class_: str | None = None
    detector: Detector
    alpha: Finite
    threshold: Finite
    low: float
    high: float
    baseline: Baseline | None
    points: tuple[Point, ...]
    state: MonitorState
    alarm: Alarm | None
    lacks_baseline: bool = False
    was_in: tuple[str, ...] = ()

    @property
    def evidence(self) -> Finite | None:
        """Return the evidence after the last period that has any."""
        known = (each.evidence for each in reversed(self.points) if each.evidence is not None)
        return next(known, None)

    @property
    def nearness(self) -> float:
        """Return how near it is to an alarm: the evidence as a part of the threshold."""
        return (self.evidence or 0.0) / self.threshold

    @property
    def is_sufficient(self) -> bool:
        """Return whether its data are sufficient."""
        return self.state is not MonitorState.INSUFFICIENT

    @property
    def last(self) -> Point | None:
        """Return the last period that decides, if it has a value."""
        decided = [point for point in self.points if not point.waits]
        return decided[-1] if decided and decided[-1].value is not None else None

    @property
    def undefined(self) -> tuple[Point, ...]:
        """Return the last periods that decide and have no value; none where the last has one."""
        return periods_without_value(self.points)

    @property
    def says(self) -> str:
        """Return what it came to as a sentence."""
        return in_words("monitor_sentences:describe_comparison", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRows:
    """The rows of a period.

    Attributes
    ----------
    period : its name.
    start : its first moment in UTC, in ISO 8601.
    rows : the rows read, excluded ones with them.
    excluded : excluded rows by reason; a row without a label is in the rates that need none.
    """

    period: str
    start: str
    rows: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    """What a rule is for and no comparison holds: nothing passes by absence.

    Attributes
    ----------
    rule : the rule as it is written.
    group : a group that it names; None of a whole feature, or of the rule.
    nearest : of a group that no period has, the nearest name that one has.
    feature : the feature; None where the rule names none, and where no period is considered.
    reason : why nothing is compared; None where no period has the group, or none is considered.
    """

    rule: str
    group: str | None = None
    nearest: str | None = None
    feature: str | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unconsidered:
    """The periods of a history of which none is considered.

    Attributes
    ----------
    first, last : the first and the last of them.
    start : the first period that counts, where some are before it.
    at : the last period to consider, where some are after it.
    """

    first: str
    last: str
    start: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseGroup:
    """A group that no rule names, with fewer rows in all periods than the smallest group.

    Attributes
    ----------
    feature, group : which group.
    rows : its rows so far, those that its rules need.
    first : the first period that has it.
    """

    feature: str
    group: str
    rows: int
    first: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestGroup:
    """The largest group of a feature as reference, chosen when monitoring began.

    Attributes
    ----------
    feature, group : which group.
    period : the period by whose numbers of rows it was chosen.
    """

    feature: str
    group: str
    period: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReport(ResultOfMetrics):
    """What a monitor came to; `print` shows it, and `save` writes a dashboard.

    Attributes
    ----------
    version, created : of the fairgauge that made it, and when.
    history : where the counts are kept.
    model : what is monitored: the title of the specification's document, or the history's name.
    spec : the question and the settings of the monitor.
    periods : the periods, in order.
    rows : the rows of every period, and those excluded.
    findings : what may be wrong with the rows of some periods, as `fairgauge.monitor_doctor` finds.
    absent : periods between the first and the last that the history does not hold.
    waiting : periods that the rules that need labels have not entered: the first has a row without
        its label, and the others may wait for their turn.
    unlabelled : periods with a row that lacks its label, where labels come later.
    overdue : those of them whose labels are due: rules that need labels then wait for them.
    labels_due : later periods with which labels are due, 0 where no run has seen one come after
        its rows; None where they never do, and where none has come yet.
    late_groups : groups that were not in the first period, each with its first.
    late_classes : classes of several that were not there when the groups of a feature were.
    horizon, alpha : the promise: at most alpha for at least one false alarm in so many periods.
    comparisons : every rule for every group; of two groups that are each compared with the other,
        one.
    unmatched : what rules are for and no comparison holds, as a group that no period has; with one
        there is no pass, whatever is undecided counts as.
    unconsidered : the periods of the history, where none of them is considered.
    sparse_groups : groups with insufficient data in all periods together, as of a stray value.
    largest_groups : the references, where the specification asks for the largest group.
    inconclusive : the outcome that what is neither an alarm nor decided counts as.
    own : the rates of the user's own, as far as they can be shown.
    """

    KIND: ClassVar = ResultKind(
        name="monitor",
        schema="fairgauge.monitor_report/4",
        title="Report of a monitor",
        called="the report of a monitor",
        page="fairgauge.statements.monitor:monitor_page",
    )
    DERIVED: ClassVar = ("verdict", "metrics", "_brief")

    version: Version
    created: str
    history: str
    model: str
    spec: Saved
    horizon: int
    alpha: Finite
    length: str
    periods: tuple[str, ...]
    absent: tuple[str, ...]
    waiting: tuple[str, ...]
    unlabelled: tuple[str, ...] = ()
    overdue: tuple[str, ...] = ()
    labels_due: int | None = None
    late_groups: tuple[tuple[str, str, str], ...]
    late_classes: tuple[tuple[str, str, str], ...] = ()
    rows: tuple[PeriodRows, ...] = ()
    findings: tuple[HistoryFinding, ...] = ()
    inconclusive: Outcome = Outcome.INCONCLUSIVE
    comparisons: tuple[MonitoredComparison, ...]
    unmatched: tuple[Unmatched, ...] = ()
    unconsidered: Unconsidered | None = None
    sparse_groups: tuple[SparseGroup, ...] = ()
    largest_groups: tuple[LargestGroup, ...] = ()

    @property
    def alarms(self) -> tuple[MonitoredComparison, ...]:
        """Return the comparisons that raised an alarm, the earliest first."""
        raised = [each for each in self.comparisons if each.alarm is not None]
        return tuple(sorted(raised, key=lambda each: each.alarm.period if each.alarm else ""))

    @property
    def gravest(self) -> tuple[MonitoredComparison, ...]:
        """Return the comparisons: those with an alarm, then by how near they are to one.

        Those with insufficient data are the last.
        """
        quiet = (comparison for comparison in self.comparisons if comparison.alarm is None)
        near = sorted(quiet, key=lambda each: (each.is_sufficient, each.nearness), reverse=True)
        return (*self.alarms, *near)

    def concerning(self, period: str) -> tuple[HistoryFinding, ...]:
        """Return what may be wrong with a period.

        Labels that are missing in part are looked at once they are due, which earlier periods are.
        """
        due, label = period, self.spec["label"]
        if self.labels_due and self.periods[-1:] == (period,):
            due = self.periods[max(len(self.periods) - 1 - self.labels_due, 0)]
        return tuple(
            each
            for each in self.findings
            if each.concerns(period) or (label and each.column == label and each.concerns(due))
        )

    @property
    def undefined(self) -> tuple[MonitoredComparison, ...]:
        """Return the comparisons without a value in the last period that decides."""
        return tuple(each for each in self.comparisons if each.undefined)

    @property
    def state(self) -> MonitorState:
        """Return what all comparisons together came to."""
        states = {comparison.state for comparison in self.comparisons}
        if MonitorState.ALARM in states:
            return MonitorState.ALARM
        undecided = self.unmatched or not states
        if MonitorState.INSUFFICIENT in states or undecided:
            return MonitorState.INSUFFICIENT
        if MonitorState.UNDEFINED in states:
            return MonitorState.UNDEFINED
        return MonitorState.WAITING if MonitorState.WAITING in states else MonitorState.NO_ALARM

    @property
    def faults(self) -> tuple[HistoryFinding, ...]:
        """Return why nothing passes: rows that may be wrong in the last period.

        Of others, rows that are there twice are in the evidence, and misdated ones are in none.
        """
        always = HistoryProblem.DOUBLED_ROWS, HistoryProblem.SAME_COUNTS, HistoryProblem.MISDATED
        last = self.concerning(self.periods[-1]) if self.periods else ()
        return tuple(e for e in self.findings if e.problem in always or e in last)

    @property
    def exit_code(self) -> int:
        """Return the exit code of a monitor: 1 an alarm, 3 none and something is undecided."""
        return exit_code(self.verdict)

    @property
    def verdict(self) -> Outcome:
        """Return fail with an alarm, pass where all is decided, inconclusive otherwise."""
        absent = bool(self.unmatched or self.faults) or not self.comparisons
        return self.outcome(self.state, absent=absent)

    def explore(self, history: object = None, *, exact: bool = False) -> Any:
        """Make a page that computes every view of all periods together, as `explore` does.

        Parameters
        ----------
        history : History, path or URL, or the counts by period, optional
            What the monitor was asked about; by default the history that the report names.
        exact : bool
            Whether the page may hold counts of fewer than ten persons, which people who have the
            file can read.

        Raises
        ------
        CubeError, DataError
            A page cannot hold the counts, or the history is not there.
        """
        explored = function_at("fairgauge.monitoring.monitor:explore_periods")
        return explored(self, history, exact=exact)

    def outcome(self, state: MonitorState, *, absent: bool = False) -> Outcome:
        """Return the outcome of a state, that of the report or of one of its comparisons.

        Where what a rule is for is ``absent``, it is no pass.
        """
        decided = {MonitorState.ALARM: Outcome.FAIL, MonitorState.NO_ALARM: Outcome.PASS}
        outcome = decided.get(state, self.inconclusive)
        return Outcome.INCONCLUSIVE if absent and outcome is Outcome.PASS else outcome

    def __repr__(self) -> str:
        return (
            f"<MonitorReport of {len(self.periods):,} periods: {len(self.alarms):,} alarms in "
            f"{len(self.comparisons):,} comparisons; print() shows it>"
        )


class HistoryProblem(StrEnum):
    """What may be wrong with the rows of a period."""

    GAP = "gap"
    MISDATED = "misdated period"
    OVERDUE_LABELS = "overdue labels"
    DOUBLED_ROWS = "doubled rows"
    SAME_COUNTS = "same counts"
    VOLUME = "volume"
    NEW_VALUE = "new value"
    VANISHED_VALUE = "vanished value"
    ONE_VALUE = "one value"
    MISSING_VALUES = "missing values"
    OTHER_SCORES = "other scores"
    COPIED_LABEL = "copied label"
    DOUBTED_VALUE = "doubted value"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFinding:
    """Something that may be wrong with one or several periods in a row.

    Attributes
    ----------
    problem : what.
    period, last : the first and the last of the periods.
    column, value : the column and its value that are meant, if there are such.
    other : what it is held against: another spelling, another period, the file of a baseline; of a
        gap, the period after it; of values that are missing in one group, ``value``, its feature;
        of a doubted value, what ``accept`` closes it by;
        of labels that rows of one ``decision`` lack, the column of the decisions.
    decision : the decision whose rows lack labels, positive or negative.
    rows : rows of all these periods, of the value where there is one; of a gap, and before a
        misdated period, absent periods.
    unit : what ``rows`` are where they are not rows: cases of a count, or people.
    share, expected : of missing values and of a group, the share of the rows and the usual one; of
        labels of one decision, the share of rows of the other one that lack theirs; of a copied
        label, the share of rows in which the prediction equals it, and that of independent ones,
        or 1 where it is a copy; of other scores, the share outside the usual range, or the share of
        usual rows inside theirs. Of the volume of all rows and of a vanished value, ``expected`` is
        the usual number of rows; of doubled rows, how often each stands.
    """

    DERIVED: ClassVar = ("says",)

    problem: HistoryProblem
    period: str
    last: str
    column: str | None = None
    value: str | None = None
    other: str | None = None
    decision: str | None = None
    rows: int | None = None
    unit: str | None = None
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
        text: str = function_at("fairgauge.render.documents.monitored:finding_text")(self)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHealth(ShownResult):
    """What `fairgauge.monitor_doctor` found in a history; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that made it, and when.
    history, model : where the counts are kept, and what is monitored.
    periods : the periods, in order.
    findings : what may be wrong, in the order of the periods.
    unconsidered : the periods of the history, where none of them is considered.
    """

    KIND: ClassVar = ResultKind(
        name="history_health",
        schema="fairgauge.history_health/2",
        title="Health of the history of a monitor",
        called="the health of a history",
        page="fairgauge.statements.monitor:history_page",
    )
    DERIVED: ClassVar = ("_brief",)

    version: Version
    created: str
    history: str
    model: str
    periods: tuple[str, ...]
    findings: tuple[HistoryFinding, ...]
    unconsidered: Unconsidered | None = None

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
