"""Tables of counts as one multinomial sample: their statistics' variances, and tables drawn anew.

Any smooth function of the K x K cells of one multinomial sample, such as kappa or an average over
classes, has a variance that follows from the *influence* of a row in each cell (the delta method,
or infinitesimal jackknife). The interval made from it here is Wilson's, with the variance expressed
as an effective number of rows, so that statistics that are equal (accuracy, micro F1, micro recall)
have one and the same interval, that of a share of n rows. Two groups are compared by
`contrasts.mover_difference` and `mover_ratio`.

The bootstrap of rows draws N rows independently, each in cell c with probability n_c/N; so the
resampled cells are exactly multinomial, and no rows are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient, sum_of_cells
from fairgauge.stats.intervals import t_from_z, tail_of
from fairgauge.stats.sampling import limits_at

# part of a class's smallest count (at least one row) by which its counts are moved for a central
# difference, whose relative error is of the order 1e-8.
_STEP = 1e-4
# influences below, in units of the statistic, are those of rounding errors: it is constant.
_NOISE = 1e-7
_DECIMALS = 12
# passes of proportional fitting; the other margin is then met to a thousandth of a row
_FITS = 12
# rows added to each label and to each prediction before influences are measured
_ADDED = 1.0
_ROUNDING = 1e-9
# relative variance of squared weights over that of weights, where it is small (delta method).
_SQUARED = 4.0


class ClassStatistic(NamedTuple):
    """A function of sums over classes: `combine` makes it of the sums of the ``parts`` of each.

    ``parts``: from counts (..., K, 4) of TP, FP, FN and TN per class to numbers (..., K, M).
    ``combine``: from numbers (..., M) to numbers (...).
    """

    parts: Callable[[Array], Array]
    combine: Callable[[Array], Array]

    def value(self, counts: Array) -> Array:
        return self.combine(self.parts(counts).sum(axis=-2))

    def of_table(self, cells: ArrayLike) -> Array:
        return self.value(class_counts(cells))


class WeightedKappa(NamedTuple):
    """Cohen's kappa: 1 less the disagreement as a part of that expected if independent.

    ``power``: classes that are k places apart disagree k to this power: 0 of unordered classes.

    >>> float(WeightedKappa(2).of_table([[20, 5, 0], [4, 10, 6], [0, 3, 12]]).round(4))
    0.775
    """

    # Cohen (1968), Psychological Bulletin 70, 213-220; Fleiss, Cohen & Everitt (1969), ibid. 72,
    # 323-327, whose variance is that of these influences.
    power: int

    def of_table(self, cells: ArrayLike) -> Array:
        """Return the statistic of cells (..., K, K), nan where all rows are of one class."""
        _, _, observed, expected = self.disagreements(cells)
        return quotient(expected - observed, expected)

    @quiet
    def influence(self, cells: ArrayLike) -> Array:
        apart, by_chance, *sums = self.disagreements(cells)
        rows = np.asarray(cells).sum((-1, -2))
        observed, expected = ((each / rows)[..., None, None] for each in sums)
        moves = observed - apart + observed / expected * (by_chance - 2 * expected)
        return np.where(expected > 0, moves / expected, 0.0)

    @quiet
    def disagreements(self, cells: ArrayLike) -> tuple[Array, Array, Array, Array]:
        """Return what each cell adds, what its two margins add if independent, and sums."""
        (table,) = floats(cells)
        places = np.arange(table.shape[-1])
        apart = np.abs(np.subtract.outer(places, places))
        apart = np.where(apart > 0, apart**self.power, 0.0)
        of_label, of_prediction = table.sum(-2) @ apart, table.sum(-1) @ apart
        by_chance = of_label[..., :, None] + of_prediction[..., None, :]
        by_chance = by_chance / table.sum((-1, -2), keepdims=True)
        observed, expected = (table * apart).sum((-1, -2)), (table * by_chance).sum((-1, -2)) / 2
        return apart, by_chance, observed, expected


TableStatistic: TypeAlias = ClassStatistic | WeightedKappa


class WeightSums(NamedTuple):
    """What weighted cells need besides their sums of weights; arrays of shape (..., K, K).

    ``squares``: sums of squared weights.
    ``rows``: numbers of rows.
    """

    squares: ArrayLike
    rows: ArrayLike


class Linearised(NamedTuple):
    """A statistic of the cells with what its interval at any critical value is made from.

    ``estimate``: array: in the units of the statistic.
    ``error``: array: the standard error, measured at the adjusted cells.
    ``n_eff``: array: rows of which a share with this estimate would have the same standard error;
        nan for a statistic without two finite ends.
    ``degrees``: array: degrees of freedom of Student's t; inf where the estimate alone determines
        the variance.
    """

    estimate: Array
    error: Array
    n_eff: Array
    degrees: Array


def class_counts(cells: ArrayLike) -> Array:
    """Return TP, FP, FN and TN of each class against all others.

    ``cells``: shape (..., K, K): rows by label (first) and prediction (second).

    >>> class_counts([[5, 1], [2, 4]]).tolist()
    [[5.0, 2.0, 1.0, 4.0], [4.0, 1.0, 2.0, 5.0]]
    """
    (table,) = floats(cells)
    agreed = np.diagonal(table, axis1=-2, axis2=-1)
    labels, predictions = table.sum(-1), table.sum(-2)
    total = table.sum((-1, -2))[..., None]
    false_positive, false_negative = predictions - agreed, labels - agreed
    return np.stack(
        [agreed, false_positive, false_negative, total - labels - false_positive], axis=-1
    )


@quiet
def adjusted_cells(cells: ArrayLike) -> Array:
    """Return the cells drawn towards independence of labels and predictions, margins kept.

    ``cells``: shape (..., K, K)

    >>> table = adjusted_cells([[20, 0], [0, 2]])
    >>> table.round(2).tolist()
    [[19.58, 0.42], [0.42, 1.58]]
    >>> table.sum(-1).round(6).tolist()
    [20.0, 2.0]
    """
    # A class whose few rows are all predicted right would otherwise have no variance. To every
    # label and to every prediction one row is added in proportion to the other margin, and the
    # table is fitted back to its own margins, so that no class gains or loses rows.
    # Deming & Stephan (1940), Annals of Mathematical Statistics 11, 427-444 (proportional fitting);
    # compare Agresti & Coull (1998), The American Statistician 52, 119-126.
    (table,) = floats(cells)
    labels, predictions = table.sum(-1, keepdims=True), table.sum(-2, keepdims=True)
    total = table.sum((-1, -2), keepdims=True)
    labelled, predicted = labels > 0, predictions > 0
    more = _ADDED * (labels + predictions) / (2 * total)
    fitted = np.where(labelled & predicted, table + more, table)
    for _ in range(_FITS):
        fitted = fitted * np.where(predicted, predictions / fitted.sum(-2, keepdims=True), 0.0)
        fitted = fitted * np.where(labelled, labels / fitted.sum(-1, keepdims=True), 0.0)
    return np.asarray(fitted)


def influence(statistic: TableStatistic, cells: ArrayLike) -> Array:
    """Return by how much one more row in a cell moves a statistic, times the number of rows.

    ``statistic``: is evaluated at counts moved by fractions of a row, possibly below 0, and must be
        smooth there.
    ``cells``: shape (..., K, K)

    Shape (..., K, K): their mean over the rows of the table is 0; of a share they are ``1 - p`` and
    ``-p``.

    >>> def share(sums):
    ...     return sums[..., 0] / sums[..., :2].sum(-1)
    >>> accuracy = ClassStatistic(lambda counts: counts, share)
    >>> influence(accuracy, [[5, 1], [2, 2]]).round(6).tolist()
    [[0.3, -0.7], [-0.7, 0.3]]
    """
    # Hampel (1974), JASA 69, 383-393; Jaeckel (1972), The infinitesimal jackknife, Bell
    # Laboratories.
    if isinstance(statistic, WeightedKappa):
        return statistic.influence(cells)
    (table,) = floats(cells)
    counts = class_counts(table)
    smallest = np.where(counts > 0, counts, np.inf).min(-1)
    step = _STEP * np.where(np.isfinite(smallest), np.maximum(smallest, 1.0), 1.0)
    moved = np.zeros((4, *counts.shape))
    for cell in range(4):
        moved[cell, ..., cell] = step
    # the parts of all other classes are added up, not subtracted from the whole
    parts = statistic.parts(counts)
    others = np.zeros_like(parts)
    others[..., 1:, :] = np.cumsum(parts, axis=-2)[..., :-1, :]
    others[..., :-1, :] += np.cumsum(parts[..., ::-1, :], axis=-2)[..., -2::-1, :]
    ends = statistic.combine(others + statistic.parts(np.stack([counts + moved, counts - moved])))
    slope = np.moveaxis((ends[0] - ends[1]) / (2 * step), 0, -1)
    tp, fp, fn, tn = np.moveaxis(slope, -1, 0)
    moves = tn.sum(-1)[..., None, None] + (fn - tn)[..., :, None] + (fp - tn)[..., None, :]
    diagonal = np.arange(table.shape[-1])
    moves[..., diagonal, diagonal] = tn.sum(-1)[..., None] + tp - tn
    total = table.sum((-1, -2), keepdims=True)
    mean = (table * moves).sum((-1, -2), keepdims=True) / np.where(total > 0, total, 1.0)
    moved = (moves - mean) * total
    noise = _NOISE * np.fmax(np.abs(statistic.value(counts)), 1.0)[..., None, None]
    return np.where(np.abs(moved) > noise, moved, 0.0)


@quiet
def whole_correlation(
    statistic: TableStatistic, part: ArrayLike, whole: ArrayLike,
    squares: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:  # fmt: skip
    """Return the correlation of a statistic of some rows with that of all rows, these included.

    0 where the statistic of either does not vary; ``squares`` are sums of squared weights of both.
    Of a share that is the same in both it is the root of the part's share of the rows:

    >>> def share(sums):
    ...     return sums[..., 0] / sums[..., :2].sum(-1)
    >>> accuracy = ClassStatistic(lambda counts: counts, share)
    >>> part, whole = [[80, 20], [20, 80]], [[320, 80], [80, 320]]
    >>> round(float(whole_correlation(accuracy, part, whole)), 4)
    0.5
    """
    some, every = floats(part, whole)
    twice = (some, every) if squares is None else floats(*squares)
    axes = (-1, -2)
    moved = [
        influence(statistic, adjusted_cells(table)) / table.sum(axes)[..., None, None]
        for table in (some, every)
    ]
    shared = (twice[0] * moved[0] * moved[1]).sum(axes)
    spread = [(q * m**2).sum(axes) for q, m in zip(twice, moved, strict=True)]
    return np.asarray(np.nan_to_num(np.clip(shared / np.sqrt(spread[0] * spread[1]), -1.0, 1.0)))


@quiet
def linearise(
    statistic: TableStatistic, cells: ArrayLike, ends: tuple[float, float],
    weights: WeightSums | None = None,
) -> Linearised:  # fmt: skip
    """Return a statistic of the cells with its standard error, effective rows and degrees.

    ``ends``: the statistic's range; infinite ends are allowed.
    ``weights``: without them every row has the weight 1. With it the variance is the linearised
        one; where that of Kish's number of rows is larger, the geometric mean of both, as in
        `weighted.effective_share`, and uneven weights within cells limit the degrees of freedom.

    >>> def share(sums):
    ...     return sums[..., 0] / sums[..., :2].sum(-1)
    >>> accuracy = ClassStatistic(lambda counts: counts, share)
    >>> found = linearise(accuracy, [[9, 4], [2, 15]], (0.0, 1.0))
    >>> float(found.estimate), round(float(found.n_eff), 6), float(found.degrees)
    (0.8, 30.0, inf)
    """
    # The variance is the mean square of the influences at `adjusted_cells`. The degrees of freedom
    # are Satterthwaite's, of the part of the estimated variance's own variation that does not
    # follow the estimate: the residual of the squared influences on the influences. A share has
    # none, so that its t is normal and its interval exactly Wilson's.
    # Where nothing varies even at the adjusted cells, because a margin has one class alone, `n_eff`
    # is the number of rows.
    # Satterthwaite (1946), Biometrics Bulletin 2, 110-114; Korn & Graubard (1998), Survey
    # Methodology 24, 193-201 (effective numbers of rows).
    (table,) = floats(cells)
    squares = table if weights is None else floats(weights.squares)[0]
    rows = table.sum((-1, -2)) ** 2 / squares.sum((-1, -2))  # Kish's; without weights, the rows
    share = table / table.sum((-1, -2), keepdims=True)
    adjusted = adjusted_cells(share * rows[..., None, None])
    at = adjusted / rows[..., None, None]
    moved = influence(statistic, adjusted)
    square, cube, fourth = ((at * moved**power).sum((-1, -2)) for power in (2, 3, 4))
    unexplained = fourth - square**2 - cube**2 / square
    varies = unexplained > _ROUNDING * fourth
    variance = square / rows
    degrees = np.where(varies, 2 * rows * square**2 / unexplained, np.inf)
    if weights is not None:
        relative = squares / squares.sum((-1, -2), keepdims=True)
        parts = at * np.where(share > 0, relative / share, 1.0) * moved**2 / rows[..., None, None]
        linearised = parts.sum((-1, -2))
        variance = np.where(linearised < variance, np.sqrt(linearised * variance), linearised)
        (cases,) = floats(weights.rows)
        uneven = np.maximum(squares / table**2 - 1 / cases, 0.0)
        uneven = np.where((table > 0) & (uneven * cases > _ROUNDING), uneven, 0.0)
        spread = _SQUARED * (parts**2 * uneven).sum((-1, -2))
        degrees = 1 / (1 / degrees + spread / (2 * linearised**2))
    span = ends[1] - ends[0]
    level = (statistic.of_table(adjusted) - ends[0]) / span
    n_eff = np.where(variance > 0, level * (1 - level) * span**2 / variance, rows)
    n_eff = n_eff if np.isfinite(span) else np.full(rows.shape, np.nan)
    estimate = statistic.of_table(table)
    estimate = np.where(variance > 0, estimate, np.round(estimate, _DECIMALS))
    return Linearised(estimate, np.sqrt(variance), n_eff, degrees)


@quiet
def linearised_interval(found: Linearised, ends: tuple[float, float], z: ArrayLike) -> Limits:
    """Return the confidence interval of a statistic of the cells.

    Between two finite ends it is Wilson's, of as many rows as a share with that variance has;
    towards one end the scale is logarithmic; without ends it is plain. The critical value is that
    of Student's t.

    ``ends``: the statistic's range.

    The estimate is inside; nan where it is undefined.

    >>> def share(sums):
    ...     return sums[..., 0] / sums[..., :2].sum(-1)
    >>> accuracy = ClassStatistic(lambda counts: counts, share)
    >>> found = linearise(accuracy, [[9, 4], [2, 15]], (0.0, 1.0))
    >>> [round(float(end), 4) for end in linearised_interval(found, (0.0, 1.0), 1.959964)]
    [0.6269, 0.9049]
    >>> from fairgauge.stats.intervals import wilson
    >>> [round(float(end), 4) for end in wilson(24, 30, 1.959964)]
    [0.6269, 0.9049]
    """
    # Wilson (1927), JASA 22, 209-212.
    t, value = t_from_z(z, found.degrees), found.estimate
    low, high = limits_at(value, found.error, found.n_eff, t, ends)
    known = np.isfinite(value)
    if np.isfinite(ends).all():
        known = known & np.isfinite(found.n_eff)
    else:
        low, high = (np.where(found.error == 0, value, end) for end in (low, high))
    return (
        np.where(known, np.minimum(low, value), np.nan),
        np.where(known, np.maximum(high, value), np.nan),
    )


# Jeffreys' prior of multinomial shares: half a row in every cell
_PRIOR_ROWS = 0.5


def multinomial_cells(counts: ArrayLike, replicates: int, rng: np.random.Generator) -> Array:
    """Draw bootstrap tables: the bootstrap of rows, from counts.

    ``counts``: shape (..., K): rows per cell. A total that is not whole (effective sample size) is
    drawn at the nearest whole size and scaled back.

    >>> draws = multinomial_cells([[30, 70], [20, 30]], 1000, np.random.default_rng(0))
    >>> draws.shape, draws.sum(-1).min(0).tolist()
    ((1000, 2, 2), [100.0, 50.0])
    """
    # Efron (1979), Annals of Statistics 7, 1-26.
    (table,) = floats(counts)
    total = table.sum(-1, keepdims=True)
    size = np.rint(total)
    share = np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[-1])
    drawn = rng.multinomial(
        size[..., 0].astype(np.int64), share, size=(replicates, *table.shape[:-1])
    )
    return np.asarray(drawn * np.where(size > 0, quotient(total, size), 0.0))


def dirichlet_cells(counts: ArrayLike, draws: int, rng: np.random.Generator) -> Array:
    """Draw cells from the Dirichlet posterior, with Jeffreys' prior, on the scale of the counts.

    ``counts``: shape (..., K): rows per cell, real numbers allowed.

    Shape (draws, ..., K): shares times the total number of rows, so that functions of counts apply.

    >>> draws = dirichlet_cells([30, 70, 0], 1000, np.random.default_rng(0))
    >>> draws.shape, bool(np.allclose(draws.sum(-1), 100)), bool(draws.min() >= 0)
    ((1000, 3), True, True)
    """
    (table,) = floats(counts)
    gamma = rng.standard_gamma(table + _PRIOR_ROWS, size=(draws, *table.shape))
    return np.asarray(gamma * (sum_of_cells(table)[..., None] / sum_of_cells(gamma)[..., None]))


def quantile_interval(draws: ArrayLike, confidence: float) -> Limits:
    """Return the equal-tailed interval of draws along the first axis.

    An undefined (nan) draw counts as -inf for the lower limit and as +inf for the upper one;
    infinite draws are ordinary values.

    ``draws``: shape (draws, ...)

    >>> low, high = quantile_interval(np.arange(1001.0), 0.95)
    >>> float(low), float(high)
    (24.0, 976.0)
    """
    # Draws themselves, not between two: those of a falling function of the draws are its values at
    # the other end, and a value is outside exactly where `tail_p` is below ``1 - confidence``;
    # infinite where there are too few draws for that (below 40 at 0.95, p being at least ``2 /
    # (draws + 1)``).
    (values,) = floats(draws)
    low = high = np.sort(values, axis=0)
    if (undefined := np.isnan(values)).any():
        low, high = (np.sort(np.where(undefined, end, values), axis=0) for end in (-np.inf, np.inf))
    beyond = math.ceil(round(tail_of(confidence) * (len(values) + 1), 6)) - 2
    if beyond < 0:  # too few draws to exclude anything
        return np.full(low.shape[1:], -np.inf), np.full(low.shape[1:], np.inf)
    return low[beyond], high[len(values) - 1 - beyond]


def tail_p(draws: ArrayLike, null: ArrayLike = 0.0) -> Array:
    """Return twice the smaller tail of posterior draws beyond the null, at most 1.

    It agrees with `quantile_interval`; an undefined draw counts on both sides.

    ``draws``: shape (draws, ...)

    At least ``2 / (draws + 1)``.

    >>> round(float(tail_p(np.arange(-50.0, 949.0))), 3)
    0.104
    """
    (values,) = floats(draws)
    centre = np.asarray(null, dtype=np.float64)
    beyond = np.minimum((~(values > centre)).sum(0), (~(values < centre)).sum(0))
    return np.asarray(np.minimum(2 * (beyond + 1) / (len(values) + 1), 1.0))
