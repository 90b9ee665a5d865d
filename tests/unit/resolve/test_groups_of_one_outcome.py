"""A group, or a table, without the other outcome may be a numerator alone: nothing passes by it."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import DiagnosticCode as Code
from fairgauge.enums import Outcome

ASKED = {"label": "case", "positive": 1, "sensitive": "race", "count": "n"}
RULES = ["base_rate.difference >= -0.1", "base_rate.difference <= 0.1", "base_rate >= 0.001"]


def counted(cells: dict[str, tuple[int, int]]) -> pd.DataFrame:
    """Return rows of cases and of others, each with their number; 0 is not written."""
    rows = [(g, v, n) for g, pair in cells.items() for v, n in zip((1, 0), pair, strict=True) if n]
    return pd.DataFrame(rows, columns=["race", "case", "n"])


def warned(report: fg.Report) -> list[str]:
    return [d["group"] for d in report.diagnostics if d.code is Code.GROUP_OF_ONE_OUTCOME]


def test_of_two_groups_in_one_column_other_features_pass():
    data = counted({"Asian": (200, 9_800), "White": (1_500, 48_500), "NH": (400, 0)})
    data["sex"] = "F"
    data = pd.concat([data, data.assign(sex="M")])
    report = fg.audit(data, **ASKED | {"sensitive": ["race", "sex"]}, rules=RULES[:1])
    by_feature = {each.feature: each.outcome for each in report.verdicts if each.group != "NH"}
    assert by_feature == {"race": Outcome.INCONCLUSIVE, "sex": Outcome.PASS}


@pytest.mark.parametrize(
    "cells",
    [
        {"A": (95, 5), "B": (30, 0)},  # most others have it too
        {"A": (50, 950), "B": (5, 0)},  # five rows
        {"A": (50, 950), "B": (399, 1)},
        {"A": (950, 50), "B": (0, 5)},
    ],
)
def test_what_the_others_have_too_or_few_rows_have_is_no_doubt(cells):
    assert not warned(fg.audit(counted(cells), **ASKED))


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(60, 900)), min_size=1, max_size=4),
    st.integers(20, 2_000),
    st.booleans(),
    st.sampled_from([0, 1]),
)
def test_nothing_passes_beside_a_numerator_alone(others, rows, flipped, positive):
    cells = {f"g{i}": pair for i, pair in enumerate(others)} | {"alone": (rows, 0)}
    data = counted(cells)
    data = data.assign(case=1 - data.case) if flipped else data
    report = fg.audit(data, **ASKED | {"positive": positive}, rules=RULES)
    assert warned(report) == ["alone"]
    assert Outcome.PASS not in {verdict.outcome for verdict in report.verdicts}
    assert report.verdict is not Outcome.PASS


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("value", [0, 1])
def test_a_table_of_one_outcome_passes_nothing(rule, value):
    data = counted({"A": (200, 0), "B": (300, 0)}).assign(case=value)
    report = fg.audit(data, **ASKED | {"positive": value}, rules=rule)
    assert report.verdict is not Outcome.PASS


def test_rates_that_need_another_outcome_too_are_judged_where_all_labels_are_positive():
    rows = pd.DataFrame({"race": ["A", "B"] * 400, "case": 1, "p": [1, 1, 1, 1, 0, 0, 1, 1] * 100})
    asked = {**ASKED, "count": None, "prediction": "p", "metrics": "true_positive_rate"}
    report = fg.audit(rows, **asked, rules="true_positive_rate.difference >= -0.2")
    assert report.verdict is Outcome.PASS
