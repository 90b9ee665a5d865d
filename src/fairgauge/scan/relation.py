"""A DuckDB relation, counted where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.errors import DataError, quote
from fairgauge.scan.sql import Columns, count_by_sql, identifier

if TYPE_CHECKING:
    from fairgauge.cube import Cube
    from fairgauge.plan import Plan

_VIEW = "fairgauge_rows"


def typed_columns() -> Columns:
    """Write the columns of a relation that has types."""
    return Columns(
        key=identifier,
        number=lambda column: f"TRY_CAST({identifier(column)} AS DOUBLE)",
    )


@dataclass(frozen=True)
class Relation:
    """A DuckDB relation on its own connection."""

    name: str
    columns: tuple[str, ...]
    relation: Any

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        return count_by_sql(plan, _VIEW, typed_columns(), self._run, limit)

    def _run(self, query: str) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            found: list[tuple[Any, ...]] = self.relation.query(_VIEW, query).fetchall()
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise DataError(f"cannot read {quote(self.name)}: {first}") from None
        return found
