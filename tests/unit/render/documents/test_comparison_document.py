"""What the text of a comparison states of strata, classes, thresholds, settings and rows."""

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.render import render

ASKED = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
DIFFERENCE = "selection_rate.difference"


def rows(seed, missing=0):
    """Return 600 rows, of which more men are selected the greater the seed."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 600),
            "age": rng.integers(20, 60, 600),
            "dept": rng.choice(["A", "B"], 600),
            "score": rng.random(600).round(2),
            "n": rng.integers(1, 4, 600),
            "grade": rng.choice(["a", "b", "c"], 600),
            "given": rng.choice(["a", "b", "c"], 600),
        }
    )
    table["label"] = (rng.random(600) < table["score"]).astype(int)
    table["prediction"] = (table["score"] > 0.5 - 0.2 * (table["sex"] == "M") * seed).astype(int)
    table["sex"] = table["sex"].where(table.index >= missing, None)
    return table


OLD, NEW = rows(0), rows(1, missing=5)


def compared(old, new=None):
    """Return the text of a comparison, as wide as its names."""
    found = fg.compare(fg.audit(OLD, **old), fg.audit(NEW, **(new or old)))
    return " ".join(render(found, "markdown").split())


def test_reports_without_a_common_estimate_share_rows_alone():
    text = compared(ASKED | {"metrics": "DI"}, ASKED | {"metrics": "RD"})
    assert "The two reports have no comparison of groups in common" in text
    assert "| old | metric | DI |" in text
    assert "| new | metric | RD |" in text


def test_a_value_in_one_report_only_has_its_reason():
    old, new = (
        fg.confusion("sex", {"F": women, "M": {"tp": 40, "fn": 20, "fp": 10, "tn": 30}})
        for women in ({"fp": 20, "tn": 40}, {"tp": 20, "fn": 10, "fp": 20, "tn": 40})
    )
    asked = {"metrics": "true_positive_rate.difference"}
    found = fg.compare(fg.audit(old, **asked), fg.audit(new, **asked))
    text = " ".join(render(found, "markdown").split())
    assert "1 difference between groups with one value only." in text
    reason = "the old report has no value: the group has no observed positives (TP + FN = 0)"
    assert f"no value in both: {reason}" in text


@pytest.mark.parametrize("name", ["old", "new"])
def test_another_task_is_refused(name):
    asked = {"old": ASKED, "new": ASKED} | {name: ASKED | {"task": "regression", "positive": None}}
    with pytest.raises(fg.SpecError, match=r"task: '.*' in the old report, '.*' in the new one"):
        compared(asked["old"], {k: v for k, v in asked["new"].items() if v is not None})


def test_a_comparison_is_a_table_of_changes():
    found = fg.compare(fg.audit(OLD, **ASKED), fg.audit(NEW, **ASKED))
    lines = render(found, "csv").splitlines()
    assert len(lines) == 1 + len(found.changes)
    assert lines[0].startswith("candidate,metric,")


def test_a_change_that_is_not_tested_states_what_it_lacks():
    """It had an interval and no p-value, below "Not tested", without a word of why."""
    asked = ASKED | {"sensitive": "race", "metrics": DIFFERENCE, "min_n": 30}
    race = np.where(np.arange(600) < 25, "C", np.where(np.arange(600) < 300, "A", "B"))
    old, new = (rows(seed).assign(race=race) for seed in (0, 1))
    found = fg.compare(fg.audit(old, **asked), fg.audit(new[:-40], **asked))
    text = " ".join(render(found, "markdown").split())
    assert "not tested: n = 25 in the group, below the minimum of 30" in text
