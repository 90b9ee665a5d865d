"""Coverage of intervals, and decisions of a rule, by protected counts of several sites.

``python -m bench.counts_of_sites [DESIGN ...]`` draws the rows of each site, protects its counts,
adds up what is published and audits the sum, and next to it the sum of the exact counts; it writes
how often intervals hold the true value to ``evidence/coverage_of_counts_of_sites.json``.
"""

from __future__ import annotations

import json
import sys
from functools import reduce
from pathlib import Path

import numpy as np

import fairgauge as fg
from fairgauge.cube.cube import Cube
from fairgauge.cube.parts import Part
from fairgauge.sharing.protection import protect_counts
from fairgauge.start.records import replace

FILE = Path(__file__).parents[1] / "evidence" / "coverage_of_counts_of_sites.json"
SETS, SEED, MIN_CELL = 1_000, 99, 10
SITES = (3, 10, 50)
DESIGNS = {
    "A: 100 rows": (100, 0.5, 0.4),
    "B: 12 rows, cells of 0 to 9": (12, 0.5, 0.4),
    "C: 100 rows, rare": (100, 0.02, 0.03),
    "E: 10 rows, cells near 5": (10, 0.5, 0.5),
    "J: 1,000 rows": (1_000, 0.5, 0.4),
    "equal rates, 100 rows": (100, 0.5, 0.5),
}
"""Rows of each of two groups at a site (fewer than 10 are not named), and their rates."""
RULE = "selection_rate.ratio >= 0.8"
METRICS = ("selection_rate.difference", "selection_rate.ratio")
ONE = fg.count(
    {"g": list("aabb"), "p": [0, 1] * 2}, prediction="p", positive=1, sensitive="g",
)  # fmt: skip


def of_rows(counts: np.ndarray, site: int = 0, *, protect: np.random.Generator | None) -> Cube:
    """Return the counts of a site by group and decision, protected by given random numbers."""
    table = replace(ONE.tables[0], sums={"rows": counts.astype(float)})
    held = replace(ONE, tables=(table.where(counts > 0),), rows=int(counts.sum()))
    if protect is None:
        return held
    safe = protect_counts(held, MIN_CELL, [], protect)
    return replace(safe, parts=(Part(table=str(site)),))  # `fg.protect` gives a random number


def measured(rows: int, rates: tuple[float, float], sites: int) -> dict[str, dict[str, float]]:
    """Return how often intervals hold the true value, their width, and what the rule decides."""
    random = np.random.default_rng(SEED)
    true = dict(zip(METRICS, (rates[0] - rates[1], rates[0] / rates[1]), strict=True))
    found: dict[str, list[tuple[float, ...]]] = {"protected": [], "exact": []}
    for _ in range(SETS):
        x = random.binomial(rows, rates, (sites, 2))
        cells = np.stack([rows - x, x], axis=-1).reshape(sites, 4)
        safe = [of_rows(each, i, protect=random) for i, each in enumerate(cells)]
        total = reduce(lambda one, other: one.add(other, allow_duplicates=True), safe)
        for name, cube in (("protected", total), ("exact", of_rows(cells.sum(0), protect=None))):
            report = fg.audit(cube, metrics=METRICS, rules=[RULE])
            gap, ratio = (report[metric, "g", "a"] for metric in METRICS)
            rate = next(g for g in report.groups if g.group == "a").rates["selection_rate"]
            low, high = rate.interval or (0.0, 1.0)
            held = [tuple(each.interval or (-1.0, np.inf)) for each in (gap, ratio)]
            inside = [low <= true[m] <= high for m, (low, high) in zip(METRICS, held, strict=True)]
            found[name].append((
                *inside, low <= rates[0] <= high, low > rates[0], high < rates[0],
                held[0][1] - held[0][0], report.verdict == "pass", report.verdict == "fail",
            ))  # fmt: skip
    names = (
        "difference", "ratio", "rate", "rate too high", "rate too low", "width", "passes", "fails",
    )  # fmt: skip
    return {
        name: {
            key: round(float(np.median(of) if key == "width" else np.mean(of)), 4)
            for key, of in zip(names, zip(*rows, strict=True), strict=True)
        }
        for name, rows in found.items()
    }


if __name__ == "__main__":
    done = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name, (rows, *rates) in DESIGNS.items():
        for sites in SITES:
            key = f"{name}, {sites} sites"
            if name[0] in (sys.argv[1:] or name) and key not in done.get("designs", {}):
                made = measured(rows, (rates[0], rates[1]), sites)
                head = {"min_cell": MIN_CELL, "confidence": 0.95}
                done = {**head, "designs": {**done.get("designs", {}), key: {"sets": SETS, **made}}}
                FILE.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
