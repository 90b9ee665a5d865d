"""Two classifications of the same rows: literature, definition, and Tango's test by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy
from scipy.stats import chi2, multinomial

from fairgauge.stats.contrasts import mover_difference, mover_shared_difference
from fairgauge.stats.intervals import critical, paired_ratio, wilson
from fairgauge.stats.paired import (
    ClusterCounts,
    PairedTable,
    exact_p,
    exact_upper,
    paired_difference,
    paired_p,
    paired_score_ratio,
    tango_score,
)

Z = critical(0.95)

CAVO = (59, 6, 16, 80)
"""Complete response before and after consolidation therapy: both, before alone, after alone,
neither (Cavo et al. 2012), with the intervals of Fagerland, Lydersen and Laake, Statistical
Analysis of Contingency Tables (2017), chapter 8."""
BENTUR = (1, 1, 7, 12)
"""Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), likewise."""


def corrected_correlation(a, b, c, d):
    """Return phi with Newcombe's correction."""
    over = a * d - b * c
    over = max(over - (a + b + c + d) / 2, 0) if over > 0 else over
    return over / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))


def test_published_intervals_of_differences():
    a, b, c, _ = CAVO
    n = sum(CAVO)
    limits = [wilson(x, n, Z) for x in (a + b, a + c)]
    phi = corrected_correlation(*CAVO)
    newcombe = mover_difference((a + b) / n, *limits[0], (a + c) / n, *limits[1], phi)
    assert newcombe == pytest.approx((-0.1186, -0.0046), abs=5e-5)
    tango = paired_difference(1, 7, sum(BENTUR), Z)
    assert tango == pytest.approx((-0.5173, -0.0261), abs=1e-3)
    # R: PropCIs 0.3-0, scoreci.mp(25, 28, 618, 0.90)
    tango = paired_difference(28, 25, 618, critical(0.90))
    assert tango == pytest.approx((-0.0148, 0.0247), abs=5e-5)


def test_p_values_are_those_of_statsmodels():
    """`statsmodels.stats.contingency_tables.mcnemar` 0.15, exact=False, correction=False."""
    p = paired_p([6, 1], [16, 7])
    assert p == pytest.approx([0.0330062576612325, 0.033894853524689295])


def test_published_interval_of_a_ratio():
    both, first, second, _ = CAVO
    assert paired_ratio(both, first, second, Z) == pytest.approx((0.7579, 0.9910), abs=5e-5)


def test_published_score_interval_of_a_ratio():
    low, high = paired_score_ratio(*BENTUR[:3], sum(BENTUR), Z)
    assert (low, high) == pytest.approx((0.065, 0.907), abs=5e-4)


@pytest.mark.parametrize("table", [CAVO, BENTUR, (36, 12, 2, 4), (9, 3, 1, 0)])
def test_the_score_interval_of_a_ratio_solves_its_equation(table):
    """At a limit Pearson's chi-square of the restricted maximum likelihood estimates is z squared.

    They are sought on a grid of the probability of rows accepted by the second model alone.
    """
    a, b, c, _ = table
    n = sum(table)
    accepted = (a + b + c) / n
    for ratio in paired_score_ratio(a, b, c, n, Z):
        lost = np.linspace(max(0, (1 - ratio) * accepted), accepted / (1 + ratio), 400_003)[1:-1]
        both = (accepted - (1 + ratio) * lost) / ratio
        gained = accepted - both - lost
        likelihood = xlogy(a, both) + xlogy(b, gained) + xlogy(c, lost)
        best = np.argmax(likelihood)
        score = (a + b - ratio * (a + c)) / np.sqrt(n * ratio * (gained[best] + lost[best]))
        assert abs(score) == pytest.approx(Z, abs=2e-3)


DISTANCE = st.floats(0.001, 1)


@given(DISTANCE, DISTANCE, DISTANCE, DISTANCE, st.floats(-1, 1))
def test_shared_errors_are_subtracted_on_the_same_side(below, above, other, more, r):
    def limits(one, two):
        made = mover_shared_difference(0, -one[0], one[1], 0, -two[0], two[1], r)
        return [float(limit) for limit in made]

    low, high = limits((below, above), (other, more))
    back = limits((other, more), (below, above))
    assert [low, high] == pytest.approx([-back[1], -back[0]])
    assert low <= 0 <= high
    symmetric = mover_difference(0, -below, below, 0, -other, other, r)
    assert limits((below, below), (other, other)) == pytest.approx(
        [float(limit) for limit in symmetric], abs=1e-6
    )
    if r > 0:  # the same limits: only what is not shared is left
        low, high = limits((below, above), (below, above))
        half = np.sqrt((1 - r) * (below**2 + above**2))
        assert [low, high] == pytest.approx([-half, half], abs=1e-9)


