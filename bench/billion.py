"""``python -m bench.billion``: a billion rows in 100 Parquet files, counted beside a bare scan.

The files hold 10 million rows each; four differ, the others are hard links of them, so that the
disk holds 40 million rows and all files are read in full. Every file is also counted apart, and the
cubes are added.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import duckdb

from bench.data import DATA, ROWS
from bench.measure import Cost, ours
from bench.page import Line, Section, shown

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


def measured(work: str, folder: Path, times: int = 1) -> Cost:
    """Return what a work costs in a process of its own, the least of several times."""
    return min((ours(work, folder) for _ in range(times)), key=lambda cost: cost.cpu)


def section(files: int = 100, rows: int = 10_000_000) -> Section:
    """Measure one file and so many, and each way beside a bare scan of the same files."""
    lines: list[Line] = []
    for many in sorted({1, files}):
        folder = folder_of(many, rows)
        times = 5 if many == 1 else 1  # a single one is soon disturbed
        least = measured("bare_folder", folder, times)

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
        add("counted", measured("count_folder", folder, times))
        if many > 1:
            add("shards counted apart, and added up", measured("add_shards", folder))
    return Section("A score in fine bins: three features, their intersection, a weight", lines)


def main() -> None:
    """Make the files, and print what each way costs beside a bare scan."""
    parser = argparse.ArgumentParser(prog="python -m bench.billion", description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of each file")
    given = parser.parse_args()
    print(shown(section(given.files, given.rows)))


if __name__ == "__main__":
    main()
