"""``python -m bench.protection``: how long it takes to protect and to attack 100,000 cells.

The target is less than a minute, alone and beside a table that was published before.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl

import fairgauge as fg

_ROWS = 400_000
_VALUES = {"age": 150, "area": 60, "sex": 3, "label": 2, "prediction": 2}


def main() -> None:
    """Print the seconds of either."""
    random = np.random.default_rng(0)
    rows = pl.DataFrame({name: random.integers(0, k, _ROWS) for name, k in _VALUES.items()})
    columns = ["age", "area", "sex"]
    cube = fg.count(rows, label="label", prediction="prediction", positive=1, sensitive=columns)
    start = time.perf_counter()
    safe = fg.protect(cube, min_cell=10)
    alone = time.perf_counter()
    fg.protect(cube, min_cell=10, published=[safe])
    beside = time.perf_counter()
    cells = len(safe.tables[0].codes)
    print(f"{cells:,} cells: {alone - start:.1f} s, beside another table {beside - alone:.1f} s")


if __name__ == "__main__":
    main()
