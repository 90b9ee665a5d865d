#!/usr/bin/env bash
# ibis 12.0.0 with sqlglot 30.18 and later: create_table from a frame fails, in DuckDB and SQLite, though ibis allows every such sqlglot.
#
# Expected: a table of two rows, as with sqlglot 30.17.
# Happens:  ibis builds Drop(this="name") with a text where sqlglot now writes expressions alone: the statement ends after "IF EXISTS".
# Seen on 28 November 2026: "30.17.0: 2 rows" and "30.30.0: OperationalError: incomplete input"
# fairgauge's extra sql installs sqlglot below 30.18.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; pip() { venv/bin/pip install --quiet --disable-pip-version-check "$@"; }
cat > create.py <<'PY'
import ibis
import polars as pl
import sqlglot

connection = ibis.sqlite.connect()
try:
    rows = connection.create_table("kept", pl.DataFrame({"x": [1, 2]})).count().execute()
    print(f"{sqlglot.__version__}: {rows} rows")
except Exception as error:
    print(f"{sqlglot.__version__}: {type(error).__name__}: {error}")
PY
pip "ibis-framework[sqlite]==12.0.0" polars==2.1.0 sqlglot==30.17.0; before=$(venv/bin/python create.py); echo "$before"
pip sqlglot==30.30.0; after=$(venv/bin/python create.py); echo "$after"
[ "$before" = "30.17.0: 2 rows" ] && [ "$after" = "30.30.0: OperationalError: incomplete input" ]
