"""A bar on a terminal while a long scan runs; nothing anywhere else."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE = 1.0
"""Seconds before anything is shown."""
_STEP = 0.1
_WIDTH = 24
_BLOCK = 6
_CLEAR = "\r\x1b[2K"


@contextlib.contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show on standard error that something is going on, if it takes longer than a second.

    How much there is to do is not known (rows are read once), so the bar moves without filling.
    """
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    done = threading.Event()

    def draw() -> None:
        start = time.monotonic()
        if done.wait(_PATIENCE):
            return
        while not done.wait(_STEP):
            seconds = time.monotonic() - start
            stream.write(f"{_CLEAR}{doing} [{_bar(seconds)}] {seconds:.0f} s")
            stream.flush()
        stream.write(_CLEAR)
        stream.flush()

    drawing = threading.Thread(target=draw, daemon=True)
    drawing.start()
    try:
        yield
    finally:
        done.set()
        drawing.join()


def _bar(seconds: float) -> str:
    """Return a block that goes to and fro.

    >>> _bar(0)
    '######                  '
    """
    room = _WIDTH - _BLOCK
    place = int(seconds / _STEP) % (2 * room)
    place = min(place, 2 * room - place)
    return f"{' ' * place}{'#' * _BLOCK}{' ' * (room - place)}"
