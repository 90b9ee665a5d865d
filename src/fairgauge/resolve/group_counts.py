"""The counts of a cube arranged by group and stratum, as the comparisons need them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fairgauge import errors, identity
from fairgauge.catalogue.cells import Array
from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.parts import largest_base
from fairgauge.cube.plan import REPLICATE, Axis, centre_of
from fairgauge.cube.views import with_one_stratum
from fairgauge.enums import Missing, Observation, ReferenceKind, ReferenceRule, Role, ScopeKind
from fairgauge.errors import DataError, Problem, SpecError, collecting, quote, refuse, suggest
from fairgauge.identity import FeatureId, GroupId, MissingValue, Part, ValueSet, group_names
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import OVERALL, Reference, Scope
from fairgauge.scan.row_codes import numbers_of
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.arrays import Index, Mask
from fairgauge.stats.sampling import Strata, content_ranks
from fairgauge.values import Value, is_one_of, match, name_of

OTHER, _DROPPED, EXCLUDED = -1, -2, -3
"""Codes of known values of no group, of missing values, and of groups that are excluded."""
# cells by two decisions that are held in memory for one feature
_MOST_JOINT_CELLS = 30_000_000
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Scores of one feature, over the bins that occur."""

    # low, high: array of shape (B,): edges of the bins, equal where a bin is a single value
    low: Array
    high: Array
    counts: dict[str, Array]  # for every measure, array of shape (groups + 1, labels + 1, B)
    # likewise of the kinds of rows excluded because they have no group
    unknown: dict[str, Array] = field(default_factory=dict)

    @property
    def centre(self) -> Array:
        """Return the mean score of the rows of each bin: of one score alone it is that score."""
        names = "w" if "w" in self.counts else "n", "s"
        rows, scores = (self.counts[name].sum(axis=(0, 1)) for name in names)
        mean = np.divide(scores, rows, out=(self.low + self.high) / 2, where=rows > 0)
        return np.asarray(np.clip(mean, self.low, self.high))

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
    """The cells of one feature by cluster (or unit of a survey), where both are known."""

    # cluster, group, stratum, label, prediction: array of shape (cells,): codes of each cell. A
    # group one above the last is known values of no group; a stratum, label or prediction one above
    # the last is a missing one
    cluster: Index
    group: Index
    stratum: Index
    label: Index
    prediction: Index
    counts: dict[str, Array]  # for every measure, array of shape (cells,)
    # arrays of shape (cells,): the codes of the values of the feature's columns, which do not
    # depend on the groups that are asked for
    levels: tuple[Index, ...] = ()
    # array of shape (cells,): the decision of a second model; None of one model
    candidate: Index | None = None

    @cached_property
    def ranks(self) -> tuple[Index, Index]:
        """Return the cluster of every cell, 0 ... C - 1, and the rank of each by what it holds.

        Groups take no part: a group that is asked for alone has the blocks of clusters, and so the
        interval, that it has beside others.
        """
        axes = (*self.levels, self.stratum, self.label, self.prediction)
        return content_ranks(self.cluster, axes, self.counts.get("w", self.counts["n"]))


@dataclass(frozen=True, slots=True, eq=False)
class SampledCells:
    """The cells of a feature by sampling unit."""

    cells: ClusterCells
    strata: Strata  # of the sample, and the units of each
    # whether each row is a unit; the clusters of the cells are then their strata
    single: bool


@dataclass(frozen=True, slots=True, eq=False)
class ReplicateCounts:
    """The counts of a feature by every replicate weight, and the factors of squared deviations.

    ``counts``, by measure, have the shape of those of all rows, after that of the replicates.
    """

    counts: Mapping[str, Array]
    factors: Array


SampleDesign = SampledCells | ReplicateCounts
"""How a survey was sampled: its strata and primary sampling units, or its replicate weights."""


