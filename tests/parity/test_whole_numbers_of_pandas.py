"""Columns of whole numbers of every width are counted alike by pandas and by polars."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg

TYPES = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]
ASKED = {"prediction": "p", "positive": 1, "sensitive": "g"}


@st.composite
def whole_numbers(draw):
    """Return an array of up to 300 successive numbers anywhere in a type."""
    dtype = draw(st.sampled_from(TYPES))
    info = np.iinfo(dtype)
    lowest, highest = int(info.min), int(info.max)
    span = draw(st.sampled_from([1, 2, 127, 128, 129, 200, 255, 256, 300]))
    span = min(span, highest - lowest)
    low = draw(
        st.sampled_from([lowest, highest - span, 0, 127, 128, 2023, 32_768])
        | st.integers(lowest, highest - span)
    )
    low = max(lowest, min(low, highest - span))
    return np.array([low + i for i in range(span)], dtype=dtype)


def counted(frame):
    cube = fg.count(frame, **ASKED)
    return sorted((each.group, each.n) for each in fg.audit(cube, min_n=1).groups)


@given(whole_numbers())
def test_groups_that_are_whole_numbers_are_counted_alike(numbers):
    """Groups such as years, 2023 and 2024, ended in an OverflowError of NumPy."""
    columns = {"g": np.repeat(numbers, 2), "p": np.tile([0, 1], len(numbers))}
    assert counted(pd.DataFrame(columns)) == counted(pl.DataFrame(columns))


@pytest.mark.parametrize("role", ["strata", "cluster", "person", "label"])
def test_years_may_have_every_role(role):
    columns = {"g": [*"ab"] * 100, "p": [0, 1, 1, 0] * 50, "year": [2023, 2024] * 100}
    asked = ASKED | {role: "year", "positive": 1}
    if role == "label":
        columns["p"], asked["positive"] = columns["year"], 2024
    frames = [made(columns) for made in (pd.DataFrame, pl.DataFrame)]
    reports = [fg.audit(frame, **asked).to_dict()["groups"] for frame in frames]
    assert reports[0] == reports[1]
