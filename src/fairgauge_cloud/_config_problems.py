"""What pydantic finds wrong, as fairgauge reports it: path, what is allowed, nearest name."""

from __future__ import annotations

import re

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fairgauge.errors import Problem, alternatives, listing, quote, suggest

_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "int_from_float": "a whole number",
}


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return every mistake once, also where a value could have been one of several types."""
    found: dict[str, list[ErrorDetails]] = {}
    for each in error.errors(include_url=False):
        found.setdefault(_key_path(each["loc"]), []).append(each)
    return [Problem(path, _message(each, model)) for path, each in found.items()]


# the tag of a part of a union, which is no part of a path
_TAG = re.compile(
    r"(strict-)?(str|int|float|bool)|list\[.*|dict\[.*|function-.*|constrained-.*|literal\[.*"
)


def _key_path(where: tuple[int | str, ...]) -> str:
    parts = (
        f"[{p}]" if isinstance(p, int) else "" if _TAG.fullmatch(p) else f".{p}" for p in where
    )
    return "".join(parts).removeprefix(".")


def _message(found: list[ErrorDetails], model: type[BaseModel]) -> str:
    first = found[0]
    if first["type"] == "missing":
        return "is required"
    if first["type"] == "extra_forbidden":
        schema = model.model_json_schema()
        parts = (schema, *schema.get("$defs", {}).values())
        names = dict.fromkeys(name for part in parts for name in part.get("properties", ()))
        return f"unknown key.{suggest(first['loc'][-1], [*names])}"
    given = first["input"]
    if first["type"] == "literal_error":
        allowed = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return (
            f"{quote(given)} is not allowed.{suggest(given, allowed)} Allowed: {listing(allowed)}"
        )
    kinds = dict.fromkeys(_KINDS.get(each["type"], each["msg"]) for each in found)
    return f"must be {alternatives(kinds)}, not {quote(given)}"
