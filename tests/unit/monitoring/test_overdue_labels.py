"""Labels that stop coming: a monitor waits for them, and is never green without them."""

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitorState

RECALL = {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1], "groups": "F"}
BALANCED = {"metric": "balanced_accuracy.difference", "between": [-0.3, 0.3], "groups": "F"}
SELECTED = {"metric": "selection_rate.difference", "between": [-0.5, 0.5], "groups": "F"}
RULES = (RECALL, BALANCED, SELECTED)


def day(seed: int, labelled: float = 1.0) -> fg.Cube:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, 400).astype(float)
    rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": label})
    rows["prediction"] = np.where(rng.random(400) < 0.8, label, 1 - label).astype(int)
    rows.loc[rng.random(400) >= labelled, "label"] = None
    return fg.count(rows, **QUESTION)


def stalled(complete: int, without: int, labelled: float = 0.0) -> dict[str, fg.Cube]:
    """Return days with all their labels, and then days with some or none."""
    return {
        name: day(i, 1.0 if i < complete else labelled)
        for i, name in enumerate(day_names(complete + without))
    }


CROSSED = QUESTION | {"sensitive": ["sex", "age"], "intersections": [["sex", "age"]]}
MEN = {"sex": "M", "age": "old"}
WIDE = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
WIDE_RECALL = {"metric": "true_positive_rate.difference", "between": [-0.3, 0.3]}


def crossed_days(unlabelled: str, *, absent: str = "", count: int = 6) -> dict[str, fg.Cube]:
    """Return days on which few young women are selected, and the rows of a query have no label.

    On the third those of the query ``absent`` are of another sex.
    """
    rng, counts = np.random.default_rng(1), {}
    for t, name in enumerate(day_names(count)):
        rows = pd.DataFrame(
            {"sex": ["F", "M"] * 400, "age": ["old", "old", "young", "young"] * 200}
        )
        few = rows.eval("sex == 'F' and age == 'young'")
        rows["prediction"] = (rng.random(800) < np.where(few, 0.05, 0.5)).astype(int)
        rows["label"] = rng.integers(0, 2, 800).astype(float)
        rows.loc[rows.query(unlabelled).index, "label"] = None
        if absent and t == 2:
            rows.loc[rows.query(absent).index, "sex"] = "X"
        counts[name] = fg.count(rows, **CROSSED)
    return counts


@pytest.mark.parametrize(
    ("unlabelled", "reference", "start"),
    [
        ("sex != ''", {}, {}),
        ("sex == 'M'", {"reference": MEN}, {"start": "2026-01-03"}),
        ("sex == 'M' and age == 'old'", {"reference": MEN}, {}),
        ("age == 'young'", {}, {"start": "2026-01-03"}),
    ],
)
def test_groups_of_an_intersection_are_known_before_their_labels(
    unlabelled: str, reference: dict[str, object], start: dict[str, str]
) -> None:
    """Rules of predictions decide at once, and those of labels wait."""
    settings = {"monitor": {"rules": [WIDE, WIDE_RECALL], "labels_within": 7} | start}
    report = fg.monitor(crossed_days(unlabelled), CROSSED | settings | reference)
    assert (report.exit_code, report.unmatched) == (1, ())
    assert ("sex*age", "F & young") in {(each.feature, each.group) for each in report.alarms}
    recalls = [each for each in report.comparisons if each.metric == WIDE_RECALL["metric"]]
    assert {each.feature for each in recalls} == {"sex", "age", "sex*age"}
    assert {each.state for each in recalls} == {MonitorState.WAITING}


@pytest.mark.parametrize("complete", [1, 10])
@pytest.mark.parametrize("without", [0, 1, 2, 8])
def test_a_monitor_waits_for_labels_that_are_due(complete: int, without: int) -> None:
    """They are due once one later period is there; until then the periods before decide."""
    report = fg.monitor(stalled(complete, without), asked(*RULES, labels_within=1))
    waits = without > 1
    state = MonitorState.WAITING if waits else MonitorState.NO_ALARM
    assert [each.state for each in report.comparisons] == [state, state, MonitorState.NO_ALARM]
    assert (report.state, report.exit_code) == (state, 3 if waits else 0)
    assert report.overdue == tuple(day_names(complete + without - 1)[complete:])
    text = render(report, "openmetrics")
    assert f'fairgauge_monitor_state{{model="counts",state="no alarm"}} {int(not waits)}' in text
    if waits:
        line = render(report, "text", quiet=True)
        assert line.startswith(
            "WAITING FOR LABELS: 2 of 3 comparisons wait for labels that are due, of "
            f"{'1 day' if without == 2 else '7 days'} from {report.overdue[0]} on"
        )
        assert "They are due once 1 later day is there" in " ".join(str(report).split())


def test_an_alarm_stays_one_when_labels_stop() -> None:
    def worse(seed: int) -> fg.Cube:
        rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": 1.0})
        rows["prediction"] = [0, 1] * 100 + [1, 1] * 100
        return fg.count(rows, **QUESTION)

    counts = {name: worse(i) for i, name in enumerate(day_names(10))}
    later = {name: day(1, 0.0) for name in day_names(20)[10:]}
    report = fg.monitor(counts | later, asked(RECALL, labels_within=1))
    assert (report.state, report.exit_code) == (MonitorState.ALARM, 1)
    assert len(report.overdue) == 9


@pytest.mark.parametrize("came", [1, 3], ids=["before they are due", "when they are due"])
def test_late_labels_that_are_copies_leave_no_pass_until_they_are_due(came: int) -> None:
    def run(night: int) -> int:
        counts = {}
        for i, name in enumerate(day_names(night + 1)):
            rng = np.random.default_rng(i)
            rows = pd.DataFrame({"sex": ["F", "M"] * 200, "prediction": rng.integers(0, 2, 400)})
            right = (rng.random(400) < 0.8) | (i == 20)
            rows["label"] = np.where(right, rows.prediction, 1 - rows.prediction).astype(float)
            counts[name] = fg.count(rows.assign(label=None) if i > night - came else rows,
                                    **QUESTION)  # fmt: skip
        return fg.monitor(counts, asked(WIDE_RECALL, labels_within=3)).exit_code

    assert [run(20 + later) for later in range(5)] == [0] * came + [3] * (4 - came) + [0]
