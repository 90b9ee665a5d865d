"""Recoded while they are counted, rows give the counts of rows that were recoded before."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cube.plan import plan
from fairgauge.enums import Observation
from fairgauge.errors import DataError
from fairgauge.question.specification import ask
from fairgauge.scan import _narwhals, open_source
from fairgauge.scan.chosen_rows import chosen_rows

SEXES = ["M", "male ", "Female", "F", "Decline to answer", "F", None, "Male", "f", "M", "Female"]
RECODE = {
    "sex": {"Male": ["M", "male "], "Female": ["F", "f"], "unknown": ["Decline to answer", ""]},
    "race": {"A": [1, 3], "B": ["2"]},
    "hired": {"1": ["yes", "Yes"], "0": ["no"]},
}
BEFORE = {
    "sex": {"M": "Male", "male ": "Male", "F": "Female", "f": "Female", "Decline to answer": None},
    "race": {1: "A", 2: "B", 3: "A", 4: "4"},
    "hired": {"yes": 1, "Yes": 1, "no": 0},
}


def test_the_digest_is_that_of_rows_recoded_before(rows_as):
    rows: dict[str, list[Any]] = {
        "sex": SEXES,
        "race": [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3],
        "hired": ["yes", "no", "Yes", "no", "yes", "no", "yes", "Yes", "no", "yes", "no"],
        "branch": ["x", "y"] * 5 + ["x"],
    }
    asked = {"label": "hired", "positive": 1, "sensitive": ["sex", "race"], "strata": "branch"}
    recoded = {name: [BEFORE.get(name, {}).get(v, v) for v in rows[name]] for name in rows}
    before = open_source(pa.table(recoded)).count(plan(ask(**asked)), 1_000)
    found = open_source(rows_as(pa.table(rows))).count(plan(ask(**asked, recode=RECODE)), 1_000)
    assert found.digest == before.digest
    assert not found.seen(Observation.UNSEEN)


def test_ranges_of_numbers_are_categories(rows_as):
    ages = [17, 24.5, 25, 60, 61, None, 9999, 25, 33, 88, 18]
    rows = pa.table({"age": ages, "y": [1, 0] * 5 + [1]})
    recode = {"age": {"outside": "<25 or 61+", "inside": "25-60", "unknown": [9999]}}
    known = {None: None, 9999: None}
    before = [known.get(a, "inside" if a and 25 <= a <= 60 else "outside") for a in ages]
    asked = {"label": "y", "sensitive": "age"}
    read = open_source(pa.table({"age": before, "y": rows["y"]})).count(plan(ask(**asked)), 1_000)
    found = open_source(rows_as(rows)).count(plan(ask(**asked, recode=recode)), 1_000)
    assert (found.digest, found.seen(Observation.UNSEEN)) == (read.digest, [])


NUMBERS = {"rate_spread": {"unknown": ["NA", "Exempt"]}, "age": {"unknown": [8888, "9999"]}}


def loans(**changed: list[Any]) -> pa.Table:
    """Rows as HMDA has them: numbers as texts, beside texts and codes that are none."""
    rows: dict[str, list[Any]] = {
        "g": ["a", "b", "b"] * 4,
        "y": [1, 0, 1, 1, 0, 0] * 2,
        "rate_spread": ["0.5", "NA", "Exempt", "-.25", "1e-1", " 2", None, "0.5", "NA", "3", "4",
                        "nan"],
        "age": [30, 8888, 45, 9999, 62, None, 8888, 30, 62, 45, 30, 62],
    }  # fmt: skip
    return pa.table(rows | changed)


READ = {
    "rate_spread": [0.5, None, None, -0.25, 0.1, 2.0, None, 0.5, None, 3.0, 4.0, None],
    "age": [30, None, 45, None, 62, None, None, 30, 62, 45, 30, 62],
}
OF_NUMBERS = [
    {"label": "y", "sensitive": ["g", {"column": "age", "cuts": [45]}],
     "strata": [{"column": "rate_spread", "cuts": [0, 1]}]},
    {"label": "rate_spread", "task": "regression", "sensitive": "g",
     "strata": [{"column": "age", "cuts": [45], "closed": "left"}]},
    {"label": "y", "score": "rate_spread", "threshold": 2, "score_range": (-1, 5),
     "sensitive": "g"},
    {"label": "rate_spread", "positive": fg.above(0.25), "sensitive": "g", "where": "age < 60"},
    {"label": "rate_spread", "positive": fg.above(0.5, closed="left"), "sensitive": "g"},
]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("asked", OF_NUMBERS)
def test_listed_values_are_no_numbers(rows_as, asked):
    before = open_source(loans(**READ))
    source = open_source(rows_as(loans()))
    spec, read = ask(**asked, recode=NUMBERS), ask(**asked)
    found = chosen_rows(source, spec).count(plan(spec), 1_000)
    assert found.digest == chosen_rows(before, read).count(plan(read), 1_000).digest


def test_texts_of_rows_that_a_condition_excludes_are_no_numbers(rows_as):
    asked = {"label": "rate_spread", "task": "regression", "sensitive": "g"}
    spec = ask(**asked, where="rate_spread != NA or Exempt")
    found = chosen_rows(open_source(rows_as(loans())), spec).count(plan(spec), 1_000)
    kept = [text not in ("NA", "Exempt") for text in loans()["rate_spread"].to_pylist()]
    read = open_source(loans(**READ).filter(kept)).count(plan(ask(**asked)), 1_000)
    assert [t.sums["y"].tolist() for t in found.tables] == [
        t.sums["y"].tolist() for t in read.tables
    ]


def test_the_error_names_all_texts_that_are_no_numbers(rows_as):
    spec = ask(label="rate_spread", task="regression", sensitive="g",
               recode={"rate_spread": {"unknown": ["-"]}})  # fmt: skip
    rows = loans(rate_spread=["0.5", "NA", "Exempt"] * 4)  # in every part of a frame
    with pytest.raises(
        DataError, match=r"but has 'Exempt', 'NA'; .*\[\"-\", \"Exempt\", \"NA\"\]}'"
    ):
        open_source(rows_as(rows)).count(plan(spec), 1_000)


def test_values_left_by_a_list_of_unknown_ones_are_read_as_in_a_file_without_them(tmp_path):
    asked = {"label": "y", "sensitive": "g"}
    for name, missing in (("listed.csv", "NA"), ("empty.csv", "")):
        (tmp_path / name).write_text(f"g,y\n1,1\n{missing},0\n2,1\n")
    read = fg.count(tmp_path / "empty.csv", **asked)
    found = fg.count(tmp_path / "listed.csv", **asked, recode={"g": {"unknown": ["NA"]}})
    assert found.digest == read.digest


def test_polars_without_pyarrow(monkeypatch):
    """Its rows are values of Python then, and make the same cube."""
    rows = pa.table({
        "g": ["a", "b", None, "a"], "y": [1, 0, 1, 1],
        "w": pa.array([0.7, 1, 2, 0.1], pa.float32()),
        "s": [0.25, None, float("nan"), 1.0], "n": ["5", "NA", " 7", "999"],
    })  # fmt: skip
    asked = {
        "label": "y", "score": "s", "threshold": 0.5, "weight": "w",
        "recode": {"n": {"unknown": ["NA", 999]}}, "sensitive": ["g", {"column": "n", "cuts": [6]}],
    }  # fmt: skip
    frame = pl.DataFrame(pl.from_arrow(rows))
    expected = fg.count(frame, **asked)
    monkeypatch.setattr(_narwhals, "has_arrow", lambda: False)
    assert fg.count(frame, **asked) == fg.count(frame.lazy(), **asked) == expected


def test_what_values_were_counted_as_is_the_same_from_every_source(rows_as):
    rows: dict[str, list[Any]] = {
        "sex": SEXES,
        "end": ["Denied", "Paid", "Counteroffer", "Open", None] * 2 + ["Paid"],
        "age": [18, 45, 41, 67, 30, 22, 81, 40, 35, 50, 29],
        "branch": ["x", "y", "z"] * 3 + ["x", "y"],
    }
    asked = {"label": "end", "positive": "Paid", "sensitive": ["sex", fg.cut("age", [40])]}
    asked |= {"where": "branch != z", "recode": {"sex": RECODE["sex"]}}
    counted = fg.audit(rows_as(pa.table(rows)), **asked).counted
    found = {(each.column, each.value, each.as_): each.rows for each in counted}
    assert counted == fg.audit(pa.table(rows), **asked).counted
    assert found["sex", "F", "Female"] == 1
    assert found["end", "Counteroffer", "excluded"] == 1
    assert (found["branch", "z", "excluded"], found["branch", "x", "counted"]) == (3, 4)


# ---- columns of whole numbers of every width are counted alike by pandas and by polars
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
