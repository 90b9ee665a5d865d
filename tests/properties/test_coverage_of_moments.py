"""Every number of a regression covers the truth as often as it says, simulated with a seed.

The table in `docs/coverage.md` comes from the same functions with more data sets.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.cells import ConfusionCounts, Scores
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_metric
from fairgauge.catalogue.moments import MomentStatistic
from fairgauge.enums import Profile
from fairgauge.inference import Comparisons, Evidence, Uncertainty
from fairgauge.question.specification import Spec
from fairgauge.resolve.sides import PREDICTION

RATE = {row.name: row for row in RATES if isinstance(row, MomentStatistic)}
SQUARES = ("mean_squared_error", "root_mean_squared_error", "residual_spread", "r2")
ERRORS = {
    "normal": (lambda rng, shape: rng.normal(size=shape)),
    "t5": (lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3)),
    "uniform": (lambda rng, shape: rng.uniform(-1, 1, shape) * np.sqrt(3)),
    "exponential": (lambda rng, shape: rng.exponential(size=shape) - 1),
}
"""Errors of mean 0 and variance 1, of short, normal, long and one-sided tails."""


def side(y, p):
    """Return the sums of many data sets; arrays of shape (sets, rows)."""
    gap = p - y
    sums = {
        "n": np.full(len(y), float(y.shape[1])),
        "gap": np.abs(gap).sum(1),
        "distance3": (np.abs(gap) ** 3).sum(1),
        "gap2_y": (gap**2 * y).sum(1),
        "gap2_yy": (gap**2 * y**2).sum(1),
    }
    for name, of in (("y", y), ("p", p), ("gap", gap)):
        for power in range(1, 5):
            sums.setdefault(f"{name}{power}", (of**power).sum(1))
    sums |= {"y": sums["y1"], "p": sums["p1"], "yy": sums["y2"], "pp": sums["p2"]}
    return ConfusionCounts(size=sums["n"], moments=sums)


def evidence(y, p):
    return Evidence(side(y, p), side(y, p))


def covered(low, high, truth):
    known = ~np.isnan(low)
    assert known.all()
    return 100 * np.mean((low <= truth) & (truth <= high))


def made(rng, errors, shape, *, explained=0.6, scale=1.0):
    """Return labels, and predictions that explain a share of their variance, off by .3 on average.

    The truth of every statistic comes with them.
    """
    signal = ERRORS["normal"](rng, shape) * np.sqrt(explained)
    error = ERRORS[errors](rng, shape) * np.sqrt(1 - explained)
    variance, bias = scale**2, 0.3 * scale
    truth = {"mean_squared_error": (1 - explained) * variance + bias**2}
    truth["root_mean_squared_error"] = np.sqrt(truth["mean_squared_error"])
    truth["residual_spread"] = np.sqrt((1 - explained) * variance)
    truth["r2"] = 1 - truth["mean_squared_error"] / variance
    return scale * (signal + error) + 40, scale * signal + bias + 40, truth


def one_group(rng, sets, errors, sizes=(20, 50, 200, 1_000)):
    """Limits of each statistic of one group."""
    for n, explained in product(sizes, (0.3, 0.9)):
        y, p, truth = made(rng, errors, (sets, n), explained=explained)
        of = evidence(y, p)
        margin = np.ones(sets, dtype=bool)
        for name in SQUARES:
            ((found, _),) = Uncertainty(Spec()).of_rates([RATE[name]], of, margin)
            yield (name, n, explained), covered(found.low, found.high, truth[name])


def two_groups(rng, sets, errors, by):
    """Limits of a difference or ratio, of equal and of unequal groups."""
    sizes = ((50, 50, 1.0), (50, 400, 1.0), (50, 400, 1.5), (400, 50, 1.5))
    for n, m, scale in sizes:
        ours, theirs = made(rng, errors, (sets, n), scale=scale), made(rng, errors, (sets, m))
        pair = evidence(*ours[:2]), evidence(*theirs[:2])
        compared = Comparisons(*pair, None, np.ones(sets, dtype=bool))
        for name in SQUARES:
            if (name, by) == ("r2", "ratio"):
                continue
            metric = find_metric(f"{name}.{by}")
            assert isinstance(metric, Contrast)
            value = metric.value(pair[0].side, pair[1].side, Profile.DOCUMENTED)
            found = Uncertainty(Spec()).of_metric(metric, compared, value)
            one, two = ours[2][name], theirs[2][name]
            right = one - two if by == "difference" else one / two
            yield (name, n, m, scale), covered(found.low, found.high, right)


def standardised(rng, sets, errors, overall=False):
    """Limits of the standardised difference of labels, of unequal sizes and spreads."""
    sizes = ((20, 20, 1.0), (20, 80, 1.0), (30, 200, 2.0), (30, 200, 0.5), (200, 200, 1.0))
    metric = find_metric("label_smd")
    for (n, m, scale), d in product(sizes, (0.0, 0.5, 1.5)):
        one = scale * ERRORS[errors](rng, (sets, n)) + d
        two = ERRORS[errors](rng, (sets, m))
        groups = [evidence(each, 0 * each) for each in (one, two)]
        whole = evidence(*(np.concatenate([one, two], 1) * factor for factor in (1, 0)))
        reference, rest = (whole, groups[1]) if overall else (groups[1], None)
        margin = np.ones(sets, dtype=bool)
        compared = Comparisons(groups[0], reference, rest, margin)
        value = metric.value(groups[0].side, reference.side, Profile.DOCUMENTED)
        found = Uncertainty(Spec()).of_metric(metric, compared, value)
        share = n / (n + m)
        if overall:
            squares = 2 * n * scale**2 + m + n * (1 - share) * d**2
            right = (1 - share) * d / np.sqrt(squares / (2 * n + m))
        else:
            right = d / np.sqrt(share * scale**2 + 1 - share)
        yield (n, m, scale, d), covered(found.low, found.high, right)


def scores(rng, sets):
    """Limits of the standardised difference of scores, from bins of a hundredth."""
    metric = find_metric("score_smd")
    edges = np.linspace(0, 1, 101)
    for (n, m), (a, b) in product(((40, 160), (200, 200)), ((2.0, 3.0), (1.0, 4.0))):
        drawn = rng.beta(a, b, (sets, n)), rng.beta(2.0, 3.0, (sets, m))
        pair = []
        for each in drawn:
            at = np.arange(sets)[:, None] * 100 + np.minimum((each * 100).astype(int), 99)
            every = np.bincount(at.ravel(), minlength=100 * sets).reshape(sets, 100).astype(float)
            none = np.zeros((sets, 2, 100))
            held = Scores(
                edges[:-1],
                edges[1:],
                (edges[:-1] + edges[1:]) / 2,
                none,
                every,
                none,
                {},
                each.sum(1),
                (each**2).sum(1),
            )
            group = ConfusionCounts(size=np.full(sets, float(each.shape[1])), scores=held)
            pair.append(Evidence(group, group))
        compared = Comparisons(*pair, None, np.ones(sets, dtype=bool))
        value = metric.value(pair[0].side, pair[1].side, Profile.DOCUMENTED)
        found = Uncertainty(Spec()).of_metric(metric, compared, value)
        moments = [(x / (x + y), x * y / (x + y) ** 2 / (x + y + 1)) for x, y in ((a, b), (2, 3))]
        pooled = (n * moments[0][1] + m * moments[1][1]) / (n + m)
        right = (moments[0][0] - moments[1][0]) / np.sqrt(pooled)
        yield (n, m, a), covered(found.low, found.high, right)


def selection(rng, sets):
    """Limits of the standardised difference of selection rates."""
    metric = find_metric("selection_smd")
    for n, m, p, q in ((30, 120, 0.5, 0.5), (50, 200, 0.2, 0.5), (200, 200, 0.05, 0.1)):
        pair = []
        for rows, rate in ((n, p), (m, q)):
            chosen = rng.binomial(rows, rate, sets).astype(float)
            zero = np.zeros(sets)
            cells = np.stack([chosen, zero, zero, rows - chosen], axis=-1)
            group = ConfusionCounts(size=np.full(sets, float(rows)), cells={PREDICTION: cells})
            pair.append(Evidence(group, group))
        compared = Comparisons(*pair, None, np.ones(sets, dtype=bool))
        value = metric.value(pair[0].side, pair[1].side, Profile.DOCUMENTED)
        found = Uncertainty(Spec(replicates=1_000)).of_metric(metric, compared, value)
        spread = (n * p * (1 - p) + m * q * (1 - q)) / (n + m)
        yield (n, m, p, q), covered(found.low, found.high, (p - q) / np.sqrt(spread))


def overall_selection(rng, sets):
    """Limits of the difference of selection rates in standard deviations of all rows."""
    metric = find_metric("selection_smd_overall")
    studies = (
        ((30, 120, 500), (0.3, 0.6, 0.5)),
        ((50, 200, 50), (0.2, 0.5, 0.3)),
        ((40, 1000, 2000), (0.8, 0.95, 0.9)),
        ((50, 5000, 500), (0.02, 0.02, 0.03)),
        ((1000, 1000, 0), (0.1, 0.9, 0.5)),
    )
    for sizes, rates in studies:
        counted = []
        for rows, rate in zip(sizes, rates, strict=True):
            chosen = rng.binomial(rows, rate, sets).astype(float)
            zero = np.zeros(sets)
            counted.append(np.stack([chosen, zero, zero, rows - chosen], axis=-1))
        all_rows = ConfusionCounts(np.full(sets, 1.0 * sum(sizes)), {PREDICTION: sum(counted)})
        sides = [
            ConfusionCounts(cells.sum(axis=-1), {PREDICTION: cells}, overall=all_rows)
            for cells in counted[:2]
        ]
        pair = [Evidence(each, each) for each in sides]
        compared = Comparisons(*pair, None, np.ones(sets, dtype=bool))
        value = metric.value(*sides, Profile.DOCUMENTED)
        found = Uncertainty(Spec()).of_metric(metric, compared, value)
        overall = np.average(rates, weights=sizes)
        right = 100 * (rates[0] - rates[1]) / np.sqrt(overall * (1 - overall))
        yield (sizes, rates), covered(found.low, found.high, right)


# name: (study, its options, lowest coverage in per cent that is promised)
STUDIES = {
    "one group, normal": (one_group, ("normal",), 94.0),
    "one group, t5": (one_group, ("t5",), 92.0),
    "one group, uniform": (one_group, ("uniform",), 94.0),
    "one group, exponential": (one_group, ("exponential",), 84.0),
    "difference, normal": (two_groups, ("normal", "difference"), 94.0),
    "difference, t5": (two_groups, ("t5", "difference"), 93.0),
    "ratio, normal": (two_groups, ("normal", "ratio"), 94.0),
    "ratio, t5": (two_groups, ("t5", "ratio"), 93.0),
    "standardised, normal": (standardised, ("normal",), 94.0),
    "standardised, t5": (standardised, ("t5",), 93.0),
    "standardised, exponential": (standardised, ("exponential",), 91.0),
    "standardised, of all": (standardised, ("normal", True), 93.5),
    "standardised scores": (scores, (), 94.0),
    "standardised selection": (selection, (), 93.0),
    "selection in overall deviations": (overall_selection, (), 94.0),
}
SETS = 500


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", STUDIES)
def test_coverage(name):
    study, options, floor = STUDIES[name]
    coverage = dict(study(np.random.default_rng(20261120), SETS, *options))
    error = 100 * np.sqrt(0.95 * 0.05 / SETS)
    assert min(coverage.values()) >= floor - 3 * error, coverage
    assert max(coverage.values()) <= 99.5, coverage
