"""Input files: which a path or glob names, their formats, and opening them; standard input.

Archives of one table, and logs of Inspect, are unpacked beside the run and read there.
"""

from __future__ import annotations

import bz2
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, cast

from fairgauge.atomic_files import folder_of_process
from fairgauge.errors import DataError, FairgaugeError, listing, needing, quote, shown_address
from fairgauge.object_stores import Object, Place, is_object, most_unpacked, open_unzipped
from fairgauge.scan._file_listing import Listing, is_lake_table, list_files, open_lake_table
from fairgauge.scan.source import RECORDS, FileRecord, Opened, Source, check_unique_names
from fairgauge.start.records import dataclass

_SUFFIXES = {
    "csv": ".csv .tsv .txt",
    "json": ".jsonl .ndjson .json .eval",
    "parquet": ".parquet .pq",
    "arrow": ".arrow .feather .ipc",
    "workbook": ".xlsx .xlsm",
    "statistical": ".sav .zsav .por .dta .sas7bdat .xpt",
}
FORMATS = {suffix: kind for kind, known in _SUFFIXES.items() for suffix in known.split()}
"""The formats that are read, by the suffixes of their files."""
_COMPRESSED = ("csv", "json")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_TABLE = "save its table as .csv or .parquet"
_FRAME = "read it in Python, and give the frame"
_DATABASE = "name it by its URL, such as sqlite:///FILE.db, with --table or --query"
WAYS_OUT = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), "open it, and save it as .xlsx"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "in R, save it by haven::write_sav as .sav"),
    **dict.fromkeys((".tar", ".tgz", ".7z", ".rar", ".xz", ".lz4"), "unpack it, and name the file"),
    **dict.fromkeys((".pkl", ".pickle", ".npy", ".npz", ".h5", ".hdf5", ".orc", ".avro"), _FRAME),
    **dict.fromkeys((".mdb", ".accdb", ".dbf", ".sps", ".mtw", ".jmp", ".sd2"), _TABLE),
    **dict.fromkeys((".pdf", ".docx", ".doc", ".html", ".xml", ".md"), _TABLE),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3", ".duckdb"), _DATABASE),
    ".sas7bcat": "name the .sas7bdat file beside it, whose labels it holds",
}
"""What to do with files of formats that are not read."""
_SIGNATURES = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz"}
ARCHIVES = (".zip", ".bz2", ".zst")
_COPY = "stdin-"
_HEAD, _SIGNATURE = 1 << 16, 1 << 8
# the files that were opened last for what was asked, and those that were skipped
_opened: dict[tuple[str, ...], tuple[list[Place], list[Place]]] = {}
# a workbook with the name of a sheet, or a text file with the line of its header
_SHEET = re.compile(r"\.xls[xm]#.|\.(csv|tsv|txt)(\.gz)?#[1-9]\d*$", re.IGNORECASE)
_SAVED = re.compile(rb'\s*\{\s*"schema":\s*"fairgauge\.(cube|report|comparison)/')


@dataclass(frozen=True, slots=True)
class StandardInput:
    """A copy of standard input in a file, so that it can be looked at and then scanned.

    ``path``: the temporary file.
    ``saved``: what it is, if fairgauge saved it: "cube", "report" or "comparison".
    """

    path: Path
    saved: str | None


def read_standard_input() -> StandardInput:
    """Copy standard input to a temporary file, so that it can be looked at and then scanned."""
    try:
        stream = sys.stdin.buffer
        head = stream.read(_HEAD)
    except (AttributeError, ValueError):  # Python has no stream for a closed descriptor
        raise DataError("standard input is closed; pipe the rows in, or name a file") from None
    if not head:
        raise DataError("standard input is empty")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    suffix = ".jsonl" if text[:1] in (b"{", b"[") else ".csv"
    known = (suffix for start, suffix in _SIGNATURES.items() if head.startswith(start))
    descriptor, name = tempfile.mkstemp(next(known, suffix), _COPY, folder_of_process())
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(head)
        shutil.copyfileobj(stream, handle)
    return StandardInput(Path(name), _saved_format(head))


def _saved_format(head: bytes) -> str | None:
    found = _SAVED.match(head)
    return found[1].decode() if found else None


