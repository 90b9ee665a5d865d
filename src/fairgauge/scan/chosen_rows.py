"""The rows of a source that meet conditions: counted by every engine alike, as further axes.

No engine filters: the columns of the conditions are counted beside the others, and the cells of
other values are omitted, so that a value means the same as it does for groups.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import CountTable, Cube, aggregate, settled, values_together
from fairgauge.cube.plan import OUTCOMES, Axis, Plan, read_as
from fairgauge.enums import Role, Uncounted
from fairgauge.errors import (
    DataError,
    EmptyDataError,
    Problem,
    SpecError,
    cells,
    if_absent,
    nearest,
    quote,
)
from fairgauge.identity import Bin, MissingValue, ValueSet
from fairgauge.question.category_words import is_adverse, missing_words
from fairgauge.question.conditions import RowCondition
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.scan.row_access import read_rows
from fairgauge.scan.row_codes import Batch, PositionsInLevels, Streamed
from fairgauge.scan.source import Fetched, Readable, Source
from fairgauge.values import Value, is_one_of, matches, name_of

_MOST_PERIODS = 10_000


def chosen_rows(source: Source, spec: Spec) -> Source:
    """Return a source with the rows that meet the conditions of a specification alone."""
    if not spec.where:
        return source
    return (_ReadableRows if isinstance(source, Readable) else _ChosenRows)(source, spec)


def count_by(source: Source, plan: Plan, column: str, limit: int) -> dict[str, Cube]:
    """Count the rows of every value of a column apart, in one scan."""
    axis = Axis(Role.CONDITION, column)
    cube = source.count(_with_axes(plan, (axis,)), limit)
    levels = cube.levels[axis]
    if len(levels) > _MOST_PERIODS:
        raise DataError(
            f"column {quote(column)} has {len(levels):,} values; name a column of days, weeks, "
            f"months or longer periods, of which there are at most {_MOST_PERIODS:,}"
        )
    apart = cube.tables[0].codes[:, -1] < 0
    unknown = int(cube.tables[0].sums["rows"][apart].sum()) + sum(cube.excluded.values())
    if unknown:
        raise DataError(
            f"{unknown:,} rows have no {quote(column)}, count or weight, and belong to no period; "
            "fill in or remove them first"
        )
    found = {}
    for i, level in enumerate(levels):
        kept = np.arange(len(levels) + 1) == i
        tables = tuple(settled(plan, _chosen(table, [kept], 1)) for table in cube.tables)
        rows = int(tables[0].sums["rows"].sum())
        period = replace(cube, plan=plan, tables=tables, rows=rows, undecided=())  # of none alone
        found[name_of(level)] = _without_absent(period)
    return found


def _with_axes(plan: Plan, axes: tuple[Axis, ...]) -> Plan:
    """Return a plan with more axes, in every table."""
    places = tuple(range(len(plan.axes), len(plan.axes) + len(axes)))
    return replace(
        plan,
        axes=(*plan.axes, *axes),
        tables=tuple((*table, *places) for table in plan.tables),
    )


@dataclass(frozen=True, slots=True)
class _ChosenRows:
    """The rows of a source that meet conditions."""

    source: Source
    spec: Spec
    known: dict[Axis, tuple[Value, ...]] = field(default_factory=dict, compare=False)
    """The values of the columns of the conditions, once they were counted."""

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self.source.columns

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Return the axes of the conditions."""
        return tuple(
            read_as(
                self.spec,
                Axis(Role.CONDITION, each.column, each.cuts, each.closed, moments=each.moments),
            )
            for each in self.spec.where
        )  # fmt: skip

    def count(self, plan: Plan, limit: int) -> Cube:
        cube = self.source.count(_with_axes(plan, self.axes), limit)
        apart = dict(self._uncounted(cube))
        every = [cube, *apart.values()][-1].levels
        kept = self._kept(cube, every)
        tables = tuple(settled(plan, _chosen(table, kept, len(kept))) for table in cube.tables)
        rows = int(tables[0].sums["rows"].sum())
        if not rows:
            numbers = " and ".join(quote(each) for each in (plan.count, plan.weight) if each)
            of = f"row with a number in {numbers}" if apart else "row"
            conditions = " and ".join(each.to_text() for each in self.spec.where)
            raise EmptyDataError(f"no {of} meets the conditions (where): {conditions}")
        undecided, excluded = [[*self._undecided(cube, kept)]], {}
        for reason, part in apart.items():
            kept = self._kept(part, every)
            sums = _chosen(part.tables[0], kept, len(kept)).sums
            lacking = [*self._undecided(part, kept)]
            unknown = 0
            if reason is Uncounted.NO_COUNT:  # rows, as nobody knows how many cases they are
                unknown = sum(rows for _, value, rows, _ in lacking if not value)
                lacking = [each for each in lacking if each[1]]
            excluded[reason] = int(sums[part.plan.cases].sum()) + unknown
            rows += int(sums["rows"].sum()) + unknown
            undecided.append(lacking)
        return _without_absent(
            replace(
                cube,
                plan=plan,
                tables=tables,
                rows=rows,
                excluded={reason: n for reason, n in sorted(excluded.items()) if n},
                undecided=values_together(undecided),
            ),
            self.spec,
        )

    def _kept(self, cube: Cube, every: Mapping[Axis, tuple[Value, ...]]) -> list[NDArray[np.bool_]]:
        """Return for every condition which codes of its axis meet it."""
        return [
            _kept(axis, each, cube.levels[axis], every[axis], self.spec)
            for axis, each in zip(self.axes, self.spec.where, strict=True)
        ]

    def _uncounted(self, cube: Cube) -> Iterator[tuple[Uncounted, Cube]]:
        """Yield by reason the counts, by the conditions alone, of the rows that are in no cell."""
        asked = cube.plan.asked
        unweighted = replace(asked, weight=None)
        for reason, column, asked_of in (
            (Uncounted.NO_WEIGHT, asked.weight, unweighted),
            (Uncounted.NO_COUNT, asked.count, replace(unweighted, count=None)),
        ):
            if reason in cube.excluded:
                known = read_as(self.spec, Axis(Role.STRATUM, str(column), (0.0,)))
                axes = (*self.axes, known)
                plan = Plan(axes, (tuple(range(len(axes))),), asked_of)
                every = self.source.count(plan, sys.maxsize)
                missing = _chosen(every.tables[0], [np.array([False, False, True])], 1)
                yield reason, replace(every, tables=(missing,))

    def _undecided(
        self, cube: Cube, kept: list[NDArray[np.bool_]]
    ) -> Iterator[tuple[str, str, int, int]]:
        """Yield the rows that a condition excludes only because nobody knows what it is asked of.

        Of several such conditions a row is stated under the first.
        """
        table = cube.tables[0]
        codes = table.codes.T[-len(kept) :]
        open_ones = [
            _missing_or_words(each, cube.levels[axis], mask, self.spec)
            for axis, each, mask in zip(self.axes, self.spec.where, kept, strict=True)
        ]
        left = np.ones(len(table.codes), dtype=bool)
        for mask, values, column in zip(kept, open_ones, codes, strict=True):
            left &= mask[column] | np.isin(column, [*values])
        for values, column, each in zip(open_ones, codes, self.spec.where, strict=True):
            for value in dict.fromkeys(values.values()):
                held = left & np.isin(column, [code for code, of in values.items() if of == value])
                rows, cases = (int(table.sums[m][held].sum()) for m in ("rows", cube.plan.cases))
                if rows:
                    yield each.column, value, rows, cases
            left &= ~np.isin(column, [*values])

    @property
    def streams(self) -> bool:
        """Return whether rows can be read in batches."""
        return isinstance(self.source, Streamed) and self.source.streams

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows, which were counted before."""
        assert isinstance(self.source, Streamed)
        axes = self.axes
        tables = tuple((i,) for i in range(len(axes)))
        if not self.known:
            asked = replace(plan.asked, weight=None, count=None)  # of rows without these, too
            counts = self.source.count(Plan(axes, tables, asked), sys.maxsize)
            self.known.update(counts.levels)
        found = self.known
        kept = {
            axis: _kept(axis, each, found[axis], found[axis], self.spec)
            for axis, each in zip(axes, self.spec.where, strict=True)
        }
        places = {axis: PositionsInLevels(axis, found[axis]) for axis in axes if not axis.bins}
        for batch in self.source.batches(_with_axes(plan, axes)):
            codes: dict[Axis, NDArray[np.integer[Any]]] = {
                axis: each.of(*batch.keys[axis]) for axis, each in places.items()
            }
            codes |= {axis: batch.intervals(axis) for axis in axes if axis not in places}
            meet = np.logical_and.reduce([mask[codes[axis]] for axis, mask in kept.items()])
            keys = {
                axis: (values, positions[meet])
                for axis, (values, positions) in batch.keys.items()
                if axis not in kept
            }
            yield Batch(keys, {column: each[meet] for column, each in batch.numbers.items()})


@dataclass(frozen=True, slots=True)
class _ReadableRows(_ChosenRows):
    """The same of a source whose rows can be read."""

    @property
    def at_hand(self) -> bool:
        return isinstance(self.source, Readable) and self.source.at_hand

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        """Return the values of columns, of all rows or of those among the first ``most``."""
        assert isinstance(self.source, Readable)
        conditions = self.spec.where
        named = [each.column for each in conditions]
        values = read_rows(self.source, named, most, self.spec.recode)
        meet = np.logical_and.reduce(
            [
                np.array(
                    [
                        each.keeps_missing(_outcomes(self.spec)) if v is None else each.holds(v)
                        for v in values[each.column]
                    ]
                )
                for each in conditions
            ]
        )
        places = np.flatnonzero(meet).tolist()
        found, texts = self.source.fetch(columns, most)
        return [[column[i] for i in places] for column in found], texts


def _outcomes(spec: Spec) -> tuple[str | None, ...]:
    """Return the columns of outcomes and decisions."""
    return spec.label, spec.prediction, spec.score, *spec.candidate


def _kept(
    axis: Axis,
    condition: RowCondition,
    levels: tuple[Value, ...],
    every: tuple[Value, ...],
    spec: Spec,
) -> NDArray[np.bool_]:
    """Return which codes of an axis meet a condition; the last is that of missing values.

    A value is refused that is in none of ``every`` level of all rows.
    """
    kept = np.zeros(len(levels) + 1, dtype=bool)
    if axis.cuts:
        # of the intervals between all ends, those that lie in one that is asked for
        asked = [each.cuts(axis.closed) for each in condition.ranges]
        for i, part in enumerate(axis.parts(levels)):
            assert isinstance(part, Bin)
            kept[i] = any(low <= part.low and part.high <= high for low, high in asked)
    elif condition.ranges:
        kept[:-1] = [condition.holds(level) for level in levels]
    for value in condition.values:
        if value is None:
            kept[-1] = True
            continue
        found = [i for i, level in enumerate(levels) if matches(value, level)]
        if not (found or any(matches(value, level) for level in every)):
            if condition.negated and _is_harmless(value, condition, every):
                continue
            message = _no_such_value(value, condition, every, spec)
            raise SpecError(Problem(f"where.{axis.column}", message))
        kept[found] = True
    kept = ~kept if condition.negated else kept
    kept[-1] = condition.keeps_missing(_outcomes(spec))
    return kept


def _no_such_value(
    value: Value, condition: RowCondition, levels: Sequence[Value], spec: Spec
) -> str:
    """Return that no row has a value of a condition, and which one is meant if it is recoded."""
    name, column = name_of(value), condition.column
    recoding = spec.recoding(column)
    category = (recoding.categories_of([value])[0] if recoding else None) or name
    lacks = f"column {quote(column)} has no value {quote(name)}"
    if category == UNKNOWN:
        missing = replace(condition, parts=(MissingValue(),)).to_text()
        keeps = "excludes" if condition.negated else "selects"
        return f"{lacks}: it is recoded to a missing value (recode), which {quote(missing)} {keeps}"
    if category != name:
        return f"{lacks}: it is recoded to {quote(category)} (recode); name that in its place"
    known = [name_of(level) for level in levels]
    if whole := _read_as_several(name, condition, known):
        quoted = replace(condition, parts=(ValueSet((whole,)),)).to_text()
        return f'{lacks}. Write a value that contains "or" in double quotes: {shlex.quote(quoted)}'
    meant = nearest(name, known)
    leave = if_absent(value, condition.values, meant)
    return f"{lacks}.{meant} It has {cells(known)}{leave}"


def _read_as_several(name: str, condition: RowCondition, known: Iterable[str]) -> str | None:
    """Return the value that contains "or" and was read as several, of which this name is one."""
    asked = f" or {' or '.join(map(name_of, condition.values))} or "
    whole = (each for each in known if name in each.split(" or ") and f" or {each} or " in asked)
    return next(whole, None)


def _missing_or_words(
    condition: RowCondition, levels: tuple[Value, ...], kept: NDArray[np.bool_], spec: Spec
) -> dict[int, str]:
    """Return the codes of a missing value (an empty text), and of texts that may mean one.

    Those that a condition excludes, although they may not be what it is asked of; values that are
    stated as unknown are missing.
    """
    found = {} if condition.negated or kept[-1] or None in condition.values else {-1: ""}
    of_outcomes = condition.column in (spec.label, spec.prediction)
    words = [] if condition.cuts else missing_words(levels)
    for at, level in enumerate(levels):
        if kept[at] or is_one_of(level, condition.values):
            continue
        if is_one_of(level, spec.unknown):
            found[at] = ""
        elif level in words and not (of_outcomes and is_adverse(name_of(level))):
            found[at] = name_of(level)
    return found


def _is_harmless(value: Value, condition: RowCondition, levels: tuple[Value, ...]) -> bool:
    """Return whether a value that no row has may be excluded: beside one that some rows have.

    Not where it is spelt nearly as another value, which it then seems to mean.
    """
    found = any(matches(each, level) for each in condition.values for level in levels)
    return found and not nearest(name_of(value), map(name_of, levels))


def _chosen(table: CountTable, kept: list[NDArray[np.bool_]], conditions: int) -> CountTable:
    """Return a table with the cells that meet all conditions, without their axes."""
    meet = np.ones(len(table.codes), dtype=bool)
    for mask, codes in zip(kept, table.codes.T[-conditions:], strict=True):
        meet &= mask[codes]  # code -1 reads the last entry
    sums = {measure: each[meet] for measure, each in table.sums.items()}
    return aggregate(table.axes[:-conditions], table.codes[meet, :-conditions], sums)


def _is_favourable(level: Value, column: str, spec: Spec) -> bool:
    """Return whether an outcome is a stated one that no condition on its column excludes."""
    stated = is_one_of(level, spec.positive_of(column))
    return stated and all(each.holds(level) for each in spec.where if each.column == column)


def _without_absent(cube: Cube, spec: Spec | None = None) -> Cube:
    """Return a cube without the levels that no cell has any more.

    The favourable outcomes of a specification stay, which other rows have: no one here does.
    """
    levels: dict[Axis, tuple[Value, ...]] = {}
    position: dict[Axis, NDArray[np.int64]] = {}
    for axis in cube.plan.axes:
        every = cube.levels[axis]
        held = np.ones(len(every), dtype=bool)
        if not axis.bins:
            columns = [t.codes[:, t.axes.index(axis)] for t in cube.tables if axis in t.axes]
            codes = np.unique(np.concatenate(columns))
            held = np.isin(np.arange(len(every)), codes)
            if spec is not None and axis.role in OUTCOMES:
                held |= [_is_favourable(level, axis.column, spec) for level in every]
        levels[axis] = tuple(
            level for level, kept in zip(every, held.tolist(), strict=True) if kept
        )
        position[axis] = np.append(np.cumsum(held) - 1, -1)
    tables = tuple(
        replace(
            table,
            codes=np.stack(
                [position[a][c] for a, c in zip(table.axes, table.codes.T, strict=True)], axis=-1
            )
            if table.axes
            else table.codes,
        )
        for table in cube.tables
    )
    return replace(cube, levels=levels, tables=tables)
