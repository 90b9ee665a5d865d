"""Adjusting families of p-values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.multiplicity import adjust, benjamini_hochberg, holm, holm_levels


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


def test_benjamini_hochberg():
    """The example of Benjamini & Hochberg (1995), section 4: four rejections at 5 %."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4
    assert (holm(p) <= 0.05).sum() == 3


def test_nan_passes_through_and_is_not_counted():
    np.testing.assert_array_equal(holm([0.02, np.nan, 0.03]), [0.04, np.nan, 0.04])
    np.testing.assert_allclose(benjamini_hochberg([np.nan, 0.02, 0.03]), [np.nan, 0.03, 0.03])
    assert np.isnan(holm([np.nan])).all()


def test_families_along_the_last_axis():
    p = np.array([[0.01, 0.04], [0.03, np.nan]])
    np.testing.assert_allclose(holm(p), [[0.02, 0.04], [0.03, np.nan]])


def test_an_empty_family():
    adjusted, method = adjust([])
    assert adjusted.size == 0
    assert method == "holm"


def test_the_method_follows_the_number_of_comparisons():
    assert adjust([0.01] * 20)[1] == "holm"
    assert adjust([0.01] * 20 + [np.nan])[1] == "holm"
    assert adjust([0.01] * 21)[1] == "benjamini-hochberg"
    with pytest.raises(ValueError, match=r"one family is a list of p-values; found shape \(1, 2\)"):
        adjust([[0.1, 0.2]])
