"""Checks of groups and strata that are missing in rows: oftener with one outcome than another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from fairgauge.checks.stratum_checks import axes_of
from fairgauge.cube.cube import Cube, Sums, counts_together
from fairgauge.cube.plan import OUTCOMES, Axis
from fairgauge.enums import DiagnosticCode, Role
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Mask
from fairgauge.stats.cluster_robust import largest_design_effect
from fairgauge.stats.significance import homogeneity

MARGIN, HARDLY_CHANCE = 0.02, 1e-3
"""How far apart shares are, and the p-value of a table's least, to be warned of."""
_MANY_MISSING = 0.05
"""The share of rows without a stratum from which they are warned of."""


def missing_values(cube: Cube, spec: Spec, strata: Collection[str]) -> Iterator[Diagnostic]:
    """Warn of groups and strata that are missing more often with one outcome than with another.

    Of strata, which no other note counts, also where many rows lack them, or of one group more.
    """
    if cube.min_cell is not None:
        return
    recorded = () if spec.groups_missing else spec.recorded.values()
    features = {column for feature in recorded for column in feature.columns}
    axes = axes_of(cube, {*strata, *features})
    for axis in axes:
        absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)  # code -1 is last
        table = cube.marginal([axis])
        rows, total = int(table.cases[absent[table.codes[:, 0]]].sum()), int(table.cases.sum())
        if not rows:
            continue
        level = HARDLY_CHANCE / len(axes)
        apart, by_group = (
            max(
                _apart(cube, axis, absent, roles, level),
                key=lambda found: found["most_share"] - found["least_share"],
                default={},
            )
            for roles in (OUTCOMES, (Role.FEATURE,))
        )
        if axis.column not in strata:
            if apart:
                yield Diagnostic.warning(
                    DiagnosticCode.UNEQUALLY_MISSING, axis.column, **apart, **spec.unit
                )
            continue
        if apart or by_group or rows >= max(1, _MANY_MISSING * total):
            yield Diagnostic.warning(
                DiagnosticCode.MISSING_STRATA,
                column=axis.column,
                rows=rows,
                total=total,
                **apart,
                **{f"group_{name}": value for name, value in by_group.items()},
                **spec.unit,
            )


def counted_missing(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of missing values that a profile counts: of groups in facet a, of outcomes as negative.

    Clarify's own library does so; its results state nowhere how many there are.
    """
    rules = spec.profile.rules
    for axis in cube.plan.axes:
        of_facet = axis.role is Role.FEATURE and rules.missing_facet_is_reference
        if of_facet or (axis.role in OUTCOMES and rules.missing_outcome_is_negative):
            absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)
            if rows := int(cube.cases_by_level[axis][absent].sum()):
                yield Diagnostic.warning(
                    DiagnosticCode.MISSING_COUNTED, column=axis.column, rows=rows, facet=of_facet
                )


def _apart(
    cube: Cube, axis: Axis, absent: Mask, roles: Sequence[Role], level: float
) -> Iterator[dict[str, Any]]:
    """Yield how often values are ``absent`` by columns of some roles, where that differs.

    They differ by a margin, and at a ``level`` of the chi-square test.
    """
    for column, names, lacking, every, p in shares_by(cube, axis, absent, roles):
        share = lacking / every
        if np.ptp(share) >= MARGIN and p < level:
            most, least = int(np.argmax(share)), int(np.argmin(share))
            yield {
                "outcome": column,
                "most": names[most],
                "most_share": float(share[most]),
                "least": names[least],
                "least_share": float(share[least]),
                "p": p,
            }


def shares_by(
    cube: Cube, axis: Axis, marked: Mask, roles: Sequence[Role]
) -> Iterator[tuple[str, list[str], Sums, Sums, float]]:
    """Yield what `rows_by` does, and the p-value of the test of equal shares."""
    for column, names, (having,), every in rows_by(cube, axis, [marked], roles):
        yield column, names, having, every, p_of_shares(cube, having, every)


def p_of_shares(cube: Cube, having: Sums, every: Sums) -> float:
    """Return the p-value of the test of equal shares.

    Rows of one cluster are alike: they count as so many as there are clusters, if unequal.
    """
    cluster, alike = cube.plan.axis(Role.CLUSTER), 1.0
    if cluster is not None:
        of_cluster = cube.marginal([cluster])
        alike = largest_design_effect(of_cluster.cases[of_cluster.codes[:, 0] >= 0])
    return float(homogeneity(having / alike, every / alike)[1])


def rows_by(
    cube: Cube, axis: Axis, marked: Sequence[Mask], roles: Sequence[Role]
) -> Iterator[tuple[str, list[str], list[Sums], Sums]]:
    """Yield the rows of each mask of values, and all, of the large levels of columns of some roles.

    Beside them are the column and the names of the levels.
    """
    for other in [a for a in cube.plan.axes if a.role in roles and not a.bins]:
        if not counts_together(cube, axis, other):
            continue
        table = cube.marginal([axis, other])
        known = table.codes[:, 1] >= 0
        codes, rows = table.codes[known], table.cases[known]
        every = np.bincount(codes[:, 1], rows).astype(np.float64)
        having = [
            np.bincount(codes[:, 1], rows * mask[codes[:, 0]]).astype(np.float64) for mask in marked
        ]
        held = np.flatnonzero(every >= FEWEST_ROWS)
        if len(held) > 1:
            names = other.names(cube.levels[other])
            yield other.column, [names[i] for i in held], [e[held] for e in having], every[held]
