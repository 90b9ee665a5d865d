"""Tables of a lakehouse, Delta and Iceberg, read by polars as of one version, which is named."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from fairgauge.errors import DataError, FairgaugeError, MissingExtra, failed_import, quote
from fairgauge.object_stores import explained, is_object, names_in
from fairgauge.scan.source import Source

_ADDRESS = re.compile(r"(?P<kind>delta|iceberg):(?P<where>.+?)(?:@(?P<version>\d+))?")


def is_lake_table(address: object) -> bool:
    """Return whether an address names a table of a lakehouse.

    >>> is_lake_table("delta:s3://bank/loans@12"), is_lake_table("iceberg:prod.bank.loans")
    (True, True)
    >>> is_lake_table("delta.csv")
    False
    """
    return isinstance(address, str) and _ADDRESS.fullmatch(address) is not None


def open_lake_table(address: str) -> Source:
    """Open ``delta:FOLDER``, ``iceberg:FOLDER`` or ``iceberg:CATALOG.NAMESPACE.TABLE``.

    ``@VERSION`` may follow.

    Raises
    ------
    DataError
        There is no such table, or no such version of it.
    MissingExtra
        The library that reads it is not installed.
    """
    from fairgauge.scan._duckdb_relation import reason
    from fairgauge.scan._frames import open_frame

    parts = _ADDRESS.fullmatch(address)
    assert parts is not None
    version = None if parts["version"] is None else int(parts["version"])
    where = parts["where"].rstrip("/")
    try:
        frame, read = _OPEN[parts["kind"]](where, version)
        return open_frame(frame, f"{parts['kind']}:{where} as of {read}")
    except FairgaugeError:
        raise
    except Exception as error:
        missing = failed_import(error)
        if missing is not None:
            raise MissingExtra(f"reading {quote(address)}", "lake", missing) from None
        raise DataError(f"cannot read {quote(address)}: {reason(error)}") from None


def _delta(where: str, version: int | None) -> tuple[Any, str]:
    import polars as pl
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    with explained(where) if is_object(where) else nullcontext():
        try:
            table = DeltaTable(where, storage_options=_storage_options(where))
        except TableNotFoundError:
            raise DataError(f"there is no Delta table {quote(where)}") from None
    if version is not None:
        last = table.version()
        try:
            table.load_as_version(version)
        except DeltaError:
            raise DataError(
                f"the Delta table {quote(where)} has no version {version} (any more); its last is "
                f"{last}"
            ) from None
    return pl.scan_delta(table), f"version {table.version()}"


def _storage_options(where: str) -> dict[str, str]:
    """Return what lets deltalake and polars into S3 as s3fs is: profiles, and another server."""
    if not where.lower().startswith("s3"):
        return {}
    try:
        from botocore.session import get_session
    except ImportError:  # of the extra cloud; without it they know the environment alone
        return {}
    session = get_session()
    found = session.get_credentials()
    if found is None and "AWS_SKIP_SIGNATURE" not in os.environ:
        raise PermissionError("there are no credentials")
    server = session.create_client("s3").meta
    options = {"AWS_ALLOW_HTTP": "true"} if server.endpoint_url.startswith("http:") else {}
    if ".amazonaws." not in server.endpoint_url:
        options["AWS_ENDPOINT_URL"] = server.endpoint_url
    if found is not None:
        key = found.get_frozen_credentials()
        options |= {
            "AWS_ACCESS_KEY_ID": key.access_key,
            "AWS_SECRET_ACCESS_KEY": key.secret_key,
            "AWS_SESSION_TOKEN": key.token,
            "AWS_REGION": session.get_config_variable("region"),
        }
    return {name: value for name, value in options.items() if value}


def _iceberg(where: str, version: int | None) -> tuple[Any, str]:
    import polars as pl
    from pyiceberg.catalog import load_catalog

    os.environ.setdefault("POLARS_ICEBERG_PLANNER", "pyiceberg")  # or polars warns that it is slow
    if is_object(where) or Path(where).is_dir():
        table: Any = _iceberg_folder(where)
    else:
        catalog, _, name = where.partition(".")
        table = load_catalog(catalog).load_table(name)
    found = table.current_snapshot() if version is None else table.snapshot_by_id(version)
    if found is None:
        what = "rows" if version is None else f"snapshot {version}"
        raise DataError(f"the table {quote(where)} has no {what}")
    number = found.snapshot_id
    return pl.scan_iceberg(table, snapshot_id=number), f"snapshot {number}"


_NUMBERED = re.compile(r"v?(\d+)(-.*)?(\.gz)?\.metadata\.json")


def _iceberg_folder(where: str) -> Any:
    """Return the table of a folder as of the newest of its metadata."""
    from pyiceberg.table import StaticTable

    names = {name.rpartition("/")[2] for name in names_in(f"{where}/metadata")}
    numbers = {name: int(of[1]) for name in names if (of := _NUMBERED.fullmatch(name))}
    newest = [name for name, n in numbers.items() if n == max(numbers.values())]
    if len(newest) != 1:
        raise DataError(
            f"{quote(where)} holds {f'{len(newest)} newest' if newest else 'no'} metadata of an "
            "Iceberg table; name it in its catalogue: iceberg:CATALOG.NAMESPACE.TABLE"
        )
    options = {
        _ICEBERG_NAMES[name]: value
        for name, value in _storage_options(where).items()
        if name in _ICEBERG_NAMES
    }
    file = f"{where}/metadata/{newest[0]}"
    table = StaticTable.from_metadata(file if is_object(where) else os.path.abspath(file), options)  # noqa: PTH100 - links stay
    held, asked = (each.rstrip("/").rpartition("://")[2] for each in (table.location(), where))
    if held not in (asked, os.path.abspath(asked)):  # noqa: PTH100
        raise DataError(
            f"{quote(where)} is a copy: its metadata name the files of the Iceberg table at "
            f"{quote(table.location())}; name that"
        )
    return table


_ICEBERG_NAMES = {
    "AWS_ENDPOINT_URL": "s3.endpoint", "AWS_ACCESS_KEY_ID": "s3.access-key-id",
    "AWS_SECRET_ACCESS_KEY": "s3.secret-access-key", "AWS_SESSION_TOKEN": "s3.session-token",
    "AWS_REGION": "s3.region",
}  # fmt: skip


_OPEN = {"delta": _delta, "iceberg": _iceberg}
