"""What a report states where outcomes have an order or classes, groups are sets, rules differ."""

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


def test_a_rule_on_classes_names_the_class_that_decides():
    rules = ["true_positive_rate.difference >= -0.1", "accuracy.largest_gap <= 0.1"]
    text = markdown(**GRADES, task="multiclass", rules=rules)
    assert re.search(r"FAIL for F \([^)]*; class high\)", text)
    assert re.search(r"FAIL for F and M \([^)]*; class high\)", text)
    assert "No class differs more than class high." in text


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (fg.rule("selection_rate.ratio", at_least=0.8, decide="point"),
         "is outside the limits (decided by the value alone)"),
        (fg.rule("selection_rate.ratio", at_least=0.5, decide="significant"),
         "inside the limits, significant or not"),
        (fg.rule("accuracy", at_least=0.1), "inside the limits"),
    ],
)  # fmt: skip
def test_what_decides_a_rule_is_stated(rule, words):
    assert words in page(**BINARY, rules=[rule])
