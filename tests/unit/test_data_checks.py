"""What values of the data say about the question: assumptions, likely mistakes, absent names."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Level
from fairgauge.errors import DataError

ROWS = 40


def frame(**more):
    half = ROWS // 2
    columns = {"y": [0, 1] * half, "p": [0, 1, 1, 0] * (half // 2), "g": [*"ab"] * half}
    return pl.DataFrame(columns | more)


def found(data, code, **options):
    asked = {"label": "y", "prediction": "p", "sensitive": "g"} | options
    report = fg.audit(data, **asked)
    return [each for each in report.diagnostics if each.code is code]


# --- the favourable outcome -------------------------------------------------------------------


def test_an_assumed_favourable_outcome_is_reported_in_the_words_of_the_column():
    data = frame().rename({"y": "two_year_recid"})
    (each,) = found(data, DiagnosticCode.ASSUMED_POSITIVE, label="two_year_recid")
    assert each.level is Level.WARNING
    assert (each["column"], each["value"], each["others"]) == ("two_year_recid", "1", ("0",))
    assert each.message == (
        "the favourable outcome is assumed, not stated: 'two_year_recid' = 1, against '0'. If 1 is "
        "the unfavourable outcome of 'two_year_recid', every disparity is read the wrong way "
        "round; state it: positive=VALUE (--positive VALUE)"
    )


@pytest.mark.parametrize(
    ("column", "level"),
    [
        ("approved", Level.NOTE),
        ("loan_granted", Level.NOTE),
        ("Hired", Level.NOTE),
        ("default", Level.WARNING),
        ("y", Level.WARNING),
    ],
)
def test_a_favourable_name_makes_it_a_note(column, level):
    data = frame().rename({"y": column})
    (each,) = found(data, DiagnosticCode.ASSUMED_POSITIVE, label=column)
    assert each.level is level


def test_without_a_label_it_is_the_prediction_that_is_named():
    (each,) = found(frame(), DiagnosticCode.ASSUMED_POSITIVE, label=None)
    assert (each["column"], each["value"]) == ("p", "1")


def test_true_is_named_as_it_is_written():
    data = frame(y=[False, True] * (ROWS // 2), p=[True, False] * (ROWS // 2))
    (each,) = found(data, DiagnosticCode.ASSUMED_POSITIVE)
    assert (each["value"], each["others"]) == ("true", ("false",))


@pytest.mark.parametrize("options", [{"positive": 1}, {"positive": 0}, {"task": "multiclass"}])
def test_what_is_stated_is_not_assumed(options):
    assert not found(frame(), DiagnosticCode.ASSUMED_POSITIVE, **options)


def test_counts_of_confusion_matrices_state_their_positives():
    cube = fg.confusion("g", {"a": {"tp": 3, "tn": 4}, "b": {"tp": 2, "fn": 1}})
    assert not [d for d in fg.audit(cube).diagnostics if d.code == "assumed_positive"]


# --- columns without a value ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pl.Null, pl.Float64])
@pytest.mark.parametrize("role", ["label", "prediction", "score", "sensitive", "strata"])
def test_a_column_without_a_value(role, kind):
    data = frame(empty=pl.Series([None] * ROWS, dtype=kind))
    asked = {"label": "y", "sensitive": "g", role: "empty"}
    with pytest.raises(DataError, match=r"^column 'empty' \(\w+\) holds no \w+ in any row$"):
        fg.audit(data, **asked)
    assert fg.count(data, **asked).rows == ROWS  # of a part of the data it may be so


def test_rows_without_a_group_may_be_a_group():
    data = frame(empty=pl.Series([None] * ROWS, dtype=pl.String))
    assert fg.audit(data, label="y", sensitive="empty", missing="group").data.used == ROWS


# --- likely mistakes --------------------------------------------------------------------------


def test_a_prediction_that_is_the_label():
    (same,) = found(frame(), DiagnosticCode.PREDICTION_IS_LABEL, prediction="y")
    assert same.level is Level.WARNING
    assert same.message == "label and prediction are the same column, 'y': every error is 0"
    copied = frame().with_columns(copied="y")
    (equal,) = found(copied, DiagnosticCode.PREDICTION_IS_LABEL, prediction="copied")
    assert equal.message == (
        "the prediction 'copied' equals the label 'y' in all 40 rows; check that it is the "
        "model's decision, not a copy of the outcome"
    )


def test_a_prediction_that_may_be_right_by_itself():
    assert not found(frame(), DiagnosticCode.PREDICTION_IS_LABEL)
    few = frame().with_columns(copied="y").head(10)
    assert not found(few, DiagnosticCode.PREDICTION_IS_LABEL, prediction="copied")
    missing = frame(p=[None, *[0, 1] * (ROWS // 2 - 1), 0])
    assert not found(missing, DiagnosticCode.PREDICTION_IS_LABEL)
    constant = frame(y=[1] * ROWS, p=[1] * ROWS)
    assert not found(constant, DiagnosticCode.PREDICTION_IS_LABEL)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=20, max_size=60))
def test_one_row_that_differs_is_enough(pairs):
    labels, predictions = ([int(value) for value in each] for each in zip(*pairs, strict=True))
    data = pl.DataFrame(
        {"y": labels, "p": predictions, "g": [*"ab"] * (len(pairs) // 2) + ["a"] * (len(pairs) % 2)}
    )
    warned = bool(found(data, DiagnosticCode.PREDICTION_IS_LABEL))
    assert warned is (labels == predictions and len(set(labels)) > 1)


def test_groups_of_one_row():
    data = frame(person=[f"p{i}" for i in range(ROWS)])
    (each,) = found(data, DiagnosticCode.SINGLE_ROW_GROUPS, sensitive="person")
    assert each.level is Level.WARNING
    assert each.message.startswith("40 of the 40 groups of person have one row: it looks like an")
    assert not found(data, DiagnosticCode.SINGLE_ROW_GROUPS)
    cut = {"column": "number", "cuts": [10, 20]}
    numbers = frame(number=range(ROWS))
    assert found(numbers, DiagnosticCode.SINGLE_ROW_GROUPS, sensitive="number")
    assert not found(numbers, DiagnosticCode.SINGLE_ROW_GROUPS, sensitive=cut)


@pytest.mark.parametrize("marker", ["NA", "NaN", "nan", "null", "None", "N/A", "Unknown", "?", " "])
def test_a_text_that_means_that_a_value_is_missing(tmp_path, marker):
    data = frame(g=["a", "b", "b", marker] * (ROWS // 4))
    data.write_csv(tmp_path / "t.csv", quote_style="always")
    for rows in (data, tmp_path / "t.csv"):
        (each,) = found(rows, DiagnosticCode.MISSING_MARKER)
        assert (each.feature, each["value"], each["rows"]) == ("g", marker, ROWS // 4)
        assert each.level is Level.WARNING
        assert f"unknown='{marker}' (--unknown '{marker}')" in each.message
        assert not found(rows, DiagnosticCode.MISSING_MARKER, unknown=marker)
        assert not found(rows, DiagnosticCode.MISSING_MARKER, exclude_groups=marker)


def test_names_that_the_data_do_not_have():
    each, *more = found(frame(), DiagnosticCode.UNMATCHED, exclude_groups=["A", "b"])
    assert not more
    assert each.level is Level.WARNING
    assert each.message == "exclude_groups[0]: the data have no 'A'; the nearest name is 'a'"
    (each,) = found(frame(), DiagnosticCode.UNMATCHED, unknown=["a", "Not stated"])
    assert each.message == "unknown[1]: the data have no 'Not stated'"
    data = frame(g=["a", "b", "Unknown", "b"] * (ROWS // 4))
    assert not found(data, DiagnosticCode.UNMATCHED, unknown="Unknown", exclude_groups="b")
