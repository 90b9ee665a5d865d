"""The door to the metrics of rows: reads the rows once more, and measures feature by feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.enums import Level, Role
from fairgauge.report.estimates import Diagnostic
from fairgauge.resolve.group_counts import row_groups
from fairgauge.rowwise.exact_scores import exact_histograms
from fairgauge.rowwise.row_arrays import as_arrays, repeated
from fairgauge.rowwise.row_slices import RowView, consistency
from fairgauge.scan.row_access import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.catalogue.row_metrics import RowMetric
    from fairgauge.cube.cube import Cube
    from fairgauge.report.estimates import Estimate
    from fairgauge.resolve.group_counts import Tally
    from fairgauge.resolve.outcomes import Reading
    from fairgauge.scan.source import Source
    from fairgauge.spec.specification import Spec


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
        columns = repeated(columns, spec.count)
    rows, how = as_arrays(columns, cube, spec, reading)
    notes = [Diagnostic(Level.NOTE, "features", how)] if how else []
    estimates: list[Estimate] = []
    for name, groups, codes in row_groups(cube, spec, columns):
        view = RowView(name, groups, codes, rows, spec)
        for metric in asked:
            if metric.facts.of != "table":
                estimates += view.estimates(metric)
                notes += view.notes(metric)
    for metric in asked:
        if metric.facts.of == "table":
            estimates.append(consistency(metric, rows, spec))
    return estimates, notes
