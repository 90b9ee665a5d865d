"""Files that DuckDB reads, as one relation; and how two files are held against each other."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Plan
from fairgauge.errors import DataError, listing, quote
from fairgauge.object_stores import Place, address
from fairgauge.scan._duckdb_relation import record_batches, run, run_in_order
from fairgauge.scan._sql import Columns, count_by_sql, literal, select, select_rows
from fairgauge.scan.row_codes import BATCH, Batch, has_arrow, sql_batches
from fairgauge.scan.source import Fetched, Record


def listed(paths: Iterable[Place]) -> str:
    """Write paths as a list in SQL, so that ``*``, ``?`` and ``[`` in them mean themselves."""
    return f"[{', '.join(literal(glob.escape(address(path))) for path in paths)}]"


_LONGEST_LINE = 1 << 22
_BUFFER = 1 << 23
_LARGE = 1 << 24
"""Bytes of Parquet from which counting by numpy saves more than importing Arrow costs."""
_ROWS = 98_304
"""Rows that are counted at a time."""


def csv_rows(
    paths: Iterable[Place],
    columns: Iterable[str],
    delimiter: str = ",",
    *,
    line_end: str = "",
) -> str:
    """Write the rows of CSV files of RFC 4180, every value as text, with names for the columns.

    Without a ``line_end`` DuckDB takes the first line break of a file for it, a quoted one too; it
    heeds one where ``strict_mode`` is not stated, which is then true.
    """
    known = f"new_line={literal(line_end.encode('unicode_escape').decode())}"
    ends = known if line_end else "strict_mode=true"
    types = ", ".join(f"'{column}': 'VARCHAR'" for column in columns)
    return (
        f"read_csv({listed(paths)}, delim={literal(delimiter)}, quote='\"', "
        f"escape='\"', header=true, nullstr='', auto_detect=false, "
        f"{ends}, null_padding=false, max_line_size={_LONGEST_LINE}, "
        f"buffer_size={_BUFFER}, columns={{{types}}})"
    )


@dataclass(frozen=True)
class DuckFiles:
    """Files that DuckDB reads.

    Attributes
    ----------
    size : how many bytes of columns with types there are.
    absent : the columns that a file lacks, each with that file: a key may be absent from an object
        of JSON, but not from a whole file.
    """

    name: str
    columns: tuple[str, ...]
    relation: str = field(repr=False)
    written: Columns = field(repr=False)
    size: int = 0
    absent: Mapping[str, Place] = field(default_factory=dict, repr=False)

    at_hand: ClassVar[bool] = True

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        keys = ", ".join(self.written.key(name) for name in columns)
        limit = "" if most is None else f" LIMIT {most}"
        records = run_in_order(f"SELECT {keys} FROM {self.relation}{limit}", self.name)
        found: list[Sequence[object]] = [
            [record[i] for record in records] for i in range(len(columns))
        ]
        if self.written.decode is not None:
            found = [[*map(self.written.decode, values)] for values in found]
        return found, bool(self.written.texts)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        self._check(plan)
        alike = all(
            axis.column in self.written.batched and not axis.moments
            for axis in plan.axes
            if not axis.bins
        )
        fine = any(axis.grid for axis in plan.axes)
        if self.size >= _LARGE and fine and alike and has_arrow():
            cube = self._summed(plan, limit)
            if cube is not None:
                return cube
        return count_by_sql(plan, self.relation, self.written, self._run, limit)

    def _summed(self, plan: Plan, limit: int) -> Cube | None:
        """Count by numpy the rows of many cells, of which DuckDB's table outgrows the cache.

        None where they are too many to have a place each.
        """
        from fairgauge.scan._cell_sums import CellSums, joined

        sums = CellSums(plan, limit)
        for batch in self.batches(plan, _ROWS):
            sums.add(batch)
            if not sums.dense:
                return None
        return joined(plan, [sums.scanned()], limit, self.written.texts)

    @property
    def plain(self) -> bool:
        """Return whether keys are values as they are: those of JSON are texts of JSON."""
        return self.written.decode is None

    @property
    def streams(self) -> bool:
        """Return whether rows can be read in batches."""
        return has_arrow() and self.plain

    def batches(self, plan: Plan, rows: int = BATCH) -> Iterator[Batch]:
        """Yield batches of about so many rows."""
        query = select_rows(plan, self.relation, self.written)
        return sql_batches(plan, record_batches(query, self.name, rows))

    def query(self, plan: Plan) -> str:
        """Return the query of DuckDB that counts."""
        self._check(plan)
        return select(plan, self.relation, self.written)

    def with_missing(self, column: str) -> DuckFiles:
        """Return the files with one more column, in which every value is missing."""
        text, number = "CAST(NULL AS VARCHAR)", "CAST(NULL AS DOUBLE)"
        written = self.written.beside({column: (text, number, text)})
        return replace(self, columns=(*self.columns, column), written=written)

    def _check(self, plan: Plan) -> None:
        """Check that no file lacks a column that is counted."""
        for column in plan.columns:
            if column in self.absent:
                raise DataError(
                    f"the files have different columns: {quote(self.absent[column])} lacks "
                    f"{quote(column)}"
                )

    def _run(self, query: str) -> Iterator[Record]:
        return run(query, self.name)


def check_same_columns(
    first: Collection[str], other: Collection[str], path: Place, second: Place
) -> None:
    """Check that a further file has the columns of the first, in any order."""
    missing, more = sorted(set(first) - set(other)), sorted(set(other) - set(first))
    if missing or more:
        what = f"lacks {listing(missing)}" if missing else f"also has {listing(more)}"
        raise DataError(
            f"the files have different columns: {quote(second)} {what}, unlike {quote(path)}"
        )
