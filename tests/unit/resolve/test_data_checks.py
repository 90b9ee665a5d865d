"""What values of the data say about the question: assumptions, likely mistakes, absent names."""

import shutil
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import one_of_each

import fairgauge as fg
from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.catalogue.distributions import ConditionalDisparity
from fairgauge.enums import DiagnosticCode, Level, Task
from fairgauge.enums import DiagnosticCode as Code
from fairgauge.errors import DataError
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


@pytest.mark.parametrize("metric", one_of_each(type, BINARY), ids=lambda each: each.name)
def test_it_is_reported_just_where_the_other_outcome_gives_other_numbers(metric):
    rng = np.random.default_rng(5)
    score, outcome = rng.random(400).round(3), rng.random(400)
    data = pl.DataFrame(
        {
            "y": (outcome < score).astype(int), "p": (score > 0.4).astype(int), "score": score,
            "g": rng.choice([*"abc"], 400), "s": rng.choice([*"uv"], 400),
        }
    )  # fmt: skip
    decided = {"score": "score"} if "score" in metric.needs else {"prediction": "p"}
    asked = {"metrics": [metric.name], "label": "y", "sensitive": "g"} | decided
    asked |= {"strata": "s"} if isinstance(metric, ConditionalDisparity) else {}
    asked |= {"features": ["score"]} if metric.name in ("FT", "consistency") else {}
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


# --- columns without a value ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pl.Null, pl.Float64])
@pytest.mark.parametrize("role", ["label", "prediction", "score", "sensitive", "strata"])
def test_a_column_without_a_value(role, kind):
    data = frame(empty=pl.Series([None] * ROWS, dtype=kind))
    asked = {"label": "y", "sensitive": "g", role: "empty"}
    with pytest.raises(DataError, match=r"^column 'empty' \(\w+\) holds no \w+ in any row$"):
        fg.audit(data, **asked)
    assert fg.count(data, **asked).rows == ROWS  # of a part of the data it may be so


# --- likely mistakes --------------------------------------------------------------------------


def test_a_prediction_that_is_the_label():
    (same,) = found(frame(), DiagnosticCode.PREDICTION_IS_LABEL, prediction="y")
    assert same.level is Level.WARNING
    assert same.message.startswith("label and prediction are the same column, 'y': every error is")
    copied = frame().with_columns(copied="y")
    (equal,) = found(copied, DiagnosticCode.PREDICTION_IS_LABEL, prediction="copied")
    assert equal.message.startswith("the prediction 'copied' equals the label 'y' in all 40 rows;")


@pytest.mark.parametrize(("copied", "role"), [("y", "label"), ("p", "prediction")])
def test_a_sensitive_feature_that_equals_an_outcome_in_every_row(copied, role):
    data = frame().with_columns(pl.col(copied).cast(pl.String).alias("copy"))
    (each,) = found(data, DiagnosticCode.SENSITIVE_IS_OUTCOME, sensitive="copy")
    assert f"'copy' equals the {role} '{copied}' in all 40 rows: its groups" in each.message
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
    assert f"unknown={marker} (--unknown {marker}); if it is meant" in each.message
    assert each.message.endswith("accept it (--accept missing_marker:g)")
    assert not found(data, DiagnosticCode.MISSING_MARKER, unknown=marker)
    (each,) = found(data, DiagnosticCode.MISSING_MARKER, exclude_groups=str(marker))
    assert f"the number {marker} is excluded from g" in each.message


