"""The last period without a value: undefined with a reason, never the value of an earlier one."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.monitoring._period_rows import lacks_values
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitorState, Point

BALANCED = {"metric": "balanced_accuracy.difference", "between": [-0.5, 0.5], "groups": "F"}
MEN = {"M": {"tp": 80, "fn": 120}}
WOMEN = {"F": {"tp": 40, "fn": 60}}
CASES = {
    "nobody is selected": (cube(0, others=0), "selection rate is 0 on both sides"),
    "no group": (fg.confusion("sex", MEN), "the group has no rows"),
    "no reference": (fg.confusion("sex", WOMEN), "the reference has no rows"),
}


def shown_as(report, kind: str) -> str:
    return " ".join(render(report, kind).split())


@pytest.mark.parametrize(("last", "why"), CASES.values(), ids=list(CASES))
def test_the_last_period_is_undefined_with_its_reason(last, why):
    name = day_names(4)[-1]
    counts = days(3, 9, 0.4) | {name: last}
    spec = asked(RATIO) | {"reference": {"sex": "M"}}
    report = fg.monitor(counts, spec)
    (each,) = report.comparisons
    assert (each.state, report.verdict) == (MonitorState.UNDEFINED, Outcome.INCONCLUSIVE)
    assert (each.undefined, each.points[-1].value) == (each.points[-1:], None)
    assert f"It is undefined on {name}, because {why}" in each.says
    for kind in ("text", "markdown", "html"):
        text = shown_as(report, kind)
        assert "UNDEFINED: 1 comparison has no value in the last period" in text
        assert f"undefined on {name}" in text
    gauges = render(report, "openmetrics")
    assert "fairgauge_metric" not in gauges
    assert "fairgauge_ci_low" not in gauges
    assert 'rule="selection_rate.ratio >= 0.8"} 1.0' in gauges.partition("fairgauge_undefined{")[2]
    point = report.to_dict()["comparisons"][0]["points"][-1]
    assert (point["value"], point["waits"]) == (None, False)
    assert point["reason"]["message"].startswith(why)


F, M, MISSPELT = {"tp": 40, "fn": 60}, {"tp": 80, "fn": 120}, {"tp": 20, "fn": 27}
EVERY = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
INTERVALS = {"metric": "f1.difference", "between": [-0.9, 0.9]}


def history(present: str, group: dict[str, int], named: str = "X") -> dict[str, fg.Cube]:
    """Return days, none like another, that have one more group where an x stands."""
    return {
        name: fg.confusion("sex", {
            "F": F, "M": {"tp": 80 + i, "fn": 120}, **({named: group} if day == "x" else {}),
        })
        for i, (name, day) in enumerate(zip(day_names(len(present)), present, strict=True))
    }  # fmt: skip


@pytest.mark.parametrize("rule", [EVERY, INTERVALS], ids=["counts", "intervals"])
@pytest.mark.parametrize("rows", [1, 47])
def test_a_group_that_came_for_a_few_days_and_is_gone_is_not_waited_for(rule, rows):
    group = {"tp": 1, "fn": rows - 1}
    stray = fg.monitor(history("...x......", group), asked(rule))
    assert stray.exit_code == 3  # within a week of it
    later = fg.monitor(history("...x........", group), asked(rule))
    assert later.state is MonitorState.NO_ALARM


@pytest.mark.parametrize("rule", [EVERY, INTERVALS], ids=["counts", "intervals"])
@pytest.mark.parametrize("rows", [1, 47, 190])
def test_a_misspelt_group_is_not_waited_for_on_the_good_day_after_it(rule, rows):
    """Its day is where the rows may be wrong; the exit code of the days after it is their own."""
    group = {"tp": rows // 2, "fn": rows - rows // 2}
    for present in ("...x.", "...x......", "...x..x."):
        report = fg.monitor(history(present, group, "f"), asked(rule))
        assert report.state is MonitorState.NO_ALARM
        found = [each for each in report.findings if each.other == "F"]
        assert {each.value for each in found} == {"f"}
        assert not {*found} & {*report.concerning(report.periods[-1])}


RECALL = {"metric": "true_positive_rate.difference", "between": [-0.3, 0.3]}


@pytest.mark.parametrize("rule", [RECALL, INTERVALS], ids=["counts", "intervals"])
def test_a_group_without_the_labels_of_a_rule_is_not_waited_for_once_it_is_gone(rule):
    """A stray group none of whose rows was positive kept a monitor at exit code 3 for good."""
    group = {"fp": 1, "tn": 20}
    assert fg.monitor(history("...x......", group), asked(rule)).exit_code == 3
    later = fg.monitor(history("...x........", group), asked(rule))
    assert later.exit_code == 0
    (gone,) = [each for each in later.comparisons if each.group == "X"]
    assert gone.was_in == ("2026-01-04",)


@pytest.mark.parametrize(
    ("present", "why"),
    [
        ("xx..........", "it was there from the first day on"),
        (".xxxxxxx........", "a week makes it one that is expected"),
        ("..x....x....", "it is not gone for a week"),
    ],
)
def test_a_group_that_is_expected_is_waited_for(present, why):
    report = fg.monitor(history(present, MISSPELT), asked(EVERY))
    assert (report.state, report.exit_code) == (MonitorState.UNDEFINED, 3), why


def test_a_group_that_a_rule_names_is_waited_for():
    report = fg.monitor(history("...x........", MISSPELT), asked(EVERY | {"groups": "X"}))
    assert report.exit_code == 3


def test_a_recoding_that_the_counts_do_not_have_is_refused_until_they_are_made_again():
    """Not ignored: nobody would see that the values are still two groups."""
    counts = history("...x........", MISSPELT, "f")
    recoded = asked(EVERY) | {"recode": {"sex": {"F": ["F", "f"]}}}
    held = "'sex' holds 'f' in the rows of '2026-01-04', which the specification recodes"
    with pytest.raises(fg.errors.CubeError, match=held):
        fg.monitor(counts, recoded)
    women = {cell: n + MISSPELT[cell] for cell, n in F.items()}
    again = counts | {day_names(4)[-1]: fg.confusion("sex", {"F": women, "M": M})}
    assert fg.monitor(again, recoded).exit_code == 0


def test_a_last_period_that_waits_for_labels_is_not_undefined():
    rows = [("F", 1, 1), ("F", 1, 0), ("M", 1, 1), ("M", 0, 1)] * 30
    labelled = pd.DataFrame(rows, columns=["sex", "label", "prediction"])
    waiting = fg.count(labelled.assign(label=[None] * len(rows)), **QUESTION)
    recall = {"metric": "true_positive_rate.difference", "between": [-0.9, 0.9], "groups": "F"}
    counts = dict(zip(day_names(2), [fg.count(labelled, **QUESTION), waiting], strict=True))
    report = fg.monitor(counts, asked(recall, labels="later", labels_within=1))
    (each,) = report.comparisons
    assert [point.waits for point in each.points] == [False, True]
    assert (each.state, each.undefined) == (MonitorState.NO_ALARM, ())
    assert "waits for labels" in shown_as(report, "markdown")
    assert "fairgauge_metric" not in render(report, "openmetrics")


def test_a_rule_that_intervals_decide_is_undefined_too():
    cells = {"tp": 30, "fn": 20, "fp": 10, "tn": 40}
    day, men = (fg.confusion("sex", dict.fromkeys(groups, cells)) for groups in ("FM", "M"))
    counts = dict(zip(day_names(3), [day, day, men], strict=True))
    (each,) = fg.monitor(counts, asked(BALANCED)).comparisons
    assert each.state is MonitorState.UNDEFINED
    assert each.undefined
    assert each.points[-1].reason is not None


def followed(*counts: fg.Cube):
    """Return what days, one after the other, come to."""
    spec = asked(RATIO) | {"reference": {"sex": "M"}}
    return fg.monitor(dict(zip(day_names(len(counts)), counts, strict=True)), spec)


def test_a_small_group_may_be_absent_for_as_long_as_it_has_few_rows():
    """Of five rows a day, twenty are missing after four days; fewer may be sampling variation."""
    few = [cube(2, of=5, others=80 + i) for i in range(10)]
    none = [fg.confusion("sex", {"M": {"tp": 90 + i, "fn": 120}}) for i in range(5)]
    for absent in range(1, 6):
        report = followed(*few, *none[:absent])
        (each,) = report.comparisons
        undecided = absent >= 4
        assert (each.state is MonitorState.UNDEFINED) == undecided
        assert report.verdict is (Outcome.INCONCLUSIVE if undecided else Outcome.PASS)
        last = day_names(10 + absent)[-1]
        assert (f"undefined on {last}" if absent == 1 else f"to {last}") in each.says
        assert len(each.undefined) == absent
    (each,) = followed(*few, *none, few[0]).comparisons
    assert (each.state, each.undefined) == (MonitorState.NO_ALARM, ())


@given(
    before=st.lists(st.integers(0, 60), max_size=6),
    after=st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=6),
    fewest=st.integers(1, 40),
)
def test_more_periods_without_a_value_never_decide(before, after, fewest):
    """Once undecided, a comparison stays so until a period has a value."""
    points = [point(f"b{i}", n, 0.5 if n else None) for i, n in enumerate(before)]
    lacked = lacks_values(points, fewest, two_sided=True)
    for i, (has_value, n) in enumerate(after):
        points.append(point(f"a{i}", n, 0.5 if has_value and n else None))
        lacks = lacks_values(points, fewest, two_sided=True)
        if points[-1].value is not None:
            assert not lacks
        else:
            assert lacks or not lacked
        lacked = lacks


def point(period: str, rows: int, value: float | None) -> Point:
    """Return a period of a comparison with a larger reference."""
    return Point(
        period=period, value=value, low=None, high=None, rate_group=None, rate_reference=None,
        n_group=rows, n_reference=100, evidence=None, sparse=False,
    )  # fmt: skip


EMPTY = {
    "reference": (
        {"sex": None}, {"reference": {"sex": "M"}},
        "column 'sex' has no value 'M'. It holds no value",
    ),
    "label": (
        {"label": None, "prediction": [1, 0.5] * 20}, {},
        r"holds '0.5', which the label 'label' does not \(it holds no value\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("column", EMPTY)
def test_a_column_without_values_holds_no_value(column: str) -> None:
    """The values that it has were an empty list."""
    change, asks, message = EMPTY[column]
    rows = pd.DataFrame({"sex": ["F", "M"] * 20, "label": [1, 0] * 20, "prediction": [1, 0] * 20})
    counts = {"2026-01-01": fg.count(rows.assign(**change), **QUESTION)}
    with pytest.raises(fg.DataError, match=message):
        fg.monitor(counts, {**asked(RATIO, labels="later"), **asks})


def test_rows_of_excluded_groups_are_no_rows_of_the_reference() -> None:
    """It was stated that 3 of the 0 rows of the reference have no value."""
    rows = pd.DataFrame({"sex": ["F"] * 30 + ["M", "X"] * 10, "prediction": [0.0, 1.0] * 25})
    rows.loc[44:, "prediction"] = None
    question = {"prediction": "prediction", "positive": 1, "sensitive": "sex"}
    question |= {"exclude_groups": "M", "unknown": "X"}
    rule = {"metric": "selection_rate.difference", "between": [-0.2, 0.2], "groups": "F"}
    days = {name: fg.count(rows, **question) for name in day_names(3)}
    report = fg.monitor(days, question | {"monitor": {"rules": [rule]}})
    (women,) = report.comparisons
    assert women.points[-1].reason.code.value != "lacking_values"
    assert "of the reference (0)" not in str(report)
