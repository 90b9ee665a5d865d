"""The file format of sealed bundles: a zip archive with a manifest of digests."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, quote
from fairgauge.strict_json import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairgauge.values import Saved

SCHEMA = "fairgauge.bundle/1"
SUFFIX = ".fairgauge"
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
COUNTS, REPORT = "counts.cube.json", "report.json"
MOST_BYTES = 2_000_000_000
"""The largest sum of the parts that is unpacked."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts of a bundle, as they stand in the file.

    Attributes
    ----------
    manifest : the digest of every part, and what sealed them.
    signed : the manifest as it stands in the file, which a signature is of.
    parts : the content of every other part, by name.
    signature : the signature of the manifest, and the public key; None without one.
    repeated : the names that several entries of the archive have.
    """

    manifest: Saved
    signed: bytes
    parts: Mapping[str, bytes]
    signature: bytes | None
    repeated: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the parts that do not fit their digest, are missing, added, or there twice."""
        digests = self.manifest["parts"]
        names = {*digests, *self.parts}
        wrong = {n for n in names if digests.get(n) != digest(self.parts.get(n, b"absent"))}
        return tuple(sorted(wrong.union(self.repeated)))


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
    """Read a bundle file.

    Raises
    ------
    DataError
        The file is no bundle, is damaged, is of a newer version, or unpacks to too much.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES:
                raise DataError(
                    f"{quote(path)} unpacks to {size:,} bytes, more than {MOST_BYTES:,}: it is no "
                    "bundle of fairgauge"
                )
            parts = {entry.filename: _read(archive, entry) for entry in entries}
            times = Counter(entry.filename for entry in entries)
    except FileNotFoundError:
        raise DataError(f"no file {quote(path)}") from None
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{quote(path)} is no bundle of fairgauge, or is damaged: {error}"
        ) from None
    content = parts.pop(MANIFEST, None)
    if content is None:
        raise DataError(f"{quote(path)} is no bundle of fairgauge: it has no manifest")
    try:
        manifest = read_json(content.decode())
        schema = manifest["schema"]
        known = _texts(manifest["parts"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise DataError(
            f"{quote(path)} is no bundle of fairgauge: {MANIFEST} is no manifest of one"
            + (f": {error}" if isinstance(error, ValueError) else "")
        ) from None
    if schema != SCHEMA:
        made = manifest.get("tool", {}).get("version", "unknown")
        raise DataError(
            f"{quote(path)} has format {quote(schema)}, of fairgauge {made}; this version reads "
            f"{SCHEMA!r}: install that version or a newer one"
        )
    try:
        tool, libraries = _texts(manifest["tool"]), _texts(manifest["libraries"])
        origin = {
            "tool": {"name": tool["name"], "version": tool["version"]},
            "libraries": libraries,
            "created": str(manifest["created"]),
        }
    except (KeyError, TypeError, AttributeError):
        raise DataError(
            f"{quote(path)} is no bundle of fairgauge: its manifest does not state when and with "
            "which versions it was sealed"
        ) from None
    signature = parts.pop(SIGNATURE, None)
    repeated = tuple(name for name, count in times.items() if count > 1)
    return Bundle({**manifest, **origin, "parts": known}, content, parts, signature, repeated)


def _texts(named: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in named.items()}


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Read a part, no more of it than it declares."""
    with archive.open(entry) as handle:
        content = handle.read(entry.file_size + 1)
    if len(content) > entry.file_size:
        raise zipfile.BadZipFile(f"{entry.filename} is longer than it declares")
    return content
