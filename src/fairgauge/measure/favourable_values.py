"""The favourable values that rows of a subgroup have: an audit refuses one that no row has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.cube.cube import Cube
from fairgauge.enums import Role
from fairgauge.errors import DataError, SpecError
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcomes import decide_task, outcome_masks
from fairgauge.resolve.searched_features import SearchedRows
from fairgauge.results.subgroup_search import SearchedFeature, Subgroup
from fairgauge.values import is_one_of, name_of


def with_favourable_values(
    worse: Sequence[Subgroup],
    searched: SearchedRows,
    features: Sequence[SearchedFeature],
    cube: Cube,
    spec: Spec,
    min_cell: int | None,
) -> tuple[Subgroup, ...]:
    """Return the subgroups, each that no other accounts for with its favourable values."""
    members = [each for each in worse if each.explained_by is None]
    if spec.prediction and not any(each.role is Role.PREDICTION for each in searched.axes):
        return tuple(worse)  # calibration was searched, and predictions are not counted
    values = {
        each.name: _favourable(held, searched, cube, spec, min_cell)
        for each, held in zip(members, _held(members, searched, features, cube), strict=True)
    }
    return tuple(replace(each, positive=values.get(each.name)) for each in worse)


def _held(
    members: Sequence[Subgroup],
    searched: SearchedRows,
    features: Sequence[SearchedFeature],
    cube: Cube,
) -> list[list[Array]]:
    """Return of each subgroup, by label and prediction, the rows of every level."""
    conditions = [
        [(i, each.values.index(member.conditions[each.name]))
         for i, each in enumerate(features) if each.name in member.conditions]
        for member in members
    ]  # fmt: skip
    found = [[np.zeros(len(cube.levels[axis])) for axis in searched.axes] for _ in members]
    for part in searched.parts() if members else ():
        for values, held in zip(conditions, found, strict=True):
            inside = np.logical_and.reduce([part.codes[f] == value for f, value in values])
            for codes, rows in zip(part.levels, held, strict=True):
                known = inside & (codes >= 0)
                cases = None if part.cases is None else part.cases[known]
                rows += np.bincount(codes[known], cases, len(rows))
    return found


def _favourable(
    held: Sequence[Array], searched: SearchedRows, cube: Cube, spec: Spec, min_cell: int | None
) -> tuple[str, ...] | None:
    """Return the favourable values of a subgroup; None where no audit compares its groups.

    With ``min_cell`` none of them may be of fewer people, which these values would disclose.
    """
    task = decide_task(cube, spec)
    masks = outcome_masks(cube, spec, task)[0]
    of_role = {Role.LABEL: masks.labels, Role.PREDICTION: masks.predictions}
    counted = list(zip(searched.axes, held, strict=True))
    if all(rows[of_role[axis.role]].sum() in (0, rows.sum()) for axis, rows in counted):
        return None  # of no row, or of all
    if not isinstance(spec.positive, tuple):
        return ()
    people = dict.fromkeys(spec.positive or (1,), 0.0)
    levels = {}
    for axis, rows in counted:
        if not axis.bins:
            levels[axis] = tuple(np.array(cube.levels[axis], dtype=object)[rows > 0])
            for value, most in people.items():
                same = [is_one_of(level, (value,)) for level in cube.levels[axis]]
                people[value] = max(most, float(rows[same].sum()))
    kept = tuple(value for value, number in people.items() if number >= (min_cell or 1))
    if not kept or (min_cell and len(kept) < len(people)):
        return None
    inside = replace(cube, levels={**cube.levels, **levels}, tables=())
    try:
        outcome_masks(inside, replace(spec, positive=kept), task)
    except (DataError, SpecError):  # as an audit would refuse them
        return None
    return tuple(map(name_of, kept))
