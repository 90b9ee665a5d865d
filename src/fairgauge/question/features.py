"""Sensitive features: which column, and which of its values make a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Required, TypeAlias, TypedDict

from fairgauge.enums import Closed
from fairgauge.errors import Problem, SpecError, quote, refuse, shown
from fairgauge.question.readers import is_finite, items, read_values, read_word, unknown_keys
from fairgauge.values import Value, as_double, name_of

QUANTILES = "quantiles"
KEYS = ("column", "values", "cuts", "closed")


class FeatureKeys(TypedDict, total=False):
    """The keys of a feature in a specification file."""

    column: Required[str]
    values: list[list[Value]]
    cuts: list[float]
    closed: str


@dataclass(frozen=True, slots=True)
class Feature:
    """A sensitive feature.

    Attributes
    ----------
    column : name of the column.
    values : value sets, each one group; empty means every value is a group.
    cuts : ascending cut points of a numeric column, whose intervals are groups.
    closed : the edge that belongs to an interval: "right" makes (-inf, c1], (c1, c2], ...,
        (ck, inf), "left" makes [-inf, c1), [c1, c2), ..., [ck, inf).
    quantiles : whether the cut points are to be the quantiles of the rows, as strata of why alone.
    control : whether it is a control of why, for which its regression alone is adjusted.
    """

    column: str
    values: tuple[tuple[Value, ...], ...] = ()
    cuts: tuple[float, ...] = ()
    closed: Closed = Closed.RIGHT
    quantiles: bool = False
    control: bool = False

    def to_dict(self) -> FeatureKeys:
        """Return the keys of a specification file."""
        keys: FeatureKeys = {"column": self.column}
        if self.values:
            keys["values"] = [list(each) for each in self.values]
        if self.cuts:
            keys["cuts"] = list(self.cuts)
        if self.closed is not Closed.RIGHT:
            keys["closed"] = str(self.closed)
        return keys


@dataclass(frozen=True, slots=True)
class Above:
    """A cut of a numeric label (and prediction): values above ``threshold`` are positive."""

    threshold: float

    def to_dict(self) -> dict[str, float]:
        """Return the keys of a specification file."""
        return {"above": self.threshold}


@dataclass(frozen=True, slots=True)
class Ordered:
    """Levels of an outcome, the most favourable first: every cut between two is a selection.

    Attributes
    ----------
    levels : every value that label and prediction have.
    """

    levels: tuple[Value, ...]

    @property
    def selections(self) -> tuple[tuple[Value, ...], ...]:
        """Return the sets of values that count as selected: the first level, the first two ..."""
        return tuple(self.levels[:i] for i in range(1, len(self.levels)))

    def to_dict(self) -> dict[str, list[Value]]:
        """Return the keys of a specification file."""
        return {"ordered": list(self.levels)}


@dataclass(frozen=True, slots=True)
class ByColumn:
    """Favourable values of label and of prediction, which have other words for the outcomes."""

    columns: tuple[tuple[str, tuple[Value, ...]], ...]

    def to_dict(self) -> dict[str, list[Value]]:
        """Return the keys of a specification file."""
        return {column: list(values) for column, values in self.columns}


Positive: TypeAlias = tuple[Value, ...] | ByColumn | Above | Ordered
"""What is favourable: values, those of each column, numbers above a cut, or each cut of levels."""


def cut(column: str, points: Sequence[float] | float | str, *, closed: str = "right") -> Feature:
    """Cut a numeric column into groups.

    Parameters
    ----------
    column : str
        Name of a numeric column.
    points : float, list of float, or "quantiles"
        Cut points; ``[40, 60]`` makes (-inf, 40], (40, 60] and (60, inf). The quantiles of the rows
        are those of strata of `fairgauge.why`.
    closed : {"right", "left"}
        The edge that belongs to an interval; "left" makes [-inf, 40), [40, 60) and [60, inf).

    Raises
    ------
    SpecError
        No points, a point that is not a finite number, or an edge that is neither.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.cut("age", [40]).cuts
    (40.0,)
    """
    problems: list[Problem] = []
    quantiles = points == QUANTILES
    cuts = () if quantiles else _cuts(points, "cut", problems)
    edge = read_word(Closed)(closed, "cut.closed", problems)
    refuse(problems)
    return Feature(column, cuts=cuts, closed=edge, quantiles=quantiles)


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
    if not is_finite(threshold):
        raise SpecError(Problem("above", f"must be a finite number, not {shown(threshold)}"))
    return Above(as_double(threshold))


def ordered(*levels: object) -> Ordered:
    """Order the values of an outcome: each cut between two of them is a selection of its own.

    Of "top", "middle" and "bottom", an audit compares who is "top", and who is "top or middle".

    Parameters
    ----------
    *levels
        Every value that the label and the prediction have, the most favourable first.

    Raises
    ------
    SpecError
        There are fewer than two levels, or one of them twice.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.ordered("top", "middle", "bottom").selections
    (('top',), ('top', 'middle'))
    """
    problems: list[Problem] = []
    made = read_ordered(list(levels), "ordered", problems)
    refuse(problems)
    return made


def read_ordered(value: object, path: str, problems: list[Problem]) -> Ordered:
    """Read the levels of an outcome, the most favourable first."""
    levels = read_values(value, path, problems)
    if len(levels) < 2:
        problems.append(Problem(path, "must be two levels or more, the most favourable first"))
    elif len(set(levels)) < len(levels):
        problems.append(Problem(path, "has a level twice"))
    return Ordered(levels)


def read_features(value: object, path: str, problems: list[Problem]) -> tuple[Feature, ...]:
    """Read every form of sensitive features; value sets of one column become one feature."""
    features = _read_features(value, path, problems)
    for each in features:
        if each.quantiles:
            message = (
                f"the numbers of {quote(each.column)} are cut at quantiles for strata of rows that "
                "why counts; give cut points, such as those that why found, which the spec of its "
                "JSON report lists under strata"
            )
            problems.append(Problem(path, message))
    return features


def _read_features(value: object, path: str, problems: list[Problem]) -> tuple[Feature, ...]:
    if not isinstance(value, (str, Feature, Mapping, Sequence)):
        problems.append(Problem(path, f"must be a list of columns, not {shown(value)}"))
        return ()
    features: list[Feature] = []
    for i, item in enumerate(items(value)):
        features += _features_of(item, f"{path}[{i}]", problems)
    return _joined(features, path, problems)


MOST_STRATA = 6
"""The columns of strata that are crossed at most."""


def read_strata(
    value: object, path: str, problems: list[Problem], *, quantiles: bool = False
) -> tuple[Feature, ...]:
    """Read one to six columns of strata, with cuts or without; at quantiles where that is known."""
    strata = (_read_features if quantiles else read_features)(value, path, problems)
    if (crossed := sum(not each.control for each in strata)) > MOST_STRATA:
        message = f"takes at most {MOST_STRATA} columns, which are crossed, not {crossed}"
        problems.append(Problem(path, message))
    for each in strata:
        if each.values:
            message = (
                f"{quote(each.column)} has a set of values, and each value is a stratum; put "
                "values together with recode"
            )
            problems.append(Problem(path, message))
    return strata


def read_controls(value: object, path: str, problems: list[Problem]) -> tuple[Feature, ...]:
    """Read the controls of why, of which there may be more than strata."""
    return tuple(replace(each, control=True) for each in _read_features(value, path, problems))


def strata_named(plain: object) -> str | None:
    """Return the columns of strata as a sentence names them, from what a specification file has.

    >>> strata_named(["product", {"column": "dti", "cuts": [36]}]), strata_named("branch")
    ('product and dti', 'branch')
    """
    if plain is None:
        return None
    columns = strata_columns(plain)
    return " and ".join(filter(None, [", ".join(columns[:-1]), *columns[-1:]]))


def strata_columns(plain: object) -> list[str]:
    """Return the columns of strata, from what a specification file has."""
    return [str(each["column"] if isinstance(each, Mapping) else each) for each in items(plain)]


def _features_of(item: object, path: str, problems: list[Problem]) -> list[Feature]:
    if isinstance(item, Feature):
        return [item]
    if isinstance(item, str):
        return [Feature(item)]
    if not isinstance(item, Mapping):
        problems.append(Problem(path, f"must be the name of a column, not {shown(item)}"))
        return []
    if set(KEYS) & set(item):
        return _feature_of_table(item, path, problems)
    return [
        Feature(str(column), values=_value_sets(values, f"{path}.{column}", problems))
        for column, values in item.items()
    ]


def _feature_of_table(
    table: Mapping[str, object], path: str, problems: list[Problem]
) -> list[Feature]:
    problems += unknown_keys(table, KEYS, path)
    column, values, cuts = (table.get(key) for key in ("column", "values", "cuts"))
    closed = table.get("closed")
    if not isinstance(column, str):
        message = f"must be the name of a column, not {shown(column)}"
        problems.append(Problem(f"{path}.column", "is missing" if column is None else message))
    if values is not None and cuts is not None:
        problems.append(Problem(path, "takes either values or cuts"))
    if closed is not None and cuts is None:
        message = "is the closed edge of intervals and needs cuts, such as cuts = [40]"
        problems.append(Problem(f"{path}.closed", message))
    sets = () if values is None else _value_sets(values, f"{path}.values", problems)
    quantiles = cuts == QUANTILES
    points = () if cuts is None or quantiles else _cuts(cuts, f"{path}.cuts", problems)
    edge = Closed.RIGHT if closed is None else read_word(Closed)(closed, f"{path}.closed", problems)
    return [Feature(column, sets, points, edge, quantiles)] if isinstance(column, str) else []


def _value_sets(
    values: object, path: str, problems: list[Problem]
) -> tuple[tuple[Value, ...], ...]:
    every = items(values)
    if every and all(isinstance(each, Sequence) and not isinstance(each, str) for each in every):
        return tuple(read_values(each, f"{path}[{i}]", problems) for i, each in enumerate(every))
    values_read = read_values(values, path, problems)
    return (values_read,) if values_read else ()


def _joined(features: list[Feature], path: str, problems: list[Problem]) -> tuple[Feature, ...]:
    columns: dict[str, Feature] = {}
    for feature in features:
        before = columns.get(feature.column)
        if before is None:
            columns[feature.column] = feature
        elif before.values and feature.values:
            columns[feature.column] = Feature(feature.column, before.values + feature.values)
        else:
            ways = "is asked for in two different ways"
            if before == feature:
                ways = "is asked for twice"
            elif before.control is not feature.control and (before.cuts or before.quantiles):
                ways = (
                    "is a stratum in intervals, and a control, too; to adjust within intervals, "
                    "copy it to a column of another name, and state that one as the control"
                )
            elif before.control is not feature.control:
                ways = "is a stratum, within which it is the same; remove it from the controls"
            problems.append(Problem(path, f"column {quote(feature.column)} {ways}"))
    for feature in columns.values():
        listed = [value for each in feature.values for value in each]
        twice = sorted({name_of(v) for v in listed if listed.count(v) > 1})
        if twice:
            problems.append(
                Problem(path, f"value {quote(twice[0])} of {quote(feature.column)} is listed twice")
            )
    return tuple(columns.values())


def _cuts(points: object, path: str, problems: list[Problem]) -> tuple[float, ...]:
    every = items(points)
    cuts = [as_double(point) for point in every if is_finite(point)]
    if not every or len(cuts) < len(every):
        problems.append(Problem(path, f"must be finite numbers, not {shown(points)}"))
        return ()
    return tuple(sorted(set(cuts)))
