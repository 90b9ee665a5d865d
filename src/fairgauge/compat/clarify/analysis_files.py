"""``analysis.json`` files, the service's and ours, read as single values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.compat.json_documents import read_text
from fairgauge.compat.service_texts import read
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STAGES = {
    "pre_training_bias_metrics": "Pre-training",
    "post_training_bias_metrics": "Post-training",
}


@dataclass(frozen=True, slots=True)
class Value:
    """One metric of one facet value."""

    stage: str
    label: str
    label_value: str
    facet: str
    facet_value: str
    metric: str
    value: float | None
    error: str | None = None
    interval: tuple[float, float] | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what tells it from the others of a file."""
        return (self.stage, self.facet, self.facet_value, self.metric)


def read_results(path: Path) -> dict[str, Any]:
    """Read an ``analysis.json``.

    Raises
    ------
    DataError
        It cannot be read, or holds no bias metrics.
    """
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"{quote(path)} is not JSON: {error}") from None
    if not isinstance(found, dict) or not any(stage in found for stage in STAGES):
        wanted = " or ".join(STAGES)
        raise DataError(f"{quote(path)} is no analysis.json: it has no {wanted}")
    return found


def values_of(found: dict[str, Any], name: str) -> dict[tuple[str, str, str, str], Value]:
    """Return every value of a results file, by stage, facet, facet value and metric.

    Raises
    ------
    DataError
        The file has another shape.
    """
    try:
        return {each.key: each for each in _values(found)}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{quote(name)} has another shape than analysis.json: {error!r}") from None


def _values(found: dict[str, Any]) -> Iterator[Value]:
    intervals = {
        (each["facet"], each["value_or_threshold"], each["metric"]): (
            read(each["low"]),
            read(each["high"]),
        )
        for each in found.get("diagnostics", {}).get("intervals", [])
    }
    for stage in STAGES:
        section = found.get(stage)
        if section is None:
            continue
        for facet, blocks in section["facets"].items():
            for block in blocks:
                for metric in block["metrics"]:
                    low, high = intervals.get(
                        (facet, block["value_or_threshold"], metric["name"]), (None, None)
                    )
                    yield Value(
                        stage=stage,
                        label=str(section["label"]),
                        label_value=str(section["label_value_or_threshold"]),
                        facet=facet,
                        facet_value=str(block["value_or_threshold"]),
                        metric=metric["name"],
                        value=read(metric["value"]),
                        error=metric.get("error"),
                        interval=None if low is None or high is None else (low, high),
                    )
