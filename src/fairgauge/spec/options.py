"""Options: how each part of a specification may be written, and what it then means.

A reader takes what is written and its path, returns what it means, and adds to the problems what is
wrong with it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from fairgauge.catalogue.lookup import Catalogue
from fairgauge.catalogue.own import meant, own_of
from fairgauge.enums import Method, Missing, Profile, Reference, Task
from fairgauge.errors import Problem, nearest, quote
from fairgauge.spec.features import Above, Feature, check_features, is_number
from fairgauge.spec.rules import Rule, check_rule
from fairgauge.values import Value, canonical

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic

Word = TypeVar("Word", bound=StrEnum)
Column = str | None


class Options(TypedDict, total=False):
    """The options of `fairgauge.audit`, as they may be written; `Spec` holds what they mean."""

    label: str | None
    prediction: str | None
    score: str | None
    score_of: Value
    score_range: tuple[float, float]
    threshold: float | Sequence[float]
    positive: Value | Sequence[Value] | Above | Mapping[str, float]
    sensitive: str | Feature | Mapping[str, Any] | Sequence[str | Feature | Mapping[str, Any]]
    intersections: str | Sequence[str] | Sequence[Sequence[str]]
    strata: str | None
    count: str | None
    weight: str | None
    cluster: str | None
    reference: str | Mapping[str, Value]
    metrics: str | Statistic | Metric | Sequence[str | Statistic | Metric]
    features: Sequence[str] | None
    task: str | None
    confidence: float
    method: str
    seed: int
    replicates: int
    profile: str
    missing: str
    population: Mapping[str, Mapping[Any, float]]
    rules: Sequence[Rule | Mapping[str, Any]]
    max_groups: int


def _column(value: Any, path: str, problems: list[Problem]) -> Column:
    if not isinstance(value, str):
        problems.append(Problem(path, f"must be the name of a column, not {quote(value)}"))
        return None
    return value


def _names(value: Any, path: str, problems: list[Problem]) -> tuple[str, ...]:
    every = [value] if isinstance(value, str) else value
    if not isinstance(every, Sequence) or not all(isinstance(v, str) for v in every):
        problems.append(Problem(path, f"must be a name or a list of names, not {quote(value)}"))
        return ()
    return tuple(every)


def _metrics(
    value: Any, path: str, problems: list[Problem]
) -> tuple[str | Statistic | Metric, ...]:
    """Read names, import paths and metrics of a user's own; names may be of these."""
    several = isinstance(value, Sequence) and not isinstance(value, str)
    items = value if several else [value]
    if not items:
        problems.append(Problem(path, "name at least one metric"))
    asked: dict[int, str | Statistic | Metric] = {}
    for i, item in enumerate(items):
        try:
            asked[i] = meant(item)
        except LookupError as error:
            problems.append(Problem(f"{path}[{i}]", str(error)))
    catalogue = Catalogue(own_of(asked.values()))
    for i, each in asked.items():
        try:
            catalogue.expand([each])
        except LookupError as error:
            problems.append(Problem(f"{path}[{i}]", str(error)))
    return tuple(asked.values())


def _positive(value: Any, path: str, problems: list[Problem]) -> tuple[Value, ...] | Above:
    if isinstance(value, Above):
        return value
    if isinstance(value, Mapping):
        if set(value) != {"above"} or not is_number(value["above"]):
            problems.append(Problem(path, "must be values, or {above = NUMBER}"))
            return ()
        return Above(float(value["above"]))
    several = isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, str)
    every = tuple(canonical(v) for v in (value if several else [value]))
    if not every or None in every:
        problems.append(Problem(path, "must name at least one value, and none may be missing"))
    return every


def _sensitive(value: Any, path: str, problems: list[Problem]) -> tuple[Feature, ...]:
    found, wrong = check_features(value, path)
    problems += wrong
    return found


def _intersections(value: Any, path: str, problems: list[Problem]) -> tuple[tuple[str, ...], ...]:
    every = [value] if isinstance(value, str) else value
    if isinstance(every, Sequence) and every and all(isinstance(v, str) for v in every):
        if not any("*" in v for v in every):
            every = [every]  # one pair, without its list
        else:
            every = [[part.strip() for part in v.split("*")] for v in every]
    found = []
    for i, parts in enumerate(every if isinstance(every, Sequence) else [every]):
        names = _names(parts, f"{path}[{i}]", problems)
        if len(set(names)) < 2 or len(set(names)) < len(names):
            problems.append(Problem(f"{path}[{i}]", "must name two or more different columns"))
        found.append(names)
    return tuple(dict.fromkeys(found))


