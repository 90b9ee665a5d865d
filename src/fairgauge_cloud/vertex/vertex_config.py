"""The parameters of ``DetectDataBiasOp`` and ``DetectModelBiasOp``, as JSON or YAML.

Slices may have any shape that is in use: the proto's as JSON or text, the helper's, the guide's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, SupportsFloat, SupportsIndex

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from fairgauge.errors import Problem, SpecError, quote, refuse
from fairgauge.plugins import Unreadable, canonical, is_number, loads, matches
from fairgauge_cloud._coded_column import CodedColumn, Mask
from fairgauge_cloud._files import MOST_OF_CONFIGURATION, problems_of, read_text

_MOST_SLICES = _ENDS = 2
_CONFIG_KEYS = {"biasSlices", "bias_slices", "slices", "labels"}
_TEXT, _NUMBER = ("stringValue", "string_value"), ("floatValue", "float_value")
_ALL = ("allValues", "all_values")
# a range, also as the client's ``BiasConfig.to_dict`` spells it
_RANGE = ("range", "range_")


def canonical_text(value: object) -> str:
    """Return a class as text, true and false as in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a feature must be: one of some values, or a number in [low, high)."""

    feature: str
    values: tuple[object, ...] = ()
    low: float | None = None
    high: float | None = None

    def holds(self, column: CodedColumn) -> Mask:
        """Return for every row whether it meets the condition; a missing value does not."""
        levels = np.array([self._meets(level) for level in column.levels] + [False], dtype=bool)
        return np.asarray(levels[column.codes])

    def _meets(self, level: object) -> bool:
        if self.low is None or self.high is None:
            return any(_equals_as_service(value, level) for value in self.values)
        number = _parse_single(level)
        return number is not None and bool(np.float32(self.low) <= number < np.float32(self.high))


@dataclass(frozen=True, slots=True)
class VertexSlice:
    """Rows that meet all conditions, as they were written."""

    conditions: tuple[Condition, ...]
    written: object

    def holds(self, column: Callable[[str], CodedColumn]) -> Mask:
        """Return for every row whether it is in the slice."""
        met = [each.holds(column(each.feature)) for each in self.conditions]
        return np.asarray(np.logical_and.reduce(met))


@dataclass(frozen=True, slots=True)
class BiasConfig:
    """One slice against all other rows, or two slices; and the positive labels."""

    slices: tuple[VertexSlice, ...]
    labels: tuple[str, ...] = ()


def read_bias_configs(found: object) -> tuple[tuple[BiasConfig, ...], list[Problem]]:
    """Read bias configurations in any shape; return them and everything that is wrong."""
    problems: list[Problem] = []
    path = "bias_configs"
    found = _parse_json_text(found)
    if isinstance(found, list):
        found = [_parse_json_text(each) for each in found]
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list) or not found:
        return (), [Problem(path, "must be a list of bias configurations, and not empty")]
    if all(isinstance(each, dict) and not _CONFIG_KEYS & set(each) for each in found):
        # the guide's shorthand: a list of slices is one configuration
        return (_read_slices(found, [], path, problems),), problems
    made = [_read_config(each, f"{path}[{i}]", problems) for i, each in enumerate(found)]
    return tuple(made), problems


def _parse_json_text(found: object) -> object:
    # the JSON that a text holds, as ``MessageToJson`` writes it; else what was given
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except ValueError:
        return found


def _read_config(found: object, path: str, problems: list[Problem]) -> BiasConfig:
    if isinstance(found, dict) and not _CONFIG_KEYS & set(found):
        found = [found]
    if isinstance(found, list):
        return _read_slices(found, [], path, problems)
    if not isinstance(found, dict):
        problems.append(Problem(path, f"must be an object or a list of slices, not {quote(found)}"))
        return BiasConfig(())
    allowed = f"unknown key. Allowed: {', '.join(sorted(_CONFIG_KEYS))}"
    problems += [Problem(f"{path}.{key}", allowed) for key in sorted(set(found) - _CONFIG_KEYS)]
    key = next((k for k in ("biasSlices", "bias_slices", "slices") if k in found), None)
    if key is None:
        problems.append(Problem(path, "has no slices; name biasSlices or slices"))
        return BiasConfig(())
    slices = found[key] if isinstance(found[key], list) else [found[key]]
    labels = found.get("labels", [])
    labels = labels if isinstance(labels, list) else [labels]
    return _read_slices(slices, labels, f"{path}.{key}", problems)


def _read_slices(
    slices: list[object], labels: list[object], path: str, problems: list[Problem]
) -> BiasConfig:
    if not 1 <= len(slices) <= _MOST_SLICES:
        message = f"must hold one slice (against all others) or two, not {len(slices)}"
        problems.append(Problem(path, message))
    made = [_read_slice(each, f"{path}[{i}]", problems) for i, each in enumerate(slices)]
    return BiasConfig(tuple(made), tuple(canonical_text(label) for label in labels))


def _read_slice(found: object, path: str, problems: list[Problem]) -> VertexSlice:
    features = found.get("configs", found) if isinstance(found, dict) else None
    if not isinstance(features, dict) or not features:
        problems.append(Problem(path, f"must map features to values, not {quote(found)}"))
        return VertexSlice((), found)
    made = [_condition(str(feature), wanted, f"{path}.{feature}", problems)
            for feature, wanted in features.items()]  # fmt: skip
    return VertexSlice(tuple(filter(None, made)), found)


def _condition(
    feature: str, wanted: object, path: str, problems: list[Problem]
) -> Condition | None:
    if isinstance(wanted, dict):
        key = next((key for key in (*_ALL, *_RANGE) if key in wanted), None)
        if key in _RANGE:
            return _range(feature, wanted[key], f"{path}.{key}", problems)
        value = None if key else _typed_value(wanted.get("value", wanted))
        if value is not None:
            return Condition(feature, (value,))
        message = "all_values is not for bias; name a value or a range"
        if key is None:
            message = f"must be a value or a range, not {quote(wanted)}"
        problems.append(Problem(path, message))
        return None
    values = wanted if isinstance(wanted, list) else [wanted]
    if len(values) == _ENDS and all(map(is_number, values)):
        # as the pipeline components' helper reads a list
        ends = dict(zip(("low", "high"), values, strict=True))
        return _range(feature, ends, path, problems)
    if not values or any(value is None or isinstance(value, (list, dict)) for value in values):
        problems.append(Problem(path, f"must be a value, not {quote(wanted)}"))
        return None
    return Condition(feature, tuple(values))


def _typed_value(found: object) -> object:
    if not isinstance(found, dict):
        return found
    text = next((found[key] for key in _TEXT if key in found), None)
    if text is not None:
        return str(text)
    number = next((found[key] for key in _NUMBER if key in found), None)
    return float(number) if isinstance(number, (int, float)) else None


def _range(feature: str, found: object, path: str, problems: list[Problem]) -> Condition | None:
    ends = [found.get(key) if isinstance(found, dict) else None for key in ("low", "high")]
    numeric = [end for end in ends if is_number(end)]
    if len(numeric) != len(ends) or not numeric[0] < numeric[1]:
        message = f"must have a number low below a number high, not {quote(found)}"
        problems.append(Problem(path, message))
        return None
    return Condition(feature, low=float(numeric[0]), high=float(numeric[1]))


def _equals_as_service(wanted: object, level: object) -> bool:
    # compare as the service does: truth values first, then numbers as 32-bit floats, then text
    if isinstance(wanted, float) and not isinstance(level, bool):
        number = _parse_single(level)
        return number is not None and number == np.float32(wanted)
    return matches(canonical(wanted), canonical(level))


def _parse_single(level: object) -> np.float32 | None:
    if isinstance(level, bool) or not isinstance(level, (str, SupportsFloat, SupportsIndex)):
        return None
    try:
        return np.float32(level)
    except (TypeError, ValueError):
        return None


ARGMAX = "argmax"
_CLOUD = ("project", "location", "encryption_spec_key_name", "gcp_resources")


def _uris(value: object) -> object:
    # the URIs of a text, a list, or an artifact (``{"uri": ...}``, ``{"uris": ...}``)
    if isinstance(value, dict):  # an artifact has a name, a schema and metadata beside its address
        value = value.get("uris", value.get("uri", value))
    return [value] if isinstance(value, str) else value


Uris = Annotated[list[StrictStr], BeforeValidator(_uris)]
Threshold = StrictFloat | StrictInt | Literal["argmax"]


class Parameters(BaseModel):
    """What the components take; URIs are local paths, or mapped to them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target_field_name: StrictStr
    bias_configs: object
    dataset_format: Literal["jsonl", "csv"] = "jsonl"
    dataset_storage_source_uris: Uris | None = None
    dataset: object = None
    columns: list[StrictStr] = []
    predictions_format: Literal["jsonl"] = "jsonl"
    predictions_gcs_source: Uris | None = None
    predictions_bigquery_source: object = None
    thresholds: Annotated[
        list[Threshold], BeforeValidator(lambda v: v if isinstance(v, list) else [v])
    ] = [0.5]
    project: object = None
    location: object = None
    encryption_spec_key_name: object = None
    gcp_resources: object = None


