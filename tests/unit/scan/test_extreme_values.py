"""Numbers that no sum can hold are refused by every engine, in the same words."""

from __future__ import annotations

import io

import duckdb
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main

REGRESSION = {"label": "y", "prediction": "p", "sensitive": "sex", "task": "regression"}
BINARY = {"label": "y", "prediction": "p", "sensitive": "sex", "positive": 1}
DECIDED = {"prediction": "p", "positive": 1}
CUT = fg.cut("w", [2])
CROSSED = {"sensitive": ["sex", CUT], "intersections": [["sex", "w"]]}


def csv(columns, folder):
    path = folder / "rows.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


def parquet(columns, folder):
    path = folder / "rows.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


ENGINES = {
    "csv": csv,
    "parquet": parquet,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "polars": lambda columns, _: pl.DataFrame(columns),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "values", "asked", "message"),
    [
        ("p", [1.0, 1e200], REGRESSION, "'p' is averaged, but has 1e.200, which is too large"),
        ("p", [1.0, -1e200], REGRESSION, "'p' is averaged, but has -1e.200, which is too large"),
        ("p", [1.0, float("inf")], REGRESSION, "has 'inf'; write plain numbers"),
        ("p", [float("-inf"), 1.0], REGRESSION, "has '-inf'; write plain numbers"),
        ("w", [1.0, float("inf")], BINARY | {"sensitive": CUT}, "has 'inf'; write plain numbers"),
        ("w", [float("-inf"), 1.0], BINARY | {"strata": CUT}, "has '-inf'; write plain numbers"),
        ("w", [1.0, float("inf")], BINARY | CROSSED, "has 'inf'; write plain numbers"),
        ("p", [1.0, float("inf")], BINARY | {"positive": fg.above(0)}, "'inf'; write plain"),
        ("w", [1.0, -2.0], BINARY | {"weight": "w"}, "'w' is the weight, but has the negative"),
        ("w", [1.0, float("inf")], BINARY | {"weight": "w"}, "has the infinite value inf; leave"),
        ("w", [1.0, 1e200], BINARY | {"weight": "w"}, "largest value is 1e.200, whose cube"),
        ("w", [1e-200, 1e-200], BINARY | {"weight": "w"}, "largest value is 1e-200, whose cube"),
        ("w", [1.0, -2.0], BINARY | {"count": "w"}, "'w' is the count, but has the negative"),
        ("w", [1.0, float("inf")], BINARY | {"count": "w"}, "'w' is the count, but has the inf"),
        ("w", [0.0, 0.0], BINARY | {"count": "w"}, "'w' is the count, and every count is 0"),
        ("w", [0.0, 0.0], BINARY | {"weight": "w"}, "'w' is the weight, and the weights sum to 0"),
    ],
)  # fmt: skip
def test_what_no_sum_can_hold_is_refused(tmp_path, engine, column, values, asked, message):
    columns = {"sex": ["F", "M"], "y": [1, 0], "p": [1.0, 0.0]} | {column: values}
    with pytest.raises(fg.DataError, match=message):
        fg.audit(ENGINES[engine](columns, tmp_path), **asked)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_to_do_with_an_infinite_number_works(tmp_path, engine):
    """It was a member of the last group, or of the first."""
    columns = {"sex": ["F", "M"] * 20, "y": [1, 0] * 20, "p": [1, 0, 0, 1] * 10}
    numbers = [None, *[1.0, 3.0] * 19, 1.0]
    report = fg.audit(ENGINES[engine](columns | {"w": numbers}, tmp_path), sensitive=CUT, **DECIDED)
    assert report.groups[0].n + report.groups[1].n == 39
    every = ENGINES[engine](columns | {"w": [float("inf"), *numbers[1:]]}, tmp_path)
    assert fg.audit(every, sensitive="sex", where="w > 2", **DECIDED).data.rows == 20


