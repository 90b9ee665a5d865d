"""Vertex AI's bias components: their parameters, as JSON or YAML, and their metrics.

The metrics are slice 1 less slice 2, one result for every threshold. Slices may have any shape that
is in use: the proto's as JSON or text, the helper's, the guide's. Data sets and batch predictions
are nested records, whose columns have dotted names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, SupportsFloat, SupportsIndex

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

from fairgauge import Report, audit
from fairgauge import metric as describe_metric
from fairgauge.errors import DataError, Problem, SpecError, cells, listing, quote, refuse, suggest
from fairgauge.plugins import (
    Unreadable,
    canonical,
    describe_reason,
    is_number,
    loads,
    matches,
    name_of,
)
from fairgauge_cloud._facet_counts import (
    BinaryOutcome,
    Blocks,
    CodedColumn,
    Codes,
    DataType,
    FacetQuestion,
    Mask,
    Table,
    count_question,
    from_values,
    matching,
)
from fairgauge_cloud._files import (
    Places,
    check_same_names,
    code_columns,
    csv_rows,
    json_lines,
    problems_of,
)
from fairgauge_cloud._service_metrics import spell_value

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
        number = _parse_single(level)
        if self.low is None or self.high is None:  # truth values are compared first, then numbers
            return any(
                number == np.float32(value)
                if isinstance(value, float) and not isinstance(level, bool)
                else matches(canonical(value), canonical(level))
                for value in self.values
            )
        return number is not None and bool(np.float32(self.low) <= number < np.float32(self.high))


@dataclass(frozen=True, slots=True)
class VertexSlice:
    """Rows that meet all conditions, as they were written."""

    conditions: tuple[Condition, ...]
    written: object

    def holds(self, column: Callable[[str], CodedColumn]) -> Mask:
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
    found = [found] if isinstance(found, dict) else found
    if isinstance(found, list):
        found = [_parse_json_text(each) for each in found]
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
    except (ValueError, RecursionError):
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
        return _range(feature, dict(zip(("low", "high"), values, strict=True)), path, problems)
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


def _parse_single(level: object) -> np.float32 | None:
    if isinstance(level, bool) or not isinstance(level, (str, SupportsFloat, SupportsIndex)):
        return None
    try:
        return np.float32(level)
    except (TypeError, ValueError, OverflowError):
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
    predictions_format: Literal["jsonl", "csv", "bigquery"] = "jsonl"
    predictions_gcs_source: Uris | None = None
    predictions_bigquery_source: Uris | None = None
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


def read_vertex_config(text: str, path: Path = Path("config.json")) -> VertexConfig:
    """Read the text of a configuration, which is JSON or YAML by the suffix of its file."""
    try:
        found = loads(text, "YAML" if path.suffix.lower() in (".yaml", ".yml") else "JSON")
    except Unreadable as error:
        raise SpecError(Problem("", f"{quote(path)} {error}")) from None
    if not isinstance(found, dict):
        raise SpecError(Problem("", f"{quote(path)} must be an object, not {quote(found)}"))
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
        (all(each is None for each in sources), "",
         "name the data (dataset_storage_source_uris) or predictions (predictions_gcs_source)"),
        (not asked.thresholds, "thresholds", "name at least one, or leave it out for 0.5"),
        *((each != ARGMAX and not 0 <= float(each) <= 1, f"thresholds[{i}]",
           f"must be a number between 0 and 1, or '{ARGMAX}', not {quote(each)}")
          for i, each in enumerate(asked.thresholds)),
    ]  # fmt: skip
    return [Problem(path, message) for is_wrong, path, message in rows if is_wrong]


INSTANCE, PREDICTION = "instance", "prediction"
_CLASS_KEYS = ("value", "class", "label", "displayName", "display_name")
_SCORE_KEYS = ("score", "scores", "prob", "confidence", "probability")


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of a data set or of predictions: those of JSON, or the columns of a table."""

    source: str
    rows: Sequence[dict[str, object]] = ()
    table: Table = field(default_factory=dict)

    def column(self, name: str, path: str) -> CodedColumn:
        """Return a column by its dotted name, under ``instance`` by default."""
        if name in self.table:
            return self.table[name]
        values = self.raw(name)
        if all(value is None for value in values):
            fields = dict.fromkeys(self.table)
            for row in self.rows[:100]:
                inside = row.get(INSTANCE)
                fields |= dict.fromkeys(inside if isinstance(inside, dict) else row)
            what = f"no field {quote(name)} in {quote(self.source)}.{suggest(name, [*fields])}"
            raise SpecError(Problem(path, f"{what} It has {listing([*fields], 8)}"))
        alone = (v[0] if isinstance(v, list) and len(v) == 1 else v for v in values)
        plain = (json.dumps(v) if isinstance(v, (list, dict)) else v for v in alone)
        return from_values(name, plain)

    def raw(self, name: str) -> list[object]:
        """Return the values of a field, whatever they are."""
        return [_lookup(row, name) for row in self.rows]


