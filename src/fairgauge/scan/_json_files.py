"""JSON files: one object a line, or a list of objects; typed when all rows are known."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

from fairgauge.errors import NOT_UTF_8, DataError, quote
from fairgauge.object_stores import Place, open_unzipped
from fairgauge.scan._duckdb_files import DuckFiles, listed
from fairgauge.scan._duckdb_relation import not_a_number, text_as_number
from fairgauge.scan._sql import Columns, literal
from fairgauge.scan.source import Source, check_unique_names

_SNIFFED = 1 << 20
_LARGEST_OBJECT = 1 << 24
_MOST_KEYS = 1_000

Keys = tuple[str, ...]


def open_json(paths: list[Place], name: str) -> Source:
    """Open JSON files; the columns are the keys of the first objects of each.

    Raises
    ------
    DataError
        A file holds no objects, or an object with a key twice.
    """
    held = {path: _columns(path) for path in paths}
    pointers = {column: keys for found in held.values() for column, keys in found.items()}
    columns = tuple(pointers)
    parts = [
        f"SELECT json FROM read_json_objects({listed([path])}, format={literal(shape)})"
        for path in paths
        for shape in [_shape(path)]
    ]
    written = Columns(
        key=lambda column: f"json -> {_pointer(pointers[column])}",
        number=lambda column: text_as_number(f"(json ->> {_pointer(pointers[column])})"),
        wrong=lambda column: not_a_number(f"(json ->> {_pointer(pointers[column])})"),
        texts=frozenset(columns),
        decode=_decoded,
    )
    absent = {c: path for path, found in held.items() for c in columns if c not in found}
    relation = f"({' UNION ALL '.join(parts)})"
    return DuckFiles(name, columns, relation, written, absent=absent)


def _pointer(keys: Keys) -> str:
    """Write keys as a JSON pointer, in which no character is special but these two."""
    return literal("".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys))


def _shape(path: Place) -> str:
    if _head(path, 1 << 10).lstrip()[:1] == "[":
        return "array"
    return "unstructured" if ".json" in path.suffixes else "newline_delimited"


def _head(path: Place, length: int) -> str:
    try:
        with open_unzipped(path) as found, io.TextIOWrapper(found, "utf-8-sig") as text:
            return text.read(length)
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is {NOT_UTF_8}") from None


def _columns(path: Place) -> dict[str, Keys]:
    """Return the columns with their keys: ``doc.category`` is that of the object ``doc``."""
    found = list(_objects(_head(path, _SNIFFED))) or list(_objects(_head(path, _LARGEST_OBJECT)))
    columns: dict[str, Keys] = {}
    for pairs in found:
        if not isinstance(pairs, _Pairs):
            raise DataError(f"{quote(path)} must hold objects, each a row, not {quote(pairs)}")
        columns |= _within(pairs, path)
    if not columns:
        raise DataError(f"{quote(path)} holds no JSON objects with columns, or is truncated")
    return columns


def _within(pairs: _Pairs, path: Place) -> dict[str, Keys]:
    """Return the keys of an object, and those of objects in it unless it has one of their name."""
    check_unique_names([name for name, _ in pairs], quote(path), _MOST_KEYS)
    inside = {
        f"{name}.{column}": (name, *keys)
        for name, value in pairs
        if isinstance(value, _Pairs)
        for column, keys in _within(value, path).items()
    }
    return {name: (name,) for name, _ in pairs} | {
        column: keys for column, keys in inside.items() if column not in dict(pairs)
    }


class _Pairs(list[tuple[str, object]]):
    """The keys and values of an object, as they were written."""


def _objects(head: str) -> Iterator[object]:
    """Read whole values from the start of a file, in or out of a list."""
    decoder, at = json.JSONDecoder(object_pairs_hook=_Pairs), 0
    body = head.lstrip().removeprefix("[")
    while True:
        while at < len(body) and body[at] in " \t\r\n,":
            at += 1
        try:
            found, at = decoder.raw_decode(body, at)
        except ValueError:
            return
        except RecursionError:
            raise DataError("a row of JSON is nested too deeply; give texts and numbers") from None
        yield found


def _decoded(text: str | None) -> object:
    """Return texts and numbers as their text, true and false as they are."""
    if text is None or text == "null":
        return None
    if text[:1] in ('"', "[", "{"):
        return json.loads(text)
    return {"true": True, "false": False}.get(text, text)
