"""The JSON format: a report, a comparison or a monitor itself, strict and complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge.results.shown_result import ShownResult


def write(shown: ShownResult, *, indent: int | None = 2) -> str:
    """Write strict JSON; names stay as they are in the data."""
    return shown.to_json(indent) + "\n"
