"""Several files are one table: whatever types and names its parts have, the same rows count."""

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import fairgauge as fg
from fairgauge.errors import DataError
from fairgauge.scan.input_files import open_files
from fairgauge.scan.row_codes import read_rows

DRAWN = random.Random(8)
ROWS = pa.table({
    "g": [DRAWN.choice("ab") for _ in range(600)], "y": [DRAWN.choice([0, 1]) for _ in range(600)],
    "s": [DRAWN.choice([0.1, 0.3, 0.7, 0.7, 0.9, 4.25, 100.5, None]) for _ in range(600)],
})  # fmt: skip
ASKED = {
    "threshold": {"label": "y", "prediction": "s", "positive": ">0.69", "sensitive": "g"},
    "group": {"label": "y", "sensitive": "s"},
    "closed": {"label": "y", "sensitive": {"column": "s", "cuts": [0.1, 0.7], "closed": "left"}},
}  # fmt: skip
SIZES = {
    "half": pa.float16(), "single": pa.float32(), "double": pa.float64(),
    "decimal": pa.decimal128(9, 3),
}  # fmt: skip


def write_parts(folder: Path, suffix: str, kinds: list[str]) -> list[Path]:
    """Write a third of the rows into each file, with the scores of another type."""
    paths = []
    for i, kind in enumerate(kinds):
        part = ROWS.slice(i * 200, 200)
        narrow = part["s"].cast(pa.float32()) if kind == "half" else part["s"]
        part = part.set_column(2, "s", narrow.cast(SIZES[kind]))
        paths.append(folder / f"part-{i}.{suffix}")
        (feather.write_feather if suffix == "arrow" else pq.write_table)(part, str(paths[-1]))
    return paths


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "kinds", [("single", "double", "single"), ("half",) * 3, ("decimal", "single", "double")]
)
def test_floats_of_every_part_are_the_decimals_that_they_stand_for(tmp_path, suffix, kinds, asked):
    paths = write_parts(tmp_path, suffix, list(kinds))
    whole = fg.count(ROWS, **asked)
    given: list[Any] = [paths, str(tmp_path / "*"), *([tmp_path] if suffix == "parquet" else [])]
    assert [fg.count(each, **asked).digest for each in given] == [whole.digest] * len(given)


@pytest.mark.parametrize("asked", [
    {"sensitive": "d"}, {"sensitive": {"column": "d", "cuts": [2]}}, {"weight": "d"},
    {"where": "d > 2"}, {"cluster": "d"},
])  # fmt: skip
def test_decimals_of_too_many_digits_are_refused_where_they_are_used(tmp_path, asked):
    """DuckDB 1.5 reads 1.00 of decimal256(50, 2) as 16777216."""
    wide = pa.array([Decimal("1.00"), Decimal("2.50"), None], pa.decimal256(50, 2))
    rows = pa.table({"g": ["a", "b", "b"], "y": [1, 0, 1], "d": wide})
    pq.write_table(rows, tmp_path / "a.parquet")
    pq.write_table(rows.set_column(2, "d", rows["d"].cast(pa.float64())), tmp_path / "b.parquet")
    for data in (tmp_path / "a.parquet", tmp_path):
        with pytest.raises(
            DataError, match=r"column 'd' is decimals of 50 digits.*make it a decimal"
        ):
            fg.count(data, **({"label": "y", "sensitive": "g"} | asked))
    assert fg.count(tmp_path, label="y", sensitive="g").rows == 6
    assert fg.count(rows, label="y", sensitive="d").rows == 3


LEFT_OVER = [
    "_temporary/0/part-1.parquet", ".part-0.parquet", "g=b/_tmp/x.parquet", "_old.parquet",
    ".ipynb_checkpoints/x.parquet", ".hidden=1/x.parquet",
]  # fmt: skip


