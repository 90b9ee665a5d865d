"""A month in which everything happens to a feed: each disturbance is found, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tests.monitored_days import day_names

import fairgauge as fg
from fairgauge.results.monitor_results import MonitorState

if TYPE_CHECKING:
    from pathlib import Path

ASKED = {
    "label": "label", "prediction": "prediction", "positive": 1,
    "sensitive": ["sex", "channel", "band"],
}  # fmt: skip
RULES = [
    {"metric": "true_positive_rate.difference", "between": [-0.15, 0.15], "features": "sex",
     "groups": ["F"]},
    {"metric": "selection_rate.ratio", "at_least": 0.7, "features": "sex", "groups": ["F"]},
]  # fmt: skip
NAMES = day_names(30)


def rows(day: int) -> pd.DataFrame:
    """Return a day of 400 rows, fewer on two days of the week, with its disturbance."""
    rng = np.random.default_rng(day)
    size = int(rng.integers(395, 405)) if day % 7 < 5 else int(rng.integers(145, 155))
    size += 900 * (day == 18)  # a jump of the volume
    found = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    found["channel"] = rng.choice(["web", "app", "branch", "phone"], size, p=[0.5, 0.3, 0.15, 0.05])
    found["band"] = rng.choice(["low", "high"], size)
    label = rng.integers(0, 2, size).astype(float)
    found["prediction"] = np.where(rng.random(size) < 0.8, label, 1 - label).astype(int)
    found["label"] = label
    found.loc[rng.random(size) < 0.03 + 0.2 * (day >= 24), "band"] = None
    if day == 5:
        found.loc[(found["sex"] == "F") & (rng.random(size) < 0.5), "sex"] = "f"
    if day == 9:
        found = pd.concat([found, found])
    if day >= 16:
        found = found[found["channel"] != "phone"]
    if day >= 22:
        worse = (found["sex"] == "F") & (found["label"] == 1) & (rng.random(len(found)) < 0.3)
        found.loc[worse, "prediction"] = 0  # which nobody sees without labels
        found["label"] = None
    return found


def test_every_disturbance_of_a_bad_month_is_found_and_nothing_is_green(tmp_path: Path) -> None:
    """Labels stop, a spelling, a day twice, a day absent, a value gone, a jump, missing values."""
    asked = ASKED | {"monitor": {"rules": RULES, "labels": "later"}}
    history, states = fg.History(tmp_path), {}
    for day, name in enumerate(NAMES):
        if day == 12:
            continue
        history.add(name, fg.count(rows(day), **ASKED))
        report = fg.monitor(history, asked)
        states[day] = report.state
    assert {states[day] for day in range(22) if day != 12} == {MonitorState.NO_ALARM}
    assert {states[day] for day in range(22, 30)} == {MonitorState.WAITING}
    found = {
        (each.problem.value, each.value or each.column, each.period, each.last)
        for each in report.findings
    }
    assert found == {
        ("new value", "f", NAMES[5], NAMES[5]),
        ("doubled rows", None, NAMES[9], NAMES[9]),
        ("gap", None, NAMES[12], NAMES[12]),
        ("vanished value", "phone", NAMES[16], NAMES[29]),
        ("volume", None, NAMES[18], NAMES[18]),
        ("overdue labels", None, NAMES[22], NAMES[29]),
        ("missing values", "band", NAMES[24], NAMES[29]),
    }
    assert report.exit_code == 3
    assert fg.monitor_doctor(history, asked).exit_code == 1
