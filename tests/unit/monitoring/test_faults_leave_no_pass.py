"""A doubled day of the first days is not green, whatever gaps are before it."""

from __future__ import annotations

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
