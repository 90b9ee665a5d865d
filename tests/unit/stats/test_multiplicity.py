"""Families of p-values, and many groups: all pairs, spread, sampling variation."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge.stats
from fairgauge.stats import contrasts
from fairgauge.stats.significance import (
    between_variance,
    holm,
    holm_levels,
    sidak,
    simultaneous_level,
    tukey_critical,
    tukey_p,
)


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


@pytest.mark.parametrize("groups", [2, 3, 7, 40])
def test_the_range_of_normal_numbers_agrees_with_scipy(groups):
    from scipy.stats import studentized_range

    for confidence in (0.5, 0.9, 0.99):
        expected = studentized_range.ppf(confidence, groups, np.inf) / 2**0.5
        assert tukey_critical(groups, confidence) == pytest.approx(expected, rel=1e-8)
    z = np.linspace(0.1, 5, 8)
    expected = studentized_range.sf(z * 2**0.5, groups, np.inf)
    np.testing.assert_allclose(tukey_p(z, groups), expected, rtol=1e-6, atol=1e-12)


def test_a_variance_needs_two_groups():
    assert np.isnan(between_variance([3], [10])).all()


def test_variance_between_groups_is_unbiased():
    rng = np.random.default_rng(5)
    truth = np.array([0.2, 0.3, 0.3, 0.4])
    naive, corrected = between_variance(rng.binomial(50, truth, (20_000, 4)), 50)
    assert corrected.mean() == pytest.approx(truth.var(ddof=1), abs=1.5e-4)
    assert naive.mean() > truth.var(ddof=1) + 0.003


# ---- the package as a whole: examples run, imports stay light, strata are independent
MODULES = [f"fairgauge.stats.{m.name}" for m in pkgutil.iter_modules(fairgauge.stats.__path__)]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.failed == 0


def test_scipy_is_imported_only_when_needed():
    code = f"import sys, {', '.join(MODULES)}; print('scipy' in sys.modules)"
    source = Path(fairgauge.stats.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=source
    )
    assert done.stdout.strip() == "False"


def test_strata_do_not_influence_each_other():
    table = RNG.integers(0, 30, (4, 50))
    table[1] += table[0] + 1
    table[3] += table[2]
    for function in (contrasts.score_difference, contrasts.score_ratio):
        together = np.array(function(*table, 1.96))
        alone = np.array([function(*column, 1.96) for column in table.T]).T
        np.testing.assert_allclose(together, alone, rtol=1e-13)  # numpy's tan of one and of many
