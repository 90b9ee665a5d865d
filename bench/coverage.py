"""``python -m bench.coverage``: how often intervals of all metrics are right, design by design.

Every design draws many data sets, audits them through the public interface, and compares the
intervals that an audit calls adequate (status ok) with the values of the population. Where no
metric needs all rows at once, each data set is a stratum of one audit: what is compared in a
stratum is compared as it would be alone.

When a method changes, or a metric is new, measure its designs ``--anew``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

import fairgauge as fg
from bench.audit_designs import class_shares, confusion
from bench.counting import Record, count_chunks
from fairgauge.catalogue.lookup import find_metric

_POPULATION = 10**10
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
    own: dict[str, Any] = field(default_factory=dict)
    stratified: bool = True


@dataclass(frozen=True)
class Design:
    """A design: its name, what is drawn, and how many data sets are drawn at once."""

    name: str
    draw: Callable[[np.random.Generator, int], Drawn]
    chunk: int = 100


_BINARY = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "group"}


def _of_groups(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the frames of all groups as one."""
    named = enumerate(frames)
    return pl.concat(frame.with_columns(group=pl.lit(f"g{g}")) for g, frame in named)


def _table(number, cell, **columns) -> pl.DataFrame:
    """Return the data sets, labels and predictions of rows, or of counts of them."""
    label, prediction = np.array(_CELLS)[cell].T
    number = np.broadcast_to(number, len(cell))
    return pl.DataFrame({"set": number, "label": label, "prediction": prediction, **columns})


def _population(groups, shares) -> pl.DataFrame:
    return _of_groups(
        _table(0, np.arange(4), n=(_POPULATION * size * cells).astype(int)).drop("set")
        for size, cells in zip(groups, shares, strict=True)
    )


def counted(sizes, shares, rng, data_sets) -> Drawn:
    """Draw tables of counts; the sizes of groups are fixed."""
    cell, number = (each.ravel() for each in np.indices((4, data_sets)))
    sets = _of_groups(
        _table(number, cell, n=rng.multinomial(size, cells / cells.sum(), data_sets).T.ravel())
        for size, cells in zip(sizes, shares, strict=True)
    )
    of_all = np.array(sizes) / np.sum(sizes)
    return Drawn(sets, _population(of_all, shares), {**_BINARY, "count": "n"})


def weighted(sizes, shares, follows, spread, rng, data_sets) -> Drawn:
    """Draw rows whose lognormal weights follow their cells; ``follows`` are log-weights."""
    group = np.tile(np.repeat(np.arange(len(sizes)), sizes), data_sets)
    number = np.repeat(np.arange(data_sets), np.sum(sizes))
    cell = np.empty(len(group), dtype=int)
    for g, cells in enumerate(shares):
        cell[group == g] = rng.choice(4, p=cells / cells.sum(), size=sizes[g] * data_sets)
    weight = np.exp(spread * rng.normal(size=len(cell)) + np.array(follows)[cell])
    truth = [cells * np.exp(follows) for cells in shares]
    of_all = [size * each.sum() for size, each in zip(sizes, truth, strict=True)]
    population = _population(np.array(of_all) / sum(of_all), [t / t.sum() for t in truth])
    sets = _table(number, cell, weight=weight, group=np.char.add("g", group.astype(str)))
    return Drawn(sets, population.rename({"n": "weight"}), {**_BINARY, "weight": "weight"})


def clustered(clusters, sizes_of, shares, correlation, rng, data_sets) -> Drawn:
    """Draw clusters of rows; in each, one kind of row is more frequent than in others.

    Clusters of all data sets have the same names: the blocks of clusters that the jackknife leaves
    out are then as large in each data set as they are in it alone.
    """
    spread = (1 - correlation) / correlation

    def groups(number):
        for g, cells in enumerate(shares):
            sizes = sizes_of(clusters, rng)
            drawn = rng.multinomial(sizes, rng.dirichlet(cells / cells.sum() * spread, clusters))
            at, cell = np.nonzero(drawn)
            yield _table(number, cell, n=drawn[at, cell], cluster=[f"{g}-{c}" for c in at])

    sets = pl.concat(_of_groups(groups(number)) for number in range(data_sets))
    population = _population([1 / len(shares)] * len(shares), shares)
    return Drawn(sets, population, {**_BINARY, "count": "n"}, {"cluster": "cluster"})


