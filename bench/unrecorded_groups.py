"""How often intervals and verdicts of groups that nobody recorded are right; a table for each.

    python -m bench.unrecorded_groups [TABLES]
    python -m bench.unrecorded_groups counting [ROWS]

Probabilities of three groups (.2, .6, .2) are Dirichlet: with R2 = .5 as informative as those of
surname and address for Black and White people, with .15 weak. Outcomes are of 2,000 or 20,000
people; a violation b is by how much the rate of people of one group rises with the probability of
the first. Every table is counted on the grid and estimated as an audit does. ``counting``
states the CPU seconds of counting a file of five probabilities beside those of a bare scan.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl

import fairgauge as fg
from fairgauge.enums import Estimator
from fairgauge.inference.unrecorded_rates import UnrecordedRate
from fairgauge.resolve.unrecorded_counts import RateCells

if TYPE_CHECKING:
    from collections.abc import Callable

Z = 1.959963984540054
PI = np.array([0.2, 0.6, 0.2])
LIMIT = 0.05
CONCENTRATION = {"informative": 1.0, "weak": 5.7}


@dataclass(frozen=True)
class Law:
    """How people are drawn: their number, what their probabilities show, their rates."""

    name: str
    rows: int = 20_000
    proxy: str = "informative"
    rates: tuple[float, float, float] = (0.368, 0.55, 0.5)
    slope: float = 0.0
    power: float = 1.0
    given_proxy: bool = False
    known: int = 500


def truth(law: Law) -> float:
    """Return the gap between the first two groups in the population, from two million people."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(PI * CONCENTRATION[law.proxy], 2_000_000)
    rates = np.array(law.rates)
    if law.given_proxy:
        rate = p @ rates
        of = [float((p[:, g] * rate).sum() / p[:, g].sum()) for g in (0, 1)]
    else:
        of = [
            float(rates[g] + law.slope * ((p[:, g] * p[:, 0]).sum() / p[:, g].sum() - PI[0]))
            for g in (0, 1)
        ]
    return of[0] - of[1]


def estimated(p: Any, kind: Any, kinds: int, known: Any = None) -> UnrecordedRate:
    """Count on the grid and estimate, as an audit does."""
    whole = np.floor(p * 2**30 + 0.5)
    digits, which = np.unique(np.floor(whole * 20 / 2**30), axis=0, return_inverse=True)
    which, size = which.reshape(-1), len(digits)
    n, mean = np.zeros((size, kinds)), np.zeros((size, p.shape[1]))
    np.add.at(n, (which, kind), 1)
    np.add.at(mean, which, p)
    mean /= mean.sum(axis=1, keepdims=True)
    sums = np.stack([p[kind == k].sum(axis=0) for k in range(kinds)])
    of_known = None
    if known is not None:
        at, group = known
        of_known = np.zeros((size, kinds, p.shape[1]))
        np.add.at(of_known, (which[at], kind[at], group[at]), 1)
    within = np.minimum(0.05**2 / 12, np.maximum(
        (mean - digits / 20) * (np.minimum(digits + 1, 20) / 20 - mean), 0))  # fmt: skip
    digits = digits.astype(np.int64)
    return UnrecordedRate(RateCells(mean, within, n, None, sums, of_known, digits, None))


def coverage(law: Law, tables: int) -> str:
    """Return a row: bias and error of the gap, and how often the intervals hold what they should.

    True and false positive rates are of decisions with labels of rates .6, .5 and .4.
    """
    rng = np.random.default_rng(1)
    gaps, weighted, held = [], [], np.zeros(4)
    tpr, fpr, base = (0.55, 0.7, 0.65), (0.2, 0.3, 0.25), (0.4, 0.6, 0.5)
    for _ in range(tables):
        p = rng.dirichlet(PI * CONCENTRATION[law.proxy], law.rows)
        group = (p.cumsum(axis=1) > rng.random((law.rows, 1))).argmax(axis=1)
        label = rng.random(law.rows) < np.array(base)[group]
        chance = np.where(label, np.array(tpr)[group], np.array(fpr)[group])
        chosen = rng.random(law.rows) < chance
        rate = [b * t + (1 - b) * f for b, t, f in zip(base, tpr, fpr, strict=True)]
        all_rows = estimated(p, np.where(chosen, 0, 1), 2)
        gaps.append(all_rows.likelihood.value(0) - all_rows.likelihood.value(1))
        weighted.append(all_rows.weighted.value(0) - all_rows.weighted.value(1))
        low, high = all_rows.likelihood.contrast("difference", 0, 1, Z)
        held[0] += low <= rate[0] - rate[1] <= high
        low, high = all_rows.likelihood.contrast("ratio", 0, 1, Z)
        held[1] += low <= rate[0] / rate[1] <= high
        for i, (among, of) in enumerate(((label, tpr), (~label, fpr))):
            kind = np.where(among, np.where(chosen, 0, 1), 2)
            low, high = estimated(p, kind, 3).likelihood.contrast("difference", 0, 1, Z)
            held[2 + i] += low <= of[0] - of[1] <= high
    error = 100 * (np.array(gaps) - (rate[0] - rate[1]))
    off = 100 * (np.mean(weighted) - (rate[0] - rate[1]))
    cells = [f"{off:+.1f}", f"{error.mean():+.1f} / {np.sqrt((error**2).mean()):.1f}"]
    cells += [f"{share:.1f}" for share in 100 * held / tables]
    return f"| {law.name} | " + " | ".join(cells) + " |"


