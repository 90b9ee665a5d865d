"""What a report states where outcomes have an order or classes, groups are sets, rules differ."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.render import render

BINARY = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
GRADES = {"label": "grade", "prediction": "given", "sensitive": "sex"}


def table():
    """Return 800 people: men are selected more often, and always get the best grade."""
    rng = np.random.default_rng(0)
    sex, score = rng.choice(["F", "M"], 800), rng.random(800).round(3)
    rows = pd.DataFrame(
        {
            "sex": sex,
            "race": rng.choice(["A", "B", "C"], 800),
            "dept": rng.choice(["x", "y"], 800),
            "n": rng.integers(1, 4, 800),
            "score": score,
            "label": (rng.random(800) < score).astype(int),
            "prediction": (score > 0.6 - 0.3 * (sex == "M")).astype(int),
            "grade": rng.choice(["low", "mid", "high"], 800),
            "given": np.where(sex == "M", "high", rng.choice(["low", "mid", "high"], 800)),
        }
    )
    rows["sex"] = rows["sex"].where(rows.index >= 10, None)
    rows["race"] = rows["race"].where(rows.index >= 20, None)
    return rows


PEOPLE = table()


def markdown(**asked):
    return render(fg.audit(PEOPLE, **asked), "markdown").replace("\N{NO-BREAK SPACE}", " ")


def page(**asked):
    """Return the words of the HTML report."""
    found = render(fg.audit(PEOPLE, **asked), "html")
    text = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", found, flags=re.DOTALL)
    return " ".join(html.unescape(text).replace("\N{NO-BREAK SPACE}", " ").split())


def test_each_cut_of_an_order_has_its_section_and_verdict():
    order = {"ordered": ["high", "mid", "low"]}
    asked = GRADES | {"positive": order, "rules": ["selection_rate.ratio >= 0.8"]}
    text = markdown(**asked)
    assert "Positive is each cut of the order high, mid, low in turn" in text
    assert "a false positive is predicted above a cut, with a label below it" in text
    assert "FAIL for F (high; 0.3" in text
    assert "## sex, high or mid" in text
    assert "each cut of the order high, mid, low" in page(**asked)


def test_a_rule_on_classes_names_the_class_that_decides():
    rules = ["true_positive_rate.difference >= -0.1", "accuracy.largest_gap <= 0.1"]
    text = markdown(**GRADES, task="multiclass", rules=rules)
    assert "FAIL for F (class high against all others; " in text
    assert "FAIL for F and M (class high against all others; " in text
    assert "No class differs more than class high." in text
    assert "Each class in turn is positive." in text


def test_sets_of_values_and_what_is_in_no_group_of_an_intersection():
    sets = [["A", "B"]]
    asked = BINARY | {
        "sensitive": ["sex", {"column": "race", "values": ["A", "B"]}],
        "intersections": [("sex", "race")],
        "rules": ["selection_rate.largest_gap <= 0.9", "selection_rate >= 0.1"],
    }
    text = page(**asked)
    assert f"race ({', '.join(sets[0])})" in text
    unknown = PEOPLE[["sex", "race"]].isna().any(axis=1).sum()
    assert f"unknown sex or race (sex*race) {unknown}" in text
    short = markdown(**asked)
    assert "NOT EVALUATED for race (it is defined in fewer than two groups); 2 pass" in short
    assert "PASS for " in short


def test_a_rule_that_passes_for_all_groups_of_a_feature_names_the_feature():
    text = markdown(**BINARY, rules=["selection_rate.largest_gap <= 0.9"])
    assert "PASS for sex |" in text


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (fg.rule("selection_rate.ratio", at_least=0.8, decide="point"),
         "is outside the limits; decided by the value alone"),
        (fg.rule("selection_rate.ratio", at_least=0.5, decide="significant"),
         "inside the limits, significant or not"),
        (fg.rule("accuracy", at_least=0.1), "inside the limits"),
    ],
)  # fmt: skip
def test_what_decides_a_rule_is_stated(rule, words):
    assert words in page(**BINARY, rules=[rule])


def test_thresholds_of_a_rule_are_named_where_there_are_several():
    asked = {"label": "label", "score": "score", "positive": 1, "sensitive": "sex"}
    rules = ["selection_rate.ratio >= 1.2"]
    several = markdown(**asked, threshold=[0.3, 0.6], rules=rules)
    assert re.search(r"FAIL for .*threshold 0\.[36]", several)
    assert "threshold 0." not in markdown(**asked, threshold=0.3, rules=rules).split("## Rules")[1]


def test_who_is_of_unknown_category_is_stated_in_cases_of_a_count():
    text = page(**BINARY, count="n", preset="nyc-ll144")
    cases = PEOPLE.loc[PEOPLE["sex"].isna(), "n"].sum()
    assert f"{cases} cases in sex" in text


def test_a_profile_of_smclarify_is_stated_with_its_threshold():
    asked = {"label": "label", "score": "score", "positive": 1, "sensitive": "sex"}
    text = page(**asked, profile="clarify", metrics="clarify", threshold=0.5)
    assert "> 0.5" in text
    assert "Profile clarify: the numbers are those of smclarify, edge cases included." in text