def stratified(strata, rows, shares, rng, data_sets) -> Drawn:
    """Draw tables of many strata of one distribution, each of few rows."""

    def groups(number):
        for cells in shares:
            sizes = rng.multinomial(rows, np.full(strata, 1 / strata))
            drawn = rng.multinomial(sizes, cells / cells.sum())
            at, cell = np.nonzero(drawn)
            yield _table(number, cell, n=drawn[at, cell], stratum=at)

    sets = pl.concat(_of_groups(groups(number)) for number in range(data_sets))
    population = _population([1 / len(shares)] * len(shares), shares)
    population = pl.concat([population.with_columns(stratum=pl.lit(s)) for s in (0, 1)])
    options = {**_BINARY, "count": "n", "strata": "stratum", "metrics": _POOLED}
    return Drawn(sets, population, options, stratified=False)


def classes(number_of, right, evenness, sizes, rng, data_sets) -> Drawn:
    """Draw tables of many classes; mistakes go to near ones."""
    shares = class_shares(number_of, right, evenness)
    names = np.array([f"c{k:02}" for k in range(number_of)])
    labels, predictions = (names[each.ravel()] for each in np.indices(shares.shape))

    def table(cell, n, **columns):
        held = {"label": labels[cell], "prediction": predictions[cell], "n": n}
        return pl.DataFrame(held | columns)

    def drawn():
        for size in sizes:
            n = rng.multinomial(size, shares.ravel(), data_sets)
            at, cell = np.nonzero(n)
            yield table(cell, n[at, cell], set=at)

    population = _of_groups(
        table(slice(None), (_POPULATION * shares.ravel() * size).astype(int)) for size in sizes
    )
    options = {"label": "label", "prediction": "prediction", "sensitive": "group", "count": "n"}
    return Drawn(_of_groups(drawn()), population, options | {"task": "multiclass"})


def scored(sizes, shapes, follows, rng, data_sets) -> Drawn:
    """Draw calibrated scores of two beta distributions; weights follow them unless ``None``."""
    grid = np.arange(1, 200) / 200
    sets, population = [], []
    for size, (a, b) in zip(sizes, shapes, strict=True):
        density = grid ** (a - 1) * (1 - grid) ** (b - 1)
        density /= density.sum()
        score = rng.choice(grid, p=density, size=size * data_sets)
        label = (rng.random(score.shape) < score).astype(int)
        columns = {"set": np.repeat(np.arange(data_sets), size), "score": score, "label": label}
        if follows is not None:
            columns["weight"] = np.exp(0.5 * rng.normal(size=score.shape) + follows * score)
        sets.append(pl.DataFrame(columns))
        heavier = _POPULATION * size * (density * np.exp((follows or 0.0) * grid))
        n = np.concatenate([heavier * (1 - grid), heavier * grid]).astype(int)
        held = {"score": np.tile(grid, 2), "label": np.repeat([0, 1], len(grid)), "weight": n}
        population.append(pl.DataFrame(held))
    options = {"label": "label", "score": "score", "positive": 1, "sensitive": "group"}
    options |= {"weight": "weight", "metrics": [f"{name}.difference" for name in _SCORES]}
    own = _without_weights(follows)
    return Drawn(_of_groups(sets), _of_groups(population), options, own, stratified=False)


