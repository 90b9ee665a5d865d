"""Tango's test by enumeration: against every table, and what its p-value promises."""

import numpy as np
import pytest
from scipy.stats import multinomial

from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import exact_p, exact_upper, paired_difference, tango_score

Z = float(critical(0.95))


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
