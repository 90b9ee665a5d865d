"""Rows without a stratum: what they change by themselves is not attributed to an adjustment."""

import json
import re

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import AfterAdjusting, FindingReason, GapVerdict, WhyInconclusive
from fairgauge.render import render
from fairgauge.results.disparities import after_adjusting

ASKED = {"label": "hired", "positive": 1, "sensitive": "sex"}


def hired(lost, women=(300, 800), men=(480, 800)):
    """Return people of departments that play no role, some of which ``lost`` leaves out."""
    rows = [
        (sex, int(i < of), "AB"[i % 2], (i * 7 % 20) / 20)
        for sex, (of, n) in (("F", women), ("M", men))
        for i in range(n)
    ]
    table = pl.DataFrame(rows, schema=["sex", "hired", "dept", "at"], orient="row")
    return table.with_columns(dept=pl.when(~lost).then("dept")).drop("at")


OF_HIRED_MEN = (pl.col("sex") == "M") & (pl.col("hired") == 1) & (pl.col("at") < 0.75)
OF_BOTH = pl.col("at") < 0.25
OF_THE_HIRED = (pl.col("hired") == 1) & (pl.col("at") < 0.5)
CROSSED = ((pl.col("sex") == "M") == (pl.col("hired") == 1)) & (pl.col("at") < 0.75)
"""Equally often of each outcome and of each sex, and not of both together."""


def texts(result):
    return [" ".join(render(result, form).split()) for form in ("text", "html")]


@pytest.mark.parametrize("lost", [OF_HIRED_MEN, CROSSED], ids=["hired men", "crossed"])
def test_a_reversal_by_the_rows_left_out_is_no_paradox(lost):
    """ "The reverse holds after adjusting for dept", where hired men had no department."""
    rows = hired(lost)
    for report in (fg.audit(rows, **ASKED, strata="dept"),
                   fg.audit(fg.count(rows, **ASKED, strata="dept"))):  # fmt: skip
        (finding,) = report.findings
        assert finding.adjusted is not None
        assert after_adjusting(finding.estimate, finding.adjusted) is AfterAdjusting.LEAVES_OUT
        assert not {FindingReason.REVERSES, FindingReason.DISAPPEARS} & set(finding.why)
        saved = json.loads(report.to_json())
        codes = {each["code"] for each in saved["diagnostics"]}
        assert not codes & {"simpson", "disappears", "composition"}
        left = rows["dept"].null_count()
        for text in texts(report):
            assert f"{left:,} of 1,600" in text  # rows without it
            for claim in ("the reverse holds", "paradox)", "is the reverse", "reverses ("):
                assert claim not in text


def test_the_gap_of_a_note_names_the_rows_that_it_is_of_where_the_table_has_another():
    """A note divided −5.7 points beside a table with −5.6."""
    slightly = OF_BOTH & ((pl.col("hired") == 1) | (pl.col("at") < 0.2))
    for lost, differs in ((slightly, True), (pl.lit(False), False)):
        rows = hired(lost)
        report = fg.audit(rows, **ASKED, strata="dept")
        (note,) = (each for each in report.diagnostics if each.code == "composition")
        (finding,) = report.findings
        assert (note["gap"] != finding.estimate.value) == differs
        known = f" among those with a known dept (n = {rows['dept'].count():,}), "
        assert (known in note.message) == differs


@pytest.mark.parametrize("lost", [OF_HIRED_MEN, OF_THE_HIRED, CROSSED])
def test_a_gap_that_the_rows_left_out_change_is_inconclusive(lost):
    found = fg.why(hired(lost), **ASKED, strata="dept")
    (gap,) = found.gaps
    assert (gap.verdict, gap.reason) == (GapVerdict.INCONCLUSIVE, WhyInconclusive.MISSING_STRATA)
    assert gap.adjusted is None
    overall = fg.why(hired(lost).with_columns(pl.lit("x").alias("dept")), **ASKED, strata="dept")
    assert abs(gap.overall.value) == abs(overall.gaps[0].estimate.value)
    for text in texts(found):
        assert "Over all rows: Of 100 people with sex " in text
        assert re.search(r"between 18 and 27 (more|fewer) of 100, 95% CI\)\. What follows", text)
        assert "quote this difference" not in text
        assert "by regression, " not in text


