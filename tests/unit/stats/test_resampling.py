"""Drawing cells instead of rows."""

import numpy as np
import pytest

from fairgauge.stats.multinomial import (
    dirichlet_cells,
    multinomial_cells,
    quantile_interval,
    tail_p,
)

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
