"""The parameters of ``DetectDataBiasOp`` and ``DetectModelBiasOp``, as JSON or YAML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from fairgauge.compat._config_problems import problems_of
from fairgauge.compat.vertex._vertex_slices import BiasConfig, read_bias_configs
from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.question.file_formats import Unreadable, loads

if TYPE_CHECKING:
    from pathlib import Path

ARGMAX = "argmax"
_SOURCES = (
    "dataset_storage_source_uris",
    "predictions_gcs_source",
    "predictions_bigquery_source",
)
_CLOUD = ("project", "location", "encryption_spec_key_name", "gcp_resources")


def _uris(value: object) -> object:
    """Return the URIs of a text, a list, or an artifact (``{"uri": ...}``, ``{"uris": ...}``)."""
    if isinstance(value, dict):  # an artifact has a name, a schema and metadata beside its address
        value = value.get("uris", value.get("uri", value))
    return [value] if isinstance(value, str) else value


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


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
    predictions_format: Literal["jsonl", "csv", "parquet", "bigquery"] = "jsonl"
    predictions_gcs_source: Uris | None = None
    predictions_bigquery_source: Uris | None = None
    thresholds: Annotated[list[Threshold], BeforeValidator(_listed)] = [0.5]
    project: object = None
    location: object = None
    encryption_spec_key_name: object = None
    gcp_resources: object = None


@dataclass(frozen=True, slots=True)
class VertexConfig:
    """A configuration that holds together.

    Attributes
    ----------
    asked, slices : the parameters, and the slices of each of their bias configurations.
    others : parameters of a pipeline job that belong to its other components.
    """

    asked: Parameters
    slices: tuple[BiasConfig, ...]
    others: tuple[str, ...] = ()

    @property
    def notices(self) -> list[str]:
        """Return what is ignored."""
        cloud = [name for name in _CLOUD if getattr(self.asked, name) is not None]
        notices = [f"{', '.join(cloud)}: only concern the cloud and are ignored"] if cloud else []
        if self.others:
            names = ", ".join(self.others)
            notices.append(f"{names}: parameters of other components of the pipeline, ignored")
        return notices


def load_vertex_config(path: Path) -> VertexConfig:
    """Read a configuration file, JSON or YAML by its suffix.

    Raises
    ------
    SpecError
        With a path and what is allowed, for every mistake.
    DataError
        The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {quote(path)}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is not UTF-8 text") from None
    is_yaml = path.suffix.lower() in (".yaml", ".yml")
    return read_vertex_config(text, is_yaml=is_yaml, name=quote(path))


def read_vertex_config(
    text: str, *, is_yaml: bool = False, name: str = "the configuration"
) -> VertexConfig:
    """Read a configuration from its text."""
    found, others = _component(_parsed(text, name, is_yaml=is_yaml))
    try:
        asked = Parameters.model_validate(found)
    except ValidationError as error:
        problems = problems_of(error, Parameters)
        if "bias_configs" in found:
            problems += read_bias_configs(found["bias_configs"])[1]
        raise SpecError(problems) from None
    slices, problems = read_bias_configs(asked.bias_configs)
    problems += _contradictions(asked)
    if problems:
        raise SpecError(problems)
    return VertexConfig(asked, slices, others)


def _component(found: dict[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the parameters of the bias components, and the names of all others.

    The document of a pipeline job states the parameters of all its components together, under
    ``runtimeConfig.parameterValues``. In a plain configuration an unknown name is a mistake.
    """
    runtime = found.get("runtimeConfig")
    values = runtime.get("parameterValues") if isinstance(runtime, dict) else None
    if not isinstance(values, dict):
        return found, ()
    known = {name: value for name, value in values.items() if name in Parameters.model_fields}
    return known, tuple(name for name in values if name not in known)


def _parsed(text: str, name: str, *, is_yaml: bool) -> dict[str, object]:
    try:
        found = loads(text, "YAML" if is_yaml else "JSON")
    except Unreadable as error:
        raise SpecError(Problem("", f"{name} {error}")) from None
    if not isinstance(found, dict):
        raise SpecError(Problem("", f"{name} must be an object, not {quote(found)}"))
    return found


def _contradictions(asked: Parameters) -> list[Problem]:
    found = [
        Problem(key, "names no file; leave it out, or name one")
        for key in _SOURCES
        if getattr(asked, key) == []
    ]
    if asked.dataset is not None:
        message = "names a data set of Vertex AI; export it, and give dataset_storage_source_uris"
        found.append(Problem("dataset", message))
    predictions = (asked.predictions_gcs_source, asked.predictions_bigquery_source)
    if asked.dataset_storage_source_uris is None and predictions == (None, None):
        if asked.dataset is None:
            message = (
                "name the data (dataset_storage_source_uris) or the predictions "
                "(predictions_gcs_source, predictions_bigquery_source)"
            )
            found.append(Problem("", message))
    elif None not in predictions:
        message = "give either predictions_gcs_source or predictions_bigquery_source"
        found.append(Problem("predictions_bigquery_source", message))
    if not asked.thresholds:
        found.append(Problem("thresholds", "name at least one, or leave it out for 0.5"))
    for i, each in enumerate(asked.thresholds):
        if each != ARGMAX and not 0 <= float(each) <= 1:
            message = f"must be a number between 0 and 1, or '{ARGMAX}', not {quote(each)}"
            found.append(Problem(f"thresholds[{i}]", message))
    return found
