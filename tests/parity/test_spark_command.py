"""``fairgauge audit --spark``: the report of a file is the same, whichever engine counts it."""

import ast
import json
import socket
import subprocess
import sys
from typing import Any

import engines
import pyarrow as pa
import pytest
from click.testing import CliRunner
from engines import spark_session
from pyarrow import parquet

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.cube.cube import read_cube
from fairgauge.errors import DataError
from fairgauge.scan.input_files import read_by_spark

ASKED = ("--label", "y", "--prediction", "p", "--sensitive", "g", "--format", "json")


ROWS = {"y": [0, 1, 1, None] * 30, "p": [1, 0, 1] * 40, "g": ["a", "b", "a", "c", None] * 24}


def test_spark_counts_a_file_as_duckdb_does(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(ROWS), path)
    engines.spark_frame(pa.table(ROWS))  # the session of the tests, or a reason to skip
    reports = []
    for more in ((), ("--spark", "local[1]")):
        result = CliRunner().invoke(main, ["audit", str(path), *ASKED, *more])
        assert result.exit_code == 0, result.stderr
        reports.append(json.loads(result.stdout))
    assert reports[0]["estimates"] == reports[1]["estimates"]
    assert reports[0]["data"]["fingerprint"] == reports[1]["data"]["fingerprint"]


@pytest.mark.parametrize("values", [("a", "NULL"), ("1", "NULL"), ("1", "2")])
def test_spark_reads_partitions_as_the_file_reader_does(tmp_path, values):
    rows = pa.table({"y": [0, 1, 1], "h": ["NULL", None, "x"]})
    engines.spark_frame(rows)
    for value in (*values, "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"g={value}").mkdir()
        parquet.write_table(rows, tmp_path / f"g={value}" / "0.parquet")
    (tmp_path / "_temporary").mkdir()
    parquet.write_table(rows, tmp_path / "_temporary" / "0.parquet")
    asked: dict[str, Any] = {"label": "y", "sensitive": ["g", "h"]}
    found = fg.count(read_by_spark("local[1]", [str(tmp_path)]), **asked)
    assert found == fg.count(tmp_path, **asked)
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / "0.json").touch()
    with pytest.raises(DataError, match="is a Delta table"):
        read_by_spark("local[1]", [str(tmp_path)])


NAMED = "spark_catalog.default.people"


@pytest.mark.parametrize(("where", "source"), [
    (["--table", "people"], "people"), (["--query", "SELECT * FROM people;"], "query"),
    (["--table", NAMED], NAMED),
])  # fmt: skip
def test_spark_counts_a_table_of_its_catalog_and_a_query(where, source, tmp_path):
    frame = engines.spark_frame(pa.table(ROWS))
    wanted = fg.audit(pa.table(ROWS), label="y", prediction="p", sensitive="g")
    if source == NAMED:
        frame.write.option("path", str(tmp_path / "people")).saveAsTable(NAMED)
    else:
        frame.createOrReplaceTempView("people")
    try:
        result = CliRunner().invoke(main, ["audit", "--spark", "local[1]", *where, *ASKED])
        assert result.exit_code == 0, result.stderr
        data = json.loads(result.stdout)["data"]
        assert (data["source"], data["fingerprint"]) == (source, wanted.data.fingerprint)
        done = CliRunner().invoke(main, ["count", "--spark", "local[1]", *where, *ASKED[:6]])
        assert done.exit_code == 0, done.stderr
    finally:
        frame.sparkSession.sql(f"DROP TABLE IF EXISTS {NAMED}")


CONNECT = """
import os, subprocess, sys, warnings
warnings.simplefilter("ignore")
os.environ["SPARK_TESTING"] = "1"  # takes a free port
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[1]").getOrCreate()
rows = [("F", 1, 1)] * 6 + [("M", 0, 1)] * 6
frame = spark.createDataFrame(rows, "g string, y int, p int")
import fairgauge as fg
assert type(frame).__module__.startswith("pyspark.sql.connect")
nan = spark.createDataFrame([("F", 1, 0.5), ("M", 0, None), ("M", 1, float("nan")),
                             (None, 1, 0.25)], "g string, y int, w double")
print(fg.count(nan, label="y", sensitive="g", weight="w").to_json())
frame.write.option("path", sys.argv[1]).saveAsTable("spark_catalog.default.people")
url = f"sc://{spark.client._builder.endpoint}"
for name in ("SPARK_LOCAL_REMOTE", "SPARK_REMOTE", "SPARK_TESTING"):
    os.environ.pop(name, None)
command = [sys.executable, "-m", "fairgauge", "audit", "--spark", url, *sys.argv[2:], "--table"]
for table in ("spark_catalog.default.people", "spark_catalog.default.peple"):
    done = subprocess.run([*command, table], capture_output=True, text=True)
    print(repr((done.returncode, done.stdout, done.stderr)))
spark.stop()
"""


