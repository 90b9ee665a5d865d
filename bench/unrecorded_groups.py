"""How often intervals and verdicts of groups that nobody recorded are right.

    python -m bench.unrecorded_groups [MINUTES]
    python -m bench.unrecorded_groups counting [ROWS]

Probabilities of groups are Dirichlet: with concentration 1 as informative as those of surname and
address for Black and White people (R2 = .5), with 5.7 weak (.15). A slope b is by how much the rate
of people of one group rises with the probability of the first. Every table is counted and audited
by `fairgauge.count` and `fairgauge.audit`. evidence/coverage_of_unrecorded_groups.json holds how
many tables of each design there are and what was counted in them; a run goes on where the last one
stopped. ``counting`` states the CPU seconds of counting a file of five probabilities beside those
of a bare scan.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zlib import crc32

import duckdb
import numpy as np
import polars as pl

import fairgauge as fg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(__file__).resolve().parents[1] / "evidence" / "coverage_of_unrecorded_groups.json"
LIMIT = 0.05
BLOCK = 10
WEAK = 5.7
_ROWS_OF_A_FILE = 5_000_000


@dataclass(frozen=True)
class Covered:
    """A design whose intervals are held against the truth: rates of decisions within labels.

    Attributes
    ----------
    base, tpr, fpr : of each group: share of positive labels, of decisions among these and others.
    cluster : rows of a cluster, whose people share a shift of the rate by .1 up or down; 0 without.
    weights : whether rows have lognormal weights, which are unrelated to the outcome.
    """

    name: str
    tables: int
    rows: int
    shares: tuple[float, ...] = (0.2, 0.6, 0.2)
    concentration: float = 1.0
    base: tuple[float, ...] = (0.4, 0.6, 0.5)
    tpr: tuple[float, ...] = (0.55, 0.7, 0.65)
    fpr: tuple[float, ...] = (0.2, 0.3, 0.25)
    cluster: int = 0
    weights: bool = False

    def measured(self, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        """Draw a table, and yield by name what is summed."""
        p, group = drawn(rng, self.shares, self.concentration, self.rows)
        label = rng.random(self.rows) < np.array(self.base)[group]
        chance = np.where(label, np.array(self.tpr)[group], np.array(self.fpr)[group])
        data = {"label": label.astype(int), **named(p)}
        more = {}
        if self.cluster:
            data["of"] = np.arange(self.rows) // self.cluster
            chance = chance + 0.1 * rng.choice((-1, 1), self.rows)[data["of"]]
            more["cluster"] = "of"
        if self.weights:
            data["w"], more["weight"] = rng.lognormal(0, 0.7, self.rows), "w"
        data["chosen"] = (rng.random(self.rows) < chance).astype(int)
        metrics = ["selection_rate.difference", "selection_rate.ratio",
                   "true_positive_rate.difference", "false_positive_rate.difference"]  # fmt: skip
        report = fg.audit(
            pl.DataFrame(data), label="label", prediction="chosen", positive=1, metrics=metrics,
            sensitive={"race": fg.probabilities(columns(p))}, reference={"race": "b"}, **more,
        )  # fmt: skip
        t, f, b = (np.array(each) for each in (self.tpr, self.fpr, self.base))
        rate = b * t + (1 - b) * f
        true = (rate[0] - rate[1], rate[0] / rate[1], t[0] - t[1], f[0] - f[1])
        of = {(e.metric, str(e.estimator)): e for e in report.estimators if e.group == "a"}
        for metric, value in zip(metrics, true, strict=True):
            made = of[metric, "likelihood"]
            yield f"{metric} covered", made.interval.low <= value <= made.interval.high
            yield f"{metric} below", value < made.interval.low
        off = 100 * (of[metrics[0], "likelihood"].value - true[0])
        yield "likelihood bias", off
        yield "likelihood squared", off**2


@dataclass(frozen=True)
class Judged:
    """A law under which a rule, |gap| at most 5 pp, is judged by every assumption.

    Attributes
    ----------
    rates : of three groups.
    power : what the probabilities that are stated are taken to the power of.
    shuffled : whether they are other people's, and show nothing.
    known : people drawn at random who are asked.
    """

    name: str
    tables: int = 100
    rows: int = 20_000
    rates: tuple[float, float, float] = (0.368, 0.55, 0.5)
    concentration: float = 1.0
    slope: float = 0.0
    power: float = 1.0
    given_proxy: bool = False
    shuffled: bool = False
    known: int = 500

    @cached_property
    def truth(self) -> float:
        """Return the gap between the first two groups in the population."""
        p = np.random.default_rng(0).dirichlet(
            np.array((0.2, 0.6, 0.2)) * self.concentration, 2_000_000
        )
        rate = self._rate(p, None)
        one, other = (
            float((p[:, g] * (rate if rate.ndim == 1 else rate[:, g])).sum() / p[:, g].sum())
            for g in (0, 1)
        )
        return one - other

    def _rate(self, p: Any, group: Any) -> Any:
        """Return the rate of each person; of every group without their groups."""
        rates = np.array(self.rates)
        if self.given_proxy:
            return p @ rates
        rise = self.slope * (p[:, 0] - 0.2)
        return rates + rise[:, None] if group is None else rates[group] + rise

    def measured(self, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        """Draw a table, and yield by name what is counted."""
        p, group = drawn(rng, (0.2, 0.6, 0.2), self.concentration, self.rows)
        outcome = rng.random(self.rows) < self._rate(p, group)
        stated = p**self.power / (p**self.power).sum(axis=1, keepdims=True)
        if self.shuffled:
            stated = stated[rng.permutation(self.rows)]
        answer = np.full(self.rows, None, dtype=object)
        asked = rng.choice(self.rows, self.known, replace=False)
        answer[asked] = np.array(list("abc"), dtype=object)[group[asked]]
        data = pl.DataFrame(
            {"chosen": outcome.astype(int), "answer": answer.tolist()} | named(stated)
        )
        of = {"prediction": "chosen", "positive": 1}
        cube = fg.count(data, sensitive={"race": self._race()}, **of)
        true = self.truth
        for name, race in (
            ("likelihood", self._race()),
            ("bounds", self._race(assume="nothing")),
            ("validated", self._race(known_drawn="random")),
        ):
            report = fg.audit(
                cube, sensitive={"race": race}, reference={"race": "b"},
                metrics="selection_rate.difference",
                rules=[{"metric": "selection_rate.difference",
                        "at_least": -LIMIT, "at_most": LIMIT}],
            )  # fmt: skip
            (verdict,) = (each for each in report.verdicts if each.group == "a")
            made = next(e for e in report.estimates if e.group == "a")
            yield f"{name} {verdict.outcome}", 1
            yield (
                f"{name} covers",
                made.interval is not None and (made.interval.low <= true <= made.interval.high),
            )

    def _race(self, **more: Any) -> Any:
        return fg.probabilities(columns(np.empty((0, 3))), known="answer", **more)


def drawn(
    rng: np.random.Generator, shares: tuple[float, ...], concentration: float, rows: int
) -> tuple[Any, Any]:
    """Return probabilities, and groups drawn from them."""
    p = rng.dirichlet(np.array(shares) * concentration, rows)
    return p, (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)


def columns(p: Any) -> dict[str, str]:
    """Return the column of the probability of every group."""
    return {"abcdefgh"[g]: f"p_{'abcdefgh'[g]}" for g in range(p.shape[1])}


def named(p: Any) -> dict[str, Any]:
    """Return the columns of probabilities."""
    return dict(zip(columns(p).values(), p.T, strict=True))


FIVE = {
    "shares": (0.15, 0.55, 0.15, 0.1, 0.05), "base": (0.4, 0.6, 0.5, 0.55, 0.5),
    "tpr": (0.55, 0.7, 0.65, 0.7, 0.6), "fpr": (0.2, 0.3, 0.25, 0.3, 0.25),
}  # fmt: skip
RARE = {"base": (0.05, 0.1, 0.08), "tpr": (0.2, 0.5, 0.4), "fpr": (0.0095, 0.04, 0.03)}
SURE = {"tpr": (0.55, 1.0, 0.65), "fpr": (0.2, 1.0, 0.25)}
EQUAL = (0.5, 0.5, 0.5)
DESIGNS: tuple[Covered | Judged, ...] = (
    Covered("3 groups", 2_000, 2_000),
    Covered("3 groups, weak", 2_000, 2_000, concentration=WEAK),
    Covered("5 groups", 2_000, 2_000, **FIVE),
    Covered("5 groups, weak", 2_000, 2_000, concentration=WEAK, **FIVE),
    Covered("3 groups", 300, 20_000),
    Covered("3 groups, weak", 300, 20_000, concentration=WEAK),
    Covered("5 groups", 300, 20_000, **FIVE),
    Covered("rare outcomes", 2_000, 2_000, **RARE),
    Covered("a group with a rate of 1", 2_000, 2_000, **SURE),
    Covered("clusters of 20", 1_000, 2_000, cluster=20),
    Covered("lognormal weights", 1_000, 2_000, weights=True),
    Judged("no gap", rates=EQUAL),
    Judged("at the limit", rates=(0.5, 0.55, 0.5)),
    Judged("gap of 8", rates=(0.47, 0.55, 0.5)),
    Judged("gap of 18.2"),
    Judged("gap of 18.2, weak", concentration=WEAK),
    Judged("no gap, weak", rates=EQUAL, concentration=WEAK),
    Judged("independent given the probabilities", given_proxy=True),
    Judged("b = -.1", slope=-0.1),
    Judged("b = +.1 (other sign)", slope=0.1),
    Judged("b = +.3 (other sign)", slope=0.3),
    Judged("overconfident (p^.77 is right)", power=1.3),
    Judged("probabilities of other people (AUC .5)", shuffled=True),
    Judged("the same, the gap hidden by nobody's rate", shuffled=True, rates=(0.3, 0.6, 0.5)),
)


def _key(design: Covered | Judged) -> str:
    return f"{design.name}, {design.rows:,}"


def measure(until: float) -> None:
    """Add blocks of tables to the designs that lack most, until a time or until none lacks any."""
    records = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    for design in DESIGNS:
        kind = "verdicts" if isinstance(design, Judged) else "coverage"
        made = {"kind": kind, "design": design.name, "people": design.rows, "tables": 0, "sums": {}}
        if isinstance(design, Judged):
            made["gap"] = round(100 * design.truth, 2)
        records.setdefault(_key(design), made)
    while time.time() < until:
        lacking = [each for each in DESIGNS if records[_key(each)]["tables"] < each.tables]
        if not lacking:
            break
        design = min(lacking, key=lambda each: records[_key(each)]["tables"] / each.tables)
        record = records[_key(design)]
        rng = np.random.default_rng([crc32(_key(design).encode()), record["tables"]])
        sums = Counter(record["sums"])
        for _ in range(BLOCK):
            for name, value in design.measured(rng):
                sums[name] += float(value)
        record["sums"] = {name: round(value, 6) for name, value in sorted(sums.items())}
        record["tables"] += BLOCK
        beside = DATA.with_suffix(".part")
        beside.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        beside.replace(DATA)


def counting(rows: int) -> str:
    """Return the CPU seconds of a bare scan and of a count, the better of three."""
    rng = np.random.default_rng(3)
    names = {group: f"p_{group}" for group in "abcde"}
    with TemporaryDirectory() as folder:
        for first in range(0, rows, _ROWS_OF_A_FILE):
            n = min(_ROWS_OF_A_FILE, rows - first)
            p = rng.dirichlet([0.2, 0.6, 0.2, 0.3, 0.1], n)
            frame = pl.DataFrame(p, schema=list(names.values()))
            frame = frame.with_columns(chosen=pl.Series(rng.integers(0, 2, n)))
            frame.write_parquet(f"{folder}/{first:012}.parquet")
        file = f"{folder}/*.parquet"
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
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60 * 24
    measure(time.time() + 60 * minutes)


if __name__ == "__main__":
    main()
