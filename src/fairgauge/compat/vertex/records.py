"""Data sets and batch predictions: nested records by dotted names, scores by class."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.compat import whole_tables
from fairgauge.compat.columns import Column, from_values
from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairgauge.compat.vertex.vertex_config import Parameters

INSTANCE, PREDICTION = "instance", "prediction"
_CLASS_KEYS = ("value", "class", "label", "displayName", "display_name")
_SCORE_KEYS = ("score", "scores", "prob", "confidence", "probability")
_SHOWN = 8


class Records:
    """Rows of a data set or of predictions."""

    def __init__(self, source: str, columns: dict[str, Column] | None, rows: list[Any]) -> None:
        self.source = source
        self._columns = columns
        self._rows = rows

    def __len__(self) -> int:
        if self._columns is not None:
            return len(next(iter(self._columns.values())))
        return len(self._rows)

    def column(self, name: str, path: str) -> Column:
        """Return a column by its dotted name, under ``instance`` by default.

        Raises
        ------
        SpecError
            No row has it.
        """
        if self._columns is not None:
            if name in self._columns:
                return self._columns[name]
            raise SpecError(Problem(path, self._absent(name, list(self._columns))))
        values = [_lookup(row, name) for row in self._rows]
        if all(value is None for value in values):
            raise SpecError(Problem(path, self._absent(name, _names(self._rows))))
        return from_values(name, (_plain(value) for value in values))

    def has(self, name: str) -> bool:
        """Tell whether there is a column of a name."""
        if self._columns is not None:
            return name in self._columns
        return any(_lookup(row, name) is not None for row in self._rows)

    def raw(self, name: str) -> list[Any]:
        """Return the values of a field, whatever they are."""
        if self._columns is not None:
            column = self._columns[name]
            cells = [*column.levels, None]
            return [cells[code] for code in column.codes.tolist()]
        return [_lookup(row, name) for row in self._rows]

    def _absent(self, name: str, known: Sequence[str]) -> str:
        hint = nearest(name, known)
        return (
            f"no field {quote(name)} in {quote(self.source)}.{hint} It has {listing(known, _SHOWN)}"
        )


@dataclass(frozen=True, slots=True)
class Scored:
    """What a model said of every row: the score of each class."""

    scores: list[dict[str, float] | None]

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


def scores_of(records: Records, asked: Parameters) -> Scored:
    """Find the scores of every class in predictions.

    Raises
    ------
    DataError
        There are none, or they have another form.
    """
    target = asked.target_field_name.rpartition(".")[2]
    names = (PREDICTION, f"predicted_{target}", "predicted_label", "predicted")
    name = next((name for name in names if records.has(name)), None)
    if name is None:
        raise DataError(f"{quote(records.source)} holds no predictions: no field {listing(names)}")
    found = [_scores(value, records.source, row) for row, value in enumerate(records.raw(name), 1)]
    return Scored(found)


def _scores(value: Any, source: str, row: int) -> dict[str, float] | None:
    """Read ``{"classes": [...], "scores": [...]}``, a list of classes with scores, or a class."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return {value: 1.0}
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
            return {_text(_first(each, _CLASS_KEYS)): _score(each) for each in value}
    except (KeyError, TypeError, ValueError, AttributeError):
        message = f"{quote(source)} row {row:,}: cannot read the prediction {quote(value)}"
        raise DataError(
            f'{message}; it must be {{"classes": [...], "scores": [...]}}, with as many of each'
        ) from None
    return {_text(value): 1.0}


def _first(found: dict[str, Any], keys: Sequence[str]) -> Any:
    return next(found[key] for key in keys if key in found)


def _score(found: dict[str, Any]) -> float:
    nested = found.get("tables", found)
    return float(_first(nested, _SCORE_KEYS))


def _lines(files: Sequence[Path]) -> Records:
    rows: list[Any] = []
    for path in files:
        for record in whole_tables.json_lines(path):
            if not isinstance(record, dict):
                raise DataError(f"{quote(path)} must hold an object a line, not {quote(record)}")
            rows.append(record)
    if not rows:
        raise DataError(f"{quote(files[0])} is empty")
    return Records(str(files[0]), None, rows)


def _table(files: Sequence[Path], columns: Sequence[str]) -> Records:
    parts = []
    for path in files:
        rows = whole_tables.csv_rows(path)
        names, body = (list(columns), rows) if columns else (rows[0], rows[1:])
        if len(names) != len(rows[0]):
            message = f"names {len(names)} columns, but {quote(path)} has {len(rows[0])}"
            raise SpecError(Problem("columns", message))
        parts.append(whole_tables.csv_columns(names, body))
    made = {column.name: column for column in whole_tables.stack(parts)}
    return Records(str(files[0]), made, [])


def _parquet(files: Sequence[Path]) -> Records:
    made = {column.name: column for column in whole_tables.parquet_columns(files)}
    return Records(str(files[0]), made, [])


def _lookup(row: Any, name: str) -> Any:
    """Return a field by its dotted name: under ``instance``, else from the top."""
    for start in (row.get(INSTANCE), row):
        if isinstance(start, dict):
            if name in start:
                return start[name]
            found: Any = start
            for part in name.split("."):
                found = found.get(part) if isinstance(found, dict) else None
            if found is not None:
                return found
    return None


def _plain(value: Any) -> Any:
    """Return a value as one cell; a list of one is its element."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _names(rows: Sequence[Any]) -> list[str]:
    found: dict[str, None] = {}
    for row in rows[:100]:
        inside = row.get(INSTANCE)
        found |= dict.fromkeys(inside if isinstance(inside, dict) else row)
    return list(found)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
