"""Every check of the counts of an audit, one row each.

A check reads ordinary counts and the question, and yields diagnostics. No number depends on one;
what a diagnostic casts doubt on, `fairgauge.checks.open_doubts` states in a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fairgauge.checks.copies import (
    copied_outcomes,
    copies_of_label,
    sensitive_outcomes,
    strata_of_outcomes,
)
from fairgauge.checks.favourable import codes_as_favourable, unfavourable_positive
from fairgauge.checks.missingness_checks import counted_missing, missing_values
from fairgauge.checks.names import doubtful_conditions, doubtful_names, doubtful_strata
from fairgauge.checks.outcome_checks import (
    groups_of_one_outcome,
    missing_classes,
    one_number,
    one_outcome,
    predictions_in_another_unit,
    predictions_that_are_no_label,
    undecided_outcomes,
)
from fairgauge.checks.stratum_checks import many_strata
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import OUTCOMES
from fairgauge.enums import Task
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_checks import numeric_groups, single_row_groups
from fairgauge.resolve.question_checks import (
    limits_outside_range,
    uncrossed_features,
    unmatched_groups,
)
from fairgauge.results.scopes import Diagnostic


class CheckedCounts(NamedTuple):
    """The counts of an audit, what is asked of them, and what label and prediction are."""

    cube: Cube
    spec: Spec
    task: Task


@dataclass(frozen=True, slots=True)
class DataCheck:
    """One check: what it looks for, in which tasks, and whether protected counts would hide it."""

    find: Callable[[CheckedCounts], Iterator[Diagnostic]]
    tasks: frozenset[Task] = frozenset(Task)
    exact: bool = False


_BINARY, _CLASSES, _NUMBERS = (frozenset({task}) for task in Task)
OF_OUTCOMES = (
    DataCheck(lambda c: unfavourable_positive(*c), _BINARY),
    DataCheck(lambda c: codes_as_favourable(*c), _BINARY),
    DataCheck(lambda c: copies_of_label(*c), exact=True),
    DataCheck(lambda c: copied_outcomes(c.cube, c.spec), exact=True),
    DataCheck(lambda c: one_outcome(*c), _BINARY | _CLASSES),
    DataCheck(lambda c: groups_of_one_outcome(*c), _BINARY),
    DataCheck(lambda c: one_number(c.cube), _NUMBERS, exact=True),
    DataCheck(lambda c: predictions_that_are_no_label(*c), _BINARY | _CLASSES),
    DataCheck(lambda c: undecided_outcomes(c.cube, c.spec), _BINARY),
    DataCheck(lambda c: missing_classes(c.cube, c.spec), _CLASSES),
    DataCheck(lambda c: predictions_in_another_unit(c.cube), _NUMBERS, exact=True),
)
OF_VALUES = (
    DataCheck(lambda c: undecided_outcomes(c.cube, c.spec), _BINARY),
    DataCheck(lambda c: missing_classes(c.cube, c.spec), _CLASSES),
    DataCheck(lambda c: doubtful_names(c.cube, c.spec)),
)
"""Those that a few rows show as well as many: of every period of a monitor."""
CHECKS = (
    *OF_OUTCOMES,
    DataCheck(lambda c: sensitive_outcomes(c.spec)),
    DataCheck(lambda c: uncrossed_features(c.spec)),
    DataCheck(lambda c: single_row_groups(c.cube, c.spec)),
    DataCheck(lambda c: numeric_groups(c.cube, c.spec)),
    DataCheck(lambda c: many_strata(c.cube, c.spec)),
    DataCheck(lambda c: doubtful_strata(c.cube, c.spec, _strata_alone(c.spec))),
    DataCheck(lambda c: missing_values(c.cube, c.spec, _strata(c.spec)), exact=True),
    DataCheck(lambda c: counted_missing(c.cube, c.spec)),
    DataCheck(lambda c: strata_of_outcomes(c.cube, c.spec, _strata(c.spec), OUTCOMES), exact=True),
    DataCheck(lambda c: doubtful_names(c.cube, c.spec)),
    DataCheck(lambda c: doubtful_conditions(c.cube, c.spec)),
    DataCheck(lambda c: limits_outside_range(c.spec)),
    DataCheck(lambda c: unmatched_groups(c.cube, c.spec)),
)


def likely_mistakes(
    cube: Cube, spec: Spec, task: Task, checks: tuple[DataCheck, ...] = CHECKS
) -> Iterator[Diagnostic]:
    """Yield what the checks find in the counts of an audit."""
    counted = CheckedCounts(cube, spec, task)
    for check in checks:
        if task in check.tasks and not (check.exact and cube.min_cell is not None):
            yield from check.find(counted)


def _strata(spec: Spec) -> list[str]:
    return [each.column for each in spec.strata]


def _strata_alone(spec: Spec) -> set[str]:
    """Return the columns of strata that are no groups, whose names are checked apart."""
    return {*_strata(spec)} - {c for feature in spec.recorded.values() for c in feature.columns}
