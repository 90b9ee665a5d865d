"""Spec: what is asked. A frozen value, and the one verb that makes it: `ask`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.own import catalogue_of
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Method, Missing, Profile, Reference, Task
from fairgauge.errors import Problem, SpecError, listing, nearest, quote
from fairgauge.spec.features import Above, Feature
from fairgauge.spec.options import READERS
from fairgauge.spec.rules import Rule
from fairgauge.values import Value, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.catalogue.lookup import Catalogue

Column = str | None
MOST_GROUPS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Everything that is asked of an audit, defaults included; see `fairgauge.audit`."""

    label: Column = None
    prediction: Column = None
    score: Column = None
    score_of: Value = None
    score_range: tuple[float, float] = (0.0, 1.0)
    threshold: tuple[float, ...] = (0.5,)
    positive: tuple[Value, ...] | Above = ()
    sensitive: tuple[Feature, ...] = ()
    intersections: tuple[tuple[str, ...], ...] = ()
    strata: Column = None
    count: Column = None
    weight: Column = None
    cluster: Column = None
    reference: Reference | tuple[tuple[str, Value], ...] = Reference.REST
    metrics: tuple[str | Statistic | Metric, ...] = ("standard",)
    features: tuple[str, ...] = ()
    task: Task | None = None
    confidence: float = 0.95
    method: Method = Method.DEFAULT
    seed: int = 0
    replicates: int = 2_000
    profile: Profile = Profile.DOCUMENTED
    missing: Missing = Missing.EXCLUDE
    population: tuple[tuple[str, tuple[tuple[Value, float], ...]], ...] = ()
    rules: tuple[Rule, ...] = ()
    max_groups: int = MOST_GROUPS

    def columns(self) -> list[tuple[str, str]]:
        """Return every column asked for, with the path of the question: (path, column)."""
        single = ("label", "prediction", "score", "strata", "count", "weight", "cluster")
        found = [(name, getattr(self, name)) for name in single if getattr(self, name) is not None]
        found += [(f"sensitive[{i}]", f.column) for i, f in enumerate(self.sensitive)]
        found += [
            (f"intersections[{i}][{j}]", part)
            for i, parts in enumerate(self.intersections)
            for j, part in enumerate(parts)
            if part not in {f.column for f in self.sensitive}
        ]
        return found + [(f"features[{i}]", name) for i, name in enumerate(self.features)]

    @property
    def catalogue(self) -> Catalogue:
        """Return the rates and metrics that can be named: those of fairgauge, and the user's own.

        Raises
        ------
        LookupError
            Two different metrics of the user's own have one name.
        """
        ruled = (rule.own for rule in self.rules if rule.own is not None)
        return catalogue_of((*self.metrics, *ruled))

    def feature(self, column: str) -> Feature:
        """Return the sensitive feature of a column (a plain one if only an intersection has it)."""
        return next((f for f in self.sensitive if f.column == column), Feature(column))

    def to_dict(self) -> dict[str, Any]:
        """Return the specification with the keys and values of a specification file."""
        found = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        if isinstance(self.reference, tuple):
            found["reference"] = dict(self.reference)
        found["population"] = {c: {name_of(v): s for v, s in each} for c, each in self.population}
        return found


def ask(columns: Sequence[str] | None = None, base: Spec | None = None, **options: Any) -> Spec:
    """Make a specification, or say everything that is wrong with it at once.

    Parameters
    ----------
    columns : list of str, optional
        The columns that the data have; asked columns are held against them.
    base : Spec, optional
        What holds where an option is not given.
    **options
        The options of `fairgauge.audit`, but for its data.

    Raises
    ------
    SpecError
        With a path, what is allowed and the nearest name for every mistake.
    """
    problems: list[Problem] = []
    made: dict[str, Any] = {}
    for key, value in options.items():
        if key not in READERS:
            message = f"unknown option.{nearest(key, READERS)} Allowed: {', '.join(READERS)}"
            problems.append(Problem(key, message))
        elif value is not None:
            made[key] = READERS[key](value, key, problems)
    spec = replace(base or Spec(), **made)
    problems += _contradictions(spec)
    problems += _unknown_columns(spec, columns)
    if problems:
        raise SpecError(problems)
    return spec


def _contradictions(spec: Spec) -> list[Problem]:
    found = []
    if not spec.sensitive and not spec.intersections:
        found.append(Problem("sensitive", "name at least one sensitive feature"))
    if isinstance(spec.reference, tuple):
        named = {f.column for f in spec.sensitive} | {c for i in spec.intersections for c in i}
        found += [
            Problem(f"reference.{column}", f"is not a sensitive feature.{nearest(column, named)}")
            for column, _ in spec.reference
            if column not in named
        ]
    found += [
        Problem(f"population.{c}", f"is not a sensitive feature.{nearest(c, columns)}")
        for columns in [{f.column for f in spec.sensitive}]
        for c, _ in spec.population
        if c not in columns
    ]
    known = {f.column for f in spec.sensitive} | {"*".join(i) for i in spec.intersections}
    found += [
        Problem(f"rules[{i}].features", f"{quote(name)} is not audited.{nearest(name, known)}")
        for i, rule in enumerate(spec.rules)
        for name in rule.features
        if name not in known
    ]
    try:
        _ = spec.catalogue
    except LookupError as error:
        found.append(Problem("metrics", str(error)))
    if spec.weight is not None and spec.weight == spec.count:
        found.append(Problem("weight", f"{quote(spec.weight)} is already the count column"))
    if spec.cluster is not None and spec.method is not Method.DEFAULT:
        message = (
            f"{spec.method} takes rows as independent; with a cluster only 'default' is allowed, "
            "whose intervals are cluster-robust"
        )
        found.append(Problem("method", message))
    if spec.positive == () and spec.score and not spec.prediction and not spec.label:
        found.append(Problem("score", "needs a label, or say which value is positive"))
    return found


def _unknown_columns(spec: Spec, columns: Sequence[str] | None) -> list[Problem]:
    if columns is None:
        return []
    return [
        Problem(path, f"no column {quote(name)} in the data.{_instead(name, columns)}")
        for path, name in spec.columns()
        if name not in columns
    ]


def _instead(name: str, columns: Sequence[str]) -> str:
    """Say which column may have been meant, or which there are."""
    parts = name.split(",")
    if len(parts) > 1 and all(part.strip() in columns for part in parts):
        return f" Name {listing(part.strip() for part in parts)} one by one"
    return nearest(name, columns) or f" It has {listing(columns)}"


def _plain(value: Any) -> Any:
    if isinstance(value, (Feature, Above, Rule)):
        return value.to_dict()
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, (Statistic, Metric)):
        return value.name
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value
