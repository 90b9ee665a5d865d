"""``python -m bench.feeds``: how often a monitor suspects feeds, and finds rows that are lost.

Days are counts of groups, drawn anew in every feed; `fairgauge.monitor_doctor` checks them as a
user would. docs/reference/monitoring.md states what this prints; ``--part`` limits it.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

import fairgauge as fg

FIRST = dt.date(2026, 1, 5)  # a Monday
ASKED = {
    "label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex",
    "monitor": {"rules": [{"metric": "selection_rate.difference", "between": [-0.9, 0.9]}]},
}  # fmt: skip
CHANGED, HOLIDAYS = 43, 10 / 365  # a Tuesday; of a day
LEVELS = (0.03, 0.05, 0.1, 0.15, 0.2)
COURSES = {"none": (1, 1), "weak": (0.8, 0.7), "strong": (0.35, 0.2)}
"""Of Saturdays and Sundays, beside working days."""


class Lost(NamedTuple):
    """What is lost: of the first group, from a day on or on it alone, of refusals alone or of all.

    ``times`` what is left, where all groups are meant.
    """

    left: float = 1.0
    of_refusals: bool = False
    of_all: bool = False
    lasts: bool = False


def feed(
    rng: np.random.Generator, days: int, rows: float, shares: Sequence[float], *,
    rates: Sequence[float] = (0.4,), varies: float = 0.05, of_shares: float = 0.0,
    of_rates: float = 0.0, course: str = "none", growth: float = 0.0,
    holidays: Mapping[int, float] = MappingProxyType({}), lost: Lost | None = None,
) -> dict[str, fg.Cube]:  # fmt: skip
    """Return the counts of days, whose volume, shares and rates vary in addition to sampling.

    Of the usual rows of ``holidays`` so many are left.
    """
    found, drift = {}, 0.0
    for day in range(days):
        weekend = day % 7 - 5
        usual = rows * (1 + growth) ** day * (COURSES[course][weekend] if weekend >= 0 else 1)
        usual *= rng.lognormal(0, varies) * holidays.get(day, 1)
        drift += rng.normal(0, of_rates)
        lacks = lost and (day == CHANGED or (lost.lasts and day >= CHANGED))
        usual *= lost.left if lost and lacks and lost.of_all else 1
        by = np.array(shares) * rng.lognormal(0, of_shares, len(shares))
        held = {}
        for group, share in enumerate(by / by.sum()):
            rate = rates[group % len(rates)]
            rate = 1 / (1 + (1 - rate) / rate * np.exp(-drift))
            cells = [0.8 * rate, 0.15 * (1 - rate), 0.2 * rate, 0.85 * (1 - rate)]
            n = rng.multinomial(rng.poisson(usual * share), cells)
            if lost and lacks and not lost.of_all and group == 0:
                some = (1, 3) if lost.of_refusals else range(4)
                n[[*some]] = rng.binomial(n[[*some]], lost.left)
            held[f"g{group}"] = dict(zip(("tp", "fn", "fp", "tn"), map(int, n), strict=True))
        found[str(FIRST + dt.timedelta(days=day))] = fg.confusion("sex", held)
    return found


def findings(days: dict[str, fg.Cube]) -> list[tuple[str, range]]:
    """Return the problems that are found, with the numbers of their days."""
    at = {name: number for number, name in enumerate(days)}
    return [
        (str(each.problem), range(at[each.period], at[each.last] + 1))
        for each in fg.monitor_doctor(days, ASKED).findings
    ]


def volumes(feeds: int) -> Iterator[str]:
    """Yield, for each level of variation, feeds with a false finding and those that find a loss."""
    for varies in LEVELS:
        counts = dict.fromkeys(("clean", "half", "twice"), 0)
        for number in range(feeds):
            rng = np.random.default_rng([75, int(100 * varies), number])
            how = {
                "varies": varies, "course": [*COURSES][number % 3],
                "growth": (0.0, 0.002, 0.005)[number // 3 % 3],
            }  # fmt: skip
            days = np.flatnonzero(rng.random(90) < HOLIDAYS * (number % 2))
            quiet = dict.fromkeys(days.tolist(), 0.3)
            found = findings(feed(rng, 90, 900, (1, 2), **how, holidays=quiet))
            counts["clean"] += any(p == "volume" and not {*held} & {*quiet} for p, held in found)
            for name, left in (("half", 0.5), ("twice", 2.0)):
                lost = Lost(left, of_all=True, lasts=True)
                found = findings(feed(rng, CHANGED + 7, 900, (1, 2), **how, lost=lost))
                counts[name] += any(p == "volume" and held[-1] >= CHANGED for p, held in found)
        yield f"{varies:.0%}: " + ", ".join(f"{k} {v} of {feeds}" for k, v in counts.items())


def holidays(feeds: int) -> Iterator[str]:
    """Yield, of feeds with ten holidays, those doubted on other days, and those that find a loss.

    A third is lost for a week, and half or twice the rows are there on one day.
    """
    cases = {
        "third": Lost(2 / 3, of_all=True, lasts=True), "half": Lost(0.5, of_all=True),
        "twice": Lost(2.0, of_all=True),
    }  # fmt: skip
    for varies in (0.03, 0.05, 0.1):
        counts = dict.fromkeys(("clean", *cases), 0)
        for number in range(feeds):
            rng = np.random.default_rng([79, int(100 * varies), number])
            how = {"varies": varies, "course": [*COURSES][number % 3]}
            others = np.delete(np.arange(90), np.s_[CHANGED : CHANGED + 7])
            days = rng.choice(others, 10, replace=False)
            quiet = dict(zip(days.tolist(), rng.uniform(0.4, 0.6, 10), strict=True))
            found = findings(feed(rng, 90, 900, (1, 2), **how, holidays=quiet))
            counts["clean"] += any(p == "volume" and {*held} - {*quiet} for p, held in found)
            for name, lost in cases.items():
                last = CHANGED + (7 if lost.lasts else 1)
                found = findings(feed(rng, last, 900, (1, 2), **how, holidays=quiet, lost=lost))
                counts[name] += any(p == "volume" and held[-1] >= CHANGED for p, held in found)
        yield f"{varies:.0%}: " + ", ".join(f"{k} {v} of {feeds}" for k, v in counts.items())


def clean(feeds: int) -> Iterator[str]:
    """Yield feeds with a finding, of those in which nothing is wrong."""
    found, kinds = 0, dict[str, int]()
    for number in range(feeds):
        rng = np.random.default_rng([76, number])
        shares = rng.dirichlet(np.full(rng.integers(2, 7), 1.5)) + 0.004
        held = findings(feed(
            rng, (45, 90)[number % 2], rng.choice([120, 400, 900, 2500]), shares,
            rates=rng.uniform(0.02, 0.95, len(shares)), varies=rng.uniform(0.03, 0.15),
            of_shares=rng.choice([0.0, 0.03, 0.05]), of_rates=rng.choice([0.0, 0.02]),
            course=[*COURSES][number % 3], growth=rng.choice([0.0, 0.002]),
        ))  # fmt: skip
        found += bool(held)
        for problem in {problem for problem, _ in held}:
            kinds[problem] = kinds.get(problem, 0) + 1
    yield f"mixed: {found} of {feeds}: {kinds}"
    found = 0
    for number in range(feeds // 3):
        rng = np.random.default_rng([77, number])
        days = feed(rng, 90, rng.choice([60, 150, 400]), (1, 1), varies=0.0)
        found += any(problem == "same counts" for problem, _ in findings(days))
    yield f"small days, same counts: {found} of {feeds // 3}"


def losses(feeds: int) -> Iterator[str]:
    """Yield in how many feeds rows of a group, or its refusals, that one day lacks are found."""
    cases = [
        (rows, (share, 1 - share), of_shares, Lost(left), 0.4)
        for rows, share, left in (
            (2500, 0.15, 0.6), (2500, 0.15, 0.5), (900, 0.18, 0.5), (900, 0.1, 0.5)
        )
        for of_shares in (0.0, 0.03, 0.05)
    ]  # fmt: skip
    refused = Lost(0.5, of_refusals=True)
    cases += [(1200, (1, 1), 0.0, refused, rate) for rate in (0.3, 0.5, 0.85)]
    cases += [(900, (1, 1, 1), 0.0, refused, 0.4), (300, (1, 1), 0.0, refused, 0.4)]
    for case, (rows, shares, of_shares, lost, rate) in enumerate(cases):
        found = 0
        for number in range(feeds):
            rng = np.random.default_rng([78, case, number])
            days = feed(rng, CHANGED + 5, rows, shares, rates=(rate,), varies=0.04,
                        of_shares=of_shares, lost=lost)  # fmt: skip
            found += any(CHANGED in held for _, held in findings(days))
        yield f"{rows} rows, {shares}, shares vary by {of_shares}, {lost}, rate {rate}: {found}"


def main() -> None:
    """Print the figures of every part."""
    parts = {
        "volumes": (volumes, 400),
        "holidays": (holidays, 200),
        "clean": (clean, 900),
        "losses": (losses, 100),
    }
    parser = argparse.ArgumentParser(prog="python -m bench.feeds", description=__doc__)
    parser.add_argument("--part", choices=parts)
    parser.add_argument("--feeds", type=int, help="in place of 400, 200, 900 and 100")
    given = parser.parse_args()
    for name, (part, feeds) in parts.items():
        if given.part in (None, name):
            print(name)
            for line in part(given.feeds or feeds):
                print(" ", line, flush=True)


if __name__ == "__main__":
    main()
