"""Columns of Arrow in types that every engine groups and hands over as the same values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from fairgauge.errors import DataError
from fairgauge.scan.row_codes import doubles
from fairgauge.values import NANOSECONDS

_INSTEAD = {
    pa.null(): pa.float64(),
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
}
_TEXTS = (pa.string(), pa.large_string())


def plain_arrow(table: pa.Table) -> pa.Table:
    """Return a table in plain types, and with one dictionary for all chunks of a column.

    Extension types become what they are stored as, dictionaries and runs of other values than
    texts their values, and moments of nanoseconds texts, as some engines hand over no nanoseconds.
    """
    try:
        table.validate(full=True)  # lengths and places in a damaged file may lead out of memory
    except pa.ArrowInvalid as error:
        raise DataError(f"the Arrow table is damaged: {error}") from None
    columns = [plain_column(column) for column in table.columns]
    if any(new is not old for new, old in zip(columns, table.columns, strict=True)):
        table = pa.table(columns, names=table.column_names)
    return table.unify_dictionaries()


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = pa.chunked_array([each.storage for each in column.chunks], kind.storage_type)
        truth = kind.extension_name == "arrow.bool8"
        return plain_column(stored.cast(pa.bool_()) if truth else stored)
    if pa.types.is_run_end_encoded(kind):
        return plain_column(pc.run_end_decode(column))
    if pa.types.is_dictionary(kind):
        whole = not any(each.dictionary.null_count for each in column.chunks)
        if whole and kind.value_type in _TEXTS:
            return column
        if plain := _INSTEAD.get(kind.value_type):  # pyarrow takes no values of views
            held = ((each.indices, each.dictionary.cast(plain)) for each in column.chunks)
            parts = [pa.DictionaryArray.from_arrays(*each) for each in held]
            return plain_column(pa.chunked_array(parts, pa.dictionary(kind.index_type, plain)))
        return plain_column(column.cast(kind.value_type))
    if str(kind).startswith(("decimal32", "decimal64")):  # which pyarrow 18 lacks
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return _whole_microseconds(column)
    return column.cast(_INSTEAD[kind]) if kind in _INSTEAD else column


def put_together(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of tables with the same columns, whose numbers may be of several types."""
    types: dict[str, set[pa.DataType]] = {}
    for field in chain.from_iterable(table.schema for table in tables):
        types.setdefault(field.name, set()).add(field.type)
    mixed = [n for n, of in types.items() if len(of) > 1 and any(map(pa.types.is_floating, of))]
    parts = []
    for table in tables:
        for name in mixed:
            at = table.column_names.index(name)
            column = table.column(at)
            if pa.types.is_decimal(column.type):  # whose own cast misses the nearest double
                column = column.cast(pa.string()).cast(pa.float64())
            elif pa.types.is_floating(column.type):
                column = pa.chunked_array([doubles(column.to_numpy())])
            table = table.set_column(at, name, column)
        parts.append(table)
    return pa.concat_tables(parts, promote_options="permissive")


def _whole_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    whole = pc.floor_temporal(column, unit="microsecond")
    # DuckDB and Spark have instants of microseconds alone
    if kind.tz is not None or pc.all(pc.equal(whole, column)).as_py() is not False:
        return whole.cast(pa.timestamp("us", kind.tz))
    texts = pc.replace_substring(column.cast(pa.large_string()), " ", "T")
    return pc.replace_substring_regex(texts, NANOSECONDS, r"\2")