def weights_differ(n: float, w: float, w2: float) -> bool:
    """Return whether rows are weighted differently, from sums over them of w^0, w and w^2."""
    return n * w2 > w**2 * (1 + _ROUNDING)


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Counts of one feature (or intersection)."""

    # feature, groups: its name and those of its groups, unique within a result
    feature: str
    # feature_id, group_ids: what these are; names are never compared with those of other results
    feature_id: FeatureId
    groups: tuple[str, ...]
    group_ids: tuple[GroupId, ...]
    strata: tuple[str, ...]  # names of the strata; ``slots`` are the margin (None) and then these
    # for every measure, array of shape (groups + 1, slots, labels + 1, predictions + 1). The last
    # group holds known values of no group, the last label and prediction missing ones
    counts: dict[str, Array]
    crossing: Crossing  # which group each combination of values of its columns belongs to
    # the cases of groups that are excluded by name; shape (labels + 1, predictions + 1)
    excluded: Array
    # the position of the group that the specification names as the reference
    named_reference: int | None = None
    histogram: Histogram | None = None  # the scores, None without scores
    # the same as ``counts`` of the rows excluded because they have no group, by kind; shape (kinds,
    # slots, labels + 1, predictions + 1). Of which groups each kind may be, ``crossing`` states
    unknown: dict[str, Array] = field(default_factory=dict)
    clusters: ClusterCells | None = None  # the cells by cluster, None without clusters
    design: SampleDesign | None = None  # how a survey was sampled, where that is stated
    mean_weight: float = 1.0  # the unit of all weights, which is the mean weight of all rows
    all_decided: bool = False  # whether a row without any outcome counts, as one of a negative one
    centre: float = 0.0  # what numbers are summed less
    largest_base: float = 0.0  # of the sum of several protected tables

    def in_given_weights(self, sums: Array) -> Array:
        """Return sums of weights in the unit in which they were given, to 12 digits."""
        if self.mean_weight == 1:
            return sums
        given = [float(f"{each:.12g}") for each in (sums * self.mean_weight).ravel().tolist()]
        return np.array(given).reshape(sums.shape)

    @property
    def weighted(self) -> bool:
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
        return weights_differ(n, w, w2)

    @property
    def has_others(self) -> bool:
        """Return whether there are rows of known value in no group."""
        return bool(self.counts["rows"][-1].sum() > 0)

    @property
    def has_labels(self) -> bool:
        return bool(self.counts["rows"].shape[2] > 1)

    @property
    def has_predictions(self) -> bool:
        return bool(self.counts["rows"].shape[3] > 1)

    @property
    def cases(self) -> Array:
        """Return the cases of every group over all strata that have an outcome, without weights."""
        return _count_with_outcome(self.counts["n"][:-1, 0], self)

    @property
    def every_case(self) -> float:
        """Return the cases with an outcome, of excluded groups too: shares are of these."""
        return self.every("n") + float(_count_with_outcome(self.excluded, self))

    def every(self, measure: str) -> float:
        """Return the rows or cases that have an outcome, those of no known group included."""
        known = _count_with_outcome(self.counts[measure][:, 0], self)
        return float(known.sum()) + ungrouped_rows(self, measure)

    def scope(self, slot: int) -> Scope:
        return Scope(ScopeKind.STRATUM, self.strata[slot - 1]) if slot else OVERALL

    def codes_of_rows(self, cube: Cube, columns: Mapping[str, Sequence[Value]]) -> Index:
        """Return the group of every row: -1 for a known value of no group, below for none."""
        axes = [part.axis for part in self.crossing.parts]
        levels = [level_codes(axis, cube, columns[axis.column]) for axis in axes]
        return self.crossing.groups_of(np.stack(levels, axis=-1))


def ungrouped_rows(counts: GroupCounts, measure: str) -> float:
    """Return the rows or cases in no group that have an outcome."""
    return float(ungrouped_by_kind(counts, measure).sum())


def ungrouped_by_kind(counts: GroupCounts, measure: str) -> Array:
    """Return the rows or cases of each kind without a group that have an outcome."""
    if measure not in counts.unknown:
        return np.zeros(len(counts.crossing.unknown))
    return _count_with_outcome(counts.unknown[measure][:, 0], counts)


def known_outcome(counts: GroupCounts, spec: Spec) -> str | None:
    """Return the outcome that the cases which count have; None where every case counts."""
    unknown = counts.unknown["n"][:, 0].sum() if counts.unknown else 0.0
    if counts.every_case == counts.counts["n"][:, 0].sum() + unknown + counts.excluded.sum():
        return None
    decision = "score" if spec.prediction is None else "prediction"
    return " or ".join(["label"] * counts.has_labels + [decision] * counts.has_predictions)


def _count_with_outcome(cells: Array, counts: GroupCounts) -> Array:
    lacking = cells[..., -1, -1] * (cells.shape[-2:] != (1, 1) and not counts.all_decided)
    return np.asarray(cells.sum(axis=(-2, -1)) - lacking)


def group_fields(counts: GroupCounts, group: int) -> dict[str, Any]:
    """Return the fields of a result that state a group."""
    return {"group": counts.groups[group], "group_id": counts.group_ids[group]}


def as_reference(
    counts: GroupCounts, group: int, kind: ReferenceKind = ReferenceKind.GROUP
) -> Reference:
    """Return a group as what others are compared with."""
    return Reference(kind, counts.groups[group], counts.group_ids[group])


def count_groups(cube: Cube, spec: Spec) -> list[GroupCounts]:
    """Arrange the counts of every sensitive feature and intersection."""
    cube = with_one_stratum(cube)
    problems: list[Problem] = []
    groupings = group_columns(cube, spec)
    features = []
    for name, feature in spec.recorded.items():
        with collecting(problems):
            parts = [groupings[column] for column in feature.columns]
            crossing = _cross_groupings(parts, cube, spec)
            named = _named_references(spec).get(name)
            counted = _arrange(cube, name, crossing, _reference_group(name, crossing, named))
            if spec.missing is Missing.IGNORABLE:
                counted = _share_ungrouped(counted)
            features.append(replace(counted, all_decided=spec.profile.as_smclarify))
    refuse(problems)
    return features


def _share_ungrouped(counts: GroupCounts) -> GroupCounts:
    # Rows without a group are shared within each outcome as the others of that outcome are, by
    # weights: N / n of each outcome, as if it had been sampled. Linearised variances with these
    # weights are those of the odds as counted, which do not depend on them, and hold for
    # differences, too: that the weights are estimated makes groups vary less, and alike.
    known, without = counts.counts["n"][:, 0], counts.unknown["n"][:, 0]
    lacking = np.zeros(known.shape[1:], dtype=bool)
    lacking[-1] = counts.has_labels
    lacking[:, -1] |= counts.has_predictions
    name = quote(counts.feature)
    if counts.protected:
        raise DataError("missing='ignorable' needs exact counts; these are protected")
    if rows := (known.sum(axis=0) + without.sum(axis=0) + counts.excluded)[lacking].sum():
        raise DataError(
            f"{rows:,.0f} rows have no outcome, and missing='ignorable' shares the rows without "
            f"{name} within each outcome: exclude them by a condition that names missing values "
            "(where, --where 'COLUMN != (missing)', or '(missing)' among others after !=)"
        )
    fits = np.append(counts.crossing.fits, np.ones((len(without), 1), dtype=bool), axis=1)
    pool = np.einsum("kg,glp->klp", fits, known) + counts.excluded
    if ((without > 0) & (pool == 0)).any():
        raise DataError(
            f"all rows of an outcome lack {name}: there are none as which missing='ignorable' "
            "could share them"
        )
    shares = np.divide(without, pool, out=np.zeros_like(pool), where=pool > 0)
    more = np.einsum("kg,klp->glp", fits, shares)
    factor = (1 + more)[:, None]
    n = counts.counts["n"]
    shared = counts.counts | {"w": n * factor, "w2": n * factor**2}
    nothing = {m: np.zeros_like(counts.unknown["n"]) for m in shared}
    return replace(counts, counts=shared, unknown=nothing)


def group_columns(cube: Cube, spec: Spec) -> dict[str, Grouping]:
    """Return the groups of every column that the specification names as a feature or a part."""
    problems: list[Problem] = []
    columns = {column for feature in spec.audited.values() for column in feature.columns}
    groupings: dict[str, Grouping] = {}
    for axis in cube.plan.axes:
        if axis.role is Role.FEATURE and axis.column in columns:
            with collecting(problems):
                groupings[axis.column] = _grouping(axis, cube, spec)
    refuse(problems)
    if spec.missing is Missing.ERROR:
        refuse_missing(cube)
    return groupings


def cross_groups(cube: Cube, columns: Sequence[str], spec: Spec) -> Crossing:
    """Return the groups of one feature of some columns."""
    groupings = group_columns(cube, spec)
    return _cross_groupings([groupings[column] for column in columns], cube, spec)


def level_codes(axis: Axis, cube: Cube, values: Sequence[Value]) -> Index:
    """Return the position of every value in the levels of an axis, -1 where missing."""
    if axis.cuts:
        numbers = numbers_of(values)
        return np.where(np.isnan(numbers), -1, axis.bins_of(numbers))
    position = {name_of(level): i for i, level in enumerate(cube.levels[axis])}
    unstated = (str(each.value) for each in cube.seen(Observation.UNSTATED, axis.column))
    position = dict.fromkeys(unstated, -1) | position
    if {*map(type, values)} - {str, type(None)}:  # True and 1 are equal in Python
        return np.array([-1 if v is None else position[name_of(v)] for v in values], dtype=np.int64)
    code = {v: -1 if v is None else position[name_of(v)] for v in {*values}}
    return np.array([code[v] for v in values], dtype=np.int64)


def count_everyone(cube: Cube) -> GroupCounts:
    """Arrange the counts of all rows as one group, whatever their features."""
    cube = with_one_stratum(cube)
    first = np.zeros(1, dtype=np.int64)
    whole = Crossing((), (identity.EVERYONE,), first, first, first, np.ones((1, 1), dtype=bool))
    return _arrange(cube, "", whole, None)


@dataclass(frozen=True, slots=True, eq=False)
class JointCells:
    """The cells of one feature by the decisions of two models, where both are known."""

    # for every measure, array of shape (groups + 1, slots, labels + 1, K, K): by label, the
    # decision of the model in use and that of the candidate; the last group holds known values of
    # no group, the last label missing ones
    counts: dict[str, Array]
    # the cells by cluster, whose predictions are those of the model in use; None without clusters
    clusters: ClusterCells | None


def count_jointly(joint: Cube, counted: GroupCounts) -> JointCells:
    """Arrange the joint counts of two models (`cube.views.pair`) by the groups of a feature."""
    joint = with_one_stratum(joint)
    plan, crossing = joint.plan, counted.crossing
    axes = [plan.axis(role) for role in (Role.STRATUM, Role.LABEL, Role.PREDICTION, Role.CANDIDATE)]
    sizes = [len(joint.levels[axis]) + 1 for axis in axes if axis]
    cells = (len(counted.groups) + 2 + len(crossing.unknown)) * math.prod(sizes)
    if cells > _MOST_JOINT_CELLS:
        message = (
            f"{quote(counted.feature)} makes {cells:,} cells of group, label and both decisions, "
            f"above {_MOST_JOINT_CELLS:,}; compare fewer classes, groups or strata at once"
        )
        raise SpecError(Problem("candidate", message))
    unit = {"w": counted.mean_weight, "w2": counted.mean_weight**2}

    def in_units(sums: Mapping[str, Array]) -> dict[str, Array]:
        return {measure: each / unit.get(measure, 1.0) for measure, each in sums.items()}

    known, every = slice(len(counted.groups) + 1), _dense(joint, crossing, axes)
    counts = {m: _prepend_total(dense)[known, ..., :-1, :-1] for m, dense in every.items()}
    clusters = _cluster_cells(joint, crossing, axes)
    clusters = clusters and replace(clusters, counts=in_units(clusters.counts))
    return JointCells(in_units(counts), clusters)


def count_missing(every: Cube, counted: GroupCounts) -> tuple[Array, Array, Array]:
    """Return all rows by group, label and both decisions, missing ones last.

    Their weights where they have some: of shape (groups + 1, labels + 1, K + 1, K + 1), as those of
    `JointCells`; the weights of the kinds of rows without a group; and the rows of all of these,
    which come last.
    """
    known = len(counted.groups) + 1
    axes = [every.plan.axis(role) for role in (Role.LABEL, Role.PREDICTION, Role.CANDIDATE)]
    counts = _dense(every, counted.crossing, axes)
    weights, rows = counts.get("w", counts["n"]), counts["n"]
    without = rows[known:-1].sum(axis=0, keepdims=True)
    return weights[:known], weights[known:-1], np.concatenate([rows[:known], without])


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Which group each level of a column belongs to; the last entry is for missing values."""

    axis: Axis
    groups: tuple[Part, ...]
    group_of: Index
    reference: int | None

    def known(self, codes: Index) -> Index:
        """Return codes of values, -1 of all that are in a group of missing ones."""
        missing = self.group_of[-1]
        return np.where((self.group_of[codes] == missing) & (missing >= 0), -1, codes)


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Which group each combination of the groups of a feature's columns is."""

    parts: tuple[Grouping, ...]  # the groups of each column; none for all rows as one group
    groups: tuple[GroupId, ...]  # what each group of the feature is
    combinations: Index  # array of shape (K,): the numbers of those that occur, ascending
    group_of: Index  # array of shape (K,): the group of each
    # likewise the combinations that lack a value; the first lacks all. Each is a kind of rows
    # without a group
    unknown: Index
    # array of shape (kinds, groups): of which groups they may be, by the values they have
    fits: Mask

    @property
    def excludes(self) -> bool:
        """Return whether groups are excluded: rows may be of one of these, too."""
        each = (self.group_of, *(part.group_of for part in self.parts))
        return any((group_of == EXCLUDED).any() for group_of in each)

    def groups_of(self, codes: Index) -> Index:
        """Return the group of every cell, from its levels in the columns of the feature."""
        combination, lowest = _combinations(self.parts, codes)
        if not len(self.combinations):
            return np.minimum(lowest, OTHER)
        at = np.searchsorted(self.combinations, combination).clip(max=len(self.combinations) - 1)
        group = np.where(self.combinations[at] == combination, self.group_of[at], OTHER)
        return np.where(lowest >= 0, group, lowest)

    def kinds_of(self, codes: Index) -> Index:
        """Return the kind of every cell without a group; one that is not known may be of any."""
        combination, _ = _combinations(self.parts, codes)
        at = np.searchsorted(self.unknown, combination).clip(max=len(self.unknown) - 1)
        return np.where(self.unknown[at] == combination, at, 0)


