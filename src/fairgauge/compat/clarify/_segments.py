"""Segments: parts of the data measured on their own, by values or by intervals of a column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.compat._coded_column import as_float
from fairgauge.errors import Problem, SpecError, quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.compat._coded_column import CodedColumn
    from fairgauge.compat.clarify._job import Job
    from fairgauge.compat.clarify.clarify_config import Segments

DEFAULT = "__default__"
_INTERVAL = re.compile(r"\s*([\[(])\s*([^,]+?)\s*,\s*([^,]+?)\s*([\])])\s*")


def segments_of(job: Job) -> list[dict[str, object]]:
    """Measure every segment, and the remaining rows, as all rows are measured.

    Raises
    ------
    SpecError
        An interval that cannot be read, or intervals of a column of text.
    """
    found = []
    for i, asked in enumerate(job.config.segment_config or []):
        name = job.made.find(asked.name_or_index)
        assert name is not None
        masks = _masks(asked, job.made.column(name), f"segment_config[{i}]")
        for j, (mask, shown) in enumerate(zip(masks, _names(asked), strict=True)):
            entry: dict[str, object] = {
                "config_name": asked.config_name or name,
                "name": name,
                "segment": shown,
                "values": asked.segments[j] if j < len(asked.segments) else DEFAULT,
                "rows": int(mask.sum()),
            }
            found.append(entry | (_measured(job, mask) if mask.any() else {"error": "no rows"}))
    return found


def _measured(job: Job, mask: NDArray[np.bool_]) -> dict[str, object]:
    again = type(job)(job.config, job.made.take(mask), job.profile)
    return {f"{stage}_metrics": again.stage(stage) for stage in job.config.stages}


def _names(asked: Segments) -> list[str]:
    names = [", ".join(map(str, values)) for values in asked.segments] + [DEFAULT]
    for i, alias in enumerate(asked.display_aliases or []):
        names[i] = alias
    return names


def _masks(asked: Segments, column: CodedColumn, path: str) -> list[NDArray[np.bool_]]:
    """Return the rows of every segment, then those of none."""
    masks = []
    for i, values in enumerate(asked.segments):
        inside = np.zeros(len(column.levels) + 1, dtype=bool)
        for j, value in enumerate(values):
            inside[:-1] |= _levels(value, column, f"{path}.segments[{i}][{j}]")
        masks.append(inside[column.codes])
    rest = ~np.logical_or.reduce(masks)
    return [*masks, rest]


def _levels(value: str | int, column: CodedColumn, path: str) -> NDArray[np.bool_]:
    found = _INTERVAL.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return np.array([str(level) == str(value) for level in column.levels], dtype=bool)
    try:
        low, high = float(found[2]), float(found[3])
        levels = np.array([as_float(level) for level in column.levels])
    except ValueError:
        message = f"{quote(value)} is no interval of column {quote(column.name)}"
        raise SpecError(Problem(path, message)) from None
    above = levels >= low if found[1] == "[" else levels > low
    below = levels <= high if found[4] == "]" else levels < high
    inside: NDArray[np.bool_] = above & below
    return inside
