"""The only door to data: whatever holds the rows, it is opened here and counted once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.errors import DataError
from fairgauge.scan.input_files import StandardInput, open_files, open_standard_input
from fairgauge.scan.sql_query import Query

if TYPE_CHECKING:
    from fairgauge.scan.source import Source


def open_source(data: object) -> Source:
    """Open data of any kind: a frame, a path, a glob, a list of paths, or rows of a database.

    Raises
    ------
    DataError
        The data cannot be read, or are of no known kind.
    """
    if isinstance(data, (str, Path)) or (
        isinstance(data, Sequence) and data and all(isinstance(d, (str, Path)) for d in data)
    ):
        return open_files(data)
    if isinstance(data, StandardInput):
        return open_standard_input(data)
    if isinstance(data, Query):
        from fairgauge.scan.database import open_database

        return open_database(data.url, data.rows)
    if data is None or isinstance(data, (int, float, bytes)):
        raise DataError(f"cannot audit a {type(data).__name__}; give a frame, a path or a Cube")
    from fairgauge.scan.frames import open_frame

    return open_frame(data)