def _combinations(parts: Sequence[Grouping], codes: Index) -> tuple[Index, Index]:
    # where the lowest is below 0, the cell is in no group
    combination = np.zeros(len(codes), dtype=np.int64)
    lowest = np.zeros(len(codes), dtype=np.int64)
    for i, (part, size) in enumerate(zip(parts, _group_numbers(parts), strict=True)):
        group = part.group_of[codes[:, i]]
        combination = combination * size + group - EXCLUDED
        lowest = np.minimum(lowest, group)
    return combination, lowest


def _group_numbers(parts: Sequence[Grouping]) -> list[int]:
    return [len(part.groups) - EXCLUDED for part in parts]


def _cross_groupings(parts: Sequence[Grouping], cube: Cube, spec: Spec) -> Crossing:
    # cross the groups of columns; of an intersection, only combinations that occur are groups
    if len(parts) == 1:
        groups = tuple(map(GroupId.of, parts[0].groups))
        every = np.arange(len(groups))
        fits = np.ones((1, len(groups)), dtype=bool)
        missing = np.array([_DROPPED - EXCLUDED])
        return Crossing(tuple(parts), groups, every - EXCLUDED, every, missing, fits)
    held, lowest = _combinations(parts, cube.marginal([part.axis for part in parts]).codes)
    sizes = _group_numbers(parts)
    nothing = np.ravel_multi_index([_DROPPED - EXCLUDED] * len(parts), sizes)
    present, unknown = np.unique(held[lowest >= 0]), np.union1d(nothing, held[lowest == _DROPPED])
    positions = np.stack(np.unravel_index(present, sizes)) + EXCLUDED
    values = np.stack(np.unravel_index(unknown, sizes)) + EXCLUDED
    cells = (zip(parts, cell, strict=True) for cell in positions.T.tolist())
    crossed = [GroupId.of(*(part.groups[i] for part, i in cell)) for cell in cells]
    excluded = np.zeros(len(crossed), dtype=bool)
    excluded[_excluded_groups(crossed, spec)] = True
    group_of = np.where(excluded, EXCLUDED, np.cumsum(~excluded) - 1)
    kept = tuple(crossed[i] for i in np.flatnonzero(~excluded).tolist())
    own = values[:, :, None]
    fits = ((own == _DROPPED) | (own == positions[:, None, ~excluded])).all(axis=0)
    return Crossing(tuple(parts), kept, present, group_of, unknown, fits)


