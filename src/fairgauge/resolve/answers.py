"""Answers: the cells of an audit by swapped names, an item under a variant, from counts of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fairgauge.cube.cube import Cube, distinct_rows
from fairgauge.cube.plan import SUM, Axis
from fairgauge.enums import ReferenceRule, Role, Task
from fairgauge.errors import Problem, cells, quote, refuse, suggest
from fairgauge.identity import group_names
from fairgauge.question.options import flag_of
from fairgauge.question.specification import SwapQuestion
from fairgauge.resolve.group_counts import cross_groups, unknown_levels
from fairgauge.resolve.outcomes import outcome_masks
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array, Index
from fairgauge.values import is_one_of, name_of

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Answers:
    """The cells of an audit by swapped names: the answers of a model to an item under a variant."""

    models: tuple[str | None, ...]  # their names; one that is None where no column names them
    # items, variants, groups: their names
    items: tuple[str, ...]
    variants: tuple[str, ...]
    groups: tuple[str, ...]
    group_of: Index  # the group of every variant
    family_of: Index | None  # the family of every item; None where none are asked for
    placebo: tuple[bool, ...]  # whether every group is of irrelevant edits
    # model, item, variant: the codes of every cell
    model: Index
    item: Index
    variant: Index
    # n, missing, mean: of every cell, the answers, those that are missing, and the mean
    n: Array
    missing: Array
    mean: Array
    unfavourable: tuple[str, ...]  # the decisions that are not favourable
    excluded: Mapping[str, int]  # rows that are in no cell, by reason

    @property
    def named(self) -> tuple[int, ...]:
        """Return the groups that are compared, those of irrelevant edits excepted."""
        return tuple(g for g, edit in enumerate(self.placebo) if not edit)

    @property
    def families(self) -> int | None:
        """Return how many families the items with answers are of; None where none are asked for."""
        there = self.item[self.n > 0]
        return None if self.family_of is None else len(np.unique(self.family_of[there]))


def read_answers(cube: Cube, question: SwapQuestion) -> Answers:
    """Return the cells of counted answers; refuse everything that is wrong with them at once."""
    table = cube.tables[0]
    axes: dict[Role, Axis] = {axis.role: axis for axis in table.axes}
    names = {role: tuple(axis.names(cube.levels[axis])) for role, axis in axes.items()}
    codes: dict[Role, Index] = dict(zip(axes, table.codes_of([*axes.values()]).T, strict=True))
    answer = axes.get(Role.SCORE) or axes[Role.PREDICTION]
    answered = codes[answer.role] >= 0
    rows = table.sums[cube.plan.cases]

    # the reference and groups that are excluded are found by name, below
    every = replace(question.spec, reference=ReferenceRule.OTHERS, exclude_groups=())
    crossing = cross_groups(cube, question.feature, every)
    groups = group_names(crossing.groups)
    group = crossing.groups_of(table.codes_of([part.axis for part in crossing.parts]))
    left_out = [g for g, name in enumerate(groups) if name in question.spec.exclude_groups]
    columns = (Role.ITEM, Role.VARIANT, Role.MODEL, Role.FAMILY)
    reasons = {f"missing {role}": codes[role] < 0 for role in columns if role in codes}
    reasons |= {"missing group": group < 0, "excluded group": np.isin(group, left_out)}
    excluded, kept = {}, np.ones(len(group), dtype=np.bool_)
    for reason, lacks in reasons.items():
        if lacking := int(rows[kept & lacks].sum()):
            excluded[reason] = lacking
        kept &= ~lacks
    variant, variants = codes[Role.VARIANT], names[Role.VARIANT]
    both, _ = distinct_rows(np.stack([variant, group], axis=1)[kept])
    of_several, count = np.unique(both[:, 0], return_counts=True)
    problems = []
    for v in of_several[count > 1].tolist()[:_MOST_NAMED]:
        of = [quote(groups[g]) for g in both[both[:, 0] == v, 1].tolist()[:2]]
        message = (
            f"{quote(variants[v])} is in several groups of {' * '.join(question.feature)}, "
            f"{' and '.join(of)}; give each its own variant, or one group"
        )
        problems.append(Problem("variant", message))
    family_of = None
    if Role.FAMILY in axes:
        item, family = codes[Role.ITEM][kept], codes[Role.FAMILY][kept]
        family_of = np.full(len(names[Role.ITEM]), -1)
        family_of[item] = family
        if (mixed := family_of[item] != family).any():
            name = quote(names[Role.ITEM][item[mixed][0]])
            message = f"item {name} is in several families of {quote(question.family or '')}"
            problems.append(Problem("family", f"{message}; an item is made from one text"))
    unfavourable: tuple[str, ...] = ()
    if question.decides:
        decisions, levels = codes[answer.role], cube.levels[answer]
        # a refusal to answer that is written as a text is no decision
        unknown = unknown_levels(answer, levels, every, Role.PREDICTION)
        answered &= ~np.append(unknown, True)[decisions]
        (masks,) = outcome_masks(cube, every, Task.BINARY)
        sums = rows * np.append(masks.predictions, False)[decisions]
        if not answer.cuts:
            refused = np.flatnonzero(~unknown & ~masks.predictions)
            unfavourable = tuple(name_of(levels[i]) for i in refused)
    else:
        sums = table.sums[SUM]
    refuse([*problems, *_unknown_groups(question, groups)])

    model = codes.get(Role.MODEL, np.zeros(len(group), np.int64))
    cells, cell = distinct_rows(np.stack([model, codes[Role.ITEM], variant], axis=1)[kept])
    there = answered[kept]

    def total(values: Array) -> Array:
        return np.bincount(cell, values[kept] * there, len(cells)).astype(np.float64)

    n = total(rows)
    group_of = np.full(len(variants), -1, dtype=np.int64)
    group_of[variant[kept]] = group[kept]
    used = [g for g in range(len(groups)) if (group_of == g).any()]
    position = np.full(len(groups) + 1, -1, dtype=np.int64)
    position[used] = np.arange(len(used))
    answers = Answers(
        models=names.get(Role.MODEL, (None,)), items=names[Role.ITEM], variants=variants,
        groups=tuple(groups[g] for g in used), group_of=position[group_of], family_of=family_of,
        placebo=tuple(is_one_of(groups[g], question.placebo) for g in used),
        model=cells[:, 0], item=cells[:, 1], variant=cells[:, 2],
        n=n, mean=total(sums) / np.maximum(n, 1),
        missing=np.bincount(cell, rows[kept] * ~there, len(cells)).astype(np.float64),
        unfavourable=unfavourable, excluded=excluded,
    )  # fmt: skip
    refuse([*_reasons_not_comparable(answers, question)])
    return answers


def _unknown_groups(question: SwapQuestion, groups: Sequence[str]) -> Iterator[Problem]:
    feature = " * ".join(question.feature)
    asked = [("placebo", name_of(value)) for value in question.placebo]
    asked += [("exclude_groups", name) for name in question.spec.exclude_groups]
    if (reference := question.named_reference) is not None:
        asked.append(("reference", reference))
    for option, name in asked:
        if not is_one_of(name, groups):
            near = suggest(name, groups)
            yield Problem(option, f"no {quote(name)} in {feature}.{near} It has {cells(groups)}")
    if reference in question.spec.exclude_groups:
        yield Problem("reference", f"{quote(reference)} is an excluded group; name another")
    if reference is not None and is_one_of(reference, question.placebo):
        message = f"{quote(reference)} is an irrelevant edit (placebo); compare names with names"
        yield Problem("reference", message)


def _reasons_not_comparable(answers: Answers, question: SwapQuestion) -> Iterator[Problem]:
    # why nothing can be compared: one group alone, or no item under names of two groups
    feature = " * ".join(question.feature)
    named = answers.named
    if len(named) < 2:
        has = cells(answers.groups[g] for g in named)
        yield Problem("sensitive", f"{feature} must have at least two groups to compare, not {has}")
        return
    there = answers.n > 0
    if not there.any():
        yield Problem(question.rate, f"column {quote(question.answer)} has no answer")
        return
    group = answers.group_of[answers.variant]
    keys = np.stack([answers.model, answers.item, group], axis=1)[there & np.isin(group, named)]
    of_item = np.bincount(distinct_rows(distinct_rows(keys)[0][:, :2])[1])
    if not (of_item > 1).any():
        yield Problem("item", (
            f"no {quote(question.item)} was answered under names of two groups; where each has one "
            "variant, audit it with the names as clusters (fairgauge audit "
            f"{flag_of('cluster', question.variant)})"
        ))  # fmt: skip
