"""Regressions: the limits of what is made of labels and predictions, from sums of their powers.

A mean has Student's limits; mean squares, variances and their ratio have those of `stats.squares`,
which take fourth powers.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairgauge.catalogue.moments import (
    ExplainedVariance,
    Mean,
    MomentStatistic,
    RegressionTerm,
    ResidualSpread,
    RootMeanSquaredError,
)
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.interval import NoInterval, StatisticInterval, of_mean
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import quiet, quotient
from fairgauge.stats.squares import (
    central_moments,
    square_limits,
    summed,
    tail_weight,
    unexplained_limits,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.moments import Sums
    from fairgauge.inference.evidence import Evidence
    from fairgauge.inference.interval import At, Methods
    from fairgauge.stats.arrays import Limits
    from fairgauge.stats.squares import Moments

Made: TypeAlias = "tuple[At, Methods]"

ROUNDING = Reason.of(ReasonCode.ROUNDING)
_LARGE = 1e270
"""Sums of fourth powers beyond may be of numbers that were cut off before they were multiplied."""
_LEAST_SPREAD = 1e-6
_CHI_SQUARE = (IntervalMethod.KURTOSIS_CHI_SQUARE,)

_SQUARES: dict[RegressionTerm, str] = {
    RegressionTerm.LABEL: "yy",
    RegressionTerm.PREDICTION: "pp",
    RegressionTerm.ERROR: "gap2",
    RegressionTerm.ABSOLUTE_ERROR: "gap2",
}
"""The sum of the squares of what a statistic is the mean of."""


@singledispatch
def moment_interval(statistic: MomentStatistic, evidence: Evidence) -> StatisticInterval:
    """Return the limits of a statistic of labels and predictions by its kind.

    Raises
    ------
    NoInterval
        Nothing is known of how it varies, or rows are tied by clusters.
    """
    del evidence
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


@moment_interval.register(Mean)
def _(statistic: Mean, evidence: Evidence) -> StatisticInterval:
    if statistic.of is RegressionTerm.SQUARED_ERROR:
        return _by_fourth_powers(statistic, evidence, _mean_square)
    n, sums = evidence.rows(statistic.size), evidence.side.moments
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    mean_square = quotient(sums[_SQUARES[statistic.of]], sums["n"])
    return of_mean(value, np.maximum(mean_square - value**2, 0.0), n)


@moment_interval.register(RootMeanSquaredError)
def _(statistic: RootMeanSquaredError, evidence: Evidence) -> StatisticInterval:
    return _by_fourth_powers(statistic, evidence, lambda m, n: _rooted(_mean_square(m, n)))


@moment_interval.register(ResidualSpread)
def _(statistic: ResidualSpread, evidence: Evidence) -> StatisticInterval:
    return _by_fourth_powers(statistic, evidence, _deviation)


@moment_interval.register(ExplainedVariance)
def _(statistic: ExplainedVariance, evidence: Evidence) -> StatisticInterval:
    return _by_fourth_powers(statistic, evidence, _explained)


def _by_fourth_powers(
    statistic: MomentStatistic, evidence: Evidence, make: Callable[[Sums, Array], Made]
) -> StatisticInterval:
    """Return limits made from sums of fourth powers, none where these are lost to rounding."""
    n = evidence.rows(statistic.size)
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    made, method = make(evidence.side.moments, n)
    low, high = made(np.zeros(()))
    lost = np.isinf(high - low) & (n > 1)  # at no confidence, only these are infinite

    def at(z: Array) -> Limits:
        low, high = made(z)
        return np.where(lost, np.nan, low), np.where(lost, np.nan, high)

    return StatisticInterval(value, n, at, method, reason=ROUNDING if lost.any() else None)


def label_moments(m: Sums) -> Moments:
    """Return the mean of the labels and moments about it."""
    return central_moments(m["n"], m["y"], m["yy"], m["y3"], _whole(m["y4"]))


def prediction_moments(m: Sums) -> Moments:
    """Return the mean of the predictions and moments about it."""
    return central_moments(m["n"], m["p"], m["pp"], m["p3"], _whole(m["p4"]))


def _mean_square(m: Sums, n: Array) -> Made:
    square, fourth = quotient(m["gap2"], m["n"]), quotient(_fourth_errors(m), m["n"])
    weight = tail_weight(square, fourth, n)
    return lambda z: square_limits(square, weight, n, z), _CHI_SQUARE


@quiet
def _deviation(m: Sums, n: Array) -> Made:
    found = central_moments(m["n"], m["p"] - m["y"], m["gap2"], m["gap3"], _fourth_errors(m))
    weight = tail_weight(found.second, found.fourth, n)
    unbiased = found.second * quotient(m["n"], m["n"] - 1)  # as the value has it
    return _rooted((lambda z: square_limits(unbiased, weight, n - 1, z), _CHI_SQUARE))


def _rooted(made: Made) -> Made:
    """Return the limits of a root from those of the square."""

    def at(z: Array) -> Limits:
        low, high = made[0](z)
        return np.sqrt(low), np.sqrt(high)

    return at, made[1]


@quiet
def _explained(m: Sums, n: Array) -> Made:
    """Return the limits of R²; a row moves ln(1 - R²) by e²/E - d²/V, d its label less their mean.

    The mean square of that is of fourth moments: of e², of d², and of both together.
    """
    label = label_moments(m)
    mean, v = label.mean, label.second
    e = m["gap2"] / m["n"]
    both = [m["gap2_yy"], -2 * mean * m["gap2_y"], mean**2 * m["gap2"]]  # of e²d²
    parts = [_fourth_errors(m) / e**2, *(-2 * part / (e * v) for part in both)]
    spread = summed([part / m["n"] for part in parts] + [label.fourth / v**2], _LEAST_SPREAD)
    product = (m["pp"] + m["yy"] - m["gap2"]) / 2  # of label and prediction
    together = (product - m["yy"]) / m["n"] - mean * (m["p"] - m["y"]) / m["n"]  # of e and d
    normal = 4 * np.maximum(1 - together**2 / (e * v), 0.0)
    unexplained = e / v

    def at(z: Array) -> Limits:
        low, high = unexplained_limits(unexplained, spread, normal, n, z)
        return 1 - high, 1 - low

    return at, (IntervalMethod.LOG_DELTA, IntervalMethod.STUDENT_T)


def _fourth_errors(m: Sums) -> Array:
    """Return the sum of the fourth powers of errors, nan where a side of them was cut off."""
    return m["gap4"] + 0.0 * (_whole(m["y4"]) + _whole(m["p4"]))


def _whole(fourths: Array) -> Array:
    return np.where(fourths < _LARGE, fourths, np.nan)
