"""False alarms, delays and confidence sequences of the monitor, on simulated years.

``python -m bench.monitoring`` measures, in two processes and some 15 minutes on an idle machine,
and writes ``evidence/monitoring-simulation.json`` from the parts that are measured by then;
``python docs/make_monitoring_page.py`` writes the tables from it. Every year of every stream is
a history of 365 cubes in memory, which `fairgauge.monitor` follows as a user would call it.
"""

from __future__ import annotations

import datetime as dt
import gc
import json
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fairgauge as fg
from bench.betting import betting_records
from fairgauge.cube.cube import CountTable
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.intervals import clopper_pearson, critical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DAYS, YEARS, PARTS, CHANGE = 365, 1_000, 3, 180
"""Days of a year, years that are simulated at once, how many times, and the day of a shift."""
FAMILY_YEARS = 250
"""Years of 36 comparisons that are simulated at once: one takes as long as five of others."""
TOLERANCE, RATE = 0.05, 0.3
PAGE = Path(__file__).resolve().parents[1] / "evidence" / "monitoring-simulation.json"
KEPT = Path(__file__).resolve().parent / "data" / "monitoring"
"""Where measured parts are kept, so that a run can go on; remove them to measure anew."""


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


@dataclass(frozen=True)
class Streams:
    """Simulated years.

    Attributes
    ----------
    counts : array of shape (days, years, 4): x_d, n_d, x_a, n_a.
    d, a : arrays of shape (days, years): the true rates.
    """

    counts: Array
    d: Array
    a: Array


def streams(design: Design, seed: int) -> Streams:
    """Return the counts of all years, and the rates that they were drawn with."""
    rng = np.random.default_rng(seed)
    days, of_d, of_a = [], [], []
    for day in range(DAYS):
        n_a, n_d = design.sizes(day, rng)
        base = design.base(day)
        d = np.clip(base + design.gap(day, rng), 0, 1)
        x_a = rng.binomial(n_a.astype(int), base)
        x_d = rng.binomial(n_d.astype(int), d)
        days.append(np.stack([x_d, n_d, x_a, n_a], axis=-1))
        of_d.append(d)
        of_a.append(np.full_like(d, base))
    return Streams(np.stack(days).astype(float), np.stack(of_d), np.stack(of_a))


FIRST_DAY = dt.date(2026, 1, 1)
NAMES = [str(FIRST_DAY + dt.timedelta(days=day)) for day in range(DAYS)]
QUESTION: dict[str, Any] = {
    "label": "label", "prediction": "prediction", "positive": 1, "sensitive": "g",
}  # fmt: skip
METRICS = {"difference": "selection_rate.difference", "ratio": "selection_rate.ratio",
           "rate": "selection_rate"}  # fmt: skip


def cubes(counts: Array, groups: tuple[str, ...]) -> Iterator[fg.Cube]:
    """Yield a cube for each day, from the selected and all rows of every group.

    ``counts`` has the shape (days, groups, 2). Only the first cube is made by `fairgauge.confusion`
    and the others are copies with other counts, which takes a tenth of the time.
    """
    cell = {"tp": 1, "fn": 1}
    made = fg.confusion("g", dict.fromkeys(groups, cell))
    (table,) = made.tables  # its cells are those of groups by label and prediction
    group, label, prediction = table.codes.T
    names = [made.levels[made.plan.axes[0]].index(name) for name in groups]
    selected, size = np.moveaxis(counts[:, np.argsort(names)], -1, 0)
    rows = np.zeros((len(counts), len(table.codes)))
    rows[:, (label == 1) & (prediction == 1)] = selected
    rows[:, (label == 1) & (prediction == 0)] = size - selected
    assert (np.diff(group[(label == 1) & (prediction == 1)]) > 0).all()
    for day, total in zip(rows, rows.sum(axis=1).tolist(), strict=True):
        held = CountTable(table.axes, table.codes, {"rows": day})
        yield fg.Cube(made.plan, made.levels, (held,), int(total))


def rule_of(design: Design, baseline: Path | None) -> dict[str, Any]:
    """Return the rule of a design as a specification writes it."""
    rule: dict[str, Any] = {"metric": METRICS[design.by], "groups": "d"}
    if baseline is not None:
        return rule | {"within": design.high, "of": str(baseline)}
    low = {} if np.isinf(design.low) else {"at_least": design.low}
    return rule | low | ({} if np.isinf(design.high) else {"at_most": design.high})


def followed(
    design: Design, counts: Array, baseline: Path | None = None
) -> tuple[float, Array, float]:
    """Follow one year: the day of the alarm, the confidence sequence, and the threshold.

    ``counts`` has the shape (days, 4); the sequence is an array of shape (days, 2).
    """
    x_d, n_d, x_a, n_a = counts.T
    by_group = np.stack([np.stack([x_a, n_a], -1), np.stack([x_d, n_d], -1)], axis=1)
    history = dict(zip(NAMES, cubes(by_group, ("a", "d")), strict=True))
    question = QUESTION | {"reference": {"g": "a"}}
    report = fg.monitor(history, question | {"monitor": {"rules": [rule_of(design, baseline)]}})
    (each,) = report.comparisons
    alarm = np.inf if each.alarm is None else float(NAMES.index(each.alarm.period))
    ends = [(point.running_low, point.running_high) for point in each.points]
    return alarm, np.array(ends, dtype=float), each.threshold or np.inf


