"""Engines that must be started: a PostgreSQL server, a Spark session; and what they hold."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.needs import EVERY_CASE, missing

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ROWS = int(os.environ.get("FAIRGAUGE_ROWS") or (200_000 if EVERY_CASE else 2_000))
"""How many rows every engine, store and dialect must agree on."""

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


def _user(name: str) -> dict[str, Any]:
    """Run a server as another user where we are root, which servers refuse."""
    return {"user": name} if os.geteuid() == 0 else {}


def _folder(name: str, user: dict[str, Any]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"fairgauge-{name}-"))
    if user:
        shutil.chown(folder, user["user"])
    return folder


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """Start a server in a temporary folder, and stop it by its process id."""
    programs = _programs()
    if programs is None:
        missing("PostgreSQL")
    psycopg = pytest.importorskip("psycopg")
    user = _user("postgres")
    folder, port = _folder("postgres", user), _free_port()
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


@dataclass(frozen=True)
class MariaDB:
    """A MariaDB server on a free port of this machine, and how its client is called."""

    port: int
    client: tuple[str, ...]

    def run(self, sql: str) -> list[list[str | None]]:
        """Run statements; return the records of the last, below the names of its columns."""
        command = [*self.client, "--batch", "--database=test"]
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        escaped = {"\\t": "\t", "\\n": "\n", "\\\\": "\\", "\\0": "\0"}
        records = [line.split("\t") for line in done.stdout.splitlines()]
        return [
            [None if v == "NULL" else re.sub(r"\\.", lambda m: escaped[m[0]], v) for v in record]
            for record in records
        ]

    def table(self, name: str, rows: pa.Table) -> None:
        """Create a table whose collation takes "a" and "A" for the same, as it is by default."""
        kinds = {"string": "varchar(40)", "int64": "bigint", "bool": "boolean",
                 "date32[day]": "date",
                 "timestamp[us, tz=Asia/Tokyo]": "timestamp(6) NULL"}  # fmt: skip
        columns = [
            f"`{each.name}` {kinds.get(str(each.type), str(each.type).replace('128', ''))}"
            for each in rows.schema
        ]
        values = [", ".join(map(_mysql_literal, row.values())) for row in rows.to_pylist()]
        inserts = [
            f"INSERT INTO {name} VALUES " + ", ".join(f"({each})" for each in values[i : i + 5_000])
            for i in range(0, len(values), 5_000)  # a statement has at most 16 MB
        ]
        self.run("; ".join([f"CREATE TABLE {name} ({', '.join(columns)})", *inserts]))


def by_library_of_mysql(
    script: str, url: str, rows: str, asked: dict[str, object], made: str | Path
) -> None:
    """Run a script of tests/clients where the library of MySQL is installed."""
    command = [str(ROOT / "tests" / "clients" / script), url, rows, json.dumps(asked), str(made)]
    assert python_of_mysql(command).returncode == 0


def python_of_mysql(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run Python where the library of MySQL is installed."""
    python = ROOT / ".clients" / "mysql" / "bin" / "python"
    if not python.exists():
        missing("MySQL's library", "tests/prepare")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [python, *arguments], check=False, capture_output=True, text=True, env=environment
    )


def _mysql_literal(value: object) -> str:
    if value is None or value != value:  # MariaDB has no NaN
        return "NULL"
    if isinstance(value, (bool, int, float, Decimal)):
        return str(value)
    if isinstance(value, dt.datetime) and value.tzinfo:
        return f"'{value.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f}'"
    return "'" + str(value).replace("\\", "\\\\").replace("'", "''") + "'"


@contextlib.contextmanager
def mariadb_server() -> Iterator[MariaDB]:
    """Start a server in a temporary folder, and stop it by its process id."""
    program = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        missing("MariaDB")
    user = _user("mysql")
    folder, port = _folder("mariadb", user), _free_port()
    create = ["mariadb-install-db", "--no-defaults", f"--datadir={folder}/rows",
              "--auth-root-authentication-method=normal"]  # fmt: skip
    subprocess.run(create, cwd=folder, check=True, capture_output=True, **user)
    options = [f"--datadir={folder}/rows", f"--port={port}", f"--socket={folder}/socket",
               "--bind-address=127.0.0.1", "--character-set-server=utf8mb4",
               "--innodb-flush-log-at-trx-commit=0", f"--pid-file={folder}/pid"]  # fmt: skip
    with (folder / "log").open("w") as handle:
        server = subprocess.Popen(
            [program, "--no-defaults", *options], cwd=folder, stderr=handle, **user
        )
    client = ("mariadb", "--no-defaults", "-u", "root", f"--socket={folder}/socket",
              "--default-character-set=utf8mb4")  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        ping = ["mariadb-admin", *client[1:-1], "ping"]
        while subprocess.run(ping, capture_output=True, check=False).returncode:
            assert time.monotonic() < deadline, (folder / "log").read_text()
        subprocess.run([*client, "-e", "CREATE DATABASE IF NOT EXISTS test"], check=True)
        yield MariaDB(port, client)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_list(kind):
        return "text[]"
    names = {"int64": "bigint", "double": "double precision", "float": "real", "bool": "boolean"}
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
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR", "spark.sql.session.timeZone": "Asia/Tokyo",
    }  # fmt: skip
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def spark_frame(table: pa.Table) -> Any:
    """Return the rows as a Spark frame."""
    from pyspark.sql.pandas.types import from_arrow_schema

    spark = spark_session()
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], schema)
