"""The rates of groups of which only probabilities are known, by maximum likelihood.

Rows are counted by cell, in which all have about the same probabilities ``p`` of the groups, and by
kind of outcome. Where outcome and probabilities are independent within each group, a row of a cell
is of kind k with probability ``sum_g p_g theta_kg``: a mixture, whose log likelihood is concave in
``theta``. Intervals are of the profile likelihood, at any critical value.

References: Fisher, Lesnik & Schaefer (2025), arXiv 2511.14951; McCartan et al. (2025), Estimating
Racial Disparities When Race is Not Observed, JASA; Chen et al. (2019), FAT* 2019, 339-348.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import Array, Index, Mask, quiet
from fairgauge.stats.significance import chi_square_tail

Clusters = tuple[Index, Index, Index, Array, Index]
"""Of every entry of a table by cluster: cluster, cell, kind, weight, and known group or -1."""

Constraint = Callable[[Array], Array]

_MOST_STEPS = 100
# of the mean log likelihood: that of 10 million rows is then exact to 1e-5
_COMPLEMENTARITY = 1e-13
# the fraction-to-the-boundary rule of interior-point methods: Nocedal and Wright (2006), Numerical
# Optimization, chapter 19; a share that reached 0 could not grow again
_STAY = 0.99
_LEAST, _RIDGE = 1e-9, 1e-13
# the signed roots near which a profile is computed; between them it is interpolated
_ROOTS = np.concatenate([-np.arange(6.0, 0.4, -0.5), np.arange(0.5, 6.1, 0.5)])
_SMOOTHED = 0.5
_SINGULAR = 1e-8
_BATCH = 20_000_000


@dataclass(frozen=True, eq=False)
class ProfileCurve:
    """A parameter as a function of the signed root of its profile likelihood.

    ``estimate``: at root 0.
    ``values, roots``: ascending, with the estimate among them.
    ``scale``: by how much roots are too large, because rows have weights or clusters.
    """

    estimate: float
    values: Array
    roots: Array
    scale: float

    def limits(self, z: float) -> tuple[float, float]:
        """Return the values at the critical values -z and z, or the ends of the range."""
        from scipy.interpolate import PchipInterpolator

        if len(self.roots) < 2:
            return self.estimate, self.estimate
        wanted = np.clip(np.array([-z, z]) * self.scale, self.roots[0], self.roots[-1])
        ends = PchipInterpolator(self.roots, self.values)(wanted)
        return float(ends[0]), float(ends[1])


class GroupMixture:
    """Rates of groups by maximum likelihood.

    ``p``: shape (cells, groups): mean probabilities of each cell, which sum to 1.
    ``n``: shape (cells, kinds): the weight of the rows of each kind: counted by the rate, among
        those of which it is a share, and possibly others.
    ``squares``: shape (cells, kinds): the sum of squared weights, where rows have some.

    >>> p = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> mixture = GroupMixture(p, n=np.array([[300.0, 700.0], [600.0, 400.0]]))
    >>> [round(mixture.rate(side), 3) for side in np.eye(2, dtype=bool)]
    [0.257, 0.686]
    """

    def __init__(
        self, p: Array, n: Array, squares: Array | None = None, clusters: Clusters | None = None
    ) -> None:
        held = n.sum(axis=1) > 0
        self.p, self.n = p[held], n[held]
        self.squares = None if squares is None else squares[held]
        self._clusters = clusters
        self._held = held
        self.total = float(self.n.sum())
        self.sizes: Array = self.n.sum(axis=1) @ self.p
        self.groups, self.kinds = p.shape[1], n.shape[1]
        self._outer = np.einsum("ci,cj->cij", self.p, self.p).reshape(len(self.p), -1)

    @cached_property
    def theta(self) -> Array:
        """Return the probability of every kind in every group, of shape (kinds, groups)."""
        shares = (self.n.T @ self.p + 1.0) / (self.sizes + self.kinds)
        return np.asarray(self._maximise(np.zeros((1, 0, shares.size)), shares.ravel())[0])

    @cached_property
    def unidentified(self) -> Mask:
        """Return the groups whose probabilities are in a fixed proportion to those of others."""
        gram = (self.p * self.n.sum(axis=1, keepdims=True)).T @ self.p
        scale = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
        null = vectors[:, values < _SINGULAR]
        return np.asarray((np.abs(null) > _SINGULAR**0.5).any(axis=1) | (self.sizes <= 0))

    def _weights(self, side: Mask) -> Array:
        held = np.where(side, self.sizes, 0.0)
        return np.asarray(held / held.sum())

    def rate(self, side: Mask) -> float:
        """Return the rate of a side: of a group, or of several together."""
        counted, rest = self._parts(side)
        return counted / (counted + rest) if counted + rest > 0 else float("nan")

    def denominator(self, side: Mask) -> float:
        """Return the expected weight of the rows among which the rate of a side is a share."""
        return float(self.sizes[side].sum() * sum(self._parts(side)))

    @cached_property
    def _model_covariance(self) -> Array:
        basis = self._basis
        return basis @ np.linalg.pinv(self._information, hermitian=True) @ basis.T

    @cached_property
    def covariance(self) -> Array:
        """Return the covariance of ``theta``: robust where rows have weights or clusters."""
        if self.squares is None and self._clusters is None:
            return self._model_covariance
        return self._robust_covariance(self._information)

    @cached_property
    def _covariance_inside(self) -> Array:
        # without, a group that the data hardly distinguish has a variance as if its rates were not
        # between 0 and 1, beside which no correlation of others is left
        basis = self._basis
        more = basis.T @ (_SMOOTHED / self.smoothed.reshape(-1, 1) * basis)
        information = self._information + more
        if self.squares is None and self._clusters is None:
            return np.asarray(basis @ np.linalg.inv(information) @ basis.T)
        return self._robust_covariance(information)

    def _robust_covariance(self, information: Array) -> Array:
        basis = self._basis
        inverse = np.linalg.pinv(information, hermitian=True)
        means, of_kinds = self.p @ self.smoothed.T, basis.reshape(self.kinds, self.groups, -1)
        scores = np.asarray(np.einsum("cg,kgj->ckj", self.p, of_kinds) / means[:, :, None])
        if self._clusters is None:
            assert self.squares is not None
            meat = np.einsum("ck,cki,ckj->ij", self.squares, scores, scores)
        else:
            cluster, cell, kind, weight, _ = self._clusters
            position = np.cumsum(self._held) - 1
            some = self._held[cell]
            of_entry = scores[position[cell[some]], kind[some]] * weight[some, None]
            meat, _ = variance_between_clusters(cluster[some], of_entry)
        return np.asarray(basis @ inverse @ meat @ inverse @ basis.T)

    def variance(self, side: Mask) -> float:
        slope = self._slope(side)
        return float(slope @ self.covariance @ slope)

    def correlation(self, one: Mask, other: Mask) -> float:
        """Return the correlation of the rates of two sides."""
        a, b = self._slope(one), self._slope(other)
        covariance = self._covariance_inside
        scale = np.sqrt((a @ covariance @ a) * (b @ covariance @ b))
        return float(np.clip(a @ covariance @ b / scale, -1, 1)) if scale > 0 else 0.0

    def _slope(self, side: Mask) -> Array:
        weights, theta = self._weights(side), self.smoothed
        counted, rest = float(theta[0] @ weights), float(theta[1] @ weights)
        slope = np.zeros((self.kinds, self.groups))
        slope[0] = weights * rest / (counted + rest) ** 2
        slope[1] = -weights * counted / (counted + rest) ** 2
        return slope.ravel()

    def rate_curve(self, side: Mask) -> ProfileCurve:
        weights = self._weights(side)

        def constraint(t: Array) -> Array:
            rows = np.zeros((len(t), self.kinds, self.groups))
            rows[:, 0] = (1 - t)[:, None] * weights
            rows[:, 1] = -t[:, None] * weights
            return rows

        return self._curve(constraint, self.rate(side), self._slope(side), (0.0, 1.0))

    def difference_curve(self, one: Mask, other: Mask) -> ProfileCurve:
        """Return the profile likelihood of the difference of two rates among all rows."""
        first, second = self._weights(one), self._weights(other)

        def constraint(t: Array) -> Array:
            rows = np.repeat(-t[:, None, None] * first, self.kinds, axis=1)
            rows[:, 0] += first - second
            return rows

        slope = self._slope(one) - self._slope(other)
        return self._curve(constraint, self.rate(one) - self.rate(other), slope, (-1.0, 1.0))

    def angle_curve(self, one: Mask, other: Mask) -> ProfileCurve:
        """Return the profile likelihood of the angle whose tangent is the ratio of two rates.

        An angle is finite where a rate is 0.
        """
        first, second = self._weights(one), self._weights(other)
        a, b = self.rate(one), self.rate(other)

        def constraint(t: Array) -> Array:
            rows = np.zeros((len(t), self.kinds, self.groups))
            rows[:, 0] = np.cos(t)[:, None] * first - np.sin(t)[:, None] * second
            return rows

        x, y = (max(each, _LEAST) for each in (a, b))
        slope = (y * self._slope(one) - x * self._slope(other)) / (x**2 + y**2)
        return self._curve(constraint, float(np.arctan2(a, b)), slope, (0.0, np.pi / 2))

    def _parts(self, side: Mask) -> tuple[float, float]:
        weights = self._weights(side)
        return float(self.theta[0] @ weights), float(self.theta[1] @ weights)

    @cached_property
    def smoothed(self) -> Array:
        """Return ``theta`` as if every group had half a row more, away from 0 and 1."""
        sizes = np.maximum(self.sizes, _LEAST)
        return np.asarray((self.theta * sizes + _SMOOTHED / self.kinds) / (sizes + _SMOOTHED))

    @cached_property
    def _basis(self) -> Array:
        # directions in which every column of ``theta`` keeps its sum of 1
        centred = np.eye(self.kinds) - 1 / self.kinds
        contrasts = np.linalg.svd(centred)[0][:, : self.kinds - 1]
        return np.kron(contrasts, np.eye(self.groups))

    @cached_property
    def _information(self) -> Array:
        means = self.p @ self.smoothed.T
        blocks = np.einsum("ck,ci->ki", self.n.sum(axis=1, keepdims=True) / means, self._outer)
        whole = np.zeros((self.kinds * self.groups,) * 2)
        for k, block in enumerate(blocks):
            at = slice(k * self.groups, (k + 1) * self.groups)
            whole[at, at] = block.reshape(self.groups, self.groups)
        return np.asarray(self._basis.T @ whole @ self._basis)

    @property
    def degrees(self) -> float:
        """Return the degrees of freedom of the robust variance; infinite for the model's."""
        if self._clusters is not None:
            return float(len(np.unique(self._clusters[0])) - 1)
        if self.squares is not None:
            return float(self.total**2 / self.squares.sum() - 1)
        return float("inf")

    def _curve(
        self, constraint: Constraint, estimate: float, slope: Array, ends: tuple[float, float]
    ) -> ProfileCurve:
        # ``slope`` is the derivative by ``theta``: it states how much wider weights and clusters
        # make the interval than independent rows would
        low, high = ends
        variance, robust = (
            float(slope @ of @ slope) for of in (self._model_covariance, self.covariance)
        )
        scale = float(np.sqrt(robust / variance)) if variance > 0 and robust > 0 else 1.0
        edge = _LEAST * (high - low)
        step = np.sqrt(max(variance, 1e-16))
        far = np.linspace(low, high, 9)[1:-1]
        values = np.concatenate([estimate + step * _ROOTS[::2], far, [low + edge, high - edge]])
        values, roots = self._roots(constraint, estimate, values, (low + edge, high - edge))
        wanted = np.interp(_ROOTS[(roots[0] < _ROOTS) & (roots[-1] > _ROOTS)], roots, values)
        more, further = self._roots(constraint, estimate, wanted, (low + edge, high - edge))
        values, at = np.unique(np.concatenate([values, more]), return_index=True)
        roots = np.maximum.accumulate(np.concatenate([roots, further])[at])
        rising = np.concatenate([[True], np.diff(roots) > _LEAST])
        values, roots = values[rising], roots[rising]
        values[0] = low if values[0] <= low + 2 * edge else values[0]
        values[-1] = high if values[-1] >= high - 2 * edge else values[-1]
        return ProfileCurve(estimate, values, roots, scale)

    def _roots(
        self, constraint: Constraint, estimate: float, values: Array, ends: tuple[float, float]
    ) -> tuple[Array, Array]:
        inside = np.unique(values[(values >= ends[0]) & (values <= ends[1])])
        inside = inside[np.abs(inside - estimate) > _LEAST]
        rows = constraint(inside).reshape(len(inside), 1, self.kinds * self.groups)
        start = 0.9 * self.theta.ravel() + 0.1 / self.kinds
        best = self._log_likelihoods(self._maximise(rows, start))
        drop = 2 * np.maximum(float(self._log_likelihoods(self.theta[None])[0]) - best, 0.0)
        roots = np.sign(inside - estimate) * np.sqrt(drop)
        at = int(np.searchsorted(inside, estimate))
        return np.insert(inside, at, estimate), np.insert(roots, at, 0.0)

    @quiet
    def _log_likelihoods(self, theta: Array) -> Array:
        n = self.n.T
        return np.asarray(np.where(n > 0, n * np.log(theta @ self.p.T), 0.0).sum(axis=(1, 2)))

    def _maximise(self, rows: Array, start: Array) -> Array:
        # ``rows``: shape (problems, constraints, kinds * groups) ``start``: shape (kinds * groups,)
        size = max(_BATCH // max(self._outer.size * self.kinds, 1), 1)
        parts = [self._solve(rows[i : i + size], start) for i in range(0, len(rows), size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.kinds, self.groups))

    @quiet
    def _solve(self, rows: Array, start: Array) -> Array:
        problems, _, size = rows.shape
        kinds, groups = self.kinds, self.groups
        sums = np.tile(np.eye(groups), kinds)
        fixed = np.concatenate([np.tile(sums, (problems, 1, 1)), rows], axis=1)
        target = np.concatenate([np.ones(groups), np.zeros(rows.shape[1])])
        count = fixed.shape[1]
        x = np.tile(np.maximum(start, 1e-3), (problems, 1))
        z, y = np.full_like(x, 1.0 / size), np.zeros((problems, count))
        n = self.n.T / self.total
        matrix = np.zeros((problems, size + count, size + count))
        matrix[:, :size, size:] = -fixed.transpose(0, 2, 1)
        matrix[:, size:, :size] = fixed
        place = np.arange(size)
        for _ in range(_MOST_STEPS):
            means = x.reshape(problems, kinds, groups) @ self.p.T
            ratio = n / means
            gradient = -(ratio @ self.p).reshape(problems, size)
            curvature = (ratio / means @ self._outer).reshape(problems, kinds, groups, groups)
            gap = (x * z).mean(axis=1)
            off = np.einsum("tms,ts->tm", fixed, x) - target
            dual = gradient - np.einsum("tms,tm->ts", fixed, y) - z
            done = (gap < _COMPLEMENTARITY) & (np.abs(off).max(axis=1) < 1e-12)
            if (done & (np.abs(dual).max(axis=1) < 1e-9)).all():
                break
            matrix[:, :size, :size] = 0.0
            for k in range(kinds):
                at = slice(k * groups, (k + 1) * groups)
                matrix[:, at, at] = curvature[:, k]
            matrix[:, place, place] += z / x + _RIDGE
            aim = np.maximum(0.1 * gap, 0.1 * _COMPLEMENTARITY)[:, None]
            right = np.concatenate([-(dual + z - aim / x), -off], axis=1)
            try:
                step = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:
                break
            dx = step[:, :size]
            dz = aim / x - z - z / x * dx
            a = _length(x, dx)
            x, y = x + a * dx, y + a * step[:, size:]
            z = z + _length(z, dz) * dz
        return x.reshape(problems, kinds, groups)


class StratifiedMixture:
    """Rates of groups by maximum likelihood within strata, over all people of the groups.

    Outcome and probabilities need be independent only within each group and stratum: where the
    probabilities are of names and the strata places, rates may differ between places.

    ``parts``: one for each stratum, all of the same groups and kinds.

    >>> p = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> rich = GroupMixture(p, n=np.array([[300.0, 700.0], [600.0, 400.0]]))
    >>> poor = GroupMixture(p, n=np.array([[100.0, 900.0], [100.0, 900.0]]))
    >>> round(StratifiedMixture([rich, poor]).rate(np.array([True, False])), 3)
    0.179
    """

    def __init__(self, parts: list[GroupMixture]) -> None:
        self.parts = parts

    @cached_property
    def unidentified(self) -> Mask:
        """Return the groups that no stratum identifies."""
        return np.asarray(np.all([part.unidentified for part in self.parts], axis=0))

    def rate(self, side: Mask) -> float:
        counts = [part.sizes[side] @ part.theta[:2, side].T for part in self.parts]
        counted, rest = np.sum(counts, axis=0)
        return float(counted / (counted + rest)) if counted + rest > 0 else float("nan")

    def denominator(self, side: Mask) -> float:
        """Return the expected weight of the rows among which the rate of a side is a share."""
        return sum(part.denominator(side) for part in self.parts if part.sizes[side].sum() > 0)

    def covariance(self, sides: Mask) -> Array:
        whole = np.zeros((len(sides), len(sides)))
        for part in self.parts:
            slopes = np.zeros((len(sides), part.kinds, part.groups))
            for i, side in enumerate(sides):
                counts = [each.sizes[side] @ each.smoothed[:2, side].T for each in self.parts]
                counted, rest = np.sum(counts, axis=0)
                held = np.where(side, part.sizes, 0.0) / (counted + rest) ** 2
                slopes[i, 0], slopes[i, 1] = held * rest, -held * counted
            flat = slopes.reshape(len(sides), -1)
            whole += flat @ part.covariance @ flat.T
        return whole

    def in_thin_strata(self, side: Mask, fewest: float) -> float:
        """Return the share of a side in strata of few of its people, or that identify no rate."""
        sizes = np.array([part.sizes[side].sum() for part in self.parts])
        thin = [(part.unidentified & side).any() for part in self.parts]
        return float(sizes[np.array(thin) | (sizes < fewest)].sum() / sizes.sum())


def _length(value: Array, step: Array) -> Array:
    most = np.where(step < 0, -value / step, np.inf).min(axis=1, keepdims=True)
    return np.asarray(np.minimum(1.0, _STAY * most))


FEWEST_IN_CELL = 50
"""The rows of the cells from which sharp bounds are computed."""
STEPS = (1, 2, 4, 20, 40)
"""The widths of coarser cells, in those of the grid; the last has all probabilities."""
_SHARE = 1e-9


@quiet
def design_effect(n: Array, squares: Array | None, clusters: Clusters | None) -> float:
    """Return by how much weights and clusters raise the variance of the rate of all rows.

    ``n, squares, clusters``: as of `GroupMixture`.
    """
    counted, rest = n[:, :2].sum(axis=0)
    rate, size = counted / (counted + rest), counted + rest
    influence = np.array([1 - rate, -rate, *[0.0] * (n.shape[1] - 2)]) / size
    if clusters is None:
        variance = (n if squares is None else squares).sum(axis=0) @ influence**2
    else:
        cluster, _, kind, weight, _ = clusters
        variance = variance_between_clusters(cluster, (influence[kind] * weight)[:, None])[0][0, 0]
    alone = rate * (1 - rate) / size
    return max(float(variance / alone), 1.0) if alone > 0 else 1.0


def variance_between_clusters(cluster: Index, influence: Array) -> tuple[Array, float]:
    """Return the covariance of sums of influences, shape (entries, n), and its degrees."""
    _, which = np.unique(cluster, return_inverse=True)
    number = int(which.max(initial=0)) + 1
    sums = np.zeros((number, influence.shape[1]))
    np.add.at(sums, which, influence)
    return sums.T @ sums * (number / max(number - 1, 1)), float(number - 1)


def merged_cells(digits: Index, rows: Array, fewest: float) -> Index:
    """Return the number of a merged cell for each cell: those of few rows go to coarser grids.

    ``digits``: shape (cells, groups): the position of every probability on the grid of 1/20, 20 for
        a probability of 1.
    ``rows``: shape (cells,) or (cells, kinds)
    ``fewest``: the rows, of every kind that it has, that a cell has at least, but for the last one.
    """
    rows = rows.reshape(len(digits), -1)
    merged = np.full(len(digits), -1, dtype=np.int64)
    left, number = np.arange(len(digits)), 0
    for step in STEPS:
        if not len(left):
            break
        _, which = np.unique(digits[left] // step, axis=0, return_inverse=True)
        which = which.reshape(-1)
        size = np.zeros((int(which.max()) + 1, rows.shape[1]))
        np.add.at(size, which, rows[left])
        settled = ((size >= fewest) | (size == 0)).all(axis=1) | (step == STEPS[-1])
        order = np.cumsum(settled) - 1
        kept = settled[which]
        merged[left[kept]] = number + order[which[kept]]
        number += int(settled.sum())
        left = left[~kept]
    return merged


@quiet
def calibration_test(p: Array, known: Array) -> tuple[float, int, float]:
    """Test whether the probabilities agree with the known groups: chi-square, degrees, p-value.

    ``p``: shape (cells, groups)
    ``known``: shape (cells, groups): the known rows of each cell, by group.
    """
    rows = known.sum(axis=1)
    off = known - rows[:, None] * p
    statistic = np.concatenate([off.sum(axis=0), (p * off).sum(axis=0)])
    spread = np.einsum("ci,ij->cij", p, np.eye(p.shape[1])) - np.einsum("ci,cj->cij", p, p)
    parts = [
        [np.einsum("c,cij->ij", rows, spread), np.einsum("c,cij,cj->ij", rows, spread, p)],
        [
            np.einsum("c,ci,cij->ij", rows, p, spread),
            np.einsum("c,ci,cij,cj->ij", rows, p, spread, p),
        ],
    ]
    return chi_square_of(statistic, np.block(parts))


@quiet
def lack_of_fit_test(p: Array, n: Array, theta: Array) -> tuple[float, int, float]:
    """Test whether the outcome is linear in the probabilities: chi-square, degrees, p-value."""
    # A score test of ``p (1 - p)`` of every group: under independence of outcome and probabilities
    # within groups, and right probabilities, it adds nothing. Probabilities that shift the outcome
    # within a group in proportion to themselves cannot be found, by this test or by any other.
    kinds, groups = theta.shape
    means = np.maximum(p @ theta.T, _SHARE)
    columns = np.concatenate([p, p * (1 - p)], axis=1)
    contrasts = np.linalg.svd(np.eye(kinds) - 1 / kinds)[0][:, : kinds - 1]
    score = np.einsum("ck,kj,ci->ji", n / means, contrasts, columns)
    weight = n.sum(axis=1, keepdims=True) / means
    information = np.einsum("ck,kj,kl,ca,cb->jalb", weight, contrasts, contrasts, columns, columns)
    fitted = np.tile(np.arange(2 * groups) < groups, kinds - 1)
    size = (kinds - 1) * 2 * groups
    whole, slope = information.reshape(size, size), score.reshape(size)
    across = whole[np.ix_(~fitted, fitted)] @ np.linalg.pinv(
        whole[np.ix_(fitted, fitted)], hermitian=True
    )
    statistic = slope[~fitted] - across @ slope[fitted]
    variance = whole[np.ix_(~fitted, ~fitted)] - across @ whole[np.ix_(fitted, ~fitted)]
    return chi_square_of(statistic, variance)


def chi_square_of(statistic: Array, variance: Array) -> tuple[float, int, float]:
    """Return chi-square, degrees and p-value of a statistic of expectation 0."""
    scale = np.sqrt(np.maximum(np.diag(variance), 0.0))
    kept = scale > 1e-6 * scale.max(initial=0.0)
    if not kept.any():
        return 0.0, 0, 1.0
    statistic = statistic[kept] / scale[kept]
    values, vectors = np.linalg.eigh(
        variance[np.ix_(kept, kept)] / np.outer(scale[kept], scale[kept])
    )
    used = values > 1e-7
    square = float(((vectors[:, used].T @ statistic) ** 2 / values[used]).sum())
    degrees = int(used.sum())
    return square, degrees, float(chi_square_tail(square, degrees))
