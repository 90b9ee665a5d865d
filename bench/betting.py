"""The census and credit streams of "Auditing fairness by betting", beside the monitor.

Chugg, Cortes-Gomez, Wilder and Ramdas (2023) draw one row of each of two groups after the other and
test whether the rates of two groups are equal: equal opportunity of a classifier on census data and
on credit data. A fair model is simulated by equal means; a shift is a fair model for 400 pairs and
the unfair one afterwards.

The credit rates are the paper's own: those of a random forest (scikit-learn, seed 42) on 10,000
rows of "Default of Credit Card Clients" (UCI 350) that numpy's seed 42 draws, for the other
customers without a default who went to graduate school, and those who did not go beyond high
school or are of another education. The paper's census table (American Community Survey, California
2018) is replaced by UCI Adult. The tables themselves are not part of the repository.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fairgauge as fg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ALPHA, PAIRS, SHIFT, BATCH, STREAMS = 0.05, 4_000, 400, 50, 300
FIRST_DAY = dt.date(2026, 1, 1)


@dataclass(frozen=True)
class Source:
    """The recall of a classifier in two groups: hits and rows of each."""

    name: str
    group: tuple[int, int]
    reference: tuple[int, int]


SOURCES = (
    Source("census: recall of women and men (UCI Adult, test rows)", (347, 590), (2138, 3256)),
    Source("credit: recall of no default by education (UCI 350)", (2519, 2714), (5538, 5755)),
)


def betting_alarm(first: Array, second: Array) -> Array:
    """Return the pair at which the wealth of a bettor reaches 1 / alpha; inf where it never does.

    Parameters
    ----------
    first, second : array of shape (streams, pairs)
        The outcomes of both rows of every pair. The bet is adjusted by online Newton steps.
    """
    wealth, bet = np.ones(len(first)), np.zeros(len(first))
    squares = np.ones(len(first))
    alarm = np.full(len(first), np.inf)
    for pair in range(first.shape[1]):
        gain = first[:, pair] - second[:, pair]
        wealth = wealth * (1 + bet * gain)
        alarm = np.where((wealth >= 1 / ALPHA) & np.isinf(alarm), pair + 1, alarm)
        slope = -gain / (1 + bet * gain)
        squares += slope**2
        bet = np.clip(bet - 2 / (2 - np.log(3)) * slope / squares, -0.5, 0.5)
    return alarm


def monitor_alarm(first: Array, second: Array) -> float:
    """Return the pair at which `fairgauge.monitor` alarms, from a cube for every 50 pairs.

    ``first`` and ``second`` have the shape (pairs,).
    """
    batches = first.reshape(-1, BATCH).sum(axis=1), second.reshape(-1, BATCH).sum(axis=1)
    names = [str(FIRST_DAY + dt.timedelta(days=i)) for i in range(len(batches[0]))]
    cubes = {
        name: fg.confusion("group", {
            each: {"tp": int(hits), "fn": BATCH - int(hits)}
            for each, hits in (("first", x), ("second", y))
        })
        for name, x, y in zip(names, *batches, strict=True)
    }  # fmt: skip
    rule = {"metric": "true_positive_rate.difference", "between": [0, 0], "groups": "first"}
    settings: dict[str, Any] = {"rules": [rule], "alpha": ALPHA, "horizon": len(names)}
    question = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "group"}
    report = fg.monitor(cubes, question | {"monitor": settings})
    alarm = report.comparisons[0].alarm
    return np.inf if alarm is None else float(BATCH * (names.index(alarm.period) + 1))


def of_source(source: Source, seed: int) -> list[dict[str, object]]:
    """Return what both find with a fair model, an unfair one, and after a shift."""
    d, a = (hits / rows for hits, rows in (source.group, source.reference))
    rng = np.random.default_rng(seed)
    from_start = np.arange(PAIRS)
    rates = {
        "fair": np.full(PAIRS, a),
        "unfair": np.full(PAIRS, d),
        "shift": np.where(from_start >= SHIFT, d, a),
    }
    records: list[dict[str, object]] = []
    for case, rate in rates.items():
        first = (rng.random((STREAMS, PAIRS)) < rate).astype(float)
        second = (rng.random((STREAMS, PAIRS)) < a).astype(float)
        alarms = {
            "fairgauge": np.array(list(map(monitor_alarm, first, second))),
            "betting": betting_alarm(first, second),
        }
        begin = SHIFT if case == "shift" else 0
        rows = {name: _summary(each, begin) for name, each in alarms.items()}
        records.append({"kind": "betting", "design": f"{source.name}", "case": case,
                        "rates": [round(d, 3), round(a, 3)], "measured": rows})  # fmt: skip
    return records


def _summary(alarm: Array, begin: int) -> dict[str, float | None]:
    waited = np.where(alarm > begin, alarm - begin, np.inf)[alarm > begin]
    median = float(np.median(waited)) if waited.size else np.inf
    return {
        "found": float(np.isfinite(alarm).mean()),
        "early": float((alarm <= begin).mean()),
        "median": None if np.isinf(median) else median,
    }


def betting_records() -> dict[str, list[dict[str, object]]]:
    """Return the records of both sources."""
    made = (of_source(source, 300 + i) for i, source in enumerate(SOURCES))
    return {"records": [each for records in made for each in records]}


if __name__ == "__main__":
    for found in betting_records()["records"]:
        print(found)
