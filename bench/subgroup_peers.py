"""``python -m bench.subgroup_peers``: a search for subgroups beside SliceLine and DivExplorer.

Each searches the same table in a process of its own, down to the same size of a subgroup:
``fairgauge.find`` and SliceLine (0.3.0) conjunctions of three conditions of twelve features,
``fairgauge.find`` and DivExplorer (0.2.6) all conjunctions of six. With ``--rows 100000000``
``fairgauge.find`` alone searches a Parquet file of so many rows, and of ten features of twenty
values, whose rows it reads in batches, beside a bare scan of it. Neither peer has a guarantee,
and their packages are no dependencies: ``pip install --target DIR --no-deps sliceline divexplorer``
with DIR in PYTHONPATH. What is printed is CPU seconds and the memory above that before the search.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.large_tables import bare_scan
from bench.measure import timed

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, VALUES, LEAST = 50_000, 5, 1_000
_LONGEST = 900


def table(features: int) -> Any:
    """Draw a table with one subgroup whose rate is higher."""
    import pandas as pd

    rng = np.random.default_rng(2026)
    codes = rng.integers(0, VALUES, (ROWS, features))
    names = [f"f{i}" for i in range(features)]
    frame = pd.DataFrame(codes, columns=names).astype(str)
    planted = (codes[:, 0] == 1) & (codes[:, 1] == 2)
    return frame.assign(wrong=(rng.random(ROWS) < 0.1 + 0.1 * planted).astype(int))


def ours(frame: Any, depth: int) -> None:
    """Search with fairgauge."""
    import fairgauge as fg

    features = [name for name in frame.columns if name != "wrong"]
    found = fg.find(frame, prediction="wrong", positive=1, rate="selection_rate", worse="higher",
                    features=features, depth=depth, min_rows=LEAST)  # fmt: skip
    print(f"{found.examined:,} subgroups, {len(found.worse)} worse: {found.summary}")


def sliceline(frame: Any) -> None:
    """Search with SliceLine."""
    from sliceline.slicefinder import Slicefinder

    finder = Slicefinder(alpha=0.95, k=10, max_l=3, min_sup=LEAST, verbose=False)
    finder.fit(frame.drop(columns="wrong").to_numpy(), frame["wrong"].to_numpy())
    print(f"{len(finder.top_slices_)} slices")


def divexplorer(frame: Any) -> None:
    """Search with DivExplorer."""
    from divexplorer import DivergenceExplorer

    found = DivergenceExplorer(frame).get_pattern_divergence(
        min_support=LEAST / ROWS, boolean_outcomes=["wrong"]
    )
    print(f"{len(found):,} subgroups, {(found['wrong_t'] > 1.96).sum():,} with |t| > 1.96")


def write_parquet(rows: int, path: str) -> None:
    """Write rows of ten features of twenty values, with one subgroup whose rate is higher."""
    values = ", ".join(f"'v' || hash(i * 16 + {k}) % 20 AS f{k}" for k in range(10))
    planted = "f0 = 'v3' AND f1 = 'v4' AND hash(i * 16 + 11) % 10 = 0"
    wrong = f"CAST(hash(i * 16 + 12) % 10 = 0 OR ({planted}) AS INTEGER)"
    query = (
        f"COPY (SELECT * EXCLUDE (i), {wrong} AS wrong "
        f"FROM (SELECT i, {values} FROM range({rows}) AS r(i))) TO '{path}'"
    )
    # in a process of its own, whose memory is not that of the search
    subprocess.run([sys.executable, "-c", f"import duckdb; duckdb.sql({query!r})"], check=True)


def of_parquet(path: str) -> None:
    """Search the rows of a file."""
    import fairgauge as fg

    found = fg.find(path, prediction="wrong", positive=1, rate="selection_rate", worse="higher",
                    features=[f"f{i}" for i in range(10)])  # fmt: skip
    print(f"{found.examined:,} subgroups, {len(found.worse)} worse: {found.summary}")


def _runs() -> dict[str, tuple[int, Callable[[Any], None]]]:
    return {
        "fairgauge, depth 3": (12, partial(ours, depth=3)),
        "sliceline, depth 3": (12, sliceline),
        "fairgauge, any depth": (6, partial(ours, depth=6)),
        "divexplorer, any depth": (6, divexplorer),
    }


def main() -> None:
    """Run all, each in a fresh process, or one of them here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one")
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    if asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/rows.parquet"
            write_parquet(asked.rows, path)
            bare = bare_scan(Path(path))
            spent = timed(partial(of_parquet, path))
        memory, scans = spent["memory"] / 2**20, spent["cpu"] / bare
        print(f"{spent['cpu']:.1f} s ({scans:.1f} bare scans of {bare:.1f} s), {memory:,.0f} MiB")
        print(f"{spent['wall']:.0f} s by the clock, at a load of {os.getloadavg()[0]:.0f}")
        return
    if asked.one:
        features, search = _runs()[asked.one]
        frame = table(features)
        print(json.dumps(timed(partial(search, frame))))
        return
    for name in _runs():
        command = [sys.executable, "-m", "bench.subgroup_peers", "--one", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            print(f"{name}: not done in {_LONGEST} seconds")
            continue
        *found, cost = done.stdout.splitlines() or ["", "null"]
        measured = json.loads(cost)
        if measured is None:
            print(f"{name}: {done.stderr.splitlines()[-1]}")
            continue
        memory = measured["memory"] / 2**20
        print(f"{name}: {measured['cpu']:.1f} s, {memory:,.0f} MiB; {' '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
