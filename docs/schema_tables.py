"""JSON Schemas as Markdown: a table of keys for each object, made while the site is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fairgauge.results.shown_result import result_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx.application import Sphinx

_PLACE = re.compile(r"^<!-- schema: (\w+) -->$", re.MULTILINE)
_MOST_WORDS = 8


def schema_of(name: str) -> Mapping[str, Any]:
    """Return the schema of a kind of result by its name."""
    (kind,) = {each for each in result_classes().values() if each.KIND.name == name}
    return kind.json_schema()


def tables(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of the keys of a file, then one for each object in it."""
    definitions = schema.get("$defs", {})
    yield _table(schema, definitions)
    for key, value in schema["properties"].items():
        part = _object(value, definitions)
        if part is not None:
            yield f"`{key}`:\n\n" + _table(part, definitions)


def _table(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    lines = ["| key | value |", "|---|---|"]
    for key, value in schema["properties"].items():
        lines.append(f"| `{key}` | {_type(_resolved(value, definitions))} |")
    return "\n".join(lines) + "\n"


def _resolved(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the description of a class where a value refers to it."""
    if "$ref" in value:
        resolved: Mapping[str, Any] = definitions[value["$ref"].rpartition("/")[2]]
        return resolved
    return value


def _object(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the object that a value is, or that its items are; None if it is none."""
    value = _resolved(value, definitions)
    if value.get("type") == "array" and "items" in value:
        return _object(value["items"], definitions)
    return value if "properties" in value else None


def _type(value: Mapping[str, Any]) -> str:
    """Return what a value may be, in words."""
    if "$ref" in value:
        return "object"
    if "const" in value:
        return f'`"{value["const"]}"`'
    if "enum" in value:
        words = value["enum"]
        shown = ", ".join(f"`{word}`" for word in words[:_MOST_WORDS])
        return f"one of {shown}{' …' if len(words) > _MOST_WORDS else ''}"
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(dict.fromkeys(_type(each) for each in value[several]))
    kind = value.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"array of {_type(value.get('items', {}))}"
    return str(kind)


def _insert(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the tables in the place of a comment that names a schema."""
    del app, docname
    source[0] = _PLACE.sub(lambda found: "\n".join(tables(schema_of(found[1]))), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True}