def _excluded_groups(groups: Sequence[GroupId], spec: Spec) -> list[int]:
    # the groups that are excluded by name; a name of two groups is a problem
    names = group_names(groups) if spec.exclude_groups else ()
    excluded: list[int] = []
    for i, text in enumerate(spec.exclude_groups):
        meant = identity.positions_named(text, groups, names)
        if len(meant) > 1:
            raise _ambiguous(f"exclude_groups[{i}]", text, [names[at] for at in meant])
        excluded += meant
    return excluded


def _ambiguous(path: str, text: str, names: Sequence[str]) -> SpecError:
    either = errors.alternatives(map(quote, names))
    of = f"{quote(text)} is the name of {len(names)} groups"
    return SpecError(Problem(path, f"{of}; write {either}"))


def _grouping(axis: Axis, cube: Cube, spec: Spec) -> Grouping:
    levels = cube.levels[axis]
    feature = spec.feature(axis.column)
    groups = axis.parts(levels)
    group_of = np.arange(len(levels))
    if feature.values:
        groups, group_of = _value_sets(feature.values, levels, axis.column)
    unknown = unknown_levels(axis, levels, spec)
    named = np.isin(group_of, _excluded_groups(list(map(GroupId.of, groups)), spec))
    if (absent := unknown | named).any():
        held = np.unique(group_of[~absent & (group_of >= 0)])
        position = np.full(len(groups) + 1, OTHER)
        position[held] = np.arange(len(held))
        groups = [groups[i] for i in held.tolist()]
        group_of = np.where(unknown, _DROPPED, np.where(named, EXCLUDED, position[group_of]))
    reference = _named_reference(axis, spec, levels, groups, group_of)
    missing = _DROPPED
    if spec.profile.as_smclarify:
        missing = OTHER
    elif spec.missing is Missing.GROUP:
        missing = len(groups)
        has_missing = unknown.any() or (cube.marginal([axis]).codes < 0).any()
        groups = [*groups, MissingValue()] if has_missing else groups
    group_of = np.append(np.where(unknown, missing, group_of), missing)
    return Grouping(axis, tuple(groups), group_of, reference)


