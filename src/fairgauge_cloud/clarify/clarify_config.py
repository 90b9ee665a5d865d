"""The analysis configuration: what it may hold, and everything that is wrong with one, at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Annotated, Literal

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

from fairgauge.errors import Problem, SpecError, quote, suggest
from fairgauge_cloud._files import problems_of
from fairgauge_cloud._service_metrics import (
    ALIASES,
    POST_TRAINING,
    PRE_TRAINING,
    REGISTERED_POST,
    REGISTERED_PRE,
    unknown_metric,
)

NOT_VALID = "Analysis configuration schema validation error."
_EXPLAIN = ("shap", "pdp", "asymmetric_shapley_value")
CAPTURED = "application/sagemakercapturejson"
_STAGES = {
    "pre_training_bias": (REGISTERED_PRE, PRE_TRAINING),
    "post_training_bias": (REGISTERED_POST, POST_TRAINING),
}
_PREDICTIONS = (
    "name predicted_label or predicted_label_dataset_uri, or the file of what the model answered, "
    "--predictions FILE"
)
_REPORT_NAME = re.compile(r"\w[\w.\- ]*")


class ConfigError(SpecError):
    """An analysis configuration is wrong; ``problems`` lists every mistake with its path."""

    title = NOT_VALID


Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Scalars = Annotated[
    list[Scalar], BeforeValidator(lambda v: v if isinstance(v, list) or v is None else [v])
]
NameOrIndex = StrictStr | StrictInt
_Text = Literal["text/csv", "application/jsonlines", "application/json"]
_Parquet = Literal["application/x-parquet", "application/parquet"]
_Other = Literal["application/x-image", "application/sagemakercapturejson"]
DatasetType = Annotated[
    Literal[_Text, _Parquet, _Other],
    BeforeValidator(lambda v: v.lower() if isinstance(v, str) else v),
]


class _Part(BaseModel):
    """A part of the configuration; it holds no other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Facet(_Part):
    """A facet, and the values or the threshold of the group that is measured."""

    name_or_index: NameOrIndex
    value_or_threshold: Scalars | None = None


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


class Predictor(BaseModel):
    """How the answers of the model are read; what calls it is left alone."""

    accept_type: StrictStr | None = None
    label: NameOrIndex | None = None
    probability: NameOrIndex | None = None
    label_headers: list[StrictStr | StrictInt] | None = None


class AnalysisConfig(_Part):
    """An ``analysis_config.json``, schema version 1.0, and whether its model has answered."""

    version: StrictStr = "1.0"
    dataset_type: DatasetType
    dataset_uri: StrictStr | None = None
    headers: list[StrictStr] | None = None
    label: NameOrIndex | None = None
    predicted_label: NameOrIndex | None = None
    features: StrictStr | None = None
    label_values_or_threshold: Scalars | None = None
    probability_threshold: StrictInt | StrictFloat | None = None
    segment_config: object = None
    facet: list[Facet] | None = None
    facet_dataset_uri: StrictStr | None = None
    facet_headers: list[StrictStr] | None = None
    predicted_label_dataset_uri: StrictStr | None = None
    predicted_label_headers: list[StrictStr] | None = None
    excluded_columns: object = None
    joinsource_name_or_index: NameOrIndex | None = None
    group_variable: NameOrIndex | None = None
    time_series_data_config: object = None
    methods: Methods
    predictor: Predictor | None = None
    _answered: bool = PrivateAttr(default=False)

    @property
    def has_predictions(self) -> bool:
        return self.predicted_label is not None or self.predicted_label_dataset_uri is not None

    @property
    def lacks_predictions(self) -> bool:
        """Return whether post-training metrics are asked for, and there are no predictions."""
        asked = self.methods.post_training_bias is not None
        return asked and not self.has_predictions and not self._answered

    @property
    def not_computed(self) -> str:
        """Return which methods are asked for and not computed, and why; empty if none is."""
        explained = [name for name in _EXPLAIN if getattr(self.methods, name) is not None]
        found = [f"{', '.join(explained)} (explanations are out of scope)"] if explained else []
        if self.lacks_predictions:
            found.insert(0, f"post_training_bias (there are no predictions: {_PREDICTIONS})")
        return ", ".join(found)

    @property
    def notices(self) -> list[str]:
        """Return what is ignored or read otherwise, a line each."""
        found = []
        if self.segment_config is not None:
            found.append("segment_config: segments are not measured, only the whole data set")
        if self.predictor is not None and not self._answered:
            found.append("predictor: ignored, because fairgauge calls no model")
        if self.dataset_type == "application/parquet":
            found.append("dataset_type: 'application/parquet' is read as 'application/x-parquet'")
        return found

    @property
    def stages(self) -> dict[str, list[str]]:
        """Return the metrics of each stage that is measured, in the order of results."""
        return {
            stage: _asked_metrics(stage, bias.methods)
            for stage in _STAGES
            if (bias := getattr(self.methods, stage)) is not None
            if not (stage == "post_training_bias" and self.lacks_predictions)
        }


