"""Spreads: the mean and the variance of what a statistic is the mean of.

Scores are spread over fine bins, and a bin's middle stands for its scores (exactly, where scores
lie on an edge); regressions keep sums of squares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.metrics import moments, scores
from fairgauge.stats.arrays import quotient
from fairgauge.uncertainty.interval import NoInterval
from fairgauge.words import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.metrics.moments import MomentStatistic, Sums
    from fairgauge.metrics.scores import ScoreStatistic
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array

_SURE = 1e-12  # keeps logarithms finite, as log loss does

OF_A_SCORE: dict[Callable[..., Array], Callable[[Array, float], Array]] = {
    scores.mean_score: lambda s, _: s,
    scores.calibration_gap: lambda s, y: s - y,
    scores.brier_score: lambda s, y: (s - y) ** 2,
    scores.log_loss: lambda s, y: -np.log(np.clip(s if y else 1 - s, _SURE, 1.0)),
}
"""What a statistic is the mean of: a number of a row's score and label."""

OF_A_PAIR: dict[Callable[..., Array], Callable[[Sums], Array]] = {
    moments.mean_label: lambda m: m["yy"],
    moments.mean_prediction: lambda m: m["pp"],
    moments.mean_error: lambda m: m["gap2"],
    moments.mean_absolute_error: lambda m: m["gap2"],
}
"""The sum of the squares of what a statistic is the mean of."""


def score_spread(statistic: ScoreStatistic, side: Side) -> tuple[Array, Array]:
    """Return the value of a statistic and the variance (divisor n) of what it is the mean of.

    Raises
    ------
    NoInterval
        It is no mean of rows.
    """
    of = OF_A_SCORE.get(statistic.compute)
    if of is None or side.scores is None:
        raise NoInterval(
            f"no interval is known for {statistic.title}: it is not a mean over rows, and "
            "resampled bins would only repeat its bias"
        )
    middle = (side.scores.low + side.scores.high) / 2
    if statistic.labelled:
        counts, values = side.scores.counts, np.stack([of(middle, 1.0), of(middle, 0.0)])
    else:
        counts, values = side.scores.every[:, None], of(middle, 0.0)[None]
    rows = counts.sum(axis=(1, 2))
    mean = quotient((counts * values).sum(axis=(1, 2)), rows)
    away = (values - mean[:, None, None]) ** 2
    variance = quotient((counts * away).sum(axis=(1, 2)), rows)
    return statistic.value(side, Profile.DOCUMENTED), variance


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
