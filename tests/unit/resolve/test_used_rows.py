"""The rows that are used: with known outcomes and a group of at least one feature."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Level
from fairgauge.errors import SpecError
from fairgauge.resolve.outcomes import share_determined, ways_of_writing
from fairgauge.resolve.resolution import missing_group, missing_stratum, unit_excluded

ROWS = 200
WITHOUT_A = [i % 5 == 0 for i in range(ROWS)]


def table(*, without_others=False):
    """Return four features, of which the first, or all in other rows each, lack groups."""
    columns = {
        name: [
            None
            if (WITHOUT_A[i] if name == "a" else without_others and i % 7 == k)
            else "xy"[(i >> k) % 2]
            for i in range(ROWS)
        ]
        for k, name in enumerate("abcd")
    }
    return pl.DataFrame({**columns, "ok": [i % 3 == 0 for i in range(ROWS)]})


def is_least(report):
    return any(each.code is DiagnosticCode.USED_AT_LEAST for each in report.diagnostics)


@pytest.mark.parametrize("order", [*permutations("abcd")][::5])
def test_rows_with_a_group_of_any_of_four_features_are_used(order):
    """Many features are counted apart, and the rows used were those of the first of them."""
    report = fg.audit(table(), prediction="ok", sensitive=list(order))
    assert (report.data.used, is_least(report)) == (ROWS, False)
    assert "all used" in str(report)


@pytest.mark.parametrize(("options", "used"), [
    ({"weight": "w"}, "5,400 used"), ({"sensitive": "sex"}, "5,400 used"), ({}, "all used"),
    ({"sensitive": ["race", "sex"]}, "all used for at least one feature"),
    ({"person": "id"}, "3,000 people, all used"),
])  # fmt: skip
def test_how_many_rows_are_used_is_stated(options, used):
    every = range(6_000)
    rows = pl.DataFrame({
        "race": ["B" if i // 2 % 2 else "W" for i in every], "id": [i // 2 for i in every],
        "sex": ["FM"[i % 3 > 0] if i % 10 < 9 else None for i in every],
        "dept": [str(i // 2 % 5) for i in every], "y": [int(i % 7 < 3) for i in every],
        "w": [1.5 if i % 10 else None for i in every],
    })  # fmt: skip
    asked = {"label": "y", "positive": 1, "sensitive": "race", "strata": "dept", **options}
    assert used in " ".join(str(fg.audit(rows, **asked)).split())


def test_reasons_name_what_rows_lack():
    assert missing_group("sex") == "missing sex"
    assert missing_group("label") == "missing label (sensitive feature)"
    assert missing_stratum("branch", 1) == "missing stratum"
    assert missing_stratum("branch", 2) == "missing branch (stratum)"
    assert unit_excluded("missing count", "cases") == "rows"
    assert unit_excluded("missing weight", "cases") == "cases"


def table_absent(n: int = 2_000) -> pd.DataFrame:
    """Return people of whom women who repaid are refused nearly half the time."""
    rng = np.random.default_rng(5)
    sex, good = rng.choice(["F", "M"], n), rng.random(n) < 0.5
    accepted = good & ((sex == "M") | (rng.random(n) < 0.55))
    return pd.DataFrame({"sex": sex, "good": good, "accepted": accepted})


# ---- labels and predictions in other words, or all alike: neither is passed over in silence
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
    rows = table_absent()
    rows["y"] = [labels[int(each)] for each in rows.good]
    rows["p"] = [predictions[int(each)] for each in rows.accepted]
    asked = {"label": "y", "prediction": "p", "positive": positive}
    with pytest.raises(SpecError, match=r"column 'y' has no value .* none of its outcomes"):
        fg.audit(rows, **asked, sensitive="sex", rules=["accuracy >= 0.3"])
    with pytest.raises(SpecError, match=r"none of its outcomes"):
        fg.find(rows, **asked, sensitive=["sex"], metrics="accuracy", worse="lower")


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_is_warned_of(value):
    rows = table_absent().assign(y=value)
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
