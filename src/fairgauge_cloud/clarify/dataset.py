"""The data of a configuration: features, label and predictions, by name, index or JMESPath."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from fairgauge.errors import DataError, Problem, SpecError, listing, quote, refuse, suggest
from fairgauge_cloud._facet_counts import CodedColumn, Table, from_values
from fairgauge_cloud._files import (
    MISSING_TEXTS,
    STANDARD_INPUT,
    WRONG_HEADERS,
    Places,
    cell_number,
    check_same_names,
    code_columns,
    compiled_path,
    csv_rows,
    find,
    json_document,
    json_lines,
    plain_key,
    read_parquet_files,
)
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig, Predictor

_LOOK = 200
_LINES, _DOCUMENT = "application/jsonlines", "application/json"


@dataclass(slots=True)
class CsvTable:
    """Rows of CSV files, the names of their columns, and how a header was found."""

    names: list[str]
    rows: Iterable[list[str]]
    notices: list[str]


def read_csv(
    files: Sequence[Path], headers: list[str] | None, asked: Sequence[str | int | None]
) -> CsvTable:
    """Read CSV files, one below the other, with or without a header."""
    made = CsvTable([], [], [])
    for path in files:
        rows = csv_rows(path)
        first = [*islice(rows, _LOOK)]
        is_header, width = _is_header(first, headers, asked, path), len(first[0])
        found = headers or (first[0] if is_header else [f"column_{i}" for i in range(width)])
        if headers is None and not is_header:
            made.notices = [
                f"no headers in the configuration and none in {path.name}: column_0 ..."
            ]
        twice = [name for i, name in enumerate(found) if name in found[:i]]
        if twice:
            raise DataError(f"{quote(path)} has the column {quote(twice[0])} twice; rename one")
        if len(found) != width:
            raise DataError(
                f"headers: {WRONG_HEADERS} {len(found)} names, but {quote(path)} has {width} "
                "columns; name every one of them, or leave headers out where the file has a header"
            )
        made.names = made.names or found
        check_same_names(made.names, found, files[0], path)
        made.rows = chain(made.rows, first[is_header:], rows)
    return made


def _is_header(
    rows: list[list[str]], headers: list[str] | None, asked: Sequence[str | int | None], path: Path
) -> bool:
    first = rows[0]
    if headers is None:  # a column is asked for by name, or no cell is a number
        by_name = any(isinstance(each, str) for each in asked)
        return by_name or all(cell_number(cell) is None for cell in first)
    if first == headers:
        return True
    if _looks_like_a_header(rows, headers):
        pairs = zip(first, headers, strict=False)
        other = [f"{quote(one)} for {quote(two)}" for one, two in pairs if one != two]
        raise DataError(
            f"headers: the first row of {quote(path)} looks like a header that is spelled "
            f"differently: {', '.join(other[:3])}. Correct headers, or, if it is data, move the "
            "row below another one"
        )
    return False


def _looks_like_a_header(rows: list[list[str]], headers: list[str]) -> bool:
    first, below = rows[0], rows[1:]
    texts = all(cell_number(cell) is None and cell not in MISSING_TEXTS for cell in first)
    columns = ([c for c in cells if c not in MISSING_TEXTS] for cells in zip(*below, strict=True))
    return texts and len(first) == len(headers) and any(
        len(known) > 1 and None not in map(cell_number, known) for known in columns
    )  # fmt: skip


PREDICTED = "predicted_label"


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """The table of a job, with the names of the label and of the predictions, if any.

    Columns ``outside`` are kept apart from the model's features; ``facets`` have their own file.
    """

    source: str
    names: list[str]
    table: Table
    label: str | None
    predicted: str | None
    notices: list[str] = field(default_factory=list)
    outside: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()

    def find_facet(self, asked: str | int) -> str | None:
        """Return the name of a facet; an index counts in the facets' own file, if there is one."""
        return find(self.facets or self.names, asked) or find(self.names, asked)

    def features(self, but: set[str | None]) -> list[CodedColumn]:
        """Return the features: no label, no predictions, nothing kept apart, none of ``but``."""
        left_out = {self.label, self.predicted, *self.outside, *but}
        return [self.table[name] for name in self.names if name not in left_out]


