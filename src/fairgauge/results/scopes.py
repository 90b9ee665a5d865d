"""The vocabulary of results: feature, group, scope, class, reference, interval; diagnostics.

Kinds are enums and names are users' own: a stratum called "pooled" is a stratum, and a class called
"worst" is a class.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
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
from fairgauge.results.codec import Finite, Form, Key, Parameters, Plain, Schema, save_inline
from fairgauge.results.definitions import HasDefinition, in_words
from fairgauge.start.records import dataclass, field, replace
from fairgauge.values import Saved


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
class Diagnostic(HasDefinition[Metric | Statistic | None]):
    """A note or a warning about an audit, with the parameters that its sentence needs.

    ``definition`` is the metric or the rate that a parameter names; None where it is of none.
    """

    level: Level
    code: DiagnosticCode
    feature: str | None = None
    parameters: Parameters = ()

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
        return in_words("grammar:describe_diagnostic", self)

    def __str__(self) -> str:
        return self.message


_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
_INTERVAL: Schema = {"type": "object",
    "properties": {"low": _NUMBER, "high": _NUMBER, "closed": {"enum": [str(c) for c in Closed]}},
    "required": ["low", "high", "closed"], "additionalProperties": False}  # fmt: skip
_SET: Schema = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}
_VALUES: Schema = {
    "anyOf": [
        {"type": "array", "items": {"anyOf": [_SET, _INTERVAL, {"type": "null"}]}},
        {"type": "null"},
    ]
}
GroupValues = Annotated[Any, Form(lambda values: values, lambda values: values, _VALUES)]
"""What a group is in each column of its feature: values, an interval, or null where missing."""


def _read_reference(keys: Saved) -> Reference:
    kind, values = ReferenceKind(keys["reference_kind"]), keys["reference_values"]
    if kind in (ReferenceKind.OTHERS, ReferenceKind.OVERALL):
        return Reference(kind)
    group_id = None if values is None else GroupId.read("", values)
    return Reference(kind, keys["reference"], group_id)


@cache  # many records of a report have one and the same scope
def _write_class_scope(of: ClassScope) -> Plain:
    name, worst = (of.name, None) if of.is_single else (None, of.name)
    average = of.average and str(of.average)
    return {"class_scope": str(of.kind), "class": name, "worst_class": worst, "average": average}


save_inline(
    ClassScope,
    {"class_scope": ClassKind, "class": str | None, "worst_class": str | None,
     "average": Average | None},
    write=_write_class_scope,
    read=lambda keys: ClassScope(
        ClassKind(keys["class_scope"]),
        keys["worst_class"] if keys["class"] is None else keys["class"],
        None if keys["average"] is None else Average(keys["average"]),
    ),
)  # fmt: skip
# the name of a reference is never null, so that null is no reference: the word of its kind
save_inline(
    Reference,
    {"reference": str, "reference_kind": ReferenceKind, "reference_values": GroupValues},
    write=lambda of: {
        "reference": str(of), "reference_kind": str(of.kind),
        "reference_values": of.group_id and of.group_id.to_plain(),
    },
    read=_read_reference,
)  # fmt: skip
save_inline(
    FeatureId,
    {"feature_columns": tuple[str, ...] | None},
    write=lambda feature: {"feature_columns": [*feature.columns]},
    read=lambda keys: FeatureId(tuple(keys["feature_columns"])),
)
save_inline(
    GroupId,
    {"group_kind": GroupKind, "group_values": GroupValues},
    write=lambda group: {"group_kind": str(group.kind), "group_values": group.to_plain()},
    read=lambda keys: GroupId.read(GroupKind(keys["group_kind"]), keys["group_values"]),
)
