"""A report in, text out. Renderers select, order and format; they compute nothing, read no data."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.atomic_files import write_whole
from fairgauge.errors import DataError, nearest, quote
from fairgauge.render.metric_meanings import naming

if TYPE_CHECKING:
    from fairgauge.report.report import Report

_WRITERS = {
    "text": ("terminal", "to_text"),
    "json": ("json_format", "to_json"),
    "csv": ("estimate_rows", "to_csv"),
    "markdown": ("markdown", "to_markdown"),
    "html": ("html", "to_html"),
    "junit": ("junit", "to_junit"),
    "notebook": ("notebook", "to_notebook"),
}
FORMATS = tuple(_WRITERS)
"""The names of the formats."""

suffixes = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".xml": "junit",
    ".txt": "text",
}
"""The format that a file's suffix asks for."""


def render(report: Report, format: str = "text", **options: Any) -> str:  # noqa: A002 - the word
    """Show a report.

    Parameters
    ----------
    report : Report
        What is shown.
    format : {"text", "json", "csv", "markdown", "html", "junit", "notebook"}
        How.
    **options
        Of the format: ``colour`` (bool) and ``width`` (columns, 80 to 120) of text, ``indent`` of
        json, ``card`` (bool) of markdown: with the metadata of a Hugging Face model card in front.

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
    >>> print(render(report, "csv").splitlines()[1][:25])
    CI,clarify,sex,F,others,,
    """
    if format not in _WRITERS:
        allowed = ", ".join(FORMATS)
        raise DataError(f"no format {quote(format)}.{nearest(format, FORMATS)} Say {allowed}")
    module, name = _WRITERS[format]
    writer = getattr(import_module(f"fairgauge.render.{module}"), name)
    with naming(report.catalogue):
        text: str = writer(report, **options)
    return text


def save(report: Report, path: str | Path, **options: Any) -> None:
    """Write a report to a file, whole or not at all; its suffix says the format.

    Raises
    ------
    DataError
        The suffix is of no known format, or the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        allowed = ", ".join(suffixes)
        raise DataError(f"cannot tell the format of {quote(path)} by its suffix; use {allowed}")
    write_whole(path, render(report, suffixes[suffix], **options))