def unknown_levels(
    axis: Axis, levels: Sequence[Value], spec: Spec, role: Role = Role.FEATURE
) -> Mask:
    """Return which levels of an axis of a role mean that the value is missing; of others none."""
    if len(axis.stated_cuts) < len(axis.cuts):  # ages below 0
        return np.array([level == 0 for level in levels], dtype=bool)
    asked = spec.unknown if axis.role is role and not axis.cuts else ()
    if not asked:
        return np.zeros(len(levels), dtype=bool)
    return np.array([is_one_of(level, asked) for level in levels], dtype=bool)


def _value_sets(
    sets: Sequence[Sequence[Value]], levels: Sequence[Value], column: str
) -> tuple[list[Part], Index]:
    group_of = np.full(len(levels), OTHER)
    groups: list[Part] = []
    for i, values in enumerate(sets):
        found = [_find(value, levels, column, "sensitive") for value in values]
        for level in found:
            at = [j for j, each in enumerate(levels) if each is level]
            if (group_of[at] != OTHER).any():  # 1 and "1" are two values, and mean one level
                message = f"value {quote(name_of(level))} of {quote(column)} is listed twice"
                raise SpecError(Problem("sensitive", message))
            group_of[at] = i
        groups.append(ValueSet(tuple(found)))
    return groups, group_of


