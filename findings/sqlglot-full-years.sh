#!/usr/bin/env bash
# sqlglot 30.30.0: TIMESTAMPDIFF(YEAR, born, day) of MySQL, written for DuckDB, counts turns of the year.
#
# Expected: somebody born on 31 December 1986 is 39 on 1 January 2026, as MySQL says: not yet protected from 40 on.
# Happens:  DATE_DIFF of DuckDB counts the boundaries between years, 40; DATE_SUB counts full ones.
# Seen on 30 November 2026: "30.30.0: 40, full years 39".
# fairgauge does no arithmetic with dates in a database: an age is a column (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check sqlglot==30.30.0 duckdb==2.0.1
cat > age.py <<'PY'
import duckdb
import sqlglot

query = "SELECT TIMESTAMPDIFF(YEAR, DATE '1986-12-31', DATE '2026-01-01')"
((found,),) = duckdb.sql(sqlglot.transpile(query, read="mysql", write="duckdb")[0]).fetchall()
((full,),) = duckdb.sql("SELECT date_sub('year', DATE '1986-12-31', DATE '2026-01-01')").fetchall()
print(f"{sqlglot.__version__}: {found}, full years {full}")
PY
seen=$(venv/bin/python -W ignore age.py); echo "$seen"
[ "$seen" = "30.30.0: 40, full years 39" ]
