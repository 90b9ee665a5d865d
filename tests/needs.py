"""What tests need beyond Python, and what becomes of a test where that is not there.

A skip is right on a contributor's machine and hides a gap in CI, where ``tests/prepare`` installs
everything: on Linux in CI (CI=true), where all of it can be installed, the test fails instead.
"""

import os
import sys
from importlib.util import find_spec
from typing import NoReturn

import pytest

MUST_RUN = os.environ.get("CI", "").casefold() == "true" and sys.platform == "linux"
EVERY_CASE = os.environ.get("FAIRGAUGE_TESTS") == "all"
"""Whether costly tests run in full: ``make thorough``, which takes hours, and the weekly run."""
POSIX = pytest.mark.skipif(
    os.name != "posix", reason="needs signals, pipes with names, or rights of files, as POSIX has"
)
NOT_ROOT = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may read and write everything"
)


def need(*modules: str, install: str = "make .venv/bin/.dev") -> None:
    """Do as `missing` does where a library cannot be imported."""
    for module in modules:
        if find_spec(module) is None:
            missing(module, install)


def missing(what: str, install: str = "tests/prepare --install") -> NoReturn:
    """Skip a test for want of a program; in CI on Linux it fails."""
    message = f"{what} is not installed: {install}"
    if MUST_RUN:
        pytest.fail(f"{message}; CI must not skip")
    pytest.skip(message)
