"""`monitor`: what the counts of many periods come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np

from fairgauge.api.exploring import Exploration, explore
from fairgauge.catalogue.facts import described
from fairgauge.catalogue.statistics import none_of
from fairgauge.cube.cube import Cube
from fairgauge.enums import Outcome, ReferenceRule
from fairgauge.errors import CubeError, DataError, SpecError, quote, refuse
from fairgauge.monitoring._attribution import attribute, estimates, rates_of, sizes_of
from fairgauge.monitoring._column_checks import OF_ROWS, RARE, SHARE, all_among
from fairgauge.monitoring._comparison_counts import (
    ComparisonCounts,
    ComparisonId,
    SideCounts,
    collect_counts,
    counts_in,
    exact_rates,
    largest_groups,
    refuse_unfit,
    with_references,
)
from fairgauge.monitoring._detection import (
    LARGEST,
    Detected,
    Fold,
    baseline_limits,
    detect,
    divide_alpha,
    key_of,
    read_fold,
    write_fold,
)
from fairgauge.monitoring._due_labels import overdue, usual_delays
from fairgauge.monitoring._history_checks import check_history, with_recodings
from fairgauge.monitoring._mirrors import (
    Mirror,
    mirrors_of_counts,
    mirrors_of_estimates,
    paired,
    shares_by_period,
    worse_off_first,
)
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring._period_rows import (
    CountedRows,
    counted_rows,
    fingerprint,
    lacks_class,
    lacks_values,
    only_waits,
    passing,
    passing_class,
    rows_of_group,
    rows_of_periods,
)
from fairgauge.monitoring._period_values import check_recoded, check_values
from fairgauge.monitoring._selective_labels import labels_of_one_decision, withheld
from fairgauge.monitoring._spending import ALL_GROUPS, estimated, needs_label, spending
from fairgauge.monitoring._unmatched_rules import unmatched
from fairgauge.monitoring.history import NEW_HISTORY, History, KeptDecisions
from fairgauge.monitoring.monitor_spec import (
    Labels,
    MonitoredRate,
    MonitorRule,
    MonitorSpec,
    read_monitor_spec,
)
from fairgauge.monitoring.periods import Period, gaps, last_within, misdated, ordinal, parse_period
from fairgauge.question.options import Options
from fairgauge.question.spec_file import Config
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import idle_recodings
from fairgauge.resolve.resolution import absent_exclusions
from fairgauge.results.disadvantage import favourable_of
from fairgauge.results.estimates import as_number
from fairgauge.results.monitor_results import (
    FEWEST_PERIODS,
    IN_MEMORY,
    Alarm,
    Baseline,
    Detector,
    HistoryFinding,
    HistoryHealth,
    HistoryProblem,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
    Point,
    SparseGroup,
    Unconsidered,
    is_gone,
)
from fairgauge.results.shown_result import made_now
from fairgauge.stats.arrays import Array
from fairgauge.stats.sequential import Tolerated, running_contrast
from fairgauge.values import name_of

MOST_WITHOUT_LABEL = 0.5
"""The share of rows without a label above which a period that enters is as good as unseen."""


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
    followed = _follow(names, cubes, resolved, folded, kept, keep=at is None)
    fold, spec = followed.fold, asked.to_dict()
    comparisons = worse_off_first(followed.comparisons, favourable_of(spec))
    repeated = {} if kept is None else kept.repeated
    findings = _findings(asked, periods, followed, repeated, until)
    if misspelt is not None:
        findings += (_misdated(periods[-1], misspelt),)
    if selective := _labels_of_one_decision(asked, names, followed):
        findings += (selective,)
        comparisons = withheld(comparisons, selective)
    if names and kept is not None:
        findings = kept.mark_new(names[-1], findings, keep=at is None)
    if at is None and kept is not None:
        if largest != chosen:
            kept.keep_largest_groups(asked.start, largest)
        if fold is not None:
            kept.keep_fold(write_fold(fold, key_of(asked, largest, cubes.texts)))
    return MonitorReport(
        **made_now(),
        history=held.name,
        model=asked.question.document.title or _last_part(held.name),
        spec=spec,
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
        findings=findings,
        unmatched=tuple(unmatched(resolved, comparisons, cubes)),
        unconsidered=None if periods else _unconsidered(every, asked.start, until),
        sparse_groups=_sparse_groups(asked, comparisons),
        imported=held.imported,
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


def _findings(
    asked: MonitorSpec,
    periods: Sequence[Period],
    followed: _Followed,
    repeated: Mapping[str, int],
    until: Period | None,
) -> tuple[HistoryFinding, ...]:
    """Return what may be wrong with the rows of the periods."""
    label = asked.question.label
    later = asked.labels is Labels.LATER and label is not None
    due = followed.due
    found = check_history(
        periods,
        followed.rows,
        overdue=followed.overdue,
        repeated=repeated,
        baselines={
            fingerprint(rule.baseline.cube): rule.baseline.source
            for rule in asked.rules
            if rule.baseline is not None
        },
        later={str(label): len(periods) if due is None else due} if later else {},
        outcomes=_outcomes(asked),
        positive=tuple(
            value
            for column in (asked.question.label, asked.question.prediction)
            for value in asked.question.positive_of(column)
        ),
        features=list(dict.fromkeys(each.column for each in asked.question.sensitive)),
        intersections=asked.question.intersections,
        named={(each.column, name) for each in asked.question.recode for name in each.names}
        | {(e.column, name_of(v)) for e in asked.question.sensitive for v in chain(*e.values)},
        cluster=asked.question.cluster,
        weight=asked.question.weight,
        count=asked.question.count,
        groups_missing=asked.question.groups_missing,
        until=until,
    )
    names = [str(each) for each in periods]
    unlabelled = _unlabelled_groups(asked, names, followed)
    every = (*found, *unlabelled, *_small_groups(asked, names, followed))
    every = with_recodings(_without_labels(asked, names, followed.rows, every), asked.question)
    unit, apart = asked.question.unit.get("unit"), {*OF_ROWS, HistoryProblem.GAP}
    return tuple(each if each.problem in apart else replace(each, unit=unit) for each in every)


def _without_labels(
    asked: MonitorSpec,
    names: Sequence[str],
    rows: Sequence[CountedRows],
    found: tuple[HistoryFinding, ...],
) -> tuple[HistoryFinding, ...]:
    """Find as one thing that hardly a row of the last periods has a label, which may come later."""
    label = str(asked.question.label)
    if asked.labels is Labels.LATER or label not in _outcomes(asked):
        return found
    lacking = [(each.missing.get(label, 0), each.rows) for each in reversed(rows)]
    last = [*takewhile(lambda of: of[0] > (1 - SHARE) * of[1], lacking)]
    if not last:
        return found
    missing, every = map(sum, zip(*last, strict=True))
    first = names[-len(last)]
    without = HistoryFinding(
        problem=HistoryProblem.NO_LABELS, period=first, last=names[-1], column=label,
        rows=every, share=missing / every,
    )  # fmt: skip
    missed = HistoryProblem.MISSING_VALUES
    others = [
        each for each in found
        if (each.problem, each.column, each.last) != (missed, label, names[-1])
        or (each.expected is not None and each.period < first)
    ]  # fmt: skip
    return (*others, without)


def _unlabelled_groups(
    asked: MonitorSpec, names: Sequence[str], followed: _Followed
) -> Iterator[HistoryFinding]:
    """Yield the groups of which hardly a row has its label where most other rows have theirs.

    As long as no period has all its labels nothing states when they are due: seven periods show it.
    """
    label = str(asked.question.label)
    due = asked.labels is Labels.NOW or followed.due is not None
    features = () if due or label not in _outcomes(asked) else asked.question.sensitive
    for feature in dict.fromkeys(each.column for each in features):
        counts: dict[str, list[tuple[int, int, int, int, int]]] = {}
        for t, held in enumerate(followed.rows):
            sizes, without = held.values.get(feature, {}), held.lacking.get(label, {})
            lacking = without.get(feature, {})
            rows, missing = sum(sizes.values()), sum(lacking.values())
            for group, size in sizes.items():
                own = lacking.get(group, 0)
                if 2 * (missing - own) < rows - size:
                    counts.setdefault(group, []).append((t, size, own, rows, missing))
        for group, found in counts.items():
            at, *sums = zip(*found, strict=True)
            size, own, rows, missing = map(sum, sums)
            hardly = own >= (1 - SHARE) * size and all_among(own, missing, rows) < RARE
            if hardly and len(found) >= FEWEST_PERIODS:
                yield HistoryFinding(
                    problem=HistoryProblem.MISSING_LABELS, period=names[at[0]], last=names[at[-1]],
                    column=label, value=group, other=feature, rows=size, share=own / size,
                    expected=(missing - own) / (rows - size),
                )  # fmt: skip


def _labels_of_one_decision(
    asked: MonitorSpec, names: Sequence[str], followed: _Followed
) -> HistoryFinding | None:
    """Return that rows of one decision alone have labels, where a rule needs them.

    Of labels that come later, those of the periods that are due, if it is known when they are.
    """
    if asked.question.label not in _outcomes(asked):
        return None
    due = asked.labels is Labels.NOW or followed.due is not None
    entered = len(names) - len(followed.waiting) * (due and asked.labels is Labels.LATER)
    return labels_of_one_decision(asked, names[:entered], followed.rows[:entered], due=due)


def _outcomes(asked: MonitorSpec) -> dict[str, str | None]:
    """Return the columns of labels and predictions that rules need, predictions with the label."""
    rates, metric = exact_rates(asked), asked.catalogue.metric
    needs = {
        need
        for i, rule in enumerate(asked.rules)
        for need in (rates[i].rate.needs if i in rates else metric(rule.metric).needs)
    }
    question = asked.question
    label, decided = question.label, question.prediction or question.score
    of = {"label": (label, None), "prediction": (decided, question.words_of_predictions)}
    return {column: other for need, (column, other) in of.items() if need in needs and column}


def _small_groups(
    asked: MonitorSpec, names: Sequence[str], followed: _Followed
) -> Iterator[HistoryFinding]:
    """Yield the groups with insufficient data in two weeks of periods and more.

    A gap over all groups is of those that are large enough, and hides the others. Where most rows
    of a group have no label or prediction, it is not small: that is what is found, at once.
    """
    question, undecided = asked.question, (MonitorState.INSUFFICIENT, MonitorState.UNDEFINED)
    small: dict[tuple[str, str], list[int]] = {}
    for each in followed.comparisons:
        held = [point.n_group for point in each.points]
        decided = max(held) if each.detector is Detector.ALPHA_SPENDING else sum(held)
        if each.group != ALL_GROUPS:
            if each.state in undecided and decided < asked.min_n:
                rows = rows_of_group(followed.rows, each.feature, each.group)
                small.setdefault((each.feature, each.group), rows)
            continue
        sets = question.feature(each.feature).values
        held_by = () if sets else followed.rows
        known = {name for rows in held_by for name in rows.values.get(each.feature, ())}
        for name in sorted(known - {*question.exclude_groups, *map(name_of, question.unknown)}):
            held = rows_of_group(followed.rows, each.feature, name)
            if max(held) < asked.min_n and not is_gone(list(map(bool, held))):
                small.setdefault((each.feature, name), held)
    lacking = {
        key: found for key in small if (found := _lacking_outcomes(asked, names, followed, *key))
    }
    yield from lacking.values()
    apart = {feature for feature, _ in lacking}
    for (feature, group), held in small.items():
        first = next((t for t, rows in enumerate(held) if rows), 0)
        if feature in apart and sum(rows_of_group(followed.rows, feature, group)) >= asked.min_n:
            continue  # it may be those that it is compared with that have no labels
        if len(held) - first >= 2 * FEWEST_PERIODS:
            yield HistoryFinding(
                problem=HistoryProblem.SMALL_GROUP, period=names[first], last=names[-1],
                column=feature, value=group, rows=sum(held), expected=float(asked.min_n),
            )  # fmt: skip


def _lacking_outcomes(
    asked: MonitorSpec, names: Sequence[str], followed: _Followed, feature: str, group: str
) -> HistoryFinding | None:
    """Return that most rows of a group have no label or prediction; None where they have."""
    for column in _outcomes(asked):
        later = asked.labels is Labels.LATER and column == asked.question.label
        counted = followed.rows[: len(names) - len(followed.waiting) * later]
        rows = rows_of_group(counted, feature, group)
        without = sum(e.lacking.get(column, {}).get(feature, {}).get(group, 0) for e in counted)
        if without >= asked.min_n and 2 * without > sum(rows):
            held = [t for t, size in enumerate(rows) if size]
            return HistoryFinding(
                problem=HistoryProblem.MISSING_LABELS if later else HistoryProblem.MISSING_VALUES,
                period=names[held[0]], last=names[held[-1]], column=column, value=group,
                other=feature, rows=sum(rows), share=without / sum(rows),
            )  # fmt: skip
    return None


def monitor_doctor(
    history: History | str | Path | Mapping[str, Cube],
    config: MonitorSpec | Config = None,
    *,
    at: str | None = None,
) -> HistoryHealth:
    """Check what the counts of a history show of the feed that brings the rows.

    Looks for absent periods, labels that stopped coming, rows that were added twice, jumps of the
    number of rows, values that are new, vanished or spelt in another way, and missing values that
    become more or fewer, and groups with insufficient data. `monitor` checks the same. The history
    is not changed.

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


