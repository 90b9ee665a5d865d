"""The brief of a monitor: which limit was left since when, and how many people that concerns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import TimeChart, Tone
from fairgauge.render.document import document as monitor_document

WORDS: dict[str, Any] = {
    "noun": "applicants", "positive": "approved", "negative": "refused",
    "groups": {"sex": {"F": "women", "M": "men"}},
}  # fmt: skip
RULES: dict[str, dict[str, Any]] = {
    "ratio": RATIO,
    "difference": {"metric": "selection_rate.difference", "at_least": -0.05, "groups": "F"},
    "rate": {"metric": "selection_rate", "at_least": 0.35, "groups": "F"},
}


def monitored(counts: dict[str, fg.Cube], *rules: Any, words: Any = WORDS) -> fg.MonitorReport:
    return fg.monitor(counts, asked(*rules) | {"words": words})


@pytest.mark.parametrize(
    ("rule", "headline"),
    [
        ("ratio", ("Women were approved less than 0.8 times as often as all other applicants from "
         "about 2026-01-26 on")),
        ("difference", ("Women were approved less often than all other applicants, by more than 5 "
         "of 100, from about 2026-01-26 on")),
        ("rate", "Fewer than 35 of 100 women were approved from about 2026-01-26 on"),
    ],
)  # fmt: skip
def test_an_alarm_is_stated_with_its_limit_and_its_beginning(
    shifted: dict[str, fg.Cube], rule: str, headline: str
) -> None:
    made = monitored(shifted, RULES[rule])
    brief = made.brief()
    assert str(brief.headline) == headline
    (alarmed,) = made.alarms
    assert alarmed.alarm is not None
    assert str(brief.verdict[0]) == (
        f"The monitored comparison raised an alarm with the rows of {alarmed.alarm.period}."
    )
    found = str(brief.found[0])
    # of the other side, too, a change of 5 of 1,000 is stated
    counts = ("1,000 women, 385", "176") if "other applicants" in found else ("100 women, 38", "18")
    before, after = counts
    then = f"{after} over 2026-02-03 to 2026-02-09, after the alarm"
    assert f"Of {before} were approved before the change and {then}" in found
    gaps = re.search(
        r"applicants, (\d+) and (\d+): (\d+) fewer before, (\d+) fewer after\.$", found
    )
    assert (gaps is not None) is ("other applicants" in found)
    if gaps is not None:
        old, new, gap_before, gap_after = map(int, gaps.groups())
        assert (old - gap_before, new - gap_after) == (int(before.split()[-1]), int(after))
    assert "at most 5 of 100 such monitors raise an alarm within 365 days" in str(
        brief.certainty[0]
    )
    assert "overstate it" not in str(brief)  # these periods the alarm did not choose
    assert "Over 2026-02-03 to 2026-02-09, after the alarm" in str(brief.certainty[1])
    assert "(strata)" in str(brief.steps[0])


def test_counts_and_the_parts_of_a_change_each_state_their_periods() -> None:
    """26 of 100 on the last day stood beside the change since the first day, without a date."""
    draw = np.random.default_rng(1)
    counts = {}
    for i, name in enumerate(day_names(20)):
        rows = pl.DataFrame(
            {"sex": draw.choice(["F", "M"], 400), "branch": draw.choice([*"ab"], 400)}
        )
        chance = np.where((rows["sex"] == "F").to_numpy() & (i >= 12), 0.2 if i < 16 else 0.1, 0.5)
        rows = rows.with_columns(prediction=draw.random(400) < chance, label=draw.random(400) < 0.5)
        counts[name] = fg.count(rows, **QUESTION, strata="branch")
    made = fg.monitor(counts, asked(RATIO) | {"words": WORDS, "strata": "branch"})
    (alarm,) = (each.alarm for each in made.alarms)
    assert alarm is not None
    assert alarm.now is not None
    of_people, _, parts = str(made.brief().found[0]).partition(". ")
    assert f"over {alarm.now.first} to {alarm.now.last}, after the alarm" in of_people
    assert alarm.now.first != alarm.after.first
    assert parts.startswith(
        f"Over {alarm.after.first} to {alarm.after.last}, when the change was clearest, the "
        "difference of the rates changed by "
    )


@pytest.mark.parametrize("selected", [2, 75])
def test_who_is_named_left_the_limit_to_that_side(selected: int) -> None:
    counts = {name: cube(40) for name in day_names(20)}
    counts |= {name: cube(selected) for name in day_names(40)[20:]}
    rule = {"metric": "selection_rate.ratio", "between": [0.8, 1.25], "groups": "F"}
    (alarmed,) = (made := monitored(counts, rule)).alarms
    side = "less than 0.8" if selected < 40 else "more than 1.25"
    assert f"Women were approved {side} times as often" in str(made.brief().headline)
    assert alarmed.alarm is not None
    assert alarmed.alarm.after.value is not None
    assert (alarmed.alarm.after.value < 0.8) is (selected < 40)
    stated = re.match(r"Of 100 women, (\d+) were approved before the change and (\d+) ",
                      str(made.brief().found[0]))  # fmt: skip
    assert stated is not None
    assert list(map(int, stated.groups())) == [40, selected]


def test_without_an_alarm_nothing_is_called_equal() -> None:
    brief = monitored(days(30, 99, 0.4), RATIO).brief()
    assert str(brief.headline) == "No alarm in 30 days"
    assert str(brief.verdict[0]) == "The monitored comparison raised no alarm."
    rates, equal = map(str, brief.found)
    assert re.fullmatch(
        r"On 2026-01-30: of 100 women, \d+ were approved; of 100 other applicants, \d+\.", rates
    )
    assert equal.startswith("Over all days so far the data do not show who is worse off")
    values, so_far, evidence, promise, interval = map(str, brief.certainty)
    often = "women were approved between 0.\\d+ and 1.\\d+ times as often as all other applicants"
    assert re.fullmatch(rf"On 2026-01-30 {often} \(95% CI\)\.", values)
    assert re.fullmatch(rf"Over all days so far {often} \(95% CI, for all days .*\)\.", so_far)
    assert interval.startswith("95% CI (confidence interval): 95 of 100 such ranges contain")
    assert (
        evidence == "How near an alarm is: the evidence has reached less than 1% of what one needs."
    )
    assert "at most 5 of 100 such monitors raise an alarm within" in promise
    assert str(brief.limits[0]).startswith("That rates are equal: a small or recent change")


def test_who_is_worse_off_without_an_alarm_is_stated_of_two_groups() -> None:
    """Whichever of the two it is; small groups are counted."""
    rule = {"metric": "selection_rate.ratio", "between": [0.5, 2]}
    for women, men, size in [(40, 120, 200), (60, 80, 200), (16, 12, 50)]:
        counts = {name: cube(women, others=men, size=size) for name in day_names(30)}
        report = monitored(counts, rule)
        assert report.state == "no alarm"
        shown = dict(
            re.findall(r"of (\d+) (?:wo)?men, (\d+)", str(report.brief().found[0]).lower())
        )
        assert size >= 100 or shown == {"100": "16", "50": "12"}
        lower = women / 100 < men / size
        subject = report.comparisons[0].group
        first, other = ("women", "men") if subject == "F" else ("men", "women")
        often = "less" if lower == (subject == "F") else "more"
        assert str(report.brief().found[1]) == (
            "Over all days so far the data show a difference: "
            f"{first} are approved {often} often than {other}."
        )


JARGON = re.compile(r"confidence sequence|evidence \d|rate (difference|ratio)|batch| pp\b|\bmix\b")


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("after", [0.22, 0.4])
def test_the_first_page_needs_no_statistics(name: str, after: float) -> None:
    """A lawyer read "evidence 3,994" and "the counts hold no mix of cases" and understood neither.

    What is printed is what the comparison holds: its intervals of the last period, rounded.
    """
    made = monitored(days(40, 25, after), RULES[name])
    brief = made.brief()
    assert bool(made.alarms) is (after == 0.22)
    sentences = [brief.headline, *brief.verdict, *(e for _, part in brief.answers for e in part)]
    assert [str(each) for each in sentences if JARGON.search(str(each))] == []
    (compared,) = made.comparisons
    shown = compared.alarm.now if compared.alarm is not None else compared.last
    assert shown is not None
    assert shown.low is not None
    assert shown.high is not None
    (stated,) = (
        str(each)
        for each in brief.certainty
        if re.match("On 20|Over [^ ]* to ", str(each)) and "95% CI)" in str(each)
    )
    ends = re.search(r"between ([\d.]+)( fewer| more)? and ([\d.]+)( fewer| more)?", stated)
    assert ends is not None
    sign = {" fewer": -1, " more": 1, None: 1}
    values = [float(ends[i]) * sign[ends[i + 1] or ends[4]] for i in (1, 3)]
    by = 1 if name == "ratio" else 100
    assert sorted(values) == pytest.approx([by * shown.low, by * shown.high], abs=0.005 * by)


def test_the_comparison_nearest_to_an_alarm_is_the_one_that_is_stated() -> None:
    """Of two rules the one with the more evidence, whichever comes first."""
    near, far = RATIO | {"at_least": 0.95}, RATIO | {"at_least": 0.3}
    for rules in ([near, far], [far, near]):
        report = monitored(days(30, 99, 0.4), *rules)
        first, *_ = report.gravest
        assert (first.low, first.evidence) == (0.95, max(e.evidence for e in report.comparisons))
        found = " ".join(map(str, report.brief().found))
        assert "of 100 other applicants" in found
        assert "Of 2 comparisons this is the one nearest to an alarm." in found


def test_comparisons_of_estimates_and_of_counts_are_ordered_by_their_evidence() -> None:
    near, far = ({"metric": "f1.difference", "at_least": least} for least in (-0.05, -0.6))
    for rules in ([near, far, RATIO], [RATIO, far, near]):
        report = monitored(days(5, 99, 0.4), *rules)
        nearness = [each.nearness for each in report.gravest]
        assert nearness == sorted(nearness, reverse=True)
        found = " ".join(map(str, report.brief().found))
        assert "Of 3 comparisons this is the one nearest to an alarm." in found


def test_a_comparison_with_insufficient_data_is_not_the_one_nearest_to_an_alarm() -> None:
    """A group of a row a day had more evidence than any other, and insufficient data."""

    def of_groups(**rows: tuple[int, int]) -> dict[str, fg.Cube]:
        counts = {group: {"tp": hits, "fn": of - hits} for group, (hits, of) in rows.items()}
        return dict.fromkeys(day_names(15), fg.confusion("sex", counts))

    def stated(counts: dict[str, fg.Cube]) -> list[str]:
        return [
            *map(str, monitored(counts, RATIO | {"groups": ["F", "M", "X", "Y"]}).brief().found)
        ]

    large = {"F": (40, 100), "M": (41, 100)}
    first, *_, last = stated(of_groups(**large, X=(0, 1)))
    assert ": of 100 women, 40 were approved" in first
    assert last == (
        "Of the comparisons with sufficient data (2 of 3) this is the one nearest to an alarm."
    )
    gone = of_groups(**large, Y=(8, 20), X=(0, 1))
    gone["2026-01-15"] = of_groups(**large)["2026-01-01"]
    assert stated(gone)[-1] == (
        "Of the comparisons with sufficient data and a value now (2 of 4) this is the one nearest "
        "to an alarm."
    )
    assert stated(of_groups(F=(40, 100), X=(0, 1), Y=(1, 1)))[-1] == (
        "No other of 3 comparisons has sufficient data."
    )
    assert stated(of_groups(X=(0, 1), Y=(1, 1), F=(0, 1)))[-1] == (
        "None of 3 comparisons has sufficient data."
    )


def test_a_shift_that_has_passed_is_in_the_past() -> None:
    counts = days(80, 0, 0.4) | days(40, 25, 0.22)
    brief = monitored(counts, RATIO).brief()
    assert str(brief.headline).endswith("from about 2026-01-26 to 2026-02-09")
    assert re.search(r"\d+ fewer before, \d+ fewer then\.$", str(brief.found[0]))


def test_what_is_undecided_is_no_pass(shifted: dict[str, fg.Cube]) -> None:
    brief = monitored(shifted, RATIO | {"groups": "X"}, words={}).brief()
    assert "insufficient data" in str(brief.headline)
    assert "Analyst: correct the rules that name X" in str(brief.steps[0])


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_formats_begin_with_the_brief(shifted: dict[str, fg.Cube], format_: str) -> None:
    made = monitored(shifted, RATIO)
    page = re.sub(r"<[^>]+>", "", re.sub(r"\s+", " ", render(made, format_)))
    places = [page.index(str(each)[:60]) for each in (made.brief().headline, made.brief().found[0])]
    assert places == sorted(places)
    assert made.to_dict()["brief"]["headline"]["text"] == str(made.brief().headline)


BOTH_SIDES = [
    {"metric": "selection_rate.difference", "between": [-0.1, 0.1]},
    {"metric": "selection_rate.ratio", "between": [0.8, 1.25]},
    {"metric": "selection_rate.ratio", "at_least": 0.8},
]


@pytest.mark.parametrize("rule", BOTH_SIDES, ids=str)
@pytest.mark.parametrize("selected", [8, 75])
def test_two_groups_compared_with_each_other_are_one_gap(
    rule: dict[str, Any], selected: int
) -> None:
    counts = {name: cube(40 if i < 20 else selected) for i, name in enumerate(day_names(50))}
    made = monitored(counts, rule)
    assert len(made.comparisons) == 1
    brief = made.brief()
    assert str(brief.verdict[0]).startswith("The monitored comparison raised an alarm")
    assert len(made.alarms) == len(brief.found) == 1
    often = "fewer|less" if selected == 8 else "more"
    assert re.match(f"Women were approved ({often}) .*than .*men", str(brief.headline))
    assert re.search(r"Of [0-9,]+ women, .*; of [0-9,]+ men, ", str(brief.found[0]))
    assert "all other applicants" not in str(brief)
    looked_at = list(map(str, brief.looked_at))
    assert any(
        re.match("1 comparison, (wo)?men with (wo)?men, by the rule “", each) for each in looked_at
    )
    assert str(brief.certainty[0]).startswith("If the monitored comparison stays within ")
    now = [str(each) for each in brief.certainty if "after the alarm" in str(each)]
    assert len(now) == 1
    assert re.search("women|men", now[0])
    assert "ALARM: 1 comparison\n" in render(made, "text")
    (drawn,) = monitor_document(made).exhibits
    assert isinstance(drawn, TimeChart)
    assert re.search("often women .* (than|as) men", drawn.caption)
    value = drawn.marks[-1].value
    assert value is not None
    assert (value < (1 if "ratio" in rule["metric"] else 0)) is (selected == 8)


def test_the_method_describes_the_intervals_that_are_drawn(shifted: dict[str, fg.Cube]) -> None:
    text = " ".join(render(monitored(shifted, RATIO), "text", full=True).split())
    assert "The intervals in the charts are of single periods" not in text
    assert "The intervals of single periods (95%) raise no alarm." in text
    assert "The intervals for all periods together are confidence sequences" in text


def test_of_three_groups_none_is_anothers_mirror() -> None:
    counts = {
        name: fg.confusion(
            "sex", {"F": {"tp": 10, "fn": 90}, "M": {"tp": 60, "fn": 40}, "X": {"tp": 50, "fn": 50}}
        )
        for name in day_names(40)
    }
    made = monitored(counts, BOTH_SIDES[0])
    assert len(made.alarms) >= 2
    assert made.comparisons == made.comparisons
    assert str(made.brief().verdict[0]).startswith(f"{len(made.alarms)} of 3 monitored comparisons")


def test_values_that_are_lately_outside_are_stated_where_there_is_no_alarm() -> None:
    """A green tick stood over eleven days of a gap of 15 points, beyond a limit of 10."""
    gap = fg.rule("selection_rate.difference", between=(-0.1, 0.1))
    names = day_names(30)
    late = {name: cube(25 if i >= 26 else 40, others=80) for i, name in enumerate(names)}
    report = monitored(late, gap)
    assert not report.alarms
    raised, outside, *_ = map(str, report.brief().verdict)
    assert raised == "The monitored comparison raised no alarm."
    assert outside == (
        "Women were approved less often than men, by more than 10 of 100, on each of the last 4 "
        f"days with a value ({names[26]} to {names[29]}), which is not yet evidence enough for an "
        "alarm."
    )
    late[names[27]] = fg.confusion("sex", {"M": {"tp": 80, "fn": 120}})  # a day without women
    outside = " ".join(map(str, monitored(late, gap).brief().verdict))
    assert f"of the last 3 days with a value ({names[26]} to {names[29]})" in outside
    late[names[-1]] = cube(40, others=80)
    assert "of the last" not in " ".join(map(str, monitored(late, gap).brief().verdict))


def test_of_classes_each_of_which_is_positive_no_one_stands_for_it() -> None:
    rng = np.random.default_rng(1)
    question = {"label": "grade", "prediction": "given", "sensitive": "sex"}
    counts = {}
    for name in day_names(3):
        grade, given = (rng.choice(list("abc"), 300) for _ in range(2))
        rows = pl.DataFrame({"grade": grade, "given": given, "sex": rng.choice(["F", "M"], 300)})
        counts[name] = fg.count(rows, **question)
    rules = [{"metric": "cohen_kappa.difference", "at_least": -0.9}]
    made = fg.monitor(counts, question | {"monitor": {"rules": rules}})
    assert {each.class_ for each in made.comparisons} == {None}
    assert "stand for" not in str(made.brief())


def test_a_page_whose_last_rows_may_be_wrong_is_not_green() -> None:
    counts = days(20, 20, 0.4)
    assert monitor_document(monitored(counts, RATIO)).tone is Tone.GOOD
    spelt = {"F": {"tp": 20, "fn": 30}, "f": {"tp": 20, "fn": 30}, "M": {"tp": 80, "fn": 120}}
    counts[day_names(21)[20]] = fg.confusion("sex", spelt)
    made = monitored(counts, RATIO)
    assert made.exit_code == 3  # all counts of the day are multiples of ten
    assert monitor_document(made).tone is Tone.UNSURE
    stated = (
        "The rows may be wrong on 2026-01-21, see below: nothing passes until they are corrected."
    )
    assert stated in map(str, made.brief().verdict)
    # the step of what has no value led to good days: the group of the slip has none on these
    assert not any("look at the rows from" in str(step) for step in made.brief().steps)


def test_the_page_names_all_days_of_what_may_be_wrong() -> None:
    """The last of three days with a misspelt group was named alone."""
    counts = days(20, 20, 0.4)
    spelt = {"F": {"tp": 20, "fn": 30}, "f": {"tp": 20, "fn": 30}, "M": {"tp": 80, "fn": 120}}
    doubled = fg.confusion("sex", {"F": {"tp": 40, "fn": 60}, "M": {"tp": 160, "fn": 240}})
    counts |= dict.fromkeys(day_names(23)[20:], fg.confusion("sex", spelt))
    counts[day_names(8)[7]] = doubled  # which concerns no later day
    made = monitored(counts, RATIO)
    stated = [text for text in map(str, made.brief().verdict) if "may be wrong" in text]
    assert stated == [
        (
            "The rows may be wrong on 2026-01-08 and from 2026-01-21 to 2026-01-23, see below: "
            "nothing passes until they are corrected."
        )
    ]


def test_the_page_names_the_days_of_an_alarm_that_may_be_wrong() -> None:
    """With the next period the day with which the alarm began was named no more."""
    counts = days(40, 20, 0.05)
    spelt = {"F": {"tp": 3, "fn": 47}, "f": {"tp": 3, "fn": 47}, "M": {"tp": 80, "fn": 120}}
    counts[day_names(40)[24]] = fg.confusion("sex", spelt)
    made = monitored(counts, RATIO)
    (alarm,) = (each.alarm for each in made.alarms)
    assert alarm.since <= day_names(40)[24]
    wrong = f"The rows may be wrong on {day_names(40)[24]}, see below."
    assert wrong in map(str, made.brief().verdict)


def test_the_page_names_the_day_whose_rows_may_be_wrong_and_not_the_newest() -> None:
    counts = days(20, 20, 0.4)
    absent = day_names(20)[18]
    del counts[absent]
    made = monitored(counts, RATIO)
    assert made.concerning(made.periods[-1])
    stated = [*map(str, made.brief().verdict)]
    assert any(each.startswith(f"The rows may be wrong on {absent}, see below") for each in stated)


def test_a_shift_that_turned_around_has_ended_and_the_other_side_is_stated() -> None:
    """The first shift was stated to go on, at 3.6 times as often."""
    first, then = days(40, 15, 0.1), days(40, 0, 0.9)
    counts = {name: (then if i >= 24 else first)[name] for i, name in enumerate(day_names(40))}
    made = monitored(counts, RATIO | {"at_most": 1.25})
    (alarm,) = (each.alarm for each in made.alarms)
    headline = str(made.brief().headline)
    assert (
        "less than 0.8 times as often as all other applicants from about 2026-01-16 to" in headline
    )
    now = f"over {alarm.now.first} to {alarm.now.last} women were approved more than 1.25 times as"
    assert now in headline
    steps = " ".join(map(str, made.brief().steps))
    assert f"to {alarm.after.last} and from {alarm.now.first} on." in steps


def test_the_page_names_all_days_whose_rows_may_be_wrong() -> None:
    """It named the first of six days."""
    counts = days(20, 20, 0.4)
    absent = day_names(20)[15:19]
    for name in absent:
        del counts[name]
    wrong = f"The rows may be wrong from {absent[0]} to {absent[-1]}, see below"
    stated = [*map(str, monitored(counts, RATIO).brief().verdict)]
    assert f"{wrong}: nothing passes until they are corrected." in stated


def test_the_first_lines_state_how_many_days_rules_on_labels_decided() -> None:
    rows = pl.DataFrame({"sex": ["F", "M"] * 200, "label": [0, 0, 1, 1] * 100})
    rows = rows.with_columns(prediction=pl.Series([0, 0, 1, 1, 1, 1, 0, 0] * 50))
    question = asked()
    question.pop("monitor")
    late = rows.with_columns(label=pl.lit(None, pl.Int64))
    counts = {n: fg.count(late if i > 6 else rows, **question) for i, n in enumerate(day_names(9))}
    recall = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
    made = fg.monitor(counts, asked(recall, labels="later", labels_within=3))
    assert str(made.brief().headline).startswith("No alarm in 9 days")
    decided = "For rules that need labels 2 of 9 days wait."
    assert decided in map(str, made.brief().verdict)


def test_notes_have_their_heading_below_what_may_be_wrong() -> None:
    """They read as further signs that rows may be wrong."""
    counts = days(20, 20, 0.4)
    counts[day_names(22)[21]] = cube(38, others=81)  # after a day that is absent
    lines = str(monitored(counts, RATIO)).splitlines()
    assert lines.index("Rows that may be wrong") < lines.index("Notes")


STRATA_STEP = "name columns that may explain the change (strata)"


@pytest.mark.parametrize(
    ("change", "department", "step"), [(25, False, True), (0, False, False), (25, True, False)]
)
def test_strata_are_asked_for_where_they_could_divide_the_change(
    change: int, department: bool, step: bool
) -> None:
    """They were also where no earlier period shows a change, and where the monitor has strata."""
    counts = days(40, change, 0.22)
    if not department:
        assert (STRATA_STEP in str(monitored(counts, RATIO).brief())) is step
        return
    rng, found = np.random.default_rng(2), {}
    for i, name in enumerate(day_names(40)):
        sex = rng.choice(["F", "M"], 300, p=[1 / 3, 2 / 3])
        chance = np.where((sex == "F") & (i >= change), 0.22, 0.4)
        drawn = {"sex": sex, "dept": rng.choice(["A", "B"], 300)}
        rows = pl.DataFrame(drawn | {"prediction": (rng.random(300) < chance).astype(int)})
        found[name] = fg.count(rows, **{**QUESTION, "label": None}, strata="dept")
    config = {**asked(RATIO), "label": None, "strata": "dept"}
    report = fg.monitor(found, config)
    assert report.alarms
    assert STRATA_STEP not in str(report.brief())
