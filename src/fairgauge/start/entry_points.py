# ruff: noqa: PTH118, PTH123, PTH208 - pathlib takes as long to import as all else of `--help`
"""The commands and results of installed packages, found without `importlib.metadata`.

To import that module, and to read every package's metadata, takes longer than all else of
``fairgauge --help``.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

_FOLDERS = (".dist-info", ".egg-info")


class EntryPoint:
    """One name of a package's entry points, which is imported when it is loaded."""

    def __init__(self, value: str) -> None:
        self.module, _, self.attribute = value.partition("[")[0].replace(" ", "").partition(":")
        self.package = self.module.partition(".")[0]

    def load(self) -> object:
        """Import what it names."""
        return getattr(import_module(self.module), self.attribute)


def entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group, by name; the first of a name on the path counts.

    Parameters
    ----------
    group : str
        ``fairgauge.commands`` or ``fairgauge.results``.
    """
    found: dict[str, EntryPoint] = {}
    for folder in dict.fromkeys(sys.path):
        try:
            infos = sorted(name for name in os.listdir(folder or ".") if name.endswith(_FOLDERS))
        except OSError:  # an archive, or a folder that is gone
            continue
        for info in infos:
            try:
                with open(os.path.join(folder, info, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError):
                continue
            if group in text:
                for name, value in _named(text, group):
                    found.setdefault(name, EntryPoint(value))
    return dict(sorted(found.items()))


def _named(text: str, group: str) -> list[tuple[str, str]]:
    section, found = "", []
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("["):
            section = line.strip()[1:-1]
        elif section == group and equals and not line.startswith(("#", ";")):
            found.append((name.strip(), value.strip()))
    return found
