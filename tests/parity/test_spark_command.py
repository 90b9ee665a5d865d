"""``fairgauge audit --spark``: the report of a file is the same, whichever engine counts it."""

from __future__ import annotations

import json

import engines
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import fairgauge as fg
from fairgauge.cli import main

ASKED = ("--label", "y", "--prediction", "p", "--sensitive", "g", "--format", "json")


def test_spark_counts_a_file_as_duckdb_does(tmp_path):
    rows = {"y": [0, 1, 1, None] * 30, "p": [1, 0, 1] * 40, "g": ["a", "b", "a", "c", None] * 24}
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(rows), path)
    engines.spark_frame(pa.table(rows))  # the session of the tests, or a reason to skip
    reports = []
    for more in ((), ("--spark", "local[1]")):
        result = CliRunner().invoke(main, ["audit", str(path), *ASKED, *more])
        assert result.exit_code == 0, result.stderr
        reports.append(json.loads(result.stdout))
    assert reports[0]["estimates"] == reports[1]["estimates"]
    assert reports[0]["data"]["fingerprint"] == reports[1]["data"]["fingerprint"]


def test_spark_counts_a_table_of_its_catalog_and_a_query():
    rows = {"y": [0, 1, 1, None] * 30, "p": [1, 0, 1] * 40, "g": ["a", "b", "a", "c", None] * 24}
    frame = engines.spark_frame(pa.table(rows))
    frame.createOrReplaceTempView("people")
    wanted = fg.audit(pa.table(rows), label="y", prediction="p", sensitive="g")
    for where in (["--table", "people"], ["--query", "SELECT * FROM people;"]):
        result = CliRunner().invoke(main, ["audit", "--spark", "local[1]", *where, *ASKED])
        assert result.exit_code == 0, result.stderr
        report = json.loads(result.stdout)
        assert report["data"]["fingerprint"] == wanted.data.fingerprint
        assert report["data"]["source"] == where[1].replace("SELECT * FROM people;", "query")
        done = CliRunner().invoke(main, ["count", "--spark", "local[1]", *where, *ASKED[:6]])
        assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("where", [["--table", "peple"], ["--query", "SELECT * FROM"]])
def test_what_spark_cannot_read_is_one_message(where):
    engines.spark_session()
    result = CliRunner().invoke(main, ["audit", "--spark", "local[1]", *where, *ASKED])
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: Spark cannot read ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "given", [[], ["--spark", "local[1]"], ["--table", "people"], ["--query", "SELECT 1"]]
)
def test_no_data_are_a_missing_argument(given):
    result = CliRunner().invoke(main, ["audit", *given, *ASKED])
    assert result.exit_code == 2
    assert "Missing argument 'DATA...'" in result.stderr
