"""False alarms and delays of the monitor, beside other rules on the same simulated streams.

``python -m bench.monitoring`` measures and writes ``docs/monitoring-simulation.json``;
``python docs/make_monitoring_page.py`` writes the tables from it. The monitor's numbers come from
the functions that `fairgauge.monitor` itself calls after it has read the cubes
(`divide_alpha`, `baseline_limits`, `detect`), one comparison per simulated year;
``tests/unit/monitoring/test_false_alarms.py`` checks that `fairgauge.monitor` gives the same
evidence from cubes.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.lookup import find_rate
from fairgauge.cube.confusion import confusion
from fairgauge.monitoring.comparison_counts import ComparisonCounts, ComparisonId, SideCounts
from fairgauge.monitoring.detection import baseline_limits, detect, divide_alpha
from fairgauge.monitoring.monitor_spec import (
    BaselineCounts,
    MonitoredRate,
    MonitorRule,
    MonitorSpec,
)
from fairgauge.spec.options import Spec
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.intervals import clopper_pearson, critical

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DAYS, YEARS, CHANGE = 365, 3_000, 180
TOLERANCE, RATE = 0.05, 0.3
PAGE = Path(__file__).resolve().parents[1] / "docs" / "monitoring-simulation.json"


@dataclass(frozen=True)
class Design:
    """How the streams of a row of the table are made.

    Attributes
    ----------
    name : what it is called.
    gap : the true difference on a day, of all years: array of shape (years,).
    sizes : rows of reference and group on a day, in every year.
    by : difference, ratio or rate.
    low, high : the tolerated values, around the baseline where there is one.
    baseline : rows of the baseline in both groups; 0 for none.
    base : the rate of the reference on a day.
    """

    name: str
    gap: Callable[[int, np.random.Generator], Array]
    sizes: Callable[[int, np.random.Generator], tuple[Array, Array]]
    by: str = "difference"
    low: float = -TOLERANCE
    high: float = TOLERANCE
    baseline: tuple[int, int] = (0, 0)
    base: Callable[[int], float] = lambda _day: RATE


def constant(value: float) -> Callable[[int, np.random.Generator], Array]:
    """Return a difference that never changes."""
    return lambda _day, _rng: np.full(YEARS, value)


def shifted(value: float) -> Callable[[int, np.random.Generator], Array]:
    """Return a difference of 0 that is another one from day 180 on."""
    return lambda day, _rng: np.full(YEARS, value if day >= CHANGE else 0.0)


def drifting(day: int, rng: np.random.Generator) -> Array:
    """Return a difference that drifts inside the tolerance, to both of its ends."""
    return TOLERANCE * np.sin(2 * np.pi * (day / 90 + rng.random(YEARS) * 0.02))


def fixed(n_a: int, n_d: int) -> Callable[[int, np.random.Generator], tuple[Array, Array]]:
    """Return batches of one size."""
    return lambda _day, _rng: (np.full(YEARS, float(n_a)), np.full(YEARS, float(n_d)))


def varying(_day: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return batches from none to thousands of rows."""
    n_a = np.floor(rng.lognormal(4.5, 1.0, YEARS))
    return n_a, np.floor(n_a * rng.random(YEARS))


DESIGNS = (
    Design("no difference", constant(0.0), fixed(200, 100)),
    Design("at the edge of the tolerance", constant(TOLERANCE), fixed(200, 100)),
    Design("drifting inside the tolerance", drifting, fixed(200, 100)),
    Design("at the edge, small batches (40, 20)", constant(TOLERANCE), fixed(40, 20)),
    Design("at the edge, batches of varying size", constant(TOLERANCE), varying),
    Design("at the edge, varying base rate", constant(TOLERANCE), fixed(200, 100),
           base=lambda day: 0.3 + 0.25 * np.sin(day / 30)),
    Design("no tolerance, no difference", constant(0.0), fixed(200, 100), low=0.0, high=0.0),
    Design("ratio at its limit of 0.8", constant(-0.2 * RATE), fixed(200, 100), by="ratio",
           low=0.8, high=np.inf),
    Design("rate at its limit", constant(0.0), fixed(200, 100), by="rate", low=RATE, high=1.0),
    Design("baseline of 500 rows, no change", constant(0.0), fixed(200, 100),
           baseline=(333, 167)),
    Design("baseline of 500 rows, at the edge", constant(TOLERANCE), fixed(200, 100),
           baseline=(333, 167)),
    Design("baseline of 500 rows, large batches", constant(TOLERANCE), fixed(20_000, 10_000),
           baseline=(333, 167)),
    Design("baseline of 20,000 rows, at the edge", constant(TOLERANCE), fixed(2_000, 1_000),
           baseline=(13_333, 6_667)),
)  # fmt: skip

