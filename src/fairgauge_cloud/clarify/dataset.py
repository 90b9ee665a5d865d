"""The data of a configuration: features, label and predictions, by name, index or JMESPath."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from fairgauge.errors import DataError, quote
from fairgauge_cloud._coded_column import CodedColumn, Table, from_values, rows_of
from fairgauge_cloud._files import (
    MISSING_TEXTS,
    STANDARD_INPUT,
    WRONG_HEADERS,
    CsvFile,
    check_same_names,
    find,
    json_document,
    json_lines,
    read_csv_files,
    read_parquet_files,
    search,
)
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig

_LOOK = 200
_FEWEST_NUMBERS = 2


class FirstRow(StrEnum):
    """What the first row of a CSV file is."""

    AUTO = "auto"
    HEADER = "header"
    DATA = "data"


def read_csv(
    files: Sequence[Path],
    headers: list[str] | None,
    asked: Sequence[str | int | None],
    first_row: FirstRow,
    more: Sequence[str | int | None] | None = None,
) -> tuple[list[str], Table, list[str]]:
    """Return the names of the columns of CSV files, the columns, and how a header was found."""
    notices: list[str] = []
    names: list[str] = []
    parts = []
    for path in files:
        file = CsvFile.open(path, _LOOK)
        rows = file.first
        is_header = _is_header(rows, headers, asked, first_row, path)
        found = headers or (rows[0] if is_header else [f"column_{i}" for i in range(len(rows[0]))])
        if headers is None and not is_header:
            notices = [f"no headers in the configuration and none in {path.name}: column_0 ..."]
        twice = [name for i, name in enumerate(found) if name in found[:i]]
        if twice:
            raise DataError(f"{quote(path)} has the column {quote(twice[0])} twice; rename one")
        if len(found) != len(rows[0]):
            raise DataError(
                f"headers: {WRONG_HEADERS} {len(found)} names, but {quote(path)} has "
                f"{len(rows[0])} columns; name every one of them, or leave headers out where the "
                "file has a header"
            )
        names = names or found
        check_same_names(names, found, files[0], path)
        parts.append((file, is_header))
    used = names if more is None else [find(names, each) for each in (*asked, *more)]
    return names, read_csv_files(parts, names, set(used)), notices


def _is_header(
    rows: list[list[str]],
    headers: list[str] | None,
    asked: Sequence[str | int | None],
    first_row: FirstRow,
    path: Path,
) -> bool:
    if first_row is not FirstRow.AUTO:
        return first_row is FirstRow.HEADER
    first = rows[0]
    if headers is None:  # a column is asked for by name, or no cell is a number
        by_name = any(isinstance(each, str) for each in asked)
        return by_name or not any(map(_is_number, first))
    if first == headers:
        return True
    if _looks_like_a_header(rows, headers):
        pairs = zip(first, headers, strict=False)
        other = [f"{quote(one)} for {quote(two)}" for one, two in pairs if one != two]
        raise DataError(
            f"headers: the first row of {quote(path)} looks like a header that is spelled "
            f"differently: {', '.join(other[:3])}. Correct headers, or state what the row is: "
            f"--first-row {FirstRow.HEADER} or --first-row {FirstRow.DATA}"
        )
    return False


def _looks_like_a_header(rows: list[list[str]], headers: list[str]) -> bool:
    """Return whether the first row is a header.

    Its cells differ from the headers in spelling alone, or none is a number and a column of numbers
    stands below one of them.
    """
    first, below = rows[0], rows[1:]
    if len(first) != len(headers):
        return False
    same = sum(_plain(one) == _plain(two) for one, two in zip(first, headers, strict=True))
    if 2 * same >= len(headers):
        return True
    if any(map(_is_number, first)) or set(first) & MISSING_TEXTS:
        return False
    columns = zip(*(row for row in below if len(row) == len(first)), strict=True)
    return any(_all_numbers(cells) for cells in columns)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _all_numbers(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell not in MISSING_TEXTS]
    return len(known) >= _FEWEST_NUMBERS and all(map(_is_number, known))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


PREDICTED = "predicted_label"


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """The table of a job.

    Attributes
    ----------
    source : where it came from.
    names : the names of all columns, in order.
    table : the columns that are read.
    label, predicted : names of the label and of the predictions, if any.
    notices : what a reader should know of how it was read.
    outside : names of columns that are kept apart from the model's features.
    facets : names of the columns of the facets' own file.
    """

    source: str
    names: list[str]
    table: Table
    label: str | None
    predicted: str | None
    notices: list[str] = field(default_factory=list)
    outside: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return rows_of(self.table)

    def column(self, name: str) -> CodedColumn:
        """Return a column by its name."""
        return self.table[name]

    def find(self, asked: str | int) -> str | None:
        """Return the name that a name or index stands for, if there is such a column."""
        return find(self.names, asked)

    def find_facet(self, asked: str | int) -> str | None:
        """Return the name of a facet; an index counts in the facets' own file, if there is one."""
        return find(self.facets or self.names, asked) or self.find(asked)

    def features(self, but: set[str | None]) -> list[CodedColumn]:
        """Return the features: no label, no predictions, nothing kept apart, none of ``but``."""
        left_out = {self.label, self.predicted, *self.outside, *but}
        return [self.table[name] for name in self.names if name not in left_out]


