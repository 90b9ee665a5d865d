"""A column of groups that is also a stratum is counted once: every finding is as without strata."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem

DAYS = 10
SELECTED = {"metric": "selection_rate.difference", "between": [-0.5, 0.5]}
RECALL = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
Spoil = Callable[[pd.DataFrame], pd.DataFrame]


def spoilt(column: str, value: object, rows: int, region: str) -> Spoil:
    """Return what gives the first rows of a region another value in a column."""

    def spoil(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[table.index[table.region == region][:rows], column] = value
        return table

    return spoil


SPOILT: dict[str, tuple[HistoryProblem, Spoil]] = {
    "a new group": (HistoryProblem.NEW_VALUE, spoilt("region", "Centre", 40, "North")),
    "no label": (HistoryProblem.MISSING_VALUES, spoilt("label", None, 120, "South")),
    "doubled rows": (HistoryProblem.DOUBLED_ROWS, lambda rows: pd.concat([rows, rows])),
}


def findings(spoil: Spoil, strata: str | None) -> tuple[HistoryFinding, ...]:
    question = QUESTION | {"sensitive": ["sex", "region"], "strata": strata}
    draw = np.random.default_rng(1)
    days = {}
    for i, name in enumerate(day_names(DAYS)):
        held = {"sex": draw.choice(["F", "M"], 400), "region": draw.choice(["North", "South"], 400)}
        for each in ("label", "prediction"):
            held[each] = draw.integers(0, 2, 400).astype(object)
        rows = pd.DataFrame(held)
        days[name] = fg.count(spoil(rows) if i == DAYS - 1 else rows, **question)
    monitor: dict[str, Any] = {"rules": [SELECTED, RECALL], "labels_within": 1}
    later = fg.count(rows, **question)
    days["2026-01-11"] = later  # so that the labels of the last day are due
    return fg.monitor_doctor(days, question | {"monitor": monitor}).findings


@pytest.mark.parametrize("case", SPOILT)
def test_findings_with_a_feature_as_stratum_are_those_without_strata(case: str) -> None:
    """Each row of it counted twice: "80 rows with Centre" where there were 40."""
    problem, spoil = SPOILT[case]
    expected = findings(spoil, None)
    assert problem in {each.problem for each in expected}
    assert findings(spoil, "region") == expected
