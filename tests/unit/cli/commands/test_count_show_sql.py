"""``fairgauge count --show-sql``: the query that would run, and no count."""

import sqlite3

import duckdb
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main

pytest.importorskip("ibis")
ROWS = [(1, 1, "a'b"), (0, 1, "a'b"), (1, 0, "c"), (0, 0, "c"), (1, 1, "c")]
FLAGS = ("--label", "y", "--prediction", "p", "--sensitive", "the group")


@pytest.fixture
def url(tmp_path):
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE people (y INTEGER, p INTEGER, "the group" TEXT, s REAL)')
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, 0.25)", ROWS)
    connection.close()
    return f"sqlite:///{path}"


def run(*args):
    return CliRunner().invoke(main, ["count", *args, "--show-sql"])


def _written(folder, suffix):
    """Write the rows to a file, or to the table "people" of a DuckDB database."""
    path = folder / f"people{suffix}"
    connection = duckdb.connect(str(path) if suffix == ".duckdb" else ":memory:")
    connection.execute('CREATE TABLE people (y INTEGER, p INTEGER, "the group" TEXT)')
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    if suffix != ".duckdb":
        connection.execute(f"COPY people TO '{path}'")
    connection.close()
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", ".duckdb"])
def test_the_query_of_files_and_of_duckdb_runs_as_it_is_printed(tmp_path, suffix):
    path = _written(tmp_path, suffix)
    is_database = suffix == ".duckdb"
    data = [f"duckdb:///{path}", "--table", "people"] if is_database else [str(path)]
    shown = run(*data, *FLAGS)
    assert shown.exit_code == 0, shown.output
    with duckdb.connect(str(path) if is_database else ":memory:") as connection:
        records = connection.sql(shown.stdout).fetchall()
    rows = fg.sql(f"duckdb:///{path}", "people") if is_database else path
    cube = fg.count(rows, label="y", prediction="p", sensitive="the group")
    sums = cube.tables[0].sums["rows"]
    assert sorted(record[4] for record in records) == sorted(sums)


def test_counts_have_no_query(tmp_path):
    path = tmp_path / "people.cube.json"
    fg.count(_written(tmp_path, ".csv"), label="y", prediction="p", sensitive="the group").save(
        path
    )
    shown = run(str(path), *FLAGS)
    assert shown.exit_code == 2
    assert "counts cannot be counted by a query" in shown.output


def test_the_query_is_written_to_a_file(url, tmp_path):
    target = tmp_path / "count.sql"
    printed = run(url, "--table", "people", *FLAGS)
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        assert len(connection.execute(printed.stdout).fetchall()) >= 4  # cells of the groups
    connection.close()
    written = run(url, "--table", "people", *FLAGS, "-o", str(target))
    assert (written.exit_code, written.stdout) == (0, "")
    assert target.read_text(encoding="utf-8") == printed.stdout
    refused = run(url, "--table", "people", *FLAGS, "-o", str(tmp_path / "no" / "count.sql"))
    assert refused.exit_code == 2
    assert "there is no folder" in refused.stderr
