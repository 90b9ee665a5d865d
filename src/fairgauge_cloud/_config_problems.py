"""What pydantic finds wrong, as fairgauge reports it: path, what is allowed, nearest name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fairgauge.errors import Problem, alternatives, listing, nearest, quote

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
        found.setdefault(_path(each["loc"]), []).append(each)
    return [Problem(path, _message(each, model)) for path, each in found.items()]


def _path(where: tuple[int | str, ...]) -> str:
    """Write ``facet[0].name_or_index``; the tags of a union are no part of it."""
    text = ""
    for part in where:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _is_tag(part):
            continue
        else:
            text += f".{part}" if text else part
    return text


def _is_tag(part: str) -> bool:
    tags = (
        r"(strict-)?(str|int|float|bool)|list\[.*|dict\[.*|function-.*|constrained-.*|literal\[.*"
    )
    return re.fullmatch(tags, part) is not None


def _message(found: list[ErrorDetails], model: type[BaseModel]) -> str:
    first = found[0]
    if first["type"] == "missing":
        return "is required"
    if first["type"] == "extra_forbidden":
        owner = _owner(model, first["loc"][:-1])
        name = first["loc"][-1]
        return f"unknown key.{nearest(name, owner)} Allowed: {', '.join(owner)}"
    given = first["input"]
    if first["type"] == "literal_error":
        allowed = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return (
            f"{quote(given)} is not allowed.{nearest(given, allowed)} Allowed: {listing(allowed)}"
        )
    kinds = dict.fromkeys(_KINDS.get(each["type"], each["msg"]) for each in found)
    return f"must be {alternatives(kinds)}, not {quote(given)}"


def _owner(model: type[BaseModel], where: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the part at a path may hold."""
    current: type[BaseModel] | None = model
    for part in where:
        if isinstance(part, str) and current is not None and part in current.model_fields:
            current = next(_models(current.model_fields[part].annotation), current)
    return [] if current is None else list(current.model_fields)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
