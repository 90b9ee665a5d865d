"""A line on standard error for work that takes longer than a second, on a terminal only.

There is one line at a time: nested work reports its share to that of the outer work.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Share = Callable[[], float]

ERASE = "\r\x1b[2K"
# seconds before anything is shown
_PATIENCE = 1.0
_STEP = 0.1
# the shares that are done of the work in progress, the innermost last
_shares: list[Share | None] = []


@contextmanager
def progress(doing: str, share: Share | None = None) -> Iterator[None]:
    """Show that work is in progress, and the share that is done if it is known.

    Of nested work, the outer one is shown; ``share`` is called from another thread.
    """
    done, drawing = threading.Event(), None
    if not _shares and _is_terminal():
        drawing = threading.Thread(target=_draw, args=(doing, done), daemon=True)
    _shares.append(share or (_shares[-1] if _shares else None))
    if drawing:
        drawing.start()
    try:
        yield
    finally:
        done.set()
        if drawing:
            drawing.join()
        _shares.pop()


def _is_terminal() -> bool:
    # whether a person reads standard error; a program without a console has none
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # it is closed
        return False


def _draw(doing: str, done: threading.Event) -> None:
    start, stream = time.monotonic(), sys.stderr
    if done.wait(_PATIENCE):
        return
    with contextlib.suppress(OSError, ValueError):  # standard error was closed meanwhile
        while not done.wait(_STEP):
            share = _shares[-1]
            far = f"{min(share(), 1.0):.0%}" if share else f"{time.monotonic() - start:.0f} s"
            stream.write(f"{ERASE}{doing}: {far}")
            stream.flush()
        stream.write(ERASE)
        stream.flush()
