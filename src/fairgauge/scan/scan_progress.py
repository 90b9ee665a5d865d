"""A progress bar on standard error for work that takes longer than a second, on a terminal only.

There is one bar at a time: nested work reports its share to the bar of the outer work.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

Share = Callable[[], float]

ERASE = "\r\x1b[2K"
_PATIENCE = 1.0
"""Seconds before anything is shown."""
_STEP = 0.1
_WIDTH = 24
_BLOCK = 6


@dataclass(slots=True, eq=False)
class _Bar:
    """The bar: what it is called, where it is drawn, and the work whose share it shows."""

    doing: str
    stream: TextIO
    share: Share | None
    done: threading.Event = field(default_factory=threading.Event)

    def draw(self) -> None:
        start = time.monotonic()
        if self.done.wait(_PATIENCE):
            return
        with contextlib.suppress(OSError, ValueError):  # standard error was closed meanwhile
            while not self.done.wait(_STEP):
                share = self.share and min(self.share(), 1.0)
                self.stream.write(ERASE + line(self.doing, share, time.monotonic() - start))
                self.stream.flush()
            self.stream.write(ERASE)
            self.stream.flush()


_bar: _Bar | None = None


@contextmanager
def progress(doing: str, share: Share | None = None) -> Iterator[None]:
    """Show that work is in progress, and the share that is done if it is known.

    Parameters
    ----------
    doing : str
        The work, such as "Counting rows"; of nested work, the outer one is shown.
    share : function, optional
        Returns the share that is done, from 0 to 1; called from another thread.
    """
    global _bar
    if _bar is not None:
        bar, before = _bar, _bar.share
        bar.share = share or before
        try:
            yield
        finally:
            bar.share = before
        return
    stream = _terminal()
    if stream is None:
        yield
        return
    _bar = bar = _Bar(doing, stream, share)
    drawing = threading.Thread(target=bar.draw, daemon=True)
    drawing.start()
    try:
        yield
    finally:
        bar.done.set()
        drawing.join()
        _bar = None


def _terminal() -> TextIO | None:
    """Return standard error if a person reads it; a program without a console has none."""
    stream = sys.stderr
    try:
        return stream if stream is not None and stream.isatty() else None
    except ValueError:  # it is closed
        return None


def line(doing: str, share: float | None, seconds: float) -> str:
    """Return the bar with the share that is done; a block moves to and fro where none is known.

    >>> line("Counting", 0.25, 2.0)
    'Counting [######                  ]  25 %'
    >>> line("Counting", None, 2.4)
    'Counting [            ######      ] 2 s'
    """
    if share is not None:
        return f"{doing} [{'#' * round(share * _WIDTH):<{_WIDTH}}] {share:4.0%}".replace("%", " %")
    way = _WIDTH - _BLOCK
    place = abs((round(seconds / _STEP) + way) % (2 * way) - way)
    return f"{doing} [{' ' * place}{'#' * _BLOCK}{' ' * (way - place)}] {seconds:.0f} s"
