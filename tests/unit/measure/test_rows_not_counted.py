"""Rows without a weight or a count are not counted: no rule passes because they are absent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome, Turn
from fairgauge.reasons import ReasonCode

ASKED = {
    "prediction": "p", "positive": 1, "sensitive": "g", "metrics": "selection_rate",
    "rules": ["selection_rate.ratio >= 0.8"],
}  # fmt: skip


def table(omitted):
    """Of A 50 of 100 are selected, of B 30: without some of B's rejected rows, 50 too."""
    p = [1] * 1000 + [0] * 1000 + [1] * 600 + [0] * 1400
    rows = pd.DataFrame({"g": ["A"] * 2000 + ["B"] * 2000, "p": p, "w": 1.0})
    rows.loc[rows.index[len(rows) - omitted :], "w"] = np.nan
    return rows


@pytest.mark.parametrize("role", ["weight", "count"])
def test_a_rule_does_not_pass_without_them(role):
    whole = fg.audit(table(0), **ASKED, **{role: "w"})
    assert whole.verdict is Outcome.FAIL
    report = fg.audit(table(800), **ASKED, **{role: "w"})
    assert report.verdict is Outcome.INCONCLUSIVE
    (verdict,) = report.verdicts
    assert verdict.reason.code is ReasonCode.NOT_COUNTED
    assert f"the 800 rows without a {role} could change it" in (verdict.says)
    text = " ".join(str(report).split())
    assert "because rows that are not counted could change it" in text
    assert f": give every row that is to count a {role}" in text


def test_by_the_value_alone_nothing_passes_either():
    rule = fg.rule("selection_rate.ratio", at_least=0.8, decide="point")
    report = fg.audit(table(800), **ASKED | {"rules": [rule]}, weight="w")
    assert report.verdict is Outcome.INCONCLUSIVE


def test_a_fail_stays_one_and_a_handful_changes_no_pass():
    assert fg.audit(table(100), **ASKED, weight="w").verdict is Outcome.FAIL
    lenient = ASKED | {"rules": ["selection_rate.ratio >= 0.4"]}
    assert fg.audit(table(15), **lenient, weight="w").verdict is Outcome.PASS
    assert fg.audit(table(25), **lenient, weight="w").verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("role", ["weight", "count"])
def test_a_fail_states_them_and_so_does_a_warning(role):
    """Without B's rejected rows A seems to be worse off: it is not."""
    report = fg.audit(table(1_200), **ASKED, **{role: "w"})
    (verdict,) = report.verdicts
    assert (report.verdict, verdict.group) == (Outcome.FAIL, "A")
    counted = "cases" if role == "count" else "rows"
    assert f", among the {counted} that are counted" in report.brief().headline.text
    assert f"the 1,200 rows without a {role} could change it" in verdict.says
    text = " ".join(str(report.brief()).split())
    assert f"A fail leaves out the 1,200 rows without a {role}, which could change it" in text
    (warning,) = [each for each in report.diagnostics if each.code == "uncounted_rows"]
    assert f"30.0% of the rows (1,200 of 4,000) have no {role}" in warning.message
    by_value = fg.rule("selection_rate.ratio", at_least=0.8, decide="point")
    (verdict,) = fg.audit(table(1_200), **ASKED | {"rules": [by_value]}, **{role: "w"}).verdicts
    assert f"the 1,200 rows without a {role} could change it" in verdict.says
    without_rules = fg.audit(table(1_200), **ASKED | {"rules": []}, **{role: "w"})
    assert "uncounted_rows" in {each.code for each in without_rules.diagnostics}


@pytest.mark.parametrize("role", ["weight", "prediction"])
def test_a_comparison_takes_no_absence_for_an_improvement_nor_for_no_change(role):
    """B's rejected rows without a weight: "got better", and no sign of what may be worse."""
    passing = table(0).assign(p=[1] * 1000 + [0] * 1000 + [1] * 1000 + [0] * 1000)
    lacking = table(800)

    def report(rows):
        missing = rows["p"].where(rows["w"].notna())
        rows = rows if role == "weight" else rows.assign(p=missing, w=1.0)
        return fg.audit(rows, **ASKED, weight="w")

    old, before, new = map(report, (passing, table(0), lacking))
    found = fg.compare(old, new, same_rows=False)
    assert (old.verdict, new.verdict) == (Outcome.PASS, Outcome.INCONCLUSIVE)
    assert (found.worse, found.incomplete) == (False, True)
    found = fg.compare(before, new, same_rows=False)
    assert before.verdict is Outcome.FAIL
    assert {each.turn for each in found.flips} == {found.turn} == {Turn.OTHER}
    assert not found.incomplete
    few = fg.compare(old, report(passing.assign(w=[1.0] * 3_990 + [np.nan] * 10)), same_rows=False)
    assert not few.incomplete
