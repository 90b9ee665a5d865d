"""Two groups that are each compared with the other are one comparison with one share of alpha."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.monitored_days import QUESTION, asked, cube, day_names

import fairgauge as fg
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitoredComparison, MonitorReport

GAP = {"metric": "selection_rate.difference", "between": [-0.1, 0.1]}
RATIO = {"metric": "selection_rate.ratio", "at_least": 0.8}
RULES = [
    GAP,
    RATIO,
    {"metric": "DPPL", "at_most": 0.1},  # the reference less the group
    {"metric": "f1.difference", "between": [-0.05, 0.05]},  # alpha spending
    {"metric": "DI", "between": [0.8, 1.4]},
]


def of_days(*selected: int, third: int | None = None) -> dict[str, fg.Cube]:
    """Return days with so many in 100 of 400 women selected, and from one on a third group."""
    days = {}
    for t, (name, chosen) in enumerate(zip(day_names(len(selected)), selected, strict=True)):
        women, others = 2 * chosen, 200 - 2 * chosen
        counts = {
            "F": {"tp": women, "fn": others, "fp": women, "tn": others},
            "M": {"tp": 120, "fn": 180, "fp": 120, "tn": 180},
        }
        if third is not None and t >= third:
            counts["X"] = {"tp": 8, "fn": 12, "fp": 8, "tn": 12}
        days[name] = fg.confusion("sex", counts)
    return days


def monitored(days: dict[str, fg.Cube], *rules: Any, **settings: Any) -> MonitorReport:
    return fg.monitor(days, asked(*rules, **settings))


def by_group(report: MonitorReport, rule: int = 0) -> dict[str, MonitoredComparison]:
    metric = list(dict.fromkeys(each.rule for each in report.comparisons))[rule]
    return {each.group: each for each in report.comparisons if each.rule == metric}


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_both_sides_have_one_share_of_alpha(rule: dict[str, Any]) -> None:
    one = by_group(monitored(of_days(*[40] * 5), rule))
    alone = by_group(monitored(of_days(*[40] * 5), rule | {"groups": "F"}))
    assert one["F"].mirror_of is None
    assert one["M"].mirror_of == "F"
    assert one["F"].alpha == one["M"].alpha == alone["F"].alpha == pytest.approx(0.04)
    assert one["F"].threshold == alone["F"].threshold


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("after", [4, 90])
def test_either_group_may_be_worse_off_and_both_rows_are_of_one_alarm(
    rule: dict[str, Any], after: int
) -> None:
    report = monitored(of_days(*[40] * 10, *[after] * 30), rule)
    (raised,) = report.alarms
    sides = by_group(report)
    spent = rule["metric"].startswith("f1")
    worse, better = ("F", "M") if after == 4 or spent else ("M", "F")
    assert raised is sides[worse]
    assert raised.alarm is not None
    other = sides[better]
    assert (raised.mirror_of, other.mirror_of) == (None, worse)
    assert other.alarm is not None
    assert other.alarm.period == raised.alarm.period
    assert other.evidence == raised.evidence
    assert other.state is raised.state
    assert other.alarm.after.rate_group == raised.alarm.after.rate_reference


def test_limits_hold_for_both_groups() -> None:
    days = of_days(*[40] * 3)
    ratio = by_group(monitored(days, RATIO))
    assert (ratio["F"].low, ratio["F"].high) == pytest.approx((0.8, 1.25))
    assert (ratio["M"].low, ratio["M"].high) == pytest.approx((0.8, 1.25))
    one_sided = by_group(monitored(days, {"metric": "DPPL", "at_most": 0.1}))
    assert (one_sided["F"].low, one_sided["F"].high) == (-0.1, 0.1)
    narrower = by_group(monitored(days, {"metric": "DI", "between": [0.5, 1.25]}))
    assert (narrower["F"].low, narrower["F"].high) == pytest.approx((0.8, 1.25))


def test_a_rule_that_no_two_groups_can_both_keep_is_two_comparisons() -> None:
    sides = by_group(monitored(of_days(*[40] * 3), {"metric": "DPPL", "at_least": 0.02}))
    assert {each.mirror_of for each in sides.values()} == {None}
    assert [each.alpha for each in sides.values()] == pytest.approx([0.02] * 2)


def test_two_groups_are_one_comparison_before_their_labels_come() -> None:
    """They were two until then: the share of alpha that was printed changed with the labels."""
    sex = ["F", "M"] * 100
    rows = pl.DataFrame({"sex": sex, "prediction": [0, 0, 1, 1] * 50, "label": [1.0, 0.0] * 100})
    late = rows.with_columns(label=pl.lit(None, pl.Float64))
    question = asked()
    question.pop("monitor")
    recall = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
    names = day_names(6)
    for labelled, of in ((0, 1), (0, 2), (3, 6)):
        counts = {n: fg.count(rows if i < labelled else late, **question)
                  for i, n in enumerate(names[:of])}  # fmt: skip
        made = fg.monitor(counts, asked(recall, labels="later", labels_within=3))
        assert sum(each.mirror_of is None for each in made.comparisons) == 1
        assert all(each.alpha == pytest.approx(0.04) for each in made.comparisons)


def test_with_a_third_group_they_are_three_comparisons() -> None:
    sides = by_group(monitored(of_days(*[40] * 4, third=0), GAP))
    assert {each.mirror_of for each in sides.values()} == {None}
    assert [each.alpha for each in sides.values()] == pytest.approx([0.04 / 3] * 3)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_later_group_makes_two_of_one_and_takes_no_alarm_back(rule: dict[str, Any]) -> None:
    selected = [40] * 10 + [90] * 30
    before = by_group(monitored(of_days(*selected), rule))
    after = by_group(monitored(of_days(*selected, third=35), rule))
    assert after["M"].mirror_of is None
    assert after["M"].alpha == pytest.approx(0.02)
    assert after["X"].alpha == pytest.approx(0.05 * 0.2 * 0.8)
    assert after["F"].threshold == before["F"].threshold
    one, other = before["F"].alarm, after["F"].alarm
    assert one is not None
    assert other is not None
    assert (one.period, one.since) == (other.period, other.since)
    assert (after["F"].low, after["F"].high) == (before["F"].low, before["F"].high)
    if after["M"].alarm is not None:  # never before the period with which it has a share of alpha
        assert after["M"].alarm.period >= day_names(36)[-1]


def test_from_the_later_group_on_the_limits_are_those_of_the_rule() -> None:
    sides = by_group(monitored(of_days(*[40] * 10, third=5), RATIO))
    assert sides["F"].alpha == sides["M"].alpha == pytest.approx(0.02)
    assert sides["F"].threshold == sides["M"].threshold == pytest.approx(365 / 0.02)
    assert (sides["F"].low, sides["F"].high) == (0.8, np.inf)
    assert (sides["M"].low, sides["M"].high) == (0.8, np.inf)


def test_a_history_that_is_resumed_comes_to_the_same(tmp_path: Any) -> None:
    days = of_days(*[40] * 10, *[65] * 8, third=14)
    question = asked(RATIO, GAP)
    history = fg.History(tmp_path / "held")
    for name, counts in days.items():
        history.add(name, counts)
        resumed = fg.monitor(history, question)
        anew = fg.monitor({n: days[n] for n in days if n <= name}, question)
        assert resumed.comparisons == anew.comparisons


def test_limits_around_a_baseline_hold_for_both_groups(tmp_path: Any) -> None:
    cube(40).save(tmp_path / "baseline.json")
    rule = {"metric": "selection_rate.ratio", "within": 0.1, "of": str(tmp_path / "baseline.json")}
    days = {name: cube(40) for name in day_names(4)}
    sides = by_group(fg.monitor(days, QUESTION | {"monitor": {"rules": [rule]}}))
    baseline = sides["F"].baseline
    assert baseline is not None
    assert sides["M"].mirror_of == "F"
    assert sides["F"].low == pytest.approx(max(baseline.low - 0.1, 1 / (1 / baseline.low + 0.1)))
    assert sides["F"].high == pytest.approx(min(baseline.high + 0.1, 1 / (1 / baseline.high - 0.1)))


def test_every_format_but_json_shows_the_comparison_once() -> None:
    report = monitored(of_days(*[40] * 10, *[90] * 30), RATIO)
    assert len(report.comparisons) == 2
    assert len(report.tested) == len(report.alarms) == 1
    found = json.loads(render(report, "json"))["comparisons"]
    assert [each["mirror_of"] for each in found] == ["M", None]  # men are selected less often
    assert render(report, "openmetrics").count("fairgauge_alarm{") == 1
    assert render(report, "csv").count("2026-01-05,") == 1
    text = " ".join(render(report, "text").split())
    assert "over all comparisons comparisons 1 probability for each comparison 0.04" in text
    assert "its limits hold for both: F mirrors M." in text
    assert "ALARM: 1 comparison" in text
    assert text.count("Alarms") <= 1


@pytest.mark.parametrize("after", [20, 70])
def test_every_output_to_read_names_the_worse_off_group_first(after: int) -> None:
    """The headline, the chart, the list of alarms and the overview of one report agree."""
    question = asked(RATIO) | {"words": {"groups": {"sex": {"F": "women", "M": "men"}}}}
    report = fg.monitor(of_days(*[40] * 10, *[after] * 30), question)
    first, other = ("women", "men") if after == 20 else ("men", "women")
    worse, better = ("F", "M") if after == 20 else ("M", "F")
    for format_ in ("text", "html", "markdown"):
        options = {"full": True} if format_ == "text" else {}
        text = " ".join(render(report, format_, **options).split())
        assert f"{first} ({worse}) vs others" in text
        assert f"{other} ({better}) vs" not in text
    (stated,) = (each for each in json.loads(render(report, "json"))["comparisons"]
                 if each["mirror_of"] is None)  # fmt: skip
    assert f"of {worse} vs others" in stated["says"]
    assert [each.group for each in report.gravest] == [worse]


def test_a_series_keeps_its_name_where_the_other_group_becomes_worse_off() -> None:
    days = of_days(*[40] * 5, *[80] * 5)
    for format_ in ("openmetrics", "csv"):
        for count in (5, 10):
            text = render(monitored(dict([*days.items()][:count]), RATIO), format_)
            assert ",M," not in text
            assert 'group="M"' not in text