@dataclass(frozen=True, slots=True)
class ClassScores:
    """What a model predicted for every row: the score of each class."""

    scores: list[dict[str, float] | None]
    are_classes: bool = False
    """Whether the predictions are classes without scores, which no threshold can change."""

    def states(self, classes: Sequence[str], threshold: float | str) -> Codes:
        """Return 1 for rows predicted to be of some classes, 0 for others, -1 for no answer.

        Their scores add up to at least the threshold; with "argmax", one of them has the largest.
        """

        def is_one(row: dict[str, float]) -> bool:
            if isinstance(threshold, str):
                return max(row, key=lambda name: row[name]) in classes
            return sum(row.get(name, 0.0) for name in classes) >= threshold

        return np.array([-1 if row is None else int(is_one(row)) for row in self.scores])

    def check_range(self, classes: Sequence[str], source: str) -> None:
        """Refuse scores that cannot be compared with a threshold, such as percentages."""
        every = [row[name] for row in self.scores if row for name in classes if name in row]
        if outside := [score for score in every if not 0 <= score <= 1]:
            percentages = all(0 <= score <= 100 for score in every)
            remedy = "divide percentages by 100" if percentages else "correct or remove these rows"
            raise DataError(
                f"{quote(source)} has the score {outside[0]:g}; scores must lie in [0, 1], as the "
                f"thresholds do: {remedy}"
            )


def scores_of(records: Records, asked: Parameters) -> ClassScores:
    """Find the scores of every class in predictions."""
    target = asked.target_field_name.rpartition(".")[2]
    predicted = (f"predicted_{target}", "predicted_label", "predicted")
    names = (PREDICTION, *(f"{name}_probs" for name in predicted), *predicted)
    name = next((n for n in names if any(v is not None for v in records.raw(n))), None)
    if name is None:
        raise DataError(f"{quote(records.source)} holds no predictions: no field {listing(names)}")
    values = records.raw(name)
    found = [_class_scores(value, records.source, row) for row, value in enumerate(values, 1)]
    known = [value for value, scores in zip(values, found, strict=True) if scores is not None]
    scored = (_is_json(v) if isinstance(v, str) else isinstance(v, (dict, list)) for v in known)
    return ClassScores(found, are_classes=bool(known) and not any(scored))


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _class_scores(value: object, source: str, row: int) -> dict[str, float] | None:
    # without any class there is no prediction
    if isinstance(value, str) and _is_json(value):
        text = value
        try:
            value = json.loads(text)
        except ValueError:
            return {text: 1.0}
    if value is None:
        return None
    try:
        if isinstance(value, dict):
            classes = value.get("classes", value.get("displayNames", value.get("display_names")))
            scores = value.get("scores", value.get("confidences"))
            if classes is not None and scores is not None:
                pairs = zip(classes, scores, strict=True)
                return {canonical_text(name): float(score) for name, score in pairs} or None
            value = [value]
        if isinstance(value, list):
            found = {
                canonical_text(_first_of_keys(p, _CLASS_KEYS)): float(
                    _first_of_keys(p, _SCORE_KEYS)
                )
                for p in [each.get("tables", each) for each in value]
            }
            return found or None
    except (KeyError, TypeError, ValueError, AttributeError):
        message = f"{quote(source)} row {row:,}: cannot read the prediction {quote(value)}"
        raise DataError(
            f'{message}; it must be {{"classes": [...], "scores": [...]}}, with as many of each'
        ) from None
    return {canonical_text(value): 1.0}


def _first_of_keys(found: dict[str, object], keys: Sequence[str]) -> Any:
    return found[next((key for key in keys if key in found), keys[0])]


def _read_scores(files: Sequence[Path], target: str) -> Records:
    # as batch predictions of tables are in CSV: a column TARGET_CLASS_scores of each class
    rows: list[dict[str, object]] = []
    for path in files:
        lines = csv_rows(path)
        names = next(lines)
        of = re.compile(rf"{re.escape(target)}_(.+)_scores?")
        classes = {name: found[1] for name in names if (found := of.fullmatch(name))}
        if not classes:
            message = f"{quote(path)} has no scores: no column {quote(f'{target}_CLASS_scores')}."
            raise DataError(f"{message} It has {listing(names, 8)}")
        for line in lines:
            row = {name: value or None for name, value in zip(names, line, strict=True)}
            scores = [row.pop(name) for name in classes]
            made = {"classes": [*classes.values()], "scores": scores} if any(scores) else None
            rows.append({**row, PREDICTION: made})
    return Records(str(files[0]), rows)


