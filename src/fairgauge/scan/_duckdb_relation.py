"""A DuckDB relation, counted where it is; and how columns that have types are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.scan._duckdb_connection import FETCHED, arrow_reader, engine_errors
from fairgauge.scan._sql import Columns, count_by_sql, identifier, select, select_rows
from fairgauge.scan.row_codes import BATCH, has_arrow, sql_batches
from fairgauge.scan.source import check_unique_names, not_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.scan.row_codes import Batch
    from fairgauge.scan.source import Fetched, Record, Source

_VIEW = "fairgauge_rows"
_WHOLE = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
_UTC = "TIMESTAMP WITH TIME ZONE"


def open_relation(relation: DuckDBPyRelation, name: str | None = None) -> Source:
    """Open a DuckDB relation.

    Raises
    ------
    DataError
        The relation has two columns of one name.
    """
    columns = tuple(relation.columns)
    check_unique_names(columns, "the relation")
    return Relation(name or "DuckDB relation", columns, relation)


def text_as_number(text: str) -> str:
    """Write a text as a double: NULL where it is missing, NaN or not a number."""
    return f"CASE WHEN NOT isnan({_read(text)}) THEN {_read(text)} END"


def not_a_number(text: str) -> str:
    """Write a text where it is not a number, else NULL."""
    return f"CASE WHEN {_read(text)} IS NULL THEN {text} END"


def _read(text: str) -> str:
    return f"TRY_CAST(replace({text}, '_', ' ') AS DOUBLE)"  # DuckDB would read 1_0 as 10


def typed_columns(
    written: Mapping[str, tuple[str, str]], texts: frozenset[str] = frozenset()
) -> Columns:
    """Write the columns of a relation that has types.

    Parameters
    ----------
    written : mapping
        For every column its expression and its DuckDB type.
    texts : set of str
        Columns that are untyped text after all: partitions, which are read from names of folders.
    """

    def key(column: str) -> str:
        expression, kind = written[column]
        if kind == _UTC:  # fetched without the time zone library that DuckDB would ask for
            moment = f"strftime(make_timestamp(epoch_us({expression})), '%Y-%m-%dT%H:%M:%S.%f')"
            return f"replace({moment}, '.000000', '') || '+00:00'"
        return expression

    def number(column: str) -> str:
        expression, kind = written[column]
        if column in texts:
            return text_as_number(expression)
        if kind in _WHOLE or kind.startswith("DECIMAL"):
            return f"CAST({expression} AS DOUBLE)"
        if kind not in ("FLOAT", "DOUBLE", '"NULL"'):
            raise not_numeric(column, kind)
        # nullif(..., 'NaN') goes wrong: DuckDB 1.5 trusts Parquet's statistics, which leave NaN out
        return f"CASE WHEN NOT isnan({expression}::DOUBLE) THEN {expression}::DOUBLE END"

    return Columns(key, number, texts=texts)


@dataclass(frozen=True)
class Relation:
    """A DuckDB relation on its own connection.

    Attributes
    ----------
    name, columns : what it is called, and its columns.
    relation : the rows.
    connection : its connection where nobody else keeps it open; DuckDB below 1.5 closes it.
    """

    name: str
    columns: tuple[str, ...]
    relation: DuckDBPyRelation
    connection: DuckDBPyConnection | None = None

    @property
    def at_hand(self) -> bool:
        """Return that DuckDB runs in this process."""
        return True

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        """Return the values of columns, of all rows or of the first ``most``."""
        chosen = self.relation.select(*(identifier(name) for name in columns))
        records = (chosen if most is None else chosen.limit(most)).fetchall()
        return [[record[i] for record in records] for i in range(len(columns))], False

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        return count_by_sql(plan, _VIEW, self.written(), self._run, limit)

    @property
    def streams(self) -> bool:
        """Return whether rows can be read in batches."""
        return has_arrow()

    def batches(self, plan: Plan, limit: int) -> Iterator[Batch]:
        """Yield the rows."""
        del limit  # counted before
        query = select_rows(plan, _VIEW, self.written())
        with engine_errors(self.name):
            yield from sql_batches(plan, arrow_reader(self.relation.query(_VIEW, query), BATCH))

    def query(self, plan: Plan) -> str:
        """Return the query that counts."""
        return select(plan, f"({self.relation.sql_query()}) AS {_VIEW}", self.written())

    def explain(self, plan: Plan) -> str:
        """Return how DuckDB would run the query."""
        with engine_errors(self.name):
            found = self.relation.query(_VIEW, select(plan, _VIEW, self.written()))
            return str(found.explain())

    def written(self) -> Columns:
        """Return how its columns are written."""
        kinds = (str(kind) for kind in self.relation.types)
        return typed_columns(
            {
                column: (identifier(column), kind)
                for column, kind in zip(self.columns, kinds, strict=True)
            }
        )

    def _run(self, query: str) -> Iterator[Record]:
        with engine_errors(self.name):
            yield from _records(self.relation.query(_VIEW, query))


def _records(found: DuckDBPyRelation) -> Iterator[Record]:
    """Yield records, some at a time where a relation keeps its result: none does in DuckDB 2."""
    if not hasattr(found, "fetchmany"):
        yield from found.fetchall()
        return
    while records := found.fetchmany(FETCHED):
        yield from records
