"""Objects in stores (S3, Google Cloud, Azure ...) and on the web: found, read in ranges, written.

fsspec reaches them, with the credentials that the tools of each store use (environment, profiles).
An `Object` has what the readers of files use of a path, so that they take either.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from fairgauge.errors import (
    DataError,
    FairgaugeError,
    MissingExtra,
    cause,
    display,
    hide_secrets,
    quote,
    shown_address,
)

if TYPE_CHECKING:
    from zipfile import ZipFile

STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "http", "https")
"""The schemes of addresses that name objects; all others are those of databases."""

SHOWN_STORES = ("s3://", "gs://", "az://", "abfss://", "https://")
"""Those that an error names."""

_WEB = ("http", "https")
_LONGEST_CAUSE = 300
_AHEAD = 1 << 20
_CREDENTIALS = {
    "s3": "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login",
    "az": "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME and "
    "AZURE_STORAGE_ACCOUNT_KEY, or this name and az login",
}
_WHOLE_ONLY = "its server sends files as a whole only, not in parts; download it, and name the file"
_CUT = re.compile(r"payload is not completed|IncompleteRead")
_SAME = {"s3a": "s3", "gcs": "gs", "abfs": "az", "abfss": "az"}
# how object_store puts the causes of an error below each other
_DECORATION = re.compile(r"\s*\x1b\[\d+m↳\x1b\[0m")
_NUMBER = re.compile(r"^\[Errno \d+\] ")
_ELSEWHERE = re.compile(
    r"the region '.*' is wrong|addressed using the specified endpoint|Moved Perm"
)
_REFUSED = re.compile(r"credential|authenti|authoriz|forbidden|access denied|account_name", re.I)


@dataclass(frozen=True, slots=True, order=True)
class Object:
    """An object of a store, by its address.

    ``url``: the address, with what a web address may hold to be let in; shown without that.
    """

    url: str

    def __str__(self) -> str:
        return shown_address(self.url)

    @property
    def suffix(self) -> str:
        """Return the last suffix of its name."""
        return PurePosixPath(str(self)).suffix

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(str(self)).suffixes

    def resolve(self) -> Object:
        return self

    def open(self, mode: str = "rb") -> Ranges | io.BufferedReader:
        """Open the object for reading: of Parquet just the bytes that are asked for are fetched."""
        assert mode == "rb"
        files, path = filesystem(self.url)
        with explain_store_errors(self.url):
            handle = files.open(path, "rb", cache_type="none")
        if getattr(handle, "size", None) is None or not handle.seekable():
            raise DataError(f"cannot read {quote(self)}: {_WHOLE_ONLY}")
        ranges = Ranges(self.url, handle)
        whole = self.suffix.lower() not in (".parquet", ".pq")
        return io.BufferedReader(ranges, _AHEAD) if whole else ranges


Place: TypeAlias = Path | Object
"""Where a file is: on this machine, or in a store."""


def local_path(name: object) -> Path:
    """Return the path of a local file or folder; no text, or an empty one, names none."""
    if not isinstance(name, (str, Path)):
        raise DataError(f"a path is a text or a pathlib.Path, not {display(name)}")
    if name == "":  # Path("") is the working folder
        raise DataError("the path is an empty text; name a file, or '.' for the working folder")
    return Path(name)


MOST_SAVED = 256_000_000
"""The largest saved result, and the largest sum of the parts of a bundle, in bytes."""


def read_limited(path: str | Path, most: int, what: str) -> bytes:
    """Return the content of a file or an object, of which no more is read than it may have.

    ``what``: what the file is to be, as it stands in the message, "a recoding".

    Raises DataError (there is no such file, it is a folder, a pipe or a device, or too large).
    """
    if is_object(path):
        return read_object(str(path), most)
    path = local_path(path)
    try:
        plain, content = path.is_file() or not path.exists(), b""
        size = path.stat().st_size
        if plain and size <= most:
            with path.open("rb") as file:
                content = file.read(size + 1)
            plain = len(content) <= size  # a file of the system states that it is empty
    except FileNotFoundError:
        raise DataError(f"no file {quote(path)}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {quote(path)}: {cause(error)}") from None
    if not plain:
        raise DataError(f"cannot read {quote(path)}: it is a folder, a pipe or a device")
    if size > most:
        raise DataError(f"{quote(path)} has {size:,} bytes; {what} has at most {most:,}")
    return content


def is_object(address: object) -> bool:
    """Return whether an address is one of a store or of the web."""
    scheme, found, _ = str(address).partition("://")
    return bool(found) and scheme.lower() in STORES


def address(place: Place) -> str:
    """Return where a place is, of which no reader takes a folder ``~`` or ``file:`` for another."""
    name = place.url if isinstance(place, Object) else str(place)
    return os.path.abspath(name) if name.startswith(("~", "file:")) else name  # noqa: PTH100


def most_unpacked(packed: IO[bytes]) -> int:
    """Return how many bytes an archive may unpack to: 200 times its own, and 200 MB at least."""
    size = packed.seek(0, io.SEEK_END)
    packed.seek(0)
    return max(200_000_000, 200 * size)


# elements and attributes that a reader holds at once, each in up to 0.8 kB: of rows of a sheet one
_MOST_HELD, _MOST_ROWS, _LONGEST_TAG = 1_200_000, 1 << 20, 8 << 20
_CONTENT_TYPES = "[Content_Types].xml"
_SHEET = {"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"}
_ROW = "http://schemas.openxmlformats.org/spreadsheetml/2006/main row"
_IDENTIFIER = "http://schemas.openxmlformats.org/officeDocument/2006/relationships id"
_NAME_OF_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")  # parts of other names are read whole


def check_workbook(book: ZipFile, most: int) -> None:
    """Refuse a workbook of more bytes, unpacked, of too many elements, or with a document type.

    No spreadsheet program declares one; the texts that it names would unpack once more. A part is
    unpacked as often as others name it.
    """
    kinds: dict[str, set[str]] = {}
    named, held, size = Counter[str](), 0, sum(part.file_size for part in book.infolist())
    for part in sorted(book.infolist(), key=lambda each: each.filename != _CONTENT_TYPES):
        if size <= most:
            with book.open(part) as file:
                held = _check_part(file, part.filename, kinds, held, named)
    size += sum(part.file_size * max(named[part.filename] - 1, 0) for part in book.infolist())
    if size > most:
        raise DataError(f"it unpacks to {size:,} bytes, and may to {most:,}")


def _count_named(tag: str, attributes: Mapping[str, str], name: str, named: Counter[str]) -> None:
    if tag.endswith(" Relationship") and attributes.get("TargetMode") != "External":
        path = posixpath.join("/", *name.split("/")[:-2], attributes.get("Target", ""))
        named[posixpath.normpath(path).lstrip("/")] += 1
    elif tag.endswith(" sheet") and (of := attributes.get(_IDENTIFIER)):
        if of in named:
            raise DataError("it names a sheet twice")
        named[of] = 1


def _check_part(
    file: IO[bytes], name: str, kinds: dict[str, set[str]], held: int, named: Counter[str]
) -> int:
    # what is held with this part; the content types of others are noted
    from xml.parsers import expat

    from openpyxl.utils import range_boundaries

    rows, before = 0, list[int]()

    def refuse(why: str = "has too many elements or merged cells; save it as CSV") -> NoReturn:
        raise DataError(f"its part {quote(name)} {why}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal held
        if tag == _ROW:
            before.append(held)
        held += 1 + len(attributes)
        if tag.endswith((" mergeCell", " hyperlink")) and (of := attributes.get("ref")):
            left, top, right, bottom = range_boundaries(of)  # of which cells are made
            held += (abs(right - left) + 1) * (abs(bottom - top) + 1)
        if held > _MOST_HELD:
            refuse()
        if name == _CONTENT_TYPES and (of := attributes.get("PartName")):
            kinds.setdefault(of[1:], set()).add(attributes.get("ContentType", ""))
        _count_named(tag, attributes, name, named)

    def end(tag: str) -> None:
        nonlocal held, rows
        if tag == _ROW:
            held, rows = before.pop(), rows + 1
            if rows > _MOST_ROWS:
                refuse()

    parser = expat.ParserCreate(namespace_separator=" ")
    declared = "declares a document type (DOCTYPE); save the workbook in a spreadsheet program"
    parser.StartDoctypeDeclHandler = lambda *_: refuse(declared)
    parser.StartElementHandler = start
    if kinds.get(name) == _SHEET and _NAME_OF_SHEET.fullmatch(name):
        parser.EndElementHandler = end
    try:
        while piece := file.read(_AHEAD):
            parser.Parse(piece)
            if file.tell() - parser.CurrentByteIndex > _LONGEST_TAG:
                refuse()
    except expat.ExpatError as error:  # pictures and macros are no XML
        if "encoding" in str(error):
            refuse(f"cannot be read: {error}")
    return held


@contextmanager
def open_unzipped(place: Place) -> Iterator[IO[bytes]]:
    """Open a file for reading; one whose name ends in .gz is decompressed."""
    with place.open("rb") as found:
        file = cast("IO[bytes]", found)
        if place.suffix.lower() != ".gz":
            yield file
            return
        import gzip
        import zlib

        with gzip.GzipFile(fileobj=file) as unzipped:
            try:
                yield cast("IO[bytes]", unzipped)
            except zlib.error as error:
                raise DataError(f"{quote(place)} is damaged: {error}") from None


_WITH_PASSWORD = re.compile(r"\w+://[^/@]*:.*@", re.DOTALL)


def find_objects(url: str) -> tuple[list[Object], bool]:
    """Return the objects of an address, and whether they are all those below folders.

    Raises DataError (there are none, or the store refuses) or MissingExtra (the library that
    reads such addresses is not installed).
    """
    if not url.partition("://")[2].partition("/")[0]:
        raise DataError(
            f"{quote(url)} names no bucket; write {url.partition(':')[0]}://BUCKET/NAME"
        )
    url = _lower_scheme(url)
    files, path = filesystem(url)
    glob = any(character in shown_address(url) for character in "*?[")
    with explain_store_errors(url):
        files.invalidate_cache()
        try:
            found = {path: files.info(path)}
        except FileNotFoundError:
            if not glob:
                raise
            found = files.glob(path, detail=True)
        except OSError:
            files.cat_file(path, start=0, end=1)  # S3 states why it refuses where it sends a text
            raise
        names = [name for name, of in found.items() if of["type"] != "directory"]
        below = not names
        if below:
            names = [name for folder in found for name in files.find(folder)]
    if glob and not found:
        raise DataError(f"nothing matches {quote(shown_address(url))}")
    scheme, _, rest = url.partition("://")
    if scheme not in _WEB:  # elsewhere names begin with the bucket
        bucket = f"{scheme}://{rest.partition('/')[0]}/"
        names = [bucket + str(name).lstrip("/").partition("/")[2] for name in names]
    return [Object(str(name)) for name in sorted(names)], below


def _lower_scheme(url: str) -> str:
    scheme, found, rest = url.partition("://")
    return f"{scheme.lower()}{found}{rest}"


def names_in(folder: str) -> list[str]:
    """Return the names of what a folder holds, here or in a store; none where it is not listed."""
    try:
        if not is_object(folder):
            return [each.name for each in Path(folder).iterdir()]
        files, path = filesystem(folder)
        with explain_store_errors(folder):
            return [str(each) for each in files.ls(path, detail=False)]
    except (OSError, DataError):
        return []


def read_object(url: str, most: int | None = None) -> bytes:
    """Return a whole object, of at most so many bytes.

    Raises DataError (there is no such object, or it cannot be read).
    """
    files, path = filesystem(url)
    with explain_store_errors(url):
        files.invalidate_cache()
        if most is not None and (size := files.info(path).get("size") or 0) > most:
            raise DataError(
                f"{quote(shown_address(url))} has {size:,} bytes, at most {most:,} are read"
            )
        content: bytes = files.cat_file(path)
        return content


def write_object(url: str, content: bytes) -> None:
    """Write an object: readers see the former one or the whole new one."""
    if url.lower().startswith(_WEB):
        raise DataError(
            f"cannot write {quote(shown_address(url))}: a web address can only be read; name a "
            "file, or an address of a store such as s3://BUCKET/NAME"
        )
    files, path = filesystem(url)
    with explain_store_errors(url, "write"):
        files.pipe_file(path, content)


def filesystem(url: str) -> tuple[Any, str]:
    """Return the store of an address as fsspec knows it, and the name that the address has there.

    Raises DataError (the address is of no known kind, or names no account) or MissingExtra (the
    library that reaches the store is not installed).
    """
    if _WITH_PASSWORD.match(url):  # which clients would repeat in their messages
        scheme = url.partition("://")[0]
        raise DataError(
            f"the address {scheme}://... holds a name and a password, which no bucket has; remove "
            "them: credentials come from the environment"
        )
    if "STORAGE_EMULATOR_HOST" in os.environ:  # which has no gRPC, that gcsfs would wait for
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    import logging

    for name in ("azure", "gcsfs", "google"):  # which would print paragraphs beside our one message
        log = logging.getLogger(name)
        if not log.hasHandlers():
            log.addHandler(logging.NullHandler())
    try:
        import fsspec

        with explain_store_errors(url):
            files, path = fsspec.core.url_to_fs(_lower_scheme(url))
            if credential := getattr(files, "sync_credential", None):
                _check_azure(credential)
    except ImportError as error:
        raise MissingExtra(f"reading {quote(shown_address(url))}", "cloud", error) from None
    return files, str(path)


@cache
def _check_azure(credential: Any) -> None:
    # ask once for a token: the client of Azure would ask for more than a minute
    credential.get_token("https://storage.azure.com/.default")


@contextmanager
def explain_store_errors(url: str, doing: str = "read") -> Iterator[None]:
    """Explain what a store answers: its clients raise errors of many libraries."""
    what = quote(shown_address(url))
    try:
        yield
    except (FairgaugeError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, FileNotFoundError) or "NoSuchBucket" in str(error):
            raise DataError(f"cannot {doing} {what}: there is no such object or bucket") from None
        plain = _DECORATION.sub(":", str(error)).partition("\nAttempted credentials")[0]
        plain = plain.removesuffix(".")
        text = hide_secrets(" ".join(plain.split()).replace(url, shown_address(url)))
        text = _NUMBER.sub("", text)
        text = _WHOLE_ONLY if "range request" in text else text
        if _CUT.search(text):
            text = "its server stopped half-way; run the command again"
        cause = text[:_LONGEST_CAUSE] or type(error).__name__
        scheme = url.partition("://")[0].lower()
        known = _CREDENTIALS.get(_SAME.get(scheme, scheme))
        refused = isinstance(error, PermissionError) or _REFUSED.search(type(error).__name__ + text)
        advice = f"; credentials come from {known}" if refused and known else ""
        if _ELSEWHERE.search(text):
            advice = "; set the region of the bucket: AWS_DEFAULT_REGION"
        raise DataError(f"cannot {doing} {what}: {cause}{advice}") from None


class Ranges(io.RawIOBase):
    """An object that is open for reading; what ends before its time is an error."""

    def __init__(self, url: str, handle: Any) -> None:
        self.size = int(handle.size)
        self._url = url
        self._handle = handle

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._handle.seek(offset, whence))

    def tell(self) -> int:
        return int(self._handle.tell())

    def readinto(self, buffer: Any) -> int:
        at = self.tell()
        wanted = min(len(buffer), max(self.size - at, 0))
        with explain_store_errors(self._url):
            found = self._handle.read(wanted) if wanted else b""
        if len(found) != wanted:
            raise DataError(
                f"cannot read {quote(shown_address(self._url))}: it has {self.size:,} bytes, and "
                f"its server sent {len(found):,} of {wanted:,} from byte {at:,} on; it was cut "
                "off or replaced meanwhile"
            )
        buffer[:wanted] = found
        return wanted

    def readall(self) -> bytes:
        return self.read(self.size - self.tell()) or b""

    def close(self) -> None:
        self._handle.close()
        super().close()
