"""Rows that are counted otherwise than they are: by conditions, successes, and probabilities.

No engine filters: the columns of conditions are counted beside the others, as further axes, and
the cells of other values are omitted, so that a value means the same as it does for groups.

Of probabilities of groups, columns are made: the cell numbers where those of a row are on a grid of
1/20, with a place of its own for 1. What is summed for a group is its probability times 2 to the
30th, rounded: sums of whole numbers do not depend on the order of rows. The mean of a cell is what
is estimated with, so that the grid costs information and makes no bias.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import (
    CountTable,
    Cube,
    Observed,
    join_observed,
    observe_recoded,
    round_sums,
    stack_tables,
)
from fairgauge.cube.plan import (
    LARGEST,
    OLDEST,
    OUTCOMES,
    Axis,
    Moment,
    Plan,
    centre_moments,
    outlying_codes,
    read_as,
)
from fairgauge.enums import Closed, CountedAs, Observation, Role, Uncounted
from fairgauge.errors import (
    DataError,
    EmptyDataError,
    Problem,
    SpecError,
    cells,
    listing,
    needing,
    quote,
    refuse,
    suggest,
)
from fairgauge.identity import Bin
from fairgauge.question import category_words as words
from fairgauge.question.conditions import RowCondition
from fairgauge.question.features import Probabilities
from fairgauge.question.specification import Spec
from fairgauge.scan._cell_sums import join_parts, scan_batches
from fairgauge.scan.identifiers import without_spelling
from fairgauge.scan.row_codes import (
    Batch,
    PositionsInLevels,
    Streamed,
    has_arrow,
    numbers_of,
    read_rows,
)
from fairgauge.scan.source import Fetched, Readable, RowsOfSource, Source, check_counts
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.patterns import may_be_percentages
from fairgauge.values import Value, canonical, is_one_of, matches, name_of

_Values: TypeAlias = tuple[Value, ...]
_Levels: TypeAlias = Mapping[Axis, _Values]
_Masks: TypeAlias = list[NDArray[np.bool_]]
_LeftOut: TypeAlias = Iterator[Observed]


def chosen_rows(source: Source, spec: Spec) -> Source:
    """Return a source with the rows that meet the conditions of a specification alone.

    Where their successes are counted, it is of the cases that they stand for.
    """
    source = SuccessCounts(source, spec) if spec.successes else source
    if not spec.where:
        return source
    return (_ReadableRows if isinstance(source, Readable) else _ChosenRows)(source, spec)


def _fold_spelling(value: Value) -> str:
    # what stands between letters differs in spelling, too; an A- may be another grade than an A
    name = without_spelling(value)
    return name if re.search(r"\d", name) else re.sub(r"(?<=\w)[\s._-]+(?=\w)|\.$", "", name)


def _append_axes(plan: Plan, axes: tuple[Axis, ...]) -> Plan:
    places = tuple(range(len(plan.axes), len(plan.axes) + len(axes)))
    return replace(
        plan, axes=(*plan.axes, *axes), tables=tuple((*table, *places) for table in plan.tables)
    )


@dataclass(frozen=True, slots=True)
class _ChosenRows(RowsOfSource):
    spec: Spec
    known: dict[Axis, tuple[Value, ...]] = field(default_factory=dict, compare=False)
    """The values of the columns of the conditions, once they were counted."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        axes = (
            Axis(Role.CONDITION, each.column, each.cuts, each.closed, moments=each.moments)
            for each in self.spec.where
        )
        return tuple(read_as(self.spec, axis) for axis in axes)

    def count(self, plan: Plan, limit: int) -> Cube:
        cube = self.source.count(_append_axes(plan, self.axes), limit)
        apart = dict(self._uncounted_cubes(cube))
        every = [cube, *apart.values()][-1].levels
        kept = self._masks_kept(cube.levels, every)
        tables = tuple(round_sums(plan, _select_cells(table, kept)) for table in cube.tables)
        rows = int(tables[0].sums["rows"].sum())
        if not rows:
            numbers = " and ".join(quote(each) for each in (plan.count, plan.weight) if each)
            of = f"row with a number in {numbers}" if apart else "row"
            conditions = " and ".join(each.to_text() for each in self.spec.where)
            raise EmptyDataError(f"no {of} meets the conditions (where): {conditions}")
        excluded = {}
        observed = [*cube.observed, *self._left_out(cube, kept)]
        raw = ((axis, names, _select_cells(table, kept)) for axis, names, table in cube.raw)
        observed += observe_recoded(raw, plan.cases)
        for reason, part in apart.items():
            kept = self._masks_kept(part.levels, every)
            sums = _select_cells(part.tables[0], kept).sums
            lacking, unknown = [*self._undecided_rows(part, kept)], 0
            if reason is Uncounted.NO_COUNT:  # rows, as nobody knows how many cases they are
                lacking, unknown = [], sum(each.rows for each in lacking)
            excluded[reason] = int(sums[part.plan.cases].sum()) + unknown
            rows += int(sums["rows"].sum()) + unknown
            observed += lacking
        excluded = {reason: n for reason, n in sorted(excluded.items()) if n}
        observed.append(Observed(Observation.LEFT_OUT, rows=cube.rows - rows))
        found = replace(
            cube, plan=plan, tables=tables, rows=rows, excluded=excluded,
            observed=join_observed([observed]), raw=(),
        )  # fmt: skip
        return _drop_absent_levels(found, self.spec)

    def _masks_kept(self, levels: _Levels, every: _Levels) -> _Masks:
        return [
            _levels_that_meet(axis, each, levels[axis], every[axis], self.spec)
            for axis, each in zip(self.axes, self.spec.where, strict=True)
        ]

    def _uncounted_cubes(self, cube: Cube) -> Iterator[tuple[Uncounted, Cube]]:
        # by reason the counts, by the conditions alone, of the rows that are in no cell
        asked = cube.plan.asked
        unweighted = replace(asked, weight=None)
        for reason, column, asked_of in (
            (Uncounted.NO_WEIGHT, asked.weight, unweighted),
            (Uncounted.NO_COUNT, asked.count, replace(unweighted, count=None)),
        ):
            if reason in cube.excluded:
                weights = cube.plan.replicates if reason is Uncounted.NO_WEIGHT else ()
                columns = (Axis(Role.STRATUM, c, (0.0,)) for c in (str(column), *weights))
                axes = (*self.axes, *(read_as(self.spec, axis) for axis in columns))
                plan = Plan(axes, (tuple(range(len(axes))),), asked_of)
                every = self.source.count(plan, sys.maxsize)
                table = every.tables[0]
                lacking = table.where((table.codes[:, len(self.axes) :] < 0).any(axis=1))
                yield reason, replace(every, tables=(lacking.over(self.axes),))

    def _undecided_rows(self, cube: Cube, kept: _Masks) -> _LeftOut:
        # of several such conditions a row is stated under the first
        table = cube.tables[0]
        codes = table.codes.T[-len(kept) :]
        missing = [
            _missing_codes(each, cube.levels[axis], mask, self.spec)
            for axis, each, mask in zip(self.axes, self.spec.where, kept, strict=True)
        ]
        left = np.ones(len(table.codes), dtype=bool)
        for mask, values, column in zip(kept, missing, codes, strict=True):
            left &= mask[column] | np.isin(column, values)
        for values, column, each in zip(missing, codes, self.spec.where, strict=True):
            held = left & np.isin(column, values)
            rows, cases = (int(table.sums[m][held].sum()) for m in ("rows", cube.plan.cases))
            if rows:
                yield Observed(Observation.UNDECIDED, each.column, None, rows, cases)
            left &= ~held

    def _left_out(self, cube: Cube, kept: _Masks) -> _LeftOut:
        undecided, measures = [*self._undecided_rows(cube, kept)], ("rows", cube.plan.cases)
        yield from undecided
        yield from self._alike_values(cube, kept)
        yield from self._doubtful_values(cube, kept)
        tables = [table.where(~_cells_that_meet(table, kept)) for table in cube.tables]
        rows, cases = (int(tables[0].sums[m].sum()) for m in measures)
        rows -= sum(each.rows for each in undecided)
        if rows:
            cases -= sum(each.cases for each in undecided)
            yield Observed(Observation.NOT_MET, rows=rows, cases=cases)
        held = [table.where(_cells_that_meet(table, kept)) for table in cube.tables]
        yield from self._observed_values(cube, tables, Observation.LEFT_OUT, cube.plan.axes)
        for those, became in ((held, CountedAs.COUNTED), (tables, CountedAs.EXCLUDED)):
            yield from self._observed_values(cube, those, Observation.CONDITION, self.axes, became)

    def _observed_values(
        self, cube: Cube, tables: Sequence[CountTable], code: Observation, axes: Iterable[Axis],
        became: CountedAs | None = None,
    ) -> _LeftOut:  # fmt: skip
        # values that are as many as identifiers are, and may be some, are counted together
        for axis in (each for each in axes if each.role in _LISTED):
            levels = cube.levels[axis]
            table = next(t for t in tables if axis in t.axes).over([axis])
            names = axis.names(levels) if len(levels) <= self.spec.max_groups else None
            for i, at in enumerate(table.codes[:, 0].tolist()):
                value = None if at < 0 else names[at] if names else len(levels)
                rows, cases = (int(table.sums[m][i]) for m in ("rows", cube.plan.cases))
                yield Observed(code, axis.column, value, rows, cases, axis.role, became)

    def _alike_values(self, cube: Cube, kept: _Masks) -> _LeftOut:
        # not of one that a recoding states, such as one that is recoded to itself
        table = cube.tables[0]
        codes = table.codes.T[-len(kept) :]
        meets = [mask[column] for mask, column in zip(kept, codes, strict=True)]
        for i, (axis, asked) in enumerate(zip(self.axes, self.spec.where, strict=True)):
            recoding = self.spec.recoding(axis.column)
            stated = recoding.names if recoding else ()
            named = {_fold_spelling(value) for value in asked.values if value is not None}
            for code, level in enumerate(() if axis.bins else cube.levels[axis]):
                alike = _fold_spelling(level) in named and name_of(level) not in stated
                if not alike or is_one_of(level, asked.values):
                    continue
                held = np.logical_and.reduce([*meets[:i], *meets[i + 1 :], codes[i] == code])
                rows, cases = (int(table.sums[m][held].sum()) for m in ("rows", cube.plan.cases))
                same = RowCondition(axis.column, (level,))
                if rows:
                    yield Observed(Observation.ALIKE, value=same.to_text(), rows=rows, cases=cases)

    def _doubtful_values(self, cube: Cube, kept: _Masks) -> _LeftOut:
        # of columns that no check reads: kept, what means a missing value or a total, and codes of
        # missing ones, kept among categories or excluded among numbers; what may have been recoded
        for i, (axis, asked) in enumerate(zip(self.axes, self.spec.where, strict=True)):
            by = cube.plan.axis(Role.CODES, axis.column) if axis.bins else axis
            if by is None or axis.column in _checked_columns(self.spec):
                continue
            masks = [*kept]
            if axis.bins:
                alone, masks[i] = cube.marginal([by]).known([by]), ~kept[i]
                every = np.bincount(alone.codes[:, 0], alone.sums["rows"], by.bins)
                coded = outlying_codes(every.tolist(), by.cuts)
                if words.is_column_of("age", axis.column) and {0.0, 8.0} <= {*by.cuts}:
                    zero, young = map(by.cuts.index, (0.0, 8.0))
                    if not every[zero + 1 : young + 1].any():  # next to newborns there are others
                        coded[0.0] = every[zero]
                codes = (code for code in coded if not is_one_of(code, asked.cuts))
                found: dict[int, Value] = {by.cuts.index(code): canonical(code) for code in codes}
                if words.is_column_of("age", axis.column) and axis.cuts[-1] < OLDEST:
                    beyond = range(by.cuts.index(OLDEST) + 1, by.bins)  # nobody is so old
                    found = {**dict.fromkeys(beyond, f">{OLDEST:g}"), **found}
            else:
                masks[i] = np.ones_like(kept[i])
                found = _doubtful_levels(axis, cube.levels[axis], kept[i], asked)
            table = next(each for each in cube.tables if by in each.axes)
            meets, own = _cells_that_meet(table, masks), table.codes_of([by])[:, 0]
            for code, level in found.items():
                held = meets & (own == code)
                rows, cases = (int(table.sums[m][held].sum()) for m in ("rows", cube.plan.cases))
                if rows:
                    value = name_of(level)
                    yield Observed(Observation.DOUBTFUL, axis.column, value, rows, cases)

    @property
    def streams(self) -> bool:
        return isinstance(self.source, Streamed) and self.source.streams

    def batches(self, plan: Plan) -> Iterator[Batch]:
        assert isinstance(self.source, Streamed)
        axes = self.axes
        tables = tuple((i,) for i in range(len(axes)))
        if not self.known:
            asked = replace(plan.asked, weight=None, count=None)  # of rows without these, too
            counts = self.source.count(Plan(axes, tables, asked), sys.maxsize)
            self.known.update(counts.levels)
        kept = dict(zip(axes, self._masks_kept(self.known, self.known), strict=True))
        places = {axis: PositionsInLevels(axis, self.known[axis]) for axis in axes if not axis.bins}
        for batch in self.source.batches(_append_axes(plan, axes)):
            codes = {axis: batch.intervals(axis) for axis in axes if axis not in places}
            codes |= {axis: each.of(*batch.keys[axis]) for axis, each in places.items()}
            meet = np.logical_and.reduce([mask[codes[axis]] for axis, mask in kept.items()])
            keys = {
                axis: (values, positions[meet])
                for axis, (values, positions) in batch.keys.items()
                if axis not in kept
            }
            yield Batch(keys, {column: each[meet] for column, each in batch.numbers.items()})


