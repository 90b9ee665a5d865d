"""Arrays in place of columns: the same counts as of a frame, and positions that are rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.errors import DataError, SpecError

LABEL = [1, 0, 1, 0, 1, 1] * 10
PREDICTION = [1, 1, 0, 0, 1, 0] * 10
SEX = ["F", "M", "M", "F", "F", None] * 10
RACE = ["x", "x", "y", "y", "x", "y"] * 10
FRAME = pd.DataFrame({"label": LABEL, "prediction": PREDICTION, "sex": SEX, "race": RACE})
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy of objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas with an index": lambda values: pd.Series(values, index=range(7, 7 + len(values))),
    "polars": pl.Series,
    "Arrow": pa.array,
    "chunked Arrow": lambda values: pa.chunked_array([values[:7], values[7:]]),
}


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


@pytest.mark.parametrize(
    "sensitive",
    [
        FRAME[["sex", "race"]],
        pl.from_pandas(FRAME[["sex", "race"]]),
        [FRAME["sex"], FRAME["race"]],
        {"sex": np.array(SEX, dtype=object), "race": FRAME["race"]},
        [{"sex": FRAME["sex"]}, FRAME["race"]],
    ],
    ids=["pandas", "polars", "Series", "mapping", "list"],
)
@pytest.mark.parametrize("data", [None, FRAME[["race"]]], ids=["alone", "beside"])
def test_several_features(sensitive, data):
    asked = {"sensitive": sensitive, "intersections": [("sex", "race")]}
    assert digest(data, label=LABEL, prediction=PREDICTION, **asked) == digest(
        FRAME, **BY_NAME, sensitive=["sex", "race"], intersections=[("sex", "race")]
    )


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


SHUFFLED = FRAME.sample(frac=1, random_state=1)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (None, {"label": LABEL[1:]}, r"label and sensitive\['sex'\] differ in length, 59 and 60; "),
        (FRAME, {"label": LABEL[1:]}, "label and the data differ in length, 59 and 60"),
        (None, {"label": [*LABEL[1:], "a"]}, r"several types, number \('1'\) and text \('a'\)"),
        (pl.from_pandas(FRAME), {"label": [*LABEL[1:], True]}, "number .* and true/false"),
        (None, {"label": SHUFFLED["label"], "prediction": FRAME["label"]}, "in different orders"),
        (SHUFFLED, {"label": FRAME["label"]}, "the indexes of the data and label have the same"),
        (pl.from_pandas(FRAME).lazy(), {"label": LABEL}, "not beside a LazyFrame"),
        (fg.confusion("sex", {"F": {"tp": 1}}), {"label": LABEL}, "label: must be the name"),
        ({"x": 5}, {"label": LABEL}, r"data\['x'\]: must have one dimension"),
        (None, {"label": LABEL, "weight": {"w": LABEL}}, "must be the name of a column"),
        (None, {"label": LABEL, "score": np.ones((60, 2))}, r"score: must have one dimension.*1\]"),
        (None, {"label": [LABEL, LABEL]}, "label: must have one dimension"),
        (None, {"label": LABEL, "prediction": np.ones((60, 1))}, r"prediction: .*\.ravel\(\)"),
        (None, {"label": LABEL, "sensitive": np.ones((60, 2))}, "sensitive: must have one dimens"),
        (None, {"label": LABEL, "sensitive": pd.concat([FRAME[["sex"]]] * 2, axis=1)},
         "^the frame given as sensitive has the column 'sex' twice; rename one of them$"),
        (pd.concat([FRAME, FRAME[["race"]]], axis=1), {"label": LABEL},
         "^the frame has the column 'race' twice; rename one of them$"),
        (pa.table([LABEL, SEX], ["sex", "sex"]), {"label": LABEL}, "has the column 'sex' twice"),
        (None, {"label": LABEL, "sensitive": SEX[:2]}, "no data whose columns could be named"),
        (None, {"label": LABEL, "sensitive": "sex"}, "no data whose columns could be named"),
        (
            None,
            {"label": FRAME["label"], "sensitive": [FRAME["sex"], FRAME["race"].rename("sex")]},
            r"sensitive\[1\] is named 'sex', as is another array",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(data, options, message):
    with pytest.raises((DataError, SpecError), match=message):
        fg.audit(data, **{"sensitive": {"sex": SEX}} | options)


TRAIN, TEST = (FRAME.set_axis(range(i, i + len(FRAME))) for i in (100, 200))
"""Rows taken from a larger table: the indexes have no label in common."""
NEITHER = r" labels in common, and rows are matched by position; take both .* \(\.to_numpy\(\) or "


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (None, {"label": TEST["label"], "sensitive": TRAIN["sex"]}, "label and sensitive have 0 "),
        (TRAIN, {"label": TEST["label"], "sensitive": "sex"}, "the data and label have 0 of 60"),
        (TRAIN, {"label": TEST["label"], "sensitive": "sex"}, NEITHER),
        (
            None,
            {"label": TEST["label"], "sensitive": TEST["sex"].set_axis(range(190, 250))},
            "label and sensitive have 50 of 60" + NEITHER,
        ),
        (TRAIN[["sex"]], {"label": LABEL, "prediction": TEST["prediction"], "sensitive": "sex"},
         "the data and prediction have 0 of"),
        # a default index beside both does not hide that these differ
        (FRAME[["sex"]], {"label": TEST["label"], "prediction": TRAIN["prediction"],
                          "sensitive": "sex"}, "label and prediction have 0 of"),
        (None, {"label": TEST["label"], "sensitive": TRAIN[["sex", "race"]]}, "have 0 of 60"),
        # a slice from the second row on beside one from the first, whose index is the default one
        (None, {"label": FRAME["label"].iloc[1:], "prediction": FRAME["prediction"].iloc[:-1],
                "sensitive": FRAME["sex"].iloc[1:]}, "labels in common, in other places"),
        ({"y": TEST["label"], "sex": TRAIN["sex"]}, {"label": "y", "sensitive": "sex"}, "0 of 60"),
        (
            None,
            {"label": TEST["label"].set_axis(pd.MultiIndex.from_product([["a"], range(60)])),
             "sensitive": TEST["sex"].set_axis(pd.date_range("2026-01-01", periods=60))},
            "have 0 of 60",
        ),
    ],
)  # fmt: skip
def test_indexes_of_different_rows_are_refused(data, options, message):
    with pytest.raises(DataError, match=message):
        fg.audit(data, **options)
