"""Counts that are already known: a cube from confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairgauge.cube.build import Counted, build
from fairgauge.cube.plan import plan
from fairgauge.errors import Problem, SpecError, nearest, quote, shown
from fairgauge.question.features import Feature
from fairgauge.question.specification import Spec

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.values import Value

_CELLS = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}  # label, prediction


def confusion(feature: str, groups: Mapping[str, Mapping[str, int]]) -> Cube:
    """Make a cube of the confusion matrices of groups.

    Parameters
    ----------
    feature : str
        Name of the sensitive feature.
    groups : mapping of mappings
        For every group its ``tp``, ``fp``, ``fn`` and ``tn``, whole numbers, 0 or greater; those
        not given are 0.

    Raises
    ------
    SpecError
        An unknown cell, or a count that is not a whole number, 0 or greater.

    Examples
    --------
    >>> import fairgauge as fg
    >>> cube = fg.confusion("sex", {"F": {"tp": 50, "fp": 20, "fn": 10, "tn": 120},
    ...                             "M": {"tp": 20, "fp": 30, "fn": 0, "tn": 50}})
    >>> round(fg.audit(cube, metrics="vertex")["vertex.accuracy_difference", "sex", "F"].value, 2)
    0.15
    """
    problems = []
    for group, cells in groups.items():
        if not isinstance(cells, Mapping):
            message = f"must be a mapping of {', '.join(_CELLS)} to counts, not {shown(cells)}"
            problems.append(Problem(f"{feature}.{group}", message))
            continue
        for name, count in cells.items():
            path = f"{feature}.{group}.{name}"
            if name not in _CELLS:
                message = f"unknown cell.{nearest(name, _CELLS)} Cells: {', '.join(_CELLS)}"
                problems.append(Problem(path, message))
            elif not _is_count(count):
                message = f"must be a whole number, 0 or greater, not {quote(count)}"
                problems.append(Problem(path, message))
    if problems:
        raise SpecError(problems)
    records = [
        (group, *key, float(cells.get(name, 0)))
        for group, cells in groups.items()
        for name, key in _CELLS.items()
    ]
    asked = Spec(
        label="label", prediction="prediction", positive=(1,), sensitive=(Feature(feature),)
    )
    keys = [[record[i] for record in records] for i in range(3)]
    rows = [record[3] for record in records]
    # a group, label or prediction that never occurs is still asked of
    known: dict[str, list[Value]] = {feature: [*groups], "label": [0, 1], "prediction": [0, 1]}
    return build(plan(asked), [Counted(keys, {"rows": rows})], rows=int(sum(rows)), known=known)


def _is_count(value: float) -> bool:
    try:
        return bool(value == int(value) and value >= 0)
    except (TypeError, ValueError, OverflowError):
        return False
