"""Databases that are read: how a connection ends."""

import gc
import sqlite3
import threading
from pathlib import Path

import duckdb
import pytest

from fairgauge.errors import DataError
from fairgauge.scan._database import open_database


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


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_one_statement_is_counted_or_none(engine: str, tmp_path: Path) -> None:
    """Of two SELECTs DuckDB returned the last, and a report was of its rows alone."""
    pytest.importorskip("ibis")
    file = tmp_path / "rows.db"
    connect = sqlite3.connect if engine == "sqlite" else duckdb.connect
    connection = connect(str(file))  # type: ignore[operator]
    connection.execute("CREATE TABLE people (g TEXT)")
    connection.commit()
    connection.close()
    url = f"{engine}:///{file}"
    for two in ("SELECT * FROM people; SELECT 1 AS g", "SELECT 1; DROP TABLE people;"):
        with pytest.raises(DataError, match="holds 2 statements; write one SELECT"):
            open_database(url, two)
    for one in (
        "SELECT * FROM people",
        "SELECT * FROM people; ",
        "SELECT g FROM people WHERE g <> ';';",
    ):
        assert open_database(url, one).columns == ("g",)


@pytest.mark.parametrize("scheme", ["duckdb", "sqlite", "DuckDB", "SQLite"])
@pytest.mark.parametrize("log", ["delete", "wal"])
def test_a_file_is_opened_for_reading_alone(scheme: str, log: str, tmp_path: Path) -> None:
    """SQLite wrote what a journal beside a file holds into it, and removed the journal."""
    pytest.importorskip("ibis")
    file, lite = tmp_path / "rows #1.db", scheme.lower() == "sqlite"
    connection = sqlite3.connect(file) if lite else duckdb.connect(file)
    if lite:
        connection.execute(f"PRAGMA journal_mode = {log}")
    connection.execute("CREATE TABLE people AS SELECT 'a' AS g")
    connection.commit()
    connection.close()

    def kept() -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    before = kept()
    source = open_database(f"{scheme}:///{file}", "people")
    assert source.columns == ("g",)
    assert kept() == before
    if lite:
        con = source.table.get_backend().con  # type: ignore[attr-defined]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            con.execute("CREATE TABLE other (g TEXT)")
        for end in ("-journal", "-wal"):
            (tmp_path / f"rows #1.db{end}").write_bytes(b"")
            with pytest.raises(DataError, match=r"has a journal beside it .* copy the file alone"):
                open_database(f"{scheme}:///{file}", "people")
            (tmp_path / f"rows #1.db{end}").unlink()
    assert kept() == before
