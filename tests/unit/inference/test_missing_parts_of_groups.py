"""Rows that lack one column of an intersection: what they could change, by every assignment."""

import json
import re
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import AfterAdjusting, FindingReason, GapVerdict, Outcome, WhyInconclusive
from fairgauge.measure.measure import measure
from fairgauge.question.specification import ask as make_spec
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.results.estimates import after_adjusting

GROUPS = [*product("FM", "BW")]
NAMES = [" & ".join(each) for each in GROUPS]
FEATURE = "sex*race"


def asked(metric, reference="others"):
    return {
        "label": "y", "prediction": "p", "intersections": [("sex", "race")], "metrics": metric,
        "reference": reference, "rules": [fg.rule(metric, at_least=0.001)],
    }  # fmt: skip


def worst_cases(data, metric, reference="others", **more):
    """Return the worst cases of a metric by group, and by whether outcomes are missing."""
    how = asked(metric, reference) | more
    measured = measure(fg.count(data, **how), make_spec(**how))
    return {
        (key[2], case.outcomes): (case.low, case.high)
        for key, cases in measured.worst_cases.items()
        for case in cases
        if key[1] in (FEATURE, "both")
    }


def table(seed, lacking):
    """Return rows of four groups, some more of which lack a sex, a race or both."""
    rng = np.random.default_rng(seed)
    many = [rng.integers(4, 9) for _ in GROUPS]
    rows = [group for group, n in zip(GROUPS, many, strict=True) for _ in range(n)]
    data = pd.DataFrame([*rows, *lacking], columns=["sex", "race"])
    return data.assign(**{of: rng.integers(0, 2, len(data)) for of in "yp"})


LACKING = {
    "one column": [("F", None), ("F", None), ("M", None), (None, "B"), (None, "W"), (None, "B")],
    "one or both": [("F", None), ("M", None), (None, "B"), (None, None), (None, None)],
    "of one value alone": [("F", None)] * 8,
    "both": [(None, None)] * 4,
}


def assignments(data):
    """Yield the group of every row, for every group that it may be of."""
    possible = [
        [g for g, group in enumerate(GROUPS)
         if all(a is None or a == b for a, b in zip(known, group, strict=True))]
        for known in data[["sex", "race"]].astype(object).where(data.notna(), None).to_numpy()
    ]  # fmt: skip
    yield from (np.array(each) for each in product(*possible))


RATES = {
    "selection_rate": lambda y, p: (p, np.ones_like(p)),
    "true_positive_rate": lambda y, p: (y * p, y),
    "accuracy": lambda y, p: (y == p, np.ones_like(p)),
}


def every_value(data, rate, by, reference):
    """Return the values of a metric of every group for every assignment, worked out by itself."""
    counted, among = (np.array(each) * 1.0 for each in RATES[rate](data["y"], data["p"]))

    def share(rows):
        return counted[rows].sum() / among[rows].sum() if among[rows].any() else np.nan

    for group in assignments(data):
        shares = [share(group == g) for g in range(len(GROUPS))]
        if by == "rate":
            yield shares
        elif by == "gap":
            yield [np.max(shares) - np.min(shares)]
        else:
            whole = np.ones_like(group, dtype=bool)
            beside = [
                share(whole if reference == "overall" else group != g)
                if isinstance(reference, str) else shares[GROUPS.index(reference[FEATURE])]
                for g in range(len(GROUPS))
            ]  # fmt: skip
            yield np.subtract(shares, beside) if by == "difference" else np.divide(shares, beside)


COMPARED = [*product(["difference", "ratio"], ["others", "overall", {FEATURE: ("M", "W")}])]


