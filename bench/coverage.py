"""``python -m bench.coverage``: how often intervals of all metrics are right, design by design.

Every design draws many data sets, audits them through the public interface, and compares the
intervals that an audit calls adequate (status ok) with the values of the population. Where no
metric needs all rows at once, each data set is a stratum of one audit: what is compared in a
stratum is compared as it would be alone.

Data sets are drawn in chunks, each from its own seed. The command adds chunks to those counted in
evidence/coverage_of_all_metrics.json until every design has enough data sets; it writes the file
after each chunk and may be stopped at any time. When a method changes, or a
metric is new, measure its designs ``--anew``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairgauge as fg
from bench.audit_designs import class_shares
from fairgauge.catalogue.lookup import find_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_COUNTS = Path(__file__).parent.parent / "evidence" / "coverage_of_all_metrics.json"
_POPULATION = 10**10
_SCRATCH = ".part"
_MOST_APART = 3
_CLASS = "class "
_RATE = "rate "
_CELLS = ((1, 1), (0, 1), (1, 0), (0, 0))
"""Label and prediction of true and false positives, false and true negatives."""


@dataclass(frozen=True)
class Drawn:
    """Data sets, and the population that they are drawn from.

    Attributes
    ----------
    sets : one frame with the number of the data set in the column ``set``.
    population : a frame of which the metrics are the truth.
    options : of the audit of both; ``own`` are of that of the data sets alone.
    stratified : whether each data set is a stratum of one audit, else they are audited one by one.
    """

    sets: pl.DataFrame
    population: pl.DataFrame
    options: dict[str, Any]
    own: dict[str, Any]
    stratified: bool = True


@dataclass(frozen=True)
class Design:
    """A design: its name, what is drawn, and how many data sets are drawn at once."""

    name: str
    draw: Callable[[np.random.Generator, int], Drawn]
    chunk: int = 100


def confusion(base: float, recall: float, false_positives: float) -> np.ndarray:
    """Return the probabilities of TP, FP, FN and TN."""
    return np.array(
        [
            base * recall,
            (1 - base) * false_positives,
            base * (1 - recall),
            (1 - base) * (1 - false_positives),
        ]
    )


_BINARY = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "group"}


def _population(groups, shares) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"group": f"g{g}", "label": y, "prediction": p, "n": int(_POPULATION * size * share)}
            for g, (size, cells) in enumerate(zip(groups, shares, strict=True))
            for (y, p), share in zip(_CELLS, cells, strict=True)
        ]
    )


def counted(sizes, shares, rng, data_sets) -> Drawn:
    """Draw tables of counts; the sizes of groups are fixed."""
    parts = []
    for g, (size, cells) in enumerate(zip(sizes, shares, strict=True)):
        drawn = rng.multinomial(size, cells / cells.sum(), data_sets)
        for c, (y, p) in enumerate(_CELLS):
            parts.append(
                pl.DataFrame({"set": np.arange(data_sets), "n": drawn[:, c]}).with_columns(
                    group=pl.lit(f"g{g}"), label=pl.lit(y), prediction=pl.lit(p)
                )
            )
    of_all = np.array(sizes) / np.sum(sizes)
    options = {**_BINARY, "count": "n"}
    return Drawn(pl.concat(parts), _population(of_all, shares), options, {})


def _rows(sizes, shares, rng, data_sets):
    """Return the data set, the group and the cell of every row."""
    group = np.tile(np.repeat(np.arange(len(sizes)), sizes), data_sets)
    number = np.repeat(np.arange(data_sets), np.sum(sizes))
    cell = np.empty(len(group), dtype=int)
    for g, cells in enumerate(shares):
        cell[group == g] = rng.choice(4, p=cells / cells.sum(), size=int((group == g).sum()))
    return number, group, cell


def _frame(number, group, cell, **columns) -> pl.DataFrame:
    label, prediction = np.array(_CELLS)[cell].T
    names = np.array([f"g{g}" for g in range(group.max() + 1)])[group]
    found = {"set": number, "group": names, "label": label, "prediction": prediction}
    return pl.DataFrame(found | columns)


def weighted(sizes, shares, follows, spread, rng, data_sets) -> Drawn:
    """Draw rows whose lognormal weights follow their cells; ``follows`` are log-weights."""
    number, group, cell = _rows(sizes, shares, rng, data_sets)
    weight = np.exp(spread * rng.normal(size=len(cell)) + np.array(follows)[cell])
    truth = [cells * np.exp(follows) for cells in shares]
    of_all = [size * each.sum() for size, each in zip(sizes, truth, strict=True)]
    population = _population(np.array(of_all) / sum(of_all), [t / t.sum() for t in truth])
    frame = _frame(number, group, cell, weight=weight)
    return Drawn(frame, population.rename({"n": "weight"}), {**_BINARY, "weight": "weight"}, {})


def clustered(clusters, sizes_of, shares, correlation, rng, data_sets) -> Drawn:
    """Draw clusters of rows; in each, one kind of row is more frequent than in others.

    Clusters of all data sets have the same names: the blocks of clusters that the jackknife leaves
    out are then as large in each data set as they are in it alone.
    """
    frames = []
    for number in range(data_sets):
        for g, cells in enumerate(shares):
            sizes = sizes_of(clusters, rng)
            spread = (1 - correlation) / correlation
            own = rng.dirichlet(cells / cells.sum() * spread, clusters)
            drawn = rng.multinomial(sizes, own)
            at, cell = np.nonzero(drawn)
            name = np.array([f"{g}-{c}" for c in range(clusters)])[at]
            frames.append(_table(number, g, cell, drawn[at, cell], cluster=name))
    options = {**_BINARY, "count": "n"}
    population = _population([1 / len(shares)] * len(shares), shares)
    return Drawn(pl.concat(frames), population, options, {"cluster": "cluster"})


def _table(number, g, cell, n, **columns) -> pl.DataFrame:
    """Return one group's rows of one data set as counts."""
    label, prediction = np.array(_CELLS)[cell].T
    held = {"set": np.full(len(cell), number), "label": label, "prediction": prediction, "n": n}
    return pl.DataFrame(held | columns).with_columns(group=pl.lit(f"g{g}"))


