"""Types of options: how their values are read, described by JSON Schema and written as flags."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from fairgauge.enums import (
    DOUBTS,
    DOUBTS_OF_A_COLUMN,
    Assume,
    Closed,
    Decide,
    Ends,
    Insufficient,
    KnownDrawn,
    ReferenceRule,
    Threshold,
)
from fairgauge.errors import Problem, SpecError, nearest, quote, shown
from fairgauge.question import _argument_syntax as syntax
from fairgauge.question._wording import DOCUMENT_KEYS, WORD_KEYS, read_document, read_words
from fairgauge.question.conditions import NOT, plain_conditions, read_conditions, write_conditions
from fairgauge.question.features import (
    Above,
    ByColumn,
    Feature,
    Ordered,
    Positive,
    read_features,
    read_ordered,
    read_strata,
)
from fairgauge.question.presets import preset, preset_names
from fairgauge.question.probabilities import (
    parse_probabilities,
    read_probabilities,
    write_probabilities,
)
from fairgauge.question.readers import (
    Problems,
    Reader,
    is_finite,
    items,
    one_of,
    read_column,
    read_names,
    read_number,
    read_numbers,
    read_range,
    read_value,
    read_values,
    read_word,
)
from fairgauge.question.recoding import plain_recodings, read_recodings, write_recodings
from fairgauge.question.rules import read_rules
from fairgauge.values import Json, Value, canonical, name_of

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
from fairgauge.question.features import FeatureKeys

Schema = dict[str, Json]
"""A JSON Schema."""


def plain(value: object) -> Any:
    """Return a meaning as a specification file has it: tables, lists, text, numbers."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, StrEnum):
        return str(value)
    return [plain(each) for each in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OptionType:
    """How values of an option are written, wherever they can be.

    Attributes
    ----------
    read : the reader of what is written in Python or in a specification file.
    schema : the JSON Schema of what a specification file may hold.
    plain : the inverse of ``read``: a meaning as a specification file has it.
    parse : the reader of the texts of its flag, into what ``read`` takes.
    write : the inverse of ``parse``: the texts of its flag for what ``plain`` returns.
    metavar : the value of its flag in help.
    words : the closed vocabulary of its values, if there is one.
    repeatable : whether its flag may be given more than once.
    arguments : how many texts follow its flag.
    """

    read: Reader
    schema: Schema
    plain: Callable[[Any], Json] = plain
    parse: Callable[[Sequence[str], str, Problems], object] = syntax.parse_text
    write: Callable[[Any], list[str]] = syntax.write_text
    metavar: str
    words: tuple[str, ...] = ()
    repeatable: bool = False
    arguments: int = 1


def one_or_many(schema: Schema, *others: Schema) -> Schema:
    """Return the schema of one value, or a list of them, or of something else."""
    return {"anyOf": [schema, {"type": "array", "items": schema}, *others]}


def _table(properties: Mapping[str, Schema], *required: str) -> Schema:
    optional: dict[str, Json] = {
        key: each if key in required else {"anyOf": [each, {"type": "null"}]}
        for key, each in properties.items()
    }
    table: Schema = {"type": "object", "properties": optional, "additionalProperties": False}
    return table | ({"required": list(required)} if required else {})


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_SCALAR: Schema = {"type": ["string", "boolean", "number"]}
_NAMES = one_or_many(_TEXT)
_SCALARS: Schema = {"type": "array", "items": _SCALAR}
_VALUE_SETS: Schema = {"anyOf": [_SCALAR, _SCALARS, {"type": "array", "items": _SCALARS}]}
_FEATURE_KEYS: dict[str, Schema] = {
    "column": _TEXT,
    "values": _VALUE_SETS | {"description": "Values of one group; a list of lists: of several."},
    "cuts": one_or_many(_NUMBER) | {"description": "Cut points of a numeric column."},
    "closed": {"enum": list(Closed), "description": "The edge that belongs to an interval."},
}
_FEATURE_TABLE = _table(_FEATURE_KEYS, "column")
_PROBABILITIES_TABLE = _table(
    {
        "name": _TEXT,
        "probabilities": {
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "The column of the probability of each group.",
        },
        "known": _TEXT | {"description": "Column with the group of those who reported it."},
        "known_drawn": {
            "enum": list(KnownDrawn),
            "description": "Whether the rows of known group are a random sample of all rows.",
        },
        "table": _TEXT | {"description": "A file with these columns, by a column of the data."},
        "on": _TEXT | {"description": "This column, which both have: a place or a surname."},
        "assume": {"enum": list(Assume), "description": "What decides verdicts."},
        "tolerance": _NUMBER
        | {"description": "How far the probabilities of a row may be from 1 together."},
    },
    "name",
    "probabilities",
)
_VALUES_BY_COLUMN: Schema = {
    "type": "object",
    "propertyNames": {"not": {"enum": [*_FEATURE_KEYS, "probabilities"]}},
    "additionalProperties": _VALUE_SETS,
}
_INTERVAL_KEYS: dict[str, Schema] = {
    "low": {"anyOf": [_NUMBER, _TEXT], "description": "A number, a date, a time or -Infinity."},
    "high": {"anyOf": [_NUMBER, _TEXT], "description": "A number, a date, a time or Infinity."},
    "closed": {"enum": list(Ends)},
}
_LIMIT_KEYS: dict[str, Schema] = {
    "metric": {"$ref": "#/$defs/Metric"},
    "at_least": _NUMBER,
    "at_most": _NUMBER,
    "between": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
}
_RULE_TABLE = _table(
    {
        **_LIMIT_KEYS,
        "alternatives": one_or_many({"anyOf": [_TEXT, _table(_LIMIT_KEYS, "metric")]}),
        "features": _NAMES,
        "groups": _NAMES,
        "insufficient": {"enum": list(Insufficient)},
        "decide": {"enum": list(Decide)},
    },
    "metric",
)


def _read_metrics(
    value: object, path: str, problems: Problems
) -> tuple[str | Statistic | Metric, ...]:
    """Read names, import paths and metrics of a user's own; names may be of these."""
    from fairgauge.catalogue.lookup import Catalogue, own_of  # not for --help
    from fairgauge.catalogue.own_by_name import metric_or_name

    asked: dict[int, str | Statistic | Metric] = {}
    for i, item in enumerate(items(value)):
        try:
            asked[i] = metric_or_name(item)
        except LookupError as error:
            problems.append(Problem(f"{path}[{i}]", str(error)))
    catalogue = Catalogue(own_of(asked.values()))
    for i, each in asked.items():
        try:
            catalogue.expand([each])
        except LookupError as error:
            problems.append(Problem(f"{path}[{i}]", str(error)))
    if isinstance(value, Sequence) and not value:
        problems.append(Problem(path, "must name at least one metric"))
    return tuple(asked.values())


def _read_positive(value: object, path: str, problems: Problems) -> Positive:
    if isinstance(value, (Above, Ordered)):
        return value
    if not isinstance(value, Mapping):
        return read_values(value, path, problems)
    if set(value) == {"above"} and is_finite(value["above"]):
        return Above(float(value["above"]))
    if set(value) == {"ordered"}:
        return read_ordered(value["ordered"], f"{path}.ordered", problems)
    if set(value) <= {"above", "ordered"}:
        allowed = "values, {COLUMN = VALUE, ...}, {above = NUMBER} or {ordered = [VALUE, ...]}"
        problems.append(Problem(path, f"must be {allowed}, not {shown(value)}"))
        return ()
    return ByColumn(tuple(
        (str(column), read_values(values, f"{path}.{column}", problems))
        for column, values in sorted(value.items())
    ))  # fmt: skip


def _read_threshold(value: object, path: str, problems: Problems) -> tuple[float, ...] | Threshold:
    if isinstance(value, str):
        if value in list(Threshold):
            return Threshold(value)
        problems.append(Problem(path, f"must be numbers or 'median', not {shown(value)}"))
        return ()
    return read_numbers(value, path, problems)


def _read_intersections(
    value: object, path: str, problems: Problems
) -> tuple[tuple[str, ...], ...]:
    every = items(value)
    if every and all(isinstance(each, str) and "*" not in each for each in every):
        every = [every]  # one intersection, without its list
    intersections = []
    for i, each in enumerate(every):
        columns = [part.strip() for part in each.split("*")] if isinstance(each, str) else each
        names = read_names(columns, f"{path}[{i}]", problems)
        if len(names) == len(items(columns)) and (len(names) < 2 or len(set(names)) < len(names)):
            problems.append(Problem(f"{path}[{i}]", "must name two or more different columns"))
        intersections.append(names)
    return tuple(dict.fromkeys(intersections))


_SYNONYMS = {"rest": ReferenceRule.OTHERS}


NamedReferences: TypeAlias = tuple[tuple[str, Value | tuple[Value, ...]], ...]
"""The group that is the reference, by feature: a value, or that of each column of several."""


def _read_reference(
    value: object, path: str, problems: Problems
) -> ReferenceRule | NamedReferences:
    if isinstance(value, Mapping):
        named = tuple(
            (str(name), _read_group(group, f"{path}.{name}", problems))
            for name, group in value.items()
        )
        return named or ReferenceRule.OTHERS
    if isinstance(value, str) and value in _SYNONYMS:
        return _SYNONYMS[value]
    if isinstance(value, str) and value in list(ReferenceRule):
        return ReferenceRule(value)
    group = (
        "a group with its column: COLUMN=VALUE, in Python {'column': value} or of an "
        "intersection {'a*b': [value of a, value of b]}"
    )
    allowed = one_of([*ReferenceRule, group])
    problems.append(
        Problem(path, f"{shown(value)} is not allowed.{nearest(value, ReferenceRule)} {allowed}")
    )
    return ReferenceRule.OTHERS


def _read_group(value: object, path: str, problems: Problems) -> Value | tuple[Value, ...]:
    if isinstance(value, (list, tuple)) and len(value) > 1:
        return read_values(value, path, problems)
    return read_value(value, path, problems)


def _plain_reference(value: ReferenceRule | NamedReferences) -> Json:
    if not isinstance(value, tuple):
        return str(value)
    return {name: [*group] if isinstance(group, tuple) else group for name, group in value}


POPULATION_ROUNDING = 0.01
"""How far rounded shares of a whole population may add up to more or less than 1."""

Population = tuple[tuple[str, tuple[tuple[Value, float], ...]], ...]


def _read_population(value: object, path: str, problems: Problems) -> Population:
    """Read shares or counts of a population.

    Whole numbers are counts, and numbers of which one is above 1, such as percentages, sum to the
    whole. Shares are kept as they are, but for rounding: what they leave is of other groups.
    """
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        problems.append(Problem(path, f"must be {{column: {{value: share}}}}, not {shown(value)}"))
        return ()
    population = []
    for column, shares in value.items():
        numbers = [float(n) for n in shares.values() if is_finite(n)]
        fit = len(numbers) == len(shares) and min(numbers, default=-1) >= 0
        if not fit or not 0 < sum(numbers) < math.inf:
            message = f"shares must be numbers, 0 or greater, not {shown(dict(shares))}"
            problems.append(Problem(f"{path}.{column}", message))
            continue
        total = sum(numbers)
        shared = max(numbers) <= 1 and not all(n.is_integer() for n in numbers)
        if shared and total > 1 + POPULATION_ROUNDING:
            message = f"the shares add up to {total:.4g}, more than 1; correct them, or give counts"
            problems.append(Problem(f"{path}.{column}", message))
            continue
        if math.isclose(total, 1.0) or (shared and total < 1 - POPULATION_ROUNDING):
            total = 1.0
        each = tuple((canonical(v), n / total) for v, n in zip(shares, numbers, strict=True))
        population.append((str(column), each))
    return tuple(population)


Margins = tuple[tuple[str, float], ...]


def _plain_strata(strata: tuple[Feature, ...]) -> Json:
    """Return the columns of strata: nothing where there are none, one plain column as its name."""
    columns: list[Any] = [each.to_dict() if each.cuts else each.column for each in strata]
    if len(columns) == 1 and isinstance(columns[0], str):
        return columns[0]
    return columns or None


def _write_strata(plain: Any) -> list[str]:
    listed = [] if plain is None else [plain] if isinstance(plain, str) else plain
    columns: list[FeatureKeys] = [
        {"column": each} if isinstance(each, str) else each for each in listed
    ]
    return syntax.write_sensitive(columns)


def read_margins(value: object, path: str, problems: Problems) -> Margins:
    """Read how much worse each rate may be, in the unit of the rate."""
    if not isinstance(value, Mapping):
        problems.append(Problem(path, f"must be {{rate: margin}}, not {shown(value)}"))
        return ()
    margins = []
    for name, margin in value.items():
        if is_finite(margin) and float(margin) >= 0:
            margins.append((str(name), float(margin)))
        else:
            message = f"must be a number, 0 or greater, not {shown(margin)}"
            problems.append(Problem(f"{path}.{name}", message))
    return tuple(margins)


def _any_values(value: object, path: str, problems: Problems) -> tuple[Value, ...]:
    return read_values(value, path, problems) if value != [] else ()


COLUMN = OptionType(read=read_column, schema=_TEXT, metavar="COL")
COLUMNS = OptionType(
    read=read_names,
    schema=_NAMES,
    parse=syntax.parse_names,
    write=syntax.write_names,
    metavar="COL,...",
    repeatable=True,
)
NAMES = replace(COLUMNS, metavar="NAME,...")


def _read_preset(value: object, path: str, problems: Problems) -> str | None:
    try:
        return preset(str(value)).name
    except SpecError as error:
        problems += [each._replace(path=path) for each in error.problems]
        return None


PRESET = OptionType(
    read=_read_preset,
    schema={"type": "string", "examples": list(preset_names())},
    metavar="NAME",
    words=preset_names(),
)


def _read_accepted(value: object, path: str, problems: Problems) -> tuple[str, ...]:
    """Read doubts that are accepted: a code, written with blanks or not, and a column."""
    found = []
    for name in read_names(value, path, problems):
        code, _, column = name.partition(":")
        code, column = code.strip().replace(" ", "_"), column.strip()
        if code not in DOUBTS:
            message = f"has no doubt {quote(code)}.{nearest(code, sorted(DOUBTS))}"
            problems.append(Problem(path, message))
        elif code in DOUBTS_OF_A_COLUMN and not column:
            problems.append(Problem(path, f"name the column, as in {code}:COLUMN"))
        found.append(f"{code}:{column}" if column else code)
    return tuple(found)


ACCEPTED = replace(COLUMNS, read=_read_accepted, metavar="CODE[:COLUMN]")
VALUE = OptionType(read=read_value, schema=_SCALAR, metavar="VALUE")
VALUES = replace(
    COLUMNS,
    read=_any_values,
    schema=one_or_many(_SCALAR),
    metavar="VALUE,...",
)
GROUPS = replace(
    VALUES,
    read=lambda *given: tuple(map(name_of, _any_values(*given))),
    metavar="NAME,...",
)
RANGE = OptionType(
    read=read_range,
    schema={"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
    parse=syntax.parse_range,
    write=lambda value: [name_of(canonical(bound)) for bound in value],
    metavar="LOW HIGH",
    arguments=2,
)
THRESHOLD = replace(
    COLUMNS,
    read=_read_threshold,
    schema=one_or_many(_NUMBER, {"enum": list(Threshold)}),
    parse=syntax.parse_numbers,
    metavar="T,...",
)
POSITIVE = OptionType(
    read=_read_positive,
    schema=one_or_many(
        _SCALAR,
        _table({"above": _NUMBER}, "above"),
        _table({"ordered": {**_SCALARS, "minItems": 2}}, "ordered"),
        {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"not": {"enum": ["above", "ordered"]}},
            "additionalProperties": one_or_many(_SCALAR),
        },
    ),
    plain=lambda value: plain(value) or None,  # no values: they are not asked for
    parse=syntax.parse_positive,
    write=syntax.write_positive,
    metavar="VALUE,...",
    repeatable=True,
)
FEATURES = OptionType(
    read=read_features,
    schema=one_or_many({"anyOf": [_TEXT, _FEATURE_TABLE, _PROBABILITIES_TABLE, _VALUES_BY_COLUMN]}),
    parse=syntax.parse_sensitive,
    write=syntax.write_sensitive,
    metavar="COL...",
    repeatable=True,
)
LISTED_FEATURES = replace(FEATURES, parse=syntax.parse_listed_features, metavar="A,B,C")
STRATA = replace(
    FEATURES,
    read=read_strata,
    schema=one_or_many({"anyOf": [_TEXT, _FEATURE_TABLE]}),
    plain=_plain_strata,
    write=_write_strata,
)
PROBABILITIES = OptionType(
    read=read_probabilities,
    schema=one_or_many(_PROBABILITIES_TABLE),
    parse=parse_probabilities,
    write=write_probabilities,
    metavar="SPEC",
    repeatable=True,
)
INTERSECTIONS = OptionType(
    read=_read_intersections,
    schema=one_or_many(_NAMES),
    parse=syntax.parse_intersections,
    write=syntax.write_intersections,
    metavar="A*B",
    repeatable=True,
)
REFERENCE = OptionType(
    read=_read_reference,
    schema={
        "anyOf": [
            {"enum": [*ReferenceRule, *_SYNONYMS]},
            {"type": "object", "additionalProperties": one_or_many(_SCALAR)},
        ]
    },
    plain=_plain_reference,
    parse=syntax.parse_reference,
    write=syntax.write_reference,
    metavar="R",
    repeatable=True,
)
METRICS = replace(
    NAMES,
    read=_read_metrics,
    plain=lambda metrics: [each if isinstance(each, str) else each.name for each in metrics],
    schema=one_or_many({"$ref": "#/$defs/Name"}),
)
MARGINS = OptionType(
    read=read_margins,
    schema={"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
    plain=dict,
    parse=syntax.parse_margins,
    write=syntax.write_margins,
    metavar="RATE=MARGIN",
    repeatable=True,
)
POPULATION = OptionType(
    read=_read_population,
    schema={
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": {"type": "number", "minimum": 0},
        },
    },
    plain=lambda columns: {
        column: {name_of(v): s for v, s in shares} for column, shares in columns
    },
    parse=syntax.parse_population,
    write=syntax.write_population,
    metavar="COL:V=SHARE,...",
    repeatable=True,
)
RULES = OptionType(
    read=read_rules,
    schema=one_or_many({"anyOf": [_TEXT, _RULE_TABLE]}),
    parse=syntax.parse_rules,
    write=syntax.write_rules,
    metavar="RULE",
    repeatable=True,
)
RECODE = replace(
    RULES,
    read=read_recodings,
    schema=one_or_many(
        _TEXT,
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [_TEXT, {"type": "object", "additionalProperties": one_or_many(_SCALAR)}]
            },
        },
    ),
    plain=plain_recodings,
    write=write_recodings,
    metavar="FILE",
)
CONDITIONS = replace(
    RULES,
    read=read_conditions,
    schema=one_or_many(
        _TEXT,
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [
                    one_or_many(
                        {
                            "anyOf": [
                                _SCALAR,
                                {"type": "null"},
                                _table(_INTERVAL_KEYS, *_INTERVAL_KEYS),
                            ]
                        }
                    ),
                    _table({NOT: one_or_many({"anyOf": [_SCALAR, {"type": "null"}]})}, NOT),
                ]
            },
        },
    ),
    plain=plain_conditions,
    write=write_conditions,
    metavar="CONDITION",
)
DOCUMENT = OptionType(
    read=read_document,
    schema=_table(
        {key: {**_TEXT, "description": f"{text}."} for key, text in DOCUMENT_KEYS.items()}
    ),
    metavar="TEXT",
)
_NAMES_OF_GROUPS: Schema = {
    "type": "object",
    "additionalProperties": {"anyOf": [_TEXT, {"type": "object", "additionalProperties": _TEXT}]},
}
_WORD_SCHEMAS: dict[str, Schema] = {
    **dict.fromkeys(WORD_KEYS, _TEXT),
    "groups": _NAMES_OF_GROUPS,
}
WORDS = OptionType(
    read=read_words,
    schema=_table(
        {key: {**_WORD_SCHEMAS[key], "description": f"{text}."} for key, text in WORD_KEYS.items()}
    ),
    parse=syntax.parse_words,
    write=syntax.write_words,
    metavar="KEY=TEXT",
    repeatable=True,
)


def number(
    low: float,
    high: float = math.inf,
    *,
    inside: bool = False,
    whole: bool = False,
    metavar: str = "N",
) -> OptionType:
    """Return the type of a number between two limits, which are allowed unless ``inside``."""
    least, most = ("exclusiveMinimum", "exclusiveMaximum") if inside else ("minimum", "maximum")
    limits: Schema = {least: low}
    if high < math.inf:
        limits[most] = high
    return OptionType(
        read=read_number(low, high, inside=inside, whole=whole),
        schema={"type": "integer" if whole else "number", **limits},
        parse=syntax.parse_number,
        metavar=metavar,
    )


def word(words: type[StrEnum], metavar: str) -> OptionType:
    """Return the type of a closed vocabulary."""
    return OptionType(
        read=read_word(words), schema={"enum": list(words)}, metavar=metavar, words=tuple(words)
    )