def test_a_code_of_one_column_is_a_value_of_another():
    data = frame(g=[1, 2, 9, 4] * (ROWS // 4), race=[4, 5] * (ROWS // 2), action=[4, 1, 3, 1] * 10)
    asked = {"label": None, "prediction": "action", "positive": 1, "where": "action = 1 or 3"}
    report = fg.audit(data, sensitive="g", unknown=[4, 9], **asked)
    assert not [key for key in report.data.excluded if "action" in key]
    (marker,) = found(
        frame(g=[1, 2, 9, 2] * 10, race=[9, 5] * 20),
        DiagnosticCode.MISSING_MARKER,
        sensitive=["g", "race"],
    )[:1]
    assert "--recode 'g = {unknown = [9]}' (recode); if it" in marker.message


# --- names that are one name, written in several ways --------------------------------------------


def test_groups_that_differ_in_case_or_blanks_alone():
    data = frame(g=["Female", "female", "Male", "Male ", " MALE", "x", "x", "x"] * (ROWS // 8))
    male, female = found(data, DiagnosticCode.SAME_NAMES)
    assert (female.level, female.feature) == (Level.WARNING, "g")
    assert female["values"] == ("Female", "female")
    assert female["rows"] == (5, 5)
    assert '--recode \'g = {Female = ["Female", "female"]}\' (recode); if it' in female.message
    assert male["values"] == (" MALE", "Male", "Male ")
    together = [{"g": [["Female", "female"], ["Male", "Male ", " MALE"], ["x"]]}]
    assert not found(data, DiagnosticCode.SAME_NAMES, sensitive=together)
    apart = {"g": {each: [each] for each in ("Female", "female", "Male", "Male ", " MALE")}}
    assert not found(data, DiagnosticCode.SAME_NAMES, recode=apart)
    assert not found(data, DiagnosticCode.SAME_NAMES, unknown=["female", "Male ", " MALE"])
    assert not found(frame(), DiagnosticCode.SAME_NAMES)


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


@pytest.mark.parametrize("verb", ["find", "why", "thresholds"])
def test_copies_are_warned_of_by_every_result(tmp_path, verb):
    rows = frame(g=["a", "b"] * (ROWS // 2)).with_columns(
        k=pl.Series([*"xxyy"] * (ROWS // 4)), s=pl.Series([0.1, 0.4, 0.6, 0.9] * (ROWS // 4))
    )
    first, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    rows.write_csv(first)
    shutil.copy(first, copy)
    asked = {
        "find": {"prediction": "p", "sensitive": ["g", "k"], "metrics": "accuracy"},
        "why": {"prediction": "p", "sensitive": "g", "strata": fg.cut("s", [0.25, 0.5, 0.75])},
        "thresholds": {"score": "s", "threshold": 0.5, "sensitive": "g", "rules": "DI >= 0.5"},
    }[verb]
    result = getattr(fg, verb)([first, copy], label="y", **asked)
    codes = [each.code for each in result.diagnostics]
    assert codes.count(DiagnosticCode.COPIED_FILES) == 1
    assert "hold the same lines" in str(result)


# --- classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "role"), [("y", "label"), ("p", "prediction")])
@pytest.mark.parametrize("sensitive", ["{}", "{}:0.5"])
def test_a_sensitive_feature_that_is_the_label_or_the_prediction(column, role, sensitive):
    feature = fg.cut(column, [0.5]) if ":" in sensitive else column
    [warning] = found(frame(), DiagnosticCode.SENSITIVE_IS_OUTCOME, sensitive=["g", feature])
    assert warning.level is Level.WARNING
    assert f"the sensitive feature '{column}' is also the {role}" in warning.message


# --- questions whose answer would be nothing, or false ----------------------------------------


def test_strata_that_are_the_prediction_are_an_error():
    message = "strata: 'p' is the prediction, which is the same for all rows of a stratum"
    with pytest.raises(fg.SpecError, match=message):
        found(frame(), DiagnosticCode.UNMATCHED, strata="p")


# --- outcomes that nobody decided -------------------------------------------------------------

ACTIONS = pl.DataFrame({"action_taken": [1, 2, 3, 4, 5, 6, 1, 3] * 30, "sex": ["F", "M"] * 120})
UNDECIDED = DiagnosticCode.UNDECIDED_OUTCOMES
HMDA = {"label": None, "prediction": "action_taken", "positive": [1, 2], "sensitive": "sex"}


def test_codes_of_hmda_that_are_no_decision_are_reported_with_what_counts_the_others():
    (each,) = found(ACTIONS, UNDECIDED, **HMDA)
    assert each.level is Level.WARNING
    assert "90 rows have 'action_taken' = 4, 5 or 6, which in HMDA data are no" in each.message
    assert "only: --where 'action_taken != 4 or 5 or 6' (where=" in each.message
    assert not found(ACTIONS, UNDECIDED, **HMDA, where=each["condition"])
    (more,) = found(ACTIONS, UNDECIDED, **HMDA, where="action_taken != 4")
    assert more["condition"] == each["condition"]
    assert more["rows"] == 60
    (wrong,) = found(ACTIONS.with_columns(pl.col("action_taken").replace([4, 5, 6], 9)),
                     UNDECIDED, **HMDA)  # fmt: skip
    assert "have 'action_taken' = 9, which is no HMDA code; such rows" in wrong.message


MISSING = (
    *("NA", "N/A", "#N/A", "<NA>", "NaN", "NULL", "None", "nil", "NaT", "missing", " Unknown"),
    *("Not stated", "not available", "?", "-", "--", ".", " "),
)
"""Texts that usually mean that a value is missing."""


@pytest.mark.parametrize("lacking", [0, 1, 2])
def test_strata_that_are_missing_with_one_outcome_are_warned_of(lacking):
    """A gap of 2.6 points "remained" at 0.8 after the product of most refusals had been lost."""
    rng = np.random.default_rng(8)
    rows = pl.DataFrame({
        "g": rng.choice(["a", "b"], 4_000), "approved": rng.choice([0, 1], 4_000, p=[0.3, 0.7]),
        "product": rng.choice(["loan", "card"], 4_000), "lost": rng.random(4_000),
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
            "g is not known for 31 of 100 rows with approved = 0, and 12 of 100 with 1 (chi-square "
            "test of equal shares: p < 0.001): gaps between the rows whose group is known may "
            "differ from those of all; record it where it is missing, or contradictory"
        )
    assert not unequally_missing(rows, missing="group")  # who are then compared, too
    assert not unequally_missing(by_outcome((240, 120)))
    assert not unequally_missing(by_outcome((240, 130)))


SCORED = {"score": "s", "threshold": 0.5, "sensitive": "g", "rules": "selection_rate.ratio >= 0.8"}


def scores_with(code, values, share=0.3):
    """Return 2,000 scores of two groups alike, of which one has a code in place of some."""
    rng = np.random.default_rng(5)
    group, scores = np.tile(["F", "M"], 1_000), values(rng, 2_000)
    coded = (group == "M") & (rng.random(2_000) < share)
    return pl.DataFrame({"g": group, "s": np.where(coded, code, scores)})


def percents(rng, n):
    return np.clip(rng.normal(60, 12, n), 0, 100).round()


@pytest.mark.each_value
@pytest.mark.parametrize(("code", "bounds", "threshold"), [
    (-1, (-1, 100), "median"), (-9, (-9, 100), 40), (-99, (-100, 100), 40),
    (999, (0, 999), "median"), (9999, (0, 9999), 40), (777, (0, 777), 40),
    (0, (0, 900), "median"), (9, (0, 10), 3), (99, (0, 100), "median"),
])  # fmt: skip
def test_codes_of_missing_scores_withhold_a_pass(code, bounds, threshold, tmp_path):
    """With -1 for 30% of the scores of a group, a rule passed without a word of it."""
    scales = {0: (300, 851), 9: (1, 6), 99: (30, 91)}
    rows = scores_with(
        code, lambda rng, n: rng.integers(*scales[code], n) if code in scales else percents(rng, n)
    )
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
    stated = f"s {'>=' if code <= 0 else '<='} {code}"  # that it is a number
    asked |= {"where": stated, "rules": "selection_rate.ratio >= 0.3"}
    assert fg.audit(rows, **asked).verdict == "pass"
    weightless = rows.with_columns(w=(pl.col("s") != code).cast(int))
    assert not [
        d for d in fg.audit(weightless, **asked | {"where": []}, weight="w").diagnostics
        if d.code is DiagnosticCode.CODED_NUMBERS
    ]  # fmt: skip


@pytest.mark.parametrize(("code", "bounds", "values"), [
    (-1, (-1, 1), lambda rng, n: rng.integers(-2, 3, n) / 2),  # sentiment in steps of a half
    (-1, (-1, 1), lambda rng, n: rng.choice([-1, 1], n)),
    (-9, (-9, 9), lambda rng, n: rng.integers(-9, 10, n)),
    (-99, (-100, 100), lambda rng, n: rng.integers(-99, 100, n)),
    (999, (0, 999), lambda rng, n: rng.integers(0, 1_000, n)),
    (0, (0, 100), percents), (9, (0, 10), lambda rng, n: rng.choice([0, 1, 3], n)),
    (9, (0, 10), lambda rng, n: rng.integers(1, 8, n)), (99, (0, 100), percents),
])  # fmt: skip
def test_scores_of_a_scale_are_no_codes(code, bounds, values):
    asked = {**SCORED, "score_range": bounds, "metrics": ["selection_rate.difference"]}
    report = fg.audit(scores_with(code, values), **asked)
    assert not [d for d in report.diagnostics if d.code is DiagnosticCode.CODED_NUMBERS]
    assert "clear score" not in str(report)


def test_a_value_in_words_that_no_group_has_is_warned_of():
    data = pl.DataFrame({"sex": ["F", "M"] * 30, "y": [0, 1] * 30})
    for value, warned in (("Femal", True), ("F", False)):
        words = {"groups": {"sex": {value: "women"}}}
        found = fg.audit(data, prediction="y", positive=1, sensitive="sex", words=words).diagnostics
        assert any(f"words.groups.sex.{value}" in each.message for each in found) == warned


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"prediction": "s", "positive": ">=0.5"}, r"above\(X\), --positive '>X' or '>=X'; where"),
        ({"prediction": "s", "positive": "<= 0.5"}, "less is better, with favourable='negative'"),
        ({"prediction": "f", "positive": "F"}, r'f = \{positive = \["F"\], negative = \["N"\]\}'),
        ({"prediction": "y", "positive": 1, "metrics": "MAPE"}, "mean_label.difference"),
        ({"prediction": "y", "positive": 1, "metrics": "median_label"}, "median_label.difference"),
        ({"prediction": "y", "positive": 1, "metrics": "median_labels"}, "compares no groups; med"),
        ({"prediction": "y", "positive": 1, "metrics": "mean_labels"}, "mean 'mean_label'"),
    ],
)
def test_what_is_asked_for_otherwise_is_answered_with_how(options, error):
    columns = {"s": [0.1, 0.5, 0.7, 0.9], "f": ["F", "N", "F", "F"], "y": [0, 1, 1, 0]}
    data = pl.DataFrame({"g": ["a", "b"] * 20, **{k: of * 10 for k, of in columns.items()}})
    with pytest.raises(fg.FairgaugeError, match=error):
        fg.audit(data, sensitive="g", **options)


@pytest.mark.parametrize(
    ("options", "stated"),
    [({"positive": 1}, True), ({"favourable": "positive"}, True), ({}, False)],
)
def test_whether_the_favourable_outcome_is_stated(options, stated):
    data = pl.DataFrame({"g": ["a", "b"] * 40, "y": [0, 1, 1, 0] * 20})
    statements = fg.audit(data, prediction="y", sensitive="g", **options).to_dict()["statements"]
    (found,) = [each for each in statements if each["code"] == "taken_as_better"]
    assert found["facts"]["stated"] == stated


# ---- what an auditor would not want to overlook is warned of, and first where it changes numbers
def _rows(n=240, **more):
    """Return applications, some without a sex or a decision."""
    found = {
        "sex": [None if i % 11 == 0 else "FM"[i // 2 % 2] for i in range(n)],
        "hired": [None if i % 13 == 0 else "yes" if i % 3 == 0 else "no" for i in range(n)],
    }
    return pl.DataFrame(found | more)


def test_the_task_is_that_of_the_columns_that_are_given():
    rows = _rows(label=[i % 2 for i in range(240)], score=[i / 240 for i in range(240)])

    def task(**options):
        report = fg.audit(rows, sensitive="sex", **options)
        return next(e.message for e in report.diagnostics if e.code is Code.TASK)

    assert task(prediction="hired", positive="yes").startswith("prediction is treated as binary")
    assert task(label="label").startswith("label is treated as binary")
    assert task(score="score", threshold=0.5).startswith("score is treated as binary")
    both = task(label="hired", prediction="hired", positive="yes")
    assert both.startswith("label and prediction are treated as binary")


def test_an_approved_request_is_no_decision_and_not_to_be_counted_as_one():
    rows = pl.DataFrame({"action_taken": [1, 2, 3, 8, 1] * 100, "race": [*"ABABA"] * 100})
    report = fg.audit(rows, prediction="action_taken", sensitive="race", positive=1)
    warned = {str(d.code): d for d in report.diagnostics if d.code in fg.enums.DOUBTS}
    assert warned["undecided_outcomes"]["values"] == ("8",)
    assert warned["approved_as_refused"]["positive"] == ("1", "2")


# ---- A column that names every row is warned of wherever it is a feature or a stratum
ROWS_LIKELY = 60
TABLE = pl.DataFrame(
    {
        "ref": [f"r{i // 2 if i < 10 else i}" for i in range(ROWS_LIKELY)],
        "sex": ["F", "M"] * (ROWS_LIKELY // 2),
        "department": ["A", "A", "B", "B", "B"] * (ROWS_LIKELY // 5),
        "y": [1, 0, 0, 1, 1, 0] * (ROWS_LIKELY // 6),
    }
)
ASKED = {"label": "y", "positive": 1}


def found_likely(code, *results):
    return [[d for d in each.diagnostics if d.code is code] for each in results]


@pytest.mark.parametrize("features", [["ref", "sex"], ["sex", "department"]])
def test_identifiers_among_features_that_are_searched(features):
    result = fg.find(TABLE, sensitive=features, metrics="base_rate", worse="lower", **ASKED)
    (warned,) = found_likely(DiagnosticCode.SINGLE_ROW_GROUPS, result)
    assert [d.feature for d in warned] == (["ref"] if "ref" in features else [])
    assert ("looks like an identifier" in str(result)) is ("ref" in features)


def test_identifiers_among_groups_and_strata_of_a_gap():
    by_ref = fg.why(TABLE, sensitive="ref", strata="department", **ASKED)
    within_ref = fg.why(TABLE, sensitive="sex", strata="ref", **ASKED)
    usual = fg.why(TABLE, sensitive="sex", strata="department", **ASKED)
    groups = found_likely(DiagnosticCode.SINGLE_ROW_GROUPS, by_ref, within_ref, usual)
    strata = found_likely(DiagnosticCode.MANY_STRATA, by_ref, within_ref, usual)
    assert [len(each) for each in groups] == [1, 0, 0]
    assert [len(each) for each in strata] == [0, 1, 0]
    assert "100% of the rows compared are in strata of fewer than 20 rows" in str(within_ref)
