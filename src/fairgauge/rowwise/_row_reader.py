"""Row metrics: reads the rows once more, and measures feature by feature.

One reader serves a whole audit, which may measure again at stricter levels of confidence (Holm):
the rows that it read are the same then. In an exact histogram of their scores every bin is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import DiagnosticCode, Role
from fairgauge.measure.slices import Slice
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, Histogram, level_codes
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.resolution import Resolution
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import Diagnostic
from fairgauge.rowwise._row_slices import Rows, RowSlice, consistency
from fairgauge.rowwise._rows_of_people import last_numbers
from fairgauge.scan.row_access import feature_matrix, numbers_of, read_rows
from fairgauge.scan.source import LEAST_LOG, Source
from fairgauge.stats.arrays import Array
from fairgauge.values import Value, matches


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
        factors["n"] = np.where(usable & (weight > 0), cases, 0.0)
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


@dataclass(frozen=True, slots=True, eq=False)
class RowReader:
    """Computes from the rows of a source what counts cannot give."""

    source: Source
    cube: Cube
    _columns: dict[tuple[str, ...], dict[str, list[Value]]] = field(default_factory=dict)
    _exact: list[tuple[GroupCounts, ...] | None] = field(default_factory=list)

    def metrics(
        self, asked: Sequence[RowMetric], resolution: Resolution
    ) -> tuple[list[Estimate], list[Diagnostic]]:
        """Compute metrics of rows for every sensitive feature and intersection.

        Raises
        ------
        DataError
            The rows cannot be read.
        """
        spec, cube, outcome = resolution.spec, self.cube, resolution.outcomes[0]
        wanted = [axis.column for axis in cube.plan.axes if axis.role is Role.FEATURE]
        wanted += [c for c in (spec.label, spec.prediction, spec.score, *spec.features) if c]
        columns = self._read_people(wanted) if spec.of_people else self._read(wanted, spec.count)
        rows, scalings = as_arrays(columns, cube, spec, outcome)
        notes = []
        if scalings:
            notes.append(Diagnostic.note(DiagnosticCode.FEATURE_DISTANCE, scalings=scalings))
        estimates: list[Estimate] = []
        for counts in resolution.features:
            codes = counts.codes_of_rows(cube, columns)
            part = RowSlice(Slice(counts, outcome, spec), codes, rows)
            for metric in asked:
                if metric.one_per != "table":
                    estimates += part.estimates(metric)
                    notes += part.notes(metric)
        for metric in asked:
            if metric.one_per == "table":
                estimates.append(consistency(metric, rows, spec))
        return estimates, notes

    def exact_scores(self, resolution: Resolution) -> tuple[GroupCounts, ...] | None:
        """Return the counts of every feature with exact scores; None where there are too many."""
        if self.cube.rows > MOST_ROWS:
            return None
        if not self._exact:  # what is counted does not depend on the level of confidence
            features = resolution.features
            self._exact.append(exact_histograms(self.source, self.cube, resolution.spec, features))
        return self._exact[0]

    def _read_people(self, names: Sequence[str]) -> dict[str, list[Value]]:
        """Return features and outcomes of people, of numbers alone; read once."""
        spec, key = self.cube.asked, ("", *names)
        if key not in self._columns:
            rows = self._read((*names, str(spec.person), str(spec.order)), None)
            self._columns[key] = last_numbers(rows, self.cube, spec)
        return self._columns[key]

    def _read(self, names: Sequence[str], count: str | None) -> dict[str, list[Value]]:
        """Return some columns of all rows, each row as often as it counts; read once."""
        key = (*names, *((count,) if count else ()))
        if key not in self._columns:
            columns = read_rows(self.source, key, recode=self.cube.asked.recode)
            self._columns[key] = columns if count is None else repeated(columns, count)
        return self._columns[key]
