"""Writing a table of plain values as Parquet, with the DuckDB that reads everything else."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from fairgauge.errors import DataError
from fairgauge.scan._sql import literal
from fairgauge.temporary_files import private_folder


def parquet_file(
    columns: Mapping[str, type[str | float | int | bool]], rows: Iterable[Sequence[object]]
) -> bytes:
    """Return the content of a Parquet file with some rows.

    Parameters
    ----------
    columns : mapping
        The names of the columns with their types: str, float, int or bool.
    rows : iterable of sequences
        The values in the order of the columns; None is missing.

    Raises
    ------
    DataError
        The folder of temporary files cannot be written to.
    """
    kinds = {str: "VARCHAR", float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN"}
    types = ", ".join(f"{literal(name)}: '{kinds[kind]}'" for name, kind in columns.items())
    try:
        with private_folder() as folder:
            table, made = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
            with table.open("w", encoding="utf-8") as handle:
                handle.writelines(_record(columns, row) for row in rows)
            file = literal(str(table))
            read = f"read_json({file}, columns = {{{types}}}, format = 'newline_delimited')"
            with duckdb.connect() as connection:
                query = f"COPY (SELECT * FROM {read}) TO {literal(str(made))} (FORMAT parquet)"
                connection.execute(query)
            return made.read_bytes()
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write a temporary file: {reason}") from None


def _record(columns: Iterable[str], row: Sequence[object]) -> str:
    values = ((name, _plain(value)) for name, value in zip(columns, row, strict=True))
    return json.dumps(dict(values), allow_nan=False) + "\n"


def _plain(value: object) -> object:
    """Return infinities as the texts that are read as such."""
    return str(value) if isinstance(value, float) and math.isinf(value) else value
