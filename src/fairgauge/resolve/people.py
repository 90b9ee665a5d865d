"""People: the counts of rows by person, made into counts of people.

Rows are counted by person in one scan (`plan_by_person`), by every engine as clusters are; what
counts of a person is decided here (`count_people`). The counts of people hold no identifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fairgauge.cube.cube import Cube, aggregate
from fairgauge.cube.identifiers import placeholders, spellings_of
from fairgauge.cube.plan import OUTCOMES, Axis, Plan
from fairgauge.enums import Favourable, Role, Task, Uncounted
from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task, outcome_masks
from fairgauge.stats.arrays import Array, Index, Mask


def plan_by_person(plan: Plan, spec: Spec) -> Plan:
    """Return the plan of one table by all axes and the person."""
    person = str(spec.person)
    axes = (*plan.axes, Axis(Role.CLUSTER, person, recoding=spec.recoding(person)))
    return replace(plan, axes=axes, tables=(tuple(range(len(axes))),))


def count_people(rows: Cube, plan: Plan, spec: Spec) -> Cube:
    """Return counts of people, each once, of counts of rows by person.

    A person is in the group that their rows state; where these state several, their group is
    unknown. A row without a person counts as a person of its own. The decision of a person
    without a known one is missing, as that of a row may be. Where a known one could be changed
    by an unknown one, the known one counts, and the measure "open" counts the person.

    Raises ``DataError``: A person is in several strata.
    Raises ``SpecError``: no positive value is known.
    """
    (table,) = rows.tables
    codes = {axis: table.codes[:, i].copy() for i, axis in enumerate(table.axes)}
    for axis in plan.axes:
        if axis.role is Role.FEATURE:
            unknown = np.append(unknown_levels(axis, rows.levels[axis], spec), False)
            codes[axis][unknown[codes[axis]]] = -1
    identifiers = rows.levels[table.axes[len(plan.axes)]]
    person = codes[table.axes[len(plan.axes)]]
    named = person >= 0
    if len(named) and not named.any():
        raise DataError(
            f"column {quote(str(spec.person))} names no person: it is empty in every row; name the "
            "column of persons, or audit rows (without person)"
        )
    known = {axis: code[named] for axis, code in codes.items()}
    people, of = np.unique(person[named], return_inverse=True)
    groups = {
        axis: consistent_value(known[axis], of, len(people))
        for axis in plan.axes
        if axis.role not in OUTCOMES
    }
    for axis, (_, several) in groups.items():
        if axis.role is Role.STRATUM and several.any():
            raise DataError(
                f"{int(several.sum()):,} people are in several strata of {quote(axis.column)}, and "
                "a person counts once; count each of their decisions (--per-person each), or "
                "remove strata"
            )
    unnamed = table.sums["rows"][~named]
    own = {measure: each[named] for measure, each in table.sums.items()}
    outcomes, counting, open_ = _decisions(rows, plan, spec, known, of, len(people), own)
    conflicts = {
        axis.column: int(several.sum())
        for axis, (_, several) in groups.items()
        if axis.role is not Role.CODES
    }
    if spec.person not in conflicts and spec.person is not None:
        conflicts[spec.person] = int(unnamed.sum())
    columns = [outcomes[a] if a in outcomes else groups[a][0] for a in plan.axes]
    every = np.concatenate(
        [np.stack(columns, axis=-1), np.stack([codes[axis][~named] for axis in plan.axes], axis=-1)]
    )
    sums = {"rows": np.concatenate([np.ones(len(people)), unnamed])}
    if open_.any():
        sums["open"] = np.concatenate([open_, np.zeros_like(unnamed)])
    of_counting = of[counting]
    counted = np.maximum(np.bincount(of_counting, own["rows"][counting], len(people)), 1)
    for moment in plan.moments:
        unknown = np.any([c < 0 for a, c in outcomes.items() if a.column in moment.columns], axis=0)
        mean = np.bincount(of_counting, own[moment.name][counting], len(people)) / counted
        every_sum = [np.where(unknown, 0.0, mean), table.sums[moment.name][~named]]
        sums[moment.name] = np.concatenate(every_sum)
    further = int(table.sums["rows"].sum() - sums["rows"].sum())
    tables = tuple(
        aggregate(tuple(plan.axes[i] for i in at), every[:, list(at)], sums) for at in plan.tables
    )
    return Cube(
        plan,
        {axis: rows.levels[axis] for axis in plan.axes},
        tables,
        rows.rows,
        {Uncounted.SAME_PERSON: further} if further else {},
        unseen=rows.unseen,
        conflicts=tuple((column, n) for column, n in conflicts.items() if n),
        spellings=spellings_of(identifiers),
        placeholders=placeholders(
            identifiers, np.bincount(of, table.sums["rows"][named]), spec.recoding(str(spec.person))
        ),
        left_out=rows.left_out,
    )


def consistent_value(code: Index, of: Index, people: int) -> tuple[Index, Mask]:
    """Return the one known value of every person, -1 where there is none or there are several."""
    low = np.full(people, np.iinfo(np.int64).max)
    high = np.full(people, -1)
    np.minimum.at(low, of[code >= 0], code[code >= 0])
    np.maximum.at(high, of, code)
    several = (high >= 0) & (low != high)
    return np.where(several, -1, high), several


def _decisions(
    rows: Cube,
    plan: Plan,
    spec: Spec,
    known: dict[Axis, Index],
    of: Index,
    people: int,
    sums: Mapping[str, Array],
) -> tuple[dict[Axis, Index], Mask, Mask]:
    # third, whether an unknown one could change it
    axis = plan.outcomes[-1]
    complete = known[axis] >= 0
    # how favourable each decision is, 0 the most; the last entry is of none
    cube = replace(rows, plan=plan)
    if (task := decide_task(cube, spec)) is not Task.BINARY:
        message = "of classes no decision is favourable; state positive, or count each decision"
        raise SpecError(Problem("per_person", message))
    (masks,) = outcome_masks(cube, spec, task)
    mask = masks.labels if axis.role is Role.LABEL else masks.predictions
    favoured = ~mask if spec.favourable is Favourable.NEGATIVE else mask
    favour = np.append(np.where(favoured, 0, -1), -2)
    rank = favour[known[axis]]  # code -1 reads the last, of no decision
    best = np.full(people, favour[-1])
    np.maximum.at(best, of, rank)
    at_best = rank == best[of]
    # of several that count alike the rarest stays: it is the one that a check may doubt
    sizes = np.bincount(known[axis] + 1, sums["rows"], len(rows.levels[axis]) + 1)
    by_size = np.append(np.argsort(-sizes[1:], kind="stable"), -1)
    place = np.argsort(by_size[:-1])
    found = np.full(people, -1)
    held = at_best & complete
    np.maximum.at(found, of[held], place[known[axis][held]])
    open_ = np.isin(np.arange(people), of[~complete]) & (best > favour[-1]) & (best < 0)
    return {axis: by_size[found]}, at_best, open_
