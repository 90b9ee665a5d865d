"""Regression on numbers that takes rows some at a time: one scan of them for each step.

Beside a line for each number there are effects of the cells that rows are in, as of counts. Of a
scan only sums by cell are kept, so that rows need not fit into memory; the fit is that of
`fairgauge.stats.grouped_regression` on all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from fairgauge.stats.arrays import Array, Index
from fairgauge.stats.grouped_regression import (
    SEPARATED,
    AdjustedEffect,
    CellsOfSides,
    Regressors,
    SideTotals,
    effect_of_sides,
    expit,
    fit_counts,
    mean_of_sides,
    not_owned,
    ratio_of_sides,
    spare_rows,
    spared,
)

MOST_SCANS = 6
"""Scans after which a fit is given up."""
_NEAR = 1e-6
"""A step below which what it changes is computed without another scan."""
_COLLINEAR = 1e-9


class _CellSums:
    """Sums over rows of a weight by cell, times the numbers, and times their products."""

    def __init__(self, cells: int, numbers: int) -> None:
        self.plain = np.zeros(cells)
        self.linear = np.zeros((cells, numbers))
        self.square = np.zeros((numbers, numbers))

    def add(self, cell: Index, weight: Array, z: Array) -> None:
        cells = len(self.plain)
        self.plain += np.bincount(cell, weight, cells)
        weighted = z * weight[:, None]
        for j, each in enumerate(weighted.T):
            self.linear[:, j] += np.bincount(cell, each, cells)
        self.square += weighted.T @ z

    def matrix(self, design: Regressors) -> Array:
        """Return the sum of weighted products of regressors."""
        corner = design.sums(self.linear)
        return np.block([[design.products(self.plain), corner], [corner.T, self.square]])

    def vector(self, design: Regressors) -> Array:
        """Return the sum of weighted regressors."""
        return np.concatenate([design.sums(self.plain), self.linear.sum(0)])


class StreamedLogistic:
    """Logistic regression: the average marginal effect of the side, as `adjusted_effect`.

    Parameters
    ----------
    cells : the cells of both sides, and their design.
    start : the coefficients of a rough fit; numbers are last.
    unit : the weight of one of as many rows as are effective.
    """

    def __init__(self, cells: CellsOfSides, start: Array, z: float, *, unit: float = 1.0) -> None:
        self.done = False
        self.found: AdjustedEffect | None = None
        self._cells, self._z, self._unit = cells, z, unit
        self._beta = start
        self._scans, self._before = 0, (start, -np.inf)
        self._inverse: Array | None = None
        self._begin()

    def _begin(self) -> None:
        cells, numbers = len(self._cells.on_group), len(self._beta) - self._cells.design.width
        (self._information, self._meat, self._score, self._raised, self._crossed_group,
         self._crossed_reference, self._group, self._reference) = (
            _CellSums(cells, numbers) for _ in range(8)
        )  # fmt: skip
        self._expected = _CellSums(cells, numbers), _CellSums(cells, numbers)
        self._total = self._likelihood = 0.0
        self._rates, self._products = np.zeros(2), np.zeros((3, 3))
        self._counts = np.zeros((3, cells))

    def add(self, cell: Index, z: Array, y: Array, n: Array, squared: Array | None = None) -> None:
        """Take rows: cells, numbers, outcomes, weights, and of sampled rows squared weights."""
        squared = (n if squared is None else squared) / self._unit**2
        n = n / self._unit
        sides, at = self._cells, self._cells.design.width
        line = z @ self._beta[at:]
        settled = sides.settled[cell]
        ours, theirs = (
            np.where(np.isnan(settled), expit((of @ self._beta[:at])[cell] + line), settled)
            for of in (sides.of_group, sides.of_reference)
        )
        on_group = sides.on_group
        rate = np.where(on_group[cell], ours, theirs)
        residual, both = y - rate, np.stack([ours, theirs])
        spread = n * rate * (1 - rate)
        self._information.add(cell, spread, z)
        for each, on in zip(self._expected, (on_group[cell], ~on_group[cell]), strict=True):
            each.add(cell[on], (squared * rate * (1 - rate))[on], z[on])
        self._score.add(cell, n * residual, z)
        if self._inverse is not None:  # of the scan before: at the end it is the same
            hat = squared / n * rate * (1 - rate)
            residual = residual / spared(hat * _leverage(sides.design, self._inverse, cell, z))
        self._meat.add(cell, squared * residual**2, z)
        self._raised.add(cell, squared * residual, z)
        self._crossed_group.add(cell, squared * residual * ours, z)
        self._crossed_reference.add(cell, squared * residual * theirs, z)
        self._group.add(cell, n * ours * (1 - ours), z)
        self._reference.add(cell, n * theirs * (1 - theirs), z)
        self._total += float(n.sum())
        self._counts += [np.bincount(cell, each, len(on_group)) for each in (n * y, n, squared)]
        self._rates += both @ n
        every = np.stack([ours, theirs, np.ones_like(rate)])
        self._products += (every * squared) @ every.T
        right = np.clip(np.where(y > 0, rate, 1 - rate), 1e-300, None)
        self._likelihood += float(n @ np.log(right))

    def end_of_scan(self) -> None:
        self._scans += 1
        design = self._cells.design
        information = self._information.matrix(design)
        inverse = _inverse(information, design.width)
        score, likelihood = self._score.vector(design), self._likelihood
        step = inverse @ score
        before, reached = self._before
        if likelihood < reached - _NEAR:
            self._beta = (before + self._beta) / 2
        elif np.abs(step).max() < _NEAR and self._inverse is not None:
            self.done = True
            if np.abs(self._beta).max() < SEPARATED:
                self.found = self._finished(inverse, step)
        else:
            self._before, self._beta = (self._beta, likelihood), self._beta + step
        lost = np.abs(self._beta).max() > 2 * SEPARATED
        self.done = self.done or lost or self._scans >= MOST_SCANS
        self._inverse = inverse
        if not self.done:
            self._begin()

    def _finished(self, inverse: Array, step: Array) -> AdjustedEffect:
        sides, total = self._cells, self._total
        design, means, cells = sides.design, self._rates / total, len(sides.on_group)
        group, reference = (
            one.vector(of) / total
            for one, of in ((self._group, sides.of_group), (self._reference, sides.of_reference))
        )
        crossed = [
            one.vector(design) - mean * self._raised.vector(design)
            for one, mean in zip((self._crossed_group, self._crossed_reference), means, strict=True)
        ]
        centred = np.column_stack([np.eye(2), -means])
        spread = centred @ self._products @ centred.T
        meat = self._meat.matrix(design)
        on_group = sides.on_group
        totals = [SideTotals(*self._counts[:, on].sum(1).tolist()) for on in (on_group, ~on_group)]
        expected = [each.matrix(design) for each in self._expected]

        def error(by_group: float, by_reference: float, raised: Sequence[float] = (1, 1)) -> float:
            weights = np.array([by_group, -by_reference])
            slope = by_group * group - by_reference * reference
            of_rate, of_rows = inverse @ slope, float(weights @ spread @ weights) / total**2
            both = 2 / total * float((by_group * crossed[0] - by_reference * crossed[1]) @ of_rate)
            variance = of_rows + both + float(of_rate @ meat @ of_rate)
            if max(raised) > 1:  # as in `adjusted_effect`
                model = raised[0] * expected[0] + raised[1] * expected[1]
                variance = max(variance, of_rows + float(of_rate @ model @ of_rate))
            return float(np.sqrt(variance))

        of_side = float((inverse @ meat @ inverse)[sides.side, sides.side])
        means = means + np.array([group @ step, reference @ step])
        of_difference = error(1, 1, [side.raised for side in totals])
        of_ratio = partial(error, raised=[side.raised_of_logarithm for side in totals])
        found = effect_of_sides(float(means[0] - means[1]), of_difference, self._z, cells)
        return found._replace(
            ratio=ratio_of_sides(means.tolist(), of_ratio, self._z),
            log_odds=float((self._beta + step)[sides.side]),
            log_odds_error=float(np.sqrt(of_side)),
        )


class StreamedLinear:
    """Least squares: the difference of means, with HC3, as `adjusted_mean`.

    Parameters
    ----------
    cells : the cells of both sides, and their design.
    numbers : how many numbers there are.
    z : the critical value, of which that of Student's t is taken.
    centre : what the outcomes are less.
    """

    def __init__(self, cells: CellsOfSides, numbers: int, z: float, *, centre: float = 0.0) -> None:
        self.done = False
        self.found: AdjustedEffect | None = None
        self._cells, self._z, self._centre = cells, z, centre
        self._of_rows, self._squared, self._values, self._meat, self._crossed = (
            _CellSums(len(cells.on_group), numbers) for _ in range(5)
        )
        self._fitted: tuple[Array, Array] | None = None

    def add(self, cell: Index, z: Array, y: Array, n: Array, squared: Array | None = None) -> None:
        """Take rows: cells, numbers, outcomes, weights, and of sampled rows squared weights."""
        of_squares = n if squared is None else squared
        if self._fitted is None:
            self._of_rows.add(cell, n, z)
            self._squared.add(cell, of_squares, z)
            self._values.add(cell, n * y, z)
            return
        (beta, inverse), design = self._fitted, self._cells.design
        at, hat = design.width, of_squares / n * _leverage(design, inverse, cell, z)
        residual = y - (design @ beta[:at])[cell] - z @ beta[at:]
        residual = residual / not_owned(hat)
        self._meat.add(cell, of_squares * residual**2, z)
        if squared is not None:
            self._crossed.add(cell, squared * residual, z)

    def end_of_scan(self) -> None:
        design = self._cells.design
        if self._fitted is None:
            inverse = _inverse(self._of_rows.matrix(design), design.width)
            self._fitted = inverse @ self._values.vector(design), inverse
            return
        beta, inverse = self._fitted
        covariance = inverse @ self._meat.matrix(design) @ inverse
        side, total = self._cells.side, float(self._of_rows.plain.sum())
        kept = int((np.diag(inverse) > 0).sum())
        spare = spare_rows(total, float(self._squared.plain.sum()), kept)
        on_reference = np.where(np.arange(len(beta)) == side, 0.0, 1.0)
        average = self._of_rows.vector(design) / total * on_reference
        own, reference = beta * on_reference, float(average @ beta)
        centred = own - reference * (np.arange(len(beta)) == 0)  # the constant is first
        of_rows = float(centred @ self._squared.matrix(design) @ centred) / total**2
        crossed = centred @ self._crossed.matrix(design) @ inverse / total

        def error(by_group: float, by_reference: float) -> float:
            apart = by_group - by_reference
            slope = apart * average + by_group * (1 - on_reference)
            spread = apart**2 * of_rows + 2 * apart * float(crossed @ slope)
            return float(np.sqrt(slope @ covariance @ slope + spread))

        self.done = True
        reference += self._centre
        means = reference + float(beta[side]), reference
        found = mean_of_sides(means, float(beta[side]), error, spare, self._z)
        self.found = found and found._replace(cells=len(self._cells.on_group))


def rough_fit(cells: CellsOfSides, cell: Index, z: Array, x: Array, n: Array) -> Array | None:
    """Return the coefficients of counts by cell and interval of the numbers, to start from.

    Where these separate the outcomes, but cells alone do not, the numbers start at 0: intervals of
    numbers that are nearly combinations of each other may.

    Parameters
    ----------
    cells : the cells of both sides.
    cell, z, x, n : of each count its cell, the middle of its intervals, successes and trials.

    Examples
    --------
    >>> from fairgauge.stats.grouped_regression import cells_of
    >>> side = cells_of(np.array([9.0]), np.array([9.0]), [np.zeros(1, dtype=np.int64)])
    >>> cell, z = np.array([0, 0, 1, 1]), np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> rough_fit(side, cell, z, np.array([1, 3, 2, 4]), np.array([4, 5, 5, 5])).round(2)
    array([ 0.48, -0.84,  0.83])
    """
    found = fit_counts(cells.design.rows(cell, z), x, n)
    if found is not None:
        return found
    rows = len(cells.on_group)
    successes, trials = (np.bincount(cell, each, rows).astype(float) for each in (x, n))
    alone = fit_counts(cells.design, successes, trials)
    return None if alone is None else np.concatenate([alone, np.zeros(z.shape[1])])


def _leverage(design: Regressors, inverse: Array, cell: Index, z: Array) -> Array:
    """Return the leverage of every row, of its regressors alone."""
    at = design.width
    own = design.forms(inverse[:at, :at])
    shared = 2 * (design @ inverse[:at, at:])
    of_numbers = ((z @ inverse[at:, at:]) * z).sum(1)
    return np.asarray(own[cell] + (shared[cell] * z).sum(1) + of_numbers)


def _inverse(matrix: Array, first: int) -> Array:
    """Return the inverse of the regressors that are no combination of others, 0 of the others.

    The ``first`` are none; which numbers are is seen in turn.
    """
    kept = list(range(first))
    inverse = np.linalg.pinv(matrix[:first, :first], hermitian=True)
    for j in range(first, len(matrix)):
        shared = matrix[kept, j]
        if matrix[j, j] - shared @ inverse @ shared > _COLLINEAR * matrix[j, j]:
            kept.append(j)
            inverse = np.linalg.pinv(matrix[np.ix_(kept, kept)], hermitian=True)
    found = np.zeros_like(matrix)
    found[np.ix_(kept, kept)] = inverse
    return found
