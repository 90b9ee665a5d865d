"""Words: names, numbers and sentences of a report, and the language of its first page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from fairgauge.errors import DataError, quote, suggest

LANGUAGE_CODES = ("en", "de")
ASKED: ContextVar[tuple[str, Mapping[str, object]]] = ContextVar("ASKED", default=("en", {}))
"""The language, and the words of the user in it."""


@contextmanager
def in_language(language: str, words: Mapping[str, object] | None = None) -> Iterator[None]:
    """Make first pages in a language, with the user's words in it.

    Raises ``DataError``: there is no such language.
    """
    if language not in LANGUAGE_CODES:
        near = suggest(language, LANGUAGE_CODES)
        raise DataError(
            f"no language {quote(language)}.{near} Allowed: {', '.join(LANGUAGE_CODES)}"
        )
    asked = ASKED.set((language, words or {}))
    try:
        yield
    finally:
        ASKED.reset(asked)
