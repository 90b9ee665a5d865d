"""Laws of tables for `bench.why_verdicts` beside those of rates in one column of strata.

Ratios, means, clusters and weights, several columns, and regressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import expit, logit

import fairgauge as fg
from bench.audit_designs import alone, holds
from fairgauge.enums import GapPartKind, StratumWeights

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench.audit_designs import Design, Occurrences
    from fairgauge.results.gap_decomposition import Gap

_COVERED = "95 or more"
_WITHIN, _COMPOSITION = GapPartKind.WITHIN, GapPartKind.COMPOSITION
_AVERAGE = StratumWeights.AVERAGE
_SPREAD_OF_LOGS = 0.5
_CLUSTER_REACH = 0.1
"""The rate of a cluster is up to so much above or below that of its stratum."""

Part = tuple[GapPartKind, StratumWeights, str | None]


@dataclass(frozen=True)
class Sides:
    """Shares and rates, or means, of two sides in cells of columns.

    Attributes
    ----------
    rows : of the group, and of its reference.
    shares, values : of both sides, arrays of the shape of the columns.
    """

    rows: tuple[int, int]
    shares: tuple[np.ndarray, np.ndarray]
    values: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, rows: tuple[int, int], tilt: float, values: tuple[np.ndarray, ...]) -> Sides:
        """Return sides whose shares differ by the tilt along each column."""
        at = sum(np.meshgrid(*(np.linspace(-1, 1, k) for k in values[0].shape), indexing="ij"))
        lower, higher = np.exp(-tilt * np.asarray(at)), np.exp(tilt * np.asarray(at))
        return cls(rows, (lower / lower.sum(), higher / higher.sum()), (values[0], values[1]))

    def cells(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw the rows of both sides in every cell."""
        found = zip(self.rows, self.shares, strict=True)
        return [rng.multinomial(n, w.ravel()).reshape(w.shape) for n, w in found]

    def truths(self, held: np.ndarray) -> dict[str, tuple[Part, float]]:
        """Return the parts of a difference in cells that both sides of a table have."""
        (w_d, w_a), (r_d, r_a) = self._of(held), self.values
        found = {
            "composition": ((_COMPOSITION, _AVERAGE, None), _composition(w_d, r_d, w_a, r_a)),
            "within": ((_WITHIN, _AVERAGE, None), ((w_d + w_a) * (r_d - r_a)).sum() / 2),
            "within at the group's composition": (
                (_WITHIN, StratumWeights.GROUP, None), (w_d * (r_d - r_a)).sum(),
            ),
            "within at the reference's": (
                (_WITHIN, StratumWeights.REFERENCE, None), (w_a * (r_d - r_a)).sum(),
            ),
        }  # fmt: skip
        if r_d.ndim == 2:  # Shapley's value of two columns
            both = found["composition"][1]
            alone = [_composition(*_margin(w_d, r_d, k), *_margin(w_a, r_a, k)) for k in (0, 1)]
            for k, name in enumerate(("c0", "c1")):
                value = (alone[k] + both - alone[1 - k]) / 2
                found[f"composition of column {k + 1}"] = (_COMPOSITION, _AVERAGE, name), value
        return found

    def factors(self, held: np.ndarray) -> dict[str, tuple[Part, float]]:
        """Return the parts of a ratio."""
        (w_d, w_a), (r_d, r_a) = self._of(held), self.values
        d, a, da, ad = ((w * r).sum() for w, r in (
            (w_d, r_d), (w_a, r_a), (w_d, r_a), (w_a, r_d)
        ))  # fmt: skip
        return {
            "composition": ((_COMPOSITION, _AVERAGE, None), (d * da / (ad * a)) ** 0.5),
            "within": ((_WITHIN, _AVERAGE, None), (d * ad / (da * a)) ** 0.5),
        }

    def _of(self, held: np.ndarray) -> list[np.ndarray]:
        return [np.where(held, w, 0) / w[held].sum() for w in self.shares]