@pytest.mark.parametrize("engine", ENGINES)
def test_no_range_of_scores_is_advised_for_an_infinite_one(tmp_path, engine):
    columns = {"sex": ["F", "M"], "y": [1, 0], "s": [float("inf"), 0.5]}
    asked = {"label": "y", "score": "s", "sensitive": "sex", "positive": 1}
    with pytest.raises(fg.DataError, match="has 'inf'; write plain numbers") as error:
        fg.audit(ENGINES[engine](columns, tmp_path), **asked)
    assert "score_range" not in str(error.value)


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_a_column_without_any_number_is_named(engine):
    none = pl.Series([None, None], dtype=pl.Float64)
    frame = pl.DataFrame({"sex": ["F", "M"], "y": [1.0, 0.5], "p": none})
    with pytest.raises(fg.DataError, match=r"column 'p' \(prediction\) holds no number in any row"):
        fg.audit(frame.to_pandas() if engine == "pandas" else frame, **REGRESSION)


def test_a_column_is_no_table():
    with pytest.raises(fg.DataError, match="type Series; give a frame"):
        fg.audit(pl.Series("sex", ["F"]), **BINARY)


@pytest.mark.parametrize("sensitive", [[0, 1, 1, 0], [True, False, False, True]])
def test_a_list_of_numbers_is_a_column_of_values(sensitive):
    report = fg.audit(label=[1, 0, 1, 0], prediction=[1, 1, 0, 0], positive=1, sensitive=sensitive)
    assert len({group.group for group in report.groups if group.reference_kind is None}) == 2


def test_parquet_on_standard_input_is_known_by_its_first_bytes():
    written = io.BytesIO()
    pl.DataFrame({"sex": ["F", "M"] * 5, "y": [1, 0] * 5, "p": [1] * 10}).write_parquet(written)
    flags = ("--label", "y", "--prediction", "p", "--positive", "1", "--sensitive", "sex")
    found = CliRunner().invoke(main, ["audit", "-", *flags, "--quiet"], input=written.getvalue())
    assert found.exit_code == 0, found.output
    found = CliRunner().invoke(main, ["audit", "-", *flags, "--quiet"], input=b"PAR1" + bytes(20))
    assert found.exit_code == 2
    assert "is truncated, or not a Parquet file" in found.stderr


def test_nested_columns_of_a_parquet_file_are_one_column_each(tmp_path):
    frame = pl.DataFrame(
        {"who": [{"name": "a", "at": {"x": 1}}] * 4, "sex": ["F", "M"] * 2, "y": [1, 0, 0, 1]}
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    report = fg.audit(tmp_path / "rows.parquet", label="y", sensitive="sex", positive=1)
    assert report.data.rows == 4
    with pytest.raises(fg.DataError, match="who"):
        fg.audit(tmp_path / "rows.parquet", label="y", sensitive="who", positive=1)


def test_the_name_of_a_folder_may_be_a_number(tmp_path):
    for score in ("0.25", "0.75"):
        (tmp_path / f"score={score}").mkdir()
        frame = pl.DataFrame({"sex": ["F", "M"] * 10, "y": [0, 1] * 10})
        frame.write_parquet(tmp_path / f"score={score}" / "rows.parquet")
    asked = {"label": "y", "score": "score", "sensitive": "sex", "positive": 1}
    report = fg.audit(tmp_path / "*" / "*.parquet", **asked)
    whole = {group.rates["selection_rate"].value for group in report.groups}
    assert whole == {0.5}


def test_instants_of_a_relation_are_written_in_universal_time():
    relation = duckdb.sql(
        "SELECT *, i % 2 AS y, i % 3 % 2 AS p FROM (SELECT unnest(range(12)) AS i, "
        "epoch_ms(1700000000000 + 3600000 * (i % 2))::TIMESTAMPTZ AS at)"
    )
    report = fg.audit(relation, label="y", prediction="p", positive=1, sensitive="at")
    names = {group.group for group in report.groups if group.reference_kind is None}
    assert names == {"2023-11-14T22:13:20+00:00", "2023-11-14T23:13:20+00:00"}
