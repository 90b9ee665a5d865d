"""Rows that lose their cluster or their weight are found as those that lose another value are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.render import render

RULE = {"metric": "selection_rate.ratio", "at_least": 0.5, "groups": "F"}


def of_days(role: str, lost: float, since: int = 8) -> fg.MonitorReport:
    """Monitor 12 days of rows with clusters or weights, which a share lacks from one day on."""
    draw = np.random.default_rng(1)
    question = QUESTION | {role: "column"}
    counts = {}
    for t, name in enumerate(day_names(12)):
        rows = pd.DataFrame(draw.integers(0, 2, (400, 2)), columns=["label", "prediction"])
        rows["sex"] = draw.choice(["F", "M"], 400)
        rows["column"] = draw.integers(1, 3 if role == "weight" else 300, 400).astype(float)
        if t >= since:
            rows["column"] = rows["column"].mask(draw.random(400) < lost)
        counts[name] = fg.count(rows, **question)
    return fg.monitor(counts, question | {"monitor": {"rules": [RULE]}})


@pytest.mark.parametrize(("role", "says"), [
    ("cluster", "Rows without a cluster are in every value and in no confidence interval."),
    ("weight", "Rows without a weight are in no rate."),
])  # fmt: skip
def test_rows_that_lose_their_cluster_or_weight_are_found(
    role: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef")
    report = of_days(role, 0.3)
    (found,) = report.findings
    assert (found.problem.value, found.column) == (f"missing {role}s", "column")
    assert (found.period, found.last) == (report.periods[8], report.periods[-1])
    assert found.share == pytest.approx(0.3, abs=0.05)
    assert says in found.says
    assert not of_days(role, 0.3, since=0).findings  # what is usual
    text = " ".join(render(report, "text").split())
    lacking = sum(each.excluded.get(f"missing {role}", 0) for each in report.rows)
    of = f"{lacking:,} of 4,800 rows (missing {role})"
    assert {
        "cluster": f"- {of} are in every value and in no confidence interval, ",
        "weight": f"- Excluded from every rate: {of}, ",
    }[role] in text
    assert "rates that need the value" not in text
