"""The package as a whole: examples run, imports stay light, many strata cost little."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fairgauge.stats
from fairgauge.stats import contrasts, intervals, resampling, significance

MODULES = [f"fairgauge.stats.{m.name}" for m in pkgutil.iter_modules(fairgauge.stats.__path__)]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_scipy_is_imported_only_when_needed():
    code = f"import sys, {', '.join(MODULES)}; print('scipy' in sys.modules)"
    source = Path(fairgauge.stats.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=source
    )
    assert done.stdout.strip() == "False"


def test_two_thousand_strata_cost_little():
    n1, n2 = RNG.integers(20, 500, (2, 2000))
    x1, x2 = RNG.binomial(n1, 0.3), RNG.binomial(n2, 0.2)
    started = time.perf_counter()
    contrasts.newcombe(x1, n1, x2, n2, 1.96)
    contrasts.mover_wilson_ratio(x1, n1, x2, n2, 1.96)
    significance.newcombe_p(x1, n1, x2, n2)
    contrasts.score_difference(x1, n1, x2, n2, 0.95)
    contrasts.score_ratio(x1, n1, x2, n2, 0.95)
    assert time.perf_counter() - started < 2  # 0.07 s on an idle core


def test_strata_do_not_influence_each_other():
    table = RNG.integers(0, 30, (4, 50))
    table[1] += table[0] + 1
    table[3] += table[2]
    for function in (contrasts.score_difference, contrasts.score_ratio):
        together = np.array(function(*table, 0.95))
        alone = np.array([function(*column, 0.95) for column in table.T]).T
        np.testing.assert_array_equal(together, alone)


def test_two_thousand_replicates_of_two_hundred_cells_are_quick():
    cells = RNG.integers(1, 500, (50, 4))
    fastest = np.inf
    for _ in range(3):
        started = time.perf_counter()
        tp, fp, fn, tn = np.moveaxis(resampling.multinomial_cells(cells, 2000, RNG), -1, 0)
        rates = [(tp + fp) / (tp + fp + fn + tn), tp / (tp + fn + 1e-9), fp / (fp + tn + 1e-9)]
        limits = [resampling.percentile(rate, 0.95) for rate in rates]
        fastest = min(fastest, time.perf_counter() - started)
    assert len(limits) == 3
    assert fastest < 0.5  # 0.03 s on an idle core


def test_arrays_broadcast():
    low, high = intervals.wilson([[1], [2]], [10, 20, 30], 1.96)
    assert low.shape == high.shape == (2, 3)
    low, high = contrasts.newcombe(1, [10, 20], 2, [[30], [40]], [1.0, 2.0])
    assert low.shape == (2, 2)


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        intervals.wilson([1, 2], [1, 2, 3], 1.96)
