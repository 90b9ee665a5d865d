"""Seeded simulations: coverage of intervals that cannot be enumerated.

Each entry of `STUDIES` returns one coverage (in per cent) per scenario.  A test allows for the
Monte-Carlo error of a coverage, three standard errors below its floor; the table in
`docs/coverage.md` comes from the same functions with more data sets.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.needs import EVERY_CASE

from fairgauge.catalogue.distributions import DISTANCES
from fairgauge.stats import contrasts, divergences, intervals, multiplicity, resampling
from fairgauge.stats.scores import area_from_counts, area_score_interval
from fairgauge.stats.weighted import effective_share

Z = intervals.critical(0.95)


def covered(limits, truth):
    low, high = limits
    return 100 * np.mean((low <= truth + 1e-12) & (high >= truth - 1e-12))


def odds_gaps(rng, size, least=0.0):
    """FN/FP against FN/FP: error shares .02, .1, .25, odds 1 or 1.5, `least` expected errors."""
    for n, share, odds in product((20, 50, 200, 2000), (0.02, 0.1, 0.25), (1.0, 1.5)):
        if n * share < least:
            continue
        q = odds / (1 + odds)
        sides = []
        for of in (q, 0.5):
            shares = [2 * share * of, 2 * share * (1 - of), 1 - 2 * share]
            fn, fp, _ = rng.multinomial(n, shares, size).T
            with np.errstate(divide="ignore", invalid="ignore"):
                sides += [fn / fp, *intervals.wilson_odds(fn, fp, Z)]
        yield covered(contrasts.mover_difference(*sides), odds - 1)


def odds_gaps_with_enough_errors(rng, size):
    """Those of the scenarios that expect five errors of either kind and more."""
    yield from odds_gaps(rng, size, least=5.0)


def paired_gaps(rng, size):
    """(TP+FN)/(TP+FP) against the same: acceptance .1, .3, .5, with and without a true gap."""
    for n, rate, gap in product((20, 50, 200, 2000), (0.1, 0.3, 0.5), (False, True)):
        cells_a = np.array([0.7, 0.3, 0.3]) * rate
        cells_d = np.array([0.7, 0.5, 0.2] if gap else [0.7, 0.3, 0.3]) * rate
        sides, truths = [], []
        for cells in (cells_a, cells_d):
            tp, fn, fp, _ = rng.multinomial(n, [*cells, 1 - cells.sum()], size).T
            with np.errstate(divide="ignore", invalid="ignore"):
                sides += [(tp + fn) / (tp + fp), *intervals.paired_ratio(tp, fn, fp, Z)]
            truths.append((cells[0] + cells[1]) / (cells[0] + cells[2]))
        yield covered(contrasts.mover_difference(*sides), truths[0] - truths[1])


def posterior(rng, size, n, shares, metric, joint=False):
    """Coverage of the Dirichlet interval of `metric` over tables of `n` rows per group."""
    shares = np.asarray(shares)
    if joint:
        tables = rng.multinomial(n, shares.ravel(), size).reshape(size, *shares.shape)
        hits = []
        for table in tables:
            draws = resampling.dirichlet_cells(table.ravel(), 1000, rng)
            values = metric(draws.reshape(1000, *table.shape))
            hits.append(covered(resampling.quantile_interval(values, 0.95), metric(shares)))
        return np.mean(hits)
    tables = rng.multinomial(n, shares, (size, len(shares)))
    draws = metric(resampling.dirichlet_cells(tables, 1000, rng))
    return covered(resampling.quantile_interval(draws, 0.95), metric(shares))


def f1_gap(cells):
    tp, fp, fn, _ = np.moveaxis(cells, -1, 0)
    f1 = 2 * tp / (2 * tp + fp + fn)
    return f1[..., 0] - f1[..., 1]


def entropy(cells):
    """Generalised entropy (alpha 2) of the benefits 0, 1, 2 of FN, right, FP."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    n = tp + fp + fn + tn
    mean = (tp + tn + 2 * fp) / n
    return (((tp + tn + 4 * fp) / n) / mean**2 - 1)[..., 0] / 2


