"""Captured traffic: requests and answers of an endpoint or a batch transform, with ground truth.

A line of such a file (``application/sagemakercapturejson``) holds one request. Its data are text in
one of three encodings: ``CSV``, ``JSON``, or ``BASE64`` of either.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
from typing import TYPE_CHECKING, Any

from fairgauge.compat.clarify.dataset import PREDICTED, Dataset, shown
from fairgauge.compat.clarify.predictor import Reading
from fairgauge.compat.columns import from_values
from fairgauge.compat.json_documents import json_lines, search
from fairgauge.compat.tables import ColumnTable
from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.scan.ordered_files import MISSING_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fairgauge.compat.clarify.clarify_config import AnalysisConfig

LABEL = "label"
_INPUT, _OUTPUT = "Input", "Output"


def read_captured(config: AnalysisConfig, files: Sequence[Path], limit: int) -> Dataset:
    """Read features, predictions and, where it was merged, ground truth of captured traffic.

    Predictions are read as those of a model: by ``predictor.label``, ``predictor.probability`` and
    ``probability_threshold``, which a monitor calls InferenceAttribute, ProbabilityAttribute and
    ProbabilityThresholdAttribute; features by ``features`` (FeaturesAttribute) where they are JSON.

    Raises
    ------
    DataError
        A line has another form, or does not hold an answer for every row of features.
    SpecError
        Headers that do not fit.
    """
    features: list[Sequence[object]] = []
    answers: list[object] = []
    truths: list[object] = []
    for path in files:
        for number, record in enumerate(json_lines(path, limit), start=1):
            where = f"{quote(path)} line {number:,}"
            rows = _features(config, record, where)
            replies = _answers(record, where, len(rows))
            truth = _truth(record, where, len(rows))
            for part, name in ((replies, "answers"), (truth, "labels")):
                if len(part) != len(rows):
                    counts = f"{len(rows)} rows of features and {len(part)} {name}"
                    raise DataError(f"{where} holds {counts}")
            features += rows
            answers += replies
            truths += truth
    names = _names(config, features, files)
    cells = zip(*features, strict=True)
    columns = [from_values(n, _typed(values)) for n, values in zip(names, cells, strict=True)]
    label = None
    if any(truth is not None for truth in truths):
        label = str(config.label) if isinstance(config.label, str) else LABEL
        columns.append(from_values(label, _typed(truths)))
    made = Dataset(shown(files), ColumnTable.of_columns(columns), label, None)
    predicted = Reading(config, made, each=True).labels(answers, len(answers))
    return made.adding(from_values(PREDICTED, predicted))


def _features(config: AnalysisConfig, record: object, where: str) -> Sequence[Sequence[object]]:
    found = _content(_part(record, _INPUT, where), where)
    if isinstance(found, _CsvRows):
        return found
    if config.features is None:
        message = "is required: the request is JSON. It is the JMESPath to the features"
        raise SpecError(Problem("features", message))
    values = search(config.features, "features").search(found)
    if not isinstance(values, list) or not values:
        raise DataError(f"features: {quote(config.features)} finds no list in {where}")
    return values if all(isinstance(value, list) for value in values) else [values]


def _answers(record: object, where: str, rows: int) -> Sequence[object]:
    """Return the answer for every row of a request; a line of numbers may hold one for each."""
    found = _content(_part(record, _OUTPUT, where), where)
    if isinstance(found, _CsvRows):
        cells: list[list[object]] = [[_number(cell) for cell in row] for row in found]
        return [[cell] for cell in cells[0]] if len(cells) == 1 and rows == len(cells[0]) else cells
    return found if isinstance(found, list) and len(found) == rows else [found]


def _truth(record: object, where: str, rows: int) -> list[object]:
    part = record.get("groundTruthData") if isinstance(record, dict) else None
    if part is None:
        return [None] * rows
    found = _content(part, where)
    if isinstance(found, _CsvRows):
        return [row[0] for row in found] if len(found) == rows else list(found[0])
    return found if isinstance(found, list) else [found]


class _CsvRows(list[list[str]]):
    """The cells of CSV text."""


def _part(record: object, side: str, where: str) -> object:
    """Return what was sent, or answered: ``endpointInput``, ``batchTransformOutput`` ..."""
    captured = record.get("captureData") if isinstance(record, dict) else None
    if isinstance(captured, dict):
        for key, part in captured.items():
            if key.endswith(side):
                return part
    raise DataError(f"{where} is no captured request: captureData holds no ...{side}")


def _content(part: Any, where: str) -> object:
    """Decode data: rows of cells from CSV, a value from JSON."""
    try:
        data, encoding = part["data"], part.get("encoding", "CSV").upper()
        kind = str(part.get("observedContentType") or "text/csv").lower()
        if encoding == "BASE64":
            data = base64.b64decode(data, validate=True).decode("utf-8")
            encoding = "JSON" if "json" in kind else "CSV"
        if encoding == "JSON":
            lines = [line for line in data.splitlines() if line.strip()]
            several = "jsonlines" in kind and len(lines) > 1
            return [json.loads(line) for line in lines] if several else json.loads(data)
        if encoding == "CSV":
            return _CsvRows(row for row in csv.reader(io.StringIO(data), strict=True) if row)
    except (KeyError, TypeError, AttributeError, ValueError, csv.Error, binascii.Error) as error:
        raise DataError(f"{where}: the data cannot be decoded: {error!r}") from None
    raise DataError(f"{where}: encoding {quote(encoding)} is not CSV, JSON or BASE64")


def _names(
    config: AnalysisConfig, features: Sequence[Sequence[object]], files: Sequence[Path]
) -> list[str]:
    """Name the features by the headers, which may or may not hold the label."""
    if not features:
        raise DataError(f"{quote(shown(files))} is empty")
    width = len(features[0])
    ragged = next((i for i, row in enumerate(features, start=1) if len(row) != width), None)
    if ragged:
        what = f"row {ragged:,} has {len(features[ragged - 1])} features, the first {width}"
        raise DataError(f"{quote(shown(files))} is ragged: {what}")
    if config.headers is None:
        return [f"column_{i}" for i in range(width)]
    names = [name for name in config.headers if name != config.label]
    if len(names) != width:
        message = f"names {len(names)} features, but {quote(shown(files))} holds {width}"
        raise SpecError(Problem("headers", message))
    return names


def _typed(cells: Sequence[object]) -> list[object]:
    """Type the texts of a column: whole numbers or numbers if all are, else text."""
    known = [None if cell in MISSING_TEXTS else cell for cell in cells]
    texts = [cell for cell in known if cell is None or isinstance(cell, str)]
    if len(texts) < len(known):
        return known
    readings: tuple[Callable[[str], float], ...] = (int, float)
    for read in readings:
        try:
            return [None if cell is None else read(cell) for cell in texts]
        except ValueError:
            continue
    return known


def _number(cell: str) -> object:
    return _typed([cell])[0]
