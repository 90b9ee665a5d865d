"""Odds ratios: of two groups, and Mantel and Haenszel's of strata; published values, coverage."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import IntervalMethod, Status
from fairgauge.stats.contrasts import mover_ratio
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.stratified import mantel_haenszel_odds_ratio

Z = critical(0.95)
BERKELEY = {
    "M": [(512, 825), (353, 560), (120, 325), (138, 417), (53, 191), (22, 373)],
    "F": [(89, 108), (17, 25), (202, 593), (131, 375), (94, 393), (24, 341)],
}


def admissions(**options):
    rows = [
        {"sex": sex, "department": "ABCDEF"[i], "admitted": outcome, "people": n}
        for sex, departments in BERKELEY.items()
        for i, (admitted, applied) in enumerate(departments)
        for outcome, n in ((1, admitted), (0, applied - admitted))
    ]
    return fg.audit(
        pl.DataFrame(rows), prediction="admitted", positive=1, sensitive="sex", count="people",
        **{"metrics": ["odds ratio"], "reference": {"sex": "F"}, **options},
    )  # fmt: skip


def table(d, a, **options):
    """Audit two groups of (selected, n)."""
    counts = selected({"d": d, "a": a})
    options = {"metrics": ["odds ratio"], "reference": {"g": "a"}, **options}
    return fg.audit(counts, **options)["selection_odds.ratio", "g", "d"]


def test_berkeley_by_department_as_r_has_it():
    """R 4.4, mantelhaen.test(UCBAdmissions): 0.9046968, 95% CI 0.7719074 to 1.0603298."""
    found = [e for e in admissions(strata="department").estimates if str(e.scope.kind) == "pooled"]
    (pooled,) = found
    assert pooled.value == pytest.approx(0.9046968, abs=5e-8)
    assert tuple(pooled.interval) == pytest.approx((0.7719074, 1.0603298), abs=5e-8)
    assert pooled.interval.methods == (IntervalMethod.MANTEL_HAENSZEL,)
    assert pooled.rate_group is None  # no two odds have this ratio


@pytest.mark.parametrize(
    ("d", "a", "value", "status"),
    [
        ((0, 40), (20, 40), 0.0, Status.OK),
        ((40, 40), (20, 40), np.inf, Status.OK),
        ((20, 40), (40, 40), 0.0, Status.OK),
        ((40, 40), (40, 40), None, Status.UNDEFINED),
        ((0, 40), (0, 40), None, Status.UNDEFINED),
        ((5, 10), (20, 40), 1.0, Status.TOO_FEW),
    ],
)
def test_edges(d, a, value, status):
    found = table(d, a)
    assert (found.value, found.status) == (value, status)
    if value is not None:
        assert found.low <= value <= found.high


@given(st.tuples(*(st.integers(1, 60) for _ in range(4))))
def test_swapping_the_sides_inverts_it(cells):
    a, b, c, d = cells
    one, other = table((a, a + b), (c, c + d)), table((c, c + d), (a, a + b))
    assert one.value == pytest.approx(a * d / (b * c))
    assert one.value == pytest.approx(1 / other.value)
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low))
    assert one.p_value == pytest.approx(other.p_value)
    assert (one.p_value < 0.05) == (not one.low <= 1 <= one.high)


def limits(n1, n2):
    """Return the limits of every table with these sizes; arrays of shape (n1 + 1, n2 + 1)."""
    x1, x2 = np.meshgrid(np.arange(n1 + 1.0), np.arange(n2 + 1.0), indexing="ij")
    with np.errstate(divide="ignore"):
        sides = [
            tuple(p / (1 - p) for p in (x / n, *wilson(x, n, Z))) for x, n in ((x1, n1), (x2, n2))
        ]
    return mover_ratio(*sides[0], *sides[1])


@pytest.mark.parametrize(("n1", "n2"), [(20, 20), (30, 100)])
def test_coverage_over_every_table(n1, n2):
    low, high = limits(n1, n2)
    found = []
    for p1 in np.linspace(0.1, 0.9, 9):
        for ratio in (0.25, 0.5, 0.8, 1.0, 2.0):
            odds = p1 / (1 - p1) / ratio
            chance = np.outer(
                binom.pmf(np.arange(n1 + 1), n1, p1),
                binom.pmf(np.arange(n2 + 1), n2, odds / (1 + odds)),
            )
            near = ratio * np.array([1 + 1e-9, 1 - 1e-9])
            found.append(chance[(low <= near[0]) & (high >= near[1])].sum())
    assert min(found) > 0.935
    assert np.mean(found) > 0.95


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 40))
def test_of_matched_pairs_it_is_the_ratio_of_discordant_pairs(more, less, alike):
    """Of strata of one row a side: b / c, and Var(log) = 1/b + 1/c (Robins et al. 1986)."""
    x1 = np.repeat([1, 0, 1], [more, less, alike])
    x2 = np.repeat([0, 1, 1], [more, less, alike])
    low, high, _ = mantel_haenszel_odds_ratio(x1, np.ones(len(x1)), x2, np.ones(len(x1)), Z)
    half = Z * np.sqrt(1 / more + 1 / less)
    assert np.log(low) == pytest.approx(np.log(more / less) - half)
    assert np.log(high) == pytest.approx(np.log(more / less) + half)
