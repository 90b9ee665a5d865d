"""Archives of one table: .zip, .bz2 and .zst files are unpacked beside the run, and read there."""

from __future__ import annotations

import bz2
import shutil
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.object_stores import Place
from fairgauge.temporary_files import folder_of_process

_PIECE = 1 << 20


def unpacked(path: Place, known: Collection[str]) -> Place:
    """Return a copy of the one table of an archive, which has one of these suffixes.

    Raises
    ------
    DataError
        The archive is damaged, holds no table or several, or needs more room than there is.
    MissingExtra
        pyarrow, which reads .zst files, is not installed.
    """
    room = shutil.disk_usage(folder := Path(tempfile.mkdtemp(dir=folder_of_process()))).free
    try:
        with (
            path.open("rb") as packed,
            _member(cast("IO[bytes]", packed), path, known) as (held, name),
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
def _member(
    packed: IO[bytes], path: Place, known: Collection[str]
) -> Iterator[tuple[IO[bytes], str]]:
    """Open the one table of an archive, with its name."""
    kind = path.suffix.lower()
    if kind == ".zip":
        with zipfile.ZipFile(packed) as archive:
            yield (
                (opened := archive.open(_only_table(archive, path, known))),
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


def _only_table(archive: zipfile.ZipFile, path: Place, known: Collection[str]) -> str:
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
