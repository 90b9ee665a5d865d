"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from collections.abc import Mapping


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, of text or of bytes: first beside the target, then renamed over it.

    A link is followed; a device or a pipe (``/dev/stdout``) is written to as it is.

    Raises
    ------
    DataError
        The folder is missing or not writable, or the disk is full; nothing is left behind.
    """
    write_all({path: content})


def write_all(contents: Mapping[str | Path, str | bytes]) -> None:
    """Write several files, each whole, and none if one of them cannot be written.

    Raises
    ------
    DataError
        As for `write_whole`.
    """
    waiting: dict[Path, Path] = {}
    streams = [path for path in contents if _is_stream(Path(path))]
    path: str | Path = ""
    try:
        for path in contents:
            if path not in streams:
                target = _target(Path(path))
                waiting[target] = _write_beside(target, contents[path])
        for path in streams:
            _write_stream(Path(path), contents[path])
        for path in list(waiting):
            waiting[path].replace(path)
            del waiting[path]
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write {quote(path)}: {reason}") from None
    finally:
        for temporary in waiting.values():
            with contextlib.suppress(OSError):
                temporary.unlink()


def _is_stream(path: Path) -> bool:
    """Return whether a path is a device or pipe, which must not be replaced by a file."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False  # it is not there yet, or cannot be: writing will raise the reason
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_stream(path: Path, content: str | bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(_as_bytes(content))


def _as_bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _target(path: Path) -> Path:
    """Return the file that is replaced in the end: links are followed, protected files kept."""
    target = path.resolve()
    try:
        target.stat()  # exists() of Python 3.14 is silent about names that cannot be
    except FileNotFoundError:
        return target
    if not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is write-protected")
    return target


def _write_beside(target: Path, content: str | bytes) -> Path:
    """Write a temporary file in the folder of the target, with the rights the target will have."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:20]}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(_as_bytes(content))
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
