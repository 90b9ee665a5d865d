#!/usr/bin/env bash
# DuckDB 1.5.6: a Parquet column of decimals of more than 38 digits is read as other numbers, without a word.
#
# Expected: the values, or an error that the type is not supported.
# Happens:  decimal256(50, 2) 1.00 and 2.50, written by pyarrow 26.0.1, are the doubles 16777216.0 and 41943040.0.
# Seen on 28 November 2026: "1.5.6: [(16777216.0, 'DOUBLE'), (41943040.0, 'DOUBLE')]"; DuckDB 2.0.0 reads 1.0 and 2.5.
# fairgauge refuses such a column where it is used (tests/unit/scan/test_parts_of_tables.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check duckdb==1.5.6 pyarrow==26.0.1
cat > read.py <<'PY'
from decimal import Decimal
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

pq.write_table(pa.table({"x": pa.array([Decimal("1.00"), Decimal("2.50")], pa.decimal256(50, 2))}), "wide.parquet")
rows = duckdb.sql("SELECT x, typeof(x) FROM 'wide.parquet'").fetchall()
print(f"{duckdb.__version__}: {rows}")
PY
seen=$(venv/bin/python read.py); echo "$seen"
[ "$seen" = "1.5.6: [(16777216.0, 'DOUBLE'), (41943040.0, 'DOUBLE')]" ]
