"""The codec of results: their JSON, its readers and its JSON Schema, from the frozen dataclasses.

A field of a result is stated once, in its class: its name is the key, its type states how it is
written, read and described. What a type does not state stands beside it in `Annotated`: another
`Key`, all keys of a mapping, a record that is written `Inline`, a number that is a `Share`. A class
that is written under other keys than its fields is registered by `save_inline`; values that follow
from the fields are listed in ``DERIVED``. A `Sparse` record states what differs from its default.
"""

# Why no library (November 2026; msgspec 0.22, cattrs 26.2, pydantic 2): our JSON is flat. Scopes,
# references and intervals stand among the keys of what they are of, absent ones as nulls, and none
# of the three flattens an optional record: each class with one would need hooks for writing,
# reading and its schema. msgspec writes infinities as null; cattrs has no schemas; the import of
# pydantic costs 53 ms of CPU time (msgspec 11, cattrs 24), where this module adds none.

from __future__ import annotations

import contextlib
import datetime as dt
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, cast, get_args

from fairgauge.errors import display, quote
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import MISSING, Field, dataclass, fields, is_dataclass
from fairgauge.values import Json, Saved

Plain = dict[str, Any]
"""An object of the JSON format, as it is written."""
Schema = dict[str, Any]
Result = TypeVar("Result")

_WORDS_OF_INFINITY = {math.inf: "Infinity", -math.inf: "-Infinity"}
INFINITIES = {word: number for number, word in _WORDS_OF_INFINITY.items()}
NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": [*INFINITIES]}]}


class Sparse:
    """A record of which what differs from its default is written alone."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a field, where it is not the field's name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Restored:
    """A field that is not written itself, but made by ``read`` from a derived value that is."""

    key: str
    type: Any
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A value that is written in another form than its type's."""

    write: Callable[[Any], Json]
    read: Callable[[Any], Any]
    schema: Schema


NOT_SAVED = {"saved": False}
"""The metadata of a field that plain values do not have."""


def saved_fields(result: Any) -> list[Field[Any]]:
    """Return the fields of a dataclass that its plain values have."""
    return [each for each in fields(result) if each.metadata.get("saved", True)]


_Value = TypeVar("_Value")
Inline = Annotated[_Value, "inline"]
"""A record whose keys stand beside those of its owner; all are null where there is none."""
Finite = Annotated[float, "finite"]
"""A number that is never infinite."""
Share = Annotated[float, "share"]
"""A number from 0 to 1."""
Positive = Annotated[float, "positive"]
_LARGEST = sys.float_info.max
_LIMITS: dict[object, tuple[float, float, Schema]] = {
    "finite": (-_LARGEST, _LARGEST, {}),
    "positive": (math.ulp(0), _LARGEST, {"exclusiveMinimum": 0}),
    "share": (0, 1, {"minimum": 0, "maximum": 1}),
}


def to_dict(value: object) -> Plain:
    """Return the plain values of a frozen dataclass: infinities are words, tuples lists.

    >>> from fairgauge.results.scopes import Bounds
    >>> to_dict(Bounds(0.5, math.inf))
    {'low': 0.5, 'high': 'Infinity'}
    """
    return cast(Plain, _record(cast(Any, type(value))).written(value))


def from_dict(kind: type[Result], values: Saved) -> Result:
    """Read what `to_dict` wrote of a dataclass; keys that it does not have follow from others.

    >>> from fairgauge.results.scopes import Bounds
    >>> from_dict(Bounds, {"low": 0.5, "high": "Infinity"})
    Bounds(low=0.5, high=inf)
    """
    return cast(Result, _record(cast(Any, kind)).taken(values))


def json_schema(kind: type, title: str, first: Schema | None = None) -> Schema:
    """Return the JSON Schema of what `to_dict` writes; ``first`` are keys that stand before it.

    Every class inside is described once, under ``$defs``.
    """
    definitions: Schema = {}
    described = described_object((first or {}) | _record(kind).schema(definitions))
    definitions.pop(kind.__name__, None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **described,
        "$defs": definitions,
    }


def to_plain(value: object) -> Json:
    """Return a value of strict JSON: infinities are words, tuples lists, enums their words."""
    if isinstance(value, float) and not math.isfinite(value):
        return _WORDS_OF_INFINITY.get(value)
    if isinstance(value, StrEnum):
        return str(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(to_plain, value), key=str)
    if hasattr(value, "title"):  # a metric or a rate, which its name stands for
        return str(getattr(value, "name", None))
    if is_dataclass(value):
        return cast(Json, _codec(cast(Any, type(value))).written(value))
    raise TypeError(f"{type(value).__name__} has no plain value")


