"""Checks of columns that equal, or determine, a column that they are compared or adjusted with."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from fairgauge.checks.stratum_checks import axes_of
from fairgauge.cube.cube import Cube, counts_together
from fairgauge.cube.plan import SQUARES, SUM, Axis
from fairgauge.enums import DiagnosticCode, Role, Task
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.constant_outcomes import (
    ALMOST_ALL,
    ROUNDING,
    only_number,
    only_value,
    share_determined,
    sums_of_known,
)
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, outcome_masks
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import matches


def copies_of_label(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of predictions and scores that are the label column, or a copy of it in every row."""
    if cube.min_cell is None:
        yield from _prediction_is_label(cube, spec)
        if task is Task.REGRESSION:
            yield from _copied_numbers(cube, spec)
        if task is Task.BINARY:
            yield from _score_is_label(cube, spec, outcome_masks(cube, spec, task))


def _copied_numbers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of predicted numbers that equal the label in every row."""
    label, prediction = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or prediction is None or label.column == prediction.column:
        return
    rows, sums = sums_of_known(cube, [label, prediction])
    if rows >= FEWEST_ROWS and sums["gap2"] == 0 and only_number(cube, label) is None:
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_IS_LABEL,
            column=prediction.column,
            label=label.column,
            rows=rows,
            **spec.unit,
        )


def _prediction_is_label(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of a prediction column that is the label column, or equals it in every row."""
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    if label is None or prediction is None or label.bins or prediction.bins:
        return
    counted, equal = _always_equal(cube, label, prediction)
    if equal or spec.label == spec.prediction:
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_IS_LABEL,
            column=spec.prediction,
            label=spec.label,
            rows=counted,
            **spec.unit,
        )


def _score_is_label(
    cube: Cube, spec: Spec, outcomes: Sequence[OutcomeMasks]
) -> Iterator[Diagnostic]:
    """Warn of a score that is the label column, or has one value of its own for each outcome.

    Where its decisions alone are counted (of a candidate, or to search), that these equal the label
    in every row.
    """
    label, decision = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    if label is None or decision is None or not spec.score:
        return
    score = cube.plan.axis(Role.SCORE)
    if (score is None and spec.prediction) or not counts_together(cube, label, score or decision):
        return
    table = cube.marginal([label, score or decision])
    known = (table.codes >= 0).all(axis=1) & (table.sums[cube.plan.cases] > 0)
    codes, sums = table.codes[known], {name: of[known] for name, of in table.sums.items()}
    positive = outcomes[0].labels[codes[:, 0]]
    cases = int(sums[cube.plan.cases].sum())
    copied = len(set(positive.tolist())) > 1 and cases >= FEWEST_ROWS
    if score is None:
        copied &= all((of.predictions[codes[:, 1]] == positive).all() for of in outcomes)
    elif copied:
        weights = sums.get("w", sums.get("n", sums["rows"]))
        (one, alike), (other, same) = (
            only_value(*(float(of[side].sum()) for of in (weights, sums[SUM], sums[SQUARES])))
            for side in (positive, ~positive)
        )
        copied = alike and same and not math.isclose(one, other, rel_tol=math.sqrt(ROUNDING))
    if copied or spec.label == spec.score:
        of_decisions: dict[str, Any] = {} if score else {"decisions": True}
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_IS_LABEL,
            column=spec.score,
            label=spec.label,
            rows=cases,
            score=True,
            **spec.unit,
            **of_decisions,
        )


