"""Spreads: the mean and the variance of what a statistic of a regression is the mean of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.metrics import moments
from fairgauge.stats.arrays import quotient
from fairgauge.uncertainty.interval import NoInterval
from fairgauge.words import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.metrics.moments import MomentStatistic, Sums
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array

OF_A_PAIR: dict[Callable[..., Array], Callable[[Sums], Array]] = {
    moments.mean_label: lambda m: m["yy"],
    moments.mean_prediction: lambda m: m["pp"],
    moments.mean_error: lambda m: m["gap2"],
    moments.mean_absolute_error: lambda m: m["gap2"],
}
"""The sum of the squares of what a statistic is the mean of."""


def moment_spread(statistic: MomentStatistic, side: Side) -> tuple[Array, Array]:
    """Return the value of a statistic and the variance (divisor n) of what it is the mean of.

    Raises
    ------
    NoInterval
        Sums of squares do not tell how much it varies.
    """
    squares = OF_A_PAIR.get(statistic.compute)
    if squares is None:
        raise NoInterval(
            f"no interval is known for {statistic.title}: it takes sums of fourth powers, "
            "which are not counted"
        )
    mean = statistic.value(side, Profile.DOCUMENTED)
    mean_square = quotient(squares(side.moments), side.moments["n"])
    variance: Array = np.maximum(mean_square - mean**2, 0.0)
    return mean, variance