def demographic(cells):
    """Conditional demographic disparity of cells (..., stratum, group, accepted)."""
    d, both = cells[..., 0, :], cells.sum(-2)
    gap = d[..., 0] / both[..., 0] - d[..., 1] / both[..., 1]
    rows = both.sum(-1)
    return (rows * gap).sum(-1) / rows.sum(-1)


def f1_gaps(rng, size):
    for n, error in product((50, 200, 2000), (0.05, 0.15)):
        cells = [
            [0.4 - error, error, error, 0.6 - error],
            [0.3 - error, error, error, 0.7 - error],
        ]
        yield posterior(rng, size, n, cells, f1_gap)


def entropies(rng, size):
    for n, error in product((20, 50, 200, 2000), (0.02, 0.1, 0.2)):
        yield posterior(rng, size, n, [[0.3, error / 2, error / 2, 0.7 - error]], entropy)


def conditional_disparities(rng, size):
    for n, rate in ((100, 0.5), (200, 0.1), (400, 0.5), (1000, 0.1), (4000, 0.02)):
        strata = [
            [[w * 0.4 * (1 - r), w * 0.4 * r], [w * 0.6 * (1 - r), w * 0.6 * r]]
            for w, r in ((0.5, rate), (0.3, 0.8 * rate), (0.2, 1.2 * rate))
        ]
        yield posterior(rng, size, n, strata, demographic, joint=True)


def _labels(k, equal):
    a = np.arange(k, 0, -1.0)
    a /= a.sum()
    d = a if equal else np.roll(a, 1) * 0.4 + a * 0.6
    return a, d


def _distances(interval, distance, equal):
    def study(rng, size):
        for n, k in product((20, 50, 200, 2000), (2, 3, 5)):
            pa, pd = _labels(k, equal)
            a, d = rng.multinomial(n, pa, size), rng.multinomial(n, pd, size)
            yield covered(interval(a, d, rng), distance(pa, pd))

    return study


def _kl(a, d, rng):
    return divergences.divergence_interval(a, d, "kl", 0.95, rng, 1000)[:2]


def _js(a, d, rng):
    return divergences.divergence_interval(a, d, "js", 0.95, rng, 1000)[:2]


def _tvd(a, d, rng):
    return divergences.norm_interval(a, d, "tvd", 0.95, rng, 1000)[:2]


def _ks(a, d, rng):
    return divergences.norm_interval(a, d, "ks", 0.95, rng, 1000)[:2]


def auc_gaps(rng, size):
    """Binormal scores, 30 % positives, areas .7/.7, .9/.9, .9/.8."""
    from statistics import NormalDist

    for n, (first, second) in product((20, 50, 200, 2000), ((0.7, 0.7), (0.9, 0.9), (0.9, 0.8))):
        m = round(0.3 * n)
        hits = []
        for _ in range(size):
            sides = []
            for area in (first, second):
                shift = NormalDist().inv_cdf(area) * np.sqrt(2)
                drawn = np.concatenate([rng.normal(shift, 1, m), rng.normal(0, 1, n - m)])
                above = (np.argsort(drawn) < m) * 1.0
                found = area_from_counts(above, 1 - above)
                sides += [found.area, *area_score_interval(*found, Z)]
            hits.append(covered(contrasts.mover_difference(*sides), first - second))
        yield np.mean(hits)


def ranges(rng, size):
    """Largest gap of G groups, all equal or spread over .15."""
    for groups, n, spread in product((2, 5, 10), (50, 200), (0.0, 0.15)):
        rates = 0.3 + spread * np.linspace(0, 1, groups)
        x = rng.binomial(n, rates, (size, groups))
        z = multiplicity.tukey_critical(groups, 0.95)
        low, high = contrasts.newcombe(x[:, :, None], n, x[:, None, :], n, z)
        yield covered((np.maximum(low.max((1, 2)), 0.0), high.max((1, 2))), spread)


