"""What values of the data say about the question: assumptions, likely mistakes, absent names."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.api.audit import check_groups, counted_with_warnings
from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.catalogue.comparisons import Representation
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.enums import DiagnosticCode, Level, Outcome, Task
from fairgauge.errors import DataError, quote
from fairgauge.question.specification import ask
from fairgauge.render import render
from fairgauge.scan import open_source
from fairgauge.values import canonical, name_of

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
    data = frame().rename({"y": "two_years"})
    (each,) = found(data, DiagnosticCode.ASSUMED_POSITIVE, label="two_years")
    assert each.level is Level.WARNING
    assert (each["column"], each["value"], each["others"]) == ("two_years", "1", ("0",))
    assert each.message == (
        "the favourable outcome is assumed, not stated: 'two_years' = 1, against '0'. If 1 is "
        "the unfavourable outcome of 'two_years', every disparity that depends on it is read "
        "the wrong way round; state it: positive=VALUE (--positive VALUE)"
    )


@pytest.mark.parametrize(
    ("column", "level"),
    [
        ("approved", Level.NOTE),
        ("loan_granted", Level.NOTE),
        ("Hired", Level.NOTE),
        ("default", Level.NOTE),
        ("y", Level.WARNING),
    ],
)
def test_a_favourable_name_makes_it_a_note(column, level):
    data = frame().rename({"y": column})
    (each,) = found(data, DiagnosticCode.ASSUMED_POSITIVE, label=column)
    assert each.level is level
    warned = found(data, DiagnosticCode.UNFAVOURABLE_POSITIVE, label=column)
    assert len(warned) == (column == "default")


def test_without_a_label_it_is_the_prediction_that_is_named():
    (each,) = found(frame(), DiagnosticCode.ASSUMED_POSITIVE, label=None)
    assert (each["column"], each["value"]) == ("p", "1")


@pytest.mark.parametrize("options", [{"positive": 1}, {"positive": 0}, {"task": "multiclass"}])
def test_what_is_stated_is_not_assumed(options):
    assert not found(frame(), DiagnosticCode.ASSUMED_POSITIVE, **options)


BINARY = [
    each
    for each in METRICS
    if Task.BINARY in each.tasks and getattr(each, "by", None) != "ratio"
    if not (isinstance(each, Spread) and each.of.name not in ("accuracy", "selection_rate"))
]
"""Every metric of two outcomes; of the comparisons of one rate, those that differ in kind."""


@pytest.mark.one_in(6)
@pytest.mark.parametrize("metric", BINARY, ids=lambda each: each.name)
def test_it_is_reported_just_where_the_other_outcome_gives_other_numbers(metric):
    rng = np.random.default_rng(5)
    score, outcome = rng.random(400).round(3), rng.random(400)
    data = pl.DataFrame(
        {
            "y": (outcome < score).astype(int),
            "p": (score > 0.4).astype(int),
            "score": score,
            "g": rng.choice([*"abc"], 400),
            "s": rng.choice([*"uv"], 400),
        }
    )
    decided = {"score": "score"} if "score" in metric.needs else {"prediction": "p"}
    asked = {"metrics": [metric.name], "label": "y", "sensitive": "g"} | decided
    asked |= {"strata": "s"} if isinstance(metric, ConditionalDisparity) else {}
    asked |= {"features": ["score"]} if metric.name in ("FT", "consistency") else {}
    if isinstance(metric, Representation):
        asked["population"] = {"g": {"a": 0.3, "b": 0.3, "c": 0.4}}
    one, other = (fg.audit(data, task="binary", **asked, **by) for by in ({}, {"positive": 0}))
    values = [[each.value for each in report.estimates] for report in (one, other)]
    values = [
        of + [rate.value for group in report.groups for rate in group.rates.values()]
        for of, report in zip(values, (one, other), strict=True)
    ]
    assert any(value is not None for value in values[0])
    changes = any(
        (a is None) != (b is None) or (a is not None and a != pytest.approx(b, abs=1e-12))
        for a, b in zip(*values, strict=True)
    )
    reported = [each for each in one.diagnostics if each.code is DiagnosticCode.ASSUMED_POSITIVE]
    assert bool(reported) is changes
    assert ("nobody stated which one is" in str(one.brief())) is changes


@pytest.mark.parametrize("rate", ["error_rate", "accuracy", "false_positive_rate"])
def test_searches_and_decompositions_report_it_just_where_it_matters(rate):
    columns = {"y": [0, 1, 0, 0], "p": [0, 1, 1, 0], "g": [*"abba"], "h": [*"uuvv"]}
    data = pl.DataFrame({name: values * ROWS for name, values in columns.items()})
    rows = {"label": "y", "prediction": "p"}
    results = (
        fg.find(data, **rows, rate=rate, worse="higher", features=["g", "h"]),
        fg.why(data, **rows, metrics=[f"{rate}.difference"], sensitive="g", strata="h"),
    )
    for each in results:
        codes = {note.code for note in each.diagnostics}
        assert (DiagnosticCode.ASSUMED_POSITIVE in codes) is (rate == "false_positive_rate")


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


def test_a_column_whose_few_values_are_rounded_to_none_is_known():
    labels = [1, 0] + [None] * (10 * ROWS - 2)
    rows = pl.DataFrame({"y": labels, "p": [1, 0] * 5 * ROWS, "g": [*"ab"] * 5 * ROWS})
    counts = fg.count(rows, label="y", prediction="p", sensitive="g")
    for _ in range(5):  # rounding is random: rarely are both labels counted
        safe = fg.protect(counts, min_cell=10)
        assert fg.audit(safe, metrics=["accuracy", "selection_rate"]).verdict == "none"


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
    copied = frame().with_columns(copied="y")
    assert not found(copied.head(19), DiagnosticCode.PREDICTION_IS_LABEL, prediction="copied")
    assert found(copied.head(20), DiagnosticCode.PREDICTION_IS_LABEL, prediction="copied")
    missing = frame(p=[None, *[0, 1] * (ROWS // 2 - 1), 0])
    assert not found(missing, DiagnosticCode.PREDICTION_IS_LABEL)
    constant = frame(y=[1] * ROWS, p=[1] * ROWS)
    assert not found(constant, DiagnosticCode.PREDICTION_IS_LABEL)


@pytest.mark.parametrize("decision", [0, 1])
def test_predictions_that_are_all_the_same(decision):
    """The advice was to collect more rows."""
    constant = frame(y=[0, 0, 1, 1] * (ROWS // 4), p=[decision] * ROWS, s=[decision / 2] * ROWS)
    (each,) = found(constant, DiagnosticCode.ONE_DECISION)
    sign = ["negative", "positive"][decision]
    assert (each.level, each.message) == (
        Level.WARNING,
        f"every prediction by 'p' is {sign}: groups cannot differ in it; check the column",
    )
    (scored,) = found(constant, DiagnosticCode.ONE_DECISION, prediction=None, score="s")
    assert scored.message == (
        f"every prediction by 's' is {sign} at 0.5: groups cannot differ in it; check the "
        "threshold and the scale of the score"
    )
    report = fg.audit(
        constant, label="y", prediction="p", positive=1, sensitive="g", min_n=5,
        rules="selection_rate.difference <= 0.1",
    )  # fmt: skip
    text = " ".join(str(report.brief()).split())
    assert "Collect data" not in text
    assert "check the outcome: every rate is the same 0% or 100%" in text
    assert not found(frame(), DiagnosticCode.ONE_DECISION)
    assert not found(constant, DiagnosticCode.ONE_DECISION, where=f"p = {decision}")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("score", [0.1, 0.3, 1 / 3, 0.7, 0.999])
@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"count": "k"}])
def test_a_constant_score_is_no_copy_of_the_label(score, more):
    """Rounding alone made its mean of positives another than that of negatives."""
    rng, rows = np.random.default_rng(5), 4_000
    table = {
        "g": rng.choice([*"ab"], rows), "y": rng.permutation([0, 1] * (rows // 2)),
        "w": rng.uniform(0.1, 3, rows), "k": rng.integers(1, 30, rows), "s": [score] * rows,
    }  # fmt: skip
    asked = {"prediction": None, "score": "s", "metrics": "mean_score.difference", **more}
    for share in (0.5, 0.03, 0.9):
        data = pl.DataFrame(table | {"y": (np.arange(rows) < share * rows).astype(int)})
        assert not found(data, DiagnosticCode.PREDICTION_IS_LABEL, **asked)
        copied = data.with_columns(s=pl.col("s") - pl.col("y") * 1e-4)
        assert found(copied, DiagnosticCode.PREDICTION_IS_LABEL, **asked)


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
    assert found(data.head(20), DiagnosticCode.SINGLE_ROW_GROUPS, sensitive="person")
    assert not found(data.head(19), DiagnosticCode.SINGLE_ROW_GROUPS, sensitive="person")
    for single in (20, 21):  # of 40 and of 41 groups
        names = [*range(single), *([*range(100, 120)] * 2)]
        half = pl.DataFrame(
            {"y": [1] * len(names), "p": [1] * len(names), "person": [f"p{i}" for i in names]}
        )
        warned = found(half, DiagnosticCode.SINGLE_ROW_GROUPS, sensitive="person")
        assert bool(warned) is (single == 21)
    cut = {"column": "number", "cuts": [10, 20]}
    numbers = frame(number=range(ROWS))
    (each,) = found(numbers, DiagnosticCode.NUMERIC_GROUPS, sensitive="number")
    assert each.message == (
        "each number is a group of its own, and 40 of the 40 groups have fewer than 20 rows; "
        "cut the numbers into intervals, such as --sensitive number:9,19,29 "
        "(fairgauge.cut('number', [9, 19, 29])), or choose another feature"
    )
    for code in (DiagnosticCode.SINGLE_ROW_GROUPS, DiagnosticCode.NUMERIC_GROUPS):
        assert not found(numbers, code, sensitive=cut)
    assert not found(numbers, DiagnosticCode.SINGLE_ROW_GROUPS, sensitive="number")


def test_very_many_numbers_are_to_be_cut_however_many_rows_each_has():
    years = pl.concat([frame(age=range(ROWS))] * 25).with_columns(age=pl.int_range(ROWS * 25) % 62)
    (each,) = found(years, DiagnosticCode.NUMERIC_GROUPS, sensitive="age")
    assert "cut the numbers into intervals" in each.message


def test_many_thin_strata_are_to_be_cut_or_merged():
    rows = frame(
        dti=[i % 31 + 0.5 for i in range(ROWS)], branch=[f"b{i % 25}" for i in range(ROWS)]
    )
    (each,) = found(rows, DiagnosticCode.MANY_STRATA, strata="dti")
    assert each.message == (
        "100% of the rows compared are in strata of fewer than 20 rows; there are 31 strata, and "
        "one that lacks a side of a comparison counts for nothing in what is adjusted for them; "
        "put codes together (recode, --recode), or cut numbers that are no codes into intervals, "
        "such as --strata dti:4.5,10.5,20.5 (fairgauge.cut('dti', [4.5, 10.5, 20.5]))"
    )
    gaps = fg.why(rows, label="y", sensitive="g", controls="dti")
    (each,) = (d for d in gaps.diagnostics if d.code is DiagnosticCode.MANY_STRATA)
    cut = "--control dti:4.5,10.5,20.5 (fairgauge.cut('dti', [4.5, 10.5, 20.5]))"
    assert each.message.endswith(cut)
    (each,) = found(rows, DiagnosticCode.MANY_STRATA, strata="branch")
    merged = "adjusted for them; put values together (recode, --recode), or name fewer columns"
    assert each.message.endswith(merged)
    purposes = rows.with_columns(purpose=pl.Series([1, 2, 4, 5, 31, 32, 5, 5] * (ROWS // 8)))
    (each,) = found(purposes, DiagnosticCode.MANY_STRATA, strata=["branch", "purpose"])
    assert each.message.endswith(merged)  # codes have no order to be cut in
    crossed = [{"column": "dti", "cuts": [10]}, "branch"]
    assert found(rows, DiagnosticCode.MANY_STRATA, strata=crossed)
    assert not found(rows, DiagnosticCode.MANY_STRATA, strata=crossed[:1])
    many = pl.concat([rows] * 20)
    assert not found(many, DiagnosticCode.MANY_STRATA, strata="dti")
    counted = rows.with_columns(n=20)
    assert not found(counted, DiagnosticCode.MANY_STRATA, strata="dti", count="n")
    numbers = pl.concat([frame(dti=range(ROWS))] * 25).with_columns(
        dti=pl.int_range(ROWS * 25) % 62
    )
    (each,) = found(numbers, DiagnosticCode.MANY_STRATA, strata="dti")
    assert each.message.startswith("100% of the rows compared are in strata of fewer than 20 rows;")
    (each,) = found(pl.concat([numbers] * 2), DiagnosticCode.MANY_STRATA, strata="dti")
    assert each.message.startswith("there are 62 strata, and one that lacks a side")


@pytest.mark.parametrize(("copied", "role"), [("y", "label"), ("p", "prediction")])
def test_a_sensitive_feature_that_equals_an_outcome_in_every_row(copied, role):
    data = frame().with_columns(pl.col(copied).cast(pl.String).alias("copy"))
    (each,) = found(data, DiagnosticCode.SENSITIVE_IS_OUTCOME, sensitive="copy")
    assert each.message == (
        f"the sensitive feature 'copy' equals the {role} '{copied}' in all 40 rows: its groups are "
        "defined by what they are compared by; check that it is not a copy, or choose another "
        "feature"
    )
    one_differs = data.with_columns(copy=pl.Series(["9", *data["copy"][1:]]))
    assert not found(one_differs, DiagnosticCode.SENSITIVE_IS_OUTCOME, sensitive="copy")
    assert not found(data.head(19), DiagnosticCode.SENSITIVE_IS_OUTCOME, sensitive="copy")


def test_every_usual_marker_of_a_missing_value_is_known():
    names = ["Nan Goldin", "North America", "none of these", "well known", "10", *MISSING]
    rows = pl.DataFrame({"y": [0, 1] * len(names), "g": [name for name in names for _ in "01"]})
    warned = found(rows, DiagnosticCode.MISSING_MARKER, prediction=None)
    assert {each["value"] for each in warned} == set(MISSING)


@pytest.mark.parametrize("marker", [9, 99, -1])
def test_a_number_that_usually_means_that_a_value_is_missing(marker):
    data = frame(g=[1, 2, 2, marker] * (ROWS // 4))
    (each,) = found(data, DiagnosticCode.MISSING_MARKER)
    assert (each["value"], each["rows"]) == (marker, ROWS // 4)
    assert f"the number {marker} is a group of g" in each.message
    assert each.message.endswith(f"unknown={marker} (--unknown {marker})")
    assert not found(data, DiagnosticCode.MISSING_MARKER, unknown=marker)
    (each,) = found(data, DiagnosticCode.MISSING_MARKER, exclude_groups=str(marker))
    assert f"the number {marker} is excluded from g" in each.message


def test_numbers_that_are_groups_are_no_codes_of_missing_values():
    for codes in ([1, 2, 3, 4], [6, 7, 8, 9], [0, 1, -1, -2], list(range(18, 100))):
        data = frame(g=(codes * ROWS)[:ROWS])
        warned = found(data, DiagnosticCode.MISSING_MARKER)
        assert {each["value"] for each in warned} == {value for value in codes if value < 0}


@pytest.mark.parametrize("marker", ["NA", "Unknown", " "])
def test_a_text_that_means_that_a_value_is_missing(tmp_path, marker):
    data = frame(g=["a", "b", "b", marker] * (ROWS // 4))
    data.write_csv(tmp_path / "t.csv", quote_style="always")
    for rows in (data, tmp_path / "t.csv"):
        (each,) = found(rows, DiagnosticCode.MISSING_MARKER)
        assert (each.feature, each["value"], each["rows"]) == ("g", marker, ROWS // 4)
        assert each.level is Level.WARNING
        assert f"unknown='{marker}' (--unknown {shlex.quote(marker)})" in each.message
        assert not found(rows, DiagnosticCode.MISSING_MARKER, unknown=marker)
        (each,) = found(rows, DiagnosticCode.MISSING_MARKER, exclude_groups=marker)
        assert f"the text '{marker}' is excluded from g with {ROWS // 4} rows" in each.message


def test_names_that_the_data_do_not_have():
    (each,) = found(frame(), DiagnosticCode.UNMATCHED, unknown=["a", "Not stated"])
    assert each.message == "unknown[1]: no group is 'Not stated' here; there are 'a', 'b'"
    data = frame(g=["a", "b", "Unknown", "b"] * (ROWS // 4))
    assert not found(data, DiagnosticCode.UNMATCHED, unknown="Unknown", exclude_groups="b")
    population = {"g": {"a": 0.5, "B": 0.2}}
    (each,) = found(frame(), DiagnosticCode.UNMATCHED, population=population)
    assert each.message == "population.g: no group is 'B' here; the nearest name is 'b'"


# --- names that are one name, written in several ways --------------------------------------------


def test_groups_that_differ_in_case_or_blanks_alone():
    data = frame(g=["Female", "female", "Male", "Male ", " MALE", "x", "x", "x"] * (ROWS // 8))
    male, female = found(data, DiagnosticCode.SAME_NAMES)
    assert (female.level, female.feature) == (Level.WARNING, "g")
    assert female["values"] == ("Female", "female")
    assert female["rows"] == (5, 5)
    assert female.message == (
        "the groups 'Female' (5 rows) and 'female' (5 rows) of g differ in case, blanks or "
        "encoding alone; if they are one group, write them alike, or recode them: --recode "
        '\'g = {Female = ["Female", "female"]}\' (recode); if each is a group of its own, recode '
        "each to itself"
    )
    assert male["values"] == (" MALE", "Male", "Male ")
    together = [{"g": [["Female", "female"], ["Male", "Male ", " MALE"], ["x"]]}]
    assert not found(data, DiagnosticCode.SAME_NAMES, sensitive=together)
    apart = {"g": {each: [each] for each in ("Female", "female", "Male", "Male ", " MALE")}}
    assert not found(data, DiagnosticCode.SAME_NAMES, recode=apart)
    assert not found(data, DiagnosticCode.SAME_NAMES, unknown=["female", "Male ", " MALE"])
    assert not found(frame(), DiagnosticCode.SAME_NAMES)


@pytest.mark.parametrize(
    "twin", ["Jos\xe9", "\ufeffJose\u0301", "Jose\u0301\u200b", "\uff2aos\xe9"]
)
def test_groups_that_look_alike(twin):
    """A byte order mark, or an accent that is a character of its own, made two groups of one."""
    data = frame(g=["Jose\u0301", twin] * (ROWS // 2))
    (each,) = found(data, DiagnosticCode.SAME_NAMES)
    assert set(each["values"]) == {"Jose\u0301", twin}
    assert not found(data, DiagnosticCode.SAME_NAMES, recode=each["line"])


FORMS = [
    [True, "True", "TRUE", "true ", "1", "1.0", "true"],
    [2.0, "2.0", " 2", "2.00", "2"],
    [2.5, "2.50", "2.5"],
    [1, True, "1e0", "1"],
]
"""Of each value: as frames and files have it."""


def in_two_forms(pair, others):
    """Return rows whose ``v`` has two forms of one value, and the same rows with one form."""
    table = pd.DataFrame(frame(g=[*"aabb"] * (ROWS // 4)).to_dict(as_series=False))
    return [
        table.assign(v=pd.Series([*each, *others] * (ROWS // 4), dtype=object))
        for each in (pair, ("one", "one"))
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"sensitive": "v"},
        {"sensitive": ["v", "g"], "intersections": [["v", "g"]]},
        {"sensitive": "v", "strata": "g"},
    ],
)
@given(
    pair=st.sampled_from([pair for forms in FORMS for pair in combinations(forms, 2)]),
    others=st.sampled_from([("x", "z"), ("0", "0.0"), (False, "False")]),
)
@example(pair=(True, "True"), others=(False, "False"))
@example(pair=("1", "1.0"), others=("0", "0.0"))
def test_groups_of_one_value_in_two_forms_are_refused_or_have_a_ready_recoding(asked, pair, others):
    """Booleans beside "True", and "1" beside "1.0", were two groups without a word."""
    asked = asked | {"metrics": "selection_rate.difference"}
    data, clean = in_two_forms(pair, others)
    names = {name_of(canonical(each)) for each in pair}
    if len(names) == 1:
        with pytest.raises(DataError, match="as two types"):
            found(data, DiagnosticCode.SAME_NAMES, **asked)
        return
    warned = found(data, DiagnosticCode.SAME_NAMES, **asked)
    assert len(warned) == 1 + (others[0] != "x")
    assert names in [set(each["values"]) for each in warned]
    assert all("case" in d.message or "how a number" in d.message for d in warned)
    recoded = asked | {"recode": [each["line"] for each in warned], "label": "y", "prediction": "p"}
    pooled = fg.audit(data, **recoded)
    assert not {each.code for each in pooled.diagnostics} & {"same_names"}
    alone = fg.audit(clean, **(recoded | ({"recode": []} if others[0] == "x" else {})))
    assert sorted(each.n for each in pooled.groups) == sorted(each.n for each in alone.groups)


@pytest.mark.parametrize("values", [("01", "1"), ("1.5", "15"), ("yes", "true"), ("-1", "1")])
def test_codes_that_are_no_forms_of_one_number(values):
    data = frame(g=[*values, "x", "z"] * (ROWS // 4))
    assert not found(data, DiagnosticCode.SAME_NAMES)


def test_labels_and_predictions_that_differ_in_case_or_blanks_alone():
    data = frame(y=["yes", " yes", "no", "no"] * (ROWS // 4), p=["Yes", "no"] * (ROWS // 2))
    asked = {"positive": "yes", "task": "binary"}
    (each,) = found(data, DiagnosticCode.SAME_NAMES, **asked)
    assert each.message == (
        "the values ' yes' of y (10 rows), 'yes' of y (10 rows) and 'Yes' of p (20 rows) differ in "
        "case, blanks or encoding alone, and count as different outcomes; write them alike, recode "
        "them (recode, --recode), or state all of them that are positive (--positive)"
    )
    truths = frame(y=["true", "True", "false", "False"] * (ROWS // 4), p=["true"] * ROWS)
    assert not found(truths, DiagnosticCode.SAME_NAMES)
    stated = {"positive": ["yes", " yes", "Yes"]}
    assert not found(data, DiagnosticCode.SAME_NAMES, **stated)


@pytest.mark.parametrize(
    ("names", "alike"),
    [
        ("26-40|26 - 40", True), ("26-40|26\u201340", True), ("26-40|26_40", True),
        ("65+|65 +", True), ("Zone 1|Zone1", True), ("<40|< 40", True),
        ("North East|NorthEast", True), ("1 2|12", False), ("<40|>40", False), ("A+|A-", False),
    ],
)  # fmt: skip
def test_blanks_and_dashes_of_names_with_digits_and_signs_are_spellings(names, alike):
    """Age bands in two spellings were two groups, each compared with the other: a pass."""
    several = [*names.split("|"), "other"]
    rows = pl.DataFrame({"g": several * 200, "p": [1, 0] * (100 * len(several))})
    asked = {"prediction": "p", "positive": 1, "sensitive": "g"}
    report = fg.audit(rows, **asked, rules="selection_rate.ratio >= 0.1")
    warned = [e for e in report.diagnostics if e.code is DiagnosticCode.SAME_NAMES]
    assert bool(warned) is alike
    assert report.verdict is (Outcome.INCONCLUSIVE if alike else Outcome.PASS)


def test_a_file_that_is_a_copy_of_another_is_warned_of(tmp_path):
    """Also in a folder; not where the names of folders are values, nor of the same size alone."""
    first, copy, other = (tmp_path / name for name in ("a.csv", "copy of a.csv", "b.csv"))
    frame().write_csv(first)
    shutil.copy(first, copy)
    frame(g=[*"ba"] * (ROWS // 2)).write_csv(other)
    assert first.stat().st_size == other.stat().st_size
    code = DiagnosticCode.COPIED_FILES
    (each,) = found([first, other, copy], code)
    assert each["files"] == (str(first), str(copy))
    assert each.message.startswith(f"the files {quote(first)}, {quote(copy)} hold the same lines")
    assert "counts 2 times" in each.message
    assert found(tmp_path / "*a.csv", code) == [each]
    assert not found([first, other], code)
    cube, warnings = counted_with_warnings([first, copy], label="y", sensitive="g")
    assert (cube.rows, [w.code for w in warnings]) == (2 * ROWS, [code])
    parts = [tmp_path / f"year={year}" / "part.parquet" for year in (2025, 2026)]
    for part in parts:
        part.parent.mkdir()
        frame().write_parquet(part)
    assert not found(tmp_path, code)
    shutil.copy(parts[0], parts[0].with_name("more.parquet"))
    assert len(found(tmp_path, code)) == 1


@pytest.mark.parametrize("verb", ["find", "why", "thresholds"])
def test_copies_are_warned_of_by_every_result(tmp_path, verb):
    rows = frame(g=["a", "b"] * (ROWS // 2)).with_columns(
        k=pl.Series([*"xxyy"] * (ROWS // 4)), s=pl.Series([0.1, 0.4, 0.6, 0.9] * (ROWS // 4))
    )
    first, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    rows.write_csv(first)
    shutil.copy(first, copy)
    asked = {
        "find": {"prediction": "p", "features": ["g", "k"], "rate": "accuracy"},
        "why": {
            "prediction": "p",
            "sensitive": "g",
            "strata": {"column": "s", "cuts": "quantiles"},
        },
        "thresholds": {"score": "s", "sensitive": "g", "rules": "selection_rate.ratio >= 0.5"},
    }[verb]
    result = getattr(fg, verb)([first, copy], label="y", **asked)
    codes = [each.code for each in result.diagnostics]
    assert codes.count(DiagnosticCode.COPIED_FILES) == 1
    assert "hold the same lines" in str(result)


def test_validate_reads_them_too(tmp_path):
    frame(g=["a", "A "] * (ROWS // 2)).write_csv(tmp_path / "t.csv")
    source, spec = open_source(tmp_path / "t.csv"), ask(sensitive="g")
    codes = [each.code for each in check_groups(source, spec)]
    assert codes == [DiagnosticCode.SAME_NAMES]


@given(st.lists(st.text("aB ", max_size=3), min_size=2, max_size=6, unique=True))
def test_a_name_is_warned_of_exactly_where_another_is_like_it(names):
    data = pl.DataFrame({"y": [0, 1] * len(names), "g": [name for name in names for _ in "01"]})
    warned = found(data, DiagnosticCode.SAME_NAMES, prediction=None)
    alike = ["".join(name.split()).casefold() for name in names]
    twins = {name for name, like in zip(names, alike, strict=True) if alike.count(like) > 1}
    assert {name for each in warned for name in each["values"]} == twins
    assert len(warned) == len({like for like in alike if alike.count(like) > 1})


# --- classes ----------------------------------------------------------------------------------


def classes(count):
    names = [f"c{i}" for i in range(count)]
    return pl.DataFrame({"y": names * 2, "p": names * 2, "g": ["a"] * count + ["b"] * count})


def test_hundreds_of_classes_are_refused():
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(classes(101), label="y", prediction="p", sensitive="g")
    assert str(caught.value) == (
        "label: columns 'y' and 'p' together have 101 classes, more than 100; state which values "
        "are favourable (positive, --positive VALUE), or raise max_classes (--max-classes 101)"
    )
    cube = fg.count(classes(101), label="y", prediction="p", sensitive="g")
    with pytest.raises(fg.SpecError, match="have 101 classes"):
        fg.audit(cube)
    binary = fg.audit(classes(101), label="y", prediction="p", sensitive="g", positive="c0")
    assert binary.task is Task.BINARY


def test_a_prediction_that_no_label_has_is_warned_of():
    data = pl.DataFrame({"y": ["yes", "no"] * 40, "p": ["yes", "no", "maybe", "yes"] * 20,
                         "s": ["a", "b", "b", "a"] * 20})  # fmt: skip
    asked = {"label": "y", "prediction": "p", "sensitive": "s", "positive": "yes"}
    (warned,) = [
        each
        for each in fg.audit(data, **asked).diagnostics
        if each.code is DiagnosticCode.PREDICTION_NOT_A_LABEL
    ]
    assert (warned["rows"], warned["values"]) == (20, ("maybe",))
    assert "20 rows have a value in 'p' that the label 'y' never has ('maybe')" in warned.message
    clean = data.with_columns(p=pl.col("y"))
    one_class = data.with_columns(y=pl.lit("no"), p=pl.col("y"))
    for table in (clean, one_class):
        codes = {each.code for each in fg.audit(table, **asked).diagnostics}
        assert DiagnosticCode.PREDICTION_NOT_A_LABEL not in codes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sensitive": ["g", "h"], "intersections": [("g", "h")],
             "reference": {"g": "a", "h": "z"}},
            "reference: no row is in 'a & z', the reference of 'g*h'",
        ),
        ({"prediction": None, "score": "s", "score_of": 7}, "column 'y' has no value '7'"),
        (
            {"prediction": None, "label": "h", "score": "s", "task": "multiclass"},
            "a multiclass audit needs a prediction of classes, not a score or a cut",
        ),
    ],
)  # fmt: skip
def test_what_the_rows_do_not_have_is_named(options, message):
    data = frame(h=[*"xz"] * (ROWS // 2), s=[i / ROWS for i in range(ROWS)])
    data = data.with_columns(h=pl.when(pl.col("g") == "a").then(pl.lit("x")).otherwise("h"))
    asked = {"label": "y", "prediction": "p", "sensitive": "g"} | options
    with pytest.raises(fg.SpecError, match=re.escape(message)):
        fg.audit(data, **{key: value for key, value in asked.items() if value is not None})


def test_the_median_is_that_of_the_cases_a_row_stands_for():
    scores, times = [0.1, 0.2, 0.3, 0.9], [1, 1, 1, 9]
    data = pl.DataFrame({"g": [*"abab"], "y": [0, 1, 0, 1], "s": scores, "n": times})
    asked = {"label": "y", "score": "s", "sensitive": "g", "threshold": "median"}
    assert {g.threshold for g in fg.audit(data, **asked).groups} == {0.25}
    assert {g.threshold for g in fg.audit(data, **asked, count="n").groups} == {0.9}
    with pytest.raises(DataError, match="holds no number in any row"):
        fg.audit(data.with_columns(s=pl.lit(None, dtype=pl.Float64)), **asked)


@pytest.mark.parametrize(("column", "role"), [("y", "label"), ("p", "prediction")])
@pytest.mark.parametrize("sensitive", ["{}", "{}:0.5"])
def test_a_sensitive_feature_that_is_the_label_or_the_prediction(column, role, sensitive):
    feature = fg.cut(column, [0.5]) if ":" in sensitive else column
    [warning] = found(frame(), DiagnosticCode.SENSITIVE_IS_OUTCOME, sensitive=["g", feature])
    assert warning.level is Level.WARNING
    assert f"the sensitive feature '{column}' is also the {role}" in warning.message


def test_an_intersection_with_the_label_is_warned_of_and_so_is_its_specification():
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "intersections": [("g", "y")]}
    warnings = check_groups(open_source(frame()), ask(frame().columns, **asked))
    assert [each["column"] for each in warnings] == ["y"]
    assert not found(frame(), DiagnosticCode.SENSITIVE_IS_OUTCOME)


@pytest.mark.parametrize("options", [{}, {"cluster": "person"}])
def test_reversed_scores_are_warned_of_with_clusters_too(options):
    rows = range(400)
    data = {"y": [i < 150 for i in rows], "s": [i / 400 for i in rows],
            "g": [*"ab"] * 200, "person": [i // 4 for i in rows]}  # fmt: skip
    asked = {"prediction": None, "score": "s", "positive": True} | options
    (each,) = found(pl.DataFrame(data), DiagnosticCode.REVERSED_SCORES, **asked)
    assert each["auc"] == 0
    turned = pl.DataFrame(data | {"s": [1 - i / 400 for i in rows]})
    assert not found(turned, DiagnosticCode.REVERSED_SCORES, **asked)


# --- questions whose answer would be nothing, or false ----------------------------------------


def test_strata_that_are_the_prediction_are_an_error():
    message = "strata: 'p' is the prediction, which is the same for all rows of a stratum"
    with pytest.raises(fg.SpecError, match=message):
        found(frame(), DiagnosticCode.UNMATCHED, strata="p")


def test_strata_that_are_the_only_sensitive_feature_are_an_error():
    rows = pl.DataFrame({"y": [0, 1] * 60, "g": [*"aab"] * 40, "h": [*"cdcdd"] * 24})
    with pytest.raises(fg.SpecError, match=r"strata: 'g' is a sensitive feature.* name another"):
        fg.audit(rows, label="y", sensitive="g", strata="g")
    adjusted = fg.audit(rows, label="y", sensitive=["g", "h"], strata="g").estimates
    assert any(e.feature == "h" and e.scope.kind == "pooled" for e in adjusted)


def represented(population):
    data = pl.DataFrame({"y": [0, 1] * 50, "g": [*"aaaaaabbcd"] * 10})
    report = fg.audit(
        data,
        label="y",
        sensitive="g",
        population={"g": population},
        metrics="representation.difference",
    )
    return {e.group: e.value for e in report.estimates if e.metric.endswith("difference")}


@pytest.mark.parametrize(
    ("population", "expected"),
    [
        ({"a": 0.6, "b": 0.2}, {"a": 0, "b": 0}),  # c and d have the rest
        ({"a": 0.604, "b": 0.2, "c": 0.1, "d": 0.1}, {"a": -0.0016, "b": 0.0008}),  # rounding
        ({"a": 600, "b": 200, "c": 100, "d": 100}, {"a": 0, "b": 0, "c": 0, "d": 0}),
        ({"a": 60.5, "b": 19.5, "c": 10, "d": 10}, {"a": -0.005, "b": 0.005}),
    ],
)
def test_shares_of_a_population_are_those_that_are_stated(population, expected):
    values = represented(population)
    assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("population", "message"),
    [
        (
            {"a": 600, "b": 200},
            "population.g: leaves no share for 'c', 'd', which the data have",
        ),
        ({"a": 0.7, "b": 0.3}, "population.g: leaves no share for 'c', 'd'"),
        ({"a": 0.7, "b": 0.6}, "population.g: the shares add up to 1.3, more than 1"),
        (
            {"a": 0.4, "b": 0.2, "c": 0.1, "d": 0.1},
            "population.g: the shares add up to 0.8, and name every group of the data",
        ),
    ],
)
def test_shares_of_a_population_that_miss_somebody_are_an_error(population, message):
    with pytest.raises(fg.SpecError, match=message):
        represented(population)


# --- outcomes that nobody decided -------------------------------------------------------------

ACTIONS = pl.DataFrame({"action_taken": [1, 2, 3, 4, 5, 6, 1, 3] * 30, "sex": ["F", "M"] * 120})
UNDECIDED = DiagnosticCode.UNDECIDED_OUTCOMES
HMDA = {"label": None, "prediction": "action_taken", "positive": [1, 2], "sensitive": "sex"}


def test_codes_of_hmda_that_are_no_decision_are_reported_with_what_counts_the_others():
    (each,) = found(ACTIONS, UNDECIDED, **HMDA)
    assert each.level is Level.WARNING
    assert each.message == (
        "90 rows have 'action_taken' = 4, 5 or 6, which in HMDA data are no decisions "
        "(withdrawn, incomplete or purchased); they count as not positive. To count decided rows "
        "alone: --where 'action_taken != 4 or 5 or 6' (where=\"...\")"
    )
    assert not found(ACTIONS, UNDECIDED, **HMDA, where=each["condition"])
    (more,) = found(ACTIONS, UNDECIDED, **HMDA, where="action_taken != 4")
    assert more["condition"] == each["condition"]
    assert more["rows"] == 60


NAMES_OF_ACTIONS = {
    1: "Loan originated", 2: "Application approved but not accepted",
    3: "Application denied by financial institution", 4: "Application withdrawn by applicant",
    5: "File closed for incompleteness", 6: "Loan purchased by the institution",
    7: "Preapproval request denied by financial institution",
    8: "Preapproval request approved but not accepted",
}  # fmt: skip


@pytest.mark.parametrize("positive", [(1,), (1, 2), (2,), (1, 8), (7,), (1, 2, 8)])
def test_names_of_hmda_actions_are_their_codes(positive):
    """It was advised to count a preapproval that was denied as favourable: FAIL became PASS."""
    codes = pl.Series([1 + i % 8 for i in range(240)])
    names = codes.replace_strict(NAMES_OF_ACTIONS)
    coded, named = (ACTIONS.with_columns(action_taken=each) for each in (codes, names))

    def warned(rows, values):
        report = fg.audit(rows, **HMDA | {"positive": values})
        return [
            (each.code, each["rows"], {*each["values"]})
            for each in report.diagnostics
            if each.code in (UNDECIDED, DiagnosticCode.APPROVED_AS_REFUSED,
                             DiagnosticCode.UNFAVOURABLE_POSITIVE)
            and each.get("rows") is not None
        ]  # fmt: skip

    of_codes = warned(coded, [*positive])
    assert of_codes
    assert warned(named, [NAMES_OF_ACTIONS[code] for code in positive]) == [
        (code, rows, {NAMES_OF_ACTIONS[int(value)] for value in values})
        for code, rows, values in of_codes
    ]


@pytest.mark.parametrize("positive", [("1",), ("1", "2"), ("8",), ("1", "2", "8")])
def test_codes_of_hmda_with_leading_zeros_are_those_without(positive):
    """Approvals that were not accepted, and withdrawals, counted as denials: PASS, no warning."""
    codes = pl.Series([str(1 + i % 8) for i in range(240)])
    warned = []
    for zero in ("", "0"):
        rows = ACTIONS.with_columns(action_taken=zero + codes)
        report = fg.audit(rows, **HMDA | {"positive": [zero + each for each in positive]},
                          rules="selection_rate.ratio >= 0.1")  # fmt: skip
        assert report.verdict == "inconclusive"
        hmda = (UNDECIDED, DiagnosticCode.APPROVED_AS_REFUSED)
        warned.append(
            {each.code: [int(v) for v in each["values"]] for each in report.diagnostics
             if each.code in hmda}
        )  # fmt: skip
    assert warned[0] == warned[1] != {}
    rows = rows.rename({"action_taken": "grade"})
    report = fg.audit(rows, **HMDA | {"prediction": "grade", "positive": "01"})
    assert not {each.code for each in report.diagnostics} & {*hmda}


def test_codes_of_hmda_that_are_approvals_and_count_as_denials_are_reported():
    approved = DiagnosticCode.APPROVED_AS_REFUSED
    assert not found(ACTIONS, approved, **HMDA)
    (each,) = found(ACTIONS, approved, **HMDA | {"positive": 1})
    assert each.level is Level.WARNING
    assert each.message == (
        "30 rows have 'action_taken' = 2, which in HMDA data is an approval that the applicant "
        "did not accept; they count as not positive. To count them as approved: --positive 1,2 "
        "(positive=['1', '2'])"
    )
    (each,) = found(ACTIONS, approved, **HMDA | {"positive": 2})
    assert (
        "60 rows have 'action_taken' = 1, which in HMDA data is a loan that was m" in each.message
    )
    assert not found(ACTIONS, approved, **HMDA | {"positive": 1}, where="action_taken = 1 or 3")
    # whoever counts denials as the positive outcome counts approvals as the other one
    assert not found(ACTIONS, approved, **HMDA | {"positive": 3})
    assert not found(ACTIONS.rename({"action_taken": "grade"}), approved, label=None,
                     prediction="grade", positive=1, sensitive="sex")  # fmt: skip


MISSING = (
    *("NA", "N/A", "#N/A", "<NA>", "NaN", "NULL", "None", "nil", "NaT", "missing", " Unknown"),
    *("Not stated", "not available", "?", "-", "--", ".", " "),
)
"""Texts that usually mean that a value is missing."""


@pytest.mark.parametrize(
    ("undecided", "warned"),
    [
        ("Withdrawn by applicant", True),
        ("File closed for incompleteness", True),
        ("pending", True),
        ("Interview - On Hold", True),
        ("Rejected", False),
        ("depending", False),
        *((name, True) for name in ("Not reviewed", "TBD", "To be decided", "Status unknown")),
        *((name, True) for name in MISSING),
        # refusals, and what people did
        *((name, False) for name in ("Declined", "Did not pass", "No response", "Not provided")),
    ],
)
def test_names_of_outcomes_that_are_no_decision_are_reported(undecided, warned):
    rows = pl.DataFrame({"stage": ["Hired", "No", undecided, "No"] * 40, "sex": [*"FFMM"] * 40})
    asked = {"label": None, "prediction": "stage", "sensitive": "sex"}
    of_data = found(rows, UNDECIDED, **asked, positive="Hired")
    assert [each["values"] for each in of_data] == ([(undecided,)] if warned else [])
    # whoever asks for it as the favourable one means it
    assert not found(rows, UNDECIDED, **asked, positive=["Hired", undecided])
    for each in of_data:  # what the warning advises
        blank = undecided != undecided.strip()
        assert f"'stage' = {repr(undecided) if blank else undecided}, which" in each.message
        assert not found(rows, UNDECIDED, **asked, positive="Hired", recode=each["line"])


def test_one_unknown_decision_of_many_is_reported_and_one_of_a_label():
    rows = pl.DataFrame(
        {"y": [*["yes", "no"] * 300, "N/A", "?"], "sex": [*"FFMM"] * 150 + ["F"] * 2}
    )
    for role in ({"prediction": None}, {"label": None, "prediction": "y"}):
        (each,) = found(rows, UNDECIDED, **role, positive="yes", sensitive="sex")
        assert each.level is Level.WARNING
        assert each.message == (
            "2 rows have 'y' = ? or N/A, which their names or codes suggest were not decided or "
            "are not known; they count as not positive. To count decided rows alone: "
            """--recode 'y = {unknown = ["?", "N/A"]}' (recode)"""
        )


@pytest.mark.parametrize(
    ("first", "code"),
    [
        *((0, code) for code in (-999, -1, 9, 99, 0.5, float("inf"), "9", "-999")),
        *((1, code) for code in (9, -9, 99)),
    ],
)
def test_numbers_beside_two_codes_may_mean_that_nothing_is_known(first, code):
    """Labels of 0, 1 and -999 passed a rule without a word: -999 was the unfavourable outcome."""
    values = [type(code)(each) for each in (first, first + 1, code, first)]
    rows = pl.DataFrame({"y": values * 40, "sex": [*"FFMM"] * 40})
    for role in ({"prediction": None}, {"label": None, "prediction": "y"}):
        asked = role | {"positive": 1, "sensitive": "sex"}
        (each,) = found(rows, UNDECIDED, **asked)
        assert (each["rows"], each.level) == (40, Level.WARNING)
        assert not found(rows, UNDECIDED, **asked, recode=each["line"])


def test_codes_of_a_column_of_another_name_are_no_codes_of_hmda():
    rows = ACTIONS.rename({"action_taken": "grade"})
    assert not found(rows, UNDECIDED, **HMDA | {"prediction": "grade"})


@pytest.mark.parametrize("lacking", [0, 1, 2])
def test_strata_that_are_missing_with_one_outcome_are_warned_of(lacking):
    """A gap of 2.6 points "remained" at 0.8 after the product of most refusals had been lost."""
    rng = np.random.default_rng(8)
    rows = pl.DataFrame({
        "g": rng.choice(["a", "b"], 4_000),
        "approved": rng.choice([0, 1], 4_000, p=[0.3, 0.7]),
        "product": rng.choice(["loan", "card"], 4_000),
        "lost": rng.random(4_000),
    })  # fmt: skip
    lost = pl.col("lost") < (0.3 if lacking == 1 else 0.8 * (1 - pl.col("approved")))
    if lacking:
        rows = rows.with_columns(product=pl.when(~lost).then("product"))
    asked = {"prediction": "approved", "positive": 1, "sensitive": "g"}
    report = fg.audit(rows, strata="product", **asked)
    gaps = fg.why(rows, strata="product", reference={"g": "a"}, **asked)
    counted = fg.audit(fg.count(rows, strata="product", **asked))
    for result in (report, gaps, counted):
        warned = [d for d in result.diagnostics if d.code is DiagnosticCode.MISSING_STRATA]
        assert [each.get("outcome") for each in warned] == [None, "approved"][lacking - 1 :][
            :lacking
        ]
        for each in warned if lacking == 2 else ():
            assert each.level == "warning"
            assert (each["most"], each["least"], each["least_share"]) == ("0", "1", 0)
            assert each["rows"] == rows["product"].null_count()
            assert f"'product' is missing in {each['rows'] / 4_000:.1%} of" in str(each.message)
            assert "of 100 rows with approved = 0, and 0 of 100 with 1 (chi" in str(each.message)


@pytest.mark.parametrize("role", ["strata", "controls"])
def test_strata_that_one_group_lacks_more_often_are_stated_by_group(role):
    """Four of 100 rows lacked a stratum, all of one group: nothing was said."""
    rows = pl.DataFrame({
        "g": ["a", "b"] * 1_000, "y": [0, 0, 1, 1] * 500, "dept": [*"xxxxzzzz"] * 250,
        "dti": [None if i < 160 and i % 2 else "low" for i in range(2_000)],
    })  # fmt: skip
    beside = {"strata": ["dept", "dti"]}
    if role == "controls":
        beside = {"strata": "dept", "controls": "dti"}
    asked = {"label": "y", "positive": 1, "sensitive": "g"}
    results = [fg.why(rows, reference={"g": "a"}, **asked, **beside)]
    if role == "strata":
        results += [
            fg.audit(data, **asked, **beside) for data in (rows, fg.count(rows, **asked, **beside))
        ]
    for result in results:
        (warned,) = [d for d in result.diagnostics if d.code is DiagnosticCode.MISSING_STRATA]
        assert warned.message.startswith(
            "'dti' is missing in 4.0% of the rows (80 of 2,000): in 8 of 100 rows with g = b, and "
            "0 of 100 with a (chi-square test of equal shares: p\xa0<\xa00.001); within its strata"
        )


def by_outcome(unrecorded, decided=(2_000, 1_000), **more):
    """Return decisions of which so many are of unrecorded groups, by decision; one row each."""
    groups = [
        ("b" if i % 2 else "a") if i >= lacking else None
        for lacking, rows in zip(unrecorded, decided, strict=True)
        for i in range(rows)
    ]
    return pl.DataFrame({"g": groups, "approved": np.repeat([1, 0], decided)} | more)


def unequally_missing(rows, **options):
    asked = {"prediction": "approved", "positive": 1, "sensitive": "g", "label": None} | options
    return found(rows, DiagnosticCode.UNEQUALLY_MISSING, **asked)


def test_groups_that_are_missing_with_one_outcome_are_warned_of():
    """Recorded for nearly all who were refused, and for half of those approved, they are others."""
    rows = by_outcome((240, 310))
    asked = {"prediction": "approved", "positive": 1, "sensitive": "g"}
    strata = pl.Series(["x", "y", "y"] * 1_000)
    gaps = fg.why(rows.with_columns(h=strata), strata="h", reference={"g": "a"}, **asked)
    for warned in (
        unequally_missing(rows),
        unequally_missing(fg.count(rows, **asked)),
        unequally_missing(rows.with_columns(pl.col("g").fill_null("n/a")), unknown=["n/a"]),
        [d for d in gaps.diagnostics if d.code is DiagnosticCode.UNEQUALLY_MISSING],
    ):
        (each,) = warned
        assert (each.level, each.feature) == ("warning", "g")
        assert each.message.replace("\N{NO-BREAK SPACE}", " ") == (
            "g is not known of 31 of 100 rows with approved = 0, and 12 of 100 with 1 (chi-square "
            "test of equal shares: p < 0.001): gaps between the rows whose group is known may "
            "differ from those of all; record it where it is missing, or contradictory"
        )
    assert not unequally_missing(rows, missing="group")  # who are then compared, too
    assert not unequally_missing(by_outcome((240, 120)))
    assert not unequally_missing(by_outcome((240, 130)))


def test_missing_groups_of_a_few_clusters_are_no_sign_of_the_outcome():
    rows = by_outcome((240, 310), cluster=[i // 100 for i in range(3_000)])
    assert not unequally_missing(rows, cluster="cluster")
    pairs = by_outcome((240, 310), cluster=[i // 2 for i in range(3_000)])
    assert unequally_missing(pairs, cluster="cluster")
    keys = list(rows.columns)
    counted = rows.group_by(keys).len("n")
    assert not unequally_missing(counted, cluster="cluster", count="n")


@given(
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    decided=st.tuples(st.integers(20, 3_000), st.integers(20, 3_000)),
    shift=st.integers(0, 2),
)
def test_missing_groups_are_warned_of_by_the_outcome_that_lacks_them_more(shares, decided, shift):
    lacking = [round(share * (n - 4)) for share, n in zip(shares, decided, strict=True)]
    rows = by_outcome(lacking, decided)[shift:]
    counts = [rows.filter(approved=value)["g"] for value in (1, 0)]
    most, least = sorted((n.null_count() / len(n) for n in counts), reverse=True)
    warned = unequally_missing(rows)
    assert [(each["most_share"], each["least_share"]) for each in warned] in ([], [(most, least)])
    if most - least > 0.3 and min(decided) > 100:
        assert warned
    if most - least < 0.02:
        assert not warned


@pytest.mark.one_in(3)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("strata", "code", "gone", "kept"),
    [
        ("decided", "stratum_is_outcome", "selection_rate", "base_rate"),
        ("outcome", "stratum_is_outcome", "base_rate", "selection_rate"),
        ("region", "stratum_is_group", "selection_rate", None),
        ("branch", None, None, "selection_rate"),
    ],
)
def test_strata_that_are_an_outcome_or_the_groups_adjust_for_nothing(
    strata, code, gone, kept, several
):
    """ "No difference when adjusted" was said of strata that are the decision by another name."""
    rng = np.random.default_rng(4)
    g = rng.choice(["a", "b"], 3_000)
    p, y = (rng.random((2, 3_000)) < np.where(g == "a", 0.6, 0.4)).astype(int)
    rows = pl.DataFrame({
        "g": g, "y": y, "p": p, "decided": np.where(p, "yes", "no"), "region": np.char.upper(g),
        "outcome": np.where(y, "good", "bad"), "branch": rng.choice(["x", "y"], 3_000),
        "h": rng.choice(["c", "d"], 3_000),
    })  # fmt: skip
    asked = {"label": "y", "prediction": "p", "positive": 1, "strata": strata}
    asked["sensitive"] = ["g", "h"] if several else "g"
    for data in (rows, fg.count(rows, **asked)):
        report = fg.audit(data, **asked)
        warned = [d.code for d in report.diagnostics if d.code.startswith("stratum_is")]
        assert warned == ([code] if code else [])
        pooled = {
            each.metric: each
            for each in report.estimates
            if (each.feature, each.group, each.scope.kind) == ("g", "b", "pooled")
        }
        if gone:
            found = pooled[f"{gone}.difference"]
            assert (found.value, found.interval, found.p_value) == (None, None, None)
            assert found.reason is not None
        if kept:
            assert pooled[f"{kept}.difference"].value is not None
        text = " ".join(render(report, "text").split())
        assert ("After adjusting for" in text) == (code is None)
        assert (": see how the difference divides" in text) == (code is None)
        assert not any(d.code == "disappears" for d in report.diagnostics)


@pytest.mark.parametrize("verb", ["audit", "why", "controls"])
@pytest.mark.parametrize(
    ("levels", "missing"),
    [
        (["n", "s", " "], [" "]), (["n", "s", "unknown"], ["unknown"]), ([1, 2, 9999], [9999]),
        (["n", "s", "9999"], ["9999"]), (["n", "s", "zz"], []), ([1, 2, 3], []),
        ([2023, 2024, 2025], []),
        (["36", "37", "Exempt"], ["Exempt"]), (["n", "s", "Exempt"], []),
        (["<36", "36 to 49", "Not applicable"], ["Not applicable"]),
        (["36", "NA", "Exempt"], ["Exempt", "NA"]),
    ],
)  # fmt: skip
def test_a_stratum_that_looks_like_a_missing_value_is_warned_of(verb, levels, missing):
    """A blank branch accounted for a gap."""
    rows = pl.DataFrame({
        "g": ["a", "b", "b", "a", "b", "a", "b"] * 300, "y": [0, 1, 1, 1] * 525,
        "branch": levels * 700, "site": ["N", "S", "S", "N", "N"] * 420,
    })  # fmt: skip
    asked = {"label": "y", "positive": 1, "sensitive": "g"}
    if verb == "audit":
        result = fg.audit(rows, strata="branch", metrics="base_rate.difference", **asked)
    elif verb == "why":
        result = fg.why(rows, strata="branch", **asked)
    else:
        result = fg.why(rows, strata="site", controls="branch", **asked)
    warned = [d for d in result.diagnostics if d.code is DiagnosticCode.STRATUM_OF_MISSING]
    assert [d["values"] for d in warned] == [tuple(map(str, missing))] * bool(missing)
    for each in warned:
        assert f"--recode '{each['line']}'" in str(each.message)


@pytest.mark.parametrize("spellings", [1, 3])
@pytest.mark.parametrize("verb", ["audit", "why", "counted", "controls"])
def test_strata_that_differ_in_case_or_blanks_alone_are_warned_of(verb, spellings):
    """Forty branches were 120 strata, without a word."""
    written = [str.title, str.upper, lambda name: f"{name} "][:spellings]
    names = [written[i // 40 % spellings](f"branch {i % 40}") for i in range(2_400)]
    rows = pl.DataFrame({
        "g": ["a", "b", "b"] * 800, "y": [0, 1, 1, 1] * 600, "branch": names,
        "site": ["N", "S", "S", "N", "N"] * 480,
    })  # fmt: skip
    asked = {"label": "y", "positive": 1, "sensitive": "g"}
    if verb == "controls":
        result = fg.why(rows, strata="site", controls="branch", **asked)
    elif verb == "why":
        result = fg.why(rows, strata="branch", **asked)
    else:
        asked |= {"strata": "branch", "metrics": "base_rate.difference"}
        result = fg.audit(fg.count(rows, **asked) if verb == "counted" else rows, **asked)
    warned = [d for d in result.diagnostics if d.code is DiagnosticCode.SAME_NAMES]
    assert len(warned) == (spellings > 1)
    assert all((each["more"], set(each["columns"])) == (39, {"branch"}) for each in warned)
    recoded = {"recode": {"branch": {"North": sorted(set(names))}}}
    assert not [
        d for d in fg.why(rows, **{**asked, "strata": ["branch", "site"], **recoded}).diagnostics
        if d.code is DiagnosticCode.SAME_NAMES
    ]  # fmt: skip


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("control", "said"),
    [
        ("copy", "g: no value of the control 'copy' has rows of two groups"),
        ("part", "g: no value of the control 'part' has rows of two groups"),
        ("decided", "by another name, or made from it, remove it from the controls"),
        ("site", None),
    ],
)  # fmt: skip
def test_controls_that_are_an_outcome_or_the_groups_are_warned_of(control, said, several):
    rng = np.random.default_rng(4)
    g = rng.choice(["a", "b"], 3_000)
    y = (rng.random(3_000) < np.where(g == "a", 0.6, 0.4)).astype(int)
    rows = pl.DataFrame({
        "g": g, "y": y, "copy": np.where(g == "a", 7, 8), "decided": np.where(y, "yes", "no"),
        "part": np.where(g == "a", rng.choice(["p", "q"], 3_000), "r"),
        "h": rng.choice(["c", "d"], 3_000), "site": rng.choice(["N", "S"], 3_000),
        "branch": rng.choice(["x", "y"], 3_000),
    })  # fmt: skip
    asked = {"label": "y", "positive": 1, "strata": "branch"}
    asked["sensitive"] = ["g", "h"] if several else "g"
    counted = fg.count(rows, **{**asked, "strata": ["branch", control]})
    for data in (rows, counted):
        found = fg.why(data, controls=control, **asked).diagnostics
        warned = [f"{d.feature}: {d.message}" for d in found if d.code.startswith("stratum_is")]
        assert len(warned) == (said is not None)
        assert all(said in each for each in warned)


@pytest.mark.parametrize("exempt", [8888, 1111])
def test_numbers_that_may_be_codes_of_missing_ones_are_warned_of(exempt):
    random = np.random.default_rng(3)
    age = np.where(random.random(ROWS) < 0.08, exempt, random.integers(20, 90, ROWS))
    data = frame(g=["a", "b"] * (ROWS // 2), age=age)
    old = [{"column": "age", "cuts": [61]}]
    for asked in ({"sensitive": old}, {"sensitive": "g", "strata": old}):
        (warned,) = found(data, DiagnosticCode.CODED_NUMBERS, **asked)
        assert (warned["column"], warned["value"]) == ("age", exempt)
        assert warned["line"] == f"age = {{unknown = [{exempt}]}}"
        again = {**asked, "recode": warned["line"]}
        assert not found(data, DiagnosticCode.CODED_NUMBERS, **again)
        for where in (f"age < {exempt}", f"age != {exempt}"):
            assert not found(data, DiagnosticCode.CODED_NUMBERS, **asked, where=where)
    cut = fg.why(data, prediction="p", sensitive="g", strata=[fg.cut("age", "quantiles")])
    assert [each["value"] for each in cut.diagnostics if each.code == "coded_numbers"] == [exempt]
    search = fg.find(data, features=old, prediction="p", positive=1, rate="selection_rate")
    assert [each["value"] for each in search.diagnostics if each.code == "coded_numbers"] == [
        exempt
    ]
    plain = frame(g=["a", "b"] * (ROWS // 2), age=np.minimum(age, 99))
    assert not found(plain, DiagnosticCode.CODED_NUMBERS, sensitive=old)
    saved = fg.count(data, label="y", prediction="p", sensitive=old)
    assert fg.Cube.from_dict(json.loads(saved.to_json())).ends == saved.ends != set()
    assert (saved.add(saved, allow_duplicates=True)).ends == saved.ends
    ((column, code, rows),) = saved.coded
    assert (column, code, rows) == ("age", exempt, (age == exempt).sum())
    assert fg.Cube.from_dict(json.loads(saved.to_json())).coded == saved.coded
    assert (saved.add(saved, allow_duplicates=True)).coded == ((column, code, 2 * rows),)


def test_codes_in_a_column_that_is_cut_withhold_a_pass():
    """With -1 for the age of those who were refused, a rule passed without them."""
    old = np.arange(400) % 2 == 0
    decided = pl.DataFrame(
        {"age": np.where(old, 60, 30), "p": np.arange(400) // 2 % 2, "id": np.arange(400) // 4}
    )
    rows = decided.with_columns(
        age=pl.when((pl.col("id") < 10) & (pl.col("age") > 50)).then(-1).otherwise("age")
    )
    asked = {"prediction": "p", "positive": 1, "sensitive": [{"column": "age", "cuts": [50]}],
             "rules": "selection_rate.ratio >= 0.5"}  # fmt: skip
    assert fg.audit(decided, **asked).verdict == "pass"
    two = {"sensitive": ["s", *asked["sensitive"]], "intersections": [["s", "age"]]}
    sex = rows.with_columns(
        s=pl.when(pl.col("id") % 2 == 0).then(pl.lit("F")).otherwise(pl.lit("M"))
    )
    for data, more in ((rows, {}), (fg.count(rows, **asked), {}), (sex, two)):
        report = fg.audit(data, **asked | more)
        assert report.verdict == "inconclusive"
        assert "20 rows have no clear age" in " ".join(str(report).split())
    for more, coded in (
        ({"recode": {"age": {"unknown": [-1]}}}, ()),
        ({"where": "age > -1"}, ()),
        ({"where": "id < 5"}, (("age", -1.0, 10),)),
        ({"where": "id >= 10"}, ()),
    ):
        assert fg.count(rows, **asked, **more).coded == coded
    assert fg.audit(rows, **asked, where="age >= -1").verdict == "pass"  # which states a number
    few = rows.with_columns(age=pl.when(pl.col("id") < 1).then("age").otherwise(decided["age"]))
    assert fg.count(few, **asked).coded == (("age", -1.0, 2),)
    assert fg.audit(few.vstack(decided), **asked).verdict == "pass"
    people = fg.count(rows.filter(pl.col("age") != 30), **asked, person="id", per_person="any")
    assert people.coded == (("age", -1.0, 10),)


SCORED = {"score": "s", "sensitive": "g", "rules": "selection_rate.ratio >= 0.8"}


def scores_with(code, values, share=0.3):
    """Return 2,000 scores of two groups alike, of which one has a code in place of some."""
    rng = np.random.default_rng(5)
    group, scores = np.tile(["F", "M"], 1_000), values(rng, 2_000)
    coded = (group == "M") & (rng.random(2_000) < share)
    return pl.DataFrame({"g": group, "s": np.where(coded, code, scores)})


def percents(rng, n):
    return np.clip(rng.normal(60, 12, n), 0, 100).round()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("code", "bounds", "threshold"), [
    (-1, (-1, 100), "median"), (-1, (-5, 100), 40), (-9, (-9, 100), 40), (-99, (-100, 100), 40),
    (999, (0, 999), "median"), (9999, (0, 10_000), 40), (777, (0, 777), 40),
])  # fmt: skip
def test_codes_of_missing_scores_withhold_a_pass(code, bounds, threshold, tmp_path):
    """With -1 for 30% of the scores of a group, a rule passed without a word of it."""
    rows = scores_with(code, percents)
    rows.write_csv(tmp_path / "rows.csv")
    rows.write_parquet(tmp_path / "rows.parquet")
    asked = SCORED | {"score_range": bounds, "threshold": threshold}
    many = int((rows["s"] == code).sum())
    for data in (rows, rows.to_pandas(), tmp_path / "rows.csv", tmp_path / "rows.parquet",
                 fg.count(rows, **asked)):  # fmt: skip
        report = fg.audit(data, **asked | {"rules": "selection_rate.ratio >= 0.3"})
        assert report.verdict == "inconclusive"
        (warned,) = (d for d in report.diagnostics if d.code is DiagnosticCode.CODED_NUMBERS)
        assert (warned["column"], warned["value"]) == ("s", code)
        assert f"{many} rows have no clear score" in " ".join(str(report).split())
    line = f"s = {{unknown = [{code}]}}"
    assert warned["line"] == line
    for more in ({"recode": line}, {"where": f"s != {code}"}):
        again = fg.audit(rows, **asked | {"rules": "selection_rate.ratio >= 0.3"}, **more)
        assert not [d for d in again.diagnostics if d.code is DiagnosticCode.CODED_NUMBERS]
    assert fg.audit(rows, **asked, where=f"s != {code}").verdict == "pass"
    stated = f"s {'>=' if code < 0 else '<='} {code}"  # that it is a number
    asked |= {"where": stated, "rules": "selection_rate.ratio >= 0.3"}
    assert fg.audit(rows, **asked).verdict == "pass"
    weightless = rows.with_columns(w=(pl.col("s") != code).cast(int))
    assert not [
        d for d in fg.audit(weightless, **asked | {"where": []}, weight="w").diagnostics
        if d.code is DiagnosticCode.CODED_NUMBERS
    ]  # fmt: skip


@pytest.mark.parametrize(("code", "bounds", "values"), [
    (-1, (-8, 8), lambda rng, n: rng.normal(0, 1, n).clip(-1)),  # truncated standardised scores
    (-1, (-1, 1), lambda rng, n: rng.integers(-2, 3, n) / 2),  # sentiment in steps of a half
    (-1, (-1, 1), lambda rng, n: rng.choice([-1, 1], n)),
    (-9, (-9, 9), lambda rng, n: rng.integers(-9, 10, n)),
    (-99, (-100, 100), lambda rng, n: rng.integers(-99, 100, n)),
    (-1, (-5, -1), lambda rng, n: -1 - 4 * rng.random(n)),  # logarithms of probabilities
    (999, (0, 999), lambda rng, n: rng.integers(0, 1_000, n)),
    (0, (0, 100), percents),
])  # fmt: skip
def test_scores_of_a_scale_are_no_codes(code, bounds, values):
    rows = scores_with(code, values)
    report = fg.audit(rows, **SCORED, score_range=bounds, metrics=["selection_rate.difference"])
    assert not [d for d in report.diagnostics if d.code is DiagnosticCode.CODED_NUMBERS]
    assert "clear score" not in str(report)


def test_codes_of_scores_withhold_what_needs_the_score():
    """A decision of its own does not depend on them; metrics of scores do."""
    rng = np.random.default_rng(6)
    rows = scores_with(-1, percents, share=0.05).with_columns(
        y=pl.Series(rng.integers(0, 2, 2_000)), p=pl.Series(rng.integers(0, 2, 2_000))
    )
    report = fg.audit(rows, label="y", prediction="p", score="s", sensitive="g",
                      score_range=(-1, 100), rules=["selection_rate.ratio >= 0.5",
                                                    "roc_auc.difference >= -0.5"])  # fmt: skip
    outcomes = {each.metric: str(each.outcome) for each in report.verdicts}
    assert outcomes == {"selection_rate.ratio": "pass", "roc_auc.difference": "inconclusive"}
    few = fg.audit(scores_with(-1, percents, share=0.005), **SCORED, score_range=(-1, 100))
    assert few.verdict == "pass"
    assert [d["value"] for d in few.diagnostics if d.code is DiagnosticCode.CODED_NUMBERS] == [-1]


def coded_rows_of(report):
    """Return the rows that a report states to have no clear outcome, and the outcome."""
    text = " ".join(str(report).split())
    found = re.search(r"([\d,]+) (?:rows|people) have no clear (\w+)", text)
    return None if found is None else (int(found[1].replace(",", "")), found[2])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("code", [-1, -9, -99, 777, 9999])
@pytest.mark.parametrize(("asked", "role"), [
    ({"positive": fg.above(40), "rules": "selection_rate.difference >= -0.9"}, "prediction"),
    ({"positive": fg.above(40), "rules": "base_rate.difference >= -0.9"}, "label"),
    ({"task": "regression", "rules": "mean_label.difference >= -1e9"}, "label"),
    ({"task": "regression", "rules": "mean_prediction.difference >= -1e9"}, "prediction"),
])  # fmt: skip
def test_codes_of_missing_numbers_as_outcomes_withhold_a_pass(code, asked, role, tmp_path):
    """With -1 for 30% of the points of a group, a rule passed with a warning alone."""
    rows, asked = scores_with(code, percents), {"sensitive": "g", role: "s", **asked}
    rows.write_csv(tmp_path / "rows.csv")
    many = int((rows["s"] == code).sum())
    for data in (rows, tmp_path / "rows.csv", fg.count(rows, **asked)):
        report = fg.audit(data, **asked)
        assert report.verdict == "inconclusive"
        assert coded_rows_of(report) == (many, role)
    assert fg.audit(rows, **asked, where=f"s != {code}").verdict == "pass"
    stated = f"s {'>=' if code < 0 else '<='} {code}"  # that it is a number
    assert fg.audit(rows, **asked, where=stated).verdict == "pass"
    few = scores_with(code, percents, share=0.005)
    assert coded_rows_of(fg.audit(few, **asked)) is None


@pytest.mark.parametrize(("code", "values"), [
    (-1, lambda rng, n: rng.normal(0, 1, n).clip(-1)),  # truncated, with other negative numbers
    (-1, lambda rng, n: rng.choice([-1, 1], n)),
    (-9, lambda rng, n: rng.integers(-9, 80, n)),
    (-99, lambda rng, n: rng.integers(-99, 100, n)),
    (999, lambda rng, n: rng.integers(0, 1_000, n)),
    (777, lambda rng, n: rng.integers(777, 5_000, n)),
])  # fmt: skip
@pytest.mark.parametrize("asked", [
    {"prediction": "s", "positive": fg.above(0.5), "rules": "selection_rate.difference >= -0.9"},
    {"label": "s", "task": "regression", "rules": "mean_label.difference >= -1e9"},
])  # fmt: skip
def test_numbers_of_a_scale_withhold_nothing(code, values, asked):
    report = fg.audit(scores_with(code, values), sensitive="g", **asked)
    assert report.counts.coded == ()
    assert coded_rows_of(report) is None


@pytest.mark.parametrize(("unit", "warned"), [(100, True), (12, True), (3, False), (-100, False)])
def test_means_of_another_size_are_warned_of(unit, warned):
    """Yearly pay of one group was held against monthly pay of the other, and passed."""
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({"sex": ["F", "M"] * 200, "pay": rng.lognormal(1, 0.3, 400)})
    pay = pl.when(pl.col("sex") == "F").then(pl.col("pay") * unit).otherwise(pl.col("pay"))
    report = fg.audit(rows.with_columns(pay=pay), label="pay", task="regression", sensitive="sex")
    found = [d for d in report.diagnostics if d.code is DiagnosticCode.UNLIKE_AMOUNTS]
    assert [(d["most"], d["least"]) for d in found] == [("F", "M")] * warned
    assert ("times as high for F as for M" in str(report)) is warned


@pytest.mark.parametrize(("unit", "warned"), [(1, False), (12, True), (0.001, True), (-1, False)])
def test_predictions_in_another_unit_than_the_label_are_warned_of(unit, warned):
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({"sex": ["F", "M"] * 200, "pay": rng.lognormal(1, 0.3, 400)})
    asked = {"label": "pay", "prediction": "said", "task": "regression", "sensitive": "sex"}
    report = fg.audit(rows.with_columns(said=unit * pl.col("pay") + 0.001), **asked)
    found = [d for d in report.diagnostics if d.code is DiagnosticCode.UNLIKE_AMOUNTS]
    assert [{d["column"], d["other"]} for d in found] == [{"pay", "said"}] * warned
    assert ("times that of" in " ".join(str(report).split())) is warned


@pytest.mark.parametrize("role", ["count", "weight"])
def test_counts_and_weights_that_may_be_codes_are_warned_of(role):
    """Rows with 9999 outweighed all others, and a rule passed without a word of it."""
    data = frame(g=["a", "b"] * (ROWS // 2), w=[1, 9999, *[2] * (ROWS - 2)])
    asked = {role: "w"}
    for rows in (data, fg.count(data, label="y", prediction="p", sensitive="g", **asked)):
        (warned,) = found(rows, DiagnosticCode.CODED_NUMBERS, **asked)
        assert (warned.level, warned["column"], warned["value"]) == ("warning", "w", 9999)
        assert warned["role"] == role
        assert warned.message == (
            f"column 'w', the {role}, has 9999, as codes of missing values are, and rows with a "
            "code outweigh all others; if it is one, leave these cells empty, or exclude the rows: "
            "--where 'w < 9999' (where)"
        )
    assert not found(data, DiagnosticCode.CODED_NUMBERS, **asked, where="w < 9999")
    search = {"features": "g", "prediction": "p", "positive": 1, "rate": "selection_rate"}
    if role == "count":  # a search takes no weights
        (warned,) = [e for e in fg.find(data, **search, **asked).diagnostics
                     if e.code is DiagnosticCode.CODED_NUMBERS]  # fmt: skip
        assert warned["role"] == "count"


@pytest.mark.parametrize("most", [99, 1_000, 2_431, 7_000, 10_000])
def test_ordinary_counts_and_weights_are_no_codes(most):
    data = frame(g=["a", "b"] * (ROWS // 2), w=np.linspace(1, most, ROWS).round())
    for role in ("count", "weight"):
        assert not found(data, DiagnosticCode.CODED_NUMBERS, **{role: "w"})


def test_means_of_groups_that_are_all_small_are_not_compared():
    rows = pl.DataFrame({"sex": ["F", "M"] * 5, "pay": [1.0, 100.0] * 5})
    report = fg.audit(rows, label="pay", task="regression", sensitive="sex")
    assert not [d for d in report.diagnostics if d.code is DiagnosticCode.UNLIKE_AMOUNTS]


@pytest.mark.parametrize("reference", ["largest", "best", {"g": "a"}])
@pytest.mark.parametrize("scored", [True, False])
def test_one_group_that_is_its_own_reference_is_compared_with_nothing(reference, scored):
    """With scores it was a traceback; without, "no difference is shown" beside 41% and 67%."""
    data = frame(s=np.linspace(0, 1, ROWS))
    outcome = {"score": "s"} if scored else {"prediction": "p"}
    asked = {"label": "y", "positive": 1, "reference": reference, **outcome}
    report = fg.audit(data, sensitive={"g": ["a"]}, **asked)
    assert [d["itself"] for d in report.diagnostics if d.code is DiagnosticCode.ONE_GROUP] == [True]
    text = " ".join(str(report).split())
    assert "No difference was tested" in text
    assert "beyond sampling variation" not in text


@pytest.mark.parametrize("zero", ["", "0"])
@pytest.mark.parametrize(("positive", "warned"), [("3", True), ("4", True), ("1", False)])
def test_denials_of_hmda_stated_as_favourable_are_warned_of(positive, warned, zero):
    """The report said that 20 of 100 were approved, who were denied, and a rule passed."""
    codes = [f"{zero}{code}" for code in "1" * 60 + "2" * 20 + "3" * 100 + "4" * 20]
    rows = pl.DataFrame({"action_taken": codes * 2, "g": ["a"] * 200 + ["b"] * 200})
    report = fg.audit(rows, prediction="action_taken", positive=zero + positive, sensitive="g")
    code = DiagnosticCode.UNFAVOURABLE_POSITIVE
    found = [each for each in report.diagnostics if each.code is code]
    assert [each["others"] for each in found] == [(f"{zero}1", f"{zero}2")] * warned


@pytest.mark.parametrize(
    ("column", "codes"),
    [("applicant_race_1", "6 7"), ("Co-Applicant_Sex", "3 5"), ("applicant_ethnicity_1", "3 4"),
     ("applicant_race_1", "06 07")],
)  # fmt: skip
def test_codes_of_hmda_that_state_no_group_are_none(column, codes):
    """Who did not provide a race was a race: PASS, and "of unknown category: no rows"."""
    known = ["1", "2"]
    rows = [(group, int(i % 2)) for group in (*known, *codes.split()) for i in range(400)]
    frame = pl.DataFrame(rows, schema=[column, "y"], orient="row")
    report = fg.audit(
        frame, prediction="y", positive=1, sensitive=column, reference={column: "1"},
        rules=["selection_rate.ratio >= 0.8"],
    )  # fmt: skip
    found = [each["value"] for each in report.diagnostics if each.code == "missing_marker"]
    assert found == codes.split()
    assert report.verdict == "inconclusive"
    stated = fg.audit(
        frame, prediction="y", positive=1, sensitive=column, reference={column: "1"},
        unknown=codes.split(),
    )  # fmt: skip
    assert {each.group for each in stated.groups if each.group} >= set(known)
    assert not [each for each in stated.diagnostics if each.code == "missing_marker"]
