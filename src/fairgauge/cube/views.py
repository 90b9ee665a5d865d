"""Views of counts: by crossed strata, and as either of two models decides.

Only rows that both models decide are compared. As each model decides, the counts are a cube of its
own, of which whatever can be computed for one model can be computed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import CountTable, Cube, Sums, aggregate, counts_together
from fairgauge.cube.plan import Axis, identity, sorted_levels
from fairgauge.enums import Role
from fairgauge.errors import CubeError, listing, quote
from fairgauge.identity import GroupId, group_names
from fairgauge.question.features import Feature
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Mask
from fairgauge.values import matches

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class CrossedStrata:
    """Counts by the combinations of some columns.

    ``cube``: the counts, with a single axis of strata, whose levels are their positions.
    ``columns``: the columns that are crossed.
    ``named``: for each stratum the names of its values by column.
    ``codes``: array of shape (columns, strata): the value of each stratum in each column.
    """

    cube: Cube
    columns: tuple[str, ...]
    named: tuple[Mapping[str, str], ...]
    codes: NDArray[np.int64]

    @property
    def known(self) -> CrossedStrata:
        """Return the counts of the rows that have a value in every column."""
        if not self.cases_without:
            return self
        tables = (
            table.known([axis for axis in table.axes if axis.role is Role.STRATUM])
            for table in self.cube.tables
        )
        return replace(self, cube=replace(self.cube, tables=tuple(tables)))

    @property
    def without(self) -> Cube:
        kept = [axis for axis in self.cube.plan.axes if axis.role is not Role.STRATUM]
        return self.cube.with_tables(kept, (each.over(kept) for each in self.cube.tables))

    @property
    def cases_without(self) -> int:
        (axis,) = (a for a in self.cube.plan.axes if a.role is Role.STRATUM)
        return int(self.cube.cases_by_level[axis][-1])


def with_one_stratum(cube: Cube) -> Cube:
    """Return counts by at most one column of strata: several are crossed."""
    axes = [axis for axis in cube.plan.axes if axis.role is Role.STRATUM]
    if len(axes) <= 1:
        return cube
    crossed = _cross_axes(cube, axes)
    parts = [axis.parts(cube.levels[axis]) for axis in axes]
    names = group_names([GroupId.of(*values) for values in _combine(parts, crossed.codes.T)])
    (axis,) = (a for a in crossed.cube.plan.axes if a.role is Role.STRATUM)
    return replace(crossed.cube, levels={**crossed.cube.levels, axis: names})


def cross_strata(cube: Cube, columns: Sequence[Feature]) -> CrossedStrata:
    """Return the counts by the combinations of some columns, which the cube must hold together.

    Each may have been counted as a stratum or as a sensitive feature, with the same cuts. Other
    strata are summed.

    Raises ``CubeError``: the counts do not hold a column, or no table holds all of them together.
    """
    return _cross_axes(cube, [_find_counted_axis(cube, each) for each in columns])


def _find_counted_axis(cube: Cube, column: Feature) -> Axis:
    counted = [a for a in cube.plan.axes if a.role in (Role.STRATUM, Role.FEATURE)]
    axes = [axis for axis in counted if axis.column == column.column]
    for axis in axes:
        if axis.stated_cuts == column.cuts and (not axis.cuts or axis.closed is column.closed):
            return axis
    name = quote(column.column)
    if axes:
        cuts = f"cut at {list(axes[0].stated_cuts)}" if axes[0].cuts else "without cuts"
        raise CubeError(f"these counts hold {name} {cuts}; ask for it so, or count the data again")
    held = listing(axis.column for axis in counted)
    raise CubeError(f"these counts do not hold {name}, but {held}; count the data again with it")


def _cross_axes(cube: Cube, crossed: Sequence[Axis]) -> CrossedStrata:
    # cross some axes; tables without any of them stay, those with some of them go
    columns = tuple(axis.column for axis in crossed)
    having = [table for table in cube.tables if set(crossed) <= set(table.axes)]
    if not having:
        together = f"these counts do not hold {listing(columns)} together"
        raise CubeError(f"{together}; count the data again with them as strata")
    every = np.concatenate([table.codes_of(crossed) for table in having])
    width = tuple((every.max(axis=0, initial=0) + 1).tolist())
    keys = np.unique(np.ravel_multi_index(tuple(every[(every >= 0).all(axis=1)].T), width))
    combinations = np.stack(np.unravel_index(keys, width), axis=1)
    axis = Axis(Role.STRATUM, "*".join(columns))
    kept = [a for a in cube.plan.axes if a not in crossed and a.role is not Role.STRATUM]

    def by_strata(table: CountTable) -> CountTable:
        codes = table.codes_of(crossed)
        known = (codes >= 0).all(axis=1)
        stratum = np.full(len(codes), -1)
        stratum[known] = np.searchsorted(keys, np.ravel_multi_index(tuple(codes[known].T), width))
        axes = tuple(each for each in table.axes if each in kept)
        codes = np.column_stack([table.codes_of(axes), stratum])
        return aggregate((*axes, axis), codes, table.sums)

    tables = [
        by_strata(table) if table in having else table.over(kept)
        for table in cube.tables
        if table in having or not set(crossed) & set(table.axes)
    ]
    strata = _combine([axis.names(cube.levels[axis]) for axis in crossed], combinations)
    named = tuple(dict(zip(columns, each, strict=True)) for each in strata)
    levels = {**cube.levels, axis: tuple(range(len(named)))}
    found = replace(cube, levels=levels).with_tables([*kept, axis], tables)
    return CrossedStrata(found, columns, named, combinations.T)


def _combine(
    values: Sequence[Sequence[T]], combinations: NDArray[np.int64]
) -> Iterator[tuple[T, ...]]:
    columns = zip(values, combinations.T.tolist(), strict=True)
    return zip(*([each[code] for code in codes] for each, codes in columns), strict=True)


# the roles of axes that no table by two decisions has, and of candidates
_ALONE = (Role.CANDIDATE, Role.SCORE, Role.CODES)


@dataclass(frozen=True, slots=True, eq=False)
class PairedCubes:
    """The rows that two models decide.

    ``current, candidate``: the counts as each model decides; the prediction is that model's.
    ``joint``: the counts by both decisions: prediction and candidate.
    ``every``: likewise of all rows, including those that only one model decides, or none.
    """

    current: Cube
    candidate: Cube
    joint: Cube
    every: Cube


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
        # those that mean a known level become it: the number 1 for the truth of a bool
        own = read[candidate]
        means = [next((each for each in levels if matches(each, of)), of) for of in own]
        read[candidate] = tuple(means) if len({*map(identity, means)}) == len(means) else own
        levels = sorted_levels([*levels, *read[candidate]])
        position = {identity(level): i for i, level in enumerate(levels)}
        for axis, own in read.items():
            place = np.array([*(position[identity(level)] for level in own), -1])  # of -1: missing
            tables = [table.recoded(axis, place) for table in tables]
    held = replace(cube, levels={**cube.levels, decision: levels, candidate: levels})
    known = [table.known(both) for table in tables]
    others = {axis: axis for axis in cube.plan.axes if axis.role not in _ALONE}
    asked = replace(cube.asked, candidate=(), margins=())
    jointly = {**others, candidate: candidate}
    return PairedCubes(
        _view(held, known, others, asked),
        view_of_candidate(held, candidate, known),
        _view(held, known, jointly, asked),
        _view(held, tables, jointly, asked),
    )


def asked_of(spec: Spec, candidate: Axis) -> Spec:
    """Return a question with a candidate in the place of the model in use."""
    decides: dict[str, Any] = {"prediction" if spec.prediction else "score": candidate.column}
    return replace(spec, candidate=(), margins=(), **decides)


def view_of_candidate(
    cube: Cube, candidate: Axis, tables: Sequence[CountTable] | None = None
) -> Cube:
    """Return the counts as an audit of a candidate alone has them: of all rows, or of tables."""
    tables = [t for t in cube.tables if candidate in t.axes] if tables is None else tables
    axes = {}
    for axis in cube.plan.axes:
        if axis.role is Role.PREDICTION:
            axes[candidate] = replace(candidate, role=Role.PREDICTION)
        elif axis.role not in _ALONE:
            axes[axis] = axis
    return _view(cube, tables, axes, asked_of(cube.asked, candidate))


def _view(cube: Cube, tables: Sequence[CountTable], axes: Mapping[Axis, Axis], asked: Spec) -> Cube:
    # the counts by some axes alone, each under what it stands for
    made = [
        replace(found, axes=tuple(axes[axis] for axis in found.axes))
        for found in (table.over(axes) for table in tables)
    ]
    plan = replace(cube.plan, moments=(), asked=asked)
    levels = {stands: cube.levels[axis] for axis, stands in axes.items()}
    return replace(cube, plan=plan, levels=levels, question=asked).with_tables(levels, made)


def axes_of(cube: Cube, columns: Collection[str]) -> list[Axis]:
    """Return the axes of columns, each of which may be counted as a stratum or as a feature."""
    either = (Role.STRATUM, Role.FEATURE)
    return [axis for axis in cube.plan.axes if axis.role in either and axis.column in columns]


def rows_by(
    cube: Cube, axis: Axis, marked: Sequence[Mask], roles: Sequence[Role]
) -> Iterator[tuple[str, list[str], list[Sums], Sums]]:
    """Yield the rows of each mask of values, and all, of the large levels of columns of some roles.

    Beside them are the column and the names of the levels.
    """
    others = [a for a in cube.plan.axes if a.role in roles and not a.bins]
    for other in (each for each in others if counts_together(cube, axis, each)):
        table = cube.marginal([axis, other]).known([other])
        (values, codes), rows = table.codes.T, table.cases
        every = np.bincount(codes, rows).astype(np.float64)
        having = [np.bincount(codes, rows * mask[values]).astype(np.float64) for mask in marked]
        held = np.flatnonzero(every >= FEWEST_ROWS)
        if len(held) > 1:
            names = other.names(cube.levels[other])
            yield other.column, [names[i] for i in held], [e[held] for e in having], every[held]
