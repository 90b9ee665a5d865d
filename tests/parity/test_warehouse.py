"""Queries for warehouses run where an engine exists, and their answers make the same cube."""

import csv
import datetime as dt
import json
import os
import re
import sqlite3
import subprocess
from decimal import Decimal
from pathlib import Path

import duckdb
import engines
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.needs import missing, need

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.cli.commands.counts import DIALECTS

KINDS = {
    "snowflake": ("VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "DATE", "NUMBER(9, 2)"),
    "bigquery": ("STRING", "INT64", "FLOAT64", "BOOL", "DATE", "NUMERIC"),
    "databricks": ("STRING", "BIGINT", "DOUBLE", "BOOLEAN", "DATE", "DECIMAL(9, 2)"),
    "clickhouse": (
        "LowCardinality(Nullable(String))", "Nullable(Int64)", "Nullable(Float64)",
        "Nullable(Bool)", "Nullable(Date32)", "Nullable(Decimal(9, 2))",
    ),
}  # fmt: skip
PLAIN = ("VARCHAR NOT NULL", "BIGINT", "DOUBLE PRECISION", "BOOLEAN", "DATE", "DECIMAL(9, 2)")
NAMES = ("g", "y", "s", "b", "d", "m", "w")
ASKED = {
    "label": "y", "score": "s", "threshold": 0.5, "weight": "w", "strata": ["d"],
    "sensitive": ["g", "b", "m", {"column": "s", "cuts": [0.25, 0.75]}],
    "intersections": [["g", "b"]],
}  # fmt: skip


def table(rows: int) -> pa.Table:
    """Make rows of every kind of value: texts, decimals, NaN, nulls, dates, weights, scores."""
    rng = np.random.default_rng(7)

    def some(values: list[object]) -> list[object]:
        return [values[i] for i in rng.integers(0, len(values), rows)]

    scores = rng.random(rows)
    return pa.table({
        "g": some(["a", "A", "", "ü|", "01", "null", "it's", None]),
        "y": some([0, 1, 1, None]),
        "s": [None if i % 7 == 0 else float("nan") if i % 11 == 0 else float(v)
              for i, v in enumerate(scores)],
        "b": some([True, False, None]),
        "d": some([dt.date(2026, 1, 31), dt.date(1999, 12, 1), None]),
        "m": pa.array(some([Decimal("1.50"), Decimal("-2.25"), None]), pa.decimal128(9, 2)),
        "w": rng.random(rows).tolist(),
    })  # fmt: skip


ROOT = Path(__file__).resolve().parents[2]
ROWS = table(engines.ROWS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    need("sqlglot")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.json").write_text(json.dumps(ASKED), encoding="utf-8")
    return tmp_path


def fairgauge(*args: str) -> object:
    return CliRunner().invoke(main, list(args))


def query(dialect: str, *more: str) -> str:
    text, whole, number, truth, day, money = KINDS.get(dialect, PLAIN)
    kinds = (text, whole, number, truth, day, money, number)
    lines = [f'"{name}" {kind}\n' for name, kind in zip(NAMES, kinds, strict=True)]
    Path("columns.txt").write_text("".join(lines), encoding="utf-8")
    done = fairgauge("count", "--show-sql", "--dialect", dialect, "--columns", "columns.txt",
                     "-c", "audit.json", "--table", "people", *more)  # fmt: skip
    assert done.exit_code == 0, done.output
    return done.stdout


def counted(answer: str = "cells.csv") -> fg.Cube:
    done = fairgauge("count", "--from-result", answer, "-c", "audit.json", "-o", "a.cube.json")
    assert done.exit_code == 0, done.stderr
    return fg.load("a.cube.json")


def answer(names: list[str], records: list[tuple[object, ...]]) -> None:
    """Write what a warehouse answered, as its client exports it."""
    with Path("cells.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *records])


def in_duckdb(sql: str) -> None:
    connection = duckdb.connect()
    connection.register("people", ROWS)
    found = connection.execute(sql)
    answer([each[0] for each in found.description], found.fetchall())


def in_sqlite(sql: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (g TEXT, y INT, s REAL, b INT, d TEXT, m REAL, w REAL)")
    plain = [tuple(str(v) if isinstance(v, dt.date) else float(v) if isinstance(v, Decimal) else v
                   for v in row.values()) for row in ROWS.to_pylist()]  # fmt: skip
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", plain)
    found = connection.execute(sql)
    answer([each[0] for each in found.description], found.fetchall())
    connection.close()


def in_postgres(sql: str) -> None:
    import psycopg

    with engines.postgres_server() as server:
        name = engines.postgres_table(server.url, ROWS)
        with psycopg.connect(server.url) as connection:
            connection.execute(f"ALTER TABLE {name} RENAME TO people")
            found = connection.execute(sql)
            answer([each.name for each in found.description], found.fetchall())


def in_spark(sql: str) -> None:
    frame = engines.spark_frame(ROWS)
    frame.createOrReplaceTempView("people")
    found = frame.sparkSession.sql(sql.strip().rstrip(";"))
    answer(found.columns, [tuple(row) for row in found.collect()])


def in_clickhouse(sql: str) -> None:
    need("chdb")
    import chdb.session

    session = chdb.session.Session()
    kinds = dict(zip(NAMES, (*KINDS["clickhouse"], "Float64"), strict=True))
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    session.query("SET allow_suspicious_low_cardinality_types = 1")
    session.query(f"CREATE TABLE people ({columns}) ENGINE = Memory")
    pq.write_table(ROWS, "people.parquet")
    session.query("INSERT INTO people SELECT * FROM file('people.parquet')")
    found = session.query(sql.strip().rstrip(";"), "CSVWithNames")
    Path("cells.csv").write_bytes(found.bytes())


RUN = {
    "duckdb": in_duckdb, "postgres": in_postgres, "databricks": in_spark,
    "clickhouse": in_clickhouse,
}  # fmt: skip
"""The dialects whose queries are run here, and where; Databricks speaks the SQL of Spark."""


@pytest.mark.parametrize("dialect", RUN)
def test_the_answer_makes_the_cube_of_the_file(folder, dialect):
    RUN[dialect](query(dialect))
    assert counted() == fg.count(ROWS, **ASKED)


@pytest.fixture(scope="module")
def mariadb():
    with engines.mariadb_server() as server:
        server.table("people", ROWS)
        server.run("CREATE USER reader@'127.0.0.1' IDENTIFIED BY 's3cret'; "
                   "GRANT SELECT ON test.* TO reader@'127.0.0.1'")  # fmt: skip
        yield server


def test_mysql_is_run_by_mariadb(folder, mariadb):
    names, *records = mariadb.run(query("mysql"))
    answer(names, records)
    assert counted() == fg.count(ROWS, **ASKED)


def of_singles(monkeypatch) -> pa.Table:
    """Let scores and weights be of single precision, and return the rows."""
    rows = ROWS
    for name in ("s", "w"):
        few = [None if v is None else round(v, 1) for v in rows[name].to_pylist()]
        rows = rows.set_column(NAMES.index(name), name, pa.array(few, pa.float32()))
    for dialect in (*RUN, "mysql"):
        held = list(KINDS.get(dialect, PLAIN))
        held[2] = {"clickhouse": "Nullable(Float32)", "postgres": "REAL"}.get(dialect, "FLOAT")
        monkeypatch.setitem(KINDS, dialect, tuple(held))
    monkeypatch.setitem(globals(), "ROWS", rows)
    return rows


SINGLE = ASKED | {"threshold": 0.7, "sensitive": ["w", {"column": "s", "cuts": [0.3, 0.7]}],
                  "intersections": []}  # fmt: skip


@pytest.mark.parametrize("dialect", RUN)
def test_floats_of_single_precision_of_a_warehouse(folder, monkeypatch, dialect):
    rows = of_singles(monkeypatch)
    (folder / "audit.json").write_text(json.dumps(SINGLE), encoding="utf-8")
    RUN[dialect](query(dialect))
    assert counted() == fg.count(rows, **SINGLE)


def test_floats_of_single_precision_of_mariadb(folder, monkeypatch, mariadb):
    rows = of_singles(monkeypatch)
    mariadb.table("singles", rows)
    (folder / "audit.json").write_text(json.dumps(SINGLE), encoding="utf-8")
    names, *records = mariadb.run(query("mysql").replace("people", "singles"))
    answer(names, records)
    assert counted() == fg.count(rows, **SINGLE)
    by_its_library(mariadb, "mysql_counts.py", "singles", SINGLE, "a.cube.json")
    assert fg.load("a.cube.json") == fg.count(rows, **SINGLE)


@pytest.mark.parametrize(
    ("dialect", "kind", "single"),
    [("mysql", "REAL", False), ("snowflake", "REAL", False), ("postgres", "REAL", True)],
)  # fmt: skip
def test_what_has_single_precision_in_a_dialect(folder, monkeypatch, dialect, kind, single):
    monkeypatch.setitem(KINDS, dialect, (*PLAIN[:2], kind, *PLAIN[3:]))
    written = query(dialect)
    assert bool(re.search(r"AS REAL\)", written)) is single


@pytest.mark.parametrize("rows", ["people", "SELECT * FROM people WHERE w < 100"])
def test_mariadb_is_counted_where_it_is(folder, mariadb, rows):
    asked = ASKED | {"sensitive": ["g", "m"], "intersections": [["g", "m"]]}
    by_its_library(mariadb, "mysql_counts.py", rows, asked, "a.cube.json")
    assert fg.load("a.cube.json") == fg.count(ROWS, **asked)


def test_the_query_of_mariadb_a_time_limit_and_no_password(folder, mariadb):
    flags = ["--sensitive", "g", "--label", "y"]
    for user, secret, more, code, said in (
        ("reader", "s3cret", ["--table", "people", "--show-sql"], 0, "people"),
        ("reader", "wr0ng", ["--table", "people"], 2, "Access denied"),
        ("reader", "s3cret", ["--table", "peple"], 2, "no table 'peple'"),
        ("reader", "s3cret", ["--query", "SELECT p.* FROM people p, (SELECT sleep(9)) AS s"], 2,
         "max_statement_time exceeded"),
    ):  # fmt: skip
        limit = "?init_command=SET%20max_statement_time%3D1"
        url = f"mysql://{user}:{secret}@127.0.0.1:{mariadb.port}/test{limit}"
        done = engines.python_of_mysql(["-m", "fairgauge", "count", url, *flags, *more])
        assert done.returncode == code, done.stderr
        assert said in (done.stderr if code else done.stdout)
        assert secret not in done.stdout + done.stderr


def by_its_library(mariadb, script: str, rows: str, asked: dict[str, object], made: str) -> None:
    url = f"mysql://reader:s3cret@127.0.0.1:{mariadb.port}/test"
    engines.by_library_of_mysql(script, url, rows, asked, made)


def test_mariadb_is_searched_in_batches(folder, mariadb):
    """Texts that end in blanks, or differ in case alone, and dates, decimals and gaps."""
    asked = {
        "label": "y", "positive": 1, "metrics": "base_rate", "worse": "higher", "min_rows": 1,
        "sensitive": ["g", "d", "m", {"column": "s", "cuts": [0.25, 0.75]}],
    }  # fmt: skip
    by_its_library(mariadb, "mysql_search.py", "people", asked, "found.json")
    found = fg.load("found.json").to_dict()
    for name, expected in fg.find(ROWS, **asked).to_dict().items():
        if name not in ("created", "data", "fingerprint"):
            assert found[name] == expected, name


def by_client(client: str, library: str, rows: str) -> None:
    """Answer the query of q.sql by a library in an environment of its own."""
    python = ROOT / ".clients" / client / "bin" / "python"
    if not python.exists():
        missing(library, "tests/prepare")
    script = ROOT / "tests" / "clients" / f"{client}_query.py"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([python, script, "q.sql", rows, "cells.csv"], check=True, env=environment)


def test_snowflake(folder):
    """By fakesnow; columns are in capitals, as Snowflake has them."""
    pq.write_table(ROWS, "rows.parquet")
    query("snowflake")
    capitals = Path("columns.txt").read_text(encoding="utf-8").upper()
    Path("columns.txt").write_text(capitals, encoding="utf-8")
    flags = ["--columns", "columns.txt", "-c", "audit.json", "--table", "people", "-o", "q.sql"]
    assert fairgauge("count", "--show-sql", "--dialect", "snowflake", *flags).exit_code == 0
    by_client("snowflake", "fakesnow", "rows.parquet")
    assert counted() == fg.count(ROWS, **ASKED)


def test_bigquery(folder):
    """By ZetaSQL, Google's own implementation of its SQL (`make thorough`)."""
    rows = ROWS.slice(0, 100)
    texts = rows.to_pylist()
    (folder / "rows.json").write_text(json.dumps(texts, default=str), encoding="utf-8")
    (folder / "q.sql").write_text(query("bigquery"), encoding="utf-8")
    by_client("bigquery", "ZetaSQL", "rows.json")
    assert counted() == fg.count(rows, **ASKED)


def test_without_grouping_sets(folder):
    asked = {"label": "y", "sensitive": ["g", "m", {"column": "s", "cuts": [0.5]}], "weight": "w"}
    (folder / "audit.json").write_text(json.dumps(asked), encoding="utf-8")
    in_sqlite(query("sqlite"))
    assert counted() == fg.count(ROWS, **asked)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_one_select(folder, dialect):
    import sqlglot

    (tree,) = (each for each in sqlglot.parse(query(dialect), read=dialect) if each)
    assert isinstance(tree, sqlglot.exp.Select)
    tables = {each.name for each in tree.find_all(sqlglot.exp.Table)}
    assert tables - {each.alias for each in tree.find_all(sqlglot.exp.CTE)} == {"people"}


def test_a_query_of_their_own(folder):
    written = fairgauge(
        "count", "--show-sql", "--dialect", "duckdb", "--columns", _columns(folder), "-c",
        "audit.json", "--query", "SELECT * FROM people WHERE y = 1",
    )  # fmt: skip
    assert written.exit_code == 0, written.stderr
    in_duckdb(written.stdout)
    assert counted() == fg.count(ROWS.filter(pa.compute.equal(ROWS["y"], 1)), **ASKED)


@pytest.mark.parametrize(
    ("flag", "rows", "message"),
    [
        ("--table", '"My Bank"."Loans 1"', 'FROM "My Bank"."Loans 1"'),
        ("--table", "people", "FROM people"),
        ("--table", "people; DROP TABLE people", "write one SELECT, or the name of a table"),
        ("--table", "people p", "write one SELECT, or the name of a table"),
        ("--query", "DELETE FROM people", "write one SELECT, or the name of a table"),
        ("--query", "SELECT 1; DELETE FROM people", "write one SELECT, or the name of a table"),
        ("--query", "SELECT * FROM WHERE", "as snowflake: "),
    ],
)
def test_tables_in_quotes_and_what_is_no_select(folder, flag, rows, message):
    asked = ["--dialect", "snowflake", "--columns", _columns(folder), "-c", "audit.json"]
    done = fairgauge("count", "--show-sql", *asked, flag, rows)
    assert message in (done.stdout if done.exit_code == 0 else done.stderr)
    assert "attribute" not in done.stderr


def _columns(folder) -> str:
    query("duckdb")
    return "columns.txt"


def test_the_answer_as_parquet(folder):
    connection = duckdb.connect()
    connection.register("people", ROWS)
    sql = query("duckdb").strip().rstrip(";")
    connection.execute(f"COPY ({sql}) TO 'cells.parquet'")
    assert counted("cells.parquet") == fg.count(ROWS, **ASKED)


def refused(message: str) -> None:
    done = fairgauge("count", "--from-result", "cells.csv", "-c", "audit.json", "-o", "x.cube.json")
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert not list(map(str, Path().glob("x.cube.json")))


def test_an_answer_that_was_changed(folder):
    in_duckdb(query("duckdb"))
    whole = (folder / "cells.csv").read_text(encoding="utf-8").splitlines(keepends=True)

    def given(lines: list[str]) -> None:
        (folder / "cells.csv").write_text("".join(lines), encoding="utf-8")

    given(whole[:-3])
    refused("it was cut off")
    given([*whole, *whole[1:]])
    refused("put together from several")
    given([*whole[:-1], whole[1]])
    refused("has a cell twice")
    header, line = (each.rstrip().split(",") for each in (whole[0], whole[1]))
    line[header.index("s1")] = str(int(line[header.index("s0")]) + 40)
    given([whole[0], ",".join(line) + "\n", *whole[2:]])
    refused("which cannot be; export the answer again")
    given([whole[0].replace("fairgauge_query", "query"), *whole[1:]])
    refused("it is not the answer to a query")
    given([whole[0].replace("s3,", "S_3,"), *whole[1:]])
    refused("answers another question")
    given([line.replace("|", "") for line in whole])
    refused("must hold texts that end in |")
    given(whole)
    other = ASKED | {"strata": []}
    (folder / "audit.json").write_text(json.dumps(other), encoding="utf-8")
    refused("answers another question")


@pytest.mark.parametrize("command", ["audit", "count", "explore"])
def test_an_answer_is_no_rows(folder, command):
    in_duckdb(query("duckdb"))
    more = {"count": ["-o", "a.cube.json"], "explore": ["-o", "a.html"]}.get(command, [])
    for name in ("cells.csv", "-"):
        given = (folder / "cells.csv").read_text(encoding="utf-8") if name == "-" else None
        done = CliRunner().invoke(main, [command, name, "-c", "audit.json", *more], input=given)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"Error: '{name}' is the answer of a warehouse to a query")
        assert "fairgauge count --from-result FILE" in done.stderr
        assert done.stderr.count("\n") == 1


def test_columns_that_cannot_be_sent(folder):
    for text, message in (
        ("g\n", "has no type"),
        ("g VARCHAR\ny TIMESTAMP\n", "has the type TIMESTAMP"),
        ("g VARCHAR\n", "column 'y'"),
    ):
        (folder / "c.txt").write_text(text, encoding="utf-8")
        done = fairgauge("count", "--show-sql", "--dialect", "bigquery", "--columns", "c.txt",
                         "--label", "y", "--sensitive", "g")  # fmt: skip
        assert done.exit_code == 2
        assert message in done.stderr


def test_what_excludes_what(folder):
    flags = ["--dialect", "duckdb", "--columns", _columns(folder), "--label", "y"]
    flags += ["--sensitive", "g"]
    assert "takes --show-sql" in fairgauge("count", *flags).stderr
    assert "take no DATA" in fairgauge("count", "a.csv", "--show-sql", *flags).stderr
    refused_dialect = fairgauge("count", "--show-sql", "--dialect", "trino")
    assert "'trino' is not one of" in refused_dialect.stderr


TEXTS = pa.table({
    "g": ["a", "b"] * 6, "y": [1, 0, 1] * 4,
    "v": ["0.5", "NA", "-2", "1e1", None, "Exempt", "3", "4", "NA", " 7", "0.25", "9999"],
})  # fmt: skip
LISTED = {
    "label": "y", "sensitive": ["g", {"column": "v", "cuts": [0.5, 4]}],
    "recode": {"v": {"unknown": ["NA", "Exempt", 9999]}},
}  # fmt: skip


def test_sqlite_reads_texts_of_which_some_are_listed_as_no_numbers(folder):
    connection = sqlite3.connect("rows.db")
    connection.execute("CREATE TABLE rows (g TEXT, y INT, v TEXT)")
    records = [tuple(row.values()) for row in TEXTS.to_pylist()]
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", records)
    connection.commit()
    rows = fg.sql("sqlite:///rows.db", "rows")
    assert fg.count(rows, **LISTED) == fg.count(TEXTS, **LISTED)
    with pytest.raises(fg.DataError, match=r"has 'NA'; .*unknown = \[9999, \"Exempt\", \"NA\"\]"):
        fg.count(rows, **LISTED | {"recode": {"v": {"unknown": ["Exempt", 9999]}}})


def test_mariadb_reads_texts_of_which_some_are_listed_as_no_numbers(folder, mariadb):
    mariadb.table("texts", TEXTS)
    by_its_library(mariadb, "mysql_counts.py", "texts", LISTED, "a.cube.json")
    assert fg.load("a.cube.json") == fg.count(TEXTS, **LISTED)


@pytest.mark.parametrize("run", [in_duckdb, in_sqlite])
def test_numbers_that_are_listed_as_none(folder, run):
    """The query leaves them out, so that its answer is of no other question."""
    asked = {"label": "y", "sensitive": ["g", {"column": "m", "cuts": [0]}]}
    (folder / "audit.json").write_text(json.dumps(asked), encoding="utf-8")
    run(query("duckdb" if run is in_duckdb else "sqlite"))
    listed = asked | {"recode": {"m": {"unknown": [1.5]}}}
    (folder / "audit.json").write_text(json.dumps(listed), encoding="utf-8")
    arguments = ("count", "--from-result", "cells.csv", "-c", "audit.json", "-o", "a.cube.json")
    assert "answers another question" in fairgauge(*arguments).stderr
    run(query("duckdb" if run is in_duckdb else "sqlite"))
    assert counted() == fg.count(ROWS, **listed) != fg.count(ROWS, **asked)


def test_the_error_of_texts_states_how_numbers_are_made_of_them(folder):
    (folder / "audit.json").write_text(json.dumps(LISTED), encoding="utf-8")
    (folder / "texts.txt").write_text("g TEXT\ny INT\nv TEXT\n", encoding="utf-8")
    done = fairgauge("count", "--show-sql", "--dialect", "postgres", "--columns", "texts.txt",
                     "-c", "audit.json", "--table", "people")  # fmt: skip
    assert "make it a number, NULL where it is none, in a query of your own" in done.stderr
