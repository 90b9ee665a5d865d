"""The page on choosing between models: its examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "choosing-between-models.md"


def test_the_examples_run() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert found.attempted > 12
    assert found.failed == 0
