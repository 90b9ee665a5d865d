"""``python -m bench.coverage``: how often intervals are right in designs chosen to break them.

Every design draws its data sets from its own seed and returns what was measured, as percentages.
The command writes evidence/coverage.json, from which the page on coverage takes its figures; the
tests run the same designs with fewer data sets and hold them against `FLOORS`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.simulated_sides import binary, compared, rate_intervals, regression
from bench.verdict_families import VerdictP, family_verdicts, verdict_p
from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS
from fairgauge.stats.cluster_robust import (
    FEWEST_CLUSTERS,
    ShareSums,
    ShareVariance,
    cluster_limits,
    effective_rows,
    pooled_correlation,
    share_variance,
    shared_correlation,
)
from fairgauge.stats.contrasts import (
    mover_difference,
    mover_ratio,
    mover_wilson_ratio,
    newcombe,
)
from fairgauge.stats.divergences import norm_interval
from fairgauge.stats.intervals import as_critical_t, critical, wilson
from fairgauge.stats.jackknife import deviations
from fairgauge.stats.multinomial import (
    SPARSE_CLASS,
    WeightSums,
    class_counts,
    linearise,
    linearised_interval,
    minority_rows,
    smallest_class,
)
from fairgauge.stats.multiplicity import simultaneous_level, tukey_adjusted, tukey_level
from fairgauge.stats.rows_to_decide import (
    rows_for_verdict,
)
from fairgauge.stats.scores import area_from_counts, area_score_interval
from fairgauge.stats.significance import newcombe_p
from fairgauge.stats.stratified import conditional_disparity

if TYPE_CHECKING:
    from collections.abc import Callable

_PAGE = Path(__file__).parent.parent / "evidence" / "coverage.json"
_CONFIDENCE = 0.95
_Z = critical(_CONFIDENCE)
_TINY = 1e-12


@dataclass(frozen=True)
class Design:
    """One design: what is simulated, how it was before, and what is wanted.

    Attributes
    ----------
    subject, setting, method : what an interval is of, the data, and how it is made.
    before : the figure that a stranger's simulation of the public interface gave.
    measure : from a generator and a number of data sets to percentages by name.
    floors, ceilings : what the percentages must reach, and must not exceed.
    data_sets : data sets that a full measurement draws.
    """

    subject: str
    setting: str
    method: str
    before: str
    measure: Callable[[np.random.Generator, int], dict[str, float]]
    floors: dict[str, float]
    ceilings: dict[str, float]
    data_sets: int = 4000

    @property
    def name(self) -> str:
        return f"{self.subject}, {self.setting}"


def share(hits) -> float:
    return round(100 * float(np.mean(hits)), 1)


def held(limits, truth):
    low, high = limits[:2]
    return (low <= truth + _TINY) & (high >= truth - _TINY)


def adequate(hits, enough) -> dict[str, float]:
    """Return the coverage, the share of adequate data sets, and the coverage in those."""
    found = {"coverage": share(hits), "adequate": share(enough)}
    return found | ({"coverage if adequate": share(hits[enough])} if enough.any() else {})


# class averages


def accuracy(counts):
    return counts[..., 0].sum(-1) / counts[..., 0, :].sum(-1)


def kappa(counts):
    tp, fp, fn, _ = np.moveaxis(counts, -1, 0)
    rows = counts[..., 0, :].sum(-1)
    chance = ((tp + fn) * (tp + fp)).sum(-1) / rows**2
    return (tp.sum(-1) / rows - chance) / (1 - chance)


def f1(counts):
    tp, fp, fn, _ = np.moveaxis(counts, -1, 0)
    return 2 * tp / (2 * tp + fp + fn)


def recall(counts):
    return counts[..., 0] / (counts[..., 0] + counts[..., 2])


def precision(counts):
    return counts[..., 0] / (counts[..., 0] + counts[..., 1])


def averaged(rate, how, counts):
    """Return the average over the classes in which a rate is defined."""
    if how == "micro":
        return rate(counts.sum(-2))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = rate(counts)
    weights = counts[..., 0] + counts[..., 2] if how == "weighted" else np.ones(values.shape)
    weights = np.where(np.isnan(values), 0.0, weights)
    return (weights * np.nan_to_num(values)).sum(-1) / weights.sum(-1)


STATISTICS = {
    "kappa": (kappa, (-1.0, 1.0)),
    "accuracy": (accuracy, (0.0, 1.0)),
} | {
    f"{how} {rate.__name__}": (partial(averaged, rate, how), (0.0, 1.0))
    for how, rate in product(("macro", "micro", "weighted"), (f1, recall, precision))
}


def confusion(classes: int, correct: float, evenness: float):
    """Return the joint shares of labels and predictions; mistakes go to near classes."""
    labels = evenness ** np.arange(classes)
    distance = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes)))
    mistakes = np.where(distance > 0, 0.6**distance, 0.0)
    table = np.eye(classes) * correct
    table += (1 - correct) * mistakes / mistakes.sum(1, keepdims=True)
    return labels[:, None] * table / labels.sum()


def estimated(made, ends):
    """Return an estimate with its interval."""
    return (made.estimate, *linearised_interval(made, ends, _Z))


def class_average(name, classes, correct, evenness, sizes, rng, data_sets):
    shares = confusion(classes, correct, evenness)
    statistic, ends = STATISTICS[name]
    truth = statistic(class_counts(shares))
    tables, found = [], []
    for rows in sizes:
        drawn = rng.multinomial(rows, shares.ravel(), data_sets).reshape(-1, classes, classes)
        tables.append(drawn.astype(float))
        found.append(estimated(linearise(statistic, tables[-1], ends), ends))
    fewest = minority_rows if name == "kappa" else smallest_class
    enough = np.minimum(*(fewest(table) for table in tables)) >= SPARSE_CLASS
    if not name.startswith(("kappa", "macro")):
        enough = np.ones(data_sets, dtype=bool)
    difference = mover_difference(*found[0][:3], *found[1][:3])
    one = held(found[0][1:], truth)[enough]
    return adequate(held(difference, 0.0), enough) | ({"one group": share(one)} if len(one) else {})


# the best of many groups


def best_of_equal(groups, rows, rate, comparison, rng, data_sets):
    sizes = np.broadcast_to(rows, (data_sets, groups))
    x = rng.binomial(sizes, rate)
    best = np.argmax(x / sizes, axis=-1)[:, None]
    others = np.arange(groups) != best
    sides = x, sizes, *(np.take_along_axis(each, best, -1) for each in (x, sizes))
    limits = newcombe if comparison == "difference" else mover_wilson_ratio
    low, high = limits(*sides, critical(tukey_level(groups, _CONFIDENCE)))
    p = tukey_adjusted(newcombe_p(*sides), groups)
    neutral = float(comparison == "ratio")
    measured = {
        "simultaneous coverage": share((held((low, high), neutral) | ~others).all(-1)),
        "family-wise error": share(((p < 1 - _CONFIDENCE) & others).any(-1)),
    }
    if comparison == "ratio":
        measured["FAIL of ratio >= 0.8"] = share(((high < 0.8) & others).any(-1))
    return measured


# clusters of uneven size


def cluster_sizes(kind, clusters, rng, data_sets):
    if isinstance(kind, float):  # one cluster holds this share of all rows
        sizes = np.full((data_sets, clusters), 20)
        sizes[:, 0] = round(kind / (1 - kind) * 20 * (clusters - 1))
        return sizes
    drawn = 20 * np.exp(rng.normal(-0.5, 1.0, (data_sets, clusters)))
    return np.maximum(np.rint(drawn), 1).astype(int)


def cluster_shares(sides, pooled):
    """Return estimate, limits, and effective clusters of shares; x and m of shape (sets, C)."""
    variances = []
    for x, m in sides:
        sums = ShareSums((m > 0).sum(1), *(e.sum(1) for e in (x, m, x * x, x * m, m * m)))
        at = np.repeat(np.arange(len(x)), x.shape[1])
        variances.append(share_variance(sums, x.ravel(), m.ravel(), at))
    together = ShareVariance(*(np.stack(each) for each in zip(*variances, strict=True)))
    correlation = pooled_correlation(together, together.rows) if pooled else 0.0
    found = []
    for each in variances:
        n = effective_rows(each, each.rows, correlation)
        limits = wilson(each.rate * n, n, as_critical_t(_Z, each.degrees))
        found.append((each.rate, *limits, each.clusters))
    return found


def clustered(kind, clusters, rate, correlation, rng, data_sets):
    spread, sides = (1 - correlation) / correlation, []
    for _ in range(2):
        sizes = cluster_sizes(kind, clusters, rng, data_sets)
        rates = rng.beta(rate * spread, (1 - rate) * spread, sizes.shape)
        sides.append((rng.binomial(sizes, rates), sizes))
    found = cluster_shares(sides, pooled=True)
    enough = np.minimum(found[0][3], found[1][3]) >= FEWEST_CLUSTERS
    difference = mover_difference(*found[0][:3], *found[1][:3])
    return adequate(held(difference, 0.0), enough) | {"one group": share(held(found[0][1:], rate))}


def shared_clusters(clusters, rng, data_sets):
    """Both groups in every cluster, which raises or lowers the rates of both."""
    sizes = np.maximum(cluster_sizes("lognormal", clusters, rng, data_sets), 2)
    first = rng.binomial(sizes, 0.4)
    level = rng.beta(0.3 * 4, 0.7 * 4, sizes.shape)  # correlation .2
    sides = [(rng.binomial(m, level), m) for m in (first, sizes - first)]
    found = cluster_shares(sides, pooled=True)
    off = [
        (x - p[:, None] * m) / m.sum(1)[:, None]
        for (x, m), (p, *_) in zip(sides, found, strict=True)
    ]
    tied = shared_correlation((off[0] ** 2).sum(1), (off[1] ** 2).sum(1), (off[0] * off[1]).sum(1))
    return {
        "coverage": share(held(mover_difference(*found[0][:3], *found[1][:3], tied), 0.0)),
        "correlation ignored": share(held(mover_difference(*found[0][:3], *found[1][:3]), 0.0)),
    }


def clustered_average(name, kind, clusters, rng, data_sets):
    """Four classes; how often a prediction is right varies between clusters."""
    classes, found, effective = 4, [], []
    statistic, ends = STATISTICS[name]
    right, wrong = confusion(classes, 1.0, 0.8), confusion(classes, 0.0, 0.8)
    truth = statistic(class_counts(0.75 * right + 0.25 * wrong))
    for _ in range(2):
        sizes = cluster_sizes(kind, clusters, rng, data_sets)
        level = rng.beta(0.75 * 9, 0.25 * 9, sizes.shape)[..., None]  # correlation .1
        shares = level * right.ravel() + (1 - level) * wrong.ravel()
        tables = rng.multinomial(sizes, shares).reshape(*sizes.shape, classes, classes)
        whole = tables.sum(1, keepdims=True)
        without = statistic(class_counts(np.concatenate([whole, whole - tables], axis=1)))
        moved = np.moveaxis(deviations(np.moveaxis(without, 1, 0)), 0, 1)
        found.append((without[:, 0], *cluster_limits(without[:, 0], moved, sizes, ends, _Z)))
        effective.append(sizes.sum(-1) ** 2 / (sizes**2).sum(-1))
    enough = np.minimum(*effective) >= FEWEST_CLUSTERS
    difference = mover_difference(*found[0], *found[1])
    return adequate(held(difference, 0.0), enough) | {"one group": share(held(found[0][1:], truth))}


# conditional demographic disparity


def conditional(strata, rows, rng, data_sets):
    size = rng.dirichlet(np.full(strata, 3.0))
    rejected, group = 0.3 * rng.uniform(0.5, 1.5, (2, strata))
    cells = np.einsum(
        "s,gs,rs->sgr", size, np.stack([group, 1 - group]), np.stack([1 - rejected, rejected])
    )
    drawn = rng.multinomial(rows, cells.ravel(), data_sets).reshape(-1, strata, 2, 2)
    limits = conditional_disparity(drawn[:, :, 0], drawn[:, :, 1], _Z)
    return {"coverage": share(held(limits, 0.0)), "p below .05": share(limits.p < 0.05)}


# areas under the ROC curve


def score_counts(scores, label_scores):
    """Return counts per distinct score of both classes, for each data set."""
    together = np.concatenate([scores, label_scores], axis=1)
    rank = together.argsort(axis=1).argsort(axis=1)
    positive = np.zeros(together.shape)
    np.put_along_axis(positive, rank[:, : scores.shape[1]], 1.0, axis=1)
    return positive, 1 - positive


def area(kind, positives, negatives, truth, rng, data_sets):
    from scipy.special import ndtri

    found = []
    for _ in range(2):
        if kind == "normal":
            above = rng.normal(np.sqrt(2) * ndtri(truth), 1.0, (data_sets, positives))
            below = rng.normal(0.0, 1.0, (data_sets, negatives))
        else:
            above = rng.exponential(truth / (1 - truth), (data_sets, positives))
            below = rng.exponential(1.0, (data_sets, negatives))
        value = area_from_counts(*score_counts(above, below))
        found.append((value.area, *area_score_interval(*value, _Z)))
    return {
        "one group": share(held(found[0][1:], truth)),
        "coverage": share(held(mover_difference(*found[0], *found[1]), 0.0)),
    }


# weights


def of_two(rate, sides, truths):
    """Return the coverage of a rate of the first side, and of the difference of both."""
    one, enough = rate_intervals(rate, sides[0])
    both, sufficient = compared(f"{rate}.difference", *sides)
    hits = held((both.low, both.high), truths[0] - truths[1])
    own = held(one, truths[0])[enough]
    return adequate(hits, sufficient) | ({"one group": share(own)} if len(own) else {})


def informative_mean(rate, rows, follows, rng, data_sets):
    """Weights that follow the errors; the sizes of both sides, normal errors."""
    sides = []
    for n in rows:
        errors = rng.normal(size=(data_sets, n))
        weights = np.exp(0.5 * rng.normal(size=errors.shape) + follows * errors)
        sides.append(regression(np.zeros(errors.shape), errors, weights))
    return of_two(rate, sides, [TRUTHS[rate](follows)] * 2)


def _mean_distance(follows):
    from scipy.special import ndtr

    return np.sqrt(2 / np.pi) * np.exp(-(follows**2) / 2) + follows * (2 * ndtr(follows) - 1)


TRUTHS = {
    "mean_error": lambda follows: follows,
    "mean_absolute_error": _mean_distance,
    "mean_squared_error": lambda follows: 1 + follows**2,
    "root_mean_squared_error": lambda follows: np.sqrt(1 + follows**2),
    "residual_spread": lambda _: 1.0,
}
"""Of standard normal errors under weights whose logarithm follows them: normal errors about it."""


def informative_share(rows, rate, spread, follows, rng, data_sets):
    truth = rate * np.exp(follows) / (rate * np.exp(follows) + 1 - rate)
    sides = []
    for _ in range(2):
        inside = rng.random((data_sets, rows)) < rate
        weights = np.exp(spread * rng.normal(size=inside.shape) + follows * inside)
        sides.append(binary(inside, inside, weights))
    return of_two("selection_rate", sides, (truth, truth))


def informative_errors(rows, follows, rng, data_sets):
    """Counts that overlap, true and false negatives, with weights that follow all four cells."""
    shares = np.array([0.3, 0.12, 0.1, 0.48])
    truth = shares * np.exp(follows)
    sides = []
    for n in (rows, 2 * rows):
        cell = rng.choice(4, p=shares, size=(data_sets, n))
        weights = np.exp(0.7 * rng.normal(size=cell.shape) + np.array(follows)[cell])
        sides.append(binary(np.isin(cell, (0, 2)), np.isin(cell, (0, 1)), weights))
    ratio = (truth[3] + truth[1]) / (truth[3] + truth[2])
    return of_two("conditional_rejection", sides, (ratio, ratio))


def weighted_average(name, classes, rows, spread, follows, rng, data_sets):
    """Weights that follow whether the prediction is right."""
    shares = confusion(classes, 0.8, 0.9)
    statistic, ends = STATISTICS[name]
    weighted = shares * np.where(np.eye(classes, dtype=bool), np.exp(follows), 1.0)
    truth = statistic(class_counts(weighted / weighted.sum()))
    right, found = np.eye(classes, dtype=bool).ravel(), []
    for size in (rows, 2 * rows):
        cell = rng.choice(classes**2, p=shares.ravel(), size=(data_sets, size))
        weights = np.exp(spread * rng.normal(size=cell.shape) + follows * right[cell])
        at = (cell + classes**2 * np.arange(data_sets)[:, None]).ravel()
        sums, squares, cases = (
            np.bincount(at, (weights**power).ravel(), data_sets * classes**2).reshape(
                -1, classes, classes
            )
            for power in (1, 2, 0)
        )
        made = linearise(statistic, sums, ends, WeightSums(squares, cases))
        found.append(estimated(made, ends))
    return {
        "one group": share(held(found[0][1:], truth)),
        "coverage": share(held(mover_difference(*found[0][:3], *found[1][:3]), 0.0)),
    }


# sparse categories and heavy tails


def sparse_distance(categories, steepness, sizes, rng, data_sets):
    shares = 1 / np.arange(1, categories + 1) ** steepness
    shares /= shares.sum()
    a, d = (rng.multinomial(rows, shares, data_sets).astype(float) for rows in sizes)
    low = np.concatenate(
        [
            norm_interval(a[i : i + 50], d[i : i + 50], "tvd", _CONFIDENCE, rng, 300)[0]
            for i in range(0, data_sets, 50)
        ]
    )
    return {"coverage": share(low == 0)}


def errors(kind, rng, shape):
    drawn = rng.normal(size=shape)
    if kind == "lognormal":
        return np.exp(drawn) - np.exp(0.5)
    if kind.startswith("outliers"):
        often = 0.03 if kind.endswith("3%") else 0.01
        return np.where(rng.random(shape) < often, 10 * drawn, drawn)
    if kind == "exponential":
        return rng.exponential(size=shape) - 1
    return rng.standard_t(5, shape) if kind == "t5" else drawn


def mean_error(kind, rows, groups, rate, rng, data_sets):
    """The first of several equal groups; the tail's shape is borrowed from all."""
    power = 1 if rate == "mean_absolute_error" else 2
    truth = (np.abs(errors(kind, np.random.default_rng(0), 4_000_000)) ** power).mean()
    return _of_equal(rate, rows, errors(kind, rng, (data_sets, rows * groups)), None, truth)