SHIFTS = tuple(
    Design(f"shift to {value:.2f} on day {CHANGE}", shifted(value), fixed(n_a, n_d))
    for n_a, n_d in ((200, 100), (40, 20))
    for value in (0.10, 0.15, 0.20)
)
"""Shifts, first with batches of 200 and 100 rows, then of 40 and 20."""


def streams(design: Design, seed: int) -> Array:
    """Return the counts of all years: array of shape (days, years, 4), x_d, n_d, x_a, n_a."""
    rng = np.random.default_rng(seed)
    days = []
    for day in range(DAYS):
        n_a, n_d = design.sizes(day, rng)
        base = design.base(day)
        d = np.clip(base + design.gap(day, rng), 0, 1)
        x_a = rng.binomial(n_a.astype(int), base)
        x_d = rng.binomial(n_d.astype(int), d)
        days.append(np.stack([x_d, n_d, x_a, n_a], axis=-1))
    return np.stack(days).astype(float)


def evidence(design: Design, counts: Array, seed: int) -> tuple[Array, Array]:
    """Return the evidence of the monitor, shape (days, years), and the thresholds."""
    years = counts.shape[1]
    question = Spec(label="y", prediction="p", positive=(1,))
    rate = MonitoredRate(find_rate("selection_rate"), design.by)  # type: ignore[arg-type]
    cube = confusion("g", {"a": {"tp": 1}, "d": {"tp": 1}})
    baseline = BaselineCounts("baseline.cube.json", cube) if design.baseline[0] else None
    rule = MonitorRule("selection_rate.difference", design.low, design.high, baseline=baseline)
    spec = MonitorSpec(question, (rule,))
    ids = [ComparisonId(0, "g", str(year)) for year in range(years)]
    alphas = np.full(years, divide_alpha(spec.alpha, [0])[0])
    baselines = {}
    if baseline is not None:
        rng = np.random.default_rng(seed + 1_000_000)
        n_a, n_d = design.baseline
        x_a, x_d = rng.binomial(n_a, RATE, years), rng.binomial(n_d, RATE, years)
        for i, each in enumerate(ids):
            held = SideCounts(x_d[i], n_d, x_a[i], n_a)
            baselines[each] = baseline_limits(held, alphas[i], rate, rule)
    held = ComparisonCounts(ids, [0] * years, [""] * years, counts, np.zeros(len(counts), bool))
    found = detect(held, alphas, spec, {0: rate}, baselines)
    return found.evidence, found.threshold


def first_alarm(crossed: NDArray[np.bool_]) -> Array:
    """Return the day of the first alarm in every year, infinite where there is none."""
    return np.where(crossed.any(axis=0), np.argmax(crossed, axis=0), np.inf)


