"""The counts of every monitored comparison in every period.

References are chosen by the numbers of rows of the first period, and not by outcomes, so that the
promise holds: the largest group where that is asked for, and of two groups that would each be
compared with the other the larger, so that they are one comparison with the limits of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.statistics import agreement
from fairgauge.cube.cube import Cube
from fairgauge.enums import Missing, ReferenceRule, Task
from fairgauge.errors import CubeError, DataError, SpecError
from fairgauge.identity import is_named
from fairgauge.monitoring._period_cubes import PERIODS, PeriodCubes, drop_rows, stacks, sum_cubes
from fairgauge.monitoring.monitor_spec import (
    MonitoredRate,
    MonitorRule,
    MonitorSpec,
    Rates,
    contrasted_rate,
    is_exact,
)
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, count_groups, refuse_missing
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, outcome_masks
from fairgauge.resolve.references import CountsBySide, resolve_references
from fairgauge.scan.identifiers import CLUSTER_KEY, NUMBERED
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array
from fairgauge.values import MISSING_NAME

ACCURACY = agreement()


class ComparisonId(NamedTuple):
    """A rule, by its number, for a group of a feature, and a class that is held against all."""

    rule: int
    feature: str
    group: str
    class_: str | None = None


class SideCounts(NamedTuple):
    """Successes and rows of the two rates of a contrast; ``d`` is the first of its formula."""

    x_d: float
    n_d: float
    x_a: float
    n_a: float


class RuleCounts(NamedTuple):
    """The counts of a rule for the groups of a feature in some periods.

    ``counts`` have shape (periods, groups, 4): x_d, n_d, x_a, n_a; 0 where one is not ``present``.
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
        return [ComparisonId(self.rule, self.feature, group, self.class_) for group in self.groups]


@dataclass(slots=True)
class ComparisonCounts:
    """The counts of all comparisons over all periods, shape (periods, comparisons, 4).

    ``arrivals`` are the number of the first period of each; -1 where a baseline has it.
    ``baselines`` are the counts of those whose rule has one that holds them.
    """

    ids: list[ComparisonId]
    arrivals: list[int]
    references: list[str]
    counts: Array
    baselines: dict[ComparisonId, SideCounts]


def collect_counts(
    cubes: PeriodCubes, names: Sequence[str], spec: MonitorSpec, rates: Rates
) -> ComparisonCounts:
    """Collect the counts of all comparisons of ``rates`` from the cubes of all periods."""
    arrivals: dict[ComparisonId, int] = {}
    references: dict[ComparisonId, str] = {}
    baselines: dict[ComparisonId, SideCounts] = {}
    for i, rule in enumerate(spec.rules):
        cube = rule.baseline.cube if rule.baseline else None
        for held in () if cube is None else _baseline_counts(cube, spec, rates, cubes):
            arrivals |= dict.fromkeys(held.ids, -1)
            references |= dict(zip(held.ids, held.references, strict=True))
            if held.rule == i:
                rows = (SideCounts(*row) for row in held.counts[0].tolist())
                baselines |= dict(zip(held.ids, rows, strict=True))
    found = list(_period_counts(cubes, names, spec, rates, every=cubes))
    first: dict[ComparisonId, int] = {}
    for positions, held in found:
        for each, reference, present in zip(held.ids, held.references, held.present.T, strict=True):
            references.setdefault(each, reference)
            if present.any():
                period = positions[int(np.argmax(present))]
                first[each] = min(period, first.get(each, period))
    for each, period in sorted(first.items(), key=lambda item: item[1]):
        arrivals.setdefault(each, period)
    column = {each: i for i, each in enumerate(arrivals)}
    counts = np.zeros((len(cubes), len(column), 4))
    for positions, held in found:
        known = [i for i, each in enumerate(held.ids) if each in column]
        columns = np.array([column[held.ids[i]] for i in known], dtype=np.int64)
        counts[np.array(positions)[:, np.newaxis], columns] = held.counts[:, known]
    return ComparisonCounts([*column], [*arrivals.values()], [references[each] for each in column],
        counts, baselines)  # fmt: skip


def _baseline_counts(
    baseline: Cube, spec: MonitorSpec, rates: Rates, cubes: PeriodCubes
) -> list[RuleCounts]:
    # a baseline may lack a positive value, but no group that is named
    def counted(cube: Cube) -> list[RuleCounts]:
        return [held for _, held in _period_counts([cube], [""], spec, rates)]

    try:
        return counted(baseline)
    except DataError:
        # with the outcomes of all periods, and the baseline's own groups alone
        own, every = drop_rows(baseline), cubes.blank
        levels = {**own.levels, **{axis: every.levels[axis] for axis in baseline.plan.outcomes}}
        return counted(sum_cubes([baseline, replace(every, levels=levels, tables=own.tables)]))


