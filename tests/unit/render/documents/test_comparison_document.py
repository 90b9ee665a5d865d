"""What the text of a comparison states of strata, classes, thresholds, settings and rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.render import render

ASKED = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
SCORED = {"label": "label", "score": "score", "positive": 1, "sensitive": "sex"}
CLASSES = {"label": "grade", "prediction": "given", "task": "multiclass", "sensitive": "sex"}
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


MOVED = NEW.assign(given=NEW["grade"].where((NEW["sex"] == "M") & (NEW["grade"] == "a"), "b"))


def compared(old, new=None):
    """Return the text of a comparison, as wide as its names."""
    found = fg.compare(fg.audit(OLD, **old), fg.audit(NEW, **(new or old)))
    return " ".join(render(found, "markdown").split())


def test_reports_without_a_common_estimate_share_rows_alone():
    text = compared(ASKED | {"metrics": "DI"}, ASKED | {"metrics": "RD"})
    assert "The two reports have no comparison of groups in common" in text
    assert "metric DI (2 estimates)" in text
    assert "metric RD (2 estimates)" in text
    assert "Disparities" not in text


def test_strata_cases_and_the_whole_table_are_named():
    asked = {
        "metrics": [DIFFERENCE, "generalized_entropy"],
        "strata": "dept",
        "count": "n",
        "reference": {"sex": "M"},
    }
    text = compared(ASKED | asked)
    for subject in (
        "F (sex), in A",
        "F (sex), in B",
        "F (sex), adjusted for the strata",
        "all rows",
    ):
        assert subject in text
    assert f"| cases | {OLD['n'].sum():,} | {NEW['n'].sum():,} |" in text
    lacking = NEW.loc[NEW["sex"].isna(), "n"].sum()
    assert f"| cases with a missing sex | 0 | {lacking} |" in text


def test_thresholds_are_named():
    text = compared(SCORED | {"metrics": DIFFERENCE, "threshold": [0.3, 0.6]})
    assert "F (sex), threshold 0.3 |" in text
    assert "F (sex), threshold 0.6 |" in text


def test_a_class_stands_once_though_its_difference_is_the_largest():
    text = compared(CLASSES | {"metrics": "true_positive_rate.difference"})
    subjects = [f"F (sex), class {name} |" for name in "abc"]
    subjects += [f"F (sex), {kind} average |" for kind in ("macro", "micro", "weighted")]
    assert [text.count(each) for each in subjects] == [1] * 6
    assert "where the difference is largest" not in text


def test_settings_are_written_as_they_are_asked():
    text = compared(
        ASKED | {"metrics": DIFFERENCE, "sensitive": [fg.cut("age", [40])]},
        ASKED
        | {
            "metrics": DIFFERENCE,
            "sensitive": [fg.cut("age", [40]), "sex", "dept"],
            "intersections": [("sex", "dept")],
        },
    )
    assert "age:40 → age:40, sex, dept" in text.replace("&#8203;", "")
    assert "none → sex\\*dept" in text
    assert "feature sex\\*dept (4 estimates)" in text


def test_a_value_in_one_report_only_has_its_reason():
    old, new = (
        fg.confusion("sex", {"F": women, "M": {"tp": 40, "fn": 20, "fp": 10, "tn": 30}})
        for women in ({"fp": 20, "tn": 40}, {"tp": 20, "fn": 10, "fp": 20, "tn": 40})
    )
    asked = {"metrics": "true_positive_rate.difference"}
    found = fg.compare(fg.audit(old, **asked), fg.audit(new, **asked))
    text = " ".join(render(found, "text").split())
    assert "1 difference between groups with one value only." in text
    reason = "the old report has no value: the group has no observed positives (TP + FN = 0)"
    assert f"true positive rate difference, F (sex): {reason}." in text


@pytest.mark.parametrize("name", ["old", "new"])
def test_another_task_is_refused(name):
    asked = {"old": ASKED, "new": ASKED} | {name: ASKED | {"task": "regression", "positive": None}}
    with pytest.raises(fg.SpecError, match=r"task: '.*' in the old report, '.*' in the new one"):
        compared(asked["old"], {k: v for k, v in asked["new"].items() if v is not None})


def test_reports_of_two_versions_name_both():
    old, new = fg.audit(OLD, **ASKED), fg.audit(NEW, **ASKED)
    text = render(fg.compare(replace(old, version="0.0.9"), new), "markdown")
    assert f"0.0.9 → {new.version}" in text


def test_another_order_of_the_levels_is_refused():
    orders = ({"ordered": ["c", "b", "a"]}, {"ordered": ["b", "c", "a"]})
    graded = {"label": "grade", "prediction": "given", "sensitive": "sex", "metrics": "standard"}
    message = "positive: ordered 'c', 'b', 'a' in the old report, ordered 'b', 'c', 'a' in the new"
    with pytest.raises(fg.SpecError, match=message):
        compared(*(graded | {"positive": order} for order in orders))


def test_a_threshold_or_a_class_of_one_report_is_listed():
    asked = SCORED | {"metrics": DIFFERENCE}
    text = compared(asked | {"threshold": [0.3]}, asked | {"threshold": [0.3, 0.6]})
    assert "threshold 0.6 (2 estimates)" in text
    classes = CLASSES | {"metrics": "true_positive_rate.difference"}
    both = fg.compare(fg.audit(OLD, **classes), fg.audit(MOVED, **classes))
    assert not both.alone  # whichever class has the largest difference
    assert "where the difference is largest" not in render(both, "markdown")
    fewer = OLD[(OLD["grade"] != "c") & (OLD["given"] != "c")]
    found = fg.compare(fg.audit(fewer, **classes), fg.audit(NEW, **classes))
    assert [(each.what, each.name, each.report) for each in found.alone] == [
        *(("average", name, "old") for name in ("macro", "micro", "weighted")),
        ("class", "c", "new"),
        *(("average", name, "new") for name in ("macro", "micro", "weighted")),
    ]


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
