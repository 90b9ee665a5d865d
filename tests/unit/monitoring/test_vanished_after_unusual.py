"""A value that vanishes is found whatever was unusual in a period that it is compared with."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

QUESTION = {
    "label": "repaid", "prediction": "decision", "positive": "yes", "sensitive": ["region", "sex"],
    "strata": "product",
}  # fmt: skip
ASKED = QUESTION | {"monitor": {"rules": [{"metric": "selection_rate.ratio", "at_least": 0.6}]}}
FIRST = dt.date(2026, 3, 2)  # a Monday


def name_of_day(day: int) -> str:
    return (FIRST + dt.timedelta(days=day - 1)).isoformat()


def rows_of(day: int, products: Mapping[str, float]) -> pd.DataFrame:
    rng = np.random.default_rng([7, day])
    size = int((220 if day % 7 in (6, 0) else 800) * rng.normal(1, 0.04))
    rows = pd.DataFrame({"region": rng.choice(["North", "South"], size, p=[0.6, 0.4])})
    rows["sex"] = rng.choice(["F", "M"], size)
    rows["product"] = rng.choice([*products], size, p=[*products.values()])
    for column in ("decision", "repaid"):
        rows[column] = rng.choice(["yes", "no"], size)
    return rows


USUAL = {"auto": 0.3, "card": 0.5, "cash": 0.2}


@cache
def usual_day(day: int) -> fg.Cube:
    return fg.count(rows_of(day, USUAL), **QUESTION)


def all_are(column: str, value: str) -> Callable:
    return lambda rows: rows.assign(**{column: value})


def renamed(column: str, **names: str) -> Callable:
    return lambda rows: rows.assign(**{column: rows[column].replace(names)})


def mostly_yes(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(decision=np.where(np.arange(len(rows)) % 10, "yes", "no"))


def vanished_in(
    changes: Mapping[int, Callable], last: int, products: Mapping[int, Mapping[str, float]]
) -> list[set[tuple[str | None, str | None]]]:
    """Return the columns and values that vanish on each day up to the last one, from none on."""
    made = {}
    for t in range(1, last + 1):
        shares = next((each for since, each in products.items() if t >= since), USUAL)
        if t in changes or shares is not USUAL:
            rows = rows_of(t, shares)
            made[name_of_day(t)] = fg.count(changes[t](rows) if t in changes else rows, **QUESTION)
        else:
            made[name_of_day(t)] = usual_day(t)
    found = [
        each
        for each in fg.monitor_doctor(made, ASKED).findings
        if each.problem is HistoryProblem.VANISHED_VALUE
    ]
    return [
        {(each.column, each.value) for each in found if each.concerns(name_of_day(t))}
        for t in range(last + 1)
    ]


YES, NO = all_are("decision", "yes"), all_are("decision", "no")
LABELS, CASH = all_are("repaid", "yes"), all_are("product", "cash")
NO_CASH = renamed("product", cash="card")
WITHOUT_NO, WITHOUT_YES = {("decision", "no")}, {("decision", "yes")}
WITHOUT_LABEL = {("repaid", "no")}
CASH_ALONE = {("product", "auto"), ("product", "card")}
WITHOUT_CASH = {("product", "cash")}
PAIRS = {
    "decisions two days later": ({16: YES, 18: YES}, 18, WITHOUT_NO),
    "decisions a week later": ({11: YES, 18: YES}, 18, WITHOUT_NO),
    "decisions of the first days": ({3: YES, 18: YES}, 18, WITHOUT_NO),
    "other decisions": ({16: NO, 18: YES}, 18, WITHOUT_NO),
    "other decisions exchanged": ({16: YES, 18: NO}, 18, WITHOUT_YES),
    "most decisions": ({16: mostly_yes, 18: YES}, 18, WITHOUT_NO),
    "decisions spelt otherwise": ({16: renamed("decision", yes="YES"), 18: YES}, 18, WITHOUT_NO),
    "labels": ({16: LABELS, 18: LABELS}, 18, WITHOUT_LABEL),
    "labels a week later": ({11: LABELS, 18: LABELS}, 18, WITHOUT_LABEL),
    "strata": ({16: CASH, 18: CASH}, 18, CASH_ALONE),
    "strata a week later": ({11: CASH, 18: CASH}, 18, CASH_ALONE),
    "strata nine days later": ({16: CASH, 25: CASH}, 25, CASH_ALONE),
    "strata twenty days later": ({10: CASH, 30: CASH}, 30, CASH_ALONE),
    "strata every week": ({9: CASH, 16: CASH, 23: CASH, 30: CASH}, 30, CASH_ALONE),
    "strata of the first days": ({2: CASH, 4: CASH}, 12, CASH_ALONE),
    "one stratum": ({16: NO_CASH, 18: NO_CASH}, 18, WITHOUT_CASH),
    "one stratum, then others": ({16: NO_CASH, 18: CASH}, 18, CASH_ALONE),
    "strata, then the one": ({16: CASH, 18: NO_CASH}, 18, WITHOUT_CASH),
    "a stratum renamed": ({16: renamed("product", card="Karte"), 18: CASH}, 18, CASH_ALONE),
    "a stratum spelt otherwise": (
        {16: renamed("product", card="CARD"), 18: NO_CASH}, 18, WITHOUT_CASH),
}  # fmt: skip


@pytest.mark.parametrize("case", PAIRS)
def test_a_value_vanishes_whatever_was_unusual_before(case: str) -> None:
    """The first day counted as variation between days, so that the second one was silent."""
    changes, last, expected = PAIRS[case]
    assert vanished_in(changes, last, {})[max(changes)] == expected


def test_a_value_vanishes_whatever_changed_for_good() -> None:
    """All days since then differ from those before, and the fault is among them."""
    since = {8: {"auto": 0.1, "card": 0.3, "cash": 0.6}}
    found = vanished_in({37: CASH, 39: CASH}, 39, since)
    assert {t: each for t, each in enumerate(found) if each} == {37: CASH_ALONE, 39: CASH_ALONE}


def test_a_value_that_is_gone_is_found_every_day() -> None:
    found = vanished_in(dict.fromkeys(range(16, 40), NO_CASH), 39, {})
    assert found[16:] == [WITHOUT_CASH] * 24


def test_a_value_that_became_rare_is_not_found_for_ever() -> None:
    found = vanished_in({}, 60, {16: {"auto": 0.3, "card": 0.699, "cash": 0.001}})
    assert {t for t, each in enumerate(found) if each} <= {*range(16, 16 + 14)}


def test_no_day_is_blamed_for_a_value_of_the_days_before_it() -> None:
    new = renamed("product", cash="lease")
    assert not any(vanished_in(dict.fromkeys(range(16, 20), new), 30, {})[20:])
