"""Facets and predictions that are kept apart, put beside the data: row by row, or by a key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.compat.clarify._dataset import PREDICTED, find
from fairgauge.compat.clarify.csv_inputs import read_csv
from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote

if TYPE_CHECKING:
    from fairgauge.compat._column_table import ColumnTable
    from fairgauge.compat.clarify._dataset import Dataset
    from fairgauge.compat.clarify.clarify_config import AnalysisConfig
    from fairgauge.compat.clarify.csv_inputs import FirstRow
    from fairgauge.compat.uri_paths import Places


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