def _named_reference(
    axis: Axis, spec: Spec, levels: Sequence[Value], groups: list[Part], group_of: Index
) -> int | None:
    # the position of the group that is the reference; a value of no group becomes one
    asked = _named_references(spec).get(axis.column)
    value = asked[0] if isinstance(asked, tuple) else asked
    if value is None:
        return None
    name = name_of(value)
    ids = list(map(GroupId.of, groups))
    meant = identity.position_of_value(value, ids, group_names(ids))
    if meant is not None:
        return meant
    option, at = "exclude_groups", -1
    if name not in spec.exclude_groups:
        level = _find(value, () if axis.cuts else levels, axis.column, "reference")
        option, at = "unknown", next(j for j, each in enumerate(levels) if each is level)
    if at < 0 or group_of[at] == _DROPPED:
        message = f"{quote(name)} is excluded from {quote(axis.column)} by {option}"
        raise SpecError(Problem("reference", message))
    if group_of[at] == OTHER:
        group_of[at] = len(groups)
        groups.append(ValueSet((levels[at],)))
    return int(group_of[at])


def _find(value: Value, levels: Sequence[Value], column: str, path: str) -> Value:
    try:
        return match(value, levels)
    except LookupError as error:
        name, known = name_of(value), [name_of(level) for level in levels]
        absent = f"column {quote(column)} has no value {quote(name)}.{suggest(name, known)}"
        message = str(error) or f"{absent} It has {errors.cells(known)}"
        if path == "reference" and value in list(ReferenceRule):
            message += f"; as a rule it stands alone (reference={value!r}, --reference {value})"
        raise SpecError(Problem(path, message)) from None


