"""Regression of counts: the difference between two sides, adjusted for columns.

Counts are sufficient: the fit, by statsmodels, is that of the rows. Of rates the regression is
logistic, and the adjusted difference the average marginal effect, a difference of standardised
rates, and not the odds ratio, which changes with what is adjusted for even where nothing confounds
(non-collapsibility). Of means it is linear.

Variances are those of the influences of rows, or of clusters. They are not taken from statsmodels:
`get_margeff` averages over lines where ``freq_weights`` count people, and HC3 of its GLM is HC0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.enums import WhyNoRegression
from fairgauge.errors import MissingExtra
from fairgauge.stats.arrays import Array, Index, Mask, floats, quiet
from fairgauge.stats.intervals import t_from_z
from fairgauge.stats.sampling import Sampling, SquaredWeights
from fairgauge.stats.significance import two_sided

FEWEST_EVENTS = 5.0
"""Effective successes, and failures, that either side needs: of fewer the normal distribution of
the effect is far off."""
# columns of the design above which no regression is fitted
_MOST_COLUMNS = 300
# of a coefficient: beyond, a combination of columns separates the outcomes
_SEPARATED = 15.0
# below this share of its square, what is left of a column beside those before it is rounding.
_COLLINEAR = 1e-10
# below this share of what it is the difference of, a number may be that of rounding alone
_ROUNDING = 1e-13
_LEAST_OF_HC2 = 0.9
# scipy's normal tail is 6e-300 beyond it, and 0 beyond 38
_LARGEST_Z = 37.0


class AdjustedEffect(NamedTuple):
    """The effect of the side, adjusted.

    ``difference, low, high, p``: the mean over all rows of both sides; of rates the average
        marginal effect.
    ``ratio``: that of the means that all rows would have on either side, with its interval; nan
        where one of these is not above 0.
    ``cells``: how many cells have rows.
    ``log_odds, log_odds_error``: of the side; nan of means.
    ``collinear``: of each column how many effects are combinations of others, and excluded.
    """

    difference: float
    low: float
    high: float
    p: float
    ratio: tuple[float, float, float]
    cells: int
    log_odds: float
    log_odds_error: float
    collinear: tuple[int, ...]


@quiet
def adjusted_effect(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike, columns: Sequence[Index],
    z: float, *, squares: tuple[ArrayLike, ArrayLike] | None = None,
    sampling: Sampling | None = None, centre: float = 0.0,
) -> AdjustedEffect | WhyNoRegression:  # fmt: skip
    """Return the difference of both sides adjusted for columns, with its robust interval.

    ``x_d, n_d, x_a, n_a``: shape (S,): successes and trials, or sums and rows, of both sides in
        every cell.
    ``columns``: shape (S,): the level of each cell in each column; main effects are adjusted for.
    ``z``: the critical value; of means, and of clusters, that of Student's t is taken.
    ``squares``: shape (S,): of means, the sums of squares of both sides.
    ``sampling``: of weighted rows, and of clusters: ``x`` and ``n`` are then sums of weights, and
        squares are taken from it.
    ``centre``: what every number is less, which matters to the ratio alone.

    >>> found = adjusted_effect(
    ...     [89, 17, 202], [108, 25, 593], [512, 353, 120], [825, 560, 325], [np.arange(3)], 1.96
    ... )
    >>> round(found.difference, 4), round(found.log_odds, 4)
    (0.0444, 0.1972)
    """
    # Levels all of whose outcomes are alike have that outcome on both sides, where the likelihood
    # is largest. Residuals are divided by 1 less the leverage of a row (HC3), at most by 0.9 of its
    # root: of levels of two or three rows HC3 alone makes the error up to 1.4 times too large.
    # Fernández-Val (2009), Journal of Econometrics 150, 71-85 (average effects beside many small
    # levels); MacKinnon & White (1985), Journal of Econometrics 29, 305-325 (HC3).
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    q_d, q_a = (x_d, x_a) if squares is None else floats(*squares)
    held = n_d > 0, n_a > 0
    if not held[0].any() or not held[1].any():
        return WhyNoRegression.TOO_FEW
    # counted before they are made: of thousands of strata they would be millions of numbers
    if sum(len(np.unique(codes)) - 1 for codes in columns) > _MOST_COLUMNS:
        return WhyNoRegression.TOO_MANY_LEVELS
    at = np.concatenate([np.flatnonzero(side) for side in held])
    on_group = np.repeat([True, False], [int(side.sum()) for side in held])
    x, n, q = (
        np.concatenate([group[held[0]], reference[held[1]]])
        for group, reference in ((x_d, x_a), (n_d, n_a), (q_d, q_a))
    )
    squared = SquaredWeights(n, x, q)
    if sampling is not None:
        both = zip(sampling.group, sampling.reference, strict=True)
        squared = SquaredWeights(*(np.concatenate([a[held[0]], b[held[1]]]) for a, b in both))
    levels = [codes[at] for codes in columns]
    rates, mixed = squares is None, np.ones(len(n), dtype=bool)
    if rates:
        if not 0 < x.sum() < n.sum():
            return WhyNoRegression.ONE_OUTCOME
        mixed = _mixed_level_cells(x, n, levels)
        if not mixed.any():
            return WhyNoRegression.COLUMNS_DECIDE
    design, collinear = _design(levels, on_group, n, mixed)
    if design is None:
        return WhyNoRegression.COLLINEAR
    effective = float(n.sum() ** 2 / squared.rows.sum())
    degrees = math.inf if rates else effective - design.shape[1]
    if degrees < 1:
        return WhyNoRegression.TOO_FEW
    if sampling is not None and sampling.clusters is not None:
        degrees = sampling.clusters.degrees
    if rates:
        sums = [(x[on].sum(), n[on].sum()) for on in (mixed & on_group, mixed & ~on_group)]
        fewest = min(float(min(events, rows - events)) for events, rows in sums)
        if fewest <= _ROUNDING * n.sum():
            return WhyNoRegression.SEPARATED
        if fewest * (effective / float(n.sum())) < FEWEST_EVENTS * (1 - 1e-9):
            return WhyNoRegression.TOO_FEW_EVENTS
    fitted = _fit(design, x[mixed], n[mixed], rates=rates)
    if fitted is None:
        return WhyNoRegression.SEPARATED
    return _average_effect(
        x, n, squared, mixed, design, held, sampling, *fitted, collinear, z, degrees,
        rates=rates, centre=centre,
    )  # fmt: skip


def _average_effect(
    x: Array, n: Array, squared: SquaredWeights, mixed: Mask, design: Array,
    held: tuple[Mask, Mask], sampling: Sampling | None, beta: Array, inverse: Array,
    collinear: tuple[int, ...], z: float, degrees: float, *, rates: bool, centre: float,
) -> AdjustedEffect | WhyNoRegression:  # fmt: skip
    # of the cells with rows: ``mixed`` are in the regression, whose ``design`` is of these;
    # ``held`` are the strata that have rows of the group, and of the reference
    from scipy.special import expit, stdtr

    total = float(n.sum())
    of_sides = []  # the mean of every cell on either side, and its slope in the linear predictor
    for on in (design[:, -1], 1.0, 0.0):
        predictor = design @ beta + (on - design[:, -1]) * beta[-1]
        mean = np.round(x / n) if rates else np.zeros_like(n)
        mean[mixed] = expit(predictor) if rates else predictor
        of_sides.append((mean, mean[mixed] * (1 - mean[mixed]) if rates else np.ones(mixed.sum())))
    (mean, spread), (ours, slope_d), (theirs, slope_a) = of_sides
    averages = []
    for side, slope in ((1.0, slope_d), (0.0, slope_a)):
        average = design.T @ (n[mixed] * slope)
        average[-1] = side * (n[mixed] * slope).sum()
        averages.append(average / total)
    about = squared.about(mean)
    known = about.squares > _ROUNDING * squared.squares
    about = about._replace(squares=np.where(known, about.squares, 0.0))
    leverage = ((design @ inverse) * design).sum(1) * spread * squared.rows[mixed] / n[mixed]
    rest = 1 - np.minimum(leverage, 1 - 1e-9)
    not_own = np.maximum(rest, _LEAST_OF_HC2 * np.sqrt(rest))

    def error(from_mean: Array, coefficients: Array) -> float:
        """Return the standard error of what a row moves so much, and by its residual times these.

        ``coefficients`` are those of the parameters.
        """
        of_residual = np.zeros_like(n)
        of_residual[mixed] = design @ (inverse @ coefficients) / not_own
        variance = float(about.variance(from_mean, of_residual))
        if sampling is not None:
            every = np.zeros((2, 2, len(held[0])))  # 0 without rows
            every[:, np.stack(held)] = from_mean - of_residual * mean, of_residual
            variance *= sampling.design_effect(*map(list, every))
        return math.sqrt(variance)

    def error_of_means(by_group: float, by_reference: float) -> float:
        of_cell = by_group * ours - by_reference * theirs
        from_mean = (of_cell - float(n @ of_cell) / total) / total
        return error(from_mean, by_group * averages[0] - by_reference * averages[1])

    means = [float(n @ side) / total + centre for side in (ours, theirs)]
    difference, of_difference = float(n @ (ours - theirs)) / total, error_of_means(1, 1)
    if not rates and not of_difference > _ROUNDING * max(map(abs, means)):
        return WhyNoRegression.ONE_OUTCOME
    critical = z if math.isinf(degrees) else float(t_from_z(z, degrees))
    distance = min(abs(difference) / of_difference, _LARGEST_Z) if of_difference > 0 else math.nan
    ends = [difference + way * critical * of_difference for way in (-1, 1)]
    ratio = math.nan, math.nan, math.nan
    if min(means) > 0:
        reach = math.exp(critical * error_of_means(1 / means[0], 1 / means[1]))
        ratio = means[0] / means[1], means[0] / means[1] / reach, means[0] / means[1] * reach
    of_odds = error(np.zeros_like(n), np.eye(len(beta))[-1]) if rates else math.nan
    return AdjustedEffect(
        difference=difference,
        low=max(ends[0], -1.0) if rates else ends[0],
        high=min(ends[1], 1.0) if rates else ends[1],
        p=float(two_sided(distance) if math.isinf(degrees) else 2 * stdtr(degrees, -distance)),
        ratio=ratio,
        cells=len(n),
        log_odds=float(beta[-1]) if rates else math.nan,
        log_odds_error=of_odds,
        collinear=collinear,
    )


def _mixed_level_cells(x: Array, n: Array, levels: Sequence[Index]) -> Mask:
    # which cells are in levels of both outcomes, those of one outcome excluded in turn
    mixed, before = np.ones(len(x), dtype=bool), 0
    while before != (before := int(mixed.sum())):
        for level in levels:
            successes, rows = (np.bincount(level, np.where(mixed, of, 0.0)) for of in (x, n))
            both = np.minimum(successes, rows - successes) > _ROUNDING * rows
            mixed &= both[level]
    return mixed


def _design(
    levels: Sequence[Index], on_group: Mask, n: Array, mixed: Mask
) -> tuple[Array | None, tuple[int, ...]]:
    # columns that are combinations of those before them are excluded, and counted by what they are
    # a level of; None where the side is such a combination
    parts, column_of = [np.ones(int(mixed.sum()))], [-1]
    for number, level in enumerate(levels):
        present = np.unique(level[mixed])[1:]
        parts += [level[mixed] == code for code in present]
        column_of += [number] * len(present)
    design = np.column_stack([*parts, on_group[mixed]]).astype(np.float64)
    gram = (design * n[mixed, None]).T @ design
    kept: list[int] = []
    factor = np.zeros((len(gram), len(gram)))  # Cholesky's, without the columns excluded
    for i in range(len(gram)):
        row = factor[i]
        for j in kept:
            row[j] = (gram[i, j] - row[:j] @ factor[j, :j]) / factor[j, j]
        left = gram[i, i] - float(row @ row)
        if left > _COLLINEAR * gram[i, i]:
            row[i] = math.sqrt(left)
            kept.append(i)
        else:
            row[:] = 0.0
    excluded = [number for i, number in enumerate(column_of) if i not in kept]
    collinear = tuple(excluded.count(number) for number in range(len(levels)))
    return (design[:, kept] if len(gram) - 1 in kept else None), collinear


def _fit(design: Array, x: Array, n: Array, *, rates: bool) -> tuple[Array, Array] | None:
    # coefficients and the inverse of their information; None where they are infinite
    try:
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_linear_model import GLM
        from statsmodels.regression.linear_model import WLS
    except ImportError as error:
        raise MissingExtra("adjusting by regression", "regression", error) from error
    if not rates:
        linear = WLS(x / n, design, weights=n).fit()
        return np.asarray(linear.params), np.asarray(linear.normalized_cov_params)
    with warnings.catch_warnings():  # of separation, which the coefficients show
        warnings.simplefilter("ignore")
        model = GLM(np.column_stack([x, n - x]), design, family=Binomial())
        found = model.fit(maxiter=60, tol=1e-10, tol_criterion="params")
    beta = np.asarray(found.params)
    if not found.converged or not np.abs(beta).max() < _SEPARATED:
        return None
    return beta, np.asarray(found.normalized_cov_params)
