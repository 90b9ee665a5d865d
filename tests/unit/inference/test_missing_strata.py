"""Rows without a stratum: what they change by themselves is not attributed to an adjustment."""

import json
import re

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import AfterAdjusting, FindingReason, GapVerdict, WhyInconclusive
from fairgauge.render import render
from fairgauge.results.estimates import after_adjusting

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


def test_rows_that_are_missing_equally_often_leave_the_verdict():
    rows = hired(OF_BOTH)
    (gap,) = fg.why(rows, **ASKED, strata="dept").gaps
    assert gap.verdict is GapVerdict.REMAINS
    (finding,) = fg.audit(rows, **ASKED, strata="dept").findings
    assert after_adjusting(finding.estimate, finding.adjusted) is AfterAdjusting.REMAINS


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
