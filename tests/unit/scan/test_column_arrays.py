"""Arrays in place of columns: the same counts as of a frame, and positions that are rows."""

from __future__ import annotations

import datetime as dt

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


def test_columns_that_are_numbered():
    numbered = fg.audit(label=LABEL, sensitive=FRAME[["sex", "race"]].set_axis([0, 1], axis=1))
    assert {group.feature for group in numbered.groups} == {"0", "1"}


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


def test_two_series_of_one_name_are_two_columns():
    same = FRAME["label"].rename("y")
    spec = fg.audit(label=same, prediction=(1 - same), sensitive={"sex": SEX}).spec
    assert (spec["label"], spec["prediction"]) == ("y", "prediction")


def test_an_array_beside_a_column_of_its_name():
    frame = FRAME.rename(columns={"label": "prediction ", "prediction": "label"})
    spec = fg.audit(frame, label=LABEL, prediction="label", sensitive="sex").spec
    assert (spec["label"], spec["prediction"]) == ("label 2", "label")
    own = fg.audit(FRAME, label="label", prediction="prediction", sensitive=FRAME["sex"])
    assert own.spec["sensitive"] == [{"column": "sex"}]
    computed = (FRAME["prediction"] > 0).astype(int)
    other = FRAME.assign(prediction="?")
    spec = fg.audit(other, label=LABEL, prediction=computed, sensitive="sex").spec
    assert spec["prediction"] == "prediction 2"
    with pytest.raises(DataError, match=r"named 'sex', as is .* column of the data with other val"):
        fg.audit(FRAME, label="label", sensitive=FRAME["race"].rename("sex"))


def test_a_list_is_a_value_set_where_there_are_data():
    report = fg.audit(FRAME, **BY_NAME, sensitive={"race": ["x"]})
    assert {group.group for group in report.groups} >= {"x"}
    assert report.data.rows == len(FRAME)


def test_other_columns_take_arrays_too():
    weight = np.linspace(0.5, 2, len(LABEL))
    frame = FRAME.assign(w=weight, s=RACE, c=[*range(30)] * 2, p=weight / 4)
    asked = {"sensitive": "sex", "positive": 1, "confidence": 0.9}
    by_name = fg.audit(
        frame, label="label", score="p", strata="s", weight="w", cluster="c", **asked
    )
    arrays = fg.audit(
        FRAME[["sex"]],
        label=LABEL, score=pl.Series(weight / 4), strata=RACE, weight=weight,
        cluster=[*range(30)] * 2,
        **asked,
    )  # fmt: skip
    assert [e.value for e in arrays.estimates] == [e.value for e in by_name.estimates]
    assert [e.interval for e in arrays.estimates] == [e.interval for e in by_name.estimates]


def test_metrics_of_rows_take_a_frame_of_features():
    frame = FRAME.assign(a=range(60), b=range(60, 0, -1))
    by_name = fg.audit(frame, **BY_NAME, sensitive="sex", features=["a", "b"], metrics="FT")
    arrays = fg.audit(
        label=LABEL, prediction=PREDICTION, sensitive={"sex": SEX}, features=frame[["a", "b"]],
        metrics="FT",
    )  # fmt: skip
    assert arrays["FT", "sex", "F"].value == by_name["FT", "sex", "F"].value