def _period_counts(
    cubes: Sequence[Cube],
    names: Sequence[str],
    spec: MonitorSpec,
    rates: Rates,
    *,
    every: PeriodCubes | None = None,
) -> Iterator[tuple[list[int], RuleCounts]]:
    # ``every`` holds all periods: one of them may lack a value that the question names
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
            for within, each in _period_counts(wider, some, spec, rates):
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


def _rule_counts(stack: Cube, spec: MonitorSpec, rates: Rates) -> Iterator[RuleCounts]:
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
                held = [
                    g
                    for g, of in enumerate(zip(counted.groups, counted.group_ids, strict=True))
                    if (not rule.groups or is_named(rule.groups, *of))
                    and (rate.by == "rate" or references.sides[g] != g)  # compared with nothing
                ]
                first, second = (theirs, own) if rate.turned else (own, theirs)
                columns = (*counts_of(first, rate), *counts_of(second, rate))
                named = ("" if rate.by == "rate" else str(references.each[g]) for g in held)
                here = np.stack(columns, axis=-1).reshape(periods, size, 4) * present[..., None]
                yield RuleCounts(i, counted.feature, class_, tuple(counted.groups[g] for g in held),
                    tuple(named), here[:, held], present[:, held])  # fmt: skip


def sides_by_class(
    counted: GroupCounts, cube: Cube, question: Spec
) -> Iterator[tuple[str | None, CountsBySide]]:
    """Yield the counts of all sides: of two outcomes, or of every class and of all classes."""
    task = decide_task(cube, question)
    masks = outcome_masks(cube, question, task)
    if task is Task.BINARY:
        yield None, CountsBySide(counted, masks[0], question.profile)
        return
    for mask in masks:
        yield mask.class_scope.name, CountsBySide(counted, mask, question.profile)
    nothing = OutcomeMasks(np.zeros_like(masks[0].labels), np.zeros_like(masks[0].predictions))
    yield None, CountsBySide(counted, nothing, question.profile, masks)


def counts_of(side: ConfusionCounts, rate: MonitoredRate) -> tuple[Array, Array]:
    """Return the successes and rows of a rate; of all classes together, of overall accuracy."""
    if side.per_class:
        return ACCURACY.agreed(side), ACCURACY.size(side)
    cells = side.counts(rate.rate.needs)
    return rate.rate.of.count(cells), rate.rate.among.count(cells)


def exact_rates(spec: MonitorSpec) -> dict[int, MonitoredRate]:
    """Return the rules that counts of independent rows decide exactly, each with its rate."""
    rates = [contrasted_rate(spec.catalogue.row(rule.metric)) for rule in spec.rules]
    return {i: rate for i, rate in enumerate(rates) if rate and is_exact(rate, spec.question)}


def fix_references(spec: MonitorSpec, cubes: PeriodCubes) -> tuple[Spec, frozenset[str]]:
    """Return a question with references that the first period chooses, and features of two.

    These are the largest groups, where they are asked for, and of two groups that would each be
    compared with the other, the one that is the reference of both.
    """
    question = spec.question
    if question.reference is ReferenceRule.LARGEST:

        def largest(cube: Cube) -> Iterator[tuple[str, str]]:
            for counted in count_groups(cube, question):
                _, sides = next(sides_by_class(counted, cube, question))
                for each in resolve_references(counted, sides, None, question).each[:1]:
                    yield counted.feature, str(each.group)

        named = cubes.answer(cubes[0], lambda cube: tuple(largest(cube)))
        return replace(question, reference=named), frozenset()
    stated = question.reference if isinstance(question.reference, tuple) else ()
    chosen = bool(stated) or question.reference is ReferenceRule.OTHERS
    if not chosen or all(e.groups for e in spec.rules) or not all(map(_is_for_both, spec.rules)):
        return question, frozenset()
    of_rules = {group for rule in spec.rules for group in rule.groups}
    of_two = {}
    for counted in cubes.answer(cubes[0], lambda cube: [*count_groups(cube, question)]):
        rows = counted.cases[: len(counted.groups)]
        # of two groups of the same size, the second is the reference, as in an audit
        larger = sorted(np.flatnonzero(rows > 0).tolist(), key=lambda g: (rows[g], g), reverse=True)
        names = [counted.groups[g] for g in larger if counted.groups[g] not in of_rules]
        plain = len(counted.feature_id.columns) == 1 and MISSING_NAME not in counted.groups
        if plain and len(larger) == 2 and names and counted.feature not in dict(stated):
            of_two[counted.feature] = names[0]
    if not of_two:
        return question, frozenset()
    return replace(question, reference=(*stated, *of_two.items())), frozenset(of_two)


def _is_for_both(rule: MonitorRule) -> bool:
    metric = rule.definition
    if metric is None or metric.scope != "group":
        return True
    neutral = metric.neutral if rule.baseline is None else 0.0
    return metric.turn is not None and rule.low <= neutral <= rule.high
