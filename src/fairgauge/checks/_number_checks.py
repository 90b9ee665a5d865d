"""Checks of what numbers are, whatever columns are called: sums, rates, exposure, places."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fairgauge.catalogue.directions import AMOUNTS
from fairgauge.cube.cube import Cube, counts_together
from fairgauge.cube.plan import AROUND_NUMBERS, GROUPED, Axis
from fairgauge.enums import DiagnosticCode, Observation, Role
from fairgauge.identity import GroupId, group_names
from fairgauge.question import category_words as words
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import group_columns
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats import patterns


def groups_that_overlap(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of groups whose every count is the sum of those of others, whatever they are called."""
    for grouping in group_columns(cube, spec).values():
        axis, outcomes = grouping.axis, cube.plan.outcomes
        if len(grouping.groups) < 3 or not counts_together(cube, axis, *outcomes):
            continue
        table = cube.marginal([axis, *outcomes])
        table = table.where(grouping.group_of[table.codes[:, 0]] >= 0)
        of_group, several = grouping.group_of[table.codes[:, 0]], len(grouping.groups)
        cell = np.unique(table.codes[:, 1:], axis=0, return_inverse=True)[1].ravel()
        cells = np.zeros((several, int(cell.max(initial=-1)) + 1), dtype=np.int64)
        np.add.at(cells, (of_group, cell), table.cases.astype(np.int64))
        amounts = [np.bincount(of_group, table.sums[each], several).tolist()
                   for each in ("y", "p") if each in table.sums]  # fmt: skip
        for at, parts in patterns.sums_of_others(cells.tolist(), amounts):
            names = group_names([GroupId.of(each) for each in grouping.groups])
            if not words.is_total(names[at], names):  # of which another check warns
                yield Diagnostic.warning(
                    DiagnosticCode.GROUPS_THAT_OVERLAP, axis.column, value=names[at],
                    parts=tuple(names[each] for each in parts), rows=int(cells[at].sum()),
                    **spec.unit,
                )  # fmt: skip


def rates_with_counts(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of labels that are rates of the cases of their rows, or how many of these have one."""
    column = spec.label or spec.prediction
    axis = Axis(Role.CODES, column or "", AROUND_NUMBERS)
    if spec.count is None or axis not in cube.levels or spec.count == column:
        return
    rows = _rows_by_interval(cube, axis)
    outcome = next(each for each in cube.plan.outcomes if each.column == column)
    sums = {m: float(s.sum()) for m, s in cube.marginal([outcome]).known([outcome]).sums.items()}
    is_rate = patterns.are_rates(rows) or any(cube.seen(Observation.MEANS, column))
    if is_rate or (patterns.are_many_numbers(rows) and patterns.are_parts_of_cases(sums)):
        yield Diagnostic.warning(
            DiagnosticCode.RATES_WITH_COUNTS, column=column, of=spec.count, share=is_rate
        )


def exposure_as_weight(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of a weight that counts of events grow with, as they do with the time at risk."""
    axis = Axis(Role.CODES, spec.label or "", AROUND_NUMBERS)
    label = cube.plan.axis(Role.LABEL)
    if spec.weight is None or label is None or axis not in cube.levels:
        return
    table = cube.tables[0].known([label])
    of_cells = table.over([each for each in table.axes if each.role in GROUPED])
    sums = {m: s.tolist() for m, s in of_cells.sums.items()}
    if patterns.are_events(_rows_by_interval(cube, axis)) and patterns.is_exposure(sums):
        code = DiagnosticCode.EXPOSURE_AS_WEIGHT
        yield Diagnostic.warning(code, column=spec.weight, label=spec.label)


def _rows_by_interval(cube: Cube, axis: Axis) -> list[tuple[float, float, float]]:
    table, ends = cube.marginal([axis]).known([axis]), [-math.inf, *axis.cuts, math.inf]
    places, rows = table.codes[:, 0].tolist(), table.sums["rows"].tolist()
    return [(ends[i], ends[i + 1], n) for i, n in zip(places, rows, strict=True) if n > 0]


def places_as_scores(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of scores that are places, of which the first is the best, unless it is stated."""
    axis = cube.plan.axis(Role.SCORE, spec.score)
    if axis is None or spec.favourable in AMOUNTS or spec.weight or spec.count:
        return
    table = cube.marginal([axis]).known([axis])
    low, high = axis.edges(table.codes[:, 0], cube.levels[axis])
    order = low.argsort(kind="stable")
    rows = table.sums["rows"][order].astype(int).tolist()
    sizes: list[int] = []
    if spec.list and (lists := cube.plan.axis(Role.CLUSTER)):
        sizes = cube.marginal([lists]).known([lists]).sums["rows"].astype(int).tolist()
    if rows and patterns.are_places(low[order].tolist(), high[order].tolist(), rows, sizes):
        code = DiagnosticCode.PLACES_AS_SCORES
        yield Diagnostic.warning(code, column=spec.score, rows=sum(rows), **spec.unit)