class _Codec(NamedTuple):
    # how the values of one type are written, read (as they are, where there is None) and described,
    # with the definitions to which the classes inside are added; of a record its keys are described

    write: Callable[[Any], Any] | None
    read: Callable[[Any], Any] | None
    schema: Callable[[Schema], Schema]
    none: Any = None  # what stands for it where the record that it belongs to is absent

    def written(self, value: object) -> Any:
        return value if self.write is None else self.write(value)

    def taken(self, value: object) -> Any:
        return value if self.read is None else self.read(value)


class _Part(NamedTuple):
    name: str  # the parameter that is read; empty of derived values, which are not read
    attribute: str  # empty of what is not written
    key: str  # empty of a record, whose keys stand among those of its owner
    codec: _Codec

    def keyed(self, value: Any) -> Plain:
        return {self.key: value} if self.key else value


_INLINE: dict[type, _Codec] = {}


def save_inline(
    kind: type,
    keys: Mapping[str, object],
    write: Callable[[Any], Plain],
    read: Callable[[Saved], object],
) -> None:
    """Have the values of a class written `Inline` under keys that are not its fields.

    ``keys``: the type of the value of every key; the first one is null where there is no value.
    ``write, read``: return the plain values of these keys, and a value of the class from them.
    """
    codecs = {key: _codec(hint) for key, hint in keys.items()}
    _INLINE[kind] = _Codec(
        write, lambda values: read({key: of.taken(values[key]) for key, of in codecs.items()}),
        lambda definitions: {key: of.schema(definitions) for key, of in codecs.items()},
        dict.fromkeys(keys))  # fmt: skip


@cache
def _record(kind: type) -> _Codec:
    if kind in _INLINE:
        return _INLINE[kind]
    hints = typing.get_type_hints(kind, include_extras=True)
    parts = [_part(each.name, hints[each.name]) for each in saved_fields(kind)]
    for name in getattr(kind, "DERIVED", ()):
        hint = typing.get_type_hints(getattr(kind, name).fget, include_extras=True)["return"]
        parts.append(_part(name, hint)._replace(name=""))
    written = [part for part in parts if part.attribute]
    nulls = {k: v for part in written for k, v in part.keyed(part.codec.none).items()}
    writers = [(p.attribute, p.key, p.codec.write, p.keyed(p.codec.none)) for p in written]
    readers = [(part.name, part.key, part.codec.read) for part in parts if part.name]

    def write(value: object) -> Plain:
        # a large report has hundreds of thousands of values: none of a finite number, a text or
        # null takes a call
        plain: Plain = {}
        for attribute, key, write_value, absent in writers:
            inner = getattr(value, attribute)
            if inner is None and not key:
                plain.update(absent)
            elif inner is None or write_value is None or (
                write_value is _write_number and math.isfinite(inner)
            ):  # fmt: skip
                plain[key] = inner
            elif not key:
                plain.update(write_value(inner))
            else:
                plain[key] = write_value(inner)
        return plain

    usual = {each.name: each.default for each in fields(kind)}

    def write_sparse(value: object) -> Plain:
        return {k: v for k, v in write(value).items() if v not in ([], {}) and v != usual.get(k)}

    def read(values: Saved) -> Any:
        arguments = {}
        for name, key, read_value in readers:
            saved = values[key] if key else values
            try:
                arguments[name] = saved if read_value is None else read_value(saved)
            except (TypeError, ValueError, AttributeError) as error:
                raise ValueError(f"{key}{': ' * bool(key)}{error}") from None
        return kind(**arguments)

    return _Codec(write_sparse if Sparse in kind.__mro__ else write, read, lambda definitions: {
        k: v for p in written for k, v in p.keyed(p.codec.schema(definitions)).items()
    }, nulls)  # fmt: skip


def _part(name: str, hint: object) -> _Part:
    bare, marks = _split_annotation(hint)
    if "inline" in marks:
        kind, is_optional = _split_optional(bare)
        return _Part(name, name, "", (_optional_record if is_optional else _record)(kind))
    restored = next((mark for mark in marks if isinstance(mark, Restored)), None)
    if restored is not None:
        made, saved = restored.read, _codec(restored.type)
        return _Part(name, "", restored.key, saved._replace(read=lambda v: made(saved.taken(v))))
    key = next((mark.name for mark in marks if isinstance(mark, Key)), name.removesuffix("_"))
    return _Part(name, name, key, _codec(hint))


def _optional_record(kind: type) -> _Codec:
    record = _record(kind)
    first = next(iter(record.none))
    return record._replace(
        read=lambda values: None if values[first] is None else record.taken(values),
        schema=lambda definitions: {
            key: of if record.none[key] == [] else nullable(of)
            for key, of in record.schema(definitions).items()},
    )  # fmt: skip