def _of_equal(rate, rows, predicted, label, truth):
    """Return the coverage of a rate of the first of equal groups, and of its difference."""
    label = np.zeros(predicted.shape) if label is None else label
    every = regression(label, predicted)
    sides = (
        regression(label[:, part], predicted[:, part], everyone=every)
        for part in (slice(rows), slice(rows, None))
    )
    return of_two(rate, list(sides), (truth, truth))


def incomes(kind, rng, shape):
    """Return labels and predictions that explain half of them, on the scale of errors or logs."""
    known, unknown = rng.normal(size=shape), errors(kind, rng, shape)
    if kind == "lognormal":
        half = np.sqrt(0.5)
        return np.exp(half * (known + rng.normal(size=shape))), np.exp(half * known + 0.25)
    return known + unknown, known


def explained_share(kind, rows, groups, rng, data_sets):
    label, predicted = incomes(kind, np.random.default_rng(0), 4_000_000)
    truth = 1 - ((label - predicted) ** 2).mean() / label.var()
    label, predicted = incomes(kind, rng, (data_sets, rows * groups))
    return _of_equal("r2", rows, predicted, label, truth)


# verdicts


def at_the_limit(groups, rng, data_sets):
    """Two rules, every group exactly at the limit of both, against a large reference."""
    rows, others, p = 400, 2000, []
    x2 = rng.binomial(others, 0.4, (data_sets, 1))
    x1 = rng.binomial(rows, 0.32, (data_sets, groups))
    ratio = x1 / rows / (x2 / others)
    p.append(verdict_p(lambda z: mover_wilson_ratio(x1, rows, x2, others, z), ratio, 0.8, np.inf))
    y1 = rng.binomial(rows, 0.3, (data_sets, groups))
    gap = y1 / rows - x2 / others
    p.append(verdict_p(lambda z: newcombe(y1, rows, x2, others, z), gap, -0.1, 0.1))
    every = VerdictP(*(np.concatenate(each, axis=-1) for each in zip(*p, strict=True)))
    return {
        "FAIL, per decision": share((every.fails < 0.025).any(-1)),
        "FAIL, family-wise": share(family_verdicts(every, _CONFIDENCE).fails.any(-1)),
    }


