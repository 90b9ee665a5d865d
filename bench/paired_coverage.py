"""``python -m bench.paired_coverage``: how often the intervals of changes between models are right.

Two models decide the same rows; their decisions are correlated within each label. Every scenario
goes through the product's own path from counts to limits, many data sets at once. The command
writes evidence/paired_coverage.json, whose table docs/coverage.md shows. What is measured already,
with as many data sets or more, is kept, so that the command can be interrupted and started again;
``--again`` measures it anew.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_metric
from fairgauge.inference.compared_counts import Evidence
from fairgauge.inference.one.statistic_intervals import statistic_interval
from fairgauge.inference.two.paired_changes import (
    disparity_changes,
    distance_limits,
    statistic_change,
)
from fairgauge.inference.two.paired_tables import ClusterCounts, PairedTable, confusion
from fairgauge.stats.arrays import floats
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"
DATA, VERDICTS = EVIDENCE / "paired_coverage.json", EVIDENCE / "paired_verdicts.json"
BEGIN, END = "<!-- made from paired_coverage.json -->", "<!-- end of paired_coverage.json -->"
CORRELATIONS = (-0.5, 0.0, 0.5, 0.8, 0.95)
SIZES = ((20, 20), (20, 200), (50, 50), (200, 200), (200, 2_000), (2_000, 2_000))
BASE_RATE = 0.5
MODELS = (  # P(accepted | label) of the model in use and of the candidate: positives, negatives
    ((0.6, 0.2), (0.6, 0.2)),
    ((0.8, 0.1), (0.8, 0.1)),
    ((0.5, 0.5), (0.5, 0.5)),
    ((0.6, 0.3), (0.75, 0.2)),
    ((0.9, 0.3), (0.85, 0.4)),
    ((0.3, 0.05), (0.4, 0.1)),
)
RATES = ("selection_rate", "accuracy", "true_positive_rate", "positive_predictive_value", "f1")
ENOUGH = 5
Z = critical(0.95)


def joint(old: float, new: float, correlation: float) -> np.ndarray | None:
    """Return P(old, new decision), positive first; None where no table is so correlated."""
    both = old * new + correlation * math.sqrt(old * (1 - old) * new * (1 - new))
    cells = np.array([[both, old - both], [new - both, 1 - old - new + both]])
    return np.clip(cells, 0, 1) if cells.min() > -1e-12 else None


def cells_of(models: tuple, correlation: float) -> np.ndarray | None:
    """Return P(label, old, new), a missing label last."""
    (old, new) = models
    parts = [joint(old[i], new[i], correlation) for i in range(2)]
    if parts[0] is None or parts[1] is None:
        return None
    labels = (BASE_RATE, 1 - BASE_RATE)
    known = [share * part for share, part in zip(labels, parts, strict=True)]
    return np.stack([*known, np.zeros((2, 2))])


def drawn(cells: np.ndarray, n: int, sets: int, rng: np.random.Generator) -> PairedTable:
    """Return data sets of independent rows."""
    counts = rng.multinomial(n, cells.ravel() / cells.sum(), sets)
    counts = counts.reshape(sets, *cells.shape).astype(float)
    return PairedTable(counts, counts, counts)


def weighted(cells: np.ndarray, n: int, sets: int, rng: np.random.Generator) -> PairedTable:
    """Return data sets of rows with lognormal weights."""
    codes = rng.choice(cells.size, (sets, n), p=cells.ravel() / cells.sum())
    weights = rng.lognormal(0.0, 0.5, (sets, n))
    key = (np.arange(sets)[:, None] * cells.size + codes).ravel()

    def summed(values: np.ndarray) -> np.ndarray:
        total = np.bincount(key, values.ravel(), sets * cells.size)
        return total.reshape(sets, *cells.shape)

    return PairedTable(summed(weights), summed(weights**2), summed(np.ones_like(weights)))


def clustered(cells: np.ndarray, n: int, sets: int, rng: np.random.Generator) -> PairedTable:
    """Return data sets of rows in clusters of five, in which half of the rows repeat the first."""
    many = n // 5
    codes = rng.choice(cells.size, (sets, many, 5), p=cells.ravel() / cells.sum())
    codes = np.where(rng.random(codes.shape) < 0.5, codes[..., :1], codes)
    counts = np.zeros((sets, cells.size))
    np.add.at(counts, (np.arange(sets)[:, None], codes.reshape(sets, -1)), 1.0)
    counts = counts.reshape(sets, *cells.shape)
    cluster = np.repeat(np.arange(many), 5)
    of_set = [ClusterCounts(cluster, row.ravel(), np.ones(many * 5)) for row in codes]
    return PairedTable(counts, counts, counts, clusters=of_set, cluster_count=many)


DESIGN_EFFECTS = {drawn: 1.0, weighted: math.exp(0.25), clustered: 2.4}
"""How many rows have the information of one: of weights Kish's, of clusters by their correlations,
1/2 of the first row with every other and 1/4 of any two others."""


def both_sides(group: PairedTable, reference: PairedTable) -> PairedTable:
    """Return the tables of all groups, and then of the reference of each."""
    weights, squares, cases = (
        np.concatenate([getattr(side, name) for side in (group, reference)])
        for name in ("weights", "squares", "cases")
    )
    if group.clusters is None or reference.clusters is None:
        return PairedTable(weights, squares, cases)
    apart = [  # groups share no cluster with their references
        replace(each, cluster=each.cluster + group.cluster_count) for each in reference.clusters
    ]
    count = group.cluster_count + reference.cluster_count
    return PairedTable(
        weights, squares, cases, clusters=[*group.clusters, *apart], cluster_count=count
    )


def change(metric: Contrast, table: PairedTable, *, robust: bool = False):
    """Return the change of the metric's rate, as the product computes it."""
    sides = [confusion(margin, classes=False) for margin in table.margins]
    cases = [confusion(table.cases.sum(axis=axis), classes=False) for axis in (3, 2)]
    squares = [confusion(table.squares.sum(axis=axis), classes=False) for axis in (3, 2)]
    plain = (table.squares == table.weights).all() or robust
    evidence = [
        Evidence(side, side if plain else n, None if plain else squared)
        for side, n, squared in zip(sides, cases, squares, strict=True)
    ]
    return statistic_change(metric.of, table, *(statistic_interval(metric.of, e) for e in evidence))


