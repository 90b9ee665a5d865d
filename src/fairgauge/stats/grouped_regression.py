"""Regression of counts: the difference between two sides, adjusted for columns.

Counts are sufficient: the fit is that of the rows. Of rates the regression is logistic, and the
adjusted difference the average marginal effect, a difference of standardised rates, and not the
odds ratio, which changes with what is adjusted for even where nothing confounds
(non-collapsibility). It is that of the largest likelihood: a penalty on the effects of levels would
itself make a difference between sides that are unlike in many small levels. Of means it is linear,
from rows, sums and sums of squares of every cell. Rows of a cell have one leverage, so that the
robust variance (HC3) is that of the rows too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairgauge.enums import WhyNoRegression
from fairgauge.stats.arrays import Array, Index, Mask, floats, quiet
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.sampling import Sampling, SquaredWeights
from fairgauge.stats.significance import two_sided


class Regressors(NamedTuple):
    """The places of the ones in a design matrix of ones and zeros, as many in each row.

    Products with the matrix take time by these, not by its columns, which are as many as levels.

    Attributes
    ----------
    columns : array of shape (rows, entries). An entry in the column after the last is none.
    width : how many columns there are.

    Examples
    --------
    >>> of_rows = Regressors(np.array([[0, 1], [0, 2]]), 2)
    >>> of_rows @ np.array([2.0, 3.0]), of_rows.sums(np.array([1.0, 10.0]))
    (array([5., 2.]), array([11.,  1.]))
    """

    columns: Index
    width: int

    def __matmul__(self, coefficients: NDArray[Any]) -> Array:
        """Return the sum of coefficients in every row."""
        return np.asarray(np.append(coefficients, 0.0)[self.columns].sum(1))

    def sums(self, weights: Array) -> Array:
        """Return the weighted sum of every column."""
        each = np.repeat(weights, self.columns.shape[1])
        return np.bincount(self.columns.ravel(), each, self.width + 1)[:-1].astype(float)

    def products(self, weights: Array) -> Array:
        """Return the weighted sums of the products of columns."""
        size = self.width + 1
        found = np.zeros(size * size)
        for column in self.columns.T:
            at = (column * size)[:, None] + self.columns
            found += np.bincount(at.ravel(), np.repeat(weights, at.shape[1]), size * size)
        return found.reshape(size, size)[:-1, :-1]

    def forms(self, matrix: NDArray[Any]) -> Array:
        """Return the quadratic form of every row in a matrix: with an inverse, its leverage."""
        padded, found = np.pad(matrix, (0, 1)), np.zeros(len(self.columns))
        for column in self.columns.T:
            found += padded[column[:, None], self.columns].sum(1)
        return found

    def kept(self, columns: list[int]) -> Regressors:
        """Return some of the columns."""
        place = np.full(self.width + 1, len(columns))
        place[columns] = np.arange(len(columns))
        return Regressors(place[self.columns], len(columns))


_STEPS = 60
_HALVINGS = 20
_LONGEST_STEP = 4.0
"""Of a coefficient: effects of few rows may overshoot so far that their rates are 0 or 1."""
_CONVERGED = 1e-9
_SEPARATED = 15.0
_RANK = 1e-10
_CERTAIN = 1e-6
"""Below this share of its length, products cannot tell what is left of a column from nothing."""
_ROUNDING = 1e-13
"""Below this share of what it is the difference of, a number may be that of rounding alone."""
_LARGEST_Z = 37.0
_MOST_LEVERAGE = 0.5
_LEAST_OF_HC2 = 0.9
_RARE = 10
"""Effective successes, or failures, of a side below which the variance is that of some more."""
_MOST_COLUMNS = 300
"""Columns of the design above which no regression is fitted."""


class AdjustedEffect(NamedTuple):
    """The effect of the side, adjusted.

    Attributes
    ----------
    difference, low, high, p : the mean over all rows of both sides; of rates the average marginal
        effect.
    ratio : that of the means that all rows would have on either side, with its interval; nan where
        one of these is not above 0.
    cells : how many cells have rows.
    log_odds, log_odds_error : of the side; nan of means, and where the sides separate the
        outcomes.
    collinear : as of the cells.
    """

    difference: float
    low: float
    high: float
    p: float
    cells: int
    ratio: tuple[float, float, float] = (float("nan"),) * 3
    log_odds: float = float("nan")
    log_odds_error: float = float("nan")
    collinear: tuple[int, ...] = ()


class CellsOfSides(NamedTuple):
    """The cells of both sides that have rows, and the design of a regression on their columns.

    Attributes
    ----------
    held : which strata have rows of the group, and of the reference.
    design : the regressors of every cell, those that are combinations of others excluded.
    of_group, of_reference : the same as if all cells were on one side.
    side : the place of the effect of the side.
    levels : of each column the level of every cell.
    settled : the rate of cells in levels all of whose outcomes are alike; nan of other cells.
    collinear : of each column how many effects are combinations of others, and excluded.
    """

    held: tuple[Mask, Mask]
    design: Regressors
    of_group: Regressors
    of_reference: Regressors
    side: int
    levels: tuple[Index, ...]
    settled: Array
    collinear: tuple[int, ...]

    @property
    def on_group(self) -> Mask:
        """Return which cells are of the group."""
        return np.repeat([True, False], [int(each.sum()) for each in self.held])

    def joined(self, of_group: Array, of_reference: Array) -> Array:
        """Return the values of both sides in the order of the cells."""
        return np.concatenate([of_group[self.held[0]], of_reference[self.held[1]]])

    def settling(self, x: Array, n: Array) -> CellsOfSides | WhyNoRegression:
        """Return the cells, those settled in which a level has one outcome alone; or why not.

        The likelihood is largest where their rates are these outcomes on both sides, and the design
        is that of the others, which may leave one outcome alone in further levels.
        """
        mixed, before = np.ones(len(x), dtype=bool), 0

        def both(level: Index) -> Mask:
            either = [np.bincount(level, np.where(mixed, each, 0.0)) for each in (x, n - x)]
            return (np.minimum(*either) > _ROUNDING * (either[0] + either[1]))[level]

        while before != (before := int(mixed.sum())):
            for level in self.levels:
                mixed &= both(level)
        if not before:
            return WhyNoRegression.COLUMNS_DECIDE
        rows = Regressors(self.design.columns[mixed], self.design.width)
        kept = _independent(rows, n[mixed])
        if self.side not in kept:
            return WhyNoRegression.COLLINEAR
        return self._replace(
            design=self.design.kept(kept),
            of_group=self.of_group.kept(kept),
            of_reference=self.of_reference.kept(kept),
            side=kept.index(self.side),
            settled=np.where(mixed, np.nan, np.round(x / n)),
        )

    def rates(self, of: Regressors, beta: Array) -> Array:
        """Return the rates of the cells, as one of the three designs gives them."""
        return np.where(np.isnan(self.settled), _expit(of @ beta), self.settled)


class SideTotals(NamedTuple):
    """The weights of successes and of rows of a side, and the squared weights of its rows.

    Examples
    --------
    >>> SideTotals(0, 100, 100).counted, SideTotals(0, 400, 1600).counted  # of weight 4
    (0.5, 2.0)
    >>> round(SideTotals(1, 100, 100).raised, 2), SideTotals(20, 100, 100).raised
    (3.06, 1.0)
    """

    successes: float
    rows: float
    squared: float

    @property
    def unit(self) -> float:
        """Return the weight of one of as many rows as are effective (Kish)."""
        return self.squared / self.rows

    @property
    def counted(self) -> float:
        """Return the successes; of none, and of no failure, half of one is meant."""
        half = self.unit / 2
        return min(max(self.successes, half), self.rows - half)

    @property
    def raised(self) -> float:
        """Return by how much two more of each outcome raise the variance where one is rare.

        The rate may be well above that of few successes (Agresti & Caffo 2000).
        """
        x, more = self.counted, 2 * self.unit
        if min(self.successes, self.rows - self.successes) >= _RARE * self.unit:
            return 1.0
        return (x + more) * (self.rows - x + more) / (x * (self.rows - x))

    @property
    def raised_of_logarithm(self) -> float:
        """Return the same of a ratio: the logarithm of a rate of few successes is spread enough."""
        return self.raised if self.successes > self.rows / 2 else 1.0


def cells_of(n_d: Array, n_a: Array, columns: Sequence[Index]) -> CellsOfSides | WhyNoRegression:
    """Return the cells and their design, or why there is none."""
    held = n_d > 0, n_a > 0
    # counted before they are made: of thousands of strata they would be millions of numbers
    effects = sum(len(np.unique(each)) - 1 for each in columns)
    if not held[0].any() or not held[1].any():
        return WhyNoRegression.TOO_FEW
    if effects > _MOST_COLUMNS:
        return WhyNoRegression.TOO_MANY_LEVELS
    at = np.concatenate([np.flatnonzero(each) for each in held])
    on_group = np.repeat([True, False], [int(each.sum()) for each in held])
    full, ours, theirs = (
        _regressors(columns, at, side)
        for side in (on_group, np.ones_like(on_group), np.zeros_like(on_group))
    )
    kept = _independent(full, np.concatenate([n_d[held[0]], n_a[held[1]]]))
    if 1 not in kept:
        return WhyNoRegression.COLLINEAR
    designs = full.kept(kept), ours.kept(kept), theirs.kept(kept)
    collinear = tuple(_collinear(columns, at, kept))
    levels = tuple(each[at] for each in columns)
    none = np.full(len(at), np.nan)
    return CellsOfSides(held, *designs, kept.index(1), levels, none, collinear)


def _collinear(columns: Sequence[Index], at: Index, kept: list[int]) -> Iterator[int]:
    start = 2
    for each in columns:
        effects = len(np.unique(each)) - 1
        own = sum(start <= column < start + effects for column in kept)
        yield len(np.unique(each[at])) - 1 - own
        start += effects


@quiet
def adjusted_effect(
    x_d: ArrayLike,
    n_d: ArrayLike,
    x_a: ArrayLike,
    n_a: ArrayLike,
    columns: Sequence[Index],
    z: float,
    *,
    sampling: Sampling | None = None,
) -> AdjustedEffect | WhyNoRegression:
    """Return the difference of both sides adjusted for columns, with its robust interval.

    Parameters
    ----------
    x_d, n_d, x_a, n_a : array-like of shape (S,)
        Successes and trials of both sides in every cell.
    columns : sequence of arrays of shape (S,)
        The level of each cell in each column; main effects are adjusted for.
    sampling : Sampling, optional
        Of weighted rows, and of clusters: ``x`` and ``n`` are then sums of weights.

    Returns
    -------
    effect : AdjustedEffect or WhyNoRegression

    References
    ----------
    Fernández-Val (2009), Journal of Econometrics 150, 71-85 (average effects beside many small
    levels); MacKinnon & White (1985), Journal of Econometrics 29, 305-325 (HC3).

    Examples
    --------
    >>> found = adjusted_effect(
    ...     [89, 17, 202], [108, 25, 593], [512, 353, 120], [825, 560, 325], [np.arange(3)], 1.96
    ... )
    >>> round(found.difference, 4), round(found.log_odds, 4)
    (0.0444, 0.1972)
    """
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    cells = cells_of(n_d, n_a, columns)
    if isinstance(cells, WhyNoRegression):
        return cells
    x, n, held = cells.joined(x_d, x_a), cells.joined(n_d, n_a), cells.held
    if not 0 < x.sum() < n.sum():
        return WhyNoRegression.ONE_OUTCOME
    squared = SquaredWeights(n, x, x) if sampling is None else _squared(sampling, held)
    unit = squared.rows.sum() / n.sum()  # rows are counted, whatever weights add up to
    x, n, squared = x / unit, n / unit, SquaredWeights(*(each / unit**2 for each in squared))
    cells = cells.settling(x, n)
    if isinstance(cells, WhyNoRegression):
        return cells
    on_group = cells.on_group
    of_sides = [
        SideTotals(*(float(each[on].sum()) for each in (x, n, squared.rows)))
        for on in (on_group, ~on_group)
    ]
    mixed = np.isnan(cells.settled)
    outcomes = _with_both_outcomes(x, n, [mixed & on_group, mixed & ~on_group])
    alike = bool((outcomes != x).any())
    beta = _fit_counts(cells.design, outcomes * mixed, n * mixed)
    if beta is None:
        return WhyNoRegression.NOT_CONVERGED
    sides = cells.of_group, cells.of_reference
    rate, ours, theirs = (cells.rates(each, beta) for each in (cells.design, *sides))
    total = n.sum()
    difference = float((n * (ours - theirs)).sum() / total)
    inverse = np.linalg.pinv(cells.design.products(n * rate * (1 - rate)), hermitian=True)
    spread = squared.rows * rate * (1 - rate)
    # HC3 divides residuals by this; at least half, as a row may be nearly alone in its level
    not_own = 1 - np.minimum(cells.design.forms(inverse) * spread / n, _MOST_LEVERAGE)
    slopes = [
        side.sums(n * each * (1 - each)) / total
        for side, each in zip(sides, (ours, theirs), strict=True)
    ]
    z = z if sampling is None else sampling.critical(z)

    def influences(by_group: float, by_reference: float) -> tuple[Array, Array, Array]:
        of_cell = by_group * ours - by_reference * theirs
        slope = by_group * slopes[0] - by_reference * slopes[1]
        from_mean = (of_cell - (n * of_cell).sum() / total) / total
        of_rate = cells.design @ (inverse @ slope) / not_own
        return from_mean, from_mean - of_rate * rate, of_rate

    def error(by_group: float, by_reference: float, raised: Sequence[float] = (1, 1)) -> float:
        from_mean, *moved = influences(by_group, by_reference)
        variance = float(squared.variance(*moved))
        if alike or max(raised) > 1:  # of few successes residuals are too small: the model's
            of_rows = spread * (not_own * moved[1]) ** 2 * np.where(on_group, *raised)
            variance = max(variance, float((of_rows + squared.rows * from_mean**2).sum()))
        if alike:  # of a side without successes all residuals are alike, and so are clusters
            _, *moved = influences(1, 1)
        return float(np.sqrt(variance * _design_effect(sampling, held, *moved)))

    standardised = [float((n * each).sum() / total) for each in (ours, theirs)]
    of_difference = error(1, 1, [side.raised for side in of_sides])
    distance = min(abs(difference) / of_difference, _LARGEST_Z) if of_difference > 0 else np.nan
    low = max(difference - z * of_difference, -1.0)
    high = min(difference + z * of_difference, 1.0)
    of_ratio = partial(error, raised=[side.raised_of_logarithm for side in of_sides])
    found = AdjustedEffect(
        difference, low, high, float(two_sided(distance)), len(n),
        ratio=_ratio_of_sides(standardised, of_ratio, z), collinear=cells.collinear,
    )  # fmt: skip
    if alike:
        return found
    meat = cells.design.products(squared.about(rate).squares / not_own**2)
    covariance = inverse @ meat @ inverse
    place = cells.side
    of_odds = cells.design @ inverse[:, place]
    own_odds = of_odds / not_own
    of_side = covariance[place, place] * _design_effect(sampling, held, -own_odds * rate, own_odds)
    return found._replace(log_odds=float(beta[place]), log_odds_error=float(np.sqrt(of_side)))


def _with_both_outcomes(x: Array, n: Array, sides: Sequence[Mask]) -> Array:
    """Return successes, of a side without any, or without failures, half of one row as well.

    The effect of the side is finite then.
    """
    found = x.copy()
    for on in sides:
        half = 0.5 * n[on] / n[on].sum()
        for sign, outcome in ((1, x), (-1, n - x)):
            if outcome[on].sum() <= _ROUNDING * n[on].sum():
                found[on] += sign * half
    return found


def _ratio_of_sides(
    means: Sequence[float], error: Callable[[float, float], float], z: float
) -> tuple[float, float, float]:
    """Return the ratio of both standardised means, with its interval on the log scale.

    ``error`` is the standard error of so much of the group's less so much of the reference's.
    """
    if not min(means) > 0:
        return (float("nan"),) * 3
    ratio = means[0] / means[1]
    reach = float(np.exp(z * error(1 / means[0], 1 / means[1])))
    return ratio, ratio / reach, ratio * reach


@quiet
def adjusted_mean(
    x_d: ArrayLike,
    n_d: ArrayLike,
    x_a: ArrayLike,
    n_a: ArrayLike,
    squares: tuple[ArrayLike, ArrayLike],
    columns: Sequence[Index],
    z: float,
    *,
    sampling: Sampling | None = None,
    centre: float = 0.0,
) -> AdjustedEffect | WhyNoRegression:
    """Return the difference of means adjusted for columns, with its robust interval.

    Parameters
    ----------
    x_d, n_d, x_a, n_a : array-like of shape (S,)
        Sums and rows of both sides in every cell.
    squares : pair of array-like of shape (S,)
        Sums of squares of both sides.
    columns : sequence of arrays of shape (S,)
        The level of each cell in each column, or its number; main effects are adjusted for.
    z : float
        The critical value, of which that of Student's t is taken.
    sampling : Sampling, optional
        Of weighted rows, and of clusters: ``x`` and ``n`` are then sums of weights, and squares
        are taken from it.
    centre : float
        What every number is less, which matters to the ratio alone.

    Returns
    -------
    effect : AdjustedEffect or WhyNoRegression

    References
    ----------
    MacKinnon & White (1985), Journal of Econometrics 29, 305-325 (HC3).

    Examples
    --------
    >>> found = adjusted_mean(
    ...     [30, 44], [3, 4], [60, 33], [5, 3], ([310, 494], [730, 375]), [np.arange(2)], 1.96
    ... )
    >>> round(found.difference, 3), round(found.high, 3)
    (-1.045, 1.603)
    """
    from scipy.special import stdtr

    x_d, n_d, x_a, n_a, q_d, q_a = floats(x_d, n_d, x_a, n_a, *squares)
    cells = cells_of(n_d, n_a, columns)
    if isinstance(cells, WhyNoRegression):
        return cells
    x, n, q = (cells.joined(*pair) for pair in ((x_d, x_a), (n_d, n_a), (q_d, q_a)))
    squared = SquaredWeights(n, x, q) if sampling is None else _squared(sampling, cells.held)
    # rows beside the effects, of weighted ones effective rows (Kish)
    spare = float(n.sum() ** 2 / squared.rows.sum()) - cells.design.width
    if spare < 1:
        return WhyNoRegression.TOO_FEW
    if sampling is not None and sampling.clusters is not None:
        spare = sampling.clusters.degrees
    inverse = np.linalg.pinv(cells.design.products(n), hermitian=True)
    beta = inverse @ cells.design.sums(x)
    about = squared.about(cells.design @ beta)
    residuals = np.where(about.squares > _ROUNDING * squared.squares, about.squares, 0.0)
    not_own = _not_owned(cells.design.forms(inverse) * squared.rows / n)
    meat = cells.design.products(residuals / not_own**2)
    covariance, total = inverse @ meat @ inverse, n.sum()
    sides = cells.of_group, cells.of_reference
    fits, averages = [side @ beta for side in sides], [side.sums(n) / total for side in sides]

    def error(by_group: float, by_reference: float) -> float:
        of_cell = by_group * fits[0] - by_reference * fits[1]
        slope = by_group * averages[0] - by_reference * averages[1]
        # what a row moves it by: this much, and its residual times a slope
        from_mean = (of_cell - slope @ beta) / total
        of_residual = cells.design @ (inverse @ slope) / not_own
        variance = slope @ covariance @ slope + (squared.rows * from_mean**2).sum()
        if sampling is not None:
            variance += 2 * (from_mean * of_residual * about.values).sum()
        level = from_mean - of_residual * (cells.design @ beta)
        return float(np.sqrt(variance * _design_effect(sampling, cells.held, level, of_residual)))

    means = [float((n * fit).sum() / total) + centre for fit in fits]
    difference = float((n * (fits[0] - fits[1])).sum() / total)
    of_difference = error(1, 1)
    if not of_difference > _ROUNDING * max(map(abs, means)):
        return WhyNoRegression.ONE_OUTCOME
    critical = float(as_critical_t(z, spare))
    low, high = (difference + side * critical * of_difference for side in (-1, 1))
    p = float(2 * stdtr(spare, -abs(difference) / of_difference))
    ratio = _ratio_of_sides(means, error, critical)
    return AdjustedEffect(difference, low, high, p, len(n), ratio, collinear=cells.collinear)


def _not_owned(leverage: Array) -> Array:
    """Return what a row does not determine of its own fitted mean.

    Of levels of two or three rows HC3 makes the standard error up to 1.4 times too large: it is
    at most 1/0.9 times that of HC2, which of residuals of one variance is right on average.
    """
    rest = 1 - np.minimum(leverage, 1 - 1e-9)
    return np.asarray(np.maximum(rest, _LEAST_OF_HC2 * np.sqrt(rest)))


def _squared(sampling: Sampling, held: tuple[Mask, ...]) -> SquaredWeights:
    sides = zip((sampling.group, sampling.reference), held, strict=True)
    found = [[each[at] for each in side] for side, at in sides]
    return SquaredWeights(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _design_effect(
    sampling: Sampling | None, held: tuple[Mask, ...], level: Array, slope: Array
) -> float:
    if sampling is None:
        return 1.0
    every = np.zeros((2, 2, len(held[0])))  # 0 without rows
    every[:, np.stack(held)] = level, slope
    return sampling.design_effect(*map(list, every))


def _regressors(columns: Sequence[Index], at: Index, on_side: Mask) -> Regressors:
    """Return a constant, the side, and every level of every column but the first."""
    places = [np.zeros_like(at), np.where(on_side, 1, -1)]
    width = 2
    for codes in columns:
        levels, level = np.unique(codes, return_inverse=True)
        places.append(np.where(level > 0, width - 1 + level, -1)[at])
        width += len(levels) - 1
    every = np.stack(places, axis=1)
    return Regressors(np.where(every < 0, width, every), width)


def _independent(design: Regressors, n: Array) -> list[int]:
    """Return the columns that are no combination of those before them.

    Gram and Schmidt's steps on the products of the columns, which are few where cells are many;
    what these cannot tell from nothing is projected again, cell by cell.
    """
    kept: list[int] = []
    products = design.products(n)
    every = np.zeros_like(products)  # each row makes a vector of the basis from the columns
    for i, of_column in enumerate(products):
        basis = every[: len(kept)]
        rest = -basis.T @ (basis @ of_column)
        rest[i] += 1
        size = math.sqrt(max(float(rest @ products @ rest), 0.0))
        length = math.sqrt(of_column[i])
        if size < _CERTAIN * length:
            rest -= basis.T @ (basis @ design.sums(n * (design @ rest)))
            size = math.sqrt(float(n @ (design @ rest) ** 2))
        if size > _RANK * max(length, 1.0):
            every[len(kept)] = rest / size
            kept.append(i)
    return kept


def _fit_counts(design: Regressors, x: Array, n: Array) -> Array | None:
    """Return the coefficients of the largest likelihood; None where they are infinite."""
    beta = np.zeros(design.width)
    beta[0] = np.log((x.sum() + 0.5) / (n.sum() - x.sum() + 0.5))
    likelihood = _likelihood(design, x, n, beta)
    for _ in range(_STEPS):
        rate = _expit(design @ beta)
        try:
            step = np.linalg.solve(
                design.products(n * rate * (1 - rate)), design.sums(x - n * rate)
            )
        except np.linalg.LinAlgError:
            return None
        step = step / max(float(np.abs(step).max()) / _LONGEST_STEP, 1.0)
        for _ in range(_HALVINGS):
            after = _likelihood(design, x, n, beta + step)
            if after >= likelihood - _CONVERGED:
                break
            step = step / 2
        beta, likelihood = beta + step, after
        if np.abs(beta).max() > 2 * _SEPARATED:
            return None
        if np.abs(step).max() < _CONVERGED:
            return beta if np.abs(beta).max() < _SEPARATED else None
    return None


def _likelihood(design: Regressors, x: Array, n: Array, beta: Array) -> float:
    logit = design @ beta
    return float((x * logit - n * np.logaddexp(0, logit)).sum())


def _expit(logit: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -700, 700))))
