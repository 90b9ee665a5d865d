"""Searches of rows that are read in batches, against searches of counts of all features."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES

import fairgauge as fg
from fairgauge.api import searching
from fairgauge.errors import SpecError

ASKED = {"label": "y", "prediction": "p", "positive": 1, "metrics": "false_positive_rate"}
FEATURES = ["sex", "town", "income", fg.cut("age", [30, 60]), "day"]


def people(rows, seed=1):
    """Rows with all kinds of features, missing values in each, one subgroup worse."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        "sex": rng.choice(["F", "M"], rows),
        "town": [f"t{each}" for each in rng.integers(0, 70, rows)],
        "income": rng.normal(50, 9, rows).round(1),
        "age": rng.integers(18, 90, rows),
        "day": pl.Series(rng.integers(0, 3, rows).astype("datetime64[D]")),
        "y": (rng.random(rows) < 0.4).astype(int),
    })  # fmt: skip
    worse = ((frame["sex"] == "F") & (frame["age"] > 60)).to_numpy()
    p = (rng.random(rows) < 0.15 + 0.3 * worse).astype(int)
    gaps = [
        pl.when(pl.Series(rng.random(rows) < 0.03)).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("sex", "town", "income", "age", "day", "y")
    ]
    return frame.with_columns(*gaps, p=pl.Series(p))


def found_both_ways(data, monkeypatch, **asked):
    """Return what is found by counts of all features, and by reading rows in batches."""
    asked = {**ASKED, "sensitive": FEATURES, **asked}
    with monkeypatch.context() as patched:
        patched.setattr(searching, "_MOST_CELLS", 10**9)
        counted = fg.find(data, **asked)
        patched.setattr(searching, "_MOST_CELLS", 0)
        patched.setattr(searching, "_MOST_JOINT_CELLS", 0)  # so that nothing else can answer
        return counted, fg.find(data, **asked)


def content(found):
    written = found.to_dict()
    return {
        name: value for name, value in written.items() if name not in ("created", "fingerprint")
    }


FRAME = people(3_000)


def file_of(kind):
    def write(frame, folder):
        path = str(folder / f"rows.{kind}")
        frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
        return path

    return write


@FEW_EXAMPLES
@given(
    rows=st.integers(60, 900),
    seed=st.integers(0, 99),
    depth=st.integers(1, 5),
    min_rows=st.integers(1, 40),
    worse=st.sampled_from(["higher", "lower"]),
    missing=st.sampled_from(["group", "exclude"]),
    rate=st.sampled_from(["selection_rate", "precision", "accuracy"]),
)
def test_of_any_question_what_is_found_is_the_same(
    rows, seed, depth, min_rows, worse, missing, rate
):
    frame = people(rows, seed).to_pandas().assign(n=1 + np.arange(rows) % 3)
    with pytest.MonkeyPatch.context() as patched:
        counted, streamed = found_both_ways(
            frame, patched, depth=depth, min_rows=min_rows, worse=worse, missing=missing,
            metrics=rate, count="n", sensitive=["sex", fg.cut("age", [30, 60]), "income", "day"],
            recode={"sex": {"woman": ["F"], "unknown": ["M"]}},
        )  # fmt: skip
    assert content(streamed) == content(counted)


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas"])
def test_the_rows_that_meet_conditions_are_read_alone(monkeypatch, tmp_path, kind):
    data = FRAME.to_pandas() if kind == "pandas" else file_of(kind)(FRAME, tmp_path)
    where = ["20 < age <= 85", "sex = F or woman", "town != t3 or t4", "income > 30"]
    recode = {"sex": {"woman": ["M"]}}
    counted, streamed = found_both_ways(data, monkeypatch, where=where, recode=recode)
    assert content(streamed) == content(counted)
    assert 0 < streamed.overall.rows < len(FRAME)


def test_data_that_change_while_they_are_read_are_refused(tmp_path, monkeypatch):
    from fairgauge.scan._duckdb_relation import DuckRows

    path = file_of("csv")(FRAME, tmp_path)
    read = DuckRows.batches

    def changed(self, plan):
        FRAME.with_columns(sex=pl.lit("X")).write_csv(path)
        return read(self, plan)

    monkeypatch.setattr(DuckRows, "batches", changed)
    with pytest.raises(fg.DataError, match="'sex' has the value 'X', which it had not"):
        found_both_ways(path, monkeypatch)


def test_the_fingerprint_is_of_all_counts_in_any_order_of_rows(monkeypatch):
    _, one = found_both_ways(FRAME, monkeypatch)
    _, other = found_both_ways(FRAME.sample(fraction=1, shuffle=True, seed=4), monkeypatch)
    assert one.fingerprint == other.fingerprint
    sex = FRAME["sex"].to_list()
    swapped = FRAME.with_columns(sex=pl.Series([*sex[1:], sex[0]]))  # each column alone as it was
    assert found_both_ways(swapped, monkeypatch)[1].fingerprint != one.fingerprint


def test_what_would_not_fit_into_memory_is_refused_before_it_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(searching, "_MOST_CELLS", 100)
    monkeypatch.setattr(searching, "_MOST_JOINT_CELLS", 1_000)
    path = tmp_path / "rows.jsonl"
    FRAME.with_columns(pl.col("day").cast(str)).write_ndjson(path)
    with pytest.raises(
        SpecError, match=r"may make [123],\d{3} cells, and more than 1,000 .*search"
    ):
        fg.find(path, sensitive=FEATURES, **ASKED)
