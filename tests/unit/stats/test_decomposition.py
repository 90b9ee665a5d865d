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
    return [float(part.value) for part in (*found[:5], *found.columns)]


@given(STRATA)
def test_parts_add_up_to_the_gap_and_strata_to_the_parts(strata):
    x_d, n_d, x_a, n_a = sides(strata)
    found = of(x_d, n_d, x_a, n_a)
    gap = x_d.sum() / n_d.sum() - x_a.sum() / n_a.sum()
    outside, composition, within, group, reference = values(found)
    assert outside + composition + within == pytest.approx(gap, abs=1e-12)
    assert within == pytest.approx((group + reference) / 2, abs=1e-12)
    by_stratum = stratum_parts(x_d, n_d, x_a, n_a)
    assert by_stratum.composition.sum() == pytest.approx(composition, abs=1e-12)
    assert by_stratum.within.sum() == pytest.approx(within, abs=1e-12)
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


def test_ratios_multiply_and_columns_share_the_composition():
    rng = np.random.default_rng(3)
    first, second = (axis.ravel() for axis in np.meshgrid(range(3), range(4), indexing="ij"))
    n_d, n_a = rng.integers(20, 200, 12), rng.integers(20, 200, 12)
    x_d, x_a = rng.binomial(n_d, 0.4), rng.binomial(n_a, 0.5)
    found = of(x_d, n_d, x_a, n_a, columns=[first, second])
    assert sum(float(c.value) for c in found.columns) == pytest.approx(values(found)[1], abs=1e-12)
    ratio = of(x_d, n_d, x_a, n_a, ratio=True, columns=[first, second])
    outside, composition, within, *_ = values(ratio)
    whole = (x_d.sum() / n_d.sum()) / (x_a.sum() / n_a.sum())
    assert outside * composition * within == pytest.approx(whole, rel=1e-12)
    assert np.prod([float(c.value) for c in ratio.columns]) == pytest.approx(composition)
    swapped = of(x_d, n_d, x_a, n_a, columns=[second, first])
    assert [float(c.value) for c in swapped.columns[::-1]] == pytest.approx(
        [float(c.value) for c in found.columns], abs=1e-12
    )


def test_berkeley_agrees_with_statsmodels():
    """`OaxacaBlinder` of statsmodels 0.15 on the rows with dummies of departments.

    Its two-fold parts with Reimers's weights, and those of either side; reference minus group.
    """
    found = of(*WOMEN, *MEN)
    assert values(found) == pytest.approx(
        [0, -0.177673911, 0.036028483, 0.001087790, 0.070969176], abs=5e-9
    )
    by_department = stratum_parts(*WOMEN, *MEN)
    assert by_department.composition == pytest.approx(
        [-0.08187, -0.05121, -0.00747, -0.00255, -0.01912, -0.01545], abs=5e-6
    )
    assert by_department.within == pytest.approx(
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


def test_intervals_of_means_hold_their_level():
    """Lognormal outcomes in 6 strata, 400 tables of 200 and 500 rows."""
    rng = np.random.default_rng(13)
    centre = np.linspace(0, 1, 6)
    w_d = np.exp(-centre) / np.exp(-centre).sum()
    r_a = np.exp(centre + 0.18)
    truth = (w_d + 1 / 6) @ (np.exp(-0.1) * r_a - r_a) / 2
    held = 0
    for _ in range(400):
        s_d, s_a = rng.choice(6, 200, p=w_d), rng.choice(6, 500)
        y_d, y_a = rng.lognormal(centre[s_d] - 0.1, 0.6), rng.lognormal(centre[s_a], 0.6)
        sums = [np.bincount(s, y**k, 6) for s, y in ((s_d, y_d), (s_a, y_a)) for k in (1, 0, 2)]
        found = of(*sums[:2], *sums[3:5], squares=(sums[2], sums[5]))
        held += found.within.low <= truth <= found.within.high
    assert 0.925 <= held / 400 <= 0.985


@pytest.mark.parametrize(
    ("strata", "rows", "rates", "difference"),
    [(12, (500, 1500), (0.2, 0.8), -0.08), (6, (400, 4000), (0.01, 0.15), 0.0)],
)  # fmt: skip
def test_intervals_hold_their_level(strata, rows, rates, difference):
    """Of 2,000 tables, 94 to 98.5 of 100 intervals hold the truth of the strata that occur."""
    rng = np.random.default_rng(7)
    r_a = np.linspace(*rates, strata)
    r_d = r_a + difference
    w_d, w_a = (np.exp(t * np.linspace(0, 1, strata)) for t in (-1.0, 0.5))
    w_d, w_a = w_d / w_d.sum(), w_a / w_a.sum()
    n_d, n_a = (rng.multinomial(n, w, 2_000) for n, w in zip(rows, (w_d, w_a), strict=True))
    found = of(rng.binomial(n_d, r_d), n_d, rng.binomial(n_a, r_a), n_a)
    truth = {
        "composition": ((w_d - w_a) * (r_d + r_a) / 2).sum(),
        "within": difference, "within_group": difference, "within_reference": difference,
    }  # fmt: skip
    for name, value in truth.items():
        part = getattr(found, name)
        covered = ((part.low <= value) & (value <= part.high)).mean()
        assert 0.94 <= covered <= 0.985, name