class _Followed(NamedTuple):
    comparisons: tuple[MonitoredComparison, ...]
    waiting: tuple[str, ...]
    unlabelled: tuple[str, ...]
    overdue: tuple[str, ...]
    due: int | None
    late: tuple[tuple[str, str, str], ...]
    late_classes: tuple[tuple[str, str, str], ...]
    rows: list[CountedRows]
    fold: Fold | None


def _follow(
    names: Sequence[str],
    cubes: PeriodCubes,
    asked: MonitorSpec,
    kept: Fold | None,
    decisions: KeptDecisions | None,
    *,
    keep: bool,
) -> _Followed:
    """Follow every comparison over the periods; return also a fold to keep.

    ``keep`` is whether all periods are considered, so that what is seen of them is kept.
    """
    if not cubes:
        return _Followed((), (), (), (), None, (), (), [], None)
    rates = exact_rates(asked)
    others = [i for i in range(len(asked.rules)) if i not in rates]
    begin = 0 if kept is None else kept.periods
    counts = collect_counts(cubes, names, asked, rates, None if kept is None else kept.counts)
    rows = [] if kept is None else [*kept.rows]
    rows += [
        counted_rows(cubes[t], asked.question, cubes[0] if t else None)
        for t in range(begin, len(cubes))
    ]
    if kept is not None and not kept.fits(counts):
        kept = None  # a group that is new changes the shapes, and nothing that was decided
    spent = spending(cubes, asked, others)
    held = _baseline_counts(asked, counts, rates, cubes)
    of_counts = mirrors_of_counts(counts, asked.rules, rates, held)
    of_estimates = mirrors_of_estimates(spent, asked.rules, len(cubes))
    arrivals = [*counts.arrivals, *(min(periods) for periods in spent.values())]
    shift = len(counts.ids)
    mirrors = of_counts | {
        shift + i: Mirror(shift + of, until) for i, (of, until) in of_estimates.items()
    }
    alphas = divide_alpha(asked.alpha, arrivals, mirrors)
    exact, approximate = alphas[: len(counts.ids)], alphas[len(counts.ids) :]
    last = _last_complete(counts, asked)
    labelled = any(map(_needs_label, rates.values()))
    labelled |= any(needs_label(asked.rules[i].metric, asked) for i in others)
    without = [names[i] for i in np.flatnonzero(counts.unlabelled).tolist()] if labelled else []
    due: list[int | None] = [None] * len(names)
    if labelled:
        due = _labels_due(names, without, asked, decisions, keep=keep)
    missing = _overdue(counts, asked, due)
    baselines = {
        each: baseline_limits(held[each], alpha, rates[each.rule], asked.rules[each.rule])
        for each, alpha in zip(counts.ids, exact.tolist(), strict=True)
        if each in held
    }
    detected = detect(counts, exact, asked, rates, baselines, of_counts, kept)
    found = [
        *_counted(
            names,
            cubes,
            counts,
            exact,
            asked,
            rates,
            last,
            bool(missing),
            detected,
            baselines,
            held,
            of_counts,
            rows,
        ),
        *estimated(
            names,
            cubes,
            spent,
            approximate,
            asked,
            last,
            of_estimates,
            rows,
            overdue=bool(missing),
        ),
    ]
    ids = [*counts.ids, *spent]
    order = sorted(range(len(found)), key=lambda i: (ids[i].rule, ids[i].feature))
    late, late_classes = _late(ids, arrivals, names)
    waiting = tuple(names[last:]) if labelled else ()
    fold = None
    if begin < len(names) and not others and detected.evidence.size <= LARGEST:
        fold = Fold(counts, rows, detected.evidence, detected.detectors)
    ordered = tuple(found[i] for i in order)
    return _Followed(
        ordered,
        waiting,
        tuple(without),
        tuple(names[i] for i in missing),
        due[-1],
        late,
        late_classes,
        rows,
        fold,
    )


