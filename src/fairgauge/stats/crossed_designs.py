"""Crossed designs: items answered under several names, of which both are samples.

A cell is one item under one name. Two groups of names are compared over the items that have names
of both. Names and items are random and crossed, so that the variance of the difference has a term
for each; the variance of single cells is in both, and is subtracted once.

References
----------
Cameron, Gelbach & Miller (2011), Journal of Business & Economic Statistics 29, 238-249.
"""

from __future__ import annotations

import math

import numpy as np

from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array, Index, Mask


@dataclass(frozen=True, slots=True)
class Variance:
    """An estimated variance and its degrees of freedom.

    ``parts``: independent estimates that it is the sum of, each with its degrees of freedom; those
        of what is subtracted are negative.
    ``most_degrees``: of freedom, however many those of the parts are.
    """

    parts: tuple[tuple[float, float], ...]
    most_degrees: float = math.inf

    @property
    def value(self) -> float:
        return math.fsum(value for value, _ in self.parts)

    @property
    def degrees_of_freedom(self) -> float:
        """Return Satterthwaite's degrees of freedom."""
        spread = math.fsum(value**2 / df for value, df in self.parts if df > 0)
        return min(self.value**2 / spread if spread > 0 else math.inf, self.most_degrees)


@dataclass(frozen=True, slots=True)
class CrossedDifference:
    """The mean difference between two groups of names.

    ``value``: the difference, of least squares with an effect of every item.
    ``mean_group, mean_reference``: the means of the cells of both sides.
    ``names, items, residual``: the terms of its variance.
    ``of_names``: by how much the variance of a name is multiplied in it.
    """

    value: float
    mean_group: float
    mean_reference: float
    names: Variance
    items: Variance
    residual: Variance
    of_names: float

    def total(self, names: Variance | None = None) -> Variance:
        """Return the variance; ``names`` is another term for names in place of its own."""
        # It is never below a term alone, because what is subtracted is itself an estimate. Of few
        # families, Satterthwaite's degrees of freedom follow the estimates too closely.
        names = self.names if names is None else names
        subtracted = tuple((-value, df) for value, df in self.residual.parts)
        both = Variance((*names.parts, *self.items.parts, *subtracted))
        total = max(both, names, self.items, key=lambda term: term.value)
        return replace(total, most_degrees=self.items.most_degrees)


def crossed_difference(
    item: Index, name: Index, in_group: Mask, y: Array, answers: Array, family: Index | None = None
) -> CrossedDifference:
    """Return the difference between two groups of names, over items that have names of both.

    ``item, name``: codes from 0 of each cell
    ``in_group``: whether the name of each cell is in the group, else in the reference
    ``y, answers``: the mean answer of each cell, and of how many answers it is; where every item
        has every name cells count alike, otherwise answers do
    ``family``: codes from 0 of what the item of each cell is made from: families are then the
        sample, and not their items

    Where every item has every name, the terms are those of means: with N names in a group, variance
    s^2 of their means, I items, variance of the items' differences, and q the mean square of item
    by name in the group, they are the sum of s^2 / N, s^2(difference) / I and the sum of q / (N I).
    """
    # Elsewhere the variance of names is that of their least-squares effects, which the effects of
    # items do not shrink, less what single cells add to it; clusters of residuals alone
    # underestimate it (`bench.swapped_names`). Its degrees of freedom are at most those of groups
    # that vary alike: where few names vary more than the others, Satterthwaite's follow the few too
    # closely.
    complete = len(item) == (int(item.max()) + 1) * (int(name.max()) + 1)
    weight = np.ones(len(y)) if complete else answers.astype(np.float64)
    side = in_group.astype(np.float64)
    centred_side, centred = (
        _deviations_within_items(item, side, weight),
        _deviations_within_items(item, y, weight),
    )
    scale = float(weight @ centred_side**2)
    value = float((weight * centred_side) @ y) / scale
    influence = weight * centred_side * (centred - value * centred_side) / scale
    of_name = np.bincount(name, weight * centred_side) / scale
    by_name = np.bincount(name, influence).astype(np.float64)
    of = item if family is None else family
    shares = np.bincount(of, weight * centred_side**2) / scale
    by_item = np.bincount(of, influence).astype(np.float64)
    items = Variance((_cluster_variance(by_item),))
    if family is not None:
        of_families = _variance_of_families(by_item, shares)
        items = Variance((of_families,), most_degrees=of_families[1])
    effects, covariance, squares, degrees = _name_fit(item, name, y, weight)
    mean_square, of_cells = squares / degrees if degrees > 0 else 0.0, 1 / scale
    parts, clusters, alike = [], [], []
    for at in (of_name > 0, of_name <= 0):
        factor = of_name[at]
        share, n = _squares(factor), len(factor)
        scaled = factor[:, None] * (np.eye(n) - np.abs(factor) / np.abs(factor).sum())
        clusters.append(_cluster_variance(by_name[at]))
        of_names, df = _cluster_variance(scaled @ effects[at])
        of_fit = float(np.trace(scaled @ covariance[np.ix_(at, at)] @ scaled.T))
        noise = of_fit * n / (n - 1) - of_cells * share / _squares(of_name) if n > 1 else 0.0
        parts.append((of_names - mean_square * noise, df))
        alike.append((share, df))
    both = Variance(tuple(parts)), Variance(tuple(clusters))
    largest = max(both, key=lambda term: term.value)
    least = min(largest.degrees_of_freedom, Variance(tuple(alike)).degrees_of_freedom)
    names = Variance(((largest.value, least),))
    terms = []  # the mean squares of item by name on either side, of complete ones over its cells
    for mask in (in_group, ~in_group):
        _, items_of = np.unique(item[mask], return_inverse=True)
        _, names_of = np.unique(name[mask], return_inverse=True)
        *_, squares, degrees = _name_fit(items_of, names_of, y[mask], weight[mask])
        terms.append((squares, degrees, int(mask.sum())))
    if complete:
        residual = Variance(tuple((s / df / n if df else 0.0, df) for s, df, n in terms))
    else:
        df = sum(df for _, df, _ in terms)
        squares = sum(squares for squares, _, _ in terms)
        residual = Variance(((squares / df / scale if df else 0.0, df),))
    return CrossedDifference(
        value=value,
        mean_group=float(np.average(y[in_group], weights=weight[in_group])),
        mean_reference=float(np.average(y[~in_group], weights=weight[~in_group])),
        names=names,
        items=items,
        residual=residual,
        of_names=_squares(of_name),
    )


