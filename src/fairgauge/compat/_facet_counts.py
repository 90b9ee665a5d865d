"""Blocks, labels and predictions in; a cube out. Everything after that is fairgauge's own line.

A block is a facet's value, or its interval, that is compared with all other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairgauge.compat._coded_column import CodedColumn, Codes, Kind, as_float, as_int
from fairgauge.compat._column_reading import DataType, above, as_type, categories, interval
from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import Axis, plan
from fairgauge.enums import Profile, Role
from fairgauge.question.specification import Spec, ask
from fairgauge.stats.arrays import Mask
from fairgauge.values import Value, canonical, match, matches, name_of, sort_key

REST = -1


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A facet cut into blocks.

    Attributes
    ----------
    name : the facet's column.
    names : how each block is called in results, in their order.
    codes : array of shape (rows,): the block of every row; `REST` for other values, -2 for missing.
    of : whether the column was taken for categories or numbers.
    listed : the name of all rows outside the block, where these are the values that were listed.
    """

    name: str
    names: tuple[str, ...]
    codes: Codes
    of: DataType
    listed: str | None = None

    def others_of(self, block: int) -> str:
        """Return the name of all rows outside a block."""
        return f"not {self.names[block]}" if self.listed is None else self.listed


@dataclass(frozen=True, slots=True, eq=False)
class BinaryOutcome:
    """A label or a prediction, collapsed.

    Attributes
    ----------
    column : the column, as it was read.
    positive : array of shape (levels,): which of its levels are positive.
    of : whether the column was taken for categories or numbers.
    text : the positive values, or the interval, as results write them.
    """

    column: CodedColumn
    positive: Mask
    of: DataType
    text: str

    @classmethod
    def of_states(cls, name: str, states: Codes) -> BinaryOutcome:
        """Return an outcome of 1 for positive rows, 0 for negative ones, -1 for missing ones."""
        column = CodedColumn(name, Kind.INTEGER, states, (0, 1))
        return cls(column, np.array([False, True]), DataType.CATEGORICAL, "1")

    @property
    def states(self) -> Codes:
        """Return 1 for positive rows, 0 for negative ones, -1 for missing ones."""
        return np.array([*self.positive.astype(np.int64), -1])[self.column.codes]


def facet_blocks(
    column: CodedColumn,
    values: Sequence[object] | None,
    profile: Profile = Profile.CLARIFY,
    of: DataType | None = None,
) -> Blocks:
    """Cut a facet into blocks: the listed values together, else one for every value.

    ``of`` is the type of the column; without it, the profile's rules decide.

    Raises
    ------
    ValueError
        A facet of numbers without a threshold, or listed values that cannot be converted.
    """
    found, column, listed = as_type(column, values, profile, of)
    if found is DataType.CONTINUOUS:
        inside, text = _inside(column, listed, profile)
        return Blocks(column.name, (text,), _codes(column, np.where(inside, 0, REST)), found)
    if listed:
        group_of = np.where(_listed(column, listed, profile), 0, REST)
        name = ",".join(map(str, listed))
        return Blocks(column.name, (name,), _codes(column, group_of), found)
    used = column.held
    group_of = np.full(len(column.levels), REST)
    group_of[used] = np.arange(len(used))
    names = [str(column.levels[i]) for i in used.tolist()]
    at = column.levels_before_missing
    if at is not None and profile.rules.types_are_guessed:  # smclarify makes an empty block of it
        group_of = np.where(group_of >= at, group_of + 1, group_of)
        names.insert(at, "nan")
    return Blocks(column.name, tuple(names), _codes(column, group_of), found)


def _inside(column: CodedColumn, listed: list[object] | None, profile: Profile) -> tuple[Mask, str]:
    found = interval(column, listed)
    if profile.rules.types_are_guessed:
        inside = np.zeros(len(column.levels), bool) if found is None else found.holds(column)
        return inside, "" if found is None else str(found)
    assert listed
    text = str(found) if found is not None and found.low == listed[0] else f"({listed[0]}, inf)"
    return above(column, as_float(listed[0])), text


def _listed(column: CodedColumn, listed: list[object], profile: Profile) -> Mask:
    if profile.rules.types_are_guessed:
        return categories(column, listed)
    meant = [canonical(value) for value in listed]
    levels = [canonical(level) for level in column.levels]
    return np.array([any(matches(m, level) for m in meant) for level in levels], dtype=bool)


def _codes(column: CodedColumn, group_of: Codes) -> Codes:
    return np.append(group_of, -2)[column.codes]


def favoured(blocks: Blocks) -> Blocks:
    """Return the block of all other rows: the listed values are the favoured ones."""
    codes = np.array([REST, 0, -2])[np.select([blocks.codes == 0, blocks.codes == REST], [0, 1], 2)]
    listed = blocks.names[0]
    return Blocks(blocks.name, (f"not {listed}",), codes, blocks.of, listed)


