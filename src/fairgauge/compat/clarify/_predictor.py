"""Predictions of a local model, asked and read as a configuration asks and reads an endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairgauge.compat._coded_column import CodedColumn, Kind, as_float, from_values
from fairgauge.compat.clarify.clarify_config import AnalysisConfig, Predictor
from fairgauge.compat.clarify.dataset import PREDICTED, Dataset
from fairgauge.compat.local_models import Model
from fairgauge.compat.uri_paths import search
from fairgauge.errors import DataError, Problem, SpecError, listing, quote
from fairgauge.render.words.numbers import numbered, plural

CSV, LINES, JSON = "text/csv", "application/jsonlines", "application/json"


def predictions(config: AnalysisConfig, made: Dataset, model: Model) -> CodedColumn:
    """Ask a model about every row, and read a label out of every answer.

    Raises
    ------
    SpecError
        The configuration does not define how to read the answers.
    DataError
        The model fails, or answers something else.
    """
    asked = Request(config, made)
    reading = Reading(config, made, model.outputs, each=asked.one_by_one)
    if model.outputs:
        labels = reading.labels(model.answer(asked.features), made.rows)
        return answered(made, labels, reading.outside)
    types = (asked.content_type, reading.accept_type)
    rows = asked.rows
    found: list[object] = []
    for start in range(0, len(rows), model.most):
        part = rows[start : start + model.most]
        payload = asked.payload(part)
        if asked.one_by_one:
            assert isinstance(payload, list)  # a document for each
            answers: object = [model.answer(record, *types) for record in payload]
        else:
            answers = model.answer(payload, *types)
        found += reading.labels(answers, len(part))
    return answered(made, found, reading.outside)


def answered(made: Dataset, labels: Sequence[object], outside: Sequence[float]) -> CodedColumn:
    """Return the column of predicted labels, and warn of scores that are no probabilities.

    Raises
    ------
    DataError
        No answer holds a prediction.
    """
    if labels and all(label is None for label in labels):
        raise DataError(
            "no answer of the model holds a prediction: predictor.label or predictor.probability "
            "(of a monitor, InferenceAttribute or ProbabilityAttribute) must name its place"
        )
    if outside:
        made.doubts.append(
            f"{numbered(len(outside))} {plural(len(outside), 'has', 'have')} a score outside 0 to "
            f"1, from {min(outside):g} to {max(outside):g}, which the service compares with the "
            "threshold as it is; divide percentages by 100, and leave codes of missing values empty"
        )
    return from_values(PREDICTED, labels)


@dataclass(frozen=True, slots=True)
class Request:
    """What the model is sent: every feature but label, predictions and excluded columns."""

    config: AnalysisConfig
    made: Dataset

    @property
    def features(self) -> list[CodedColumn]:
        """Return the columns that the model sees."""
        excluded = {self.made.find(name) for name in self.config.excluded_columns}
        return self.made.features(excluded)

    @property
    def content_type(self) -> str:
        """Return the form that the model is asked in."""
        predictor = self.config.predictor
        return (predictor.content_type if predictor else None) or self.config.dataset_type

    @property
    def rows(self) -> list[list[object]]:
        """Return the values that the model sees, row by row."""
        return [list(row) for row in zip(*(c.cells() for c in self.features), strict=True)]

    def payload(self, rows: list[list[object]]) -> object:
        """Return rows (CSV), a list of objects (JSON lines) or one document (JSON).

        Raises
        ------
        SpecError
            A template that does not make JSON.
        """
        names = [column.name for column in self.features]
        if self.content_type == LINES:
            template = self._template() or '{"features":$features}'
            return [_filled(template, _sent(row, names), "content_template") for row in rows]
        if self.content_type == JSON:
            return self._documents(rows, names)
        return rows

    def _documents(self, rows: list[list[object]], names: list[str]) -> object:
        """Return one document of all records, or a list of documents, one for each."""
        predictor = self.config.predictor
        record = (predictor.record_template if predictor else None) or "$features"
        records = [_filled(record, _sent(row, names), "record_template") for row in rows]
        template = self._template() or '{"instances":$records}'
        every = {"feature_names": names, "feature_name": names}
        if self.one_by_one:
            return [
                _filled(template, every | {"record": each}, "content_template") for each in records
            ]
        return _filled(template, every | {"records": records}, "content_template")

    @property
    def one_by_one(self) -> bool:
        """Return whether the model is asked about a single record at a time."""
        found = {place["word"] for place in _PLACE.finditer(self._template() or "")}
        return self.content_type == JSON and "record" in found

    def _template(self) -> str | None:
        template = self.config.predictor.content_template if self.config.predictor else None
        return json.dumps(template) if isinstance(template, dict) else template


_PLACE = re.compile(
    r'"\$\{(?P<feature>[^}]+)\}"|'
    r"\$(?P<word>features_kvp|feature_names|feature_name|features|records|record)\b"
)


def _sent(row: list[object], names: list[str]) -> dict[str, object]:
    """Return what the places of a template stand for, for one row."""
    named = dict(zip(names, row, strict=True))
    return {
        "features": row,
        "feature_names": names,
        "feature_name": names,  # as the guide's example of JSON lines spells it
        "features_kvp": named,
    }


def _filled(template: str, values: Mapping[str, Any], key: str) -> object:
    """Fill ``$features``, ``"${NAME}"`` and the other places of a template with JSON values."""

    def fill(place: re.Match[str]) -> str:
        source = values.get("features_kvp", {}) if place["feature"] else values
        return json.dumps(source[place["feature"] or place["word"]])

    try:
        return json.loads(_PLACE.sub(fill, template))
    except KeyError as error:
        message = f"has a place for {quote(error.args[0])}, which is nothing that is sent"
    except ValueError as error:
        message = f"does not make JSON: {error}"
    raise SpecError(Problem(f"predictor.{key}", message))


class Reading:
    """How labels are read out of a model's answers."""

    def __init__(
        self,
        config: AnalysisConfig,
        made: Dataset,
        outputs: tuple[str, ...] = (),
        *,
        each: bool = False,
        accept_type: str = "",
    ) -> None:
        predictor = config.predictor
        self.one_by_one = each
        self._outputs = outputs
        self._truth = None if made.label is None else made.column(made.label)
        self._threshold = float(config.probability_threshold)
        self._predictor: Predictor | None = predictor
        self._headers = predictor.label_headers if predictor else None
        self._label = self._place(predictor.label if predictor else None, "label")
        self._probability = self._place(predictor.probability if predictor else None, "probability")
        accepted = (predictor.accept_type or predictor.content_type) if predictor else None
        self.outside: list[float] = []
        """Scores compared with a threshold of probabilities, and outside 0 to 1."""
        self.accept_type = accept_type or accepted or config.dataset_type

    def labels(self, answers: object, rows: int) -> list[object]:
        """Return one predicted label for every row.

        Raises
        ------
        DataError
            The answers are not as many as the rows, or cannot be read.
        """
        if self._outputs and self._label is None and self._probability is None:
            return self._of_outputs(answers)
        label = self._part(answers, self._label, "label", rows)
        score = self._part(answers, self._probability, "probability", rows)
        if label is None and score is None:
            score = _as_rows(answers, rows)
        if score is None:
            assert label is not None
            return self._labels_or_scores([_single(each) for each in label])
        if label is None:
            return [self._decide(each) for each in score]
        return [
            self._best(each, scores) if isinstance(each, list) else each
            for each, scores in zip(label, score, strict=True)
        ]

    def _place(self, where: str | int | None, name: str) -> str | int | None:
        """Return where something is; the outputs of an ONNX model have names of their own."""
        if not self._outputs or not isinstance(where, str):
            return where
        if where not in self._outputs:
            message = f"no output {quote(where)} of the model; it has {listing(self._outputs)}"
            raise SpecError(Problem(f"predictor.{name}", message))
        return self._outputs.index(where)

    def _of_outputs(self, answers: object) -> list[object]:
        """Take the labels that a model gives (whole numbers or text), or decide by its scores."""
        assert isinstance(answers, list)  # as an ONNX model answers
        first: list[object] = [row[0] for row in answers]
        if first and isinstance(first[0], (int, str)):
            return first
        return [self._decide(each) for each in first]

    def _part(
        self, answers: object, where: str | int | None, name: str, rows: int
    ) -> list[object] | None:
        """Take the labels, or the scores, out of the answers."""
        if where is None:
            return None
        if isinstance(where, int):
            found: object = [_cell(row, where, name) for row in _as_rows(answers, rows)]
        elif self.accept_type == JSON and not self.one_by_one:
            found = search(where, f"predictor.{name}").search(answers)
            if rows == 1 and not (isinstance(found, list) and len(found) == 1):
                found = [found]
        else:
            path = search(where, f"predictor.{name}")
            every = list(answers) if isinstance(answers, Iterable) else [answers]
            found = [path.search(answer) for answer in every]
            if len(every) == rows and all(each is None for each in found):
                raise DataError(
                    f"predictor.{name}: the model's answers have nothing under {quote(where)}; "
                    f"the first is {quote(every[0])}. In answers without names it is a position: 0"
                )
        if not isinstance(found, list) or len(found) != rows:
            count = len(found) if isinstance(found, list) else "no"
            raise DataError(
                f"predictor.{name}: {quote(where)} gives {count} values for {rows:,} rows"
            )
        return found

    def _labels_or_scores(self, found: list[object]) -> list[object]:
        """Decide what was named as the label and is a score: fractions, where labels are none."""
        whole = self._truth is not None and self._truth.kind is not Kind.FLOAT
        fractions = any(isinstance(each, float) and not each.is_integer() for each in found)
        numbers = all(isinstance(each, (int, float)) for each in found if each is not None)
        if whole and fractions and numbers and not self._is_regression():
            return [self._decide(each) for each in found]
        return found

    def _is_regression(self) -> bool:
        """Return whether labels are numbers, more than two: a score is then the prediction."""
        if self._truth is None or self._truth.kind not in (Kind.INTEGER, Kind.FLOAT):
            return False
        return len(self._truth.levels) > 2

    def _decide(self, score: object) -> object:
        """Turn a score to 1 or 0, or the largest of several to its label."""
        value = _single(score)
        if value is None or value != value:
            return None
        if isinstance(value, list):
            if self._headers is None:
                raise DataError(
                    "the model gives several scores for a row; name their labels in "
                    "predictor.label_headers, and where they are in predictor.probability"
                )
            return self._best(list(self._headers), value)
        try:
            number = as_float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"the model's score {quote(value)} is no number. Could not convert string to "
                "float. If it is a label, predictor.label must name its place"
            ) from None
        if self._is_regression() and self._headers is None:
            return number
        if 0 <= self._threshold <= 1 and not 0 <= number <= 1:
            self.outside.append(number)
        over = number > self._threshold
        only = self._only_label()
        return int(over) if only is None else only if over else self._other(only)

    def _only_label(self) -> object:
        """Return the one label that scores are of, unless it is but a name to be shown."""
        if self._headers is None or len(self._headers) != 1:
            return None
        (only,) = self._headers
        levels = self._truth.levels if self._truth is not None else ()
        return only if str(only) in map(str, levels) else None

    def _other(self, label: object) -> object:
        """Return the label that is not the one named."""
        levels = self._truth.levels if self._truth is not None else ()
        return next((level for level in levels if str(level) != str(label)), f"not {label}")

    @staticmethod
    def _best(labels: list[object], scores: object) -> object:
        values = scores if isinstance(scores, list) else [scores]
        if len(labels) != len(values):
            raise DataError(f"the model gives {len(values)} scores for {len(labels)} labels")
        return labels[max(range(len(values)), key=lambda i: as_float(values[i]))]


def _as_rows(answers: object, rows: int) -> list[object]:
    """Return answers a row each; one line of all answers is taken apart."""
    found = list(answers) if isinstance(answers, (list, tuple)) else [answers]
    if len(found) == 1 and rows > 1 and isinstance(found[0], list) and len(found[0]) == rows:
        found = found[0]
    if len(found) != rows:
        raise DataError(f"the model gives {len(found):,} answers for {rows:,} rows")
    return found


def _single(value: object) -> object:
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def _cell(row: object, at: int, name: str) -> object:
    cells: Sequence[object] = row if isinstance(row, (list, tuple)) else [row]
    if not 0 <= at < len(cells):
        raise DataError(f"predictor.{name}: no position {at} in the model's answer {quote(row)}")
    return cells[at]
