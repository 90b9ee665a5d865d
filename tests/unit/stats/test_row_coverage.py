"""Seeded simulations of the metrics of single rows: coverage of their intervals.

In the style of `test_simulated_coverage.py`: one coverage (in per cent) per scenario, floors with
three Monte-Carlo standard errors; `docs/coverage.md` has the numbers of more data sets. A
ranking's truth is its expectation at the same numbers of rows.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from tests.needs import EVERY_CASE

from fairgauge.stats.intervals import critical
from fairgauge.stats.neighbours import disagreement, jackknifed_share
from fairgauge.stats.paired import paired_difference
from fairgauge.stats.rankings import (
    Ranking,
    Tops,
    exposure_interval,
    ranking_divergence_interval,
    top_ratio,
    top_skew,
)

Z = critical(0.95)


def covered(limits, truth):
    low, high = limits
    return 100 * np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high))


def flips(rng, size):
    """Rows decided differently by chances .01 to .4, better and worse alike or not."""
    chances = ((0.01, 0.01), (0.05, 0.05), (0.2, 0.2), (0.1, 0.02), (0.3, 0.05), (0.4, 0.4))
    for n, (better, worse) in product((20, 50, 200, 2000), chances):
        drawn = rng.multinomial(n, [better, worse, 1 - better - worse], size)
        limits = paired_difference(drawn[:, 0], drawn[:, 1], n, Z)
        yield covered(limits, better - worse)


SIZES = ((20, 80), (80, 20), (50, 50), (20, 400), (200, 1000))


def ranks(rng, size, n, m, shift):
    """Return the rank (from 0) of n rows whose scores lie ``shift`` above those of m others."""
    scores = rng.standard_normal((size, n + m))
    scores[:, :n] += shift
    return np.argsort(np.argsort(-scores, axis=1), axis=1)[:, :n]


def exposures(rng, size, shifts):
    for (n, m), shift in product(SIZES, shifts):
        worth = 1 / np.log2(np.arange(2, n + m + 2))
        total = worth[ranks(rng, 20 * size, n, m, shift)].sum(axis=1).mean()
        truth = (total / n) / ((worth.sum() - total) / m)
        limits = []
        for of in ranks(rng, size, n, m, shift):
            limits.append(exposure_interval(worth[of], np.delete(worth, of), Z)[:2])
        yield covered(np.transpose(limits), truth)


def tops(rng, size, skew):
    """A fifth of all rows is the top; scores alike, or half a standard deviation apart."""
    for (n, m), shift in product((*SIZES[2:], (100, 400)), (0.0, -0.5, 0.5)):
        places = (n + m) // 5
        held = (ranks(rng, size, n, m, shift) < places).sum(axis=1)
        expected = (ranks(rng, size, n, m, shift) < places).sum(axis=1).mean()
        if skew:
            truth = np.log(expected / places / (n / (n + m)))
            yield covered(top_skew(held, places, n, n + m, Z), truth)
        else:
            truth = (expected / n) / ((places - expected) / m)
            yield covered(top_ratio(held, places - held, n, m, Z), truth)


def divergences(rng, size, shifts):
    """NDKL of two and three groups; the truth is that of the groups expected in every top."""
    for groups, shift in product(((20, 80), (50, 50), (30, 30, 30), (10, 40, 150)), shifts):
        codes = np.repeat(np.arange(len(groups)), groups)
        n = len(codes)
        scores = rng.standard_normal((20 * size, n)) + shift * (codes == 0)
        marks = codes[np.argsort(-scores, axis=1)]
        truth = 0.0
        for group in range(len(groups)):
            held = np.cumsum((marks == group).mean(axis=0)) / np.arange(1, n + 1)
            truth = truth + held * np.log(np.maximum(held, 1e-300) * n / groups[group])
        weights = 1 / np.log2(np.arange(2, n + 2))
        truth = truth @ weights / weights.sum() if shift else 0.0
        limits = []
        for score in scores[:size]:
            ranking = Ranking.of(score)
            value, found = (
                ranking.divergence(codes, len(groups)),
                Tops.of(ranking, codes, len(groups)),
            )
            limits.append(ranking_divergence_interval(value, found, 0.95, rng, 300)[:2])
        yield covered(np.transpose(limits), truth)


def neighbourhoods(rng, size):
    """Decisions by chance, rare ones, and ones that follow the features."""
    chances = {
        "even": lambda x: 0.5 + 0 * x,
        "rare": lambda x: 0.1 + 0 * x,
        "smooth": lambda x: 1 / (1 + np.exp(-3 * x)),
    }
    for n, name in product((50, 200), chances):
        away = []
        for _ in range(size):
            points = rng.standard_normal((n, 2))
            decided = (rng.random(n) < chances[name](points[:, 0])).astype(float)
            away.append(disagreement(points, decided, 5, rng))
        truth = np.mean([each[0] for each in away])
        limits = [jackknifed_share(each, n, 0.95) for each in away]
        yield covered(np.transpose(limits), truth)


# name: (study, data sets per scenario, lowest coverage in per cent that is promised)
STUDIES = {
    "flip test": (flips, 4000, 94.5),
    "exposure ratio, random rankings": (partial(exposures, shifts=(0.0,)), 300, 93.5),
    "exposure ratio, groups apart": (partial(exposures, shifts=(-0.5, 0.5)), 150, 93.5),
    "ratio at the top": (partial(tops, skew=False), 2000, 95.0),
    "skew at the top": (partial(tops, skew=True), 2000, 95.0),
    "NDKL, random rankings": (partial(divergences, shifts=(0.0,)), 300, 93.5),
    "NDKL, groups apart": (partial(divergences, shifts=(0.5,)), 100, 94.5),
    "consistency": (neighbourhoods, 150, 94.0),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", STUDIES)
def test_coverage(name):
    study, size, floor = STUDIES[name]
    size = size if EVERY_CASE else size // 3
    coverage = np.array(list(study(np.random.default_rng(20261120), size)))
    error = 100 * np.sqrt(0.95 * 0.05 / size)
    assert coverage.min() >= floor - 3 * error, coverage.round(1)
    assert coverage.mean() >= 94.0 - (0 if EVERY_CASE else 3 * error / np.sqrt(len(coverage)))