@dataclass(frozen=True, slots=True)
class _ReadableRows(_ChosenRows):
    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        assert isinstance(self.source, Readable)
        named = [each.column for each in self.spec.where]
        values = read_rows(self.source, named, most, self.spec.recode)
        outcomes = _outcome_columns(self.spec)

        def meets(condition: RowCondition, value: Value) -> bool:
            return condition.keeps_missing(outcomes) if value is None else condition.holds(value)

        rows = zip(*map(values.__getitem__, named), strict=True)
        meet = [all(map(meets, self.spec.where, row)) for row in rows]
        found, texts = self.source.fetch(columns, most)
        return [[*compress(column, meet)] for column in found], texts


_LISTED = (*OUTCOMES, Role.CANDIDATE, Role.FEATURE, Role.STRATUM, Role.CONDITION)


def _outcome_columns(spec: Spec) -> tuple[str | None, ...]:
    return spec.label, spec.prediction, spec.score, *spec.candidate


def _levels_that_meet(
    axis: Axis, asked: RowCondition, levels: _Values, every: _Values, spec: Spec
) -> NDArray[np.bool_]:
    # a value is refused that is in none of ``every`` level of all rows
    kept = np.zeros(len(levels) + 1, dtype=bool)
    if axis.cuts:
        # of the intervals between all ends, those that lie in one that is asked for
        ends = [each.cuts(axis.closed) for each in asked.ranges]
        for i, part in enumerate(axis.parts(levels)):
            assert isinstance(part, Bin)
            kept[i] = any(low <= part.low and part.high <= high for low, high in ends)
    elif asked.ranges:
        kept[:-1] = [asked.holds(level) for level in levels]
    for value in asked.values:
        if value is None:
            kept[-1] = True
            continue
        found = [i for i, level in enumerate(levels) if matches(value, level)]
        if not (found or any(matches(value, level) for level in every)):
            # one that no row has may be excluded beside another, unless it is nearly a value's name
            others = any(matches(each, level) for each in asked.values for level in every)
            if asked.negated and others and not suggest(name_of(value), map(name_of, every)):
                continue
            # that no row has a value of a condition, and which ones there are
            name, column = name_of(value), asked.column
            recoding = spec.recoding(column)
            category = (recoding.categories_of([value])[0] if recoding else None) or name
            known = [name_of(level) for level in every]
            meant = f" It is recoded to {quote(category)} (recode)." if category != name else ""
            meant = meant or suggest(name, known)
            message = (
                f"column {quote(column)} has no value {quote(name)}.{meant} It has {cells(known)}"
            )
            raise SpecError(Problem(f"where.{axis.column}", message))
        kept[found] = True
    kept = ~kept if asked.negated else kept
    kept[-1] = asked.keeps_missing(_outcome_columns(spec))
    return kept


