"""What a bias monitor is configured by, as an analysis configuration.

The SDK writes a short configuration (``BiasAnalysisConfig``: facet, label, headers); how requests
and answers are read stands in the job definition, or in attributes of the same names.
"""

from __future__ import annotations

from typing import Any

from fairgauge.compat.clarify.config_checks import CAPTURED

ATTRIBUTES = (
    "FeaturesAttribute",
    "InferenceAttribute",
    "ProbabilityAttribute",
    "ProbabilityThresholdAttribute",
)
"""How a monitor names the parts of a request and of an answer."""
_INPUTS = ("EndpointInput", "BatchTransformInput")
_BIAS_KEYS = ("facet", "label_values_or_threshold")


def is_job_definition(found: Any) -> bool:
    """Return whether a value is the definition of a model bias job."""
    return isinstance(found, dict) and "ModelBiasJobInput" in found


def config_uri(definition: dict[str, Any]) -> str | None:
    """Return where a job definition has its configuration."""
    uri = definition.get("ModelBiasAppSpecification", {}).get("ConfigUri")
    return uri if isinstance(uri, str) else None


def attributes(definition: dict[str, Any]) -> dict[str, Any]:
    """Return how requests and answers are read, by a job definition."""
    inputs = definition.get("ModelBiasJobInput", {})
    sources = [inputs.get(key) for key in _INPUTS]
    found = next((source for source in sources if isinstance(source, dict)), {})
    return {key: found[key] for key in ATTRIBUTES if key in found}


def is_monitor_config(found: Any) -> bool:
    """Return whether a value is a configuration of a monitor: it asks for no methods."""
    return (
        isinstance(found, dict) and "methods" not in found and any(k in found for k in _BIAS_KEYS)
    )


def as_analysis_config(found: dict[str, Any]) -> dict[str, Any]:
    """Return a monitor's configuration as an analysis configuration: every metric of both stages.

    >>> asked = as_analysis_config({"facet": [], "ProbabilityAttribute": "0"})
    >>> asked["dataset_type"], asked["predictor"]
    ('application/sagemakercapturejson', {'probability': 0})
    """
    made = {key: value for key, value in found.items() if key not in ATTRIBUTES}
    made.setdefault("dataset_type", CAPTURED)
    every = {"methods": "all"}
    made["methods"] = {"pre_training_bias": every, "post_training_bias": every}
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


def _number(attribute: Any) -> Any:
    """Return the number that a text holds; anything else as it is, to be refused with its path."""
    try:
        return float(attribute)
    except (TypeError, ValueError):
        return attribute


def _place(attribute: Any) -> Any:
    """Return an index where the attribute is the text of one."""
    return int(attribute) if isinstance(attribute, str) and attribute.isdigit() else attribute
