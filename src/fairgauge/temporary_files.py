"""Temporary files and folders: private, locked while in use, and removed by the next run if left.

A lock ends with its process, however that ends. The number of a process would not do: another
process takes it later, and one of another machine or container has it now.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

_WINDOWS = os.name == "nt"
_FOLDER = re.compile(r"\.fairgauge-\w{8}")
_held: dict[Path, tuple[int, int]] = {}
"""The folders of this process, with the descriptor that holds the lock, and who made them: a fork
must not remove those of its parent."""


def held(make: Callable[[], tuple[Path, int]]) -> tuple[Path, int]:
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

    folder, descriptor = held(make)
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
    """Lock a file; False where another holds the lock, or it is uncertain whether one does."""
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
