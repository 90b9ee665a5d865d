"""Input files: which a path or glob names, their formats, and opening them; standard input."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairgauge.addresses import shown_address
from fairgauge.errors import DataError, listing, quote
from fairgauge.object_stores import Object, Place, address, is_object, open_unzipped
from fairgauge.scan._file_listing import Listing, list_files
from fairgauge.scan._file_records import RECORDS, FileRecord
from fairgauge.scan._lakehouse import is_lake_table, open_lake_table
from fairgauge.scan.source import Source, database_url
from fairgauge.temporary_files import folder_of_process

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "workbook",
    ".xlsm": "workbook",
    **dict.fromkeys((".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"), "statistical"),
}
_COMPRESSED = ("csv", "json")
_ZIP, _UTF_16 = b"PK\x03\x04", (b"\xff\xfe", b"\xfe\xff")
_WORKBOOKS = (".xls", ".ods")
_WORKBOOK = "a workbook of another format; save it as .xlsx"
_SIGNATURES = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    b"\x1f\x8b": ("a gzip file", ".csv.gz"),
}
ARCHIVES = (".zip", ".bz2", ".zst")
_COPY = "stdin-"
_HEAD, _SIGNATURE = 1 << 16, 1 << 8
_skipped: dict[str, list[str]] = {}
"""The files of each address that were skipped when it was opened last; a store is listed once."""
_opened: dict[tuple[str, ...], list[str]] = {}
"""The files that were opened last for what was asked."""
_SHEET = re.compile(r"\.xls[xm]#.", re.IGNORECASE)
_SAVED = re.compile(rb'\s*\{\s*"schema":\s*"fairgauge\.(cube|report|comparison)/')


@dataclass(frozen=True, slots=True)
class StandardInput:
    """A copy of standard input in a file, so that it can be looked at and then scanned.

    Attributes
    ----------
    path : the temporary file.
    saved : what it is, if fairgauge saved it: "cube", "report" or "comparison".
    """

    path: Path
    saved: str | None


def read_standard_input() -> StandardInput:
    """Copy standard input to a temporary file.

    Raises
    ------
    DataError
        Standard input is closed or empty.
    """
    path = standard_input()
    with path.open("rb") as handle:
        return StandardInput(path, _saved(handle.read(_HEAD)))


def _saved(head: bytes) -> str | None:
    """Return what a file is that fairgauge saved, from its first bytes."""
    found = _SAVED.match(head)
    return found[1].decode() if found else None


def open_standard_input(copied: StandardInput) -> Source:
    """Open a copy of standard input.

    Raises
    ------
    DataError
        It holds no rows, or its header is unreadable.
    """
    kind = _format(copied.path)
    check_readable(copied.path, kind)
    return _open(kind, [copied.path], "-")


def open_files(data: str | Path | Sequence[str | Path]) -> Source:
    """Open a path, a folder, a glob, the address of objects, several, or ``-`` (standard input)."""
    asked = [data] if isinstance(data, (str, Path)) else list(data)
    _refuse_repeated(asked)
    read: dict[Place, Place] = {}
    sheet = ""
    for each in asked:
        name, named = _with_sheet(str(each))
        sheet = sheet or named
        found = _listed(name)
        _skipped[name] = [] if found.table else [str(path) for path in found.skipped]
        if found.table is not None:
            whole = found.table.opened_by(str(each))
            if whole is None or len(asked) > 1:
                raise found.table.error()
            return open_lake_table(whole)
        for path in found.files:
            read.setdefault(path.resolve(), path)  # a file with two names is read once
    paths = list(read.values())
    if any(path.suffix.lower() in ARCHIVES for path in paths):
        from fairgauge.scan._archives import unpacked

        paths = [
            unpacked(path, FORMATS) if path.suffix.lower() in ARCHIVES else path for path in paths
        ]
    _opened[tuple(_named(asked))] = [str(path) for path in paths]
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise DataError(f"files of different formats cannot be read together: {listing(paths)}")
    kind = formats.pop()
    if any(isinstance(path, Object) for path in paths):
        from fairgauge.scan._duckdb_relation import read_objects

        read_objects()
    for path in paths:
        check_readable(path, kind)
    if kind == "workbook":
        from fairgauge.scan._workbooks import open_workbook

        if len(paths) > 1:
            raise DataError(f"workbooks are read one at a time: {listing(paths)}")
        return open_workbook(paths[0], str(asked[0]), sheet)
    return _open(kind, paths, ", ".join(shown_address(str(each)) for each in asked))


def copied_files(data: object) -> list[tuple[str, ...]]:
    """Return the local files that hold the same lines in any order; those of one size are read.

    Parts of partitions may be: the names of their folders are values of theirs.
    """
    read: dict[Path, Path] = {}
    named = [each for each in _named(data) if not is_object(each)]
    for found in map(list_files, named):
        for path in found.files if found.table is None else ():
            if isinstance(path, Path) and path.is_file():
                read.setdefault(path.resolve(), path)
    sizes: dict[tuple[object, ...], list[Path]] = {}
    for path in read.values():
        partition = tuple(part for part in path.parts if "=" in part)
        sizes.setdefault((path.stat().st_size, *partition), []).append(path)
    alike: dict[tuple[object, ...], list[str]] = {}
    for size, several in sizes.items():
        for path in several if len(several) > 1 else ():
            with path.open("rb") as handle:
                lines = sum(hash(line.rstrip(b"\r\n")) for line in handle)
            alike.setdefault((*size, lines), []).append(str(path))
    return [tuple(paths) for paths in alike.values() if len(paths) > 1]


def skipped_files(data: object) -> list[str]:
    """Return the files that were skipped when data were opened, as no part of a table."""
    return [path for each in _named(data) for path in _skipped.get(each, ())]


def records_of(data: object) -> list[tuple[str, FileRecord]]:
    """Return what was recorded of each file that was opened, with its name."""
    return [(path, RECORDS[path]) for path in _opened.get(tuple(_named(data)), ())]


def _named(data: object) -> list[str]:
    """Return the addresses of files among what may be data."""
    asked = [data] if isinstance(data, (str, Path)) else data
    if not isinstance(asked, (list, tuple)) or any(not isinstance(e, (str, Path)) for e in asked):
        return []
    names = [_with_sheet(str(each))[0] for each in asked]
    return [name for name in names if name != "-" and not is_lake_table(name)]


def _with_sheet(name: str) -> tuple[str, str]:
    """Return a path, and the sheet that is named after it, of a workbook."""
    path, _, sheet = name.partition("#") if _SHEET.search(name) else (name, "", "")
    return path, sheet


def _refuse_repeated(asked: Sequence[str | Path]) -> None:
    """Refuse a file that is named twice by itself; a glob may find it again."""
    names = [path if is_object(path) else os.path.abspath(path) for path in asked]  # noqa: PTH100 - of "./a.csv" and "a.csv"
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"{quote(asked[i])} is named twice: its rows would count twice")


def _open(kind: str, paths: list[Place], name: str) -> Source:
    if kind == "json":
        from fairgauge.scan._json_files import open_json

        return open_json(paths, name)
    if kind == "statistical":
        from fairgauge.scan._statistical_files import open_statistical

        return open_statistical(paths, name)
    from fairgauge.scan._tabular_files import open_arrow, open_csv, open_parquet

    return {"csv": open_csv, "parquet": open_parquet, "arrow": open_arrow}[kind](paths, name)


def _listed(asked: str) -> Listing:
    if asked != "-":
        return list_files(asked)
    copied = read_standard_input()
    _refuse_saved(copied.path, copied.saved)
    return Listing([copied.path])


def _format(path: Place) -> str:
    suffixes = [s.lower() for s in path.suffixes[-2:]]
    zipped = suffixes[-1:] == [".gz"]
    last = suffixes[-2] if zipped and len(suffixes) > 1 else "".join(suffixes[-1:])
    found = FORMATS.get(last)
    if found is None:
        refuse_database(address(path))
    if found is None or (zipped and found not in _COMPRESSED):
        if last in _WORKBOOKS:
            raise DataError(f"{quote(path)} is {_WORKBOOK}")
        raise DataError(
            f"unknown format of {quote(path)}; known: {', '.join(FORMATS)}, of one table also "
            f"{', '.join(ARCHIVES)}; save the table as one of them, or read it in Python and give "
            "the frame"
        )
    return found


def refuse_database(path: str | Path) -> None:
    """Refuse the file of a database, which is read by its URL."""
    url = database_url(path)
    if url is not None:
        raise DataError(
            f"{quote(path)} is a database; name it by its URL: {url} with --table or --query "
            "(fairgauge.sql in Python)"
        )


def check_readable(path: Place, kind: str) -> None:
    """Check that a file can be read, is not empty, holds rows and, where compressed, is whole."""
    head = _head(path, _HEAD if kind in _COMPRESSED else _SIGNATURE)
    if not head:
        raise DataError(f"{quote(path)} is empty")
    _refuse_saved(path, _saved(head))
    _refuse_other_formats(path, head, kind)
    if kind in _COMPRESSED and path.suffix.lower() == ".gz":
        _check_whole_gzip(path)


def _head(path: Place, size: int) -> bytes:
    try:
        with path.open("rb") as handle:
            return handle.read(size)
    except OSError as error:
        raise DataError(f"cannot read {quote(path)}: {error.strerror}") from None


def _refuse_other_formats(path: Place, head: bytes, kind: str) -> None:
    """Refuse what is saved, or renamed, as a text file: other formats, a workbook, or UTF-16."""
    if kind not in _COMPRESSED or path.suffix.lower() == ".gz":
        return
    for start, (what, suffix) in _SIGNATURES.items():
        if head.startswith(start):
            named = suffix.replace(".csv", path.suffix)
            raise DataError(f"{quote(path)} is {what}; rename it to end in {named}")
    if head.startswith(_ZIP):
        what = "a workbook or an archive; rename it to end in .xlsx or .zip"
        raise DataError(f"{quote(path)} is {what}")
    encoding = "utf-16" if head.startswith(_UTF_16) else ""
    if not encoding and (zero := head[:4].find(0)) >= 0:  # of characters of two bytes
        encoding = "utf-16le" if zero % 2 else "utf-16be"
    if encoding:
        raise DataError(
            f"{quote(path)} is UTF-16 text; save it as UTF-8, for example with "
            f"iconv -f {encoding} -t utf-8"
        )


def _refuse_saved(path: Place, saved: str | None) -> None:
    """Refuse what fairgauge saved: counts and reports are no rows."""
    piped = isinstance(path, Path) and path.parent == folder_of_process()
    name = "standard input" if piped else quote(path)
    if saved == "cube" and piped:
        raise DataError(
            f"{name} holds counts, not rows; audit it alone, or merge it with other counts "
            "(fairgauge merge)"
        )
    if saved == "cube":
        raise DataError(
            f"{name} holds counts, not rows; fairgauge.load reads it, and the name of its file "
            "ends in .cube.json on the command line"
        )
    if saved is not None:
        show = "fairgauge render shows it" if saved == "report" else "make it anew"
        raise DataError(f"{name} holds a {saved}, not rows; {show}")


def _check_whole_gzip(path: Place) -> None:
    """Read a compressed file to its end: a truncated one would otherwise pass as a shorter one."""
    try:
        with open_unzipped(path) as handle:
            while handle.read(1 << 20):
                pass
    except (OSError, EOFError, ValueError):
        raise DataError(f"{quote(path)} is truncated, or not a gzip file") from None


def standard_input() -> Path:
    """Copy standard input to a temporary file, so that it can be looked at and then scanned."""
    try:
        stream = sys.stdin.buffer
        head = stream.read(_HEAD)
    except (AttributeError, ValueError):  # Python has no stream for a closed descriptor
        raise DataError("standard input is closed; pipe the rows in, or name a file") from None
    if not head:
        raise DataError("standard input is empty")
    descriptor, name = tempfile.mkstemp(_suffix(head), _COPY, folder_of_process())
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(head)
        shutil.copyfileobj(stream, handle)
    return Path(name)


def _suffix(head: bytes) -> str:
    for start, (_, suffix) in _SIGNATURES.items():
        if head.startswith(start):
            return suffix
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return ".jsonl" if text[:1] in (b"{", b"[") else ".csv"