def _labels_due(
    names: Sequence[str],
    without_label: Sequence[str],
    asked: MonitorSpec,
    decisions: KeptDecisions | None,
    *,
    keep: bool,
) -> list[int | None]:
    """Return with how many later periods labels are due, by what was known in every period.

    None where nothing states it. Unless it is asked, a label is due once it is missing for longer
    than runs have seen labels wait. Where they have seen none wait it is due at once, so that no
    monitor is green without a label, however short its history.
    """
    if asked.labels is Labels.NOW:
        return [None] * len(names)
    waits = {} if decisions is None else decisions.waits(names, without_label, keep=keep)
    if asked.labels_within is not None:
        return [asked.labels_within] * len(names)
    return usual_delays(names, {*without_label}, waits)


def _overdue(counts: ComparisonCounts, asked: MonitorSpec, due: Sequence[int | None]) -> list[int]:
    """Return the periods whose labels are due and missing.

    Where ``labels_within`` lets a period enter with the labels that it has, they are missing where
    most of its rows have none: it is then as good as not seen.
    """
    allowed = 0.0 if asked.labels_within is None else MOST_WITHOUT_LABEL
    return overdue(np.flatnonzero(counts.unlabelled > allowed).tolist(), due)


def _needs_label(rate: MonitoredRate) -> bool:
    return "label" in rate.rate.needs