ESTIMATORS = (
    Estimator.WEIGHTED, Estimator.LIKELIHOOD, Estimator.BRACKET, Estimator.BOUNDS,
    Estimator.VALIDATED,
)  # fmt: skip


def verdicts(law: Law, tables: int) -> str:
    """Return a row: of each estimator, how many per cent pass, fail, and hold the true gap."""
    rng = np.random.default_rng(2)
    true = truth(law)
    found = np.zeros((len(ESTIMATORS), 3))
    for _ in range(tables):
        p, group, outcome = drawn(law, rng)
        at = rng.choice(law.rows, law.known, replace=False)
        made = estimated(p, np.where(outcome, 0, 1), 2, (at, group))
        for i, estimator in enumerate(ESTIMATORS):
            low, high = made.by(estimator).contrast("difference", 0, 1, Z)
            inside = low >= -LIMIT and high <= LIMIT
            outside = high < -LIMIT or low > LIMIT
            found[i] += inside, outside, low <= true <= high
    cells = [f"{a:.0f} / {b:.0f} ({c:.0f})" for a, b, c in 100 * found / tables]
    return f"| {law.name} | {100 * true:+.1f} | " + " | ".join(cells) + " |"


def drawn(law: Law, rng: Any) -> tuple[Any, Any, Any]:
    """Return stated probabilities, groups and outcomes."""
    p = rng.dirichlet(PI * CONCENTRATION[law.proxy], law.rows)
    group = (p.cumsum(axis=1) > rng.random((law.rows, 1))).argmax(axis=1)
    rates = np.array(law.rates)
    rate = p @ rates if law.given_proxy else rates[group] + law.slope * (p[:, 0] - PI[0])
    stated = p**law.power
    return stated / stated.sum(axis=1, keepdims=True), group, rng.random(law.rows) < rate


COVERED = (
    Law("informative, 2,000", 2_000), Law("weak, 2,000", 2_000, "weak"),
    Law("informative, 20,000"), Law("weak, 20,000", proxy="weak"),
)  # fmt: skip
EQUAL, LIMITED = (0.5, 0.5, 0.5), (0.5, 0.55, 0.5)
JUDGED = (
    Law("no gap", rates=EQUAL), Law("at the limit", rates=LIMITED),
    Law("gap of 8", rates=(0.47, 0.55, 0.5)), Law("gap of 18.2"),
    Law("gap of 18.2, weak", proxy="weak"), Law("no gap, weak", rates=EQUAL, proxy="weak"),
    Law("independent given the probabilities", given_proxy=True),
    Law("b = -.1", slope=-0.1), Law("b = +.1 (other sign)", slope=0.1),
    Law("b = +.3 (other sign)", slope=0.3),
    Law("overconfident (p^.77 is right)", power=1.3),
)  # fmt: skip


def counting(rows: int) -> str:
    """Return the CPU seconds of a bare scan and of a count, the better of three."""
    rng = np.random.default_rng(3)
    names = {group: f"p_{group}" for group in "abcde"}
    with TemporaryDirectory() as folder:
        file = f"{folder}/rows.parquet"
        p = rng.dirichlet([0.2, 0.6, 0.2, 0.3, 0.1], rows)
        frame = pl.DataFrame(p, schema=list(names.values()))
        frame = frame.with_columns(chosen=pl.Series(rng.integers(0, 2, rows)))
        frame.write_parquet(file)
        ends = ", ".join(f"min({name}), max({name})" for name in names.values())
        scan = f"SELECT {ends}, sum(chosen) FROM '{file}'"
        bare = _cpu(lambda: duckdb.sql(scan).fetchall())
        race = {"race": fg.probabilities(names)}
        made = _cpu(lambda: fg.count(file, prediction="chosen", positive=1, sensitive=race))
    return f"{rows:,} rows: bare scan {bare:.2f} s, count {made:.2f} s, {made / bare:.1f} times"


def _cpu(run: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    if sys.argv[1:2] == ["counting"]:
        print(counting(int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000))
        return
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("| design | weighted: bias | likelihood: bias / RMSE | gap | ratio | TPR gap | FPR gap |")
    print("|---|---|---|---|---|---|---|")
    for law in COVERED:
        print(coverage(law, tables), flush=True)
    print(f"\n| law | truth | {' | '.join(ESTIMATORS)} |")
    print(f"|---|---|{'---|' * len(ESTIMATORS)}")
    for law in JUDGED:
        print(verdicts(law, tables), flush=True)


if __name__ == "__main__":
    main()