@pytest.mark.parametrize("table", [CAVO, BENTUR, (36, 12, 2, 4), (0, 3, 0, 9)])
def test_tango_solves_his_score_equation(table):
    """At a limit the score of the restricted maximum likelihood estimates is the quantile."""
    a, b, c, d = table
    n = sum(table)
    for gap in paired_difference(b, c, n, Z):
        q = np.linspace(max(0.0, -gap) + 1e-9, (1 - gap) / 2 - 1e-9, 400_001)
        likelihood = xlogy(b, q + gap) + xlogy(c, q) + xlogy(a + d, 1 - 2 * q - gap)
        best = q[np.argmax(likelihood)]
        score = (b - c - n * gap) / np.sqrt(n * (2 * best + gap * (1 - gap)))
        assert abs(score) == pytest.approx(Z, abs=2e-3)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 60))
def test_the_interval_excludes_zero_just_where_mcnemar_does(better, worse, agreeing):
    low, high = paired_difference(better, worse, better + worse + agreeing, Z)
    p = float(paired_p(better, worse))
    assert (low > 0 or high < 0) == (p < 0.05)
    if better + worse:
        statistic = (better - worse) ** 2 / (better + worse)
        assert p == pytest.approx(chi2.sf(statistic, 1))


def tables(n):
    """Return all tables of n rows: better, worse."""
    better, worse = (each.ravel() for each in np.mgrid[: n + 1, : n + 1])
    return np.stack([better, worse])[:, better + worse <= n].astype(float)


def chances(n, better, worse):
    counts = tables(n)
    rest = n - counts.sum(axis=0)
    return multinomial.pmf(np.column_stack([*counts, rest]), n, [better, worse, 1 - better - worse])


def test_a_score_above_the_critical_value_is_an_interval_above_the_gap():
    better, worse = tables(40)
    low, _ = paired_difference(better, worse, 40, Z)
    score = tango_score(better, worse, np.full(better.shape, 40.0), np.array(-0.1))
    assert ((low > -0.1) == (score > Z)).all()


@pytest.mark.parametrize(("discordant", "margin"), [(0.024, 0.02), (0.02, 0.02), (0.03, 0.01)])
def test_a_rate_at_the_margin_is_rarely_called_worse(discordant, margin):
    """By the normal approximation in up to 5.2%; nearly all discordant rows are then losses."""
    n = 200
    better, worse = tables(n)
    given = chances(n, (discordant - margin) / 2, (discordant + margin) / 2)
    _, high = paired_difference(better, worse, n, Z)
    beyond = np.flatnonzero((high < -margin) & (given > 1e-7))
    false = [i for i in beyond if exact_p(better[i], worse[i], n, -margin) <= 0.025]
    assert given[beyond].sum() > 0.028
    assert 0.002 < given[false].sum() <= 0.025


def test_the_exact_limit_is_where_the_p_value_is_the_level():
    limit = exact_upper(1, 12, 300, -0.05, 0.025)
    assert exact_p(1, 12, 300, limit - 1e-4) > 0.025 >= exact_p(1, 12, 300, limit + 1e-4)
    assert exact_upper(1, 120, 300, -0.05, 0.025) == -1


def test_many_rows_have_the_p_value_of_the_normal_approximation():
    score = float(tango_score(*map(np.asarray, (4900.0, 5400.0, 1e5, -0.003))))
    assert score == pytest.approx(-1.97, abs=0.01)
    assert exact_p(4900, 5400, 1e5, -0.003) == pytest.approx(0.0244 + 5e-4, abs=3e-4)


def test_the_change_of_clustered_rows_varies_as_without_each_cluster():
    """By the delete-one jackknife, with the degrees of freedom of clusters of uneven sizes."""
    rng = np.random.default_rng(3)
    sizes = [4, 5, 6, 30, 7, 7, 40]
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    cell = rng.integers(0, 12, len(cluster))
    weights = rng.random(len(cluster)) + 0.5
    counted = np.array([True, True, False])  # of missing labels no row
    new_less_old = np.broadcast_to([[0, -1], [1, 0]], (3, 2, 2))
    moved, held = new_less_old.ravel()[cell], np.repeat(counted, 4)[cell]

    def mean(of):
        return np.average(moved[of & held], weights=weights[of & held])

    every = np.ones(len(cluster), dtype=bool)
    without = np.array([mean(cluster != k) for k in range(len(sizes))])
    total = weights[held].sum()
    of_rows = np.broadcast_to(counted[:, None, None], (3, 2, 2))
    influence = of_rows * (new_less_old - mean(every)) / total
    table = np.bincount(cell, weights, 12).reshape(1, 3, 2, 2)
    sides = ClusterCounts(cluster, cell, weights)
    pairs = PairedTable(table, table, table, clusters=[sides], cluster_count=len(sizes))
    (variance,), (degrees,) = pairs.variance_of_mean(influence[None], of_rows)
    assert variance == pytest.approx(6 / 7 * ((without - mean(every)) ** 2).sum(), abs=1e-12)
    assert degrees < 3  # two clusters have most of the rows