def stratified(strata, rows, shares, rng, data_sets) -> Drawn:
    """Draw tables of many strata of one distribution, each of few rows."""
    frames = []
    for number in range(data_sets):
        for g, cells in enumerate(shares):
            sizes = rng.multinomial(rows, np.full(strata, 1 / strata))
            drawn = rng.multinomial(sizes, cells / cells.sum())
            at, cell = np.nonzero(drawn)
            frames.append(_table(number, g, cell, drawn[at, cell], stratum=at))
    population = _population([1 / len(shares)] * len(shares), shares)
    population = pl.concat([population.with_columns(stratum=pl.lit(s)) for s in (0, 1)])
    options = {**_BINARY, "count": "n", "strata": "stratum", "metrics": _POOLED}
    return Drawn(pl.concat(frames), population, options, {}, stratified=False)


def classes(number_of, right, evenness, sizes, rng, data_sets) -> Drawn:
    """Draw tables of many classes; mistakes go to near ones."""
    shares = class_shares(number_of, right, evenness)
    labels, predictions = (each.ravel() for each in np.indices(shares.shape))
    names = np.array([f"c{k:02}" for k in range(number_of)])
    parts = []
    for g, size in enumerate(sizes):
        drawn = rng.multinomial(size, shares.ravel(), data_sets)
        at, cell = np.nonzero(drawn)
        parts.append(
            pl.DataFrame(
                {
                    "set": at, "n": drawn[at, cell],
                    "label": names[labels[cell]], "prediction": names[predictions[cell]],
                }
            ).with_columns(group=pl.lit(f"g{g}"))
        )  # fmt: skip
    population = pl.concat(
        pl.DataFrame(
            {
                "label": names[labels], "prediction": names[predictions],
                "n": (_POPULATION * shares.ravel() * size).astype(int),
            }
        ).with_columns(group=pl.lit(f"g{g}"))
        for g, size in enumerate(sizes)
    )  # fmt: skip
    options = {"label": "label", "prediction": "prediction", "sensitive": "group", "count": "n"}
    options |= {"task": "multiclass"}
    return Drawn(pl.concat(parts), population, options, {})


