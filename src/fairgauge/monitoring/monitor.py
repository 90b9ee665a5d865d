"""`monitor`: what the counts of many periods come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Unpack

import numpy as np

from fairgauge.checks.feed import FEED_CHECKS, Feed, Subject, Suspected
from fairgauge.checks.rows import CHECKS, OF_VALUES, likely_mistakes, open_doubts, with_accepted
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import plan
from fairgauge.enums import DOUBTS_OF_A_PERIOD, Observation, Outcome
from fairgauge.errors import CubeError, DataError, cells, quote, refuse
from fairgauge.measure.measure import doubts_of_measures
from fairgauge.monitoring._comparison_counts import fix_references, refuse_unfit
from fairgauge.monitoring._comparisons import follow, unmatched_rules
from fairgauge.monitoring._period_cubes import PeriodCubes, check_values
from fairgauge.monitoring.history import NEW_HISTORY, HeldHistory, History, refuse_unlike
from fairgauge.monitoring.monitor_spec import MonitorSpec, read_monitor_spec
from fairgauge.monitoring.periods import Period, absent_runs, gaps, parse_period
from fairgauge.question.options import Options
from fairgauge.question.specification import Config, Spec
from fairgauge.resolve.counted_values import Counted
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import idle_recodings
from fairgauge.resolve.resolution import absent_exclusions, resolve
from fairgauge.results.monitor_results import (
    HistoryFinding,
    HistoryHealth,
    HistoryProblem,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
    PeriodRows,
)
from fairgauge.results.scopes import StatedDoubt, stated_doubts
from fairgauge.results.shown_result import made_now
from fairgauge.results.verdicts import needs_of
from fairgauge.start.records import replace

_RECENT = 14  # periods that state what is usual


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

    Parameters
    ----------
    history : History, str, Path or mapping
        A folder or URL, or the cubes themselves by the names of their periods.
    config : str, Path or mapping, optional
        A specification file with a table ``[monitor]``, or its keys; the default is what the
        history was last asked. See docs/reference/monitoring.md.
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
    if isinstance(history, Mapping):
        history = HeldHistory({parse_period(name): cube for name, cube in history.items()})
    held = history if isinstance(history, History) else History(history)
    spec = config if config is not None else held.spec
    if spec is None and not options:  # they may be all that is asked
        raise missing_spec_error(held)
    asked = read_monitor_spec({} if spec is None else spec, options=options)
    until = None if at is None else parse_period(at)
    periods = [
        p for p in held.periods
        if (until is None or p.start < until.following().start)
        and (asked.start is None or p.start >= asked.start.start)
    ]  # fmt: skip
    cubes = held.cubes(periods)
    if cubes and asked.question.task is None:  # as the first rows showed it when they were counted
        asked = replace(asked, question=replace(asked.question, task=cubes[0].plan.asked.task))
    _check_alike(held, periods, cubes, asked)
    names = [str(period) for period in periods]
    resolved, of_two = asked, frozenset[str]()
    if cubes:
        question = replace(asked.question, task=decide_task(cubes[0], asked.question))
        question, of_two = fix_references(replace(asked, question=question), cubes)
        resolved = replace(asked, question=question)
    followed = follow(names, cubes, resolved, of_two)
    comparisons = followed.comparisons
    feed = Feed(
        periods=followed.feed, question=asked.question, due=asked.labels_within or 0,
        overdue=followed.overdue,
        baselines={t: of.source for of in asked.baselines for t in cubes.find_same(of.cube)},
    )  # fmt: skip
    findings = [*absent_runs(periods, until)] if periods else []
    suspected = [each for check in FEED_CHECKS for each in check(feed)] if periods else []
    findings += _merge_periods(suspected, feed)
    findings.sort(key=lambda each: (each.period, each.problem, each.column or ""))
    findings = [e for e in findings if e.period > names[-1] or not _is_accepted(e, asked.question)]
    doubts: dict[tuple[str, str | None], StatedDoubt] = {}
    if cubes:
        # another spelling is stated once, and by what doubts it a new value, and what is exchanged
        # in all periods
        problem = HistoryProblem.SAME_NAMES
        spelt = {f"same_names:{each.column}" for each in findings if each.problem is problem}
        doubted = [*_doubted_values(feed, cubes, resolved, comparisons)]
        findings = [e for e in findings if not _is_stated(e, [of for _, of in doubted], names)]
        findings += [e for e, _ in doubted if e is not None and e.other not in spelt]
        for _, doubt in doubted:
            doubts.setdefault((doubt.code, doubt.column), doubt)
    # of rows without a weight or a count nobody knows how many people or cases they are
    unit, of_rows = asked.question.unit.get("unit"), (asked.question.weight, asked.question.count)
    for i, each in enumerate(findings):
        if each.problem is not HistoryProblem.GAP and (each.column or "") not in of_rows:
            findings[i] = replace(each, unit=unit)
    return MonitorReport(
        **made_now(),
        tally=Counted(cubes.together(range(len(cubes))), asked.question) if cubes else (),
        history=held.name,
        model=asked.question.document.title or held.name.rstrip("/").rpartition("/")[2],
        spec=asked.to_dict(),
        periods=tuple(names),
        absent=tuple(str(each) for each in gaps(periods)),
        waiting=tuple(names[followed.entered :]),
        overdue=followed.overdue,
        horizon=asked.horizon,
        alpha=asked.alpha,
        length=str(periods[0].length) if periods else "period",
        comparisons=comparisons,
        own=asked.catalogue.described,
        rows=tuple(
            PeriodRows(period=of.name, start=period.start.isoformat(), rows=of.rows.rows,
                       excluded=of.rows.excluded)
            for period, of in zip(periods, followed.feed, strict=True)
        ),
        findings=tuple(findings),
        doubts=tuple(doubts.values()),
        unmatched=tuple(unmatched_rules(resolved, comparisons, cubes)),
        inconclusive=Outcome(asked.question.inconclusive or Outcome.INCONCLUSIVE),
    )  # fmt: skip


def _is_accepted(finding: HistoryFinding, question: Spec) -> bool:
    code = finding.problem.replace(" ", "_")
    of_period = code in DOUBTS_OF_A_PERIOD
    column = (finding.value or finding.period) if of_period else finding.column
    return question.accepts(code, column)


def missing_spec_error(held: History) -> DataError:
    """Return the error of a history that was never asked anything, or that is not there."""
    if held.periods:
        what = f"the history {quote(held.name)} has no specification yet; give one (-c FILE)"
    else:
        what = (
            f"there is no history {quote(held.name)}; fairgauge monitor run begins one with a "
            "specification (-c FILE)"
        )
    return DataError(what)


def _check_alike(
    held: History, periods: Sequence[Period], cubes: PeriodCubes, asked: MonitorSpec
) -> None:
    for period, cube in zip(periods, cubes, strict=True):
        refuse_unfit(cube)
        refuse_unlike(held.name, (periods[0], cubes[0]), (period, cube))
    if not cubes:
        return
    difference = plan(asked.question).difference(cubes[0].plan)
    if difference:
        raise CubeError(
            f"the specification and the counts in {quote(held.name)} are of different "
            f"questions: {difference} (the specification first); {NEW_HISTORY}"
        )
    check_values([*map(str, periods)], cubes, asked.question)
    refuse(idle_recodings(cubes, asked.question))
    if [*absent_exclusions([cubes[len(cubes) - 1]], asked.question)]:
        baselines = [baseline.cube for baseline in asked.baselines]
        refuse([*absent_exclusions([cubes.blank, *baselines], asked.question)])


def _merge_periods(suspected: Sequence[Suspected], feed: Feed) -> Iterator[HistoryFinding]:
    # findings, one for the same thing in successive periods: the rows of all
    runs: dict[tuple[object, ...], list[list[Suspected]]] = {}
    for each in sorted(suspected, key=lambda each: each.at):
        found = each.rows if each.share is None else each.share
        more = (found or 0) > (each.expected or 0)
        held = runs.setdefault((*each[1:7], more), [])
        if held and held[-1][-1].at == each.at - 1:
            held[-1].append(each)
        else:
            held.append([each])
    for run in chain.from_iterable(runs.values()):
        first, rows = run[0], [each.rows or 0 for each in run]
        keys = first._asdict() | {"rows": sum(rows) or None}
        shares, usual = [[e.share or 0 for e in run], [e.expected or 0 for e in run]]
        if first.share is not None:
            keys |= {
                "share": float(np.average(shares, weights=rows)),
                "expected": float(np.average(usual, weights=rows)),
            }
        elif first.problem is not HistoryProblem.DOUBLED_ROWS and first.expected is not None:
            keys["expected"] = sum(usual)
        period, last = feed.periods[keys.pop("at")].name, feed.periods[run[-1].at].name
        yield HistoryFinding(period=period, last=last, **keys)


def _is_stated(
    finding: HistoryFinding, doubts: Sequence[StatedDoubt], names: Sequence[str]
) -> bool:
    values = {(each.column, value) for each in doubts for value in each.values}
    columns, of = {each.column for each in doubts}, finding.feature or finding.column
    always = (finding.period, finding.last) == (names[0], names[-1]) and of in columns
    stated = {
        HistoryProblem.NEW_VALUE: (finding.column, finding.value) in values,
        HistoryProblem.COPIED_LABEL: always,
    }
    return stated.get(finding.problem, False)


def _doubted_values(
    feed: Feed, cubes: PeriodCubes, asked: MonitorSpec, comparisons: Sequence[MonitoredComparison]
) -> Iterator[tuple[HistoryFinding | None, StatedDoubt]]:
    # What an audit of all periods together doubts: it may be so from the first of them on, or in
    # some of them. Of the last one, which the others may outweigh, what few rows show. Of an
    # accepted doubt there is no finding.
    question = replace(asked.question, rules=asked.rules)
    stand = {(frozenset(needs_of(each.definition)), each.feature) for each in comparisons}
    known, whole = set[str](), range(len(cubes))
    for some, checks in ((whole, CHECKS), (whole[-1:], OF_VALUES)):
        # a period need not have what is recoded; copies of its rows are found in each
        cube = cubes.together(some)
        observed = (e for e in cube.observed if e.code is not Observation.UNSEEN)
        cube = replace(cube, observed=tuple(observed), copies=())
        notes = [*likely_mistakes(cube, question, decide_task(cube, question), checks)]
        if some == whole:
            notes += doubts_of_measures(resolve(cube, question))
        cube = cubes.knowing_all(cube) if notes else cube  # nor what the question names
        for note in with_accepted(notes, question):
            doubts = open_doubts([note], cube, question)
            is_open = any(doubt.concerns(*each) for doubt in doubts for each in stand)
            for stated in stated_doubts([note], cube.read):
                if stated.accepted:
                    yield None, stated
                code, names = f"{stated.code}:{stated.column}", {*stated.values}
                if is_open and code not in known:
                    known.add(code)
                    by_period = feed.rows_by_value(Subject(stated.column))
                    held = [t for t in some if names & by_period[t].keys()] or some
                    yield HistoryFinding(
                        problem=HistoryProblem.DOUBTED_VALUE, column=stated.column,
                        period=feed.periods[held[0]].name, last=feed.periods[held[-1]].name,
                        value=cells(stated.values) if names else None, rows=doubts[0].rows,
                        other=code, doubt=note,
                    ), stated  # fmt: skip


def monitor_doctor(
    history: History | str | Path | Mapping[str, Cube], config: MonitorSpec | Config = None, *,
    at: str | None = None,
) -> HistoryHealth:  # fmt: skip
    """Check what the counts of a history show of the feed that brings the rows.

    Looks for absent periods, labels that stopped coming, rows that were added twice, jumps of the
    number of rows, values that are new, vanished or spelt in another way, missing values that
    become more or fewer, predictions that are copies of the label, and what an audit of all periods
    together doubts. `monitor` checks the same.
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
    report = monitor(history, config, at=at)
    question = read_monitor_spec(report.spec).question
    lost = [e for e in _groups_without_rows(report) if not _is_accepted(e, question)]
    return HistoryHealth(version=report.version, created=report.created, history=report.history,
        model=report.model, periods=report.periods, findings=(*report.findings, *lost),
    )  # fmt: skip


def _groups_without_rows(report: MonitorReport) -> Iterator[HistoryFinding]:
    # of few rows, whose absence may be chance, but whose comparisons have no value for it
    problem = HistoryProblem.VANISHED_VALUE
    known = {(each.column, each.value) for each in report.findings if each.problem is problem}
    for (feature, group), each in {(e.feature, e.group): e for e in report.comparisons}.items():
        gone = {e.period for e in each.undefined if each.state is MonitorState.UNDEFINED}
        if gone and not each.undefined[-1].n_group and (feature, group) not in known:
            before = [point.n_group for point in each.points if point.period not in gone][-_RECENT:]
            if not before or np.median(before) < 1:
                continue  # nobody misses what was no usual value, as a misspelling of one period
            usual = np.mean(before)
            rows = sum(e.rows - sum(e.excluded.values()) for e in report.rows if e.period in gone)
            yield HistoryFinding(
                problem=problem, period=min(gone), last=max(gone), column=feature, value=group,
                rows=rows, expected=len(gone) * float(usual),
            )  # fmt: skip
