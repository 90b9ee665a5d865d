#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse): NOT IN with a NULL in its list keeps people whom every other SQL database leaves out.
#
# Expected: SQL's rule: what is not known to differ from NULL is not kept: 0 of 4, as in DuckDB 2.0.1 and SQLite.
# Happens:  3 of 4, in a list and in a subquery: one query in two warehouses is of other people.
# Seen on 1 December 2026: "chdb 4.4.0 3 and 3; duckdb 2.0.1 0 and 0; sqlite 0 and 0"
# fairgauge's conditions keep the same people in every engine (tests/parity).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check chdb==4.4.0 duckdb==2.0.1
cat > kept.py <<'PY'
import sqlite3

import chdb
import duckdb

people = "(SELECT 1 AS reason UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) AS people"
queries = [f"SELECT count(*) FROM {people} WHERE reason NOT IN ({left_out})" for left_out in ("1, NULL", "SELECT 1 UNION ALL SELECT NULL")]
engines = {
    f"chdb {chdb.__version__}": lambda query: str(chdb.query(query, "CSV")).strip(),
    f"duckdb {duckdb.__version__}": lambda query: duckdb.connect().execute(query).fetchone()[0],
    "sqlite": lambda query: sqlite3.connect(":memory:").execute(query).fetchone()[0],
}
print("; ".join(f"{name} {' and '.join(str(engine(query)) for query in queries)}" for name, engine in engines.items()))
PY
seen=$(venv/bin/python -W ignore kept.py); echo "$seen"
[ "$seen" = "chdb 4.4.0 3 and 3; duckdb 2.0.1 0 and 0; sqlite 0 and 0" ]