def outcome(
    column: CodedColumn,
    values: Sequence[object],
    profile: Profile = Profile.CLARIFY,
    of: DataType | None = None,
) -> tuple[BinaryOutcome, list[object]]:
    """Collapse a label; return it, and the listed values as they were understood.

    ``of`` is the type of the column; without it, the profile's rules decide.

    Raises
    ------
    ValueError
        Numbers without a threshold, or listed values that cannot be converted.
    """
    found, column, listed = as_type(column, values, profile, of)
    assert listed is not None
    if found is DataType.CONTINUOUS:
        mask, text = _inside(column, listed, profile)
    else:
        mask = _listed(column, listed, profile)
        text = ",".join(map(str, listed))
    return BinaryOutcome(column, mask, found, text), listed


def predicted(
    column: CodedColumn,
    label: BinaryOutcome,
    listed: list[object],
    profile: Profile = Profile.CLARIFY,
) -> BinaryOutcome:
    """Collapse a prediction as its label was."""
    if not profile.rules.types_are_guessed:
        return _predicted_as_meant(column, label, listed)
    found, column, listed = _as_clarify(column, listed)
    if found is not label.of:
        message = "Predicted Label Column series datatype is not the same as Label Column series"
        raise ValueError(message)
    if found is DataType.CONTINUOUS:
        column = _as_label(column, label.column)
        inside = interval(label.column, listed, column)
        mask = np.zeros(len(column.levels), bool) if inside is None else inside.holds(column)
    else:
        mask = categories(column, listed)
    made = BinaryOutcome(column, mask, found, label.text)
    if not (made.states == 1).any():
        message = (
            "No Label values are present in the predicted Label Column,"
            "Positive Predicted Index Series contains all False values"
        )
        raise ValueError(message)
    return made


def _as_clarify(
    column: CodedColumn, listed: list[object]
) -> tuple[DataType, CodedColumn, list[object]]:
    found, column, converted = as_type(column, listed)
    assert converted is not None
    return found, column, converted


def _as_label(column: CodedColumn, label: CodedColumn) -> CodedColumn:
    """Cut predictions to whole numbers where the labels are whole, as smclarify does."""
    if not all(type(level) is int for level in label.used):
        return column
    if (column.codes < 0).any():
        raise ValueError("Cannot convert non-finite values (NA or inf) to integer")
    return column.relabel([as_int(level) for level in column.levels], label.kind)


def _predicted_as_meant(
    column: CodedColumn, label: BinaryOutcome, listed: list[object]
) -> BinaryOutcome:
    if label.of is DataType.CONTINUOUS:
        return BinaryOutcome(column, above(column, as_float(listed[0])), label.of, label.text)
    return BinaryOutcome(column, _listed(column, listed, Profile.DOCUMENTED), label.of, label.text)


OTHERS = "(others)"
_MOST_CLASSES = 200
_MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class FacetQuestion:
    """What is counted: facets in blocks, a label, and what may go with it."""

    facets: tuple[Blocks, ...]
    label: BinaryOutcome | None = None
    prediction: BinaryOutcome | None = None
    strata: CodedColumn | None = None

    @property
    def axes(self) -> tuple[str, ...]:
        """Return a name of its own for every facet, also where a column is asked for twice."""
        names: list[str] = []
        for facet in self.facets:
            again = sum(each == facet.name or each.startswith(f"{facet.name} #") for each in names)
            names.append(f"{facet.name} #{again + 1}" if again else facet.name)
        return tuple(names)

    def block_names(self, facet: int) -> list[str]:
        """Return a name of its own for every block: 1 and "1" are two blocks."""
        names: list[str] = []
        for name in self.facets[facet].names:
            shown = name or "(nothing)"
            while shown in (*names, OTHERS):
                shown += " "
            names.append(shown)
        return names


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """An axis of the cube: the codes of the rows, and the value of each code."""

    codes: Codes
    levels: Sequence[Value]


def count_question(asked: FacetQuestion, profile: Profile) -> Cube:
    """Count every row once.

    Facets, labels, predictions and strata are combined to cells. Blocks and classes that no row
    has are levels of the cube all the same, so that they can be asked of.
    """
    outcomes, positive = _outcomes(asked)
    spec = question_spec(asked, profile, positive)
    counting = plan(spec)
    coded = {axis: _ordered(_coded(axis, asked, outcomes)) for axis in counting.axes}
    rows = max((len(each.codes) for each in coded.values()), default=0)
    tables = []
    for positions in counting.tables:
        axes = [counting.axes[i] for i in positions]
        tables.append(_table(axes, [coded[axis] for axis in axes], rows))
    levels = {axis: tuple(each.levels) for axis, each in coded.items()}
    return Cube(counting, levels, tuple(tables), rows)


def _ordered(coded: _Coded) -> _Coded:
    """Put the levels in the order of all cubes."""
    order = sorted(range(len(coded.levels)), key=lambda i: sort_key(coded.levels[i]))
    if order == list(range(len(order))):
        return coded
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = -1
    return _Coded(place[coded.codes], [coded.levels[i] for i in order])


