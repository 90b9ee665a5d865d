"""The designs of ``bench.coverage``, with fewer data sets, against their floors.

The page's figures come from the same functions with more data sets: ``make coverage``.
"""

from __future__ import annotations

import pytest
from bench.coverage import DESIGNS, measured, misses

_DATA_SETS = 600
_LARGE = "2,400 and 400 rows"
"""Weighted regressions of so many rows take too long."""
_CLASS_AVERAGES = [d for d in DESIGNS if "classes" in d.setting]
_SHOWN = [d for d in DESIGNS if d not in _CLASS_AVERAGES and _LARGE not in d.setting] + [
    d
    for d in _CLASS_AVERAGES
    if d.subject.endswith(("kappa", " accuracy", "macro f1", "weighted precision"))
    and "90% right, shares falling by 0.8" in d.setting
]


@pytest.mark.thorough
@pytest.mark.parametrize("design", _SHOWN, ids=lambda design: design.name)
def test_a_design_chosen_to_break_an_interval(design):
    assert not misses(design, measured(design, _DATA_SETS), _DATA_SETS)


def test_a_miss_is_reported():
    """So that the test above can fail."""
    design = next(d for d in DESIGNS if d.floors.get("coverage") == 93.5)
    low = dict.fromkeys([*design.floors, *design.ceilings], 60.0)
    assert misses(design, low, _DATA_SETS)
    assert not misses(design, dict.fromkeys(low, 94.0), _DATA_SETS)
