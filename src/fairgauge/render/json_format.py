"""The JSON format: the report itself, strict and complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge.report.report import Report


def to_json(report: Report, *, indent: int | None = 2) -> str:
    """Write the report as strict JSON; names stay as they are in the data."""
    return report.to_json(indent) + "\n"