def _split_annotation(hint: object) -> tuple[Any, list[Any]]:
    bare, *marks = get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    return bare, marks


def _split_optional(hint: object) -> tuple[Any, bool]:
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    others = tuple(each for each in get_args(hint) if each is not type(None))
    return Union[others], len(others) < len(get_args(hint))  # noqa: UP007 - made of a tuple


@cache
def _codec(hint: object) -> _Codec:
    bare, marks = _split_annotation(hint)
    form = next((mark for mark in marks if isinstance(mark, Form)), None)
    if form is not None:
        return _Codec(form.write, form.read, lambda _: form.schema)
    if limits := next((_LIMITS[mark] for mark in marks if mark in _LIMITS), None):
        low, high, stated = limits
        return _Codec(_write_number, _reader(low, high), lambda _: {"type": "number"} | stated)
    kind, is_optional = _split_optional(bare)
    if is_optional:
        write, read, schema, _ = _codec(kind)
        return _Codec(
            write if write is _write_number
            else write and (lambda v: None if v is None else write(v)),
            read and (lambda v: None if v is None else read(v)),
            lambda definitions: nullable(schema(definitions)),
        )  # fmt: skip
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        # their first field is the word of each dataclass
        kinds = get_args(kind)
        key = fields(kinds[0])[0].name
        kind_of = {get_args(typing.get_type_hints(each)[key])[0]: each for each in kinds}
        return _Codec(
            to_dict, lambda values: from_dict(kind_of[values[key]], values),
            lambda definitions: {"oneOf": [_object(e).schema(definitions) for e in kinds]},
        )  # fmt: skip
    if origin is Literal:
        return _leaf(lambda value: value in get_args(kind), {"enum": list(get_args(kind))})
    if origin is tuple:
        return _array(get_args(kind))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        keys = next((mark for mark in marks if isinstance(mark, tuple)), ())
        key, item = get_args(kind)
        return _mapping(key, item, keys)
    if kind in _PLAIN_TYPES:
        return _PLAIN_TYPES[kind]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        words: dict[object, object] = {str(word): word for word in kind}
        # a call of the enum takes five times as long, and is here for its message
        return _Codec(str, lambda v: words.get(v) or kind(v), lambda _: {"enum": list(words)})
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind)
    raise TypeError(f"the codec has no form for the type {kind}; state one with Form")


def nullable(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def _array(items: tuple[object, ...]) -> _Codec:
    # the codec of a tuple: of any length, or with a type for each place
    codecs = [_codec(each) for each in items if each is not Ellipsis]
    if items[-1] is Ellipsis:
        write, read, schema, _ = codecs[0]
        return _Codec(
            list if write is None else lambda values: [write(v) for v in values] if values else [],
            tuple if read is None else lambda values: tuple([read(v) for v in values]),
            lambda definitions: {"type": "array", "items": schema(definitions)}, none=[],
        )  # fmt: skip
    size = len(codecs)
    return _Codec(
        write=lambda values: [c.written(v) for c, v in zip(codecs, values, strict=True)],
        read=lambda values: tuple(c.taken(v) for c, v in zip(codecs, values, strict=True)),
        schema=lambda definitions: {
            "type": "array", "prefixItems": [codec.schema(definitions) for codec in codecs],
            "minItems": size, "maxItems": size,
        },
    )  # fmt: skip


def _mapping(key: object, item: object, keys: tuple[str, ...]) -> _Codec:
    # a mapping whose keys are stated, or are words, always has all of them
    of_key, (write, read, schema, _) = _codec(key), _codec(item)
    names = keys or (tuple(map(str, key)) if isinstance(key, type(StrEnum)) else ())

    return _Codec(
        lambda values: {str(k): v if write is None else write(v) for k, v in values.items()},
        lambda values: {of_key.taken(k): v if read is None else read(v) for k, v in values.items()},
        lambda definitions: (
            described_object(dict.fromkeys(names, schema(definitions)))
            if names
            else {"type": "object", "additionalProperties": schema(definitions)}
        ),
    )


_being_made: set[type] = set()


def _object(kind: type) -> _Codec:
    def schema(definitions: Schema) -> Schema:
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}  # before its fields, one of which may be of this class
            definitions[name] = described = described_object(_record(kind).schema(definitions))
            if Sparse in kind.__mro__:
                needed = (f for f in fields(kind) if f.default is f.default_factory is MISSING)
                described["required"] = [each.name for each in needed]
        return {"$ref": f"#/$defs/{name}"}

    if kind in _being_made:
        # a field of the class that is being read: its record is looked up when it is needed
        return _Codec(to_dict, lambda values: from_dict(kind, values), schema)
    _being_made.add(kind)
    record = _record(kind)
    _being_made.remove(kind)
    return _Codec(record.write, record.read, schema)