def _arrange(cube: Cube, feature: str, crossing: Crossing, reference: int | None) -> GroupCounts:
    plan = cube.plan
    outcome = [plan.axis(role) for role in (Role.STRATUM, Role.LABEL, Role.PREDICTION)]
    every = _dense(cube, crossing, outcome)
    counts = {measure: _prepend_total(dense) for measure, dense in every.items()}
    known = len(crossing.groups) + 1
    varied = {m: counts.pop(m)[:known] for m in [*counts] if REPLICATE in m}
    design = _sample_design(cube, crossing, outcome, varied) if plan.asked.design else None
    return GroupCounts(
        feature=feature, feature_id=FeatureId(tuple(part.axis.column for part in crossing.parts)),
        groups=group_names(crossing.groups), group_ids=crossing.groups,
        strata=tuple(outcome[0].names(cube.levels[outcome[0]])) if outcome[0] else (),
        counts={measure: dense[:known] for measure, dense in counts.items()},
        crossing=crossing, excluded=counts["n"][-1, 0], named_reference=reference,
        histogram=_histogram(cube, crossing),
        unknown={measure: dense[known:-1] for measure, dense in counts.items()},
        clusters=_cluster_cells(cube, crossing, outcome), design=design, centre=centre_of(plan),
        largest_base=largest_base(cube.parts) if len(cube.parts) > 1 else 0.0,
    )  # fmt: skip


def _prepend_total(dense: Array) -> Array:
    return np.concatenate([dense.sum(axis=1, keepdims=True), dense[:, :-1]], axis=1)


def _named_references(spec: Spec) -> dict[str, Value | tuple[Value, ...]]:
    return dict(spec.reference) if isinstance(spec.reference, tuple) else {}


def _reference_group(
    feature: str, crossing: Crossing, asked: Value | tuple[Value, ...]
) -> int | None:
    # the group that is named, or that of the named values of all columns; None without
    parts, groups = crossing.parts, crossing.groups
    if len(parts) > 1 and asked is not None:
        names = group_names(groups)
        if isinstance(asked, tuple):
            meant = [i for i, group in enumerate(groups) if group.has_values(asked)]
        else:
            meant = identity.positions_named(str(asked), groups, names)
        text, path = identity.name_of_values(asked), f"reference.{feature}"
        if not meant:
            message = f"no group of {quote(feature)} is {quote(text)}.{suggest(text, names)}"
            raise SpecError(Problem(path, message))
        if len(meant) > 1:
            raise _ambiguous(path, text, [names[at] for at in meant])
        return meant[0]
    named = [part.groups[part.reference] for part in parts if part.reference is not None]
    if not parts or len(named) < len(parts):
        return None
    reference = GroupId.of(*named)
    if reference not in groups:
        message = f"no row is in {quote(reference.name())}, the reference of {quote(feature)}"
        raise SpecError(Problem("reference", message))
    return groups.index(reference)


def _histogram(cube: Cube, crossing: Crossing) -> Histogram | None:
    score = cube.plan.axis(Role.SCORE)
    if score is None:
        return None
    counts = _dense(cube, crossing, [cube.plan.axis(Role.LABEL), score])
    held = np.flatnonzero(counts["rows"][:-1, :, :-1].sum(axis=(0, 1)))
    known = len(crossing.groups) + 1
    low, high = score.edges(held, cube.levels[score])
    of_groups = {measure: dense[:known, :, held] for measure, dense in counts.items()}
    unknown = {measure: dense[known:-1, :, held] for measure, dense in counts.items()}
    return Histogram(low, high, of_groups, unknown)


def _cluster_cells(cube: Cube, crossing: Crossing, axes: list[Axis | None]) -> ClusterCells | None:
    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None:
        return None
    table = cube.marginal([*(part.axis for part in crossing.parts), axis, *(a for a in axes if a)])
    return _cells_of_units(cube, table, table.codes_of([axis])[:, 0], crossing, axes)


def _cells_of_units(
    cube: Cube, table: CountTable, unit: Index, crossing: Crossing, axes: list[Axis | None]
) -> ClusterCells:
    columns = table.codes_of([part.axis for part in crossing.parts])
    group = crossing.groups_of(columns)
    kept: Any = (unit >= 0) & (group > _DROPPED)
    kept &= table.cases > 0  # rows of weight 0 are in no cluster either
    none = np.zeros(np.count_nonzero(kept), dtype=np.int64)
    kept = np.s_[:] if kept.all() else kept  # of which nothing is a copy
    stratum, label, prediction, *more = (
        _fill_codes(table.codes_of([a])[kept, 0], len(cube.levels[a])) if a else none for a in axes
    )
    counts = {"n": table.cases[kept], **{m: sums[kept] for m, sums in table.sums.items()}}
    of_parts = zip(crossing.parts, columns[kept].T, strict=True)
    levels = tuple(1 + part.known(own) for part, own in of_parts)  # 0 is missing
    group = _fill_codes(group[kept], len(crossing.groups))
    candidate = more[0] if more else None
    return ClusterCells(unit[kept], group, stratum, label, prediction, counts, levels, candidate)


