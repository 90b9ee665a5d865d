"""One digest and one report for every engine; FAIRGAUGE_ROWS=200000 asks it of many rows."""

from __future__ import annotations

import datetime as dt
import os
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

import engines
import numpy as np
import pyarrow as pa
import pytest

import fairgauge as fg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.cube.cube import Cube

ROWS = int(os.environ.get("FAIRGAUGE_ROWS", "2000"))
METRICS = ["selection_rate", "calibration_gap", "brier_score", "roc_auc", "mean_score", "score_smd"]

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


def numbers(value: object, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a document, each with where it is."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from numbers(each, f"{path}.{key}")
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from numbers(each, f"{path}[{i}]")
    elif isinstance(value, (int, float)):
        yield path, value


def estimates(cube: Cube) -> dict[str, float]:
    return dict(numbers(fg.audit(cube, metrics=METRICS).to_dict()["estimates"]))


@cache
def expected(rows: int) -> tuple[str, dict[str, float]]:
    cube = fg.count(table(rows), **ASKED)
    return cube.digest, estimates(cube)


def check(cube: Cube) -> None:
    digest, wanted = expected(ROWS)
    assert cube.digest == digest
    found = estimates(cube)
    assert len(found) > 1_000
    assert found == pytest.approx(wanted, rel=1e-9, abs=0)


def test_one_digest_and_one_report_of_many_rows(typed):
    check(fg.count(typed(table(ROWS)), **ASKED))


@pytest.fixture(scope="module")
def mariadb():
    with engines.mariadb_server() as server:
        server.table("people", table(ROWS))
        yield f"mysql://root@127.0.0.1:{server.port}/test"


@pytest.mark.parametrize("rows", ["people", "SELECT * FROM people"])
def test_mariadb_counts_the_same(mariadb, rows, tmp_path):
    made = tmp_path / "a.cube.json"
    engines.by_library_of_mysql("mysql_counts.py", mariadb, rows, ASKED, made)
    check(fg.load(made))
