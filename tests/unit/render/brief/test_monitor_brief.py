"""A monitor: which limit was left since when, how many people that concerns, in which words."""

import csv
import html
import io
import re
from typing import Any

import pytest
from tests.every_result import LOAN_WORDS
from tests.monitored_days import RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import TimeChart, Tone
from fairgauge.render.document import document as monitor_document
from fairgauge.render.streams import table_of

WORDS: dict[str, Any] = LOAN_WORDS | {"groups": {"sex": {"F": "women", "M": "men"}}}
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
    assert str(brief.verdict[0]) == (
        f"The monitored comparison raised an alarm with the rows of {alarmed.alarm.period}."
    )
    found = str(brief.found[0])
    # of the other side, too, a change of 5 of 1,000 is stated
    before = "100 women, 38" if rule == "rate" else "1,000 women, 385"
    after, day = {"ratio": (176, 3), "difference": (176, 3), "rate": (18, 3)}[rule]
    then = f"{after} over 2026-02-0{day} to 2026-02-09, after the alarm"
    assert f"Of {before} were approved before the change and {then}" in found
    if rule != "rate":
        gaps = re.search(r"applicants, (\d+) and (\d+): (\d+) fewer before, (\d+) fewer after\.$",
                         found)  # fmt: skip
        old, new, gap_before, gap_after = map(int, gaps.groups())
        assert (old - gap_before, new - gap_after) == (385, after)
    assert "at most 5 of 100 such monitors raise an alarm within 365 days" in str(
        brief.certainty[0]
    )
    assert "overstate it" not in str(brief)  # these periods the alarm did not choose
    assert f"Over 2026-02-0{day} to 2026-02-09, after the alarm" in str(brief.certainty[1])
    assert any("Why it changed" in str(each) for each in brief.limits)


@pytest.mark.parametrize("selected", [2, 75])
def test_who_is_named_left_the_limit_to_that_side(selected: int) -> None:
    counts = {name: cube(40) for name in day_names(20)}
    counts |= {name: cube(selected) for name in day_names(40)[20:]}
    rule = {"metric": "selection_rate.ratio", "between": [0.8, 1.25], "groups": "F"}
    (alarmed,) = (made := monitored(counts, rule)).alarms
    side = "less than 0.8" if selected < 40 else "more than 1.25"
    assert f"Women were approved {side} times as often" in str(made.brief().headline)
    assert alarmed.alarm.after.value is not None
    assert (alarmed.alarm.after.value < 0.8) is (selected < 40)
    stated = re.match(r"Of 100 women, (\d+) were approved before the change and (\d+) ",
                      str(made.brief().found[0]))  # fmt: skip
    assert list(map(int, stated.groups())) == [40, selected]


def test_without_an_alarm_nothing_is_called_equal() -> None:
    brief = monitored(days(30, 99, 0.4), RATIO).brief()
    assert str(brief.headline) == "No alarm in 30 days"
    assert str(brief.verdict[0]) == "The monitored comparison raised no alarm."
    rates, equal = map(str, brief.found)
    assert re.fullmatch(
        r"On 2026-01-30: of 100 women, \d+ were approved; of 100 other applicants, \d+\.", rates
    )
    assert equal.startswith(
        "Over all days so far the data do not show which of these two groups is worse off"
    )
    values, so_far, evidence, promise, interval = map(str, brief.certainty)
    often = "women were approved between 0.\\d+ and 1.\\d+ times as often as all other applicants"
    assert re.fullmatch(rf"On 2026-01-30 {often} \(95% CI\)\.", values)
    assert re.fullmatch(rf"Over all days so far {often} \(95% CI\)\.", so_far)
    assert interval.startswith("95% CI (confidence interval): 95 of 100 such ranges contain")
    pattern = r"The evidence is at less than 1% of what raises an alarm \([\d.]+ of [\d,]+\)\."
    assert re.fullmatch(pattern, evidence)
    assert "at most 5 of 100 such monitors raise an alarm within" in promise
    assert str(brief.limits[0]).startswith("That rates are equal: a small or recent change")


def test_what_is_undecided_is_no_pass(shifted: dict[str, fg.Cube]) -> None:
    brief = monitored(shifted, RATIO | {"groups": "X"}, words={}).brief()
    assert "insufficient data" in str(brief.headline)
    assert "Analyst: correct the rules that name X" in str(brief.steps[0])


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
    compared = "1 comparison, of (wo)?men with (wo)?men, by the rule “"
    assert any(re.match(compared, str(each)) for each in brief.looked_at)
    assert str(brief.certainty[0]).startswith("If the monitored comparison stays within ")
    (now,) = (str(each) for each in brief.certainty if "after the alarm" in str(each))
    assert re.search("women|men", now)
    assert "ALARM: 1 comparison\n" in render(made, "text")
    (drawn,) = monitor_document(made).exhibits
    assert isinstance(drawn, TimeChart)
    assert re.search("often women .* (than|as) men", drawn.caption)
    assert (drawn.marks[-1].value < (1 if "ratio" in rule["metric"] else 0)) is (selected == 8)


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


def test_truth_and_open_limits_are_cells_that_every_reader_knows():
    report = fg.monitor(days(3, 9, 0.4), asked(RATIO))
    for row in csv.DictReader(io.StringIO(render(report, "csv"))):
        assert (row["tolerated_low"], row["tolerated_high"]) == ("0.8", "")
        assert (row["alarm"], row["sparse"]) == ("false", "false")


def test_the_running_value_is_in_every_output_with_its_confidence_sequence(shifted):
    report = fg.monitor(shifted, asked(RATIO))
    (each,) = report.comparisons
    for point in each.points:
        assert point.running_low <= point.running <= point.running_high
    last = each.points[-1]
    _, _, gauge = render(report, "openmetrics").partition("# TYPE fairgauge_running_low gauge")
    assert f"}} {last.running_low}\n" in gauge
    rows = table_of(report)
    assert rows.rows[-1][rows.columns.index("running_low")] == last.running_low


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "notebook"])
def test_rules_are_stated_in_the_words_of_an_audit(format_, tmp_path):
    file = tmp_path / "base.cube.json"
    cube(39).save(file)
    near = {"metric": "selection_rate.difference", "within": 0.05, "of": str(file)}
    unknown = RATIO | {"groups": "Women"}
    report = fg.monitor(days(3, 9, 0.4), asked(RATIO, near, unknown))
    full = {"full": True} if format_ in ("text", "markdown") else {}
    page = " ".join(html.unescape(render(report, format_, **full)).replace("\\", "").split())
    if format_ != "notebook":  # it has no notes
        assert "Selection rate ratio >= 0.8 names the group Women, which no period has." in page
    had = "“had prediction = 1 at least 0.8 times as often as others”"
    assert f"by the rules {had} and selection rate difference within 5 percentage points of" in page
    if format_ != "notebook":
        assert "selection rate ratio >= 0.8; selection rate difference within 5 pp of" in page
    (looked_at,) = (str(e) for e in report.brief().looked_at if "by the rules" in str(e))
    assert "_" not in looked_at.replace(file.name, "")
