"""Sensitive features: which column, and which of its values make a group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairgauge.errors import Problem, SpecError, quote
from fairgauge.values import Value, canonical, name_of


@dataclass(frozen=True, slots=True)
class Feature:
    """A sensitive feature.

    Attributes
    ----------
    column : name of the column.
    values : value sets, each one group; empty means every value is a group.
    cuts : ascending cut points of a numeric column: groups (-inf, c1], (c1, c2], ..., (ck, inf).
    """

    column: str
    values: tuple[tuple[Value, ...], ...] = ()
    cuts: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of a specification file."""
        found: dict[str, Any] = {"column": self.column}
        if self.values:
            found["values"] = [list(each) for each in self.values]
        if self.cuts:
            found["cuts"] = list(self.cuts)
        return found


@dataclass(frozen=True, slots=True)
class Above:
    """A cut of a numeric label (and prediction): values above ``threshold`` are positive."""

    threshold: float

    def to_dict(self) -> dict[str, float]:
        """Return the keys of a specification file."""
        return {"above": self.threshold}


def cut(column: str, points: Sequence[float] | float) -> Feature:
    """Cut a numeric column into groups.

    Parameters
    ----------
    column : str
        Name of a numeric column.
    points : float or list of float
        Cut points; ``[40, 60]`` makes (-inf, 40], (40, 60] and (60, inf).

    Raises
    ------
    SpecError
        No points, or a point that is not a finite number.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.cut("age", [40]).cuts
    (40.0,)
    """
    problems: list[Problem] = []
    cuts = _cuts(points, "cut", problems)
    if problems:
        raise SpecError(problems)
    return Feature(column, cuts=cuts)


def above(threshold: float) -> Above:
    """Make values above ``threshold`` the positive ones, of a numeric label and its predictions.

    Raises
    ------
    SpecError
        The threshold is not a finite number.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.above(50_000)
    Above(threshold=50000.0)
    """
    if not is_number(threshold):
        raise SpecError(Problem("above", f"must be a finite number, not {quote(threshold)}"))
    return Above(float(threshold))


def interval_names(cuts: Sequence[float]) -> list[str]:
    """Return the names of the groups that cut points make.

    >>> interval_names([40, 60.5])
    ['(-inf, 40]', '(40, 60.5]', '(60.5, inf)']
    """
    names = [name_of(canonical(c)) for c in cuts]
    edges = ["-inf", *names, "inf"]
    closed = [f"({low}, {high}]" for low, high in pairwise(edges[:-1])]
    return [*closed, f"({edges[-2]}, inf)"]


def check_features(asked: Any, path: str) -> tuple[tuple[Feature, ...], list[Problem]]:
    """Read every form in which sensitive features are asked for; value sets of a column join."""
    problems: list[Problem] = []
    items = [asked] if isinstance(asked, (str, Feature, Mapping)) else asked
    if not isinstance(items, Sequence):
        return (), [Problem(path, f"must be a list of columns, not {quote(asked)}")]
    found: list[Feature] = []
    for i, item in enumerate(items):
        found += _features_of(item, f"{path}[{i}]", problems)
    return _joined(found, path, problems), problems


def _features_of(item: Any, path: str, problems: list[Problem]) -> list[Feature]:
    if isinstance(item, Feature):
        return [item]
    if isinstance(item, str):
        return [Feature(item)]
    if not isinstance(item, Mapping):
        problems.append(Problem(path, f"must be a column name, not {quote(item)}"))
        return []
    if not isinstance(item.get("column"), str):
        return [Feature(str(c), values=_value_sets(v)) for c, v in item.items()]
    unknown = set(item) - {"column", "values", "cuts"}
    problems += [
        Problem(f"{path}.{key}", "unknown key; say column, values, cuts") for key in unknown
    ]
    values, cuts = item.get("values"), item.get("cuts")
    if values and cuts:
        problems.append(Problem(path, "say either values or cuts"))
    points = _cuts(cuts, f"{path}.cuts", problems) if cuts else ()
    return [Feature(item["column"], _value_sets(values) if values else (), points)]


def _value_sets(values: Any) -> tuple[tuple[Value, ...], ...]:
    """Read one value, one set, or several sets."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        return ((canonical(values),),)
    if values and all(isinstance(v, Sequence) and not isinstance(v, str) for v in values):
        return tuple(tuple(canonical(v) for v in each) for each in values)
    return (tuple(canonical(v) for v in values),) if values else ()


def _joined(found: list[Feature], path: str, problems: list[Problem]) -> tuple[Feature, ...]:
    columns: dict[str, Feature] = {}
    for feature in found:
        before = columns.get(feature.column)
        if before is None:
            columns[feature.column] = feature
        elif before.values and feature.values:
            columns[feature.column] = Feature(feature.column, before.values + feature.values)
        elif before != feature:
            problems.append(
                Problem(path, f"column {quote(feature.column)} is asked for in two different ways")
            )
    for feature in columns.values():
        listed = [value for each in feature.values for value in each]
        twice = sorted({name_of(v) for v in listed if listed.count(v) > 1})
        if twice:
            problems.append(
                Problem(path, f"value {quote(twice[0])} of {quote(feature.column)} is listed twice")
            )
    return tuple(columns.values())


def _cuts(points: Any, path: str, problems: list[Problem]) -> tuple[float, ...]:
    every = (
        list(points) if isinstance(points, Sequence) and not isinstance(points, str) else [points]
    )
    if not every or not all(is_number(p) for p in every):
        problems.append(Problem(path, f"must be finite numbers, not {quote(points)}"))
        return ()
    return tuple(sorted({float(p) for p in every}))


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number (true and false are none)."""
    if isinstance(value, bool) or not (isinstance(value, (int, float)) or hasattr(value, "item")):
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False
