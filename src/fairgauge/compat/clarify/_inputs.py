"""Everything that a configuration names, as one table; every column that is not there, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.compat.clarify._captured import read_captured
from fairgauge.compat.clarify._dataset import PREDICTED, Dataset, read_dataset
from fairgauge.compat.clarify._joined_inputs import joined
from fairgauge.compat.clarify.clarify_config import CAPTURED
from fairgauge.compat.clarify.csv_inputs import FirstRow
from fairgauge.errors import DataError, Problem, SpecError, listing, nearest, quote

if TYPE_CHECKING:
    from fairgauge.compat.clarify.clarify_config import AnalysisConfig
    from fairgauge.compat.uri_paths import Places

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
    """Hold every name and index against the columns.

    Raises
    ------
    SpecError
        Some are not there; each with its path.
    """
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
    if problems:
        raise SpecError(problems)
