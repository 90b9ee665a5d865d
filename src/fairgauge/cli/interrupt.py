"""Ctrl-C: noticed even where a library turns it into an error of its own, as DuckDB does."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def noticed() -> Iterator[threading.Event]:
    """Set an event at an interrupt, besides what it does already (raise KeyboardInterrupt).

    A process that ignores interrupts (``nohup``, a background job of a script) goes on ignoring.
    """
    happened = threading.Event()
    before = signal.getsignal(signal.SIGINT)  # Python's own, or that of a library such as pyspark

    def handle(number: int, frame: FrameType | None) -> None:
        happened.set()
        assert callable(before)
        before(number, frame)

    if callable(before) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handle)
        try:
            yield happened
        finally:
            signal.signal(signal.SIGINT, before)
    else:
        yield happened
