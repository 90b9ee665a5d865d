"""What is made of our own texts once, and kept where Python keeps compiled modules.

Reading the tables of texts and compiling the templates of a page took a sixth of a cold report.
"""

from __future__ import annotations

import atexit
import hashlib
import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

# results that are kept, before those of texts as they were go with all others
_MOST = 5_000


def compile_once(text: str, how: str, make: Callable[[str], Any]) -> Any:
    """Return plain values or code that are made of a text, made anew only where they must be.

    ``how`` names what makes them, with its version.
    """
    kept = _load_kept()
    key = f"{how} {hashlib.sha256(text.encode()).hexdigest()}"
    if key not in kept:
        if not _new:
            atexit.register(_store_cache)
        _new[key] = kept[key] = marshal.dumps(make(text))
    return marshal.loads(kept[key])  # noqa: S302 - as trusted as a compiled module beside it


def toml_table(text: str) -> dict[str, Any]:
    """Return what a TOML text of ours holds."""
    table: dict[str, object] = compile_once(text, "TOML", _read_toml)
    return table


def _read_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


_new: dict[str, bytes] = {}


@cache
def _load_kept() -> dict[str, bytes]:
    kept: dict[str, bytes] = {}
    with suppress(OSError, NotImplementedError, ValueError, EOFError, TypeError):
        kept = marshal.loads(_cache_file().read_bytes())  # noqa: S302
    return kept if isinstance(kept, dict) and len(kept) < _MOST else {}


def _cache_file() -> Path:
    return Path(cache_from_source(__file__, optimization="texts"))


def _store_cache() -> None:
    # write what was made, in one step: other processes read the file meanwhile
    if sys.dont_write_bytecode:
        return
    with suppress(OSError, NotImplementedError):
        whole = _cache_file()
        part = whole.with_name(f"{whole.name}.{os.getpid()}")
        whole.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(marshal.dumps(_load_kept()))
        part.replace(whole)
