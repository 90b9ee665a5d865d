"""A warehouse that is not reached from here: the query that counts there, and its answer read back.

The query is the one that every database gets (`_sql.select`), put into the words of a dialect by
sqlglot. Its answer travels as a file, which may have lost types, rows or its question on the way:
texts end in a mark, and each record states the question and how many records there are.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Plan
from fairgauge.errors import DataError, cells, needing, quote
from fairgauge.object_stores import read_limited
from fairgauge.scan._sql import (
    FOLDED,
    MARK,
    QUESTION,
    ROWS,
    WITHOUT_SETS,
    Columns,
    cube_of_records,
    identifier,
    literal,
    mark_text,
    select,
    translate,
)
from fairgauge.scan.row_codes import sql_double
from fairgauge.scan.source import NotNumeric, Readable, Record, check_unique_names
from fairgauge.start.records import dataclass

CELLS = "cells"
_MOST = "CAST('1.7976931348623157e+308' AS DOUBLE)"
_MISSING = (None, "", "\\N", "NULL", "null", "None", "NaN", "nan")
_KINDS = ("text", "number", "boolean", "date")


@dataclass(frozen=True, slots=True)
class Warehouse:
    """Rows of a warehouse, of which the names and types of the columns are known.

    ``dialect``: as sqlglot names it.
    ``rows``: the name of a table, or a SELECT, in that dialect.
    ``kinds``: of every column text, number, single (precision), boolean, date, or another type.
    ``named``: columns that the catalogue names otherwise: Snowflake's, in capitals unless quoted.
    """

    dialect: str
    rows: str
    kinds: Mapping[str, str]
    named: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.rows

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Refuse: the rows are elsewhere."""
        del plan, limit
        raise DataError(f"the rows of {quote(self.rows)} are counted by a query that is run there")

    def query(self, plan: Plan) -> str:
        columns = Columns(self._key, self._number, sets=self.dialect not in WITHOUT_SETS)
        counted = select(plan, ROWS, columns)
        keys = [self._key_sql(plan, i) for i in range(len(plan.axes))]
        first = f"{literal(fingerprint(plan))} AS {QUESTION}, count(*) OVER () AS {CELLS}"
        last = ", ".join(f"s{i}" for i in range(_sums(plan)))
        sql = f"SELECT {first}, t, {', '.join([*keys, last])} FROM ({counted}) AS c"
        return translate(sql, self.rows, self.dialect)

    def _name(self, column: str) -> str:
        name = identifier(self.named.get(column, column))
        return sql_double(name) if self.kinds[column] == "single" else name

    def _key(self, column: str) -> str:
        kind, name = self.kinds[column], self._name(column)
        if kind == "text" and self.dialect == FOLDED:
            return mark_text(name, self.dialect)
        if kind not in ("text", "number", "single", "boolean", "date"):
            raise DataError(
                f"column {quote(column)} has the type {kind}, whose values a file of cells may "
                "change; make it a text, a number, true or false, or a date in a query of your own "
                "(--query), and list its type"
            )
        return name

    def _number(self, column: str) -> str:
        kind, name = self.kinds[column], self._name(column)
        if kind == "boolean":
            return f"CASE WHEN {name} THEN 1.0 WHEN NOT {name} THEN 0.0 END"
        if kind == "text":
            raise DataError(
                f"column {quote(column)} must hold numbers, but has the type text; make it a "
                "number, NULL where it is none, in a query of your own (--query), and list its type"
            )
        if kind not in ("number", "single"):
            raise NotNumeric(column, kind)
        value = f"CAST({name} AS DOUBLE)"
        # without NaN: above every number in some dialects, unordered in the others
        return f"CASE WHEN {value} <= {_MOST} OR -{value} <= {_MOST} THEN {value} END"

    def _key_sql(self, plan: Plan, i: int) -> str:
        axis = plan.axes[i]
        kind = "number" if axis.bins else self.kinds[axis.column].replace("single", "number")
        sent = f"k{i}"
        if kind == "text" and self.dialect != FOLDED:
            sent = mark_text(f"k{i}", self.dialect)
        elif kind == "boolean":
            sent = f"CASE WHEN k{i} THEN 'true' WHEN NOT k{i} THEN 'false' END"
        elif kind == "date":
            year, month, day = (f"EXTRACT({p} FROM k{i})" for p in ("YEAR", "MONTH", "DAY"))
            sent = f"{year} * 10000 + {month} * 100 + {day}"
        return f"{sent} AS k{i}_{kind}"


