"""DATA that is not a file: databases by their URL, and files that Spark counts."""

from __future__ import annotations

import json
import sqlite3

import pytest

QUESTION = ("--label", "y", "--sensitive", "sex", "--metrics", "DPL", "--format", "json")


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    connection = sqlite3.connect("people.db")
    connection.execute("CREATE TABLE loans (sex TEXT, y INTEGER)")
    rows = [("F", i % 2) for i in range(40)] + [("M", i % 4 > 0) for i in range(40)]
    connection.executemany("INSERT INTO loans VALUES (?, ?)", rows)
    connection.commit()
    connection.close()
    return "sqlite:///people.db"


@pytest.mark.parametrize(
    "rows", [("--table", "loans"), ("--query", "SELECT sex, y FROM loans WHERE y IS NOT NULL")]
)
def test_a_table_or_a_query_of_a_database(run, people, rows):
    pytest.importorskip("ibis")
    result = run("audit", people, *rows, *QUESTION)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["data"]["rows"] == 80
    assert found["estimates"][0]["value"] == pytest.approx(0.75 - 0.5)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["sqlite:///people.db"], "rows of a sqlite:// database: give either --table or --query"),
        (
            ["sqlite:///people.db", "--table", "a", "--query", "b"],
            "rows of a sqlite:// database: give either --table or --query",
        ),
        (["rows.csv", "--table", "a"], "--table and --query want one DATA, the URL of a database"),
        (
            ["s3://bucket/rows.csv"],
            (
                "cannot read s3:// addresses; copy the files here and name them, or pipe their "
                "rows in as CSV and name it -"
            ),
        ),
    ],
)
def test_what_cannot_be(fails, people, args, said):
    assert fails("audit", *args, *QUESTION) == said


def test_a_table_that_is_not_there(fails, people):
    pytest.importorskip("ibis")
    said = fails("audit", people, "--table", "loan", *QUESTION)
    assert "loan" in said
    assert "Traceback" not in said


def test_spark_reads_typed_files_alone(fails, loans):
    pytest.importorskip("pyspark")
    said = fails("audit", loans, "--spark", "local[1]", *QUESTION)
    assert said.startswith("Spark reads files of one format: .parquet")