def question_spec(asked: FacetQuestion, profile: Profile, positive: tuple[Value, ...]) -> Spec:
    """Return a question as fairgauge's own specification."""
    options: dict[str, object] = {
        "sensitive": [_sensitive(asked, i) for i in range(len(asked.axes))]
    }
    if asked.label is not None:
        options |= {"label": asked.label.column.name, "positive": list(positive)}
    if asked.prediction is not None:
        options |= {"prediction": asked.prediction.column.name, "positive": list(positive)}
    if asked.strata is not None:
        options["strata"] = asked.strata.name
    asked_so = ask(None, None, **options, task="binary", profile=str(profile))
    return replace(asked_so, max_groups=10**9)  # the services have no limit


def _sensitive(asked: FacetQuestion, facet: int) -> dict[str, object]:
    """Ask for every block as a group, or for the one block as a value set."""
    name, blocks = asked.axes[facet], asked.block_names(facet)
    return {"column": name, "values": [blocks]} if len(blocks) == 1 else {"column": name}


def _coded(axis: Axis, asked: FacetQuestion, outcomes: dict[Role, _Coded]) -> _Coded:
    if axis.role in outcomes:
        return outcomes[axis.role]
    if axis.role is Role.STRATUM:
        assert asked.strata is not None
        return _Coded(asked.strata.codes, _distinct(asked.strata.levels))
    facet = asked.axes.index(axis.column)
    names = asked.block_names(facet)
    codes = asked.facets[facet].codes
    if len(names) > 1:
        return _Coded(np.where(codes < 0, -1, codes), names)
    return _Coded(np.select([codes == -2, codes < 0], [-1, 1], codes), [*names, OTHERS])


def _outcomes(asked: FacetQuestion) -> tuple[dict[Role, _Coded], tuple[Value, ...]]:
    """Return label and prediction as codes of shared values, and which of these are positive."""
    every = [
        (role, each)
        for role, each in ((Role.LABEL, asked.label), (Role.PREDICTION, asked.prediction))
        if each is not None
    ]
    shared = _shared_classes([each for _, each in every])
    if shared is None:
        return {role: _Coded(each.states, (0, 1)) for role, each in every}, (1,)
    levels, positive = shared
    position = {_identity(level): i for i, level in enumerate(levels)}
    coded = {}
    for role, each in every:
        values = [position[_identity(canonical(level))] for level in each.column.levels]
        coded[role] = _Coded(np.array([*values, -1])[each.column.codes], levels)
    return coded, positive


def _shared_classes(
    every: Sequence[BinaryOutcome],
) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
    """Return the classes of label and prediction and the positive ones; None if two will do."""
    if any(e.of is DataType.CONTINUOUS or len(e.column.levels) > _MOST_CLASSES for e in every):
        return None
    found: dict[object, tuple[Value, bool]] = {}
    for each in every:
        for raw, positive in zip(each.column.levels, each.positive.tolist(), strict=True):
            level = canonical(raw)
            known = found.setdefault(_identity(level), (level, positive))
            if known[1] != positive:
                return None
    levels = tuple(level for level, _ in found.values())
    chosen = tuple(level for level, positive in found.values() if positive)
    # an audit refuses positive values that are all there are; a service's job may name them
    if len(chosen) in (0, len(levels)) or len(set(map(name_of, levels))) < len(levels):
        return None
    return (levels, chosen) if all(_means_itself(c, levels) for c in chosen) else None


def _means_itself(value: Value, levels: Sequence[Value]) -> bool:
    try:
        return match(value, levels) is value
    except LookupError:
        return False


def _identity(level: Value) -> tuple[bool, Value]:
    return (isinstance(level, bool), level)


def _distinct(levels: Sequence[object]) -> list[str]:
    """Name strata; two values of one name stay two strata."""
    names: dict[str, None] = {}
    for level in levels:
        name = name_of(canonical(level)) if canonical(level) is not None else str(level)
        while name in names:
            name += " "
        names[name] = None
    return list(names)


def _table(axes: Sequence[Axis], coded: Sequence[_Coded], rows: int) -> CountTable:
    """Combine the codes of every row to one number, and count the rows of each."""
    sizes = [len(each.levels) + 1 for each in coded]
    combined = np.zeros(rows, dtype=np.int64)
    for each, size in zip(coded, sizes, strict=True):
        combined = combined * size + (each.codes + 1)
    held, counts = _occurring(combined, int(np.prod(sizes, dtype=float)))
    columns = []
    for size in reversed(sizes):
        columns.append(held % size - 1)
        held = held // size
    codes = np.stack(columns[::-1], axis=-1)
    return CountTable(tuple(axes), codes, {"rows": counts.astype(np.float64)})


def _occurring(combined: Codes, cells: int) -> tuple[Codes, Codes]:
    """Return the numbers that occur, in order, and how often each does."""
    if cells <= _MOST_CELLS:  # counting is faster than sorting
        counts = np.bincount(combined, minlength=cells)
        held = np.flatnonzero(counts)
        return held, counts[held]
    return np.unique(combined, return_counts=True)
