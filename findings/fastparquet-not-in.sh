#!/usr/bin/env bash
# fastparquet 2026.9.0: the filter "not in" drops row groups whose first or last value is listed.
#
# Expected: of 80 people, 20 in department A, the 60 others; so do pyarrow and DuckDB.
# Happens:  the file's one row group has A as its smallest value and is dropped: nobody. Without B, which is neither, 40 of 40.
# Seen on 1 December 2026: "2026.9.0: without A 0 of 60, without B 40 of 40".
# fairgauge reads such files by DuckDB, and a condition keeps the same people in every frame and file (tests/unit/scan/test_behaviours_of_tools.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fastparquet==2026.9.0 pandas==3.1.1
cat > people.py <<'PY'
from importlib.metadata import version

import fastparquet
import pandas as pd

people = pd.DataFrame({"department": ["A", "B", "C", "B"] * 20, "hired": [1, 0] * 40})
fastparquet.write("people.parquet", people, stats=True)
file = fastparquet.ParquetFile("people.parquet")
seen = []
for left_out in "AB":
    kept = file.to_pandas(filters=[("department", "not in", [left_out])], row_filter=True)
    seen.append(f"without {left_out} {len(kept)} of {(people['department'] != left_out).sum()}")
print(f"{version('fastparquet')}: {', '.join(seen)}")
PY
seen=$(venv/bin/python -W ignore people.py); echo "$seen"
[ "$seen" = "2026.9.0: without A 0 of 60, without B 40 of 40" ]
