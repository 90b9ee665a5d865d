"""A group that is too small to be decided is never a pass, also where all groups are compared."""

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import day_names

import fairgauge as fg
from fairgauge.render.grammar import describe_reason

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
def test_a_tiny_group_is_no_pass(metric):
    between = [0, 0.4] if metric.endswith("largest_gap") else [-0.4, 0.4]
    asked = ASKED | {"monitor": {"rules": [{"metric": metric, "between": between}]}}
    counts = days(lambda day: int(day % 4 == 0), 28)
    report = fg.monitor(counts, asked)
    assert (report.exit_code, report.findings) == (3, ())
    assert str(report.state) == "insufficient data"
    without = fg.monitor(counts, asked | {"exclude_groups": "X"})
    assert (without.exit_code, without.findings) == (0, ())


def uneven_days(women, column):
    """Return days of 200 rows; ``women`` has the weights or clusters of 100 women of each day."""
    rng, found = np.random.default_rng(6), {}
    for name, values in zip(NAMES, women, strict=False):
        frame = pd.DataFrame({"g": ["F", "M"] * 100, "p": rng.integers(0, 2, 200)})
        frame[column] = np.arange(200) % 60 if column == "site" else 1.0
        frame.loc[frame["g"] == "F", column] = values
        frame.loc[1, "p"], frame.loc[0, "p"] = 1, 0  # the first woman has the heavy weight
        found[name] = frame
    return found


EVEN, SPREAD, TWO = np.ones(100), np.arange(100) % 30, np.arange(100) % 2


def monitored(role, column, frames):
    rule = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}
    asked = ASKED | {"label": None, role: column, "reference": {"g": "M"}}
    counts = {name: fg.count(frame, **asked) for name, frame in frames.items()}
    return fg.monitor(counts, asked | {"monitor": {"rules": [rule]}})


@pytest.mark.parametrize("role", ["weight", "cluster", None])
@pytest.mark.parametrize("absent", ["reference", "outcome"])
def test_a_period_that_lacks_a_named_value_leaves_the_others_as_they_are(role, absent, monkeypatch):
    """It was an error, from that day on every night, where intervals decide."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    column = "site" if role == "cluster" else "w"
    frames = uneven_days([SPREAD if role == "cluster" else EVEN] * 3, column)
    last = frames[NAMES[2]]
    if absent == "reference":
        frames[NAMES[2]] = last[last["g"] == "F"]
    elif absent == "outcome":
        last["p"] = 0
    first = {name: frames[name] for name in NAMES[:2]}
    whole, before = (
        monitored(role or "label", column if role else None, some).comparisons[0]
        for some in (frames, first)
    )
    assert [e.value for e in whole.points[:2]] == [e.value for e in before.points]
    undefined = absent == "reference"
    assert (whole.points[2].value is None) is undefined
    assert whole.state.value == ("undefined" if undefined else "no alarm")


@pytest.mark.parametrize(
    ("metric", "role"),
    [
        ("selection_rate.ratio", "weight"),
        ("f1.ratio", None),
        ("calibration_gap.difference", "cluster"),
    ],
)
def test_intervals_decide_by_what_an_audit_is_judged_by_not_by_what_is_adjusted(
    metric, role, monkeypatch
):
    """Women ask for what is granted less often: within strata both are treated alike."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    rng = np.random.default_rng(8)
    sex, hard = np.repeat(["F", "M"], 400), np.tile([True, True, True, True, False] * 80, 2)
    hard[400:] = ~hard[400:]
    granted = rng.random(800) < np.where(hard, 0.2, 0.8)
    frame = pd.DataFrame({"sex": sex, "hard": hard, "p": granted * 1, "s": rng.random(800)})
    frame = frame.assign(y=np.where(rng.random(800) < 0.9, granted, ~granted) * 1, one=1.0)
    frame["who"] = range(800)
    asked = {"label": "y", "sensitive": "sex", "reference": {"sex": "M"}, "positive": 1}
    asked |= {"score": "s"} if metric.startswith("cal") else {"prediction": "p"}
    asked |= {role: "one" if role == "weight" else "who"} if role else {}
    rule = {"metric": metric, "at_least": 0.8}
    report = fg.monitor(
        {NAMES[0]: fg.count(frame, **asked, strata="hard")},
        asked | {"strata": "hard", "monitor": {"rules": [rule]}},
    )
    (audited,) = fg.audit(frame, **asked, metrics=metric, rules=[f"{metric} >= 0.8"]).verdicts
    (each,) = report.comparisons
    if role == "cluster" and "s" in asked.values():  # scores have no interval
        assert audited.outcome.value == "not_evaluated"
        assert (each.state.value, report.exit_code) == ("undefined", 3)
        reason = each.undefined[-1].reason
        assert describe_reason(reason) == "no cluster-robust method is known for it"
    else:
        assert each.points[0].value == pytest.approx(audited.value)


@pytest.mark.parametrize(("column", "lacking"), [("g", "a group"), ("y", "a label or score")])
def test_what_has_no_worst_case_does_not_claim_one(column, lacking):
    """Of average precision none is computed: that rows "could change that" was untrue."""
    asked = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"}
    rng, counts = np.random.default_rng(5), {}
    for name in NAMES[:8]:
        rows = pd.DataFrame({"g": ["F", "M"] * 200, "s": rng.random(400).round(2)})
        rows["y"] = (rng.random(400) < rows.s) * 1.0
        rows.loc[:15, column] = None
        counts[name] = fg.count(rows, **asked)
    rule = {"metric": "average_precision.difference", "between": [-0.5, 0.5]}
    report = fg.monitor(counts, asked | {"monitor": {"rules": [rule]}})
    (says,) = {each.says.partition(",")[2].partition(" could")[0] for each in report.comparisons}
    because = f"because how far the 112 rows of the last 7 periods without {lacking}"
    assert says.endswith(f"{because} (1% of a group or more)")