def discordant(metric: Contrast, cells: np.ndarray, n: float) -> float:
    """Return the expected rows, among those of the rate, that are decided differently.

    Rates whose denominator depends on the decisions are made of both labels, of which each must
    have enough such rows: false positives alone may decide a positive predictive value.
    """
    by_label = n * (cells[:2, 0, 1] + cells[:2, 1, 0])
    if metric.of.name == "true_positive_rate":
        return float(by_label[0])
    if metric.of.name in ("selection_rate", "accuracy"):
        return float(by_label.sum())
    return float(by_label.min())


def coverage(
    metric: Contrast, models: tuple, sizes: tuple[int, int], correlation: float, sets: int, draw
) -> dict | None:
    """Measure one scenario; the reference group has equal models of moderate correlation."""
    ours, theirs = cells_of(models, correlation), cells_of(((0.7, 0.2), (0.7, 0.2)), 0.5)
    if ours is None or theirs is None:
        return None
    seed = [20, *sizes, round(100 * (1 + correlation)), MODELS.index(models)]
    rng = np.random.default_rng(seed)
    tables = [draw(cells, n, sets, rng) for cells, n in zip((ours, theirs), sizes, strict=True)]
    sides = change(metric, both_sides(*tables), robust=draw is clustered)
    made = disparity_changes(metric, sides, inside=False)
    truth = [
        float(metric.of.value(confusion(margin, classes=False), "documented")[0])
        for cells in (ours, theirs)
        for margin in PairedTable(cells[None], cells[None], cells[None]).margins
    ]
    by_ratio = metric.by == "ratio"
    scale = np.log if by_ratio else np.asarray
    old, new, old_other, new_other = (float(scale(value)) for value in truth)
    alone = sides.ratio if by_ratio else sides.difference
    return {
        "rate": _covers([limit[:sets] for limit in alone.at(Z)], new - old, alone.value[:sets]),
        "disparity": _covers(made.shift.at(Z), new - old - new_other + old_other, made.shift.value),
        "fairer": _fairer(made),
        "discordant": min(
            discordant(metric, c, n / DESIGN_EFFECTS[draw])
            for c, n in zip((ours, theirs), sizes, strict=True)
        ),
    }


def _covers(limits: Sequence, truth: float, value: np.ndarray) -> float:
    low, high = floats(*limits)
    known = np.isfinite(value) & ~np.isnan(low) & ~np.isnan(high)
    inside = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    return 100 * float(inside[known].mean())