def monitored(design: Design, made: Streams, seed: int) -> tuple[Array, Array]:
    """Follow every year: the days of the alarms, and the sequences of shape (days, years, 2)."""
    days, years, _ = made.counts.shape
    first, ends = np.empty(years), np.empty((days, years, 2))
    rng = np.random.default_rng(seed + 1_000_000)
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        for year in range(years):
            path = _baseline(design, rng, Path(folder)) if design.baseline[0] else None
            first[year], ends[:, year], _ = followed(design, made.counts[:, year], path)
    return first, ends


def _baseline(design: Design, rng: np.random.Generator, folder: Path) -> Path:
    n_a, n_d = design.baseline
    counts = [[rng.binomial(n_a, RATE), n_a], [rng.binomial(n_d, RATE), n_d]]
    path = folder / "baseline.cube.json"
    next(cubes(np.array([counts]), ("a", "d"))).save(path)
    return path


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


def alarms(design: Design, counts: Array, first: Array, tuned: float) -> dict[str, Array]:
    """Return the first alarm of every procedure in every year."""
    found = {"fairgauge": first}
    if design.by == "difference" and not design.baseline[0]:
        found |= {name: first_alarm(rule(design, counts)) for name, rule in RULES.items()}
        found["CUSUM tuned on this design"] = first_alarm(cusum(counts) >= tuned)
    return found


def tuned_cusum(n_a: int, n_d: int) -> float:
    """Return the CUSUM threshold with 5% of false alarms in a year at the edge of the tolerance."""
    edge = Design("tuning", constant(TOLERANCE), fixed(n_a, n_d))
    highest = cusum(streams(edge, 77).counts).max(axis=0)
    return float(np.quantile(highest, 0.95))


def sequences(design: Design, made: Streams, ends: Array) -> dict[str, dict[str, list[float]]]:
    """Return in which years an interval missed its value on any day, and how wide they are.

    Beside the confidence sequence: the interval of all rows so far, looked at every day.
    """
    x_d, n_d, x_a, n_a = np.moveaxis(made.counts, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = n_d if design.by == "rate" else np.nan_to_num(n_a * n_d / (n_a + n_d))
        d, a = (_mean_so_far(each, weight) for each in (made.d, made.a))
        truth = {"difference": d - a, "ratio": d / a, "rate": d}[design.by]
        found = {"confidence sequence": _held(truth, ends[..., 0], ends[..., 1])}
        if design.by == "difference":
            so_far = (each.cumsum(axis=0) for each in (x_d, n_d, x_a, n_a))
            truth = _mean_so_far(made.d, n_d) - _mean_so_far(made.a, n_a)
            limits = newcombe(*so_far, critical(0.95))
            found["95% CI of all rows so far"] = _held(truth, *limits)
    return found


def _mean_so_far(rates: Array, weights: Array) -> Array:
    return (weights * rates).cumsum(axis=0) / weights.cumsum(axis=0)


def _held(truth: Array, low: Array, high: Array) -> dict[str, list[float]]:
    missed = ((truth < low) | (truth > high)).any(axis=0)
    widths = {f"width_{day}": (high - low)[day - 1].tolist() for day in (30, 365)}
    return {"missed": missed.astype(float).tolist(), **widths}


def family(counts: Array) -> bool:
    """Return whether any of 12 groups x 3 rules alarms in a year, all at their limits.

    ``counts`` has the shape (days, groups, 2): every group has the same rates, and nothing but
    equality with all other groups is tolerated.
    """
    groups = tuple(f"g{i:02d}" for i in range(counts.shape[1]))
    history = dict(zip(NAMES, cubes(counts, groups), strict=True))
    limits = {"difference": 0.0, "ratio": 1.0, "rate": RATE}
    rules = [{"metric": METRICS[by], "between": [at, at]} for by, at in limits.items()]
    return bool(fg.monitor(history, QUESTION | {"monitor": {"rules": rules}}).alarms)


def families(years: int, seed: int, groups: int = 12) -> int:
    """Return in how many years any of 12 groups x 3 rules alarms."""
    rng = np.random.default_rng(seed)
    size = np.full((DAYS, groups), 60)
    gc.freeze()
    return sum(
        family(np.stack([rng.binomial(60, RATE, size.shape), size], -1)) for _ in range(years)
    )


def summary(days: Array, kind: str) -> dict[str, float | None]:
    """Return how often a procedure alarms falsely, or how long it takes after the change."""
    years = len(days)
    if kind == "false":
        alarmed = int(np.isfinite(days).sum())
        upper = float(clopper_pearson(alarmed, years, 0.95)[1])
        return {"share": alarmed / years, "upper": upper}
    in_time = days[days >= CHANGE]
    # a delay that was never observed is longer than any
    median = float(np.median(in_time - CHANGE + 1)) if in_time.size else np.inf
    return {
        "early": 1 - len(in_time) / years,
        "found": float(np.isfinite(in_time).sum() / max(len(in_time), 1)),
        "median": None if np.isinf(median) else median,
    }


def held_summary(parts: list[dict[str, list[float]]]) -> dict[str, float]:
    """Return how often all intervals of a year hold, and their median widths."""
    missed = np.concatenate([each["missed"] for each in parts])
    held = int(len(missed) - missed.sum())
    lower = float(clopper_pearson(held, len(missed), 0.95)[0])
    widths = {
        name: float(np.nanmedian(np.concatenate([each[name] for each in parts])))
        for name in ("width_30", "width_365")
    }
    return {"held": held / len(missed), "lower": lower, **widths}


EVERY = (*DESIGNS, *SHIFTS)


def size_of(i: int) -> tuple[int, int]:
    """Return the rows of reference and group on a day of a design, of the CUSUM tuned for it."""
    late = i - len(DESIGNS) >= len(SHIFTS) // 2
    return (40, 20) if late or "(40, 20)" in EVERY[i].name else (200, 100)


def part_of_design(i: int, part: int, tuned: float) -> dict[str, Any]:
    """Return the first alarms of a thousand years of a design, and what the sequences did."""
    design = EVERY[i]
    seed = 1_000 * part + i
    made = streams(design, seed)
    first, ends = monitored(design, made, seed)
    found = alarms(design, made.counts, first, tuned)
    return {
        "alarms": {name: days.tolist() for name, days in found.items()},
        "sequences": {} if design.baseline[0] else sequences(design, made, ends),
    }


def part_of_families(part: int) -> dict[str, Any]:
    """Return in how many of some years any of 36 comparisons alarms."""
    return {"alarmed": families(FAMILY_YEARS, 12 + part)}


def measure(name: str, made: Callable[..., dict[str, Any]], *args: Any) -> None:
    """Measure what was not kept, and keep it."""
    path = KEPT / f"{name}.json"
    if path.exists():
        return
    begun = time.perf_counter()
    measured = made(*args)
    KEPT.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(measured), encoding="utf-8")
    print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)


