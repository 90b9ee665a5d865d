"""Definitions: results hold the rows of the metrics that they are of, and not their names alone.

What a number is in words follows from its metric's row: its title, its unit, its sign, what it
compares. A result that holds the row can be described by itself, wherever it is. The row is neither
saved nor compared: a saved result holds the name, and describes what is not of the catalogue.

A result is described by itself: `print(report)`, ``estimate.says``. Its words and formats are made
in `render`, which shows results and so imports them; results name its functions as text, so that
imports run one way.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.lookup import BUILT_IN, Catalogue
from fairgauge.catalogue.statistics import Statistic
from fairgauge.start.records import Field, dataclass, field, fields, is_dataclass, replace

Result = TypeVar("Result")
Row = TypeVar("Row", bound="Metric | Statistic | None", covariant=True)


NOT_SAVED = {"saved": False}
"""The metadata of a field that plain values do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HasDefinition(Generic[Row]):
    """What is of one metric or rate, whose row is found where the name alone is given.

    A name that the catalogue does not have stands for an `UnknownMetric`; of a result that is read,
    `defined_by` finds a user's own.
    """

    definition: Row = field(default=cast("Row", None), compare=False, repr=False,
                            metadata=NOT_SAVED)  # fmt: skip

    def __post_init__(self) -> None:
        if self.definition is None and (name := _name_of(self)) is not None:
            object.__setattr__(self, "definition", BUILT_IN.row(name))


def _name_of(result: Any) -> str | None:
    return result.metric if hasattr(result, "metric") else getattr(result, "rate", None)


def saved_fields(result: Any) -> list[Field[Any]]:
    """Return the fields of a dataclass that its plain values have."""
    return [each for each in fields(result) if each.metadata.get("saved", True)]


def defined_by(catalogue: Catalogue, result: Result) -> Result:
    """Return a result that was read, with the rows that a catalogue has for the names inside."""
    return result if catalogue == BUILT_IN else _definition(catalogue, result)


def _definition(catalogue: Catalogue, value: Any) -> Any:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_definition(catalogue, item) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {
        each.name: made
        for each in fields(value)
        if each.init
        and (made := _definition(catalogue, old := getattr(value, each.name))) is not old
    }
    if any(each.name == "definition" for each in fields(value)):
        name = _name_of(value)
        changed["definition"] = name and catalogue.row(name)
    return replace(value, **changed) if changed else value


@cache
def function_at(path: str) -> Any:
    """Return the function of a path ``package.module:function``.

    >>> function_at("fairgauge.render.words.numbers:plural")(1, "row", "rows")
    'row'
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def in_words(path: str, *described: object) -> str:
    """Return what a function of `fairgauge.render` writes, ``module:function``."""
    text: str = function_at(f"fairgauge.render.{path}")(*described)
    return text
