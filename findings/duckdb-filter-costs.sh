#!/usr/bin/env bash
# DuckDB 2.0.1: a hundred count(*) FILTER (WHERE c) in one scan take many times the CPU of a hundred count_if(c), for the same numbers.
#
# Expected: one cost for two ways to write one count.
# Happens:  a FILTER selects the rows of each condition anew; a hundred groups, thresholds or rules make the scan 7 to 24 times as long.
# Seen on 1 December 2026: "2.0.1: 100 equal counts; FILTER costs more than 3 times as much" (20.6, 23.5 and 17.4 times)
# fairgauge counts by count_if where an engine has it (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.1
cat > counts.py <<'PY'
import time

import duckdb

database = duckdb.connect()
database.execute("SET threads = 1")
database.execute("CREATE TABLE people AS SELECT i % 1000 AS score FROM range(1000000) AS r(i)")


def counted(count: str) -> tuple[float, tuple]:
    columns = ", ".join(count.format(f"score >= {10 * step}") for step in range(100))
    start = time.process_time()
    counts = database.execute(f"SELECT {columns} FROM people").fetchone()
    return time.process_time() - start, counts


filtered, counts = min(counted("count(*) FILTER (WHERE {})") for _ in range(3))
conditional, same = min(counted("count_if({})") for _ in range(3))
equal = sum(a == b for a, b in zip(counts, same, strict=True))
costs = "more than" if filtered > 3 * conditional else "at most"
print(f"{duckdb.__version__}: {equal} equal counts; FILTER costs {costs} 3 times as much")
PY
seen=$(venv/bin/python -W ignore counts.py); echo "$seen"
[ "$seen" = "2.0.1: 100 equal counts; FILTER costs more than 3 times as much" ]
