"""How often a search names a wrong threshold or candidate, and how often a right one.

``python -m bench.alternatives thresholds|candidates|surveys|retrainings|check [SETS NAME FIRST]``
prints the tables of docs/coverage.md; of candidates and surveys only the designs whose name holds
NAME, drawn from the seed FIRST on. Sets are judged many at a time by the intervals and the
procedure of the product; ``check`` holds some of them against `fairgauge.thresholds` and
`fairgauge.alternatives` themselves. ``cost`` states what counting 100 candidates costs.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
import polars as pl
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import fairgauge as fg
from fairgauge.api.comparing import count_models
from fairgauge.catalogue.lookup import find_metric, find_rate
from fairgauge.catalogue.statistics import Statistic
from fairgauge.inference.interval import StatisticInterval
from fairgauge.inference.paired_changes import (
    StatisticChange,
    _fixed_denominator,
    changed_area,
    disparity_changes,
    shown_claims,
    statistic_change,
)
from fairgauge.inference.possible import PossiblePairs, furthest
from fairgauge.measure.alternatives import worst_limit
from fairgauge.measure.choose_thresholds import _interval_of
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.stats.contrasts import mover_ratio
from fairgauge.stats.intervals import critical, t_from_z, wilson
from fairgauge.stats.paired import (
    ClusterCounts,
    PairedTable,
    distance,
    distance_limits,
    paired_difference,
)
from fairgauge.stats.sampling import (
    ShareVariance,
    effective_rows,
    intracluster_correlation,
    share_variance,
)
from fairgauge.stats.sequential import better_share

Hold = Callable[[float], np.ndarray]
_LEVEL, _BINS, _CHUNK = 0.95, 100, 100


def holm(hold: Hold, sets: int, claims: int | np.ndarray) -> np.ndarray:
    """Apply `shown_claims` to every set at once: ``hold`` returns an array (sets, claims)."""
    held: dict[float, np.ndarray] = {}

    def at(level: float, row: int) -> np.ndarray:
        if level not in held:
            held[level] = hold(level)
        return held[level][row]

    rows = (lambda level, k=k: at(level, k) for k in range(sets))
    many = np.broadcast_to(claims, sets).tolist()
    return np.stack([shown_claims(*each, _LEVEL)[0] for each in zip(rows, many, strict=True)])


# ---- thresholds


@dataclass(frozen=True)
class Scores:
    """Rows with a score in hundredths: what is drawn, today's threshold, and what is asked."""

    name: str
    draw: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray, np.ndarray]]
    n: int = 5_000
    today: float = 0.5
    goal: float = 0.8
    margin: float = 0.6


def same_ratio(true: float) -> Callable[..., tuple[np.ndarray, ...]]:
    """Every candidate has the same ratio: part of one group has the lowest score."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
        group, score = rng.random(n) < 0.2, 0.01 + 0.99 * rng.random(n)
        score[group & (rng.random(n) >= true)] = 0.0
        return group, rng.random(n) < 0.5, score

    return draw


def useless(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Lower thresholds have better ratios, and no threshold is more accurate than any other."""
    group = rng.random(n) < 0.3
    return group, rng.random(n) < 0.5, np.clip(rng.random(n) ** (1 + 0.8 * group), 0, 0.999)


