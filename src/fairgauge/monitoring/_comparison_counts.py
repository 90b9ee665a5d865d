"""The counts that every monitored comparison rests on, period by period.

Counts of several periods are stacked as those of one cube, whose strata are the periods: groups,
outcomes and sides are then resolved once for many periods.

The largest group as reference is chosen when monitoring begins, and the same from then on. It is
chosen by numbers of rows and not by their outcomes, so that the promise holds from the first period
on. A history keeps the choice: a period that arrives late, before the first one, would otherwise
change what the later ones are compared with, and so the alarms that were raised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.averages import agreement
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.cube.cube import CountTable, Cube, with_cases
from fairgauge.cube.identifiers import CLUSTER_KEY, NUMBERED
from fairgauge.cube.plan import Axis
from fairgauge.enums import Missing, ReferenceRule, Role, Task
from fairgauge.errors import CubeError, DataError, SpecError
from fairgauge.identity import is_named
from fairgauge.monitoring._period_cubes import PeriodCubes, levels_of
from fairgauge.monitoring.monitor_spec import (
    Labels,
    MonitoredRate,
    MonitorRule,
    MonitorSpec,
    is_exact,
    monitored_rate,
)
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, count_groups, refuse_missing
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, outcome_masks
from fairgauge.resolve.references import resolve_references
from fairgauge.resolve.sides import CountsBySide
from fairgauge.results.monitor_results import LargestGroup
from fairgauge.stats.arrays import Array

PERIODS = Axis(Role.STRATUM, "period")
_MOST_CELLS = 500_000
"""Cells of periods by groups, labels and predictions that are resolved at once."""
_KEPT = (Role.FEATURE, Role.LABEL, Role.PREDICTION)
_CASES = ("rows", "cases", "n")


def stacks(cubes: Sequence[Cube]) -> Iterator[tuple[list[int], Cube]]:
    """Yield stacks of cubes of one plan, each with the positions of its cubes.

    The cubes of a stack have the same levels, so that a group is in all of them or in none.
    """
    alike: dict[str, list[int]] = {}
    for position, cube in enumerate(cubes):
        alike.setdefault(levels_of(cube, _axes(cube)), []).append(position)
    for positions in alike.values():
        most = max(1, _MOST_CELLS // _cells(cubes[positions[0]]))
        for begin in range(0, len(positions), most):
            some = positions[begin : begin + most]
            yield some, _stack([cubes[position] for position in some])


def _axes(cube: Cube) -> tuple[Axis, ...]:
    return tuple(axis for axis in cube.plan.axes if axis.role in _KEPT)


def _cells(cube: Cube) -> int:
    return math.prod(len(cube.levels[axis]) + 1 for axis in _axes(cube))


def _stack(cubes: Sequence[Cube]) -> Cube:
    """Return cubes of the same levels as one, without the axes of strata, scores and clusters."""
    first, kept = cubes[0], _axes(cubes[0])
    apart = (Role.SCORE, Role.CLUSTER)
    counted = [
        i for i, table in enumerate(first.tables) if not any(a.role in apart for a in table.axes)
    ]
    axes = (*kept, PERIODS)
    tables = [_stacked_table([cube.tables[i] for cube in cubes], kept) for i in counted]
    positions = tuple(tuple(map(axes.index, table.axes)) for table in tables)
    return Cube(
        plan=replace(first.plan, axes=axes, tables=positions, moments=()),
        levels={axis: first.levels[axis] for axis in kept} | {PERIODS: tuple(range(len(cubes)))},
        tables=tuple(tables),
        rows=sum(cube.rows for cube in cubes),
    )


def _stacked_table(tables: Sequence[CountTable], kept: Sequence[Axis]) -> CountTable:
    """Return the tables of several periods one after the other; cells may stand several times."""
    columns = [i for i, axis in enumerate(tables[0].axes) if axis in kept]
    tables = with_cases(tables)
    period = np.repeat(np.arange(len(tables)), [len(table.codes) for table in tables])
    codes = np.concatenate([table.codes for table in tables])[:, columns]
    return CountTable(
        (*(tables[0].axes[i] for i in columns), PERIODS),
        np.column_stack([codes, period]),
        {
            measure: np.concatenate([table.sums[measure] for table in tables])
            for measure in _CASES
            if measure in tables[0].sums
        },
    )


ACCURACY = agreement()


class ComparisonId(NamedTuple):
    """A rule, by its number, for a group of a feature, and for a class of several.

    ``class_`` is a class that is held against all others; None where labels are positive or
    negative, and where all classes count together.
    """

    rule: int
    feature: str
    group: str
    class_: str | None = None


class SideCounts(NamedTuple):
    """Successes and rows of the two rates of a contrast, as its formula has them.

    ``d`` is the first of the formula: the group, or the reference where a metric is reference less
    group.
    """

    x_d: float
    n_d: float
    x_a: float
    n_a: float


class RuleCounts(NamedTuple):
    """The counts of a rule for the groups of a feature in some periods.

    Attributes
    ----------
    rule, feature, class_ : the number of the rule, the feature and the class.
    groups, references : the names of the groups, and of what they are compared with.
    counts : array of shape (periods, groups, 4): x_d, n_d, x_a, n_a; 0 without the group.
    present : array of shape (periods, groups): whether a period has the group.
    """

    rule: int
    feature: str
    class_: str | None
    groups: tuple[str, ...]
    references: tuple[str, ...]
    counts: Array
    present: NDArray[np.bool_]

    @property
    def ids(self) -> list[ComparisonId]:
        """Return the comparisons, one for each group."""
        return [ComparisonId(self.rule, self.feature, each, self.class_) for each in self.groups]


@dataclass(slots=True)
class ComparisonCounts:
    """The counts of all comparisons over all periods.

    Attributes
    ----------
    ids : the comparisons, in the order in which they arrived.
    arrivals : for each the number of its first period; -1 where a baseline has it.
    references : for each what it is compared with.
    counts : array of shape (periods, comparisons, 4): x_d, n_d, x_a, n_a.
    unlabelled : for every period the share of its rows without a label, where labels come later.
    """

    ids: list[ComparisonId]
    arrivals: list[int]
    references: list[str]
    counts: Array
    unlabelled: Array


def collect_counts(
    cubes: PeriodCubes,
    names: Sequence[str],
    spec: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    resumed: ComparisonCounts | None = None,
) -> ComparisonCounts:
    """Collect the counts of all comparisons from the cubes of all periods.

    Parameters
    ----------
    cubes, names : the periods and their names.
    spec : MonitorSpec
    rates : mapping
        The rates of the rules that counts decide exactly.
    resumed : ComparisonCounts, optional
        What the first of the periods came to.

    Raises
    ------
    DataError
        The counts of a period do not answer the question; the message names the period.
    """
    before = 0 if resumed is None else len(resumed.counts)
    arrivals, references = _known_before(spec, rates, resumed, cubes)
    new = cubes[before:]
    found = list(_of_periods(new, names[before:], spec, rates, cubes))
    first: dict[ComparisonId, int] = {}
    for positions, held in found:
        for each, reference, present in zip(held.ids, held.references, held.present.T, strict=True):
            references.setdefault(each, reference)
            if present.any():
                period = before + positions[int(np.argmax(present))]
                first[each] = min(period, first.get(each, period))
    for each, period in sorted(first.items(), key=lambda item: item[1]):
        arrivals.setdefault(each, period)
    column = {each: i for i, each in enumerate(arrivals)}
    counts = np.zeros((len(cubes), len(column), 4))
    unlabelled = np.zeros(len(cubes))
    if resumed is not None:
        counts[:before, : len(resumed.ids)] = resumed.counts
        unlabelled[:before] = resumed.unlabelled
    if spec.labels is Labels.LATER:
        unlabelled[before:] = [share_without_label(cube) for cube in new]
    for positions, held in found:
        known = [i for i, each in enumerate(held.ids) if each in column]
        columns = np.array([column[held.ids[i]] for i in known], dtype=np.int64)
        rows = before + np.array(positions)[:, np.newaxis]
        counts[rows, columns] = held.counts[:, known]
    return ComparisonCounts(
        list(column),
        list(arrivals.values()),
        [references[each] for each in column],
        counts,
        unlabelled,
    )


def _known_before(
    spec: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    resumed: ComparisonCounts | None,
    cubes: PeriodCubes,
) -> tuple[dict[ComparisonId, int], dict[ComparisonId, str]]:
    """Return arrivals and references of the comparisons of earlier periods, and of baselines."""
    arrivals: dict[ComparisonId, int] = {}
    references: dict[ComparisonId, str] = {}
    if resumed is not None:
        arrivals = dict(zip(resumed.ids, resumed.arrivals, strict=True))
        references = dict(zip(resumed.ids, resumed.references, strict=True))
    for rule in spec.rules:
        for held in counts_in(rule.baseline.cube, spec, rates, cubes) if rule.baseline else ():
            for each, reference in zip(held.ids, held.references, strict=True):
                arrivals.setdefault(each, -1)
                references.setdefault(each, reference)
    return arrivals, references


def counts_in(
    baseline: Cube, spec: MonitorSpec, rates: Mapping[int, MonitoredRate], cubes: PeriodCubes
) -> list[RuleCounts]:
    """Return the counts of every rule that contrasts a rate of rows in a baseline.

    It may lack a positive value that a period has, but no group that the question names.
    """

    def counted(cube: Cube) -> list[RuleCounts]:
        return [held for _, held in _of_periods([cube], [""], spec, rates, None)]

    try:
        return counted(baseline)
    except DataError:
        return counted(cubes.knowing_outcomes(baseline))


def _of_periods(
    cubes: Sequence[Cube],
    names: Sequence[str],
    spec: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    every: PeriodCubes | None,
) -> Iterator[tuple[list[int], RuleCounts]]:
    """Yield the counts of every rule that contrasts a rate of rows, with their periods' positions.

    ``every`` holds all periods: one of them may lack a value that the question names.
    """
    for cube in cubes:
        refuse_unfit(cube)
        if spec.question.missing is Missing.ERROR:
            refuse_missing(cube)
    for positions, stack in stacks(cubes) if rates else ():
        try:
            held = list(_rule_counts(stack, spec, rates))
        except SpecError as error:
            if every is None:
                named = names[positions[0]]
                raise DataError(f"the period {named}: {error}" if named else str(error)) from None
            wider = [every.knowing_all(cubes[position]) for position in positions]
            some = [names[position] for position in positions]
            for within, each in _of_periods(wider, some, spec, rates, None):
                yield [positions[i] for i in within], each
        else:
            yield from ((positions, each) for each in held)


def refuse_unfit(cube: Cube) -> None:
    """Refuse counts that are known within ranges alone, and clusters that no other period names."""
    if cube.min_cell is not None:
        raise CubeError("protected counts cannot be monitored; give the exact counts")
    if cube.clusters == NUMBERED:
        raise CubeError(
            f"a monitor needs one name of a cluster in all periods: set {CLUSTER_KEY} in the "
            "environment to 16 random characters or more (openssl rand -hex 32), keep it beside "
            "the rows, and count them again"
        )


def _rule_counts(
    stack: Cube, spec: MonitorSpec, rates: Mapping[int, MonitoredRate]
) -> Iterator[RuleCounts]:
    """Yield the counts of every rule for every feature and class, from a stack of periods.

    Raises
    ------
    SpecError
        A group, reference or positive value that the counts do not have.
    """
    question = spec.question
    periods = len(stack.levels[PERIODS])
    for counted in count_groups(stack, question):
        size = len(counted.groups)
        groups = np.tile(np.arange(size), periods)
        slots = np.repeat(np.arange(1, periods + 1), size)  # the first slot is all periods together
        # a period may be held against the values of all, and have no rows of a group
        present = counted.counts[stack.plan.cases][:size, 1:].sum(axis=(2, 3)).T > 0
        for class_, sides in sides_by_class(counted, stack, question):
            references = resolve_references(counted, sides, None, question)
            own, theirs = sides.pick(groups, slots), sides.pick(references.sides[groups], slots)
            for i, rate in rates.items():
                rule = spec.rules[i]
                feature = counted.feature, counted.feature_id
                if rule.features and not is_named(rule.features, *feature):
                    continue
                if sides.of_classes and rate.rate.name != ACCURACY.name:
                    continue  # of all classes together, only accuracy is a share of rows
                held = asked_groups(counted, rule)
                if rate.by != "rate":  # the reference itself is compared with nothing
                    held = [g for g in held if references.sides[g] != g]
                first, second = (theirs, own) if rate.turned else (own, theirs)
                columns = (*counts_of(first, rate), *counts_of(second, rate))
                named = ("" if rate.by == "rate" else str(references.each[g]) for g in held)
                here = np.stack(columns, axis=-1).reshape(periods, size, 4) * present[..., None]
                yield RuleCounts(
                    i,
                    counted.feature,
                    class_,
                    tuple(counted.groups[g] for g in held),
                    tuple(named),
                    here[:, held],
                    present[:, held],
                )


def sides_by_class(
    counted: GroupCounts, cube: Cube, question: Spec
) -> Iterator[tuple[str | None, CountsBySide]]:
    """Yield the counts of all sides: of two outcomes, or of every class and of all classes."""
    task = decide_task(cube, question)
    masks = outcome_masks(cube, question, task)
    if task is Task.BINARY:
        yield None, CountsBySide(counted, masks[0], question.profile)
        return
    for each in masks:
        yield each.class_scope.name, CountsBySide(counted, each, question.profile)
    nothing = OutcomeMasks(np.zeros_like(masks[0].labels), np.zeros_like(masks[0].predictions))
    yield None, CountsBySide(counted, nothing, question.profile, masks)


def asked_groups(counted: GroupCounts, rule: MonitorRule) -> list[int]:
    """Return the numbers of the groups that a rule is for."""
    return [
        i
        for i, (name, group) in enumerate(zip(counted.groups, counted.group_ids, strict=True))
        if not rule.groups or is_named(rule.groups, name, group)
    ]


def counts_of(side: ConfusionCounts, rate: MonitoredRate) -> tuple[Array, Array]:
    """Return the successes and rows of a rate; of all classes together, of overall accuracy."""
    if side.per_class:
        return ACCURACY.agreed(side), ACCURACY.size(side)
    cells = side.counts(rate.rate.needs)
    return rate.rate.of.count(cells), rate.rate.among.count(cells)


def exact_rates(spec: MonitorSpec) -> dict[int, MonitoredRate]:
    """Return the rules that counts of independent rows decide exactly, each with its rate.

    Others, and metrics that contrast no rate, are decided by estimates, asymptotically.
    """
    rates = ((i, monitored_rate(rule, spec)) for i, rule in enumerate(spec.rules))
    return {i: rate for i, rate in rates if rate is not None and is_exact(rate, spec.question)}


def share_without_label(cube: Cube) -> float:
    """Return the share of rows that have no label."""
    axis = cube.plan.axis(Role.LABEL)
    if axis is None:
        return 0.0
    held = cube.marginal((axis,))
    rows = held.sums[cube.plan.cases]
    return float(rows[held.codes[:, 0] < 0].sum() / max(rows.sum(), 1))


def largest_groups(
    question: Spec, names: Sequence[str], cubes: PeriodCubes, kept: Sequence[LargestGroup]
) -> tuple[LargestGroup, ...]:
    """Return the reference of every feature where a question asks for the largest group.

    Parameters
    ----------
    question : Spec
        With its task.
    names, cubes : the periods, at least one.
    kept : the choices of earlier runs, which hold while a period has their group.
    """
    if question.reference is not ReferenceRule.LARGEST:
        return ()
    known = {each.feature: each for each in kept if _has(question, names, cubes, each)}
    found = cubes.answer(cubes[0], lambda cube: [*_largest(question, names[0], cube)])
    return tuple(known.get(each.feature, each) for each in found)


def with_references(question: Spec, largest: Sequence[LargestGroup]) -> Spec:
    """Return a question with the largest groups as named references."""
    if question.reference is not ReferenceRule.LARGEST:
        return question
    return replace(question, reference=tuple((each.feature, each.group) for each in largest))


def _largest(question: Spec, name: str, cube: Cube) -> Iterator[LargestGroup]:
    """Yield the largest group of every feature that has groups in a period."""
    for counted in count_groups(cube, question):
        _, sides = next(sides_by_class(counted, cube, question))
        for reference in resolve_references(counted, sides, None, question).each[:1]:
            yield LargestGroup(feature=counted.feature, group=str(reference.group), period=name)


def _has(question: Spec, names: Sequence[str], cubes: Sequence[Cube], chosen: LargestGroup) -> bool:
    """Return whether the first period, or that of the choice, still has the chosen group."""
    held = [0, *(t for t, name in enumerate(names) if name == chosen.period)]
    return any(
        counted.feature == chosen.feature and chosen.group in counted.groups
        for t in held
        for counted in count_groups(cubes[t], question)
    )
