"""The counts of a cube arranged by group and stratum, as the comparisons need them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.cube.cube import CountTable
from fairgauge.enums import Missing, Profile, Role
from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote
from fairgauge.results.estimates import EVERYONE
from fairgauge.results.scopes import OVERALL, Scope, stratum
from fairgauge.stats.blocks import content_ranks
from fairgauge.values import MISSING_NAME, Value, match, matches, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis
    from fairgauge.question.specification import Spec

    Index = NDArray[np.int64]

_OTHER, _DROPPED, _EXCLUDED = -1, -2, -3
"""Codes of known values of no group, of missing values, and of groups that are excluded."""
_MOST_SHOWN = 5
_MOST_JOINT_CELLS = 30_000_000
"""Cells by two decisions that are held in memory for one feature."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Scores of one feature, over the bins that occur.

    Attributes
    ----------
    low, high : array of shape (B,): edges of the bins, equal where a bin is a single value.
    counts : for every measure, array of shape (groups + 1, labels + 1, B).
    """

    low: Array
    high: Array
    counts: dict[str, Array]

    def turned(self, whole: float) -> Histogram:
        """Return the histogram of ``whole`` less each score: the scores of the other class."""
        rows, s, s2 = self.counts.get("w", self.counts["n"]), self.counts["s"], self.counts["s2"]
        counts = self.counts | {"s": whole * rows - s, "s2": whole**2 * rows - 2 * whole * s + s2}
        if "ln_s" in counts:  # of probabilities
            counts |= {"ln_s": counts["ln_1s"], "ln_1s": counts["ln_s"]}
        backwards = {name: each[..., ::-1] for name, each in counts.items()}
        return Histogram(whole - self.high[::-1], whole - self.low[::-1], backwards)


@dataclass(frozen=True, eq=False)
class ClusterCells:
    """The cells of one feature by cluster, where the cluster and the group are known.

    Attributes
    ----------
    cluster, group, stratum, label, prediction : array of shape (cells,): codes of each cell.
        A group one above the last is known values of no group; a stratum, label or prediction one
        above the last is a missing one.
    counts : for every measure, array of shape (cells,).
    levels : arrays of shape (cells,): the codes of the values of the feature's columns, which do
        not depend on the groups that are asked for.
    """

    cluster: Index
    group: Index
    stratum: Index
    label: Index
    prediction: Index
    counts: dict[str, Array]
    levels: tuple[Index, ...] = ()

    @cached_property
    def ranks(self) -> tuple[Index, Index]:
        """Return the cluster of every cell, 0 ... C - 1, and the rank of each by what it holds.

        Groups take no part: a group that is asked for alone has the blocks of clusters, and so the
        interval, that it has beside others.
        """
        axes = (*self.levels, self.stratum, self.label, self.prediction)
        return content_ranks(self.cluster, axes, self.counts.get("w", self.counts["n"]))

    def by_values(self, groups: int) -> ClusterCells | None:
        """Return the cells with a group for each value of the feature; None where groups are these.

        ``groups`` is how many are asked for; the others are known values of none of them.
        """
        pairs = np.unique(np.stack([self.group, *self.levels]), axis=1)
        groups_of_values = np.unique(pairs[0])
        if pairs.shape[1] == len(groups_of_values) and groups_of_values.max(initial=-1) < groups:
            return None
        values, codes = np.unique(np.stack(self.levels), axis=1, return_inverse=True)
        return replace(self, group=codes.ravel(), levels=tuple(values[:, codes.ravel()]))


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Counts of one feature (or intersection).

    Attributes
    ----------
    feature : its name; an intersection is ``sex*race``.
    groups : names of its groups.
    strata : names of the strata; ``slots`` are the margin (None) and then these.
    counts : for every measure, array of shape (groups + 1, slots, labels + 1, predictions + 1).
        The last group holds known values of no group, the last label and prediction missing ones.
    named_reference : the position of the group that the specification names as the reference.
    histogram : the scores, None without scores.
    unknown : the same as ``counts`` of the rows excluded because they have no group, over all
        strata; shape (labels + 1, predictions + 1).
    clusters : the cells by cluster, None without clusters.
    groupings : which group each level of each of its columns belongs to.
    mean_weight : the unit of all weights, which is the mean weight of all rows.
    """

    feature: str
    groups: tuple[str, ...]
    strata: tuple[str, ...]
    counts: dict[str, Array]
    named_reference: int | None = None
    histogram: Histogram | None = None
    unknown: dict[str, Array] = field(default_factory=dict)
    clusters: ClusterCells | None = None
    groupings: tuple[Grouping, ...] = ()
    mean_weight: float = 1.0

    def in_given_weights(self, sums: Array) -> Array:
        """Return sums of weights in the unit in which they were given, to 12 digits."""
        if self.mean_weight == 1:
            return sums
        given = [float(f"{each:.12g}") for each in (sums * self.mean_weight).ravel().tolist()]
        return np.array(given).reshape(sums.shape)

    @property
    def weighted(self) -> bool:
        """Return whether rows have weights."""
        return "w" in self.counts

    @property
    def protected(self) -> bool:
        """Return whether counts are rounded, and known within ranges alone."""
        return "low" in self.counts

    @property
    def unequally_weighted(self) -> bool:
        """Return whether weights differ: equal ones are none, whatever their unit."""
        if not self.weighted:
            return False
        n, w, w2 = (float(self.counts[name][:, 0].sum()) for name in ("n", "w", "w2"))
        return n * w2 > w**2 * (1 + _ROUNDING)

    @property
    def has_moments(self) -> bool:
        """Return whether powers of labels and predictions are summed, as of a regression."""
        return "gap2" in self.counts

    @property
    def has_others(self) -> bool:
        """Return whether there are rows of known value in no group."""
        return bool(self.counts["rows"][-1].sum() > 0)

    @property
    def has_labels(self) -> bool:
        """Return whether labels are counted."""
        return bool(self.counts["rows"].shape[2] > 1)

    @property
    def has_predictions(self) -> bool:
        """Return whether predictions are counted."""
        return bool(self.counts["rows"].shape[3] > 1)

    @property
    def cases(self) -> Array:
        """Return the cases of every group over all strata, without weights."""
        return self._overall("n")

    @property
    def shares(self) -> Array:
        """Return the share of every group in all cases whose group is known, without weights."""
        every = self.counts["n"][:, 0].sum()
        return self.cases / every if every else np.zeros(len(self.groups))

    def _overall(self, measure: str) -> Array:
        held: Array = self.counts[measure][:-1, 0].sum(axis=(1, 2))
        return held

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Return the scope of every slot: overall, then each stratum."""
        return (OVERALL, *map(stratum, self.strata))

    def codes_of_rows(
        self, cube: Cube, columns: Mapping[str, Sequence[Value]]
    ) -> NDArray[np.int64]:
        """Return the group of every row: -1 for a known value of no group, below for none.

        ``columns`` holds the values of the feature's columns, row by row.
        """
        axes = [grouping.axis for grouping in self.groupings]
        codes = [level_codes(axis, cube, columns[axis.column]) for axis in axes]
        table = CountTable(tuple(axes), np.stack(codes, axis=-1), {})
        return _groups(table, list(self.groupings), self.groups)[0]


def count_groups(cube: Cube, spec: Spec) -> list[GroupCounts]:
    """Arrange the counts of every sensitive feature and intersection.

    Raises
    ------
    SpecError
        A value set, a reference or a positive value that the data do not have.
    DataError
        Missing values where the specification treats them as errors.
    """
    problems: list[Problem] = []
    groupings = {
        axis.column: _grouping(axis, cube, spec, problems)
        for axis in cube.plan.axes
        if axis.role is Role.FEATURE and axis.column in _asked_columns(spec)
    }
    if problems:
        raise SpecError(problems)
    if spec.missing is Missing.ERROR:
        refuse_missing(cube)
    asked = [(f.column,) for f in spec.sensitive] + list(spec.intersections)
    made = [_arranged(cube, [groupings[c] for c in columns], problems) for columns in asked]
    if problems:
        raise SpecError(problems)
    return made


def level_codes(axis: Axis, cube: Cube, values: Sequence[Value]) -> NDArray[np.int64]:
    """Return the position of every value in the levels of an axis, -1 where missing."""
    if axis.cuts:
        numbers = np.array([float(v) if isinstance(v, (int, float)) else np.nan for v in values])
        return np.where(np.isnan(numbers), -1, axis.bins_of(numbers))
    position = {name_of(level): i for i, level in enumerate(cube.levels[axis])}
    return np.array([-1 if v is None else position[name_of(v)] for v in values], dtype=np.int64)


def count_everyone(cube: Cube) -> GroupCounts:
    """Arrange the counts of all rows as one group, whatever their features."""
    return _arranged(cube, [], [])


@dataclass(frozen=True, slots=True, eq=False)
class JointCells:
    """The cells of one feature by the decisions of two models, where both are known.

    Attributes
    ----------
    counts : for every measure, array of shape (groups + 1, slots, labels + 1, K, K): by label, the
        decision of the model in use and that of the candidate; the last group holds known values of
        no group, the last label missing ones.
    clusters : the cells by cluster, None without clusters.
    """

    counts: dict[str, Array]
    clusters: JointClusters | None


@dataclass(frozen=True, slots=True, eq=False)
class JointClusters:
    """The cells of one feature by cluster and by the decisions of two models.

    Attributes
    ----------
    cluster, group, stratum, label, current, candidate : array of shape (cells,): codes of each
        cell, as in `ClusterCells`.
    counts : for every measure, array of shape (cells,).
    """

    cluster: Index
    group: Index
    stratum: Index
    label: Index
    current: Index
    candidate: Index
    counts: dict[str, Array]


def count_jointly(joint: Cube, counted: GroupCounts) -> JointCells:
    """Arrange the joint counts of two models by the groups of a feature.

    ``joint`` is that of `fairgauge.cube.pairs.pair`, ``counted`` the feature as one model decides.

    Raises
    ------
    SpecError
        Classes, groups and strata make too many cells.
    """
    plan, parts = joint.plan, list(counted.groupings)
    roles = (Role.STRATUM, Role.LABEL, Role.PREDICTION, Role.CANDIDATE)
    axes = [plan.axis(role) for role in roles]
    sizes = [len(joint.levels[axis]) + 1 for axis in axes if axis]
    cells = (len(counted.groups) + 2) * math.prod(sizes)
    if cells > _MOST_JOINT_CELLS:
        message = (
            f"{quote(counted.feature)} makes {cells:,} cells of group, label and both decisions, "
            f"above {_MOST_JOINT_CELLS:,}; compare fewer classes, groups or strata at once"
        )
        raise SpecError(Problem("candidate", message))
    _, every = _dense(joint, parts, axes)
    unit = {"w": counted.mean_weight, "w2": counted.mean_weight**2}
    counts = {
        measure: np.concatenate([dense.sum(axis=1, keepdims=True), dense[:, :-1]], axis=1)[
            :-1, ..., :-1, :-1
        ]
        / unit.get(measure, 1.0)
        for measure, dense in every.items()
    }
    clusters = _cluster_table(joint, parts, axes)
    if clusters is None:
        return JointCells(counts, None)
    (cluster, group, stratum, label, current, candidate), _, sums = clusters
    sums = {measure: each / unit.get(measure, 1.0) for measure, each in sums.items()}
    return JointCells(
        counts, JointClusters(cluster, group, stratum, label, current, candidate, sums)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Which group each level of a feature belongs to; the last entry is for missing values."""

    axis: Axis
    names: tuple[str, ...]
    group_of: NDArray[np.int64]
    reference: str | None
    excluded: tuple[str, ...]


