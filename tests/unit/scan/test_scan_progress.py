"""Long scans show how far they are, to people only; and an interrupt ends them at once."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading

import pytest

from fairgauge.scan import scan_progress

LONG = "SELECT sum(hash(i)) FROM range(20000000000) AS t(i)"  # half a minute


class Terminal(io.StringIO):
    """A terminal that knows when a share was drawn on it."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        written = super().write(text)
        if "%" in text:
            self.drawn.set()
        return written


def test_a_bar_on_a_terminal_that_is_erased_at_the_end(monkeypatch):
    monkeypatch.setattr(scan_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with scan_progress.watched(lambda: 0.5, lambda: 1_000):
        assert terminal.drawn.wait(60)  # only a bar that never comes waits so long
    text = terminal.getvalue()
    assert "counting [############            ]  50 %" in text
    assert text.endswith("\r\x1b[K")


def test_nothing_where_nobody_watches(monkeypatch):
    monkeypatch.setattr(scan_progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    before = threading.active_count()
    with scan_progress.watched(lambda: 0.5, lambda: 1_000):
        assert threading.active_count() == before
    assert stream.getvalue() == ""


def test_nothing_for_a_short_scan(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with scan_progress.watched(lambda: 0.5, lambda: None):
        pass
    assert terminal.getvalue() == ""


def test_what_is_not_known_is_not_said():
    assert scan_progress.line(0.0, 1.0, None) == f"counting [{' ' * 24}]   0 %"
    assert "M rows/s" not in scan_progress.line(0.5, 1.0, None)
    assert scan_progress.line(0.5, 3.0, 60_000_000).endswith("50 %  10.0 M rows/s  3 s left")


SCRIPT = """
import duckdb
from fairgauge.scan import duckdb_connection
from fairgauge.scan.duckdb_relation import open_relation
relation = open_relation(duckdb.sql("SELECT 1 AS one"))
try:
    print("ready", flush=True)
    list({records})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("records", ["duckdb_connection.run({!r}, 'files')", "relation._run({!r})"])
def test_an_interrupt_ends_a_query(records):
    """In a process of its own: other libraries in this one (Spark) change what signals do."""
    command = [sys.executable, "-c", SCRIPT.format(records=records.format(LONG))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(timeout=20) == 0
