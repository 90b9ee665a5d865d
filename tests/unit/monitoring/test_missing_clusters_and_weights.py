"""Rows that lose their cluster, weight or count are found as those that lose another value are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.render import render

RULE = {"metric": "selection_rate.ratio", "at_least": 0.5, "groups": "F"}


def of_days(
    role: str, lost: float, since: int = 8, *, of: str | None = None, instead: float = np.nan
) -> fg.MonitorReport:
    """Monitor 12 days of rows with clusters, weights or counts: from one day on a share lacks them.

    Those are rows ``of`` one group, if one is named; they have another number ``instead``.
    """
    draw = np.random.default_rng(1)
    question = QUESTION | {role: "column"}
    counts = {}
    for t, name in enumerate(day_names(12)):
        rows = pd.DataFrame(draw.integers(0, 2, (400, 2)), columns=["label", "prediction"])
        rows["sex"] = draw.choice(["F", "M"], 400)
        rows["column"] = draw.integers(1, 300 if role == "cluster" else 3, 400).astype(float)
        if t >= since:
            chosen = (draw.random(400) < lost) & ((rows["sex"] == of) | (of is None))
            rows["column"] = rows["column"].mask(chosen, instead)
        counts[name] = fg.count(rows, **question)
    return fg.monitor(counts, question | {"monitor": {"rules": [RULE]}})


@pytest.mark.parametrize(("role", "says"), [
    ("cluster", "Rows without a cluster are in every value and in no confidence interval."),
    ("weight", "Rows without a weight are in no rate."),
    ("count", "Rows without a number of cases are in no rate."),
])  # fmt: skip
def test_rows_that_lose_their_cluster_weight_or_count_are_found(
    role: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef")
    report = of_days(role, 0.3)
    (found,) = (each for each in report.findings if each.problem.value != "volume")
    assert (found.problem.value, found.column) == (f"missing {role}s", "column")
    assert (found.period, found.last) == (report.periods[8], report.periods[-1])
    assert found.share == pytest.approx(0.3, abs=0.05)
    assert says in found.says
    assert f"of {found.rows:,} rows have no value in column" in found.says
    assert not of_days(role, 0.3, since=0).findings  # what is usual
    text = " ".join(render(report, "text").split())
    lacking = sum(each.excluded.get(f"missing {role}", 0) for each in report.rows)
    of = f"{lacking:,} {'' if role == 'count' else 'of 4,800 '}rows (missing {role})"
    assert {
        "cluster": f"- {of} are in every value and in no confidence interval, ",
        "weight": f"- Excluded from every rate: {of}, ",
        "count": f"- Excluded from every rate: {of}, ",
    }[role] in text
    assert "rates that need the value" not in text


def test_clusters_that_one_group_loses_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were found among all rows alone, where a small group is not seen."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef")
    report = of_days("cluster", 0.8, of="F")
    (found,) = report.findings
    assert (found.problem.value, found.column) == ("missing clusters", "column")
    assert (found.other, found.value) == ("sex", "F")
    assert (found.period, found.last) == (report.periods[8], report.periods[-1])
    assert 'rows with "F" in sex have no value in column' in found.says


@pytest.mark.parametrize("role", ["weight", "count"])
def test_codes_of_missing_weights_and_counts_are_found(role: str) -> None:
    """Of 2% of the rows they outweighed all others, and nothing stated it."""
    report = of_days(role, 0.02, instead=9999)
    found = next(each for each in report.findings if each.problem.value == "coded numbers")
    assert (found.column, found.value) == ("column", "9999")
    assert (found.period, found.last) == (report.periods[8], report.periods[-1])
    assert 'some rows have "9999" in column, as codes of missing values are' in found.says
    assert not of_days(role, 0.02, instead=3).findings


def test_what_a_count_stands_for_is_called_cases() -> None:
    rows = pd.DataFrame(
        {"sex": ["F", "M", "X"] * 2, "prediction": [0, 0, 0, 1, 1, 1], "label": 1, "n": 2}
    )
    question = QUESTION | {"count": "n"}
    rows.loc[rows["sex"] != "X", "n"] = 300
    large = rows[rows["sex"] != "X"]
    days = {name: fg.count(large, **question) for name in day_names(8)[1:]}
    days["2026-01-09"] = fg.count(large[:1], **question)
    days["2026-01-01"] = fg.count(rows, **question)
    report = fg.monitor(days, question | {"monitor": {"rules": [RULE | {"groups": []}]}})
    text = " ".join(render(report, "text").split())
    assert "fewer cases than min_n (20)" in text
    assert "X (sex) has 4 cases that a rule counts so far" in text
    assert "cases of 9 days" in text
    volume = next(each for each in report.findings if each.problem.value == "volume")
    assert "300 cases, where about 1,200 are usual" in volume.says


@pytest.mark.parametrize(("missing", "says"), [
    ("exclude", "Rows without a value are in no rate that needs it."),
    ("group", "They are a group of their own."),
])  # fmt: skip
def test_rows_that_lose_their_group_may_be_one(missing: str, says: str) -> None:
    question = QUESTION | {"missing": missing}
    rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": 1, "prediction": [0, 1, 1, 0] * 100})
    lost = rows.assign(sex=rows["sex"].where(rows.index < 250))
    days = {name: fg.count(rows if t < 8 else lost, **question)
            for t, name in enumerate(day_names(9))}  # fmt: skip
    report = fg.monitor(days, question | {"monitor": {"rules": [RULE]}})
    (found,) = (each for each in report.findings if each.column == "sex")
    assert found.says.startswith("On 2026-01-09: 37.5% of 400 rows have no value in sex")
    assert says in found.says