def open_standard_input(copied: StandardInput) -> Source:
    """Open a copy of standard input."""
    kind = _format(copied.path)
    check_readable(copied.path, kind)
    return _open_kind(kind, [copied.path], "-")


def open_files(data: str | Path | Sequence[str | Path]) -> Source:
    """Open a path, a folder, a glob, the address of objects, several, or ``-`` (standard input)."""
    asked = [data] if isinstance(data, (str, Path)) else list(data)
    names = [path if is_object(path) else os.path.abspath(path) for path in asked]  # noqa: PTH100 - of "./a.csv" and "a.csv"
    for i, name in enumerate(names):  # a glob may find a file again
        if name in names[:i]:
            raise DataError(f"{quote(asked[i])} is named twice: its rows would count twice")
    read: dict[Place, Place] = {}
    skipped: list[Place] = []
    sheet = ""
    for each in asked:
        name, named = _split_sheet(str(each))
        sheet = sheet or named
        found = _list_asked(name)
        if found.table is not None:
            if len(asked) > 1 or not found.table.opened_by(str(each)):
                raise found.table.error()
            return open_lake_table(f"delta:{str(each).rstrip('/')}")
        skipped += found.skipped
        for path in found.files:
            read.setdefault(path.resolve(), path)  # a file with two names is read once
    paths = [*map(_unpack_table, read.values())]
    _opened[_file_names(asked)] = paths, skipped
    paths = [*map(_samples_of_log, paths)]
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise DataError(f"files of different formats cannot be read together: {listing(paths)}")
    kind = formats.pop()
    if any(isinstance(path, Object) for path in paths):
        from fairgauge.scan._duckdb_relation import read_objects

        read_objects()
    for path in paths:
        check_readable(path, kind)
    return _open_kind(kind, paths, ", ".join(shown_address(str(each)) for each in asked), sheet)


def opened_files(data: object) -> tuple[dict[Place, FileRecord], list[Place]]:
    """Return the files that were opened of data with their records, and those that were skipped."""
    read, skipped = _opened.get(_file_names(data), ([], []))
    return {path: RECORDS[str(path)] for path in read}, skipped


def _file_names(data: object) -> tuple[str, ...]:
    asked = [data] if isinstance(data, (str, Path)) else data
    if not isinstance(asked, (list, tuple)) or any(not isinstance(e, (str, Path)) for e in asked):
        return ()
    names = (_split_sheet(str(each))[0] for each in asked)
    return tuple(name for name in names if name != "-" and not is_lake_table(name))


def _split_sheet(name: str) -> tuple[str, str]:
    path, _, sheet = name.partition("#") if _SHEET.search(name) else (name, "", "")
    return path, sheet


def _open_kind(kind: str, paths: list[Place], name: str, part: str = "") -> Source:
    if kind == "workbook":
        from fairgauge.scan._typed_files import open_workbook

        if len(paths) > 1:
            raise DataError(f"workbooks are read one at a time: {listing(paths)}")
        return open_workbook(paths[0], name, part)
    if kind == "statistical":
        from fairgauge.scan._typed_files import open_statistical

        return open_statistical(paths, name)
    from fairgauge.scan._tabular_files import open_arrow, open_csv, open_json, open_parquet

    if kind == "csv":
        return open_csv(paths, name, int(part or 0))
    return {"json": open_json, "parquet": open_parquet, "arrow": open_arrow}[kind](paths, name)


def _list_asked(asked: str) -> Listing:
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
    if found is None or (zipped and found not in _COMPRESSED):
        known = f"known are {', '.join(FORMATS)}, of one table also {', '.join(ARCHIVES)}"
        way = WAYS_OUT.get(last, f"{known}; {_TABLE}, or {_FRAME}")
        raise DataError(f"{quote(path)} has a format that is not read: {way}")
    return found


