"""One scan gives the counts of all periods, as if each had been counted by itself."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main

FLAGS = ["--label", "y", "--prediction", "p", "--sensitive", "g", "--weight", "w"]
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "weight": "w"}


def fairgauge(*args: str) -> object:
    return CliRunner().invoke(main, list(map(str, args)))


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    days = [dt.date(2026, 1, 1) + dt.timedelta(int(i)) for i in rng.integers(0, 40, 4_000)]
    table = pa.table({
        "day": days, "g": rng.choice(["a", "b", "c"], 4_000), "y": rng.integers(0, 2, 4_000),
        "p": rng.integers(0, 2, 4_000), "w": rng.random(4_000), "s": rng.random(4_000),
    })  # fmt: skip
    table = table.filter(pc.or_(pc.not_equal(table["g"], "c"), pc.equal(table["day"], days[0])))
    pq.write_table(table, "rows.parquet")
    return table


def test_every_period_is_counted_as_by_itself(rows):
    for more, asked in (
        ([], {}), (["--score", "s"], {"score": "s"}), (["--where", "y = 1"], {"where": "y = 1"})
    ):  # fmt: skip
        done = fairgauge("count", "rows.parquet", *FLAGS, *more, "--by", "day", "-o", "days")
        assert done.exit_code == 0, done.output
        for day in rows["day"].unique().to_pylist():
            alone = fg.count(rows.filter(pc.equal(rows["day"], day)), **ASKED, **asked)
            assert fg.load(f"days/{day}.cube.json") == alone
    assert "40 periods are in days" in done.stderr


def test_a_history_is_imported_at_once(rows):
    assert fairgauge("count", "rows.parquet", *FLAGS, "--by", "day", "-o", "days").exit_code == 0
    for answer in ("40 periods added, 0 known already", "0 periods added, 40 known already"):
        done = fairgauge("monitor", "import", "history", "days/*.cube.json")
        assert answer in done.stdout, done.stderr
    assert len(fg.History("history").periods) == 40
    (first,) = Path("days").glob("*-01-01*.cube.json")
    done = fairgauge("monitor", "import", "another", first)
    assert done.stdout == "1 period added, 0 known already\n"


def test_what_is_no_period(rows):
    pq.write_table(rows.append_column("n", pa.array([None, *range(1, len(rows))])), "rows.parquet")
    for column, message in (
        ("g", "'a' is no period"),
        ("none", "there is no column 'none'"),
        ("n", "belong to no period"),
    ):
        done = fairgauge("count", "rows.parquet", *FLAGS, "--by", column, "-o", "days")
        assert done.exit_code == 2
        assert message in done.stderr
    done = fairgauge("count", "rows.parquet", *FLAGS, "--by", "day")
    assert "-o FOLDER" in done.stderr