@pytest.fixture
def with_leftovers(tmp_path):
    """A folder in partitions, of which one begins with _, and files that are no part of it."""
    part = pa.table({"y": [1, 0, 1, 1]})
    whole = ["g=a/_x=1/0.parquet", "g=b/_x=2/0.parquet"]
    for name in (*whole, *LEFT_OVER):
        path = tmp_path / "loans" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(part, path)
    return tmp_path / "loans"


def skipped(report: Any) -> list[int]:
    """Return how many files each of the notes states that were skipped."""
    return [each["files"] for each in report.diagnostics if each.code == "skipped_files"]


def test_files_that_are_no_part_of_a_table_are_skipped_and_stated(
    with_leftovers, tmp_path, monkeypatch
):
    asked: dict[str, Any] = {"label": "y", "sensitive": "g"}
    report = fg.audit(with_leftovers, **asked)
    assert (report.data.rows, skipped(report)) == (8, [6])
    report.save(tmp_path / "report.md")
    assert "6 files are skipped" in (tmp_path / "report.md").read_text()
    assert fg.count(with_leftovers, label="y", sensitive="_x").rows == 8
    monkeypatch.chdir(with_leftovers)
    for here in (".", f"../{with_leftovers.name}", "./"):
        assert fg.count(here, **asked).rows == 8
    report = fg.audit(str(with_leftovers / "**" / "*.parquet"), **asked)
    assert (report.data.rows, skipped(report)) == (8, [3])  # ** finds none below a dot


MARKS = {
    "Delta": "_delta_log/00000000000000000000.json",
    "Hudi": ".hoodie/hoodie.properties",
    "Iceberg": "metadata/00001-8b27.metadata.json",
    "DuckLake": "main/loans/ducklake-0197cbb1-7a2e-7d9c-a0b2-6e9d3d0f7e11.parquet",
}


@pytest.mark.parametrize("depth", ["", "data/1001/1110/0001"])
@pytest.mark.parametrize("kind", MARKS)
def test_files_of_lake_tables_are_refused(tmp_path, kind, depth):
    """They hold former rows, wherever they are below the mark of the table."""
    rows = pa.table({"g": ["a", "b"], "y": [1, 0]})
    mark = tmp_path / "lake" / "loans" / MARKS[kind]
    files = tmp_path / "lake" / "loans" / depth
    for folder in (mark.parent, files, tmp_path / "lake" / "plain"):
        folder.mkdir(parents=True, exist_ok=True)
    mark.write_text("{}")
    pq.write_table(rows, files / "part-0.parquet")
    pq.write_table(rows, tmp_path / "lake" / "plain" / "part-0.parquet")
    named = [files / "part-0.parquet", files, str(files / "*.parquet"), tmp_path / "lake",
             str(tmp_path / "lake" / "**" / "*.parquet"), tmp_path / "lake" / "loans"]  # fmt: skip
    if kind == "DuckLake":
        named = [mark, mark.parent, *named[3:]]
    if kind == "Delta":  # opened as a table, which this is none
        named = [each for each in named if each != tmp_path / "lake" / "loans"]
    for each in named:
        with pytest.raises(DataError, match=rf"is an? {kind} table, whose files may hold rows"):
            fg.count(each, label="y", sensitive="g")
    assert fg.count(tmp_path / "lake" / "plain", label="y", sensitive="g").rows == 2


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_rows_are_read_in_the_order_of_the_files(tmp_path, suffix):
    polars = pytest.importorskip("polars")
    rows, paths = polars.DataFrame({"file_row_number": range(400_000)}), []  # as DuckDB has it
    for part in (rows[:30_000], rows[30_000:]):
        paths.append(path := tmp_path / f"{len(paths)}.{suffix}")
        part.write_csv(path) if suffix == "csv" else part.write_parquet(path, row_group_size=20_000)
    source = open_files(paths)
    for most in (None, 150_000):
        read = read_rows(source, ["file_row_number"], most)["file_row_number"]
        assert read == list(range(most or 400_000))