def change_p(limits, contrast, neutral, days):
    """Return the p-values of no change for the worse, from counts of both sides on two days."""
    (x1, n1, x2, n2), (y1, m1, y2, m2) = days

    def change(z):
        later, earlier = limits(y1, m1, y2, m2, z), limits(x1, n1, x2, n2, z)
        return contrast(after, *later, before, *earlier)

    join = np.divide if neutral else np.subtract
    before, after = join(x1 / n1, x2 / n2), join(y1 / m1, y2 / m2)
    return verdict_p(change, join(after, before), neutral, np.inf)


def without_change(groups, rng, data_sets):
    """Two days alike: is any difference or ratio significantly worse than the day before?"""
    p = []
    for rate, limits, contrast, neutral in (
        (0.32, newcombe, mover_difference, 0.0), (0.36, mover_wilson_ratio, mover_ratio, 1.0),
    ):  # fmt: skip
        days = [
            (
                rng.binomial(400, rate, (data_sets, groups)), 400,
                rng.binomial(2000, 0.4, (data_sets, 1)), 2000,
            )
            for _ in range(2)
        ]  # fmt: skip
        p.append(change_p(limits, contrast, neutral, days))
    every = VerdictP(*(np.concatenate(each, axis=-1) for each in zip(*p, strict=True)))
    return {
        "worse, unadjusted": share((every.fails < 0.025).any(-1)),
        "worse": share(family_verdicts(every, _CONFIDENCE).fails.any(-1)),
    }


