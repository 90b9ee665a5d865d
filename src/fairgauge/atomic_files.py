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


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file: first beside the target, then renamed over it.

    A link is followed; a device or a pipe (``/dev/stdout``) is written to as it is.

    Raises
    ------
    DataError
        The folder is missing or not writable, or the disk is full; nothing is left behind.
    """
    write_all({path: text})


def write_all(texts: Mapping[str | Path, str]) -> None:
    """Write several text files, each whole, and none if one of them cannot be written.

    Raises
    ------
    DataError
        As for `write_whole`.
    """
    waiting: dict[Path, Path] = {}
    streams = [path for path in texts if _is_stream(Path(path))]
    path: str | Path = ""
    try:
        for path in texts:
            if path not in streams:
                target = _target(Path(path))
                waiting[target] = _write_beside(target, texts[path])
        for path in streams:
            _write_stream(Path(path), texts[path])
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


def _write_stream(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as handle:
        handle.write(text)


def _target(path: Path) -> Path:
    """Return the file that is replaced in the end: links are followed, protected files kept."""
    target = path.resolve()
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is write-protected")
    return target


def _write_beside(target: Path, text: str) -> Path:
    """Write a temporary file in the folder of the target, with the rights the target will have."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:20]}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(
            descriptor, "w", encoding="utf-8", newline="\n", errors="backslashreplace"
        ) as handle:
            handle.write(text)
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