def gaps(counts: Array) -> tuple[Array, Array]:
    """Return daily differences of rates and their standard errors."""
    x_d, n_d, x_a, n_a = np.moveaxis(np.maximum(counts, 0), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        d, a = x_d / n_d, x_a / n_a
        return d - a, np.sqrt(d * (1 - d) / n_d + a * (1 - a) / n_a)


def clarify_rule(design: Design, counts: Array) -> NDArray[np.bool_]:
    """Alarm where the normal 95% interval is disjoint from the range: Model Monitor's rule."""
    gap, error = gaps(counts)
    z = critical(0.95)
    return (gap - z * error > design.high) | (gap + z * error < design.low)


def daily_interval(_design: Design, counts: Array) -> NDArray[np.bool_]:
    """Alarm where the daily 95% interval excludes 0."""
    return _newcombe_outside(counts, 0.0, 0.0, critical(0.95))


def bonferroni(design: Design, counts: Array) -> NDArray[np.bool_]:
    """Alarm where the daily interval at 1 - 0.05 / 365 lies outside the range."""
    return _newcombe_outside(counts, design.low, design.high, critical(1 - 0.05 / DAYS))


def _newcombe_outside(counts: Array, low: float, high: float, z: float) -> NDArray[np.bool_]:
    x_d, n_d, x_a, n_a = np.moveaxis(counts, -1, 0)
    lower, upper = newcombe(x_d, n_d, x_a, n_a, z)
    return (lower > high) | (upper < low)


def cusum(counts: Array) -> Array:
    """Return the two-sided CUSUM of daily differences beyond half way to the shift worth it."""
    gap, error = gaps(counts)
    aim = TOLERANCE + 0.025
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.nan_to_num((gap - aim) / error, posinf=0.0, neginf=0.0)
        down = np.nan_to_num((-gap - aim) / error, posinf=0.0, neginf=0.0)
    path = np.zeros_like(gap)
    high = low = np.zeros(gap.shape[1])
    for day in range(len(gap)):
        high, low = np.maximum(high + up[day], 0), np.maximum(low + down[day], 0)
        path[day] = np.maximum(high, low)
    return path


RULES = {
    "Model Monitor's rule": clarify_rule,
    "daily 95% interval excludes 0": daily_interval,
    "Bonferroni over 365 days": bonferroni,
}


def measured(design: Design, seed: int, tuned: float) -> dict[str, Array]:
    """Return the first alarm of every procedure in every year."""
    counts = streams(design, seed)
    found, threshold = evidence(design, counts, seed)
    first = {"fairgauge": first_alarm(found >= threshold)}
    if design.by == "difference" and not design.baseline[0]:
        first |= {name: first_alarm(rule(design, counts)) for name, rule in RULES.items()}
        first["CUSUM tuned on this design"] = first_alarm(cusum(counts) >= tuned)
    return first


def tuned_cusum(n_a: int, n_d: int) -> float:
    """Return the CUSUM threshold with 5% of false alarms in a year at the edge of the tolerance."""
    edge = Design("tuning", constant(TOLERANCE), fixed(n_a, n_d))
    highest = cusum(streams(edge, 77)).max(axis=0)
    return float(np.quantile(highest, 0.95))


def families(years: int = 1_000, groups: int = 12) -> dict[str, float]:
    """Return how often any of 12 groups x 3 rules alarms in a year, all at the limits.

    Every group has the same rates, and nothing but equality with all other groups is tolerated.
    """
    rng = np.random.default_rng(12)
    x = rng.binomial(60, RATE, (DAYS, years, groups)).astype(float)
    n = np.full_like(x, 60.0)
    others_x, others_n = x.sum(axis=-1, keepdims=True) - x, n.sum(axis=-1, keepdims=True) - n
    counts = np.stack([x, n, others_x, others_n], axis=-1).reshape(DAYS, years * groups, 4)
    alarmed = np.zeros(years, dtype=bool)
    limits = {"difference": (0.0, 0.0), "ratio": (1.0, 1.0), "rate": (RATE, RATE)}
    share = divide_alpha(0.05, [0] * groups * len(limits))[0]
    for by, (low, high) in limits.items():
        design = replace(DESIGNS[0], by=by, low=low, high=high)
        found, threshold = evidence(design, counts, 0)
        alone = divide_alpha(0.05, [0])[0]
        crossed = (found >= threshold * alone / share).any(axis=0)
        alarmed |= crossed.reshape(years, groups).any(axis=1)
    return {"alarms": float(alarmed.sum()), "years": float(years)}


def record(design: Design, first: dict[str, Array], kind: str) -> dict[str, object]:
    """Return what was measured of a design, in plain values."""
    rows = {}
    for name, days in first.items():
        alarms = int(np.isfinite(days).sum())
        if kind == "false":
            upper = float(clopper_pearson(alarms, YEARS, 0.95)[1])
            rows[name] = {"share": alarms / YEARS, "upper": upper}
        else:
            early = int((days < CHANGE).sum())
            delay = np.where(days >= CHANGE, days - CHANGE + 1, np.nan)
            found = np.isfinite(days) & (days >= CHANGE)
            # a delay that was never observed is longer than any
            waited = np.where(found, delay, np.inf)[days >= CHANGE]
            median = float(np.median(waited)) if waited.size else np.inf
            rows[name] = {
                "early": early / YEARS,
                "found": float(found.sum() / max(YEARS - early, 1)),
                "median": None if np.isinf(median) else median,
            }
    return {"kind": kind, "design": design.name, "years": YEARS, "measured": rows}


def main() -> None:
    """Measure every design and write the numbers."""
    begun = time.perf_counter()
    tuned = {(200, 100): tuned_cusum(200, 100), (40, 20): tuned_cusum(40, 20)}
    records = []
    for i, design in enumerate(DESIGNS):
        size = (40, 20) if "(40, 20)" in design.name else (200, 100)
        records.append(record(design, measured(design, 100 + i, tuned[size]), "false"))
        print(design.name, records[-1]["measured"]["fairgauge"], file=sys.stderr)  # type: ignore[index]
    for i, design in enumerate(SHIFTS):
        size = (200, 100) if i < len(SHIFTS) // 2 else (40, 20)
        named = replace(design, name=f"{design.name}, batches of {size[0]} and {size[1]}")
        records.append(record(named, measured(design, 200 + i, tuned[size]), "delay"))
        print(named.name, records[-1]["measured"], file=sys.stderr)
    many = families()
    upper = float(clopper_pearson(many["alarms"], many["years"], 0.95)[1])
    share = many["alarms"] / many["years"]
    records.append({"kind": "false", "design": "12 groups and 3 rules, all at their limits",
                    "years": int(many["years"]),
                    "measured": {"fairgauge": {"share": share, "upper": upper}}})  # fmt: skip
    PAGE.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
