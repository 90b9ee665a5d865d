"""Tally: the counts of a cube arranged by group and stratum, as the comparisons need them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote
from fairgauge.feature import Above
from fairgauge.metrics.side import Side
from fairgauge.values import MISSING_NAME, Value, match, name_of
from fairgauge.words import Missing, Profile, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.cube import Cube, Table
    from fairgauge.metrics.symbols import Array, Need
    from fairgauge.plan import Axis
    from fairgauge.spec import Spec

    Index = NDArray[np.int64]

LABEL: frozenset[Need] = frozenset({"label"})
PREDICTION: frozenset[Need] = frozenset({"prediction"})
BOTH: frozenset[Need] = LABEL | PREDICTION

EVERYONE = "all"
_OTHER, _DROPPED = -1, -2
_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Counts of one feature (or intersection).

    Attributes
    ----------
    feature : its name; an intersection is ``sex*race``.
    groups : names of its groups.
    strata : names of the strata; ``slots`` are the margin (None) and then these.
    counts : for every measure, array of shape (groups + 1, slots, labels + 1, predictions + 1).
        The last group holds known values of no group, the last label and prediction missing ones.
    """

    feature: str
    groups: tuple[str, ...]
    strata: tuple[str, ...]
    counts: dict[str, Array]
    named_reference: str | None = None

    @property
    def slots(self) -> tuple[str | None, ...]:
        """Return the margin (None) and the strata."""
        return (None, *self.strata)


@dataclass(frozen=True, slots=True, eq=False)
class Positives:
    """Which levels of label and prediction are positive; one prediction mask per threshold."""

    labels: NDArray[np.bool_]
    predictions: tuple[tuple[float | None, NDArray[np.bool_]], ...]


