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

from fairgauge.object_stores import bytes_read

Share = Callable[[], float]
Rows = Callable[[], int | None]

ERASE = "\r\x1b[2K"
_PATIENCE = 1.0
"""Seconds before anything is shown."""
_STEP = 0.1
_WIDTH = 24
_BLOCK = 6


@dataclass(slots=True)
class _Work:
    """Work that knows the share of it that is done, and perhaps its number of rows."""

    share: Share
    rows: Rows | None
    start: float = field(default_factory=time.monotonic)
    most: float = 0.0

    def shown(self, doing: str, received: int) -> str:
        self.most = max(self.most, min(self.share(), 1.0))
        rows = self.rows() if self.rows else None
        return line(doing, self.most, time.monotonic() - self.start, rows, received)


@dataclass(slots=True, eq=False)
class _Bar:
    """The bar: what it is called, where it is drawn, and the work whose share it shows.

    ``before`` is how many bytes of objects in stores were read before it.
    """

    doing: str
    stream: TextIO
    work: _Work | None
    before: int = field(default_factory=bytes_read)
    done: threading.Event = field(default_factory=threading.Event)

    def draw(self) -> None:
        start = time.monotonic()
        if self.done.wait(_PATIENCE):
            return
        with contextlib.suppress(OSError, ValueError):  # standard error was closed meanwhile
            while not self.done.wait(_STEP):
                work, seconds = self.work, time.monotonic() - start
                received = bytes_read() - self.before
                moved = f"{self.doing} [{moving(seconds)}] {seconds:.0f} s{_received(received)}"
                self.stream.write(ERASE + (work.shown(self.doing, received) if work else moved))
                self.stream.flush()
            self.stream.write(ERASE)
            self.stream.flush()


_bar: _Bar | None = None


@contextmanager
def progress(doing: str, share: Share | None = None, rows: Rows | None = None) -> Iterator[None]:
    """Show that work is in progress, and the share that is done if it is known.

    Parameters
    ----------
    doing : str
        The work, such as "Counting rows"; of nested work, the outer one is shown.
    share : function, optional
        Returns the share that is done, from 0 to 1; called from another thread.
    rows : function, optional
        Returns the number of rows there are, or None where it is not known.
    """
    global _bar
    work = _Work(share, rows) if share else None
    if _bar is not None:
        bar, before = _bar, _bar.work
        bar.work = work or before
        try:
            yield
        finally:
            bar.work = before
        return
    stream = _terminal()
    if stream is None:
        yield
        return
    _bar = bar = _Bar(doing, stream, work)
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


def line(doing: str, share: float, seconds: float, rows: int | None, received: int = 0) -> str:
    """Return the bar, rows a second, time left and bytes of objects, as far as they are known.

    >>> line("Counting", 0.25, 2.0, 80_000_000)
    'Counting [######                  ]  25 %  10.0 M rows/s  6 s left'
    >>> line("Counting", 0.25, 2.0, None, 34_500_000)
    'Counting [######                  ]  25 %  6 s left  34.5 MB read'
    """
    done = "#" * round(share * _WIDTH)
    parts = [f"{doing} [{done:<{_WIDTH}}] {share:4.0%}".replace("%", " %")]
    if rows is not None and share > 0 and seconds > 0:
        parts.append(f"{rows * share / seconds / 1e6:.1f} M rows/s")
    if share > 0:
        parts.append(f"{seconds / share - seconds:.0f} s left")
    return "  ".join(parts) + _received(received)


def _received(size: int) -> str:
    return f"  {size / 1e6:.1f} MB read" if size else ""


def moving(seconds: float) -> str:
    """Return a block that moves back and forth, for work of unknown length.

    >>> moving(0)
    '######                  '
    """
    way = _WIDTH - _BLOCK
    place = int(seconds / 0.1) % (2 * way)
    place = min(place, 2 * way - place)
    return f"{' ' * place}{'#' * _BLOCK}{' ' * (way - place)}"
