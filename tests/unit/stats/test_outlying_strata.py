"""Strata that differ: false alarms and power, and the strata of Berkeley."""

import numpy as np
import pytest
from scipy.stats import norm, t

from fairgauge.stats.multiplicity import holm
from fairgauge.stats.outlying_strata import (
    Outlying,
    heterogeneity,
    heterogeneity_of_means,
    smallest_outlying,
)

WOMEN = ([89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341])
MEN = ([512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373])


def test_berkeley_differs_in_one_department():
    whole, each = heterogeneity(*WOMEN, *MEN)
    assert (float(whole.statistic), float(whole.p)) == pytest.approx((18.979, 0.00194), abs=1e-3)
    assert float(each.z[0]) == pytest.approx(4.00, abs=0.005)
    assert float(each.others[0]) == pytest.approx(0.0, abs=5e-4)
    assert (holm(each.p) < 0.05).tolist() == [True] + [False] * 5


def test_swapped_sides_turn_signs_and_order_changes_nothing():
    whole, each = heterogeneity(*WOMEN, *MEN)
    turned, swapped = heterogeneity(*MEN, *WOMEN)
    assert float(turned.statistic) == pytest.approx(float(whole.statistic))
    assert swapped.z == pytest.approx(-each.z, abs=1e-9)
    back = [np.array(side)[::-1] for side in (*WOMEN, *MEN)]
    assert heterogeneity(*back)[1].p == pytest.approx(each.p[::-1])


@pytest.mark.parametrize("strata", [2, 3, 4, 5])
def test_of_few_strata_none_is_named(strata):
    """Of three that vary by 8 points, 1,000 rows a side, 33 of 100 tables would name one."""
    rows = np.full(strata, 1000)
    selected = np.array([900, 500, 500, 510, 490])[:strata]
    whole, each = heterogeneity(selected, rows, np.full(strata, 500), rows)
    assert float(whole.p) < 1e-6
    assert np.isnan(each.p).all()
    means = selected / rows
    _, each = heterogeneity_of_means(means, means / 1000, means / 1000, rows, rows)
    assert np.isnan(each.p).all()


def drawn(tables, strata, group, reference, spread, *, outlying=None, seed=5):
    rng = np.random.default_rng(seed)
    rates = np.broadcast_to(np.linspace(0.35, 0.65, strata), (tables, strata))
    differences = -0.08 + spread * rng.standard_normal((tables, strata))
    if outlying is not None:
        differences[:, 0] = outlying
    x_d = rng.binomial(group, np.clip(rates + differences, 0.001, 0.999))
    n_d, n_a = (np.full((tables, strata), n) for n in (group, reference))
    return x_d, n_d, rng.binomial(reference, rates), n_a


@pytest.mark.parametrize(
    ("strata", "rows"), [(40, (60, 180)), (40, (20, 60)), (10, (100, 300)), (40, (8, 20))]
)
@pytest.mark.parametrize("spread", [0.0, 0.08])
def test_nothing_is_named_where_nothing_stands_out(strata, rows, spread):
    """Of 600 tables at most 6 of 100 name a stratum; few strata do not show how they vary.

    2,000 tables of 10 strata with a spread of 8 points: 6.2, of 6 strata 7.3, of 40 strata 3.9.
    """
    whole, each = heterogeneity(*drawn(600, strata, *rows, spread))
    assert (holm(each.p) < 0.05).any(axis=-1).mean() <= (0.09 if spread and strata <= 10 else 0.06)
    if not spread:
        assert 0.02 <= (whole.p < 0.05).mean() <= 0.075


def test_the_smallest_outlying_distance_has_quantiles_of_the_degrees_of_each_stratum():
    degrees = np.array([np.inf, 4.0, 4.0, np.inf, 8.0])
    each = Outlying(*[np.full(5, 0.01)] * 5, degrees)
    tail = 1 - 0.05 / 5 / 2
    expected = [
        norm.ppf(tail) + norm.ppf(0.8) if np.isinf(df) else t.ppf(tail, df) + t.ppf(0.8, df)
        for df in degrees
    ]
    assert smallest_outlying(each, 0.05) == pytest.approx(0.01 * np.array(expected))
