"""The data of a configuration: features, label and predictions, by name, index or JMESPath."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fairgauge.compat import whole_tables
from fairgauge.compat.columns import Column, from_values
from fairgauge.compat.uri_paths import STANDARD_INPUT
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairgauge.compat.clarify.clarify_config import AnalysisConfig

WRONG_HEADERS = "Headers in config do not match with the number of columns in the dataset."
PREDICTED = "predicted_label"


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """The table of a job.

    Attributes
    ----------
    source : where it came from.
    columns : all columns but the join key, in order.
    label, predicted : names of the label and of the predictions, if any.
    notices : what a reader should know of how it was read.
    outside : names of columns that are kept apart from the model's features.
    facets : names of the columns of the facets' own file.
    """

    source: str
    columns: tuple[Column, ...]
    label: str | None
    predicted: str | None
    notices: list[str] = field(default_factory=list)
    outside: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.name for column in self.columns]

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Column:
        """Return a column by its name."""
        return self.columns[self.names.index(name)]

    def find(self, asked: str | int) -> str | None:
        """Return the name that a name or index stands for, if there is such a column."""
        return find(self.names, asked)

    def find_facet(self, asked: str | int) -> str | None:
        """Return the name of a facet; an index counts in the facets' own file, if there is one."""
        return find(self.facets or self.names, asked) or self.find(asked)

    def adding(self, column: Column) -> Dataset:
        """Return the table with predictions of a model."""
        return replace(self, columns=(*self.columns, column), predicted=column.name)

    def features(self, but: set[str | None]) -> list[Column]:
        """Return the features: no label, no predictions, nothing kept apart, none of ``but``."""
        left_out = {self.label, self.predicted, *self.outside, *but}
        return [column for column in self.columns if column.name not in left_out]


def read_dataset(config: AnalysisConfig, files: list[Path], limit: int) -> Dataset:
    """Read features, label and predictions.

    Raises
    ------
    DataError
        The data cannot be read, or do not fit the headers.
    """
    kind = config.dataset_type
    if kind == "text/csv":
        by_name = [config.label, config.predicted_label, config.group_variable]
        by_name += [facet.name_or_index for facet in config.facet or []]
        columns, notices = read_csv(files, config.headers, by_name, limit)
        names = [column.name for column in columns]
        label = None if config.label is None else find(names, config.label)
        predicted = None if config.predicted_label is None else find(names, config.predicted_label)
        return Dataset(_shown(files), tuple(columns), label, predicted, notices)
    if kind.endswith("parquet"):
        columns = whole_tables.parquet_columns(files, limit)
        columns = _renamed(columns, config.headers)
        names = [column.name for column in columns]
        label = find(names, config.label) if config.label is not None else None
        predicted = find(names, config.predicted_label) if config.predicted_label else None
        return Dataset(_shown(files), tuple(columns), label, predicted)
    return _json(config, files, limit)


def _shown(files: Sequence[Path]) -> str:
    if len(files) > 1:
        return f"{len(files)} files of {files[0].parent}"
    return "standard input" if str(files[0]) == STANDARD_INPUT else str(files[0])


def read_csv(
    files: Sequence[Path], headers: list[str] | None, asked: Sequence[str | int | None], limit: int
) -> tuple[list[Column], list[str]]:
    """Read CSV files; say how their header was found.

    Raises
    ------
    DataError
        A file cannot be read, or the headers do not fit.
    """
    parts = []
    notices: list[str] = []
    for path in files:
        rows = whole_tables.csv_rows(path, limit)
        first = rows[0]
        if headers is not None:
            names, body = headers, rows[1:] if first == headers else rows
        elif _is_header(first, asked):
            names, body = first, rows[1:]
        else:
            names, body = [f"column_{i}" for i in range(len(first))], rows
            notices = [f"no headers in the configuration and none in {path.name}: column_0 ..."]
        if len(names) != len(first):
            raise DataError(
                f"headers: {WRONG_HEADERS} {len(names)} names, but {quote(path)} has "
                f"{len(first)} columns"
            )
        parts.append(whole_tables.csv_columns(names, body))
    return whole_tables.stack(parts), notices


def _is_header(first: Sequence[str], asked: Sequence[str | int | None]) -> bool:
    """Tell a header from data: a column is asked for by name, or no cell is a number."""
    by_name = any(isinstance(each, str) for each in asked)
    return by_name or not any(_is_number(cell) for cell in first)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _renamed(columns: list[Column], headers: list[str] | None) -> list[Column]:
    if headers is None:
        return columns
    if len(headers) != len(columns):
        raise DataError(
            f"headers: {WRONG_HEADERS} {len(headers)} names, but {len(columns)} columns"
        )
    return [
        Column(name, c.kind, c.codes, c.levels) for name, c in zip(headers, columns, strict=True)
    ]