def _reference(
    value: Any, path: str, problems: list[Problem]
) -> Reference | tuple[tuple[str, Value], ...]:
    if isinstance(value, Mapping):
        return tuple((str(column), canonical(v)) for column, v in value.items())
    if not isinstance(value, str) or value not in list(Reference):
        allowed = f"{', '.join(Reference)}, or {{column: value}}"
        problems.append(Problem(path, f"{quote(value)} is not allowed; say {allowed}"))
        return Reference.REST
    return Reference(value)


def _word(words: type[Word]) -> Any:
    def read(value: Any, path: str, problems: list[Problem]) -> Word | None:
        if value not in list(words):
            message = (
                f"{quote(value)} is not allowed.{nearest(value, words)} Say {', '.join(words)}"
            )
            problems.append(Problem(path, message))
            return None
        return words(value)

    return read


def _number(low: float, high: float, *, inside: bool = False, whole: bool = False) -> Any:
    def read(value: Any, path: str, problems: list[Problem]) -> float | int:
        kind = (int,) if whole else (int, float)
        fits = isinstance(value, kind) and not isinstance(value, bool) and low <= value <= high
        if fits and not whole:
            fits = abs(value) <= sys.float_info.max
        if not fits or (inside and value in (low, high)):
            what = "a whole number" if whole else "a number"
            limits = _limits(low, high)
            problems.append(Problem(path, f"must be {what} {limits}, not {quote(value)}"))
            return 1 if whole else 0.5
        return int(value) if whole else float(value)

    return read


def _population(
    value: Any, path: str, problems: list[Problem]
) -> tuple[tuple[str, tuple[tuple[Value, float], ...]], ...]:
    """Read shares or counts of a population; each feature's are brought to a sum of 1."""
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        problems.append(Problem(path, "must be {column: {value: share}}"))
        return ()
    found = []
    for column, shares in value.items():
        numbers = list(shares.values())
        fit = all(isinstance(n, (int, float)) and 0 <= n < float("inf") for n in numbers)
        if not numbers or not fit or not sum(numbers) > 0:
            problems.append(Problem(f"{path}.{column}", "shares must be numbers from 0 up"))
            continue
        total = 1.0 if math.isclose(sum(numbers), 1.0) else float(sum(numbers))
        each = tuple((canonical(v), float(n) / total) for v, n in shares.items())
        found.append((str(column), each))
    return tuple(found)


def _limits(low: float, high: float) -> str:
    if high < float("inf"):
        return f"between {low:,.10g} and {high:,.10g}"
    return f"from {low:g} up" if low > float("-inf") else "that is finite"


def _range(value: Any, path: str, problems: list[Problem]) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        low = high = 0.0
    if not low < high:
        problems.append(Problem(path, f"must be two rising numbers, not {quote(value)}"))
        return (0.0, 1.0)
    return low, high


def _thresholds(value: Any, path: str, problems: list[Problem]) -> tuple[float, ...]:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    read = _number(float("-inf"), float("inf"), inside=True)
    found = [read(v, path, problems) for v in (value if several else [value])]
    if not found:
        problems.append(Problem(path, "name at least one threshold"))
    return tuple(sorted(set(found)))


def _rules(value: Any, path: str, problems: list[Problem]) -> tuple[Rule, ...]:
    found = []
    items = [value] if isinstance(value, (Rule, Mapping)) else value
    if not isinstance(items, Sequence) or isinstance(items, str):
        problems.append(Problem(path, f"must be a list of rules, not {quote(value)}"))
        return ()
    for i, item in enumerate(items):
        if isinstance(item, Rule):
            found.append(item)
            continue
        if not isinstance(item, Mapping):
            problems.append(Problem(f"{path}[{i}]", "must be a rule; see fairgauge.rule"))
            continue
        made, wrong = check_rule(dict(item), f"{path}[{i}]")
        problems += wrong
        found += [made] if made else []
    return tuple(found)


READERS: dict[str, Any] = {
    "label": _column,
    "prediction": _column,
    "score": _column,
    "score_of": lambda value, _path, _problems: canonical(value),
    "score_range": _range,
    "threshold": _thresholds,
    "positive": _positive,
    "sensitive": _sensitive,
    "intersections": _intersections,
    "strata": _column,
    "count": _column,
    "weight": _column,
    "cluster": _column,
    "reference": _reference,
    "metrics": _metrics,
    "features": _names,
    "task": _word(Task),
    "confidence": _number(0, 1, inside=True),
    "method": _word(Method),
    "seed": _number(0, float("inf"), whole=True),
    "replicates": _number(1, 10_000_000, whole=True),
    "profile": _word(Profile),
    "missing": _word(Missing),
    "population": _population,
    "rules": _rules,
    "max_groups": _number(1, float("inf"), whole=True),
}
