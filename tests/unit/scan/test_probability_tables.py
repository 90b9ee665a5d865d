"""Probabilities of groups that stand in a table of their own, by place or surname."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg

GROUPS = {"Black": "black", "White": "white", "other": "rest"}
ZIPS = ["02139", "10001", "60614", "94110", "73301"]
ASKED = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}


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
    wanted = fg.audit(joined(data), sensitive={"race": fg.probabilities(GROUPS)}, **ASKED)
    for table in ("race.csv", "race.parquet"):
        report = fg.audit(ENGINES[engine](data), sensitive=race(table), **ASKED)
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
            fg.audit(made, sensitive=race(), **ASKED)


def test_a_table_needs_the_column_that_both_have():
    with pytest.raises(fg.SpecError, match="name the column of both"):
        fg.probabilities(GROUPS, table="race.csv")
    with pytest.raises(fg.SpecError, match="name their file"):
        fg.probabilities(GROUPS, on="zip")
