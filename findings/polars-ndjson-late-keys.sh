#!/usr/bin/env bash
# polars 2.1.0: read_ndjson() drops a key that no line before the 101st has.
#
# Expected: a fact that is known of later people is a column, missing for the others, or an error.
# Happens:  the columns are those of the first 100 lines (infer_schema_length); the others go without a word.
# Seen on 30 November 2026: "2.1.0: columns hired".
# fairgauge reads keys wherever they begin (tests/unit/scan/test_behaviours_of_tools.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check polars==2.1.0
cat > late.py <<'PY'
import polars as pl

lines = ['{"hired": 1}'] * 150 + ['{"hired": 0, "veteran": "yes"}'] * 150
with open("people.jsonl", "w") as file:
    file.write("\n".join(lines))
print(f"{pl.__version__}: columns {', '.join(pl.read_ndjson('people.jsonl').columns)}")
PY
seen=$(venv/bin/python -W ignore late.py); echo "$seen"
[ "$seen" = "2.1.0: columns hired" ]
