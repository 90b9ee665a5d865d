"""The scores of two models, read from the rows, by the groups of a feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.cube.cube import Cube
from fairgauge.enums import Role
from fairgauge.inference.two.paired_changes import ScoredRows
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, level_codes
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.rowwise._row_reader import MOST_ROWS, repeated
from fairgauge.scan.row_access import numbers_of, read_rows
from fairgauge.scan.source import Source, readable
from fairgauge.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class PairedScoreReader:
    """The scored rows: columns in canonical values, and the scores as numbers."""

    cube: Cube
    spec: Spec
    columns: Mapping[str, Sequence[Value]]
    scores: Mapping[str, Array]

    def sides(
        self, counts: GroupCounts, outcome: OutcomeMasks, candidate: str
    ) -> tuple[ScoredRows, ...]:
        """Return the rows of all sides: groups, other values, all rows, and others of each group.

        They are numbered as in `fairgauge.resolve.sides.CountsBySide`.
        """
        axis = self.cube.plan.axis(Role.LABEL)
        assert axis is not None
        assert self.spec.score is not None
        code = level_codes(axis, self.cube, self.columns[axis.column])
        old, new = (self.scores[name] for name in (self.spec.score, candidate))
        if outcome.turned is not None:
            old, new = outcome.turned - old, outcome.turned - new
        label = np.append(outcome.labels, False)[code]
        group = (
            counts.codes_of_rows(self.cube, self.columns)
            if counts.feature
            else (np.zeros(len(code), dtype=np.int64))
        )
        known = (code >= 0) & ~np.isnan(old) & ~np.isnan(new) & (group >= -1)
        every = range(len(counts.groups))
        masks = [known & (group == g) for g in every]
        masks += [known & (group == -1), known]
        masks += [known & (group != g) for g in every]
        return tuple(ScoredRows(label[mask], old[mask], new[mask]) for mask in masks)


def read_paired_scores(source: Source | None, cube: Cube, spec: Spec) -> PairedScoreReader | None:
    """Read the rows; None where they cannot be read, or are too many, weighted or clustered."""
    apart = spec.weight is None and spec.cluster is None
    possible = source is not None and readable(source) and cube.rows <= MOST_ROWS and apart
    if not possible or source is None or spec.prediction or not (spec.score and spec.label):
        return None
    names = (spec.score, *spec.candidate)
    wanted = [axis.column for axis in cube.plan.axes if axis.role is Role.FEATURE]
    columns = read_rows(
        source,
        [*wanted, spec.label, *names, *([spec.count] if spec.count else [])],
        recode=spec.recode,
    )
    if spec.count is not None:
        columns = repeated(columns, spec.count)
    return PairedScoreReader(cube, spec, columns, {n: numbers_of(columns[n]) for n in names})