def _fairer(made) -> float:
    """Return how often the candidate is called closer to no difference at the 95% level."""
    _, high = distance_limits(made.shift.at(Z), made.level.at(Z))
    return 100 * float(np.mean(high < 0))


def exact(n: int) -> Study:
    """Return the coverage of Tango's interval in every table of one group."""
    subject = f"change of a rate, {n} rows, every table"
    return Study((subject,), lambda _: [record(subject, "exact", *enumerated(n), 0)])


def enumerated(n: int) -> tuple[list[float], list[float]]:
    """Return coverages with enough discordant rows, and all of them."""
    gained, lost = (each.ravel() for each in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    kept = gained + lost <= n
    gained, lost = gained[kept].astype(float), lost[kept].astype(float)
    low, high = paired_difference(gained, lost, n, Z)
    factorial = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    g, h = gained.astype(int), lost.astype(int)
    ways = factorial[n] - factorial[g] - factorial[h] - factorial[n - g - h]
    found = []
    for p, q in product(np.arange(0.02, 0.5, 0.04), repeat=2):
        logs = ways + g * math.log(p) + h * math.log(q) + (n - g - h) * math.log(1 - p - q)
        inside = (low <= p - q + 1e-12) & (p - q - 1e-12 <= high)
        found.append((n * (p + q), 100 * float(np.exp(logs)[inside].sum())))
    return [c for expected, c in found if expected >= ENOUGH], [c for _, c in found]


def record(subject: str, setting: str, enough: list, every: list, sets: int) -> dict:
    inside = [93.5 <= c <= 97.0 for c in enough]
    return {
        "subject": subject,
        "setting": setting,
        "data_sets": sets,
        "scenarios": len(every),
        "lowest": round(min(every), 1),
        "with_5_discordant": len(enough),
        "lowest_with_5": round(min(enough), 1) if enough else None,
        "highest_with_5": round(max(enough), 1) if enough else None,
        "within": round(100 * float(np.mean(inside)), 1) if enough else None,
    }


@dataclass(frozen=True, slots=True)
class Study:
    """Some intervals whose coverage is measured together.

    Attributes
    ----------
    subjects : the intervals; a record is made of each.
    measured : returns the records, of a number of data sets.
    """

    subjects: tuple[str, ...]
    measured: Callable[[int], list[dict]]


def families() -> dict[str, Iterator[Study]]:
    """Return the studies of every family of changes."""
    from bench import paired_other_coverage as other

    return {
        "exact": (exact(n) for n in (20, 50)),
        "rates": rates(RATES[:3]),
        "quotients": rates(RATES[3:]),
        "dependent": dependent(),
        "classes": other.classes(),
        "strata": other.strata(),
        "scores": other.scores(),
        "extremes": other.extremes(),
    }


def rates(names: Sequence[str]) -> Iterator[Study]:
    """Yield the changes of rates, and of their differences and ratios."""
    for rate, by in product(names, ("difference", "ratio")):
        metric = find_metric(f"{rate}.{by}")
        assert isinstance(metric, Contrast)
        yield _several(metric, SIZES, CORRELATIONS, drawn, "")


def dependent() -> Iterator[Study]:
    """Yield the changes of weighted and of clustered rows."""
    for rate, (draw, words) in product(
        ("selection_rate", "true_positive_rate", "positive_predictive_value"),
        ((weighted, ", lognormal weights"), (clustered, ", clusters of 5")),
    ):
        if draw is clustered and rate == "positive_predictive_value":
            continue  # its sides have cluster-robust intervals of their own
        metric = find_metric(f"{rate}.difference")
        sizes = ((200, 200), (1_000, 1_000))
        yield _several(metric, sizes, (0.0, 0.5, 0.8), draw, words)


def _several(metric, sizes, correlations, draw, words: str) -> Study:
    name = metric.of.title
    subjects = {
        "rate": f"{metric.by} of {name}{words}",
        "disparity": f"change of {name} {metric.by}{words}",
    }

    def measured(sets: int) -> list[dict]:
        found = [
            one
            for models, size, correlation in product(MODELS, sizes, correlations)
            if (one := coverage(metric, models, size, correlation, sets, draw)) is not None
        ]
        records = []
        for key, subject in subjects.items():
            every = [one[key] for one in found]
            enough = [one[key] for one in found if one["discordant"] >= ENOUGH]
            records.append(record(subject, "simulated", enough, every, sets))
        return records

    return Study(tuple(subjects.values()), measured)


def table(records: list[dict]) -> str:
    """Return the table of the page."""
    head = (
        "| interval of | scenarios | lowest | with 5 discordant rows | lowest of these | highest | "
        "within 93.5 to 97 |\n|---|---|---|---|---|---|---|\n"
    )
    rows = (
        f"| {r['subject']} ({'E' if r['setting'] == 'exact' else 'S'}) | {r['scenarios']} | "
        f"{r['lowest']} | {r['with_5_discordant']} | {r['lowest_with_5']} | "
        f"{r['highest_with_5']} | {r['within']} % |\n"
        for r in records
    )
    return head + "".join(rows)


def page(text: str, records: list[dict]) -> str:
    """Return the page with the table between its marks replaced."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    verdicts = verdict_table(json.loads(VERDICTS.read_text(encoding="utf-8")))
    return f"{before}{BEGIN}\n\n{table(records)}\n{verdicts}\n{END}{after}"


def verdict_table(records: list[dict]) -> str:
    """Return how often equal candidates are called fairer, and dominating ones are recognised."""
    rule = "|---|---|---|---|---|\n"
    head = f"| candidates | rows by group | runs | called fairer | called less fair |\n{rule}"
    equal = "".join(
        f"| {r['candidates']}, equal to the model in use, {r['dependence']}{_of(r)} | "
        f"{_rows(r)} | {r['runs']} | {r['called fairer']} % | {r['called less fair']} % |\n"
        for r in records
        if r["subject"] == "equal models"
    )
    power = "".join(
        f"| margin {r['margin']:g}, disparity changes by {r['change']:g} | {_rows(r)} | "
        f"{r['runs']} | {r['planned power']:.0f} % | {r['recognised']} % |\n"
        for r in records
        if "recognised" in r
    )
    planned = "| fairer and as good | rows planned | runs | planned power | recognised |\n"
    return f"{head}{equal}\n{planned}{rule}{power}\n{_dominance(records)}"


def _dominance(records: list[dict]) -> str:
    """Return how often candidates dominate that harm a group, or that are better for all."""
    verdicts = ("dominates", "better in what could be tested", "trade-off", "cannot tell")
    rows = "".join(
        f"| {r['design']} | {r['rows']:,} | {_margin(r['margin'])} | {r['runs']:,} | "
        + " | ".join(f"{r[verdict]} %" for verdict in verdicts)
        + " |\n"
        for r in records
        if "dominates" in r
    )
    heads = ["what becomes of the groups", "rows", "margin of disparities", "runs", *verdicts]
    return f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n{rows}"


def _margin(margin: float | None) -> str:
    return "none" if margin is None else f"{100 * margin:g} pp"


def _rows(record: dict) -> str:
    *first, last = (f"{rows:,}" for rows in record["rows"])
    return f"{', '.join(first)} and {last}"


def _of(record: dict) -> str:
    """Name the disparities that are not the usual ones."""
    return f"; {', '.join(record['metrics'])}" if record["metrics"] else ""


def _held() -> dict[str, dict]:
    return {each["subject"]: each for each in json.loads(DATA.read_text(encoding="utf-8"))}


def _is_open(study: Study, sets: int) -> bool:
    """Return whether a study is not measured yet with so many data sets."""
    held = _held()
    records = [held.get(subject) for subject in study.subjects]
    return any(
        each is None or (each["setting"] != "exact" and each["data_sets"] < sets)
        for each in records
    )


def _measure(study: Study, sets: int) -> None:
    """Measure a study, and write its records."""
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        made = study.measured(sets)
    held = _held() | {each["subject"]: each for each in made}
    DATA.write_text(json.dumps(list(held.values()), indent=1) + "\n", encoding="utf-8")
    print(f"{time.perf_counter() - start:.0f} s", *made, sep="\n", flush=True)


def main() -> None:
    """Measure, and write the data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=4_000)
    parser.add_argument("--only", default="all", help="one family of changes; others are kept")
    parser.add_argument("--again", action="store_true", help="measure what is measured, too")
    given = parser.parse_args()
    for name, studies in families().items():
        for study in studies:
            if given.only in ("all", name) and (given.again or _is_open(study, given.sets)):
                _measure(study, given.sets)
    print(table(list(_held().values())))


if __name__ == "__main__":
    main()
