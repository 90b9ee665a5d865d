"""Databases and clusters count where the rows are: one scan, one shuffle, only cells come back."""

import re
import sqlite3
import subprocess
import sys
import threading
import time

import duckdb
import engines
import pyarrow as pa
import pytest

import fairgauge as fg
from fairgauge.cube.plan import plan
from fairgauge.errors import DataError, MissingExtra, shown_address
from fairgauge.question.specification import ask
from fairgauge.scan import open_source
from fairgauge.scan.source import sql

ROWS = pa.table({
    "g": ["a", "b", "b", None] * 25, "h": [1, 2, 3, 4] * 25, "y": [1, 0, 1, 1] * 25,
    "Age": [20, 30, 40, 50] * 25,
})  # fmt: skip
ASKED = {
    "label": "y",
    "sensitive": ["g", "h", {"column": "Age", "cuts": [30]}],
    "intersections": [("g", "h")],
}
MANY = {"label": "y", "sensitive": ["g", "h", "Age", "k"], "intersections": [("g", "h")]}


@pytest.fixture(scope="module")
def server():
    with engines.postgres_server() as server:
        yield server


def test_postgresql_sends_cells_only(server):
    name = engines.postgres_table(server.url, ROWS)
    before = server.log.stat().st_size
    source = open_source(sql(server.url, name))
    asked = plan(ask(**ASKED))
    assert source.count(asked, 1_000) == fg.count(ROWS, **ASKED)
    said = server.log.read_text()[before:]
    about = [line for line in re.split(r"\n(?=\d{4}-)", said) if f'"{name}"' in line]
    reading = [line for line in about if re.search(r"SELECT.*FROM", line, re.DOTALL)]
    assert len(reading) == 1
    assert "GROUP BY" in reading[0]


def test_postgresql_plans_one_scan(server):
    import psycopg

    rows = ROWS.append_column("k", pa.array([1, 2] * 50))
    name = engines.postgres_table(server.url, rows)
    source = open_source(sql(server.url, name))
    assert fg.count(sql(server.url, name), **MANY) == fg.count(rows, **MANY)
    with psycopg.connect(server.url) as connection:
        shown = connection.execute(f"EXPLAIN {source.query(plan(ask(**MANY)))}").fetchall()
    lines = [line for (line,) in shown]
    assert sum("Scan" in line for line in lines) == 1
    assert "Aggregate" in lines[0]


def test_a_query_and_a_schema_of_postgresql(server):
    import psycopg

    name = engines.postgres_table(server.url, ROWS)
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS other")
        connection.execute(f"CREATE TABLE other.{name} AS SELECT * FROM {name}")
    whole = fg.count(sql(server.url, name), **ASKED)
    assert fg.count(sql(server.url, f"other.{name}"), **ASKED) == whole
    part = fg.count(sql(server.url, f"SELECT * FROM {name} WHERE h < 3"), **ASKED)
    assert part.rows == 50


def test_a_role_that_may_only_read(server):
    """A query is counted by SELECTs alone, as a replica and a role without rights require."""
    import psycopg

    name = engines.postgres_table(server.url, ROWS)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("REVOKE ALL ON DATABASE postgres FROM PUBLIC")
        connection.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        connection.execute("GRANT CONNECT ON DATABASE postgres TO reader")
        connection.execute("GRANT USAGE ON SCHEMA public TO reader")
        connection.execute(f"GRANT SELECT ON {name} TO reader")
        connection.execute("ALTER ROLE reader SET default_transaction_read_only = on")
    reader = server.url.replace("fairgauge@", "reader@")
    for rows in (
        name,
        f"SELECT * FROM {name}",
        f"WITH t AS (SELECT * FROM {name}) SELECT * FROM t -- all of them",
        f"SELECT * FROM {name};\n",
    ):
        assert fg.count(sql(reader, rows), **ASKED) == fg.count(ROWS, **ASKED), rows
        assert "GROUP BY" in open_source(sql(reader, rows)).query(plan(ask(**ASKED)))