def _missing_codes(
    condition: RowCondition, levels: tuple[Value, ...], kept: NDArray[np.bool_], spec: Spec
) -> list[int]:
    none = condition.negated or kept[-1] or None in condition.values
    # unknown values are those of sensitive features: 4 may be a sex not stated, and an outcome
    columns = {column for each in spec.recorded.values() for column in each.columns}
    unknown = [*spec.unknown] if condition.column in columns else []
    if condition.column not in _checked_columns(spec):
        unknown = [v for v in _missing_words(condition.column, levels)
                   if not is_one_of(v, condition.values)]  # fmt: skip
    stated = (i for i, level in enumerate(levels) if is_one_of(level, unknown))
    return [*([] if none else [-1]), *(i for i in stated if not kept[i])]


def _checked_columns(spec: Spec) -> set[str]:
    # what a value of a group or an outcome is, checks of these state
    groups = {column for each in spec.recorded.values() for column in each.columns}
    return groups | {column for column in _outcome_columns(spec) if column}


def _missing_words(column: str, levels: _Values) -> list[Value]:
    # none of a column of numbers, whose levels are intervals, and none that may be a category
    names = [name_of(level) for level in levels]
    return [
        value
        for value in words.missing_words(levels)
        if not words.may_be_group(name_of(value), column, names)
        and not words.may_be_value(name_of(value), {*names} - {name_of(value)})
    ]