def copied_outcomes(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of sensitive features that equal the label or the prediction in every row."""
    outcomes = [axis for axis in cube.plan.outcomes if not axis.bins]
    for axis in cube.plan.axes:
        if axis.role is not Role.FEATURE or axis.bins:
            continue
        if axis.column in (spec.label, spec.prediction, spec.score):
            continue  # which `sensitive_outcomes` reports
        for outcome in outcomes:
            if not counts_together(cube, axis, outcome):
                continue
            rows, equal = _always_equal(cube, axis, outcome)
            if equal:
                yield Diagnostic.warning(
                    DiagnosticCode.SENSITIVE_IS_OUTCOME,
                    column=axis.column,
                    role=str(outcome.role),
                    outcome=outcome.column,
                    rows=rows,
                    **spec.unit,
                )
                break


def sensitive_outcomes(spec: Spec) -> Iterator[Diagnostic]:
    """Warn of sensitive features that are the label, the prediction or the score."""
    outcomes = {Role.LABEL: spec.label, Role.PREDICTION: spec.prediction, Role.SCORE: spec.score}
    single = [each.column for each in spec.sensitive]
    crossed = [column for columns in spec.intersections for column in columns]
    for column in dict.fromkeys([*single, *crossed]):
        role = next((role for role, outcome in outcomes.items() if outcome == column), None)
        if role is not None:
            yield Diagnostic.warning(
                DiagnosticCode.SENSITIVE_IS_OUTCOME, column=column, role=str(role)
            )


def _always_equal(cube: Cube, axis: Axis, other: Axis) -> tuple[int, bool]:
    """Return how many rows have a value of two columns, and whether these are equal in all of them.

    A few rows, or a column of one value, may be equal by coincidence: they are not.
    """
    apart, same = 0, 0
    values: set[int] = set()
    table = cube.marginal([axis, other])
    cases = table.sums[cube.plan.cases].tolist()
    for (i, j), rows in zip(table.codes.tolist(), cases, strict=True):
        if min(i, j) >= 0:
            equal = matches(cube.levels[axis][i], cube.levels[other][j])
            apart, same = apart + (not equal) * int(rows), same + equal * int(rows)
            values.update({i} if rows else ())
    several = len(values) > 1  # levels may be there that no row has
    # with fewer rows, even a good prediction may equal the label in every one
    return apart + same, not apart and same >= FEWEST_ROWS and several


def strata_of_outcomes(
    cube: Cube,
    spec: Spec,
    columns: Collection[str],
    roles: Collection[Role],
    controls: Collection[str] = (),
) -> Iterator[Diagnostic]:
    """Warn of columns each value of which has almost one outcome alone, both outcomes included."""
    if cube.min_cell is not None:
        return
    masks = outcome_masks(cube, spec, decide_task(cube, spec))
    for stratum, outcome in product(axes_of(cube, columns), cube.plan.outcomes):
        if outcome.role not in roles or not counts_together(cube, stratum, outcome):
            continue
        table = cube.marginal([stratum, outcome])
        held = (table.codes >= 0).all(axis=1)
        (level, code), rows = table.codes[held].T, table.cases[held]
        every = np.bincount(level, rows).astype(np.float64)
        labels = outcome.role is Role.LABEL
        of_masks = (each.labels if labels else each.predictions for each in masks)
        positive = (np.bincount(level, rows * mask[code]) for mask in of_masks)
        share = max(share_determined(each.astype(np.float64), every) for each in positive)
        if share >= ALMOST_ALL:
            of_control: dict[str, Any] = {"control": True} if stratum.column in controls else {}
            yield Diagnostic.warning(
                DiagnosticCode.STRATUM_IS_OUTCOME,
                column=stratum.column,
                outcome=outcome.column,
                share=share,
                **of_control,
            )


def controls_of_groups(cube: Cube, spec: Spec, controls: Collection[str]) -> Iterator[Diagnostic]:
    """Warn of controls of which no value has rows of two groups of a feature."""
    for name, feature in spec.recorded.items():
        groups = [
            a for a in cube.plan.axes if a.role is Role.FEATURE and a.column in feature.columns
        ]
        for control in axes_of(cube, controls):
            if not counts_together(cube, control, *groups):
                continue
            table = cube.marginal([control, *groups])
            known = (table.codes >= 0).all(axis=1) & (table.sums[cube.plan.cases] > 0)
            held = table.codes[known]
            if len(held) > 1 and len(np.unique(held[:, 0])) == len(held):
                yield Diagnostic.warning(
                    DiagnosticCode.STRATUM_IS_GROUP, name, column=control.column
                )
