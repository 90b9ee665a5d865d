"""The JSON format: a report, a comparison or a monitor itself, strict and complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge.render.formats import Shown


def write(shown: Shown, *, indent: int | None = 2) -> str:
    """Write strict JSON; names stay as they are in the data."""
    return shown.to_json(indent) + "\n"
