"""The largest group as reference: what arrives later changes no alarm that was raised."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.monitored_days import RATIO, asked, cube, day_names

import fairgauge as fg
from fairgauge.render import render
from fairgauge.results.monitor_results import LargestGroup

if TYPE_CHECKING:
    from pathlib import Path

RULE = {"metric": "selection_rate.ratio", "at_least": 0.8}
LARGEST = asked(RULE) | {"reference": "largest"}
WOMEN = cube(400, of=1_000, others=20, size=50)
"""A day with more women than men."""


def shifted(folder: Path) -> fg.History:
    """Return a history that begins on the second day, with more men, and alarms."""
    history = fg.History(folder)
    for i, name in enumerate(day_names(12)[1:]):
        history.add(name, cube(40 if i < 5 else 10))
    return history


def test_a_late_earlier_period_does_not_change_the_reference(tmp_path):
    history = shifted(tmp_path)
    first = fg.monitor(history, LARGEST)
    (before,) = first.alarms
    assert (before.group, before.reference) == ("F", "M")
    history.add(day_names(1)[0], WOMEN)
    for at in (None, day_names(12)[-1]):
        later = fg.monitor(history, LARGEST, at=at)
        (after,) = later.alarms
        assert (after.group, after.reference) == ("F", "M")
        assert after.alarm.period == before.alarm.period
        assert after.alarm.since == before.alarm.since
        kept = LargestGroup(feature="sex", group="M", period="2026-01-02")
        assert first.largest_groups == later.largest_groups == (kept,)
        stated = "M of sex, the largest group of 2026-01-02, when monitoring began"
        assert stated in render(later, "markdown")


def test_without_a_decision_before_the_first_period_counts(tmp_path):
    """What was never decided can reword nothing, and counts at hand have no memory."""
    history = shifted(tmp_path)
    history.add(day_names(1)[0], WOMEN)
    held = {str(each): history.cube(each) for each in history.periods}
    for report in (fg.monitor(history, LARGEST), fg.monitor(held, LARGEST)):
        assert {each.reference for each in report.comparisons} == {"F"}
        assert report.largest_groups[0].period == day_names(1)[0]


def test_a_new_start_chooses_anew(tmp_path):
    history = shifted(tmp_path)
    fg.monitor(history, LARGEST)
    history.add("2026-01-20", WOMEN)
    start = asked(RULE, start="2026-01-20") | {"reference": "largest"}
    assert {each.reference for each in fg.monitor(history, start).comparisons} == {"F"}
    assert {each.reference for each in fg.monitor(history, LARGEST).comparisons} == {"M"}


def test_a_group_that_no_period_has_any_more_is_chosen_anew(tmp_path):
    history = fg.History(tmp_path)
    history.add("2026-01-01", fg.confusion("sex", {"X": {"tp": 40, "fn": 60}, "F": {"tp": 9}}))
    assert fg.monitor(history, LARGEST).largest_groups[0].group == "X"
    history.add("2026-01-01", cube(40), replace=True)
    assert fg.monitor(history, LARGEST).largest_groups[0].group == "M"
    assert json.loads((tmp_path / "_largest.json").read_text())[0]["group"] == "M"


def test_a_damaged_choice_is_named(tmp_path):
    history = shifted(tmp_path)
    fg.monitor(history, LARGEST)
    (tmp_path / "_largest.json").write_text("[{")
    with pytest.raises(fg.DataError, match=r"_largest\.json.* cannot be read .*remove it"):
        fg.monitor(history, LARGEST)
    named = asked(RATIO) | {"reference": {"sex": "M"}}
    assert fg.monitor(history, named).alarms  # asks for no largest group
    (tmp_path / "_largest.json").unlink()
    assert fg.monitor(history, LARGEST).alarms


@settings(max_examples=12)
@given(order=st.permutations(range(5)), decided=st.integers(1, 5))
def test_the_reference_is_the_same_in_every_order_of_arrival(order, decided):
    """From the first decision on; every other day has more women than men."""
    with tempfile.TemporaryDirectory() as folder:
        history = fg.History(folder)
        references = []
        for arrived, day in enumerate(order, start=1):
            history.add(day_names(5)[day], WOMEN if day % 2 else cube(40))
            if arrived >= decided:
                report = fg.monitor(history, LARGEST)
                references.append({each.reference for each in report.comparisons})
        first = min(order[:decided])
        assert references == [{"F" if first % 2 else "M"}] * len(references)
