"""The rows as arrays, and the exact histograms of their scores: every bin is one score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import Role
from fairgauge.resolve.group_counts import Histogram, level_codes
from fairgauge.scan.row_access import feature_matrix, numbers_of, read_rows
from fairgauge.scan.source import LEAST_LOG
from fairgauge.values import matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.cube.cube import Cube
    from fairgauge.question.specification import Spec
    from fairgauge.resolve.outcomes import OutcomeMasks
    from fairgauge.values import Value

    Array = NDArray[np.float64]
    from fairgauge.resolve.group_counts import GroupCounts
    from fairgauge.scan.source import Source


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


MOST_ROWS = 1_000_000
"""Rows that are read for their scores; of more, scores are counted in fine bins."""
MOST_CELLS = 3_000_000
"""Groups times labels times distinct scores that are held; beyond, scores stay in fine bins."""


def exact_histograms(
    source: Source, cube: Cube, spec: Spec, features: Sequence[GroupCounts]
) -> tuple[GroupCounts, ...] | None:
    """Return the counts with every distinct score counted as it is; None beyond `MOST_CELLS`.

    Raises
    ------
    DataError
        The rows cannot be read.
    """
    assert spec.score is not None
    wanted = [axis.column for axis in cube.plan.axes if axis.role is Role.FEATURE]
    wanted += [c for c in (spec.label, spec.score, spec.count, spec.weight) if c]
    columns = read_rows(source, wanted, recode=spec.recode)
    scores = numbers_of(columns[spec.score])
    values = np.unique(scores[~np.isnan(scores)])
    most_groups = max((len(each.groups) for each in features), default=0) + 1
    mean_weight = features[0].mean_weight if features else 1.0
    factors = _factors(columns, spec, len(scores), mean_weight)
    label = cube.plan.axis(Role.LABEL)
    labels = 0 if label is None else len(cube.levels[label])
    label_of = (
        np.full(len(scores), -1)
        if label is None
        else level_codes(label, cube, columns[label.column])
    )
    if most_groups * (labels + 1) * len(values) > MOST_CELLS:
        return None
    exact = []
    for each in features:
        groups, group_of = each.groups, each.codes_of_rows(cube, columns)
        kept = ~np.isnan(scores) & (group_of >= -1) & (factors["n"] > 0)
        at = np.where(group_of[kept] < 0, len(groups), group_of[kept])
        at = at * (labels + 1) + np.where(label_of[kept] < 0, labels, label_of[kept])
        at = at * len(values) + np.searchsorted(values, scores[kept])
        shape = (len(groups) + 1, labels + 1, len(values))
        cells = int(np.prod(shape))
        counts: dict[str, Array] = {
            name: np.bincount(at, factor[kept], cells).astype(np.float64).reshape(shape)
            for name, factor in factors.items()
        }
        weights = counts.get("w", counts["n"])
        counts |= {name: weights * of for name, of in _moments(values).items()}
        exact.append(replace(each, histogram=Histogram(values, values, counts)))
    return tuple(exact)


def _factors(
    columns: Mapping[str, Sequence[Value]], spec: Spec, rows: int, mean_weight: float
) -> dict[str, Array]:
    """Return the cases and the weight of every row, 0 where it cannot be counted."""
    cases = np.ones(rows) if spec.count is None else numbers_of(columns[spec.count])
    usable = np.isfinite(cases)
    weight = None if spec.weight is None else numbers_of(columns[spec.weight]) / mean_weight
    if weight is not None:
        usable &= np.isfinite(weight)
    factors = {"rows": usable * 1.0, "n": np.where(usable, cases, 0.0)}
    if weight is not None:
        for power, name in enumerate(WEIGHTS, 1):
            factors[name] = np.where(usable, cases * weight**power, 0.0)
    return factors


def _moments(values: Array) -> dict[str, Array]:
    return {
        "s": values,
        "s2": values**2,
        "ln_s": np.log(np.maximum(values, LEAST_LOG)),
        "ln_1s": np.log(np.maximum(1 - values, LEAST_LOG)),
    }
