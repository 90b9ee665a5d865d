"""The analysis configuration: what it may hold, and everything that is wrong with one, at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PrivateAttr,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from fairgauge.compat._config_problems import problems_of
from fairgauge.compat.clarify._config_checks import (
    asked_metrics,
    contradictions,
    lacks_predictions,
    notices,
)
from fairgauge.errors import DataError, Problem, SpecError, quote

if TYPE_CHECKING:
    from pathlib import Path

NOT_JSON = "Unable to load analysis configuration as JSON."
NOT_VALID = "Analysis configuration schema validation error."


class ConfigError(SpecError):
    """An analysis configuration is wrong; ``problems`` lists every mistake with its path."""

    title = NOT_VALID


def _listed(value: object) -> object:
    return value if isinstance(value, list) or value is None else [value]


def _lowered(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Scalars = Annotated[list[Scalar], BeforeValidator(_listed)]
NameOrIndex = StrictStr | StrictInt
NamesOrIndices = Annotated[list[NameOrIndex], BeforeValidator(_listed)]
Number = Annotated[StrictInt | StrictFloat, BeforeValidator(lambda v: v)]
TypeWord = Literal["categorical", "continuous"]
DatasetType = Annotated[
    Literal[
        "text/csv",
        "application/jsonlines",
        "application/json",
        "application/x-parquet",
        "application/parquet",
        "application/x-image",
        "application/sagemakercapturejson",
    ],
    BeforeValidator(_lowered),
]
ContentType = Annotated[
    Literal[
        "text/csv",
        "application/jsonlines",
        "application/json",
        "image/jpeg",
        "image/jpg",
        "image/png",
        "application/x-npy",
    ],
    BeforeValidator(_lowered),
]
AcceptType = Annotated[
    Literal["text/csv", "application/jsonlines", "application/json"], BeforeValidator(_lowered)
]


class _Part(BaseModel):
    """A part of the configuration; it holds no other keys than its own."""

    # `model_name` is the service's; pydantic before 2.10 warns of every name with this prefix
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Facet(_Part):
    """A facet; ``facet_type`` and ``facet_role`` are fairgauge's own keys."""

    name_or_index: NameOrIndex
    value_or_threshold: Scalars | None = None
    facet_type: TypeWord | None = None
    facet_role: Literal["d", "a"] = "d"


class Segments(_Part):
    """Parts of the data that are measured on their own."""

    name_or_index: NameOrIndex
    segments: list[list[StrictStr | StrictInt]]
    config_name: StrictStr | None = None
    display_aliases: list[StrictStr] | None = None


class Bias(_Part):
    """Which metrics of a stage are asked for."""

    methods: StrictStr | list[StrictStr]


class ReportFile(_Part):
    """The name and title of the report."""

    name: StrictStr = "report"
    title: StrictStr | None = None


class Methods(_Part):
    """What is asked for; explanations are named, and out of scope."""

    pre_training_bias: Bias | None = None
    post_training_bias: Bias | None = None
    report: ReportFile | None = None
    shap: object = None
    pdp: object = None
    asymmetric_shapley_value: object = None


class Predictor(_Part):
    """How a model is asked, and how its answers are read."""

    endpoint_name: StrictStr | None = None
    endpoint_name_prefix: StrictStr | None = None
    model_name: StrictStr | None = None
    target_model: StrictStr | None = None
    instance_type: StrictStr | None = None
    initial_instance_count: StrictInt | None = None
    accelerator_type: StrictStr | None = None
    custom_attributes: StrictStr | None = None
    content_type: ContentType | None = None
    accept_type: AcceptType | None = None
    label: NameOrIndex | None = None
    probability: NameOrIndex | None = None
    label_headers: list[NameOrIndex] | None = None
    content_template: StrictStr | dict[str, StrictStr] | None = None
    record_template: StrictStr | None = None


