"""What all tests share: where the material beside the repository is, and small tables of counts."""

from __future__ import annotations

import json
import signal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_configure() -> None:
    """Heed interrupts even where the shell that started the tests ignores them (a background job).

    Tests of Ctrl-C send it to this process and to its children, which inherit what it does.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@cache
def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


class Shared:
    """The data, oracle values and vectors beside the repository; absent in a plain clone."""

    def data(self, name: str) -> Path:
        """Return the path of a table."""
        return self._path("data", name)

    def oracle(self, name: str) -> Any:
        """Return the expected values in an oracle file."""
        return _json(self._path("oracles", name))

    def oracles(self, pattern: str) -> list[Path]:
        """Return the oracle files of a pattern."""
        return sorted(self._path("oracles").glob(pattern))

    def vectors(self, name: str) -> Any:
        """Return the entries of a vector file."""
        return _json(self._path("vectors", name))

    def _path(self, *parts: str) -> Path:
        path = SHARED.joinpath(*parts)
        if not path.exists():
            pytest.skip(f"{'/'.join(parts)} is not beside this checkout")
        return path


@pytest.fixture(scope="session")
def shared() -> Shared:
    return Shared()
