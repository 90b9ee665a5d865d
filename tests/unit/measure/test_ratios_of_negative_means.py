"""A ratio of means that are not both above 0 has no value, and no rule on it is evaluated."""

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome, Status
from fairgauge.reasons import ReasonCode

pd = pytest.importorskip("pandas")


def pay(women: float, men: float, size: int = 300):
    """Return changes of pay by sex, with two predictions of them, in two grades."""
    rng = np.random.default_rng(3)
    sex = np.repeat(["F", "M"], size)
    change = np.where(sex == "F", women, men) + rng.normal(0, 0.5, 2 * size)
    grade = np.tile([1, 2], size)
    return pd.DataFrame({"sex": sex, "change": change, "fitted": change, "grade": grade})


ASKED = {"label": "change", "sensitive": "sex", "strata": "grade", "reference": {"sex": "M"}}


@pytest.mark.parametrize(("women", "men"), [(-2, -4), (-4, -2), (2, -4), (-2, 4)])
def test_it_has_no_value_and_no_rule_on_it_passes_or_fails(women, men) -> None:
    metrics = ["mean_label.ratio", "mean_prediction.ratio"]
    asked = ASKED | {"prediction": "fitted", "task": "regression", "metrics": metrics}
    rules = [f"{each} >= 0.8" for each in metrics]
    report = fg.audit(pay(women, men), **asked, rules=rules)
    found = [each for each in report.estimates if each.metric in metrics]
    assert len(found) == 2 * 4  # all rows, each grade, and pooled over them
    for each in found:
        assert (each.value, each.interval, each.status) == (None, None, Status.UNDEFINED)
        assert each.reason.code is ReasonCode.RATIO_NOT_ABOVE_ZERO
    assert [each.outcome for each in report.verdicts] == [Outcome.NOT_EVALUATED] * 2
    assert report.exit_code == 3
    text = str(report)
    assert "is 0 or below in a group that is compared" in " ".join(text.split())
    assert "times as high for" not in text


def test_a_mean_whose_interval_includes_0_gives_the_ratio_no_interval() -> None:
    asked = ASKED | {"task": "regression", "metrics": ["mean_label.ratio"]}
    rows = pay(1, 0.05)
    rows["change"] += np.where(
        rows["sex"] == "M", 0.05 - rows["change"][rows["sex"] == "M"].mean(), 0
    )
    report = fg.audit(rows, **asked, rules=["mean_label.ratio >= 0.8"])
    overall = report.estimates[0]
    assert overall.value > 10
    assert (overall.interval, overall.reason.code) == (None, ReasonCode.RATIO_MAY_BE_ZERO)
    assert [each.outcome for each in report.verdicts] == [Outcome.NOT_EVALUATED]
