"""Engines that must be started: a PostgreSQL server, a Spark session; and what they hold."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.needs import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

_numbers = itertools.count()


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server on a free port of this machine, and the log of its statements."""

    url: str
    log: Path


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _user() -> dict[str, Any]:
    """Run the server as another user where we are root, which PostgreSQL refuses."""
    return {"user": "postgres"} if os.geteuid() == 0 else {}


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """Start a server in a temporary folder, and stop it by its process id."""
    programs = _programs()
    if programs is None:
        missing("PostgreSQL")
    psycopg = pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="fairgauge-postgres-"))
    user = _user()
    if user:
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rows = folder / "rows"
    create = [programs / "initdb", "-D", rows, "-A", "trust", "-U", "fairgauge", "-E", "UTF8"]
    subprocess.run([*create, "--no-sync"], cwd=folder, check=True, capture_output=True, **user)
    settings = ["listen_addresses=127.0.0.1", "fsync=off", "log_statement=all"]
    chosen = [part for each in settings for part in ("-c", each)]
    log = folder / "log"
    with log.open("w") as handle:
        server = subprocess.Popen(
            [programs / "postgres", "-D", rows, "-p", str(port), "-k", folder, *chosen],
            cwd=folder, stderr=handle, **user,
        )  # fmt: skip
    url = f"postgresql://fairgauge@127.0.0.1:{port}/postgres"
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(url).close()
                break
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
        yield Server(url, log)
    finally:
        server.send_signal(signal.SIGINT)  # SIGTERM would wait for clients that a test left open
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_list(kind):
        return "text[]"
    names = {"int64": "bigint", "double": "double precision", "bool": "boolean"}
    return {**names, "date32[day]": "date"}.get(str(kind), "text")


def postgres_table(url: str, table: pa.Table) -> str:
    """Create a table with these rows and return its name."""
    import psycopg

    name = f"rows_{next(_numbers)}"
    quoted = ['"' + column.replace('"', '""') + '"' for column in table.column_names]
    types = [_postgres_type(field.type) for field in table.schema]
    columns = ", ".join(f"{q} {t}" for q, t in zip(quoted, types, strict=True))
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in table.to_pylist():
                copy.write_row(list(row.values()))
    return name


@cache
def spark_session() -> Any:
    """Start a Spark session of one thread, once for the tests of a process."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        missing("Java, which Spark needs,")
    builder = sql.SparkSession.builder.master("local[1]").appName("fairgauge tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "Asia/Tokyo",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def spark_frame(table: pa.Table) -> Any:
    """Return the rows as a Spark frame."""
    from pyspark.sql.pandas.types import from_arrow_schema

    spark = spark_session()
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], schema)
