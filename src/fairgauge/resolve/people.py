"""People: the counts of rows by person, made into counts of people.

Rows are counted by person in one scan (`by_person`), by every engine as clusters are; what counts
of a person is decided here (`count_people`). The counts of people hold no identifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Generic, TypeVar

import numpy as np

from fairgauge.cube.cube import Cube, aggregate
from fairgauge.cube.identifiers import placeholders, spellings_of
from fairgauge.cube.plan import OUTCOMES, Axis, Plan
from fairgauge.enums import Favourable, Person, Role, Task, Uncounted
from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.question.category_words import means_no_outcome
from fairgauge.question.features import Ordered
from fairgauge.question.recoding import UNKNOWN, recoding_flag
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task, outcome_masks
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.values import is_one_of

Outcome = TypeVar("Outcome", Axis, str)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
_DAY = len("2026-01-31")
_SAME = 1e-11
"""The variance of numbers, of their mean square, up to which sums do not show that they differ."""


def by_person(plan: Plan, spec: Spec) -> Plan:
    """Return the plan of one table by all axes, the person and, where it matters, the order."""
    further = [column for column in (spec.person, spec.order) if column is not None]
    added = (Axis(Role.CLUSTER, each, recoding=spec.recoding(each)) for each in further)
    axes = (*plan.axes, *added)
    return replace(plan, axes=axes, tables=(tuple(range(len(axes))),))


def count_people(rows: Cube, plan: Plan, spec: Spec) -> Cube:
    """Return counts of people, each once, of counts of rows by person.

    A person is in the group that their rows state; where these state several, their group is
    unknown. A row without a person counts as a person of its own. The decision of a person
    without a known one is missing, as that of a row may be. Of who has one, and another that is
    unknown and could change it, the first counts, and the measure "open" counts the person. The
    label beside a last prediction is that of its row, missing where that row has none. Numbers are
    summed of the decisions that count.

    Raises
    ------
    DataError
        A person is in several strata, or the order is not one of numbers or ISO dates.
    SpecError
        No positive value is known.
    """
    (table,) = rows.tables
    codes = {axis: table.codes[:, i].copy() for i, axis in enumerate(table.axes)}
    for axis in plan.axes:
        if axis.role is Role.FEATURE:
            unknown = np.append(unknown_levels(axis, rows.levels[axis], spec), False)
            codes[axis][unknown[codes[axis]]] = -1
    identifiers = rows.levels[table.axes[len(plan.axes)]]
    person = codes[table.axes[len(plan.axes)]]
    order = codes[table.axes[-1]] if spec.order is not None else np.zeros_like(person)
    if spec.order is not None:
        _check_order(rows, table.axes[-1], spec)
    named = person >= 0
    if len(named) and not named.any():
        raise DataError(
            f"column {quote(str(spec.person))} names no person: it is empty in every row; name the "
            "column of persons, or audit rows (without person)"
        )
    known = {axis: code[named] for axis, code in codes.items()}
    people, of = np.unique(person[named], return_inverse=True)
    groups = {
        axis: only_value(known[axis], of, len(people))
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
    outcomes, last, open_, tied = _decisions(
        rows, plan, spec, known, of, order[named], len(people), own
    )
    conflicts = {axis.column: int(several.sum()) for axis, (_, several) in groups.items()}
    conflicts |= tied
    if spec.person not in conflicts and spec.person is not None:
        conflicts[spec.person] = int(unnamed.sum())
    columns = [outcomes[a] if a in outcomes else groups[a][0] for a in plan.axes]
    every = np.concatenate(
        [np.stack(columns, axis=-1), np.stack([codes[axis][~named] for axis in plan.axes], axis=-1)]
    )
    sums = {"rows": np.concatenate([np.ones(len(people)), unnamed])}
    if open_.any():
        sums["open"] = np.concatenate([open_, np.zeros_like(unnamed)])
    for moment in plan.moments:
        unknown = np.any([c < 0 for a, c in outcomes.items() if a.column in moment.columns], axis=0)
        mean = _means(of, last, own, moment.name, len(people))
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
            identifiers,
            np.bincount(of, table.sums["rows"][named]),
            spec.recoding(str(spec.person)),
        ),
        undecided=rows.undecided,
    )


def only_value(code: Index, of: Index, people: int) -> tuple[Index, Mask]:
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
    order: Index,
    people: int,
    sums: Mapping[str, Array],
) -> tuple[dict[Axis, Index], Mask, Mask, dict[str, int]]:
    """Return what counts of every person's decisions, and which cells hold the last of these.

    Third, whether an unknown one could change it, and last, of how many people it is not known.
    """
    axis = plan.outcomes[-1]
    complete = known[axis] >= 0
    if spec.per_person is Person.LAST:

        def differ(axis: Axis, last: Mask) -> Mask:
            code = _outcomes(rows, spec, axis)[np.where(last, known[axis], -1)]
            several = only_value(code, of, people)[1]
            return several | _numbers_differ(
                plan, axis, of, last & (known[axis] >= 0), sums, people
            )

        codes = {each: known[each] for each in plan.outcomes}
        decided = last_decisions(codes, axis, differ, of, order, people)
        later = ~complete & ((order < 0) | (order >= decided.newest[of]))
        open_ = np.isin(np.arange(people), of[later]) & (decided.found[axis] >= 0)
        tied = {axis.column: n for axis, n in decided.tied.items()}
        return decided.found, decided.last, open_, tied | {str(spec.order): decided.mixed}
    favour = _favour(rows, plan, spec, axis)
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
    code = by_size[found]
    open_ = np.isin(np.arange(people), of[~complete]) & (best > favour[-1]) & (best < 0)
    return {axis: code}, at_best, open_, {}


@dataclass(frozen=True, slots=True, eq=False)
class LastDecisions(Generic[Outcome]):
    """The last known decisions of people.

    Attributes
    ----------
    found : for every outcome the code of each person, -1 where it is unknown.
    last : the rows, or cells, that hold them.
    newest : the place of each in the order, -1 without one, -2 of no decision.
    tied, mixed : of how many people several differ, by outcome, and of how many the last decision
        is unknown because one is undated.
    """

    found: dict[Outcome, Index]
    last: Mask
    newest: Index
    tied: dict[Outcome, int]
    mixed: int


def last_decisions(
    codes: Mapping[Outcome, Index],
    decision: Outcome,
    differ: Callable[[Outcome, Mask], Mask],
    of: Index,
    order: Index,
    people: int,
) -> LastDecisions[Outcome]:
    """Return the last known decisions of people, from the codes of their rows or cells.

    Other outcomes are those of the last rows, unknown where one of these has none. ``differ``
    returns of whom the last ones are a contradiction.
    """
    complete = codes[decision] >= 0
    newest = np.full(people, -2)
    np.maximum.at(newest, of[complete], order[complete])
    last = complete & (order == newest[of])
    undated = np.isin(np.arange(people), of[complete & (order < 0)])
    several = {outcome: differ(outcome, last) for outcome in codes}
    mixed = undated & ((newest >= 0) | several[decision])  # which is the last is unknown
    found, tied = {}, {}
    for outcome, code in codes.items():
        value = np.full(people, -1)
        np.maximum.at(value, of[last], code[last])
        value[of[last & (code < 0)]] = -1
        found[outcome] = np.where(mixed | several[outcome], -1, value)
        tied[outcome] = int((several[outcome] & ~mixed).sum())
    return LastDecisions(found, last, newest, tied, int(mixed.sum()))


def _numbers_differ(
    plan: Plan, axis: Axis, of: Index, last: Mask, sums: Mapping[str, Array], people: int
) -> Mask:
    own = {len(m.factors): m.name for m in plan.moments if m.columns == (axis.column,)}
    if not own:
        return np.zeros(people, dtype=bool)
    mean, square = (_means(of, last, sums, own[power], people) for power in (1, 2))
    return square - mean**2 > _SAME * square


def _means(of: Index, at: Mask, sums: Mapping[str, Array], measure: str, people: int) -> Array:
    total, rows = (np.bincount(of[at], sums[m][at], people) for m in (measure, "rows"))
    return total / np.maximum(rows, 1)


def _outcomes(rows: Cube, spec: Spec, axis: Axis) -> Index:
    """Return a number for what each decision comes to, -1 at the end for none.

    Where some values are favourable and all others are not, two that are not are no contradiction.
    """
    levels = rows.levels[axis]
    numbers = np.arange(len(levels))
    positive = spec.positive_of(axis.column)
    if positive and spec.task in (None, Task.BINARY):
        for of in (
            [is_one_of(level, positive) for level in levels],
            [not is_one_of(level, positive) for level in levels],
        ):  # fmt: skip
            numbers[of] = numbers[of].max(initial=0)
    return np.append(numbers, -1)


def _favour(rows: Cube, plan: Plan, spec: Spec, axis: Axis) -> Index:
    """Return how favourable each decision is, 0 the most; the last entry is of none."""
    levels, harms = rows.levels[axis], spec.favourable is Favourable.NEGATIVE
    if isinstance(spec.positive, Ordered):
        steps = [
            sum(is_one_of(level, selected) for selected in spec.positive.selections)
            for level in levels
        ]
        most = len(spec.positive.selections)
        return np.array([*(-s if harms else s - most for s in steps), -1 - most])
    task = decide_task(replace(rows, plan=plan), spec)
    if task is not Task.BINARY:
        message = "of classes no decision is favourable; state positive, or count each decision"
        raise SpecError(Problem("per_person", message))
    cube = replace(rows, plan=plan)
    (masks,) = outcome_masks(cube, spec, task)
    mask = masks.labels if axis.role is Role.LABEL else masks.predictions
    favoured = ~mask if harms else mask
    return np.append(np.where(favoured, 0, -1), -2)


def _check_order(rows: Cube, axis: Axis, spec: Spec) -> None:
    """Check that the values of an order have one: numbers, or dates in ISO form."""
    texts = [value for value in rows.levels[axis] if isinstance(value, str)]
    wrong = [value for value in texts if not _is_date(value)]
    if wrong or len(texts) not in (0, len(rows.levels[axis])):
        shown = (wrong or texts)[0]
        message = (
            f"column {quote(axis.column)} orders the decisions of a person, but has "
            f"{quote(shown)}, which is neither a number nor a date of the form 2026-01-31"
        )
        if means_no_outcome(shown) or _DATE.fullmatch(shown):
            line = spec.recoding_line(axis.column, {UNKNOWN: [shown]})
            message += f"; if it means that no date is known: {recoding_flag(line)}"
        raise DataError(message)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text[:_DAY])
    except ValueError:
        return False
    return bool(_DATE.fullmatch(text))
