"""What all tests share: where the material beside the repository is, and small tables of counts."""

import gc
import json
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.cases import covering
from tests.needs import EVERY_CASE

# tests run beside each other: the threads of each one's matrices would only wait for one another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Spark counts a few rows at a time: code that only the first compiler made is ready twice as soon
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_collection(session: pytest.Session) -> None:
    """Collect tests without collecting garbage, which would look at all tests again and again."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what has been collected out of every later collection of garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the cases marked ``thorough``, and the redundant ones of ``each_value``, for CI."""
    if EVERY_CASE:
        return
    by_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.get_closest_marker("thorough"):
            by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = {
        item
        for cases in by_test.values()
        for item in (covering(cases) if cases[0].get_closest_marker("each_value") else cases)
    }
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


SHARED = Path(__file__).resolve().parents[2] / "shared"


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


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Heed Ctrl-C as Python does, in this process and its children.

    A shell that runs the tests in the background ignores it, and pyspark puts a handler of its own.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def shared() -> Shared:
    return Shared()
