"""Long scans show how far they are, to people only; and an interrupt ends them at once."""

import io
import signal
import subprocess
import sys
import threading

import pytest
from tests.needs import POSIX

from fairgauge.scan import scan_progress
from fairgauge.scan.scan_progress import progress

LONG = "SELECT sum(hash(i)) FROM range(20000000000) AS t(i)"  # half a minute


class Terminal(io.StringIO):
    """A terminal that tells when something was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.drawn.set()

    def bars(self) -> list[str]:
        return [text for text in self.getvalue().split(scan_progress.ERASE) if text]


def watch(monkeypatch, stream, patience=0.0):
    """Put a stream in the place of standard error; pytest would undo that after a fixture."""
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(scan_progress, "_PATIENCE", patience)
    monkeypatch.setattr(scan_progress, "_STEP", 0.001)
    return stream


def test_a_long_scan_shows_a_bar_and_erases_it(monkeypatch):
    terminal = watch(monkeypatch, Terminal())
    with progress("Counting rows"):
        assert terminal.drawn.wait(10)
    assert terminal.bars()[0].startswith("Counting rows: ")
    assert terminal.getvalue().endswith(scan_progress.ERASE)


def test_a_short_scan_shows_nothing(monkeypatch):
    terminal = watch(monkeypatch, Terminal(), patience=60.0)
    with progress("Counting rows"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("stream", [None, io.StringIO(), "closed"], ids=["none", "file", "closed"])
def test_nothing_where_there_is_no_terminal(monkeypatch, stream):
    """A program without a console (pythonw, a service) has no standard error at all."""
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    watch(monkeypatch, stream)
    before = threading.active_count()
    with progress("Counting rows", lambda: 0.5):
        assert threading.active_count() == before
    if isinstance(stream, io.StringIO) and not stream.closed:
        assert stream.getvalue() == ""


SCRIPT = """
import duckdb
from fairgauge.scan._duckdb_relation import open_relation
relation = open_relation(duckdb.sql("SELECT 1 AS one"))
try:
    print("ready", flush=True)
    list(relation._run({query!r}))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
RUNNING = """
import os, signal, threading
from fairgauge.scan import _duckdb_relation as duck
duck._connection()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()  # when the scan is under way
try:
    list(duck.run({query!r}, "files"))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
GROUPED = "SELECT i % 1000, count(*) FROM range(20000000000) AS t(i) GROUP BY 1"  # minutes


@POSIX
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_a_query_of_a_relation():
    """In a process of its own: other libraries in this one (Spark) change what signals do."""
    command = [sys.executable, "-c", SCRIPT.format(query=LONG)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(timeout=20) == 0


@POSIX
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("query", [LONG, GROUPED])
def test_an_interrupt_ends_a_scan_that_is_under_way(query):
    command = [sys.executable, "-c", RUNNING.format(query=query)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (0, "interrupted\n")


VIEWED = """
import os, signal, sqlite3, threading
import fairgauge as fg
with sqlite3.connect("a.db") as base:
    base.execute("CREATE VIEW a AS WITH RECURSIVE n(p) AS (SELECT 1 UNION ALL SELECT 1 - p FROM n) "
                 "SELECT p, p AS g FROM n")
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    fg.audit(fg.sql("sqlite:///a.db", "a"), prediction="p", sensitive="g")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@POSIX
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_a_view_without_an_end(tmp_path):
    command = [sys.executable, "-c", VIEWED]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=False,
                          cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "interrupted\n")
