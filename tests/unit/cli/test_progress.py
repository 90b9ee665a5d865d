"""The bar: on a terminal, on long scans, and gone without a trace."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from fairgauge.cli import progress_bar as module
from fairgauge.cli.progress_bar import progress


class Terminal(io.StringIO):
    """A terminal that tells when something was written to it."""

    def __init__(self):
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self):
        return True

    def flush(self):
        self.drawn.set()


def watch(monkeypatch, stream, patience=0.0):
    """Put a stream in the place of standard error; pytest would undo that after a fixture."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "_PATIENCE", patience)
    monkeypatch.setattr(module, "_STEP", 0.001)
    return stream


def test_a_long_scan_shows_a_bar_and_clears_it(monkeypatch):
    terminal = watch(monkeypatch, Terminal())
    with progress("Counting rows"):
        assert terminal.drawn.wait(10)
    lines = terminal.getvalue().split("\r\x1b[2K")
    assert lines[1].startswith("Counting rows [")
    assert lines[-1] == ""


def test_a_short_scan_shows_nothing(monkeypatch):
    terminal = watch(monkeypatch, Terminal(), patience=60.0)
    with progress("Counting rows"):
        pass
    assert terminal.getvalue() == ""


def test_the_bar_is_gone_after_an_error(monkeypatch):
    terminal = watch(monkeypatch, Terminal())

    def work():
        with progress("Counting rows"):
            assert terminal.drawn.wait(10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_nothing_in_a_file(monkeypatch):
    stream = watch(monkeypatch, io.StringIO())
    before = threading.active_count()
    with progress("Counting rows"):
        assert threading.active_count() == before
    assert stream.getvalue() == ""


def test_the_bar_goes_to_and_fro():
    bars = [module._bar(step / 10 + 0.01) for step in range(37)]
    assert {len(bar) for bar in bars} == {24}
    assert bars[0] == bars[36] == "######" + " " * 18
    assert bars[18] == " " * 18 + "######"