def kept(name: str) -> list[dict[str, Any]]:
    """Return the parts of a measurement that were kept."""
    paths = sorted(KEPT.glob(f"{name}-[0-9]*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def records_of_design(i: int, parts: list[dict[str, Any]]) -> list[dict[str, object]]:
    """Return the records of a design from its parts."""
    n_a, n_d = size_of(i)
    kind = "false" if i < len(DESIGNS) else "delay"
    name = EVERY[i].name + ("" if kind == "false" else f", batches of {n_a} and {n_d}")
    about = {"design": name, "years": YEARS * len(parts)}
    days = {
        procedure: summary(np.concatenate([each["alarms"][procedure] for each in parts]), kind)
        for procedure in parts[0]["alarms"]
    }
    held = {
        interval: held_summary([each["sequences"][interval] for each in parts])
        for interval in parts[0]["sequences"]
    }
    records: list[dict[str, object]] = [{"kind": kind, **about, "measured": days}]
    return records + ([{"kind": "sequence", **about, "measured": held}] if held else [])


def main(processes: int = 2, parts: int = PARTS) -> None:
    """Measure every design, of which no part was kept, and write the numbers."""
    tuned = {size: tuned_cusum(*size) for size in ((200, 100), (40, 20))}
    with ProcessPoolExecutor(processes) as pool:
        asked = [
            pool.submit(measure, f"design-{i}-{part}", part_of_design, i, part, tuned[size_of(i)])
            for part in range(parts)
            for i in range(len(EVERY))
        ]
        asked += [
            pool.submit(measure, f"families-{part}", part_of_families, part)
            for part in range(parts * YEARS // FAMILY_YEARS)
        ]
        asked.append(pool.submit(measure, "betting-0", betting_records))
        for each in asked:
            each.result()
    write_records()


def write_records() -> None:
    """Write the numbers of all parts that were kept; a row states its years."""
    designs = (records_of_design(i, kept(f"design-{i}")) for i in range(len(EVERY)))
    records = [each for found in designs for each in found]
    many = [each["alarmed"] for each in kept("families")]
    alarmed, years = sum(many), FAMILY_YEARS * len(many)
    upper = float(clopper_pearson(alarmed, years, 0.95)[1])
    found = {"fairgauge": {"share": alarmed / years, "upper": upper}}
    name = "12 groups and 3 rules, all at their limits"
    records.append({"kind": "false", "design": name, "years": years, "measured": found})
    records += [record for each in kept("betting") for record in each["records"]]
    PAGE.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
