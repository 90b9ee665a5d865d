"""``fairgauge audit --spark``: the report of a file is the same, whichever engine counts it."""

from __future__ import annotations

import json

import engines
import pyarrow as pa
from click.testing import CliRunner
from pyarrow import parquet

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
