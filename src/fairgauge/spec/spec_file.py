"""Specification files: TOML, YAML or JSON with the keys of `fairgauge.audit`; their JSON Schema.

`Document` is the one place where the shape of a file is written down: it checks files, and the
schema is made from it. What the values mean is decided by `fairgauge.spec.ask`, as for arguments.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    WithJsonSchema,
)

from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.lookup import SETS
from fairgauge.enums import Method, Missing, Profile, Reference, Task  # noqa: TC001 - pydantic
from fairgauge.errors import Problem, SpecError, nearest, quote
from fairgauge.spec.file_formats import parse
from fairgauge.spec.specification import Spec, ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_core import ErrorDetails

_LONGEST_SHOWN = 60
_METRICS = [metric.name for metric in METRICS]
_NAMES = {"Name": [*SETS, *_METRICS, *(rate.name for rate in RATES)], "Metric": _METRICS}
_REFERENCE = "x-defined-as"  # replaced by a $ref to what `_NAMES` lists, in `schema`

_PAIR: dict[str, Any] = {"minItems": 2, "maxItems": 2}
Lax = Field(strict=False)  # a word may be written as text
Scalar = str | bool | int | float
Column = Annotated[str, Field(description="The name of a column.")]
Name = Annotated[str, WithJsonSchema({_REFERENCE: "Name"})]
MetricName = Annotated[str, WithJsonSchema({_REFERENCE: "Metric"})]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CutAbove(_Table):
    """Values above a number are positive."""

    above: float


class SensitiveColumn(_Table):
    """A column that defines groups: by its values, by one value set, or cut at points."""

    column: Column
    values: Scalar | list[Scalar] | list[list[Scalar]] | None = Field(
        None, description="One group of these values; a list of lists makes several."
    )
    cuts: float | list[float] | None = Field(
        None, description="Cut points of a numeric column: [40] makes (-inf, 40] and (40, inf)."
    )


def _written_as(item: Any) -> str | None:
    """Tell ``{column = "race", values = [...]}`` from ``{race = [...]}``."""
    if not isinstance(item, dict):
        return None
    return "table" if set(SensitiveColumn.model_fields) & set(item) else "pairs"


_NO_TABLE = {"propertyNames": {"not": {"enum": list(SensitiveColumn.model_fields)}}}
Values = Scalar | list[Scalar] | list[list[Scalar]]
SensitiveItem = Annotated[
    Annotated[SensitiveColumn, Tag("table")]
    | Annotated[dict[str, Values], Tag("pairs"), Field(json_schema_extra=_NO_TABLE)],
    Discriminator(_written_as),
]


class Limit(_Table):
    """A limit that a metric is held to."""

    metric: MetricName
    at_least: float | None = None
    at_most: float | None = None
    between: list[float] | None = Field(
        None, description="Both limits: [low, high].", json_schema_extra=_PAIR
    )
    features: str | list[str] | None = Field(None, description="Only these features.")
    groups: str | list[str] | None = Field(None, description="Only these groups.")
    decide: Literal["interval", "point"] | None = Field(
        None, description="Whether the whole interval decides (the default) or the value alone."
    )


class Document(_Table):
    """A specification of a fairgauge audit; every key is optional here or on the command line."""

    label: Column | None = Field(None, description="Column of the observed outcome.")
    prediction: Column | None = Field(None, description="Column of the model's decision.")
    score: Column | None = Field(None, description="Column of the number behind the decision.")
    score_of: Scalar | None = Field(
        None, description="The label value that the score is the probability of."
    )
    score_range: list[float] | None = Field(
        None, description="The range of the score, if not [0, 1].", json_schema_extra=_PAIR
    )
    threshold: float | list[float] | None = Field(
        None, description="Scores from here up are positive; several are audited each."
    )
    positive: Scalar | list[Scalar] | CutAbove | None = Field(
        None, description="The favourable label values, or {above = NUMBER}."
    )
    sensitive: str | list[str | SensitiveItem] | SensitiveItem | None = Field(
        None, description="The columns whose values define groups."
    )
    intersections: str | list[str | list[str]] | None = Field(
        None, description='Columns whose combined values define groups: "race*sex".'
    )
    strata: Column | None = Field(None, description="Column that is held fixed.")
    count: Column | None = Field(None, description="Column of the cases that a row stands for.")
    weight: Column | None = Field(None, description="Column of sampling weights.")
    cluster: Column | None = Field(None, description="Column of what ties rows together.")
    reference: Annotated[Reference, Lax] | dict[str, Scalar] | None = Field(
        None, description="What a group is compared with: a word, or a value of a column."
    )
    metrics: Name | list[Name] | None = Field(
        None, description="Sets, metrics, rates, or import paths of own metrics (module:name)."
    )
    features: str | list[str] | None = Field(
        None, description="Columns for the metrics that compare rows."
    )
    task: Annotated[Task, Lax] | None = None
    confidence: float | None = Field(
        None,
        description="Level of the intervals.",
        json_schema_extra={"exclusiveMinimum": 0, "exclusiveMaximum": 1},
    )
    method: Annotated[Method, Lax] | None = Field(None, description="How intervals are made.")
    seed: int | None = Field(
        None, description="Of methods that draw random numbers.", json_schema_extra={"minimum": 0}
    )
    replicates: int | None = Field(
        None, description="Of methods that resample.", json_schema_extra={"minimum": 1}
    )
    profile: Annotated[Profile, Lax] | None = None
    missing: Annotated[Missing, Lax] | None = Field(
        None, description="What happens to rows without a group."
    )
    population: dict[str, dict[str, float]] | None = Field(
        None, description="Shares (or counts) of a population: {race = {Black = 0.13, ...}}."
    )
    rules: list[Limit] | None = Field(None, description="Limits that metrics are held to.")
    max_groups: int | None = Field(
        None,
        description="The most values that a column may have.",
        json_schema_extra={"minimum": 1},
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a specification file.

    Examples
    --------
    >>> schema()["properties"]["label"]["description"]
    'Column of the observed outcome.'
    """
    text = json.dumps(Document.model_json_schema())
    found = json.loads(re.sub(rf'"{_REFERENCE}": "(\w+)"', r'"$ref": "#/$defs/\1"', text))
    for name, listed in _NAMES.items():
        found["$defs"][name] = {
            "description": "A catalogue name (listed), or a synonym; see: fairgauge metrics.",
            "anyOf": [{"enum": listed}, {"type": "string"}],
        }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def load_spec(path: str | Path, columns: Sequence[str] | None = None) -> Spec:
    """Read a specification file.

    Parameters
    ----------
    path : str or Path
        A .toml, .yaml, .yml or .json file.
    columns : list of str, optional
        The columns that the data have.

    Raises
    ------
    SpecError
        The file cannot be read, or something in it is wrong; every mistake is listed.
    """
    options, problems = read_options(path)
    return check(options, problems, columns)


