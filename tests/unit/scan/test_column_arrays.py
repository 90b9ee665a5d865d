"""Arrays in place of columns: the same counts as of a frame, and positions that are rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg

LABEL = [1, 0, 1, 0, 1, 1] * 10
PREDICTION = [1, 1, 0, 0, 1, 0] * 10
SEX = ["F", "M", "M", "F", "F", None] * 10
RACE = ["x", "x", "y", "y", "x", "y"] * 10
FRAME = pd.DataFrame({"label": LABEL, "prediction": PREDICTION, "sex": SEX, "race": RACE})
CONTAINERS = {
    "list": list, "tuple": tuple, "numpy": np.array,
    "numpy of objects": lambda values: np.array(values, dtype=object), "pandas": pd.Series,
    "pandas with an index": lambda values: pd.Series(values, index=range(7, 7 + len(values))),
    "polars": pl.Series, "Arrow": pa.array,
    "chunked Arrow": lambda values: pa.chunked_array([values[:7], values[7:]]),
}  # fmt: skip


@pytest.fixture(params=CONTAINERS.values(), ids=CONTAINERS)
def container(request):
    return request.param


def digest(*data, **options):
    return fg.count(*data, **options).digest


BY_NAME = {"label": "label", "prediction": "prediction"}


def test_any_container_is_counted_like_a_frame(container):
    counted = fg.count(
        label=container(LABEL), prediction=container(PREDICTION), sensitive={"sex": container(SEX)}
    )
    assert counted.digest == digest(FRAME, **BY_NAME, sensitive="sex")
    assert counted.rows == len(FRAME)


@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME), pa.table(FRAME)], ids=type)
def test_arrays_stand_beside_a_frame(frame, container):
    rows = frame[["sex", "race"]] if not isinstance(frame, pa.Table) else frame.select(["sex"])
    assert digest(
        rows, label=container(LABEL), prediction=container(PREDICTION), sensitive="sex"
    ) == digest(FRAME, **BY_NAME, sensitive="sex")


def test_data_are_a_table_of_arrays(container):
    table = {"sex": container(SEX), "label": container(LABEL)}
    assert digest(
        table, label="label", prediction=container(PREDICTION), sensitive={"sex": ["F"]}
    ) == digest(FRAME, **BY_NAME, sensitive={"sex": ["F"]})
    spec = fg.audit(table, label=LABEL, sensitive="sex").spec
    assert spec["label"] == "label 2"


def test_a_series_gives_its_name():
    report = fg.audit(label=FRAME["label"].rename("y"), sensitive=FRAME["sex"])
    assert report.spec["label"] == "y"
    assert [group.feature for group in report.groups][:1] == ["sex"]


def test_a_list_is_a_value_set_where_there_are_data():
    report = fg.audit(FRAME, **BY_NAME, sensitive={"race": ["x"]})
    assert {group.group for group in report.groups} >= {"x"}
    assert report.data.rows == len(FRAME)


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, 2.0, np.nan], dtype=np.float16),
        np.array([True, False, True]),
        np.array([-128, 0, 127], dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 2], dtype=np.uint64),
    ],
)
def test_arrays_of_numpy_are_counted_like_lists(values):
    frame = pd.DataFrame({"label": LABEL, "g": pd.Series([*values.tolist()] * 20, dtype=object)})
    assert digest(label=LABEL, sensitive={"g": np.tile(values, 20)}) == digest(
        frame, label="label", sensitive="g"
    )


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(["a", "B", "é", "", "1", "nan", None])), min_size=1
    )
)
def test_lists_are_counted_like_a_frame(rows):
    label, group = (list(column) for column in zip(*rows, strict=True))
    frame = pd.DataFrame({"label": label, "g": pd.Series(group, dtype=object)})
    assert digest(label=label, sensitive={"g": group}) == digest(
        frame, label="label", sensitive="g"
    )
