"""Everything that a configuration names, as one table; every column that is not there, at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote, refuse
from fairgauge_cloud._coded_column import Table, rows_of, take_rows
from fairgauge_cloud._files import Places, find
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig
from fairgauge_cloud.clarify.dataset import PREDICTED, Dataset, FirstRow, read_csv, read_dataset

NO_FACET = "Unable to locate the facet."
NO_LABEL = "Headers must contain label."


def load_dataset(
    config: AnalysisConfig, places: Places, dataset: str | None, first_row: FirstRow = FirstRow.AUTO
) -> Dataset:
    """Read and join everything that a configuration names."""
    if dataset is None:
        files = places.files(config.dataset_uri or "")
    else:
        files = places.here.files(dataset)
    main = read_dataset(config, files, first_row)
    made = joined(config, places, main, len(files), first_row)
    _check_columns(config, made)
    if not made.rows:
        raise DataError(f"{quote(made.source)} holds no rows")
    return made


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
    refuse(problems)


def joined(
    config: AnalysisConfig, places: Places, main: Dataset, files: int, first_row: FirstRow
) -> Dataset:
    """Put facets and predictions that are kept apart beside the data."""
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
        names, side, notices = read_csv(found, headers, [*asked, key], first_row)
        made.notices.extend(notices)
        made = _beside(made, side, key, uri)
        if role == PREDICTED:
            made = _with_predicted(config, made, side, key)
        else:
            made = replace(made, facets=tuple(names))
    return made if key is None else _without(made, key)


def _beside(main: Dataset, side: Table, key: str | int | None, uri: str) -> Dataset:
    if key is None:
        if rows_of(side) != main.rows:
            raise DataError(
                f"{quote(uri)} has {rows_of(side):,} rows and the data {main.rows:,}; rows are "
                "matched one by one without joinsource_name_or_index"
            )
        table, others = main.table, side
    else:
        table, others = _by_key(main, side, key, uri)
    twice = [name for name in others if name in main.names]
    if twice:
        raise DataError(f"the column {quote(twice[0])} of {quote(uri)} is also in the data")
    return replace(
        main, names=[*main.names, *others], table=table | others, outside=(*main.outside, *others)
    )


def _by_key(main: Dataset, side: Table, key: str | int, uri: str) -> tuple[Table, Table]:
    """Keep the rows whose key both have, in the order of the data.

    An index is one of the data; the other file may have the key elsewhere, under the same name.
    """
    mine = find(main.names, key)
    theirs = find(side, mine) or find(side, key)
    for found, where in ((mine, main.source), (theirs, uri)):
        if found is None:
            message = f"no column {quote(key)} in {quote(where)}"
            raise SpecError(Problem("joinsource_name_or_index", message))
    assert mine is not None
    assert theirs is not None
    other = side[theirs]
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
    rest = {name: column for name, column in side.items() if name != theirs}
    return take_rows(main.table, kept), take_rows(rest, wanted[kept])


def _with_predicted(
    config: AnalysisConfig, made: Dataset, side: Table, key: str | int | None
) -> Dataset:
    """Find the predictions in their own file: by name or index, or its only column."""
    known = find(side, made.find(key)) or find(side, key) if key is not None else None
    rest = [name for name in side if name != known]
    asked = PREDICTED if config.predicted_label is None else config.predicted_label
    found = find(side, asked) or (rest[0] if len(rest) == 1 else None)
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
    table = {each: column for each, column in made.table.items() if each != name}
    return replace(made, names=[each for each in made.names if each != name], table=table)
