"""What is recorded of each file as it is opened, to be noted beside the numbers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class FileRecord:
    """What was found in a file.

    Attributes
    ----------
    lines_above : lines above its header.
    declared_missing : of each column, how many values it declares missing, by their reasons.
    """

    lines_above: int = 0
    declared_missing: dict[str, dict[str, int]] = field(default_factory=dict)


RECORDS: dict[str, FileRecord] = defaultdict(FileRecord)
"""By the path that was opened; the last time counts."""