def scored(sizes, shapes, follows, rng, data_sets) -> Drawn:
    """Draw calibrated scores of two beta distributions; weights follow them unless ``None``."""
    grid = np.arange(1, 200) / 200
    frames, population = [], []
    for g, (size, (a, b)) in enumerate(zip(sizes, shapes, strict=True)):
        density = grid ** (a - 1) * (1 - grid) ** (b - 1)
        density /= density.sum()
        score = rng.choice(grid, p=density, size=(data_sets, size))
        label = (rng.random(score.shape) < score).astype(int)
        columns = {"set": np.repeat(np.arange(data_sets), size), "score": score.ravel()}
        columns |= {"label": label.ravel()}
        if follows is not None:
            weight = np.exp(0.5 * rng.normal(size=score.shape) + follows * score)
            columns["weight"] = weight.ravel()
        frames.append(pl.DataFrame(columns).with_columns(group=pl.lit(f"g{g}")))
        heavier = density * np.exp((follows or 0.0) * grid)
        for y in (0, 1):
            chance = grid if y else 1 - grid
            n = (_POPULATION * size * heavier * chance).astype(int)
            held = {"score": grid, "label": np.full(len(grid), y), "weight": n}
            population.append(pl.DataFrame(held).with_columns(group=pl.lit(f"g{g}")))
    options = {"label": "label", "score": "score", "positive": 1, "sensitive": "group"}
    options |= {"weight": "weight", "metrics": [f"{name}.difference" for name in _SCORES]}
    whole = pl.concat(population)
    own: dict[str, Any] = {} if follows is not None else {"weight": None}
    return Drawn(pl.concat(frames), whole, options, own, stratified=False)


def amounts(sizes, errors, follows, rng, data_sets) -> Drawn:
    """Draw labels and predictions of a regression; weights follow the errors unless ``None``."""

    def columns(known, off, spread):
        held = {"label": 10 + known + off, "prediction": 10 + known}
        informative = 0.0 if follows is None else follows * off + 0.5 * spread
        return held | {"weight": np.exp(informative) + np.zeros(off.shape)}

    frames = []
    for g, size in enumerate(sizes):
        known, unknown, spread = rng.normal(size=(3, size * data_sets))
        frames.append(
            pl.DataFrame(columns(known, errors(unknown), spread)).with_columns(
                group=pl.lit(f"g{g}"), set=pl.lit(np.repeat(np.arange(data_sets), size))
            )
        )
    known, unknown = (each.ravel() for each in np.meshgrid(_NORMAL_GRID, _NORMAL_GRID))
    density = np.exp(-(known**2 + unknown**2) / 2)
    truth = pl.DataFrame(columns(known, errors(unknown), 0.0)).with_columns(
        weight=pl.col("weight") * density
    )
    population = pl.concat(
        truth.with_columns(pl.col("weight") * size, group=pl.lit(f"g{g}"))
        for g, size in enumerate(sizes)
    )
    options = {"label": "label", "prediction": "prediction", "sensitive": "group"}
    options |= {"task": "regression", "weight": "weight"}
    own: dict[str, Any] = {} if follows is not None else {"weight": None}
    return Drawn(pl.concat(frames), population, options, own)


def _even(clusters, _):
    return np.full(clusters, 12)


def _uneven(clusters, rng):
    return np.maximum(np.rint(12 * np.exp(rng.normal(-0.5, 1.0, clusters))), 1).astype(int)


def _lognormal(normal):
    return np.exp(normal) - np.exp(0.5)


def _normal(normal):
    return normal


_NORMAL_GRID = np.linspace(-8, 8, 321)
"""Where the density of a population of normal values is evaluated."""


_SCORES = (
    "mean_score", "roc_auc", "average_precision", "brier_score", "log_loss", "calibration_gap",
    "calibration_slope", "calibration_intercept", "expected_calibration_error",
    "maximum_calibration_error", "generalized_true_positive_rate",
    "generalized_false_positive_rate",
)  # fmt: skip
_POOLED = [
    "base_rate.difference", "base_rate.ratio", "selection_rate.difference", "selection_rate.ratio",
    "accuracy.difference", "true_positive_rate.difference", "false_positive_rate.difference",
    "positive_predictive_value.difference", "DPL", "CDDL", "DPPL", "CDDPL", "DI", "DCA", "DCR",
    "RD", "SD", "DAR", "DRR", "AD", "TE",
]  # fmt: skip
"""What is adjusted for strata; other metrics are measured in the designs without."""
_PLAIN = confusion(0.4, 0.75, 0.2)
_OTHER = confusion(0.3, 0.65, 0.1)
_FOLLOWS = (0.8, 0.4, 0.0, -0.2)

