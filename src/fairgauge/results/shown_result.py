"""ShownResult: what printing, saving and a notebook do with every result."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from fairgauge.results.plain_values import Plain


class ShownResult(ABC):
    """A result that knows its plain values; `print` shows it."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> Plain:
        """Return the result as plain values, in the order and names of its JSON."""

    def to_json(self, indent: int | None = 2) -> str:
        """Return strict JSON: infinities are the strings "Infinity" and "-Infinity"."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the result in full; the format follows the suffix.

        The file is written whole or not at all.

        Raises
        ------
        DataError
            The suffix is of no known format, or the file cannot be written.
        """
        from fairgauge.render import save

        save(self, path)

    def __str__(self) -> str:
        from fairgauge.render import render

        return render(self, "text")

    def _repr_html_(self) -> str:
        from fairgauge.render import render

        return render(self, "notebook")
