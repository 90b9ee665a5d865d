"""CSV files as a configuration names them: which columns they have, and where their data start."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from fairgauge.compat._coded_column import ColumnTable
from fairgauge.errors import DataError, listing, quote
from fairgauge.scan.ordered_files import MISSING_TEXTS, first_rows, local_copy, ordered_csv
from fairgauge.scan.source import check_unique_names

WRONG_HEADERS = "Headers in config do not match with the number of columns in the dataset."
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
) -> tuple[ColumnTable, list[str]]:
    """Open CSV files; return also notices of how their header was found.

    Parameters
    ----------
    headers : list of str, optional
        The names of the columns, if the configuration gives them.
    asked : sequence
        Names and indices that the configuration uses: a name means that there is a header.
    first_row : FirstRow
        Whether the first row is a header; ``auto`` decides by its cells.

    Raises
    ------
    DataError
        A file cannot be read, the headers do not fit, or the first row looks like a header that
        the configuration spells differently.
    """
    local = [local_copy(path) for path in files]
    notices: list[str] = []
    names: list[str] = []
    parts = []
    for path, shown in zip(local, files, strict=True):
        rows = first_rows(path, _LOOK)
        is_header = _is_header(rows, headers, asked, first_row, shown)
        found = headers or (rows[0] if is_header else [f"column_{i}" for i in range(len(rows[0]))])
        if headers is None and not is_header:
            notices = [f"no headers in the configuration and none in {shown.name}: column_0 ..."]
        check_unique_names(found, quote(shown))
        if len(found) != len(rows[0]):
            raise DataError(
                f"headers: {WRONG_HEADERS} {len(found)} names, but {quote(shown)} has "
                f"{len(rows[0])} columns"
            )
        if names and found != names:
            raise DataError(
                f"the files have different columns: {listing(names)} in {quote(files[0])} and "
                f"{listing(found)} in {quote(shown)}"
            )
        names = found
        parts.append((path, is_header))
    source = ordered_csv(parts, len(names), ", ".join(map(str, files)))
    return ColumnTable.of_files(source, names), notices


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