DESIGNS = (
    Design("equal: 200 and 800 rows", partial(counted, (200, 800), (_PLAIN, _PLAIN))),
    Design("unequal: 200 and 800 rows", partial(counted, (200, 800), (_PLAIN, _OTHER))),
    Design("rare: 5% positive", partial(counted, (400, 1600), (confusion(0.05, 0.7, 0.03),) * 2)),
    Design("extreme: rates of .95 and .98",
           partial(counted, (200, 600), (confusion(0.95, 0.98, 0.4), confusion(0.98, 0.99, 0.5)))),
    Design("correlated: 96% of predictions right",
           partial(counted, (200, 600), (confusion(0.4, 0.95, 0.03), confusion(0.5, 0.96, 0.04)))),
    Design("tiny: 25 and 40 rows", partial(counted, (25, 40), (_PLAIN, _OTHER))),
    Design("many groups: 10 of 60 to 240",
           partial(counted, (60, 80, 100, 120, 140, 160, 180, 200, 220, 240), (_PLAIN,) * 10)),
    Design("weighted: weights unrelated",
           partial(weighted, (200, 400), (_PLAIN, _OTHER), (0.0,) * 4, 0.7)),
    Design("informative weights", partial(weighted, (200, 400), (_PLAIN, _OTHER), _FOLLOWS, 0.7)),
    Design("clusters, even: 25 and 25", partial(clustered, 25, _even, (_PLAIN, _OTHER), 0.1)),
    Design("clusters, uneven: 30 and 30",
           partial(clustered, 30, _uneven, (_PLAIN, _OTHER), 0.1)),
    Design("many strata: 40 of 15 rows a side",
           partial(stratified, 40, 600, (_PLAIN, _PLAIN)), 25),
    Design("many classes: 8", partial(classes, 8, 0.7, 0.85, (300, 600))),
    Design("scores: 150 and 300 rows", partial(scored, (150, 25), ((2, 3), (2, 2)), None), 25),
    Design("scores, informative weights",
           partial(scored, (200, 400), ((2, 3), (2, 2)), 1.5), 25),
    Design("regression: normal errors, 250 and 900 rows",
           partial(amounts, (250, 900), _normal, None)),
    Design("regression: lognormal errors, 250 and 900 rows",
           partial(amounts, (250, 900), _lognormal, None)),
    Design("regression: informative weights, 400 and 1,200 rows",
           partial(amounts, (400, 1200), _normal, 0.4)),
)  # fmt: skip


def _audits(drawn: Drawn) -> Iterator[fg.Report]:
    """Audit all data sets: at once as strata, or one by one."""
    options = {"metrics": "all", **drawn.options, **drawn.own, "replicates": 400}
    if drawn.stratified:
        yield fg.audit(drawn.sets, strata="set", **options)
    else:
        for part in drawn.sets.partition_by("set", include_key=False):
            yield fg.audit(part, **options)


_Key = tuple[str, str | None, str, str]


def _key(name: str, group: str | None, of: Any) -> _Key:
    """Return what an interval is of; a number of all groups is of none, whichever it names."""
    if not name.startswith(_RATE) and find_metric(name).scope == "feature":
        group = None
    pooled = "pooled" if of.scope.kind == "pooled" else ""
    scope = of.class_scope
    return name, group, pooled, f"{_CLASS}{scope.name}" if scope.name else scope.average or ""


def _truths(drawn: Drawn) -> dict[_Key, float]:
    options = {"metrics": "all", **drawn.options, "replicates": 50}
    report = fg.audit(drawn.population, **options)
    found = {
        _key(each.metric, each.group, each): each.value
        for each in report.estimates
        if each.value is not None and each.scope.kind != "stratum" and _fixed(each)
    }
    for group in report.groups:
        if group.stratum is None:
            for name, rate in group.rates.items():
                if rate.value is not None and not name.startswith("precision_at_k"):
                    found[_key(_RATE + name, group.group, group)] = rate.value
    return found


def _fixed(each: fg.Estimate) -> bool:
    """Return whether a population has the number: not of the worst class, nor of the top k rows."""
    return each.class_scope.kind != "worst" and not each.metric.startswith("precision_at_k")


def _intervals(report: fg.Report, *, stratified: bool) -> Iterator[tuple[_Key, Any]]:
    for each in report.estimates:
        if (each.scope.kind == "stratum") == stratified and _fixed(each):
            yield _key(each.metric, each.group, each), each
    for group in report.groups:
        if (group.stratum is not None) == stratified:
            for name, rate in group.rates.items():
                yield _key(_RATE + name, group.group, group), rate