def _read_lines(files: Sequence[Path], _: str) -> Records:
    rows: list[dict[str, object]] = []
    for path in files:
        for record in json_lines(path):
            if not isinstance(record, dict):
                raise DataError(f"{quote(path)} must hold an object a line, not {quote(record)}")
            rows.append(record)
    if not rows:
        raise DataError(f"{quote(files[0])} is empty")
    return Records(str(files[0]), rows)


def _table(files: Sequence[Path], columns: Sequence[str]) -> Records:
    rows: Iterable[list[str]] = ()
    names = list(columns)
    for path in files:
        more = csv_rows(path)
        first = next(more)
        names = names or first
        if len(names) != len(first):
            message = f"names {len(names)} columns, but {quote(path)} has {len(first)}"
            raise SpecError(Problem("columns", message))
        if not columns:
            check_same_names(names, first, files[0], path)
        rows = chain(rows, () if first == names else [first], more)
    return Records(str(files[0]), table=code_columns(rows, names, names))


def _lookup(row: Mapping[str, object], name: str) -> object:
    # a field by its dotted name: under ``instance``, else from the top
    for start in (row.get(INSTANCE), row):
        if isinstance(start, dict):
            if name in start:
                return start[name]
            found: object = start
            for part in name.split("."):
                found = found.get(part) if isinstance(found, dict) else None
            if found is not None:
                return found
    return None


SLICE_A, SLICE_B = "slice_a", "slice_b"
REST = f"not {SLICE_A}"
DATA_METRICS = ("vertex.difference_in_population_size", "vertex.dpptl")
MODEL_METRICS = (
    "vertex.accuracy_difference",
    "vertex.dpppl",
    "vertex.recall_difference",
    "vertex.specificity_difference",
    "vertex.difference_in_ratio_of_error_types",
)


def evaluate(config: VertexConfig, places: Places, **options: object) -> Iterator[Evaluation]:
    """Compute every bias configuration, and without labels every class of the target."""
    asked = config.asked
    in_data, in_predictions = (
        [path for uri in uris or () for path in places.files(uri)]
        for uris in (
            asked.dataset_storage_source_uris,
            asked.predictions_gcs_source or asked.predictions_bigquery_source,
        )
    )
    results = [path for path in in_predictions if path.name.startswith("prediction.results")]
    predictions = None
    if in_predictions:
        read = _read_scores if asked.predictions_format == "csv" else _read_lines
        predictions = read(results or in_predictions, asked.target_field_name)
    data = predictions
    if in_data:
        is_csv = asked.dataset_format == "csv"
        data = _table(in_data, asked.columns) if is_csv else _read_lines(in_data, "")
    assert data is not None
    target = data.column(asked.target_field_name, "target_field_name")
    classes = sorted(name_of(canonical(level)) for level in target.levels)
    for i, each in enumerate(config.slices):
        for labels in [list(each.labels)] if each.labels else [[name] for name in classes]:
            made = Evaluation(asked, f"bias_configs[{i}]", each, labels, options, [*config.notices])
            made.run(data, predictions)
            yield made