def most_extreme(groups, rows, rate, rng, data_sets):
    """Equal groups against all others; the one furthest off gets a simultaneous interval."""
    x = rng.binomial(rows, rate, (data_sets, groups))
    others, of = x.sum(-1, keepdims=True) - x, rows * (groups - 1)
    furthest = np.abs(x / rows - others / of).argmax(-1)[:, None]
    sides = np.take_along_axis(x, furthest, -1), rows, np.take_along_axis(others, furthest, -1), of
    at_once = newcombe(*sides, critical(simultaneous_level(groups, _CONFIDENCE)))
    return {
        "coverage": share(held(at_once, 0.0)),
        "unadjusted": share(held(newcombe(*sides, _Z), 0.0)),
    }


def planned(p1, p2, lower, upper, goal, comparison, of_group, among, rng, data_sets):
    """Audit tables of as many rows as planned, their groups sampled."""
    rows = rows_for_verdict(p1, p2, lower, upper, goal, comparison, share=of_group, among=among)
    n1 = rng.binomial(int(rows), of_group, data_sets)
    sizes = [rng.binomial(n, among) for n in (n1, int(rows) - n1)]
    x = [rng.binomial(n, p) for n, p in zip(sizes, (p1, p2), strict=True)]
    limits = newcombe if comparison == "difference" else mover_wilson_ratio
    low, high = limits(x[0], sizes[0], x[1], sizes[1], _Z)
    pooled = (x[0] + x[1]) / (sizes[0] + sizes[1])
    fewest = np.minimum(*sizes)
    expected = fewest * np.minimum(pooled, 1 - pooled)
    evaluated = (fewest >= FEWEST_ROWS) & (expected >= FEWEST_EXPECTED)
    wanted = (low >= lower) & (high <= upper)
    if goal == "fail":
        wanted = (high < lower) | (low > upper)
    return {"rows": rows, "power": share(evaluated & wanted)}


