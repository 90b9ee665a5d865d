"""Individual: the metrics of single rows, computed from the rows themselves.

They are computed for all rows, not within strata, and do not take weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.estimate import Diagnostic, Estimate, called
from fairgauge.exact_scores import exact_histograms
from fairgauge.metrics.arithmetic import divide
from fairgauge.scan.rows import Neighbours, feature_matrix, numbers_of, read_rows
from fairgauge.tally import EVERYONE, row_groups
from fairgauge.values import matches
from fairgauge.words import Level, Profile, Reference, Role, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.cube import Cube
    from fairgauge.metrics.rowwise import RowMetric
    from fairgauge.reading import Reading
    from fairgauge.scan.source import Source
    from fairgauge.spec import Spec
    from fairgauge.tally import Tally
    from fairgauge.values import Value

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]

NEIGHBOURS = 5
FEWEST_REFERENCE_ROWS = 10
MOST_QUERIES = 20_000
"""Neighbours of more rows than this are looked up for a seeded sample of so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows, as arrays of shape (rows,): NaN where a number is missing.

    ``selected`` is 1 for a positive prediction and 0 for a negative one.
    """

    selected: Array
    prediction: Array
    label: Array
    score: Array
    points: Array


@dataclass(frozen=True, slots=True)
class Answer:
    """One number, the rows it rests on, what it says, or why there is none."""

    value: float
    n_group: int
    n_reference: int | None
    says: str
    reason: str = "a side has no rows with everything it needs"


@dataclass(frozen=True, slots=True)
class RowReader:
    """Computes from the rows of a source what counts cannot give."""

    source: Source
    cube: Cube
    spec: Spec

    def metrics(
        self, asked: Sequence[RowMetric], reading: Reading
    ) -> tuple[list[Estimate], list[Diagnostic]]:
        """Compute the metrics of rows."""
        return measure_rows(self.source, self.cube, self.spec, asked, reading)

    def histograms(self, tallies: Sequence[Tally]) -> tuple[list[Tally], Diagnostic]:
        """Give tallies exact score histograms."""
        return exact_histograms(self.source, self.cube, self.spec, tallies)


def measure_rows(
    source: Source, cube: Cube, spec: Spec, asked: Sequence[RowMetric], reading: Reading
) -> tuple[list[Estimate], list[Diagnostic]]:
    """Compute metrics of rows for every sensitive feature and intersection.

    Raises
    ------
    DataError
        The rows cannot be read.
    """
    plan = cube.plan
    score = spec.score
    wanted = [axis.column for axis in plan.axes if axis.role is Role.FEATURE]
    wanted += [c for c in (spec.label, spec.prediction, score, *spec.features) if c]
    columns = read_rows(source, wanted if spec.count is None else [*wanted, spec.count])
    if spec.count is not None:
        columns = _repeated(columns, spec.count)
    rows, how = _rows(columns, cube, spec, reading)
    notes = [Diagnostic(Level.NOTE, "features", how)] if how else []
    estimates: list[Estimate] = []
    for name, groups, codes in row_groups(cube, spec, columns):
        view = _RowView(name, groups, codes, rows, spec)
        for metric in asked:
            if metric.facts.of != "table":
                estimates += view.estimates(metric)
                notes += view.notes(metric)
    for metric in asked:
        if metric.facts.of == "table":
            estimates.append(_consistency(metric, rows))
    return estimates, notes


def _repeated(columns: Mapping[str, Sequence[Value]], count: str) -> dict[str, list[Value]]:
    """Repeat every row as often as its count says; rows without a count are left out."""
    times = np.nan_to_num(numbers_of(columns[count])).astype(int)
    return {
        name: [value for value, n in zip(values, times.tolist(), strict=True) for _ in range(n)]
        for name, values in columns.items()
    }


def _rows(
    columns: Mapping[str, Sequence[Value]], cube: Cube, spec: Spec, reading: Reading
) -> tuple[Rows, str]:
    count = len(next(iter(columns.values())))
    prediction = cube.plan.axis(Role.PREDICTION)
    selected = np.full(count, np.nan)
    if prediction is not None and not prediction.bins:
        positive = [
            level
            for level, yes in zip(cube.levels[prediction], reading.predictions, strict=True)
            if yes
        ]
        for i, value in enumerate(columns[prediction.column]):
            if value is not None:
                selected[i] = any(matches(value, level) for level in positive)
    elif prediction is not None and prediction.bounds:
        numbers = numbers_of(columns[prediction.column])
        over = (
            numbers >= prediction.cuts[0]
            if prediction.closed == "left"
            else numbers > prediction.cuts[0]
        )
        selected = np.where(np.isnan(numbers), np.nan, over == bool(reading.predictions[-1]))
    points, how = feature_matrix(
        [columns[name] for name in spec.features], scaled=spec.profile is Profile.DOCUMENTED
    )
    shown = ", ".join(f"{name} {way}" for name, way in zip(spec.features, how, strict=True))
    score = _numbers(columns, spec.score, count)
    rows = Rows(
        selected=selected,
        prediction=_numbers(columns, spec.prediction, count),
        label=_numbers(columns, spec.label, count),
        score=score if reading.turned is None else reading.turned - score,
        points=points if len(points) else np.zeros((count, 0)),
    )
    return rows, f"rows are compared by Euclidean distance over {shown}" if shown else ""


class _RowView:
    """One feature: which group every row is of (-1: known, of none; -2: left out)."""

    def __init__(
        self,
        feature: str,
        groups: Sequence[str],
        codes: NDArray[np.int64],
        rows: Rows,
        spec: Spec,
    ) -> None:
        self._feature = feature
        self._groups = groups
        self._codes = codes
        self._rows = rows
        self._spec = spec

    def estimates(self, metric: RowMetric) -> Iterator[Estimate]:
        """Return one estimate for every group, or one for the feature."""
        if metric.facts.of == "feature":
            yield _estimate(metric, self._feature, EVERYONE, None, self._ndkl())
        else:
            for i, group in enumerate(self._groups):
                reference, name = self._reference(i)
                if name != group:
                    shown = called(name)
                    answer = self._answer(metric, self._codes == i, reference, group, shown)
                    yield _estimate(metric, self._feature, group, name, answer)

    def notes(self, metric: RowMetric) -> Iterator[Diagnostic]:
        """Say where neighbours are looked up for a sample alone."""
        largest = int(np.bincount(self._codes[self._codes >= 0], minlength=1).max())
        if metric.kind == "flip" and largest > MOST_QUERIES:
            message = (
                f"{metric.name} looks up the neighbours of a random sample of {MOST_QUERIES:,} "
                f"rows of larger groups (seed {self._spec.seed})"
            )
            yield Diagnostic(Level.NOTE, "sample", message, self._feature)

    def _reference(self, group: int) -> tuple[Mask, str]:
        known, rule = self._codes >= -1, self._spec.reference
        if isinstance(rule, tuple):
            named = " & ".join(str(dict(rule).get(c)) for c in self._feature.split("*"))
            if named in self._groups:
                return self._codes == self._groups.index(named), named
            rule = Reference.REST
        if rule is Reference.OVERALL:
            return known, str(rule)
        if rule in (Reference.LARGEST, Reference.BEST):
            sizes = np.bincount(self._codes[self._codes >= 0], minlength=len(self._groups))
            largest = int(sizes.argmax())
            return self._codes == largest, self._groups[largest]
        return known & (self._codes != group), str(Reference.REST)

    def _answer(
        self, metric: RowMetric, group: Mask, reference: Mask, name: str, other: str
    ) -> Answer:
        if metric.kind == "flip":
            return self._flip(group, reference, name)
        if metric.kind in ("top", "skew", "exposure"):
            return self._ranked(metric, group, reference, name, other)
        values = self._rows.prediction
        if metric.kind.startswith("residual"):
            values = values - self._rows.label
        ours, theirs = (values[side & ~np.isnan(values)] for side in (group, reference))
        if not len(ours) or not len(theirs):
            return Answer(math.nan, len(ours), len(theirs), "")
        value = (_ks if metric.kind.endswith("ks") else _wasserstein)(ours, theirs)
        what = "residuals" if metric.kind.startswith("residual") else "predictions"
        says = f"{name}: {what} lie {value:.4g} from those of {other} ({metric.title})"
        return Answer(value, len(ours), len(theirs), says)

    def _flip(self, group: Mask, reference: Mask, name: str) -> Answer:
        usable = ~np.isnan(self._rows.selected) & ~np.isnan(self._rows.points).any(axis=1)
        ours, theirs = np.flatnonzero(group & usable), np.flatnonzero(reference & usable)
        if not len(ours) or not len(theirs):
            return Answer(math.nan, len(ours), len(theirs), "")
        k = NEIGHBOURS if len(theirs) >= FEWEST_REFERENCE_ROWS else 1
        if len(ours) > MOST_QUERIES:
            # drawn by the values of the rows, not by their places, so that row order is nothing
            order = np.lexsort((*self._rows.points[ours].T, self._rows.selected[ours]))
            rng = np.random.default_rng(self._spec.seed)
            ours = ours[order][rng.choice(len(ours), MOST_QUERIES, replace=False)]
        points, selected = self._rows.points, self._rows.selected
        votes = Neighbours.of(points[theirs], selected[theirs]).mean(points[ours], k)
        better = int(((selected[ours] == 0) & (votes > 0.5)).sum())
        worse = int(((selected[ours] == 1) & (votes < 0.5)).sum())
        value = (better - worse) / len(ours)
        if self._spec.profile is Profile.CLARIFY:  # smclarify counts the other way round
            value = -value
        says = (
            f"{name}: of {len(ours):,} rows, {better:,} are rejected where their neighbours in the "
            f"reference are accepted, {worse:,} the reverse"
        )
        return Answer(value, len(ours), len(theirs), says)

    def _ranked(
        self, metric: RowMetric, group: Mask, reference: Mask, name: str, other: str
    ) -> Answer:
        known = ~np.isnan(self._rows.score) & (self._codes >= -1)
        ours, theirs = group & known, reference & known
        n, m, total = int(ours.sum()), int(theirs.sum()), int(known.sum())
        if not n or not m:
            return Answer(math.nan, n, m, "")
        if metric.kind == "exposure":
            exposure = _exposure(self._rows.score, known)
            value = (math.fsum(exposure[ours]) / n) / (math.fsum(exposure[theirs]) / m)
            says = f"{name}: {value:.3g} times the mean exposure of {other}"
            return Answer(float(value), n, m, says)
        top = metric.top or 0.0
        places = min(math.ceil(total * top / 100) if metric.percent else int(top), total)
        inside = _share_of_top(self._rows.score, known, places)
        if metric.kind == "top":
            share, rest = math.fsum(inside[ours]) / n, math.fsum(inside[theirs]) / m
            value = float(divide(np.array(share), np.array(rest), Profile.DOCUMENTED))
            says = f"{name}: {share:.1%} of its rows in the top {places:,}, {rest:.1%} of {other}"
            return Answer(value, n, m, says, "no row of either side is among the top")
        with np.errstate(divide="ignore"):
            value = float(np.log(math.fsum(inside[ours]) / places / (n / total)))
        top_share = math.fsum(inside[ours]) / places
        says = f"{name}: {top_share:.1%} of the top {places:,}, {n / total:.1%} of all"
        return Answer(value, n, m, says)

    def _ndkl(self) -> Answer:
        known = ~np.isnan(self._rows.score) & (self._codes >= 0)
        n = int(known.sum())
        if not n:
            return Answer(math.nan, 0, None, "")
        shares = np.bincount(self._codes[known], minlength=len(self._groups)) / n
        order = np.argsort(-self._rows.score[known], kind="stable")
        marks = np.eye(len(self._groups))[self._codes[known][order]]
        blocks = _blocks(self._rows.score[known][order])
        mean_marks = _block_means(marks, blocks)  # ties share their places
        tops = np.cumsum(mean_marks, axis=0) / np.arange(1, n + 1)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            kl = np.where(tops > 0, tops * np.log(tops / shares), 0.0).sum(axis=1)
        discount = 1 / np.log2(np.arange(n) + 2)
        value = float((kl * discount).sum() / discount.sum())
        return Answer(
            value, n, None, f"groups in every top of the ranking: NDKL {value:.3g} (0 even)"
        )


def _consistency(metric: RowMetric, rows: Rows) -> Estimate:
    usable = np.flatnonzero(~np.isnan(rows.selected) & ~np.isnan(rows.points).any(axis=1))
    if not len(usable):
        return _estimate(metric, None, EVERYONE, None, Answer(math.nan, 0, None, ""))
    points, selected = rows.points[usable], rows.selected[usable]
    means = Neighbours.of(points, selected).mean(points, NEIGHBOURS)
    value = float(1 - np.abs(selected - means).mean())
    says = f"predictions differ from those of their nearest rows by {1 - value:.1%} on average"
    return _estimate(metric, None, EVERYONE, None, Answer(value, len(usable), None, says))


def _estimate(
    metric: RowMetric,
    feature: str | None,
    group: str,
    reference: str | None,
    answer: Answer,
) -> Estimate:
    who: dict[str, Any] = {
        "metric": metric.name,
        "set": metric.set,
        "feature": feature,
        "group": group,
        "reference": reference,
    }
    sizes: dict[str, Any] = {"n_group": answer.n_group, "n_reference": answer.n_reference}
    if math.isnan(answer.value):
        return Estimate(**who, **sizes, status=Status.UNDEFINED, reason=answer.reason)
    return Estimate(**who, **sizes, value=answer.value, says=answer.says)


def _numbers(columns: Mapping[str, Sequence[Value]], name: str | None, count: int) -> Array:
    return np.full(count, np.nan) if name is None else numbers_of(columns[name])


def _ks(ours: Array, theirs: Array) -> float:
    every = np.concatenate([ours, theirs])
    gaps = _cumulative(ours, every) - _cumulative(theirs, every)
    return float(np.abs(gaps).max())


def _wasserstein(ours: Array, theirs: Array) -> float:
    every = np.sort(np.concatenate([ours, theirs]))
    gaps = _cumulative(ours, every) - _cumulative(theirs, every)
    return float((np.abs(gaps[:-1]) * np.diff(every)).sum())


def _cumulative(values: Array, at: Array) -> Array:
    found: Array = np.searchsorted(np.sort(values), at, side="right") / len(values)
    return found


def _blocks(ordered: Array) -> NDArray[np.int64]:
    """Return a number for each run of equal values, rising."""
    return np.concatenate([[0], np.cumsum(np.diff(ordered) != 0)])


def _block_means(values: Array, blocks: NDArray[np.int64]) -> Array:
    """Replace values of shape (n, G) by the mean of their block."""
    sizes = np.bincount(blocks)
    sums = np.stack([np.bincount(blocks, weights=column) for column in values.T], axis=1)
    means: Array = (sums / sizes[:, None])[blocks]
    return means


def _exposure(score: Array, known: Mask) -> Array:
    """Return 1 / log2(rank + 1) of every row, ties sharing the exposure of their places."""
    at = np.flatnonzero(known)
    order = at[np.argsort(-score[at], kind="stable")]
    places: Array = np.reciprocal(np.log2(np.arange(2.0, len(order) + 2.0)))
    exposure = np.full(len(score), np.nan)
    exposure[order] = _block_means(places[:, None], _blocks(score[order]))[:, 0]
    return exposure


def _share_of_top(score: Array, known: Mask, places: int) -> Array:
    """Return how much of each row is among the first ``places``: 1, 0, or a share in a tie."""
    at = np.flatnonzero(known)
    order = at[np.argsort(-score[at], kind="stable")]
    inside: Array = (np.arange(len(order)) < places).astype(np.float64)
    share = np.zeros(len(score))
    share[order] = _block_means(inside[:, None], _blocks(score[order]))[:, 0]
    return share
