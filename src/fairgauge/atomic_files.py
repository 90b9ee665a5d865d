"""Writing files whole or not at all, and creating them exclusively, on Linux, macOS and Windows.

What differs between systems stands in the functions of this module that ask for `_WINDOWS`.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairgauge.errors import DataError, cause, quote
from fairgauge.object_stores import is_object, write_object
from fairgauge.temporary_files import held, remove_abandoned

_WINDOWS = os.name == "nt"
_BINARY = getattr(os, "O_BINARY", 0)  # of Windows


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, of text or of bytes: first beside the target, then renamed over it.

    A link is followed; a device or a pipe (``/dev/stdout``) is written to as it is, and so is an
    object of a store, which appears whole.

    Raises
    ------
    DataError
        The folder is missing or not writable, or the disk is full; nothing is left behind.
    """
    write_all({path: content})


def write_all(contents: Mapping[str | Path, str | bytes]) -> None:
    """Write several files, each whole, and none if one of them cannot be written."""
    objects = [path for path in contents if is_object(path)]
    streams = [path for path in contents if path not in objects and _is_stream(Path(path))]
    path: str | Path = ""
    try:
        with contextlib.ExitStack() as stack:
            waiting = {}
            for path in contents:
                if path not in streams and path not in objects:
                    target = _target(Path(path))
                    waiting[target] = stack.enter_context(_beside(target, contents[path]))
            for path in objects:  # each whole; what is written before one fails stays
                write_object(str(path), _as_bytes(contents[path]))
            for path in streams:
                _write_stream(Path(path), contents[path])
            for path, temporary in waiting.items():
                temporary.replace(path)
    except DataError:  # of a store
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(f"cannot write {quote(path)}: {cause(error)}") from None


def create_whole(target: Path, text: str, folder: Path | None = None) -> bool:
    """Write a file that is not there yet, so that it outlasts a crash; False where one is there.

    It is made in another ``folder`` where one is named, so that all later runs look there for what
    a killed one leaves. Of several threads or processes that create one file at the same time, one
    succeeds; readers see nothing or the whole text.

    Raises
    ------
    OSError
        The folder is not writable, the disk is full, or the file system has neither hard links
        nor locks.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _beside(target, text, folder, lasting=True) as temporary:
        created = _name_exclusively(temporary, target)
        if created:
            _make_names_last(target.parent)
        return created


def replace_whole(target: Path, text: str, folder: Path | None = None) -> None:
    """Write a file in the place of any other, so that it outlasts a crash; see `create_whole`.

    Raises
    ------
    OSError
        The folder is not writable, or the disk is full.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _beside(target, text, folder, lasting=True) as temporary:
        temporary.replace(target)
        _make_names_last(target.parent)


def _is_stream(path: Path) -> bool:
    """Return whether a path is a device or pipe, which must not be replaced by a file."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False  # it is not there yet, or cannot be: writing will raise the reason
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _write_stream(path: Path, content: str | bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(_as_bytes(content))


def _as_bytes(content: str | bytes) -> bytes:
    # bytes on all systems: the text layer of Windows would turn "\n" into "\r\n", and a file's
    # digest must not depend on where it was written
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _target(path: Path) -> Path:
    """Return the file that is replaced in the end: links are followed, protected files kept."""
    target = path.resolve()
    try:
        target.stat()  # exists() of Python 3.14 is silent about names that cannot be
    except FileNotFoundError:
        return target
    if not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is write-protected")
    return target


@contextlib.contextmanager
def _beside(
    target: Path, content: str | bytes, folder: Path | None = None, *, lasting: bool = False
) -> Iterator[Path]:
    """Write a hidden file beside the target, with the rights the target will have; remove it after.

    A new file gets its rights from the system, which knows the umask: `os.umask` could only be
    asked by changing it, for all threads at once. Those of earlier runs that were killed go first.
    """
    folder, start = folder or target.parent, f".{target.name[:20]}."
    remove_abandoned(folder, re.compile(rf"{re.escape(start)}[0-9a-f]{{16}}"))

    def make() -> tuple[Path, int]:
        path = folder / f"{start}{os.urandom(8).hex()}"
        return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)

    temporary, descriptor = held(make)
    with contextlib.ExitStack() as stack:
        stack.callback(_unlink, temporary)
        handle = stack.enter_context(os.fdopen(descriptor, "wb"))
        if target.exists():  # before the content, which the umask may show to more people
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        handle.write(_as_bytes(content))
        handle.flush()
        if lasting:
            os.fsync(descriptor)
        if _WINDOWS:
            handle.close()  # an open file is not renamed there
        yield temporary


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _name_exclusively(temporary: Path, target: Path) -> bool:
    """Give a file a name that no file has; False where one has it."""
    try:
        if _WINDOWS:
            temporary.rename(target)  # which replaces nothing there, unlike elsewhere
        else:
            target.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:
        if _WINDOWS:
            raise
        # FAT and many network and FUSE file systems have no hard links
        with _locked(target.parent):
            if target.exists():
                return False
            temporary.replace(target)
    return True


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder for one thread of one process of this machine; one that ends gives it back.

    A file that stood for the lock by its presence would outlast a process that is killed.
    """
    import fcntl  # not on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_names_last(folder: Path) -> None:
    """Make the name of a new file last, where the system can: Windows opens no folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