def _last_complete(counts: ComparisonCounts, asked: MonitorSpec) -> int:
    """Return the number of periods before the first that waits for labels.

    Periods enter in order, so that one that completes later changes no evidence before it. One
    with enough periods after it waits no longer.
    """
    size = len(counts.unlabelled)
    waits = counts.unlabelled > 0
    if asked.labels_within is not None:
        waits[: max(size - asked.labels_within, 0)] = False
    return int(np.argmax(waits)) if waits.any() else size


def _counted(
    names: Sequence[str],
    cubes: PeriodCubes,
    counts: ComparisonCounts,
    alphas: Array,
    asked: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    complete: int,
    overdue: bool,
    detected: Detected,
    baselines: Mapping[ComparisonId, Baseline],
    held: Mapping[ComparisonId, SideCounts],
    mirrors: Mapping[int, Mirror],
    rows: Sequence[CountedRows],
) -> list[MonitoredComparison]:
    """Return the comparisons that counts decide exactly."""
    shares, alone = shares_by_period(alphas, mirrors, len(names)), paired(mirrors)
    found = []
    for i, each in enumerate(counts.ids):
        rate, rule = rates[each.rule], asked.rules[each.rule]
        entered = complete if _needs_label(rate) else len(names)
        mirror = mirrors.get(i)
        crossed = np.flatnonzero(detected.evidence[:entered, i] >= detected.threshold[:entered, i])
        if mirror is not None and np.isfinite(mirror.until):
            crossed = crossed[crossed >= mirror.until]
        at = int(crossed[0]) if crossed.size else len(names) - 1
        low, high = float(detected.low[at, i]), float(detected.high[at, i])
        alarm: Alarm | None = None
        if crossed.size:
            baseline = rule.baseline
            alarm = attribute(
                each,
                rate,
                counts.counts[:entered, i],
                names[:entered],
                at,
                Tolerated(low, high, rate.by),
                cubes,
                asked.question,
                (held[each], baseline.cube) if baseline is not None and each in held else None,
            )
        points = _points(
            names, counts.counts[:, i], rate, detected.evidence[:, i], entered, asked.min_n,
            partial(_why_undefined, each, counts.references[i], rate, asked, rows),
        )  # fmt: skip
        expected = each in baselines or rule.groups or i in alone
        was_in = passing_class(names[:entered], rows, each.class_, asked.question)
        if not expected:
            was_in = passing(names[:entered], rows, each.feature, each.group) or was_in
        found.append(
            MonitoredComparison(
                rule=str(rule),
                metric=rule.metric,
                definition=asked.catalogue.row(rule.metric),
                feature=each.feature,
                group=each.group,
                class_=each.class_,
                reference=counts.references[i],
                detector=Detector.E_DETECTOR,
                alpha=float(shares[at, i]),
                threshold=float(
                    f"{detected.threshold[at, i]:.12g}"
                ),  # 18250, not 18249.999999999996
                low=low,
                high=high,
                mirror_of=None
                if mirror is None or np.isfinite(mirror.until)
                else counts.ids[mirror.of].group,
                baseline=baselines.get(each),
                points=points,
                state=_state(
                    alarm,
                    counts.counts[:entered, i],
                    rate,
                    rule,
                    baselines.get(each),
                    points,
                    asked,
                    passing=bool(was_in),
                    overdue=overdue and _needs_label(rate),
                    only_waits=only_waits(rows, entered, each.feature, each.group, asked.min_n),
                ),
                alarm=alarm,
                was_in=was_in,
                lacks_baseline=rule.baseline is not None and each not in baselines,
            )
        )
    return found


