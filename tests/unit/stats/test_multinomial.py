"""Statistics of a joint table: influences, intervals that equal statistics share, and draws."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.multinomial import (
    ClassStatistic,
    WeightedKappa,
    WeightSums,
    class_counts,
    dirichlet_cells,
    influence,
    linearise,
    linearised_interval,
    multinomial_cells,
    quantile_interval,
    tail_p,
)

Z = critical(0.95)
FLEISS = np.array([[75.0, 1, 4], [5, 4, 1], [0, 0, 10]])
"""Two raters of 100 cases, as in Fleiss, Levin & Paik, chapter 18; kappa is .68."""

tables = st.integers(2, 5).flatmap(
    lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 60)).map(lambda a: a.astype(float))
)


def agreement_and_chance(counts):
    tp, fp, fn, _ = np.moveaxis(counts, -1, 0)
    first = np.eye(counts.shape[-2])[0]  # the rows are those of any one class
    return np.stack([first * counts.sum(-1), tp, (tp + fn) * (tp + fp)], axis=-1)


def beyond_chance(sums):
    rows, agreed, chance = np.moveaxis(sums, -1, 0)
    return (agreed / rows - chance / rows**2) / (1 - chance / rows**2)


kappa = ClassStatistic(agreement_and_chance, beyond_chance)


RATES = {
    "f1": lambda tp, fp, fn, _: 2 * tp / (2 * tp + fp + fn),
    "recall": lambda tp, fp, fn, _: tp / (tp + fn),
    "precision": lambda tp, fp, fn, _: tp / (tp + fp),
}


def averaged(rate, how):
    """Return the average over the classes in which a rate is defined."""
    if how == "micro":
        return ClassStatistic(np.asarray, lambda sums: rate(*np.moveaxis(sums, -1, 0)))

    def parts(counts):
        tp, _, fn, _ = cells = np.moveaxis(counts, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = rate(*cells)
        weights = np.where(np.isnan(values), 0.0, tp + fn if how == "weighted" else 1.0)
        return np.stack([weights * np.nan_to_num(values), weights], axis=-1)

    return ClassStatistic(parts, lambda sums: sums[..., 0] / sums[..., 1])


STATISTICS = {"kappa": (kappa, (-1.0, 1.0))} | {
    f"{how} {name}": (averaged(RATES[name], how), (0.0, 1.0))
    for how, name in product(("macro", "micro", "weighted"), RATES)
}


class Found(NamedTuple):
    """A statistic of a table with its interval and what that is made from."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    n_eff: np.ndarray
    degrees: np.ndarray


def statistic_interval(statistic, cells, ends, z, weights=None):
    made = linearise(statistic, cells, ends, weights)
    return Found(made.estimate, *linearised_interval(made, ends, z), *made[1:])


def fleiss_cohen_everitt(table):
    """The large-sample standard error of kappa, as published in 1969."""
    n, p = table.sum(), table / table.sum()
    rows, columns, agreed = p.sum(1), p.sum(0), np.diag(p).sum()
    chance = rows @ columns
    diagonal = sum(
        p[i, i] * ((1 - chance) - (rows[i] + columns[i]) * (1 - agreed)) ** 2 for i in range(len(p))
    )
    off = sum(
        p[i, j] * (columns[i] + rows[j]) ** 2
        for i in range(len(p))
        for j in range(len(p))
        if i != j
    )
    last = (agreed * chance - 2 * chance + agreed) ** 2
    return np.sqrt((diagonal + (1 - agreed) ** 2 * off - last) / n) / (1 - chance) ** 2


def standard_error(statistic, table):
    moved = influence(statistic, table)
    return np.sqrt((table * moved**2).sum((-1, -2))) / table.sum((-1, -2))


def test_kappa_has_the_standard_error_of_fleiss_cohen_and_everitt():
    assert kappa.value(class_counts(FLEISS)) == pytest.approx(0.676, abs=5e-4)
    assert standard_error(kappa, FLEISS) == pytest.approx(fleiss_cohen_everitt(FLEISS), rel=1e-6)


def test_macro_recall_has_the_variance_of_a_mean_of_rates():
    table = np.array([[30.0, 10, 5], [4, 20, 6], [3, 3, 40]])
    rows = table.sum(1)
    rates = np.diag(table) / rows
    expected = np.sqrt((rates * (1 - rates) / rows).sum()) / 3
    macro, _ = STATISTICS["macro recall"]
    assert standard_error(macro, table) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["micro f1", "micro recall", "micro precision"])
@given(table=tables)
def test_equal_statistics_share_one_interval(name, table):
    """Micro averages are accuracy, and accuracy is a share of the rows: Wilson's interval."""
    if not table.sum():
        return
    statistic, ends = STATISTICS[name]
    found = statistic_interval(statistic, table, ends, Z)
    low, high = wilson(np.diag(table).sum(), table.sum(), Z)
    assert found.estimate == pytest.approx(np.diag(table).sum() / table.sum())
    assert found.low == pytest.approx(float(low), abs=1e-6)
    assert found.high == pytest.approx(float(high), abs=1e-6)


