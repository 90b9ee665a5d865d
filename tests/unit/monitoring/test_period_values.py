"""The values of label and prediction in every period: another coding is no quiet day."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, day_names

import fairgauge as fg
from fairgauge.errors import DataError, SpecError, ValuesError
from fairgauge.results.monitor_results import HistoryProblem


def day(label, prediction, sex=("F", "M"), question=QUESTION):
    """Return the counts of one day, whose rows take the values of label and prediction in turn."""
    rows = [(s, y, p) for s in sex for y in label for p in prediction for _ in range(10)]
    return fg.count(pd.DataFrame(rows, columns=["sex", "label", "prediction"]), **question)


GOOD = day([0, 1], [0, 1])
OTHERWISE = {
    "predictions": day([0, 1], ["no", "yes"]),
    "labels and predictions": day(["no", "yes"], ["no", "yes"]),
    "one value": day([0, 1], ["yes"]),
    "labels missing": day([None], ["no", "yes"]),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("coded", OTHERWISE.values(), ids=list(OTHERWISE))
def test_another_coding_is_an_error_in_any_period(coded, place):
    days = [GOOD, GOOD, GOOD]
    days[place] = coded
    with pytest.raises(ValuesError, match=f"{day_names(3)[place]}.*'yes'"):
        fg.monitor(dict(zip(day_names(3), days, strict=True)), asked(RATIO))


def test_another_coding_is_an_error_where_earlier_periods_are_folded(tmp_path):
    history = fg.History(tmp_path)
    for name in day_names(3):
        history.add(name, GOOD)
        fg.monitor(history, asked(RATIO))
    history.add("2026-01-04", OTHERWISE["predictions"])
    with pytest.raises(ValuesError, match="2026-01-04: column 'prediction' holds 'no', 'yes'"):
        fg.monitor(history, asked(RATIO))


def test_the_error_of_another_coding_names_what_works(tmp_path):
    """Removing a period was advised, and changed nothing."""
    history = fg.History(tmp_path)
    for name in day_names(3):
        history.add(name, GOOD)
    history.add("2026-01-04", OTHERWISE["predictions"])
    with pytest.raises(ValuesError) as error:
        fg.monitor(history, asked(RATIO))
    below = 'below [recode] in the specification: prediction = {1 = ["1", ...], ...}'
    assert str(error.value).endswith(below)
    recode = {"prediction": {"1": ["1", "yes"], "0": ["0", "no"]}}
    counts = day([0, 1], ["no", "yes"], question=QUESTION | {"recode": recode})
    history.add("2026-01-04", counts, replace=True)
    assert len(fg.monitor(history, asked(RATIO) | {"recode": recode}).periods) == 4


def test_a_period_need_not_have_what_is_recoded_but_one_must():
    question = QUESTION | {"recode": {"sex": {"X": ["D"]}}}
    without, with_it = day([0, 1], [0, 1], question=question), day([0, 1], [0, 1], "DF", question)
    for days in ([without, with_it], [with_it, without]):
        named = dict(zip(day_names(2), days, strict=True))
        assert len(fg.monitor(named, asked(RATIO) | question).periods) == 2
    with pytest.raises(SpecError, match=r"recode\.sex: no row has 'D'.* It holds 'F', 'M'"):
        fg.monitor(dict(zip(day_names(2), [without] * 2, strict=True)), asked(RATIO) | question)


BOTH = day([0, 1, "no", "yes"], [0, 1, "no", "yes"])
WORDS = OTHERWISE["labels and predictions"]


@pytest.mark.parametrize(
    ("days", "bad"),
    [
        ([GOOD, GOOD, BOTH, GOOD], [2]),
        ([BOTH, GOOD, GOOD, GOOD], [0]),
        ([GOOD, BOTH, GOOD, BOTH], [1, 3]),
        ([WORDS, WORDS, GOOD, GOOD], [0, 1]),
        ([GOOD, GOOD, WORDS, WORDS], [2, 3]),
        ([WORDS, WORDS, WORDS, GOOD], [0, 1, 2]),
        ([GOOD, BOTH, WORDS, GOOD], [1, 2]),
        ([day([None], [None]), WORDS, GOOD, GOOD], [1]),
    ],
)
def test_outcomes_that_are_written_in_two_ways_are_named_and_repaired_in_any_order(days, bad):
    """Of rows in words among others no day was named, and each correction was refused."""
    names = day_names(len(days))
    for at in bad:
        with pytest.raises(ValuesError, match="'label' holds 'no', 'yes'") as error:
            fg.monitor(dict(zip(names, days, strict=True)), asked(RATIO))
        left = [names[i] for i in bad if days[i] is not GOOD]
        stated = (
            f"period {left[0]}: " if len(left) == 1 else f"periods {', '.join(map(repr, left))}"
        )
        assert str(error.value).startswith(f"the {stated}")
        assert "column 'prediction' holds 'no', 'yes'" in str(error.value)
        assert not {*error.value.periods} - {*left}
        days = [GOOD if i == at else each for i, each in enumerate(days)]
    assert fg.monitor(dict(zip(names, days, strict=True)), asked(RATIO)).periods == tuple(names)


def test_a_positive_value_in_each_way_of_writing_is_meant():
    both = {"positive": [1, "yes"]}
    days = [day([0, 1], [0, 1], question=QUESTION | both), day([0, 1, "no", "yes"], [0, 1])]
    days[1] = day([0, 1, "no", "yes"], [0, 1], question=QUESTION | both)
    made = fg.monitor(dict(zip(day_names(2), days, strict=True)), asked(RATIO) | both)
    assert made.periods == tuple(day_names(2))


@pytest.mark.parametrize("missing", [day([None], [0, 1]), day([None], [None])])
def test_values_of_a_period_are_known_from_periods_that_have_some(missing):
    """Beside a night without labels a day in words was stored in place of its counts."""
    days = dict(zip(day_names(4), [GOOD, GOOD, WORDS, missing], strict=True))
    with pytest.raises(ValuesError) as error:
        fg.monitor(days, asked(RATIO) | {"monitor": {"rules": [RATIO], "labels": "later"}})
    assert error.value.periods == {day_names(4)[2]}


@pytest.mark.parametrize(
    "days",
    [
        [GOOD, day([0, 1], [0])],
        [day([0], [0]), GOOD, day([1], [1])],
        [GOOD, day(["0", "1"], ["0", "1"]), day([False, True], [False, True])],
        [GOOD, day([None], [0, 1])],
    ],
    ids=["none is selected", "one value first", "other types", "no labels"],
)
def test_the_same_values_are_no_other_coding(days):
    report = fg.monitor(dict(zip(day_names(len(days)), days, strict=True)), asked(RATIO))
    assert not [e for e in report.findings if e.problem is HistoryProblem.ONE_VALUE]


def approvals(women: int, *others: str) -> fg.Cube:
    """Return the counts of a day on which so many of 100 women, and 48 of 120 men, are a Y."""
    said = ["Y"] * women + ["N"] * (100 - women) + ["Y"] * 48 + ["N"] * 72 + list(others)
    rows = {"sex": ["F"] * 100 + ["M"] * (120 + len(others)), "prediction": said}
    return fg.count(pd.DataFrame(rows), **ESCALATED)


ESCALATED = {"prediction": "prediction", "positive": ["Y", "escalate"], "sensitive": "sex"}


@pytest.mark.parametrize("asks", ["", "largest", "baseline"])
def test_a_rare_positive_value_is_in_some_periods_alone(asks: str, tmp_path: Path) -> None:
    """The largest group, a baseline and the parts of a change needed it in their own periods."""
    days = dict.fromkeys(day_names(30), approvals(40))
    days |= dict.fromkeys(day_names(16)[8:], approvals(10))
    question = ESCALATED | ({"reference": "largest"} if asks == "largest" else {})
    approvals(40).save(held := str(tmp_path / "held.cube.json"))
    around = {"within": 0.2, "of": held} if asks == "baseline" else {"at_least": 0.8}
    spec = question | {"monitor": {"rules": [{"metric": "selection_rate.ratio", **around}]}}
    with pytest.raises((DataError, SpecError), match="has no value 'escalate'"):
        fg.monitor(days, spec)
    days["2026-01-29"] = approvals(40, "escalate")
    (alarmed,) = fg.monitor(days, spec).alarms
    assert alarmed.alarm is not None
    assert alarmed.alarm.since == "2026-01-09"
    parts = alarmed.alarm.decomposition
    assert parts is not None
    assert parts.treatment == pytest.approx(-0.3)


def test_values_without_a_positive_one_from_the_first_period_on_are_named():
    """Of a selection rate of 0 in every group a difference passes."""
    days = dict.fromkeys(day_names(2), day([0, 1], ["0", "1 "]))
    report = fg.monitor(days, asked({"metric": "selection_rate.difference", "at_least": -0.5}))
    found = [each for each in report.findings if each.problem is HistoryProblem.ONE_VALUE]
    assert [(each.column, each.value) for each in found] == [("prediction", None)]
    assert "have a value in prediction have no positive value" in " ".join(str(report).split())
    assert report.exit_code == 3


def test_a_positive_value_by_default_is_no_other_coding():
    question = {key: QUESTION[key] for key in ("label", "prediction", "sensitive")}
    days = {
        "2026-01-01": day([0, 1], [0, 1], question=question),
        "2026-01-02": day([0], [0], question=question),
    }
    spec = question | {"monitor": {"rules": [RATIO]}}
    assert fg.monitor(days, spec).periods == tuple(days)
    days["2026-01-03"] = day(["no", "yes"], ["no", "yes"], question=question)
    with pytest.raises(ValuesError, match="2026-01-03"):
        fg.monitor(days, spec)


def test_numbers_that_are_predicted_have_no_coding():
    question = QUESTION | {"task": "regression"}
    del question["positive"]
    days = {
        name: day([i, i + 0.5], [i + 0.25, i + 1], question=question)
        for i, name in enumerate(day_names(3))
    }
    rule = {"metric": "mean_error.difference", "between": [-1, 1]}
    report = fg.monitor(days, question | {"monitor": {"rules": [rule]}})
    assert report.periods == tuple(days)


def shifted_days(kinds: list[str]) -> dict[str, fg.Cube]:
    """Return days on which few women are selected later; decisions are of each type in turn."""
    draw, question = np.random.default_rng(0), QUESTION | {"strata": "branch"}
    days = {}
    for i, name in enumerate(day_names(14)):
        rows = pd.DataFrame(
            {"sex": draw.choice(["F", "M"], 300), "branch": draw.choice([*"ab"], 300)}
        )
        chance = np.where((rows.sex == "F") & (i > 5), 0.1, 0.5)
        decided = pd.Series((draw.random(300) < chance).astype(int)).astype(kinds[i % len(kinds)])
        label = pd.Series(draw.integers(0, 2, 300)).astype(kinds[(i + 1) % len(kinds)])
        days[name] = fg.count(rows.assign(prediction=decided, label=label), **question)
    return days


@pytest.mark.parametrize(
    "kinds", [["int", "bool"], ["str", "bool"], ["float", "str", "bool", "int"]], ids="-".join
)
def test_an_outcome_is_the_same_however_each_period_writes_it(kinds):
    """Beside periods of 1, those of True made an alarm the error that "1" is ambiguous."""
    spec = asked({"metric": "selection_rate.difference", "between": [-0.05, 0.05]})
    spec |= {"strata": "branch"}
    expected, found = (fg.monitor(shifted_days(each), spec) for each in (["int"], kinds))
    assert expected.alarms
    assert expected.alarms[0].alarm.decomposition is not None
    assert found.comparisons == expected.comparisons


@pytest.mark.parametrize("written", [[False, True], ["0", "1"], ["False", "True"], [0.0, 1.0]])
def test_a_day_with_a_third_decision_has_no_text_of_another_day(written):
    """It is resolved beside the values of all days: there "1" was ambiguous beside True."""
    unlabelled = day([None], [0, 1, -1])
    days = dict(zip(day_names(4), [GOOD, day([0, 1], written), GOOD, unlabelled], strict=True))
    rule = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
    report = fg.monitor(days, asked(rule, labels="later"))
    assert [point.rate_group for point in report.comparisons[0].points][-1] == pytest.approx(1 / 3)