def _sample_design(
    cube: Cube, crossing: Crossing, axes: list[Axis | None], varied: Mapping[str, Array]
) -> SampleDesign:
    # ``varied`` are the counts by replicate weights
    asked = cube.plan.asked
    if asked.replicate_weights:
        replicates, counts = asked.replicate_weights.columns, {}
        for name in {measure.partition(REPLICATE)[0] for measure in varied}:
            counts[name or "w"] = np.stack([varied[f"{name}{REPLICATE}{c}"] for c in replicates])
        return ReplicateCounts(counts, np.array(asked.replicate_weights.factors))
    roles = (Role.SAMPLE_STRATUM, Role.CLUSTER)  # without clusters every row is a unit
    sampled = [axis for role in roles if (axis := cube.plan.axis(role))]
    columns = [part.axis for part in crossing.parts]
    table = cube.marginal([*columns, *sampled, *(axis for axis in axes if axis)])
    for axis in sampled:
        if (lacks := table.codes_of([axis])[:, 0] < 0).any():
            rows = int(table.sums["rows"][lacks].sum())
            raise DataError(f"{rows:,} rows have no {quote(axis.column)}, their {axis.role}")
    at_stratum, *at_unit = table.codes_of(sampled).T
    strata, stratum = np.unique(at_stratum, return_inverse=True)
    unit, of_unit = stratum.astype(np.int64), np.arange(len(strata))
    units = np.bincount(unit, table.sums[cube.plan.cases], len(strata))
    if at_unit:
        pairs, of_cell = np.unique(np.stack([unit, *at_unit]), axis=1, return_inverse=True)
        unit, of_unit = of_cell.reshape(-1).astype(np.int64), pairs[0]
        units = np.bincount(of_unit, minlength=len(strata))
    cells = _cells_of_units(cube, table, unit, crossing, axes)
    return SampledCells(cells, Strata(of_unit, units.astype(np.float64)), not at_unit)


def _fill_codes(codes: Index, last: int) -> Index:
    return np.where(codes < 0, last, codes)


def _dense(cube: Cube, crossing: Crossing, axes: list[Axis | None]) -> dict[str, Array]:
    # after the groups come known values of no group, the kinds of rows without a group, and groups
    # that are excluded; the last entry along other axes is for missing values
    columns = [part.axis for part in crossing.parts]
    table = cube.marginal([*columns, *(axis for axis in axes if axis)])
    group, groups = crossing.groups_of(table.codes), len(crossing.groups)
    places = groups + 1 + len(crossing.unknown) + 1
    shape = [places, *(len(cube.levels[axis]) + 1 if axis else 1 for axis in axes)]
    beyond = groups + (group == _DROPPED) * (1 + crossing.kinds_of(table.codes))
    index = np.where(group < 0, beyond, group)
    index[group == EXCLUDED] = places - 1
    column = len(columns)
    for axis, size in zip(axes, shape[1:], strict=True):
        index = index * size
        if axis:
            index += _fill_codes(table.codes[:, column], size - 1)
            column += 1
    cells = int(np.prod(shape))
    summed = {name: np.bincount(index, sums, cells) for name, sums in table.sums.items()}
    counts = {n: each.astype(np.float64, copy=False).reshape(shape) for n, each in summed.items()}
    counts.setdefault("n", counts["rows"])
    return counts


def refuse_missing(cube: Cube) -> None:
    """Refuse counts in which anything is missing: what, and in how many rows."""
    missing = ((axis, int(cube.cases_by_level[axis][-1])) for axis in cube.plan.axes)
    found = [f"{n:,} rows miss {quote(axis.column)} ({axis.role})" for axis, n in missing if n]
    found += [f"{rows:,} rows have a {reason}" for reason, rows in cube.excluded.items()]
    if found:
        raise DataError(f"missing values, and missing='error': {'; '.join(found)}")