@pytest.mark.parametrize("name", sorted(STATISTICS))
@given(table=tables)
def test_an_interval_holds_its_estimate_and_keeps_to_the_range(name, table):
    statistic, ends = STATISTICS[name]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = statistic_interval(statistic, table, ends, Z)
    if np.isnan(found.low):
        return
    assert ends[0] - 1e-9 <= found.low <= found.estimate <= found.high <= ends[1] + 1e-9


def test_identical_confusion_matrices_differ_by_nothing_significant():
    """The design that a Dirichlet posterior called different: p = .001, an end at 0.0."""
    shares = np.full((10, 10), 0.3 / 9)
    np.fill_diagonal(shares, 0.7)
    sides = [statistic_interval(kappa, shares * rows / 10, (-1.0, 1.0), Z) for rows in (300, 1200)]
    low, high = mover_difference(*sides[0][:3], *sides[1][:3])
    assert low < -0.04
    assert high > 0.04


def test_weights_of_one_change_nothing_and_the_unit_is_free():
    macro, ends = STATISTICS["macro f1"]
    plain = statistic_interval(macro, FLEISS, ends, Z)
    ones = statistic_interval(macro, FLEISS, ends, Z, WeightSums(FLEISS, FLEISS))
    np.testing.assert_allclose(ones[:4], plain[:4], rtol=1e-9)
    weights, squares = FLEISS * 1.5, FLEISS * 3.0
    here = statistic_interval(macro, weights, ends, Z, WeightSums(squares, FLEISS))
    there = statistic_interval(macro, weights * 1e-3, ends, Z, WeightSums(squares * 1e-6, FLEISS))
    np.testing.assert_allclose(there[:4], here[:4], rtol=1e-9)
    assert here.high - here.low > plain.high - plain.low


RNG = np.random.default_rng


def rate(cells):
    with np.errstate(invalid="ignore"):
        return cells[..., 0] / cells.sum(-1)


def test_multinomial_has_the_moments_of_a_row_bootstrap():
    draws = multinomial_cells([30, 50, 20], 40_000, RNG(0))
    np.testing.assert_allclose(draws.mean(0), [30, 50, 20], atol=0.1)
    np.testing.assert_allclose(draws.var(0), [21, 25, 16], rtol=0.03)


def test_dirichlet_has_the_moments_of_the_posterior():
    draws = dirichlet_cells([3, 0], 60_000, RNG(0))
    np.testing.assert_allclose(draws.sum(-1), 3)
    mean = 3.5 / 4
    assert rate(draws).mean() == pytest.approx(mean, abs=0.003)
    assert rate(draws).var() == pytest.approx(mean * (1 - mean) / 5, rel=0.03)


def test_posterior_tail_agrees_with_its_limits():
    draws = RNG(0).normal([0.0, 1.9, 2.1, 5.0], 1.0, (4000, 4))
    p = tail_p(draws)
    low, _ = quantile_interval(draws, 0.95)
    assert ((p < 0.05) == (low > 0)).all()
    assert p[3] == pytest.approx(2 / 4001)
    assert p[0] > 0.9
    assert tail_p([np.nan, np.nan]) == 1


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_quadratic_kappa_is_that_of_scikit_learn_and_of_the_moments(classes, seed):
    """It also is 2 cov(y, p) / (var(y) + var(p) + (mean(y) - mean(p))^2), and a mirror is equal."""
    chance = np.random.default_rng(seed)
    y, p = chance.integers(0, classes, (2, 60))
    table = np.zeros((classes, classes))
    np.add.at(table, (y, p), 1)
    found = WeightedKappa(2).of_table(table)
    theirs = cohen_kappa_score(y, p, labels=range(classes), weights="quadratic")
    assert found == pytest.approx(theirs, abs=1e-12)
    apart = y.var() + p.var() + (y.mean() - p.mean()) ** 2
    assert found == pytest.approx(2 * np.cov(y, p, ddof=0)[0, 1] / apart, abs=1e-12)
    for mirror in (table.T, table[::-1, ::-1]):
        assert WeightedKappa(2).of_table(mirror) == pytest.approx(found, abs=1e-12)
    assert WeightedKappa(0).of_table(table) == pytest.approx(kappa.value(class_counts(table)))
    moved = influence(WeightedKappa(0), table)
    assert moved == pytest.approx(influence(kappa, table), abs=1e-5)
    # the influence of a row is the derivative, whatever the weights
    step = np.zeros_like(table)
    step[y[0], p[0]] = 1e-5
    ends = [WeightedKappa(2).of_table(table + sign * step) for sign in (1, -1)]
    slope = (ends[0] - ends[1]) / 2e-5 * table.sum()
    assert influence(WeightedKappa(2), table)[y[0], p[0]] == pytest.approx(slope, abs=1e-5)
