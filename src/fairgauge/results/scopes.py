"""The vocabulary of results: feature, group, scope, class, reference, interval; diagnostics.

Kinds are enums and names are users' own: a stratum called "pooled" is a stratum, and a class called
"worst" is a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import (
    Average,
    ClassKind,
    Closed,
    DiagnosticCode,
    GroupKind,
    IntervalMethod,
    Level,
    ReferenceKind,
    ScopeKind,
)
from fairgauge.identity import FeatureId, GroupId
from fairgauge.reasons import Parameter
from fairgauge.results.codec import Finite, Form, Inline, Key, Parameters, Schema, StoredAs
from fairgauge.results.definitions import OfRow
from fairgauge.results.describers import function_at
from fairgauge.start.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows an estimate is of: all, those of one stratum, or all with strata pooled."""

    kind: Annotated[ScopeKind, Key("scope")] = ScopeKind.OVERALL
    stratum: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is ScopeKind.STRATUM) != (self.stratum is not None):
            raise ValueError("a stratum is named exactly where the scope is one stratum")


OVERALL = Scope()
POOLED = Scope(ScopeKind.POOLED)


def stratum(name: str) -> Scope:
    """Return the scope of the rows of one stratum."""
    return Scope(ScopeKind.STRATUM, name)


@dataclass(frozen=True, slots=True)
class ClassScope:
    """Which classes of a multiclass audit an estimate is of.

    No class (binary, or all at once), one against the others, an average over classes, or the class
    that is furthest from "no difference", which ``name`` names too.
    """

    kind: ClassKind = ClassKind.NONE
    name: str | None = None
    average: Average | None = None

    @property
    def is_single(self) -> bool:
        return self.kind in (ClassKind.NONE, ClassKind.CLASS)

    @property
    def of_class(self) -> ClassScope:
        """Return the scope of the class that the worst of several is; else itself."""
        return replace(self, kind=ClassKind.CLASS) if self.kind is ClassKind.WORST else self

    def saved_as(self) -> SavedClassScope:
        """Return what is saved: the worst of several classes has a key of its own."""
        name, worst = (self.name, None) if self.is_single else (None, self.name)
        return SavedClassScope(self.kind, name, worst, self.average)

    @classmethod
    def of_saved(cls, saved: SavedClassScope) -> ClassScope:
        """Read what `saved_as` returned."""
        name = saved.worst_class if saved.class_ is None else saved.class_
        return cls(saved.class_scope, name, saved.average)


@dataclass(frozen=True, slots=True)
class SavedClassScope:
    """The keys of a `ClassScope`: a class is named under another key than the worst of several."""

    class_scope: ClassKind
    class_: str | None
    worst_class: str | None
    average: Average | None


NO_CLASS = ClassScope()


