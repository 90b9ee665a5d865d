"""Vertex's bias metrics: slice 1 less slice 2, one result for every threshold.

Data sets and batch predictions are nested records, whose columns have dotted names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from fairgauge import Report, audit
from fairgauge import metric as describe_metric
from fairgauge.errors import DataError, Problem, SpecError, cells, listing, quote, suggest
from fairgauge.plugins import canonical, describe_reason, name_of
from fairgauge_cloud._coded_column import CodedColumn, Codes, Mask, Table, from_values
from fairgauge_cloud._facet_counts import (
    BinaryOutcome,
    Blocks,
    DataType,
    FacetQuestion,
    count_question,
    matching,
)
from fairgauge_cloud._files import Places, check_same_names, code_columns, csv_rows, json_lines
from fairgauge_cloud._service_metrics import spell_value
from fairgauge_cloud.vertex.vertex_config import (
    ARGMAX,
    BiasConfig,
    Parameters,
    VertexConfig,
    canonical_text,
)

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
        outside = [score for score in every if not 0 <= score <= 1]
        if outside:
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
            parts = [each.get("tables", each) for each in value]
            found = {
                canonical_text(_first_of_keys(p, _CLASS_KEYS)): float(
                    _first_of_keys(p, _SCORE_KEYS)
                )
                for p in parts
            }
            return found or None
    except (KeyError, TypeError, ValueError, AttributeError):
        message = f"{quote(source)} row {row:,}: cannot read the prediction {quote(value)}"
        raise DataError(
            f'{message}; it must be {{"classes": [...], "scores": [...]}}, with as many of each'
        ) from None
    return {canonical_text(value): 1.0}


def _first_of_keys(found: dict[str, Any], keys: Sequence[str]) -> Any:
    return found[next((key for key in keys if key in found), keys[0])]


def _read_lines(files: Sequence[Path]) -> Records:
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


def evaluate(config: VertexConfig, places: Places, **options: Any) -> Iterator[Evaluation]:
    """Compute every bias configuration, and without labels every class of the target."""
    asked = config.asked
    in_data, in_predictions = (
        [path for uri in uris or () for path in places.files(uri)]
        for uris in (asked.dataset_storage_source_uris, asked.predictions_gcs_source)
    )
    results = [path for path in in_predictions if path.name.startswith("prediction.results")]
    predictions = _read_lines(results or in_predictions) if in_predictions else None
    data = predictions
    if in_data:
        is_csv = asked.dataset_format == "csv"
        data = _table(in_data, asked.columns) if is_csv else _read_lines(in_data)
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
        every = dict.fromkeys(self.warnings) | dict.fromkeys(self.notices)
        self.results["notices"] = [*every]

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
        missing = [label for label in self.labels if label not in known]
        if missing:
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
        both = int((masks[0] & masks[1]).sum())
        if both:
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
        asked = FacetQuestion((slices,), label, prediction)
        cube = count_question(asked, profile="documented")
        reference = {"slice": SLICE_B}
        report = audit(cube, metrics=list(metrics), reference=reference, **self.options)
        found = (each for each in report.diagnostics if each.level == "warning")
        self.warnings += [f"Warning: {each}" for each in found]
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
