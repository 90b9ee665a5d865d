"""Labels and predictions in other words, or all alike: neither is passed over in silence."""

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Level
from fairgauge.errors import SpecError
from fairgauge.resolve.outcomes import share_determined, ways_of_writing


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
        fg.find(rows, **asked, sensitive=["sex"], metrics="accuracy", worse="lower")


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_is_warned_of(value):
    rows = table().assign(y=value)
    asked = {"label": "y", "prediction": "accepted", "positive": 1}
    report = fg.audit(rows, **asked, sensitive="sex", rules=["accuracy >= 0.1"])
    assert DiagnosticCode.ONE_LABEL in warned(report)
    named = "positive" if value else "negative"
    assert any(f"every label of 'y' is {named}" in each.message for each in report.diagnostics)
    found = fg.find(rows, **asked, sensitive=["sex"], metrics="accuracy", worse="lower")
    assert DiagnosticCode.ONE_LABEL in warned(found)
    good = fg.audit(rows.assign(y=rows.good), **asked, sensitive="sex")
    assert DiagnosticCode.ONE_LABEL not in warned(good)


def test_yes_and_1_are_two_ways_of_writing_unless_both_are_named():
    assert ways_of_writing([1, "yes"]) == [{"1"}, {"yes"}]
    assert len(ways_of_writing([1, "yes"], [1, "yes"])) == 1


def test_the_smaller_share_of_outcomes_that_strata_determine():
    of_strata = np.array([98.0, 0.0, 2.0]), np.array([100.0, 60.0, 2.0])
    assert share_determined(*of_strata) == pytest.approx(60 / 62)
