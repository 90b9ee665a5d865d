"""Probabilities of groups are counted alike by every engine, in any parts."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg

COLUMNS = {"A": "p_a", "B": "p_b", "other": "p c"}
ASKED = {
    "prediction": "chosen",
    "positive": 1,
    "sensitive": {"race": fg.probabilities(COLUMNS, known="reported", tolerance=1e-3)},
}


def rows(number=400):
    """Draw rows: rounded probabilities, of 0 and 1, on edges of the grid, and missing ones."""
    rng = np.random.default_rng(11)
    p = rng.dirichlet([0.2, 0.4, 0.2], number)
    p[:40] = np.eye(3)[rng.integers(0, 3, 40)]
    p[40:80] = np.array([[0.05, 0.15, 0.8], [0.3, 0.35, 0.35]])[rng.integers(0, 2, 40)]
    p[80:120] = p[80:120].round(4)
    frame = pl.DataFrame(p, schema=list(COLUMNS.values()))
    empty = pl.int_range(pl.len()).is_between(130, 140)
    return frame.with_columns(
        *(pl.when(empty).then(None).otherwise(pl.col(c)).alias(c) for c in COLUMNS.values()),
        chosen=pl.Series(rng.integers(0, 2, number)),
        reported=pl.Series([["A", "B", "other", None][i] for i in rng.integers(0, 4, number)]),
    )


def written(data, how, folder):
    if how == "parquet":
        data.write_parquet(folder / "rows.parquet")
        return folder / "rows.parquet"
    if how == "csv":
        data.write_csv(folder / "rows.csv")
        return folder / "rows.csv"
    if how == "duckdb":
        frame = data.to_arrow()
        return duckdb.connect().from_arrow(frame)
    if how == "pandas":
        return pd.DataFrame({name: data[name].to_list() for name in data.columns})
    return data.to_arrow() if how == "pyarrow" else data


ENGINES = ("parquet", "csv", "duckdb", "pandas", "pyarrow", "polars")


@pytest.mark.parametrize("how", ENGINES)
def test_every_engine_makes_the_same_counts(how, tmp_path):
    data = rows()
    expected = fg.count(data, **ASKED)
    assert expected.rows == 400
    assert fg.count(written(data, how, tmp_path), **ASKED).digest == expected.digest


@pytest.mark.parametrize("how", [how for how in ENGINES if how != "csv"])
def test_nan_is_missing_in_every_engine(how, tmp_path):
    """Statistics of Parquet files leave NaN out: a file seems to hold numbers from 0 to 1 alone."""
    data, at = rows(), pl.int_range(pl.len())
    empty = pl.when(at.is_between(130, 140)).then(float("nan"))
    data = data.with_columns(empty.otherwise(pl.col(c)).alias(c) for c in COLUMNS.values())
    assert (
        fg.count(written(data, how, tmp_path), **ASKED).digest == fg.count(rows(), **ASKED).digest
    )
    partly = data.with_columns(p_a=pl.when(at == 7).then(float("nan")).otherwise(pl.col("p_a")))
    with pytest.raises(fg.SpecError, match="1 row has some but not all of probabilities missing"):
        fg.count(written(partly, how, tmp_path), **ASKED)


@pytest.mark.parametrize("how", ENGINES)
def test_every_engine_adds_shards_digit_for_digit(how, tmp_path):
    data, parts = rows(), []
    for i, part in enumerate((data[250:], data[:90], data[90:250])):
        (tmp_path / str(i)).mkdir()
        parts.append(fg.count(written(part, how, tmp_path / str(i)), **ASKED))
    assert (parts[0] + parts[1] + parts[2]).digest == fg.count(data, **ASKED).digest


@pytest.mark.parametrize("how", ENGINES)
def test_every_engine_refuses_the_same_rows(how, tmp_path):
    data = rows().with_row_index("row")
    wrong = {7: 1.2, 9: None, 11: 0.9, 12: -0.1}
    first = pl.col("p_a")
    for at, value in wrong.items():
        first = pl.when(pl.col("row") == at).then(pl.lit(value)).otherwise(first)
    data = data.with_columns(first.alias("p_a"), pl.col("p_b").clip(0, 1)).drop("row")
    with pytest.raises(fg.SpecError) as error:
        fg.count(written(data, how, tmp_path), **ASKED)
    text = str(error.value)
    assert "2 rows have probabilities below 0 or above 1;" in text
    assert "the first is row 8 ('p_a' = 1.2, 'p_b' = " in text
    assert "1 row has some but not all of probabilities missing;" in text
    assert "1 row has probabilities that do not sum to 1;" in text


def test_two_features_of_probabilities_are_counted_by_files_as_by_frames(tmp_path):
    data = rows()
    again = fg.probabilities(COLUMNS, tolerance=1e-3)
    asked = ASKED | {"sensitive": {"race": again, "again": again}}
    assert fg.count(written(data, "parquet", tmp_path), **asked).digest == (
        fg.count(data, **asked).digest
    )
    report = fg.audit(written(data, "duckdb", tmp_path), **asked)
    one, two = (
        [e.value for e in report.estimates if e.feature == name] for name in ("race", "again")
    )
    assert one == two