def check_readable(path: Place, kind: str) -> None:
    """Check that a file can be read, is not empty, holds rows and, where compressed, is whole."""
    try:
        with path.open("rb") as handle:
            head = handle.read(_HEAD if kind in _COMPRESSED else _SIGNATURE)
    except OSError as error:
        raise DataError(f"cannot read {quote(path)}: {error.strerror}") from None
    if not head:
        raise DataError(f"{quote(path)} is empty")
    _refuse_saved(path, _saved_format(head))
    _refuse_other_formats(path, head, kind)
    if kind in _COMPRESSED and path.suffix.lower() == ".gz":
        try:  # to its end: a truncated one would otherwise pass as a shorter one
            with open_unzipped(path) as handle:
                while handle.read(1 << 20):
                    pass
        except (OSError, EOFError, ValueError):
            raise DataError(f"{quote(path)} is truncated, or not a gzip file") from None


def _refuse_other_formats(path: Place, head: bytes, kind: str) -> None:
    # refuse what is saved, or renamed, as a text file: other formats, a workbook, or UTF-16
    if kind not in _COMPRESSED or path.suffix.lower() == ".gz":
        return
    if head.startswith((*_SIGNATURES, b"PK\x03\x04")):
        what = f"{', '.join(_SIGNATURES.values())} or .xlsx"
        raise DataError(f"{quote(path)} is no text: rename it to end as its format does ({what})")
    if head.startswith(_UTF_16) or 0 in head[:4]:  # characters of two bytes
        raise DataError(f"{quote(path)} is UTF-16 text; save it as UTF-8")


def _refuse_saved(path: Place, saved: str | None) -> None:
    piped = isinstance(path, Path) and path.parent == folder_of_process()
    name = "standard input" if piped else quote(path)
    if saved == "cube":
        raise DataError(
            f"{name} holds counts, not rows; audit them alone, or merge them with other counts "
            "(fairgauge merge): the name of their file ends in .cube.json"
        )
    if saved is not None:
        show = "fairgauge render shows it" if saved == "report" else "make it anew"
        raise DataError(f"{name} holds a {saved}, not rows; {show}")


_PIECE = 1 << 20


def _unpack_table(path: Place) -> Place:
    # a copy of the one table of an archive; itself where it is none
    if path.suffix.lower() not in ARCHIVES:
        return path
    room = shutil.disk_usage(folder := Path(tempfile.mkdtemp(dir=folder_of_process()))).free
    try:
        with path.open("rb") as packed:
            room = min(room, most_unpacked(cast("IO[bytes]", packed)))
            with _open_member(packed, path) as (held, name), (folder / name).open("wb") as target:
                while piece := held.read(_PIECE):
                    room -= len(piece)
                    if room < 0:
                        raise DataError(  # noqa: TRY301
                            f"{quote(path)} unpacks to more than there is room for, or than 200 "
                            "times its size; unpack it yourself, and name the file"
                        )
                    target.write(piece)
    except FairgaugeError:
        raise
    except Exception as error:  # an archive that others wrote may hold anything
        message = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"cannot unpack {quote(path)}: {message}") from None
    return folder / name


@contextmanager
def _open_member(packed: Any, path: Place) -> Iterator[tuple[IO[bytes], str]]:
    kind = path.suffix.lower()
    if kind == ".zip":
        with zipfile.ZipFile(packed) as archive:
            name = _name_of_only_table(archive, path)
            yield archive.open(name), Path(name).name
    elif kind == ".bz2":
        with bz2.open(packed) as held:
            yield held, PurePosixPath(str(path)).stem
    else:
        with needing("arrow", "reading .zst files"):
            import pyarrow as pa
        with pa.CompressedInputStream(packed, "zstd") as held:
            yield held, PurePosixPath(str(path)).stem


def _name_of_only_table(archive: zipfile.ZipFile, path: Place) -> str:
    names = [each.filename for each in archive.infolist() if not each.is_dir()]
    tables = [
        name
        for name in names
        if PurePosixPath(name).suffix.lower() in FORMATS
        and not any(part.startswith((".", "__")) for part in PurePosixPath(name).parts)
    ]
    if len(tables) != 1:
        what = f"{len(tables)} tables" if tables else "no table"
        raise DataError(
            f"{quote(path)} holds {what} ({listing(tables or names, 4)}); an archive of one is "
            "read: unpack it, and name the file"
        )
    return tables[0]


