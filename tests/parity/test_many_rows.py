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
