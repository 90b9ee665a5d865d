"""JSON documents and JSON lines, and the values that a JMESPath finds in them."""

from __future__ import annotations

import gzip
import json
import sys
from typing import TYPE_CHECKING, Protocol

from fairgauge.compat.uri_paths import STANDARD_INPUT
from fairgauge.errors import DataError, MissingExtra, quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class JmesPath(Protocol):
    """A compiled JMESPath."""

    def search(self, value: object) -> object:
        """Return what it finds in a JSON value; None where it finds nothing."""


def read_text(path: Path) -> str:
    """Return the text of a file, of a .gz file, or of standard input."""
    try:
        if str(path) == STANDARD_INPUT:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        if path.suffix == ".gz":
            with gzip.open(path) as handle:
                return handle.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is not UTF-8 text") from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read {quote(path)}: {reason}") from None


def json_lines(path: Path) -> Iterator[object]:
    """Return the values of a JSON lines file, one a line, without blank lines."""
    lines = (line for line in read_text(path).split("\n") if line.strip())
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise DataError(f"{quote(path)} line {number:,} is not JSON: {error}") from None


def json_document(path: Path) -> object:
    """Return a JSON file as one value."""
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"{quote(path)} is not JSON: {error}") from None


def search(path: str, where: str) -> JmesPath:
    """Compile a JMESPath.

    Raises
    ------
    DataError
        It is not a JMESPath.
    MissingExtra
        The jmespath library is not installed.
    """
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ImportError as error:
        raise MissingExtra("reading JSON by JMESPath", "clarify", error) from None
    try:
        compiled: JmesPath = jmespath.compile(path)
    except JMESPathError as error:
        message = " ".join(str(error).split())
        raise DataError(f"{where}: {quote(path)} is not a JMESPath: {message}") from None
    return compiled