BOTH = {"coverage": 93.5, "one group": 93.5}
ADEQUATE = {"coverage if adequate": 93.0, "one group": 93.0}


def _class_averages():
    before = {(5, 200): "80", (10, 200): "50", (10, 2000): "68", (10, 300): "p = .001 at equality"}
    tables = product(before, (0.6, 0.9), (1.0, 0.8), STATISTICS)
    for (classes, rows), correct, evenness, name in tables:
        sizes = rows, 4 * rows
        yield Design(
            f"difference of {name}",
            f"{classes} classes {rows:,}/{4 * rows:,}, {correct:.0%} right, "
            f"shares falling by {evenness:g}",
            "Wilson, effective rows by influence",
            before[classes, rows],
            partial(class_average, name, classes, correct, evenness, sizes),
            {"coverage if adequate": 93.5, "one group": 92.5},
            {"coverage if adequate": 97.0},
            2000,
        )


def _rare_classes():
    """Two and three classes, the last one rare: what the rule of adequacy must sort out."""
    for name, (classes, correct, evenness), rows in product(
        ("kappa", "macro f1", "macro precision", "weighted f1"),
        ((2, 0.9, 0.06), (2, 0.6, 0.2), (3, 0.95, 0.2), (3, 0.7, 0.3)),
        (40, 200),
    ):
        yield Design(
            f"difference of {name}",
            f"{classes} classes {rows}/{2 * rows}, {correct:.0%} right, "
            f"shares falling by {evenness:g}",
            "Wilson, effective rows by influence",
            "not measured",
            partial(class_average, name, classes, correct, evenness, (rows, 2 * rows)),
            {"coverage if adequate": 92.5},
            {},
            12_000 if rows == 40 else 2000,  # few of the smaller ones are adequate
        )


