"""A group that is too small to be decided is never a pass, and the doctor finds it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryProblem

ASKED = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
NAMES = day_names(30)


def days(tiny, count=30):
    """Return days of 200 rows, with as many rows of X as ``tiny`` has of the day."""
    rng, found = np.random.default_rng(4), {}
    for day in range(count):
        groups = [*rng.choice(["F", "M"], 200), *"X" * tiny(day)]
        size = len(groups)
        rows = {"g": groups, "y": rng.integers(0, 2, size), "p": rng.integers(0, 2, size)}
        found[NAMES[day]] = fg.count(pd.DataFrame(rows), **ASKED)
    return found


@pytest.mark.parametrize(
    "metric", ["selection_rate.difference", "f1.difference", "selection_rate.largest_gap",
               "accuracy.largest_gap"]
)  # fmt: skip
@pytest.mark.parametrize("every", [2, 4])
def test_a_tiny_group_is_no_pass_and_is_found(metric, every):
    between = [0, 0.4] if metric.endswith("largest_gap") else [-0.4, 0.4]
    asked = ASKED | {"monitor": {"rules": [{"metric": metric, "between": between}]}}
    counts = days(lambda day: int(day % every == 0), 28)
    report = fg.monitor(counts, asked)
    found = [(each.problem, each.column, each.value) for each in report.findings]
    assert report.exit_code == 3
    assert found == [(HistoryProblem.SMALL_GROUP, "g", "X")]
    assert "too few to decide every rule" in report.findings[0].says
    assert fg.monitor_doctor(counts, asked).exit_code == 1
    without = fg.monitor(counts, asked | {"exclude_groups": "X"})
    assert (without.exit_code, without.findings) == (0, ())


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.largest_gap"])
def test_groups_that_grow_or_are_gone_are_not_found(metric):
    between = [0, 0.4] if metric.endswith("largest_gap") else [-0.4, 0.4]
    asked = ASKED | {"monitor": {"rules": [{"metric": metric, "between": between}]}}
    for tiny in (lambda _: 35, lambda day: int(day == 3), lambda _: 0):
        report = fg.monitor(days(tiny), asked)
        assert (report.exit_code, report.findings) == (0, ())