def describe_files(files: Sequence[Path]) -> str:
    """Return how reports call files."""
    if len(files) > 1:
        return f"{len(files)} files of {files[0].parent}"
    return "standard input" if str(files[0]) == STANDARD_INPUT else str(files[0])


def read_json(config: AnalysisConfig, files: list[Path]) -> Dataset:
    """Read features, label and predictions of JSON by their JMESPaths."""
    asked = {"features": config.features, "label": config.label, PREDICTED: config.predicted_label}
    paths = {key: path for key, path in asked.items() if isinstance(path, str)}
    searches = {key: compiled_path(path, key) for key, path in paths.items()}
    cells: dict[str, list[Any]] = {key: [] for key in paths}
    for path in files:
        rows = 0
        for key, found in _search_json(searches, path, config.dataset_type == _LINES).items():
            asks, file = f"{key}: {quote(paths[key])}", quote(path)
            if key == "features":
                if not isinstance(found, list) or not all(isinstance(row, list) for row in found):
                    what = f"{asks} is no list of features for every row of {file}"
                    raise DataError(f"{what}. Data must contain features.")
                rows = len(found)
            values = found if isinstance(found, list) else []
            if len(values) != rows:
                raise DataError(
                    f"{asks} gives {len(values):,} values in {file}, but there are {rows:,} rows "
                    "of features"
                )
            if values and all(value is None for value in values):
                raise DataError(f"{asks} finds nothing in {file}")
            cells[key] += values
    features = cells.pop("features")
    source, width = describe_files(files), len(features[0]) if features else 0
    if not width:
        raise DataError(f"{quote(source)}: Data must contain features.")
    for number, row in enumerate(features, start=1):
        if len(row) != width:
            message = f"row {number:,} has {len(row)} features, the first {width}"
            raise DataError(f"{quote(source)} is ragged: {message}")
    names = config.headers or [*(f"column_{i}" for i in range(width)), *cells]
    if len(names) != width + len(cells):
        wanted = " + ".join([f"{width} features", *cells])
        raise DataError(f"headers: {WRONG_HEADERS} {len(names)} names, but the data have {wanted}")
    columns = zip(names, [*zip(*features, strict=True), *cells.values()], strict=True)
    roles = dict(zip(cells, names[width:], strict=True))
    table = {name: from_values(name, values) for name, values in columns}
    return Dataset(source, names, table, roles.get("label"), roles.get(PREDICTED))


def _search_json(searches: dict[str, Any], path: Path, is_lines: bool) -> dict[str, object]:
    # what each JMESPath finds in a document, or in each of its lines
    document: Any = [*json_lines(path)] if is_lines else json_document(path)
    return {
        key: [*map(of.search, document)] if is_lines else of.search(document)
        for key, of in searches.items()
    }


def load_dataset(config: AnalysisConfig, places: Places, dataset: str | None) -> Dataset:
    """Read and join everything that a configuration names."""
    if dataset is None:
        files = places.files(config.dataset_uri or "")
    else:
        files = replace(places, base=Path()).files(dataset)  # from the current folder
    if config.dataset_type == "text/csv":
        made = _read_csvs(config, places, files)
    elif config.dataset_type in (_LINES, _DOCUMENT):
        made = read_json(config, files)
    else:
        names, table = read_parquet_files(files, config.headers)
        label, predicted = find(names, config.label), find(names, config.predicted_label)
        made = Dataset(describe_files(files), names, table, label, predicted)
    _check_columns(config, made)
    if not any(map(len, made.table.values())):
        raise DataError(f"{quote(made.source)} holds no rows")
    return made


def _check_columns(config: AnalysisConfig, made: Dataset) -> None:
    problems = []

    def absent(path: str, asked: str | int, text: str = "") -> None:
        hint = suggest(asked, made.names)
        where = f"no column {quote(asked)} in the data.{hint} It has {listing(made.names)}"
        problems.append(Problem(path, f"{text} {where}".strip()))

    if made.label is None and config.label is not None:
        absent("label", config.label, "Headers must contain label.")
    apart = config.predicted_label_dataset_uri is not None
    if made.predicted is None and config.predicted_label is not None and not apart:
        absent(PREDICTED, config.predicted_label)
    for i, facet in enumerate(config.facet or []):
        if made.find_facet(facet.name_or_index) is None:
            absent(f"facet[{i}].name_or_index", facet.name_or_index, "Unable to locate the facet.")
    if config.group_variable is not None and find(made.names, config.group_variable) is None:
        absent("group_variable", config.group_variable)
    refuse(problems)


