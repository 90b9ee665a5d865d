"""Dialects of SQL: the query that every database gets, in the words of one of them."""

from __future__ import annotations

from typing import Any

from fairgauge.errors import DataError, quote
from fairgauge.scan._sql import literal

ROWS = "fairgauge_rows"
"""The table that a query names before it is written in a dialect."""
MARK = "|"
"""What a text ends in, so that an empty one and blanks at the end are kept."""
WITHOUT_SETS = ("mysql", "sqlite")
FOLDED = {"tsql": "Latin1_General_100_BIN2", "mysql": "utf8mb4_bin"}
"""Dialects that take texts for equal which differ in case alone, and what compares each letter."""


def marked(name: str, dialect: str) -> str:
    """Write a text with its mark, letter by letter in the dialects that fold case."""
    text = f"CONCAT({name}, {literal(MARK)})"
    if dialect == "mysql":  # whose tables may be in another character set
        text = f"CONVERT({text} USING utf8mb4)"
    if dialect in FOLDED:
        text = f"{text} COLLATE {FOLDED[dialect]}"
    return f"CASE WHEN {name} IS NOT NULL THEN {text} END"


def in_dialect(sql: str, rows: str, dialect: str) -> str:
    """Write a query of the table `ROWS` in a dialect, of rows that are named in it.

    Raises
    ------
    DataError
        The rows are no table or SELECT of that dialect.
    """
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="duckdb")
    for table in list(tree.find_all(exp.Table)):
        if table.name == ROWS:
            table.replace(_source(rows, dialect))
    for each in tree.find_all(exp.Round) if dialect == "tsql" else ():
        each.set("decimals", exp.Literal.number(0))
    return tree.sql(dialect=dialect, pretty=True)


def _source(rows: str, dialect: str) -> Any:
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        if len(rows.split()) == 1:
            return exp.to_table(rows, dialect=dialect)
        query: Any = parse_one(rows.strip().rstrip(";"), read=dialect)
        return query.subquery(ROWS)
    except (SqlglotError, AttributeError) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"cannot read {quote(rows)} as {dialect}: {first}") from None