def _late(
    ids: Sequence[ComparisonId], arrivals: Sequence[int], names: Sequence[str]
) -> tuple[tuple[tuple[str, str, str], ...], tuple[tuple[str, str, str], ...]]:
    """Return the groups, and the classes of groups of before, that were not in the first period."""
    entered = list(zip(ids, arrivals, strict=True))
    begun: dict[tuple[str, str], int] = {}
    for each, first in entered:
        begun[each.feature, each.group] = min(first, begun.get((each.feature, each.group), first))
    groups, classes = dict[tuple[str, str, str], None](), dict[tuple[str, str], str]()
    for each, first in entered:
        if each.class_ is not None and first > begun[each.feature, each.group]:
            classes.setdefault((each.feature, each.class_), names[first])
        elif first > 0:
            groups[each.feature, each.group, names[first]] = None
    return tuple(groups), tuple((*of, first) for of, first in classes.items())


def _baseline_counts(
    asked: MonitorSpec,
    counts: ComparisonCounts,
    rates: Mapping[int, MonitoredRate],
    cubes: PeriodCubes,
) -> dict[ComparisonId, SideCounts]:
    """Return the counts of baselines, of each rule those of its own baseline."""
    found: dict[ComparisonId, SideCounts] = {}
    for i, rule in enumerate(asked.rules):
        if rule.baseline is not None:
            for held in counts_in(rule.baseline.cube, asked, rates, cubes):
                if held.rule == i:
                    rows = (SideCounts(*row) for row in held.counts[0].tolist())
                    found |= dict(zip(held.ids, rows, strict=True))
    return {each: found[each] for each in counts.ids if each in found}


