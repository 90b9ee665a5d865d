#!/usr/bin/env bash
# ibis 12.0.0: one cast of an age to whole years rounds in DuckDB and cuts in SQLite and polars.
#
# Expected: one expression has one answer: 39.5 years are 39, as a birthday that is to come.
# Happens:  each engine's own rule: of ages 17.6 and 39.5, two people are adults of 40 or more in DuckDB alone.
# Seen on 1 December 2026: "12.0.0: duckdb 18 40, sqlite 17 39, polars 17 39"
# fairgauge's bands have ends, and casts nothing (tests/parity).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check "ibis-framework[duckdb,sqlite,polars]==12.0.0" "sqlglot<30.18"
cat > ages.py <<'PY'
import ibis
import polars as pl

ages = ibis.memtable(pl.DataFrame({"age": [17.6, 39.5]})).age.cast("int64")
years = (f"{name} {' '.join(str(age) for age in getattr(ibis, name).connect().execute(ages))}" for name in ("duckdb", "sqlite", "polars"))
print(f"{ibis.__version__}: {', '.join(years)}")
PY
seen=$(venv/bin/python -W ignore ages.py); echo "$seen"
[ "$seen" = "12.0.0: duckdb 18 40, sqlite 17 39, polars 17 39" ]
