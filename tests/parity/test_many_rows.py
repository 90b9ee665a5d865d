"""One digest for every engine and kind of value; FAIRGAUGE_ROWS=200000 asks it of many rows."""

from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa

import fairgauge as fg

ASKED = {
    "label": "y", "score": "s", "threshold": 0.5, "weight": "w", "strata": ["d"],
    "sensitive": ["g", "m", {"column": "s", "cuts": [0.25, 0.75]}],
    "intersections": [["g", "at"]],
}  # fmt: skip


@cache
def table(rows: int) -> pa.Table:
    """Make texts, decimals, NaN, nulls, dates, moments in a time zone, weights, scores, strata."""
    rng = np.random.default_rng(11)

    def some(values: list[object]) -> list[object]:
        return [values[i] for i in rng.integers(0, len(values), rows)]

    tokyo = dt.timezone(dt.timedelta(hours=9))
    moments = [dt.datetime(2026, 3, 1, hour, 30, tzinfo=tokyo) for hour in (0, 9, 23)]
    scores = rng.random(rows).tolist()
    return pa.table({
        "g": some(["a", "A", "a ", "ü", "01", "it's", None]),
        "y": some([0, 1, 1, None]),
        "s": [None if i % 7 == 0 else float("nan") if i % 11 == 0 else scores[i]
              for i in range(rows)],
        "d": some([dt.date(2026, 1, 31), dt.date(1999, 12, 1), None]),
        "m": pa.array(some([Decimal("1.50"), Decimal("-2.25"), None]), pa.decimal128(9, 2)),
        "at": pa.array(some([*moments, None]), pa.timestamp("us", "Asia/Tokyo")),
        "w": rng.random(rows).tolist(),
    })  # fmt: skip


def test_one_digest_of_many_rows(typed):
    rows = table(int(os.environ.get("FAIRGAUGE_ROWS", "2000")))
    assert fg.count(typed(rows), **ASKED).digest == fg.count(rows, **ASKED).digest
