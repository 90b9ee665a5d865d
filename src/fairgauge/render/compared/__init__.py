"""A comparison of two reports in, text out; as for reports, nothing is computed here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.atomic_files import write_whole
from fairgauge.errors import DataError, nearest, quote
from fairgauge.render.metric_meanings import naming

if TYPE_CHECKING:
    from fairgauge.comparison.comparison import Comparison

_WRITERS = {
    "text": ("comparison_text", "to_text"),
    "json": ("comparison_json", "to_json"),
    "csv": ("comparison_json", "to_csv"),
    "markdown": ("comparison_markdown", "to_markdown"),
    "html": ("comparison_html", "to_html"),
}
FORMATS = tuple(_WRITERS)
"""The names of the formats."""

SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".txt": "text",
}
"""The format that a file's suffix asks for."""


def render(comparison: Comparison, format: str = "text", **options: Any) -> str:  # noqa: A002 - the word
    """Show a comparison.

    Parameters
    ----------
    comparison : Comparison
        What is shown.
    format : {"text", "json", "csv", "markdown", "html"}
        How.
    **options
        Of text: ``colour`` (bool) and ``width`` (columns, 80 to 120).

    Returns
    -------
    str
        The whole text, ending in a newline.

    Raises
    ------
    DataError
        There is no such format.

    Examples
    --------
    >>> import fairgauge as fg
    >>> report = fg.audit(fg.confusion("sex", {"F": {"tp": 2, "fn": 1}, "M": {"tp": 3, "fn": 1}}))
    >>> print(render(fg.compare(report, report), "csv").splitlines()[0][:26])
    metric,feature,group,strat
    """
    if format not in _WRITERS:
        allowed = ", ".join(FORMATS)
        raise DataError(f"no format {quote(format)}.{nearest(format, FORMATS)} Say {allowed}")
    module, name = _WRITERS[format]
    writer = getattr(import_module(f"{__name__}.{module}"), name)
    with naming(comparison.catalogue):
        text: str = writer(comparison, **options)
    return text


def format_of(path: str | Path) -> str:
    """Return the format that a file's suffix asks for.

    Raises
    ------
    DataError
        The suffix is of no known format.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        allowed = ", ".join(SUFFIXES)
        raise DataError(f"cannot tell the format of {quote(path)} by its suffix; use {allowed}")
    return SUFFIXES[suffix]


def save(comparison: Comparison, path: str | Path) -> None:
    """Write a comparison to a file, whole or not at all; its suffix says the format.

    Raises
    ------
    DataError
        The suffix is of no known format, or the file cannot be written.
    """
    write_whole(path, render(comparison, format_of(path)))
