"""Ctrl-C: it ends a command even where a library ignores it, or raises an error of its own."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_GRACE = 1.0
"""Seconds after an interrupt in which a command can end by itself."""


@contextmanager
def noticed(abandon: Callable[[], None]) -> Iterator[threading.Event]:
    """Set an event at an interrupt, in addition to its usual effect (KeyboardInterrupt).

    Python raises only between its own instructions, and a scan may be a single one, in a library
    that ignores interrupts. If the block has not ended in time, ``abandon`` is called, in a thread
    of its own; it must end the process. A process that ignores interrupts (``nohup``, a background
    job of a script) goes on ignoring them.
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
            with _watched(abandon):
                yield happened
        finally:
            signal.signal(signal.SIGINT, before)
    else:
        yield happened


@contextmanager
def _watched(abandon: Callable[[], None]) -> Iterator[None]:
    """Call a function if the block goes on for too long after an interrupt.

    The number of a signal is written to the pipe when it arrives, whatever the main thread does.
    """
    ended = threading.Event()
    reading, writing = os.pipe()
    if os.name == "posix":  # pragma: no branch - no test runs elsewhere
        os.set_blocking(writing, False)

    def watch() -> None:
        while number := os.read(reading, 1):
            if number[0] == signal.SIGINT and not ended.wait(_GRACE):
                abandon()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        os.close(writing)
        watching.join()
        os.close(reading)
