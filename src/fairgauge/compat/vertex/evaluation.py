"""Vertex's bias metrics: slice 1 less slice 2, one result for every threshold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import numpy as np

from fairgauge.api.audit import audit
from fairgauge.catalogue.lookup import find_metric
from fairgauge.compat._coded_column import CodedColumn, Kind
from fairgauge.compat._column_reading import DataType
from fairgauge.compat._facet_counts import BinaryOutcome, Blocks, FacetQuestion, count_question
from fairgauge.compat._service_texts import spelled
from fairgauge.compat.vertex._records import (
    ClassScores,
    Records,
    read_data,
    read_predictions,
    scores_of,
)
from fairgauge.compat.vertex.vertex_config import ARGMAX
from fairgauge.enums import Profile
from fairgauge.errors import Problem, SpecError, listing, nearest
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.values import canonical, matches, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.compat._coded_column import Codes
    from fairgauge.compat.interval_options import IntervalOptions
    from fairgauge.compat.uri_paths import Places
    from fairgauge.compat.vertex.vertex_config import BiasConfig, Mask, VertexConfig
    from fairgauge.results.report import Report

SLICE_A: Final = "slice_a"
SLICE_B: Final = "slice_b"
REST = f"not {SLICE_A}"
DATA_METRICS = ("vertex.difference_in_population_size", "vertex.dpptl")
MODEL_METRICS = (
    "vertex.accuracy_difference",
    "vertex.dpppl",
    "vertex.recall_difference",
    "vertex.specificity_difference",
    "vertex.difference_in_ratio_of_error_types",
)


class ModelResults(TypedDict, total=False):
    """The results of a model; nothing where there are no predictions."""

    model_bias: list[dict[str, object]]


class BiasResults(ModelResults):
    """The results of one bias configuration, as the command prints and writes them."""

    slice_a: object
    slice_b: object
    labels: list[str]
    data_bias: dict[str, object]
    notices: list[str]


def evaluate(
    config: VertexConfig, places: Places, **options: Unpack[IntervalOptions]
) -> Iterator[BiasResults]:
    """Compute every bias configuration, and without labels every class of the target.

    Parameters
    ----------
    config : VertexConfig
    places : Places
        Where its URIs are.
    **options
        Of `fairgauge.audit`: confidence, method, seed, replicates.

    Yields
    ------
    dict
        ``slice_a``, ``slice_b``, ``labels``, ``data_bias``, ``model_bias`` and ``notices``.

    Raises
    ------
    SpecError
        Features, labels or a target that the data do not have.
    DataError
        Data that cannot be read.
    """
    asked = config.asked
    sources = {
        name: [path for uri in uris for path in places.files(uri)]
        for name, uris in (
            ("data", asked.dataset_storage_source_uris),
            ("predictions", asked.predictions_gcs_source or asked.predictions_bigquery_source),
        )
        if uris is not None
    }
    predictions = None
    if "predictions" in sources:
        predictions = read_predictions(sources["predictions"], asked.predictions_format)
    data = predictions
    if "data" in sources:
        data = read_data(sources["data"], asked.dataset_format, asked.columns)
    assert data is not None
    target = data.column(asked.target_field_name, "target_field_name")
    for i, each in enumerate(config.slices):
        every = [list(each.labels)] if each.labels else [[name] for name in _classes(target)]
        for labels in every:
            yield _Evaluation(config, i, each, labels, options).run(data, predictions)


class _Evaluation:
    """One bias configuration with one set of positive labels."""

    def __init__(
        self,
        config: VertexConfig,
        number: int,
        bias: BiasConfig,
        labels: list[str],
        options: IntervalOptions,
    ) -> None:
        self._asked = config.asked
        self._path = f"bias_configs[{number}]"
        self._bias = bias
        self._labels = labels
        self._options = options
        self._notices = config.notices

    def run(self, data: Records, predictions: Records | None) -> BiasResults:
        """Return the results in the shape of the documentation."""
        first, *second = (each.written for each in self._bias.slices)
        counted = self._data(data)
        model: ModelResults = {}
        if predictions is not None:
            model["model_bias"] = self._model(predictions)
        return {
            SLICE_A: first,
            SLICE_B: second[0] if second else REST,
            "labels": self._labels,
            "data_bias": counted,
            **model,
            "notices": list(dict.fromkeys(self._notices)),
        }

    def _data(self, records: Records) -> dict[str, object]:
        rows, slices = self._slices(records)
        report = self._audit(slices, self._label(records, rows), None, DATA_METRICS)
        groups = {group.group: group for group in report.groups}
        counts = {
            name: {
                "rows": groups[name].n if name in groups else 0,
                "positive_rate": _positive(report, name),
            }
            for name in (SLICE_A, SLICE_B)
        }
        return {"counts": counts, **_described(report, DATA_METRICS)}

    def _model(self, records: Records) -> list[dict[str, object]]:
        rows, slices = self._slices(records)
        label = self._label(records, rows)
        scored = scores_of(records, self._asked)
        self._check_classes(scored)
        if scored.are_classes and self._asked.thresholds != [0.5]:
            self._notices.append(
                "thresholds: have no effect, because the predictions are classes without scores"
            )
        found = []
        for threshold in self._asked.thresholds:
            states = np.array(list(_predicted(scored, self._labels, threshold)))[rows]
            report = self._audit(slices, label, _outcome("prediction", states), MODEL_METRICS)
            groups = {group.group: group.counts for group in report.groups}
            confusion = {name: groups.get(name) for name in (SLICE_A, SLICE_B)}
            described = _described(report, MODEL_METRICS)
            found.append({"threshold": threshold, "confusion": confusion, **described})
        return found

    def _slices(self, records: Records) -> tuple[Codes, Blocks]:
        """Return the rows of both slices, those in both twice, and which slice each is of."""
        masks: list[Mask] = []
        for i, each in enumerate(self._bias.slices):
            masks.append(each.holds(partial(records.column, path=f"{self._path}.slices[{i}]")))
        if len(masks) == 1:
            masks.append(~masks[0] & self._known(records))
        for name, mask in zip((SLICE_A, SLICE_B), masks, strict=True):
            if not mask.any():
                self._notices.append(f"{self._path}: {name} holds no rows")
        both = int((masks[0] & masks[1]).sum())
        if both:
            self._notices.append(f"{self._path}: {both:,} rows are in both slices")
        rows = np.concatenate([np.flatnonzero(mask) for mask in masks])
        codes = np.repeat([0, 1], [int(mask.sum()) for mask in masks])
        return rows, Blocks("slice", (SLICE_A, SLICE_B), codes, DataType.CATEGORICAL)

    def _known(self, records: Records) -> Mask:
        """Return which rows have every feature of the slice: others are in neither."""
        conditions = self._bias.slices[0].conditions
        columns = [records.column(each.feature, self._path) for each in conditions]
        known: Mask = np.logical_and.reduce([column.codes >= 0 for column in columns])
        return known

    def _label(self, records: Records, rows: Codes) -> BinaryOutcome:
        column = records.column(self._asked.target_field_name, "target_field_name")
        wanted = [canonical(label) for label in self._labels]
        positive = [any(matches(w, canonical(v)) for w in wanted) for v in column.levels]
        if not any(positive):
            names = [name_of(canonical(level)) for level in column.levels]
            hint = nearest(self._labels[0], names)
            message = f"no label is {listing(self._labels)}.{hint} The data have {listing(names)}"
            raise SpecError(Problem(f"{self._path}.labels", message))
        states = np.array([*map(int, positive), -1])[column.codes]
        return _outcome("label", states[rows])

    def _check_classes(self, scored: ClassScores) -> None:
        known = {name for row in scored.scores if row for name in row}
        missing = [label for label in self._labels if label not in known]
        if missing:
            self._notices.append(
                f"{self._path}: no prediction names the label {listing(missing)}; "
                f"they name {listing(sorted(known))}"
            )

    def _audit(
        self,
        slices: Blocks,
        label: BinaryOutcome,
        prediction: BinaryOutcome | None,
        metrics: Sequence[str],
    ) -> Report:
        asked = FacetQuestion((slices,), label, prediction)
        cube = count_question(asked, Profile.DOCUMENTED)
        reference = {"slice": SLICE_B}
        return audit(cube, metrics=list(metrics), reference=reference, **self._options)


def _outcome(name: str, states: Codes) -> BinaryOutcome:
    column = CodedColumn(name, Kind.INTEGER, states, (0, 1))
    return BinaryOutcome(column, np.array([False, True]), DataType.CATEGORICAL, "1")


def _classes(target: CodedColumn) -> list[str]:
    return sorted(name_of(canonical(level)) for level in target.levels)


def _predicted(scored: ClassScores, labels: list[str], threshold: float | str) -> Iterator[int]:
    """Return 1 for rows predicted positive: scores of at least the threshold; -1 for no answer."""
    if threshold == ARGMAX:
        for best in scored.best():
            yield -1 if best is None else int(best in labels)
        return
    for score in scored.of(labels):
        yield -1 if score is None else int(score >= float(threshold))


def _positive(report: Report, name: str) -> float | None:
    """Return the share of positive labels of a slice."""
    for group in report.groups:
        if group.group == name:
            return group.rates["base_rate"].value
    return None


def _described(report: Report, metrics: Sequence[str]) -> dict[str, object]:
    """Return values, reasons where there is none, intervals, and each comparison in words."""
    values: dict[str, object] = {}
    texts: dict[str, dict[str, object]] = {"reasons": {}, "intervals": {}, "says": {}}
    for metric in metrics:
        each = report[metric, "slice", SLICE_A]
        values[metric] = spelled(each.value)
        if each.value is None:
            texts["reasons"][metric] = describe_reason(each.reason) if each.reason else "no value"
        else:
            texts["says"][metric] = each.says
        if each.low is not None and each.high is not None:
            texts["intervals"][metric] = [spelled(each.low), spelled(each.high)]
    means = {metric: find_metric(metric).positive for metric in metrics}
    return {"metrics": values, **texts, "positive_means": means}