def _points(
    names: Sequence[str],
    counts: Array,
    rate: MonitoredRate,
    evidence: Array,
    entered: int,
    min_n: int,
    why_undefined: Callable[[int, Sequence[float]], Reason],
) -> tuple[Point, ...]:
    running = _running(counts, rate, entered)
    columns = (
        *estimates(counts, rate.by), *rates_of(counts, rate), *sizes_of(counts, rate), *running,
    )  # fmt: skip
    every = [each.tolist() for each in columns]
    points = []
    for t, row in enumerate(zip(*every, strict=True)):
        value, low, high, group, reference, n_group, n_reference, *so_far = row
        running_value, running_low, running_high = map(as_number, so_far)
        fewest = n_group if rate.by == "rate" else min(n_group, n_reference)
        points.append(
            Point(
                period=names[t],
                value=as_number(value),
                low=as_number(low),
                high=as_number(high),
                rate_group=as_number(group),
                rate_reference=as_number(reference),
                n_group=int(n_group),
                n_reference=int(n_reference),
                evidence=float(evidence[t]) if t < entered else None,
                sparse=fewest < min_n,
                running=running_value,
                running_low=running_low,
                running_high=running_high,
                reason=why_undefined(t, (reference, n_reference, n_group))
                if as_number(value) is None
                else None,
                waits=t >= entered,
            )
        )
    return tuple(points)


