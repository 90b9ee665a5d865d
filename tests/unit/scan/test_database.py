"""Databases that are read: how a connection ends."""

from __future__ import annotations

import gc
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from fairgauge.scan._database import open_database

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_of_sqlite_is_forgotten_in_any_thread(tmp_path: Path) -> None:
    """The collector closes a connection in the thread that runs it, where SQLite may refuse."""
    pytest.importorskip("ibis")
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        connection.execute("CREATE TABLE people (g TEXT)")
    connection.close()
    held = [open_database(f"sqlite:///{tmp_path}/rows.db", "people")]

    def forget() -> None:
        held.clear()
        gc.collect()

    thread = threading.Thread(target=forget)
    thread.start()
    thread.join()
