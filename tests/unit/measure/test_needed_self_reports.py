"""Planning how many people to ask for their group: promised power, both assumptions, refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.catalogue.lookup import find_metric
from fairgauge.cli import main
from fairgauge.measure.measure_unrecorded import estimated_groups
from fairgauge.resolve.resolution import resolve
from fairgauge.stats.intervals import critical

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}
WITHIN = "selection_rate.difference >= -0.05"


def people(rows, seed, rates=(0.33, 0.55, 0.5), known=0):
    """Draw people, and ask some of them for their group."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.2, 0.6, 0.2], rows)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    answers = np.full(rows, None, dtype=object)
    asked = rng.choice(rows, known, replace=False)
    answers[asked] = np.array(list(GROUPS), dtype=object)[group[asked]]
    chosen = (rng.random(rows) < np.array(rates)[group]).astype(int)
    columns = dict(zip(GROUPS.values(), p.T, strict=True))
    return pl.DataFrame({"chosen": chosen, "answer": answers.tolist(), **columns})


def planned(data, rules=(WITHIN,), reference="White", feature=None, **more):
    return fg.plan(
        data, prediction="chosen", positive=1, reference={"race": reference}, rules=list(rules),
        sensitive={"race": feature or fg.probabilities(GROUPS)}, **more,
    )  # fmt: skip


ASKED = fg.probabilities(GROUPS, known="answer", known_drawn="random")


def of(plan, group="Black"):
    return {str(each.expects): each for each in plan.self_reports if each.group == group}


def decides(data):
    """Return whether the answers decide the rule, by the interval that an audit has."""
    cube = fg.count(data, prediction="chosen", positive=1, sensitive={"race": ASKED})
    (counts,) = estimated_groups(cube, cube.asked)
    (outcome,) = resolve(cube, cube.asked).outcomes
    rate = counts.rate(find_metric("selection_rate.difference").of, outcome)
    low, high = rate.validated.contrast("difference", 0, 1, critical(0.95))
    return high < -0.05 or low >= -0.05


