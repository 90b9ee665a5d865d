"""``analysis.json``, the service's and ours, read as single values; intervals lie beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import DataError, quote
from fairgauge.plugins import render, write_all
from fairgauge_cloud._files import json_document, read_text
from fairgauge_cloud._service_texts import read
from fairgauge_cloud.clarify._result_texts import OF, digest

if TYPE_CHECKING:
    from fairgauge_cloud.clarify.analysis import Analysis

Saved = dict[str, Any]

ANALYSIS, ADDITIONS = "analysis.json", "fairgauge.json"
STAGES = ("pre_training_bias_metrics", "post_training_bias_metrics")


@dataclass(frozen=True, slots=True)
class MetricValue:
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
        """Return what distinguishes it from the others of a file."""
        return (self.stage, self.facet, self.facet_value, self.metric)


def read_results(path: Path) -> Saved:
    """Read an ``analysis.json``."""
    found = json_document(path)
    if not isinstance(found, dict) or not any(stage in found for stage in STAGES):
        wanted = " or ".join(STAGES)
        raise DataError(f"{quote(path)} is no analysis.json: it has no {wanted}")
    return found


def read_additions(path: Path) -> Saved:
    """Return the ``fairgauge.json`` beside a results file; nothing if it is of another file."""
    beside = path.with_name(ADDITIONS)
    try:
        found = json.loads(read_text(beside))
        own = digest(read_text(path))
    except (DataError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get(OF) == own else {}


def values_of(
    found: Saved, name: str, additions: Saved | None = None
) -> dict[tuple[str, str, str, str], MetricValue]:
    """Return every value of a results file, by stage, facet, facet value and metric."""
    try:
        return {each.key: each for each in _values(found, additions or {})}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{quote(name)} has another shape than analysis.json: {error!r}") from None


def _values(found: Saved, additions: Saved) -> Iterator[MetricValue]:
    intervals = {
        (each["facet"], each["value_or_threshold"], each["metric"]): (
            read(each["low"]),
            read(each["high"]),
        )
        for each in additions.get("intervals", [])
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
                    yield MetricValue(
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


def result_paths(folder: Path, name: str) -> list[Path]:
    """Return the files that `write_results` writes."""
    return [folder / ANALYSIS, folder / ADDITIONS, folder / f"{name}.html"]


def write_results(found: Analysis, folder: Path, name: str) -> None:
    """Write results, and the report under a name, into a folder: all or none."""
    analysis, additions, page = result_paths(folder, name)
    contents: dict[str | Path, str | bytes] = {
        analysis: found.to_json(),
        additions: found.additions_to_json(),
    }
    if found.report is not None:
        contents[page] = render(found.report, "html")
    write_all(contents)
