"""Values of labels or predictions that are exchanged: a model that is worse than guessing."""

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryProblem

RULE = {"metric": "selection_rate.difference", "between": [-0.5, 0.5], "groups": "F"}
OPPOSITE = HistoryProblem.COPIED_LABEL


def rows_of(seed: int, size: int = 900, skill: float = 0.5, base: float = 0.5) -> pd.DataFrame:
    """Return rows whose true positive rate is above the false positive rate by ``skill``."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    rows["label"] = (rng.random(size) < base).astype(int)
    rows["prediction"] = (rng.random(size) < 0.5 - skill / 2 + skill * rows["label"]).astype(int)
    return rows


def opposite(days: list[pd.DataFrame], **settings: object) -> list[tuple[str, str]]:
    counts = {
        n: fg.count(rows, **QUESTION) for n, rows in zip(day_names(len(days)), days, strict=True)
    }
    findings = fg.monitor(counts, asked(RULE, **settings)).findings
    return [(e.period, e.last) for e in findings if e.problem is OPPOSITE]


@pytest.mark.parametrize("column", ["label", "prediction"])
@pytest.mark.parametrize(("first", "last"), [(7, 7), (0, 4)])
def test_a_day_with_exchanged_values_is_found(column: str, first: int, last: int) -> None:
    """It was found only where not one prediction equalled the label."""
    days = [rows_of(t) for t in range(10)]
    for rows in days[first : last + 1]:
        rows[column] = 1 - rows[column]
    assert opposite(days) == [(day_names(10)[first], day_names(10)[last])]


def test_classes_that_are_shifted_are_found() -> None:
    rng = np.random.default_rng(1)
    days = []
    for t in range(8):
        label = rng.integers(0, 3, 300)
        given = np.where(rng.random(300) < 0.7, label, rng.integers(0, 3, 300))
        given = (given + (t == 6)) % 3
        names = np.array(["low", "mid", "top"])
        days.append(pd.DataFrame({"sex": rng.choice(["F", "M"], 300), "label": names[label],
                                  "prediction": names[given]}))  # fmt: skip
    question = {k: v for k, v in QUESTION.items() if k != "positive"}
    counts = {n: fg.count(rows, **question) for n, rows in zip(day_names(8), days, strict=True)}
    rule = {"metric": "accuracy.difference", "between": [-0.5, 0.5]}
    report = fg.monitor(counts, question | {"monitor": {"rules": [rule]}})
    assert [(e.problem, e.period) for e in report.findings] == [(OPPOSITE, day_names(8)[6])]