def test_what_postgresql_refuses(server):
    with pytest.raises(DataError, match=r"no table 'nothing' in 'postgresql://fairgauge@"):
        fg.count(sql(server.url, "nothing"), **ASKED)
    away = server.url.replace("fairgauge@", "fairgauge:secret@").replace("/postgres", "/nowhere")
    with pytest.raises(DataError) as caught:
        fg.count(sql(away, "rows"), **ASKED)
    assert "nowhere" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(sql(away, "rows"))


def test_a_time_limit_in_the_address_of_postgresql(server):
    """PostgreSQL ends a statement that takes longer, and the error says what it ended."""
    name = engines.postgres_table(server.url, ROWS)
    limited = f"{server.url}?options=-c%20statement_timeout%3D200"
    assert fg.count(sql(limited, name), **ASKED) == fg.count(ROWS, **ASKED)
    slow = f"SELECT r.* FROM {name} AS r, pg_sleep(30) AS s"
    with pytest.raises(DataError, match="statement timeout"):
        fg.count(sql(limited, slow), **ASKED)


def test_too_many_values_in_postgresql(server):
    rows = pa.table({"g": ["a"] * 3_000, "y": list(range(3_000))})
    name = engines.postgres_table(server.url, rows)
    with pytest.raises(DataError, match=r"'y' \(label\) has more than 1,000 distinct values"):
        fg.count(sql(server.url, name), label="y", sensitive="g")


def test_sqlite(tmp_path):
    pytest.importorskip("ibis")
    rows = ROWS.append_column("k", pa.array([1.5, None] * 50))
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE people (g TEXT, h INTEGER, y INTEGER, "Age" REAL, k REAL)')
        values = [tuple(row.values()) for row in rows.to_pylist()]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", values)
    connection.close()
    for asked in (ASKED, MANY, {**ASKED, "weight": "k"}):
        assert fg.count(sql(f"sqlite:///{path}", "people"), **asked) == fg.count(rows, **asked)


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    for engine in ("sqlite", "duckdb"):
        with pytest.raises(DataError, match=r"no file '.*nothing.db'"):
            fg.count(sql(f"{engine}:///{tmp_path}/nothing.db", "people"), **ASKED)
    assert not list(tmp_path.iterdir())


def test_a_duckdb_file_by_its_url(tmp_path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("given", ROWS)
        connection.execute("CREATE TABLE people AS FROM given")
    whole = fg.count(ROWS, **ASKED)
    assert fg.count(sql(f"duckdb:///{path}", "people"), **ASKED) == whole
    assert fg.count(sql(f"duckdb:///{path}", "FROM people LIMIT 10"), **ASKED).rows == 10
    with pytest.raises(DataError, match=r"no table 'no_such' in 'duckdb:.*It has 'people'"):
        fg.count(sql(f"duckdb:///{path}", "no_such"), **ASKED)


def test_a_database_without_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "ibis", None)
    message = (
        r"^reading databases needs the module 'ibis', which is not installed: pip install 'fai"
    )
    for url, extra in (("postgresql://localhost/people", "postgres"), ("sqlite:///p.db", "sql")):
        with pytest.raises(MissingExtra, match=rf"{message}rgauge\[{extra}\]'$"):
            fg.count(sql(url, "people"), **ASKED)


WITHOUT_PACKAGING = """
import sys
sys.modules["packaging"] = sys.modules["packaging.version"] = None
import fairgauge as fg
try:
    fg.count(fg.sql("postgresql://127.0.0.1:1/people", "people"), label="y", sensitive="g")
except fg.MissingExtra as error:
    print(error)
"""


