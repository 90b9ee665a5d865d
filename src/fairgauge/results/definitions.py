"""Definitions: results hold the rows of the metrics that they are of, and not their names alone.

What a number is in words follows from its metric's row: its title, its unit, its sign, what it
compares. A result that holds the row can be described by itself, wherever it is. The row is neither
saved nor compared: a saved result holds the name, and describes what is not of the catalogue.
"""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass, replace
from typing import Any, TypeVar

from fairgauge.catalogue.lookup import BUILT_IN, Catalogue

Result = TypeVar("Result")


BY_NAME: Any = None
"""The default of a field ``definition``: the row is found by the name; see `hold_definition`."""
NOT_SAVED = {"saved": False}
"""The metadata of a field that plain values do not have."""


def hold_definition(result: Any, name: str) -> None:
    """Set the definition of a result that is made with the name of its metric alone.

    A name that the catalogue does not have stands for an `UnknownMetric`, so that there always is a
    row; a result that is read finds a user's own with `defined_by`.
    """
    if result.definition is BY_NAME:
        object.__setattr__(result, "definition", BUILT_IN.row(name))


def saved_fields(result: Any) -> list[Field[Any]]:
    """Return the fields of a dataclass that its plain values have."""
    return [each for each in fields(result) if each.metadata.get("saved", True)]


def defined_by(catalogue: Catalogue, result: Result) -> Result:
    """Return a result that was read, with the rows that a catalogue has for the names inside."""
    return result if catalogue == BUILT_IN else _defined(catalogue, result)


def _defined(catalogue: Catalogue, value: Any) -> Any:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_defined(catalogue, item) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {
        each.name: made
        for each in fields(value)
        if each.init and (made := _defined(catalogue, old := getattr(value, each.name))) is not old
    }
    if any(each.name == "definition" for each in fields(value)):
        name = value.metric if hasattr(value, "metric") else getattr(value, "rate", None)
        changed["definition"] = name and catalogue.row(name)
    return replace(value, **changed) if changed else value
