"""Reading files that fairgauge saved: JSON whose ``schema`` states what it holds."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.errors import CubeError, DataError, quote
from fairgauge.object_stores import is_object, read_object
from fairgauge.strict_json import AmbiguousJsonError, read_json

if TYPE_CHECKING:
    from fairgauge.values import Saved


def read_saved(path: str | Path) -> Saved:
    """Return the plain values of a saved file, of whichever schema.

    Raises
    ------
    DataError
        There is no such file, or it cannot be read.
    CubeError
        The file states no schema, or is truncated.
    """
    text = _text(read_object(str(path)), path) if is_object(path) else _read(Path(path))
    try:
        values: Saved = read_json(text)
        values["schema"]
    except AmbiguousJsonError as error:
        raise CubeError(f"{quote(path)} is no saved result of fairgauge: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise CubeError(
            f"{quote(path)} is no saved result of fairgauge, or is truncated; fairgauge count DATA "
            "-o FILE.cube.json makes a cube, fairgauge audit DATA -o FILE.json a report"
        ) from None
    return values


def _text(content: bytes, name: str | Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CubeError(f"{quote(name)} is no saved result of fairgauge: not UTF-8") from None


def _read(path: Path) -> str:
    try:
        regular = path.is_file() or not path.exists()
        text = path.read_text(encoding="utf-8-sig") if regular else ""
    except FileNotFoundError:
        raise DataError(f"no file {quote(path)}") from None
    except UnicodeDecodeError:
        if zipfile.is_zipfile(path):
            raise CubeError(
                f"{quote(path)} is an archive; if it is a sealed bundle, fairgauge verify "
                "FILE.fairgauge checks it, and fairgauge render FILE.fairgauge -o FILE.html writes "
                "its report (in Python: fairgauge.verify(path).report)"
            ) from None
        raise CubeError(f"{quote(path)} is no saved result of fairgauge: not UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {quote(path)}: {reason}") from None
    if not regular:
        raise DataError(f"cannot read {quote(path)}: it is a folder, a pipe or a device")
    return text
