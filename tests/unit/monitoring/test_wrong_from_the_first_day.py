"""What no comparison with earlier periods could show, and an audit of any one night warns of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg

DAYS = day_names(20)
WORDS = QUESTION | {"positive": "repaid"}
RULE = {"metric": "selection_rate.difference", "between": [-0.9, 0.9]}


def history(change, question=WORDS, days=DAYS, **more) -> dict[str, fg.Cube]:
    """Return the counts of days, whose rows are changed, each with the number of its day."""
    counts = {}
    for t, day in enumerate(days):
        rng = np.random.default_rng(t)
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], 400)})
        for column in ("label", "prediction"):
            rows[column] = rng.choice(["repaid", "default"], 400)
        counts[day] = fg.count(change(rows, t), **question, **more)
    return counts


def some(column, value, other, first=0, share=7):
    """Return a change of every so manieth row of a value into another one, from a day on."""

    def change(rows, day):
        chosen = (rows[column] == value) & (rows.index % share == 0) & (day >= first)
        return rows.assign(**{column: rows[column].mask(chosen, other)})

    return change


def found_in(counts, **more) -> list[tuple[str | None, ...]]:
    found = fg.monitor_doctor(counts, WORDS | asked(RULE) | {"positive": "repaid"} | more).findings
    return [(e.problem.value, e.column, e.value, e.other, e.period, e.last) for e in found]


@pytest.mark.parametrize("first", [0, 12])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("prediction", "repaid", "approved"), ("unclear outcome", "prediction", "approved", None)),
        (("prediction", "repaid", "manual_review"),
         ("no outcome", "prediction", "manual_review", None)),
        (("prediction", "repaid", "re-paid"), ("unclear outcome", "prediction", "re-paid", None)),
        (("sex", "F", "Female"), ("spelling", "sex", "Female", "F")),
        (("sex", "F", "Fem."), ("spelling", "sex", "Fem.", "F")),
    ],
)  # fmt: skip
def test_a_value_that_an_audit_warns_of_is_found_on_every_night(change, expected, first) -> None:
    counts = history(some(*change, first=first))
    assert found_in(counts) == [(*expected, DAYS[first], DAYS[-1])]
    report = fg.monitor(counts, WORDS | asked(RULE) | {"positive": "repaid"})
    (each,) = report.concerning(DAYS[-1])
    assert "add the period" in each.says
    (alone,) = found_in({DAYS[first]: counts[DAYS[first]]})  # the first run names it, too
    assert alone == (*expected, DAYS[first], DAYS[first])


@pytest.mark.parametrize("bad", [(1,), (1, 2, 3), (0, 1, 2), (2, 3, 4), (5, 6, 7), (9, 10, 11)])
def test_a_slip_on_some_of_the_first_days_is_named_and_no_good_day_is(bad) -> None:
    """The days without the misspelt value were blamed for its absence."""

    def spelt(rows, day):
        rows = rows.assign(sex=rows["sex"].map({"F": "Female", "M": "Male"}))
        half = (rows["sex"] == "Female") & (rows.index % 2 == 0) & (day in bad)
        return rows.assign(sex=rows["sex"].mask(half, "Femal"))

    expected = ("spelling", "sex", "Femal", "Female", DAYS[bad[0]], DAYS[bad[-1]])
    assert found_in(history(spelt)) == [expected]


@pytest.mark.parametrize("rare", [0.5, 0.02])
def test_two_groups_that_differ_by_a_letter_are_two_where_both_are_there_each_day(rare) -> None:
    def of(rows, day):
        names = np.where(np.random.default_rng(day).random(len(rows)) < rare, "Yemen", "Yemeni")
        return rows.assign(sex=names)

    assert found_in(history(of)) == []


@pytest.mark.parametrize(("value", "found"), [("fully repaid", 1), ("not repaid", 0)])
def test_other_words_for_the_favourable_decision_are_found_without_a_label(value, found) -> None:
    """An audit of any one night withheld its pass, and the monitor was silent for all of them."""
    question = {name: each for name, each in WORDS.items() if name != "label"}
    counts = history(some("prediction", "repaid", value), question)
    report = fg.monitor(counts, question | {"monitor": {"rules": [RULE]}})
    assert [each.problem.value for each in report.findings] == ["unclear outcome"] * found


def test_a_first_day_without_labels_may_have_several_favourable_decisions() -> None:
    """It was refused: the label column had no value that could be the same."""
    decisions = np.random.default_rng(1).choice(["pay", "part", "deny"], 600).tolist()
    rows = pd.DataFrame({"sex": ["F", "M"] * 300, "label": None, "prediction": decisions})
    several = WORDS | {"positive": ["pay", "part"]}
    day = {DAYS[0]: fg.count(rows, **several)}
    report = fg.monitor(day, several | asked(RULE, labels="later") | {"positive": ["pay", "part"]})
    assert {each.state.value for each in report.comparisons} == {"no alarm"}


def test_labels_that_come_later_do_not_hide_a_decision_that_they_never_have() -> None:
    def late(rows, day):
        rows = some("prediction", "repaid", "approved")(rows, day)
        return rows.assign(label=None) if day > 16 else rows

    later = WORDS | asked(RULE, labels="later", labels_within=5) | {"positive": "repaid"}
    found = fg.monitor_doctor(history(late), later).findings
    assert [(e.value, e.period, e.last) for e in found] == [("approved", DAYS[0], DAYS[-1])]


@pytest.mark.parametrize(
    "change",
    [
        some("prediction", "default", "declined"),  # a plain refusal
        some("prediction", "default", "late", first=30),
        lambda rows, _: some("label", "default", "late")(
            some("prediction", "default", "late")(rows, 0), 0),  # an outcome of the label
        lambda rows, _: rows.assign(sex=rows["sex"].replace({"F": "Norfolk", "M": "Suffolk"})),
        lambda rows, t: some("label", "default", "late", share=200)(
            some("prediction", "default", "late", share=9)(rows, t), t)
    ],
)  # fmt: skip
def test_outcomes_and_groups_of_their_own_are_no_finding(change) -> None:
    assert found_in(history(change)) == []


def test_scores_and_numbers_are_no_outcomes_that_the_label_lacks() -> None:
    rng = np.random.default_rng(1)
    scored = {k: v for k, v in QUESTION.items() if k != "prediction"}
    scored |= {"score": "score", "threshold": 0.5}
    counts, numbers = {}, {}
    amounts = {k: v for k, v in QUESTION.items() if k != "positive"} | {"task": "regression"}
    for day in DAYS:
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], 400), "score": rng.random(400)})
        rows["label"] = rng.integers(0, 2, 400)
        counts[day] = fg.count(rows, **scored)
        both = rows.assign(label=rng.normal(size=400), prediction=rng.normal(size=400))
        numbers[day] = fg.count(both, **amounts)
    assert not fg.monitor_doctor(counts, scored | {"monitor": {"rules": [RULE]}}).findings
    error = {"metric": "mean_error.difference", "between": [-9, 9]}
    assert not fg.monitor_doctor(numbers, amounts | {"monitor": {"rules": [error]}}).findings


def test_groups_that_a_recoding_names_are_no_spellings_of_each_other() -> None:
    """To name M and Mixed is to state that they are two; A and AB are two blood groups anyway."""

    def of(*names):
        return lambda rows, _: rows.assign(sex=np.array(names)[rows.index % len(names)])

    mixed = of("M", "Mixed", "F")
    assert found_in(history(mixed))[0][:4] == ("spelling", "sex", "Mixed", "M")
    recode = {"sex": {"M": ["M"], "Mixed": ["Mixed"]}}
    assert found_in(history(mixed), recode=recode) == []
    assert found_in(history(mixed, recode=recode), recode=recode) == []
    assert found_in(history(of("A", "AB", "O"))) == []


def test_a_new_decision_stays_a_finding_where_no_label_shows_that_it_is_none() -> None:
    """It was new on one night, though its rows count as unfavourable on all nights after it."""
    alone = {k: v for k, v in WORDS.items() if k != "label"}
    counts = history(some("prediction", "repaid", "override", first=12, share=15), alone)
    found = fg.monitor_doctor(counts, alone | {"monitor": {"rules": [RULE]}}).findings
    assert [(e.problem.value, e.value, e.period, e.last) for e in found] == [
        ("new value", "override", DAYS[12], DAYS[-1])
    ]


def test_a_share_is_compared_with_that_of_earlier_periods_and_not_called_usual() -> None:
    def divers(rows, day):
        return some("sex", "F", "Divers", share=150 if day < 15 else 12)(rows, day)

    found = fg.monitor_doctor(history(divers, days=day_names(40)), WORDS | asked(RULE)
                              | {"positive": "repaid"}).findings  # fmt: skip
    (share,) = [each for each in found if each.problem.value == "group share"]
    assert share.value == "Divers"
    assert (
        'with a value in sex have "Divers", against 0.3% in the earlier periods that are compared.'
        in share.says
    )


@pytest.mark.parametrize("column", ["label", "prediction"])
def test_no_positive_value_is_stated_of_labels_as_of_predictions(column) -> None:
    counts = history(lambda rows, t: rows.replace({column: {"repaid": "ok"}}) if t > 12 else rows)
    rules = [RULE, {"metric": "true_positive_rate.difference", "between": [-0.9, 0.9]}]
    found = fg.monitor_doctor(counts, WORDS | asked(*rules) | {"positive": "repaid"}).findings
    (none,) = [each for each in found if each.problem.value == "no positive value"]
    assert (
        f'value in {column}, and some have "ok", which is not one of its known values' in none.says
    )


def test_values_of_one_stated_group_are_no_spellings_of_each_other() -> None:
    sets = WORDS | {"sensitive": {"column": "sex", "values": [["F", "Female"], ["M"]]}}
    counts = history(some("sex", "F", "Female"), sets)
    assert fg.monitor_doctor(counts, sets | {"monitor": {"rules": [RULE]}}).findings == ()
    counts = history(some("sex", "F", "Female"))
    assert len(fg.monitor_doctor(counts, WORDS | {"monitor": {"rules": [RULE]}}).findings) == 1
