"""Values: one canonical form, one name, and matching across types."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.values import canonical, match, matches, name_of, sort_key, typed_texts

CANONICAL = [
    (1.0, 1), (-0.0, 0), (2.5, 2.5), (True, True), (np.True_, True), (np.int8(3), 3),
    (np.float32(0.5), 0.5), (np.float32(0.7), 0.7), (np.float16(0.7), 0.7), (float("nan"), None),
    (np.float64("nan"), None), (None, None), (pd.NA, None), (pd.NaT, None),
    (np.datetime64("NaT", "D"), None),
    (math.inf, "Infinity"), (-math.inf, "-Infinity"), (Decimal("2.50"), 2.5), (Decimal(7), 7),
    ("", ""), ("01", "01"), (10**30, 10**30), (b"x", "x"),
    (dt.date(2024, 2, 29), "2024-02-29"),
    (dt.datetime(2024, 2, 29), "2024-02-29"),  # engines disagree on date against midnight
    (dt.datetime(2024, 2, 29, 13, 5), "2024-02-29T13:05:00"),
    (
        dt.datetime(2024, 2, 29, 13, 5, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        "2024-02-29T11:05:00+00:00",
    ),
    (dt.time(13, 5), "13:05:00"),
    (dt.timedelta(days=1), "24:00:00"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), CANONICAL)
def test_canonical_form(raw: Any, expected: Any) -> None:
    found = canonical(raw)
    assert found == expected
    assert type(found) is type(expected)


NAMES = [
    (True, "true"), (False, "false"), (1, "1"), (2.5, "2.5"), (None, "(missing)"),
    ("(missing)", "(missing)"), ("a b", "a b"),
    (1e22, "10000000000000000000000"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), NAMES)
def test_name(value: Any, expected: str) -> None:
    assert name_of(canonical(value)) == expected


def test_a_column_is_numeric_only_if_every_text_is() -> None:
    assert typed_texts(["1", "2.5", None]) == [1, 2.5, None]
    assert typed_texts(["01", "1", "001"]) == ["01", "1", "001"]
    assert typed_texts(["yes", "1"]) == ["yes", "1"]
    assert typed_texts([None]) == [None]


@pytest.mark.parametrize("level", [1, "1", True, "1.0", "true", "True"])
def test_one_means_one_in_every_type(level: Any) -> None:
    assert matches(1, level)
    assert match(1, [level, "other"]) == level


def test_what_does_not_match() -> None:
    assert not matches("yes", True)
    assert not matches(2, True)
    assert not matches("01", 1)
    assert not matches(None, None)
    assert not matches("truth", True)
    assert matches("True", True)  # as pandas writes it into files
    assert matches("true", True)
    assert matches("false", False)
    assert matches(0, False)


def test_an_ambiguous_match_names_both() -> None:
    with pytest.raises(LookupError) as caught:
        match(1, [1, "1"])
    message = str(caught.value)
    assert message == (
        "'1' is ambiguous: the column holds the number '1' and the text '1'; write it alike in all "
        "rows, or recode one as the other (recode)"
    )
    with pytest.raises(LookupError) as caught:
        match("x", [1, "1"])
    assert str(caught.value) == ""


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=True, allow_infinity=False)
    | st.text(max_size=5)
)


@given(values=st.lists(scalars.map(canonical), max_size=8))
def test_the_order_of_values_is_one(values: list[Any]) -> None:
    unique = list({(isinstance(v, bool), v): v for v in values}.values())
    shown = [repr(v) for v in sorted(unique, key=sort_key)]
    unique.reverse()
    again = [repr(v) for v in sorted(unique, key=sort_key)]
    assert shown == again
