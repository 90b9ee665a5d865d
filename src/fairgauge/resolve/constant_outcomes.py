"""Outcomes that are the same in all rows, and columns that determine them: facts of the counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from fairgauge.cube.cube import Cube, Sums
from fairgauge.cube.plan import SQUARES, SUM, Axis, centre_of
from fairgauge.enums import Role, Task
from fairgauge.question.features import Ordered
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.values import name_of

ALMOST_ALL = 0.95
"""The share of the rows of each outcome from which strata determine it, as a copy with mistakes."""
ROUNDING = 1e-11
"""The part of a squared mean up to which a variance is that of rounding alone."""
_FEWEST_DETERMINED = 10
"""Rows of a stratum below which all have one outcome often, whatever the stratum."""
_MOMENTS = {Role.LABEL: ("y", "yy"), Role.PREDICTION: ("p", "pp"), Role.SCORE: (SUM, SQUARES)}
"""The sums of numbers and of their squares."""

ConstantOutcomes = dict[tuple[str, float | None], Reason]
"""Why groups cannot differ in what a metric needs, at a threshold or (None) at any."""


def one_decision(cube: Cube, outcomes: Sequence[OutcomeMasks], task: Task) -> Reason | None:
    """Return that all rows are decided alike, at one of several thresholds or cuts at least."""
    decision = cube.plan.axis(Role.PREDICTION)
    assert decision is not None
    rows = cube.cases_by_level[decision][:-1]
    if task is Task.MULTICLASS:
        if np.count_nonzero(rows) != 1:
            return None
        value = name_of(cube.levels[decision][int(rows.argmax())])
        return Reason.of(ReasonCode.ONE_DECISION, value=value)
    for each in outcomes:
        positive = rows[each.predictions].sum()
        if rows.any() and positive in (0, rows.sum()):
            return Reason.of(
                ReasonCode.ONE_DECISION,
                positive=bool(positive),
                threshold=each.threshold,
                cut=each.class_scope.name,
            )
    return None


def reason_of_one_value(
    needs: Iterable[str], threshold: float | None, constant: ConstantOutcomes
) -> Reason | None:
    """Return why groups cannot differ in a metric; None where some outcome that it needs varies."""
    found = [
        constant.get((need, threshold)) or constant.get((need, None))
        for need in ("score", "prediction", "label")
        if need in needs
    ]
    return found[0] if all(found) and found else None


def constant_outcomes(
    cube: Cube, spec: Spec, outcomes: Sequence[OutcomeMasks], task: Task
) -> ConstantOutcomes:
    """Return which of label, prediction and score are the same in all rows, and at which threshold.

    Protected counts do not show it.
    """
    found: ConstantOutcomes = {}
    for axis in cube.plan.outcomes if cube.min_cell is None else ():
        of = str(axis.role)
        rows = cube.cases_by_level[axis]
        if task is Task.REGRESSION:
            if (number := only_number(cube, axis)) is not None:
                found[of, None] = one_value(of, number)
            continue
        if rows[-1] and spec.profile.rules.missing_outcome_is_negative:
            continue
        if task is Task.MULTICLASS or isinstance(spec.positive, Ordered):
            if np.count_nonzero(rows[:-1]) == 1:
                value = name_of(cube.levels[axis][int(rows[:-1].argmax())])
                found[of, None] = Reason.of(ReasonCode.ONE_VALUE, of=of, value=value)
            continue
        for each in outcomes:
            positive = rows[:-1][each.labels if axis.role is Role.LABEL else each.predictions].sum()
            if rows[:-1].any() and positive in (0, rows[:-1].sum()):
                threshold = None if axis.role is Role.LABEL else each.threshold
                found[of, threshold] = Reason.of(
                    ReasonCode.ONE_VALUE, of=of, positive=bool(positive), threshold=threshold
                )
    score = cube.plan.axis(Role.SCORE)
    if score and cube.min_cell is None and (number := only_number(cube, score)) is not None:
        found["score", None] = one_value("score", number)
    return found


def one_value(of: str, number: float) -> Reason:
    """Return that a number is the same in all rows."""
    return Reason.of(ReasonCode.ONE_VALUE, of=of, value=f"{number:.6g}")


def only_number(cube: Cube, axis: Axis) -> float | None:
    """Return the number that all rows have in a column, None where they differ or are few."""
    rows, sums = sums_of_known(cube, [axis])
    total, squares = _MOMENTS[axis.role]
    mean, alike = only_value(sums["w"], sums[total], sums[squares])
    mean += centre_of(cube.plan) * (total != SUM)
    return mean if alike and rows >= FEWEST_ROWS else None


def sums_of_known(cube: Cube, axes: Sequence[Axis]) -> tuple[int, dict[str, float]]:
    """Return how many rows have a value of every axis, and their sums, with that of weights."""
    table = cube.marginal(axes)
    known = (table.codes >= 0).all(axis=1)
    sums = {name: float(each[known].sum()) for name, each in table.sums.items()}
    return int(sums[cube.plan.cases]), {"w": sums.get("n", sums["rows"]), **sums}


def only_value(weight: float, total: float, squares: float) -> tuple[float, bool]:
    """Return the mean of some rows, and whether they all have it but for rounding."""
    mean = total / weight if weight else math.nan
    return mean, squares - weight * mean**2 <= ROUNDING * squares


def share_determined(positive: Sums, rows: Sums) -> float:
    """Return the smaller share of both outcomes that are those of most rows of their stratum.

    >>> share_determined(np.array([98.0, 0.0, 2.0]), np.array([100.0, 60.0, 2.0]))
    0.967741935483871
    """
    negative = rows - positive
    if not positive.sum() or not negative.sum():
        return 0.0
    held = rows >= _FEWEST_DETERMINED
    alike = positive[held & (positive > negative)], negative[held & (negative > positive)]
    return float(min(alike[0].sum() / positive.sum(), alike[1].sum() / negative.sum()))