_KEPT = ("id", "epoch", "target", "choices", "metadata", "scores", "error")
_DEFLATED, _ZSTANDARD = 8, 93
_LARGEST_SAMPLE = 50_000_000  # JSON may take 30 times its size of memory
_LOCAL_HEADER, _NAME_AT = 30, 26


def _samples_of_log(path: Place) -> Place:
    # a copy of the samples of a log of Inspect as JSON lines, without messages and events: what is
    # asked are their metadata and scores
    if path.suffix.lower() != ".eval":
        return path
    name, rows = f"{PurePosixPath(str(path)).stem}.jsonl", 0
    copy = Path(tempfile.mkdtemp(dir=folder_of_process())) / name
    try:
        with path.open("rb") as log, copy.open("w", encoding="utf-8") as target:
            for sample in _samples(cast("IO[bytes]", log)):
                target.write(json.dumps(sample) + "\n")
                rows += 1
    except FairgaugeError:
        raise
    except Exception as error:
        raise DataError(f"cannot read {quote(path)} as a log of Inspect: {error}") from None
    if not rows:
        raise DataError(f"{quote(path)} is a log of Inspect without samples")
    return copy


def _samples(log: IO[bytes]) -> Iterator[dict[str, object]]:
    room = most_unpacked(log)
    size = log.seek(0, os.SEEK_END)
    with zipfile.ZipFile(log) as archive:
        if sum(member.compress_size for member in archive.infolist()) > size:
            raise ValueError("its parts overlap")
        start = _member_of_log(log, archive.getinfo("_journal/start.json"), room)
        started = json.loads(start)["eval"]
        for member in archive.infolist():
            if member.filename.startswith("samples/") and member.filename.endswith(".json"):
                content = _member_of_log(log, member, min(room, _LARGEST_SAMPLE))
                room -= len(content)
                sample = json.loads(content)
                kept = {name: sample[name] for name in _KEPT if sample.get(name) is not None}
                yield {"task": started.get("task"), "model": started.get("model"), **kept}


def _member_of_log(log: IO[bytes], member: zipfile.ZipInfo, room: int) -> bytes:
    content = _unpack_member(log, member, room + 1)
    if len(content) > room:
        most = f"a sample has more than {_LARGEST_SAMPLE:,} bytes"
        raise ValueError(f"{most}, or it unpacks to more than 200 times its size")
    return content


def _unpack_member(log: IO[bytes], member: zipfile.ZipInfo, most: int) -> bytes:
    # a member; before Python 3.14 zipfile unpacks no zstandard, in which logs are kept
    log.seek(member.header_offset)
    header = log.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (_NAME_AT, _NAME_AT + 2))
    log.seek(name + extra, 1)
    packed = log.read(member.compress_size)
    if member.compress_type == _DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    if member.compress_type != _ZSTANDARD:
        return packed
    with needing("arrow", "reading logs of Inspect"):
        import pyarrow as pa
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as held:
        return cast("bytes", held.read(most))


_PARTITION = re.compile(r"/([^/=]+)=(?=[^/]*/)")


def read_by_spark(master: str, paths: Sequence[str]) -> Opened:
    """Open Parquet files by a Spark session of a master (``local[*]``, ``sc://...``)."""
    from fairgauge.scan._tabular_files import MISSING_PARTITION
    from fairgauge.scan.spark import SparkFrame, spark_session

    name = listing(paths)
    for path in paths:
        if FORMATS.get(PurePath(path.removesuffix(".gz")).suffix.lower(), "parquet") != "parquet":
            raise DataError(
                f"Spark counts Parquet files, not {quote(path)}; omit --spark: fairgauge reads it"
            )
        if Path(path).exists() and (table := list_files(path).table):
            raise table.error()
    with spark_session(master, name) as session:
        frame = session.read.parquet(*paths)
        check_unique_names(frame.columns, name)
        texts = {f.name for f in frame.schema.fields if f.dataType.typeName() == "string"}
        texts &= set(_PARTITION.findall("\n".join(frame.inputFiles()))) if texts else set()
        frame = frame.replace(MISSING_PARTITION, None, sorted(texts)) if texts else frame
        return Opened(SparkFrame(", ".join(paths), frame, frozenset(texts)))