def _read_csvs(config: AnalysisConfig, places: Places, files: list[Path]) -> Dataset:
    facets = [facet.name_or_index for facet in config.facet or []]
    asked = [config.label, config.predicted_label, config.group_variable, *facets]
    main = read_csv(files, config.headers, asked)
    label, predicted = find(main.names, config.label), find(main.names, config.predicted_label)
    made = Dataset(describe_files(files), main.names, {}, label, predicted, main.notices)
    rows, key = main.rows, config.joinsource_name_or_index
    ours = find(main.names, key)
    if key is not None and (ours is None or ours in (label, predicted)):
        message = f"no column {quote(key)} in {quote(made.source)}"
        if ours is not None:
            message = f"{quote(key)} is not a key but the label or the prediction of the data"
        raise SpecError(Problem("joinsource_name_or_index", message))
    apart = [
        (role, uri, headers, places.files(uri))
        for role, uri, headers in (
            ("facet", config.facet_dataset_uri, config.facet_headers),
            (PREDICTED, config.predicted_label_dataset_uri, config.predicted_label_headers),
        )
        if uri is not None
    ]
    if key is None and any(len(files) > 1 or len(found) > 1 for *_, found in apart):
        message = "is required to join data of several files"
        raise SpecError(Problem("joinsource_name_or_index", message))
    for role, uri, headers, found in apart:
        named = facets if role == "facet" else [config.predicted_label]
        side = read_csv(found, headers, [*named, key])
        made.notices.extend(side.notices)
        # an index is one of the data; the other file may have the key elsewhere, by its name
        theirs = find(side.names, ours) or find(side.names, key)
        others = [name for name in side.names if name != theirs]
        twice = [name for name in others if name in made.names]
        if twice:
            raise DataError(f"the column {quote(twice[0])} of {quote(uri)} is also in the data")
        if ours is None:
            rows = _beside(rows, side, uri)
        elif theirs is None:
            message = f"no column {quote(str(key))} in {quote(uri)}"
            raise SpecError(Problem("joinsource_name_or_index", message))
        else:
            rows = _joined(rows, made.names.index(ours), side, theirs, uri, made.notices)
        made = replace(made, names=[*made.names, *others], outside=(*made.outside, *others))
        if role == PREDICTED:
            made = replace(made, predicted=_predicted_of(config, side.names, others))
        else:
            made = replace(made, facets=tuple(side.names))
    names, kept = made.names, [name for name in made.names if name != ours]
    made = replace(made, names=kept)
    wanted: set[str | None] = {*kept}
    if not any("FT" in metrics for metrics in config.stages.values()):  # it needs the features
        wanted = {made.label, made.predicted, find(kept, config.group_variable)}
        wanted |= {made.find_facet(each) for each in facets}
    return replace(made, table=code_columns(rows, names, wanted - {ours}))


def _beside(main: Iterable[list[str]], side: CsvTable, uri: str) -> list[list[str]]:
    ours, others = [*main], [*side.rows]
    if len(ours) != len(others):
        raise DataError(
            f"{quote(uri)} has {len(others):,} rows and the data {len(ours):,}; rows are "
            "matched one by one without joinsource_name_or_index"
        )
    return [[*one, *other] for one, other in zip(ours, others, strict=True)]


def _joined(
    main: Iterable[list[str]], at: int, side: CsvTable, theirs: str, uri: str, notices: list[str]
) -> list[list[str]]:
    place, ours = side.names.index(theirs), [*main]
    by_key: dict[str, list[str]] = {}
    for other in side.rows:
        text = plain_key(other[place])
        if text in by_key:
            raise DataError(f"the join key {quote(text)} stands twice in {quote(uri)}")
        by_key[text] = [*other[:place], *other[place + 1 :]]
    joined = [
        [*one, *by_key[text]]
        for one in ours
        if one[at] not in MISSING_TEXTS and (text := plain_key(one[at])) in by_key
    ]
    if not joined:
        raise DataError(f"no join key of {quote(uri)} is in the data")
    if left := len(ours) - len(joined):
        notices.append(f"{left:,} rows without a match in {uri} are excluded")
    return joined


