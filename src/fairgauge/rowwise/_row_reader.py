"""Row metrics: reads the rows once more, and measures feature by feature.

One reader serves a whole audit, which may measure again at stricter levels of confidence (Holm):
the rows that it read are the same then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairgauge.enums import DiagnosticCode, Role
from fairgauge.measure.slices import Slice
from fairgauge.results.scopes import Diagnostic
from fairgauge.rowwise._row_arrays import MOST_ROWS, as_arrays, exact_histograms, repeated
from fairgauge.rowwise._row_slices import RowSlice, consistency
from fairgauge.scan.row_access import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.catalogue.row_metrics import RowMetric
    from fairgauge.cube.cube import Cube
    from fairgauge.resolve.group_counts import GroupCounts
    from fairgauge.resolve.resolution import Resolution
    from fairgauge.results.estimates import Estimate
    from fairgauge.scan.source import Source
    from fairgauge.values import Value


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
        columns = self._read(wanted, spec.count)
        rows, scalings = as_arrays(columns, cube, spec, outcome)
        notes = []
        if scalings:
            notes.append(Diagnostic.note(DiagnosticCode.FEATURE_DISTANCE, scalings=scalings))
        estimates: list[Estimate] = []
        for counts in resolution.features:
            codes = counts.codes_of_rows(cube, columns)
            part = RowSlice(Slice(counts, outcome, spec), codes, rows)
            for metric in asked:
                if metric.facts.of != "table":
                    estimates += part.estimates(metric)
                    notes += part.notes(metric)
        for metric in asked:
            if metric.facts.of == "table":
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

    def _read(self, names: Sequence[str], count: str | None) -> dict[str, list[Value]]:
        """Return some columns of all rows, each row as often as it counts; read once."""
        key = (*names, *((count,) if count else ()))
        if key not in self._columns:
            columns = read_rows(self.source, key, recode=self.cube.asked.recode)
            self._columns[key] = columns if count is None else repeated(columns, count)
        return self._columns[key]