def described_object(properties: Schema) -> Schema:
    """Return the schema of an object that has all of some keys, and no others."""
    return {"type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False}  # fmt: skip


def _write_number(value: float | None) -> float | str | None:
    # not a number is an undefined value, which is null
    is_plain = value is None or math.isfinite(value)
    return value if is_plain else _WORDS_OF_INFINITY.get(cast(float, value))


def _reader(low: float, high: float, *kinds: type) -> Callable[[object], Any]:
    def read(value: Any) -> Any:
        if type(value) in (kinds or (int, float)) and low <= value <= high:
            return value
        what = f"whole number up to {high}" if kinds else f"number from {low:g} to {high:g}"
        raise ValueError(f"{display(value)} is no {what}")

    return read


def _leaf(fits: Callable[[object], bool], schema: Schema) -> _Codec:
    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"{display(value)} is no {schema.get('type', 'known word')}")
        return value

    return _Codec(None, read, lambda _: schema)


def _read_number(value: Any) -> Any:
    # the word of an infinity among others
    return INFINITIES[value] if value in [*INFINITIES] else _read_finite(value)


_read_finite = _reader(-_LARGEST, _LARGEST)


_PLAIN_TYPES: dict[Any, _Codec] = {
    str: _leaf(lambda value: type(value) is str, {"type": "string"}),
    bool: _leaf(lambda value: type(value) is bool, {"type": "boolean"}),
    int: _Codec(None, _reader(0, 2**63 - 1, int), lambda _: {"type": "integer", "minimum": 0}),
    float: _Codec(_write_number, _read_number, lambda _: NUMBER),
    **dict.fromkeys((object, Any), _Codec(to_plain, None, lambda _: {}))}  # fmt: skip


_NAMES = frozenset({"name", "nearest", "group", "reference", "references", "column", "columns",
                    "label", "chosen", "other", "others", "values", "categories", "taken", "rule",
                    "metric", "printed", "selected", "not_selected", "n"})  # fmt: skip
"""The parameters that hold texts of users, in which "Infinity" is a name and not a number."""


def _read_parameters(values: Saved) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((name, _read_parameter(name, value)) for name, value in values.items()))


def _read_parameter(name: str, value: object) -> Any:
    if isinstance(value, list):
        return tuple(_read_parameter(name, item) for item in value)
    if isinstance(value, dict):
        return _read_reason(value)
    is_number = type(value) in (int, float) or (value in [*INFINITIES] and name not in _NAMES)
    return _read_number(value) if is_number else value


def _read_reason(values: Saved) -> Reason:
    of = _read_parameters(values["parameters"])
    return Reason(ReasonCode(values["code"]), values["side"], of)


def _reason_schema(definitions: Schema) -> Schema:
    definitions["Reason"] = described_object({"code": {"enum": [str(code) for code in ReasonCode]},
            "side": nullable({"enum": ["group", "reference"]}), "parameters": {"type": "object"}}
    )  # fmt: skip
    return {"$ref": "#/$defs/Reason"}


_PLAIN_TYPES[Reason] = _Codec(
    lambda reason: {"code": str(reason.code), "side": reason.side,
                    "parameters": to_plain(dict(reason.parameters))},
    _read_reason, _reason_schema,
)  # fmt: skip


def read_word(word: object) -> str:
    """Return a version, or a word of ours; raise a ValueError of any other text."""
    if not (isinstance(word, str) and re.fullmatch(r"[\w.+!-]{1,40}", word, re.ASCII)):
        raise ValueError(f"{quote(word)} is no version, or no word")
    return word


def read_moment(text: object) -> str:
    """Return when something was made, in ISO 8601; raise a ValueError of any other text."""
    with contextlib.suppress(ValueError):
        if isinstance(text, str) and text.isascii() and dt.datetime.fromisoformat(text):
            return text
    raise ValueError(f"{quote(text)} is no date and time")


Moment = Annotated[str, Form(lambda text: text, read_moment, {"type": "string"})]
"""When a result was made."""
Word = Annotated[str, Form(lambda text: text, read_word, {"type": "string"})]
Version = Annotated[str, Key("tool"), Form(
    lambda version: {"name": "fairgauge", "version": version},
    lambda tool: read_word(tool["version"]),
    described_object({"name": {"const": "fairgauge"}, "version": {"type": "string"}}),
)]  # fmt: skip
"""The version of fairgauge that made a result."""
Parameters = Annotated[
    tuple[tuple[str, Any], ...],
    Form(lambda given: to_plain(dict(given)), _read_parameters, {"type": "object"}),
]
"""Names and values that a code calls for, sorted by name."""
