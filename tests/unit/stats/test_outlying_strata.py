"""Strata that differ: false alarms and power, and the strata of Berkeley."""

import numpy as np
import pytest

from fairgauge.stats.significance import holm
from fairgauge.stats.stratified import heterogeneity, heterogeneity_of_means

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
