"""A bar on standard error for scans that take longer than a second, if a person is watching."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Share = Callable[[], float]
    Rows = Callable[[], int | None]

_PATIENCE = 1.0
_WIDTH = 24
_ERASE = "\r\x1b[K"


@contextmanager
def watched(share: Share, rows: Rows) -> Iterator[None]:
    """Show how far the work inside has come.

    Parameters
    ----------
    share : function
        Returns the share that is done, from 0 to 1; called from another thread.
    rows : function
        Returns the number of rows there are, or None where it is not known.
    """
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    start = time.monotonic()
    watcher = threading.Thread(target=_watch, args=(share, rows, over, start), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(share: Share, rows: Rows, over: threading.Event, start: float) -> None:
    if over.wait(_PATIENCE):
        return
    most = 0.0
    known = rows()
    while not over.wait(0.1):
        most = max(most, min(share(), 1.0))
        sys.stderr.write(_ERASE + line(most, time.monotonic() - start, known))
        sys.stderr.flush()
    sys.stderr.write(_ERASE)
    sys.stderr.flush()


def line(share: float, seconds: float, rows: int | None) -> str:
    """Return the bar, the rows a second and the time left, as far as they are known.

    >>> line(0.25, 2.0, 80_000_000)
    'counting [######                  ]  25 %  10.0 M rows/s  6 s left'
    """
    done = "#" * round(share * _WIDTH)
    parts = [f"counting [{done:<{_WIDTH}}] {share:4.0%}".replace("%", " %")]
    if rows is not None and share > 0:
        parts.append(f"{rows * share / seconds / 1e6:.1f} M rows/s")
    if share > 0:
        parts.append(f"{seconds / share - seconds:.0f} s left")
    return "  ".join(parts)