def tally(cube: Cube, spec: Spec) -> list[Tally]:
    """Arrange the counts of every sensitive feature and intersection.

    Raises
    ------
    SpecError
        A value set, a reference or a positive value that the data do not have.
    DataError
        Missing values where the specification says they are errors.
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
        _refuse_missing(cube)
    asked = [(f.column,) for f in spec.sensitive] + list(spec.intersections)
    return [_tally(cube, [groupings[c] for c in columns]) for columns in asked]


def tally_all(cube: Cube) -> Tally:
    """Arrange the counts of all rows as one group, whatever their features."""
    return _tally(cube, [])


def positives(cube: Cube, spec: Spec) -> Positives:
    """Find which levels are positive.

    Raises
    ------
    SpecError
        No positive value is said and the labels are not 0 and 1, or the data do not have it.
    """
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    label_levels = cube.levels[label] if label else ()
    prediction_levels = cube.levels[prediction] if prediction else ()
    from_score = prediction is not None and prediction.bounds is not None
    said: list[Sequence[Value]] = []
    if label and not label.cuts:
        said.append(label_levels)
    if prediction and not prediction.cuts:
        said.append(prediction_levels)
    wanted = _wanted(spec, said, label or prediction)
    if label and label.cuts:
        labels = np.array([bool(level) for level in label_levels])
    else:
        labels = _mask(wanted, label_levels)
    if not from_score or prediction is None:
        cut = prediction is not None and bool(prediction.cuts)
        mask = np.array(prediction_levels, dtype=bool) if cut else _mask(wanted, prediction_levels)
        return Positives(labels, ((None, mask),))
    _check_label_only(spec, said)
    high = np.array([int(level) for level in prediction_levels if isinstance(level, int)])
    of_positive = spec.score_of is None or any(_same(spec.score_of, w) for w in wanted)
    masks = [(t, (high > i) == of_positive) for i, t in enumerate(prediction.cuts)]
    return Positives(labels, tuple(masks))


def excluded(cube: Cube, spec: Spec) -> tuple[dict[str, int], int]:
    """Count physical rows left out by reason, and the rows used.

    A row is used when its label and prediction are known and at least one feature is.
    """
    reasons = dict(cube.excluded)
    joint = max(cube.tables, key=lambda table: len(table.axes))
    complete = np.ones(len(joint.codes), dtype=bool)
    any_feature = np.zeros(len(joint.codes), dtype=bool)
    for axis in cube.plan.axes:
        table = cube.marginal([axis])
        missing = int(table.sums["rows"][table.codes[:, 0] < 0].sum())
        known = joint.codes[:, joint.axes.index(axis)] >= 0 if axis in joint.axes else None
        if axis.role is Role.FEATURE:
            kept = spec.missing is Missing.GROUP or spec.profile is Profile.CLARIFY
            if known is not None:
                any_feature |= known | kept
            if missing and not kept:
                reasons[f"missing {axis.column}"] = missing
        elif axis.role is Role.STRATUM:
            if missing:
                reasons["missing stratum"] = missing
        elif missing and spec.profile is not Profile.CLARIFY:
            name = "score" if axis.bounds else str(axis.role)
            reasons[f"missing {name}"] = missing
            if known is not None:
                complete &= known
    used = int(joint.sums["rows"][complete & any_feature].sum())
    return reasons, used


class Sides:
    """Makes `Side` values out of a tally, for one measure and one threshold.

    Sides are picked by number: groups come first, then the known values of no group, then the
    whole (`whole`), then the rest of every group (``rest + group``).
    """

    def __init__(
        self, counts: Array, positive: Positives, profile: Profile, threshold: int = 0
    ) -> None:
        self.whole = len(counts)
        self.rest = len(counts) + 1
        self._counts = _with_rest(counts)
        mask = positive.predictions[threshold][1]
        states = _states(self._counts, positive.labels, mask)
        if profile is Profile.CLARIFY:  # smclarify takes a missing label or prediction as negative
            for axis in (2, 3):
                yes, no, missing = (np.take(states, i, axis=axis) for i in range(3))
                states = np.stack([yes, no + missing, np.zeros_like(yes)], axis=axis)
        self._states = states

    def pick(self, which: Index, slots: Index, *, pooled: bool = False) -> Side:
        """Return one side of comparisons: the numbers of the sides, and their slots (0: margin)."""
        states = self._states[which, slots]
        label, prediction = states.sum(axis=2), states.sum(axis=1)
        zero = np.zeros(len(states))
        raw = self._counts[which, slots]
        return Side(
            size=states.sum(axis=(1, 2)),
            cells={
                BOTH: states[:, :2, :2].transpose(0, 2, 1).reshape(-1, 4),
                LABEL: np.stack([label[:, 0], zero, zero, label[:, 1]], axis=-1),
                PREDICTION: np.stack([prediction[:, 0], zero, zero, prediction[:, 1]], axis=-1),
            },
            classes={"label": raw.sum(axis=2)[:, :-1], "prediction": raw.sum(axis=1)[:, :-1]},
            strata=self._by_stratum(which) if pooled else {},
        )

    def _by_stratum(self, which: Index) -> dict[Need, Array]:
        states = self._states[which, 1:]
        return {"label": states.sum(axis=3)[:, :, :2], "prediction": states.sum(axis=2)[:, :, :2]}


def _with_rest(counts: Array) -> Array:
    """Append the whole, and for every group the sum of all others.

    The others are added up, not subtracted from the whole, so that weights leave no rounding.
    """
    zero = np.zeros_like(counts[:1])
    before = np.concatenate([zero, np.cumsum(counts, axis=0)])
    after = np.concatenate([np.cumsum(counts[::-1], axis=0)[::-1], zero])
    rest = before[:-1] + after[1:]
    return np.concatenate([counts, before[-1:], rest])


def _states(counts: Array, labels: NDArray[np.bool_], predictions: NDArray[np.bool_]) -> Array:
    """Collapse labels and predictions to positive, negative and missing."""
    states = counts
    for axis, positive in ((2, labels), (3, predictions)):
        known = np.take(states, range(states.shape[axis] - 1), axis=axis)
        parts = [
            np.compress(positive, known, axis=axis).sum(axis=axis),
            np.compress(~positive, known, axis=axis).sum(axis=axis),
            np.take(states, -1, axis=axis),
        ]
        states = np.stack(parts, axis=axis)
    return states


@dataclass(frozen=True, slots=True, eq=False)
class _Grouping:
    """Which group each level of a feature belongs to; the last entry is for missing values."""

    axis: Axis
    names: tuple[str, ...]
    group_of: NDArray[np.int64]
    reference: str | None


def _grouping(axis: Axis, cube: Cube, spec: Spec, problems: list[Problem]) -> _Grouping:
    levels = cube.levels[axis]
    feature = spec.feature(axis.column)
    names = axis.names(levels)
    if feature.values:
        names, group_of = _value_sets(feature.values, levels, axis.column, problems)
    else:
        group_of = np.arange(len(levels))
    reference = _named_reference(axis, spec, levels, names, group_of, problems)
    missing = _DROPPED
    if spec.profile is Profile.CLARIFY:
        missing = _OTHER  # smclarify counts a missing facet with the reference
    elif spec.missing is Missing.GROUP:
        missing = len(names)
        has_missing = (cube.marginal([axis]).codes < 0).any()
        names = [*names, MISSING_NAME] if has_missing else names
    return _Grouping(axis, tuple(names), np.append(group_of, missing), reference)


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
    level = _find(
        asked[axis.column], () if axis.cuts else levels, axis.column, "reference", problems
    )
    if level is None:
        return None
    at = next(j for j, each in enumerate(levels) if each is level)
    if group_of[at] == _OTHER:
        group_of[at] = len(names)
        names.append(name_of(level))
    return names[group_of[at]]


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


def _tally(cube: Cube, parts: list[_Grouping]) -> Tally:
    plan = cube.plan
    outcome = [plan.axis(role) for role in (Role.STRATUM, Role.LABEL, Role.PREDICTION)]
    known = [axis for axis in outcome if axis is not None]
    table = cube.marginal([*(part.axis for part in parts), *known])
    group, names = _groups(table, parts)
    columns = iter(range(len(parts), len(table.axes)))
    stratum, label, prediction = (
        (None, 0) if axis is None else (table.codes[:, next(columns)], len(cube.levels[axis]))
        for axis in outcome
    )
    shape = [len(names) + 1, stratum[1] + 1, label[1] + 1, prediction[1] + 1]
    index = np.zeros(len(table.codes), dtype=np.int64)
    for codes, size in zip(
        (group, *(c for c, _ in (stratum, label, prediction))), shape, strict=True
    ):
        index *= size
        index += (size - 1) if codes is None else np.where(codes < 0, size - 1, codes)
    kept = group != _DROPPED
    counts = {}
    for measure, sums in table.sums.items():
        summed = np.bincount(index[kept], weights=sums[kept], minlength=int(np.prod(shape)))
        dense = summed.reshape(shape)
        counts[measure] = np.concatenate([dense.sum(axis=1, keepdims=True), dense[:, :-1]], axis=1)
    counts.setdefault("n", counts["rows"])
    references = [part.reference for part in parts]
    return Tally(
        feature="*".join(part.axis.column for part in parts),
        groups=names,
        strata=tuple(outcome[0].names(cube.levels[outcome[0]])) if outcome[0] else (),
        counts=counts,
        named_reference=None if None in references else " & ".join(map(str, references)),
    )


def _groups(table: Table, parts: list[_Grouping]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the group of every cell, and the names of the groups."""
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
    present = np.unique(combined[inside])  # only combinations that occur
    every = [" & ".join(names) for names in product(*(part.names for part in parts))]
    position = np.full(len(every) + 1, _OTHER)
    position[present] = np.arange(len(present))
    group = np.where(inside, position[combined], lowest)
    return group, tuple(every[i] for i in present)


