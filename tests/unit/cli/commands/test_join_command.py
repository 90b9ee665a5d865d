"""``fairgauge join``: labels that came later, and everything that does not fit, counted."""

from __future__ import annotations

import duckdb
import pytest
from click.testing import CliRunner

from fairgauge.cli import main

PREDICTIONS = """id,sex,predicted
1,F,1
2,F,0
3,M,1
3,M,1
4,M,1
4,M,0
5,F,1
,F,1
07,M,0
"""
LABELS = """approved,id
1,1
1,1
0,2
0,5
1,5
1,9
0,4
1,7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text(PREDICTIONS)
    (tmp_path / "l.csv").write_text(LABELS)
    return tmp_path


def join(*args):
    return CliRunner().invoke(main, ["join", *args])


def test_everything_that_does_not_fit_is_counted(folder):
    result = join("p.csv", "l.csv", "--on", "id", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "5 rows written, 2 with a label",
        "3 rows without a label",
        "1 repeated prediction counted once",
        "1 repeated label counted once",
        "1 identifier with different predictions, excluded",
        "1 identifier with different labels, none of them used",
        "2 labels without a prediction, excluded",
        "1 row without an identifier, excluded",
    ]
    rows = (folder / "out.csv").read_text().splitlines()
    assert rows[0] == "id,sex,predicted,approved"
    assert rows[1:] == ["1,F,1,1", "2,F,0,0", "3,M,1,", "5,F,1,", "07,M,0,"]


def test_identifiers_of_two_types_are_the_same_text(folder):
    labels = duckdb.sql("SELECT range AS id, range % 2 AS approved FROM range(1, 4)")
    labels.write_parquet("l.parquet")
    assert join("p.csv", "l.parquet", "--on", "id", "-o", "out.parquet").exit_code == 0
    found = duckdb.sql("SELECT id, approved FROM 'out.parquet' ORDER BY id").fetchall()
    assert found == [("07", None), ("1", 1), ("2", 0), ("3", 1), ("5", None)]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("floats", ["predictions", "labels"])
def test_whole_numbers_that_became_floats_are_the_integers_that_they_were(folder, floats, suffix):
    sides = {"predictions": "range % 3 AS predicted", "labels": "range % 2 AS approved"}
    for side, column in sides.items():
        kind = "DOUBLE" if side == floats else "BIGINT"
        made = duckdb.sql(f"SELECT CAST(range AS {kind}) AS id, {column} FROM range(100)")
        (made.write_csv if suffix == "csv" else made.write_parquet)(f"{side}.{suffix}")
    result = join(f"predictions.{suffix}", f"labels.{suffix}", "--on", "id", "-o", "out.parquet")
    assert result.exit_code == 0, result.output
    assert result.output == "100 rows written, 100 with a label\n"


def test_a_row_whose_identifier_is_written_in_two_ways_is_there_twice(folder):
    (folder / "p.csv").write_text("id,predicted\n1,1\n1.0,1\n2.0,0\n")
    (folder / "l.csv").write_text("id,approved\n1,1\n2,0\n")
    result = join("p.csv", "l.csv", "--on", "id", "-o", "out.csv")
    assert "1 repeated prediction counted once" in result.output
    assert (folder / "out.csv").read_text() == "id,predicted,approved\n1,1,1\n2.0,0,0\n"


@pytest.mark.parametrize(
    ("labels", "code"),
    [("1,x\n2,y\n", 0), ("", 0), ("00007,x\n00008,y\n", 3), ("9,x\n9,y\n", 3), (",x\n", 0)],
)
def test_labels_of_other_rows_are_warned_of(folder, labels, code):
    (folder / "p.csv").write_text("id,predicted\n1,1\n7,0\n")
    (folder / "l.csv").write_text("id,approved\n" + labels)
    result = join("p.csv", "l.csv", "--on", "id", "-o", "out.csv")
    assert result.exit_code == code, result.output
    assert ("Warning: no label has the identifier of a prediction" in result.stderr) == (code == 3)
    assert (folder / "out.csv").exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_order_of_the_predictions_is_kept(folder, suffix):
    size = 150_000  # more than a row group
    query = f"SELECT (range * 7919) % {size} AS id, range AS place FROM range({size})"
    made = duckdb.sql(query)
    (made.write_csv if suffix == "csv" else made.write_parquet)(f"p.{suffix}")
    duckdb.sql(f"SELECT range AS id, range % 2 AS y FROM range({size})").write_parquet("l.parquet")
    assert join(f"p.{suffix}", "l.parquet", "--on", "id", "-o", "out.parquet").exit_code == 0
    places = duckdb.sql("SELECT CAST(place AS INT) FROM 'out.parquet'").fetchall()
    assert places == [(i,) for i in range(size)]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("p.csv", "l.csv", "--on", "key", "-o", "o.csv"), "'p.csv' has no column 'key'"),
        (("p.csv", "p.csv", "--on", "id", "-o", "o.csv"), "both have 'sex', 'predicted'"),
        (("p.csv", "l.csv", "--on", "id", "-o", "o.txt"), "neither .parquet nor .csv"),
        (("p.csv", "no.csv", "--on", "id", "-o", "o.csv"), "no.csv"),
        (("p.csv", "l.csv", "--on", "id", "-o", "l.csv"), "also an input"),
        (("p.csv", "l.csv", "--on", "id", "-o", "no/o.csv"), "there is no folder"),
        (("p.json", "l.csv", "--on", "id", "-o", "o.csv"), "neither a CSV nor a Parquet file"),
    ],
)
def test_mistakes_end_with_a_message(folder, args, message):
    (folder / "p.json").write_text('[{"id": 1, "x": 2}]')
    result = join(*args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "should not" not in result.stderr
    assert not (folder / "o.csv").exists()
