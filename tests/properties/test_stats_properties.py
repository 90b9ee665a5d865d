"""Laws that every interval and every test must obey, whatever the counts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.stats import contrasts, intervals, significance, unknown_people

TINY = 1e-9


def check(*strategies):
    """A property test without a deadline: a busy machine is no counterexample."""
    return lambda test: settings(deadline=None)(given(*strategies)(test))


@st.composite
def rates(draw, least=1, most=400):
    n = draw(st.integers(least, most))
    return draw(st.integers(0, n)), n


levels = st.floats(0.5, 0.999)
tables = st.tuples(rates(), rates()).map(lambda pair: (*pair[0], *pair[1]))


def one_rate(name, x, n, level):
    if name == "wilson":
        return intervals.wilson(x, n, intervals.critical(level))
    return getattr(intervals, name)(x, n, level)


def contrast(name, table, level):
    name, _, plain = name.partition(" ")
    options = {"skewness": not plain} if name.startswith("score") else {}
    return getattr(contrasts, name)(*table, intervals.critical(level), **options)


ONE = st.sampled_from(["wilson", "jeffreys", "clopper_pearson"])
DIFFERENCES = st.sampled_from(["newcombe", "score_difference", "score_difference plain"])
RATIOS = st.sampled_from(["mover_wilson_ratio", "score_ratio", "score_ratio plain"])


def swapped(table):
    x1, n1, x2, n2 = table
    return x2, n2, x1, n1


@check(ONE, rates(), levels)
def test_limits_of_a_rate_hold_the_estimate(name, rate, level):
    low, high = one_rate(name, *rate, level)
    assert 0 <= low <= rate[0] / rate[1] + TINY
    assert rate[0] / rate[1] - TINY <= high <= 1


@check(ONE, rates(), levels, levels)
def test_limits_of_a_rate_widen_with_the_level(name, rate, one, other):
    low, high = one_rate(name, *rate, np.float64(min(one, other)))
    wider_low, wider_high = one_rate(name, *rate, np.float64(max(one, other)))
    assert wider_low <= low + TINY
    assert high <= wider_high + TINY


@check(ONE, rates(), levels, st.floats(1, 100))
def test_limits_of_a_rate_narrow_with_n(name, rate, level, factor):
    low, high = one_rate(name, *rate, level)
    x, n = (factor * count for count in rate)
    more_low, more_high = one_rate(name, x, n, level)
    assert more_high - more_low <= high - low + TINY


@check(rates(), levels)
def test_failures_mirror_successes(rate, level):
    x, n = rate
    low, high = one_rate("wilson", x, n, level)
    mirrored_low, mirrored_high = one_rate("wilson", n - x, n, level)
    np.testing.assert_allclose((1 - high, 1 - low), (mirrored_low, mirrored_high), atol=TINY)


@check(DIFFERENCES, tables, levels)
def test_swapping_groups_negates_a_difference(name, table, level):
    low, high = contrast(name, table, level)
    other_low, other_high = contrast(name, swapped(table), level)
    np.testing.assert_allclose((low, high), (-other_high, -other_low), atol=1e-8)


@check(RATIOS, tables, levels)
def test_swapping_groups_inverts_a_ratio(name, table, level):
    low, high = contrast(name, table, level)
    other_low, other_high = contrast(name, swapped(table), level)
    with np.errstate(divide="ignore"):
        inverted = 1 / np.float64(other_high), 1 / np.float64(other_low)
    np.testing.assert_allclose((low, high), inverted, rtol=1e-6)


@check(DIFFERENCES, tables, levels)
def test_limits_of_a_difference_hold_the_estimate(name, table, level):
    x1, n1, x2, n2 = table
    low, high = contrast(name, table, level)
    assert -1 <= low <= x1 / n1 - x2 / n2 + TINY
    assert x1 / n1 - x2 / n2 - TINY <= high <= 1


@check(st.one_of(DIFFERENCES, RATIOS), tables, levels, levels)
def test_limits_of_a_contrast_widen_with_the_level(name, table, one, other):
    low, high = contrast(name, table, min(one, other))
    wider_low, wider_high = contrast(name, table, max(one, other))
    if "score" in name and "plain" not in name:
        return  # the skewness correction depends on the level itself: nothing is promised
    assert wider_low <= low + 1e-8
    assert high <= wider_high * (1 + 1e-8) + 1e-8


@check(DIFFERENCES, tables, levels, st.floats(1, 100))
def test_limits_of_a_difference_narrow_with_n(name, table, level, factor):
    low, high = contrast(name, table, level)
    more_low, more_high = contrast(name, tuple(factor * count for count in table), level)
    slack = TINY if name == "newcombe" else 0.02  # score limits are cut off at the border
    assert more_high - more_low <= high - low + slack


@check(tables, levels)
def test_ratio_and_difference_agree_on_equality(table, level):
    z = intervals.critical(level)
    low, high = contrasts.newcombe(*table, z)
    ratio_low, ratio_high = contrasts.mover_wilson_ratio(*table, z)
    if min(abs(low), abs(high)) > TINY:
        assert (low > 0) == (ratio_low > 1)
        assert (high < 0) == (ratio_high < 1)


@check(tables, levels)
def test_interval_and_p_agree(table, level):
    low, high = contrasts.newcombe(*table, intervals.critical(level))
    p = significance.newcombe_p(*table)
    if min(abs(low), abs(high)) > TINY:
        assert (p < 1 - level) == (low > 0 or high < 0)


@check(st.tuples(*[st.integers(0, 50)] * 3), levels)
def test_paired_ratio_holds_the_estimate_and_inverts(counts, level):
    both, over, under = counts
    z = intervals.critical(level)
    low, high = intervals.paired_ratio(both, over, under, z)
    other_low, other_high = intervals.paired_ratio(both, under, over, z)
    if both + under:
        ratio = (both + over) / (both + under)
        assert low <= ratio * (1 + TINY)
        assert ratio <= high * (1 + TINY)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose((low, high), (1 / other_high, 1 / other_low), rtol=1e-9)


p_values = st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), min_size=1, max_size=40)


@check(p_values, st.randoms())
def test_adjusted_p_values(p, shuffler):
    p = np.array(p)
    adjusted = significance.holm(p)
    known = ~np.isnan(p)
    assert (np.isnan(adjusted) == ~known).all()
    assert (adjusted[known] >= p[known]).all()
    assert (adjusted[known] <= 1).all()
    order = np.array(shuffler.sample(range(len(p)), len(p)))
    np.testing.assert_allclose(significance.holm(p[order]), adjusted[order])
    np.testing.assert_allclose(significance.holm(p[known]), adjusted[known])


@check(st.integers(1, 40), st.integers(0, 10_000))
def test_equal_weights_are_rows(n, seed):
    """Weights that are all alike are worth the rows they are."""
    y = np.random.default_rng(seed).random(n) < 0.5
    inside = float(y.sum()), float(n - y.sum())
    sums = [tuple(weight * each for each in inside) for weight in (3.0, 9.0, 1.0)]
    found = intervals.effective_share(*sums)
    assert abs(found.n - n) <= TINY
    assert found.degrees == np.inf


@check(rates(), rates(most=50))
def test_missing_labels_only_widen(known, unknown):
    low, high = unknown_people.missing_bounds(*known, *unknown)
    assert 0 <= low <= known[0] / known[1] + TINY
    assert known[0] / known[1] - TINY <= high <= 1
    assert np.ptp(unknown_people.missing_bounds(*known, 0, 0)) == 0
