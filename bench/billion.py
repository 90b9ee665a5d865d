"""``python -m bench.billion``: a billion rows in 100 Parquet files, counted beside a bare scan.

Three features, their intersection, a score in bins and a weight: CPU and wall seconds, and memory,
each in a process of its own. The files hold 10 million rows each; four differ, the others are hard
links of them, so that the disk holds 40 million rows and all files are read in full. Every file
is also counted apart, and the cubes are added.
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
from bench.page import Line, Section, shown

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


def bare(folder: str) -> Callable[[], object]:
    """Read the columns and no more."""
    asked = ", ".join(f"min({c}), max({c})" for c in _COLUMNS)
    # DuckDB answers from the statistics of the files alone, unless rows may be left out: none is
    every = f"'{folder}/*.parquet' WHERE weight <> 0.70003"
    return lambda: duckdb.sql(f"SELECT {asked} FROM {every}").fetchall()


def counted(folder: str) -> Callable[[], object]:
    """Count all files as one table."""
    count = _count()
    return lambda: count(f"{folder}/*.parquet", **ASKED)


def shards(folder: str) -> Callable[[], object]:
    """Count every file apart, and add the cubes up."""
    count = _count()

    def added() -> object:
        first, *others = sorted(Path(folder).glob("*.parquet"))
        total = count(first, **ASKED)
        for path in others:
            total = total.add(count(path, **ASKED), allow_duplicates=True)
        return total

    return added


def _count() -> Callable[..., Any]:
    """Import what counting needs, which is not measured."""
    import fairgauge as fg

    fg.count({"label": [0, 1], "score": [0.25, 0.75], "weight": [1.0, 2.0], "race": ["a", "b"],
              "sex": ["a", "b"], "age": [20, 40]}, **ASKED)  # fmt: skip
    return fg.count


WAYS = {"bare": bare, "counted": counted, "shards": shards}


def stated(found: Any) -> str:
    """Return how many bytes of files were read, and the digest of what was counted."""
    digest = f", {found.digest[:15]}" if hasattr(found, "digest") else ""
    lines = Path("/proc/self/io").read_text().splitlines()
    read = next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
    return f"{read / 1e6:,.0f} MB read{digest}"


def measured(way: str, folder: str | Path, times: int = 1) -> Cost:
    """Return what a way costs in a process of its own, the least of several times."""
    command = [sys.executable, "-m", "bench.billion", "--way", way, "--folder", str(folder)]
    return min((fresh(command) for _ in range(times)), key=lambda cost: cost.cpu)


def section(files: int = 100, rows: int = 10_000_000) -> Section:
    """Measure one file and so many, and each way beside a bare scan of the same files."""
    lines: list[Line] = []
    for many in sorted({1, files}):
        folder = folder_of(many, rows)
        times = 5 if many == 1 else 1  # a single one is soon disturbed
        least = measured("bare", folder, times)

        def add(
            what: str, cost: Cost, least: Cost = least, asked: str = f"{many * rows:,} rows"
        ) -> None:
            ratio = cost.cpu / least.cpu
            target = "at most 1.25 bare scans" if what == "counted" else ""
            text = f"{ratio:.2f} bare scans, {cost.answer}"
            line = Line(f"{asked}: {what}", cost, value=text, target=target,
                        met=ratio <= 1.25)  # fmt: skip
            lines.append(line)
            print("  ".join(line.cells()), flush=True)

        add("a bare scan of the columns", least)
        add("counted", measured("counted", folder, times))
        if many > 1:
            add("shards counted apart, and added up", measured("shards", folder))
    return Section("A score in fine bins: three features, their intersection, a weight", lines)


def main() -> None:
    """Make the files, and print what each way costs beside a bare scan."""
    parser = argparse.ArgumentParser(prog="python -m bench.billion", description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of each file")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(timed(WAYS[given.way](given.folder), stated)))
        return
    print(shown(section(given.files, given.rows)))


if __name__ == "__main__":
    main()