@pytest.mark.each_value
@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize(("by", "reference"), [*COMPARED, ("rate", "others"), ("gap", "others")])
def test_the_worst_cases_are_what_some_assignment_attains(by, lacking, reference):
    """A woman of unknown race was placed among the men, and a rule that held was inconclusive."""
    metric = {"rate": "", "gap": ".largest_gap"}.get(by, f".{by}")
    for seed, rate in enumerate(RATES):
        data = table(seed, LACKING[lacking])
        worst = worst_cases(data, rate + metric, reference)
        with np.errstate(all="ignore"):
            values = np.array([*every_value(data, rate, by, reference)])
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        if by == "gap":
            (found,) = worst.values()
            assert found[0] <= low[0] + 1e-9  # each share by itself
            assert found[1] == pytest.approx(high[0])
            continue
        assert worst
        for (group, _), ends in worst.items():
            at = NAMES.index(group)
            assert ends == pytest.approx((low[at], high[at])), (rate, group)


REFERENCES = ["others", "overall", "largest", "best", {FEATURE: ("F", "B")}]
METRICS = [
    "selection_rate.difference", "true_positive_rate.ratio", "selection_odds.ratio", "accuracy",
    "selection_rate.largest_gap", "accuracy.minimum", "selection_smd_overall",
]  # fmt: skip


def random_table(rng, n=150):
    """Return rows of which some lack a sex, a race, a label or a prediction."""
    data = pd.DataFrame({
        "sex": rng.choice([*"FFMX"], n), "race": rng.choice([*"BWWA"], n),
        "y": rng.integers(0, 2, n), "p": rng.integers(0, 2, n), "w": rng.integers(1, 4, n),
    })  # fmt: skip
    for column in ("sex", "race", "y", "p"):
        lacks = rng.random(n) < rng.choice([0.0, 0.05, 0.2])
        data[column] = data[column].astype(object).where(~lacks, None)
    return data


@pytest.mark.each_value
@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("metric", METRICS)
def test_what_rows_have_narrows_the_worst_cases_alone(metric, reference):
    """Beside the same rows without what they have of a group, and equal where they have nothing."""
    how = [{}, {"exclude_groups": ["F & W"]}, {"weight": "w"},
           {"exclude_groups": ["X"], "sensitive": ["sex"]},
           {"sensitive": [{"column": "race", "values": [["B"], ["W"]]}]}]  # fmt: skip
    narrower = 0
    for seed, more in enumerate(how):
        data = random_table(np.random.default_rng(seed))
        part = data["sex"].isna() | data["race"].isna()
        blank = data.assign(**{of: data[of].where(~part, None) for of in ("sex", "race")})
        blank["both"] = (data["sex"] + " & " + data["race"]).where(~part, None)
        known, unknown = (worst_cases(each, metric, reference, **more) for each in (data, blank))
        assert known.keys() <= unknown.keys()  # of a rate that no row could change there is none
        for key, (low, high) in known.items():
            assert unknown[key][0] - 1e-9 <= low <= high <= unknown[key][1] + 1e-9, (more, key)
        narrower += known != unknown
        if not more and isinstance(reference, str):
            one = worst_cases(blank, metric, reference, sensitive="both", intersections=())
            assert one == unknown
    assert narrower


RULE = "|selection_rate.difference| <= 0.09"


@pytest.mark.parametrize(("sex", "outcome"), [("F", Outcome.PASS), (None, Outcome.INCONCLUSIVE)])
def test_a_verdict_is_open_because_of_rows_alone_that_may_be_of_a_side(sex, outcome):
    """A rule on men was open as 60 women of unknown race could be men."""
    how = {"prediction": "p", "intersections": [("sex", "race")], "rules": RULE}
    rows = [(*group, i % 2) for group in GROUPS for i in range(400)] + [(sex, None, 1)] * 60
    data = pd.DataFrame(rows, columns=["sex", "race", "p"])
    report = fg.audit(data, reference={FEATURE: ("M", "B")}, **how)
    men = next(each for each in report.verdicts if each.group == "M & W")
    women = next(each for each in report.verdicts if each.group == "F & W")
    assert (men.outcome, women.outcome) == (outcome, Outcome.INCONCLUSIVE)
    if sex is None:
        assert men.reason.code is ReasonCode.MISSING_GROUPS
        assert f"the 60 rows without a known {FEATURE} could change that" in men.says


# ---- rows without a stratum: what they change by themselves is not attributed to an adjustment
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
