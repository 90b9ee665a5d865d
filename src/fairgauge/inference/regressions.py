"""Regressions: the limits of what is made of labels and predictions, from sums of their powers.

A mean has Student's limits; mean squares, variances and their ratio have those of `stats.squares`,
which take fourth powers.
"""

from __future__ import annotations

from dataclasses import replace
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
from fairgauge.inference.interval import NoInterval, Sparseness, StatisticInterval, of_mean
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import quiet, quotient
from fairgauge.stats.heavy_tails import (
    FEWEST_ABSOLUTE,
    FEWEST_ABSOLUTE_ALL,
    FEWEST_SQUARED,
    FEWEST_SQUARED_ALL,
    squared_error_limits,
    unexplained_error_limits,
)
from fairgauge.stats.squares import (
    central_moments,
    square_limits,
    summed,
    tail_weight,
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
    made = of_mean(value, np.maximum(mean_square - value**2, 0.0), n)
    if statistic.of is not RegressionTerm.ABSOLUTE_ERROR:
        return made
    together = (ReasonCode.FEW_ERRORS_TOGETHER, FEWEST_ABSOLUTE_ALL)
    return replace(made, sparse=Sparseness(ReasonCode.FEW_ERRORS, n, FEWEST_ABSOLUTE, together))


@moment_interval.register(RootMeanSquaredError)
def _(statistic: RootMeanSquaredError, evidence: Evidence) -> StatisticInterval:
    return _by_fourth_powers(statistic, evidence, lambda *m: _rooted(_mean_square(*m)))


@moment_interval.register(ResidualSpread)
def _(statistic: ResidualSpread, evidence: Evidence) -> StatisticInterval:
    return _by_fourth_powers(statistic, evidence, _deviation)


@moment_interval.register(ExplainedVariance)
def _(statistic: ExplainedVariance, evidence: Evidence) -> StatisticInterval:
    return _by_fourth_powers(statistic, evidence, _explained)


def _by_fourth_powers(
    statistic: MomentStatistic, evidence: Evidence, make: Callable[[Sums, Array, Sums], Made]
) -> StatisticInterval:
    """Return limits made from sums of fourth powers, none where these are lost to rounding.

    The heavier tail is used, the group's or that of all rows.
    """
    n = evidence.rows(statistic.size)
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    every = evidence.side if evidence.everyone is None else evidence.everyone
    made, method = make(evidence.side.moments, n, every.moments)
    low, high = made(np.zeros(()))
    lost = np.isinf(high - low) & (n > 1)  # at no confidence, only these are infinite

    def at(z: Array) -> Limits:
        low, high = made(z)
        return np.where(lost, np.nan, low), np.where(lost, np.nan, high)

    together = (ReasonCode.FEW_ERRORS_TOGETHER, FEWEST_SQUARED_ALL)
    known = np.where(lost, np.inf, n)  # without limits, rounding is the reason
    return StatisticInterval(
        value,
        n,
        at,
        method,
        reason=ROUNDING if lost.any() else None,
        sparse=Sparseness(ReasonCode.FEW_ERRORS, known, FEWEST_SQUARED, together),
    )


def label_moments(m: Sums) -> Moments:
    """Return the mean of the labels and moments about it."""
    return central_moments(m["n"], m["y"], m["yy"], m["y3"], _whole(m["y4"]))


def prediction_moments(m: Sums) -> Moments:
    """Return the mean of the predictions and moments about it."""
    return central_moments(m["n"], m["p"], m["pp"], m["p3"], _whole(m["p4"]))


def _mean_square(m: Sums, n: Array, every: Sums) -> Made:
    (square, fourth), (all_square, all_fourth) = (
        (quotient(of["gap2"], of["n"]), quotient(_fourth_errors(of), of["n"])) for of in (m, every)
    )
    return (
        lambda z: squared_error_limits(square, fourth, n, (all_square, all_fourth, every["n"]), z),
        _CHI_SQUARE,
    )


@quiet
def _deviation(m: Sums, n: Array, every: Sums) -> Made:
    found, of_all = (
        central_moments(of["n"], of["p"] - of["y"], of["gap2"], of["gap3"], _fourth_errors(of))
        for of in (m, every)
    )
    weight = np.fmax(
        tail_weight(found.second, found.fourth, n),
        tail_weight(of_all.second, of_all.fourth, every["n"]),
    )
    unbiased = found.second * quotient(m["n"], m["n"] - 1)  # as the value has it
    return _rooted((lambda z: square_limits(unbiased, weight, n - 1, z), _CHI_SQUARE))


def _rooted(made: Made) -> Made:
    """Return the limits of a root from those of the square."""

    def at(z: Array) -> Limits:
        low, high = made[0](z)
        return np.sqrt(low), np.sqrt(high)

    return at, made[1]


@quiet
def _explained(m: Sums, n: Array, every: Sums) -> Made:
    """Return the limits of R²; a row moves ln(1 - R²) by e²/E - d²/V, d its label less their mean.

    The mean square of that is of fourth moments: of e², of d², and of both together.
    """
    label = label_moments(m)
    mean, v, e = label.mean, label.second, m["gap2"] / m["n"]
    spread, all_spread = _spread_of_share(m), _spread_of_share(every)
    product = (m["pp"] + m["yy"] - m["gap2"]) / 2  # of label and prediction
    together = (product - m["yy"]) / m["n"] - mean * (m["p"] - m["y"]) / m["n"]  # of e and d
    normal = 4 * np.maximum(1 - together**2 / (e * v), 0.0)
    unexplained = e / v

    def at(z: Array) -> Limits:
        low, high = unexplained_error_limits(unexplained, spread, normal, n, all_spread, z)
        lost = np.isnan(spread) & (unexplained > 0)
        low, high = np.where(lost, 0.0, low), np.where(lost, np.inf, high)
        return 1 - high, 1 - low

    return at, (IntervalMethod.LOG_DELTA, IntervalMethod.STUDENT_T)


@quiet
def _spread_of_share(m: Sums) -> Array:
    """Return the mean square of what a row moves the logarithm of 1 - R² by."""
    label = label_moments(m)
    mean, v, e = label.mean, label.second, m["gap2"] / m["n"]
    both = [m["gap2_yy"], -2 * mean * m["gap2_y"], mean**2 * m["gap2"]]  # of e²d²
    parts = [_fourth_errors(m) / e**2, *(-2 * part / (e * v) for part in both)]
    return summed([part / m["n"] for part in parts] + [label.fourth / v**2], _LEAST_SPREAD)


def _fourth_errors(m: Sums) -> Array:
    """Return the sum of the fourth powers of errors, nan where a side of them was cut off."""
    return m["gap4"] + 0.0 * (_whole(m["y4"]) + _whole(m["p4"]))


def _whole(fourths: Array) -> Array:
    return np.where(fourths < _LARGE, fourths, np.nan)
