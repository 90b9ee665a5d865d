"""A file that holds the rows of an earlier period is found before its labels come, and after."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryProblem

RECALL = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5], "groups": "F"}
QUESTIONS = {
    "predictions": QUESTION,
    "strata": QUESTION | {"strata": "branch"},
    "scores": {k: v for k, v in QUESTION.items() if k != "prediction"}
    | {"score": "score", "threshold": 0.5},
}


def rows_of(day: int, size: int | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    size = size or int(rng.poisson(400 if day % 7 < 5 else 150))
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    rows["branch"] = rng.choice(list("abcd"), size)
    rows["score"] = rng.random(size).round(3)
    rows["prediction"] = (rows["score"] > 0.5).astype(int)
    rows["label"] = rng.integers(0, 2, size).astype(float)
    return rows


def same_counts(report: fg.MonitorReport) -> list[tuple[str, str, str | None]]:
    found = [e for e in report.findings if e.problem is HistoryProblem.SAME_COUNTS]
    return [(each.period, each.last, each.other) for each in found]


@pytest.mark.parametrize(
    ("kind", "relabelled"), [("predictions", True), ("strata", False), ("scores", True)]
)
def test_a_copy_is_found_in_its_night_and_stays_found(tmp_path: Path, kind, relabelled) -> None:
    """The labels of the copy come later than those of the original, and may differ from them."""
    history, names, copied = fg.History(tmp_path), day_names(14), 9
    spec = QUESTIONS[kind] | {"monitor": {"rules": [RECALL], "labels_within": 7}}

    def rows(day: int) -> pd.DataFrame:
        if day != copied:
            return rows_of(day)
        held = rows_of(day - 1)
        return held.assign(label=held["label"].sample(frac=1).to_numpy()) if relabelled else held

    for t, name in enumerate(names):
        if t >= 2:
            history.add(names[t - 2], fg.count(rows(t - 2), **QUESTIONS[kind]), replace=True)
        history.add(name, fg.count(rows(t).assign(label=None), **QUESTIONS[kind]))
        report = fg.monitor(history, spec)
        expected = [(names[copied], names[copied], names[copied - 1])] if t >= copied else []
        assert same_counts(report) == expected
        assert [e.problem for e in report.concerning(name)] == (
            [HistoryProblem.SAME_COUNTS] if t == copied else []
        )


def test_a_copy_of_a_week_ago_and_a_baseline_of_monitored_days_are_found(tmp_path: Path) -> None:
    names, days = day_names(30), [rows_of(t, 400) for t in range(30)]
    days[-1] = days[-8]
    question = {k: v for k, v in QUESTION.items() if k != "label"}
    counts = {n: fg.count(rows, **question) for n, rows in zip(names, days, strict=True)}
    baseline = str(tmp_path / "b.cube.json")
    fg.count(pd.concat(days[:10]), **question).save(baseline)
    rule = {"metric": "selection_rate.difference", "within": 0.2, "of": baseline}
    spec = question | {"monitor": {"rules": [rule]}}
    found = same_counts(fg.monitor(counts, spec))
    assert found == [(names[0], names[9], "b.cube.json"), (names[-1], names[-1], names[-8])]
    accept = [f"same_counts:{names[0]}", f"same_counts:{names[-1]}"]
    assert fg.monitor(counts, spec | {"accept": accept}).exit_code == 0
    assert same_counts(fg.monitor({n: counts[n] for n in names[1:-1]}, spec)) == []


@pytest.mark.parametrize("labels", [[], ["label"]])
@pytest.mark.parametrize(("size", "varies"), [(25, False), (60, True)])
def test_no_period_is_a_copy_by_coincidence(varies: bool, size: int, labels) -> None:
    """Groups may have the same sizes on all days, or such as vary."""
    rng, counts = np.random.default_rng(1_000), {}
    for name in day_names(100):
        women, men = rng.poisson(size, 2) if varies else (size, size)
        held = pd.DataFrame({"sex": ["F"] * women + ["M"] * men})
        held["prediction"] = rng.integers(0, 2, len(held))
        held["label"] = rng.integers(0, 2, len(held)).astype(float)
        counts[name] = fg.count(held.assign(**dict.fromkeys(labels)), **QUESTION)
    assert same_counts(fg.monitor(counts, asked(RECALL, labels_within=7))) == []