def _squares(values: Array) -> float:
    return float(values @ values)


def _cluster_variance(sums: Array) -> tuple[float, float]:
    n = len(sums)
    return (n / (n - 1) * float(sums @ sums) if n > 1 else 0.0), n - 1


def mean_variance(values: Array, family: Index | None) -> Variance:
    """Return the variance of the mean of values of items, or of items that are of families."""
    if family is None:
        return Variance(((float(values.var(ddof=1)) / len(values), len(values) - 1),))
    _, family = np.unique(family, return_inverse=True)
    sums = np.bincount(family, values - values.mean()) / len(values)
    return Variance((_variance_of_families(sums, np.bincount(family) / len(values)),))


def _variance_of_families(sums: Array, shares: Array) -> tuple[float, float]:
    # unbiased where families vary alike, as of Bell and McCaffrey (2002): of n equal ones, there
    # are n - 1 degrees of freedom, fewer where some are larger
    if len(sums) == 1:
        return 0.0, 0
    influence = shares[:, None] * (np.eye(len(shares)) - shares)
    squares = influence.T @ influence
    factor = _squares(shares) / float(np.trace(squares))
    return factor * _squares(sums), float(np.trace(squares) ** 2 / (squares**2).sum())


def _deviations_within_items(item: Index, y: Array, weight: Array) -> Array:
    total = np.bincount(item, weight)
    return y - (np.bincount(item, weight * y) / np.where(total > 0, total, 1.0))[item]


def _name_fit(item: Index, name: Index, y: Array, weight: Array) -> tuple[Array, Array, float, int]:
    # Effects of names beside those of items, by least squares; their covariance where the variance
    # of a cell is 1; squares and degrees of freedom of the residuals.
    items, names = int(item.max()) + 1, int(name.max()) + 1
    present = np.zeros((items, names))
    present[item, name] = weight
    centred = _deviations_within_items(item, y, weight)
    shares = present / present.sum(axis=1, keepdims=True)
    normal = np.diag(present.sum(axis=0)) - present.T @ shares
    sums = np.bincount(name, weight * centred, names)
    covariance = np.linalg.pinv(normal, hermitian=True)
    effects: Array = covariance @ sums
    rank = int(np.linalg.matrix_rank(normal, hermitian=True))
    residuals = centred - _deviations_within_items(item, effects[name], weight)
    return effects, covariance, float(weight @ residuals**2), len(y) - items - rank


def name_effects(item: Index, name: Index, y: Array) -> Array:
    """Return the effect of every name beside those of items; their mean is 0.

    Where every item has every name, these are the names' means less their mean.
    """
    item, name = (np.unique(codes, return_inverse=True)[1] for codes in (item, name))
    effects, *_ = _name_fit(item, name, y, np.ones(len(y)))
    return np.asarray(effects - effects.mean())


def two_sided_p(value: float, variance: Variance) -> float:
    """Return the p-value of no difference."""
    return min(1.0, 2 * upper_tail(abs(value), variance))


def upper_tail(value: float, variance: Variance) -> float:
    """Return the probability that a number without an effect exceeds a value."""
    from scipy import stats

    return float(stats.t.sf(value / math.sqrt(variance.value), variance.degrees_of_freedom))


def half_width(variance: Variance, confidence: float) -> float:
    """Return half of the width of a confidence interval."""
    from scipy import stats

    quantile = float(stats.t.isf((1 - confidence) / 2, variance.degrees_of_freedom))
    return quantile * math.sqrt(variance.value)
