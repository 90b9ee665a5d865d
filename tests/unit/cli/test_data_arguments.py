"""DATA that is not a file: databases by their URL, and files that Spark counts."""

import json
import sqlite3

import duckdb
import pytest

from fairgauge.errors import quote

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


ROWS_OF_SQLITE = (
    "DATA that begin with sqlite:// are rows of a database: give either --table NAME or --query "
    "SELECT (files are read from s3://, gs://, az://, abfss://, https:// and from folders here)"
)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["sqlite:///people.db"], ROWS_OF_SQLITE),
        (["sqlite:///people.db", "--table", "a", "--query", "b"], ROWS_OF_SQLITE),
        (
            ["rows.csv", "--table", "group"],
            (
                "--table 'group' is no table of the report. Did you mean 'groups'? Use estimates, "
                "groups, verdicts, pairs; or, for a table of a database, give its URL as DATA"
            ),
        ),
        (
            ["rows.csv", "--query", "SELECT 1"],
            (
                "--table and --query need one DATA, the URL of a database (such as "
                "postgresql://HOST/NAME or sqlite:///FILE.db)"
            ),
        ),
    ],
)
def test_what_cannot_be(fails, people, args, said):
    assert fails("audit", *args, *QUESTION) == said


def _database(engine):
    """Make a database of a table with spaces in its name, and return its URL."""
    if engine == "sqlite":
        pytest.importorskip("ibis")
    connection = {"sqlite": sqlite3, "duckdb": duckdb}[engine].connect(f"lake.{engine}")
    connection.execute('CREATE TABLE "my loans" (sex TEXT, y INTEGER)')
    connection.execute("INSERT INTO \"my loans\" VALUES ('F', 1), ('F', 0), ('M', 1)")
    connection.execute("CREATE VIEW men AS SELECT * FROM \"my loans\" WHERE sex = 'M'")
    connection.commit()
    connection.close()
    return f"{engine}:///lake.{engine}"


def test_a_view_of_a_database_changes_no_setting_and_writes_no_file(run, people, tmp_path):
    file = str(tmp_path / "log.csv")
    with duckdb.connect("lake.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 'F' AS sex, 1 AS y")
        try:
            logs = f"enable_logging(storage = 'file', storage_path = '{file}')"
            connection.execute(f"CREATE VIEW v AS FROM t UNION ALL SELECT 'M', 0 FROM {logs}")
        except duckdb.Error:
            pytest.skip("this DuckDB starts no log in a view")
    done = run("audit", "duckdb:///lake.duckdb", "--table", "v", *QUESTION)
    assert (done.exit_code, "configuration has been locked" in done.stderr) == (2, True)
    assert not list(tmp_path.glob("log*"))


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["my loan", "people"])
def test_a_table_that_is_not_there(fails, people, engine, name):
    said = fails("audit", _database(engine), "--table", name, *QUESTION)
    meant = "" if name == "people" else " Did you mean 'my loans'?"
    assert said == (
        f"no table {name!r} in '{engine}:///lake.{engine}'.{meant} It has 'men', 'my loans'"
    )


def test_a_database_that_is_not_there(fails, people, tmp_path):
    pytest.importorskip("ibis")
    assert fails("audit", "sqlite:///nope.db", "--table", "loans", *QUESTION) == (
        "no file 'nope.db'; an absolute path takes four slashes (sqlite:////folder/nope.db)"
    )
    said = fails("audit", f"duckdb:///{tmp_path}/nope.db", "--table", "loans", *QUESTION)
    assert said == f"no file {quote(tmp_path / 'nope.db')}"


def test_a_file_of_a_database_is_named_by_a_url(fails, people, tmp_path):
    (tmp_path / "lake.db").write_bytes(b"SQLite format 3\0")
    assert "name it by its URL, such as sqlite:///FILE.db" in fails("audit", "lake.db", *QUESTION)
    assert "its URL as DATA" in fails("audit", "lake.db", "--table", "my loans", *QUESTION)
