"""Rankings: shared ranks, prefixes, divergence of random rankings, intervals of exposure."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fairgauge.stats.intervals import critical
from fairgauge.stats.rankings import (
    Ranking,
    Tilt,
    Tops,
    exposure_interval,
    ranking_divergence_interval,
    top_ratio,
    top_skew,
)

RNG = np.random.default_rng
Z = critical(0.95)


def worths(n):
    return 1 / np.log2(np.arange(2, n + 2))


def by_hand(score, codes, groups):
    """Return NDKL, place by place; ties share theirs."""
    order = np.argsort(-score, kind="stable")
    marks = np.eye(groups)[codes[order]]
    for value in np.unique(score):
        tie = score[order] == value
        marks[tie] = marks[tie].mean(axis=0)
    total = 0.0
    for i in range(1, len(score) + 1):
        held, share = marks[:i].mean(axis=0), marks.mean(axis=0)
        total += sum(p * np.log(p / q) for p, q in zip(held, share, strict=True) if p) / np.log2(
            i + 1
        )
    return total / worths(len(score)).sum()


@pytest.mark.parametrize("levels", [3, 1000])
def test_divergence_by_hand(levels):
    rng = RNG(levels)
    score, codes = rng.integers(0, levels, 60).astype(float), rng.integers(0, 3, 60)
    ranking = Ranking.of(score)
    value = ranking.divergence(codes, 3)
    assert value == pytest.approx(by_hand(score, codes, 3), rel=1e-12)
    tops = Tops.of(ranking, codes, 3)
    assert tops.divergence(tops.table) == pytest.approx(value, rel=1e-12)


def test_limits_of_a_divergence():
    codes = np.repeat([0, 1], 150)
    score = RNG(2).normal(size=300) + 0.8 * (codes == 0)
    ranking = Ranking.of(score)
    value, tops = ranking.divergence(codes, 2), Tops.of(ranking, codes, 2)
    low, high, p, floor = ranking_divergence_interval(value, tops, 0.95, RNG(0), 2000)
    assert 0 < low < value < high
    assert p < 0.01
    assert 0 < floor < value
    wide = ranking_divergence_interval(value, tops, 0.99, RNG(0), 2000)
    assert wide[0] < low
    assert wide[1] > high
    twice = Ranking.of(np.repeat(score, 9) + RNG(1).normal(0, 1e-9, 2700))
    more = Tops.of(twice, np.repeat(codes, 9), 2)
    narrow = ranking_divergence_interval(value, more, 0.95, RNG(0), 500)
    assert narrow[1] - narrow[0] < high - low
    even = ranking_divergence_interval(0.0, tops, 0.95, RNG(0), 500)
    assert even[0] == 0 < even[1]


def test_top_limits_are_wilsons():
    ci = stats.binomtest(30, 100, 0.4).proportion_ci(0.95, method="wilson")
    low, high = top_skew(30, 100, 400, 1000, Z)
    assert (low, high) == pytest.approx((np.log(ci.low / 0.4), np.log(ci.high / 0.4)))
    low, high = top_ratio(30, 70, 400, 600, Z)
    odds = [each / (1 - each) * 1.5 for each in (ci.low, ci.high)]
    assert [low, high] == pytest.approx(odds)


@pytest.mark.parametrize("slope", [-0.7, 0.7])
def test_exposure_of_a_tilt_by_enumeration(slope):
    """Given their number, groups have chances proportional to exp(b sum g)."""
    e, g = worths(14), stats.norm.ppf(1 - (np.arange(14) + 0.5) / 14)
    sets = np.array(list(combinations(range(14), 6)))
    chance = np.exp(slope * g[sets].sum(axis=1))
    chance /= chance.sum()
    total = e[sets].sum(axis=1)
    mean = chance @ total
    found = Tilt.of(e[:6], e[6:]).moments(slope)
    assert found[0] == pytest.approx(mean, rel=0.01)
    variance = chance @ (total - mean) ** 2
    assert found[1] == pytest.approx(max(variance, Tilt.of(e[:6], e[6:]).least), rel=0.06)


def test_exposure_p_is_that_of_permuted_groups():
    rng, e = RNG(3), worths(300)
    order = rng.permutation(300)
    ours = e[np.sort(order[:100]) // 2]
    theirs = np.setdiff1d(e, ours)[: 300 - 100]
    both = np.concatenate([ours, theirs])
    _, _, p = exposure_interval(ours, theirs, Z)
    centre = 100 * both.mean()
    seen = [abs(rng.permutation(both)[:100].sum() - centre) for _ in range(4000)]
    assert p == pytest.approx(np.mean(seen >= abs(ours.sum() - centre)), abs=0.02)


def test_exposure_intervals_mirror_with_the_sides():
    e = worths(120)
    ours, theirs = e[::3], np.delete(e, np.arange(0, 120, 3))
    low, high, p = exposure_interval(ours, theirs, Z)
    turned = exposure_interval(theirs, ours, Z)
    assert turned == pytest.approx((1 / high, 1 / low, p), rel=1e-5)
    value = ours.mean() / theirs.mean()
    assert low < value < high
    wide = exposure_interval(ours, theirs, critical(0.99))
    assert wide[0] < low
    assert wide[1] > high
    long = worths(12_000)
    narrow = exposure_interval(long[::3], np.delete(long, np.arange(0, 12_000, 3)), Z)
    assert narrow[1] - narrow[0] < (high - low) / 3
