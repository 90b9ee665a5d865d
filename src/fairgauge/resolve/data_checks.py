"""Checks of the specification against the data: assumptions, likely mistakes, unknown names.

Nothing here changes a number. Without these checks an audit would silently answer a question that
was not meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import OUTCOMES
from fairgauge.enums import Task
from fairgauge.question.specification import Spec
from fairgauge.resolve.copy_checks import sensitive_outcomes, strata_of_outcomes
from fairgauge.resolve.group_checks import numeric_groups, single_row_groups
from fairgauge.resolve.missingness_checks import counted_missing, missing_values
from fairgauge.resolve.name_checks import doubtful_conditions, doubtful_names
from fairgauge.resolve.outcome_checks import mistaken_outcomes
from fairgauge.resolve.question_checks import (
    limits_outside_range,
    uncrossed_features,
    unmatched_groups,
)
from fairgauge.resolve.stratum_checks import doubtful_strata, many_strata
from fairgauge.results.scopes import Diagnostic


def likely_mistakes(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of values that suggest that something else was meant."""
    yield from mistaken_outcomes(cube, spec, task)
    yield from sensitive_outcomes(spec)
    yield from uncrossed_features(spec)
    yield from single_row_groups(cube, spec)
    yield from numeric_groups(cube, spec)
    yield from many_strata(cube, spec)
    strata = [each.column for each in spec.strata]
    sensitive = {c for feature in spec.recorded.values() for c in feature.columns}
    yield from doubtful_strata(cube, spec, set(strata) - sensitive)
    yield from missing_values(cube, spec, strata)
    yield from counted_missing(cube, spec)
    yield from strata_of_outcomes(cube, spec, strata, OUTCOMES)
    yield from doubtful_names(cube, spec)
    yield from doubtful_conditions(cube, spec)
    yield from limits_outside_range(spec)
    yield from unmatched_groups(cube, spec)
