"""The examples of the page on metrics of one's own run as they stand."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-metrics.md"


def test_the_examples_run() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert found.attempted > 12
    assert found.failed == 0
