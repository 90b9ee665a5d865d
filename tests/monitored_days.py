"""Small histories of counts, and the question that they answer."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

import fairgauge as fg

QUESTION = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}


def cube(selected: int, of: int = 100, others: int = 80, size: int = 200) -> fg.Cube:
    """Return the counts of one day: selected women and men."""
    women = {"tp": selected, "fn": of - selected}
    men = {"tp": others, "fn": size - others}
    return fg.confusion("sex", {"F": women, "M": men})


def asked(*rules: Any, **settings: Any) -> dict[str, Any]:
    """Return the keys of a specification with a monitor."""
    return QUESTION | {"monitor": {"rules": list(rules), **settings}}


RATIO = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "F"}


def day_names(count: int) -> list[str]:
    """Return the names of days from 2026-01-01 on."""
    first = dt.date(2026, 1, 1)
    return [str(first + dt.timedelta(days=i)) for i in range(count)]


def days(count: int, change: int, after: float, seed: int = 1) -> dict[str, fg.Cube]:
    """Return the counts of days whose rate for women is 0.4, and another from a day on."""
    rng = np.random.default_rng(seed)
    return {
        name: cube(int(rng.binomial(100, after if i >= change else 0.4)),
                   others=int(rng.binomial(200, 0.4)))
        for i, name in enumerate(day_names(count))
    }  # fmt: skip


@pytest.fixture(scope="session")
def shifted() -> dict[str, fg.Cube]:
    """Return 40 days with a shift on the 26th."""
    return days(40, 25, 0.22)
