"""Histories that mean the same come to the same: values, intervals, evidence, states, findings."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import day_names
from tests.needs import EVERY_CASE

import fairgauge as fg

Days = list[pd.DataFrame]
Asked = dict[str, Any]
NAMES = day_names(9)
RULES = [
    {"metric": "selection_rate.difference", "between": [-0.1, 0.1]},
    {"metric": "true_positive_rate.ratio", "at_least": 0.8},
    {"metric": "f1.difference", "between": [-0.3, 0.3]},
]
QUESTION = {"label": "y", "prediction": "p", "positive": 1, "sensitive": ["sex", "branch"]}


def history(seed: int) -> Days:
    """Return days of which some lack a group, a positive label or most of their rows."""
    rng, found = np.random.default_rng(seed), []
    for day in range(len(NAMES)):
        size = 3 if day == 4 else int(rng.integers(60, 160))
        rows = pd.DataFrame({
            "sex": rng.choice(["F", "M", "X"] if day not in (1, 6) else ["F", "M"], size),
            "branch": rng.choice(["A", "B"], size),
            "p": rng.integers(0, 2, size),
            "y": rng.integers(0, 2, size) if day != 3 else 0,
            "cases": rng.integers(0 if size > 3 else 1, 4, size),
            "age": rng.integers(20, 60, size),
        })  # fmt: skip
        rows.loc[(rows["sex"] == "F") & (rng.random(size) < (day > 4) * 0.8), "p"] = 0
        rows["sex"] = rows["sex"].mask(rng.random(size) < 0.05)
        found.append(rows)
    return found


def cubes(days: Days, asked: Asked) -> dict[str, fg.Cube]:
    return {name: fg.count(rows, **asked) for name, rows in zip(NAMES, days, strict=True)}


def comes_to(counts: Any, asked: Asked, rules: list[Any] = RULES) -> dict[str, Any]:
    """Return what a monitor comes to, without what differs between any two runs."""
    report = fg.monitor(counts, asked | {"monitor": {"rules": rules, "horizon": 60}})
    return {
        "exit code": report.exit_code,
        "rows": [each.rows for each in report.rows],
        "findings": [(each.problem, each.period, each.value) for each in report.findings],
        "comparisons": {
            (each.metric, each.feature, each.group): (
                each.state, each.alpha, each.says.replace(" cases ", " rows "), each.reference,
                [(p.value, p.low, p.high, p.evidence, p.n_reference) for p in each.points],
            )
            for each in report.comparisons
        },
    }  # fmt: skip


def each_day(change: Callable[[pd.DataFrame], pd.DataFrame], **more: Any) -> Any:
    """Return an equivalence of days that are changed one by one, and of a question."""
    return lambda days, asked: comes_to(
        cubes([change(rows) for rows in days], asked | more), asked | more
    )


def split(days: Days, asked: Asked) -> Any:
    both = (cubes([rows[half::2] for rows in days], asked) for half in (0, 1))
    one, other = both
    return comes_to({name: one[name].add(other[name]) for name in NAMES}, asked)


def night_by_night(days: Days, asked: Asked, folder: Any) -> Any:
    kept = fg.History(folder)
    for name, counts in cubes(days, asked).items():
        for _ in range(2):
            kept.add(name, counts)
            found = comes_to(kept, asked)
    return found


def out_of_order(days: Days, asked: Asked, folder: Any) -> Any:
    kept = fg.History(folder)
    for name, counts in [*cubes(days, asked).items()][::-1]:
        kept.add(name, counts)
        if name <= NAMES[7]:
            found = comes_to(kept, asked)
    return found


SAME: dict[str, Any] = {
    "shuffled rows": each_day(lambda rows: rows.sample(frac=1, random_state=1)),
    "other columns": each_day(lambda rows: rows[rows.columns[::-1]].assign(more=1)),
    "a condition that all rows meet": each_day(lambda rows: rows, where=["age < 90"]),
    "recoded": each_day(
        lambda rows: rows.assign(sex=rows["sex"].replace("X", "Z")), recode={"sex": {"X": ["Z"]}}
    ),
    "added up": split,
    "rules in another order": lambda days, asked: comes_to(
        cubes(days, asked), asked, rules=RULES[::-1]
    ),
    "night by night": night_by_night,
    "out of order": out_of_order,
}


@cache
def expected(seed: int) -> dict[str, Any]:
    return comes_to(cubes(history(seed), QUESTION), QUESTION)


SEEDS = 2 if EVERY_CASE else 1
CASES = [(1 + i % SEEDS, name) for i, name in enumerate(SAME)]


@pytest.mark.parametrize(("seed", "name"), CASES)
def test_equivalent_histories_come_to_the_same(name: str, seed: int, tmp_path: Any) -> None:
    folder = (tmp_path / "h",) if SAME[name] in (night_by_night, out_of_order) else ()
    assert SAME[name](history(seed), QUESTION, *folder) == expected(seed)


def test_cases_of_a_count_are_repeated_rows() -> None:
    days = history(3)
    repeated = [rows.loc[rows.index.repeat(rows["cases"])] for rows in days]
    rows, cases = (
        comes_to(cubes(each, asked), asked)
        for each, asked in ((repeated, QUESTION), (days, QUESTION | {"count": "cases"}))
    )
    assert cases == rows
