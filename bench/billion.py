"""``python -m bench.billion``: a billion rows in 100 Parquet files, counted beside a bare scan.

Three features, their intersection, a score in bins and a weight: CPU and wall seconds, and memory,
each in a process of its own. The files hold 10 million rows each; four differ, the others are hard
links of them, so that the disk holds 40 million rows and all files are read in full. ``--spark``
adds Spark's own query of the same counts; ``--shards`` counts every file apart and adds the cubes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from bench.data import DATA, ROWS
from bench.measure import Cost, fresh, timed

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED: dict[str, Any] = {
    "label": "label", "score": "score", "threshold": 0.5, "positive": 1, "weight": "weight",
    "sensitive": ["race", "sex", {"column": "age", "cuts": [30, 60]}],
    "intersections": [("race", "sex", "age")],
}  # fmt: skip
_COLUMNS = ("race", "sex", "age", "label", "score", "weight")
_DISTINCT = 4


def folder_of(files: int, rows: int) -> Path:
    """Return a folder of so many files of so many rows, made if it is not there yet."""
    folder = DATA / f"billion-{files}-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(files):
        path = folder / f"part-{i:03d}.parquet"
        if path.exists():
            continue
        if i < _DISTINCT:
            rows_of = ROWS.format(seed=2026 + i, rows=rows)
            unfinished = path.with_suffix(".unfinished")
            duckdb.sql(f"COPY ({rows_of}) TO '{unfinished}' (FORMAT parquet)")
            unfinished.replace(path)
        else:
            os.link(folder / f"part-{i % _DISTINCT:03d}.parquet", path)
    return folder


def bare(folder: Path) -> Callable[[], object]:
    """Read the columns and no more."""
    asked = ", ".join(f"min({c}), max({c})" for c in _COLUMNS)
    return lambda: duckdb.sql(f"SELECT {asked} FROM '{folder}/*.parquet'").fetchall()


def counted(folder: Path) -> Callable[[], object]:
    """Count all files as one table."""
    import fairgauge as fg

    return lambda: fg.count(f"{folder}/*.parquet", **ASKED)


def shards(folder: Path) -> Callable[[], object]:
    """Count every file apart, and add the cubes up."""
    import fairgauge as fg

    def added() -> object:
        cubes = [fg.count(path, **ASKED) for path in sorted(folder.glob("*.parquet"))]
        total = cubes[0]
        for cube in cubes[1:]:
            total = total.add(cube, allow_duplicates=True)
        return total

    return added


def spark(folder: Path) -> Callable[[], object]:
    """Count by Spark, in two threads, what fairgauge counts there."""
    from pyspark.sql import SparkSession

    import fairgauge as fg

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    frame = session.config("spark.driver.memory", "4g").getOrCreate().read.parquet(str(folder))
    return lambda: fg.count(frame, **ASKED)


WAYS = {"bare": bare, "counted": counted, "shards": shards, "spark": spark}


def measured(way: str, folder: Path) -> Cost:
    """Return what a way costs in a process of its own; of Spark's JVM the wall time alone."""
    return fresh([sys.executable, "-m", "bench.billion", "--way", way, "--folder", str(folder)])


def main() -> None:
    """Make the files, and print what each way costs beside a bare scan."""
    parser = argparse.ArgumentParser(prog="python -m bench.billion", description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of each file")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--shards", action="store_true")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(timed(WAYS[given.way](given.folder))))
        return
    for files in sorted({1, given.files}):
        folder = folder_of(files, given.rows)
        print(f"{files * given.rows:,} rows in {files} files")
        least = measured("bare", folder)
        more = [way for way in ("shards", "spark") if getattr(given, way)]
        for way, cost in [("bare", least), *((w, measured(w, folder)) for w in ("counted", *more))]:
            ratio = "" if way == "spark" else f", {cost.cpu / least.cpu:.2f} bare scans"
            print(f"  {way}: CPU {cost.cpu:.1f} s{ratio}, wall {cost.wall:.1f} s, "
                  f"{cost.memory / 2**20:.0f} MiB")  # fmt: skip


if __name__ == "__main__":
    main()
