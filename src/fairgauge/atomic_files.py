"""Writing files whole or not at all, and creating them exclusively, on Linux, macOS and Windows.

What differs between systems stands in the functions of this module that ask for `_WINDOWS`.
Temporary files and folders are private, locked while in use, and removed by the next run if left: a
lock ends with its process, whose number another process may have.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from fairgauge.errors import DataError, cause, quote
from fairgauge.object_stores import is_object, write_object

_WINDOWS = os.name == "nt"
_FOLDER = re.compile(r"\.fairgauge-\w{8}")
# the folders of this process, with the descriptor that holds the lock, and who made them: a fork
# must not remove those of its parent.
_held: dict[Path, tuple[int, int]] = {}


def make_locked(make: Callable[[], tuple[Path, int]]) -> tuple[Path, int]:
    """Make a file or folder and lock it; what another run removed in between is made again."""
    while True:
        path, descriptor = make()
        if _lock(descriptor) and _is_at(path, descriptor):
            return path, descriptor
        os.close(descriptor)


def remove_abandoned(folder: Path, name: re.Pattern[str]) -> None:
    """Remove the user's own files and folders of a name that no living process holds."""
    if _WINDOWS:
        return
    with contextlib.suppress(OSError):
        for each in [entry for entry in os.scandir(folder) if name.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _remove_abandoned(Path(each.path))


@contextlib.contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder that its user alone reads, and remove it in the end."""
    folder = _make_folder(parent)
    try:
        yield folder
    finally:
        _remove(folder)


@cache
def folder_of_process() -> Path:
    """Return a private folder that lasts as long as the process."""
    import atexit

    atexit.register(remove_folders)
    return _make_folder(None)


def remove_folders() -> None:
    """Remove the private folders of this process, which ends."""
    for folder in list(_held):
        _remove(folder)


def _make_folder(parent: Path | None) -> Path:
    import tempfile  # not for --help

    parent = parent or Path(tempfile.gettempdir())
    remove_abandoned(parent, _FOLDER)

    def make() -> tuple[Path, int]:
        made = Path(tempfile.mkdtemp(prefix=".fairgauge-", dir=parent))
        return made, -1 if _WINDOWS else os.open(made, os.O_RDONLY)

    folder, descriptor = make_locked(make)
    _held[folder] = descriptor, os.getpid()
    return folder


def _remove(folder: Path) -> None:
    descriptor, made_by = _held.pop(folder)
    if made_by == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        if not _WINDOWS:
            os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if found.st_uid == os.geteuid() and _lock(descriptor, certainly=True):
            if stat.S_ISREG(found.st_mode):
                path.unlink()
            elif stat.S_ISDIR(found.st_mode):
                shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, certainly: bool = False) -> bool:
    # lock a file; False where another holds the lock, or it is uncertain whether one does
    if _WINDOWS:
        return True
    import fcntl  # not on Windows

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, on which nothing is ever removed
        return not certainly
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    if _WINDOWS:
        return True
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


_BINARY = getattr(os, "O_BINARY", 0)  # of Windows


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, of text or of bytes: first beside the target, then renamed over it.

    A device or a pipe (``/dev/stdout``) is written to as it is, and so is an object of a store,
    which appears whole.

    Raises DataError (the path is a link, see `link_on`; the folder is missing or not writable, or
    the disk is full; nothing is left behind).
    """
    write_all({path: content})


def link_on(path: Path, folder: Path | None = None) -> Path | None:
    """Return the link that leads an output, or what is in a folder, elsewhere; None where none is.

    What somebody sent may hold links. So none is followed that is the output itself, or a folder
    below the working folder or the ``folder``; other folders are as who names them has them, and
    ``/dev/stdout`` is a link of the system.
    """
    here = Path.cwd()
    whole = here / path
    plain = Path(os.path.normpath(whole))  # of "..", which may follow what is not there
    if plain.parent.as_posix() in ("/dev", "/dev/fd", "/proc/self/fd"):
        return None
    inside = {here, here / (folder or here)}
    links = [e for e in (whole, plain, *whole.parents, *plain.parents) if e.is_symlink()]
    return next((e for e in links if e in (whole, plain) or inside & {*e.parents}), None)


def refuse_link(path: str | Path) -> None:
    """Refuse an output that a link leads elsewhere."""
    if (link := link_on(Path(path))) is not None:
        why = f"{quote(link)} is a link, which no output follows; name what it leads to"
        raise DataError(f"cannot write {quote(path)}: {why}")


def write_all(contents: Mapping[str | Path, str | bytes]) -> None:
    """Write several files, each whole, and none if one of them cannot be written."""
    objects = [path for path in contents if is_object(path)]
    streams = [path for path in contents if path not in objects and _is_stream(Path(path))]
    path: str | Path = ""
    try:
        with contextlib.ExitStack() as stack:
            waiting = {}
            for path in contents:
                if path not in objects:
                    refuse_link(path)
                if path not in streams and path not in objects:
                    target = _target(Path(path))
                    waiting[target] = stack.enter_context(_write_temporary(target, contents[path]))
            for path in objects:  # each whole; what is written before one fails stays
                write_object(str(path), _encode_content(contents[path]))
            for path in streams:
                with os.fdopen(os.open(path, os.O_WRONLY), "wb") as handle:
                    handle.write(_encode_content(contents[path]))
            for path, temporary in waiting.items():
                temporary.replace(path)
    except DataError:  # of a store, or a link
        raise
    except (OSError, ValueError, RuntimeError) as error:
        folder, absent = Path(path).parent, isinstance(error, FileNotFoundError)
        why = f"there is no folder {quote(folder)}" if absent else cause(error)
        raise DataError(f"cannot write {quote(path)}: {why}") from None


def create_whole(target: Path, text: str, folder: Path | None = None) -> bool:
    """Write a file that is not there yet, so that it outlasts a crash; False where one is there.

    It is made in another ``folder`` where one is named, so that all later runs look there for what
    a killed one leaves. Of several threads or processes that create one file at the same time, one
    succeeds; readers see nothing or the whole text.

    Raises OSError (the folder is not writable, the disk is full, or the file system has neither
    hard links nor locks).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _write_temporary(target, text, folder, lasting=True) as temporary:
        created = _name_exclusively(temporary, target)
        if created:
            _make_names_last(target.parent)
        return created


def replace_whole(target: Path, text: str, folder: Path | None = None) -> None:
    """Write a file in the place of any other, so that it outlasts a crash; see `create_whole`.

    Raises OSError (the folder is not writable, or the disk is full).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _write_temporary(target, text, folder, lasting=True) as temporary:
        temporary.replace(target)
        _make_names_last(target.parent)


def _is_stream(path: Path) -> bool:
    # whether a path is a device or pipe, which must not be replaced by a file
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False  # it is not there yet, or cannot be: writing will raise the reason
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _encode_content(content: str | bytes) -> bytes:
    # bytes on all systems: the text layer of Windows would turn "\n" into "\r\n", and a file's
    # digest must not depend on where it was written
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _target(path: Path) -> Path:
    # the file that is replaced in the end; protected files are kept
    target = path.resolve()
    try:
        target.stat()  # exists() of Python 3.14 is silent about names that cannot be
    except FileNotFoundError:
        return target
    if not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is write-protected")
    return target


@contextlib.contextmanager
def _write_temporary(
    target: Path, content: str | bytes, folder: Path | None = None, *, lasting: bool = False
) -> Iterator[Path]:
    # A new file gets its rights from the system, which knows the umask: `os.umask` could only be
    # asked by changing it, for all threads at once. Those of earlier runs that were killed go
    # first.
    folder, start = folder or target.parent, f".{target.name[:20]}."
    remove_abandoned(folder, re.compile(rf"{re.escape(start)}[0-9a-f]{{16}}"))

    def make() -> tuple[Path, int]:
        path = folder / f"{start}{os.urandom(8).hex()}"
        return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)

    temporary, descriptor = make_locked(make)
    with contextlib.ExitStack() as stack:
        stack.callback(temporary.unlink, missing_ok=True)
        handle = stack.enter_context(os.fdopen(descriptor, "wb"))
        if target.exists():  # before the content, which the umask may show to more people
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        handle.write(_encode_content(content))
        handle.flush()
        if lasting:
            os.fsync(descriptor)
        if _WINDOWS:
            handle.close()  # an open file is not renamed there
        yield temporary


def _name_exclusively(temporary: Path, target: Path) -> bool:
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
        with _lock_folder(target.parent):
            if target.exists():
                return False
            temporary.replace(target)
    return True


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    # a file that stood for the lock by its presence would outlast a process that is killed
    import fcntl  # not on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_names_last(folder: Path) -> None:
    # make the name of a new file last, where the system can: Windows opens no folder
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
