"""Excluded rows: which rows of a cube are in no rate or not in all of them, and why."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from fairgauge.cube.cube import Cube, cases_of_no_weight
from fairgauge.cube.plan import OUTCOMES, Axis
from fairgauge.enums import DiagnosticCode, Level, Role, Uncounted
from fairgauge.question.features import Probabilities
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Mask
from fairgauge.values import name_of

OF_NO_WEIGHT = "weight of 0"
"""Why rows that weigh nothing are excluded."""
NO_CLUSTER = f"missing {Role.CLUSTER}"
"""Why rows are in no confidence interval."""

_NAMES_OF_OTHERS = {*map(str, Role), "count", "weight"}
# the roles of axes that tables of the same outcomes do not share
_OF_GROUPS = {Role.FEATURE, Role.PROXY, Role.KNOWN, Role.CANDIDATE}
_ALL_OUTCOMES = (*OUTCOMES, Role.SCORE)
MANY_UNCLUSTERED = 0.05
"""The share of the rows from which those without a cluster are warned of."""


def missing_group(column: str) -> str:
    """Return the reason that rows lack a group of a sensitive feature.

    >>> missing_group("sex"), missing_group("label")
    ('missing sex', 'missing label (sensitive feature)')
    """
    apart = " (sensitive feature)" if column in _NAMES_OF_OTHERS else ""
    return f"missing {column}{apart}"


def excluded_group(column: str) -> str:
    """Return the reason that rows are in a group of a sensitive feature that is excluded."""
    return f"group of {column} that is excluded"


def missing_in_condition(column: str) -> str:
    """Return the reason that nobody knows whether rows meet a condition."""
    return f"missing {column} (where)"


def missing_stratum(column: str, strata: int) -> str:
    """Return the reason that rows are in no number within strata, of so many columns.

    >>> missing_stratum("branch", 1), missing_stratum("branch", 2)
    ('missing stratum', 'missing branch (stratum)')
    """
    return f"missing {f'{column} (stratum)' if strata > 1 else Role.STRATUM}"


def unit_excluded(reason: str, unit: str) -> str:
    """Return what is excluded for a reason: rows where nobody knows of how many cases or people.

    >>> unit_excluded("missing count", "cases"), unit_excluded("missing weight", "cases")
    ('rows', 'cases')
    """
    known = reason == Uncounted.NO_WEIGHT and unit != "people"
    return unit if known or reason not in {*Uncounted} else "rows"


def used_rows(
    cube: Cube, spec: Spec, needed: Collection[Role] = _ALL_OUTCOMES
) -> tuple[int, tuple[Diagnostic, ...]]:
    """Count the cases whose needed outcomes are known, and at least one audited feature.

    Features that are counted apart do not show which rows have a group of several of them, nor
    which have none of any: the rows are then those of the feature with most, and a note states it.
    """
    cluster = cube.plan.axis(Role.CLUSTER)
    unclustered = [table for table in cube.tables if cluster not in table.axes]
    joint = max(unclustered, key=lambda table: len(table.axes))
    outcomes = {axis for axis in joint.axes if axis.role not in _OF_GROUPS}
    groups = {axis for axis in cube.plan.axes if axis.role in (Role.FEATURE, Role.PROXY)}
    used, complete, together = 0, 0, False
    for table in unclustered:
        if outcomes != {axis for axis in table.axes if axis.role not in _OF_GROUPS}:
            continue
        in_any = np.zeros(len(table.codes), dtype=bool)
        known = np.ones(len(table.codes), dtype=bool)
        in_group: dict[str, Mask] = {}
        for axis, codes in zip(table.axes, table.codes.T, strict=True):
            absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)
            if axis.role is Role.FEATURE:
                in_group[axis.column] = compared_codes(axis, cube, spec)[codes]
            elif axis.role in (Role.PROXY, Role.KNOWN):
                in_any |= ~absent[codes]
            elif axis.role in needed:
                known &= ~absent[codes] | spec.profile.as_smclarify
        in_any |= any(not _unplaced_people(cube, each, spec) for each in spec.probabilities)
        for feature in spec.recorded.values():  # of an intersection, in a group of each column
            if in_group.keys() >= set(feature.columns):
                in_any |= np.all([in_group[column] for column in feature.columns], axis=0)
        used = max(used, int(table.cases[known & in_any].sum()))
        complete = int(table.cases[known].sum())
        together |= groups <= {*table.axes}
    exact = together or used == complete
    return used, () if exact else (Diagnostic.note(DiagnosticCode.USED_AT_LEAST, rows=used),)


def excluded_rows(
    cube: Cube, spec: Spec, needed: Collection[Role] = _ALL_OUTCOMES
) -> dict[str, int]:
    """Count cases excluded, by reason; those without an outcome where it is needed.

    Rows without a count are rows, as nobody knows for how many cases they stand.
    """
    reasons = {str(reason): rows for reason, rows in cube.excluded.items()}
    if weightless := cases_of_no_weight(cube):
        reasons[OF_NO_WEIGHT] = weightless
    if not spec.of_people:  # who are counted, and not rows
        reasons |= {missing_in_condition(c): rows for c, rows in cube.without_condition.items()}
    for axis in cube.plan.axes:
        rows = cube.cases_by_level[axis]
        absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)  # code -1 is last
        missing = int(rows[absent].sum())
        if axis.role is Role.FEATURE:
            apart = np.isin([*axis.names(cube.levels[axis]), ""], spec.exclude_groups)
            if not spec.groups_missing:
                differ = dict(cube.conflicts).get(axis.column, 0)
                groups = f"contradictory {axis.column}", missing_group(axis.column)
                without = zip(groups, (differ, missing - differ), strict=True)
                reasons |= {reason: n for reason, n in without if n}
            if excluded := int(rows[apart].sum()):
                reasons[excluded_group(axis.column)] = excluded
        elif axis.role is Role.PROXY:
            of = next(each for each in spec.probabilities if each.cell == axis.column)
            if unplaced := _unplaced_people(cube, of, spec):
                reasons[missing_group(of.name)] = unplaced
        elif axis.role in (Role.CANDIDATE, Role.KNOWN, Role.CODES):
            continue  # of other models; few are known; and counted as another axis
        elif axis.role in (Role.STRATUM, Role.CLUSTER):
            if missing:
                of_stratum = missing_stratum(axis.column, len(spec.strata))
                reasons[of_stratum if axis.role is Role.STRATUM else NO_CLUSTER] = missing
        elif axis.role in _ALL_OUTCOMES and axis.role not in needed:
            continue
        elif missing and not spec.profile.as_smclarify:
            name = "score" if axis.bounds else str(axis.role)
            reasons[f"missing {name}"] = missing
    return reasons


def compared_codes(axis: Axis, cube: Cube, spec: Spec) -> Mask:
    """Return which codes of a feature are of a group that is compared; the last is of none."""
    missing = np.append(unknown_levels(axis, cube.levels[axis], spec), True)
    apart = np.isin([*axis.names(cube.levels[axis]), ""], spec.exclude_groups)
    return (~missing | spec.groups_missing) & ~apart


def exclusion_notes(
    excluded: Mapping[str, int], spec: Spec, every: float = math.inf
) -> Iterator[Diagnostic]:
    """Note the rows that are excluded, by reason; warn where many of ``every`` row lack a cluster.

    Intervals would be of a part of the rows that values are of.
    """
    for reason, rows in excluded.items():
        counted = spec.unit.get("unit", "rows")
        unit = spec.unit if unit_excluded(reason, counted) == counted else {}
        if reason != Uncounted.SAME_PERSON:  # of whom one decision counts, as another note states
            note = Diagnostic.note(DiagnosticCode.EXCLUDED, rows=rows, reason=reason, **unit)
            many = reason == NO_CLUSTER and rows >= MANY_UNCLUSTERED * every
            yield replace(note, level=Level.WARNING) if many else note


def _unplaced_people(cube: Cube, of: Probabilities, spec: Spec) -> int:
    # estimates by a random sample are of these, too
    from fairgauge.resolve.unrecorded_counts import UnrecordedGroups

    unknown = frozenset(map(name_of, spec.unknown))
    counts = UnrecordedGroups(of, spec.probabilities.index(of), cube, unknown)
    return 0 if counts.sampled else counts.unplaced
