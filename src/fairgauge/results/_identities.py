"""What features and groups are, as results are saved: beside their names, which people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fairgauge.enums import Closed, GroupKind
from fairgauge.identity import FeatureId, GroupId
from fairgauge.results.codec import Form, Inline, Key, Schema, StoredAs

_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
_INTERVAL: Schema = {
    "type": "object",
    "properties": {"low": _NUMBER, "high": _NUMBER, "closed": {"enum": [str(c) for c in Closed]}},
    "required": ["low", "high", "closed"],
    "additionalProperties": False,
}
_SET: Schema = {"type": "array", "items": {"type": ["string", "number", "boolean"]}}
GroupValues = Annotated[
    Any,
    Form(
        write=lambda values: values,
        read=lambda values: values,
        schema={
            "anyOf": [
                {"type": "array", "items": {"anyOf": [_SET, _INTERVAL, {"type": "null"}]}},
                {"type": "null"},
            ]
        },
    ),
]
"""What a group is in each column of its feature: values, an interval, or null where missing."""


@dataclass(frozen=True, slots=True)
class _SavedFeature:
    columns: Annotated[tuple[str, ...] | None, Key("feature_columns")]


@dataclass(frozen=True, slots=True)
class _SavedGroup:
    kind: Annotated[GroupKind, Key("group_kind")]
    values: Annotated[GroupValues, Key("group_values")]


SavedFeatureId = Annotated[
    Inline[FeatureId | None],
    StoredAs(
        _SavedFeature,
        write=lambda feature: _SavedFeature(feature.columns),
        read=lambda saved: FeatureId(saved.columns),
    ),
]
SavedGroupId = Annotated[
    Inline[GroupId | None],
    StoredAs(
        _SavedGroup,
        write=lambda group: _SavedGroup(group.kind, group.to_plain()),
        read=lambda saved: GroupId.read(saved.kind, saved.values),
    ),
]
