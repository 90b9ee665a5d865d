"""Runs a query of BigQuery by Google's ZetaSQL: bigquery_query.py QUERY.sql ROWS.json ANSWER.csv.

ZetaSQL is the analyser and the reference implementation of the SQL that BigQuery speaks, here
compiled to WebAssembly. The rows stand in the query, in place of the table that it names.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from zetasql.api import CatalogBuilder, PreparedQueryBuilder
from zetasql.types import AnalyzerOptions, LanguageOptions, ZetaSQLBuiltinFunctionOptions

KINDS = {"g": "STRING", "y": "INT64", "s": "FLOAT64", "b": "BOOL", "d": "DATE", "m": "NUMERIC",
         "w": "FLOAT64"}  # fmt: skip
READ = ("string_value", "int64_value", "double_value")


def literal(value: object, kind: str) -> str:
    if value is None:
        return "NULL"
    text = json.dumps(value if isinstance(value, str) else repr(value), ensure_ascii=False)
    return f"CAST({text} AS {kind})"


query, rows, answer = map(Path, sys.argv[1:])
records = json.loads(rows.read_text(encoding="utf-8"))
structs = [
    f"({', '.join(literal(r[name], kind) for name, kind in KINDS.items())})" for r in records
]
fields = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
table = f"UNNEST(ARRAY<STRUCT<{fields}>>[{', '.join(structs)}])"
asked = (
    query.read_text(encoding="utf-8").strip().rstrip(";").replace("FROM people", f"FROM {table}")
)
assert table in asked
language = LanguageOptions.maximum_features()
functions = ZetaSQLBuiltinFunctionOptions(language_options=language)
prepared = (
    PreparedQueryBuilder()
    # its decimals are bytes that only its library for C++ reads
    .set_sql(f"SELECT * REPLACE (CAST(k2_number AS STRING) AS k2_number) FROM ({asked})")
    .set_analyzer_options(AnalyzerOptions(language_options=language))
    .set_catalog(CatalogBuilder("test").with_builtin_functions(functions).build())
    .prepare()
)
found = prepared.execute().content.table_data.row
with answer.open("w", newline="", encoding="utf-8") as file:
    lines = csv.writer(file)
    lines.writerow([column.name for column in prepared.columns])
    for row in found:
        values = ([getattr(cell, kind) for kind in READ] for cell in row.cell)
        lines.writerow([next((v for v in each if v is not None), "") for each in values])
