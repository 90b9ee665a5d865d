"""One digest and one report for every engine and store; ``make thorough`` asks it of many rows."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

import engines
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.needs import EVERY_CASE, need

import fairgauge as fg
from fairgauge.object_stores import write_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.cube.cube import Cube
import duckdb
import polars as pl
from polars.io.plugins import register_io_source
from tests.parity import conftest as kinds

from fairgauge.api import searching
from fairgauge.cube.plan import plan
from fairgauge.errors import DataError
from fairgauge.question.specification import ask
from fairgauge.scan import _duckdb_relation as duckdb_connection
from fairgauge.scan import open_source
from fairgauge.scan._sql import select

METRICS = ["selection_rate.difference", "calibration_gap", "brier_score", "roc_auc", "mean_score"]

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
def expected(rows: int) -> Cube:
    return fg.count(table(rows), **ASKED)


@cache
def expected_estimates(rows: int) -> dict[str, float]:
    return estimates(expected(rows))


def check(cube: Cube, *, report: bool = EVERY_CASE) -> None:
    """Compare the cells, from which every report is computed, and the report itself."""
    wanted = expected(engines.ROWS)
    assert cube.digest == wanted.digest
    for own, other in zip(cube.tables, wanted.tables, strict=True):
        assert (own.codes == other.codes).all()
        for name, sums in own.sums.items():
            np.testing.assert_allclose(sums, other.sums[name], rtol=1e-11, err_msg=name)
    if report:
        found = estimates(cube)
        assert len(found) > 1_000
        assert found == pytest.approx(expected_estimates(engines.ROWS), rel=1e-9, abs=0)


def written(rows: int) -> pa.Table:
    """Return the rows as files and databases without types of time have them: as texts of UTC."""
    found = table(rows)
    texts = [None if at is None else at.astimezone(dt.UTC).isoformat() for at in
             found["at"].to_pylist()]  # fmt: skip
    days = [None if day is None else day.isoformat() for day in found["d"].to_pylist()]
    place = found.column_names.index
    return found.set_column(place("at"), "at", [texts]).set_column(place("d"), "d", [days])


def test_one_digest_and_one_report_of_many_rows(typed):
    check(fg.count(typed(table(engines.ROWS)), **ASKED))


def test_files_without_types_count_the_same(untyped):
    check(fg.count(untyped(written(engines.ROWS)), **ASKED))


def test_objects_of_stores_count_the_same(store, tmp_path):
    half = engines.ROWS // 2
    for i, rows in enumerate((table(engines.ROWS).slice(0, half), table(engines.ROWS).slice(half))):
        pq.write_table(rows, tmp_path / "part.parquet", row_group_size=10_000)
        write_object(f"{store}/people/{i}.parquet", (tmp_path / "part.parquet").read_bytes())
    check(fg.count(f"{store}/people", **ASKED))
    pyarrow.csv.write_csv(written(engines.ROWS), tmp_path / "people.csv")
    write_object(f"{store}/people.csv", (tmp_path / "people.csv").read_bytes())
    check(fg.count(f"{store}/people.csv", **ASKED))


def test_tables_of_a_lakehouse_count_the_same(iceberg_catalog, tmp_path):
    need("deltalake", "pyiceberg", "polars")
    import deltalake

    deltalake.write_deltalake(tmp_path / "people", table(engines.ROWS))
    check(fg.count(f"delta:{tmp_path}/people", **ASKED))
    in_utc = table(engines.ROWS)["at"].cast(pa.timestamp("us", "UTC"))
    rows = table(engines.ROWS).set_column(5, "at", in_utc)  # no other zone is stored there
    iceberg_catalog.create_table("credit.people", schema=rows.schema).append(rows)
    check(fg.count("iceberg:bank.credit.people", **ASKED))


def test_sqlite_counts_the_same(tmp_path):
    need("ibis")
    connection = sqlite3.connect(tmp_path / "people.db")
    connection.execute(
        "CREATE TABLE people (g TEXT, y INT, s REAL, d TEXT, m REAL, at TEXT, w REAL)"
    )
    rows = written(engines.ROWS).to_pylist()
    values = [[float(v) if isinstance(v, Decimal) else v for v in row.values()] for row in rows]
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    connection.commit()
    connection.close()
    for named in ("people", "SELECT * FROM people"):
        counts = fg.count(fg.sql(f"sqlite:///{tmp_path}/people.db", named), **ASKED)
        check(counts, report=EVERY_CASE or named == "people")


@pytest.fixture(scope="module")
def mariadb():
    with engines.mariadb_server() as server:
        server.table("people", table(engines.ROWS))
        yield f"mysql://root@127.0.0.1:{server.port}/test"


@pytest.mark.parametrize("rows", ["people", "SELECT * FROM people"])
def test_mariadb_counts_the_same(mariadb, rows, tmp_path):
    made = tmp_path / "a.cube.json"
    engines.by_library_of_mysql("mysql_counts.py", mariadb, rows, ASKED, made)
    check(fg.load(made))


ASKED_ONCE = {
    "label": "y", "sensitive": ["a", "b", "c", "d"], "intersections": [("a", "b"), ("c", "d")],
}  # fmt: skip
ROWS = pa.table({name: [1, 2, 3, 4] * 10 for name in "abcdy"})


# ---- rows are read once, however many features are asked; and too many values are told early
def test_a_parquet_file_is_scanned_once(tmp_path):
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    source = open_source(tmp_path / "rows.parquet")
    query = select(plan(ask(**ASKED_ONCE)), source.relation, source.written)
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
    assert fg.count(lazy, **ASKED_ONCE) == fg.count(rows, **ASKED_ONCE)
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


# ---- searches of rows that every engine reads in batches, against those of counts of all features
ROWS_BATCHES = 1_500
FEATURES = ["sex", "town", fg.cut("age", [30, 60]), "day"]
ASKED_BATCHES = {"prediction": "p", "metrics": "false_positive_rate"}


def people() -> pa.Table:
    """Rows with features of all kinds and gaps in each, and one subgroup that is worse."""
    rng = np.random.default_rng(1)
    sex, age = (
        rng.choice(["F", "M"], ROWS_BATCHES),
        rng.integers(18, 90, ROWS_BATCHES).astype(float),
    )
    s = rng.beta(2, 3, ROWS_BATCHES).round(4)
    worse = (sex == "F") & (age > 60)
    columns = {
        "sex": pa.array(sex, mask=rng.random(ROWS_BATCHES) < 0.03),
        "town": pa.array([f"t{each}" for each in rng.integers(0, 9, ROWS_BATCHES)]),
        "age": pa.array(age, mask=rng.random(ROWS_BATCHES) < 0.03),
        "day": pa.array(rng.integers(0, 3, ROWS_BATCHES).astype("datetime64[D]")),
        "s": pa.array(s, mask=rng.random(ROWS_BATCHES) < 0.03),
        "p": pa.array((rng.random(ROWS_BATCHES) < 0.15 + 0.4 * worse).astype(int)),
        "y": pa.array((rng.random(ROWS_BATCHES) < np.where(worse, 0.5, s)).astype(int)),
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
    asked = {"label": "y", "positive": 1, "sensitive": FEATURES, **ASKED_BATCHES}
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
