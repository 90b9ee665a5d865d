"""Resolution: what a specification means in the counts, as one immutable value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import GroupKind, Task
from fairgauge.errors import Problem, SpecError, cells, nearest, quote, refuse
from fairgauge.identity import FeatureId, texts_of
from fairgauge.question.option_types import POPULATION_ROUNDING
from fairgauge.question.specification import Spec, strata_alone
from fairgauge.resolve.asked_metrics import AskedMetric, asked_metrics
from fairgauge.resolve.group_counts import (
    GroupCounts,
    count_everyone,
    count_groups,
    population_shares,
)
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, outcome_masks
from fairgauge.values import name_of

Resolved = TypeVar("Resolved")


@dataclass(frozen=True, eq=False)
class Resolution:
    """What a specification means in the counts.

    Attributes
    ----------
    spec : the specification.
    task : what label and prediction are.
    outcomes : which outcomes are positive, one for each threshold or class.
    features : the counts of every sensitive feature and intersection.
    metrics : the metrics that are asked for, each with what stands against computing it.
    cube, mean_weight : the counts in mean weights, and that mean.
    """

    spec: Spec
    task: Task
    outcomes: tuple[OutcomeMasks, ...]
    features: tuple[GroupCounts, ...]
    metrics: tuple[AskedMetric, ...]
    cube: Cube
    mean_weight: float

    @cached_property
    def everyone(self) -> GroupCounts:
        """Return the counts of all rows as one group."""
        return replace(count_everyone(self.cube), mean_weight=self.mean_weight)


def resolve(cube: Cube, spec: Spec) -> Resolution:
    """Resolve groups, references, positive outcomes, thresholds, strata and metrics.

    Raises
    ------
    SpecError
        Everything at once that is asked for and that the data or the catalogue do not have.
    DataError
        Missing values where the specification treats them as errors.
    """
    problems: list[Problem] = []

    def collected(make: Callable[[], Resolved]) -> Resolved | None:
        try:
            return make()
        except SpecError as error:
            problems.extend(error.problems)
            return None

    cube, mean_weight = in_mean_weights(cube)
    task = decide_task(cube, spec)
    metrics = collected(lambda: asked_metrics(cube, spec, task))
    outcomes = collected(lambda: outcome_masks(cube, spec, task))
    features = collected(lambda: resolve_groups(cube, spec))
    if metrics is None or outcomes is None or features is None:
        raise SpecError(problems)
    features = [replace(feature, mean_weight=mean_weight) for feature in features]
    return Resolution(spec, task, outcomes, tuple(features), tuple(metrics), cube, mean_weight)


def resolve_groups(cube: Cube, spec: Spec) -> list[GroupCounts]:
    """Resolve groups, named references and populations, which need no label and no prediction.

    Raises
    ------
    SpecError
        A group, a value or a share that the data do not have.
    DataError
        Missing values where the specification treats them as errors.
    """
    features = count_groups(cube, spec)
    problems = [
        *absent_exclusions([cube], spec),
        *_wrong_populations(features, spec),
        *strata_alone(spec),
    ]
    refuse(problems)
    return features


def absent_exclusions(cubes: Sequence[Cube], spec: Spec) -> Iterator[Problem]:
    """Yield the groups that are to be excluded and that no feature of any counts has.

    Where data come in parts, such as the periods of a monitor, a part need not have each of them.
    """
    if not spec.exclude_groups:
        return
    texts = {text for cube in cubes for text in _excludable(cube, spec)}
    held = {*texts, *map(name_of, spec.unknown)}  # rows of unknown groups are in none already
    for i, name in enumerate(spec.exclude_groups):
        if name not in held:
            known = cells(sorted(texts))
            message = f"no feature has a group {quote(name)}.{nearest(name, texts)} Groups: {known}"
            yield Problem(f"exclude_groups[{i}]", message)


def held_exclusions(cube: Cube, spec: Spec) -> tuple[str, ...]:
    """Return the groups that are to be excluded and that one part of the data has."""
    texts = _excludable(cube, spec) if spec.exclude_groups else ()
    return tuple(name for name in spec.exclude_groups if name in texts)


def _excludable(cube: Cube, spec: Spec) -> set[str]:
    counted = count_groups(cube, replace(spec, exclude_groups=()))
    texts = {
        text
        for each in counted
        for name, group in zip(each.groups, each.group_ids, strict=True)
        if group.kind is not GroupKind.MISSING
        for text in texts_of(name, group)
    }
    return texts.union(*(each.groups for each in spec.probabilities))


def _wrong_populations(features: Sequence[GroupCounts], spec: Spec) -> Iterator[Problem]:
    populations = {FeatureId((column,)): shares for column, shares in spec.population}
    for feature in features:
        shares = populations.get(feature.feature_id)
        if shares is None:
            continue
        held = population_shares(feature, spec)
        absent = [
            feature.groups[i]
            for i, group in enumerate(feature.group_ids)
            if i not in held and group.kind is not GroupKind.MISSING
        ]
        total = sum(share for _, share in shares)
        path, whole = f"population.{feature.feature}", total > 1 - POPULATION_ROUNDING
        if whole and absent and held:
            message = (
                f"leaves no share for {cells(absent)}, which the data "
                "have; give every group its share, or shares of the whole population that leave "
                "some to the groups that are not named"
            )
            yield Problem(path, message)
        elif not whole and not absent and not feature.has_others:
            message = (
                f"the shares add up to {total:.4g}, and name every group of the data; state who is "
                "missing, or give counts"
            )
            yield Problem(path, message)


def in_mean_weights(cube: Cube) -> tuple[Cube, float]:
    """Return the cube with weights in units of their mean, and that mean: 1 without weights.

    Weights state how much rows count against each other. Their unit must not matter where a number
    of rows enters a formula: in the divisor of a variance, or beside a prior count.
    """
    sums = cube.tables[0].sums
    total = sums["w"].sum() if "w" in sums else 0.0
    if not total > 0:
        return cube, 1.0
    mean = float(total / sums.get("n", sums["rows"]).sum())
    powers = {name: i for i, name in enumerate(WEIGHTS, 1)}
    powers |= {moment.name: moment.power for moment in cube.plan.moments}
    tables = tuple(
        replace(
            table,
            sums={
                name: of / mean ** powers[name] if name in powers else of
                for name, of in table.sums.items()
            },
        )
        for table in cube.tables
    )
    return replace(cube, tables=tables), mean