@dataclass(frozen=True, slots=True)
class Reference:
    """What a group is compared with; ``group`` names it where it is one group."""

    kind: ReferenceKind
    group: str | None = None
    group_id: GroupId | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the name of the group, or the word of the kind where it is not one group."""
        return str(self.kind) if self.group is None else self.group

    def saved_as(self) -> SavedReference:
        """Return what is saved: the word of the kind stands where no group has a name."""
        values = None if self.group_id is None else self.group_id.to_plain()
        return SavedReference(str(self), self.kind, values)

    @classmethod
    def of_saved(cls, saved: SavedReference) -> Reference:
        """Read what `saved_as` returned."""
        if saved.kind in _UNNAMED:
            return cls(saved.kind)
        group_id = None if saved.values is None else GroupId.read("", saved.values)
        return cls(saved.kind, saved.reference, group_id)


_UNNAMED = (ReferenceKind.OTHERS, ReferenceKind.OVERALL)


@dataclass(frozen=True, slots=True)
class SavedReference:
    """The keys of a `Reference`: its name is never null, so that null is no reference."""

    reference: str
    kind: Annotated[ReferenceKind, Key("reference_kind")]
    values: Annotated[GroupValues, Key("reference_values")] = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval (a credible interval, of posterior methods); unpacking gives its ends.

    ``methods`` are those that made it, outermost first.
    """

    low: float
    high: float
    level: Annotated[Finite, Key("confidence")]
    methods: Annotated[tuple[IntervalMethod, ...], Key("method")] = ()

    def __iter__(self) -> Iterator[float]:
        yield self.low
        yield self.high

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest value over all tables that agree with protected counts."""

    low: float
    high: float

    def __iter__(self) -> Iterator[float]:
        yield self.low
        yield self.high


def simultaneous_interval(alone: Interval, low: float, high: float) -> Interval:
    """Return an interval that holds for all groups at once, given that of one alone."""
    if (low, high) == (alone.low, alone.high):
        return alone
    methods = (IntervalMethod.SIMULTANEOUS_GROUPS, *alone.methods)
    return Interval(low, high, alone.level, methods)


@dataclass(frozen=True, slots=True)
class Diagnostic(OfRow[Metric | Statistic | None]):
    """A note or a warning about an audit, with the parameters that its sentence needs.

    ``definition`` is the metric or the rate that a parameter names; None where it is of none.
    """

    level: Level
    code: DiagnosticCode
    feature: str | None = None
    parameters: Parameters = ()

    def of(self, unit: Mapping[str, str]) -> Diagnostic:
        """Return it with what its numbers are of, where these are not of rows."""
        return replace(self, parameters=tuple(sorted([*self.parameters, *unit.items()])))

    def but(self, **parameters: Parameter) -> Diagnostic:
        """Return it with other parameters."""
        return replace(self, parameters=tuple(sorted((dict(self.parameters) | parameters).items())))

    @property
    def metric(self) -> str | None:
        name: str | None = self.get("metric") or self.get("rate")
        return name

    @classmethod
    def note(
        cls, code: DiagnosticCode, feature: str | None = None, **parameters: Parameter
    ) -> Diagnostic:
        return cls(Level.NOTE, code, feature, tuple(sorted(parameters.items())))

    @classmethod
    def warning(
        cls, code: DiagnosticCode, feature: str | None = None, **parameters: Parameter
    ) -> Diagnostic:
        return cls(Level.WARNING, code, feature, tuple(sorted(parameters.items())))

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    def get(self, name: str) -> Any:
        """Return a parameter, None where it is absent."""
        return dict(self.parameters).get(name)

    @property
    def message(self) -> str:
        text: str = function_at("fairgauge.render.grammar:describe_diagnostic")(self)
        return text

    def __str__(self) -> str:
        return self.message


_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
_INTERVAL: Schema = {"type": "object",
    "properties": {"low": _NUMBER, "high": _NUMBER, "closed": {"enum": [str(c) for c in Closed]}},
    "required": ["low", "high", "closed"], "additionalProperties": False}  # fmt: skip
_SET: Schema = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}
GroupValues = Annotated[
    Any,
    Form(
        write=lambda values: values,
        read=lambda values: values,
        schema={
            "anyOf": [
                {"type": "array", "items": {"anyOf": [_SET, _INTERVAL, {"type": "null"}]}},
                {"type": "null"},
            ]
        },
    ),
]
"""What a group is in each column of its feature: values, an interval, or null where missing."""


@dataclass(frozen=True, slots=True)
class _SavedFeature:
    columns: Annotated[tuple[str, ...] | None, Key("feature_columns")]


@dataclass(frozen=True, slots=True)
class _SavedGroup:
    kind: Annotated[GroupKind, Key("group_kind")]
    values: Annotated[GroupValues, Key("group_values")]


SavedFeatureId = Annotated[
    Inline[FeatureId | None],
    StoredAs(
        _SavedFeature,
        write=lambda feature: _SavedFeature(feature.columns),
        read=lambda saved: FeatureId(saved.columns),
    ),
]
SavedGroupId = Annotated[
    Inline[GroupId | None],
    StoredAs(
        _SavedGroup,
        write=lambda group: _SavedGroup(group.kind, group.to_plain()),
        read=lambda saved: GroupId.read(saved.kind, saved.values),
    ),
]