def test_spark_connect_counts_a_frame_and_a_table_of_its_catalog(tmp_path):
    """It and a classic session do not share a process; a command says one message, or none."""
    pytest.importorskip("pyspark.sql")
    pytest.importorskip("grpc_status")
    command = [sys.executable, "-c", CONNECT, str(tmp_path / "people"), *ASKED, "--positive", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    found = [ast.literal_eval(each) for each in done.stdout.splitlines() if each[:1] == "("]
    assert len(found) == 2, done.stderr[-2_000:]
    (cube,) = [each for each in done.stdout.splitlines() if each[:1] == "{"]
    weights = pa.array([0.5, None, float("nan"), 0.25])
    few = pa.table({"g": ["F", "M", "M", None], "y": [1, 0, 1, 1], "w": weights})
    assert read_cube(cube, "found") == fg.count(few, label="y", sensitive="g", weight="w")
    (code, report, said), (failed, _, message) = found
    assert (code, said) == (0, "")
    rows = {"g": ["F", "M"] * 6, "y": [1, 0] * 6, "p": [1] * 12}
    wanted = fg.audit(pa.table(rows), label="y", prediction="p", sensitive="g", positive="1")
    assert json.loads(report)["data"]["fingerprint"] == wanted.data.fingerprint
    assert failed == 2
    assert message.startswith("Error: Spark cannot read 'spark_catalog.default.peple': [TABLE")


UNANSWERED = """
import sys
from fairgauge.cli import main
from fairgauge.scan import spark
spark._PATIENCE = 2
main(sys.argv[1:])
"""


def test_no_spark_connect_answers():
    """By a program of its own: where a session of another kind runs, pyspark starts none."""
    pytest.importorskip("pyspark.sql")
    pytest.importorskip("grpc_status")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"sc://127.0.0.1:{unused.getsockname()[1]}"
        asked = ["audit", "--spark", f"{url}/;token=secret", "--table", "people", *ASKED]
        command = [sys.executable, "-c", UNANSWERED, *asked]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: no Spark Connect answers at {url} within 2 s")
    assert "secret" not in done.stderr


@pytest.mark.parametrize("scheme", ["s3", "s3a", "gs", "abfss"])
def test_a_store_that_spark_has_no_file_system_for(scheme):
    """As pyspark comes; what its session is given the jars of is read by it."""
    engines.spark_session()
    named = f"{scheme}://bank/loans.parquet"
    result = CliRunner().invoke(main, ["audit", "--spark", "local[1]", named, *ASKED])
    assert result.exit_code == 2
    assert f"cannot read '{named}': it has no file system for such addresses" in result.stderr
    assert "or omit --spark" in result.stderr


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
    assert "no DATA: give files" in result.stderr


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv.gz", "rows.jsonl"])
def test_other_formats_are_read_without_spark(name):
    with pytest.raises(DataError, match=f"Spark counts Parquet files, not '{name}'; omit --spark"):
        read_by_spark("local[1]", [name])


def test_spark_reads_the_history_as_a_partitioned_table(tmp_path):
    history = fg.History(tmp_path)
    for i in (1, 2, 3):
        women, men = {"tp": 40, "fn": 60 + i}, {"tp": 80, "fn": 120}
        history.add(f"2026-01-0{i}", fg.confusion("sex", {"F": women, "M": men}))
    table = spark_session().read.json(str(tmp_path))
    rows = table.selectExpr("cast(period as string)", "rows").orderBy("period").collect()
    assert [tuple(row) for row in rows] == [(f"2026-01-0{i}", 300 + i) for i in (1, 2, 3)]
