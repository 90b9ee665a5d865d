"""Whether a row of the catalogue reads differently where the other of two outcomes is positive."""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.across import DifferentialFairness
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.distributions import Distance, ScoreDistance
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Profile, Task

_OF_ALL_OUTCOMES = (DifferentialFairness, Distance, ScoreDistance)
"""Metrics in which every outcome counts alike, as consistency does."""
_COUNTS = np.array([[11.0, 7.0, 5.0, 3.0]])
"""TP, FP, FN and TN; reversed, they are those with the other outcome as the positive one."""


def depends_on_positive(row: Metric | Statistic) -> bool:
    """Return whether a metric or rate of two outcomes is another one if the other is positive.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> depends_on_positive(find_rate("selection_rate")), depends_on_positive(find_rate("accuracy"))
    (True, False)
    """
    if Task.BINARY not in row.tasks or not row.needs & {"label", "prediction"}:
        return False
    if isinstance(row, Metric):
        alike = isinstance(row, _OF_ALL_OUTCOMES) or row.name == "consistency"
        return any(map(depends_on_positive, row.statistics)) if row.statistics else not alike
    if "score" in row.needs:
        return True
    sides = (
        ConfusionCounts(size=each.sum(axis=-1), cells={row.needs: each})
        for each in (_COUNTS, _COUNTS[:, ::-1])
    )
    one, other = (row.value(side, Profile.DOCUMENTED) for side in sides)
    return not np.allclose(one, other)
