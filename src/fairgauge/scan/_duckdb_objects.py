"""Objects of stores as DuckDB opens them: by fsspec, which alone DuckDB takes from Python."""

from __future__ import annotations

import datetime as dt
import io
import re
from typing import Any

from fsspec.spec import AbstractFileSystem

from fairgauge.object_stores import STORES, Object, Ranges

_ESCAPED = re.compile(r"\[([*?[])\]")


class ObjectFiles(AbstractFileSystem):  # type: ignore[misc]
    """The objects of all stores, by their addresses."""

    protocol = STORES
    cachable = False

    def __init__(self, **options: Any) -> None:
        del options  # of a store, by which it is reached: fsspec passes what is configured for it
        super().__init__()
        self._sizes: dict[str, int] = {}

    def open(self, path: str, mode: str = "rb", **options: Any) -> Ranges | io.BufferedReader:
        del options
        handle = Object(path).open(mode)
        self._sizes[path] = handle.size if isinstance(handle, Ranges) else handle.raw.size  # type: ignore[attr-defined]
        return handle

    def glob(self, path: str, **options: Any) -> list[str]:
        """Return the address itself: what its letters matched is known already."""
        del options
        return [_ESCAPED.sub(r"\1", path)]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        del options
        return {"name": path, "size": self._sizes[path], "type": "file"}

    def modified(self, path: str) -> dt.datetime:
        """Return any moment: nothing is kept of a file for longer than a query."""
        del path
        return dt.datetime.fromtimestamp(0, dt.UTC)
