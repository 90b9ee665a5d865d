"""Labels and predictions in other words, or all alike: neither is passed over in silence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Level
from fairgauge.errors import SpecError


def table(n: int = 2_000) -> pd.DataFrame:
    """Return people of whom women who repaid are refused nearly half the time."""
    rng = np.random.default_rng(5)
    sex, good = rng.choice(["F", "M"], n), rng.random(n) < 0.5
    accepted = good & ((sex == "M") | (rng.random(n) < 0.55))
    return pd.DataFrame({"sex": sex, "good": good, "accepted": accepted})


def warned(result: object) -> set[DiagnosticCode]:
    return {each.code for each in result.diagnostics if each.level is Level.WARNING}


@pytest.mark.parametrize(
    ("labels", "predictions", "positive"),
    [
        (("denied", "yes"), ("denied", "granted"), "granted"),
        (("denied", "Granted"), ("denied", "granted"), "granted"),
        ((0.0, 0.9999), (0.0, 1.0), 1),
    ],
)
def test_labels_that_share_the_negative_value_alone_are_refused(labels, predictions, positive):
    """Each favourable prediction would be wrong: who is worse off by accuracy is reversed."""
    rows = table()
    rows["y"] = [labels[int(each)] for each in rows.good]
    rows["p"] = [predictions[int(each)] for each in rows.accepted]
    asked = {"label": "y", "prediction": "p", "positive": positive}
    with pytest.raises(SpecError, match=r"column 'y' has no value .* none of its outcomes"):
        fg.audit(rows, **asked, sensitive="sex", rules=["accuracy >= 0.3"])
    with pytest.raises(SpecError, match=r"none of its outcomes"):
        fg.find(rows, **asked, features=["sex"], rate="accuracy", worse="lower")


def test_labels_of_one_outcome_beside_undecided_ones_are_taken_as_they_are():
    rows = table()
    rows["y"] = np.where(rows.good, "withdrawn", "denied")
    rows["p"] = np.where(rows.accepted, "granted", "denied")
    fg.audit(rows, label="y", prediction="p", positive="granted", sensitive="sex")


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_is_warned_of(value):
    rows = table().assign(y=value)
    asked = {"label": "y", "prediction": "accepted", "positive": 1}
    report = fg.audit(rows, **asked, sensitive="sex", rules=["accuracy >= 0.1"])
    assert DiagnosticCode.ONE_LABEL in warned(report)
    named = "positive" if value else "negative"
    assert any(f"every label of 'y' is {named}" in each.message for each in report.diagnostics)
    found = fg.find(rows, **asked, features=["sex"], rate="accuracy", worse="lower")
    assert DiagnosticCode.ONE_LABEL in warned(found)
    good = fg.audit(rows.assign(y=rows.good), **asked, sensitive="sex")
    assert DiagnosticCode.ONE_LABEL not in warned(good)


def test_classes_that_are_constant_or_never_a_label_are_warned_of():
    rng = np.random.default_rng(6)
    names = ["gold", "silver", "bronze"]
    rows = pd.DataFrame({"g": rng.choice(["A", "B"], 900), "y": rng.choice(names, 900)})
    rows["p"] = rows.y.where(rng.random(900) < 0.8, "bronze")
    rows["all"], rows["odd"] = "bronze", rows.p.replace({"gold": "top"})
    asked = {"label": "y", "sensitive": "g"}
    usual = {DiagnosticCode.ONE_DECISION, DiagnosticCode.PREDICTION_NOT_A_LABEL}
    assert not usual & warned(fg.audit(rows, prediction="p", **asked))
    constant = fg.audit(rows, prediction="all", **asked)
    assert usual & warned(constant) == {DiagnosticCode.ONE_DECISION}
    (note,) = [d for d in constant.diagnostics if d.code is DiagnosticCode.ONE_DECISION]
    assert "every prediction by 'all' is bronze" in note.message
    odd = fg.audit(rows, prediction="odd", **asked)
    (note,) = [d for d in odd.diagnostics if d.code is DiagnosticCode.PREDICTION_NOT_A_LABEL]
    assert "they are never right" in note.message
    all_alike = fg.audit(rows.assign(y="gold"), prediction="p", task="multiclass", **asked)
    assert DiagnosticCode.ONE_LABEL in warned(all_alike)


def test_thresholds_are_checked_as_an_audit_is():
    rows = table().assign(p=lambda each: each.accepted * 0.6 + 0.2, twin=lambda each: each.good)
    rows["recidivism"] = rows.good.astype(int)
    found = fg.thresholds(rows, label="recidivism", score="p", sensitive=["sex", "twin"],
                          rules="selection_rate.ratio >= 0.8")  # fmt: skip
    codes = warned(found)
    assert {DiagnosticCode.UNFAVOURABLE_POSITIVE, DiagnosticCode.SENSITIVE_IS_OUTCOME} <= codes