def test_the_headline_is_of_all_rows_where_those_left_out_reverse_the_gap():
    """It read that women were hired more often, among the rows with a department."""
    rows = pl.DataFrame({
        "sex": ["F"] * 1_000 + ["M"] * 1_000,
        "hired": [1] * 600 + [0] * 400 + [1] * 700 + [0] * 300,
        "dept": ["A", "B"] * 300 + [None] * 300 + ["A", "B"] * 550,
    })  # fmt: skip
    found = fg.why(rows, **ASKED, strata="dept")
    assert found.gaps[0].estimate.value * found.gaps[0].overall.value < 0
    assert found._brief.headline.text == (
        "People with sex F have hired = 1 less often than people with sex M; what remains within "
        "dept is inconclusive"
    )


def test_rows_that_are_missing_equally_often_leave_the_verdict():
    rows = hired(OF_BOTH)
    (gap,) = fg.why(rows, **ASKED, strata="dept").gaps
    assert gap.verdict is GapVerdict.REMAINS
    (finding,) = fg.audit(rows, **ASKED, strata="dept").findings
    assert after_adjusting(finding.estimate, finding.adjusted) is AfterAdjusting.REMAINS


@pytest.mark.parametrize("lost", [False, True])
def test_means_of_rows_left_out(lost):
    rng = np.random.default_rng(3)
    rows = pl.DataFrame({
        "sex": ["F", "M"] * 1_000, "pay": 50 + 5 * np.tile([0, 1], 1_000) + rng.normal(0, 9, 2_000),
        "dept": rng.choice(["A", "B"], 2_000),
    })  # fmt: skip
    left = (pl.col("pay") > 55) & (pl.col("sex") == "M") if lost else pl.col("pay") < 0
    rows = rows.with_columns(dept=pl.when(~left).then("dept"))
    (gap,) = fg.why(rows, label="pay", sensitive="sex", task="regression", strata="dept").gaps
    assert (gap.reason is WhyInconclusive.MISSING_STRATA) == lost


def test_rows_left_out_by_cluster_count_as_clusters():
    """Ten firms differ, and one that lacks departments shows nothing of the rows without one."""
    rng = np.random.default_rng(3)
    firm = np.repeat(np.arange(10), 200)
    rate = np.repeat(rng.uniform(0.2, 0.8, 10), 200)
    rows = pl.DataFrame({
        "sex": ["F", "M"] * 1_000, "hired": (rng.random(2_000) < rate).astype(int), "firm": firm,
        "dept": rng.choice(["A", "B"], 2_000),
    }).with_columns(dept=pl.when(pl.col("firm") != 3).then("dept"))  # fmt: skip
    reasons = [
        fg.why(rows, **ASKED, strata="dept", **more).gaps[0].reason
        for more in ({}, {"cluster": "firm"})
    ]
    assert reasons == [WhyInconclusive.MISSING_STRATA, None]


@pytest.mark.parametrize("lost", [OF_HIRED_MEN, CROSSED, OF_BOTH])
@pytest.mark.parametrize("limit", [0.01, 0.9])
def test_a_conditional_disparity_that_the_rows_left_out_change_decides_no_rule(lost, limit):
    """A limit was passed, or failed, by people with a department alone."""
    rule = f"-{limit} <= CDDL <= {limit}"
    rows = hired(lost)
    for data in (rows, fg.count(rows, **ASKED, strata="dept")):
        report = fg.audit(data, **ASKED, strata="dept", metrics=["CDDL"], rules=[rule])
        (verdict,) = report.verdicts
        estimates = [each for each in report.estimates if each.metric == "CDDL"]
        assert len(estimates) == 2
        if lost is OF_BOTH:
            assert verdict.outcome == ("fail" if limit < 0.1 else "pass")
            assert not any(each.reason for each in estimates)
            continue
        assert verdict.outcome == "inconclusive"
        codes = {each.reason.code for each in (verdict, *estimates)}
        assert codes == {"strata_missing"}
        left = rows["dept"].null_count()
        for text in texts(report):
            assert f"{left:,} of 1,600" in text
            assert (
                "rows without a stratum are excluded, and have other rates than the others" in text
            )
            assert "agree with values on both sides" not in text


