"""Decomposition of gaps: identities that hold for all counts, and published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.decomposition import decompose, stratum_parts

Z = 1.959963984540054
WOMEN = ([89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341])
MEN = ([512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373])

CELL = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
STRATA = st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8).filter(
    lambda strata: any(d[1] and a[1] for d, a in strata)
)


def sides(strata):
    d, a = (np.array(side, dtype=float) for side in zip(*strata, strict=True))
    return d[:, 0], d[:, 1], a[:, 0], a[:, 1]


def of(x_d, n_d, x_a, n_a, **options):
    return decompose(x_d, n_d, x_a, n_a, Z, **options)


def values(found):
    return [float(part.value) for part in found[:5]]


@given(STRATA)
def test_parts_add_up_to_the_gap_and_strata_to_the_parts(strata):
    x_d, n_d, x_a, n_a = sides(strata)
    found = of(x_d, n_d, x_a, n_a)
    gap = x_d.sum() / n_d.sum() - x_a.sum() / n_a.sum()
    outside, composition, within, group, reference = values(found)
    assert outside + composition + within == pytest.approx(gap, abs=1e-12)
    assert within == pytest.approx((group + reference) / 2, abs=1e-12)
    by_stratum = [part.sum() for part in stratum_parts(x_d, n_d, x_a, n_a)]
    assert by_stratum == pytest.approx([composition, within], abs=1e-12)
    for part in (found.composition, found.within, found.within_group, found.within_reference):
        assert part.low <= part.value <= part.high


@given(STRATA)
def test_swapped_sides_turn_every_sign_and_order_changes_nothing(strata):
    x_d, n_d, x_a, n_a = sides(strata)
    found, swapped = of(x_d, n_d, x_a, n_a), of(x_a, n_a, x_d, n_d)
    outside, composition, within, group, reference = values(swapped)
    turned = [-outside, -composition, -within, -reference, -group]
    assert values(found) == pytest.approx(turned, abs=1e-12)
    assert float(found.within.low) == pytest.approx(-float(swapped.within.high), abs=1e-12)
    backwards = of(x_d[::-1], n_d[::-1], x_a[::-1], n_a[::-1])
    assert values(found) == pytest.approx(values(backwards), abs=1e-12)


def test_the_parts_of_a_ratio_multiply_to_it():
    rng = np.random.default_rng(3)
    n_d, n_a = rng.integers(20, 200, 12), rng.integers(20, 200, 12)
    x_d, x_a = rng.binomial(n_d, 0.4), rng.binomial(n_a, 0.5)
    outside, composition, within, *_ = values(of(x_d, n_d, x_a, n_a, ratio=True))
    whole = (x_d.sum() / n_d.sum()) / (x_a.sum() / n_a.sum())
    assert outside * composition * within == pytest.approx(whole, rel=1e-12)


def test_berkeley_agrees_with_statsmodels():
    """`OaxacaBlinder` of statsmodels 0.15 on the rows with dummies of departments.

    Its two-fold parts with Reimers's weights, and those of either side; reference minus group.
    """
    found = of(*WOMEN, *MEN)
    assert values(found) == pytest.approx(
        [0, -0.177673911, 0.036028483, 0.001087790, 0.070969176], abs=5e-9
    )
    by_composition, within = stratum_parts(*WOMEN, *MEN)
    assert by_composition == pytest.approx(
        [-0.08187, -0.05121, -0.00747, -0.00255, -0.01912, -0.01545], abs=5e-6
    )
    assert within == pytest.approx(
        [0.03718, 0.00550, -0.00635, 0.00331, -0.00546, 0.00185], abs=5e-6
    )
    ratio = of(*WOMEN, *MEN, ratio=True)
    assert values(ratio)[1:3] == pytest.approx([0.632087, 1.078695], abs=1e-6)


def test_means_of_zeros_and_ones_are_rates_and_a_shift_changes_no_part():
    x_d, n_d, x_a, n_a = (np.array(each, dtype=float) for each in (*WOMEN, *MEN))
    rates = values(of(x_d, n_d, x_a, n_a))
    still = of(x_d, n_d, x_a, n_a, squares=(x_d, x_a))
    assert values(still) == pytest.approx(rates, abs=1e-12)
    shifted = [x + 7 * n for x, n in ((x_d, n_d), (x_a, n_a))]
    squares = tuple(x + 14 * x + 49 * n for x, n in ((x_d, n_d), (x_a, n_a)))
    moved = of(shifted[0], n_d, shifted[1], n_a, squares=squares)
    assert values(moved) == pytest.approx(rates, abs=1e-12)
    assert float(moved.within.low) == pytest.approx(float(still.within.low), abs=1e-9)
