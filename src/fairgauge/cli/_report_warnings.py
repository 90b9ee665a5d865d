"""Warnings of a report on standard error, where what is printed does not show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.cli._streams import print_message

if TYPE_CHECKING:
    from fairgauge.results.report import Report

_SHOWING = ("text", "markdown", "html")


def shows_warnings(format_: str) -> bool:
    """Return whether a format of standard output has the warnings before the verdict."""
    return format_ in _SHOWING


def print_warnings(report: Report) -> None:
    """Write the gravest warnings to standard error, and count the others."""
    from fairgauge.render.documents.report_notes import opening_warnings, report_warnings

    for each in opening_warnings(report_warnings(report)):
        print_message(each, prefix="")
