"""What an auditor would not want to overlook is warned of, and first where it changes numbers."""

from __future__ import annotations

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode as Code
from fairgauge.render import render
from fairgauge.render.documents.report_notes import report_warnings

polars = pytest.importorskip("polars")


def _rows(n=240, **more):
    """Return applications of people who apply twice, some without sex, decision or score."""
    found = {
        "id": [i // 2 for i in range(n)],
        "row": list(range(n)),
        "sex": [None if i % 11 == 0 else "FM"[i // 2 % 2] for i in range(n)],
        "hired": [None if i % 13 == 0 else "yes" if i % 3 == 0 else "no" for i in range(n)],
    }
    return polars.DataFrame(found | more)


ASKED = {"prediction": "hired", "positive": "yes", "sensitive": "sex"}


def _warned(data, code, **options):
    report = data if isinstance(data, fg.Report) else fg.audit(data, **{**ASKED, **options})
    return [str(each.message) for each in report.diagnostics
            if each.code is code and each.level == "warning"]  # fmt: skip


@pytest.mark.parametrize(
    "option", [{"person": "row"}, {"person": "row", "per_person": "each"}, {"cluster": "row"}]
)
def test_people_and_clusters_of_one_row_each_are_stated(option):
    (text,) = _warned(_rows(), Code.NEVER_REPEATS, **option)
    assert "'row'" in text
    assert "repeats no value" in text
    assert not _warned(_rows(), Code.NEVER_REPEATS, **{k: v.replace("row", "id")
                                                       for k, v in option.items()})  # fmt: skip
    counts = fg.count(_rows(), **ASKED, **option)
    assert _warned(fg.audit(counts), Code.NEVER_REPEATS) == [text]


def test_a_column_of_counts_makes_no_cluster_single():
    assert not _warned(_rows(times=[2] * 240), Code.NEVER_REPEATS, cluster="row", count="times")


@pytest.mark.parametrize("fault", [Code.PLACEHOLDER_IDENTIFIER, Code.ALIKE_IDENTIFIERS])
def test_a_likely_fault_in_identifiers_is_before_what_every_such_audit_has(fault):
    """It was the ninth of eleven warnings: in no text, and on no first page."""
    n = 2_000
    who = [f"c{i // 2}" for i in range(n)]
    if fault is Code.PLACEHOLDER_IDENTIFIER:
        who[:60] = ["N/A"] * 60
    else:
        who[:200:2] = [each.upper() for each in who[:200:2]]
    who[-40:] = [None] * 40
    rows = pl.DataFrame({
        "id": who,
        "row": range(n),
        "sex": [None if i // 2 % 9 == 0 else "FM"[i // 2 % 2] for i in range(n)],
        "race": ["C" if i < 12 else ("A", "B", None)[i // 4 % 3] for i in range(n)],
        "hired": [None if i // 2 % 11 == 0 else ("yes", "no")[i // 6 % 2] for i in range(n)],
    })  # fmt: skip
    asked = {**ASKED, "sensitive": ["sex", "race"], "person": "id", "preset": "nyc-ll144"}
    report = fg.audit(rows, **asked)
    warned = report_warnings(report.diagnostics)
    assert len(warned) > 5
    assert warned[0].code is fault
    assert str(warned[0].message)[:40] in " ".join(str(report).split())
    steady = fg.audit(rows.with_columns(id=pl.Series([f"c{i // 2}" for i in range(n)])), **asked)
    assert fault not in {each.code for each in steady.diagnostics}


@pytest.mark.parametrize(
    ("values", "left", "warned"),
    [
        ({"Female": ["F"], "Male": ["M"]}, "M ", True),
        ({"Female": ["F"], "Male": ["M"]}, "f", True),
        ({"Female": ["F"], "Male": ["M"]}, "X", False),
        ({"unknown": ["Decline to answer"]}, "decline  to answer", True),
    ],
)
def test_a_value_that_a_recoding_misses_by_a_blank_is_warned_of(values, left, warned):
    sex = [left if i % 11 == 0 else "Decline to answer" if i % 7 == 0 else "FM"[i % 2]
           for i in range(240)]  # fmt: skip
    texts = _warned(_rows(sex=sex), Code.NOT_RECODED, recode={"sex": values})
    assert len(texts) == warned
    assert all(repr(left) in text and "case, blanks or encoding alone" in text for text in texts)


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


@pytest.mark.parametrize("positive", ["rejected", "Denied", "not selected", "unsuccessful"])
def test_a_positive_value_with_the_name_of_the_opposite_is_warned_of(positive):
    rows = _rows(hired=[positive if i % 3 else "advanced" for i in range(240)])
    (text,) = _warned(rows, Code.UNFAVOURABLE_POSITIVE, positive=positive)
    assert "--favourable negative" in text
    assert not _warned(rows, Code.UNFAVOURABLE_POSITIVE, positive="advanced")
    negative = {"favourable": "negative"}
    assert not _warned(rows, Code.UNFAVOURABLE_POSITIVE, positive=positive, **negative)
    (text,) = _warned(rows, Code.UNFAVOURABLE_POSITIVE, positive="advanced", **negative)
    assert "the name or code of the favourable outcome" in text


def test_a_preset_calls_no_denial_by_the_word_for_its_opposite():
    """The page of the preset for lending stated that so many "were approved" who were denied."""
    rows = pl.DataFrame({"action_taken": [1, 2, 3, 3, 1] * 100, "race": [*"ABABA"] * 100})
    asked = {"prediction": "action_taken", "sensitive": "race", "preset": "us-lending"}
    with pytest.raises(fg.SpecError, match="'approved', and what is stated has the name or code"):
        fg.audit(rows, **asked, positive=3)
    assert fg.audit(rows, **asked, positive=[1, 2]).estimates
    with pytest.raises(fg.SpecError, match="'approved', and what is stated has the name or code"):
        fg.audit(rows, **asked, positive=3, words={"positive": "denied"})
    with pytest.raises(fg.SpecError, match="negative contradicts the preset 'us-lending'"):
        fg.audit(rows, **asked, positive=3, favourable="negative")


OF_DENIALS = [
    "denied", "rejected", "declined", "denial", "turned_down", "not_approved", "non_approved",
    "application_denied", "is_denied", "isDenied", "is_not_approved", "Turned-Down",
]  # fmt: skip
_LENDING = {"sensitive": "sex", "preset": "us-lending", "positive": 1}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("column", OF_DENIALS)
def test_a_preset_calls_no_truth_of_a_denial_by_the_word_for_its_opposite(column):
    """The column was 1 where an application was denied: "approved less often", PASS."""
    rows = _rows(**{column: [int(i % 3 == 0) for i in range(240)]})
    asked = _LENDING | {"prediction": column}
    message = "'approved', and what is stated .* the opposite in .*; state 0 [(]--positive[)]"
    with pytest.raises(fg.SpecError, match=message):
        fg.audit(rows, **asked)
    with pytest.raises(fg.SpecError, match="and 1, which is assumed, has the name"):
        fg.audit(rows, **asked | {"positive": None})
    assert fg.audit(rows, **asked | {"positive": 0}).estimates
    of_label = _LENDING | {"label": column, "metrics": "base_rate.ratio"}
    with pytest.raises(fg.SpecError, match=message):
        fg.audit(rows, **of_label)
    assert fg.audit(rows, **of_label | {"positive": 0}).estimates
    (text,) = _warned(rows, Code.UNFAVOURABLE_POSITIVE, prediction=column, positive=1)
    assert "--favourable negative" in text


@pytest.mark.parametrize(
    ("yes", "no"), [(True, False), ("yes", "no"), ("True", "False"), ("Y", "N"), ("T", "F")]
)
def test_the_truth_of_a_denial_is_recognised_however_it_is_written(yes, no):
    rows = _rows(denied=[yes if i % 3 == 0 else no for i in range(240)])
    asked = _LENDING | {"prediction": "denied"}
    with pytest.raises(fg.SpecError, match=f"(?i); state {no} "):
        fg.audit(rows, **asked | {"positive": yes})
    assert fg.audit(rows, **asked | {"positive": no}).estimates


def test_what_is_approved_is_never_the_falsity_of_an_approval():
    rows = _rows(approved=[int(i % 3 == 0) for i in range(240)])
    asked = _LENDING | {"prediction": "approved"}
    with pytest.raises(fg.SpecError, match="; state 1 "):
        fg.audit(rows, **asked | {"positive": 0})
    assert fg.audit(rows, **asked).estimates


@pytest.mark.parametrize("column", [
    "approved", "decision", "not_denied", "accept_reject", "pass_fail", "denied_or_approved",
    "offer_declined",
])  # fmt: skip
def test_the_truth_of_other_names_is_no_denial(column):
    rows = _rows(
        **{column: [int(i % 3 == 0) for i in range(240)]}, denied_reason_code=[*"ab"] * 120
    )
    asked = {"prediction": column, "sensitive": ["sex", "denied_reason_code"]}
    assert fg.audit(rows, **_LENDING | asked).estimates
    assert not _warned(rows, Code.UNFAVOURABLE_POSITIVE, prediction=column, positive=1)


def test_decisions_that_are_denials_are_refused_beside_labels_too():
    rows = _rows(default=[i % 2 for i in range(240)], denied=[int(i % 3 == 0) for i in range(240)])
    with pytest.raises(fg.SpecError, match="the opposite in 'denied'; state 0 "):
        fg.audit(rows, **_LENDING, label="default", prediction="denied")


def test_no_is_adverse_where_the_column_is_of_something_good():
    assert _warned(_rows(), Code.UNFAVOURABLE_POSITIVE, positive="no")
    rows = _rows().rename({"hired": "default"})
    assert not _warned(rows, Code.UNFAVOURABLE_POSITIVE, prediction="default", positive="no")


def test_tiny_groups_of_tables_to_publish_are_warned_of():
    rows = _rows(race=["A" if i < 229 else "B" for i in range(240)])
    asked = {"sensitive": ["sex", "race"], "preset": "nyc-ll144"}
    (text,) = _warned(rows, Code.FEW_PUBLISHED, **asked)
    assert "fewer than 10 rows (sex*race: F & B and M & B)" in text
    assert not _warned(rows, Code.FEW_PUBLISHED, sensitive=["sex", "race"])


def test_the_pay_of_a_single_person_in_a_category_is_warned_of():
    """The table to publish printed the exact pay of the one woman of a grade without a word."""
    grades = ["G1"] * 200 + ["G5"] * 20 + [None] * 20
    rows = pl.DataFrame({
        "sex": [*["F", "M"] * 100, "F", *["M"] * 19, *["F", "M"] * 10],
        "pay": [40_000.0 + 37 * i for i in range(240)], "grade": grades,
    })  # fmt: skip
    report = fg.audit(rows, label="pay", sensitive="sex", reference={"sex": "M"}, strata="grade",
                      preset="eu-pay-transparency")  # fmt: skip
    (text,) = [str(each) for each in report.diagnostics if each.code is Code.FEW_PUBLISHED]
    assert "fewer than 10 rows (sex: F in G5): their averages can show what single" in text
    page = render(report, "markdown")
    assert "20 rows without grade are in no category." in page


def test_insufficient_data_are_stated_with_the_rows_that_the_rate_counts():
    rows = _rows(
        sex=["X" if i % 16 == 0 else "FM"[i % 2] for i in range(240)],
        score=[None if i % 32 == 0 else i / 240 for i in range(240)],
    )
    report = fg.audit(rows, score="score", threshold="median", sensitive="sex")
    group = next(each for each in report.groups if each.group == "X")
    assert (group.n, group.rates["selection_rate"].denominator) == (15, 7)
    text = " ".join(render(report, "text", full=True).split())
    assert "X (sex), n = 7" in text or "X, n = 7" in text
    assert "n = 15" not in text


def test_an_audit_of_counts_of_contradictory_people_is_sealed(tmp_path):
    rows = _rows(sex=["F" if i < 6 and i % 2 else "M" if i < 6 else "FM"[i // 2 % 2]
                      for i in range(240)])  # fmt: skip
    asked = ASKED | {"person": "id", "recode": {"sex": {"Female": "F", "Other": "X"}}}
    counts = fg.count(rows, **asked)
    counts.save(tmp_path / "counts.cube.json")
    again = fg.load(tmp_path / "counts.cube.json")
    for report in (fg.audit(rows, **asked), fg.audit(again)):
        assert _warned(report, Code.PEOPLE_UNCLEAR)
        assert _warned(report, Code.UNMATCHED)
        assert str(fg.seal(report, again, tmp_path / "a.fairgauge").finding) == "reproduced"
        (tmp_path / "a.fairgauge").unlink()
    assert counts.digest == again.digest
    with pytest.raises(fg.CubeError, match="have a known decision and an unknown one"):
        fg.protect(counts, 5)
    hidden = fg.protect(fg.count(rows, **asked, where="hired != (missing)"), 5)
    assert hidden.conflicts == ()


def test_no_reference_is_called_large_where_no_group_is_large_enough():
    """Of 600 people in 54 intersections none has 20; the largest one is the reference."""
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame({"sex": [f"s{i % 6}" for i in range(600)]}).with_columns(
        race=pl.Series([f"r{i // 6 % 9}" for i in range(600)]),
        hired=pl.Series([int(i % 7 < 3) for i in range(600)]),
    )
    asked = {"preset": "nyc-ll144", "prediction": "hired", "positive": 1}
    text = render(fg.audit(rows, **asked, sensitive=["sex", "race"]), "text", full=True)
    words = " ".join(text.split())
    assert "No group of sex*race is large enough to be a reference: there the largest" in words
    alone = render(fg.audit(rows, **asked, sensitive="sex"), "text", full=True)
    assert "is large enough to be a reference" not in " ".join(alone.split())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("weights", [{}, {"weight": "w"}])
@pytest.mark.parametrize(
    ("made", "code", "says"),
    [
        ("y", Code.PREDICTION_IS_LABEL, "the prediction 'p' equals the label 'y' in all 300 rows"),
        ("0.1", Code.ONE_DECISION, "every prediction by 'p' is 0.1"),
        ("y + (row % 2)", None, ""),
        ("1000 + (row % 2)", None, ""),
    ],
)
def test_numbers_that_are_copied_or_alike_are_warned_of(weights, made, code, says):
    """Of decisions they were, and predicted amounts that copy the label passed in silence."""
    rows = polars.DataFrame({"row": range(300), "sex": ["F", "M", "M"] * 100})
    rows = rows.with_columns(y=10 + polars.col("row") * 0.1, w=1 + polars.col("row") % 3 / 7)
    rows = rows.with_columns(polars.sql_expr(f"{made} AS p"))
    asked = {"label": "y", "prediction": "p", "positive": None, "sensitive": "sex", **weights}
    for each in (Code.PREDICTION_IS_LABEL, Code.ONE_DECISION, Code.ONE_LABEL):
        found = _warned(rows, each, task="regression", **asked)
        assert len(found) == (each is code)
        assert not found or found[0].startswith(says)
    alone = {**asked, "label": "p", "prediction": None}
    (said,) = _warned(rows, Code.ONE_LABEL, task="regression", **alone) or [""]
    assert said.startswith("every label of 'p' is 0.1: groups cannot differ in it; check") is (
        code is Code.ONE_DECISION
    )