class AnalysisConfig(_Part):
    """An ``analysis_config.json``, schema version 1.0."""

    version: StrictStr = "1.0"
    dataset_type: DatasetType
    dataset_uri: StrictStr | None = None
    headers: list[StrictStr] | None = None
    label: NameOrIndex | None = None
    predicted_label: NameOrIndex | None = None
    features: StrictStr | None = None
    label_values_or_threshold: Scalars | None = None
    label_type: TypeWord | None = None
    probability_threshold: Number = 0.5
    segment_config: list[Segments] | None = None
    facet: list[Facet] | None = None
    facet_dataset_uri: StrictStr | None = None
    facet_headers: list[StrictStr] | None = None
    predicted_label_dataset_uri: StrictStr | None = None
    predicted_label_headers: list[StrictStr] | None = None
    excluded_columns: NamesOrIndices = []
    joinsource_name_or_index: NameOrIndex | None = None
    group_variable: NameOrIndex | None = None
    time_series_data_config: object = None
    methods: Methods
    predictor: Predictor | None = None

    _unpredicted: bool = PrivateAttr(default=False)

    @property
    def unpredicted(self) -> bool:
        """Return whether post-training metrics were asked for, and left for want of predictions."""
        return self._unpredicted

    def before_training(self) -> AnalysisConfig:
        """Return the configuration without its post-training metrics."""
        methods = self.methods.model_copy(update={"post_training_bias": None})
        made = self.model_copy(update={"methods": methods})
        made._unpredicted = True  # noqa: SLF001 - its own class
        return made

    @property
    def notices(self) -> list[str]:
        """Return what a reader should know of the configuration itself."""
        return notices(self)

    @property
    def stages(self) -> dict[str, list[str]]:
        """Return the metrics asked for in each stage, in the order of results."""
        found = {
            "pre_training_bias": self.methods.pre_training_bias,
            "post_training_bias": self.methods.post_training_bias,
        }
        return {
            stage: asked_metrics(stage, bias.methods)
            for stage, bias in found.items()
            if bias is not None
        }


def read_config(text: str, *, has_model: bool = False, has_dataset: bool = False) -> AnalysisConfig:
    """Read a configuration from its JSON.

    Parameters
    ----------
    text : str
        The text of an ``analysis_config.json``.
    has_model, has_dataset : bool
        Whether a local model, and a data set, are named beside it.

    Raises
    ------
    ConfigError
        With a path and what is allowed, for every mistake.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ConfigError(Problem("", f"{NOT_JSON} {error}")) from None
    except RecursionError:
        raise ConfigError(Problem("", f"{NOT_JSON} It is nested too deeply")) from None
    if not isinstance(found, dict):
        raise ConfigError(Problem("", f"{NOT_VALID} It must be an object, not {quote(found)}"))
    try:
        config = AnalysisConfig.model_validate(found)
    except ValidationError as error:
        problems = problems_of(error, AnalysisConfig)
        wrong = {str(each["loc"][0]) for each in error.errors(include_url=False)}
        problems += _others(found, wrong, has_model=has_model, has_dataset=has_dataset)
        raise ConfigError(problems) from None
    problems = contradictions(config, has_model=has_model, has_dataset=has_dataset)
    if problems:
        raise ConfigError(problems)
    return config.before_training() if lacks_predictions(config, has_model=has_model) else config


def _others(found: dict[str, object], wrong: set[str], **given: bool) -> list[Problem]:
    """Return the mistakes in what is left when the keys that cannot be read are set aside."""
    stand_in = {
        "dataset_type": "text/csv",
        "methods": {"pre_training_bias": {"methods": "all"}},
    }
    rest = {key: value for key, value in found.items() if key not in wrong}
    config = AnalysisConfig.model_validate(stand_in | rest)
    return [
        problem
        for problem in contradictions(config, **given)
        if problem.path.partition(".")[0].partition("[")[0] not in wrong
    ]


def load_config(
    path: Path, *, has_model: bool = False, has_dataset: bool = False
) -> AnalysisConfig:
    """Read a configuration file.

    Raises
    ------
    ConfigError
        With a path and what is allowed, for every mistake.
    DataError
        The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {quote(path)}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is not UTF-8 text. {NOT_JSON}") from None
    return read_config(text, has_model=has_model, has_dataset=has_dataset)
