"""Writing files whole or not at all, and creating them exclusively, on Linux, macOS and Windows.

What differs between systems stands in the functions of this module that ask for `_WINDOWS`.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from fairgauge.errors import DataError, cause, quote
from fairgauge.object_stores import is_object, write_object

_WINDOWS = os.name == "nt"


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
    waiting: dict[Path, Path] = {}
    objects = [path for path in contents if is_object(path)]
    streams = [path for path in contents if path not in objects and _is_stream(Path(path))]
    path: str | Path = ""
    try:
        for path in contents:
            if path not in streams and path not in objects:
                target = _target(Path(path))
                waiting[target] = _write_beside(target, contents[path])
        for path in objects:  # each whole; what is written before one fails stays
            write_object(str(path), _as_bytes(contents[path]))
        for path in streams:
            _write_stream(Path(path), contents[path])
        for path in list(waiting):
            waiting[path].replace(path)
            del waiting[path]
    except DataError:  # of a store
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise DataError(f"cannot write {quote(path)}: {cause(error)}") from None
    finally:
        for temporary in waiting.values():
            with contextlib.suppress(OSError):
                temporary.unlink()


def create_whole(target: Path, text: str) -> bool:
    """Write a file that is not there yet, so that it outlasts a crash; False where one is there.

    Of several threads or processes that create one file at the same time, one succeeds; readers
    see nothing or the whole text.

    Raises
    ------
    OSError
        The folder is not writable, the disk is full, or the file system has neither hard links
        nor locks.
    """
    with _lasting_beside(target, text) as temporary:
        created = _name_exclusively(temporary, target)
        if created:
            _make_names_last(target.parent)
        return created


def replace_whole(target: Path, text: str) -> None:
    """Write a file in the place of any other, so that it outlasts a crash.

    Raises
    ------
    OSError
        The folder is not writable, or the disk is full.
    """
    with _lasting_beside(target, text) as temporary:
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


def _write_beside(target: Path, content: str | bytes, *, lasting: bool = False) -> Path:
    """Write a temporary file in the folder of the target, with the rights the target will have.

    A new file gets its rights from the system, which knows the umask: `os.umask` could only be
    asked by changing it, for all threads at once.
    """
    temporary = target.parent / f".{target.name[:20]}.{os.urandom(8).hex()}"
    try:
        with temporary.open("xb") as handle:
            if target.exists():  # before the content, which the umask may show to more people
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            handle.write(_as_bytes(content))
            if lasting:
                handle.flush()
                os.fsync(handle.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary


@contextlib.contextmanager
def _lasting_beside(target: Path, text: str) -> Iterator[Path]:
    """Write a text to a hidden file beside the target, and remove that file in the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _write_beside(target, text, lasting=True)
    try:
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


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
