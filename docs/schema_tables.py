"""JSON Schemas as Markdown: a table of keys for each object, made while the site is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fairgauge.results.schemas import (
    comparison_schema,
    cube_schema,
    monitor_schema,
    report_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sphinx.application import Sphinx

_SCHEMAS = {
    "report": report_schema,
    "comparison": comparison_schema,
    "monitor": monitor_schema,
    "cube": cube_schema,
}
_PLACE = re.compile(r"^<!-- schema: (\w+) -->$", re.MULTILINE)
_MOST_WORDS = 8


def tables(schema: Mapping[str, Any], name: str = "") -> Iterator[str]:
    """Yield a table of the keys of an object, then one for each object in it."""
    lines = ["| key | value |", "|---|---|"]
    inner: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in schema["properties"].items():
        lines.append(f"| `{key}` | {_type(value)} |")
        part = _object(value)
        if part is not None:
            inner.append((f"{name}.{key}" if name else key, part))
    heading = f"`{name}`:\n\n" if name else ""
    yield heading + "\n".join(lines) + "\n"
    if not name:
        for path, part in inner:
            yield from tables(part, path)


def _object(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the object that a value is, or that its items are; None if it is none."""
    if value.get("type") == "array":
        return _object(value["items"])
    return value if "properties" in value else None


def _type(value: Mapping[str, Any]) -> str:
    """Return what a value may be, in words."""
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
    source[0] = _PLACE.sub(lambda found: "\n".join(tables(_SCHEMAS[found[1]]())), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True}
