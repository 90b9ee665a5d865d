"""A doubled day of the first days is not green, whatever gaps are before it."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg

QUESTION = {"prediction": "p", "positive": 1, "sensitive": "g"}
RULE = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
ASKED = QUESTION | {"monitor": {"rules": [RULE]}}


def rows(day: int, rate: float = 0.5) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    g = rng.choice(["F", "M", "X"], int(rng.normal(600, 15)))
    return pd.DataFrame({"g": g, "p": (rng.random(len(g)) < np.where(g == "F", rate, 0.5)) * 1})


def doubled(part: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([part, part])


@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("of", [3, 4])
def test_a_doubled_day_is_found_with_two_others_that_are_alike(first, of):
    """Six cells whose rows are all even are one day that came twice, also on the third day."""
    days = [f"2026-03-{day:02d}" for day in range(2, 2 + of)]  # from Monday on
    parts = {day: rows(i) for i, day in enumerate(days)}
    whole = {day: fg.count(each, **QUESTION) for day, each in parts.items()}
    assert fg.monitor(whole, ASKED).exit_code == 0
    twice = whole | {days[first]: fg.count(doubled(parts[days[first]]), **QUESTION)}
    report = fg.monitor(twice, ASKED)
    assert (report.exit_code, [each.period for each in report.faults]) == (3, [days[first]])


@pytest.mark.parametrize("weekday", range(7))
@pytest.mark.parametrize("gap", [0, 1, 3, 7, 20])
def test_no_earlier_gap_makes_a_run_greener(weekday, gap):
    """After a gap a Saturday may be the first: a day that came twice on it ended in "no alarm"."""
    first = dt.date(2026, 6, 1 + weekday)  # 1 June is a Monday
    rng = np.random.default_rng(weekday)

    def day(women: int, times: int = 1) -> fg.Cube:
        g = np.repeat(["F", "M"], [women, 200])
        part = pd.DataFrame({"g": g, "p": (rng.random(len(g)) < 0.5) * 1})
        return fg.count(pd.concat([part] * times), **QUESTION)

    def ends(*last: fg.Cube) -> list[int]:
        names = [*range(4), *range(4 + gap, 5 + gap + len(last))]
        days = [*(day(200) for _ in range(5)), *last]
        dates = [str(first + dt.timedelta(n)) for n in names]
        shown = dict(zip(dates, days, strict=True))
        return [
            fg.monitor(dict([*shown.items()][:n]), ASKED).exit_code for n in range(6, 1 + len(days))
        ]

    assert ends(day(0), day(200, 2)) == [3, 3]
    assert ends(day(200, 2)) == [3]
    assert ends(day(0), day(0), day(0)) == [3, 3, 3]


@pytest.mark.parametrize("came", [0, 10], ids=["there from the first day", "new on day 10"])
def test_a_group_that_lost_many_days_is_not_green_when_it_comes_back(came):
    """Twenty rows a day are not seen for four days of 28; one such day of many is stated."""
    days = [part.drop(part[part.g == "F"].index[20:]) for part in map(rows, range(28))]
    lost = {day: part[part.g != "F"] for day, part in enumerate(days)}

    def run(*absent: int) -> fg.MonitorReport:
        without = {*range(came), *absent}
        parts = [lost[day] if day in without else part for day, part in enumerate(days)]
        cubes = {f"2026-03-{i + 1:02d}": fg.count(p, **QUESTION) for i, p in enumerate(parts)}
        return fg.monitor(cubes, ASKED)

    assert (run().exit_code, run(19).exit_code) == (0, 0)
    report = run(18, 19, 20, 21)
    assert report.exit_code == 3
    assert {each.value for each in report.faults} == {"F"}


def test_labels_that_were_copies_for_many_days_leave_no_pass():
    asked = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
    rule = {"metric": "true_positive_rate.difference", "between": [-0.3, 0.3]}
    rng = np.random.default_rng(3)
    days = [rows(i).assign(y=lambda t: t.p ^ (rng.random(len(t)) < 0.2)) for i in range(28)]

    def run(copied: int) -> int:
        parts = [t.assign(y=t.p) if 8 <= i < 8 + copied else t for i, t in enumerate(days)]
        cubes = {f"2026-03-{i + 1:02d}": fg.count(p, **asked) for i, p in enumerate(parts)}
        return fg.monitor(cubes, asked | {"monitor": {"rules": [rule]}}).exit_code

    assert [run(copied) for copied in (0, 1, 8)] == [0, 0, 3]


def test_the_first_page_begins_with_a_shift_that_lasts():
    """A group's alarm that came first, and has passed, had hidden a worse one that goes on."""
    rng = np.random.default_rng(0)

    def day(n: int) -> fg.Cube:
        rates = {"M": 0.5, "F": 0.15 if 5 < n < 16 else 0.5, "X": 0.1 if n > 12 else 0.5}
        some = {g: int(rng.binomial(200, rate)) for g, rate in rates.items()}
        return fg.confusion("g", {g: {"tp": x, "fn": 200 - x} for g, x in some.items()})

    asked = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "g"}
    rule = {"metric": "selection_rate.ratio", "at_least": 0.7, "groups": ["F", "X"]}
    asked |= {"reference": {"g": "M"}, "monitor": {"rules": [rule]}}
    report = fg.monitor({f"2026-03-{n + 1:02d}": day(n) for n in range(28)}, asked)
    assert [each.group for each in report.alarms] == ["X", "F"]
