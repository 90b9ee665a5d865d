"""`monitor`: what the counts of many periods come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from fairgauge.api.exploring import Exploration, explore
from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.catalogue.facts import described
from fairgauge.checks.open_doubts import open_doubts, with_accepted
from fairgauge.checks.rows import OF_VALUES, likely_mistakes
from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, Level, Outcome, ReferenceRule
from fairgauge.errors import CubeError, DataError, SpecError, cells, quote, refuse
from fairgauge.monitoring._comparison_counts import (
    exact_rates,
    largest_groups,
    refuse_unfit,
    with_references,
)
from fairgauge.monitoring._comparisons import Followed, follow
from fairgauge.monitoring._detection import key_of, read_fold, write_fold
from fairgauge.monitoring._estimates import ALL_GROUPS
from fairgauge.monitoring._feed_checks import Feed, check_feed, labels_of_one_decision
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring._period_rows import fingerprint, rows_of_periods
from fairgauge.monitoring._period_values import check_recoded, check_values
from fairgauge.monitoring._unmatched_rules import unmatched
from fairgauge.monitoring.history import NEW_HISTORY, History
from fairgauge.monitoring.monitor_spec import (
    Labels,
    MonitorSpec,
    contrasted_rate,
    read_monitor_spec,
)
from fairgauge.monitoring.periods import Period, gaps, last_within, misdated, ordinal, parse_period
from fairgauge.question.options import Options
from fairgauge.question.spec_file import Config
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import idle_recodings
from fairgauge.resolve.resolution import absent_exclusions
from fairgauge.results.monitor_results import (
    IN_MEMORY,
    HistoryFinding,
    HistoryHealth,
    HistoryProblem,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
    SparseGroup,
    Unconsidered,
)
from fairgauge.results.shown_result import made_now
from fairgauge.values import name_of


def monitor(
    history: History | str | Path | Mapping[str, Cube],
    config: MonitorSpec | Config = None,
    *,
    at: str | None = None,
    **options: Unpack[Options],
) -> MonitorReport:
    """Follow a model over time, with a stated probability of a false alarm.

    The counts of all periods are folded into evidence that a difference or ratio has left its
    tolerated range. The probability that any rule for any group raises an alarm within the
    horizon, where all of them keep within it, is at most ``alpha``, whatever the sizes of the
    batches and however the rates drift inside the range.

    What it saw of all periods is kept in the history for the next time, as `fairgauge monitor run`
    does; ``history.draft()`` in its place keeps nothing, as for another specification to look at.

    Parameters
    ----------
    history : History, str, Path or mapping
        A folder or URL, or the cubes themselves by the names of their periods.
    config : str, Path or mapping, optional
        A specification file with a table ``[monitor]``, or its keys; the default is what the
        history was last asked. See docs/monitoring.md.
    at : str, optional
        The last period to consider; the default is all. Of a longer period, such as a month of
        days, all are considered. Where the history ends before it, the periods up to it are a gap.
    **options
        The options of `fairgauge.audit` that override the specification, such as ``rules`` and
        ``min_n``. A monitor decides by ``alpha`` (of the table ``[monitor]``), not by
        ``confidence`` and ``multiplicity``.

    Returns
    -------
    MonitorReport
        The comparisons with their periods and alarms; ``.alarms`` are those that alarmed.

    Raises
    ------
    SpecError
        The specification is wrong.
    DataError, CubeError
        The history cannot be read or has no specification, or its cubes count different things.

    Examples
    --------
    >>> import fairgauge as fg
    >>> def day(selected):
    ...     women = {"tp": selected, "fn": 100 - selected}
    ...     return fg.confusion("sex", {"F": women, "M": {"tp": 80, "fn": 120}})
    >>> days = {f"2026-11-{d:02d}": day(40 if d < 12 else 15) for d in range(1, 25)}
    >>> rule = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "F"}
    >>> question = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
    >>> report = fg.monitor(days, question | {"monitor": {"rules": [rule]}})
    >>> [(each.group, each.alarm.since, each.alarm.period) for each in report.alarms]
    [('F', '2026-11-12', '2026-11-16')]
    """
    held = _held(history)
    asked = _asked(held, config, options)
    until = None if at is None else parse_period(at)
    every = held.periods
    if until is not None and every:
        until = last_within(until, every[0].length)
    periods = [
        p for p in every
        if (until is None or p <= until) and (asked.start is None or p.start >= asked.start.start)
    ]  # fmt: skip
    misspelt = misdated(periods)
    periods = periods[:-1] if misspelt else periods
    cubes = held.cubes(periods)
    if cubes and asked.question.task is None:  # as the first rows showed it when they were counted
        asked = replace(asked, question=replace(asked.question, task=cubes[0].plan.asked.task))
    kept, wants_largest = held.kept, asked.question.reference is ReferenceRule.LARGEST
    chosen = kept.largest_groups(asked.start) if kept is not None and wants_largest else ()
    folded = read_fold(None if kept is None else kept.fold, asked, chosen, cubes.texts)
    _check_alike(held, periods, cubes, asked, 0 if folded is None else folded.periods)
    _check_exclusions(cubes, asked)
    names = [str(period) for period in periods]
    resolved, largest = asked, chosen
    if cubes:
        question = replace(asked.question, task=decide_task(cubes[0], asked.question))
        largest = largest_groups(question, names, cubes, chosen)
        resolved = replace(asked, question=with_references(question, largest))
    followed = follow(names, cubes, resolved, folded, kept, keep=at is None)
    fold, comparisons = followed.fold, followed.comparisons
    feed = _feed(asked, periods, followed, {} if kept is None else kept.repeated, until)
    findings = [*check_feed(feed)]
    if misspelt is not None:
        findings.append(_misdated(periods[-1], misspelt))
    entered = len(names) - len(followed.waiting) * (feed.later and feed.due is not None)
    if selective := labels_of_one_decision(feed, entered):
        findings.append(selective)
        comparisons = _withheld(comparisons, selective)
    spelt = str(DiagnosticCode.SAME_NAMES)
    findings = [
        each
        for each in findings
        if each.problem is not HistoryProblem.NEW_VALUE
        or each.other is None  # which states the value that it is spelt like
        or {spelt, f"{spelt}:{each.column}"}.isdisjoint(asked.question.accept)
    ]
    if cubes:
        findings += _doubted_values(names[-1], cubes, resolved.question, comparisons)
    # of rows without a weight or a count nobody knows how many people or cases they are
    unit, of_rows = asked.question.unit.get("unit"), (asked.question.weight, asked.question.count)
    findings = [
        each
        if each.problem is HistoryProblem.GAP or (each.column or "") in of_rows
        else replace(each, unit=unit)
        for each in findings
    ]
    if at is None and kept is not None:
        if largest != chosen:
            kept.keep_largest_groups(asked.start, largest)
        if fold is not None:
            kept.keep_fold(write_fold(fold, key_of(asked, largest, cubes.texts)))
    return MonitorReport(
        **made_now(),
        history=held.name,
        model=asked.question.document.title or _last_part(held.name),
        spec=asked.to_dict(),
        periods=tuple(names),
        absent=tuple(str(each) for each in gaps(periods)),
        waiting=followed.waiting,
        unlabelled=followed.unlabelled,
        overdue=followed.overdue,
        labels_due=followed.due,
        late_groups=followed.late,
        late_classes=followed.late_classes,
        horizon=asked.horizon,
        alpha=asked.alpha,
        length=str(periods[0].length) if periods else "period",
        comparisons=comparisons,
        own=tuple(map(described, asked.catalogue.own)),
        rows=tuple(rows_of_periods(periods, followed.rows)),
        findings=tuple(findings),
        unmatched=tuple(unmatched(resolved, comparisons, cubes)),
        unconsidered=None if periods else _unconsidered(every, asked.start, until),
        sparse_groups=_sparse_groups(asked, comparisons),
        largest_groups=largest,
        inconclusive=Outcome(asked.question.inconclusive or Outcome.INCONCLUSIVE),
    )


def explore_periods(
    report: MonitorReport,
    history: History | str | Path | Mapping[str, Cube] | None = None,
    *,
    exact: bool = False,
) -> Exploration:
    """Make the page of the counts of all periods of a report together, as `explore` does."""
    if not report.periods:
        raise DataError(f"the history {quote(report.history)} has no period to explore")
    held = _held(report.history if history is None else history)
    counts = held.cubes([parse_period(name) for name in report.periods])
    return explore(counts.together(range(len(report.periods))), exact=exact)


class _Cubes:
    """Cubes at hand, as a history."""

    name = IN_MEMORY
    imported = ()
    spec = None
    kept = None

    def __init__(self, cubes: Mapping[str, Cube]) -> None:
        self._cubes = {parse_period(name): cube for name, cube in cubes.items()}
        if len({each.length for each in self._cubes}) > 1:
            raise DataError("the periods are of different lengths; monitor each length alone")
        self.periods = sorted(self._cubes)

    def cubes(self, periods: Sequence[Period]) -> PeriodCubes:
        """Return the counts of several periods."""
        return PeriodCubes(periods, [""] * len(periods), lambda period, _: self._cubes[period])


def _held(history: History | str | Path | Mapping[str, Cube]) -> History | _Cubes:
    if isinstance(history, Mapping):
        return _Cubes(history)
    return history if isinstance(history, History) else History(history)


def _asked(held: History | _Cubes, config: MonitorSpec | Config, options: Options) -> MonitorSpec:
    spec = config if config is not None else held.spec
    if spec is None and options:
        spec = {}  # the options are all that is asked
    if spec is None:
        raise no_specification(held)
    return read_monitor_spec(spec, options=options)


def no_specification(held: History | _Cubes) -> DataError:
    """Return the error of a history that was never asked anything, or that is not there."""
    if held.periods:
        what = f"the history {quote(held.name)} has no specification yet; give one (-c FILE)"
    else:
        what = (
            f"there is no history {quote(held.name)}; fairgauge monitor run begins one with a "
            "specification (-c FILE)"
        )
    return DataError(what)


def _last_part(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or name


def _check_alike(
    held: History | _Cubes,
    periods: Sequence[Period],
    cubes: Sequence[Cube],
    asked: MonitorSpec,
    checked: int,
) -> None:
    """Refuse cubes that count different things, or not what is asked, or that are a baseline.

    The first cubes may have been ``checked`` when they were folded.
    """
    from fairgauge.cube.plan import plan

    new = list(zip(periods[checked:], cubes[checked:], strict=True))
    for period, cube in new:
        refuse_unfit(cube)
        if cubes[0].plan != cube.plan:
            difference = cubes[0].plan.difference(cube.plan)
            raise CubeError(
                f"the counts of {period} and those of {periods[0]} in {quote(held.name)} answer "
                f"different questions: {difference} ({periods[0]} first); "
                f"{NEW_HISTORY}"
            )
    if cubes:
        difference = plan(asked.question).difference(cubes[0].plan)
        if difference:
            raise CubeError(
                f"the specification and the counts in {quote(held.name)} are of different "
                f"questions: {difference} (the specification first); {NEW_HISTORY}"
            )
    names = [*map(str, periods)]
    check_values(names, cubes, asked.question, checked=checked)
    check_recoded(names[checked:], cubes[checked:], asked.question)
    refuse(idle_recodings(cubes, asked.question))


def _misdated(last: Period, misspelt: Period) -> HistoryFinding:
    """Return that a period decides nothing, because it may be misdated."""
    return HistoryFinding(
        problem=HistoryProblem.MISDATED, period=str(misspelt), last=str(misspelt),
        rows=ordinal(misspelt) - ordinal(last) - 1,
    )  # fmt: skip


def _feed(
    asked: MonitorSpec,
    periods: Sequence[Period],
    followed: Followed,
    repeated: Mapping[str, int],
    until: Period | None,
) -> Feed:
    """Return the feed whose rows are checked, of the columns that rules need."""
    question, rates, metric = asked.question, exact_rates(asked), asked.catalogue.metric
    needs = {
        need
        for i, rule in enumerate(asked.rules)
        for need in (rates[i].rate.needs if i in rates else metric(rule.metric).needs)
    }
    of = {"label": question.label, "prediction": question.prediction or question.score}
    return Feed(
        periods=periods,
        counted=followed.rows,
        question=question,
        outcomes=[column for need, column in of.items() if need in needs and column],
        later=asked.labels is Labels.LATER and question.label is not None,
        due=followed.due,
        overdue=followed.overdue,
        repeated=repeated,
        baselines={
            fingerprint(rule.baseline.cube): rule.baseline.source
            for rule in asked.rules
            if rule.baseline is not None
        },
        until=until,
    )


def _doubted_values(
    period: str,
    cubes: PeriodCubes,
    question: Spec,
    comparisons: Sequence[MonitoredComparison],
) -> Iterator[HistoryFinding]:
    """Yield the values of the last period that may be none, and that a comparison stands on."""
    # a period need not have what is recoded
    last = replace(cubes[len(cubes) - 1], unseen=frozenset())
    notes = likely_mistakes(last, question, decide_task(last, question), OF_VALUES)
    doubted = [note for note in with_accepted(notes, question) if note.level is Level.WARNING]
    known = cubes.knowing_all(last) if doubted else last  # nor what the question names
    for note in doubted:
        column = note.feature or note.get("column") or next(iter(note.get("columns") or ()), None)
        values = note.get("values") or [note.get("value")]
        for doubt in open_doubts([note], known, question)[:1]:
            if any(doubt.concerns(each.definition.needs, each.feature) for each in comparisons):
                yield HistoryFinding(
                    problem=HistoryProblem.DOUBTED_VALUE, period=period, last=period,
                    column=column, value=cells(map(name_of, values)), rows=doubt.rows,
                    other=f"{note.code}:{column}",
                )  # fmt: skip


def _withheld(
    comparisons: Sequence[MonitoredComparison], found: HistoryFinding
) -> tuple[MonitoredComparison, ...]:
    """Return comparisons, of which those that need the labels of both decisions state nothing.

    An alarm that these periods raised would be of the labels alone, as a true positive rate of 0
    where only refusals have any.
    """
    lacking = {"positive": TP + FP, "negative": TN + FN}[str(found.decision)]

    def is_of_labels(each: MonitoredComparison) -> bool:
        if each.alarm is not None and each.alarm.period < found.period:
            return False
        if "label" not in each.definition.needs:
            return False
        rate = contrasted_rate(each.definition)
        return rate is None or not rate.rate.among.disjoint(lacking)

    return tuple(
        replace(each, state=MonitorState.INSUFFICIENT, alarm=None) if is_of_labels(each) else each
        for each in comparisons
    )


def monitor_doctor(
    history: History | str | Path | Mapping[str, Cube],
    config: MonitorSpec | Config = None,
    *,
    at: str | None = None,
) -> HistoryHealth:
    """Check what the counts of a history show of the feed that brings the rows.

    Looks for absent periods, labels that stopped coming, rows that were added twice, jumps of the
    number of rows, values that are new, vanished or spelt in another way, missing values that
    become more or fewer, and predictions that are copies of the label. `monitor` checks the same.
    The history is not changed.

    Parameters
    ----------
    history, config, at
        As for `monitor`.

    Returns
    -------
    HistoryHealth
        Its ``findings``, each with the periods, the figures and what to do.

    Raises
    ------
    SpecError, DataError, CubeError
        As for `monitor`.

    Examples
    --------
    >>> import fairgauge as fg
    >>> day = fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}})
    >>> question = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
    >>> question |= {"monitor": {"rules": ["selection_rate.ratio >= 0.8"]}}
    >>> health = fg.monitor_doctor({"2026-11-02": day, "2026-11-04": day}, question)
    >>> [(each.problem.value, each.period) for each in health.findings]
    [('gap', '2026-11-03')]
    """
    if not isinstance(history, Mapping):
        held = history if isinstance(history, History) else History(history)
        history = held.draft()  # nothing is kept of a look
    report = monitor(history, config, at=at)
    return HistoryHealth(
        version=report.version,
        created=report.created,
        history=report.history,
        model=report.model,
        periods=report.periods,
        findings=report.findings,
        unconsidered=report.unconsidered,
    )


def _check_exclusions(cubes: PeriodCubes, asked: MonitorSpec) -> None:
    """Refuse a name of `exclude_groups` that no period and no baseline has."""
    if cubes and list(absent_exclusions([cubes[len(cubes) - 1]], asked.question)):
        baselines = [rule.baseline.cube for rule in asked.rules if rule.baseline]
        if problems := list(absent_exclusions([cubes.blank, *baselines], asked.question)):
            raise SpecError(problems)


def _unconsidered(
    held: Sequence[Period], start: Period | None, until: Period | None
) -> Unconsidered | None:
    """Return the periods of a history of which none is considered; None where it has none."""
    if not held:
        return None
    return Unconsidered(
        first=str(held[0]),
        last=str(held[-1]),
        start=str(start) if start is not None and held[0].start < start.start else None,
        at=str(until) if until is not None and held[-1] > until else None,
    )


def _sparse_groups(
    asked: MonitorSpec, comparisons: Sequence[MonitoredComparison]
) -> tuple[SparseGroup, ...]:
    """Return the groups that no rule names and that have insufficient data for every rule."""
    named = {name for rule in asked.rules for name in rule.groups}
    counted: dict[tuple[str, str], SparseGroup] = {}
    for each in comparisons:
        if each.group in {*named, ALL_GROUPS}:
            continue
        held = [point for point in each.points if point.n_group]
        rows = sum(point.n_group for point in held)
        known = counted.get((each.feature, each.group))
        if held and (known is None or rows > known.rows):
            counted[each.feature, each.group] = SparseGroup(
                feature=each.feature, group=each.group, rows=rows, first=held[0].period
            )
    return tuple(each for each in counted.values() if each.rows < asked.min_n)