TURNS = {
    "largest": [
        ("F", "A", 240, 500), ("F", "B", 250, 490), ("F", None, 6, 13),
        ("M", "A", 350, 498), ("M", "B", 340, 499), ("M", None, 2, 3),
    ],
    "best": [
        ("F", "A", 250, 500), ("F", "B", 240, 500), ("F", None, 100, 110),
        ("M", "A", 260, 500), ("M", "B", 240, 500), ("M", None, 2, 20),
    ],
}  # fmt: skip
"""The largest or the best group of all rows is F, of those with a department M."""


def of_departments(cells):
    rows = [(*cell[:2], y, n) for *cell, x, every in cells for y, n in ((1, x), (0, every - x))]
    return pl.DataFrame(rows, schema=["sex", "dept", "hired", "n"], orient="row")


@pytest.mark.parametrize(("rule", "cells"), TURNS.items(), ids=TURNS)
@pytest.mark.parametrize("crossed", [False, True])
def test_a_chosen_reference_is_the_one_of_the_rows_with_a_stratum(rule, cells, crossed):
    """Where the data chose another one of all rows, why and audit ended in a KeyError."""
    rows = of_departments(cells).with_columns(age=pl.lit("old"))
    asked = {**ASKED, "strata": "dept", "count": "n"}
    names, feature = {"F": "F", "M": "M"}, "sex"
    if crossed:
        asked |= {"sensitive": ["sex", "age"], "intersections": [["sex", "age"]]}
        names, feature = {"F": "F & old", "M": "M & old"}, "sex*age"
    audit = fg.audit(rows, **asked, reference=rule, metrics="base_rate.difference")
    assert {e.reference.group for e in audit.estimates if e.feature == feature and e.reference} == {
        names["F"]
    }
    (gap,) = (
        g for g in fg.why(rows, **asked, reference=rule).gaps if g.estimate.feature == feature
    )
    named = fg.audit(rows, **asked, reference={feature: names["M"]}, metrics="base_rate.difference")
    (of_all,) = (
        e
        for e in named.estimates
        if (e.feature, e.scope.kind, e.metric) == (feature, "overall", "base_rate.difference")
    )
    for each in (gap.estimate, gap.overall):
        assert (each.group, each.reference.group) == (names["F"], names["M"])
    assert gap.overall.value == of_all.value
    assert gap.overall.interval == of_all.interval


def test_rows_without_a_stratum_are_of_the_side_that_is_compared():
    """Where the largest group of all rows was the group itself, men without one changed nothing."""
    cells = [("F", "A", 225, 450), ("F", "B", 225, 450), ("F", None, 150, 300),
             ("M", "A", 290, 545), ("M", "B", 290, 545), ("M", None, 60, 60)]  # fmt: skip
    for reference in ("largest", {"sex": "M"}):
        asked = {**ASKED, "strata": "dept", "count": "n", "reference": reference}
        (gap,) = fg.why(of_departments(cells), **asked).gaps
        assert (gap.estimate.group, gap.reason) == ("F", WhyInconclusive.MISSING_STRATA)


@pytest.mark.parametrize(("lost_of_men", "same"), [((10, 90), True), ((0, 1), False)])
def test_the_gap_is_said_to_change_only_where_it_does(lost_of_men, same):
    """Without the people of unknown dept both rates were 4 points higher: the gap stayed."""
    hired, rejected = lost_of_men
    cells = pl.DataFrame({
        "sex": ["F"] * 3 + ["M"] * 4,
        "hired": [1, 0, 0, 1, 0, 1, 0],
        "dept": ["A", "A", None, "A", "A", None, None],
        "n": [1_400, 500, 100, 1_600 - hired, 400 - rejected, hired, rejected],
    })  # fmt: skip
    found = fg.why(cells, **ASKED, strata="dept", count="n")
    (gap,) = found.gaps
    assert gap.reason is WhyInconclusive.MISSING_STRATA
    assert (abs(gap.overall.value - gap.estimate.value) < 0.006) == same
    text = " ".join(render(found, "text").split())
    assert "changes the gap" not in text.lower()
    assert "Over all cases: Of 100 people with sex F, 70 had hired = 1" in text
    assert "What follows is of the cases with dept." in text
    known = "between 7 and 13 fewer" if same else "between 4 and 9 fewer"
    assert f"People with sex F, compared with people with sex M: {known} of 100" in text
