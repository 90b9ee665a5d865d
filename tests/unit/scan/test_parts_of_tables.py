"""Several files are one table: whatever types and names its parts have, the same rows count."""

from __future__ import annotations

import random
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import fairgauge as fg
from fairgauge.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

DRAWN = random.Random(8)
ROWS = pa.table({
    "g": [DRAWN.choice("ab") for _ in range(600)], "y": [DRAWN.choice([0, 1]) for _ in range(600)],
    "s": [DRAWN.choice([0.1, 0.3, 0.7, 0.7, 0.9, 4.25, 100.5, None]) for _ in range(600)],
})  # fmt: skip
ASKED = {
    "threshold": {"label": "y", "prediction": "s", "positive": ">0.69", "sensitive": "g"},
    "group": {"label": "y", "sensitive": "s"},
    "closed": {"label": "y", "sensitive": {"column": "s", "cuts": [0.1, 0.7], "closed": "left"}},
}  # fmt: skip
SIZES = {
    "half": pa.float16(), "single": pa.float32(), "double": pa.float64(),
    "decimal": pa.decimal128(9, 3),
}  # fmt: skip


def write_parts(folder: Path, suffix: str, kinds: list[str]) -> list[Path]:
    """Write a third of the rows into each file, with the scores of another type."""
    paths = []
    for i, kind in enumerate(kinds):
        part = ROWS.slice(i * 200, 200)
        narrow = part["s"].cast(pa.float32()) if kind == "half" else part["s"]
        part = part.set_column(2, "s", narrow.cast(SIZES[kind]))
        paths.append(folder / f"part-{i}.{suffix}")
        (feather.write_feather if suffix == "arrow" else pq.write_table)(part, str(paths[-1]))
    return paths


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "kinds",
    [
        ("single", "double", "single"),
        ("half", "single", "double"),
        ("half",) * 3,
        ("single",) * 3,
        ("decimal",) * 3,
        ("decimal", "single", "double"),
    ],
)
def test_floats_of_every_part_are_the_decimals_that_they_stand_for(tmp_path, suffix, kinds, asked):
    paths = write_parts(tmp_path, suffix, list(kinds))
    whole = fg.count(ROWS, **asked)
    given: list[Any] = [paths, str(tmp_path / "*"), *([tmp_path] if suffix == "parquet" else [])]
    assert [fg.count(each, **asked).digest for each in given] == [whole.digest] * len(given)


def test_floats_of_parts_without_pyarrow(tmp_path, monkeypatch):
    paths = write_parts(tmp_path, "arrow", ["single", "double", "single"])
    whole = [fg.count(ROWS, **asked) for asked in ASKED.values()]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert [fg.count(paths, **asked) for asked in ASKED.values()] == whole


@pytest.mark.parametrize("asked", [
    {"sensitive": "d"}, {"sensitive": {"column": "d", "cuts": [2]}}, {"weight": "d"},
    {"where": "d > 2"}, {"cluster": "d"},
])  # fmt: skip
def test_decimals_of_too_many_digits_are_refused_where_they_are_used(tmp_path, asked):
    """DuckDB 1.5 reads 1.00 of decimal256(50, 2) as 16777216."""
    wide = pa.array([Decimal("1.00"), Decimal("2.50"), None], pa.decimal256(50, 2))
    rows = pa.table({"g": ["a", "b", "b"], "y": [1, 0, 1], "d": wide})
    pq.write_table(rows, tmp_path / "a.parquet")
    pq.write_table(rows.set_column(2, "d", rows["d"].cast(pa.float64())), tmp_path / "b.parquet")
    for data in (tmp_path / "a.parquet", tmp_path):
        with pytest.raises(DataError, match=r"column 'd' .*DECIMAL\(50\).*make it a decimal of"):
            fg.count(data, **({"label": "y", "sensitive": "g"} | asked))
    assert fg.count(tmp_path, label="y", sensitive="g").rows == 6
    assert fg.count(rows, label="y", sensitive="d").rows == 3


@pytest.mark.parametrize("name", ["NULL", "__HIVE_DEFAULT_PARTITION__"])
def test_partitions_without_a_value(tmp_path, name):
    rows = pa.table({"g": ["a", "b", None] * 4, "y": [1, 0, 1, 1] * 3})
    for value in ("a", "b", None):
        folder = tmp_path / f"g={name if value is None else value}"
        folder.mkdir()
        part = rows.filter([each == value for each in rows["g"].to_pylist()])
        pq.write_table(part.drop(["g"]), folder / "0.parquet")
    whole = fg.count(rows, label="y", sensitive="g")
    assert fg.count(tmp_path, label="y", sensitive="g") == whole
    if name != "NULL":  # which is a text to pyarrow
        read = [pq.read_table(tmp_path), ds.dataset(tmp_path, partitioning="hive").to_table()]
        read += [pl.scan_parquet(tmp_path, hive_partitioning=True)]
        for each in read:
            assert fg.count(each, label="y", sensitive="g") == whole
