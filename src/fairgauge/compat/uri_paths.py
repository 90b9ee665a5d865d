"""Where a configuration's URIs are on this machine, and the JSON in their files."""

from __future__ import annotations

import glob
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from fairgauge.errors import DataError, MissingExtra, Problem, cause, quote, refuse
from fairgauge.object_stores import read_limited

STANDARD_INPUT = "-"
MOST_OF_CONFIGURATION = 1_000_000
"""Bytes of the configuration of a service; YAML of more takes long to read."""
_LARGEST = 1_000_000_000
_REMOTE = ("s3://", "gs://", "bq://", "https://", "http://")


@dataclass(frozen=True, slots=True)
class Places:
    """Folders for remote prefixes, and the folder that relative paths start from."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    base: Path = Path()

    @property
    def here(self) -> Places:
        """Return the same folders, with relative paths that start from the current folder."""
        return replace(self, base=Path())

    def files(self, uri: str) -> list[Path]:
        """Return the files of a URI: itself, those of a glob, or everything below a folder."""
        if uri == STANDARD_INPUT:
            return [Path(uri)]
        path = self._local(uri)
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p, path))
            if not found:
                raise DataError(f"the folder {quote(path)} of {quote(uri)} holds no files")
            return found
        if not path.exists() and glob.has_magic(str(path)):
            matched = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207
            if matched:
                return [Path(each) for each in matched]
        if not path.exists():
            shown = f" (of {quote(uri)})" if str(path) != uri else ""
            raise DataError(f"no file {quote(path)}{shown}")
        return [path]

    def _local(self, uri: str) -> Path:
        for prefix in sorted(self.folders, key=len, reverse=True):
            rest = uri.removeprefix(prefix)
            if rest != uri and (not rest or rest.startswith("/") or prefix.endswith("/")):
                if ".." in Path(rest).parts:
                    raise DataError(f"{quote(uri)} leads out of the folder of --map by '..'")
                return self.folders[prefix] / rest.lstrip("/")
        if uri.startswith(_REMOTE):
            scheme, _, rest = uri.partition("://")
            bucket = rest.split("/")[0]
            raise DataError(
                f"{quote(uri)} is not on this machine; name its folder: "
                f"--map {scheme}://{bucket}=FOLDER"
            )
        path = Path(uri.removeprefix("file://"))
        return path if path.is_absolute() else self.base / path


def read_maps(texts: Iterable[str]) -> dict[str, Path]:
    """Read ``s3://bucket/prefix=FOLDER``, several times."""
    found: dict[str, Path] = {}
    problems = []
    for i, text in enumerate(texts):
        prefix, equals, folder = text.partition("=")
        if not equals or not prefix or not folder:
            message = f"must be PREFIX=FOLDER, for example s3://bucket=data, not {quote(text)}"
            problems.append(Problem(f"--map[{i}]", message))
        elif not Path(folder).exists():
            problems.append(Problem(f"--map[{i}]", f"there is no folder {quote(folder)}"))
        else:
            found[prefix] = Path(folder)
    refuse(problems)
    return found


def made_folder(path: str) -> Path:
    """Return a folder for results, made if it is not there."""
    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot make the folder {quote(path)}: {cause(error)}") from None
    return folder


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.relative_to(root).parts)


class JmesPath(Protocol):
    """A compiled JMESPath."""

    def search(self, value: object) -> object:
        """Return what it finds in a JSON value; None where it finds nothing."""


def read_text(path: Path, most: int = _LARGEST) -> str:
    """Return the text of a file, of a .gz file, or of standard input: of at most so many bytes."""
    try:
        if str(path) == STANDARD_INPUT or path.suffix == ".gz":
            with sys.stdin.buffer if str(path) == STANDARD_INPUT else gzip.open(path) as handle:
                content = handle.read(most + 1)
            if len(content) > most:
                raise DataError(f"{quote(path)} has more than {most:,} bytes")
        else:
            content = read_limited(path, most, "such a text")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is not UTF-8 text") from None
    except (OSError, EOFError) as error:
        raise DataError(f"cannot read {quote(path)}: {cause(error)}") from None


def json_lines(path: Path) -> Iterator[object]:
    """Return the values of a JSON lines file, one a line, without blank lines."""
    lines = (line for line in read_text(path).split("\n") if line.strip())
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{quote(path)} line {number:,} is not JSON: {error}") from None


def json_document(path: Path) -> object:
    """Return a JSON file as one value."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
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
