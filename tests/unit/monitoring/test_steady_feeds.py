"""Nights of feeds that do not change: no finding, nothing new and no alarm in any of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import MonitorState

NIGHTS = 13
RULES = [
    {"metric": "selection_rate.difference", "between": [-0.15, 0.15]},
    {"metric": "true_positive_rate.difference", "between": [-0.2, 0.2]},
]
SCORED = {k: v for k, v in QUESTION.items() if k != "prediction"}
FEEDS = {
    "labels with the rows": (QUESTION, {}, 0),
    "strata": (QUESTION | {"strata": "branch"}, {}, 0),
    "labels after three days": (QUESTION, {"labels_within": 7}, 3),
    "labels due after five": (QUESTION | {"strata": "branch"},
                              {"labels_within": 5}, 4),
    "scores": (SCORED | {"score": "score", "threshold": 0.5}, {"labels_within": 7}, 2),
}  # fmt: skip


def rows_of(day: int) -> pd.DataFrame:
    """Return the rows of a day: a third at weekends, and up to 5% more or less at random."""
    rng = np.random.default_rng([0, day])
    usual = 600 if day % 7 < 5 else 200
    size = int(rng.poisson(usual * rng.lognormal(0, 0.05)))
    rows = pd.DataFrame({"sex": rng.choice(["F", "M", "X"], size, p=[0.45, 0.45, 0.1])})
    rows["branch"] = rng.choice(list("abcd"), size, p=[0.4, 0.3, 0.2, 0.1])
    rows["score"] = rng.random(size).round(3)
    rows["prediction"] = (rows["score"] > 0.5).astype(int)
    rows["label"] = (rng.random(size) < 0.25 + 0.5 * rows["score"]).astype(float)
    return rows


@pytest.mark.parametrize("feed", list(FEEDS))
def test_every_night_of_a_steady_feed_is_silent(tmp_path: Path, feed: str) -> None:
    question, settings, wait = FEEDS[feed]
    history, names = fg.History(tmp_path), day_names(NIGHTS)
    spec = question | {"monitor": {"rules": RULES, **settings}}
    for t, name in enumerate(names):
        rows = rows_of(t)
        history.add(name, fg.count(rows.assign(label=None) if wait else rows, **question))
        if wait and t >= wait:
            late = fg.count(rows_of(t - wait), **question)
            history.add(names[t - wait], late, replace=True)
        report = fg.monitor(history, spec)
        assert report.findings == report.alarms == report.concerning(name) == ()
        if t > 2 * wait:  # a first period has its labels, and a run saw for how long it had none
            assert (report.state, report.exit_code) == (MonitorState.NO_ALARM, 0)
