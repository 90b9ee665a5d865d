"""Describers: results name the functions that describe them, which are imported when needed.

A result is described by itself: `print(report)`, ``estimate.says``. Its words and formats are made
in `render`, which shows results and so imports them; results name its functions as text, so that
imports run one way.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def function_at(path: str) -> Any:
    """Return the function of a path ``package.module:function``.

    >>> function_at("fairgauge.render.words.numbers:plural")(1, "row", "rows")
    'row'
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def in_words(path: str, *described: object) -> str:
    """Return what a function of `fairgauge.render` writes, ``module:function``."""
    text: str = function_at(f"fairgauge.render.{path}")(*described)
    return text