def test_a_module_that_the_library_of_a_database_needs():
    """It is the one that is named: ibis turns the failed import into another error."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKAGING], capture_output=True, text=True, check=False
    )
    message = r"needs the module 'packaging.*', which is not installed: .*fairgauge\[postgres\]"
    assert re.search(message, done.stdout), done.stderr


def test_a_database_that_no_extra_is_for():
    with pytest.raises(MissingExtra, match=r"pip install 'ibis-framework\[mysql\]'$"):
        fg.count(sql("mysql://localhost/people", "people"), **ASKED)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:pa:ss@host:5/db?password=x", "postgresql://me@host:5/db"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("sqlite:///file.db", "sqlite:///file.db"),
    ],
)
def test_passwords_are_not_shown(url, shown):
    assert shown_address(url) == shown


def test_spark_scans_once_and_shuffles_once(tmp_path):
    spark = engines.spark_session()
    engines.spark_frame(ROWS).write.parquet(str(tmp_path / "rows"))
    frame = spark.read.parquet(str(tmp_path / "rows"))
    source = open_source(frame)
    assert source.count(plan(ask(**ASKED)), 1_000) == fg.count(ROWS, **ASKED)
    view = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
    view.createOrReplaceTempView("fairgauge_rows")
    shown = spark.sql(f"EXPLAIN {source.query(plan(ask(**ASKED)))}").collect()[0][0]
    assert shown.count("FileScan") == 1
    assert shown.count("Exchange") == 1
    before = [table.name for table in spark.catalog.listTables()]
    assert "fairgauge_rows" in before
    source.count(plan(ask(**ASKED)), 1_000)
    assert [table.name for table in spark.catalog.listTables()] == before  # no view is left


def test_spark_frames_of_many_features(tmp_path):
    rows = ROWS.append_column("k", pa.array([True, None] * 50))
    frame = engines.spark_frame(rows)
    assert fg.count(frame, **MANY) == fg.count(rows, **MANY)


def test_what_spark_refuses():
    frame = engines.spark_frame(pa.table({"g": [["a"], ["b"]], "y": [1, 0]}))
    with pytest.raises(DataError, match=r"'g' holds values that are not plain \(array\)"):
        fg.count(frame, label="y", sensitive="g")
    with pytest.raises(DataError, match=r"'t' must hold numbers, but has the type 'string'"):
        fg.count(
            engines.spark_frame(pa.table({"t": ["1"], "y": [1]})),
            label="y",
            sensitive={"column": "t", "cuts": [1]},
        )


def test_parts_of_a_dask_frame():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(ROWS.to_pandas(), npartitions=4)
    empty = frame[frame["h"] < 0]
    assert fg.count(frame, **ASKED) == fg.count(ROWS, **ASKED)
    assert fg.count(dask.concat([empty, frame]), **ASKED) == fg.count(ROWS, **ASKED)
    with pytest.raises(DataError, match="the data have no rows"):
        fg.count(empty, **ASKED)


def test_counts_of_one_spark_session_at_once():
    from concurrent.futures import ThreadPoolExecutor

    parts = [ROWS.slice(25 * i, 25) for i in range(4)]
    frames = [engines.spark_frame(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda frame: fg.count(frame, **ASKED), frames * 3))
    assert found == [fg.count(part, **ASKED) for part in parts] * 3


def test_a_database_that_ends_the_connection_half_way_is_one_message(server):
    psycopg = pytest.importorskip("psycopg")
    ended = []

    def end() -> None:
        deadline = time.monotonic() + 20
        while not ended and time.monotonic() < deadline:
            time.sleep(0.1)
            with psycopg.connect(server.url, autocommit=True) as other:
                ended.extend(other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE wait_event = 'PgSleep'"
                ).fetchall())  # fmt: skip

    rows = "SELECT 'a' AS g, 1 AS y FROM (SELECT pg_sleep(25)) AS waits"
    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(DataError) as error:
        fg.count(sql(server.url, rows), label="y", sensitive="g")
    ending.join()
    assert ended == [(True,)]
    found = str(error.value)
    assert found.startswith("cannot read 'postgresql://fairgauge@127.0.0.1")
    assert "terminating connection" in found
    assert "\n" not in found
