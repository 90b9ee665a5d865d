"""Seeded data for every size, kept under bench/data: people, their labels, decisions and scores."""

from __future__ import annotations

from pathlib import Path

import duckdb

DATA = Path(__file__).parent / "data"
ROWS = """
SELECT ['White', 'Black', 'Asian', 'Hispanic', 'Other'][1 + h % 5] AS race,
       ['Female', 'Male'][1 + (h // 5) % 2] AS sex,
       CAST(18 + (h // 10) % 70 AS INTEGER) AS age,
       CAST((h // 700) % 100 < 40 + h % 5 * 2 AS INTEGER) AS label,
       CAST((h // 70000) % 100 < 45 + h % 5 * 3 AS INTEGER) AS prediction,
       ((h // 7000000) % 1000003) / 1000003.0::DOUBLE AS score,
       0.5 + ((h // 7000) % 100) / 100.0::DOUBLE AS weight
FROM (SELECT CAST(hash(i + {seed}) >> 1 AS BIGINT) AS h FROM range({rows}) AS t(i))
"""


def rows_file(rows: int, suffix: str = ".parquet") -> Path:
    """Return a file of so many rows, made if it is not there yet."""
    DATA.mkdir(exist_ok=True)
    path = DATA / f"people-{rows}{suffix}"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        duckdb.sql(f"COPY ({ROWS.format(seed=2026, rows=rows)}) TO '{unfinished}'")
        unfinished.replace(path)
    return path
