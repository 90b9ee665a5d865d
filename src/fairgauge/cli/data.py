"""DATA of the command line: files, globs, standard input, or counts made earlier."""

from __future__ import annotations

import glob
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import DataError, FairgaugeError, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.cube import Cube

CUBE_SUFFIX = ".cube.json"
STANDARD_INPUT = "-"


def read_data(asked: Sequence[str]) -> Any:
    """Return what `fairgauge.audit` takes: a path, a list of paths, or the sum of saved cubes.

    Raises
    ------
    DataError
        Cubes and other files are mixed, or a database is named.
    CubeError
        The cubes are damaged, or count different things.
    """
    for each in asked:
        _refuse_database(each)
        _refuse_streams(each)
    cubes = [each.casefold().endswith(CUBE_SUFFIX) for each in asked]
    if not any(cubes):
        return asked[0] if len(asked) == 1 else list(asked)
    if not all(cubes):
        raise DataError(
            f"counts ({CUBE_SUFFIX}) and rows cannot be audited together; count the rows first: "
            "fairgauge count DATA -o more.cube.json"
        )
    return merged(asked)


def merged(asked: Sequence[str]) -> Cube:
    """Load cube files and add them up.

    Raises
    ------
    DataError, CubeError
        A file cannot be read, is no cube, or the cubes count different things.
    """
    from fairgauge.cube import Cube
    from fairgauge.errors import CubeError
    from fairgauge.load import load

    total: Cube | None = None
    for path in files(asked):
        cube = load(path)
        if not isinstance(cube, Cube):
            raise CubeError(f"{quote(path)} is a report, not a cube; count its data again")
        try:
            total = cube if total is None else total + cube
        except CubeError as error:
            raise CubeError(f"cannot add {quote(path)} to the cubes before it: {error}") from None
    if total is None:
        raise DataError(f"no file {quote(asked[0])}")
    return total


def files(asked: Sequence[str]) -> list[Path]:
    """Return the files that paths and globs stand for; a path that is absent stands for itself."""
    found: list[Path] = []
    for each in asked:
        if not glob.has_magic(each) or Path(each).exists():
            found.append(Path(each))
        else:
            found += [Path(name) for name in sorted(glob.glob(each, recursive=True))]  # noqa: PTH207
    return found


def _refuse_streams(asked: str) -> None:
    """Refuse a named pipe or device: looking at its header would use it up."""
    try:
        mode = Path(asked).stat().st_mode if asked != STANDARD_INPUT else stat.S_IFREG
    except FileNotFoundError:
        return  # a glob, or nothing: whoever opens it will say
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {quote(asked)}: {reason}") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(
            f"{quote(asked)} is a pipe or a device; pass its rows to standard input and say -"
        )


def _refuse_database(asked: str) -> None:
    scheme = re.match(r"([a-z][a-z0-9+.\-]*)://", asked, re.IGNORECASE)
    if scheme:
        raise FairgaugeError(
            f"cannot read {scheme[1]}:// addresses; save the table as .parquet or .csv and name "
            "that file, or pipe it in as CSV and say -"
        )