def _best_groups():
    before = {5: "90.3; family-wise 9.0", 12: "82.7; family-wise 16.4, FAIL 10.6"}
    for groups, comparison in product(before, ("difference", "ratio")):
        verdict = {"FAIL of ratio >= 0.8": 5.0} if comparison == "ratio" else {}
        yield Design(
            f"{comparison} from the best",
            f"{groups} equal groups of 400 at .1",
            "all pairs, Tukey",
            before[groups],
            partial(best_of_equal, groups, 400, 0.1, comparison),
            {"simultaneous coverage": 95.0},
            {"family-wise error": 5.0} | verdict,
        )

    yield Design(
        "difference from the best",
        "6 equal groups of 50 to 1,600 at .2",
        "all pairs, Tukey",
        "not measured",
        partial(best_of_equal, 6, [50, 100, 200, 400, 800, 1600], 0.2, "difference"),
        {"simultaneous coverage": 95.0},
        {"family-wise error": 5.0},
    )


def _clusters():
    for kind, clusters, rate, correlation, before in (
        ("lognormal", 30, 0.3, 0.2, "89.9 to 92.6"),
        ("lognormal", 30, 0.1, 0.2, "not measured"),
        ("lognormal", 15, 0.3, 0.1, "not measured"),
        ("lognormal", 100, 0.05, 0.3, "not measured"),
        ("lognormal", 60, 0.5, 0.02, "not measured"),
        (0.4, 40, 0.3, 0.1, "81.4"),
        (0.7, 40, 0.3, 0.1, "38.5"),
    ):
        size = kind if isinstance(kind, str) else f"one with {kind:.0%} of the rows"
        yield Design(
            "difference of shares, clustered",
            f"{clusters}+{clusters} clusters, {size}, rate {rate:g}, ICC {correlation}",
            "cluster jackknife, pooled correlation, Satterthwaite",
            before,
            partial(clustered, kind, clusters, rate, correlation),
            BOTH,
            {},
        )

    for clusters in (30, 60):
        yield Design(
            "difference of shares, clustered",
            f"both groups in {clusters} clusters, lognormal, ICC 0.2",
            "cluster jackknife, Satterthwaite, correlated sides",
            "not measured",
            partial(shared_clusters, clusters),
            {"coverage": 93.5},
            {},
        )
    for name, kind in product(("accuracy", "kappa", "macro f1"), ("lognormal", 0.4)):
        size = kind if isinstance(kind, str) else f"one with {kind:.0%} of the rows"
        yield Design(
            f"difference of {name}, clustered",
            f"4 classes, 30+30 clusters, {size}, ICC 0.1",
            "cluster jackknife, Satterthwaite",
            "not measured",
            partial(clustered_average, name, kind, 30),
            BOTH,
            {},
            2000,
        )