def weighted_rates(rng, size):
    """Lognormal weights, unrelated or related to the outcome."""
    for n, rate, related in product((50, 100, 200, 1000), (0.1, 0.3, 0.5), (0.0, 0.5)):
        y = rng.random((size, n)) < rate
        w = np.exp(rng.normal(0, 0.7, (size, n)) + related * y)
        truth = rate * np.exp(related) / (rate * np.exp(related) + 1 - rate)
        sums = [((w**k * y).sum(1), (w**k * ~y).sum(1)) for k in (1, 2, 0)]
        found = effective_share(*sums)
        share = sums[0][0] / (sums[0][0] + sums[0][1])
        t = intervals.as_critical_t(Z, found.degrees)
        yield covered(intervals.wilson(share * found.n, found.n, t), truth)


def welch_gaps(rng, size):
    """Score minus label of two groups: bounded, skewed, of unequal spread."""
    for n1, n2 in ((20, 80), (50, 50), (200, 50)):
        moments = []
        for n, a, b in ((n1, 2.0, 5.0), (n2, 1.0, 1.0)):
            score = rng.beta(a, b, (size, n))
            gap = score - (rng.random((size, n)) < score)
            moments += [gap.mean(1), gap.var(1, ddof=1), n]
        mean1, var1, _, mean2, var2, _ = moments
        reach = intervals.critical_t(0.95, contrasts.welch_degrees(var1, n1, var2, n2))
        reach = reach * np.sqrt(var1 / n1 + var2 / n2)
        yield covered((mean1 - mean2 - reach, mean1 - mean2 + reach), 0.0)


# name: (study, data sets per scenario, lowest coverage in per cent that is promised)
STUDIES = {
    "FN/FP difference": (odds_gaps, 4000, 93.4),
    "FN/FP difference, 5 errors and more": (odds_gaps_with_enough_errors, 4000, 93.4),
    "conditional acceptance difference": (paired_gaps, 4000, 93.5),
    "conditional demographic disparity": (conditional_disparities, 1000, 93.5),
    "F1 difference": (f1_gaps, 1000, 93.5),
    "generalised entropy": (entropies, 1000, 92.5),
    "KL, equal": (_distances(_kl, DISTANCES["kl"].of_shares, True), 300, 94.0),
    "KL, unequal": (_distances(_kl, DISTANCES["kl"].of_shares, False), 300, 94.0),
    "JS, unequal": (_distances(_js, DISTANCES["js"].of_shares, False), 300, 94.0),
    "TVD, equal": (_distances(_tvd, DISTANCES["tvd"].of_shares, True), 300, 92.9),
    "TVD, unequal": (_distances(_tvd, DISTANCES["tvd"].of_shares, False), 300, 94.5),
    "KS, equal": (_distances(_ks, DISTANCES["ks"].of_shares, True), 300, 92.9),
    "KS, unequal": (_distances(_ks, DISTANCES["ks"].of_shares, False), 300, 94.5),
    "AUC difference": (auc_gaps, 500, 93.5),
    "range over groups": (ranges, 1000, 94.2),
    "weighted rate": (weighted_rates, 2000, 93.8),
    "calibration gap difference": (welch_gaps, 2000, 94.0),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", STUDIES)
def test_coverage(name):
    study, size, floor = STUDIES[name]
    size = size if EVERY_CASE else size // 3
    coverage = np.array(list(study(np.random.default_rng(20240607), size)))
    error = 100 * np.sqrt(0.95 * 0.05 / size)
    assert coverage.min() >= floor - 3 * error, coverage.round(1)
    assert coverage.mean() >= 94.0 - (0 if EVERY_CASE else 3 * error / np.sqrt(len(coverage)))