# ---- probabilities of groups that stand in a table of their own, by place or surname
GROUPS = {"Black": "black", "White": "white", "other": "rest"}
ZIPS = ["02139", "10001", "60614", "94110", "73301"]
ASKED_PLACES = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with a table by ZIP code, and data whose rows have the codes alone."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = pl.DataFrame(rng.dirichlet([0.3, 0.6, 0.2], len(ZIPS)), schema=list(GROUPS.values()))
    p.insert_column(0, pl.Series("zip", ZIPS)).write_csv("race.csv")
    pl.read_csv("race.csv", schema_overrides={"zip": pl.String}).write_parquet("race.parquet")
    return tmp_path


def rows(number=600):
    rng = np.random.default_rng(1)
    zips = [[*ZIPS, "99999", None][i] for i in rng.integers(0, 7, number)]
    return pl.DataFrame({"zip": zips, "chosen": rng.integers(0, 2, number), "white": "unrelated"})


def race(table="race.csv", **more):
    return {"race": fg.probabilities(GROUPS, table=table, on="zip", **more)}


def joined(data):
    table = pl.read_csv("race.csv", schema_overrides={"zip": pl.String})
    return data.drop("white").join(table, on="zip", how="left", maintain_order="left")


ENGINES = {
    "polars": lambda data: data,
    "lazy": lambda data: data.lazy(),
    "pandas": lambda data: pd.DataFrame({c: data[c].to_list() for c in data.columns}),
    "pyarrow": lambda data: data.to_arrow(),
    "csv": lambda data: data.write_csv("rows.csv") or "rows.csv",
    "parquet": lambda data: data.write_parquet("rows.parquet") or "rows.parquet",
}


@pytest.mark.parametrize("engine", ["lazy", "pandas", "csv"])
def test_a_joined_table_is_counted_as_its_columns_in_the_data_are(folder, engine):
    data = rows()
    wanted = fg.audit(joined(data), sensitive={"race": fg.probabilities(GROUPS)}, **ASKED_PLACES)
    for table in ("race.csv", "race.parquet"):
        report = fg.audit(ENGINES[engine](data), sensitive=race(table), **ASKED_PLACES)
        assert report.estimates == wanted.estimates
        assert report.data.excluded == wanted.data.excluded
        assert report.data.excluded["missing race"] > 100
        assert [e["on"] for e in report.diagnostics if e.code == "place_proxy"] == ["zip"]


WRONG = {
    "twice": ("'zip' = '10001' is in 'race.csv' twice", lambda t: pl.concat([t, t[1:2]])),
    "sum": (
        r"1 row has probabilities that do not sum to 1;",
        lambda t: t.with_columns(
            black=pl.when(pl.int_range(pl.len()) == 2).then(0.5).otherwise(pl.col("black"))
        ),
    ),
    "column": ("has no column 'rest'", lambda t: t.drop("rest")),
    "keys": (
        r"the data have '.*, the table '2139', '10001', '60614' and 2 more; keys are",
        lambda t: t.with_columns(zip=pl.Series(["2139", "10001", "60614", "9", "8"])),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_table_is_refused_with_what_is_wrong(folder, case):
    message, change = WRONG[case]
    table = pl.read_csv("race.csv", schema_overrides={"zip": pl.String})
    change(table).write_csv("race.csv")
    data = rows().filter(pl.col("zip").is_in(["02139", "94110"]) if case == "keys" else True)
    for made in (data, ENGINES["csv"](data)):
        with pytest.raises(fg.SpecError, match=message):
            fg.audit(made, sensitive=race(), **ASKED_PLACES)


def test_a_table_needs_the_column_that_both_have():
    with pytest.raises(fg.SpecError, match="name the column of both"):
        fg.probabilities(GROUPS, table="race.csv")
    with pytest.raises(fg.SpecError, match="name their file"):
        fg.probabilities(GROUPS, on="zip")
