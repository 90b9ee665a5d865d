"""The checks of a history: every disturbance is found, and a steady feed is hardly suspected."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.monitoring._history_checks import check_history
from fairgauge.monitoring._period_rows import CountedRows, counted_rows
from fairgauge.monitoring.periods import parse_period
from fairgauge.question.specification import ask
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem

if TYPE_CHECKING:
    from fairgauge.results.monitor_results import HistoryFinding

BRANCHES = [f"b{i}" for i in range(12)]
SHARES = np.array([0.3, 0.2, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.01, 0.007, 0.003])


def weekly(day: int, spread: float, rng: np.random.Generator) -> float:
    """Return the expected rows of a day: a third at weekends, and more or less at random."""
    return 400 * (0.33 if day % 7 >= 5 else 1.0) * float(rng.lognormal(0, spread))


def counted(rows: int, rng: np.random.Generator, missing: float = 0.02) -> CountedRows:
    """Return what a day of rows comes to, from cells of branches by sex and decision."""
    chances = np.outer(np.outer(SHARES, [0.4, 0.6]).ravel(), [0.6, 0.4]).ravel()
    cells = rng.multinomial(rows, chances)
    of_branch = cells.reshape(12, -1).sum(axis=1)
    held = cells[cells > 0]
    absent = int(rng.binomial(rows, missing))
    divisor = int(np.gcd.reduce(held)) if len(held) else 1
    values = {"branch": {b: int(n) for b, n in zip(BRANCHES, of_branch, strict=True) if n}}
    return CountedRows(
        digest=repr(cells.tolist()), rows=rows, read=rows, excluded={}, new_values={},
        values=values, missing={"branch": absent}, lacking={}, divisor=divisor,
        cells=len(held), coincidence=-50.0,
        agreement=(rows // 5, rows - rows // 5, rows / 2, rows / 4),
    )  # fmt: skip


def suspected(years: int, length: int, spread: float, seed: int = 3) -> Counter[HistoryProblem]:
    """Return in how many steady years each check finds something, whatever the day it starts."""
    rng = np.random.default_rng(seed)
    found: Counter[HistoryProblem] = Counter()
    names = [parse_period(name) for name in day_names(length)]
    for year in range(years):
        held = []
        for t in range(length):
            missing = 0.02 if (t + year) % 7 < 5 else 0.05
            held.append(counted(int(rng.poisson(weekly(t + year, spread, rng))), rng, missing))
        found.update({each.problem for each in check_history(names, held)})
    return found


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_a_steady_feed_with_a_weekly_course_is_hardly_suspected(spread: float) -> None:
    found = suspected(60 if EVERY_CASE else 20, 120, spread)
    assert sum(found.values()) <= 1, found


def rows_of(day: int, *, factor: int = 1, rng: np.random.Generator | None = None) -> pd.DataFrame:
    rng = rng or np.random.default_rng(day)
    size = int(rng.poisson(400 if day % 7 < 5 else 130)) * factor
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    frame["branch"] = rng.choice(BRANCHES[:4], size, p=[0.4, 0.3, 0.2, 0.1])
    frame["label"] = rng.integers(0, 2, size).astype(float)
    frame["prediction"] = rng.integers(0, 2, size)
    return frame


ASKED = asked(RATIO) | {"strata": "branch"}
QUESTION_OF_ROWS = QUESTION | {"strata": "branch"}


def history(change, at: int = 40, length: int = 42) -> dict[str, fg.Cube]:
    """Return days of which those from one on are changed; None leaves one out."""
    made = {}
    for t, name in enumerate(day_names(length)):
        rows = change(rows_of(t), t) if t >= at else rows_of(t)
        if rows is not None:
            made[name] = fg.count(rows, **QUESTION_OF_ROWS)
    return made


def half_spelt(rows, _day):
    lower = (np.arange(len(rows)) % 2 == 0) & (rows["sex"] == "F")
    return rows.assign(sex=np.where(lower, "f", rows["sex"]))


def relabelled(rows, _day):
    return rows.assign(branch=rows["branch"].replace("b1", "c1"))


def half_missing(rows, _day):
    return rows.assign(sex=rows["sex"].where(np.arange(len(rows)) % 2 == 0))


DISTURBANCES = {
    "twice": (lambda rows, day: pd.concat([rows] * (2 if day == 40 else 1)),
              {("doubled rows", None, None)}),
    "a gap": (lambda rows, day: None if day == 40 else rows, {("gap", None, None)}),
    "spelling": (half_spelt, {("spelling", "sex", "f")}),
    "another name": (relabelled, {("new value", "branch", "c1"),
                                  ("vanished value", "branch", "b1")}),
    "no women": (lambda rows, _: rows[rows["sex"] == "M"],
                 {("vanished value", "sex", "F")}),
    "a tenth": (lambda rows, _: rows.iloc[: len(rows) // 10], {("volume", None, None)}),
    "four times": (lambda rows, day: rows_of(day, factor=4), {("volume", None, None)}),
    "no sex": (half_missing, {("missing values", "sex", None)}),
    "the same file": (lambda _, __: rows_of(33), {("same counts", None, None)}),
}  # fmt: skip


@pytest.mark.parametrize("name", list(DISTURBANCES))
def test_every_disturbance_is_found_and_named(name: str) -> None:
    change, expected = DISTURBANCES[name]
    health = fg.monitor_doctor(history(change), ASKED)
    found = {(each.problem.value, each.column, each.value) for each in health.findings}
    assert expected <= found
    assert health.exit_code == 1
    for each in health.findings:
        assert each.period >= "2026-02-10"
        assert each.says.endswith(".")
    assert fg.monitor(history(change), ASKED).findings == health.findings


def test_groups_that_are_listed_as_unknown_are_missing_values() -> None:
    """Of twelve days of them no word was said, while an empty field was found."""

    def marked(rows, _day):
        return half_missing(rows, _day).fillna({"sex": "n/a"})

    unknown = fg.monitor_doctor(history(marked), ASKED | {"unknown": ["n/a"]})
    empty = fg.monitor_doctor(history(half_missing), ASKED)
    assert [*map(str, unknown.findings)] == [*map(str, empty.findings)]
    assert ("missing values", "sex") in {(e.problem, e.column) for e in unknown.findings}


def test_nothing_is_found_in_a_steady_history() -> None:
    health = fg.monitor_doctor(history(lambda rows, _: rows), ASKED)
    assert (health.findings, health.exit_code) == ((), 0)
    assert "NOTHING FOUND" in str(health)
    assert fg.monitor_doctor({}, ASKED).exit_code == 3
    assert fg.monitor_doctor({}, ASKED).findings == ()


def found_in(counts: dict[str, fg.Cube]) -> list[HistoryFinding]:
    return list(fg.monitor_doctor(counts, asked(RATIO)).findings)


def test_a_feed_of_weekdays_has_no_gaps_at_weekends() -> None:
    first = dt.date(2026, 1, 1)
    weekdays = [n for n in day_names(40) if dt.date.fromisoformat(n).weekday() < 5]
    made = days(40, 99, 0.4)
    assert found_in({name: made[name] for name in weekdays}) == []
    (gap,) = found_in({name: made[name] for name in weekdays if name != "2026-01-21"})
    assert (gap.problem, gap.period, gap.other, gap.rows) == (
        HistoryProblem.GAP, "2026-01-21", "2026-01-22", 1,
    )  # fmt: skip
    assert first.weekday() == 3
    start = weekdays[:6]  # a Thursday to the Thursday after, without its Tuesday
    assert [e.period for e in found_in({n: made[n] for n in start if n != "2026-01-06"})] == [
        "2026-01-06"
    ]


def test_a_feed_that_stopped_before_the_period_asked_for_has_a_gap() -> None:
    made = days(40, 99, 0.4)
    question = QUESTION | {"monitor": {"rules": [RATIO]}}
    last = list(made)[-1]
    assert fg.monitor_doctor(made, question, at=last).findings == ()
    until = str(dt.date.fromisoformat(last) + dt.timedelta(days=9))
    (gap,) = fg.monitor_doctor(made, question, at=until).findings
    assert (gap.problem, gap.last, gap.rows) == (HistoryProblem.GAP, until, 9)


def test_the_same_counts_by_coincidence_are_nothing_to_warn_of() -> None:
    """Days of fixed sizes have the counts of earlier ones again and again."""
    made = days(300, 999, 0.4, seed=2)
    digests = Counter(each.digest for each in made.values())
    assert max(digests.values()) > 1
    assert found_in(made) == []


def test_a_feed_that_stands_still_is_found_though_its_counts_are_coarse() -> None:
    made = days(30, 99, 0.4)
    still = dict.fromkeys(day_names(36)[30:], made[day_names(30)[-1]])
    found = found_in(made | still)
    assert {each.problem for each in found} == {HistoryProblem.SAME_COUNTS}
    assert {each.other for each in found} == {day_names(30)[-1]}


def test_drifting_missing_values_are_found_where_no_day_jumps() -> None:
    rng = np.random.default_rng(4)
    names = [parse_period(name) for name in day_names(100)]
    held = [counted(2_000, rng, 0.01 + 0.0012 * t) for t in range(100)]
    found = [e for e in check_history(names, held) if e.problem is HistoryProblem.MISSING_VALUES]
    assert 1 <= len(found) <= 2  # it may fall back once while it is barely one
    assert found[-1].last == day_names(100)[-1]
    assert check_history(names, held, later={"branch": 100}) == ()


def test_a_baseline_with_the_counts_of_a_day_is_a_warning(tmp_path) -> None:
    made = days(10, 99, 0.4)
    made["2026-01-03"].save(tmp_path / "base.cube.json")
    rule = {"metric": "selection_rate.difference", "within": 0.1, "groups": "F"}
    report = fg.monitor(made, asked(rule | {"of": str(tmp_path / "base.cube.json")}))
    (found,) = report.findings
    assert (found.problem, found.period) == (HistoryProblem.SAME_AS_BASELINE, "2026-01-03")
    assert "the counts of the baseline base.cube.json (300 rows)" in found.says
    assert report.comparisons[0].evidence is not None


def test_a_chart_has_a_place_for_periods_without_counts() -> None:
    from fairgauge.render.documents.monitor_document import _charts

    made = days(10, 99, 0.4)
    report = fg.monitor({n: c for n, c in made.items() if n != "2026-01-05"}, asked(RATIO))
    for chart in list(_charts(report.comparisons[0], report))[:2]:
        assert chart.times == tuple(day_names(10))
        assert [mark.value is None for mark in chart.marks].index(True) == 4


def test_findings_of_the_last_period_are_gauges() -> None:
    from fairgauge.render import render

    report = fg.monitor(history(half_spelt), ASKED)
    text = render(report, "openmetrics")
    assert 'fairgauge_rows_suspected{model="counts",problem="spelling"} 1' in text
    assert 'fairgauge_rows_suspected{model="counts",problem="gap"} 0' in text


@pytest.mark.parametrize("begin", [14, 17, 20])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_an_outage_is_found_on_each_of_its_days(begin, share) -> None:
    """Its first days are not what is usual for the next ones."""
    rng = np.random.default_rng(6)
    days = [share * (begin <= t < begin + 5) for t in range(30)]
    held = [counted(250, rng, missing) for missing in days]
    names = [parse_period(name) for name in day_names(len(held))]
    (found,) = check_history(names, held)
    assert found.problem is HistoryProblem.MISSING_VALUES
    assert (found.period, found.last) == (str(names[begin]), str(names[begin + 4]))


@pytest.mark.parametrize("length", [1, 30])
@pytest.mark.parametrize("begin", [4, 5, 6, 8, 13])
@pytest.mark.parametrize("usual", [0.0, 0.02])
def test_an_outage_within_the_first_two_weeks_is_found(usual, begin, length) -> None:
    rng = np.random.default_rng(7)
    names = [parse_period(name) for name in day_names(30)]
    days = range(begin, min(begin + length, 30))
    held = [counted(400, rng, 0.4 if t in days else usual) for t in range(30)]
    (found,) = check_history(names, held)
    assert (found.problem, found.column) == (HistoryProblem.MISSING_VALUES, "branch")
    assert (found.period, found.last) == (str(names[days[0]]), str(names[days[-1]]))
    assert found.expected == pytest.approx(usual, abs=0.02)
    (early,) = check_history(names[: begin + 1], held[: begin + 1])
    assert early.period == early.last == str(names[begin])  # on its first day


def test_a_first_weekend_is_compared_with_later_ones_alone() -> None:
    rng = np.random.default_rng(7)
    names = [parse_period(name) for name in day_names(14)]
    assert names[2].start.weekday() == 5
    held = [counted(400, rng, 0.4 if t == 2 else 0.02) for t in range(14)]
    assert check_history(names[:9], held[:9]) == ()
    (found,) = check_history(names, held)
    assert found.period == found.last == str(names[2])


def test_values_that_are_missing_on_the_first_days_alone_are_found_afterwards() -> None:
    rng = np.random.default_rng(7)
    names = [parse_period(name) for name in day_names(6)]
    held = [counted(400, rng, 0.5 if t < 2 else 0.01) for t in range(6)]
    assert [check_history(names[:n], held[:n]) for n in (1, 2)] == [(), ()]
    (found,) = check_history(names, held)
    assert (found.period, found.last) == (str(names[0]), str(names[1]))


def test_a_value_that_is_absent_for_a_day_of_the_first_weeks_is_found() -> None:
    rng = np.random.default_rng(7)
    names = [parse_period(name) for name in day_names(21)]
    for day in (4, 7, 11, 14, 16, 18, 20):  # a second Saturday has but two weekend days before it
        held = [counted(400, rng) for _ in names]
        gone = held[day].values["branch"].pop("b1")
        (found,) = check_history(names, held)
        assert (found.problem, found.value) == (HistoryProblem.VANISHED_VALUE, "b1")
        assert found.period == found.last == str(names[day])
        assert found.expected == pytest.approx(gone, rel=0.4)


def test_a_value_that_few_rows_may_well_lack_is_no_finding() -> None:
    rng = np.random.default_rng(7)
    names = [parse_period(name) for name in day_names(21)]
    held = [counted(400, rng) for _ in names]
    held[8].values["branch"].pop("b9", None)
    assert check_history(names, held) == ()


def test_a_branch_that_is_closed_at_weekends_has_not_vanished() -> None:
    rng = np.random.default_rng(7)
    names = [parse_period(name) for name in day_names(42)]
    held = [counted(400, rng) for _ in names]
    for t, name in enumerate(names):
        if name.start.weekday() >= 5:
            held[t].values["branch"].pop("b1")
    assert check_history(names, held) == ()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", [50, 500, 5_000])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.2])
def test_a_steady_month_of_binomial_days_is_hardly_suspected(rows, share) -> None:
    rng = np.random.default_rng(9)
    names = [parse_period(name) for name in day_names(30)]
    found = [
        check_history(names, [counted(rows, rng, share) for _ in names])
        for _ in range(40 if EVERY_CASE else 15)
    ]
    assert sum(map(bool, found)) <= 1


def test_a_handful_of_rows_proves_nothing() -> None:
    assert found_in(dict.fromkeys(day_names(30), cube(1, of=2, others=1, size=2))) == []


def test_missing_values_that_drift_in_the_first_month_are_found() -> None:
    rng = np.random.default_rng(8)
    names = [parse_period(name) for name in day_names(30)]
    held = [counted(900, rng, max(0.0, 0.02 * (t - 10))) for t in range(30)]
    found = [e for e in check_history(names, held) if e.problem is HistoryProblem.MISSING_VALUES]
    assert found
    assert max(each.last for each in found) == day_names(30)[-1]
    covered = {n for e in found for n in day_names(30) if e.period <= n <= e.last}
    assert set(day_names(30)[18:]) <= covered


def test_a_steady_first_month_is_hardly_suspected() -> None:
    found = suspected(200 if EVERY_CASE else 70, 30, 0.2, seed=5)
    assert sum(found.values()) <= 2, found


def test_numbers_of_several_periods_are_those_of_all() -> None:
    rng = np.random.default_rng(6)
    names = [parse_period(name) for name in day_names(24)]
    held = [counted(400, rng) for _ in names]
    spelt = [each.values["branch"][BRANCHES[0]] // 2 for each in held[20:]]
    for each, rows in zip(held[20:], spelt, strict=True):
        each.values["branch"][BRANCHES[0]] -= rows
        each.values["branch"][BRANCHES[0].upper()] = rows
    few = [counted(100, rng) for _ in names[22:]]
    (one,) = check_history(names, held)
    assert (one.period, one.last, one.rows) == (day_names(24)[20], day_names(24)[23], sum(spelt))
    volume = [e for e in check_history(names, [*held[:22], *few]) if e.value is None]
    assert [(e.rows, e.expected) for e in volume] == [(200, pytest.approx(800, rel=0.01))]


def test_a_rare_value_that_vanishes_is_found_by_several_days_together() -> None:
    """A twentieth of the rows, fewer on two days of the week: no single day without it is proof."""

    def rows(day: int) -> pd.DataFrame:
        rng = np.random.default_rng(day + 500)
        size = 420 if day % 7 < 5 else 160
        channel = rng.choice(["web", "app", "phone"], size, p=[0.5, 0.45, 0.05])
        found = pd.DataFrame({"sex": rng.choice(["F", "M"], size), "branch": channel})
        found["label"], found["prediction"] = rng.integers(0, 2, (2, size))
        return found[found["branch"] != "phone"] if day >= 17 else found

    counts = {name: fg.count(rows(t), **QUESTION_OF_ROWS) for t, name in enumerate(day_names(24))}
    (found,) = fg.monitor_doctor(counts, ASKED).findings
    assert (found.problem.value, found.value, found.period, found.last) == (
        "vanished value", "phone", "2026-01-18", "2026-01-24"
    )  # fmt: skip
    assert f"among {found.rows:,} rows" in found.says


def test_a_day_that_was_written_several_times_makes_no_later_day_a_jump() -> None:
    """The day a week later is not expected to have as many rows."""

    def rows(day: int) -> pd.DataFrame:
        found = rows_of(day, factor=2).iloc[: 380 if day % 7 < 5 else 120]
        return pd.concat([found] * (4 if day == 9 else 1))

    counts = {name: fg.count(rows(t), **QUESTION_OF_ROWS) for t, name in enumerate(day_names(24))}
    found = [
        (each.problem.value, each.period, each.last)
        for each in fg.monitor_doctor(counts, ASKED).findings
    ]
    assert found == [("doubled rows", "2026-01-10", "2026-01-10")]


def test_a_doubled_day_is_not_what_the_next_week_is_held_against() -> None:
    """Of few cells, a day is known to be doubled by its volume alone, and a weekday is absent."""

    def day(at: int) -> fg.Cube:
        size, times = (70 if at % 7 < 5 else 30) - 9 * (at == 23), 2 if at == 16 else 1
        cells = [times * each for each in (size + at % 5, size + 1, size + 2, size + at % 3)]
        women, men = (dict(zip(("tp", "fn"), pair, strict=True)) for pair in (cells[:2], cells[2:]))
        return fg.confusion("sex", {"F": women, "M": men})

    counts = {name: day(at) for at, name in enumerate(day_names(30)) if at != 9}
    found = [(each.problem.value, each.period) for each in found_in(counts)]
    assert found == [("gap", "2026-01-10"), ("doubled rows", "2026-01-17")]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("weekend", [290, 120])
@pytest.mark.parametrize("doubled", range(4, 30))
def test_a_doubled_day_is_found_on_any_weekday(doubled, weekend) -> None:
    """On the first weekend days no volume was known that one could be as many times as."""

    def day(at: int) -> fg.Cube:
        rng, times = np.random.default_rng(at), 2 if at == doubled else 1
        size = 290 if at % 7 not in (2, 3) else weekend  # 1 January 2026 is a Thursday
        cells = times * rng.multinomial(rng.poisson(size), [0.3, 0.2, 0.3, 0.2])
        women, men = (dict(zip(("tp", "fn"), pair.tolist(), strict=True))
                      for pair in (cells[:2], cells[2:]))  # fmt: skip
        return fg.confusion("sex", {"F": women, "M": men})

    counts = {name: day(at) for at, name in enumerate(day_names(40))}
    name = day_names(40)[doubled]
    assert [(each.problem.value, each.period) for each in found_in(counts)] == [
        ("doubled rows", name)
    ]


REGIONS = ["North", "South", "East", "West"]
RECALL = {"metric": "true_positive_rate.difference", "between": [-0.9, 0.9]}


def regional(day: int, size: int | None = None) -> pd.DataFrame:
    """Return a day of rows, far fewer at weekends, as of the volume that varies by some percent."""
    rng = np.random.default_rng(day + 900)
    mean, spread = (350, 38) if day % 7 in (2, 3) else (870, 36)  # from a Thursday on
    rows = size or int(rng.normal(mean, spread))
    frame = pd.DataFrame({"sex": rng.choice(REGIONS, rows, p=[0.4, 0.3, 0.2, 0.1])})
    frame["branch"] = rng.choice(["x", "y"], rows)
    frame["label"] = rng.integers(0, 2, rows).astype(float)
    frame["prediction"] = rng.integers(0, 2, rows).astype(float)
    return frame


def of_regions(change, at: int, length: int = 30, *rules, **options) -> fg.MonitorReport:
    made = {}
    for t, name in enumerate(day_names(length)):
        rows = regional(t)
        made[name] = fg.count(change(rows, t) if t >= at else rows, **QUESTION_OF_ROWS)
    rule = {"metric": "selection_rate.difference", "between": [-0.9, 0.9]}
    return fg.monitor(made, asked(rule, *rules, **options) | {"strata": "branch"})


def without(column, chosen):
    """Return a change that empties a column in the rows that are chosen."""
    return lambda rows, day: rows.assign(
        **{column: rows[column].mask(chosen(rows, np.random.default_rng(day)))}
    )


LOSSES = {
    "of all": (lambda rows, rng: rng.random(len(rows)) < 0.4, None, 0.4),
    "of a group": (lambda rows, _: rows["sex"] == "South", "South", 1.0),
    "half of a group": (
        lambda rows, rng: (rows["sex"] == "South") & (rng.random(len(rows)) < 0.5), "South", 0.5),
    "of positives": (
        lambda rows, _: (rows["sex"] == "South") & (rows["label"] == 1), "South", 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LOSSES))
def test_labels_that_are_missing_in_part_are_found_once_they_are_due(name: str) -> None:
    from fairgauge.render import render

    chosen, group, share = LOSSES[name]
    late = {"labels": "later", "labels_within": 5}
    report = of_regions(without("label", chosen), 20, 30, RECALL, **late)
    (found,) = report.findings
    assert (found.problem.value, found.column) == ("missing labels", "label")
    assert (found.value, found.other) == (group, group and "sex")
    assert (found.period, found.last) == (day_names(30)[20], day_names(30)[24])
    assert found.share == pytest.approx(share, abs=0.1)
    assert found.expected == 0
    assert report.concerning(report.periods[-1]) == (found,)
    gauge = 'fairgauge_rows_suspected{model="counts",problem="missing labels"} 1'
    assert gauge in render(report, "openmetrics")
    before = of_regions(without("label", chosen), 20, 25, RECALL, **late)
    assert before.findings == ()  # none is due


def test_missing_predictions_of_a_small_group_are_found_on_their_first_day() -> None:
    west = without("prediction", lambda rows, _: rows["sex"] == "West")
    report = of_regions(west, 23)
    (found,) = report.findings
    assert (found.value, found.share, found.period) == ("West", 1.0, day_names(30)[23])
    assert 'rows with "West" in sex have no value in prediction' in found.says
    lacking = next(each for each in report.comparisons if each.group == "West")
    size = report.rows[-1].excluded["missing prediction"]
    text = f"{size} of the rows of the group ({size}) have no value in prediction"
    assert text in lacking.says
    assert "no rows (n = 0)" not in str(report)
    line = str(report).splitlines()
    assert "West vs" in " ".join(line[:12])
    assert "Add the next day" not in str(report)


def test_labels_that_a_group_lacks_are_not_called_absent_positives() -> None:
    lost = without("label", lambda rows, _: rows["sex"] == "South")
    report = of_regions(lost, 20, 30, RECALL, labels="later", labels_within=5)
    south = next(e for e in report.undefined if e.group == "South")
    assert south.undefined[-1].reason is not None
    assert "have no value in label" in south.says
    assert "no observed positives" not in south.says


def respelt(rows: pd.DataFrame, day: int) -> pd.DataFrame:
    half = (rows["sex"] == "South") & (np.random.default_rng(day).random(len(rows)) < 0.5)
    return rows.assign(sex=rows["sex"].mask(half, "Sth."))


def test_a_lasting_misspelling_stays_open_and_its_rows_add_up() -> None:
    report = of_regions(respelt, 22, 30)
    (found,) = report.findings
    rows = sum((respelt(regional(t), t)["sex"] == "Sth.").sum() for t in range(22, 30))
    assert (found.problem.value, found.value, found.other) == ("new value", "Sth.", "South")
    assert (found.period, found.last, found.rows) == (day_names(30)[22], day_names(30)[29], rows)
    assert found.share == pytest.approx(0.15, abs=0.02)
    assert found.expected == pytest.approx(0.3, abs=0.02)
    assert report.concerning(report.periods[-1]) == (found,)
    mended = of_regions(lambda rows, t: respelt(rows, t) if t < 24 else rows, 22, 30)
    assert [each.last for each in mended.findings] == [day_names(30)[23]]


CODES = dict(zip(REGIONS, "4321", strict=True))


@pytest.mark.parametrize(("codes", "named"), [
    ({name: CODES[name] for name in REGIONS[:2]}, {CODES[name]: name for name in REGIONS[:2]}),
    (CODES, {code: name for name, code in CODES.items()}),
])  # fmt: skip
def test_of_several_renamed_values_each_is_its_own_one(codes, named) -> None:
    """All new codes were paired with the largest value that vanished: women with men."""

    def coded(rows, _day):
        return rows.assign(sex=rows["sex"].replace(codes))

    new = [f for f in of_regions(coded, 22, 24).findings if f.problem is HistoryProblem.NEW_VALUE]
    assert {each.value: each.other for each in new} == named


def test_of_two_alike_that_vanish_no_one_is_named() -> None:
    """Whose code is whose their shares do not show."""

    def coded(rows, day):
        alike = rows.assign(sex=rows["sex"].replace({"East": "West"}))
        parts = np.random.default_rng(day).random(len(rows)) < 0.5
        of_west = alike["sex"] == "West"
        second = alike["sex"].mask(of_west & parts, "Upper")
        return alike.assign(sex=second.replace({"West": "1", "Upper": "2"} if day >= 22 else {}))

    new = [f for f in of_regions(coded, 0, 24).findings if f.problem is HistoryProblem.NEW_VALUE]
    assert {each.value: each.other for each in new} == {"1": None, "2": None}


@pytest.mark.parametrize("size", [15, 60])
def test_a_new_group_is_new_on_every_day_that_it_is_no_small_part_of(size: int) -> None:
    def more(rows, _day):
        return pd.concat([rows, rows.iloc[:size].assign(sex="Centre")])

    names = day_names(30)
    for length in range(23, 31, 1 if EVERY_CASE else 3):
        (found,) = of_regions(more, 22, length).findings
        assert (found.problem, found.value, found.other) == (
            HistoryProblem.NEW_VALUE, "Centre", None,
        )  # fmt: skip
        assert (found.period, found.last) == (names[22], names[22 if size == 15 else length - 1])


UNUSUAL = {
    "new": (respelt, 30),
    "new on one day": (respelt, 23),
    "spelt otherwise": (lambda rows, _: rows.assign(sex=rows["sex"].str.upper()), 23),
    "exchanged": (
        lambda rows, _: rows.assign(sex=rows["sex"].replace({"North": "East", "East": "North"})),
        23,
    ),
    "vanished": (lambda rows, _: rows[rows["sex"] != "South"], 23),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_a_value_is_new_whatever_was_unusual_before_it(case) -> None:
    """That day counted as variation of the shares, so that no later value was new for a month."""
    unusual, until = UNUSUAL[case]

    def changed(rows, day):
        rows = unusual(rows, day) if day < until else rows
        few = np.arange(len(rows)) < (40 if day >= 24 else 0)
        return rows.assign(sex=rows["sex"].mask(few, "Centre"))

    report = of_regions(changed, 22, 27)
    new = {f.value: f.period for f in report.findings if f.problem is HistoryProblem.NEW_VALUE}
    assert new["Centre"] == day_names(27)[24]


@pytest.mark.parametrize("size", [399, 1_300, 1_700])
def test_a_weekday_is_not_held_against_the_noise_of_weekends(size: int) -> None:
    day = 22
    assert dt.date.fromisoformat(day_names(23)[day]).weekday() == 4
    report = of_regions(lambda _, t: regional(t, size), day, 23)
    (found,) = report.findings
    assert (found.problem, found.rows) == (HistoryProblem.VOLUME, size)
    assert of_regions(lambda rows, _: rows, day, 23).findings == ()


def test_a_month_with_far_noisier_weekends_is_hardly_suspected() -> None:
    rng = np.random.default_rng(11)
    names = [parse_period(name) for name in day_names(30)]
    found = []
    for _ in range(100 if EVERY_CASE else 40):
        held = []
        for each in names:
            mean, spread = (350, 0.15) if each.start.weekday() >= 5 else (870, 0.03)
            held.append(counted(int(rng.poisson(mean * rng.lognormal(0, spread))), rng))
        found += [e for e in check_history(names, held) if e.problem is HistoryProblem.VOLUME]
    assert len(found) <= 1, found


@pytest.mark.parametrize("size", [150, 600])
@pytest.mark.parametrize("length", [24, 25])
def test_a_jump_at_a_weekend_is_found_where_weekdays_are_alike(length: int, size: int) -> None:
    """A month has few Saturdays, and those alone would not tell."""
    rng, found = np.random.default_rng(12), 0
    names = [parse_period(name) for name in day_names(length)]
    assert names[-1].start.weekday() >= 5
    months = 40 if EVERY_CASE else 15
    for _ in range(months):
        held = [counted(int(rng.poisson(300)), rng) for _ in names[1:]]
        held.append(counted(size, rng))
        every = check_history(names, held)
        found += any(e.problem is HistoryProblem.VOLUME and e.rows == size for e in every)
    assert found >= 0.93 * months, found


def _outcomes_of(change, length: int = 30, size: int = 80) -> fg.MonitorReport:
    """Monitor days whose predictions differ from the label in about a fifth of the rows."""
    made = {}
    for day, name in enumerate(day_names(length)):
        rng = np.random.default_rng(day)
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], int(rng.poisson(size)))})
        rows["label"] = rng.integers(0, 2, len(rows))
        rows["prediction"] = rows["label"] ^ (rng.random(len(rows)) < 0.2).astype(int)
        made[name] = fg.count(change(rows, day), **QUESTION)
    rule = {"metric": "true_positive_rate.ratio", "at_least": 0.3, "groups": "F"}
    return fg.monitor(made, asked(rule, RATIO | {"at_least": 0.3}))


def _copied(*days):
    return lambda rows, t: rows.assign(prediction=rows["label"]) if t in days else rows


def _exchanged(*days):
    return lambda rows, t: rows.assign(prediction=1 - rows["label"]) if t in days else rows


ALL = range(30)
OUTCOMES = {
    "one prediction": (lambda rows, _: rows.assign(prediction=1), ("one value", 0, 29)),
    "one label": (lambda rows, _: rows.assign(label=1), ("one value", 0, 29)),
    "a copy of the label on a day": (_copied(7), ("prediction equals label", 7, 7)),
    "a copy on the first days": (_copied(0, 1), ("prediction equals label", 0, 1)),
    "a copy from the fifth day on": (_copied(*ALL[5:]), ("prediction equals label", 5, 29)),
    "a copy on all days": (_copied(*ALL), ("prediction equals label", 0, 29)),
    "exchanged": (_exchanged(29), ("prediction opposite of label", 29, 29)),
    "exchanged on all days": (_exchanged(*ALL), ("prediction opposite of label", 0, 29)),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", list(OUTCOMES))
def test_outcomes_that_no_model_makes_are_found(name: str) -> None:
    from fairgauge.render import render

    change, (problem, first, last) = OUTCOMES[name]
    report = _outcomes_of(change)
    found = [(each.problem.value, each.period, each.last) for each in report.findings]
    assert found == [(problem, day_names(30)[first], day_names(30)[last])]
    gauge = f'fairgauge_rows_suspected{{model="counts",problem="{problem}"}} {int(last == 29)}'
    assert gauge in render(report, "openmetrics")


def _scored(change, length: int = 30, **asks) -> fg.MonitorReport:
    """Monitor days whose scores decide at a threshold, and err in about a fifth of the rows."""
    made = {}
    question = {"label": "label", "score": "score", "positive": 1, "sensitive": "sex", **asks}
    for day, name in enumerate(day_names(length)):
        rng = np.random.default_rng(day)
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], int(rng.poisson(80)))})
        rows["label"] = rng.integers(0, 2, len(rows))
        rows["score"] = (rows["label"] * 0.6 + rng.random(len(rows)) * 0.7).clip(0, 1)
        made[name] = fg.count(change(rows, day), **question)
    rule = {"metric": "true_positive_rate.ratio", "at_least": 0.3, "groups": "F"}
    return fg.monitor(made, question | {"monitor": {"rules": [rule]}})


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows, None),
        (lambda rows: rows.assign(score=0.3), "one score"),
        (lambda rows: rows.assign(score=rows["label"].astype(float)), "prediction equals label"),
        (lambda rows: rows.assign(score=1.0 - rows["label"]), "prediction opposite of label"),
        (lambda rows: rows.assign(label=1), "one value"),
    ],
)
@pytest.mark.parametrize("first", [0, 12])
def test_scores_that_no_model_gives_are_found(change, problem, first) -> None:
    report = _scored(lambda rows, t: change(rows) if t >= first else rows)
    found = {(each.problem.value, each.period) for each in report.findings}
    name = day_names(30)[first]
    expected = {(problem.replace("score", "value"), name)} if problem else set()
    if problem in ("one value", "one score") and first:  # others have both decisions, or labels
        expected = {("vanished value", name)} | (expected if problem == "one score" else set())
    assert found == expected


def test_scores_of_the_unfavourable_value_are_no_mirrored_label() -> None:
    turned = _scored(lambda rows, _: rows.assign(score=1 - rows["score"]), score_of=0)
    assert turned.findings == ()


def test_codes_with_leading_zeros_are_no_spellings_of_each_other() -> None:
    def coded(rows, day):
        codes = {"b0": "01", "b1": "1", "b2": "10", "b3": "010"}
        return rows.assign(branch=rows["branch"].replace(codes))

    assert fg.monitor_doctor(history(coded, at=0, length=30), ASKED).findings == ()


def test_days_of_few_rows_without_an_error_are_no_copies() -> None:
    assert _outcomes_of(lambda rows, _: rows, size=12).findings == ()
    assert (
        _outcomes_of(lambda rows, t: rows.iloc[:12] if t else _copied(0)(rows, 0)[:12], 4).findings
        == ()
    )
    few = _outcomes_of(_copied(*ALL), length=2, size=15)
    assert few.findings == ()
    assert _outcomes_of(_copied(*ALL[10:]), size=12).findings  # of twenty days together


@pytest.mark.parametrize(
    ("column", "known", "other", "first"),
    [("sex", "M", "m", 20), ("sex", "F", "f ", 0)],
)
def test_a_spelling_is_paired_with_the_value_that_it_reads_like(
    column: str, known: str, other: str, first: int
) -> None:
    def change(rows, day):
        rows = rows.astype(str)
        half = (rows[column] == known) & (np.arange(len(rows)) % 2 == 0) & (day >= first)
        return rows.assign(**{column: rows[column].mask(half, other)})

    spelt = [(e.problem.value, e.period, e.last, e.value) for e in _outcomes_of(change).findings]
    assert len(spelt) == 1, spelt
    assert spelt[0][:3] == ("spelling", day_names(30)[first], day_names(30)[29])
    assert spelt[0][3] in ((known, other) if first == 0 else (other,))


def test_a_number_is_paired_with_the_same_number_and_not_with_one_that_it_replaces() -> None:
    def renamed(rows, day):
        if day >= 20:
            return rows.assign(branch=rows["branch"].replace({"b1": "1.0", "b2": "3"}))
        return rows.assign(branch=rows["branch"].replace({"b1": "1", "b2": "3"}))

    found = fg.monitor_doctor(history(renamed, at=0, length=30), ASKED).findings
    assert ("spelling", "1.0", "1") in [(e.problem.value, e.value, e.other) for e in found]
    assert "new value" not in [each.problem.value for each in found]


@pytest.mark.parametrize("other", ["18 - 34", "18\u201334", "18 -34"])
def test_a_band_in_other_blanks_or_dashes_is_a_spelling(other: str) -> None:
    """It was a new value, and an audit of the same rows called it a spelling."""

    def banded(rows, day):
        bands = {"b0": "18-34", "b1": "35-59", "b2": other if day >= 20 else "18-34"}
        return rows.assign(branch=rows["branch"].replace(bands))

    found = fg.monitor_doctor(history(banded, at=0, length=30), ASKED).findings
    assert ("spelling", other, "18-34") in [(e.problem.value, e.value, e.other) for e in found]


def _of_outcomes(size: int, rng: np.random.Generator) -> fg.Cube:
    """Return the counts of a day of rows whose shares are those of every day."""
    women = int(rng.binomial(size, 0.4))
    cells = {
        sex: dict(zip(("tp", "fp", "fn", "tn"), map(int, rng.multinomial(n, chances)), strict=True))
        for sex, n, chances in (
            ("F", women, [0.30, 0.10, 0.15, 0.45]),
            ("M", size - women, [0.35, 0.10, 0.10, 0.45]),
        )
    }
    return fg.confusion("sex", cells)


@pytest.mark.parametrize(
    ("weekday", "weekend", "spread"),
    [(400, 130, 0.0), (400, 130, 0.1), (40, 15, 0.1), (12, 12, 0.0)],
)
def test_a_steady_month_of_outcomes_has_no_finding(weekday, weekend, spread) -> None:
    """Of 1,200 such months none had a finding (docs/monitoring.md)."""
    rng, found = np.random.default_rng(7), []
    names = [parse_period(name) for name in day_names(30)]
    question = ask(**QUESTION)
    for _ in range(25 if EVERY_CASE else 8):
        sizes = [weekday if each.start.weekday() < 5 else weekend for each in names]
        cubes = [_of_outcomes(int(rng.poisson(n * rng.lognormal(0, spread))), rng) for n in sizes]
        held = [counted_rows(each, question, cubes[0] if t else None)
                for t, each in enumerate(cubes)]  # fmt: skip
        found += check_history(names, held, outcomes={"label": None, "prediction": "label"})
    assert found == []


SCORED = {"label": "y", "positive": 1, "sensitive": "g", "score": "s", "score_range": [0, 100]}


def scored(day: int, rng: np.random.Generator, rows: int = 200) -> pd.DataFrame:
    """Return rows with scores whose level moves from day to day."""
    level = rng.normal(0, 0.3)
    scores = 100 / (1 + np.exp(-(level + rng.normal(-0.5, 1, rows))))
    y = (rng.random(rows) < scores / 100).astype(int)
    return pd.DataFrame({"y": y, "g": rng.choice(["a", "b"], rows), "s": scores, "p": y[::-1]})


@pytest.mark.parametrize("decided", [False, True])
@pytest.mark.parametrize(
    ("kind", "problem", "says"),
    [
        ("as before", None, ""),
        ("constant", HistoryProblem.ONE_VALUE, 'that have a value in s have "37.5"'),
        ("divided", HistoryProblem.OTHER_SCORES, "100.0% of 400 rows have a score in s outside"),
        ("squeezed", HistoryProblem.OTHER_SCORES, "all 400 rows have scores in s in a range in"),
        ("times 100", HistoryProblem.OTHER_SCORES, "of 400 rows have a score in s outside"),
        ("missing", HistoryProblem.MISSING_VALUES, "100.0% of 400 rows have no value in s"),
    ],
)
def test_scores_on_another_scale_constant_or_missing_are_found(
    kind: str, problem: HistoryProblem | None, says: str, *, decided: bool
) -> None:
    """With a decision of its own the score was looked at nowhere; nor was its scale ever."""
    rng = np.random.default_rng(5)
    asked_of_scores = SCORED | ({"prediction": "p"} if decided else {"threshold": 40})
    cubes = {}
    for t, name in enumerate(day_names(20)):
        rows, late = scored(t, rng), t in (17, 18)
        if kind == "times 100":
            rows["s"] *= 1 if late else 0.01
        elif late and kind != "as before":
            by_kind = {"constant": 37.5, "divided": rows["s"] / 100, "missing": np.nan}
            rows["s"] = (by_kind | {"squeezed": 37 + rows["s"] / 100})[kind]
        cubes[name] = fg.count(rows, **asked_of_scores)
    found = fg.monitor(cubes, asked_of_scores | {"monitor": {"rules": [RATIO | {"groups": "a"}]}})
    of_scores = {
        HistoryProblem.ONE_VALUE,
        HistoryProblem.OTHER_SCORES,
        HistoryProblem.MISSING_VALUES,
    }
    findings = [each for each in found.findings if each.problem in of_scores]
    assert [(e.problem, e.column, e.period, e.last, e.rows) for e in findings] == (
        [(problem, "s", "2026-01-18", "2026-01-19", 400)] if problem else []
    )
    assert all(says in each.says for each in findings)


def test_scores_of_a_steady_feed_are_hardly_suspected() -> None:
    rng, names = np.random.default_rng(2), [parse_period(name) for name in day_names(60)]
    question = ask(**SCORED | {"threshold": 40})
    for rows in (5, 60):
        cubes = [fg.count(scored(t, rng, rows), **SCORED, threshold=40) for t in range(60)]
        held = [counted_rows(each, question, cubes[0]) for each in cubes]
        assert all(sum(each.scores["s"].values()) == rows for each in held)
        found = check_history(names, held)
        assert not [each for each in found if each.problem is HistoryProblem.OTHER_SCORES]


STEADY = {
    "weekly": (5_000, 1, lambda name, _: 0.3 if name.start.weekday() >= 5 else 0.2),
    "varying": (5_000, 1, lambda _, rng: rng.normal(0.2, 0.05)),
    "varying, fewer rows": (500, 1, lambda _, rng: rng.normal(0.2, 0.05)),
    "in tens": (500, 10, lambda *_: 0.02),
    "in tens, few rows": (50, 10, lambda *_: 0.02),
}


def in_clusters(size: int, cluster: int, missing: float, rng: np.random.Generator) -> CountedRows:
    """Return a day of rows of which so many together have the same values."""
    clusters = max(int(rng.poisson(size / cluster)), 1)
    one = counted(clusters, rng, min(max(missing, 0.0), 1.0))
    values = {"branch": {b: n * cluster for b, n in one.values["branch"].items()}}
    absent = {"branch": one.missing["branch"] * cluster}
    return one._replace(
        rows=clusters * cluster, values=values, missing=absent, divisor=1, coincidence=0.0
    )


@pytest.mark.parametrize("name", list(STEADY))
def test_shares_that_vary_and_rows_in_tens_are_hardly_suspected(name: str) -> None:
    """How often of 300 months, docs/monitoring.md says."""
    size, cluster, share = STEADY[name]
    rng, names = np.random.default_rng(11), [parse_period(each) for each in day_names(30)]
    found = 0
    for _ in range(60 if EVERY_CASE else 20):
        held = [in_clusters(size, cluster, share(each, rng), rng) for each in names]
        found += any(e.problem is not HistoryProblem.VOLUME for e in check_history(names, held))
    assert found <= (3 if cluster > 1 else 1), found


@pytest.mark.parametrize("day", [5, 6])
@pytest.mark.parametrize("usual", [0.0, 0.02, 0.2])
def test_thirty_points_more_missing_are_found_in_the_first_week(usual: float, day: int) -> None:
    rng, names = np.random.default_rng(11), [parse_period(each) for each in day_names(day + 1)]
    found = 0
    for _ in range(40):
        held = [counted(500, rng, usual + 0.3 * (t == day)) for t in range(day + 1)]
        problems = [(each.problem, each.period) for each in check_history(names, held)]
        found += (HistoryProblem.MISSING_VALUES, str(names[day])) in problems
    assert found >= 36, found


@pytest.mark.parametrize("odd", [1, 2])
@pytest.mark.parametrize("group", [None, "F"])
def test_one_or_two_odd_nights_hide_no_worse_one(odd: int, group: str | None) -> None:
    """No night before them lacks a value; the variation of all nights together hid the last one."""
    names = [parse_period(each) for each in day_names(18)[4:]]  # from a Monday on
    names = [each for each in names if each.start.weekday() < 5][:10]
    held = []
    for t in range(10):
        absent = 70 if t == 9 else 21 if t >= 9 - odd else 0
        each = counted(322 if group is None else 3_220, np.random.default_rng(t), 0.0)
        if group is None:
            each = each._replace(missing={"branch": absent})
        else:
            lacking = {"prediction": {"sex": {group: absent}}}
            values = {**each.values, "sex": {group: 322, "M": 2_898}}
            each = each._replace(values=values, missing={"prediction": absent}, lacking=lacking)
        held.append(each)
    problem = HistoryProblem.MISSING_VALUES
    (found,) = [e for e in check_history(names, held) if e.problem is problem]
    assert (found.period, found.last, found.value) == (str(names[9]), str(names[9]), group)
    assert (found.share, found.expected) == (pytest.approx(70 / 322), 0)


def test_thirty_points_more_missing_are_found_where_shares_differ_by_weekday() -> None:
    """The mean of Mondays with 35% and of other days with 20% is usual on none of them."""
    rng, names = np.random.default_rng(11), [parse_period(each) for each in day_names(30)]
    usual = [0.35 if each.start.weekday() == 0 else 0.2 for each in names]
    found = suspected = 0
    for _ in range(40):
        held = [counted(500, rng, share) for share in usual]
        suspected += bool(check_history(names, held))
        held[25] = counted(500, rng, usual[25] + 0.3)
        problems = [(each.problem, each.period) for each in check_history(names[:26], held[:26])]
        found += (HistoryProblem.MISSING_VALUES, str(names[25])) in problems
    assert found >= 38, found
    assert suspected <= 1, suspected


@pytest.mark.parametrize(
    ("positive", "odd", "warned"),
    [
        (1, 9, True),
        (1, -999, True),
        (1, 2, False),  # one of three classes
        ("yes", "N/A", True),
        ("yes", "Withdrawn", True),
        ("yes", "denied", False),
        (["yes", "pending"], "pending", False),
    ],
)
def test_labels_that_may_mean_that_nothing_is_known_are_found(positive, odd, warned) -> None:
    """They counted as unfavourable from the first day on, of which nobody was told."""
    values = [0, 1] if positive == 1 else ["no", "yes"]
    question = QUESTION | {"positive": positive}
    counts = {}
    for t, name in enumerate(day_names(3)):
        rng = np.random.default_rng(t)
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], 600)})
        rows["label"] = rng.choice(np.array([*values, odd], dtype=object), 600, p=[0.5, 0.4, 0.1])
        rows["prediction"] = rng.choice(np.array(values, dtype=object), 600)
        counts[name] = fg.count(rows, **question)
    rule = {"metric": "true_positive_rate.difference", "between": [-0.9, 0.9]}
    found = fg.monitor_doctor(counts, asked(rule) | {"positive": positive}).findings
    stated = [(e.problem.value, e.column, e.value, e.period, e.last) for e in found]
    of_days = (day_names(3)[0], day_names(3)[2])
    assert stated == ([("no outcome", "label", str(odd), *of_days)] if warned else [])
    assert all("recode it as unknown" in each.says for each in found)


def coded(
    scale: list[int], shares: list[list[float]], seed: int = 0, column: str = "label"
) -> list[tuple[object, ...]]:
    """Return the findings of days with labels of a scale, each with its shares of the values."""
    rng = np.random.default_rng(seed)
    names, held = [parse_period(name) for name in day_names(len(shares))], []
    for chances in shares:
        rows = rng.multinomial(rng.poisson(500), chances).tolist()
        of_values = {str(value): n for value, n in zip(scale, rows, strict=True) if n}
        held.append(counted(sum(rows), rng)._replace(values={column: of_values}))
    found = check_history(names, held, outcomes={column: None}, positive=[1])
    at = {str(each): t for t, each in enumerate(names)}
    return [(e.problem.value, e.column, e.value, at[e.period], at[e.last]) for e in found]


@pytest.mark.parametrize(("scale", "third"), [([0, 1, 2], 2), ([1, 2, 3], 3), ([0, 1, 2], 0)])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (2, 2), (3, 29), (5, 6), (9, 12), (25, 25)])
def test_a_third_number_that_came_later_beside_two_codes_is_no_outcome(
    scale: list[int], third: int, first: int, last: int
) -> None:
    """It is, and no day is accused of lacking it."""
    at = scale.index(third)
    usual, odd = (np.insert([(1 - n) / 2] * 2, at, n).tolist() for n in (0.0, 0.2))
    found = coded(scale, [odd if first <= t <= last else usual for t in range(30)])
    assert found == [("no outcome", "label", str(third), first, last)]
    if first == last == 25:  # on its night
        assert coded(scale, [*[usual] * first, odd]) == [
            ("no outcome", "label", str(third), *(first,) * 2)
        ]


@pytest.mark.parametrize(("column", "withdrawn"), [("action_taken", ["4"]), ("grade", [])])
def test_codes_of_hmda_that_are_no_decision_are_no_outcomes(column, withdrawn) -> None:
    found = coded([1, 3, 4], [[0.6, 0.3, 0.1]] * 10, column=column)
    assert found == [("no outcome", column, code, 0, 9) for code in withdrawn]


@pytest.mark.parametrize("rare", [0.2, 0.02, 0.003])
def test_outcomes_of_three_values_from_the_beginning_are_a_scale(rare: float) -> None:
    """Also if hardly a day has the third one; if a day lacks it, it is that day that is named."""
    for seed in range(3):
        shares = [[0.5, 0.5 - rare, rare]] * 30
        for nights in (2, 4, 8, 30):
            assert coded([0, 1, 2], shares[:nights], seed) == []
    shares[12] = [0.5, 0.5, 0.0]
    vanished = [("vanished value", "label", "2", 12, 12)]
    assert coded([0, 1, 2], shares) == (vanished if rare == 0.2 else [])


def crossed_days(change: str, seed: int = 0, length: int = 30) -> dict[str, fg.Cube]:
    """Return days of women and men of four branches, whose categories change on the 21st."""
    made = {}
    for t, name in enumerate(day_names(length)):
        rows = rows_of(t, rng=np.random.default_rng([seed, t]))
        if t >= 20 and change == "vanishes":
            rows.loc[(rows["sex"] == "F") & (rows["branch"] == "b3"), "branch"] = "b2"
            men = rows.index[(rows["sex"] == "M") & (rows["branch"] == "b2")]
            rows.loc[men[: len(men) // 3], "branch"] = "b3"
        if t >= 20 and change == "jumps":  # women leave b0 for b1, and men come from there
            swapped = {"F": {"b0": "b1"}, "M": {"b1": "b0"}}
            for sex, into in swapped.items():
                of = rows["sex"] == sex
                rows.loc[of, "branch"] = rows.loc[of, "branch"].replace(into)
        rows["label"] = rows["label"].astype(int)
        made[name] = fg.count(rows, **CROSSED)
    return made


CROSSED = {**QUESTION, "sensitive": ["sex", "branch"], "intersections": [["sex", "branch"]]}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("vanishes", {("vanished value", "F & b3")}),
        ("jumps", {("vanished value", "F & b0"), ("vanished value", "M & b1")}),
        ("", set()),
    ],
)
def test_a_category_of_an_intersection_changes_while_its_columns_do_not(change, expected) -> None:
    """Nothing was found: each column had its usual shares."""
    rule = {"metric": "selection_rate.ratio", "at_least": 0.1}
    for seed in range(3):
        counts = crossed_days(change, seed)
        found = fg.monitor_doctor(counts, {**asked(rule), **CROSSED}).findings
        begun = {(e.problem.value, e.value) for e in found if e.column == "sex*branch"}
        assert expected <= begun if expected else not begun
        assert {e.period for e in found if (e.problem.value, e.value) in expected} <= {
            day_names(21)[20]
        }
        assert not [e for e in found if e.column in ("sex", "branch")], found


@pytest.mark.parametrize("column", ["sex", "branch"])
def test_a_column_of_an_intersection_may_be_empty_for_a_period(column: str) -> None:
    """It has no values, so that rows without one have no category."""
    rows = (rows_of(0), rows_of(1).assign(**{column: None}))
    rule = {"metric": "selection_rate.ratio", "at_least": 0.1}
    for asks in (CROSSED, {**CROSSED, "intersections": []}):
        counts = {day: fg.count(each, **asks) for day, each in zip(day_names(2), rows, strict=True)}
        report = fg.monitor(counts, {**asked(rule), **asks})
        assert report.exit_code == 3
        assert fg.monitor_doctor(counts, {**asked(rule), **asks}).findings == report.findings


def test_what_a_column_explains_is_not_found_again_in_its_categories() -> None:
    rule = {"metric": "selection_rate.ratio", "at_least": 0.1}
    counts = {}
    for t, name in enumerate(day_names(30)):
        rows = rows_of(t)
        counts[name] = fg.count(rows[(rows["branch"] != "b3") | (t < 20)], **CROSSED)
    found = fg.monitor_doctor(counts, {**asked(rule), **CROSSED}).findings
    assert [(e.problem.value, e.column, e.value) for e in found] == [
        ("vanished value", "branch", "b3")
    ]


@pytest.mark.parametrize("name", ["N/A", "unknown", "TBD", "Prefer not to say", "Norfolk"])
def test_a_group_whose_name_means_that_it_is_not_known_is_found_from_the_first_day(name) -> None:
    """An audit warned of it, a monitor never: it was usual from the beginning."""
    counts = {}
    for t, day in enumerate(day_names(10)):
        rows = rows_of(t)
        counts[day] = fg.count(rows.assign(sex=rows["sex"].where(rows.index % 9 > 0, name)),
                               **QUESTION)  # fmt: skip
    rule = {"metric": "selection_rate.ratio", "at_least": 0.1}
    found = fg.monitor_doctor(counts, asked(rule)).findings
    stated = [(e.problem.value, e.column, e.value, e.period, e.last) for e in found]
    ends = (day_names(1)[0], day_names(10)[9])
    assert stated == ([] if name == "Norfolk" else [("unknown group", "sex", name, *ends)])
    assert all("recode it as unknown" in each.says for each in found)
    known = asked(rule) | {"unknown": [name]}
    assert not fg.monitor_doctor(counts, known).findings
    recode = {
        "recode": {"sex": {"F": ["F"], "M": ["M"], name: [name]}}
    }  # a group, whatever it says
    stated = {
        day: fg.count(rows_of(t).assign(sex=lambda d: d["sex"].where(d.index % 9 > 0, name)),
                      **QUESTION, **recode)
        for t, day in enumerate(day_names(3))
    }  # fmt: skip
    assert not fg.monitor_doctor(stated, asked(rule) | recode).findings


def test_rows_of_a_group_whose_rate_has_none_are_counted() -> None:
    """Rows of a misspelt group, none with a positive label, were stated as none."""
    made = days(40, 99, 0.4)
    for name in list(made)[5:12]:
        made[name] = made[name] + fg.confusion("sex", {"f": {"fp": 1, "tn": 2}})
    question = QUESTION | {"monitor": {"rules": ["true_positive_rate.difference >= -0.9"]}}
    small = [
        each.rows
        for each in fg.monitor_doctor(made, question).findings
        if each.problem is HistoryProblem.SMALL_GROUP and each.value == "f"
    ]
    assert small == [21]


def test_no_gap_is_too_long_to_be_found_and_none_after_it_is_hidden() -> None:
    """A pause of 50 days has 1,200 hours, and a year that is misspelt 3,652 days."""
    made = list(days(40, 99, 0.4).values())
    begin = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    hours = [f"{begin + dt.timedelta(hours=h):%Y-%m-%dT%H}Z" for h in range(24 * 60)]
    held = [name for h, name in enumerate(hours) if not (24 <= h < 1_224 or 1_300 <= h < 1_304)]
    counts = {name: made[i % len(made)] for i, name in enumerate(held)}
    report = fg.monitor(counts, asked(RATIO))
    found = [e for e in report.findings if e.problem is HistoryProblem.GAP]
    assert [(e.period, e.last, e.rows) for e in found] == [
        (hours[24], hours[1_223], 1_200), (hours[1_300], hours[1_303], 4),
    ]  # fmt: skip
    assert len(report.absent) == 1_204
    years = dict(zip([*day_names(3), "2036-01-04", "2036-01-05"], made, strict=False))
    report = fg.monitor(years, asked(RATIO))
    (gap,) = [e for e in report.concerning("2036-01-04") if e.problem is HistoryProblem.GAP]
    assert (gap.period, gap.last) == ("2026-01-05", "2036-01-03")  # after a weekend
    misspelt = "if the year of 2036-01-04, or of the period before these, is misspelt, remove"
    assert misspelt in gap.says
    early = dict(zip(["2025-01-16", *day_names(3)], made, strict=False))
    (gap,) = [e for e in fg.monitor(early, asked(RATIO)).findings
              if e.problem is HistoryProblem.GAP]  # fmt: skip
    assert "or of the period before these, is misspelt" in gap.says
    with pytest.raises(fg.DataError, match="2026-01-02 and 9999-01-01, 2,912,076 have no counts"):
        fg.monitor(dict(zip([*day_names(2), "9999-01-01"], made, strict=False)), asked(RATIO))


def first_days(change, lengths=(1, 2, 3, 7, 28)):
    """Return what is found of a history whose first day is changed, after so many days."""
    made = [fg.count(change(rows_of(0), 0), **QUESTION_OF_ROWS)]
    made += [fg.count(rows_of(t), **QUESTION_OF_ROWS) for t in range(1, max(lengths))]
    for length in lengths:
        counts = dict(zip(day_names(length), made, strict=False))
        yield {
            (each.problem.value, each.column, each.value, each.period, each.last)
            for each in fg.monitor_doctor(counts, ASKED).findings
        }


def test_a_value_that_the_first_period_alone_lacks_is_found_afterwards() -> None:
    """With two periods of its kind after it: the first is a Thursday, the fifth a Monday."""
    day = day_names(1)[0]
    *_, week, month = first_days(lambda rows, _: rows[rows["branch"] != "b1"])
    assert week == month == {("vanished value", "branch", "b1", day, day)}
    *_, month = first_days(lambda rows, _: rows.replace({"sex": {"F": "Female"}}))
    assert ("vanished value", "sex", "F", day, day) in month


@pytest.mark.parametrize(("column", "value"), [("prediction", 0), ("prediction", 1)])
def test_outcomes_of_one_value_in_the_first_period_stay_a_finding(column: str, value: int) -> None:
    day = day_names(1)[0]
    for found in first_days(lambda rows, _: rows.assign(**{column: value})):
        assert ("one value", column, str(value), day, day) in found
        assert {each for each in found if each[1] == column and each[0] != "no positive value"} == {
            ("one value", column, str(value), day, day)
        }


def found_of(change, at: int = 40) -> set[tuple[str, str | None, str | None, str | None]]:
    health = fg.monitor_doctor(history(change, at), ASKED)
    return {(e.problem.value, e.column, e.value, e.other) for e in health.findings}


@pytest.mark.parametrize("kind", [bool, float, str])
def test_outcomes_that_are_written_in_another_way_are_no_new_values(kind) -> None:
    assert (
        found_of(lambda rows, _: rows.assign(prediction=rows["prediction"].astype(kind))) == set()
    )


def unknown(rows, day):
    rng = np.random.default_rng([day, 3])
    return rows.assign(sex=rows["sex"].mask(rng.random(len(rows)) < 0.33, "Unknown"))


def test_a_group_that_is_unknown_is_no_misspelt_one() -> None:
    """Its rows were those of both others, so that it is the same as none of them."""
    found = found_of(unknown) - {("group share", "sex", "Unknown", None)}
    assert found == {("unknown group", "sex", "Unknown", None)}
    other = found_of(lambda rows, day: unknown(rows, day).replace({"sex": {"Unknown": "Q"}}))
    assert other - {("group share", "sex", "Q", None)} == {("new value", "sex", "Q", None)}


@pytest.mark.parametrize("mishap", ["Asian is absent", "White is misspelt", "half are missing"])
@pytest.mark.parametrize("seed", range(3))
def test_no_good_day_is_blamed_for_a_mishap_before_it(mishap: str, seed: int) -> None:
    """Of seven days together most were of the mishap: good days had "54.7%, against 55.5%"."""
    rng, bad, names = np.random.default_rng(seed), range(14, 21), day_names(35)
    held = []
    for t in range(35):
        chances = np.array([0.55, 0.3, 0.15, 0.0])  # White, Black, Asian, white
        if t in bad and mishap == "Asian is absent":
            chances = np.array([0.65, 0.35, 0.0, 0.0])
        if t in bad and mishap == "White is misspelt":
            chances = np.array([0.28, 0.3, 0.15, 0.27])
        rows = rng.multinomial(400, chances).tolist()
        held_values = {
            g: n for g, n in zip(("White", "Black", "Asian", "white"), rows, strict=True) if n
        }
        absent = 0.5 if t in bad and mishap == "half are missing" else 0.02
        held.append(counted(400, rng, absent)._replace(values={"branch": held_values}))
    for nights in (*range(22, 29), 35):
        found = check_history(
            [*map(parse_period, names[:nights])], held[:nights], features=["branch"]
        )
        assert found
        assert {*(e.period for e in found), *(e.last for e in found)} <= {names[t] for t in bad}


def of_ages(change, ages, **asks) -> fg.MonitorReport:
    """Monitor 24 days of people who are 20 to 69 years old, changed from day 16 on."""
    made = {}
    question = QUESTION | {"sensitive": ["sex", ages], "intersections": [["sex", "age"]]}
    for t, name in enumerate(day_names(24)):
        rng = np.random.default_rng(t)
        rows = pd.DataFrame({"age": rng.integers(20, 70, 700)})
        rows["sex"] = rng.choice(["F", "M"], 700, p=[0.3, 0.7])
        rows["label"], rows["prediction"] = rng.integers(0, 2, (2, 700)).astype(float)
        rows = change(rows, rows["age"] > 50) if t >= 16 else rows
        if ages == "age":
            rows["age"] = rows["age"].gt(50).map({True: "(50, inf)", False: "(-inf, 50]"})
        made[name] = fg.count(rows, **question)
    rules = [{"metric": f"{rate}.difference", "between": [-0.9, 0.9]}
             for rate in ("selection_rate", "true_positive_rate")]  # fmt: skip
    return fg.monitor(made, question | {"monitor": {"rules": rules, **asks}})


def lost(column):
    return lambda rows, old: rows.assign(**{column: rows[column].mask(old & (rows.index % 2 == 0))})


@pytest.mark.parametrize(("change", "asks", "problem", "column"), [
    (lambda rows, old: rows.assign(age=rows["age"].mask(old & (rows.index % 3 > 0), 20)), {},
     "group share", "age"),
    (lambda rows, old: rows[~old], {}, "vanished value", "age"),
    (lambda rows, old: rows[~old | (rows["sex"] == "M")], {}, "vanished value", "sex*age"),
    (lost("prediction"), {}, "missing values", "prediction"),
    (lost("label"), {"labels": "later", "labels_within": 2}, "missing labels", "label"),
])  # fmt: skip
def test_groups_that_a_cut_makes_are_checked_as_those_of_texts_are(change, asks, problem, column):
    """None of it was found of a cut column, and the monitor was green."""
    of_cut, of_texts = (of_ages(change, ages, **asks)
                        for ages in ({"column": "age", "cuts": [50]}, "age"))  # fmt: skip
    assert of_cut.findings == of_texts.findings
    found = [each for each in of_cut.findings if (each.problem, each.column) == (problem, column)]
    assert found
    assert all("(50, inf)" in each.says for each in found)
    assert [e.state for e in of_cut.comparisons] == [e.state for e in of_texts.comparisons]


def test_codes_of_missing_values_in_a_cut_column_are_found():
    """Refused people whose age became -1 were of the youngest, and no word was said."""

    def coded(rows, old):
        return rows.assign(age=rows["age"].mask(old & (rows["prediction"] == 0), -1))

    report = of_ages(coded, {"column": "age", "cuts": [50]})
    (found,) = [e for e in report.findings if e.problem is HistoryProblem.UNKNOWN_GROUP]
    assert (found.column, found.value, found.other) == ("age", "-1", "(-inf, 50]")
    assert (found.period, found.last) == (report.periods[16], report.periods[-1])
    assert (
        'with "-1" in age, which often means a missing number, and counts as "(-inf, 50]". If it '
        'means that the group is not known, recode it as unknown (age = {unknown = ["-1"]}, one '
        "line below [recode] for all findings of age) and add the periods"
    ) in found.says


@pytest.mark.parametrize(("of_points", "rate", "counts"), [
    ({"positive": fg.above(40)}, "selection_rate", "(-inf, 40]"),
    ({"task": "regression"}, "mean_prediction", "-1"),
])  # fmt: skip
def test_codes_of_missing_values_in_numbers_as_outcomes_are_found(of_points, rate, counts):
    """Points that became -1 counted as low ones, and no word was said."""
    question = {"prediction": "points", "sensitive": "sex", **of_points}
    made = {}
    for t, name in enumerate(day_names(8)):
        rng = np.random.default_rng(t)
        rows = pd.DataFrame({"points": rng.normal(50, 8, 400).round()})
        rows["sex"] = rng.choice(["F", "M"], 400)
        rows["points"] = rows["points"].mask((t >= 6) & (rows.index < 60), -1)
        made[name] = fg.count(rows, **question)
    rules = [{"metric": f"{rate}.difference", "between": [-0.9, 0.9]}]
    (found,) = fg.monitor(made, question | {"monitor": {"rules": rules}}).findings
    assert (found.problem, found.period, found.last) == ("no outcome", *[*made][6:])
    assert (found.column, found.value, found.other, found.rows) == ("points", "-1", counts, 120)
    assert f'which often means a missing number, and counts as "{counts}". If it' in found.says


@pytest.mark.parametrize("stated", ["", 'sex = {F = ["F", "fem"], unknown = ["?"]}'])
def test_the_findings_of_a_column_state_one_line_that_corrects_all_of_them(
    stated: str, tmp_path: Path
) -> None:
    """Each had a line of its own, of which a file of TOML takes one alone."""
    odd = {2: ("sex", "f"), 3: ("sex", "N/A"), 4: ("sex", "n/a"), 5: ("sex", " M"),
           6: ("label", "pending"), 7: ("label", " 1"), 8: ("sex", "?")}  # fmt: skip

    def found(line: str) -> tuple[HistoryFinding, ...]:
        spec = tmp_path / "monitor.toml"
        spec.write_text(f"""label = "label"\nprediction = "prediction"\npositive = 1
            sensitive = "sex"\n[recode]\n{line}
            [monitor]\nrules = ["true_positive_rate.ratio >= 0.1"]""")
        counts = {}
        for t, day in enumerate(day_names(10)):
            rows = rows_of(t).astype({"label": int}).astype(str)
            if t in odd:
                column, value = odd[t]
                rows.loc[rows.index % 9 == 0, column] = value
            counts[day] = fg.count(rows, config=spec)
        found = fg.monitor_doctor(counts, spec).findings
        return tuple(each for each in found if each.problem is not HistoryProblem.MISSING_VALUES)

    first = found(stated)
    values = [(each.column, each.value) for each in first]
    assert values == [odd[t] for t in odd if not (stated and odd[t][1] == "?")]
    lines = dict.fromkeys(str(each.recoding) for each in first)
    assert len(lines) == 2
    assert all(str(each.recoding) in each.says for each in first)
    assert found("\n".join(lines)) == ()