def amounts(sizes, errors, follows, rng, data_sets) -> Drawn:
    """Draw labels and predictions of a regression; weights follow the errors unless ``None``."""

    def table(known, unknown, spread):
        off = errors(unknown)
        weight = np.exp(np.zeros(len(off)) if follows is None else follows * off + 0.5 * spread)
        return pl.DataFrame({"label": 10 + known + off, "prediction": 10 + known, "weight": weight})

    sets = _of_groups(
        table(*rng.normal(size=(3, size * data_sets))).with_columns(
            set=pl.lit(np.repeat(np.arange(data_sets), size))
        )
        for size in sizes
    )
    known, unknown = (each.ravel() for each in np.meshgrid(_NORMAL_GRID, _NORMAL_GRID))
    density = np.exp(-(known**2 + unknown**2) / 2)
    truth = table(known, unknown, 0.0)
    population = _of_groups(truth.with_columns(pl.col("weight") * density * size) for size in sizes)
    options = {"label": "label", "prediction": "prediction", "sensitive": "group"}
    options |= {"task": "regression", "weight": "weight"}
    return Drawn(sets, population, options, _without_weights(follows))


def _without_weights(follows) -> dict[str, Any]:
    return {} if follows is not None else {"weight": None}


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
    "expected_calibration_error", "generalized_true_positive_rate",
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


@cache
def _truths(design: Design) -> dict[_Key, float]:
    drawn = design.draw(np.random.default_rng(0), 1)
    report = fg.audit(drawn.population, **{"metrics": "all", **drawn.options, "replicates": 50})
    found = _numbers(report, stratified=False)
    return {key: each.value for key, each in found if each.value is not None}


def _numbers(report: fg.Report, *, stratified: bool) -> Iterator[tuple[_Key, Any]]:
    """Yield what a population has, too, of strata or of all rows: not numbers of a worst class."""
    for each in report.estimates:
        if (each.scope.kind == "stratum") == stratified and each.class_scope.kind != "worst":
            yield _key(each.metric, each.group, each), each
    for group in report.groups:
        if (group.stratum is not None) == stratified:
            for name, rate in group.rates.items():
                yield _key(_RATE + name, group.group, group), rate


def add_chunk(design: Design, record: Record) -> None:
    """Draw and audit the next data sets, and count their intervals that hold the truth.

    ``intervals`` has by metric, and by what its intervals are of, how many of them held the truth,
    and how many were adequate.
    """
    rng = np.random.default_rng([7, record["chunks"], *design.name.encode()])
    drawn = design.draw(rng, design.chunk)
    many = drawn.population["group"].n_unique() > _MOST_APART
    for report in _audits(drawn):
        for key, each in _numbers(report, stratified=drawn.stratified):
            truth = _truths(design).get(key)
            if truth is not None and each.status == "ok" and each.interval is not None:
                name, group, scope, of_class = key
                # many groups are one, and so are classes
                of_class = _CLASS.strip() if of_class.startswith(_CLASS) else of_class
                of = ", ".join(filter(None, (None if many else group, scope, of_class)))
                counts = record["intervals"].setdefault(name, {}).setdefault(of, [0, 0])
                counts[0] += _holds(each.interval, truth)
                counts[1] += 1
    record["chunks"] += 1
    record["data_sets"] += design.chunk


def _holds(interval: Any, truth: float) -> bool:
    slack = 1e-6 * max(1.0, abs(truth)) if math.isfinite(truth) else 0.0
    return bool(interval.low - slack <= truth <= interval.high + slack)


def as_text(records: list[Record]) -> str:
    """Return what was counted: one metric a line."""
    written = []
    for each in records:
        metrics = ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(counts, sort_keys=True)}"
            for name, counts in sorted(each["intervals"].items())
        )
        written.append(
            f' {{"design": {json.dumps(each["design"])}, "data_sets": {each["data_sets"]}, '
            f'"chunks": {each["chunks"]}'
            f',\n  "intervals": {{\n{metrics}\n  }}}}'
        )
    return "[\n" + ",\n".join(written) + "\n]"


if __name__ == "__main__":
    count_chunks(
        __doc__,
        "coverage_of_all_metrics.json",
        [{"design": d.name, "data_sets": 0, "chunks": 0, "intervals": {}} for d in DESIGNS],
        "data_sets",
        lambda i, record: add_chunk(DESIGNS[i], record),
        as_text,
    )
