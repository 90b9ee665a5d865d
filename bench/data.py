"""Seeded data for every size, kept under bench/data: people, their labels, decisions and scores.

And a wide table: a group, four controls, and ten features of twenty values each.
"""

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

CONTROLS = {"dept": 10, "region": 5, "grade": 4, "shift": 2}
TENS = [f"f{i}" for i in range(10)]
_TENS = ", ".join(f"CAST((g // {20**i}) % 20 AS VARCHAR) AS {f}" for i, f in enumerate(TENS))
_CONTROLS = ", ".join(
    f"'{name}' || ((h // {5 * 10**i}) % {values}) AS {name}"
    for i, (name, values) in enumerate(CONTROLS.items())
)
WIDE = f"""
SELECT chr(CAST(65 + h % 5 AS INTEGER)) AS race, {_CONTROLS},
       {_TENS},
       CAST((h // 1000000) % 100 < 50 AS INTEGER) AS label,
       CAST((h // 100000000) % 100 < 40 + (h % 5) * ((h // 5) % 10) / 4 AS INTEGER) AS prediction
FROM (SELECT CAST(hash(i + {{seed}}) >> 1 AS BIGINT) AS h,
             CAST(hash(i + {{seed}} + 1000000007) >> 1 AS BIGINT) AS g
      FROM range({{rows}}) AS t(i))
"""


def rows_file(rows: int, suffix: str = ".parquet", *, wide: bool = False) -> Path:
    """Return a file of so many rows, made if it is not there yet."""
    DATA.mkdir(exist_ok=True)
    path = DATA / f"{'wide' if wide else 'people'}-{rows}{suffix}"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        query = (WIDE if wide else ROWS).format(seed=2026, rows=rows)
        if suffix == ".arrow":
            from pyarrow.feather import write_feather

            write_feather(duckdb.sql(query).to_arrow_table(), unfinished, "uncompressed")
        else:
            duckdb.sql(f"COPY ({query}) TO '{unfinished}'")
        unfinished.replace(path)
    return path
