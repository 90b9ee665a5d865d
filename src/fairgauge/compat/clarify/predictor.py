"""Predictions of a local model, asked and read as a configuration asks and reads an endpoint."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.compat import tables
from fairgauge.compat.clarify.dataset import PREDICTED
from fairgauge.compat.columns import Column, from_values
from fairgauge.errors import DataError, Problem, SpecError, listing, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.compat.clarify.config import AnalysisConfig, Predictor
    from fairgauge.compat.clarify.dataset import Dataset
    from fairgauge.compat.models import Model

CSV, LINES, JSON = "text/csv", "application/jsonlines", "application/json"


def predictions(config: AnalysisConfig, made: Dataset, model: Model) -> Column:
    """Ask a model about every row, and read a label out of every answer.

    Raises
    ------
    SpecError
        The configuration does not say how to read the answers.
    DataError
        The model fails, or answers something else.
    """
    asked = Request(config, made)
    reading = Reading(config, model.outputs)
    answers = model.answer(asked.features if model.outputs else asked.payload())
    return from_values(PREDICTED, reading.labels(answers, made.rows))


@dataclass(frozen=True, slots=True)
class Request:
    """What the model is sent: every feature but label, predictions and excluded columns."""

    config: AnalysisConfig
    made: Dataset

    @property
    def features(self) -> list[Column]:
        """Return the columns that the model sees."""
        made = self.made
        left_out = {made.label, made.predicted}
        left_out |= {made.find(name) for name in self.config.excluded_columns}
        return [column for column in made.columns if column.name not in left_out]

    @property
    def content_type(self) -> str:
        """Return the form that the model is asked in."""
        said = self.config.predictor.content_type if self.config.predictor else None
        return said or self.config.dataset_type

    def payload(self) -> Any:
        """Return rows (CSV), a list of objects (JSON lines) or one document (JSON).

        Raises
        ------
        SpecError
            A template that does not make JSON.
        """
        columns = self.features
        cells = [[*c.levels, None] for c in columns]
        rows = [
            [cells[i][code] for i, code in enumerate(row)]
            for row in zip(*(c.codes.tolist() for c in columns), strict=True)
        ]
        if self.content_type == LINES:
            template = self._template() or '{"features":$features}'
            return [_filled(template, {"features": row}, "content_template") for row in rows]
        if self.content_type == JSON:
            return self._document(rows, [column.name for column in columns])
        return rows

    def _document(self, rows: list[list[Any]], names: list[str]) -> Any:
        predictor = self.config.predictor
        record = (predictor.record_template if predictor else None) or "$features"
        records = [
            _filled(record, {"features": row} | _named(names, row), "record_template")
            for row in rows
        ]
        template = self._template() or '{"instances":$records}'
        return _filled(template, {"records": records, "record": records[:1]}, "content_template")

    def _template(self) -> str | None:
        said = self.config.predictor.content_template if self.config.predictor else None
        return json.dumps(said) if isinstance(said, dict) else said


def _named(names: list[str], row: list[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, row, strict=True) if name != "features"}


class _Places(string.Template):
    """``$name`` and ``${any name}``."""

    braceidpattern = r"[^}]+"


def _filled(template: str, values: dict[str, Any], key: str) -> Any:
    """Fill a template with JSON values.

    Raises
    ------
    SpecError
        A place that has no value, or the result is no JSON.
    """
    texts = {name: json.dumps(value) for name, value in values.items()}
    try:
        return json.loads(_Places(template).substitute(texts))
    except KeyError as error:
        message = f"has the place {quote(f'${error.args[0]}')}, which is nothing that is sent"
    except ValueError as error:
        message = f"does not make JSON: {error}"
    raise SpecError(Problem(f"predictor.{key}", message))


class Reading:
    """How labels are read out of a model's answers."""

    def __init__(self, config: AnalysisConfig, outputs: tuple[str, ...] = ()) -> None:
        predictor = config.predictor
        self._outputs = outputs
        self._threshold = float(config.probability_threshold)
        self._predictor: Predictor | None = predictor
        self._headers = predictor.label_headers if predictor else None
        self._label = self._place(predictor.label if predictor else None, "label")
        self._probability = self._place(predictor.probability if predictor else None, "probability")
        said = (predictor.accept_type or predictor.content_type) if predictor else None
        self._accept = said or config.dataset_type

    def labels(self, answers: Any, rows: int) -> list[Any]:
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
            return [_single(each) for each in label]
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

    def _of_outputs(self, answers: list[Any]) -> list[Any]:
        """Take the labels that a model gives (whole numbers or text), or decide by its scores."""
        first = [row[0] for row in answers]
        if first and isinstance(first[0], (int, str)):
            return first
        return [self._decide(each) for each in first]

    def _part(
        self, answers: Any, where: str | int | None, name: str, rows: int
    ) -> list[Any] | None:
        """Take the labels, or the scores, out of the answers."""
        if where is None:
            return None
        if isinstance(where, int):
            found: Any = [_cell(row, where, name) for row in _as_rows(answers, rows)]
        elif self._accept == JSON:
            found = tables.search(where, f"predictor.{name}").search(answers)
        else:
            path = tables.search(where, f"predictor.{name}")
            found = [path.search(answer) for answer in answers]
        if not isinstance(found, list) or len(found) != rows:
            count = len(found) if isinstance(found, list) else "no"
            raise DataError(
                f"predictor.{name}: {quote(where)} gives {count} values for {rows:,} rows"
            )
        return found

    def _decide(self, score: Any) -> Any:
        """Turn a score to 1 or 0, or the largest of several to its label."""
        value = _single(score)
        if isinstance(value, list):
            if self._headers is None:
                raise DataError(
                    "the model gives several scores for a row; name their labels in "
                    "predictor.label_headers, and where they are in predictor.probability"
                )
            return self._best(list(self._headers), value)
        try:
            return int(float(value) > self._threshold)
        except (TypeError, ValueError):
            raise DataError(
                f"the model's score {quote(value)} is no number. Could not convert string to "
                "float. If it is a label, say where it is in predictor.label"
            ) from None

    @staticmethod
    def _best(labels: list[Any], scores: Any) -> Any:
        values = scores if isinstance(scores, list) else [scores]
        if len(labels) != len(values):
            raise DataError(f"the model gives {len(values)} scores for {len(labels)} labels")
        return labels[max(range(len(values)), key=lambda i: float(values[i]))]


def _as_rows(answers: Any, rows: int) -> list[Any]:
    """Return answers a row each; one line of all answers is taken apart.

    Raises
    ------
    DataError
        There are more or fewer answers than rows.
    """
    found = list(answers) if isinstance(answers, (list, tuple)) else [answers]
    if len(found) == 1 and rows > 1 and isinstance(found[0], list) and len(found[0]) == rows:
        found = found[0]
    if len(found) != rows:
        raise DataError(f"the model gives {len(found):,} answers for {rows:,} rows")
    return found


def _single(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def _cell(row: Any, at: int, name: str) -> Any:
    cells: Sequence[Any] = row if isinstance(row, (list, tuple)) else [row]
    if not 0 <= at < len(cells):
        raise DataError(f"predictor.{name}: no position {at} in the model's answer {quote(row)}")
    return cells[at]
