"""``python -m bench.large_tables``: swapped names, and gaps with controls, of many rows.

Each is printed in CPU seconds, beside a bare scan of the same columns of the same Parquet file.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl

import fairgauge as fg

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED: dict[str, Any] = {
    "item": "item", "variant": "name", "sensitive": "group", "score": "score", "model": "model",
}  # fmt: skip
CONTROLS: tuple[Any, ...] = ("product", "branch", "purpose", fg.cut("income", "quantiles"))
LENDING: dict[str, Any] = {"prediction": "approved", "positive": 1, "sensitive": "race",
                           "reference": {"race": "r0"}}  # fmt: skip


def answers(rows: int, path: Path) -> None:
    """Write answers of 10 models to 1,000 items under 50 names."""
    at = np.arange(rows)
    name, item, model = at % 50, at // 50 % 1_000, at // 50_000 % 10
    score = np.random.default_rng(0).normal(5, 1, rows).round(1)
    group = np.array(["a", "b", "c", "edit"])[name % 4]
    table = {"model": model, "item": item, "name": name}
    texts = [pl.Series(key, codes).cast(pl.String) for key, codes in table.items()]
    pl.DataFrame([*texts, pl.Series("group", group), pl.Series("score", score)]).write_parquet(path)


def loans(rows: int, path: Path) -> None:
    """Write decisions with three controls that are categories, and two that are numbers.

    One has few values, the other one of each row.
    """
    rng = np.random.default_rng(0)
    income = rng.lognormal(4, 0.5, rows).round(1)
    race, product, branch, purpose = (rng.integers(0, k, rows) for k in (3, 4, 20, 5))
    chance = np.clip(0.3 + 0.004 * income - 0.04 * (race == 1), 0, 1)
    codes = {"race": race, "product": product, "branch": branch, "purpose": purpose}
    texts = {
        key: pl.Series([f"{key[0]}{i}" for i in range(20)])[each] for key, each in codes.items()
    }
    approved = (rng.random(rows) < chance).astype(np.int64)
    numbers = {"income": income, "ratio": rng.normal(38, 8, rows)}
    pl.DataFrame({**texts, **numbers, "approved": approved}).write_parquet(path)


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def bare_scan(path: Path) -> float:
    """Return the CPU seconds of reading all columns."""
    columns = ", ".join(f'min("{c}"), max("{c}")' for c in pl.read_parquet_schema(path))
    return seconds(duckdb.sql(f"SELECT {columns} FROM '{path}'").fetchall)


def main() -> None:
    """Write the tables, and print what their audits cost."""
    parser = argparse.ArgumentParser(prog="python -m bench.large_tables", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with TemporaryDirectory() as folder:
        small, path = Path(folder) / "small.parquet", Path(folder) / "answers.parquet"
        answers(100_000, small)
        fg.pairs(str(small), **ASKED)  # imports, and the first connection
        answers(rows, path)
        bare = bare_scan(path)
        print(f"{rows:,} answers: a bare scan {bare:.2f} s")
        counted = seconds(lambda: fg.count(str(path), **ASKED))
        print(f"  counted {counted:.2f} s ({counted / bare:.1f} bare scans)")
        counts = fg.count(str(path), **ASKED)
        judged = seconds(lambda: fg.pairs(counts, placebo="edit"))
        print(f"  10 models judged from the counts {judged:.2f} s")
        path = Path(folder) / "loans.parquet"
        loans(rows, path)
        bare = bare_scan(path)
        print(f"{rows:,} loans: a bare scan {bare:.2f} s")
        whole = seconds(lambda: fg.why(str(path), **LENDING, strata=list(CONTROLS)))
        print(f"  why, 4 controls, one a number {whole:.2f} s ({whole / bare:.1f} bare scans)")
        many = ["branch", fg.cut("ratio", "quantiles")]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        read = seconds(lambda: fg.why(str(path), **LENDING, strata=many))
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"  why, a number of {rows:,} values {read:.2f} s, {more:.0f} MB more than before")
        cut = [*CONTROLS[:3], fg.cut("income", [30, 40, 50, 60, 80, 100])]
        cube = fg.count(str(path), **LENDING, strata=cut)
        print(f"  why from their counts {seconds(lambda: fg.why(cube)):.2f} s")


if __name__ == "__main__":
    main()