def _doubtful_levels(
    axis: Axis, levels: _Values, kept: NDArray[np.bool_], asked: RowCondition
) -> dict[int, Value]:
    # what means a missing value or a total, and is kept, and codes of missing values
    names = [*map(name_of, levels)]
    codes = [v for v in words.codes_of_missing(levels)
             if not words.may_be_group(name_of(v), axis.column, names)
             if not (_OF_ENDS.search(axis.column) and _OPEN_END.match(name_of(v)))]  # fmt: skip
    missing = _missing_words(axis.column, levels)
    return {
        i: level
        for i, level in enumerate(levels)
        if not is_one_of(level, asked.values)
        if level in codes
        or (kept[i] and (level in missing or words.is_total(name_of(level), names)))
    }


# a last date, as of what has not ended yet
_OF_ENDS = re.compile(
    r"(?i)end|until|expir|thru|through|terminat|close|valid|(?<![a-z])(to|bis|left)(?![a-z])"
)
_OPEN_END = re.compile(r"\d\d99-12-31")


def _cells_that_meet(table: CountTable, kept: _Masks) -> NDArray[np.bool_]:
    codes = table.codes.T[-len(kept) :]  # code -1 reads the last entry of a mask
    meet = [mask[of] for mask, of in zip(kept, codes, strict=True)]
    return np.asarray(np.logical_and.reduce(meet))