def read_options(path: str | Path) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Read a specification file into the options of `fairgauge.audit`, and what is misshapen.

    Raises
    ------
    SpecError
        The file cannot be read at all.
    """
    document = parse(Path(path))
    document = {} if document is None else document  # an empty YAML file
    if not isinstance(document, dict):
        message = f"must be a table of keys such as label and sensitive, not {_shown(document)}"
        raise SpecError(Problem(str(path), message))
    return {k: v for k, v in document.items() if k in Document.model_fields}, _misshapen(document)


def check(
    options: Mapping[str, Any],
    problems: Sequence[Problem] = (),
    columns: Sequence[str] | None = None,
    base: Spec | None = None,
) -> Spec:
    """Make the specification of options, or raise every mistake: ``problems`` and all others.

    Raises
    ------
    SpecError
        There are mistakes.
    """
    try:
        spec = ask(columns, base, **options)
    except SpecError as error:
        more = [p for p in error.problems if not any(_same_place(p, q) for q in problems)]
        raise SpecError([*problems, *more]) from None
    if problems:
        raise SpecError(problems)
    return spec


def _same_place(one: Problem, other: Problem) -> bool:
    """Tell whether two mistakes are about the same thing, or one about a part of the other."""
    short, long = sorted((one.path, other.path), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


_SHAPES = {
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "bool_type": "true or false",
}
_ONE_VALUE = {"string_type", "float_type", "int_type", "bool_type"}
_PARTS: dict[str, type[_Table]] = {
    "positive": CutAbove,
    "rules": Limit,
    "sensitive": SensitiveColumn,
}


def _misshapen(document: dict[str, Any]) -> tuple[Problem, ...]:
    """Return what has the wrong shape, one problem for each place."""
    try:
        Document.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False)
    else:
        return ()
    places: dict[str, list[ErrorDetails]] = {}
    for each in found:
        places.setdefault(_path(document, each), []).append(each)
    # a union complains of every branch: what lies deepest is what was meant
    deepest = [p for p in places if not any(q.startswith((f"{p}.", f"{p}[")) for q in places)]
    return tuple(
        Problem(path, _explain(places[path])) for path in deepest if not _is_word(places[path])
    )


def _is_word(errors: Sequence[ErrorDetails]) -> bool:
    """Tell whether a closed word was asked for: `ask` knows those, and the nearest."""
    return any(each["type"] in ("enum", "literal_error") for each in errors)


def _path(document: Any, error: ErrorDetails) -> str:
    """Return the path to a mistake; the names of union branches are no part of it."""
    path, here = "", document
    for i, part in enumerate(error["loc"]):
        absent = error["type"] == "missing" and i == len(error["loc"]) - 1
        if isinstance(part, int) and isinstance(here, list):
            path, here = f"{path}[{part}]", here[part]
        elif absent or (isinstance(here, dict) and part in here):
            path, here = f"{path}.{part}".removeprefix("."), None if absent else here[part]
    return path


def _explain(errors: Sequence[ErrorDetails]) -> str:
    first = errors[0]
    types = dict.fromkeys(each["type"] for each in errors)
    if "extra_forbidden" in types:
        table = _PARTS.get(str(first["loc"][0]), Document) if len(first["loc"]) > 1 else Document
        allowed = list(table.model_fields)
        return f"unknown key.{nearest(first['loc'][-1], allowed)} Allowed: {', '.join(allowed)}"
    if "missing" in types:
        return "is missing"
    shapes = ["one value"] if set(types) >= _ONE_VALUE else []
    shapes += [
        shape
        for kind, shape in _SHAPES.items()
        if kind in types and not (shapes and kind in _ONE_VALUE)
    ]
    return f"must be {' or '.join(shapes) or 'something else'}, not {_shown(first['input'])}"


def _shown(value: Any) -> str:
    """Show a value so that text can be told from a number: 'abc', 5, [1, 2]."""
    if isinstance(value, str):
        return quote(value)
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
