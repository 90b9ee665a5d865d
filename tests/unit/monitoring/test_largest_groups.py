"""The largest group as reference: what arrives later changes no alarm that was raised."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES
from tests.monitored_days import asked, cube, day_names

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


@FEW_EXAMPLES
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