def _grouping(axis: Axis, cube: Cube, spec: Spec, problems: list[Problem]) -> Grouping:
    levels = cube.levels[axis]
    feature = spec.feature(axis.column)
    names = axis.names(levels)
    if feature.values:
        names, group_of = _value_sets(feature.values, levels, axis.column, problems)
    else:
        group_of = np.arange(len(levels))
    unknown = unknown_levels(axis, levels, spec)
    if unknown.any():
        group_of, names = _without(unknown, group_of, names)
    excluded = excluded_levels(names, group_of, spec)
    if excluded.any():
        group_of, names = _without(excluded, group_of, names)
        group_of = np.where(excluded, _EXCLUDED, group_of)
    group_of = np.where(unknown, _DROPPED, group_of)
    reference = _named_reference(axis, spec, levels, names, group_of, problems)
    missing = _DROPPED
    if spec.profile is Profile.CLARIFY:
        missing = _OTHER  # smclarify counts a missing facet with the reference
    elif spec.missing is Missing.GROUP:
        missing = len(names)
        has_missing = unknown.any() or (cube.marginal([axis]).codes < 0).any()
        names = [*names, MISSING_NAME] if has_missing else names
    group_of = np.where(unknown, missing, group_of)
    group_of = np.append(group_of, missing)
    return Grouping(axis, tuple(names), group_of, reference, spec.exclude_groups)