def _select_cells(table: CountTable, kept: _Masks) -> CountTable:
    return table.where(_cells_that_meet(table, kept)).over(table.axes[: -len(kept)])


def _drop_absent_levels(cube: Cube, spec: Spec) -> Cube:
    # the favourable outcomes of a specification stay, which other rows have: no one here does
    tables, levels = list(cube.tables), dict(cube.levels)
    for axis in (axis for axis in cube.plan.axes if not axis.bins):
        every = cube.levels[axis]
        codes = [t.codes[:, t.axes.index(axis)] for t in cube.tables if axis in t.axes]
        held = np.isin(np.arange(len(every)), np.concatenate(codes))
        if axis.role in OUTCOMES:
            stated, own = spec.positive_of(axis.column), axis.column
            asked = [each for each in spec.where if each.column == own]
            held |= [is_one_of(e, stated) and all(c.holds(e) for c in asked) for e in every]
        if not held.all():
            levels[axis] = tuple(compress(every, held.tolist()))
            place = np.append(np.cumsum(held) - 1, -1)
            tables = [table.recoded(axis, place) for table in tables]
    return replace(cube, levels=levels, tables=tuple(tables))


_ENDS = (-0.5, 100.5)
"""What parts negative numbers, which are in interval 0, and those above 100, from others."""


