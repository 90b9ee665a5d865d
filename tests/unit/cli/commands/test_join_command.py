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
