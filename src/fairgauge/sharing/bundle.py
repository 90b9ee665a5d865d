"""The file format of sealed bundles: a zip archive with a manifest of digests."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairgauge.errors import DataError, quote
from fairgauge.object_stores import MOST_SAVED, is_object, local_path, read_object
from fairgauge.start.records import dataclass
from fairgauge.values import Saved, read_json

SCHEMA = "fairgauge.bundle/1"
SUFFIX = ".fairgauge"
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
COUNTS, REPORT = "counts.cube.json", "report.json"
HIDDEN = "bytes that belong to no part"
"""What these are called among the changed parts of a bundle."""
_STEP = 1 << 20
_MOST_MANIFEST = 1_000_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
# where the two lengths stand with which the fixed part of an entry's header ends
_LENGTHS_AT = 26
_LISTED_SIZE, _END_SIZE = 46, 22
"""Bytes of the fixed part of an entry in the directory, and of the end of an archive."""
# the flag of an entry that is written before its size is known, never so in our bundles
_DESCRIBED_LATER = 0x08


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts of a bundle, as they stand in the file.

    ``manifest``: the digest of every part, and what sealed them.
    ``signed``: the manifest as it stands in the file, which is what is signed.
    ``parts``: the content of every other part, by name.
    ``signature``: the signature of the manifest, and the public key; None without one.
    ``ambiguous``: the names that several entries of the archive have, and `HIDDEN` where it has
        bytes of no listed entry: other programs may read these.
    """

    manifest: Saved
    signed: bytes
    parts: Mapping[str, bytes]
    signature: bytes | None
    ambiguous: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the parts that do not fit their digest, are missing, added, or there twice."""
        digests = self.manifest["parts"]
        names = {*digests, *self.parts}
        wrong = {n for n in names if digests.get(n) != digest(self.parts.get(n, b"absent"))}
        return tuple(sorted(wrong.union(self.ambiguous)))


def digest(content: bytes) -> str:
    """Return the digest of a part."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def manifest_bytes(manifest: Saved) -> bytes:
    """Return a manifest as it stands in the file."""
    return json.dumps(manifest, indent=1, sort_keys=True).encode()


def pack(manifest: Saved, parts: Mapping[str, bytes], signature: bytes | None) -> bytes:
    """Return the content of a bundle file: the same parts give the same bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = {MANIFEST: manifest_bytes(manifest), **parts}
        if signature is not None:
            contents[SIGNATURE] = signature
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return written.getvalue()


def unpack(path: str | Path) -> Bundle:
    """Read a bundle file."""
    file = io.BytesIO(read_object(str(path), MOST_SAVED)) if is_object(path) else local_path(path)
    none = f"{quote(path)} is no bundle of fairgauge"
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            size = sum(max(entry.file_size, entry.compress_size) for entry in entries)
            if size > MOST_SAVED:
                raise DataError(
                    f"{quote(path)} unpacks to {size:,} bytes, more than {MOST_SAVED:,}: it is no "
                    "bundle of fairgauge"
                )
            parts = {entry.filename: _read_entry(archive, entry) for entry in entries}
            times = Counter(entry.filename for entry in entries)
            hidden = _has_hidden_bytes(archive)
    except FileNotFoundError:
        raise DataError(f"no file {quote(path)}") from None
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{none}, or is damaged: {error}") from None
    content = parts.pop(MANIFEST, None)
    if content is None:
        raise DataError(f"{none}: it has no manifest")
    if len(content) > _MOST_MANIFEST:
        raise DataError(f"{quote(path)} has a {MANIFEST} of more than {_MOST_MANIFEST:,} bytes")
    try:
        manifest = read_json(content.decode())
        schema = manifest["schema"]
        known = _texts(manifest["parts"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        why = f": {error}" if isinstance(error, ValueError) else ""
        raise DataError(f"{none}: {MANIFEST} is no manifest of one{why}") from None
    if schema != SCHEMA:
        tool = manifest.get("tool")
        made = tool.get("version", "unknown") if isinstance(tool, dict) else "unknown"
        raise DataError(
            f"{quote(path)} has format {quote(schema)}, of fairgauge {quote(made)}; this "
            f"version reads {SCHEMA!r}: install that version or a newer one"
        )
    if missing := {COUNTS, REPORT} - known.keys():
        raise DataError(f"{none}: its manifest lists no {' and no '.join(sorted(missing))}")
    try:
        tool, libraries = _texts(manifest["tool"]), _texts(manifest["libraries"])
        origin: dict[str, Any] = {"tool": {name: tool[name] for name in ("name", "version")}}
        origin |= {"libraries": libraries, "created": str(manifest["created"])}
    except (KeyError, TypeError, AttributeError):
        why = "its manifest does not state when and with which versions it was sealed"
        raise DataError(f"{none}: {why}") from None
    signature = parts.pop(SIGNATURE, None)
    odd = [name for name, count in times.items() if count > 1] + [HIDDEN] * hidden
    return Bundle({**manifest, **origin, "parts": known}, content, parts, signature, tuple(odd))


def _texts(named: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in named.items()}


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"{entry.filename} is neither stored nor deflated")
    with archive.open(entry) as handle:
        return handle.read(entry.file_size)


def _has_hidden_bytes(archive: zipfile.ZipFile) -> bool:
    # they may stand between its entries, after the data of one, in a comment or an extra field, and
    # after its end
    assert archive.fp is not None
    end, size_of_directory = 0, 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        if entry.header_offset != end or entry.flag_bits & _DESCRIBED_LATER:
            return True
        archive.fp.seek(end + _LENGTHS_AT)
        name, extra = struct.unpack("<HH", archive.fp.read(4))
        archive.fp.seek(name + extra, io.SEEK_CUR)
        if extra or not _is_whole(archive.fp.read(entry.compress_size), entry):
            return True
        end = archive.fp.tell()
        size_of_directory += _LISTED_SIZE + name
    size = archive.fp.seek(0, io.SEEK_END)
    return end != archive.start_dir or size != end + size_of_directory + _END_SIZE


def _is_whole(data: bytes, entry: zipfile.ZipInfo) -> bool:
    if entry.compress_type == zipfile.ZIP_STORED:
        return len(data) == entry.file_size
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    size, rest = 0, data
    while (part := decoder.decompress(rest, _STEP)) and size <= entry.file_size:
        size, rest = size + len(part), decoder.unconsumed_tail  # in steps: no second copy is held
    return size == entry.file_size and decoder.eof and not decoder.unused_data