@dataclass(frozen=True, slots=True)
class SuccessCounts(RowsOfSource):
    """A source whose rows are counted as the cases that they stand for.

    Engines add up successes and cases by all other columns; the cells of the positive cases and of
    the others are made of the sums.
    """

    spec: Spec

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the cases.

        Raises ``DataError``: a row has more successes than cases, or a number that is no count.
        """
        outcome = next((a for a in plan.outcomes if a.column == self.spec.successes), None)
        if outcome is None or plan.count is None:
            return self.source.count(plan, limit)
        both = (plan.count, outcome.column)
        known = (Axis(Role.CONDITION, c, _ENDS, Closed.LEFT) for c in both)
        axes = [*(axis for axis in plan.axes if axis is not outcome),
                *(read_as(self.spec, axis) for axis in known)]  # fmt: skip
        own = [tuple(plan.axes[i] for i in table) for table in plan.tables]
        tables = tuple(
            (*(axes.index(a) for a in table if a is not outcome), len(axes) - 2, len(axes) - 1)
            for table in own
        )
        # the squares, and the gaps with and without their signs, show what is no number of cases
        moments = (
            Moment("cases", both[:1], ("x",)), Moment("squares", both[:1], ("x", "x")),
            Moment("positive", both[1:], ("x",)), Moment("squares+", both[1:], ("x", "x")),
            Moment("others", both[::-1], ("gap",)), Moment("apart", both[::-1], ("distance",)),
            Moment("gaps", both[::-1], ("gap", "gap")),
        )  # fmt: skip
        asked = replace(plan.asked, count=None)
        cube = self.source.count(Plan(tuple(axes), tables, asked, moments), limit)
        self._check(cube, both)
        held = cube.tables[0].known(axes[-2:])
        sums = {name: float(each.sum()) for name, each in held.sums.items()}
        up_to_100 = held.codes[:, -1].max(initial=0) < 2 <= held.codes[:, -2].min(initial=2)
        is_rate = bool(up_to_100) and may_be_percentages(sums)
        observed = (Observed(Observation.MEANS, outcome.column),) * is_rate
        uncounted = cube.tables[0].codes[:, -2] < 0
        no_count = int(cube.tables[0].sums["rows"][uncounted].sum())
        made = [round_sums(plan, _table_of_cases(table, of, outcome))
                for table, of in zip(cube.tables, own, strict=True)]  # fmt: skip
        check_counts(plan, None, made[0].sums, cube.rows)
        return replace(
            cube, plan=plan, tables=tuple(made),
            levels={a: (0, 1) if a is outcome else cube.levels[a] for a in plan.axes},
            excluded={Uncounted.NO_COUNT: no_count} if no_count else {},
            observed=(*cube.observed, *observed),
        )  # fmt: skip

    def _check(self, cube: Cube, columns: tuple[str, str]) -> None:
        table, sums = cube.tables[0], cube.tables[0].sums
        fractions = (sums[m] % 1 > 0 for m in ("cases", "squares", "positive", "squares+"))
        negative, more = table.codes[:, -2:] == 0, sums["apart"] > sums["others"]
        wrong = np.flatnonzero(np.logical_or.reduce([*negative.T, *fractions, more]))
        if not len(wrong):
            return
        # of rows that cannot be read, the values by which they are counted
        held = zip(table.axes[:-2], table.codes[wrong[0]].tolist(), strict=False)
        named = (f"{a.column} = {a.names(cube.levels[a])[i]}" for a, i in held if i >= 0)
        row = f"a row of {quote(self.name)} ({', '.join(named)})"
        if isinstance(self.source, Readable):
            read = read_rows(self.source, columns)
            cases, positive = (numbers_of(read[column]) for column in columns)
            no_counts = ((each < 0) | (each % 1 > 0) for each in (cases, positive))
            at = int(np.argmax(np.logical_or.reduce([*no_counts, positive > cases])))
            row = f"row {at + 1}: {positive[at]:g} of {cases[at]:g}"
        count, successes = map(quote, columns)
        raise DataError(
            f"{row} is no number of positive cases ({successes}) of a number of cases ({count}): "
            "both are whole numbers from 0 on, and there are no more positive cases than cases. "
            f"Correct the row; of a rate, name a column of it times {count}, rounded (successes, "
            "--successes COL); of events, of which a case may have several, one of them divided "
            f"by {count} as label (--label COL), --task regression, with --weight {columns[0]}"
        )


def _table_of_cases(table: CountTable, axes: tuple[Axis, ...], outcome: Axis) -> CountTable:
    # the positive cases, the others, and those of rows whose successes are missing
    table = table.where(table.codes[:, -2] >= 0)
    cases, positive, rows = (table.sums[m] for m in ("cases", "positive", "rows"))
    known, all_positive = table.codes[:, -1] >= 0, positive == cases
    parts = {1: positive * known, 0: (cases - positive) * known, -1: cases * ~known}
    made = []
    for level, n in parts.items() if outcome in axes else {-1: cases}.items():
        codes = [np.full(len(n), level) if a is outcome else table.codes_of([a])[:, 0]
                 for a in axes]  # fmt: skip
        # a row stands once: with its positive cases where it has no others
        of_rows = np.where(all_positive, rows, 0.0) if level == 1 else rows * (n > 0)
        held = CountTable(axes, np.array(codes, dtype=np.int64).T, {"rows": of_rows, "n": n})
        made.append(held.where(n > 0))
    return stack_tables(made).over(axes)


GRID = 20
BASE = GRID + 1
WHOLE = 2.0**30
_ROUNDED = 1e-9
_FIRST_ROWS = 3
Floats = NDArray[np.float64]

OUTSIDE, PARTLY_MISSING, OFF = -1, -2, -3
"""What is wrong with the probabilities of a row, in place of its cell."""
_INTEGER = r"^(-?\d+)\.0+$"


def _read_table(feature: Probabilities, path: str) -> tuple[dict[str, int], Floats]:
    # the row of every key, each once, and the probabilities of each
    from fairgauge.scan.input_files import open_files

    assert feature.table is not None
    assert feature.on is not None
    source, columns = open_files(feature.table), tuple(column for _, column in feature.columns)
    absent = [name for name in (feature.on, *columns) if name not in source.columns]
    if absent:
        has = suggest(absent[0], source.columns) or f" It has {listing(source.columns)}"
        message = f"{quote(feature.table)} has no column {listing(absent)}.{has}"
        raise SpecError(Problem(f"{path}.table", message))
    assert isinstance(source, Readable)  # as every file is
    (raw,), _ = source.fetch([feature.on], None)
    keys = [(row, _cell_key(value)) for row, value in enumerate(raw) if value is not None]
    rows: dict[str, int] = {}
    twice = [key for row, key in keys if rows.setdefault(key, row) != row]
    p, problems = _read_probabilities(source, feature), []
    if twice:
        several = f", the first of {len(twice):,} keys that are" if len(twice) > 1 else ""
        message = (
            f"{quote(feature.on)} = {quote(twice[0])} is in {quote(feature.table)} twice{several}; "
            "each key has one row"
        )
        problems.append(Problem(f"{path}.table", message))
    for kind, wrong in wrong_rows(p, feature.tolerance).items():
        if number := int(wrong.sum()):
            message = _wrong_probabilities(kind, number, feature, p)
            problems.append(Problem(f"{path}.table", f"{quote(feature.table)}: {message}"))
    refuse(problems)
    return rows, p


def _read_probabilities(source: Source, feature: Probabilities) -> Floats:
    columns = [column for _, column in feature.columns]
    read = read_rows(source, columns)
    return np.stack([numbers_of(read[column]) for column in columns], axis=1)


def wrong_rows(p: Floats, tolerance: float) -> dict[int, NDArray[np.bool_]]:
    """Return in which rows probabilities are none, by what is wrong with them."""
    missing = np.isnan(p)
    whole = ~missing.any(axis=1)
    outside = whole & ((p < 0) | (p > 1)).any(axis=1)
    return {
        OUTSIDE: outside,
        PARTLY_MISSING: ~whole & ~missing.all(axis=1),
        OFF: whole & ~outside & (np.abs(p.sum(axis=1) - 1) > tolerance),
    }


def _wrong_probabilities(kind: int, rows: int, feature: Probabilities, p: Floats) -> str:
    # what is wrong with the probabilities of some rows, what to do, and those of the first one
    wrong = {
        OUTSIDE: "probabilities below 0 or above 1; a probability is between 0 and 1: divide "
        "percentages by 100, in a copy of the data",
        PARTLY_MISSING: "some but not all of probabilities missing; a row has all probabilities, "
        "or none where nothing is known of it",
        OFF: "probabilities that do not sum to 1; name the column of every group; of probabilities "
        f"that are rounded in print set tolerance (--probabilities '{feature.name}: ...; "
        "tolerance=0.001')",
    }
    have, shown = "row has" if rows == 1 else "rows have", ""
    found = wrong_rows(p, feature.tolerance)[kind]
    if found.sum() == rows:  # none that a condition leaves out
        at = int(found.argmax())
        pairs = zip(feature.columns, p[at].tolist(), strict=True)
        values = ", ".join(f"{quote(column)} = {value:g}" for (_, column), value in pairs)
        shown = f"; the first is row {at + 1:,} ({values})"
    return f"{quote(feature.name)}: {rows:,} {have} {wrong[kind]}{shown}"


def _cell_key(value: object) -> str:
    return re.sub(_INTEGER, r"\1", str(value))


def add_probability_columns(source: Source, spec: Spec) -> Source:
    """Return a source with the columns that are counted of probabilities."""
    if not spec.probabilities:
        return source
    for i, feature in enumerate(spec.probabilities):
        for name in _made_columns(feature):
            if name in source.columns:
                message = f"there is a column {quote(name)} already; rename it"
                raise SpecError(Problem(f"probabilities[{i}].name", message))
    if isinstance(source, Streamed) and not has_arrow():
        with needing("arrow", "counting probabilities of groups"):
            import pyarrow as pa  # noqa: F401
    if not (isinstance(source, Streamed) and source.streams):
        raise DataError(
            f"probabilities of groups are counted in CSV and Parquet files and in frames, not in "
            f"{quote(source.name)}; read the rows into one of them"
        )
    made = tuple(
        _Probabilities(
            feature, _read_table(feature, f"probabilities[{i}]") if feature.table else None
        )
        for i, feature in enumerate(spec.probabilities)
    )
    return WithProbabilities(source, made)


@dataclass(frozen=True, slots=True)
class _Probabilities:
    """The columns of one feature, and the table that its probabilities are in, if they are."""

    feature: Probabilities
    table: tuple[dict[str, int], Floats] | None

    @property
    def key(self) -> Axis | None:
        """Return the axis of the values by which rows find their probabilities in the table."""
        return None if self.table is None else Axis(Role.CONDITION, str(self.feature.on))

    def of(self, batch: Batch) -> Floats:
        if self.table is None or self.key is None:
            return np.stack([batch.numbers[column] for _, column in self.feature.columns], axis=1)
        (rows, p), (keys, positions) = self.table, batch.keys[self.key]
        at = [*(rows.get(_cell_key(value), -1) for value in keys), -1]
        found: Floats = np.append(p, np.full((1, p.shape[1]), np.nan), axis=0)[at]
        return np.take(found, positions, axis=0)

    def columns(self, p: Floats) -> tuple[NDArray[np.int64], dict[str, Floats]]:
        """Return the cell of every row, below 0 where it has none, and the columns of sums."""
        feature, total = self.feature, sum(p.T)
        state = np.zeros(len(p), dtype=np.int64)
        for kind, wrong in wrong_rows(p, feature.tolerance).items():
            state[wrong] = kind
        empty = np.isnan(p).all(axis=1)
        right = (state == 0) & ~empty
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.floor(p / np.reshape(total, (-1, 1)) * WHOLE + 0.5)
        shares = np.where(right[:, None], shares, 0.0)
        sums = dict(zip(map(feature.sum_of, feature.groups), shares.T, strict=True))
        sums[feature.rounded] = (right & (np.abs(total - 1) > _ROUNDED)).astype(np.float64)
        places = (shares * (GRID / WHOLE)).astype(np.int64)
        state += places @ BASE ** np.arange(places.shape[1], dtype=np.int64)
        return np.where(empty, _EMPTY, state), sums


# the cell of a row without probabilities
_EMPTY = -(2**62)


@dataclass(frozen=True, slots=True)
class WithProbabilities(RowsOfSource):
    """A source with the columns of features of which only probabilities are known."""

    made: tuple[_Probabilities, ...]

    streams: ClassVar[bool] = True

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        assert isinstance(self.source, Readable)
        return self.source.fetch(columns, most)

    def read(self, plan: Plan) -> Plan:
        """Return the plan of what the source has: the probabilities in place of what they make."""
        made = {name for each in self.made for name in _made_columns(each.feature)}
        axes = tuple(axis for axis in plan.axes if axis.column not in made)
        given = (c for e in self.made if e.table is None for _, c in e.feature.columns)
        moments = (
            *(each for each in plan.moments if not made.intersection(each.columns)),
            *(Moment(f"sum of {column}", (column,), ("x",)) for column in given),
        )
        return replace(plan, axes=axes, tables=(tuple(range(len(axes))),), moments=moments)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows: of untyped text once before, which reports what is no number."""
        from fairgauge.scan._duckdb_relation import DuckRows

        texts = self.source.written.texts if isinstance(self.source, DuckRows) else frozenset()
        if texts:
            self.source.count(self.read(plan), limit)
        parts = [scan_batches(plan, self.batches(plan), limit)]
        stated = getattr(self.source, "stated_order", None)
        return join_parts(plan, parts, limit, texts, stated)

    def batches(self, plan: Plan) -> Iterator[Batch]:
        assert isinstance(self.source, Streamed)
        read = self.read(plan)
        keys = tuple(each.key for each in self.made if each.key is not None)
        for batch in self.source.batches(replace(read, axes=(*read.axes, *keys))):
            found, numbers = dict(batch.keys), dict(batch.numbers)
            for each in self.made:
                cells, sums = each.columns(each.of(batch))
                numbers |= sums
                known, at = np.unique(cells, return_inverse=True)
                if len(known) and known[0] == _EMPTY:
                    known, at = known[1:], at - 1
                axis = plan.axis(Role.PROXY, each.feature.cell)
                found |= {axis: (known.tolist(), at)} if axis else {}
            kept = {axis: found[axis] for axis in plan.axes if not axis.bins}
            yield Batch(kept, {column: numbers[column] for column in plan.numeric_columns})


