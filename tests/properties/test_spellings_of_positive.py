"""The same question has one fingerprint, however the positive value is written."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.values import matches, meaning

ASKED = {"label": "y", "prediction": "p", "sensitive": "sex"}
ROWS = pd.DataFrame({"sex": list("FMMF") * 9, "y": [1, 0, 0, 1] * 9, "p": [1, 1, 0, 0] * 9})
numbers = st.integers(-3, 3) | st.floats(-2, 2) | st.booleans()
texts = st.sampled_from(
    ["1", "1.0", "01", "1e0", "true", "True", "TRUE", "false", "0", "-0", "yes", "", " 1", "1 "]
)
values = numbers | texts | numbers.map(str)


@given(values, values)
def test_values_of_one_meaning_match_the_same_levels(asked, level):
    assert matches(asked, level) == matches(meaning(asked), level)
    assert meaning(meaning(asked)) == meaning(asked)


@given(values, values, values)
def test_values_of_several_meanings_are_kept_apart(one, other, level):
    if meaning(one) == meaning(other):
        assert matches(one, level) == matches(other, level)


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "str"])
@pytest.mark.parametrize("written", [1, True, 1.0, "1", "1.0", "true", ["1"], [1, "true"]])
def test_counts_of_one_question_are_equal_and_add_up(dtype, written):
    rows = ROWS.astype({"y": dtype, "p": dtype})
    one = fg.count(rows, **ASKED, positive=1)
    other = fg.count(rows.head(20), **ASKED, positive=written)
    assert other == fg.count(rows.head(20), **ASKED, positive=1)
    both = one.add(other)
    assert both.asked.positive == (1,)
    assert both.digest == fg.count(pd.concat([rows, rows.head(20)]), **ASKED, positive=1).digest
