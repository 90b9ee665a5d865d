"""Gaps adjusted for numbers as they are: regression on counts by every value, one more scan.

Rows with the same values of all columns have the same fitted value and leverage, so that their
counts give what the rows would give.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import ColumnEffects, ReferenceKind, Role, WhyInconclusive
from fairgauge.measure.decompose_gaps import adjusted_gap
from fairgauge.resolve.group_counts import level_codes
from fairgauge.resolve.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis
    from fairgauge.question.specification import Spec
    from fairgauge.resolve.resolution import Resolution
    from fairgauge.results.gap_decomposition import Gap

_OF_COLUMN = {
    "selection_rate": Role.PREDICTION, "mean_prediction": Role.PREDICTION,
    "base_rate": Role.LABEL, "mean_label": Role.LABEL,
}  # fmt: skip
"""The rates and means of one outcome, and where it is."""
_MOST_ENTRIES = 20_000_000
"""Entries of a design, cells by columns, above which no regression is fitted."""


def adjusted_for_numbers(
    gaps: Sequence[Gap], exact: Cube, cut: Cube, spec: Spec, numbers: Collection[str]
) -> tuple[Gap, ...]:
    """Return gaps that are also adjusted for columns as numbers, a straight line each.

    Parameters
    ----------
    gaps : their decompositions.
    exact : the counts by every value of the columns.
    cut : the counts of the same rows with the columns cut, without strata.
    spec : what is asked.
    numbers : the columns that are numbers; others have an effect of every level.
    """
    resolution = resolve(cut, spec)
    found = []
    for gap in gaps:
        cells = cells_of_gap(gap, exact, cut, resolution, numbers)
        if cells is not None:
            counts, squares, columns = cells
            named = dict(zip(gap.adjusted_for, columns, strict=True))
            values = [
                _numbers(exact, name, codes) if name in numbers else codes
                for name, codes in named.items()
            ]
            made = (
                adjusted_gap(counts, squares, values, spec.confidence, ColumnEffects.NUMBERS)
                if all(np.isfinite(each).all() for each in values)
                else None  # infinite numbers have no straight line
            )
            gap = replace(gap, adjusted=(*gap.adjusted, *([made] if made else [])))
        found.append(gap)
    return tuple(found)


def role_of(gap: Gap) -> Role | None:
    """Return the outcome of a gap that is adjusted for numbers; None where it is not."""
    metric = gap.estimate.definition
    assert isinstance(metric, Contrast)
    beside = gap.scale == "ratio" and not gap.adjusted  # the difference of its rate has it
    unseen = gap.reason is WhyInconclusive.NOT_COMPARABLE or beside
    return None if unseen else _OF_COLUMN.get(metric.of.name)


def _numbers(cube: Cube, name: str, codes: NDArray[np.int64]) -> Array:
    (axis,) = (a for a in cube.plan.axes if a.column == name and a.role is Role.STRATUM)
    return np.array([float(level or 0) for level in cube.levels[axis]])[codes]


def cells_of_gap(
    gap: Gap, exact: Cube, cut: Cube, resolution: Resolution, numbers: Collection[str]
) -> tuple[tuple[Array, Array, Array, Array], tuple[Array, Array] | None, NDArray[np.int64]] | None:
    """Return the counts of both sides by the values of all columns, and the codes of the values.

    None where there are too many, and of a gap that is not adjusted.
    """
    role = role_of(gap)
    if role is None:
        return None
    estimate = gap.estimate
    counts = next(each for each in resolution.features if each.feature == estimate.feature)
    strata = [
        next(a for a in exact.plan.axes if a.role is Role.STRATUM and a.column == name)
        for name in gap.adjusted_for
    ]
    outcome = exact.plan.axis(role)
    assert outcome is not None
    features = [part.axis for part in counts.crossing.parts]
    table = exact.marginal([*features, *strata, outcome])
    held = (table.codes[:, len(features) :] >= 0).all(axis=1)
    codes, sums = table.codes[held], {name: each[held] for name, each in table.sums.items()}
    named = [
        codes[:, i] if axis.cuts else codes_in(axis, exact, cut)[codes[:, i]]
        for i, axis in enumerate(features)
    ]
    group = counts.crossing.groups_of(np.stack(named, axis=-1))
    ours, theirs = sides_of(gap, counts.groups, group)
    within = codes[:, len(features) : -1]
    combined, cell = np.unique(within, axis=0, return_inverse=True)
    levels = sum(len(exact.levels[axis]) for axis in strata if axis.column not in numbers)
    if len(combined) * levels > _MOST_ENTRIES:
        return None
    rows = sums.get("n", sums["rows"])
    assert isinstance(estimate.definition, Contrast)
    squares = None
    if isinstance(estimate.definition.of, Rate):
        masks = resolution.outcomes[0]
        mask = masks.predictions if role is Role.PREDICTION else masks.labels
        values = rows * mask[codes_in(outcome, exact, cut)[codes[:, -1]]]
    else:
        y = "y" if role is Role.LABEL else "p"
        values = sums[y]
        squares = (
            _by_cell(cell, ours, sums[2 * y], len(combined)),
            _by_cell(cell, theirs, sums[2 * y], len(combined)),
        )
    sides = [
        _by_cell(cell, on, each, len(combined)) for on in (ours, theirs) for each in (values, rows)
    ]
    return (sides[0], sides[1], sides[2], sides[3]), squares, combined.T


def sides_of(
    gap: Gap, groups: Sequence[str], group: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which cells or rows are of the group of a gap, and which of its reference."""
    estimate = gap.estimate
    ours = group == groups.index(estimate.group or "")
    assert estimate.reference is not None
    if estimate.reference.kind is ReferenceKind.OTHERS:
        return ours, (group >= -1) & ~ours  # -1: known values of no group
    return ours, group == groups.index(estimate.reference.group or "")


def codes_in(axis: Axis, exact: Cube, cut: Cube) -> NDArray[np.int64]:
    """Return the places in one cube of the levels in another, the missing one last."""
    return np.append(level_codes(axis, cut, exact.levels[axis]), -1)


def _by_cell(cell: NDArray[np.int64], on: NDArray[np.bool_], values: Array, cells: int) -> Array:
    return np.asarray(np.bincount(cell.ravel(), np.where(on, values, 0.0), cells), dtype=float)
