"""Data sets and batch predictions: nested records by dotted names, scores by class."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.compat._coded_column import CodedColumn, ColumnTable, as_float, from_values
from fairgauge.compat.uri_paths import json_lines
from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote
from fairgauge.scan.ordered_files import first_rows, local_copy, ordered_csv, ordered_parquet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairgauge.compat.vertex.vertex_config import Parameters

INSTANCE, PREDICTION = "instance", "prediction"
_CLASS_KEYS = ("value", "class", "label", "displayName", "display_name")
_SCORE_KEYS = ("score", "scores", "prob", "confidence", "probability")
_SHOWN = 8


class Records:
    """Rows of a data set or of predictions."""

    def __init__(
        self, source: str, table: ColumnTable | None, rows: list[dict[str, object]]
    ) -> None:
        self.source = source
        self._table = table
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows) if self._table is None else self._table.rows

    def column(self, name: str, path: str) -> CodedColumn:
        """Return a column by its dotted name, under ``instance`` by default."""
        if self._table is not None:
            if name in self._table.names:
                return self._table.column(name)
            raise SpecError(Problem(path, self._absent(name, self._table.names)))
        values = [_lookup(row, name) for row in self._rows]
        if all(value is None for value in values):
            raise SpecError(Problem(path, self._absent(name, _names(self._rows))))
        return from_values(name, (_plain(value) for value in values))

    def has(self, name: str) -> bool:
        """Return whether there is a column of a name."""
        if self._table is not None:
            return name in self._table.names
        return any(_lookup(row, name) is not None for row in self._rows)

    def raw(self, name: str) -> list[object]:
        """Return the values of a field, whatever they are."""
        if self._table is not None:
            return self._table.column(name).cells()
        return [_lookup(row, name) for row in self._rows]

    def _absent(self, name: str, known: Sequence[str]) -> str:
        hint = nearest(name, known)
        return (
            f"no field {quote(name)} in {quote(self.source)}.{hint} It has {listing(known, _SHOWN)}"
        )


@dataclass(frozen=True, slots=True)
class ClassScores:
    """What a model predicted for every row: the score of each class."""

    scores: list[dict[str, float] | None]
    are_classes: bool = False
    """Whether the predictions are classes without scores, which no threshold can change."""

    def of(self, classes: Sequence[str]) -> list[float | None]:
        """Return the summed score of some classes, None where nothing was predicted."""
        return [
            None if row is None else sum(row.get(name, 0.0) for name in classes)
            for row in self.scores
        ]

    def best(self) -> list[str | None]:
        """Return the class of the largest score of every row."""
        return [None if not row else max(row, key=lambda name: row[name]) for row in self.scores]


def read_data(files: Sequence[Path], form: str, columns: Sequence[str]) -> Records:
    """Read a data set.

    Raises
    ------
    DataError
        It cannot be read.
    """
    if form == "csv":
        return _table(files, columns)
    return _lines(files)


def read_predictions(files: Sequence[Path], form: str) -> Records:
    """Read batch predictions: JSON lines, or what BigQuery exports.

    Raises
    ------
    DataError
        They cannot be read.
    """
    results = [path for path in files if path.name.startswith("prediction.results")]
    files = results or list(files)
    suffix = files[0].suffix.lower()
    if form == "parquet" or suffix in (".parquet", ".pq"):
        return _parquet(files)
    if form in ("csv", "bigquery") and suffix not in (".jsonl", ".json"):
        return _table(files, ())
    return _lines(files)


def scores_of(records: Records, asked: Parameters) -> ClassScores:
    """Find the scores of every class in predictions."""
    target = asked.target_field_name.rpartition(".")[2]
    predicted = (f"predicted_{target}", "predicted_label", "predicted")
    names = (PREDICTION, *(f"{name}_probs" for name in predicted), *predicted)
    name = next((name for name in names if records.has(name)), None)
    if name is None:
        raise DataError(f"{quote(records.source)} holds no predictions: no field {listing(names)}")
    values = records.raw(name)
    found = [_scores(value, records.source, row) for row, value in enumerate(values, 1)]
    plain = [value for value, scores in zip(values, found, strict=True) if scores is not None]
    alone = [_is_class(value) for value in plain]
    return ClassScores(found, are_classes=bool(alone) and all(alone))


def _is_class(value: object) -> bool:
    """Return whether a prediction is a class, not a structure of scores."""
    if isinstance(value, str):
        return value.lstrip()[:1] not in ("{", "[")
    return not isinstance(value, (dict, list))


def _scores(value: object, source: str, row: int) -> dict[str, float] | None:
    """Read ``{"classes": [...], "scores": [...]}``, a list of classes with scores, or a class."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
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
                return {
                    _text(name): float(score) for name, score in zip(classes, scores, strict=True)
                }
            value = [value]
        if isinstance(value, list):
            parts = [each.get("tables", each) for each in value]
            return {_text(_first(p, _CLASS_KEYS)): as_float(_first(p, _SCORE_KEYS)) for p in parts}
    except (KeyError, TypeError, ValueError, AttributeError):
        message = f"{quote(source)} row {row:,}: cannot read the prediction {quote(value)}"
        raise DataError(
            f'{message}; it must be {{"classes": [...], "scores": [...]}}, with as many of each'
        ) from None
    return {_text(value): 1.0}


def _first(found: dict[str, object], keys: Sequence[str]) -> object:
    """Return the value of the first key that there is; KeyError for none."""
    return found[next((key for key in keys if key in found), keys[0])]


def _lines(files: Sequence[Path]) -> Records:
    rows: list[dict[str, object]] = []
    for path in files:
        for record in json_lines(path):
            if not isinstance(record, dict):
                raise DataError(f"{quote(path)} must hold an object a line, not {quote(record)}")
            rows.append(record)
    if not rows:
        raise DataError(f"{quote(files[0])} is empty")
    return Records(str(files[0]), None, rows)


def _table(files: Sequence[Path], columns: Sequence[str]) -> Records:
    local = [local_copy(path) for path in files]
    parts: list[tuple[Path, bool]] = []
    names = list(columns)
    for path, shown in zip(local, files, strict=True):
        (first,) = first_rows(path, 1)
        names = names or first
        if len(names) != len(first):
            message = f"names {len(names)} columns, but {quote(shown)} has {len(first)}"
            raise SpecError(Problem("columns", message))
        if not columns and first != names:
            raise DataError(
                f"the files have different columns: {listing(names)} in {quote(files[0])} and "
                f"{listing(first)} in {quote(shown)}"
            )
        parts.append((path, first == names))
    source = ordered_csv(parts, len(names), ", ".join(map(str, files)))
    return Records(str(files[0]), ColumnTable.of_files(source, names), [])


def _parquet(files: Sequence[Path]) -> Records:
    source, names = ordered_parquet([local_copy(path) for path in files], str(files[0]))
    return Records(str(files[0]), ColumnTable.of_files(source, names), [])


def _lookup(row: Mapping[str, object], name: str) -> object:
    """Return a field by its dotted name: under ``instance``, else from the top."""
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


def _plain(value: object) -> object:
    """Return a value as one cell; a list of one is its element."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _names(rows: Sequence[Mapping[str, object]]) -> list[str]:
    found: dict[str, None] = {}
    for row in rows[:100]:
        inside = row.get(INSTANCE)
        found |= dict.fromkeys(inside if isinstance(inside, dict) else row)
    return list(found)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
