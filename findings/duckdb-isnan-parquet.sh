#!/usr/bin/env bash
# DuckDB 2.0.1: isnan() and comparisons find no NaN in a Parquet column whose statistics leave NaN out, as the format asks.
#
# Expected: isnan(x) is true of the NaN in 0.2, NaN, 0.7, x > 1 too (DuckDB sorts NaN above all numbers), and WHERE isnan(x) keeps one row.
# Happens:  the optimiser reads "0.2 to 0.7" in the statistics that pyarrow 26.0.1 wrote, and takes every such condition for false; isfinite(x) alone is right.
# Seen on 28 November 2026: "2.0.1: of [0.2, nan, 0.7] isnan [False, False, False], above 1 [False, False, False], isfinite [True, False, True], kept 0"; with 1.5.6 isnan finds the one.
# fairgauge asks isfinite (tests/parity/test_probability_engines.py::test_nan_is_missing_in_every_engine).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.1 pyarrow==26.0.1
cat > read.py <<'PY'
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

pq.write_table(pa.table({"x": [0.2, float("nan"), 0.7]}), "rows.parquet")
query = """SELECT list(x), list(isnan(x)), list(x > 1), list(isfinite(x)), (SELECT count(*) FROM 'rows.parquet' WHERE isnan(x))
           FROM 'rows.parquet'"""
[(values, nan, above, finite, kept)] = duckdb.connect().execute(query).fetchall()
print(f"{duckdb.__version__}: of {values} isnan {nan}, above 1 {above}, isfinite {finite}, kept {kept}")
PY
seen=$(venv/bin/python read.py); echo "$seen"
[ "$seen" = "2.0.1: of [0.2, nan, 0.7] isnan [False, False, False], above 1 [False, False, False], isfinite [True, False, True], kept 0" ]
