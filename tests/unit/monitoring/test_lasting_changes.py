"""A change of the feed that lasts is found as long as it lasts, and a steady feed is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, day_names

import fairgauge as fg
from fairgauge.monitoring._history_checks import check_history
from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.monitoring.periods import Period, at_weekend, parse_period
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem

LENGTH = 60
Day: TypeAlias = Callable[[np.random.Generator, Period, int], CountedRows]


def day(
    rng: np.random.Generator,
    mean: float = 2_000,
    women: float = 0.4,
    missing: tuple[float, float] = (0.02, 0.02),
) -> CountedRows:
    """Return a day of women and men, of whom shares have no prediction."""
    rows = int(rng.poisson(mean))
    of_women = int(rng.binomial(rows, np.clip(women, 0, 1)))
    sizes = {"F": of_women, "M": rows - of_women}
    absent = {
        group: int(rng.binomial(size, np.clip(share, 0, 1)))
        for (group, size), share in zip(sizes.items(), missing, strict=True)
    }
    known = rows - sum(absent.values())
    positive = int(rng.binomial(known, 0.4))
    return CountedRows(
        digest=str(rng.integers(1 << 60)), rows=rows, read=rows, excluded={}, new_values={},
        values={"sex": sizes, "prediction": {"1": positive, "0": known - positive}},
        missing={"sex": 0, "prediction": rows - known}, lacking={"prediction": {"sex": absent}},
        divisor=1, cells=8, coincidence=-50.0,
        agreement=(rows // 5, rows - rows // 5, rows / 2, rows / 4),
    )  # fmt: skip


def feed(made: Day, seed: int) -> tuple[list[Period], list[CountedRows]]:
    """Return days from another weekday on with each seed."""
    rng = np.random.default_rng(seed)
    names = [parse_period(name) for name in day_names(LENGTH + seed % 7)][seed % 7 :]
    return names, [made(rng, name, t) for t, name in enumerate(names)]


def found_in(names: list[Period], held: list[CountedRows]) -> tuple[HistoryFinding, ...]:
    return check_history(names, held, features=["sex"])


def quiet_at_weekends(period: Period, mean: float = 2_000) -> float:
    return mean * (0.3 if at_weekend(period) else 1.0)


CHANGED: dict[str, tuple[HistoryProblem, Day]] = {
    "a group without predictions": (
        HistoryProblem.MISSING_VALUES,
        lambda rng, _, __: day(rng, missing=(0.3, 0.02)),
    ),
    "a group without predictions, that vary": (
        HistoryProblem.MISSING_VALUES,
        lambda rng, _, __: day(rng, missing=(rng.normal(0.3, 0.03), rng.normal(0.02, 0.03))),
    ),
    "a group without predictions, few rows at weekends": (
        HistoryProblem.MISSING_VALUES,
        lambda rng, name, __: day(rng, quiet_at_weekends(name), missing=(0.3, 0.02)),
    ),
    "fewer of a group": (HistoryProblem.GROUP_SHARE, lambda rng, _, __: day(rng, women=0.06)),
}
BEFORE: dict[str, Day] = {
    "a group without predictions, that vary": lambda rng, _, __: day(
        rng, missing=(rng.normal(0.02, 0.03), rng.normal(0.02, 0.03))
    ),
    "a group without predictions, few rows at weekends": lambda rng, name, _: day(
        rng, quiet_at_weekends(name)
    ),
}


@pytest.mark.parametrize("begin", [8, 12, 17])
@pytest.mark.parametrize("name", list(CHANGED))
def test_a_change_within_the_first_weeks_is_found_as_long_as_it_lasts(
    name: str, begin: int
) -> None:
    """Some days that are not found at once must not become what is usual."""
    problem, after = CHANGED[name]
    before = BEFORE.get(name, lambda rng, _, __: day(rng))
    for seed in range(7):
        names, held = feed(lambda r, p, t: (after if t >= begin else before)(r, p, t), seed)
        texts = [str(each) for each in names]
        found = [each for each in found_in(names, held) if each.problem is problem]
        days = {t for t in texts if any(each.concerns(t) for each in found)}
        assert not days & set(texts[:begin])
        silent = [t for t, name in enumerate(texts) if t >= begin and name not in days]
        assert len(silent) <= 5, (seed, silent)
        assert max(silent, default=0) < begin + 28, (seed, silent)
        if problem is HistoryProblem.GROUP_SHARE:
            assert {each.value for each in found} == {"F"}  # the others rise because these fall


def test_a_lasting_outage_is_found_by_the_run_of_every_day() -> None:
    """It was found for twelve days, and then taken as usual."""
    names, held = feed(
        lambda r, p, t: day(r, quiet_at_weekends(p), missing=(0.3 if t >= 10 else 0.02, 0.02)), 0
    )
    silent = [
        t
        for t in range(10, LENGTH)
        if not any(e.concerns(str(names[t])) for e in found_in(names[: t + 1], held[: t + 1]))
    ]
    assert len(silent) <= 3
    assert max(silent, default=0) < 14


@pytest.mark.parametrize("begin", [7, 14, 28])
@pytest.mark.parametrize("mean", [2_000, 600])
def test_values_that_are_missing_at_weekends_alone_are_found_on_each(
    begin: int, mean: float
) -> None:
    for seed in range(7):
        names, held = feed(
            lambda r, p, t: day(
                r,
                mean if at_weekend(p) else 2_000,
                missing=(0.3, 0.3) if t >= begin and at_weekend(p) else (0.02, 0.02),
            ),
            seed,
        )
        weekends = {str(p) for t, p in enumerate(names) if t >= begin and at_weekend(p)}
        found = found_in(names, held)
        days = {n for n in map(str, names) if any(each.concerns(n) for each in found)}
        assert weekends <= days
        assert len(days - weekends) <= 1


def about(rng: np.random.Generator, mean: float, spread: float = 0.05) -> float:
    return float(rng.normal(mean, spread))


STEADY: dict[str, Day] = {
    "binomial": lambda rng, _, __: day(rng),
    "shares that vary by 5 pp": lambda rng, _, __: day(
        rng, women=about(rng, 0.4), missing=(about(rng, 0.2), about(rng, 0.2))
    ),
    "a weekly course of shares": lambda rng, name, _: day(
        rng, women=0.5 if at_weekend(name) else 0.4, missing=(0.3 if at_weekend(name) else 0.2,) * 2
    ),
    "volume that grows": lambda rng, _, t: day(rng, 2_000 * 1.02**t),
    "few rows at weekends": lambda rng, name, _: day(
        rng, quiet_at_weekends(name) * float(rng.lognormal(0, 0.15))
    ),
    "volume that varies": lambda rng, _, __: day(rng, 2_000 * float(rng.lognormal(0, 0.2))),
    "50 rows": lambda rng, _, __: day(rng, 50),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", list(STEADY))
def test_a_steady_feed_is_hardly_suspected(name: str) -> None:
    found = [each for seed in range(28) for each in found_in(*feed(STEADY[name], seed))]
    assert len({(each.problem, each.period) for each in found}) <= 1, found


def test_a_group_that_becomes_a_small_part_of_the_rows_is_named() -> None:
    counts = {}
    for t, name in enumerate(day_names(14)):
        rng = np.random.default_rng(t)
        share = 0.4 if t < 6 else 0.06
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], 2_000, p=[share, 1 - share])})
        rows["label"], rows["prediction"] = rng.integers(0, 2, (2, 2_000))
        counts[name] = fg.count(rows, **QUESTION)
    (found,) = fg.monitor_doctor(counts, asked(RATIO)).findings
    assert (found.problem.value, found.value) == ("group share", "F")
    assert (found.period, found.last) == (day_names(14)[6], day_names(14)[13])
    assert (
        '5.8% of 16,000 rows with a value in sex have "F", against 40.2% in the earlier'
        in found.says
    )


@pytest.mark.parametrize("begin", [7, 10, 17, 40])
def test_a_volume_that_falls_to_a_third_is_found_as_long_as_it_stays_low(begin: int) -> None:
    """It was never found in the first two weeks, and later for some days alone."""
    for seed in range(7):
        names, held = feed(
            lambda r, p, t: day(
                r, quiet_at_weekends(p) * float(r.lognormal(0, 0.1)) / (3 if t >= begin else 1)
            ),
            seed,
        )
        found = [e for e in found_in(names, held) if e.problem is HistoryProblem.VOLUME]
        days = [t for t, name in enumerate(names) if any(e.concerns(str(name)) for e in found)]
        assert days == [*range(begin, LENGTH)], (seed, days)


@pytest.mark.parametrize("begin", range(1, 7))
def test_a_value_absent_on_a_day_of_the_first_week_is_found_by_the_days_after_it(
    begin: int,
) -> None:
    """On the first weekend nothing before shows what is usual."""
    for seed in range(7):
        names, held = feed(
            lambda r, p, t: day(r, quiet_at_weekends(p), women=0 if t == begin else 0.4), seed
        )
        held[begin].values["sex"].pop("F")
        found = [e for e in found_in(names, held) if e.problem is HistoryProblem.VANISHED_VALUE]
        assert [(e.value, e.period, e.last) for e in found] == [("F", *[str(names[begin])] * 2)]
        assert found[0].expected == pytest.approx(0.4 * held[begin].rows, rel=0.1)


@pytest.mark.parametrize("low", range(7))
def test_a_day_of_the_first_week_is_found_and_no_later_one_is_accused_of_it(low: int) -> None:
    """The same weekday of later weeks was, as three times as many rows as usual."""
    right = 0
    for seed in range(7):
        names, held = feed(
            lambda r, p, t: day(
                r, quiet_at_weekends(p) * float(r.lognormal(0, 0.05)) / (3 if t == low else 1)
            ),
            seed,
        )
        found = [e for e in found_in(names, held) if e.problem is HistoryProblem.VOLUME]
        right += [(each.period, each.last) for each in found] == [(str(names[low]),) * 2]
    assert right >= 6, right


def test_the_same_weekday_is_usual_again_after_a_holiday_at_the_beginning() -> None:
    """The first Monday has a tenth of the rows: with four Mondays it is known to be the one.

    Until then neither of two is named: the second has as many rows as other working days.
    """
    names, held = feed(lambda r, _, t: day(r, 200 if t == 4 else 2_000), 0)
    before, since = (
        [e for e in check_history(names[:n], held[:n]) if e.problem is HistoryProblem.VOLUME]
        for n in (25, 26)
    )
    assert before == []
    assert [(each.period, each.last) for each in since] == [(str(names[4]),) * 2]
