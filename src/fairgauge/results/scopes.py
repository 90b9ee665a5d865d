"""The vocabulary of results: scope, class, reference and interval of an estimate; diagnostics.

Kinds are enums and names are users' own: a stratum called "pooled" is a stratum, and a class called
"worst" is a class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairgauge.enums import (
    Average,
    ClassKind,
    DiagnosticCode,
    IntervalMethod,
    Level,
    ReferenceKind,
    ScopeKind,
)
from fairgauge.results.definitions import BY_NAME, NOT_SAVED, hold_definition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.identity import GroupId
    from fairgauge.reasons import Parameter


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows an estimate is of: all, those of one stratum, or all with strata pooled."""

    kind: ScopeKind = ScopeKind.OVERALL
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
    """Which classes of a multiclass audit, or which cut of ordered levels, an estimate is of.

    Attributes
    ----------
    kind : no class (binary, or all classes at once), one class against the others, the levels above
        a cut against those below, an average over classes, or the class that is furthest from "no
        difference".
    name : the class, of one class and of the worst; the levels above a cut: ``top or middle``.
    average : how classes are averaged, of an average.
    """

    kind: ClassKind = ClassKind.NONE
    name: str | None = None
    average: Average | None = None

    @property
    def is_single(self) -> bool:
        """Return whether it is of one outcome, and not of an average or the worst of several."""
        return self.kind in (ClassKind.NONE, ClassKind.CLASS, ClassKind.SELECTION)


NO_CLASS = ClassScope()


@dataclass(frozen=True, slots=True)
class Reference:
    """What a group is compared with; ``group`` names it where it is one group.

    ``group_id`` is what that group is: within one result its name distinguishes it as well.
    """

    kind: ReferenceKind
    group: str | None = None
    group_id: GroupId | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the name of the group, or the word of the kind where it is not one group."""
        return str(self.kind) if self.group is None else self.group


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval (a credible interval, of posterior methods).

    Attributes
    ----------
    low, high : its ends, possibly infinite; unpacking gives these two.
    level : its confidence level.
    methods : the methods that made it, outermost first.
    """

    low: float
    high: float
    level: float
    methods: tuple[IntervalMethod, ...] = ()

    def __iter__(self) -> Iterator[float]:
        yield self.low
        yield self.high

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest value over all tables that agree with protected counts.

    Attributes
    ----------
    low, high : both attained, or infinite; unpacking gives these two.
    """

    low: float
    high: float

    def __iter__(self) -> Iterator[float]:
        yield self.low
        yield self.high


def simultaneous_interval(alone: Interval, low: float, high: float) -> Interval:
    """Return an interval that holds simultaneously for all groups, given that of one group alone.

    The two are the same where a single comparison is made, or where intervals are simultaneous.
    """
    if (low, high) == (alone.low, alone.high):
        return alone
    methods = (IntervalMethod.SIMULTANEOUS_GROUPS, *alone.methods)
    return Interval(low, high, alone.level, methods)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A note or a warning about an audit.

    Attributes
    ----------
    level : note or warning.
    code : its subject.
    feature : the sensitive feature or column concerned, if any.
    parameters : the values that its sentence needs, sorted by name.
    definition : the metric or the rate that a parameter names; None where it is of none.
    """

    level: Level
    code: DiagnosticCode
    feature: str | None = None
    parameters: tuple[tuple[str, Parameter], ...] = ()
    definition: Metric | Statistic | None = field(
        default=BY_NAME, compare=False, repr=False, metadata=NOT_SAVED
    )

    def __post_init__(self) -> None:
        if self.metric is not None:
            hold_definition(self, self.metric)

    @property
    def metric(self) -> str | None:
        """Return the name of the metric or the rate that it is about, if it is about one."""
        name: str | None = self.get("metric") or self.get("rate")
        return name

    @classmethod
    def note(
        cls, code: DiagnosticCode, feature: str | None = None, **parameters: Parameter
    ) -> Diagnostic:
        """Make a note."""
        return cls(Level.NOTE, code, feature, tuple(sorted(parameters.items())))

    @classmethod
    def warning(
        cls, code: DiagnosticCode, feature: str | None = None, **parameters: Parameter
    ) -> Diagnostic:
        """Make a warning."""
        return cls(Level.WARNING, code, feature, tuple(sorted(parameters.items())))

    def __getitem__(self, name: str) -> Any:
        return dict(self.parameters)[name]

    def get(self, name: str) -> Any:
        """Return a parameter, None where it is absent."""
        return dict(self.parameters).get(name)

    @property
    def message(self) -> str:
        """Return the diagnostic as a sentence."""
        from fairgauge.render.words.diagnostic_sentences import describe_diagnostic

        return describe_diagnostic(self)