def _columns(rate: MonitoredRate, asked: MonitorSpec) -> list[str]:
    """Return the columns without whose value a row is not in a rate."""
    of = {"label": asked.question.label, "prediction": asked.question.prediction}
    return [str(name) for need, name in of.items() if need in rate.rate.needs and name is not None]


def _why_undefined(
    each: ComparisonId,
    reference: str,
    rate: MonitoredRate,
    asked: MonitorSpec,
    rows: Sequence[CountedRows],
    t: int,
    counts: Sequence[float],
) -> Reason:
    """Return why a contrast of two rates, or a rate alone, has no value in a period.

    Parameters
    ----------
    asked : the specification, with the columns without whose value a row is not in the rate.
    rows, t : the rows of all periods, and the number of the period.
    counts : the rate and the rows of the reference, and the rows of the group.
    """
    held, (rate_of_reference, n_reference, n_group) = rows[t], counts
    alone = rate.by == "rate"
    if lacks_class(held, each.class_, asked.question):
        return Reason.of(ReasonCode.NO_ROW_OF_CLASS)
    if n_group and n_reference and not alone:
        title = rate.rate.title
        return Reason.of(ReasonCode.BOTH_SIDES_EQUAL_RATE, rate=title, value=rate_of_reference)
    side, name = ("reference", reference) if n_group and not alone else ("group", each.group)

    def of_side(by_group: Mapping[str, int]) -> int:
        if name != ReferenceRule.OTHERS:
            return by_group.get(name, 0)
        return sum(by_group.values()) - by_group.get(each.group, 0)

    lacking = {
        n: of_side(held.lacking.get(n, {}).get(each.feature, {})) for n in _columns(rate, asked)
    }
    column = max(lacking, key=lambda n: lacking[n], default="")
    why = none_of(rate.rate.among)
    if lacking.get(column):
        why = Reason.of(
            ReasonCode.LACKING_VALUES, column=column, lacking=lacking[column],
            rows=of_side(held.values.get(each.feature, {})), counts=why["counts"],
        )  # fmt: skip
    return why if alone else why.on(side)


def _running(counts: Array, rate: MonitoredRate, entered: int) -> list[Array]:
    """Return the running contrast and its confidence sequence, nan in periods that wait."""
    x_d, n_d, x_a, n_a = counts[:entered].T
    waiting = np.full(len(counts) - entered, np.nan)
    found = running_contrast(rate.by, x_a, n_a, x_d, n_d)
    return [np.concatenate([each, waiting]) for each in found]


def _state(
    alarm: Alarm | None,
    counts: Array,
    rate: MonitoredRate,
    rule: MonitorRule,
    baseline: Baseline | None,
    points: Sequence[Point],
    asked: MonitorSpec,
    *,
    passing: bool,
    overdue: bool,
    only_waits: bool,
) -> MonitorState:
    if alarm is not None:
        return MonitorState.ALARM
    if overdue or not len(counts):
        return MonitorState.WAITING
    if passing:
        return MonitorState.NO_ALARM
    if rule.baseline is not None and baseline is None:  # a group that the baseline does not have
        return MonitorState.INSUFFICIENT
    if only_waits:
        return MonitorState.WAITING
    sizes = [int(each) for each in sizes_of(counts.sum(axis=0), rate)]
    if baseline is not None:
        sizes += [baseline.n_group, baseline.n_reference]
    held = sizes[::2] if rate.by == "rate" else sizes
    if min(held) < asked.min_n:
        why = [each.reason for each in points if each.reason is not None and not each.waits]
        lacking = sum(w["lacking"] for w in why if w.code is ReasonCode.LACKING_VALUES)
        unknown = points[-1].value is None and lacking >= asked.min_n
        return MonitorState.UNDEFINED if unknown else MonitorState.INSUFFICIENT
    lacks = lacks_values(points, asked.min_n, two_sided=rate.by != "rate")
    return MonitorState.UNDEFINED if lacks else MonitorState.NO_ALARM
