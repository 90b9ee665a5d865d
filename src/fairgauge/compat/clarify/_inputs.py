"""Everything that a configuration names, as one table; every column that is not there, at once.

A line of captured traffic (``application/sagemakercapturejson``) holds one request of an endpoint
or a batch transform, with its answer. Its data are text in one of three encodings: ``CSV``,
``JSON``, or ``BASE64`` of either.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairgauge.compat._coded_column import ColumnTable, from_values
from fairgauge.compat.clarify._predictor import JSON, LINES, Reading, answered
from fairgauge.compat.clarify.clarify_config import CAPTURED, AnalysisConfig
from fairgauge.compat.clarify.dataset import (
    PREDICTED,
    Dataset,
    FirstRow,
    find,
    read_csv,
    read_dataset,
    shown,
)
from fairgauge.compat.uri_paths import Places, json_lines, search
from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote, refuse
from fairgauge.scan.ordered_files import MISSING_TEXTS

NO_FACET = "Unable to locate the facet."
NO_LABEL = "Headers must contain label."


def load_dataset(
    config: AnalysisConfig,
    places: Places,
    dataset: str | None,
    first_row: FirstRow = FirstRow.AUTO,
) -> Dataset:
    """Read and join everything that a configuration names.

    Parameters
    ----------
    dataset : str, optional
        The data, in the place of ``dataset_uri``; relative to the current folder.
    first_row : FirstRow
        Whether the first row of CSV files is a header.

    Raises
    ------
    SpecError
        Columns that the data do not have; each with its path.
    DataError
        Data that cannot be read, or do not fit together.
    """
    if dataset is None:
        files = places.files(config.dataset_uri or "")
    else:
        files = places.here.files(dataset)
    if config.dataset_type == CAPTURED:
        main = read_captured(config, files)
    else:
        main = read_dataset(config, files, first_row)
    made = joined(config, places, main, len(files), first_row)
    _check_columns(config, made)
    made.table.columns(_used(config, made))
    if not made.rows:
        raise DataError(f"{quote(made.source)} holds no rows")
    return made


def _used(config: AnalysisConfig, made: Dataset) -> list[str]:
    """Return the columns that every job needs, so that they are read in one pass."""
    asked = [made.find_facet(facet.name_or_index) for facet in config.facet or []]
    asked += [made.find(segment.name_or_index) for segment in config.segment_config or []]
    if config.group_variable is not None:
        asked.append(made.find(config.group_variable))
    return [name for name in (made.label, made.predicted, *asked) if name is not None]


def _check_columns(config: AnalysisConfig, made: Dataset) -> None:
    """Hold every name and index against the columns."""
    problems = []

    def absent(path: str, asked: str | int, text: str = "") -> None:
        hint = nearest(asked, made.names)
        where = f"no column {quote(asked)} in the data.{hint} It has {listing(made.names)}"
        problems.append(Problem(path, f"{text} {where}".strip()))

    if made.label is None and config.label is not None:
        absent("label", config.label, NO_LABEL)
    apart = config.predicted_label_dataset_uri is not None
    if made.predicted is None and config.predicted_label is not None and not apart:
        absent(PREDICTED, config.predicted_label)
    for i, facet in enumerate(config.facet or []):
        if made.find_facet(facet.name_or_index) is None:
            absent(f"facet[{i}].name_or_index", facet.name_or_index, NO_FACET)
    if config.group_variable is not None and made.find(config.group_variable) is None:
        absent("group_variable", config.group_variable)
    for i, name in enumerate(config.excluded_columns):
        if made.find(name) is None:
            absent(f"excluded_columns[{i}]", name)
    for i, segment in enumerate(config.segment_config or []):
        if made.find(segment.name_or_index) is None:
            absent(f"segment_config[{i}].name_or_index", segment.name_or_index)
    refuse(problems)


def joined(
    config: AnalysisConfig,
    places: Places,
    main: Dataset,
    files: int,
    first_row: FirstRow,
) -> Dataset:
    """Put facets and predictions that are kept apart beside the data.

    Raises
    ------
    SpecError
        Several files without a key, or a key or prediction column that is not there.
    DataError
        Files that do not fit together.
    """
    key = config.joinsource_name_or_index
    made = main
    apart = [config.facet_dataset_uri, config.predicted_label_dataset_uri]
    counts = [files, *(len(places.files(uri)) for uri in apart if uri is not None)]
    if key is None and len(counts) > 1 and max(counts) > 1:
        message = "is required to join data of several files"
        raise SpecError(Problem("joinsource_name_or_index", message))
    for role, uri, headers in (
        ("facet", config.facet_dataset_uri, config.facet_headers),
        (PREDICTED, config.predicted_label_dataset_uri, config.predicted_label_headers),
    ):
        if uri is None:
            continue
        found = places.files(uri)
        asked = [f.name_or_index for f in config.facet or []] if role == "facet" else []
        if role == PREDICTED and config.predicted_label is not None:
            asked = [config.predicted_label]
        side, notices = read_csv(found, headers, [*asked, key], first_row)
        made.notices.extend(notices)
        made = _beside(made, side, key, uri)
        if role == PREDICTED:
            made = _with_predicted(config, made, side, key)
        else:
            made = replace(made, facets=tuple(side.names))
    return made if key is None else _without(made, key)


def _beside(main: Dataset, side: ColumnTable, key: str | int | None, uri: str) -> Dataset:
    if key is None:
        if side.rows != main.rows:
            raise DataError(
                f"{quote(uri)} has {side.rows:,} rows and the data {main.rows:,}; rows are matched "
                "one by one without joinsource_name_or_index"
            )
        table, others = main.table, side
    else:
        table, others = _by_key(main, side, key, uri)
    twice = [name for name in others.names if name in main.names]
    if twice:
        raise DataError(f"the column {quote(twice[0])} of {quote(uri)} is also in the data")
    outside = (*main.outside, *others.names)
    return replace(main, table=table.beside(others), outside=outside)


def _by_key(
    main: Dataset, side: ColumnTable, key: str | int, uri: str
) -> tuple[ColumnTable, ColumnTable]:
    """Keep the rows whose key both have, in the order of the data.

    An index is one of the data; the other file may have the key elsewhere, under the same name.
    """
    mine = find(main.names, key)
    theirs = find(side.names, mine) or find(side.names, key)
    for found, where in ((mine, main.source), (theirs, uri)):
        if found is None:
            message = f"no column {quote(key)} in {quote(where)}"
            raise SpecError(Problem("joinsource_name_or_index", message))
    assert mine is not None
    assert theirs is not None
    other = side.column(theirs)
    place: dict[str, int] = {}
    for row, code in enumerate(other.codes.tolist()):
        text = str(other.levels[code]) if code >= 0 else ""
        if text in place:
            raise DataError(f"the join key {quote(text)} stands twice in {quote(uri)}")
        place[text] = row
    column = main.column(mine)
    wanted = np.array([place.get(str(level), -1) for level in column.levels] + [-1])[column.codes]
    kept = wanted >= 0
    if not kept.any():
        raise DataError(f"no join key of {quote(uri)} is in the data")
    if not kept.all():
        main.notices.append(f"{int((~kept).sum()):,} rows without a match in {uri} are excluded")
    return main.table.take(kept), side.without(theirs).take(wanted[kept])


def _with_predicted(
    config: AnalysisConfig, made: Dataset, side: ColumnTable, key: str | int | None
) -> Dataset:
    """Find the predictions in their own file: by name or index, or its only column."""
    known = find(side.names, made.find(key)) or find(side.names, key) if key is not None else None
    rest = [name for name in side.names if name != known]
    asked = PREDICTED if config.predicted_label is None else config.predicted_label
    found = find(side.names, asked) or (rest[0] if len(rest) == 1 else None)
    if found is None:
        message = (
            f"no column {quote(asked)} in its file.{nearest(asked, rest)} It has {listing(rest)}"
        )
        raise SpecError(Problem("predicted_label", message))
    return replace(made, predicted=found)


def _without(made: Dataset, key: str | int) -> Dataset:
    name = made.find(key)
    if name is None or name in (made.label, made.predicted):
        what = "no column" if name is None else "not a key but the label or the prediction"
        message = f"{quote(key)} is {what} of the data"
        raise SpecError(Problem("joinsource_name_or_index", message))
    return replace(made, table=made.table.without(name))


LABEL = "label"
_INPUT, _OUTPUT = "Input", "Output"
_JOINED_INPUT, _JOINED_OUTPUT = "SageMakerInput", "SageMakerOutput"
"""How a batch transform calls an input that is no object, and the output, where it joins them."""


def read_captured(config: AnalysisConfig, files: Sequence[Path]) -> Dataset:
    """Read features, predictions and, where it was merged, ground truth of captured traffic.

    Predictions are read as those of a model: by ``predictor.label``, ``predictor.probability`` and
    ``probability_threshold``, which a monitor calls InferenceAttribute, ProbabilityAttribute and
    ProbabilityThresholdAttribute; features by ``features`` (FeaturesAttribute) and ground truth by
    ``label`` where they are JSON.

    Raises
    ------
    DataError
        A line has another form, or does not hold an answer for every row of features.
    SpecError
        Headers that do not fit.
    """
    features: list[Sequence[object]] = []
    answers: list[tuple[object, int]] = []
    truths: list[object] = []
    for path in files:
        for number, record in enumerate(json_lines(path), start=1):
            where = f"{quote(path)} line {number:,}"
            request, answer = _exchange(config, record, where)
            rows = _features(config, request, where)
            replies = _answers(answer, len(rows))
            truth = _truth(config, record, where, len(rows))
            for part, name in ((replies, "answers"), (truth, "labels")):
                if isinstance(part, list) and len(part) != len(rows):
                    counts = f"{len(rows)} rows of features and {len(part)} {name}"
                    raise DataError(f"{where} holds {counts}")
            features += rows
            answers.append((replies, len(rows)))
            truths += truth
    names, label = _names(config, features, files)
    cells = zip(*features, strict=True)
    columns = [from_values(n, _typed(values)) for n, values in zip(names, cells, strict=True)]
    if any(truth is not None for truth in truths):
        columns.append(from_values(label, _typed(truths)))
    has_label = len(columns) > len(names)
    table = ColumnTable.of_columns(columns)
    made = Dataset(shown(files), table, label if has_label else None, None)
    return _with_answers(config, made, answers)


def _with_answers(
    config: AnalysisConfig, made: Dataset, answers: Sequence[tuple[object, int]]
) -> Dataset:
    """Add a label for every row: of rows of answers, or of documents that answer several."""
    of_rows = Reading(config, made, accept_type=LINES)
    of_documents = Reading(config, made, accept_type=JSON)
    found: list[object] = []
    for answer, rows in answers:
        reading = of_rows if isinstance(answer, list) else of_documents
        found += [None] * rows if answer is None else reading.labels(answer, rows)
    return made.adding(answered(made, found, [*of_rows.outside, *of_documents.outside]))


class _CsvRows(list[list[str]]):
    """The cells of CSV text."""


class _JsonLines(list[object]):
    """The values of several lines of JSON."""


def _exchange(config: AnalysisConfig, record: object, where: str) -> tuple[object, object]:
    """Return what was sent and what was answered.

    A batch transform that joins its input to its output captures the output alone.
    """
    captured = record.get("captureData") if isinstance(record, dict) else None
    if not isinstance(captured, dict):
        raise DataError(f"{where} is no captured request: it has no captureData")
    sides = {side: _part(captured, side) for side in (_INPUT, _OUTPUT)}
    if sides[_OUTPUT] is None:
        raise DataError(f"{where} is no captured request: captureData holds no ...{_OUTPUT}")
    answer = _content(sides[_OUTPUT], where)
    if sides[_INPUT] is not None:
        return _content(sides[_INPUT], where), answer
    return _taken_apart(config, answer, where)


def _part(captured: dict[str, object], side: str) -> object:
    """Return ``endpointInput``, ``batchTransformOutput`` ..., None if there is none."""
    return next((part for key, part in captured.items() if key.endswith(side)), None)


def _taken_apart(config: AnalysisConfig, joined: object, where: str) -> tuple[object, object]:
    """Return the input and the output of a batch transform that joined them."""
    if isinstance(joined, _JsonLines):
        pairs = [_document_taken_apart(each, where) for each in joined]
        return _JsonLines(pair[0] for pair in pairs), _JsonLines(pair[1] for pair in pairs)
    if not isinstance(joined, _CsvRows):
        return _document_taken_apart(joined, where)
    if config.headers is None:
        message = "are required: a joined batch transform has features and answers in one row"
        raise SpecError(Problem("headers", message))
    width = len([name for name in config.headers if name != config.label])
    predictor = config.predictor
    asked = [predictor.label, predictor.probability] if predictor else []
    last = max((place for place in asked if isinstance(place, int)), default=0)
    answers = _CsvRows(row[width:] for row in joined)
    if any(len(row) <= last for row in answers):  # a position in the whole row
        answers = joined
    return _CsvRows(row[:width] for row in joined), answers


def _document_taken_apart(joined: object, where: str) -> tuple[object, object]:
    if not isinstance(joined, dict) or _JOINED_OUTPUT not in joined:
        raise DataError(
            f"{where} holds no input, and no {_JOINED_OUTPUT} beside it: transform with "
            "join_source='Input'"
        )
    others = {key: value for key, value in joined.items() if key != _JOINED_OUTPUT}
    return joined.get(_JOINED_INPUT, others), joined[_JOINED_OUTPUT]


def _features(config: AnalysisConfig, request: object, where: str) -> Sequence[Sequence[object]]:
    if isinstance(request, _CsvRows):
        return request
    if request is None:
        raise DataError(f"{where} holds no features")
    if config.features is None:
        message = "is required: the request is JSON. It is the JMESPath to the features"
        raise SpecError(Problem("features", message))
    path = search(config.features, "features")
    found = (
        [path.search(each) for each in request]
        if isinstance(request, _JsonLines)
        else (path.search(request))
    )
    rows = [row for row in found if isinstance(row, list)] if isinstance(found, list) else []
    if not isinstance(found, list) or not found or 0 < len(rows) < len(found):
        raise DataError(f"features: {quote(config.features)} finds no list in {where}")
    return rows or [found]


def _answers(answer: object, rows: int) -> object:
    """Return an answer for every row, or a document; a line of numbers may hold one for each.

    None where there is no answer.
    """
    if answer is None:
        return None
    if isinstance(answer, _CsvRows):
        cells: list[list[object]] = [[_typed([cell])[0] for cell in row] for row in answer]
        return [[cell] for cell in cells[0]] if len(cells) == 1 and rows == len(cells[0]) else cells
    if isinstance(answer, (_JsonLines, dict)):
        return answer
    return answer if isinstance(answer, list) and len(answer) == rows else [answer]


def _truth(config: AnalysisConfig, record: object, where: str, rows: int) -> list[object]:
    part = record.get("groundTruthData") if isinstance(record, dict) else None
    if part is None:
        return [None] * rows
    found = _content(part, where)
    if found is None:
        return [None] * rows
    if isinstance(found, _CsvRows):
        return [row[0] for row in found] if len(found) == rows else list(found[0])
    every = found if isinstance(found, _JsonLines) else [found]
    labels = [label for each in every for label in _labels(config, each)]
    if any(isinstance(label, (dict, list)) for label in labels):
        raise DataError(f"{where}: {quote(config.label)} finds no label in groundTruthData")
    return labels


def _labels(config: AnalysisConfig, found: object) -> list[object]:
    """Return the labels of a JSON value: it is one, a list of some, or an object that has them."""
    if isinstance(config.label, str) and _has_objects(found):
        labels = search(config.label, "label").search(found)
        found = found if labels is None else labels
    return found if isinstance(found, list) else [found]


def _has_objects(found: object) -> bool:
    return isinstance(found[0] if isinstance(found, list) and found else found, dict)


def _content(part: Any, where: str) -> object:
    """Decode data: rows of cells from CSV, a value from JSON, values from JSON lines.

    None where there are none: an empty text, as of a label or an answer that is not known.
    """
    try:
        data, encoding = part["data"], part.get("encoding", "CSV").upper()
        kind = str(part.get("observedContentType") or "text/csv").lower()
        if data is None:
            return None
        if encoding == "BASE64":
            data = base64.b64decode(data, validate=True).decode("utf-8")
            is_json = "json" in kind or data.lstrip()[:1] in ("{", "[")
            encoding = "JSON" if is_json else "CSV"
        if not data.strip():
            return None
        if encoding == "JSON":
            lines = [line for line in data.splitlines() if line.strip()]
            if "jsonlines" in kind and len(lines) > 1:
                return _JsonLines(json.loads(line) for line in lines)
            return json.loads(data)
        if encoding == "CSV":
            return _CsvRows(row for row in csv.reader(io.StringIO(data), strict=True) if row)
    except (KeyError, TypeError, AttributeError, ValueError, csv.Error, binascii.Error) as error:
        raise DataError(f"{where}: the data cannot be decoded: {error!r}") from None
    raise DataError(f"{where}: encoding {quote(encoding)} is not CSV, JSON or BASE64")


def _names(
    config: AnalysisConfig, features: Sequence[Sequence[object]], files: Sequence[Path]
) -> tuple[list[str], str]:
    """Name the features by the headers, and the label.

    The headers may hold the label: under its name, or last where ``label`` is a JMESPath.
    """
    label = str(config.label) if isinstance(config.label, str) else LABEL
    if not features:
        raise DataError(f"{quote(shown(files))} is empty")
    width = len(features[0])
    ragged = next((i for i, row in enumerate(features, start=1) if len(row) != width), None)
    if ragged:
        what = f"row {ragged:,} has {len(features[ragged - 1])} features, the first {width}"
        raise DataError(f"{quote(shown(files))} is ragged: {what}")
    if config.headers is None:
        return [f"column_{i}" for i in range(width)], label
    names = [name for name in config.headers if name != config.label]
    if len(names) == width + 1 == len(config.headers):
        names, label = names[:-1], names[-1]
    if len(names) != width:
        message = f"names {len(names)} features, but {quote(shown(files))} holds {width}"
        raise SpecError(Problem("headers", message))
    return names, label


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