def _asked_columns(spec: Spec) -> set[str]:
    return {f.column for f in spec.sensitive} | {c for parts in spec.intersections for c in parts}


def _wanted(spec: Spec, said: list[Sequence[Value]], axis: Axis | None) -> tuple[Value, ...]:
    """Return the positive values: those asked, or 1 and true of labels that are 0 and 1."""
    if isinstance(spec.positive, Above) or axis is None or not said:
        return spec.positive if isinstance(spec.positive, tuple) else ()
    if not spec.positive:
        values = [value for levels in said for value in levels]
        if all(value in (0, 1) and not isinstance(value, str) for value in values):
            return (1,)
        raise SpecError(Problem("positive", _which_is_positive(spec, said)))
    problems: list[Problem] = []
    for value in spec.positive:
        for levels in said:
            try:
                match(value, levels)
                break
            except LookupError as error:
                if str(error):
                    problems.append(Problem("positive", str(error)))
                    break
        else:
            _find(value, said[0], axis.column, "positive", problems)
    if problems:
        raise SpecError(problems)
    apart = len(said) > 1 and not any(_same(a, b) for a in said[0] for b in said[1])
    if apart and len(said[0]) + len(said[1]) > 2:  # of two, every decision is wrong
        message = (
            f"has none of the labels' values: it holds {_some(said[1])}, the label "
            f"{quote(spec.label)} {_some(said[0])}; a score goes to score"
        )
        raise SpecError(Problem("prediction", message))
    return spec.positive


def _which_is_positive(spec: Spec, said: list[Sequence[Value]]) -> str:
    column = spec.label or spec.prediction
    count = len(said[0])
    message = f"say which value of {quote(column)} is positive; it holds {_some(said[0])}"
    if count > 2:  # noqa: PLR2004
        return f"{message}: a binary audit of {count:,} values needs the positive ones"
    return message


def _check_label_only(spec: Spec, said: list[Sequence[Value]]) -> None:
    if spec.score_of is not None and said:
        problems: list[Problem] = []
        _find(spec.score_of, said[0], str(spec.label), "score_of", problems)
        if problems:
            raise SpecError(problems)


def _mask(wanted: Sequence[Value], levels: Sequence[Value]) -> NDArray[np.bool_]:
    return np.array([any(_same(w, level) for w in wanted) for level in levels], dtype=bool)


def _same(one: Value, other: Value) -> bool:
    try:
        match(one, [other])
    except LookupError:
        return False
    return True


def _some(levels: Sequence[Value]) -> str:
    return listing([name_of(level) for level in levels], _MOST_SHOWN)


def _refuse_missing(cube: Cube) -> None:
    found = []
    for axis in cube.plan.axes:
        table = cube.marginal([axis])
        rows = int(table.sums["rows"][table.codes[:, 0] < 0].sum())
        if rows:
            found.append(f"{rows:,} rows miss {quote(axis.column)} ({axis.role})")
    found += [f"{rows:,} rows have a {reason}" for reason, rows in cube.excluded.items()]
    if found:
        raise DataError(f"missing values, and missing='error': {'; '.join(found)}")
