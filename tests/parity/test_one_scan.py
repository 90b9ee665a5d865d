"""Rows are read once, however many features are asked; and too many values are told early."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.io.plugins import register_io_source

import fairgauge as fg
from fairgauge.cube.plan import plan
from fairgauge.errors import DataError
from fairgauge.question.specification import ask
from fairgauge.scan import _duckdb_relation as duckdb_connection
from fairgauge.scan import open_source
from fairgauge.scan._sql import select

ASKED = {
    "label": "y", "sensitive": ["a", "b", "c", "d"], "intersections": [("a", "b"), ("c", "d")],
}  # fmt: skip
ROWS = pa.table({name: [1, 2, 3, 4] * 10 for name in "abcdy"})


def test_a_parquet_file_is_scanned_once(tmp_path):
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    source = open_source(tmp_path / "rows.parquet")
    query = select(plan(ask(**ASKED)), source.relation, source.written)
    shown = "".join(record[1] for record in duckdb_connection.run(f"EXPLAIN {query}", "plan"))
    assert shown.count("Function:") == 1  # of reading
    assert "GROUPING SETS" in query


def test_a_lazy_frame_is_scanned_once():
    rows = pl.DataFrame(pl.from_arrow(ROWS))
    scans = []

    def read(columns, predicate, n_rows, batch_size):
        scans.append(columns)
        yield rows.select(columns) if columns else rows

    lazy = register_io_source(read, schema=rows.schema)
    assert fg.count(lazy, **ASKED) == fg.count(rows, **ASKED)
    assert len(scans) == 1


@pytest.fixture(params=["parquet", "pandas", "polars", "lazy", "pyarrow", "csv"])
def late(request, tmp_path):
    """A label with too many values, but only after rows that look well."""
    labels = np.concatenate([np.ones(50_000), np.arange(20_000) / 7])
    rows = pa.table({"g": ["a"] * len(labels), "y": labels})
    if request.param == "parquet":
        pq.write_table(rows, tmp_path / "rows.parquet")
        return tmp_path / "rows.parquet"
    if request.param == "csv":
        pl.DataFrame(pl.from_arrow(rows)).write_csv(tmp_path / "rows.csv")
        return tmp_path / "rows.csv"
    frame = pl.DataFrame(pl.from_arrow(rows))
    kinds = {"pandas": rows.to_pandas, "polars": lambda: frame, "lazy": frame.lazy}
    return kinds.get(request.param, lambda: rows)()


def test_too_many_values_that_come_late(late):
    with pytest.raises(DataError, match=r"'y' \(label\) has more than 1,000 distinct values"):
        fg.count(late, label="y", sensitive="g")


def test_the_limit_can_be_raised():
    rows = pl.DataFrame({"g": [f"g{i % 3_000}" for i in range(9_000)], "y": [1, 0, 1] * 3_000})
    assert len(fg.count(rows, label="y", sensitive="g", max_groups=3_000).tables[0].codes) == 3_000