@dataclass
class Counted:
    """What was counted in a design.

    Attributes
    ----------
    data_sets : in how many data sets.
    chunks : in how many chunks of them; the next one has this number in its seed.
    intervals : by metric, and by what its intervals are of, how many of them held the truth, and
        how many were adequate.
    """

    data_sets: int = 0
    chunks: int = 0
    intervals: dict[str, dict[str, list[int]]] = field(default_factory=dict)


class Measurement:
    """A design whose truth is known, and what was counted in it."""

    def __init__(self, design: Design, counted: Counted) -> None:
        self.design, self.counted = design, counted

    @cached_property
    def _truths(self) -> dict[_Key, float]:
        return _truths(self.design.draw(np.random.default_rng(0), 1))

    def count_chunk(self) -> None:
        """Draw and audit the next data sets, and add their intervals to the counts."""
        design = self.design
        rng = np.random.default_rng([7, self.counted.chunks, *design.name.encode()])
        drawn = design.draw(rng, design.chunk)
        many = drawn.population["group"].n_unique() > _MOST_APART
        for report in _audits(drawn):
            for key, each in _intervals(report, stratified=drawn.stratified):
                truth = self._truths.get(key)
                if truth is not None and each.status == "ok" and each.interval is not None:
                    counts = self._counts(key, together=many)
                    counts[0] += _holds(each.interval, truth)
                    counts[1] += 1
        self.counted.chunks += 1
        self.counted.data_sets += design.chunk

    def _counts(self, key: _Key, *, together: bool) -> list[int]:
        """Return the counts of an interval; many groups are one, and so are classes."""
        name, group, scope, of_class = key
        of_class = _CLASS.strip() if of_class.startswith(_CLASS) else of_class
        of = ", ".join(filter(None, (None if together else group, scope, of_class)))
        return self.counted.intervals.setdefault(name, {}).setdefault(of, [0, 0])


def _holds(interval: Any, truth: float) -> bool:
    slack = 1e-6 * max(1.0, abs(truth)) if math.isfinite(truth) else 0.0
    return bool(interval.low - slack <= truth <= interval.high + slack)


def read(path: Path) -> dict[str, Counted]:
    """Return what was counted, by design."""
    if not path.exists():
        return {}
    records = json.loads(path.read_text(encoding="utf-8"))
    return {record.pop("design"): Counted(**record) for record in records}


def write(path: Path, measurements: Iterable[Measurement]) -> None:
    """Write what was counted, whole: one metric a line."""
    records = []
    for each in measurements:
        counted = each.counted
        metrics = ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(counts, sort_keys=True)}"
            for name, counts in sorted(counted.intervals.items())
        )
        records.append(
            f' {{"design": {json.dumps(each.design.name)}, "data_sets": {counted.data_sets}, '
            f'"chunks": {counted.chunks}'
            f',\n  "intervals": {{\n{metrics}\n  }}}}'
        )
    scratch = path.with_name(path.name + _SCRATCH)
    scratch.write_text("[\n" + ",\n".join(records) + "\n]\n", encoding="utf-8")
    scratch.replace(path)


def main(arguments: list[str] | None = None) -> None:
    """Count chunks of designs, those that are finished soonest first, until all have enough."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets wanted in each design")
    parser.add_argument("--design", default="", help="only designs whose name begins so")
    parser.add_argument("--anew", action="store_true", help="forget what was counted in them")
    parser.add_argument("-o", "--output", type=Path, default=_COUNTS)
    options = parser.parse_args(arguments)
    known = read(options.output)
    measurements = [Measurement(each, known.get(each.name, Counted())) for each in DESIGNS]
    asked = [each for each in measurements if each.design.name.startswith(options.design)]
    for each in asked if options.anew else ():
        each.counted = Counted()
    cost = dict.fromkeys((each.design.name for each in asked), 0.0)  # of a data set

    def left(each: Measurement) -> float:
        return cost[each.design.name] * (options.sets - each.counted.data_sets)

    while unfinished := [each for each in asked if each.counted.data_sets < options.sets]:
        soonest = min(unfinished, key=left)
        started = time.process_time()
        soonest.count_chunk()
        write(options.output, measurements)
        design = soonest.design
        cost[design.name] = (time.process_time() - started) / design.chunk
        taken = f"{cost[design.name]:.3f} s each"
        print(f"{design.name}: {soonest.counted.data_sets} data sets, {taken}", flush=True)


if __name__ == "__main__":
    main()
