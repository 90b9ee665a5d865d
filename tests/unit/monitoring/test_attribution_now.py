"""What an alarm states of the present: an interval that the alarm did not choose."""

import numpy as np
import pytest
from tests.monitored_days import asked, cube, day_names

import fairgauge as fg
from fairgauge.monitoring._detection import first_now
from fairgauge.results.monitor_results import AfterAlarm
from fairgauge.statements.monitor import alarm_statements

GAP = {"metric": "selection_rate.difference", "between": [-0.05, 0.05], "groups": "F"}
RATE = 0.4


def stream(gaps: list[float], rng: np.random.Generator) -> dict[str, fg.Cube]:
    """Return days of 100 women and 200 men, whose rates differ by the gaps."""
    return {
        name: cube(int(rng.binomial(100, RATE + gap)), others=int(rng.binomial(200, RATE)))
        for name, gap in zip(day_names(len(gaps)), gaps, strict=True)
    }


PASSING = [0.0] * 10 + [-0.2] * 10 + [0.0] * 20
STAYING = [0.0] * 10 + [-0.2] * 30


@pytest.mark.parametrize(
    ("later", "periods"), [(0, 0), (1, 1), (7, 7), (14, 7), (15, 7), (20, 10), (300, 28)]
)
def test_what_is_now_is_the_later_half_of_the_periods_after_the_alarm(later, periods):
    assert first_now(4, 5 + later) == 5 + later - periods


@pytest.mark.parametrize(
    ("gaps", "currently"),
    [(PASSING + [0.0] * 50, AfterAlarm.TOLERATED), (STAYING, AfterAlarm.OUTSIDE)],
)
def test_a_shift_is_reported_as_passed_just_where_it_has_passed(gaps, currently) -> None:
    report = fg.monitor(stream(gaps, np.random.default_rng(3)), asked(GAP))
    (each,) = report.alarms
    assert each.alarm.currently is currently
    stated, now = alarm_statements(report)
    assert (now.verdict, now.facts["until"]) == (currently, each.alarm.after.last)
    assert stated.facts["passed"] == (currently is AfterAlarm.TOLERATED)
    if stated.facts["passed"]:
        since = stated.facts["since"], stated.facts["until"]
        assert since == (each.alarm.since, each.alarm.after.last)
    else:
        assert now.interval.high < -0.05


def test_the_past_of_an_alarm_stays_as_it_was() -> None:
    """When it was raised, since when and against what is decided on the day of the alarm."""
    counts = stream(PASSING, np.random.default_rng(3))
    last = fg.monitor(counts, asked(GAP)).alarms[0]
    for at in day_names(40)[day_names(40).index(last.alarm.period) :]:
        (each,) = fg.monitor(counts, asked(GAP), at=at).alarms
        for name in ("period", "since", "before"):
            assert getattr(each.alarm, name) == getattr(last.alarm, name)
