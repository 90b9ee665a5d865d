"""The rows as arrays: what was decided, predicted and scored, and where each row lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import Role
from fairgauge.scan.row_access import feature_matrix, numbers_of
from fairgauge.values import matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.cube.cube import Cube
    from fairgauge.question.specification import Spec
    from fairgauge.resolve.outcomes import OutcomeMasks
    from fairgauge.values import Value

    Array = NDArray[np.float64]


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


def repeated(columns: Mapping[str, Sequence[Value]], count: str) -> dict[str, list[Value]]:
    """Repeat every row as often as its count; rows without a count are excluded."""
    times = np.nan_to_num(numbers_of(columns[count])).astype(int)
    return {
        name: [value for value, n in zip(values, times.tolist(), strict=True) for _ in range(n)]
        for name, values in columns.items()
    }


def as_arrays(
    columns: Mapping[str, Sequence[Value]], cube: Cube, spec: Spec, outcome: OutcomeMasks
) -> tuple[Rows, tuple[str, ...]]:
    """Turn columns into arrays; with how each feature that rows are compared by is scaled."""
    count = len(next(iter(columns.values())))
    prediction = cube.plan.axis(Role.PREDICTION)
    selected = np.full(count, np.nan)
    if prediction is not None and not prediction.bins:
        positive = [
            level
            for level, yes in zip(cube.levels[prediction], outcome.predictions, strict=True)
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
        selected = np.where(np.isnan(numbers), np.nan, over == bool(outcome.predictions[-1]))
    points, how = feature_matrix(
        [columns[name] for name in spec.features], scaled=spec.profile.rules.features_are_scaled
    )
    scalings = tuple(f"{name} {way}" for name, way in zip(spec.features, how, strict=True))
    score = _numbers(columns, spec.score, count)
    rows = Rows(
        selected=selected,
        prediction=_numbers(columns, spec.prediction, count),
        label=_numbers(columns, spec.label, count),
        score=score if outcome.turned is None else outcome.turned - score,
        points=points if len(points) else np.zeros((count, 0)),
    )
    return rows, scalings


def _numbers(columns: Mapping[str, Sequence[Value]], name: str | None, count: int) -> Array:
    return np.full(count, np.nan) if name is None else numbers_of(columns[name])