def test_so_many_answers_decide_as_often_as_is_promised_and_half_of_them_do_not():
    needed = [
        of(planned(people(4_000, seed)))["likelihood"].self_reports for seed in range(100, 107)
    ]
    answers = int(np.median(needed))
    enough = np.mean([decides(people(4_000, s, known=answers)) for s in range(50)])
    half = np.mean([decides(people(4_000, s, known=answers // 2)) for s in range(50)])
    assert enough >= 0.8 - 2.6 * math.sqrt(0.16 / 50)
    assert half < 0.72


def test_an_assumption_is_planned_for_until_people_were_asked():
    data = people(4_000, 1, known=600)
    before, after = of(planned(data)), of(planned(data, feature=ASKED))
    assert set(before) == {"likelihood"}
    assert before["likelihood"].expected < -0.05
    assert all(each.self_reports <= each.at_most for each in (*before.values(), *after.values()))
    assert set(after) == {"validated"}
    report = fg.audit(
        data, prediction="chosen", positive=1, reference={"race": "White"},
        sensitive={"race": ASKED}, metrics="selection_rate.difference",
    )  # fmt: skip
    value = report["selection_rate.difference", "race", "Black"].value
    assert after["validated"].expected == pytest.approx(value)


def test_probabilities_that_show_nothing_save_no_answers():
    """Once some people were asked, whose answers show it, or where all have the same."""
    data, rules = people(4_000, 2, known=800), ["selection_rate.difference >= -0.1"]
    order = np.random.default_rng(1).permutation(len(data))
    shuffled = data.with_columns(*(data[column][order] for column in GROUPS.values()))
    nothing = of(planned(shuffled, rules, feature=ASKED))["validated"]
    assert nothing.self_reports > 0.9 * nothing.at_most
    right = of(planned(data, rules, feature=ASKED))["validated"]
    assert right.self_reports < 0.75 * right.at_most
    same = data.with_columns(
        *(pl.lit(p).alias(c) for p, c in zip((0.2, 0.6, 0.2), GROUPS.values(), strict=True))
    )
    alike = of(planned(same, rules))
    assert alike["likelihood"].self_reports > 0.95 * alike["likelihood"].at_most


def test_rules_of_rates_and_of_both_sides_are_planned():
    plan = planned(
        people(4_000, 3), ["selection_rate >= 0.2", "-0.4 <= selection_rate.difference <= 0.1"]
    )
    rate, both = (each for each in plan.self_reports if each.group == "Black"
                  )  # fmt: skip
    assert rate.reference is None
    assert 0.2 < rate.expected < 0.5
    assert both.reference == "White"
    assert all(20 < each.self_reports < each.at_most < 4_000 for each in (rate, both))


def test_a_limit_at_the_estimate_is_never_decided():
    data = people(2_000, 4)
    value = of(planned(data))["likelihood"].expected
    each = of(planned(data, [{"metric": "selection_rate.difference", "at_least": value}]))
    assert math.isinf(each["likelihood"].self_reports)
    assert math.isinf(each["likelihood"].at_most)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rules": []}, "rules: name a rule that people's own answers are to decide"),
        ({"rules": ["f1.difference >= -0.1"], "label": "chosen"}, r"not for 'f1.difference >= -0"),
        ({"cluster": "answer"}, "cluster: self-reports are planned for rows that are independent"),
    ],
)
def test_what_is_not_planned_is_refused_by_name(more, message):
    with pytest.raises(fg.SpecError, match=message):
        planned(people(500, 5), **more)


def test_recorded_features_beside_them_are_planned_as_alone():
    data = people(3_000, 6).with_columns(
        sex=pl.Series(np.random.default_rng(1).choice(["F", "M"], 3_000))
    )
    asked = {"prediction": "chosen", "positive": 1, "rules": [WITHIN]}
    both = fg.plan(data, sensitive=["sex", {"race": fg.probabilities(GROUPS)}], **asked)
    assert both.smallest == fg.plan(data, sensitive="sex", **asked).smallest
    assert {each.feature for each in both.self_reports} == {"race"}


def test_the_command_states_how_many_to_ask_and_what_to_do_with_the_answers(tmp_path):
    people(4_000, 1).write_csv(tmp_path / "rows.csv")
    feature = f"race: {', '.join(f'{group}={column}' for group, column in GROUPS.items())}"
    arguments = [
        "plan", str(tmp_path / "rows.csv"), "--prediction", "chosen", "--positive", "1",
        "--probabilities", feature, "--reference", "race=White", "--rule", WITHIN,
        "-o", str(tmp_path / "plan.json"),
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    saved = json.loads((tmp_path / "plan.json").read_text())
    loaded = fg.load(tmp_path / "plan.json")
    assert len(saved["self_reports"]) == len(loaded.self_reports) == 2
    text = " ".join(str(loaded).split())
    fewest = of(loaded)["likelihood"].self_reports
    assert f"{fewest:,.0f} people if the outcome does not depend on the probabilities" in text
    assert "known, with known_drawn = random" in text
    assert "smallest disparity" not in text


def few_of_a_group():
    """Draw people of four groups, one of which hardly anybody who answers is of."""
    data = people(6_000, 7, known=600)
    some = pl.col("answer") == "other"
    first = (some & (some.cast(int).cum_sum() <= 2)) | ~some
    return data.with_columns(pl.when(first).then("answer"))


def test_answers_are_used_for_each_group_that_has_enough_and_it_is_stated_for_which_not():
    """One group of few answers once discarded the answers of all, without a word."""
    data = few_of_a_group()
    plan = planned(data, feature=ASKED)
    assert set(of(plan, "Black")) == {"validated"}
    assert set(of(plan, "other")) == {"likelihood"}
    report = fg.audit(
        data, prediction="chosen", positive=1, reference={"race": "White"},
        sensitive={"race": ASKED}, metrics="selection_rate.difference",
    )  # fmt: skip
    value = report["selection_rate.difference", "race", "Black"].value
    assert of(plan, "Black")["validated"].expected == pytest.approx(value)
    answered = data["answer"].count()
    assert {each.answered for each in plan.self_reports} == {answered}
    text = " ".join(str(plan).split())
    asked = f"What the {answered} people who were asked already show of people with race “other”"
    assert asked in text
    assert "so that their answers are not used for it" in text
    every = planned(people(6_000, 7, known=600), feature=ASKED)
    assert "not used" not in " ".join(str(every).split())


def test_the_headline_of_people_to_ask_follows_from_all_rows():
    data = people(4_000, 1)
    rule = {"metric": "selection_rate.difference", "at_least": -0.02, "groups": ["Black"]}
    plan = planned(data, [rule])
    enough = of(plan)["likelihood"].self_reports
    assert plan.brief().headline.text == (
        f"If the outcome does not depend on the probabilities within a group, the answers of "
        f"{enough:,.0f} people would probably decide every rule"
    )
    value = of(plan)["likelihood"].expected
    undecided = planned(data, [{**rule, "at_least": value}])
    assert math.isinf(of(undecided)["likelihood"].self_reports)
    assert "of all people of the table would probably not decide a rule" in (
        undecided.brief().headline.text
    )


def test_people_to_ask_are_stated_in_all_and_as_more_than_those_who_were_asked():
    data = people(4_000, 8, rates=(0.40, 0.55, 0.5), known=300)
    rule = {"metric": "selection_rate.difference", "at_least": -0.03, "groups": ["Black"]}
    needed = of(plan := planned(data, [rule], feature=ASKED))["validated"].self_reports
    assert needed > 300
    assert f"the answers of {needed:,.0f} people in all ({needed - 300:,.0f} more) would" in (
        plan.brief().headline.text
    )


def audited(data, feature=ASKED, **more):
    return fg.audit(
        data, prediction="chosen", positive=1, reference={"race": "White"},
        sensitive={"race": feature}, metrics="selection_rate.difference", **more,
    )  # fmt: skip


def recorded(data):
    return fg.audit(
        data.rename({"answer": "race"}), prediction="chosen", positive=1,
        reference={"race": "White"}, sensitive="race", metrics="selection_rate.difference",
    )  # fmt: skip


def steps(report):
    return " ".join(each.text for each in report.brief().steps)


def test_an_audit_states_its_goal_and_leaves_the_goal_of_rules_to_the_plan():
    """It once gave a number of its own beside that of the plan, from other formulas."""
    data = people(4_000, 8, rates=(0.45, 0.5, 0.5), known=300)
    alone = steps(audited(data))
    assert "people in all, 300 of whom were asked already, for their race" in alone
    assert "to within 5 of 100" in alone
    assert "fairgauge plan" not in alone
    ruled = steps(audited(data, rules=["selection_rate.difference >= -0.01"]))
    assert "How many decide each rule: fairgauge plan" in ruled
    assert "of 100" not in ruled


def test_so_many_answers_as_an_audit_states_leave_5_points_to_each_side():
    data = people(6_000, 9)
    report = audited(data, fg.probabilities(GROUPS))
    (note,) = (each for each in report.diagnostics if each.code == "group_not_recorded")
    asked = people(6_000, 9, known=note["answers"]).drop_nulls("answer")
    known = recorded(asked)
    low, high = known["selection_rate.difference", "race", note["shown"]].interval
    assert (high - low) / 2 == pytest.approx(0.05, abs=0.006)
    assert f"the difference of {note['shown']} to within 5 of 100" in note.message


def test_a_headline_from_probabilities_says_that_it_is_estimated():
    data = people(4_000, 1, known=600)
    by = audited(data, fg.probabilities(GROUPS)).brief().headline.text
    bracket = (
        "Estimated from probabilities, if these are independent of the outcome within a group: "
    )
    assert by.startswith(bracket)
    failed = audited(data, fg.probabilities(GROUPS), rules=["selection_rate.difference >= -0.01"])
    assert failed.brief().headline.text.startswith(bracket)
    alone = audited(data, fg.probabilities(GROUPS, assume="given_group")).brief().headline.text
    assert "independent of the outcome within a group: " in alone
    corrected = audited(data).brief().headline.text
    assert corrected.startswith("Estimated from probabilities, corrected by answers: ")
    assert "stimated" not in recorded(data.drop_nulls("answer")).brief().headline.text


def test_disagreeing_probabilities_are_stated_as_a_test_at_its_level():
    data = people(4_000, 1, known=600)
    order = np.random.default_rng(1).permutation(len(data))
    wrong = data.with_columns(*(data[column][order] for column in GROUPS.values()))
    (note,) = (each for each in audited(wrong).diagnostics if each.code == "calibration")
    assert "by more than sampling variation would produce (p\u00a0<\u00a00.001, " in note.message
    assert "tested at 5%): they may be wrong, or those who report may differ" in note.message
