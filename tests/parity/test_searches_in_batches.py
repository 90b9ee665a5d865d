"""Searches of rows that every engine reads in batches, against those of counts of all features."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.parity import conftest as kinds

import fairgauge as fg
from fairgauge.api import searching

ROWS = 1_500
FEATURES = ["sex", "town", fg.cut("age", [30, 60]), "day"]
ASKED = {"prediction": "p", "metrics": "false_positive_rate"}


def people() -> pa.Table:
    """Rows with features of all kinds and gaps in each, and one subgroup that is worse."""
    rng = np.random.default_rng(1)
    sex, age = rng.choice(["F", "M"], ROWS), rng.integers(18, 90, ROWS).astype(float)
    s = rng.beta(2, 3, ROWS).round(4)
    worse = (sex == "F") & (age > 60)
    columns = {
        "sex": pa.array(sex, mask=rng.random(ROWS) < 0.03),
        "town": pa.array([f"t{each}" for each in rng.integers(0, 9, ROWS)]),
        "age": pa.array(age, mask=rng.random(ROWS) < 0.03),
        "day": pa.array(rng.integers(0, 3, ROWS).astype("datetime64[D]")),
        "s": pa.array(s, mask=rng.random(ROWS) < 0.03),
        "p": pa.array((rng.random(ROWS) < 0.15 + 0.4 * worse).astype(int)),
        "y": pa.array((rng.random(ROWS) < np.where(worse, 0.5, s)).astype(int)),
    }
    return pa.table(columns)


def duckdb_address(table, folder):
    with duckdb.connect(folder / "rows.duckdb") as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS FROM given")
    return fg.sql(f"duckdb:///{folder}/rows.duckdb", "people")


def leaves(value):
    """Return all numbers of a result, and all else, but for what names this one result."""
    if isinstance(value, dict):
        kept = sorted(value.keys() - {"created", "fingerprint", "data"})
        return [*kept, *(leaf for name in kept for leaf in leaves(value[name]))]
    return [leaf for each in value for leaf in leaves(each)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "kind",
    [
        kinds.pandas_default, kinds.pandas_categorical, kinds.polars_frame,
        kinds.polars_categorical, kinds.polars_lazy, kinds.pyarrow_table, kinds.parquet,
        kinds.csv_file, kinds.csv_glob,
        kinds.dask_frame, kinds.ibis_sqlite, kinds.postgres, kinds.spark_frame, duckdb_address,
        kinds.json_lines,
    ],
    ids=lambda kind: kind.__name__,
)  # fmt: skip
def test_what_is_found_is_the_same(monkeypatch, tmp_path, kind):
    data = kind(people(), tmp_path)
    asked = {"label": "y", "positive": 1, "sensitive": FEATURES, **ASKED}
    monkeypatch.setattr(searching, "_MOST_CELLS", 10**9)
    counted = fg.find(data, **asked)
    assert counted.worse
    monkeypatch.setattr(searching, "_MOST_CELLS", 0)
    monkeypatch.setattr(searching, "_MOST_JOINT_CELLS", 0)  # so that nothing else can answer
    if kind is kinds.json_lines:
        with pytest.raises(fg.SpecError, match="write the columns to a Parquet file"):
            fg.find(data, **asked)
        return
    streamed = fg.find(data, **asked)
    assert streamed.fingerprint != counted.fingerprint
    both = zip(leaves(streamed.to_dict()), leaves(counted.to_dict()), strict=True)
    for ours, expected in both:  # the last digits of sums of scores follow the order of rows
        assert ours == (pytest.approx(expected) if isinstance(expected, float) else expected)
