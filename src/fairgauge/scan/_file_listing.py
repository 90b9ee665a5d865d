"""The files that an address names: without leftovers, and with the lake table that they belong to.

The files of a table of Delta, Iceberg, Hudi or DuckLake hold rows that the table no longer has.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from fairgauge.errors import DataError, listing, quote, shown_address
from fairgauge.object_stores import (
    Place,
    address,
    explain_store_errors,
    find_objects,
    is_object,
    local_path,
    names_in,
)
from fairgauge.scan._frames import open_frame
from fairgauge.scan.source import Source
from fairgauge.start.records import dataclass

# folders of a store that are looked into, as each takes some requests
_MOST_FOLDERS = 32


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table of a lakehouse: its kind, and the folder that holds it."""

    kind: str
    folder: str

    def opened_by(self, asked: str) -> bool:
        """Return whether the name of its folder opens it, as of Delta."""
        return self.kind == "delta" and _absolute(asked.rstrip("/")) == self.folder

    def error(self) -> DataError:
        """Return the error where some of its files are named in place of the table."""
        kind, instead = _KINDS[self.kind]
        return DataError(
            f"{quote(self.folder)} is {kind} table, whose files may hold rows that it no longer "
            f"has; {instead.format(folder=self.folder)}"
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """What an address names.

    ``files``: its files.
    ``skipped``: those below it whose name, or that of a folder, begins with ``_`` or a dot.
    ``table``: the table that some of the files belong to.
    """

    files: Sequence[Place]
    skipped: Sequence[Place] = ()
    table: LakeTable | None = None


def list_files(asked: str) -> Listing:
    """List the files of a path, a glob, or a folder of Parquet files, which may be a table."""
    every, below = find_objects(asked) if is_object(asked) else _local_files(asked)
    found = [each for each in every if not below or address(each).endswith(".parquet")]
    skipped = [each for each in found if _is_left_over(address(each), asked)]
    left_over = set(skipped)
    files = [each for each in found if each not in left_over]
    table = _table_of(asked, every, files, below=below)
    if not files and table is None:
        name = shown_address(asked)
        held = {Path(address(each)).suffix for each in every}
        suffix = next((each for each in (".jsonl", ".eval", ".json") if each in held), ".csv")
        raise DataError(
            f"{quote(name)} holds no files but those that are skipped, because their name, or that "
            f"of a folder, begins with _ or a dot: {listing(skipped, 3)}; name them to count them"
            if skipped
            else f"the folder {quote(name)} holds no .parquet files; name files of other formats, "
            f"for example {quote(name.rstrip('/') + '/*' + suffix)}"
        )
    return Listing(files, skipped, table)


def _local_files(asked: str) -> tuple[list[Path], bool]:
    path = local_path(asked)
    try:
        is_there = path.exists()
    except OSError as error:
        raise DataError(f"cannot read {quote(asked)}: {error.strerror}") from None
    matches = [path]
    if not is_there:
        wild = any(letter in asked for letter in "*?[")
        matches = [Path(each) for each in glob.glob(asked, recursive=True)] if wild else []  # noqa: PTH207
        if not matches:
            raise DataError(f"no file {quote(asked)}")
    for each in matches:
        if each.exists() and not (each.is_file() or each.is_dir()):
            way = "pass its rows to standard input and name it -"
            raise DataError(f"{quote(each)} is a pipe or a device; {way}")
    if files := sorted(each for each in matches if not each.is_dir()):
        return files, False
    return sorted(e for folder in matches for e in folder.rglob("*") if e.is_file()), True


def _is_left_over(name: str, asked: str) -> bool:
    # a partition (``_x=1``) is one, and so is what the address itself names
    parts = name.replace(os.sep, "/").split("/")
    named = (asked if is_object(asked) else str(Path(asked))).replace(os.sep, "/").split("/")
    while parts and named and parts[0] == named[0]:
        del parts[0], named[0]
    return any(
        (part.startswith(".") or (part.startswith("_") and "=" not in part))
        and not any(fnmatchcase(part, each) for each in named if each[:1] == part[:1])
        for part in parts
    )


# what a file of each kind of table is called, after the folder of the table
_MARKS = {
    "delta": re.compile(r"(.*?)/_delta_log/[^/]+"),
    "hudi": re.compile(r"(.*?)/\.hoodie/[^/]+"),
    "iceberg": re.compile(r"(.*?)/metadata/[^/]+\.metadata\.json"),
    "ducklake": re.compile(r"(.*)/ducklake-[^/]+\.parquet"),
}
_BESIDE = ("_delta_log", ".hoodie", "metadata")


def _table_of(
    asked: str, every: Iterable[Place], files: Sequence[Place], *, below: bool
) -> LakeTable | None:
    if not (below or any(file.suffix.lower() == ".parquet" for file in files)):
        return None
    if asked.lower().startswith("http"):  # which list nothing
        return _find_lake_table(map(address, files))
    names = [_absolute(address(each)) for each in every]
    folder = [_absolute(asked.rstrip("/") or "/")] if below and not glob.has_magic(asked) else []
    folders = {above for name in folder or names for above in (*folder, *_above(name))}
    ordered = sorted(folders, key=lambda each: (each.count("/"), each))
    beside = (
        f"{folder}/{mark}/{name.rpartition('/')[2]}"
        for folder in islice(ordered, _MOST_FOLDERS if is_object(asked) else None)
        for mark in _BESIDE
        for name in names_in(f"{folder}/{mark}")
    )
    return _find_lake_table(names) or _find_lake_table(beside)


def _find_lake_table(names: Iterable[str]) -> LakeTable | None:
    found = ((kind, mark.fullmatch(name)) for name in names for kind, mark in _MARKS.items())
    return next((LakeTable(kind, at[1]) for kind, at in found if at), None)


def _absolute(name: str) -> str:
    return name if is_object(name) else os.path.abspath(name).replace(os.sep, "/")  # noqa: PTH100 - links stay


def _above(name: str) -> Iterator[str]:
    start = name.find("://") + 3 if is_object(name) else 0
    ends = (found.start() for found in re.finditer("/", name) if found.start() > start)
    yield from (folder for end in ends if "=" not in (folder := name[:end]).rpartition("/")[2])


_CHOOSE = "choose rows of it by conditions (where), and name the table"
# what each kind is called, and what to do
_KINDS = {
    "delta": ("a Delta", f"{_CHOOSE}: delta:{{folder}}"),
    "iceberg": ("an Iceberg", f"{_CHOOSE} in its catalogue: iceberg:CATALOG.NAMESPACE.TABLE"),
    "hudi": ("a Hudi", "give the frame of an engine that knows Hudi, such as Spark"),
    "ducklake": ("a DuckLake", "attach its catalogue in DuckDB, and give the relation"),
}


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
    """Open ``delta:FOLDER`` or ``iceberg:CATALOG.NAMESPACE.TABLE``; ``@VERSION`` may follow."""
    from fairgauge.scan._duckdb_relation import explained_errors

    parts = _ADDRESS.fullmatch(address)
    assert parts is not None
    version = None if parts["version"] is None else int(parts["version"])
    where = parts["where"].rstrip("/")
    with explained_errors(address, "lake"):
        frame, read = _OPEN[parts["kind"]](where, version)
        return open_frame(frame, f"{parts['kind']}:{where} as of {read}")


def _delta(where: str, version: int | None) -> tuple[object, str]:
    import polars as pl
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    with explain_store_errors(where) if is_object(where) else nullcontext():
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
    # what lets deltalake and polars into S3 as s3fs is: profiles, and another server
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


def _iceberg(where: str, version: int | None) -> tuple[object, str]:
    import polars as pl
    from pyiceberg.catalog import load_catalog

    os.environ.setdefault("POLARS_ICEBERG_PLANNER", "pyiceberg")  # or polars warns that it is slow
    catalog, _, name = where.partition(".")
    table = load_catalog(catalog).load_table(name)
    found = table.current_snapshot() if version is None else table.snapshot_by_id(version)
    if found is None:
        what = "rows" if version is None else f"snapshot {version}"
        raise DataError(f"the table {quote(where)} has no {what}")
    number = found.snapshot_id
    return pl.scan_iceberg(table, snapshot_id=number), f"snapshot {number}"


_OPEN = {"delta": _delta, "iceberg": _iceberg}
