"""Two models on the same rows: the counts of a cube as each of both decides, and jointly.

Only rows that both models decide are compared. As each model decides, the counts are a cube of its
own, whose prediction is that model's, so that everything that is known of one model is known of
either of two.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairgauge.cube.cube import CountTable, Cube, aggregate
from fairgauge.cube.levels import identity, sorted_levels
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role
from fairgauge.errors import CubeError
from fairgauge.question.specification import Spec
from fairgauge.start.records import dataclass, replace
from fairgauge.values import Value, matches

_ALONE = (Role.CANDIDATE, Role.SCORE, Role.CODES)
"""The roles of axes that no table by two decisions has, and of candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedCubes:
    """The rows that two models decide.

    ``current, candidate``: the counts as each model decides; the prediction is that model's.
    ``joint``: the counts by both decisions: prediction and candidate.
    ``every``: likewise of all rows, those that a model does not decide among them.
    ``rows, undecided``: rows that both decide, and that one of both does not; of a count column the
        cases that they stand for.
    """

    current: Cube
    candidate: Cube
    joint: Cube
    every: Cube
    rows: int
    undecided: int


def candidate_axes(cube: Cube) -> tuple[Axis, ...]:
    """Return the axes of the decisions of candidates."""
    return tuple(axis for axis in cube.plan.axes if axis.role is Role.CANDIDATE)


def pair(cube: Cube, candidate: Axis) -> PairedCubes:
    """Return the counts of the rows that the model in use and a candidate decide.

    Both decisions have the same levels: those that either has.
    """
    if cube.min_cell is not None:
        raise CubeError("two models cannot be compared by protected counts; give the exact counts")
    decision = cube.plan.axis(Role.PREDICTION)
    tables = [t for t in cube.tables if decision in t.axes and candidate in t.axes]
    if decision is None or not tables:
        raise CubeError(
            "these counts do not hold the decisions of two models on the same rows; count the data "
            "with candidate=... (--candidate COL)"
        )
    both, levels = (decision, candidate), cube.levels[decision]
    read = {axis: cube.levels[axis] for axis in both}
    if not decision.bins:
        read[candidate] = _in_words_of(levels, read[candidate])
        levels = sorted_levels([*levels, *read[candidate]])
    held = replace(cube, levels={**cube.levels, decision: levels, candidate: levels})
    recoded = [_recoded(table, read, levels) for table in tables]
    known = [table.known(both) for table in recoded]
    first = tables[0]
    rows = int(known[0].cases.sum())
    others = _without_models(cube)
    asked = replace(cube.asked, candidate=(), margins=())
    jointly = [*((axis, axis) for axis in others), (candidate, candidate)]
    return PairedCubes(
        _view(held, known, [(axis, axis) for axis in others], asked),
        _of_candidate(held, known, candidate),
        _view(held, known, jointly, asked),
        _view(held, recoded, jointly, asked),
        rows,
        int(first.cases.sum()) - rows,
    )


def asked_of(spec: Spec, candidate: Axis) -> Spec:
    """Return a question with a candidate in the place of the model in use."""
    asked = replace(spec, candidate=(), margins=())
    column = candidate.column
    if asked.prediction:
        return replace(asked, prediction=column)
    return replace(asked, score=column)


def alone(cube: Cube, candidate: Axis) -> Cube:
    """Return the counts as an audit of a candidate alone has them, of all rows."""
    return _of_candidate(cube, [t for t in cube.tables if candidate in t.axes], candidate)


def _without_models(cube: Cube) -> list[Axis]:
    return [axis for axis in cube.plan.axes if axis.role not in _ALONE]


def _of_candidate(cube: Cube, tables: list[CountTable], candidate: Axis) -> Cube:
    # the counts by the decisions of a candidate, which stand for the predictions
    columns = [
        (candidate if axis.role is Role.PREDICTION else axis, axis)
        for axis in _without_models(cube)
    ]
    of = replace(candidate, role=Role.PREDICTION)
    return _view(cube, tables, columns, asked_of(cube.asked, candidate), of)


def _in_words_of(known: tuple[Value, ...], levels: tuple[Value, ...]) -> tuple[Value, ...]:
    # levels with the known ones that they mean: the number 1 for the truth of a bool
    means = [next((each for each in known if matches(level, each)), level) for level in levels]
    return tuple(means) if len({*map(identity, means)}) == len(means) else levels


def _recoded(
    table: CountTable, read: Mapping[Axis, tuple[Value, ...]], levels: tuple[Value, ...]
) -> CountTable:
    codes, position = table.codes.copy(), {identity(level): i for i, level in enumerate(levels)}
    for axis, own in read.items():
        column = table.axes.index(axis)
        if not axis.bins:
            place = np.array([*(position[identity(level)] for level in own), -1])  # of -1: missing
            codes[:, column] = place[codes[:, column]]
    return CountTable(table.axes, codes, table.sums)


def _view(
    cube: Cube,
    tables: list[CountTable],
    columns: list[tuple[Axis, Axis]],
    asked: Spec,
    decision: Axis | None = None,
) -> Cube:
    # ``decision`` stands for the prediction where it is that of the candidate
    named = {
        stands: decision if decision and stands.role is Role.PREDICTION else stands
        for _, stands in columns
    }
    axes = tuple(named[stands] for _, stands in columns)
    made = []
    for table in tables:
        kept = [(read, named[stands]) for read, stands in columns if read in table.axes]
        codes = table.codes_of([read for read, _ in kept])
        made.append(aggregate(tuple(axis for _, axis in kept), codes, table.sums))
    positions = tuple(tuple(axes.index(axis) for axis in table.axes) for table in made)
    levels = {named[stands]: cube.levels[read] for read, stands in columns}
    plan = replace(cube.plan, axes=axes, tables=positions, moments=(), asked=asked)
    return replace(cube, plan=plan, levels=levels, tables=tuple(made), question=asked)
