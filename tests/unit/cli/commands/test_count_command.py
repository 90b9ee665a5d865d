"""fairgauge count, merge, and cubes as DATA."""

import json
import sqlite3

import duckdb
import pytest
from click.testing import CliRunner
from loan_cases import CELLS, SEX, table

import fairgauge as fg
from fairgauge.cli import main


@pytest.fixture
def shards(loans, tmp_path):
    cells = list(CELLS.items())
    for name, part in (("a", cells[::2]), ("b", cells[1::2])):
        (tmp_path / f"{name}.csv").write_text(table(dict(part)))
    return loans


def estimates(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["estimates"]


def test_shards_add_up(run, shards):
    for name in "ab":
        assert run("count", f"{name}.csv", *SEX, "-o", f"{name}.cube.json").exit_code == 0
    merged = run("merge", "a.cube.json", "b.cube.json", "-o", "all.cube.json")
    assert (merged.exit_code, merged.stdout, merged.stderr) == (0, "", "")
    rows = estimates(run("audit", shards, *SEX, "--format", "json"))
    assert estimates(run("audit", "all.cube.json", "--format", "json")) == rows
    assert estimates(run("audit", "a.cube.json", "b.cube.json", "--format", "json")) == rows
    assert estimates(run("audit", "?.cube.json", "--format", "json")) == rows
    assert run("merge", "?.cube.json").stdout.strip() == (fg.load("all.cube.json").to_json())


def test_what_a_cube_does_not_hold(run, fails, loans):
    run("count", loans, *SEX, "-o", "day.cube.json")
    assert "these counts do not hold the feature 'region'" in fails(
        "audit", "day.cube.json", "--sensitive", "region"
    )
    said = fails("audit", "day.cube.json", "--sensitive", "region:a")
    assert "sensitive[0]: the cut points after 'region:' must be numbers" in said
    assert "no metric named 'XX'" in fails("audit", "day.cube.json", "--metrics", "XX")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ("merge", "day.cube.json", "other.cube.json"),
            "cannot add 'other.cube.json' to the cubes before it: the cubes count different",
        ),
        (("merge", "no.cube.json"), "no file 'no.cube.json'"),
        (("merge", "no*.cube.json"), "no file 'no*.cube.json'"),
        (("merge", "day.cube.json", "-o", "day.cube.json"), "the output 'day.cube.json' is also"),
        (
            ("merge", "day.cube.json", "-o", "x.json"),
            "counts are saved as FILE.cube.json; 'x.json' ends",
        ),
        (
            ("count", "loans.csv", *SEX, "-o", "x"),
            "counts are saved as FILE.cube.json; 'x' ends otherw",
        ),
        (("merge", "report.json"), "'report.json' is no cube of counts; fairgauge count makes one"),
        (("merge", "loans.csv"), "'loans.csv' is no saved result of fairgauge, or is truncated"),
        (("audit", "day.cube.json", "loans.csv"), "files of different formats cannot be read"),
    ],
)
def test_refusals(run, fails, loans, args, said):
    run("count", loans, *SEX, "-o", "day.cube.json")
    run("count", loans, *SEX[:-1], "region", "-o", "other.cube.json")
    run("audit", loans, *SEX, "-o", "report.json")
    assert fails(*args).startswith(said)


def test_counts_from_standard_input_are_audited(run, fails, loans):
    counts = run("count", loans, *SEX).stdout
    rows = estimates(run("audit", loans, *SEX, "--format", "json"))
    assert estimates(run("audit", "-", "--format", "json", stdin=counts)) == rows
    assert run("validate", "-", stdin=counts).exit_code == 0
    assert "'standard input': these counts were changed or damaged" in fails(
        "audit", "-", stdin=counts.replace('"rows":40', '"rows":41')
    )
    assert fails("audit", "-", loans, stdin=counts) == (
        "standard input holds counts, not rows; audit them alone, or merge them with other counts "
        "(fairgauge merge): the name of their file ends in .cube.json"
    )


@pytest.mark.parametrize(
    ("added", "weights", "note"),
    [
        ("", "", ""),
        ("1,1,M,1,1\n", "", "Note: 1 case alone in a cell of the counts: "),
        ("1,1,M,2,0.5\n", "--weight", ""),
    ],
    ids=["many people a row", "one person", "weights are not people"],
)
def test_cases_alone_in_a_cell_are_those_of_the_count_column(run, tmp_path, added, weights, note):
    rows = "y,p,sex,n,w\n1,1,F,300,1\n0,0,F,600,1\n1,0,M,400,1\n0,1,M,500,1\n"
    (tmp_path / "t.csv").write_text(rows + added)
    flags = ("--label", "y", "--prediction", "p", "--sensitive", "sex", "--count", "n")
    weighted = (weights, "w") if weights else ()
    shown = run("count", f"{tmp_path}/t.csv", *flags, *weighted).stderr
    assert shown.partition("alone")[0] == note.partition("alone")[0]


# ---- ``fairgauge count --show-sql``: the query that would run, and no count
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
