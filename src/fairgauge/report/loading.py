"""Reading back what fairgauge saved: a cube or a report, distinguished by its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.cube.cube import SCHEMA as CUBE_SCHEMA
from fairgauge.cube.cube import read_cube
from fairgauge.errors import CubeError, DataError, quote
from fairgauge.report.report import SCHEMA, SCHEMA_1, read_report

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.report.report import Report


def load(path: str | Path) -> Cube | Report:
    """Load a cube (``.cube.json``) or a report (JSON) that was saved.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Cube or Report
        Whichever the file states.

    Raises
    ------
    DataError
        There is no such file, or it cannot be read.
    CubeError
        The file is neither, is truncated, was changed, or is of another version.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> cube = fg.confusion("sex", {"F": {"tp": 2, "fn": 1}, "M": {"tp": 3, "fn": 1}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cube.save(f"{folder}/day.cube.json")
    ...     fg.load(f"{folder}/day.cube.json") == cube
    True
    """
    text = _read(Path(path))
    try:
        found = json.loads(text)
        schema = found["schema"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CubeError(
            f"{quote(path)} is not a cube or report of fairgauge, or is truncated; fairgauge "
            "count DATA -o FILE.cube.json makes a cube, fairgauge audit DATA -o FILE.json a report"
        ) from None
    if schema in (SCHEMA, SCHEMA_1):
        return read_report(found, str(path))
    kind = str(schema).partition("/")[0]
    if kind == SCHEMA.partition("/")[0]:
        raise CubeError(
            f"{quote(path)} has format {quote(schema)}; this version reads {SCHEMA!r} and "
            f"{SCHEMA_1!r}"
        )
    if kind != CUBE_SCHEMA.partition("/")[0]:
        raise CubeError(
            f"{quote(path)} has format {quote(schema)}, which is neither a cube "
            f"({CUBE_SCHEMA!r}) nor a report ({SCHEMA!r})"
        )
    return read_cube(text, str(path))


def _read(path: Path) -> str:
    try:
        regular = path.is_file() or not path.exists()
        text = path.read_text(encoding="utf-8-sig") if regular else ""
    except FileNotFoundError:
        raise DataError(f"no file {quote(path)}") from None
    except UnicodeDecodeError:
        raise CubeError(f"{quote(path)} is not a cube or report of fairgauge: not UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {quote(path)}: {reason}") from None
    if not regular:
        raise DataError(f"cannot read {quote(path)}: it is a folder, a pipe or a device")
    return text