def _sums(plan: Plan) -> int:
    # how many sums the query has: measures, three checks, and three of each number
    return 1 + len(plan.measures) + 3 + 3 * len(plan.numeric_columns)


def fingerprint(plan: Plan) -> str:
    """Return what the answer must state of its question: a digest of what is counted."""
    listed = [plan.no_numbers] if plan.no_numbers else []  # others are applied to the answer
    text = json.dumps(["cells/1", plan.to_dict(), *listed], sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def open_warehouse(dialect: str, rows: str, path: str | Path) -> Warehouse:
    """Read the names and types of the columns of a table that is in a warehouse.

    They stand in lines ``NAME TYPE``, as catalogues print them.
    """
    with needing("sql", "writing SQL of a dialect"):
        import sqlglot as _  # noqa: F401
    try:
        text = read_limited(path, 1_000_000, "a list of columns").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"cannot read {quote(path)}: it is not UTF-8 text") from None
    listed = _columns_of(text, path)
    check_unique_names([name for name, _ in listed], quote(path))
    kinds = {name: _column_kind(kind, dialect) for name, kind in listed}
    if not kinds:
        raise DataError(f"{quote(path)} has no columns; give a line NAME TYPE for each")
    capitals = [name for name in kinds if dialect == "snowflake" and name.isupper()]
    named = {name.lower(): name for name in capitals if name.lower() not in kinds}
    return Warehouse(dialect, rows, kinds | {n: kinds[named[n]] for n in named}, named)


def _columns_of(text: str, path: str | Path) -> list[tuple[str, str]]:
    named = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        quoted = re.fullmatch(r'"((?:[^"]|"")+)"[\s,|]+(.+)|([^\s,|]+)[\s,|]+(.+)', line)
        if not quoted:
            raise DataError(
                f"{quote(path)}: {quote(line)} has no type; write NAME TYPE, such as sex VARCHAR"
            )
        name = (quoted[1] or quoted[3]).replace('""', '"')
        named.append((name, (quoted[2] or quoted[4]).strip().rstrip(",")))
    return named


# types of double precision, which have single precision elsewhere
_DOUBLES = {"mysql": {"REAL"}, "snowflake": {"REAL", "FLOAT4"}}


def _column_kind(written: str, dialect: str) -> str:
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    name = re.sub(r"(?i)\s+(not\s+null|null)\b.*", "", written)
    while inside := re.fullmatch(r"(?:Nullable|LowCardinality)\((.*)\)", name):  # of ClickHouse
        name = inside[1]
    try:
        kind = exp.DataType.build(name, dialect=dialect).this
    except SqlglotError:
        return written
    types = exp.DataType.Type
    if kind is types.FLOAT and name.upper() not in _DOUBLES.get(dialect, ()):
        return "single"
    known = {
        "boolean": {types.BOOLEAN, types.BIT},
        "date": {types.DATE, types.DATE32},
        "text": exp.DataType.TEXT_TYPES,
        "number": exp.DataType.NUMERIC_TYPES,
    }
    return next((each for each, held in known.items() if kind in held), written)