def read_config(text: str, **given: bool) -> AnalysisConfig:
    """Read a configuration from its JSON; see `check_config`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"Unable to load analysis configuration as JSON. {error}"
        raise ConfigError(Problem("", message)) from None
    return check_config(found, **given)


def check_config(
    found: object, *, has_dataset: bool = False, has_answers: bool = False
) -> AnalysisConfig:
    """Return a configuration, beside which data or answers of its model may be given.

    Every mistake in it is raised at once.
    """
    if not isinstance(found, dict):
        raise ConfigError(Problem("", f"{NOT_VALID} It must be an object, not {quote(found)}"))
    try:
        config = AnalysisConfig.model_validate(found)
    except ValidationError as error:
        raise ConfigError(problems_of(error, AnalysisConfig)) from None
    config._answered = has_answers  # noqa: SLF001 - which no key of a file may state
    problems = list(_find_problems(config, has_dataset))
    if has_answers and config.has_predictions:
        problems.append(Problem("--predictions", "the data have predictions (predicted_label)"))
    if problems:
        raise ConfigError(problems)
    return config


def _asked_metrics(stage: str, methods: str | list[str]) -> list[str]:
    ordered = _STAGES[stage][1]
    if methods in ("all", ["all"]):
        return list(ordered)
    asked = {
        ALIASES.get(name, name) for name in ([methods] if isinstance(methods, str) else methods)
    }
    return [name for name in ordered if name in asked]


def _find_problems(config: AnalysisConfig, has_dataset: bool) -> Iterator[Problem]:
    kind, methods = config.dataset_type, config.methods
    is_csv = kind == "text/csv"
    asks = methods.pre_training_bias is not None or methods.post_training_bias is not None
    given = config.model_dump(exclude_none=True)
    rows = [
        (config.version != "1.0", "version",
         f"only '1.0' is supported, not {quote(config.version)}"),
        (kind == CAPTURED, "dataset_type",
         "captured traffic is not read; name a table with its predictions with --dataset"),
        (kind == "application/x-image", "dataset_type",
         "images have no bias metrics; explanations are out of scope"),
        ("time_series_data_config" in given, "time_series_data_config",
         "Bias metrics are unsupported for time series."),
        ("/json" in kind and config.features is None, "features",
         "Data must contain features. It is the JMESPath to them"),
        *((not is_csv and isinstance(given.get(key), int), key,
           f"must be text for {kind}; an index is for text/csv")
          for key in ("label", "predicted_label")),
        *((not is_csv and key in given, key, f"is only for text/csv, not {kind}")
          for key in ("facet_dataset_uri", "predicted_label_dataset_uri")),
        *((names.count(name) > 1, key, f"names {quote(name)} twice")
          for key in ("headers", "facet_headers", "predicted_label_headers")
          for names in [given.get(key, [])] for name in dict.fromkeys(names)),
    ]  # fmt: skip
    rows += [] if not asks else [
        (config.dataset_uri is None and not has_dataset, "dataset_uri",
         "is required, or name the data with --dataset"),
        (config.label is None, "label", "is required for bias metrics"),
        (not config.label_values_or_threshold, "label_values_or_threshold",
         "is required for bias metrics: the positive values, or one exclusive lower bound"),
        (not config.facet, "facet", "is required for bias metrics: name at least one"),
        (config.lacks_predictions and not methods.pre_training_bias, "methods.post_training_bias",
         f"needs predictions: {_PREDICTIONS}"),
    ]  # fmt: skip
    yield from (Problem(path, message) for is_wrong, path, message in rows if is_wrong)
    if not asks:
        asked = [name for name in _EXPLAIN if getattr(methods, name) is not None]
        what = f" ({', '.join(asked)} explain a model, which fairgauge does not)" if asked else ""
        message = f"asks for no bias metrics{what}; name pre_training_bias or post_training_bias"
        yield Problem("methods", message)
    for stage, (registered, _) in _STAGES.items():
        bias = getattr(methods, stage)
        if bias is None or bias.methods in ("all", ["all"]):
            continue
        path = f"methods.{stage}.methods"
        names = [bias.methods] if isinstance(bias.methods, str) else bias.methods
        if not names:
            yield Problem(path, "names no metric; give 'all' or a list of names")
        for i, name in enumerate(names):
            if ALIASES.get(name, name) not in registered:
                where = path if isinstance(bias.methods, str) else f"{path}[{i}]"
                hint = suggest(name, registered)
                yield Problem(where, f"{unknown_metric(registered)}, not {quote(name)}.{hint}")
    if methods.report is not None and not _REPORT_NAME.fullmatch(methods.report.name):
        message = f"must be a plain file name, not {quote(methods.report.name)}"
        yield Problem("methods.report.name", message)


ATTRIBUTES = (
    "FeaturesAttribute",
    "InferenceAttribute",
    "ProbabilityAttribute",
    "ProbabilityThresholdAttribute",
)
"""How a monitor names the parts of a request and of an answer."""
_PARQUET = (".parquet", ".pq")


def convert_monitor_config(
    found: dict[str, object], dataset: str | None = None
) -> dict[str, object]:
    """Return a monitor's configuration as an analysis configuration: every metric of both stages.

    The SDK writes a short configuration (``BiasAnalysisConfig``: facet, label, headers); how
    requests and answers are read stands beside it, in attributes named as in a job definition.
    The service's monitor reads captured requests and answers; here ``dataset`` names a table in
    their place. InferenceAttribute is the column of its predicted labels; where headers lack it,
    they are those of requests, and the table names its columns itself.

    >>> asked = convert_monitor_config({"facet": [], "InferenceAttribute": "0"}, "day.csv")
    >>> asked["dataset_type"], asked["predicted_label"]
    ('text/csv', 0)
    """
    made = {key: value for key, value in found.items() if key not in ATTRIBUTES}
    kind = found.get("dataset_type", CAPTURED)
    if kind == CAPTURED and dataset is not None:
        is_parquet = PurePath(dataset).suffix.lower() in _PARQUET
        kind = "application/x-parquet" if is_parquet else "text/csv"
    made |= {"dataset_type": kind, "methods": {stage: {"methods": "all"} for stage in _STAGES}}
    predicted, headers = found.get("InferenceAttribute"), found.get("headers")
    if isinstance(predicted, str) and predicted.isdigit():
        predicted = int(predicted)
    if predicted is not None:
        made["predicted_label"] = predicted
    if isinstance(predicted, str) and isinstance(headers, list) and predicted not in headers:
        del made["headers"]  # of requests, which hold no predictions: the table has its own
    return made
