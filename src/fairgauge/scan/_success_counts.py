"""Rows that stand for cases, of which a column states how many are positive: successes and trials.

Engines add up both numbers by all other columns; the cells of the positive cases and of the others
are made of the sums.
"""

from __future__ import annotations

import numpy as np

from fairgauge.cube.cube import CountTable, Cube, round_sums, stack_tables
from fairgauge.cube.plan import Axis, Moment, Plan, read_as
from fairgauge.enums import Closed, Role, Uncounted
from fairgauge.errors import DataError, quote
from fairgauge.question.specification import Spec
from fairgauge.scan.row_codes import numbers_of, read_rows
from fairgauge.scan.source import Readable, RowsOfSource, check_counts
from fairgauge.start.records import dataclass, replace

_NEGATIVE = (-0.5,)
"""What parts negative numbers, which are in interval 0, from those of counts."""


@dataclass(frozen=True, slots=True)
class SuccessCounts(RowsOfSource):
    """A source whose rows are counted as the cases that they stand for."""

    spec: Spec

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the cases.

        Raises ``DataError``: a row has more successes than cases, or a number that is no count.
        """
        outcome = next((a for a in plan.outcomes if a.column == self.spec.successes), None)
        if outcome is None or plan.count is None:
            return self.source.count(plan, limit)
        both = (plan.count, outcome.column)
        known = (Axis(Role.CONDITION, c, _NEGATIVE, Closed.LEFT) for c in both)
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
        )  # fmt: skip
        asked = replace(plan.asked, count=None)
        cube = self.source.count(Plan(tuple(axes), tables, asked, moments), limit)
        self._check(cube, both)
        uncounted = cube.tables[0].codes[:, -2] < 0
        no_count = int(cube.tables[0].sums["rows"][uncounted].sum())
        made = [round_sums(plan, _table_of_cases(table, of, outcome))
                for table, of in zip(cube.tables, own, strict=True)]  # fmt: skip
        check_counts(plan, None, made[0].sums, cube.rows)
        return replace(
            cube, plan=plan, tables=tuple(made),
            levels={a: (0, 1) if a is outcome else cube.levels[a] for a in plan.axes},
            excluded={Uncounted.NO_COUNT: no_count} if no_count else {},
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
            "both are whole numbers from 0 on, and there are no more positive cases than cases; "
            "correct the row, or name the column that counts the positive cases of each row "
            "(successes, --successes COL)"
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