def _json(config: AnalysisConfig, files: list[Path], limit: int) -> Dataset:
    assert config.features is not None
    lines = config.dataset_type == "application/jsonlines"
    parts = [(_lines if lines else _document)(config, path, limit) for path in files]
    features = whole_tables.stack([part[0] for part in parts])
    more = {
        key: [value for part in parts for value in part[1][key]]
        for key in ("label", PREDICTED)
        if parts[0][1][key] is not None
    }
    names = _json_names(config, len(features), list(more))
    columns = [
        Column(name, c.kind, c.codes, c.levels) for name, c in zip(names, features, strict=False)
    ]
    columns += [
        from_values(name, values)
        for name, values in zip(names[len(features) :], more.values(), strict=True)
    ]
    roles = dict(zip(more, names[len(features) :], strict=True))
    return Dataset(_shown(files), tuple(columns), roles.get("label"), roles.get(PREDICTED))


def _json_names(config: AnalysisConfig, features: int, more: list[str]) -> list[str]:
    """Name the features, the label and the predictions, in that order."""
    count = features + len(more)
    if config.headers is None:
        return [*(f"column_{i}" for i in range(features)), *more]
    if len(config.headers) == count:
        return config.headers
    wanted = " + ".join([f"{features} features", *more])
    raise DataError(
        f"headers: {WRONG_HEADERS} {len(config.headers)} names, but the data have {wanted}"
    )


_Rows = tuple[list[Column], dict[str, Any]]


def _lines(config: AnalysisConfig, path: Path, limit: int) -> _Rows:
    """Take features and labels out of every line."""
    records = list(whole_tables.json_lines(path, limit))
    paths = {"label": config.label, PREDICTED: config.predicted_label}
    features = whole_tables.search(str(config.features), "features")
    rows = []
    for number, record in enumerate(records, start=1):
        found = features.search(record)
        if not isinstance(found, list):
            where = f"{quote(path)} line {number:,}"
            raise DataError(f"features: {quote(config.features)} is no list in {where}")
        rows.append(found)
    more: dict[str, Any] = dict.fromkeys(paths)
    for key, each in paths.items():
        if isinstance(each, str):
            compiled = whole_tables.search(each, key)
            more[key] = _known([compiled.search(record) for record in records], key, each, path)
    return _matrix(rows, path), more


def _document(config: AnalysisConfig, path: Path, limit: int) -> _Rows:
    """Take features and labels out of one document."""
    document = whole_tables.json_document(path)
    rows = whole_tables.search(str(config.features), "features").search(document)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        what = f"{quote(config.features)} is no list of lists in {quote(path)}"
        raise DataError(f"features: {what}. Data must contain features.")
    more: dict[str, Any] = {"label": None, PREDICTED: None}
    for key, each in (("label", config.label), (PREDICTED, config.predicted_label)):
        if not isinstance(each, str):
            continue
        values = whole_tables.search(each, key).search(document)
        if not isinstance(values, list) or len(values) != len(rows):
            count = f"{len(values)} values" if isinstance(values, list) else "no list"
            raise DataError(
                f"{key}: {quote(each)} gives {count} in {quote(path)}, but there are "
                f"{len(rows)} rows of features"
            )
        more[key] = _known(values, key, each, path)[:limit]
    return _matrix(rows[:limit], path), more


def _known(values: list[Any], key: str, asked: str, path: Path) -> list[Any]:
    if values and all(value is None for value in values):
        raise DataError(f"{key}: {quote(asked)} finds nothing in {quote(path)}")
    return values


def _matrix(rows: list[list[Any]], path: Path) -> list[Column]:
    width = len(rows[0]) if rows else 0
    if not width:
        raise DataError(f"{quote(path)}: Data must contain features.")
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            message = f"row {number:,} has {len(row)} features, the first {width}"
            raise DataError(f"{quote(path)} is ragged: {message}")
    return whole_tables.matrix_columns([f"column_{i}" for i in range(width)], rows)


def find(names: Sequence[str], asked: str | int | None) -> str | None:
    """Return the name that a name or index stands for, if there is such a column."""
    if isinstance(asked, int):
        return names[asked] if 0 <= asked < len(names) else None
    return asked if asked in names else None
