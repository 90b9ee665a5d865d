"""Numbers that no sum can hold are refused by every engine, in the same words."""

import pandas as pd
import polars as pl
import pytest

import fairgauge as fg

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
        ("w", [1.0, -2.0], BINARY | {"weight": "w"}, "'w' is the weight, but has the value -2"),
        ("w", [1.0, float("inf")], BINARY | {"weight": "w"}, "has the value inf; leave"),
        ("w", [1.0, 1e200], BINARY | {"weight": "w"}, "largest value is 1e.200; divide it"),
        ("w", [1e-200, 1e-200], BINARY | {"weight": "w"}, "largest value is 1e-200; divide it"),
        ("w", [1.0, -2.0], BINARY | {"count": "w"}, "'w' is the count, but has the value -2"),
        ("w", [1.0, float("inf")], BINARY | {"count": "w"}, "'w' is the count, but has the val"),
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


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_a_column_without_any_number_is_named(engine):
    none = pl.Series([None, None], dtype=pl.Float64)
    frame = pl.DataFrame({"sex": ["F", "M"], "y": [1.0, 0.5], "p": none})
    with pytest.raises(fg.DataError, match=r"column 'p' \(prediction\) holds no number in any row"):
        fg.audit(frame.to_pandas() if engine == "pandas" else frame, **REGRESSION)


@pytest.mark.parametrize("sensitive", [[0, 1, 1, 0], [True, False, False, True]])
def test_a_list_of_numbers_is_a_column_of_values(sensitive):
    report = fg.audit(label=[1, 0, 1, 0], prediction=[1, 1, 0, 0], positive=1, sensitive=sensitive)
    assert len({group.group for group in report.groups if group.reference_kind is None}) == 2
