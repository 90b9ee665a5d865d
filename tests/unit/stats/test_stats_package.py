"""The package as a whole: examples run, imports stay light, strata are independent."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fairgauge.stats
from fairgauge.stats import contrasts, intervals

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


def test_arrays_broadcast():
    low, high = intervals.wilson([[1], [2]], [10, 20, 30], 1.96)
    assert low.shape == high.shape == (2, 3)
    low, high = contrasts.newcombe(1, [10, 20], 2, [[30], [40]], [1.0, 2.0])
    assert low.shape == (2, 2)


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match="shape mismatch"):
        intervals.wilson([1, 2], [1, 2, 3], 1.96)
