"""Blocks, labels and predictions in, counts out; everything after that is fairgauge's own.

A block is a facet's value, or its interval, that is compared with all other rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge import Cube
from fairgauge.plugins import canonical, count_codes, matches, name_of
from fairgauge_cloud._coded_column import CodedColumn, Codes, Kind, Mask, as_int
from fairgauge_cloud._column_reading import DataType, as_type, categories, interval

CLARIFY = "clarify"
"""The profile of the service's numbers."""
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
    """

    name: str
    names: tuple[str, ...]
    codes: Codes
    of: DataType


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


def facet_blocks(column: CodedColumn, values: Sequence[object] | None) -> Blocks:
    """Cut a facet into blocks: the listed values together, else one for every value."""
    found, column, listed = as_type(column, values)
    if found is DataType.CONTINUOUS or listed:
        inside, text = _listed_or_above(column, listed, found)
        codes = np.append(np.where(inside, 0, REST), -2)[column.codes]
        return Blocks(column.name, (text,), codes, found)
    used = column.held
    group_of = np.full(len(column.levels), REST)
    group_of[used] = np.arange(len(used))
    names = [str(column.levels[i]) for i in used.tolist()]
    at = column.levels_before_missing
    if at is not None:  # smclarify makes an empty block of it
        group_of = np.where(group_of >= at, group_of + 1, group_of)
        names.insert(at, "nan")
    return Blocks(column.name, tuple(names), np.append(group_of, -2)[column.codes], found)


def _listed_or_above(
    column: CodedColumn, listed: list[object] | None, of: DataType
) -> tuple[Mask, str]:
    """Return which levels are listed, or above the threshold; and what results call these."""
    if of is DataType.CATEGORICAL:
        assert listed is not None
        return categories(column, listed), ",".join(map(str, listed))
    found = interval(column, listed)
    if found is None:
        return np.zeros(len(column.levels), bool), ""
    return found.holds(column), str(found)


def outcome(column: CodedColumn, values: Sequence[object]) -> tuple[BinaryOutcome, list[object]]:
    """Collapse a label; return it, and the listed values as they were understood."""
    found, column, listed = as_type(column, values)
    assert listed is not None
    mask, text = _listed_or_above(column, listed, found)
    return BinaryOutcome(column, mask, found, text), listed


def predicted(column: CodedColumn, label: BinaryOutcome, listed: list[object]) -> BinaryOutcome:
    """Collapse a prediction as its label was."""
    found, column, values = as_type(column, listed)
    assert values is not None
    if found is not label.of:
        message = "Predicted Label Column series datatype is not the same as Label Column series"
        raise ValueError(message)
    if found is DataType.CONTINUOUS:
        column = _as_label(column, label.column)
        inside = interval(label.column, values, column)
        mask = np.zeros(len(column.levels), bool) if inside is None else inside.holds(column)
    else:
        mask = categories(column, values)
    made = BinaryOutcome(column, mask, found, label.text)
    if not (made.states == 1).any():
        message = (
            "No Label values are present in the predicted Label Column,"
            "Positive Predicted Index Series contains all False values"
        )
        raise ValueError(message)
    return made


def _as_label(column: CodedColumn, label: CodedColumn) -> CodedColumn:
    """Cut predictions to whole numbers where the labels are whole, as smclarify does."""
    if not all(type(level) is int for level in label.used):
        return column
    if (column.codes < 0).any():
        raise ValueError("Cannot convert non-finite values (NA or inf) to integer")
    return column.relabel([as_int(level) for level in column.levels], label.kind)


OTHERS = "(others)"
_MOST_CLASSES = 200


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
        return _distinct([name or "(nothing)" for name in self.facets[facet].names], [OTHERS])


_Coded = tuple[Codes, Sequence[object]]


def count_question(asked: FacetQuestion, profile: str = CLARIFY) -> Cube:
    """Count every row once; blocks that no row has can be asked about all the same."""
    columns: dict[str, _Coded] = {}
    sensitive: list[dict[str, object]] = []
    for i, (axis, facet) in enumerate(zip(asked.axes, asked.facets, strict=True)):
        names, codes = asked.block_names(i), facet.codes
        if len(names) == 1:
            columns[axis] = (np.select([codes == -2, codes < 0], [-1, 1], codes), [*names, OTHERS])
            sensitive.append({"column": axis, "values": [names]})
        else:
            columns[axis] = (np.where(codes < 0, -1, codes), names)
            sensitive.append({"column": axis})
    question: dict[str, object] = {"sensitive": sensitive, "profile": profile}
    roles = {"label": asked.label, "prediction": asked.prediction}
    outcomes = {role: each for role, each in roles.items() if each is not None}
    shared = _shared_classes([*outcomes.values()])
    for role, each in outcomes.items():
        question[role] = name = _distinct([each.column.name], columns)[0]
        columns[name] = (each.states, (0, 1))
        question["positive"] = [1]
        if shared is not None:
            levels, question["positive"] = shared
            known = [_identity(level) for level in levels]
            place = [known.index(_identity(canonical(level))) for level in each.column.levels]
            columns[name] = (np.array([*place, -1])[each.column.codes], levels)
    if asked.strata is not None:
        question["strata"] = name = _distinct([asked.strata.name], columns)[0]
        strata = [name_of(canonical(level)) for level in asked.strata.levels]
        columns[name] = (asked.strata.codes, _distinct(strata))
    return count_codes(columns, **question)  # type: ignore[arg-type]


def _shared_classes(every: Sequence[BinaryOutcome]) -> tuple[list[object], list[object]] | None:
    """Return the classes of label and prediction and the positive ones; None if two will do."""
    if any(e.of is DataType.CONTINUOUS or len(e.column.levels) > _MOST_CLASSES for e in every):
        return None
    found: dict[object, tuple[object, bool]] = {}
    for each in every:
        for raw, positive in zip(each.column.levels, each.positive.tolist(), strict=True):
            level = canonical(raw)
            known = found.setdefault(_identity(level), (level, positive))
            if known[1] != positive:
                return None
    levels = [level for level, _ in found.values()]
    chosen = [level for level, positive in found.values() if positive]
    # an audit refuses positive values that are all there are; a service's job may name them
    if len(chosen) in (0, len(levels)):
        return None
    means_one = all(sum(matches(a, b) for b in levels) == 1 for a in levels)  # type: ignore[arg-type]
    return (levels, chosen) if means_one else None


def _identity(level: object) -> tuple[bool, object]:
    return (isinstance(level, bool), level)


def _distinct(names: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names of which no two are equal: two values of one name stay two."""
    made: list[str] = []
    for name in names:
        while name in (*made, *taken):
            name += " "
        made.append(name)
    return made
