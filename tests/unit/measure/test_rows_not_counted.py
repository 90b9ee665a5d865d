"""Rows without a weight or a count are not counted: no rule passes because they are absent."""

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome
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
    assert f"the 800 rows without a {role} could change that" in (verdict.says)
    text = " ".join(str(report).split())
    assert "because rows that are not counted could change it" in text
    assert "first do what the warnings ask" in text


def test_a_fail_stays_one_and_a_handful_changes_no_pass():
    assert fg.audit(table(100), **ASKED, weight="w").verdict is Outcome.FAIL
    lenient = ASKED | {"rules": ["selection_rate.ratio >= 0.4"]}
    assert fg.audit(table(15), **lenient, weight="w").verdict is Outcome.PASS
    assert fg.audit(table(25), **lenient, weight="w").verdict is Outcome.INCONCLUSIVE
