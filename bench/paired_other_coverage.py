"""Coverage of changes that are no contrast of one binary rate: classes, strata, scores.

Each function yields studies, which `bench.paired_coverage` measures and writes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from bench.paired_coverage import ENOUGH, Study, Z, both_sides, cells_of, change, drawn, record
from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.averages import agreement, averaged
from fairgauge.catalogue.catalogue import KAPPA
from fairgauge.catalogue.comparisons import Combined, Contrast
from fairgauge.catalogue.lookup import find_metric, find_rate
from fairgauge.catalogue.pooling import pool
from fairgauge.enums import Profile
from fairgauge.inference.compared_counts import Evidence
from fairgauge.inference.groups.paired_extremes import combined_changes, spread_change
from fairgauge.inference.one.statistic_intervals import side_interval
from fairgauge.inference.two.paired_changes import (
    Quantity,
    ScoredRows,
    disparity_changes,
    pooled_change,
    score_change,
    statistic_change,
)
from fairgauge.inference.two.paired_tables import PairedTable, confusion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairgauge.catalogue.statistics import Statistic

SIZES = (50, 200, 2_000)
CORRELATIONS = (0.0, 0.5, 0.8, 0.95)
LABELS = np.array([0.5, 0.3, 0.2])
"""The shares of three classes."""
Scenario = tuple[float, float]
"""The expected discordant rows of a scenario, and the coverage in it."""


def classes() -> Iterator[Study]:
    """Yield the changes of averages over three classes, of accuracy and of kappa."""
    statistics = {
        "macro average of true positive rate": averaged(find_rate("true_positive_rate"), "macro"),
        "macro average of F1": averaged(find_rate("f1"), "macro"),
        "weighted average of positive predictive value": averaged(
            find_rate("positive_predictive_value"), "weighted"
        ),
        "accuracy of several classes": agreement(),
        "Cohen's kappa": KAPPA,
    }
    for name, statistic in statistics.items():
        yield _study(f"difference of {name}, 3 classes", partial(_of_classes, statistic))


def _of_classes(statistic: Statistic, sets: int) -> Iterator[Scenario]:
    for n, correlation, new in product(SIZES, CORRELATIONS, (0.6, 0.75)):
        cells = _cells_of_classes(0.6, new, correlation)
        rng = np.random.default_rng([31, n, round(100 * correlation), round(100 * new)])
        table = replace(drawn(cells, n, sets, rng), classes=True)
        sides = [confusion(margin, classes=True) for margin in table.margins]
        old_new = [side_interval(statistic, Evidence(side, side)) for side in sides]
        made = statistic_change(statistic, table, *old_new)
        truth = [
            statistic.value(confusion(1e6 * margin[None], classes=True), "documented")[0]
            for margin in (cells.sum(axis=2), cells.sum(axis=1))
        ]
        differing = 1 - np.einsum("lii->l", cells[:-1]) / LABELS
        expected = n * float((LABELS * differing).min())
        yield expected, _covered(made.difference.at(Z), truth[1] - truth[0])


def _cells_of_classes(old: float, new: float, correlation: float) -> np.ndarray:
    """Return P(label, old, new): a share of rows is right, and a share of new copies old."""
    right, uniform = np.eye(3), np.full((3, 3), 1 / 3)
    first, second = (a * right + (1 - a) * uniform for a in (old, new))
    apart = np.einsum("li,lj->lij", first, second)
    copied = np.stack([np.diag(each) for each in first])
    cells = LABELS[:, None, None] * ((1 - correlation) * apart + correlation * copied)
    return np.concatenate([cells, np.zeros((1, 3, 3))])


def strata() -> Iterator[Study]:
    """Yield the changes of contrasts that are adjusted for strata of different rates."""
    names = (
        "selection_rate.difference", "true_positive_rate.difference", "selection_rate.ratio",
        "selection_odds.ratio", "positive_predictive_value.difference",
    )  # fmt: skip
    for name, several in product(names, (3, 10)):
        metric = find_metric(name)
        assert isinstance(metric, Contrast)
        subject = f"change of {metric.of.title} {metric.by}, {several} strata pooled"
        yield _study(subject, partial(_of_strata, metric, several))


def _of_strata(metric: Contrast, several: int, sets: int) -> Iterator[Scenario]:
    for n, correlation in product((20, 50, 200), (0.0, 0.5, 0.7)):
        rng = np.random.default_rng([32, several, n, round(100 * correlation)])
        cells = np.stack([
            [cells_of(((p, p / 2), (p + gain, p / 2 + gain)), correlation) for p in rates]
            for rates in [np.linspace(0.3, 0.7, several)]
            for gain in (0.1, 0.0)
        ])  # fmt: skip
        tables = rng.multinomial(n, cells.reshape(2, several, -1), (sets, 2, several))
        counts = tables.reshape(sets, 2, several, 3, 2, 2).astype(float)
        truth = _pooled(metric, 1e6 * cells[None]).value[0]
        by_label = n * (cells[..., :2, 0, 1] + cells[..., :2, 1, 0]).sum(axis=1).min(axis=0)
        expected = by_label.sum()
        if metric.of.name == "true_positive_rate":
            expected = by_label[0]
        elif metric.of.name == "positive_predictive_value":
            expected = by_label.min()
        yield float(expected), _covered(_pooled(metric, counts).at(Z), truth)


def _pooled(metric: Contrast, counts: np.ndarray) -> Quantity:
    """Return the change of a contrast; ``counts`` are by set, side and stratum."""
    several = counts.shape[2]
    table = _table(counts.swapaxes(0, 1).reshape(-1, 3, 2, 2))
    weights = []
    for margin in table.margins:
        halves = np.split(margin, 2)
        sides = [confusion(half, classes=False) for half in halves]
        made = pool(metric, *sides, several, Profile.DOCUMENTED)
        weights.append(np.tile(made.weights, (2, 1)))
    sides = pooled_change(metric.of, change(metric, table), (weights[0], weights[1]))
    return disparity_changes(metric, sides, inside=False).shift


def scores() -> Iterator[Study]:
    """Yield the changes of the area under the ROC curve (DeLong) and of the Brier score."""
    for name, rate in (("ROC AUC", "roc_auc"), ("Brier score", "brier_score")):
        yield _study(f"difference of {name}", partial(_of_scores, find_rate(rate)))


def _of_scores(statistic: Statistic, sets: int) -> Iterator[Scenario]:
    for n, correlation in product((50, 200, 1_000), (-0.5, *CORRELATIONS)):
        rng = np.random.default_rng([33, n, round(100 * (1 + correlation))])
        truth = _difference(statistic, *_scored(1_000_000, correlation, rng))
        several = [ScoredRows(*_scored(n, correlation, rng)) for _ in range(sets)]
        made = score_change(statistic, several)
        yield np.inf, _covered(made.difference.at(np.full(sets, Z)), truth)


def _scored(n: int, correlation: float, rng: np.random.Generator) -> tuple:
    """Return labels and two probabilities; the second model separates them better."""
    label = rng.random(n) < 0.4
    noise = rng.normal(size=(2, n))
    noise[1] = correlation * noise[0] + np.sqrt(1 - correlation**2) * noise[1]
    logits = [m * (label - 0.5) + each for m, each in zip((1.0, 1.4), noise, strict=True)]
    old, new = (1 / (1 + np.exp(-each)) for each in logits)
    return label, old, new


def _difference(statistic, label, old, new) -> float:
    made = score_change(statistic, [ScoredRows(label, old, new)])
    return float(made.difference.value[0])


GROUPS = {  # P(accepted | label) under both models, and their correlation, of four groups
    "no group differs": [((0.6, 0.2), (0.6, 0.2), 0.5)] * 4,
    "groups differ, models do not": [((p, p / 3), (p, p / 3), 0.5) for p in (0.8, 0.6, 0.5, 0.4)],
    "the candidate is equal": [((p, p / 3), (0.6, 0.2), 0.3) for p in (0.8, 0.6, 0.5, 0.4)],
    "the candidate is unequal": [((0.6, 0.2), (p, p / 3), 0.3) for p in (0.8, 0.6, 0.5, 0.4)],
}
_RATES = ((0.85, 0.3), (0.6, 0.2), (0.5, 0.15), (0.2, 0.05))
"""P(accepted | label) of groups that clearly differ."""
EXTREMES = {  # as GROUPS: where one number is clearly the largest, and where several are equal
    "one largest": {
        "models do not differ": [(rate, rate, 0.5) for rate in _RATES],
        "the same groups": [(rate, (0.8 * rate[0] + 0.1, rate[1]), 0.3) for rate in _RATES],
        "the groups change places": [
            (old, new, 0.2) for old, new in zip(_RATES, _RATES[::-1], strict=True)
        ],
    },
    "several equal": GROUPS | {
        "the candidate is nearly equal": [
            ((p, p / 3), (q, q / 3), 0.3)
            for p, q in zip((0.8, 0.6, 0.5, 0.4), (0.62, 0.6, 0.59, 0.56), strict=True)
        ],
    },
}  # fmt: skip


def extremes() -> Iterator[Study]:
    """Yield the changes of the largest of several numbers."""
    for name, among in product(("worst_odds", "average_absolute_odds"), EXTREMES):
        odds = find_metric(name)
        assert isinstance(odds, Combined)
        yield _study(f"change of {odds.title}, {among}", partial(_of_odds, odds, among))
    for by, among in product(("largest_gap", "minimum"), EXTREMES):
        spread = find_metric(f"selection_rate.{by}")
        assert isinstance(spread, Spread)
        subject = f"change of {spread.title} (4 groups), {among}"
        yield _study(subject, partial(_of_spread, spread, among))


def _of_odds(metric: Combined, among: str, sets: int) -> Iterator[Scenario]:
    for cells, n in product(_sides(EXTREMES[among]), SIZES):
        rng = np.random.default_rng([34, n])
        made, _ = _combined(metric, both_sides(*(drawn(each, n, sets, rng) for each in cells)))
        _, (old, new) = _combined(metric, both_sides(*map(_known, cells)))
        limits = made.shift.at(np.full(sets, Z))
        yield _discordant(cells, n), _covered(limits, (new - old)[0])


def _of_spread(metric: Spread, among: str, sets: int) -> Iterator[Scenario]:
    rate = find_metric("selection_rate.difference")
    for each, n in product(EXTREMES[among].values(), SIZES):
        cells = np.stack([cells_of((old, new), r) for old, new, r in each])
        rng = np.random.default_rng([35, n])
        (old, new), hits = spread_change(metric, [change(rate, _table(1e6 * cells))]).values, []
        for _ in range(sets):
            counts = np.stack([rng.multinomial(n, c.ravel()).reshape(c.shape) for c in cells])
            made = spread_change(metric, [change(rate, _table(counts.astype(float)))])
            hits.append(_covered(made.made.shift.at(np.full(1, Z)), (new - old)[0]))
        yield _discordant(cells, n), float(np.mean(hits))


def _sides(among: dict) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the cells of a group and its reference: the first and the last group."""
    return [
        tuple(cells_of((old, new), r) for old, new, r in (each[0], each[-1]))
        for each in among.values()
    ]


def _combined(metric: Combined, table: PairedTable):
    sides = [change(find_metric(each.name), table) for each in metric.of]
    return combined_changes(metric, sides, inside=False)


def _known(cells: np.ndarray) -> PairedTable:
    return _table(1e6 * cells[None])


def _table(counts: np.ndarray) -> PairedTable:
    return PairedTable(counts, counts, counts)


def _discordant(cells, n: int) -> float:
    """Return the fewest expected rows of one label that are decided differently."""
    return n * min(float(c[label, 0, 1] + c[label, 1, 0]) for c in cells for label in range(2))


def _covered(limits, truth: float) -> float:
    low, high = (np.asarray(each) for each in limits)
    known = ~np.isnan(low) & ~np.isnan(high)
    inside = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    return 100 * float(inside[known].mean())


def _study(subject: str, scenarios: Callable[[int], Iterator[Scenario]]) -> Study:
    """Return a study of one interval, from the coverage in its scenarios."""

    def measured(sets: int) -> list[dict]:
        found = list(scenarios(sets))
        enough = [covered for expected, covered in found if expected >= ENOUGH]
        every = [covered for _, covered in found]
        return [record(subject, "simulated", enough, every, sets)]

    return Study((subject,), measured)
