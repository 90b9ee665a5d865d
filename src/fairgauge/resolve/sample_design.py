"""How a survey was sampled: its strata and primary sampling units, or its replicate weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.cube.plan import REPLICATE, Axis
from fairgauge.enums import Role
from fairgauge.errors import DataError, quote
from fairgauge.start.records import dataclass
from fairgauge.stats.sampling import Strata
from fairgauge.values import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairgauge.cube.cube import CountTable, Cube
    from fairgauge.stats.arrays import Array, Index


@dataclass(frozen=True, slots=True, eq=False)
class SampledCells:
    """The cells of a feature by sampling unit."""

    # unit, group, stratum, label, prediction: array of shape (cells,): codes of each cell: the
    # group -1 is none of these, a stratum, label or prediction one above the last a missing one
    unit: Index
    group: Index
    stratum: Index
    label: Index
    prediction: Index
    counts: Mapping[str, Array]  # for every measure, array of shape (cells,)
    strata: Strata  # of the sample, and the units of each
    # whether each row is a unit; cells then hold several, and ``unit`` is their stratum
    single: bool


@dataclass(frozen=True, slots=True, eq=False)
class ReplicateCounts:
    """The counts of a feature by every replicate weight, and the factors of squared deviations.

    ``counts``, by measure, have the shape of those of all rows, after that of the replicates.
    """

    counts: Mapping[str, Array]
    factors: Array


SampleDesign = SampledCells | ReplicateCounts


def sample_design(
    cube: Cube,
    columns: Sequence[Axis],
    groups_of: Callable[[Index], Index],
    axes: Sequence[Axis | None],
    varied: Mapping[str, Array],
) -> SampleDesign:
    """Return how the rows of a feature of some columns were sampled.

    ``groups_of`` returns the group of each combination of their codes; ``varied`` are the counts by
    replicate weights.

    Raises ``DataError``: A row has no sampling unit or no stratum, or a stratum has two sizes.
    """
    asked = cube.plan.asked
    if asked.replicate_weights:
        names = {measure.partition(REPLICATE)[0] for measure in varied}
        of_replicates = asked.replicate_weights.columns
        counts = {
            name or "w": np.stack([varied[f"{name}{REPLICATE}{c}"] for c in of_replicates])
            for name in names
        }
        return ReplicateCounts(counts, np.array(asked.replicate_weights.factors))
    roles = (Role.SAMPLE_STRATUM, Role.CLUSTER, Role.POPULATION_SIZE)
    sampled = [cube.plan.axis(role) for role in roles]
    table = cube.marginal([*columns, *(a for a in (*sampled, *axes) if a)])
    codes = dict(zip(table.axes, table.codes.T, strict=True))
    for axis in sampled:
        if axis and (codes[axis] < 0).any():
            rows = int(table.sums["rows"][codes[axis] < 0].sum())
            raise DataError(f"{rows:,} rows have no {quote(axis.column)}, their {axis.role}")
    none = np.zeros(len(table.codes), dtype=np.int64)
    at_stratum, at_unit = (codes[axis] if axis else none for axis in sampled[:2])
    single = sampled[1] is None
    strata, stratum = np.unique(at_stratum, return_inverse=True)
    stratum = stratum.astype(np.int64)
    if single:
        unit, of_unit = stratum, np.arange(len(strata))
        units = np.bincount(stratum, table.sums[cube.plan.cases], len(strata))
    else:
        pairs, unit = np.unique(np.stack([stratum, at_unit]), axis=1, return_inverse=True)
        unit, of_unit = unit.reshape(-1).astype(np.int64), pairs[0]
        units = np.bincount(of_unit, minlength=len(strata))
    number = units.astype(np.float64)
    sizes = _population_sizes(cube, table, sampled[2], stratum, number)
    group = groups_of(table.codes_of(columns))
    held = (group >= -1) & (table.cases > 0)  # below are rows without a group
    others = (
        np.where(codes[a] < 0, len(cube.levels[a]), codes[a])[held] if a else none[held]
        for a in axes
    )
    outcome = dict(zip(("stratum", "label", "prediction"), others, strict=True))
    return SampledCells(
        unit=unit[held],
        group=group[held],
        **outcome,
        counts={"n": table.cases[held], **{m: sums[held] for m, sums in table.sums.items()}},
        strata=Strata(of_unit, number, sizes),
        single=single,
    )


def _population_sizes(
    cube: Cube, table: CountTable, axis: Axis | None, stratum: Index, units: Array
) -> Array:
    # how many sampling units of the population every stratum has; inf if none is stated
    if axis is None:
        return np.full(len(units), np.inf)
    try:
        given = np.array([float(name_of(level)) for level in cube.levels[axis]])
    except ValueError:
        raise DataError(f"{quote(axis.column)}, the {axis.role}, holds texts") from None
    of_row = given[table.codes_of([axis])[:, 0]]
    sizes = np.zeros(len(units))
    sizes[stratum] = of_row
    sizes = np.where(sizes <= 1, units / np.where(sizes > 0, sizes, np.nan), sizes)
    if (of_row != of_row[np.unique(stratum, return_index=True)[1]][stratum]).any():
        raise DataError(f"{quote(axis.column)}, the {axis.role}, differs within a stratum")
    if not (sizes >= units * (1 - 1e-9)).all():
        raise DataError(
            f"{quote(axis.column)}, the {axis.role}, is below the sampling units of a stratum"
        )
    return sizes