@dataclass(slots=True)
class Evaluation:
    """One bias configuration with one set of positive labels; `run` computes the results."""

    asked: Parameters
    path: str
    bias: BiasConfig
    labels: list[str]
    options: dict[str, Any]
    notices: list[str]
    warnings: list[str] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)

    def run(self, data: Records, predictions: Records | None) -> None:
        """Compute the results, in the shape of the documentation."""
        first, *second = (each.written for each in self.bias.slices)
        self.results |= {
            SLICE_A: first,
            SLICE_B: second[0] if second else REST,
            "labels": self.labels,
            "data_bias": self._data(data),
        }
        if predictions is not None:
            self.results["model_bias"] = self._model(predictions)
        self.results["notices"] = [*dict.fromkeys(self.warnings) | dict.fromkeys(self.notices)]

    def _data(self, records: Records) -> dict[str, object]:
        rows, slices = self._slices(records)
        label = BinaryOutcome.of_states("label", self._label(records).states[rows])
        report = self._audit(slices, label, None, DATA_METRICS)
        groups = {group.group: group for group in report.groups}
        counts = {
            name: {
                "rows": groups[name].n if name in groups else 0,
                "positive_rate": groups[name].rates["base_rate"].value if name in groups else None,
            }
            for name in (SLICE_A, SLICE_B)
        }
        return {"counts": counts, **_describe_values(report, DATA_METRICS)}

    def _model(self, records: Records) -> list[dict[str, object]]:
        rows, slices = self._slices(records)
        every = self._label(records)
        label = BinaryOutcome.of_states("label", every.states[rows])
        scored = scores_of(records, self.asked)
        known = {name for row in scored.scores if row for name in row}
        if missing := [label for label in self.labels if label not in known]:
            self.notices.append(
                f"{self.path}: no prediction names the label {listing(missing)}; "
                f"they name {listing(sorted(known))}"
            )
        if scored.are_classes and self.asked.thresholds != [0.5]:
            self.notices.append(
                "thresholds: have no effect, because the predictions are classes without scores"
            )
        if set(self.asked.thresholds) != {ARGMAX}:
            scored.check_range(self.labels, records.source)
        found = []
        for threshold in self.asked.thresholds:
            states = scored.states(self.labels, threshold)
            prediction = BinaryOutcome.of_states(PREDICTION, states[rows])
            report = self._audit(slices, label, prediction, MODEL_METRICS)
            groups = {group.group: group.counts for group in report.groups}
            confusion = {name: groups.get(name) for name in (SLICE_A, SLICE_B)}
            described = _describe_values(report, MODEL_METRICS)
            found.append({"threshold": threshold, "confusion": confusion, **described})
        return found

    def _slices(self, records: Records) -> tuple[Codes, Blocks]:
        masks: list[Mask] = []
        for i, each in enumerate(self.bias.slices):
            masks.append(each.holds(partial(records.column, path=f"{self.path}.slices[{i}]")))
        if len(masks) == 1:
            # rows that lack a feature of the slice are in neither
            features = [each.feature for each in self.bias.slices[0].conditions]
            codes = [records.column(feature, self.path).codes for feature in features]
            known = np.asarray(np.logical_and.reduce([each >= 0 for each in codes]))
            masks.append(~masks[0] & known)
            if not known.all():
                lacking = int((~known).sum())
                self.notices.append(f"{self.path}: {lacking:,} rows lack a feature of the slice")
        for name, mask in zip((SLICE_A, SLICE_B), masks, strict=True):
            if not mask.any():
                self.notices.append(f"{self.path}: {name} holds no rows")
        if both := int((masks[0] & masks[1]).sum()):
            self.notices.append(f"{self.path}: {both:,} rows are in both slices")
        rows = np.concatenate([np.flatnonzero(mask) for mask in masks])
        of = np.repeat([0, 1], [int(mask.sum()) for mask in masks])
        return rows, Blocks("slice", (SLICE_A, SLICE_B), of)

    def _label(self, records: Records) -> BinaryOutcome:
        column = records.column(self.asked.target_field_name, "target_field_name")
        positive = matching(column, self.labels)
        if not positive.any():
            names = [name_of(canonical(level)) for level in column.levels]
            hint = suggest(self.labels[0], names)
            message = f"no label is {listing(self.labels)}.{hint} The data have {cells(names)}"
            raise SpecError(Problem(f"{self.path}.labels", message))
        return BinaryOutcome(column, positive, DataType.CATEGORICAL, self.labels[0])

    def _audit(
        self,
        slices: Blocks,
        label: BinaryOutcome,
        prediction: BinaryOutcome | None,
        metrics: Sequence[str],
    ) -> Report:
        cube = count_question(FacetQuestion((slices,), label, prediction), profile="documented")
        asked = self.options | {"metrics": list(metrics), "reference": {"slice": SLICE_B}}
        report = audit(cube, **asked)
        self.warnings += [f"Warning: {d}" for d in report.diagnostics if d.level == "warning"]
        return report


def _describe_values(report: Report, metrics: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    texts: dict[str, dict[str, object]] = {"reasons": {}, "intervals": {}, "says": {}}
    for metric in metrics:
        each = report[metric, "slice", SLICE_A]
        values[metric] = spell_value(each.value)
        if each.value is None:
            texts["reasons"][metric] = describe_reason(each.reason) if each.reason else "no value"
        else:
            texts["says"][metric] = each.says
        if each.low is not None and each.high is not None:
            texts["intervals"][metric] = [spell_value(each.low), spell_value(each.high)]
    means = {metric: describe_metric(metric).reading for metric in metrics}
    return {"metrics": values, **texts, "positive_means": means}
