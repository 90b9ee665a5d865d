"""The values of label and prediction in every period: another coding is no quiet day."""

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, day_names

import fairgauge as fg
from fairgauge.errors import ValuesError


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


@pytest.mark.parametrize("days", [
    [GOOD, day([0, 1], [0])],
    [day([0], [0]), GOOD, day([1], [1])],
    [GOOD, day(["0", "1"], ["0", "1"]), day([False, True], [False, True])],
    [GOOD, day([None], [0, 1])],
], ids=["none is selected", "one value first", "other types", "no labels"])  # fmt: skip
def test_the_same_values_are_no_other_coding(days):
    report = fg.monitor(dict(zip(day_names(len(days)), days, strict=True)), asked(RATIO))
    assert "one_decision:prediction" not in {each.other for each in report.findings}


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
    assert found.comparisons == expected.comparisons
