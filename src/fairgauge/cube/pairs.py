"""Two models on the same rows: the counts of a cube as each of both decides, and jointly.

Only rows that both models decide are compared. As each model decides, the counts are a cube of its
own, whose prediction is that model's, so that everything that is known of one model is known of
either of two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairgauge.cube.cube import CountTable, Cube
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
        position = {identity(level): i for i, level in enumerate(levels)}
        for axis, own in read.items():
            place = np.array([*(position[identity(level)] for level in own), -1])  # of -1: missing
            tables = [table.recoded(axis, place) for table in tables]
    held = replace(cube, levels={**cube.levels, decision: levels, candidate: levels})
    known = [table.known(both) for table in tables]
    rows = int(known[0].cases.sum())
    others = {axis: axis for axis in cube.plan.axes if axis.role not in _ALONE}
    asked = replace(cube.asked, candidate=(), margins=())
    jointly = {**others, candidate: candidate}
    return PairedCubes(
        _view(held, known, others, asked),
        _of_candidate(held, known, candidate),
        _view(held, known, jointly, asked),
        _view(held, tables, jointly, asked),
        rows,
        int(tables[0].cases.sum()) - rows,
    )


def asked_of(spec: Spec, candidate: Axis) -> Spec:
    """Return a question with a candidate in the place of the model in use."""
    kind = "prediction" if spec.prediction else "score"
    return replace(spec, candidate=(), margins=(), **{kind: candidate.column})


def alone(cube: Cube, candidate: Axis) -> Cube:
    """Return the counts as an audit of a candidate alone has them, of all rows."""
    return _of_candidate(cube, [t for t in cube.tables if candidate in t.axes], candidate)


def _of_candidate(cube: Cube, tables: Sequence[CountTable], candidate: Axis) -> Cube:
    # the counts by the decisions of a candidate, which stand for the predictions
    axes = {axis: axis for axis in cube.plan.axes if axis.role not in (*_ALONE, Role.PREDICTION)}
    axes[candidate] = replace(candidate, role=Role.PREDICTION)
    return _view(cube, tables, axes, asked_of(cube.asked, candidate))


def _in_words_of(known: tuple[Value, ...], levels: tuple[Value, ...]) -> tuple[Value, ...]:
    # levels with the known ones that they mean: the number 1 for the truth of a bool
    means = [next((each for each in known if matches(level, each)), level) for level in levels]
    return tuple(means) if len({*map(identity, means)}) == len(means) else levels


def _view(cube: Cube, tables: Sequence[CountTable], axes: Mapping[Axis, Axis], asked: Spec) -> Cube:
    # the counts by some axes alone, each under what it stands for
    made = [
        replace(found, axes=tuple(axes[axis] for axis in found.axes))
        for table in tables
        for found in [table.over([axis for axis in axes if axis in table.axes])]
    ]
    plan = replace(cube.plan, moments=(), asked=asked)
    levels = {stands: cube.levels[axis] for axis, stands in axes.items()}
    return replace(cube, plan=plan, levels=levels, question=asked).with_tables(levels, made)
