"""The JSON Schema of a ``.cube.json`` file.

Cubes have a codec of their own (`cube.Cube.to_dict`): their tables are packed as columns of codes
and sums, and their digest is of these very values.
"""

from __future__ import annotations

from fairgauge.enums import Role
from fairgauge.values import Json

Schema = dict[str, Json]

_STRING: Schema = {"type": "string"}
_FINITE: Schema = {"type": "number"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_ANY: Schema = {}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _map(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _object(properties: Schema, optional: Schema | None = None) -> Schema:
    """Return an object that has exactly these properties, and may have the optional ones."""
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
        "additionalProperties": False,
    }


def cube_schema() -> Schema:
    """Return the JSON Schema of a ``.cube.json`` file."""
    axis = _object(
        {
            "role": {"enum": [str(role) for role in Role]},
            "column": _STRING,
            "cuts": _list(_FINITE),
            "closed": {"enum": ["right", "left"]},
            "bounds": {"anyOf": [_list(_FINITE), {"type": "null"}]},
            "grid": _WHOLE,
        }
    )
    moment = _object(
        {"name": _STRING, "columns": _list(_STRING), "factors": _list(_STRING), "power": _WHOLE}
    )
    plan = _object(
        {
            "axes": _list(axis),
            "tables": _list(_list(_WHOLE)),
            "moments": _list(moment),
            "asked": _map(_ANY),
        }
    )
    table = _object(
        {"codes": _list(_list({"type": "integer", "minimum": -1})), "sums": _map(_list(_FINITE))}
    )
    properties: Schema = {
        "schema": {"const": "fairgauge.cube/1"},
        "plan": plan,
        "rows": _WHOLE,
        "excluded": _map(_WHOLE),
        "levels": _list(_list({"type": ["string", "number", "boolean"]})),
        "tables": _list(table),
        "digest": _STRING,
        "question": _map(_ANY),
    }
    optional: Schema = {"fingerprint": _STRING, "min_cell": _WHOLE, "clusters": _STRING}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A mergeable table of counts",
        **_object(properties, optional),
    }
