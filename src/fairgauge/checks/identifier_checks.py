"""Checks of people and clusters: identifiers that never repeat, or are doubtful, and dates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, Role, Uncounted
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import name_of


def never_repeats(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of people or clusters of one row each: counted by them, rows count as without them."""
    axis = cube.plan.axis(Role.CLUSTER)
    if cube.min_cell is not None or spec.count:
        return
    if spec.of_people:
        single = cube.rows > 1 and not cube.excluded.get(Uncounted.SAME_PERSON)
    else:
        rows = cube.cases_by_level[axis][:-1] if axis is not None else np.zeros(0)
        single = len(rows) > 1 and rows.max() == 1
    if single:
        column, role = _identified(spec)
        yield Diagnostic.warning(DiagnosticCode.NEVER_REPEATS, column=column, role=role)


def alike_identifiers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of identifiers in two spellings, each a person or cluster, and of those of no one."""
    column, role = _identified(spec)
    for value, rows in cube.placeholders:
        line = spec.recoding_line(str(column), {UNKNOWN: ["VALUE" if value == "" else value]})
        more: dict[str, Any] = {} if value == "" else {"value": name_of(value)}
        yield Diagnostic.warning(
            DiagnosticCode.PLACEHOLDER_IDENTIFIER,
            column=column,
            role=role,
            rows=rows,
            line=line,
            **more,
        )
    if cube.spellings:
        yield Diagnostic.warning(
            DiagnosticCode.ALIKE_IDENTIFIERS, column=column, role=role, identifiers=cube.spellings
        )


def _identified(spec: Spec) -> tuple[str | None, str]:
    """Return the column of persons or of clusters, and which of these it identifies."""
    return (spec.person, "person") if spec.person else (spec.cluster, "cluster")
