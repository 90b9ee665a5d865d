"""Adjusting families of p-values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.significance import holm, holm_levels, sidak, simultaneous_level


def test_holm():
    """Holm (1979): the smallest times m, the next times m - 1, never falling."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1, 1])


def test_levels_of_holm():
    """Of four, two are rejected: at a quarter and a third; the others are held against a half."""
    p = [0.019, 0.9, 0.001, np.nan, 0.04]
    np.testing.assert_allclose(holm_levels(p, 0.06), [0.02, 0.03, 0.015, np.nan, 0.03])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.2))
def test_a_p_value_is_at_most_its_level_just_where_holm_rejects(p, level):
    adjusted, levels = holm(p), holm_levels(p, level)
    clear = np.abs(adjusted - level) > 1e-12
    assert ((np.array(p) <= levels) == (adjusted <= level))[clear].all()
    assert (levels >= level / len(p) - 1e-12).all()
    assert (levels <= level).all()


@pytest.mark.parametrize("comparisons", [1, 2, 21, 4_000])
def test_a_single_step_adjustment_inverts_the_simultaneous_level(comparisons):
    p = np.array([1e-12, 0.0003, 0.04, 1.0, np.nan])
    adjusted = sidak(p, comparisons)
    level = 1 - simultaneous_level(comparisons, 0.95)
    assert ((adjusted < 0.05) == (p < level)).all()
    np.testing.assert_allclose(adjusted[:4], 1 - (1 - p[:4]) ** comparisons, rtol=1e-3)
    assert np.isnan(adjusted[4])