def read_dataset(config: AnalysisConfig, files: list[Path], first_row: FirstRow) -> Dataset:
    """Read features, label and predictions."""
    kind = config.dataset_type
    if kind in ("application/jsonlines", "application/json"):
        return _json(config, files)
    notices: list[str] = []
    if kind == "text/csv":
        asked = [config.label, config.predicted_label, config.group_variable]
        asked += [facet.name_or_index for facet in config.facet or []]
        more = None
        if not any("FT" in metrics for metrics in config.stages.values()):  # it needs the features
            more = [config.joinsource_name_or_index]
        names, table, notices = read_csv(files, config.headers, asked, first_row, more)
    else:
        names, table = read_parquet_files(files, config.headers)
    label, predicted = find(names, config.label), find(names, config.predicted_label)
    return Dataset(shown(files), names, table, label, predicted, notices)


def shown(files: Sequence[Path]) -> str:
    """Return how reports call files."""
    if len(files) > 1:
        return f"{len(files)} files of {files[0].parent}"
    return "standard input" if str(files[0]) == STANDARD_INPUT else str(files[0])


def _json(config: AnalysisConfig, files: list[Path]) -> Dataset:
    assert config.features is not None
    lines = config.dataset_type == "application/jsonlines"
    parts = [(_lines if lines else _document)(config, path) for path in files]
    rows = [row for part in parts for row in part[0]]
    more = {
        key: [value for part in parts for value in part[1][key] or ()]
        for key in ("label", PREDICTED)
        if parts[0][1][key] is not None
    }
    names = _json_names(config, _width(rows, files), list(more))
    cells = [*zip(*rows, strict=True), *more.values()]
    columns = [from_values(name, values) for name, values in zip(names, cells, strict=True)]
    roles = dict(zip(more, names[len(names) - len(more) :], strict=True))
    table = {column.name: column for column in columns}
    return Dataset(shown(files), names, table, roles.get("label"), roles.get(PREDICTED))


def _width(rows: list[list[object]], files: Sequence[Path]) -> int:
    """Return the number of features, the same in every row."""
    width = len(rows[0]) if rows else 0
    if not width:
        raise DataError(f"{quote(shown(files))}: Data must contain features.")
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            message = f"row {number:,} has {len(row)} features, the first {width}"
            raise DataError(f"{quote(shown(files))} is ragged: {message}")
    return width


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


_JsonRows = tuple[list[list[object]], dict[str, list[object] | None]]


def _lines(config: AnalysisConfig, path: Path) -> _JsonRows:
    records = list(json_lines(path))
    paths = {"label": config.label, PREDICTED: config.predicted_label}
    features = search(str(config.features), "features")
    rows = []
    for number, record in enumerate(records, start=1):
        found = features.search(record)
        if not isinstance(found, list):
            where = f"{quote(path)} line {number:,}"
            raise DataError(f"features: {quote(config.features)} is no list in {where}")
        rows.append(found)
    more: dict[str, list[object] | None] = dict.fromkeys(paths)
    for key, each in paths.items():
        if isinstance(each, str):
            compiled = search(each, key)
            more[key] = _known([compiled.search(record) for record in records], key, each, path)
    return rows, more


def _document(config: AnalysisConfig, path: Path) -> _JsonRows:
    document = json_document(path)
    rows = search(str(config.features), "features").search(document)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        what = f"{quote(config.features)} is no list of lists in {quote(path)}"
        raise DataError(f"features: {what}. Data must contain features.")
    more: dict[str, list[object] | None] = {"label": None, PREDICTED: None}
    for key, each in (("label", config.label), (PREDICTED, config.predicted_label)):
        if not isinstance(each, str):
            continue
        values = search(each, key).search(document)
        if not isinstance(values, list) or len(values) != len(rows):
            count = f"{len(values)} values" if isinstance(values, list) else "no list"
            raise DataError(
                f"{key}: {quote(each)} gives {count} in {quote(path)}, but there are "
                f"{len(rows)} rows of features"
            )
        more[key] = _known(values, key, each, path)
    return rows, more


def _known(values: list[object], key: str, asked: str, path: Path) -> list[object]:
    if values and all(value is None for value in values):
        raise DataError(f"{key}: {quote(asked)} finds nothing in {quote(path)}")
    return values