def unknown_levels(axis: Axis, levels: Sequence[Value], spec: Spec) -> NDArray[np.bool_]:
    """Return which levels of a sensitive feature mean that the group is missing."""
    asked = spec.unknown if axis.role is Role.FEATURE and not axis.cuts else ()
    return np.array([any(matches(value, level) for value in asked) for level in levels], dtype=bool)


def excluded_levels(
    names: Sequence[str], group_of: NDArray[np.int64], spec: Spec
) -> NDArray[np.bool_]:
    """Return which levels are in a group that is excluded from the audit of a feature."""
    return np.isin(group_of, [i for i, name in enumerate(names) if name in spec.exclude_groups])


def _without(
    unknown: NDArray[np.bool_], group_of: NDArray[np.int64], names: Sequence[str]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the groups without those that hold unknown levels alone."""
    held = np.unique(group_of[~unknown & (group_of >= 0)])
    position = np.full(len(names) + 1, _OTHER)
    position[held] = np.arange(len(held))
    return position[group_of], [names[i] for i in held.tolist()]


def _value_sets(
    sets: Sequence[Sequence[Value]],
    levels: Sequence[Value],
    column: str,
    problems: list[Problem],
) -> tuple[list[str], NDArray[np.int64]]:
    group_of = np.full(len(levels), _OTHER)
    names = []
    for i, values in enumerate(sets):
        found = [_find(value, levels, column, "sensitive", problems) for value in values]
        for level in found:
            group_of[[j for j, each in enumerate(levels) if each is level]] = i
        names.append(", ".join(name_of(value) for value in found if value is not None))
    return names, group_of


def _named_reference(
    axis: Axis,
    spec: Spec,
    levels: Sequence[Value],
    names: list[str],
    group_of: NDArray[np.int64],
    problems: list[Problem],
) -> str | None:
    asked = dict(spec.reference) if isinstance(spec.reference, tuple) else {}
    if axis.column not in asked:
        return None
    name = name_of(asked[axis.column])
    if name in names:
        return name
    if name in spec.exclude_groups:
        problems.append(_left_out(axis, name, "exclude_groups"))
        return None
    level = _find(
        asked[axis.column], () if axis.cuts else levels, axis.column, "reference", problems
    )
    if level is None:
        return None
    at = next(j for j, each in enumerate(levels) if each is level)
    if group_of[at] == _DROPPED:
        problems.append(_left_out(axis, name, "unknown"))
        return None
    if group_of[at] == _OTHER:
        group_of[at] = len(names)
        names.append(name_of(level))
    return names[int(group_of[at])]


def _left_out(axis: Axis, name: str, option: str) -> Problem:
    message = f"{quote(name)} is excluded from {quote(axis.column)} by {option}"
    return Problem("reference", message)


def _find(
    value: Value, levels: Sequence[Value], column: str, path: str, problems: list[Problem]
) -> Value:
    try:
        return match(value, levels)
    except LookupError as error:
        name = name_of(value)
        known = [name_of(level) for level in levels]
        message = str(error) or (
            f"column {quote(column)} has no value {quote(name)}.{nearest(name, known)} "
            f"It has {listing(known, _MOST_SHOWN)}"
        )
        problems.append(Problem(path, message))
        return None


def _arranged(cube: Cube, parts: list[Grouping], problems: list[Problem]) -> GroupCounts:
    plan = cube.plan
    outcome = [plan.axis(role) for role in (Role.STRATUM, Role.LABEL, Role.PREDICTION)]
    names, every = _dense(cube, parts, outcome)
    # the margin is a slot before the strata; rows without a stratum are in the margin alone
    counts = {
        measure: np.concatenate([dense.sum(axis=1, keepdims=True), dense[:, :-1]], axis=1)
        for measure, dense in every.items()
    }
    return GroupCounts(
        feature="*".join(part.axis.column for part in parts),
        groups=names,
        strata=tuple(outcome[0].names(cube.levels[outcome[0]])) if outcome[0] else (),
        counts={measure: dense[:-1] for measure, dense in counts.items()},
        named_reference=_reference_group(parts, names, problems),
        histogram=_histogram(cube, parts),
        unknown={measure: dense[-1, 0] for measure, dense in counts.items()},
        clusters=_cluster_cells(cube, parts),
        groupings=tuple(parts),
    )


def _reference_group(
    parts: list[Grouping], groups: Sequence[str], problems: list[Problem]
) -> int | None:
    """Return the group of the named reference values of all columns, None where one names none."""
    named = [part.reference for part in parts if part.reference is not None]
    if not parts or len(named) < len(parts):
        return None
    name = " & ".join(named)
    if name in groups:
        return groups.index(name)
    column = "*".join(part.axis.column for part in parts)
    message = f"no row is in {quote(name)}, the reference of {quote(column)}"
    problems.append(Problem("reference", message))
    return None


def _histogram(cube: Cube, parts: list[Grouping]) -> Histogram | None:
    score = cube.plan.axis(Role.SCORE)
    if score is None:
        return None
    _, counts = _dense(cube, parts, [cube.plan.axis(Role.LABEL), score])
    held = np.flatnonzero(counts["rows"][:, :, :-1].sum(axis=(0, 1)))
    low, high = score.edges(held, cube.levels[score])
    return Histogram(low, high, {m: dense[:-1, :, held] for m, dense in counts.items()})


def _cluster_cells(cube: Cube, parts: list[Grouping]) -> ClusterCells | None:
    outcome = [cube.plan.axis(role) for role in (Role.STRATUM, Role.LABEL, Role.PREDICTION)]
    cells = _cluster_table(cube, parts, outcome)
    if cells is None:
        return None
    (cluster, group, stratum, label, prediction), levels, counts = cells
    return ClusterCells(cluster, group, stratum, label, prediction, counts, levels)


def _cluster_table(
    cube: Cube, parts: list[Grouping], axes: list[Axis | None]
) -> tuple[list[Index], tuple[Index, ...], dict[str, Array]] | None:
    """Return the codes of cluster, group and axes of every cell, of its values, and its counts."""
    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None:
        return None
    table = cube.marginal([*(p.axis for p in parts), axis, *(a for a in axes if a)])
    group, names = _groups(table, parts)
    cluster, *found = table.codes.T[len(parts) :]
    kept = (cluster >= 0) & (group > _DROPPED)
    others = [
        _or_last(found.pop(0), len(cube.levels[a])) if a else np.zeros_like(cluster) for a in axes
    ]
    counts = {measure: sums[kept] for measure, sums in table.sums.items()}
    counts.setdefault("n", counts["rows"])
    codes = [cluster, _or_last(group, len(names)), *others]
    levels = tuple(1 + each[kept] for each in table.codes.T[: len(parts)])  # 0 is missing
    return [each[kept] for each in codes], levels, counts


def _or_last(codes: Index, last: int) -> Index:
    """Return codes with ``last`` where they are missing."""
    return np.where(codes < 0, last, codes)


def _dense(
    cube: Cube, parts: list[Grouping], axes: list[Axis | None]
) -> tuple[tuple[str, ...], dict[str, Array]]:
    """Return the names of the groups, and for every measure an array over groups and axes.

    The last two entries along groups are for known values of no group and for missing ones, the
    last along other axes for missing ones.
    """
    table = cube.marginal([*(part.axis for part in parts), *(axis for axis in axes if axis)])
    group, names = _groups(table, parts)
    kept = group != _EXCLUDED
    shape = [len(names) + 2, *(len(cube.levels[axis]) + 1 if axis else 1 for axis in axes)]
    index = np.where(group < 0, len(names) + (group == _DROPPED), group)
    column = len(parts)
    for axis, size in zip(axes, shape[1:], strict=True):
        index = index * size
        if axis:
            index += _or_last(table.codes[:, column], size - 1)
            column += 1
    cells = int(np.prod(shape))
    counts = {
        measure: np.bincount(index[kept], sums[kept], cells).astype(np.float64).reshape(shape)
        for measure, sums in table.sums.items()
    }
    counts.setdefault("n", counts["rows"])
    return names, counts


def _groups(
    table: CountTable, parts: list[Grouping], known: tuple[str, ...] | None = None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the group of every cell, and the names of the groups: those ``known``, if given."""
    if not parts:
        return np.zeros(len(table.codes), dtype=np.int64), (EVERYONE,)
    of_parts = [part.group_of[table.codes[:, i]] for i, part in enumerate(parts)]
    if len(parts) == 1:
        return of_parts[0], parts[0].names
    combined = np.zeros(len(table.codes), dtype=np.int64)
    for part, codes in zip(parts, of_parts, strict=True):
        combined = combined * len(part.names) + np.maximum(codes, 0)
    lowest = np.min(of_parts, axis=0)
    inside = lowest >= 0
    every = [" & ".join(names) for names in product(*(part.names for part in parts))]
    excluded = [i for i, name in enumerate(every) if name in parts[0].excluded]
    if known is None:
        present = np.unique(combined[inside])  # only combinations that occur
        present = present[~np.isin(present, excluded)]
    else:
        present = np.array([every.index(name) for name in known], dtype=np.int64)
    position = np.full(len(every) + 1, _OTHER)
    position[present] = np.arange(len(present))
    position[excluded] = _EXCLUDED
    group = np.where(inside, position[combined], lowest)
    return group, tuple(every[i] for i in present)


def _asked_columns(spec: Spec) -> set[str]:
    return {f.column for f in spec.sensitive} | {c for parts in spec.intersections for c in parts}


def _some(levels: Sequence[Value]) -> str:
    return listing([name_of(level) for level in levels], _MOST_SHOWN)


def refuse_missing(cube: Cube) -> None:
    """Refuse counts in which anything is missing.

    Raises
    ------
    DataError
        What is missing, and in how many rows.
    """
    found = []
    for axis in cube.plan.axes:
        table = cube.marginal([axis])
        rows = int(table.sums["rows"][table.codes[:, 0] < 0].sum())
        if rows:
            found.append(f"{rows:,} rows miss {quote(axis.column)} ({axis.role})")
    found += [f"{rows:,} rows have a {reason}" for reason, rows in cube.excluded.items()]
    if found:
        raise DataError(f"missing values, and missing='error': {'; '.join(found)}")
