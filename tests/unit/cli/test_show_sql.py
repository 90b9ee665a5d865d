"""``fairgauge count --show-sql``: the query that would run, and no count."""

from __future__ import annotations

import sqlite3

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


def test_the_query_runs_as_it_is_printed_and_gives_the_counts(url, tmp_path):
    shown = run(url, "--table", "people", *FLAGS)
    assert shown.exit_code == 0, shown.output
    assert '"the group"' in shown.output
    connection = sqlite3.connect(f"file:{tmp_path / 'people.db'}?mode=ro", uri=True)
    records = connection.execute(shown.stdout).fetchall()
    connection.close()
    cube = fg.count(fg.sql(url, "people"), label="y", prediction="p", sensitive="the group")
    cells = sum(len(table.codes) for table in cube.tables)
    assert len(records) >= cells


def test_rows_in_no_database_have_no_query(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,p,the group\n1,1,a\n0,1,b\n", encoding="utf-8")
    shown = run(str(path), *FLAGS)
    assert shown.exit_code == 2
    assert "is in no database" in shown.output


def test_cells_of_one_person_are_noted(url, tmp_path):
    counted = CliRunner().invoke(
        main, ["count", url, "--table", "people", *FLAGS, "-o", str(tmp_path / "t.cube.json")]
    )
    assert counted.exit_code == 0
    assert "Note: 5 rows are alone in a cell of the counts" in counted.stderr


def test_mistakes_are_found_before_a_query_is_shown(url):
    shown = run(url, "--table", "people", "--label", "why", "--sensitive", "the group")
    assert shown.exit_code == 2
    assert "no column 'why'" in shown.output


def test_what_the_result_of_the_query_shows_is_noted(url):
    shown = run(url, "--table", "people", *FLAGS)
    assert shown.stderr == (
        "Note: a record of the result that counts one row shows the values of one person; share "
        "the result as you would share the rows\n"
    )
    scored = run(url, "--table", "people", *FLAGS, "--score", "s")
    assert scored.stderr == (
        "Note: a record of the result that counts one row shows the values of one person (the "
        "exact value of 's' too); share the result as you would share the rows\n"
    )


def test_the_query_is_written_to_a_file(url, tmp_path):
    target = tmp_path / "count.sql"
    printed = run(url, "--table", "people", *FLAGS)
    written = run(url, "--table", "people", *FLAGS, "-o", str(target))
    assert (written.exit_code, written.stdout) == (0, "")
    assert target.read_text(encoding="utf-8") == printed.stdout
    refused = run(url, "--table", "people", *FLAGS, "-o", str(tmp_path / "no" / "count.sql"))
    assert refused.exit_code == 2
    assert "there is no folder" in refused.stderr
