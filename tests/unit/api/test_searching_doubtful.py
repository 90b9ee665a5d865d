"""Searches of rows with doubtful values: of groups spelt in two ways, codes, missing decisions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.api import searching
from fairgauge.enums import DiagnosticCode, Level

ASKED = {"prediction": "p", "positive": 1, "rate": "selection_rate"}
FEATURES = ["sex", "race", "age"]
ROWS = 4_000
DRAWN = np.random.default_rng(5)
PEOPLE = pl.DataFrame({
    "sex": DRAWN.choice(["F", "M"], ROWS),
    "race": DRAWN.choice(["Asian", "Black", "White"], ROWS, p=[0.2, 0.2, 0.6]),
    "age": DRAWN.integers(18, 90, ROWS),
    "p": (DRAWN.random(ROWS) < 0.6).astype(int),
})  # fmt: skip
FIRST = pl.int_range(pl.len())


@pytest.fixture(params=["at once", "in batches"])
def find(request, monkeypatch):
    """Search rows by counts of all features, or by reading them in batches."""
    most = 10**9 if request.param == "at once" else 0
    monkeypatch.setattr(searching, "_MOST_CELLS", most)
    return lambda frame, **more: fg.find(frame, **{**ASKED, "features": FEATURES, **more})


def warnings_of(found, *codes):
    wanted = [each for each in found.diagnostics if each.level is Level.WARNING]
    return [each for each in wanted if not codes or each.code in codes]


def some(column, value, rows):
    """Return the first rows of a table with another value of a column."""
    return PEOPLE.with_columns(pl.when(rows > FIRST).then(value).otherwise(column).alias(column))


def test_usual_rows_are_not_warned_of(find):
    assert warnings_of(find(PEOPLE)) == []


def test_a_group_spelt_in_two_ways_is_warned_of(find):
    spelt = PEOPLE.with_columns(
        race=pl.when(FIRST % 2 == 0).then(pl.col("race").str.to_lowercase() + " ").otherwise("race")
    )
    alike = warnings_of(find(spelt))
    assert {each.code for each in alike} == {DiagnosticCode.SAME_NAMES}
    assert {each["values"] for each in alike} == {
        ("Asian", "asian "), ("Black", "black "), ("White", "white ")
    }  # fmt: skip
    assert alike[0]["line"] == 'race = {Asian = ["Asian", "asian "]}'
    recoded = {name: [name, f"{name.lower()} "] for name in ("Asian", "Black", "White")}
    assert warnings_of(find(spelt, recode={"race": recoded})) == []


@pytest.mark.parametrize("value", [" ", "N/A", "9999"])
def test_values_that_mean_a_missing_one_are_warned_of(find, value):
    blank = some("race", pl.lit(value), 100)
    if value == "9999":
        blank = blank.with_columns(
            race=pl.col("race").replace({"Asian": "1", "Black": "2", "White": "3"})
        )
    (marker,) = warnings_of(find(blank))
    assert (marker.code, marker.feature, marker["rows"]) == ("missing_marker", "race", 100)
    assert warnings_of(find(blank, unknown=[value])) == []


@pytest.mark.parametrize("code", [9999, -1, 999])
@pytest.mark.parametrize("age", ["age", fg.cut("age", [40, 60])])
def test_codes_at_the_ends_of_numbers_that_are_cut_are_warned_of(find, code, age):
    coded = some("age", pl.lit(code), 80)
    (found,) = warnings_of(find(coded, features=["sex", age]))
    assert (found.code, found["column"], found["value"]) == ("coded_numbers", "age", code)
    assert warnings_of(find(coded, features=["sex", age], recode=found["line"])) == []


A_QUARTER_OF_BLACK = (pl.col("race") == "Black") & (FIRST % 4 == 0)
LACKING = PEOPLE.with_columns(p=pl.when(~A_QUARTER_OF_BLACK).then("p"))
"""Whoever lacks a decision may have been refused: the others are decided alike."""


@pytest.mark.parametrize("code", [-1, 9999])
def test_codes_in_numbers_that_are_cut_as_decisions_are_warned_of_and_show_nothing(find, code):
    points = pl.Series("p", np.where(DRAWN.random(ROWS) < 0.1, code, DRAWN.integers(20, 60, ROWS)))
    found = find(PEOPLE.with_columns(points), positive=fg.above(40))
    codes = DiagnosticCode.CODED_NUMBERS, DiagnosticCode.UNCOUNTED_ROWS
    coded, unclear = sorted(warnings_of(found, *codes), key=lambda each: each.code)
    assert (coded["value"], unclear["what"]) == (code, "clear prediction")
    assert unclear["rows"] == (points == code).sum()
    stated = find(PEOPLE.with_columns(points), positive=fg.above(40), where=f"p != {code}")
    assert not warnings_of(stated, *codes)


def test_refusals_of_one_group_that_are_missing_hide_no_subgroup(find):
    found = find(LACKING)
    excluded, missing = warnings_of(found)
    assert (excluded.code, missing.code) == ("excluded", "missing_outcomes")
    assert (missing.feature, missing["most"], missing["what"]) == ("race", "Black", "prediction")
    black = LACKING.filter(race="Black")
    assert missing["most_share"] == pytest.approx(black["p"].null_count() / len(black))
    assert (missing["rows"], missing["total"]) == (LACKING["p"].null_count(), ROWS)
    assert not found.worse
    assert found.lacks_outcomes
    assert found.largest.by_at_most is found.largest.by_at_most_of_large is None
    text = str(found)
    assert "would probably have been found" not in text.split("\n\n", 1)[0]
    assert "among the rows with a prediction" in text
    assert "confidence no subgroup" not in text


@pytest.mark.parametrize("share", [0.002, 0.1])
def test_decisions_missing_at_random_are_no_warning_of_a_feature(find, share):
    absent = pl.Series(np.random.default_rng(2).random(ROWS) < share)
    found = find(PEOPLE.with_columns(p=pl.when(~absent).then("p")))
    assert {each.code for each in warnings_of(found)} <= {"excluded"}
    assert not found.lacks_outcomes
    assert found.largest.by_at_most is not None
    assert "among the rows with a prediction" in str(found)


def test_many_rows_without_a_count_are_warned_of_and_show_nothing(find):
    counted = PEOPLE.with_columns(n=pl.when(~A_QUARTER_OF_BLACK).then(1))
    found = find(counted, count="n")
    (uncounted,) = warnings_of(found)
    assert (uncounted.code, uncounted["rows"]) == ("uncounted_rows", counted["n"].null_count())
    assert found.lacks_outcomes
    few = PEOPLE.with_columns(n=pl.when(FIRST > 4).then(1))
    assert not find(few, count="n").lacks_outcomes


def test_labels_that_one_group_lacks_matter_to_rates_that_need_them_alone(find):
    labelled = PEOPLE.with_columns(
        y=pl.when((pl.col("race") != "Black") | (FIRST % 3 > 0)).then(FIRST % 2)
    )
    assert not find(labelled, label="y").lacks_outcomes
    (_, missing) = warnings_of(find(labelled, label="y", rate="false_positive_rate"))
    assert (missing["what"], missing["most"]) == ("label", "Black")
