"""Where a history is kept: a folder, or a prefix of an object store (any fsspec URL).

A store does three things: it lists names, reads a text, and creates a text under a name that no
text has. Creation is atomic and exclusive, so that no lock is needed: of two runs that add the same
period one wins, a run that is killed leaves nothing that is read, and readers see whole texts.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from fairgauge.addresses import shown_address
from fairgauge.atomic_files import create_whole, replace_whole
from fairgauge.errors import DataError, quote, shown
from fairgauge.object_stores import MOST_SAVED, explained, filesystem, read_limited

_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss"})
_URL = re.compile(r"[a-z][a-z0-9+.\-]+://", re.IGNORECASE)


class Store(Protocol):
    """Texts under names such as ``period=2026-11-20/counts.cube.json``."""

    name: str

    def names(self, file: str) -> list[str]:
        """Return the folders of the store that hold a text of a name, sorted."""

    def read(self, name: str) -> str | None:
        """Return a text, None where there is none."""

    def read_all(self, names: Sequence[str]) -> list[str | None]:
        """Return several texts, None where there is none."""

    def create(self, name: str, text: str) -> bool:
        """Write a text that is not there yet, whole or not at all; False where one is there."""

    def replace(self, name: str, text: str) -> None:
        """Write a text in the place of any other, whole or not at all."""


def open_store(where: str | Path) -> Store:
    """Return the store of a folder or of an fsspec URL (``s3://bucket/model``).

    Raises
    ------
    DataError
        It is no path, a file, or a URL of no known kind.
    MissingExtra
        The library of an object store is not installed.
    """
    if not isinstance(where, (str, Path)):
        raise DataError(f"a history is a folder or a URL, not {shown(where)}")
    if isinstance(where, str) and _URL.match(where):
        return FsspecStore(where)
    return FolderStore(Path(where))


class DraftStore:
    """A store whose changes are kept in memory: what it is based on is read, and never written.

    Attributes
    ----------
    written : the texts that were created or replaced, by their names.
    """

    def __init__(self, base: Store) -> None:
        self.name = base.name
        self.written: dict[str, str] = {}
        self._base = base

    def names(self, file: str) -> list[str]:
        new = {each.removesuffix(f"/{file}") for each in self.written if each.endswith(f"/{file}")}
        return sorted({*self._base.names(file), *new})

    def read(self, name: str) -> str | None:
        return self.written[name] if name in self.written else self._base.read(name)

    def read_all(self, names: Sequence[str]) -> list[str | None]:
        unwritten = [each for each in names if each not in self.written]
        held = dict(zip(unwritten, self._base.read_all(unwritten), strict=True))
        return [self.written[each] if each in self.written else held[each] for each in names]

    def create(self, name: str, text: str) -> bool:
        if self.read(name) is not None:
            return False
        self.written[name] = text
        return True

    def replace(self, name: str, text: str) -> None:
        self.written[name] = text


class FolderStore:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise DataError(f"the history {quote(folder)} is a file, not a folder")
        self.folder = folder
        self.name = str(folder)

    def names(self, file: str) -> list[str]:
        with _explained(self.name, "read"):
            if not self.folder.is_dir():
                return []
            with os.scandir(self.folder) as entries:
                folders = [entry.name for entry in entries if entry.is_dir()]
            return sorted(each for each in folders if (self.folder / each / file).is_file())

    def read(self, name: str) -> str | None:
        with _explained(f"{self.name}/{name}", "read"):
            if not (self.folder / name).exists():
                return None
            content = read_limited(self.folder / name, MOST_SAVED, "a file of a history")
            return content.decode("utf-8", "replace")

    def read_all(self, names: Sequence[str]) -> list[str | None]:
        return [self.read(name) for name in names]

    def create(self, name: str, text: str) -> bool:
        target = self.folder / name
        with _explained(str(target), "write"):
            return create_whole(target, text, self.folder)

    def replace(self, name: str, text: str) -> None:
        target = self.folder / name
        with _explained(str(target), "write"):
            replace_whole(target, text, self.folder)


@contextlib.contextmanager
def _explained(what: str, doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot {doing} {quote(what)}: {error.strerror or error}") from None


class FsspecStore:
    """A prefix of an object store, by fsspec: objects appear whole, and are created exclusively."""

    def __init__(self, url: str) -> None:
        self._files, root = filesystem(url)
        self._root = root.rstrip("/")
        self.name = shown_address(url)

    def names(self, file: str) -> list[str]:
        with explained(self.name, "read"):
            self._files.invalidate_cache()
            found = self._files.glob(f"{self._root}/*/{file}")
            return sorted(str(path).split("/")[-2] for path in found)

    def read(self, name: str) -> str | None:
        with explained(f"{self.name}/{name}", "read"):
            try:
                data: bytes = self._files.cat_file(f"{self._root}/{name}")
            except FileNotFoundError:
                return None
            return data.decode("utf-8", errors="replace")

    def read_all(self, names: Sequence[str]) -> list[str | None]:
        if not names:
            return []
        paths = [f"{self._root}/{name}" for name in names]
        with explained(self.name, "read"):  # all at once: one after the other waits for each
            found: dict[str, bytes] = self._files.cat(paths, on_error="omit")
        texts = {path: data.decode("utf-8", errors="replace") for path, data in found.items()}
        return [texts.get(path) for path in paths]

    def create(self, name: str, text: str) -> bool:
        path = f"{self._root}/{name}"
        with explained(f"{self.name}/{name}", "write"):
            try:
                self._make_folder(path)
                self._files.pipe_file(path, text.encode(), mode="create")
            except FileExistsError:
                return False
            return True

    def replace(self, name: str, text: str) -> None:
        with explained(f"{self.name}/{name}", "write"):
            path = f"{self._root}/{name}"
            self._make_folder(path)
            self._files.pipe_file(path, text.encode())

    def _make_folder(self, path: str) -> None:
        """Make the folder of a file; an object store has none, and would make a bucket."""
        protocol = self._files.protocol
        spoken = {protocol} if isinstance(protocol, str) else set(protocol)
        if not spoken & _OBJECT_STORES:
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