@dataclass(frozen=True, slots=True)
class VertexConfig:
    """The parameters, the slices of each bias configuration, and notices of what is ignored."""

    asked: Parameters
    slices: tuple[BiasConfig, ...]
    notices: tuple[str, ...]


def load_vertex_config(path: Path) -> VertexConfig:
    """Read a configuration file, JSON or YAML by its suffix."""
    is_yaml = path.suffix.lower() in (".yaml", ".yml")
    text = read_text(path, MOST_OF_CONFIGURATION)
    return read_vertex_config(text, is_yaml=is_yaml, name=quote(path))


def read_vertex_config(
    text: str, *, is_yaml: bool = False, name: str = "the configuration"
) -> VertexConfig:
    """Read a configuration from its text."""
    try:
        found = loads(text, "YAML" if is_yaml else "JSON")
    except Unreadable as error:
        raise SpecError(Problem("", f"{name} {error}")) from None
    if not isinstance(found, dict):
        raise SpecError(Problem("", f"{name} must be an object, not {quote(found)}"))
    # the document of a pipeline job has the parameters of all its components together; in a plain
    # configuration an unknown name is a mistake
    runtime, others = found.get("runtimeConfig"), list[str]()
    values = runtime.get("parameterValues") if isinstance(runtime, dict) else None
    if isinstance(values, dict):
        found = {name: value for name, value in values.items() if name in Parameters.model_fields}
        others = [name for name in values if name not in found]
    try:
        asked = Parameters.model_validate(found)
    except ValidationError as error:
        raise SpecError(problems_of(error, Parameters)) from None
    slices, problems = read_bias_configs(asked.bias_configs)
    problems += _contradictions(asked)
    refuse(problems)
    cloud = [name for name in _CLOUD if getattr(asked, name) is not None]
    ignored = ((cloud, "only concern the cloud and are ignored"),
               (others, "parameters of other components of the pipeline, ignored"))  # fmt: skip
    notices = (f"{', '.join(names)}: {text}" for names, text in ignored if names)
    return VertexConfig(asked, slices, tuple(notices))


def _contradictions(asked: Parameters) -> list[Problem]:
    sources = (asked.dataset_storage_source_uris, asked.predictions_gcs_source, asked.dataset,
               asked.predictions_bigquery_source)  # fmt: skip
    rows = [
        *((getattr(asked, key) == [], key, "names no file; leave it out, or name one")
          for key in ("dataset_storage_source_uris", "predictions_gcs_source")),
        (asked.dataset is not None, "dataset",
         "names a data set of Vertex AI; export it, and give dataset_storage_source_uris"),
        (asked.predictions_bigquery_source is not None, "predictions_bigquery_source",
         "names a table of BigQuery; export it as JSON lines: predictions_gcs_source"),
        (all(each is None for each in sources), "",
         "name the data (dataset_storage_source_uris) or predictions (predictions_gcs_source)"),
        (not asked.thresholds, "thresholds", "name at least one, or leave it out for 0.5"),
        *((each != ARGMAX and not 0 <= float(each) <= 1, f"thresholds[{i}]",
           f"must be a number between 0 and 1, or '{ARGMAX}', not {quote(each)}")
          for i, each in enumerate(asked.thresholds)),
    ]  # fmt: skip
    return [Problem(path, message) for is_wrong, path, message in rows if is_wrong]
