"""Gaps adjusted for numbers as they are: by counts of every value, or in scans of the rows.

Rows with the same values of all columns have the same fitted value and leverage, so that their
counts give what the rows would give. Of many different values all gaps are fitted in the same scans
of the rows, from the fit of the counts by intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import ColumnEffects, ReferenceKind, Role, WhyNoRegression
from fairgauge.measure.decompose_gaps import adjusted_gap, adjusted_record
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import level_codes
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.gap_decomposition import UNADJUSTED, AdjustedGap, Gap
from fairgauge.scan.row_codes import CodedRows
from fairgauge.stats.arrays import Index, Mask
from fairgauge.stats.grouped_regression import AdjustedEffect, cells_of
from fairgauge.stats.intervals import critical
from fairgauge.stats.sampling import Sampling, SquaredWeights
from fairgauge.stats.streamed_regression import StreamedLinear, StreamedLogistic, rough_fit

_OF_COLUMN = {
    "selection_rate": Role.PREDICTION, "mean_prediction": Role.PREDICTION,
    "base_rate": Role.LABEL, "mean_label": Role.LABEL,
}  # fmt: skip
"""The rates and means of one outcome, and where it is."""
_MOST_ENTRIES = 20_000_000
"""Entries of a design, cells by columns, above which no regression is fitted."""
_DIGITS = 10
"""Batches come in any order, which changes the last digits of sums."""


def adjusted_for_numbers(
    gaps: Sequence[Gap], exact: Cube, cut: Cube, spec: Spec, numbers: Collection[str]
) -> tuple[Gap, ...]:
    """Return gaps that are also adjusted for columns as numbers, a straight line each.

    Parameters
    ----------
    gaps : their decompositions.
    exact : the counts by every value of the columns.
    cut : the counts of the same rows with the columns cut, without strata.
    spec : what is asked.
    numbers : the columns that are numbers; others have an effect of every level.
    """
    resolution = resolve(cut, spec)
    found = []
    for gap in gaps:
        cells = _cells_of_gap(gap, exact, cut, resolution, numbers)
        if cells is not None:
            counts, squares, sampling, columns = cells
            named = dict(zip(gap.adjusted_for, columns, strict=True))
            values = {
                name: _numbers(exact, name, codes) if name in numbers else codes
                for name, codes in named.items()
            }
            made = (
                adjusted_gap(
                    counts,
                    squares,
                    values,
                    spec.confidence,
                    ColumnEffects.NUMBERS,
                    sampling,
                    exact.plan.centre,
                )
                if all(np.isfinite(each).all() for each in values.values())
                else None  # infinite numbers have no straight line
            )
            if isinstance(made, AdjustedGap):
                gap = replace(gap, adjusted=(*gap.adjusted, made))
        found.append(gap)
    return tuple(found)


def _role_of(gap: Gap) -> Role | None:
    """Return the outcome of a gap that is adjusted for numbers; None where it is not."""
    metric = gap.estimate.definition
    assert isinstance(metric, Contrast)
    beside = gap.scale == "ratio" and not gap.adjusted  # the difference of its rate has it
    # a difference that intervals do not identify is identified by the assumed line alone
    unseen = gap.reason in UNADJUSTED or gap.no_regression is not None or beside
    return None if unseen else _OF_COLUMN.get(metric.of.name)


def _numbers(cube: Cube, name: str, codes: Index) -> Array:
    (axis,) = (a for a in cube.plan.axes if a.column == name and a.role is Role.STRATUM)
    return np.array([float(level or 0) for level in cube.levels[axis]])[codes]


def _cells_of_gap(
    gap: Gap, exact: Cube, cut: Cube, resolution: Resolution, numbers: Collection[str]
) -> (
    tuple[
        tuple[Array, Array, Array, Array],
        tuple[Array, Array] | None,
        Sampling | None,
        Index,
    ]
    | None
):
    """Return the counts of both sides by the values of all columns, and the codes of the values.

    Of means squares are between them, of weighted rows how they were sampled. None where there are
    too many values, and of a gap that is not adjusted.
    """
    role, estimate = _role_of(gap), gap.estimate
    assert isinstance(estimate.definition, Contrast)
    rated, weighted = isinstance(estimate.definition.of, Rate), exact.plan.weight is not None
    if role is None:
        return None
    counts = next(each for each in resolution.features if each.feature == estimate.feature)
    strata = [
        next(a for a in exact.plan.axes if a.role is Role.STRATUM and a.column == name)
        for name in gap.adjusted_for
    ]
    outcome = exact.plan.axis(role)
    assert outcome is not None
    features = [part.axis for part in counts.crossing.parts]
    table = exact.marginal([*features, *strata, outcome])
    held = (table.codes[:, len(features) :] >= 0).all(axis=1)
    codes, sums = table.codes[held], {name: each[held] for name, each in table.sums.items()}
    named = [
        codes[:, i] if axis.cuts else _codes_in(axis, exact, cut)[codes[:, i]]
        for i, axis in enumerate(features)
    ]
    group = counts.crossing.groups_of(np.stack(named, axis=-1))
    ours, theirs = _sides_of(gap, counts.groups, group)
    within = codes[:, len(features) : -1]
    combined, cell = np.unique(within, axis=0, return_inverse=True)
    levels = sum(len(exact.levels[axis]) for axis in strata if axis.column not in numbers)
    if len(combined) * levels > _MOST_ENTRIES:
        return None
    rows = sums["w"] if weighted else sums.get("n", sums["rows"])

    def of_sides(values: Array) -> tuple[Array, Array]:
        found = (_by_cell(cell, on, values, len(combined)) for on in (ours, theirs))
        return next(found), next(found)

    squares = None
    if rated:
        masks = resolution.outcomes[0]
        mask = masks.predictions if role is Role.PREDICTION else masks.labels
        positive = mask[_codes_in(outcome, exact, cut)[codes[:, -1]]]
        values = rows * positive
        squared = [sums["w2"] * positive] * 2 if weighted else []
    else:
        y = "y" if role is Role.LABEL else "p"
        values, squares = sums[y], of_sides(sums[2 * y])
        squared = [sums[f"{y}_w2"], sums[f"{2 * y}_w2"]] if weighted else []
    sampling = None
    if weighted:
        sides = zip(*map(of_sides, (sums["w2"], *squared)), strict=True)
        ours_squared, theirs_squared = (SquaredWeights(*each) for each in sides)
        sampling = Sampling(ours_squared, theirs_squared)
    (x_d, x_a), (n_d, n_a) = of_sides(values), of_sides(rows)
    return (x_d, n_d, x_a, n_a), squares, sampling, combined.T


def _sides_of(gap: Gap, groups: Sequence[str], group: Index) -> tuple[Mask, Mask]:
    """Return which cells or rows are of the group of a gap, and which of its reference."""
    estimate = gap.estimate
    ours = group == groups.index(estimate.group or "")
    assert estimate.reference is not None
    if estimate.reference.kind is ReferenceKind.OTHERS:
        return ours, (group >= -1) & ~ours  # -1: known values of no group
    return ours, group == groups.index(estimate.reference.group or "")


def _codes_in(axis: Axis, exact: Cube, cut: Cube) -> Index:
    """Return the places in one cube of the levels in another, the missing one last."""
    return np.append(level_codes(axis, cut, exact.levels[axis]), -1)


def _by_cell(cell: Index, on: Mask, values: Array, cells: int) -> Array:
    return np.asarray(np.bincount(cell.ravel(), np.where(on, values, 0.0), cells), dtype=float)


def adjusted_by_rows(
    gaps: Sequence[Gap],
    read: Callable[[], Iterator[CodedRows]],
    cube: Cube,
    cut: Cube,
    spec: Spec,
    numbers: Collection[str],
) -> tuple[Gap, ...]:
    """Return gaps that are also adjusted for columns as numbers, a straight line each.

    Parameters
    ----------
    gaps : their decompositions.
    read : scans the rows, in the codes of ``cube``.
    cube : the counts with the numbers in intervals.
    cut : the counts of the rows that have a value in every column, without strata.
    spec : what is asked.
    numbers : the columns that are numbers; others have an effect of every level.
    """
    resolution = resolve(cut, spec)
    layout = _Layout.of(gaps, cube, numbers)
    fits = [_fit_of(gap, layout, cut, resolution) for gap in gaps]
    pending = [fit for fit in fits if fit is not None]
    while pending:
        for rows in read():
            if not _add(rows, pending, layout, resolution):
                return tuple(gaps)  # infinite numbers have no straight line
        for fit in pending:
            fit.regression.end_of_scan()
        pending = [fit for fit in pending if not fit.regression.done]
    return tuple(
        gap
        if fit is None or fit.regression.found is None
        else _with(gap, _rounded(fit.regression.found), spec.confidence)
        for gap, fit in zip(gaps, fits, strict=True)
    )


def _with(gap: Gap, found: AdjustedEffect, confidence: float) -> Gap:
    if {gap.estimate.rate_group, gap.estimate.rate_reference} & {0.0, 1.0}:
        found = found._replace(log_odds=float("nan"))  # the sides separate the outcomes
    record = adjusted_record(found, ColumnEffects.NUMBERS, confidence, critical(confidence))
    return replace(gap, adjusted=(*gap.adjusted, record))


def _rounded(found: AdjustedEffect) -> AdjustedEffect:
    def digits(value: float) -> float:
        return float(f"{value:.{_DIGITS}g}")

    return found._replace(
        difference=digits(found.difference),
        low=digits(found.low),
        high=digits(found.high),
        p=digits(found.p),
        ratio=(digits(found.ratio[0]), digits(found.ratio[1]), digits(found.ratio[2])),
        log_odds=digits(found.log_odds),
        log_odds_error=digits(found.log_odds_error),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """The columns of the strata: what are numbers, and the combinations of the others.

    Attributes
    ----------
    cube : the counts with the numbers in intervals.
    numbers : the axes of the numbers, of which the middle is 0 and the spread 1.
    middle, spread : of the numbers.
    levels : the axes of the other columns.
    keys : the combinations of their levels, ascending, each as one number.
    """

    cube: Cube
    numbers: tuple[Axis, ...]
    middle: Array
    spread: Array
    levels: tuple[Axis, ...]
    keys: Index

    @classmethod
    def of(cls, gaps: Sequence[Gap], cube: Cube, numbers: Collection[str]) -> _Layout:
        named = {axis.column: axis for axis in cube.plan.axes if axis.role is Role.STRATUM}
        axes = [named[column] for column in gaps[0].adjusted_for] if gaps else []
        cut = tuple(axis for axis in axes if axis.column in numbers)
        levels = tuple(axis for axis in axes if axis.column not in numbers)
        middle, spread = [], []
        for axis in cut:
            table = cube.marginal([axis])
            known = table.codes[:, 0] >= 0
            values = _middles(axis)[table.codes[known, 0]]
            rows = table.sums["rows"][known]
            middle.append(float(np.average(values, weights=rows)))
            spread.append(float(np.sqrt(np.average((values - middle[-1]) ** 2, weights=rows))))
        layout = cls(cube, cut, np.array(middle), np.array(spread), levels, np.array([0]))
        table = cube.marginal(list(levels))
        codes = table.codes[(table.codes >= 0).all(axis=1)]
        return replace(layout, keys=np.unique(layout.key(codes.T)))

    def key(self, codes: Sequence[Index] | Index) -> Index:
        """Return combinations of levels as one number each."""
        size = len(codes[0]) if len(codes) else 1
        key = np.zeros(size, dtype=np.int64)
        for axis, code in zip(self.levels, codes, strict=True):
            key = key * len(self.cube.levels[axis]) + code
        return key

    def scaled(self, numbers: Mapping[str, Array]) -> Array:
        """Return the numbers of rows about their middle, by their spread."""
        columns = [numbers[axis.column] for axis in self.numbers]
        return (np.stack(columns, axis=-1) - self.middle) / np.where(self.spread, self.spread, 1.0)


def _middles(axis: Axis) -> Array:
    """Return a number in the middle of each interval, and beside the outer ends."""
    cuts = np.array(axis.cuts)
    if len(cuts) == 1:
        return np.array([cuts[0] - 1.0, cuts[0] + 1.0])
    first, last = cuts[1] - cuts[0], cuts[-1] - cuts[-2]
    return np.concatenate([[cuts[0] - first], (cuts[1:] + cuts[:-1]) / 2, [cuts[-1] + last]])


@dataclass(frozen=True, slots=True, eq=False)
class _GapFit:
    """The regression of a gap.

    Attributes
    ----------
    gap, role : what it is of.
    place : the cell of each side and combination of levels, -1 without rows.
    regression : the fit.
    """

    gap: Gap
    role: Role
    place: Index
    regression: StreamedLogistic | StreamedLinear


def _fit_of(gap: Gap, layout: _Layout, cut: Cube, resolution: Resolution) -> _GapFit | None:
    """Return the regression of a gap, with start values; None where there is none."""
    role = _role_of(gap)
    found = _cells_of_gap(gap, layout.cube, cut, resolution, ())
    if role is None or found is None:
        return None
    (x_d, n_d, x_a, n_a), squares, sampling, codes = found
    of_column = dict(zip(gap.adjusted_for, codes, strict=True))
    own = [of_column[axis.column] for axis in layout.levels]
    key = layout.key(own) if own else np.zeros(len(n_d), dtype=np.int64)
    combination = np.searchsorted(layout.keys, key)
    count = len(layout.keys)
    rows_d, rows_a = (np.bincount(combination, n, count).astype(float) for n in (n_d, n_a))
    first = np.unique(combination, return_index=True)
    columns = [np.zeros(count, dtype=np.int64)]
    for each in own:
        column = np.zeros(count, dtype=np.int64)
        column[first[0]] = each[first[1]]
        columns.append(column)
    cells = cells_of(rows_d, rows_a, columns)
    if isinstance(cells, WhyNoRegression):
        return None
    place = np.full((2, count), -1)
    for side, held in enumerate(cells.held):
        place[side, held] = np.arange(held.sum()) + (int(cells.held[0].sum()) if side else 0)
    z = critical(resolution.spec.confidence)
    if squares is not None:
        linear = StreamedLinear(cells, len(layout.numbers), z, centre=layout.cube.plan.centre)
        return _GapFit(gap, role, place, linear)
    middles = {a.column: _middles(a)[of_column[a.column]] for a in layout.numbers}
    number = np.tile(layout.scaled(middles), (2, 1))
    cell = np.concatenate([place[0, combination], place[1, combination]])
    x, n = np.concatenate([x_d, x_a]), np.concatenate([n_d, n_a])
    unit = 1.0
    if sampling is not None:
        unit = float(sampling.group.rows.sum() + sampling.reference.rows.sum()) / float(n.sum())
    cell, number, x, n = (each[n > 0] for each in (cell, number, x / unit, n / unit))
    cells = cells.settling(*(np.asarray(np.bincount(cell, e), dtype=float) for e in (x, n)))
    if isinstance(cells, WhyNoRegression):
        return None
    mixed = np.isnan(cells.settled)[cell]
    start = rough_fit(cells, cell[mixed], number[mixed], x[mixed], n[mixed])
    if start is None:
        return None
    regression = StreamedLogistic(cells, start, z, unit=unit)
    return _GapFit(gap, role, place, regression)


def _add(rows: CodedRows, fits: Sequence[_GapFit], layout: _Layout, resolution: Resolution) -> bool:
    """Give rows to the fits; False where a number is infinite."""
    z = layout.scaled(rows.numbers)
    known = ~np.isnan(z).any(axis=1)
    if np.isinf(z[known]).any():
        return False
    codes = [rows.codes[axis].astype(np.int64) for axis in layout.levels]
    for each in codes:
        known &= each >= 0
    key = layout.key(codes) if codes else np.zeros(len(z), dtype=np.int64)
    combination = np.searchsorted(layout.keys, key).clip(max=len(layout.keys) - 1)
    cases = np.ones(len(z)) if rows.cases is None else rows.cases
    n = cases if rows.weights is None else cases * rows.weights
    sums = [n] if rows.weights is None else [n, n * rows.weights]
    known &= n > 0
    groups: dict[str | None, Index] = {}
    outcomes: dict[Role, tuple[Array, Mask]] = {}
    for fit in fits:
        feature = fit.gap.estimate.feature
        counts = next(each for each in resolution.features if each.feature == feature)
        if feature not in groups:
            # counts without strata have the levels of those by intervals
            named = [rows.codes[part.axis].astype(np.int64) for part in counts.crossing.parts]
            groups[feature] = counts.crossing.groups_of(np.stack(named, axis=-1))
        if fit.role not in outcomes:
            outcomes[fit.role] = _outcome(rows, fit, layout.cube, resolution)
        value, has_value = outcomes[fit.role]
        ours, theirs = _sides_of(fit.gap, counts.groups, groups[feature])
        used = np.flatnonzero((ours | theirs) & known & has_value)
        side = np.where(ours[used], 0, 1)
        cell = fit.place[side, combination[used]]
        fit.regression.add(cell, z[used], value[used], *(each[used] for each in sums))
    return True


def _outcome(
    rows: CodedRows, fit: _GapFit, cube: Cube, resolution: Resolution
) -> tuple[Array, Mask]:
    """Return the value of each row in the outcome of a gap, and whether it has one."""
    axis = cube.plan.axis(fit.role)
    assert axis is not None
    metric = fit.gap.estimate.definition
    assert isinstance(metric, Contrast)
    if not isinstance(metric.of, Rate):
        number = rows.numbers[axis.column]
        return np.nan_to_num(number) - cube.plan.centre, ~np.isnan(number)
    masks = resolution.outcomes[0]
    mask = masks.predictions if fit.role is Role.PREDICTION else masks.labels
    codes = rows.codes[axis]
    return mask[np.maximum(codes, 0)].astype(np.float64), codes >= 0