def _strata():
    for strata, rows, before in ((60, 6000, "84.0"), (200, 20_000, "76.5")):
        yield Design(
            "conditional demographic disparity",
            f"{strata} strata, {rows:,} rows",
            "stratified score",
            before,
            partial(conditional, strata, rows),
            {"coverage": 93.5},
            {"p below .05": 6.5},
        )


def _areas():
    for kind, positives, negatives in product(("normal", "exponential"), (20, 27), (100, 200)):
        yield Design(
            "AUC .97",
            f"{positives} positives, {negatives} negatives, {kind} scores",
            "score, Newcombe scaled by DeLong",
            "87.0; difference 89.0",
            partial(area, kind, positives, negatives, 0.97),
            BOTH,
            {},
        )


def _weights():
    names = {"mean_error": "skewed end raised", "mean_absolute_error": "skewed end raised"}
    names |= dict.fromkeys(("mean_squared_error", "residual_spread"), "effective rows")
    for (rate, how), rows in product(names.items(), ((100, 100), (400, 400), (2400, 400))):
        yield Design(
            f"weighted {rate.replace('_', ' ')}",
            f"{rows[0]:,} and {rows[1]:,} rows, weights follow the errors",
            f"linearised, {how}",
            "88 to 90" if rate == "mean_error" else "not measured",
            partial(informative_mean, rate, rows, 0.5),
            ADEQUATE,
            {},
            2000,
        )
    for rows, spread, follows in (
        (100, 0.7, 0.7), (400, 1.0, 1.0), (2000, 1.0, 1.0), (400, 0.7, -0.7),
    ):  # fmt: skip
        yield Design(
            "weighted share",
            f"{rows:,} rows at .3, lognormal weights (sigma {spread:g}), "
            f"their logarithm {follows:+g} inside",
            "Wilson, effective rows by linearisation",
            "99 to 100" if follows < 0 else "not measured",
            partial(informative_share, rows, 0.3, spread, follows),
            ADEQUATE,
            {"coverage": 98.5},
            2000,
        )

    for follows in ((0.8, 0.4, 0.0, -0.2), (-0.8, -0.4, 0.0, 0.2)):
        yield Design(
            "weighted conditional rejection",
            f"200 and 400 rows, lognormal weights (sigma 0.7), their logarithms {follows} in "
            "TP, FP, FN and TN",
            "Bonett-Price, effective rows by linearisation",
            "not measured",
            partial(informative_errors, 200, follows),
            ADEQUATE,
            {"coverage": 98.5},
            2000,
        )


def _weighted_averages():
    for name, follows in product(("accuracy", "kappa", "macro f1"), (0.0, 0.7, -0.7)):
        yield Design(
            f"difference of {name}, weighted",
            f"5 classes 200/400, lognormal weights (sigma 0.7), their logarithm {follows:+g} "
            "where right",
            "Wilson, effective rows by influence and linearisation",
            "not measured",
            partial(weighted_average, name, 5, 200, 0.7, follows),
            {"coverage": 93.5, "one group": 92.5},
            {"coverage": 98.5},
            2000,
        )


def _tails():
    for categories, steepness, sizes in (
        (20, 1.5, (100, 200)), (50, 1.5, (200, 800)), (20, 2.0, (100, 400)),
    ):  # fmt: skip
        yield Design(
            "TVD of equal groups",
            f"{categories} categories falling as rank to the {steepness:g}, "
            f"{sizes[0]}/{sizes[1]} rows",
            "ball of tables with half a row more",
            "87 to 91",
            partial(sparse_distance, categories, steepness, sizes),
            {"coverage": 93.5},
            {},
            1000,
        )
    kinds = ("normal", "t5", "exponential", "lognormal", "outliers 3%", "outliers 1%")
    sizes = ((40, 2), (100, 2), (200, 5), (500, 2))
    rates = "mean_absolute_error", "mean_squared_error"
    for kind, (rows, groups), rate in product(kinds, sizes, rates):
        yield Design(
            rate.replace("_", " "),
            f"{kind} errors, {groups} groups of {rows}",
            "tail borrowed from all rows",
            "80 to 83 (lognormal, 40 rows); 52 to 78 (outliers)",
            partial(mean_error, kind, rows, groups, rate),
            {"one group": 92.5},
            {},
            2000,
        )

    for kind, (rows, groups) in product(("normal", "lognormal", "outliers 3%"), sizes):
        yield Design(
            "R squared",
            f"{kind} labels, {groups} groups of {rows}",
            "tail borrowed from all rows",
            "80 to 83 (lognormal, 40 rows); 52 to 78 (outliers)",
            partial(explained_share, kind, rows, groups),
            {"one group": 92.5},
            {},
            2000,
        )


