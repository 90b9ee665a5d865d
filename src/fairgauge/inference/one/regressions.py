"""Regressions: the limits of what is made of labels and predictions, from sums of their powers.

A mean has Student's limits, of weighted rows from the squares and cubes of the weights; that of
absolute errors those of `stats.heavy_tails`. Mean squares, variances and their ratio have those of
`stats.squares`, which take fourth powers, on the log scale by the influences of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, singledispatch

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.moments import (
    ExplainedVariance,
    Mean,
    MomentStatistic,
    RegressionTerm,
    ResidualSpread,
    RootMeanSquaredError,
    Sums,
    needs_of,
)
from fairgauge.enums import Profile
from fairgauge.inference.compared_counts import Evidence
from fairgauge.inference.interval import (
    LINEARISED,
    SKEWED_MEAN,
    NoInterval,
    Sparseness,
    StatisticInterval,
    of_mean,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Limits, quiet, quotient
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.squares import (
    FEWEST_ABSOLUTE,
    FEWEST_ABSOLUTE_ALL,
    FEWEST_SQUARED,
    FEWEST_SQUARED_ALL,
    Moments,
    absolute_error_limits,
    central_moments,
    heavier_third,
    log_limits,
    summed,
    tail_weight,
)
from fairgauge.stats.weighted import (
    MeanMoments,
    PowerSums,
    degrees_of_squares,
    effective_rows,
    mean_limits,
    mean_moments,
)

ROUNDING = Reason.of(ReasonCode.ROUNDING)
_LARGE = 1e270
"""Sums of fourth powers beyond may be of numbers that were cut off before they were multiplied."""
_LEAST_SPREAD = 1e-6
_DIGITS, _NEGLIGIBLE = 1e-12, 0.02
"""The relative error of a sum, and the largest of a third moment in units of the deviation."""

_POWERS: dict[RegressionTerm, tuple[str, str, str]] = {
    RegressionTerm.LABEL: ("y", "yy", "y3"),
    RegressionTerm.PREDICTION: ("p", "pp", "p3"),
    RegressionTerm.ERROR: ("", "gap2", "gap3"),
    RegressionTerm.ABSOLUTE_ERROR: ("gap", "gap2", "distance3"),
}
"""The sums of the powers of what a statistic is the mean of; those of errors are p less y."""
_FOURTH = {RegressionTerm.LABEL: "y4", RegressionTerm.PREDICTION: "p4"}


@singledispatch
def moment_interval(statistic: MomentStatistic, evidence: Evidence) -> StatisticInterval:
    """Return the limits of a statistic of labels and predictions by its kind."""
    del evidence
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


@moment_interval.register(Mean)
def _mean_interval(statistic: Mean, evidence: Evidence) -> StatisticInterval:
    if statistic.of is RegressionTerm.SQUARED_ERROR:
        return _on_log_scale(statistic, evidence, _MEAN_SQUARE)
    n = evidence.rows(statistic.size)
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    absolute = statistic.of is RegressionTerm.ABSOLUTE_ERROR
    if evidence.squares is None and not absolute:
        whole = (evidence.everyone or evidence).side
        about2, about3 = _central(statistic.of, evidence.side)
        third = heavier_third(about2, about3, *_central(statistic.of, whole))
        return of_mean(value, about2, third, n, _kurtosis(statistic.of, whole))
    own = _moments(statistic.of, evidence)._replace(mean=value)
    methods = SKEWED_MEAN if evidence.squares is None else LINEARISED
    if not absolute:
        return StatisticInterval(value, n, partial(mean_limits, own), methods)
    every = _moments(statistic.of, evidence.everyone or evidence)
    return StatisticInterval(
        value,
        n,
        partial(absolute_error_limits, own, every),
        methods,
        sparse=_sparseness(evidence, n, FEWEST_ABSOLUTE, FEWEST_ABSOLUTE_ALL),
    )


def _moments(term: RegressionTerm, evidence: Evidence) -> MeanMoments:
    """Return the moments of a mean, linearised where there are weights."""
    sides = (evidence.side, evidence.squares or evidence.side, evidence.cubes or evidence.side)
    if evidence.squares is not None and evidence.cubes is None:
        raise NoInterval(ReasonCode.SUMS_NOT_COUNTED)
    return mean_moments(*(_power_sums(term, side) for side in sides))


@quiet
def _central(term: RegressionTerm, side: ConfusionCounts) -> tuple[Array, Array]:
    """Return the second and the third central moment; the latter is 0 where it is not counted."""
    sums, (first, second, third) = side.moments_of(needs_of(term)), _POWERS[term]
    n = sums["n"]
    mean = (sums[first] if first else sums["p"] - sums["y"]) / n
    about2 = np.maximum(sums[second] / n - mean**2, 0.0)
    if third not in sums:
        return about2, np.zeros_like(about2)
    terms = np.stack([sums[third] / n, -3 * mean * sums[second] / n, 2 * mean**3])
    lost = _DIGITS * np.abs(terms).sum(axis=0) > _NEGLIGIBLE * about2**1.5
    return about2, np.where(lost, 0.0, terms.sum(axis=0))


def _kurtosis(term: RegressionTerm, side: ConfusionCounts) -> Array:
    """Return the kurtosis, nan where it is not counted, or lost to rounding errors."""
    sums = side.moments_of(needs_of(term))
    if _FOURTH.get(term, "gap4") not in sums:
        return np.full(sums["n"].shape, np.nan)
    if term is RegressionTerm.LABEL:
        found = label_moments(sums)
    elif term is RegressionTerm.PREDICTION:
        found = prediction_moments(sums)
    else:
        found = error_moments(sums)
    return quotient(found.fourth, found.second**2)


def _power_sums(term: RegressionTerm, side: ConfusionCounts) -> PowerSums:
    sums, (first, second, third) = side.moments_of(needs_of(term)), _POWERS[term]
    if second not in sums or third not in sums:
        raise NoInterval(ReasonCode.SUMS_NOT_COUNTED)
    total = sums[first] if first else sums["p"] - sums["y"]
    return PowerSums(sums["n"], total, sums[second], sums[third])


def _sparseness(evidence: Evidence, n: Array, fewest: int, fewest_together: int) -> Sparseness:
    every = np.where(np.isinf(n), n, (evidence.everyone or evidence).rows(_rows))
    together = Sparseness(ReasonCode.FEW_ERRORS_TOGETHER, every, fewest_together)
    return Sparseness(ReasonCode.FEW_ERRORS, n, fewest, together)


def _rows(side: ConfusionCounts) -> Array:
    return side.moments["n"]


@moment_interval.register(RootMeanSquaredError)
@moment_interval.register(ResidualSpread)
@moment_interval.register(ExplainedVariance)
def _root_or_share_interval(statistic: MomentStatistic, evidence: Evidence) -> StatisticInterval:
    if isinstance(statistic, ExplainedVariance):
        return _on_log_scale(
            statistic, evidence, _UNEXPLAINED, lambda low, high: (1 - high, 1 - low)
        )
    of = _VARIANCE if isinstance(statistic, ResidualSpread) else _MEAN_SQUARE
    return _on_log_scale(statistic, evidence, of, lambda low, high: (np.sqrt(low), np.sqrt(high)))


def _on_log_scale(
    statistic: MomentStatistic,
    evidence: Evidence,
    of: _OfSquares,
    shape: Callable[[Array, Array], Limits] = lambda low, high: (low, high),
) -> StatisticInterval:
    """Return limits made from sums of fourth powers, none where these are lost to rounding.

    The larger spread is used, the group's or that of all rows.
    """
    kish = evidence.rows(statistic.size)
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    sums, every = evidence.side.moments, (evidence.everyone or evidence).side.moments
    n, degrees = kish, np.full(kish.shape, np.inf)
    if evidence.squares is not None:
        linearised = of.influence(sums, _squared_sums(evidence))
        n = effective_rows(of.influence(sums, sums), linearised, sums["n"], kish)
        degrees = degrees_of_squares(kish, statistic.size(evidence.cases))
    base, (own, normal) = of.value(sums), of.spread(sums, n)
    spread = np.fmax(own, of.spread(every, every["n"])[0])
    lost = np.isnan(own) & (base > 0) & (n > 1)

    def at(z: Array) -> Limits:
        low, high = shape(*log_limits(base, spread, normal, n, as_critical_t(z, degrees)))
        return np.where(lost, np.nan, low), np.where(lost, np.nan, high)

    known = np.where(lost, np.inf, kish)  # without limits, rounding is the reason
    return StatisticInterval(
        value,
        kish,
        at,
        LINEARISED,
        reason=ROUNDING if lost.any() else None,
        sparse=_sparseness(evidence, known, FEWEST_SQUARED, FEWEST_SQUARED_ALL),
    )


def _squared_sums(evidence: Evidence) -> Sums:
    assert evidence.squares is not None
    if "gap4" not in evidence.squares.moments:
        raise NoInterval(ReasonCode.SUMS_NOT_COUNTED)
    return evidence.squares.moments


def label_moments(m: Sums) -> Moments:
    """Return the mean of the labels and moments about it."""
    return central_moments(m["n"], m["y"], m["yy"], m["y3"], _whole(m["y4"]))


def prediction_moments(m: Sums) -> Moments:
    """Return the mean of the predictions and moments about it."""
    return central_moments(m["n"], m["p"], m["pp"], m["p3"], _whole(m["p4"]))


@dataclass(frozen=True, slots=True)
class _OfSquares:
    """A number above 0, made of squares, whose interval is made on the log scale.

    Attributes
    ----------
    value : of the sums over a group.
    spread : the mean square of the influence of a row on its logarithm, of so many rows, nan where
        rounding errors dominate it; and that of normal values, inf where it is raised already.
    influence : the sum of squares of what each row of a group moves it by, from the sums over the
        group, over the rows of the second sums, which may be weighed otherwise.
    """

    value: Callable[[Sums], Array]
    spread: Callable[[Sums, Array], tuple[Array, Array | float]]
    influence: Callable[[Sums, Sums], Array]


def _mean_square(m: Sums) -> Array:
    return quotient(m["gap2"], m["n"])


def _mean_square_spread(m: Sums, n: Array) -> tuple[Array, float]:
    fourth = quotient(_fourth_errors(m), m["n"])
    return tail_weight(_mean_square(m), fourth, n) - 1, np.inf


def _mean_square_influence(m: Sums, rows: Sums) -> Array:
    square = _mean_square(m)
    return np.asarray(rows["gap4"] - 2 * square * rows["gap2"] + square**2 * rows["n"])


def _variance(m: Sums) -> Array:
    return error_moments(m).second * quotient(m["n"], m["n"] - 1)  # unbiased, as the value has it


def _variance_spread(m: Sums, n: Array) -> tuple[Array, float]:
    found = error_moments(m)
    return tail_weight(found.second, found.fourth, n) - 1, np.inf


@quiet
def _variance_influence(m: Sums, rows: Sums) -> Array:
    mean = (m["p"] - m["y"]) / m["n"]
    variance = m["gap2"] / m["n"] - mean**2
    e1, e2, e3, e4 = rows["p"] - rows["y"], rows["gap2"], rows["gap3"], rows["gap4"]
    second = e2 - 2 * mean * e1 + mean**2 * rows["n"]
    fourth = e4 - 4 * mean * e3 + 6 * mean**2 * e2 - 4 * mean**3 * e1 + mean**4 * rows["n"]
    return np.asarray(fourth - 2 * variance * second + variance**2 * rows["n"])


@quiet
def _unexplained(m: Sums) -> Array:
    return m["gap2"] / m["n"] / label_moments(m).second


@quiet
def _unexplained_influence(m: Sums, rows: Sums) -> Array:
    mean, e = m["y"] / m["n"], m["gap2"] / m["n"]
    v = m["yy"] / m["n"] - mean**2
    y1, y2, y3, y4 = (rows[name] for name in ("y", "yy", "y3", "y4"))
    fourth = y4 - 4 * mean * y3 + 6 * mean**2 * y2 - 4 * mean**3 * y1 + mean**4 * rows["n"]
    both = rows["gap2_yy"] - 2 * mean * rows["gap2_y"] + mean**2 * rows["gap2"]  # of e²d²
    return np.asarray(rows["gap4"] / e**2 - 2 * both / (e * v) + fourth / v**2)


@quiet
def _unexplained_spread(m: Sums, n: Array) -> tuple[Array, Array]:
    """Return the spread of ln(1 - R²); a row moves it by e²/E - d²/V, d its label less their mean.

    The mean square of that is of fourth moments: of e², of d², and of both together.
    """
    del n  # which raises it where limits are made
    label = label_moments(m)
    mean, v, e = label.mean, label.second, m["gap2"] / m["n"]
    both = [m["gap2_yy"], -2 * mean * m["gap2_y"], mean**2 * m["gap2"]]  # of e²d²
    parts = [_fourth_errors(m) / e**2, *(-2 * part / (e * v) for part in both)]
    spread = summed([part / m["n"] for part in parts] + [label.fourth / v**2], _LEAST_SPREAD)
    product = (m["pp"] + m["yy"] - m["gap2"]) / 2  # of label and prediction
    together = (product - m["yy"]) / m["n"] - mean * (m["p"] - m["y"]) / m["n"]  # of e and d
    return spread, 4 * np.maximum(1 - together**2 / (e * v), 0.0)


def _fourth_errors(m: Sums) -> Array:
    """Return the sum of the fourth powers of errors, nan where a side of them was cut off."""
    return m["gap4"] + 0.0 * (_whole(m["y4"]) + _whole(m["p4"]))


def error_moments(m: Sums) -> Moments:
    """Return the mean of the errors and moments about it."""
    return central_moments(m["n"], m["p"] - m["y"], m["gap2"], m["gap3"], _fourth_errors(m))


def _whole(fourths: Array) -> Array:
    return np.where(fourths < _LARGE, fourths, np.nan)


_MEAN_SQUARE = _OfSquares(_mean_square, _mean_square_spread, _mean_square_influence)
_VARIANCE = _OfSquares(_variance, _variance_spread, _variance_influence)
_UNEXPLAINED = _OfSquares(_unexplained, _unexplained_spread, _unexplained_influence)
