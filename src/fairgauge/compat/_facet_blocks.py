"""Blocks: a facet's values, or its interval, each compared with all other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.compat._coded_column import as_float, as_int
from fairgauge.compat._column_reading import DataType, above, as_type, categories, interval
from fairgauge.enums import Profile
from fairgauge.values import canonical, matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.compat._coded_column import CodedColumn, Codes

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
    positive: NDArray[np.bool_]
    of: DataType
    text: str

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


def _inside(
    column: CodedColumn, listed: list[object] | None, profile: Profile
) -> tuple[NDArray[np.bool_], str]:
    found = interval(column, listed)
    if profile.rules.types_are_guessed:
        inside = np.zeros(len(column.levels), bool) if found is None else found.holds(column)
        return inside, "" if found is None else str(found)
    assert listed
    text = str(found) if found is not None and found.low == listed[0] else f"({listed[0]}, inf)"
    return above(column, as_float(listed[0])), text


def _listed(column: CodedColumn, listed: list[object], profile: Profile) -> NDArray[np.bool_]:
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
