"""The rows of every period: excluded ones, and periods that hold the same counts."""

import json
from collections import Counter

import numpy as np
import pandas as pd
from tests.monitored_days import QUESTION, RATIO, asked, day_names

import fairgauge as fg
from fairgauge.render import render


def day(seed: int, without_group: float = 0.1, without_label: float = 0.2) -> pd.DataFrame:
    """Return 200 rows, some without a group and some without a label."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 200).astype(object),
            "label": rng.integers(0, 2, 200).astype(float),
            "prediction": rng.integers(0, 2, 200),
        }
    )
    rows.loc[rng.random(200) < without_group, "sex"] = None
    rows.loc[rng.random(200) < without_label, "label"] = None
    return rows


def test_excluded_rows_are_those_of_an_audit_of_every_period(tmp_path):
    days = {name: day(i) for i, name in enumerate(day_names(4))}
    history = fg.History(tmp_path / "history")
    audited = {}
    for name, rows in days.items():
        history.add(name, fg.count(rows, **QUESTION))
        audited[name] = fg.audit(rows, **QUESTION).data
        report = fg.monitor(history, asked(RATIO))  # from the fold, but for the last period
    assert [(each.period, each.rows, each.excluded) for each in report.rows] == [
        (name, 200, {why: n for why, n in data.excluded.items() if n})
        for name, data in audited.items()
    ]
    totals = sum((Counter(data.excluded) for data in audited.values()), Counter())
    last = audited[day_names(4)[-1]].excluded
    assert totals["missing sex"] > 0
    for why in ("missing sex", "missing label"):
        assert f"{totals[why]} ({why})" in render(report, "text")
    written = json.loads(report.to_json())["rows"][-1]
    assert written["excluded"] == dict(last)
