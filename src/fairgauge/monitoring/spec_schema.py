"""The JSON Schema of specification files, with the table of a monitor."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from fairgauge.monitoring.monitor_spec import SETTINGS, MonitorSpec
from fairgauge.question import spec_file
from fairgauge.question.option_types import plain

if TYPE_CHECKING:
    from fairgauge.values import Json

_NUMBER: dict[str, Json] = {"type": "number"}
_NAMES: dict[str, Json] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}
_RULE: dict[str, Json] = {
    "type": "object",
    "properties": {
        "metric": {"$ref": "#/$defs/Metric"},
        "at_least": _NUMBER,
        "at_most": _NUMBER,
        "between": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
        "within": {"description": "Largest distance from the baseline.", **_NUMBER, "minimum": 0},
        "of": {"description": "Cube file of the baseline.", "type": "string"},
        "features": _NAMES,
        "groups": _NAMES,
    },
    "required": ["metric"],
    "dependentRequired": {"within": ["of"], "of": ["within"]},
    "additionalProperties": False,
}


def schema() -> dict[str, Json]:
    """Return the JSON Schema of a specification file of an audit or of a monitor.

    Examples
    --------
    >>> schema()["properties"]["monitor"]["properties"]["horizon"]["default"]
    365
    """
    usual = {field.name: field.default for field in fields(MonitorSpec)}
    settings: dict[str, Json] = {
        name: {
            "description": f"{setting.description}.",
            "default": plain(usual[name]),
            "anyOf": [setting.type.schema, {"type": "null"}],
        }
        for name, setting in SETTINGS.items()
    }
    rule: dict[str, Json] = {"anyOf": [{"type": "string"}, _RULE]}
    monitor: dict[str, Json] = {
        "description": "What a monitor of this question tolerates: fairgauge monitor.",
        "type": "object",
        "properties": {
            **settings,
            "rules": {
                "description": "What is tolerated; the rules of the audit where it is absent.",
                "anyOf": [rule, {"type": "array", "items": rule}],
            },
        },
        "additionalProperties": False,
    }
    of_audit = spec_file.schema()
    properties = of_audit["properties"]
    assert isinstance(properties, dict)
    return of_audit | {"properties": {**properties, "monitor": monitor}}