def read_cells(source: Readable, plan: Plan, limit: int) -> Cube:
    """Make the cube of the answer to a query of `Warehouse`, after checking that it is whole."""
    places = {name.lower(): name for name in source.columns}
    if QUESTION not in places:
        raise DataError(
            f"{quote(source.name)} has no column {QUESTION}: it is not the answer to a query of "
            "fairgauge count --show-sql --dialect"
        )
    axes = range(len(plan.axes))
    kinds = [next((k for k in _KINDS if f"k{i}_{k}" in places), "") for i in axes]
    wanted = [QUESTION, CELLS, "t", *(f"k{i}_{kind}" for i, kind in enumerate(kinds))]
    wanted += [f"s{i}" for i in range(_sums(plan))]
    values: dict[str, Sequence[object]] = {}
    if all(name in places for name in wanted):
        fetched, _ = source.fetch([places[name] for name in wanted], None)
        values = dict(zip(wanted, fetched, strict=True))
    if set(values.get(QUESTION, ())) != {fingerprint(plan)}:
        raise DataError(
            f"{quote(source.name)} answers another question than the one that is asked, or lacks "
            "columns; write the query anew for this question (fairgauge count --show-sql), or give "
            "the specification that it was written for (-c)"
        )
    name = source.name
    cells = len(values[CELLS])
    for stated in {_read_number(name, CELLS, each) for each in values[CELLS]}:
        if stated != cells:
            how = "cut off" if stated and stated > cells else "put together from several"
            raise DataError(
                f"{quote(name)} has {cells:,} records, and the query answered with "
                f"{stated:,.0f}: it was {how}; export the whole answer"
            )
    keys = [
        [_read_key(kind, name, column, value) for value in values[column]]
        for kind, column in zip(kinds, wanted[3:], strict=False)
    ]
    sets = [int(_read_number(name, "t", value) or 0) for value in values["t"]]
    sums = [[_read_number(name, c, v) for v in values[c]] for c in wanted[3 + len(kinds) :]]
    if len(set(zip(sets, *keys, strict=True))) != cells:
        raise DataError(f"{quote(name)} has a cell twice; export the answer once")
    records: list[Record] = [tuple(each) for each in zip(*keys, sets, *sums, strict=True)]
    if any(value is None or value < 0 or value % 1 for value in sums[0]):
        raise DataError(f"{quote(name)}: s0 must hold numbers of rows")
    every = plan.weight is None and plan.count is None  # of which some rows may have none
    for all_rows, counted in zip(*([each or 0 for each in some] for some in sums[:2]), strict=True):
        if counted > all_rows or (every and counted != all_rows):
            raise DataError(
                f"{quote(name)}: a cell has {all_rows:,.0f} rows (s0), of which "
                f"{counted:,.0f} are counted (s1), which cannot be; export the answer again"
            )
    columns = Columns(identifier, identifier, sets=any(sets))
    return cube_of_records(plan, records, columns, limit)


def _read_number(source: str, column: str, value: object) -> float | None:
    if value in _MISSING:
        return None
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _wrong_value_error(source, column, "numbers", value) from None
    return None if math.isnan(found) else found


def _wrong_value_error(source: str, column: str, what: str, value: object) -> DataError:
    return DataError(
        f"{quote(source)}: column {column} must hold {what}, but has {cells([value])}; export the "
        "answer as it is"
    )


def _read_key(kind: str, source: str, column: str, value: object) -> object:
    if value in _MISSING:
        return None
    if kind == "text":
        if not isinstance(value, str) or not value.endswith(MARK):
            raise _wrong_value_error(source, column, f"texts that end in {MARK}", value)
        return value.removesuffix(MARK)
    if kind == "boolean":
        if (text := str(value).lower()) not in ("true", "false"):
            raise _wrong_value_error(source, column, "true or false", value)
        return text == "true"
    if kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _read_number(source, column, value)
    if kind == "number" or found is None:
        return found
    try:
        day = int(found)
        return date(day // 10_000, day // 100 % 100, day % 100)
    except ValueError:
        raise _wrong_value_error(source, column, "dates such as 20261121", value) from None
