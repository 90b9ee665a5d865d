"""Floats of less than double precision are the decimals that they are printed as."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.scan.row_codes import doubles
from fairgauge.values import to_double


@given(st.integers(-(10**7), 10**7), st.sampled_from([7, 5, 3, 1, 0]))
def test_a_short_decimal_is_read_as_itself(digits, places):
    """Its size is below the bound of its places: 1 of seven, 100 of five, and so on."""
    decimal = digits / 10**places
    assert doubles(np.array([decimal], dtype=np.float32)).tolist() == [decimal]


@given(st.floats(width=32, allow_nan=False))
def test_a_float_is_itself_or_what_it_is_printed_as(value):
    single = np.float32(value)
    (found,) = doubles(np.array([single])).tolist()
    assert to_double(single) == found
    assert np.float32(found) == single
    assert found in (value, float(str(single)))


def test_no_number_is_none():
    found = doubles(np.array([np.nan, np.inf, -np.inf, -0.7, 2**24, 3e38], dtype=np.float32))
    assert found[1:5].tolist() == [np.inf, -np.inf, -0.7, 2**24]
    assert np.isnan(found[0])
    assert doubles(np.array([], dtype=np.float32)).tolist() == []


@pytest.mark.parametrize("kind", ["float32", "float16", "Float32", "float[pyarrow]", "category"])
def test_columns_of_pandas(kind):
    scores = pd.Series([0.7, 0.2, 0.9, 0.1] * 10)
    rows = pd.DataFrame({"y": [1, 0] * 20, "g": [*"aabb"] * 10, "s": scores})
    read = (
        scores.astype("float32").astype("category") if kind == "category" else scores.astype(kind)
    )
    asked = {"label": "y", "sensitive": ["g", "s"]}
    if kind != "category":
        asked |= {"score": "s", "threshold": 0.7}
    assert fg.count(rows.assign(s=read), **asked) == fg.count(rows, **asked)


@pytest.mark.parametrize(
    ("made", "kind"),
    [(np.array, np.float32), (np.array, np.float16), (pd.Series, np.float32),
     (pd.Series, np.float16), (pl.Series, np.float32)],
)  # fmt: skip
def test_arrays_and_thresholds(made, kind):
    """The threshold may be of single precision, too."""
    scores = np.array([0.7, 0.2, 0.9, 0.1] * 10)
    found = [
        fg.count(label=[1, 0] * 20, score=s, sensitive={"g": [*"aabb"] * 10}, threshold=threshold)
        for s, threshold in ((made(scores.astype(kind)), kind(0.7)), (scores, 0.7))
    ]
    assert found[0] == found[1]