def lower_scores(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """A score that is half a standard deviation lower in a third of the rows."""
    group, label = rng.random(n) < 1 / 3, rng.random(n) < 0.5
    latent = 1.5 * (label - 0.5) - 0.5 * group + rng.standard_normal(n)
    return group, label, 1 / (1 + np.exp(-latent))


SCORES = (
    Scores("today's and all others exactly at the goal", same_ratio(0.8)),
    Scores("the same, 1,000 rows", same_ratio(0.8), n=1_000),
    Scores("others meet it and lose all of the margin", useless, today=0.7, margin=0.0),
    Scores("today's meets it: .85 of .80", same_ratio(0.85)),
    Scores("others meet it: goal .75, margin 5 pp", lower_scores, goal=0.75, margin=0.05),
    Scores("the same, 10,000 rows", lower_scores, 10_000, goal=0.75, margin=0.05),
)


def scored(design: Scores, seed: int) -> pl.DataFrame:
    """Return one table of counts."""
    group, label, score = design.draw(np.random.default_rng(seed), design.n)
    bins = (np.floor(score * _BINS) / _BINS).round(2)
    rows = pl.DataFrame({"g": group.astype(int), "y": label.astype(int), "s": bins})
    return rows.group_by("g", "y", "s").len("n").with_columns(g=pl.col("g").cast(pl.String))


def named_thresholds(design: Scores, sets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return in which sets today's threshold is taken to meet the goal, and another is named."""
    counts, cuts = np.zeros((sets, 2, 2, _BINS)), np.zeros((sets, 21), dtype=int)
    for k in range(sets):
        group, label, score = design.draw(np.random.default_rng(k), design.n)
        bins = np.minimum(np.floor(score * _BINS).astype(int), _BINS - 1)
        np.add.at(counts[k], (group.astype(int), label.astype(int), bins), 1)
        rows = counts[k].sum(axis=(0, 1))
        held, below = np.flatnonzero(rows), np.cumsum(rows) / rows.sum()
        cuts[k, 1:] = held[np.searchsorted(below[held], np.arange(1, 21) / 21)]
    cuts[:, 0] = round(design.today * _BINS)
    above = np.concatenate(
        [counts[..., ::-1].cumsum(axis=-1)[..., ::-1], np.zeros((sets, 2, 2, 1))], -1
    )
    at = np.take_along_axis(above, cuts[:, None, None, :], axis=-1)
    accepted, n = at.sum(axis=2), counts.sum(axis=(2, 3))[..., None]
    share = accepted / n
    moved = (at - at[..., :1]).sum(axis=1)  # by label
    gained = np.maximum(moved[:, 1], 0) + np.maximum(-moved[:, 0], 0)
    lost = np.maximum(-moved[:, 1], 0) + np.maximum(moved[:, 0], 0)
    pooled = accepted.sum(axis=1) / n.sum(axis=1)
    expected = np.minimum(pooled, 1 - pooled) * n.min(axis=1)  # of sufficient data
    differs = (cuts != cuts[:, :1]) & (expected >= 5)

    def hold(level: float) -> np.ndarray:
        z = critical(level)
        ends = wilson(accepted, np.broadcast_to(n, accepted.shape), z)
        low, _ = mover_ratio(
            share[:, 1], *(e[:, 1] for e in ends), share[:, 0], *(e[:, 0] for e in ends)
        )
        least, _ = paired_difference(gained, lost, np.full(lost.shape, float(design.n)), z)
        kept = (least >= -design.margin - 1e-12) | (np.arange(cuts.shape[1]) == 0)
        return (low >= design.goal) & kept

    today = hold(_LEVEL)[:, 0]
    others = [len(set(row[1:]) - {row[0]}) for row in cuts.tolist()]
    named = np.zeros(sets, dtype=bool)
    for many in set(others):
        of = np.flatnonzero(np.array(others) == many)
        named[of] = holm(lambda level, of=of: (hold(level) & differs)[of], len(of), many).any(
            axis=1
        )
    return today, named & ~today


def chance_today(n: int, goal: float = 0.8) -> float:
    """Return how likely today's threshold is taken to meet ``goal``, exactly at it: no draws."""

    def likely(size: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = binom.ppf([1e-10, 1 - 1e-10], size, rate)
        hits = np.arange(low, high + 1)
        return hits, binom.pmf(hits, size, rate)

    z, rate, total = critical(_LEVEL), 0.5 / 0.99, 0.0  # of `same_ratio` from .5 on
    for few, chance in zip(*likely(n, 0.2), strict=True):
        ends, shares, chances = [], [], []
        for size, of in ((few, goal * rate), (n - few, rate)):
            hits, each = likely(size, of)
            shares.append(hits / size)
            ends.append(wilson(hits, np.full(len(hits), size), z))
            chances.append(each)
        (a, b), (own, other) = shares, ends
        low, _ = mover_ratio(a[:, None], *(e[:, None] for e in own), b, *other)
        total += chance * float(chances[0] @ (low >= goal) @ chances[1])
    return total


# ---- candidates

OLD = [[0.3, 0.8], [0.15, 0.65]]
AT_MARGIN = [[0.3, 0.8], [0.2633333, 0.67]]
SAME_GAP = [[0.28, 0.8133333], [0.13, 0.6633333]]
TURNED = [[0.3, 0.8], [0.45, 0.95]]
BETTER = [[0.3, 0.8], [0.19, 0.69]]
OLD3 = [*OLD, [0.2, 0.7]]


@dataclass(frozen=True)
class Models:
    """Models by the shares that they select, by group and label (0, 1), and the model in use."""

    name: str
    models: list[list[list[float]]]
    old: list[list[float]] = field(default_factory=lambda: OLD)
    n: int = 5_000
    shares: tuple[float, ...] = (0.7, 0.3)
    alike: float = 0.9
    true: int = 0  # of the first candidates, so many are alternatives
    like_old: float | None = None
    metric: str = "selection_rate.difference"


def _mixed(size: int) -> list[list[list[float]]]:
    parts = ((AT_MARGIN, 0.4), (SAME_GAP, 0.4), (TURNED, 0.2))
    return [model for model, share in parts for _ in range(round(share * size))]


MODELS = (
    *(Models(f"all as the one in use, K = {k}", [OLD] * k) for k in (1, 2, 10, 100)),
    *(Models(f"all at the margin of accuracy, K = {k}", [AT_MARGIN] * k) for k in (1, 2, 10, 100)),
    *(Models(f"at the margin, same gap, or turned round, K = {k}", _mixed(k)) for k in (10, 100)),
    Models("the same of ratios", [AT_MARGIN] * 4 + [SAME_GAP] * 4 + [[[0.3, 0.8], [0.5, 1.0]]] * 2,
           metric="selection_rate.ratio"),
    Models("alike (.98), unlike the one in use (.6), at the margin, K = 10", [AT_MARGIN] * 10,
           alike=0.98, like_old=0.6),
    Models("one group gains, another loses the harm, K = 10",
           [[[0.3, 0.8], [0.22, 0.72], [0.18, 0.68]]] * 10, OLD3, 8_000, (0.6, 0.25, 0.15)),
    Models("a group of 60 rows, K = 10", [OLD] * 10, n=2_000, shares=(0.97, 0.03)),
    *(Models(f"one is better by 4 pp, K = {k}", [BETTER] + [OLD] * (k - 1), true=1)
      for k in (1, 2, 10, 100)),
    Models("half are, K = 10", [BETTER] * 5 + [OLD] * 5, true=5),
    Models("one is by 3 pp, 20,000 rows, K = 10", [[[0.3, 0.8], [0.18, 0.68]]] + [OLD] * 9,
           n=20_000, true=1),
)  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """Rows of one set: ``old`` and ``new`` are decisions, or scores that are decided at a cut."""

    group: np.ndarray
    label: np.ndarray
    old: np.ndarray
    new: np.ndarray
    second: np.ndarray  # a feature that all models treat alike
    weight: np.ndarray
    cluster: np.ndarray
    known: np.ndarray  # whether the group is


CLUSTER, BINS = 5, 2_002


def drawn(design: Models, kind: str, seed: int) -> Drawn:
    """Return rows; clustered ones are decided alike."""
    rng = np.random.default_rng(seed)
    n, every = design.n, np.array([design.old, *design.models])
    group = rng.choice(len(design.shares), n, p=design.shares)
    label = (rng.random(n) < 0.6).astype(int)
    base, limit = rng.standard_normal(n), ndtri(every)[:, group, label]
    if kind == "clusters":
        shared = np.repeat(rng.standard_normal(-(-n // CLUSTER)), CLUSTER)[:n]
        base = (base + shared) / np.sqrt(2)
    alike = np.full(len(every), design.alike)
    alike[0] = design.like_old or design.alike
    own = rng.standard_normal((len(every), n))
    latent = np.sqrt(alike)[:, None] * base + np.sqrt(1 - alike)[:, None] * own
    chosen = (latent < limit).astype(int)
    if kind == "AUC":  # of a score in thousandths, decided at .5: by how far it is below the limit
        chosen = np.clip(np.rint(500 + 100 * (limit - latent)), 0, 1000).astype(int)
    known = np.ones(n, dtype=bool)
    if kind == "10 % without a group":
        known = rng.random(n) >= 0.1
    elif kind == "10 % of those who lose without a group":
        lose = (group == 1) * (chosen[0] - chosen[1:].mean(axis=0)) + rng.random(n) / 1e3
        known[np.argsort(lose)[-n // 10 :]] = False
    second, weight = rng.integers(0, 3, n), np.ones(n)
    if kind == "weights":
        weight = rng.lognormal(0, 0.5, n)
    return Drawn(
        group, label, *(chosen[0], chosen[1:]), second, weight, np.arange(n) // CLUSTER, known
    )


@dataclass(frozen=True)
class Judged:
    """Of some sets: which claims are shown, and what holds of the candidate that gains most."""

    shown: np.ndarray  # (sets, candidates)
    covered: np.ndarray  # (sets, 2): of its gap, and of its performance


def judged_sets(design: Models, seeds: range, kind: str = "") -> Judged:
    """Judge some sets by the intervals and the claims of `fairgauge.alternatives`."""
    sets = [drawn(design, kind, seed) for seed in seeds]
    size, groups = len(design.models), len(design.shares)
    features = [groups] + [3] * (kind == "two features")
    # weights, squares and cases by set, candidate, group, label and both decisions; the last groups
    # are all rows and, where some are not known, those without a group
    tables = np.zeros((3, len(sets), size, sum(features) + 2, 3, 2, 2))
    areas, clusters = [], []
    for k, of in enumerate(sets):
        old, new = (
            (each >= 500 if kind == "AUC" else each).astype(int) for each in (of.old, of.new)
        )
        for j, own in enumerate(new):
            cell = (2 * (1 - of.label) + 1 - old) * 2 + 1 - own
            held = [of.known & (of.group == g) for g in range(groups)]
            held += [of.second == h for h in range(3)] if len(features) > 1 else []
            held += [np.ones_like(of.known), ~of.known]
            powers = of.weight, of.weight**2, np.ones(len(cell))
            for g, rows in enumerate(held):
                for m, power in enumerate(powers if kind == "weights" else powers[2:]):
                    counted = np.bincount(cell[rows], power[rows], 12).reshape(3, 2, 2)
                    tables[np.s_[m if kind == "weights" else np.s_[:]], k, j, g] = counted
                if kind == "clusters":
                    clusters.append(ClusterCounts(of.cluster[rows], cell[rows], powers[2][rows]))
            if kind == "AUC":
                codes = [2 * of.old + 1, 2 * of.new[j] + 1]
                every = PairedTable(*tables[:, k, j, -2][:, None])
                ones = np.ones(len(cell))
                areas.append(changed_area(codes, of.label == 1, ones, ones, None, every))
    width = tables.shape[3]
    flat = tables.reshape(3, -1, width, 3, 2, 2)
    metric, n = find_metric(design.metric), flat.shape[1]

    def table_of(at: list[int]) -> PairedTable:
        cells = np.concatenate([flat[:, :, g] for g in at], axis=1)
        of = [clusters[i * width + g] for g in at for i in range(n)] if clusters else None
        return PairedTable(*cells, clusters=of, cluster_count=-(-design.n // CLUSTER))

    def change(rate: Statistic, at: list[int]) -> StatisticChange:
        sides, every = table_of(at), table_of([width - 2])
        cells = np.stack([sides.weights, sides.squares, sides.cases])
        models = [_interval_of(rate, cells.sum(axis=axis)) for axis in (-1, -2)]
        if clusters:
            models = [_clustered(e, rate, sides, every, new) for new, e in enumerate(models)]
        return statistic_change(rate, sides, *models)

    pairs = [(g, 0) for g in range(1, groups)]
    pairs += [(groups + h, groups) for h in (1, 2)] if len(features) > 1 else []
    changes = [
        disparity_changes(metric, change(metric.of, [*pair]), inside=False) for pair in pairs
    ]
    accuracy = change(find_rate("accuracy"), [width - 2]).difference
    few = flat[2].sum(axis=(2, 3, 4))[:, [g for g, _ in pairs]] < 20
    claimed = np.stack([c.models[0].value < 0 for c in changes], axis=1) & ~few
    claims = claimed.reshape(len(sets), -1).sum(axis=1)
    harm = 0.02 if metric.by == "difference" else -np.log1p(-0.02)
    reach = np.zeros((n, len(pairs)))
    if kind.endswith("without a group"):
        possible = PossiblePairs(*_states(flat[2]))
        ends = [
            furthest(*(possible.limits(metric.of, np.arange(n) * 2 + g, missing=m) for g in (1, 0)))
            for m in (True, False)
        ]
        reach[:, 0] = np.maximum(ends[0] - ends[1], 0)

    def hold(level: float) -> np.ndarray:
        z = critical(level)
        kept = accuracy.at(np.full(n, z))[0] > -0.01
        if areas:
            least = [of.change.difference.at(z)[0].item() - of.reach for of in areas]
            kept = np.array(least) > -0.01
        most = np.stack([
            worst_limit(
                distance(c.shift.value, c.level.value),
                distance_limits(c.shift.at(np.full(n, z)), c.level.at(np.full(n, z)))[1],
                reach[:, p], np.minimum(*c.rows), z)
            for p, c in enumerate(changes)], axis=1)  # fmt: skip
        harmed = ~(most < harm)
        others = harmed.sum(axis=1, keepdims=True) - harmed
        return (kept[:, None] & (most < 0) & claimed & (others == 0)).reshape(len(sets), -1)

    shown = holm(hold, len(sets), claims).reshape(len(sets), size, -1)
    first, at = changes[0], np.arange(len(sets)) * size
    chosen = first.shift.value.reshape(len(sets), size).argmax(axis=1)
    ends_of = (lambda z: first.shift.at(np.full(n, z)),
               (lambda z: np.array([e.change.difference.at(z) for e in areas])[..., 0].T)
               if areas else (lambda z: accuracy.at(np.full(n, z))))  # fmt: skip
    level = 1 - (1 - _LEVEL) / np.maximum(np.repeat(claims, size), 1)
    covered = _covered(design, bool(areas), level, ends_of)
    return Judged(shown, covered[at + chosen])


def _covered(
    design: Models, area: bool, level: np.ndarray, ends_of: Sequence[Callable[[float], np.ndarray]]
) -> np.ndarray:
    # whether the intervals of the first gap and of performance hold: (sets * candidates, 2)
    rates = np.array([design.old, *design.models])
    before, after = (rates[:, g] @ [0.4, 0.6] for g in (1, 0))
    gap = np.log(before / after) if design.metric.endswith("ratio") else before - after
    right = (rates * [-0.4, 0.6]).sum(axis=2) @ design.shares
    if area:
        right = np.array([_area(model) for model in rates.tolist()])
    covered = np.zeros((len(level), 2), dtype=bool)
    for each in set(level.tolist()):
        for m, truth in enumerate((gap, right)):
            low, high = ends_of[m](critical(each))
            true = np.resize(truth[1:] - truth[0], len(level))
            covered[level == each, m] = ((low <= true) & (true <= high))[level == each]
    return covered


def _clustered(
    model: StatisticInterval, rate: Statistic, sides: PairedTable, every: PairedTable, new: int
) -> StatisticInterval:
    # as of clusters in an audit, but for its random blocks of them
    def shared(table: PairedTable) -> ShareVariance:
        of, _ = _fixed_denominator(rate, table)
        counted = np.broadcast_to(np.expand_dims(of, 2 - new), table.weights.shape[1:])
        sums = []
        for each in (counted, np.ones(counted.shape)):
            own = np.stack([c.totals(each, table.cluster_count) for c in table.clusters], axis=1)
            sums.append(np.concatenate([own.sum(axis=0)[None], own.sum(axis=0) - own]))
        kish = sums[1][0] ** 2 / (own**2).sum(axis=0)
        return share_variance(*sums, kish)[0]

    found, alike = shared(sides), intracluster_correlation(shared(every))
    n = effective_rows(found, found.rows, np.tile(alike, len(found.rate) // len(alike)))
    limits = found.rate * n, n
    return replace(model, n=n, at=lambda z: wilson(*limits, t_from_z(z, found.degrees)))


def _states(cases: np.ndarray) -> tuple[np.ndarray, ...]:
    # of every table two groups, and rows of neither that may be of either; no outcome is missing
    n = len(cases)
    states = np.zeros((n, 3, 3, 3, 3))
    states[:, :, :, :2, :2] = cases[:, [0, 1, -1]]
    known = np.concatenate([states[:, :2].reshape(-1, 3, 3, 3), np.zeros((1, 3, 3, 3))])
    sides = np.zeros((n, 4 * n + 1), dtype=bool)
    for g in (0, 1):
        sides[np.arange(n), 2 * np.arange(n) + g] = True
    yes = np.array([True, False])
    return known, states[:, 2], sides, OutcomeMasks(yes, yes)


# ---- weights, clusters, ...: what is drawn and judged otherwise

SURVEYS = ("weights", "clusters", "two features", "10 % without a group",
           "10 % of those who lose without a group", "ratios", "AUC")  # fmt: skip


def _area(model: list[list[float]]) -> float:
    # of scores with these shares above the cut, in groups of .7 and .3
    at, share = ndtri(np.array(model)), np.array(Models.shares)
    return float(share @ ndtr((at[:, None, 1] - at[None, :, 0]) / np.sqrt(2)) @ share)


def _at_margin_of_area() -> list[list[float]]:
    # a smaller gap, as of AT_MARGIN, and an area that is .01 less
    def model(wrongly: float) -> list[list[float]]:
        return [OLD[0], [wrongly, (0.507333 - 0.4 * wrongly) / 0.6]]

    return model(brentq(lambda x: _area(model(x)) - _area(OLD) + 0.01, 0.05, 0.45))


def surveys(kind: str, size: int) -> tuple[Models, Models]:
    """Return a design in which no candidate is both, and one in which the first is."""
    wrong = _mixed(size) if size > 2 else [AT_MARGIN] * size
    if kind == "AUC":
        wrong = [_at_margin_of_area() if each == AT_MARGIN else each for each in wrong]
    if kind == "ratios":  # turned round into as large a one
        wrong = [[[0.3, 0.8], [0.5, 1.0]] if each == TURNED else each for each in wrong]
    metric = "selection_rate.ratio" if kind == "ratios" else Models.metric
    return (Models("none is", wrong, metric=metric),
            Models("one is", [BETTER] + [OLD] * (size - 1), true=1, metric=metric))  # fmt: skip


# ---- retrainings

GAPS = {
    "normal .10 ± .01": lambda rng, shape: np.abs(rng.normal(0.1, 0.01, shape)),
    "normal .10 ± .03": lambda rng, shape: np.abs(rng.normal(0.1, 0.03, shape)),
    "uniform 0 to .2": lambda rng, shape: rng.uniform(0, 0.2, shape),
    "t with 3 degrees": lambda rng, shape: np.abs(0.1 + 0.01 * rng.standard_t(3, shape)),
    "3 of 100 without a gap": lambda rng, shape: np.where(
        rng.random(shape) < 0.03, 0.0, np.abs(rng.normal(0.1, 0.01, shape))),
    "6 of 100 without a gap": lambda rng, shape: np.where(
        rng.random(shape) < 0.06, 0.0, np.abs(rng.normal(0.1, 0.01, shape))),
}  # fmt: skip


def exceeded(draw: Callable[..., np.ndarray], sets: int, most: int = 120) -> tuple[float, float]:
    """Return how often the true mean gain of one more is ever above the bound, and at 60, fixed."""
    rng = np.random.default_rng(0)
    pool = np.sort(draw(rng, 400_000))
    sums = np.concatenate([[0.0], np.cumsum(pool)])
    least = np.minimum.accumulate(draw(rng, (sets, most)), axis=1)
    below = np.searchsorted(pool, least)
    gain = (least * below - sums[below]) / len(pool)
    any_time = least * np.array([better_share(k, 0.05) for k in range(1, most + 1)])
    fixed = least[:, 59] * better_share(60, 0.05, 1)
    return float((gain > any_time).any(axis=1).mean()), float((gain[:, 59] > fixed).mean())


# ---- the command


def _share(mask: np.ndarray) -> str:
    return f"{100 * mask.mean():.1f}"


def _check() -> None:
    for design in SCORES:
        today, another = named_thresholds(design, 8)
        for seed in range(8):
            of = fg.thresholds(
                scored(design, seed), label="y", positive=1, score="s", threshold=design.today,
                sensitive="g", count="n", reference={"g": "0"}, margins={"accuracy": design.margin},
                rules=[fg.rule("selection_rate.ratio", at_least=design.goal)],
            )["g"].common  # fmt: skip
            cut = of.threshold if of is not None and of.outcome == "pass" else None
            found = cut == design.today, cut not in (None, design.today)
            assert found == (today[seed], another[seed]), (design.name, seed, cut)
    others = [(kind, each) for kind in SURVEYS for each in surveys(kind, 10)]
    for kind, design in [*(("", each) for each in MODELS), *others]:
        seeds = range(4 if len(design.models) < 20 else 1)
        shown = judged_sets(design, seeds, kind).shown
        for seed in seeds:
            of = drawn(design, kind, seed)
            old, new = ((e / 1_000 if kind == "AUC" else e) for e in (of.old, of.new))
            named = {f"c{j:03}": each for j, each in enumerate(new)}
            rows = pl.DataFrame({"g": of.group, "y": of.label, "old": old, **named})
            rows = rows.with_columns(
                g=pl.when(pl.Series(of.known)).then(pl.col("g").cast(pl.String)),
                h=pl.Series(of.second).cast(pl.String),
                w=pl.Series(of.weight),
                cluster=pl.Series(of.cluster),
            )
            how: dict = {"prediction": "old", "sensitive": "g", "reference": {"g": "0"}}
            if kind == "two features":
                how |= {"sensitive": ["g", "h"], "reference": {"g": "0", "h": "0"}}
            elif kind in ("weights", "clusters"):
                how |= {"weight": "w"} if kind == "weights" else {"cluster": "cluster"}
            elif kind == "AUC":
                how |= {"prediction": None, "score": "old", "threshold": 0.5}
                how["margins"] = {"roc_auc": 0.01}
            found = fg.alternatives(
                rows, label="y", positive=1, candidate="c0*", disparity=design.metric, **how
            )
            ours = [[gap.shown for gap in one.gaps] for one in found.candidates]
            assert ours == shown[seed].tolist(), (design.name, kind, seed, ours, shown[seed])
    print("the same as fairgauge.thresholds and fairgauge.alternatives")


def _cost(rows: int = 1_000_000, candidates: int = 100) -> None:
    # of counting from Parquet, in bare scans: a sum of each column; the least of five
    rng = np.random.default_rng(0)
    base, names = rng.standard_normal(rows), [f"c{k:03}" for k in range(candidates)]
    decided = {
        name: (base + 0.3 * rng.standard_normal(rows) < 0).astype(np.int8)
        for name in ("current", *names)
    }
    group, label = rng.choice(["a", "b", "c"], rows), (rng.random(rows) < 0.6).astype(np.int8)
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        pl.DataFrame({"g": group, "y": label, **decided}).write_parquet(file.name)
        sums = ", ".join(f"sum({name})" for name in ("y", *decided))
        asked = {"label": "y", "prediction": "current", "candidate": "c0*", "sensitive": "g"}

        def least(run: Callable[[], object]) -> float:
            times = []
            for _ in range(5):
                start = time.process_time()
                run()
                times.append(time.process_time() - start)
            return min(times)

        bare = least(lambda: duckdb.sql(f"SELECT count(g), {sums} FROM '{file.name}'").fetchall())
        ours = least(lambda: count_models("alternatives", file.name, asked | {"positive": 1}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"bare scan {bare:.2f} s, counting {ours / bare:.1f} of it; at most {peak:.0f} MB")


def main(what: str, sets: int = 2_000, only: str = "", seed: int = 0) -> None:
    """Print a table."""
    if what in ("check", "cost"):
        {"check": _check, "cost": _cost}[what]()
    for design in SCORES if what == "thresholds" else ():
        found = map(_share, named_thresholds(design, sets))
        print(f"| {design.name} | {sets:,} | {' | '.join(found)} |", flush=True)
    for n in (5_000, 1_000) if what == "thresholds" else ():
        print(f"today's exactly at the goal, {n:,} rows, summed exactly: {chance_today(n):.2%}")
    designs = [("", of) for of in MODELS] if what == "candidates" else []
    for kind in SURVEYS if what == "surveys" else ():
        designs += [(f"{kind}, K = {size}, ", of)
                    for size in (1, 2, 10, 100) for of in surveys(kind, size)]  # fmt: skip
    for kind, of in designs:
        if only not in f"{kind}{of.name},":
            continue
        many = sets if len(of.models) < 20 else max(sets // 10, 1)
        seeds = range(seed, seed + many)
        parts = [seeds[k : k + _CHUNK] for k in range(0, many, _CHUNK)]
        found = [judged_sets(of, part, kind.partition(", K")[0]) for part in parts]
        shown = np.concatenate([each.shown for each in found]).any(axis=2)
        wrong, right = shown[:, of.true :].any(axis=1), shown[:, : of.true].any(axis=1)
        power = _share(right) if of.true else ""
        covered = map(_share, np.concatenate([each.covered for each in found]).T)
        texts = f"{_share(wrong)} ({wrong.sum()}) | {power} | {' | '.join(covered)}"
        print(f"| {kind}{of.name} | {many:,} | {texts} |", flush=True)
    for name, draw in GAPS.items() if what == "retrainings" else ():
        ever, fixed = exceeded(draw, sets)
        print(f"| {name} | {sets:,} | {100 * ever:.1f} | {100 * fixed:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:4], *map(int, sys.argv[4:5]))