def _margin(w: np.ndarray, r: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    share = w.sum(1 - k)
    return share, np.divide((w * r).sum(1 - k), share, where=share > 0, out=np.zeros_like(share))


def _composition(w_d: np.ndarray, r_d: np.ndarray, w_a: np.ndarray, r_a: np.ndarray) -> float:
    return float(((w_d - w_a) * (r_d + r_a)).sum() / 2)


def _columns(shape: tuple[int, ...]) -> dict[str, list[str]]:
    """Return the level of every cell in each column."""
    levels = np.indices(shape).reshape(len(shape), -1)
    return {f"c{k}": [f"v{i:02}" for i in each] for k, each in enumerate(levels)}


def counts(sides: Sides, rng: np.random.Generator) -> tuple[pl.DataFrame, np.ndarray]:
    """Draw counts of a rate, and which cells both sides have."""
    drawn = sides.cells(rng)
    frames = []
    for side, n, r in zip("da", drawn, sides.values, strict=True):
        x = rng.binomial(n, r)
        frames += [
            pl.DataFrame({**_columns(n.shape), "side": side, "y": y, "n": each.ravel()})
            for y, each in ((1, x), (0, n - x))
        ]
    return pl.concat(frames).filter(pl.col("n") > 0), (drawn[0] > 0) & (drawn[1] > 0)


def _rows(drawn: list[np.ndarray]) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Return the columns of rows, and the cell of each row of both sides."""
    cells = [np.repeat(np.arange(n.size), n.ravel()) for n in drawn]
    columns = {k: np.array(v)[np.concatenate(cells)] for k, v in _columns(drawn[0].shape).items()}
    return columns | {"side": np.repeat(["d", "a"], [len(each) for each in cells])}, cells


def why(data: pl.DataFrame, columns: int = 1, **options: Any) -> Gap:
    """Decompose the gap of a table as a user does it."""
    strata = [f"c{k}" for k in range(columns)]
    (gap,) = fg.why(
        data, label="y", sensitive="side", reference={"side": "a"}, strata=strata, **options
    ).gaps
    return gap


def _covers(gap: Gap, truths: Mapping[str, tuple[Part, float]]) -> Occurrences:
    return {
        f"{name} covers": holds(part.interval, truth)
        for name, ((kind, weights, column), truth) in truths.items()
        if (part := gap.part(kind, weights, column)).status == "ok" and part.interval is not None
    }


def of_ratio(sides: Sides, rng: np.random.Generator) -> Occurrences:
    """Return whether intervals of the parts of a ratio cover."""
    data, held = counts(sides, rng)
    return _covers(why(data, count="n", metrics="base_rate.ratio"), sides.factors(held))


def of_columns(sides: Sides, rng: np.random.Generator) -> Occurrences:
    """Return whether intervals of the composition of each of two columns cover."""
    data, held = counts(sides, rng)
    truths = sides.truths(held)
    return _covers(why(data, 2, count="n"), {n: t for n, t in truths.items() if "column" in n})


def of_means(sides: Sides, rng: np.random.Generator) -> Occurrences:
    """Return whether intervals of the parts of a difference of lognormal means cover."""
    drawn = sides.cells(rng)
    columns, cells = _rows(drawn)
    mean = np.concatenate([r.ravel()[at] for r, at in zip(sides.values, cells, strict=True)])
    y = mean * rng.lognormal(-(_SPREAD_OF_LOGS**2) / 2, _SPREAD_OF_LOGS, len(mean))
    gap = why(pl.DataFrame({**columns, "y": y}), task="regression")
    return _covers(gap, sides.truths((drawn[0] > 0) & (drawn[1] > 0)))


def of_clusters(
    sides: Sides, clusters: int | None, rng: np.random.Generator, *, weights: bool
) -> Occurrences:
    """Return whether intervals of clustered, or weighted, rows cover."""
    drawn = sides.cells(rng)
    columns, cells = _rows(drawn)
    rate = np.concatenate([r.ravel()[at] for r, at in zip(sides.values, cells, strict=True)])
    options = {}
    if clusters is not None:
        cluster = rng.integers(clusters, size=len(rate))
        rate = rate + rng.uniform(-_CLUSTER_REACH, _CLUSTER_REACH, clusters)[cluster]
        columns, options = {**columns, "of": cluster}, {"cluster": "of"}
    if weights:
        columns["w"] = rng.choice([1.0, 2.0, 4.0], len(rate))
        options["weight"] = "w"
    data = pl.DataFrame({**columns, "y": rng.binomial(1, rate)})
    return _covers(why(data, **options), sides.truths((drawn[0] > 0) & (drawn[1] > 0)))


def of_logistic(
    sides: Sides, log_odds: float, rng: np.random.Generator
) -> Occurrences:  # fmt: skip
    """Return whether intervals of a logistic regression on all columns cover.

    The odds ratio is the same in all cells.
    """
    data, held = counts(sides, rng)
    gap = why(data, held.ndim, count="n")
    (n_d, n_a), (w_d, w_a), (r_d, r_a) = sides.rows, sides.shares, sides.values
    truth = float(((n_d * w_d + n_a * w_a) * (r_d - r_a)).sum() / (n_d + n_a))
    each = gap.adjusted
    if each is None:
        return {}
    seen = {"average difference covers": holds(each.interval, truth)}
    if each.odds_ratio_interval is not None:
        seen["odds ratio covers"] = holds(each.odds_ratio_interval, float(np.exp(log_odds)))
    return seen


def of_linear(sides: Sides, difference: float, rng: np.random.Generator) -> Occurrences:
    """Return whether the interval of a linear regression of lognormal outcomes (HC3) covers."""
    columns, cells = _rows(sides.cells(rng))
    mean = np.concatenate([r.ravel()[at] for r, at in zip(sides.values, cells, strict=True)])
    y = mean * rng.lognormal(-(_SPREAD_OF_LOGS**2) / 2, _SPREAD_OF_LOGS, len(mean))
    gap = why(pl.DataFrame({**columns, "y": y}), sides.values[0].ndim, task="regression")
    main = gap.adjusted
    return {"difference covers": holds(main.interval, difference)} if main else {}


@dataclass(frozen=True)
class Levels:
    """A control with many small levels, over which the sides are spread unevenly.

    Attributes
    ----------
    rows : of every level.
    middle : the log odds of the outcome in a level that has hardly a row of the group.
    log_odds : of the group, in every level.
    weights, clusters : whether rows have weights of 1 to 4, and come in clusters of five.
    """

    rows: np.ndarray
    middle: float
    log_odds: float = 0.0
    weights: bool = False
    clusters: bool = False


def of_levels(law: Levels, rng: np.random.Generator) -> Occurrences:
    """Return what the regression on a control with many small levels states."""
    ours = rng.uniform(0.05, 0.95, len(law.rows))
    level = np.repeat(np.arange(len(law.rows)), law.rows)
    group = rng.random(len(level)) < ours[level]
    of_level = law.middle + 4.2 * ours[level]
    cluster = np.arange(len(level)) // 5
    if law.clusters:
        of_level = of_level + rng.normal(0, 0.5, len(level))[cluster]
    p_d, p_a = expit(of_level + law.log_odds), expit(of_level)
    data = pl.DataFrame({
        "side": np.where(group, "d", "a"), "c0": (level % 2).astype(str), "branch": level,
        "y": (rng.random(len(level)) < np.where(group, p_d, p_a)).astype(int), "of": cluster,
        "w": rng.choice([1.0, 2.0, 4.0], len(level)),
    })  # fmt: skip
    gap = why(
        data.with_columns(pl.col("branch").cast(pl.String)), controls="branch",
        weight="w" if law.weights else None, cluster="of" if law.clusters else None,
    )  # fmt: skip
    seen = {name: str(gap.regression_verdict) == name for name in ("remains", "reverses")}
    seen["no regression"] = not gap.adjusted
    if gap.adjusted:
        truth = float(np.average(p_d - p_a, weights=data["w"] if law.weights else None))
        seen["difference covers"] = holds(gap.adjusted.interval, truth)
    return seen


def _line(first: float, last: float, strata: int, within: float = 0.0) -> tuple[np.ndarray, ...]:
    theirs = np.linspace(first, last, strata)
    return theirs + within, theirs


def _additive(shape: tuple[int, ...], middle: float, reach: float) -> np.ndarray:
    """Return a sum of effects of columns in every cell."""
    at = np.meshgrid(*(np.linspace(-reach, reach, k) for k in shape), indexing="ij")
    return middle + sum(at)


def _logistic(rows: tuple[int, int], middle: float, side: float, own: float = 0.0) -> Sides:
    """Return sides of a logistic law of three columns; ``own`` is an effect of one side alone."""
    theirs = _additive((5, 4, 3), middle, 0.4)
    ours = theirs + side + own * np.linspace(-1, 1, 5)[:, None, None]
    return Sides.of(rows, 0.3, (expit(ours), expit(theirs)))


def _pay(rows: tuple[int, int]) -> Sides:
    theirs = _additive((4, 3), 40.0, 8.0)
    return Sides.of(rows, 0.3, (theirs - 2.0, theirs))


_CROSSED = expit(_additive((3, 4), 0.0, 0.7))
_WITHIN_CROSSED = (expit(logit(_CROSSED) - 0.3), _CROSSED)
_HALF = np.log(5) / 2 * 0.6


def designs() -> Iterator[Design]:
    """Yield a design for each law."""
    ratios = {
        "6 strata; 200 and 200": ((200, 200), _line(0.1, 0.8, 6)),
        "12 strata, -8 points within; 500 and 1,500": ((500, 1_500), _line(0.2, 0.8, 12, -0.08)),
        "6 strata; 1,000 and 2,000": ((1_000, 2_000), _line(0.1, 0.8, 6)),
        "6 strata; 400 and 4,000; rates 1 to 15%": ((400, 4_000), _line(0.01, 0.15, 6)),
        "40 strata, -8 points within; 800 and 2,400": ((800, 2_400), _line(0.2, 0.8, 40, -0.08)),
        "40 strata, -8 points within; 200 and 600": ((200, 600), _line(0.2, 0.8, 40, -0.08)),
        "3 strata; 150 and 300; rates 85 to 97%": ((150, 300), _line(0.85, 0.97, 3)),
    }
    for setting, (rows, values) in ratios.items():
        sides = Sides.of(rows, _HALF, values)
        yield alone("ratios", setting, _COVERED, partial(of_ratio, sides))
    for strata, rows in ((6, (200, 500)), (6, (1_000, 3_000)), (30, (300, 900))):
        sides = Sides.of(rows, _HALF, _line(20.0, 60.0, strata, -2.0))
        setting = f"lognormal, {strata} strata; {rows[0]:,} and {rows[1]:,}"
        yield alone("means", setting, _COVERED, partial(of_means, sides))
    for rows in ((72, 72), (300, 900), (1_000, 3_000)):
        sides = Sides.of(rows, 0.3, _WITHIN_CROSSED)
        setting = f"3 by 4 strata; {rows[0]:,} and {rows[1]:,}"
        yield alone("columns", setting, _COVERED, partial(of_columns, sides))
    sides = Sides.of((800, 1_600), _HALF, _line(0.3, 0.7, 6, -0.05))
    for setting, clusters, weights in (
        ("60 clusters", 60, False), ("20 clusters", 20, False), ("weights 1 to 4", None, True),
        ("60 clusters and weights 1 to 4", 60, True),
    ):  # fmt: skip
        read = partial(of_clusters, sides, clusters, weights=weights)
        yield alone("clusters", f"{setting}, 6 strata; 800 and 1,600", _COVERED, read)
    logistic = {
        "60 cells; 75 and 75": (_logistic((75, 75), -0.4, -0.5), -0.5),
        "60 cells; 200 and 200": (_logistic((200, 200), -0.4, -0.5), -0.5),
        "60 cells; 500 and 500": (_logistic((500, 500), -0.4, -0.5), -0.5),
        "60 cells; 2,500 and 2,500": (_logistic((2_500, 2_500), -0.4, -0.5), -0.5),
        "60 cells, no effect; 200 and 200": (_logistic((200, 200), -0.4, 0.0), 0.0),
        "60 cells, rates near 4%; 200 and 200": (_logistic((200, 200), -3.2, -0.3), -0.3),
    }  # fmt: skip
    for setting, (sides, log_odds) in logistic.items():
        yield alone("logistic", setting, _COVERED, partial(of_logistic, sides, log_odds))
    mixed = np.append(np.full(6, 800), np.resize(np.arange(2, 9), 254))
    branches = {
        "250 levels of 40 rows": (np.full(250, 40), -4.7, {}),
        "280 levels of 6 rows": (np.full(280, 6), -3.0, {}),
        "250 levels of 20 rows, weights 1 to 4": (np.full(250, 20), -4.0, {"weights": True}),
        "250 levels of 20 rows in clusters of 5": (np.full(250, 20), -4.0, {"clusters": True}),
        "6 levels of 800 rows, 254 of 2 to 8": (mixed, -3.5, {}),
    }
    for setting, (rows, middle, options) in branches.items():
        for log_odds, wanted in (
            (0.0, "remains, reverses at most 5"),
            (-0.5, "difference covers 95 or more"),
        ):
            effect = "no effect" if not log_odds else "log odds -0.5"
            read = partial(of_levels, Levels(rows, middle, log_odds, **options))
            yield alone("many levels", f"{setting}; {effect}", wanted, read)
    for half in (60, 200, 1_000):
        setting = f"lognormal pay, 12 cells; {half:,} and {half:,}"
        yield alone("linear", setting, _COVERED, partial(of_linear, _pay((half, half)), -2.0))
