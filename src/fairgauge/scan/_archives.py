"""Archives: of one table, unpacked beside the run and read there; and logs of Inspect.

A log (``.eval``) is an archive of one JSON object a sample; it is made JSON lines. Messages and
events of a sample are excluded: what is asked are its metadata and scores.
"""

from __future__ import annotations

import bz2
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from fairgauge.atomic_files import folder_of_process
from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.object_stores import Place

_PIECE = 1 << 20


def unpack_table(path: Place, known: Collection[str]) -> Place:
    """Return a copy of the one table of an archive, which has one of these suffixes."""
    room = shutil.disk_usage(folder := Path(tempfile.mkdtemp(dir=folder_of_process()))).free
    try:
        with (
            path.open("rb") as packed,
            _open_member(cast("IO[bytes]", packed), path, known) as (held, name),
        ):
            copy = folder / name
            with copy.open("wb") as target:
                while piece := held.read(_PIECE):
                    room -= len(piece)
                    if room < 0:
                        raise DataError(f"{quote(path)} needs more room than there is, unpacked")
                    target.write(piece)
    except (OSError, EOFError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"cannot unpack {quote(path)}: {message}") from None
    return copy


@contextmanager
def _open_member(
    packed: IO[bytes], path: Place, known: Collection[str]
) -> Iterator[tuple[IO[bytes], str]]:
    kind = path.suffix.lower()
    if kind == ".zip":
        with zipfile.ZipFile(packed) as archive:
            yield (
                (opened := archive.open(_name_of_only_table(archive, path, known))),
                Path(opened.name or "").name,
            )
    elif kind == ".bz2":
        with bz2.open(packed) as held:
            yield held, PurePosixPath(str(path)).stem
    else:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingExtra("reading .zst files", "arrow", error) from None
        with pa.CompressedInputStream(packed, "zstd") as held:
            yield held, PurePosixPath(str(path)).stem


def _name_of_only_table(archive: zipfile.ZipFile, path: Place, known: Collection[str]) -> str:
    names = [each.filename for each in archive.infolist() if not each.is_dir()]
    tables = [
        name
        for name in names
        if PurePosixPath(name).suffix.lower() in known
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
_LOCAL_HEADER, _NAME_AT = 30, 26


def samples_of_log(path: Place) -> Place:
    """Return a copy of the samples of a log as JSON lines."""
    copy = (
        Path(tempfile.mkdtemp(dir=folder_of_process())) / f"{PurePosixPath(str(path)).stem}.jsonl"
    )
    rows = 0
    try:
        with path.open("rb") as log, copy.open("w", encoding="utf-8") as target:
            for sample in _samples(cast("IO[bytes]", log)):
                target.write(json.dumps(sample) + "\n")
                rows += 1
    except (OSError, ValueError, KeyError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"cannot read {quote(path)} as a log of Inspect: {error}") from None
    if not rows:
        raise DataError(f"{quote(path)} is a log of Inspect without samples")
    return copy


def _samples(log: IO[bytes]) -> Iterator[dict[str, Any]]:
    with zipfile.ZipFile(log) as archive:
        started = json.loads(_member_of_log(log, archive.getinfo("_journal/start.json")))["eval"]
        for member in archive.infolist():
            if member.filename.startswith("samples/") and member.filename.endswith(".json"):
                sample = json.loads(_member_of_log(log, member))
                kept = {name: sample[name] for name in _KEPT if sample.get(name) is not None}
                yield {"task": started.get("task"), "model": started.get("model"), **kept}


def _member_of_log(log: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    # a member; before Python 3.14 zipfile unpacks no zstandard, in which logs are kept
    log.seek(member.header_offset)
    header = log.read(_LOCAL_HEADER)
    name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (_NAME_AT, _NAME_AT + 2))
    log.seek(name + extra, 1)
    packed = log.read(member.compress_size)
    if member.compress_type == _DEFLATED:
        return zlib.decompress(packed, -zlib.MAX_WBITS)
    if member.compress_type != _ZSTANDARD:
        return packed
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra("reading logs of Inspect", "arrow", error) from None
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as held:
        return cast("bytes", held.read())