def _families():
    for groups, before in ((5, "22.9"), (10, "39.4")):
        yield Design(
            "overall verdict",
            f"2 rules, {groups} groups exactly at the limit",
            "Holm over one-sided p-values at the limit",
            before,
            partial(at_the_limit, groups),
            {},
            {"FAIL, family-wise": 5.0},
        )

    for groups, before in ((2, "37 to 64"), (5, "92"), (10, "not measured")):
        yield Design(
            "worse than the day before",
            f"2 rules, {groups} groups without change",
            "Holm over one-sided p-values of no change",
            before,
            partial(without_change, groups),
            {},
            {"worse": 5.0},
        )
    for groups in (5, 12):
        yield Design(
            "the most extreme difference from all others",
            f"{groups} equal groups of 400 at .1",
            "Newcombe at Sidak's critical value",
            "87 % of reports on 12 groups open with an interval that excludes 0",
            partial(most_extreme, groups, 400, 0.1),
            {"coverage": 94.0},
            {},
        )


def _rows_needed():
    for goal, p1, p2, lower, upper, comparison, of_group, among, before in (
        ("pass", 0.95, 0.95, 0.8, np.inf, "ratio", 0.5, 1.0, "0 (not evaluated)"),
        ("pass", 0.03, 0.03, -0.1, 0.1, "difference", 0.5, 1.0, "1 (not evaluated)"),
        ("pass", 0.05, 0.05, -0.1, 0.1, "difference", 0.5, 1.0, "30"),
        ("pass", 0.1, 0.1, 0.8, np.inf, "ratio", 0.1, 1.0, "61"),
        ("fail", 0.24, 0.4, 0.8, np.inf, "ratio", 0.5, 1.0, "not measured"),
        ("pass", 0.3, 0.3, -0.05, 0.05, "difference", 0.3, 0.4, "not measured"),
    ):
        yield Design(
            "planned rows",
            f"{goal} {comparison} {lower:g} to {upper:g} at {p1:g} and {p2:g}, "
            f"group {of_group:.0%}, counted among {among:.0%}",
            "enumerated verdicts, sampled sizes",
            before,
            partial(planned, p1, p2, lower, upper, goal, comparison, of_group, among),
            {"power": 78.0},
            {},
        )


DESIGNS = tuple(
    chain(
        _class_averages(), _rare_classes(), _best_groups(), _clusters(), _strata(), _areas(),
        _weights(), _weighted_averages(), _tails(), _families(), _rows_needed(),
    )
)  # fmt: skip


def measured(design: Design, data_sets: int) -> dict[str, float]:
    """Measure a design, from its own seed."""
    seed = [13, *design.name.encode()]
    with np.errstate(divide="ignore", invalid="ignore"):
        return design.measure(np.random.default_rng(seed), data_sets)


def misses(design: Design, found: dict[str, float], data_sets: int) -> list[str]:
    """Return where a measurement lies beyond its floors by more than its Monte-Carlo error."""
    wrong = []
    for bounds, sign in ((design.floors, 1), (design.ceilings, -1)):
        for name, bound in bounds.items():
            counted = data_sets * found.get("adequate", 100.0) / 100
            if name not in found or counted < 100:
                continue
            error = np.sqrt(bound * (100 - bound) / counted)
            if sign * (found[name] - bound) < -3 * error:
                wrong.append(f"{design.name}: {name} {found[name]}, bound {bound}")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Measure designs and write what was found, beside what was found of the others."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the data sets to draw")
    parser.add_argument("--subject", default="", help="only designs whose subject ends so")
    parser.add_argument("-o", "--output", type=Path, default=_PAGE)
    options = parser.parse_args(arguments)
    known = json.loads(options.output.read_text(encoding="utf-8")) if options.subject else []
    before = {(each["subject"], each["setting"]): each for each in known}
    records, wrong = [], []
    for design in DESIGNS:
        if not design.subject.endswith(options.subject):
            records.append(before[design.subject, design.setting])
            continue
        data_sets = max(100, round(options.share * design.data_sets))
        started = time.perf_counter()
        found = measured(design, data_sets)
        wrong += misses(design, found, data_sets)
        records.append(
            {
                "subject": design.subject, "setting": design.setting, "method": design.method,
                "before": design.before, "data_sets": data_sets, "measured": found,
            }
        )  # fmt: skip
        print(f"{design.name}: {found} ({time.perf_counter() - started:.1f} s)", flush=True)
    options.output.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