def _made_columns(feature: Probabilities) -> list[str]:
    return [*feature.summed, feature.cell]


def check_cells(cube: Cube, source: Source, spec: Spec) -> None:
    """Refuse rows whose probabilities are none, all problems at once."""
    problems = []
    for i, feature in enumerate(spec.probabilities):
        axis = cube.plan.axis(Role.PROXY, feature.cell)
        assert axis is not None
        table = cube.marginal([axis])
        if feature.table and not (table.codes >= 0).any() and isinstance(source, Readable):
            keys = read_rows(source, [str(feature.on)], _FIRST_ROWS)[str(feature.on)]
            ours = cells(_cell_key(value) for value in keys if value is not None)
            message = (
                f"no row has a value of {quote(feature.on)} that is in {quote(feature.table)}: the "
                f"data have {ours}, the table {cells(_read_table(feature, '')[0])}; keys are "
                "compared as texts, with leading zeros"
            )
            problems.append(Problem(f"probabilities[{i}].on", message))
        for position, level in enumerate(cube.levels[axis]):
            if isinstance(level, int) and level < 0:
                rows = int(table.sums["rows"][table.codes[:, 0] == position].sum())
                p = _read_probabilities(source, feature)
                message = _wrong_probabilities(level, rows, feature, p)
                problems.append(Problem(f"probabilities[{i}]", message))
    refuse(problems)


