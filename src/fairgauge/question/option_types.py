"""Types of options: how their values are read, described by JSON Schema and written as flags."""

# ruff: noqa: E501 - a type is one row, so that the table reads as a table

from __future__ import annotations

import datetime as dt
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fairgauge import enums
from fairgauge.errors import IMITATES, collecting, display, listing, quote, suggest
from fairgauge.identity import name_of_values
from fairgauge.question import features, readers
from fairgauge.question.category_words import OWN_MEANINGS, OwnWords
from fairgauge.question.conditions import NOT, plain_conditions, read_conditions, write_conditions
from fairgauge.question.readers import Location, plain_meaning, read_table
from fairgauge.question.recoding import read_recodings, write_recodings
from fairgauge.question.rules import read_rules, write_rules
from fairgauge.start.records import dataclass, field, fields, replace
from fairgauge.values import Json, Value, canonical, name_of

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.question.kits import Kit

_LONGEST = 60  # the most characters of a word: sentences hold several
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _key(text: str) -> str:
    return field(default="", metadata={"text": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    def to_dict(self) -> dict[str, Json]:
        """Return the keys of a specification file, without the empty ones."""
        return {each.name: text for each in fields(self) if (text := getattr(self, each.name))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(_Texts):
    """What the first page of a report calls things; what is empty has a word by default."""

    unit: str = _key("What a row is, in the plural (loan applications)")
    noun: str = _key("Who the rows are of, in the plural (applicants)")
    positive: str = _key("Participle for a positive decision (approved)")
    negative: str = _key("Participle for a negative decision (refused)")
    label_positive: str = _key("Verb phrase for a positive outcome (repaid)")
    label_negative: str = _key("Verb phrase for a negative outcome (did not repay)")
    # of an intersection a pattern of its features in braces, the name of the last in the plural
    groups: Mapping[str, str | Mapping[str, str]] = field(
        default_factory=dict, hash=False,
        metadata={"text": "Names of groups by feature and value, or a pattern such as {value} applicants"},
    )  # fmt: skip


WORD_KEYS: dict[str, str] = {each.name: each.metadata["text"] for each in fields(Words)}


def _reader_of(kind: type[_Texts], keys: Mapping[str, readers.Reader]) -> readers.Reader:
    def read(value: object, at: Location) -> _Texts:
        return value if isinstance(value, kind) else kind(**read_table(value, keys, at))

    return read


def _groups(value: object, at: Location) -> Mapping[str, str | Mapping[str, str]]:
    if not isinstance(value, Mapping):
        at.report(f"must be a table of features, not {display(value)}")
        return {}
    return {
        str(feature): {
            str(name): read_phrase(word, at[feature][name]) for name, word in names.items()
        }
        if isinstance(names, Mapping)
        else read_phrase(names, at[feature])
        for feature, names in value.items()
    }


def _text(value: object, at: Location) -> str:
    at.expect(isinstance(value, str), "text", value)
    return str(value)


def read_phrase(value: object, at: Location) -> str:
    """Read what something is called: a few words, no sentence and no verdict."""
    seen = "".join(" " if c.isspace() else c for c in _text(value, at))
    seen = " ".join("".join(c for c in seen if unicodedata.category(c) not in _UNSEEN).split())
    if isinstance(value, str) and len(seen) > _LONGEST:
        room = f"sentences have room for {_LONGEST}"
        at.report(f"has {len(seen)} characters; {room}: {display(seen)}")
    at.expect(not IMITATES.search(seen), "no sentence, and no verdict", seen)
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(_Texts):
    """Texts and dates that describe an audit, shown on the cover of a report unless empty."""

    title: str = _key("Title of the report")
    author: str = _key("Person who made the audit")
    organisation: str = _key("Organisation responsible for the audit")
    purpose: str = _key("Purpose of the audit")
    period: str = _key("Period that the data cover")
    source: str = _key("Source of the data")
    collected: str = _key("How and when the data were collected")
    notes: str = _key("Further remarks")
    audit_date: str = _key("Date of the audit (such as 2026-11-20)")
    first_used: str = _key("Date on which the audited tool was first used (such as 2026-01-01)")
    response: str = _key("What was done about the results")
    candidates: str = _key("How many alternatives were compared, discarded ones with them")
    caveat: str = _key("What readers must know to judge the numbers, shown first in every report")


DOCUMENT_KEYS: dict[str, str] = {each.name: each.metadata["text"] for each in fields(Document)}


def _date(value: object, at: Location) -> str:
    text = str(value)
    with suppress(ValueError):
        if not text or dt.date.fromisoformat(text).isoformat() == text:
            return text
    at.report(f"must be a date such as 2026-11-20, not {display(value)}")
    return text


Schema = dict[str, Json]  # a JSON Schema


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OptionType:
    """How values of an option are written, wherever they can be."""

    read: readers.Reader  # the reader of what is written in Python or in a specification file
    schema: Schema  # the JSON Schema of what a specification file may hold
    plain: Callable[[Any], Json] = plain_meaning  # the inverse of `read`, for a specification file
    # the reader of the texts of its flag, into what `read` takes
    parse: Callable[[Sequence[str], Location], object] = lambda texts, _: readers.unescape(texts[0])
    write: Callable[[Any], list[str]] = lambda value: [readers.escape(value)]  # the inverse of it
    metavar: str  # the value of its flag in help
    words: tuple[str, ...] = ()  # the closed vocabulary of its values, if there is one
    repeatable: bool = False  # whether its flag may be given more than once
    arguments: int = 1  # how many texts follow its flag


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


# fmt: off
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_NULL: Schema = {"type": "null"}
_TWO: Schema = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}
_SCALAR: Schema = {"type": ["string", "boolean", "number"]}
_NAMES = one_or_many(_TEXT)
_SCALARS: Schema = {"type": "array", "items": _SCALAR}
_VALUE_SETS: Schema = {"anyOf": [_SCALAR, _SCALARS, {"type": "array", "items": _SCALARS}]}


def _schema_by_column(each: Json, **more: Json) -> Schema:
    return {"type": "object", "additionalProperties": each, **more}


_FEATURE_KEYS: dict[str, Schema] = {
    "column": _TEXT,
    "values": _VALUE_SETS | {"description": "Values of one group; a list of lists: of several."},
    "cuts": one_or_many(_NUMBER) | {"description": "Cut points of a numeric column."},
    "closed": {"enum": list(enums.Closed), "description": "The edge that belongs to an interval."},
    "order": _SCALARS | {"description": "Values in the order in which they are shown."},
}
_FEATURE_TABLE = _table(_FEATURE_KEYS, "column")
_PROBABILITIES_TABLE = _table({
    "name": _TEXT,
    "probabilities": _schema_by_column(_TEXT, description="The column of the probability of each group."),
    "known": _TEXT | {"description": "Column with the group of those who reported it."},
    "known_drawn": {"enum": list(enums.KnownDrawn), "description": "Whether the rows of known group are a random sample of all rows."},
    "table": _TEXT | {"description": "A file with these columns, by a column of the data."},
    "on": _TEXT | {"description": "This column, which both have: a place or a surname."},
    "assume": {"enum": list(enums.Assume), "description": "What decides verdicts."},
    "tolerance": _NUMBER | {"description": "How far the probabilities of a row may be from 1 together."},
}, "name", "probabilities")
_VALUES_BY_COLUMN = _schema_by_column(_VALUE_SETS, propertyNames={"not": {"enum": [*_FEATURE_KEYS, "probabilities"]}})
_END: Schema = {"anyOf": [_NUMBER, _TEXT], "description": "A number, a date, a time, Infinity or -Infinity."}
_INTERVAL = _table({"low": _END, "high": _END, "closed": {"enum": list(enums.Ends)}}, "low", "high", "closed")
_RULE_TABLE = _table({
    "metric": {"$ref": "#/$defs/Metric"}, "at_least": _NUMBER, "at_most": _NUMBER, "between": _TWO,
    "features": _NAMES, "groups": _NAMES,
    "insufficient": {"enum": list(enums.Insufficient)}, "decide": {"enum": list(enums.Decide)},
}, "metric")
# fmt: on


def _read_metrics(value: object, at: Location) -> tuple[str | Statistic | Metric, ...]:
    from fairgauge.catalogue.lookup import Catalogue, own_of  # not for --help
    from fairgauge.catalogue.own import metric_or_name

    asked: dict[int, str | Statistic | Metric] = {}
    for i, item in enumerate(readers.items(value)):
        try:
            asked[i] = metric_or_name(item)
        except LookupError as error:
            at[i].report(str(error))
    catalogue = Catalogue(own_of(asked.values()))
    for i, each in asked.items():
        try:
            catalogue.expand([each])
        except LookupError as error:
            at[i].report(str(error))
    if isinstance(value, Sequence) and not value:
        at.report("must name at least one metric")
    return tuple(asked.values())


def _read_positive(value: object, at: Location) -> features.Positive:
    if isinstance(value, features.Above):
        return value
    if not isinstance(value, Mapping):
        return readers.read_values(value, at)
    if {"above"} <= set(value) <= {"above", "closed"}:
        side = readers.read_word(enums.Closed)(value.get("closed", "right"), at["closed"])
        return features.Above(readers.read_number()(value["above"], at["above"]), side)
    at.expect(bool(value), "values, {COLUMN = VALUE, ...} or {above = NUMBER}", value)
    return features.ByColumn(tuple(
        (str(column), readers.read_values(values, at[column]))
        for column, values in sorted(value.items())
    ))  # fmt: skip


def _read_threshold(value: object, at: Location) -> tuple[float, ...] | enums.Threshold:
    if not isinstance(value, str):  # of a search for another threshold the first is today's
        return readers.read_numbers(value, at, as_stated=True)
    median = at.expect(value in list(enums.Threshold), "numbers or 'median'", value)
    return enums.Threshold(value) if median else ()


def _read_intersections(value: object, at: Location) -> tuple[tuple[str, ...], ...]:
    every = readers.items(value)
    if every and all(isinstance(each, str) and "*" not in each for each in every):
        every = [every]  # one intersection, without its list
    intersections = []
    for i, each in enumerate(every):
        columns = [part.strip() for part in each.split("*")] if isinstance(each, str) else each
        names = readers.read_names(columns, at[i])
        differ = len(names) > 1 and len(set(names)) == len(names)
        if len(names) == len(readers.items(columns)) and not differ:
            at[i].report("must name two or more different columns")
        intersections.append(names)
    return tuple(dict.fromkeys(intersections))


NamedReferences: TypeAlias = tuple[tuple[str, Value | tuple[Value, ...]], ...]
"""The group that is the reference, by feature: a value, or that of each column of several."""


def _read_reference(value: object, at: Location) -> enums.ReferenceRule | NamedReferences:
    if isinstance(value, Mapping):
        named = []
        for name, group in value.items():
            several = isinstance(group, (list, tuple)) and len(group) > 1
            read = readers.read_values if several else readers.read_value
            named.append((str(name), read(group, at[name])))
        return tuple(named) or enums.ReferenceRule.OTHERS
    group = (
        "a group with its column: COLUMN=VALUE, in Python {'column': value} or of an intersection "
        "{'a*b': [value of a, value of b]}"
    )
    return readers.read_word(enums.ReferenceRule, group)(value, at)


Margins = tuple[tuple[str, float], ...]


def _plain_strata(strata: tuple[features.Feature, ...]) -> Json:
    columns: list[Any] = [each.to_dict() if each.cuts else each.column for each in strata]
    return columns[0] if len(columns) == 1 and isinstance(columns[0], str) else columns or None


def read_margins(value: object, at: Location) -> Margins:
    """Read how much worse each rate may be, in the unit of the rate."""
    if not isinstance(value, Mapping):
        at.report(f"must be {{rate: margin}}, not {display(value)}")
        return ()
    return tuple((str(n), readers.read_number(0)(m, at[n])) for n, m in value.items())


def _read_any_values(value: object, at: Location) -> tuple[Value, ...]:
    return readers.read_values(value, at) if value != [] else ()


def _read_accepted(value: object, at: Location) -> tuple[str, ...]:
    # read doubts that are accepted: a code, written with blanks or not, and a column
    found = []
    for name in readers.read_names(value, at):
        code, _, column = name.partition(":")
        code, column = code.strip().replace(" ", "_"), column.strip()
        known = sorted(enums.DOUBTS | enums.FEED_DOUBTS)
        if code not in known:
            near = suggest(code, known)
            at.report(f"has no doubt {quote(code)}; there are {listing(known)}.{near}")
        elif code in {*enums.DOUBTS_OF_A_COLUMN, "copied_label"} and not column:
            at.report(f"name the column, as in {code}:COLUMN")
        found.append(f"{code}:{column}" if column else code)
    return tuple(found)


def _read_checks(value: object, at: Location) -> OwnWords:
    # read a file of words by meaning, or by meaning and language, or its tables
    tables = value.get("words") if isinstance(value, Mapping) and {*value} <= {"words"} else value
    if isinstance(tables, (str, Path)):
        file, tables = Path(tables), None
        with collecting(at.problems):
            tables = readers.parse(file)
    tables = tables or {}
    if not isinstance(tables, Mapping):
        at.report(f"must be words = FILE, or its tables, not {display(tables)}")
        return ()
    found = {}
    for meaning, lists in tables.items():
        if meaning not in OWN_MEANINGS:
            at["words"][meaning].report(f"is no list of words; there are {listing(OWN_MEANINGS)}")
        of = lists.values() if isinstance(lists, Mapping) else [lists]
        words = (each.split("|") if isinstance(each, str) else readers.items(each) for each in of)
        found[str(meaning)] = tuple(str(word).strip() for each in words for word in each)
    return tuple(sorted(found.items()))


def _read_preset(value: object, at: Location) -> Kit | None:
    from fairgauge.question.kits import read_kit  # which reads options

    with collecting(at.problems):
        return read_kit(value, at)
    return None


_PRESETS = tuple(sorted(path.stem for path in Path(__file__).parents[1].glob("kits/*.toml")))

# fmt: off
COLUMN = OptionType(read=readers.read_column, schema=_TEXT, metavar="COL")
PRESET = OptionType(
    read=_read_preset, schema=_TEXT | {"examples": [*_PRESETS]}, metavar="NAME", words=_PRESETS,
    plain=lambda kit: kit and kit.to_dict(), write=lambda kit: [readers.escape(kit["name"] if isinstance(kit, Mapping) else kit)])
REPLICATES = OptionType(read=readers.read_replicates, schema=_TEXT, plain=lambda value: value and value.written, metavar="'COLS; RULE'")
VALUE = OptionType(read=readers.read_value, schema=_SCALAR, metavar="VALUE")
RANGE = OptionType(
    read=readers.read_range, schema=_TWO, metavar="LOW HIGH", arguments=2,
    parse=lambda texts, at: [readers.parse_number([text], at) for text in texts],
    write=lambda value: [name_of(canonical(bound)) for bound in value])
COLUMNS = OptionType(read=readers.read_names, schema=_NAMES, parse=readers.parse_names, write=readers.write_names, metavar="COL,...", repeatable=True)
NAMES = replace(COLUMNS, metavar="NAME,...")
ACCEPTED = replace(COLUMNS, read=_read_accepted, metavar="CODE[:COLUMN]")
VALUES = replace(COLUMNS, read=_read_any_values, schema=one_or_many(_SCALAR), metavar="VALUE,...")
GROUPS = replace(VALUES, read=lambda *given: tuple(map(name_of, _read_any_values(*given))), metavar="NAME,...")
THRESHOLD = replace(COLUMNS, read=_read_threshold, plain=lambda value: plain_meaning(value) or None, schema=one_or_many(_NUMBER, {"enum": list(enums.Threshold)}), parse=readers.parse_numbers, metavar="T,...")
METRICS = replace(
    NAMES, read=_read_metrics, schema=one_or_many({"$ref": "#/$defs/Name"}),
    plain=lambda metrics: [each if isinstance(each, str) else each.name for each in metrics])
POSITIVE = replace(
    VALUES, read=_read_positive, parse=readers.parse_positive, write=readers.write_positive,
    schema=one_or_many(_SCALAR, _table({"above": _NUMBER, "closed": {"enum": list(enums.Closed)}}, "above"), _schema_by_column(one_or_many(_SCALAR), minProperties=1, propertyNames={"not": {"enum": ["above"]}})),
    plain=lambda value: plain_meaning(value) or None)  # no values: they are not asked for
FEATURES = OptionType(
    read=features.read_features, parse=readers.parse_sensitive, write=readers.write_sensitive, metavar="COL...", repeatable=True,
    schema=one_or_many({"anyOf": [_TEXT, _FEATURE_TABLE, _PROBABILITIES_TABLE, _VALUES_BY_COLUMN]}))
LISTED_FEATURES = replace(FEATURES, parse=readers.parse_listed_features, metavar="A,B,C")
STRATA = replace(
    FEATURES, read=features.read_strata, schema=one_or_many({"anyOf": [_TEXT, _FEATURE_TABLE]}), plain=_plain_strata,
    write=lambda columns: readers.write_sensitive(readers.items(columns or [])))
PROBABILITIES = OptionType(
    read=features.read_probabilities, schema=one_or_many(_PROBABILITIES_TABLE), parse=features.parse_probabilities, write=features.write_probabilities, metavar="SPEC", repeatable=True)
INTERSECTIONS = OptionType(
    read=_read_intersections, schema=one_or_many(_NAMES), metavar="A*B", repeatable=True,
    parse=lambda texts, *_: [[readers.unescape(part) for part in readers.split(text, "*")] for text in texts],
    write=lambda columns: ["*".join(map(readers.escape, each)) for each in columns])
REFERENCE = OptionType(
    read=_read_reference, schema={"anyOf": [{"enum": list(enums.ReferenceRule)}, _schema_by_column(one_or_many(_SCALAR))]},
    plain=lambda value: {name: plain_meaning(group) if isinstance(group, tuple) else group for name, group in value} if isinstance(value, tuple) else str(value), parse=readers.parse_reference, metavar="R", repeatable=True,
    write=lambda value: [f"{readers.escape(name)}={readers.escape(name_of_values(group))}" for name, group in value.items()] if isinstance(value, Mapping) else [str(value)])
MARGINS = OptionType(
    read=read_margins, schema=_schema_by_column({"type": "number", "minimum": 0}), plain=dict, parse=readers.parse_margins,
    write=lambda margins: [f"{name}={margin!r}" for name, margin in margins.items()], metavar="RATE=MARGIN", repeatable=True)
RULES = OptionType(
    read=read_rules, schema=one_or_many({"anyOf": [_TEXT, _RULE_TABLE]}), parse=lambda texts, _at: [*texts], write=write_rules, metavar="RULE", repeatable=True)
RECODE = replace(
    RULES, read=read_recodings, write=write_recodings, metavar="FILE",
    plain=lambda recodings: {of.column: {name: list(held) for name, held in of.categories} for of in recodings},
    schema=one_or_many(_TEXT, _schema_by_column(_schema_by_column(one_or_many(_SCALAR)))))
CONDITIONS = replace(
    RULES, read=read_conditions, plain=plain_conditions, write=write_conditions, metavar="CONDITION",
    schema=one_or_many(_TEXT, _schema_by_column({"anyOf": [one_or_many({"anyOf": [_SCALAR, _NULL, _INTERVAL]}), _table({NOT: one_or_many({"anyOf": [_SCALAR, _NULL]})}, NOT)]})))
_WORD_SCHEMAS = dict.fromkeys(WORD_KEYS, _TEXT) | {"groups": _schema_by_column({"anyOf": [_TEXT, _schema_by_column(_TEXT)]})}
CHECKS = OptionType(
    read=_read_checks, schema=_table({"words": {"anyOf": [_TEXT, _schema_by_column({"anyOf": [*_NAMES["anyOf"], _schema_by_column(_NAMES)]})]}}),  # type: ignore[misc]
    plain=lambda own: {"words": {meaning: [*words] for meaning, words in own}} if own else {}, parse=readers.parse_words, metavar="words=FILE", repeatable=True,
    write=lambda checks: [f"words.{meaning}={'|'.join(map(str, readers.items(words)))}" for meaning, words in (checks.get("words") or {}).items()])
WORDS = OptionType(
    read=_reader_of(Words, {**dict.fromkeys(WORD_KEYS, read_phrase), "groups": _groups}), schema=_table({key: {**_WORD_SCHEMAS[key], "description": f"{text}."} for key, text in WORD_KEYS.items()}),
    parse=readers.parse_words, write=readers.write_words, metavar="KEY=TEXT", repeatable=True)
DOCUMENT = replace(
    WORDS, read=_reader_of(Document, {**dict.fromkeys(DOCUMENT_KEYS, _text), **dict.fromkeys(("audit_date", "first_used"), _date)}), schema=_table({key: {**_TEXT, "description": f"{text}."} for key, text in DOCUMENT_KEYS.items()}))
# fmt: on


def number(
    low: float, high: float = math.inf, *, inside: bool = False, whole: bool = False,
    metavar: str = "N",
) -> OptionType:  # fmt: skip
    """Return the type of a number between two limits, which are allowed unless ``inside``."""
    least, most = ("exclusiveMinimum", "exclusiveMaximum") if inside else ("minimum", "maximum")
    schema: Schema = {"type": "integer" if whole else "number", least: low}
    schema |= {most: high} if high < math.inf else {}
    read = readers.read_number(low, high, inside=inside, whole=whole)
    return OptionType(read=read, schema=schema, parse=readers.parse_number, metavar=metavar)


def word(words: type[StrEnum], metavar: str) -> OptionType:
    """Return the type of a closed vocabulary."""
    schema: Schema = {"enum": list(words)}
    return OptionType(
        read=readers.read_word(words), schema=schema, metavar=metavar, words=tuple(words)
    )