def _predicted_of(config: AnalysisConfig, names: list[str], others: list[str]) -> str:
    # find the predictions in their own file: by name or index, or its only column
    asked = PREDICTED if config.predicted_label is None else config.predicted_label
    found = find(names, asked) or (others[0] if len(others) == 1 else None)
    if found is None:
        hint = suggest(asked, others)
        message = f"no column {quote(asked)} in its file.{hint} It has {listing(others)}"
        raise SpecError(Problem("predicted_label", message))
    return found


def with_answers(made: Dataset, config: AnalysisConfig, path: Path) -> Dataset:
    """Return the data with what the model answered, one answer a row, in the rows' order.

    A score is 1 above ``probability_threshold`` (.5); of several the label of the greatest counts.
    """
    asked = config.predictor or Predictor()
    kind = (asked.accept_type or config.dataset_type).lower()
    columns = _read_answers(asked, kind, path)
    rows = max(map(len, made.table.values()))
    for found in columns.values():
        answers = len(found) if isinstance(found, list) else 1
        if answers != rows:
            raise DataError(
                f"{quote(path)} has {answers:,} answers and the data {rows:,} rows; give one for "
                "each row, in their order (and no header)"
            )
    pairs = zip(*(columns.get(key, [None] * rows) for key in ("label", "probability")), strict=True)
    values = [
        _answered_label(config, asked.label_headers, pair, f"{quote(path)}, answer {number:,}")
        for number, pair in enumerate(pairs, 1)
    ]
    name = PREDICTED if PREDICTED not in made.names else "predictor.label"
    if kind == "text/csv":
        column = code_columns([["" if v is None else str(v)] for v in values], [name], {name})[name]
    else:
        column = from_values(name, values)
    return replace(
        made, names=[*made.names, name], table={**made.table, name: column}, predicted=name,
        outside=(*made.outside, name),
    )  # fmt: skip


def _read_answers(asked: Predictor, kind: str, path: Path) -> dict[str, Any]:
    places = {"label": asked.label, "probability": asked.probability}
    wanted = {key: at for key, at in places.items() if at is not None}
    if kind == "text/csv":
        rows = [*csv_rows(path)]
        width = len(rows[0]) if rows else 0
        for key, at in wanted.items():
            if at not in range(width):
                message = f"must be the place of one of {width} columns, from 0"
                raise SpecError(Problem(f"predictor.{key}", message))
        found = {key: [row[int(at)] for row in rows] for key, at in wanted.items()}
        return found or {"probability": rows}
    if kind not in (_LINES, _DOCUMENT) or not wanted:
        message = (
            f"to read answers, state where label or probability is, and as accept_type text/csv, "
            f"{_LINES} or {_DOCUMENT}"
        )
        raise SpecError(Problem("predictor", message))
    searches = {key: compiled_path(str(at), f"predictor.{key}") for key, at in wanted.items()}
    return _search_json(searches, path, kind == _LINES)


def _answered_label(
    config: AnalysisConfig, headers: Sequence[object] | None, answer: Sequence[Any], where: str
) -> object:
    label, score = answer
    if isinstance(label, list) and len(label) == 1:
        (label,) = label
    if label is not None and not isinstance(label, list):
        return label
    listed = score if isinstance(score, list) else [score]
    try:
        scores = [float(each) for each in listed if each is not None]
    except (TypeError, ValueError):
        raise DataError(f"{where}: a probability must be a number, not {quote(score)}") from None
    names = label or headers or ()
    if not scores:
        return None
    if len(scores) == 1 and not names:
        limit = config.probability_threshold
        return int(scores[0] > (0.5 if limit is None else limit))
    if len(names) != len(scores):
        raise DataError(
            f"{where}: {len(scores)} probabilities and {len(names)} labels; name the label of each "
            "in predictor.label_headers"
        )
    return names[scores.index(max(scores))]
