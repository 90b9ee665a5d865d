"""What a bias monitor is configured by, as an analysis configuration.

The SDK writes a short configuration (``BiasAnalysisConfig``: facet, label, headers); how requests
and answers are read stands in the job definition, or in attributes of the same names.
"""

from __future__ import annotations

from pathlib import PurePath

from fairgauge.compat._coded_column import as_float
from fairgauge.compat.clarify.clarify_config import CAPTURED

ATTRIBUTES = (
    "FeaturesAttribute",
    "InferenceAttribute",
    "ProbabilityAttribute",
    "ProbabilityThresholdAttribute",
)
"""How a monitor names the parts of a request and of an answer."""
_INPUTS = ("EndpointInput", "BatchTransformInput")
_BIAS_KEYS = ("facet", "label_values_or_threshold")


def is_job_definition(found: object) -> bool:
    """Return whether a value is the definition of a model bias job."""
    return isinstance(found, dict) and "ModelBiasJobInput" in found


def config_uri(definition: dict[str, object]) -> str | None:
    """Return where a job definition has its configuration."""
    uri = _object(definition.get("ModelBiasAppSpecification")).get("ConfigUri")
    return uri if isinstance(uri, str) else None


def attributes(definition: dict[str, object]) -> dict[str, object]:
    """Return how requests and answers are read, by a job definition."""
    inputs = _object(definition.get("ModelBiasJobInput"))
    sources = [inputs.get(key) for key in _INPUTS]
    found = next((source for source in sources if isinstance(source, dict)), {})
    return {key: found[key] for key in ATTRIBUTES if key in found}


def is_monitor_config(found: object) -> bool:
    """Return whether a value is a configuration of a monitor: it asks for no methods."""
    return (
        isinstance(found, dict) and "methods" not in found and any(k in found for k in _BIAS_KEYS)
    )


_TABLES = {".csv": "text/csv", ".parquet": "application/x-parquet", ".pq": "application/x-parquet"}
"""Files that are tables whatever a monitor expects; JSON lines may be captures."""


def as_analysis_config(found: dict[str, object], dataset: str | None = None) -> dict[str, object]:
    """Return a monitor's configuration as an analysis configuration: every metric of both stages.

    A monitor reads captured requests and answers. Where ``dataset`` names a table in their place,
    InferenceAttribute is the column of its predicted labels.

    >>> asked = as_analysis_config({"facet": [], "ProbabilityAttribute": "0"})
    >>> asked["dataset_type"], asked["predictor"]
    ('application/sagemakercapturejson', {'probability': 0})
    """
    made = {key: value for key, value in found.items() if key not in ATTRIBUTES}
    table = None if dataset is None else _TABLES.get(PurePath(dataset).suffix.lower())
    made.setdefault("dataset_type", table or CAPTURED)
    every = {"methods": "all"}
    made["methods"] = {"pre_training_bias": every, "post_training_bias": every}
    if made["dataset_type"] != CAPTURED:
        if found.get("InferenceAttribute") is not None:
            made["predicted_label"] = _place(found["InferenceAttribute"])
        return made
    if found.get("FeaturesAttribute") is not None:
        made["features"] = found["FeaturesAttribute"]
    if found.get("ProbabilityThresholdAttribute") is not None:
        made["probability_threshold"] = _number(found["ProbabilityThresholdAttribute"])
    predictor = {
        key: _place(found[name])
        for key, name in (("label", "InferenceAttribute"), ("probability", "ProbabilityAttribute"))
        if found.get(name) is not None
    }
    return made | ({"predictor": predictor} if predictor else {})


def _object(value: object) -> dict[str, object]:
    """Return an object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _number(attribute: object) -> object:
    """Return the number that a text holds; anything else as it is, to be refused with its path."""
    try:
        return as_float(attribute)
    except (TypeError, ValueError):
        return attribute


def _place(attribute: object) -> object:
    """Return an index where the attribute is the text of one."""
    return int(attribute) if isinstance(attribute, str) and attribute.isdigit() else attribute
