"""Specification files: TOML, YAML or JSON with the keys of `fairgauge.audit`; their JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.errors import Problem, SpecError, shown
from fairgauge.question.file_formats import parse
from fairgauge.question.options import OPTIONS, Spec

if TYPE_CHECKING:
    from fairgauge.values import Json


def schema() -> dict[str, Json]:
    """Return the JSON Schema of a specification file.

    Examples
    --------
    >>> schema()["properties"]["label"]["description"]
    'Column of the observed outcome.'
    """
    from fairgauge.catalogue.catalogue import METRICS, RATES
    from fairgauge.catalogue.lookup import SETS

    rows = [*(metric.name for metric in METRICS), *(rate.name for rate in RATES)]
    names: dict[str, list[Json]] = {"Name": [*SETS, *rows], "Metric": [*rows]}
    usual = Spec().to_dict()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Specification of a fairgauge audit",
        "description": "Every key is optional here or on the command line.",
        "type": "object",
        "properties": {
            option.name: {
                "description": f"{option.description}.",
                "default": usual[option.name],
                "anyOf": [option.type.schema, {"type": "null"}],
            }
            for option in OPTIONS
        },
        "additionalProperties": False,
        "$defs": {
            key: {
                "description": "A catalogue name (listed) or a synonym; see: fairgauge metrics.",
                "anyOf": [{"enum": listed}, {"type": "string"}],
            }
            for key, listed in names.items()
        },
    }


def read_options(path: str | Path) -> dict[str, object]:
    """Read a specification file into options of `fairgauge.audit`, which `ask` checks.

    Raises
    ------
    SpecError
        The file cannot be read at all.
    """
    options = parse(Path(path))
    options = {} if options is None else options  # an empty YAML file
    if not isinstance(options, dict):
        message = f"must be a table of keys such as label and sensitive, not {shown(options)}"
        raise SpecError(Problem(str(path), message))
    return options