def test_dates_truths_and_missing_values():
    days = np.array(["2020-01-01", "2020-01-02", "NaT"] * 20, dtype="datetime64[ns]")
    dates = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None] * 20
    masked = np.ma.masked_equal(np.array([1, 2, 9] * 20), 9)
    for one, other in [
        (days, dates),
        ([True, False, None] * 20, pd.Series([True, False, None] * 20)),
        (masked, [1, 2, None] * 20),
        (np.array([1.0, 2.0, np.nan] * 20), [1, 2, None] * 20),
        (np.array([1, 2, 3] * 20, dtype=np.float16), [1, 2, 3] * 20),
        ([2**70, 1, 2] * 20, pd.Series([2**70, 1, 2] * 20, dtype=object)),
        (np.array([-128, 0, 127] * 20, dtype=np.int8), [-128, 0, 127] * 20),
        (
            np.array([2**64 - 1, 2**64 - 3, 2**64 - 2] * 20, dtype=np.uint64),
            [2**64 - 1, 2**64 - 3, 2**64 - 2] * 20,
        ),
    ]:
        assert digest(label=LABEL, sensitive={"g": one}) == digest(
            pd.DataFrame({"label": LABEL, "g": other}), label="label", sensitive="g"
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


@pytest.mark.parametrize("known", ["F", True, 2**63, None])
def test_a_few_thousand_values_may_all_be_missing_where_duckdb_looks(known: object) -> None:
    """Of 6,000 it looks at every sixth: labels that are not there yet were a traceback."""
    values = np.full(6_000, np.nan, dtype=object)
    values[1::6] = known
    asked = {"prediction": [1, 0] * 3_000, "positive": 1, "sensitive": {"g": values}}
    if known is None:
        with pytest.raises(DataError, match="holds no value in any row"):
            fg.audit(**asked)
        return
    report = fg.audit(**asked)
    assert report.data.excluded == {"missing g": 5_000}


def test_shuffled_alike_is_right():
    assert digest(
        SHUFFLED[["sex"]], label=SHUFFLED["label"], prediction=SHUFFLED["prediction"].to_numpy(),
        sensitive="sex",
    ) == digest(FRAME, **BY_NAME, sensitive="sex")  # fmt: skip


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


def test_indexes_of_different_rows_are_refused_by_every_verb():
    asked = {"label": TEST["label"], "prediction": TEST["prediction"]}
    groups = {"sensitive": TRAIN["sex"]}
    for verb, more in (
        (fg.count, groups),
        (fg.find, {"features": TRAIN[["sex"]], "rate": "selection_rate"}),
        (fg.why, groups | {"explanatory": TRAIN["race"]}),
        (fg.compare_models, groups | {"candidate": TEST["prediction"].rename("new")}),
        (fg.thresholds, groups | {"prediction": None, "score": TEST["label"]}),
    ):
        with pytest.raises(DataError, match="have 0 of 60 labels in common"):
            verb(None, **asked | more)


def test_equal_indexes_and_a_default_one_are_of_the_same_rows():
    expected = digest(FRAME, **BY_NAME, sensitive="sex")
    series = {name: TEST[name] for name in BY_NAME}
    again = TEST["sex"].set_axis(list(TEST.index))
    assert digest(**series, sensitive=again) == expected
    assert digest(TEST, **{name: FRAME[name] for name in BY_NAME}, sensitive="sex") == expected
    assert digest(**series, sensitive=FRAME["sex"]) == expected


def test_the_order_and_the_names_of_other_tools_are_understood():
    with pytest.raises(SpecError) as caught:
        fg.audit(LABEL, PREDICTION, sensitive_features=SEX)
    assert [problem.path for problem in caught.value.problems] == [
        "audit",
        "sensitive_features",
        "",
    ]
    assert 'fg.audit(label=y_true, prediction=y_pred, sensitive={"sex": sex})' in str(caught.value)
    with pytest.raises(SpecError, match="y_pred: is called 'prediction' here"):
        fg.count(y_true=LABEL, y_pred=PREDICTION)


@pytest.mark.parametrize("odd", [np.inf, "1,234.00"])
def test_an_error_of_predicted_amounts_names_the_prediction(odd: object) -> None:
    amounts = np.arange(60) + 0.5
    predicted = list(amounts.astype(object))
    predicted[7] = odd
    predicted = [str(each) for each in predicted] if isinstance(odd, str) else predicted
    with pytest.raises(fg.DataError, match="'p' \\(prediction\\) holds"):
        fg.audit(
            pd.DataFrame({"y": amounts, "p": predicted, "g": ["a", "b"] * 30}),
            label="y", prediction="p", sensitive="g",
        )  # fmt: skip
