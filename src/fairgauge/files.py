"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from fairgauge.errors import DataError, quote


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file: first beside the target, then renamed over it.

    Raises
    ------
    DataError
        The folder is missing or not writable, or the disk is full; nothing is left behind.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:50]}.", dir=target.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
        temporary = None
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"cannot write {quote(target)}: {reason}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
