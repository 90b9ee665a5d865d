"""How often a search names a wrong threshold or candidate, and how often a right one.

``python -m bench.alternatives thresholds|candidates|surveys|retrainings|check [SETS]`` prints the
tables of docs/coverage.md. Sets are judged many at a time by the intervals and the procedure of
the product (``surveys`` by the product itself); ``check`` holds some of them against
`fairgauge.thresholds` and `fairgauge.alternatives` themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy.special import ndtri

import fairgauge as fg
from fairgauge.catalogue.lookup import find_metric, find_rate
from fairgauge.inference.claims import shown_claims
from fairgauge.inference.paired_changes import disparity_changes
from fairgauge.measure.choose_thresholds import change_of
from fairgauge.stats.contrasts import mover_ratio
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.paired import distance_limits, paired_difference
from fairgauge.stats.retrainings import better_share

Hold = Callable[[float], np.ndarray]
_LEVEL, _BINS, _CHUNK = 0.95, 100, 100


def holm(hold: Hold, sets: int, claims: int) -> np.ndarray:
    """Apply `shown_claims` to every set at once: ``hold`` returns an array (sets, claims)."""
    held: dict[float, np.ndarray] = {}

    def at(level: float, row: int) -> np.ndarray:
        if level not in held:
            held[level] = hold(level)
        return held[level][row]

    rows = (lambda level, k=k: at(level, k) for k in range(sets))
    return np.stack([shown_claims(row, claims, _LEVEL)[0] for row in rows])


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


def decided(design: Models, rng: np.random.Generator, size: int = 1) -> tuple[np.ndarray, ...]:
    """Return the groups, labels, decisions in use and those of candidates, of one set.

    So many rows after one another are a cluster, whose rows are decided alike.
    """
    n, every = design.n, np.array([design.old, *design.models])
    group, label = (
        rng.choice(len(design.shares), n, p=design.shares),
        (rng.random(n) < 0.6).astype(int),
    )
    base, limit = rng.standard_normal(n), ndtri(every)[:, group, label]
    if size > 1:
        base = (base + np.repeat(rng.standard_normal(-(-n // size)), size)[:n]) / np.sqrt(2)
    alike = np.full(len(every), design.alike)
    alike[0] = design.like_old or design.alike
    own = rng.standard_normal((len(every), n))
    latent = np.sqrt(alike)[:, None] * base + np.sqrt(1 - alike)[:, None] * own
    chosen = (latent < limit).astype(int)
    return group, label, chosen[0], chosen[1:]


def judged_sets(design: Models, seeds: range) -> np.ndarray:
    """Return which claims are shown of some sets: (sets, candidates, groups but the first)."""
    groups, size = len(design.shares), len(design.models)
    tables = np.zeros((len(seeds), size, groups, 3, 2, 2))
    for k, seed in enumerate(seeds):
        group, label, old, new = decided(design, np.random.default_rng(seed))
        place = ((group * 3 + 1 - label) * 2 + 1 - old) * 2
        for j, own in enumerate(new):
            cells = np.bincount(place + 1 - own, minlength=groups * 12)
            tables[k, j] = cells.reshape(groups, 3, 2, 2)
    flat = tables.reshape(-1, groups, 3, 2, 2)
    whole = np.stack([flat.sum(axis=1)] * 3)
    accuracy = change_of(find_rate("accuracy"), whole).difference
    metric = find_metric(design.metric)
    changes = []
    for j in range(1, groups):
        sides = np.concatenate([flat[:, j], flat[:, 0]])
        changes.append(disparity_changes(
            metric, change_of(metric.of, np.stack([sides] * 3)), inside=False))  # fmt: skip
    few = flat.sum(axis=(2, 3, 4)) < 20
    shape = len(seeds), size * (groups - 1)
    harm = 0.02 if metric.by == "difference" else -np.log1p(-0.02)

    def hold(level: float) -> np.ndarray:
        z = np.full(len(flat), critical(level))
        kept = accuracy.at(z)[0] > -0.01
        most = np.stack([distance_limits(c.shift.at(z), c.level.at(z))[1] for c in changes], axis=1)
        worse_off = np.stack([c.models[0].value < 0 for c in changes], axis=1)
        harmed = ~(most < harm)
        others = harmed.sum(axis=1, keepdims=True) - harmed
        return (kept[:, None] & (most < 0) & worse_off & (others == 0) & ~few[:, 1:]).reshape(shape)

    return holm(hold, *shape).reshape(len(seeds), size, groups - 1)


# ---- what has no simulation of many sets at a time: `fairgauge.alternatives` itself

SURVEYS = ("weights", "clusters", "two features", "10 % without a group", "ratios")
K10 = {
    "at the margin, same gap, or turned round": Models("", _mixed(10)),
    "one is better by 4 pp": Models("", [BETTER] + [OLD] * 9, true=1),
}


def surveyed(kind: str, design: Models, seed: int) -> tuple[bool, bool, bool]:
    """Return whether a wrong candidate and whether a right one is shown, and coverage.

    The last is of the simultaneous interval of the candidate whose gap shrinks most.
    """
    rng, size = np.random.default_rng(seed), 5
    group, label, old, new = decided(design, rng, size if kind == "clusters" else 1)
    columns = {f"model_{j}": each for j, each in enumerate(new)}
    rows = pl.DataFrame({"g": group, "y": label, "old": old, **columns}).with_columns(
        g=pl.col("g").cast(pl.String),
        h=pl.Series(rng.choice(["a", "b", "c"], design.n)),
        w=pl.Series(rng.lognormal(0, 0.5, design.n)),
        cluster=pl.Series(np.arange(design.n) // size),
    )
    if kind.endswith("group"):
        rows = rows.with_columns(g=pl.when(pl.Series(rng.random(design.n) >= 0.1)).then("g"))
    features = ["g", "h"] if kind == "two features" else ["g"]
    found = fg.alternatives(
        rows, label="y", prediction="old", positive=1, candidate="model_*", sensitive=features,
        reference={"g": "0"} | ({"h": "a"} if len(features) > 1 else {}),
        disparity=f"selection_rate.{'ratio' if kind == 'ratios' else 'difference'}",
        **{"weights": {"weight": "w"}, "clusters": {"cluster": "cluster"}}.get(kind, {}),
    )  # fmt: skip
    shown = [bool(one.shown_for) for one in found.candidates]
    gaps = [next(gap for gap in one.gaps if gap.feature == "g") for one in found.candidates]
    chosen = max(range(len(gaps)), key=lambda k: gaps[k].change or 0)
    of = [np.array(each) @ [0.4, 0.6] for each in (design.old, design.models[chosen])]
    before, after = (b / a if kind == "ratios" else b - a for a, b in of)
    truth = after / before if kind == "ratios" else after - before
    interval = gaps[chosen].simultaneous
    covered = interval is not None and interval.low <= truth <= interval.high
    return any(shown[design.true :]), any(shown[: design.true]), covered


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
    for design in MODELS:
        seeds = range(4 if len(design.models) < 20 else 1)
        shown = judged_sets(design, seeds)
        for seed in seeds:
            group, label, old, new = decided(design, np.random.default_rng(seed))
            named = {f"c{j:03}": each for j, each in enumerate(new)}
            rows = pl.DataFrame({"g": group, "y": label, "old": old, **named})
            found = fg.alternatives(
                rows.with_columns(g=pl.col("g").cast(pl.String)), label="y", prediction="old",
                positive=1, candidate="c*", sensitive="g", reference={"g": "0"},
                disparity=design.metric,
            )  # fmt: skip
            ours = [[gap.shown for gap in one.gaps] for one in found.candidates]
            assert ours == shown[seed].tolist(), (design.name, seed)
    print("the same as fairgauge.thresholds and fairgauge.alternatives")


def main(what: str, sets: int) -> None:
    """Print a table."""
    if what == "check":
        _check()
    for design in SCORES if what == "thresholds" else ():
        found = map(_share, named_thresholds(design, sets))
        print(f"| {design.name} | {sets:,} | {' | '.join(found)} |", flush=True)
    for of in MODELS if what == "candidates" else ():
        many = sets if len(of.models) < 20 else max(sets // 10, 1)
        parts = [range(k, min(k + _CHUNK, many)) for k in range(0, many, _CHUNK)]
        shown = np.concatenate([judged_sets(of, part) for part in parts]).any(axis=2)
        wrong, right = shown[:, of.true :].any(axis=1), shown[:, : of.true].any(axis=1)
        power = _share(right) if of.true else ""
        print(f"| {of.name} | {many:,} | {_share(wrong)} | {power} |", flush=True)
    for kind in SURVEYS if what == "surveys" else ():
        for name, each in K10.items():
            found = np.array([surveyed(kind, each, seed) for seed in range(sets)]).T
            wrong, right, covered = map(_share, found)
            print(f"| {kind}: {name} | {sets:,} | {wrong} | {right} | {covered} |", flush=True)
    for name, draw in GAPS.items() if what == "retrainings" else ():
        ever, fixed = exceeded(draw, sets)
        print(f"| {name} | {sets:,} | {100 * ever:.1f} | {100 * fixed:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or [2_000])[0]))
