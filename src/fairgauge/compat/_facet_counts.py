"""Blocks, labels and predictions in; a cube out. Everything after that is fairgauge's own line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.compat._column_reading import DataType
from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import plan
from fairgauge.enums import Profile, Role
from fairgauge.question.specification import ask
from fairgauge.values import Value, canonical, match, name_of, sort_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.compat._coded_column import CodedColumn, Codes
    from fairgauge.compat._facet_blocks import BinaryOutcome, Blocks
    from fairgauge.cube.plan import Axis
    from fairgauge.question.specification import Spec

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
    return ask(None, None, **options, task="binary", profile=str(profile), max_groups=10**9)


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
