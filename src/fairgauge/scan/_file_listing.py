"""The files that an address names: without leftovers, and with the lake table that they belong to.

The files of a table of Delta, Iceberg, Hudi or DuckLake hold rows that the table no longer has.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from fairgauge.addresses import shown_address
from fairgauge.errors import DataError, listing, quote
from fairgauge.object_stores import Place, address, find_objects, is_object, local_path, names_in

_MOST_FOLDERS = 32
"""Folders of a store that are looked into, as each takes some requests."""


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table of a lakehouse: its kind, and the folder that holds it."""

    kind: str
    folder: str

    def opened_by(self, asked: str) -> str | None:
        """Return the address that opens the table that is named by its folder, if it is read."""
        whole = _absolute(asked.rstrip("/")) == self.folder and self.kind in ("delta", "iceberg")
        return f"{self.kind}:{asked.rstrip('/')}" if whole else None

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

    Attributes
    ----------
    files : its files.
    skipped : those below it whose name, or that of a folder, begins with ``_`` or a dot.
    table : the table that some of the files belong to.
    """

    files: Sequence[Place]
    skipped: Sequence[Place] = ()
    table: LakeTable | None = None


def list_files(asked: str) -> Listing:
    """List the file, the files of a glob, or the Parquet files of a folder, which may be a table.

    Raises
    ------
    DataError
        There are none.
    """
    every, below = find_objects(asked) if is_object(asked) else _local_files(asked)
    found = [each for each in every if not below or address(each).endswith(".parquet")]
    skipped = [each for each in found if _is_left_over(address(each), asked)]
    left_over = set(skipped)
    files = [each for each in found if each not in left_over]
    table = _table_of(asked, every, files, below=below)
    if not files and table is None:
        name = shown_address(asked)
        raise DataError(
            f"{quote(name)} holds no files but those that are skipped, because their name, or that "
            f"of a folder, begins with _ or a dot: {listing(skipped, 3)}; name them to count them"
            if skipped
            else f"the folder {quote(name)} holds no .parquet files; name files of other formats, "
            f"for example {quote(name.rstrip('/') + '/*.csv')}"
        )
    return Listing(files, skipped, table)


def _local_files(asked: str) -> tuple[list[Path], bool]:
    """Return files, and whether they are all those below folders."""
    path = local_path(asked)
    if path.exists() and not path.is_dir():
        return [path], False
    matches = [path]
    if not path.exists():
        wild = any(letter in asked for letter in "*?[")
        matches = [Path(each) for each in glob.glob(asked, recursive=True)] if wild else []  # noqa: PTH207
        if not matches:
            raise DataError(f"no file {quote(asked)}")
    if files := sorted(each for each in matches if not each.is_dir()):
        return files, False
    return sorted(e for folder in matches for e in folder.rglob("*") if e.is_file()), True


def _is_left_over(name: str, asked: str) -> bool:
    """Return whether a file is no part of a table, by the rule of Hadoop, Spark and pyarrow.

    A partition (``_x=1``) is one, and so is what the address itself names.
    """
    parts = name.replace(os.sep, "/").split("/")
    named = (asked if is_object(asked) else str(Path(asked))).replace(os.sep, "/").split("/")
    while parts and named and parts[0] == named[0]:
        del parts[0], named[0]
    return any(
        (part.startswith(".") or (part.startswith("_") and "=" not in part))
        and not any(fnmatchcase(part, each) for each in named if each[:1] == part[:1])
        for part in parts
    )


_MARKS = {
    "delta": re.compile(r"(.*?)/_delta_log/[^/]+"),
    "hudi": re.compile(r"(.*?)/\.hoodie/[^/]+"),
    "iceberg": re.compile(r"(.*?)/metadata/[^/]+\.metadata\.json"),
    "ducklake": re.compile(r"(.*)/ducklake-[^/]+\.parquet"),
}
"""What a file of each kind of table is called, after the folder of the table."""
_BESIDE = ("_delta_log", ".hoodie", "metadata")


def _table_of(
    asked: str, every: Iterable[Place], files: Sequence[Place], *, below: bool
) -> LakeTable | None:
    """Return the table that files belong to, by what stands beside, above or between them."""
    if not (below or any(file.suffix.lower() == ".parquet" for file in files)):
        return None
    if asked.lower().startswith("http"):  # which list nothing
        return _marked(map(address, files))
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
    return _marked(names) or _marked(beside)


def _marked(names: Iterable[str]) -> LakeTable | None:
    found = ((kind, mark.fullmatch(name)) for name in names for kind, mark in _MARKS.items())
    return next((LakeTable(kind, at[1]) for kind, at in found if at), None)


def _absolute(name: str) -> str:
    return name if is_object(name) else os.path.abspath(name).replace(os.sep, "/")  # noqa: PTH100 - links stay


def _above(name: str) -> Iterator[str]:
    """Yield the folders above a file, but for partitions."""
    start = name.find("://") + 3 if is_object(name) else 0
    ends = (found.start() for found in re.finditer("/", name) if found.start() > start)
    yield from (folder for end in ends if "=" not in (folder := name[:end]).rpartition("/")[2])


_CHOOSE = "choose rows of it by conditions (where), and name the table"
_KINDS = {
    "delta": ("a Delta", f"{_CHOOSE}: delta:{{folder}}"),
    "iceberg": (
        "an Iceberg",
        f"{_CHOOSE}: iceberg:{{folder}}, or in its catalogue iceberg:CATALOG.NAMESPACE.TABLE",
    ),
    "hudi": ("a Hudi", "give the frame of an engine that knows Hudi, such as Spark"),
    "ducklake": ("a DuckLake", "attach its catalogue in DuckDB, and give the relation"),
}
"""What each kind is called, and what to do."""
