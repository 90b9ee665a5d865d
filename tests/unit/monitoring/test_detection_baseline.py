"""What is detected: an uncertain baseline is tolerated exactly, and what an alarm states of now."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from tests.monitored_days import asked, cube, day_names

import fairgauge as fg
from fairgauge.monitoring._comparisons import first_now
from fairgauge.results.monitor_results import AfterAlarm, MonitorState
from fairgauge.statements.monitor import alarm_statements
from fairgauge.stats.significance import exact_limits


@pytest.mark.parametrize("comparison", ["difference", "ratio", "rate"])
@pytest.mark.parametrize(("n_d", "n_a"), [(8, 30), (25, 25)])
def test_limits_never_cover_less_than_they_promise(n_d, n_a, comparison):
    """The exact coverage: every table enumerated, at 16 pairs of rates."""
    x_d, x_a = np.meshgrid(np.arange(n_d + 1), np.arange(n_a + 1), indexing="ij")
    low, high = exact_limits(x_d, n_d, x_a, n_a, 0.1, comparison)
    rates = (0.02, 0.2, 0.5, 0.93)
    held = []
    for p_d, p_a in product(rates, rates):
        value = {"difference": p_d - p_a, "ratio": p_d / p_a, "rate": p_d}[comparison]
        weight = binom.pmf(x_d, n_d, p_d) * binom.pmf(x_a, n_a, p_a)
        held.append(weight[(low - 1e-9 <= value) & (value <= high + 1e-9)].sum())
    assert min(held) >= 0.9


@pytest.fixture
def baseline(tmp_path):
    path = tmp_path / "base.cube.json"
    cube(500, of=1_000, others=1_000, size=2_000).save(path)
    return str(path)


def test_a_shift_away_from_the_baseline_is_found(baseline):
    rule = {"metric": "selection_rate.difference", "within": 0.05, "of": baseline, "groups": "F"}
    counts = {name: cube(50 if i < 10 else 20, others=100) for i, name in enumerate(day_names(30))}
    found = fg.monitor(counts, asked(rule))
    (alarmed,) = found.alarms
    assert alarmed.alarm.since == "2026-01-11"
    assert alarmed.alarm.before.first is None
    (stated, _) = alarm_statements(found)
    assert stated.facts["old"]["at"] == "baseline"


@pytest.mark.parametrize(
    "metric", ["selection_rate.difference", "selection_rate.ratio", "selection_rate"]
)
def test_a_group_that_the_baseline_lacks_is_never_a_pass(baseline, metric):
    rule = {"metric": metric, "within": 0.05, "of": baseline}
    groups = {"F": {"tp": 40, "fn": 60}, "M": {"tp": 80, "fn": 120}, "X": {"tp": 1, "fn": 99}}
    counts = {name: fg.confusion("sex", groups) for name in day_names(30)}
    report = fg.monitor(counts, asked(rule))
    (alone,) = [each for each in report.comparisons if each.group == "X"]
    assert alone.state is MonitorState.INSUFFICIENT
    assert alone.baseline is None
    assert alone.lacks_baseline
    assert "the baseline does not have X" in " ".join(str(report).split())


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
