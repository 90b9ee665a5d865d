"""The vocabulary of results: group, scope, class, reference, interval; diagnostics and doubts.

Kinds are enums and names are users' own: a stratum called "pooled" is a stratum.

What is of a metric holds its row, and so can be described by itself, as `print(report)` does. Words
are made in `fairgauge.render`, which imports results: they name its functions as text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Generic, Protocol, Self, TypeAlias, TypeVar, cast

from fairgauge import enums
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.lookup import BUILT_IN, Catalogue
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ClassKind, DiagnosticCode, Level, ReferenceKind, ScopeKind
from fairgauge.errors import FairgaugeError, display
from fairgauge.identity import FeatureId, GroupId
from fairgauge.reasons import Parameter, Reason, ReasonCode, WithParameters
from fairgauge.results import codec
from fairgauge.results.codec import Finite, Key, Parameters, Plain, Result, save_inline
from fairgauge.start.records import dataclass, field, fields, is_dataclass, replace
from fairgauge.values import Saved, name_of

Row = TypeVar("Row", bound="Metric | Statistic | None", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class HasDefinition(Generic[Row]):
    """What is of one metric or rate, whose row is found where the name alone is given.

    A name that the catalogue does not have stands for an `UnknownMetric`; of a result that is read,
    `defined_by` finds a user's own.
    """

    definition: Row = field(default=cast("Row", None), compare=False, repr=False,
                            metadata=codec.NOT_SAVED)  # fmt: skip

    def __post_init__(self) -> None:
        if self.definition is None and (name := _name_of(self)) is not None:
            object.__setattr__(self, "definition", BUILT_IN.row(name))


def _name_of(result: object) -> str | None:
    return result.metric if hasattr(result, "metric") else getattr(result, "rate", None)


def defined_by(catalogue: Catalogue, result: Result) -> Result:
    """Return a result that was read, with the rows that a catalogue has for the names inside."""
    return result if catalogue == BUILT_IN else _definition(catalogue, result)


def _definition(catalogue: Catalogue, value: object) -> Any:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_definition(catalogue, item) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    changed = {n: made for n, of in held.items() if (made := _definition(catalogue, of)) is not of}
    if "definition" in held:
        name = _name_of(value)
        changed["definition"] = name and catalogue.row(name)
    return replace(value, **changed) if changed else value


@cache
def function_at(path: str) -> Any:
    """Return the function of a path ``package.module:function``."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


@contextmanager
def showing() -> Iterator[None]:
    """Refuse in words to show values that do not fit together, as a changed file may hold them."""
    try:
        yield
    except (FairgaugeError, OSError, ImportError):
        raise
    except Exception as error:
        raise FairgaugeError(
            "cannot show this result: its values do not fit together "
            f"({type(error).__name__}: {display(str(error))}). If it was read from a file, the "
            "file may have been changed; otherwise please report it"
        ) from error


def in_words(path: str, *described: object, **how: object) -> Any:
    """Return what a function of `fairgauge.render` makes of a result, ``module:function``."""
    with showing():
        return function_at(f"fairgauge.render.{path}")(*described, **how)


class Worded:
    """An attribute that a function of `fairgauge.render` writes."""

    def __init__(self, path: str, *first: object) -> None:
        self.path, self.first = path, first

    def __get__(self, of: object, kind: object = None) -> str:
        return cast(str, in_words(self.path, *self.first, of))


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


@dataclass(frozen=True, slots=True)
class ClassScope:
    """Which classes of a multiclass audit an estimate is of.

    No class (binary, or all at once), one against the others, an average over classes, or the class
    that is furthest from "no difference", which ``name`` names too.
    """

    kind: ClassKind = ClassKind.NONE
    name: str | None = None
    average: enums.Average | None = None

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
class Bounds:
    """The least and the greatest value that agrees with protected counts."""

    low: float
    high: float

    def __iter__(self) -> Iterator[float]:
        yield self.low
        yield self.high


@dataclass(frozen=True, slots=True)
class Interval(Bounds):
    """A confidence interval (a credible interval, of posterior methods); unpacking gives its ends.

    ``methods`` are those that made it, outermost first.
    """

    level: Annotated[Finite, Key("confidence")]
    methods: Annotated[tuple[enums.IntervalMethod, ...], Key("method")] = ()

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def of_sites(self) -> bool:
        """Whether it is of protected counts of several sites, and allows for their rounding."""
        return enums.IntervalMethod.ROUNDING in self.methods


@dataclass(frozen=True, slots=True)
class Diagnostic(HasDefinition[Metric | Statistic | None], WithParameters):
    """A note or a warning about an audit, with the parameters that its sentence needs.

    ``definition`` is the metric or the rate that a parameter names; None where it is of none.
    """

    level: Level
    code: DiagnosticCode
    feature: str | None = None
    parameters: Parameters = ()

    def but(self, **parameters: Parameter) -> Self:
        return replace(self, parameters=tuple(sorted((dict(self.parameters) | parameters).items())))

    @property
    def metric(self) -> str | None:
        return cast("str | None", self.get("metric") or self.get("rate"))

    @classmethod
    def note(cls, code: DiagnosticCode, feature: str | None = None, /, **given: Parameter) -> Self:
        return cls(Level.NOTE, code, feature).but(**given)

    @classmethod
    def warning(
        cls, code: DiagnosticCode, feature: str | None = None, /, **given: Parameter
    ) -> Self:
        return cls(Level.WARNING, code, feature).but(**given)

    message = Worded("grammar:describe_diagnostic")

    def __str__(self) -> str:
        return self.message


