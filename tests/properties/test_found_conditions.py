"""The condition of a found subgroup selects just its rows, whatever its values."""

import datetime as dt

import numpy as np
import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES

import fairgauge as fg

TEXTS = st.text(alphabet="aB1 ,;'\"\\$=&<>!-().%é", min_size=1, max_size=8)
HOSTILE = ["a, b", "it's", 'a "b"', "x or y", "a & b", "= 3", "(missing)", "-1.50", " lead"]
DAYS = [dt.date(2024, 2, 29), dt.date(2025, 1, 1)]
ASKED = {"prediction": "p", "positive": 1}


@FEW_EXAMPLES
@given(values=st.lists(TEXTS, min_size=2, max_size=5, unique=True), column=TEXTS)
@example(values=HOSTILE, column="odd")
@example(values=["not a", "null", "1 < x <= 2", "!= b"], column="a = b")
def test_the_condition_of_a_found_subgroup_selects_its_rows(values, column):
    rng = np.random.default_rng(3)
    rows = 400
    of_texts = [None if i == len(values) else values[i]
                for i in rng.integers(0, len(values) + 1, rows)]  # fmt: skip
    name = f"f {column}"
    frame = pl.DataFrame({
        name: pl.Series(of_texts, dtype=pl.String),
        "day": [DAYS[i] for i in rng.integers(0, 2, rows)],
        "code": rng.integers(-1, 2, rows),
        "amount": rng.choice([0.5, 1.0, 1e-7], rows),
        "p": rng.integers(0, 2, rows),
    })  # fmt: skip
    found = fg.find(frame, sensitive=[name, "day", "code", "amount"], metrics="selection_rate",
                    worse="lower", depth=2, min_rows=20, **ASKED)  # fmt: skip
    seen = (*found.worse, *found.undecided)
    chosen = [each for each in seen if len(each.conditions) == 1] + list(seen[:4])
    for subgroup in chosen:
        inside = fg.count(frame, sensitive=["p"], where=found.where(subgroup), **ASKED)
        assert inside.cases == subgroup.rows