def digits_of(cells: list[int], groups: int) -> NDArray[np.int64]:
    """Return the place of the probability of every group in each cell."""
    places = np.array(cells, dtype=np.int64)[:, None] // BASE ** np.arange(groups, dtype=np.int64)
    return places % BASE


# the mean in standard deviations beyond which the fourth powers lose most of their digits
_FAR = 1e3
_SUMS = {Role.LABEL: ("y", "yy"), Role.PREDICTION: ("p", "pp")}


def recount_about_mean(cube: Cube, count: Callable[[Plan], Cube]) -> Cube:
    """Return counts, made again where labels or predictions are far from 0."""
    plan = cube.plan
    means, far = [], []
    for axis in plan.outcomes:
        first, second = _SUMS[axis.role]
        if first not in plan.measures:
            return cube
        table = cube.marginal([axis])
        n, x, squares = (
            float(table.sums[name][table.codes[:, 0] >= 0].sum())
            for name in ("w" if plan.weight else plan.cases, first, second)
        )
        if n > 0:
            means.append(mean := x / n)
            far += [mean] if mean * mean > _FAR**2 * (squares / n - mean * mean) else []
    # rounded: the last digits depend on the order of rows
    centre = float(f"{max(far, key=abs, default=0.0):.8g}")
    nearer = all(abs(mean - centre) <= abs(mean) for mean in means)
    return count(centre_moments(plan, centre)) if 0 < abs(centre) < LARGEST and nearer else cube
