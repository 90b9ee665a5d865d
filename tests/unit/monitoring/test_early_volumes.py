"""Half or twice the rows of a day are found from the eighth day on, where days vary little."""

import numpy as np
import pytest
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryProblem

RULE = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}


def day(number: int, times: float = 1.0) -> fg.Cube:
    """Return other rows on every day: 60% at weekends, and a fifth on Sundays."""
    rng = np.random.default_rng([number, int(10 * times)])
    weekday = (number + 3) % 7
    usual = 1500 * (1.0 if weekday < 5 else 0.6 if weekday == 5 else 0.2)
    cells = rng.poisson(usual * times * rng.lognormal(0, 0.04) / 8, (2, 4))
    held = [dict(zip(("tp", "fn", "fp", "tn"), map(int, of), strict=True)) for of in cells]
    return fg.confusion("sex", dict(zip("FM", held, strict=True)))


@pytest.mark.parametrize("times", [0.4, 1.0, 2.0])
def test_a_day_of_another_volume_is_found_in_the_second_week(times: float) -> None:
    names, spec = day_names(18), QUESTION | {"monitor": {"rules": [RULE]}}
    usual = [day(i) for i in range(18)]
    for last in range(7, 18):
        counts = dict(zip(names, [*usual[:last], day(last, times)], strict=False))
        found = [(each.problem, each.period) for each in fg.monitor(counts, spec).findings]
        volume = [(HistoryProblem.VOLUME, names[last])]
        # the Sunday before might have been a holiday: twice its rows are fewer than Saturday's
        unknown = times == 1.0 or (last, times) == (10, 2.0)
        assert (last, found) == (last, [] if unknown else volume)


@pytest.mark.parametrize("holidays", [(0, 7), (1, 15)])
def test_no_later_day_of_a_weekday_is_suspected_after_early_holidays(holidays) -> None:
    names, spec = day_names(30), QUESTION | {"monitor": {"rules": [RULE]}}
    counts = {name: day(i, 0.5 if i in holidays else 1.0) for i, name in enumerate(names)}
    found = {(each.period, each.last) for each in fg.monitor(counts, spec).findings}
    assert found <= {(names[i], names[i]) for i in holidays}