_VALUES = codec.nullable({"type": "array", "items": {"anyOf": [
    {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
    codec.described_object(
        {"low": codec.NUMBER, "high": codec.NUMBER, "closed": {"enum": [*map(str, enums.Closed)]}}),
    {"type": "null"},
]}})  # fmt: skip
GroupValues = Annotated[Any, codec.Form(lambda values: values, lambda values: values, _VALUES)]
"""What a group is in each column of its feature: values, an interval, or null where missing."""


def _read_reference(keys: Saved) -> Reference:
    kind, values = ReferenceKind(keys["reference_kind"]), keys["reference_values"]
    if kind in (ReferenceKind.OTHERS, ReferenceKind.OVERALL):
        return Reference(kind)
    return Reference(kind, keys["reference"], values and GroupId.read("", values))


@cache  # many records of a report have one and the same scope
def _write_class_scope(of: ClassScope) -> Plain:
    name, worst = (of.name, None) if of.is_single else (None, of.name)
    average = of.average and str(of.average)
    return {"class_scope": str(of.kind), "class": name, "worst_class": worst, "average": average}


save_inline(
    ClassScope,
    {"class_scope": ClassKind, "class": str | None, "worst_class": str | None,
     "average": enums.Average | None},
    write=_write_class_scope,
    read=lambda keys: ClassScope(
        ClassKind(keys["class_scope"]),
        keys["worst_class"] if keys["class"] is None else keys["class"],
        None if keys["average"] is None else enums.Average(keys["average"]),
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
    {"group_kind": enums.GroupKind, "group_values": GroupValues},
    write=lambda group: {"group_kind": str(group.kind), "group_values": group.to_plain()},
    read=lambda keys: GroupId.read(enums.GroupKind(keys["group_kind"]), keys["group_values"]),
)


# what rows lack, in words: whose identifier probably stands for unknown people or clusters; in a
# group whose name is another spelling of a larger one; where the prediction, or the score, may be a
# copy of the label; where all have one outcome. Refusals they have, which conditions leave out
OF_ONE = "clear identifier of one {}"
SPELT = "consistent spelling of "
UNSTATED = "stated favourable outcome"
REFUSALS = "refusals"
APART = "prediction that differs from the label"
SCORE_APART = "score apart from the label"
ALIKE = "outcome that varies within their group"
STRATUM, FEATURES, RANKING = "stratum", "features", "ranking"
"""What numbers need, beside outcomes, that are adjusted for strata, or compare rows by features."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Rows that something casts doubt on, and the numbers that stand on them.

    ``needs``: what a number must need (all of it) to stand on it.
    ``features``: the features whose groups it is of; None where it is of all.
    """

    what: str
    rows: int
    needs: frozenset[str] = frozenset()
    features: frozenset[str] | None = None

    def concerns(self, needs: Collection[str], feature: str | None) -> bool:
        """Return whether a number that needs some outcomes, of a feature, stands on it."""
        return self.needs <= {*needs} and (self.features is None or feature in self.features)


@dataclass(frozen=True, slots=True)
class StatedDoubt:
    """What a check found in the counts: it leaves no pass that stands on it, unless accepted.

    ``code, column``: what ``accept`` names. ``values``: those in doubt, or by which it shows.
    ``rows, share``: how many rows have them, and of all; None where this is not known.
    """

    code: DiagnosticCode
    column: str | None
    values: tuple[str, ...]
    rows: int | None
    share: Finite | None
    accepted: bool


def stated_doubts(notes: Iterable[Diagnostic], total: int) -> tuple[StatedDoubt, ...]:
    """Return the doubts among notes, those that are accepted too, of a number of rows."""
    found = []
    for note in (each for each in notes if each.code in enums.DOUBTS):
        accepted = bool(note.get("accepted"))
        if not accepted and (note.level is not Level.WARNING or note.get("withholds") is not None):
            continue
        column = note.feature or note.get("column") or next(iter(note.get("columns") or ()), None)
        values = note.get("values") or note.get("groups") or (note.get("value"),)
        rows = note.get("rows")
        rows = sum(rows) if isinstance(rows, tuple) else rows
        read = note.get("total") or total  # with those that conditions leave out
        share = None if rows is None or not read else rows / read
        names = tuple(name_of(value) for value in values if value is not None)
        found.append(StatedDoubt(note.code, column, names, rows, share, accepted))
    return tuple(found)


WhyWithheld: TypeAlias = "Callable[[Collection[str], str | None], Reason | None]"
"""Returns why what needs some outcomes, of a feature (None: of all rows), does not pass."""


class Judged(Protocol):
    """What may pass: a verdict on a rule, a gap, thresholds, a candidate, or a comparison."""

    def withheld(self, why: WhyWithheld) -> Self:
        """Return it inconclusive where it passes on something doubted; a fail stays one."""


def not_counted(uncounted: Mapping[str, int], unit: str | None, **more: str) -> Reason | None:
    """Return what most rows that are in no number lack, and how many do, if any."""
    what = max(uncounted, key=lambda each: uncounted[each], default=None)
    if what is None:
        return None
    unit = "rows" if what == "count" else unit
    return Reason.of(ReasonCode.NOT_COUNTED, what=what, rows=uncounted[what], unit=unit, **more)
